# %% [markdown]
# # 01 Why anonymisation fails
#
# *The names are gone: is Anna safe?*
#
# A school asked its 64 nine-year-olds whether they have ever handed in copied homework, and promised that nobody will find out what Anna said. It wants to publish the replies without names, each with the pupil's month of birth and village. The picture shows how many pupils share a month, and how many share a village.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. find a person in a table without names, and say what k-anonymity promises and how it fails;
# 2. rebuild a secret table from noisy answers, and say how the noise must grow with the number of questions;
# 3. run a survey with a coin, and compute its promise $\varepsilon$ and its cost in accuracy.
#
# * **Time** NN minutes in class; what comes after section 9 is for the evening.
# * **You need** probability as taught at school, the standard deviation, and the natural logarithm $\ln$, but no earlier lesson.
# * **Beside it** [the explorer at this lesson's coin](explorer:mechanisms?mechanism=randomized_response&local_epsilon=1.0986&answers=2&adjacency=replace_one&epsilon=1.0986), if you have started it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
# * **The tools** `predict` notes your guess, `reveal` compares it with the truth, and `check` answers your exercises; nothing leaves your computer.
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | – | $k$ | size of the smallest group of equal rows in a table | people |
# | `n` | $n$ | number of people | people |
# | `questions`, `noise` | $m$, $s$ | number of answers, standard deviation of the error of each | none, people |
# | `truth` | $p$ | chance that the coin makes you tell the truth | probability |
# | `share` | $\pi$ | true share of people whose reply is yes | none |
# | `loss` | $L$ | logarithm of how many times likelier an output is for one neighbour than for the other | nats |
# | `epsilon` | $\varepsilon$ | the largest privacy loss | nats |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: privacy is not a property of a table but of the random process that publishes it, and it has a size.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | everybody types one expression; then a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 3 | 2 A vote | vote, two minutes in pairs, vote again; section 4 decides it |
# | 7 | 3 Take the names away | one student plays Ben; then the two counts |
# | 4 | 4 A small error on every count | a second guess; run the attack live |
# | 6 | 5 An exercise | alone, then compare |
# | 5 | 6 A coin | play it with real coins; the table before the definition |
# | 2 | 7 What the coin costs | solve for the share by hand |
# | 5 | 8 What ε promises | a third guess; count the filled people |
# | 1 | 9 Where this breaks | one limit, chosen by the class |
# | – | 10 to 13 | at home |

# %% tags=["hide-input"]
from dplearn.teaching.classroom import check, pictures, predict, reveal, yours

draw = pictures("01")
draw.columns()

# %% [markdown]
# **★ 1.1** *(In class, 2 minutes.)* A pupil is hidden only by pupils with the same month *and* village. Such rows of the table are equal. Replace `...` by the number of rows that equal `row`, and run the cell; the function then returns the size of the smallest group.


# %%
def smallest_group(rows):
    sizes = [... for row in rows]
    return min(sizes)


check("1.1", smallest_group)

# %% [markdown]
# <details><summary>Solution of 1.1</summary>
#
# ```python
# def smallest_group(rows):
#     sizes = [rows.count(row) for row in rows]
#     return min(sizes)
#
#
# check("1.1", smallest_group)
# ```
#
# A list counts its own elements, and every row is one of those that equal it.
#
# </details>

# %% [markdown]
# A table is **k-anonymous** (k-匿名) if every row equals at least $k-1$ others (Sweeney 2002). The next picture shows the $k$ that the function finds when birthdays are told more coarsely, and when four of the six villages are told as "other".

# %%
draw.coarser(smallest_group)

# %% [markdown]
# How many of the 64 pupils are the only one with their month and village? Put your guess in place of `None`, and run the cell.

