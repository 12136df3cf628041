"""Gaussian noise: what it leaks exactly, where the classical recipe ends, noise for groups."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, log_ndtr, ndtr

from dplearn.formulas import _oracles as oracles
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import Choice, Given, Log, Parameters
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference
from dplearn.ground.solve import crossing, decreasing_root

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def _mills(x: NDArray) -> NDArray:
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


def _log_delta(epsilon: ArrayLike, mu: float) -> NDArray:
    """log delta of two unit Gaussians at distance mu > 0, elementwise."""
    x = np.asarray(epsilon, dtype=float) / mu - mu / 2
    # e^eps phi(x + mu) = phi(x): with the Mills ratios no term is much larger than the result.
    far = np.maximum(x, -3.0)
    tail = -0.5 * far**2 - _HALF_LOG_2PI + np.log(_mills(far) - _mills(far + mu))
    near = np.minimum(x, -3.0)
    plain = ndtr(-near) - np.exp((near + mu / 2) * mu + log_ndtr(-near - mu))
    return np.where(x < -3.0, np.log(plain), tail)


def _quadrature_delta(epsilon: float, distance: float) -> float:
    """Hockey-stick divergence of two unit Gaussians by its definition."""
    far = 40.0 + 2 * epsilon / distance + distance
    pair = oracles.log_normal(distance), oracles.log_normal()
    return oracles.density_delta(*pair, epsilon, -far, far)


def gaussian_delta(*, epsilon: float, noise_multiplier: float, distance: float = 1.0) -> float:
    r"""Delta of Gaussian noise at `epsilon`.

    .. math:: \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big)
        - e^\varepsilon\Phi\Big(-\frac\mu2-\frac\varepsilon\mu\Big),\quad \mu = \Delta/\sigma

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    noise_multiplier : float
        Noise standard deviation / largest norm of a contribution, > 0.
    distance : float
        Of neighbouring sums in the same unit: 1 for add_remove, 2 for replace_one.

    Returns
    -------
    float
        Exact.

    References
    ----------
    Balle & Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gaussian_delta(epsilon=1.0, noise_multiplier=1.0), 7)
    0.1269367
    """
    validate.non_negative(epsilon=epsilon)
    validate.positive(noise_multiplier=noise_multiplier, distance=distance)
    return float(np.exp(_log_delta(epsilon, distance / noise_multiplier)))


def _epsilon_by_quadrature(*, noise_multiplier: float, delta: float, distance: float) -> float:
    mu = distance / noise_multiplier
    if _quadrature_delta(0.0, mu) <= delta:
        return 0.0
    largest = mu * (mu / 2 + math.sqrt(-2 * math.log(delta)))
    found = crossing(
        lambda x: math.log(_quadrature_delta(x, mu) / delta),
        guess=0.8 * largest, lower=0.0, upper=largest, tolerance=1e-9 * largest,
    )  # fmt: skip
    return found.root


@formula(
    "G-F7",
    title="Epsilon of Gaussian noise under both adjacencies",
    kind="identity",
    statement=r"""\varepsilon = \min\Big\{\varepsilon \ge 0 :
        \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big)
        - e^\varepsilon\Phi\Big(-\frac\mu2-\frac\varepsilon\mu\Big) \le \delta\Big\},\quad
        \mu = \frac1z \text{ (add/remove)},\ \frac2z \text{ (replace one)}""",
    requires="noise_multiplier > 0 and 0 < delta and delta < 1 and distance > 0",
    reference=Reference("Balle & Wang", 2018, "Theorem 8"),
    domain={
        "noise_multiplier": Log(0.2, 20.0),
        "delta": Log(1e-12, 0.3),
        "distance": Choice(1.0, 2.0),
    },
    oracle=_epsilon_by_quadrature,
    tolerance=1e-8,
    points=40,
    examples=[
        ({"noise_multiplier": 1.0, "delta": 1e-5, "distance": 1.0}, "4.3771781"),
        ({"noise_multiplier": 1.0, "delta": 1e-5, "distance": 2.0}, "9.9972561"),
        ({"noise_multiplier": 4.0, "delta": 1e-5, "distance": 1.0}, "0.926341504"),
    ],
    misprints=[
        Misprint(
            "doubles",
            r"\varepsilon_{\text{replace one}} = 2\,\varepsilon_{\text{add/remove}}",
            claim=lambda noise_multiplier, delta: (
                2 * gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta)
            ),
            domain={"distance": Choice(2.0)},
            source="group privacy of pure DP, applied to Gaussian noise",
            note="Twice the distance is four times the concentrated loss; it also costs delta.",
            seen=("F04",),
            examples=[({"noise_multiplier": 1.0, "delta": 1e-5, "distance": 2.0}, "8.7543562")],
        ),
        Misprint(
            "norm-for-replaced",
            r"\Delta_2 = C \text{ whatever the neighbours}",
            claim=lambda noise_multiplier, delta: gaussian_epsilon(
                noise_multiplier=noise_multiplier, delta=delta
            ),
            source="lecture notes that leave the neighbours open",
            note="A clipped contribution that is replaced moves the sum by up to 2C.",
            seen=("F04", "F10"),
            examples=[({"noise_multiplier": 1.0, "delta": 1e-5, "distance": 2.0}, "4.3771781")],
        ),
    ],
)
def gaussian_epsilon(*, noise_multiplier: float, delta: float, distance: float = 1.0) -> float:
    """Smallest epsilon of Gaussian noise at `delta`.

    Parameters
    ----------
    noise_multiplier, distance : float
        As in `gaussian_delta`.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Exact, nats, rounded up within 1e-12 relative; 0 where delta allows it.

    References
    ----------
    Balle & Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gaussian_epsilon(noise_multiplier=1.0, delta=1e-5), 6)
    4.377178
    >>> round(gaussian_epsilon(noise_multiplier=1.0, delta=1e-5, distance=2.0), 6)
    9.997256
    """
    validate.positive(noise_multiplier=noise_multiplier, distance=distance)
    validate.probability(delta=delta)
    mu, log_delta = distance / noise_multiplier, math.log(delta)
    # The Chernoff bound is an upper end.
    upper = mu * (mu / 2 + math.sqrt(-2 * log_delta))
    return float(decreasing_root(lambda x: _log_delta(x, mu) - log_delta, lower=0.0, upper=upper))


def _classical_noise(epsilon: ArrayLike, delta: float) -> NDArray:
    return math.sqrt(2 * math.log(1.25 / delta)) / np.asarray(epsilon)


def _first_failure(*, delta: float) -> float:
    """Walk up in epsilon until the delta of the classical noise, by quadrature, is too large."""

    def margin(epsilon: float) -> float:
        noise = math.sqrt(math.log(1.25 / delta) * 2) / epsilon
        return math.log(delta / _quadrature_delta(epsilon, 1 / noise))

    good = 0.5
    while margin(good + 0.5) > 0:
        good += 0.5
    found = crossing(
        margin, guess=good + 0.2, lower=good, upper=good + 0.5, tolerance=1e-9, slope=-1.0
    )
    return found.root


@formula(
    "G-F9",
    title="Where the classical Gaussian recipe ends",
    kind="identity",
    statement=r"""\varepsilon^*(\delta) = \min\Big\{\varepsilon :
        \delta\big(\varepsilon;\ \sigma = \sqrt{2\ln(1.25/\delta)}/\varepsilon\big)
        \ge \delta\Big\}""",
    requires="0 < delta and delta <= 0.5",
    reference=Reference("Zhao et al.", 2019, "Section 3"),
    domain={"delta": Log(1e-12, 0.5)},
    oracle=_first_failure,
    tolerance=1e-8,
    points=12,
    unsafe="larger",
    examples=[
        ({"delta": 1e-3}, "7.463474"),
        ({"delta": 1e-4}, "7.990993"),
        ({"delta": 1e-5}, "8.419771"),
        ({"delta": 1e-6}, "8.782092"),
        ({"delta": 1e-2}, "6.7718"),
        ({"delta": 1e-9}, "9.6237"),
        ({"delta": 0.5}, "4.4654"),
    ],
    misprints=[
        Misprint(
            "never",
            r"\varepsilon^* = \infty",
            claim=lambda: math.inf,
            source="lecture notes and code that quote the recipe without its range",
            note="Its proof needs epsilon < 1, and far enough above the recipe is false.",
            seen=("F08", "F11"),
        ),
        Misprint(
            "at-one",
            r"\varepsilon^* = 1",
            claim=lambda: 1.0,
            source="the theorem's hypothesis taken for the border of truth",
            note="Beyond 1 nothing is proved, but the recipe goes on being true up to 4 or more.",
            seen=("F08",),
        ),
        Misprint(
            "one-number",
            r"\varepsilon^* = 8.43 \text{ for every } \delta",
            claim=lambda: 8.43,
            source="the value for delta = 1e-5, quoted without its delta",
            note="A larger delta ends the recipe's range earlier.",
        ),
    ],
)
def classical_gaussian_threshold(*, delta: float) -> float:
    r"""Epsilon at which noise :math:`\sqrt{2\ln(1.25/\delta)}/\varepsilon` stops sufficing.

    Parameters
    ----------
    delta : float
        In (0, 0.5].

    Returns
    -------
    float
        Nats. Below it the recipe is true for Gaussian noise, proved only where epsilon < 1.

    Raises
    ------
    ValueError
        If delta is out of range.

    References
    ----------
    Zhao et al. (2019), Reviewing and improving the Gaussian mechanism.

    Examples
    --------
    >>> round(classical_gaussian_threshold(delta=1e-5), 4)
    8.4198
    """
    if not 0 < delta <= 0.5:
        raise ValueError(f"Expected delta in (0, 0.5], got delta={delta!r}.")

    def margin(epsilon: NDArray) -> NDArray:
        noise = float(_classical_noise(epsilon, delta))
        return np.asarray(math.log(delta) - _log_delta(epsilon, 1 / noise))

    # One crossing only: with c fixed, x = c - eps / (2 c) falls and delta grows with epsilon.
    return float(decreasing_root(margin, lower=1.0, upper=100.0))


# Groups of coordinates


def _some_multipliers(rng: Generator, drawn: Parameters) -> NDArray:
    """One to six noise multipliers, near each other or not."""
    spread = rng.choice([0.1, 1.0, 2.0])
    return np.exp(rng.normal(0.0, spread, size=rng.integers(1, 7))).round(3) + 0.05


def _same_renyi(*, noise_multipliers: NDArray) -> float:
    """The single multiplier with the Rényi divergence of order 2 that the groups add up to."""
    pairs = ((oracles.log_normal(1.0, z), oracles.log_normal(0.0, z)) for z in noise_multipliers)
    far = 50 * float(np.max(noise_multipliers)) + 10
    total = math.fsum(oracles.density_renyi(*pair, 2.0, -far, far) for pair in pairs)
    return total**-0.5


_THREE = np.array([0.8, 1.5, 3.0])


@formula(
    "G-F4",
    title="One noise multiplier for several groups",
    kind="identity",
    statement=r"z^* = \Big(\sum_m z_m^{-2}\Big)^{-1/2}",
    reference=Reference("McMahan et al.", 2018, "A general approach, arXiv 1812.06210"),
    domain={"noise_multipliers": Given(_some_multipliers)},
    oracle=_same_renyi,
    unsafe="larger",
    points=40,
    examples=[
        ({"noise_multipliers": _THREE}, "0.6871180012"),
        ({"noise_multipliers": np.array([1.0, 2.0])}, "0.894427"),
    ],
    misprints=[
        Misprint(
            "power-mean",
            r"z^* = \Big(\frac1M\sum_m z_m^{-2}\Big)^{-1/2}",
            claim=lambda noise_multipliers: float(np.mean(noise_multipliers**-2.0) ** -0.5),
            source="lecture notes that call z* a quadratic harmonic mean",
            note="A mean is too large by the root of the number of groups.",
            seen=("F63",),
            examples=[
                ({"noise_multipliers": _THREE}, "1.1901"),
                ({"noise_multipliers": np.array([1.0, 2.0])}, "1.264911"),
            ],
        ),
        Misprint(
            "arithmetic-mean",
            r"z^* = \frac1M\sum_m z_m",
            claim=lambda noise_multipliers: float(np.mean(noise_multipliers)),
            source="course notebooks",
            note="Every group leaks, so z* is below the smallest multiplier.",
        ),
        Misprint(
            "harmonic-mean",
            r"z^* = \Big(\frac1M\sum_m z_m^{-1}\Big)^{-1}",
            claim=lambda noise_multipliers: float(1 / np.mean(1 / noise_multipliers)),
            source="course notebooks",
            note="Losses of independent noises add as squares, and they add: no mean.",
        ),
        Misprint(
            "smallest",
            r"z^* = \min_m z_m",
            claim=lambda noise_multipliers: float(np.min(noise_multipliers)),
            source="the weakest-link argument",
            note="The weakest group is a lower bound on the loss, the others come on top.",
        ),
        Misprint(
            "lot",
            r"z^* = \Big(L\sum_m z_m^{-2}\Big)^{-1/2}",
            claim=lambda noise_multipliers, batch: (
                (float(np.sum(noise_multipliers**-2.0)) * batch) ** -0.5
            ),
            domain={"batch": Choice(1, 100, 256)},
            source="an early edition of lecture notes",
            note="Follows from noise once per example; with noise once per step no L appears.",
            seen=("F62",),
            examples=[({"noise_multipliers": np.array([1.0, 2.0]), "batch": 100}, "0.0894427")],
        ),
    ],
)
def grouped_noise_multiplier(*, noise_multipliers: ArrayLike) -> float:
    r"""The noise multiplier :math:`(\sum_m z_m^{-2})^{-1/2}` of groups with noise of their own.

    Parameters
    ----------
    noise_multipliers : array_like, shape (n_groups,)
        Noise standard deviation / clipping norm of each group, > 0; one record contributes
        to all groups.

    Returns
    -------
    float
        Exact: the joint release leaks what one Gaussian release with this multiplier leaks.

    References
    ----------
    McMahan et al. (2018), A general approach to adding differential privacy to iterative
    training procedures.

    Examples
    --------
    >>> round(grouped_noise_multiplier(noise_multipliers=[0.8, 1.5, 3.0]), 6)
    0.687118
    """
    z = np.asarray(noise_multipliers, dtype=float)
    validate.positive(smallest_noise_multiplier=float(np.min(z)))
    return float(np.sum(z**-2.0) ** -0.5)


def _four_sizes(rng: Generator, drawn: Parameters) -> NDArray:
    return np.round(np.exp(rng.uniform(0.0, 10.0, size=4)))


def _four_norms(rng: Generator, drawn: Parameters) -> NDArray:
    return rng.choice([0.2, 0.5, 1.0, 2.0], size=4)


def _some_norms(rng: Generator, drawn: Parameters) -> NDArray:
    return rng.choice([0.1, 0.5, 1.0, 3.0], size=rng.integers(1, 6))


def _longest_contribution(*, norms: NDArray) -> float:
    """Largest norm of a vector of groups, each clipped by its norm; the corners are among them."""
    rng = np.random.default_rng(5)
    found = 0.0
    for size in (1e-3, 1.0, 1e6):
        groups = [size * rng.normal(size=7) for _ in norms]
        clipped = [
            g * min(1.0, c / float(np.linalg.norm(g))) for g, c in zip(groups, norms, strict=True)
        ]
        found = max(found, float(np.linalg.norm(np.concatenate(clipped))))
    return found


def _longest_by_harmonic_mean(*, sizes: NDArray) -> float:
    return _longest_contribution(norms=np.sqrt(1 / float(np.mean(1 / sizes)) / sizes))


@formula(
    "G-F4b",
    title="Norm of a contribution that is clipped by groups",
    kind="identity",
    statement=r"""\max\lVert(\pi_{C_1}(g_1), \dots, \pi_{C_M}(g_M))\rVert_2
        = \Big(\sum_m C_m^2\Big)^{1/2}""",
    reference=Reference("McMahan et al.", 2018, "A general approach, arXiv 1812.06210"),
    domain={"norms": Given(_some_norms)},
    oracle=_longest_contribution,
    points=30,
    examples=[({"norms": np.full(4, 0.5)}, "1.0")],
    misprints=[
        Misprint(
            "largest",
            r"\max_m C_m",
            claim=lambda norms: float(np.max(norms)),
            source="per-layer clipping with noise for one layer",
            note="A record may fill the norms of all groups at once.",
        ),
        Misprint(
            "harmonic-mean",
            r"C_m = C\sqrt{D/d_m},\ D \text{ the harmonic mean of the sizes} \Rightarrow"
            r" \sum_m C_m^2 = C^2",
            claim=lambda: 1.0,
            oracle=_longest_by_harmonic_mean,
            domain={"norms": None, "sizes": Given(_four_sizes)},
            source="lecture notes, on thresholds by layer size",
            note="Needs D = 1 / sum(1/d_m), the harmonic mean over M; otherwise it is M C^2.",
            seen=("F71",),
        ),
    ],
)
def joint_norm(*, norms: ArrayLike) -> float:
    r"""Largest norm :math:`(\sum_m C_m^2)^{1/2}` of a vector whose groups are clipped to C_m.

    Parameters
    ----------
    norms : array_like, shape (n_groups,)
        Clipping norms, > 0.

    References
    ----------
    McMahan et al. (2018), A general approach to adding differential privacy to iterative
    training procedures.

    Examples
    --------
    >>> joint_norm(norms=[3.0, 4.0])
    5.0
    """
    return math.sqrt(float(np.sum(np.square(norms))))


def _energy_by_search(*, sizes: NDArray, norms: NDArray, noise_multiplier: float) -> float:
    """Least noise energy over shares s_m of the loss: z_m^-2 = s_m / z^2, moved between pairs."""
    cost = sizes * np.square(norms) * noise_multiplier**2
    share = np.full(sizes.size, 1 / sizes.size)
    for _ in range(60):
        for a, b in itertools.combinations(range(sizes.size), 2):
            both = share[a] + share[b]
            # Golden section for the part that a gets.
            low, high = 0.0, 1.0
            for _ in range(45):
                left, right = high - 0.618 * (high - low), low + 0.618 * (high - low)
                worth = [cost[a] / (t * both) + cost[b] / ((1 - t) * both) for t in (left, right)]
                low, high = (low, right) if worth[0] < worth[1] else (left, high)
            share[a] = both * (low + high) / 2
            share[b] = both - share[a]
    return float(np.sum(cost / share))


_LAYERS = {"sizes": np.array([400.0, 50.0, 12000.0, 10.0]), "norms": np.full(4, 0.5)}


@formula(
    "G-F8",
    title="Least noise energy over groups",
    kind="identity",
    statement=r"""\min_{z:\ \sum_m z_m^{-2} = z^{*-2}} \sum_m d_m z_m^2 C_m^2
        = \Big(z^*\sum_m C_m\sqrt{d_m}\Big)^2,\quad
        z_m^2 = z^{*2}\,\frac{\sum_j C_j\sqrt{d_j}}{C_m\sqrt{d_m}}""",
    requires="noise_multiplier > 0",
    reference=Reference("Boyd & Vandenberghe", 2004, "Section 5.5, Lagrange multipliers"),
    domain={
        "sizes": Given(_four_sizes),
        "norms": Given(_four_norms),
        "noise_multiplier": Choice(0.5, 1.0, 2.0),
    },
    oracle=_energy_by_search,
    tolerance=1e-6,
    points=10,
    unsafe=None,
    examples=[({**_LAYERS, "noise_multiplier": 1.0}, "4884.46")],
    misprints=[
        Misprint(
            "equal",
            r"z_m = z^*\sqrt{M} \text{ is best}",
            claim=lambda sizes, norms, noise_multiplier: float(
                sizes.size * noise_multiplier**2 * np.sum(sizes * np.square(norms))
            ),
            source="lecture notes and libraries that give each group the same multiplier",
            note="Valid, but large groups should get a smaller multiplier: it counts d_m times.",
            seen=("F68",),
            examples=[({**_LAYERS, "noise_multiplier": 1.0}, "12460")],
        ),
    ],
)
def least_noise_energy(*, sizes: ArrayLike, norms: ArrayLike, noise_multiplier: float) -> float:
    r"""Smallest expected squared norm of the noise with a joint multiplier of `noise_multiplier`.

    Group m then has :math:`z_m^2 = z^{*2}\sum_j C_j\sqrt{d_j} / (C_m\sqrt{d_m})`.

    Parameters
    ----------
    sizes : array_like, shape (n_groups,)
        Numbers of coordinates d_m.
    norms : array_like, shape (n_groups,)
        Clipping norms C_m.
    noise_multiplier : float
        z* > 0.

    Returns
    -------
    float
        Exact, in squared units of the norms.

    Examples
    --------
    >>> sizes, norms = [400, 50, 12000, 10], [0.5, 0.5, 0.5, 0.5]
    >>> round(least_noise_energy(sizes=sizes, norms=norms, noise_multiplier=1.0), 2)
    4884.46
    """
    validate.positive(noise_multiplier=noise_multiplier)
    weights = np.asarray(norms, dtype=float) * np.sqrt(np.asarray(sizes, dtype=float))
    return float(noise_multiplier * np.sum(weights)) ** 2
