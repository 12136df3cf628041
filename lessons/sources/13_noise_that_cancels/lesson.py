# %% [markdown]
# # 13 Noise that cancels
#
# *Tonight's noise takes back a part of last night's. Is Anna protected less?*
#
# It is winter. Each evening, for 64 evenings, the school publishes how many of its pupils have been ill so far. Anna falls ill once. From that evening on she is in **every** total. The picture shows by how much the published totals are wrong, for two ways to add Gaussian noise. They keep the same promise to Anna.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. say what noise with a memory does to the error and to the promise, and compute both;
# 2. prove that no such noise is below a limit, with one inequality about matrices;
# 3. say when a training run should use it, and what it then must know about its users.
#
# * **Time** NN minutes in class, and a quarter of an hour at home.
# * **You need** lesson 02 (hypothesis test), lesson 03 (Gaussian mechanism), lesson 04 (composition), and products of matrices.
# * **Beside it** [ε of one release with this lesson's noise](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=4&delta=1e-4&steps=64&here=1), if you have started it. Nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `sums` | $A$ | lower triangle of ones: totals from counts of single evenings | matrix |
# | `strategy` | $C$ | how far Anna moves what is hidden by fresh noise | matrix |
# | `length` | $\lVert C\rVert$ | length of the longest column of $C$ | counts |
# | `noise` | $\sigma$ | noise multiplier of the whole winter | none |
# | `share` | $\lambda$ | share of last night's noise that is taken back | none |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: noise may remember, and what it then costs is the length of a column.
#
# | minutes | part | do |
# |---|---|---|
# | 6 | 0 The first screen | ask who is in how many totals; everybody types a guess |
# | 2 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again |
# | 4 | 3 Three ways | the same letters in all three: what moves, what is left |
# | 8 | 4 The statement | the proof on the board; a guess before the attack |
# | 6 | 5 An exercise | alone, then compare with a neighbour |
# | 3 | 6 Move the slider | a student at the keyboard: where is the lowest curve? |
# | 5 | 7 The root | unveil the first guess; then the limit |
# | 2 | 8 Where this breaks | the first bullet aloud |
# | – | 9 to 12 | homework |

# %% tags=["hide-input"]
import numpy as np

from dplearn import ACCOUNTANTS, Gaussian
from dplearn.mechanisms import CorrelatedGaussian
from dplearn.teaching.classroom import check, estimate, predict, reveal, show
from dplearn.teaching.figures import Curve, curves, slider

evenings, noise, rng = 64, 4.0, np.random.default_rng(13)
nights = np.arange(1, evenings + 1)
sums = np.tril(np.ones((evenings, evenings)))
each_evening = rng.normal(size=(3, evenings))
wrong = 8 * noise * each_evening[0], np.cumsum(noise * each_evening[1])
figure = curves(
    [
        Curve(x=nights, y=wrong[0], label="fresh noise on every total", role="quiet", width=1.5,
              label_at=22 / 63, side="top right"),
        Curve(x=nights, y=wrong[1], label="noise on every evening, added up", role="second",
              label_at=26 / 63, side="bottom center"),
    ],
    title="By how much the published totals are wrong",
    x="evening",
    y="pupils too many",
)  # fmt: skip
promise = ACCOUNTANTS["pld"]().epsilon(Gaussian(noise), delta=1e-4)
words = "Standard deviation of the last total: 32 pupils, either way."
show(figure, f"{words} For all 64 totals together, {promise}.")

# %% [markdown]
# The one way adds fresh noise of standard deviation 32 to every total: Anna moves up to 64 of them, a vector of length $\sqrt{64}=8$, and the noise is $8\cdot4$. The other adds noise 4 to the count of every evening, which she moves once, and adds up: after 64 evenings $4\sqrt{64}=32$ again. Noise that remembers does better. With the same promise, how large is the standard deviation of its worst total?

