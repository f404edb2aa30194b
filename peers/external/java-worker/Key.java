package rsalab.worker;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigInteger;

/** A study's key: see the type StudyKey of crates/engines/src/job.rs. */
public record Key(
        BigInteger n, BigInteger e, BigInteger d, BigInteger p, BigInteger q, BigInteger dp, BigInteger dq, BigInteger qinv) {
    /** The key of a job; null where it takes none. */
    static Key read(Job job, JsonArray keys) throws Fault {
        if (keys != null) {
            for (JsonElement key : keys) {
                long bits = Json.number(key.getAsJsonObject(), "bits");
                if (bits != job.bits()) {
                    throw new Fault("key", "a key of " + bits + " bits came with a job of " + job.bits() + " bits");
                }
            }
        }
        if (!job.takesKey()) {
            return null;
        }
        if (keys == null || keys.isEmpty()) {
            throw new Fault("key", "the key was refused: '" + job.op() + "' needs one and got none");
        }
        JsonObject key = keys.get(0).getAsJsonObject();
        int k = job.modulusBytes();
        int h = job.primeBytes();
        return new Key(
                part(key, "n", k), part(key, "e", 0), part(key, "d", k), part(key, "p", h), part(key, "q", h),
                part(key, "dp", h), part(key, "dq", h), part(key, "qinv", h));
    }

    /** Keys are not shown. */
    @Override
    public String toString() {
        return "a key of " + n.bitLength() + " bits";
    }

    /** A number of a key; 0 bytes are any number of them. */
    private static BigInteger part(JsonObject key, String name, int length) throws Fault {
        byte[] bytes = Json.bytes(key, name);
        if (length != 0 && bytes.length != length) {
            String what = "its " + name + " has " + bytes.length + " bytes where " + length + " were expected";
            throw new Fault("key", "the key was refused: " + what);
        }
        return new BigInteger(1, bytes);
    }
}
