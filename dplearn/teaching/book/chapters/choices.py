"""Choices by noisy scores: the exponential mechanism, the noisy maximum, permute-and-flip."""

from dplearn.mechanisms.choices import bounded_range_zcdp
from dplearn.teaching.book.chapters.budgets import least_scale
from dplearn.teaching.book.kit.vocabulary import *

Law = tuple[oracles.Density, oracles.Density]
EXPONENTIAL: Law = (lambda x: np.where(x < 0, -np.inf, -x),
                    lambda x: log1mexp(-np.maximum(x, 0.0)))
_OPPOSITE = {"tables": np.array([[0.0, 1.0, 2.0, 2.0], [-1.0, 2.0, 1.0, 1.0]]),
             "sensitivity": 1.0, "monotone": False}
_ONE_WAY = {"tables": np.array([[0.0, 2.0, 2.0, 3.0], [0.0, 2.0, 3.0, 4.0]]),
            "sensitivity": 1.0, "monotone": True}
# One best candidate and 999 others of equal score.
_CROWD = {"lead": 1.0, "others": 999, "move": -1.0, "other_move": 1.0, "scale": 1.0,
          "sensitivity": 1.0}


def selection_losses(rate, tables):
    """Return the log ratio of each candidate's selection probabilities under two score tables."""
    weights = np.exp(rate * np.asarray(tables))
    return np.subtract(*np.log(weights / weights.sum(axis=1, keepdims=True)))


def shortfall_probability(*, candidates, epsilon, t, spread, shape, factor=2.0):
    """Return P(score of the chosen candidate <= best - factor (ln(candidates) + t) / epsilon).

    The scores have sensitivity 1 and R is the number of candidates. All but the best are
    2 `spread` (ln R + t) / epsilon below the best, or on a ramp down to that.
    """
    unit = (math.log(candidates) + t) / epsilon
    ramp = np.linspace(0.0, 1.0, candidates)
    scores = -spread * 2 * unit * (ramp if shape == "ramp" else ramp > 0)
    weights = [math.exp(epsilon * u / 2) for u in scores]
    low = [w for w, u in zip(weights, scores, strict=True) if u <= -factor * unit]
    return math.fsum(low) / math.fsum(weights)


def largest_bounded_range_renyi(epsilon, order):
    """Return the largest Rényi divergence of Bernoulli pairs whose losses are `epsilon` apart."""
    # P has masses p and other = 1 - p. Those of Q sum to p exp(-t) + other exp(epsilon - t) = 1.
    t = np.linspace(0.0, epsilon, 4001)[1:-1]
    other = np.expm1(t) / np.expm1(epsilon)
    p = np.exp(t) * np.expm1(epsilon - t) / np.expm1(epsilon)
    if order == 1:
        return float(np.max(p * t + other * (t - epsilon)))
    log_p, losses = np.log([p, other]).T, np.stack([t, t - epsilon], axis=-1)
    return float(np.max(oracles.log_moment(log_p, log_p - losses, order - 1))) / (order - 1)


def argmax_log_probability(scores: NDArray, rivals: ArrayLike, law: Law) -> float:
    """Return log P(the first candidate has the largest noisy score).

    `rivals[i]` competitors have the score `scores[i]`; `law` is the log density and the log
    distribution function of noise of scale 1.
    """
    log_density, log_cdf = law

    def log_f(x: NDArray) -> NDArray:
        others = (n * log_cdf(x - u) for n, u in zip(rivals, scores, strict=True) if n)
        return log_density(x - scores[0]) + sum(others, np.zeros_like(x))

    low, high = np.min(scores) - 60.0, np.max(scores) + 80.0
    return oracles.log_integral(log_f, float(low), float(high), kinks=list(scores))


def laplace_log_cdf(x: NDArray) -> NDArray:
    """Return log P(X <= x) for Laplace noise X of scale 1."""
    return np.where(x < 0, x - math.log(2), np.log1p(-0.5 * np.exp(-np.abs(x))))


_gumbel_log_cdf = lambda x: -np.exp(np.minimum(-x, 700.0))
LAPLACE: Law = (oracles.log_laplace(), laplace_log_cdf)
GUMBEL: Law = (lambda x: _gumbel_log_cdf(x) - x, _gumbel_log_cdf)


