/**
 * How long texts take on how many threads: the article's example of a use of {@link multithread_rsa}, and its method of testing
 * (Figure 2).
 */
package rsa_speed_test;
