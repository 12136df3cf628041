"""Make data/epsilon_golden.json and tables.md from head.json, or prove the cases again.

python conformance/make.py          draws the cases and writes both files
python conformance/make.py FOLDER   proves the cases again, and leaves their certificates there
"""

import argparse
import csv
import itertools
import json
import math
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dplearn.certificates import NotProvedError, certify, check
from dplearn.certificates.check import FORMAT
from dplearn.core.guarantee import round_down, round_up
from dplearn.engine.contour import worse_brackets
from dplearn.engine.lattice import Lattice
from dplearn.mechanisms import MECHANISMS, PoissonSubsampled
from dplearn.teaching.book.chapters.gaussian import sum_delta
from dplearn.teaching.book.kit.oracles import coins_delta

HERE = Path(__file__).resolve().parent
FILE = HERE.parent / "data" / "epsilon_golden.json"
HEAD = json.loads((HERE / "head.json").read_text())
FAMILIES = HEAD["families"]
CERTIFIED = (
    "gaussian",
    "poisson_gaussian",
    "gaussian_replace_one",
    "without_replacement_replace_one",
)
# Largest epsilon of a drawn case, and widest bracket: upper end / lower end - 1.
MOST, WIDEST = 50, 1e-4
# An oracle's nodes of one step of Laplace noise, and most nodes of a composed law.
NODES, MOST_NODES = 4096, 2**22
Case = dict[str, Any]


def candidates() -> Iterator[Case]:
    """Yield cases picked by hand, those of the printed tables, those drawn, and replaced records.

    Families of version 1.1 come last, so that the cases of version 1.0 keep their ids.
    """
    with (HERE / "handpicked.csv").open(newline="") as file:
        picked = [_case(*row.values()) for row in csv.DictReader(file)]
    yield from (case for case in picked if not case["family"].endswith("replace_one"))
    grid = HEAD["tables"]
    for (q, delta), size, steps in itertools.product(grid["sheets"], grid["sigma"], grid["T"]):
        yield _case("poisson_gaussian", size, q, steps, delta, "sheet")
    rng = random.Random(HEAD["seed"])
    log = lambda ends: math.exp(rng.uniform(*map(math.log, ends)))
    for name, family in FAMILIES.items():
        for _ in range(family["drawn"]):
            rare = "rare delta" in family and rng.random() < 0.15
            least = family["rare delta"] if rare else 1e-10
            steps, delta, size = round(log(family["T"])), log((least, 1e-3)), log(family["sizes"])
            rate = f"{log(family['q']):.3g}" if "q" in family else ""
            yield _case(name, f"{size:.3g}", rate, steps, f"{delta:.2g}", "drawn")
    yield from (case for case in picked if case["family"].endswith("replace_one"))


def _case(family: str, size: str, rate: str, steps: Any, delta: str, why: str) -> Case:
    case: Case = {"family": family, FAMILIES[family]["size"]: f"{float(size):.12g}"}
    if rate:
        case["q"] = repr(float(rate))
    return case | {"T": int(steps), "delta": repr(float(delta)), "why": why}


def engines(case: Case) -> tuple[dict[str, tuple[float, float]], dict[str, Any]]:
    """Return finite ends by each engine that finds them, and the certificate if there is one."""
    family, steps, delta = FAMILIES[case["family"]], case["T"], float(case["delta"])
    size = float(case[family["size"]]) / (2 if halved(case) else 1)
    step = MECHANISMS[family["mechanism"]](size)
    step = PoissonSubsampled(step, float(case["q"])) if "q" in case else step
    about = {"delta": delta, "steps": steps, "adjacency": adjacency_of(case)}
    ends, proof = {}, {}
    if family["mechanism"] == "gaussian" and "q" in case:
        low, high = worse_brackets([steps], sigma=size, q=float(case["q"]), delta=delta)
        ends["contour"] = low[0], high[0]
    if (plain := family["mechanism"] == "gaussian" and "q" not in case) or steps == 1:
        bound = step.guarantee("pld", **about)
        name = "closed form" if plain else "profile"
        ends[name] = bound.lower, bound.epsilon
    else:
        profiles = [[profile] for profile in step.profiles(about["adjacency"])]
        witnesses = [[profile] for profile in step.witnesses(about["adjacency"])]
        low, high = Lattice().brackets(profiles, [[steps]], delta=delta, witnesses=witnesses)
        ends["lattice"] = low[0], high[0]
    with suppress(NotImplementedError):
        proof = json.loads(certify(step, **about))
    if proof:
        ends["certificate"] = float(proof["lower"]), float(proof["upper"])
    return {name: pair for name, pair in ends.items() if pair[1] < math.inf}, proof


