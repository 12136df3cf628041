"""Choices: the best of several runs, amplification by iteration, adaptivity, sparse vectors."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dplearn.book.chapters.divergences.entries import max_divergence, renyi
from dplearn.book.chapters.selection import truths
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import (
    Choice,
    Derived,
    Distribution,
    Drawn,
    Linear,
    Log,
    Parameters,
    Whole,
)
from dplearn.book.kit.entry import formula, given, oracle, printed, wrong
from dplearn.ground import validate

_SCORES = {"p": Distribution(4, zeros=False), "q": Distribution(4, zeros=False)}
_COUNT = {"shape": Linear(-0.9, 4.0, also=(0.0, 1.0)), "stop": Log(0.01, 0.95)}
_COINS = dict(zip("pq", oracles.randomized_response(epsilon=1.0), strict=True))


def _both(orders: str) -> Derived:
    """Divergence of p and q, in the worse order of the two."""

    def make(drawn: Parameters) -> float:
        p, q, order = drawn["p"], drawn["q"], drawn[orders]
        return max(renyi(p, q, order=order), renyi(q, p, order=order))

    return Derived(make)


def _pure(drawn: Parameters) -> float:
    return max(max_divergence(drawn["p"], drawn["q"]), max_divergence(drawn["q"], drawn["p"]))


def _best_renyi(*, p: NDArray, q: NDArray, order: float, shape: float, stop: float) -> float:
    best_p, best_q = truths.best_of_pair(p=p, q=q, shape=shape, stop=stop)
    return oracles.finite_renyi(p=best_p, q=best_q, order=order)


def _best_epsilon(*, p: NDArray, q: NDArray, shape: float, stop: float) -> float:
    best_p, best_q = truths.best_of_pair(p=p, q=q, shape=shape, stop=stop)
    return oracles.worst_event_epsilon(p=best_p, q=best_q)


def _best_of_fixed_epsilon(*, p: NDArray, q: NDArray, runs: int) -> float:
    best_p, best_q = truths.best_of_fixed(p=p, q=q, runs=runs)
    return oracles.worst_event_epsilon(p=best_p, q=best_q)


def _without_the_count(
    *, epsilon: float, other_order: float, other_epsilon: float, shape: float
) -> float:
    return epsilon + (1 + shape) * (1 - 1 / other_order) * other_epsilon


@formula("G-S1", "Private selection: RDP of the best of a random number of runs", "upper",
         "Papernot & Steinke 2022, Theorem 2")
@given("order > 1 and other_order >= 1 and shape > -1 and 0 < stop and stop < 1", **_SCORES,
       order=Log(1.1, 50.0), epsilon=_both("order"), other_order=Log(1.0, 200.0),
       other_epsilon=_both("other_order"), **_COUNT)
@oracle(_best_renyi, points=60)
@printed("0.726101297", order=10.0, epsilon=0.05, other_order=20.0, other_epsilon=0.1, shape=1.0,
         stop=0.1)
@wrong("free", "The choice among runs leaks too; tuning must be paid for.", claim="epsilon")
@wrong("no-count",
       "At a finite order a rare score is found the more often the more runs there are.",
       claim=_without_the_count, says=r"\varepsilon' = \varepsilon(\lambda) + "
       r"(1+\eta)(1-1/\hat\lambda)\,\varepsilon(\hat\lambda)", order=Log(1.1, 3.0),
       other_order=Log(1.0, 1.2), shape=Linear(0.0, 1.0), stop=Log(0.01, 0.1))
def selection_rdp(*, order, epsilon, other_order, other_epsilon, shape, stop):
    r"""\varepsilon'(\lambda) = \varepsilon(\lambda)
    + (1+\eta)\Big(1-\frac1{\hat\lambda}\Big)\varepsilon(\hat\lambda)
    + \frac{(1+\eta)\ln(1/\gamma)}{\hat\lambda} + \frac{\ln E[K]}{\lambda-1},\quad
    P(K=k) \propto (1-\gamma)^k\prod_{j<k}\frac{j+\eta}{j+1},\ k \ge 1

    shape: eta > -1; 1 is the geometric law, 0 the logarithmic one
    stop: gamma in (0, 1); the smaller the more runs"""
    validate.probability(stop=stop)
    log_stop = math.log(stop)
    # E[K]; the fraction tends to 1 / ln(1/stop) as the shape tends to 0.
    part = -shape / math.expm1(shape * log_stop) if shape else -1 / log_stop
    mean = part * (1 - stop) / stop
    choice = (1 - 1 / other_order) * other_epsilon - log_stop / other_order
    return epsilon + (1 + shape) * choice + math.log(mean) / (order - 1)


@formula("G-S1b", "Private selection under pure DP", "upper",
         "Papernot & Steinke 2022, Corollary 3, after Liu & Talwar (2019), Theorem 1.3")
@given("shape > -1 and epsilon >= 0", **_SCORES, epsilon=Derived(_pure), **_COUNT)
@oracle(_best_epsilon)
@printed("3", "1.976852117", **_COINS, epsilon=1.0, shape=1.0, stop=0.01)
@wrong("free", "The score that wins depends on all runs.", claim="epsilon")
@wrong("fixed-number", "All of k runs score low with a ratio of e^(k epsilon).",
       claim="3 * epsilon",
       says=r"\text{the best of } k \text{ runs, } k \text{ fixed, costs } 3\varepsilon",
       given="epsilon >= 0", oracle=_best_of_fixed_epsilon, shape=None, stop=None,
       runs=Whole(1, 50))
@wrong("always-two", "The cost grows with eta.", claim="2 * epsilon",
       says=r"\varepsilon' = 2\varepsilon \text{ for every } K", shape=Linear(2.0, 4.0),
       stop=Log(0.01, 0.1))
def selection_epsilon(*, epsilon, shape):
    r"""\varepsilon' = (2+\eta)\,\varepsilon:\quad
    3\varepsilon \text{ for geometric } K,\ 2\varepsilon \text{ for logarithmic } K

    shape: eta > -1 of K's law, as in `selection_rdp`"""
    return (2 + shape) * epsilon


