package rsalab.worker;

/** A barrier in which a thread spins before it sleeps: it releases a call, and parks the threads between blocks. */
final class Barrier {
    private static final long SPIN_NS = 1_000_000;
    private final int threads;
    private final boolean spins;
    private int arrived;
    private volatile int opened;

    Barrier(int threads, boolean spins) {
        this.threads = threads;
        this.spins = spins;
    }

    void await() {
        // A thread alone must not pay for a barrier inside its timed call.
        if (threads == 1) {
            return;
        }
        int round = opened;
        synchronized (this) {
            if (++arrived == threads) {
                arrived = 0;
                opened = round + 1;
                notifyAll();
                return;
            }
        }
        long began = System.nanoTime();
        while (spins && opened == round && System.nanoTime() - began < SPIN_NS) {
            Thread.onSpinWait();
        }
        synchronized (this) {
            while (opened == round) {
                try {
                    wait();
                } catch (InterruptedException ignored) {
                    // Nobody interrupts.
                }
            }
        }
    }
}
