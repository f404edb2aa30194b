import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import multithread_rsa.RSA_blocks;
import multithread_rsa.RSA_decrypt_thread;
import multithread_rsa.RSA_encrypt_thread;
import multithread_rsa.RSA_key_pair;
import multithread_rsa.RSA_private_key;
import multithread_rsa.RSA_public_key;
import multithread_rsa.RSA_thread_management;

/** A program of somebody who has multithread_rsa.jar and nothing else. Fails by an exception; tells at its end what it has done. */
public final class Alone {
    private static final int[] SIZES = {0, 1, 126, 127, 128, 254, 1000};
    private static final int[] THREADS = {1, 2, 3, 8, 64};

    private Alone() {}

    public static void main(String[] arguments) throws Exception {
        RSA_key_pair keys = RSA_key_pair.generate(1024, new SecureRandom());
        int trips = roundTrips(keys);
        threadsByHand(keys);
        otherTexts(keys);
        damage(keys);
        refusals(keys);
        formOfTheArticle(RSA_encrypt_thread.class, "encrypt");
        formOfTheArticle(RSA_decrypt_thread.class, "decrypt");
        System.out.println(trips + " round trips");
    }

    /** Every size on every number of threads: the same ciphertext, which is the textbook's, and the same text. */
    private static int roundTrips(RSA_key_pair keys) {
        int trips = 0;
        for (int size : SIZES) {
            String text = text(size);
            String expected = expected(text, keys.publicKey());
            for (int threads : THREADS) {
                RSA_thread_management management = new RSA_thread_management(keys, threads);
                String ciphertext = management.encrypt(text);
                check(ciphertext.equals(expected), size + " symbols on " + threads + " threads have another ciphertext");
                check(management.decrypt(ciphertext, size).equals(text), size + " symbols on " + threads + " threads come back as others");
                trips++;
            }
        }
        return trips;
    }

