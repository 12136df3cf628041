"""Certificates: what is true is proved, what is false is not, and every charge is needed."""

import ast
import json
import random

import mpmath as mp
import pytest
from flint import arb, ctx

from cases import ROOT, each
from dplearn.__main__ import main
from dplearn.accountants.pld import PLD
from dplearn.certificates import NotProvedError, certify, check
from dplearn.certificates.check import SampledGaussian
from dplearn.mechanisms import Gaussian, Laplace, RandomizedResponse
from outcomes import sampled

ABADI = {"noise_multiplier": "4", "sample_rate": "0.01", "steps": 10_000}


@each(
    "mechanism, steps, delta",
    [
        (sampled(1.1, 0.004266), 14_062, 1e-5), (sampled(4.0, 0.01), 10_000, 1e-5),
        (sampled(0.8, 0.001), 1000, 1e-6), (sampled(0.5, 0.01), 1000, 1e-6),
        (sampled(2.0, 0.1), 1000, 1e-5), (sampled(4.0, 0.01), 10_000, 1e-60),
        (sampled(4.0, 0.01), 10**9, 1e-5), (Gaussian(10.0), 1000, 1e-60),
        # The lower end is attained on the side that seems the smaller one at the saddle.
        (sampled(20.27, 0.005072), 630_891, 4.401e-39),
        # Too long a contour for more than five digits; a Chernoff bound that needs no huge mu.
        (sampled(7.755, 0.001833), 6946, 3.236e-46), (sampled(1.398, 0.9), 3, 2.458e-54),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_what_the_engine_finds_is_proved_without_it(mechanism, steps, delta):
    text = certify(mechanism, steps=steps, delta=delta)
    assert check(text).startswith("proved: ")
    stated, bracket = json.loads(text), PLD().epsilon(mechanism, steps=steps, delta=delta)
    lower, upper = float(stated["lower"]), float(stated["upper"])
    assert lower <= bracket.epsilon and bracket.lower <= upper <= lower * (1 + 1e-3)
    # A claim a little beyond the truth is refused at either end.
    for end, shift in [("lower", 1 + 1e-3), ("upper", 1 - 1e-3)]:
        ends = {"lower": "0", "upper": "1e9"} | {end: repr(stated[end] and upper * shift)}
        with pytest.raises(NotProvedError, match=f"not proved: delta at the {end} end"):
            check(json.dumps(stated | ends))


def test_neighbours_and_steps_are_those_of_the_run():
    """Replacing a record moves a Gaussian twice as far; a proof of other neighbours is none."""
    run = {"delta": 1e-5, "steps": 7}
    replaced = certify(Gaussian(10.0), adjacency="replace_one", **run)
    halved = json.loads(certify(Gaussian(5.0), **run))
    assert json.loads(replaced)["upper"] == halved["upper"]
    for name, value in [("adjacency", "replace_one"), ("steps", 8)]:
        with pytest.raises(NotProvedError, match="at the upper end"):
            check(json.dumps(halved | {"run": halved["run"] | {name: value}}))
    stated = json.loads(certify(sampled(4.0, 0.01), delta=1e-5, steps=10_000))
    for name, value in [("adjacency", "replace_one"), ("steps", 10_001)]:
        with pytest.raises(NotProvedError, match=r"adjacency|at the upper end"):
            check(json.dumps(stated | {"run": stated["run"] | {name: value}}))


def test_answers_of_a_coin_are_summed_in_full():
    run = {"steps": 40, "delta": 0.01, "adjacency": "replace_one"}
    stated = json.loads(certify(RandomizedResponse(0.5), **run))
    truth = PLD().epsilon(RandomizedResponse(0.5), **run)
    assert float(stated["upper"]) == pytest.approx(truth.epsilon, rel=1e-5)


@pytest.fixture
def bits():
    with ctx.workprec(128), mp.workdps(40):
        yield


@pytest.mark.slow
@each("side", ["remove", "add"])
def test_moments_are_enclosed(bits, side):
    """M on a line, its bound at real mu and B, against quadrature of their definitions."""
    pair, sigma, q = SampledGaussian(ABADI, side), 4, mp.mpf("0.01")

    def moment(z):
        power = 1 + z if side == "remove" else -z
        ratio = lambda x: 1 - q + q * mp.exp((2 * x - 1) / (2 * sigma**2))
        return mp.quad(lambda x: ratio(x) ** power * mp.npdf(x, 0, sigma), range(-60, 90, 10))

    for k, ball in enumerate(pair._moments(arb(17), arb(2), 9)):
        exact = moment(mp.mpc(17, 2 * k))
        assert ball.real.contains(arb(mp.nstr(exact.real, 40)))
        assert ball.imag.contains(arb(mp.nstr(exact.imag, 40))) and ball.rad() < 1e-25
    assert moment(17) * (1 - mp.mpf(10) ** -30) <= mp.mpf(
        pair._moment(arb(17)).str(35, radius=False)
    )
    for t in (10, 30, 90):
        bound = mp.mpf(pair._beyond(arb(17), arb(t), arb("0.05")).str(30, radius=False))
        assert all(abs(moment(mp.mpc(17, u))) <= bound for u in (t, 1.3 * t, 3 * t))


@pytest.mark.slow
@each("side", ["remove", "add"])
def test_delta_is_enclosed_whatever_the_numbers_are(bits, side):
    """Too few nodes, a short period, a poor line: the enclosure widens, and still holds."""
    stated = json.loads(certify(sampled(4.0, 0.01), steps=10_000, delta=1e-5))
    proof, upper = stated["proofs"][side], arb(stated["upper"])
    enclose = lambda changes: SampledGaussian(stated["run"], side).delta(upper, proof | changes)
    scale = lambda name, by: {name: repr(by * float(proof[name]))}
    good = enclose({})
    assert good[0] <= good[1] <= good[0] * (1 + 1e-9)
    for poor in [{"nodes": 5}, scale("period", 0.3), scale("larger", 0.7), scale("smaller", 9),
                 {"smaller": "0"}, scale("tilt", 0.8), scale("cut angle", 0.2),
                 {"chernoff": proof["tilt"]}]:  # fmt: skip
        lower, upper_end = enclose(poor)
        assert lower <= good[1] and good[0] <= upper_end, poor
    few, short = enclose({"nodes": 5}), enclose(scale("period", 0.3))
    assert few[1] - few[0] > 1e-3 * good[0] and short[1] - short[0] > 1e-3 * good[0]


@pytest.mark.slow
def test_damage_is_refused_and_changed_numbers_prove_nothing_false():
    """Two hundred random mutations of a certificate; what still passes is still true."""
    text, rng, refused = certify(sampled(4.0, 0.01), steps=10_000, delta=1e-5), random.Random(7), 0
    for _ in range(200):
        changed = json.loads(text)
        place = rng.choice([changed, changed["run"], *changed["proofs"].values()])
        name = rng.choice(sorted(place))
        damage = rng.choice(["cut", "drop", "rubbish", "scale", "scale", "scale"])
        if damage == "drop":
            del place[name]
        elif damage == "rubbish":
            place[name] = rng.choice(["", None, -1, "nan", "inf", [], {}, 0, "1e400", True])
        elif isinstance(place[name], (str, int)):
            by = rng.choice([1 - 1e-6, 1 + 1e-6, 0.5, 1.1, 2, -1])
            try:
                value = float(place[name]) * by
            except ValueError:
                continue
            place[name] = repr(value) if isinstance(place[name], str) else round(value)
        mutated = json.dumps(changed)
        mutated = mutated[: rng.randrange(len(mutated))] if damage == "cut" else mutated
        try:
            check(mutated)
        except NotProvedError as error:
            assert str(error).startswith("not proved: ") and "\n" not in str(error)
            refused += 1
        else:
            run = changed["run"]
            step = sampled(float(run["noise_multiplier"]), float(run["sample_rate"]))
            truth = PLD().epsilon(step, steps=run["steps"], delta=float(run["delta"]))
            assert float(changed["lower"]) <= truth.epsilon * (1 + 1e-12)
            assert float(changed["upper"]) >= truth.lower * (1 - 1e-12)
    assert refused > 100


def test_what_would_take_minutes_is_refused_at_once():
    with pytest.raises(NotImplementedError, match="too many nodes in both directions"):
        certify(sampled(99.66, 0.003684), steps=3, delta=1.98e-38)


def test_two_commands(tmp_path, capsys):
    file = tmp_path / "run.json"
    run = ["--noise-multiplier=1.1", "--sample-rate=0.004266", "--steps=14062", "--delta=1e-5"]
    assert main(["certify", *run, "-o", str(file)]) == 0
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out.startswith("proved: 2.3811800")
    file.write_text(file.read_text()[:-40])
    assert main(["check", str(file)]) == 1
    assert capsys.readouterr().out.startswith("not proved: the certificate is damaged")
    assert main(["check", str(tmp_path / "missing")]) == 2
    assert main(["certify", *run, "--sampling", "without_replacement"]) == 2
    assert "a proof of WithoutReplacement" in capsys.readouterr().err
    with pytest.raises(NotImplementedError, match="a proof of Laplace"):
        certify(Laplace(1.0), delta=1e-5)


def test_a_referee_can_read_the_checker_in_an_evening():
    source = (ROOT / "dplearn/certificates/check.py").read_text()
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {node.names[0].name for node in nodes if isinstance(node, ast.Import)}
    assert names == {"json", "math", "collections.abc", "typing", "flint"}
    assert source.count("\n") <= 200
