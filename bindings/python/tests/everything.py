"""An engine that does every operation, as a textbook has it. The tests of the crate rsalab-engines take it, too,
without the package's extension module.
"""

import math
import random

from rsalab.engine import Engine, Job, Key


def is_prime(n: int) -> bool:
    if any(n % p == 0 for p in (3, 5, 7, 11, 13, 17, 19)):
        return False
    d, twos = n - 1, 0
    while d % 2 == 0:
        d, twos = d // 2, twos + 1
    for _ in range(8):
        x = pow(random.randrange(2, n - 1), d, n)
        if x not in (1, n - 1) and all((x := x * x % n) != n - 1 for _ in range(twos - 1)):
            return False
    return True


def prime(bits: int) -> int:
    while True:
        found = random.getrandbits(bits) | 3 << bits - 2 | 1
        if found % 65537 != 1 and is_prime(found):
            return found


class Everything(Engine):
    """Each operation, as a textbook has it"""

    name = "every_thing"
    variants = ("one", "two")
    operations = (
        "private public keygen prime_pair totient private_exponent text_encrypt text_decrypt sign verify prime_search"
    ).split()

    def prepare(self, job: Job, key: Key | None) -> None:
        self.job = job
        if key is not None:
            self.key = key

    def run(self, item: bytes) -> bytes:
        print("what an engine prints is no answer")
        made: bytes = getattr(self, self.job.op)(item)
        return made

    def private(self, item: bytes) -> bytes:
        return pow(int.from_bytes(item), self.key.d, self.key.n).to_bytes(self.job.size)

    def public(self, item: bytes) -> bytes:
        return pow(int.from_bytes(item), self.key.e, self.key.n).to_bytes(self.job.size)

    def prime_pair(self, item: bytes) -> bytes:
        assert item == b""
        h = self.job.prime_size
        while True:
            p, q = prime(self.job.bits // 2), prime(self.job.bits // 2)
            if p != q:
                return p.to_bytes(h) + q.to_bytes(h)

    def keygen(self, item: bytes) -> bytes:
        pair, h = self.prime_pair(item), self.job.prime_size
        p, q = int.from_bytes(pair[:h]), int.from_bytes(pair[h:])
        d = pow(65537, -1, math.lcm(p - 1, q - 1))
        return pair + d.to_bytes(self.job.size)

    def totient(self, item: bytes) -> bytes:
        h, k = self.job.prime_size, self.job.size
        p, q = int.from_bytes(item[:h]), int.from_bytes(item[h:])
        return (p * q).to_bytes(k) + ((p - 1) * (q - 1)).to_bytes(k)

    def private_exponent(self, item: bytes) -> bytes:
        assert isinstance(self.job.exponent, int)
        return pow(self.job.exponent, -1, int.from_bytes(item)).to_bytes(self.job.size)

    def text_encrypt(self, item: bytes) -> bytes:
        step = self.job.block_symbols
        return b"".join(self.public(item[at : at + step]) for at in range(0, len(item), step))

    def text_decrypt(self, item: bytes) -> bytes:
        step, k, text = self.job.block_symbols, self.job.size, b""
        for at in range(0, len(item), k):
            length = min(step, self.job.symbols - len(text))
            text += pow(int.from_bytes(item[at : at + k]), self.key.d, self.key.n).to_bytes(length)
        return text

    def padded(self, digest: bytes) -> bytes:
        info = bytes.fromhex("3031300d060960864801650304020105000420") + digest
        return b"\0\1" + b"\xff" * (self.job.size - len(info) - 3) + b"\0" + info

    def sign(self, item: bytes) -> bytes:
        return self.private(self.padded(item))

    def verify(self, item: bytes) -> bytes:
        digest, signature = item[:32], item[32:]
        is_valid = int.from_bytes(signature) < self.key.n and self.public(signature) == self.padded(digest)
        return bytes([is_valid])

    def prime_search(self, item: bytes) -> bytes:
        h = self.job.prime_size
        candidates = (item[at : at + h] for at in range(0, len(item), h))
        primes = (candidate for candidate in candidates if is_prime(int.from_bytes(candidate)))
        return next(primes) + next(primes)
