"""Noise of one private update: how much it takes, and what the size of the batch gives away."""

import math

import numpy as np

from dplearn.book.chapters.dpsgd_noise import truths
from dplearn.book.kit.domains import Choice, Log, Whole
from dplearn.book.kit.entry import formula, given, oracle, printed, wrong
from dplearn.ground import validate


@formula("G-F1", "Noise of a DP-SGD update", "identity", "Abadi et al. 2016, Algorithm 1")
@given("noise_multiplier > 0 and max_grad_norm > 0 and expected_batch > 0",
       noise_multiplier=Log(0.1, 20.0), max_grad_norm=Log(0.01, 100.0),
       expected_batch=Log(1.0, 1e5), dimension=Choice(1, 10, 1000))
@oracle(truths.needed_noise, points=60)
@wrong("per-example", "Noise once per step is enough; this is the root of L times as much. Where "
       "the size of the lot is random, an empty one gets none at all.",
       claim="noise_multiplier * max_grad_norm / sqrt(expected_batch)")
@wrong("variance", "z C is the standard deviation.",
       claim="sqrt(noise_multiplier * max_grad_norm) / expected_batch",
       says=r"\text{noise of variance } zC \text{ on the sum}")
@wrong("by-coordinate", "A vector of d coordinates in [-C, C] may have norm C sqrt(d).",
       says=r"\text{the same with every coordinate clipped to } [-C, C]", oracle=lambda **update:
       truths.needed_noise(**update, clip=lambda g, norm: np.clip(g, -norm, norm)))
def update_noise(*, noise_multiplier, max_grad_norm, expected_batch):
    r"""\text{deviation of } \tfrac1L\big(\textstyle\sum_i\pi_C(g_i) + N(0, z^2C^2I)\big)
    \text{ per coordinate} = \frac{zC}L

    expected_batch: L = q N, a public number: not the size of the batch that was drawn"""
    validate.positive(noise_multiplier=noise_multiplier, max_grad_norm=max_grad_norm)
    validate.positive(expected_batch=expected_batch)
    return noise_multiplier * max_grad_norm / expected_batch


@formula("G-F5", "Noise left for the sum under adaptive clipping", "identity",
         "Andrew et al. 2021, Theorem 1")
@given("0 < noise_multiplier < 2*bit_noise", noise_multiplier=Log(0.1, 20.0),
       bit_noise=Log(0.1, 100.0))
@oracle(truths.left_for_the_sum, tolerance=1e-7, points=60)
@printed("1.00503781526", noise_multiplier=1.0, bit_noise=5.0)
@wrong("for-free", "The count of clipped gradients is a release too.", claim="noise_multiplier")
@wrong("no-two", "A bit shifted by 1/2 moves the count by 1/2 only; more noise than needed.",
       claim="(noise_multiplier**(-2.0) - bit_noise**(-2.0))**(-0.5)",
       given="0 < noise_multiplier < bit_noise")
@wrong("unshifted", "A plain bit moves the count by 1.",
       says=r"z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2} \text{ for bits in } \{0, 1\}",
       given="0 < noise_multiplier < 0.99*bit_noise",
       oracle=lambda **noise: truths.left_for_the_sum(**noise, shift=1.0))
def adaptive_clipping_multiplier(*, noise_multiplier, bit_noise):
    r"""z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2}

    bit_noise: Standard deviation sigma_b of the noise on the sum of bits, each -1/2 or 1/2"""
    validate.positive(noise_multiplier=noise_multiplier, bit_noise=bit_noise)
    if noise_multiplier >= 2 * bit_noise:
        raise ValueError(
            f"Expected noise_multiplier < 2 bit_noise = {2 * bit_noise:g}, "
            f"got noise_multiplier={noise_multiplier!r}."
        )
    return (noise_multiplier**-2.0 - (2 * bit_noise) ** -2.0) ** -0.5


@formula("G-F6", "Noise divided by the realised batch size gives it away", "identity",
         "van Erven & Harremoës 2014, equation (10)")
@given("batch >= 3 and dimension >= 1", batch=Whole(3, 3000), dimension=Whole(1, 1_000_000))
@oracle(truths.divergence_of_lengths, tolerance=1e-6, absolute=1e-10, points=40)
@printed("0.00020205", batch=100, dimension=1)
@printed("202.05", batch=100, dimension=1_000_000)
@printed("30.6", batch=256, dimension=1_000_000)
@wrong("no-leak", "With Poisson sampling the size is private, and the noise shows it.", claim="0.0",
       says=r"\text{dividing sum and noise by } |B| \text{ is post-processing}: 0")
@wrong("one-coordinate",
       "Every coordinate carries noise of the same size: the divergence counts d times.",
       claim="-0.5 * log1p(-((2 * batch + 1) / batch**2)**2)")
def realised_batch_divergence(*, batch, dimension):
    r"""D_2\big(N(0, (\tfrac{zC}B)^2I_d)\,\Vert\,N(0, (\tfrac{zC}{B+1})^2I_d)\big)
    = -\frac d2\ln\big(1 - (1 - u^{-2})^2\big),\quad u = 1 - \tfrac1{B+1}"""
    validate.integer(minimum=3, batch=batch)
    validate.integer(minimum=1, dimension=dimension)
    excess = (2 * batch + 1) / batch**2  # ratio of the variances, minus 1
    return -0.5 * dimension * math.log1p(-(excess**2))


@formula("G-F6b", "Sensitivity of the mean over the realised batch", "identity",
         "Nissim, Raskhodnikova & Smith 2007, the local sensitivity of a mean")
@given("max_grad_norm > 0 and batch >= 2", max_grad_norm=Log(0.01, 100.0), batch=Whole(2, 300))
@oracle(truths.change_of_mean, points=40)
@wrong("fixed", "True of a fixed denominator; when it changes too, the multiplier is half.",
       claim="max_grad_norm / batch")
def realised_mean_sensitivity(*, max_grad_norm, batch):
    r"""\max\Big\lVert\frac1B\sum_{i\in B}g_i
    - \frac1{B-1}\sum_{i\in B\setminus j}g_i\Big\rVert = \frac{2C}B"""
    validate.positive(max_grad_norm=max_grad_norm)
    validate.integer(minimum=2, batch=batch)
    return 2 * max_grad_norm / batch


@formula("G-F10", "Tree aggregation, each record once", "identity",
         "Kairouz et al. 2021, Theorem 4.1")
@given("leaves >= 1 and noise_multiplier > 0", leaves=Whole(1, 300),
       noise_multiplier=Log(0.3, 30.0))
@oracle(truths.tree_by_counting, points=40)
@printed("4.307307", leaves=1600, noise_multiplier=1.13)
@wrong("one-node", "A record enters one node on every level.",
       claim="1 / (2 * noise_multiplier**2)")
@wrong("no-plus-one", "A full tree over 2^k steps has k + 1 levels.",
       claim="ceil(log2(leaves)) / (2 * noise_multiplier**2)")
@wrong("several-epochs", "A record that takes part k times adds up to k in the nodes above.",
       says=r"\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2} \text{ if a record takes part often}",
       given="leaves >= participations and noise_multiplier > 0", oracle=truths.tree_by_counting,
       participations=Choice(2, 3, 5))
def tree_aggregation_rho(*, leaves, noise_multiplier):
    r"""\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2}

    leaves: Steps n >= 1 in one tree; each record takes part in one of them"""
    validate.integer(minimum=1, leaves=leaves)
    validate.positive(noise_multiplier=noise_multiplier)
    return leaves.bit_length() / (2 * noise_multiplier**2)
