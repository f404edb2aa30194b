"""Studies: RSA libraries measured against each other, by the program rsalab.

    from rsalab.study import Study

    study = Study.run("quick", engines=["own", "openssl", "gmp"])      # a preset, a TOML file, or a plan as a dict
    study                                                              # in a notebook: findings and figures
    pandas.DataFrame.from_arrow(study.ratios)                          # or polars.DataFrame(…), or .to_dict()

    study = Study.run({
        "title": "Private operation, two sizes",
        "measure": {"budget_s": 1.0},
        "grid": [{"operations": ["private"], "engines": ["own", MyEngine], "bits": [1024, 2048]}],
    })

A plan has the keys of a plan file (docs/src/reference/plan-files.md). An engine is named, or is a class
(rsalab.engine). Ctrl-C stops a study, and resume() goes on with it. The numbers are those of the program's report:
nothing is computed here.

The program is the one that the environment variable RSALAB_PROGRAM names, else the one that was installed with this
package, else `rsalab` on the path; program() tells which.
"""

from __future__ import annotations

import csv
import html
import json
import operator
import os
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, SupportsIndex, TypeAlias, cast

from . import _launch, _program
from ._progress import Progress, follower
from ._table import Table
from .engine import Engine
from .errors import ArgumentError

__all__ = ["Figure", "Progress", "Study", "Table", "engines", "print_plan", "program"]

Plan: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
Engines: TypeAlias = Iterable[str | type[Engine]]
Report: TypeAlias = bool | Callable[[Progress], object] | None

# The types of results.csv; all other columns are text.
_CELL_NUMBERS = (
    "confidence ops_per_s ops_per_s_low ops_per_s_high ns_per_op_median ns_per_op_low ns_per_op_high ns_per_op_mean "
    "ns_per_op_min ns_per_op_max ns_per_op_stabilised_q1 ns_per_op_stabilised_median ns_per_op_stabilised_q3 "
    "tsc_ticks_per_op tests_per_op ratio ratio_low ratio_high speedup speedup_low speedup_high "
    "luck_corrected_ops_per_s luck_corrected_ops_per_s_low luck_corrected_ops_per_s_high "
    "luck_corrected_ratio luck_corrected_ratio_low luck_corrected_ratio_high time_lost".split()
)
_CELL_INTEGERS = (
    "bits threads batch message_bits symbols block_symbols primes keys message_bytes blocks samples operations "
    "disturbed_blocks".split()
)
# What tells cells of a group from cells of another, and what is said about a ratio.
_JOB = "op bits threads batch mode bare exponent message_bits symbols block_symbols primes keys message_bytes".split()
_RATIO = (
    "engine ratio_to ratio ratio_low ratio_high ratio_differs_in luck_corrected_ratio luck_corrected_ratio_low "
    "luck_corrected_ratio_high ratio_uncorrected".split()
)
# The types of what `export --samples` writes; all other columns are text.
_SAMPLE_INTEGERS = (
    "bits threads batch message_bits symbols block_symbols primes keys message_bytes group session block round sample "
    "elapsed_ns tsc_ticks operations primality_tests".split()
)
_FLAGS = ("bare", "counted")
# As many as a notebook shows of a study at once; an article has dozens.
_SHOWN_FIGURES = 12


def program() -> str:
    """The path of the program that runs studies. ProgramNotFoundError if it is in none of the places where it is
    looked for."""
    return _program.find()


def engines(register: Iterable[type[Engine]] = ()) -> list[dict[str, Any]]:
    """The engines that the program knows, as `rsalab engines --json` has them: name, present, reason, version, …

    register: classes that are to be among them.
    """
    with _launch.registered(register) as environment:
        listed: list[dict[str, Any]] = json.loads(_program.run(["engines", "--json"], environment=environment))[
            "engines"
        ]
    return listed


def print_plan(plan: Plan) -> str:
    """A plan as a TOML file has it: that of a preset, to start from, or one that is checked so."""
    with ExitStack() as stack:
        words, classes, _ = _words(plan, stack)
        environment = stack.enter_context(_launch.registered(classes))
        return _program.run(["study", *words, "--print-plan"], environment=environment)


class Figure:
    """A figure of a report. A notebook shows it."""

    def __init__(self, about: Mapping[str, Any], study: Study) -> None:
        self.id: str = about["id"]
        """The name that the figure has in every report."""
        self.title: str = about["title"]
        """The title."""
        self.description: str = about["description"]
        """What is to be seen."""
        # The files are there as long as the study is.
        self._study = study

    def _file(self, ending: str) -> Path:
        return self._study._folder / "figures" / f"{self.id}.{ending}"  # pyright: ignore[reportPrivateUsage]

    def svg(self) -> str:
        """The figure as SVG."""
        return self._file("svg").read_text(encoding="utf-8")

    def png(self) -> bytes:
        """The figure as PNG."""
        return self._file("png").read_bytes()

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<figure {self.id}: {self.title}>"


