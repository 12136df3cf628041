"""Rényi divergences of sampled Gaussians: exact values, limits and bounds; random subsets."""

from scipy.special import gammasgn, xlog1py

from dplearn.core.logspace import log_bernoulli, log_comb, log_expm1, log_sum
from dplearn.engine.contour import SampledGaussian, log_moments, worse_brackets
from dplearn.teaching.book.chapters.divergences import renyi_gaussian
from dplearn.teaching.book.chapters.sampling import log_mixture, sum_counts
from dplearn.teaching.book.kit.vocabulary import *

_SAMPLED = {"order": Whole(2, 256), "noise_multiplier": Log(0.4, 20.0),
            "sample_rate": Log(1e-3, 1.0)}
_RATE = "noise_multiplier > 0 and 0 < sample_rate <= 1"
_LOG = "log1p(1/(sample_rate*(order - 1)))"
_POISSON = ("Poisson sampled Gaussian noise, RDP of order α", "泊松抽样高斯噪声的 α 阶 RDP", "rdp",
            "sampl 抽样")
_BELOW_TRANSITION = ("noise_multiplier >= 1.1 and 0 < sample_rate < 1/(16*noise_multiplier)"
                     " and 0 < moment <= noise_multiplier**2*log(1/(sample_rate*noise_multiplier))")


def sampled_renyi(*, order, noise_multiplier, sample_rate):
    """Return the Rényi divergence of the sampled Gaussian by quadrature."""
    if sample_rate == 1:
        return oracles.normal_renyi(1.0, noise_multiplier, order)
    return sampled_log_moment(order - 1.0, noise_multiplier, sample_rate) / (order - 1)


def subset_renyi(*, order, noise_multiplier, sample_rate, distance):
    """Return max(D(P||Q), D(Q||P)) for Q = N(0) and P a mixture of N(0) and N(distance)."""
    mixture = log_mixture({0.0: 1 - sample_rate, distance: sample_rate}, noise_multiplier)
    base = oracles.log_normal(0.0, noise_multiplier)
    far = 40 * noise_multiplier + (order + 1) * distance
    pairs = ((mixture, base), (base, mixture))
    return max(oracles.density_renyi(*pair, order, -far, far) for pair in pairs)


def sampled_log_moment(moment, noise_multiplier, sample_rate):
    """Return ln E_P[exp(moment L)] for the privacy loss L of the sampled Gaussian."""
    pair = SampledGaussian(noise_multiplier, sample_rate, "remove")
    return float(log_moments(pair, [moment])[0])


def certified_epsilon(noise_multiplier, sample_rate, steps, delta) -> Interval:
    """Return an interval that contains the exact epsilon of a run under add/remove."""
    if sample_rate == 1:
        exact = oracles.normal_epsilon(delta=delta, mu=math.sqrt(steps) / noise_multiplier)
        return Interval(exact, exact)
    low, high = worse_brackets([steps], sigma=noise_multiplier, q=sample_rate, delta=delta)
    return Interval(float(low[0]), float(high[0]))


def _log_sum(order, sample_rate, log_gain, first=2.0) -> float:
    """Return ln(sum over k >= first of P(Bin(order, sample_rate) = k) exp(log_gain(k)))."""
    k = np.arange(first, order + 1)
    weight = log_comb(order, k) + k * math.log(sample_rate) + xlog1py(order - k, -sample_rate)
    return float(np.logaddexp.reduce(weight + log_gain(k)))


@formula("G-E4", "Rényi divergence of the sampled Gaussian, whole orders")
@given("order >= 2 and floor(order) == order and " + _RATE, _SAMPLED)
@identity("Mironov, Talwar & Zhang 2019, Section 3.3", sampled_renyi, absolute=1e-14)
@setting(*_POISSON, order=Whole(2, 40), noise_multiplier=NOISE, sample_rate=RATE)
@printed("0.0008936439076", order=8, noise_multiplier=1.0, sample_rate=0.01)
@printed("513.07", order=260, noise_multiplier=0.5, sample_rate=1e-3)
@wrong("plus", "E[(dN(1)/dN(0))^k] has k^2 - k: at k = 1 it is 1.", lambda order, noise_multiplier,
       sample_rate: _log_sum(order, sample_rate, lambda k: (k * k + k) / (2 * noise_multiplier**2),
       first=0.0) / (order - 1), says=r"\dots e^{(k^2+k)/2\sigma^2}")
