"""Studies where somebody looks on: on a terminal, and in the kernel of a notebook."""

import json
import os
import pty
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

from rsalab.study import Study

GRID = {"operations": ["private"], "engines": ["own", "textbook"], "bits": [512]}
LONG = {"measure": {"budget_s": 30.0, "precision": 0}, "grid": [GRID]}
CODE = "import json; from rsalab.study import Study; study = Study.run(json.loads({plan!r}), {folder!r})"


def code(folder: Path) -> str:
    return CODE.format(plan=json.dumps(LONG), folder=str(folder / "s"))


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.1)


def test_on_a_terminal_the_program_draws_and_ctrl_c_stops_the_study(tmp_path: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", code(tmp_path)])
    seen = b""

    def read() -> bytes:
        nonlocal seen
        while select.select([terminal], [], [], 0)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                part = b""
            if not part:
                break
            seen += part
        return seen

    # Blocks are being measured: the bar says how long it will take.
    wait_for(lambda: b" left" in read())
    os.write(terminal, b"\x03")
    wait_for(lambda: b"resume() goes on" in read())
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert status != 0
    assert b"stopped; everything measured so far is saved" in seen
    opened = Study.open(tmp_path / "s")
    assert opened.results["sessions"][0]["ending"] == "stopped"
    assert len(list(opened.samples)) > 0


def test_a_notebook_shows_progress_and_its_stop_button_stops_the_study(tmp_path: Path) -> None:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=dict(os.environ))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        shown: list[dict[str, Any]] = []

        def take(message: dict[str, Any]) -> None:
            shown.append(message)
            is_first = [other["msg_type"] for other in shown].count("update_display_data") == 1
            if message["msg_type"] == "update_display_data" and is_first:
                wait_for((tmp_path / "s" / "study.db").exists)
                time.sleep(1)
                manager.interrupt_kernel()

        reply = client.execute_interactive(code(tmp_path), timeout=120, output_hook=take)
        assert reply["content"]["status"] == "error" and reply["content"]["ename"] == "KeyboardInterrupt"
        assert "resume() goes on" in reply["content"]["evalue"]
        assert any(
            "<progress" in message["content"]["data"].get("text/html", "")
            for message in shown
            if "data" in message["content"]
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert Study.open(tmp_path / "s").results["sessions"][0]["ending"] == "stopped"
