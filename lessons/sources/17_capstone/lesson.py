# %% [markdown]
# # 17 Capstone: your own library, audited
#
# *Can you train the school's network with functions of your own, say what it promises, and catch a neighbour who breaks the promise?*
#
# In the earlier lessons you wrote a small library of differential privacy. Today eleven of its functions plan, train, state and audit one network. Where `my_dp.py` lacks a function, the lesson takes ours, so you can begin at once and come back later. One line is still missing: the update that turns a noisy sum into new weights.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. plan a private training, and bracket what it costs with an accountant that you wrote;
# 2. train with your own sampler and noisy sum, and state what was done so that nobody can misread it;
# 3. audit somebody else's program, and say what the audit proves.
#
# * **Time** NN minutes in class; what comes after section 8 is for pairs or for the evening, and takes as long again. The computer needs some seconds.
# * **You need** lesson 10 (DP-SGD), lesson 14 (audit) and lesson 15 (statement), and the functions of lessons 01 to 15, ours or yours.
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=2.5&rate_from=counts&dataset_size=1438&batch_size=256&delta=1e-4&steps=1000&here=60), if you have started it.
# * **Words** all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `plan` | $\sigma, q, T, C$ | noise multiplier, sample rate, steps, clipping norm | none, gradient |
# | `expected` | $B$ | expected size of a lot, fixed beforehand | records |
# | `included` | $S_i$ | whether canary $i$ was in the data, by a fair coin | none |
# | `scores` | | what the auditor measured of each canary | of the gradient |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee for one image | nats, probability |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: a promise, a program that keeps it and an audit that checks it are three different things, and you now have all three. Ask for `my_dp.py` a day before, and exchange the files at section 9.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | everybody types one expression; who has saved how many functions? |
# | 3 | 1 Warm-up | hands up for each letter |
# | 3 | 2 A vote | vote, two minutes in pairs, vote again |
# | 4 | 3 Eleven functions | read the list aloud: yours or ours? |
# | 5 | 4 What the plan costs | each number is a function that somebody in the room wrote |
# | 6 | 5 An exercise | alone, then compare |
# | 4 | 6 Train | find the four points of the algorithm in `train` |
# | 3 | 7 State it | leave one part out and read the error |
# | 2 | 8 What this does not protect | the writers |
# | – | 9 to 12 | in pairs: exchange programs, audit, report |

# %% tags=["hide-input"]
import inspect
import random
from dataclasses import replace
from datetime import date

import numpy as np
from scipy.stats import norm

from dplearn.teaching.classroom import check, mine, pictures, predict, reveal, yours
from dplearn.training import plain

figures = pictures("17")
figures.stations()

# %% [markdown]
# **★ 17.1** *(In class, 2 minutes.)* The list `total` is the noisy sum of the clipped gradients of a lot, one number for each weight, and `expected` is the expected size of a lot. Gradient descent moves every weight against the mean, by `rate` times its length. Replace `...` by the new weight.


# %%
def new_weights(weights, total, rate, expected):
    pairs = zip(weights, total)
    return [... for w, s in pairs]


check("17.1", new_weights)

# %% [markdown]
# <details><summary>Solution of 17.1</summary>
#
# ```python
# def new_weights(weights, total, rate, expected):
#     pairs = zip(weights, total)
#     return [w - rate * s / expected for w, s in pairs]
#
#
# check("17.1", new_weights)
# ```
#
# The gradient points uphill, so the step has a minus. The divisor is public; the size of the lot is not.
#
# </details>

# %% [markdown]
# The next picture trains a network of one layer with this function, by today's plan: 60 steps, lots of 256 of 1,438 pupils, $\sigma=2.5$ and $C=4$.

# %%
figures.learning(new_weights)

# %% [markdown]
# Your accountant of lesson 07 converts Rényi divergences with the *simple* conversion. The true $\varepsilon$ of the plan at $\delta=10^{-4}$ is 2.12. What will your accountant prove?