@wrong("shifted-order", "The log moment of lambda sums powers up to lambda + 1.", lambda order,
       **rest: (order - 2) / (order - 1) * sampled_gaussian_rdp_integer(order=order - 1, **rest),
       says=r"\dots \text{ for order } \alpha - 1, \text{ divided by } \alpha - 1",
       given="order >= 3 and floor(order) == order and " + _RATE)
@wrong("no-factor", "The logarithm of the sum is (alpha - 1) times the divergence.",
       lambda **at: (at["order"] - 1) * sampled_gaussian_rdp_integer(**at),
       says=r"D_\alpha = \ln\sum_{k=0}^\alpha \dots")
@wrong("normal-mean", "A mixture of two is not normal: its divergence is finite at every order.",
       lambda order, noise_multiplier, sample_rate: renyi_gaussian(order=order, mean_p=sample_rate,
       std_p=math.sqrt(noise_multiplier**2 + sample_rate), mean_q=0.0, std_q=noise_multiplier),
       says=r"D_\alpha\big(N(q, \sigma^2 + q(1-1/n))\,\Vert\,N(0, \sigma^2)\big)")
def sampled_gaussian_rdp_integer(*, order, noise_multiplier, sample_rate):
    r"""D_\alpha = \frac1{\alpha-1}\ln\sum_{k=0}^\alpha\binom\alpha k
    (1-q)^{\alpha-k}q^k e^{(k^2-k)/2\sigma^2}"""
    # The binomial weights w_k add up to 1: the sum is 1 + sum w_k expm1(...), without cancellation.
    gain = lambda k: log_expm1((k * k - k) / (2 * noise_multiplier**2))
    return float(np.logaddexp(0.0, _log_sum(order, sample_rate, gain))) / (order - 1)


@formula("G-E4b", "Moments of a sampled likelihood ratio: the binomial expansion")
@given("order >= 2 and floor(order) == order and 0 < sample_rate <= 1", p=Distribution(4,
       zeros=False), q=Distribution(4, zeros=False), order=Whole(2, 12), sample_rate=Log(1e-2, 1.0))
@identity("Abadi et al. 2016, proof of Lemma 3", lambda p, q, order, sample_rate: math.fsum(b * (1 -
          sample_rate + sample_rate * a / b) ** order for a, b in zip(p, q, strict=True)))
@wrong("no-mean", "Without E it is a random number, another one for every output.",
       lambda p, q, order, sample_rate: (1 + sample_rate * (p[0] / q[0] - 1)) ** order,
       says=r"\dots = \sum_k\binom\alpha k(1-q)^{\alpha-k}q^k\Big(\frac{\mu_1}{\mu_0}\Big)^k")
@wrong("mean-inside", "E(r)^k is 1 for every k: the mean belongs around the power.", "1.0",
       says=r"\dots = \sum_k\binom\alpha k(1-q)^{\alpha-k}q^k\,(\mathbb E\,r)^k = 1")
def sampled_moment(p, q, *, order, sample_rate):
    r"""\mathbb E_{\mu_0}\Big[\big(1 - q + q\tfrac{\mu_1}{\mu_0}\big)^\alpha\Big] =
    \sum_{k=0}^\alpha\binom\alpha k(1-q)^{\alpha-k}q^k\,
    \mathbb E_{\mu_0}\Big[\Big(\frac{\mu_1}{\mu_0}\Big)^k\Big]

    p: probabilities of the outputs with the record surely in the batch, mu_1
    q: probabilities without it, mu_0"""
    terms = [math.comb(order, k) * (1 - sample_rate) ** (order - k)
             * (sample_rate * np.divide(p, q)) ** k for k in range(order + 1)]
    return float(np.sum(terms, axis=0) @ q)


