"""Engines that are classes: the protocol, and a study in which one does every operation."""

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from everything import Everything
from rsalab import _launch, _program, _worker, insecure
from rsalab.engine import Engine, Job, Key
from rsalab.errors import ArgumentError
from rsalab.study import Study, engines

KEY = insecure.key(512)


class PythonPow(Engine):
    """Python's pow"""

    operations = ("private", "public")

    def prepare(self, job: Job, key: Key | None) -> None:
        assert key is not None
        self.n, self.power = key.n, key.d if job.op == "private" else key.e

    def run(self, item: bytes) -> bytes:
        return pow(int.from_bytes(item), self.power, self.n).to_bytes(len(item))


def test_a_class_takes_part_in_a_study_and_does_every_operation_right(tmp_path: Path) -> None:
    texts = {
        "operations": ["text_encrypt", "text_decrypt"],
        "engines": ["own", Everything],
        "bits": [512],
        "symbols": [130],
    }
    others = [op for op in Everything.operations if not op.startswith("text")]
    grids = [
        {"operations": others, "engines": ["own", Everything], "bits": [512]},
        {"operations": ["private", "keygen"], "engines": ["own", Everything], "bits": [512], "batch": [3]},
        {"operations": ["private"], "engines": ["own", Everything], "bits": [512], "mode": "throughput"},
        {"operations": ["private"], "engines": ["own", "every_thing:two"], "bits": [512], "exponent": "random"},
        texts,
    ]
    measure = {"budget_s": 0.2, "block_ms": 20, "precision": 0.2}
    study = Study.run({"measure": measure, "grid": grids}, tmp_path / "study", progress=False)
    states = {(cell["op"], cell["batch"], cell["engine"]): (cell["state"], cell["reason"]) for cell in study.cells}
    assert {state for state, _ in states.values()} == {"done"}, states
    assert study.is_complete


def test_classes_replace_the_engines_of_a_preset_or_are_among_the_present(tmp_path: Path) -> None:
    made = Study.run("smoke", tmp_path / "a", engines=["own", PythonPow], seconds=0.1, progress=False)
    assert {cell["engine"] for cell in made.cells} == {"own", "python-pow"}
    grid = {"operations": ["public"], "engines": "present", "bits": [512]}
    plan = {"measure": {"budget_s": 0.1}, "grid": [grid]}
    made = Study.run(plan, tmp_path / "b", register=[PythonPow], progress=False)
    states = {cell["engine"]: cell["state"] for cell in made.cells}
    assert states["python-pow"] == states["textbook"] == "done"


def test_answers_at_every_edge_are_right() -> None:
    with _launch.registered([PythonPow]) as environment:
        said = _program.run(["vectors", "--engines", "python-pow", "--bits", "512,1026"], environment=environment)
    rows = [json.loads(line) for line in said.splitlines()]
    counts = {(row["op"], row["bits"]): row["cases"] for row in rows if not row.get("skipped")}
    assert set(counts) == {(op, bits) for op in ("private", "public") for bits in (512, 1026)}
    assert all(count > 0 for count in counts.values())
    assert not [row for row in rows if row["disagreements"]]


def test_an_engine_is_listed_where_it_is_registered() -> None:
    found = {engine["name"]: engine for engine in engines([PythonPow])}["python-pow"]
    assert found["present"] and found["info"]["origin"] == "Python's pow"
    assert "python-pow" not in {engine["name"] for engine in engines()}


class Wrong(PythonPow):
    """Wrong in the last bit"""

    def run(self, item: bytes) -> bytes:
        right = super().run(item)
        return right[:-1] + bytes([right[-1] ^ 1])


class Failing(PythonPow):
    """Raises"""

    def run(self, item: bytes) -> bytes:
        raise ZeroDivisionError("nothing to divide by")


class Forgetful(PythonPow):
    """Another answer after a while"""

    calls = 0

    def run(self, item: bytes) -> bytes:
        self.calls += 1
        return super().run(item) if self.calls < 150 else bytes(len(item))


