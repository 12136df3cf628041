"""Slow ways to the truth about the basic mechanisms: outcomes, grids, integrals, bisection."""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from dplearn.book.kit import oracles
from dplearn.ground.solve import maximise

Law = tuple[oracles.Density, oracles.Density]


def laplace_delta(*, epsilon, ratio):
    """Hockey-stick divergence of two Laplace laws of scale 1 at distance `ratio`."""
    log_p, log_q = oracles.log_laplace(ratio), oracles.log_laplace()

    def log_f(x: NDArray) -> NDArray:
        excess = log_p(x) - log_q(x) - epsilon
        # The loss is flat outside [0, ratio]: at epsilon itself only roundings are left.
        with np.errstate(divide="ignore"):
            return log_p(x) + np.log(np.where(excess > 1e-13 * (1 + ratio), -np.expm1(-excess), 0))

    kinks = [0.0, 0.5 * (ratio + epsilon), ratio]
    return math.exp(oracles.log_integral(log_f, -80.0, ratio + 80.0, kinks=kinks))


def vector_laplace_loss(*, shift, scale):
    """Largest log ratio of the product densities on a grid that surrounds the shift."""
    shift = np.asarray(shift, dtype=float)
    reach = 2 * np.max(np.abs(shift)) + 1.0
    points = np.array(list(itertools.product(np.linspace(-reach, reach, 7), repeat=shift.size)))
    one = oracles.log_laplace(0.0, scale)
    return float(np.max(np.sum(one(points - shift), axis=1) - np.sum(one(points), axis=1)))


def geometric_difference(*, rate, value):
    """P(G - H = value) for independent G and H, P(G = k) = (1 - a) a^k with a = e^-rate."""
    k = np.arange(math.ceil(25 / rate) + 1)
    log_mass = math.log(-math.expm1(-rate)) - rate * k
    return float(np.sum(np.exp(log_mass + log_mass - rate * abs(value))))


def geometric_loss(*, rate, sensitivity):
    """Largest log ratio of the counts around two answers, one count at a time."""
    log_mass = lambda k: math.log(geometric_difference(rate=rate, value=k))
    return max(log_mass(k) - log_mass(k - sensitivity) for k in range(-3, sensitivity + 4))


def one_sided_geometric_loss(*, rate, sensitivity):
    """The same where noise is never negative; both orders of the pair."""
    k = np.arange(sensitivity + 10)
    p, q = np.exp(-rate * k), np.exp(-rate * (k - sensitivity)) * (k >= sensitivity)
    with np.errstate(divide="ignore"):
        return float(np.max(np.abs(np.log(p) - np.log(q))))


def float_laplace_loss(*, rate, sensitivity, bits):
    """The same for the floats +-ln(u)/rate and sensitivity +- ln(u)/rate, u of so many bits."""
    u = np.arange(1, 2**bits + 1) / 2**bits
    noise = np.concatenate([np.log(u), -np.log(u)]) / rate
    p, q = (np.unique(x + noise, return_counts=True) for x in (0.0, float(sensitivity)))
    if not np.array_equal(p[0], q[0]):
        return math.inf
    return float(np.max(np.abs(np.log(p[1] / q[1]))))


def trained_gaussian_delta(*, epsilon, noise_multiplier, exponent):
    """Delta of noise on a least-squares slope: (x, -1) joins (x, 1) at x = 10^-exponent."""
    x = 10.0**-exponent
    slope = lambda y: float(np.linalg.lstsq(np.full((len(y), 1), x), y, rcond=None)[0][0])
    moved = abs(slope([1.0]) - slope([1.0, -1.0]))
    return oracles.gaussian_delta(epsilon=epsilon, mu=moved / noise_multiplier)


def staircase_variance(*, epsilon):
    """Variance of the best staircase of pure DP at `epsilon`, summed step by step."""
    k = np.arange(math.ceil(60 / epsilon) + 1.0)
    high, low = np.exp(-epsilon * k), np.exp(-epsilon * (k + 1))

    def variance(width: float) -> float:
        # On [k, k + width) the density is `high`, up to k + 1 it is `low`.
        steps = (high, k, width), (low, k + width, 1 - width)
        mass = sum(w * density for density, _, w in steps)
        moment = sum(w * density * (x * x + x * w + w * w / 3) for density, x, w in steps)
        return float(np.sum(moment) / np.sum(mass))

    best = maximise(lambda w: np.asarray(-variance(float(w))), lower=0.0, upper=1.0, shape=())
    return variance(float(best))


