"""Continuous and discrete Gaussian noise: guarantees, parameter groups, sums; Skellam noise."""

from dplearn.core.solve import decreasing_root
from dplearn.mechanisms.gaussian import gaussian_epsilon, gaussian_log_delta
from dplearn.teaching.book.kit.vocabulary import *

_GENERAL = "McMahan et al. 2018, A general approach, arXiv 1812.06210"
_FOUR_SIZES = Drawn(lambda rng: np.round(np.exp(rng.uniform(0.0, 10.0, size=4))))


def longest_contribution(*, norms):
    """Return the largest joint norm of random gradients, with group i clipped to norms[i]."""
    groups = np.random.default_rng(5).normal(size=(len(norms), 7))
    clip = lambda group, norm: group * min(1.0, norm / np.linalg.norm(group))
    joint = lambda size: [clip(size * g, norm) for g, norm in zip(groups, norms, strict=True)]
    return max(float(np.linalg.norm(joint(size))) for size in (1e-3, 1.0, 1e6))


def energy_by_search(*, sizes, norms, noise_multiplier):
    """Return the least total noise variance over group multipliers z / sqrt(s_m), sum s_m = 1."""
    from scipy.optimize import minimize

    log_cost = np.log(sizes * np.square(norms) * noise_multiplier**2)
    # s is exp(x) / sum(exp(x)); the second term is the logarithm of this sum.
    log_energy = lambda x: np.logaddexp.reduce(log_cost - x) + np.logaddexp.reduce(x)
    return math.exp(minimize(log_energy, np.zeros(sizes.size), tol=1e-9).fun)


def std_of_divergence(order, epsilon, distance):
    """Return the standard deviation at which Gaussian noise has the Rényi divergence `epsilon`."""
    enough = lambda x: oracles.normal_renyi(distance, math.exp(x), order) <= epsilon
    guess = 0.5 * math.log(distance**2 * order / epsilon)
    return math.exp(oracles.smallest(enough, low=guess - 1.6, high=guess + 1.6, rtol=1e-10))


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
@identity("Bun & Steinke 2016, Proposition 1.6", lambda rho, distance: max(std_of_divergence(order,
          rho * order, distance) for order in (1.1, 25.0)), tolerance=1e-8, points=20)
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
@identity("Zhao et al. 2019, Section 3", lambda delta: oracles.smallest(lambda epsilon:
          oracles.normal_delta(epsilon=epsilon, mu=epsilon / math.sqrt(2 * math.log(1.25 / delta)))
          >= delta, low=0.5, high=100.0), tolerance=1e-8, unsafe="larger", points=12)
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
    c = math.sqrt(2 * math.log(1.25 / delta))
    # The root is unique, since delta at mu = epsilon / c increases with epsilon.
    margin = lambda epsilon: math.log(delta) - gaussian_log_delta(epsilon, epsilon / c)
    return float(decreasing_root(margin, lower=1.0, upper=100.0))


@formula("G-F4", "One noise multiplier for several groups")
@given("noise_multipliers > 0", noise_multipliers=Drawn(lambda rng: 0.05 + np.exp(
       rng.normal(0.0, rng.choice([0.1, 1.0, 2.0]), size=rng.integers(1, 7))).round(3)))
@identity(_GENERAL, lambda noise_multipliers: math.fsum(oracles.normal_renyi(1.0, z) for z in
          noise_multipliers) ** -0.5, unsafe="larger", points=40)
@setting("the multiplier of several parts with their own noise, together",
         "各部分各加噪声时合起来的乘数", "sigma", "group part layer together 组",
         noise_multipliers=Log(0.3, 5.0))
@printed("0.6871180012", noise_multipliers=np.array([0.8, 1.5, 3.0]))
@wrong("power-mean", "A mean is too large by the root of the number of groups.",
       lambda noise_multipliers: np.mean(noise_multipliers**-2.0) ** -0.5,
       says=r"z^* = \Big(\frac1M\sum_m z_m^{-2}\Big)^{-1/2}")
@wrong("arithmetic-mean", "Every group leaks, so z* is below the smallest multiplier.",
       lambda noise_multipliers: np.mean(noise_multipliers), says=r"z^* = \frac1M\sum_m z_m")
@wrong("harmonic-mean", "Losses of independent noises add as squares, and they add: no mean.",
       lambda noise_multipliers: 1 / np.mean(1 / noise_multipliers),
       says=r"z^* = \Big(\frac1M\sum_m z_m^{-1}\Big)^{-1}")