class Short(PythonPow):
    """Too few bytes"""

    def run(self, item: bytes) -> bytes:
        return super().run(item)[1:]


class Gone(PythonPow):
    """Ends its process"""

    def run(self, item: bytes) -> bytes:
        os._exit(3)


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (Wrong, "wrong answer to 'private', item 0"),
        (Failing, "ZeroDivisionError: nothing to divide by (test_engine.py, line "),
        (Forgetful, "another output than in the first run"),
        (Short, "64 bytes are due for 'private', and 63 bytes came"),
        (Gone, "exit status: 3"),
    ],
)
def test_a_wrong_engine_fails_with_the_reason_and_the_others_go_on(
    engine: type[Engine], reason: str, tmp_path: Path
) -> None:
    grid = {"operations": ["private"], "engines": ["own", engine], "bits": [512]}
    study = Study.run({"measure": {"budget_s": 0.1}, "grid": [grid]}, tmp_path / "study", progress=False)
    cells = {cell["engine"]: cell for cell in study.cells}
    assert cells["own"]["state"] == "done"
    failed = cells[engine.engine_name()]
    assert failed["state"] == "failed"
    assert reason in str(failed["reason"])


SCRIPT = """
    import math as arithmetic
    from rsalab.engine import Engine
    from rsalab.study import Study

    LIMIT = {"bits": [512]}

    def power(base, exponent, modulus):
        return pow(base, exponent, modulus)

    class InAScript(Engine):
        "Defined in no module"
        operations = ("private",)

        def supports(self, job):
            return super().supports(job) if job.bits in LIMIT["bits"] else "too long"

        def prepare(self, job, key):
            assert arithmetic.gcd(key.p, key.q) == 1
            self.key = key

        def run(self, item):
            return power(int.from_bytes(item), self.key.d, self.key.n).to_bytes(len(item))

    grid = {"operations": ["private"], "engines": ["own", InAScript], "bits": [512]}
    study = Study.run({"measure": {"budget_s": 0.1}, "grid": [grid]}, "study", progress=False)
    print([(cell["engine"], cell["state"], cell["reason"]) for cell in study.cells])
"""


def test_a_class_of_a_script_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    ended = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "[('own', 'done', None), ('in-ascript', 'done', None)]"


def test_what_cannot_be_sent_to_another_process_is_said() -> None:
    class Local(PythonPow):
        pass

    with pytest.raises(ArgumentError, match="Local is defined in a function"):
        engines([Local])
    held = {"lock": object(), "Uses": None}
    carried = _launch.Carried(type(sys)("__main__"))
    carried._names = held
    with pytest.raises(ArgumentError, match="lock, which it uses, cannot be sent"):
        carried.source("lock")


class Own(PythonPow):
    """Called as an engine of the program's is"""


class Twice(PythonPow):
    """Called as another class is"""

    name = "python-pow"


class Spaced(PythonPow):
    """Called as no engine is"""

    name = "Python pow"


def test_names_are_those_of_no_other_engine() -> None:
    with pytest.raises(ArgumentError, match="there is an engine own already"):
        engines([Own])
    with pytest.raises(ArgumentError, match="two classes are called python-pow"):
        engines([PythonPow, Twice])
    assert engines([PythonPow, PythonPow])
    with pytest.raises(ArgumentError, match="cannot be called 'Python pow'"):
        engines([Spaced])


def test_a_prefix_of_the_users_is_searched_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    other = tmp_path / "bin" / "rsalab-peer-theirs"
    with _launch.registered([PythonPow]) as environment:
        assert environment is not None
        launcher = Path(environment["RSALAB_PREFIX"]) / "bin" / "rsalab-peer-python-pow"
        source = launcher.with_name("python-pow.py").read_text()
    (tmp_path / "theirs.py").write_text(source.replace("main(PythonPow)", "PythonPow.name = 'theirs'\nmain(PythonPow)"))
    other.write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path}/theirs.py\n")
    other.chmod(0o755)
    monkeypatch.setenv("RSALAB_PREFIX", str(tmp_path))
    present = {engine["name"] for engine in engines([PythonPow]) if engine["present"]}
    assert {"theirs", "python-pow"} <= present


