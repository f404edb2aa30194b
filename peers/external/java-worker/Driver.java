package rsalab.worker;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.util.HexFormat;

/** A job made ready. The rules are those of the native harness (crates/engines/src/harness), in Java. */
abstract class Driver {
    private static final int MOST_SAMPLES = 1 << 20;

    final Job job;
    /** Whether there are more threads than CPUs. */
    final boolean crowded;

    Driver(Job job) {
        this.job = job;
        crowded = job.threads() > Runtime.getRuntime().availableProcessors();
    }

    static Driver prepare(Engine engine, Job job, JsonArray keys, byte[] inputs) throws Fault {
        String reason = refusal(engine, job);
        if (reason != null) {
            throw new Fault("unsupported", reason);
        }
        checkLength(job, inputs);
        Key key = Key.read(job, keys);
        checkRange(job, key, inputs);
        try {
            return job.isText() ? new TextDriver(engine, job, key, inputs) : new BlockDriver(engine, job, key, inputs);
        } catch (GeneralSecurityException | RuntimeException error) {
            throw new Fault("key", "the key was refused: " + error.getMessage());
        }
    }

    /** Why a job is not done; null if it is. */
    static String refusal(Engine engine, Job job) {
        String nonsense = job.nonsense();
        return nonsense != null ? nonsense : engine.refusal(job);
    }

    /** Whether the inputs are whole items, at least one, or a whole text. */
    private static void checkLength(Job job, byte[] inputs) throws Fault {
        long all = job.allInputs();
        if (all >= 0 && inputs.length != all) {
            throw new Fault("length", "the inputs have " + inputs.length + " bytes where '" + job.op() + "' takes " + all);
        }
        if (all < 0 && (inputs.length == 0 || inputs.length % job.input() != 0)) {
            String what = inputs.length + " bytes, which is not one or more items of " + job.input() + " bytes";
            throw new Fault("length", "the inputs have " + what);
        }
    }

    /** Whether blocks are smaller than the modulus. */
    private static void checkRange(Job job, Key key, byte[] inputs) throws Fault {
        if (!job.op().equals("private") && !job.op().equals("public") && !job.op().equals("text_decrypt")) {
            return;
        }
        int item = job.input();
        for (int at = 0; at < inputs.length; at += item) {
            if (new BigInteger(1, inputs, at, item).compareTo(key.n()) >= 0) {
                int place = at / item;
                String what = "input " + place + " of the batch is not smaller than the modulus";
                throw new Fault("input_out_of_range", what, place);
            }
        }
    }

    String kernel() {
        return "BigInteger of " + System.getProperty("java.vm.version");
    }

    /** Makes ready what {@link #call} needs, and the first outputs, if that was not done yet. */
    abstract void ready() throws Fault;

    /** One call, timed, and compared with the first outputs; what it made, if it makes anything, goes to {@code made}. */
    abstract Samples.Sample call(ByteArrayOutputStream made) throws Fault;

    /** Every input once, untimed, as hexadecimal digits. */
    abstract String outputs() throws Fault;

    /** Ends what the job has started. */
    void release() {}

    /** One block of samples, as crates/measure/src/sample.rs takes it: the answer. */
    final JsonObject block(JsonObject plan) throws Fault {
        long discardNs = Json.number(plan, "discard_ns");
        long minNs = Json.number(plan, "min_ns");
        long calls = plan.has("calls") && plan.get("calls").isJsonPrimitive() ? Math.max(1, Json.number(plan, "calls")) : 0;
        int most = (int) Math.max(1, Math.min(MOST_SAMPLES, Json.number(plan, "max_samples")));
        ready();
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        Samples samples = new Samples(most);
        long discarded = 0;
        long started = System.nanoTime();
        while (System.nanoTime() - started < discardNs) {
            discarded += call(made).operations();
        }
        long from = System.nanoTime();
        long now;
        long taken = 0;
        do {
            samples.push(call(made));
            taken++;
            now = System.nanoTime();
        } while (calls > 0 ? taken < calls : now - from < minNs);

        JsonObject block = new JsonObject();
        block.add("samples", samples.json());
        block.addProperty("discarded_operations", discarded);
        // The clock's zero is any; the protocol has no negative numbers.
        block.addProperty("started_ns", Math.max(0, started));
        block.addProperty("elapsed_ns", now - started);
        JsonObject answer = Json.answer("block");
        answer.add("block", block);
        if (job.makes()) {
            answer.addProperty("outputs", HexFormat.of().formatHex(made.toByteArray()));
        }
        return answer;
    }
}
