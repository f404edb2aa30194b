"""Classes of engines as programs that rsalab finds: scripts in the folder bin of a prefix that is gone afterwards."""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import re
import shlex
import symtable
import sys
import tempfile
import types
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path

from . import _program
from .engine import Engine
from .errors import ArgumentError

_PREFIX = "RSALAB_PREFIX"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


@contextlib.contextmanager
def registered(classes: Iterable[type[Engine]]) -> Generator[Mapping[str, str] | None]:
    """The environment in which the program finds these engines, too; None if there are none."""
    chosen: dict[str, type[Engine]] = {}
    for engine in classes:
        if chosen.setdefault(engine.engine_name(), engine) is not engine:
            raise ArgumentError(f"two classes are called {engine.engine_name()}: one of them needs another name")
    for name in chosen:
        _check_name(name)
    if not chosen:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="rsalab-engines-") as folder:
        binaries = Path(folder) / "bin"
        binaries.mkdir()
        for name, engine in chosen.items():
            source = binaries / f"{name}.py"
            source.write_text(_script(engine), encoding="utf-8")
            # Two lines, since the path of an interpreter may be longer than the system lets a first line be.
            launcher = binaries / f"rsalab-peer-{name}"
            words = shlex.join([sys.executable, str(source)])
            launcher.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
            launcher.chmod(0o755)
        _link_prefix(os.environ.get(_PREFIX), Path(folder), binaries)
        yield {**os.environ, _PREFIX: folder}


def _check_name(name: str) -> None:
    """A name that the program takes for an engine, and for no other one."""
    if not _NAME.fullmatch(name):
        raise ArgumentError(
            f"an engine cannot be called {name!r}: a name has lower-case letters, digits, - and _, 32 at most, and "
            "begins with a letter or a digit"
        )
    try:
        _program.run(["study", "smoke", "--engines", name, "--print-plan"])
    except ArgumentError:
        return
    raise ArgumentError(f"there is an engine {name} already: give the attribute `name` of the class another one")


def _link_prefix(named: str | None, folder: Path, binaries: Path) -> None:
    """What the user's own prefix has is found where it was: only one prefix can be named."""
    if not named:
        return
    for source, into in ((Path(named), folder), (Path(named) / "bin", binaries)):
        for entry in source.iterdir() if source.is_dir() else ():
            link = into / entry.name
            if not link.exists():
                link.symlink_to(entry.absolute())


def _script(engine: type[Engine]) -> str:
    """A program that serves a class: it imports it, or, if a notebook or a script has it, holds its source."""
    if "<locals>" in engine.__qualname__:
        raise ArgumentError(
            f"the class {engine.__name__} is defined in a function: define it in a module or a notebook"
        )
    name = engine.__qualname__.partition(".")[0]
    if engine.__module__ == "__main__":
        lines = Carried(sys.modules["__main__"]).source(name)
    else:
        lines = f"from {engine.__module__} import {name}\n"
    path = [entry or os.getcwd() for entry in sys.path]
    return (
        f"import sys\nsys.path[:] = {path!r}\nfrom rsalab.engine import main\n\n{lines}\nmain({engine.__qualname__})\n"
    )


class Carried:
    """Source of a module that cannot be imported by name: a notebook's, a script's, a prompt's."""

    def __init__(self, module: types.ModuleType) -> None:
        self._names = vars(module)
        self._done: dict[str, str] = {}
        self._under_way: set[str] = set()

    def source(self, name: str) -> str:
        """The definition of a name, after those of all that it uses."""
        self._carry(name)
        return "\n".join(self._done.values())

    def _carry(self, name: str) -> None:
        if name in self._under_way or name not in self._names:
            return
        self._under_way.add(name)
        value = self._names[name]
        module = getattr(value, "__module__", None)
        if isinstance(value, types.ModuleType):
            self._done[name] = f"import importlib\n{name} = importlib.import_module({value.__name__!r})"
        elif isinstance(value, type | types.FunctionType) and module == "__main__":
            definition = ast.unparse(_definition(value))
            for used in _globals(symtable.symtable(definition, name, "exec")):
                self._carry(used)
            self._done[name] = definition
        elif module is not None and module != "__main__" and hasattr(value, "__qualname__"):
            self._done[name] = f"from {module} import {value.__qualname__} as {name}"
        else:
            self._done[name] = f"{name} = {_literal(name, value)}"


def _globals(scope: symtable.SymbolTable) -> Iterator[str]:
    """The global names that a source uses."""
    yield from (symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global())
    for inner in scope.get_children():
        yield from _globals(inner)


def _literal(name: str, value: object) -> str:
    """A plain value, as source."""
    text = repr(value)
    with contextlib.suppress(ValueError, SyntaxError):
        if ast.literal_eval(text) == value:
            return text
    raise ArgumentError(
        f"an engine runs in a process of its own, and {name}, which it uses, cannot be sent there: make it in "
        "prepare(), or define the class in a module"
    )


def _definition(value: type | types.FunctionType) -> ast.stmt:
    """The statement that defines a class or function."""
    functions = (
        [value]
        if isinstance(value, types.FunctionType)
        else [inner for inner in vars(value).values() if isinstance(inner, types.FunctionType)]
    )
    for function in functions:
        code = function.__code__
        lines = linecache.getlines(code.co_filename)
        for statement in ast.parse("".join(lines)).body if lines else ():
            defines = isinstance(statement, ast.ClassDef | ast.FunctionDef) and statement.name == value.__name__
            if defines and statement.lineno <= code.co_firstlineno <= (statement.end_lineno or 0):
                return statement
    raise ArgumentError(f"the source of {value.__name__} is not known here: define it in a module or a notebook")
