"""Estimate how long a lesson takes in class from its built notebook."""

import re
from dataclasses import dataclass
from typing import Any

from dplearn.teaching.classroom.display import PLOTLY, SVG
from dplearn.teaching.classroom.sources import FOLDED, Lesson, built_cells

# Limits in class.
WORDS, LINES, MINUTES = 1300, 60, 50

# Words, lines of code and printed lines that a class reads in a minute.
_READ, _CODE, _PRINTED = 130, 12, 10
# Minutes besides those of reading: a picture, a guess, a proof, a question with choices, and a
# vote, which is taken twice.
_PICTURE, _GUESS, _PROOF, _QUESTION, _VOTE = 1.0, 1.5, 2.0, 0.5, 2.0
_ASIDE = 1.1  # a tenth more for the questions of the class


@dataclass(frozen=True)
class Load:
    """Load of a lesson in class: words, lines of code, and the minutes of each section."""

    words: int
    lines: int
    sections: dict[int, float]  # 0 is the part before the first numbered heading

    @property
    def minutes(self) -> float:
        """Total minutes of all sections."""
        return sum(self.sections.values())


def counted(lesson: Lesson) -> Load:
    """Return words, lines and minutes of a lesson's part in class, from its notebook."""
    section, words, lines = 0, 0, 0
    minutes = {0: 0.0}
    for cell in built_cells(lesson):
        if cell.cell_type == "code":
            folded = FOLDED in cell.metadata.get("tags", ())
            read = 0 if folded else len([*filter(str.strip, cell.source.splitlines())])
            lines += read
            minutes[section] += read / _CODE
            if re.search(r"^(predict|check)\(", cell.source, re.MULTILINE):
                votes = len(re.findall(r'^check\("\d+\.vote"', cell.source, re.MULTILINE))
                minutes[section] += _GUESS * cell.source.count("predict(") + _VOTE * votes
                continue
            printed = "\n".join(output.get("text", "") for output in cell.outputs).splitlines()
            minutes[section] += len([*filter(str.strip, printed)]) / _PRINTED + _PICTURE * (
                folded or draws(cell)
            )
            continue
        # Drop link addresses and folded text, but not the summary of a fold.
        seen = re.sub(r"(?s)<summary>(.*?)</summary>.*?(?=</details>)", r"\1", cell.source)
        seen = re.sub(r"</?details>|\]\([^)]*\)", " ", seen)
        for part in re.split(r"^(?=## )", seen, flags=re.MULTILINE):
            if re.match(r"## \d+ At home", part):
                return Load(words, lines, {k: _ASIDE * m for k, m in minutes.items()})
            if heading := re.match(r"## (\d+) ", part):
                section = int(heading[1])
            read = len(re.findall(r"\S*\w\S*", part))
            words += read
            exercises = sum(map(int, re.findall(r"\*\(In class, (\d+) minutes\.\)\*", part)))
            choices = len(re.findall(r"^\s*a\. ", part, re.MULTILINE))
            thinking = exercises + _PROOF * part.count("*Why.*") + _QUESTION * choices
            minutes[section] = minutes.get(section, 0.0) + read / _READ + thinking
    return Load(words, lines, {k: _ASIDE * m for k, m in minutes.items()})


def draws(cell: Any) -> bool:
    """Return whether a cell has drawn a picture other than the answer to a guess."""
    kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
    return "reveal(" not in cell.source and bool(kinds & {PLOTLY, SVG, "text/html"})


def too_much(load: Load) -> list[str]:
    """Return a phrase for each limit of a lesson in class that a load exceeds."""
    has = {"words": load.words, "lines of code": load.lines, "minutes": load.minutes}
    most = zip(has.items(), (WORDS, LINES, MINUTES), strict=True)
    return [f"{n:.0f} {what}, at most {limit}" for (what, n), limit in most if n > limit]