# Amplification by iteration


def _last_iterate(
    *,
    order: float,
    lipschitz: float,
    noise_std: float,
    step_size: float,
    smoothness: float,
    steps: int,
    record: int,
    width: float,
) -> float:
    return truths.last_iterate_renyi(
        order=order,
        lipschitz=lipschitz,
        noise_std=noise_std,
        step_size=step_size,
        smoothness=smoothness,
        steps=steps,
        record=record,
        radius=width * step_size * noise_std,
    )


def _last_iterate_not_convex(
    *,
    order: float,
    lipschitz: float,
    noise_std: float,
    step_size: float,
    smoothness: float,
    steps: int,
    record: int,
    width: float,
) -> float:
    return truths.last_iterate_renyi(
        order=order,
        lipschitz=lipschitz,
        noise_std=noise_std,
        step_size=step_size,
        smoothness=smoothness,
        steps=steps,
        record=record,
        radius=width * step_size * noise_std,
        concave=True,
    )


def _all_iterates(*, order: float, lipschitz: float, noise_std: float) -> float:
    """Whoever saw the iterate before and the one after the record knows the noise between."""
    laws = oracles.log_normal(lipschitz, noise_std), oracles.log_normal(-lipschitz, noise_std)
    far = 1e3 * (lipschitz + noise_std)
    return oracles.density_renyi(*laws, order, -far, far)


_WORKED_RUN = {
    "order": 2.0,
    "lipschitz": 1.0,
    "noise_std": 2.0,
    "step_size": 1.0,
    "smoothness": 0.0,
    "steps": 10,
    "record": 1,
    "width": 40.0,
}


@formula("G-S2", "Amplification by iteration", "upper",
         "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23")
