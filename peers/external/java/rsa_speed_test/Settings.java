package rsa_speed_test;

import java.util.Locale;
import multithread_rsa.RSA_key_pair;
import multithread_rsa.RSA_thread_management;

/**
 * What a test is given; the article's own are the defaults.
 *
 * @param threads the most threads; the test goes down to one
 * @param bits of the key
 * @param symbols of the text
 * @param repeats times that the text is encrypted, and decrypted, on each number of threads
 * @param warmUpMs how long the text is encrypted and decrypted before the first measured time, so that Java has compiled what is measured
 */
public record Settings(int threads, int bits, int symbols, int repeats, int warmUpMs) {
    static final String USAGE = """
            usage: java -jar rsa_speed_test.jar [options]
              --threads N   the most threads; the test goes down to one     1 to 1024                   default 8
              --bits N      bits of the RSA key, an even number             512 to 16384                default 1024
              --symbols N   symbols of the random text                      0 to 100000000              default 1000
              --repeats N   encryptions and decryptions to be averaged      1 to 1000000                default 100
              --warm-up N   milliseconds of work before the first measured  0 to 60000                  default 1000
            Prints a line for each number of threads: threads, encryption and decryption in milliseconds, tabs between.
            """;

    /** An option with its range. */
    private enum Option {
        THREADS(1, RSA_thread_management.MOST_THREADS, 8),
        BITS(RSA_key_pair.LEAST_BITS, RSA_key_pair.MOST_BITS, 1024),
        SYMBOLS(0, 100_000_000, 1000),
        REPEATS(1, 1_000_000, 100),
        WARM_UP(0, 60_000, 1000);

        final int least;
        final int most;
        final int usual;

        Option(int least, int most, int usual) {
            this.least = least;
            this.most = most;
            this.usual = usual;
        }

        /** As it is written on a command line. */
        String written() {
            return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Reads a command line.
     *
     * @throws IllegalArgumentException with a sentence that says what is wrong
     */
    static Settings read(String... arguments) {
        Integer[] values = new Integer[Option.values().length];
        for (int at = 0; at < arguments.length; at += 2) {
            Option option = option(arguments[at]);
            if (at + 1 == arguments.length) {
                throw new IllegalArgumentException(option.written() + " needs a number");
            }
            if (values[option.ordinal()] != null) {
                throw new IllegalArgumentException(option.written() + " is given twice");
            }
            values[option.ordinal()] = number(option, arguments[at + 1]);
        }
        int[] chosen = new int[values.length];
        for (Option option : Option.values()) {
            Integer value = values[option.ordinal()];
            chosen[option.ordinal()] = value == null ? option.usual : value;
        }
        return new Settings(chosen[0], chosen[1], chosen[2], chosen[3], chosen[4]);
    }

    private static Option option(String written) {
        for (Option option : Option.values()) {
            if (option.written().equals(written)) {
                return option;
            }
        }
        throw new IllegalArgumentException("there is no option '" + written + "'");
    }

    private static int number(Option option, String text) {
        String range = option.written() + " takes a number from " + option.least + " to " + option.most + ", not '" + text + "'";
        int number;
        try {
            number = Integer.parseInt(text);
        } catch (NumberFormatException error) {
            throw new IllegalArgumentException(range);
        }
        if (number < option.least || number > option.most) {
            throw new IllegalArgumentException(range);
        }
        if (option == Option.BITS && number % 2 != 0) {
            throw new IllegalArgumentException("--bits takes an even number, not '" + text + "': a key has two primes of one size");
        }
        return number;
    }
}
