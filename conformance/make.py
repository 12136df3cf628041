"""Make data/epsilon_golden.json and tables.md from head.json, or prove the cases again.

python conformance/make.py                        draws the cases and writes both files
python conformance/make.py --prove                proves every certificate and asks every oracle
python conformance/make.py --certificates FOLDER  writes the certificates for `dplearn check`
"""

import argparse
import csv
import itertools
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracles import Case, oracle

from dplearn.accountants import ACCOUNTANTS
from dplearn.certificates import NotProvedError, certify, check
from dplearn.certificates.check import FORMAT
from dplearn.engine.contour import worse_brackets
from dplearn.engine.lattice import Lattice
from dplearn.ground.guarantee import round_down, round_up
from dplearn.mechanisms import MECHANISMS, Mechanism, PoissonSubsampled

HERE = Path(__file__).resolve().parent
FILE = HERE.parent / "data" / "epsilon_golden.json"
HEAD = json.loads((HERE / "head.json").read_text())
FAMILIES = HEAD["families"]
CERTIFIED = ("gaussian", "poisson_gaussian")
# Largest epsilon of a drawn case, and widest bracket: upper end / lower end - 1.
MOST, WIDEST = 50, 1e-4


def mechanism(case: Case) -> Mechanism:
    """The mechanism of one release."""
    family = FAMILIES[case["family"]]
    one = MECHANISMS[family["mechanism"]](float(case[family["size"]]))
    return PoissonSubsampled(one, float(case["q"])) if "q" in case else one


def adjacency(case: Case) -> str:
    """The neighbours for whom the package has these laws."""
    return "replace_one" if case["family"] == "randomized_response" else "add_remove"


