#!/usr/bin/env python3
"""Does the time of a decryption show what was wrong with the padding? From end to end, as a client of a server would ask.

    scripts/padding_oracle.py [--through library,program,provider] [--scheme pkcs1v15,oaep] [--bits 1024] [--rounds 100000]
                              [--target target/release] [--plant NS] [--seed N] [--json]

Bleichenbacher's attack on PKCS#1 v1.5 (CRYPTO 1998) and Manger's on OAEP (CRYPTO 2001) need no more than that a server takes another
time for one kind of bad padding than for another; Marvin (Kario, 2023) found such servers by statistics over whole decryptions. This
does the same: ciphertexts of several kinds, made with Python's integers, are decrypted one at a time, in rounds that have each kind
once, in a random order. No ciphertext is used twice.

library: `rsalab_decrypt` of librsalab.so. program: `rsalab vectors -`, a line through a pipe and the answer back. provider:
`EVP_PKEY_decrypt` of the system's libcrypto with the provider loaded.

What is compared. PKCS#1 v1.5 is rejected implicitly: each ciphertext yields a message, of which the length is not secret (SECURITY.md).
So messages of well-padded ciphertexts have random lengths, distributed like those of the others, and every kind is compared with `valid`.
OAEP tells whether it failed, and no more: every kind of failure is compared with `label`, the failure that an attacker can always have.

Statistics. Of each round the difference between the two kinds, in nanoseconds. Its median, with the interval of order statistics, which
holds at 1 - 0.01 / m for m comparisons: together a false alarm is made in one run of a hundred at most. A difference is one whose
interval leaves out zero. What is printed as `bound` is the farther end of it: with that confidence the median difference is no larger.
The mean without the outermost twentieths is printed beside it, with an interval from 200 blocks of rounds, and decides nothing: what
slows a machine for longer than a block made it find differences between a kind and itself.

--plant NS makes the timed part of one kind longer by NS: it must be found, and the exit code is 1 if it is not. Without, it is 1 if
there is a difference. What is not built is skipped, and said. Pin it to a CPU that has nothing else to do: taskset -c 1.
"""

import argparse
import ctypes
import ctypes.util
import gc
import hashlib
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

clock = time.perf_counter_ns
# Kinds are made, and then timed, so many rounds at a time.
CHUNK = 250
FAMILY = 0.01
BLOCKS = 200


class Skipped(Exception):
    """An end that is not there."""


# Encodings of length k, as integers below 256^(k-1), or nearly.


def filling(rng, length):
    return bytes(rng.randrange(1, 256) for _ in range(length))


class Pkcs1v15:
    name = "pkcs1v15"
    reference = "valid"

    def __init__(self, k):
        self.k = k

    def kinds(self):
        return {
            "valid": self.valid,
            "first byte": lambda rng: b"\x01" + self.valid(rng)[1:],
            "second byte": lambda rng: b"\x00\x01" + self.valid(rng)[2:],
            "no end": lambda rng: b"\x00\x02" + filling(rng, self.k - 2),
            "early end": self.early_end,
            "random": lambda rng: b"\x00" + rng.randbytes(self.k - 1),
        }

    def valid(self, rng):
        length = rng.randrange(self.k - 10)
        return b"\x00\x02" + filling(rng, self.k - 3 - length) + b"\x00" + rng.randbytes(length)

    def early_end(self, rng):
        """A zero among the eight bytes that must not be zero."""
        place = rng.randrange(2, 10)
        return b"\x00\x02" + filling(rng, place - 2) + b"\x00" + filling(rng, self.k - place - 1)


class Oaep:
    """With SHA-256 in both places and no label."""

    name = "oaep"
    reference = "label"

    def __init__(self, k):
        self.k = k
        self.label_hash = hashlib.sha256().digest()

    def kinds(self):
        return {
            "label": lambda rng: self.encoded(rng, self.block(rng, rng.randbytes(32))),
            "first byte": lambda rng: self.encoded(rng, self.block(rng, self.label_hash), first=1),
            "first byte, label": lambda rng: self.encoded(rng, self.block(rng, rng.randbytes(32)), first=1),
            "no end": lambda rng: self.encoded(rng, self.label_hash + bytes(self.k - 65)),
            "wrong end": lambda rng: self.encoded(rng, self.block(rng, self.label_hash, end=2)),
            "random": lambda rng: b"\x00" + rng.randbytes(self.k - 1),
        }

    def block(self, rng, label_hash, end=1):
        length = rng.randrange(self.k - 65)
        return label_hash + bytes(self.k - 66 - length) + bytes([end]) + rng.randbytes(length)

    def encoded(self, rng, block, first=0):
        seed = rng.randbytes(32)
        masked = xor(block, mask(seed, len(block)))
        return bytes([first]) + xor(seed, mask(masked, 32)) + masked


