"""Studies from Python: plans, tables, figures, and what happens when they are stopped."""

import importlib
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy
import polars
import pytest

import rsalab
from rsalab import _progress, study as studies
from rsalab.errors import ArgumentError, ExtraMissingError, ProgramError, ProgramNotFoundError
from rsalab.study import Study

# Without types, which it brings apart.
pandas: Any = importlib.import_module("pandas")

GRID = {"operations": ["private", "public"], "engines": ["own", "textbook"], "bits": [512]}
TITLE = 'Two "engines",\n\tcompared \x7f – ä'
PLAN = {"title": TITLE, "measure": {"budget_s": 0.2, "precision": 0.1}, "grid": [GRID]}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return Study.run(PLAN, tmp_path_factory.mktemp("studies") / "study", progress=False)


def test_a_plan_is_a_dict_text_a_path_or_a_preset(tmp_path: Path) -> None:
    text = studies.print_plan(PLAN)
    (tmp_path / "mine.toml").write_text(text)
    assert studies.print_plan(text) == text
    assert studies.print_plan(tmp_path / "mine.toml") == text
    assert studies.print_plan(str(tmp_path / "mine.toml")) == text
    assert "[[grid]]" in studies.print_plan("smoke")
    numbers = {"measure": {"budget_s": 1, "repeats": 5}, "grid": [{**GRID, "bits": range(512, 514, 2), "bare": False}]}
    assert "repeats = 5" in studies.print_plan(numbers)
    numpys = {"measure": {"budget_s": numpy.float64(0.5)}, "grid": [{**GRID, "bits": numpy.arange(512, 514, 2)}]}
    assert "budget_s = 0.5" in studies.print_plan(numpys)
    with pytest.raises(ArgumentError, match="unknown field `operation`"):
        studies.print_plan({"grid": [{"operation": ["private"]}]})
    with pytest.raises(ArgumentError, match="not object"):
        studies.print_plan({"title": object()})
    with pytest.raises(ArgumentError, match="a key of a plan is text"):
        studies.print_plan({1: 2})  # type: ignore[dict-item]
    with pytest.raises(ArgumentError, match="there is no preset"):
        studies.print_plan("nonesuch")


def test_a_study_tells_what_it_has_found(study: Study) -> None:
    assert study.title == PLAN["title"]
    assert study.is_complete
    assert len(study.findings) == 2 and all("own" in finding for finding in study.findings)
    assert study.findings[0] in repr(study)
    assert "<html" in study.report
    shown = study._repr_html_()
    assert shown.count("<svg") == len(study.figures) == 2
    figure = study.figures["private-512"]
    assert figure._repr_svg_().startswith("<svg") and figure.png().startswith(b"\x89PNG")
    assert figure.title in repr(figure)


def test_cells_and_ratios_are_those_of_the_report(study: Study) -> None:
    cells = list(study.cells)
    assert [cell["engine"] for cell in cells] == ["own", "textbook"] * 2
    figures = [row["figures"] for group in study.results["groups"] for row in group["rows"]]
    for cell, figure in zip(cells, figures, strict=True):
        assert cell["ops_per_s"] == figure["ops_per_s"]["value"]
        assert cell["ns_per_op_median"] == figure["ns_per_op"]["value"]
        assert cell["bits"] == 512 and cell["bare"] is False and cell["reason"] is None
    ratios = [row["ratio"]["to_first"] for group in study.results["groups"] for row in group["rows"]]
    assert [ratio["ratio"] for ratio in study.ratios] == [ratio["value"] for ratio in ratios]
    assert {ratio["ratio_to"] for ratio in study.ratios} == {"own"}
    # A column that is in no list is text: whatever looks like a number must be in one, but for an exponent, which may
    # be a word, a version, a title, and a seed.
    words = {"exponent", "engine_version", "study", "seed"}
    for table in (study.cells, study.samples):
        texts = {name for name, kind in table.kinds.items() if kind == "text"} - words
        shown = {(name, str(row[name])) for row in table for name in texts}
        assert not [(name, value) for name, value in shown if value.replace(".", "", 1).isdecimal()]
        assert not [(name, value) for name, value in shown if value.lower() in ("true", "false")]


def test_medians_of_the_samples_are_those_of_the_cells(study: Study, tmp_path: Path) -> None:
    samples = polars.DataFrame(study.samples).filter(polars.col("counted"))
    medians = samples.group_by("op", "engine").agg(
        (polars.col("elapsed_ns") / polars.col("operations")).median().alias("ns")
    )
    found = {(op, engine): ns for op, engine, ns in medians.iter_rows()}
    assert found == {(cell["op"], cell["engine"]): cell["ns_per_op_median"] for cell in study.cells}
    study.export(tmp_path / "samples.parquet")
    assert polars.read_parquet(tmp_path / "samples.parquet").equals(polars.DataFrame(study.samples))
    with pytest.raises(ProgramError, match="exists"):
        study.export(tmp_path / "samples.parquet")


