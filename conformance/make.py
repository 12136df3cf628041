"""Make data/epsilon_golden.json, certificates of its cases, or prove all of them again.

python conformance/make.py                        draws the cases and writes the file
python conformance/make.py --certificates FOLDER  a file for `dplearn check` per certificate
python conformance/make.py --prove                proves every certificate and asks every oracle
"""

import argparse
import csv
import itertools
import json
import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracles import Case, oracle

from dplearn import browser
from dplearn.accountants import ACCOUNTANTS
from dplearn.certificates import NotProvedError, certify, check
from dplearn.certificates.check import FORMAT
from dplearn.engine.contour import worse_brackets
from dplearn.engine.lattice import Lattice
from dplearn.ground.guarantee import round_down, round_up
from dplearn.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    Geometric,
    Laplace,
    Mechanism,
    PoissonSubsampled,
    RandomizedResponse,
)

HERE = Path(__file__).resolve().parent
FILE = HERE.parent / "data" / "epsilon_golden.json"
Ends = tuple[float, float]
SEED, VERSION = 36, "1.0"
# P, Q of one release; Q is the law without the record, or the other answer.
LAWS = {
    "gaussian": ("N(1, {sigma}^2)", "N(0, {sigma}^2)"),
    "poisson_gaussian": ("{rest} N(0, {sigma}^2) + {q} N(1, {sigma}^2)", "N(0, {sigma}^2)"),
    "laplace": ("Laplace(1, {b})", "Laplace(0, {b})"),
    "poisson_laplace": ("{rest} Laplace(0, {b}) + {q} Laplace(1, {b})", "Laplace(0, {b})"),
    "discrete_laplace": ("exp(-|k-1| / {b}), k whole", "exp(-|k| / {b}), k whole"),
    "discrete_gaussian": ("exp(-(k-1)^2 / (2 {sigma}^2)), k whole", "exp(-k^2 / (2 {sigma}^2))"),
    "randomized_response": ("1 with odds exp({epsilon0}) : 1", "0 with odds exp({epsilon0}) : 1"),
}
_KINDS = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "discrete_laplace": Geometric,
    "discrete_gaussian": DiscreteGaussian,
    "randomized_response": RandomizedResponse,
}
# How many are kept of how many that are drawn; ends of sigma or b or epsilon0, of q, of T.
DRAWN = {
    "poisson_gaussian": (339, 3900, (0.4, 20), (1e-4, 0.5), (2, 1e6)),
    "gaussian": (400, 2400, (0.3, 200), None, (1, 1e5)),
    "laplace": (110, 660, (0.5, 100), None, (1, 1e3)),
    "poisson_laplace": (90, 540, (0.3, 10), (1e-3, 0.5), (2, 1e3)),
    "randomized_response": (240, 1440, (0.005, 2), None, (1, 1e3)),
    "discrete_laplace": (150, 900, (0.5, 100), None, (1, 1e3)),
    "discrete_gaussian": (180, 1080, (0.5, 10), None, (1, 50)),
}
# The printed tables: a sheet for each rate and delta, sigma across, T down.
SHEETS = (("0.001", "1e-5"), ("0.004", "1e-5"), ("0.01", "1e-5"), ("0.02", "1e-5"))
SHEETS += (("0.05", "1e-5"), ("0.1", "1e-5"), ("0.01", "1e-6"))
SIGMAS = ("0.6", "0.7", "0.8", "0.9", "1", "1.2", "1.5", "2", "3", "5")
STEPS = (100, 300, 1000, 3000, 10000, 30000, 100000, 300000)
# Largest epsilon of a drawn case, and widest bracket: upper end / lower end - 1.
MOST, WIDEST = 50, 1e-4


def mechanism(case: Case) -> Mechanism:
    """The mechanism of one release."""
    size = float(case.get("sigma") or case.get("b") or case["epsilon0"])
    one = _KINDS[case["family"].removeprefix("poisson_")](size)
    return PoissonSubsampled(one, float(case["q"])) if "q" in case else one