def _erfc_terms(order: float, sigma: float, q: float) -> tuple[NDArray, NDArray]:
    """Return the signs and logarithms of the terms after adding the two erfc series termwise."""
    # This many terms suffice: they alternate in sign and decay like k^(-order - 2).
    k = np.arange(int(order) + int(1e-14 ** (-1 / (order + 3))) + 10.0)
    back = order - k
    with np.errstate(invalid="ignore"):
        log_binom = gammaln(order + 1) - gammaln(k + 1) - gammaln(back + 1)
        sign = np.where(np.isfinite(log_binom), gammasgn(back + 1), 0.0)
    split = 0.5 + sigma**2 * (math.log1p(-q) - math.log(q))
    # log_ndtr replaces erfc, as Phi(-x) = erfc(x / sqrt 2) / 2.
    left = back * math.log1p(-q) + k * math.log(q) + (k * k - k) / (2 * sigma**2)
    right = k * math.log1p(-q) + back * math.log(q) + (back * back - back) / (2 * sigma**2)
    left, right = left + log_ndtr((split - k) / sigma), right + log_ndtr((back - split) / sigma)
    return sign, log_binom + np.logaddexp(left, right)


def _interpolated(order, power=0, **rest) -> float:
    """Interpolate (order - 1)^power times the divergence linearly between integer orders."""
    ends = [math.floor(order), math.floor(order) + 1]
    values = [(k - 1) ** power * sampled_gaussian_rdp_integer(order=k, **rest) for k in ends]
    return float(np.interp(order, ends, values))


@formula("G-E5", "Rényi divergence of the sampled Gaussian, any order")
@given("order > 1 and noise_multiplier > 0 and 0 < sample_rate < 1", order=Log(1.02, 300.0),
       noise_multiplier=Log(0.4, 20.0), sample_rate=Log(1e-3, 0.99))
@identity("Mironov, Talwar & Zhang 2019, Section 3.3", sampled_renyi, absolute=1e-11)
@printed("0.00001300142", order=1.5, noise_multiplier=2.5, sample_rate=0.01)
@wrong("no-signs",
       "Generalised binomials alternate in sign from k > alpha on; safe, but too large.",
       lambda order, noise_multiplier, sample_rate: np.logaddexp.reduce(_erfc_terms(order,
       noise_multiplier, sample_rate)[1]) / (order - 1), says=r"\dots\Big|\binom\alpha k\Big|\dots",
       met="dp-accounting 0.6.0, fractional orders")
@wrong("replaced", "A replaced record leaks more: both outputs are mixtures.",
       says=r"\text{the same where the record is replaced}", kind="upper", oracle=lambda order,
       noise_multiplier, sample_rate: oracles.density_renyi(*(log_mixture({0.0: 1 - sample_rate, x:
       sample_rate}, noise_multiplier) for x in (1.0, -1.0)), order=order,
       low=-(far := 40 * noise_multiplier + 2 * order), high=far))
@wrong("interpolated", "The log moments are convex in the order, the divergences need not be.",
       _interpolated, says=r"D_\alpha \le (1 - \{\alpha\})D_{\lfloor\alpha\rfloor} + "
       r"\{\alpha\}D_{\lfloor\alpha\rfloor+1}", kind="upper", order=Log(2.0, 100.0))
def sampled_gaussian_rdp(*, order, noise_multiplier, sample_rate):
    r"""D_\alpha = \frac1{\alpha-1}\ln\sum_{k=0}^\infty\binom\alpha k\Big[ (1-q)^{\alpha-k}q^k
    e^{\frac{k^2-k}{2\sigma^2}}\Phi\Big(\frac{z_1-k}\sigma\Big) +
    (1-q)^kq^{\alpha-k}e^{\frac{(\alpha-k)^2-(\alpha-k)}{2\sigma^2}}
    \Phi\Big(\frac{\alpha-k-z_1}\sigma\Big)\Big],\quad z_1 = \tfrac12 + \sigma^2\ln\tfrac{1-q}q"""
    sign, logs = _erfc_terms(order, noise_multiplier, sample_rate)
    top = float(np.max(logs))
    parts = np.cumsum(sign * np.exp(logs - top))
    # For an alternating series the mean of the last two partial sums is more accurate.
    return max((top + math.log(0.5 * float(parts[-1] + parts[-2]))) / (order - 1), 0.0)


