"""Files of many keys: what is in them, who may read them, and that nothing is overwritten."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import rsalab
from rsalab import insecure


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_set_of_several_sizes_with_its_public_set(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    rsalab.write_jwk_set(path, rsalab.generate_many(2, [512, 768], threads=1))
    assert sorted(os.listdir(tmp_path)) == ["keys.json", "keys.pub.json"]
    assert (mode(path), mode(tmp_path / "keys.pub.json")) == (0o600, 0o644)
    own = json.loads(path.read_text())["keys"]
    others = json.loads((tmp_path / "keys.pub.json").read_text())["keys"]
    keys = [rsalab.load_private_key(json.dumps(key).encode()) for key in own]
    assert [key.bits for key in keys] == [512, 512, 768, 768]
    assert [key["kid"] for key in own] == [key["kid"] for key in others]
    assert not any("d" in key or "p" in key for key in others)
    assert [rsalab.load_public_key(json.dumps(key).encode()) for key in others] == [key.public_key() for key in keys]


def test_a_set_overwrites_nothing_and_leaves_nothing_by_half(tmp_path: Path) -> None:
    key = insecure.key(512)
    for taken in ("keys.json", "keys.pub.json"):
        (tmp_path / taken).write_text("mine")
        with pytest.raises(FileExistsError, match="nothing is overwritten"):
            rsalab.write_jwk_set(tmp_path / "keys.json", [key])
        assert os.listdir(tmp_path) == [taken] and (tmp_path / taken).read_text() == "mine"
        (tmp_path / taken).unlink()

    # Somebody else is faster: the name is taken while keys are made.
    def others() -> Iterator[rsalab.PrivateKey]:
        yield key
        (tmp_path / "keys.json").write_text("mine")

    with pytest.raises(FileExistsError):
        rsalab.write_jwk_set(tmp_path / "keys.json", others())
    assert os.listdir(tmp_path) == ["keys.json"]
    rsalab.write_jwk_set(tmp_path / "private", [key], public=False)
    assert sorted(os.listdir(tmp_path)) == ["keys.json", "private"]
    with pytest.raises(FileNotFoundError):
        rsalab.write_jwk_set(tmp_path / "none" / "keys.json", [key])


def test_a_folder_as_the_program_makes_it(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    rsalab.generate_folder(folder, 3, 512, public=True, insecure_size=True, threads=1)
    names = [f"key-00000{number}{end}" for number in (1, 2, 3) for end in (".pem", ".pub.pem")]
    assert sorted(os.listdir(folder)) == [*names, "manifest.jsonl"]
    for number in (1, 2, 3):
        own = folder / f"key-00000{number}.pem"
        assert mode(own) == 0o600
        key = rsalab.load_private_key(own.read_bytes())
        assert rsalab.load_public_key((folder / f"key-00000{number}.pub.pem").read_bytes()) == key.public_key()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    # The same call completes, and another one does not touch it.
    rsalab.generate_folder(folder, 3, 512, public=True, insecure_size=True)
    with pytest.raises(rsalab.Error):
        rsalab.generate_folder(folder, 3, 768, public=True, insecure_size=True)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_folders_of_several_sizes_and_other_formats(tmp_path: Path) -> None:
    rsalab.generate_folder(tmp_path / "keys", 1, [512, 768], 3, primes=2, format="pkcs1-der", insecure_size=True)
    for size in (512, 768):
        key = rsalab.load_private_key((tmp_path / "keys" / str(size) / "key-000001.der").read_bytes())
        assert (key.bits, key.e) == (size, 3)
    with pytest.raises(rsalab.ArgumentError, match="insecure-size"):
        rsalab.generate_folder(tmp_path / "short", 1, 512)
    with pytest.raises(rsalab.ArgumentError, match="a format is one of"):
        rsalab.generate_folder(tmp_path / "other", 1, format="pkcs8-encrypted")  # type: ignore[arg-type]
