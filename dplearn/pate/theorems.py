"""Theorems about noisy votes: closed forms behind the guarantees of this folder.

Docstrings are statements; their hypotheses, sources and reference values are in the formula book,
``dplearn.teaching.book.chapters.pate``.
"""

import math

import numpy as np
from scipy.special import erfc


def lnmax_flip_bound(*, votes, inverse_scale):
    r"""P(\text{winner} \ne j^*) \le
    \sum_{j\ne j^*} \frac{2+\gamma(n_{j^*}-n_j)}{4\,e^{\gamma(n_{j^*}-n_j)}}"""
    ahead = inverse_scale * np.subtract(votes[0], votes[1:])
    return float(np.sum((2 + ahead) / 4 * np.exp(-ahead)))


def gnmax_flip_bound(*, votes, noise_std):
    r"""P(\text{winner} \ne i^*) \le
    \frac12\sum_{i\ne i^*}\operatorname{erfc}\Big(\frac{n_{i^*}-n_i}{2\sigma}\Big)"""
    return float(np.sum(0.5 * erfc(np.subtract(votes[0], votes[1:]) / (2 * noise_std))))


def lnmax_log_moment(*, moment, inverse_scale):
    r"""\ln E[e^{lL}] \le 2\gamma^2 l(l+1)

    inverse_scale: gamma; the release is 2 gamma-DP"""
    return 2 * inverse_scale**2 * moment * (moment + 1)


def lnmax_log_moment_at(*, moment, inverse_scale, flip):
    r"""\ln E[e^{lL}] \le \ln\Big\{(1-q)\Big(\frac{1-q}{1-e^{2\gamma}q}\Big)^l
    + q\,e^{2\gamma l}\Big\},\quad P(\text{winner} \ne o^*) \le q"""
    # ln(1 + (1 - q) (r^l - 1) + q expm1(2 gamma l)), q = flip, l = moment, r = 1 + excess.
    excess = flip * math.expm1(2 * inverse_scale) / (1 - math.exp(2 * inverse_scale) * flip)
    grown = math.expm1(moment * math.log1p(excess)) if excess > -1 else (1 + excess) ** moment - 1
    return math.log1p((1 - flip) * grown + flip * math.expm1(2 * inverse_scale * moment))


def data_dependent_rdp(*, order, flip, order_1, rdp_1, order_2, rdp_2):
    r"""D_\alpha(M(D)\Vert M(D')) \le \frac1{\alpha-1}\ln\Big\{(1-q)A^{\alpha-1}
    + qB^{\alpha-1}\Big\},\quad A = \frac{1-q}{1-(qe^{\varepsilon_2})^{(\mu_2-1)/\mu_2}},\
    B = \frac{e^{\varepsilon_1}}{q^{1/(\mu_1-1)}}

    flip: q, at least the probability of all other outcomes
    order_1: mu_1, where the mechanism is (mu_1, eps_1)-RDP
    order_2: mu_2, where it is (mu_2, eps_2)-RDP"""
    power, q = order - 1, flip
    x = math.exp((math.log(q) + rdp_2) * (order_2 - 1) / order_2)
    last = math.log(q) + power * (rdp_1 - math.log(q) / (order_1 - 1))
    if x >= 1:
        first = (1 - q) * np.power((1 - q) / (1 - x), power) if x > 1 else math.inf
        return float(np.log(first + np.exp(last))) / power
    first = order * math.log1p(-q) - power * math.log1p(-x)
    if max(first, last) > 1:
        return float(np.logaddexp(first, last)) / power
    # ln((1 - q) A^power + q B^power), accurate where (1 - q) A^power is near 1.
    return math.log1p(math.expm1(first) + math.exp(last)) / power


def gnmax_unchecked_rdp(*, order: float, noise_std: float, flip: float) -> float:
    """Return the bound `data_dependent_rdp` for GNMax without checking the theorem's conditions."""
    order_2 = noise_std * math.sqrt(-math.log(flip))
    rdp_1, rdp_2 = (order_2 + 1) / noise_std**2, order_2 / noise_std**2
    return data_dependent_rdp(
        order=order, flip=flip, order_1=order_2 + 1, rdp_1=rdp_1, order_2=order_2, rdp_2=rdp_2
    )


def gnmax_data_dependent_rdp(*, order, noise_std, flip):
    r"""\text{the theorem with } \mu_2 = \sigma\sqrt{\ln(1/q)},\ \mu_1 = \mu_2 + 1,\
    \varepsilon_i = \mu_i/\sigma^2;\quad \alpha/\sigma^2 \text{ where it does not apply}"""
    plain, flip = order / noise_std**2, max(flip, 1e-300)
    if flip >= 1:
        return plain
    order_2 = noise_std * math.sqrt(-math.log(flip))
    if order_2 <= 1 or order > order_2 + 1 or math.log(flip) + order_2 / noise_std**2 >= 0:
        return plain
    rising = (order_2 - 1) * order_2 / noise_std**2
    rising -= order_2 * (math.log1p(1 / order_2) + math.log1p(1 / (order_2 - 1)))
    if math.log(flip) > rising:
        return plain
    return min(plain, gnmax_unchecked_rdp(order=order, noise_std=noise_std, flip=flip))