@wrong("smallest", "The weakest group is a lower bound on the loss, the others come on top.",
       lambda noise_multipliers: np.min(noise_multipliers), says=r"z^* = \min_m z_m")
@wrong("lot", "Follows from noise once per example; with noise once per step no L appears.",
       lambda noise_multipliers, batch: (np.sum(noise_multipliers**-2.0) * batch) ** -0.5,
       says=r"z^* = \Big(L\sum_m z_m^{-2}\Big)^{-1/2}", batch=Choice(1, 100, 256))
def grouped_noise_multiplier(*, noise_multipliers):
    r"""z^* = \Big(\sum_m z_m^{-2}\Big)^{-1/2}

    noise_multipliers: Noise standard deviation / clipping norm of each group, > 0; one
      record contributes to all groups"""
    z = np.asarray(noise_multipliers, dtype=float)
    return float(np.sum(z**-2.0) ** -0.5)


@formula("G-F4b", "Norm of a contribution that is clipped by groups")
@given(norms=Drawn(lambda rng: rng.choice([0.1, 0.5, 1.0, 3.0], size=rng.integers(1, 6))))
@identity(_GENERAL, longest_contribution, points=30)
@setting("the joint clipping norm of m groups", "m 组合起来的裁剪范数", "sensitivity",
         "group layer 组", into=lambda groups, max_norm: {"norms": [max_norm] * groups},
         groups=COUNT, max_norm=NOISE)
@printed("1.0", norms=np.full(4, 0.5))
@wrong("largest", "A record may fill the norms of all groups at once.",
       lambda norms: np.max(norms), says=r"\max_m C_m")
@wrong("harmonic-mean",
       "Needs D = 1 / sum(1/d_m), the harmonic mean over M; otherwise it is M C^2.",
       "1.0", says=r"C_m = C\sqrt{D/d_m},\ D \text{ the harmonic mean of the sizes} \Rightarrow "
       r"\sum_m C_m^2 = C^2", oracle=lambda sizes: longest_contribution(norms=np.sqrt(1 / np.mean(1
       / sizes) / sizes)), without="norms", sizes=_FOUR_SIZES)
def joint_norm(*, norms):
    r"""\max\lVert(\pi_{C_1}(g_1), \dots, \pi_{C_M}(g_M))\rVert_2 = \Big(\sum_m C_m^2\Big)^{1/2}"""
    return math.sqrt(float(np.sum(np.square(norms))))


@formula("G-F8", "Least noise energy over groups")
@given("noise_multiplier > 0", sizes=_FOUR_SIZES, norms=Drawn(lambda rng: rng.choice([0.2,
       0.5, 1.0, 2.0], size=4)), noise_multiplier=Choice(0.5, 1.0, 2.0))
@identity("Boyd & Vandenberghe 2004, Section 5.5, Lagrange multipliers", energy_by_search,
          tolerance=1e-6, unsafe=None, points=10)
@printed("4884.46", sizes=np.array([400.0, 50.0, 12000.0, 10.0]), norms=np.full(4, 0.5),
         noise_multiplier=1.0)
@wrong("equal", "Valid, but large groups should get a smaller multiplier: it counts d_m times.",
       lambda sizes, norms, noise_multiplier: sizes.size * noise_multiplier**2 * np.sum(sizes *
       np.square(norms)), says=r"z_m = z^*\sqrt{M} \text{ is best}")
def least_noise_energy(*, sizes, norms, noise_multiplier):
    r"""\min_{z:\ \sum_m z_m^{-2} = z^{*-2}} \sum_m d_m z_m^2 C_m^2 = \Big(z^*\sum_m
    C_m\sqrt{d_m}\Big)^2,\quad z_m^2 = z^{*2}\,\frac{\sum_j C_j\sqrt{d_j}}{C_m\sqrt{d_m}}

    sizes: Numbers of coordinates d_m"""
    weights = np.asarray(norms, dtype=float) * np.sqrt(np.asarray(sizes, dtype=float))
    return float(noise_multiplier * np.sum(weights)) ** 2


_WHOLE = np.arange(-4000.0, 4001.0)
_WHOLE_QUERY = {"sigma": Log(0.2, 50.0), "sensitivity": Whole(1, 5)}