def argmax_probability(*, scores, scale, law):
    """Return P(the first candidate has the largest noisy score)."""
    rivals = np.arange(len(scores)) > 0
    return math.exp(argmax_log_probability(np.asarray(scores) / scale, rivals, law))


def noisy_max_loss(*, scale, lead, others, move, other_move):
    """Return the largest |ln(P(r)/Q(r))| over winners r of report-noisy-max with Laplace noise.

    One candidate's score changes from `lead` to `lead + move`, all others from 0 to `other_move`.
    """
    one = lambda u: argmax_log_probability(np.array([u, 0.0]) / scale, [0, others], LAPLACE)
    other = lambda u: argmax_log_probability(np.array([0.0, u]) / scale, [others - 1, 1], LAPLACE)
    moved = lead + move - other_move
    return max(abs(law(lead) - law(moved)) for law in (one, other))


def distance_score_change(*, stretch, sensitivity):
    """Return the largest change of the score -stretch |answer - r| between neighbours on a grid."""
    r = np.linspace(-3 * sensitivity, 3 * sensitivity, 61)
    answers = np.linspace(-sensitivity, 2 * sensitivity, 31)
    moved = answers + np.linspace(-sensitivity, sensitivity, 21)[:, None]
    one, two = (-stretch * np.abs(a[..., None] - r) for a in (answers, moved))
    return float(np.max(np.abs(one - two)))


def mean_distance(*, epsilon, sensitivity):
    """Return E|x| of the exponential mechanism with the score -|x|, by quadrature."""
    change = distance_score_change(stretch=1.0, sensitivity=sensitivity)
    moment = partial(oracles.absolute_moment, lambda x: -epsilon * np.abs(x) / (2 * change))
    return moment(1, 200 * change / epsilon) / moment(0, 200 * change / epsilon)


_random_scores = lambda rng: rng.integers(-30, 31, rng.integers(2, 6)) / 10


def _two_tables(rng: Generator) -> NDArray:
    """Return random scores on two neighbouring datasets, as two rows; often all move one way."""
    scores = _random_scores(rng)
    moves = rng.choice([-1.0, -0.5, 0.0, 0.3, 1.0], scores.size)
    sign = rng.choice([-1, 0, 0, 1])
    return np.stack([scores, scores + (sign * np.abs(moves) if sign else moves)])


_SELECTION = {"tables": Drawn(_two_tables), "rate": Log(0.01, 20.0),
              "sensitivity": Derived(lambda tables: float(np.max(np.abs(tables[1] - tables[0])))),
              "monotone": Derived(lambda tables: np.ptp(np.sign(tables[1] - tables[0])) < 2)}


@formula("G-B6", "The exponential mechanism")
@given("rate > 0 and sensitivity >= 0", _SELECTION)
@upper("Dwork & Roth 2014, Theorem 3.10",
       lambda rate, tables: np.max(np.abs(selection_losses(rate, tables))))
@printed("1", "0.69961", at=_OPPOSITE, rate=0.5)
@printed("1", "0.839992", at=_ONE_WAY, rate=1.0)
@wrong("no-two", "The normalising sum moves too, unless all scores move the same way.",
       "rate * sensitivity",
       says=r"P(r) \propto e^{\varepsilon u(r)/\Delta_u} \text{ is } \varepsilon\text{-DP}")
@wrong("sensitivity-of-the-query", "The sensitivity that counts is that of the score.",
       says=r"P(r) \propto e^{\varepsilon u(r)/(2\Delta_q)},\ u \text{ a multiple of } q",
       oracle=lambda rate, tables, stretch: np.max(np.abs(selection_losses(rate, stretch
       * tables))), stretch=Choice(2.0, 3.0))
def exponential_mechanism_epsilon(*, rate, sensitivity, monotone=False):
    r"""P(r) \propto e^{\varepsilon u(r)/(2\Delta_u)} \text{ is } \varepsilon\text{-DP};
    \text{ without the 2 if all scores move one way}

    tables: scores of the candidates for one dataset and for its neighbour"""
    return (1 if monotone else 2) * rate * sensitivity


