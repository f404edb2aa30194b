"""rsalab.ray without a cluster; scripts/ray-test.sh has one."""

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rsalab.ray
from rsalab import _place, _program
from rsalab.errors import ArgumentError, ExtraMissingError, ProgramError

# It has no types.
fsspec: Any = importlib.import_module("fsspec")


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ExtraMissingError, match=r"pip install 'rsalab\[ray\]'"):
        rsalab.ray.keygen(tmp_path / "keys", 10, parts=2)
    with pytest.raises(ExtraMissingError, match=r"pip install 'rsalab\[ray\]'"):
        rsalab.ray.study(tmp_path / "study", "smoke", parts=2)
    with pytest.raises(ExtraMissingError, match=r"pip install 'rsalab\[ray\]'"):
        rsalab.ray.audit(tmp_path / "audit", [tmp_path], parts=2)


def test_there_is_a_part(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="one part at least"):
        rsalab.ray.keygen(tmp_path / "keys", 10, parts=0)


def test_an_audit_has_files(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="a file or a folder"):
        rsalab.ray.audit(tmp_path / "audit", [], parts=2)


def test_what_is_whole_is_not_made_again(tmp_path: Path) -> None:
    (tmp_path / "keys.tar").write_bytes(b"")
    assert rsalab.ray.keygen(tmp_path, 10, parts=2) == tmp_path / "keys.tar"


def test_parts_that_an_earlier_call_left_are_removed(tmp_path: Path) -> None:
    names = ["1.tar", "1.tar.json", "2.tar.json"]
    (tmp_path / "keys.tar").write_bytes(b"")
    (tmp_path / "parts").mkdir()
    for name in names:
        (tmp_path / "parts" / name).write_bytes(b"")
    # They are the keys of an index.
    (tmp_path / "keys.jsonl").write_bytes(b"")
    for index in (False, True):
        rsalab.ray.keygen(tmp_path, 10, parts=2, index=index)
        assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == names
    (tmp_path / "keys.jsonl").unlink()
    rsalab.ray.keygen(tmp_path, 10, parts=2)
    assert [path.name for path in tmp_path.iterdir()] == ["keys.tar"]