def _log_masses(sigma: float, reach: int) -> NDArray:
    """Return the log masses of a discrete Gaussian on -reach, ..., reach."""
    logs = -0.5 * (np.arange(-reach, reach + 1.0) / sigma) ** 2
    return logs - np.logaddexp.reduce(logs)


def _renyi(logs: NDArray, shift: int, order: float) -> float:
    """Return the Rényi divergence of a distribution on consecutive integers and its shift."""
    p, q = logs[: logs.size - shift], logs[shift:]
    return float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)


def discrete_renyi(*, sigma, sensitivity, order):
    """Return the Rényi divergence of shifted discrete Gaussians; inf if the shift is no integer."""
    shift = math.ceil(sensitivity)
    logs = _log_masses(sigma, math.ceil(40 * sigma + order * shift) + shift)
    return _renyi(logs, shift, order) if shift == sensitivity else math.inf


def _sum(sigma: float, clients: int, far: float = 12.0) -> NDArray:
    """Return the masses of a sum of `clients` discrete Gaussians, each truncated at far * sigma."""
    return reduce(np.convolve, [np.exp(_log_masses(sigma, math.ceil(far * sigma) + 2))] * clients)


def sum_delta(sigma, clients, sensitivity, epsilon, far=12.0):
    """Return delta at `epsilon` if the sum of all clients' noise is shifted by `sensitivity`."""
    law, gap = _sum(sigma, clients, far), np.zeros(sensitivity)
    p, q = np.append(gap, law), np.append(law, gap)
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)))


def sum_against_one(*, sigma, clients):
    """Return the largest |log mass ratio| of a sum of discrete Gaussians to a single, wider one."""
    # The ratio has period `clients`, so one period around 0 is enough.
    law = _sum(sigma, clients)
    middle, reach = law.size // 2, (clients + 1) // 2
    near = slice(middle - reach, middle + reach + 1)
    wide = _log_masses(math.sqrt(clients) * sigma, middle)
    return float(np.max(np.abs(np.log(law[near]) - wide[near])))


def skellam_renyi(*, variance, orders, shift):
    """Return the Rényi divergence of Skellam noise on a vector, summed over the coordinates."""
    mean, largest = variance / 2, max(shift)
    reach = math.ceil(3 * orders * largest + variance + 12 * math.sqrt(variance)) + 60 + largest
    # Skellam noise is k if the two Poisson counts are k + extra and extra, summed over `extra`.
    extra = np.arange(math.ceil(mean + 12 * math.sqrt(mean)) + 60.0)
    total = np.arange(reach + 1.0)[:, None] + extra
    pairs = (total + extra) * math.log(mean) - gammaln(total + 1) - gammaln(extra + 1) - variance
    half = np.logaddexp.reduce(pairs, axis=1)
    logs = np.concatenate([half[:0:-1], half])
    return sum(_renyi(logs, size, orders) for size in shift)


@formula("G-J1", "Variance of the discrete Gaussian")
@given("sigma > 0", sigma=Log(0.05, 100.0))
@upper("Canonne, Kamath & Steinke 2020, Corollary 9", lambda sigma, centre=0.0: oracles.variance(
       np.exp(-0.5 * ((_WHOLE - centre) / sigma) ** 2), _WHOLE), unsafe=None)
@setting("variance of the discrete Gaussian with parameter σ", "参数 σ 的离散高斯分布的方差",
         "variance", "discrete integer 离散", below=lambda: 0.0, rare=True)
@printed("0.249872371552", "0.215012675088", sigma=0.5)
@printed("1.0000000000", "0.999999788768", sigma=1.0)
@wrong("sigma-squared", "Rounding keeps mass in 0: the variance is smaller, far smaller below 1/2.",
       "sigma**2", kind="identity")
@wrong("any-centre", "Around 1/2 two numbers are equally likely: 1/4 even if sigma is tiny.",
       says=r"\mathrm{Var} < \sigma^2 \text{ for every centre } \mu",
       given="sigma > 0 and 0 <= centre", centre=Linear(0.0, 0.5))
def discrete_gaussian_variance(*, sigma):
    r"""P(X=k) \propto e^{-k^2/2\sigma^2}:\quad \mathrm{Var}X \le
    \sigma^2\Big(1 - \frac{4\pi^2\sigma^2}{e^{4\pi^2\sigma^2}-1}\Big) < \sigma^2"""
    x = (2 * math.pi * sigma) ** 2
    # Use exp(-x) where exp(x) overflows.
    lost = x * math.exp(-x) if x > 700 else x / math.expm1(x)
    return sigma**2 * (1 - lost)


