"""Sensitivities of sums and means, and data-dependent noise."""

from dplearn.teaching.book.chapters.choices import laplace_log_cdf
from dplearn.teaching.book.kit.vocabulary import *

_BOUNDED = {"lower": Linear(-10.0, 0.0), "upper": Linear(1.0, 20.0)}
_SMOOTH_RANGE = "epsilon > 0 and beta > 0 and 2*beta*log(2) < epsilon"
_ADJACENCY = Choice("add_remove", "replace_one")
_ANY_SIZE = ("mean of values in [m, M], one record added or removed",
             "[m, M] 内数值的均值，增删一条记录", "sensitivity",
             "mean averag add remov drop join leav unbounded 均值 增删")


def propose_test_release_delta(*, at, epsilon, threshold):
    """Return the largest delta at epsilon `at` of propose-test-release with binned outputs.

    If no record must change to reach a dataset of large sensitivity, neighbours' answers may differ
    by any amount, else by at most the proposed bound, here 1.
    """
    above = lambda x: np.exp(laplace_log_cdf(-np.asarray(x)))
    worst = float(above(epsilon * threshold))
    edges = epsilon * np.concatenate([[-np.inf], np.linspace(0.0, 1.0, 65), [np.inf]])
    value, moved = (-np.diff(above(edges - shift)) for shift in (0.0, epsilon))
    near = round(threshold)
    for d in {0, 1, 2, *range(max(near - 2, 0), near + 3)}:
        gap = epsilon * (threshold - np.array([d, d + 1.0]))
        passes, fails = above(gap), above(-gap)
        for a, b in ((0, 1), (1, 0), (1, 1)):
            p = np.append(passes[a] * value, fails[a])
            q = np.append(passes[b] * moved, fails[b])
            worst = max(worst, float(np.sum(np.maximum(p - math.exp(at) * q, 0.0))))
    return worst


def needed_test_threshold(*, epsilon, delta):
    """Return the smallest threshold at which propose-test-release is (2 epsilon, delta)-DP."""
    delta_with = partial(propose_test_release_delta, at=2 * epsilon, epsilon=epsilon)
    enough = lambda threshold: delta_with(threshold=threshold) <= delta
    return oracles.smallest(enough, low=1e-9 / epsilon, high=60 / epsilon, rtol=1e-9)


def released_epsilon(*, epsilon, delta):
    """Return epsilon at `delta` of propose-test-release with threshold ln(1/delta)/epsilon."""
    threshold = -math.log(delta) / epsilon
    delta_at = partial(propose_test_release_delta, epsilon=epsilon, threshold=threshold)
    enough = lambda at: delta_at(at=at) <= delta
    return oracles.smallest(enough, low=0.1 * epsilon, high=2.1 * epsilon, rtol=1e-9)


def clipped_mean_change(*, fractions, upper):
    """Return the largest change of the mean if a value is removed, or one in [0, upper] added."""
    values = upper * np.asarray(fractions)
    others = [np.delete(values, i) for i in range(values.size)]
    others += [np.append(values, x) for x in np.linspace(0.0, upper, 5)]
    return max(abs(float(np.mean(x) - np.mean(values))) for x in others)


def median_by_force(values, beta):
    """Return the smooth sensitivity of the median, trying all ways to move values to 0 or 1."""
    choices = np.array(list(itertools.product((0, 1, 2), repeat=values.size)))
    data = np.where(choices < 2, choices, values)
    local = np.zeros(len(data))
    for i, end in itertools.product(range(values.size), (0.0, 1.0)):
        changed = data.copy()
        changed[:, i] = end
        local = np.maximum(local, np.abs(np.median(changed, axis=1) - np.median(data, axis=1)))
    return float(np.max(np.exp(-beta * np.sum(choices < 2, axis=1)) * local))


def dilated_laplace_delta(*, epsilon, beta, noise=2.0):
    """Return the largest delta at `epsilon` of Laplace noise with scale noise * S / epsilon.

    The smooth sensitivity S is 1 on one dataset and exp(beta) or exp(-beta) on its neighbour; the
    answers differ by 0 or by the smaller S.
    """
    deltas = []
    for ratio, apart in itertools.product((math.exp(beta), math.exp(-beta)), (0, 1)):
        scales, moved = (noise / epsilon, noise * ratio / epsilon), apart * min(1.0, ratio)
        laws = oracles.log_laplace(0.0, scales[0]), oracles.log_laplace(moved, scales[1])
        far = 200 * max(scales) + 1
        deltas.append(oracles.density_delta(*laws, epsilon, -far, far, kinks=[0.0, moved]))
    return max(deltas)


