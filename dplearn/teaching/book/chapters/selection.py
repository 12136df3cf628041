"""Private selection, the sparse vector technique, and amplification by iteration."""

from dplearn.accountants.theorems import selection_rdp
from dplearn.teaching.book.chapters.choices import laplace_log_cdf
from dplearn.teaching.book.chapters.composition import adaptive_renyi
from dplearn.teaching.book.chapters.divergences import worse_renyi
from dplearn.teaching.book.kit.vocabulary import *

_SCORES = {"p": Distribution(4, zeros=False), "q": Distribution(4, zeros=False)}
_SHAPE, _STOP = Linear(-0.9, 4.0, also=(0.0, 1.0)), Log(0.01, 0.95)


def repetitions(shape, stop):
    """Return P(K = 1), P(K = 2), ... of a truncated negative binomial K, less a negligible tail."""
    k = np.arange(1.0, math.ceil(60 / stop) + 1)
    # From k to k + 1 the weight is multiplied by (1 - stop) (k + shape) / (k + 1).
    steps = math.log1p(-stop) + np.log(k[:-1] + shape) - np.log(k[1:])
    weights = np.exp(np.concatenate([[0.0], np.cumsum(steps)]))
    return weights / weights.sum()


def best_of(scores: ArrayLike, counts: NDArray) -> NDArray:
    """Return the distribution of the best score of K runs, where P(K = k) is `counts[k - 1]`.

    `scores` are the probabilities of one run's scores, the worst first.
    """
    scores, k = np.asarray(scores, dtype=float), np.arange(1, counts.size + 1)
    below = np.minimum(np.cumsum(scores), 1.0)
    # P(all k runs <= y) - P(all k runs < y), without cancellation.
    with np.errstate(divide="ignore"):
        share = np.log1p(-scores / below)
    law = (below[:, None] ** k * -np.expm1(k * share[:, None])) @ counts
    return law / law.sum()


def best_epsilon(p: ArrayLike, q: ArrayLike, counts: NDArray) -> float:
    """Return epsilon of the best score of K runs, if one run's score has distribution p or q."""
    return oracles.worst_event_epsilon(best_of(p, counts), best_of(q, counts))


def last_iterate_renyi(*, order, lipschitz, noise_std, step_size, smoothness, steps, record, width,
                       concave=False):
    r"""Return the Rényi divergence of the last iterates if the loss used at step `record` differs.

    Noisy projected gradient descent in one dimension starts at 0 and is projected to `width`
    standard deviations of a step. Loss `record` has the derivative L or -L, every other loss
    :math:`L\tanh(\beta w/L)`. Iterates' distributions are propagated on Gauss nodes; the
    projection leaves atoms at both ends.
    """
    spread, radius = noise_std * step_size, width * step_size * noise_std
    (x, w), count = oracles.legendre(16), math.ceil(radius / spread)
    nodes, half = oracles.on_panels(-radius, radius, count, x)
    weights = np.tile(half * w, count)
    points = np.concatenate([nodes, [-radius, radius, 0.0]])

    def step(slopes: ArrayLike) -> NDArray:
        """Return the matrix of transition probabilities between `points` in one noisy step."""
        means = points - step_size * slopes
        inside = weights * np.exp(oracles.log_normal(0.0, spread)(nodes - means[:, None]))
        ends = ndtr((-radius - means) / spread), ndtr((means - radius) / spread)
        return np.column_stack([inside, *ends, np.zeros_like(means)])

    slopes = lipschitz * np.tanh(smoothness * points / lipschitz)
    ordinary, log_laws = step(-slopes if concave else slopes), []
    for slope in (lipschitz, -lipschitz):
        special, law = step(slope), np.eye(points.size)[-1]  # all mass is at 0, the last point
        for t in range(1, steps + 1):
            law = law @ (special if t == record else ordinary)
        # Masses that underflowed become 1e-300, which cannot raise the divergence noticeably.
        log_laws.append(np.log(np.maximum(law, 1e-300)))
    # Each mass is density * weight, so p^order q^(1 - order) has the quadrature weight once.
    log_p, log_q = log_laws
    return float(np.logaddexp.reduce(order * log_p + (1 - order) * log_q)) / (order - 1)


