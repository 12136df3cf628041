"""Noise of one DP-SGD update, and guarantees of whole training runs."""

from scipy.special import bdtrik

from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.engine.contour import SampledGaussian, log_moments
from dplearn.teaching.book.chapters.gaussian import release_epsilon
from dplearn.teaching.book.chapters.sampled_gaussian import certified_epsilon, sampled_gaussian_rdp
from dplearn.teaching.book.chapters.sensitivity import by_norm
from dplearn.teaching.book.kit.vocabulary import *

WHOLE_MOMENT = np.append(1.0, np.unique(np.round(np.geomspace(2.0, 2000.0, 60))))
_GIVEN = "noise_multiplier > 0 and 0 < sample_rate <= 1 and steps >= 1 and 0 < delta < 1"
_RUN = {"noise_multiplier": Log(0.5, 10.0), "sample_rate": Log(1e-3, 1.0),
        "steps": Whole(1, 10_000), "delta": Log(1e-9, 0.01)}
_CLOSED = "2*sample_rate*sqrt(steps*log(1/delta))/epsilon"


def _largest_change(clipped: NDArray, average: Callable[[NDArray], NDArray]) -> float:
    others = (np.delete(clipped, k, axis=0) for k in range(len(clipped)))
    return max(float(np.linalg.norm(average(clipped) - average(x))) for x in others)


def needed_noise(*, noise_multiplier, max_grad_norm, expected_batch, dimension, clip=by_norm):
    """Return noise_multiplier times the sensitivity of (clipped sum) / expected_batch."""
    # The gradients have norms of many magnitudes, and both signs.
    sizes = np.repeat([1e-6, 1e-2, 1.0, 1e6], 2) * np.tile([1.0, -1.0], 4)
    gradients = sizes[:, None] * (1 + np.random.default_rng(3).random(dimension))
    clipped = clip(gradients, max_grad_norm)
    return noise_multiplier * _largest_change(clipped, lambda g: g.sum(axis=0) / expected_batch)


def change_of_mean(*, max_grad_norm, batch):
    """Return the change of the mean clipped gradient if the only one of opposite sign goes."""
    gradients = np.full((batch, 3), -7e6)
    gradients[0] = 5e6
    return _largest_change(by_norm(gradients, max_grad_norm), lambda g: g.mean(axis=0))


def left_for_the_sum(*, noise_multiplier, bit_noise, shift=0.5):
    """Return the noise multiplier left for the gradient sum: D_2(sum) = D_2(total) - D_2(count)."""
    # A present record adds 1/2 or -1/2 to the count. Each integral has the relative error 1e-11,
    # which is large relative to a small difference of the two.
    whole = oracles.normal_renyi(1.0, noise_multiplier)
    left = whole - oracles.normal_renyi(shift, bit_noise)
    low, high = left - 1e-11 * whole, left + 1e-11 * whole
    return Interval(high**-0.5, low**-0.5 if low > 0 else math.inf)


def divergence_of_lengths(*, batch, dimension):
    """Return D_2 of two centred Gaussian vectors: the Rényi divergence of the vectors' norms."""
    # Log density of the norm, up to a constant that is the same for both vectors.
    log_length = lambda r, std: ((dimension - 1) * np.log(r) - r * r / (2 * std**2)
                                 - dimension * math.log(std))
    std, far = batch / (batch + 1), 3 * math.sqrt(dimension) + 40
    total = oracles.log_integral(lambda r: log_length(r, std), 1e-9, far)
    square = oracles.log_integral(lambda r: 2 * log_length(r, 1.0) - log_length(r, std), 1e-9, far)
    return square - total


def tree_by_counting(leaves, noise_multiplier, participations=1):
    """Return rho of tree aggregation: D_2 / 2 of the worst record, summed over complete nodes."""
    # total[i]: sum over tree nodes of (times a record that enters at step i is in the node)^2.
    starts, total = np.arange(leaves - participations + 1), 0.0
    for size in (1 << level for level in range(leaves.bit_length())):
        for first in range(0, leaves - size + 1, size):
            stop = np.minimum(starts + participations, first + size)
            total = total + np.square(np.maximum(stop - np.maximum(starts, first), 0))
    return 0.5 * oracles.normal_renyi(1.0, noise_multiplier) * float(np.max(total))


