"""Files of many new keys: a folder, or a set of JSON Web Keys with the set of the public ones.

    rsalab.write_jwk_set("keys.json", rsalab.generate_many(10, [2048, 4096]))    # and keys.pub.json
    rsalab.generate_folder("keys", 1000, public=True)                            # key-000001.pem, .pub.pem, …

Files of private keys are readable by their owner only, and nothing that exists is overwritten.
"""

from __future__ import annotations

import operator
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, SupportsIndex

from . import _program
from ._rsalab import PrivateKey
from .errors import ArgumentError
from .jwk import jwk_set

__all__ = ["generate_folder", "write_jwk_set"]

_FORMATS = ("pkcs8-pem", "pkcs8-der", "pkcs1-pem", "pkcs1-der", "jwk", "openssh")


def write_jwk_set(path: str | os.PathLike[str], keys: Iterable[PrivateKey], *, public: bool = True) -> None:
    """Writes private keys to a new file, as a set of JSON Web Keys (RFC 7517), and unless public is False the public
    keys to another one next to it: keys.pub.json for keys.json. Each file appears whole, or not at all.

    keys: any, of any sizes, such as those of generate_many.

    Raises FileExistsError, other errors of the system's, and what the keys raise.
    """
    own = Path(path)
    others = own.with_name(f"{own.stem}.pub{own.suffix}")
    for taken in (own, others) if public else (own,):
        # Before keys are made: what is written below finds it out for certain.
        if taken.exists() or taken.is_symlink():
            raise FileExistsError(f"{taken} exists, and nothing is overwritten")
    made = list(keys)
    if public:
        _place(others, jwk_set(made, public=True), 0o644)
    try:
        _place(own, jwk_set(made), 0o600)
    except BaseException:
        if public:
            others.unlink()
        raise


def _place(path: Path, text: str, mode: int) -> None:
    """Writes a new file, which gets its name when it is whole."""
    descriptor, draft = tempfile.mkstemp(prefix=".draft-", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.link(draft, path)
    finally:
        os.unlink(draft)


def generate_folder(
    path: str | os.PathLike[str],
    count: SupportsIndex,
    bits: SupportsIndex | Iterable[SupportsIndex] = 2048,
    e: SupportsIndex = 65537,
    *,
    primes: SupportsIndex = 2,
    threads: SupportsIndex | None = None,
    format: Literal["pkcs8-pem", "pkcs8-der", "pkcs1-pem", "pkcs1-der", "jwk", "openssh"] = "pkcs8-pem",
    public: bool = False,
    insecure_size: bool = False,
) -> None:
    """Makes count new keys in a folder: what `rsalab keygen --out path/ --count count` makes, by the program rsalab
    (rsalab.study says where it is looked for), and in its process.

    The folder has key-000001.pem and so on, manifest.jsonl, and, if public, key-000001.pub.pem next to each. One that
    was left incomplete, by Ctrl-C or otherwise, is completed by the same call.

    bits: one size; or several, for count keys of each in a folder of its own, such as path/2048.
    insecure_size: allows fewer than 2048 bits, which protect nothing.

    Raises ArgumentError, ProgramError, ProgramNotFoundError.
    """
    if format not in _FORMATS:
        raise ArgumentError(f"a format is one of {', '.join(_FORMATS)}")
    if isinstance(bits, SupportsIndex):
        folders = {operator.index(bits): Path(path)}
    else:
        folders = {operator.index(size): Path(path) / str(operator.index(size)) for size in bits}
        Path(path).mkdir(exist_ok=True)
    options = {"--count": count, "--e": e, "--primes": primes}
    if threads is not None:
        options["--threads"] = threads
    words = [word for option, value in options.items() for word in (option, str(operator.index(value)))]
    words += ["--format", format, *(["--public"] if public else []), *(["--insecure-size"] if insecure_size else [])]
    for size, folder in folders.items():
        into = os.path.join(_program.operand(folder), "")
        _program.follow(["keygen", "--bits", str(size), "--out", into, *words], lambda _line: None)
