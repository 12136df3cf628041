"""The best of several runs, the last iterate of one, adaptive steps, and sparse vectors."""

import math
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr

from dplearn.accountants.theorems import selection_rdp
from dplearn.book.chapters.divergences.pairs import max_divergence, renyi
from dplearn.book.chapters.selection import truths
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Derived, Distribution, Drawn, Linear, Log, Whole
from dplearn.book.kit.entry import enter, formula, given, oracle, printed, wrong
from dplearn.ground import validate

_SCORES = {"p": Distribution(4, zeros=False), "q": Distribution(4, zeros=False)}
_COUNT = {"shape": Linear(-0.9, 4.0, also=(0.0, 1.0)), "stop": Log(0.01, 0.95)}


def _both(orders: str) -> Derived:
    """Divergence of p and q, in the worse order of the two."""
    larger = lambda p, q, order: max(renyi(p, q, order=order), renyi(q, p, order=order))
    return Derived(lambda p, q, drawn: larger(p, q, drawn[orders]))


enter(
    selection_rdp,
    formula("G-S1", "Private selection: RDP of the best of a random number of runs", "upper",
            "Papernot & Steinke 2022, Theorem 2", statement=r"\varepsilon'(\lambda) = "
            r"\varepsilon(\lambda) + (1+\eta)\Big(1-\frac1{\hat\lambda}\Big)"
            r"\varepsilon(\hat\lambda) + \frac{(1+\eta)\ln(1/\gamma)}{\hat\lambda} + "
            r"\frac{\ln E[K]}{\lambda-1},\quad "
            r"P(K=k) \propto (1-\gamma)^k\prod_{j<k}\frac{j+\eta}{j+1},\ k \ge 1"),
    given("order > 1 and other_order >= 1 and shape > -1 and 0 < stop < 1", **_SCORES,
          order=Log(1.1, 50.0), epsilon=_both("order"), other_order=Log(1.0, 200.0),
          other_epsilon=_both("other_order"), **_COUNT),
    oracle(truths.best_renyi, points=60),
    printed("0.726101297", order=10.0, epsilon=0.05, other_order=20.0, other_epsilon=0.1, shape=1.0,
            stop=0.1),
    wrong("free", "The choice among runs leaks too; tuning must be paid for.", claim="epsilon"),
    wrong("no-count",
          "At a finite order a rare score turns up the more often the more runs there are.",
          claim="epsilon + (1 + shape) * (1 - 1 / other_order) * other_epsilon",
          says=r"\varepsilon' = \varepsilon(\lambda) + "
          r"(1+\eta)(1-1/\hat\lambda)\,\varepsilon(\hat\lambda)", order=Log(1.1, 3.0),
          other_order=Log(1.0, 1.2), shape=Linear(0.0, 1.0), stop=Log(0.01, 0.1)),
)


@formula("G-S1b", "Private selection under pure DP", "upper",
         "Papernot & Steinke 2022, Corollary 3, after Liu & Talwar (2019), Theorem 1.3")
@given("shape > -1 and epsilon >= 0", **_SCORES,
       epsilon=Derived(lambda p, q: max(max_divergence(p, q), max_divergence(q, p))), **_COUNT)
@oracle(lambda p, q, shape, stop: truths.best_epsilon(p, q, truths.repetitions(shape=shape,
        stop=stop)))
@printed("3", "1.976852117",
         **dict(zip("pq", oracles.randomized_response(epsilon=1.0), strict=True)), epsilon=1.0,
         shape=1.0, stop=0.01)
@wrong("free", "The score that wins depends on all runs.", claim="epsilon")
@wrong("fixed-number", "All of k runs score low with a ratio of e^(k epsilon).",
       claim="3 * epsilon",
       says=r"\text{the best of } k \text{ runs, } k \text{ fixed, costs } 3\varepsilon",
       given="epsilon >= 0", oracle=lambda p, q, runs: truths.best_epsilon(p, q, np.eye(runs)[-1]),
       shape=None, stop=None, runs=Whole(1, 50))
@wrong("always-two", "The cost grows with eta.", claim="2 * epsilon", shape=Linear(2.0, 4.0),
       stop=Log(0.01, 0.1))
def selection_epsilon(*, epsilon, shape):
    r"""\varepsilon' = (2+\eta)\,\varepsilon:\quad
    3\varepsilon \text{ for geometric } K,\ 2\varepsilon \text{ for logarithmic } K"""
    return (2 + shape) * epsilon


@formula("G-S2", "Amplification by iteration", "upper",
         "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23")