@formula("G-B7b", "The exponential mechanism has bounded range")
@given("rate > 0 and sensitivity >= 0", _SELECTION)
@upper("Dong, Durfee & Rogers 2020, Lemma 3.2",
       lambda rate, tables: np.ptp(selection_losses(rate, tables)))
@printed("1", "1", at=_OPPOSITE, rate=0.5)
@printed("1", "1", at=_ONE_WAY, rate=1.0)
@wrong("pure-dp", "Pure DP gives 2 epsilon, and randomized response has it.", "epsilon",
       says=r"\varepsilon\text{-DP} \Rightarrow \max L - \min L \le \varepsilon",
       given="epsilon > 0", oracle=lambda epsilon:
       np.ptp(np.log(np.divide(*oracles.randomized_response(epsilon)))),
       without="tables rate sensitivity monotone", epsilon=Log(0.01, 10.0))
def exponential_mechanism_range(*, rate, sensitivity, monotone=False):
    r"""\max_r L(r) - \min_r L(r) \le \varepsilon,
    \quad P(r) \propto e^{\varepsilon u(r)/(2\Delta_u)}

    The losses span an interval no longer than the bound on each of them,
    `exponential_mechanism_epsilon`."""
    return (1 if monotone else 2) * rate * sensitivity


@formula("G-B7", "Bounded range gives concentrated DP")
@given("epsilon > 0 and order >= 1", epsilon=Log(1e-3, 20.0), order=Log(1.001, 1000.0, also=(1.0,)))
@upper("Cesar & Rogers 2021, Section 3", largest_bounded_range_renyi)
@setting("the exponential mechanism with ε (bounded range), RDP of order α",
         "指数机制（ε 有界极差）的 α 阶 RDP", "rdp", "exponential bounded_range 指数机制")
@setting("the exponential mechanism with ε (bounded range), as zCDP",
         "指数机制（ε 有界极差），换成 zCDP", "rho", "exponential bounded_range 指数机制",
         into={"order": 2.0}, value=lambda value, **_: value / 2, epsilon=LOSS)
@printed("0.125", "0.12330156", epsilon=1.0, order=1.0)
@wrong("pure-dp-tight", "True of every pure DP, and four times what bounded range gives.",
       "order * epsilon**2 / 2", kind="identity")
@wrong("any-pure-dp", "Randomized response needs nearly epsilon^2/2.",
       says=r"\varepsilon\text{-DP} \Rightarrow D_\alpha \le \alpha\varepsilon^2/8", oracle=lambda
       epsilon, order: oracles.finite_renyi(*oracles.randomized_response(epsilon), order))
def bounded_range_renyi(*, epsilon, order):
    r"""\varepsilon\text{-bounded range} \Rightarrow D_\alpha \le \alpha\varepsilon^2/8"""
    return order * epsilon**2 / 8


enter(bounded_range_zcdp,
      formula("G-B7c", "zCDP of bounded range", statement=r"\rho = \lambda + e^{-\lambda} - "
              r"1,\quad \lambda = \ln\frac{e^\varepsilon-1}\varepsilon"),
      given("epsilon > 0", epsilon=Log(1e-3, 20.0)),
      identity("Harrison & Manurangsi 2026, arXiv 2510.25746", lambda epsilon: oracles.largest_rho(
               lambda a: largest_bounded_range_renyi(epsilon, order=a)), tolerance=1e-6,
               points=40),
      setting("the exponential mechanism with ε (bounded range), as zCDP",
              "指数机制（ε 有界极差），换成 zCDP", "rho",
              "exponential bounded_range 指数机制", epsilon=LOSS),
      printed("0.12330156", "0.12330156", epsilon=1.0),
      wrong("eighth", "An upper bound, reached as epsilon goes to 0.", "epsilon**2 / 8"))


@formula("G-B8", "Utility of the exponential mechanism")
@given("t >= 0", candidates=Whole(1, 300), epsilon=Log(0.01, 20.0), t=Linear(0.0, 8.0),
       spread=Linear(0.2, 2.0, also=(0.5, 1.0)), shape=Choice("cluster", "ramp"))
