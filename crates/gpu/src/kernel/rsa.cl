/* RSA on many cores: each work-item has a number of its own, from its first limb to its last, and no work-item waits for
 * another. Any number of work-items does any number of items.
 *
 * Numbers have `limbs` limbs of 32 bits, the lowest first. An array of numbers holds limb j of item i at [j * stride + i], so
 * that neighbours read neighbouring words. A modulus n comes with `step`, the distance between its limbs: 1 in the record of a
 * key, which all items read, and the stride where each item has a modulus of its own.
 *
 * With R = 2^(32 limbs), the Montgomery form of x is x R mod n.
 *
 * Time and addresses depend on lengths, on public exponents and on launch parameters, never on the values of numbers or on
 * private exponents: what depends on a secret is chosen by masks. Names that end in _vartime say what they depend on.
 *
 * A program is compiled for one number of limbs, LIMBS, or for any up to 256.
 */

#ifdef LIMBS
#define MOST LIMBS
#define SIZE(limbs) ((word)LIMBS)
#else
#define MOST 256
#define SIZE(limbs) (limbs)
#endif

#define FOR_EACH(item, count) for (word item = WORK_ITEM; item < (count); item += WORK_ITEMS)

/* What became of an item; the host's numbers for the same. */
#define DONE 0u
#define OUT_OF_RANGE 1u
#define FAULT 2u

/* The record of a modulus: n, then R, R^2 and R^3 mod n, then -1/n mod 2^32. */
#define R1(limbs) (limbs)
#define R2(limbs) (2 * (limbs))
#define R3(limbs) (3 * (limbs))
#define N0(limbs) (4 * (limbs))

/* Keys one after the other, each of key_words words; which[item] is the place of an item's key. */
#define KEYS GLOBAL const word *keys, GLOBAL const word *which, word key_words
#define KEY(item) (keys + which[item] * key_words)

/* ------------------------------------------------------------------------------------------------ Masks and limbs */

/* All ones if a = b, else zero. */
static word mask_if_equal(word a, word b) {
    const word difference = a ^ b;
    return ((difference | (0u - difference)) >> 31) - 1u;
}

static void load(word *x, GLOBAL const word *from, word stride, word limbs) {
    for (word j = 0; j < SIZE(limbs); j++) x[j] = from[j * stride];
}

static void store(GLOBAL word *to, const word *x, word stride, word limbs) {
    for (word j = 0; j < SIZE(limbs); j++) to[j * stride] = x[j];
}

static void set_word(word *x, word value, word limbs) {
    for (word j = 0; j < SIZE(limbs); j++) x[j] = j == 0 ? value : 0;
}

/* All ones if x = y. */
static word mask_if_same(const word *x, GLOBAL const word *y, word stride, word limbs) {
    word difference = 0;
    for (word j = 0; j < SIZE(limbs); j++) difference |= x[j] ^ y[j * stride];
    return mask_if_equal(difference, 0);
}

/* 1 if x < n, else 0. */
static word is_less(const word *x, GLOBAL const word *n, word step, word limbs) {
    word borrow = 0;
    for (word j = 0; j < SIZE(limbs); j++) {
        const wide d = (wide)x[j] - n[j * step] - borrow;
        borrow = (word)(d >> 32) & 1u;
    }
    return borrow;
}

/* r = top R + t, less n if that is not negative. r may be t. */
static void subtract_once(word *r, const word *t, word top, GLOBAL const word *n, word step, word limbs) {
    const word mask = 0u - (top | (1u - is_less(t, n, step, limbs)));
    word borrow = 0;
    UNROLLED
    for (word j = 0; j < SIZE(limbs); j++) {
        const wide d = (wide)t[j] - (n[j * step] & mask) - borrow;
        borrow = (word)(d >> 32) & 1u;
        r[j] = (word)d;
    }
}

/* x = 2 x mod n, for x < n. */
static void twice(word *x, GLOBAL const word *n, word step, word limbs) {
    word carry = 0;
    for (word j = 0; j < SIZE(limbs); j++) {
        const word limb = x[j];
        x[j] = limb << 1 | carry;
        carry = limb >> 31;
    }
    subtract_once(x, x, carry, n, step, limbs);
}

