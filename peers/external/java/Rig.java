import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * A job made ready: its threads, each with its share of the work. The rules are those of the native harness
 * (crates/engines/src/harness), in Java's threads.
 *
 * <p>The thread that reads the clock is the worker's own. Each of the others waits in the gate for a task.
 */
final class Rig {
    /** How long one thread's part of a throughput call lasts, about; and where threads share CPUs. */
    private static final long SAMPLE_NS = 1_000_000;

    private static final long SAMPLE_NS_CROWDED = 10_000_000;
    private static final int SAMPLE_OUTPUT_BYTES = 1 << 20;
    private static final byte SPOILED = (byte) 0xA5;
    private static final int MOST_SAMPLES = 1 << 20;

    /** The task of doing each input once. */
    private static final int REFERENCE = -1;

    private static final int STOP = -2;

    private static final long WARM_UP_NS = 5_000_000_000L;
    private static final long WARM_UP_SPELL_NS = 100_000_000;
    private static final int WARM_UP_SPELLS = 4;

    /** What has been warmed up in this process: an operation at a size in a form. The compiler keeps its code. */
    private static final Set<String> WARM = new HashSet<>();

    private final Job job;
    private final byte[] inputs;
    private final int items;
    private final int batches;
    private final boolean crowded;
    private final Gate gate;
    private final List<Member> members = new ArrayList<>();

    /** What the gate opens for. It is the gate that orders the writes and reads of it. */
    private int task;

    /** Outputs of the first run over all inputs. */
    private byte[] first;

    /** Batches of a thread in a call; 0 until chosen. */
    private int rounds;

    private Rig(Job job, Operations.Key key, byte[] inputs) throws GeneralSecurityException {
        this.job = job;
        this.inputs = inputs;
        items = job.makes() ? job.batch() : inputs.length / job.input();
        batches = (items + job.batch() - 1) / job.batch();
        crowded = job.threads() > Runtime.getRuntime().availableProcessors();
        gate = new Gate(job.threads(), !crowded);
        rounds = job.makes() || job.mode().equals("latency") ? 1 : 0;
        for (int index = 0; index < job.threads(); index++) {
            members.add(new Member(index, Operations.of(job, key)));
        }
    }

    static Rig prepare(Job job, JsonArray keys, byte[] inputs) throws Worker.Fault {
        String reason = job.refusal();
        if (reason != null) {
            throw new Worker.Fault("unsupported", reason);
        }
        Rig rig;
        try {
            Operations.Key key = key(job, keys);
            checkInputs(job, key, inputs);
            rig = new Rig(job, key, inputs);
        } catch (GeneralSecurityException | RuntimeException error) {
            throw new Worker.Fault("key", "the key was refused: " + error.getMessage());
        }
        rig.warmUp();
        try {
            for (Member member : rig.members.subList(1, rig.members.size())) {
                Thread thread = new Thread(member::live, "crew-" + member.index);
                thread.setDaemon(true);
                thread.start();
            }
        } catch (OutOfMemoryError error) {
            throw new Worker.Fault("threads", "not all of " + job.threads() + " threads could be started");
        }
        return rig;
    }

    private static Operations.Key key(Job job, JsonArray keys) throws Worker.Fault, GeneralSecurityException {
        if (keys != null) {
            for (JsonElement key : keys) {
                long bits = Worker.number(key.getAsJsonObject(), "bits");
                if (bits != job.bits()) {
                    throw new Worker.Fault("key", "a key of " + bits + " bits came with a job of " + job.bits() + " bits");
                }
            }
        }
        if (!job.takesKey()) {
            return null;
        }
        if (keys == null || keys.isEmpty()) {
            throw new Worker.Fault("key", "the key was refused: '" + job.op() + "' needs one and got none");
        }
        JsonObject key = keys.get(0).getAsJsonObject();
        int k = job.modulusBytes();
        int h = job.primeBytes();
        return Operations.Key.of(
                part(key, "n", k), part(key, "e", 0), part(key, "d", k), part(key, "p", h), part(key, "q", h),
                part(key, "dp", h), part(key, "dq", h), part(key, "qinv", h));
    }

