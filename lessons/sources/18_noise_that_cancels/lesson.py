# %% [markdown]
# # 18 Noise that cancels
#
# *An option: tonight's noise takes back a part of last night's. Is Anna protected less?*
#
# On each of 64 winter evenings, a school publishes how many pupils have been ill so far. Anna falls ill once, and every total from that evening on includes her. The school can add fresh noise to every total, or it can add noise to each evening's new cases and sum the results. Both ways keep the same promise to Anna. The picture shows how wrong each total is, as a standard deviation.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. compute what noise with a memory does to the error and to the promise;
# 2. read both from the rows and the columns of two matrices;
# 3. say when a training run should use such noise, and what it must then know about its users.
#
# * **Time** NN minutes in class, and a quarter of an hour at home.
# * **You need** lesson 02 (hypothesis test), lesson 03 (Gaussian mechanism), lesson 04 (composition), and products of matrices.
# * **Beside it** you can open [the explorer at the numbers of this lesson](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=4&delta=1e-4&steps=64&here=1), which shows the ε of one release with this noise.
# * **Words** are given in Chinese at first use, and the [glossary](README.md#glossary-english中文) lists them all.
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `sums` | $A$ | lower triangle of ones, which turns new cases into totals | matrix |
# | `strategy` | $C$ | how far Anna moves what the fresh draws hide | matrix |
# | `length` | $\lVert C\rVert$ | length of the longest column of $C$ | counts |
# | `noise` | $\sigma$ | noise multiplier of the whole winter, here 4 | none |
# | `share` | $\lambda$ | share of last night's draw that is taken back | none |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Students should leave with one sentence: noise may have a memory, and its price is the length of a column.
#
# | minutes | part | do |
# |---|---|---|
# | 9 | 0 The first screen | everybody types one expression, then a guess |
# | 2 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again |
# | 5 | 3 Two matrices | a student moves the slider and reads the two frames aloud |
# | 8 | 4 The price | why multiplying by $C$ changes nothing; a guess before the attack |
# | 6 | 5 An exercise | alone, then compare with a neighbour |
# | 2 | 6 The best share | ask for the minimum before the cell runs |
# | 4 | 7 The root | unveil the first guess; then the limit |
# | 2 | 8 Where this breaks | the first bullet aloud |
# | – | 9 to 12 | homework |

# %% tags=["hide-input"]
from dplearn.teaching.classroom import check, pictures, predict, reveal, yours

draw = pictures("18")
draw.two_ways()

# %% [markdown]
# **★ 18.1** *(In class, 2 minutes.)* A third way gives the noise a memory: on each evening, the new cases get tonight's draw minus a share of last night's draw. Replace `...` in the cell below by this difference, and run the cell.


# %%
def evening_noise(fresh, share):
    pairs = zip(fresh, [0, *fresh])
    return [... for tonight, last_night in pairs]


check("18.1", evening_noise)

# %% [markdown]
# <details><summary>Solution of 18.1</summary>
#
# ```python
# def evening_noise(fresh, share):
#     pairs = zip(fresh, [0, *fresh])
#     return [tonight - share * last_night for tonight, last_night in pairs]
#
#
# check("18.1", evening_noise)
# ```
#
# The list `[0, *fresh]` starts one evening earlier, so `zip` pairs every draw with the draw of the evening before.
#
# </details>

# %% [markdown]
# The next picture shows the totals if this function takes back half of each draw. The draws are a little larger than before, so that Anna keeps the same promise; section 4 says how much.

# %%
draw.three_ways(evening_noise)

# %% [markdown]
# In the first two ways, the worst total has a standard deviation of 32 pupils. How small can this number become if noise may have any memory, and the promise stays the same? Write your guess in place of `None`, and run the cell.

