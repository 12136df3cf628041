"""Results of Python for tests of the JavaScript engine, and for its page on shuffling.

`python tests/teaching/browser/golden.py` recomputes them in about a minute.
"""

import json
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from dplearn.accountants import ACCOUNTANTS
from dplearn.core.guarantee import Guarantee, round_down, round_up
from dplearn.mechanisms import Gaussian, Mechanism, PoissonSubsampled
from dplearn.mechanisms.sampling_scheme import Sampling
from dplearn.run import DPSGD
from dplearn.teaching import browser
from dplearn.teaching.book.published import drawn_figures
from dplearn.teaching.figures.kit.text import floor

FILE = Path(__file__).with_name("golden.json")
SHUFFLED = Path(browser.__file__).parent / "scenes" / "shuffled.json"
RUNS, LENGTHS = 176, 5
# Every fourth run has bounds of other accountants, every third an attacker's detection rate.
CURVES, POWERS = 4, 3
BOUNDS = tuple(name for name in ACCOUNTANTS if name != "pld")
_DIGITS = 10
_NAMES = {name: name for name in ("noise_multiplier", "sample_rate", "delta")} | {"T": "here"}


def step(run: dict[str, Any]) -> Mechanism:
    """Return the mechanism of one step, from a run in the page's format."""
    base = Gaussian(run["noise_multiplier"])
    return base if run["sample_rate"] == 1 else PoissonSubsampled(base, run["sample_rate"])


def answers(name: str, run: dict[str, Any], steps: list[int]) -> tuple[Guarantee, ...]:
    """Return an accountant's guarantee after each number of steps."""
    target = {"delta": run["delta"], "adjacency": run["adjacency"]}
    return ACCOUNTANTS[name]().epsilon_curve(step(run), steps=steps, **target)


def ends(guarantees: tuple[Guarantee, ...]) -> list[list[float]]:
    """Return lower and upper bounds on epsilon, rounded outwards even for exact values."""
    lower = [round_down(floor(g) * (1 - 4e-12), _DIGITS) for g in guarantees]
    return [list(map(float, lower)), [_up(g.epsilon) for g in guarantees]]


def power(run: dict[str, Any], steps: int, rate: float) -> list[float]:
    """Return bounds on an attacker's largest true positive rate, rounded outwards."""
    setting = {"steps": steps, "adjacency": run["adjacency"]}
    low, high = ACCOUNTANTS["pld"]().true_positive_rate(
        step(run), false_positive_rate=rate, **setting
    )
    return [float(round_down(float(low), _DIGITS)), _up(float(high))]


def _up(value: float) -> float:
    return float(round_up(value, _DIGITS)) if math.isfinite(value) else 1e999


def drawn(rng: random.Random) -> tuple[dict[str, Any], list[int]]:
    """Draw a random run and numbers of steps from most of the ranges of the page."""
    between = lambda low, high: float(f"{low * (high / low) ** rng.random():.4g}")
    rate = 1.0 if rng.random() < 0.12 else between(1e-5, 1)
    run = {
        "noise_multiplier": between(0.3, 100),
        "sample_rate": rate,
        "delta": between(1e-30, 1e-9) if rng.random() < 0.3 else between(1e-9, 0.3),
        "adjacency": rng.choice(["replace_one", "add_remove"]),
    }
    return run, sorted({round(between(1, 1e6)) for _ in range(LENGTHS)})


def entry(number: int, rng: random.Random) -> dict[str, Any]:
    """Return one line of the file: a run, its bounds on epsilon, for some runs more results."""
    run, steps = drawn(rng)
    line = {"run": run, "steps": steps, "pld": ends(answers("pld", run, steps))}
    if number % CURVES == 0:
        result = {name: answers(name, run, steps) for name in BOUNDS}
        line["bounds"] = {name: [_up(g.epsilon) for g in curve] for name, curve in result.items()}
    if number % POWERS == 0:
        rate = float(f"{10 ** rng.uniform(-4, -0.3):.3g}")
        line["power"] = [steps[0], rate, *power(run, steps[0], rate)]
    return line


def shuffled() -> dict[str, Any]:
    """Return newly computed bounds, which `browser.shuffled` reads from a file."""
    queries = (dict(parse_qsl(preset["query"])) for preset in browser.presets())
    fields = next(query for query in queries if query.get("sampling") == "shuffled")
    run = {symbol: float(fields[name]) for symbol, name in _NAMES.items()}
    steps = sorted({max(1, round(run["T"] * (k / 24) ** 2)) for k in range(1, 25)})
    claim = _plan(run, "poisson").guarantees(delta=run["delta"], steps=steps, adjacency="zero_out")
    first = next(drawn_figures())
    return {
        "run": {**run, "adjacency": fields["adjacency"]},
        "claim": [[t, guarantee.epsilon] for t, guarantee in zip(steps, claim, strict=True)],
        **_ends(run),
        "before": {name: first[name] for name in _NAMES} | _ends(first, drop_last=True),
    }


def _plan(run: Mapping[str, float], sampling: Sampling, drop_last: bool = False) -> DPSGD:
    about = {name: run[name] for name in ("noise_multiplier", "sample_rate")}
    return DPSGD(**about, steps=int(run["T"]), sampling=sampling, drop_last=drop_last)


def _ends(run: Mapping[str, float], drop_last: bool = False) -> dict[str, float]:
    """Return the proved bounds on epsilon of a run on shuffled batches."""
    proved = _plan(run, "shuffled", drop_last).guarantee(delta=run["delta"])
    return {"lower": proved.lower, "upper": proved.epsilon}


def make() -> None:
    """Write both files: results of each run, and bounds for runs with shuffled batches."""
    rng = random.Random(15)
    lines = [json.dumps(entry(i, rng), separators=(",", ":")) for i in range(RUNS)]
    FILE.write_text("[\n" + ",\n".join(lines).replace("Infinity", "1e999") + "\n]\n")
    parts = (f"  {json.dumps(name)}: {json.dumps(result)}" for name, result in shuffled().items())
    SHUFFLED.write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    make()
