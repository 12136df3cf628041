# %% [markdown]
# # 08 Tight accounting
#
# *If we forget nothing about the loss, how much privacy did we really spend?*
#
# This is the schools' run of lesson 07: in each of 10,000 steps the digits of 60,000 pupils enter the batch with probability 0.01, gradients are clipped, and noise with multiplier 4 is added. Neighbours add or remove one record, and $\delta=10^{-5}$. Three accountants have looked at this run: two prove upper bounds (lessons 07 and 05), and the third calls itself an *approximation* (近似值).
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. compose thousands of steps by keeping the whole distribution of the privacy loss, and bracket $\varepsilon$ from both sides (a *certified bracket*, 经证明的上下界);
# 2. tell a bound from an approximation, and refute printed shortcuts that confuse the two;
# 3. (at home) read a trade-off curve: how many members an attacker catches at a given rate of false alarms.
#
# * **Time** NN minutes in class, and half as much at home; the computer needs a few seconds.
# * **You need** lesson 02 (profile, tests and their errors), lesson 05 (RDP), lesson 06 (the sampled Gaussian), lesson 07 (moments accountant).
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=4&sample_rate=0.01&delta=1e-5&steps=40000&here=10000), if you have started it; nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `loss`, `total` | $L$ | privacy loss: of one step, of a whole run | nats |
# | `q`, `sigma`, `steps` | $q$, $\sigma$, $T$ | sample rate, noise multiplier, number of steps | none |
# | `h` | $h$ | width of a cell of the grid of losses | nats |
# | `rate` | $a$ | false alarms: share of outsiders who are accused | none |
# | `mu` | $\mu$ | Gaussian DP: distance of two normal distributions in standard deviations | none |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee for all steps together | nats, probability |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One idea carries the hour: losses add, so distributions convolve, and an account of the whole distribution loses nothing.
#
# | minutes | part | do |
# |---|---|---|
# | 9 | 0 The first screen | three numbers for one run: which one would you sign? everybody types one index, then a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; section 3 decides it |
# | 5 | 3 A small experiment | where does the tail come from? |
# | 5 | 4 The statement | the code, line by line |
# | 7 | 5 An exercise | alone, then compare |
# | 5 | 6 Which way do you round? | move the mass of one cell by hand, as in the drawing |
# | 3 | 7 The race | one figure, no formulas |
# | 4 | 8 What an attacker gains | a second guess; say the rate of false alarms each time |
# | 2 | 9 Where this breaks | one of the four |
# | – | 10 to 13 | homework |

# %% tags=["hide-input"]
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from dplearn.accountants import ACCOUNTANTS
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.classroom import check, pictures, predict, reveal

run, delta = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01), 1e-5
figures, certified = pictures("08"), ACCOUNTANTS["pld"]()
figures.three_answers()

# %% [markdown]
# **★ 8.1** *(In class, 2 minutes.)* We want to keep the whole distribution of the loss. Cut the losses into cells of equal width: `first[i]` is the probability that one step loses $i$ cells, and `second[j]` that another step loses $j$. Replace `...` by the cell of the sum.


# %%
def added(first, second):
    total = [0.0] * (len(first) + len(second) - 1)
    for i, p in enumerate(first):
        for j, q in enumerate(second):
            total[...] += p * q
    return total


check("8.1", added)

# %% [markdown]
# <details><summary>Solution of 8.1</summary>
#
# ```python
# def added(first, second):
#     total = [0.0] * (len(first) + len(second) - 1)
#     for i, p in enumerate(first):
#         for j, q in enumerate(second):
#             total[i + j] += p * q
#     return total
#
#
# check("8.1", added)
# ```
#
# Losses add up, and the probabilities of independent steps multiply. Different pairs may have the same sum, so the products are collected.
#
# </details>

# %% [markdown]
# On a coarse grid the slider adds up losses of Gaussian noise with this function: of one step, of 2, 4 and 8. The line is the exact distribution.

# %%
figures.sums(added)

# %% [markdown]
# The three accountants keep only a summary of the loss: moments of integer orders, moments of more orders, or a mean and a variance. What is the smallest true $\varepsilon$ of the run?

