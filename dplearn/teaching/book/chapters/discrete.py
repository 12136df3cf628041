"""Whole-number noise: discrete Gaussians, their sums, and Skellam noise."""

from scipy.special import gammaln

from dplearn.teaching.book.kit.vocabulary import *

_WHOLE_QUERY = {"sigma": Log(0.2, 50.0), "sensitivity": Whole(1, 5)}


def _log_masses(sigma: float, reach: int, centre: float = 0.0) -> NDArray:
    """Return the log masses of a discrete Gaussian on -reach, ..., reach."""
    logs = -0.5 * ((np.arange(-reach, reach + 1.0) - centre) / sigma) ** 2
    return logs - np.logaddexp.reduce(logs)


def _renyi(logs: NDArray, shift: int, order: float) -> float:
    """Return the Rényi divergence of a law on consecutive integers and its shift, by definition."""
    p, q = logs[: logs.size - shift], logs[shift:]
    return float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)


def gaussian_spread(*, sigma, centre=0.0):
    """Return the variance of a discrete Gaussian, term by term."""
    reach = math.ceil(40 * sigma) + 2
    masses, k = np.exp(_log_masses(sigma, reach, centre)), np.arange(-reach, reach + 1.0) - centre
    return float(masses @ (k - masses @ k) ** 2)


def discrete_delta(*, sigma, sensitivity, epsilon):
    """Return the hockey-stick divergence as a sum over all outputs."""
    logs = _log_masses(sigma, math.ceil(40 * sigma) + 5 * sensitivity)
    p, q = logs[: logs.size - sensitivity], logs[sensitivity:]
    gains = np.maximum(-np.expm1(np.minimum(epsilon - (p - q), 0.0)), 0.0)
    return float(np.exp(p) @ gains)


def discrete_renyi(*, sigma, sensitivity, order):
    """Return the Rényi divergence; inf if the two laws have disjoint supports."""
    if sensitivity != round(sensitivity):
        return math.inf
    shift = round(sensitivity)
    return _renyi(_log_masses(sigma, math.ceil(40 * sigma + order * shift) + shift), shift, order)


def _sum(sigma: float, clients: int) -> NDArray:
    law = one = np.exp(_log_masses(sigma, math.ceil(12 * sigma) + 2))
    for _ in range(clients - 1):
        law = np.convolve(law, one)
    return law


def sum_delta(*, sigma, clients, sensitivity, epsilon):
    """Return the hockey-stick divergence of a shifted sum, over all outputs."""
    law, gap = _sum(sigma, clients), np.zeros(sensitivity)
    p, q = np.append(gap, law), np.append(law, gap)
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)))


def sum_against_one(*, sigma, clients):
    """Return the largest absolute log ratio of the sum's law and one discrete Gaussian.

    The ratio has period `clients`, so one period around 0 is enough.
    """
    law = _sum(sigma, clients)
    middle, reach = law.size // 2, (clients + 1) // 2
    near = slice(middle - reach, middle + reach + 1)
    wide = _log_masses(math.sqrt(clients) * sigma, middle)
    return float(np.max(np.abs(np.log(law[near]) - wide[near])))


def skellam_renyi(*, variance, orders, shift):
    """Return the sum of the coordinates' Rényi divergences under Skellam noise."""
    mean, largest = variance / 2, max(shift)
    reach = math.ceil(3 * orders * largest + variance + 12 * math.sqrt(variance)) + 60 + largest
    # The difference of two Poisson counts is k = 0, 1, ... where the first is k + extra.
    extra = np.arange(math.ceil(mean + 12 * math.sqrt(mean)) + 60.0)
    total = np.arange(reach + 1.0)[:, None] + extra
    pairs = (total + extra) * math.log(mean) - gammaln(total + 1) - gammaln(extra + 1) - variance
    half = np.logaddexp.reduce(pairs, axis=1)
    logs = np.concatenate([half[:0:-1], half])
    return sum(_renyi(logs, size, orders) for size in shift)


@formula("G-J1", "Variance of the discrete Gaussian")
@given("sigma > 0", sigma=Log(0.05, 100.0))
@upper("Canonne, Kamath & Steinke 2020, Corollary 9", gaussian_spread, unsafe=None)
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
    # e^-x where e^x overflows.
    lost = x * math.exp(-x) if x > 700 else x / math.expm1(x)
    return sigma**2 * (1 - lost)


