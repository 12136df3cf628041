# %% [markdown]
# # 04 Composition, basic to optimal
#
# *A hundred harmless answers about the same person: what do they cost together?*
#
# Every evening the school's app asks Anna one yes/no question. Her phone replies by randomised response: with probability $p = e^{\varepsilon}/(1+e^{\varepsilon})$ it tells the truth, otherwise the opposite. At $\varepsilon = 0.1$ this is hardly more than a fair coin, as the picture shows. What do the replies of a hundred evenings tell together?
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. explain why privacy losses add, even if each question depends on the answers before it, and why their sum almost never reaches the worst case;
# 2. compute the total $\varepsilon$ of $k$ releases by adding up, by a closed formula and exactly, and say which of them to use;
# 3. recognise a composition formula that has lost its condition, and measure what that costs.
#
# * **Time** NN minutes in class; what comes after section 9 is for the evening.
# * **You need** lesson 01 (randomised response), lesson 02 (privacy loss, $\delta(\varepsilon)$), lesson 03 (three ways to compute one number).
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=laplace&sampling=none&noise_multiplier=10&delta=1e-5&steps=1000&here=100&accountants=basic,advanced,optimal), if you have started it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `epsilon` | $\varepsilon$ | guarantee of *one* release | nats |
# | `steps` | $k$ | number of releases about the same people | none |
# | `total` | $\varepsilon_{\text{tot}}$ | guarantee of all releases together | nats |
# | `slack` | $\delta'$ | what the composition itself may fail with | probability |
# | `paid` | $\delta_0$ | the $\delta$ of one release, 0 for most of this lesson | probability |
# | `loss` | $L$ | privacy loss $\ln p(y)/q(y)$ of what was published | nats |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One idea carries the lesson: the total loss is a random walk, so its mean grows like $k$ with a tiny slope, its spread like $\sqrt k$, and the end point $k\varepsilon$ is reached by nobody.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | everybody types one expression; what one reply tells, then a hundred; a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; do not say who is right |
# | 3 | 3 Losses add, whatever was asked | the tree on the board, with other questions; then the chain rule |
# | 4 | 4 Where are 5000 Annas? | a guess first; then read the columns against each other |
# | 5 | 5 The whole distribution | ask what the red columns weigh together |
# | 4 | 6 The best possible, and a formula | the theorem on the board, its proof at home |
# | 6 | 7 An exercise | first: how much of δ is left? |
# | 3 | 8 Four curves | reveal the guesses; why does the optimum begin on the grey line? |
# | 2 | 9 Where this breaks | the noise that is drawn once |
# | – | 10 to 13 | at home |

# %% tags=["hide-input"]
from dplearn.teaching.classroom import check, pictures, predict, reveal

draw = pictures("04")
draw.replies()

# %% [markdown]
# **★ 4.1** *(In class, 2 minutes.)* Suppose that Anna and another pupil would answer every question differently. A reply 1 then has the privacy loss $\ln\frac p{1-p}=+\varepsilon$, and a reply 0 has $-\varepsilon$. Replace `...` by the loss of one reply, and run the cell; the function adds up the losses of all evenings.


# %%
def total_loss(replies, epsilon):
    return sum(... for reply in replies)


check("4.1", total_loss)

# %% [markdown]
# <details><summary>Solution of 4.1</summary>
#
# ```python
# def total_loss(replies, epsilon):
#     return sum(epsilon if reply == 1 else -epsilon for reply in replies)
#
#
# check("4.1", total_loss)
# ```
#
# A reply of the other kind subtracts what a reply has added.
#
# </details>

# %% [markdown]
# The next picture shows the total loss of five Annas with $\varepsilon=0.1$, computed by the function.

# %%
draw.walks(total_loss)

# %% [markdown]
# What is the $\varepsilon$ of all hundred replies together, at $\delta=10^{-5}$? Adding up gives 10, the worst case, and the true value may be smaller. Write your guess in place of `None`, and run the cell.

