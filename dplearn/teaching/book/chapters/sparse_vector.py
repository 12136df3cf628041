"""The sparse vector technique, its guarantee and its broken variants."""

from scipy.special import expit

from dplearn.core.solve import maximise
from dplearn.teaching.book.chapters.choices import laplace_log_cdf
from dplearn.teaching.book.kit.vocabulary import *

_SCALES = {"threshold_scale": Log(0.2, 20.0), "query_scale": Log(0.2, 20.0)}
_AT_THE_EDGE = {"queries": np.array([[0.0, 0.0], [1.0, -1.0]]), "monotone": False}


# Noisy answers are compared to one noisy threshold, whose true value is 0.
def log_chance(outcome, answers, *, threshold_scale, query_scale, highest=math.inf):
    """Return the log probability that exactly the answers marked True come out above.

    The integral over the threshold's noise ends at `highest`; a query scale of 0 means answers
    without noise.
    """
    answers = np.asarray(answers, dtype=float)
    sign = np.where(outcome, -1.0, 1.0)[:, None]

    def log_f(z: NDArray) -> NDArray:
        gap = sign * (z - answers[:, None])
        clear = np.where(gap > 0, 0.0, -math.inf)
        chances = laplace_log_cdf(gap / query_scale) if query_scale else clear
        return oracles.log_laplace(0.0, threshold_scale)(z) + chances.sum(axis=0)

    far = 60 * threshold_scale + float(np.max(np.abs(answers)))
    return oracles.log_integral(log_f, -far, min(far, highest), kinks=[0.0, *answers])


def log_ratio(outcome, moves, *, threshold_scale, query_scale, highest=math.inf) -> float:
    """Return the log ratio of an outcome's probabilities for answers 0 and for `moves`."""
    chance = partial(log_chance, outcome, threshold_scale=threshold_scale,
                     query_scale=query_scale, highest=highest)
    return chance(np.zeros(len(outcome))) - chance(moves)


def sparse_vector_epsilon(*, queries, threshold_scale, query_scale, positives):
    """Return the largest log ratio over outcomes with at most `positives` answers above.

    `queries` holds the answers for one dataset, and their changes for its neighbour.
    """
    chance = partial(log_chance, threshold_scale=threshold_scale, query_scale=query_scale)
    pair = np.asarray(queries[0], dtype=float), np.add(*queries)
    ratios = [-math.inf]
    for outcome in outcomes(pair[0].size, positives):
        log_p, log_q = (chance(outcome, x[: len(outcome)]) for x in pair)
        if log_p > -math.inf:
            ratios.append(log_p - log_q)
    return max(ratios)


def outcomes(size: int, positives: int) -> set[tuple[bool, ...]]:
    """Return all outcomes of the queries, each ending at the last allowed positive."""
    ways = set()
    for outcome in itertools.product((False, True), repeat=size):
        above = list(itertools.accumulate(map(int, outcome)))
        ways.add(outcome[: above.index(positives) + 1] if positives in above else outcome)
    return ways


def best_split(*, positives, monotone):
    """Return the ratio with the smallest variance of noisy answer minus noisy threshold."""

    def precision(log_ratio: NDArray) -> NDArray:
        first = expit(-log_ratio)
        scales = 1 / first, (1 if monotone else 2) * positives / (1 - first)
        return -np.log(np.sum(np.square(scales), axis=0))

    return math.exp(maximise(precision, lower=-1.0, upper=10.0, shape=()))


def _random_queries(rng: Generator, query_scale: float) -> NDArray:
    """Return two rows: answers around the threshold, and their changes in [-1, 1]."""
    count = rng.integers(1, 5)
    spread = rng.choice([0.0, 1.0, 8.0]) * query_scale
    if rng.random() < 0.3:  # worst case: equal answers, the last one changing the other way
        count, spread = rng.integers(2, 11), 0.0
    answers = spread * rng.uniform(-1, 1, size=count).round(2) + 0.0  # no -0
    changes = np.where(np.arange(count) < count - 1, 1.0, -1.0)
    if rng.random() < 0.5:
        changes = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=count)
    return np.array([answers, changes * rng.choice([-1.0, 1.0])])


@formula("G-H1", "Sparse vector: above a noisy threshold")
@given("threshold_scale > 0 and query_scale > 0 and positives >= 1", _SCALES, positives=Whole(1, 3),
       queries=Drawn(_random_queries),
       monotone=Derived(lambda queries: np.ptp(np.sign(queries[1])) < 2))
@upper("Dwork & Roth 2014, Algorithm 1 and Theorem 3.23", sparse_vector_epsilon, points=25)
@printed("1", "0.4242490722", at=_AT_THE_EDGE, threshold_scale=2.0, query_scale=4.0, positives=1)
@printed("3.25", "1.1648439217", at=_AT_THE_EDGE, threshold_scale=4.0, query_scale=4 / 3,
         positives=2)
@wrong("one-scale-for-both", "Threshold and answer move against each other: it is 3 epsilon.",
       "1 / threshold_scale", says=r"b_1 = b_2 = 1/\varepsilon \Rightarrow \varepsilon\text{-DP}",
       query_scale=Derived(lambda threshold_scale: threshold_scale), positives=Choice(1))
@wrong("query-noise-once",
       "With a quarter of epsilon for the threshold it is (1 + 6c)/4 times epsilon.",
       "1 / threshold_scale + 1 / query_scale", met="Lyu, Su & Li 2017, Algorithm 4")
@wrong("one-sided", "It needs answers that all move in one direction.",
       "1 / threshold_scale + positives / query_scale", threshold_scale=Log(1.0, 20.0),
       query_scale=Log(0.5, 2.0), positives=Choice(1))
