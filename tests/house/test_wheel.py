"""An installed wheel works in a fresh environment, from another folder."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from browsing import served
from cases import ROOT, clean_environment
from dplearn import DPSGD

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

INSTALLING = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def done(command: list, *, folder: Path) -> str:
    """Return the output of a command that must succeed without this checkout on its path."""
    environment = clean_environment(PYTHONPATH="")
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, f"{command} ended with {ended.returncode}: {ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build a wheel from a copy of the tree, since building leaves files behind."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("dplearn", "data"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    (source / ".streamlit").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "app.py", ".streamlit/config.toml"):
        shutil.copy(ROOT / name, source / name)
    (addressed,) = re.findall("printf .*", (ROOT / ".github/workflows/release.yml").read_text())
    place = {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "us/dplearn"}
    subprocess.run(["bash", "-c", addressed], cwd=source, env=place, check=True)
    building = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source]
    done([*INSTALLING, *building], folder=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel) -> Path:
    """Return the programs of a new environment with the wheel and this environment's packages."""
    environment = wheel.parent / "environment"
    done([sys.executable, "-m", "venv", "--without-pip", environment], folder=wheel.parent)
    programs = environment / "bin"
    installing = ["--python", programs / "python", "install", "--no-deps", "--no-index", wheel]
    done([*INSTALLING, *installing], folder=wheel.parent)
    (own,) = environment.glob("lib/python*/site-packages")
    # A plain path, so that .pth files of this environment, such as this checkout's, are ignored.
    (own / "others.pth").write_text(sysconfig.get_path("purelib"))
    return programs


def test_the_wheel_contains_every_file(wheel):
    """Check each file of the package, each table, and the licence."""
    files = [path.relative_to(ROOT) for path in (ROOT / "dplearn").rglob("*") if path.is_file()]
    expected = {str(path) for path in files if "__pycache__" not in path.parts}
    expected |= {f"dplearn/data/{path.name}" for path in (ROOT / "data").glob("*.csv*")}
    inside = zipfile.ZipFile(wheel).infolist()
    assert sum(file.file_size for file in inside) < 3e6 and wheel.stat().st_size < 1e6
    packed = {file.filename for file in inside}
    assert expected <= packed, f"not in the wheel: {sorted(expected - packed)}"
    assert any(name.endswith("licenses/LICENSE") for name in packed)
    (result,) = [name for name in packed if name.endswith("/METADATA")]
    metadata = zipfile.ZipFile(wheel).read(result).decode()
    assert "\nProject-URL: Repository, https://example.org/us/dplearn\n" in metadata
    assert not [name for name in packed if name.startswith(("tests", "data", "lessons"))]
    foreign = r"\.min\.|\.woff|katex|reveal|plotly.*js"
    assert not [name for name in packed if re.search(foreign, name)], "holds the code of others"


def test_installed_command_line_works_and_reads_its_tables(programs, tmp_path):
    verified = done([programs / "dplearn", "verify", "G-A8", "P01"], folder=tmp_path)
    assert " verified " in verified and "refuted square" in verified
    words = "epsilon --noise-multiplier 4 --sample-rate 0.01 --steps 10000 --delta 1e-5 --json"
    (row,) = json.loads(done([programs / "dplearn", *words.split()], folder=tmp_path))
    run = DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=10_000)
    assert row["epsilon"] == run.guarantee(delta=1e-5).epsilon
    code = (
        "import dplearn; from dplearn.datasets import digits, shipped_table\n"
        "print(dplearn.__file__, shipped_table('published.csv'), len(digits().labels), sep='\\n')"
    )
    package, table, count = done([programs / "python", "-c", code], folder=tmp_path).splitlines()
    own = str(programs.parent)
    assert package.startswith(own) and table.startswith(own) and count == "1797"


def test_explorer_opens_from_the_installed_wheel(programs, tmp_path):
    with served(programs / "python", folder=tmp_path, PYTHONPATH="") as url:
        assert url.startswith("http://127.0.0.1:")
