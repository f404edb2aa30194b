package rsalab.worker;

import java.security.GeneralSecurityException;
import java.util.HashSet;
import java.util.Set;

/** Running an operation until the compiler makes it no faster. */
final class WarmUp {
    /** As the ledger says it. */
    static final String IN_WORDS = "JIT warmed up, until 4 spells of 100 ms are no faster than the best by 3 %, or 5 s";

    private static final long MOST_NS = 5_000_000_000L;
    private static final long SPELL_NS = 100_000_000;
    private static final int SPELLS = 4;

    /** What has been warmed up in this process: an operation at a size in a variant. The compiler keeps its code. */
    private static final Set<String> WARM = new HashSet<>();

    private WarmUp() {}

    /** One run of what is to be compiled. */
    interface Once {
        void run() throws GeneralSecurityException;
    }

    /** Warms up a job's operation, unless this process did so before. Whatever fails will fail again. */
    static void of(Job job, Once once) {
        if (!WARM.add(job.op() + " " + job.bits() + " " + job.variant())) {
            return;
        }
        double best = Double.MAX_VALUE;
        int stale = 0;
        long began = System.nanoTime();
        while (stale < SPELLS && System.nanoTime() - began < MOST_NS) {
            long spell = System.nanoTime();
            long done = 0;
            long elapsed;
            do {
                try {
                    once.run();
                } catch (GeneralSecurityException | RuntimeException error) {
                    return;
                }
                done++;
                elapsed = System.nanoTime() - spell;
            } while (elapsed < SPELL_NS);
            double each = (double) elapsed / done;
            stale = each < 0.97 * best ? 0 : stale + 1;
            best = Math.min(best, each);
        }
    }
}
