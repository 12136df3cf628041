"""Hold an accountant against certified values of epsilon; needs Python 3.9 and nothing else.

    python run.py --tool "my-accountant {sigma} {q} {T} {delta}"     prints one number for each case
    python run.py --module my_accountant.py                          def epsilon(case): ...

A case is a dictionary of a line of data/epsilon_golden.json: `family`, its parameters as decimal
texts, `T`, `delta`, and the pair of laws `P`, `Q`. A command may also name {family}, {b},
{epsilon0}; {q} is 1 where all records are used. It is asked of the families whose parameters it
names, of discrete noise only if it names {family}. What a tool does not cover it refuses: exit
status 3, or NotImplementedError. A module may also be a function of adapters.py, NAME or
NAME:ACCOUNTANT. Cases picked by hand come first; a tool that is slow is asked as many as the
time allows.
"""

import argparse
import json
import math
import multiprocessing
import os
import random
import re
import runpy
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE.parent / "data" / "epsilon_golden.json"
PARAMETERS = ("sigma", "b", "epsilon0", "q", "T", "delta")
ASKED = ("family", "P", "Q", *PARAMETERS)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|inf(?:inity)?|nan)\b", re.I)
# Seconds until a module must have been imported.
_START = 60


class Tool:
    """An accountant in a process of its own, which is ended if it does not answer."""

    def __init__(self, name, limit):
        self.asked, self.limit, self.process, self.broken = name, limit, None, None
        self.name = Path(name.split()[0]).stem

    def answer(self, case):
        """A number, or ("refused" | "failed", why)."""
        if not (self.process or self.broken):
            self.start()
        return self.broken or self._told(self.limit, case)

    def start(self):
        """Start the process, which imports the module."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(self.asked, theirs))
        self.process.start()
        theirs.close()
        self.broken = self._told(_START)

    def _told(self, seconds, case=None):
        """What the process says next, which is asked a case first; without a word it is ended."""
        why = "the process ended"
        try:
            if case:
                self.pipe.send(case)
            if self.pipe.poll(seconds):
                return self.pipe.recv()
            why = f"no answer in {seconds:g} s"
        except (EOFError, OSError):
            pass
        self.close()
        return "failed", why

    def close(self):
        """End the process and all that it started."""
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (OSError, AttributeError):
                self.process.kill()
            self.process.join()
        self.process = None


def serve(name, pipe):
    """Answer cases from a pipe; what a module prints goes nowhere."""
    if hasattr(os, "setsid"):
        os.setsid()
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    try:
        epsilon = command(name) if "{" in name else imported(name)
        pipe.send(None)
    except Exception as error:
        pipe.send(("failed", f"{type(error).__name__}: {error}"[:200]))
    while True:
        case = pipe.recv()
        try:
            pipe.send(float(epsilon(case)))
        except NotImplementedError as error:
            pipe.send(("refused", str(error)[:200]))
        except Exception as error:
            pipe.send(("failed", f"{type(error).__name__}: {error}"[:200]))


def imported(name):
    """The function `epsilon` of a file, or of an adapter, whose argument follows a colon."""
    if name.endswith(".py"):
        sys.path.append(str(Path(name).resolve().parent))
        return runpy.run_path(name)["epsilon"]
    name, *words = name.split(":")
    return runpy.run_path(str(HERE / "adapters.py"))[name](*words)


def command(template):
    """A function that runs a program and reads the one number that it prints."""
    names = set(re.findall(r"\{(\w+)\}", template))

    def epsilon(case):
        discrete = case["family"].startswith("discrete") and "family" not in names
        if discrete or not names >= case.keys() & {*PARAMETERS}:
            raise NotImplementedError("the command does not name all parameters")
        values = {"q": "1", **case}
        value = lambda match: str(values.get(match[1], ""))
        words = [re.sub(r"\{(\w+)\}", value, word) for word in shlex.split(template)]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        text = run.stdout.decode(errors="replace").strip()
        if run.returncode == 3:
            raise NotImplementedError(text)
        numbers = {float(number) for number in _NUMBER.findall(text)}
        if run.returncode or len(numbers) != 1:
            raise ValueError(f"exit status {run.returncode}, printed {text[:80]!r}")
        return numbers.pop()

    return epsilon


def judged(case, answer, seconds):
    """A row of the results: the verdict and how far the answer is from both ends."""
    row = {"id": case["id"], "family": case["family"], "seconds": round(seconds, 4)}
    if isinstance(answer, tuple):
        return {**row, "verdict": answer[0], "why": answer[1]}
    lower, upper = float(case["lower"]), float(case["upper"])
    if math.isnan(answer):
        return {**row, "verdict": "failed", "why": "nan"}
    if answer == math.inf:
        return {**row, "verdict": "infinite"}
    row["epsilon"] = repr(answer)
    if answer < lower:
        return {**row, "verdict": "unsound", "share": answer / lower if lower else 0.0}
    factor = max(answer / upper, 1.0) if upper > 0 else (1.0 if answer == 0 else None)
    return {**row, "verdict": "sound", "factor": factor}


def held(tool, cases, seconds):
    """Rows of all cases that the time allows."""
    rows = []
    try:
        tool.start()
        start = time.monotonic()
        for case in cases:
            before = time.monotonic()
            if before - start > seconds:
                break
            answer = tool.answer({k: v for k, v in case.items() if k in ASKED})
            rows.append(judged(case, answer, time.monotonic() - before))
    finally:
        tool.close()
    return rows


def ordered(cases):
    """Those picked by hand first; then as before families take turns, in an order drawn once."""
    turns, keys = Counter(), {}
    for case in random.Random(0).sample(cases, len(cases)):
        late = case["why"] in ("drawn", "sheet")
        keys[case["id"]] = (late, turns[late, case["family"]], case["family"])
        turns[late, case["family"]] += 1
    return sorted(cases, key=lambda case: keys[case["id"]])


VERDICTS = ("sound", "unsound", "infinite", "refused", "failed")
HEAD = ("tool", "family", "asked of", "sound", "median factor", "worst factor", "unsound")
HEAD += ("worst share of the truth", "infinite", "refused", "failed", "median s")


def lines(name, rows, cases):
    """A line of the table for each family that is not refused as a whole."""
    for family, count in Counter(case["family"] for case in cases).items():
        mine = [row for row in rows if row["family"] == family]
        counts = {verdict: [r["verdict"] for r in mine].count(verdict) for verdict in VERDICTS}
        if counts["refused"] == len(mine):
            continue
        factors = [row["factor"] for row in mine if row.get("factor")]
        shares = [row["share"] for row in mine if "share" in row]
        line = {
            **counts,
            "tool": name,
            "family": family,
            "asked of": f"{len(mine)} of {count}",
            "median factor": f"{statistics.median(factors):.4g}" if factors else "",
            "worst factor": f"{max(factors):.4g}" if factors else "",
            "worst share of the truth": f"{min(shares):.4g}" if shares else "",
            "median s": f"{statistics.median(row['seconds'] for row in mine):.2g}",
        }
        yield "| " + " | ".join(str(line[key]) for key in HEAD) + " |"


def markdown(results, cases):
    """The table of all tools, what of the suite each covers, and its first wrong answers."""
    out = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    out += [line for name, rows in results.items() for line in lines(name, rows, cases)]
    for name, rows in results.items():
        covered = [row for row in rows if row["verdict"] != "refused"]
        families = ", ".join(sorted({row["family"] for row in covered})) or "nothing"
        out += ["", f"**{name}** covers {len(covered)} of {len(rows)} cases: {families}.", ""]
        first = {}
        for row in (row for row in rows if row["verdict"] in ("unsound", "failed")):
            first.setdefault((row["family"], row["verdict"], row.get("why")), row)
        for row in list(first.values())[:12]:
            about = row.get("why") or f"{row['epsilon']}, {row['share']:.6g} of what is proved"
            out.append(f"- {row['verdict']}, {row['id']}: {about}")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--tool", action="append", dest="tools", help="a command with {sigma}, {q}, {T}, {delta}")
    add("--module", action="append", dest="tools", metavar="NAME", help="a file or an adapter")
    add("--seconds", type=float, default=100, help="for each tool")
    add("--limit", type=float, default=10, help="seconds for each case")
    add("--suite", type=Path, default=FILE, help="file of the cases")
    add("--out", type=Path, metavar="STEM", help="write STEM.md and STEM.json")
    options = parser.parse_args()
    if not options.tools:
        parser.error("Expected --tool COMMAND or --module NAME.")
    suite = json.loads(options.suite.read_text(encoding="utf-8"))
    cases, results = ordered(suite["cases"]), {}
    for name in options.tools:
        tool = Tool(name, options.limit)
        results[tool.name] = held(tool, cases, options.seconds)
        print(markdown({tool.name: results[tool.name]}, cases), flush=True)
    if options.out:
        head = f"# Accountants against certified epsilon, suite {suite['version']}\n\n"
        text = head + markdown(results, cases)
        options.out.with_suffix(".md").write_text(text, encoding="utf-8")
        options.out.with_suffix(".json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