@given("order > 1 and 0 <= smoothness and step_size * smoothness <= 2 and 1 <= record and record "
       "<= steps", order=Log(1.2, 20.0), lipschitz=Log(0.1, 2.0), noise_std=Log(0.5, 3.0),
       step_size=Log(0.1, 4.0), smoothness=Log(0.05, 20.0, also=(0.0,)), steps=Whole(1, 10),
       record=Whole(1, 10), width=Choice(2.0, 10.0, 30.0))
@oracle(_last_iterate, tolerance=1e-6, points=30)
@printed("0.1", "0.1000000", **_WORKED_RUN)
@wrong("not-convex", "Where the loss bends down, a step moves two iterates apart.",
       says=r"\text{the same for any smooth loss, such as a neural network's}",
       oracle=_last_iterate_not_convex, smoothness=Log(0.05, 20.0))
@wrong("any-step",
       "Beyond 2/beta the steps jump between two sides for ever and remember the first.",
       says=r"\text{the same for every step size } \eta",
       given="order > 1 and 0 <= smoothness and 1 <= record and record <= steps",
       order=Log(1.5, 4.0), lipschitz=Log(0.5, 1.0), noise_std=Choice(0.1),
       smoothness=Log(1.0, 10.0), steps=Whole(50, 500), record=Choice(1), width=Linear(3.0, 5.0))
@wrong("all-iterates", "Between two known iterates there is the noise of one step only.",
       says=r"\text{the same when every } w_i \text{ is released}", oracle=_all_iterates)
def amplification_by_iteration(*, order, lipschitz, noise_std, steps, record):
    r"""D_\alpha(w_n\Vert w'_n) \le \frac{2\alpha L^2}{\sigma^2(n+1-t)},\quad
    w_{i+1} = \Pi\big(w_i - \eta(\nabla f_i(w_i) + N(0,\sigma^2))\big),\
    f_t \ne f'_t

    lipschitz: L > 0, of every loss; all are convex and beta-smooth, the step size is at
      most 2/beta
    record: t in [1, n], the step that uses the record in question"""
    validate.positive(lipschitz=lipschitz, noise_std=noise_std)
    return 2 * order * lipschitz**2 / (noise_std**2 * (steps + 1 - record))


# Adaptive composition


def _states(drawn: Parameters) -> NDArray:
    """Log moments of both steps, for each of the two states that the first may lead to."""
    noises = np.array(
        [[drawn["noise"], drawn["noise"]], [drawn["noise_below"], drawn["noise_above"]]]
    )
    return 0.5 * drawn["order"] * (drawn["order"] + 1) / noises**2


def _of_typical_state(*, log_moments: NDArray) -> float:
    """Above the threshold, if that is below the mean 1 of the first release."""
    return float(np.sum(log_moments[:, 1]))


def _of_mean_state(*, log_moments: NDArray, threshold: float, noise: float) -> float:
    from scipy.special import ndtr

    below = ndtr((threshold - 1) / noise)
    return float(np.sum(log_moments @ [below, 1 - below]))


_TWO_STEPS = {"order": 1.0, "noise": 1.0, "noise_below": 1.0, "noise_above": 3.0, "threshold": 0.5}
_TWO_STEPS |= {"log_moments": np.array([[1.0, 1.0], [1.0, 1 / 9]])}


@formula("G-S3", "Adaptive composition: the worst state counts", "upper",
         "Abadi et al. 2016, Theorem 2.1")
@given("order > 0", order=Log(0.1, 30.0), noise=Log(0.3, 10.0), noise_below=Log(0.3, 10.0),
       noise_above=Log(0.3, 10.0), threshold=Linear(-5.0, 10.0), log_moments=Derived(_states))
@oracle(truths.two_step_log_moment)
@printed("2", "1.2025012", **_TWO_STEPS)
@wrong("equality", "Only the fresh noise is independent of the past: adaptivity makes it a bound.",
       printed("2", **_TWO_STEPS), says=r"K_M(\lambda) = \sum_t K_{M_t}(\lambda)", kind="identity")