enter(selection_rdp,
      formula("G-S1", "Private selection: RDP of the best of a random number of runs",
              statement=r"\varepsilon'(\lambda) = \varepsilon(\lambda) + "
              r"(1+\eta)\Big(1-\frac1{\hat\lambda}\Big)\varepsilon(\hat\lambda) + "
              r"\frac{(1+\eta)\ln(1/\gamma)}{\hat\lambda} + \frac{\ln E[K]}{\lambda-1},\quad "
              r"P(K=k) \propto (1-\gamma)^k\prod_{j<k}\frac{j+\eta}{j+1},\ k \ge 1"),
      given("order > 1 and other_order >= 1 and shape > -1 and 0 < stop < 1", _SCORES,
            order=Log(1.1, 50.0), epsilon=worse_renyi("order"), other_order=Log(1.0, 200.0),
            other_epsilon=worse_renyi("other_order"), shape=_SHAPE, stop=_STOP),
      upper("Papernot & Steinke 2022, Theorem 2", lambda p, q, order, shape, stop:
            oracles.finite_renyi(*(best_of(scores, repetitions(shape, stop)) for scores
            in (p, q)), order=order), points=60),
      printed("0.726101297", order=10.0, epsilon=0.05, other_order=20.0, other_epsilon=0.1,
              shape=1.0, stop=0.1),
      wrong("free", "The choice among runs leaks too; tuning must be paid for.", "epsilon"),
      wrong("no-count",
            "At a finite order a rare score turns up the more often the more runs there are.",
            "epsilon + (1 + shape) * (1 - 1 / other_order) * other_epsilon",
            says=r"\varepsilon' = \varepsilon(\lambda) + "
            r"(1+\eta)(1-1/\hat\lambda)\,\varepsilon(\hat\lambda)", order=Log(1.1, 3.0),
            other_order=Log(1.0, 1.2), shape=Linear(0.0, 1.0), stop=Log(0.01, 0.1)))


@formula("G-S1b", "Private selection under pure DP")
@given("shape > -1 and epsilon >= 0", _SCORES, epsilon=Derived(partial(
       oracles.worst_event_epsilon_at, delta=0.0)), shape=_SHAPE, stop=_STOP)
@upper("Papernot & Steinke 2022, Corollary 3, after Liu & Talwar (2019), Theorem 1.3",
       lambda p, q, shape, stop: best_epsilon(p, q, repetitions(shape, stop)))
@setting("the best of a random number of runs, each ε-DP", "随机次数运行中取最佳，每次 ε-DP",
         "epsilon", "selec tun best 选择", rare=True, below=lambda: 0.0, epsilon=LOSS,
         shape=Linear(0.0, 3.0))
@setting("the best of a geometric number of runs, each ε-DP", "几何次数运行中取最佳，每次 ε-DP",
         "epsilon", "selec tun best geometric 选择", rare=True, below=lambda: 0.0,
         into={"shape": 1.0}, epsilon=LOSS)
@printed("3", "1.976852117", at=dict(zip("pq",
         oracles.randomized_response(epsilon=1.0), strict=True)), epsilon=1.0, shape=1.0, stop=0.01)
@wrong("free", "The score that wins depends on all runs.", "epsilon")
@wrong("fixed-number", "All of k runs score low with a ratio of e^(k epsilon).", "3 * epsilon",
       says=r"\text{the best of } k \text{ runs, } k \text{ fixed, costs } 3\varepsilon",
       given="epsilon >= 0", oracle=lambda p, q, runs: best_epsilon(p, q, np.eye(runs)[-1]),
       without="shape stop", runs=Whole(1, 50))
@wrong("always-two", "The cost grows with eta.", "2 * epsilon", shape=Linear(2.0, 4.0),
       stop=Log(0.01, 0.1))
