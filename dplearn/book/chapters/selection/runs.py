"""The best of several runs, the last iterate of one, and steps that depend on earlier ones."""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dplearn.book.chapters.divergences.pairs import max_divergence, renyi
from dplearn.book.chapters.selection import truths
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Derived, Distribution, Linear, Log, Parameters, Whole
from dplearn.book.kit.entry import formula, given, oracle, printed, wrong
from dplearn.ground import validate

_SCORES = {"p": Distribution(4, zeros=False), "q": Distribution(4, zeros=False)}
_COUNT = {"shape": Linear(-0.9, 4.0, also=(0.0, 1.0)), "stop": Log(0.01, 0.95)}


def _both(orders: str) -> Derived:
    """Divergence of p and q, in the worse order of the two."""

    def make(drawn: Parameters) -> float:
        p, q, order = drawn["p"], drawn["q"], drawn[orders]
        return max(renyi(p, q, order=order), renyi(q, p, order=order))

    return Derived(make)


@formula("G-S1", "Private selection: RDP of the best of a random number of runs", "upper",
         "Papernot & Steinke 2022, Theorem 2")
@given("order > 1 and other_order >= 1 and shape > -1 and 0 < stop and stop < 1", **_SCORES,
       order=Log(1.1, 50.0), epsilon=_both("order"), other_order=Log(1.0, 200.0),
       other_epsilon=_both("other_order"), **_COUNT)
@oracle(truths.best_renyi, points=60)
@printed("0.726101297", order=10.0, epsilon=0.05, other_order=20.0, other_epsilon=0.1, shape=1.0,
         stop=0.1)
@wrong("free", "The choice among runs leaks too; tuning must be paid for.", claim="epsilon")
@wrong("no-count",
       "At a finite order a rare score turns up the more often the more runs there are.",
       claim="epsilon + (1 + shape) * (1 - 1 / other_order) * other_epsilon",
       says=r"\varepsilon' = \varepsilon(\lambda) + "
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
    3\varepsilon \text{ for geometric } K,\ 2\varepsilon \text{ for logarithmic } K

    shape: eta > -1 of K's law, as in `selection_rdp`"""
    return (2 + shape) * epsilon


@formula("G-S2", "Amplification by iteration", "upper",
         "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23")
@given("order > 1 and 0 <= smoothness and step_size * smoothness <= 2 and 1 <= record and record "
       "<= steps", order=Log(1.2, 20.0), lipschitz=Log(0.1, 2.0), noise_std=Log(0.5, 3.0),
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
       given="order > 1 and 0 <= smoothness and 1 <= record and record <= steps",
       order=Log(1.5, 4.0), lipschitz=Log(0.5, 1.0), noise_std=Choice(0.1),
       smoothness=Log(1.0, 10.0), steps=Whole(50, 500), record=Choice(1), width=Linear(3.0, 5.0))
@wrong("all-iterates", "Between two iterates that are seen there is the noise of one step only.",
       says=r"\text{the same when every } w_i \text{ is released}", oracle=lambda order, lipschitz,
       noise_std: oracles.density_renyi(oracles.log_normal(lipschitz, noise_std),
       oracles.log_normal(-lipschitz, noise_std), order, -1e3 * (lipschitz + noise_std), 1e3 *
       (lipschitz + noise_std)))
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
