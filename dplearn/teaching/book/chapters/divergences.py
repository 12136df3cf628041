"""Divergences of two distributions, closed forms for families, and inequalities between them."""

from scipy.special import rel_entr

from dplearn.teaching.book.kit.vocabulary import *

_P, _Q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
_PAIR = {"p": Distribution(4), "q": Distribution(4)}
_ORDERS = Log(0.05, 50.0, also=(0.0, 1.0, math.inf))


def heavy_tail(*, order):
    """Return D_order(Laplace || Gaussian), which is infinite above order 1."""
    far = 60.0 + (4.0 / (order - 1) if order > 1 else 0.0)
    laws = oracles.log_laplace(), oracles.log_normal()
    return oracles.density_renyi(*laws, order, -far, far, kinks=[0.0])


def _distributions(p: ArrayLike, q: ArrayLike) -> tuple[NDArray, NDArray]:
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    for name, x in (("p", p), ("q", q)):
        if x.shape != (p.size,) or not np.all(x >= 0) or not abs(x.sum() - 1) <= 1e-9:
            kind = f"probabilities of {p.size} outputs that sum to 1"
            raise ValueError(f"Expected {name} to be {kind}, got {name}={x}.")
    return p, q


@formula("G-A1", "Hockey-stick divergence: the delta of a pair")
@given("", _PAIR, epsilon=Linear(0.0, 4.0))
@identity("Balle & Wang 2018, Theorem 5", oracles.worst_event_delta)
@printed("0.1702557459", p=_P, q=_Q, epsilon=0.5)
@wrong("tail", "A loss that is rarely large is enough for DP, but is not implied by it.",
       lambda p, q, epsilon: np.sum(p, where=p > math.exp(epsilon) * q),
       says=r"\delta(\varepsilon) = P(L > \varepsilon)")
@wrong("one-order", "Neighbours come in both orders, and the other one may leak more.",
       says=r"(\varepsilon,\delta)\text{-DP} \iff H_{e^\varepsilon}(P\Vert Q) \le \delta",
       oracle=lambda p, q, epsilon: max(oracles.worst_event_delta(p, q, epsilon),
       oracles.worst_event_delta(q, p, epsilon)))
def hockey_stick(p, q, *, epsilon=0.0):
    r"""\sup_S P(S) - e^\varepsilon Q(S) = H_{e^\varepsilon}(P\Vert Q) = E_P[(1 - e^{\varepsilon -
    L})_+] = P(L > \varepsilon) - e^\varepsilon Q(L > \varepsilon), \quad L = \ln\frac{dP}{dQ}

    A release is (epsilon, delta)-DP exactly when this is at most delta for every ordered pair of
    neighbouring outputs."""
    p, q = _distributions(p, q)
    return float(np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0)))


@formula("G-A2", "Max divergence: the epsilon of pure DP")
@given("", _PAIR)
@identity("Dwork & Roth 2014, Definition 3.6", oracles.worst_event_epsilon)
@printed("0.9162907319", p=_P, q=_Q)
@wrong("any-event", "The empty event asks for 0/0, so there is no maximum: demand P(S) > 0.",
       lambda p, q: np.max(np.log(np.divide(*oracles.event_masses(p, q)))),
       says=r"D_\infty(P\Vert Q) = \max_{S} \ln\frac{P(S)}{Q(S)}")
@wrong("one-order", "Both orders of the two neighbours count.",
       says=r"D_\infty(M(x)\Vert M(x')) \le \varepsilon \Rightarrow \varepsilon\text{-DP}",
       oracle=lambda p, q: oracles.worst_event_epsilon_at(p, q, 0.0))
@wrong("for-approximate-dp", "That is pure DP; with a delta > 0 a smaller epsilon is true.",
       says=r"(\varepsilon,\delta)\text{-DP} \iff \sup|L| \le \varepsilon",
       oracle=lambda p, q, delta: max(0.0, oracles.worst_event_epsilon(p, q, delta)),
       p=POSSIBLE, q=POSSIBLE, delta=Log(1e-6, 0.5))