@formula("G-J2", "Privacy profile of the discrete Gaussian")
@given("sigma > 0 and sensitivity >= 1 and epsilon >= 0", _WHOLE_QUERY, epsilon=Linear(0.0, 5.0))
@identity("Canonne, Kamath & Steinke 2020, Theorem 7", partial(sum_delta, clients=1, far=40.0),
          absolute=1e-250)
@printed("0.141351339", "0.141351339", sigma=1.0, sensitivity=1, epsilon=1.0)
@wrong("continuous", "Equal Rényi divergences at whole orders do not make equal profiles.",
       "Phi(sensitivity / (2 * sigma) - epsilon * sigma / sensitivity) - exp(epsilon) * "
       "Phi(-sensitivity / (2 * sigma) - epsilon * sigma / sensitivity)", sigma=Log(0.2, 5.0))
def discrete_gaussian_delta(*, sigma, sensitivity, epsilon):
    r"""\delta(\varepsilon) = P\Big(Y > \frac{\varepsilon\sigma^2}\Delta - \frac\Delta2\Big) -
    e^\varepsilon P\Big(Y > \frac{\varepsilon\sigma^2}\Delta + \frac\Delta2\Big)"""
    middle, far = epsilon * sigma**2 / sensitivity, math.ceil(40 * sigma)
    k = np.arange(-far - sensitivity, far + sensitivity + 1)
    weights = np.exp(-0.5 * (k / sigma) ** 2)
    above = np.sum(weights[k > middle - sensitivity / 2])
    well_above = np.sum(weights[k > middle + sensitivity / 2])
    return float((above - math.exp(epsilon) * well_above) / np.sum(weights))


@formula("G-J2b", "Concentrated DP of the discrete Gaussian")
@given("sigma > 0 and sensitivity >= 1 and order > 1", _WHOLE_QUERY, order=Log(1.02, 100.0))
@upper("Canonne, Kamath & Steinke 2020, Theorem 4", discrete_renyi, tolerance=1e-8)
@printed("1", "1.00000000", sigma=1.0, sensitivity=1, order=2.0)
@wrong("equality", "Equal where alpha Delta is a whole number, smaller between.",
       says=r"D_\alpha = \alpha\,\frac{\Delta^2}{2\sigma^2} \text{ for all } \alpha > 1",
       kind="identity", sigma=Log(0.2, 2.0))
@wrong("any-query", "Then neighbours have no output in common: round first.",
       says=r"\text{the same for a query with real values}",
       given="sigma > 0 and sensitivity > 0 and order > 1", sensitivity=Choice(0.5, 1.0, 1.5))
def discrete_gaussian_rdp(*, sigma, sensitivity, order):
    r"""D_\alpha \le \alpha\,\frac{\Delta^2}{2\sigma^2} \text{ for all } \alpha > 1"""
    return order * sensitivity**2 / (2 * sigma**2)


@formula("G-J3", "A sum of discrete Gaussians is nearly one")
@given("sigma >= 0.5 and clients >= 1", sigma=Log(0.5, 4.0), clients=Whole(1, 40))
@upper("Kairouz, Liu & Steinke 2021, Theorem 9", sum_against_one, points=60)
@printed("0.0005435243", sigma=1.0, clients=10)
@wrong("closed-under-sums", "Nearly so for sigma of 1 or more, but not quite.", "0.0")
@wrong("any-sigma", "For tiny sigma most sums are 0, n different single steps lead to 1.",
       says=r"\text{the same bound for every } \sigma > 0", given="sigma > 0 and clients >= 2",
       sigma=Log(0.05, 0.5), clients=Whole(2, 4))
def discrete_gaussian_sum_gap(*, sigma, clients):
    r"""X_1,\dots,X_n \sim N_{\mathbb Z}(0,\sigma^2),\ Y \sim N_{\mathbb Z}(0,n\sigma^2):
    \quad \Big|\ln\frac{P(\sum_iX_i=k)}{P(Y=k)}\Big|
    \le \tau = 10\sum_{k=1}^{n-1}e^{-2\pi^2\sigma^2k/(k+1)}"""
    k = np.arange(1, clients)
    return 10 * float(np.sum(np.exp(-2 * (math.pi * sigma) ** 2 * k / (k + 1))))