class Study:
    """A study that was made: its report, and its tables.

    It is as it was when it was opened, and is not changed by being open.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """As Study.open."""
        self.path = Path(path)
        """The folder of the study."""
        # A report is a function of the database: that in the study's folder may be older than it, or missing.
        made = tempfile.mkdtemp(prefix="rsalab-report-")
        weakref.finalize(self, _remove, made, os.getpid())
        self._folder = Path(made)
        _program.run(["report", _program.operand(self.path), "--out", made])
        self.results: dict[str, Any] = json.loads((self._folder / "results.json").read_text(encoding="utf-8"))
        """Everything that the report says (results.json)."""

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Study:
        """A study that was made earlier, by its folder; or what is kept of one, by its results.json (or .json.gz)."""
        return Study(path)

    @staticmethod
    def run(
        plan: Plan = "quick",
        out: str | os.PathLike[str] | None = None,
        *,
        engines: Engines | None = None,
        register: Iterable[type[Engine]] = (),
        bits: Iterable[int] | None = None,
        threads: Iterable[int] | None = None,
        symbols: Iterable[int] | None = None,
        seconds: float | None = None,
        repeats: int | None = None,
        seed: str | None = None,
        nice: int | None = None,
        progress: Report = None,
    ) -> Study:
        """Runs a study to its end.

        plan: a plan as a dict, with the keys of a plan file; TOML as text; the path of a TOML file; or the name of a
            preset ("smoke" takes seconds, "quick" three minutes).
        out: the folder of the study, new or empty; results/NAME-TIME if not given.
        engines: these in place of the plan's, by name ("own", "gmp:powm") or as classes.
        register: classes that a plan names, or finds among the present ones.
        bits, threads, symbols, seconds, repeats, seed, nice: in place of the plan's, as the options of `rsalab study`.
        progress: None shows it, False shows nothing; a function gets a Progress for each step.

        Ctrl-C stops the study; everything that was measured is kept, and Study.open(out).resume() goes on.
        """
        with ExitStack() as stack:
            words, classes, name = _words(plan, stack)
            folder = Path(out) if out is not None else Path("results") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
            if engines is not None:
                chosen = list(engines)
                classes += [engine for engine in chosen if not isinstance(engine, str)]
                names = [engine if isinstance(engine, str) else engine.engine_name() for engine in chosen]
                words += ["--engines", ",".join(names)]
            lists = {"--bits": bits, "--threads": threads, "--symbols": symbols}
            for option, values in lists.items():
                if values is not None:
                    words += [option, ",".join(str(operator.index(value)) for value in values)]
            single = {"--seconds": seconds, "--repeats": repeats, "--seed": seed, "--nice": nice}
            for option, value in single.items():
                if value is not None:
                    words += [option, str(value)]
            environment = stack.enter_context(_launch.registered([*classes, *register]))
            _follow(["study", *words, "--out", _program.operand(folder)], folder, progress, environment)
        return Study(folder)

    def resume(self, *, register: Iterable[type[Engine]] = (), progress: Report = None) -> Study:
        """Goes on with a study that was stopped, to its end. Returns it as it is then.

        register: the classes that take part, again.
        """
        with _launch.registered(register) as environment:
            _follow(["resume", _program.operand(self.path)], self.path, progress, environment)
        return Study(self.path)

    @property
    def title(self) -> str:
        """What the study asks."""
        return str(self.results["title"])

    @property
    def is_complete(self) -> bool:
        """False if it was stopped, and cells are left to be measured."""
        return bool(self.results["is_complete"])

    @property
    def findings(self) -> list[str]:
        """The answers: who, by how much, how sure. A sentence each."""
        return [finding["sentence"] for finding in self.results["findings"]]

    @property
    def claims(self) -> list[dict[str, str]]:
        """What became of the claims of the articles that the study does again: a row for each claim and engine,
        with what was measured, or why it could not be.
        """
        return [
            {
                "article": article["title"],
                "claim": claim["claim"],
                "published": claim["published"],
                "engine": verdict["engine"],
                "verdict": verdict["verdict"],
                "measured": "; ".join(
                    case["sentence"] for case in claim["cases"] if case["engine"] == verdict["engine"]
                ),
            }
            for article in self.results["articles"]
            for claim in article["claims"]
            for verdict in claim["verdicts"]
        ]

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures, by their ids."""
        return {about["id"]: Figure(about, self) for about in self.results["figures"]}

    @property
    def report(self) -> str:
        """The report as a page of HTML."""
        return (self._folder / "report.html").read_text(encoding="utf-8")

    @property
    def cells(self) -> Table:
        """A row for each engine and job: speed with its interval, times, what was measured or why it was not.

        The columns are those of results.csv (docs/src/reference/report-files.md).
        """
        with self._results() as source:
            names = next(csv.reader(source))
        return Table(_kinds(names, _CELL_INTEGERS, _CELL_NUMBERS), self._cell_rows)

    @property
    def ratios(self) -> Table:
        """A row for each engine that was compared with the first one of its group: the ratio of speeds, with its
        interval, over rounds; in which conditions the two differ. The columns are among those of `cells`.
        """
        kinds = self.cells.kinds
        # An earlier program knew of fewer conditions.
        names = [name for name in (*_JOB, *_RATIO) if name in kinds]
        places = [list(kinds).index(name) for name in names]
        ratio = list(kinds).index("ratio")

        def rows() -> Iterator[list[str]]:
            return ([row[place] for place in places] for row in self._cell_rows() if row[ratio])

        return Table({name: kinds[name] for name in names}, rows)

    @property
    def samples(self) -> Table:
        """A row for each sample, as `rsalab export --samples` writes it. Use those that are `counted`.

        Where they are too many for the memory, export() writes them to a file.
        """
        names = next(iter(self._sample_rows(header=True)))
        return Table(_kinds(names, _SAMPLE_INTEGERS), self._sample_rows)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the samples to a new file: Parquet if its name ends in .parquet, else CSV."""
        _program.run(["export", "--samples", _program.operand(self.path), "--out", _program.operand(path)])

    def _results(self) -> IO[str]:
        return (self._folder / "results.csv").open(newline="", encoding="utf-8")

    def _cell_rows(self) -> Iterator[list[str]]:
        with self._results() as source:
            rows = csv.reader(source)
            next(rows)
            yield from rows

    def _sample_rows(self, header: bool = False) -> Iterator[list[str]]:
        words = [_program.find(), "export", "--samples", _program.operand(self.path)]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            with subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, encoding="utf-8"
            ) as process:
                assert process.stdout is not None
                rows = csv.reader(process.stdout)
                first = next(rows, None)
                if header and first is not None:
                    yield first
                    return
                yield from rows
            if process.returncode:
                said.seek(0)
                raise _program.failure("export", process.returncode, said.read().splitlines())

    def __repr__(self) -> str:
        state = "complete" if self.is_complete else "not complete"
        return "\n".join([f"<study {self.title!r} in {self.path}, {state}>", *self.findings])

    def _repr_html_(self) -> str:
        state = "" if self.is_complete else "<p>The study is not complete.</p>"
        findings = "".join(f"<li>{html.escape(finding)}</li>" for finding in self.findings)
        figures = "".join(
            f'<figure style="margin:1em 0">{figure.svg()}'
            f"<figcaption>{html.escape(figure.description)}</figcaption></figure>"
            for figure in list(self.figures.values())[:_SHOWN_FIGURES]
        )
        left = len(self.figures) - _SHOWN_FIGURES
        if left > 0:
            figures += f"<p>And {left} more: <code>figures</code> has all of them.</p>"
        return f"<h3>{html.escape(self.title)}</h3>{state}<ul>{findings}</ul>{figures}"


def _remove(folder: str, process: int) -> None:
    """Removes a report, but not in a child of a fork: the parent still has it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _follow(words: Sequence[str], folder: Path, progress: Report, environment: Mapping[str, str] | None) -> None:
    try:
        _program.follow(words, follower(progress), environment=environment)
    except KeyboardInterrupt:
        # What is printed last, whatever prints it.
        stopped = (
            f"the study is stopped, and what it has measured is in it; Study.open({str(folder)!r}).resume() goes on"
        )
        raise KeyboardInterrupt(stopped) from None