/* r = a b / R mod n, below n, for any a and a b below n (P. L. Montgomery 1985; both products in one sweep, the finely
 * integrated scanning of Koc, Acar and Kaliski 1996). r may be a or b.
 *
 * The running sum stays below a + n < 2 R and ends below 2 n. Each column is at most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1. */
static void multiply(word *r, const word *a, const word *b, GLOBAL const word *n, word step, word n0, word limbs) {
    word t[MOST];
    word top = 0;
    UNROLLED
    for (word j = 0; j < SIZE(limbs); j++) t[j] = 0;
    for (word i = 0; i < SIZE(limbs); i++) {
        const word digit = b[i];
        wide s = (wide)a[0] * digit + t[0];
        const word quotient = (word)s * n0;
        wide u = (wide)quotient * n[0] + (word)s;
        UNROLLED
        for (word j = 1; j < SIZE(limbs); j++) {
            s = (wide)a[j] * digit + t[j] + (s >> 32);
            u = (wide)quotient * n[j * step] + (word)s + (u >> 32);
            t[j - 1] = (word)u;
        }
        s = (s >> 32) + (u >> 32) + top;
        t[SIZE(limbs) - 1] = (word)s;
        top = (word)(s >> 32);
    }
    subtract_once(r, t, top, n, step, limbs);
}

/* -1/n mod 2^32 for odd n: right in three bits, and in twice as many after each step (Newton). */
static word negative_inverse(word n) {
    word x = n;
    for (word i = 0; i < 4; i++) x *= 2u - n * x;
    return 0u - x;
}

/* R mod n, by doubling 2^start, which must not be above n. */
static void one(word *x, word start, GLOBAL const word *n, word step, word limbs) {
    for (word j = 0; j < SIZE(limbs); j++) x[j] = start / 32 == j ? 1u << start % 32 : 0;
    for (word bit = start; bit < 32 * SIZE(limbs); bit++) twice(x, n, step, limbs);
}

/* R^2 mod n from R mod n: of 2^k R, a squaring makes 2^(2 k) R, and a doubling 2^(k + 1) R; k goes along the bits of 32 limbs. */
static void one_squared(word *x, const word *r1, GLOBAL const word *n, word step, word n0, word limbs) {
    const word target = 32 * SIZE(limbs);
    word bit = 31;
    while (!(target >> bit)) bit--;
    for (word j = 0; j < SIZE(limbs); j++) x[j] = r1[j];
    twice(x, n, step, limbs);
    while (bit-- > 0) {
        multiply(x, x, x, n, step, n0, limbs);
        if (target >> bit & 1) twice(x, n, step, limbs);
    }
}

/* ------------------------------------------------------------------------------------------- Tables of powers */

/* Entry e, limb j of a lane lies at [(e limbs + j) lanes + lane]. Entries are x^0 to x^(2^window - 1) in Montgomery form. */
static void fill_table(GLOBAL word *table, const word *r1, const word *x, GLOBAL const word *n, word step, word n0,
                       word window, word lanes, word limbs) {
    word power[MOST];
    for (word j = 0; j < SIZE(limbs); j++) power[j] = r1[j];
    for (word entry = 0; entry < 1u << window; entry++) {
        if (entry > 0) multiply(power, power, x, n, step, n0, limbs);
        store(table + entry * SIZE(limbs) * lanes, power, lanes, limbs);
    }
}

/* One entry, chosen by reading all of them. */
static void look_up(word *x, GLOBAL const word *table, word digit, word window, word lanes, word limbs) {
    for (word j = 0; j < SIZE(limbs); j++) x[j] = 0;
    for (word entry = 0; entry < 1u << window; entry++) {
        const word mask = mask_if_equal(entry, digit);
        GLOBAL const word *power = table + entry * SIZE(limbs) * lanes;
        for (word j = 0; j < SIZE(limbs); j++) x[j] |= power[j * lanes] & mask;
    }
}

/* ------------------------------------------------------------------------------------------------------- Moduli */

