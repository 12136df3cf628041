"""Sources of lessons, and the cells of their notebooks.

A lesson is a folder ``lessons/sources/NN_name`` with ``lesson.py``, Python in jupytext's percent
format, and ``exercises.py``, right answers and hints. The cells differ from the source as follows:

* a link ``explorer:?mechanism=gaussian&delta=1e-5`` leads to a page that needs no explorer, and
  has its query as a title;
* a line ``**1** 04.2`` becomes question 2 of the self-test of lesson 04;
* NN in ``*To here NN minutes.*`` and ``**Time** NN minutes`` becomes a sum of planned minutes;
* the id of a cell is a digest of its text, so that a rebuilt notebook has few differences.

One source gives two editions. The students' edition lacks the teaching notes, which are cells
tagged ``instructor``. The instructor's edition has them, unfolded solutions and answered exercises.
"""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

FOLDED = "hide-input"  # tag of a cell that only draws; its code is folded
# Public address of the site with a slash at the end; empty while there is no public site.
ADDRESS = ""
_ASKED = re.compile(r"\]\(explorer:([^)\s]*)\)")

Edition = Literal["student", "instructor"]

# Multiple-choice questions at a lesson's start, about a misconception, and at its end. The text
# has all choices with their reasons; the reason of the right choice begins with RIGHT.
CHOSEN = ("warmup", "vote", "test")
_CHOICE = re.compile(r"<summary>([a-e])\. .*?</summary>(.*?)</details>", re.DOTALL)
RIGHT = "Right. "
_ASKED_BEFORE = re.compile(r"^# \*\*(\d)\*\* (\d\d)\.(\d)$", re.MULTILINE)
# Patterns of a timetable row (minutes, section number) and of places for sums of minutes.
_PLANNED = re.compile(r"^# (?:> )?\| (\d+) \| (\d+) ", re.MULTILINE)
_CLOCK = re.compile(r"(?:(?<=\*\*Time\*\* )|(?<=^# \*To here ))NN(?= minutes)", re.MULTILINE)
# Patterns of parts that a text cell shares with its Chinese translation: code (except `None`,
# which only notebooks ask to replace), formulas, links, folds and tables.
_COMMON = [r"```[\s\S]*?```|`(?!None`)[^`\n]+`", r"\$\$[\s\S]*?\$\$|\$[^$]+\$"]
_COMMON += [r"\]\([^)\s]+\)", r"</?details>|^\|"]
_NOT_COMMON = re.compile(r"```[\s\S]*?```|`[^`]*`|\$\$[\s\S]*?\$\$|\$[^$]*\$|\]\([^)]*\)")
_OUTDATED = "\n\n*这段文字的中文译文已过时，此处为英文原文。*"
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class LessonError(ValueError):
    """Error for a lesson that cannot be found or built."""


@dataclass(unsafe_hash=True)
class Lesson:
    """Source folder of a lesson, and the lesson's files."""

    folder: Path

    def __post_init__(self) -> None:
        folder = self.folder
        self.name = folder.name  # number and words, such as "03_gaussian_mechanism"
        self.number = self.name[:2]  # two digits; appendices have 90 and above
        self.source = folder / "lesson.py"  # text and code of both editions
        self.chinese = folder / "zh.md"  # optional: the text cells in Chinese, separated by %%
        self.exercises = folder / "exercises.py"  # right answers and hints; optional in appendices
        self.figures = folder / "figures.py"  # optional: functions that draw
        self.notebook = folder.parents[1] / f"{self.name}.ipynb"  # the students' edition


def lessons_folder() -> Path:
    """Return the folder ``lessons`` in or above the working directory, or beside the package."""
    working = Path.cwd()
    beside = Path(__file__).resolve().parents[3] / "lessons"
    above = (near for up in (working, *working.parents) for near in (up, up / "lessons"))
    for folder in (*above, beside):
        if any(folder.glob("sources/[0-9][0-9]_*/lesson.py")):
            return folder
    raise LessonError(
        "Expected the lessons' exercises in lessons/sources, in the working directory "
        f"{working} or above it; open the notebook inside a checkout of dplearn."
    )


def lessons(folder: Path | None = None) -> dict[str, Lesson]:
    """Return the lessons in a folder (default: `lessons_folder`), keyed and sorted by number."""
    sources = sorted((folder or lessons_folder()).glob("sources/[0-9][0-9]_*/lesson.py"))
    return {lesson.number: lesson for lesson in (Lesson(source.parent) for source in sources)}