def least_epsilon(moments, bound=lambda total, log, m: (total + log) / m, *, noise_multiplier,
                  sample_rate, steps, delta):
    """Return the least bound(steps K(m), ln(1/delta), m) over m; K is the log moment of a step."""
    # The integrals need a rate below 1; 1 - 1e-12 changes them by less than their tolerance.
    pair = SampledGaussian(noise_multiplier, min(sample_rate, 1 - 1e-12), "remove")
    epsilon_at = lambda m: bound(steps * log_moments(pair, m), -math.log(delta), m)
    whole = bool(np.all(moments == np.round(moments)))
    for _ in range(1 if whole else 3):
        k = int(np.argmin(epsilon_at(moments)))
        low, high = moments[max(k - 1, 0)], moments[min(k + 1, moments.size - 1)]
        moments = np.arange(low, high + 1) if whole else np.linspace(low, high, 50)
    return float(np.min(epsilon_at(moments)))


@formula("G-F1", "Noise of a DP-SGD update")
@given("noise_multiplier > 0 and max_grad_norm > 0 and expected_batch > 0",
       noise_multiplier=Log(0.1, 20.0), max_grad_norm=Log(0.01, 100.0),
       expected_batch=Log(1.0, 1e5), dimension=Choice(1, 10, 1000))
@identity("Abadi et al. 2016, Algorithm 1", needed_noise, points=60)
@setting("noise of multiplier z on the mean of L clipped gradients",
         "乘数 z 的噪声，加在 L 个裁剪梯度的均值上", "sigma", "mean averag divid 平均 均值",
         noise_multiplier=NOISE, max_grad_norm=NOISE, expected_batch=Log(2.0, 1e3))
@setting("noise of multiplier z on the sum of a lot of L clipped gradients",
         "乘数 z 的噪声，加在一批 L 个裁剪梯度之和上", "sigma", "sum total 总和 之和",
         into={"expected_batch": 1.0}, noise_multiplier=NOISE, max_grad_norm=NOISE,
         expected_batch=Log(2.0, 1e3))
@setting("noise of multiplier z on the sum of clipped gradients",
         "乘数 z 的噪声，加在裁剪梯度之和上", "sigma", "sum total 总和 之和",
         into={"expected_batch": 1.0}, noise_multiplier=NOISE, max_grad_norm=NOISE)
@wrong("per-example", "Noise once per step is enough; this is the root of L times as much. Where "
       "the size of the lot is random, an empty one gets none at all.",
       "noise_multiplier * max_grad_norm / sqrt(expected_batch)")
@wrong("variance", "z C is the standard deviation.",
       "sqrt(noise_multiplier * max_grad_norm) / expected_batch",
       says=r"\text{noise of variance } zC \text{ on the sum}")
@wrong("by-coordinate", "A vector of d coordinates in [-C, C] may have norm C sqrt(d).",
       says=r"\text{the same with every coordinate clipped to } [-C, C]",
       oracle=partial(needed_noise, clip=lambda g, norm: np.clip(g, -norm, norm)))
def update_noise(*, noise_multiplier, max_grad_norm, expected_batch):
    r"""\text{deviation of } \tfrac1L\big(\textstyle\sum_i\pi_C(g_i) + N(0, z^2C^2I)\big)
    \text{ per coordinate} = \frac{zC}L

    expected_batch: L = q N, a public number: not the size of the batch that was drawn"""
    return noise_multiplier * max_grad_norm / expected_batch


@formula("G-F5", "Noise left for the sum under adaptive clipping")
@given("0 < noise_multiplier < 2*bit_noise", noise_multiplier=Log(0.1, 20.0),
       bit_noise=Log(0.1, 100.0))
@identity("Andrew et al. 2021, Theorem 1", left_for_the_sum, tolerance=1e-7, points=60)
@setting("what the gradients keep if a noisy count of bits ±1/2 adapts the clipping norm",
         "用取值 ±1/2 的带噪计数自适应裁剪范数时梯度所剩的乘数", "sigma",
         "adaptive quantile bit count 自适应", noise_multiplier=Log(0.3, 5.0),
         bit_noise=Log(0.2, 50.0))