def candidates() -> Iterator[Case]:
    """The cases picked by hand, then those of the printed tables, then those drawn."""
    with (HERE.parent / "tests/golden/sampled_gaussian_epsilon.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            printed = f"tests/golden: a contour integral in mpmath gives {row['value']}"
            rate, steps = Fraction(row["sample_rate"]), row["steps"]
            size, delta = row["noise_multiplier"], row["delta"]
            yield _case("poisson_gaussian", size, rate, steps, delta, printed)
    with (HERE / "handpicked.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            size = row["sigma"] or row["b"] or row["epsilon0"]
            yield _case(row["family"], size, row["q"], row["T"], row["delta"], row["why"])
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


def _case(family: str, size: str, rate: Any, steps: Any, delta: str, why: str) -> Case:
    case: Case = {"family": family, FAMILIES[family]["size"]: f"{float(size):.12g}"}
    if rate:
        case["q"] = repr(float(rate))
    return case | {"T": int(steps), "delta": repr(float(delta)), "why": why}


def engines(case: Case) -> tuple[dict[str, tuple[float, float]], dict[str, Any]]:
    """Finite ends by each engine that finds them, and the certificate if there is one."""
    step, steps, delta = mechanism(case), case["T"], float(case["delta"])
    about = {"delta": delta, "steps": steps, "adjacency": adjacency(case)}
    ends, proof = {}, {}
    if case["family"] == "poisson_gaussian":
        sigma, q = float(case["sigma"]), float(case["q"])
        low, high = worse_brackets([steps], sigma=sigma, q=q, delta=delta)
        ends["contour"] = low[0], high[0]
    if case["family"] == "gaussian" or steps == 1:
        bound = ACCOUNTANTS["pld"]().epsilon(step, **about)
        name = "closed form" if case["family"] == "gaussian" else "profile"
        ends[name] = bound.lower, bound.epsilon
    else:
        profiles = [[profile] for profile in step.profiles(adjacency(case))]
        witnesses = [[profile] for profile in step.witnesses(adjacency(case))]
        low, high = Lattice().brackets(profiles, [[steps]], delta=delta, witnesses=witnesses)
        ends["lattice"] = low[0], high[0]
    if case["family"] in CERTIFIED:
        try:
            proof = json.loads(certify(step, **about))
            ends["certificate"] = float(proof["lower"]), float(proof["upper"])
        except NotImplementedError:
            if ends.get("closed form") == (0, 0):
                proof = {"lower": "0", "upper": "0", "bits": 128, "proofs": {}}
                proof["lower side"] = "either"
    return {name: pair for name, pair in ends.items() if pair[1] < math.inf}, proof


def judged(case: Case) -> str:
    """Complete a case; the answer says why it is not in, if it is not."""
    ends, proof = engines(case)
    if not ends or (case["family"] in CERTIFIED and not proof):
        return "no certificate" if ends else "no bracket"
    low, high = max(low for low, _ in ends.values()), min(high for _, high in ends.values())
    if low > high:
        return f"the engines disagree: {ends}"
    if proof:
        case |= {"lower": proof["lower"], "upper": proof["upper"]}
    else:
        # What is proved with a model of rounding, not in ball arithmetic, gets room.
        case["lower"] = round_down(low * (1 - 1e-9), 12)
        case["upper"] = round_up(high * (1 + 1e-9), 12)
    low, high = float(case["lower"]), float(case["upper"])
    picked = case["why"] not in ("drawn", "sheet")
    if not picked and not 0 < low <= high <= MOST:
        return "out of range"
    if high > low * (1 + WIDEST * (20 if picked else 1)):
        return "wide"
    delta = oracle(case)
    if delta and not agrees(case, delta):
        return "the oracle disagrees"
    proved = sorted(ends) + ["oracle"] * bool(delta)
    if len(proved) < 2:
        return "one engine alone"
    rest = f"{1 - Decimal(case['q']):f}" if "q" in case else ""
    family = FAMILIES[case["family"]]
    case |= {law: family[law].format(rest=rest, **case) for law in "PQ"}
    case["proved by"] = proved
    if proof:
        case["certificate"] = {name: proof[name] for name in ("bits", "proofs", "lower side")}
    return ""


def agrees(case: Case, delta: Callable[[str], Any]) -> bool:
    """Whether an oracle's delta at both ends lies on either side of the case's, up to rounding."""
    target, slack = float(case["delta"]), 1e-12
    if FAMILIES[case["family"]]["mechanism"] == "laplace":
        # Its dots are above the truth by their spacing, and its transform rounds.
        slack = 2e-4 + 2e-13 / target
    below = float(case["lower"]) == 0 or delta(case["lower"]) >= target * (1 - slack)
    return bool(below and delta(case["upper"]) <= target * (1 + slack))


def drawn() -> list[Case]:
    """The cases that are in: of those drawn in a family as many as it keeps."""
    cases: list[Case] = []
    count: Counter[str] = Counter()
    known = set()
    for case in candidates():
        run = tuple(value for name, value in case.items() if name != "why")
        family, by_lot = case["family"], case["why"] == "drawn"
        if run in known or (by_lot and count[family] == FAMILIES[family]["kept"]):
            continue
        known.add(run)
        if reason := judged(case):
            print("refused", case, reason, flush=True)
        else:
            count[family] += by_lot
            cases.append({"id": f"{family}-{len(cases) + 1:04}"} | case)
    return cases


def tables(cases: list[Case]) -> str:
    """The text of tables.md as it stands before its first sheet, and the sheets."""
    grid, places = HEAD["tables"], ("q", "delta", "sigma", "T")
    upper = {tuple(case.get(place) for place in places): case["upper"] for case in cases}
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


def whole(case: Case) -> str:
    """The certificate of a case as `dplearn check` reads it: its run is that of the case."""
    name = FAMILIES[case["family"]]["mechanism"]
    run = {"mechanism": "poisson_subsampled_gaussian" if "q" in case else name}
    run |= {"steps": case["T"], "delta": case["delta"], "adjacency": adjacency(case)}
    names = {"sigma": "noise_multiplier", "q": "sample_rate"}
    run |= {names[key]: case[key] for key in names if key in case}
    ends = {"lower": case["lower"], "upper": case["upper"], "made with": "dplearn, conformance"}
    return json.dumps({"format": FORMAT, "run": run} | case["certificate"] | ends)


def prove(cases: list[Case]) -> int:
    """Number of cases whose certificate does not prove or whose oracle disagrees."""
    wrong = 0
    for case in cases:
        try:
            if "certificate" in case:
                check(whole(case))
            if (delta := oracle(case)) and not agrees(case, delta):
                raise NotProvedError("the oracle disagrees")
        except NotProvedError as error:
            wrong += 1
            print(case["id"], error)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--certificates", type=Path, metavar="FOLDER")
    parser.add_argument("--prove", action="store_true")
    options = parser.parse_args()
    if not (options.prove or options.certificates):
        cases = drawn()
        head = json.dumps(HEAD, indent=1).removesuffix("\n}")
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        FILE.write_text(f'{head},\n "cases": [\n{lines}\n]}}\n')
        (HERE / "tables.md").write_text(tables(cases))
        return 0
    cases = json.loads(FILE.read_text())["cases"]
    if options.certificates:
        options.certificates.mkdir(parents=True, exist_ok=True)
        for case in (case for case in cases if "certificate" in case):
            (options.certificates / f"{case['id']}.json").write_text(whole(case))
        return 0
    wrong = prove(cases)
    print(f"{len(cases)} cases, {wrong} not proved")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