@formula("G-E5b", "Log moments interpolated between whole orders")
@given("order >= 2 and " + _RATE, _SAMPLED, order=Log(2.0, 200.0))
@upper("van Erven & Harremoës 2014, Corollary 2", sampled_renyi, absolute=1e-14)
def interpolated_rdp(*, order, noise_multiplier, sample_rate):
    r"""(\alpha-1)D_\alpha \le (1 - \{\alpha\})(\lfloor\alpha\rfloor-1)
    D_{\lfloor\alpha\rfloor} + \{\alpha\}\lfloor\alpha\rfloor D_{\lfloor\alpha\rfloor+1}

    The cumulant generating function (alpha - 1) D_alpha is convex; parameters and units as in
    `sampled_gaussian_rdp_integer`."""
    return _interpolated(order, power=1, noise_multiplier=noise_multiplier,
                         sample_rate=sample_rate) / (order - 1)


@formula("G-E6", "Rényi divergence after sampling without replacement")
@given("order >= 2 and floor(order) == order and distance > 0 and " + _RATE, _SAMPLED,
       order=Whole(2, 32), distance=Choice(1.0, 2.0))
@upper("Wang, Balle & Kasiviswanathan 2019, Theorem 9", subset_renyi, absolute=1e-10, points=60)
@printed("0.00268417", "0.000893644", order=8, noise_multiplier=1.0, sample_rate=0.01, distance=1.0)
@wrong("for-poisson", "A bound on it for Gaussian noise, but several times too large.",
       says=r"\text{the divergence of Poisson sampling}", kind="identity", oracle=sampled_renyi,
       distance=Choice(1.0))
@wrong("own-norm", "A replaced contribution moves the sum by up to 2C.",
       says=r"\varepsilon(j) = \frac{jC^2}{2\sigma^2} \text{ for a record that is replaced}",
       oracle=partial(subset_renyi, distance=2.0), distance=Choice(1.0))
def without_replacement_rdp(*, order, noise_multiplier, sample_rate, distance=2.0):
    r"""D'_\alpha \le \frac1{\alpha-1}\ln\Big(1 + q^2\binom\alpha2\min\{4(e^{\varepsilon(2)}-1),
    2e^{\varepsilon(2)}\} + \sum_{j=3}^\alpha 2q^j\binom\alpha j e^{(j-1)\varepsilon(j)}\Big),\quad
    \varepsilon(j) = \frac{j\Delta^2}{2\sigma^2}"""
    j = np.arange(2.0, order + 1)
    rdp = 0.5 * j * (distance / noise_multiplier) ** 2
    log_gain = math.log(2) + (j - 1) * rdp
    log_gain[0] = min(log_gain[0], math.log(4) + float(log_expm1(rdp[0])))
    logs = log_comb(order, j) + j * math.log(sample_rate) + log_gain
    return float(np.logaddexp(0.0, np.logaddexp.reduce(logs))) / (order - 1)


@formula("G-E7", "Log moments of the sampled Gaussian for a small rate")
@given("moment > 0 and noise_multiplier > 0", along={"sample_rate": (1e-2, 1e-3, 1e-4, 1e-5)},
       moment=Log(0.5, 8.0), noise_multiplier=Log(1.2, 20.0))
@asymptotic("Abadi et al. 2016, Lemma 3, its main term made exact", sampled_log_moment,
            tolerance=1e-3, absolute=1e-14)
@printed("0.00018058448", "0.00018129386", moment=7.0, noise_multiplier=4.0, sample_rate=0.01)
@wrong("base-times-square",
       "Too small by sigma^2 (e^(1/sigma^2) - 1) > 1 even as the rate goes to 0.",
       "sample_rate**2 * moment * (moment + 1) / (2 * noise_multiplier**2)", kind="upper", along={},
       sample_rate=Log(1e-3, 0.5))
