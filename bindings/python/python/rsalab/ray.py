"""Keys, studies and audits in parts, as tasks of a Ray cluster.

    import ray, rsalab.ray

    ray.init(address="auto")
    rsalab.ray.keygen("keys", 1_000_000, parts=200, bits=3072)         # keys/keys.tar, by way of keys/parts
    rsalab.ray.study("results/peers", "peers", parts=12)               # results/peers/whole, with its report
    rsalab.ray.audit("audit", ["/shared/moduli.txt"], parts=8)         # audit/findings.jsonl
    rsalab.ray.keygen("s3://bucket/keys", 1_000_000, parts=200)        # in an object store that fsspec knows

A task makes one part (`rsalab keygen --shard`, `rsalab study --shard`, `rsalab audit --shard`) with the program rsalab
of its node, which must have this package. What a task has made comes back to the caller, who writes it, so that nodes
need no common folder. A task whose node is lost is done again by another; one that is done is never done again, also
by a later call of the same function with the same arguments. A call with others is refused where an earlier one's files
are. The whole is made by `rsalab merge` or `rsalab audit merge`, which compare checksums first.

Private keys pass through the memory and the network of the cluster, as everything of its tasks does.

A path with a scheme, such as s3://, is one of an object store, by the package fsspec and its package for the scheme.
Parts are kept there, and the whole is merged in a temporary folder of the caller's. A store keeps no permissions: who
may read private keys in it is the store's own setting.

Needs the package ray: pip install 'rsalab[ray]'.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import operator
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

from . import _program
from ._place import Place, place, write
from .errors import ArgumentError, ExtraMissingError

__all__ = ["audit", "keygen", "study"]

# Tasks that wait, for each that the cluster has CPUs for: enough that no CPU waits for the caller, few enough that what
# they have made does not fill its memory.
_AHEAD = 2
# How often a task is done again after its node was lost.
_RETRIES = 10
# The file that says of which job the parts are.
_JOB = "job.json"

Files = dict[str, bytes]


def keygen(
    path: str | os.PathLike[str],
    count: SupportsIndex,
    *,
    parts: SupportsIndex,
    bits: SupportsIndex = 2048,
    options: Sequence[str] = (),
    cpus: SupportsIndex = 1,
    resources: Mapping[str, float] | None = None,
    index: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Path | str:
    """Makes count new keys in so many parts. Returns the archive path/keys.tar, whose parts are removed once it is
    whole; or, with index, path/keys.jsonl, which says in which archive of path/parts each key is.

    options: more options of `rsalab keygen`, such as ["--public"].
    cpus, resources: what Ray reserves for a task; it makes keys on so many threads.
    progress: is called with the parts that are done and with all of them.

    Raises ArgumentError, ProgramError, ExtraMissingError.
    """
    cpus = operator.index(cpus)
    words = ["keygen", "--bits", str(operator.index(bits)), "--count", str(operator.index(count)), *options]
    into = place(path)
    whole = "keys.jsonl" if index else "keys.tar"
    parts = operator.index(parts)
    job = _job(into, words, parts)
    words += ["--threads", str(cpus), "--quiet"]

    def names(number: int) -> list[str]:
        return [f"{number}.tar", f"{number}.tar.json"]

    if not into.exists(whole):
        made = _parts(
            into,
            job,
            parts,
            names,
            lambda number: [*words, "--out", f"{number}.tar"],
            cpus,
            resources,
            progress,
        )
        into.merge(["merge"], made, whole, whole)
    # Also what an earlier call left that ended here: private keys. An index has its keys in the parts.
    if not index and not into.exists("keys.jsonl"):
        for file in (f"parts/{name}" for number in range(1, parts + 1) for name in names(number)):
            if into.exists(file):
                into.remove(file)
    return into.path(whole)


def study(
    path: str | os.PathLike[str],
    plan: str | os.PathLike[str],
    *,
    parts: SupportsIndex,
    seed: str | None = None,
    options: Sequence[str] = (),
    cpus: SupportsIndex = 1,
    resources: Mapping[str, float] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path | str:
    """Runs a study in so many parts, each of some of its groups of cells. Returns the directory path/whole, which
    rsalab.study.Study opens.

    plan: a preset or the path of a plan file.
    seed: 64 hexadecimal digits; a new one if None.
    options: more options of `rsalab study`, such as ["--engines", "own,openssl"].
    cpus, resources: what Ray reserves for a task. Measurements want a node for themselves: name all of its CPUs. All
        tasks must run on one kind of CPU, which resources can name; studies of several kinds are compared by
        `rsalab compare`.
    progress: is called with the parts that are done and with all of them.

    Raises ArgumentError, ProgramError, ExtraMissingError.
    """
    into = place(path)
    last = "whole/report.html"
    parts = operator.index(parts)
    job = _job(into, ["study", os.fspath(plan), seed or "", *options], parts)
    if into.exists(last):
        return into.path("whole")
    if not into.exists("plan.toml"):
        text = _program.run(["study", os.fspath(plan), "--print-plan", "--seed", seed or secrets.token_hex(32), *options])
        into.write(_JOB, job)
        into.write("plan.toml", text.encode())
    planned = into.read("plan.toml")
    unoptimised = ["--allow-unoptimised"] if "--allow-unoptimised" in options else []
    made = _parts(
        into,
        job,
        parts,
        lambda number: [f"{number}/study.db", f"{number}/part.json"],
        lambda number: ["study", "plan.toml", "--quiet", *unoptimised, "--out", str(number)],
        operator.index(cpus),
        resources,
        progress,
        {"plan.toml": planned},
    )
    into.merge(["merge"], made, "whole", last)
    return into.path("whole")


def audit(
    path: str | os.PathLike[str],
    files: Sequence[str | os.PathLike[str]],
    *,
    parts: SupportsIndex,
    options: Sequence[str] = (),
    scratch: str | os.PathLike[str] | None = None,
    cpus: SupportsIndex = 1,
    resources: Mapping[str, float] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path | str:
    """Audits files and folders in so many parts, each of which examines its share of the keys and compares it with all.
    Returns path/findings.jsonl, which rsalab.audit.read reads.

    files: must be there under these names on all nodes.
    options: more options of `rsalab audit`, such as ["--memory", "4G"].
    scratch: a folder that all nodes see, in which parts find the products that others have computed; without one each
        part computes all of them. It may be removed afterwards.
    cpus, resources: what Ray reserves for a task; it works on so many threads.
    progress: is called with the parts that are done and with all of them.

    Raises ArgumentError, ProgramError, ExtraMissingError.
    """
    if not files:
        raise ArgumentError("an audit needs a file or a folder at least")
    cpus = operator.index(cpus)
    into = place(path)
    whole = "findings.jsonl"
    parts = operator.index(parts)
    paths = [str(Path(file).absolute()) for file in files]
    job = _job(into, ["audit", *options, *paths], parts)
    if into.exists(whole):
        return into.path(whole)
    words = ["audit", *options, "--threads", str(cpus), "--quiet"]
    words += [] if scratch is None else ["--scratch", str(Path(scratch).absolute())]
    words += paths
    made = _parts(
        into,
        job,
        parts,
        lambda number: [f"{number}.audit", f"{number}.audit.json"],
        lambda number: [*words, "--out", f"{number}.audit"],
        cpus,
        resources,
        progress,
    )
    into.merge(["audit", "merge", "--json", "--fail-on", "never"], made, whole, whole)
    return into.path(whole)


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError as missing:
        raise ExtraMissingError("rsalab.ray needs the package ray: pip install 'rsalab[ray]'") from missing


def _job(into: Place, words: Sequence[str], parts: int) -> bytes:
    """What tells a job from others: a digest, since options may have a seed in them. Refuses a place with another one's
    files, which would else be taken for this one's."""
    digest = hashlib.sha256(json.dumps([parts, *words], default=os.fspath).encode()).hexdigest()
    # An audit of the folder would take the digits alone for a modulus.
    job = json.dumps({"job": digest}).encode()
    if into.exists(_JOB) and into.read(_JOB) != job:
        raise ArgumentError(
            f"{into.path(_JOB)} is of a call with other arguments: name another path, or remove what that call made"
        )
    return job


