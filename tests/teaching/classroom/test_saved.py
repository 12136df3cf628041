"""Saved solutions: saving, refusing, and loading in later lessons."""

import linecache
import os
import textwrap
from datetime import date
from types import SimpleNamespace

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from dplearn.teaching.classroom import check, mine, saved
from dplearn.teaching.classroom.checks import Reply, exercise_of
from dplearn.teaching.classroom.sources import LessonError

RIGHT = """\
def delta_of(p, q, epsilon):
    # by hand
    over = lambda p, q: sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q))
    return max(over(p, q), over(q, p))
"""
SCALED = RIGHT.replace("math.exp(epsilon)", "scale(epsilon)")
COPIED = "def did_copy(count, pupils, pupil):\n    return count(pupils) > count(pupils - {pupil})\n"


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DPLEARN_MINE", raising=False)
    return tmp_path / "my_dp.py"


def run(*cells, **names):
    """Return the names that notebook cells define, as IPython runs them."""
    scope = {"__name__": "__main__", "In": [""], **names}
    for cell in cells:
        name = f"<cell {len(scope['In'])} {hash(cell)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        scope["In"].append(cell)
        exec(compile(cell, name, "exec"), scope)
    return scope


def kept(capsys, key, *cells, name="delta_of"):
    """Return the reply of `check` with `keep` to the function that the last cell defines."""
    check(key, run(*cells)[name], keep=True)
    return capsys.readouterr().out.splitlines()[-1].strip()


def test_a_right_function_is_saved_loaded_and_the_last_one_counts(library, capsys):
    check("2.4", run("import math", RIGHT)["delta_of"])
    assert "keep=True` before the last bracket, and run it again." in capsys.readouterr().out
    assert not library.exists()
    message = 'kept as delta_of in my_dp.py; mine("delta_of") finds it in later lessons.'
    imports = "import math as math, os"
    assert kept(capsys, "2.4", imports, RIGHT) == message
    assert kept(capsys, "1.4", COPIED, name="did_copy").startswith("kept as did_copy")
    by_hand = "\n\n\ndelta_of = made_by_hand = 3\n"
    library.write_text(library.read_text().replace(" 2.4 ", " 9.9 ") + by_hand)
    os.chmod(library, 0o640)
    assert kept(capsys, "2.4", imports, RIGHT) == message
    text = library.read_text()
    assert text.count("# by hand") == text.count("def did_copy") == 1 and by_hand in text
    assert kept(capsys, "2.4", imports, RIGHT.replace("by hand", "in another way")) == message
    assert library.read_text().startswith(text)
    assert [path.name for path in library.parent.iterdir()] == ["my_dp.py"]
    assert library.stat().st_mode & 0o777 == 0o640
    capsys.readouterr()
    assert mine("delta_of")([0.5, 0.5], [0.25, 0.75], 0.0) == 0.25
    assert capsys.readouterr().out == f"delta_of: yours, kept on {date.today()}.\n"
    check("2.4", mine("delta_of"))
    assert "2.4 right" in capsys.readouterr().out


def test_functions_edited_by_hand_are_never_replaced(library, capsys):
    for old, new in (("# by hand", "# my own words"), ("over(q, p))\n", "over(q, p))\n    pass\n")):
        kept(capsys, "2.4", "import math", RIGHT)
        library.write_text(text := library.read_text().replace(old, new))
        assert new in text and kept(capsys, "2.4", "import math", RIGHT).startswith("kept")
        assert library.read_text().startswith(text)


INSIDE = "import math\ndef made(scale):\n" + textwrap.indent(SCALED, "    ") + "    return delta_of"
REFUSED = {
    "helper": (["import math", "scale = math.exp", SCALED], "it uses `scale`, a name of this"),
    "closure": ([INSIDE, "delta_of = made(math.exp)"], "it uses `scale`, a name of this"),
    "lambda": (
        [f"import math\n{RIGHT}", "mine = delta_of\ndelta_of = lambda *case: mine(*case)"],
        "write it as `def delta_of(...):` in a cell",
    ),
    "import replaced": (
        ["import math\nfrom math import log as scale", "scale = math.exp", SCALED],
        "its text alone is not right",
    ),
}


