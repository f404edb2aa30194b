"""Tables that a study gives: for Python, and through Arrow's PyCapsule interface for pandas, polars, DuckDB."""

from __future__ import annotations

import html
import importlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from .errors import ExtraMissingError

__all__ = ["Table"]

Value: TypeAlias = str | int | float | bool | None

_READ: dict[str, Callable[[str], Value]] = {
    "text": str,
    "integer": int,
    "number": float,
    "flag": lambda text: text.lower() == "true",
}
# Rows that are in memory at once as objects of Python's.
_ROWS = 1 << 16
_SHOWN = 20


class Table:
    """A table: names of columns, each with the kind of its values, and rows. A value that is absent is None.

    `for row in table` gives each row as a dict; `to_dict()` gives lists, a column each, as pandas.DataFrame takes them.
    polars.DataFrame(table), duckdb.sql("… FROM table") and pandas.DataFrame.from_arrow(table) read it as a stream of
    Arrow's, which takes the package nanoarrow: pip install 'rsalab[study]'.
    """

    def __init__(self, kinds: Mapping[str, str], rows: Callable[[], Iterable[list[str]]]) -> None:
        """rows: begins anew to give the rows, as the texts of a CSV file, of which empty ones are absent."""
        self.kinds = dict(kinds)
        """For each column, by name: text, integer, number or flag."""
        self._rows = rows

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.kinds)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        columns = [(name, _READ[kind]) for name, kind in self.kinds.items()]
        for row in self._rows():
            yield {name: read(text) if text else None for (name, read), text in zip(columns, row, strict=True)}

    def to_dict(self) -> dict[str, list[Value]]:
        """The columns, each as a list."""
        made: dict[str, list[Value]] = {name: [] for name in self.kinds}
        for chunk in self._chunks():
            for column, values in zip(made.values(), chunk, strict=True):
                column += values
        return made

    def _chunks(self) -> Iterator[list[list[Value]]]:
        """Columns, of so many rows at a time."""
        rows = iter(self._rows())
        readers = [_READ[kind] for kind in self.kinds.values()]
        while chunk := list(itertools.islice(rows, _ROWS)):
            columns = zip(*chunk, strict=True)
            yield [
                [read(text) if text else None for text in column] for read, column in zip(readers, columns, strict=True)
            ]

    def __arrow_c_schema__(self) -> object:
        """The types, as a capsule of Arrow's."""
        arrow = _arrow()
        return arrow.c_schema(self._schema(arrow)).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table, as a capsule of Arrow's with a stream."""
        arrow = _arrow()
        schema = self._schema(arrow)
        fields = list(self._fields(arrow).values())
        batches: list[Any] = []
        for chunk in self._chunks():
            children = [arrow.c_array(values, field) for values, field in zip(chunk, fields, strict=True)]
            batches.append(arrow.c_array_from_buffers(schema, len(chunk[0]), [None], children=children))
        streams: Any = importlib.import_module("nanoarrow.c_array_stream")
        stream: Any = streams.CArrayStream.from_c_arrays(batches, arrow.c_schema(schema))
        capsule: object = stream.__arrow_c_stream__(requested_schema)
        return capsule

    def _fields(self, arrow: Any) -> dict[str, Any]:
        types = {"text": arrow.string, "integer": arrow.int64, "number": arrow.float64, "flag": arrow.bool_}
        return {name: types[kind]() for name, kind in self.kinds.items()}

    def _schema(self, arrow: Any) -> Any:
        return arrow.struct(self._fields(arrow))

    def __repr__(self) -> str:
        return f"<table of {', '.join(self.kinds)}>"

    def _repr_html_(self) -> str:
        """The first rows, without the columns in which they have nothing."""
        rows = list(itertools.islice(self, _SHOWN + 1))
        shown = [name for name in self.kinds if any(row[name] is not None for row in rows)]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shown(row[name]))}</td>" for name in shown) + "</tr>"
            for row in rows[:_SHOWN]
        )
        more = "<p>and more rows</p>" if len(rows) > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: Value) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.6g}"
        case _:
            return str(value)


def _arrow() -> Any:
    try:
        # By name: it brings no types.
        return importlib.import_module("nanoarrow")
    except ImportError:
        raise ExtraMissingError(
            "a table goes to other packages by way of nanoarrow, which is not installed: pip install 'rsalab[study]' "
            "(iteration and to_dict() need nothing)"
        ) from None