def selection_epsilon(*, epsilon, shape):
    r"""\varepsilon' = (2+\eta)\,\varepsilon:\quad
    3\varepsilon \text{ for geometric } K,\ 2\varepsilon \text{ for logarithmic } K"""
    return (2 + shape) * epsilon


@formula("G-S2", "Amplification by iteration")
@given("order > 1 and lipschitz > 0 and noise_std > 0 and 0 <= smoothness and step_size * "
       "smoothness <= 2 and 1 <= record <= steps", order=Log(1.2, 20.0), lipschitz=Log(0.1, 2.0),
       noise_std=Log(0.5, 3.0), step_size=Log(0.1, 4.0), smoothness=Log(0.05, 20.0, also=(0.0,)),
       steps=Whole(1, 10), record=Whole(1, 10), width=Choice(2.0, 10.0, 30.0))
@upper("Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23", last_iterate_renyi, tolerance=1e-6,
       points=30)
@setting("the last of n noisy steps, step t uses the record, convex and smooth losses",
         "n 个带噪步骤的最后一步，第 t 步用到该记录，凸光滑损失", "rdp", "iterat hidden last 迭代",
         rare=True, below="exact", order=ORDER, lipschitz=NOISE, noise_std=NOISE, steps=Whole(10,
         50), record=Whole(1, 10))
@printed("0.1", "0.1000000", order=2.0, lipschitz=1.0, noise_std=2.0, step_size=1.0, smoothness=0.0,
         steps=10, record=1, width=40.0)
@wrong("not-convex", "Where the loss bends down, a step moves two iterates apart.",
       says=r"\text{the same for any smooth loss, such as a neural network's}",
       oracle=partial(last_iterate_renyi, concave=True), smoothness=Log(0.05, 20.0))
@wrong("any-step",
       "Beyond 2/beta the steps jump between two sides for ever and remember the first.",
       says=r"\text{the same for every step size } \eta",
       given="order > 1 and 0 <= smoothness and 1 <= record <= steps", order=Log(1.5, 4.0),
       lipschitz=Log(0.5, 1.0), noise_std=Choice(0.1), smoothness=Log(1.0, 10.0),
       steps=Whole(50, 500), record=Choice(1), width=Linear(3.0, 5.0))
@wrong("all-iterates", "Between two iterates that are seen there is the noise of one step only.",
       says=r"\text{the same when every } w_i \text{ is released}", oracle=lambda order, lipschitz,
       noise_std: oracles.normal_renyi(2 * lipschitz, noise_std, order))
def amplification_by_iteration(*, order, lipschitz, noise_std, steps, record):
    r"""D_\alpha(w_n\Vert w'_n) \le \frac{2\alpha L^2}{\sigma^2(n+1-t)},\quad w_{i+1} = \Pi\big(w_i
    - \eta(\nabla f_i(w_i) + N(0,\sigma^2))\big),\ f_t \ne f'_t

    lipschitz: L > 0, of every loss; all are convex and beta-smooth, the step size is at
      most 2/beta
    record: t in [1, n], the step that uses the record in question"""
    return 2 * order * lipschitz**2 / (noise_std**2 * (steps + 1 - record))


@formula("G-S3", "Adaptive composition: the worst state counts")
@given("order > 0", order=Log(0.1, 30.0), noise=Log(0.3, 10.0), noise_below=Log(0.3, 10.0),
       noise_above=Log(0.3, 10.0), threshold=Linear(-5.0, 10.0), log_moments=Derived(lambda order,
       noise, noise_below, noise_above: 0.5 * order * (order + 1)
       / np.square([[noise, noise], [noise_below, noise_above]])))
@upper("Abadi et al. 2016, Theorem 2.1", lambda order, noise, noise_below, noise_above, threshold:
       order * adaptive_renyi(order + 1, noise, noise_below, noise_above, threshold))
@printed("2", "1.2025012", order=1.0, noise=1.0, noise_below=1.0, noise_above=3.0, threshold=0.5,
         log_moments=np.array([[1.0, 1.0], [1.0, 1 / 9]]))
@wrong("equality", "Only the fresh noise is independent of the past: adaptivity makes it a bound.",
       says=r"K_M(\lambda) = \sum_t K_{M_t}(\lambda)", kind="identity")