def mask(seed, length):
    """MGF1 with SHA-256 (RFC 8017, B.2.1)."""
    blocks = (hashlib.sha256(seed + count.to_bytes(4, "big")).digest() for count in range(-(-length // 32)))
    return b"".join(blocks)[:length]


def xor(one, other):
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


# Ends: `prepare` makes of a ciphertext what is handed over, outside of the time; `call` is timed.


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class EncryptionScheme(ctypes.Structure):
    _fields_ = [
        ("padding", ctypes.c_uint32),
        ("hash", ctypes.c_uint32),
        ("mgf_hash", ctypes.c_uint32),
        ("label", Bytes),
    ]


class Library:
    name = "library"

    def __init__(self, target, pem, k, scheme):
        path = target / "librsalab.so"
        if not path.exists():
            raise Skipped(f"there is no {path}: cargo build --release --package rsalab-c")
        self.library = ctypes.CDLL(str(path))
        self.key = ctypes.c_void_p()
        text = pem.encode()
        status = self.library.rsalab_private_key_read(
            text, ctypes.c_size_t(len(text)), None, ctypes.c_size_t(0), ctypes.c_size_t(0), ctypes.byref(self.key)
        )
        assert status == 0, status
        # RSALAB_PADDING_PKCS1; RSALAB_PADDING_OAEP with RSALAB_HASH_SHA256.
        padding, hash_function = (1, 0) if scheme == "pkcs1v15" else (3, 3)
        self.scheme = EncryptionScheme(padding, hash_function, hash_function, Bytes(None, 0))
        self.message = ctypes.create_string_buffer(k)
        self.len = ctypes.c_size_t()
        self.k = k
        self.arguments = [
            ctypes.byref(self.scheme),
            None,
            ctypes.c_size_t(1),
            self.message,
            ctypes.c_size_t(k),
            ctypes.byref(self.len),
            None,
        ]

    def prepare(self, ciphertext):
        one = Bytes(ciphertext, len(ciphertext))
        arguments = list(self.arguments)
        arguments[1] = ctypes.byref(one)
        return (self.key, *arguments)

    def call(self, arguments):
        return self.library.rsalab_decrypt(*arguments)

    def decrypted(self, outcome):
        return self.message.raw[: self.len.value] if outcome == 0 else None

    def close(self):
        self.library.rsalab_private_key_free(self.key)


class Program:
    name = "program"

    def __init__(self, target, pem, k, scheme):
        path = target / "rsalab"
        if not path.exists():
            raise Skipped(f"there is no {path}: make build")
        self.process = subprocess.Popen([path, "vectors", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.head = json.dumps({"op": "decrypt", "scheme": scheme, "hash": "sha256", "key": pem})[:-1] + ', "ct": "'

    def prepare(self, ciphertext):
        return (self.head + ciphertext.hex() + '"}\n').encode()

    def call(self, line):
        os.write(self.input, line)
        answer = os.read(self.output, 65536)
        while not answer.endswith(b"\n"):
            answer += os.read(self.output, 65536)
        return answer

    def decrypted(self, answer):
        answer = json.loads(answer)
        return bytes.fromhex(answer["out"]) if answer["result"] == "accept" else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Provider:
    name = "provider"

    def __init__(self, target, pem, k, scheme):
        module = target / "librsalab_provider.so"
        if not module.exists():
            raise Skipped(f"there is no {module}: cargo build --release --package rsalab-openssl-provider")
        name = ctypes.util.find_library("crypto")
        if name is None:
            raise Skipped("there is no libcrypto here")
        self.crypto = crypto = ctypes.CDLL(name)
        if not hasattr(crypto, "OSSL_PROVIDER_load"):
            raise Skipped(f"{name} is older than OpenSSL 3")
        pointers = "OSSL_LIB_CTX_new OSSL_PROVIDER_load BIO_new_mem_buf PEM_read_bio_PrivateKey_ex EVP_PKEY_CTX_new_from_pkey "
        for function in (pointers + "EVP_PKEY_CTX_get0_provider").split():
            getattr(crypto, function).restype = ctypes.c_void_p
        self.folder = tempfile.TemporaryDirectory()
        shutil.copy(module, pathlib.Path(self.folder.name) / "rsalab.so")
        context = ctypes.c_void_p(crypto.OSSL_LIB_CTX_new())
        crypto.OSSL_PROVIDER_set_default_search_path(context, self.folder.name.encode())
        # The second reads files and has the hash functions.
        for provider in [b"rsalab", b"default"]:
            assert crypto.OSSL_PROVIDER_load(context, provider), provider
        crypto.EVP_set_default_properties(context, b"?provider=rsalab")
        text = pem.encode()
        bio = ctypes.c_void_p(crypto.BIO_new_mem_buf(text, len(text)))
        key = ctypes.c_void_p(crypto.PEM_read_bio_PrivateKey_ex(bio, None, None, None, context, b"?provider=rsalab"))
        assert key, "the key cannot be read"
        self.context = ctypes.c_void_p(crypto.EVP_PKEY_CTX_new_from_pkey(context, key, b"provider=rsalab"))
        assert crypto.EVP_PKEY_decrypt_init(self.context) == 1
        crypto.OSSL_PROVIDER_get0_name.restype = ctypes.c_char_p
        decrypts = ctypes.c_void_p(crypto.EVP_PKEY_CTX_get0_provider(self.context))
        assert crypto.OSSL_PROVIDER_get0_name(decrypts) == b"rsalab", "another provider decrypts"
        padding = 1 if scheme == "pkcs1v15" else 4
        assert crypto.EVP_PKEY_CTX_set_rsa_padding(self.context, padding) == 1
        if scheme == "oaep":
            assert crypto.EVP_PKEY_CTX_set_rsa_oaep_md_name(self.context, b"SHA256", None) == 1
        self.message = ctypes.create_string_buffer(k)
        self.len = ctypes.c_size_t()
        self.k = ctypes.c_size_t(k)

    def prepare(self, ciphertext):
        self.crypto.ERR_clear_error()
        return (self.context, self.message, ctypes.byref(self.len), ciphertext, self.k)

    def call(self, arguments):
        # How much room there is: the length of the last message stands there.
        self.len.value = self.k.value
        return self.crypto.EVP_PKEY_decrypt(*arguments)

    def decrypted(self, outcome):
        # Errors pile up in a queue of sixteen.
        self.crypto.ERR_clear_error()
        return self.message.raw[: self.len.value] if outcome == 1 else None

    def close(self):
        self.folder.cleanup()


ENDS = {end.name: end for end in [Library, Program, Provider]}
SCHEMES = {scheme.name: scheme for scheme in [Pkcs1v15, Oaep]}


def measured(end, scheme, n, e, rounds, plant, rng):
    """Nanoseconds of each kind, round by round."""
    k = scheme.k
    kinds = scheme.kinds()
    names = list(kinds)
    times = {name: [] for name in names}

    def ciphertext(name):
        while True:
            encoding = int.from_bytes(kinds[name](rng), "big")
            if encoding < n:
                return pow(encoding, e, n).to_bytes(k, "big")

    # The same steps for every kind: a comparison of names takes a time of its own.
    delays = {name: plant if name == names[1] else 0 for name in names}
    warm = False
    while len(times[names[0]]) < rounds:
        order = [name for _ in range(CHUNK) for name in rng.sample(names, len(names))]
        # In two passes: an object lies where others have been freed, and what is freed in making one depends on its kind.
        # In one pass ciphertexts of one kind took 10 ns longer.
        ciphertexts = [ciphertext(name) for name in order]
        inputs = [(name, end.prepare(bytes(bytearray(made)))) for name, made in zip(order, ciphertexts, strict=True)]
        call = end.call
        outcomes = []
        gc.collect()
        gc.disable()
        for name, given in inputs:
            delay = delays[name]
            begun = clock()
            outcome = call(given)
            # A loop for every kind: of no length, but for one.
            until = clock() + delay
            while clock() < until:
                pass
            outcomes.append((name, clock() - begun, outcome))
        gc.enable()
        if not warm:
            check(end, scheme, ciphertext)
            warm = True
            continue
        for name, took, _ in outcomes:
            times[name].append(took)
    return times


def check(end, scheme, ciphertext):
    """The kinds are what they are called: only one of them is well padded."""
    for name in scheme.kinds():
        message = end.decrypted(end.call(end.prepare(ciphertext(name))))
        if scheme.name == "oaep":
            assert message is None, f"{end.name}: a ciphertext with another {name} was decrypted"
        else:
            assert message is not None, f"{end.name}: {name}: PKCS#1 v1.5 is to be rejected implicitly"


def compared(differences, confidence):
    """Median and trimmed mean of the differences, each with its interval."""
    count = len(differences)
    z = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
    ordered = sorted(differences)
    half = z * math.sqrt(count) / 2
    low, high = max(0, math.floor(count / 2 - half)), min(count - 1, math.ceil(count / 2 + half))
    median = (statistics.median(ordered), ordered[low], ordered[high])
    least, most = ordered[count // 20], ordered[count - 1 - count // 20]
    size = count // BLOCKS
    means = []
    for block in range(BLOCKS):
        inner = [d for d in differences[block * size : (block + 1) * size] if least <= d <= most]
        means.append(statistics.fmean(inner) if inner else 0.0)
    mean = statistics.fmean(means)
    # Two hundred blocks: Student's t is the normal law, nearly.
    error = 1.02 * z * statistics.stdev(means) / math.sqrt(BLOCKS)
    return median, (mean, mean - error, mean + error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--through", default="library,program,provider")
    parser.add_argument("--scheme", default="pkcs1v15,oaep")
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--target", type=pathlib.Path, default=pathlib.Path("target/release"))
    parser.add_argument("--plant", type=int, default=0, metavar="NS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.rounds < 10 * BLOCKS:
        parser.error(f"at least {10 * BLOCKS} rounds")
    for given, known in [(arguments.through, ENDS), (arguments.scheme, SCHEMES)]:
        for name in given.split(","):
            if name not in known:
                parser.error(f"'{name}' is none of {', '.join(known)}")
    if shutil.which("openssl") is None:
        print("SKIPPED: padding_oracle.py: there is no openssl here to make a key", file=sys.stderr)
        return 0

    pem = openssl("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{arguments.bits}")
    n = int(openssl("rsa", "-noout", "-modulus", text=pem).partition("=")[2], 16)
    rows = []
    for through in arguments.through.split(","):
        for scheme in arguments.scheme.split(","):
            try:
                rows += study(through, scheme, pem, n, arguments)
            except Skipped as reason:
                print(f"SKIPPED: {through}: {reason}", file=sys.stderr)
                break
    if arguments.json:
        print(json.dumps(rows, indent=1))
    different = [row for row in rows if row["differs"]]
    if arguments.plant:
        missed = [row for row in rows if row["planted"] and not row["differs"]]
        for row in missed:
            print(f"not found: {row['through']}, {row['scheme']}, {row['kind']}", file=sys.stderr)
        return 1 if missed or not rows else 0
    for row in different:
        print(f"different: {row['through']}, {row['scheme']}, {row['kind']}", file=sys.stderr)
    return 1 if different else 0


def openssl(*arguments, text=None):
    # `-quiet` came with 3.0 for some commands and later for others: progress goes to standard error.
    arguments = [argument for argument in arguments if argument != "-quiet"]
    done = subprocess.run(["openssl", *arguments], input=text, capture_output=True, text=True, check=True)
    return done.stdout


def study(through, scheme, pem, n, arguments):
    k = (n.bit_length() + 7) // 8
    end = ENDS[through](arguments.target, pem, k, scheme)
    try:
        scheme = SCHEMES[scheme](k)
        rng = random.Random(arguments.seed)
        times = measured(end, scheme, n, 65537, arguments.rounds, arguments.plant, rng)
    finally:
        end.close()
    reference = times[scheme.reference]
    others = [name for name in times if name != scheme.reference]
    ends, schemes = arguments.through.count(",") + 1, arguments.scheme.count(",") + 1
    confidence = 1 - FAMILY / (len(others) * ends * schemes)
    if not arguments.json:
        typical = statistics.median(reference) / 1000
        print(f"{through}, {scheme.name}, {arguments.bits} bits: {len(reference):,} rounds, '{scheme.reference}' takes {typical:.1f} µs")
        print(f"  {'kind':<18} {'median, ns':>28} {'trimmed mean, ns':>28} {'bound':>8}")
    rows = []
    for place, name in enumerate(others):
        differences = [one - other for one, other in zip(times[name], reference)]
        intervals = compared(differences, confidence)
        _, low, high = intervals[0]
        differs, bound = low > 0 or high < 0, max(abs(low), abs(high))
        rows.append(
            {
                "through": through,
                "scheme": scheme.name,
                "bits": arguments.bits,
                "rounds": len(reference),
                "kind": name,
                "reference": scheme.reference,
                "planted": arguments.plant if name == list(scheme.kinds())[1] else 0,
                "median_ns": intervals[0],
                "mean_ns": intervals[1],
                "confidence": confidence,
                "bound_ns": bound,
                "differs": differs,
            }
        )
        if not arguments.json:
            words = [f"{value:+.1f} ({low:+.1f} to {high:+.1f})" for value, low, high in intervals]
            print(f"  {name:<18} {words[0]:>28} {words[1]:>28} {bound:>8.1f}{'  DIFFERS' if differs else ''}")
    return rows


if __name__ == "__main__":
    sys.exit(main())
