"""From Rényi and concentrated DP to (epsilon, delta)."""

from dplearn.accountants.theorems import rdp_to_epsilon, rdp_to_epsilon_mironov, zcdp_to_epsilon
from dplearn.teaching.book.kit.vocabulary import *

_RDP = {"orders": Log(1.01, 300.0), "rdp": Log(1e-4, 50.0), "delta": Log(1e-12, 0.9)}
_ANY_RDP = "orders > 1 and rdp >= 0 and 0 < delta < 1"
_ZCDP = {"rho": Log(1e-5, 100.0), "delta": Log(1e-12, 0.9)}
_ANY_ZCDP = "rho > 0 and 0 < delta < 1"
_SMALL = Log(1e-12, 1e-3)
_EVERY_RDP = setting("every mechanism that is (α,ε)-RDP, as (ε',δ)-DP",
                     "每个 (α,ε)-RDP 机制，换成 (ε',δ)-DP", "epsilon", "rényi renyi rdp",
                     below=below.rdp_epsilon, orders=ORDER, rdp=RHO, delta=SLACK)


def zoomed(f: Callable[[NDArray], NDArray], low: float, high: float) -> float:
    """Return the minimum of a unimodal function, found on successively finer grids."""
    for _ in range(7):
        x = np.linspace(low, high, 61)
        y = f(x)
        k = int(np.argmin(y))
        low, high = float(x[max(k - 2, 0)]), float(x[min(k + 2, 60)])
    return float(y[k])


def bernoulli_epsilon(orders, rdp, delta):
    """Return the largest epsilon at `delta` of Bernoulli pairs with Rényi divergence <= `rdp`."""

    # Bernoulli pairs are the worst: an event's indicator has no larger divergence than the pair.
    def too_far(epsilon: float) -> bool:
        def log_moment(place: NDArray) -> NDArray:
            """Return ln E_Q[(P/Q)^orders] if P(1) = a and Q(1) = b = exp(-epsilon) (a - delta)."""
            log_b = np.log1p(-delta) + np.log(expit(place)) - epsilon
            log_a = np.log(delta + (1 - delta) * expit(place))
            # log(1 - a) and log(1 - b), without cancellation.
            log_miss, log_other = np.log1p(-delta) + np.log(expit(-place)), log1mexp(log_b)
            inside = orders * log_a + (1 - orders) * log_b
            return np.logaddexp(inside, orders * log_miss + (1 - orders) * log_other)

        return zoomed(log_moment, -60.0, 36.0) > (orders - 1) * rdp

    return oracles.smallest(too_far, low=0.0, high=2 * (rdp - math.log(delta) / (orders - 1)) + 1)


def pointwise_epsilon(*, orders, rdp, delta):
    """Return epsilon from (1 - exp(epsilon - z))_+ <= c exp((orders - 1) z) for all losses z."""
    # For losses z = epsilon + t, the smallest c is exp((1 - orders) epsilon + log_c).
    minus_log = lambda t: (orders - 1) * t - np.log(-np.expm1(-t))
    log_c = -zoomed(lambda log_t: minus_log(np.exp(log_t)), -20.0, 8.0)
    return max(0.0, rdp + (log_c - math.log(delta)) / (orders - 1))


def steps_without_a_better_order(*, order, rho, delta):
    """Return at how many rho-zCDP releases, as a real number, `order` minimises epsilon."""
    more, less = (order - 1) * 1.01, (order - 1) / 1.01
    bound = lambda log_steps, x: rho * math.exp(log_steps) * x - math.log(delta) / x
    smaller_is_better = lambda log_steps: bound(log_steps, more) >= bound(log_steps, less)
    return math.exp(oracles.smallest(smaller_is_better, low=-40.0, high=40.0))


def least_moment_bound(*, noise_multiplier, delta):
    """Return the least (K(l) + ln(1/delta)) / l over l > 0 for the Gaussian's log moment K."""
    mu = 1 / noise_multiplier

    def bound(log_moments: NDArray) -> NDArray:
        moments = np.exp(log_moments)
        x = np.arange(-12.0, 12.0 + mu * (np.max(moments) + 1), 0.5)
        log_masses = (oracles.log_normal(mean)(x) + math.log(0.5) for mean in (mu, 0.0))
        return (oracles.log_moment(*log_masses, moment=moments) - math.log(delta)) / moments

    centre = math.log(noise_multiplier * math.sqrt(-2 * math.log(delta)))
    return zoomed(bound, centre - 1.5, centre + 1.5)