@wrong("typical-state", "The supremum has to run over what was released before, too.",
       lambda log_moments: np.sum(log_moments[:, 1]),
       says=r"K_M \le \sum_t K_{M_t}(\lambda;\theta) \text{ at a typical } \theta",
       threshold=Linear(-5.0, 0.5))
@wrong("mean-state", "States with a large loss so far weigh more in the moment than in the mean.",
       lambda log_moments, threshold, noise: np.sum(log_moments @ [ndtr((threshold - 1) / noise),
       ndtr((1 - threshold) / noise)]), says=r"K_M \le \sum_t E_\theta[K_{M_t}(\lambda;\theta)]")
def adaptive_log_moment(*, log_moments):
    r"""K_M(\lambda) \le \sum_t \sup_\theta K_{M_t}(\lambda;\theta),\quad
    K(\lambda) = \ln E_P[e^{\lambda L}] = \lambda D_{\lambda+1}

    log_moments: log moment of a step in each state that earlier releases may lead to"""
    return float(np.sum(np.max(np.asarray(log_moments, dtype=float), axis=1)))


_SCALES = {"threshold_scale": Log(0.2, 20.0), "query_scale": Log(0.2, 20.0)}
_AT_THE_EDGE = {"queries": np.array([[0.0, 0.0], [1.0, -1.0]]), "monotone": False}


