"""Code in the pages of the book that say so runs, a page a script."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "src" / "how-to"
MARK = "<!-- run by test_documents.py -->\n```python\n"
MARKED = sorted(path for path in PAGES.glob("*.md") if MARK in path.read_text())


def test_pages_are_found() -> None:
    assert [path.stem for path in MARKED] == ["engine-in-python", "studies-from-python", "tokens-with-pyjwt"]


@pytest.mark.parametrize("page", MARKED, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    blocks = re.findall(re.escape(MARK) + "(.*?)```", page.read_text(), re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(blocks))
    ended = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr


def test_the_engine_of_the_page_has_few_lines() -> None:
    page = (PAGES / "engine-in-python.md").read_text()
    source = page.split(MARK)[1].split("```")[0]
    assert len([line for line in source.splitlines() if line.strip()]) <= 20
