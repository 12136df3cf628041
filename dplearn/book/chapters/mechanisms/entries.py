"""The basic mechanisms: noise, selection, answers at random, and noise that looks at the data."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from dplearn.book.chapters.gaussian.entries import gaussian_delta
from dplearn.book.chapters.mechanisms import truths
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Derived, Drawn, Linear, Log, Parameters, Whole
from dplearn.book.kit.entry import enter, formula, given, oracle, printed, typed, wrong
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.solve import first_true

# Laplace noise


@formula("G-B1", "Exact profile of the Laplace mechanism", "identity",
         "Balle, Barthe & Gaboardi 2018, Theorem 3")
@given("epsilon >= 0 and ratio > 0", epsilon=Log(1e-4, 60.0, also=(0.0,)), ratio=Log(1e-3, 50.0))
@oracle(truths.laplace_delta, absolute=1e-15)
@printed("0.2211992169", epsilon=0.5, ratio=1.0)
@wrong("straight-line",
       "The profile is concave in epsilon between its ends, so chords are too low.",
       claim="-expm1(-ratio / 2) * max(0.0, 1 - epsilon / ratio)")
def laplace_delta(*, epsilon: float, ratio: float) -> float:
    r"""\delta(\varepsilon) = 1 - e^{(\varepsilon - \Delta/b)/2}
    \text{ for } 0 \le \varepsilon < \Delta/b,\quad 0 \text{ beyond}

    ratio: Sensitivity / scale of the noise, > 0: the epsilon of pure DP"""
    validate.non_negative(epsilon=epsilon)
    validate.positive(ratio=ratio)
    return -math.expm1(min(epsilon - ratio, 0.0) / 2)


def _some_shift(rng: Generator, drawn: Parameters) -> NDArray:
    """Up to four coordinates; equal ones, or one decimal each."""
    size = rng.integers(1, 5)
    if rng.random() < 0.3:
        return np.full(size, 0.5)
    return rng.integers(-20, 21, size) / 10


@formula("G-B2", "Laplace noise on a vector: the L1 norm counts", "identity",
         "Dwork & Roth 2014, Theorem 3.6")
@given("scale > 0", shift=Drawn(_some_shift), scale=Log(1e-3, 1e3))
@oracle(truths.vector_laplace_loss)
@printed("2", "2", shift=np.full(4, 0.5), scale=1.0)
@wrong("euclidean", "In d dimensions the L1 norm is up to sqrt(d) times as large.",
       printed("1", "2", shift=np.full(4, 0.5), scale=1.0),
       claim=lambda shift, scale: float(np.linalg.norm(shift)) / scale,
       says=r"b = \Delta_2/\varepsilon")
def vector_laplace_epsilon(*, shift: ArrayLike, scale: float) -> float:
    r"""\sup_x \ln\frac{p(x - f(d'))}{p(x - f(d))} = \frac{\lVert f(d) - f(d')\rVert_1}b
    \ \Rightarrow\ b = \Delta_1/\varepsilon

    shift: Difference of two neighbouring answers"""
    validate.positive(scale=scale)
    return float(np.sum(np.abs(np.asarray(shift, dtype=float)))) / scale


@formula("G-B14", "Tails of the Laplace law", "identity", "Dwork & Roth 2014, Fact 3.7")
@given("scale > 0 and threshold >= 0", scale=Log(1e-3, 1e3),
       threshold=Log(1e-3, 500.0, also=(0.0,)))
@oracle(lambda scale, threshold: 2 * truths.laplace_above(scale=scale, threshold=threshold),
        tolerance=1e-8, absolute=0.0, unsafe=None)
@printed("0.049787068", scale=1.0, threshold=3.0)
@wrong("one-side", "One side holds half of it.", says=r"P(X > t) = e^{-t/b}",
       oracle=truths.laplace_above)
def laplace_tail(*, scale: float, threshold: float) -> float:
    r"""P(|X| > t) = e^{-t/b}

    threshold: t >= 0, in the units of the scale"""
    validate.positive(scale=scale)
    validate.non_negative(threshold=threshold)
    return math.exp(-threshold / scale)


@formula("G-B14b", "Variance of the Laplace law", "identity", "Dwork & Roth 2014, Definition 3.3")
@given("scale > 0", scale=Log(1e-3, 1e3))
@oracle(truths.laplace_second_moment, absolute=0.0, unsafe=None, points=40)
@printed("2", scale=1.0)
@wrong("square", "The standard deviation is sqrt(2) b.", claim="scale**2")
def laplace_variance(*, scale: float) -> float:
    r"""\operatorname{Var} X = 2b^2"""
    validate.positive(scale=scale)
    return 2 * scale**2


# Other noise for pure DP


@formula("G-B3", "The geometric law: discrete Laplace noise", "identity",
         "Ghosh, Roughgarden & Sundararajan 2009, Section 2")
@given("rate > 0", rate=Log(1e-3, 5.0), value=Choice(-50, -7, -1, 0, 1, 2, 3, 20))
@oracle(truths.geometric_difference, absolute=0.0, unsafe=None)
@printed("0.4621171573", rate=1.0, value=0)
@printed("0.0625407564", rate=1.0, value=-2)
@wrong("one-sided-constant",
       "The constant of the one-sided law; both sides together weigh more than 1.",
       claim="-expm1(-rate) * exp(-rate * abs(value))")
def geometric_probability(*, rate: float, value: int) -> float:
    r"""P(X = k) = \frac{1 - e^{-\varepsilon}}{1 + e^{-\varepsilon}}e^{-\varepsilon|k|}

    value: Any whole number"""
    validate.positive(rate=rate)
    return math.tanh(rate / 2) * math.exp(-rate * abs(value))


@formula("G-B3b", "Pure DP of the geometric mechanism", "identity",
         "Ghosh, Roughgarden & Sundararajan 2009, Section 2")
@given("rate > 0", rate=Log(0.01, 5.0), sensitivity=Whole(1, 20))
@oracle(truths.geometric_loss, points=50)
@printed("1.5", "1.5", rate=0.5, sensitivity=3)
@wrong("one-sided", "The smaller count can print a number that the larger one never does.",
       says=r"\text{noise "
       r"of } P(X = k) = (1 - e^{-\varepsilon})e^{-\varepsilon k},\ k \ge 0 \text{ is } "
       r"\varepsilon\text{-DP}", oracle=truths.one_sided_geometric_loss)
@wrong("floating-point",
       "Sums round to floats that only one of the two answers reaches (Mironov 2012).",
       says=r"\mathrm{Lap}(1/\varepsilon) "
       r"\text{ from } \pm\ln U/\varepsilon \text{ in floating point is } \varepsilon\text{-DP}",
       oracle=truths.float_laplace_loss, sensitivity=Choice(1), bits=Choice(6, 8, 10))
@wrong("any-sensitivity", "It is so for sensitivity 1; in general the rate is epsilon/Delta.",
       claim="rate",
       says=r"P(X = k) \propto e^{-\varepsilon|k|}:\ \varepsilon\text{-DP for every } \Delta")
def geometric_epsilon(*, rate: float, sensitivity: int) -> float:
    r"""\max_k\ln\frac{P(X = k)}{P(X = k - \Delta)} = \varepsilon\Delta,
    \quad P(X = k) \propto e^{-\varepsilon|k|}"""
    validate.positive(rate=rate)
    validate.integer(minimum=1, sensitivity=sensitivity)
    return rate * sensitivity


@formula("G-B13", "The least variance of additive noise: the staircase", "identity",
         "Geng & Viswanath 2014, the optimal noise for the variance")
@given("epsilon > 0", epsilon=Log(0.01, 25.0))
@oracle(truths.staircase_variance, absolute=0.0, unsafe=None, points=60)
@printed("1.918104", epsilon=1.0)
@printed("0.02971102", epsilon=5.0)
@wrong("laplace", "Nearly so for a small epsilon; at 5 it has 2.7 times the least variance.",
       printed("2", "1.918104", epsilon=1.0), printed("0.08", "0.02971102", epsilon=5.0),
       claim="2 / epsilon**2")
def staircase_variance(*, epsilon: float) -> float:
    r"""\min\operatorname{Var} = \Delta^2\,
    \frac{2^{-2/3}b^{2/3}(1+b)^{2/3} + b}{(1-b)^2},\quad b = e^{-\varepsilon}"""
    validate.positive(epsilon=epsilon)
    b = math.exp(-epsilon)
    return ((b * (1 + b) / 2) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2


# Gaussian noise


_TARGET = {"epsilon": Log(1e-3, 1.0), "delta": Log(1e-15, 0.99)}


_IN_RANGE = "epsilon > 0 and epsilon <= 1 and delta > 0 and delta < 1"


@formula("G-B4", "Classical noise of the Gaussian mechanism", "upper",
         "Dwork & Roth 2014, Theorem A.1")
@given(_IN_RANGE, **_TARGET)
@oracle(oracles.gaussian_sigma)
@typed("epsilon", "gaussian", "sqrt(2*log(1.25/delta))/sigma")
@typed("sigma", "gaussian", "sqrt(2*log(1.25/delta))/epsilon")
@printed("4.844805263", "3.730631635", epsilon=1.0, delta=1e-5)
@wrong("any-epsilon", "Proved up to epsilon = 1, it fails from 8.4 on for delta = 1e-5.",
       printed("0.484481", epsilon=10.0, delta=1e-5), says=r"\sigma = "
       r"\Delta_2\sqrt{2\ln(1.25/\delta)}/\varepsilon \text{ for every } \varepsilon > 0,\ "
       r"\delta \in (0,1)", given="epsilon > 0 and delta > 0 and delta < 1", epsilon=Log(0.1, 50.0))
@wrong("no-two", "The factor 2 comes from the Gaussian's exponent.",
       typed("sigma", "gaussian", "sqrt(log(1.25/delta))/epsilon"),
       claim="sqrt(log(1.25 / delta)) / epsilon")
@wrong("condition", "It is enough but not needed: 3.73 does what it asks 4.84 for.",
       printed("4.844805263", "3.730631635", epsilon=1.0, delta=1e-5),
       says=r"(\varepsilon,\delta)\text{-DP} "
       r"\iff \sigma = \Delta_2\sqrt{2\ln(1.25/\delta)}/\varepsilon", kind="identity")
def classical_gaussian_sigma(*, epsilon: float, delta: float) -> float:
    r"""\sigma \ge \frac{\Delta_2\sqrt{2\ln(1.25/\delta)}}\varepsilon
    \ \Rightarrow\ (\varepsilon,\delta)\text{-DP}"""
    validate.positive(epsilon=epsilon)
    validate.probability(delta=delta)
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def _gaussian_by_quadrature(*, epsilon: float, noise_multiplier: float) -> float:
    laws = oracles.log_normal(1.0, noise_multiplier), oracles.log_normal(0.0, noise_multiplier)
    far = (500.0 + epsilon * noise_multiplier) * noise_multiplier + 1.0
    return oracles.density_delta(*laws, epsilon, -far, far)


def _loss_tail(*, epsilon: float, noise_multiplier: float) -> float:
    return float(ndtr(0.5 / noise_multiplier - epsilon * noise_multiplier))


enter(
    gaussian_delta,
    formula("G-B5", "Exact profile of the Gaussian mechanism", "identity",
            "Balle & Wang 2018, Theorem 8", statement=r"\delta(\varepsilon) = "
            r"\Phi\Big(\frac\Delta{2\sigma} - \frac{\varepsilon\sigma}\Delta\Big) - "
            r"e^\varepsilon\,\Phi\Big(-\frac\Delta{2\sigma} - "
            r"\frac{\varepsilon\sigma}\Delta\Big)"),
    given("epsilon >= 0 and noise_multiplier > 0", epsilon=Log(1e-3, 20.0, also=(0.0,)),
          noise_multiplier=Log(0.05, 20.0)),
    oracle(_gaussian_by_quadrature, tolerance=1e-8, absolute=1e-290),
    typed("delta", "gaussian", "Phi(sqrt(T)/(2*sigma)-epsilon*sigma/sqrt(T)) - "
          "exp(epsilon)*Phi(-sqrt(T)/(2*sigma)-epsilon*sigma/sqrt(T))"),
    printed("4.11369e-08", epsilon=1.0, noise_multiplier=4.844805263),
    printed("0.1269367", epsilon=1.0, noise_multiplier=1.0),
    wrong("one-tail", "P(L > epsilon) is enough for delta, but larger than it.",
          printed("0.30854", epsilon=1.0, noise_multiplier=1.0),
          printed("5.28375e-5", epsilon=4.3771781, noise_multiplier=1.0), claim=_loss_tail,
          says=r"\delta(\varepsilon) "
          r"= \Phi\Big(\frac\Delta{2\sigma} - \frac{\varepsilon\sigma}\Delta\Big)"),
    wrong("swapped-signs", "This delta grows with the noise.", claim=lambda epsilon,
          noise_multiplier: (ndtr(epsilon * noise_multiplier - 0.5 / noise_multiplier) -
          math.exp(epsilon) * ndtr(-0.5 / noise_multiplier - epsilon * noise_multiplier)),
          says=r"\Phi\Big(\frac{\varepsilon\sigma}\Delta "
          r"- \frac\Delta{2\sigma}\Big) - e^\varepsilon\,\Phi\Big(-\frac\Delta{2\sigma} - "
          r"\frac{\varepsilon\sigma}\Delta\Big)"),
    wrong("trained-parameters",
          "Training needs a bounded sensitivity; one record can move a slope by 10^k.",
          says=r"\theta(d) "
          r"+ N(0,\sigma^2) \text{ is private at } \Delta = 1, \theta \text{ trained}",
          oracle=truths.trained_gaussian_delta, exponent=Choice(0, 1, 2, 3)),
)


@formula("G-B5b", "Analytic calibration of the Gaussian mechanism", "identity",
         "Balle & Wang 2018, Algorithm 1")
@given("epsilon >= 0 and delta > 0 and delta < 1", epsilon=Log(1e-3, 30.0), delta=Log(1e-12, 0.9))
@oracle(oracles.gaussian_sigma, points=60)
@printed("3.730631635", epsilon=1.0, delta=1e-5)
@printed("7.031826676", epsilon=0.5, delta=1e-5)
@printed("0.6690413227", epsilon=4.0, delta=1e-2)
@printed("39.8931836", epsilon=0.0, delta=0.01)
def analytic_gaussian_sigma(*, epsilon: float, delta: float) -> float:
    r"""\sigma(\varepsilon,\delta)
    = \min\{\sigma : \delta(\varepsilon;\sigma) \le \delta\}"""
    validate.non_negative(epsilon=epsilon)
    validate.probability(delta=delta)

    def enough(sigma: NDArray) -> NDArray:
        found = gaussian_delta(epsilon=epsilon, noise_multiplier=float(sigma))
        return np.asarray(found <= delta)

    # delta is at most the shift times the density at 0; and e^(-(epsilon sigma - 1/2 sigma)^2 / 2).
    root = math.sqrt(-2 * math.log(delta))
    chernoff = (root + math.sqrt(root**2 + 2 * epsilon)) / (2 * epsilon) if epsilon else math.inf
    return float(first_true(enough, lower=1e-6, upper=min(1 / delta, chernoff)))


# Selection


def _some_scores(rng: Generator, drawn: Parameters) -> NDArray:
    return rng.integers(-30, 31, rng.integers(2, 6)) / 10


def _two_tables(rng: Generator, drawn: Parameters) -> NDArray:
    """Scores of neighbours, shape (2, n); often all move one way, or as far as they go."""
    scores = _some_scores(rng, drawn)
    moves = rng.choice([-1.0, -0.5, 0.0, 0.3, 1.0], scores.size)
    sign = rng.choice([-1, 0, 0, 1])
    return np.stack([scores, scores + (sign * np.abs(moves) if sign else moves)])


def _moves(drawn: Parameters) -> NDArray:
    return np.diff(drawn["tables"], axis=0)[0]


_SELECTION = {
    "tables": Drawn(_two_tables),
    "rate": Log(0.01, 20.0),
    "sensitivity": Derived(lambda drawn: float(np.max(np.abs(_moves(drawn))))),
    "monotone": Derived(lambda drawn: abs(sum(np.sign(x := _moves(drawn)))) == np.count_nonzero(x)),
}


_OPPOSITE = {
    "tables": np.array([[0.0, 1.0, 2.0, 2.0], [-1.0, 2.0, 1.0, 1.0]]),
    "sensitivity": 1.0,
    "monotone": False,
}


_ONE_WAY = {
    "tables": np.array([[0.0, 2.0, 2.0, 3.0], [0.0, 2.0, 3.0, 4.0]]),
    "sensitivity": 1.0,
    "monotone": True,
}


def _largest_loss(*, rate: float, tables: ArrayLike) -> float:
    """Over the candidates, in both orders."""
    return float(np.max(np.abs(truths.selection_losses(rate=rate, tables=tables))))


def _range_of_losses(*, rate: float, tables: ArrayLike) -> float:
    return float(np.ptp(truths.selection_losses(rate=rate, tables=tables)))


def _largest_stretched_loss(*, rate: float, tables: ArrayLike, stretch: float) -> float:
    """The score is `stretch` times the query whose sensitivity is known."""
    return _largest_loss(rate=rate, tables=stretch * np.asarray(tables))


@formula("G-B6", "The exponential mechanism", "upper", "Dwork & Roth 2014, Theorem 3.10")
@given("rate > 0 and sensitivity >= 0", **_SELECTION)
@oracle(_largest_loss)
@printed("1", "0.69961", **_OPPOSITE, rate=0.5)
@printed("1", "0.839992", **_ONE_WAY, rate=1.0)
@wrong("no-two", "The normalising sum moves too, unless all scores move the same way.",
       printed("1", "1.33785", **_OPPOSITE, rate=1.0), claim="rate * sensitivity",
       says=r"P(r) \propto e^{\varepsilon u(r)/\Delta_u} \text{ is } \varepsilon\text{-DP}")
@wrong("sensitivity-of-the-query", "The sensitivity that counts is that of the score.",
       says=r"P(r) \propto e^{\varepsilon u(r)/(2\Delta_q)},\ u \text{ a multiple of } q",
       oracle=_largest_stretched_loss, stretch=Choice(2.0, 3.0))
def exponential_mechanism_epsilon(
    *, rate: float, sensitivity: float, monotone: bool = False
) -> float:
    r"""P(r) \propto e^{\varepsilon u(r)/(2\Delta_u)} \text{ is } \varepsilon\text{-DP};
    \text{ without the 2 if all scores move one way}

    monotone: Whether all scores of neighbours move in the same direction"""
    validate.positive(rate=rate)
    validate.non_negative(sensitivity=sensitivity)
    return (1 if monotone else 2) * rate * sensitivity


def _range_of_randomized_response(*, epsilon: float) -> float:
    p, q = oracles.randomized_response(epsilon=epsilon)
    return float(np.ptp(np.log(p / q)))


@formula("G-B7b", "The exponential mechanism has bounded range", "upper",
         "Dong, Durfee & Rogers 2020, Lemma 3.2")
@given("rate > 0 and sensitivity >= 0", **_SELECTION)
@oracle(_range_of_losses)
@printed("1", "1", **_OPPOSITE, rate=0.5)
@printed("1", "1", **_ONE_WAY, rate=1.0)
@wrong("pure-dp", "Pure DP gives 2 epsilon, and randomized response has it.", claim="epsilon",
       says=r"\varepsilon\text{-DP} \Rightarrow \max L - \min L \le \varepsilon",
       given="epsilon > 0", oracle=_range_of_randomized_response, **dict.fromkeys(_SELECTION),
       epsilon=Log(0.01, 10.0))
def exponential_mechanism_range(
    *, rate: float, sensitivity: float, monotone: bool = False
) -> float:
    r"""\max_r L(r) - \min_r L(r) \le \varepsilon,
    \quad P(r) \propto e^{\varepsilon u(r)/(2\Delta_u)}

    Parameters and units as in `exponential_mechanism_epsilon`, and so is the number: the losses
    span an interval no longer than the bound on each of them."""
    return (1 if monotone else 2) * rate * sensitivity


def _largest_pure_renyi(*, epsilon: float, order: float) -> float:
    p, q = oracles.randomized_response(epsilon=epsilon)
    return (
        oracles.mean_loss(p=p, q=q) if order == 1 else oracles.finite_renyi(p=p, q=q, order=order)
    )


@formula("G-B7", "Bounded range gives concentrated DP", "upper", "Cesar & Rogers 2021, Section 3")
@given("epsilon > 0 and order >= 1", epsilon=Log(1e-3, 20.0), order=Log(1.001, 1000.0, also=(1.0,)))
@oracle(truths.bounded_range_renyi)
@printed("0.125", "0.12330156", epsilon=1.0, order=1.0)
@wrong("pure-dp-tight", "True of every pure DP, and four times what bounded range gives.",
       claim="order * epsilon**2 / 2", kind="identity")
@wrong("any-pure-dp", "Randomized response needs nearly epsilon^2/2.",
       typed("rdp", "pure_dp randomized_response laplace", "alpha*epsilon^2/8"),
       says=r"\varepsilon\text{-DP} \Rightarrow D_\alpha \le \alpha\varepsilon^2/8",
       oracle=_largest_pure_renyi)
def bounded_range_renyi(*, epsilon: float, order: float) -> float:
    r"""\varepsilon\text{-bounded range} \Rightarrow D_\alpha \le \alpha\varepsilon^2/8"""
    validate.positive(epsilon=epsilon)
    return order * epsilon**2 / 8


@formula("G-B8", "Utility of the exponential mechanism", "upper",
         "Dwork & Roth 2014, Corollary 3.12")
@given("t >= 0", candidates=Whole(1, 300), epsilon=Log(0.01, 20.0), t=Linear(0.0, 8.0),
       spread=Linear(0.2, 2.0, also=(0.5, 1.0)), shape=Choice("cluster", "ramp"))
@oracle(truths.shortfall_probability, unsafe=None)
@printed("0.1353353", "0.1171", candidates=50, epsilon=1.0, t=2.0, spread=1.0, shape="cluster")
@wrong("no-two", "The 2 of the exponent comes back here; without it the scores fall twice as far.",
       says=r"P\Big(u(r) \le \mathrm{OPT} - \frac\Delta\varepsilon(\ln|R| + t)\Big) \le e^{-t}",
       oracle=partial(truths.shortfall_probability, factor=1.0))
def exponential_mechanism_shortfall(*, t: float) -> float:
    r"""P\Big(u(r) \le \mathrm{OPT} - \frac{2\Delta}\varepsilon(\ln|R| + t)\Big)
    \le e^{-t}

    t: >= 0; the distance is 2 Delta (ln |R| + t) / epsilon for |R| candidates"""
    validate.non_negative(t=t)
    return math.exp(-t)


def _crowd(others: int, lead: float = 1.0, move: float = -2.0, other: float = 0.0) -> Parameters:
    """One candidate against many equal ones."""
    return {"lead": lead, "others": others, "move": move, "other_move": other}


@formula("G-B9", "Report noisy max with Laplace noise", "upper", "Dwork & Roth 2014, Claim 3.9")
@given("scale > 0", scale=Log(0.2, 20.0), lead=Linear(-5.0, 5.0, also=(1.0,)),
       others=Whole(1, 1000), move=Linear(-1.0, 1.0), other_move=Linear(-1.0, 1.0),
       sensitivity=Derived(lambda drawn: max(abs(drawn["move"]), abs(drawn["other_move"]))),
       monotone=Derived(lambda drawn: drawn["move"] * drawn["other_move"] >= 0))
@oracle(truths.noisy_max_loss, points=60)
@printed("1", "1.0000", scale=2.0, **_crowd(999, 1.0, -1.0, 1.0), sensitivity=1.0, monotone=False)
@printed("1", "1.0000", scale=1.0, **_crowd(999, 1.0, -1.0), sensitivity=1.0, monotone=True)
@wrong("any-scores",
       "Proved for scores that all move one way; else the winner and the rest add up.", printed("1",
       "2.0000", scale=1.0, lead=1.0, others=999, move=-1.0, other_move=1.0, sensitivity=1.0),
       printed("1", "2.0000", scale=1.0, lead=1.0, others=99, move=-1.0, other_move=1.0,
       sensitivity=1.0), printed("1", "1.9450", scale=1.0, lead=1.0, others=9, move=-1.0,
       other_move=1.0, sensitivity=1.0), printed("1", "0.9648", scale=1.0, lead=1.0, others=1,
       move=-1.0, other_move=1.0, sensitivity=1.0), claim="sensitivity / scale",
       says=r"\arg\max_r u_r + \mathrm{Lap}(\Delta/\varepsilon) \text{ is } \varepsilon\text{-DP}")
def noisy_max_epsilon(*, scale: float, sensitivity: float, monotone: bool = False) -> float:
    r"""\arg\max_r u_r + \mathrm{Lap}(b) \text{ is } (2\Delta/b)\text{-DP};
    \ (\Delta/b)\text{-DP if all scores move one way}

    monotone: Whether all scores of neighbours move in the same direction"""
    validate.positive(scale=scale)
    return (1 if monotone else 2) * sensitivity / scale


def _softmax(scores: ArrayLike, scale: float) -> float:
    u = np.asarray(scores, dtype=float) / scale
    return float(np.exp(u[0] - np.logaddexp.reduce(u)))


_NOISY = {"scores": Drawn(_some_scores), "scale": Log(0.1, 10.0)}


@formula("G-B10", "Gumbel noise and the largest: the exponential mechanism", "identity",
         "Durfee & Rogers 2019, Section 4")
@given("scale > 0", **_NOISY)
@oracle(partial(truths.argmax_probability, law=truths.GUMBEL), unsafe=None)
@printed("0.45186276", "0.45186276", scores=np.array([1.0, 0.0, 0.0]), scale=2.0)
@wrong("half-scale", "The scale is the inverse of the rate, so it has the 2 as well.",
       claim=lambda scores, scale: _softmax(scores, 2 * scale), says=r"\arg\max_r u_r + "
       r"\mathrm{Gumbel}(\Delta/\varepsilon) \sim e^{\varepsilon u_r/(2\Delta)}")
@wrong("laplace-noise", "Only Gumbel noise draws by a softmax.", says=r"\arg\max_r u_r + "
       r"\mathrm{Lap}(2\Delta/\varepsilon) \sim e^{\varepsilon u_r/(2\Delta)}",
       oracle=partial(truths.argmax_probability, law=truths.LAPLACE))
def gumbel_max_probability(*, scores: ArrayLike, scale: float) -> float:
    r"""P\big(\arg\max_r u_r + \mathrm{Gumbel}(\beta) = i\big)
    = \frac{e^{u_i/\beta}}{\sum_r e^{u_r/\beta}},\quad \beta = 2\Delta/\varepsilon"""
    validate.positive(scale=scale)
    return _softmax(scores, scale)


@formula("G-B10b", "Exponential noise and the largest: permute-and-flip", "identity",
         "McKenna & Sheldon 2020, Section 3")
@given("scale > 0", **_NOISY)
@oracle(partial(truths.argmax_probability, law=truths.EXPONENTIAL), unsafe=None)
@printed("0.816060279", scores=np.array([1.0, 0.0]), scale=1.0)
@wrong("softmax", "It is never worse: permute-and-flip prefers the best score more.",
       claim=_softmax, says=r"\arg\max_r u_r + \mathrm{Exp}(\beta) \sim e^{u_r/\beta}")
def permute_and_flip_probability(*, scores: ArrayLike, scale: float) -> float:
    r"""P\big(\arg\max_r u_r + \mathrm{Exp}(\beta) = i\big)
    = q_i\int_0^1\prod_{r\ne i}(1 - s\,q_r)\,ds,\quad q_r = e^{(u_r - \max u)/\beta}

    The candidates come at uniform times s, and the first one whose coin of bias q_r lands
    heads wins; at time s another one is still out of the way with probability 1 - s q_r."""
    validate.positive(scale=scale)
    u = np.asarray(scores, dtype=float)
    q = np.exp((u - np.max(u)) / scale)
    # Exact for a polynomial of this degree.
    nodes, weights = np.polynomial.legendre.leggauss(u.size)
    still = np.prod(1 - 0.5 * (nodes[:, None] + 1) * q[1:], axis=1)
    return float(0.5 * q[0] * (weights @ still))


@formula("G-B11", "Laplace noise as an exponential mechanism", "identity",
         "McSherry & Talwar 2007, Section 3")
@given("epsilon > 0 and sensitivity > 0", epsilon=Log(0.01, 50.0), sensitivity=Log(0.01, 100.0))
@oracle(truths.distance_mechanism_scale, points=60)
@printed("4", epsilon=0.5, sensitivity=1.0)
@wrong("needed", "Half of it is enough: the normalising constant does not move with the answer.",
       says=r"\varepsilon\text{-DP needs } \mathrm{Lap}(2\Delta_q/\varepsilon)",
       oracle=truths.needed_laplace_scale)
def distance_mechanism_scale(*, epsilon: float, sensitivity: float) -> float:
    r"""u(r) = -|q - r|,\ \Delta_u = \Delta_q:\quad
    e^{\varepsilon u(r)/(2\Delta_u)} \text{ is } \mathrm{Lap}(2\Delta_q/\varepsilon)"""
    validate.positive(epsilon=epsilon, sensitivity=sensitivity)
    return 2 * sensitivity / epsilon


@formula("G-B11b", "Sensitivity of a score that is a distance", "identity",
         "McSherry & Talwar 2007, Section 3")
@given("stretch > 0 and sensitivity > 0", stretch=Log(0.1, 10.0), sensitivity=Log(0.01, 100.0))
@oracle(truths.distance_score_change)
@printed("2", stretch=2.0, sensitivity=1.0)
@wrong("of-the-query", "The score moves by twice the query; a second error then hides the first.",
       claim="sensitivity", says=r"u(r) = -2\,|q - r| \Rightarrow \Delta_u = \Delta_q",
       stretch=Choice(2.0))
def distance_score_sensitivity(*, stretch: float, sensitivity: float) -> float:
    r"""u(r) = -c\,|q - r| \Rightarrow \Delta_u = c\,\Delta_q

    Both > 0; exact."""
    validate.positive(stretch=stretch, sensitivity=sensitivity)
    return stretch * sensitivity


# Answers at random


@formula("G-B12", "Randomized response with k answers", "identity",
         "Kairouz, Oh & Viswanath 2014, Section 4")
@given("epsilon >= 0 and answers >= 2", epsilon=Log(1e-3, 25.0, also=(0.0,)), answers=Whole(2, 10))
@oracle(truths.largest_truth, unsafe="larger")
@printed("0.731058579", epsilon=1.0, answers=2)
@printed("0.231969317", epsilon=1.0, answers=10)
@wrong("linear", "Near 0 it is 1/2 + epsilon/4.", claim="min(0.5 + epsilon / 2, 1.0)",
       answers=Choice(2))
@wrong("k-for-k-minus-one", "The truth is one of the k answers and must not be counted twice.",
       claim="exp(epsilon) / (exp(epsilon) + answers)")
def randomized_response_truth(*, epsilon: float, answers: int = 2) -> float:
    r"""p = \frac{e^\varepsilon}{e^\varepsilon + k - 1}

    answers: k >= 2"""
    validate.non_negative(epsilon=epsilon)
    validate.integer(minimum=2, answers=answers)
    return 1 / (1 + (answers - 1) * math.exp(-epsilon))


@formula("G-B12b", "Randomized response with two coins", "identity",
         "Dwork & Roth 2014, Section 3.2")
@given("0 < honest and honest < 1 and 0 < yes and yes < 1", honest=Linear(0.01, 0.99, also=(0.5,)),
       yes=Linear(0.01, 0.99, also=(0.5,)))
@oracle(truths.two_coins_loss)
@printed("1.098612289", honest=0.5, yes=0.5)
@wrong("ln-two", "Truth is told with probability 3/4, three times that of a lie.", claim="log(2)",
       honest=Choice(0.5), yes=Choice(0.5))
def two_coin_epsilon(*, honest: float, yes: float) -> float:
    r"""\varepsilon = \max\Big\{\ln\frac{h + (1-h)y}{(1-h)y},
    \ln\frac{h + (1-h)(1-y)}{(1-h)(1-y)}\Big\},\quad h = y = \tfrac12:\ \ln 3

    honest: Probability of the truth at the first coin, in (0, 1)
    yes: Probability that the second coin says yes, in (0, 1)"""
    validate.probability(honest=honest, yes=yes)
    return math.log1p(honest / ((1 - honest) * min(yes, 1 - yes)))


# Noise that looks at the data


@formula("G-B15", "Propose-test-release: the threshold", "upper", "Vadhan 2017, Section 3.2")
@given("epsilon > 0 and delta > 0 and delta < 0.5", epsilon=Log(0.05, 5.0), delta=Log(1e-10, 0.4))
@oracle(truths.needed_test_threshold, points=40)
@printed("23.02585", "21.63956", epsilon=0.5, delta=1e-5)
@wrong("half-threshold", "At distance 0 the test is then passed with probability sqrt(delta/8).",
       claim="log(2 / delta) / (2 * epsilon)")
@wrong("one-epsilon", "The distance and the value each cost epsilon.", claim="epsilon",
       says=r"\text{with "
       r"threshold } \ln(1/\delta)/\varepsilon \text{ it is } (\varepsilon,\delta)\text{-DP}",
       oracle=truths.released_epsilon)
def propose_test_release_threshold(*, epsilon: float, delta: float) -> float:
    r"""\hat D = D + \mathrm{Lap}(1/\varepsilon) > \tau = \frac{\ln(1/\delta)}\varepsilon,
    \text{ then } f + \mathrm{Lap}(b/\varepsilon):\ (2\varepsilon,\delta)\text{-DP}"""
    validate.positive(epsilon=epsilon)
    validate.probability(delta=delta)
    return -math.log(delta) / epsilon


def _some_fractions(rng: Generator, drawn: Parameters) -> NDArray:
    """Of the upper end: at random, 0 or 1, or a single one that is not 0."""
    kind, n = rng.integers(3), rng.integers(2, 21)
    if kind == 0:
        return rng.integers(0, 11, n) / 10
    return (rng.random(n) < 0.5 if kind == 1 else np.arange(n) == 0).astype(float)


@formula("G-B16", "Local sensitivity of a clipped mean", "upper",
         "Nissim, Raskhodnikova & Smith 2007, Definition 2.1")
@given("upper > 0", fractions=Drawn(_some_fractions),
       count=Derived(lambda drawn: drawn["fractions"].size), upper=Log(0.1, 100.0))
@oracle(truths.clipped_mean_change)
@printed("0.1", "0.1", count=10, upper=1.0, fractions=np.eye(10)[0])
@wrong("joining-only", "That is for a value that joins; one that leaves can move the mean by u/n.",
       printed("0.0909091", "0.1", count=10, upper=1.0, fractions=np.eye(10)[0]),
       claim="upper / (count + 1)")
def clipped_mean_sensitivity(*, count: int, upper: float) -> float:
    r"""x_i \in [0,u]:\quad \max_{x'\sim x}\,\lvert\bar x - \bar x'\rvert \le \frac un
    \text{ when a value joins or leaves}

    count: Number of values n >= 2 before the change
    upper: u > 0; values lie in [0, u]"""
    validate.positive(upper=upper)
    validate.integer(minimum=2, count=count)
    return upper / count


def _some_sorted(rng: Generator, drawn: Parameters) -> NDArray:
    """Three or five values in [0, 1], sorted."""
    n = rng.choice([3, 5])
    values = (
        np.full(n, rng.random()) + 0.05 * rng.random(n) if rng.random() < 0.4 else rng.random(n)
    )
    return np.sort(np.round(np.minimum(values, 1.0), 2))


def _median_local(drawn: Parameters) -> NDArray:
    """Largest local sensitivity of the median after k replacements, k = 0 ... n."""
    n = drawn["values"].size
    x = np.concatenate([np.zeros(n + 1), drawn["values"], np.ones(n + 1)])
    m = n + 1 + n // 2
    return np.array(
        [
            max(x[m + t] - x[m + t - k - 1] for t in range(k + 2) if m + t - k - 1 >= 0)
            for k in range(n + 1)
        ]
    )


def _smooth_scale_by_force(*, values: ArrayLike, epsilon: float, delta: float) -> float:
    beta = epsilon / (2 * math.log(2 / delta))
    largest = truths.median_sensitivity_by_force(values=values, upper=1.0, beta=beta)
    return 2 * largest / epsilon


@formula("G-B17", "Noise by smooth sensitivity", "identity",
         "Nissim, Raskhodnikova & Smith 2007, Corollary 2.4")
@given("epsilon > 0 and delta > 0 and delta < 1", values=Drawn(_some_sorted),
       local_at=Derived(_median_local), epsilon=Log(0.05, 10.0), delta=Log(1e-9, 0.9))
@oracle(_smooth_scale_by_force, points=60)
@printed("0.00614212886186", local_at=100 / (32562.0 - np.arange(201)), epsilon=1.0,
         delta=1 / 32561**2)
@wrong("from-one", "Without k = 0 it can be smaller than the local sensitivity itself.",
       claim=lambda local_at, epsilon, delta: (2 / epsilon * _smooth(local_at[1:], epsilon, delta,
       first=1)), says=r"S = \max_{k\ge1}e^{-\beta k}A(x,k)")
def smooth_sensitivity_scale(*, local_at: ArrayLike, epsilon: float, delta: float) -> float:
    r"""\mathrm{Lap}(2S/\varepsilon),\quad S = \max_{k\ge0}e^{-\beta k}A(x,k),\quad
    \beta = \frac\varepsilon{2\ln(2/\delta)}

    local_at: Largest local sensitivity of all data sets within k changes, k = 0 ... n"""
    validate.positive(epsilon=epsilon)
    validate.probability(delta=delta)
    return 2 / epsilon * _smooth(local_at, epsilon, delta)


def _smooth(local_at: ArrayLike, epsilon: float, delta: float, first: int = 0) -> float:
    local = np.asarray(local_at, dtype=float)
    beta = epsilon / (2 * math.log(2 / delta))
    return float(np.max(np.exp(-beta * (first + np.arange(local.size))) * local))


_SMOOTH_RANGE = "epsilon > 0 and beta > 0 and 2*beta*log(2) < epsilon"


@formula("G-B17b", "What smooth noise guarantees", "upper",
         "Nissim, Raskhodnikova & Smith 2007, Corollary 2.4")
@given(_SMOOTH_RANGE + " and epsilon*(expm1(beta) - beta) <= 2*beta**2", epsilon=Log(0.01, 4.0),
       delta=Log(1e-12, 0.9),
       beta=Derived(lambda drawn: drawn["epsilon"] / (2 * math.log(2 / drawn["delta"]))))
@oracle(truths.dilated_laplace_delta, absolute=0.0, points=40)
@wrong("any-epsilon", "Where S may change by much, the tail of the wider noise tells which it is.",
       says=r"\text{the same for every } \varepsilon > 0", given=_SMOOTH_RANGE,
       epsilon=Log(0.1, 40.0))
@wrong("once", "Half of epsilon pays for the shift, half for the change of S.",
       says=r"\mathrm{Lap}(S/\varepsilon) \text{ at the same } \beta",
       oracle=partial(truths.dilated_laplace_delta, noise=1.0))
def smooth_sensitivity_delta(*, epsilon: float, beta: float) -> float:
    r"""\mathrm{Lap}(2S/\varepsilon),\ S \text{ } \beta\text{-smooth}:\quad
    (\varepsilon,\delta)\text{-DP with } \delta = 2e^{-\varepsilon/(2\beta)}

    beta: > 0: ln S changes by at most beta between neighbours"""
    validate.positive(epsilon=epsilon, beta=beta)
    return 2 * math.exp(-epsilon / (2 * beta))


# Sums


_ADJACENCY = Choice("add_remove", "replace_one")


@formula("G-B18", "Sensitivity of a clipped sum", "identity", "Dwork & Roth 2014, Definition 3.1")
@given("lower <= upper", lower=Linear(-100.0, 100.0, also=(0.0,)),
       upper=Linear(-100.0, 100.0, also=(0.0,)), adjacency=_ADJACENCY)
@oracle(truths.sum_change)
@printed("125", lower=50.0, upper=125.0, adjacency="add_remove")
@printed("75", lower=50.0, upper=125.0, adjacency="replace_one")
@wrong("difference", "That is for replacing a record; one that joins brings its whole value.",
       printed("75", "125", lower=50.0, upper=125.0, adjacency="add_remove"), claim="upper - lower",
       says=r"\Delta = u - l \text{ (add/remove)}", given="lower < upper",
       adjacency=Choice("add_remove"))
@wrong("same-for-replacing", "From -u to u it is twice as much.",
       claim="max(abs(lower), abs(upper))", says=r"\Delta = \max(|l|,|u|) \text{ (replace one)}",
       adjacency=Choice("replace_one"))
@wrong("any-pair", "Only neighbours count; over all pairs it grows with the number of records.",
       claim="count * (upper - lower)",
       says=r"\Delta = \max_{d,d'}\lvert f(d) - f(d')\rvert \text{ over all pairs of data sets}",
       adjacency=Choice("replace_one"), count=Whole(2, 1000))
def sum_sensitivity(*, lower: float, upper: float, adjacency: Adjacency) -> float:
    r"""x_i \in [l,u]:\quad \Delta = \max(|l|,|u|) \text{ (add/remove)},\quad
    u - l \text{ (replace one)}"""
    if not lower <= upper:
        raise ValueError(f"Expected lower <= upper, got lower={lower!r}, upper={upper!r}.")
    return upper - lower if adjacency == "replace_one" else max(abs(lower), abs(upper))


@formula("G-B18b", "Sensitivity of a sum of clipped vectors", "identity",
         "Abadi et al. 2016, Algorithm 1")
@given("max_norm > 0", max_norm=Log(0.01, 100.0), dimension=Whole(1, 4), adjacency=_ADJACENCY)
@oracle(truths.clipped_sum_change, points=60)
@printed("1.5", max_norm=1.5, dimension=3, adjacency="add_remove")
@printed("3", max_norm=1.5, dimension=3, adjacency="replace_one")
@wrong("coordinatewise", "A cube is not a ball: its corners are sqrt(d) C away.",
       says=r"g_i \text{ clipped to } [-C,C]^d:\ \Delta_2 = C",
       oracle=partial(truths.clipped_sum_change, coordinatewise=True),
       adjacency=Choice("add_remove"))
@wrong("any-adjacency", "A record that is replaced by its opposite moves the sum by 2C.",
       claim="max_norm", says=r"\Delta_2 = C \text{ whatever the adjacency}")
def clipped_sum_sensitivity(*, max_norm: float, adjacency: Adjacency) -> float:
    r"""\lVert g_i\rVert_2 \le C:\quad \Delta_2 = C \text{ (add/remove)},\quad
    2C \text{ (replace one)}

    C if a record joins, leaves or is zeroed out, 2 C if it is replaced; exact."""
    validate.positive(max_norm=max_norm)
    return 2 * max_norm if adjacency == "replace_one" else max_norm