def halved(case: Case) -> bool:
    """Return whether the pair of a case is that of a Poisson sample with half the noise.

    A subset of fixed size has the new record with chance q. If all other records are equal to the
    one that is replaced, every other subset gives the old law, and the new one is two norms away.
    """
    return case["family"] == "without_replacement_replace_one"


def adjacency_of(case: Case) -> str:
    """Return the adjacency under which the mechanism of a case has the case's pair of laws."""
    replaced = case["family"] in ("gaussian_replace_one", "randomized_response")
    return "replace_one" if replaced else "add_remove"


def judged(case: Case) -> str:
    """Complete a case; return why it does not belong to the suite, or an empty text."""
    ends, proof = engines(case)
    if not ends or (case["family"] in CERTIFIED and not proof):
        return "no proof"
    low, high = max(low for low, _ in ends.values()), min(high for _, high in ends.values())
    if low > high:
        return f"the engines disagree: {ends}"
    # What is proved with a model of rounding, not in ball arithmetic, gets room.
    case["lower"] = proof.get("lower") or round_down(low * (1 - 1e-9), 12)
    case["upper"] = proof.get("upper") or round_up(high * (1 + 1e-9), 12)
    low, high = float(case["lower"]), float(case["upper"])
    picked = case["why"] not in ("drawn", "sheet")
    if not picked and not 0 < low <= high <= MOST:
        return "out of range"
    if high > low * (1 + WIDEST * (20 if picked else 1)):
        return "wide"
    if not proof and not agrees(case):
        return "the oracle disagrees"
    rest = f"{1 - Decimal(case['q']):f}" if "q" in case else ""
    family = FAMILIES[case["family"]]
    case |= {law: family[law].format(rest=rest, **case) for law in "PQ"}
    case["proved by"] = sorted(ends if proof else [*ends, "oracle"])
    if proof:
        case["certificate"] = {name: proof[name] for name in ("bits", "proofs", "lower side")}
    return ""


def agrees(case: Case) -> bool:
    """Return whether the case's delta lies between those at both ends, up to rounding."""
    target, lower, upper = (float(case[name]) for name in ("delta", "lower", "upper"))
    # Connected dots are above the truth by their spacing, and their transform rounds.
    dots = case["family"] in ("laplace", "poisson_laplace")
    slack = 2e-4 + 2e-13 / target if dots else 1e-11
    enough = delta_at(case, upper) <= target * (1 + slack)
    return enough and (lower == 0 or delta_at(case, lower) >= target * (1 - slack))


def delta_at(case: Case, epsilon: float) -> float:
    """Return the delta of a case at epsilon."""
    steps = case["T"]
    match case:
        case {"family": "discrete_gaussian", "sigma": size}:
            # Of all outputs only their sum is told apart: it moves by one for each step.
            return sum_delta(sigma=float(size), clients=steps, sensitivity=steps, epsilon=epsilon)
        case {"epsilon0": size}:
            return coins_delta(epsilon, local=float(size), steps=steps)
        case {"family": "discrete_laplace", "b": b}:
            return coins_delta(epsilon, local=1 / float(b), steps=steps)
    laws = _dots(1 / float(case["b"]), float(case.get("q", 1)), steps)
    return max(math.fsum(law * -np.expm1(np.minimum(epsilon - at, 0))) for law, at in laws)


