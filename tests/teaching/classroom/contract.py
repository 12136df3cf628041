"""Rules that every lesson must satisfy; each yields one sentence per violation.

nbval checks more: it compares a lesson's outputs with those of a new run, runs the solutions, and
checks the numbers in the prose (see lessons/conftest.py).
"""

import ast
import base64
import functools
import io
import itertools
import json
import re
import statistics
from pathlib import Path
from urllib.parse import parse_qs, urlparse

from PIL import Image
from quoted import texts, values

from cases import ROOT
from dplearn.teaching.classroom import Program, sources
from dplearn.teaching.classroom.checks import exercises, self_test
from dplearn.teaching.classroom.display import NUMBERS, PLOTLY, SVG, digest, numbers
from explorer import understood

LONGEST, MEDIAN = 25, 5  # lines of unfolded code cells: most, and largest median
LONGEST_FOLDED = 40
LIMITS = {"words": 1300, "lines of code": 60, "minutes": 50}  # maxima for the part taught in class
HEAD = ["**Time**", "**You need**", "in code | symbol"]
# Texts that every lesson or appendix has in this order; others may stand between them.
COURSE = ["Goals, minutes, needs and notation</summary>", "After this lesson you can", "At home"]
COURSE += ["Ask yourself", "On one card", "Further reading"]
APPENDIX = ["After this appendix you can", "The question", "*Experiment.*", "What is proved"]
APPENDIX += ["Exercises", "Further reading"]


def _start(text):
    return repr(text.lstrip().splitlines()[0][:60])


class Built:
    """Notebook of a lesson as stored, with the notebook that its source gives now."""

    def __init__(self, lesson):
        self.lesson, self.number = lesson, lesson.number
        # Appendices have fewer parts, and print answers instead of checking those of students.
        self.appendix = lesson.number >= "90"
        self.cells, self.source = sources.built_cells(lesson), sources.read(lesson)
        self.code = [cell for cell in self.cells if cell.cell_type == "code"]
        self.prose = [cell.source for cell in self.cells if cell.cell_type == "markdown"]
        self.text, self.printed = "\n".join(self.prose), "\n".join(texts(self.cells))


def ran_without_complaint(built):
    if [cell.execution_count for cell in built.code] != list(range(1, len(built.code) + 1)):
        yield "did not run from top to bottom: build it again"
    for cell in built.code:
        names = [output.get("name") for output in cell.outputs]
        if "stderr" in names or any(o.output_type == "error" for o in cell.outputs):
            yield f"has a cell that fails or warns: {_start(cell.source)}"
        # The next build may store the same prints in other pieces.
        if ("stdout", "stdout") in itertools.pairwise(names):
            yield f"has an output stored in pieces: {_start(cell.source)}"


def cells_are_short_and_introduced(built):
    for cell in built.code:
        most = LONGEST_FOLDED if is_folded(cell) else LONGEST
        if (lines := len(cell.source.splitlines())) > most:
            yield f"has a cell of {lines} lines, more than {most}: {_start(cell.source)}"
    seen = [cell.source.splitlines() for cell in built.code if not is_folded(cell)]
    lengths = [sum(map(bool, lines)) for lines in seen]
    if statistics.median(lengths) > MEDIAN:
        yield f"has code cells of more than {MEDIAN} lines in the median: split them"
    for before, cell in itertools.pairwise(built.cells):
        if cell.cell_type == before.cell_type == "code":
            yield f"has no words before the cell {_start(cell.source)}"


def is_folded(cell):
    """Return whether the code of a cell is folded."""
    return sources.FOLDED in cell.metadata.get("tags", ())


