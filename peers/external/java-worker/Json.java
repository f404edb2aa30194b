package rsalab.worker;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Lines as objects, objects as lines, and what is read of them: whatever is not there, or of another type, makes the line no request. */
final class Json {
    /** The version of the protocol that is spoken. */
    static final int PROTOCOL = 1;

    private static final Pattern COLUMN = Pattern.compile("column (\\d+)");

    /** What does not arise is said to be null. */
    private static final Gson WRITER = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private Json() {}

    static JsonObject parse(String line) throws Fault {
        try {
            JsonElement element = new Gson().getAdapter(JsonElement.class).fromJson(line);
            if (element != null && element.isJsonObject()) {
                return element.getAsJsonObject();
            }
        } catch (IOException | RuntimeException error) {
            Matcher column = COLUMN.matcher(String.valueOf(error.getMessage()));
            throw malformed(column.find() ? Integer.parseInt(column.group(1)) : 0);
        }
        throw malformed(0);
    }

    static byte[] line(JsonObject answer) {
        return (WRITER.toJson(answer) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    static JsonObject answer(String name) {
        JsonObject answer = new JsonObject();
        answer.addProperty("answer", name);
        return answer;
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
}