@wrong("typical-state", "The supremum has to run over what was released before, too.",
       printed("1.1111", **_TWO_STEPS), claim=_of_typical_state,
       says=r"K_M \le \sum_t K_{M_t}(\lambda;\theta) \text{ at a typical } \theta",
       threshold=Linear(-5.0, 0.5))
@wrong("mean-state", "States with a large loss so far weigh more in the moment than in the mean.",
       printed("1.38537", **_TWO_STEPS), claim=_of_mean_state,
       says=r"K_M \le \sum_t E_\theta[K_{M_t}(\lambda;\theta)]")
def adaptive_log_moment(*, log_moments):
    r"""K_M(\lambda) \le \sum_t \sup_\theta K_{M_t}(\lambda;\theta),\quad
    K(\lambda) = \ln E_P[e^{\lambda L}] = \lambda D_{\lambda+1}

    log_moments: Log moment of a step in each state that the releases before it may lead to,
      nats"""
    return float(np.sum(np.max(np.asarray(log_moments, dtype=float), axis=1)))


# The sparse vector technique


_SCALES = {"threshold_scale": Log(0.2, 20.0), "query_scale": Log(0.2, 20.0)}


def _some_queries(rng: Generator, drawn: Parameters) -> NDArray:
    """Answers around the threshold, and below each by how much it changes, up to 1."""
    count = rng.integers(1, 5)
    spread = rng.choice([0.0, 1.0, 8.0]) * drawn["query_scale"]
    if rng.random() < 0.3:  # the worst: many ask the same, and the last moves against the others
        count, spread = rng.integers(2, 11), 0.0
    answers = spread * rng.uniform(-1, 1, size=count).round(2) + 0.0  # no -0
    changes = np.where(np.arange(count) < count - 1, 1.0, -1.0)
    if rng.random() < 0.5:
        changes = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=count)
    return np.array([answers, changes * rng.choice([-1.0, 1.0])])


def _some_monotone_queries(rng: Generator, drawn: Parameters) -> NDArray:
    answers, changes = _some_queries(rng, drawn)
    return np.array([answers, rng.choice([-1.0, 1.0]) * np.maximum(changes, 0.0)])


def _sparse_vector_epsilon(
    *, threshold_scale: float, query_scale: float, positives: int, queries: NDArray
) -> float:
    answers, changes = queries
    return truths.sparse_vector_epsilon(
        answers=answers,
        changes=changes,
        threshold_scale=threshold_scale,
        query_scale=query_scale,
        positives=positives,
    )


_AT_THE_EDGE = {"queries": np.array([[0.0, 0.0], [1.0, -1.0]])}


@formula("G-H1", "Sparse vector: above a noisy threshold", "upper",
         "Dwork & Roth 2014, Algorithm 1 and Theorem 3.23")
@given("threshold_scale > 0 and query_scale > 0 and positives >= 1", **_SCALES,
       positives=Whole(1, 3), queries=Drawn(_some_queries))
@oracle(_sparse_vector_epsilon, points=25)
@printed("1", "0.4242490722", threshold_scale=2.0, query_scale=4.0, positives=1, **_AT_THE_EDGE)
@printed("3.25", "1.1648439217", threshold_scale=4.0, query_scale=4 / 3, positives=2,
         **_AT_THE_EDGE)
@wrong("one-scale-for-both", "Threshold and answer move against each other: it is 3 epsilon.",
       claim="1 / threshold_scale",
       says=r"b_1 = b_2 = 1/\varepsilon \Rightarrow \varepsilon\text{-DP}",
       query_scale=Derived(lambda drawn: drawn["threshold_scale"]), positives=Choice(1))
@wrong("query-noise-once",
       "With a quarter of epsilon for the threshold it is (1 + 6c)/4 times epsilon.",
       claim="1 / threshold_scale + 1 / query_scale",
       says=r"\varepsilon = \frac1{b_1} + \frac1{b_2} \text{ for every } c")
@wrong("one-sided", "It needs answers that all move in one direction.",
       claim="1 / threshold_scale + positives / query_scale", threshold_scale=Log(1.0, 20.0),
       query_scale=Log(0.5, 2.0), positives=Choice(1))
