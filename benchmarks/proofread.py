"""Verdicts of `proofread` on the book's formulas, misprints, edits, and texts without a claim.

    .venv/bin/python benchmarks/proofread.py [--sample 200] [--seed 1] [--held-out]
        [--failures FILE]

The formulas are those of `tests/teaching/claims/corpus.py`. A verdict is reversed if it says
"holds" or "safe" of a formula that promises too much, or "refuted" of one that does not. A formula
is falsely accused if it is right and refuted, or claims nothing and is judged wrong.
Exit status 1 if there is either.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / part) for part in ("", "teaching/claims")]

from corpus import Row, rows, wrongly  # noqa: E402

from dplearn.teaching.claims import proofread  # noqa: E402

VERDICTS = (
    "holds", "refuted", "safe", "conditional", "open", "depends", "approximation", "not read",
)  # fmt: skip


def main() -> int:
    """Judge the rows and print the table; return 1 if a verdict is reversed or accuses falsely."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, help="so many rows, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true", help="the fifth that is not tuned for")
    parser.add_argument("--failures", type=Path, help="write what is wrong or not read to a file")
    options = parser.parse_args()
    chosen = [row for row in rows() if row.held_out == options.held_out]
    if options.sample:
        drawn = np.random.default_rng(options.seed).permutation(len(chosen))[: options.sample]
        chosen = [chosen[k] for k in sorted(drawn)]
    table, faults, lines, slowest = Counter(), Counter(), [], 0.0
    for row in chosen:
        began = time.process_time()
        finding = proofread(row.formula, words=row.words)
        seconds = time.process_time() - began
        slowest = max(slowest, seconds)
        fault = wrongly(row, finding)
        table[row.about, finding.verdict] += 1
        faults[row.about, fault] += 1
        if fault or finding.verdict in ("not read", "depends") or seconds > 5:
            lines.append(_line(row, finding, fault, seconds))
            if fault:
                print(lines[-1], flush=True)
    print(_table(table, faults))
    print(f"{len(chosen)} formulas, {time.process_time():.0f} s, slowest {slowest:.1f} s.")
    if options.failures:
        options.failures.write_text("\n".join(sorted(lines, key=lambda x: x[:9] != "REVERSED")))
    return 1 if any(count for (_, fault), count in faults.items() if fault) else 0


def _line(row: Row, finding, fault: str, seconds: float) -> str:
    details = f"{finding.entry} {finding.misprint} {finding.reason}"
    cells = [fault.upper() or finding.verdict, f"{row.about} {row.id}", row.formula, row.words]
    cells = [" ".join(cell.split()) for cell in cells]
    return " | ".join([*cells, f"{finding.verdict}: {details}", f"{seconds:.1f} s"])


def _table(table: Counter, faults: Counter) -> str:
    lines = [f"{'':10}{''.join(f'{v:>15}' for v in (*VERDICTS, 'reversed', 'accused'))}"]
    for about in ("right", "misprint", "edit", "nothing"):
        counts = [table[about, v] for v in VERDICTS]
        counts += [faults[about, "reversed"], faults[about, "falsely accused"]]
        lines.append(f"{about:10}{''.join(f'{count:>15}' for count in counts)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
