"""Hold an accountant against certified values of epsilon; needs Python 3.9 and nothing else.

    python run.py --tool "my-accountant {sigma} {q} {T} {delta}"     prints one number for each case
    python run.py --module my_accountant.py                          def epsilon(case): ...

A case is a dictionary of a line of data/epsilon_golden.json: `family`, its parameters as decimal
texts, `T`, `delta`, and the pair of laws `P`, `Q`. A command may also name {family}, {b},
{epsilon0}; {q} is 1 where all records are used. It is asked of the families whose parameters it
names, of discrete noise only if it names {family}. What a tool does not cover it refuses: exit
status 3, or NotImplementedError. A module may also be an adapter, NAME or NAME:ACCOUNTANT. Cases
picked by hand come first; a tool that is slow is asked as many as the time allows.
"""

import argparse
import importlib.util
import json
import math
import os
import random
import re
import shlex
import signal
import statistics
import subprocess
import sys
import threading
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

    def __init__(self, name, python, limit):
        self.command = [python, str(Path(__file__).resolve()), "--serve", name]
        self.name = Path(name.split()[0]).stem
        self.limit, self.process, self.broken = limit, None, None

    def ask(self, case):
        """Its answer: a number, or ("refused" | "failed", why)."""
        if not self.process and not self.broken:
            self.start()
        if self.broken:
            return "failed", self.broken
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        told = self._line(self.limit)
        return told["value"] if "value" in told else tuple(told["why"])

    def start(self):
        """Start the process, which imports the module."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(self.command, text=True, start_new_session=True, **pipes)
        self.broken = self._line(_START).get("why", (None, None))[1]

    def _line(self, seconds):
        """What the process says next; it is ended if that takes too long."""
        began, late = time.monotonic(), threading.Timer(seconds, self.close)
        late.start()
        line = self.process.stdout.readline()
        late.cancel()
        slow = time.monotonic() - began >= seconds
        if line.endswith("\n") and not slow:
            return json.loads(line)
        self.close()
        self.process = None
        return {"why": ["failed", f"no answer in {seconds:g} s" if slow else "the process ended"]}

    def close(self):
        """End the process and all that it started."""
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (OSError, AttributeError):
                self.process.kill()
            self.process.wait()


def serve(name):
    """Answer cases from standard input; what a module prints goes elsewhere."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tell = lambda told: print(json.dumps(told), file=out, flush=True)
    try:
        epsilon = command(name) if "{" in name else imported(name)
    except Exception as error:
        return tell({"why": ["failed", f"{type(error).__name__}: {error}"[:200]]})
    tell({})
    for line in sys.stdin:
        try:
            tell({"value": float(epsilon(json.loads(line)))})
        except NotImplementedError as error:
            tell({"why": ["refused", str(error)[:200]]})
        except Exception as error:
            tell({"why": ["failed", f"{type(error).__name__}: {error}"[:200]]})