def sparse_vector(*, threshold_scale, query_scale, positives=1):
    r"""\text{threshold} + \mathrm{Lap}(b_1),\ \text{answers} + \mathrm{Lap}(b_2),
    \text{ until } c \text{ lie above}:\quad
    \varepsilon = \frac1{b_1} + \frac{2c}{b_2}\quad
    \Big(c=1,\ b_1=\frac2\varepsilon,\ b_2=\frac4\varepsilon\Big)"""
    return 1 / threshold_scale + 2 * positives / query_scale


@formula("G-H1b", "Sparse vector for monotone queries", "upper", "Lyu, Su & Li 2017, Theorem 5")
@given("threshold_scale > 0 and query_scale > 0 and positives >= 1", **_SCALES,
       positives=Whole(1, 3), queries=Drawn(_some_monotone_queries))
@oracle(_sparse_vector_epsilon, points=25)
@printed("1", threshold_scale=2.0, query_scale=2.0, positives=1)
def sparse_vector_monotone(*, threshold_scale, query_scale, positives=1):
    r"""\text{all answers change in the same direction}:\quad
    \varepsilon = \frac1{b_1} + \frac c{b_2}

    Every answer rises, or every answer falls, when a record is added. Parameters, units and
    errors as in `sparse_vector`; upper bound."""
    return 1 / threshold_scale + positives / query_scale


def _below_then_above(*, threshold_scale: float) -> float:
    """Chance of below, above for the answers 0, 1 to which no noise is added."""
    outcome = (False, True)
    return math.exp(
        truths.log_chance(outcome, [0.0, 1.0], threshold_scale=threshold_scale, query_scale=0.0)
    )


def _epsilon_without_query_noise(*, threshold_scale: float) -> float:
    return truths.sparse_vector_epsilon(
        answers=[0.0, 1.0],
        changes=[1.0, -1.0],
        threshold_scale=threshold_scale,
        query_scale=0.0,
        positives=2,
    )


@formula("G-H2", "A broken sparse vector: no noise on the answers", "identity",
         "Lyu, Su & Li 2017, Figure 2, Algorithm 5, and Theorem 6")
@given("threshold_scale > 0", threshold_scale=Log(0.02, 50.0))
@oracle(_below_then_above, unsafe=None)
@printed("0.19673467", threshold_scale=2.0)
@wrong("private", "Two answers on both sides of one threshold tell which of them is larger.",
       claim="2 / threshold_scale",
       says=r"b_1 = 2/\varepsilon,\ b_2 = 0 \Rightarrow \varepsilon\text{-DP}", kind="upper",
       oracle=_epsilon_without_query_noise)
def chance_without_query_noise(*, threshold_scale):
    r"""\text{answers } (0,1) \text{ to the threshold } \mathrm{Lap}(b_1):\quad
    P(\bot,\top) = \tfrac12\big(1 - e^{-1/b_1}\big),\text{ and } 0 \text{ for } (1,0)
    \ \Rightarrow\ \varepsilon = \infty"""
    return -0.5 * math.expm1(-1 / threshold_scale)


def _half_below_half_above(*, threshold_scale: float, query_scale: float, pairs: int) -> float:
    """Log ratio of the event for answers all at the threshold and moved against it."""
    outcome = (False,) * pairs + (True,) * pairs
    answers = np.zeros(2 * pairs)
    scales = {"threshold_scale": threshold_scale, "query_scale": query_scale}
    moved = answers + np.where(outcome, -1.0, 1.0)
    return truths.log_chance(outcome, answers, **scales) - truths.log_chance(
        outcome, moved, **scales
    )


@formula("G-H2b", "A broken sparse vector: no end after c positives", "lower",
         "Lyu, Su & Li 2017, Figure 2, Algorithm 6, and Theorem 7")