@formula("G-J2", "Privacy profile of the discrete Gaussian")
@given("sigma > 0 and sensitivity >= 1 and epsilon >= 0", _WHOLE_QUERY, epsilon=Linear(0.0, 5.0))
@identity("Canonne, Kamath & Steinke 2020, Theorem 7", discrete_delta, absolute=1e-250)
@printed("0.141351339", "0.141351339", sigma=1.0, sensitivity=1, epsilon=1.0)
@wrong("continuous", "Equal Rényi divergences at whole orders do not make equal profiles.",
       "Phi(sensitivity / (2 * sigma) - epsilon * sigma / sensitivity) - exp(epsilon) * "
       "Phi(-sensitivity / (2 * sigma) - epsilon * sigma / sensitivity)", sigma=Log(0.2, 5.0))
def discrete_gaussian_delta(*, sigma, sensitivity, epsilon):
    r"""\delta(\varepsilon) =
    P\Big(Y > \frac{\varepsilon\sigma^2}\Delta - \frac\Delta2\Big)
    - e^\varepsilon P\Big(Y > \frac{\varepsilon\sigma^2}\Delta + \frac\Delta2\Big)"""
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


def _as_one(*, sigma, clients, sensitivity, epsilon):
    return discrete_gaussian_delta(
        sigma=math.sqrt(clients) * sigma, sensitivity=sensitivity, epsilon=epsilon
    )


@formula("G-J3b", "Privacy of a sum of discrete Gaussians")
@given("sigma >= 0.5 and clients >= 1 and sensitivity >= 1 and epsilon >= 0", sigma=Log(0.5, 2.0),
       clients=Whole(1, 100), sensitivity=Whole(1, 10), epsilon=Linear(0.0, 5.0))
@upper("Kairouz, Liu & Steinke 2021, Theorem 9", sum_delta, points=60)
@printed("9.947e-06", "9.888e-06", sigma=1.0, clients=100, sensitivity=10, epsilon=4.38)
@wrong("as-one", "100 clients with sigma = 1/2 have epsilon 4.57 at delta = 1e-5, not 4.38.",
       _as_one, says=r"\delta_{\sum_iX_i} = \delta_Y \text{ as if they were one}")
@wrong("as-invited", "Who leaves takes noise along: without 30 of 100 epsilon is 5.39, not 4.38.",
       lambda sigma, clients, sensitivity, epsilon, left:
       summed_discrete_gaussian_delta(sigma=sigma, clients=clients, sensitivity=sensitivity,
       epsilon=epsilon), says=r"\text{the same for the sum of any } n - j \text{ of them}",
       given="sigma >= 0.5 and 0 <= left and left < clients and sensitivity >= 1 and epsilon >= 0",
       oracle=lambda sigma, clients, sensitivity, epsilon, left: sum_delta(sigma=sigma,
       clients=clients - left, sensitivity=sensitivity, epsilon=epsilon), clients=Whole(2, 100),
       left=Choice(1, 10, 30))
def summed_discrete_gaussian_delta(*, sigma, clients, sensitivity, epsilon):
    r"""X_1,\dots,X_n \sim N_{\mathbb Z}(0,\sigma^2),\ Y \sim N_{\mathbb Z}(0,n\sigma^2):\quad
    \delta_{\sum_iX_i}(\varepsilon) \le e^\tau\,\delta_Y(\varepsilon - 2\tau), \quad \tau
    \text{ as for the masses}"""
    gap = discrete_gaussian_sum_gap(sigma=sigma, clients=clients)
    if gap > 1:
        return 1.0
    one = _as_one(sigma=sigma, clients=clients, sensitivity=sensitivity, epsilon=epsilon - 2 * gap)
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
    X = \mathrm{Poisson}(\mu/2) - \mathrm{Poisson}(\mu/2)"""
    small = ((2 * orders - 1) * l2**2 + 6 * l1) / (4 * variance**2)
    return orders * l2**2 / (2 * variance) + np.minimum(small, 3 * l1 / (2 * variance))