@upper("Dwork & Roth 2014, Corollary 3.12", shortfall_probability, unsafe=None)
@setting("the exponential mechanism chooses far below the best", "指数机制的选择远低于最优",
         "probability", "exponential 指数机制", below="exact", t=Log(0.1, 8.0),
         event=r"[uq][\w(),]*<=?(?:OPT|[uq]\(\w,\w'\)|q_?max)-(?:\(?2Delta[uq]?/epsilon\)?\(?\(?l(?"
         r":n|og)\(?\|?[RYd]\|?\)?\+t\)?|2Delta[uq]?\(l(?:n|og)\|?[RYd]\|?\+t\)/epsilon)")
@printed("0.1353353", "0.1171", candidates=50, epsilon=1.0, t=2.0, spread=1.0, shape="cluster")
@wrong("no-two", "The 2 of the exponent comes back here; without it the scores fall twice as far.",
       says=r"P\Big(u(r) \le \mathrm{OPT} - \frac\Delta\varepsilon(\ln|R| + t)\Big) \le e^{-t}",
       oracle=partial(shortfall_probability, factor=1.0))
def exponential_mechanism_shortfall(*, t):
    r"""P\Big(u(r) \le \mathrm{OPT} - \frac{2\Delta}\varepsilon(\ln|R| + t)\Big) \le e^{-t}

    candidates: |R|"""
    return math.exp(-t)


@formula("G-B9", "Report noisy max with Laplace noise")
@given("scale > 0", scale=Log(0.2, 20.0), lead=Linear(-5.0, 5.0, also=(1.0,)),
       others=Whole(1, 1000), move=Linear(-1.0, 1.0), other_move=Linear(-1.0, 1.0),
       sensitivity=Derived(lambda move, other_move: max(abs(move), abs(other_move))),
       monotone=Derived(lambda move, other_move: move * other_move >= 0))
@upper("Dwork & Roth 2014, Claim 3.9", noisy_max_loss, points=60)
@setting("report noisy max with Laplace noise of scale b on scores of sensitivity Δ, ε-DP",
         "报告噪声最大值：对敏感度 Δ 的得分加尺度 b 的拉普拉斯噪声，ε-DP", "epsilon",
         "max select winner argmax 最大", rare=True, into={"monotone": False}, below="exact",
         scale=NOISE, sensitivity=NOISE)
@printed("1", "1.0000", at=_CROWD, scale=2.0, monotone=False)
@printed("1", "1.0000", at=_CROWD, other_move=0.0, monotone=True)
@wrong("any-scores",
       "Proved for scores that all move one way; else the winner and the rest add up.",
       "sensitivity / scale",
       says=r"\arg\max_r u_r + \mathrm{Lap}(\Delta/\varepsilon) \text{ is } \varepsilon\text{-DP}")
def noisy_max_epsilon(*, scale, sensitivity, monotone=False):
    r"""\arg\max_r u_r + \mathrm{Lap}(b) \text{ is } (2\Delta/b)\text{-DP};
    \ (\Delta/b)\text{-DP if all scores move one way}

    lead: score of one candidate, where all others have 0
    move: how much this score changes
    other_move: how much those of the others change"""
    return (1 if monotone else 2) * sensitivity / scale


_NOISY = {"scores": Drawn(_random_scores), "scale": Log(0.1, 10.0)}


@formula("G-B10", "Gumbel noise and the largest: the exponential mechanism")
@given("scale > 0", _NOISY)
@identity("Durfee & Rogers 2019, Section 4", partial(argmax_probability, law=GUMBEL), unsafe=None)
@printed("0.45186276", "0.45186276", scores=np.array([1.0, 0.0, 0.0]), scale=2.0)
@wrong("half-scale", "The scale is the inverse of the rate, so it has the 2 as well.",
       lambda scores, scale: np.exp(scores[0] / (2 * scale) - np.logaddexp.reduce(scores / (2 *
       scale))), says=r"\arg\max_r u_r + \mathrm{Gumbel}(\Delta/\varepsilon) \sim e^{\varepsilon "
       r"u_r/(2\Delta)}")
@wrong("laplace-noise", "Only Gumbel noise draws by a softmax.", says=r"\arg\max_r u_r + "
       r"\mathrm{Lap}(2\Delta/\varepsilon) \sim e^{\varepsilon u_r/(2\Delta)}",
       oracle=partial(argmax_probability, law=LAPLACE))
