"""Implications between notions of privacy: pure, approximate, Rényi and Gaussian DP."""

from dplearn.core import validate
from dplearn.teaching.book.chapters.divergences import response_kl
from dplearn.teaching.book.chapters.noise import gaussian_delta
from dplearn.teaching.book.kit.vocabulary import *

_FORMS = {"exact": lambda epsilon: math.tanh(epsilon / 2),
          "concentrated": lambda epsilon: epsilon / 2, "first": math.expm1}


def bernoulli_renyi(epsilon, order):
    """Return the largest Rényi divergence of Bernoulli pairs with losses in [-epsilon, epsilon]."""
    gain, loss = np.meshgrid(*[epsilon * np.linspace(0.0, 1.0, 33)[1:]] * 2)
    # Q has mass q where the loss is `gain`; P sums to q exp(gain) + (1 - q) exp(-loss) = 1.
    q = -np.expm1(-loss) / (np.exp(gain) - np.exp(-loss))
    log_q = np.stack([np.log(q), np.log1p(-q)], axis=-1)
    log_p = log_q + np.stack([gain, -loss], axis=-1)
    return float(np.max(oracles.log_moment(log_p, log_q, order - 1))) / (order - 1)


def most_powerful(p, q, false_positive_rate):
    """Return the smallest miss rate of any test of P against Q at this false positive rate."""
    # By Neyman and Pearson, reject P at the outcomes of largest q/p, and at random at the last of
    # them. The angle atan2(p, q) increases with p/q and is defined where q = 0.
    order = np.argsort(np.arctan2(p, q))
    rejected, caught = (np.append(0.0, np.cumsum(np.take(law, order))) for law in (p, q))
    return max(0.0, 1 - float(np.interp(false_positive_rate, rejected, caught)))


def largest_loss_tail(*, epsilon, delta):
    """Return the largest P(L >= 2 epsilon) of (epsilon, delta)-DP pairs, by linear programming."""
    from scipy.optimize import linprog  # Import on use: the explorer starts without scipy.optimize.

    # The unknowns are P(S), Q(S) of the event S = {L >= 2 epsilon}: Q(S) exp(2 epsilon) <= P(S).
    e = math.exp(epsilon)
    bounds = [[1.0, -e], [-1.0, e * e], [-1.0, e], [e, -1.0]]
    limits = [delta, 0.0, e - 1 + delta, e - 1 + delta]
    return -float(linprog([-1.0, 0.0], A_ub=bounds, b_ub=limits, bounds=[(0, 1), (0, 1)]).fun)


def response_profile(local, steps):
    """Return the possible losses >= 0 of `steps` randomized responses, and delta at each loss."""
    losses = np.arange(steps % 2, steps + 1, 2) * local
    deltas = [oracles.coins_delta(e, local=local, steps=steps) for e in losses]
    return losses, np.array(deltas)


def response_miss_rate(*, local, steps, false_positive_rate):
    """Return the least miss rate of a test on how many of `steps` random responses are true."""
    p, q = (reduce(np.convolve, [law] * steps) for law in oracles.randomized_response(local))
    return most_powerful(p, q, false_positive_rate)


@formula("G-D4", "Rényi DP of pure DP")
@given("epsilon > 0 and order > 1", epsilon=Log(1e-3, 10.0), order=Log(1.01, 300.0))
@identity("Bun & Steinke 2016, Proposition 3.3", bernoulli_renyi)
@setting("every ε-DP mechanism, RDP of order α", "每个 ε-DP 机制的 α 阶 RDP", "rdp",
         "pure ε-dp respon", epsilon=LOSS, order=ORDER)
@printed("0.735325664", "0.735325664", epsilon=1.0, order=2.0)
@printed("0.9651932", "0.9651932", epsilon=1.0, order=10.0)
@wrong("half-square", "No divergence exceeds epsilon, whatever the order.",
       "order * epsilon**2 / 2")
