"""INSECURE keys, for tests alone: made from a seed that everybody knows, the same on each machine.

    from rsalab import insecure

    key = insecure.key(2048)
    others = insecure.keys(3, bits=1024)

What is written of them in the form of a JSON Web Key says so. The pytest fixtures rsa_key and rsa_keys (module
rsalab.pytest_plugin) return them.
"""

from __future__ import annotations

import hashlib

from ._rsalab import PrivateKey, insecure_key

__all__ = ["key", "keys"]

_SEED = hashlib.sha256(b"rsalab: insecure keys for tests").digest()
_made: dict[tuple[int, int], PrivateKey] = {}


def key(bits: int = 2048, number: int = 0) -> PrivateKey:
    """The key of so many bits, an even number from 256 to 16384, and of this number, from 0. Made once in a process."""
    made = _made.get((bits, number))
    if made is None or made.closed:
        made = _made[bits, number] = insecure_key(_SEED, number, bits)
    return made


def keys(count: int, bits: int = 2048) -> list[PrivateKey]:
    """The first keys of so many bits."""
    return [key(bits, number) for number in range(count)]
