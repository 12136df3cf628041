"""Hold an accountant against certified values of epsilon; needs Python 3.9 and nothing else.

    python run.py --tool "my-accountant {sigma} {q} {T} {delta}"     prints one number for each case
    python run.py --module my_accountant.py                          def epsilon(case): ...

A case is a dictionary of a line of data/epsilon_golden.json: `family`, its parameters as decimal
texts, `T`, `delta`, and the pair of laws `P`, `Q`. A command may also name {family}, {b},
{epsilon0}; {q} is 1 where all records are used. What a tool does not cover it refuses: exit status
3, or NotImplementedError. Cases picked by hand come first, then the others in an order that is
drawn once; a tool that is slow is asked as many as the time allows.
"""

import argparse
import importlib.util
import json
import math
import os
import queue
import random
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE.parent / "data" / "epsilon_golden.json"
PARAMETERS = ("sigma", "b", "epsilon0", "q", "T", "delta")
# What a command is asked of, unless --families says more: its noise decides.
MEANT = {
    "sigma": ("gaussian", "poisson_gaussian"),
    "b": ("laplace", "poisson_laplace"),
    "epsilon0": ("randomized_response",),
}
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|inf(?:inity)?|nan)\b", re.I)
# Seconds until a module must have been imported.
_START = 60


class Command:
    """A program that is run once a case."""

    def __init__(self, template, limit):
        self.words, self.limit = shlex.split(template), limit
        self.name = Path(self.words[0]).name

    def ask(self, case):
        """Its answer: a number, or ("refused" | "failed", why)."""
        values = {"q": "1", **case}
        words = [re.sub(r"\{(\w+)\}", lambda m: str(values[m[1]]), word) for word in self.words]
        with tempfile.TemporaryFile() as out:
            try:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                status = process.wait(self.limit)
            except subprocess.TimeoutExpired:
                _end(process)
                return "failed", f"no answer in {self.limit:g} s"
            except OSError as error:
                return "failed", str(error)
            out.seek(0)
            text = out.read(9999).decode(errors="replace")
        if status == 3:
            return "refused", text.strip()[:200]
        found = {float(number) for number in _NUMBER.findall(text)}
        if status or len(found) != 1:
            return "failed", f"exit status {status}, printed {text.strip()[:80]!r}"
        return found.pop()

    def start(self):
        """Nothing is kept running."""

    close = start


class Module:
    """A function that is asked in a process of its own, which is ended if it does not answer."""

    def __init__(self, name, python, limit):
        self.path, self.python, self.limit = name, python, limit
        self.name, self.process, self.broken = Path(name).stem, None, None

    def ask(self, case):
        """Its answer: a number, or ("refused" | "failed", why)."""
        self.start()
        if self.broken:
            return "failed", self.broken
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        told = self._line(self.limit)
        if told is None or not isinstance(told, dict):
            why = "the process ended" if self.process.poll() is not None else "no answer"
            self.close()
            return "failed", f"{why} in {self.limit:g} s"
        return told["value"] if "value" in told else tuple(told["why"])

    def start(self):
        """Start the process and import the module there, unless it runs."""
        if self.process or self.broken:
            return
        command = [self.python, str(Path(__file__).resolve()), "--serve", self.path]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.lines = queue.Queue()
        reading = (self.process.stdout, self.lines)
        threading.Thread(target=_read, args=reading, daemon=True).start()
        if self._line(_START) != {"ready": True}:
            self.close()
            self.broken = "the module could not be imported"

    def _line(self, seconds):
        try:
            return json.loads(self.lines.get(timeout=seconds) or "null")
        except (queue.Empty, ValueError):
            return None

    def close(self):
        """End the process."""
        if self.process:
            _end(self.process)
            self.process = None


def _read(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put("")


def _end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):
        process.kill()
    process.wait()