# %%
predict("standard deviation of the worst total", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons.
#
# **1** 02.3
#
# **2** 03.2
#
# **3** 04.1

# %%
answers = ""  # three letters, such as "bca"
check("13.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# Each evening draws its own noise $Z_t$, and the count of evening $t$ gets $Z_t-\frac12Z_{t-1}$. In the totals much of it cancels. A stranger sees all totals. What can she do?
#
# <details><summary>a. Subtract totals until the noise cancels, and see Anna.</summary>
#
# No. Differences of totals are the counts of single evenings, and each of these has its own $Z_t$.
#
# </details>
#
# <details><summary>b. Nothing new: the noise on an evening is even larger than before.</summary>
#
# No. The size alone says nothing: the *same* noise on every total is gone in the difference of two.
#
# </details>
#
# <details><summary>c. Learn a little more about Anna, by an amount that one can compute.</summary>
#
# Right. From all evenings she can undo a part of the noise. What this costs is the length of a column, in section 4.
#
# </details>
#
# <details><summary>d. It cannot be known: noises that depend on each other do not compose.</summary>
#
# No. Composition of 64 releases is not needed: the whole winter is one release of one vector.
#
# </details>

# %%
vote = ""  # one letter
check("13.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Three ways, one formula
#
# Write the counts of the evenings as a vector $x$. The totals are $Ax$, where $A$ is a lower triangle of ones. Choose a lower triangular matrix $C$, the **strategy** (策略矩阵), and publish
#
# $$A\,(x+C^{-1}Z),\qquad Z\sim N(0,s^2I).$$
#
# The two ways of the picture are two choices. With $C=I$ every evening has its own noise. With $C=A$ the totals have it. Between them lies $C^{-1}=I-\frac12S$, where $S$ shifts by one evening: tonight's noise takes back half of last night's.

# %%
own = np.eye(evenings)
half = np.linalg.inv(own - 0.5 * np.eye(evenings, k=-1))
strategies = {"own noise": own, "half taken back": half, "fresh totals": sums}

# %% [markdown]
# What is left of the noise in the totals is $AC^{-1}Z$. A total is one row of $AC^{-1}$, so its noise is $s$ times the length of that row.


# %%
def left_over(strategy):
    """Standard deviation of the worst total, for noise of standard deviation 1."""
    return np.linalg.norm(sums @ np.linalg.inv(strategy), axis=1).max()


for name, strategy in strategies.items():
    print(f"{name:16} {left_over(strategy):.3f} times s")

# %% [markdown]
# These are not yet comparable: each needs its own $s$.
#
# ## 4 The statement
#
# > **Theorem (matrix mechanism, 矩阵机制).** If Anna is in one count, all that is published is as private as one number that she moves by 1, with noise $s/\lVert C\rVert$, where $\lVert C\rVert$ is the length of the longest column of $C$.
# >
# > Li, Miklau, Hay, McGregor & Rastogi (2015); that each count may depend on what was published before: Denisov et al. (2022).
#
# *Why.* Whoever has $x+C^{-1}Z$ can multiply by $C$ and has $Cx+Z$, and can go back. So both are equally private. In $Cx+Z$ the noise is fresh, and Anna, ill on evening $j$, moves it by column $j$. Totals are computed from there: post-processing.
#
# So $s=4\lVert C\rVert$ keeps the promise. A common slip looks at the largest *entry*, which is 1 in each strategy here, and takes $s=4$:


# %%
def length(strategy):
    return np.linalg.norm(strategy, axis=0).max()


for name, strategy in strategies.items():
    product = noise * length(strategy) * left_over(strategy)
    print(f"{name:16} length {length(strategy):.3f}, worst total {product:.2f}")
print(f"refuted: noise multiplier 4 with s = 4; half taken back has {4 / length(half):.3f}")

# %% [markdown]
# Half taken back: 18.9 pupils in place of 32, for the same promise. Is it the same? The best attacker knows all others, and weighs all 64 totals by the inverse of their covariance. With one number and noise 4 she guesses right in 55 of 100 winters whether Anna was ill on evening 20. How often against the noise that takes back half?

# %%
predict("right guesses in 100 winters", None)

# %% [markdown]
# Her rule is the likelihood ratio of lesson 02: she adds up the totals with weights, and says "ill" above the middle.


# %%
def right_guesses(strategy, winters=40_000):
    """Estimate for the best attacker, who sees all totals."""
    spread = noise * length(strategy) * sums @ np.linalg.inv(strategy)
    moved = sums[:, 20]
    weights = np.linalg.solve(spread @ spread.T, moved)
    ill = rng.integers(2, size=winters)
    totals = np.outer(ill, moved) + rng.normal(size=(winters, evenings)) @ spread.T
    return estimate((totals @ weights > moved @ weights / 2) == ill)


attacked = {name: right_guesses(strategy) for name, strategy in strategies.items()}
reveal("right guesses in 100 winters", truth=100 * attacked["half taken back"].value)
for name, rate in attacked.items():
    print(f"{name:16} {rate}")

# %% [markdown]
# Nobody gains. (Fresh noise on all totals does better by a hair: an evening late in the winter reaches fewer totals.)
#
# *To here NN minutes.*

# %% [markdown] tags=["instructor"]
# > **For the teacher.** "But the noise cancels!" It cancels in the totals. What the attacker wants to cancel is the noise in $Cx+Z$, and that is fresh.

# %% [markdown]
# ## 5 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint; the same wrong answer again gets a plainer one.
#
# **★ 13.1** *(In class, 5 minutes.)* Take back a share $\lambda=0.8$ in place of a half. The columns of $C$ are then $1,\lambda,\lambda^2,\dots$; treat them as endless. How long is a column?

# %%
answer = None
check("13.1", answer)

# %% [markdown]
# <details><summary>Solution of 13.1</summary>
#
# ```python
# answer = 1 / np.sqrt(1 - 0.8**2)
# check("13.1", answer)
# ```
#
# The squares are a geometric series, $1+\lambda^2+\lambda^4+\dots=\frac1{1-\lambda^2}$.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 Move the slider
#
# The slider is the share $\lambda$ that is taken back, the curve the noise of each total, always with the same promise. Before you move it: where will the right end be lowest?


# %% tags=["hide-input"]
def over_the_winter(strategy):
    """Standard deviation of every total, with the promise kept."""
    return noise * length(strategy) * np.linalg.norm(sums @ np.linalg.inv(strategy), axis=1)


def frame(share):
    strategy = np.linalg.inv(own - share * np.eye(evenings, k=-1))
    every = over_the_winter(strategy)
    lines = [
        Curve(x=nights, y=np.full(evenings, 32.0), label="fresh noise on every total",
              role="quiet", label_at=0.5, side="top center"),
        Curve(x=nights, y=over_the_winter(own), label="own noise", role="second", label_at=0.55,
              side="top left"),
        Curve(x=nights, y=every, label="taken back", label_at=0.6, side="bottom right"),
    ]  # fmt: skip
    title = f"Taken back {share:g}: the worst total has noise {every.max():.3g}"
    return curves(
        lines, title=title, x="evening", y="standard deviation, pupils", y_range=(0.0, 40.0)
    )


frames = {f"{share:g}": frame(share) for share in (0, 0.25, 0.5, 0.8, 0.9, 0.95, 0.99)}
words = "; ".join(f.layout.title.text for f in frames.values())
show(slider(frames, name="λ", start=2), f"All frames. {words}.")

# %% [markdown]
# Taking back more leaves less in the totals, and makes the column longer. Near 0.9 the product is smallest: 11.7 pupils. Beyond, the first evenings pay for it.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let someone explain the left end at λ = 0.99: a total of one evening has all of the larger noise, and nothing to cancel it.

# %% [markdown]
# ## 7 The root
#
# Why take back from one evening only? In $C=I$ the rows of $AC^{-1}$ are long, in $C=A$ the columns of $C$. Fair is the matrix in the middle, $C\cdot C=A$, so that $AC^{-1}=C$. Its first column falls slowly, $1,\frac12,\frac38,\frac5{16},\dots$:

# %%
falling = np.cumprod([1, *(1 - 0.5 / nights[:-1])])
root = sum(part * np.eye(evenings, k=-j) for j, part in enumerate(falling))
best = noise * length(root) * left_over(root)
print("taken back of the evenings before:", -np.linalg.inv(root)[1:5, 0])
reveal("standard deviation of the worst total", truth=best)
print(f"{length(root) ** 2:.3f} times noise {noise:g}")

# %% [markdown]
# A half of last night's noise, an eighth of that of the night before, and so on: 9.56 pupils in place of 32. The factor $\lVert C\rVert^2$ grows like $\frac1\pi\ln T$ with the number of evenings, where 8 is $\sqrt T$.
#
# Can another matrix do far better? No.
#
# *Why.* Put $B=AC^{-1}$. The sum of the singular values of a product is at most the product of the Frobenius norms, and a matrix with $T$ rows of length at most $b$ has Frobenius norm at most $b\sqrt T$. So
#
# $$\textstyle\sum_i s_i(A)\le\lVert B\rVert_F\,\lVert C\rVert_F\le T\cdot(\text{longest row of }B)\cdot(\text{longest column of }C).$$

# %%
least = noise * np.linalg.svd(sums, compute_uv=False).sum() / evenings
print(f"no strategy is below {least:.2f} pupils; the root has {best:.2f}")

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The limit is one inequality for *all* matrices. Ask what it would mean to beat it: to publish sums with less noise than their singular values allow.

# %% [markdown]
# ## 8 Where this breaks
#
# * **Anna is ill twice.** Then two columns add up, and the promise is another one. Who may come how often must be known, and be kept to.
# * **It is about sums.** In DP-SGD (lesson 10) the model is the sum of all updates, so noise that cancels in sums helps. But amplification by sampling (lesson 07) was proved for fresh noise. Where nobody can sample, as with phones, noise with a memory wins.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 9 At home
#
# ### A tree
#
# The first answer to the question was a tree: noise on every evening, every pair, every four, and so on. A total adds up few of them. In the 64 evenings Anna is in seven sums, and the total of 63 evenings needs six:

# %%
tree = np.sqrt(7) * np.sqrt(6) * noise
print(f"tree {tree:.1f}, root {best:.2f}, least {least:.2f}")

# %% [markdown]
# This is far below 32, and nearly three times the root: a tree uses each of its noises for itself, and forgets what the others tell.
#
# ### Anna is ill three times
#
# Illnesses are ten evenings apart or more. The library takes the worst three columns, and adds the lengths where they overlap:

# %%
for times in (1, 2, 3):
    winter = CorrelatedGaussian.from_strategy(
        root, noise_multiplier=noise * length(root), separation=10, participations=times
    )
    print(times, ACCOUNTANTS["pld"]().epsilon(winter, delta=1e-4))

# %% [markdown]
# Three times is worse than $\sqrt3$ times: her columns point in similar directions. A strategy that forgets after ten evenings, a *banded* one, has columns that do not overlap:

# %%
banded = np.where(np.abs(nights[:, None] - nights) < 10, root, 0.0)
winter = CorrelatedGaussian.from_strategy(
    banded, noise_multiplier=noise * length(banded), separation=10, participations=3
)
print(ACCOUNTANTS["pld"]().epsilon(winter, delta=1e-4))
print(f"worst total {noise * length(banded) * left_over(banded):.2f} pupils")

# %% [markdown]
# Such bands train language models on phones: whoever has taken part rests for some rounds.
#
# ### Two more exercises
#
# **★★ 13.2** The same noise, of standard deviation 32, is added to *every* total, drawn once for the winter. What is the standard deviation of the noise in the count of evening 20, which a stranger computes from two totals?

# %%
answer = None
check("13.2", answer)

# %% [markdown]
# <details><summary>Solution of 13.2</summary>
#
# ```python
# answer = 0
# check("13.2", answer)
# ```
#
# The total of evening 20 minus that of evening 19: the noise is gone, and the promise with it.
#
# </details>

# %% [markdown]
# **★★★ 13.3** Write the first `steps` entries of the column of the root, as a list: the first is 1, and entry $k$ is the one before times $1-\frac1{2k}$.


# %%
def column(steps):
    # Write your code here.
    return None


check("13.3", column)

# %% [markdown]
# <details><summary>Solution of 13.3</summary>
#
# ```python
# def column(steps):
#     entries = [1.0]
#     for k in range(1, steps):
#         entries.append(entries[-1] * (1 - 1 / (2 * k)))
#     return entries
#
#
# check("13.3", column)
# ```
#
# They are the coefficients of $(1-z)^{-1/2}$, as the entries of $A$ are those of $(1-z)^{-1}$.
#
# </details>

# %% [markdown]
# ## 10 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Tonight's noise takes back half of last night's. Why may the fresh noise not stay as small as it was?
#
# <details><summary>a. Because the totals have less noise.</summary>
#
# No. The size of the noise in the totals is not what protects; the same noise on each total shows it.
#
# </details>
#
# <details><summary>b. Because Anna moves $Cx$ by a whole column, which is longer than 1.</summary>
#
# Right. Whoever multiplies by $C$ sees her on every later evening.
#
# </details>
#
# <details><summary>c. Because noises that depend on each other may not be added.</summary>
#
# No. They may; the sum of normal noises is normal.
#
# </details>
#
# **2** What is $C$ if every total gets fresh noise?
#
# <details><summary>a. $I$.</summary>
#
# No. Then every evening gets it.
#
# </details>
#
# <details><summary>b. The root of $A$.</summary>
#
# No. The root is half way.
#
# </details>
#
# <details><summary>c. $A$.</summary>
#
# Right. $A(x+A^{-1}Z)=Ax+Z$.
#
# </details>
#
# **3** "Sixty-four totals are sixty-four releases, so the accountant must compose 64 times." What do you say?
#
# <details><summary>a. They are one release of one vector, which Anna moves by one column.</summary>
#
# Right. And composition of 64 releases with fresh noise would be about another mechanism.
#
# </details>
#
# <details><summary>b. True; and the noise of each total goes in.</summary>
#
# No. The noise of each total does not say how the noises hang together.
#
# </details>
#
# <details><summary>c. True, but the totals are post-processing, so they cost nothing.</summary>
#
# No. They are computed from the noisy counts, which cost something: once.
#
# </details>
#
# **4** Next winter is twice as long. What happens to the error of the root?
#
# <details><summary>a. It grows by the factor $\sqrt2$.</summary>
#
# No. That is fresh noise.
#
# </details>
#
# <details><summary>b. It grows a little, like a logarithm.</summary>
#
# Right. The factor grows by about $\frac1\pi\ln2$, a tenth of what it is.
#
# </details>
#
# <details><summary>c. It stays: noise is taken back.</summary>
#
# No. The columns become longer, and a total keeps a part of each noise.
#
# </details>
#
# **5** A run draws its batches by Poisson sampling and takes back noise. Which ε may it state?
#
# <details><summary>a. The one of a Poisson-sampled Gaussian with that noise.</summary>
#
# No. That is proved for noise that is fresh in each step.
#
# </details>
#
# <details><summary>b. The one of the matrix mechanism, with the columns that a record may use.</summary>
#
# Right. It does not count on sampling; for special strategies there are theorems that do.
#
# </details>
#
# <details><summary>c. The smaller of the two.</summary>
#
# No. The first is not proved, whatever its size.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("13.test", answers)

# %% [markdown]
# ## 11 On one card
#
# | | |
# |---|---|
# | **Release** | $A(x+C^{-1}Z)$, with $Z\sim N(0,s^2I)$ |
# | **Promise** | that of noise multiplier $s/\lVert C\rVert$, longest column; more columns if Anna comes more often |
# | **Error** | $s$ times the longest row of $AC^{-1}$; product for totals: $\sqrt T$ with $C=I$ or $A$, about $1+\frac1\pi\ln T$ with the root |
# | **Never** | the largest entry for the length, the same noise twice, amplification that was proved for fresh noise |
#
# ## 12 Further reading
#
# * Dwork, Naor, Pitassi & Rothblum (2010), *Differential privacy under continual observation*: the tree.
# * Li, Miklau, Hay, McGregor & Rastogi (2015), *The matrix mechanism*.
# * Denisov, McMahan, Rush, Smith & Thakurta (2022), *Improved differential privacy for SGD via optimal private linear operators on adaptive streams*.
# * Pillutla et al. (2025), *Correlated noise mechanisms for differentially private learning*: a book about all of this.
#
# <details><summary>In the formula book</summary>
#
# [The exact profile of Gaussian noise](explorer:formula_book?id=G-B5), which one column turns into a promise.
#
# </details>
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert np.allclose(root @ root, sums) and 3 * best < 32 and least < best < 1.2 * least
assert abs(length(root) ** 2 - 1 - np.log(evenings) / np.pi) < 0.1
assert all(rate.lower < 0.5498 and rate.upper > 0.5 for rate in attacked.values())
assert 0.5498 in attacked["half taken back"] and 0.5498 in attacked["own noise"]
assert best < min(over_the_winter(np.linalg.inv(own - s * np.eye(evenings, k=-1))).max()
                  for s in np.linspace(0, 0.99, 100)) < tree  # fmt: skip
print("all checks passed")
