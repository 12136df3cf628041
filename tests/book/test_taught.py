"""Every entry of the book is linked from a lesson, or waits in a list that may only shrink."""

import re

from dplearn.book import book
from dplearn.classroom import sources

# Ids by group. Who links one from a lesson takes it out here; nobody puts one in.
NOT_YET_TAUGHT = """
G-A12b
G-B3 G-B3b G-B6 G-B7 G-B7b G-B8 G-B10 G-B10b G-B11 G-B11b G-B13 G-B15 G-B16 G-B17 G-B17b
G-F10
G-H1 G-H1b G-H2 G-H2b G-H2c G-H3
G-I1 G-I1b G-I2 G-I2b G-I2c G-I3 G-I3b G-I4 G-I4b G-I5
G-J1 G-J2b G-J3 G-J3b G-J4
G-K2b
G-N1 G-N1b G-N2 G-N2b G-N2c G-N3 G-N4 G-N4b G-N5
G-S1b G-S2
"""


def test_what_no_lesson_links_is_exactly_the_list():
    folder = sources.lessons_folder() / "sources"
    lessons = "\n".join(path.read_text() for path in sorted(folder.glob("*/lesson.py")))
    linked = set(re.findall(r"formula_book\?id=(G-[A-Z]\d+[a-h]?)\b", lessons))
    waiting = NOT_YET_TAUGHT.split()
    assert len(waiting) == len(set(waiting)) and set(waiting) <= set(book)
    assert not (new := sorted(set(book) - linked - set(waiting))), f"link {new} from a lesson"
    assert not (taught := sorted(linked & set(waiting))), f"take {taught} out of the list: taught"
    assert not (lost := sorted(linked - set(book))), f"lessons link {lost}, which the book lacks"
