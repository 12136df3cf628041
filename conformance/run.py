"""Hold an accountant against certified values of epsilon; needs Python 3.9 and nothing else.

    python run.py --tool "my-accountant {sigma} {q} {T} {delta}"     prints one number for each case
    python run.py --module my_accountant.py                          def epsilon(case): ...

A case is a dictionary of a line of epsilon_golden.json, which lies beside this file or in ../data:
`family`, its parameters as decimal texts, `T`, `delta`, and the pair of laws `P`, `Q`. A command
may also name {family}, {b}, {epsilon0}; {q} is 1 where all records are used. It is asked of the
families whose parameters it names, of discrete noise only if it names {family}. What a tool does
not cover it refuses: exit status 3, or NotImplementedError. Families take turns, so that a slow
tool is asked of each as much as the time allows. An adapter is named FILE.py:FUNCTION:WORD.
"""

import argparse
import contextlib
import functools
import importlib
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = [*HERE.glob("epsilon_golden.json"), *HERE.parent.glob("data/epsilon_golden.json")]
Process = multiprocessing.get_context("spawn").Process
PARAMETERS = {"sigma", "b", "epsilon0", "q", "T", "delta"}
SHOWN = PARAMETERS | {"family", "P", "Q"}
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|inf(?:inity)?|nan)\b", re.I)
VERDICTS = ["sound", "unsound", "infinite", "refused", "failed"]
HEAD = ["tool", "family", "asked of", *VERDICTS]
HEAD += ["median factor", "worst factor", "worst share of the truth", "median s"]


def held(load, name, cases, seconds, limit):
    """Return rows of the cases that the time allows; replace a process that gives no answer."""
    rows, until = [], time.monotonic() + seconds
    while len(rows) < len(cases) and time.monotonic() < until:
        pipe, theirs = multiprocessing.Pipe(duplex=False)
        process = Process(target=serve, args=(load, name, cases[len(rows) :], theirs))
        process.start()
        theirs.close()
        why = f"no answer in {limit:g} s"
        try:
            # A module may take longer to import than a case to answer.
            if broken := pipe.recv() if pipe.poll(60) else "It takes more than 60 s to import.":
                raise ImportError(broken)
            while pipe.poll(limit):
                rows.append(pipe.recv())
                if time.monotonic() > until:
                    return rows
        except (EOFError, OSError):
            why = "the process ended"
        finally:
            # What the tool has started ends with it.
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.join()
        for case in cases[len(rows) :][:1]:
            row = {"id": case["id"], "family": case["family"], "seconds": limit}
            rows.append({**row, "verdict": "failed", "why": why})
    return rows


def serve(load, name, cases, pipe):
    """Send why a tool is broken, or an empty text and then the row of each case."""
    if hasattr(os, "setsid"):
        os.setsid()
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    try:
        epsilon = load(name)
    except BaseException as error:
        return pipe.send(f"{type(error).__name__}: {error}")
    pipe.send("")
    for case in cases:
        pipe.send(asked(epsilon, case))


def asked(epsilon, case):
    """Return the verdict on a tool's answer to a case, and its distance from both ends."""
    row = {"id": case["id"], "family": case["family"], "seconds": 0}
    lower, upper, start = float(case["lower"]), float(case["upper"]), time.monotonic()
    try:
        answer = float(epsilon({key: case[key] for key in SHOWN & case.keys()}))
        if not answer > -math.inf:
            row.update(verdict="failed", why=f"{answer} is no bound")
        elif answer == math.inf:
            row.update(verdict="infinite")
        elif answer < lower:
            row.update(epsilon=answer, verdict="unsound", share=answer / lower if lower else 0)
        else:
            factor = max(answer / upper, 1) if upper else None
            row.update(epsilon=answer, verdict="sound", factor=factor)
    except NotImplementedError as error:
        row.update(verdict="refused", why=str(error)[:200])
    except BaseException as error:
        row.update(verdict="failed", why=f"{type(error).__name__}: {error}"[:200])
    row["seconds"] = round(time.monotonic() - start, 4)
    return row


