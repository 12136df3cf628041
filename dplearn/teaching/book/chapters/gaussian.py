"""Gaussian noise: exact guarantees, the range of the classical formula, noise for groups."""

from dplearn.core.solve import decreasing_root
from dplearn.mechanisms.gaussian import gaussian_epsilon, gaussian_log_delta
from dplearn.teaching.book.kit.vocabulary import *

_FOUR_SIZES = Drawn(lambda rng: np.round(np.exp(rng.uniform(0.0, 10.0, size=4))))
def first_failure(*, delta):
    """Return the smallest epsilon at which the delta of the classical noise is too large."""
    root = math.sqrt(math.log(1.25 / delta) * 2)
    log_delta = lambda epsilon: oracles.normal_log_delta(epsilon=epsilon, mu=epsilon / root)
    fails = lambda epsilon: log_delta(epsilon) >= math.log(delta)
    good = 0.5
    while not fails(good + 0.5):
        good += 0.5
    return oracles.smallest(fails, low=good, high=good + 0.5)


def longest_contribution(*, norms):
    """Return the largest joint norm of random groups, each clipped to its norm."""
    rng, longest = np.random.default_rng(5), 0.0
    for size in (1e-3, 1.0, 1e6):
        groups = [size * rng.normal(size=7) for _ in norms]
        scales = [min(1.0, c / np.linalg.norm(g)) for g, c in zip(groups, norms, strict=True)]
        clipped = [g * scale for g, scale in zip(groups, scales, strict=True)]
        longest = max(longest, float(np.linalg.norm(np.concatenate(clipped))))
    return longest


def energy_by_search(*, sizes, norms, noise_multiplier):
    """Return the least noise energy over shares s_m of z^-2, z_m^-2 = s_m / z^2, numerically."""
    from scipy.optimize import minimize

    log_cost = np.log(sizes * np.square(norms) * noise_multiplier**2)
    # The second term normalises the shares e^x to a sum of 1.
    log_energy = lambda x: np.logaddexp.reduce(log_cost - x) + np.logaddexp.reduce(x)
    return math.exp(minimize(log_energy, np.zeros(sizes.size), tol=1e-9).fun)


def std_of_divergence(*, order, epsilon, distance):
    """Return the standard deviation at which the integrated Rényi divergence is epsilon."""
    enough = lambda x: oracles.normal_renyi(distance, math.exp(x), order) <= epsilon
    guess = 0.5 * math.log(distance**2 * order / epsilon)
    return math.exp(oracles.smallest(enough, low=guess - 1.6, high=guess + 1.6, rtol=1e-10))


def gaussian_delta(*, epsilon, noise_multiplier, distance=1.0):
    r"""Exact delta of Gaussian noise at `epsilon` (Balle & Wang 2018, Theorem 8).

    .. math:: \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big)
        - e^\varepsilon\Phi\Big(-\frac\mu2-\frac\varepsilon\mu\Big),\quad \mu = \Delta/\sigma

    The distance of neighbouring sums, in clipping norms, is 1 for add_remove, 2 for replace_one.

    Examples
    --------
    >>> round(gaussian_delta(epsilon=1.0, noise_multiplier=1.0), 7)
    0.1269367
    """
    return float(np.exp(gaussian_log_delta(epsilon, distance / noise_multiplier)))


@formula("G-B19", "Gaussian noise for a Rényi budget")
@given("order > 1 and epsilon > 0 and distance > 0", order=Log(1.05, 200.0),
       epsilon=Log(1e-3, 30.0), distance=Choice(1.0, 2.0, 3.5))
@identity("Mironov 2017, Corollary 3", std_of_divergence, tolerance=1e-8, points=30)
@setting(*ALONE, "sigma", "gauss normal 高斯",
         into=lambda rdp: {"epsilon": rdp, "distance": 1.0}, order=ORDER, rdp=RHO)
@printed("1.0", order=2.0, epsilon=1.0, distance=1.0)
@printed("4.8448", order=10.0, epsilon=0.213020, distance=1.0)
@wrong("variance", "This is the variance; drawn as a standard deviation it is too little below 1.",
       "distance**2*order/(2*epsilon)", says=r"\sigma = \frac{\Delta^2\alpha}{2\varepsilon}")
@wrong("no-two", "Enough, and too much by the root of 2.", "distance*sqrt(order/epsilon)")
@wrong("distance-once", "The squared distance belongs to the variance.",
       "sqrt(distance*order/(2*epsilon))")
def gaussian_std_for_rdp(*, order, epsilon, distance=1.0):
    r"""\sigma = \Delta\sqrt{\frac\alpha{2\varepsilon}}

    epsilon: Rényi divergence of that order, nats"""
    return distance * math.sqrt(order / (2 * epsilon))


@formula("G-B19b", "Gaussian noise for a zCDP budget")
@given("rho > 0 and distance > 0", rho=Log(1e-4, 20.0), distance=Choice(1.0, 2.0, 3.5))
@identity("Bun & Steinke 2016, Proposition 1.6", lambda rho, distance:
          max(std_of_divergence(order=order, epsilon=rho * order, distance=distance) for order in
          (1.1, 25.0)), tolerance=1e-8, points=20)