@pytest.mark.parametrize("cells, words", REFUSED.values(), ids=REFUSED)
def test_functions_that_need_other_names_are_refused(cells, words, library, capsys):
    assert f"not kept: {words}" in kept(capsys, "2.4", *cells)
    assert not library.exists()


def test_wrong_functions_and_numbers_are_not_saved(library, capsys):
    check("2.4", run("def delta_of(p, q, epsilon):\n    return 1.0")["delta_of"], keep=True)
    check("2.2", exercise_of("2.2").right, keep=True)
    assert "kept" not in capsys.readouterr().out and not library.exists()


@pytest.mark.parametrize(
    "text, words",
    [("def (", "line 1 of my_dp.py is no Python; mend it, and run"), ("\xff", "can't decode")],
)
def test_unreadable_files_are_left_as_they_are(text, words, library, capsys):
    library.write_bytes(text.encode("latin-1"))
    assert words in kept(capsys, "2.4", "import math", RIGHT)
    assert library.read_bytes() == text.encode("latin-1")


NOT_USED = {
    "absent": (None, "ours, as no my_dp.py lies beside this notebook."),
    "other": ("x = 1", "ours, as my_dp.py has none; exercise 2.4 keeps one."),
    "broken": ("def (", "ours, as my_dp.py stops with SyntaxError: "),
    "raises": ("1 / 0", "ours, as my_dp.py stops with ZeroDivisionError: division by zero."),
    "leaves": ("exit()", "ours, as my_dp.py stops with SystemExit"),
    "wrong": ("delta_of = max", "ours, as the one in my_dp.py is not right in exercise 2.4."),
    "number": ("delta_of = 3", "ours, as the one in my_dp.py is not right in exercise 2.4."),
    "by hand": ("import math\n" + RIGHT, "yours, from my_dp.py."),
}


@pytest.mark.parametrize("text, words", NOT_USED.values(), ids=NOT_USED)
def test_mine_prints_the_origin_of_its_function(text, words, library, capsys):
    if text is not None:
        library.write_text(text)
    function = mine("delta_of")
    assert capsys.readouterr().out.startswith(f"delta_of: {words}")
    assert function([1.0], [0.5], 0.0) == 0.5
    assert (function is exercise_of("2.4").right) == words.startswith("ours")


def test_functions_that_are_not_judged_are_not_called_wrong(library):
    library.write_text("delta_of = max")
    busy = SimpleNamespace(verdict=lambda function: Reply("not judged", "", ("",)))
    message = "ours, as the one in my_dp.py is not judged in exercise 2.4."
    assert saved.load("delta_of", "2.4", busy) == (None, message)


def test_names_without_an_exercise_are_refused(library):
    for name in ("gamma_of", "answer", ""):
        with pytest.raises(LessonError, match=rf"an exercise asks for, got {name}\."):
            mine(name)


def test_a_build_neither_reads_nor_writes_the_file(library, capsys, monkeypatch):
    kept(capsys, "2.4", "import math", RIGHT)
    before = library.read_text()
    monkeypatch.setenv("DPLEARN_MINE", "")
    assert kept(capsys, "1.4", COPIED, name="did_copy").startswith("not kept: $DPLEARN_MINE")
    mine("delta_of")
    assert "ours, as no my_dp.py" in capsys.readouterr().out and library.read_text() == before


@pytest.mark.slow
def test_a_notebook_saves_a_function_and_the_next_one_uses_it(library):
    def output_of(*cells):
        notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
        NotebookClient(notebook, kernel_name="python3").execute(cwd=str(library.parent))
        return "".join(
            output.text for cell in notebook.cells for output in cell.outputs if "text" in output
        )

    imports = "%precision 3\nimport math\nfrom dplearn.teaching.classroom import check, mine"
    result = output_of(imports, f'{RIGHT}\ncheck("2.4", delta_of, keep=True)')
    assert "kept as delta_of in my_dp.py" in result
    result = output_of(imports, 'check("2.4", mine("delta_of"))')
    assert result.startswith("delta_of: yours, kept on ") and "2.4 right" in result