def gumbel_max_probability(*, scores, scale):
    r"""P\big(\arg\max_r u_r + \mathrm{Gumbel}(\beta) = i\big)
    = \frac{e^{u_i/\beta}}{\sum_r e^{u_r/\beta}},\quad \beta = 2\Delta/\varepsilon

    scale: beta"""
    u = np.asarray(scores) / scale
    return float(np.exp(u[0] - np.logaddexp.reduce(u)))


@formula("G-B10b", "Exponential noise and the largest: permute-and-flip")
@given("scale > 0", _NOISY)
@identity("McKenna & Sheldon 2020, Section 3", partial(argmax_probability, law=EXPONENTIAL),
          unsafe=None)
@printed("0.816060279", scores=np.array([1.0, 0.0]), scale=1.0)
@wrong("softmax", "It is never worse: permute-and-flip prefers the best score more.",
       gumbel_max_probability, says=r"\arg\max_r u_r + \mathrm{Exp}(\beta) \sim e^{u_r/\beta}")
def permute_and_flip_probability(*, scores, scale):
    r"""P\big(\arg\max_r u_r + \mathrm{Exp}(\beta) = i\big)
    = q_i\int_0^1\prod_{r\ne i}(1 - s\,q_r)\,ds,\quad q_r = e^{(u_r - \max u)/\beta}

    The candidates come at uniform times s, and the first one whose coin of bias q_r lands
    heads wins; at time s another one is still out of the way with probability 1 - s q_r.
    scale: beta"""
    u = np.asarray(scores, dtype=float)
    q = np.exp((u - np.max(u)) / scale)
    # The product is a polynomial, for which Gauss-Legendre quadrature with `u.size` nodes is exact.
    nodes, weights = np.polynomial.legendre.leggauss(u.size)
    still = np.prod(1 - 0.5 * (nodes[:, None] + 1) * q[1:], axis=1)
    return float(0.5 * q[0] * (weights @ still))


@formula("G-B11", "Laplace noise as an exponential mechanism")
@given("epsilon > 0 and sensitivity > 0", epsilon=Log(0.01, 50.0), sensitivity=Log(0.01, 100.0))
@identity("McSherry & Talwar 2007, Section 3", mean_distance, points=60)
@setting("the exponential mechanism with the score −|q − r|, scale of its Laplace law",
         "得分 −|q − r| 的指数机制，其拉普拉斯尺度", "scale", "exponential 指数机制", rare=True)
@printed("4", epsilon=0.5, sensitivity=1.0)
@wrong("needed", "Half of it is enough: the normalising constant does not move with the answer.",
       says=r"\varepsilon\text{-DP needs } \mathrm{Lap}(2\Delta_q/\varepsilon)", oracle=least_scale)
def distance_mechanism_scale(*, epsilon, sensitivity):
    r"""u(r) = -|q - r|,\ \Delta_u = \Delta_q:\quad
    e^{\varepsilon u(r)/(2\Delta_u)} \text{ is } \mathrm{Lap}(2\Delta_q/\varepsilon)"""
    return 2 * sensitivity / epsilon


@formula("G-B11b", "Sensitivity of a score that is a distance")
@given("stretch > 0 and sensitivity > 0", stretch=Log(0.1, 10.0), sensitivity=Log(0.01, 100.0))
@identity("McSherry & Talwar 2007, Section 3", distance_score_change)
@setting("sensitivity of the score −c|q − r|", "得分 −c|q − r| 的敏感度", "sensitivity", "score",
         rare=True)
@printed("2", stretch=2.0, sensitivity=1.0)
@wrong("of-the-query", "The score moves by twice the query; a second error then hides the first.",
       "sensitivity", says=r"u(r) = -2\,|q - r| \Rightarrow \Delta_u = \Delta_q",
       stretch=Choice(2.0))
def distance_score_sensitivity(*, stretch, sensitivity):
    r"""u(r) = -c\,|q - r| \Rightarrow \Delta_u = c\,\Delta_q

    stretch: c"""
    return stretch * sensitivity