@setting(*ALONE, "sigma", "gauss normal 高斯", into={"distance": 1.0}, rho=RHO)
@printed("1.0", rho=0.5, distance=1.0)
@wrong("variance", "This is the variance; drawn as a standard deviation it is too little below 1.",
       "distance**2/(2*rho)", says=r"\sigma = \frac{\Delta^2}{2\rho}")
@wrong("pure", "rho-zCDP follows from pure DP with epsilon = sqrt(2 rho); Laplace noise has it.",
       "distance/rho", says=r"\sigma = \Delta/\rho")
def gaussian_std_for_zcdp(*, rho, distance=1.0):
    r"""\sigma = \frac\Delta{\sqrt{2\rho}}"""
    return distance / math.sqrt(2 * rho)


@formula("G-F7", "Epsilon of Gaussian noise under both adjacencies")
@given("noise_multiplier > 0 and 0 < delta < 1 and distance > 0", noise_multiplier=Log(0.2, 20.0),
       delta=Log(1e-12, 0.3), distance=Choice(1.0, 2.0))
@identity("Balle & Wang 2018, Theorem 8", oracles.normal_epsilon, tolerance=1e-8, points=40)
@printed("4.3771781", noise_multiplier=1.0, delta=1e-5, distance=1.0)
@printed("9.9972561", noise_multiplier=1.0, delta=1e-5, distance=2.0)
@wrong("doubles", "Twice the distance is four times the concentrated loss; it also costs delta.",
       lambda noise_multiplier, delta: 2 * release_epsilon(noise_multiplier=noise_multiplier,
       delta=delta), says=r"\varepsilon_{\text{replace one}} = 2\,\varepsilon_{\text{add/remove}}",
       distance=Choice(2.0))
@wrong("norm-for-replaced", "A clipped contribution that is replaced moves the sum by up to 2C.",
       lambda noise_multiplier, delta: release_epsilon(noise_multiplier=noise_multiplier,
       delta=delta), says=r"\Delta_2 = C \text{ whatever the neighbours}")
def release_epsilon(*, noise_multiplier, delta, distance=1.0):
    r"""\varepsilon = \min\Big\{\varepsilon \ge 0 : \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big) -
    e^\varepsilon\Phi\Big(-\frac\mu2-\frac\varepsilon\mu\Big) \le \delta\Big\},\quad \mu = \frac1z
    \text{ (add/remove)},\ \frac2z \text{ (replace one)}"""
    return float(gaussian_epsilon(delta, distance / noise_multiplier))


@formula("G-F9", "Where the classical Gaussian recipe ends")
@given("0 < delta <= 0.5", delta=Log(1e-12, 0.5))
@identity("Zhao et al. 2019, Section 3", first_failure, tolerance=1e-8, unsafe="larger", points=12)
@printed("7.463474", delta=1e-3)
@printed("8.419771", delta=1e-5)
@wrong("never", "Its proof needs epsilon < 1, and far enough above the recipe is false.", "inf")
@wrong("at-one", "Beyond 1 nothing is proved, but the recipe goes on being true up to 4 or more.",
       "1.0")
@wrong("one-number", "A larger delta ends the recipe's range earlier.", "8.43",
       says=r"\varepsilon^* = 8.43 \text{ for every } \delta")
def classical_gaussian_threshold(*, delta):
    r"""\varepsilon^*(\delta) = \min\Big\{\varepsilon : \delta\big(\varepsilon;\ \sigma =
    \sqrt{2\ln(1.25/\delta)}/\varepsilon\big) \ge \delta\Big\}"""
    def margin(epsilon: NDArray) -> NDArray:
        mu = float(epsilon) / math.sqrt(2 * math.log(1.25 / delta))
        return np.asarray(math.log(delta) - gaussian_log_delta(epsilon, mu))

    # The root is unique: x = c - epsilon / (2 c) decreases in epsilon, so delta increases.
    return float(decreasing_root(margin, lower=1.0, upper=100.0))


@formula("G-F4", "One noise multiplier for several groups")
@given("noise_multipliers > 0", noise_multipliers=Drawn(lambda rng: 0.05 + np.exp(
       rng.normal(0.0, rng.choice([0.1, 1.0, 2.0]), size=rng.integers(1, 7))).round(3)))
@identity("McMahan et al. 2018, A general approach, arXiv 1812.06210", lambda noise_multipliers:
          math.fsum(oracles.normal_renyi(1.0, z) for z in noise_multipliers) ** -0.5,
          unsafe="larger", points=40)
@setting("the multiplier of several parts with their own noise, together",
         "各部分各加噪声时合起来的乘数", "sigma", "group part layer together 组",
         noise_multipliers=Log(0.3, 5.0))