# %%
predict("standard deviation of the worst total", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons prepare what follows.
#
# **1** 02.3
#
# **2** 03.2
#
# **3** 04.1

# %%
answers = ""  # three letters, such as "bca"
check("18.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The new cases of evening $t$ get the noise $Z_t-\frac12Z_{t-1}$, where the draws $Z_t$ are independent. A stranger sees all totals, in which much of this noise cancels. What does she learn about Anna that the noise $Z_t$ alone would hide?
#
# <details><summary>a. Everything, because she can subtract totals until the noise cancels.</summary>
#
# No. The difference of two neighbouring totals gives the new cases of one evening, and these still contain a draw of their own.
#
# </details>
#
# <details><summary>b. Nothing, because the noise on each evening has become larger.</summary>
#
# No. The size of the noise alone decides nothing: if every total had the *same* large noise, any difference of two totals would remove it.
#
# </details>
#
# <details><summary>c. A little, and we can compute how much.</summary>
#
# Right. From all evenings together she can undo a part of the noise. Section 4 measures this with the length of a column.
#
# </details>
#
# <details><summary>d. Nobody can know, because noises that depend on each other do not compose.</summary>
#
# No. We need no composition of 64 releases, since the whole winter is one release of one vector.
#
# </details>

# %%
vote = ""  # one letter
check("18.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Two matrices
#
# Your function is linear, so a matrix describes it. Column $j$ of this matrix is what the function returns if draw $j$ is 1 and all other draws are 0:

# %%
import numpy as np

evening = yours("18.1", evening_noise)  # our function until yours is right


def noise_matrix(share, evenings=64):
    return np.array([evening(list(draw), share) for draw in np.eye(evenings)]).T


print(noise_matrix(0.5, evenings=4))

# %% [markdown]
# We call this matrix $C^{-1}$, and its inverse $C$ the **strategy** (策略矩阵). Let $x$ be the vector of new cases, and let the lower triangle of ones $A$ add them up. The school publishes
#
# $$A\,(x+C^{-1}Z),\qquad Z\sim N(0,s^2I).$$
#
# Each row of $AC^{-1}$ shows how much of every draw remains in one total, so the standard deviation of this total is $s$ times the length of its row. A stranger can undo sums and differences until she has $Cx+Z$, in which each draw appears once. There Anna, who is ill on evening $j$, moves the numbers by column $j$ of $C$. Move the slider from 0 to 0.9: which of the two framed lengths falls, and which one grows?

# %%
draw.matrices(evening_noise)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** At λ = 0 the left matrix is the triangle $A$ and the right one is $I$. Ask which λ the fresh noise on every total would need: none, because its matrices are these two exchanged.

# %% [markdown]
# *To here NN minutes.*
#
# ## 4 The price
#
# > **Theorem (matrix mechanism, 矩阵机制).** If Anna is in one count, the published totals are exactly as private as one number that she moves by 1 and that has noise $s/\lVert C\rVert$. Here $\lVert C\rVert$ is the length of the longest column of $C$.
# >
# > Li, Miklau, Hay, McGregor & Rastogi (2015); Denisov et al. (2022) prove it for counts that depend on earlier outputs.
#
# *Why.* Multiplying by $C$ turns $x+C^{-1}Z$ into $Cx+Z$, and multiplying by $C^{-1}$ leads back. Neither step uses the data, so both versions are equally private. In $Cx+Z$ the noise is fresh, and Anna moves it by one column.
#
# The promise of noise multiplier 4 therefore needs draws with $s=4\lVert C\rVert$. Each of the two lengths takes one line:

# %%
noise, sums = 4.0, np.tril(np.ones((64, 64)))


def left_over(strategy):
    return np.linalg.norm(sums @ np.linalg.inv(strategy), axis=1).max()


def length(strategy):
    return np.linalg.norm(strategy, axis=0).max()


# %% [markdown]
# The standard deviation of the worst total is $s$ times the longest row. A common slip uses the largest *entry* of $C$ in place of the longest column. This entry is 1 for each strategy below, so the slip takes $s=4$:

# %%
half = np.linalg.inv(noise_matrix(0.5))
strategies = {"added up": np.eye(64), "half taken back": half, "fresh noise": sums}
for name, strategy in strategies.items():
    row, column = left_over(strategy), length(strategy)
    worst = noise * row * column
    print(f"{name:16} 4 × row {row:.3f} × column {column:.3f} = {worst:.2f} pupils")
print(f"refuted: s = 4 gives noise multiplier 4; for a half it gives {4 / length(half):.3f}")

# %% [markdown]
# If half is taken back, the worst total has a standard deviation of 18.9 pupils in place of 32. Does this gain weaken Anna's privacy? The best attacker knows everybody else and sees all 64 totals. She only asks whether Anna fell ill on evening 20 or not at all, and both are equally likely. From a single number with noise 4 she would guess right in 55 of 100 winters. How many right guesses does she make if half of the noise is taken back?

# %%
predict("right guesses in 100 winters", None)

# %% [markdown]
# The attacker sees Anna move $Cx+Z$ by column 20 of $C$. Lesson 02 then gives the share of right guesses as $\Phi(\text{length of the column}/2s)$:

# %%
from scipy.stats import norm


def right_guesses(strategy, evening=20):
    moved = np.linalg.norm(strategy[:, evening - 1])
    return 100 * norm.cdf(moved / (2 * noise * length(strategy)))


for name, strategy in strategies.items():
    print(f"{name:16} {right_guesses(strategy):.2f} of 100")
reveal("right guesses in 100 winters", truth=right_guesses(half))

# %% [markdown]
# The attacker gains nothing from the noise that cancels. Fresh noise on every total gives her slightly less, because an illness on evening 20 misses the first 19 totals.
#
# *To here NN minutes.*

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Students object that the noise cancels. It cancels in the totals; the attacker must cancel the noise in $Cx+Z$, and that noise is fresh.

# %% [markdown]
# ## 5 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint, and the same answer again gets a plainer one.
#
# **★ 18.2** *(In class, 5 minutes.)* Take back a share $\lambda=0.8$ in place of a half. The columns of $C$ are then $1,\lambda,\lambda^2,\dots$, and you may treat them as endless. What is the length of one such column?

# %%
answer = None
check("18.2", answer)

# %% [markdown]
# <details><summary>Solution of 18.2</summary>
#
# ```python
# answer = 1 / np.sqrt(1 - 0.8**2)
# check("18.2", answer)
# ```
#
# The squares form a geometric series, $1+\lambda^2+\lambda^4+\dots=\frac1{1-\lambda^2}$.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 The best share
#
# If you take back more, the rows become shorter and the column becomes longer. The worst total depends on their product, which the next picture draws for every share. At which share do you expect the minimum?

# %%
draw.best_share(evening_noise)

# %% [markdown]
# Near a share of 0.9 the worst total has a standard deviation of 11.63 pupils. Beyond it, the column grows faster than the row shrinks, and the product rises again.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let a student explain the right end of the curve. At λ = 0.99 every total still contains one whole draw, and the draws are now six times larger than at λ = 0.

# %% [markdown]
# ## 7 The root
#
# So far each evening takes back from one earlier evening only. With $C=I$ the rows of $AC^{-1}$ are long, and with $C=A$ the columns of $C$ are long. A fair choice lies in the middle: a matrix with $C\cdot C=A$, because then $AC^{-1}$ equals $C$. The entries of its first column fall slowly: $1,\frac12,\frac38,\frac5{16},\dots$:

# %%
nights = np.arange(1, 65)
falling = np.cumprod([1, *(1 - 0.5 / nights[:-1])])
print(falling[:4])

# %% [markdown]
# In the matrices of the root, the framed row and the framed column have the same length:

# %%
draw.root_matrices(falling)

# %% [markdown]
# The root takes back a half of last night's draw, an eighth of the draw before, and smaller shares of older draws. What remains in the worst total of 64 evenings?

# %%
root = sum(part * np.eye(64, k=-j) for j, part in enumerate(falling))
best = noise * length(root) * left_over(root)
least = noise * np.linalg.svd(sums, compute_uv=False).sum() / 64
reveal("standard deviation of the worst total", truth=best)
print(f"no strategy is below {least:.2f} pupils; the root has {best:.2f}")

# %% [markdown]
# The root leaves 9.56 pupils in place of 32. With the number $T$ of evenings its factor $\lVert C\rVert^2$ grows like $\frac1\pi\ln T$, while the factor of the first two ways is $\sqrt T$. The printed limit holds for every matrix, and section 9 proves it.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask what it would mean to beat the limit of 8.16. The proof at home is one inequality for *all* matrices.

# %% [markdown]
# ## 8 Where this breaks
#
# * **If Anna is ill twice, two columns add up,** and the promise becomes weaker. The school must know how often one pupil may be counted, and it must enforce this number.
# * **Only sums gain from noise that cancels.** DP-SGD (lesson 10) adds up its updates, so such noise helps there. Amplification by sampling (lesson 06), however, was proved for fresh noise. Noise with a memory is the better choice where nobody can sample, for example on phones.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 9 At home
#
# ### No matrix does much better
#
# Write $B=AC^{-1}$, and let $\lVert\cdot\rVert_F$ be the root of the sum of all squared entries. For a product of two matrices, the sum of the singular values is at most the product of these two norms. A matrix with $T$ rows of length at most $b$ has norm at most $b\sqrt T$, and the same holds for columns. Therefore
#
# $$\textstyle\sum_i s_i(A)\le\lVert B\rVert_F\,\lVert C\rVert_F\le T\cdot(\text{longest row of }B)\cdot(\text{longest column of }C).$$
#
# Divided by $T$, the left side is the limit of section 7.
#
# ### A tree
#
# The first answer to the question was a tree: noise on every evening, every pair, every four, and so on. A total adds up few of them. In the 64 evenings Anna is in seven sums, and the total of 63 evenings needs six:

# %%
tree = np.sqrt(7) * np.sqrt(6) * noise
print(f"tree {tree:.1f}, root {best:.2f}, least {least:.2f}")

# %% [markdown]
# This is far below 32, and nearly three times the root, because a total of the tree uses only its own sums, and not what the other sums tell about it.
#
# ### Anna is ill three times
#
# Illnesses are ten evenings apart or more. The library takes the worst three columns, and adds the lengths where they overlap:

# %%
from dplearn import ACCOUNTANTS
from dplearn.mechanisms import CorrelatedGaussian

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
# Language models on phones are trained with such bands: a phone that has taken part rests for some rounds.
#
# ### Two more exercises
#
# **★★ 18.3** The same noise, of standard deviation 32, is added to *every* total, drawn once for the winter. What is the standard deviation of the noise in the count of evening 20, which a stranger computes from two totals?

# %%
answer = None
check("18.3", answer)

# %% [markdown]
# <details><summary>Solution of 18.3</summary>
#
# ```python
# answer = 0
# check("18.3", answer)
# ```
#
# In the total of evening 20 minus that of evening 19 the noise is gone, and the promise with it.
#
# </details>

# %% [markdown]
# **★★★ 18.4** Write the first `steps` entries of the column of the root, as a list: the first is 1, and entry $k$ is the one before times $1-\frac1{2k}$.


# %%
def column(steps):
    # Write your code here.
    return None


check("18.4", column)

# %% [markdown]
# <details><summary>Solution of 18.4</summary>
#
# ```python
# def column(steps):
#     entries = [1.0]
#     for k in range(1, steps):
#         entries.append(entries[-1] * (1 - 1 / (2 * k)))
#     return entries
#
#
# check("18.4", column)
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
# No. With $I$ only the new cases get fresh noise.
#
# </details>
#
# <details><summary>b. The root of $A$.</summary>
#
# No. The root lies half way between $I$ and $A$.
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
# No. Only the error of fresh noise grows like this.
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
# **5** Which ε may a run state that draws its batches by Poisson sampling and takes back noise?
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
check("18.test", answers)

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
from dplearn.teaching.classroom import estimate

assert np.allclose(root @ root, sums) and 3 * best < 32 and least < best < 1.2 * least
assert abs(length(root) ** 2 - 1 - np.log(64) / np.pi) < 0.1
rng = np.random.default_rng(13)
for strategy in strategies.values():  # the attack, tried out on 40,000 winters
    spread = noise * length(strategy) * sums @ np.linalg.inv(strategy)
    moved, ill = sums[:, 19], rng.integers(2, size=40_000)
    weights = np.linalg.solve(spread @ spread.T, moved)
    totals = np.outer(ill, moved) + rng.normal(size=(40_000, 64)) @ spread.T
    assert right_guesses(strategy) / 100 in estimate(
        (totals @ weights > moved @ weights / 2) == ill
    )
shares = (np.linalg.inv(noise_matrix(share)) for share in np.linspace(0, 0.99, 100))
assert best < min(noise * length(each) * left_over(each) for each in shares) < tree
print("all checks passed")
