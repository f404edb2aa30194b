"""The fixtures, as pytest finds them where the wheel is installed, and as a conftest.py asks for them."""

import os
import subprocess
import sys
from pathlib import Path

import rsalab

TEST = """
def test_keys(rsa_key, rsa_keys):
    assert rsa_key.bits == 2048
    assert [key.bits for key in rsa_keys(2, bits=1024)] == [1024, 1024]
"""


def installed(folder: Path) -> dict[str, str]:
    """An environment in which the modules lie as the wheel puts them, with its entry point."""
    info = folder / "rsalab-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: rsalab\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[pytest11]\nrsalab_pytest = rsalab_pytest\n")
    package = Path(rsalab.__file__).parent
    (folder / "rsalab").symlink_to(package)
    (folder / "rsalab_pytest.py").symlink_to(package.with_name("rsalab_pytest.py"))
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def run(folder: Path, test: str, environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_fixtures_are_there_where_the_wheel_is_installed(tmp_path: Path) -> None:
    (site := tmp_path / "site").mkdir()
    (tests := tmp_path / "tests").mkdir()
    environment = installed(site)
    ended = run(tests, TEST, environment)
    assert ended.returncode == 0, ended.stdout
    # A conftest.py that asked for them before goes on working, and so does one that wants none.
    (tests / "conftest.py").write_text('pytest_plugins = ["rsalab.pytest_plugin"]\n')
    assert run(tests, TEST, environment).returncode == 0
    (tests / "conftest.py").unlink()
    assert "fixture 'rsa_key' not found" in run(tests, TEST, environment, "-p", "no:rsalab_pytest").stdout


def test_a_run_that_asks_for_no_key_does_not_import_the_package(tmp_path: Path) -> None:
    (site := tmp_path / "site").mkdir()
    (tests := tmp_path / "tests").mkdir()
    environment = installed(site)
    other = "import sys\n\ndef test_other():\n    assert 'rsalab' not in sys.modules\n"
    assert run(tests, other, environment).returncode == 0
    # The package is broken: only a test that asks for a key notices.
    (site / "rsalab").unlink()
    (site / "rsalab").mkdir()
    (site / "rsalab" / "__init__.py").write_text("raise ImportError('no extension module for this machine')\n")
    assert run(tests, other, environment).returncode == 0
    failed = run(tests, TEST, environment)
    assert failed.returncode == 1 and "no extension module for this machine" in failed.stdout