@given("order > 1 and 0 <= smoothness and step_size * smoothness <= 2 and 1 <= record <= steps",
       order=Log(1.2, 20.0), lipschitz=Log(0.1, 2.0), noise_std=Log(0.5, 3.0),
       step_size=Log(0.1, 4.0), smoothness=Log(0.05, 20.0, also=(0.0,)), steps=Whole(1, 10),
       record=Whole(1, 10), width=Choice(2.0, 10.0, 30.0))
@oracle(truths.last_iterate_renyi, tolerance=1e-6, points=30)
@printed("0.1", "0.1000000", order=2.0, lipschitz=1.0, noise_std=2.0, step_size=1.0, smoothness=0.0,
         steps=10, record=1, width=40.0)
@wrong("not-convex", "Where the loss bends down, a step moves two iterates apart.",
       says=r"\text{the same for any smooth loss, such as a neural network's}",
       oracle=partial(truths.last_iterate_renyi, concave=True), smoothness=Log(0.05, 20.0))
@wrong("any-step",
       "Beyond 2/beta the steps jump between two sides for ever and remember the first.",
       says=r"\text{the same for every step size } \eta",
       given="order > 1 and 0 <= smoothness and 1 <= record <= steps", order=Log(1.5, 4.0),
       lipschitz=Log(0.5, 1.0), noise_std=Choice(0.1), smoothness=Log(1.0, 10.0),
       steps=Whole(50, 500), record=Choice(1), width=Linear(3.0, 5.0))
@wrong("all-iterates", "Between two iterates that are seen there is the noise of one step only.",
       says=r"\text{the same when every } w_i \text{ is released}", oracle=lambda order, lipschitz,
       noise_std: oracles.gaussian_renyi(2 * lipschitz, noise_std, order))
def amplification_by_iteration(*, order, lipschitz, noise_std, steps, record):
    r"""D_\alpha(w_n\Vert w'_n) \le \frac{2\alpha L^2}{\sigma^2(n+1-t)},\quad
    w_{i+1} = \Pi\big(w_i - \eta(\nabla f_i(w_i) + N(0,\sigma^2))\big),\
    f_t \ne f'_t

    lipschitz: L > 0, of every loss; all are convex and beta-smooth, the step size is at
      most 2/beta
    record: t in [1, n], the step that uses the record in question"""
    validate.positive(lipschitz=lipschitz, noise_std=noise_std)
    return 2 * order * lipschitz**2 / (noise_std**2 * (steps + 1 - record))


def _states(order: float, noise: float, noise_below: float, noise_above: float) -> NDArray:
    """Log moments of both steps, for each of the two states that the first may lead to."""
    return 0.5 * order * (order + 1) / np.square([[noise, noise], [noise_below, noise_above]])


_TWO_STEPS = {"order": 1.0, "noise": 1.0, "noise_below": 1.0, "noise_above": 3.0, "threshold": 0.5,
              "log_moments": np.array([[1.0, 1.0], [1.0, 1 / 9]])}


@formula("G-S3", "Adaptive composition: the worst state counts", "upper",
         "Abadi et al. 2016, Theorem 2.1")
@given("order > 0", order=Log(0.1, 30.0), noise=Log(0.3, 10.0), noise_below=Log(0.3, 10.0),
       noise_above=Log(0.3, 10.0), threshold=Linear(-5.0, 10.0), log_moments=Derived(_states))
@oracle(truths.two_step_log_moment)
@printed("2", "1.2025012", **_TWO_STEPS)
@wrong("equality", "Only the fresh noise is independent of the past: adaptivity makes it a bound.",
       printed("2", **_TWO_STEPS), says=r"K_M(\lambda) = \sum_t K_{M_t}(\lambda)", kind="identity")
@wrong("typical-state", "The supremum has to run over what was released before, too.",
       printed("1.1111", **_TWO_STEPS), claim=lambda log_moments: np.sum(log_moments[:, 1]),
       says=r"K_M \le \sum_t K_{M_t}(\lambda;\theta) \text{ at a typical } \theta",
       threshold=Linear(-5.0, 0.5))
@wrong("mean-state", "States with a large loss so far weigh more in the moment than in the mean.",
       printed("1.38537", **_TWO_STEPS), claim=lambda log_moments, threshold, noise:
       np.sum(log_moments @ [ndtr((threshold - 1) / noise), ndtr((1 - threshold) / noise)]),
       says=r"K_M \le \sum_t E_\theta[K_{M_t}(\lambda;\theta)]")
def adaptive_log_moment(*, log_moments):
    r"""K_M(\lambda) \le \sum_t \sup_\theta K_{M_t}(\lambda;\theta),\quad
    K(\lambda) = \ln E_P[e^{\lambda L}] = \lambda D_{\lambda+1}

    log_moments: log moment of a step in each state that earlier releases may lead to"""
    return float(np.sum(np.max(np.asarray(log_moments, dtype=float), axis=1)))