@lru_cache(1)
def _dots(a: float, q: float, steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Connect the dots of both profiles of (sampled) Laplace, and compose without folding.

    Each law of a composed loss is given by its masses and their places.
    """
    plain = lambda e: 1 - np.sqrt(e * math.exp(-a))
    remove = lambda e: q * plain((e - 1 + q) / q)
    add = lambda e: (1 - e * (1 - q)) * plain(e * q / (1 - e * (1 - q)))
    least, most = np.log1p(q * np.expm1([-a, a]))
    laws = []
    for profile, first, last in ((remove, least, most), (add, -most, -least)):
        grid = np.linspace(first, last, min(NODES, MOST_NODES // steps))
        e = np.exp(grid)
        # delta is the sum of law_j (1 - e / e_j)+, so its slope grows by law_j / e_j at e_j.
        slopes = np.diff(profile(e), prepend=1.0) / np.diff(e, prepend=0.0)
        law = np.maximum(e * np.diff(slopes, append=0.0), 0)
        count = steps * (law.size - 1) + 1
        size = 1 << (count - 1).bit_length()
        power = np.fft.irfft(np.fft.rfft(law, size) ** steps, size)[:count]
        laws.append((np.maximum(power, 0), np.linspace(steps * first, steps * last, count)))
    return laws


def drawn() -> list[Case]:
    """Return the cases of the suite, with a limited number of drawn cases per family."""
    cases: list[Case] = []
    known = set()
    for case in candidates():
        run = tuple(value for name, value in case.items() if name != "why")
        family, by_lot = case["family"], case["why"] == "drawn"
        kept = sum(other["why"] == "drawn" and other["family"] == family for other in cases)
        if run in known or (by_lot and kept == FAMILIES[family]["kept"]):
            continue
        known.add(run)
        if reason := judged(case):
            print("refused", case, reason, flush=True)
        else:
            cases.append({"id": f"{family}-{len(cases) + 1:04}"} | case)
    return cases


def tables(cases: list[Case]) -> str:
    """Return the text of tables.md before its first sheet, and the sheets."""
    grid, places = HEAD["tables"], ("q", "delta", "sigma", "T")
    sampled = [case for case in cases if case["family"] == "poisson_gaussian"]
    upper = {tuple(case[place] for place in places): case["upper"] for case in sampled}
    parts = [(HERE / "tables.md").read_text().partition("\n<div")[0]]
    for q, delta in grid["sheets"]:
        rows = [["T", *(f"σ {sigma}" for sigma in grid["sigma"])], ["--:"] * 11]
        for steps in grid["T"]:
            ends = [upper.get((q, delta, sigma, steps)) for sigma in grid["sigma"]]
            rows.append([f"{steps:,}", *(round_up(float(end)) if end else "—" for end in ends)])
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        head = f"## q = {q}, δ = {float(delta):g}"
        parts.append(f'<div class="sheet">\n\n{head}\n\n{table}\n\n</div>\n')
    return "\n".join(parts)


def proved(case: Case, folder: Path) -> bool:
    """Write the certificate of a case; return whether it, or else an oracle, proves the case."""
    if "certificate" not in case:
        return agrees(case)
    noise = repr(float(case["sigma"]) / 2) if halved(case) else case["sigma"]
    run = {"mechanism": "gaussian", "noise_multiplier": noise, "steps": case["T"]}
    run |= {"delta": case["delta"], "adjacency": adjacency_of(case)}
    if "q" in case:
        run |= {"mechanism": "poisson_subsampled_gaussian", "sample_rate": case["q"]}
    ends = {"lower": case["lower"], "upper": case["upper"], "made with": "dplearn, conformance"}
    text = json.dumps({"format": FORMAT, "run": run} | case["certificate"] | ends)
    (folder / f"{case['id']}.json").write_text(text)
    try:
        return bool(check(text))
    except NotProvedError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="for certificates: prove them again")
    if folder := parser.parse_args().folder:
        folder.mkdir(exist_ok=True)
        cases = json.loads(FILE.read_text())["cases"]
        wrong = [case["id"] for case in cases if not proved(case, folder)]
        print(f"{len(cases)} cases, {len(wrong)} not proved", *wrong)
        sys.exit(bool(wrong))
    cases = drawn()
    head = json.dumps(HEAD, indent=1).removesuffix("\n}")
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    FILE.write_text(f'{head},\n "cases": [\n{lines}\n]}}\n')
    (HERE / "tables.md").write_text(tables(cases))


if __name__ == "__main__":
    main()
