"""The worker's end of the protocol, for an engine that is a class: docs/src/reference/worker-protocol.md."""

from __future__ import annotations

import json
import os
import queue
import resource
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from .engine import MAKES, TEXTS, Engine, Job, Key

PROTOCOL = 1
_MAX_LINE = (1 << 30) + (1 << 20)
# How long a request in progress may go on after the coordinator is gone.
_GRACE_S = 2.0
_MAX_SAMPLES = 1 << 20

# What an engine may say of itself. Whose threads and clock they are is not up to it.
_CONDITIONS = set("crt blinding result_check constant_time rounds sieve exponent padding setup lanes".split())

Answer = dict[str, Any]


class Refusal(Exception):
    """A request that failed, as data."""

    def __init__(self, kind: str, message: str, item: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.item = item

    def answer(self) -> Answer:
        item = {} if self.item is None else {"item": self.item}
        return {"answer": "error", "kind": self.kind, "message": str(self), **item}


def serve(engine: type[Engine]) -> None:
    """Answers requests until `quit`, or the end of the input."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What an engine prints is for people, and no answer.
    os.dup2(2, 1)
    worker = Worker(engine)
    for line in _lines(requests):
        answer = worker.answer_to(line)
        answers.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        answers.flush()
        if answer["answer"] == "bye":
            break


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines, read by a thread of its own: it sees the end of the input while an engine is at work, and ends the
    process."""
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def read() -> None:
        while line := source.readline(_MAX_LINE):
            lines.put(line)
        lines.put(None)
        time.sleep(_GRACE_S)
        os._exit(5)

    threading.Thread(target=read, daemon=True).start()
    while (line := lines.get()) is not None:
        if line.strip():
            yield line


class Worker:
    """An engine at one end of a pipe."""

    def __init__(self, engine: type[Engine]) -> None:
        self._class = engine
        self._prepared: Prepared | None = None
        self._cpus = _allowed_cpus()

    def answer_to(self, line: bytes) -> Answer:
        """The answer to a line."""
        try:
            return self._answer(*_request(line))
        except Refusal as refusal:
            return refusal.answer()
        except Exception as error:
            traceback.print_exc()
            return Refusal("library", _blamed(error)).answer()

    def _answer(self, name: str, request: Mapping[str, Any]) -> Answer:
        match name:
            case "hello":
                return {"answer": "hello", "protocol": PROTOCOL, "pid": os.getpid(), "engine": self._info()}
            case "supports":
                job = _job(request)
                reason = self._refused(self._class(), job)
                if reason is not None:
                    return {"answer": "unsupported", "reason": reason}
                return {"answer": "supported", "ledger": self._ledger(self._class(), job)}
            case "prepare":
                self._release()
                return self._prepare(_job(request), _key(request), _inputs(request))
            case "release":
                self._release()
                return {"answer": "released"}
            case "quit":
                return {"answer": "bye"}
            case _:
                pass
        if self._prepared is None:
            raise Refusal("sequence", f"'{name}' needs a prepared job")
        if name == "outputs":
            return {"answer": "outputs", "outputs": self._prepared.outputs().hex()}
        return self._prepared.block(request["plan"])

    def _info(self) -> Answer:
        engine = self._class
        origin = (
            engine.origin or (engine.__doc__ or "").strip().partition("\n")[0] or f"the class {engine.__qualname__}"
        )
        return {
            "name": engine.engine_name(),
            "version": engine.version,
            "origin": origin,
            "cpu_path": None,
            "variants": list(engine.variants),
            "optimised": True,
        }

    def _refused(self, engine: Engine, job: Job) -> str | None:
        if job.threads > 1:
            return "this engine works on one thread"
        if job.bare:
            return "this engine has no bare variant"
        if job.variant is not None and job.variant not in engine.variants:
            return f"this engine has no variant '{job.variant}'"
        return engine.supports(job)

    def _ledger(self, engine: Engine, job: Job) -> Answer:
        ledger = {"setup": "whatever prepare() does", "lanes": 1, "threads": "engine", "clock": "engine"}
        if job.op not in ("private", "sign", "text_decrypt", "prime_search", "totient"):
            ledger["exponent"] = job.exponent
        if job.op in ("sign", "verify"):
            ledger["padding"] = "PKCS#1 v1.5 with SHA-256, of a digest"
        stated = engine.conditions(job)
        unknown = sorted(set(stated) - _CONDITIONS)
        if unknown:
            raise Refusal("library", f"a ledger has no {', '.join(unknown)}; it has {', '.join(sorted(_CONDITIONS))}")
        return {**ledger, **stated}

    def _prepare(self, job: Job, key: Key | None, inputs: bytes) -> Answer:
        engine = self._class()
        reason = self._refused(engine, job)
        if reason is not None:
            raise Refusal("unsupported", reason)
        items = _items(job, key, inputs)
        cpus = self._cpus[:1]
        if cpus:
            os.sched_setaffinity(0, cpus)
        try:
            engine.prepare(job, key)
        except BaseException:
            self._release()
            raise
        self._prepared = Prepared(engine, job, items)
        return {"answer": "prepared", "kernel": engine.kernel, "cpus": cpus, "oversubscribed": False}

    def _release(self) -> None:
        self._prepared = None
        if self._cpus:
            os.sched_setaffinity(0, self._cpus)


class Prepared:
    """A job made ready."""

    def __init__(self, engine: Engine, job: Job, items: list[bytes]) -> None:
        self._engine = engine
        self._job = job
        self._batches = [items[at : at + job.batch] for at in range(0, len(items), job.batch)]
        self._first: list[list[bytes]] | None = None
        self._next = 0

    def outputs(self) -> bytes:
        """Every item once, untimed."""
        results = [self._checked(number, self._engine.run_many(batch)) for number, batch in enumerate(self._batches)]
        if self._job.op not in MAKES:
            if self._first is None:
                self._first = results
            self._compare(results, range(len(results)))
        return b"".join(result for batch in results for result in batch)

    def block(self, plan: Mapping[str, Any]) -> Answer:
        """Samples: calls without a pause, each timed, and compared outside of the time."""
        if self._first is None and self._job.op not in MAKES:
            self.outputs()
        made: list[bytes] = []
        samples = Samples(min(max(1, plan["max_samples"]), _MAX_SAMPLES))
        discarded = 0
        used, started = resource.getrusage(resource.RUSAGE_SELF), time.monotonic_ns()
        while time.monotonic_ns() - started < plan["discard_ns"]:
            discarded += self._call(made)[1]
        begun, calls = time.monotonic_ns(), 0
        while True:
            samples.add(*self._call(made))
            calls += 1
            wanted = plan.get("calls")
            if calls >= wanted if wanted is not None else time.monotonic_ns() - begun >= plan["min_ns"]:
                break
        elapsed, now = time.monotonic_ns() - started, resource.getrusage(resource.RUSAGE_SELF)
        return {
            "answer": "block",
            "block": {
                "samples": samples.taken(),
                "discarded_operations": discarded,
                "started_ns": started,
                "elapsed_ns": elapsed,
            },
            "outputs": b"".join(made).hex(),
            "cpu": {
                "user_ns": round((now.ru_utime - used.ru_utime) * 1e9),
                "system_ns": round((now.ru_stime - used.ru_stime) * 1e9),
            },
        }

    def _call(self, made: list[bytes]) -> tuple[int, int]:
        """One call: its nanoseconds, and its operations."""
        number, run, clock = self._next, self._engine.run_many, time.perf_counter_ns
        batch = self._batches[number]
        began = clock()
        results = run(batch)
        elapsed = clock() - began
        results = self._checked(number, results)
        self._next = (number + 1) % len(self._batches)
        if self._job.op in MAKES:
            made += results
        else:
            self._compare([results], range(number, number + 1))
        return max(1, elapsed), len(batch)

    def _checked(self, number: int, results: Sequence[object]) -> list[bytes]:
        """The results of a batch, if they have the right number, type and lengths."""
        batch, due = self._batches[number], self._job.output_size
        if len(results) != len(batch):
            raise Refusal("library", f"run_many() returned {len(results)} results for {len(batch)} items")
        checked: list[bytes] = []
        for place, result in enumerate(results):
            if not isinstance(result, bytes | bytearray) or len(result) != due:
                what = f"{len(result)} bytes" if isinstance(result, bytes | bytearray) else type(result).__name__
                item = number * self._job.batch + place
                raise Refusal("library", f"{due} bytes are due for '{self._job.op}', and {what} came", item)
            checked.append(bytes(result))
        return checked

    def _compare(self, results: list[list[bytes]], batches: range) -> None:
        """Compares what batches gave with the first run over them."""
        assert self._first is not None
        for number, batch in zip(batches, results, strict=True):
            for place, (result, first) in enumerate(zip(batch, self._first[number], strict=True)):
                if result != first:
                    item = number * self._job.batch + place
                    raise Refusal("mismatch", f"input {item} gave another output than in the first run", item)


class Samples:
    """Samples within a limit that is kept by merging neighbours, so that every call is counted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: list[list[int]] = []
        self._each = 1
        self._in_last = 0

    def add(self, elapsed_ns: int, operations: int) -> None:
        if self._taken and self._in_last < self._each:
            self._taken[-1][0] += elapsed_ns
            self._taken[-1][1] += operations
            self._in_last += 1
            return
        if len(self._taken) == self._most:
            self._halve()
            self.add(elapsed_ns, operations)
            return
        self._taken.append([elapsed_ns, operations])
        self._in_last = 1

    def _halve(self) -> None:
        halved = [list(map(sum, zip(*self._taken[at : at + 2], strict=True))) for at in range(0, len(self._taken), 2)]
        # The last one may have no neighbour yet.
        self._in_last = self._each if len(self._taken) % 2 else 2 * self._each
        self._taken, self._each = halved, 2 * self._each

    def taken(self) -> list[Answer]:
        return [{"elapsed_ns": elapsed, "tsc_ticks": None, "operations": count} for elapsed, count in self._taken]


def _request(line: bytes) -> tuple[str, Mapping[str, Any]]:
    """A line's request. What is wrong with it is not repeated: it may hold a key."""
    needed = {
        "hello": ("protocol",),
        "supports": ("job",),
        "prepare": ("job", "keys", "inputs"),
        "block": ("plan",),
        "outputs": (),
        "release": (),
        "quit": (),
    }
    column = 0
    try:
        request = json.loads(line)
        fields = needed[request["request"]]
        if all(field in request for field in fields):
            return request["request"], request
    except json.JSONDecodeError as error:
        column = error.pos + 1
    except (KeyError, TypeError, ValueError):
        pass
    raise Refusal("malformed", f"the line is no request of protocol {PROTOCOL} (column {column})")


# Python's exceptions repeat what they could not read, and a key or an input may be in it.
_UNREAD = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def _job(request: Mapping[str, Any]) -> Job:
    try:
        return Job.of(request["job"])
    except _UNREAD:
        raise Refusal("malformed", "the job of the request cannot be read") from None


def _key(request: Mapping[str, Any]) -> Key | None:
    """The first key of the request, if it has one."""
    try:
        keys = request["keys"]
        return Key.of(keys[0]) if keys else None
    except _UNREAD:
        raise Refusal("malformed", "the key of the request cannot be read") from None


def _inputs(request: Mapping[str, Any]) -> bytes:
    try:
        return bytes.fromhex(request["inputs"])
    except _UNREAD:
        raise Refusal("malformed", "the inputs of the request are no hexadecimal digits") from None


def _items(job: Job, key: Key | None, inputs: bytes) -> list[bytes]:
    """The items of a job, which are whole, and blocks smaller than the modulus."""
    if job.op in MAKES:
        if inputs:
            raise Refusal("length", f"'{job.op}' takes no inputs, and {len(inputs)} bytes came")
        return [b""] * job.batch
    size = job.input_size
    if job.op in TEXTS:
        if len(inputs) != size:
            raise Refusal("length", f"the text has {len(inputs)} bytes, and {size} are due")
        items = [inputs]
    else:
        if not inputs or len(inputs) % size:
            raise Refusal("length", f"the inputs have {len(inputs)} bytes, which is no number of items of {size}")
        items = [inputs[at : at + size] for at in range(0, len(inputs), size)]
    takes_key = job.op in ("private", "public", "sign", "verify", *TEXTS)
    if takes_key and (key is None or key.bits != job.bits):
        raise Refusal("key", f"a key of {job.bits} bits is due")
    if key is not None and job.op in ("private", "public", "text_decrypt"):
        k = job.size
        blocks = (item[at : at + k] for item in items for at in range(0, len(item), k))
        for number, block in enumerate(blocks):
            if int.from_bytes(block) >= key.n:
                raise Refusal("input_out_of_range", f"input {number} is not smaller than the modulus", number)
    return items


def _allowed_cpus() -> list[int]:
    """The CPUs that this process may run on; none where the system does not pin."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _blamed(error: Exception) -> str:
    """An exception of an engine's, with the place in its source."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
