"""Audits of many keys: what is weak, broken or damaged, and which share a prime.

    from rsalab import audit

    report = audit.run("issued/", ignore=["duplicate-key"])
    for finding in report.findings:
        print(finding.severity, finding.rule, finding.places[0].file, finding.what)
    assert report.worst is None or report.worst < audit.Severity.MEDIUM

The program rsalab does it (rsalab.study says where it is looked for): `rsalab audit`, whose formats and findings are
these. Nothing secret is in a report.
"""

from __future__ import annotations

import enum
import json
import operator
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

from . import _program
from .errors import ArgumentError

__all__ = ["Finding", "Key", "Place", "Report", "Severity", "Summary", "read", "rules", "run"]


class Severity(enum.IntEnum):
    """How bad a finding is."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Place:
    """A place that a finding is about; where a file has several keys, the line, row, PEM block or number of the key."""

    file: str
    line: int | None = None
    block: int | None = None
    key: int | None = None
    row: int | None = None


@dataclass(frozen=True)
class Key:
    """A key that a finding is about: SHA-256 of its SubjectPublicKeyInfo, as `rsalab key check` shows it."""

    fingerprint: str
    bits: int


@dataclass(frozen=True)
class Finding:
    """Something that was found, what to do about it, and who found such first."""

    rule: str
    severity: Severity
    what: str
    places: tuple[Place, ...]
    keys: tuple[Key, ...]
    remedy: str
    source: str


@dataclass(frozen=True)
class Summary:
    """Numbers of an audit. Files without keys are those of folders that do not look like a key, either; foreign keys
    are of other algorithms, and are not examined."""

    files: int
    without_keys: int
    keys: int
    private: int
    moduli: int
    foreign: int


@dataclass(frozen=True)
class Report:
    """What was found, the most severe first."""

    findings: tuple[Finding, ...]
    summary: Summary

    @property
    def worst(self) -> Severity | None:
        """The worst severity; None if nothing was found."""
        return max((finding.severity for finding in self.findings), default=None)


def run(
    *paths: str | os.PathLike[str],
    ignore: Iterable[str] = (),
    blocklists: Iterable[str | os.PathLike[str]] = (),
    column: str | None = None,
    password_file: str | os.PathLike[str] | None = None,
    rounds: SupportsIndex = 8,
    large_keys: bool = False,
    threads: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
    scratch: str | os.PathLike[str] | None = None,
    against: str | os.PathLike[str] | None = None,
    add: bool = False,
    save: str | os.PathLike[str] | None = None,
) -> Report:
    """Audits files and folders.

    ignore: rules whose findings are passed over; rules() has all of them.
    blocklists: lists of known keys, or folders of lists: Debian's, or SHA-256 of SubjectPublicKeyInfo in hexadecimal.
    column: the name of the column of moduli in tables.
    password_file: a file whose first line is the password of encrypted keys; without it, they are not examined.
    rounds: of the Miller-Rabin test for each prime of a private key.
    large_keys: examines keys of more than 8192 bits, too.
    memory: bytes that it may take; with less than all keys need together, it takes longer.
    scratch: a folder for what does not fit the memory, where a search that was killed goes on.
    save: a new folder for the keys; another audit compares its keys with them (against), and may add its own (add).

    Raises ArgumentError, ProgramError (a path is not there), ProgramNotFoundError.
    """
    if not paths:
        raise ArgumentError("an audit needs a file or a folder at least")
    options: list[tuple[str, str]] = [("--ignore", rule) for rule in ignore]
    options += [("--blocklist", _program.operand(path)) for path in blocklists]
    options.append(("--rounds", str(operator.index(rounds))))
    if column is not None:
        options.append(("--column", column))
    if password_file is not None:
        options.append(("--password-file", _program.operand(password_file)))
    if threads is not None:
        options.append(("--threads", str(operator.index(threads))))
    if memory is not None:
        options.append(("--memory", str(operator.index(memory))))
    for name, path in (("--scratch", scratch), ("--against", against), ("--save", save)):
        options += [] if path is None else [(name, _program.operand(path))]
    words = [f"{option}={value}" for option, value in options]
    words += ["--add"] if add else []
    words += ["--large-keys"] if large_keys else []
    named = [_program.operand(path) for path in paths]
    return _report(_program.run(["audit", "--json", "--quiet", "--fail-on=never", *words, "--", *named]))


def read(path: str | os.PathLike[str]) -> Report:
    """Reads what `rsalab audit --json` has printed, or rsalab.ray.audit has made.

    Raises ArgumentError (it is none), OSError.
    """
    try:
        return _report(Path(path).read_text(encoding="utf-8"))
    except (KeyError, TypeError, ValueError) as wrong:
        raise ArgumentError(f"{os.fspath(path)} has no findings of an audit") from wrong


def _report(printed: str) -> Report:
    *findings, last = (json.loads(line) for line in printed.splitlines())
    names = Summary.__dataclass_fields__
    numbers = {name: number for name, number in last["summary"].items() if name in names}
    return Report(tuple(map(_finding, findings)), Summary(**numbers))


def _finding(line: dict[str, Any]) -> Finding:
    return Finding(
        rule=line["finding"],
        severity=Severity[line["severity"].upper()],
        what=line["what"],
        places=tuple(Place(**place) for place in line["places"]),
        keys=tuple(Key(**key) for key in line["keys"]),
        remedy=line["remedy"],
        source=line["source"],
    )


def rules() -> dict[str, str]:
    """Everything that an audit looks for: the names of rules, each with its title."""
    return {rule["finding"]: rule["title"] for rule in json.loads(_program.run(["audit", "--rules", "--json"]))}
