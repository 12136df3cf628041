r"""Composition of (epsilon, delta) guarantees, and groups of k people.

The composition theorems (G-C2 to G-C5) have one form. Removing the deltas of n releases, each
:math:`(\varepsilon_0, \delta_0)`-DP, from the total :math:`\delta` leaves a `slack`
:math:`\delta' = 1 - (1-\delta)/(1-\delta_0)^n`, at which epsilon of n pure releases is bounded.
"""

from dplearn.accountants import theorems
from dplearn.teaching.book.chapters import composition, divergences, implications
from dplearn.teaching.book.kit.vocabulary import *

_RELEASES = {"epsilon": Log(1e-3, 3.0), "steps": Whole(1, 2000), "slack": Log(1e-12, 0.5)}
_SMALL = Log(1e-12, 1e-3)  # range of the slack in published claims
_ANY_RELEASES = "epsilon > 0 and steps >= 1 and 0 < slack < 1"
_PAID = {"total": Log(0.01, 5.0), "local": Log(0.05, 3.0), "steps": Whole(1, 5),
         "paid": Log(1e-9, 0.5)}
_PURE_RELEASES = setting("k adaptive releases, each ε-DP, with slack δ'",
                         "k 次自适应发布，每次 ε-DP，余量 δ'", "epsilon", REPEATED, epsilon=LOSS,
                         steps=COUNT, slack=SLACK, below=below.coins_epsilon)
_APPROXIMATE_RELEASES = setting("k adaptive releases, each (ε,δ)-DP, with slack δ'",
                                "k 次自适应发布，每次 (ε,δ)-DP，余量 δ'", "epsilon", REPEATED,
                                epsilon=LOSS, steps=COUNT, slack=SLACK, delta=SLACK,
                                below=below.coins_epsilon, into={}, second="steps*delta + slack")


def delta_of_releases(total, local, steps, paid=0.0):
    """Return the exact delta of `steps` worst-case (local, paid)-DP releases at epsilon `total`."""
    return composition.enumerated_delta([local] * steps, [paid] * steps, total)


def first_below(bound: Callable[..., ArrayLike], *, epsilon, slack):
    """Return the number of releases above which `bound` is less than steps * epsilon, or inf."""
    total = lambda log: bound(epsilon=epsilon, steps=math.exp(log), slack=slack)
    better = lambda log: total(log) < math.exp(log) * epsilon
    return math.exp(oracles.smallest(better, low=0.0, high=40 * math.log(10)))


@formula("G-C2d", "Total delta where every release has one")
@given("0 <= paid < 1 and steps >= 1 and 0 <= slack < 1", _PAID,
       slack=Derived(partial(delta_of_releases, paid=0.0)))
@identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3", delta_of_releases, absolute=1e-14)
@setting("k adaptive releases, each (ε,δ)-DP, with slack δ'",
         "k 次自适应发布，每次 (ε,δ)-DP，余量 δ'", "delta", "compos advanced slack", slack=SLACK,
         paid=SLACK, steps=COUNT)
@printed("0.595", paid=0.1, steps=2, slack=0.5)
@wrong("slack-only", "The deltas of the releases are paid as well: k delta_0 on top.", "slack")
@wrong("no-slack", "What the composition itself may fail by is paid as well: delta' on top.",
       "steps * paid")
@wrong("sum", "Failures may happen together: the sum is a little more than their chance.",
       "steps * paid + slack")
@wrong("equal-shares",
       "The slack is not subsampled: (qk + 1) delta, unless delta' is q delta as well.",
       "(steps + 1) * paid", given="0 <= paid <= slack < 1", kind="upper",
       says=r"\delta_0 = q\delta,\ \delta' = \delta \ \Rightarrow\ \delta_{tot} = q(k+1)\delta")
def total_delta(*, slack, paid, steps):
    r"""\delta = 1 - (1-\delta_0)^k(1-\delta') \le k\delta_0 + \delta'"""
    return -math.expm1(steps * math.log1p(-paid) + math.log1p(-slack))