@wrong("one-minus-rate", "Half of the published term is below the truth.",
       "sample_rate**2 * moment * (moment + 1) / (2 * noise_multiplier**2 * (1 - sample_rate))",
       kind="upper", along={}, sample_rate=Log(1e-3, 0.5))
@wrong("little-o", "The ratio tends to sigma^2 (e^(1/sigma^2) - 1), which is above 1.", "0.0",
       oracle=lambda moment, noise_multiplier, sample_rate: sampled_log_moment(moment,
       noise_multiplier, sample_rate) / (sample_rate**2 * moment *
       (moment + 1) / (2 * noise_multiplier**2)))
@wrong("epsilon-too",
       "True of Rényi divergences; epsilon at a fixed delta is nearly proportional to q.",
       lambda sample_rate, **run: certified_epsilon(sample_rate=10 * sample_rate, **run).high / 100,
       says=r"\varepsilon(q) = \varepsilon(10q)/100 \text{ at fixed } \delta",
       given="noise_multiplier > 0 and 10*sample_rate < 1", kind="identity",
       oracle=certified_epsilon, along={}, without="moment", noise_multiplier=Log(1.0, 6.0),
       sample_rate=Log(1e-3, 0.02), steps=Choice(100, 1000), delta=Choice(1e-5))
def small_rate_log_moment(*, moment, noise_multiplier, sample_rate):
    r"""K(\lambda) = \lambda D_{\lambda+1}
    = \tfrac12q^2\lambda(\lambda+1)(e^{1/\sigma^2}-1)(1 + o(1)),\quad q \to 0"""
    gain = math.expm1(1 / noise_multiplier**2)
    return 0.5 * sample_rate**2 * moment * (moment + 1) * gain


@formula("G-E8", "Closed bound on the sampled Gaussian: much noise")
@given("0 < sample_rate <= 0.2 and noise_multiplier >= 4 and order > 1"
       f" and order <= noise_multiplier**2*{_LOG}/2 - 2*log(noise_multiplier)"
       f" and order*({_LOG} + log(sample_rate*order) + 0.5/noise_multiplier**2)"
       f" <= noise_multiplier**2*{_LOG}**2/2 - log(5) - 2*log(noise_multiplier)",
       noise_multiplier=Log(4.0, 50.0), sample_rate=Log(1e-3, 0.2), order=Log(1.01, 2000.0))
@upper("Mironov, Talwar & Zhang 2019, Table 1, Theorem 11", sampled_renyi)
@setting(*_POISSON, below=below.sampled_rdp, order=ORDER, noise_multiplier=NOISE, sample_rate=RATE)
@wrong("any-order", "Beyond the phase transition the divergence is nearly that without sampling.",
       given="0 < sample_rate <= 0.2 and noise_multiplier >= 4", order=Log(1.01, 1000.0))
def sampled_gaussian_rdp_much_noise(*, order, noise_multiplier, sample_rate):
    r"""D_\alpha \le \frac{2q^2\alpha}{\sigma^2} \text{ if } L = \ln\Big(1 +
    \frac1{q(\alpha-1)}\Big),\ \alpha \le \tfrac12\sigma^2L - 2\ln\sigma,\ \alpha \le
    \frac{\sigma^2L^2/2 - \ln5 - 2\ln\sigma}{L + \ln(q\alpha) + 1/(2\sigma^2)}"""
    return 2 * sample_rate**2 * order / noise_multiplier**2


@formula("G-E8b", "Closed bound on the sampled Gaussian: truncated concentration")
@given("0 < sample_rate <= 0.1 and noise_multiplier**2 >= 5 and "
       "1 < order <= noise_multiplier**2*log(1/sample_rate)/2",
       noise_multiplier=Log(2.2360680, 50.0), sample_rate=Log(1e-3, 0.1), order=Log(1.01, 2000.0))
@upper("Bun, Dwork, Rothblum & Steinke 2018, Theorem 11", sampled_renyi)
@setting(*_POISSON, below=below.sampled_rdp, order=ORDER, noise_multiplier=NOISE, sample_rate=RATE)
@wrong("any-order", "The truncation in truncated concentrated DP is this condition.",
       given="0 < sample_rate <= 0.1 and noise_multiplier**2 >= 5", order=Log(1.01, 1000.0))
