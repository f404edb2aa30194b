package rsalab.jca;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.SignatureException;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.RSAKeyGenParameterSpec;
import java.security.spec.RSAPrivateCrtKeySpec;
import java.security.spec.RSAPublicKeySpec;
import javax.crypto.Cipher;
import rsalab.worker.Engine.Operation;
import rsalab.worker.Job;
import rsalab.worker.Key;
import rsalab.worker.Numbers;

/** What Java is asked to do, item by item. */
final class Operations {
    private Operations() {}

    /** A study's key, as Java takes it. */
    record Halves(PrivateKey secret, PublicKey open) {
        static Halves of(Key key) throws GeneralSecurityException {
            KeyFactory factory = KeyFactory.getInstance("RSA");
            return new Halves(
                    factory.generatePrivate(new RSAPrivateCrtKeySpec(
                            key.n(), key.e(), key.d(), key.p(), key.q(), key.dp(), key.dq(), key.qinv())),
                    factory.generatePublic(new RSAPublicKeySpec(key.n(), key.e())));
        }
    }

    /** The job's operation, for one thread: Java's ciphers are not to be shared. The key may be null for operations that take none. */
    static Operation of(Job job, Halves key) throws GeneralSecurityException {
        int k = job.modulusBytes();
        int h = job.primeBytes();
        BigInteger e = job.publicExponent();
        switch (job.op()) {
            case "private": {
                // What a private key encrypts is taken for a signature, and its result is checked; a decryption's is not.
                Cipher cipher = Cipher.getInstance("RSA/ECB/NoPadding");
                cipher.init(Jca.isChecked(job) ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, key.secret());
                return (in, from, out, to) -> cipher.doFinal(in, from, k, out, to);
            }
            case "public": {
                Cipher cipher = Cipher.getInstance("RSA/ECB/NoPadding");
                cipher.init(Cipher.ENCRYPT_MODE, key.open());
                return (in, from, out, to) -> cipher.doFinal(in, from, k, out, to);
            }
            case "sign": {
                Signature signature = Signature.getInstance("NONEwithRSA");
                signature.initSign(key.secret());
                return (in, from, out, to) -> {
                    signature.update(SHA256_NAME);
                    signature.update(in, from, Job.DIGEST_BYTES);
                    signature.sign(out, to, k);
                };
            }
            case "verify": {
                Signature signature = Signature.getInstance("NONEwithRSA");
                signature.initVerify(key.open());
                return (in, from, out, to) -> {
                    signature.update(SHA256_NAME);
                    signature.update(in, from, Job.DIGEST_BYTES);
                    boolean isRight = false;
                    try {
                        isRight = signature.verify(in, from + Job.DIGEST_BYTES, k);
                    } catch (SignatureException wrong) {
                        // One that is not below the modulus, for example.
                    }
                    if (!isRight) {
                        // Where a padding is wrong Java keeps what it was given, and would be wrong about the next.
                        signature.initVerify(key.open());
                    }
                    out[to] = (byte) (isRight ? 1 : 0);
                };
            }
            case "keygen": {
                KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
                generator.initialize(new RSAKeyGenParameterSpec(job.bits(), e));
                return (in, from, out, to) -> {
                    RSAPrivateCrtKey made = (RSAPrivateCrtKey) generator.generateKeyPair().getPrivate();
                    Numbers.put(made.getPrimeP(), out, to, h);
                    Numbers.put(made.getPrimeQ(), out, to + h, h);
                    Numbers.put(made.getPrivateExponent(), out, to + 2 * h, k);
                };
            }
            case "prime_pair": {
                SecureRandom random = new SecureRandom();
                // A product of two that are not smaller has all the modulus's bits.
                BigInteger least = BigInteger.ONE.shiftLeft(job.bits() - 1).sqrt().add(BigInteger.ONE);
                return (in, from, out, to) -> {
                    BigInteger p = draw(job.bits() / 2, e, least, random);
                    BigInteger q;
                    do {
                        q = draw(job.bits() / 2, e, least, random);
                    } while (p.subtract(q).abs().bitLength() <= job.bits() / 2 - 100);
                    Numbers.put(p, out, to, h);
                    Numbers.put(q, out, to + h, h);
                };
            }
            case "totient":
                return (in, from, out, to) -> {
                    BigInteger p = Numbers.get(in, from, h);
                    BigInteger q = Numbers.get(in, from + h, h);
                    Numbers.put(p.multiply(q), out, to, k);
                    Numbers.put(p.subtract(BigInteger.ONE).multiply(q.subtract(BigInteger.ONE)), out, to + k, k);
                };
            default:
                return (in, from, out, to) -> Numbers.put(modInverse(e, Numbers.get(in, from, k)), out, to, k);
        }
    }

    /** The beginning of the DigestInfo of SHA-256 (RFC 8017, 9.2, note 1). */
    private static final byte[] SHA256_NAME = {
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, (byte) 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20
    };

    private static BigInteger draw(int bits, BigInteger e, BigInteger least, SecureRandom random) {
        while (true) {
            BigInteger prime = BigInteger.probablePrime(bits, random);
            if (prime.compareTo(least) >= 0 && prime.subtract(BigInteger.ONE).gcd(e).equals(BigInteger.ONE)) {
                return prime;
            }
        }
    }

    private static BigInteger modInverse(BigInteger e, BigInteger modulus) throws GeneralSecurityException {
        try {
            return e.modInverse(modulus);
        } catch (ArithmeticException error) {
            throw new GeneralSecurityException(error.getMessage());
        }
    }
}