_SCALES = {"threshold_scale": Log(0.2, 20.0), "query_scale": Log(0.2, 20.0)}
_IN_RANGE = "threshold_scale > 0 and query_scale > 0 and positives >= 1"


def _random_queries(rng: Generator, query_scale: float) -> NDArray:
    """Answers around the threshold, and below each by how much it changes, up to 1."""
    count = rng.integers(1, 5)
    spread = rng.choice([0.0, 1.0, 8.0]) * query_scale
    if rng.random() < 0.3:  # the worst: many ask the same, and the last moves against the others
        count, spread = rng.integers(2, 11), 0.0
    answers = spread * rng.uniform(-1, 1, size=count).round(2) + 0.0  # no -0
    changes = np.where(np.arange(count) < count - 1, 1.0, -1.0)
    if rng.random() < 0.5:
        changes = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=count)
    return np.array([answers, changes * rng.choice([-1.0, 1.0])])


def _random_monotone_queries(rng: Generator, query_scale: float) -> NDArray:
    answers, changes = _random_queries(rng, query_scale)
    return np.array([answers, rng.choice([-1.0, 1.0]) * np.maximum(changes, 0.0)])


_AT_THE_EDGE = {"queries": np.array([[0.0, 0.0], [1.0, -1.0]])}


@formula("G-H1", "Sparse vector: above a noisy threshold", "upper",
         "Dwork & Roth 2014, Algorithm 1 and Theorem 3.23")
@given(_IN_RANGE, **_SCALES, positives=Whole(1, 3), queries=Drawn(_random_queries))
@oracle(truths.sparse_vector_epsilon, points=25)
@printed("1", "0.4242490722", threshold_scale=2.0, query_scale=4.0, positives=1, **_AT_THE_EDGE)
@printed("3.25", "1.1648439217", threshold_scale=4.0, query_scale=4 / 3, positives=2,
         **_AT_THE_EDGE)
@wrong("one-scale-for-both", "Threshold and answer move against each other: it is 3 epsilon.",
       claim="1 / threshold_scale",
       says=r"b_1 = b_2 = 1/\varepsilon \Rightarrow \varepsilon\text{-DP}",
       query_scale=Derived(lambda threshold_scale: threshold_scale), positives=Choice(1))
@wrong("query-noise-once",
       "With a quarter of epsilon for the threshold it is (1 + 6c)/4 times epsilon.",
       claim="1 / threshold_scale + 1 / query_scale", met="Lyu, Su & Li 2017, Algorithm 4")
@wrong("one-sided", "It needs answers that all move in one direction.",
       claim="1 / threshold_scale + positives / query_scale", threshold_scale=Log(1.0, 20.0),
       query_scale=Log(0.5, 2.0), positives=Choice(1))
def sparse_vector(*, threshold_scale, query_scale, positives=1):
    r"""\text{threshold} + \mathrm{Lap}(b_1),\ \text{answers} + \mathrm{Lap}(b_2),
    \text{ until } c \text{ lie above}:\quad
    \varepsilon = \frac1{b_1} + \frac{2c}{b_2}\quad
    \Big(c=1,\ b_1=\frac2\varepsilon,\ b_2=\frac4\varepsilon\Big)

    queries: answers less the threshold, and how much they differ for a neighbour"""
    return 1 / threshold_scale + 2 * positives / query_scale


@formula("G-H1b", "Sparse vector for monotone queries", "upper", "Lyu, Su & Li 2017, Theorem 5")
@given(_IN_RANGE, **_SCALES, positives=Whole(1, 3), queries=Drawn(_random_monotone_queries))
@oracle(truths.sparse_vector_epsilon, points=25)
@printed("1", threshold_scale=2.0, query_scale=2.0, positives=1)
def sparse_vector_monotone(*, threshold_scale, query_scale, positives=1):
    r"""\text{all answers change in the same direction}:\quad
    \varepsilon = \frac1{b_1} + \frac c{b_2}

    Every answer rises, or every answer falls, when a record is added.
    queries: answers less the threshold, and how much they differ for a neighbour"""
    return 1 / threshold_scale + positives / query_scale


@formula("G-H2", "A broken sparse vector: no noise on the answers", "identity",
         "Lyu, Su & Li 2017, Figure 2, Algorithm 5, and Theorem 6")
@given("threshold_scale > 0", threshold_scale=Log(0.02, 50.0))
@oracle(lambda threshold_scale: math.exp(truths.log_chance((False, True), [0.0, 1.0],
        threshold_scale=threshold_scale, query_scale=0.0)), unsafe=None)