def adjacency(case: Case) -> str:
    """The neighbours for whom the package has these laws."""
    return "replace_one" if case["family"] == "randomized_response" else "add_remove"


def candidates() -> Iterator[Case]:
    """Picked by hand, then the printed tables, then without end what the seed draws."""
    with (HERE.parent / "tests/golden/sampled_gaussian_epsilon.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            printed = f"tests/golden: a contour integral in mpmath gives {row['value']}"
            rate = repr(float(Fraction(row["sample_rate"])))
            yield _case("poisson_gaussian", row["noise_multiplier"], rate, row, printed)
    with (HERE / "handpicked.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            size = row["sigma"] or row["b"] or row["epsilon0"]
            yield _case(row["family"], size, row["q"], row, row["why"])
    for (q, delta), size, steps in itertools.product(SHEETS, SIGMAS, STEPS):
        row = {"T": steps, "delta": delta}
        yield _case("poisson_gaussian", size, q, row, f"sheet {q} {delta}")
    rng = random.Random(SEED)
    log = lambda ends: math.exp(rng.uniform(*map(math.log, ends)))
    for family, (_, count, sizes, rates, steps) in DRAWN.items():
        # More than needed: what is refused is replaced by the next.
        for _ in range(count):
            smallest = 1e-30 if family in _PROVED and rng.random() < 0.15 else 1e-10
            row = {"T": round(log(steps)), "delta": f"{log((smallest, 1e-3)):.2g}"}
            size, rate = f"{log(sizes):.3g}", f"{log(rates):.3g}" if rates else ""
            yield _case(family, size, rate, row, "drawn")


_PROVED = ("gaussian", "poisson_gaussian", "randomized_response")


def _case(family: str, size: str, rate: str, row: dict[str, Any], why: str) -> Case:
    name = {"randomized_response": "epsilon0"}.get(family, "b" if "laplace" in family else "sigma")
    case: Case = {"family": family, name: f"{float(size):.12g}"}
    if rate:
        case["q"] = repr(float(rate))
    return case | {
        "T": int(row.get("T") or row["steps"]),
        "delta": repr(float(row["delta"])),
        "why": why,
    }


def engines(case: Case, in_browser: Ends | None) -> tuple[dict[str, Ends], dict[str, Any] | None]:
    """Ends of every engine that answers, and the certificate where there is one."""
    step, delta, steps = mechanism(case), float(case["delta"]), case["T"]
    ends: dict[str, Ends] = {}
    about = {"delta": delta, "steps": steps, "adjacency": adjacency(case)}
    if case["family"] == "poisson_gaussian":
        where = {"sigma": float(case["sigma"]), "q": float(case["q"]), "delta": delta}
        low, high = worse_brackets([steps], **where)
        ends["contour"] = (float(low[0]), float(high[0]))
    if case["family"] == "gaussian" or steps == 1:
        bound = ACCOUNTANTS["pld"]().epsilon(step, **about)
        name = "closed form" if case["family"] == "gaussian" else "profile"
        ends[name] = (bound.lower, bound.epsilon)
    else:
        sides = [[p] for p in step.profiles(adjacency(case))]
        real = [[p] for p in step.witnesses(adjacency(case))]
        low, high = Lattice().brackets(sides, [[steps]], delta=delta, witnesses=real)
        ends["lattice"] = (float(low[0]), float(high[0]))
    if in_browser:
        ends["browser"] = in_browser
    certificate = None
    if case["family"] in _PROVED:
        try:
            certificate = json.loads(certify(step, **about))
        except NotImplementedError:
            if case["family"] == "gaussian" and ends["closed form"] == (0, 0):
                certificate = {"lower": "0", "upper": "0", "bits": 128, "proofs": {}}
                certificate |= {"lower side": "either"}
        else:
            certificate = _shorter(certificate)
            ends["certificate"] = (float(certificate["lower"]), float(certificate["upper"]))
    return ends, certificate


def _shorter(certificate: dict[str, Any]) -> dict[str, Any]:
    """A certificate with six digits of each number of its proof, if it still proves."""
    cut = lambda value: f"{float(value):.6g}" if isinstance(value, str) else value
    proofs = {
        side: {name: cut(value) for name, value in proof.items()}
        for side, proof in certificate["proofs"].items()
    }
    short = certificate | {"proofs": proofs}
    try:
        check(json.dumps(short))
    except NotProvedError:
        return certificate
    return short


def whole(case: Case) -> str:
    """The certificate of a case as `dplearn check` reads it: its run is that of the case."""
    kept, name = case["certificate"], mechanism(case).name
    run = {"mechanism": "poisson_subsampled_gaussian" if "q" in case else name}
    run |= {"steps": case["T"], "delta": case["delta"], "adjacency": adjacency(case)}
    names = {"epsilon0": "local_epsilon", "sigma": "noise_multiplier", "q": "sample_rate"}
    run |= {names[key]: case[key] for key in names if key in case}
    proof = {"lower side": kept["side"], "bits": kept["bits"], "proofs": kept["proofs"]}
    ends = {"lower": case["lower"], "upper": case["upper"], "made with": "dplearn, conformance"}
    return json.dumps({"format": FORMAT, "run": run} | proof | ends)


def judged(case: Case, in_browser: Ends | None) -> tuple[Case, str]:
    """The case with its ends, and why it is not in, if it is not."""
    every, proof = engines(case, in_browser)
    ends = {name: (low, high) for name, (low, high) in every.items() if high < math.inf}
    if not ends or (case["family"] in _PROVED and not proof):
        return case, "no certificate" if ends else "no bracket"
    if max(low for low, _ in ends.values()) > min(high for _, high in ends.values()):
        return case, f"ENGINES DISAGREE {ends}"
    # What is proved in ball arithmetic stands as it is, a model of rounding gets room.
    if proof:
        texts = proof["lower"], proof["upper"]
    else:
        room = 1e-9
        low = max(low for low, _ in ends.values()) * (1 - room)
        high = min(high for _, high in ends.values()) * (1 + room)
        texts = round_down(low, 12), round_up(high, 12)
    case |= {"lower": texts[0], "upper": texts[1]}
    low, high = map(float, texts)
    picked = case["why"] != "drawn" and not case["why"].startswith("sheet")
    if not picked and not (low > 0 and high <= MOST):
        return case, "out of range"
    if high > low * (1 + WIDEST * (20 if picked else 1)):
        return case, "wide"
    proved = sorted(ends)
    if (delta := oracle(case)) is not None:
        if not agrees(case, delta):
            return case, "ORACLE DISAGREES"
        proved.append("oracle")
    if len(proved) < 2:
        return case, "one engine alone"
    rest = f"{1 - Decimal(case['q']):f}" if "q" in case else ""
    numbers = {name: case.get(name) for name in ("sigma", "b", "epsilon0", "q")}
    case["P"], case["Q"] = (law.format(rest=rest, **numbers) for law in LAWS[case["family"]])
    case["proved by"] = proved
    if proof:
        case["certificate"] = {k: proof[k] for k in ("bits", "proofs")} | {
            "side": proof["lower side"]
        }
    return case, ""


def agrees(case: Case, delta: Any) -> bool:
    """Whether an oracle's delta at both ends lies on either side of the case's, up to rounding."""
    target, slack = float(case["delta"]), 1e-12
    if "laplace" in case["family"] and case["family"] != "discrete_laplace":
        # Its dots are above the truth by their spacing, and its transform rounds.
        slack = 2e-4 + 1e-13 / target
    below = float(case["lower"]) == 0 or delta(case["lower"]) >= target * (1 - slack)
    return bool(below and delta(case["upper"]) <= target * (1 + slack))


_NODE = """
const lines = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(lines.map(([run, steps]) => {
  const {lower, upper} = dplearn.curves(run, [steps], {accountants: ["pld"]}).pld;
  return [lower && lower[0], upper[0]];
})));"""


def in_browsers(cases: list[Case]) -> list[Ends | None]:
    """Ends of the engine in JavaScript, run by node; None where it has none."""
    mine = [case for case in cases if case["family"] in ("gaussian", "poisson_gaussian")]
    asked = [
        {"noiseMultiplier": float(case["sigma"]), "sampleRate": float(case.get("q", 1))}
        | {"delta": float(case["delta"]), "adjacency": "add_remove"}
        for case in mine
    ]
    command = ["node", "-e", browser.source() + _NODE]
    text = json.dumps([(run, case["T"]) for run, case in zip(asked, mine, strict=True)])
    told = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    ends = {id(case): pair for case, pair in zip(mine, json.loads(told.stdout), strict=True)}
    # The last digits of its exponentials are not ours.
    wider = lambda low, high: (
        None if None in (low, high) else (low * (1 - 1e-11), high * (1 + 1e-11))
    )
    return [wider(*ends.get(id(case), (None, None))) for case in cases]


def make() -> None:
    """Draw, judge and write; what the seed draws is taken until there is enough of a family."""
    kept: list[Case] = []
    refused: Counter[str] = Counter()
    have: Counter[str] = Counter()
    known: set[tuple] = set()
    every = candidates()
    full = lambda case: case["why"] == "drawn" and have[case["family"]] >= DRAWN[case["family"]][0]
    with ProcessPoolExecutor(2) as pool:
        while chunk := list(itertools.islice(every, 60)):
            new = {tuple(v for k, v in case.items() if k != "why"): case for case in chunk}
            fresh = [case for key, case in new.items() if key not in known and not full(case)]
            known |= new.keys()
            browsed = in_browsers(fresh) if fresh else []
            for done, reason in pool.map(judged, fresh, browsed):
                if reason:
                    refused[reason] += 1
                    print("refused", done, reason, flush=True)
                elif not full(done):
                    have[done["family"]] += done["why"] == "drawn"
                    kept.append({"id": f"{done['family']}-{len(kept) + 1:04}"} | done)
    write(kept)
    print(*sorted(refused.items()), sep="\n")


def write(cases: list[Case]) -> None:
    """The file: what it is, and a line for each case."""
    head = {
        "title": "Certified epsilon of differential privacy: a yardstick for accountants",
        "version": VERSION,
        "licence": "CC0-1.0 for the numbers (https://creativecommons.org/publicdomain/zero/1.0/)",
        "citation": "dplearn contributors (2026), Certified epsilon: a yardstick, version "
        + VERSION,
        "schema": "schema.json in conformance/",
        "seed": SEED,
        "meaning": "lower <= epsilon <= upper, where epsilon is the least number with P^T(S) <= "
        "e^epsilon Q^T(S) + delta and Q^T(S) <= e^epsilon P^T(S) + delta for all S. All numbers "
        "are the decimals that are written. N(m, s^2) is normal, Laplace(m, b) has density "
        "exp(-|x-m|/b) / 2b; weights of whole k are normalised.",
        "ranges": {name: list(about) for name, about in DRAWN.items()},
    }
    lines = (json.dumps(case, separators=(",", ":")) for case in cases)
    FILE.write_text(
        json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    )
    print(len(cases), "cases,", FILE.stat().st_size, "bytes")


def prove(cases: list[Case]) -> int:
    """Number of cases whose certificate does not prove or whose oracle disagrees."""
    wrong = 0
    for case in cases:
        try:
            if "certificate" in case:
                check(whole(case))
            if (delta := oracle(case)) is not None and not agrees(case, delta):
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
    if not (options.certificates or options.prove):
        make()
        return 0
    cases = json.loads(FILE.read_text())["cases"]
    if not options.certificates:
        wrong = prove(cases)
        print(f"{len(cases)} cases, {wrong} not proved")
        return 1 if wrong else 0
    options.certificates.mkdir(parents=True, exist_ok=True)
    for case in (case for case in cases if "certificate" in case):
        (options.certificates / f"{case['id']}.json").write_text(whole(case))
    return 0


if __name__ == "__main__":
    sys.exit(main())
