"""Trade-off functions; distributions of privacy losses, their sums, and rounding to a grid."""

from dplearn.core.logspace import log
from dplearn.engine.lattice import Lattice
from dplearn.mechanisms import Gaussian, PoissonSubsampled, WithoutReplacement
from dplearn.teaching.book.chapters.implications import most_powerful
from dplearn.teaching.book.chapters.local import binomial
from dplearn.teaching.book.chapters.noise import gaussian_delta
from dplearn.teaching.book.kit.vocabulary import *

_ANY_RATE = "0 <= false_positive_rate <= 1"
_RATE = Log(1e-9, 0.999999, also=(0.0, 1.0, 0.5))
_PURE_DP = "max(0, 1 - exp(epsilon)*false_positive_rate, exp(-epsilon)*(1 - false_positive_rate))"
_LIMIT = {"spread": Log(0.1, 1.0), "noise_multiplier": Log(1.0, 10.0)}
_STEPS = {"steps": (64, 256, 1024, 4096)}


def _threshold(log_below: Callable[[float], float], rate: float, far: float) -> float:
    """Return c with P(x > c) = rate for x symmetric about 0, computed from the smaller tail."""
    excess = lambda c: math.log(min(rate, 1 - rate)) - log_below(float(c))
    c = float(below.root(excess, lower=-far, upper=0.0))
    return -c if rate <= 0.5 else c


def threshold_test(log_p: oracles.Density, log_q: oracles.Density, *, rate, kinks=()):
    """Return the least miss rate at false positive rate `rate` if p is even and q/p increases."""
    if rate in (0.0, 1.0):
        return 1 - rate
    mass = lambda *ends: oracles.log_integral(log_p, *ends, kinks=kinks, rtol=1e-12)
    c = _threshold(partial(mass, -80.0), rate, far=79.0)
    return math.exp(oracles.log_integral(log_q, -80.0, c, kinks=kinks))


def miss_of_two(*, false_positive_rate, mu_1, mu_2):
    """Return the miss rate of the likelihood ratio test of two independent Gaussian releases."""

    def log_below(c: float) -> float:
        """Return log P(mu_1 x + mu_2 y <= c) for independent standard normals x and y."""
        log_f = lambda x: oracles.log_normal()(x) + log_ndtr((c - mu_1 * x) / mu_2)
        return oracles.log_integral(log_f, -40.0, 40.0, rtol=1e-12)

    c = _threshold(log_below, false_positive_rate, far=12.0 * (mu_1 + mu_2))
    return math.exp(log_below(c - mu_1**2 - mu_2**2))  # x and y have the means mu_1, mu_2 under Q


def limit_mu(*, spread, noise_multiplier, steps, epsilon=0.0, symmetric=False):
    """Return mu of the Gaussian pair with the same delta at `epsilon` as `steps` sampled Gaussians.

    If `symmetric`, a record is replaced in batches of fixed size; else batches are Poisson samples.
    """
    rate = spread / math.sqrt(steps)
    if symmetric:
        pair = WithoutReplacement(Gaussian(2 * noise_multiplier), rate).profiles("replace_one")[0]
    else:
        pair = PoissonSubsampled(Gaussian(noise_multiplier), rate).profiles()[0]
    _, (log_delta,) = Lattice(1e-4, 2**13).log_deltas([pair], [steps], epsilons=[epsilon])
    enough = lambda x: oracles.normal_log_delta(epsilon=epsilon, mu=math.exp(x)) >= log_delta
    return math.exp(oracles.smallest(enough, low=-6.0, high=3.0, rtol=1e-10))


@formula("G-K1", "Trade-off function of the Gaussian mechanism")
@given(_ANY_RATE + " and mu >= 0", false_positive_rate=_RATE, mu=Log(0.01, 10.0))
@identity("Dong, Roth & Su 2022, equation (6)", lambda false_positive_rate, mu:
          threshold_test(oracles.log_normal(), oracles.log_normal(mu), rate=false_positive_rate),
          absolute=0.0, unsafe="larger", points=50)
@setting("trade-off of μ-GDP at false alarm rate α", "μ-GDP 在误报率 α 处的权衡", "tradeoff",
         "trade gdp 权衡", false_positive_rate=Linear(0.01, 0.9), mu=MU)