def serve(name):
    """Answer cases from standard input by a module, whose own prints go elsewhere."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    path = Path(name) if name.endswith(".py") else HERE / "adapters" / f"{name}.py"
    sys.path.append(str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        try:
            told = {"value": float(module.epsilon(json.loads(line)))}
        except NotImplementedError as error:
            told = {"why": ["refused", str(error)[:200]]}
        except Exception as error:
            told = {"why": ["failed", f"{type(error).__name__}: {error}"[:200]]}
        print(json.dumps(told), file=out, flush=True)


def judged(case, answer, seconds):
    """A row of the results: the verdict and how far the answer is from both ends."""
    row = {"id": case["id"], "family": case["family"], "seconds": round(seconds, 4)}
    if isinstance(answer, tuple):
        return {**row, "verdict": answer[0], "why": answer[1]}
    lower, upper = float(case["lower"]), float(case["upper"])
    if math.isnan(answer):
        return {**row, "verdict": "failed", "why": "nan"}
    if math.isinf(answer) and answer > 0:
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
            told = {k: v for k, v in case.items() if k in ("family", "P", "Q", *PARAMETERS)}
            rows.append(judged(case, tool.ask(told), time.monotonic() - before))
    finally:
        tool.close()
    return rows


HEAD = ("family", "asked of", "sound", "median factor", "worst factor", "unsound")
HEAD += ("worst share of the truth", "infinite", "refused", "failed", "median s")


def table(rows, cases):
    """Lines of the table, one for each family."""
    for family in dict.fromkeys(case["family"] for case in cases):
        mine = [row for row in rows if row["family"] == family]
        of = {verdict: [r for r in mine if r["verdict"] == verdict] for verdict in VERDICTS}
        factors = [row["factor"] for row in of["sound"] if row["factor"]]
        shares = [row["share"] for row in of["unsound"]]
        yield {
            "family": family,
            "asked of": f"{len(mine)} of {sum(case['family'] == family for case in cases)}",
            "sound": len(of["sound"]),
            "median factor": f"{statistics.median(factors):.4g}" if factors else "",
            "worst factor": f"{max(factors):.4g}" if factors else "",
            "unsound": len(of["unsound"]),
            "worst share of the truth": f"{min(shares):.12g}" if shares else "",
            "infinite": len(of["infinite"]),
            "refused": len(of["refused"]),
            "failed": len(of["failed"]),
            "median s": f"{statistics.median(r['seconds'] for r in mine):.2g}" if mine else "",
        }


VERDICTS = ("sound", "unsound", "infinite", "refused", "failed")


def markdown(name, rows, cases):
    """The table of one tool, and what of the suite it covers."""
    lines = list(table(rows, cases))
    out = [f"## {name}", "", "| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    out += ["| " + " | ".join(str(line[key]) for key in HEAD) + " |" for line in lines]
    covered = [row for row in rows if row["verdict"] != "refused"]
    families = ", ".join(sorted({row["family"] for row in covered})) or "nothing"
    out += ["", f"Covers {len(covered)} of the {len(rows)} cases that it was asked: {families}."]
    smallest = {}
    for row in (row for row in rows if row["verdict"] in ("unsound", "failed")):
        smallest.setdefault((row["family"], row["verdict"], row.get("why")), row)
    for row in list(smallest.values())[:12]:
        about = row.get("why") or f"{row['epsilon']}, {row['share']:.6g} of what is proved"
        out.append(f"- {row['verdict']}, {row['id']}: {about}")
    return "\n".join(out) + "\n"


def meant(template, families):
    """Families of which a command is asked."""
    names = set(re.findall(r"\{(\w+)\}", template))
    if unknown := names - {*PARAMETERS, "family", "P", "Q"}:
        sys.exit(f"Expected names among {', '.join(PARAMETERS)}, family, P, Q, got {unknown}.")
    own = [f for name, all_ in MEANT.items() if name in names for f in all_]
    return families or [f for f in own if "q" in names or not f.startswith("poisson")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tools = parser.add_mutually_exclusive_group(required=True)
    tools.add_argument("--tool", metavar="COMMAND", help="with {sigma}, {q}, {T}, {delta}, ...")
    tools.add_argument("--module", action="append", metavar="NAME", help="a file, or an adapter")
    tools.add_argument("--serve", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the modules")
    parser.add_argument("--families", type=lambda text: text.split(","), help="a,b: only these")
    parser.add_argument("--seconds", type=float, default=100, help="for each tool")
    parser.add_argument("--limit", type=float, default=10, help="seconds for each case")
    parser.add_argument("--suite", type=Path, default=FILE, help="file of the cases")
    parser.add_argument("--out", type=Path, metavar="STEM", help="write STEM.md and STEM.json")
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    suite = json.loads(options.suite.read_text(encoding="utf-8"))
    if options.tool:
        wanted = meant(options.tool, options.families)
        chosen = [Command(options.tool, options.limit)]
    else:
        wanted = options.families
        chosen = [Module(name, options.python, options.limit) for name in options.module]
    cases = [case for case in suite["cases"] if not wanted or case["family"] in wanted]
    late = lambda case: case["why"] == "drawn" or case["why"].startswith("sheet")
    order, turns = random.Random(0).sample(cases, len(cases)), {}
    for case in order:
        turns.setdefault((late(case), case["family"]), []).append(case["id"])
    turn = {name: i for names in turns.values() for i, name in enumerate(names)}
    # A turn of each family after the other, those picked by hand first.
    order.sort(key=lambda case: (late(case), turn[case["id"]]))
    texts, results = [], {}
    for tool in chosen:
        results[tool.name] = asked(tool, order, options.seconds)
        texts.append(markdown(tool.name, results[tool.name], order))
        print(texts[-1], flush=True)
    if options.out:
        head = f"# Accountants against certified epsilon, suite {suite['version']}\n\n"
        options.out.with_suffix(".md").write_text(head + "\n".join(texts), encoding="utf-8")
        lines = (
            f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]"
            for name, rows in results.items()
        )
        options.out.with_suffix(".json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
