package multithread_rsa;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that decrypts a part of a ciphertext.
 *
 * <p>It is initialised by its constructor, started with {@link #start}, asked with {@link #isFinished} whether it is done, and then for its
 * {@link #output}.
 */
public final class RSA_decrypt_thread extends Thread implements Managed {
    private final int id;
    private final RSA_private_key key;
    private final RSA_blocks blocks;
    private final String input;
    private final int symbols;
    private final Thread initialiser = Thread.currentThread();
    private String output;
    private Throwable failure;

    /** The finish flag. What was written before it was raised is seen by whoever sees it raised. */
    private volatile boolean finished;

    /**
     * Initialises the thread.
     *
     * @param id the order of its part, from 0 on
     * @param key what decrypts
     * @param blocks how the text became blocks
     * @param input the part: two hexadecimal digits for each byte of its blocks
     * @param symbols how many symbols come out
     * @throws IllegalArgumentException if the input is not of so many symbols, or the blocks are not for this key
     */
    public RSA_decrypt_thread(int id, RSA_private_key key, RSA_blocks blocks, String input, int symbols) {
        super("RSA_decrypt_thread " + id);
        RSA_thread_management.checkBlocks(blocks, key.modulus());
        blocks.checkCiphertext(input, symbols);
        this.id = id;
        this.key = key;
        this.blocks = blocks;
        this.input = input;
        this.symbols = symbols;
    }

    @Override
    public void run() {
        decrypt();
    }

    private void decrypt() {
        try {
            output = blocks.decrypt(input, symbols, key);
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
     * The text.
     *
     * @throws IllegalStateException if the thread has not finished, or has failed
     */
    @Override
    public String output() {
        return RSA_thread_management.collected(id, finished, failure, output);
    }
}