enter(rdp_to_epsilon_mironov,
      formula("G-D1", "From Rényi DP to epsilon and delta, the first conversion",
              statement=r"\varepsilon = \rho + \frac{\ln(1/\delta)}{\alpha-1}"),
      given(_ANY_RDP, _RDP),
      upper("Mironov 2017, Proposition 3", bernoulli_epsilon, points=60),
      _EVERY_RDP,
      setting("adaptive releases, RDP of order α, as (ε,δ)-DP",
              "自适应发布的 α 阶 RDP，换成 (ε,δ)-DP", "epsilon", "compos releas 组合",
              below=lambda orders, rdps, delta: below.rdp_epsilon(orders, np.sum(rdps, axis=-1,
              keepdims=True), delta), into=lambda rdps: {"rdp": sum(rdps)}, orders=ORDER, rdps=RHO,
              delta=SLACK),
      setting("(ε,δ)-DP from the λ-th log moment", "由 λ 阶对数矩得到 (ε,δ)-DP", "epsilon",
              "moment 矩", below=lambda moment, log_moment, delta: below.rdp_epsilon(moment + 1,
              log_moment / moment, delta), into=lambda moment, log_moment: {"orders": moment + 1,
              "rdp": log_moment / moment}, moment=Log(1.0, 20.0), log_moment=RHO, delta=SLACK),
      printed("1.77921394", "1.41677040", orders=10.0, rdp=0.5, delta=1e-5),
      printed("12.5129255", "10.66797924", orders=2.0, rdp=1.0, delta=1e-5),
      wrong("bracket", "The denominator is alpha - 1: the bracket was lost in print.",
            "rdp - log(delta) / orders - 1", delta=_SMALL),
      wrong("divided-by-order",
            "Harmless at large orders, where the first conversion has slack to spare.",
            "rdp - log(delta) / orders", delta=_SMALL),
      wrong("tight", "The improved conversion is always smaller.", says=r"\rho + "
            r"\ln(1/\delta)/(\alpha-1) \text{ is the best epsilon}", kind="identity", delta=_SMALL))

enter(rdp_to_epsilon,
      formula("G-D2", "From Rényi DP to epsilon and delta, improved", statement=r"\varepsilon "
              r"= \rho + \ln\frac{\alpha-1}\alpha - \frac{\ln\delta + \ln\alpha}{\alpha-1}"),
      given(_ANY_RDP, _RDP),
      upper("Canonne, Kamath & Steinke 2020, Proposition 12", bernoulli_epsilon, points=60),
      _EVERY_RDP,
      setting("every ρ-zCDP mechanism, as (ε,δ)-DP", "每个 ρ-zCDP 机制，换成 (ε,δ)-DP", "epsilon",
              "zcdp", below=below.gaussian_epsilon, into=lambda orders, rho: {"rdp": orders * rho},
              orders=ORDER, rho=RHO, delta=SLACK),
      printed("1.41801064", "1.41677040", orders=10.0, rdp=0.5, delta=1e-5),
      wrong("sign", "Still an upper bound, but not what the proof gives: the improvement shrinks.",
            "max(rdp + log1p(-1 / orders) - (log(delta) - log(orders)) / (orders - 1), 0.0)",
            kind="identity", oracle=pointwise_epsilon, delta=_SMALL),
      wrong("tight", "Optimising over pairs of coins gives slightly less (Asoodeh et al. 2020).",
            says=r"\text{the best epsilon that } D_\alpha \le \rho \text{ allows}",
            kind="identity", delta=_SMALL))