@setting("what the gradients keep if a noisy count of bits 0 and 1 adapts the clipping norm",
         "用取值 0 和 1 的带噪计数自适应裁剪范数时梯度所剩的乘数", "sigma", "{0,_1} {0,1} in_{0",
         rare=True, given="0 < noise_multiplier < bit_noise", into=lambda bit_noise:
         {"bit_noise": bit_noise / 2}, noise_multiplier=Log(0.3, 5.0), bit_noise=Log(0.2, 50.0))
@printed("1.00503781526", noise_multiplier=1.0, bit_noise=5.0)
@wrong("for-free", "The count of clipped gradients is a release too.", "noise_multiplier")
@wrong("no-two", "A bit shifted by 1/2 moves the count by 1/2 only; more noise than needed.",
       "(noise_multiplier**(-2.0) - bit_noise**(-2.0))**(-0.5)",
       given="0 < noise_multiplier < bit_noise")
@wrong("unshifted", "A plain bit moves the count by 1.",
       says=r"z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2} \text{ for bits in } \{0, 1\}",
       given="0 < noise_multiplier < 0.99*bit_noise", oracle=partial(left_for_the_sum, shift=1.0))
def adaptive_clipping_multiplier(*, noise_multiplier, bit_noise):
    r"""z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2}

    bit_noise: Standard deviation sigma_b of the noise on the sum of bits, each -1/2 or 1/2"""
    whole = 2 * bit_noise
    # whole^2 - noise_multiplier^2, without cancellation.
    rest = (whole - noise_multiplier) * (whole + noise_multiplier)
    return noise_multiplier * whole / math.sqrt(rest)


@formula("G-F6", "Noise divided by the realised batch size gives it away")
@given("batch >= 3 and dimension >= 1", batch=Whole(3, 3000), dimension=Whole(1, 1_000_000))
@identity("van Erven & Harremoës 2014, equation (10)", divergence_of_lengths, tolerance=1e-6,
          absolute=1e-10, points=40)
@printed("0.00020205", batch=100, dimension=1)
@wrong("no-leak", "With Poisson sampling the size is private, and the noise shows it.", "0.0",
       says=r"\text{dividing sum and noise by } |B| \text{ is post-processing}: 0")
@wrong("one-coordinate",
       "Every coordinate carries noise of the same size: the divergence counts d times.",
       "-0.5 * log1p(-((2 * batch + 1) / batch**2)**2)")
def realised_batch_divergence(*, batch, dimension):
    r"""D_2\big(N(0, (\tfrac{zC}B)^2I_d)\,\Vert\,N(0, (\tfrac{zC}{B+1})^2I_d)\big)
    = -\frac d2\ln\big(1 - (1 - u^{-2})^2\big),\quad u = 1 - \tfrac1{B+1}"""
    excess = (2 * batch + 1) / batch**2  # ratio of the variances, minus 1
    return -0.5 * dimension * math.log1p(-(excess**2))


@formula("G-F6b", "Sensitivity of the mean over the realised batch")
@given("max_grad_norm > 0 and batch >= 2", max_grad_norm=Log(0.01, 100.0), batch=Whole(2, 300))
@identity("Nissim, Raskhodnikova & Smith 2007, the local sensitivity of a mean", change_of_mean,
          points=40)
@setting("mean over the batch that was drawn, one record added or removed",
         "实际抽到的批次的均值，增删一条记录", "sensitivity", "realis actual drawn 实际")
@wrong("fixed", "True of a fixed denominator; when it changes too, the multiplier is half.",
       "max_grad_norm / batch")
def realised_mean_sensitivity(*, max_grad_norm, batch):
    r"""\max\Big\lVert\frac1B\sum_{i\in B}g_i
    - \frac1{B-1}\sum_{i\in B\setminus j}g_i\Big\rVert = \frac{2C}B"""
    return 2 * max_grad_norm / batch


@formula("G-F10", "Tree aggregation, each record once")
@given("leaves >= 1 and noise_multiplier > 0", leaves=Whole(1, 300),
       noise_multiplier=Log(0.3, 30.0))
@identity("Kairouz et al. 2021, Theorem 4.1", tree_by_counting, points=40)
@setting("tree aggregation where one record comes in many leaves, however many",
         "一条记录占任意多片叶的树聚合", "rho", "often several more_than_once epochs 多次",
         rare=True, into={}, value=lambda value, **_: math.inf, leaves=Whole(1, 5000),
         noise_multiplier=NOISE)
