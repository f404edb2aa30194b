"""Many keys, read at once: a verdict for each."""

import os
from pathlib import Path
from typing import Any

import pytest

import rsalab
from rsalab import insecure


@pytest.mark.parametrize("threads", [1, 3, None])
@pytest.mark.parametrize("rounds", [0, 3, 8])
def test_verdicts_keep_their_order(tmp_path: Path, threads: int | None, rounds: int) -> None:
    keys = insecure.keys(3, 512) + [insecure.key(1024)]
    file = tmp_path / "key.pem"
    file.write_bytes(keys[0].to_pem())
    closed = keys[1].to_der(b"secret")
    sources: list[Any] = [
        keys[0].to_der(), str(file), file, b"no key", tmp_path / "absent", tmp_path,
        bytearray(keys[2].to_jwk(), "ascii"), closed, b"", keys[3].to_openssh(),
    ] * 8
    verdicts = rsalab.load_private_keys(sources, b"secret", rounds=rounds, threads=threads)
    assert len(verdicts) == 80
    expected = [0, 0, 0, rsalab.InvalidKeyError, FileNotFoundError, IsADirectoryError, 2, 1, rsalab.InvalidKeyError, 3]
    for place, verdict in enumerate(verdicts):
        wanted = expected[place % 10]
        if isinstance(wanted, int):
            assert isinstance(verdict, rsalab.PrivateKey) and verdict.n == keys[wanted].n
        else:
            assert type(verdict) is wanted
    absent = verdicts[4]
    assert isinstance(absent, OSError) and absent.filename == str(tmp_path / "absent") and absent.errno == 2
    without = rsalab.load_private_keys([closed, file])
    assert isinstance(without[0], rsalab.PasswordMissingError) and isinstance(without[1], rsalab.PrivateKey)


def test_paths_of_bytes_and_none() -> None:
    assert rsalab.load_private_keys([]) == []
    assert rsalab.load_private_keys(iter(())) == []
    for wrong in (b"bytes", "path", bytearray(3), None, 3, [3], [None]):
        with pytest.raises(TypeError):
            rsalab.load_private_keys(wrong)  # type: ignore[arg-type]
    wrong_options: list[Any] = [{"threads": 0}, {"rounds": -1}, {"rounds": 1025}, {"max_bits": 10**6}]
    for arguments in wrong_options:
        with pytest.raises(rsalab.ArgumentError):
            rsalab.load_private_keys([], **arguments)


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        os.truncate(file.fileno(), 1 << 30)
    [verdict] = rsalab.load_private_keys([large])
    assert isinstance(verdict, rsalab.Error)