# %%
predict("pupils alone", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from school prepare what follows.
#
# **1** What is the standard deviation of the number of heads in 100 tosses of a coin?
#
# <details><summary>a. 5</summary>
#
# Right. The variance of one toss is ¼, that of a hundred is 25.
#
# </details>
#
# <details><summary>b. 25</summary>
#
# No. That is the variance; take its root.
#
# </details>
#
# <details><summary>c. 50</summary>
#
# No. That is the mean number of heads.
#
# </details>
#
# **2** What is the sum $\ln 3+\ln 3$?
#
# <details><summary>a. $\ln 6$</summary>
#
# No. Sums of logarithms belong to products of numbers.
#
# </details>
#
# <details><summary>b. $\ln 9$</summary>
#
# Right. Where numbers are multiplied, logarithms are added.
#
# </details>
#
# <details><summary>c. $(\ln 3)^2$</summary>
#
# No. That is a product of logarithms.
#
# </details>
#
# **3** What is the probability of an event with odds of 1 to 3?
#
# <details><summary>a. one third</summary>
#
# No. One for and three against makes four cases.
#
# </details>
#
# <details><summary>b. three quarters</summary>
#
# No. That is the probability that it does not happen.
#
# </details>
#
# <details><summary>c. one quarter</summary>
#
# Right. It happens in one case of four.
#
# </details>

# %%
answers = ""  # three letters, such as "bca"
check("1.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# Is Anna safe if the school publishes no table and answers only questions such as "how many of these 32 pupils have copied?", every answer with a fresh random error of about 4?
#
# <details><summary>a. Yes: an error of four hides one pupil.</summary>
#
# No. It hides her in one answer, but many answers are given.
#
# </details>
#
# <details><summary>b. Yes, if no question may be asked twice.</summary>
#
# No. Different questions are as good: section 4 asks 640 different ones.
#
# </details>
#
# <details><summary>c. No, not if enough questions may be asked.</summary>
#
# Right. Fresh errors average out, and section 4 finds almost every secret.
#
# </details>

# %%
vote = ""  # one letter
check("1.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Take the names away, publish only counts
#
# A friend knows that Anna was born in October and lives in Oak.

# %%
import numpy as np

from dplearn.datasets import school

pupils = school()
nine = pupils.age == 9
month, village, copied = pupils.month[nine], pupils.village[nine], pupils.copied[nine].astype(int)
n, anna = len(copied), (month == 10) & (village == "Oak")
print(f"rows that fit: {anna.sum()}, its reply: {copied[anna][0]} (1 means yes)")

# %% [markdown]
# One row fits, so the friend now knows that Anna has copied: he **linked** what he knew with what was published.

# %%
rows = list(zip(month, village))
alone = sum(rows.count(row) == 1 for row in rows)
reveal("pupils alone", truth=alone, others={"expected": 64 * (71 / 72) ** 63})

# %% [markdown]
# (If all 72 combinations were equally common, $64\,(71/72)^{63}$ pupils would be alone.) The school therefore publishes half-years, and tells four villages as "other". Is Anna safe in a table with $k=5$?

# %%
smallest = yours("1.1", smallest_group)  # our function until yours is right
half = np.where(month <= 6, "January to June", "July to December")
place = np.where(np.isin(village, ["Oak", "Yew"]), village, "other")
groups = list(zip(half, place))
print("k =", smallest(groups))
for group in sorted(set(groups)):
    members = [each == group for each in groups]
    print(*group, f"{copied[members].sum()} of {sum(members)} have copied")

# %% [markdown]
# In Anna's group, Oak and the second half-year, four of five have copied. The fifth is Ben, who therefore knows that Anna has. If all five had copied, every reader would know it. k-anonymity hides which *row* is hers, and not what the rows have in common. Repairs ask for several different replies in each group (Machanavajjhala et al. 2007), and must assume what an attacker knows.
#
# A second idea is to publish only counts, and only about groups of at least five:


# %%
def counter(group):
    return copied[group].sum() if group.sum() >= 5 else "refused"


print("Anna alone          ", counter(anna))
print("pupils from Oak     ", counter(village == "Oak"), "of", (village == "Oak").sum())
print("... not from October", counter((village == "Oak") & (month != 10)))

# %% [markdown]
# The counter refuses the direct question and answers two polite ones, whose difference is Anna's reply. This is **differencing** (差分攻击), and no rule about the size of one group prevents it. Two k-anonymous tables of the same pupils can be subtracted in the same way (Ganta et al. 2008).

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Students propose repairs: refuse large groups too, refuse overlapping groups, keep a log. Let them try each one on the board. A log helps only until two people ask, and a refusal is an answer as well.

# %% [markdown]
# *To here NN minutes.*
#
# ## 4 A small error on every count
#
# The third idea is that of the vote: every answer gets fresh noise with standard deviation $s=4$, so the difference of two answers is mostly noise. But an attacker asks about 640 groups drawn at random. He computes the 64 numbers that fit all answers best (**least squares**, 最小二乘法) and rounds each to 0 or 1. For how many of the 64 pupils does this **reconstruction attack** (重构攻击) find the right reply?

# %%
predict("secrets rebuilt", None)

# %% [markdown]
# The function makes twenty attacks with fresh noise, and returns the average number of right replies.


# %%
def attack(questions, noise, rng, times=20):
    groups = rng.integers(0, 2, (questions, n))
    counts = np.tile(groups @ copied, (times, 1)).T  # one column per attack
    answers = counts + rng.normal(0, noise, counts.shape)
    best_fit = np.linalg.lstsq(groups, answers)[0].T
    return np.mean(np.sum((best_fit > 0.5) == copied, axis=1))


rebuilt = attack(640, noise=4, rng=np.random.default_rng(1))
reveal("secrets rebuilt", truth=rebuilt, others={"by tossing coins": 32})

# %% [markdown]
# He finds almost all of them, because the noise averages out: after $m$ answers his error on one pupil is roughly $2s/\sqrt{m-n}$. Twice the noise only makes him ask four times as many questions. **Noise that is drawn afresh for each answer must grow with the number of questions**, like $\sqrt m$. Noise of that size *does* protect (lesson 03).
#
# *To here NN minutes.*
#
# ## 5 An exercise
#
# **★ 1.2** *(In class, 5 minutes.)* A youth club publishes the average pocket money of its members, but only for groups of at least five. On Monday: 28.50 euros, 24 members. On Tuesday Ben has left: 27.10 euros, 23 members. How many euros does Ben get?

# %%
answer = None
check("1.2", answer)

# %% [markdown]
# <details><summary>Solution of 1.2</summary>
#
# ```python
# answer = 24 * 28.50 - 23 * 27.10
# check("1.2", answer)
# print(f"sums 24 * {28.5} = {24 * 28.50:.1f} and 23 * {27.1} = {23 * 27.10:.1f}, difference {answer:.1f}")
# ```
#
# An average is a sum in disguise: 684 euros on Monday and 623.3 on Tuesday, so Ben gets 60.7. Averages over large groups hide nobody.
#
# </details>
# %% [markdown]
# *To here NN minutes.*
#
# ## 6 A coin
#
# The fourth idea, **randomised response** (随机响应), is due to Warner (1965). Every pupil tosses a coin that nobody else sees: with probability $p=0.75$ it says "tell the truth", otherwise "say the opposite". If Anna replies *yes*, she can always say that the coin made her do so.
#
# How well does the coin protect her? Let two Annas play half a million times each, one who copied and one who did not.

# %%
from dplearn.mechanisms import RandomizedResponse

coin, rng = RandomizedResponse.from_probability(truth=0.75), np.random.default_rng(4)
she_did = coin.release(np.ones(500_000, dtype=int), rng=rng)
she_did_not = coin.release(np.zeros(500_000, dtype=int), rng=rng)
print("reply  she did   she did not   ratio   ln ratio")
for reply, word in enumerate(("no", "yes")):
    p, q = np.mean(she_did == reply), np.mean(she_did_not == reply)
    print(f"{word:<5}  {p:8.3f}  {q:12.3f}  {p / q:6.2f}  {np.log(p / q):9.2f}")

# %% [markdown]
# A *yes* is about three times likelier if she did, and a *no* if she did not. The logarithm of the ratio is the **privacy loss** (隐私损失) $L$ of the reply, in *nats*. It is a logarithm because ratios of independent replies multiply, so that losses add. The largest loss, in either direction, is $\varepsilon=\ln\frac{p}{1-p}=\ln 3=1.0986$.
#
# Nothing in this reasoning needs a coin. Let a *mechanism* (机制) be any random process that turns a table into an output.
#
# > **Definition.** Two tables are **neighbours** (相邻数据集) if they differ in the reply of one person. A mechanism $M$ is **$\varepsilon$-differentially private** (差分隐私) if for all neighbours $d, d'$ and every set $S$ of outputs
# >
# > $$P(M(d)\in S)\;\le\;e^{\varepsilon}\,P(M(d')\in S).$$
# >
# > (Dwork, McSherry, Nissim & Smith 2006.)
# >
# > **Theorem.** Randomised response with $\frac12<p<1$ is $\varepsilon$-differentially private with $\varepsilon=\ln\frac p{1-p}$, and for no smaller $\varepsilon$; solved for the coin, $p=\frac{e^\varepsilon}{1+e^\varepsilon}$.
#
# <details><summary>Why</summary>
#
# The output is the list of all replies, and its probability is a product with one factor per pupil. Two neighbours share all factors but one. So the ratio is $p/(1-p)$ or its inverse, for every list; and two sums over the lists in $S$ cannot have a larger ratio than their most unequal terms.
#
# </details>
#
# Here a reply is *replaced*; the library calls this adjacency (邻接关系) `replace_one`. And not even the school must be trusted, because Anna's reply is random when it leaves her desk: the promise is *local* (本地差分隐私).

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Play one round with real coins before the code (two coins, both heads: lie; that is $p=0.75$). Ask who would answer honestly under this rule, and why. Stumbling block: students compare 0.75 with 0.5 instead of with 0.25. The definition compares two worlds, not a world with a guess; the two coins of section 10 return to it.

# %% [markdown]
# *To here NN minutes.*
#
# ## 7 What the coin costs
#
# What share $\pi$ of the pupils have copied? A *yes* comes from a copier who tells the truth or from an honest pupil who does not:
#
# $$P(\text{yes})=\pi p+(1-\pi)(1-p).$$
#
# Solve for $\pi$ and put the observed share $\bar y$ of yes replies in place of the probability:
#
# $$\hat\pi=\frac{\bar y-(1-p)}{2p-1},\qquad \text{standard error}\quad\frac{1}{2p-1}\sqrt{\frac{p(1-p)}{n}}=\sqrt{\frac{e^{\varepsilon}}{n\,(e^{\varepsilon}-1)^2}}.$$
#
# <details><summary>Why</summary>
#
# Each reply is a coin with variance $p(1-p)$, whatever the truth; the mean of $n$ has an $n$-th of it; and dividing by $2p-1$ stretches the error. The two forms are equal because $p=e^\varepsilon/(1+e^\varepsilon)$.
#
# </details>
#
# With all pupils of the school, a survey is wrong by 0.0228 or so (section 10 tries it out). **The coin costs people**: half the error needs four times as many, and so does half of a small $\varepsilon$.
#
# *To here NN minutes.*
#
# ## 8 What ε promises
#
# A teacher believes with probability 0.25 that Anna has copied, and then Anna replies *yes*. What does the teacher believe now, as a probability?

# %%
predict("belief after a yes", None)

# %% [markdown]
# Imagine a hundred pupils, of each of whom the teacher believes the same.

# %%
draw.believers()

# %% [markdown]
# Only half of those who say yes have copied. Bayes' rule says the same with odds (here 1 to 3):
#
# $$\text{odds after}=\text{odds before}\times\frac{P(\text{reply}\mid\text{she did})}{P(\text{reply}\mid\text{she did not})}.$$
#
# The last factor is the ratio that $\varepsilon$ bounds. So even for a reader who knows *everything* but Anna's reply, **the odds about her change at most by the factor $e^{\varepsilon}$**, up or down.


# %%
def after(before, factor):
    odds = before / (1 - before) * factor
    return odds / (1 + odds)


print(f"after a yes {after(0.25, 3):.2f}, after a no {after(0.25, 1 / 3):.2f}")
reveal("belief after a yes", truth=after(0.25, 3), others={"before": 0.25, "the coin's p": 0.75})
# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let the class count the filled people before they compute. Most had said three quarters. Ask then what a belief of 0.5 does to Anna; it is a fair objection that a factor of three is much.

# %% [markdown]
# *To here NN minutes.*
#
# ## 9 Where this breaks, and what it does not protect
#
# The guarantee assumes one reply per person, a private coin, and pupils who follow it.
#
# * **It hides a reply, not a fact.** If nine pupils out of ten copy, everybody thinks so of Anna, too.
# * **It does not hide that she took part.** The mechanism of lesson 02 hides this, too.
# * **Families share secrets:** for three sisters, $\varepsilon$ is three times as large (section 10).
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 10 At home
#
# ### Move the slider
#
# The slider moves $p$. On the left are the chances of each reply for the two Annas, on the right the standard error for 1000 pupils. Before you touch it: at which $p$ does nobody learn anything about Anna, and what does the survey learn there?

# %%
draw.coins()

# %% [markdown]
# At $p=\frac12$ the replies are pure chance: privacy is perfect, and the survey learns nothing. The explorer shows [a survey with $p=0.9$](explorer:mechanisms?mechanism=randomized_response&local_epsilon=2.1972&answers=2&adjacency=replace_one&epsilon=2.1972).
#
# ### Five thousand surveys
#
# We survey the whole school five thousand times, and compare the formula of section 7 with what happens.


# %%
from dplearn.teaching.book import randomized_response_variance


def estimated(yes_share, truth=0.75):
    return (yes_share - (1 - truth)) / (2 * truth - 1)


everybody = pupils.copied.astype(int)
replies = coin.release(np.tile(everybody, (5000, 1)), rng=np.random.default_rng(5))
shares = estimated(replies.mean(axis=1))
claimed = np.sqrt(randomized_response_variance(epsilon=np.log(3), users=len(everybody)))
print(f"true share {everybody.mean():.4f}, share of yes {replies.mean():.4f}")
print(f"estimate {shares.mean():.4f} on average")
print(f"standard error: formula {claimed:.4f}, simulated {shares.std():.4f}")

# %% [markdown]
# The estimate is right on average. An office that counts true replies and adds noise once is wrong by far less (lesson 03): local noise is expensive.
#
# ### Larger crowds
#
# Here is the same formula for finer columns, such as full date of birth (80 years) and sex:

# %%
cells = {"month, village": 12 * 6, "birthday": 365, "date of birth, sex": 365 * 80 * 2}
for name, number in cells.items():
    print(f"{name:<18} {number:6} cells; alone among 8000: {(1 - 1 / number) ** 7999:.2f}")

# %% [markdown]
# Every further column multiplies the number of cells, and the curve moves to larger crowds.

# %%
draw.larger_crowds(cells)

# %% [markdown]
# Real people are not spread evenly, but the size is right. Sweeney (2000) estimated that 87 % of the people in the United States are alone with their postal code, date of birth and sex; Golle (2006), with other census data, 63 %.
#
# ### Sixteen attacks, and a theorem
#
# A secret comes out right when the attacker's error stays below one half. For normal errors this has probability $\Phi\big(\sqrt{m-n}/(4s)\big)$, where $\Phi(z)$ is the area under the normal curve left of $z$. We test this rule of thumb at 16 settings, with twenty attacks each.

# %%
asked, noises, rng = [96, 160, 640, 2560], [1, 4, 8, 16], np.random.default_rng(2)
right = {(m, s): attack(m, s, rng) / n for m in asked for s in noises}

# %% [markdown]
# The lines show the rule of thumb; diamonds show the attacks, and your guess, if you made one.

# %%
draw.attacks(right, n)

# %% [markdown]
# Can errors that are chosen more cleverly stay small?
#
# > **Theorem.** $n$ people hold one secret bit each; a question asks how many of a group hold a 1. If *every* group may be asked about and each answer is off by at most $E$, the answers yield a table with at most $4E$ wrong bits, however the errors were chosen. (Dinur & Nissim 2003; in these words Dwork & Roth 2014, section 8.1.)
#
# *Why.* Take any table that fits all published answers within $E$, and let $G$ be the group of pupils who have a 1 there and a 0 in truth. The two counts of $G$ differ by its size, and each is within $E$ of the published one; so $G$ has at most $2E$ members. The same holds for those with 0 there and 1 in truth.
#
# Nobody can ask $2^n$ questions, and nobody needs to: if all errors stay well below $\sqrt n$, about $n(\log n)^2$ random groups are enough (Dinur & Nissim 2003). Gaussian noise of the order of $\sqrt m$ *does* protect (lesson 03).
#
# ### Three sisters
#
# Three sisters have the same secret: they copy together or not at all, so the two worlds differ in three replies. Walk from one to the other, one reply at a time: each step costs a factor $e^\varepsilon$.
#
# > **Group privacy** (群体隐私). An $\varepsilon$-differentially private mechanism is $k\varepsilon$-differentially private for tables that differ in the replies of $k$ people. (Dwork & Roth 2014, section 2.3.)
#
# ### Every belief
#
# The picture shows every belief before, and how far *any* output of *any* $\ln 3$-private mechanism can move it:

# %%
draw.beliefs(after)

# %% [markdown]
# ### "Toss a coin. Heads: the truth. Tails: let a second coin answer. This is $\ln 2$-private"
#
# Students make this slip ([in the book](explorer:formula_book?id=G-B12b&misprint=ln-two)) because half of the replies are pure chance. But the second coin often tells the truth by accident, so this *is* our coin with $p=0.75$. We compute its $\varepsilon$ in three ways that share no code. One is the formula, the second is the definition itself for a class of three: all tables, all lists of replies.


# %%
from itertools import product


def distribution(table, truth=0.75):
    chance = {True: truth, False: 1 - truth}
    lists = product((0, 1), repeat=len(table))
    return {s: np.prod([chance[a == b] for a, b in zip(s, table, strict=True)]) for s in lists}


def largest_loss(who_differ):
    tables = product(product((0, 1), repeat=3), repeat=2)
    pairs = [(d, e) for d, e in tables if np.sum(np.not_equal(d, e)) == who_differ]
    both = [(distribution(d), distribution(e)) for d, e in pairs]
    return max(np.log(p[s] / q[s]) for p, q in both for s in p)


# %% [markdown]
# The third is a simulation: both coins, a million times, for somebody whose truth is yes. `estimate` puts an interval around the share of *yes* that misses the right value once in a thousand times. By symmetry a *yes* from somebody whose truth is no has probability $1-p$. So an estimate of $p$ gives an estimate of the loss, $\ln\frac p{1-p}$: `.map(f)` applies `f` to the estimate and to its interval.

# %%
from dplearn.teaching.book import two_coin_epsilon
from dplearn.teaching.classroom import Evidence, estimate

first, second = np.random.default_rng(6).integers(0, 2, (2, 1_000_000))
two_coins = Evidence(
    "epsilon of the two coins",
    closed=two_coin_epsilon(honest=0.5, yes=0.5),
    exact=largest_loss(who_differ=1),
    simulated=estimate(first | second).map(lambda p: np.log(p / (1 - p))),
    printed=np.log(2),
    exact_by="enumeration",
)
print(two_coins)

# %% [markdown]
# Three ways agree on $\ln3$, and $\ln2$ is refuted: it compares $\frac12$ with $\frac14$ and forgets the accident. The error is unsafe, because the text promises more privacy than there is. The same enumeration confirms group privacy:

# %%
for people in (1, 2, 3):
    print(f"answers that differ: {people}, largest loss {largest_loss(people):.4f}")
# %% [markdown]
# ### "Each reply is $\varepsilon$-private, so we may ask again and average"
#
# A careful school asks Anna nine times, with fresh coins, and an attacker takes the majority. The losses of the replies *add* ([basic composition](explorer:formula_book?id=G-C1&misprint=none), 基本组合), for all $k$ of them may say yes:

# %%
from scipy.stats import binom

print("answers   epsilon   majority right")
for k in (1, 3, 9, 21):
    print(f"{k:7}   {k * np.log(3):7.4f}   {binom.sf(k // 2, k, 0.75):14.4f}")
# %% [markdown]
# Her secret is out, for the same reason as in section 4: whoever can average wins. The error is unsafe by a factor of $k$. Lesson 04 shows what a little tolerance gains. The school may instead note Anna's first reply and hand out copies of it.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Four claims at home, three kinds of damage: unsafe, wrong statistics, safe but wasteful. Let the class sort them before the cells run.

# %% [markdown]
# ### "The estimate is the share of people who said yes"
#
# Take a class of ten with one copier. What is the share of yes replies on average? By the formula, over all lists of ten replies, and by simulation:

# %%
ten = (1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
trials = coin.release(np.tile(ten, (200_000, 1)), rng=np.random.default_rng(7))
listed = sum(chance * np.mean(replied) for replied, chance in distribution(ten).items())
print(f"formula {0.1 * 0.75 + 0.9 * 0.25:.4f}, all lists {listed:.4f}")
print(f"simulated {trials.mean():.3f}")

# %% [markdown]
# Three times too many, and more replies do not help: the error is a *bias*, not scatter. Corrected as in section 7 the mean is $(0.3-0.25)/0.5=0.1$. This error leaves privacy untouched, but the statistics are wrong.
#
# ### "With $k$ possible answers, tell the truth with probability $\frac{e^\varepsilon}{e^\varepsilon+k}$"
#
# ([In the book](explorer:formula_book?id=G-B12&misprint=k-for-k-minus-one).) Let the answers be *never*, *once*, *often*, and $\varepsilon=1$. Each of the two other answers gets half of the rest.

# %%
for name, p in {"printed": np.e / (np.e + 3), "right": np.e / (np.e + 2)}.items():
    print(f"{name:<8} truth with probability {p:.4f}, epsilon {np.log(2 * p / (1 - p)):.4f}")

# %% [markdown]
# The truth is one of the $k$ answers and was counted twice. The error is safe: the promise "at most 1" holds, but it is not tight. People get more privacy than announced, and the survey pays for it with accuracy.
#
# ### Two more exercises
#
# **★★★ 1.3** The school plans a new survey, with a promise to families: for three sisters who copy together or not at all, $\varepsilon$ must not exceed 1.5. And the standard error of the estimated share is to be at most 0.02. How many pupils are needed, at the least?

# %%
answer = None
check("1.3", answer)

# %% [markdown]
# <details><summary>Solution of 1.3</summary>
#
# ```python
# epsilon = 1.5 / 3
# answer = np.ceil(np.exp(epsilon) / (np.exp(epsilon) - 1) ** 2 / 0.02**2)
# check("1.3", answer)
# print(f"pupils {answer:.0f}")
# ```
#
# A group of three pays $3\varepsilon$, so each answer may cost 0.5. The condition $\frac{e^\varepsilon}{n(e^\varepsilon-1)^2}\le0.02^2$ holds from $n=9795$ on.
#
# </details>

# %% [markdown]
# **★★ 1.4** Break a counter. `count(group)` says how many pupils of a set of names have copied, and raises an error for fewer than five names. Write the attack that finds out whether one `pupil` has copied; `pupils` is the set of all names. The library tries it on classes that you do not see.


# %%
def did_copy(count, pupils, pupil):
    # Write your code here.
    return None


check("1.4", did_copy)

# %% [markdown]
# <details><summary>Solution of 1.4</summary>
#
# ```python
# def did_copy(count, pupils, pupil):
#     return count(pupils) > count(pupils - {pupil})
#
#
# check("1.4", did_copy)
# ```
#
# Both counts are about five pupils or more, and their difference is about one. The rule about small groups protects nobody.
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** What do you ask somebody who says "we removed the names, so the data are anonymous"?
#
# <details><summary>a. Whether the file is encrypted.</summary>
#
# No. Encryption protects a file from thieves; this one is published.
#
# </details>
#
# <details><summary>b. Which of the other columns could somebody know about a person?</summary>
#
# Right. Which other columns are there, and who knows them about somebody? The combination of harmless columns identifies a person, and the attacker knows the other half.
#
# </details>
#
# <details><summary>c. Whether the names were removed from the backups, too.</summary>
#
# No. Even with every copy clean, the harmless columns together are a name.
#
# </details>
#
# **2** "We publish only sums over large groups." Is that safe?
#
# <details><summary>a. Yes, if every group has at least five people.</summary>
#
# No. The difference of two such groups can be one person: that was the first attack.
#
# </details>
#
# <details><summary>b. Yes, if each sum is rounded.</summary>
#
# No. Rounding is a small error on each answer; with enough answers it averages out.
#
# </details>
#
# <details><summary>c. No: two groups may differ in one person, and many sums are equations.</summary>
#
# Right. Two groups that differ in one person give that person away, and many noisy sums can be solved like equations. What counts is what all answers say together.
#
# </details>
#
# **3** A poster says: "our coin tells the truth with probability 0.75, so ε = 3". What went wrong?
#
# <details><summary>a. ε is the logarithm of p/(1−p), and that is about 1.1.</summary>
#
# Right. The ratio $p/(1-p)$ is $e^\varepsilon$, and its logarithm is $\varepsilon$, here about 1.1. A logarithm of $p$ alone would be wrong too: $\varepsilon$ compares two worlds.
#
# </details>
#
# <details><summary>b. Nothing: three truths for each lie is ε = 3.</summary>
#
# No. Three to one is the ratio, and ε is its logarithm, ln 3.
#
# </details>
#
# <details><summary>c. ε is the logarithm of p, so about −0.3.</summary>
#
# No. ε compares two worlds, so it needs the chance of the same output in both.
#
# </details>
#
# **4** Why must the noise grow when more questions are answered?
#
# <details><summary>a. Because more people are asked.</summary>
#
# No. The people stay the same; the number of answers about them grows.
#
# </details>
#
# <details><summary>b. Because fresh errors average out, like 1/√m.</summary>
#
# Right. Independent errors average out: after $m$ answers the error on one person is of the order of $s/\sqrt m$, so fresh noise that does not grow like $\sqrt m$ is beaten in the end. Errors that are not independent do not save the table either: if they stay well below $\sqrt n$, the theorem of Dinur and Nissim applies.
#
# </details>
#
# <details><summary>c. It need not, if each answer has fresh noise of its own.</summary>
#
# No. Fresh noise is what averages out.
#
# </details>
#
# **5** Anna replies yes. Has the survey harmed her?
#
# <details><summary>a. Yes: now it is known that she copied.</summary>
#
# No. Her coin may have said yes for her; her reply proves nothing.
#
# </details>
#
# <details><summary>b. No: a random answer says nothing about her.</summary>
#
# No. It says a little, and ε is the measure of how much.
#
# </details>
#
# <details><summary>c. It changed the odds about her answer by at most a factor $e^\varepsilon$.</summary>
#
# Right. It has multiplied the odds about her answer by at most $e^\varepsilon$. How much that is depends on $\varepsilon$ and on what was believed before; at $\varepsilon=0.1$ hardly anything, at $\varepsilon=5$ a lot.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("1.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **Names removed** | the combination of harmless columns is a name |
# | **k-anonymity** | hides which of $k$ rows is hers, not what they share; subtracting two tables ends it |
# | **Counts only** | two counts that differ in one person give that person away |
# | **A little noise** | fresh noise on $m$ answers must be of the order of $\sqrt m$; if all errors are $o(\sqrt n)$, about $n(\log n)^2$ random questions betray almost all $n$ bits |
# | **Randomised response** | truth with probability $p$: $\varepsilon=\ln\frac p{1-p}$, local, one answer replaced |
# | **$\varepsilon$-DP** | $P(M(d)\in S)\le e^\varepsilon P(M(d')\in S)$ for all neighbours and all $S$ |
# | **It means** | odds about one answer change by at most $e^\varepsilon$ for a reader who knows all the others; groups of $k$ and $k$ answers: $k\varepsilon$ |
# | **Its price** | $\hat\pi=\frac{\bar y-(1-p)}{2p-1}$ with standard error $\sqrt{e^\varepsilon/n}\,/(e^\varepsilon-1)$ |
#
# ## 13 Further reading
#
# * Warner (1965), *Randomized response: a survey technique for eliminating evasive answer bias*: seven pages, and the idea is all there.
# * Sweeney (2000), *Simple demographics often identify people uniquely*; Golle (2006), *Revisiting the uniqueness of simple demographics in the US population*: how many people are alone in their cell.
# * Sweeney (2002), *k-anonymity: a model for protecting privacy*; Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), *l-diversity: privacy beyond k-anonymity*; Ganta, Kasiviswanathan & Smith (2008), *Composition attacks and auxiliary information in data privacy*: the promise, its repair, and how tables are subtracted.
# * Dinur & Nissim (2003), *Revealing information while preserving privacy*: the attack that started it, and where the square root comes from.
# * Dwork & Roth (2014), *The algorithmic foundations of differential privacy*, sections 1 to 3: the definition and what it does and does not promise.
#
# **Next** [lesson 02](02_hypothesis_test.ipynb): what an attacker can do with one report, as a test with errors of two kinds.
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert two_coins.refuted and np.isclose(claimed, shares.std(), rtol=0.05)
assert np.isclose(listed, 0.3) and abs(trials.mean() - 0.3) < 0.002
assert np.isclose(coin.profiles("replace_one")[0].epsilon(0), np.log(3))
assert np.isclose(largest_loss(3), 3 * np.log(3)) and np.isclose(distribution(ten)[ten], 0.75**10)
assert counter(village == "Oak") - counter((village == "Oak") & (month != 10)) == copied[anna]
print("all checks passed")
