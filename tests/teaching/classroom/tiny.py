"""A lesson of a few lines in a folder of its own."""

from dplearn.teaching.classroom.sources import Lesson


def written_lesson(folder, name, text, exercises=""):
    """Write the sources of lesson `name` below a folder, and return it."""
    lesson = Lesson(folder / "lessons" / "sources" / name)
    lesson.folder.mkdir(parents=True)
    lesson.source.write_text(text)
    if exercises:
        lesson.exercises.write_text(exercises)
    return lesson