def sampled_gaussian_rdp_truncated(*, order, noise_multiplier, sample_rate):
    r"""D_\alpha \le \frac{6q^2\alpha}{\sigma^2}"""
    return 6 * sample_rate**2 * order / noise_multiplier**2


@formula("G-E8c", "Main term of the moments accountant's lemma")
@given(_BELOW_TRANSITION, noise_multiplier=Log(1.1, 20.0), sample_rate=Log(1e-4, 0.0625),
       moment=Log(0.1, 2000.0))
@upper("Abadi et al. 2016, Lemma 3, without its remainder", sampled_log_moment)
@setting("Poisson sampled Gaussian noise, the λ-th log moment", "泊松抽样高斯噪声的 λ 阶对数矩",
         "log_moment", "sampl moment 抽样", below=lambda moment, noise_multiplier, sample_rate:
         moment * below.sampled_rdp(moment + 1, noise_multiplier, sample_rate), moment=Log(1.0,
         20.0), noise_multiplier=NOISE, sample_rate=RATE)
@printed("0.00035353535", "0.00018129386", moment=7.0, noise_multiplier=4.0, sample_rate=0.01)
@wrong("any-moment", "The remainder grows with lambda^3, and the conditions keep it small.",
       given="noise_multiplier > 0 and 0 < sample_rate < 1 and moment > 0", moment=Log(1.0, 64.0),
       noise_multiplier=Log(0.5, 10.0), sample_rate=Log(1e-3, 0.3))
@wrong("noise-one", "The remainder is needed: up to 1.05 the term is up to 8 percent too small.",
       says=r"\text{the same from } \sigma = 1 \text{ on, where the lemma begins}",
       given=_BELOW_TRANSITION.replace("1.1", "1"), noise_multiplier=Log(1.0, 1.2),
       sample_rate=Log(0.01, 0.06), moment=Log(1.0, 10.0))
def log_moment_main_term(*, moment, noise_multiplier, sample_rate):
    r"""K(\lambda) \le \frac{q^2\lambda(\lambda+1)}{(1-q)\sigma^2}

    The lemma is for whole :math:`\lambda` and :math:`\sigma \ge 1`, and adds a remainder
    :math:`O(q^3\lambda^3/\sigma^3)`. That the main term alone is enough from 1.1 on, at fractional
    moments as well, is seen by computation, not proved."""
    return sample_rate**2 * moment * (moment + 1) / ((1 - sample_rate) * noise_multiplier**2)


_SUBSET = {"records": Whole(2, 9),
           "batch": Drawn(lambda rng, records: int(rng.integers(1, records + 1)))}
_NOISY = {"order": Log(1.1, 40.0), "noise_std": Log(0.3, 10.0), **_SUBSET}
_ALIKE = Drawn(lambda rng, records: int(rng.integers(records)))


def _by_all_subsets(order, noise_std, records, batch, alike):
    others = [0.5] * alike + [-0.5] * (records - 1 - alike)
    pair = (sum_counts(itertools.combinations([x, *others], batch)) for x in (0.5, -0.5))
    p, q = (log_mixture(means, noise_std) for means in pair)
    far = 40 * noise_std + order + batch
    return max(oracles.density_renyi(*pair, order, -far, far) for pair in ((p, q), (q, p)))


def _normal(*, order, noise_std, records, batch, alike):
    """Return the larger Rényi divergence of normals with mean and variance of noisy binomials."""
    rates = ((alike + 1) / records, alike / records)
    laws = [(batch * p, math.sqrt(noise_std**2 + batch * p * (1 - p))) for p in rates]
    return max(renyi_gaussian(order=order, mean_p=p[0], std_p=p[1], mean_q=q[0], std_q=q[1])
               for p, q in (laws, laws[::-1]))