def laplace_tail(*, scale, threshold, sides):
    """P(X > threshold) of a Laplace law, or of both its tails."""
    log_density = oracles.log_laplace(0.0, scale)
    return sides * math.exp(oracles.log_integral(log_density, threshold, threshold + 100 * scale))


def log_moment_of_size(log_weight: oracles.Density, power: int, far: float) -> float:
    """log of the integral of |x|^power under a weight with a kink at 0."""

    def log_f(x: NDArray) -> NDArray:
        with np.errstate(divide="ignore"):
            return (power * np.log(np.abs(x)) if power else 0.0) + log_weight(x)

    return oracles.log_integral(log_f, -far, far, kinks=[0.0])


def scaled_gaussian_delta(*, epsilon, noise_multiplier):
    """Hockey-stick divergence of two Gaussians at distance 1 by quadrature."""
    laws = oracles.log_normal(1.0, noise_multiplier), oracles.log_normal(0.0, noise_multiplier)
    far = (500.0 + epsilon * noise_multiplier) * noise_multiplier + 1.0
    return oracles.density_delta(*laws, epsilon, -far, far)


def selection_losses(*, rate, tables):
    """ln P(r)/Q(r) of every candidate drawn with probability in proportion to e^(rate score)."""
    weights = [[math.exp(rate * u) for u in scores] for scores in np.asarray(tables)]
    p, q = (np.array(w) / math.fsum(w) for w in weights)
    return np.log(p) - np.log(q)


def largest_selection_loss(*, rate, tables):
    """The largest over the candidates, in both orders."""
    return float(np.max(np.abs(selection_losses(rate=rate, tables=tables))))


def shortfall_probability(*, candidates, epsilon, t, spread, shape, factor=2.0):
    """P(score <= best - factor (ln R + t) / epsilon) at sensitivity 1, by enumeration.

    All but the best lie at `spread` times twice (ln R + t) / epsilon, or on the way there.
    """
    unit = (math.log(candidates) + t) / epsilon
    ramp = np.linspace(0.0, 1.0, candidates)
    scores = -spread * 2 * unit * (ramp if shape == "ramp" else ramp > 0)
    weights = [math.exp(epsilon * u / 2) for u in scores]
    low = [w for w, u in zip(weights, scores, strict=True) if u <= -factor * unit]
    return math.fsum(low) / math.fsum(weights)


def bounded_range_renyi(*, epsilon, order):
    """Largest divergence of two-point pairs with losses t and t - epsilon, over a fine grid of t.

    P has the masses p and other, and E_P[e^-L] = p e^-t + other e^(epsilon - t) = 1.
    """
    t = np.linspace(0.0, epsilon, 4001)[1:-1]
    other = np.expm1(t) / np.expm1(epsilon)
    p = np.exp(t) * np.expm1(epsilon - t) / np.expm1(epsilon)
    if order == 1:
        return float(np.max(p * t + other * (t - epsilon)))
    up, down = (order - 1) * t, (order - 1) * (t - epsilon)
    if (order - 1) * epsilon > 1:
        total = np.logaddexp(np.log(p) + up, np.log(other) + down)
    else:
        total = np.log1p(p * np.expm1(up) + other * np.expm1(down))
    return float(np.max(total)) / (order - 1)


def argmax_log_probability(scores: NDArray, rivals: NDArray, law: Law) -> float:
    """log P(the first score plus noise is the largest).

    `rivals` others have each of the different scores; `law` holds log density and log distribution
    function of the noise, of scale 1.
    """
    log_density, log_cdf = law

    def log_f(x: NDArray) -> NDArray:
        others = (n * log_cdf(x - u) for n, u in zip(rivals, scores, strict=True) if n)
        return log_density(x - scores[0]) + sum(others, np.zeros_like(x))

    low, high = np.min(scores) - 60.0, np.max(scores) + 80.0
    return oracles.log_integral(log_f, float(low), float(high), kinks=list(scores))


def laplace_log_cdf(x: NDArray) -> NDArray:
    """log P(X <= x) of a Laplace law of scale 1."""
    return np.where(x < 0, x - math.log(2), np.log1p(-0.5 * np.exp(-np.abs(x))))


def _gumbel_log_cdf(x: NDArray) -> NDArray:
    return -np.exp(np.minimum(-x, 700.0))


