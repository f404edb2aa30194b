"""Where the parts of a job and their whole are kept: a folder, or a path of an object store."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from . import _program
from .errors import ArgumentError, ExtraMissingError

__all__ = ["Place", "place"]


class Place(Protocol):
    """Files under names such as parts/1.tar, which appear whole or not at all."""

    def exists(self, name: str) -> bool: ...
    def read(self, name: str) -> bytes: ...
    def write(self, name: str, content: bytes) -> None: ...
    def remove(self, name: str) -> None: ...
    def path(self, name: str) -> Path | str:
        """What the caller is told."""
        ...

    def merge(self, words: Sequence[str], parts: Sequence[Sequence[str]], whole: str, last: str) -> None:
        """Has the program make a whole of parts: the command, its output, and the first file (or its folder) of each
        part. The file that is called last is there once all others are."""
        ...


def place(path: str | os.PathLike[str]) -> Place:
    """A folder, or a place in an object store where the path has a scheme, as in s3://bucket/keys."""
    return _Remote(path) if isinstance(path, str) and "://" in path else _Folder(Path(path))


def write(path: Path, content: bytes) -> None:
    """Writes a file, readable by its owner only, which has its name once it is whole."""
    draft = tempfile.NamedTemporaryFile(dir=path.parent, prefix=".draft-", delete=False)
    try:
        with draft:
            draft.write(content)
            draft.flush()
            os.fsync(draft.fileno())
        os.replace(draft.name, path)
    except BaseException:
        os.unlink(draft.name)
        raise


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def exists(self, name: str) -> bool:
        return (self._root / name).exists()

    def read(self, name: str) -> bytes:
        return (self._root / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, content)

    def remove(self, name: str) -> None:
        path = self._root / name
        path.unlink()
        if path.parent != self._root and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def path(self, name: str) -> Path:
        return self._root / name

    def merge(self, words: Sequence[str], parts: Sequence[Sequence[str]], whole: str, last: str) -> None:
        _merge(self._root, words, parts, whole)


class _Remote:
    """By fsspec, which has an implementation for each kind of store. Merging is done in a temporary folder."""

    def __init__(self, url: str) -> None:
        try:
            fsspec: Any = importlib.import_module("fsspec")
        except ModuleNotFoundError as missing:
            raise ExtraMissingError(f"{url} needs the package fsspec: pip install fsspec") from missing
        self._url = url.rstrip("/")
        try:
            self._files, self._root = fsspec.core.url_to_fs(self._url)
        except ImportError as missing:
            raise ExtraMissingError(f"{url}: {missing}") from missing
        except ValueError as refused:
            raise ArgumentError(f"{url}: {refused}") from refused

    def _name(self, name: str) -> str:
        return f"{self._root}/{name}"

    def exists(self, name: str) -> bool:
        return bool(self._files.exists(self._name(name)))

    def read(self, name: str) -> bytes:
        content: bytes = self._files.cat_file(self._name(name))
        return content

    def write(self, name: str, content: bytes) -> None:
        path = self._name(name)
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, content)

    def remove(self, name: str) -> None:
        self._files.rm_file(self._name(name))

    def path(self, name: str) -> str:
        return f"{self._url}/{name}"

    def merge(self, words: Sequence[str], parts: Sequence[Sequence[str]], whole: str, last: str) -> None:
        with tempfile.TemporaryDirectory(prefix="rsalab-merge-") as folder:
            here = Path(folder)
            for name in (name for part in parts for name in part):
                path = here / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "wb", opener=_for_the_owner) as file, self._files.open(self._name(name), "rb") as source:
                    while piece := source.read(1 << 22):
                        file.write(piece)
            _merge(here, words, parts, whole)
            fetched = {here / name for part in parts for name in part}
            made = [path for path in here.rglob("*") if path.is_file() and path not in fetched]
            for path in sorted(made, key=lambda path: path == here / last):
                target = self._name(str(path.relative_to(here)))
                self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._files.put_file(str(path), target)


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _merge(root: Path, words: Sequence[str], parts: Sequence[Sequence[str]], whole: str) -> None:
    def first(part: Sequence[str]) -> Path:
        # A part of a study is a folder: parts/1/study.db belongs to parts/1.
        path = root / part[0]
        return path.parent if part[0].count("/") > 1 else path

    _program.run([*words, "--out", _program.operand(root / whole), *(_program.operand(first(part)) for part in parts)])