/* Completes the records at `offset` of `count` keys, of which n is there. 2^start must not be above any n. */
KERNEL prepare_modulus(GLOBAL word *keys, word key_words, word offset, word limbs, word start, word count) {
    FOR_EACH(key, count) {
        GLOBAL word *record = keys + key * key_words + offset;
        const word n0 = negative_inverse(record[0]);
        word r[MOST], s[MOST], t[MOST];
        one(r, start, record, 1, limbs);
        one_squared(s, r, record, 1, n0, limbs);
        multiply(t, s, s, record, 1, n0, limbs);
        store(record + R1(limbs), r, 1, limbs);
        store(record + R2(limbs), s, 1, limbs);
        store(record + R3(limbs), t, 1, limbs);
        record[N0(limbs)] = n0;
    }
}

/* Brings a number below n that stands at `from` in each record into Montgomery form at `to`. */
KERNEL prepare_factor(GLOBAL word *keys, word key_words, word offset, word from, word to, word limbs, word count) {
    FOR_EACH(key, count) {
        GLOBAL word *base = keys + key * key_words;
        GLOBAL const word *n = base + offset;
        word x[MOST], y[MOST];
        load(x, base + from, 1, limbs);
        load(y, n + R2(limbs), 1, limbs);
        multiply(x, x, y, n, 1, n[N0(limbs)], limbs);
        store(base + to, x, 1, limbs);
    }
}

/* ------------------------------------------------------------------------------------------------------- Blocks */

/* A limb of a block of `length` big-endian bytes; zero above them. */
static word limb_of(GLOBAL const byte *block, word length, word j) {
    word limb = 0;
    for (word k = 0; k < 4; k++) {
        const word place = 4 * j + k;
        if (place < length) limb |= (word)block[length - 1 - place] << 8 * k;
    }
    return limb;
}

/* Blocks of `length` big-endian bytes to numbers. One that is not below its modulus, at `offset` of its key, is zero, and said
 * to be out of range. */
KERNEL read_blocks(GLOBAL const byte *blocks, GLOBAL word *values, GLOBAL word *status, KEYS, word offset, word limbs,
                   word length, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const byte *block = blocks + (wide)item * length;
        word x[MOST];
        for (word j = 0; j < SIZE(limbs); j++) x[j] = limb_of(block, length, j);
        const word inside = is_less(x, KEY(item) + offset, 1, limbs);
        for (word j = 0; j < SIZE(limbs); j++) x[j] &= 0u - inside;
        store(values + item, x, stride, limbs);
        status[item] = inside ? DONE : OUT_OF_RANGE;
    }
}

/* And back: zero for whatever is not done. */
KERNEL write_blocks(GLOBAL const word *values, GLOBAL byte *blocks, GLOBAL const word *status, word length, word count,
                    word stride) {
    FOR_EACH(item, count) {
        GLOBAL byte *block = blocks + (wide)item * length;
        const word mask = mask_if_equal(status[item], DONE);
        for (word place = 0; place < length; place++) {
            const word limb = values[place / 4 * stride + item] & mask;
            block[length - 1 - place] = (byte)(limb >> 8 * (place % 4));
        }
    }
}

/* ---------------------------------------------------------------------------------------------- Private powers */

/* Lane `part * stride + item` is one part of an item's power: modulo p, modulo q, or the only one, modulo n. A part's record
 * lies at `offset + part * part_words` of its key and begins with its modulus.
 *
 * Takes values of `value_limbs` limbs, at most twice those of a modulus, to Montgomery form, and fills the tables. The states
 * become 1. */
KERNEL power_enter(GLOBAL const word *values, GLOBAL word *states, GLOBAL word *table, KEYS, word offset, word part_words,
                   word parts, word limbs, word value_limbs, word window, word count, word stride) {
    const word lanes = parts * stride;
    FOR_EACH(index, parts * count) {
        const word part = index / count, item = index % count, lane = part * stride + item;
        GLOBAL const word *n = KEY(item) + offset + part * part_words;
        const word n0 = n[N0(limbs)];
        word x[MOST], y[MOST], z[MOST];
        /* low R + high R R */
        for (word j = 0; j < SIZE(limbs); j++) x[j] = j < value_limbs ? values[j * stride + item] : 0;
        load(y, n + R2(limbs), 1, limbs);
        multiply(x, x, y, n, 1, n0, limbs);
        for (word j = 0; j < SIZE(limbs); j++) {
            const word k = SIZE(limbs) + j;
            z[j] = k < value_limbs ? values[k * stride + item] : 0;
        }
        load(y, n + R3(limbs), 1, limbs);
        multiply(z, z, y, n, 1, n0, limbs);
        word carry = 0;
        for (word j = 0; j < SIZE(limbs); j++) {
            const wide sum = (wide)x[j] + z[j] + carry;
            x[j] = (word)sum;
            carry = (word)(sum >> 32);
        }
        subtract_once(x, x, carry, n, 1, limbs);
        load(y, n + R1(limbs), 1, limbs);
        fill_table(table + lane, y, x, n, 1, n0, window, lanes, limbs);
        store(states + lane, y, lanes, limbs);
    }
}