def _kinds(names: Iterable[str], integers: Sequence[str], numbers: Sequence[str] = ()) -> dict[str, str]:
    kinds = [("flag", _FLAGS), ("integer", integers), ("number", numbers)]
    return {name: next((kind for kind, of_kind in kinds if name in of_kind), "text") for name in names}


def _words(plan: Plan, stack: ExitStack) -> tuple[list[str], list[type[Engine]], str]:
    """A plan as an argument of the program, the classes in it, and its name."""
    classes: list[type[Engine]] = []
    if isinstance(plan, Mapping):
        text, name = "".join(f"{_key(key)} = {_toml(value, classes)}\n" for key, value in plan.items()), "study"
    elif isinstance(plan, str) and ("\n" in plan or "=" in plan):
        text, name = plan, "study"
    else:
        return [_program.operand(plan)], classes, Path(plan).stem
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rsalab-plan-"))
    path = Path(folder) / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return [str(path)], classes, name


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ArgumentError(f"a key of a plan is text, and not {key!r}")
    return _text(key)


def _text(text: str) -> str:
    """A basic string of TOML: JSON's are, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _toml(value: object, classes: list[type[Engine]]) -> str:
    """A value as TOML has it in one line. Classes of engines stand as their names, and are added to `classes`."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case float():
            # Of NumPy's, which are such numbers too, repr gives a call.
            return float.__repr__(value)
        case type() if issubclass(value, Engine):
            if value not in classes:
                classes.append(value)
            return _text(value.engine_name())
        case Mapping():
            table = cast("Mapping[object, object]", value)
            return f"{{ {', '.join(f'{_key(key)} = {_toml(inner, classes)}' for key, inner in table.items())} }}"
        case Iterable():
            return f"[{', '.join(_toml(inner, classes) for inner in cast('Iterable[object]', value))}]"
        case SupportsIndex():
            return str(operator.index(value))
        case _:
            raise ArgumentError(f"a plan holds text, numbers, lists and tables, and not {type(value).__name__}")