@wrong("epsilon", "An upper bound that is reached as the order grows.", "epsilon")
def pure_to_rdp(*, epsilon, order):
    r"""\max D_\alpha = \frac1{\alpha-1}\ln
    \frac{\sinh(\alpha\varepsilon) - \sinh((\alpha-1)\varepsilon)}{\sinh\varepsilon}"""
    # The quotient is cosh(a + b) / cosh(epsilon/2) = 1 + 2 sinh(a) sinh(b) / cosh(epsilon/2).
    a, b = order * epsilon / 2, (order - 1) * epsilon / 2
    if a < 1:
        return math.log1p(2 * math.sinh(a) * math.sinh(b) / math.cosh(epsilon / 2)) / (order - 1)
    log_cosh = [x + math.log1p(math.exp(-2 * x)) for x in (a + b, epsilon / 2)]
    return (log_cosh[0] - log_cosh[1]) / (order - 1)


@formula("G-D4b", "Rényi DP of pure DP, simplified")
@given("epsilon >= 0 and order > 1", p=POSSIBLE, q=POSSIBLE,
       epsilon=Derived(lambda p, q: np.max(np.abs(np.log(p / q)))), order=Log(1.02, 200.0))
@upper("Bun & Steinke 2016, Proposition 3.3", oracles.finite_renyi)
@setting("every ε-DP mechanism, RDP of order α", "每个 ε-DP 机制的 α 阶 RDP", "rdp", "pure ε-dp",
         below=below.coin_rdp, epsilon=LOSS, order=ORDER)
@printed("1.0", epsilon=1.0, order=10.0)
def pure_to_rdp_simple(*, epsilon, order):
    r"""D_\alpha \le \min\big(\varepsilon, \tfrac12\alpha\varepsilon^2\big)"""
    return min(epsilon, order * epsilon**2 / 2)


@formula("G-D5", "Approximate DP does not imply Rényi DP")
@given("0 < delta < 1 and order > 0", order=Log(0.05, 50.0, also=(1.0, math.inf)),
       delta=Log(1e-6, 0.9))
@identity("Bun & Steinke 2016, Section 1", lambda order, delta: oracles.finite_renyi([delta, 1 -
          delta, 0.0], [0.0, 1 - delta, delta], order))
@setting("name and shame: one record is published with chance δ, Rényi divergence",
         "以概率 δ 公布一条记录，Rényi 散度", "rdp", "somebody publish shame", rare=True)
@printed("0.0020010", "0.0020010", order=0.5, delta=1e-3)
@printed("inf", "inf", order=1.0, delta=1e-3)
@wrong("dp-bounds-rdp", "True of pure DP; with delta a release may publish everything, if rarely.",
       "epsilon", says=r"(\varepsilon,\delta)\text{-DP} \Rightarrow D_\alpha \le \varepsilon",
       kind="upper", oracle=lambda epsilon, delta, order:
       oracles.finite_renyi(*oracles.leaky_response(epsilon, delta), order), epsilon=Log(0.01, 5.0))
def renyi_name_and_shame(*, order, delta):
    r"""\text{name and shame, } (0,\delta)\text{-DP: } D_\alpha = \frac{-\ln(1-\delta)}{1-\alpha}
    \text{ for } \alpha < 1, \ \infty \text{ for } \alpha \ge 1"""
    return -math.log1p(-delta) / (1 - order) if order < 1 else math.inf


@formula("G-D5b", "What delta allows: somebody is published")
@given("0 < delta < 1 and records >= 1", records=Whole(1, 2000), delta=Log(1e-9, 0.5))
@identity("Dwork & Roth 2014, Section 2.3",
          lambda records, delta: 1 - math.prod([1 - delta] * records))
@setting("some of n records is published, each with chance δ",
         "n 条记录各以概率 δ 被公布，至少公布一条", "probability", "somebody publish shame",
         event=r"(?:some|any).*published.*")
@printed("0.4512", records=60_000, delta=1e-5)
@wrong("small-delta", "It is a chance for every single record: take delta far below 1/n.", "delta",
       says=r"\delta = 0.01 \text{ is the chance that anything goes wrong}")
def somebody_published(*, records, delta):
    r"""\Pr[\text{some record is published}] = 1 - (1-\delta)^n"""
    return -math.expm1(records * math.log1p(-delta))


