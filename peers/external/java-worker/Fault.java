package rsalab.worker;

import com.google.gson.JsonObject;

/** A request that failed; its kind is one of the protocol's. */
public final class Fault extends Exception {
    private static final long serialVersionUID = 1;
    private final String kind;
    private final int item;

    Fault(String kind, String message) {
        this(kind, message, -1);
    }

    /** @param item the input to blame; below 0 if there is none */
    Fault(String kind, String message, int item) {
        super(message);
        this.kind = kind;
        this.item = item;
    }

    JsonObject answer() {
        JsonObject answer = Json.answer("error");
        answer.addProperty("kind", kind);
        answer.addProperty("message", getMessage());
        if (item >= 0) {
            answer.addProperty("item", item);
        }
        return answer;
    }
}