/* Goes on with the exponents' digits from `first` to `last`, which stand at `digits` of each part's record, the highest
 * first: `window` squarings each, and one product. */
KERNEL power_digits(GLOBAL word *states, GLOBAL const word *table, KEYS, word offset, word part_words, word parts,
                    word digits, word first, word last, word limbs, word window, word count, word stride) {
    const word lanes = parts * stride;
    FOR_EACH(index, parts * count) {
        const word part = index / count, item = index % count, lane = part * stride + item;
        GLOBAL const word *n = KEY(item) + offset + part * part_words;
        const word n0 = n[N0(limbs)];
        word x[MOST], y[MOST];
        load(x, states + lane, lanes, limbs);
        for (word place = first; place < last; place++) {
            /* Before the first digit there is 1 to be squared. */
            const word squarings = place == 0 ? 0 : window;
            for (word i = 0; i < squarings; i++) multiply(x, x, x, n, 1, n0, limbs);
            look_up(y, table + lane, n[digits + place], window, lanes, limbs);
            multiply(x, x, y, n, 1, n0, limbs);
        }
        store(states + lane, x, lanes, limbs);
    }
}

/* The power of a single part, out of Montgomery form. */
KERNEL power_leave(GLOBAL const word *states, GLOBAL word *values, KEYS, word offset, word limbs, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = KEY(item) + offset;
        word x[MOST], y[MOST];
        load(x, states + item, stride, limbs);
        set_word(y, 1, limbs);
        multiply(x, x, y, n, 1, n[N0(limbs)], limbs);
        store(values + item, x, stride, limbs);
    }
}

/* m = m2 + q h with h = (m1 - m2) / q mod p (Garner's recombination, RFC 8017, 5.1.2). 1/q mod p stands at `qinv` of a key,
 * and in Montgomery form at `qinv_mont`. Values have `value_limbs` limbs. */