def _log_excess(order, noise_std, records, batch, alike):
    """Return ln(E_Q[(P/Q)^order] - 1) for noisy counts, P with one more record equal to 1.

    The number of ones among m drawn records is Hyp(n, k, m) under Q, Hyp(n, k + 1, m) under P. The
    polynomials in z = exp(x / sigma^2) have real zeros (Vatutin & Mikhailov 1982) that interlace:
    P/Q is a + bz plus terms cz / (z + r), all constants >= 0. So |P/Q| at x + iy is at most P/Q
    at x, divided by cos(y / (2 sigma^2)), and the trapezoidal rule of `mechanisms.sampled` applies.
    """
    first, last = max(0, batch - records + alike), min(batch, alike)
    # Build Q from ratios of successive masses: factorials of 10^6 records would lose nine digits.
    c = np.arange(first, last, dtype=float)
    up = np.log((alike - c) * (batch - c)) - np.log((c + 1) * (records - alike - batch + c + 1))
    log_q = np.append(0.0, np.cumsum(up))
    log_q -= log_sum(log_q)
    # `rise` is P / Q - 1, without cancellation; where Q is 0, `rise` is 1 and multiplies P, not Q.
    count = np.append(c, float(last))
    more = (count - first) * (records + 1) + (first * (records + 1) - batch * (alike + 1))
    rise = np.maximum(more / ((alike + 1 - count) * (records - alike)), -1.0)
    with np.errstate(divide="ignore"):
        log_p = log_q + np.log1p(rise)
    if alike < batch:
        count, rise = np.append(count, alike + 1.0), np.append(rise, 1.0)
        log_p = np.append(log_p, log_q[-1] + math.log((batch - alike) / (records - alike)))
        log_q = np.append(log_q, -np.inf)
    # P / Q <= (alike + 1) / (alike + 1 - batch): counts of tiny probability can be left out.
    largest = -math.log1p(-batch / (alike + 1)) if batch <= alike else math.inf
    near = np.maximum(log_p, log_q) > max(-80 - np.max(order) * largest, -1e300)
    count, log_q, log_p, rise = count[near], log_q[near], log_p[near], rise[near]
    seen = np.isfinite(log_q)
    # At imaginary part y * noise_std, the integrand is at most exp(growth y^2 / 2) times as large.
    growth = 1 + 0.3 * np.max(order) / noise_std**2
    strip = min(0.5 * math.pi * noise_std, math.sqrt(78.0 / growth))
    step = noise_std * 2 * math.pi / (0.5 * growth * strip + 39.0 / strip)
    reach = 9.5 * noise_std
    x = np.arange(count[0] - reach, count[-1] + np.max(order) + reach, step)[:, None]
    noise = -0.5 * ((x - count) / noise_std) ** 2
    density, above = log_sum(log_q + noise), log_sum(log_p + noise)
    weights = np.where(seen, log_q, log_p) + noise - density[:, None]
    excess = np.exp(np.minimum(weights, 600.0)) @ rise
    small = np.clip(excess, -0.5, 0.5)
    log_f = np.where(small == excess, np.log1p(small), above - density)
    terms = log_bernoulli(np.atleast_1d(order)[:, None], excess, log_f) + density
    return log_sum(terms) + math.log(step / noise_std / math.sqrt(2 * math.pi))


@formula("G-E12", "A sum over a random subset: what two given data sets leak")
@given("order > 1 and noise_std > 0 and alike < records and batch <= records", _NOISY, alike=_ALIKE)
@identity("Wang, Balle & Kasiviswanathan 2019, Section 5, both cases made exact", _by_all_subsets,
          tolerance=1e-8, absolute=1e-12, points=40)
@printed("0.00005359671370", order=2, noise_std=0.5, records=10**6, batch=1000, alike=0)
@printed("0.00000000363967", order=2, noise_std=5.0, records=10**6, batch=1000, alike=500_000)
@printed("1.5964117081", order=1000, noise_std=3.0, records=60, batch=6, alike=6)
@wrong("normal", "A mixture is not normal: its divergence is finite at every order.", _normal,
       says=r"D_\alpha\Big(N\big(-\tfrac12 + \tfrac{k+1}n, \tfrac{\sigma^2}{m^2} + "
       r"\dots\big)\,\Vert\,N\big(-\tfrac12 + \tfrac kn, \dots\big)\Big) \text{ for the means}")
