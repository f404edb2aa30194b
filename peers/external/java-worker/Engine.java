package rsalab.worker;

import java.security.GeneralSecurityException;
import java.util.List;

/** What one engine adds to the worker: who it is, what it does, and how. */
public interface Engine {
    /** The engine's name, fixed: its program is {@code rsalab-peer-NAME}. */
    String name();

    /** Where its arithmetic comes from, for people. */
    String origin();

    /** The variants that a job may name, the default first; none where there is one only. */
    List<String> variants();

    /** Why a job that makes sense in itself is not done; null if it is. */
    String refusal(Job job);

    /** The conditions of the figures of a job that is done. */
    Ledger ledger(Job job);

    /**
     * The operation of a job on blocks, for one thread.
     *
     * @param key null for operations that take none
     * @throws GeneralSecurityException if the key is refused
     */
    Operation operation(Job job, Key key) throws GeneralSecurityException;

    /**
     * The operation of a job on texts, with all its threads.
     *
     * @throws GeneralSecurityException if the key is refused
     */
    default Text text(Job job, Key key) throws GeneralSecurityException {
        throw new UnsupportedOperationException(name() + " does no texts");
    }

    /** Does one item: reads the job's input at {@code from}, writes its output at {@code to}. */
    interface Operation {
        void run(byte[] in, int from, byte[] out, int to) throws GeneralSecurityException;
    }

    /**
     * Does a whole text on the engine's own threads. What is measured is this call.
     *
     * <p>A text is a string with a character for each byte (ISO 8859-1), a ciphertext one of two lower-case hexadecimal digits for each
     * byte, in the order of the blocks.
     */
    interface Text {
        String run(String input) throws GeneralSecurityException;

        /** The same for the beginning of the input, of so many blocks: what the compiler is warmed up with. */
        String begin(String input, int blocks) throws GeneralSecurityException;
    }
}