    /** Symbols of all values, zeros at both ends of blocks among them. */
    private static String text(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        if (size > 127) {
            bytes[0] = bytes[126] = bytes[127] = 0;
        }
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Block after block of 127 symbols, without any of the classes that are tried. */
    private static String expected(String text, RSA_public_key key) {
        StringBuilder ciphertext = new StringBuilder();
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        for (int at = 0; at < bytes.length; at += 127) {
            BigInteger block = new BigInteger(1, Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + 127)));
            ciphertext.append(String.format("%0256x", block.modPow(key.exponent(), key.modulus())));
        }
        return ciphertext.toString();
    }

    /** The two threads without the management. */
    private static void threadsByHand(RSA_key_pair keys) throws InterruptedException {
        RSA_blocks blocks = RSA_blocks.of(keys.publicKey().modulus());
        RSA_encrypt_thread encryption = new RSA_encrypt_thread(7, keys.publicKey(), blocks, "by hand");
        check(encryption.id() == 7 && !encryption.isFinished(), "a thread that was not started has its id, and has not finished");
        refused(IllegalStateException.class, encryption::output);
        encryption.start();
        encryption.join();
        check(encryption.isFinished(), "a thread that has ended has raised its flag");
        RSA_decrypt_thread decryption = new RSA_decrypt_thread(0, keys.privateKey(), blocks, encryption.output(), 7);
        decryption.start();
        decryption.join();
        check(decryption.isFinished() && decryption.output().equals("by hand"), "what comes back is what was encrypted");
    }

    /** Texts whose characters are no bytes; blocks of another size; a key of another. */
    private static void otherTexts(RSA_key_pair keys) {
        String text = "криптография";
        RSA_thread_management management = new RSA_thread_management(keys, 2);
        refused(IllegalArgumentException.class, () -> management.encrypt(text));
        String symbols = RSA_blocks.symbolsOf(text);
        String again = management.decrypt(management.encrypt(symbols), symbols.length());
        check(RSA_blocks.textOf(again).equals(text), "a text in Cyrillic comes back as another");

        RSA_key_pair odd = RSA_key_pair.generate(774, BigInteger.valueOf(3), new SecureRandom());
        RSA_thread_management small = new RSA_thread_management(odd, 3, new RSA_blocks(97, 10));
        String ciphertext = small.encrypt(text(95));
        check(ciphertext.length() == 10 * 2 * 97, "95 symbols are ten blocks of ten");
        check(small.decrypt(ciphertext, 95).equals(text(95)), "blocks of ten symbols come back as others");
    }

    /** A ciphertext that is none: refused, and the management goes on working. */
    private static void damage(RSA_key_pair keys) {
        RSA_thread_management management = new RSA_thread_management(keys, 3);
        String text = text(1000);
        String ciphertext = management.encrypt(text);
        refused(IllegalArgumentException.class, () -> management.decrypt(ciphertext.substring(1), 1000));
        refused(IllegalArgumentException.class, () -> management.decrypt(ciphertext, 1017));
        refused(IllegalArgumentException.class, () -> management.decrypt(ciphertext, -1));
        refused(IllegalStateException.class, () -> management.decrypt("f".repeat(256) + ciphertext.substring(256), 1000));
        refused(IllegalStateException.class, () -> management.decrypt("x" + ciphertext.substring(1), 1000));
        check(management.decrypt(ciphertext, 1000).equals(text), "the management has suffered");
    }

    private static void refusals(RSA_key_pair keys) {
        for (int threads : new int[] {-1, 0, 1025}) {
            refused(IllegalArgumentException.class, () -> new RSA_thread_management(keys, threads));
        }
        for (int bits : new int[] {0, 510, 1023, 16386}) {
            refused(IllegalArgumentException.class, () -> RSA_key_pair.generate(bits, new Random()));
        }
        for (int exponent : new int[] {-3, 1, 4}) {
            refused(IllegalArgumentException.class, () -> RSA_key_pair.generate(512, BigInteger.valueOf(exponent), new Random()));
        }
        for (int symbols : new int[] {0, 128}) {
            refused(IllegalArgumentException.class, () -> new RSA_blocks(128, symbols));
        }
        refused(IllegalArgumentException.class, () -> new RSA_thread_management(keys, 1, new RSA_blocks(64, 63)));
        refused(IllegalArgumentException.class, () -> new RSA_public_key(BigInteger.TWO.pow(1023), BigInteger.valueOf(3)));
        refused(IllegalArgumentException.class, () -> keys.publicKey().encrypt(keys.publicKey().modulus()));
        RSA_private_key other = new RSA_private_key(keys.publicKey().modulus(), keys.privateKey().exponent().subtract(BigInteger.TWO));
        refused(IllegalArgumentException.class, () -> new RSA_key_pair(keys.publicKey(), other, keys.p(), keys.q()));
        check(!keys.toString().contains(keys.privateKey().exponent().toString()), "a pair shows its private exponent");
        check(!keys.privateKey().toString().contains(keys.privateKey().exponent().toString()), "a key shows its private exponent");
    }

    /** The class as the article has it: a thread; its parameters private; public initialisation, run, output, id and status. */
    private static void formOfTheArticle(Class<?> type, String work) throws NoSuchMethodException {
        check(type.getSuperclass() == Thread.class, type + " is no thread");
        check(type.getConstructors().length == 1, type + " has no public initialisation");
        for (Field field : type.getDeclaredFields()) {
            check(Modifier.isPrivate(field.getModifiers()), field + " is not private");
        }
        for (String name : List.of("run", "output", "id", "isFinished")) {
            check(Modifier.isPublic(type.getDeclaredMethod(name).getModifiers()), name + " is not public");
        }
        List<String> others = new ArrayList<>();
        for (Method method : type.getDeclaredMethods()) {
            if (!Modifier.isPublic(method.getModifiers())) {
                check(Modifier.isPrivate(method.getModifiers()), method + " is not private");
                others.add(method.getName());
            }
        }
        check(others.size() == 2 && others.containsAll(List.of(work, "taskDone")), "the private methods are " + others);
        check(type.getDeclaredMethod("output").getReturnType() == String.class, "the output is no string");
    }

    private static void refused(Class<? extends RuntimeException> as, Runnable what) {
        try {
            what.run();
        } catch (RuntimeException error) {
            check(as.isInstance(error), "it was refused by " + error);
            check(error.getMessage() != null && error.getMessage().contains(" "), "the refusal is no sentence: " + error);
            return;
        }
        throw new AssertionError("it was accepted");
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
