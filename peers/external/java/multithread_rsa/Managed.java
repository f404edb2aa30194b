package multithread_rsa;

/** What the management needs of a thread that encrypts, or decrypts. */
interface Managed {
    /** Starts the thread. Only once. */
    void start();

    /** The order in which its part was cut from the whole, from 0 on. */
    int id();

    /** Whether it has done its work, or has failed. */
    boolean isFinished();

    /** What came out. */
    String output();
}