@formula("G-D6", "From Gaussian DP to epsilon and delta")
@given("mu > 0 and epsilon >= 0", mu=Log(0.01, 20.0), epsilon=Log(1e-3, 50.0, also=(0.0,)))
@identity("Dong, Roth & Su 2019, Corollary 2.13", oracles.normal_delta, tolerance=1e-8,
          absolute=1e-300)
@setting("every μ-GDP mechanism, as (ε,δ)-DP", "每个 μ-GDP 机制，换成 (ε,δ)-DP", "delta",
         "gdp gaussian_dp", mu=MU, epsilon=LOSS)
@printed("0.1269367375", "0.1269367375", mu=1.0, epsilon=1.0)
@printed("0.3829249225", "0.3829249225", mu=1.0, epsilon=0.0)
def gdp_delta(*, mu, epsilon):
    r"""\mu\text{-GDP} \iff \delta(\varepsilon) = \Phi\Big(-\frac\varepsilon\mu+\frac\mu2\Big) -
    e^\varepsilon\Phi\Big(-\frac\varepsilon\mu-\frac\mu2\Big)\ \forall\varepsilon\ge0"""
    return gaussian_delta(epsilon=epsilon, noise_multiplier=1 / mu)


def _is_their_profile(*, local, steps, epsilons, deltas, false_positive_rate):
    """The points are those of the profile of the pair at its kinks; 0 <= a <= 1."""
    theirs = zip(response_profile(local, steps), (epsilons, deltas), strict=True)
    return all(np.array_equal(*both) for both in theirs) and 0 <= false_positive_rate <= 1


@formula("G-D7", "Trade-off function from the profile")
@given(_is_their_profile, local=Log(0.05, 3.0), steps=Whole(1, 20), epsilons=Derived(lambda local,
       steps: response_profile(local, steps)[0]), deltas=Derived(lambda local,
       steps: response_profile(local, steps)[1]), false_positive_rate=Linear(0.0, 1.0))
@identity("Dong, Roth & Su 2019, Proposition 2.12", response_miss_rate, tolerance=1e-8,
          absolute=1e-10, unsafe="larger")
@printed("0.728172", "0.728172", epsilons=np.array([1.0]), deltas=np.zeros(1),
         false_positive_rate=0.1, local=1.0, steps=1)
@wrong("one-branch", "Slopes between -1 and 0 need the second branch: the event's complement.",
       lambda epsilons, deltas, false_positive_rate: max(0.0, np.max(1 - deltas -
       np.exp(epsilons) * false_positive_rate)),
       says=r"f(a) = \sup_{\varepsilon\ge0}\max\{0,\ 1-\delta(\varepsilon)-e^\varepsilon a\}")
@wrong("not-symmetric", "The second branch needs the profile of the other order.", lambda losses,
       profile, rate: tradeoff_from_profile(epsilons=losses, deltas=profile,
       false_positive_rate=rate), says=r"\text{the same from the profile of one order of a pair}",
       given="0 <= rate <= 1", oracle=lambda p, q, rate: most_powerful(p, q, rate),
       without="local steps epsilons deltas false_positive_rate", p=POSSIBLE, q=POSSIBLE,
       losses=Derived(lambda p, q: np.append(0.0, np.maximum(np.log(p / q), 0.0))), profile=Derived(
       lambda p, q, losses: [oracles.worst_event_delta(p, q, e) for e in losses]), rate=Linear(0.0,
       1.0))
def tradeoff_from_profile(*, epsilons, deltas, false_positive_rate):
    r"""f(a) = \sup_{\varepsilon\ge0}\max\{0,\ 1-\delta(\varepsilon)-e^\varepsilon a,\
    e^{-\varepsilon}(1-\delta(\varepsilon)-a)\} \text{ for symmetric } f

    epsilons: Guarantees that hold at once for both orders of the pair; epsilon >= 0"""
    epsilons, deltas = np.asarray(epsilons, dtype=float), np.asarray(deltas, dtype=float)
    steep = 1 - deltas - np.exp(epsilons) * false_positive_rate
    flat = np.exp(-epsilons) * (1 - deltas - false_positive_rate)
    return max(0.0, float(np.max(steep)), float(np.max(flat)))


