package rsalab.jca;

import java.security.GeneralSecurityException;
import java.util.List;
import rsalab.worker.Engine;
import rsalab.worker.Job;
import rsalab.worker.Key;
import rsalab.worker.Ledger;
import rsalab.worker.Worker;

/** Java's own RSA as an engine of rsalab: what its providers are asked for, and under which conditions they do it. */
public final class Jca implements Engine {
    private static final List<String> OPERATIONS = List.of(
            "private", "public", "keygen", "prime_pair", "totient", "private_exponent", "sign", "verify");

    public static void main(String[] arguments) throws Exception {
        Worker.serve(new Jca(), arguments);
    }

    @Override
    public String name() {
        return "jca";
    }

    @Override
    public String origin() {
        return "the providers of " + System.getProperty("java.vm.name") + ", " + System.getProperty("java.vendor");
    }

    /** Of the private operation. */
    @Override
    public List<String> variants() {
        return List.of("unchecked", "checked");
    }

    static boolean isChecked(Job job) {
        return "checked".equals(job.variant());
    }

    @Override
    public String refusal(Job job) {
        if (job.isText()) {
            return "this engine does blocks, not texts";
        }
        if (job.op().equals("prime_search")) {
            return "its own search sieves candidates before it tests them, and its test of a given one divides "
                    + "by no small prime: a search would measure something else";
        }
        if (!OPERATIONS.contains(job.op())) {
            return "this engine does not do '" + job.op() + "'";
        }
        if (job.bare()) {
            return "Java's provider always blinds; leave out the wish for a bare one";
        }
        if (job.publicExponent() == null) {
            return "Java's provider takes public exponents of 64 bits at most with large keys, and random ones are as long as the modulus";
        }
        String unknownVariant = job.unknownVariant(job.op().equals("private") ? variants() : List.of());
        if (unknownVariant != null) {
            return unknownVariant;
        }
        if (job.bits() % 2 == 1 && job.makes()) {
            return "this engine makes two primes of one size, and so moduli of an even number of bits only";
        }
        return null;
    }

    /** NOTES.md says where they are read. */
    @Override
    public Ledger ledger(Job job) {
        Ledger ledger = new Ledger(job.takesKey() ? "key read and cipher made, once per thread" : "");
        return switch (job.op()) {
            case "private", "sign" -> {
                boolean isSigning = job.op().equals("sign");
                ledger.with("crt", true).with("blinding", true).with("result_check", isSigning || isChecked(job));
                yield isSigning ? ledger.with("constant_time", false).with("padding", Ledger.PADDING) : ledger.with("constant_time", false);
            }
            case "verify" -> ledger.withExponent(job).with("padding", Ledger.PADDING);
            case "public" -> ledger.withExponent(job);
            case "keygen", "prime_pair" -> ledger.withExponent(job).searching(job, "BigInteger's sieve of an interval");
            case "private_exponent" -> ledger.withExponent(job).with("constant_time", false);
            default -> ledger.with("constant_time", false);
        };
    }

    @Override
    public Operation operation(Job job, Key key) throws GeneralSecurityException {
        return Operations.of(job, key == null ? null : Operations.Halves.of(key));
    }
}
