/**
 * RSA of texts over threads, as the article describes it: N. Sinyagina, G. Kalpachka, V. Todorov, V. Kalpachki, "Developing an
 * Application for Researching the RSA Algorithm Behavior on a Multithread Platform", TEM Journal 9 (4), 2020. Usable alone; needs nothing
 * but Java.
 *
 * <pre>{@code
 * RSA_key_pair keys = RSA_key_pair.generate(1024, new SecureRandom());
 * RSA_thread_management management = new RSA_thread_management(keys, 8);
 * String ciphertext = management.encrypt(text);
 * String again = management.decrypt(ciphertext, text.length());
 * }</pre>
 *
 * <p>A text is a string of symbols U+0000 to U+00FF, one byte each (ISO 8859-1); {@link multithread_rsa.RSA_blocks#symbolsOf} makes such a
 * text of any other. A ciphertext is a string as well, of two hexadecimal digits for each byte: it can be printed, and cut at the borders of
 * its blocks.
 *
 * <p>It is RSA as in a textbook, for measuring and for study only: without padding, so that equal blocks have equal ciphertexts; without
 * CRT, of which the article does not speak; neither blinded, nor checked, nor in constant time.
 */
package multithread_rsa;
