package multithread_rsa;

import java.math.BigInteger;

/**
 * What decrypts.
 *
 * @param modulus n, odd, of 512 to 16384 bits
 * @param exponent d, at least 3 and below the modulus
 */
public record RSA_private_key(BigInteger modulus, BigInteger exponent) {
    /** @throws IllegalArgumentException if one of them is not as it must be */
    public RSA_private_key {
        RSA_key_pair.check(modulus, exponent);
    }

    /**
     * The block to the power of d, modulo n: with the whole exponent, without CRT.
     *
     * @param block at least 0 and below the modulus
     * @throws IllegalArgumentException if it is not
     */
    public BigInteger decrypt(BigInteger block) {
        return RSA_key_pair.power(block, exponent, modulus);
    }

    /** The exponent is not shown. */
    @Override
    public String toString() {
        return "RSA_private_key of " + modulus.bitLength() + " bits";
    }
}
