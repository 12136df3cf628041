"""Every entry of the book is linked from a lesson."""

import re

from dplearn.book import book
from dplearn.classroom import sources


def test_each_entry_is_linked_from_a_lesson_and_each_link_leads_to_one():
    folder = sources.lessons_folder() / "sources"
    lessons = "\n".join(path.read_text() for path in sorted(folder.glob("*/lesson.py")))
    linked = set(re.findall(r"formula_book\?id=(G-[A-Z]\d+[a-h]?)\b", lessons))
    assert not (new := sorted(set(book) - linked)), f"link {new} from a lesson"
    assert not (lost := sorted(linked - set(book))), f"lessons link {lost}, which the book lacks"