@wrong("far-below", "Where the noise is larger than the spread of the subsets they coincide.",
       lambda **at: 0.5 * subset_sum_rdp(**at | {"alike": 0}), kind="upper",
       says=r"D_\alpha(\text{half ones}) \le \tfrac12D_\alpha(\text{no ones})",
       given="order > 1 and noise_std > 0 and 2*batch <= records", noise_std=Log(0.3, 100.0),
       batch=Drawn(lambda rng, records: int(rng.integers(1, records // 2 + 1))),
       alike=Drawn(lambda rng, records: (records - 1) // 2))
def subset_sum_rdp(*, order, noise_std, records, batch, alike):
    r"""D_\alpha\big((1-q)S + q(U+1)\,\Vert\,(1-q)S + qU\big) + \text{noise},\quad
    S \sim \mathrm{Hyp}(n-1, k, m),\ U \sim \mathrm{Hyp}(n-1, k, m-1),\ q = \tfrac mn

    Records are -1/2 or 1/2, and one turns from the first to the second. S and U count the halves
    among the others that are drawn; of both orders the larger counts.

    alike: how many of the other records are 1/2; 0 is the bad case, half of them the good one"""
    order = np.asarray(order, dtype=float)
    # Swapping P and Q is like flipping all signs: `alike` becomes records - 1 - alike.
    both = [_log_excess(order, noise_std, records, batch, k) for k in (alike, records - 1 - alike)]
    return (np.logaddexp(0.0, np.max(both, axis=0)) / (order - 1)).reshape(order.shape)[()]


@formula("G-E12b", "Variance of the mean of a random subset")
@given("records >= 2 and batch <= records and ones <= records", _SUBSET,
       ones=Drawn(lambda rng, records: int(rng.integers(records + 1))))
@identity("Cochran 1977, Sampling Techniques, Theorem 2.2", lambda records, batch, ones:
          float(np.var([np.mean(s) for s in itertools.combinations([0.5] * ones + [-0.5] * (records
          - ones), batch)])), unsafe="larger")
@printed("0.00111111", "0.00111111", records=10, batch=9, ones=1)
@printed("0.0", records=10, batch=10, ones=1)
@wrong("with-replacement", "What was drawn cannot come again; all records together do not vary.",
       "ones*(records - ones)/(records**2*batch)")
def subset_mean_variance(*, records, batch, ones):
    r"""\mathrm{Var} = \frac{k(n-k)}{n^2m}\cdot\frac{n-m}{n-1}

    For one record of 1/2 among others of -1/2 it is (n - m)/(n^2 m).

    ones: how many records are 1/2; all others are -1/2"""
    return ones * (records - ones) * (records - batch) / (records**2 * batch * (records - 1))


@formula("G-E12c", "A sum over a random subset: the supremum over the data")
@given("floor(order) == order and noise_std > 0 and batch <= records", _NOISY, order=Whole(2, 40))
@identity("Mironov, Talwar & Zhang 2019, Theorem 5, and quasi-convexity", lambda order, noise_std,
          records, batch: max(_by_all_subsets(order, noise_std, records, batch, alike)
          for alike in range(records)), tolerance=1e-8, absolute=1e-12, points=20)
@wrong("one-pass", "Moments take a supremum over all data; those of one's own are smaller.",
       subset_sum_rdp, says=r"K(\lambda) \text{ is found by one pass over the data}",
       given="noise_std > 0 and batch <= records and alike < records", alike=_ALIKE)
def worst_subset_sum_rdp(*, order, noise_std, records, batch):
    r"""\sup_{D\sim D'} D_\alpha(M(D)\,\Vert\,M(D')) =
    D_\alpha\big((1-q)N(0)+qN(1)\,\Vert\,N(0)\big),\quad q = \tfrac mn"""
    # Fix the other batch - 1 draws, and the record drawn if the changed one is not: the pair is a
    # sampled Gaussian, or this pair reversed, which diverges less. Mixtures of pairs are no worse.
    rate = batch / records
    return sampled_gaussian_rdp_integer(order=order, noise_multiplier=noise_std, sample_rate=rate)
