# %% [markdown]
# # 19 Capstone: your own library, audited
#
# *Can you train the school's network with functions of your own, say what it promises, and catch a neighbour who breaks the promise?*
#
# In the earlier lessons you wrote a small library of differential privacy. Today eleven of its functions plan, train, state and audit one network. Where `my_dp.py` lacks a function, the lesson takes ours, so you can begin at once and come back later.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. plan a private training, and bracket what it costs with an accountant that you wrote;
# 2. train with your own sampler and noisy sum, and state what was done so that nobody can misread it;
# 3. audit somebody else's program, and say what the audit proves.
#
# * **Time** NN minutes in class; what comes after section 8 is for pairs or for the evening, and takes as long again. The computer needs half a minute.
# * **You need** lesson 10 (DP-SGD), lesson 15 (audit) and lesson 16 (statement), and the functions of lessons 01 to 16, ours or yours.
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=4&rate_from=counts&dataset_size=1438&batch_size=512&delta=1e-4&steps=1000&here=80), if you have started it. Nothing below depends on it.
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
# | 4 | 0 The first screen | who has kept how many functions? |
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
from itertools import pairwise

import numpy as np
import torch
from scipy.integrate import quad
from scipy.stats import norm
from torch import nn
from torch.func import functional_call, grad, vmap

from dplearn import DPSGD
from dplearn.audit import one_run
from dplearn.core.guarantee import round_down
from dplearn.datasets import digits, school, split
from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import Evidence, check, estimate_delta, mine, predict, reveal, show
from dplearn.teaching.figures import Curve, curves, flow, slider
from dplearn.training import plain

stations = {
    "break": ["did_copy"],
    "price": ["least_noise", "compose", "delta_of", "renyi", "epsilon_of", "bracket"],
    "train": ["draw", "lot_sum"],
    "audit": ["right_guesses", "believed"],
}
columns = [[f"{name}:\n" + "\n".join(each)] for name, each in stations.items()]
boxes = [column[0] for column in columns]
arrows = list(pairwise(boxes))
drawn = flow(columns, arrows, title="Eleven functions, four stations", strong=boxes[2:3])
show(drawn, "11 functions: 1 breaks a table, 6 price a plan, 2 train, 2 audit.")

# %% [markdown]
# The plan is that of lesson 10 with a larger clipping norm: 80 steps, lots of 512 of 1,438 pupils, $\sigma=4$ and $C=4$. The network has one layer, so that functions in plain Python can train it. Your accountant of lesson 08 converts Rényi divergences with the *simple* conversion. The truth at $\delta=10^{-4}$ is $\varepsilon=3.03$. What will your accountant prove?

