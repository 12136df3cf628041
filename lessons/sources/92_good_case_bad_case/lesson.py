# %% [markdown]
# # 92 Good case, bad case
#
# *An appendix: the RDP bound for batches of fixed size. Which data reach it, and by how much do ours miss it?*
#
# A training step draws a batch of exactly $m$ out of $n$ records, adds up what they contribute, and adds Gaussian noise. Every record is $-\frac12$ or $\frac12$, and Anna's changes from $-\frac12$ to $\frac12$. In the **bad case** (坏情形) all others are $-\frac12$; in the **good case** (好情形) half of the others are $\frac12$ (Wang, Balle & Kasiviswanathan 2019). The picture shows twenty records, of which five will be drawn.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this appendix you can**
#
# 1. write down what a noisy sum over a random subset releases for *given* data, a mixture of Gaussians, and compute its Rényi divergence exactly;
# 2. say which data attain the bound for fixed-size batches, from which order on, and why others stay far below it;
# 3. refuse three sentences in circulation, and explain why a small loss of one's own data is not a guarantee.
#
# * **Time** an evening; the computer needs half a minute.
# * **You need** lesson 05 (Rényi divergence) and lesson 06 (the sampled Gaussian, its jump at order $\alpha^*$, fixed-size batches).
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `records`, `batch` | $n$, $m$ | records, and how many of them are drawn | none |
# | `rate` | $q=m/n$ | chance of a record to be drawn | probability |
# | `sigma` | $\sigma$ | standard deviation of the noise on the sum; one record changes the sum by 1 | none |
# | `alike` | $k$ | how many of the *others* are $\frac12$, as Anna's record will be | none |
# | `order` | $\alpha$ | order of a Rényi divergence $D_\alpha$; the larger of both directions | none |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: a crowd of equal records is noise that costs nothing, but only for whoever has a crowd, and privacy is promised to those who have none.

# %% tags=["hide-input"]
import numpy as np

from dplearn.teaching.classroom import check, pictures, predict, reveal

figures = pictures("92")
figures.crowds()

# %% [markdown]
# **★ 92.1** `ones` of the `records` are $\frac12$, and a batch is drawn. In how many batches are exactly `j` ones? Choose these among the ones, and replace `...` by the number of ways to choose the rest of the batch.

# %%
import math


def chance(j, records, batch, ones):
    ways = math.comb(ones, j) * ...
    return ways / math.comb(records, batch)


check("92.1", chance)

# %% [markdown]
# <details><summary>Solution of 92.1</summary>
#
# ```python
# import math
#
#
# def chance(j, records, batch, ones):
#     ways = math.comb(ones, j) * math.comb(records - ones, batch - j)
#     return ways / math.comb(records, batch)
#
#
# check("92.1", chance)
# ```
#
# The rest of the batch are `batch - j` of the `records - ones` others. `comb` is 0 where there are too few.
#
# </details>

# %% [markdown]
# The next picture shows these chances before and after Anna's change.

# %%
figures.subsets(chance)

# %% [markdown]
# ## 1 The question
#
# Lesson 06 gave the guarantee for a record that is *replaced*. It holds for all data, so also for the worst. Which data are the worst, and how far from it are ours?

# %% [markdown]
# ## 2 Predict
#
# Two guesses are about large numbers: a million records, a thousand drawn, noise 0.5.
#
# * **Divergence of the bad case**: a normal approximation of the sum gives $6.2\cdot10^{-5}$ at order 10, and you guess the exact $D_{10}$.
# * **Epsilon without noise**: in the good case the noise is *off*, the exact sum is published, and you guess $\varepsilon$ at $\delta=0$.

