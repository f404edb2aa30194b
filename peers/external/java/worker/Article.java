package rsalab.article;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.List;
import multithread_rsa.RSA_blocks;
import multithread_rsa.RSA_key_pair;
import multithread_rsa.RSA_private_key;
import multithread_rsa.RSA_public_key;
import multithread_rsa.RSA_thread_management;
import rsalab.worker.Engine;
import rsalab.worker.Job;
import rsalab.worker.Key;
import rsalab.worker.Ledger;
import rsalab.worker.Numbers;
import rsalab.worker.Worker;

/** The article's package {@code multithread_rsa} as an engine of rsalab: texts on threads of its own, and the operations they are made of. */
public final class Article implements Engine {
    private static final List<String> OPERATIONS = List.of("text_encrypt", "text_decrypt", "private", "public", "keygen");

    public static void main(String[] arguments) throws Exception {
        Worker.serve(new Article(), arguments);
    }

    @Override
    public String name() {
        return "java";
    }

    @Override
    public String origin() {
        return "multithread_rsa, on BigInteger of " + System.getProperty("java.vm.name") + ", " + System.getProperty("java.vendor");
    }

    @Override
    public List<String> variants() {
        return List.of();
    }

    @Override
    public String refusal(Job job) {
        if (!OPERATIONS.contains(job.op())) {
            return "the article's application encrypts and decrypts and makes keys; it does not do '" + job.op() + "'";
        }
        if (job.bare()) {
            return "this engine neither blinds nor checks in any variant; leave out the wish for a bare one";
        }
        if (job.op().equals("keygen") && job.bits() % 2 == 1) {
            return "this engine makes two primes of one size, and so moduli of an even number of bits only";
        }
        return job.unknownVariant(variants());
    }

    @Override
    public Ledger ledger(Job job) {
        String setup = job.takesKey() ? "key read, nothing precomputed from it" + (job.isText() ? "; threads are started in the time" : "") : "";
        Ledger ledger = new Ledger(setup);
        return switch (job.op()) {
            case "private", "text_decrypt" -> ledger.without("crt", "blinding", "result_check", "constant_time");
            case "keygen" -> ledger.withExponent(job).searching(job, "BigInteger's sieve of an interval");
            default -> ledger.withExponent(job);
        };
    }

    @Override
    public Operation operation(Job job, Key key) throws GeneralSecurityException {
        int k = job.modulusBytes();
        int h = job.primeBytes();
        if (job.makes()) {
            SecureRandom random = new SecureRandom();
            return (in, from, out, to) -> {
                RSA_key_pair made = RSA_key_pair.generate(job.bits(), job.publicExponent(), random);
                Numbers.put(made.p(), out, to, h);
                Numbers.put(made.q(), out, to + h, h);
                Numbers.put(made.privateKey().exponent(), out, to + 2 * h, k);
            };
        }
        RSA_key_pair keys = pair(key);
        if (job.op().equals("private")) {
            return (in, from, out, to) -> Numbers.put(keys.privateKey().decrypt(Numbers.get(in, from, k)), out, to, k);
        }
        return (in, from, out, to) -> Numbers.put(keys.publicKey().encrypt(Numbers.get(in, from, k)), out, to, k);
    }

    @Override
    public Text text(Job job, Key key) {
        RSA_blocks blocks = new RSA_blocks(job.modulusBytes(), job.blockSymbols());
        RSA_thread_management management = new RSA_thread_management(pair(key), job.threads(), blocks);
        // Fewer than a string has characters: see Job.nonsense.
        int symbols = (int) job.symbols();
        return job.op().equals("text_encrypt")
                ? new Encryption(management, blocks)
                : new Decryption(management, blocks, symbols);
    }

    private record Encryption(RSA_thread_management management, RSA_blocks blocks) implements Text {
        @Override
        public String run(String text) {
            return management.encrypt(text);
        }

        @Override
        public String begin(String text, int count) {
            return management.encrypt(text.substring(0, Math.min(text.length(), count * blocks.symbols())));
        }
    }

    private record Decryption(RSA_thread_management management, RSA_blocks blocks, int symbols) implements Text {
        @Override
        public String run(String ciphertext) {
            return management.decrypt(ciphertext, symbols);
        }

        @Override
        public String begin(String ciphertext, int count) {
            int beginning = Math.min(symbols, count * blocks.symbols());
            return management.decrypt(ciphertext.substring(0, blocks.count(beginning) * blocks.digits()), beginning);
        }
    }

    private static RSA_key_pair pair(Key key) {
        return new RSA_key_pair(new RSA_public_key(key.n(), key.e()), new RSA_private_key(key.n(), key.d()), key.p(), key.q());
    }
}
