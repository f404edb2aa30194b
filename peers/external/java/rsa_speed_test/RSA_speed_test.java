package rsa_speed_test;

import java.io.PrintStream;
import java.security.SecureRandom;
import java.util.Locale;
import java.util.Random;
import multithread_rsa.RSA_key_pair;
import multithread_rsa.RSA_thread_management;

/**
 * The method of the test: Figure 2 of the article.
 *
 * <pre>
 * 1  read the parameters
 * 2  make a random text, and a key pair
 * 3  initialise the management, on the most threads
 * 4  encrypt and decrypt as often as was asked for, and print the averages
 * 5  one thread less, and again from 4 on, down to one
 * </pre>
 *
 * <p>Two things are added to it. Before the first measured time the text is worked on for a while, so that the numbers of the most threads
 * are not those of code that Java has not compiled yet; {@code --warm-up 0} leaves it out. And every text that was decrypted is compared
 * with the first, outside the time.
 */
public final class RSA_speed_test {
    private final Settings settings;
    private final String text;
    private final RSA_thread_management management;

    /** Steps 2 and 3. */
    public RSA_speed_test(Settings settings) {
        this.settings = settings;
        text = randomText(settings.symbols(), new Random());
        RSA_key_pair keys = RSA_key_pair.generate(settings.bits(), new SecureRandom());
        management = new RSA_thread_management(keys, settings.threads());
    }

    /** {@code --help} tells the options. Ends with 2 where they are wrong, with 1 where the test could not be done. */
    public static void main(String[] arguments) {
        if (arguments.length == 1 && (arguments[0].equals("--help") || arguments[0].equals("-h"))) {
            System.out.print(Settings.USAGE);
            return;
        }
        Settings settings;
        try {
            settings = Settings.read(arguments);
        } catch (IllegalArgumentException error) {
            System.err.println("rsa_speed_test: " + error.getMessage());
            System.err.print(Settings.USAGE);
            System.exit(2);
            return;
        }
        System.err.printf(
                "RSA of %d bits, a random text of %d symbols, %d to 1 threads, averages of %d times%n",
                settings.bits(), settings.symbols(), settings.threads(), settings.repeats());
        try {
            new RSA_speed_test(settings).run(System.out);
        } catch (IllegalStateException error) {
            System.err.println("rsa_speed_test: " + error.getMessage());
            System.exit(1);
        } catch (OutOfMemoryError error) {
            System.err.println("rsa_speed_test: the memory is too small for this text; java -Xmx gives more");
            System.exit(1);
        }
    }

    /** Steps 4 and 5: prints a line for each number of threads. */
    public void run(PrintStream out) {
        management.setThreads(settings.threads());
        long began = System.nanoTime();
        while (System.nanoTime() - began < settings.warmUpMs() * 1_000_000L) {
            once(new Time_measurement(), new Time_measurement());
        }
        out.println("threads\tencryption_ms\tdecryption_ms");
        for (int threads = settings.threads(); threads >= 1; threads--) {
            management.setThreads(threads);
            Time_measurement encryption = new Time_measurement();
            Time_measurement decryption = new Time_measurement();
            for (int done = 0; done < settings.repeats(); done++) {
                once(encryption, decryption);
            }
            out.printf(Locale.ROOT, "%d\t%.6f\t%.6f%n", threads, encryption.averageMs(), decryption.averageMs());
        }
    }

    /** One encryption and one decryption, each measured by its own stopwatch. */
    private void once(Time_measurement encryption, Time_measurement decryption) {
        encryption.start();
        String ciphertext = management.encrypt(text);
        encryption.stop();
        decryption.start();
        String again = management.decrypt(ciphertext, text.length());
        decryption.stop();
        if (!again.equals(text)) {
            throw new IllegalStateException("what was decrypted is not the text that was encrypted");
        }
    }

    /** Printable characters. */
    private static String randomText(int symbols, Random random) {
        return random.ints(symbols, ' ', '~' + 1)
                .collect(() -> new StringBuilder(symbols), StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
