"""The questions at the end of a lesson: a letter each, and an explanation for every choice.

They are read from the lesson's text, where each choice is a line that opens to say why, so that
they also answer where no kernel runs.
"""

import re
from dataclasses import dataclass
from typing import Any

from dplearn.classroom.checks import Verdict
from dplearn.classroom.sources import Lesson

_QUESTION = re.compile(
    r"^# \*\*(\d)\*\* (.+?)(?=^# \*\*\d\*\* |^# %%|\Z)", re.MULTILINE | re.DOTALL
)
_CHOICE = re.compile(r"<summary>([a-e])\. .*?</summary>(.*?)</details>", re.DOTALL)
_RIGHT = "Right. "


@dataclass(frozen=True)
class SelfTest:
    """Questions with one right choice each; the answer is a string of letters."""

    key: str  # such as "10.test"
    choices: tuple[dict[str, str], ...]  # for each question, letter -> why it is right or not

    @property
    def right(self) -> str:
        """The right letters; a question without exactly one is a ValueError."""
        letters = [
            [c for c, why in each.items() if why.startswith(_RIGHT)] for each in self.choices
        ]
        if any(len(right) != 1 for right in letters):
            raise ValueError(
                f"Expected one choice with {_RIGHT!r} for each question of {self.key}."
            )
        return "".join(letter for (letter,) in letters)

    def verdict(self, answer: Any) -> Verdict:
        """Verdict on `answer`, which may be anything at all."""
        count = len(self.choices)
        if answer is None or answer == "":
            todo = f"write {count} letters between the quotes, - for a question left out."
            return Verdict("open", f"{self.key} not answered yet", (todo,))
        if not isinstance(answer, str) or len(answer := re.sub(r"[\s,]", "", answer)) != count:
            problem = f"write {count} letters in quotes, such as {('abcab' * count)[:count]!r}."
            return Verdict("unreadable", f"{self.key} not readable", (problem,))
        pairs = list(zip(answer.lower(), self.choices, strict=True))
        whys = [each.get(letter, "Left out.") for letter, each in pairs]
        points = sum(why.startswith(_RIGHT) for why in whys)
        shown = [
            f"{number} {letter}  {'Right.' if why.startswith(_RIGHT) else why}"
            for number, (letter, why) in enumerate(zip(answer, whys, strict=True), start=1)
        ]
        outcome, head = "wrong", f"{self.key} not yet, {points} of {count}"
        if points == count:
            outcome, head = "right", f"{self.key} right, {count} of {count}"
        return Verdict(outcome, head, ("the lines above say more.",), tuple(shown), points)


def self_test(lesson: Lesson) -> SelfTest:
    """The self-test of a lesson, from its source; one without choices has no questions."""
    text = lesson.source.read_text(encoding="utf-8")
    questions = [dict(_CHOICE.findall(question)) for _, question in _QUESTION.findall(text)]
    plain = [{c: _plain(why) for c, why in choices.items()} for choices in questions if choices]
    return SelfTest(f"{int(lesson.number)}.test", tuple(plain))


def _plain(markdown: str) -> str:
    """A commented paragraph on one line."""
    return " ".join(re.sub(r"^# ?|[$`*]", "", markdown, flags=re.MULTILINE).split())
