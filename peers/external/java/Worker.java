import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Java's own RSA as an engine of rsalab: a worker that speaks docs/worker-protocol.md over its standard input and output. */
public final class Worker {
    private static final int PROTOCOL = 1;
    private static final int MAX_LINE_BYTES = (1 << 30) + (1 << 20);
    private static final long GRACE_MS = 2000;
    /** What the queue of lines ends with. */
    private static final byte[] END = new byte[0];

    private final OutputStream output;
    private Rig rig;

    private Worker(OutputStream output) {
        this.output = output;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            answerByHand(arguments[0]);
            return;
        }
        BlockingQueue<byte[]> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> watch(System.in, lines), "reader");
        reader.setDaemon(true);
        reader.start();
        Worker worker = new Worker(System.out);
        for (byte[] line = lines.take(); line != END && worker.answer(line); line = lines.take()) {}
        System.exit(0);
    }

    private static void answerByHand(String argument) {
        if (argument.equals("--version")) {
            System.out.println("jca " + System.getProperty("java.vm.version") + " (" + origin() + ")");
            return;
        }
        System.err.println("""
                This is the worker of rsalab's engine 'jca'. rsalab starts it and talks to it over its standard input
                and output, one JSON object a line; see docs/worker-protocol.md. Try: rsalab engines""");
        System.exit(argument.equals("--help") || argument.equals("-h") ? 0 : 2);
    }

    private static String origin() {
        return "the providers of " + System.getProperty("java.vm.name") + ", " + System.getProperty("java.vendor");
    }

    /** Reads lines until the input ends, and soon after ends the process: the coordinator is gone. */
    private static void watch(InputStream stdin, BlockingQueue<byte[]> lines) {
        try {
            InputStream input = new BufferedInputStream(stdin, 1 << 16);
            byte[] line;
            while ((line = readLine(input)) != null) {
                if (!new String(line, 0, Math.min(line.length, 64), StandardCharsets.ISO_8859_1).isBlank()) {
                    lines.put(line);
                }
            }
            lines.put(END);
            Thread.sleep(GRACE_MS);
            System.err.println("the input has ended; the request in progress was given up");
        } catch (IOException | InterruptedException error) {
            System.err.println("the conversation broke off: " + error);
        }
        Runtime.getRuntime().halt(5);
    }

    /** A line without its end; null at the end of the input. */
    private static byte[] readLine(InputStream input) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(1 << 10);
        int next = input.read();
        if (next < 0) {
            return null;
        }
        for (; next >= 0 && next != '\n'; next = input.read()) {
            line.write(next);
            if (line.size() >= MAX_LINE_BYTES) {
                throw new IOException("a line is longer than " + MAX_LINE_BYTES + " bytes");
            }
        }
        return line.toByteArray();
    }

    /** Answers one request; false after the last. */
    private boolean answer(byte[] line) throws IOException {
        try {
            JsonObject request = parse(line);
            switch (text(request, "request")) {
                case "hello" -> say(hello());
                case "supports" -> supports(Job.read(object(request, "job")));
                case "prepare" -> {
                    release();
                    Job job = Job.read(object(request, "job"));
                    byte[] inputs = bytes(request, "inputs");
                    rig = Rig.prepare(job, request.getAsJsonArray("keys"), inputs);
                    JsonObject answer = named("prepared");
                    answer.addProperty("kernel", rig.kernel());
                    // Java does not pin.
                    answer.add("cpus", new JsonArray());
                    answer.addProperty("oversubscribed", rig.isCrowded());
                    say(answer);
                }
                case "outputs" -> {
                    JsonObject answer = named("outputs");
                    answer.addProperty("outputs", HexFormat.of().formatHex(prepared("outputs").outputs()));
                    say(answer);
                }
                case "block" -> say(prepared("block").block(object(request, "plan")));
                case "release" -> {
                    release();
                    say(named("released"));
                }
                case "quit" -> {
                    say(named("bye"));
                    return false;
                }
                default -> throw malformed(0);
            }
        } catch (Fault fault) {
            say(fault.answer());
        } catch (IllegalStateException | ClassCastException | NumberFormatException error) {
            // A field of another type than it must have.
            say(malformed(0).answer());
        }
        return true;
    }

    private Rig prepared(String request) throws Fault {
        if (rig == null) {
            throw new Fault("sequence", "'" + request + "' needs a prepared job");
        }
        return rig;
    }

    private void release() {
        if (rig != null) {
            rig.release();
            rig = null;
        }
    }

    private void supports(Job job) throws IOException {
        String reason = job.refusal();
        JsonObject answer = named(reason == null ? "supported" : "unsupported");
        if (reason == null) {
            answer.add("ledger", job.ledger());
        } else {
            answer.addProperty("reason", reason);
        }
        say(answer);
    }

    private static JsonObject hello() {
        JsonArray variants = new JsonArray();
        Job.PRIVATE_FORMS.forEach(variants::add);
        JsonObject engine = new JsonObject();
        engine.addProperty("name", "jca");
        engine.addProperty("version", "Java " + Runtime.version());
        engine.addProperty("origin", origin());
        engine.add("cpu_path", JsonNull.INSTANCE);
        engine.add("variants", variants);
        // -Xint and the like leave the compiler out.
        engine.addProperty("optimised", System.getProperty("java.vm.info", "").contains("mixed mode"));
        JsonObject answer = named("hello");
        answer.addProperty("protocol", PROTOCOL);
        answer.addProperty("pid", ProcessHandle.current().pid());
        answer.add("engine", engine);
        return answer;
    }

    static JsonObject named(String name) {
        JsonObject answer = new JsonObject();
        answer.addProperty("answer", name);
        return answer;
    }

    private void say(JsonObject answer) throws IOException {
        // What does not arise is said to be null.
        String line = new com.google.gson.GsonBuilder().serializeNulls().disableHtmlEscaping().create().toJson(answer) + "\n";
        output.write(line.getBytes(StandardCharsets.UTF_8));
        output.flush();
    }

    private static final Pattern COLUMN = Pattern.compile("column (\\d+)");

    private static JsonObject parse(byte[] line) throws Fault {
        try {
            JsonElement element = new Gson().getAdapter(JsonElement.class).fromJson(new String(line, StandardCharsets.UTF_8));
            if (element != null && element.isJsonObject()) {
                return element.getAsJsonObject();
            }
        } catch (IOException | RuntimeException error) {
            Matcher column = COLUMN.matcher(String.valueOf(error.getMessage()));
            throw malformed(column.find() ? Integer.parseInt(column.group(1)) : 0);
        }
        throw malformed(0);
    }

    /** Says where the line goes wrong, but not what is there: it may hold a key. */
    static Fault malformed(int column) {
        return new Fault("malformed", "the line is no request of protocol " + PROTOCOL + " (column " + column + ")");
    }

    static String text(JsonObject from, String name) throws Fault {
        JsonElement element = from.get(name);
        if (element == null || !element.isJsonPrimitive()) {
            throw malformed(0);
        }
        return element.getAsString();
    }

    static long number(JsonObject from, String name) throws Fault {
        try {
            return Long.parseUnsignedLong(text(from, name));
        } catch (NumberFormatException error) {
            throw malformed(0);
        }
    }

    static JsonObject object(JsonObject from, String name) throws Fault {
        if (from.get(name) instanceof JsonObject object) {
            return object;
        }
        throw malformed(0);
    }

    static byte[] bytes(JsonObject from, String name) throws Fault {
        try {
            return HexFormat.of().parseHex(text(from, name));
        } catch (IllegalArgumentException error) {
            throw malformed(0);
        }
    }

    /** A request that failed; its kind is one of the protocol's. */
    static final class Fault extends Exception {
        private static final long serialVersionUID = 1;
        private final String kind;
        private final int item;

        Fault(String kind, String message) {
            this(kind, message, -1);
        }

        Fault(String kind, String message, int item) {
            super(message);
            this.kind = kind;
            this.item = item;
        }

        JsonObject answer() {
            JsonObject answer = named("error");
            answer.addProperty("kind", kind);
            answer.addProperty("message", getMessage());
            if (item >= 0) {
                answer.addProperty("item", item);
            }
            return answer;
        }
    }
}