def max_divergence(p, q):
    r"""D_\infty(P\Vert Q) = \sup_{S:\,P(S)>0} \ln\frac{P(S)}{Q(S)} = \operatorname{ess\,sup}_P L"""
    return renyi(p, q, order=math.inf)


def _finite_above_one(*, p, q):
    """D_beta(P||Q) is finite for some beta > 1."""
    return not np.any((np.asarray(p) > 0) & (np.asarray(q) == 0))


@formula("G-A3d", "Rényi divergence near order 1 is the KL divergence")
@given(_finite_above_one, _PAIR, along={"order": (1.1, 1.01, 1.001, 1.0001)})
@asymptotic("van Erven & Harremoës 2014, Theorem 5", oracles.finite_renyi, tolerance=0.01)
@printed("0.549306", p=[0.75, 0.25], q=[0.25, 0.75])
@wrong("always", "From a Gaussian a Laplace law has a finite KL and nothing finite above it.",
       lambda: heavy_tail(order=1.0),
       says=r"\lim_{\alpha\downarrow1} D_\alpha = \mathrm{KL} \text{ for all } P, Q", given="",
       oracle=heavy_tail, without="p q")
@wrong("moments", "A loss of n with probability e^-n has vanishing moments, and E[e^X] near 2.",
       "0.0", says=r"E[X^k] \to 0\ \forall k \Rightarrow \ln E[e^{\alpha X}] \to 0", given="",
       oracle=lambda order, size: np.logaddexp(math.log(-math.expm1(-size)), (order - 1) * size),
       along={"size": (10.0, 20.0, 40.0, 80.0)}, without="p q", order=Choice(1.0, 2.0))
def kl_divergence(p, q):
    r"""\lim_{\alpha\downarrow1} D_\alpha(P\Vert Q) = \mathrm{KL}(P\Vert Q)"""
    return renyi(p, q, order=1.0)


@formula("G-A3", "Rényi divergence of every order")
@given("order >= 0", _PAIR, order=_ORDERS)
@identity("van Erven & Harremoës 2014, Theorems 4 to 6", oracles.finite_renyi)
@printed("0.6202006", p=_P, q=_Q, order=3.0)
@wrong("symmetric", "Only order 1/2 is symmetric.", lambda p, q, order: renyi(q, p, order=order),
       says=r"D_\alpha(P\Vert Q) = D_\alpha(Q\Vert P)")
@wrong("zero-at-zero", "True where every outcome of Q is possible under P, otherwise -ln Q(p > 0).",
       "0.0", order=Choice(0.0))
@wrong("every-order", "One epsilon for all orders is pure DP; RDP is a statement about one order.",
       says=r"(\alpha,\varepsilon)\text{-RDP} \Rightarrow D_\beta \le \varepsilon\ \forall\beta",
       kind="upper", oracle=oracles.worst_event_epsilon)
def renyi(p, q, *, order):
    r"""D_\alpha(P\Vert Q) = \frac1{\alpha-1}\ln\sum_i p_i^\alpha q_i^{1-\alpha},\quad
    D_0 = -\ln Q(p > 0),\ D_1 = \mathrm{KL},\ D_\infty = \max_i\ln\frac{p_i}{q_i}"""
    p, q = _distributions(p, q)
    both, alone = (p > 0) & (q > 0), np.any((p > 0) & (q == 0))
    if not np.any(both) or (order >= 1 and alone):
        return math.inf
    log_p, log_q = np.log(p[both]), np.log(q[both])
    if order == math.inf:
        return float(np.max(log_p - log_q))
    if order == 1:
        return float(np.sum(p[both] * (log_p - log_q)))
    log_sum = np.logaddexp.reduce(order * log_p + (1 - order) * log_q)
    return max(float(log_sum) / (order - 1), 0.0)


