package rsalab.worker;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigInteger;
import java.util.List;

/**
 * What is to be measured; see crates/engines/src/job.rs.
 *
 * @param publicExponent null where it is random, and comes with the key
 */
public record Job(
        String op,
        int bits,
        int threads,
        int batch,
        String mode,
        String variant,
        boolean bare,
        BigInteger publicExponent,
        long symbols,
        int blockSymbols) {
    public static final int DIGEST_BYTES = 32;

    private static final List<String> OPERATIONS = List.of(
            "private", "public", "keygen", "prime_pair", "totient", "private_exponent", "text_encrypt", "text_decrypt", "sign",
            "verify", "prime_search");

    static Job read(JsonObject from) throws Fault {
        JsonElement variant = from.get("variant");
        boolean isNamed = variant != null && variant.isJsonPrimitive();
        boolean bare = from.has("bare") && Boolean.parseBoolean(Json.text(from, "bare"));
        return new Job(
                Json.text(from, "op"),
                small(from, "bits"),
                small(from, "threads"),
                small(from, "batch"),
                Json.text(from, "mode"),
                isNamed ? variant.getAsString() : null,
                bare,
                exponent(from),
                from.has("symbols") ? Json.number(from, "symbols") : 0,
                from.has("block_symbols") ? small(from, "block_symbols") : 0);
    }

    private static BigInteger exponent(JsonObject from) throws Fault {
        return Json.text(from, "exponent").equals("random") ? null : new BigInteger(Long.toUnsignedString(Json.number(from, "exponent")));
    }

    /** A number that is refused later where it is absurd. */
    private static int small(JsonObject from, String name) throws Fault {
        long number = Json.number(from, name);
        return number < 0 || number > Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) number;
    }

    /** Why nobody does the job; null if it makes sense. */
    String nonsense() {
        if (bits < 512 || bits > 16384) {
            return "the modulus has " + bits + " bits; 512 to 16384 are possible";
        }
        if (mode.equals("concurrent")) {
            return "this engine's threads do not time their own calls";
        }
        if (publicExponent != null && (publicExponent.compareTo(BigInteger.TWO) <= 0 || !publicExponent.testBit(0))) {
            return "the public exponent is " + publicExponent + "; it must be odd and at least 3";
        }
        if (publicExponent == null && !takesKey()) {
            return "a random exponent comes with a key, which '" + op + "' does not work with";
        }
        if (threads < 1 || threads > 1024) {
            return threads + " threads; 1 to 1024 are possible";
        }
        if (batch < 1 || batch > 1 << 16) {
            return "a batch of " + batch + "; 1 to 65536 are possible";
        }
        if (!OPERATIONS.contains(op)) {
            return "this engine does not know the operation '" + op + "'";
        }
        if (mode.equals("latency") && threads != 1 && !isText()) {
            return "latency is the time of one call on one thread, and the job asks for " + threads + " threads";
        }
        if (!mode.equals("latency") && !mode.equals("throughput")) {
            return "this engine measures latency and throughput, and not '" + mode + "'";
        }
        int largest = modulusBytes() - 1;
        if (isText() && (blockSymbols < 1 || blockSymbols > largest)) {
            return "blocks of " + blockSymbols + " symbols; 1 to " + largest + " fit a modulus of " + bits + " bits";
        }
        // A ciphertext is one string of two digits a byte.
        if (isText() && (symbols < 0 || blocks() > Integer.MAX_VALUE / 2 / modulusBytes())) {
            return "a text of " + Long.toUnsignedString(symbols) + " symbols; its ciphertext is longer than a string can be";
        }
        if (!isText() && (symbols != 0 || blockSymbols != 0)) {
            return "'" + op + "' takes no text";
        }
        return null;
    }

    /** Why the variant that the job names is none of an operation's; null if it is, or if none is named. */
    public String unknownVariant(List<String> variants) {
        if (variant == null || variants.contains(variant)) {
            return null;
        }
        String all = variants.isEmpty() ? "it has one only" : "it has " + String.join(", ", variants);
        return "'" + op + "' has no variant '" + variant + "'; " + all;
    }

    /** Whether the job is about a whole text. */
    public boolean isText() {
        return op.startsWith("text_");
    }

    /** Whether every run makes something new. */
    public boolean makes() {
        return op.equals("keygen") || op.equals("prime_pair");
    }

    /** Whether the operation is done with a study's key. */
    public boolean takesKey() {
        return isText() || List.of("private", "public", "sign", "verify").contains(op);
    }

    /** Bytes of the modulus. */
    public int modulusBytes() {
        return (bits + 7) / 8;
    }

    /** Bytes of a prime. */
    public int primeBytes() {
        return ((bits + 1) / 2 + 7) / 8;
    }

    /** Blocks of the text. */
    long blocks() {
        return symbols / blockSymbols + (symbols % blockSymbols == 0 ? 0 : 1);
    }

    private int candidates() {
        return 2 * (int) Math.max(1, Math.round(bits / 2.0 * Math.log(2) / 2));
    }

    /** Bytes of one input. */
    public int input() {
        return switch (op) {
            case "private", "public", "private_exponent", "text_decrypt" -> modulusBytes();
            case "totient" -> 2 * primeBytes();
            case "text_encrypt" -> blockSymbols;
            case "sign" -> DIGEST_BYTES;
            case "verify" -> DIGEST_BYTES + modulusBytes();
            case "prime_search" -> candidates() * primeBytes();
            default -> 0;
        };
    }

    /** Bytes of one output. */
    public int output() {
        return switch (op) {
            case "keygen" -> 2 * primeBytes() + modulusBytes();
            case "prime_pair", "prime_search" -> 2 * primeBytes();
            case "totient" -> 2 * modulusBytes();
            case "text_decrypt" -> blockSymbols;
            case "verify" -> 1;
            default -> modulusBytes();
        };
    }

    /** Bytes of all inputs where the job fixes them; else -1. */
    long allInputs() {
        return switch (op) {
            case "keygen", "prime_pair" -> 0;
            case "text_encrypt" -> symbols;
            case "text_decrypt" -> blocks() * modulusBytes();
            default -> -1;
        };
    }
}
