"""How lessons are tested: one kernel for each, what is compared, and what runs besides.

Plotly's JSON differs in the last bit between machines, pictures are drawn only when lessons
are built. Every figure carries numbers of its traces as text, and these are compared; the contract
compares JSON and picture with them.

A lesson runs once: after each exercise its solution runs in the same kernel and must be right,
after the last cell every number that the prose quotes must have been printed.
With `--nbval-kernel-name=warm` kernels start faster (see tests/kernels/warm).
"""

import os
import tempfile
from collections import defaultdict
from functools import cache

import pytest
from nbval.plugin import IPyNbCell
from quoted import texts, uncomputed

from dplearn.teaching.classroom.sources import Lesson, exercise_key, read
from kernels.warm.kernel import Server

# Whatever runs no notebook is spared what it loads.
pytest_plugins = ["nbval.plugin"]

# Sources of lessons run when they are imported; their notebooks are what is tested.
collect_ignore_glob = ["sources/*", "conftest.py"]

# Options of a cell that only runs, with nothing to compare.
_RUN = defaultdict(bool)
_NOT_COMPARED = ("application/vnd.plotly.v1+json",)


def pytest_configure(config):
    """Forget what the reader has kept; start what forks warm kernels, once for all workers."""
    os.environ["DPLEARN_MINE"] = ""  # what lessons print must not depend on it
    if config.getoption("nbval_kernel_name", None) == "warm" and not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory()
        server = Server(folder.name)
        config.add_cleanup(lambda: (server.stop(), folder.cleanup()))


def pytest_collectstart(collector):
    """Extend nbval's own list for each notebook it collects."""
    if collector.__class__.__name__ == "IPyNbFile":
        collector.skip_compare += _NOT_COMPARED


# Before pytest-xdist reads which items belong together.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put solutions after their exercises, and keep what belongs to a lesson in one process."""
    items[:] = [each for item in items for each in (item, *_besides(item))]
    for item in items:
        if isinstance(item, (IPyNbCell, QuotedNumbers)):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.xdist_group(item.path.name))


def _besides(item):
    """Compare what a cell of a lesson printed and drew."""
    if not isinstance(item, IPyNbCell) or not _lesson(item).source.exists():
        return
    if key := exercise_key(item.cell):
        name, number = f"Solution of {key}", item.cell_num
        yield Solution.from_parent(
            item.parent, name=name, cell_num=number, cell=item.cell, options=_RUN
        )
    if item.cell is [cell for cell in item.parent.nb.cells if cell.cell_type == "code"][-1]:
        yield QuotedNumbers.from_parent(item.parent, name="Quoted numbers")


def _lesson(item):
    return Lesson(item.path.parent / "sources" / item.path.stem)


@cache
def _teachers(lesson):
    return read(lesson, "instructor").cells


class Solution(IPyNbCell):
    """The solution of an exercise in the lesson's kernel: right, and without complaint."""

    def runtest(self):
        """Run the teacher's cell of this exercise as any other, read it, and run the student's."""
        exercise, key = self.cell, exercise_key(self.cell)
        (self.cell,) = (cell for cell in _teachers(_lesson(self)) if exercise_key(cell) == key)
        super().runtest()
        solution, told, self.cell = self.cell, self.test_outputs, exercise
        super().runtest()  # what follows finds the names as a student has left them
        self.cell, self.test_outputs = solution, told
        names = {o.get("name") for o in told}
        if "stderr" in names or f"{key} right" not in self.printed():
            self.raise_cell_error(f"Expected {key} right, got {self.printed()!r}")

    def printed(self):
        """All that the solution printed."""
        return "\n".join(texts([{"outputs": self.test_outputs or ()}]))


class QuotedNumbers(pytest.Item):
    """Numbers in the prose of both editions: a cell or a solution has printed each."""

    def runtest(self):
        """Look into what is stored, which nbval has compared, and what solutions printed."""
        solutions = [i for i in self.session.items if isinstance(i, Solution)]
        printed = [each.printed() for each in solutions if each.parent is self.parent]
        printed += texts(self.parent.nb.cells)
        teachers = _teachers(_lesson(self))
        if problems := list(uncomputed(teachers, "\n".join(printed))):
            pytest.fail("\n".join(f"{self.path.stem} {each}" for each in problems), pytrace=False)
