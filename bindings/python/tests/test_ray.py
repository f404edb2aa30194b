"""rsalab.ray without a cluster; scripts/ray-test.sh has one."""

import importlib.util
from pathlib import Path

import pytest
import rsalab.ray
from rsalab.errors import ArgumentError


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"pip install 'rsalab\[ray\]'"):
        rsalab.ray.keygen(tmp_path / "keys", 10, parts=2)
    with pytest.raises(ArgumentError, match=r"pip install 'rsalab\[ray\]'"):
        rsalab.ray.study(tmp_path / "study", "smoke", parts=2)
    with pytest.raises(ArgumentError, match=r"pip install 'rsalab\[ray\]'"):
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