def worse_renyi(orders: str) -> Derived:
    """Return a domain: max(D(p||q), D(q||p)) at the Rényi order in the parameter named `orders`."""
    larger = lambda p, q, order: max(renyi(p, q, order=order), renyi(q, p, order=order))
    return Derived(lambda p, q, drawn: larger(p, q, drawn[orders]))


@formula("G-A3c", "Skew symmetry of the Rényi divergence")
@given("0 < order < 1", _PAIR, order=Linear(0.01, 0.99))
@identity("van Erven & Harremoës 2014, Proposition 2", oracles.finite_renyi, tolerance=1e-8)
@wrong("no-factors", "The factors 1 - alpha and alpha are equal at order 1/2 only.", lambda p,
       q, order: renyi(q, p, order=1 - order), says=r"D_\alpha(P\Vert Q) = D_{1-\alpha}(Q\Vert P)",
       met="lesson 05 of this course, version 0.2")
def renyi_by_skew_symmetry(*, p, q, order):
    r"""D_\alpha(P\Vert Q) = \frac\alpha{1-\alpha}\,D_{1-\alpha}(Q\Vert P)"""
    return order / (1 - order) * renyi(q, p, order=1 - order)


@formula("G-A5", "Data-processing inequality")
@given("order >= 0", _PAIR, order=_ORDERS, kernel=Drawn(lambda rng: np.eye(3)[
       rng.integers(3, size=4)] if rng.random() < 0.5 else rng.dirichlet(np.ones(3), size=4)))
@upper("van Erven & Harremoës 2014, Theorem 9", lambda p, q, kernel, order: oracles.finite_renyi(
       *(law / law.sum() for law in (np.dot(p, kernel), np.dot(q, kernel))), order=order))
@printed("0.6202006", "0.6000295", p=_P, q=_Q, order=3.0,
         kernel=np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]))
def renyi_before_processing(*, p, q, order):
    r"""D_\alpha(gP\Vert gQ) \le D_\alpha(P\Vert Q) \text{ for every Markov kernel } g

    The bound is the divergence of P from Q itself."""
    return renyi(p, q, order=order)


@formula("G-A6", "Weak triangle inequality")
@given("order > 1", dict.fromkeys("pqr", Distribution(3)), order=Log(1.02, 50.0))
@upper("Mironov 2017, Proposition 11", oracles.finite_renyi)
@printed("0.5892678", "0.48858", p=_P, q=_Q, r=[0.3, 0.3, 0.4], order=2.0)
@wrong("plain", "No Rényi divergence is a metric: the orders on the right must grow.",
       lambda p, q, r, order: renyi(p, r, order=order) + renyi(r, q, order=order),
       says=r"D_\alpha(P\Vert Q) \le D_\alpha(P\Vert R) + D_\alpha(R\Vert Q)")
def renyi_triangle(*, p, q, r, order):
    r"""D_\alpha(P\Vert Q) \le \frac{\alpha-1/2}{\alpha-1} D_{2\alpha}(P\Vert R)
    + D_{2\alpha-1}(R\Vert Q)"""
    first, second = renyi(p, r, order=2 * order), renyi(r, q, order=2 * order - 1)
    return (order - 0.5) / (order - 1) * first + second


@formula("G-A7", "Probability preservation")
@given("order > 1", _PAIR, order=Log(1.02, 50.0),
       event=Drawn(lambda rng, p: rng.random(len(p)) < 0.5))
@upper("Mironov 2017, Proposition 10", lambda p, event: np.sum(p, where=event))
@wrong("no-exponent", "Without the exponent it needs order infinity.",
       lambda p, q, order, event: math.exp(renyi(p, q, order=order)) * np.sum(q, where=event),
       says=r"P(S) \le e^{D_\alpha(P\Vert Q)}\,Q(S)", p=Distribution(4, zeros=False),
       q=Distribution(4, zeros=False))
