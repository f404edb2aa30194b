package rsalab.worker;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.util.Arrays;

/** Numbers as big-endian bytes of a fixed length. */
public final class Numbers {
    private Numbers() {}

    public static BigInteger get(byte[] from, int at, int length) {
        return new BigInteger(1, from, at, length);
    }

    /** @throws GeneralSecurityException if the number is longer */
    public static void put(BigInteger number, byte[] to, int at, int length) throws GeneralSecurityException {
        // A sign's byte may come first.
        byte[] bytes = number.toByteArray();
        int extra = Math.max(0, bytes.length - length);
        if (extra > 1 || extra == 1 && bytes[0] != 0) {
            throw new GeneralSecurityException("the result is too long");
        }
        int used = bytes.length - extra;
        Arrays.fill(to, at, at + length - used, (byte) 0);
        System.arraycopy(bytes, extra, to, at + length - used, used);
    }
}