@formula("G-J3b", "Privacy of a sum of discrete Gaussians")
@given("sigma >= 0.5 and clients >= 1 and sensitivity >= 1 and epsilon >= 0", sigma=Log(0.5, 2.0),
       clients=Whole(1, 100), sensitivity=Whole(1, 10), epsilon=Linear(0.0, 5.0))
@upper("Kairouz, Liu & Steinke 2021, Theorem 9", sum_delta, points=60)
@printed("9.947e-06", "9.888e-06", sigma=1.0, clients=100, sensitivity=10, epsilon=4.38)
@wrong("as-one", "100 clients with sigma = 1/2 have epsilon 4.57 at delta = 1e-5, not 4.38.", lambda
       sigma, clients, **at: discrete_gaussian_delta(sigma=math.sqrt(clients) * sigma, **at),
       says=r"\delta_{\sum_iX_i} = \delta_Y \text{ as if they were one}")
@wrong("as-invited", "Who leaves takes noise along: without 30 of 100 epsilon is 5.39, not 4.38.",
       says=r"\text{the same for the sum of any } n - j \text{ of them}",
       given="sigma >= 0.5 and 0 <= left and left < clients and sensitivity >= 1 and epsilon >= 0",
       oracle=lambda clients, left, **at: sum_delta(clients=clients - left, **at), clients=Whole(2,
       100), left=Choice(1, 10, 30))
def summed_discrete_gaussian_delta(*, sigma, clients, sensitivity, epsilon):
    r"""X_1,\dots,X_n \sim N_{\mathbb Z}(0,\sigma^2),\ Y \sim N_{\mathbb Z}(0,n\sigma^2):\quad
    \delta_{\sum_iX_i}(\varepsilon) \le e^\tau\,\delta_Y(\varepsilon - 2\tau), \quad \tau
    \text{ as for the masses}"""
    gap = discrete_gaussian_sum_gap(sigma=sigma, clients=clients)
    if gap > 1:
        return 1.0
    one = discrete_gaussian_delta(sigma=math.sqrt(clients) * sigma, sensitivity=sensitivity,
                                  epsilon=epsilon - 2 * gap)
    return min(math.exp(gap) * one, 1.0)


@formula("G-J4", "Skellam mechanism: RDP")
@given("orders >= 2 and floor(orders) == orders and variance > 0", orders=Whole(2, 30),
       variance=Log(0.05, 100.0),
       shift=Choice((1,), (2,), (5,), (1, 1), (3, 1), (1,) * 10, (4, 1, 1, 1, 1)),
       l1=Derived(lambda shift: sum(shift)), l2=Derived(lambda shift: math.hypot(*shift)))
@upper("Agarwal, Kairouz & Liu 2021, Theorem 3.5", skellam_renyi, points=40)
@printed("0.1225", "0.099654438", orders=2, variance=10.0, l1=1, l2=1.0, shift=(1,))
@wrong("as-gaussian",
       "At whole orders it was an upper bound wherever tried, and far from the value.",
       "orders * l2**2 / (2 * variance)",
       says=r"D_\alpha = \frac{\alpha\Delta_2^2}{2\mu}", kind="identity")
@wrong("as-gaussian-at-all-orders",
       "Just above order 1 and for a variance of about 1 it is five percent too small.",
       "orders * l2**2 / (2 * variance)",
       says=r"D_\alpha \le \frac{\alpha\Delta_2^2}{2\mu} \text{ for all } \alpha > 1",
       given="orders > 1 and variance > 0", orders=Log(1.02, 2.0), shift=Choice((1,)))
def skellam_rdp_bound(*, orders, variance, l1, l2):
    r"""\varepsilon(\alpha) = \frac{\alpha\Delta_2^2}{2\mu} +
    \min\Big(\frac{(2\alpha-1)\Delta_2^2 + 6\Delta_1}{4\mu^2}, \frac{3\Delta_1}{2\mu}\Big),\quad
    X = \mathrm{Poisson}(\mu/2) - \mathrm{Poisson}(\mu/2)

    variance: mu, of the noise
    shift: change of the answer by one record
    l1: Delta_1, the L1 norm of the shift
    l2: Delta_2, its L2 norm"""
    small = ((2 * orders - 1) * l2**2 + 6 * l1) / (4 * variance**2)
    return orders * l2**2 / (2 * variance) + np.minimum(small, 3 * l1 / (2 * variance))
