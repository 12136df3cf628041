"""Small lessons, and lesson pages without charts, written into temporary folders."""

import shutil
from pathlib import Path

from dplearn.teaching import browser, site
from dplearn.teaching.classroom import answering, sources
from dplearn.teaching.classroom.html import linked

ASSETS = Path(site.__file__).parent / "assets"


def written_lesson(folder, name, text, exercises=""):
    """Write the sources of lesson `name` below a folder, and return the lesson."""
    lesson = sources.Lesson(folder / "lessons" / "sources" / name)
    lesson.folder.mkdir(parents=True)
    lesson.source.write_text(text)
    if exercises:
        lesson.exercises.write_text(exercises)
    return lesson


def question(text, *choices):
    """Return the source of a question; each choice is a summary and a reason."""
    for summary, why in choices:
        text += f"\n\n<details><summary>{summary}</summary>\n\n{why}\n\n</details>"
    return "".join(f"# {line}".rstrip() + "\n" for line in text.split("\n")) + "#\n"


def written_page(folder, number, *, python=False):
    """Write a lesson's page, without charts, and the scripts it loads; return its address."""
    lesson = sources.lessons()[number]
    body = answering.body(lesson, sources.built_cells(lesson), python=python)
    for name in (names := ("page.css", *answering.ASSETS)):
        shutil.copy(ASSETS / name, folder)
    numbers = f"<script>{browser.source('numbers', 'page/numbers')}</script>"
    file = folder / "index.html"
    file.write_text(linked(number, f"{numbers}<main>{body}</main>", names, root=""))
    return file.as_uri()