# %%
predict("epsilon by my accountant", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons. Write three letters.
#
# **1** 10.1
#
# **2** 15.1
#
# **3** 16.1

# %%
answers = ""
check("19.warmup", answers)

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
# <details><summary>c. Almost nothing.</summary>
#
# Right. All four classify about 95 of 100 digits correctly. Accuracy does not show what a program leaks.
#
# </details>

# %%
vote = ""
check("19.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Eleven functions
#
# `mine` takes your function if it is in `my_dp.py` and still right, otherwise ours, and prints which.

# %%
own = {name: mine(name) for names in stations.values() for name in names}

# %% [markdown]
# The first function recalls why we need privacy: it finds out about Anna from a counter that answers only about groups.

# %%
pupils = school()
year = np.flatnonzero(pupils.age == 9)
count = lambda group: pupils.copied[list(group)].sum()
print("Anna has copied:", own["did_copy"](count, set(year), pupils.anna))

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Students with fewer than four functions of their own should write one during section 5.

# %% [markdown]
# ## 4 What the plan costs
#
# One step with Anna and without her is a sampled Gaussian, in units of $C$. We divide the axis into cells, which turns it into two lists. (This is post-processing, so the step has at least the $\varepsilon$ of the lists.)

# %%
plan = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=80, max_grad_norm=4.0)
claim = plan.guarantee(delta=1e-4)
edges = np.concatenate([[-np.inf], np.linspace(-24, 25, 999), [np.inf]])
without = np.diff(norm.cdf(edges / 4))
with_anna = plan.sample_rate * np.diff(norm.cdf((edges - 1) / 4))
with_anna += (1 - plan.sample_rate) * without
print(f"one step: delta(0.1) = {own['delta_of'](with_anna, without, 0.1):.4f}")

# %% [markdown]
# Your accountant adds the Rényi divergences of 80 steps at each order, in both directions, and converts the sum once.

# %%
orders, proved = np.arange(2, 31), []
for p, q in ((with_anna, without), (without, with_anna)):
    curve = [own["renyi"](p, q, order) for order in orders]
    proved.append(own["epsilon_of"]([(plan.steps, curve)], orders, 1e-4))
print(f"by Rényi divergences {max(proved):.3f}, the library: {claim}")
reveal("epsilon by my accountant", truth=max(proved), others={"exact": claim.epsilon})

# %% [markdown]
# This bound is true but not tight. Your `bracket` uses the whole distribution of the loss. It is plain Python, so we apply it to the first eight steps only. It finds two bounds on $\delta$ at the $\varepsilon$ of the library, and $10^{-4}$ must lie between them. For two steps `compose` agrees with it.

# %%
losses = np.log(with_anna / without)
eight = replace(plan, steps=8).guarantee(delta=1e-4).epsilon
low, high = own["bracket"](losses, with_anna, 8, 0.005, eight)
print(f"eight steps: delta at {eight:.3f} from {low:.3g} to {high:.3g}")
one = {}
for place, p in zip(np.floor(losses / 0.02).astype(int), with_anna, strict=True):
    one[place] = one.get(place, 0) + p
two = sum(p * max(0, 1 - np.exp(0.2 - 0.02 * u)) for u, p in own["compose"](one, one).items())
print(f"two steps at 0.2: from {two:.4f}, bracket", end=" ")
print(*(f"{end:.4f}" for end in own["bracket"](losses, with_anna, 2, 0.02, 0.2)))

# %% [markdown]
# How much noise would the same $\varepsilon$ need if the office released *one* sum of all pupils instead of eighty?

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
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint; the same wrong answer again gets a plainer one.
#
# **★ 19.1** *(In class, 5 minutes.)* The parents accept $\varepsilon\le2$ at $\delta=10^{-4}$, by the `pld` accountant. Noise and lots stay as they are. How many steps may the training have at most?

# %%
answer = None
check("19.1", answer)

# %% [markdown]
# <details><summary>Solution of 19.1</summary>
#
# ```python
# costs = {T: replace(plan, steps=T).guarantee(delta=1e-4).epsilon for T in range(30, 50)}
# answer = max(T for T, epsilon in costs.items() if epsilon <= 2)
# check("19.1", answer)
# ```
#
# The answer is 38 steps. Losses of both signs partly cancel, so $\varepsilon$ grows like the root of the number of steps.
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
# The folded cell computes all gradients of a lot at once. Does your clipped sum equal that of `plain.py`?

# %% tags=["hide-input"]
unseen = split(digits(), validation=0)[2]
x, y = torch.from_numpy(pupils.images).flatten(1), torch.from_numpy(pupils.digit)
loss_fn, expected = nn.CrossEntropyLoss(reduction="none"), 512


def network():
    model = nn.Linear(64, 10, bias=False)
    nn.init.zeros_(model.weight)
    return model


def gradients(model, lot):
    weights = {name: p.detach() for name, p in model.named_parameters()}

    def loss_of_one(weights, image, label):
        return loss_fn(functional_call(model, weights, image[None]), label[None])[0]

    parts = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(weights, x[lot], y[lot])
    return torch.cat([part.flatten(1) for part in parts.values()], dim=1).double().numpy()


def move(model, mean):
    with torch.no_grad():
        weights = nn.utils.parameters_to_vector(model.parameters())
        moved = weights - torch.from_numpy(mean).float()
        nn.utils.vector_to_parameters(moved, model.parameters())


model = network()
theirs = plain.clipped_sum(model, loss_fn, x[:50], y[:50], norm=1.0)
theirs = torch.cat([part.flatten() for part in theirs.values()]).numpy()
ours = np.array(own["lot_sum"]([gradients(model, range(50)).tolist()], 1.0, 0.0, random.Random()))
distance = float(np.abs(theirs - ours).max())
same = {"with plain.py": "the same" if distance < 1e-5 else "ANOTHER"}
agree = Curve(x=theirs[:300], y=ours[:300], label="300 coordinates")
figure = curves([agree], title="Your clipped sum beside plain.py's", x="plain.py", y="yours")
show(figure, f"Without noise your sum of 50 gradients is {same['with plain.py']} as plain.py's.")

# %% [markdown]
# Here is the same loop with your two functions. (The canaries are for section 9.)


# %%
def train(lot_sum, canaries=(), seed=1):
    rng, model, scores = random.Random(seed), network(), 0.0
    for _ in range(plan.steps):
        lot = np.array(own["draw"](len(x) + len(canaries), plan.sample_rate, rng))
        rows = gradients(model, lot[lot < len(x)])
        guests = [canaries[i - len(x)] for i in lot[lot >= len(x)]]
        noisy = lot_sum([rows.tolist() + guests], plan.max_grad_norm, plan.noise_multiplier, rng)
        move(model, np.array(noisy) / expected)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        scores += noisy - (rows * np.minimum(1, plan.max_grad_norm / lengths)).sum(axis=0)
    right = model(torch.from_numpy(unseen.images).flatten(1)).argmax(1).numpy() == unseen.labels
    return np.mean(right), scores


accuracy, _ = train(own["lot_sum"])
print(f"{accuracy:.1%} right on unseen digits, after lots of about {expected}")

# %% [markdown]
# ## 7 State it
#
# The plan contains some parts of the statement, and you add the others. The statement raises an error while a part is missing.

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
# * **The statement is about the plan.** Nobody has checked yet that the program does what it says. That is section 9.
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
# As in lesson 15: a coin decides for each of 640 made-up records whether it is included. Each has a gradient in a coordinate of its own, five times as long as the clipping norm. The auditor sees every noisy sum, subtracts what he knows, and guesses that the 150 highest scores are in and the 150 lowest are out. Your `right_guesses` counts.


# %%
def audit(lot_sum):
    included = np.random.default_rng(19).random(640) < 0.5
    canaries = (20.0 * np.eye(640) * included[:, None]).tolist()
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
# Exchange `my_dp.py` under another name, and audit the stranger: `audit(runpy.run_path("neighbour.py")["lot_sum"])` after `import runpy`. Do not read the file first. If you have no neighbour, take Ben, Cleo and Dan. Each of their programs has one planted fault; the cell is folded, so that you can guess.

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
dense = np.linspace(0.0, 1.0, 101)[1:-1]


def seen(sigma):
    most = norm.cdf(norm.ppf(dense) + np.sqrt(plan.steps) * plan.sample_rate / sigma)
    line = Curve(x=dense, y=most, label="found", label_at=0.3, side="bottom right")
    title = f"σ = {sigma:g}: at 1 % false alarms {100 * most[0]:.0f} % of the canaries are found"
    return curves([line], title=title, x="false alarms", y="found", y_range=(0, 1.05))


frames = {f"{sigma:g}": seen(sigma) for sigma in (1, 2, 4, 8)}
words = "; ".join(frame.layout.title.text for frame in frames.values())
show(slider(frames, name="σ", start=2), f"All frames, roughly. {words}.")

# %% [markdown]
# The slider shows what to expect when noise is missing (roughly: a canary counted with its mean number of lots). The cell prints the accuracies of the vote:

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
# The audit catches all three faulty programs and does not accuse yours. Ben reports "$\varepsilon=3.03$, since $\sigma=4$". What is the $\delta$ of his noisy sum in one step in which Anna takes part? We run the program 200,000 times, and compare with the promise of $\sigma=4$.

# %%
row, rng = [[4.0, 0.0]], random.Random(2)
outputs = np.array([ben([row], 4.0, 4.0, rng)[0] for _ in range(200_000)]) / 4.0
step_1, step_4 = (Gaussian(sigma).profiles()[0] for sigma in (1.0, 4.0))
gap = lambda z: norm.pdf(z, 1) - np.e * norm.pdf(z)
bens = Evidence(
    "delta at epsilon = 1 of one step of Ben's, in which Anna takes part",
    closed=float(step_1.delta(1)),
    exact=quad(gap, 1.5, 14)[0],
    simulated=estimate_delta(1, outputs - 0.5),
    printed=float(step_4.delta(1)),
)
print(bens)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The report of a pair is one page: the statement, the verdict on the neighbour's program with its confidence, and the line of the program that was at fault. An audit that finds nothing must say what it could not have seen.

# %% [markdown]
# ### Two more exercises
#
# **★★ 19.2** All 300 guesses about Cleo are right. Which $\varepsilon$ is refuted by that at a confidence of 99.9 %, for $\delta=0$?

# %%
answer = None
check("19.2", answer)

# %% [markdown]
# <details><summary>Solution of 19.2</summary>
#
# ```python
# p = 0.001 ** (1 / 300)
# answer = np.log(p / (1 - p))
# check("19.2", answer)
# ```
#
# The claim allows one right guess with probability $p=e^\varepsilon/(1+e^\varepsilon)$ at most, and $p^{300}=0.001$. Everything below 3.76 is refuted.
#
# </details>

# %% [markdown]
# **★★★ 19.3** Put it all into one function that needs nothing of this notebook, keep it, and hand it in: one private step. `rows` are all records' gradients, of which `rate` is drawn; return the noisy mean. The library looks at the sum, the noise, and who takes part, and refuses each planted fault. (It may take a minute.)


# %%
def private_step(rows, norm, sigma, rate, expected, rng):
    # Write your code here.
    return None


check("19.3", private_step)

# %% [markdown]
# <details><summary>Solution of 19.3</summary>
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
# check("19.3", private_step)
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
# **1** Your bracket for $\delta$ contains $10^{-4}$, your Rényi accountant proves a larger $\varepsilon$ than the library. Which is wrong?
#
# <details><summary>a. The Rényi accountant.</summary>
#
# No. An upper bound may be larger than the truth.
#
# </details>
#
# <details><summary>b. Neither.</summary>
#
# Right. One keeps all of the loss, the other one moment at a time; both are true.
#
# </details>
#
# <details><summary>c. The bracket, since it has two ends.</summary>
#
# No. Two ends with the truth between them are the most that one can say.
#
# </details>
#
# **2** The audit of your program finds nothing. What may you write?
#
# <details><summary>a. The program is private.</summary>
#
# No. A lower bound is evidence against a claim, never for one.
#
# </details>
#
# <details><summary>b. At 99.9 %, this attack does not refute ε = 3.03.</summary>
#
# Right. And say which attack, and how many canaries.
#
# </details>
#
# <details><summary>c. The program has ε below 1.</summary>
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
# <details><summary>b. So that the network learns them.</summary>
#
# No. The auditor looks at the sums, not at what was learned.
#
# </details>
#
# <details><summary>c. To make up for the noise.</summary>
#
# No. In a right program they are clipped, and no longer than others.
#
# </details>
#
# **4** You audit five neighbours at 99.9 % each and report who was caught. How sure are you that no innocent one is among them?
#
# <details><summary>a. 99.9 %.</summary>
#
# No. That is for one audit.
#
# </details>
#
# <details><summary>b. Less: each audit has a chance of one in a thousand to accuse an innocent program.</summary>
#
# Right. Five such chances add up to five in a thousand, at most.
#
# </details>
#
# <details><summary>c. Nobody can say.</summary>
#
# No. The chances of false alarms add up at most.
#
# </details>
#
# **5** Your function passes every check of this course. Is it fit for real data?
#
# <details><summary>a. Yes: it was checked on cases that I did not see.</summary>
#
# No. Checks see cases; a promise is about all of them.
#
# </details>
#
# <details><summary>b. No: its noise comes from floats and from a seed that somebody may know.</summary>
#
# Right. Lesson 15 broke such noise. Use a library that draws it securely, and audit that.
#
# </details>
#
# <details><summary>c. Yes, if the accuracy is good.</summary>
#
# No. That was the vote.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("19.test", answers)

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
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert low < 1e-4 < high < 2 * low and 3.03 < claim.epsilon < max(proved) < 4
assert same["with plain.py"] == "the same" and accuracy > 0.93 and bens.refuted
assert [bound.contradicts(claim) for _, bound in found.values()] == [False, True, True, True]
assert own["did_copy"](count, set(year), pupils.anna) == pupils.copied[pupils.anna]
print("all checks passed")
