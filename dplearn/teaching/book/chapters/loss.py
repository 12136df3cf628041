"""Privacy losses as random variables: their laws, rounding to a lattice, and sums."""

from dplearn.teaching.book.chapters.gaussian import gaussian_delta
from dplearn.teaching.book.chapters.local import binomial
from dplearn.teaching.book.kit.vocabulary import *

_LATTICE = {"mu": Log(0.2, 2.0), "width": Log(0.01, 0.5), "steps": Choice(1, 2, 4),
            "epsilon": Linear(0.0, 4.0)}
_POSITIVE = "mu > 0 and width > 0 and steps >= 1 and epsilon >= 0"
_ON_LATTICE = {"mu": 1.0, "width": 0.01, "steps": 1, "epsilon": 1.0}


def loss_cdf(log_p: oracles.Density, log_q: oracles.Density, *, loss, reach, kinks=()):
    """Return P(L <= loss) for two densities; a tolerance includes an atom at `loss`."""
    excess = lambda x: log_p(x) - log_q(x) - loss - 1e-13 * (1 + abs(loss))
    inside = lambda x: np.where(excess(x) <= 0, log_p(x), -np.inf)
    kinks = [*kinks, *oracles.sign_changes(excess, -60.0, reach)]
    return math.exp(oracles.log_integral(inside, -60.0, reach, kinks=kinks))


def sampled_coins_deltas(*, local, sample_rate, steps, epsilon):
    """Return the deltas of sampled randomized responses for a record removed and added."""
    exact = 1 / (1 + math.exp(-local))
    a, b = sample_rate * exact + (1 - sample_rate) * (1 - exact), 1 - exact
    laws = [binomial(steps, rate) for rate in (a, b)]
    gains = (x - math.exp(epsilon) * y for x, y in (laws, laws[::-1]))
    return [float(np.sum(np.maximum(gain, 0.0))) for gain in gains]


def delta_by_convolution(*, mu_1, mu_2, epsilon):
    """Return E[(1 - e^(epsilon - L1 - L2))+] of two normal losses, by quadrature."""
    mu_1, mu_2 = sorted((mu_1, mu_2))  # the inner integral is smooth on the scale of mu_2
    x, w = oracles.legendre(200)
    first = mu_1**2 / 2 + 9 * mu_1 * x
    weights = 9 * mu_1 * w * np.exp(oracles.log_normal(mu_1**2 / 2, mu_1)(first))
    high = mu_2**2 / 2 + 9 * mu_2
    low = np.clip(epsilon - first, mu_2**2 / 2 - 9 * mu_2, high)
    # Inner nodes start where the gain becomes positive, to avoid the kink.
    half = 0.5 * (high - low)[:, None]
    second = low[:, None] + half * (1 + x)
    gains = -np.expm1(np.minimum(epsilon - first[:, None] - second, 0.0))
    densities = np.exp(oracles.log_normal(mu_2**2 / 2, mu_2)(second))
    return float(weights @ ((half * densities * gains) @ w))


def _rounded_delta(mu: float, width: float, steps: int, epsilon: float, up: float) -> float:
    """Return delta of rounded Gaussian losses: (k - up, k + 1 - up] * width becomes k * width."""
    mean, far = mu**2 / 2, 12 * mu
    first, last = (math.floor(x / width) for x in (mean - far, mean + far))
    index = np.arange(first - 1, last + 2)
    above = ndtr((mean - (index + 1 - up) * width) / mu)  # P(L > end of the cell)
    masses, infinity = -np.diff(above), above[-1] if up == 1 else 0.0
    masses[0] += 1 - above[0]
    masses[-1] += above[-1] - infinity
    total = masses
    for _ in range(steps - 1):
        total = np.convolve(total, masses)
    losses = (steps * index[1] + np.arange(total.size)) * width
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float(total @ gains - math.expm1(steps * math.log1p(-infinity)))


@formula("G-L1", "Losses rounded up give an upper bound")
@given(_POSITIVE, _LATTICE)
@upper("Koskela, Jälkö, Prediger & Honkela 2021, Section 4", oracles.normal_delta, absolute=0.0,
       points=60)
@printed("0.1278446416", "0.1269367", at=_ON_LATTICE)
@wrong("nearest", "Errors of both signs: close, and neither a bound from above nor from below.",
       lambda mu, width, steps, epsilon: _rounded_delta(mu, width, steps, epsilon, 0.5),
       says=r"\text{losses rounded to the nearest multiple give an upper bound}")