# Noisy answers are compared to one noisy threshold, whose true value is 0.
def log_chance(outcome, answers, threshold_scale, query_scale, highest=math.inf):
    """Return ln P(noisy answer i exceeds the noisy threshold exactly where `outcome[i]`).

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


def log_ratio(outcome, before, after, *scales, highest=math.inf) -> float:
    """Return ln(P(outcome) if the answers are `before` / P(outcome) if they are `after`)."""
    log_p, log_q = (log_chance(outcome, x[: len(outcome)], *scales, highest=highest)
                    for x in (before, after))
    return log_p - log_q if log_p > -math.inf else -math.inf


def sparse_vector_epsilon(*, queries, threshold_scale, query_scale, positives):
    """Return epsilon of the sparse vector technique that stops after `positives` positive answers.

    `queries` holds the answers for one dataset, and their changes for its neighbour.
    """
    pair = queries[0], np.add(*queries)
    return max(log_ratio(outcome, *pair, threshold_scale, query_scale)
               for outcome in outcomes(len(pair[0]), positives))


def outcomes(size: int, positives: int) -> set[tuple[bool, ...]]:
    """Return all tuples of `size` bools, each cut after True number `positives`."""
    ways = set()
    for outcome in itertools.product((False, True), repeat=size):
        above = list(itertools.accumulate(map(int, outcome)))
        ways.add(outcome[: above.index(positives) + 1] if positives in above else outcome)
    return ways


def best_split(*, positives, monotone):
    """Return the ratio of query to threshold budget that minimizes Var(answer - threshold)."""
    count = positives if monotone else 2 * positives
    # At the budget ratio exp(x), the noise scales are 1 + exp(x) and count * (1 + exp(-x)).
    precision = lambda x: -np.log((1 + np.exp(x)) ** 2 + (count * (1 + np.exp(-x))) ** 2)
    return math.exp(maximise(precision, lower=-1.0, upper=10.0, shape=()))


def _random_queries(rng: Generator, query_scale: float) -> NDArray:
    """Return random answers around the threshold 0, and their changes in [-1, 1], as two rows."""
    count = rng.integers(1, 5)
    spread = rng.choice([0.0, 1.0, 8.0]) * query_scale
    if rng.random() < 0.3:  # worst case: equal answers, all but the last change alike
        count, spread = rng.integers(2, 11), 0.0
    answers = spread * rng.uniform(-1, 1, size=count).round(2) + 0.0  # -0.0 becomes 0.0
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
    r"""\text{threshold} + \mathrm{Lap}(b_1),\ \text{answers} + \mathrm{Lap}(b_2), \text{ until } c
    \text{ lie above}:\quad \varepsilon = \frac1{b_1} + \frac{2c}{b_2}\quad \Big(c=1,\
    b_1=\frac2\varepsilon,\ b_2=\frac4\varepsilon\Big);\quad c \text{ for } 2c \text{ if all answers
    move one way}

    Monotone queries, of which every answer rises or every answer falls when a record is added,
    are Theorem 5 of Lyu, Su & Li (2017).
    queries: answers less the threshold, and how much they differ for a neighbour"""
    return 1 / threshold_scale + (1 if monotone else 2) * positives / query_scale


@formula("G-H2", "A broken sparse vector: no noise on the answers")
@given("threshold_scale > 0", threshold_scale=Log(0.02, 50.0))
@identity("Lyu, Su & Li 2017, Figure 2, Algorithm 5, and Theorem 6", lambda threshold_scale:
          math.exp(log_chance((False, True), [0.0, 1.0], threshold_scale,
          query_scale=0.0)), unsafe=None)
@printed("0.19673467", threshold_scale=2.0)
@wrong("private", "Two answers on both sides of one threshold tell which of them is larger.",
       "2 / threshold_scale", kind="upper", met="Lyu, Su & Li 2017, Algorithm 5",
       says=r"b_1 = 2/\varepsilon,\ b_2 = 0 \Rightarrow \varepsilon\text{-DP}", oracle=partial(
       sparse_vector_epsilon, queries=([0.0, 1.0], [1.0, -1.0]), query_scale=0.0, positives=2))
def chance_without_query_noise(*, threshold_scale):
    r"""\text{answers } (0,1) \text{ to the threshold } \mathrm{Lap}(b_1):\quad
    P(\bot,\top) = \tfrac12\big(1 - e^{-1/b_1}\big),\text{ and } 0 \text{ for } (1,0)
    \ \Rightarrow\ \varepsilon = \infty"""
    return -0.5 * math.expm1(-1 / threshold_scale)


@formula("G-H2b", "A broken sparse vector: no end after c positives")
@given("threshold_scale > 0 and query_scale > 0 and pairs >= 1", _SCALES, pairs=Whole(1, 30))
@lower("Lyu, Su & Li 2017, Figure 2, Algorithm 6, and Theorem 7", lambda threshold_scale,
       query_scale, pairs: log_ratio([False] * pairs + [True] * pairs, np.zeros(2 * pairs),
       np.repeat([1.0, -1.0], pairs), threshold_scale, query_scale), unsafe="larger")
@printed("5", "9.276119196", threshold_scale=2.0, query_scale=2.0, pairs=10)
@wrong("private", "Every answer above the threshold costs anew; there must be an end to them.",
       "1 / threshold_scale + 1 / query_scale", kind="upper", met="Lyu, Su & Li 2017, Algorithm 6",
       says=r"\varepsilon = \frac1{b_1} + \frac1{b_2} \text{ for any number of positives}")
def epsilon_without_end(*, query_scale, pairs):
    r"""m \text{ answers below, then } m \text{ above}:\quad
    \ln\frac{P(\bot^m\top^m)}{P'(\bot^m\top^m)} \ge \frac m{b_2}

    pairs: m, half of the number of queries"""
    return pairs / query_scale


@formula("G-H2c", "A broken sparse vector: the noisy answer is released")
@given("threshold_scale > 0 and query_scale > 0 and queries >= 1", _SCALES, queries=Whole(1, 100))
@identity("Lyu, Su & Li 2017, Figure 2, Algorithm 3, and Section 3.2", lambda threshold_scale,
          query_scale, queries: log_ratio([False] * queries, np.zeros(queries), np.ones(queries),
          threshold_scale, query_scale, highest=0.0), unsafe="larger")
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
    r"""\varepsilon_2/\varepsilon_1 = (2c)^{2/3}\quad (\text{monotone queries: } c^{2/3}),\quad b_1
    = \frac1{\varepsilon_1},\ b_2 = \frac{2c}{\varepsilon_2}"""
    return ((1 if monotone else 2) * positives) ** (2 / 3)