def event_probability(*, p, q, order, event):
    r"""P(S) \le \big(e^{D_\alpha(P\Vert Q)}\,Q(S)\big)^{(\alpha-1)/\alpha}

    event: The outcomes in S"""
    divergence = renyi(p, q, order=order)
    if divergence == math.inf:
        return math.inf
    probability = np.sum(np.asarray(q), where=np.asarray(event, dtype=bool))
    return float((math.exp(divergence) * probability) ** ((order - 1) / order))


@formula("G-A11", "Joint quasi-convexity")
@given("order >= 0 and 0 <= weight <= 1", dict.fromkeys(("p", "q", "other_p", "other_q"),
       Distribution(3)), weight=Linear(0.0, 1.0), order=_ORDERS)
@upper("van Erven & Harremoës 2014, Theorem 13", lambda p, q, other_p, other_q, weight, order:
       oracles.finite_renyi(weight * p + (1 - weight) * other_p, weight * q + (1 - weight) *
       other_q, order))
@wrong("convex", "Up to order 1 it is jointly convex; above, only e^((alpha-1) D) is.",
       lambda p, q, other_p, other_q, weight, order: (weight * renyi(p, q, order=order) + (1 -
       weight) * renyi(other_p, other_q, order=order)), says=r"D_\alpha\Big(\sum_i\lambda_iP_i\Big"
       r"\Vert\sum_i\lambda_iQ_i\Big) \le \sum_i\lambda_iD_\alpha(P_i\Vert Q_i),\ \alpha > 1",
       given="order > 1 and 0 < weight < 1", p=POSSIBLE, q=POSSIBLE, other_p=POSSIBLE,
       other_q=POSSIBLE, order=Log(1.1, 50.0))
def renyi_of_mixture(*, p, q, other_p, other_q, order):
    r"""D_\alpha\Big(\sum_i\lambda_iP_i\Big\Vert\sum_i\lambda_iQ_i\Big)
    \le \max_i D_\alpha(P_i\Vert Q_i)"""
    return max(renyi(p, q, order=order), renyi(other_p, other_q, order=order))


def _second_inside_first(*, p, q):
    """Q is zero where P is."""
    return not np.any((np.asarray(p) == 0) & (np.asarray(q) > 0))


@formula("G-A12b", "Normalisation of the privacy loss")
@given(_second_inside_first, _PAIR)
@identity("Bun & Steinke 2016, Section 3", lambda p, q: math.fsum(a * math.exp(-math.log(a / b)) for
          a, b in zip(p, q, strict=True) if a > 0 and b > 0))
@wrong("without-continuity", "What is possible under Q alone is missing: the mean is Q(p > 0).",
       says=r"E_P[e^{-L}] = 1 \text{ for all } P, Q", given="")
def mean_exp_of_minus_loss():
    r"""E_P[e^{-L}] = 1"""
    return 1.0


_VARIANCE = "((1 - order)*std_p**2 + order*std_q**2)"
_GAP = f"order*(mean_p - mean_q)**2/(2*{_VARIANCE})"
_STDS = "(std_p**(1 - order)*std_q**order)"
_KL_PAIR = {"p": Distribution(4), "q": Distribution(4), "kl": Derived(kl_divergence)}
_shifted = lambda noise_multiplier, steps=1: {"mean_p": 0.0, "mean_q": math.sqrt(steps),
                                              "std_p": noise_multiplier, "std_q": noise_multiplier}
_total_variation = lambda p, q: oracles.worst_event_delta(p, q, 0.0)


def response_kl(epsilon):
    """Return the KL divergence of randomized response, the largest KL under epsilon-DP."""
    return oracles.mean_loss(*oracles.randomized_response(epsilon))


