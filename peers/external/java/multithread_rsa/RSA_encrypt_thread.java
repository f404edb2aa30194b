package multithread_rsa;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that encrypts a part of a text.
 *
 * <p>It is initialised by its constructor, started with {@link #start}, asked with {@link #isFinished} whether it is done, and then for its
 * {@link #output}.
 */
public final class RSA_encrypt_thread extends Thread implements Managed {
    private final int id;
    private final RSA_public_key key;
    private final RSA_blocks blocks;
    private final String input;
    private final Thread initialiser = Thread.currentThread();
    private String output;
    private Throwable failure;

    /** The finish flag. What was written before it was raised is seen by whoever sees it raised. */
    private volatile boolean finished;

    /**
     * Initialises the thread.
     *
     * @param id the order of its part, from 0 on
     * @param key what encrypts
     * @param blocks how the text becomes blocks
     * @param input the part: symbols U+0000 to U+00FF
     * @throws IllegalArgumentException if there are other symbols in the input, or too many, or if the blocks are not for this key
     */
    public RSA_encrypt_thread(int id, RSA_public_key key, RSA_blocks blocks, String input) {
        super("RSA_encrypt_thread " + id);
        RSA_thread_management.checkBlocks(blocks, key.modulus());
        blocks.checkText(input);
        this.id = id;
        this.key = key;
        this.blocks = blocks;
        this.input = input;
    }

    @Override
    public void run() {
        encrypt();
    }

    private void encrypt() {
        try {
            output = blocks.encrypt(input, key);
        } catch (RuntimeException | OutOfMemoryError error) {
            failure = error;
        } finally {
            taskDone();
        }
    }

    /** Raises the finish flag, and signals it to the thread that waits for it, if that waits. */
    private void taskDone() {
        finished = true;
        LockSupport.unpark(initialiser);
    }

    @Override
    public int id() {
        return id;
    }

    @Override
    public boolean isFinished() {
        return finished;
    }

    /**
     * The ciphertext.
     *
     * @throws IllegalStateException if the thread has not finished, or has failed
     */
    @Override
    public String output() {
        return RSA_thread_management.collected(id, finished, failure, output);
    }
}