def test_pandas_polars_and_duckdb_read_the_tables(study: Study) -> None:
    for table in (study.cells, study.ratios, study.samples):
        columns = table.to_dict()
        frame = polars.DataFrame(table)
        assert frame.columns == table.columns == list(columns)
        assert frame.to_dict(as_series=False) == columns
        kinds = {polars.String: "text", polars.Int64: "integer", polars.Float64: "number", polars.Boolean: "flag"}
        assert {name: kinds[type(dtype)] for name, dtype in frame.schema.items()} == table.kinds
        assert list(table) == frame.to_dicts()
        other = pandas.DataFrame.from_arrow(table)
        assert list(other.columns) == table.columns and len(other) == len(frame)
        with duckdb.connect() as connection:
            connection.register("given", table)
            found = connection.execute("SELECT count(*), count(DISTINCT engine) FROM given").fetchone()
        assert found == (len(frame), 2)


def test_a_table_of_no_rows_and_one_of_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    from rsalab import _table

    monkeypatch.setattr(_table, "_ROWS", 3)
    kinds = {"a": "text", "b": "integer", "c": "number", "d": "flag"}
    for count in (0, 1, 3, 8):
        rows = [["", str(row), "", "true"] if row % 2 else ["<t>", "", "0.5", "false"] for row in range(count)]
        table = _table.Table(kinds, lambda rows=rows: rows)  # type: ignore[misc]
        assert polars.DataFrame(table).to_dicts() == list(table)
        assert len(table.to_dict()["a"]) == count
        assert "<t>" not in table._repr_html_() and ("&lt;t&gt;" in table._repr_html_()) == (count > 0)
    schema = polars.DataFrame(_table.Table(kinds, list)).schema
    assert list(schema.values()) == [polars.String, polars.Int64, polars.Float64, polars.Boolean]


def test_without_nanoarrow_one_sentence_says_what_to_install(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoarrow", None)
    with pytest.raises(ExtraMissingError, match=r"pip install 'rsalab\[study\]'"):
        study.cells.__arrow_c_stream__()
    assert len(list(study.cells)) == 4


def test_what_is_kept_of_a_study_opens_too(study: Study, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(study.results))
    again = Study.open(kept)
    assert again.findings == study.findings and list(again.cells) == list(study.cells)
    with pytest.raises(ProgramError):
        list(again.samples)
    with pytest.raises(ProgramError) as raised:
        Study.open(tmp_path / "none")
    assert raised.value.code == 7
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (copy.code, str(copy)) == (7, str(raised.value))


def test_opening_a_study_changes_nothing(study: Study) -> None:
    def files() -> dict[Path, bytes]:
        # SQLite's own notes on who reads are no part of the database.
        found = (path for path in study.path.rglob("*") if path.is_file() and path.suffix != ".db-shm")
        return {path: path.read_bytes() for path in found}

    before = files()
    again = Study.open(study.path)
    assert list(again.cells) == list(study.cells) and len(list(again.samples)) > 0
    assert files() == before


def test_a_report_is_removed_with_its_study_and_not_by_a_child(study: Study) -> None:
    opened = Study.open(study.path)
    folder = opened._folder
    figure = next(iter(opened.figures.values()))
    if (child := os.fork()) == 0:
        del opened
        os._exit(0)
    os.waitpid(child, 0)
    assert opened.report and folder.exists()
    del opened
    # What was taken from a study works without its name.
    assert figure.svg() and list(Study.open(study.path).samples)
    del figure
    assert not folder.exists()


def test_a_notebook_shows_so_many_figures(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "_SHOWN_FIGURES", 1)
    shown = study._repr_html_()
    assert shown.count("<svg") == 1 and "And 1 more" in shown


def test_options_change_a_plan(tmp_path: Path) -> None:
    made = Study.run(
        PLAN,
        tmp_path / "s",
        engines=["own:plain"],
        bits=[768],
        threads=[2],
        seconds=0.1,
        seed="7" * 64,
        nice=1,
        progress=False,
    )
    assert made.results["insecure_seed"] == "7" * 64
    assert {(cell["engine"], cell["bits"], cell["threads"]) for cell in made.cells} == {("own:plain", 768, 2)}
    with pytest.raises(ArgumentError, match="holds a study already"):
        Study.run(PLAN, tmp_path / "s", progress=False)


def test_an_article_is_done_again_and_its_claims_are_judged(tmp_path: Path) -> None:
    made = Study.run(
        "text-threads",
        tmp_path / "s",
        engines=["own"],
        threads=[2, 1],
        symbols=[100, 1000],
        repeats=2,
        progress=False,
    )
    assert {cell["symbols"] for cell in made.cells} == {100, 1000}
    assert {cell["operations"] for cell in made.cells} == {2}
    claims = made.results["articles"][0]["claims"]
    assert [claim["claim"] for claim in made.claims] == [claim["claim"] for claim in claims]
    assert {claim["engine"] for claim in made.claims} == {"own"}
    # What so short a run decides depends on the machine; it says why.
    assert {claim["verdict"] for claim in made.claims} <= {"too_few_values", "not_measurable_here"}
    assert all(claim["measured"] for claim in made.claims)


def test_progress_goes_to_a_function(tmp_path: Path) -> None:
    seen: list[tuple[int, int, str, str]] = []

    def take(progress: studies.Progress) -> None:
        seen.append((progress.closed, progress.cells, progress.line, progress._repr_html_()))

    Study.run(PLAN, tmp_path / "s", progress=take)
    # Lines about blocks that a busy machine has interrupted come between.
    closed = [(closed, cells) for closed, cells, line, _ in seen if re.search(r" · own: [\d,.]+/s", line)]
    assert closed == [(1, 4), (3, 4)]
    assert seen[-1][:2] == (4, 4) and 'value="4" max="4"' in seen[-1][3]


def test_lines_of_the_program_are_understood() -> None:
    progress = studies.Progress()
    progress.take("warning: <busy>")
    assert repr(progress) == "0 of 0 cells: warning: <busy>" and "&lt;busy&gt;" in progress._repr_html_()
    progress.take("[3/98] Private operation, 512 bits, 1 thread · own: 62,240/s ±98 %")
    assert (progress.closed, progress.cells) == (3, 98)
    progress.take("5/98 cells · Private operation · own · 16 µs ±1 % · 20 s left")
    assert (progress.closed, progress.line) == (5, "Private operation · own · 16 µs ±1 % · 20 s left")
    assert _progress.follower(False) is not None


LONG = {"measure": {"budget_s": 20.0, "precision": 0}, "grid": [GRID]}


def test_ctrl_c_stops_a_study_which_then_goes_on(tmp_path: Path) -> None:
    taken = threading.Event()

    def stop() -> None:
        deadline = time.monotonic() + 30
        while not (tmp_path / "s" / "study.db").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        taken.set()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop).start()
    with pytest.raises(KeyboardInterrupt, match=r"Study.open\('.*'\).resume\(\) goes on"):
        Study.run(LONG, tmp_path / "s", progress=lambda _: None)
    assert taken.is_set()
    stopped = Study.open(tmp_path / "s")
    assert not stopped.is_complete and "not complete" in repr(stopped) + stopped._repr_html_()
    assert stopped.results["sessions"][0]["ending"] == "stopped"
    assert len(list(stopped.samples)) > 0