def command(template):
    """Return a function that runs a program and reads the one number that it prints."""
    words, names = shlex.split(template), set(re.findall(r"\{(\w+)\}", template))
    if not {"T", "delta"} <= names <= SHOWN:
        raise ValueError(
            f"Expected {{T}}, {{delta}} and others of {sorted(SHOWN)}, got {template!r}"
        )
    if not shutil.which(words[0]):
        raise ValueError(f"Expected a program, got {words[0]!r}")

    def epsilon(case):
        discrete = case["family"].startswith("discrete") and "family" not in names
        if discrete or not names >= case.keys() & PARAMETERS:
            raise NotImplementedError("the command does not name all parameters")
        value = lambda name: str({"q": 1, **case}.get(name[1], ""))
        filled = [re.sub(r"\{(\w+)\}", value, word) for word in words]
        ended = subprocess.run(filled, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        text = ended.stdout.decode(errors="replace").strip()
        if ended.returncode == 3:
            raise NotImplementedError(text)
        numbers = {float(number) for number in NUMBER.findall(text)}
        if ended.returncode or len(numbers) != 1:
            raise ValueError(f"exit status {ended.returncode}, printed {text[:80]!r}")
        return numbers.pop()

    return epsilon


def imported(name):
    """Return the function `epsilon` of a module, or an adapter in it with its arguments."""
    file, *words = name.split(":")
    folder, module = os.path.split(os.path.abspath(file))
    sys.path.insert(0, folder)
    module = importlib.import_module(module.removesuffix(".py"))
    if not words:
        return module.epsilon
    adapter = functools.partial(getattr(module, words[0]), *words[1:])
    # It imports its package before it refuses.
    with contextlib.suppress(NotImplementedError):
        adapter({"family": "none"})
    return adapter


def ordered(cases):
    """Let cases picked by hand and the rest of each family take turns, in an order drawn once."""
    turns = {}
    for case in random.Random(0).sample(cases, len(cases)):
        key = case["why"] in ("drawn", "sheet"), case["family"]
        turns.setdefault(key, []).append(case)
    rounds = itertools.zip_longest(*(turns[key] for key in sorted(turns)))
    return [case for turn in rounds for case in turn if case]


def markdown(results, cases):
    """Return the table of all tools: what each covers, and its first wrong answers."""
    table, notes = [HEAD, ["---"] * len(HEAD)], []
    for name, rows in results.items():
        covered = [row for row in rows if row["verdict"] != "refused"]
        families = sorted({row["family"] for row in covered})
        for family in families:
            mine = [row for row in rows if row["family"] == family]
            count = sum(case["family"] == family for case in cases)
            counts = [sum(row["verdict"] == verdict for row in mine) for verdict in VERDICTS]
            factors = [row["factor"] for row in mine if row.get("factor")] or [math.nan]
            shares = [row["share"] for row in mine if "share" in row] or [math.nan]
            seconds = statistics.median(row["seconds"] for row in mine)
            numbers = statistics.median(factors), max(factors), min(shares), seconds
            cells = [f"{number:.6g}".replace("nan", "") for number in numbers]
            table.append([name, family, f"{len(mine)} of {count}", *counts, *cells])
        about = ", ".join(families) or "nothing"
        finite = sum("epsilon" in row for row in covered)
        said = f"answers {finite} of {len(rows)} cases with a finite number: {about}"
        notes += ["", f"**{name}** {said}.", ""]
        first = {}
        for row in rows:
            if row["verdict"] in ("unsound", "failed"):
                kind = row.get("why", "").partition(":")[0]
                first.setdefault((row["family"], row["verdict"], kind), row)
        for row in first.values():
            about = row.get("why") or f"{row['epsilon']}, {row['share']:.6g} of what is proved"
            notes.append(f"- {row['verdict']}, {row['id']}: {about}")
    return "\n".join([f"| {' | '.join(map(str, row))} |" for row in table] + notes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--tool", action="append", default=[], help="a command with {sigma}, {q}, {T}, {delta}")
    add("--module", action="append", default=[], metavar="FILE", help="has epsilon(case)")
    add("--seconds", type=float, default=100, help="for each tool")
    add("--limit", type=float, default=10, help="seconds for each case")
    add("--json", type=argparse.FileType("w"), metavar="FILE", help="gets each case's verdict")
    options = parser.parse_args()
    tools = {name: command for name in options.tool} | {name: imported for name in options.module}
    if not (tools and FILES):
        parser.error("expected --tool or --module, and epsilon_golden.json beside run.py")
    suite = json.loads(FILES[0].read_text(encoding="utf-8"))
    cases, results = ordered(suite["cases"]), {}
    for name, load in tools.items():
        try:
            rows = held(load, name, cases, options.seconds, options.limit)
            results[name.partition(".py:")[2] or name] = rows
        except ImportError as error:
            print(f"{name} cannot be asked. {error}", file=sys.stderr)
    if results:
        print(f"# Accountants against certified epsilon, suite {suite['version']}\n")
        print(markdown(results, cases))
    if options.json:
        json.dump(results, options.json)
    sys.exit(len(results) < len(tools))


if __name__ == "__main__":
    main()