def parts_stand_in_order(built):
    if not built.text.startswith(f"# {built.number} "):
        yield f"does not start with its title, '# {built.number} ...'"
    parts = APPENDIX if built.appendix else COURSE
    for part in [*HEAD, *parts]:
        if part not in built.text:
            yield f"has no part {part!r}"
    places = [built.text.find(part) for part in parts]
    if -1 not in places and places != sorted(places):
        yield f"has its parts in another order than {', '.join(parts)}"
    last = built.code[-1].source
    if not (last.startswith("# Checks") and "assert " in last):
        yield "has no '# Checks' cell: the last code cell asserts what the lesson claims"
    answers = re.findall("<summary>(?:Answer to|Solution of) ", built.text)
    if built.appendix and len(answers) < 3:
        yield "has fewer than three exercises with '<summary>Answer to ...'"


def bounds_are_rounded_to_their_side(built):
    """Yield code that prints a bound rounded to the nearest digit, which may make it false."""
    for cell in built.code:
        if nearest := re.search(r"[<>]= \{[^{}]+:[^{}]*[efg]\}|\]\.epsilon:", cell.source):
            yield f"rounds a bound to the nearest digit: {nearest[0]} in {_start(cell.source)}"


def nothing_is_left_to_do(built):
    for path in filter(Path.exists, (built.lesson.source, built.lesson.exercises)):
        lines = enumerate(path.read_text().splitlines(), start=1)
        if todo := [str(number) for number, line in lines if "TODO" in line]:
            others = f" and {len(todo) - 3} more" if len(todo) > 3 else ""
            yield f"has a TODO left in {path.name}, line {', '.join(todo[:3])}{others}"


def asks_and_refutes_and_needs_only_what_came_before(built):
    asked = [len(choices) for choices in self_test(built.lesson).choices]
    if len(asked) != 5 or min(asked) < 2:
        yield "does not ask itself five questions, '**1** ...' to 5, '<summary>a. ...' and more"
    if "](formulas.md#" not in built.text:
        yield "links to no entry of the formula book, 'explorer:formula_book?id=...'"
    if "THE THREE WAYS DISAGREE" in built.printed:
        yield "prints an Evidence whose three ways disagree"
    # `Evidence` prints a sentence, lesson 16 a table of claims.
    if not re.search(r"as printed it is refuted|^refuted: ", built.printed, re.MULTILINE):
        yield "refutes nothing that is found in print: Evidence(..., printed=...)"
    line = re.search(r"^\* \*\*You need\*\* (.*)", built.prose[0], re.MULTILINE)
    for number in re.findall(r"\b\d\d\b", line[1] if line else ""):
        if number >= built.number:
            yield f"needs lesson {number}, which comes later"


def teachers_get_a_plan_and_notes(built):
    cells = sources.read(built.lesson, "instructor").cells
    notes = ["instructor" in cell.metadata.get("tags", ()) for cell in cells]
    if not cells[1].source.startswith("> **For the teacher.**") or not notes[1]:
        yield "has no plan after its title, a cell tagged instructor: '> **For the teacher.** ...'"
    planned = sum(sources.timetable(built.lesson.source.read_text()).values())
    time = re.search(r"\*\*Time\*\* (\d+) minutes", built.prose[0])
    if time is None or int(time[1]) != planned or planned > LIMITS["minutes"]:
        yield f"has a plan of {planned} minutes; '**Time** ... minutes' says the same, 50 at most"
    if "In class, 5 minutes" not in built.text:
        yield "has no exercise for the class: 'In class, 5 minutes'"
    if sum(notes[2:]) < 3:
        yield "has fewer than three notes for the teacher besides the plan"
    if "For the teacher" in built.text:
        yield "shows a note for the teacher to students: tag it instructor"


