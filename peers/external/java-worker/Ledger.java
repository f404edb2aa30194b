package rsalab.worker;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;

/**
 * The conditions of a job's figures; see crates/engines/src/ledger.rs. What is not stated does not arise; threads and clock are then the engine's.
 */
public final class Ledger {
    /** Of a signature: it is made of a digest that is given. */
    public static final String PADDING = "PKCS#1 v1.5 with SHA-256, of a digest";

    private final JsonObject entries = new JsonObject();

    /** @param setup what is made ready and not timed, but for the warm-up, which every engine in Java has */
    public Ledger(String setup) {
        with("setup", (setup.isEmpty() ? "" : setup + "; ") + WarmUp.IN_WORDS);
    }

    public Ledger with(String entry, boolean value) {
        return put(entry, new JsonPrimitive(value));
    }

    public Ledger with(String entry, String words) {
        return put(entry, new JsonPrimitive(words));
    }

    /** With what nobody does in this operation. */
    public Ledger without(String... names) {
        for (String name : names) {
            with(name, false);
        }
        return this;
    }

    /** With the public exponent, which has a part in the time. */
    public Ledger withExponent(Job job) {
        return put("exponent", job.publicExponent() == null ? new JsonPrimitive("random") : new JsonPrimitive(job.publicExponent()));
    }

    /** With the tests of BigInteger.primeToCertainty at the certainty 100, which BigInteger.probablePrime asks for, and a sieve. */
    public Ledger searching(Job job, String sieve) {
        int bits = job.bits() / 2;
        int rounds = bits < 256 ? 27 : bits < 512 ? 15 : bits < 768 ? 8 : bits < 1024 ? 4 : 2;
        return with("rounds", rounds + " of Miller-Rabin, random bases, and Lucas-Lehmer").with("sieve", sieve);
    }

    JsonObject json() {
        return entries;
    }

    private Ledger put(String entry, JsonElement value) {
        entries.add(entry, value);
        return this;
    }
}