KERNEL recombine(GLOBAL const word *states, GLOBAL word *values, KEYS, word offset, word part_words, word qinv,
                 word qinv_mont, word limbs, word value_limbs, word count, word stride) {
    const word lanes = 2 * stride;
    FOR_EACH(item, count) {
        GLOBAL const word *key = KEY(item);
        GLOBAL const word *p = key + offset, *q = p + part_words;
        word h[MOST], m2[MOST], y[MOST];
        load(h, states + item, lanes, limbs);
        load(y, key + qinv, 1, limbs);
        multiply(h, h, y, p, 1, p[N0(limbs)], limbs);
        load(m2, states + stride + item, lanes, limbs);
        set_word(y, 1, limbs);
        multiply(m2, m2, y, q, 1, q[N0(limbs)], limbs);
        load(y, key + qinv_mont, 1, limbs);
        multiply(y, m2, y, p, 1, p[N0(limbs)], limbs);
        /* h = m1 / q - m2 / q, and p more if that is negative. */
        word borrow = 0;
        for (word j = 0; j < SIZE(limbs); j++) {
            const wide d = (wide)h[j] - y[j] - borrow;
            h[j] = (word)d;
            borrow = (word)(d >> 32) & 1u;
        }
        const word mask = 0u - borrow;
        word carry = 0;
        for (word j = 0; j < SIZE(limbs); j++) {
            const wide sum = (wide)h[j] + (p[j] & mask) + carry;
            h[j] = (word)sum;
            carry = (word)(sum >> 32);
        }
        /* A column of q h at a time, from the lowest, with what was carried in two words and a half. */
        wide low = 0;
        word high = 0;
        for (word k = 0; k < value_limbs; k++) {
            const word from = k < SIZE(limbs) ? 0 : k - SIZE(limbs) + 1;
            const word to = k < SIZE(limbs) ? k + 1 : SIZE(limbs);
            if (k < SIZE(limbs)) {
                const wide sum = low + m2[k];
                high += sum < low;
                low = sum;
            }
            for (word j = from; j < to; j++) {
                const wide sum = low + (wide)q[j] * h[k - j];
                high += sum < low;
                low = sum;
            }
            values[k * stride + item] = (word)low;
            low = low >> 32 | (wide)high << 32;
            high = 0;
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- Blinding */

/* Pairs (r^e, 1/r) in Montgomery form, in slots; pair[item] is the slot of an item. Both are squared before each use, which
 * keeps a pair a pair. */
KERNEL blind(GLOBAL const word *values, GLOBAL word *blinded, GLOBAL word *factors, GLOBAL word *inverses,
             GLOBAL const word *pair, KEYS, word offset, word limbs, word count, word stride, word slots) {
    FOR_EACH(item, count) {
        const word slot = pair[item];
        GLOBAL const word *n = KEY(item) + offset;
        const word n0 = n[N0(limbs)];
        word x[MOST], y[MOST];
        load(x, inverses + slot, slots, limbs);
        multiply(x, x, x, n, 1, n0, limbs);
        store(inverses + slot, x, slots, limbs);
        load(x, factors + slot, slots, limbs);
        multiply(x, x, x, n, 1, n0, limbs);
        store(factors + slot, x, slots, limbs);
        load(y, values + item, stride, limbs);
        /* One factor is in Montgomery form, so the product is not. */
        multiply(x, x, y, n, 1, n0, limbs);
        store(blinded + item, x, stride, limbs);
    }
}

KERNEL unblind(GLOBAL word *values, GLOBAL const word *inverses, GLOBAL const word *pair, KEYS, word offset, word limbs,
               word count, word stride, word slots) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = KEY(item) + offset;
        word x[MOST], y[MOST];
        load(x, inverses + pair[item], slots, limbs);
        load(y, values + item, stride, limbs);
        multiply(x, x, y, n, 1, n[N0(limbs)], limbs);
        store(values + item, x, stride, limbs);
    }
}

/* New pairs for the slots pair[0] to pair[count - 1], of r^e in Montgomery form and 1/r as it is. */
KERNEL renew_pairs(GLOBAL const word *powers, GLOBAL const word *plain_inverses, GLOBAL word *factors,
                   GLOBAL word *inverses, GLOBAL const word *pair, KEYS, word offset, word limbs, word count, word stride,
                   word slots) {
    FOR_EACH(item, count) {
        const word slot = pair[item];
        GLOBAL const word *n = KEY(item) + offset;
        word x[MOST], y[MOST];
        load(x, powers + item, stride, limbs);
        store(factors + slot, x, slots, limbs);
        load(x, plain_inverses + item, stride, limbs);
        load(y, n + R2(limbs), 1, limbs);
        multiply(x, x, y, n, 1, n[N0(limbs)], limbs);
        store(inverses + slot, x, slots, limbs);
    }
}

/* ----------------------------------------------------------------------------------------------- Public powers */

/* The base, and the state after an exponent's highest bit: both are the value in Montgomery form. */
KERNEL public_enter(GLOBAL const word *values, GLOBAL word *bases, GLOBAL word *states, KEYS, word offset, word limbs,
                    word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = KEY(item) + offset;
        word x[MOST], y[MOST];
        load(x, values + item, stride, limbs);
        load(y, n + R2(limbs), 1, limbs);
        multiply(x, x, y, n, 1, n[N0(limbs)], limbs);
        store(bases + item, x, stride, limbs);
        store(states + item, x, stride, limbs);
    }
}

/* Goes on with the bits of the public exponents below the highest, from `first` to `last`. At `exponent` of a key stands how
 * many bits its exponent has, then the exponent. Time depends on the exponents. */