def largest_distance(*, kl):
    """Return the largest total variation distance of Bernoulli pairs with KL divergence `kl`."""
    q = np.linspace(0.001, 0.999, 999)
    farther = lambda d: rel_entr(q + d, q) + rel_entr(np.maximum(1 - q - d, 0.0), 1 - q) > kl
    return float(np.max(first_true(farther, lower=0.0, upper=1 - q)))


def renyi_of_normals(*, order, mean_p, std_p, mean_q, std_q):
    """Return the Rényi divergence of two Gaussians by quadrature, or [0, inf] if inaccurate."""
    # The exponent of the integrand suffers from cancellation where `inverse` is nearly 0.
    inverse = order * std_q**2 + (1 - order) * std_p**2
    if 0 < inverse < 1e-3 * order * std_q**2:
        return Interval(0.0, math.inf)
    p, q = oracles.log_normal(mean_p, std_p), oracles.log_normal(mean_q, std_q)
    return oracles.density_renyi(p, q, order, -1e6, 1e6)


@formula("G-A4", "Rényi divergence of two Gaussians")
@given("std_p > 0 and std_q > 0 and order >= 0", order=Log(0.05, 50.0, also=(1.0,)),
       mean_p=Linear(-3.0, 3.0), std_p=Log(0.2, 5.0), mean_q=Linear(-3.0, 3.0), std_q=Log(0.2, 5.0))
@identity("van Erven & Harremoës 2014, equation (10)", renyi_of_normals)
@setting("two normal laws, Rényi divergence of order α", "两个正态分布的 α 阶 Rényi 散度", "rdp",
         "normal gauss")
@setting("Gaussian noise of standard deviation σ, RDP of order α", "标准差 σ 的高斯噪声，α 阶 RDP",
         "rdp", "gauss normal 高斯", into=_shifted, order=ORDER, noise_multiplier=NOISE)
@setting("k releases with Gaussian noise σ, RDP of order α", "k 次高斯噪声发布的 α 阶 RDP", "rdp",
         REPEATED, into=_shifted, order=ORDER, noise_multiplier=NOISE, steps=COUNT)
@setting("KL divergence of two Gaussians at distance Δ", "相距 Δ 的两个高斯分布的 KL 散度", "kl",
         "gauss normal 高斯", into=lambda noise_multiplier: {"order": 1.0, **_shifted(
         noise_multiplier)}, noise_multiplier=NOISE)
@printed("0.470263017683", order=2.0, mean_p=0.0, std_p=1.0, mean_q=1.0, std_q=1.5)
@wrong("no-root", "The logarithm holds the square root; with its square a divergence is negative.",
       f"{_GAP} + log({_VARIANCE}/{_STDS})/(1 - order)", says=r"\frac{\alpha(\mu_0-\mu_1)^2}{2"
       r"\sigma_\alpha^2} + \frac1{1-\alpha} "
       r"\ln\frac{\sigma_\alpha^2}{\sigma_0^{1-\alpha}\sigma_1^\alpha}",
       given=f"order != 1 and {_VARIANCE} > 0")
@wrong("no-condition", "Where P is too wide for Q the divergence is infinite.",
       f"{_GAP} + (0.5*log(abs({_VARIANCE})) - log({_STDS}))/(1 - order)",
       says=r"\text{the same with } |\sigma_\alpha^2| \text{, for all } \alpha > 1",
       given=f"order > 1 and {_VARIANCE} != 0")
