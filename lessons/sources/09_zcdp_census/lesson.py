# %% [markdown]
# # 09 zCDP and the Census
#
# *A country is counted once in ten years. How do you spend its privacy?*
#
# In this excursion we leave the school, and no later lesson needs it. Ida is 93, lives on an island, and is the only one in her block above 85. The census will publish how many people of each age group live in every block, every county, every state, and in the country. Ida is counted in all four tables. Each gets noise, and all of them share *one* **privacy budget** (隐私预算) for her.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. keep the account of many releases in one number, $\rho$, and convert it into $(\varepsilon,\delta)$ in three ways;
# 2. divide a budget over the levels of a census, and win accuracy back by least squares, at no cost in privacy;
# 3. (at home) say why an office adds whole-number noise, and what that changes in the account.
#
# * **Time** NN minutes in class; what comes after section 8 is for the evening.
# * **You need** lesson 03 (Gaussian noise), lesson 04 (composition), lesson 05 (Rényi divergence, best order); at home also lesson 06 (sampling).
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=0.442&delta=1e-10&steps=100&here=1), if you have started it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `rho` | $\rho$ | the budget: slope of a line above the Rényi curve | nats |
# | `noise_multiplier` | $\sigma$ | noise / sensitivity | none |
# | `order` | $\alpha$ | order of a Rényi divergence | none |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee | nats, probability |
# | `share` | $s$ | part of the budget that a level gets | none |
# | `steps` | $k$ | number of releases | none |
# | `loss` | $L$ | privacy loss $\ln p(x)/q(x)$ of an output $x$ | nats |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One idea carries the hour: $\rho$ adds up; convert it into $\varepsilon$ once, at the end.
#
# | minutes | part | do |
# |---|---|---|
# | 7 | 0 The first screen | follow Ida through the four tables; everybody types one expression, then a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; section 6 decides it |
# | 4 | 3 A small experiment | run it; ask what the two columns have in common |
# | 4 | 4 The statement | the card of rules; three conversions |
# | 6 | 5 An exercise | with pencil |
# | 6 | 6 The redistricting file of 2020 | a detective story: let the class find the rounding |
# | 7 | 7 Spend it | the error of a county first, a second guess, then the picture of the share |
# | 2 | 8 Where this breaks | one limit of the class's choice |
# | – | 9 to 12 | at home |

# %% tags=["hide-input"]
from dplearn.teaching.classroom import check, pictures, predict, reveal

draw = pictures("09")
draw.tables()

# %% [markdown]
# **★ 9.1** *(In class, 2 minutes.)* By lesson 05, Gaussian noise of multiplier $\sigma$ has the divergence $\alpha/(2\sigma^2)$: a line in $\alpha$. Its slope $\rho$ is the price of the table. Replace `...` by the price of one table, and run the cell; the function adds up the prices of all tables.


# %%
def total_rho(multipliers):
    return sum(... for sigma in multipliers)


check("9.1", total_rho)

# %% [markdown]
# <details><summary>Solution of 9.1</summary>
#
# ```python
# def total_rho(multipliers):
#     return sum(1 / (2 * sigma**2) for sigma in multipliers)
#
#
# check("9.1", total_rho)
# ```
#
# The slope of $\alpha/(2\sigma^2)$ is $1/(2\sigma^2)$, and divergences add at every order.
#
# </details>

# %% [markdown]
# The next picture shows the prices that the function gives to Ida's four tables, with these noise multipliers:

# %%
noise = {"country": 4.0, "state": 4.0, "county": 2.0, "block": 2.0}
draw.prices(total_rho, noise)

# %% [markdown]
# Suppose the office publishes blocks only: each block's number has noise of standard deviation 1. A county is the sum of its 16 blocks. How far off is the number of the county, typically? Write your guess in place of `None`, and run the cell.