@printed("0.7404889772", false_positive_rate=0.05, mu=1.0)
def gaussian_tradeoff(false_positive_rate, *, mu):
    r"""G_\mu(a) = \inf\{\text{miss rate at false alarm rate } a\}
    = \Phi(\Phi^{-1}(1-a) - \mu),\quad N(0,1) \text{ against } N(\mu,1)"""
    return ndtr(-ndtri(np.asarray(false_positive_rate, dtype=float)) - mu)


@formula("G-K1b", "Composition of Gaussian trade-off functions")
@given("0 < false_positive_rate < 1 and mu_1 > 0 and mu_2 > 0",
       false_positive_rate=Log(1e-6, 0.999), mu_1=Log(0.05, 5.0), mu_2=Log(0.05, 5.0))
@identity("Dong, Roth & Su 2022, Corollary 3.3", miss_of_two, absolute=0.0, unsafe="larger",
          points=20)
@setting("trade-off of two Gaussian releases at false alarm rate α",
         "两次高斯发布在误报率 α 处的权衡", "tradeoff", "trade compos 权衡")
@printed("0.5912027803", false_positive_rate=0.05, mu_1=1.0, mu_2=1.0)
@wrong("sum", "Squares add up. The sum is what a group of two costs, and safe here.",
       lambda false_positive_rate, mu_1, mu_2: gaussian_tradeoff(false_positive_rate, mu=mu_1 +
       mu_2), says=r"G_{\mu_1}\otimes G_{\mu_2} = G_{\mu_1+\mu_2}")
def composed_gaussian_tradeoff(false_positive_rate, *, mu_1, mu_2):
    r"""G_{\mu_1}\otimes G_{\mu_2} = G_{\sqrt{\mu_1^2+\mu_2^2}}"""
    return gaussian_tradeoff(false_positive_rate, mu=math.hypot(mu_1, mu_2))


@formula("G-K2", "Central limit of Poisson-sampled Gaussians")
@given("spread > 0 and noise_multiplier > 0", _LIMIT, along=_STEPS)
@asymptotic("Bu, Dong, Long & Su 2020, Theorem 5", limit_mu, tolerance=0.04, points=20)
@setting("many Poisson sampled Gaussian steps, in the limit", "许多步泊松抽样高斯噪声，极限", "mu",
         "limit clt 极限", sample_rate=RATE, steps=Whole(10, 10**5), noise_multiplier=NOISE,
         into=lambda sample_rate, steps: {"spread": sample_rate * math.sqrt(steps), "steps": 10**6})
@printed("0.253957593", spread=1.0, noise_multiplier=4.0)
@wrong("as-a-bound",
       "The limit forgets the heavy tail of the loss; a true delta may be far larger.",
       says=r"T \text{ steps are } \mu\text{-GDP},\ \mu = q\sqrt{T(e^{1/\sigma^2}-1)}",
       kind="upper", along={}, spread=Linear(0.5, 0.8), noise_multiplier=Log(1.0, 4.0),
       steps=Whole(64, 4096), epsilon=Choice(0.0, 0.5))
@wrong("for-fixed-size-lots",
       "Lots drawn without replacement have a limit of their own, which is larger.",
       says=r"\text{the same for lots of fixed size}", oracle=partial(limit_mu, symmetric=True))
def poisson_clt_mu(*, spread, noise_multiplier):
    r"""\mu \to q\sqrt{T(e^{1/\sigma^2}-1)} \quad\text{as } T\to\infty,\ q\sqrt T = c

    spread: c = q sqrt(T), sample rate times root of the steps, held fixed as T grows"""
    return spread * math.sqrt(math.expm1(noise_multiplier**-2))


@formula("G-K2b", "Central limit of Gaussians on lots of fixed size")
@given("spread > 0 and noise_multiplier > 0", _LIMIT, along=_STEPS)
@asymptotic("Bu, Dong, Long & Su 2020, Corollary 4", partial(limit_mu, symmetric=True),
            tolerance=0.05, points=20)