def renyi_gaussian(*, order, mean_p, std_p, mean_q, std_q):
    r"""D_\alpha\big(N(\mu_0,\sigma_0^2)\Vert N(\mu_1,\sigma_1^2)\big)
    = \frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2} + \frac1{1-\alpha}
    \ln\frac{\sigma_\alpha}{\sigma_0^{1-\alpha}\sigma_1^\alpha},\quad
    \sigma_\alpha^2 = (1-\alpha)\sigma_0^2 + \alpha\sigma_1^2 > 0, else \infty

    At distance 1 and with one deviation it is alpha/(2sigma^2)."""
    gap, log_ratio = (mean_p - mean_q) ** 2, math.log(std_q / std_p)
    if order == math.inf:
        if std_p >= std_q:
            return 0.0 if gap == 0 and std_p == std_q else math.inf
        return log_ratio + gap / (2 * (std_q**2 - std_p**2))
    if order == 1:
        return log_ratio + (std_p**2 + gap) / (2 * std_q**2) - 0.5
    variance = (1 - order) * std_p**2 + order * std_q**2
    if variance <= 0:
        return math.inf
    log_term = 0.5 * math.log(variance) - (1 - order) * math.log(std_p) - order * math.log(std_q)
    return order * gap / (2 * variance) + log_term / (1 - order)


@formula("G-A8", "Rényi divergence of the Laplace mechanism")
@given("order > 1 and scale > 0", order=Log(1.02, 300.0), scale=Log(0.05, 50.0))
@identity("Mironov 2017, Proposition 6", lambda order, scale:
          oracles.density_renyi(oracles.log_laplace(0.0, scale), oracles.log_laplace(1.0, scale),
          order, -800 * scale - 1, 800 * scale + 1, kinks=[0, 1]))
@setting("Laplace noise of scale b, RDP of order α", "尺度 b 的拉普拉斯噪声，α 阶 RDP", "rdp",
         "lap 拉普拉斯", order=ORDER, scale=NOISE)
@setting("Laplace noise of scale Δ/ε, RDP of order α", "尺度 Δ/ε 的拉普拉斯噪声，α 阶 RDP", "rdp",
         "lap 拉普拉斯", into=lambda epsilon: {"scale": 1 / epsilon}, order=ORDER, epsilon=LOSS)
@printed("0.7468281411", order=3.0, scale=1.0)
@printed("0.9965294", order=200.0, scale=1.0)
@wrong("square", "Of the shape of the Gaussian's: an upper bound twice too large, and no value.",
       "order / scale**2")
@wrong("deviation-for-scale", "The variance of a Laplace law of scale b is 2 b^2.",
       lambda order, scale: renyi_laplace(order=order, scale=math.sqrt(2) * scale),
       says=r"D_\alpha \text{ with the standard deviation } \sqrt2\,b \text{ for } b")
def renyi_laplace(*, order, scale):
    r"""D_\alpha = \frac1{\alpha-1}\ln\Big\{\frac{\alpha}{2\alpha-1}e^{(\alpha-1)/b}
    + \frac{\alpha-1}{2\alpha-1}e^{-\alpha/b}\Big\}"""
    # Where b is large, 1 + up expm1(...) + down expm1(...) avoids cancellation, as up + down = 1.
    up, down = order / (2 * order - 1), (order - 1) / (2 * order - 1)
    if (order - 1) / scale > 1:
        logs = math.log(up) + (order - 1) / scale, math.log(down) - order / scale
        return float(np.logaddexp(*logs)) / (order - 1)
    gain = up * math.expm1((order - 1) / scale) + down * math.expm1(-order / scale)
    return math.log1p(gain) / (order - 1)


@formula("G-A9", "Rényi divergence of randomized response")
@given("0 < truth < 1 and order > 0", truth=Linear(0.01, 0.99), order=Log(0.05, 200.0, also=(1.0,)))
@identity("Mironov 2017, Proposition 5",
          lambda truth, order: oracles.finite_renyi([truth, 1 - truth], [1 - truth, truth], order))
@setting("randomized response of one bit, truth with chance p, RDP of order α",
         "一位随机应答（以概率 p 说真话）的 α 阶 RDP", "rdp", "respon coin bit", truth=Linear(0.51,
         0.99), order=ORDER)
