import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;

/**
 * What is to be measured; see crates/engines/src/job.rs.
 *
 * @param exponent unsigned
 */
record Job(
        String op,
        int bits,
        int threads,
        int batch,
        String mode,
        String variant,
        boolean bare,
        long exponent,
        long symbols,
        long blockSymbols) {
    /** Forms of the private operation, the default first. */
    static final List<String> PRIVATE_FORMS = List.of("unchecked", "checked");

    static final int DIGEST_BYTES = 32;

    private static final List<String> OPERATIONS = List.of(
            "private", "public", "keygen", "prime_pair", "totient", "private_exponent", "sign", "verify", "prime_search");

    static Job read(JsonObject from) throws Worker.Fault {
        JsonElement variant = from.get("variant");
        boolean isNamed = variant != null && variant.isJsonPrimitive();
        boolean bare = from.has("bare") && Boolean.parseBoolean(Worker.text(from, "bare"));
        return new Job(
                Worker.text(from, "op"),
                small(from, "bits"),
                small(from, "threads"),
                small(from, "batch"),
                Worker.text(from, "mode"),
                isNamed ? variant.getAsString() : null,
                bare,
                Worker.number(from, "exponent"),
                from.has("symbols") ? Worker.number(from, "symbols") : 0,
                from.has("block_symbols") ? Worker.number(from, "block_symbols") : 0);
    }

    /** A number that is refused later where it is absurd. */
    private static int small(JsonObject from, String name) throws Worker.Fault {
        long number = Worker.number(from, name);
        return number < 0 || number > Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) number;
    }

    /** Why the job is not done; null if it is. */
    String refusal() {
        if (bits < 512 || bits > 16384) {
            return "the modulus has " + bits + " bits; 512 to 16384 are possible";
        }
        if (Long.compareUnsigned(exponent, 3) < 0 || exponent % 2 == 0) {
            return "the public exponent is " + Long.toUnsignedString(exponent) + "; it must be odd and at least 3";
        }
        if (threads < 1 || threads > 1024) {
            return threads + " threads; 1 to 1024 are possible";
        }
        if (batch < 1 || batch > 1 << 16) {
            return "a batch of " + batch + "; 1 to 65536 are possible";
        }
        if (op.startsWith("text_")) {
            return "this engine does blocks, not texts";
        }
        if (mode.equals("latency") && threads != 1) {
            return "latency is the time of one call on one thread, and the job asks for " + threads + " threads";
        }
        if (symbols != 0 || blockSymbols != 0) {
            return "'" + op + "' takes no text";
        }
        if (!OPERATIONS.contains(op)) {
            return "this engine does not know the operation '" + op + "'";
        }
        if (bare) {
            return "Java's provider always blinds; leave out the wish for a bare one";
        }
        if (variant != null && !op.equals("private")) {
            return "'" + op + "' has no form '" + variant + "'; it has one only";
        }
        if (variant != null && !PRIVATE_FORMS.contains(variant)) {
            return "'private' has no form '" + variant + "'; it has " + String.join(", ", PRIVATE_FORMS);
        }
        if (bits % 2 == 1 && (makes() || op.equals("prime_search"))) {
            return "this engine makes two primes of one size, and so moduli of an even number of bits only";
        }
        return null;
    }

    /** Whether every run makes something new. */
    boolean makes() {
        return op.equals("keygen") || op.equals("prime_pair");
    }

    boolean takesKey() {
        return List.of("private", "public", "sign", "verify").contains(op);
    }

    boolean isChecked() {
        return "checked".equals(variant);
    }

    int modulusBytes() {
        return (bits + 7) / 8;
    }

    int primeBytes() {
        return ((bits + 1) / 2 + 7) / 8;
    }

    private int candidates() {
        return 2 * (int) Math.max(1, Math.round(bits / 2.0 * Math.log(2) / 2));
    }

    /** Bytes of one input. */
    int input() {
        return switch (op) {
            case "private", "public", "private_exponent" -> modulusBytes();
            case "totient" -> 2 * primeBytes();
            case "sign" -> DIGEST_BYTES;
            case "verify" -> DIGEST_BYTES + modulusBytes();
            case "prime_search" -> candidates() * primeBytes();
            default -> 0;
        };
    }

    /** Bytes of one output. */
    int output() {
        return switch (op) {
            case "keygen" -> 2 * primeBytes() + modulusBytes();
            case "prime_pair", "prime_search" -> 2 * primeBytes();
            case "totient" -> 2 * modulusBytes();
            case "verify" -> 1;
            default -> modulusBytes();
        };
    }

    /** The conditions of the job's figures; NOTES.md says where they are read. */
    JsonObject ledger() {
        boolean isPrivate = op.equals("private") || op.equals("sign");
        boolean finds = makes() || op.equals("prime_search");
        boolean isVartime = op.equals("totient") || op.equals("private_exponent");
        boolean hasExponent = List.of("public", "verify", "private_exponent", "keygen", "prime_pair").contains(op);
        JsonObject ledger = new JsonObject();
        ledger.add("crt", isPrivate ? flag(true) : JsonNull.INSTANCE);
        ledger.add("blinding", isPrivate ? flag(true) : JsonNull.INSTANCE);
        ledger.add("result_check", isPrivate ? flag(op.equals("sign") || isChecked()) : JsonNull.INSTANCE);
        ledger.add("constant_time", isPrivate || isVartime ? flag(false) : JsonNull.INSTANCE);
        ledger.add("rounds", finds ? new JsonPrimitive(rounds()) : JsonNull.INSTANCE);
        ledger.add("sieve", finds ? new JsonPrimitive(makes() ? "BigInteger's sieve of an interval" : "none") : JsonNull.INSTANCE);
        ledger.add("exponent", hasExponent ? new JsonPrimitive(new java.math.BigInteger(Long.toUnsignedString(exponent))) : JsonNull.INSTANCE);
        boolean isPadded = op.equals("sign") || op.equals("verify");
        ledger.add("padding", isPadded ? new JsonPrimitive("PKCS #1 v1.5") : JsonNull.INSTANCE);
        String key = takesKey() ? "key read and cipher made, once per thread; " : "";
        ledger.addProperty("setup", key + "JIT warmed up, until 4 spells of 100 ms are no faster than the best by 3 %, or 5 s");
        ledger.addProperty("lanes", 1);
        ledger.addProperty("threads", "engine");
        ledger.addProperty("clock", "engine");
        return ledger;
    }

    /** BigInteger.primeToCertainty at the certainty 100, which key generation asks for. */
    private String rounds() {
        int prime = bits / 2;
        int rounds = prime < 256 ? 27 : prime < 512 ? 15 : prime < 768 ? 8 : prime < 1024 ? 4 : 2;
        return rounds + " of Miller-Rabin, random bases, and Lucas-Lehmer";
    }

    private static JsonPrimitive flag(boolean value) {
        return new JsonPrimitive(value);
    }
}
