"""The program rsalab: where it is, and how it is run."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import IO

from .errors import ArgumentError, ProgramError, ProgramNotFoundError

VARIABLE = "RSALAB_PROGRAM"
_USAGE = 2
_SET_DEATH_SIGNAL = 1

# Starts the program, which is stopped by SIGINT, as by Ctrl-C, when the process that called it has died. Its arguments:
# the process, the program and the program's own ones.
_STARTER = """
import ctypes, os, signal, sys
caller, program, *words = sys.argv[1:]
ctypes.CDLL(None).prctl({option}, {signal})
if os.getppid() == int(caller):
    os.execv(program, [program, *words])
""".format(option=_SET_DEATH_SIGNAL, signal=int(signal.SIGINT))


def find() -> str:
    """The path of the program. It is looked for, in this order,

    1. where the environment variable RSALAB_PROGRAM says,
    2. among the files that were installed with this package,
    3. on the path, as rsalab.
    """
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramNotFoundError(f"{VARIABLE} names {named!r}, which is no program")
        return os.path.abspath(found)
    installed = _installed()
    if installed is not None:
        return str(installed)
    found = shutil.which("rsalab")
    if found is None:
        raise ProgramNotFoundError(
            f"the program rsalab is not there: {VARIABLE} names none, this package was installed without it (the wheel "
            "has it), and it is not on the path"
        )
    return os.path.abspath(found)


def _installed() -> Path | None:
    """The program that was installed with this very package, and not with another one of this name."""
    try:
        distribution = metadata.distribution("rsalab")
    except metadata.PackageNotFoundError:
        return None
    package = Path(str(distribution.locate_file("rsalab")))
    if not package.exists() or not package.samefile(Path(__file__).parent):
        return None
    for file in distribution.files or ():
        path = Path(str(distribution.locate_file(file)))
        if file.name == "rsalab" and path.is_file() and os.access(path, os.X_OK):
            return path.resolve()
    return None


def run(words: Sequence[str], *, environment: Mapping[str, str] | None = None) -> str:
    """Runs a command that ends soon. Returns what it prints."""
    ended = subprocess.run(
        [find(), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        errors="replace",
    )
    if ended.returncode:
        raise failure(words[0], ended.returncode, ended.stderr.splitlines())
    return ended.stdout


def follow(
    words: Sequence[str], take: Callable[[str], object] | None, *, environment: Mapping[str, str] | None = None
) -> None:
    """Runs a command that takes long.

    take: gets each line that it prints for people. None: they go to where standard error goes, and if that is a
    terminal the program draws on it.

    Ctrl-C asks the command to save and to stop; once it has, KeyboardInterrupt goes on. A second Ctrl-C ends it at
    once. If this process dies, the command is asked to stop, too.
    """
    # A session of its own: a Ctrl-C on the terminal reaches every process of a session's group, and the program takes
    # the second one that it gets for the wish to end at once.
    process = subprocess.Popen(
        tied(find(), words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if take is None else subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    lines: list[str] = []
    interrupted: KeyboardInterrupt | None = None
    try:
        while True:
            try:
                if process.stderr is not None:
                    _pass_on(process.stderr, take, lines)
                code = process.wait()
                break
            except KeyboardInterrupt as stop:
                interrupted = stop
                process.send_signal(signal.SIGINT)
    finally:
        # Only what `take` raises leads here with the program still running.
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait()
        if process.stderr is not None:
            process.stderr.close()
    if interrupted is not None:
        raise interrupted
    if code:
        raise failure(words[0], code, lines)


def tied(program: str, words: Sequence[str]) -> list[str]:
    """The command that runs the program, and stops it when the thread that started it has died."""
    starter = [sys.executable, "-I", "-c", _STARTER, str(os.getpid())] if _has_death_signal() else []
    return [*starter, program, *words]


def _pass_on(source: IO[str], take: Callable[[str], object] | None, lines: list[str]) -> None:
    """Passes lines on until they end, and keeps the last ones."""
    for line in source:
        line = line.rstrip("\n")
        lines.append(line)
        del lines[:-50]
        if take is not None:
            take(line)


def _has_death_signal() -> bool:
    # A program that embeds Python may name no interpreter.
    return sys.platform == "linux" and bool(sys.executable) and hasattr(ctypes.CDLL(None), "prctl")


def operand(path: str | os.PathLike[str]) -> str:
    """A path that no program takes for an option."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith("-") else text


def failure(command: str, code: int, lines: Sequence[str]) -> ArgumentError | ProgramError:
    """The exception for an exit code, with what the program said in the end."""
    begins = [number for number, line in enumerate(lines) if line.startswith("rsalab: ")]
    said = "\n".join(lines[begins[-1] :]).removeprefix("rsalab: ") if begins else ""
    said = said or f"rsalab {command} ended with exit code {code}"
    return ArgumentError(said) if code == _USAGE else ProgramError(said, code)