def sparse_vector(*, threshold_scale, query_scale, positives=1, monotone=False):
    r"""\text{threshold} + \mathrm{Lap}(b_1),\ \text{answers} + \mathrm{Lap}(b_2),
    \text{ until } c \text{ lie above}:\quad
    \varepsilon = \frac1{b_1} + \frac{2c}{b_2}\quad
    \Big(c=1,\ b_1=\frac2\varepsilon,\ b_2=\frac4\varepsilon\Big);\quad
    c \text{ for } 2c \text{ if all answers move one way}

    Monotone queries, of which every answer rises or every answer falls when a record is added,
    are Theorem 5 of Lyu, Su & Li (2017).
    queries: answers less the threshold, and how much they differ for a neighbour"""
    return 1 / threshold_scale + (1 if monotone else 2) * positives / query_scale


@formula("G-H2", "A broken sparse vector: no noise on the answers")
@given("threshold_scale > 0", threshold_scale=Log(0.02, 50.0))
@identity("Lyu, Su & Li 2017, Figure 2, Algorithm 5, and Theorem 6", lambda threshold_scale:
          math.exp(log_chance((False, True), [0.0, 1.0], threshold_scale=threshold_scale,
          query_scale=0.0)), unsafe=None)
@printed("0.19673467", threshold_scale=2.0)
@wrong("private", "Two answers on both sides of one threshold tell which of them is larger.",
       "2 / threshold_scale",
       says=r"b_1 = 2/\varepsilon,\ b_2 = 0 \Rightarrow \varepsilon\text{-DP}", kind="upper",
       met="Lyu, Su & Li 2017, Algorithm 5", oracle=lambda threshold_scale:
       sparse_vector_epsilon(queries=([0.0, 1.0], [1.0, -1.0]), threshold_scale=threshold_scale,
       query_scale=0.0, positives=2))
def chance_without_query_noise(*, threshold_scale):
    r"""\text{answers } (0,1) \text{ to the threshold } \mathrm{Lap}(b_1):\quad
    P(\bot,\top) = \tfrac12\big(1 - e^{-1/b_1}\big),\text{ and } 0 \text{ for } (1,0)
    \ \Rightarrow\ \varepsilon = \infty"""
    return -0.5 * math.expm1(-1 / threshold_scale)


@formula("G-H2b", "A broken sparse vector: no end after c positives")
@given("threshold_scale > 0 and query_scale > 0 and pairs >= 1", _SCALES, pairs=Whole(1, 30))
@lower("Lyu, Su & Li 2017, Figure 2, Algorithm 6, and Theorem 7", lambda threshold_scale,
       query_scale, pairs: log_ratio([False] * pairs + [True] * pairs, np.repeat([1.0, -1.0],
       pairs), threshold_scale=threshold_scale, query_scale=query_scale), unsafe="larger")
@printed("5", "9.276119196", threshold_scale=2.0, query_scale=2.0, pairs=10)
@wrong("private", "Every answer above the threshold costs anew; there must be an end to them.",
       "1 / threshold_scale + 1 / query_scale",
       says=r"\varepsilon = \frac1{b_1} + \frac1{b_2} \text{ for any number of positives}",
       kind="upper", met="Lyu, Su & Li 2017, Algorithm 6")
def epsilon_without_end(*, query_scale, pairs):
    r"""m \text{ answers below, then } m \text{ above}:\quad
    \ln\frac{P(\bot^m\top^m)}{P'(\bot^m\top^m)} \ge \frac m{b_2}

    pairs: m, half of the number of queries"""
    return pairs / query_scale


@formula("G-H2c", "A broken sparse vector: the noisy answer is released")
@given("threshold_scale > 0 and query_scale > 0 and queries >= 1", _SCALES, queries=Whole(1, 100))
@identity("Lyu, Su & Li 2017, Figure 2, Algorithm 3, and Section 3.2", lambda threshold_scale,
          query_scale, queries: log_ratio([False] * queries, np.ones(queries),
          threshold_scale=threshold_scale, query_scale=query_scale, highest=0.0), unsafe="larger")
@printed("25", "25.00000", threshold_scale=2.0, query_scale=4.0, queries=100)
@wrong("private", "A number above it says where the threshold is not; then every answer counts.",
       "1 / threshold_scale + 1 / query_scale", kind="upper", met="Lyu, Su & Li 2017, Algorithm 3")
def epsilon_of_released_answer(*, query_scale, queries):
    r"""m \text{ answers below, then one above and seen to be } 0:\quad
    \ln\frac{p(\bot^m, 0)}{p'(\bot^m, 0)} = \frac m{b_2}"""
    return queries / query_scale


@formula("G-H3", "Sparse vector: how to split the budget")
@given("positives >= 1", positives=Whole(1, 10_000), monotone=Choice(False, True))
@identity("Lyu, Su & Li 2017, Section 4.2", best_split, tolerance=1e-5, unsafe=None, points=40)
@printed("1.5874011", positives=1, monotone=False)
@wrong("half-half", "Private, but the answers are noisier than they need to be.", "1.0")
@wrong("same-for-monotone", "Monotone queries need half the noise on the answers.",
       "(2 * positives)**(2 / 3)", says=r"(2c)^{2/3} \text{ for all queries}")
def sparse_vector_split(*, positives, monotone=False):
    r"""\varepsilon_2/\varepsilon_1 = (2c)^{2/3}\quad
    (\text{monotone queries: } c^{2/3}),\quad
    b_1 = \frac1{\varepsilon_1},\ b_2 = \frac{2c}{\varepsilon_2}"""
    return ((1 if monotone else 2) * positives) ** (2 / 3)