def largest_change(statistic, data, lower, upper, adjacency="replace_one"):
    """Return the largest change of a statistic if a value joins `data`, or this value changes."""
    after = [statistic([*data, x]) for x in np.linspace(lower, upper, 5)]
    before = [statistic(data)] if adjacency == "add_remove" else after
    return max(max(after) - min(before), max(before) - min(after))


def by_norm(vectors: NDArray, norm: float) -> NDArray:
    """Scale vectors that are longer than `norm` down to that norm."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors * np.minimum(1.0, norm / lengths)


def clipped_sum_change(*, max_norm, dimension, adjacency, clip=by_norm):
    """Return the largest L2 change of a sum if a clipped grid vector is added or replaced."""
    signs = np.array(list(itertools.product((-3.0, 0.5, 3.0), repeat=dimension))) * max_norm
    clipped = clip(signs, max_norm)
    others = clipped if adjacency == "replace_one" else np.zeros((1, dimension))
    return float(np.max(np.linalg.norm(clipped[:, None] - others, axis=2)))


def mean_change(*, lower, upper, records, adjacency):
    """Return the largest change of the mean if a value is added to equal values, or replaced."""
    sizes = [records] if adjacency == "replace_one" else range(2, 6)
    return max(largest_change(np.mean, [x] * (n - 1), lower, upper, adjacency)
               for n, x in itertools.product(sizes, np.linspace(lower, upper, 3)))


@formula("G-B15", "Propose-test-release: the threshold")
@given("epsilon > 0 and 0 < delta < 0.5", epsilon=Log(0.05, 5.0), delta=Log(1e-10, 0.4))
@upper("Vadhan 2017, Section 3.2", needed_test_threshold, points=40)
@printed("23.02585", "21.63956", epsilon=0.5, delta=1e-5)
@wrong("half-threshold", "At distance 0 the test is then passed with probability sqrt(delta/8).",
       "log(2 / delta) / (2 * epsilon)")
@wrong("one-epsilon", "The distance and the value each cost epsilon.", "epsilon",
       says=r"\text{with threshold } \ln(1/\delta)/\varepsilon \text{ it is } "
       r"(\varepsilon,\delta)\text{-DP}", oracle=released_epsilon)
def propose_test_release_threshold(*, epsilon, delta):
    r"""\hat D = D + \mathrm{Lap}(1/\varepsilon) > \tau = \frac{\ln(1/\delta)}\varepsilon,
    \text{ then } f + \mathrm{Lap}(b/\varepsilon):\ (2\varepsilon,\delta)\text{-DP}"""
    return -math.log(delta) / epsilon


def _random_fractions(rng: Generator) -> NDArray:
    """Return random fractions: multiples of 0.1, or random zeros and ones, or a 1 and zeros."""
    kind, n = rng.integers(3), rng.integers(2, 21)
    if kind == 0:
        return rng.integers(0, 11, n) / 10
    return (rng.random(n) < 0.5 if kind == 1 else np.arange(n) == 0).astype(float)


@formula("G-B16", "Local sensitivity of a clipped mean")
@given("upper > 0 and count >= 2", fractions=Drawn(_random_fractions),
       count=Derived(lambda fractions: fractions.size), upper=Log(0.1, 100.0))
@upper("Nissim, Raskhodnikova & Smith 2007, Definition 2.1", clipped_mean_change)
@setting("mean of n values in [0, u], one record added or removed",
         "[0, u] 内 n 个数的均值，增删一条记录", "sensitivity", "mean average add remov 均值",
         below="exact", count=Whole(2, 5000), upper=NOISE)
@printed("0.1", "0.1", count=10, upper=1.0, fractions=np.eye(10)[0])
@wrong("joining-only", "That is for a value that joins; one that leaves can move the mean by u/n.",
       "upper / (count + 1)")
def clipped_mean_sensitivity(*, count, upper):
    r"""x_i \in [0,u]:\quad \max_{x'\sim x}\,\lvert\bar x - \bar x'\rvert \le \frac un
    \text{ when a value joins or leaves}

    fractions: the values, in units of u
    count: number of values n before the change
    upper: u; values lie in [0, u]"""
    return upper / count


def _median_local(values: NDArray) -> NDArray:
    """Return the largest local sensitivity of the median within k replacements, k = 0, ..., n."""
    n = values.size
    x = np.concatenate([np.zeros(n + 1), values, np.ones(n + 1)])
    m = n + 1 + n // 2
    windows = ([x[m + t] - x[m + t - k - 1] for t in range(k + 2)] for k in range(n + 1))
    return np.array([max(window) for window in windows])


@formula("G-B17", "Noise by smooth sensitivity")
@given("epsilon > 0 and 0 < delta < 1", values=Drawn(lambda rng: np.sort(np.round(np.minimum(
       rng.random() + 0.05 * rng.random(n) if (n := rng.choice([3, 5])) and rng.random() < 0.4
       else rng.random(n), 1.0), 2))),
       local_at=Derived(_median_local), epsilon=Log(0.05, 10.0), delta=Log(1e-9, 0.9))
@identity("Nissim, Raskhodnikova & Smith 2007, Corollary 2.4", lambda values, epsilon, delta: 2 /
          epsilon * median_by_force(values, beta=epsilon / (2 * math.log(2 / delta))), points=60)
@printed("0.00614212886186", local_at=100 / (32562.0 - np.arange(201)), epsilon=1.0,
         delta=1 / 32561**2)
@wrong("from-one", "Without k = 0 it can be smaller than the local sensitivity itself.",
       lambda local_at, epsilon, delta: smooth_sensitivity_scale(local_at=np.append(0.0,
       local_at[1:]), epsilon=epsilon, delta=delta), says=r"S = \max_{k\ge1}e^{-\beta k}A(x,k)")
def smooth_sensitivity_scale(*, local_at, epsilon, delta):
    r"""\mathrm{Lap}(2S/\varepsilon),\quad S = \max_{k\ge0}e^{-\beta k}A(x,k),\quad
    \beta = \frac\varepsilon{2\ln(2/\delta)}

    values: data set in [0, 1] whose median is released
    local_at: A(x, k): largest local sensitivity of all data sets within k changes"""
    beta, k = epsilon / (2 * math.log(2 / delta)), np.arange(np.size(local_at))
    return 2 / epsilon * float(np.max(np.exp(-beta * k) * local_at))


@formula("G-B17b", "What smooth noise guarantees")
@given(_SMOOTH_RANGE + " and epsilon*(expm1(beta) - beta) <= 2*beta**2", epsilon=Log(0.01, 4.0),
       delta=Log(1e-12, 0.9),
       beta=Derived(lambda epsilon, delta: epsilon / (2 * math.log(2 / delta))))
@upper("Nissim, Raskhodnikova & Smith 2007, Corollary 2.4", dilated_laplace_delta, absolute=0.0,
       points=40)
@wrong("any-epsilon", "Where S may change by much, the tail of the wider noise tells which it is.",
       says=r"\text{the same for every } \varepsilon > 0", given=_SMOOTH_RANGE,
       epsilon=Log(0.1, 40.0))
@wrong("once", "Half of epsilon pays for the shift, half for the change of S.",
       says=r"\mathrm{Lap}(S/\varepsilon) \text{ at the same } \beta",
       oracle=partial(dilated_laplace_delta, noise=1.0))
def smooth_sensitivity_delta(*, epsilon, beta):
    r"""\mathrm{Lap}(2S/\varepsilon),\ S \text{ } \beta\text{-smooth}:\quad
    (\varepsilon,\delta)\text{-DP with } \delta = 2e^{-\varepsilon/(2\beta)}

    beta: ln S changes by at most beta between neighbours"""
    return 2 * math.exp(-epsilon / (2 * beta))


@formula("G-B18", "Sensitivity of a clipped sum")
@given("lower <= upper", lower=Linear(-100.0, 100.0, also=(0.0,)),
       upper=Linear(-100.0, 100.0, also=(0.0,)), adjacency=_ADJACENCY)
@identity("Dwork & Roth 2014, Definition 3.1", lambda lower, upper, adjacency:
          max(largest_change(math.fsum, [x], lower, upper, adjacency)
          for x in np.linspace(lower, upper, 5)))
@setting("sum of values in [l, u], one record replaced", "[l, u] 内数值之和，替换一条记录",
         "sensitivity", "replac 替换", into={"adjacency": "replace_one"}, lower=Linear(-5.0, -0.1),
         upper=Log(0.1, 30.0))
@setting("sum of values in [l, u], one record added or removed", "[l, u] 内数值之和，增删一条记录",
         "sensitivity", "add remov 增删", into={"adjacency": "add_remove"},
         lower=Linear(-5.0, -0.1), upper=Log(0.1, 30.0))
@printed("125", lower=50.0, upper=125.0, adjacency="add_remove")
@printed("75", lower=50.0, upper=125.0, adjacency="replace_one")
@wrong("difference", "That is for replacing a record; one that joins brings its whole value.",
       "upper - lower", says=r"\Delta = u - l \text{ (add/remove)}", given="lower < upper",
       adjacency=Choice("add_remove"))
@wrong("same-for-replacing", "From -u to u it is twice as much.", "max(abs(lower), abs(upper))",
       says=r"\Delta = \max(|l|,|u|) \text{ (replace one)}", adjacency=Choice("replace_one"))
@wrong("any-pair", "Only neighbours count; over all pairs it grows with the number of records.",
       "count * (upper - lower)", adjacency=Choice("replace_one"), count=Whole(2, 1000),
       says=r"\Delta = \max_{d,d'}\lvert f(d) - f(d')\rvert \text{ over all pairs of data sets}")
def sum_sensitivity(*, lower, upper, adjacency):
    r"""x_i \in [l,u]:\quad \Delta = \max(|l|,|u|) \text{ (add/remove)},\quad
    u - l \text{ (replace one)}"""
    return upper - lower if adjacency == "replace_one" else max(abs(lower), abs(upper))


@formula("G-B18b", "Sensitivity of a sum of clipped vectors")
@given("max_norm > 0", max_norm=Log(0.01, 100.0), dimension=Whole(1, 4), adjacency=_ADJACENCY)
@identity("Abadi et al. 2016, Algorithm 1", clipped_sum_change, points=60)
@setting("sum of clipped gradients, one record added or removed", "裁剪梯度之和，增删一条记录",
         "sensitivity", "add remov 增删", into=lambda max_grad_norm: {"max_norm": max_grad_norm,
         "adjacency": "add_remove"}, max_grad_norm=NOISE)
@setting("sum of clipped gradients over a fixed number B, one record added or removed",
         "裁剪梯度之和除以固定的 B，增删一条记录", "sensitivity", "fixed public constant 固定",
         into=lambda max_grad_norm: {"max_norm": max_grad_norm, "adjacency": "add_remove"},
         value=lambda value, batch, **_: value / batch, max_grad_norm=NOISE, batch=Whole(2, 300))
@setting("sum of clipped gradients, one record replaced", "裁剪梯度之和，替换一条记录",
         "sensitivity", "replac another 替换", into=lambda max_grad_norm: {"max_norm":
         max_grad_norm, "adjacency": "replace_one"}, max_grad_norm=NOISE)
@printed("1.5", max_norm=1.5, dimension=3, adjacency="add_remove")
@printed("3", max_norm=1.5, dimension=3, adjacency="replace_one")
@wrong("coordinatewise", "A cube is not a ball: its corners are sqrt(d) C away.",
       says=r"g_i \text{ clipped to } [-C,C]^d:\ \Delta_2 = C", oracle=partial(clipped_sum_change,
       clip=lambda g, c: np.clip(g, -c, c)), adjacency=Choice("add_remove"))
@wrong("any-adjacency", "A record that is replaced by its opposite moves the sum by 2C.",
       "max_norm", says=r"\Delta_2 = C \text{ whatever the adjacency}")
def clipped_sum_sensitivity(*, max_norm, adjacency):
    r"""\lVert g_i\rVert_2 \le C:\quad \Delta_2 = C \text{ (add/remove)},\quad
    2C \text{ (replace one)}

    A record that is zeroed out counts as one that leaves.
    max_norm: C"""
    return 2 * max_norm if adjacency == "replace_one" else max_norm


@formula("G-B16b", "Sensitivity of the mean of a fixed number of bounded values")
@given("lower < upper and records >= 2", _BOUNDED, records=Whole(2, 1000))
@identity("Dwork & Roth 2014, Definition 3.1", partial(mean_change, adjacency="replace_one"))
@setting("mean of n values in [m, M], one of them replaced",
         "n 个 [m, M] 内数值的均值，替换其中一个", "sensitivity",
         "mean averag replac fixed_n known_n substitut 均值 替换")
@setting(*_ANY_SIZE, value=lambda value, lower, upper, **_: (upper - lower) / 2)
@setting(*_ANY_SIZE, into={"records": 2}, lower=Linear(-10.0, 0.0), upper=Linear(1.0, 20.0))
@printed("1.0", lower=0.0, upper=100.0, records=100)
@wrong("any-size", "If a record may come or go n is no constant: from "
       "one value to two the mean moves by half of the range.", says=r"\Delta = \frac{M-m}n \text{ "
       r"where a record is added or removed}", oracle=partial(mean_change, adjacency="add_remove"),
       records=Whole(3, 1000), met="opendp/smartnoise-core, issue 356 (2021)")
@wrong("largest-value", "What counts is the width of the range, which may hold negative values.",
       "upper / records")
def bounded_mean_sensitivity(*, lower, upper, records):
    r"""x_i \in [m, M]:\quad \Delta = \frac{M - m}n"""
    return (upper - lower) / records


@formula("G-B16c", "Sensitivity of the variance of a fixed number of bounded values")
@given("lower < upper and records >= 2", _BOUNDED, records=Whole(2, 9))
@identity("Dwork & Roth 2014, Definition 3.1", lambda lower, upper, records:
          max(largest_change(np.var, others, lower, upper)
          for others in itertools.combinations_with_replacement(np.linspace(lower, upper, 3),
          records - 1)), points=40)
@setting("variance (over n) of n values in [m, M], one of them replaced",
         "n 个 [m, M] 内数值的方差（除以 n），替换其中一个", "sensitivity",
         "varianc 方差", rare=True, records=Whole(2, 1000))
@printed("0.09", lower=0.0, upper=1.0, records=10)
@wrong("over-n", "An upper bound: n - 1 of the n distances remain.", "(upper - lower)**2 / records",
       kind="identity")
def variance_sensitivity(*, lower, upper, records):
    r"""x_i \in [m, M]:\quad \Delta = \frac{n-1}{n^2}(M-m)^2"""
    return (records - 1) / records**2 * (upper - lower) ** 2


@formula("G-B18c", "Sensitivity of counts to which a user adds several times")
@given("partitions >= 1 and contributions >= 1", partitions=Whole(1, 4), contributions=Whole(1, 4))
@identity("Wilson et al. 2020, Section 2.3, bounded contributions",
          lambda partitions, contributions: max(math.hypot(*counts) for counts in
          itertools.product(range(contributions + 1), repeat=partitions)))
@setting("L2 sensitivity of counts, a user in at most l partitions, at most c times in each",
         "计数的 L2 敏感度，用户至多在 l 个分区，每个至多 c 次", "sensitivity",
         "partition contribut L2 L_2 分区", rare=True, partitions=Whole(1, 200),
         contributions=Whole(1, 100))
@printed("6.0", partitions=4, contributions=3)
@wrong("root-of-both", "The root is of the number of partitions alone.",
       "sqrt(partitions * contributions)", contributions=Whole(2, 4))
@wrong("l1", "That is the L1 norm, by which Laplace noise is paid.", "partitions * contributions",
       partitions=Whole(2, 4))
def contribution_sensitivity(*, partitions, contributions):
    r"""\Delta_2 = \sqrt{l_0}\;l_\infty,\quad \Delta_1 = l_0\,l_\infty

    partitions: l_0, how many counts a user may change
    contributions: l_infinity, how much each of them may change"""
    return math.sqrt(partitions) * contributions
