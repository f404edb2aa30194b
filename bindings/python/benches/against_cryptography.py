"""rsalab beside cryptography and PyJWT: loading a key, signing and verifying many, generating, tokens.

    PYTHONPATH=target/python/package python3 bindings/python/benches/against_cryptography.py [ROUNDS]

Candidates take turns, ROUNDS times (default 9); figures are medians, with the middle half in brackets.
"""

import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cryptography
import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils

import rsalab
import rsalab.jwt

Candidate = tuple[str, Callable[[], object]]


def measure(rounds: int, title: str, items: int, candidates: list[Candidate]) -> None:
    """Prints the time an item of each candidate, in turns."""
    times: list[list[float]] = [[] for _ in candidates]
    for turn in range(rounds + 1):
        for place, (_, call) in enumerate(candidates):
            begun = time.perf_counter()
            call()
            # The first turn warms up.
            if turn:
                times[place].append((time.perf_counter() - begun) / items)
    print(f"\n{title}")
    first = statistics.median(times[0])
    for (name, _), own in zip(candidates, times, strict=True):
        low, middle, high = statistics.quantiles(own, n=4) if len(own) > 1 else (own[0],) * 3
        print(f"  {name:44} {middle * 1e6:12.1f} us ({low * 1e6:.1f}-{high * 1e6:.1f})  {first / middle:7.2f} x")


def cpu() -> str:
    """The CPU's name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print(f"CPU: {cpu()}; kernel {rsalab.kernel}")
    print(f"rsalab {rsalab.__version__}, cryptography {cryptography.__version__}, PyJWT {jwt.__version__}")
    for bits in (2048, 4096):
        pem = rsalab.generate(bits).to_pem()
        measure(rounds, f"load one private key of {bits} bits", 1, [
            ("cryptography", lambda: serialization.load_pem_private_key(pem, None)),
            ("cryptography, checks skipped",
             lambda: serialization.load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=True)),
            ("rsalab, 8 rounds", lambda: rsalab.load_private_key(pem)),
            ("rsalab, 64 rounds", lambda: rsalab.load_private_key(pem, rounds=64)),
            ("rsalab, no rounds", lambda: rsalab.load_private_key(pem, rounds=0)),
        ])
    own = rsalab.generate(2048)
    theirs = own.to_cryptography()
    ders = [own.to_der()] * 200
    measure(3, "load 200 private keys of 2048 bits, 64 rounds, per key", len(ders), [
        ("rsalab, one by one", lambda: [rsalab.load_private_key(der, rounds=64) for der in ders]),
        ("rsalab, together, 1 thread", lambda: rsalab.load_private_keys(ders, rounds=64, threads=1)),
        ("rsalab, together, 2 threads", lambda: rsalab.load_private_keys(ders, rounds=64, threads=2)),
    ])

    digests = [i.to_bytes(32, "big") for i in range(10_000)]
    prehashed, v15 = utils.Prehashed(hashes.SHA256()), padding.PKCS1v15()

    def loop(items: list[bytes]) -> list[bytes]:
        return [theirs.sign(digest, v15, prehashed) for digest in items]

    def in_threads() -> list[list[bytes]]:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(loop, (digests[::2], digests[1::2])))

    def sign(threads: int) -> list[bytes]:
        return rsalab.sign_many(own, digests, "pkcs1v15", prehashed=True, threads=threads)

    measure(min(rounds, 5), "sign 10,000 digests, 2048 bits, PKCS #1 v1.5, per signature", len(digests), [
        ("cryptography in a loop", lambda: loop(digests)),
        ("cryptography in 2 threads", in_threads),
        ("rsalab.sign_many, 1 thread", lambda: sign(1)),
        ("rsalab.sign_many, 2 threads", lambda: sign(2)),
        ("rsalab, one by one", lambda: [own.sign(digest, "pkcs1v15", prehashed=True) for digest in digests]),
    ])
    signatures, public, their_public = sign(2), own.public_key(), theirs.public_key()

    def verify_loop() -> None:
        for digest, signature in zip(digests, signatures, strict=True):
            their_public.verify(signature, digest, v15, prehashed)

    def verify(threads: int) -> list[bool]:
        return rsalab.verify_many(public, digests, signatures, "pkcs1v15", prehashed=True, threads=threads)

    assert all(verify(1))
    measure(rounds, "verify 10,000 signatures, per signature", len(digests), [
        ("cryptography in a loop", verify_loop),
        ("rsalab.verify_many, 1 thread", lambda: verify(1)),
        ("rsalab.verify_many, 2 threads", lambda: verify(2)),
    ])
    measure(min(rounds, 3), "generate 100 keys of 2048 bits, per key", 100, [
        ("cryptography", lambda: [rsa.generate_private_key(65537, 2048) for _ in range(100)]),
        ("rsalab.generate_many, 1 thread", lambda: list(rsalab.generate_many(100, threads=1))),
        ("rsalab.generate_many, 2 threads", lambda: list(rsalab.generate_many(100, threads=2))),
    ])
    pem = own.to_pem()
    jws = jwt.PyJWS()
    jws.unregister_algorithm("RS256")
    jws.register_algorithm("RS256", rsalab.jwt.algorithm("RS256"))
    measure(rounds, "a token by PyJWT, RS256, key in PEM", 10, [
        ("PyJWT", lambda: [jwt.api_jws.encode(b"payload", pem, "RS256") for _ in range(10)]),
        ("PyJWT, key as an object", lambda: [jwt.api_jws.encode(b"payload", theirs, "RS256") for _ in range(10)]),
        ("PyJWT with rsalab.jwt", lambda: [jws.encode(b"payload", pem, "RS256") for _ in range(10)]),
        ("PyJWT with rsalab.jwt, object", lambda: [jws.encode(b"payload", theirs, "RS256") for _ in range(10)]),
    ])


if __name__ == "__main__":
    main()