KERNEL public_bits_vartime(GLOBAL const word *bases, GLOBAL word *states, KEYS, word offset, word exponent, word first,
                           word last, word limbs, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *key = KEY(item);
        GLOBAL const word *n = key + offset, *e = key + exponent + 1;
        const word n0 = n[N0(limbs)], below = key[exponent] - 1;
        word x[MOST], y[MOST];
        load(x, states + item, stride, limbs);
        load(y, bases + item, stride, limbs);
        for (word place = first; place < last && place < below; place++) {
            const word bit = below - 1 - place;
            multiply(x, x, x, n, 1, n0, limbs);
            if (e[bit / 32] >> bit % 32 & 1u) multiply(x, x, y, n, 1, n0, limbs);
        }
        store(states + item, x, stride, limbs);
    }
}

KERNEL public_leave(GLOBAL const word *states, GLOBAL word *values, KEYS, word offset, word limbs, word count,
                    word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = KEY(item) + offset;
        word x[MOST], y[MOST];
        load(x, states + item, stride, limbs);
        set_word(y, 1, limbs);
        multiply(x, x, y, n, 1, n[N0(limbs)], limbs);
        store(values + item, x, stride, limbs);
    }
}

/* Marks every item whose result, raised to the public exponent, is not what was given (Boneh, DeMillo and Lipton 1997), and
 * wipes its value. The verdict is released, as it must be. */
KERNEL public_check(GLOBAL const word *states, GLOBAL const word *given, GLOBAL word *values, GLOBAL word *status, KEYS,
                    word offset, word limbs, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = KEY(item) + offset;
        word x[MOST], y[MOST];
        load(x, states + item, stride, limbs);
        set_word(y, 1, limbs);
        multiply(x, x, y, n, 1, n[N0(limbs)], limbs);
        const word mask = mask_if_same(x, given + item, stride, limbs);
        for (word j = 0; j < SIZE(limbs); j++) values[j * stride + item] &= mask;
        if (status[item] == DONE && !mask) status[item] = FAULT;
    }
}

/* --------------------------------------------------------------------------------------------------- Candidates */

/* Candidates of `length` big-endian bytes become moduli, one for each item, with R mod n in `ones` and in the
 * states. 2^start must not be above any of
 * them. */
KERNEL candidate_enter(GLOBAL const byte *blocks, GLOBAL word *moduli, GLOBAL word *ones, GLOBAL word *states, word start,
                       word limbs, word length, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const byte *block = blocks + (wide)item * length;
        for (word j = 0; j < SIZE(limbs); j++) moduli[j * stride + item] = limb_of(block, length, j);
        word x[MOST];
        one(x, start, moduli + item, stride, limbs);
        store(ones + item, x, stride, limbs);
        store(states + item, x, stride, limbs);
    }
}

/* 2^((w-1)/2) mod w, as far as the bits of w from `high` down to above `low`, the states having begun with 1: a squaring and,
 * by a mask, a doubling for each. */
KERNEL two_bits(GLOBAL word *states, GLOBAL const word *moduli, word high, word low, word limbs, word count,
                word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = moduli + item;
        const word n0 = negative_inverse(n[0]);
        word x[MOST], y[MOST];
        load(x, states + item, stride, limbs);
        for (word bit = high; bit > low; bit--) {
            multiply(x, x, x, n, stride, n0, limbs);
            for (word j = 0; j < SIZE(limbs); j++) y[j] = x[j];
            twice(y, n, stride, limbs);
            const word mask = 0u - (n[bit / 32 * stride] >> bit % 32 & 1u);
            for (word j = 0; j < SIZE(limbs); j++) x[j] ^= (x[j] ^ y[j]) & mask;
        }
        store(states + item, x, stride, limbs);
    }
}

/* All ones if x = -1 in Montgomery form: if x and R mod n add up to n. */
static word mask_if_minus_one(const word *x, GLOBAL const word *ones, GLOBAL const word *n, word stride, word limbs) {
    word carry = 0, difference = 0;
    for (word j = 0; j < SIZE(limbs); j++) {
        const wide sum = (wide)x[j] + ones[j * stride] + carry;
        difference |= (word)sum ^ n[j * stride];
        carry = (word)(sum >> 32);
    }
    return mask_if_equal(difference | carry, 0);
}