# %%
predict("error of a county", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons prepare what follows.
#
# **1** 05.4
#
# **2** 04.3
#
# **3** 03.2

# %%
answers = ""  # three letters, such as "bca"
check("9.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The United States census of 2020 printed, for its redistricting file, $\varepsilon=17.14$ for the table of persons and 2.47 for that of housing units, both at $\delta=10^{-10}$. Both count somebody who lives alone. What do the two tables together promise such a person?
#
# <details><summary>a. ε = 19.61, the sum, and nothing better can be proved.</summary>
#
# No. The sum is a valid bound, and a poor one: 17.44 can be proved (section 6).
#
# </details>
#
# <details><summary>b. ε = 17.14, the larger one.</summary>
#
# No. The second table tells something about this person, too.
#
# </details>
#
# <details><summary>c. A little more than 17.14, if we add before we convert.</summary>
#
# Right. What adds up is ρ, and 2.56 and 0.07 make hardly more than 2.56.
#
# </details>

# %%
vote = ""  # one letter
check("9.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 A small experiment
#
# Ida's count is larger by 1 because of her. We publish it a million times at each noise level, and look at the privacy losses, which are $L=(2x-1)/(2\sigma^2)$ by lesson 03: their mean, and half of their variance.

# %%
import numpy as np

from dplearn.mechanisms import Gaussian

rng, losses = np.random.default_rng(6), {}
for level, sigma in noise.items():
    released = Gaussian(sigma).release(np.ones(1_000_000), sensitivity=1, rng=rng)
    losses[level] = (2 * released - 1) / (2 * sigma**2)
losses["all four"] = sum(losses.values())
for level, loss in losses.items():
    print(f"{level:<9} mean loss {loss.mean():.3f}, variance / 2 {loss.var() / 2:.3f}")

# %% [markdown]
# The two columns agree with each other and with your prices, and the last line is the sum of those above it: $\frac1{32}+\frac1{32}+\frac18+\frac18=\frac5{16}$. Gaussian noise has a normal loss with mean $\rho$ and variance $2\rho$, and there is nothing else to know.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask: "If I halve the noise in the block table, what happens to its cost?" Most say it doubles. It becomes four times as large: the cost goes with the square.

# %% [markdown]
# *To here NN minutes.*
#
# ## 4 The statement
#
# > **Definition.** A mechanism is **$\rho$-zCDP** (**zero-concentrated differential privacy**, 零集中差分隐私) if $D_\alpha(M(d)\Vert M(d'))\le\rho\,\alpha$ for *all* $\alpha>1$ and all neighbours, in both orders. (Bun & Steinke 2016.)
#
# **The rules**, from the same paper:
#
# | | |
# |---|---|
# | Gaussian noise of standard deviation $\sigma\Delta$ | $\rho=\frac{1}{2\sigma^2}$, exactly |
# | any $\varepsilon$-DP mechanism | $\rho=\frac{\varepsilon^2}{2}$ is enough |
# | several releases, each may look at the earlier ones | $\rho_1+\rho_2+\dots$ |
# | post-processing (后处理) | costs nothing |
# | a group of $k$ people | $k^2\rho$ |
# | convert into $(\varepsilon,\delta)$ | $\varepsilon=\rho+2\sqrt{\rho\ln(1/\delta)}$ |
#
# <details><summary>Why</summary>
#
# Composition: divergences add at every order (lesson 05), so the slopes of the lines above them add. The conversion (转换): order $\alpha$ gives $\rho\alpha+\frac{\ln(1/\delta)}{\alpha-1}$, and the best order is $1+\sqrt{\ln(1/\delta)/\rho}$, as for Gaussian noise in lesson 05. Groups: two people move a count twice as far, and the cost goes with the square.
#
# </details>
#
# The last rule is the *simple* conversion. Canonne, Kamath & Steinke (2020) *improved* it at each order,
# $$\varepsilon=\min_{\alpha>1}\Big\{\rho\alpha+\ln\frac{\alpha-1}{\alpha}-\frac{\ln\delta+\ln\alpha}{\alpha-1}\Big\}.$$
# If all noise is Gaussian, the releases together reveal at most as much as *one* release with $\sigma=1/\sqrt{2\rho}$, whose *exact* profile lesson 03 has.


# %%
from dplearn.teaching.book import zcdp_to_epsilon as improved
from dplearn.teaching.book import zcdp_to_epsilon_bun_steinke as simple


def exact(rho, delta):
    return float(Gaussian(1 / np.sqrt(2 * rho)).profiles()[0].epsilon(delta))


print("rho at delta 1e-10     simple   improved    exact (Gaussian noise)")
for rho in (0.07, 5 / 16, 2.56):
    both = f"{simple(rho, delta=1e-10):9.4f}  {improved(rho, delta=1e-10):9.4f}"
    print(f"{rho:<20}{both}{exact(rho, 1e-10):9.4f}")

# %% [markdown]
# The first two columns are upper bounds, the third is exact.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let the class compute the first row by hand: $0.07+2\sqrt{0.07\ln10^{10}}$. The usual mistakes are the lost 2 and the lost root; the formula book refutes both.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 An exercise
#
# **★ 9.2** *(In class, 5 minutes.)* Three tables have Gaussian noise of multipliers 4, 4 and 8, and everybody is in all of them. Convert their total $\rho$ into $\varepsilon$ at $\delta=10^{-8}$, with the simple conversion.

# %%
answer = None
check("9.2", answer)

# %% [markdown]
# <details><summary>Solution of 9.2</summary>
#
# ```python
# rho = 1 / (2 * 4**2) + 1 / (2 * 4**2) + 1 / (2 * 8**2)
# answer = rho + 2 * np.sqrt(rho * np.log(1e8))
# check("9.2", answer)
# print(f"rho {rho:.4f}, epsilon {answer:.3f}")
# ```
#
# The total is $\rho=0.0703$, and $\varepsilon=2.346$. The table with multiplier 8 has twice the noise and a quarter of the cost.
#
# </details>
# %% [markdown]
# *To here NN minutes.*
#
# ## 6 The redistricting file of 2020
#
# Which conversion did the office use? Compare 17.14 (at $\rho=2.56$) and 2.47 (at 0.07) with the last and the first line of the table in section 4.
#
# Neither fits: the printed 17.14 is close to *improved* but below it, and the printed 2.47 lies between *simple* and *improved*. But $\rho=0.07$ has one significant digit, so its true value may lie anywhere from 0.065 to 0.075. Which $\rho$ would give the printed $\varepsilon$?

# %%
from scipy.optimize import brentq

rates = {"simple": simple, "improved": improved, "exact": exact}
for name, rate in rates.items():
    shortfall = lambda rho, told, rate=rate: float(rate(rho, delta=1e-10)) - told
    needed = [brentq(shortfall, 0.01, 10, args=(told,)) for told in (17.14, 2.47)]
    print(f"{name:<9} rho {needed[0]:.4f} for 17.14, {needed[1]:.4f} for 2.47")

# %% [markdown]
# Only one line rounds to 2.56 and 0.07: the improved conversion. The office's released programs, which state noise scales, settle it. Neighbours *replace* one record: a person leaves one cell and enters another, so $\Delta=\sqrt2$ and $\rho=\frac{(\sqrt2)^2}{2\cdot\text{scale}^2}=\frac1{\text{scale}^2}$.

# %%
from fractions import Fraction

from dplearn.teaching.book.published import published

rows = {"persons": published()["P29c"], "housing units": published()["P29d"]}
scales = {what: Fraction(row["parameters"].split("=")[1]) for what, row in rows.items()}
budget = {what: float(1 / scale**2) for what, scale in scales.items()}
for what, rho in budget.items():
    print(f"{what}: scale {scales[what]}, rho {rho:.5f}", end=", ")
    print(f"improved {improved(rho, delta=1e-10):.4f}, exact {exact(rho, 1e-10):.4f}")
# %% [markdown]
# The improved conversion gives 17.14 and 2.47, once $\rho$ has all its digits. **Report $\rho$ with enough digits**, or report the noise. The next cell decides the vote.

# %%
together = sum(budget.values())
print(f"adding up:     epsilon {17.14 + 2.47:.2f} at delta 2e-10")
for delta in (2e-10, 1e-10):
    print(f"rho {together:.4f}:    epsilon {improved(together, delta=delta):.2f}", end=" ")
    print(f"at delta {delta:g}, exact if Gaussian {exact(together, delta):.2f}")
# %% [markdown]
# If we add the $\rho$'s and convert once, $\varepsilon$ is 17.44 instead of 19.61, and $\delta$ is half as large. Nothing about the noise has changed. **Convert once, at the end.**
#
# *To here NN minutes.*
#
# ## 7 Spend it
#
# The first guess was about an office that spends everything on the blocks:

# %%
reveal("error of a county", truth=4.0, others={"16 times": 16.0})
# %% [markdown]
# Independent errors partly cancel: variances add, so the error grows like the *square root* of the number of blocks. But a country of 512 blocks would still be off by 22.6, so we also publish the county itself. At each level Ida is in exactly one cell, so $\Delta=1$. Of a budget of $\rho=\frac12$ a level with share $s$ gets noise of variance $\frac1{2\rho s}=\frac1s$ in every cell.
#
# Now there are *two* numbers for the county, its own and the sum of its blocks. With half of the budget each, their errors are 1.41 and 5.66. Weighted by one over the variance, they combine into a better number, and the difference is spread evenly over the blocks. This is **least squares** (最小二乘法), and it only looks at numbers that are public already, so it costs no privacy. What is the error of the combined number?

# %%
predict("error with half each", None)

# %% [markdown]
# The first two lines compute the variance of each number, the next two what is left after the combination.


# %%
def errors(share, blocks=16, rho=0.5):
    county, block = 1 / (2 * rho * share), 1 / (2 * rho * (1 - share))
    combined = 1 / (1 / county + 1 / (blocks * block))
    adjusted = block * (1 - 1 / blocks) + combined / blocks**2
    return np.sqrt(combined), np.sqrt(adjusted)


county_error = errors(0.5)[0]
print(f"alone {np.sqrt(2):.3f} and {np.sqrt(32):.3f}, together {county_error:.4f}")
reveal("error with half each", truth=county_error, others={"county alone": np.sqrt(2)})
# %% [markdown]
# The picture has a pair of errors for each way to share the budget, and the county's own number before it is combined.

# %%
draw.shares(errors)

# %% [markdown]
# Near the middle, a tenth of the budget more or less moves each error by only about a tenth. The county never gets worse than 4, the error of the sum of its blocks.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask who should decide the share. (Not the mathematician: it is a choice between a mayor and a neighbourhood, and it was debated in public.)

# %% [markdown]
# *To here NN minutes.*
#
# ## 8 Where this breaks, and what it does not protect
#
# The guarantee assumes fresh noise in every table, and a bound on what one record changes at each level.
#
# * **$\rho$ cannot see sampling.** Section 9 shows how much that costs.
# * **It is about one record.** A household of five costs $25\rho$.
# * **2.56 is the budget of one product.** Further tables about the same people had budgets of their own, and the $\rho$'s add up.
# * **The account leaves out what is published exactly,** which in 2020 was the population of each state.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 9 At home
#
# ### Move the slider
#
# How much does the budget buy, and how much does the conversion waste? The slider moves the budget, for Gaussian noise. On the left is $\varepsilon$ itself, on the right how many times the exact value each conversion gives. The title has all three at $\delta=10^{-10}$: simple, improved, exact.

# %%
draw.budgets()

# %% [markdown]
# In [the explorer](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=2&delta=1e-10&steps=1000&here=4) you can spend the island's four tables, $\sigma=2$ each, and then a thousand more.
#
# ### The cost per order
#
# Noise that is not Gaussian has as its Rényi divergence $D_\alpha$ some curve. Divide it by $\alpha$: the *cost per order*. For Gaussian noise this is the constant $\rho$, and for other noise $\rho$ is the **highest point**.

# %%
from dplearn.mechanisms import PoissonSubsampled, RandomizedResponse

orders = np.geomspace(1.01, 1000, 120)
normal = Gaussian(1.0).rdp(orders) / orders
coin = RandomizedResponse(local_epsilon=1.0).rdp(orders, adjacency="replace_one") / orders
sampled = PoissonSubsampled(Gaussian(1.0), 0.01).rdp(orders) / orders
print("sampled, cost per order:", end=" ")
print(f"{sampled[0]:.2g} at order {orders[0]:g}, {sampled[-1]:.4f} at order {orders[-1]:g}")

# %% [markdown]
# The coin is randomised response with $\varepsilon = 1$. *Sampled* is Gaussian noise on a random hundredth of the people (lesson 06).

# %%
draw.cost_per_order(orders, normal, coin, sampled)

# %% [markdown]
# The coin never costs more than Gaussian noise with $\sigma=1$. Sampled noise costs almost nothing at small orders; then it climbs to the cost of noise without sampling. One number must cover the order with the highest cost. We take a thousand steps on a hundredth of the data:

# %%
from dplearn.accountants import ACCOUNTANTS

steps = PoissonSubsampled(Gaussian(1.0), 0.01)
for name in ("zcdp", "rdp"):
    print(ACCOUNTANTS[name]().epsilon(steps, delta=1e-5, steps=1000))
# %% [markdown]
# So $\rho$ cannot see sampling. A household of five at the budget of the census has this:

# %%
print(f"five people: rho {25 * 2.56:g}, exact epsilon {exact(25 * 2.56, 1e-10):.4g} at delta 1e-10")
# %% [markdown]
# Little is left of the promise. A mechanism that sometimes shows everything, a record with probability $\delta$ say, has no $\rho$ at all: its divergence is infinite at every order above 1 (lesson 05).
#
# ### Whole numbers
#
# The theorems are about real numbers. A computer has only some of them, and the numbers that it *can* print as noise around 1 are not those around 0, so that many releases betray Ida at once (Mironov 2012; lesson 14 attacks such a program). Counts are whole, so let the noise be whole: $P(Y=k)\propto e^{-k^2/2\sigma^2}$, the **discrete Gaussian** (离散高斯分布; Canonne, Kamath & Steinke 2020). Every whole number can be printed, with Ida or without, and it can be drawn with whole-number arithmetic alone. The census used it.

# %%
from dplearn.mechanisms import DiscreteGaussian

print("published counts of 1:", DiscreteGaussian(2.0).release(np.ones(12, int), rng=rng))
print("order            ", *(f"{order:8}" for order in (1.5, 2, 2.5, 3, 10)))
for mechanism in (Gaussian(0.5), DiscreteGaussian(0.5)):
    price = mechanism.rdp([1.5, 2, 2.5, 3, 10]) / [1.5, 2, 2.5, 3, 10]
    print(f"{mechanism.name:<17}", *(f"{p:8.5f}" for p in price))
# %% [markdown]
# The cost per order is the same at integer orders and a little lower between. So the same $\rho=\frac{\Delta^2}{2\sigma^2}$ is right, and the whole account stands. (`release` here is for teaching: it draws with floats, from a table.)
#
# ### "The discrete Gaussian has the same $(\varepsilon,\delta)$ as the continuous one"
#
# It has the same bell and the same $\rho$. Code that accounts for whole-number noise with the Gaussian profile rests on this sentence. Take $\sigma=1$ and $\varepsilon=1$, where Gaussian noise has $\delta(1)=0.1269$.
#
# The closed form counts tails; the enumeration takes the definition, $\sum_k \max(0, p_k-e\,q_k)$; the simulation averages $(1-e^{1-L})_+$ with $L=k+\frac12$ for noise $k$. *As printed* is the profile of Gaussian noise.

# %%
from dplearn.teaching.book import discrete_gaussian_delta
from dplearn.teaching.classroom import Evidence, estimate_delta

k = np.arange(-40, 41)
q = np.exp(-(k**2) / 2) / np.exp(-(k**2) / 2).sum()
p = np.roll(q, 1)
drawn = DiscreteGaussian(1.0).release(np.zeros(1_000_000, int), rng=rng)
whole = Evidence(
    "delta at epsilon = 1, whole-number noise with sigma = 1",
    closed=discrete_gaussian_delta(sigma=1.0, sensitivity=1, epsilon=1.0),
    exact=np.maximum(0, p - np.e * q).sum(),
    simulated=estimate_delta(1, drawn + 0.5),
    printed=float(Gaussian(1.0).profiles()[0].delta(1.0)),
    exact_by="enumeration",
)
print(whole)

# %% [markdown]
# The claim is refuted: the value is 0.1414, not 0.1269. The whole-number loss jumps in steps, so its profile is a polygon in $e^\varepsilon$ that crosses the smooth one again and again: larger here, smaller elsewhere. Here the printed claim is unsafe. Both distributions have the same $\rho$, but not the same profile ([in the book](explorer:formula_book?id=G-J2&misprint=continuous)).

# %%
print("epsilon      0.5        1      1.5        2")
for mechanism in (Gaussian(1.0), DiscreteGaussian(1.0)):
    profile = mechanism.profiles()[0].delta([0.5, 1, 1.5, 2])
    print(f"{mechanism.name[:8]:<8}", *(f"{d:8.4f}" for d in profile))
# %% [markdown]
# ### The whole island
#
# One country, 4 states, 32 counties, 512 blocks of about twenty people; four age groups. Row by row, the matrix $A$ says which blocks each published number adds up.

# %%
levels = {"country": 1, "state": 4, "county": 32, "block": 512}
people = rng.poisson([4, 11, 4, 1], size=(512, 4))
people[17, 3] = 1  # Ida, alone in the oldest group of her block
A = np.vstack([np.kron(np.eye(n), np.ones((1, 512 // n))) for n in levels.values()])
level_of = np.repeat(list(levels), list(levels.values()))
print(f"{people.sum()} people, {A.shape[1]} blocks, Ida in rows {np.flatnonzero(A[:, 17])}")

# %% [markdown]
# Given the noise variance of each row, least squares has a known covariance. Its diagonal is the typical error of each level *before* anything is published.


# %%
def typical_error(variance):
    fitted = A @ np.linalg.inv(A.T @ (A / variance[:, None])) @ A.T
    return np.array([np.sqrt(np.diag(fitted)[level_of == level][0]) for level in levels])


# %% [markdown]
# Equal shares mean $\sigma^2=4$, an error of 2, for every cell of every level as it is drawn. The picture compares them with everything for the blocks:

# %%
equal = typical_error(np.full(len(A), 4.0))
summed = np.sqrt(512 / np.array(list(levels.values())))
draw.island(equal, summed)

# %% [markdown]
# With equal shares the blocks are twice as bad as they could be, and the country more than ten times as good. The real census did not share equally. From the country down to the blocks, its program gives, for persons:

# %%
parts = np.array([104, 1440, 447, 687, 1256, 165])
names = ("country", "state", "county", "tract", "block group", "block")
print(", ".join(f"{n} {p:.1%}" for n, p in zip(names, parts / parts.sum(), strict=True)))

# %% [markdown]
# Blocks, the smallest areas, got one of the smallest shares: their numbers are meant to be added up, not to be believed one by one.

# %% [markdown]
# ### "The curves of zCDP and RDP touch: for $\alpha=20$ at $k\approx300$"
#
# A textbook (Near & Abuah, *Programming Differential Privacy*, chapter 8) plots the cost of $k$ releases with $\sigma=200$ twice: with one fixed order of RDP, a straight line in $k$, and with zCDP, a bent curve. It says that they touch, and this is right: zCDP *is* the best order for every $k$, so no line gets below it. (The Chinese edition says that they *cross*, which cannot be.) It also says where: for $\alpha=20$ at roughly $k=300$.


# %%
from dplearn.teaching.book import touching_steps


def line(order, k, sigma=200, delta=1e-5):
    return k * order / (2 * sigma**2) + np.log(1 / delta) / (order - 1)


step = 1 / (2 * 200**2)
meets = {a: touching_steps(order=a, rho=step, delta=1e-5) for a in (20, 60)}
print("order  meets at k  line there  zCDP there  line at 300  zCDP at 300")
for a, k in meets.items():
    there = line(a, k), simple(step * k, delta=1e-5)
    print(f"{a:5} {k:11.3f} {there[0]:11.5f} {there[1]:11.5f}", end="")
    print(f"{line(a, 300):13.5f} {simple(step * 300, delta=1e-5):12.5f}")

# %% [markdown]
# They touch, and before and after the line lies above. For order 20 this happens at $k=\frac{\ln(1/\delta)}{\rho(\alpha-1)^2}\approx2551$. The 300 in the text belongs, roughly, to the order 60 that its program uses, which touches at 265. One number in a sentence is wrong, and no promise is broken ([in the book](explorer:formula_book?id=G-D3d&misprint=three-hundred)).
#
# One order is never better than the bent line, and touches it once. The best order for each $k$, taken anew, *is* the bent line.
#
# ### "zCDP is stronger than RDP, so its $\varepsilon$ is smaller"
#
# As a *requirement* zCDP is stronger, since it holds at all orders at once. As a *description* it is coarser, since it keeps one slope of the whole curve. Here are a hundred releases with Laplace noise, $\varepsilon=1$ each. The first line takes $\rho=\frac{\varepsilon^2}2$ from the rules. The accountant `zcdp` takes the smallest $\rho$ of Laplace noise, $\varepsilon+e^{-\varepsilon}-1$ ([in the book](explorer:formula_book?id=G-C10b&misprint=half-square)); a coin that lies has [another](explorer:formula_book?id=G-C10c&misprint=two-answers):

# %%
from dplearn.mechanisms import Laplace

print(f"rho 0.5 each: epsilon {improved(100 * 0.5, delta=1e-5):.2f}")
for name in ("zcdp", "rdp", "pld"):
    print(ACCOUNTANTS[name]().epsilon(Laplace(1.0), delta=1e-5, steps=100))

# %% [markdown]
# The conversion is the same in the first three lines. The step from 96.04 to 76.13 is what $\frac{\varepsilon^2}2$ wastes on Laplace noise. The step from there to 70.78 is lost by keeping one slope instead of the curve. For Gaussian noise, where the curve *is* a line, the first three agree, and the exact profile is still smaller. The sentence is false as printed; its error is on the safe side.
#
# ### Noise for a budget
#
# $\rho=\Delta^2/2\sigma^2$ read backwards is $\sigma=\Delta/\sqrt{2\rho}$. Printed as $\sigma^2=\Delta^2/2\rho$ it is right, and [a trap](explorer:formula_book?id=G-B19b&misprint=variance) for whoever reads $\sigma$. The book has the conversion [without the 2](explorer:formula_book?id=G-D3&misprint=one-root), as [the root alone](explorer:formula_book?id=G-D3&misprint=root-alone) and as [sublinear](explorer:formula_book?id=G-D3&misprint=sublinear), the improved [conversion](explorer:formula_book?id=G-D3b&misprint=tight), [the best over orders](explorer:formula_book?id=G-D3c&misprint=orders-to-100), [pure DP as zCDP](explorer:formula_book?id=G-C10&misprint=tight), [with the smallest $\rho$](explorer:formula_book?id=G-C10d&misprint=discrete-laplace), [its δ](explorer:formula_book?id=G-D3e&misprint=two-for-four), [k releases](explorer:formula_book?id=G-D3f&misprint=k-outside-only) and [with Gaussian noise](explorer:formula_book?id=G-B19d&misprint=square-of-k), [every Rényi order](explorer:formula_book?id=G-D3g&misprint=no-order) and [what one gives](explorer:formula_book?id=G-D3h), [from Gaussian DP](explorer:formula_book?id=G-D6b&misprint=no-half).

# %%
for name, sigma in (("root", 1 / np.sqrt(2 * 2.0)), ("variance taken for it", 1 / (2 * 2.0))):
    print(f"{name:<22} noise {sigma:.4f}, rho {Gaussian(sigma).zcdp():.4g} for a budget of 2")

# %% [markdown]
# The same textbook has two functions that do it for a list of numbers, `gaussian_mech_RDP_vec` and `gaussian_mech_zCDP_vec`. We write them from their description, and read the noise off a long list:


# %%
def gaussian_mech_RDP_vec(values, sensitivity, alpha, epsilon_bar):
    return values + rng.normal(0, sensitivity * np.sqrt(alpha / (2 * epsilon_bar)), len(values))


def gaussian_mech_zCDP_vec(values, sensitivity, rho):
    return values + rng.normal(0, sensitivity / np.sqrt(2 * rho), len(values))


zeros = np.zeros(400_000)
by_rdp = gaussian_mech_RDP_vec(zeros, 3.0, 5.0, 0.1).std()
by_zcdp = gaussian_mech_zCDP_vec(zeros, 3.0, 0.02).std()
print("one person moves    D_5, asked for 0.1    rho, asked for 0.02")
for moved, name in ((3.0, "one number by 3"), (6.0, "4 numbers by 3")):
    print(f"{name:<16} {Gaussian(by_rdp / moved).rdp(5.0)[0]:12.3f}", end="")
    print(f" {Gaussian(by_zcdp / moved).zcdp():22.4f}")

# %% [markdown]
# Both are right where `sensitivity` is the Euclidean length of the whole change. Both are wrong where it is the largest change of one number: four numbers that all move by 3 are a change of length 6, and the cost is four times the budget. The name of the argument does not say which is meant.
#
# ### The same promise with less noise
#
# Does RDP add less noise for the same loss? A hundred Gaussian releases must keep $\varepsilon=1$ at $\delta=10^{-5}$. How much noise does each way of adding up ask for?

# %%
from dplearn.calibrate import smallest_noise_multiplier

classical = np.sqrt(2 * np.log(1.25 * 100 / 1e-5)) * 100  # one hundredth of ε and of δ each
needed = {"classical noise, basic composition": classical}
for name in ("advanced", "optimal", "zcdp", "pld"):
    found = smallest_noise_multiplier(Gaussian(1.0), name, epsilon=1.0, delta=1e-5, steps=100)
    needed[name] = found.value
rho = brentq(lambda r: simple(r, delta=1e-5) - 1, 1e-6, 1)
needed["zcdp, simple conversion"] = np.sqrt(100 / (2 * rho))
for name, sigma in sorted(needed.items(), key=lambda item: -item[1]):
    print(f"{name:<36} sigma {sigma:7.2f}")

# %% [markdown]
# The step from 198 to 49 is real: whoever adds Rényi divergences needs a quarter of the noise that advanced composition needs. The last step, from 40.45 to 37.31, is what even the sharper conversion of the Rényi curve loses.

# %% [markdown]
# ### Two more exercises
#
# **★★★ 9.3** Each release has Gaussian noise with multiplier 20, and the promise is $\varepsilon\le2$ at $\delta=10^{-6}$. With the simple conversion 54 releases are allowed. How many does the *exact* profile allow?

# %%
answer = None
check("9.3", answer)

# %% [markdown]
# <details><summary>Solution of 9.3</summary>
#
# ```python
# k = np.arange(1, 200)
# spent = np.array([exact(steps / (2 * 20**2), 1e-6) for steps in k])
# answer = k[spent <= 2][-1]
# check("9.3", answer)
# rho = k / (2 * 20**2)
# print("simple", k[simple(rho, delta=1e-6) <= 2][-1], "improved", k[improved(rho, delta=1e-6) <= 2][-1])
# ```
#
# It allows eighty, half as many again as the 54 of the simple conversion; the improved one allows 70. The noise is the same in all three.
#
# </details>

# %% [markdown]
# **★★ 9.4** A queue of releases with Gaussian noise waits; `multipliers` are their noise multipliers, in order. Write the filter: how many may be answered, from the front, before one would break the budget `rho`? The queue ends there. Spending exactly `rho` is allowed.


# %%
def affordable(multipliers, rho):
    # Write your code here.
    return None


check("9.4", affordable)

# %% [markdown]
# <details><summary>Solution of 9.4</summary>
#
# ```python
# def affordable(multipliers, rho):
#     spent = 0
#     for count, sigma in enumerate(multipliers):
#         spent += 1 / (2 * sigma**2)
#         if spent > rho * (1 + 1e-9):
#             return count
#     return len(multipliers)
#
#
# check("9.4", affordable)
# ```
#
# A release costs $\rho=\frac1{2\sigma^2}$, known before it is answered. The tolerance is for sums of floats that should meet the budget exactly.
#
# </details>

# %% [markdown]
# ## 10 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** You double the noise in a table. What happens to its ρ?
#
# <details><summary>a. It falls to a quarter.</summary>
#
# Right. The price is $\rho=1/(2\sigma^2)$, so the last bit of accuracy is always the expensive one.
#
# </details>
#
# <details><summary>b. It falls to a half.</summary>
#
# No. That is ε of one Laplace release; ρ has the square of the noise.
#
# </details>
#
# <details><summary>c. It doubles.</summary>
#
# No. With more noise there is less loss.
#
# </details>
#
# **2** "Making the tables consistent uses the data again, so it costs budget." True?
#
# <details><summary>a. Yes, as much as one more table.</summary>
#
# No. It opens no true count, so there is nothing to pay for.
#
# </details>
#
# <details><summary>b. Yes, but only a little.</summary>
#
# No. Afterwards is free, however much is computed.
#
# </details>
#
# <details><summary>c. No: it sees only numbers that are already noisy.</summary>
#
# Right. Least squares sees only noisy numbers that are already paid for. It would cost if it looked at the true counts, for instance to decide which table to trust.
#
# </details>
#
# **3** "Laplace noise with ε = 1 and Gaussian noise with σ = 1 both have ρ ≤ 1/2, so they protect equally." True?
#
# <details><summary>a. Yes: equal ρ is equal protection.</summary>
#
# No. Equal bounds on ρ hide that one loss is bounded and the other is not.
#
# </details>
#
# <details><summary>b. No: they have one bound in common, and only the Laplace mechanism has ε = 1 with δ = 0.</summary>
#
# Right. They obey the same bound, but the Laplace mechanism still keeps $\varepsilon=1$ with $\delta=0$; converted into $\rho$ and back, that knowledge is lost.
#
# </details>
#
# <details><summary>c. No: Gaussian noise protects better at every ε.</summary>
#
# No. It may have losses above 1, which Laplace noise with ε = 1 never has.
#
# </details>
#
# **4** Two agencies publish about the same people, with ρ = 1 and ρ = 2. Each announces its ε. What do you ask for?
#
# <details><summary>a. For the larger ε.</summary>
#
# No. The other publication costs as well.
#
# </details>
#
# <details><summary>b. For the ρ of each, or the noise, to add and convert once.</summary>
#
# Right. Together they have $\rho=3$, which you convert once. Two pairs $(\varepsilon,\delta)$ compose to hardly less than their sums (lesson 04).
#
# </details>
#
# <details><summary>c. For a common δ.</summary>
#
# No. Then you could add the ε, which is almost the most expensive way.
#
# </details>
#
# **5** Why is 16.48 not simply "the" ε of the census?
#
# <details><summary>a. It is for another noise, a rounded ρ, and one product of several.</summary>
#
# Right. It is exact for Gaussian noise with $\rho=2.56$, a rounded $\rho$. The census used whole-number noise, whose profile is another one, and many tables. For those the improved conversion is a proved upper bound. Moreover 2.56 is the budget of the redistricting file alone: later products about the same people have budgets of their own.
#
# </details>
#
# <details><summary>b. The census does not publish its noise.</summary>
#
# No. It publishes the noise, and its programs as well.
#
# </details>
#
# <details><summary>c. δ was chosen too small.</summary>
#
# No. Every δ gives its own true ε; the question is of what.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("9.test", answers)

# %% [markdown]
# ## 11 On one card
#
# | | |
# |---|---|
# | **zCDP** | $D_\alpha\le\rho\alpha$ at all orders: one slope instead of a curve |
# | **Prices** | Gaussian noise $\frac1{2\sigma^2}$; pure DP $\frac{\varepsilon^2}2$; groups $k^2\rho$; releases add |
# | **Convert once** | $\rho+2\sqrt{\rho\ln(1/\delta)}$; `zcdp_to_epsilon` is sharper; for Gaussian noise use the profile |
# | **Spend it** | share $s$ of $\rho$: variance $\frac{\Delta^2}{2\rho s}$; then least squares, at no cost |
# | **Whole numbers** | same $\rho$, no holes, *not* the same profile |
# | **Always say** | $\rho$ with its digits, $\delta$, adjacency, which conversion |
#
# ## 12 Further reading
#
# * Bun & Steinke (2016), *Concentrated differential privacy*: definition, rules, and the simple conversion.
# * Canonne, Kamath & Steinke (2020), *The discrete Gaussian for differential privacy*: whole-number noise, how to draw it exactly, and the improved conversion.
# * Abowd et al. (2022), *The 2020 Census Disclosure Avoidance System TopDown Algorithm*: how the budget was really spent.
# * U.S. Census Bureau, [the released program](https://github.com/uscensusbureau/DAS_2020_Redistricting_Production_Code): the scale in its configuration for persons, the improved conversion in `curve.py`.
# * Mironov (2012), *On significance of the least significant bits for differential privacy*: the holes, and how to close them.
# * Jin et al. (2022), *Are we there yet? Timing and floating-point attacks on differential privacy systems*: the same for Gaussian noise.
# * Hay et al. (2010), *Boosting the accuracy of differentially private histograms through consistency*: least squares on a tree. The same tree over *time*, one record in each leaf, publishes all running sums of $n$ steps (DP-FTRL), and costs $\lceil\log_2(n+1)\rceil$ levels: [in the book](explorer:formula_book?id=G-F10), [with Laplace noise](explorer:formula_book?id=G-F10b&misprint=no-plus-one).
#
# **Next** [lesson 10](10_dpsgd.ipynb): back to the school, which trains a network.
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
total_price = sum(1 / (2 * sigma**2) for sigma in noise.values())
four_tables = float(Gaussian(1 / np.sqrt(2 * total_price)).profiles()[0].delta(1.0))
assert whole.refuted and four_tables in estimate_delta(1, losses["all four"])
y = rng.normal(0, np.sqrt(2), (17, 100_000))  # a county and its blocks, half of the budget each
county = np.vstack([np.ones((1, 16)), np.eye(16)])
fitted = county @ np.linalg.lstsq(county, y, rcond=None)[0]
assert np.isclose(county_error, fitted[0].std(), rtol=0.01)
assert [f"{improved(rho, delta=1e-10):.2f}" for rho in budget.values()] == ["17.14", "2.47"]
assert exact(2.56, 1e-10) < 17.14 < simple(2.56, delta=1e-10)
many = np.linspace(1, 4000, 120)
assert np.all(line(20, many) >= simple(step * many, delta=1e-5) - 1e-12)
assert np.isclose(
    min(line(a, 500) for a in np.geomspace(1.5, 500, 400)),
    simple(step * 500, delta=1e-5),
    rtol=1e-3,
)
assert np.isclose(by_rdp, 15, rtol=0.01) and np.isclose(by_zcdp, 15, rtol=0.01)
assert np.all(equal < 2) and equal[0] < summed[0]
print("all checks passed")
