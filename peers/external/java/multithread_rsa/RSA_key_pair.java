package multithread_rsa;

import java.math.BigInteger;
import java.util.Random;

/**
 * Two keys that belong together, and the primes of which they are made.
 *
 * @param p a prime of half the modulus's bits
 * @param q another
 */
public record RSA_key_pair(RSA_public_key publicKey, RSA_private_key privateKey, BigInteger p, BigInteger q) {
    /** Bits of the smallest modulus. */
    public static final int LEAST_BITS = 512;

    /** Bits of the largest modulus. */
    public static final int MOST_BITS = 16384;

    /** 2<sup>16</sup> + 1, the usual public exponent. */
    public static final BigInteger USUAL_EXPONENT = BigInteger.valueOf(65537);

    /** @throws IllegalArgumentException if the keys have not the modulus p·q, or are not inverse to each other */
    public RSA_key_pair {
        if (!p.multiply(q).equals(publicKey.modulus()) || !publicKey.modulus().equals(privateKey.modulus())) {
            throw new IllegalArgumentException("the two keys must have the modulus p·q");
        }
        BigInteger product = publicKey.exponent().multiply(privateKey.exponent());
        for (BigInteger prime : new BigInteger[] {p, q}) {
            if (!product.mod(prime.subtract(BigInteger.ONE)).equals(BigInteger.ONE)) {
                throw new IllegalArgumentException("the exponents of the two keys are not inverse to each other");
            }
        }
    }

    /**
     * A new pair with the usual public exponent.
     *
     * @param bits of the modulus: even, 512 to 16384
     * @param random a {@link java.security.SecureRandom} for keys that are to be secret
     * @throws IllegalArgumentException for another number of bits
     */
    public static RSA_key_pair generate(int bits, Random random) {
        return generate(bits, USUAL_EXPONENT, random);
    }

    /**
     * A new pair with a public exponent of one's own.
     *
     * @param exponent odd, at least 3, at most 64 bits
     */
    public static RSA_key_pair generate(int bits, BigInteger exponent, Random random) {
        if (bits < LEAST_BITS || bits > MOST_BITS || bits % 2 != 0) {
            throw new IllegalArgumentException(
                    "a modulus of " + bits + " bits; an even number from " + LEAST_BITS + " to " + MOST_BITS + " is possible");
        }
        if (exponent.compareTo(BigInteger.valueOf(3)) < 0 || !exponent.testBit(0) || exponent.bitLength() > 64) {
            throw new IllegalArgumentException("the public exponent must be odd, at least 3, and of 64 bits at most");
        }
        // FIPS 186-5, A.1.3: primes of at least √2·2^(bits/2 − 1), whose product has all its bits, and not close to each other.
        BigInteger least = BigInteger.ONE.shiftLeft(bits - 1).sqrt().add(BigInteger.ONE);
        BigInteger p = prime(bits / 2, least, exponent, random);
        BigInteger q;
        do {
            q = prime(bits / 2, least, exponent, random);
        } while (p.subtract(q).abs().bitLength() <= bits / 2 - 100);
        BigInteger n = p.multiply(q);
        BigInteger totient = p.subtract(BigInteger.ONE).multiply(q.subtract(BigInteger.ONE));
        return new RSA_key_pair(
                new RSA_public_key(n, exponent), new RSA_private_key(n, exponent.modInverse(totient)), p, q);
    }

    /** A prime whose predecessor has no factor in common with the public exponent. */
    private static BigInteger prime(int bits, BigInteger least, BigInteger exponent, Random random) {
        while (true) {
            BigInteger prime = BigInteger.probablePrime(bits, random);
            if (prime.compareTo(least) >= 0 && prime.subtract(BigInteger.ONE).gcd(exponent).equals(BigInteger.ONE)) {
                return prime;
            }
        }
    }

    static void check(BigInteger modulus, BigInteger exponent) {
        int bits = modulus.bitLength();
        if (modulus.signum() <= 0 || bits < LEAST_BITS || bits > MOST_BITS || !modulus.testBit(0)) {
            throw new IllegalArgumentException("the modulus must be odd and of " + LEAST_BITS + " to " + MOST_BITS + " bits");
        }
        if (exponent.compareTo(BigInteger.valueOf(3)) < 0 || exponent.compareTo(modulus) >= 0) {
            throw new IllegalArgumentException("the exponent must be at least 3 and below the modulus");
        }
    }

    static BigInteger power(BigInteger block, BigInteger exponent, BigInteger modulus) {
        if (block.signum() < 0 || block.compareTo(modulus) >= 0) {
            throw new IllegalArgumentException("a block must be at least 0 and below the modulus");
        }
        return block.modPow(exponent, modulus);
    }

    /** The primes are not shown. */
    @Override
    public String toString() {
        return "RSA_key_pair of " + publicKey.modulus().bitLength() + " bits";
    }
}
