package rsalab.worker;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;

/**
 * A job on a whole text, which is one call of the engine.
 *
 * <p>The threads are the engine's, and so is everything that it does to start, watch and collect them: all of it is in the time.
 */
final class TextDriver extends Driver {
    /** A text of about so many blocks is what the compiler is warmed up with: the work is the same for each block. */
    private static final int WARM_UP_BLOCKS = 8;

    private final Engine.Text operation;
    private final boolean encrypts;
    private final String input;

    /** The output of the first run. */
    private String first;

    TextDriver(Engine engine, Job job, Key key, byte[] inputs) throws GeneralSecurityException {
        super(job);
        encrypts = job.op().equals("text_encrypt");
        input = encrypts ? new String(inputs, StandardCharsets.ISO_8859_1) : HexFormat.of().formatHex(inputs);
        operation = engine.text(job, key);
        if (!input.isEmpty()) {
            int blocks = (int) Math.min(WARM_UP_BLOCKS, job.blocks());
            WarmUp.of(job, () -> operation.begin(input, blocks));
        }
    }

    @Override
    void ready() throws Fault {
        if (first == null) {
            outputs();
        }
    }

    @Override
    String outputs() throws Fault {
        run();
        return encrypts ? first : HexFormat.of().formatHex(first.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    Samples.Sample call(ByteArrayOutputStream made) throws Fault {
        return new Samples.Sample(run(), 1);
    }

    /** The time of one call, whose output is as the first. */
    private long run() throws Fault {
        String output;
        long elapsed;
        try {
            long began = System.nanoTime();
            output = operation.run(input);
            elapsed = System.nanoTime() - began;
        } catch (GeneralSecurityException | RuntimeException error) {
            throw new Fault("library", "the text was not done: " + error.getMessage());
        }
        if (first == null) {
            first = output;
        } else if (!first.equals(output)) {
            int block = firstDifference(output) / (encrypts ? 2 * job.output() : job.output());
            throw new Fault("mismatch", "block " + block + " gave another output than in the first run", block);
        }
        return elapsed;
    }

    private int firstDifference(String output) {
        int at = 0;
        while (at < Math.min(first.length(), output.length()) && first.charAt(at) == output.charAt(at)) {
            at++;
        }
        return at;
    }
}