@printed("0.277954894", spread=1.0, noise_multiplier=4.0)
@wrong("for-poisson", "Too large, so safe; Poisson sampling has the smaller limit.",
       says=r"\text{the same for Poisson sampling}", oracle=limit_mu)
def uniform_clt_mu(*, spread, noise_multiplier):
    r"""\mu \to \sqrt2\,q\sqrt T\sqrt{e^{1/\sigma^2}\Phi(\tfrac3{2\sigma})
    + 3\Phi(-\tfrac1{2\sigma}) - 2}\quad\text{as } T\to\infty,\ q\sqrt T = c

    spread: c = q sqrt(T), lot size / records times root of the steps, held fixed as T grows"""
    sigma = noise_multiplier
    # Phi - 1/2 in place of Phi avoids cancellation where sigma is large.
    half_a, half_b = (float(ndtr(x) - 0.5) for x in (1.5 / sigma, 0.5 / sigma))
    growth = math.expm1(sigma**-2)
    return spread * math.sqrt(2 * (growth * (0.5 + half_a) + half_a - 3 * half_b))


@formula("G-K3", "Trade-off function of the Laplace mechanism")
@given(_ANY_RATE + " and epsilon > 0", false_positive_rate=_RATE, epsilon=Log(0.01, 15.0))
@identity("Dong, Roth & Su 2022, Proposition A.6", lambda false_positive_rate, epsilon:
          threshold_test(oracles.log_laplace(), oracles.log_laplace(epsilon),
          rate=false_positive_rate, kinks=[0.0, epsilon]), absolute=0.0, unsafe="larger", points=50)
@setting("trade-off of Laplace noise of scale Δ/ε at false alarm rate α",
         "拉普拉斯噪声（尺度 Δ/ε）在误报率 α 处的权衡", "tradeoff", "trade lap 拉普拉斯", rare=True)
@printed("0.7281718172", false_positive_rate=0.1, epsilon=1.0)
@printed("0.3065662009", false_positive_rate=0.3, epsilon=1.0)
@wrong("pure-dp", "Randomized response attains it; Laplace noise is better in the middle.",
       _PURE_DP, false_positive_rate=Log(1e-3, 0.9), epsilon=Log(0.1, 10.0))
def laplace_tradeoff(false_positive_rate, *, epsilon):
    r"""f(a) = \begin{cases} 1 - e^\varepsilon a & a \le e^{-\varepsilon}/2\\ e^{-\varepsilon}/(4a)
    & e^{-\varepsilon}/2 \le a \le 1/2\\ e^{-\varepsilon}(1-a) & a \ge 1/2 \end{cases}"""
    a, down = np.asarray(false_positive_rate, dtype=float), math.exp(-epsilon)
    with np.errstate(divide="ignore", over="ignore"):
        left, middle, right = 1 - np.exp(epsilon) * a, down / (4 * a), down * (1 - a)
    return np.select([a <= down / 2, a <= 0.5], [left, middle], right)


@formula("G-K4", "Trade-off function of (epsilon, delta)-DP")
@given(_ANY_RATE + " and 0 <= delta < 1 and epsilon < inf", p=Distribution(3), q=Distribution(3),
       delta=Log(1e-6, 0.3), epsilon=Derived(oracles.worst_event_epsilon_at),
       false_positive_rate=Linear(0.0, 1.0))
@lower("Wasserman & Zhou 2010, Theorem 2.4", most_powerful, unsafe="larger")
@setting("trade-off of (ε,δ)-DP at false alarm rate α", "(ε,δ)-DP 在误报率 α 处的权衡", "tradeoff",
         "trade 权衡", below="exact", false_positive_rate=Linear(0.01, 0.9), epsilon=LOSS,
         delta=SLACK)