def _exponential_log_cdf(x: NDArray) -> NDArray:
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(-np.maximum(x, 0.0)))


LAPLACE: Law = (oracles.log_laplace(), laplace_log_cdf)
GUMBEL: Law = (lambda x: _gumbel_log_cdf(x) - x, _gumbel_log_cdf)
EXPONENTIAL: Law = (lambda x: np.where(x < 0, -np.inf, -x), _exponential_log_cdf)


def argmax_probability(*, scores, scale, law):
    """P(the first score plus noise of this scale is the largest)."""
    rivals = np.arange(len(scores)) > 0
    return math.exp(argmax_log_probability(np.asarray(scores) / scale, rivals, law))


def noisy_max_loss(*, scale, lead, others, move, other_move):
    """Largest log ratio of the winner's law with Laplace noise, in both orders.

    One candidate with score `lead` moves by `move`, the others, all 0, by `other_move`.
    """
    one, other = np.array([0, others]), np.array([others - 1, 1])

    def law(lead: float) -> NDArray:
        scores = np.array([lead, 0.0]) / scale
        laws = ((scores, one, LAPLACE), (scores[::-1], other, LAPLACE))
        return np.array([argmax_log_probability(*about) for about in laws])

    return float(np.max(np.abs(law(lead) - law(lead + move - other_move))))


def distance_score_change(*, stretch, sensitivity):
    """The most that -stretch |answer - r| changes with the answer, over a grid of both."""
    r = np.linspace(-3 * sensitivity, 3 * sensitivity, 61)
    answers = np.linspace(-sensitivity, 2 * sensitivity, 31)
    moved = answers + np.linspace(-sensitivity, sensitivity, 21)[:, None]
    one, two = (-stretch * np.abs(a[..., None] - r) for a in (answers, moved))
    return float(np.max(np.abs(one - two)))


def distance_mechanism_scale(*, epsilon, sensitivity):
    """Mean distance from the answer when drawing by e^(epsilon u / 2 Delta_u), u = -distance."""
    change = distance_score_change(stretch=1.0, sensitivity=sensitivity)
    log_weight, far = lambda x: -epsilon * np.abs(x) / (2 * change), 200 * change / epsilon
    first, total = (log_moment_of_size(log_weight, power, far) for power in (1, 0))
    return math.exp(first - total)


def needed_laplace_scale(*, epsilon, sensitivity):
    """Smallest scale of Laplace noise whose largest log ratio is at most epsilon."""
    unit = sensitivity / epsilon
    enough = lambda scale: vector_laplace_loss(shift=[sensitivity], scale=scale) <= epsilon
    return oracles.smallest(enough, low=1e-3 * unit, high=1e3 * unit)


def largest_truth(*, epsilon, answers):
    """Largest probability of the true of so many answers that every event allows."""

    def too_much(truth: float) -> bool:
        lie = (1 - truth) / (answers - 1)
        p, q = np.full(answers, lie), np.full(answers, lie)
        p[0] = q[1] = truth
        return truth == 1 or oracles.worst_event_epsilon(p=p, q=q) > epsilon

    return oracles.smallest(too_much, low=1 / answers, high=1.0)


def two_coins_loss(*, honest, yes):
    """Largest log ratio of the answers of two people, all tosses enumerated."""
    laws = {truth: {True: 0.0, False: 0.0} for truth in (True, False)}
    for truth, first, second in itertools.product((True, False), repeat=3):
        probability = (honest if first else 1 - honest) * (yes if second else 1 - yes)
        laws[truth][truth if first else second] += probability
    one, two = (list(laws[truth].values()) for truth in (True, False))
    return oracles.worst_event_epsilon_at(p=one, q=two, delta=0.0)


def propose_test_release_delta(*, at, epsilon, threshold):
    """The largest delta at `at` over neighbours, outputs collected in cells.

    At distance 0 of both the answer jumps anywhere; otherwise by at most the bound, here 1.
    """
    above = lambda x: np.exp(laplace_log_cdf(-np.asarray(x)))
    worst = float(above(epsilon * threshold))
    edges = epsilon * np.concatenate([[-np.inf], np.linspace(0.0, 1.0, 65), [np.inf]])
    value, moved = (-np.diff(above(edges - shift)) for shift in (0.0, epsilon))
    near = round(threshold)
    for d in {0, 1, 2, *range(max(near - 2, 0), near + 3)}:
        passes = above(epsilon * (threshold - np.array([d, d + 1.0])))
        fails = above(epsilon * (np.array([d, d + 1.0]) - threshold))
        for a, b in ((0, 1), (1, 0), (1, 1)):
            p = np.append(passes[a] * value, fails[a])
            q = np.append(passes[b] * moved, fails[b])
            worst = max(worst, float(np.sum(np.maximum(p - math.exp(at) * q, 0.0))))
    return worst


