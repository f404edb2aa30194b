package multithread_rsa;

import java.math.BigInteger;

/**
 * What encrypts.
 *
 * @param modulus n, odd, of 512 to 16384 bits
 * @param exponent e, at least 3 and below the modulus
 */
public record RSA_public_key(BigInteger modulus, BigInteger exponent) {
    /** @throws IllegalArgumentException if one of them is not as it must be */
    public RSA_public_key {
        RSA_key_pair.check(modulus, exponent);
    }

    /**
     * The block to the power of e, modulo n.
     *
     * @param block at least 0 and below the modulus
     * @throws IllegalArgumentException if it is not
     */
    public BigInteger encrypt(BigInteger block) {
        return RSA_key_pair.power(block, exponent, modulus);
    }
}