@setting("tree aggregation of n values, one record in one leaf", "n 个值的树聚合，一条记录占一片叶",
         "rho", "tree prefix 树", rare=True, leaves=Whole(1, 5000), noise_multiplier=NOISE)
@printed("4.307307", leaves=1600, noise_multiplier=1.13)
@wrong("one-node", "A record enters one node on every level.", "1 / (2 * noise_multiplier**2)")
@wrong("no-plus-one", "A full tree over 2^k steps has k + 1 levels.",
       "ceil(log2(leaves)) / (2 * noise_multiplier**2)")
@wrong("several-epochs", "A record that takes part k times adds up to k in the nodes above.",
       says=r"\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2} \text{ if a record takes part often}",
       given="leaves >= participations and noise_multiplier > 0", oracle=tree_by_counting,
       participations=Choice(2, 3, 5))
def tree_aggregation_rho(*, leaves, noise_multiplier):
    r"""\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2}

    leaves: Steps n >= 1 in one tree; each record takes part in one of them"""
    return leaves.bit_length() / (2 * noise_multiplier**2)


@formula("G-F10b", "Tree aggregation with Laplace noise")
@given("leaves >= 1 and scale > 0", leaves=Whole(1, 300), scale=Log(0.3, 30.0))
@identity("Chan, Shi & Song 2011, the binary mechanism", lambda leaves,
          scale: tree_by_counting(leaves, noise_multiplier=1.0) / 0.5 / scale, points=40)
@setting("tree aggregation of n values with Laplace noise of scale b on each node",
         "n 个值的树聚合，每个结点加尺度 b 的拉普拉斯噪声", "epsilon",
         "tree prefix continual 树 连续", rare=True, leaves=Whole(1, 5000), scale=NOISE)
@printed("1.1", leaves=1024, scale=10.0)
@wrong("no-plus-one", "A full tree over 2^k steps has k + 1 levels.", "log2(leaves) / scale",
       leaves=Whole(2, 300))
@wrong("all-nodes", "A record enters one node on every level, not all of them.",
       "(2*leaves - 1) / scale", leaves=Whole(2, 300))
def tree_aggregation_epsilon(*, leaves, scale):
    r"""\varepsilon = \frac{\lceil\log_2(n+1)\rceil}b

    leaves: Steps n >= 1 in one tree; each record takes part in one of them"""
    return leaves.bit_length() / scale


def _divergence_of_run(noise_multiplier: float, sample_rate: float, steps: int, order: float):
    if sample_rate == 1:
        return steps * (order / (2 * noise_multiplier**2))
    return steps * sampled_gaussian_rdp(order=order, noise_multiplier=noise_multiplier,
                                        sample_rate=sample_rate)


def _best_order(epsilon_at: Callable[[float], float]) -> float:
    """Return the order in (1.01, 10001) of least epsilon, if this is unimodal in ln(order - 1)."""
    value = lambda x: np.asarray(-epsilon_at(1 + math.exp(x)))
    return 1 + math.exp(maximise(value, lower=math.log(0.01), upper=math.log(1e4), shape=()))


@formula("G-F1b", "Epsilon of a DP-SGD run, improved conversion")
@given(_GIVEN, _RUN)
@upper("Canonne, Kamath & Steinke 2020, Proposition 12", certified_epsilon, tolerance=1e-7,
       points=20)
@printed("2.596642", "2.38169", noise_multiplier=1.1, sample_rate=256 / 60_000, steps=14_063,
         delta=1e-5)
@wrong("per-example", "With L examples in every lot the multiplier is z sqrt(L), "
       "and utility is gone; with a random number of them the amount of noise gives the lot away.",
       says=r"\varepsilon \text{ of } z \text{ where every example brings noise } N(0, z^2C^2I)",
       kind="identity", oracle=lambda noise_multiplier, batch, **run: certified_epsilon(
       noise_multiplier * math.sqrt(batch), **run), sample_rate=Log(1e-3, 0.5), batch=Choice(64,
       256, 600))
@wrong("noise-alone", "The rate, the number of steps and delta count as much.", release_epsilon,
       says=r"\varepsilon \text{ depends on } z \text{ alone}", kind="identity")
