"""Pages of the lessons, of their README, and of the yardstick, a benchmark of accountants."""

import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dplearn.teaching.classroom import answering
from dplearn.teaching.classroom.html import NEEDED, from_markdown
from dplearn.teaching.classroom.sources import Lesson, built_cells, in_chinese, lessons, timetable
from dplearn.teaching.site.html import Page, sections

_SCRIPTS = (*NEEDED, "progress.js")


def lesson_pages(folder: Path, python: bool) -> Iterator[Page]:
    """Yield a page per lesson, with a table of contents and links to the adjacent lessons.

    A lesson with a Chinese text has a second page, and the two pages link to each other.
    """
    every = list(lessons(folder).values())
    cells = list(map(built_cells, every))
    titles = [each[0].source.partition("\n")[0].lstrip("# ") for each in cells]
    links = [
        f'<a href="{lesson.name}.html">{html.escape(title)}</a>'
        for lesson, title in zip(every, titles, strict=True)
    ]
    scripts = (*_SCRIPTS, "numbers.js", *answering.ASSETS, "projector.js")
    for k, lesson in enumerate(every):
        before, after = links[k - 1] if k else "", "".join(links[k + 1 : k + 2])
        turn = f'<nav class="turn" aria-label="Lessons"><p>{before}</p><p>{after}</p></nav>\n'
        editions = [("en", lesson.name, cells[k], "")]
        if lesson.chinese.exists():
            link = '<p class="language"><a href="{}.html" lang="{}">{}</a></p>\n'
            there, back = f"{lesson.name}.zh", link.format(lesson.name, "en", "English")
            editions = [("en", lesson.name, cells[k], link.format(there, "zh", "中文"))]
            editions.append(("zh", there, in_chinese(lesson, cells[k]), back))
        for language, name, result, other in editions:
            body = answering.body(lesson, result, python=python)
            article = f'{other}<div lang="{language}">{body}</div>\n{turn}'
            yield Page(f"lessons/{name}.html", titles[k], article, scripts, _contents(lesson, body))


def _contents(lesson: Lesson, body: str) -> str:
    planned = timetable(lesson.source.read_text(encoding="utf-8"))
    rows = []
    for anchor, heading, _ in sections(body):
        number = heading.partition(" ")[0]
        minutes = planned.get(int(number)) if number.isdecimal() else None
        time = f" <small>{minutes} min</small>" if minutes else ""
        rows.append(f'<li><a href="#{anchor}">{heading}</a>{time}</li>' if anchor else "")
    return (
        f'<nav class="contents" aria-label="Contents" data-lesson="{lesson.number}"'
        f' data-asked="{_asked(body)}"><details><summary>Contents</summary>'
        f"<ol>{''.join(rows)}</ol></details></nav>\n"
    )


def _asked(body: str) -> int:
    return body.count(' data-ask="')


def readme_page(folder: Path, of_lessons: Iterable[Page]) -> Page:
    """Return the page of the lessons' README, with numbers of questions for progress.js."""
    text = (folder / "README.md").read_text(encoding="utf-8").replace("](#", "](README.md#")
    counts = {page.title[:2]: _asked(page.body) for page in of_lessons}
    asked = f'<script type="application/json" id="asked">{json.dumps(counts)}</script>'
    return Page("lessons/index.html", "Lessons", from_markdown(text) + asked, _SCRIPTS)


def yardstick_pages(folder: Path) -> Iterator[Page]:
    """Yield a page for each Markdown file in the folder `conformance`, which may be absent."""
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\]\((?:findings/)?([\w-]+)\.md\)", r"](\1.html)", text)
        name = "index" if path.stem == "README" else path.stem
        title = text.partition("\n")[0].removeprefix("# ")
        yield Page(f"yardstick/{name}.html", title, from_markdown(text))


def taught(pages: Iterable[Page]) -> dict[str, str]:
    """Return links to the first mention of each formula in each lesson, keyed by formula id."""
    places: dict[str, dict[str, str]] = {}
    for page in pages:
        if page.path.endswith(".zh.html"):
            continue
        for anchor, heading, body in sections(page.body):
            words = f"{html.escape(page.title)}, {heading}" if anchor else html.escape(page.title)
            link = f'<a href="{Path(page.path).stem}.ipynb{anchor and "#"}{anchor}">{words}</a>'
            for id in re.findall(r":formula_book\?id=([\w-]+)", body):
                places.setdefault(id, {}).setdefault(page.path, link)
    return {id: "; ".join(links.values()) for id, links in places.items()}