class Task:
    """What a task gives."""

    def __init__(self, made: dict[str, bytes]) -> None:
        self.made = made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What rsalab.ray calls of Ray, in this process: a task is done when it is asked for. The words of each."""
    all_words: list[list[str]] = []

    def remote(**_options: object) -> Callable[[Callable[..., Any]], Any]:
        def of(function: Callable[..., Any]) -> Any:
            def run(words: list[str], names: list[str], files: dict[str, bytes]) -> Task:
                all_words.append(words)
                return Task(function(words, names, files))

            return SimpleNamespace(remote=run)

        return of

    def wait(tasks: list[Task], **_options: object) -> tuple[list[Task], list[Task]]:
        return tasks[:1], tasks[1:]

    ray = SimpleNamespace(
        is_initialized=lambda: True,
        remote=remote,
        cluster_resources=lambda: {"CPU": 1.0},
        wait=wait,
        get=lambda task: task.made,
        exceptions=SimpleNamespace(RayTaskError=ZeroDivisionError),
    )
    monkeypatch.setattr(rsalab.ray, "_ray", lambda: ray)
    return all_words


def test_a_call_with_other_arguments_takes_nothing_of_an_earlier_one(tmp_path: Path, asked: list[list[str]]) -> None:
    path, options = tmp_path / "keys", ["--insecure-size"]
    # What made nothing may be mended.
    with pytest.raises(ArgumentError):
        rsalab.ray.keygen(path, 3, parts=2, bits=512, options=["--no-such-option"])
    asked.clear()
    whole = rsalab.ray.keygen(path, 3, parts=2, bits=512, options=options)
    assert len(asked) == 2 and rsalab.ray.keygen(path, 3, parts=2, bits=512, options=options, cpus=2) == whole
    for count, parts, bits in ((4, 2, 512), (3, 3, 512), (3, 2, 768)):
        with pytest.raises(ArgumentError, match="other arguments"):
            rsalab.ray.keygen(path, count, parts=parts, bits=bits, options=options)
    with pytest.raises(ArgumentError, match="other arguments"):
        rsalab.ray.keygen(path, 3, parts=2, bits=512, options=[*options, "--public"])
    assert len(asked) == 2

    keys = path / "keys.tar"
    findings = rsalab.ray.audit(tmp_path / "audit", [keys], parts=2)
    assert rsalab.ray.audit(tmp_path / "audit", [keys], parts=2) == findings
    with pytest.raises(ArgumentError, match="other arguments"):
        rsalab.ray.audit(tmp_path / "audit", [keys, path], parts=2)


def test_a_plan_that_an_earlier_call_left_is_not_that_of_another_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Any:
        raise ExtraMissingError("no Ray")

    monkeypatch.setattr(rsalab.ray, "_ray", none)
    path, plan = tmp_path / "study", tmp_path / "study" / "plan.toml"
    with pytest.raises(ExtraMissingError):
        rsalab.ray.study(path, "smoke", parts=2, options=["--engines", "own"])
    text = plan.read_text()
    with pytest.raises(ExtraMissingError):
        rsalab.ray.study(path, "smoke", parts=2, options=["--engines", "own"])
    assert plan.read_text() == text
    with pytest.raises(ArgumentError, match="other arguments"):
        rsalab.ray.study(path, "smoke", parts=2, options=["--engines", "own,textbook"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux stops a process when its parent dies")
def test_the_program_of_a_task_does_not_outlive_it(tmp_path: Path) -> None:
    words = ["keygen", "--count", "1000000", "--threads", "1", "--quiet", "--out", "1.tar"]
    script = f"from rsalab.ray import _make; _make({words!r}, ['1.tar'], {{}})"
    folder = tmp_path.resolve()

    def programs() -> list[str]:
        """The processes of the program that run in a folder of this one."""
        found: list[str] = []
        for entry in Path("/proc").iterdir():
            try:
                if (
                    entry.name.isdigit()
                    and folder in (entry / "cwd").resolve(strict=True).parents
                    and (entry / "exe").samefile(_program.find())
                ):
                    found.append(entry.name)
            except OSError:
                pass
        return found

    def wait_until(are_there: bool) -> None:
        deadline = time.monotonic() + 30
        while bool(programs()) != are_there and time.monotonic() < deadline:
            time.sleep(0.05)
        assert bool(programs()) == are_there

    with subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(folder)}) as task:
        try:
            wait_until(True)
        finally:
            task.kill()
    wait_until(False)


@pytest.fixture
def store() -> Iterator[Any]:
    """An object store in the memory of this process."""
    files = fsspec.filesystem("memory")
    yield files
    files.rm("/jobs", recursive=True)


def test_parts_are_merged_in_an_object_store(tmp_path: Path, store: Any) -> None:
    into = _place.place("memory://jobs/keys/")
    parts = [[f"parts/{number}.tar", f"parts/{number}.tar.json"] for number in (1, 2)]
    words = ["keygen", "--count", "5", "--quiet"]
    for number, files in enumerate(parts, 1):
        subprocess.run([_program.find(), *words, "--shard", f"{number}/2", "--out", f"{number}.tar"], cwd=tmp_path, check=True)
        for file in files:
            into.write(file, (tmp_path / Path(file).name).read_bytes())
    into.merge(["merge"], parts, "keys.tar", "keys.tar")
    assert into.path("keys.tar") == "memory://jobs/keys/keys.tar"
    assert into.exists("keys.tar") and not into.exists("keys.jsonl")
    with store.open("/jobs/keys/keys.tar", "rb") as archive, tarfile.open(fileobj=archive) as opened:
        manifest = opened.extractfile("manifest.jsonl")
        assert manifest is not None
        entries = [json.loads(line) for line in manifest.read().splitlines()[1:]]
    assert [entry["number"] for entry in entries] == [1, 2, 3, 4, 5]
    # A part that was damaged in the store leaves no whole.
    damaged = bytearray(into.read("parts/1.tar"))
    damaged[700] ^= 1
    into.write("parts/1.tar", bytes(damaged))
    with pytest.raises(ProgramError):
        into.merge(["merge"], parts, "again.tar", "again.tar")
    assert not into.exists("again.tar")
    into.remove("parts/1.tar")
    assert not into.exists("parts/1.tar")
    # What is whole there is not made again, and asks for no cluster; parts that are left are removed.
    assert rsalab.ray.keygen("memory://jobs/keys", 5, parts=2) == "memory://jobs/keys/keys.tar"
    assert not any(into.exists(file) for files in parts for file in files)


def test_a_study_in_an_object_store_is_a_folder_whose_report_comes_last(tmp_path: Path, store: Any) -> None:
    into = _place.place("memory://jobs/study")
    words = ["study", "smoke", "--engines", "own,textbook", "--seed", "6a" * 32, "--quiet", "--allow-unoptimised"]
    parts = [[f"parts/{number}/study.db", f"parts/{number}/part.json"] for number in (1, 2)]
    for number, files in enumerate(parts, 1):
        subprocess.run([_program.find(), *words, "--shard", f"{number}/2", "--out", str(number)], cwd=tmp_path, check=True)
        for file in files:
            into.write(file, (tmp_path / Path(file).relative_to("parts")).read_bytes())
    into.merge(["merge"], parts, "whole", "whole/report.html")
    assert into.exists("whole/study.db") and into.read("whole/report.html").startswith(b"<!")
    names = store.find("/jobs/study/whole")
    assert len(names) > 5
    assert rsalab.ray.study("memory://jobs/study", "smoke", parts=2) == "memory://jobs/study/whole"


def test_a_store_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ArgumentError, match="nothing"):
        rsalab.ray.keygen("nothing://there", 5, parts=2)


def test_a_store_whose_package_is_missing_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ExtraMissingError, match="pip install fsspec"):
        rsalab.ray.keygen("memory://jobs/keys", 5, parts=2)