@given("threshold_scale > 0 and query_scale > 0 and pairs >= 1", **_SCALES, pairs=Whole(1, 30))
@oracle(_half_below_half_above, unsafe="larger")
@printed("5", "9.276119196", threshold_scale=2.0, query_scale=2.0, pairs=10)
@wrong("private", "Every answer above the threshold costs anew; there must be an end to them.",
       claim="1 / threshold_scale + 1 / query_scale",
       says=r"\varepsilon = \frac1{b_1} + \frac1{b_2} \text{ for any number of positives}",
       kind="upper")
def epsilon_without_end(*, query_scale, pairs):
    r"""m \text{ answers below, then } m \text{ above}:\quad
    \ln\frac{P(\bot^m\top^m)}{P'(\bot^m\top^m)} \ge \frac m{b_2}

    pairs: m >= 1: half of the number of queries"""
    return pairs / query_scale


def _many_below_then_a_number(*, threshold_scale: float, query_scale: float, queries: int) -> float:
    """Log ratio of the event; the number released, 0, is the noise itself on both neighbours."""
    outcome, answers = (False,) * queries, np.zeros(queries)
    scales = {"threshold_scale": threshold_scale, "query_scale": query_scale, "highest": 0.0}
    return truths.log_chance(outcome, answers, **scales) - truths.log_chance(
        outcome, answers + 1, **scales
    )


@formula("G-H2c", "A broken sparse vector: the noisy answer is released", "identity",
         "Lyu, Su & Li 2017, Figure 2, Algorithm 3, and Section 3.2")
@given("threshold_scale > 0 and query_scale > 0 and queries >= 1", **_SCALES, queries=Whole(1, 100))
@oracle(_many_below_then_a_number, unsafe="larger")
@printed("25", "25.00000", threshold_scale=2.0, query_scale=4.0, queries=100)
@wrong("private", "A number above it says where the threshold is not; then every answer counts.",
       claim="1 / threshold_scale + 1 / query_scale", kind="upper",
       met="Lyu, Su & Li 2017, Algorithm 3")
def epsilon_of_released_answer(*, query_scale, queries):
    r"""m \text{ answers below, then one above and seen to be } 0:\quad
    \ln\frac{p(\bot^m, 0)}{p'(\bot^m, 0)} = \frac m{b_2}"""
    return queries / query_scale


def _best_split(*, positives: int, monotone: bool) -> float:
    """Ratio at which the variance of a noisy answer less the noisy threshold is smallest."""
    from scipy.optimize import minimize_scalar

    def variance(log_ratio: float) -> float:
        first = 1 / (1 + math.exp(log_ratio))
        scales = 1 / first, (1 if monotone else 2) * positives / (1 - first)
        return math.log(sum(2 * scale**2 for scale in scales))

    return math.exp(minimize_scalar(variance, bracket=(0.0, 3.0), tol=1e-10).x)  # type: ignore[union-attr]


@formula("G-H3", "Sparse vector: how to split the budget", "identity",
         "Lyu, Su & Li 2017, Section 4.2")
@given("positives >= 1", positives=Whole(1, 10_000), monotone=Choice(False, True))
@oracle(_best_split, tolerance=1e-5, unsafe=None, points=40)
@printed("1.5874011", positives=1, monotone=False)
@printed("13.572088", positives=25, monotone=False)
@wrong("half-half", "Private, but the answers are noisier than they need to be.", claim="1.0")
@wrong("same-for-monotone", "Monotone queries need half the noise on the answers.",
       claim="(2 * positives)**(2 / 3)", says=r"(2c)^{2/3} \text{ for all queries}")
def sparse_vector_split(*, positives, monotone=False):
    r"""\varepsilon_2/\varepsilon_1 = (2c)^{2/3}\quad
    (\text{monotone queries: } c^{2/3}),\quad
    b_1 = \frac1{\varepsilon_1},\ b_2 = \frac{2c}{\varepsilon_2}

    monotone: Whether all answers change in the same direction"""
    validate.integer(minimum=1, positives=positives)
    return ((1 if monotone else 2) * positives) ** (2 / 3)