# %%
predict("epsilon by my accountant", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Answer three questions from earlier lessons.
#
# **1** 10.1
#
# **2** 14.1
#
# **3** 15.1

# %%
answers = ""
check("17.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# Four neighbours train the same plan and claim the same $\varepsilon$. Three of the programs break the promise. Before you choose which one to audit, you may see the accuracy of each. What does it tell you?
#
# <details><summary>a. Broken programs are less accurate: a bug is a bug.</summary>
#
# No. These bugs remove noise or clipping, which makes learning easier.
#
# </details>
#
# <details><summary>b. Broken programs are clearly more accurate, so audit the best.</summary>
#
# No. In this plan the noise costs so little accuracy that the four programs hardly differ.
#
# </details>
#
# <details><summary>c. It tells you almost nothing about the bugs.</summary>
#
# Right. All four read about 94 of 100 digits right. Accuracy does not show what a program leaks.
#
# </details>

# %%
vote = ""
check("17.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Eleven functions
#
# `mine` takes your function if it is in `my_dp.py` and still right, otherwise ours, and prints which one it took.

# %%
own = {name: mine(name) for names in figures.STATIONS.values() for name in names}

# %% [markdown]
# The first function recalls why we need privacy: it finds out about Anna from a counter that answers only about groups.

# %%
pupils = figures.pupils
year = np.flatnonzero(pupils.age == 9)
count = lambda group: pupils.copied[list(group)].sum()
print("Anna has copied:", own["did_copy"](count, set(year), pupils.anna))

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Students with fewer than four functions of their own should write one during section 5.

# %% [markdown]
# ## 4 What the plan costs
#
# One step with Anna and without her is a sampled Gaussian, in units of $C$. We divide the axis into cells, which turns both distributions into lists. (This is post-processing, so the step has at least the $\varepsilon$ of the lists.)

# %%
plan = figures.plan
claim = plan.guarantee(delta=1e-4)
edges = np.concatenate([[-np.inf], np.linspace(-15, 16, 999), [np.inf]])
without = np.diff(norm.cdf(edges / 2.5))
with_anna = plan.sample_rate * np.diff(norm.cdf((edges - 1) / 2.5))
with_anna += (1 - plan.sample_rate) * without
print(f"one step: delta(0.1) = {own['delta_of'](with_anna, without, 0.1):.4f}")

# %% [markdown]
# Your accountant adds the Rényi divergences of 60 steps at each order, in both directions, and converts the sum once.

# %%
orders, proved = np.arange(2, 31), []
for p, q in ((with_anna, without), (without, with_anna)):
    curve = [own["renyi"](p, q, order) for order in orders]
    proved.append(own["epsilon_of"]([(plan.steps, curve)], orders, 1e-4))
print(f"by Rényi divergences {max(proved):.3f}, the library: {claim}")
reveal("epsilon by my accountant", truth=max(proved), others={"exact": claim.epsilon})

# %% [markdown]
# This bound is true but not tight. Your `bracket` uses the whole distribution of the loss. It is plain Python, so we apply it to the first four steps only. It finds two bounds on $\delta$ at the $\varepsilon$ of the library, and $10^{-4}$ must lie between them.

# %%
losses = np.log(with_anna / without)
four = replace(plan, steps=4).guarantee(delta=1e-4).epsilon
low, high = own["bracket"](losses, with_anna, 4, 0.01, four)
print(f"four steps: delta at {four:.3f} from {low:.3g} to {high:.3g}")

# %% [markdown]
# How much noise would the same $\varepsilon$ need if the office released *one* sum of all pupils in place of sixty?

# %%
single = own["least_noise"](claim.epsilon, 1e-4, 1.0)
print(f"noise multiplier of a single release: {single:.3f}")

# %% [markdown] tags=["instructor"]
# > **For the teacher.** These four numbers come from six functions, and only the claim comes from the library. Ask which of them are upper bounds, lower bounds, or both.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint, and the same answer again gets a plainer one.
#
# **★ 17.2** *(In class, 5 minutes.)* The parents accept an $\varepsilon$ of at most 1.5 at $\delta=10^{-4}$, by the `pld` accountant. Noise and lots stay as they are. How many steps may the training have at most?

# %%
answer = None
check("17.2", answer)

# %% [markdown]
# <details><summary>Solution of 17.2</summary>
#
# ```python
# costs = {T: replace(plan, steps=T).guarantee(delta=1e-4).epsilon for T in range(20, 50)}
# answer = max(T for T, epsilon in costs.items() if epsilon <= 1.5)
# check("17.2", answer)
# ```
#
# The answer is 31 steps. Losses of both signs partly cancel, so $\varepsilon$ grows like the root of the number of steps.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 Train
#
# The file `dplearn/training/plain.py` contains Algorithm 1, one record at a time. This is its loop:

# %%
print(inspect.getsource(plain.train).partition('divided by."""\n')[2])

# %% [markdown]
# A network of one layer has a gradient in closed form: what it believes minus the truth, times the image. `figures.gradients` returns it for each record. Does your clipped sum of 50 records equal that of `plain.py`?

# %%
theirs = figures.plain_sum(50, norm=1.0)
rows = figures.gradients(np.zeros(640), range(50)).tolist()
ours = np.array(own["lot_sum"]([rows], 1.0, 0.0, random.Random()))
same = "the same" if np.abs(theirs - ours).max() < 1e-5 else "ANOTHER"
print(f"Without noise your sum of 50 gradients is {same} as that of plain.py.")

# %% [markdown]
# Here is the same loop with your three functions. (The canaries are for section 9.)


# %%
update, expected = yours("17.1", new_weights), 256


def train(lot_sum, canaries=(), seed=1):
    rng, weights, scores = random.Random(seed), np.zeros(640), 0.0
    for _ in range(plan.steps):
        lot = np.array(own["draw"](1438 + len(canaries), plan.sample_rate, rng))
        rows = figures.gradients(weights, lot[lot < 1438])
        guests = [canaries[i - 1438] for i in lot[lot >= 1438]]
        noisy = lot_sum([rows.tolist() + guests], plan.max_grad_norm, plan.noise_multiplier, rng)
        weights = update(weights, noisy, 1.0, expected)
        scores += noisy - figures.clipped(rows, plan.max_grad_norm).sum(axis=0)
    return figures.right(weights), scores


# %% [markdown]
# The network of one run with your functions reads digits that it has not seen:

# %%
accuracy, _ = train(own["lot_sum"])
print(f"{accuracy:.1%} right on unseen digits, after lots of about {expected}")

# %% [markdown]
# ## 7 State it
#
# The plan contains some parts of the statement, and you add the others. A statement with a missing part raises an error.

# %%
parts = {"delta": 1e-4, "unit": "one image of a digit", "records": 1438, "tuning": "public"}
parts |= {"sampling": "poisson", "released": "every_step", "date": date(2026, 3, 1)}
parts |= {"trust": "central", "trusted": "the school", "period": "once"}
print(plan.statement(**parts))

# %% [markdown]
# *To here NN minutes.*
#
# ## 8 What this does not protect
#
# * **The statement is about the plan.** Nobody has checked yet that the program does what it says; section 9 does.
# * **An image is not a person.** Thirteen people wrote these digits, and the statement promises nothing to a person.
# * **Our clipping norm was chosen by looking** at held-out digits, which we call public. On private ones each look is a release.
#
# In section 9 the auditor hides 640 canaries in the data of each program and makes 300 guesses. How many of them will be right for *your* program?

# %%
predict("right guesses of 300", None)

# %% [markdown]
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 9 At home, or in pairs: the audit
#
# As in lesson 14, a coin decides for each of 640 made-up records whether it is included. Each has a gradient in a coordinate of its own, ten times as long as the clipping norm. The auditor sees every noisy sum, subtracts what he knows, and guesses that the 150 highest scores are in and the 150 lowest are out. Your `right_guesses` counts the right ones.


# %%
from dplearn.audit import one_run
from dplearn.core.guarantee import round_down


def audit(lot_sum):
    included = np.random.default_rng(19).random(640) < 0.5
    canaries = (40.0 * np.eye(640) * included[:, None]).tolist()
    scores = train(lot_sum, canaries)[1]
    bound = one_run(included, scores, guesses=(150, 150), delta=1e-4)
    return own["right_guesses"](included, scores, 150), bound


found = {"you": audit(own["lot_sum"])}
correct, bound = found["you"]
verdict = "caught" if bound.contradicts(claim) else "not caught"
print(f"{correct} of 300 right: at least {round_down(bound.epsilon, 3)}, {verdict}")
reveal("right guesses of 300", truth=correct, others={"by coins": 150})

# %% [markdown]
# The audit found nothing against your program, which *may* keep its promise. Suppose that an attacker gives Anna a chance of one half to be included. What could he believe after he saw every output, if $\delta$ were 0?

# %%
print(f"at most {own['believed'](0.5, claim.epsilon):.3f}")

# %% [markdown]
# ### Your neighbour
#
# Exchange `my_dp.py` under another name, and audit the stranger without reading the file: `audit(runpy.run_path("neighbour.py")["lot_sum"])` after `import runpy`. If you have no neighbour, take Ben, Cleo and Dan. Each of their programs has one planted fault; the cell is folded, so that you can guess.

# %% tags=["hide-input"]
bare = lambda batches, norm, rng: own["lot_sum"](batches, norm, 0.0, rng)
noise_on = lambda total, width, rng: [float(t) + width * rng.gauss(0, 1) for t in total]


def ben(batches, norm, sigma, rng):
    return noise_on(bare(batches, norm, rng), sigma, rng)


def cleo(batches, norm, sigma, rng):
    return noise_on(bare(batches, norm, rng), sigma * norm / expected, rng)


def dan(batches, norm, sigma, rng):
    return noise_on(sum(np.sum(batch, axis=0) for batch in batches), sigma * norm, rng)


neighbours = {"Ben": ben, "Cleo": cleo, "Dan": dan}

# %% [markdown]
# The slider shows what to expect when noise is missing (roughly, as if a canary were in its mean number of lots):

# %%
figures.found()

# %% [markdown]
# The next cell prints the accuracies of the vote:

# %%
for name, program in neighbours.items():
    print(f"{name:5} {train(program)[0]:.1%} right on unseen digits")

# %% [markdown]
# Now audit each of them:

# %%
found |= {name: audit(program) for name, program in neighbours.items()}
for name, (correct, bound) in found.items():
    verdict = "caught" if bound.contradicts(claim) else "not caught"
    print(f"{name:5} {correct} of 300, {verdict}")

# %% [markdown]
# The audit catches all three faulty programs and does not accuse yours. Ben reports "$\varepsilon=2.12$, since $\sigma=2.5$". What is the $\delta$ of his noisy sum in one step in which Anna takes part? We run the program 50,000 times, and compare with the promise of $\sigma=2.5$.

# %%
from scipy.integrate import quad

from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import Evidence, estimate_delta

row, rng = [[4.0, 0.0]], random.Random(2)
outputs = np.array([ben([row], 4.0, 2.5, rng)[0] for _ in range(50_000)]) / 4.0
real, claimed = (Gaussian(sigma).profiles()[0] for sigma in (2.5 / 4, 2.5))
gap = lambda z: norm.pdf(z, 1, 2.5 / 4) - np.e * norm.pdf(z, 0, 2.5 / 4)
bens = Evidence(
    "delta at epsilon = 1 of one step of Ben's, in which Anna takes part",
    closed=float(real.delta(1)),
    exact=quad(gap, 0.5 + 0.625**2, 9)[0],
    simulated=estimate_delta(1, (outputs - 0.5) / 0.625**2),
    printed=float(claimed.delta(1)),
)
print(bens)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The report of a pair is one page: the statement, the verdict on the neighbour's program with its confidence, and the line of the program that was at fault. An audit that finds nothing must say what it could not have seen.

# %% [markdown]
# ### Two steps, twice
#
# Your `compose` adds the losses of two steps on a grid, and agrees with `bracket`:

# %%
one = {}
for place, p in zip(np.floor(losses / 0.02).astype(int), with_anna, strict=True):
    one[place] = one.get(place, 0) + p
two = sum(p * max(0, 1 - np.exp(0.2 - 0.02 * u)) for u, p in own["compose"](one, one).items())
print(f"two steps at 0.2: from {two:.4f}, bracket", end=" ")
print(*(f"{end:.4f}" for end in own["bracket"](losses, with_anna, 2, 0.02, 0.2)))

# %% [markdown]
# ### Two more exercises
#
# **★★ 17.3** All 300 guesses about Cleo are right. Which $\varepsilon$ does that refute at a confidence of 99.9 %, for $\delta=0$?

# %%
answer = None
check("17.3", answer)

# %% [markdown]
# <details><summary>Solution of 17.3</summary>
#
# ```python
# p = 0.001 ** (1 / 300)
# answer = np.log(p / (1 - p))
# check("17.3", answer)
# ```
#
# The claim allows one right guess with probability $p=e^\varepsilon/(1+e^\varepsilon)$ at most, and $p^{300}=0.001$. Everything below 3.76 is refuted.
#
# </details>

# %% [markdown]
# **★★★ 17.4** Put it all into one function that needs nothing of this notebook, keep it, and hand it in: one private step. `rows` are all records' gradients, of which `rate` is drawn; return the noisy mean. The library looks at the sum, the noise, and who takes part, and refuses each planted fault, which may take a minute.


# %%
def private_step(rows, norm, sigma, rate, expected, rng):
    # Write your code here.
    return None


check("17.4", private_step)

# %% [markdown]
# <details><summary>Solution of 17.4</summary>
#
# ```python
# def private_step(rows, norm, sigma, rate, expected, rng):
#     lot = rows[rng.random(len(rows)) < rate]
#     lengths = np.linalg.norm(lot, axis=1, keepdims=True)
#     total = (lot * np.minimum(1, norm / np.maximum(lengths, 1e-12))).sum(axis=0)
#     noise = sigma * norm * rng.standard_normal(rows.shape[1])
#     return (total + noise) / expected
#
#
# check("17.4", private_step)
# ```
#
# Coins, clipping row by row, one draw of noise in units of $C$, and a divisor that was fixed beforehand. An empty lot is pure noise.
#
# </details>

# %% [markdown]
# ## 10 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Your bracket for $\delta$ contains $10^{-4}$, and your Rényi accountant proves a larger $\varepsilon$ than the library. Which of the two is wrong?
#
# <details><summary>a. The Rényi accountant is wrong, since its number is larger.</summary>
#
# No. An upper bound may be larger than the truth.
#
# </details>
#
# <details><summary>b. Neither is wrong, because both are bounds.</summary>
#
# Right. One keeps all of the loss, the other one moment at a time; both are true.
#
# </details>
#
# <details><summary>c. The bracket is wrong, since it has two ends.</summary>
#
# No. Two ends with the truth between them are the most that one can say.
#
# </details>
#
# **2** The audit of your program finds nothing. What may you write?
#
# <details><summary>a. The audit shows that the program is private.</summary>
#
# No. A lower bound is evidence against a claim, never for one.
#
# </details>
#
# <details><summary>b. At 99.9 %, this attack does not refute ε = 2.12.</summary>
#
# Right. The report also says which attack, and how many canaries.
#
# </details>
#
# <details><summary>c. The audit shows that the program has ε below 1.</summary>
#
# No. That is what was proved from below, with this attack.
#
# </details>
#
# **3** Why do all canaries pull harder than $C$?
#
# <details><summary>a. So that a program which does not clip gives itself away.</summary>
#
# Right. A canary that is short already cannot see that nobody clips.
#
# </details>
#
# <details><summary>b. So that the network learns them by heart.</summary>
#
# No. The auditor looks at the sums, not at what was learned.
#
# </details>
#
# <details><summary>c. So that they make up for the noise.</summary>
#
# No. In a right program they are clipped, and no longer than others.
#
# </details>
#
# **4** You audit five neighbours at 99.9 % each and report who was caught. How sure are you that no innocent one is among them?
#
# <details><summary>a. 99.9 %, as for each of the five audits.</summary>
#
# No. That number is for a single audit.
#
# </details>
#
# <details><summary>b. Less: each audit has a chance of one in a thousand to accuse an innocent program.</summary>
#
# Right. Five such chances add up to five in a thousand, at most.
#
# </details>
#
# <details><summary>c. Nobody can say, as the audits are not independent.</summary>
#
# No. The chances of false alarms add up at most.
#
# </details>
#
# **5** Your function passes every check of this course. Is it fit for real data?
#
# <details><summary>a. Yes, since it was checked on cases that I did not see.</summary>
#
# No. Checks see some cases, and a promise is about all of them.
#
# </details>
#
# <details><summary>b. No: its noise comes from floats and from a seed that somebody may know.</summary>
#
# Right. Lesson 14 broke such noise. Use a library that draws it securely, and audit that.
#
# </details>
#
# <details><summary>c. Yes, if the accuracy is good.</summary>
#
# No. The vote of this lesson was about accuracy.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("17.test", answers)

# %% [markdown]
# ## 11 On one card
#
# | | |
# |---|---|
# | **Plan** | $\sigma$, $q$, $T$, $C$, $\delta$ in public numbers; price it before the first step |
# | **Price** | add divergences and convert once, or keep all of the loss and bracket |
# | **Train** | coins, clip rows, one draw of noise, fixed divisor |
# | **State** | what the plan knows and what only you know; no part may be missing |
# | **Audit** | canaries longer than $C$, guesses fixed beforehand; it accuses, it never acquits |
#
# ## 12 Further reading
#
# * Abadi et al. (2016), *Deep learning with differential privacy*: Algorithm 1.
# * Steinke, Nasr & Jagielski (2023), *Privacy auditing with one (1) training run*.
# * Tramèr et al. (2022), *Debugging differential privacy: a case study for privacy auditing*: a fault in a published program, found by an audit.
#
# <details><summary>In the formula book</summary>
#
# * [Noise on the mean](explorer:formula_book?id=G-F1&misprint=per-example), [guesses of one run](explorer:formula_book?id=G-N4).
#
# </details>
#
# This is the last lesson of the course; [lesson 18](18_noise_that_cancels.ipynb) and [lesson 19](19_counting_or_choosing.ipynb) are options. The last cell re-examines what this lesson claimed.

# %%
# Checks
assert low < 1e-4 < high < 2 * low and 2.12 < claim.epsilon < max(proved) < 3
assert same == "the same" and accuracy > 0.92 and bens.refuted
assert [bound.contradicts(claim) for _, bound in found.values()] == [False, True, True, True]
assert own["did_copy"](count, set(year), pupils.anna) == pupils.copied[pupils.anna]
print("all checks passed")
