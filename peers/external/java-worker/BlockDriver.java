package rsalab.worker;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * A job on items: its threads, each with its share of the work.
 *
 * <p>The thread that reads the clock is the worker's own. Each of the others waits in the barrier for a task.
 */
final class BlockDriver extends Driver {
    /** How long one thread's part of a throughput call lasts, about; and where threads share CPUs. */
    private static final long SAMPLE_NS = 1_000_000;

    private static final long SAMPLE_NS_CROWDED = 10_000_000;
    private static final int SAMPLE_OUTPUT_BYTES = 1 << 20;
    private static final byte SPOILED = (byte) 0xA5;

    /** The task of doing each input once. */
    private static final int REFERENCE = -1;

    private static final int STOP = -2;

    private final byte[] inputs;
    private final int items;
    private final int batches;
    private final Barrier barrier;
    private final List<Member> members = new ArrayList<>();

    /** What the barrier opens for. It is the barrier that orders the writes and reads of it. */
    private int task;

    /** Outputs of the first run over all inputs. */
    private byte[] first;

    /** Batches of a thread in a call; 0 until chosen. */
    private int rounds;

    /** Where the next item of the warm-up is. */
    private int warming;

    BlockDriver(Engine engine, Job job, Key key, byte[] inputs) throws GeneralSecurityException, Fault {
        super(job);
        this.inputs = inputs;
        items = job.makes() ? job.batch() : inputs.length / job.input();
        batches = (items + job.batch() - 1) / job.batch();
        barrier = new Barrier(job.threads(), !crowded);
        rounds = job.makes() || job.mode().equals("latency") ? 1 : 0;
        for (int index = 0; index < job.threads(); index++) {
            members.add(new Member(index, engine.operation(job, key)));
        }
        byte[] out = new byte[job.output()];
        WarmUp.of(job, () -> {
            members.get(0).operation.run(inputs, warming * job.input(), out, 0);
            warming = (warming + 1) % items;
        });
        try {
            for (Member member : members.subList(1, members.size())) {
                Thread thread = new Thread(member::live, "worker-" + member.index);
                thread.setDaemon(true);
                thread.start();
            }
        } catch (OutOfMemoryError error) {
            throw new Fault("threads", "not all of " + job.threads() + " threads could be started");
        }
    }

    @Override
    void release() {
        task = STOP;
        barrier.await();
    }

    /** One thread's part. */
    private final class Member {
        final int index;
        final Engine.Operation operation;
        /** The batch that the next call begins with. */
        int next;
        /** Of the last call, batch after batch. */
        byte[] outputs = new byte[0];
        int filled;
        long done;
        Fault fault;

        Member(int index, Engine.Operation operation) {
            this.index = index;
            this.operation = operation;
            next = (int) ((long) index * batches / job.threads());
        }

        void live() {
            while (true) {
                barrier.await();
                if (task == STOP) {
                    return;
                }
                work(task);
                barrier.await();
            }
        }

        private int firstBatch(int task) {
            return task == REFERENCE ? (int) ((long) index * batches / job.threads()) : next;
        }

        private int count(int task) {
            return task == REFERENCE ? (int) ((index + 1L) * batches / job.threads()) - firstBatch(task) : task;
        }

        /** The measured part. */
        void work(int task) {
            int batch = firstBatch(task);
            int count = count(task);
            long room = (long) count * job.batch() * job.output();
            if (outputs.length < room) {
                outputs = new byte[Math.toIntExact(room)];
                Arrays.fill(outputs, SPOILED);
            }
            filled = 0;
            done = 0;
            fault = null;
            for (; count > 0; count--) {
                int end = Math.min(items, (batch + 1) * job.batch());
                for (int item = batch * job.batch(); item < end; item++) {
                    try {
                        operation.run(inputs, item * job.input(), outputs, filled);
                    } catch (GeneralSecurityException | RuntimeException error) {
                        fault = new Fault("library", "the engine failed at input " + item + ": " + error.getMessage(), item);
                        return;
                    }
                    filled += job.output();
                    done++;
                }
                batch = batch + 1 == batches ? 0 : batch + 1;
            }
        }

        /** Compares what the measured part did with the first run, or hands it over, and wipes it out. */
        void check(int task, ByteArrayOutputStream made) throws Fault {
            if (fault != null) {
                throw fault;
            }
            if (job.makes() || first == null) {
                made.write(outputs, 0, filled);
            } else {
                int at = 0;
                int batch = firstBatch(task);
                for (int count = count(task); count > 0; count--) {
                    int from = batch * job.batch();
                    int to = Math.min(items, from + job.batch());
                    int bytes = (to - from) * job.output();
                    int place = Arrays.mismatch(outputs, at, at + bytes, first, from * job.output(), to * job.output());
                    if (place >= 0) {
                        int item = from + place / job.output();
                        throw new Fault("mismatch", "input " + item + " gave another output than in the first run", item);
                    }
                    at += bytes;
                    batch = batch + 1 == batches ? 0 : batch + 1;
                }
            }
            Arrays.fill(outputs, 0, filled, SPOILED);
            if (task != REFERENCE) {
                next = (next + task) % batches;
            }
        }
    }

    @Override
    Samples.Sample call(ByteArrayOutputStream made) throws Fault {
        return call(rounds, made);
    }

    /** One call of all threads: its time runs from the release of all to the last finish. */
    private Samples.Sample call(int task, ByteArrayOutputStream made) throws Fault {
        this.task = task;
        long began = System.nanoTime();
        barrier.await();
        members.get(0).work(task);
        barrier.await();
        long elapsed = System.nanoTime() - began;
        long operations = 0;
        for (Member member : members) {
            member.check(task, made);
            operations += member.done;
        }
        return new Samples.Sample(elapsed, operations);
    }

    @Override
    void ready() throws Fault {
        if (!job.makes() && first == null) {
            outputs();
        }
    }

    @Override
    String outputs() throws Fault {
        byte[] expected = first;
        first = null;
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        try {
            call(REFERENCE, made);
        } finally {
            first = expected;
        }
        byte[] outputs = made.toByteArray();
        if (!job.makes()) {
            if (expected != null && !Arrays.equals(expected, outputs)) {
                throw new Fault("mismatch", "the inputs gave other outputs than in the first run");
            }
            first = outputs;
            chooseRounds();
        }
        return HexFormat.of().formatHex(outputs);
    }

    /** So many batches a call that it lasts about a millisecond, and the barrier does not count. */
    private void chooseRounds() throws Fault {
        if (rounds != 0) {
            return;
        }
        int most = Math.max(1, SAMPLE_OUTPUT_BYTES / (job.batch() * job.output()));
        long wanted = crowded ? SAMPLE_NS_CROWDED : SAMPLE_NS;
        Member leader = members.get(0);
        int chosen = 1;
        while (true) {
            long began = System.nanoTime();
            leader.work(chosen);
            long elapsed = System.nanoTime() - began;
            leader.check(chosen, null);
            if (chosen == most || elapsed >= wanted) {
                break;
            }
            chosen = Math.min(2 * chosen, most);
        }
        // The first run finds its buffers too small: not in a measured one.
        call(chosen, null);
        rounds = chosen;
    }
}