def the_class_is_short_and_is_asked(built):
    """Yield violations of the rules for the part of a lesson that is taught in class."""
    words, lines, planned = 0, 0, sources.timetable(built.lesson.source.read_text())
    for cell in built.cells:
        if cell.cell_type == "code":
            lines += 0 if is_folded(cell) else len([*filter(str.strip, cell.source.splitlines())])
            continue
        # Drop link addresses and folded text, but keep the summaries of the folds.
        seen = re.sub(r"(?s)<summary>(.*?)</summary>.*?(?=</details>)", r"\1", cell.source)
        seen = re.sub(r"</?details>|\]\([^)]*\)", " ", seen)
        in_class, *home = re.split(r"^(?=## \d+ At home)", seen, maxsplit=1, flags=re.MULTILINE)
        words += len(re.findall(r"\S*\w\S*", in_class))
        if home:
            break
    load = {"words": words, "lines of code": lines, "minutes": sum(planned.values())}
    for what, most in LIMITS.items():
        if load[what] > most:
            yield f"has {load[what]} {what} in class, at most {most}"
    section = lambda cell: re.search(r"^## ", cell.source, re.M)
    *first, last = itertools.takewhile(lambda cell: not section(cell), built.cells)
    drawn = {kind for cell in first for o in cell.get("outputs", ()) for kind in o.get("data", ())}
    if not drawn & {PLOTLY, SVG} or not re.search("predict|check", last.source):
        yield "does not begin with a picture and something to do, before its first part"
    every = "\n".join(cell.source for cell in built.cells)
    for_class = re.split(r"^## \d+ At home", every, flags=re.MULTILINE)[0]
    asked = (f'check("{int(built.number)}.{part}", ' for part in ("warmup", "vote"))
    if len(sources.questions(built.lesson, "warmup")) != 3 or not all(
        a in for_class for a in asked
    ):
        yield "does not warm up with three questions, or has its vote at home"
    if for_class.count("predict(") < 2:
        yield "asks for fewer than two predictions in class"
    clock = [int(minutes) for minutes in re.findall(r"^\*To here (\d+) minutes", for_class, re.M)]
    if len(clock) < 4 or clock[-1] != sum(planned.values()):
        yield "does not say the time four times, last where the class ends: '*To here NN minutes*'"
    before = re.findall(r"^## (\d+) ", for_class.partition("In class, 5 minutes")[0], re.M)
    where = int(before[-1]) if before else 0
    begun = sum(minutes for section, minutes in planned.items() if section < where)
    if not sum(planned.values()) < 3 * begun < 9 / 4 * sum(planned.values()):
        yield "has its exercise near the beginning or the end of the class, not in the middle"


def exercises_ship_unanswered(built):
    keys = exercises(built.lesson)
    if len([key for key in keys if key.partition(".")[2] not in sources.CHOSEN]) < 3:
        yield "has fewer than three exercises in exercises.py"
    for key in keys:
        if f"{key} not answered yet" not in built.printed:
            yield f"does not ask exercise {key}: 'answer = None' and 'check(\"{key}\", answer)'"
    if not any(isinstance(exercise, Program) for exercise in keys.values()):
        yield "asks for no code: a Program in exercises.py"
    if "<details open" in built.text:
        yield "has an open solution: write <details>"


def hints_quote_the_question(built):
    """Yield hints that quote a number which their question does not contain."""
    cells, source = built.source.cells, built.lesson.exercises
    place = {sources.exercise_key(cell): i for i, cell in enumerate(cells)}
    for node in ast.walk(ast.parse(source.read_text() if source.exists() else "")):
        options = {each.arg: each.value for each in getattr(node, "keywords", ())}
        key = getattr(options.get("key"), "value", "")
        parts = (options[name] for name in ("mistakes", "hints") if key and name in options)
        asked = [cell.source for cell in cells[: place.get(key, -1) + 1]] if key else ()
        # Integers in a hint are in its question, fractions and powers of ten in any earlier cell.
        allowed = {v for v in values("\n".join(asked)) if v % 1 or str(int(v)).strip("0") == "1"}
        allowed |= values("\n".join(asked[-2:]))
        for part in itertools.chain(*map(ast.walk, parts)):
            hint = part.value if isinstance(getattr(part, "value", None), str) else ""
            for number in values(hint) - allowed - {*range(11)}:
                if 1 / number not in allowed:  # a hint may say "one in n" for 1/n
                    message = f"{number:g}, which its question does not"
                    yield f"has a hint of {key} that quotes {message}: {hint!r}"


