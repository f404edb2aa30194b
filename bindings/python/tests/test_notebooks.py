"""The notebooks of docs/notebooks: each runs from its first cell to its last, and is stored without outputs.

Outputs would be figures of one machine, and every change of a notebook a change of a picture. What a run makes is kept,
as a page and as a notebook, in the folder that RSALAB_NOTEBOOKS names.
"""

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

FOLDER = Path(__file__).parents[3] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def outputs(notebook: Any, kind: str) -> list[str]:
    """What the cells show in a format."""
    shown = (output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)
    return [output.data[kind] for output in shown if kind in output.get("data", {})]


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "an-article-again",
        "my-engine-against-the-others",
        "what-a-signing-service-can-carry",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells and all(not cell.outputs and cell.execution_count is None for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = read(path)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    into = Path(os.environ.get("RSALAB_NOTEBOOKS") or tmp_path)
    into.mkdir(parents=True, exist_ok=True)
    page, _ = HTMLExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    (into / f"{path.stem}.html").write_text(page)
    nbformat.write(notebook, into / path.name)  # type: ignore[no-untyped-call]
    # The progress ends complete, figures are drawn, and tables are shown.
    progress = [shown for shown in outputs(notebook, "text/html") if shown.startswith("<progress")]
    assert progress
    for shown in progress:
        closed, cells = shown.removeprefix('<progress value="').split('"')[0:3:2]
        assert closed == cells
    figures = outputs(notebook, "image/svg+xml") + [x for x in outputs(notebook, "text/html") if "<svg" in x]
    assert figures
    assert any("<table" in shown for shown in outputs(notebook, "text/html"))