# %%
predict("epsilon of the run", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Answer three questions from earlier lessons.
#
# **1** 07.3
#
# **2** 05.4
#
# **3** 02.4

# %%
answers = ""
check("8.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The total loss of a run is a sum of thousands of independent losses. Somebody replaces it by the normal distribution with the same mean and variance, and reports the $\varepsilon$ that this has at $\delta=10^{-5}$. What kind of number is this?
#
# <details><summary>a. The true ε, up to a few digits: so says the central limit theorem.</summary>
#
# No. The theorem speaks of the middle of the distribution, and δ depends on its tail.
#
# </details>
#
# <details><summary>b. An upper bound: the normal distribution has no end, so it is careful.</summary>
#
# No. Section 3 finds a tail that is far heavier.
#
# </details>
#
# <details><summary>c. A number that may be smaller than the true ε.</summary>
#
# Right. It is an approximation, and nobody knows from it on which side the truth lies.
#
# </details>

# %%
vote = ""
check("8.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 A small experiment
#
# Before the long run the schools make a trial of 100 steps, with less noise, $\sigma=0.8$, which is short enough to simulate. If Anna takes part in a step, her clipped gradient shifts the published sum by 1. The loss of a published number $x$ is
#
# $$L(x)=\ln\frac{(1-q)\,\varphi_\sigma(x)+q\,\varphi_\sigma(x-1)}{\varphi_\sigma(x)}=\ln\!\big(1-q+q\,e^{(2x-1)/2\sigma^2}\big),$$
#
# where $\varphi_\sigma$ is the density of the noise. The steps draw fresh noise, so densities multiply and **losses add**. We run the trial 400,000 times.

# %%
q, sigma, steps, rng = 0.01, 0.8, 100, np.random.default_rng(9)
total, largest = np.zeros(400_000), np.zeros(400_000)
for _ in range(steps):
    x = rng.normal(0, sigma, total.size) + (rng.random(total.size) < q)
    loss = np.log(1 - q + q * np.exp((2 * x - 1) / (2 * sigma**2)))
    total, largest = total + loss, np.maximum(largest, loss)
# %% [markdown]
# The picture shows the runs as columns of logarithmic height, and the normal distribution with the same mean and deviation:

# %%
figures.tail(total)

# %% [markdown]
# Rare losses decide: $\delta=10^{-5}$ is about one run in a hundred thousand. In most steps Anna is not drawn, and the loss is tiny. In a few she is drawn *and* the noise pushes in her direction. A mean and a variance know nothing about such steps, but a distribution does.
#
# *To here NN minutes.*
#
# ## 4 The statement
#
# > **Theorem.** Let $P_t, Q_t$ be the distributions of step $t$'s output with and without a record, and $L_t=\ln\frac{dP_t}{dQ_t}$ the loss of an output drawn from $P_t$. If the steps are independent, the profile of this pair over the whole run is
# > $$\delta(\varepsilon)=\mathbb E\big[{(1-e^{\varepsilon-(L_1+\dots+L_T)})_+}\big],\qquad L_1,\dots,L_T\text{ independent}.$$
# > (Sommer, Meiser & Mohammadi 2019; Koskela, Jälkö & Honkela 2020.)
# >
# > We call a pair *dominating* if no pair of neighbours has a larger $\delta$ at any real $\varepsilon$, whatever was published before. For dominating pairs the right side is an upper bound, also when a step depends on earlier ones. (Zhu, Dong & Wang 2022.)
#
# <details><summary>Why</summary>
#
# The density of a whole run is a product, its logarithm a sum. And $\delta(\varepsilon)$ depends on $P$ and $Q$ only through the loss (lesson 02). An output that is impossible without the record has $L_t=\infty$. For the sampled Gaussian the pair of section 3 dominates when a record is *removed*, and it really occurs: nothing is lost.
#
# </details>
#
# The distribution of $L$ under $P$ is the **privacy loss distribution** (PLD, 隐私损失分布); that of a sum is a **convolution**, as in 8.1. We cut the line of losses into cells of width $h$. A `rule` moves a part of each cell's mass under $P$ to its right end, and the rest goes to its left end. `tails(t)` gives $P(L>t)$ and $Q(L>t)$.


# %%
def on_grid(tails, h, reach, rule):
    edges = h * np.arange(-round(reach / h), round(reach / h) + 1)
    p, q = tails(edges)
    inside, without = -np.diff(p), -np.diff(q)
    moved = rule(inside, without, edges[:-1])
    return edges, np.append(inside - moved, 0) + np.append(0, moved), p[-1]


# %% [markdown]
# The Fourier transform turns a convolution of $T$ equal distributions into a $T$-th power. It works on a circle of length `window`. Mass beyond the last edge counts as infinite loss.


# %%
def composed(tails, steps, *, h, rule, reach, window):
    edges, masses, beyond = on_grid(tails, h, reach, rule)
    size = 2 ** int(np.ceil(np.log2(window / h)))
    ring = np.bincount(np.rint(edges / h).astype(int) % size, masses, size)
    sums = np.fft.irfft(np.fft.rfft(ring) ** steps, size)
    return h * np.fft.fftfreq(size, 1 / size), sums, steps * beyond


def delta_at(epsilon, losses, masses, infinite):
    return np.maximum(0, 1 - np.exp(epsilon - losses)) @ masses + infinite


# %% [markdown] tags=["instructor"]
# > **For the teacher.** `ring` deserves a drawing on the board. If the window is too short, the sum runs around the circle and comes back as a gain. Ask who would notice.
# %% [markdown]
# With Gaussian noise no grid is needed: the loss is normal with mean $\mu^2/2$ and deviation $\mu=1/\sigma$. Sums of normal losses are normal, so several releases are one with $\mu=\sqrt{\mu_1^2+\mu_2^2+\dots}$.
#
# *To here NN minutes.*
#
# ## 5 An exercise
#
# **★ 8.2** *(In class, 5 minutes.)* Three tables on the same pupils are published with Gaussian noise, with noise multipliers 2, 3 and 6. What is their joint $\varepsilon$ at $\delta=10^{-6}$, exactly? (`Gaussian(sigma).profiles()[0].epsilon(delta)` has the exact profile of one release.)

# %%
answer = None
check("8.2", answer)

# %% [markdown]
# <details><summary>Solution of 8.2</summary>
#
# ```python
# joint = np.sqrt(1 / 2**2 + 1 / 3**2 + 1 / 6**2)
# answer = float(Gaussian(1 / joint).profiles()[0].epsilon(1e-6))
# check("8.2", answer)
# print(f"mu = {joint:.4f}, epsilon = {answer:.4f}")
# ```
#
# Squares of $\mu=1/\sigma$ add up: $\mu=0.6236$, and $\varepsilon=2.876$. Adding the $\mu$'s themselves would give 1, as for a single release with $\sigma=1$.
#
# </details>
# %% [markdown]
# *To here NN minutes.*
#
# ## 6 Which way do you round?
#
# Moving half of the mass to either side is accurate, but the result may be too large or too small, and so it proves nothing. A certificate needs a direction of rounding:
#
# > **Round every loss up, and you get an upper bound on $\delta$; round every loss down, and you get a lower bound**, after one step and after ten thousand. (Koskela et al. 2021.)

# %%
figures.four_rules()

# %% [markdown]
# For the schools' run we need the tails of section 3, where the loss exceeds $t$ if $x>\sigma^2\ln\frac{e^{t}-1+q}{q}+\frac12$.


# %%
def sampled(sigma, q):
    def tails(t):
        x = sigma**2 * np.log(np.maximum(np.expm1(t) + q, 1e-300) / q) + 0.5
        return (1 - q) * norm.sf(x / sigma) + q * norm.sf((x - 1) / sigma), norm.sf(x / sigma)

    return tails


# %% [markdown]
# We compute all 10,000 steps on finer and finer grids of width $h$:


# %%
def schools(h, rule):
    return epsilon_of(composed(sampled(4, 0.01), 10_000, h=h, rule=rule, reach=0.3, window=10))


def epsilon_of(pld):
    return max(0.0, brentq(lambda e: delta_at(e, *pld) - delta, -4, 4, xtol=1e-9))


widths = [2e-4, 1e-4, 5e-5, 2e-5, 1e-5]
rules = {"down": lambda inside, *_: 0 * inside, "up": lambda inside, *_: inside}
ends = {name: [schools(h, rule) for h in widths] for name, rule in rules.items()}
for h, down, up in zip(widths, *ends.values(), strict=True):
    print(f"cell width {h:5g}: rounded down {down:.5f}, rounded up {up:.5f}")

# %% [markdown]
# Rounding shifts a loss by $h/2$ on average, always in the same direction, and it does so *ten thousand times*: $Th/2$ in all. At $h=10^{-4}$ that is half a nat on either side.
#
# The library's PLD accountant has no grid, and its answer includes a bound on every error of its own ([appendix 90](90_certified_engine.ipynb)):

# %%
truth = certified.epsilon(run, delta=delta, steps=10_000)
print(f"epsilon = {truth.epsilon:.6f}, bracket {truth.epsilon - truth.lower:.0e} wide")
reveal("epsilon of the run", truth=truth.epsilon)

# %% [markdown]
# For this run, against an attacker who sees every step, **no accountant, however clever, can ever prove less** than the lower end.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** A student will say: "so PLD makes the training more private". It does not. The run is what it is; only our statement about it got sharper. What one *can* do is spend the difference: more steps, or less noise (exercise 8.4).

# %% [markdown]
# *To here NN minutes.*
#
# ## 7 The race
#
# Every accountant looks at the same run, stopped after $T$ steps. The dashed curve is an approximation; the blue curve is proved from both sides.

# %%
lines = figures.race()

# %% [markdown]
# *zCDP* (lesson 09) cannot see that batches are sampled. *Basic*, *Optimal* and *Advanced* forget the shape of the loss, while *Moments* and *RDP* keep moments of it. *GDP*, the normal distribution of the vote, lies **below** the blue curve, at every $T$.
#
# ## 8 What an attacker gains
#
# An attacker has watched every step and knows everybody's data but Anna's. He accuses people of being members, and may be wrong about 10 of 1000 outsiders. How many of 1000 members can he catch, if he is as clever as can be and pure guessing catches 10?

# %%
predict("members caught", None)

# %% [markdown]
# The accountant knows the whole curve of lesson 02, with proved ends, also at 1 % false alarms:

# %%
low, high = certified.true_positive_rate(run, false_positive_rate=0.01, steps=10_000)
reveal("members caught", truth=1000 * high, others={"guessing": 10})

# %% [markdown]
# He catches nineteen of a thousand *at 1 % false alarms*. An attacker who accuses fewer people is surer of each (section 10).

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Classes usually say 30 to 300: they turn $e^{\varepsilon}$ into a multiplier, or think of the attacks in the news.

# %% [markdown]
# ## 9 Where this breaks, and what it does not protect
#
# The guarantee assumes fresh Poisson sampling in every step, noise that is really Gaussian, and a pair that really dominates.
#
# * **It is a statement about a pair.** If the program shuffles instead of sampling, eight correct digits are about the wrong mechanism.
# * **The lower end is about the mechanism that was composed.** If only the last model is published, the truth may be smaller.
# * **A tight account is not a small one.** It protects nobody better than before.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 10 At home
#
# ### How far from normal?
#
# We count how many trial runs lie far above the mean.

# %%
mean, spread = total.mean(), total.std()
print(f"mean {mean:.4f}, standard deviation {spread:.4f}, largest {total.max():.2f}")
print("beyond the mean by   simulated   normal")
for k in (1, 2, 3, 4, 5):
    print(f"{k} deviations {np.mean(total > mean + k * spread):18.5f}   {norm.sf(k):.2g}")
# %% [markdown]
# At one standard deviation the normal distribution gives too large a probability, from two on too small a one, and at five it is off by a factor of about three thousand. Where does the tail come from?

# %%
bad = total > 1
print(
    f"lost more than 1: {bad.mean():.5f} of the runs, on average {total[bad].mean():.3f},", end=" "
)
print(f"of it {largest[bad].mean():.3f} in one step")

# %% [markdown]
# In these runs one step out of a hundred makes up more than two thirds of the total.
#
# ### Is our grid right?
#
# We test it where the truth is known. A hundred releases with $\sigma=10$ are one release with $\sigma=1$ (lesson 05), whose exact $\delta$ lesson 03 has. We compare it with the grid, and with a hundred losses, drawn and added, 400,000 times:

# %%
from dplearn.teaching.classroom import estimate_delta


def normal(mu):
    return lambda t: (norm.sf(t, mu**2 / 2, mu), norm.sf(t, -(mu**2) / 2, mu))


def half(inside, *_):
    return inside / 2


sums = np.zeros(400_000)
for _ in range(100):
    sums += (2 * rng.normal(1, 10, sums.size) - 1) / (2 * 10**2)
on_the_grid = composed(normal(0.1), 100, h=1e-4, rule=half, reach=1.2, window=24)
closed, by_grid = float(Gaussian(1.0).profiles()[0].delta(1)), delta_at(1, *on_the_grid)
print(f"delta(1) of 100 releases: {closed:.6g} in closed form, {by_grid:.6g} by convolution,")
print(f"{estimate_delta(1, sums)} simulated")
# %% [markdown]
# ### Why rounding keeps its direction
#
# $(1-e^{\varepsilon-s})_+$ grows with $s$, and a sum of rounded-up losses is at least the sum of the losses. (Entries [G-L1](explorer:formula_book?id=G-L1&misprint=nearest) and [G-L1b](explorer:formula_book?id=G-L1b&misprint=none) of the formula book.) *Chords*, the last rule of section 6, are better: they keep the masses of $P$ and of $Q$. They move $\frac{P_i-e^{t_i}Q_i}{1-e^{-h}}$ of the cell at $t_i$ to the right. In the profile this draws chords between the nodes of a convex curve, hence "connect the dots" (Doroshenko et al. 2022). Their error per step is of the order $h^2$. The picture holds three rules against the certified $\varepsilon$:


# %%
def chords(inside, without, left):
    h = left[1] - left[0]
    return np.clip((inside - np.exp(left) * without) / -np.expm1(-h), 0, inside)


ends["chords"] = [schools(h, chords) for h in widths]

# %% [markdown]
# At $h=10^{-4}$ chords are right to three digits:

# %%
figures.closing_in(widths, ends, truth)

# %% [markdown]
# The library's PLD accountant goes two steps further: a contour integral in place of the grid, and lower ends as sharp as the upper ones. It also bounds what our fifteen lines ignore: truncation, losses that run around the circle, rounding in the computer. [The appendix on the certified engine](90_certified_engine.ipynb) derives all that. The moments accountant of lesson 07 proved a third more. [The explorer](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=4&sample_rate=0.01&delta=1e-5&steps=40000&here=10000) has the race with handles.
#
# ### The whole trade-off curve
#
# One pair $(\varepsilon,\delta)$ is one point of a whole curve. To show all of it, let someone guess from the steps whether Anna was in the data.
#
# > **Definition.** The *trade-off function* (权衡函数) $f(a)$ is the smallest share of members that any test can miss when it accuses at most a share $a$ of outsiders. A mechanism is **$f$-DP** (f-差分隐私) if no pair of neighbours, in either order, has a trade-off function below $f$ anywhere. It is **$\mu$-GDP** (高斯差分隐私) if $f=G_\mu$ will do, with
# > $$G_\mu(a)=\Phi\big(\Phi^{-1}(1-a)-\mu\big):$$
# > finding Anna is at least as hard as telling $N(\mu,1)$ from $N(0,1)$ by one draw.
# >
# > **Facts.** Gaussian noise with multiplier $\sigma$ is $\mu$-GDP with $\mu=1/\sigma$, exactly. Composition: $G_{\mu_1}\otimes G_{\mu_2}=G_{\sqrt{\mu_1^2+\mu_2^2}}$. Conversion: $\mu$-GDP is the same as $(\varepsilon,\delta(\varepsilon))$-DP for every $\varepsilon\ge0$, with $\delta(\varepsilon)=\Phi(\frac\mu2-\frac\varepsilon\mu)-e^{\varepsilon}\,\Phi(-\frac\mu2-\frac\varepsilon\mu)$. (Dong, Roth & Su 2022.)
#
# Profile and trade-off function say the same in two ways. Each pair $(\varepsilon,\delta)$ is a straight line over the false alarms $a$: at most $\delta+e^{\varepsilon}a$ members are caught. At each $a$ the lowest of these lines counts, over all real $\varepsilon$, as with the tangents of lesson 02. So the single pair, although exact, only promises "at most 26" of a thousand.
#
# Now compare the long run with the trial epoch.

# %%
trial = PoissonSubsampled(Gaussian(sigma), q)
trial_truth = certified.epsilon(trial, delta=delta, steps=steps)
print(f"epsilon of the trial: {trial_truth.lower:.6f} to {trial_truth.epsilon:.6f}")
at_1 = certified.true_positive_rate(trial, false_positive_rate=0.01, steps=steps)[1]
print(f"at 1 % false alarms: {at_1:.6f} of the members")

# %% [markdown]
# The two $\varepsilon$ are 1.511 and 0.9469, and yet the attacker with 1 % false alarms does not notice the difference. The whole curves show the reason. Heights are how many times better than guessing; the dotted line is what the single pair of the training allows.

# %%
figures.trade_offs(truth)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let them find the point where the dotted line touches the blue curve, and ask what $\varepsilon=0.9469$ says about an attacker who is somewhere else. Then ask which of the two runs they would rather be in. There is no single answer; that is the point.

# %% [markdown]
# An attacker who may accuse only a few accuses those he is surest of: the runs differ in their rare, confident accusations, at the left. A single $\varepsilon$ looks at one spot of the curve, and which spot is decided by $\delta$.
# %% [markdown]
# ### "DP-SGD is $\mu$-GDP with $\mu=q\sqrt{T(e^{1/\sigma^2}-1)}$"
#
# The limit is a theorem: with $q\sqrt T$ held fixed, the trade-off function converges to $G_\mu$ as $T\to\infty$ (Bu, Dong, Long & Su 2020). The reason is the *central limit theorem* (中心极限定理) for the losses. It is easy to compute, and papers and programs print the result as the guarantee. In the middle it is splendid:

# %%
from dplearn.teaching.book import gaussian_tradeoff

mu = 0.01 * np.sqrt(10_000 * np.expm1(1 / 4**2))
at_1 = 1 - float(gaussian_tradeoff(0.01, mu=mu))
print(f"mu = {mu:.4f}; at 1 % false alarms {at_1:.6f} are caught")

# %% [markdown]
# In the tail it is not. Take also the trial epoch: which $\delta$ does it have at the $\varepsilon$ that the limit promises for $10^{-5}$?

# %%
from dplearn.core.guarantee import round_down

limit = ACCOUNTANTS["gdp"]()
claim = limit.epsilon(run, delta=delta, steps=10_000).epsilon
print(f"epsilon by the limit {claim:.4f}, truth at least {round_down(truth.lower)}")
promised = limit.epsilon(trial, delta=delta, steps=steps).epsilon
contour = certified.delta(trial, epsilon=promised, steps=steps)
grid = {"h": 1e-4, "reach": 8, "window": 50}
ours = [
    delta_at(promised, *composed(sampled(sigma, q), steps, rule=rule, **grid))
    for rule in (rules["down"], chords)
]
trials = estimate_delta(promised, total)
print(f"epsilon promised by the limit {promised:.4f}; delta there:")
print(f"  contour      {contour.delta_lower:.6g} to {contour.delta:.6g}")
print(f"  our grid     {ours[0]:.6g} to {ours[1]:.6g}")
print(f"  Monte Carlo  {trials}")
print(f"  as promised  {delta:.6g}")

# %% [markdown]
# Two brackets and 400,000 trials agree: the true $\delta$ is 69 times the promise. And for the long run 0.9424 lies below a proved lower bound, so the limit is no bound. The picture shows claimed over true $\varepsilon$ against the number of steps, for three noise levels:

# %%
figures.limit_over_truth()

# %% [markdown]
# With little noise and very many steps it errs in the other direction. An approximation without an error bound does not even tell you which side you are on. And these figures are in print (`dplearn.teaching.book.published` collects them):

# %%
from dplearn.teaching.book.published import check_figure, number, published

print("                                     printed   limit    truth at least")
for key in ("P16a", "P16b", "P15b", "P13a"):
    row = published()[key]
    step = PoissonSubsampled(Gaussian(number(row["noise_multiplier"])), number(row["sample_rate"]))
    found = certified.epsilon(step, delta=number(row["delta"]), steps=int(row["steps"]))
    print(f"{row['source']:<35}  {row['published']:>7}", end="   ")
    print(f"{check_figure(key).value:.4f}   {found.lower:.4f}")

# %% [markdown]
# The limit reproduces the printed values (the second up to the rounding of its $\sigma$), and every one of them is below the truth. In the formula book: [G-K2, read as a bound](explorer:formula_book?id=G-K2&misprint=as-a-bound); batches of fixed size have a limit of their own, [G-K2b](explorer:formula_book?id=G-K2b).
# %% [markdown]
# ### How slowly the tail becomes normal
#
# If the trial went on, how would the distribution of its total loss change? Drag $T$ from 10 to 10,000. The unit of length is the standard deviation, so the normal distribution stands still. Guess before you touch it: which part becomes normal first?

# %%
figures.slow_tail(on_grid, sampled(sigma, q), half)

# %% [markdown]
# The hump becomes normal early, the right tail last of all. The central limit theorem promises convergence at every fixed point, but it does not say when.
#
# ### Two further limits
#
# * **Shuffling is another pair** ([lesson 06](06_subsampling.ipynb)).
# * **The worst pair of one step need not be the worst of many.** Dominating means *at every real $\varepsilon$*. Composing the pair that is worst at one $\varepsilon$ proves nothing.
# * **The lower end** assumes that the noisy sum of every step is published, and that one record may be as bad as clipping allows. If only the last model is published, or the data are kinder, no bracket as tight is known in general. And no account says what everybody's records reveal together.

# %% [markdown]
# ### "On a fine grid it does not matter which way losses are rounded"
#
# Some programs offer "optimistic" as an option: round down, on a grid of $10^{-4}$. For the schools' run this gives the 0.4469 of section 6, less than half of the truth. For a verdict in three ways, take a case where the truth has a closed form: a hundred releases with $\sigma=10$, and losses rounded down to multiples of $h=0.002$, a fiftieth of one loss's deviation.

# %%
from dplearn.teaching.classroom import Evidence

optimistic = composed(normal(0.1), 100, h=2e-3, rule=rules["down"], reach=1.2, window=24)
too_low = Evidence(
    "delta at epsilon = 1 after 100 releases, losses rounded down to 0.002",
    closed=closed,
    exact=by_grid,
    simulated=estimate_delta(1, sums),
    printed=delta_at(1, *optimistic),
    exact_by="convolution",
)
print(too_low)

# %% [markdown]
# A lower bound is a good thing to have: it tells how much better an accountant could become, although it is never a guarantee. The same is true of "round to the nearest": more accurate, still [without a direction](explorer:formula_book?id=G-L1&misprint=nearest).
#
# ### "Adding and removing a record are the same"
#
# Lesson 06 saw it for one step: under *without*, no loss exceeds $-\ln(1-q)$. An account of that order alone prints $\delta=0$ at $\varepsilon=0.1$ for one step of the trial. We check the other order: the formula, the area where the density with Anna rises above $e^{\varepsilon}$ times that without, and a simulation with two million draws.


# %%
from scipy.integrate import quad


def area(epsilon):
    with_her = lambda x: (1 - q) * norm.pdf(x, 0, sigma) + q * norm.pdf(x, 1, sigma)
    gap = lambda x: with_her(x) - np.exp(epsilon) * norm.pdf(x, 0, sigma)
    start = sigma**2 * np.log((np.exp(epsilon) - 1 + q) / q) + 0.5
    return quad(gap, start, start + 12 * sigma, epsabs=0)[0]


# %% [markdown]
# The three agree on a $\delta$ that is far from 0:

# %%
from dplearn.teaching.book import sampled_gaussian_delta

x = rng.normal(0, sigma, 2_000_000) + (rng.random(2_000_000) < q)
one_way = sampled_gaussian_delta(epsilon=0.1, noise_multiplier=sigma, sample_rate=q)
by_chance = estimate_delta(0.1, np.log(1 - q + q * np.exp((2 * x - 1) / (2 * sigma**2))))
print(f"delta at epsilon 0.1, one step: {one_way:.6g}, area {area(0.1):.6g}, {by_chance}")

# %% [markdown]
# Over a whole run the mistake hides better. We hand our own grid the tails of the other order: under *without*, the loss $-L$ exceeds $t$ where $L<-t$.


# %%
def added(sigma, q):
    removed = sampled(sigma, q)

    def tails(t):
        with_her, without = removed(-t)
        return 1 - without, 1 - with_her

    return tails


# %% [markdown]
# Here are both orders, by chords:

# %%
for label, tails in (("removed", sampled(4, 0.01)), ("added", added(4, 0.01))):
    pld = composed(tails, 10_000, h=2e-5, rule=chords, reach=0.3, window=10)
    print(f"{label:<8} epsilon = {epsilon_of(pld):.4f}")

# %% [markdown]
# The second is one per cent too small, which nobody would notice. An accountant must take the larger one. For one step of the sampled Gaussian that is "removed", [by a theorem](explorer:formula_book?id=G-E9&misprint=added-only). For other mechanisms the larger one can even [change between the first step and the second](explorer:formula_book?id=G-L3&misprint=worst-pair-first). So compute both orders, after all steps.
#
# ### Three harder exercises
#
# **★★ 8.3** One release with Gaussian noise is calibrated to exactly $(1, 10^{-5})$. An attacker may accuse one outsider in a thousand. Which share of the members can he catch at most?

# %%
answer = None
check("8.3", answer)

# %% [markdown]
# <details><summary>Solution of 8.3</summary>
#
# ```python
# mu = 1 / Gaussian.analytic(epsilon=1, delta=1e-5).noise_multiplier
# answer = 1 - float(gaussian_tradeoff(0.001, mu=mu))
# check("8.3", answer)
# print(f"mu = {mu:.4f}, caught {answer:.6f}, by the pair alone {np.e * 0.001 + 1e-5:.6f}")
# ```
#
# The mechanism is $\mu$-GDP with $\mu=0.268$, and $\Phi(\Phi^{-1}(0.001)+\mu)=0.002385$. The pair alone allows 0.00273: a true bound, but not what the best attacker reaches.
#
# </details>

# %% [markdown]
# **★★★ 8.4** The schools' budget for $q=0.01$ and $\sigma=4$ is $(1, 10^{-5})$. How many steps more does the PLD accountant allow than the RDP accountant, by a search with `largest_steps` of `dplearn.calibrate`?

# %%
answer = None
check("8.4", answer)

# %% [markdown]
# <details><summary>Solution of 8.4</summary>
#
# ```python
# from dplearn.calibrate import largest_steps
#
# budget = {"epsilon": 1.0, "delta": 1e-5}
# allowed = {n: largest_steps(run, n, **budget).value for n in ("rdp", "pld")}
# answer = allowed["pld"] - allowed["rdp"]
# check("8.4", answer)
# print(allowed)
# ```
#
# RDP stops the training at step 9378, PLD at step 11050, because $\varepsilon$ passes 1 only there. The 1672 steps in between cost no privacy that was not already promised. They were hidden in the conversion of moments for $(\varepsilon,\delta)$.
#
# </details>

# %% [markdown]
# **★★★ 8.5** Write an accountant that brackets. One release has these losses with these probabilities, and there are `steps` of them. Round every loss to a multiple of `width`, compose, and return two numbers, between which the exact $\delta$ at `epsilon` lies. A dictionary from losses to probabilities, as in exercise 4.4, is enough.


# %%
def bracket(losses, probabilities, steps, width, epsilon):
    # Write your code here.
    return None


check("8.5", bracket)

# %% [markdown]
# <details><summary>Solution of 8.5</summary>
#
# ```python
# import math
#
#
# def bracket(losses, probabilities, steps, width, epsilon):
#     def end(rule):
#         places = [rule(round(loss / width, 9)) for loss in losses]
#         sums = {0: 1.0}
#         for _ in range(steps):
#             before, sums = sums, {}
#             for total, mass in before.items():
#                 for place, p in zip(places, probabilities):
#                     sums[total + place] = sums.get(total + place, 0) + mass * p
#         return sum(p * max(0, 1 - math.exp(epsilon - width * k)) for k, p in sums.items())
#
#     return end(math.floor), end(math.ceil)
#
#
# check("8.5", bracket)
# ```
#
# A larger loss never makes $\delta$ smaller. So losses rounded down give the lower end and losses rounded up the upper one, however wide the grid is. (`round` to nine digits keeps a loss of $3\cdot0.1$ on its own multiple.)
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Your colleague switches from RDP to PLD, and ε falls from 1.04 to 0.95. Is her model more private now?
#
# <details><summary>a. Yes, by ten per cent.</summary>
#
# No. Nothing about the training has changed.
#
# </details>
#
# <details><summary>b. No: the model is the same, we know more about it.</summary>
#
# Right. It is the same model with the same leak, and we know more about it. She could now train longer or with less noise at the old $\varepsilon$; then it *is* a different model.
#
# </details>
#
# <details><summary>c. Yes, if she trains it again.</summary>
#
# No. A second training would cost once more.
#
# </details>
#
# **2** Why does rounding up by at most 0.0001 nats spoil the answer by half a nat?
#
# <details><summary>a. The computer adds its own rounding.</summary>
#
# No. That is smaller by many powers of ten.
#
# </details>
#
# <details><summary>b. 0.0001 nats is a large part of one loss.</summary>
#
# No. Against one loss it is small; there are ten thousand of them.
#
# </details>
#
# <details><summary>c. It is added up in every step, always in the same direction.</summary>
#
# Right. The error happens in every step, in the same direction: 10,000 steps times half a cell. Errors that take turns would average out, but then the result has no direction and is no bound.
#
# </details>
#
# **3** By the central limit theorem, sums of many losses are normal. Why is μ not a guarantee for 10,000 steps?
#
# <details><summary>a. The theorem speaks of the limit, and of the middle before the tail.</summary>
#
# Right. The theorem speaks about fixed quantiles as $T$ grows. At $\delta=10^{-5}$ we ask about the far tail of a sum of skewed terms, and there the normal distribution is the last to arrive. It has a limit, not an error bound.
#
# </details>
#
# <details><summary>b. 10,000 steps are too few for any theorem.</summary>
#
# No. How many are enough depends on how far out you look.
#
# </details>
#
# <details><summary>c. The losses of the steps are not independent.</summary>
#
# No. They are, since each step has fresh noise and fresh coins.
#
# </details>
#
# **4** Two mechanisms have the same ε at δ = 10⁻⁵. Are they equally private?
#
# <details><summary>a. Yes, by definition.</summary>
#
# No. The definition is for one pair; privacy is a curve.
#
# </details>
#
# <details><summary>b. At that point; elsewhere one may be better.</summary>
#
# Right. They agree at that one point, but their trade-off curves may cross elsewhere: the trial epoch and the training had very different $\varepsilon$ and the same attacker at 1 % false alarms.
#
# </details>
#
# <details><summary>c. Yes, if both use Gaussian noise.</summary>
#
# No. With sampling two Gaussian mechanisms may have curves that cross.
#
# </details>
#
# **5** What does a lower end of ε tell you that an upper end does not?
#
# <details><summary>a. That the attack has been tried.</summary>
#
# No. It comes from a proof about a pair of distributions, nobody attacked.
#
# </details>
#
# <details><summary>b. How exact the computer was.</summary>
#
# No. Rounding is part of the width; the lower end is about the mechanism.
#
# </details>
#
# <details><summary>c. That no better proof can get below it.</summary>
#
# Right. Waiting for a better proof is useless. If the bracket is narrow, the accounting is finished, and only another mechanism has a smaller $\varepsilon$.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("8.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **Keep everything** | losses of independent steps add, distributions convolve: transform, $T$-th power, transform back |
# | **Read off** | $\delta(\varepsilon)=\mathbb E[(1-e^{\varepsilon-L})_+]$; infinite losses count fully |
# | **Round** | up: upper bound; down: lower bound; nearest: neither. Cost $Th/2$; chords cost order $h^2$ |
# | **Order** | removed and added: compute both, take the larger |
# | **Gaussian DP** | $G_\mu(a)=\Phi(\Phi^{-1}(1-a)-\mu)$, $\mu=\sqrt{\sum\mu_i^2}$, exact for Gaussian noise |
# | **Central limit** | $\mu=q\sqrt{T(e^{1/\sigma^2}-1)}$ is an approximation, mostly too small |
# | **Reference run** | moments 1.259, RDP 1.036, certified 0.9469 at $\delta=10^{-5}$; 19 of 1000 members at 10 of 1000 false alarms |
#
# ## 13 Further reading
#
# * Sommer, Meiser & Mohammadi (2019), *Privacy loss classes*: the distribution of the loss, and why it is the right object.
# * Koskela, Jälkö & Honkela (2020), *Computing tight differential privacy guarantees using FFT*: the accountant that you have just built.
# * Gopi, Lee & Wutschitz (2021), *Numerical composition of differential privacy*: how fine a grid must be.
# * Doroshenko et al. (2022), *Connect the dots*: chords, and why no other upper distribution on the same nodes is better.
# * Zhu, Dong & Wang (2022), *Optimal accounting of differential privacy via characteristic function*: dominating pairs.
# * Dong, Roth & Su (2022), *Gaussian differential privacy*: trade-off functions, their composition and their limit.
# * Bu, Dong, Long & Su (2020), *Deep learning with Gaussian differential privacy*: the limit for DP-SGD, with the figures of section 10.
#
# **Next** [lesson 10](10_dpsgd.ipynb): from the account to the training itself. An excursion before it is [lesson 09](09_zcdp_census.ipynb), the privacy budget of a census. For the proofs behind the bracket: [the certified engine](90_certified_engine.ipynb). The last cell re-examines what this lesson claimed.

# %%
# Checks
assert closed in estimate_delta(1, sums) and too_low.refuted and 0 < one_way in by_chance
assert truth.lower <= truth.epsilon < truth.lower + 1e-8 and np.isclose(truth.epsilon, 0.946867)
assert all(
    d <= truth.lower < truth.epsilon <= c <= u for d, u, c in zip(*ends.values(), strict=True)
)
assert contour.delta_lower in trials and delta not in trials
assert ours[0] < contour.delta_lower <= contour.delta < ours[1] and contour.delta_lower > 60 * delta
assert all(g.epsilon < p.lower for g, p in zip(lines["gdp"], lines["pld"], strict=True))
print("all checks passed")
