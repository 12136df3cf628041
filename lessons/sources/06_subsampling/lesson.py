# %% [markdown]
# # 06 Amplification by subsampling
#
# *If nobody knows whether you took part, how much is that worth?*
#
# The schools of a country collect one drawn digit from each of 60,000 pupils, Anna among them, and train a network for ten thousand steps. **This run stays with us until lesson 11.** No step uses everybody: about one record in a hundred is drawn into its batch, and nobody outside learns which. The picture shows four ways to draw batches, and we begin with the coins.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. say why a secret sample protects, and turn a guarantee $(\varepsilon,\delta)$ into that of the sampled release, and back;
# 2. compute the Rényi divergence of a sampled step, and tell up to which order sampling helps much;
# 3. tell which theorem belongs to which batches: coins, fixed size, shuffled; and what it costs to confuse them.
#
# * **Time** NN minutes in class, and as much at home; the computer needs some seconds.
# * **You need** lessons 02 (privacy loss, $\delta(\varepsilon)$ as an area), 03 (Gaussian noise), 04 (composition) and 05 (Rényi divergence).
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=0.5&rate_from=rate&sample_rate=0.0001&delta=1e-6&adjacency=zero_out&steps=100000&here=10000), if you have started it. Nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `rate` | $q$ | probability that a record is in the batch | probability |
# | `noise_multiplier` | $\sigma$ | noise / largest length $C$ of one contribution | none |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | guarantee for a record that is surely in the batch | nats, probability |
# | `amplified` | $\varepsilon'$, $\delta'$ | guarantee when the batch is secret | nats, probability |
# | `density(0)`, `(1)`, `(rate)` | $f_0$, $f_1$, $f_q$ | distribution of the published number: without Anna; with her in the batch; with her in it by chance | none |
# | `loss` | $L$ | privacy loss of an output, here $\ln f_q/f_0$ | nats |
# | `order` | $\alpha$ | order of a Rényi divergence $D_\alpha$ | none |
# | `batches` | $B$ | batches of one epoch | none |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One idea carries the hour: sampling averages *probabilities*, so it shrinks $e^L-1$, not $L$; everything else is a consequence or a broken hypothesis.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | who in this room is in the batch? Everybody types one condition, then a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again |
# | 3 | 3 A small experiment | let them find the rule in the last two columns |
# | 3 | 4 The loss bends | draw the bent curve on the board and leave it there |
# | 6 | 5 The statement | the three-line proof by a student; then the guess |
# | 6 | 6 An exercise | 6.2, alone |
# | 4 | 7 High orders | the jump at order 10 |
# | 7 | 8 The empty seat | with twelve students as records |
# | 1 | 9 Where this breaks | the first bullet aloud |
# | – | 10 to 13 | homework |

# %% tags=["hide-input"]
import numpy as np
from scipy.integrate import quad
from scipy.special import comb

from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import check, pictures, predict, reveal

figures = pictures("06")
figures.four_ways()

# %% [markdown]
# **★ 6.1** *(In class, 2 minutes.)* Write the first way: every record has a coin of its own, which says yes with probability $q$. Each `rng.random()` is a new number between 0 and 1. Replace `...` by a condition, so that the list holds the records whose coin says yes.


# %%
def draw(n, q, rng):
    return [record for record in range(n) if ...]


check("6.1", draw)

# %% [markdown]
# <details><summary>Solution of 6.1</summary>
#
# ```python
# def draw(n, q, rng):
#     return [record for record in range(n) if rng.random() < q]
#
#
# check("6.1", draw)
# ```
#
# The check draws 4000 samples from your function and looks at their sizes, and at whether one record tells something about another. With one independent coin for each record the size varies, nobody comes twice, and nobody comes first.
#
# </details>

# %% [markdown]
# The next picture shows the sizes of a thousand batches that this function draws from 1,000 records with $q=0.1$.

# %%
figures.batch_sizes(draw)

# %% [markdown]
# Not knowing who is in the batch protects everybody and costs no accuracy: this is **amplification by subsampling** (子采样隐私放大). Suppose a release is $5$-DP for every record in its batch. We run it on one record in a hundred, drawn in secret. Which $\varepsilon$ holds now?