def job(**changes: Any) -> dict[str, Any]:
    fields = {"op": "public", "bits": 512, "threads": 1, "batch": 1, "mode": "latency", "bare": False}
    return {**fields, "exponent": 65537, "symbols": 0, "block_symbols": 0, **changes}


def study_key() -> dict[str, Any]:
    numbers = KEY.to_cryptography().private_numbers()
    names = {
        "d": numbers.d,
        "p": numbers.p,
        "q": numbers.q,
        "dp": numbers.dmp1,
        "dq": numbers.dmq1,
        "qinv": numbers.iqmp,
    }
    return {
        "bits": 512,
        "n": f"{KEY.n:0128x}",
        "e": "010001",
        **{name: f"{value:0128x}" for name, value in names.items()},
    }


def ask(worker: _worker.Worker, request: str, **fields: Any) -> dict[str, Any]:
    return worker.answer_to(json.dumps({"request": request, **fields}).encode())


def test_the_protocol_as_its_page_has_it() -> None:
    worker = _worker.Worker(PythonPow)
    hello = ask(worker, "hello", protocol=1)
    assert (hello["protocol"], hello["pid"], hello["engine"]["name"]) == (1, os.getpid(), "python-pow")
    assert ask(worker, "outputs") == {
        "answer": "error",
        "kind": "sequence",
        "message": "'outputs' needs a prepared job",
    }
    assert ask(worker, "supports", job=job(op="keygen"))["answer"] == "unsupported"
    assert ask(worker, "supports", job=job(threads=2))["answer"] == "unsupported"
    assert ask(worker, "supports", job=job(bare=True))["answer"] == "unsupported"
    assert ask(worker, "supports", job=job(variant="none"))["answer"] == "unsupported"
    assert ask(worker, "supports", job=job(a_field_of_a_later_version=1))["ledger"]["clock"] == "engine"
    two = f"{2:0128x}{3:0128x}"
    before = os.sched_getaffinity(0)
    prepared = ask(worker, "prepare", job=job(), keys=[study_key()], inputs=two)
    assert prepared["answer"] == "prepared" and prepared["cpus"] == [min(before)]
    assert os.sched_getaffinity(0) == {min(before)}
    outputs = ask(worker, "outputs")["outputs"]
    assert outputs == f"{pow(2, 65537, KEY.n):0128x}{pow(3, 65537, KEY.n):0128x}"
    block = ask(worker, "block", plan={"discard_ns": 0, "min_ns": 2_000_000, "max_samples": 4})["block"]
    assert 1 <= len(block["samples"]) <= 4 and block["elapsed_ns"] >= 2_000_000
    assert sum(sample["elapsed_ns"] for sample in block["samples"]) <= block["elapsed_ns"]
    counted = ask(worker, "block", plan={"discard_ns": 0, "min_ns": 0, "calls": 7, "max_samples": 100})["block"]
    assert [sample["operations"] for sample in counted["samples"]] == [1] * 7
    merged = ask(worker, "block", plan={"discard_ns": 10**8, "min_ns": 0, "calls": 7, "max_samples": 4})["block"]
    assert [sample["operations"] for sample in merged["samples"]] == [2, 2, 2, 1]
    assert merged["discarded_operations"] >= 1
    for inputs, kind, item in [
        (f"{KEY.n:0128x}", "input_out_of_range", 0),
        (two[2:], "length", None),
        ("", "length", None),
    ]:
        refused = ask(worker, "prepare", job=job(), keys=[study_key()], inputs=inputs)
        assert (refused["answer"], refused["kind"], refused.get("item")) == ("error", kind, item)
    assert ask(worker, "prepare", job=job(), keys=[], inputs=two)["kind"] == "key"
    assert ask(worker, "release") == {"answer": "released"}
    assert os.sched_getaffinity(0) == before
    assert ask(worker, "quit") == {"answer": "bye"}


