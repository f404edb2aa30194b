package rsalab.worker;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** An engine in Java as a worker of rsalab, which speaks docs/src/reference/worker-protocol.md over its standard input and output. */
public final class Worker {
    private static final long GRACE_MS = 2000;
    /** What the queue of lines ends with. */
    private static final String END = new String();

    private final Engine engine;
    private final OutputStream output;
    private Driver driver;

    private Worker(Engine engine, OutputStream output) {
        this.engine = engine;
        this.output = output;
    }

    /** The {@code main} of a worker: serves the engine until the input ends. Does not return. */
    public static void serve(Engine engine, String[] arguments) throws IOException, InterruptedException {
        if (arguments.length > 0) {
            answerArgument(engine, arguments[0]);
        }
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> watch(System.in, lines), "reader");
        reader.setDaemon(true);
        reader.start();
        Worker worker = new Worker(engine, System.out);
        for (String line = lines.take(); line != END && worker.answer(line); line = lines.take()) {}
        System.exit(0);
    }

    private static void answerArgument(Engine engine, String argument) {
        if (argument.equals("--version")) {
            System.out.println(engine.name() + " " + System.getProperty("java.vm.version") + " (" + engine.origin() + ")");
            System.exit(0);
        }
        System.err.printf(
                "This is the worker of rsalab's engine '%s'. rsalab starts it and talks to it over its standard input%n"
                        + "and output, one JSON object a line; see docs/src/reference/worker-protocol.md. Try: rsalab engines%n",
                engine.name());
        System.exit(argument.equals("--help") || argument.equals("-h") ? 0 : 2);
    }

    /** Reads lines until the input ends, and soon after ends the process: the coordinator is gone. */
    private static void watch(InputStream stdin, BlockingQueue<String> lines) {
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(stdin, StandardCharsets.UTF_8), 1 << 16);
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                if (!line.isBlank()) {
                    lines.put(line);
                }
            }
            lines.put(END);
            Thread.sleep(GRACE_MS);
            System.err.println("the input has ended; the request in progress was given up");
        } catch (IOException | InterruptedException | OutOfMemoryError error) {
            System.err.println("the conversation broke off: " + error);
        }
        Runtime.getRuntime().halt(5);
    }

    /** Answers one request; false after the last. */
    private boolean answer(String line) throws IOException {
        try {
            JsonObject request = Json.parse(line);
            switch (Json.text(request, "request")) {
                case "hello" -> say(hello());
                case "supports" -> supports(Job.read(Json.object(request, "job")));
                case "prepare" -> {
                    release();
                    Job job = Job.read(Json.object(request, "job"));
                    byte[] inputs = Json.bytes(request, "inputs");
                    driver = Driver.prepare(engine, job, request.getAsJsonArray("keys"), inputs);
                    JsonObject answer = Json.answer("prepared");
                    answer.addProperty("kernel", driver.kernel());
                    // Java does not pin.
                    answer.add("cpus", new JsonArray());
                    answer.addProperty("oversubscribed", driver.crowded);
                    say(answer);
                }
                case "outputs" -> {
                    JsonObject answer = Json.answer("outputs");
                    answer.addProperty("outputs", prepared("outputs").outputs());
                    say(answer);
                }
                case "block" -> say(prepared("block").block(Json.object(request, "plan")));
                case "release" -> {
                    release();
                    say(Json.answer("released"));
                }
                case "quit" -> {
                    say(Json.answer("bye"));
                    return false;
                }
                default -> throw Json.malformed(0);
            }
        } catch (Fault fault) {
            say(fault.answer());
        } catch (IllegalStateException | ClassCastException | NumberFormatException error) {
            // A field of another type than it must have.
            say(Json.malformed(0).answer());
        }
        return true;
    }

    private Driver prepared(String request) throws Fault {
        if (driver == null) {
            throw new Fault("sequence", "'" + request + "' needs a prepared job");
        }
        return driver;
    }

    private void release() {
        if (driver != null) {
            driver.release();
            driver = null;
        }
    }

    private void supports(Job job) throws IOException {
        String reason = Driver.refusal(engine, job);
        JsonObject answer = Json.answer(reason == null ? "supported" : "unsupported");
        if (reason == null) {
            answer.add("ledger", engine.ledger(job).json());
        } else {
            answer.addProperty("reason", reason);
        }
        say(answer);
    }

    private JsonObject hello() {
        JsonArray variants = new JsonArray();
        engine.variants().forEach(variants::add);
        JsonObject who = new JsonObject();
        who.addProperty("name", engine.name());
        who.addProperty("version", "Java " + Runtime.version());
        who.addProperty("origin", engine.origin());
        who.add("cpu_path", JsonNull.INSTANCE);
        who.add("variants", variants);
        // -Xint and the like leave the compiler out.
        who.addProperty("optimised", System.getProperty("java.vm.info", "").contains("mixed mode"));
        JsonObject answer = Json.answer("hello");
        answer.addProperty("protocol", Json.PROTOCOL);
        answer.addProperty("pid", ProcessHandle.current().pid());
        answer.add("engine", who);
        return answer;
    }

    private void say(JsonObject answer) throws IOException {
        output.write(Json.line(answer));
        output.flush();
    }
}
