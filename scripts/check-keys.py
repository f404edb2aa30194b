#!/usr/bin/env python3
"""Checks a folder that `rsalab keygen --count N --out FOLDER` made, without a line of rsalab's own code.

Every key: its integers by a reader of DER that is written here, p and q by GMP's probable-prime test, their relations by
Python's integers, its digest in the manifest, no two alike, mode 0600. One key in fifty is read by `cryptography`, where that is
installed. Takes PKCS#8 in PEM.

    scripts/check-keys.py FOLDER COUNT BITS
"""

import base64
import ctypes
import ctypes.util
import hashlib
import json
import math
import multiprocessing
import os
import stat
import sys

GMP = ctypes.CDLL(ctypes.util.find_library("gmp") or "libgmp.so.10")
REPS = 25
FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."

try:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
except ImportError:
    load_pem_private_key = None


class Mpz(ctypes.Structure):
    _fields_ = [("alloc", ctypes.c_int), ("size", ctypes.c_int), ("limbs", ctypes.c_void_p)]


def is_prime_by_gmp(number):
    mpz = Mpz()
    GMP.__gmpz_init_set_str(ctypes.byref(mpz), b"%x" % number, 16)
    verdict = GMP.__gmpz_probab_prime_p(ctypes.byref(mpz), REPS)
    GMP.__gmpz_clear(ctypes.byref(mpz))
    return verdict != 0


def element(der, at):
    """The tag, contents and end of the DER element at a place."""
    length, start = der[at + 1], at + 2
    if length >= 0x80:
        start += length - 0x80
        length = int.from_bytes(der[at + 2 : start], "big")
    return der[at], der[start : start + length], start + length


def elements(der):
    found, at = [], 0
    while at < len(der):
        tag, contents, at = element(der, at)
        found.append((tag, contents))
    return found


def integers(pem):
    body = b"".join(line for line in pem.splitlines() if not line.startswith(b"-----"))
    outer = elements(base64.b64decode(body, validate=True))
    assert len(outer) == 1 and outer[0][0] == 0x30
    version, algorithm, key = elements(outer[0][1])[:3]
    assert version == (2, b"\x00") and key[0] == 4
    inner = elements(elements(key[1])[0][1])
    assert all(tag == 2 for tag, _ in inner) and len(inner) == 9
    return [int.from_bytes(contents, "big") for _, contents in inner][1:], algorithm[1]


def encoded(tag, contents):
    length = len(contents)
    size = (length.bit_length() + 7) // 8
    head = bytes([length]) if length < 0x80 else bytes([0x80 + size]) + length.to_bytes(size, "big")
    return bytes([tag]) + head + contents


def number(value):
    return encoded(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def check(job):
    index, entry, bits = job
    path = os.path.join(FOLDER, entry["file"])
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
    with open(path, "rb") as file:
        pem = file.read()
    (n, e, d, p, q, dp, dq, qinv), algorithm = integers(pem)
    assert n == p * q and n.bit_length() == bits and p > q, path
    assert abs(p - q) > 1 << (bits // 2 - 100), path
    assert all(r * r >= 1 << (bits - 1) and r.bit_length() == bits // 2 for r in (p, q)), path
    assert d == pow(e, -1, math.lcm(p - 1, q - 1)) and d > 1 << (bits // 2), path
    assert (dp, dq, qinv) == (d % (p - 1), d % (q - 1), pow(q, -1, p)), path
    assert is_prime_by_gmp(p) and is_prime_by_gmp(q), path
    public = encoded(0x30, number(n) + number(e))
    spki = encoded(0x30, encoded(0x30, algorithm) + encoded(3, b"\x00" + public))
    assert hashlib.sha256(spki).hexdigest() == entry["sha256"], path
    is_read = index % 50 == 0 and load_pem_private_key is not None
    if is_read:
        read = load_pem_private_key(pem, None).private_numbers()
        assert (read.p, read.q, read.public_numbers.n) == (p, q, n), path
    return p, q, is_read


def main():
    count, bits = int(sys.argv[2]), int(sys.argv[3])
    with open(os.path.join(FOLDER, "manifest.jsonl"), encoding="utf-8") as file:
        entries = [json.loads(line) for line in file][1:]
    assert len(entries) == count, f"the manifest has {len(entries)} keys"
    assert sorted(entry["number"] for entry in entries) == list(range(1, count + 1))
    names = {"manifest.jsonl"} | {entry["file"] for entry in entries}
    assert set(os.listdir(FOLDER)) == names, "something else lies there"
    jobs = [(index, entry, bits) for index, entry in enumerate(entries)]
    primes, read = set(), 0
    with multiprocessing.Pool() as pool:
        for p, q, is_read in pool.imap_unordered(check, jobs, 64):
            primes |= {p, q}
            read += is_read
    assert len(primes) == 2 * count, "a prime is there twice"
    told = f"{read} read by cryptography" if read else "none read by cryptography, which is not installed"
    print(f"{count} keys of {bits} bits: {2 * count} primes, all different, pass GMP's test; {told}; no fault found")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