@formula("G-D3", "From zCDP to epsilon and delta")
@given(_ANY_ZCDP, _ZCDP)
@upper("Bun & Steinke 2016, Proposition 1.3", oracles.normal_epsilon)
@setting("every ρ-zCDP mechanism, as (ε,δ)-DP", "每个 ρ-zCDP 机制，换成 (ε,δ)-DP", "epsilon",
         "zcdp", below=below.gaussian_epsilon, rho=RHO, delta=SLACK)
@printed("5.29853", "4.37718", rho=0.5, delta=1e-5)
@wrong("one-root", "The 2 is missing: the least of rho a + c/(a - 1) is rho + 2 sqrt(rho c).",
       "rho + sqrt(-rho * log(delta))", delta=_SMALL)
@wrong("root-alone", "A rate for small rho without its constant.", "sqrt(-rho * log(delta))",
       delta=_SMALL)
@wrong("sublinear", "Once k rho exceeds ln(1/delta) epsilon grows by rho with every release.",
       "2 * sqrt(-rho * log(delta))",
       says=r"\varepsilon = 2\sqrt{k\rho\ln(1/\delta)} \text{ for any number of releases}",
       delta=_SMALL)
@wrong("both-roots", "epsilon^2 / (4 ln(1/delta) + 4 epsilon) is a little less than the best rho.",
       "2 * rho + 2 * sqrt(rho * (rho - log(delta)))", kind="identity")
@wrong("tight", "The Rényi curve is exact; turning it into epsilon and delta is not.",
       says=r"\rho + 2\sqrt{\rho\ln(1/\delta)} \text{ is exact for Gaussian noise}",
       kind="identity", delta=_SMALL)
def zcdp_to_epsilon_bun_steinke(rho, *, delta):
    r"""\varepsilon = \rho + 2\sqrt{\rho\ln(1/\delta)}"""
    rho = np.asarray(rho, dtype=float)
    return rho + 2 * np.sqrt(-rho * np.log(delta))


def _orders_up_to(largest: int) -> str:
    """Return the expression rho*a - log(delta)/(a - 1) at the best order a in [2, largest]."""
    order = f"min(max(1 + sqrt(-log(delta)/rho), 2), {largest})"
    return f"rho*{order} - log(delta)/({order} - 1)"


enter(zcdp_to_epsilon_bun_steinke,
      formula("G-D3c", "The zCDP conversion is the best over all orders",
              statement=r"\min_{\alpha>1}\Big\{\rho\alpha + \frac{\ln(1/\delta)}{\alpha-1}\Big\} = "
              r"\rho + 2\sqrt{\rho\ln(1/\delta)},\quad \alpha^* = 1 + \sqrt{\ln(1/\delta)/\rho}"),
      given(_ANY_ZCDP, _ZCDP),
      identity("Bun & Steinke 2016, Proposition 1.3", lambda rho, delta: zoomed(lambda log_excess:
               rho * (1 + np.exp(log_excess)) - math.log(delta) / np.exp(log_excess), -20.0, 25.0)),
      setting("the best order of the conversion of ρ-zCDP", "ρ-zCDP 换算的最佳阶", "order",
              "order best 阶", into={}, value=lambda value, rho, **_: (value / rho + 1) / 2,
              rho=RHO, delta=SLACK),
      printed("0.0760", "0.0760", rho=1.25e-4, delta=1e-5),
      wrong("orders-to-100",
            "Only while the best order lies there; little leakage needs large orders.",
            _orders_up_to(100), says=r"\alpha \in [2, 100] \text{ is enough}", delta=_SMALL),
      wrong("orders-to-32", "It fails at both ends: much leakage needs orders below 2.",
            _orders_up_to(32), says=r"\alpha \in [2, 32] \text{ is enough}", delta=_SMALL))

enter(zcdp_to_epsilon,
      formula("G-D3b", "From zCDP to epsilon and delta, improved",
              statement=r"\varepsilon = \min_{\alpha>1}\Big\{\rho\alpha + \ln\frac{\alpha-1}\alpha "
              r"- \frac{\ln\delta + \ln\alpha}{\alpha-1}\Big\}"),
      given(_ANY_ZCDP, _ZCDP),
      upper("Canonne, Kamath & Steinke 2020, Corollary 13", oracles.normal_epsilon),
      printed("4.72839", "4.37718", rho=0.5, delta=1e-5),
      wrong("tight", "Closer than the simple conversion, and still above the exact profile.",
            says=r"\text{the exact epsilon of Gaussian noise}", kind="identity", delta=_SMALL))