enter(theorems.composition_slack,
      formula("G-C2e", "What is left of delta for the composition itself",
              statement=r"\delta' = 1 - \frac{1-\delta}{(1-\delta_0)^k}"),
      given("0 <= delta < 1 and 0 <= paid < 1 and steps >= 1", _PAID,
            delta=Derived(delta_of_releases)),
      identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3", partial(delta_of_releases, paid=0.0),
               absolute=1e-14, unsafe="larger"),
      printed("0.0000090000", delta=1e-5, paid=1e-8, steps=100),
      wrong("all-of-it", "The releases have spent a part of it.", "delta"))


@formula("G-C2", "Advanced composition, the first theorem")
@given(_ANY_RELEASES, _RELEASES)
@upper("Dwork, Rothblum & Vadhan 2010, Theorem III.3", composition.responses_epsilon)
@_PURE_RELEASES
@_APPROXIMATE_RELEASES
@printed("5.850235", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@printed("966.43922", "311.7676", epsilon=1.0, steps=500, slack=1e-5)
@wrong("plotted", "Without a term in k it falls below the exact optimum.",
       "2 * epsilon * sqrt(2 * steps * log(1 / slack))", slack=_SMALL)
@wrong("no-drift", "The mean loss grows with k; it may be dropped while k epsilon^2 is small.",
       "epsilon * sqrt(2 * steps * log(1 / slack))", slack=_SMALL)
@wrong("two-squares", "A bound, and half an epsilon^2 for each release would do.",
       "epsilon * sqrt(2 * steps * log(1 / slack)) + 2 * steps * epsilon**2", kind="identity")
def advanced_composition(*, epsilon, steps, slack):
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')} + k\varepsilon(e^\varepsilon - 1)"""
    epsilon = np.asarray(epsilon, dtype=float)
    with np.errstate(over="ignore"):
        drift = steps * epsilon * np.expm1(epsilon)
    return epsilon * np.sqrt(-2.0 * steps * np.log(slack)) + drift


@formula("G-C2b", "Advanced composition with the exact mean loss")
@given(_ANY_RELEASES, _RELEASES)
@upper("Kairouz, Oh & Viswanath 2015, Theorem 3.4", composition.responses_epsilon)
@_PURE_RELEASES
@_APPROXIMATE_RELEASES
@wrong("half-square", "tanh(epsilon/2) is at most epsilon/2: an upper bound, and a little larger.",
       "epsilon*sqrt(2*steps*log(1/slack)) + steps*epsilon**2/2", kind="identity",
       oracle=lambda **at: advanced_composition_kov(**at))
@printed("5.29811", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@printed("338.35688", "311.7676", epsilon=1.0, steps=500, slack=1e-5)
def advanced_composition_kov(*, epsilon, steps, slack):
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
    + k\varepsilon\frac{e^\varepsilon - 1}{e^\varepsilon + 1}"""
    epsilon = np.asarray(epsilon, dtype=float)
    return epsilon * np.sqrt(-2.0 * steps * np.log(slack)) + steps * epsilon * np.tanh(epsilon / 2)


@formula("G-C3", "From when on the first theorem beats basic composition")
@given("epsilon > 0 and 0 < slack < 1", epsilon=Log(1e-3, 3.0), slack=Log(1e-12, 0.5))
@identity("Dwork, Rothblum & Vadhan 2010, Theorem III.3",
          partial(first_below, advanced_composition))
@setting("the number of releases from which the first advanced theorem beats adding up",
         "第一条高级组合定理优于直接相加所需的次数", "steps", "beat better break", rare=True)
@printed("inf", "inf", epsilon=1.0, slack=1e-5)
@printed("28.756", "28.756", epsilon=0.1, slack=1e-5)
@wrong("never-worse",
       "From epsilon = ln 2 on the drift alone is more than basic: take the smaller.",
       "steps * epsilon", says=r"\varepsilon\sqrt{2k\ln(1/\delta')} + k\varepsilon(e^\varepsilon - "
       r"1) \le k\varepsilon \text{ for many releases}", kind="upper", oracle=advanced_composition,
       slack=_SMALL, steps=Whole(100, 10_000))
@wrong("plotted", "That is where the curve without a drift crosses, which is no theorem.",
       "8 * log(1 / slack)", slack=_SMALL)
def advanced_composition_break_even(*, epsilon, slack):
    r"""k > k^* = \frac{2\ln(1/\delta')}{(2 - e^\varepsilon)^2}
    \text{ if } \varepsilon < \ln 2, \text{ else never}"""
    gain = 1 - math.expm1(epsilon)
    return -2 * math.log(slack) / gain**2 if gain > 0 else math.inf


@formula("G-C3b", "From when on the smaller drift beats basic composition")
@given("epsilon > 0 and 0 < slack < 1", epsilon=Log(1e-3, 3.0), slack=Log(1e-12, 0.5))
@identity("Kairouz, Oh & Viswanath 2015, Theorem 3.4",
          partial(first_below, advanced_composition_kov))
@setting("the number of releases from which the second advanced theorem beats adding up",
         "第二条高级组合定理优于直接相加所需的次数", "steps", "beat better break", rare=True)
@printed("63.669", "63.669", epsilon=1.0, slack=1e-4)
def advanced_composition_kov_break_even(*, epsilon, slack):
    r"""k > k^* = \frac{2\ln(1/\delta')}{(1 - \tanh(\varepsilon/2))^2}
    = \tfrac12(e^\varepsilon + 1)^2\ln(1/\delta')

    It is always finite."""
    return -0.5 * (math.exp(epsilon) + 1) ** 2 * math.log(slack)


@formula("G-C4", "Optimal composition: delta of the worst releases")
@given("0 <= total <= 600 and epsilon > 0 and steps >= 1 and 0 <= paid < 1",
       total=Log(1e-3, 500.0, also=(0.0,)), epsilon=Log(1e-3, 3.0), steps=Whole(1, 2000),
       paid=Log(1e-12, 0.1, also=(0.0,)))
@identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3", lambda total, epsilon, steps, paid:
          oracles.coins_delta(total, local=epsilon, steps=steps, delta0=paid),
          tolerance=1e-8, absolute=1e-300)
@printed("2.7926361e-07", "2.7926361e-07", total=5.0, epsilon=0.1, steps=100, paid=0.0)
@wrong("interpolated", "Between them delta is concave in epsilon, so the chord lies below it.",
       lambda total, epsilon, steps: np.interp(total, *implications.response_profile(epsilon,
       steps)), given="epsilon <= total and total < steps*epsilon", without="paid",
       says=r"\delta(\varepsilon) \text{ at } (k-2i)\varepsilon_0, \text{ and linear between}",
       oracle=lambda total, epsilon, steps: oracles.coins_delta(total, local=epsilon, steps=steps))
def optimal_composition_delta(*, total, epsilon, steps, paid=0.0):
    r"""\delta(\varepsilon) = 1 - (1-\delta_0)^k\Big(1 - \sum_j\binom kj p^j(1-p)^{k-j} \big(1 -
    e^{\varepsilon-(2j-k)\varepsilon_0}\big)_+\Big),\quad p = \frac1{1+e^{-\varepsilon_0}}

    total: Epsilon of all releases together, in [0, 600], nats; beyond, Q underflows and the value
      is an upper bound"""
    # The sum over j is P(K > k) - exp(total) Q(K > k), where K counts the true answers.
    k = np.clip(np.floor((total / epsilon + steps) / 2), -1, steps)
    p, q = theorems.binomial_tails(k, np.asarray(epsilon), np.asarray(steps))
    pure = max(float(p - math.exp(min(total, 700.0)) * q), 0.0)
    survive = steps * math.log1p(-paid)
    return -math.expm1(survive) + math.exp(survive) * pure


enter(theorems.optimal_composition,
      formula("G-C4b", "Optimal composition: epsilon of the worst releases",
              statement=r"\varepsilon(\delta) = \inf\{\varepsilon \ge 0: \delta(\varepsilon) \le "
              r"\delta\}"),
      given(f"{_ANY_RELEASES} and steps*epsilon <= 600", _RELEASES),
      identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3", composition.responses_epsilon,
               tolerance=1e-7, absolute=1e-8),
      printed("4.306791", "4.306791", epsilon=0.1, steps=100, slack=1e-5),
      printed("4.446885", epsilon=0.1, steps=100, slack=1 - (1 - 1e-5) / (1 - 5e-8) ** 100))


_FEWER_RELEASES = {"epsilon": Log(0.005, 3.0), "steps": Whole(1, 300), "slack": Log(1e-12, 0.3)}
_FOLD = ("k adaptive releases, each ε-DP, with slack δ'", "k 次自适应发布，每次 ε-DP，松弛 δ'",
         "epsilon", "compos releas fold rounds steps adaptiv 组合")


def geometric_rho(*, epsilon, sensitivity):
    """Return rho of geometric noise: the largest D_a / a over orders a at shift `sensitivity`."""
    rate = epsilon / sensitivity
    k = np.arange(-math.ceil(40 / rate), math.ceil(40 / rate) + sensitivity + 1.0)
    logs = [-rate * np.abs(k - shift) for shift in (0.0, sensitivity)]
    return composition.finite_rho(*(np.exp(x - np.logaddexp.reduce(x)) for x in logs))


@formula("G-C2c", "Advanced composition by concentrated DP")
@given(_ANY_RELEASES, _FEWER_RELEASES)
@upper("Bun & Steinke 2016, Propositions 1.3 and 1.4 and Lemma 2.3", composition.responses_epsilon,
       points=50)
@setting(*_FOLD, below=below.coins_epsilon)
@printed("5.2985259", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@wrong("half-root", "zCDP of rho costs 2 sqrt(rho ln(1/delta)), and rho is k epsilon^2 / 2.",
       "steps*epsilon**2/2 + epsilon*sqrt(steps*log(1/slack))", slack=Log(1e-12, 1e-3))
@wrong("eighth", "A loss of bounded range costs epsilon^2/8; pure DP in general four times that.",
       "steps*epsilon**2/8 + epsilon*sqrt(steps*log(1/slack)/2)", slack=Log(1e-12, 1e-3))
def advanced_composition_concentrated(*, epsilon, steps, slack):
    r"""\varepsilon' = \tfrac12k\varepsilon^2 + \varepsilon\sqrt{2k\ln(1/\delta')}"""
    return steps * epsilon**2 / 2 + epsilon * math.sqrt(-2 * steps * math.log(slack))


@formula("G-C2f", "A small budget for several releases")
@given("0 < 2*epsilon*sqrt(2*steps*log(1/slack)) and 2*epsilon*sqrt(2*steps*log(1/slack)) < 1 and "
       "steps >= 1 and 0 < slack <= 0.5", epsilon=Log(1e-4, 0.4), steps=Whole(1, 1000),
       slack=Log(1e-12, 0.5))
@upper("Dwork & Roth 2014, Corollary 3.21", composition.responses_epsilon, points=50)
@setting("a budget ε' < 1 of k releases of ε each, with slack δ'",
         "k 次发布、每次 ε 的预算 ε' < 1，松弛 δ'", "epsilon",
         "budget target may_be suffices allow 预算", below=below.coins_epsilon)
@printed("0.9597052", "0.3371739", epsilon=0.01, steps=100, slack=1e-5)
@wrong("any-budget", "For a large budget the drift k epsilon^2 is no longer small beside the root.",
       given="epsilon > 0 and steps >= 1 and 0 < slack <= 0.5", epsilon=Log(0.5, 3.0),
       steps=Whole(50, 1000))
@wrong("no-two", "Half of the budget is kept for the drift; without it there is no room.",
       "epsilon * sqrt(2 * steps * log(1/slack))", kind="identity")
def small_budget(*, epsilon, steps, slack):
    r"""\varepsilon' = 2\varepsilon\sqrt{2k\ln(1/\delta')} < 1, \text{ so each release may have }
    \varepsilon = \frac{\varepsilon'}{2\sqrt{2k\ln(1/\delta')}}"""
    return 2 * epsilon * math.sqrt(-2 * steps * math.log(slack))


@formula("G-C2g", "Advanced composition whose logarithm grows slowly")
@given(_ANY_RELEASES, _FEWER_RELEASES)
@upper("Kairouz, Oh & Viswanath 2015, Theorem 3.4", composition.responses_epsilon, points=50)
@setting(*_FOLD, below=below.coins_epsilon)
@printed("5.2981153", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@wrong("no-drift", "The mean loss of every release is to be paid, too.",
       "epsilon * sqrt(2 * steps * log(e + epsilon*sqrt(steps)/slack))", steps=Whole(50, 300))
def advanced_composition_slow(*, epsilon, steps, slack):
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln\big(e + \varepsilon\sqrt k/\delta'\big)}
    + k\varepsilon\frac{e^\varepsilon - 1}{e^\varepsilon + 1}"""
    spread = math.sqrt(2 * steps * math.log(math.e + epsilon * math.sqrt(steps) / slack))
    return epsilon * spread + steps * epsilon * math.tanh(epsilon / 2)


@formula("G-C5b", "Composition of different releases by concentrated DP")
@given("0 < slack < 1", epsilons=several(0.01, 3.0, most=6), slack=Log(1e-9, 0.1))
@upper("Bun & Steinke 2016, Propositions 1.3 and 1.4 and Lemma 2.3", composition.enumerated_epsilon,
       points=50)
@setting("adaptive releases, the i-th ε_i-DP, with slack δ", "自适应发布，第 i 次 ε_i-DP，松弛 δ'",
         "epsilon", "compos releas adaptiv differ heterogen 组合", epsilons=Log(0.02, 2.0),
         below=below.lists_epsilon)
@printed("1.0884052", "0.26115", epsilons=np.array([0.1, 0.2, 0.4]), slack=0.1)
@wrong("no-drift", "The mean losses add up to half of the squares.",
       lambda epsilons, slack: math.sqrt(-2 * math.log(slack) * np.sum(epsilons**2)),
       says=r"\varepsilon' = \sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}",
       epsilons=several(2.0, 3.0, least=8, most=10), slack=Log(0.01, 0.1))
def concentrated_composition(*, epsilons, slack):
    r"""\varepsilon' = \tfrac12\sum_i\varepsilon_i^2 + \sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}

    epsilons: Guarantee >= 0 of each release, nats"""
    squares = float(np.sum(np.square(epsilons)))
    return squares / 2 + math.sqrt(-2 * math.log(slack) * squares)


enter(theorems.heterogeneous_composition,
      formula("G-C5", "Composition of different releases", statement=r"\varepsilon' "
              r"= \min\Big\{\sum_i\varepsilon_i,\ \sum_i\varepsilon_i\tanh\frac{\varepsilon_i}2 "
              r"+ \sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}\Big\}"),
      given("0 < slack < 1", epsilons=several(0.01, 3.0, most=9),
            counts=Derived(lambda epsilons: np.ones(len(epsilons))), slack=Log(1e-9, 0.1)),
      upper("Kairouz, Oh & Viswanath 2015, Theorem 3.5", composition.enumerated_epsilon),
      setting("adaptive releases, the i-th ε_i-DP, with slack δ",
              "自适应发布，第 i 次 ε_i-DP，余量 δ", "epsilon", "compos releas 组合",
              into=lambda epsilons: {"counts": np.ones(len(epsilons), int)},
              below=below.lists_epsilon, epsilons=Log(0.05, 3.0), slack=SLACK),
      printed("0.7", "0.26115", epsilons=np.array([0.1, 0.2, 0.4]), counts=np.ones(3), slack=0.1),
    wrong("half-squares", "tanh(epsilon/2) is at most epsilon/2: an upper bound, a little larger.",
          concentrated_composition, says=r"\varepsilon' = \tfrac12\sum_i\varepsilon_i^2 + "
          r"\sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}", kind="identity"),
    wrong("largest", "Valid, and far too large where the releases differ.", lambda epsilons, slack:
          float(theorems.heterogeneous_composition(epsilons=[max(epsilons)], counts=[len(epsilons)],
          slack=slack)),
          says=r"\text{the best is that of } k \text{ releases with } \max_i\varepsilon_i",
          kind="identity", slack=_SMALL))


@formula("G-C5c", "Total delta of different releases")
@given("0 <= slack < 1", total=Log(0.01, 5.0), epsilons=several(0.05, 3.0, least=3, most=3),
       deltas=several(0.01, 0.3, least=3, most=3), slack=Derived(lambda epsilons, total:
       composition.enumerated_delta(epsilons, total=total)))
@upper("Kairouz, Oh & Viswanath 2015, Theorem 3.5", composition.enumerated_delta, absolute=1e-13)
@setting("δ of adaptive releases, the i-th (ε_i,δ_i)-DP, with slack δ'",
         "自适应发布的 δ，第 i 次 (ε_i,δ_i)-DP，松弛 δ'", "delta",
         "compos releas adaptiv differ heterogen 组合", deltas=Log(1e-9, 0.1), slack=Log(1e-9, 0.3),
         below=lambda deltas, slack: 1 - (1 - slack) * np.prod(1 - deltas, axis=-1, keepdims=True))
@printed("0.6", deltas=np.array([0.1, 0.2]), slack=0.3)
@wrong("largest", "Each release may fail on its own.", lambda deltas, slack: slack + max(deltas),
       says=r"\delta = \delta' + \max_i\delta_i")
@wrong("no-slack", "What the composition itself may fail by is paid as well.",
       lambda deltas: math.fsum(deltas), says=r"\delta = \sum_i\delta_i")
def different_releases_delta(*, deltas, slack):
    r"""\delta = \delta' + \sum_i\delta_i

    deltas: Of each release, in [0, 1]"""
    return slack + math.fsum(deltas)


@formula("G-C8d", "Group privacy, delta in its simple form")
@given("epsilon >= 0 and 0 <= delta <= 1 and group >= 1", epsilon=Log(0.01, 3.0),
       delta=Log(1e-12, 0.3), group=Whole(1, 40))
@upper("Vadhan 2017, Lemma 2.2, with the exponent of its proof", composition.chain_delta,
       absolute=0.0)
@setting("a group of k people under one (ε,δ)-DP release", "一次 (ε,δ)-DP 发布下 k 人群组的 δ",
         "delta", "group user famil household 群 用户", below=lambda epsilon, delta, group:
         np.minimum(delta * np.expm1(group * epsilon) / np.expm1(epsilon),
         (1 - delta) / (1 + np.exp(epsilon))))
@printed("8.154845e-06", "5.3670031e-06", epsilon=0.5, delta=1e-6, group=3)
@wrong("no-k", "The sum has k terms: the last one alone is less.",
       "exp((group - 1) * epsilon) * delta", group=Whole(2, 40), delta=Log(1e-12, 1e-3))
@wrong("as-composition", "So k releases add up; a group's deltas are inflated at every step.",
       "group * delta", group=Whole(2, 40), delta=Log(1e-12, 1e-3))
def group_privacy_simple(*, epsilon, delta, group):
    r"""(\varepsilon,\delta)\text{-DP} \Rightarrow (k\varepsilon,\ k\,e^{(k-1)\varepsilon}\delta)
    \text{-DP for groups of } k"""
    return group * delta * math.exp(min((group - 1) * epsilon, 700.0))


@formula("G-C8e", "From records that come or go to records that are replaced")
@given("epsilon >= 0", epsilon=Log(1e-3, 9.0))
# Removing and adding a record each multiply a rare outcome's probability by exp(epsilon).
@identity("Vadhan 2017, Lemma 2.2, for two steps", lambda epsilon: oracles.worst_event_epsilon_at(
          *([x, 1 - x] for x in (1e-9, 1e-9 * math.exp(2 * epsilon))), delta=0.0), tolerance=1e-5)
@setting("replacing a record, of an ε-DP guarantee for adding or removing one",
         "由增删一条记录的 ε-DP 得到替换一条记录的保证", "epsilon",
         "replac substitut swap bounded 替换 有界", rare=True)
@printed("2.0", epsilon=1.0)
@wrong("same", "A replaced record leaves and another one comes: two steps.", "epsilon")
@wrong("root-two", "The root belongs to noise that is independent for both.", "sqrt(2) * epsilon")
def replaced_record_epsilon(*, epsilon):
    r"""\varepsilon\text{-DP (add/remove)} \Rightarrow 2\varepsilon\text{-DP (replace one)}"""
    return 2 * epsilon


@formula("G-C8f", "Group privacy of Rényi DP")
@given("order >= 4 and rdp >= 0", dict.fromkeys("pqr", POSSIBLE), order=Log(4.0, 100.0),
       rdp=Derived(lambda p, q, r, order: max(divergences.renyi(p, r, order=order),
       divergences.renyi(r, q, order=order))), doublings=Whole(1, 1))
@upper("Mironov 2017, Proposition 2", lambda p, q, order: oracles.finite_renyi(p, q, order / 2),
       points=60)
@setting("a group of 2^c people under one (α,ε)-RDP release, at the order α/2^c",
         "一次 (α,ε)-RDP 发布下 2^c 人的群组，阶 α/2^c", "rdp",
         "group user famil household 群 用户", below=lambda rdp, doublings: 2.0**doublings * rdp,
         given="rdp > 0", rdp=Log(0.01, 5.0), doublings=Whole(1, 5))
@printed("9.0", rdp=1.0, doublings=2, order=8.0)
@wrong("same-order", "The order is halved at each doubling; at the old one it may be four times.",
       says=r"(\alpha,\varepsilon)\text{-RDP} \Rightarrow (\alpha, 3^c\varepsilon)\text{-RDP}",
       oracle=lambda order, rdp: oracles.normal_renyi(2 * math.sqrt(2 * rdp / order), 1.0, order),
       without="p q r", rdp=Log(0.01, 5.0))
@wrong("once", "Two steps cost more than one.", "rdp")
def group_privacy_rdp(*, rdp, doublings=1):
    r"""(\alpha,\varepsilon)\text{-RDP},\ \alpha \ge 2^{c+1} \Rightarrow
    \big(\tfrac\alpha{2^c},\ 3^c\varepsilon\big)\text{-RDP for groups of } 2^c

    doublings: c, so that 2^c records change"""
    return 3**doublings * rdp


@formula("G-C10d", "Pure DP is concentrated DP: the smallest rho")
@given("epsilon > 0", epsilon=Log(1e-2, 20.0))
@identity("Harrison & Manurangsi 2026, arXiv 2510.25746",
          lambda epsilon: oracles.largest_rho(lambda a: divergences.response_kl(epsilon)
          if a == 1 else implications.bernoulli_renyi(epsilon, order=a)), tolerance=1e-6, points=60)
@setting("every ε-DP mechanism, as zCDP", "任意 ε-DP 机制，作为 zCDP", "rho", "pure every any 纯")
@printed("0.4621171573", epsilon=1.0)
@wrong("half-epsilon", "rho grows like epsilon^2 while epsilon is small.", "epsilon / 2")
@wrong("discrete-laplace", "Of a count; where the answer may move by more, geometric noise has a "
       "smaller rho, near to that of Laplace noise.", says=r"\text{geometric noise of } "
       r"\varepsilon\text{-DP at any sensitivity has } \rho = \varepsilon\tanh\tfrac\varepsilon2",
       oracle=geometric_rho, epsilon=Log(0.5, 10.0), sensitivity=Whole(2, 20))
def pure_to_zcdp_tight(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \rho = \varepsilon\tanh\frac\varepsilon2
    = \varepsilon\,\frac{e^\varepsilon-1}{e^\varepsilon+1}"""
    return epsilon * math.tanh(epsilon / 2)