@printed("0.7281618172", epsilon=1.0, delta=1e-5, false_positive_rate=0.1)
@wrong("no-delta", "With probability delta an attacker may win outright.", _PURE_DP)
def approximate_dp_tradeoff(false_positive_rate, *, epsilon, delta):
    r"""(\varepsilon,\delta)\text{-DP} \Rightarrow f \ge f_{\varepsilon,\delta},\quad
    f_{\varepsilon,\delta}(a) = \max\{0, 1-\delta-e^\varepsilon a, e^{-\varepsilon}(1-\delta-a)\}

    Randomized response that shows the record with probability delta attains it (Kairouz, Oh &
    Viswanath 2015)."""
    a = np.asarray(false_positive_rate, dtype=float)
    steep = 1 - delta - np.exp(np.minimum(epsilon + log(a), 1.0))
    return np.maximum(np.maximum(steep, math.exp(-epsilon) * (1 - delta - a)), 0.0)


_LATTICE = {"mu": Log(0.2, 2.0), "width": Log(0.01, 0.5), "steps": Choice(1, 2, 4),
            "epsilon": Linear(0.0, 4.0)}
_POSITIVE = "mu > 0 and width > 0 and steps >= 1 and epsilon >= 0"


def loss_cdf(log_p: oracles.Density, log_q: oracles.Density, loss, kinks=()):
    """Return P(L <= loss) of the privacy loss L; a tolerance includes an atom at `loss`."""
    excess = lambda x: log_p(x) - log_q(x) - loss - 1e-13 * (1 + abs(loss))
    inside = lambda x: np.where(excess(x) <= 0, log_p(x), -np.inf)
    kinks = [*kinks, *oracles.sign_changes(excess, -80.0, 80.0)]
    return math.exp(oracles.log_integral(inside, -80.0, 80.0, kinks=kinks))


def sampled_response_deltas(local, sample_rate, steps, epsilon):
    """Return delta of sampled randomized responses if a record is removed, and if one is added."""
    exact = 1 / (1 + math.exp(-local))
    a, b = sample_rate * exact + (1 - sample_rate) * (1 - exact), 1 - exact
    laws = [binomial(steps, rate) for rate in (a, b)]
    gains = (x - math.exp(epsilon) * y for x, y in (laws, laws[::-1]))
    return [float(np.sum(np.maximum(gain, 0.0))) for gain in gains]


def delta_by_convolution(*, mu_1, mu_2, epsilon):
    """Return E[(1 - exp(epsilon - L1 - L2))_+] for two normal losses L1, L2, by quadrature."""
    mu_1, mu_2 = sorted((mu_1, mu_2))  # so that `inner` has the larger mu and is smooth
    mean, far = mu_1**2 / 2, 10 * mu_1
    inner = lambda loss: oracles.normal_log_delta(epsilon=epsilon - loss, mu=mu_2)
    log_f = lambda x: oracles.log_normal(mean, mu_1)(x) + np.array([inner(loss) for loss in x])
    return math.exp(oracles.gauss(log_f, mean - far, mean + far, 8))


def _rounded_delta(mu: float, width: float, steps: int, epsilon: float, up: float) -> float:
    """Return delta of `steps` losses, if (k - up, k + 1 - up] * width is rounded to k * width."""
    mean, far = mu**2 / 2, 12 * mu
    first, last = (math.floor(x / width) for x in (mean - far, mean + far))
    index = np.arange(first - 1, last + 2)
    above = ndtr((mean - (index + 1 - up) * width) / mu)  # P(loss > right end of interval)
    above[0] = 1.0
    if up < 1:  # only rounding up may make the largest losses infinite
        above[-1] = 0.0
    total = reduce(np.convolve, [-np.diff(above)] * steps)
    losses = (steps * index[1] + np.arange(total.size)) * width
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float(total @ gains - math.expm1(steps * math.log1p(-above[-1])))


@formula("G-L1", "Losses rounded up give an upper bound")
@given(_POSITIVE, _LATTICE)
@upper("Koskela, Jälkö, Prediger & Honkela 2021, Section 4", oracles.normal_delta, absolute=0.0,
       points=60)
@printed("0.1278446416", "0.1269367", mu=1.0, width=0.01, steps=1, epsilon=1.0)
@wrong("nearest", "Errors of both signs: close, and neither a bound from above nor from below.",
       partial(_rounded_delta, up=0.5),
       says=r"\text{losses rounded to the nearest multiple give an upper bound}")