class Misspelt(PythonPow):
    """Says what no ledger has"""

    ledger = {"crt": True, "constant-time": True, "clock": "harness"}


def test_a_ledger_states_what_there_is_to_state() -> None:
    refused = ask(_worker.Worker(Misspelt), "supports", job=job(op="private"))
    assert refused["kind"] == "library" and "a ledger has no clock, constant-time; it has" in refused["message"]
    assert ask(_worker.Worker(Misspelt), "supports", job=job())["ledger"]["exponent"] == 65537


@pytest.mark.parametrize("line", [b'{"request":"sing"}', b"[1]", b"{", b'{"request":"prepare"}', b"\xff\n", b"3"])
def test_what_is_no_request_is_not_repeated(line: bytes) -> None:
    answer = _worker.Worker(PythonPow).answer_to(line)
    assert answer["kind"] == "malformed" and "sing" not in answer["message"]


def test_a_request_that_cannot_be_read_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    worker = _worker.Worker(PythonPow)
    wrong: list[dict[str, Any]] = [
        {"job": job(), "keys": [{**study_key(), "d": "secret"}], "inputs": ""},
        {"job": job(), "keys": [{"bits": 512}], "inputs": ""},
        {"job": job(), "keys": ["secret"], "inputs": ""},
        {"job": job(), "keys": "secret", "inputs": ""},
        {"job": job(), "keys": {"secret": 1}, "inputs": ""},
        {"job": job(), "keys": [study_key()], "inputs": "secret"},
        {"job": job(), "keys": [study_key()], "inputs": 3},
        {"job": "secret", "keys": [], "inputs": ""},
        {"job": {"op": "secret"}, "keys": [], "inputs": ""},
    ]
    for fields in wrong:
        answer = ask(worker, "prepare", **fields)
        assert answer["kind"] == "malformed" and "secret" not in answer["message"], fields
    assert ask(worker, "supports", job={"op": "secret"})["kind"] == "malformed"
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err


def test_samples_are_merged_and_none_is_lost() -> None:
    for most in (1, 2, 3, 4, 7):
        for count in range(1, 40):
            samples = _worker.Samples(most)
            for number in range(count):
                samples.add(number, 1)
            taken = samples.taken()
            assert len(taken) <= most
            assert sum(sample["operations"] for sample in taken) == count
            assert sum(sample["elapsed_ns"] for sample in taken) == sum(range(count))
            # All stand for the same number of calls, but for the last one.
            assert len({sample["operations"] for sample in taken[:-1]}) <= 1


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    with _launch.registered([Slow]) as environment:
        assert environment is not None
        launcher = Path(environment["RSALAB_PREFIX"]) / "bin" / "rsalab-peer-slow"
        with subprocess.Popen(
            [launcher], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            yield process
            process.kill()


class Slow(PythonPow):
    """Takes long"""

    def run(self, item: bytes) -> bytes:
        time.sleep(60)
        return item


def test_a_worker_ends_with_its_coordinator_though_it_is_at_work(worker: subprocess.Popen[bytes]) -> None:
    assert worker.stdin is not None and worker.stdout is not None
    requests: Sequence[dict[str, Any]] = [
        {"request": "prepare", "job": job(), "keys": [study_key()], "inputs": f"{2:0128x}"},
        {"request": "outputs"},
    ]
    for request in requests:
        worker.stdin.write(json.dumps(request).encode() + b"\n")
    worker.stdin.flush()
    assert json.loads(worker.stdout.readline())["answer"] == "prepared"
    began = time.monotonic()
    worker.stdin.close()
    assert worker.wait(30) == 5
    assert time.monotonic() - began < 10


def test_a_worker_that_waits_ends_at_once(worker: subprocess.Popen[bytes]) -> None:
    assert worker.stdin is not None
    worker.stdin.close()
    assert worker.wait(30) == 0


def test_names_of_classes_become_names_of_engines() -> None:
    assert PythonPow.engine_name() == "python-pow"
    assert Everything.engine_name() == "every_thing"
    assert Gone.engine_name() == "gone"