SCRIPT = "import json, sys; from rsalab.study import Study; Study.run(json.loads(sys.argv[1]), 's')"


def program_of(folder: Path) -> list[int]:
    """The processes of the program that run in a folder."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if (
                entry.name.isdigit()
                and (entry / "cwd").samefile(folder)
                and (entry / "exe").samefile(studies.program())
            ):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux stops a process when its parent dies")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_study_does_not_outlive_the_process_that_runs_it(how: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, json.dumps(LONG)], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 30
        while not (tmp_path / "s" / "study.db").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        assert program_of(tmp_path)
        process.send_signal(how)
    deadline = time.monotonic() + 20
    while program_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not program_of(tmp_path)
    assert Study.open(tmp_path / "s").results["sessions"][0]["ending"] == "stopped"


def test_the_program_is_looked_for_in_three_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = studies.program()
    named = tmp_path / "named"
    named.symlink_to(real)
    monkeypatch.setenv("RSALAB_PROGRAM", str(named))
    assert studies.program() == str(named)
    monkeypatch.setenv("RSALAB_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(ProgramNotFoundError, match="RSALAB_PROGRAM names"):
        studies.program()
    monkeypatch.delenv("RSALAB_PROGRAM")
    on_path = tmp_path / "bin" / "rsalab"
    on_path.parent.mkdir()
    on_path.symlink_to(real)
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert studies.program() == str(on_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramNotFoundError, match="it is not on the path"):
        studies.program()
    # Installed with this package: a distribution whose files are this package's and a program.
    site = tmp_path / "site"
    info = site / "rsalab-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: rsalab\nVersion: 0.1.0\n")
    (info / "RECORD").write_text("rsalab/__init__.py,,\n../bin/rsalab,,\n")
    (site / "rsalab").symlink_to(Path(rsalab.__file__).parent)
    monkeypatch.syspath_prepend(str(site))
    assert studies.program() == os.path.realpath(real)
    # Another package of this name says nothing about this one.
    (site / "rsalab").unlink()
    (site / "rsalab").mkdir()
    with pytest.raises(ProgramNotFoundError):
        studies.program()


def test_engines_are_listed() -> None:
    listed: dict[str, dict[str, Any]] = {engine["name"]: engine for engine in studies.engines()}
    assert listed["own"]["present"] and listed["textbook"]["present"]