def imported(name):
    """The function `epsilon` of a file or an adapter; what follows a colon is its second word."""
    name, *words = name.split(":") if not name.endswith(".py") else [name]
    path = Path(name) if name.endswith(".py") else HERE / "adapters" / f"{name}.py"
    sys.path.append(str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda case: module.epsilon(case, *words)


def command(template):
    """A function that runs a program and reads the one number that it prints."""
    words = shlex.split(template)
    names = set(re.findall(r"\{(\w+)\}", template))

    def epsilon(case):
        discrete = case["family"].startswith("discrete") and "family" not in names
        if discrete or not names >= case.keys() & {*PARAMETERS}:
            raise NotImplementedError("the command does not name all parameters")
        values = {"q": "1", **case}
        asked = [re.sub(r"\{(\w+)\}", lambda m: str(values[m[1]]), word) for word in words]
        run = subprocess.run(asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        text = run.stdout.decode(errors="replace").strip()
        if run.returncode == 3:
            raise NotImplementedError(text)
        found = {float(number) for number in _NUMBER.findall(text)}
        if run.returncode or len(found) != 1:
            raise ValueError(f"exit status {run.returncode}, printed {text[:80]!r}")
        return found.pop()

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


def asked(tool, cases, seconds):
    """Rows of all cases that the time allows."""
    rows = []
    try:
        tool.start()
        start = time.monotonic()
        for case in cases:
            before = time.monotonic()
            if before - start > seconds:
                break
            answer = tool.ask({k: v for k, v in case.items() if k in ASKED})
            rows.append(judged(case, answer, time.monotonic() - before))
    finally:
        tool.close()
    return rows


def ordered(cases):
    """Those picked by hand first; then as before families take turns, in an order drawn once."""
    turns, keys = Counter(), {}
    for case in random.Random(0).sample(cases, len(cases)):
        late = case["why"] == "drawn" or case["why"].startswith("sheet")
        keys[case["id"]] = (late, turns[late, case["family"]], case["family"])
        turns[late, case["family"]] += 1
    return sorted(cases, key=lambda case: keys[case["id"]])


VERDICTS = ("sound", "unsound", "infinite", "refused", "failed")
HEAD = ("tool", "family", "asked of", "sound", "median factor", "worst factor", "unsound")
HEAD += ("worst share of the truth", "infinite", "refused", "failed", "median s")


def cells(name, rows, cases):
    """A line of the table for each family that is not refused as a whole."""
    for family in dict.fromkeys(case["family"] for case in cases):
        mine = [row for row in rows if row["family"] == family]
        of = {verdict: [r for r in mine if r["verdict"] == verdict] for verdict in VERDICTS}
        if len(of["refused"]) == len(mine):
            continue
        factors = [row["factor"] for row in of["sound"] if row["factor"]]
        shares = [row["share"] for row in of["unsound"]]
        yield {verdict: len(of[verdict]) for verdict in VERDICTS} | {
            "tool": name,
            "family": family,
            "asked of": f"{len(mine)} of {sum(case['family'] == family for case in cases)}",
            "median factor": f"{statistics.median(factors):.4g}" if factors else "",
            "worst factor": f"{max(factors):.4g}" if factors else "",
            "worst share of the truth": f"{min(shares):.4g}" if shares else "",
            "median s": f"{statistics.median(r['seconds'] for r in mine):.2g}",
        }


def markdown(results, cases):
    """The table of all tools, what of the suite each covers, and its first wrong answers."""
    table = [line for name, rows in results.items() for line in cells(name, rows, cases)]
    out = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    out += ["| " + " | ".join(str(line[key]) for key in HEAD) + " |" for line in table]
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
    add("--module", action="append", dest="tools", metavar="NAME", help="a file, or an adapter")
    add("--serve", metavar="NAME", help=argparse.SUPPRESS)
    add("--python", default=sys.executable, help="interpreter of the modules")
    add("--families", type=lambda text: text.split(","), help="a,b: only these")
    add("--seconds", type=float, default=100, help="for each tool")
    add("--limit", type=float, default=10, help="seconds for each case")
    add("--suite", type=Path, default=FILE, help="file of the cases")
    add("--out", type=Path, metavar="STEM", help="write STEM.md and STEM.json")
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    if not options.tools:
        parser.error("Expected --tool COMMAND or --module NAME.")
    suite = json.loads(options.suite.read_text(encoding="utf-8"))
    wanted = lambda case: not options.families or case["family"] in options.families
    cases, results = ordered(list(filter(wanted, suite["cases"]))), {}
    for name in options.tools:
        tool = Tool(name, options.python, options.limit)
        results[tool.name] = asked(tool, cases, options.seconds)
        print(markdown({tool.name: results[tool.name]}, cases), flush=True)
    if options.out:
        head = f"# Accountants against certified epsilon, suite {suite['version']}\n\n"
        text = head + markdown(results, cases)
        options.out.with_suffix(".md").write_text(text, encoding="utf-8")
        options.out.with_suffix(".json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