# %%
predict("divergence of the bad case", None)
predict("epsilon without noise", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Expect "a bit more than that" for the first and "infinite" for the second; both are wrong by more than anybody dares to say. Do not comment.

# %% [markdown]
# ## 3 A subset without noise
#
# *Experiment.* Still without noise, the cell draws five of twenty records two hundred thousand times and counts how many of the five are $\frac12$.

# %%
draws, records, batch, rng = 200_000, 20, 5, np.random.default_rng(13)


def ones_drawn(ones):
    """Return how many of the first `ones` records are in each of many random subsets."""
    places = np.argsort(rng.random((draws, records)), axis=1)[:, :batch]
    return np.sum(places < ones, axis=1)


# %% [markdown]
# Before Anna's record changes, and after; then the ratio of the two chances.

# %%
for name, others in (("bad", 0), ("good", 10)):
    before, after = (np.bincount(ones_drawn(k), minlength=6) / draws for k in (others, others + 1))
    print(f"{name} case: ones   before    after   ratio")
    for j in np.flatnonzero(before + after):
        ratio = after[j] / before[j] if before[j] else np.inf if after[j] else np.nan
        print(f"{j:15}{before[j]:9.4f}{after[j]:9.4f}{ratio:8.3f}")

# %% [markdown]
# In the bad case one outcome was *impossible* before: a single one in the batch says "Anna". In the good case everything was possible before. No ratio exceeds 2, although there is no noise at all: **the other records hide her**. The number of ones in a subset is *hypergeometric* (超几何分布), and its spread does the work of noise.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask for the largest ratio in the good case before anybody computes: all five drawn are ones. Eleven ways to choose the first where there were ten, down to seven where there were six: $\frac{11}{6}$. The simulated one wobbles, because it is rare.

# %% [markdown]
# ## 4 The picture
#
# Now add noise 0.3: each count becomes a small bell. On the left the bells are where they were not; on the right every bell is a little higher or lower.


# %%
from scipy.stats import hypergeom, norm


def density(ones, sigma, n=records, m=batch):
    """Density of the noisy number of ones in the subset."""
    j = np.arange(max(0, m - n + ones), min(m, ones) + 1)
    chance = hypergeom(n, ones, m).pmf(j)
    return lambda x: norm.pdf(np.subtract.outer(x, j), scale=sigma) @ chance


# %% [markdown]
# (The sum is the number of ones, less $m/2$: the same for both, so we leave it out.)

# %%
figures.bells(density)

# %% [markdown]
# ## 5 What is proved
#
# > **Both cases are mixtures of Gaussians.** Let $q=m/n$, and among the others let $S$ count the ones that are drawn where Anna is not, $U$ where she is: hypergeometric with $m$ and $m-1$ draws of $n-1$ records, $k$ of them ones. Then the release before and after is
# >
# > $$Q=(1-q)\,S+q\,U,\qquad P=(1-q)\,S+q\,(U+1),$$
# >
# > both plus noise $N(0,\sigma^2)$.
# >
# > In the bad case $S=U=0$: this is the **sampled Gaussian** of lesson 06, order by order. Over all data of $\pm\frac12$ it is the worst: $D_\alpha\le D_\alpha\big((1-q)N(0)+qN(1)\,\Vert\,N(0)\big)$.
#
# *Why the worst.* Tell the attacker the sum of the $m-1$ others, and who would be drawn in Anna's place, which can only help him. What is left is the sampled Gaussian, or the same with $P$ and $Q$ exchanged, whose divergence is smaller; and a mixture of pairs leaks no more than the worst of them (lesson 06).
#
# Three ways to $D_2$ of the bad case, with twenty records and noise 0.5. Printed is the formula for normal distributions.


# %%
from scipy.integrate import quad

from dplearn.teaching.book import renyi_gaussian
from dplearn.teaching.classroom import Evidence, estimate


def normal(order, sigma, n, m, k):
    """The normal approximation, its variance taken with replacement."""
    moments = [(m * p, np.sqrt(sigma**2 + m * p * (1 - p))) for p in ((k + 1) / n, k / n)]
    (mean_p, std_p), (mean_q, std_q) = moments
    return renyi_gaussian(order=order, mean_p=mean_p, std_p=std_p, mean_q=mean_q, std_q=std_q)


p, q = density(1, 0.5), density(0, 0.5)
integrand = lambda x: float(p(np.array([x]))[0] ** 2 / q(np.array([x]))[0])
release = ones_drawn(1) + 0.5 * rng.standard_normal(draws)

# %% [markdown]
# The closed form is the binomial sum of lesson 06, here for order 2. The simulation averages $p/q$ over releases.

# %%
rate, sigma = batch / records, 0.5
second = Evidence(
    "Rényi divergence of order 2, bad case, 5 of 20 records, noise 0.5",
    closed=float(np.log1p(rate**2 * np.expm1(1 / sigma**2))),
    exact=float(np.log(quad(integrand, -8, 10, epsabs=0, limit=200)[0])),
    simulated=estimate(np.minimum(p(release) / q(release), 1e9)).map(np.log),
    printed=normal(2, 0.5, 20, 5, 0),
)
print(second)

# %% [markdown]
# The upper bound that papers plot is for *every* mechanism on a subset, not for Gaussian noise alone:
#
# > **Theorem 9 of Wang, Balle & Kasiviswanathan (2019)**, whole orders, $\varepsilon(j)$ the divergence of order $j$ without sampling:
# >
# > $$D'_\alpha\le\tfrac1{\alpha-1}\ln\big(1+A_2+\dots+A_\alpha\big),$$
# >
# > $$A_2=q^2\tbinom\alpha2\min\{4(e^{\varepsilon(2)}-1),2e^{\varepsilon(2)}\},$$
# >
# > $$A_j=2q^j\tbinom\alpha je^{(j-1)\varepsilon(j)}\quad\text{for }j\ge3.$$
#
# For the million records, `subset_sum_rdp` of the formula book is the integral of section 5, for any number of records.


# %%
from dplearn.teaching.book import subset_sum_rdp, without_replacement_rdp


def divergence(orders, sigma, n, m, k):
    return subset_sum_rdp(order=orders, noise_std=sigma, records=n, batch=m, alike=k)


def bound(order, sigma, rate):
    at = {"noise_multiplier": sigma, "sample_rate": rate, "distance": 1.0}
    return without_replacement_rdp(order=order, **at)


# %% [markdown]
# How far is the good case from the bad one, and the bad one from the bound?

# %%
orders, million, half = [2, 8, 16, 64, 256], (10**6, 1000), 500_000
for sigma in (5.0, 0.5):
    good, bad = (divergence(orders, sigma, *million, k) for k in (half, 0))
    print(f"noise {sigma}:   order   good case    bad case   Theorem 9")
    for order, g, b in zip(orders, good, bad, strict=True):
        print(f"{order:18}{g:12.4g}{b:12.6g}{bound(order, sigma, 1e-3):12.6g}")
gap = bad[-1] / good[-1]
print(f"bad / good at order 256: {gap:.2g}; jump at order {1 + 2 * 0.5**2 * np.log(1000):.2f}")

# %% [markdown]
# With noise 0.5 the jump of lesson 06 lies at order 4.45. Beyond it the bad case **meets** the bound: 505.065 and 505.068 at order 256. And the good case is about $10^9$ times below. Both are true of the same mechanism, and only the data differ.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let a student read the columns aloud from top to bottom. The bound is loose where sampling helps (a factor of 2 to 4) and tight where it does not. Nobody can improve it beyond the jump: a real data set reaches it.

# %% [markdown]
# ## 6 Is it true as printed?
#
# ### 6.1 "The release is nearly normal, so $D_\alpha=\infty$ for large $\alpha$"
#
# Put normal distributions with mean and variance of the mixture into the formula of lesson 05. By it, $D_\alpha$ is infinite as soon as $(1-\alpha)\sigma_P^2+\alpha\sigma_Q^2\le0$. For the bad case with noise 0.5:

# %%
orders = [2, 10, 250, 252, 260]
exact = divergence(orders, 0.5, *million, 0)
printed = [normal(order, 0.5, *million, 0) for order in orders]
print("order   normal approximation       exact")
for order, approximate, true in zip(orders, printed, exact, strict=True):
    print(f"{order:5}{approximate:23.4g}{true:12.6g}")
print(f"at order 10 the exact one is {exact[1] / printed[1]:,.0f} times larger")

# %% [markdown]
# At order 10 the approximation is 200,000 times too small, and from 252 on it says infinite where the truth is 497.1. It errs on both sides, for one reason: a mixture is not normal. Its right tail is a bell of its own, with chance $q$ however far it stands, and all bells have the *same* width, so no divergence is infinite.

# %%
reveal("divergence of the bad case", truth=exact[1], others={"normal": printed[1]})

# %% [markdown]
# ### 6.2 "The mean of the subset has variance $\frac{n-1}{n^2m}$"
#
# The cell draws nine of ten records, of which one is $\frac12$ and all others are $-\frac12$:

# %%
means = (np.argsort(rng.random((draws, 10)), axis=1)[:, :9] == 0).sum(axis=1) / 9 - 0.5
every = [(1 / 9 if out else 0) - 0.5 for out in range(10)]  # who is left out; 0 is Anna
variance = Evidence(
    "variance of the mean of 9 of 10 records",
    closed=(10 - 9) / (10**2 * 9),
    exact=float(np.var(every)),
    simulated=estimate((means - np.mean(every)) ** 2),
    printed=(10 - 1) / (10**2 * 9),
    exact_by="enumeration",
)
print(variance)

# %% [markdown]
# The printed value is nine times too large. The printed formula is for draws *with* replacement. Without, it is $\frac{n-m}{n^2m}$: if all are drawn, there is no variance at all. A variance that is too large claims hiding that is not there.
#
# ### 6.3 "The bad case is always close to the lower bound, the good case always far below"
#
# The bad case *is* the lower bound, to the last digit: both are the sampled Gaussian. And the good case, at order 2, a thousand of a million, with more and more noise?

# %%
print("noise   good / bad")
for sigma in (0.5, 5.0, np.sqrt(1000 / 4), 100.0):
    good, bad = (divergence([2], sigma, *million, k)[0] for k in (half, 0))
    print(f"{sigma:5.3g}{good / bad:13.3g}")

# %% [markdown]
# The others contribute a spread of about $\frac m4$ to the variance. Where that is large beside $\sigma^2$, Anna hides in the crowd. At $\sigma=\sqrt{m/4}$, here 15.8, crowd and noise share the work: one half. With noise 100 the good case is 0.976 of the bad one: "far below" is over.
#
# Without any noise, a batch full of ones is likeliest to change:

# %%
largest = np.log((half + 1) / (half + 1 - 1000))
reveal("epsilon without noise", truth=largest)
full = [hypergeom(10**6, k, 1000).logpmf(1000) for k in (half, half + 1)]
print(f"closed form {largest:.6g}, from the chances of a full batch {full[1] - full[0]:.6g}")

# %% [markdown] tags=["instructor"]
# > **For the teacher.** With $k=10$ and $m=5$ the ratio $\frac{k+1}{k+1-m}$ is the $\frac{11}6$ of the experiment: let them check. If time is short, keep 6.1 and drop 6.2; exercise 92.3 comes back to it.

# %% [markdown]
# ## 7 Move the slider
#
# Real data are the 1,797 handwritten digits of this course: a record is $\frac12$ if its **mean ink** exceeds a threshold, from 0 for white to 16 for black. Eighteen are drawn, with noise 0.5. Anna writes the lightest digit of all. What if hers had been heavy?

# %%
from dplearn.datasets import digits

ink = 16 * np.mean(digits().images, axis=(1, 2))
print(
    f"{ink.size} digits, mean ink {ink.min():.2f} to {ink.max():.2f}, median {np.median(ink):.2f}"
)
for threshold in (5, 6, 6.2, 6.3, 6.5, 6.8):
    print(f"heavier than {threshold}: {np.sum(ink > threshold)}")

# %% [markdown]
# The cell computes the bound, the bad case, and our data at five thresholds:

# %%
grid = np.unique(np.round(np.geomspace(2, 256, 36)))
digits_data = (1797, 18)
ceiling = [bound(int(order), 0.5, 18 / 1797) for order in grid]
worst, ours = divergence(grid, 0.5, *digits_data, 0), {}
for threshold in (5, 6, 6.2, 6.3, 6.8):
    heavy = int(np.sum(ink > threshold))
    ours[threshold] = heavy, divergence(grid, 0.5, *digits_data, heavy)

# %% [markdown]
# The slider moves the threshold, and with it the number of others who are heavy, too. Before you move it: how many companions does she need so that the curve never jumps?

# %%
figures.companions(grid, ceiling, worst, ours)

# %% [markdown]
# With 20 companions at threshold 6.2, more than the 18 who are drawn, a batch of heavy digits needs no Anna: the curve rises late, and never beyond $\ln\frac{21}3$. With 12 the curve **jumps**: a batch with 13 heavy ones proves her, and although it almost never comes, at high orders nothing else counts. From there on the divergence of real data is nearly that of the bound. So the jump that lesson 06 found does not come from the proof: it comes from a batch that only she can explain.
#
# ## 8 Where this breaks, and what it does not protect
#
# * **It is a statement about two data sets**: differential privacy speaks of all pairs, and the bad case is one of them: the child whose answer nobody shares. Whoever publishes the loss of the good case promises her nothing.
# * **The small number is itself about the data.** It tells how many are heavy. Two data sets with 12 and 20 companions print different $\varepsilon$; so the printed $\varepsilon$ leaks, and nobody accounted for it.
# * **Contributions are fixed here**: in training, a gradient depends on what was published before, and only the bound covers that.
#
# A guarantee may say so. A thousand steps on the digits, noise 2:

# %%
from dplearn import Guarantee
from dplearn.teaching.book import rdp_to_epsilon

orders, about = np.arange(2, 257), {"delta": 1e-5, "kind": "upper", "method": "rdp"}
about |= {"adjacency": "replace_one", "only_for": "these two data sets"}
for k in (0, 41, 749):
    steps = 1000 * divergence(orders, 2.0, *digits_data, k)
    stated = Guarantee(epsilon=rdp_to_epsilon(orders, steps, delta=1e-5).min(), **about)
    print(f"{k:3} alike: {str(stated).replace(', for', chr(10) + '           for')}")

# %% [markdown]
# What such a computation is good for: to see whether a bound is loose because of its proof or, as here, because of our data. Lesson 14 asks the same of a whole training run, from outside.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Somebody will propose to add noise to the number of ones and then use the good case. That is a real idea (propose, test, release; smooth sensitivity), and it needs an $\varepsilon$ of its own: let them say what must be released first.

# %% [markdown]
# ## 9 Exercises
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint; the same wrong answer again gets a plainer one.
#
# **★ 92.2** The digits again, 18 of 1,797 drawn, threshold 5: 749 others are heavy. The exact number of heavy ones in the batch is published, without noise. How large can the privacy loss of an output become, if Anna's digit became heavy?

# %%
answer = None
check("92.2", answer)

# %% [markdown]
# <details><summary>Solution of 92.2</summary>
#
# ```python
# answer = np.log(750 / (750 - 18))
# check("92.2", answer)
# ```
#
# At this output all of the batch are heavy. There are $\binom{750}{18}$ such batches after, $\binom{749}{18}$ before; their ratio is $\frac{750}{750-18}$.
#
# </details>

# %% [markdown]
# ## 10 At home
#
# ### "One pass over the data computes the moment"
#
# Notes on the moments accountant say that $K(\lambda)$ "needs a pass over the data set". It needs a supremum over *all* data sets with their neighbours, so no data at all. Whoever takes the digits with threshold 6 instead:

# %%
ours, all_data = divergence([8], 0.5, *digits_data, 41)[0], divergence([8], 0.5, *digits_data, 0)[0]
print(
    f"order 8: of these data {ours:.3g}, of the worst {all_data:.4g}: {all_data / ours:,.0f} times"
)

# %% [markdown]
# ### The binomial expansion without its mean
#
# Leave out the $\mathbb E$ in the last line of the sum of lesson 06. What remains is a random number. Its values at three outputs, beside the moment, order 8, noise 1, rate 0.01:

# %%
ratio = np.exp(np.array([-1.0, 0.0, 3.0]) - 0.5)
print("without E:", ", ".join(f"{v:.4g}" for v in (1 - 0.01 + 0.01 * ratio) ** 8))
print(f"with E:    {np.exp(7 * divergence([8], 1.0, 100, 1, 0)[0]):.6g}")

# %% [markdown]
#
#
# ### One more exercise
#
# **★★ 92.3** Notes give the mean of a subset the variance $\frac{k(n-k)}{n^2m}$ for $k$ ones of $\frac12$ among $n$ records. For which $m$ is that twice too large, if $n=1797$?

# %%
answer = None
check("92.3", answer)

# %% [markdown]
# <details><summary>Solution of 92.3</summary>
#
# ```python
# answer = (1797 + 1) / 2
# check("92.3", answer)
# ```
#
# The factor is $\frac{n-1}{n-m}$; it is 2 where $m=\frac{n+1}2$: a batch of half the data.
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Why does the bound meet the bad case beyond the jump, and not before?
#
# <details><summary>a. Beyond the jump the last term outweighs all others, and it is the same in both.</summary>
#
# Right. It is the record drawn every time, $q^\alpha e^{(\alpha-1)\varepsilon(\alpha)}$. Before it the term of order 2 counts, and there the theorem for all mechanisms is larger.
#
# </details>
#
# <details><summary>b. The bound is proved only for high orders.</summary>
#
# No. It holds for all whole orders; it is loose at low ones.
#
# </details>
#
# <details><summary>c. By chance: other data would exceed it.</summary>
#
# No. No data exceed it; that is the theorem.
#
# </details>
#
# **2** In the good case the noise is switched off. Why is the loss not infinite?
#
# <details><summary>a. The subset is secret, so nothing can be learnt.</summary>
#
# No. In the bad case the subset is as secret, and one output gives her away.
#
# </details>
#
# <details><summary>b. Every output was possible before her change.</summary>
#
# Right. Others are ones, too, and enough of them to fill a batch. The loss is a ratio of two hypergeometric chances.
#
# </details>
#
# <details><summary>c. A sum of many numbers is normal, and that is noise.</summary>
#
# No. It is spread out, but no normal distribution: that approximation failed in 6.1.
#
# </details>
#
# **3** Twelve others are heavy, eighteen are drawn. What makes the curve jump?
#
# <details><summary>a. There is too little noise for eighteen records.</summary>
#
# No. With twenty companions and the same noise it does not jump.
#
# </details>
#
# <details><summary>b. Twelve is less than half of the digits.</summary>
#
# No. Twenty is less than half as well.
#
# </details>
#
# <details><summary>c. A batch with thirteen heavy digits can only be explained by Anna.</summary>
#
# Right. It is rare beyond measure, and a high order multiplies what is rare but telling.
#
# </details>
#
# **4** "Our data are a good case, so we report its ε." What is wrong?
#
# <details><summary>a. The number holds for two data sets, and it depends on the data it is to protect.</summary>
#
# Right. It promises nothing to a child in another class, and printing it tells something about this one.
#
# </details>
#
# <details><summary>b. Nothing, if the data do not change.</summary>
#
# No. Privacy is about the data set that differs in one record, and about what the number itself reveals.
#
# </details>
#
# <details><summary>c. It must be computed at more orders.</summary>
#
# No. It is exact at every order, and still about these data.
#
# </details>
#
# **5** With very much noise, good and bad case have the same divergence. Why?
#
# <details><summary>a. Then nobody can be recognised.</summary>
#
# No. The divergences are small, but the question is why they are equal.
#
# </details>
#
# <details><summary>b. The spread of the crowd is negligible beside the noise.</summary>
#
# Right. The variance is $\sigma^2$ and about $\frac m4$ of the crowd; what is small beside the other does not matter.
#
# </details>
#
# <details><summary>c. The subset is then drawn with replacement.</summary>
#
# No. How it is drawn does not depend on the noise.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("92.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **Given data** | $P=(1-q)S+q(U+1)$, $Q=(1-q)S+qU$, plus noise; $S$, $U$ hypergeometric |
# | **Bad case** | nobody else has it: the sampled Gaussian, and the worst of all data of $\pm\frac12$ |
# | **Good case** | a crowd of variance $m/4$ hides her beside $\sigma^2$; without noise still $\ln\frac{k+1}{k+1-m}$ |
# | **Bound** | Theorem 9 holds for every mechanism; met by the bad case beyond $\alpha^*=1+2\sigma^2\ln(1/q)$ |
# | **Jump** | where a batch exists that only she explains: $k<m$ |
# | **Never** | a normal distribution for a mixture; an $\varepsilon$ computed from one's own data |
#
# ## 13 Further reading
#
# * Wang, Balle & Kasiviswanathan (2019), *Subsampled Rényi differential privacy and analytical moments accountant*: Theorem 9, its lower bound, and the picture with both cases.
# * Mironov, Talwar & Zhang (2019), *Rényi differential privacy of the sampled Gaussian mechanism*: why removing is worse than adding.
# * Nissim, Raskhodnikova & Smith (2007), *Smooth sensitivity and sampling in private data analysis*: how a loss that depends on the data may be used after all.
# * Papernot et al. (2018), *Scalable private learning with PATE*: where that is done with votes.
#
# <details><summary>In the formula book</summary>
#
# * [Theorem 9](explorer:formula_book?id=G-E6), [normal distributions for a mixture](explorer:formula_book?id=G-E12&misprint=normal), [the good case is not always far below](explorer:formula_book?id=G-E12&misprint=far-below), [the variance of a subset](explorer:formula_book?id=G-E12b&misprint=with-replacement), [the worst data](explorer:formula_book?id=G-E12c&misprint=one-pass), [the binomial expansion](explorer:formula_book?id=G-E4b&misprint=no-mean).
#
# </details>
#
# The last cell re-examines what this appendix claimed.

# %%
# Checks
assert second.refuted and variance.refuted
assert np.isclose(exact[1], 12.325, atol=1e-3) and printed[-1] == np.inf and np.isfinite(exact[-1])
assert exact[1] > 1e5 * printed[1] and np.isclose(largest, full[1] - full[0], rtol=1e-4)
assert gap > 9e8 and np.all(worst <= np.array(ceiling)) and worst[-1] > 0.999 * ceiling[-1]
assert divergence([256], 0.5, *digits_data, 20)[0] < 3 < divergence([256], 0.5, *digits_data, 12)[0]
assert 0.97 < good / bad < 1 and ours < all_data / 1000
print("all checks passed")
