"""An engine of your own, as a class: it takes part in a study beside the others.

    from rsalab.engine import Engine, Job, Key
    from rsalab.study import Study

    class PythonPow(Engine):
        "Python's pow"

        operations = ("private", "public")

        def prepare(self, job: Job, key: Key | None) -> None:      # not timed
            self.n, self.power = key.n, key.d if job.op == "private" else key.e

        def run(self, item: bytes) -> bytes:                       # timed
            return pow(int.from_bytes(item), self.power, self.n).to_bytes(len(item))

    Study.run("quick", engines=["own", PythonPow])

It is measured in a process of its own, as every engine is; the coordinator checks its answers by other means. The
protocol (docs/src/reference/worker-protocol.md) is spoken here. An engine in a file of its own, `rsalab-peer-NAME` next
to the program, ends with `main(PythonPow)`.

What an item is depends on the operation. With k the bytes of the modulus and h those of a prime, integers big-endian:

    operation           item                        result
    private, public     block, k                    block, k
    keygen              nothing                     p, q, d: h + h + k
    prime_pair          nothing                     p, q: h + h
    totient             p, q: h + h                 n, phi(n): k + k
    private_exponent    phi(n), k                   d, k
    text_encrypt        the whole text              k for each block of job.block_symbols
    text_decrypt        the ciphertext              the text
    sign                SHA-256 digest, 32          PKCS#1 v1.5 signature, k
    verify              digest, signature: 32 + k   1 if the signature is valid, else 0: one byte
    prime_search        candidates of h each        the first two that are prime: h + h
"""

from __future__ import annotations

import math
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

__all__ = ["Engine", "Job", "Key", "main"]

MAKES = ("keygen", "prime_pair")
TEXTS = ("text_encrypt", "text_decrypt")


@dataclass(frozen=True)
class Job:
    """What is to be measured."""

    op: str
    """The operation."""
    bits: int
    """Bits of the modulus."""
    threads: int
    """Threads that run at once."""
    batch: int
    """Items handed over in one call."""
    mode: Literal["latency", "throughput", "concurrent"]
    """Which question is asked."""
    exponent: int | Literal["random"]
    """The public exponent, or that each key has one of its own."""
    variant: str | None = None
    """One of the engine's variants; none for its default."""
    bare: bool = False
    """Without blinding and check: of rsalab's own engine."""
    message_bits: int | None = None
    """How long the messages are, where that is asked for."""
    symbols: int = 0
    """Bytes of a whole text."""
    block_symbols: int = 0
    """Bytes of text in a block."""

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Job:
        """The job of a request."""
        known = Job.__dataclass_fields__
        return Job(**{name: value for name, value in fields.items() if name in known})

    @property
    def size(self) -> int:
        """Bytes of the modulus."""
        return (self.bits + 7) // 8

    @property
    def prime_size(self) -> int:
        """Bytes of a prime."""
        return ((self.bits + 1) // 2 + 7) // 8

    @property
    def input_size(self) -> int:
        """Bytes of an item; of a text, all of it."""
        k, h = self.size, self.prime_size
        if self.op == "prime_search":
            # Half away from zero, as other languages round.
            return h * 2 * max(1, math.floor(self.bits / 2 * math.log(2) / 2 + 0.5))
        blocks = -(-self.symbols // self.block_symbols) if self.block_symbols else 0
        return {
            "private": k,
            "public": k,
            "totient": 2 * h,
            "private_exponent": k,
            "text_encrypt": self.symbols,
            "text_decrypt": blocks * k,
            "sign": 32,
            "verify": 32 + k,
        }.get(self.op, 0)

    @property
    def output_size(self) -> int:
        """Bytes of a result; of a text, all of it."""
        k, h = self.size, self.prime_size
        blocks = -(-self.symbols // self.block_symbols) if self.block_symbols else 0
        return {
            "keygen": 2 * h + k,
            "prime_pair": 2 * h,
            "totient": 2 * k,
            "text_encrypt": blocks * k,
            "text_decrypt": self.symbols,
            "verify": 1,
            "prime_search": 2 * h,
        }.get(self.op, k)


@dataclass(frozen=True, repr=False)
class Key:
    """A key of a study: made from a seed that is stored with it, and insecure on purpose."""

    bits: int
    n: int
    e: int
    d: int
    p: int
    q: int
    dp: int
    dq: int
    qinv: int

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Key:
        """The key of a request."""
        return Key(
            **{name: fields[name] if name == "bits" else int(fields[name], 16) for name in Key.__dataclass_fields__}
        )


class Engine:
    """An engine: a class of this one, with `operations` and `run`, and what else there is to say."""

    operations: ClassVar[Sequence[str]] = ()
    """The operations that it does."""
    name: ClassVar[str] = ""
    """Its name in plans and tables: lower-case letters, digits, - and _. From the class's name if there is none."""
    version: ClassVar[str] = f"Python {platform.python_version()}"
    """The version of what does the work."""
    origin: ClassVar[str] = ""
    """Where that comes from. The first line of the class's documentation if there is none."""
    kernel: ClassVar[str] = "run"
    """The name of the code that runs."""
    variants: ClassVar[Sequence[str]] = ()
    """Variants that a plan may name (NAME:VARIANT), the default first."""
    ledger: ClassVar[Mapping[str, object]] = {}
    """The conditions of operations with a private key: crt, blinding, result_check, constant_time, each True or False;
    also setup, in words, and lanes, a number. Ratios with engines that work under others are marked."""

    @classmethod
    def engine_name(cls) -> str:
        """The name by which plans call it."""
        return cls.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower().lstrip("_")

    def supports(self, job: Job) -> str | None:
        """Why a job is not done; None if it is. One of `operations` on one thread, unless this is overridden by
        something stricter."""
        if job.op not in self.operations:
            return f"this engine does not do '{job.op}'"
        return None

    def conditions(self, job: Job) -> Mapping[str, object]:
        """The ledger of a job that is done: `ledger` for the operations that use a private key. Others that state more,
        such as rounds and sieve of a search for primes, override this. Entries that are left out do not arise."""
        return self.ledger if job.op in ("private", "sign", "text_decrypt") else {}

    def prepare(self, job: Job, key: Key | None) -> None:
        """Makes ready what is done once, and not timed. key: None for operations that take none."""

    def run(self, item: bytes) -> bytes:
        """Does the operation on one item. Timed."""
        raise NotImplementedError(f"{type(self).__name__} has no method run")

    def run_many(self, items: Sequence[bytes]) -> Sequence[bytes]:
        """Does it on the items of a batch; in its place, if several at once are faster. Timed."""
        return [self.run(item) for item in items]


def main(engine: type[Engine]) -> None:
    """Serves an engine to the coordinator that has started this process, until it is done."""
    from ._worker import serve

    if len(sys.argv) > 1:
        print(f"This is the worker of the engine '{engine.engine_name()}'. rsalab starts it.", file=sys.stderr)
        sys.exit(0 if sys.argv[1] in ("-h", "--help") else 2)
    serve(engine)
