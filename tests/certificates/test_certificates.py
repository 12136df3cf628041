"""Certificates prove true bounds on epsilon and no false ones, and allow for every error."""

import ast
import copy
import json
import re
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from cases import ROOT, each, examples
from dplearn.__main__ import main
from dplearn.accountants.pld import PLD
from dplearn.certificates import NotProvedError, certify, check
from dplearn.certificates.check import SampledRun, _number
from dplearn.mechanisms import Gaussian, Laplace
from outcomes import sampled

PLAIN = certify(Gaussian(10.0), delta=1e-5, steps=7)
ABADI = {"noise_multiplier": "4", "sample_rate": "0.01", "steps": 10_000}


@each("adjacency", ["add_remove", "replace_one"])
@each(
    "mechanism, steps, delta",
    [
        (sampled(1.1, 0.004266), 14_062, 1e-5), (sampled(4.0, 0.01), 10_000, 1e-5),
        (sampled(0.8, 0.001), 1000, 1e-6), (sampled(0.5, 0.01), 1000, 1e-6),
        (sampled(2.0, 0.1), 1000, 1e-5), (sampled(4.0, 0.01), 10_000, 1e-60),
        (sampled(4.0, 0.01), 10**9, 1e-5), (Gaussian(10.0), 1000, 1e-60),
        # The order of neighbours with the smaller saddle point estimate proves the lower end.
        (sampled(20.27, 0.005072), 630_891, 4.401e-39),
        # A contour too long for over five digits; a proof by a Chernoff bound with a moderate mu.
        (sampled(7.755, 0.001833), 6946, 3.236e-46), (sampled(1.398, 0.9), 3, 2.458e-54),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_checker_proves_brackets_computed_by_the_engine(mechanism, steps, delta, adjacency):
    run = {"steps": steps, "delta": delta, "adjacency": adjacency}
    text = certify(mechanism, **run)
    assert check(text).startswith("proved: ")
    stated, bracket = json.loads(text), PLD().epsilon(mechanism, **run)
    lower, upper = float(stated["lower"]), float(stated["upper"])
    assert lower <= bracket.epsilon and bracket.lower <= upper <= lower * (1 + 1e-3)
    # Brackets that slightly miss the exact epsilon are refused at either end.
    for end, shift in [("lower", 1 + 1e-3), ("upper", 1 - 1e-3)]:
        ends = {"lower": "0", "upper": "1e9"} | {end: repr(stated[end] and upper * shift)}
        with pytest.raises(NotProvedError, match=f"not proved: delta at the {end} end"):
            check(json.dumps(stated | ends))


@each("mechanism", [Gaussian(10.0), sampled(10.0, 0.1)])
@each("adjacency", ["add_remove", "replace_one"])
def test_checker_proves_epsilon_0_and_accepts_0_as_a_lower_end(mechanism, adjacency):
    text = certify(mechanism, delta=0.3, adjacency=adjacency)
    assert check(text).startswith("proved: 0 <= epsilon <= 0 for ")
    assert "<= epsilon <= 10 for " in check(
        json.dumps(json.loads(PLAIN) | {"lower": "0", "upper": "10"})
    )
    with pytest.raises(NotProvedError, match="delta at the upper end"):
        check(json.dumps(json.loads(PLAIN) | {"lower": "0", "upper": "0"}))


def test_proofs_for_another_adjacency_or_number_of_steps_are_refused():
    """Replacing a record shifts a Gaussian twice as far as adding one."""
    run = {"delta": 1e-5, "steps": 7}
    replaced = certify(Gaussian(10.0), adjacency="replace_one", **run)
    halved = json.loads(certify(Gaussian(5.0), **run))
    assert json.loads(replaced)["upper"] == halved["upper"]
    for name, value in [("adjacency", "replace_one"), ("steps", 8)]:
        with pytest.raises(NotProvedError, match="at the upper end"):
            check(json.dumps(halved | {"run": halved["run"] | {name: value}}))
    stated = json.loads(certify(sampled(4.0, 0.01), delta=1e-5, steps=10_000))
    for name, value in [("adjacency", "replace_one"), ("steps", 10_001)]:
        with pytest.raises(NotProvedError, match=r"the keys are not|at the upper end"):
            check(json.dumps(stated | {"run": stated["run"] | {name: value}}))


@pytest.fixture
def bits():
    with ctx.workprec(128), mp.workdps(40):
        yield


@pytest.mark.slow
@each("side", ["remove", "add", "replace"])
def test_moment_generating_function_is_enclosed(bits, side):
    """Compare `_moments`, `_moment` and `_beyond` with numerical integrals of E[exp(z L)]."""
    pair, sigma, q = SampledRun(ABADI, side, {}), 4, mp.mpf("0.01")

    def moment(z):
        first, second = {"remove": (1 + z, 0), "add": (-z, 0), "replace": (1 + z, -z)}[side]
        ratio = lambda x: 1 - q + q * mp.exp((2 * x - 1) / (2 * sigma**2))
        both = lambda x: ratio(x) ** first * ratio(-x) ** second * mp.npdf(x, 0, sigma)
        return mp.fsum(both(x) for x in mp.arange(-60, 90, 0.25)) / 4  # error below 1e-40

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


@each("side, power, other", [("remove", 21, 0), ("add", -20, 0), ("replace", 21, -20)])
def test_error_bound_includes_the_integral_beyond_the_outermost_nodes(side, power, other):
    """At 16 bits the nodes end early; for an added record, f^-20 has a heavy left tail."""
    sigma, q = 4.0, 0.9
    with ctx.workprec(16):
        pair = SampledRun({"noise_multiplier": "4", "sample_rate": "0.9", "steps": 1}, side, {})
        logs, _, beyond, _ = pair._line(arb(20), arb(0), pair._room(arb(20)))
    log_f = lambda x: np.log1p(q * np.expm1((2 * x - 1) / (2 * sigma**2)))
    loss = lambda x: log_f(x) - (other and log_f(-x))
    ends = [float(logs[j].real) for j in (0, 1, -1)]
    first, second, last = (brentq(lambda x, end=end: loss(x) - end, -200, 200) for end in ends)
    step, more = second - first, np.arange(1, 100)
    x = np.concatenate([first - step * more, last + step * more])
    sizes = np.exp(power * log_f(x) + other * log_f(-x))
    left_out = step * np.sum(norm.pdf(x, scale=sigma) * sizes)
    assert left_out <= float(beyond.upper())


def test_relative_error_of_quadrature_is_multiplied_by_the_moment(monkeypatch):
    pair = SampledRun({"noise_multiplier": "1", "sample_rate": "0.9", "steps": 1}, "remove", {})
    moment, line = pair._moment(arb(5)), pair._line
    monkeypatch.setattr(pair, "_line", lambda *about: (*line(*about)[:3], arb("0.1")))
    assert moment > 1e6 and pair._moments(arb(5), arb(2), 9)[0].real.rad() > 0.1 * moment


@pytest.mark.slow
@each("side", ["remove", "add", "replace"])
def test_poor_proof_parameters_only_widen_the_enclosure_of_delta(bits, side):
    """Change a number of the proof: nodes, period, tilts or cut angle; or use a Chernoff bound."""
    run = {"steps": 10_000, "delta": 1e-5}
    run["adjacency"] = "replace_one" if side == "replace" else "add_remove"
    stated = json.loads(certify(sampled(4.0, 0.01), **run))
    proof, upper = stated["proofs"][side], arb(stated["upper"])
    enclose = lambda changes: SampledRun(
        stated["run"], side, changes if "chernoff" in changes else proof | changes
    ).delta(upper)
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


# Forged fields that `check` once accepted, took minutes for, or met with another exception.
FORGED = {
    "a NUL, and 11 printed as 1.1": (("run", "noise_multiplier"), "11\x00e-1"),
    "a NUL in an end": (("upper",), "9\x00e-3"),
    "a ball": (("run", "noise_multiplier"), "[11.0 +/- 1e-30]"),
    "a fraction": (("run", "sample_rate"), "1/10"),
    "two signs": (("run", "noise_multiplier"), "--11.0"),
    "a blank": (("run", "noise_multiplier"), " 11.0"),
    "another script's digit": (("run", "noise_multiplier"), "1\u0661"),
    "an unknown key": (("run", "replacement"), "0.0001"),
    "a second sentence in a key": (("run", "x\nproved: 0.09 <= epsilon <= 0.1 for y"), "1"),
    "a key that colours the terminal": (("run", "\x1b[31m"), "1"),
    "half of a character": (("run", "adjacency"), "\ud800"),
    "a boolean": (("run", "steps"), True),
    "a number that is no text": (("run", "delta"), 1e-5),
    "a key more in a proof": (("proofs", "add", "chernoff"), "1"),
    "bits for minutes": (("bits",), 1999),
    "nodes in x for minutes": (("proofs", "remove", "tilt"), "1e9"),
}


@pytest.fixture(scope="module")
def valid():
    return json.loads(certify(sampled(11.0, 0.1), delta=1e-5, steps=1000))


@each("place, value", FORGED.values())
def test_error_on_a_forged_certificate_is_one_ascii_line(valid, place, value):
    forged = at = copy.deepcopy(valid)
    for name in place[:-1]:
        at = at[name]
    at[place[-1]] = value
    for text in (json.dumps(forged), json.dumps(forged, ensure_ascii=False)):
        with pytest.raises(NotProvedError, match=r"^not proved: ") as refused:
            check(text)
        assert str(refused.value).isprintable() and str(refused.value).isascii()


@each(
    "text",
    [
        "[" * 100_000, '{"a":' * 5000, "[]", "null", '"format"', "{}", "", "NaN", " " * 10**6,
        PLAIN.replace('"bits"', '"upper": "9", "bits"'), PLAIN.replace("7,", f"1{5000 * '0'},"),
        PLAIN.replace('"run": {', '"run": {"steps": 7,'), PLAIN + PLAIN, "\ufeff" + PLAIN,
    ],
)  # fmt: skip
def test_error_on_a_file_without_certificate_is_one_line(text, tmp_path, capsys):
    file = tmp_path / "run.json"
    for data in (text.encode(), text.encode("utf-16"), b"\xff\x00" + text.encode()):
        file.write_bytes(data)
        assert main(["check", str(file)]) == 1
        result = capsys.readouterr()
        assert (
            result.out.startswith("not proved: ")
            and result.out[:-1].isprintable()
            and not result.err
        )


HOSTILE = "0015.eE+-_/[] \x00\n\x1b,\u0661\u00b2"


@examples(150)
@given(st.data())
def test_altered_field_is_refused_or_proved_at_its_decimal_value(data):
    """Insert characters into a field of a valid certificate; `Fraction` reads the result."""
    stated = json.loads(PLAIN)
    place = data.draw(st.sampled_from([stated, stated["run"]]))
    name = data.draw(st.sampled_from([n for n, v in place.items() if isinstance(v, str)]))
    at = data.draw(st.integers(0, len(place[name])))
    more = data.draw(st.text(HOSTILE, max_size=3))
    remaining = data.draw(st.sampled_from([place[name][at:], place[name]]))
    place[name] = place[name][:at] * (remaining != place[name]) + more + remaining
    try:
        result = check(json.dumps(stated))
    except NotProvedError as error:
        assert str(error).startswith("not proved: ") and str(error).isprintable()
        return
    run = stated["run"]
    lower, upper, mechanism, noise, steps, delta, adjacency = re.fullmatch(
        r"proved: (\S+) <= epsilon <= (\S+) for mechanism = (\S+), noise_multiplier = (\S+), "
        r"steps = (\S+), delta = (\S+), adjacency = (\S+)",
        result,
    ).groups()
    assert (mechanism, steps, adjacency) == ("gaussian", "7", "add_remove")
    numbers = [Fraction(text) for text in (lower, upper, noise, delta)]
    texts = [stated["lower"], stated["upper"], run["noise_multiplier"], run["delta"]]
    assert numbers == [Fraction(text) for text in texts]
    low, high, sigma, small = map(float, numbers)
    expected = PLD().epsilon(Gaussian(sigma), delta=small, steps=7)
    assert low <= expected.epsilon and expected.lower <= high


@examples(150)
@given(st.text(HOSTILE, max_size=6))
def test_number_in_a_certificate_is_refused_or_parsed_exactly(text):
    try:
        ball = _number(text)
    except NotProvedError:
        return
    exact = Fraction(text)
    assert (ball * exact.denominator - exact.numerator).contains(
        0
    ) and ball.rel_accuracy_bits() > 40


def test_certificates_that_need_too_much_work_are_refused():
    with pytest.raises(NotImplementedError, match="too many nodes in both directions"):
        certify(sampled(99.66, 0.003684), steps=3, delta=1.98e-38)
    stated = json.loads(certify(sampled(11.0, 0.1), delta=1e-5, steps=1000)) | {"bits": 512}
    stated["proofs"]["remove"]["nodes"] = 131_071
    with pytest.raises(NotProvedError, match="too many nodes in both directions"):
        check(json.dumps(stated))


def test_certify_and_check_commands_return_their_status(tmp_path, capsys):
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


def test_checker_is_short_and_imports_only_flint():
    source = (ROOT / "dplearn/certificates/check.py").read_text()
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {node.names[0].name for node in nodes if isinstance(node, ast.Import)}
    assert names == {"json", "math", "re", "collections.abc", "typing", "flint"}
    assert source.count("\n") <= 226
