"""Self-tests at the end of a lesson: answers are letters, and each gets an explanation."""

import pytest
from tiny import question, written_lesson

from cases import each
from dplearn.teaching.classroom import sources
from dplearn.teaching.classroom.checks import SelfTest, self_test

NOISE = (("a. Yes.", "No. Count the\nquestions."), ("b. No.", "Right. $m$ answers average out."))
ROUNDED = (("a. Neither.", "Right. It is noise."), ("b. Yes.", "No. It is noise."))
TEXT = f"""\
# %% [markdown]
# ## 12 Ask yourself
#
{question("**1** Is *noise* enough?", *NOISE)}{question("**2** And rounding?", *ROUNDED)}
# %%
answers = ""
check("90.test", answers)

# %% [markdown]
# **3** No question stands here.
"""


@pytest.fixture
def questions(tmp_path):
    return self_test(written_lesson(tmp_path, "90_tiny", TEXT))


CASES = [
    ("ba", "right", "90.test right, 2 of 2: the lines above say more.\n  1 b  Right.\n  2 a  R"),
    ("B, A", "right", "90.test right, 2 of 2"),
    ("aa", "wrong", "90.test not yet, 1 of 2: the lines above say more.\n  1 a  No. Count"),
    ("b-", "wrong", "\n  2 -  Left out."),
    ("bz", "wrong", "\n  2 z  Left out."),
    ("", "open", "90.test not answered yet: write 2 letters between the quotes"),
    (None, "open", "90.test not answered yet"),
    ("b", "unreadable", "90.test not readable: write 2 letters in quotes, such as 'ab'."),
    (["b", "a"], "unreadable", "90.test not readable"),
]


def test_each_chosen_letter_gets_its_explanation(questions):
    assert questions.key == "90.test" and questions.right == "ba"
    for answer, outcome, words in CASES:
        verdict = questions.verdict(answer)
        assert verdict.outcome == outcome and words in verdict.text(), verdict.text()


def test_self_test_of_one_question_asks_for_one_letter(questions):
    vote = SelfTest("90.vote", questions.choices[:1])
    assert vote.verdict("").text() == "90.vote not answered yet: write 1 letter between the quotes."
    assert "write 1 letter in quotes, such as 'a'." in vote.verdict("ab").text()


def test_question_with_two_right_choices_is_refused(tmp_path):
    lesson = written_lesson(tmp_path, "90_tiny", TEXT.replace("No. Count", "Right. Count"))
    with pytest.raises(ValueError, match=r"one choice with 'Right\. ' for each question, got"):
        _ = self_test(lesson).right


@each("lesson", [lesson for number, lesson in sources.lessons().items() if number < "90"])
def test_right_letters_vary_and_choices_have_different_explanations(lesson):
    questions = self_test(lesson)
    assert len(set(questions.right)) > 1
    assert all(len(set(choices.values())) == len(choices) for choices in questions.choices)