def delta_rounded_up(*, mu, width, steps, epsilon):
    r"""\delta_{L_1+\dots+L_T}(\varepsilon) \le \delta_{\lceil L_1\rceil_h+\dots+\lceil
    L_T\rceil_h}(\varepsilon),\quad \lceil x\rceil_h = h\lceil x/h\rceil"""
    return _rounded_delta(mu, width, steps, epsilon, up=1.0)


@formula("G-L1b", "Losses rounded down give a lower bound")
@given(_POSITIVE, _LATTICE)
@lower("Koskela, Jälkö, Prediger & Honkela 2021, Section 4", oracles.normal_delta, absolute=0.0,
       points=60)
@printed("0.1260286478", "0.1269367", at=_ON_LATTICE)
def delta_rounded_down(*, mu, width, steps, epsilon):
    r"""\delta_{L_1+\dots+L_T}(\varepsilon) \ge
    \delta_{\lfloor L_1\rfloor_h+\dots+\lfloor L_T\rfloor_h}(\varepsilon)"""
    return _rounded_delta(mu, width, steps, epsilon, up=0.0)


@formula("G-L2", "Law of the Laplace mechanism's loss")
@given("epsilon > 0", epsilon=Log(0.01, 20.0), place=Linear(-1.5, 1.5, also=(-1.0, 1.0)),
       loss=Derived(lambda place, epsilon: place * epsilon))
@identity("Sommer, Meiser & Mohammadi 2019, Section 4", lambda epsilon, loss:
          loss_cdf(oracles.log_laplace(), oracles.log_laplace(epsilon), loss=loss, reach=60.0 +
          epsilon, kinks=[0.0, epsilon]), unsafe="larger")
@setting("the loss of the Laplace mechanism is at most l", "拉普拉斯机制的隐私损失不超过 l",
         "probability", "loss lap 损失", rare=True, loss=Linear(-0.05, 0.05), epsilon=LOSS,
         event=r"L<=l")
@printed("0.1839397206", "0.1839397206", epsilon=1.0, loss=-1.0)
@printed("0.5000000000", epsilon=1.0, loss=math.nextafter(1.0, 0.0))
@printed("1.0", "1.0", epsilon=1.0, loss=1.0)
@wrong("two-atoms", "That is randomized response; half of a Laplace loss lies below epsilon.",
       lambda epsilon, loss: float(np.select([loss < -epsilon, loss < epsilon], [0.0, 1 / (1 +
       math.exp(epsilon))], 1)),
       says=r"P(L = \varepsilon) = 1 - P(L = -\varepsilon) = \frac{e^\varepsilon}{e^\varepsilon+1}")
def laplace_loss_cdf(*, loss, epsilon):
    r"""P(L \le l) = \tfrac12 e^{-(\varepsilon-l)/2},\ -\varepsilon \le l < \varepsilon;
    \quad P(L = \varepsilon) = \tfrac12,\ P(L = -\varepsilon) = \tfrac12 e^{-\varepsilon}"""
    if loss < -epsilon:
        return 0.0
    return 0.5 * math.exp((loss - epsilon) / 2) if loss < epsilon else 1.0


@formula("G-L2b", "Law of the Gaussian mechanism's loss")
@given("mu > 0", mu=Log(0.01, 8.0), place=Linear(-8.0, 8.0),
       loss=Derived(lambda mu, place: mu * (mu / 2 + place)))
@identity("Sommer, Meiser & Mohammadi 2019, Lemma 11", lambda mu, loss:
          loss_cdf(oracles.log_normal(mu), oracles.log_normal(), loss=loss, reach=60.0),
          unsafe="larger")
@setting("the loss of a μ-GDP Gaussian release is at most l", "μ-GDP 高斯发布的隐私损失不超过 l",
         "probability", "loss gauss 损失", rare=True, loss=Linear(-3.0, 3.0), mu=MU, event=r"L<=l")
@printed("0.5", mu=1.0, loss=0.5)
@wrong("no-drift", "The mean of a loss is a divergence, and larger than 0.", "Phi(loss / mu)",
       says=r"L \sim N(0, \mu^2)")