/* Whether a state is 1 or -1. */
KERNEL two_verdict(GLOBAL const word *states, GLOBAL const word *moduli, GLOBAL const word *ones, GLOBAL word *passed,
                   word limbs, word count, word stride) {
    FOR_EACH(item, count) {
        word x[MOST];
        load(x, states + item, stride, limbs);
        const word is_one = mask_if_same(x, ones + item, stride, limbs);
        const word is_minus_one = mask_if_minus_one(x, ones + item, moduli + item, stride, limbs);
        passed[item] = (is_one | is_minus_one) & 1u;
    }
}

/* Bases of `length` big-endian bytes: Montgomery form, and tables of their powers. The states become 1. */
KERNEL base_enter(GLOBAL const byte *blocks, GLOBAL word *states, GLOBAL word *table, GLOBAL const word *moduli,
                  GLOBAL const word *ones, word window, word limbs, word length, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const byte *block = blocks + (wide)item * length;
        GLOBAL const word *n = moduli + item;
        const word n0 = negative_inverse(n[0]);
        word x[MOST], y[MOST], z[MOST];
        for (word j = 0; j < SIZE(limbs); j++) x[j] = limb_of(block, length, j);
        load(y, ones + item, stride, limbs);
        one_squared(z, y, n, stride, n0, limbs);
        multiply(x, x, z, n, stride, n0, limbs);
        fill_table(table + item, y, x, n, stride, n0, window, stride, limbs);
        store(states + item, y, stride, limbs);
    }
}

/* Raises bases to w - 1 as far as its bits below `high` down to `low`, `window` at a time, which divides 32, `high` and
 * `low`. `low` is above 0, so that the bits are those of w. */
KERNEL base_digits(GLOBAL word *states, GLOBAL const word *table, GLOBAL const word *moduli, word high, word low,
                   word window, word limbs, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = moduli + item;
        const word n0 = negative_inverse(n[0]);
        word x[MOST], y[MOST];
        load(x, states + item, stride, limbs);
        for (word bit = high; bit > low; bit -= window) {
            const word place = bit - window;
            const word digit = n[place / 32 * stride] >> place % 32 & ((1u << window) - 1u);
            for (word i = 0; i < window; i++) multiply(x, x, x, n, stride, n0, limbs);
            look_up(y, table + item, digit, window, stride, limbs);
            multiply(x, x, y, n, stride, n0, limbs);
        }
        store(states + item, x, stride, limbs);
    }
}

/* The last `low` bits of w - 1 = 2^a m, one at a time, where a must be below `low`: whether the power was 1 or -1 at m, or -1
 * at one of 2 m, ..., 2^(a-1) m (FIPS 186-5, B.3.1). Nothing that is done tells a. */
KERNEL base_verdict(GLOBAL const word *states, GLOBAL const word *table, GLOBAL const word *moduli,
                    GLOBAL const word *ones, GLOBAL word *passed, word low, word limbs, word count, word stride) {
    FOR_EACH(item, count) {
        GLOBAL const word *n = moduli + item;
        GLOBAL const word *base = table + item + SIZE(limbs) * stride;
        const word n0 = negative_inverse(n[0]);
        /* The zeros at the end of w - 1. */
        word zeros = 0, still = 1;
        for (word bit = 1; bit < low; bit++) {
            still &= 1u - (n[bit / 32 * stride] >> bit % 32 & 1u);
            zeros += still;
        }
        /* Bit 0 of w - 1 is zero too. */
        const word a = zeros + 1;
        word x[MOST], y[MOST];
        word verdict = 0;
        load(x, states + item, stride, limbs);
        for (word bit = low; bit-- > 1;) {
            const word mask = 0u - (n[bit / 32 * stride] >> bit % 32 & 1u);
            multiply(x, x, x, n, stride, n0, limbs);
            for (word j = 0; j < SIZE(limbs); j++) {
                const word r = ones[j * stride + item];
                y[j] = r ^ ((r ^ base[j * stride]) & mask);
            }
            multiply(x, x, y, n, stride, n0, limbs);
            /* Now x is the base to the power of (w - 1) >> bit. */
            const word in_chain = 0u - (1u - ((a - bit) >> 31));
            verdict |= mask_if_minus_one(x, ones + item, n, stride, limbs) & in_chain;
            verdict |= mask_if_same(x, ones + item, stride, limbs) & mask_if_equal(a, bit);
        }
        passed[item] = verdict & 1u;
    }
}
