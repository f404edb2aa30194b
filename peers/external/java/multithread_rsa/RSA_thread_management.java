package multithread_rsa;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Splits a text over threads, watches them, and puts their outputs together: Figure 1 of the article.
 *
 * <pre>
 * 1  cut the input into parts of nearly equal work, initialise a thread for each, keep a reference to each
 * 2  go round over the references:
 * 2a     not started?   start it, and mark it as started
 * 2b     else finished? mark it as done: exclude it from the rounds
 * 3  until all are done
 * 4  put the outputs together in the order in which the input was cut
 * </pre>
 *
 * <p>Parts end at the borders of blocks, and differ by a block at most. There are always as many threads as were asked for: where there
 * are fewer blocks, the last ones get nothing to do, and cost what a thread costs. That is what the article's finding about short texts is
 * about.
 *
 * <p>After a round in which nothing has changed the management sleeps until a thread signals that it is done. Going round without a rest
 * would take a CPU from the threads that work.
 *
 * <p>An instance may be used for any number of texts, by one thread at a time.
 */
public final class RSA_thread_management {
    /** The most threads. */
    public static final int MOST_THREADS = 1024;

    private final RSA_key_pair keys;
    private final RSA_blocks blocks;
    private int threads;

    /** For the largest blocks that the modulus takes. */
    public RSA_thread_management(RSA_key_pair keys, int threads) {
        this(keys, threads, RSA_blocks.of(keys.publicKey().modulus()));
    }

    /** @throws IllegalArgumentException for fewer than 1 thread or more than 1024, or blocks that are not for these keys */
    public RSA_thread_management(RSA_key_pair keys, int threads, RSA_blocks blocks) {
        checkBlocks(blocks, keys.publicKey().modulus());
        this.keys = keys;
        this.blocks = blocks;
        setThreads(threads);
    }

    /** Sets the number of threads of the texts to come. */
    public void setThreads(int threads) {
        if (threads < 1 || threads > MOST_THREADS) {
            throw new IllegalArgumentException(threads + " threads; 1 to " + MOST_THREADS + " are possible");
        }
        this.threads = threads;
    }

    /**
     * Encrypts a text on all threads.
     *
     * @param text symbols U+0000 to U+00FF
     * @return two hexadecimal digits for each byte of the blocks' ciphertexts
     * @throws IllegalArgumentException if there are other symbols in it, or too many
     * @throws IllegalStateException if a thread failed, or could not be started
     */
    public String encrypt(String text) {
        blocks.checkText(text);
        List<Managed> references = new ArrayList<>(threads);
        for (int id = 0; id < threads; id++) {
            String part = text.substring(cut(id, text.length()), cut(id + 1, text.length()));
            references.add(new RSA_encrypt_thread(id, keys.publicKey(), blocks, part));
        }
        return manage(references);
    }

    /**
     * Decrypts a ciphertext on all threads.
     *
     * @param ciphertext what {@link #encrypt} has returned
     * @param symbols of the text: blocks do not tell how many they had
     * @throws IllegalArgumentException if the ciphertext is not of so many symbols
     * @throws IllegalStateException if a thread failed, for example at a block that is damaged, or could not be started
     */
    public String decrypt(String ciphertext, int symbols) {
        blocks.checkCiphertext(ciphertext, symbols);
        List<Managed> references = new ArrayList<>(threads);
        for (int id = 0; id < threads; id++) {
            int from = cut(id, symbols);
            int to = cut(id + 1, symbols);
            String part = ciphertext.substring(blocks.count(from) * blocks.digits(), blocks.count(to) * blocks.digits());
            references.add(new RSA_decrypt_thread(id, keys.privateKey(), blocks, part, to - from));
        }
        return manage(references);
    }

    /** Where the part of a thread begins in a text: at the border of a block, or at the text's end. */
    private int cut(int id, int symbols) {
        long block = (long) blocks.count(symbols) * id / threads;
        return (int) Math.min(symbols, block * blocks.symbols());
    }

    /** Steps 2 to 4. */
    private static String manage(List<Managed> threads) {
        List<Reference> cycle = new ArrayList<>();
        threads.forEach(thread -> cycle.add(new Reference(thread)));
        IllegalStateException notStarted = null;
        boolean interrupted = false;
        while (!cycle.isEmpty()) {
            boolean changed = false;
            for (Iterator<Reference> round = cycle.iterator(); round.hasNext(); ) {
                Reference reference = round.next();
                if (!reference.started) {
                    try {
                        reference.thread.start();
                        reference.started = true;
                    } catch (OutOfMemoryError error) {
                        // The system has no more threads. Those that run are waited for all the same.
                        notStarted = new IllegalStateException("thread " + reference.thread.id() + " could not be started", error);
                        round.remove();
                    }
                    changed = true;
                } else if (reference.thread.isFinished()) {
                    round.remove();
                    changed = true;
                }
            }
            if (!changed) {
                LockSupport.park();
                // Threads at work are not called back: whoever interrupts is told afterwards.
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (notStarted != null) {
            throw notStarted;
        }
        StringBuilder merged = new StringBuilder();
        threads.stream().sorted(Comparator.comparingInt(Managed::id)).forEach(thread -> merged.append(thread.output()));
        return merged.toString();
    }

    /** A thread and what the management has marked of it. */
    private static final class Reference {
        final Managed thread;
        boolean started;

        Reference(Managed thread) {
            this.thread = thread;
        }
    }

    static void checkBlocks(RSA_blocks blocks, BigInteger modulus) {
        if (blocks.modulusBytes() != (modulus.bitLength() + 7) / 8) {
            throw new IllegalArgumentException("the blocks are for a modulus of " + blocks.modulusBytes() + " bytes");
        }
    }

    /** What a thread has put out; it has finished, and has not failed. */
    static String collected(int id, boolean finished, Throwable failure, String output) {
        if (!finished) {
            throw new IllegalStateException("thread " + id + " has not finished");
        }
        if (failure != null) {
            throw new IllegalStateException("thread " + id + " failed: " + failure.getMessage(), failure);
        }
        return output;
    }
}