def led(text: str) -> str:
    """Redirect explorer links in Markdown to the site or, for pages not there, to a local file."""

    def target(match: re.Match[str]) -> str:
        if ADDRESS and (place := on_site(match[1])):
            return f"]({ADDRESS}{place})"
        entry = re.match(r"formula_book\?id=([\w-]+)", match[1])
        there = f"formulas.md#{entry[1]}" if entry else "../README.md#start"
        return f']({there} "explorer:{match[1]}")'

    return _ASKED.sub(target, text)


def on_site(asked: str) -> str:
    """Return the site's path for an explorer link, or "" if the site lacks the page."""
    # Imported late, because lesson pages with Pyodide do not contain `browser`.
    from dplearn.teaching.browser import CLOSED_FORMS

    parts = urlsplit(asked)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    noise, page = query.get("mechanism", "gaussian"), parts.path
    poisson = query.get("sampling", "poisson") in ("poisson", "none")
    if page == "formula_book" and "id" in query:
        misprint = query.get("misprint", "none")
        return f"book/{query['id']}.html{'' if misprint == 'none' else f'#{misprint}'}"
    if page == "mechanisms" and noise in CLOSED_FORMS:
        return f"mechanisms.html?{parts.query}"
    if page == "proof_and_attack":
        return f"attack.html{parts.query and '?'}{parts.query}"
    if (page, noise) == ("", "gaussian") and "then" not in query and poisson:
        return f"explorer.html?{parts.query}"
    return ""


def text(lesson: Lesson) -> str:
    """Return a lesson's source, with inserted questions of earlier lessons and sums of minutes."""

    def again(match: re.Match[str]) -> str:
        number, earlier, which = match.groups()
        paths = lesson.folder.parent.glob(f"{earlier}_*/lesson.py")
        for path in paths if earlier < lesson.number else ():
            every = _questions(path.read_text(encoding="utf-8"), "test")
            if 0 < int(which) <= len(every):
                asked = every[int(which) - 1].removeprefix(f"# **{which}**").rstrip("#\n ")
                return f"# **{number}** (lesson {earlier}){asked}"
        raise LessonError(f"Expected a question of an earlier self-test, got {earlier}.{which}.")

    source = lesson.source.read_text(encoding="utf-8")
    source, planned = _ASKED_BEFORE.sub(again, source), timetable(source)

    def minutes(match: re.Match[str]) -> str:
        before, last = source[: match.start()], max(planned, default=0)
        if before.endswith("To here "):
            last = int(re.findall(r"^# ## (\d+) |\A", before, re.MULTILINE)[-1] or 0)
        return str(sum(planned[part] for part in planned if part <= last))

    return _CLOCK.sub(minutes, source)


def timetable(source: str) -> dict[int, int]:
    """Return the planned minutes by section number, from the timetable in a lesson's source."""
    return {int(section): int(minutes) for minutes, section in _PLANNED.findall(source)}


def read(lesson: Lesson, edition: Edition = "student") -> Any:
    """Convert a lesson's source to a notebook with kernel metadata and without outputs."""
    import jupytext

    notebook = jupytext.reads(text(lesson), fmt="py:percent")
    if edition == "instructor":
        for cell, following in itertools.pairwise(notebook.cells):
            key = exercise_key(cell)
            if (part := key.rpartition(".")[2]) in CHOSEN:
                letters = right_letters(questions(lesson, part))
                cell.source = cell.source.replace('""', f'"{letters}"', 1)
            elif key:
                cell.source = solution(following.source, key)
        for cell in notebook.cells:
            cell.source = cell.source.replace("<details>", "<details open>")
    else:
        tags = lambda cell: cell.metadata.get("tags", ())
        notebook.cells = [cell for cell in notebook.cells if "instructor" not in tags(cell)]
    copies = Counter[str]()
    drawing = lesson.figures.read_text(encoding="utf-8") if lesson.figures.exists() else ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = led(cell.source)
        lines = f"{cell.cell_type}\n{cell.source}"
        # Cells that draw depend on figures.py, so their digest includes that file.
        lines += drawing if "pictures(" in cell.source else ""
        digest = hashlib.sha256(lines.encode()).hexdigest()[:10]
        copies[digest] += 1
        cell.id = digest if copies[digest] == 1 else f"{digest}-{copies[digest]}"
        cell.metadata = {k: v for k, v in cell.metadata.items() if k == "tags"}
        if FOLDED in cell.metadata.get("tags", ()):
            cell.metadata["jupyter"] = {"source_hidden": True}
    notebook.metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def in_chinese(lesson: Lesson, cells: Sequence[Any]) -> list[Any]:
    """Return the cells of a built lesson with their text in Chinese.

    A text stays in English, with a note, if its Chinese differs in code, formulas, links or
    numbers.
    """
    chinese = led(lesson.chinese.read_text(encoding="utf-8")).rstrip().split("\n%%\n")
    english = [cell.source for cell in cells if cell.cell_type == "markdown"]
    equal = SequenceMatcher(None, [*map(_common, english)], [*map(_common, chinese)], False)
    lines = [each + _OUTDATED for each in english]
    for first, other, size in equal.get_matching_blocks():
        lines[first : first + size] = chinese[other : other + size]
    shown = iter(lines)
    return [
        type(cell)(cell, source=next(shown)) if cell.cell_type == "markdown" else cell
        for cell in cells
    ]