@printed("0.8467268305", truth=1 / (1 + math.exp(-1)), order=3.0)
@printed("0.4621171573", truth=1 / (1 + math.exp(-1)), order=1.0)
def renyi_randomized_response(*, truth, order):
    r"""D_\alpha = \frac1{\alpha-1}\ln\big(p^\alpha(1-p)^{1-\alpha} + (1-p)^\alpha p^{1-\alpha}\big)

    truth: In (0, 1); replacing the record swaps truth and lie"""
    logs = np.array([math.log(truth), math.log1p(-truth)])
    if order == 1:
        return (2 * truth - 1) * float(logs[0] - logs[1])
    total = np.logaddexp.reduce(order * logs + (1 - order) * logs[::-1])
    return float(total) / (order - 1)


@formula("G-A10", "Pinsker's inequality")
@given("kl >= 0", _KL_PAIR)
@upper("Tsybakov 2009, Lemma 2.5", _total_variation)
@setting("total variation of two laws by their KL divergence", "由 KL 散度界定的总变差", "adv",
         "kl pinsker", kl=Log(1e-3, 2.0))
@printed("0.3707339", "0.3", p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5], kl=0.3 * math.log(2.5))
@wrong("whole-distance", "The sum of |p - q| is twice the total variation distance.",
       says=r"\lVert P - Q\rVert_1 \le \sqrt{\mathrm{KL}(P\Vert Q)/2}",
       oracle=lambda p, q: float(np.sum(np.abs(np.subtract(p, q)))))
@wrong("no-half", "True, but too large by a factor of 1.4 for nearly equal laws.", "sqrt(kl)",
       says=r"\mathrm{TV} \le \sqrt{\mathrm{KL}} \text{ and no constant is better}",
       kind="identity", oracle=largest_distance, without="p q", kl=Log(1e-4, 0.5))
def pinsker(*, kl):
    r"""\mathrm{TV}(P,Q) = H_1(P\Vert Q) \le \sqrt{\mathrm{KL}(P\Vert Q)/2}"""
    return math.sqrt(kl / 2)


@formula("G-A10b", "The inequality of Bretagnolle and Huber")
@given("kl >= 0", _KL_PAIR)
@upper("Tsybakov 2009, Lemma 2.6", _total_variation)
@setting("total variation of two laws by their KL divergence", "由 KL 散度界定的总变差", "adv",
         "kl", kl=Log(1e-3, 2.0))
@printed("0.4902471", "0.3", p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5], kl=0.3 * math.log(2.5))
def bretagnolle_huber(*, kl):
    r"""\mathrm{TV}(P,Q) \le \sqrt{1 - e^{-\mathrm{KL}(P\Vert Q)}}"""
    return math.sqrt(-math.expm1(-kl))


@formula("G-A12", "Mean privacy loss under pure DP")
@given("epsilon >= 0", p=POSSIBLE, q=POSSIBLE,
       epsilon=Derived(lambda p, q: max(max_divergence(p, q), max_divergence(q, p))))
@upper("Bun & Steinke 2016, Proposition 3.3", oracles.mean_loss)
@setting("two laws within e^ε of each other, KL divergence", "比值不超过 e^ε 的两个分布的 KL 散度",
         "kl", "pure indisting bound coin", below="exact", epsilon=LOSS)
@printed("0.4621171573", "0.4621171573", epsilon=1.0,
         at=dict(zip("pq", oracles.randomized_response(epsilon=1.0), strict=True)))
@wrong("exponential", "A valid bound, but at least twice the largest mean.",
       "epsilon * expm1(epsilon)", without="p q", kind="identity", oracle=response_kl,
       epsilon=Log(0.01, 5.0))
@wrong("half-square", "The limit for a small epsilon; a valid bound that no pair attains.",
       "epsilon**2 / 2", without="p q", kind="identity", oracle=response_kl,
       epsilon=Log(0.01, 5.0))
def mean_loss_of_pure_dp(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \mathrm{KL} \le
    \varepsilon\tanh\frac\varepsilon2 \le \frac{\varepsilon^2}2"""
    return epsilon * math.tanh(epsilon / 2)