def needed_test_threshold(*, epsilon, delta):
    """Smallest threshold at which propose-test-release is (2 epsilon, delta)-DP."""
    at = {"at": 2 * epsilon, "epsilon": epsilon}
    enough = lambda threshold: propose_test_release_delta(**at, threshold=threshold) <= delta
    return oracles.smallest(enough, low=1e-9 / epsilon, high=60 / epsilon)


def released_epsilon(*, epsilon, delta):
    """Smallest epsilon at `delta` of propose-test-release with threshold ln(1/delta)/epsilon."""
    release = {"epsilon": epsilon, "threshold": -math.log(delta) / epsilon}
    enough = lambda at: propose_test_release_delta(at=at, **release) <= delta
    return oracles.smallest(enough, low=0.1 * epsilon, high=2.1 * epsilon)


def clipped_mean_change(*, fractions, upper):
    """The most that the mean changes when one value leaves, or any from 0 to `upper` joins."""
    values = [upper * float(x) for x in np.asarray(fractions)]
    mean = math.fsum(values) / len(values)
    others = [values[:i] + values[i + 1 :] for i in range(len(values))]
    others += [[*values, float(x)] for x in np.linspace(0.0, upper, 5)]
    return max(abs(math.fsum(x) / len(x) - mean) for x in others)


def median_sensitivity_by_force(*, values, upper, beta):
    """Largest e^(-beta d) LS(x') over data sets x' that differ in d values, ends of the range."""
    values = np.asarray(values, dtype=float)
    choices = np.array(list(itertools.product((0, 1, 2), repeat=values.size)))
    options = np.stack([values, np.zeros_like(values), np.full_like(values, upper)])
    data = options[choices, np.arange(values.size)]
    middle = np.median(data, axis=1)
    local = np.zeros(len(data))
    for i, end in itertools.product(range(values.size), (0.0, upper)):
        changed = data.copy()
        changed[:, i] = end
        local = np.maximum(local, np.abs(np.median(changed, axis=1) - middle))
    return float(np.max(np.exp(-beta * np.sum(choices > 0, axis=1)) * local))


def dilated_laplace_delta(*, epsilon, beta, noise=2.0):
    """Worst delta at `epsilon` of Laplace noise of scale noise * S / epsilon.

    S is 1 under P and e^beta or e^-beta under Q, the answers as far apart as both allow.
    """
    worst = 0.0
    for ratio in (math.exp(beta), math.exp(-beta)):
        scales, shift = (noise / epsilon, noise * ratio / epsilon), min(1.0, ratio)
        far = 200 * max(scales) + 1
        for moved in (0.0, shift):
            laws = oracles.log_laplace(0.0, scales[0]), oracles.log_laplace(moved, scales[1])
            delta = oracles.density_delta(*laws, epsilon, -far, far, kinks=[0.0, moved])
            worst = max(worst, delta)
    return worst


def sum_change(*, lower, upper, adjacency):
    """The most that a sum changes, over data sets of up to two values on a grid."""
    grid = [float(x) for x in np.linspace(lower, upper, 5)]
    if adjacency == "add_remove":
        return max(abs(math.fsum([a, b]) - a) for a in [0.0, *grid] for b in grid)
    return max(abs(math.fsum([a, b]) - math.fsum([a, c])) for a in grid for b in grid for c in grid)


def by_norm(vectors: NDArray, norm: float) -> NDArray:
    """Every vector, scaled down to this norm if it is longer."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors * np.minimum(1.0, norm / lengths)


def clipped_sum_change(*, max_norm, dimension, adjacency, clip=by_norm):
    """Largest L2 change of a sum of clipped vectors, over the signs and axes of the space."""
    signs = np.array(list(itertools.product((-3.0, 0.5, 3.0), repeat=dimension))) * max_norm
    clipped = clip(signs, max_norm)
    if adjacency == "add_remove":
        return float(np.max(np.linalg.norm(clipped, axis=1)))
    return float(np.max(np.linalg.norm(clipped[:, None] - clipped, axis=2)))