    /** A number of a key; 0 bytes are any number of them. */
    private static BigInteger part(JsonObject key, String name, int length) throws Worker.Fault {
        byte[] bytes = Worker.bytes(key, name);
        if (length != 0 && bytes.length != length) {
            String what = "its " + name + " has " + bytes.length + " bytes where " + length + " were expected";
            throw new Worker.Fault("key", "the key was refused: " + what);
        }
        return new BigInteger(1, bytes);
    }

    /** Whether the inputs are whole items, at least one, and blocks smaller than the modulus. */
    private static void checkInputs(Job job, Operations.Key key, byte[] inputs) throws Worker.Fault {
        int item = job.input();
        if (job.makes()) {
            if (inputs.length != 0) {
                throw new Worker.Fault("length", "the inputs have " + inputs.length + " bytes where '" + job.op() + "' takes 0");
            }
            return;
        }
        if (inputs.length == 0 || inputs.length % item != 0) {
            String what = inputs.length + " bytes, which is not one or more items of " + item + " bytes";
            throw new Worker.Fault("length", "the inputs have " + what);
        }
        if (job.op().equals("private") || job.op().equals("public")) {
            BigInteger modulus = new BigInteger(1, key.modulus());
            for (int at = 0; at < inputs.length; at += item) {
                if (Operations.get(inputs, at, item).compareTo(modulus) >= 0) {
                    int place = at / item;
                    String what = "input " + place + " of the batch is not smaller than the modulus";
                    throw new Worker.Fault("input_out_of_range", what, place);
                }
            }
        }
    }

    /** Runs the operation until the compiler makes it no faster: see the ledger's set-up. Whatever fails will fail again. */
    private void warmUp() {
        if (!WARM.add(job.op() + " " + job.bits() + " " + job.variant())) {
            return;
        }
        Member leader = members.get(0);
        byte[] out = new byte[job.output()];
        double best = Double.MAX_VALUE;
        int stale = 0;
        int item = 0;
        long began = System.nanoTime();
        while (stale < WARM_UP_SPELLS && System.nanoTime() - began < WARM_UP_NS) {
            long spell = System.nanoTime();
            long done = 0;
            long elapsed;
            do {
                try {
                    leader.operation.run(inputs, item * job.input(), out, 0);
                } catch (GeneralSecurityException | RuntimeException error) {
                    return;
                }
                item = (item + 1) % items;
                done++;
                elapsed = System.nanoTime() - spell;
            } while (elapsed < WARM_UP_SPELL_NS);
            double each = (double) elapsed / done;
            stale = each < 0.97 * best ? 0 : stale + 1;
            best = Math.min(best, each);
        }
    }

    String kernel() {
        return "BigInteger of " + System.getProperty("java.vm.version");
    }

    boolean isCrowded() {
        return crowded;
    }

    /** Ends the threads. */
    void release() {
        task = STOP;
        gate.await();
    }

    /** One thread's part. */
    private final class Member {
        final int index;
        final Operations.Operation operation;
        /** The batch that the next call begins with. */
        int next;
        /** Of the last call, batch after batch. */
        byte[] outputs = new byte[0];
        int filled;
        long done;
        Worker.Fault fault;

        Member(int index, Operations.Operation operation) {
            this.index = index;
            this.operation = operation;
            next = (int) ((long) index * batches / job.threads());
        }

