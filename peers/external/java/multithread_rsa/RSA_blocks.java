package multithread_rsa;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * How a text becomes blocks and a ciphertext, and again a text.
 *
 * <p>A block is a number: its symbols are the digits to the base 256, the most significant first. All blocks of a text have the same number
 * of symbols but the last, which has what is left. The ciphertext of a block has as many bytes as the modulus, and so is longer than the
 * block; how many symbols the last one had it does not tell.
 *
 * @param modulusBytes bytes of the modulus
 * @param symbols symbols of a whole block: at least 1 and fewer than the modulus has bytes, so that every block is below the modulus
 */
public record RSA_blocks(int modulusBytes, int symbols) {
    /** Virtual machines allow some characters less than an index has numbers. */
    private static final int LONGEST_STRING = Integer.MAX_VALUE - 16;

    /** @throws IllegalArgumentException if so many symbols are no block */
    public RSA_blocks {
        if (symbols < 1 || symbols >= modulusBytes) {
            throw new IllegalArgumentException(
                    "blocks of " + symbols + " symbols; 1 to " + (modulusBytes - 1) + " fit a modulus of " + modulusBytes + " bytes");
        }
    }

    /** The largest blocks that a modulus takes. */
    public static RSA_blocks of(BigInteger modulus) {
        int bytes = (modulus.bitLength() + 7) / 8;
        return new RSA_blocks(bytes, bytes - 1);
    }

    /** Any text as one of symbols: its UTF-8 form, a symbol for each byte. */
    public static String symbolsOf(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    /** What {@link #symbolsOf} was given. */
    public static String textOf(String symbols) {
        return new String(symbols.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** Characters of a block's ciphertext. */
    public int digits() {
        return 2 * modulusBytes;
    }

    /** Blocks of a text of so many symbols. */
    public int count(int textSymbols) {
        return textSymbols / symbols + (textSymbols % symbols == 0 ? 0 : 1);
    }

    /** Whether a text has only symbols of one byte, and a ciphertext that a string can hold. */
    void checkText(String text) {
        if ((long) count(text.length()) * digits() > LONGEST_STRING) {
            throw new IllegalArgumentException("the ciphertext of " + text.length() + " symbols is longer than a string can be");
        }
        for (int at = 0; at < text.length(); at++) {
            if (text.charAt(at) > 0xFF) {
                throw new IllegalArgumentException("the symbol at " + at + " is not one byte; RSA_blocks.symbolsOf makes bytes of any text");
            }
        }
    }

    /** Whether a ciphertext is as long as that of a text of so many symbols. */
    void checkCiphertext(String ciphertext, int textSymbols) {
        if (textSymbols < 0 || ciphertext.length() != (long) count(textSymbols) * digits()) {
            throw new IllegalArgumentException(
                    "a ciphertext of " + ciphertext.length() + " digits is not one of a text of " + textSymbols + " symbols");
        }
    }

    String encrypt(String symbolsOfText, RSA_public_key key) {
        byte[] text = symbolsOfText.getBytes(StandardCharsets.ISO_8859_1);
        StringBuilder ciphertext = new StringBuilder(count(text.length) * digits());
        byte[] block = new byte[modulusBytes];
        for (int at = 0; at < text.length; at += symbols) {
            BigInteger plain = new BigInteger(1, text, at, Math.min(symbols, text.length - at));
            put(key.encrypt(plain), block, 0, modulusBytes);
            HexFormat.of().formatHex(ciphertext, block);
        }
        return ciphertext.toString();
    }

    String decrypt(String ciphertext, int textSymbols, RSA_private_key key) {
        byte[] text = new byte[textSymbols];
        for (int at = 0; at < textSymbols; at += symbols) {
            int block = at / symbols * digits();
            BigInteger cipher = new BigInteger(1, HexFormat.of().parseHex(ciphertext, block, block + digits()));
            put(key.decrypt(cipher), text, at, Math.min(symbols, textSymbols - at));
        }
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    /** Writes a number into exactly so many bytes. */
    private static void put(BigInteger number, byte[] to, int at, int length) {
        byte[] bytes = number.toByteArray();
        // A byte for the sign may come first.
        int sign = bytes[0] == 0 ? 1 : 0;
        int zeros = length - (bytes.length - sign);
        if (zeros < 0) {
            throw new IllegalArgumentException("a block decrypts to more than " + length + " symbols: it is damaged, or of another key");
        }
        Arrays.fill(to, at, at + zeros, (byte) 0);
        System.arraycopy(bytes, sign, to, at + zeros, bytes.length - sign);
    }
}