def dpsgd_epsilon(*, noise_multiplier, sample_rate, steps, delta):
    r"""\varepsilon \le \min_{\alpha>1} T\,D_\alpha(q, z) + \ln\frac{\alpha-1}\alpha
    - \frac{\ln\delta + \ln\alpha}{\alpha-1}"""
    rdp = partial(_divergence_of_run, noise_multiplier, sample_rate, steps)
    epsilon_at = lambda order: float(rdp_to_epsilon(order, rdp(order), delta=delta))
    return epsilon_at(_best_order(epsilon_at))


@formula("G-F2", "The moments accountant, and its reference run")
@given(_GIVEN, _RUN)
@upper("Abadi et al. 2016, Theorem 2; Section 5.1 for the run", certified_epsilon, tolerance=1e-7,
       points=20)
@printed("1.258575", "0.946867", noise_multiplier=4.0, sample_rate=0.01, steps=10_000, delta=1e-5)
@printed("5.3026", "4.3772", noise_multiplier=1.0, sample_rate=1.0, steps=1, delta=1e-5)
@printed("3.0092", "2.3817", noise_multiplier=1.1, sample_rate=256 / 60_000, steps=14_063,
         delta=1e-5)
@wrong("shifted", "The log moment of lambda has the power lambda + 1; this is (alpha - 1) D_alpha.",
       partial(least_epsilon, WHOLE_MOMENT[1:] - 1, lambda total, log, m: (total + log) / (m + 1)),
       says=r"K(\alpha) = \ln E_{\mu_0}[(\mu/\mu_0)^\alpha]")
@wrong("one-step", "K must be multiplied by the number of steps first.",
       partial(least_epsilon, np.arange(1.0, 32.0), steps=1),
       says=r"\varepsilon = \min_\lambda \frac{K(\lambda) + \ln(1/\delta)}\lambda")
@wrong("orders-to-32", "Little loss asks for orders in the thousands, much loss for ones near 1.",
       partial(least_epsilon, np.arange(1.0, 32.0)),
       says=r"\text{whole orders up to } 32 \text{ give the minimum}", kind="identity",
       oracle=partial(least_epsilon, np.geomspace(0.01, 5000.0, 60)))
@wrong("order-kept", "True but one order too low: K/alpha is the divergence of order alpha + 1.",
       partial(least_epsilon, WHOLE_MOMENT[1:], lambda total, log, m: total / m + log / (m - 1)),
       says=r"\text{the run is } (\alpha, \textstyle\sum K/\alpha)\text{-RDP, and no better}",
       kind="identity", oracle=partial(least_epsilon, WHOLE_MOMENT))
@wrong("best", "It is an upper bound; the exact epsilon is a quarter smaller or so.",
       says=r"\text{the minimum is the best } \varepsilon", kind="identity")
@wrong("root-of-steps", "It is inside eps_0, and beyond epsilon of about 1 the root is not enough.",
       "sample_rate * sqrt(2 * log(1.25 / delta)) / noise_multiplier * sqrt(steps)",
       says=r"\varepsilon \le q\sqrt T\,\varepsilon_0,\ \varepsilon_0 = \sqrt{2\ln(1.25/\delta)}/z")
def moments_accountant(*, noise_multiplier, sample_rate, steps, delta):
    r"""\varepsilon \le \min_{\lambda\in\{1,2,\dots\}} \frac{T\,K(\lambda) +
    \ln(1/\delta)}\lambda,\quad K(\lambda) = \lambda D_{\lambda+1}(q, z)"""
    rdp = partial(_divergence_of_run, noise_multiplier, sample_rate, steps)
    epsilon_at = lambda order: rdp(order) - math.log(delta) / (order - 1)
    # T K(lambda) is convex and epsilon unimodal: the best integer is next to the best real lambda.
    below = max(1, math.floor(_best_order(epsilon_at) - 1))
    return min(epsilon_at(below + 1.0), epsilon_at(below + 2.0))