# %%
predict("epsilon of 100 replies", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Most answers lie between 5 and 10, because 10 has been on the screen; take them without comment.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons prepare what follows.
#
# **1** 03.1
#
# **2** 02.4
#
# **3** 01.1

# %%
answers = ""  # three letters, such as "bca"
check("4.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# To add up the losses of several releases about the same people is called **composition** (组合). Now the app becomes clever: it looks at today's reply before it chooses tomorrow's question, so the replies depend on each other. May we still add up the losses?
#
# <details><summary>a. No: one may add only what is independent.</summary>
#
# No. The chain rule of probability asks for no independence.
#
# </details>
#
# <details><summary>b. Yes, if a fresh coin is tossed every evening.</summary>
#
# Right. What the app asks may depend on everything before, but the coin must be fresh.
#
# </details>
#
# <details><summary>c. Only if all questions were fixed on the first evening.</summary>
#
# No. Then no loss could be added up in training, because no training of a network fixes its questions in advance.
#
# </details>
#
# <details><summary>d. Yes, but the loss of each evening counts twice.</summary>
#
# No. Nothing is counted twice; the next section computes it path by path.
#
# </details>

# %%
vote = ""  # one letter
check("4.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Losses add, whatever was asked
#
# We compare Anna with another pupil who might be in her place. Neighbours differ in *all* evenings of this one pupil (`replace_one`): it is the person we protect, not the evening.
#
# After a reply 1 the app asks a question on which they differ again. After a reply 0 it asks one to which both would truthfully answer no, so the second reply reveals nothing. The end of each path shows the loss of both replies *together*, computed from the probability of the whole path.

# %%
draw.tree()

# %% [markdown]
# On each path the loss is the sum of its steps. Every joint probability is $p(y_1)\,p(y_2\mid y_1)$, and the logarithm of a product is a sum. This chain rule needs **no independence**; only the *coin* of the second evening must be fresh.
#
# > **Basic composition** (基本组合). If every release is $(\varepsilon_t,\delta_t)$-DP *whatever was published before it*, then all together are $(\sum\varepsilon_t,\sum\delta_t)$-DP. (Dwork, McSherry, Nissim & Smith 2006 for $\delta=0$; Dwork & Roth 2014, Theorem 3.16 and appendix B.)

# %% [markdown]
# *To here NN minutes.*
#
# ## 4 Where are 5000 Annas?
#
# We let 5000 Annas answer on 1000 evenings, so that the worst case is 100. How large is the largest total loss among the 5000?

# %%
predict("largest of 5000 losses", None)

# %% [markdown]
# The table has the mean, the spread and the largest loss after $k$ evenings.

# %%
import numpy as np

from dplearn.mechanisms import RandomizedResponse

coin, rng = RandomizedResponse(local_epsilon=0.1), np.random.default_rng(4)
answered = coin.release(np.ones((5000, 1000), dtype=int), rng=rng)
loss = np.where(answered == 1, 0.1, -0.1)
walk = loss.cumsum(axis=1)
print("    k     mean   0.005 k   spread   0.1 √k   largest   worst case")
for k in (1, 10, 100, 1000):
    now = walk[:, k - 1]
    middle = f"{now.mean():7.3f}   {0.1 * np.tanh(0.05) * k:7.3f}"
    spread = f"{now.std():6.3f}   {0.1 * np.sqrt(k):6.3f}"
    print(f"{k:5}  {middle}   {spread}   {now.max():7.1f}   {0.1 * k:10.1f}")

# %% [markdown]
# The **mean** grows like $k$, but its slope, the **drift**, is 0.005 instead of 0.1: it is $p\varepsilon-(1-p)\varepsilon=\varepsilon\tanh(\varepsilon/2)$. The **spread** grows like $\sqrt k$. The **worst case** $k\varepsilon$ leaves both far behind.

# %% [markdown]
# ## 5 The whole distribution
#
# No simulation shows what happens once in a hundred thousand times, but enumeration does. One coin moves the total by $+\varepsilon$ or $-\varepsilon$, and the distribution of a sum of independent steps is a convolution (卷积). All losses are multiples of `unit`.


# %%
def distribution(epsilons, unit):
    masses = np.ones(1)
    for epsilon in epsilons:
        size = round(epsilon / unit)
        step = np.zeros(2 * size + 1)
        step[[0, -1]] = 1 / (1 + np.exp(epsilon)), 1 / (1 + np.exp(-epsilon))
        masses = np.convolve(masses, step)
    half = masses.size // 2
    return unit * np.arange(-half, half + 1), masses


# %% [markdown]
# The guarantee follows as in lesson 02: $\delta(\varepsilon_{\text{tot}})=\mathbb E\,(1-e^{\varepsilon_{\text{tot}}-L})_+$.


# %%
def delta_of(total, losses, masses):
    return float(masses @ np.maximum(0, 1 - np.exp(total - losses)))


# %% [markdown]
# We now do this for the hundred replies of Anna:

# %%
from dplearn.teaching.book import advanced_composition, optimal_composition

losses, masses = distribution([0.1] * 100, unit=0.1)
optimum = float(optimal_composition(epsilon=0.1, steps=100, slack=1e-5))
print(f"smallest epsilon at delta 1e-05   {optimum:.4f}")
print(f"delta there, by enumeration       {delta_of(optimum, losses, masses):.4g}")
print(f"probability of a larger loss      {masses[losses > optimum].sum():.4g}")
print(f"probability of the worst case     {masses[-1]:.3g}")

# %% [markdown]
# The picture shows the distribution on a logarithmic scale, and in red the losses above $\varepsilon_{\text{tot}}$. Adding up allows for the last column on the right, which no attacker will ever see: its probability is $10^{-28}$.

# %%
draw.distribution(optimum)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask why the red columns together weigh $5.3\times10^{-5}$ and yet $\delta$ is only $10^{-5}$. (A loss just above $\varepsilon_{\text{tot}}$ hardly counts: its weight is $1-e^{\varepsilon_{\text{tot}}-L}$, not 1.)

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 The best possible, and a formula
#
# > **Optimal composition.** Let $k$ releases be $\varepsilon$-DP each, whatever was published before. Together they have no larger $\delta$ at any $\varepsilon_{\text{tot}}\ge0$ than $k$ randomised responses, whose distribution we have just enumerated. (Kairouz, Oh & Viswanath 2015, Theorem 3.3; Murtagh & Vadhan 2016 for every $\varepsilon_{\text{tot}}$.)
#
# So **nothing is worse than a coin**: every $\varepsilon$-DP release can be imitated by somebody who sees only the coin. (The proof is at home.) For mental arithmetic a formula is handier:
#
# > **Advanced composition** (高级组合). Let $k$ releases be $(\varepsilon,\delta_0)$-DP each, whatever was published before, and $0<\delta'<1$. Together they are $(\varepsilon_{\text{tot}},\,k\delta_0+\delta')$-DP with
# >
# > $$\varepsilon_{\text{tot}}=\underbrace{\varepsilon\sqrt{2k\ln(1/\delta')}}_{\text{spread}}+\underbrace{k\varepsilon\tanh(\varepsilon/2)}_{\text{drift}}$$
# >
# > (Kairouz, Oh & Viswanath 2015, Theorem 3.4, in short KOV. In Dwork, Rothblum & Vadhan 2010, Theorem III.3, in short DRV, the drift is $k\varepsilon(e^\varepsilon-1)$.)
#
# *Why.* Given the past, an evening's loss lies between $-\varepsilon$ and $\varepsilon$, with a mean of at most $\varepsilon\tanh(\varepsilon/2)$. The sum of the losses without their means exceeds $t$ after $k$ steps with probability at most $e^{-t^2/(2k\varepsilon^2)}$ (Azuma, Hoeffding), which we set to $\delta'$.
#
# *To here NN minutes.*
#
# ## 7 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell.
#
# **★ 4.2** *(In class, 5 minutes.)* A hundred releases are $(0.1,\,5\cdot10^{-8})$-DP each. Together they may have $\delta=10^{-5}$, of which a part is left for $\delta'$. Which $\varepsilon_{\text{tot}}$ does KOV prove?

# %%
answer = None
check("4.2", answer)

# %% [markdown]
# <details><summary>Solution of 4.2</summary>
#
# ```python
# left = 1e-5 - 100 * 5e-8
# answer = 0.1 * np.sqrt(2 * 100 * np.log(1 / left)) + 100 * 0.1 * np.tanh(0.1 / 2)
# check("4.2", answer)
# ```
#
# Half of $\delta$ is spent by the releases, so $\delta'=5\cdot10^{-6}$ and the total is 5.440. With all of $\delta$ it would be 5.298: the slack sits in a logarithm under a root, so giving half of it away costs little.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 8 Four curves
#
# The cell first shows your guesses beside the truth.

# %%
others = {"adding up": 10.0, "DRV": float(advanced_composition(epsilon=0.1, steps=100, slack=1e-5))}
reveal("epsilon of 100 replies", truth=optimum, others=others)
reveal("largest of 5000 losses", truth=walk[:, -1].max(), others={"worst case": 100.0})

# %% [markdown]
# On logarithmic axes adding up has slope 1. The two formulas begin with slope ½, as long as the spread is larger, and bend towards slope 1 when the drift is. For few replies they are *worse* than adding up, so always take the smaller of the two; the diamond marks where KOV becomes better.

# %%
draw.four_curves()

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Two questions for the board. Why does the optimum start *on* the grey line? (With few replies the worst case is not rare.) Why do KOV and the optimum come together on the right? (There the drift is what counts, and both know it exactly.)

# %% [markdown]
# *Optimal* means the best bound for somebody who knows only one pair $(\varepsilon,\delta_0)$ of each release. For Gaussian noise this is more than six times too large; lesson 05 keeps more.
#
# ## 9 Where this breaks, and what it does not protect
#
# The noise of each release must be **fresh**. The school publishes two counts with Laplace noise of scale 10, each 0.1-DP: all pupils who copied homework, and all but Anna. To save work, it draws the noise once.

# %%
noise = np.random.default_rng(44).laplace(scale=10)
everyone, all_but_anna = 213 + noise, 212 + noise
print(f"published: {everyone:.2f} and {all_but_anna:.2f}")
print(f"so Anna's entry is {everyone - all_but_anna:.4g}")

# %% [markdown]
# With the same noise in both, the two releases of 0.1 reveal Anna's reply.
#
# * **A reply that is merely printed again costs nothing,** but asking *again* is a new release.
# * **No one adds up what different offices publish.** An office that knows only its own releases knows only its own part of the sum.
# * **It is about one person's part.** A thousand replies tell something about the population, and so about people who never took part.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 10 At home: the proof, four sentences, different releases, a budget that stops
#
# ### Move the slider
#
# Here is the distribution of section 5, with a slider for the $\varepsilon$ of one reply. There are always 100 replies, and losses are a share of the worst case, so adding up is always at 1. Before you move it: when $\varepsilon$ grows, does the optimum come closer to adding up?

# %%
draw.levels()

# %% [markdown]
# It does. A small $\varepsilon$ is a nearly fair coin, whose steps cancel; with a large one nearly every step goes the same way. So many small releases cost less than few large ones with the same sum.
#
# ### Why nothing is worse than a coin
#
# In full, the theorem of section 6 says that $k$ releases are $(\varepsilon_{\text{tot}},\delta)$-DP with
#
# $$\delta=\sum_{j=0}^{k}\binom kj p^j(1-p)^{k-j}{\Big(1-e^{\varepsilon_{\text{tot}}-(2j-k)\varepsilon}\Big)_+,}\qquad p=\frac{e^\varepsilon}{1+e^\varepsilon}.$$
#
# The sum is the $\delta$ of $k$ coins, $j$ of which told the truth. Take any $\varepsilon$-DP release with densities $P$ (with Anna) and $Q$ (without), and set
#
# $$A=\frac{e^\varepsilon P-Q}{e^\varepsilon-1},\qquad B=\frac{e^\varepsilon Q-P}{e^\varepsilon-1}.$$
#
# Both are densities: $\varepsilon$-DP says precisely that neither is negative, and the area under each is 1. Moreover $P=pA+(1-p)B$ and $Q=(1-p)A+pB$, so the release can be imitated: toss Anna's coin, then draw from $A$ or from $B$. Whoever sees the coins can imitate evening after evening without knowing which of the two datasets is there. So $k$ releases reveal no more than $k$ coins.
#
# We check the $\delta$ at $\varepsilon_{\text{tot}}=2$: by this sum, by the convolution of section 5, and by the walks of section 4, cut into 50 000 pieces of a hundred evenings:


# %%
from scipy.stats import binom

from dplearn.teaching.classroom import Evidence, estimate_delta


def formula(total, epsilon, steps):
    j = np.arange(steps + 1)
    gain = np.maximum(0, 1 - np.exp(total - (2 * j - steps) * epsilon))
    return float(binom.pmf(j, steps, 1 / (1 + np.exp(-epsilon))) @ gain)


hundreds = loss.reshape(-1, 100).sum(axis=1)
print(f"formula      {formula(2, 0.1, 100):.6f}")
print(f"convolution  {delta_of(2, losses, masses):.6f}")
print(f"simulation   {estimate_delta(2, hundreds)}")

# %% [markdown]
# Adding up is not wrong: it is the limit of the optimum as $\delta\to0$, and without any $\delta$ nothing better can be said.

# %%
print("delta     optimal epsilon of 100 replies")
for delta in (1e-2, 1e-5, 1e-10, 1e-20, 1e-30):
    print(f"{delta:5.0e}   {float(optimal_composition(epsilon=0.1, steps=100, slack=delta)):9.4f}")

# %% [markdown]
# A formula book that calls adding up the best $\varepsilon$ *at every* $\delta$ is [refuted here](explorer:formula_book?id=G-C1&misprint=tight).
#
# ### When every release has a delta of its own
#
# The worst $(\varepsilon,\delta_0)$ release is a coin that leaks: with probability $\delta_0$ it shows Anna's record to everybody, otherwise it is the coin from before. Either some coin of $k$ leaked, or none did, with probability $(1-\delta_0)^k$, and then the old $\delta'$ applies:
#
# $$\delta=1-(1-\delta_0)^k(1-\delta')\;\le\;k\delta_0+\delta'.$$
#
# (Kairouz, Oh & Viswanath 2015, Theorem 3.3.)
#
# ### Which accountant?
#
# In programs you need not choose. The *accountants* (隐私会计) `basic`, `advanced` (the smaller of KOV and adding up) and `optimal` take any mechanism, read off it the best $(\varepsilon,\delta_0)$ and split $\delta$. All three are *upper bounds* (上界). The last column is what is true, proved from both sides to the digits shown.

# %%
from dplearn.accountants import ACCOUNTANTS
from dplearn.mechanisms import Gaussian, Laplace

cases = {"replies": (coin, "replace_one"), "Laplace noise, scale 10": (Laplace(10.0), "add_remove")}
cases["Gaussian noise, σ = 10"] = (Gaussian(noise_multiplier=10.0), "add_remove")
print("100 releases at delta = 1e-05   basic   advanced   optimal     true")
for name, (mechanism, adjacency) in cases.items():
    run = {"delta": 1e-5, "steps": 100, "adjacency": adjacency}
    found = [ACCOUNTANTS[a]().epsilon(mechanism, **run) for a in ("basic", "advanced", "optimal")]
    exact = ACCOUNTANTS["pld"]().epsilon(mechanism, **run).epsilon
    print(f"{name:<29}" + "".join(f"{g.epsilon:9.4g}" for g in found) + f"{exact:9.4g}")

# %% [markdown]
# ### "Together they cost $2\varepsilon\sqrt{2k\ln(1/\delta)}$"
#
# A textbook (Near & Abuah, *Programming Differential Privacy*, chapter 6) plots this curve as advanced composition at $\delta = 10^{-4}$. It is the corollary to advanced composition in Dwork & Roth (2014), turned around, and its proof asks for a total of $\varepsilon<1$: while the total is small, the 2 makes up for the missing drift. The plot has lost this condition. At $\varepsilon=0.001$ and $k=3000$ the curve is true. Which $\delta$ truly belongs to the plotted $\varepsilon_{\text{tot}}$ for $k=200$ at $\varepsilon=1$?


# %%
def plotted(k, epsilon=1.0, delta=1e-4):
    return 2 * epsilon * np.sqrt(2 * k * np.log(1 / delta))


truth = float(optimal_composition(epsilon=1.0, steps=200, slack=1e-4))
print(f"plotted {plotted(200):.2f}, optimum {truth:.2f}")

# %% [markdown]
# We simulate a million runs of 200 coins with $p = e/(1+e)$, and compare three ways:

# %%
loss_200 = 2.0 * rng.binomial(200, 1 / (1 + np.exp(-1)), 10**6) - 200
lost_drift = Evidence(
    f"delta of 200 releases at a total epsilon of {plotted(200):.2f}",
    closed=formula(plotted(200), 1.0, 200),
    exact=delta_of(plotted(200), *distribution([1.0] * 200, unit=1.0)),
    simulated=estimate_delta(plotted(200), loss_200),
    printed=1e-4,
    exact_by="convolution",
)
print(lost_drift)

# %% [markdown]
# Without its condition the curve is refuted, and on the unsafe side: the true $\delta$ is 75 times the promised one. A curve without a term in $k$ must fail sooner or later, because the mean loss grows like $k$:

# %%
span = np.arange(80, 301)
delivered = np.array([formula(plotted(k), 1.0, k) for k in span])
broken = int(span[delivered > 1e-4][0])
draw.delivered(span, delivered, broken)

# %% [markdown]
# Lesson 16 has a slider for this curve.

# %% [markdown]
# ### Different releases
#
# Let 20 of the hundred evenings have $\varepsilon=0.3$ and 80 have $\varepsilon=0.05$, so that the sum is 10 as before. Is the total then as before, too?
#
# > **Different releases.** Let release $t$ be $\varepsilon_t$-DP whatever was published before, with all $\varepsilon_t$ fixed in advance. Together they are $(\varepsilon_{\text{tot}},\delta')$-DP with $\varepsilon_{\text{tot}}=\sqrt{2\ln(1/\delta')\sum\varepsilon_t^2}+\sum\varepsilon_t\tanh(\varepsilon_t/2)$, or $\sum\varepsilon_t$ where that is smaller. (Kairouz, Oh & Viswanath 2015, Theorem 3.5.) Computing the exact optimum is as hard as counting (#P-complete) in general (Murtagh & Vadhan 2016); on a common mesh a convolution does it.

# %%
from dplearn.teaching.book import heterogeneous_composition

mixed = distribution([0.3] * 20 + [0.05] * 80, unit=0.05)
mixed_kov = float(heterogeneous_composition(epsilons=[0.3, 0.05], counts=[20, 80], slack=1e-5))
largest = float(optimal_composition(epsilon=0.3, steps=100, slack=1e-5))
print(f"adding up                          {20 * 0.3 + 80 * 0.05:.4f}")
print(f"a hundred times the largest        {largest:.4f}")
print(f"KOV                                {mixed_kov:.4f}")
print(f"a hundred times the average of 0.1 {optimum:.4f}, delta there ", end="")
print(f"{delta_of(optimum, *mixed):.3g}")

# %% [markdown]
# To use the largest $\varepsilon$ for all is wasteful, and to use the **average is unsafe**: at that $\varepsilon_{\text{tot}}$ the true $\delta$ is over two hundred times the promised $10^{-5}$. What counts is $\sum\varepsilon_t^2$, and it is larger if the $\varepsilon_t$ are unequal.

# %% [markdown]
# ### A budget that stops
#
# So far all $\varepsilon_t$ were fixed in advance. Often they are not: the school asks an interesting follow-up with a larger $\varepsilon$, and stops when the budget is used up. Then even the number of releases depends on the replies, and a theorem with a fixed $k$ does not apply as it stands. A **privacy filter** (隐私过滤器) is a rule for when to stop that is proved to keep the total within the budget. Adding up is one of them. Another one goes on while $\sqrt{2\ln(1/\delta)\sum\varepsilon_t^2}+\frac12\sum\varepsilon_t^2$ stays within it (Rogers et al. 2016 introduced filters, Whitehouse et al. 2023 proved this one). It knows only the sum of squares, and decides *before* each release whether that still fits.


# %%
import math


def filter_cost(epsilons):
    squares = sum(epsilon**2 for epsilon in epsilons)
    return math.sqrt(2 * math.log(1e5) * squares) + squares / 2


def ask_until(budget, cost, rng):
    asked, epsilon = [], 0.05
    while cost([*asked, epsilon]) <= budget:
        asked.append(epsilon)
        reply = RandomizedResponse(epsilon).release(1, rng=rng)
        epsilon = 0.1 if reply == 1 else 0.05  # interesting: less noise next time
    return asked


# %% [markdown]
# Take a budget of $\varepsilon_{\text{tot}}=3$ at $\delta=10^{-5}$:

# %%
for name, cost in (("adding up", math.fsum), ("filter", filter_cost)):
    spent = ask_until(3.0, cost, np.random.default_rng(40))
    print(f"{name:<9}  stops after {len(spent)} replies, {cost(spent):.4f} of 3 spent")

# %% [markdown]
# The care is needed because *looking before stopping* changes the odds. For each evening take the level that at most one walk in a hundred exceeds on that evening. How many of the 5000 walks of section 4 exceed it on **some** evening?

# %%
evenings, p = np.arange(1, 1001), 1 / (1 + np.exp(-0.1))
level = 0.1 * (2 * binom.isf(0.01, evenings, p) - evenings)
above = walk > level + 1e-9
print(f"above on evening 1000   {above[:, -1].mean():.1%}")
print(f"above on some evening   {above.any(axis=1).mean():.1%}")

# %% [markdown]
# More than ten times as many walks do. So a bound for a $k$ chosen in advance is no bound for a $k$ chosen by looking. A **filter** answers "may I ask once more?" and its bound is hardly larger than KOV. An **odometer** (隐私里程表), which shows a valid $\varepsilon$ at *every* moment, must show a little more (Rogers et al. 2016).

# %% [markdown]
# ### "Advanced composition is much better than adding up"
#
# The textbook whose curve was judged above takes $\varepsilon=1$, $k=500$, $\delta'=10^{-5}$, finds the bound 966.44 and calls it much lower than 500. Nothing is wrong with the theorem, but compare the columns:

# %%
from dplearn.teaching.book import advanced_composition_break_even, advanced_composition_kov

methods = {"DRV": advanced_composition, "KOV": advanced_composition_kov}
methods["optimum"] = optimal_composition
print("epsilon = 1      k   adding up       DRV       KOV   optimum")
for k in (10, 79, 80, 500):
    row = [float(f(epsilon=1.0, steps=k, slack=1e-5)) for f in methods.values()]
    print(f"{k:18}   {k:9.1f}   " + "   ".join(f"{value:7.3f}" for value in row))

# %% [markdown]
# DRV is larger than adding up at every $k$. What is the drift of each formula, even before the root?

# %%
print(f"drift per release: DRV {np.expm1(1.0):.3f}, KOV {np.tanh(0.5):.3f}")
print(f"DRV wins beyond k = {advanced_composition_break_even(epsilon=1.0, slack=1e-5)}")

# %% [markdown]
# DRV has a drift of $e^\varepsilon-1=1.718$ per release, more than the worst case of 1. So it *never* wins, here and at every $\varepsilon\ge\ln2$, while KOV wins from $k=80$ on. Always take the smaller of a formula and $k\varepsilon$, since both bounds hold at the same time.
#
# ### "The outputs of different rounds are independent"
#
# This sounds like the reason why the losses may be added. A toy training is enough to test it: $\theta_1$ is standard normal, and the next step moves it by a little fresh noise, $\theta_2=\theta_1-0.1\,Z$. Independent numbers have correlation 0. Here the covariance is 1 and the variances are 1 and $1+0.1^2$, so the correlation is $1/\sqrt{1+0.1^2}$.

# %%
first = rng.normal(size=10**6)
second = first - 0.1 * rng.normal(size=10**6)
correlation = np.corrcoef(first, second)[0, 1]
print(f"correlation: formula {1 / math.sqrt(1.01):.4f}, simulated {correlation:.4f}")

# %% [markdown]
# Almost 1: the second model *is* the first with a little noise. What holds is that the *noise* of each round is independent of everything before it. The sum of the losses needs just this, by the chain rule of section 3, and that the guarantee of each round holds *whatever came before*.
#
# ### "The total δ is δ′"
#
# Calculators that know a single $\delta$ give all of it to the composition, even when every release has a $\delta_0$ of its own. Let each of the hundred replies be $(0.1, 10^{-5})$-DP, the leaking coin. At $\varepsilon_{\text{tot}} = 4.307$ the calculator promises $10^{-5}$. In the simulation a leak is an infinite loss.

# %%
from dplearn.teaching.book import total_delta

paid = 1e-5
leaked = rng.binomial(100, paid, 10**6) > 0
with_leaks = np.where(leaked, np.inf, 0.1 * (2 * rng.binomial(100, p, 10**6) - 100))
true_delta = float(total_delta(slack=formula(optimum, 0.1, 100), paid=paid, steps=100))
print(f"delta at 4.307: promised 1e-05, true {true_delta:.4g}")
print(f"simulated {estimate_delta(optimum, with_leaks)}")

# %% [markdown]
# The true $\delta$ is a hundred times the promise: $k\delta_0+\delta'$, as the theorem says.
#
# ### Two more exercises
#
# **★★★ 4.3** The school has a budget of $\varepsilon_{\text{tot}}=3$ at $\delta=10^{-5}$ and wants replies of $\varepsilon=0.1$ each, whose number is fixed in advance. How many can it ask for, with the optimal composition theorem?

# %%
answer = None
check("4.3", answer)

# %% [markdown]
# <details><summary>Solution of 4.3</summary>
#
# ```python
# k = np.arange(1, 200)
# fits = optimal_composition(epsilon=0.1, steps=k, slack=1e-5) <= 3
# answer = k[fits][-1]
# check("4.3", answer)
# kov_fits = advanced_composition_kov(epsilon=0.1, steps=k, slack=1e-5) <= 3
# print(f"KOV allows {k[kov_fits][-1]}, adding up 30")
# ```
#
# Adding up allows 30 and KOV 34; the exact account nearly doubles the number of questions, with the same replies and the same promise. `largest_steps` in `dplearn.calibrate` does this search for any mechanism and accountant.
#
# </details>

# %% [markdown]
# **★★ 4.4** Write composition as a program. A release is a dictionary from each privacy loss, a whole number of units, to its probability. Return the dictionary of the total loss of two independent releases.


# %%
def compose(first, second):
    # Write your code here.
    return None


check("4.4", compose)

# %% [markdown]
# <details><summary>Solution of 4.4</summary>
#
# ```python
# def compose(first, second):
#     total = {}
#     for a, p in first.items():
#         for b, q in second.items():
#             total[a + b] = total.get(a + b, 0) + p * q
#     return total
#
#
# check("4.4", compose)
# ```
#
# Losses add, probabilities multiply, and the same total may come about in several ways, which all count: +1 and −1, or −1 and +1.
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** "The second question depends on the first reply, so the releases are not independent, so composition does not apply." What is wrong?
#
# <details><summary>a. Composition never asked for independent replies.</summary>
#
# Right. Composition needs that each release is $\varepsilon$-DP for every possible past, and fresh noise. The chain rule does the rest.
#
# </details>
#
# <details><summary>b. Nothing is wrong.</summary>
#
# No. If it were so, nobody could ever ask a second question.
#
# </details>
#
# <details><summary>c. The questions depend, the replies do not.</summary>
#
# No. The replies may depend on each other as well, through the questions.
#
# </details>
#
# **2** "The total loss is at most 4.307." Is that what ε = 4.307 at δ = 10⁻⁵ says?
#
# <details><summary>a. Yes, exactly.</summary>
#
# No. That statement would need δ = 0.
#
# </details>
#
# <details><summary>b. Yes, except with probability δ.</summary>
#
# No. It exceeds 4.307 more often than δ; δ counts each excess in part.
#
# </details>
#
# <details><summary>c. No: it may be larger, with a small probability.</summary>
#
# Right. The loss can be 10, with probability $10^{-28}$, and exceeds 4.307 with probability $5.3\times10^{-5}$. $\delta$ weighs each excess by $1-e^{\varepsilon_{\text{tot}}-L}$.
#
# </details>
#
# **3** Why does the total ε grow like √k first and like k later?
#
# <details><summary>a. The formula changes where the curves cross.</summary>
#
# No. One formula has both terms all the time.
#
# </details>
#
# <details><summary>b. It is a mean that grows like k and a spread that grows like √k.</summary>
#
# Right. The spread grows like $\sqrt k$, the mean like $k$ with the small slope $\varepsilon\tanh(\varepsilon/2)\approx\varepsilon^2/2$. For few releases the spread is larger, for many the mean; they are equal at about $k\varepsilon^2=8\ln(1/\delta')$.
#
# </details>
#
# <details><summary>c. The replies become dependent.</summary>
#
# No. They are as independent at the end as at the beginning.
#
# </details>
#
# **4** You have a budget for a sum of 10. Is it better to buy 100 releases of 0.1 or 10 releases of 1?
#
# <details><summary>a. Ten of 1: fewer releases lose less.</summary>
#
# No. Large steps hardly cancel, so ten of them cost almost ten.
#
# </details>
#
# <details><summary>b. A hundred of 0.1: their losses cancel.</summary>
#
# Right. Ten releases of 1 cost almost all of 10 nats, a hundred of 0.1 less than half. Small steps cancel, large ones do not.
#
# </details>
#
# <details><summary>c. It makes no difference.</summary>
#
# No. Adding up says so; the total of small random steps is smaller.
#
# </details>
#
# **5** An analyst computes KOV after every release and stops at the first k where the result looks interesting. What may she claim?
#
# <details><summary>a. The total of the k at which she stopped.</summary>
#
# No. She chose this k by looking at the replies, and the proof is for a fixed k.
#
# </details>
#
# <details><summary>b. Nothing at all.</summary>
#
# No. A bound for a later, fixed k covers everything before it.
#
# </details>
#
# <details><summary>c. The total of the largest k that she had fixed beforehand, or the budget of a filter.</summary>
#
# Right. She chose that $k$ by looking. She may claim the $\varepsilon_{\text{tot}}$ of the largest $k$ she had fixed in advance, or the budget of a filter.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("4.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **Losses add** | by the chain rule; it needs fresh noise, not independent outputs |
# | **Adding up** | $(\sum\varepsilon_t,\sum\delta_t)$; the best at $\delta=0$ |
# | **Optimum** | the distribution of $k$ randomised responses, `optimal_composition`; the best if only $(\varepsilon,\delta_0)$ is known |
# | **KOV** | $\varepsilon\sqrt{2k\ln(1/\delta')}+k\varepsilon\tanh(\varepsilon/2)$, or $k\varepsilon$ if smaller |
# | **Different $\varepsilon_t$** | $\sum\varepsilon_t^2$ and $\sum\varepsilon_t\tanh(\varepsilon_t/2)$; never the average |
# | **Total δ** | $1-(1-\delta_0)^k(1-\delta')\le k\delta_0+\delta'$ |
# | **Stop by looking** | only with a filter |
#
# ## 13 Further reading
#
# * Dwork, Rothblum & Vadhan (2010), *Boosting and differential privacy*: the first theorem with a root, and the view of the loss as a random walk.
# * Kairouz, Oh & Viswanath (2015), *The composition theorem for differential privacy*: the optimum, by reduction to coins.
# * Murtagh & Vadhan (2016), *The complexity of computing the optimal composition of differential privacy*: why different releases are hard, and how to approximate.
# * Rogers, Roth, Ullman & Vadhan (2016), *Privacy odometers and filters*: what changes when the analyst decides as she goes.
# * Whitehouse, Ramdas, Rogers & Wu (2023), *Fully-adaptive composition in differential privacy*: filters as sharp as advanced composition.
#
# <details><summary>In the formula book</summary>
#
# * Adding up: [epsilons](explorer:formula_book?id=G-C1), [deltas](explorer:formula_book?id=G-C1b&misprint=largest), [disjoint parts where a record is replaced](explorer:formula_book?id=G-C9&misprint=always).
# * Advanced composition: [the first theorem](explorer:formula_book?id=G-C2&misprint=plotted), [with the exact mean loss](explorer:formula_book?id=G-C2b), [the total δ](explorer:formula_book?id=G-C2d&misprint=slack-only), [what is left of δ](explorer:formula_book?id=G-C2e&misprint=all-of-it), where it becomes smaller than the sum: [DRV](explorer:formula_book?id=G-C3&misprint=never-worse) and [KOV](explorer:formula_book?id=G-C3b), [its drift](explorer:formula_book?id=G-D9&misprint=half), [different releases](explorer:formula_book?id=G-C5&misprint=largest), [by zCDP](explorer:formula_book?id=G-C2c&misprint=half-root) and [for different releases](explorer:formula_book?id=G-C5b&misprint=no-drift), [with a slow logarithm](explorer:formula_book?id=G-C2g&misprint=no-drift), [a small budget](explorer:formula_book?id=G-C2f&misprint=any-budget), [their total δ](explorer:formula_book?id=G-C5c&misprint=largest).
# * Optimal composition: [δ](explorer:formula_book?id=G-C4&misprint=interpolated) and [ε](explorer:formula_book?id=G-C4b).
# * Other guarantees: [Gaussian noise](explorer:formula_book?id=G-C6&misprint=linear) and [two Gaussians together](explorer:formula_book?id=G-L3b&misprint=deltas-add), [Rényi](explorer:formula_book?id=G-C7&misprint=two-orders), [zCDP](explorer:formula_book?id=G-C7b&misprint=squares); groups under [zCDP](explorer:formula_book?id=G-C8b&misprint=linear) and [Gaussian DP](explorer:formula_book?id=G-C8c&misprint=root).
#
# </details>
#
# **Next** [lesson 05](05_renyi_divergence.ipynb): a summary of a release that forgets less than a pair. The last cell re-examines what this lesson claimed.

# %%
# Checks
assert lost_drift.refuted and np.isclose(formula(2, 0.1, 100), delta_of(2, losses, masses))
assert formula(2, 0.1, 100) in estimate_delta(2, hundreds) and abs(correlation - 0.995) < 1e-3
assert true_delta in estimate_delta(optimum, with_leaks) and true_delta > 100 * paid
assert np.isclose(optimum, 4.306791, atol=1e-6)
assert optimum < mixed_kov < 10 < largest
ks = np.arange(1, 1000, 37)
drv, kov, best = (method(epsilon=0.1, steps=ks, slack=1e-5) for method in methods.values())
assert np.all(best <= np.minimum(kov, 0.1 * ks)) and np.all(kov <= drv)
assert np.all(delivered[span >= broken] > 1e-4) and delta_of(optimum, *mixed) > 2e-3
print("all checks passed")