@formula("G-D8", "Probabilistic DP implies DP")
@given("mu > 0 and epsilon >= 0", mu=Log(0.01, 20.0), epsilon=Log(1e-3, 50.0, also=(0.0,)))
@upper("Dwork & Roth 2014, Lemma 3.17", oracles.normal_delta, absolute=1e-300)
@setting("every μ-GDP mechanism, as (ε,δ)-DP", "每个 μ-GDP 机制，换成 (ε,δ)-DP", "delta",
         "gdp gaussian_dp tail", below=below.gaussian_delta, mu=MU, epsilon=LOSS)
@setting(*ALONE, "delta", "gauss normal tail 高斯", below=below.gaussian_delta, into=lambda
         noise_multiplier: {"mu": 1 / noise_multiplier}, noise_multiplier=NOISE, epsilon=LOSS)
@printed("5.28375e-05", "1.0000e-05", mu=1.0, epsilon=4.377178096)
@wrong("equivalent", "Sufficient, not necessary: a loss just above epsilon costs next to nothing.",
       says=r"(\varepsilon,\delta)\text{-DP} \iff \Pr[L > \varepsilon] \le \delta", kind="identity")
def gaussian_loss_tail(*, mu, epsilon):
    r"""\Pr[L > \varepsilon] \le \delta \Rightarrow (\varepsilon,\delta)\text{-DP};\quad
    \text{Gaussian: } \Pr[L > \varepsilon] = \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big)"""
    return float(ndtr(mu / 2 - epsilon / mu))


@formula("G-D8b", "What DP says about the tail of the loss")
@given("epsilon > 0 and 0 <= delta <= 1", epsilon=Log(0.01, 5.0), delta=Log(1e-6, 0.5))
@upper("Kasiviswanathan & Smith 2014, Lemma 3.3, for the larger law", largest_loss_tail)
@setting("the privacy loss of an (ε,δ)-DP mechanism exceeds 2ε", "(ε,δ)-DP 机制的隐私损失超过 2ε",
         "probability", "loss 损失", below=lambda: 0.0, epsilon=LOSS, delta=SLACK,
         event=r"L>=?2epsilon")
@printed("0.00158198", "0.00158198", epsilon=1.0, delta=1e-3)
@wrong("smaller-law", "It bounds Q of that event; from epsilon = 0.47 on it is too small for P.",
       "2 * delta / (epsilon * exp(epsilon))")
def loss_tail_of_dp(*, epsilon, delta):
    r"""(\varepsilon,\delta)\text{-DP} \Rightarrow
    \Pr_P[L > 2\varepsilon] \le \frac\delta{1 - e^{-\varepsilon}}"""
    return min(delta / -math.expm1(-epsilon), 1.0)


@formula("G-D9", "Drift terms of advanced composition")
@given("epsilon > 0", epsilon=Log(1e-3, 10.0), form=Choice(*_FORMS))
@upper("Kairouz, Oh & Viswanath 2015, Theorem 3.4",
       lambda epsilon: response_kl(epsilon) / epsilon)
@printed("0.4621172", "0.4621172", epsilon=1.0, form="exact")
@printed("0.5", "0.4621172", epsilon=1.0, form="concentrated")
@printed("1.7182818", "0.4621172", epsilon=1.0, form="first")
@wrong("half", "Valid, but between the two theorems; the denominator is e^epsilon + 1.",
       "expm1(epsilon) / 2", kind="identity", without="form")
def drift(*, epsilon, form="exact"):
    r"""\frac{\mathrm{KL}}\varepsilon \le \tanh\frac\varepsilon2
    \le \frac\varepsilon2 \le e^\varepsilon - 1

    form: \tanh(\varepsilon/2) of Kairouz, Oh & Viswanath (2015), \varepsilon/2 of Bun &
      Steinke (2016), e^\varepsilon-1 of Dwork, Rothblum & Vadhan (2010)"""
    validate.one_of(_FORMS, form=form)
    return _FORMS[form](epsilon)