def _by_sum(epsilon, delta, sample_rate, steps):
    """Return a lower bound of the noise from quantiles of the number of times a record is drawn."""
    bounds = []
    for p in (0.5, 0.1, 0.01, 0.001):
        count = np.ceil(bdtrik(1 - p, steps, sample_rate))
        one = below.gaussian_sigma(epsilon - math.log(p), np.minimum(delta / p, 0.9))
        bounds.append(count / np.sqrt(steps) * one)
    return np.max(bounds, axis=0)


@formula("G-F2b", "Noise of a DP-SGD run in closed form")
@given(f"0 < delta < 1 and epsilon > 0 and {_CLOSED} >= 1.1 and sample_rate*{_CLOSED} < 1/16 and "
       f"2*log(1/delta)/epsilon <= ({_CLOSED})**2*log(1/(sample_rate*{_CLOSED}))", epsilon=Log(0.2,
       8.0), delta=Log(1e-9, 1e-3), sample_rate=Log(3e-4, 0.05), steps=Whole(100, 50_000))
@upper("Abadi et al. 2016, Theorem 1, with the constant of its proof", lambda epsilon, **run:
       oracles.smallest(lambda noise: certified_epsilon(noise, **run).high <= epsilon,
       low=0.5, high=50.0, rtol=1e-3), points=6)
@setting("DP-SGD of T steps on Poisson samples at rate q, noise multiplier σ",
         "T 步 DP-SGD，泊松抽样率 q，噪声乘子 σ", "sigma",
         "sgd sampl minibatch moments 抽样 采样", below=_by_sum,
         sample_rate=Log(1e-3, 0.03), steps=Whole(3000, 200_000), epsilon=Log(0.2, 10.0))
@printed("3.3930702", epsilon=1.0, delta=1e-5, sample_rate=0.005, steps=10_000)
@wrong("no-constant", "The theorem has a constant that it does not name; 1 is too small for it.",
       "sample_rate*sqrt(steps*log(1/delta))/epsilon")
@wrong("any-epsilon", "With few steps or a large epsilon there is too little noise for the lemma.",
       given="0 < delta < 1 and epsilon > 0", sample_rate=Log(3e-3, 0.05), steps=Whole(100, 500))
def dpsgd_noise(*, epsilon, delta, sample_rate, steps):
    r"""\sigma \ge \frac{2q\sqrt{T\ln(1/\delta)}}\varepsilon

    The theorem says that constants exist, for epsilon below c_1 q^2 T. The 2 is what its proof
    gives with the main term of the lemma alone (G-E8c), whose conditions are those here."""
    return 2 * sample_rate * math.sqrt(steps * math.log(1 / delta)) / epsilon


@formula("G-F3", "Central limit of many sampled steps")
@given("noise_multiplier > 0 and scaled_rate > 0 and 0 < delta < 1", along={"steps": (1e4, 1e6,
       1e8)}, noise_multiplier=Log(0.9, 10.0), scaled_rate=Log(0.2, 2.0), delta=Log(1e-6, 0.01))
@asymptotic("Bu, Dong, Long & Su 2020, Theorem 5", lambda scaled_rate, steps, **run:
            certified_epsilon(sample_rate=scaled_rate / math.sqrt(steps), steps=int(steps), **run),
            tolerance=0.002, points=20)
@wrong("as-guarantee", "The limit is approached from below in most runs of interest.", lambda
       sample_rate, steps, **run: clt_of_scaled(scaled_rate=sample_rate * math.sqrt(steps),
       steps=steps, **run), says=r"\varepsilon \le \varepsilon_{\mu\text{-GDP}}(\delta)",
       given=_GIVEN, kind="upper", oracle=certified_epsilon, along={}, without="scaled_rate",
       noise_multiplier=Log(0.5, 10.0), sample_rate=Log(1e-3, 0.1), steps=Whole(100, 10_000),
       delta=Log(1e-9, 0.01))
def clt_of_scaled(*, noise_multiplier, scaled_rate, steps, delta):
    r"""\varepsilon(\delta) \to \varepsilon_{\mu\text{-GDP}}(\delta),\quad
    \mu = q\sqrt{T(e^{1/z^2}-1)},\quad T \to \infty,\ q\sqrt T \text{ fixed}

    scaled_rate: q sqrt(T)"""
    mu = scaled_rate * math.sqrt(math.expm1(1 / noise_multiplier**2))
    return release_epsilon(noise_multiplier=1 / mu, delta=delta)