def _parts(
    into: Place,
    job: bytes,
    parts: int,
    names: Callable[[int], list[str]],
    words: Callable[[int], list[str]],
    cpus: int,
    resources: Mapping[str, float] | None,
    progress: Callable[[int, int], object] | None,
    files: Files | None = None,
) -> list[list[str]]:
    """Has every part made that is not there yet. Returns the names of each one's files, the manifest last."""
    if parts < 1:
        raise ArgumentError("there is one part at least")
    ray = _ray()
    if not ray.is_initialized():
        ray.init()
    files_of = {number: [f"parts/{name}" for name in names(number)] for number in range(1, parts + 1)}
    # The manifest is written last: what has one is whole.
    missing = [number for number, files in files_of.items() if not into.exists(files[-1])]
    make = ray.remote(num_cpus=cpus, resources=dict(resources or {}), max_retries=_RETRIES)(_make)
    running: dict[Any, int] = {}
    done = parts - len(missing)
    while missing or running:
        room = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)) // cpus)
        while missing and len(running) < room:
            number = missing.pop(0)
            task = make.remote([*words(number), "--shard", f"{number}/{parts}"], names(number), files or {})
            running[task] = number
        ready, _ = ray.wait(list(running), num_returns=1, timeout=60)
        for task in ready:
            number = running.pop(task)
            try:
                results: Files = ray.get(task)
            except ray.exceptions.RayTaskError as failed:
                raise failed.cause from failed
            # Not before there is a part: a call that made nothing may be mended.
            if not into.exists(_JOB):
                into.write(_JOB, job)
            for file, name in zip(files_of[number], names(number), strict=True):
                into.write(file, results[name])
            done += 1
            if progress is not None:
                progress(done, parts)
        del ready
    return list(files_of.values())


def _make(words: list[str], names: Iterable[str], files: Files) -> Files:
    """The work of a task: runs the program in a folder of its own, and returns what it has made."""
    here = tempfile.mkdtemp(prefix="rsalab-part-")
    program = _program.find()
    try:
        for name, content in files.items():
            write(Path(here) / name, content)
        # Ray may kill the process of a task, and have the part made elsewhere.
        ended = subprocess.run(
            _program.tied(program, words),
            cwd=here,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        if ended.returncode:
            raise _program.failure(words[0], ended.returncode, ended.stderr.splitlines())
        return {name: (Path(here) / name).read_bytes() for name in names}
    finally:
        shutil.rmtree(here, ignore_errors=True)