@printed("0.6871180012", noise_multipliers=np.array([0.8, 1.5, 3.0]))
@wrong("power-mean", "A mean is too large by the root of the number of groups.",
       lambda noise_multipliers: float(np.mean(noise_multipliers**-2.0) ** -0.5),
       says=r"z^* = \Big(\frac1M\sum_m z_m^{-2}\Big)^{-1/2}")
@wrong("arithmetic-mean", "Every group leaks, so z* is below the smallest multiplier.",
       lambda noise_multipliers: float(np.mean(noise_multipliers)), says=r"z^* = \frac1M\sum_m z_m")
@wrong("harmonic-mean", "Losses of independent noises add as squares, and they add: no mean.",
       lambda noise_multipliers: float(1 / np.mean(1 / noise_multipliers)),
       says=r"z^* = \Big(\frac1M\sum_m z_m^{-1}\Big)^{-1}")
@wrong("smallest", "The weakest group is a lower bound on the loss, the others come on top.",
       lambda noise_multipliers: float(np.min(noise_multipliers)), says=r"z^* = \min_m z_m")
@wrong("lot", "Follows from noise once per example; with noise once per step no L appears.",
       lambda noise_multipliers, batch: (float(np.sum(noise_multipliers**-2.0)) * batch) ** -0.5,
       says=r"z^* = \Big(L\sum_m z_m^{-2}\Big)^{-1/2}", batch=Choice(1, 100, 256))
def grouped_noise_multiplier(*, noise_multipliers):
    r"""z^* = \Big(\sum_m z_m^{-2}\Big)^{-1/2}

    noise_multipliers: Noise standard deviation / clipping norm of each group, > 0; one
      record contributes to all groups"""
    z = np.asarray(noise_multipliers, dtype=float)
    return float(np.sum(z**-2.0) ** -0.5)


@formula("G-F4b", "Norm of a contribution that is clipped by groups")
@given(norms=Drawn(lambda rng: rng.choice([0.1, 0.5, 1.0, 3.0], size=rng.integers(1, 6))))
@identity("McMahan et al. 2018, A general approach, arXiv 1812.06210", longest_contribution,
          points=30)
@setting("the joint clipping norm of m groups", "m 组合起来的裁剪范数", "sensitivity",
         "group layer 组", into=lambda groups, max_norm: {"norms": np.full(int(groups), max_norm)},
         groups=COUNT, max_norm=NOISE)
@printed("1.0", norms=np.full(4, 0.5))
@wrong("largest", "A record may fill the norms of all groups at once.",
       lambda norms: float(np.max(norms)), says=r"\max_m C_m")
@wrong("harmonic-mean",
       "Needs D = 1 / sum(1/d_m), the harmonic mean over M; otherwise it is M C^2.", "1.0",
       says=r"C_m = C\sqrt{D/d_m},\ D \text{ the harmonic mean of the sizes} \Rightarrow \sum_m "
       r"C_m^2 = C^2",
       oracle=lambda sizes: longest_contribution(norms=np.sqrt(1 / np.mean(1 / sizes) / sizes)),
       without="norms", sizes=_FOUR_SIZES)
def joint_norm(*, norms):
    r"""\max\lVert(\pi_{C_1}(g_1), \dots, \pi_{C_M}(g_M))\rVert_2 = \Big(\sum_m C_m^2\Big)^{1/2}

    norms: Clipping norms, > 0"""
    return math.sqrt(float(np.sum(np.square(norms))))


@formula("G-F8", "Least noise energy over groups")
@given("noise_multiplier > 0", sizes=_FOUR_SIZES,
       norms=Drawn(lambda rng: rng.choice([0.2, 0.5, 1.0, 2.0], size=4)),
       noise_multiplier=Choice(0.5, 1.0, 2.0))
@identity("Boyd & Vandenberghe 2004, Section 5.5, Lagrange multipliers", energy_by_search,
          tolerance=1e-6, unsafe=None, points=10)
@printed("4884.46", sizes=np.array([400.0, 50.0, 12000.0, 10.0]), norms=np.full(4, 0.5),
         noise_multiplier=1.0)
@wrong("equal", "Valid, but large groups should get a smaller multiplier: it counts d_m times.",
       lambda sizes, norms, noise_multiplier: float(sizes.size * noise_multiplier**2 * np.sum(sizes
       * np.square(norms))), says=r"z_m = z^*\sqrt{M} \text{ is best}")
def least_noise_energy(*, sizes, norms, noise_multiplier):
    r"""\min_{z:\ \sum_m z_m^{-2} = z^{*-2}} \sum_m d_m z_m^2 C_m^2 = \Big(z^*\sum_m
    C_m\sqrt{d_m}\Big)^2,\quad z_m^2 = z^{*2}\,\frac{\sum_j C_j\sqrt{d_j}}{C_m\sqrt{d_m}}

    sizes: Numbers of coordinates d_m
    norms: Clipping norms C_m"""
    weights = np.asarray(norms, dtype=float) * np.sqrt(np.asarray(sizes, dtype=float))
    return float(noise_multiplier * np.sum(weights)) ** 2