@wrong("half-variance", "The mean is half the variance, not equal to it.",
       "Phi(sqrt(2) * (loss / mu - mu / 2))", says=r"L \sim N(\mu^2/2,\ \mu^2/2)")
def gaussian_loss_cdf(*, loss, mu):
    r"""L \sim N(\mu^2/2,\ \mu^2)"""
    return float(ndtr(loss / mu - mu / 2))


@formula("G-L3", "Composition adds losses: convolution of their laws")
@given("epsilon >= 0", dict.fromkeys(("p", "q", "other_p", "other_q"), Distribution(3)),
       epsilon=Linear(0.0, 5.0))
@identity("Dwork & Rothblum 2016, Section 2", lambda p, q, other_p, other_q, epsilon:
          oracles.worst_event_delta(np.outer(p, other_p).ravel(), np.outer(q, other_q).ravel(),
          epsilon))
@printed("0.2602147714", "0.2602147714", p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5], other_p=[0.75, 0.25],
         other_q=[0.25, 0.75], epsilon=1.0)
@wrong("worst-pair-first",
       "Of sampled coins adding a record can be worse after two steps, not after one.",
       lambda local, sample_rate, steps, epsilon: sampled_coins_deltas(local=local,
       sample_rate=sample_rate, steps=steps, epsilon=epsilon)[int(np.argmax(sampled_coins_deltas(
       local=local, sample_rate=sample_rate, steps=1, epsilon=epsilon)))],
       says=r"\text{the neighbours with the largest } \delta(\varepsilon) \text{ after one step "
       r"have it after all}", given="local > 0 and 0 < sample_rate < 1 and epsilon >= 0",
       kind="upper", oracle=lambda local, sample_rate, steps, epsilon:
       max(sampled_coins_deltas(local=local, sample_rate=sample_rate, steps=steps,
       epsilon=epsilon)), without="p q other_p other_q", local=Log(0.1, 5.0),
       sample_rate=Linear(0.05, 0.95), steps=Whole(2, 30), epsilon=Linear(0.0, 2.0))
def composed_delta(*, p, q, other_p, other_q, epsilon):
    r"""L_{M_1\otimes M_2} = L_1 + L_2 \text{ independent, for one pair of neighbours:}\quad
    \delta(\varepsilon) = E[(1 - e^{\varepsilon - L_1 - L_2})_+]"""
    (losses, masses), (others, weights) = _loss_law(p, q), _loss_law(other_p, other_q)
    gains = -np.expm1(np.minimum(epsilon - np.add.outer(losses, others), 0.0))
    return float(masses @ gains @ weights)


def _loss_law(p: ArrayLike, q: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return the losses and their masses under P; a loss is inf where Q has no mass."""
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    with np.errstate(divide="ignore"):
        return np.log(p[p > 0]) - np.log(q[p > 0]), p[p > 0]


@formula("G-L3b", "Two Gaussian releases together")
@given("mu_1 > 0 and mu_2 > 0 and epsilon >= 0", mu_1=Log(0.1, 3.0), mu_2=Log(0.1, 3.0),
       epsilon=Linear(0.0, 4.0))
@identity("Balle & Wang 2018, Theorem 8", delta_by_convolution, points=50)
@setting("two Gaussian releases, as (ε,δ)-DP", "两次高斯发布，(ε,δ)-DP", "delta",
         "two compos 两次", mu_1=MU, mu_2=MU, epsilon=LOSS)
@printed("0.2862082119", "0.2862082119", mu_1=1.0, mu_2=1.0, epsilon=1.0)
@wrong("deltas-add", "The epsilons add up as well: this bounds delta at 2 epsilon.",
       lambda mu_1, mu_2, epsilon: sum(gaussian_delta(epsilon=epsilon, noise_multiplier=1 / mu) for
       mu in (mu_1, mu_2)),
       says=r"\delta_{12}(\varepsilon) \le \delta_1(\varepsilon) + \delta_2(\varepsilon)",
       kind="upper")
def composed_gaussian_delta(*, mu_1, mu_2, epsilon):
    r"""\delta(\varepsilon) = \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big) -
    e^\varepsilon\Phi\Big(-\frac\mu2-\frac\varepsilon\mu\Big), \quad \mu^2 = \mu_1^2+\mu_2^2"""
    return gaussian_delta(epsilon=epsilon, noise_multiplier=1 / math.hypot(mu_1, mu_2))