        void live() {
            while (true) {
                gate.await();
                if (task == STOP) {
                    return;
                }
                work(task);
                gate.await();
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
                        fault = new Worker.Fault("library", "Java's provider failed at input " + item + ": " + error.getMessage(), item);
                        return;
                    }
                    filled += job.output();
                    done++;
                }
                batch = batch + 1 == batches ? 0 : batch + 1;
            }
        }

        /** Compares what the measured part did with the first run, or hands it over, and wipes it out. */
        void check(int task, ByteArrayOutputStream made) throws Worker.Fault {
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
                        throw new Worker.Fault("mismatch", "input " + item + " gave another output than in the first run", item);
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

    private record Sample(long elapsedNs, long operations) {
        Sample and(Sample other) {
            return new Sample(elapsedNs + other.elapsedNs, operations + other.operations);
        }
    }

    /** One call of all threads: its time runs from the release of all to the last finish. */
    private Sample call(int task, ByteArrayOutputStream made) throws Worker.Fault {
        this.task = task;
        long began = System.nanoTime();
        gate.await();
        members.get(0).work(task);
        gate.await();
        long elapsed = System.nanoTime() - began;
        long operations = 0;
        for (Member member : members) {
            member.check(task, made);
            operations += member.done;
        }
        return new Sample(elapsed, operations);
    }

    /** Every input once, untimed. */
    byte[] outputs() throws Worker.Fault {
        byte[] expected = first;
        first = null;
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        try {
            call(REFERENCE, made);
        } finally {
            first = expected;
        }
        byte[] outputs = made.toByteArray();
        if (job.makes()) {
            return outputs;
        }
        if (expected != null && !Arrays.equals(expected, outputs)) {
            throw new Worker.Fault("mismatch", "the inputs gave other outputs than in the first run");
        }
        first = outputs;
        chooseRounds();
        return outputs;
    }

    /** So many batches a call that it lasts about a millisecond, and the gate does not count. */
    private void chooseRounds() throws Worker.Fault {
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

    /** One block of samples, as crates/measure/src/sample.rs takes it: the answer. */
    JsonObject block(JsonObject plan) throws Worker.Fault {
        long discardNs = Worker.number(plan, "discard_ns");
        long minNs = Worker.number(plan, "min_ns");
        long calls = plan.has("calls") && plan.get("calls").isJsonPrimitive() ? Math.max(1, Worker.number(plan, "calls")) : 0;
        int most = (int) Math.max(1, Math.min(MOST_SAMPLES, Worker.number(plan, "max_samples")));
        if (!job.makes() && first == null) {
            outputs();
        }
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        Record record = new Record(most);
        long discarded = 0;
        long started = System.nanoTime();
        while (System.nanoTime() - started < discardNs) {
            discarded += call(rounds, made).operations();
        }
        long from = System.nanoTime();
        long now;
        long taken = 0;
        do {
            record.push(call(rounds, made));
            taken++;
            now = System.nanoTime();
        } while (calls > 0 ? taken < calls : now - from < minNs);

        JsonArray samples = new JsonArray();
        for (Sample sample : record.samples) {
            JsonObject one = new JsonObject();
            one.addProperty("elapsed_ns", sample.elapsedNs());
            one.add("tsc_ticks", JsonNull.INSTANCE);
            one.addProperty("operations", sample.operations());
            samples.add(one);
        }
        JsonObject block = new JsonObject();
        block.add("samples", samples);
        block.addProperty("discarded_operations", discarded);
        // The clock's zero is any; the protocol has no negative numbers.
        block.addProperty("started_ns", Math.max(0, started));
        block.addProperty("elapsed_ns", now - started);
        JsonObject answer = Worker.named("block");
        answer.add("block", block);
        if (job.makes()) {
            answer.addProperty("outputs", HexFormat.of().formatHex(made.toByteArray()));
        }
        return answer;
    }

    /** Samples within a limit that is kept by merging neighbours, so that every call is counted. */
    private static final class Record {
        final List<Sample> samples = new ArrayList<>();
        private final int most;
        /** Calls that make up one sample. */
        private long each = 1;
        private long inLast;

        Record(int most) {
            this.most = most;
        }

        void push(Sample sample) {
            int last = samples.size() - 1;
            if (inLast < each && last >= 0) {
                samples.set(last, samples.get(last).and(sample));
                inLast++;
            } else if (samples.size() == most) {
                halve();
                push(sample);
            } else {
                samples.add(sample);
                inLast = 1;
            }
        }

        private void halve() {
            boolean odd = samples.size() % 2 == 1;
            List<Sample> halved = new ArrayList<>();
            for (int i = 0; i < samples.size(); i += 2) {
                Sample one = samples.get(i);
                halved.add(i + 1 < samples.size() ? one.and(samples.get(i + 1)) : one);
            }
            samples.clear();
            samples.addAll(halved);
            inLast = odd ? each : 2 * each;
            each *= 2;
        }
    }

    /** A barrier in which a thread spins before it sleeps: it releases a call, and parks the threads between blocks. */
    private static final class Gate {
        private static final long SPIN_NS = 1_000_000;
        private final int threads;
        private final boolean spins;
        private int arrived;
        private volatile int opened;

        Gate(int threads, boolean spins) {
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
}
