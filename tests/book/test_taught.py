"""Every entry of the book is linked from a lesson, or waits in a list that may only shrink."""

import re

from dplearn.book import book
from dplearn.classroom import sources

# Ids by group. Who links one from a lesson takes it out here; nobody puts one in.
NOT_YET_TAUGHT = """
G-J1 G-J2b G-J3 G-J3b G-J4
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