# %%
predict("epsilon of a sample", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Nearly everybody says 0.05, which is off by a factor of 18. Do not comment.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Answer three questions from earlier lessons.
#
# **1** 05.1
#
# **2** 02.1
#
# **3** 04.1

# %%
answers = ""  # three letters, such as "bca"
check("6.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# A run with little noise tosses coins: Anna is in one of its 10,000 steps on average, sometimes in two. Most programs toss no coins: with the same noise they *shuffle* (打乱) the records and cut them into 10,000 batches, so that everybody is used exactly once. In which of the two runs is Anna safer?
#
# <details><summary>a. In the shuffled batches: exactly once is safer than sometimes twice.</summary>
#
# No. How often she is used does not count here.
#
# </details>
#
# <details><summary>b. It is the same: one step in ten thousand, either way.</summary>
#
# No. The averages agree, and the guarantees are far apart.
#
# </details>
#
# <details><summary>c. With the coins: if she stays away, nothing shows it.</summary>
#
# Right. In a shuffled epoch her empty seat can be seen: section 8.
#
# </details>
#
# <details><summary>d. In the shuffled batches, if there are many: she hides among more of them.</summary>
#
# No. She hides hardly better than in a single batch.
#
# </details>

# %%
vote = ""  # one letter
check("6.vote", vote)

# %% [markdown]
# ## 3 A small experiment
#
# Anna contributes 1, the noise has standard deviation 1, and her coin has chance 0.1. We publish three versions many times: *without* her, with her *surely in* the batch, and with her in it by a coin that nobody sees.

# %%
draws, rate, rng = 1_000_000, 0.1, np.random.default_rng(7)
coin = rng.random(draws) < rate
without, surely, sampled = (
    Gaussian(noise_multiplier=1.0).release(value * np.ones(draws), sensitivity=1, rng=rng)
    for value in (0, 1, coin)
)

# %% [markdown]
# How much more likely does Anna make the events "the published number exceeds $t$"? Which simple rule leads from the first column of ratios to the second?

# %%
print("  t   without   surely in   ratio   by coin   ratio")
for t in (0, 1, 2, 3):
    q0, p1, p = (np.mean(numbers > t) for numbers in (without, surely, sampled))
    print(f"  {t}   {q0:7.4f}   {p1:9.4f}   {p1 / q0:5.2f}   {p:7.4f}   {p / q0:5.2f}")

# %% [markdown]
# The distance of each ratio from 1 shrinks to a **tenth**, up to chance. If an event has probability $b$ without her and $a$ with her surely in the batch,
#
# $$\frac{(1-q)\,b+q\,a}{b}=1+q\left(\frac ab-1\right).$$
#
# Sampling averages *probabilities*, and not losses, since a loss is a logarithm.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Someone will say "the ratio is divided by ten". Ask what happens then to a ratio of 1: it would become 0.1, and Anna's coin would make an event *less* likely than her absence. So it must be the distance from 1. Let the class say the formula before you show it.

# %% [markdown]
# ## 4 The loss bends
#
# The straight line is the loss $x-\frac12$ of a record that is surely in, from lesson 03. Sampling **bends** it to $\ln\!\big(1+q(e^{x-1/2}-1)\big)$.


# %%
def bent(loss, rate):
    return np.log1p(rate * np.expm1(loss))


def phi(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def density(rate, shift=1.0):
    return lambda x: (1 - rate) * phi(x) + rate * phi(x - shift)


# %% [markdown]
# The left panel shows distributions, the right one losses.

# %%
figures.bend(density, bent, rate)

# %% [markdown]
# * **Floor.** No output speaks *against* Anna by more than $\ln(1-q) = -0.1054$: she might not have been drawn.
# * **Middle.** A small loss shrinks to about $q$ times itself. Most outputs are here, where sampling is strong.
# * **Right.** If only Anna explains an output, the loss drops by $\ln(1/q) = 2.303$ and no further.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Leave this curve on the board. Section 7 is its right end, leaving and joining (at home) its left end. This picture and section 8 are the two things to keep.

# %% [markdown]
# ## 5 The statement
#
# > **Theorem.** Let a mechanism be $(\varepsilon,\delta)$-DP when a record is added or removed. Let every record enter the batch by its own coin of chance $q$ (*Poisson sampling*, 泊松采样), and let the batch stay secret. Then the mechanism run on the batch is $(\varepsilon',\delta')$-DP for the same neighbours, with
# >
# > $$\varepsilon'=\ln\!\big(1+q(e^{\varepsilon}-1)\big),\qquad\delta'=q\,\delta .$$
# >
# > For Gaussian noise, when a record is removed, this is an **equality** of profiles. (Li, Qardaji & Su 2012; Balle, Barthe & Gaboardi 2018.)
#
# *Why.* Fix the coins of all others. Without Anna the output has density $f_0$, with her $f_q=(1-q)f_0+qf_1$. Insert $e^{\varepsilon'}=1+q(e^\varepsilon-1)$:
#
# $$f_q-e^{\varepsilon'}f_0\;=\;(1-q)f_0+qf_1-f_0-q(e^\varepsilon-1)f_0\;=\;q\,\big(f_1-e^{\varepsilon}f_0\big).$$
#
# The area above $e^{\varepsilon'}f_0$ is exactly $q$ times as large. We compare the formula, the area, and the outputs of section 3:

# %%
from dplearn.teaching.classroom import estimate_delta


def area(p, q, epsilon):
    excess = lambda x: max(p(x) - np.exp(epsilon) * q(x), 0.0)
    return quad(excess, -12, 15, limit=400, epsabs=0, epsrel=1e-10)[0]


(known,) = Gaussian(noise_multiplier=1.0).profiles()
amplified, by_formula = bent(1.0, rate), rate * float(known.delta(1))
by_area = area(density(rate), density(0), amplified)
by_coins = estimate_delta(amplified, bent(sampled - 0.5, rate))
print(f"delta at {amplified:.4f}: {by_formula:.6g}, area {by_area:.6g}, simulated {by_coins}")
reveal("epsilon of a sample", truth=bent(5.0, 0.01), others={"q times epsilon": 0.05})

# %% [markdown]
# "Sampling multiplies $\varepsilon$ by $q$" errs on the **unsafe** side for every $q<1$: mildly for small $\varepsilon$, eighteen times at $\varepsilon=5$.
#
# *To here NN minutes.*

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Usual stumbling block: "why may we fix the others' coins?" Because they are independent of Anna's. Ask also which line of the proof uses that she is *absent without a trace* when her coin says no: the first, where the density is $f_0$ and not some third one.

# %% [markdown]
# ## 6 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell.
#
# **★ 6.2** *(In class, 5 minutes.)* A hospital's statistic is $2$-DP when a record is added or removed. It is computed on a secret Poisson sample with $q = 0.05$. What is the $\varepsilon'$ of the sampled statistic?

# %%
answer = None
check("6.2", answer)

# %% [markdown]
# <details><summary>Solution of 6.2</summary>
#
# ```python
# answer = np.log(1 + 0.05 * (np.exp(2) - 1))
# check("6.2", answer)
# ```
#
# A twentieth of $e^2-1$, which is about 6.4, plus 1 has the logarithm 0.2772. The tempting $0.05\cdot2$ is almost three times too small.
#
# </details>

# %% [markdown]
# ## 7 High orders
#
# Training is thousands of steps, so we ask for the Rényi divergence of one sampled step, which adds up. With $r=f_1/f_0$ and an *integer order* (整数阶) $\alpha$, the binomial theorem opens the power:
#
# $$e^{(\alpha-1)D_\alpha}=\mathbb E_{f_0}\big[(1-q+q\,r)^\alpha\big]=\sum_{k=0}^{\alpha}\binom\alpha k(1-q)^{\alpha-k}q^k\,e^{(k^2-k)/2\sigma^2},$$
#
# because $\mathbb E_{f_0}[r^k]=e^{(k^2-k)/2\sigma^2}$: lesson 05 at order $k$. (Mironov, Talwar & Zhang 2019.)


# %%
def divergence(order, sigma=1.0, rate=0.01):
    k = np.arange(order + 1)
    weights = comb(order, k) * (1 - rate) ** (order - k) * rate**k
    return np.log(np.sum(weights * np.exp((k**2 - k) / (2 * sigma**2)))) / (order - 1)


def small_rate(order, sigma=1.0, rate=0.01):
    return order * rate**2 * np.expm1(1 / sigma**2) / 2


# %% [markdown]
# If $q$ is small, only $k=2$ seems to matter: $D_\alpha\approx\frac12\,\alpha\,q^2\,(e^{1/\sigma^2}-1)$, the small-rate rule. A tenth of the rate then has a hundredth of the divergence. Up to which order does that hold for one record in a hundred?

# %%
figures.high_orders(divergence, small_rate)

# %% [markdown]
# Within two orders the last term of the sum takes over, a *phase transition* (Wang, Balle & Kasiviswanathan 2019), and
# $D_\alpha\ge\frac{\alpha}{2\sigma^2}-\frac{\alpha}{\alpha-1}\ln\frac1q$: the divergence *without* sampling, less about $\ln(1/q)$. High orders depend on large losses, the right end of the bent curve. The jump is at $\alpha^*=1+2\sigma^2\ln(1/q)$, which is order 148 for the schools' $\sigma=4$.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask: "the curve is a sum of smooth terms; where does a jump come from?" On the board: a logarithm of a sum is nearly its largest term, and the two candidates grow like $\alpha^2q^2$ and like $e^{\alpha^2/2}q^\alpha$. The formula for $\alpha^*$ needs no integral, only the last term set to 1.

# %% [markdown]
# *To here NN minutes.*
#
# ## 8 The empty seat
#
# The run of the vote has noise 0.5, and by coins $\varepsilon=1.953$ at $\delta=10^{-6}$. In neighbouring data Anna's record is *zeroed out*: it contributes 0 and her place remains. What is the $\varepsilon$ of one shuffled epoch of 10,000 batches?

# %%
predict("epsilon of a shuffled epoch", None)

# %% [markdown]
# Let all others contribute $-1$ and Anna $1$. The attacker sees the 10,000 published sums, recentres them, and looks at the **largest**. One batch is special: it has a number around 2 with Anna, and around 1 with her seat empty.

# %%
figures.empty_seat(area)

# %% [markdown]
# Is it because Anna is surely in one of the batches? In *random allocation*, or balls and bins, every record *throws itself* into one of the 10,000 batches, so she is surely in one, too.

# %%
from dplearn import ACCOUNTANTS
from dplearn.mechanisms import PoissonSubsampled, RandomAllocation, Shuffled

pld, at = ACCOUNTANTS["pld"](), {"delta": 1e-6, "adjacency": "zero_out"}
epoch, batches = Gaussian(0.5), 10_000
coins = pld.epsilon(PoissonSubsampled(epoch, 1e-4), steps=10_000, **at)
bins = pld.epsilon(RandomAllocation(epoch, batches), **at)
seats = pld.epsilon(Shuffled(epoch, batches), **at)
for name, found in (("coins", coins), ("balls and bins", bins), ("shuffled", seats)):
    print(f"{name:<15}", found)
others = {"coins": coins.epsilon, "balls and bins": bins.epsilon}
reveal("epsilon of a shuffled epoch", truth=seats.lower, kind="lower", others=others)
print(f"one single release {pld.epsilon(epoch, **at).epsilon:.4f}")

# %% [markdown]
# Balls and bins are as good as coins, so the cause is not her presence but her **seat**. Without Anna, coins and balls leave 10,000 batches of pure noise, and a very large sum could come from any of them. In the shuffled epoch every batch has a fixed number of seats. If hers is empty, that batch already stands out, at 1. Telling a number near 2 from one near 1 is like one Gaussian release without sampling, 10.9972.
#
# The proof in section 5 needs the density $f_0$ without her, and an empty seat is a trace.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Play it: 12 students are 12 records in 4 rows of 3 seats, everybody holds up one finger *down*, one volunteer one finger *up* or none. The attacker sees only the sum of each row. Then let everybody choose a row by lot, and repeat. With more noise nobody knows the exact value of a shuffled epoch; brackets are proved, and narrow ones if a record is left out: at home.

# %% [markdown]
# ## 9 Where this breaks
#
# * **The secret must be kept.** Anna's step is unsampled for everybody who sees a log of batch numbers, a stored seed or a loss curve per batch.
# * **Batches of coins vary in size.** Divide the noisy sum by a number fixed in advance, since the actual size depends on who is there.
# * **Sampling keeps few records out of a run.** In the vote's run 63 of 100 take part.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 10 At home
#
# ### Move the slider
#
# One step has noise 1, and we want $\delta\le10^{-3}$ at $\varepsilon=1$, the dotted line. The slider moves the chance $q$: on the left the loss bends, on the right the profile sinks. Before you move it, guess: if $q$ is halved, is $\delta(1)$ halved?

# %%
figures.every_rate(bent)

# %% [markdown]
# At a fixed $\varepsilon$, $\delta$ falls much faster than $q$. The area shrinks by $q$, and on top of that the bent curve reaches the height $\varepsilon$ only further right, where outputs are rarer. Here is a known step beside a secret one, at $\delta=10^{-5}$:

# %%
one = Gaussian(noise_multiplier=1.0)
ends = {"known": one, "secret, rate 0.1": PoissonSubsampled(one, 0.1)}
for name, step in ends.items():
    print(f"{name:<17} epsilon = {float(step.profiles()[0].epsilon(1e-5)):.4f}")

# %% [markdown]
# An equality can be read **backwards**. If the sampled step must be $(\varepsilon',\delta')$-DP, the unsampled one may be as bad as $\varepsilon=\ln\!\big(1+(e^{\varepsilon'}-1)/q\big)$ at $\delta'/q$. Exercise 6.3 is built on this. For the schools, coins are worth this much:

# %%
schools = {"delta": 1e-5, "steps": 10_000}
claimed = pld.epsilon(PoissonSubsampled(Gaussian(4.0), 0.01), **schools)
print("everybody in each step", pld.epsilon(Gaussian(4.0), **schools))
print("one in a hundred      ", claimed)

# %% [markdown]
# ### Leaving and joining
#
# The definition asks for both orders: from the data with Anna to the data without her, and back. Plain Gaussian noise has the same profile in both, but a sampled release has two different ones. In the second column Anna leaves ($f_q$ above $e^\varepsilon f_0$), in the third she joins ($f_0$ above $e^\varepsilon f_q$).

# %%
print("epsilon   leaves   joins")
for epsilon in (0, 0.05, 0.1, 0.106, 0.5):
    leaves = area(density(rate), density(0), epsilon)
    joins = area(density(0), density(rate), epsilon)
    print(f"{epsilon:7}   {leaves:.4f}   {joins:.3g}")

# %% [markdown]
# From 0.106 on nothing is left when she joins: $f_0/f_q$ never exceeds $1/(1-q)$, the floor 0.1054 of the picture. An account of this order alone gives a wonderful guarantee, and a [false one](explorer:formula_book?id=G-E9&misprint=added-only). For one step with Gaussian noise, leaving is the worse of the two, at every $\varepsilon\ge0$ (Zhu, Dong & Wang 2022) and at every Rényi order (Mironov, Talwar & Zhang 2019). For other mechanisms it [need not be](explorer:formula_book?id=G-E9&misprint=any-mechanism), so the library returns both profiles and takes the larger.

# %% [markdown]
# ### The sum of section 7
#
# We hold against it the integral of the definition and the losses of our experiment, at order 3, where a simulation can still follow; then the small-rate rule:

# %%
from dplearn.teaching.classroom import estimate

term = lambda x: np.exp(3 * bent(x - 0.5, rate) - x**2 / 2) / np.sqrt(2 * np.pi)
by_integral = np.log(quad(term, -12, 15, epsabs=0, limit=400)[0]) / 2
by_losses = estimate(np.exp(2 * bent(sampled - 0.5, rate))).map(lambda mean: np.log(mean) / 2)
print(f"order 3: {divergence(3, rate=rate):.6g}, integral {by_integral:.6g}, simulated {by_losses}")

# %% [markdown]
# ### "Sampling multiplies $\varepsilon$ by $q$"
#
# Abadi et al. (2016) write in section 3 that a step is $(O(q\varepsilon), q\delta)$-private, for $\varepsilon\le1$. A slip that students make is to lose the $O$ and the condition, or to make it "$\varepsilon'=o(q\varepsilon)$". How many times $q\varepsilon$ is the truth?

# %%
print("true / (q epsilon)   q = 0.01   q = 0.0001   limit for small q")
for epsilon in (0.1, 1.0, 5.0):
    small, tiny = (bent(epsilon, q) / (q * epsilon) for q in (1e-2, 1e-4))
    print(f"epsilon = {epsilon:<8}{small:11.4f}{tiny:13.4f}{np.expm1(epsilon) / epsilon:20.4f}")

# %% [markdown]
# The ratio is never below 1, and a smaller $q$ makes it worse. It tends to $(e^\varepsilon-1)/\varepsilon$, not to 0. Entries in the formula book: [$q\varepsilon$](explorer:formula_book?id=G-E1&misprint=linear), [little o](explorer:formula_book?id=G-E1&misprint=little-o).
#
# ### "Batches of a fixed size: account as for coins, with $q=m/n$"
#
# Lebeda et al. (2024) list this among the pitfalls of private training. Loaders like batches of exactly $m$ out of $n$ records, which is *sampling without replacement* (不放回采样). Nobody can just leave: where Anna was drawn, another record must be drawn. Neighbours are now datasets in which her record is **replaced**, and a clipped contribution may turn from $-C$ to $C$. That is a distance of $2C$, or *half the noise*. If all other records contribute $-1$ in every step, coins with half the noise are a proved lower bound. For the schools' run:

# %%
from dplearn.mechanisms import WithoutReplacement

halved = pld.epsilon(PoissonSubsampled(Gaussian(2.0), 0.01), **schools)
fixed = pld.epsilon(WithoutReplacement(Gaussian(4.0), 0.01), **schools, adjacency="replace_one")
for name, answer in (("as coins", claimed), ("half the noise", halved), ("fixed size", fixed)):
    print(f"{name:<15}", answer)

# %% [markdown]
# Reported 0.9469, true at least 2.162. The right theorem has the same formula, but **both** guarantees are for a replaced record, so the base must be taken at $2C$ (Balle, Barthe & Gaboardi 2018; [in the book](explorer:formula_book?id=G-E2&misprint=own-norm)).
#
# In one step the worst case is easy to build: one of ten records is drawn, and everybody contributes $-1$, except that Anna's record may contribute $1$. We publish the sum plus noise 1, and measure $\delta$ at the $\varepsilon'=0.1586$ that coins would give.

# %%
records = -np.ones(10)
records[0] = 1.0
drawn = rng.integers(10, size=draws)
numbers = Gaussian(1.0).release(records[drawn] + 1, sensitivity=1, rng=rng)

# %% [markdown]
# (The $+1$ recentres the sum. Without Anna's special record the number is pure noise, with it the loss is that of shift 2, bent.)

# %%
twice = rate * float(Gaussian(noise_multiplier=1.0).profiles("replace_one")[0].delta(1))
by_subsets = estimate_delta(amplified, bent(2 * numbers - 2, rate))
print(f"promised {by_formula:.6g}; with 2C {twice:.6g}, simulated {by_subsets}")

# %% [markdown]
# This is four times the promised $\delta$.
#
# The fixed size and the word "replace" share the blame. If coins draw and a contribution of $1$ is replaced by $-1$, the two densities are $f_q$ and its mirror image. No pair of neighbours leaks more ([in the book](explorer:formula_book?id=G-E1d&misprint=removed)). We add a run with noise 1, rate 0.01, a thousand steps and a replaced record.

# %%
both = area(density(rate), density(rate, shift=-1.0), amplified)
print(f"coins,      add or remove: delta = {by_formula:.6f}")
print(f"coins,      replace one:   delta = {both:.6f}")
print(f"fixed size, replace one:   delta = {twice:.6f}")
swapped = {"delta": 1e-5, "steps": 1000, "adjacency": "replace_one"}
for step in (PoissonSubsampled(Gaussian(1.0), 0.01), WithoutReplacement(Gaussian(1.0), 0.01)):
    print(f"{step.name:<19}", pld.epsilon(step, **swapped))

# %% [markdown]
# If a record is replaced, this run has $\varepsilon=2.84$ by coins, and between 13.36 and 14.83 with batches of fixed size. Less noise makes the difference larger still, here at noise 0.8, rate 0.001, ten thousand steps and $\delta=10^{-5}$:

# %%
weak = pld.epsilon(PoissonSubsampled(Gaussian(0.8), 0.001), **schools)
replaced = WithoutReplacement(Gaussian(0.8), 0.001)
print("accounted as coins", weak)
worse = pld.epsilon(replaced, **schools, adjacency="replace_one")
print("fixed size        ", worse)
for noise in (0.8, 0.4):
    print(f"noise {noise}: jump at order {1 + 2 * noise**2 * np.log(1000):.2f}")

# %% [markdown]
# Reported 0.7824, true at least 12.97 (Lebeda et al. 2024 found such pairs). Section 7 says why a factor of two can do that: half the noise moves the jump from order 9.84 down to 3.21, and the whole run falls off the cliff.

# %% [markdown]
# ### The largest of ten thousand sums
#
# Now the claim of section 8: "$\varepsilon = 1.953$ at $\delta=10^{-6}$, as for coins". The attacker cries "Anna!" if the largest sum exceeds the threshold where the two curves on the right have the ratio $e^\varepsilon$. What he gains is the area between the density with her and $e^{\varepsilon}$ times the one without. We compute it in closed form, by quadrature from the density `largest` in the file of the pictures, and from a million shuffled epochs.

# %%
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

here, sigma, largest = coins.epsilon, 0.5, figures.largest
threshold = brentq(lambda y: largest(2.0)(y) - np.exp(here) * largest(1.0)(y), 1, 4)


def epochs(shift, draws=1_000_000):
    others = ndtri(rng.random(draws) ** (1 / (batches - 1)))  # the largest of the others
    return sigma * np.maximum(others, shift / sigma + rng.standard_normal(draws))


# %% [markdown]
# A draw with Anna counts $1$ if the attacker cries, a draw without her $-e^\varepsilon$.

# %%
from dplearn.teaching.classroom import Evidence

cries, false_alarms = (epochs(shift) > threshold for shift in (2.0, 1.0))
silent = lambda shift: ndtr((threshold - shift) / sigma) * ndtr(threshold / sigma) ** (batches - 1)
shuffled = Evidence(
    f"delta at epsilon = {here:.3f}, one shuffled epoch, what the largest sum tells",
    closed=1 - silent(2.0) - np.exp(here) * (1 - silent(1.0)),
    exact=area(largest(2.0), largest(1.0), here),
    simulated=estimate(cries - np.exp(here) * false_alarms),
    printed=1e-6,
)
print(shuffled)

# %% [markdown]
# The true $\delta$ is not one in a million but one in seven, by a single attack. (Chua et al. 2024; [in the book](explorer:formula_book?id=G-E11&misprint=poisson).)
#
# ### The schools' own epochs
#
# With noise 4 the exact value of a shuffled epoch is unknown. The lines say what is proved of the schools' first epoch of a hundred batches: if every record is used, and if each epoch leaves out one record in a million, drawn by the order:

# %%
for left_out in (0.0, 1e-6):
    of_schools = Shuffled(Gaussian(4.0), 100, left_out)
    print("the schools' first epoch:", pld.epsilon(of_schools, delta=1e-5, adjacency="zero_out"))

# %% [markdown]
# The attack is no weaker in the second case, but the proof needs a free seat ([appendix 90](90_certified_engine.ipynb), part three). In a program that is `drop_last`: it costs one record an epoch and saves much. See a shuffled epoch [in the explorer](explorer:?mechanism=gaussian&sampling=shuffled&noise_multiplier=0.5&rate_from=rate&sample_rate=0.0001&delta=1e-6&adjacency=zero_out&steps=100000&here=10000).
#
# A whole training run, sixty epochs that leave a record out, at five amounts of noise: what a calculator for coins claims, and what is proved for the shuffle, from below and from above.

# %%
ratios = figures.sixty_epochs()

# %% [markdown]
# ### Strong composition on a sample, and its two δ
#
# Before the moments accountant a sampled run took two theorems. By section 5 each step is $(\varepsilon',q\delta)$-DP, and strong composition (lesson 04) adds up $T$ steps with one more $\delta'$. A summary says: the total has an $\varepsilon$ of order $q\varepsilon\sqrt{T\ln(1/\delta)}$ and the $\delta$ of $q(T+1)\delta$, with $\delta'=\delta$. These two δ do not fit together. The theorem gives $qT\delta+\delta'$, so that $\delta'=\delta$ leads to $(qT+1)\delta$, and $q(T+1)\delta$ needs $\delta'=q\delta$. Here are both totals for the rates of the vote and of the schools, and the $\varepsilon$ of the schools' run when each total is $10^{-5}$:

# %%
from dplearn.teaching.book import advanced_composition_kov as strong

for q in (1e-4, 1e-2):
    print(f"rate {q:g}: (qT + 1) δ = {q * 10_000 + 1:.4f} δ, q(T + 1) δ = {q * 10_001:.4f} δ")
(base,) = Gaussian(4.0).profiles()
for name, delta, slack in (("δ", 1e-5 / 101, 1), ("qδ", 1e-5 / 100.01, 0.01)):
    sampled_step = bent(float(base.epsilon(delta)), 0.01)
    total = strong(epsilon=sampled_step, steps=10_000, slack=slack * delta)
    print(f"δ' = {name:<2}: epsilon {total:.2f} for the schools' run")

# %% [markdown]
# At the rate of the vote the first δ is twice the second. For the schools the two are nearly equal, and yet $\varepsilon$ is 15.20 with the first and 16.89 with the second, because a smaller $\delta'$ makes the root longer. The tight value is 0.9469, and lesson 08 tells how it was reached.
#
# ### "The privacy cost falls with the square of $q$"
#
# The small-rate rule of section 7 has $q^2$. We compute it for noise 4 and a thousand steps at $\delta=10^{-5}$:

# %%
print("   rate   divergence of order 8 / q^2   epsilon of 1000 steps")
for q in (0.001, 0.01, 0.1):
    found = pld.epsilon(PoissonSubsampled(Gaussian(4.0), q), delta=1e-5, steps=1000)
    print(f"{q:7}   {divergence(8, 4.0, q) / q**2:27.4f}   {found.epsilon:21.4g}")

# %% [markdown]
# The divergence at a fixed small order does fall with $q^2$. But $\varepsilon$ at a fixed $\delta$ does not: a tenth of the rate costs about a *thirteenth*, not a hundredth. The conversion at the best order takes a root, $2\sqrt{\rho\ln(1/\delta)}$ in lesson 05, and a root turns $q^2$ into $q$: a tenth. The rest of the thirteenth is $\delta$: it stays fixed while $\varepsilon$ falls, and a small $\varepsilon$ leaves room below it. If you compute $\varepsilon$ at $q=0.01$ and divide it by a hundred, you promise too much. ([In the book](explorer:formula_book?id=G-E7&misprint=epsilon-too).)
#
# ### Its relatives in the book
#
# The [whole profile](explorer:formula_book?id=G-E1b) and [that of the Gaussian](explorer:formula_book?id=G-E1c), [a batch of fixed size](explorer:formula_book?id=G-E2), draws [with replacement](explorer:formula_book?id=G-E3&misprint=ratio) and [what they cost](explorer:formula_book?id=G-E3b&misprint=no-multiplicities), the [binomial sum](explorer:formula_book?id=G-E4), [both orders](explorer:formula_book?id=G-E9), [shuffled reports](explorer:formula_book?id=G-E10&misprint=batches) and [their first bound](explorer:formula_book?id=G-E10b&misprint=any-epsilon), [δ on a sample](explorer:formula_book?id=G-E1e&misprint=unchanged), [pure DP on a subset](explorer:formula_book?id=G-E2b&misprint=linear), [Rényi DP of any mechanism](explorer:formula_book?id=G-E4c&misprint=linear).
#
# ### Two harder exercises
#
# **★★ 6.3** Read the theorem backwards: one step on a Poisson sample with $q=0.01$ must be $(0.1, 10^{-6})$-DP, add or remove. What is the smallest noise multiplier? (The theorem is an equality here, so nothing is wasted.)

# %%
answer = None
check("6.3", answer)

# %% [markdown]
# <details><summary>Solution of 6.3</summary>
#
# ```python
# base = np.log(1 + np.expm1(0.1) / 0.01)
# answer = Gaussian.analytic(epsilon=base, delta=1e-6 / 0.01).noise_multiplier
# check("6.3", answer)
# alone = Gaussian.analytic(epsilon=0.1, delta=1e-6).noise_multiplier
# print(f"base epsilon {base:.3f}, without sampling the noise would be {alone:.2f}")
# ```
#
# The unsampled step may be $(2.444, 10^{-4})$-DP, which takes noise 1.458. Without sampling it would take 36.30.
#
# </details>

# %% [markdown]
# **★★★ 6.4** For noise 2 and rate 0.05: at which integer order is the divergence of one sampled step, for the first time, more than *twice* the small-rate rule $\frac12\alpha q^2(e^{1/\sigma^2}-1)$? Guess with $\alpha^*$ first, then compute.

# %%
answer = None
check("6.4", answer)

# %% [markdown]
# <details><summary>Solution of 6.4</summary>
#
# ```python
# tried = range(2, 40)
# answer = next(a for a in tried if divergence(a, 2.0, 0.05) > 2 * small_rate(a, 2.0, 0.05))
# check("6.4", answer)
# print(f"the last term reaches 1 at order {1 + 2 * 2**2 * np.log(20):.2f}")
# ```
#
# Order 24, just before $\alpha^*=24.97$: the last terms of the sum are on their way up.
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** A step is 3-DP, and one record in a thousand is drawn. Is the sampled step 0.003-DP?
#
# <details><summary>a. Yes: q times ε.</summary>
#
# No. The rule is nearly right for small ε, but at 3 the exponential has grown.
#
# </details>
#
# <details><summary>b. No, its ε is about six times as large.</summary>
#
# Right. The attacker's *likelihood ratio* shrinks towards 1 by the factor $q$, not its logarithm: $\varepsilon'=\ln(1+0.001\,(e^3-1))$, about six times as much.
#
# </details>
#
# <details><summary>c. No, it stays 3-DP.</summary>
#
# No. The doubt whether she was drawn does help.
#
# </details>
#
# **2** "Anna took part in only one step of ten thousand, so she has little to fear." What is missing?
#
# <details><summary>a. Whether somebody can tell which step it was.</summary>
#
# Right. If the batch is known, or stands out, she has the full loss of that step. Secrecy protects her, and rarity does not.
#
# </details>
#
# <details><summary>b. Nothing: one in ten thousand is very little.</summary>
#
# No. If the step is known, she has its full loss.
#
# </details>
#
# <details><summary>c. How large her gradient was.</summary>
#
# No. It was clipped; the bound holds for every length up to C.
#
# </details>
#
# **3** Why does sampling help so much at order 4 and so little at order 40?
#
# <details><summary>a. The formula is inaccurate at high orders.</summary>
#
# No. It is exact at integer orders; the divergence itself jumps.
#
# </details>
#
# <details><summary>b. High orders need more samples.</summary>
#
# No. Nothing is sampled here, the divergence is computed.
#
# </details>
#
# <details><summary>c. High orders look at outputs that speak so clearly that the coin hardly matters.</summary>
#
# Right. High orders listen to large losses. There the output speaks so clearly for Anna that the coin saves only $\ln(1/q)$.
#
# </details>
#
# **4** Your loader draws exactly 200 records per step, and the accountant says "Poisson". Is the reported ε too large or too small?
#
# <details><summary>a. Too large: a fixed size is less random, so nothing is wasted.</summary>
#
# No. A fixed size leaves less doubt, and the doubt was the protection.
#
# </details>
#
# <details><summary>b. Too small.</summary>
#
# Right. The number is too small, unless you change the sampling or the accounting. With a fixed size a neighbour replaces a record, the distance is $2C$, and half the noise can be the difference between 1 and 15.
#
# </details>
#
# <details><summary>c. Neither: on average the sizes are the same.</summary>
#
# No. The guarantee depends on the whole distribution, not on the mean.
#
# </details>
#
# **5** In balls and bins and in a shuffled epoch Anna is in exactly one batch. Why does only one of them behave like coins?
#
# <details><summary>a. The balls have more batches.</summary>
#
# No. Both have the same number of batches.
#
# </details>
#
# <details><summary>b. Balls are thrown twice on average.</summary>
#
# No. Each ball falls into exactly one batch.
#
# </details>
#
# <details><summary>c. In the shuffled epoch her empty seat can be seen.</summary>
#
# Right. If she stays away, nothing in the balls shows it. In a shuffled epoch her empty seat remains, and stands out among full batches. (Balls and bins need an accountant of their own, too: that they are as good as coins here is not a general theorem.)
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("6.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **Coins** | $\varepsilon'=\ln(1+q(e^\varepsilon-1))$, $\delta'=q\delta$; add or remove; an equality for Gaussian noise |
# | **Why** | $f_q-e^{\varepsilon'}f_0=q\,(f_1-e^\varepsilon f_0)$: same outputs, $q$ times the area |
# | **Loss** | bends to $\ln(1+q(e^L-1))$: floor $\ln(1-q)$, slope $q$, then only $\ln(1/q)$ off |
# | **Rényi** | $\frac1{\alpha-1}\ln\sum_k\binom\alpha k(1-q)^{\alpha-k}q^ke^{(k^2-k)/2\sigma^2}$; about $\frac12\alpha q^2(e^{1/\sigma^2}-1)$ only well below $\alpha^*=1+2\sigma^2\ln(1/q)$ |
# | **Fixed size** | same formula, replace one, base at $2C$ |
# | **Shuffled** | not a sample: account for it as it is, leave a record out, or toss coins |
# | **Always say** | how the batch is drawn, and who the neighbours are |
#
# ## 13 Further reading
#
# * Balle, Barthe & Gaboardi (2018), *Privacy amplification by subsampling: tight analyses via couplings and divergences*: which theorem goes with which sampling and which neighbours.
# * Mironov, Talwar & Zhang (2019), *Rényi differential privacy of the sampled Gaussian mechanism*: the sum of section 7, also between integer orders, and closed bounds with the conditions under which they hold.
# * Abadi et al. (2016), *Deep learning with differential privacy*: where this sum became an accountant; lesson 07.
# * Chua et al. (2024), *How private are DP-SGD implementations?*: shuffling against coins, with proofs.
# * Lebeda et al. (2024), *Avoiding pitfalls for privacy accounting of subsampled mechanisms under composition*: fixed sizes, and worst pairs that change under composition.
# * Feldman & Shenfeld (2025), *Privacy amplification by random allocation*: why balls and bins are about as good as coins.
#
# **Next** [lesson 07](07_moments_accountant.ipynb): the accountant that made private deep learning possible adds up exactly this sum.
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert (
    all(ratio > 1 for ratio in ratios)
    and shuffled.refuted
    and by_formula in by_coins
    and np.isclose(by_formula, by_area)
)
assert divergence(3, rate=rate) in by_losses and np.isclose(divergence(3, rate=rate), by_integral)
assert np.isclose(by_formula, 0.01269367375) and np.isclose(twice, 0.05098616601)
assert twice in by_subsets and by_formula < both < twice and np.isclose(both, 0.0229519, atol=1e-7)
assert divergence(8) < 1.5 * small_rate(8) and divergence(16) > 2000 * small_rate(16)
assert (
    claimed.epsilon < 1 < 2 < fixed.lower < halved.epsilon < fixed.epsilon
    and seats.lower > 5 * coins.epsilon
)
assert weak.epsilon < 1 < 12 < worse.lower
print("all checks passed")
