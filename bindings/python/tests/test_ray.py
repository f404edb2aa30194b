"""rsalab.ray without a cluster; scripts/ray-test.sh has one."""

import importlib
import importlib.util
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
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
