"""The progress of a study: a display that changes in a notebook, the program's bar on a terminal, else lines."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Progress", "follower"]

# The line of a cell that is closed, and the line about one that is being measured.
_CLOSED = re.compile(r"\[(\d+)/(\d+)\] (.*)")
_UNDER_WAY = re.compile(r"(\d+)/(\d+) cells · (.*)")


class Progress:
    """How far a study has come."""

    def __init__(self) -> None:
        self.closed = 0
        """Cells that are done, or that cannot be done."""
        self.cells = 0
        """All cells; 0 as long as nobody has said."""
        self.line = ""
        """What the program said last."""

    def take(self, line: str) -> None:
        """Takes a line of the program's."""
        self.line = line
        found = _CLOSED.fullmatch(line) or _UNDER_WAY.fullmatch(line)
        if found:
            self.closed, self.cells, self.line = int(found[1]), int(found[2]), found[3]

    def __repr__(self) -> str:
        return f"{self.closed} of {self.cells} cells: {self.line}"

    def _repr_html_(self) -> str:
        return (
            f'<progress value="{self.closed}" max="{self.cells or 1}"></progress> '
            f"{self.closed} of {self.cells} cells<br>{html.escape(self.line)}"
        )


def follower(progress: bool | Callable[[Progress], object] | None) -> Callable[[str], object] | None:
    """What gets each line of the program; None if the program has a terminal to draw on."""
    if progress is False:
        return lambda _line: None
    state = Progress()
    if callable(progress):
        return _to(state, progress)
    if _in_notebook():
        return _display(state)
    if sys.stderr is not None and sys.stderr.isatty():
        return None
    return lambda line: print(line, file=sys.stderr, flush=True)


def _to(state: Progress, receiver: Callable[[Progress], object]) -> Callable[[str], object]:
    def take(line: str) -> None:
        state.take(line)
        receiver(state)

    return take


def _in_notebook() -> bool:
    """A shell of IPython's that runs in a kernel shows what it is given as HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


def _display(state: Progress) -> Callable[[str], object]:
    display: Any = sys.modules["IPython"].display.display
    shown = display(state, display_id=True)
    return _to(state, shown.update)
