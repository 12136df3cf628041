"""Words, lines of code and planned minutes of a lesson in class, and their limits."""

import re

from dplearn.teaching.classroom.sources import FOLDED, Lesson, built_cells, timetable

LIMITS = {"words": 1300, "lines of code": 60, "minutes": 50}


def counted(lesson: Lesson) -> dict[str, int]:
    """Return the words, lines of code and planned minutes of a lesson's part in class."""
    words, lines = 0, 0
    for cell in built_cells(lesson):
        if cell.cell_type == "code":
            folded = FOLDED in cell.metadata.get("tags", ())
            lines += 0 if folded else len([*filter(str.strip, cell.source.splitlines())])
            continue
        # Drop link addresses and folded text, but not the summary of a fold.
        seen = re.sub(r"(?s)<summary>(.*?)</summary>.*?(?=</details>)", r"\1", cell.source)
        seen = re.sub(r"</?details>|\]\([^)]*\)", " ", seen)
        in_class, *home = re.split(r"^(?=## \d+ At home)", seen, maxsplit=1, flags=re.MULTILINE)
        words += len(re.findall(r"\S*\w\S*", in_class))
        if home:
            break
    minutes = sum(timetable(lesson.source.read_text(encoding="utf-8")).values())
    return {"words": words, "lines of code": lines, "minutes": minutes}


def too_much(load: dict[str, int]) -> list[str]:
    """Return a phrase for each limit of a lesson in class that is exceeded."""
    return [f"{n} {what}, at most {LIMITS[what]}" for what, n in load.items() if n > LIMITS[what]]
