"""The example that CONTRIBUTING walks through works: one file and one test, nothing else."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n# (\S+\.py)\n(.*?)```", re.DOTALL)


@pytest.mark.slow
def test_the_example_needs_one_file_and_one_test(tmp_path):
    for folder in ("dplearn", "tests", "data"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    files = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text())
    assert [Path(name).parts[0] for name, _ in files] == ["dplearn", "tests"]
    for name, text in files:
        assert not (tmp_path / name).exists()
        (tmp_path / name).write_text(text)
    asked = [files[1][0], "tests/accountants/test_contract.py", "tests/house/test_floors.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *asked]
    ran = subprocess.run(
        [*command, "-k", "logistic or Logistic or floors or import"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    # Its own five items are not all: the contract has taken it in.
    assert int(re.findall(r"(\d+) passed", ran.stdout)[0]) > 8, ran.stdout
    lint = [sys.executable, "-m", "ruff", "check", "--no-cache", *(name for name, _ in files)]
    assert subprocess.run(lint, cwd=tmp_path, check=False).returncode == 0