def _common(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the parts of a text that its translation must share, such as formulas and numbers."""
    bare = re.sub(r"(?<=\d)[, ](?=\d{3})", "", _NOT_COMMON.sub(" ", text))
    parts = [re.findall(pattern, text, re.MULTILINE) for pattern in _COMMON]
    return tuple(tuple(sorted(each)) for each in [*parts, re.findall(r"\d+(?:\.\d+)?|[εδσ]", bare)])


def outdated(lesson: Lesson) -> str:
    """Return a line for each text cell that is still English on a built lesson's Chinese page."""
    both = lesson.chinese.exists() and lesson.notebook.exists()
    shown = in_chinese(lesson, built_cells(lesson)) if both else ()
    return "".join(
        f"Chinese {lesson.name}: cell {number} is shown in English, as {lesson.chinese.name} has"
        f" other numbers, code, formulas or links: {cell.source.strip().splitlines()[0][:60]!r}\n"
        for number, cell in enumerate(shown, start=1)
        if cell.cell_type == "markdown" and cell.source.endswith(_OUTDATED)
    )


def exercise_key(cell: Any) -> str:
    """Return the key of the exercise that a code cell checks, or an empty string."""
    call = re.search(r'^check\("([\w.]+)", \w+\)', cell.source, re.MULTILINE)
    return call[1] if call and cell.cell_type == "code" else ""


def questions(lesson: Lesson, part: str = "test") -> tuple[dict[str, str], ...]:
    """Return why each choice is right or wrong, for each question in a `part` of a lesson."""
    choices = [dict(_CHOICE.findall(question)) for question in _questions(text(lesson), part)]
    plain = lambda why: " ".join(re.sub(r"^# ?|[$`*]", "", why, flags=re.MULTILINE).split())
    return tuple({c: plain(why) for c, why in each.items()} for each in choices)


def _questions(source: str, part: str) -> list[str]:
    """Return the questions, with their choices, in the cell before ``check("N.part", ...)``."""
    for before, cell in itertools.pairwise(re.split(r"^# %%", source, flags=re.MULTILINE)):
        if re.search(rf'^check\("\d+\.{part}", ', cell, re.MULTILINE):
            each = re.split(r"^(?=# \*\*\d\*\* )", before, flags=re.MULTILINE)
            return [question for question in each if _CHOICE.search(question)]
    return []


def right_letters(choices: Sequence[dict[str, str]]) -> str:
    """Return the right letter of each question; raise LessonError unless each question has one."""
    letters = [[c for c, why in each.items() if why.startswith(RIGHT)] for each in choices]
    if any(len(right) != 1 for right in letters):
        raise LessonError(f"Expected one choice with {RIGHT!r} for each question, got {letters}.")
    return "".join(letter for (letter,) in letters)


def solution(markdown: str, key: str) -> str:
    """Return the code of the folded solution of exercise `key`, or raise LessonError."""
    head = f"<details><summary>Solution of {key}</summary>"
    code = re.search(r"```python\n(.*?)\n```.*</details>\s*$", markdown, re.DOTALL)
    if not markdown.startswith(head) or code is None:
        raise LessonError(f"Expected the solution of {key} after it, got {markdown[:60]!r}.")
    return code[1]


def built_cells(lesson: Lesson) -> list[Any]:
    """Return the cells of a lesson's notebook."""
    import nbformat.v4  # slow to import, and not needed by notebooks

    return nbformat.v4.reads(lesson.notebook.read_text(encoding="utf-8")).cells


def is_stale(lesson: Lesson) -> str:
    """Return how a notebook differs from its lesson's source, or an empty string."""
    if not lesson.notebook.exists():
        return "it was never built"
    built, fresh = built_cells(lesson), read(lesson).cells
    if len(built) != len(fresh):
        return f"it has {len(built)} cells, the source has {len(fresh)}"
    for number, (old, new) in enumerate(zip(built, fresh, strict=True), start=1):
        if any(old[key] != new[key] for key in ("cell_type", "source", "id", "metadata")):
            return f"cell {number} differs: {new.source.splitlines()[0][:60]!r}"
    return ""