def delta_rounded_up(*, mu, width, steps, epsilon):
    r"""\delta_{L_1+\dots+L_T}(\varepsilon) \le \delta_{\lceil L_1\rceil_h+\dots+\lceil
    L_T\rceil_h}(\varepsilon),\quad \lceil x\rceil_h = h\lceil x/h\rceil"""
    return _rounded_delta(mu, width, steps, epsilon, up=1.0)


@formula("G-L1b", "Losses rounded down give a lower bound")
@given(_POSITIVE, _LATTICE)
@lower("Koskela, Jälkö, Prediger & Honkela 2021, Section 4", oracles.normal_delta, absolute=0.0,
       points=60)
@printed("0.1260286478", "0.1269367", mu=1.0, width=0.01, steps=1, epsilon=1.0)
def delta_rounded_down(*, mu, width, steps, epsilon):
    r"""\delta_{L_1+\dots+L_T}(\varepsilon) \ge
    \delta_{\lfloor L_1\rfloor_h+\dots+\lfloor L_T\rfloor_h}(\varepsilon)"""
    return _rounded_delta(mu, width, steps, epsilon, up=0.0)


@formula("G-L2", "Law of the Laplace mechanism's loss")
@given("epsilon > 0", epsilon=Log(0.01, 20.0), place=Linear(-1.5, 1.5, also=(-1.0, 1.0)),
       loss=Derived(lambda place, epsilon: place * epsilon))
@identity("Sommer, Meiser & Mohammadi 2019, Section 4", lambda epsilon, loss:
          loss_cdf(oracles.log_laplace(), oracles.log_laplace(epsilon), loss, [0.0, epsilon]),
          unsafe="larger")
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
          loss_cdf(oracles.log_normal(mu), oracles.log_normal(), loss), unsafe="larger")
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
          oracles.worst_event_delta(np.kron(p, other_p), np.kron(q, other_q), epsilon))
@printed("0.2602147714", "0.2602147714", p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5], other_p=[0.75, 0.25],
         other_q=[0.25, 0.75], epsilon=1.0)
@wrong("worst-pair-first",
       "Of sampled coins adding a record can be worse after two steps, not after one.",
       lambda steps, **at: sampled_response_deltas(steps=steps, **at)[
           np.argmax(sampled_response_deltas(steps=1, **at))],
       says=r"\text{the neighbours with the largest } \delta(\varepsilon) \text{ after "
       r"one step have it after all}", given="local > 0 and 0 < sample_rate < 1 and epsilon >= 0",
       kind="upper", oracle=lambda **at: max(sampled_response_deltas(**at)),
       without="p q other_p other_q", local=Log(0.1, 5.0), sample_rate=Linear(0.05, 0.95),
       steps=Whole(2, 30), epsilon=Linear(0.0, 2.0))
def composed_delta(*, p, q, other_p, other_q, epsilon):
    r"""L_{M_1\otimes M_2} = L_1 + L_2 \text{ independent, for one pair of neighbours:}\quad
    \delta(\varepsilon) = E[(1 - e^{\varepsilon - L_1 - L_2})_+]"""
    (losses, masses), (others, weights) = _loss_law(p, q), _loss_law(other_p, other_q)
    gains = -np.expm1(np.minimum(epsilon - np.add.outer(losses, others), 0.0))
    return float(masses @ gains @ weights)


def _loss_law(p: ArrayLike, q: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return the privacy losses and their masses under P; a loss is inf where Q has no mass."""
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
@wrong("deltas-add", "The epsilons add up as well: this bounds delta at 2 epsilon.", lambda epsilon,
       **mus: sum(gaussian_delta(epsilon=epsilon, noise_multiplier=1 / mu) for mu in mus.values()),
       says=r"\delta_{12}(\varepsilon) \le \delta_1(\varepsilon) + \delta_2(\varepsilon)",
       kind="upper")
def composed_gaussian_delta(*, mu_1, mu_2, epsilon):
    r"""\delta(\varepsilon) = \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big) -
    e^\varepsilon\Phi\Big(-\frac\mu2-\frac\varepsilon\mu\Big), \quad \mu^2 = \mu_1^2+\mu_2^2"""
    return gaussian_delta(epsilon=epsilon, noise_multiplier=1 / math.hypot(mu_1, mu_2))
