package rsalab.worker;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;

/**
 * The conditions of a job's figures; see crates/engines/src/ledger.rs. What is null does not arise.
 *
 * @param exponent a number, or "random": see {@link #exponentOf}
 * @param setup what is made ready and not timed, but for the warm-up, which every engine in Java has
 */
public record Ledger(
        Boolean crt,
        Boolean blinding,
        Boolean resultCheck,
        Boolean constantTime,
        String rounds,
        String sieve,
        JsonPrimitive exponent,
        String padding,
        String setup) {
    JsonObject json() {
        JsonObject json = new JsonObject();
        json.add("crt", of(crt));
        json.add("blinding", of(blinding));
        json.add("result_check", of(resultCheck));
        json.add("constant_time", of(constantTime));
        json.add("rounds", rounds == null ? JsonNull.INSTANCE : new JsonPrimitive(rounds));
        json.add("sieve", sieve == null ? JsonNull.INSTANCE : new JsonPrimitive(sieve));
        json.add("exponent", exponent == null ? JsonNull.INSTANCE : exponent);
        json.add("padding", padding == null ? JsonNull.INSTANCE : new JsonPrimitive(padding));
        json.addProperty("setup", (setup.isEmpty() ? "" : setup + "; ") + WarmUp.IN_WORDS);
        json.addProperty("lanes", 1);
        json.addProperty("threads", "engine");
        json.addProperty("clock", "engine");
        return json;
    }

    /** BigInteger.primeToCertainty at the certainty 100, which BigInteger.probablePrime asks for, in words. */
    public static String roundsOfProbablePrime(int primeBits) {
        int rounds = primeBits < 256 ? 27 : primeBits < 512 ? 15 : primeBits < 768 ? 8 : primeBits < 1024 ? 4 : 2;
        return rounds + " of Miller-Rabin, random bases, and Lucas-Lehmer";
    }

    /** The public exponent of a job in which it has a part in the time. */
    public static JsonPrimitive exponentOf(Job job) {
        return job.publicExponent() == null ? new JsonPrimitive("random") : new JsonPrimitive(job.publicExponent());
    }

    private static JsonElement of(Boolean flag) {
        return flag == null ? JsonNull.INSTANCE : new JsonPrimitive(flag);
    }
}