@printed("0.19673467", threshold_scale=2.0)
@wrong("private", "Two answers on both sides of one threshold tell which of them is larger.",
       claim="2 / threshold_scale",
       says=r"b_1 = 2/\varepsilon,\ b_2 = 0 \Rightarrow \varepsilon\text{-DP}", kind="upper",
       met="Lyu, Su & Li 2017, Algorithm 5", oracle=lambda threshold_scale:
       truths.sparse_vector_epsilon(queries=([0.0, 1.0], [1.0, -1.0]),
       threshold_scale=threshold_scale, query_scale=0.0, positives=2))
def chance_without_query_noise(*, threshold_scale):
    r"""\text{answers } (0,1) \text{ to the threshold } \mathrm{Lap}(b_1):\quad
    P(\bot,\top) = \tfrac12\big(1 - e^{-1/b_1}\big),\text{ and } 0 \text{ for } (1,0)
    \ \Rightarrow\ \varepsilon = \infty"""
    return -0.5 * math.expm1(-1 / threshold_scale)


@formula("G-H2b", "A broken sparse vector: no end after c positives", "lower",
         "Lyu, Su & Li 2017, Figure 2, Algorithm 6, and Theorem 7")
@given("threshold_scale > 0 and query_scale > 0 and pairs >= 1", **_SCALES, pairs=Whole(1, 30))
@oracle(lambda threshold_scale, query_scale, pairs: truths.log_ratio([False] * pairs + [True] *
        pairs, np.repeat([1.0, -1.0], pairs), threshold_scale=threshold_scale,
        query_scale=query_scale), unsafe="larger")
@printed("5", "9.276119196", threshold_scale=2.0, query_scale=2.0, pairs=10)
@wrong("private", "Every answer above the threshold costs anew; there must be an end to them.",
       claim="1 / threshold_scale + 1 / query_scale",
       says=r"\varepsilon = \frac1{b_1} + \frac1{b_2} \text{ for any number of positives}",
       kind="upper", met="Lyu, Su & Li 2017, Algorithm 6")
def epsilon_without_end(*, query_scale, pairs):
    r"""m \text{ answers below, then } m \text{ above}:\quad
    \ln\frac{P(\bot^m\top^m)}{P'(\bot^m\top^m)} \ge \frac m{b_2}

    pairs: m, half of the number of queries"""
    return pairs / query_scale


@formula("G-H2c", "A broken sparse vector: the noisy answer is released", "identity",
         "Lyu, Su & Li 2017, Figure 2, Algorithm 3, and Section 3.2")
@given("threshold_scale > 0 and query_scale > 0 and queries >= 1", **_SCALES, queries=Whole(1, 100))
@oracle(lambda threshold_scale, query_scale, queries: truths.log_ratio([False] * queries,
        np.ones(queries), threshold_scale=threshold_scale, query_scale=query_scale, highest=0.0),
        unsafe="larger")
@printed("25", "25.00000", threshold_scale=2.0, query_scale=4.0, queries=100)
@wrong("private", "A number above it says where the threshold is not; then every answer counts.",
       claim="1 / threshold_scale + 1 / query_scale", kind="upper",
       met="Lyu, Su & Li 2017, Algorithm 3")
def epsilon_of_released_answer(*, query_scale, queries):
    r"""m \text{ answers below, then one above and seen to be } 0:\quad
    \ln\frac{p(\bot^m, 0)}{p'(\bot^m, 0)} = \frac m{b_2}"""
    return queries / query_scale


@formula("G-H3", "Sparse vector: how to split the budget", "identity",
         "Lyu, Su & Li 2017, Section 4.2")
@given("positives >= 1", positives=Whole(1, 10_000), monotone=Choice(False, True))
@oracle(truths.best_split, tolerance=1e-5, unsafe=None, points=40)
@printed("1.5874011", positives=1, monotone=False)
@printed("13.572088", positives=25, monotone=False)
@wrong("half-half", "Private, but the answers are noisier than they need to be.", claim="1.0")
@wrong("same-for-monotone", "Monotone queries need half the noise on the answers.",
       claim="(2 * positives)**(2 / 3)", says=r"(2c)^{2/3} \text{ for all queries}")
def sparse_vector_split(*, positives, monotone=False):
    r"""\varepsilon_2/\varepsilon_1 = (2c)^{2/3}\quad
    (\text{monotone queries: } c^{2/3}),\quad
    b_1 = \frac1{\varepsilon_1},\ b_2 = \frac{2c}{\varepsilon_2}"""
    return ((1 if monotone else 2) * positives) ** (2 / 3)