def has_no_private_names_and_no_paths(built):
    for node in ast.walk(ast.parse("\n".join(cell.source for cell in built.code))):
        if isinstance(node, ast.ImportFrom):
            for name in [*node.module.split("."), *(alias.name for alias in node.names)]:
                if name.startswith("_"):
                    yield f"imports the private name {name}"
    text = built.lesson.notebook.read_text()
    if (metadata := json.loads(text)["metadata"]) != built.source.metadata:
        yield f"stores more than the kernel and its language, {metadata}: build it again"
    if any(set(cell.metadata) - {"tags", "jupyter"} for cell in built.cells):
        yield "stores more of its cells than tags and what is folded: build it again"
    if path := re.search(r"/(home|root|tmp|usr|work|Users)/", text):
        yield f"holds a path of a machine, {path[0]}"


def figures_have_words_and_a_picture(built):
    outputs = [output.get("data", {}) for cell in built.code for output in cell.outputs]
    figures = [data for data in outputs if PLOTLY in data]
    if not any("frames" in data[PLOTLY] for data in figures):
        yield "has no figure with a slider: show(slider(...), ...)"
    for data in figures:
        words = _start(data["text/plain"])
        if not re.search(r"\d", data["text/plain"]):
            yield f"has a figure without numbers in its words, {words}"
        if data.get(NUMBERS) != numbers(data[PLOTLY]):
            yield f"has a figure that its numbers do not describe, {words}"
        yield from picture_is_of(digest(data[PLOTLY]), "figure", data)
    for data in (each for each in outputs if SVG in each):
        yield from picture_is_of(digest([data[SVG], data["text/plain"]]), "drawing", data)


def picture_is_of(origin, kind, data):
    words, picture = _start(data["text/plain"]), data.get("image/png", "")
    if not picture.startswith("iVBOR"):
        yield f"has a {kind} without a picture (no Chromium?), {words}"
        return
    drawn = Image.open(io.BytesIO(base64.b64decode(picture)))
    if drawn.info.get("drawn from") != origin:
        yield f"has a picture or the words of another {kind}, {words}"
    if len(drawn.getcolors()) < 3:
        yield f"has a picture that shows nothing, {words}"


def links_lead_somewhere(built):
    targets = re.findall(r'\]\(([^)\s]+)(?: "explorer:([^"]*)")?\)', built.text)
    if not any(asked for _, asked in targets):
        yield "has no link to the explorer, '[...](explorer:?...)'"
    for target, asked in targets:
        if asked and (error := unreadable(asked)):
            yield f"links to the explorer with {asked}, where it reads {error}"
        place = ROOT / "lessons" / target.split("#")[0]
        if not (target.startswith("https://") or place.exists()):
            yield f"links to {target}, which does not exist"


@functools.cache
def unreadable(target):
    """Return the error that a link causes in the explorer, or an empty string."""
    page = urlparse(target)
    try:
        read = parse_qs(page.query, strict_parsing=bool(page.query))
        understood(page.path, {k: v for k, (v,) in read.items()})
    except (KeyError, ValueError) as error:
        return repr(error)
    return ""


EVERYWHERE = [ran_without_complaint, cells_are_short_and_introduced, parts_stand_in_order]
EVERYWHERE += [bounds_are_rounded_to_their_side, nothing_is_left_to_do]
EVERYWHERE += [hints_quote_the_question, has_no_private_names_and_no_paths]
EVERYWHERE += [figures_have_words_and_a_picture, links_lead_somewhere]
COURSE_ONLY = [asks_and_refutes_and_needs_only_what_came_before, teachers_get_a_plan_and_notes]
COURSE_ONLY += [the_class_is_short_and_is_asked, exercises_ship_unanswered]


def problems(lesson):
    """Return a sentence for each violation of a rule by a lesson."""
    if reason := sources.is_stale(lesson):
        build = f"dplearn lessons build {lesson.number}"
        return [f"Lesson {lesson.number} is stale, {reason}: run {build}."]
    built = Built(lesson)
    rules = EVERYWHERE if built.appendix else [*EVERYWHERE, *COURSE_ONLY]
    return [f"Lesson {built.number} {each}." for rule in rules for each in rule(built)]