@formula("G-D3d", "Where the bound of one order touches that of zCDP")
@given("order > 1 and rho > 0 and 0 < delta < 1", order=Log(1.1, 300.0), rho=Log(1e-6, 1.0),
       delta=Log(1e-12, 0.5))
@identity("Bun & Steinke 2016, Proposition 1.3, by calculus", steps_without_a_better_order,
          unsafe=None)
@setting("the number of releases at which the bound of one order is best",
         "某一阶的界达到最优的发布次数", "steps", "touch best", order=ORDER, rho=RHO, delta=SLACK)
@setting("the number of Gaussian releases at which the bound of one order is best",
         "某一阶的界达到最优的高斯发布次数", "steps", "touch best", into=lambda noise_multiplier:
         {"rho": 1 / (2 * noise_multiplier**2)}, order=ORDER, noise_multiplier=NOISE, delta=SLACK)
@printed("264.589", "264.589", order=60.0, rho=1.25e-5, delta=1e-5)
@wrong("three-hundred", "Order 20 touches at 2551 releases; it is order 60 that touches near 300.",
       "300.0",
       says=r"\text{the curves touch at } k \approx 300 \text{ for } \alpha = 20,\ \sigma = 200",
       order=Choice(20.0), rho=Choice(1.25e-5), delta=Choice(1e-5))
def touching_steps(*, order, rho, delta):
    r"""k^* = \frac{\ln(1/\delta)}{\rho(\alpha-1)^2}

    Before and after it the bound of this order lies above the zCDP curve, which is the least
    of the bounds of all orders."""
    return -math.log(delta) / (rho * (order - 1) ** 2)


@formula("G-D10", "Moments accountant of one Gaussian release in closed form")
@given("noise_multiplier > 0 and 0 < delta < 1", noise_multiplier=Log(0.1, 50.0),
       delta=Log(1e-12, 0.9))
@identity("Abadi et al. 2016, Theorem 2, by calculus", least_moment_bound, tolerance=1e-8,
          points=60)
@setting(*ALONE, "epsilon", "gauss normal moment 高斯",
         below=below.gaussian_epsilon, noise_multiplier=NOISE, delta=SLACK)
@printed("5.2985259", "5.2985259", noise_multiplier=1.0, delta=1e-5)
@wrong("order-shifted",
       "The moment of order a + 1 is the a-th of the loss; the two were taken for one.",
       "sqrt(-2 * log(delta)) / noise_multiplier - 0.5 / noise_multiplier**2", kind="upper",
       oracle=oracles.normal_epsilon, delta=_SMALL)
@wrong("bracket", "The denominator is alpha - 1.", "sqrt(-2 * log(delta)) / noise_multiplier - 1",
       kind="upper", oracle=oracles.normal_epsilon, delta=_SMALL)
@wrong("one-order-low", "Valid, since divergences grow with the order; K(a)/a belongs to a + 1.",
       "noise_multiplier**(-2) + sqrt(-2 * log(delta)) / noise_multiplier",
       says=r"(\alpha, K(\alpha)/\alpha)\text{-RDP} \Rightarrow \varepsilon = \frac1{z^2} + "
       r"\frac{\sqrt{2\ln(1/\delta)}}z", delta=_SMALL)
@wrong("optimal", "Best over orders; the exact profile is smaller.",
       says=r"\text{the best epsilon of the Gaussian mechanism}", kind="identity",
       oracle=oracles.normal_epsilon, delta=_SMALL)
def moments_epsilon_gaussian(*, noise_multiplier, delta):
    r"""\min_{\lambda>0}\frac{K(\lambda)+\ln(1/\delta)}\lambda = \frac1{2z^2} +
    \frac{\sqrt{2\ln(1/\delta)}}z,\quad K(\lambda) = \frac{\lambda(\lambda+1)}{2z^2}"""
    return 0.5 / noise_multiplier**2 + math.sqrt(-2 * math.log(delta)) / noise_multiplier
