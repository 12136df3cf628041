# %% [markdown]
# # 11 DP-SGD II: groups, adaptive clipping, and choosing C and σ
#
# *The recipe works. Now somebody has to choose its numbers: which of them matter?*
#
# **After this lesson you can**
#
# 1. clip and noise the layers of a network separately, and say which noise multiplier the whole step has;
# 2. choose $C$, learning rate, lot and $\sigma$ for a given $\varepsilon$, and let a private count adjust $C$ while you train;
# 3. put the same run into another library, and tell which of its $\varepsilon$ are bounds.
#
# * **Time** 50 minutes; the computer needs half a minute of them.
# * **You need** lesson 10 (clip, add noise, count), lesson 09 (Gaussian mechanisms compose), one gradient step in PyTorch.
# * **Beside it** [this lesson's run, step by step](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=4&rate_from=counts&dataset_size=1438&batch_size=512&delta=1e-4&steps=1000&here=80) in the explorer, if you have started it. Its page *Train* trains the network while you watch. Nothing below depends on it.
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `sizes` | $d_m$ | number of weights in part $m$ of the network, $d$ in all of it | none |
# | `norms` | $C_m$ | length to which a record's gradient is clipped in part $m$ | of the gradient |
# | `noise_multipliers` | $z_m$ | noise in part $m$ divided by $C_m$ | none |
# | `noise_multiplier` | $\sigma$ | what all parts together are worth | none |
# | `max_grad_norm` | $C$ | longest possible contribution of a record, all parts together | of the gradient |
# | `count_noise` | $\sigma_b$ | noise on a count of records | records |
# | `lot`, `steps` | $L$, $T$ | expected size of a lot, number of noisy updates | records, none |

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: *whatever a step tells about one record is one more group, and groups add up like the sides of a right angle.*
# >
# > | minutes | part | do |
# > |---|---|---|
# > | 4 | 1–2 question, predict | both guesses, median on the board |
# > | 7 | 3–4 experiment, picture | which part fills the clipping norm? which drowns? not the same question |
# > | 9 | 5 statement | rescale each group to unit noise on the board; the rest is Pythagoras |
# > | 5 | 6 where to spend | the table of rules, last column first |
# > | 8 | 7 which C | the figure with two curves; the count as a fifth group |
# > | 8 | 8 which lot, which σ | the second guess; why the curve stops falling |
# > | 4 | 9 another library | 512 becomes 479: let them find out why |
# > | 3 | 10 as printed | 10.1 whole, the others by vote |
# > | 2 | 11 knob | a student at the keyboard |
# > | – | 12 to 16 | homework; 13.1 takes one minute in class |

# %% [markdown]
# ## 1 The question
#
# The school of lesson 10 trained its network: every pupil's gradient was cut to length $C=0.5$, noise $\sigma C$ was added to every weight, and the bill was $\varepsilon\approx3$. Somebody had chosen one $C$ for the whole network, $\sigma=4$, lots of 512, a learning rate of 1. Why these?
#
# Privacy does not answer. The theorem holds for every choice. But a network has layers, their gradients have different lengths, and noise falls on all of them. Should each layer have a $C$ of its own? And which of the numbers deserve an evening of trying, which none?

# %%
import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from scipy.integrate import quad
from scipy.stats import norm
from torch import nn
from torch.func import functional_call, grad, vmap

from dplearn import DPSGD
from dplearn.accountants import accountants
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.datasets import digits, split
from dplearn.formulas.dpsgd_noise import adaptive_clipping_multiplier
from dplearn.formulas.gaussian import grouped_noise_multiplier, joint_norm
from dplearn.formulas.selection import selection_rdp
from dplearn.lessons import Evidence, check, estimate, predict, reveal, show
from dplearn.mechanisms import Gaussian
from dplearn.plotting.lessons import Line, Mark, curves, panels, slider
from dplearn.training import AdaptiveQuantile, Flat, Grouped, clipped_sum, fit

# %% [markdown]
# The same pupils, the same network, the same plan as in lesson 10.

# %%
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
pupils, _, held_out = split(digits(), validation=0)
x, y = torch.from_numpy(pupils.images).double().flatten(1), torch.from_numpy(pupils.labels)
unseen = torch.from_numpy(held_out.images).double().flatten(1)
loss_fn = nn.CrossEntropyLoss(reduction="none")  # one loss per record
plan = DPSGD(noise_multiplier=4.0, sample_rate=512 / len(x), steps=80, max_grad_norm=0.5)
print(f"{len(x)} pupils:", plan.guarantee(delta=1e-4))

# %% [markdown]
# ## 2 Predict
#
# One layer, all pupils in the lot, noise multiplier 1.1. One step costs

# %%
one_layer = float(Gaussian(1.1).profiles()[0].epsilon(1e-5))
print(f"epsilon = {one_layer:.4f} at delta = 1e-05")

# %% [markdown]
# * **Epsilon of ten layers.** A network has ten layers. Each is clipped on its own and gets noise with multiplier 1.1 of its own clipping norm. What does one step cost now?
#
# The second question is about a whole country: 60,000 pupils, 15 epochs, $\varepsilon=3$ at $\delta=10^{-5}$. With lots of 64 the least noise multiplier is


# %%
def calibrated(lot, epsilon=3.0, epochs=15):
    """Least noise multiplier for 60,000 pupils, and the number of steps."""
    steps = int(np.ceil(epochs * 60_000 / lot))
    mechanism = DPSGD(noise_multiplier=1.0, sample_rate=lot / 60_000, steps=steps).mechanism
    target = {"epsilon": epsilon, "delta": 1e-5, "steps": steps}
    found = smallest_noise_multiplier(accountants["pld"](), mechanism=mechanism, **target)
    return found.value, steps


sigma_64, steps_64 = calibrated(64)
print(f"lots of 64: sigma = {sigma_64:.4f}, {steps_64} steps")

# %% [markdown]
# * **Sigma for lots of 1024.** Lots sixteen times as large, sixteen times fewer steps, the same $\varepsilon$. Which $\sigma$ is needed?

# %%
predict("epsilon of ten layers", None)
predict("sigma for lots of 1024", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** For the ten layers most say 3.92 again ("each layer has its multiplier") or ten times as much. For the lots they say sixteen times or four times as much noise. Keep all four numbers on the board: the truth lies between each pair.

# %% [markdown]
# ## 3 A small experiment
#
# Lesson 10 looked at one row per pupil. Now we keep the row in four parts: the weights and biases of the hidden layer, and those of the output layer. The network is in the middle of its training, after ten ordinary steps.


# %%
def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))


middle = network()
optimizer = torch.optim.SGD(middle.parameters(), lr=0.5, momentum=0.9)
for _ in range(10):
    optimizer.zero_grad()
    loss_fn(middle(x), y).mean().backward()
    optimizer.step()

# %% [markdown]
# One table of rows for each part:

# %%
weights = {name: value.detach() for name, value in middle.named_parameters()}


def loss_of_one(weights, image, label):
    return loss_fn(functional_call(middle, weights, image[None]), label[None])[0]


rows = {
    name: part.flatten(1)
    for name, part in vmap(grad(loss_of_one), in_dims=(None, 0, 0))(weights, x, y).items()
}
sizes = {name: part.shape[1] for name, part in rows.items()}
whole = torch.cat(list(rows.values()), dim=1)

# %% [markdown]
# How long is a pupil's gradient in each part, and how long is the mean over all pupils, which is what training wants to know?

# %%
print("part      weights   median length   length of the mean")
for name, part in rows.items():
    median, mean = part.norm(dim=1).median(), part.mean(0).norm()
    print(f"{name:8}  {sizes[name]:7}   {median:13.3f}   {mean:18.4f}")

# %% [markdown]
# (`0` is the hidden layer, `2` the output layer.) The lengths differ by a factor of four, so one $C$ for all means: the long parts decide how much the short ones are cut. Look at the last column, too. The mean of the 320 output weights is as long as that of the 2048 hidden ones.
#
# Suppose we clip each part on its own. How long can a whole row become?


# %%
def clip(rows, norm):
    return rows * (norm / rows.norm(dim=1, keepdim=True)).clamp(max=1)


for each in (0.5, 0.25):
    cut = torch.cat([clip(part, each) for part in rows.values()], dim=1)
    longest = cut.norm(dim=1).max()
    print(f"each part to {each:<4}: longest row {longest:.4f}, joint norm {joint_norm(norms=[each] * 4):.4f}")

# %% [markdown]
# Four parts of length $C$ make a row of length $2C$, four parts of $C/2$ make $C$. The parts stand at right angles, so their lengths add like the sides of a right-angled triangle: **the squares add.** Noise made for $C$ covers the second line and not the first.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Draw the right angle: one axis for the hidden layer, one for the output layer, the box of allowed arrows, its diagonal. Ask what the circle of flat clipping looks like in the same drawing. Students who clip ten layers to $C$ each and keep the noise have $\varepsilon$ wrong by a factor of about four, and no test of theirs will notice.

# %% [markdown]
# ## 4 The picture
#
# Take flat clipping: one $C$, the same noise $\sigma C/L$ on every weight of the mean. In a part with $d_m$ weights that noise is $\sqrt{d_m}\,\sigma C/L$ long. If 80 steps look at the same gradient, it averages out by $\sqrt{80}$. Against it we hold the signal: the length of the mean clipped gradient in that part.

# %%
signal = {}
flat = clip(whole, 0.5).mean(0).split(list(sizes.values()))
for name, part in zip(sizes, flat, strict=True):
    noise = 4 * 0.5 / 512 * np.sqrt(sizes[name] / 80)
    signal[name] = float(part.norm())
    print(f"{name:8}  signal {signal[name]:.4f}, noise {noise:.4f}, ratio {signal[name] / noise:.2f}")

# %% [markdown]
# All parts on one picture:

# %%
grid = np.geomspace(8, 3000, 30)
one_step = 4 * 0.5 / 512 * np.sqrt(grid)
names = ["hidden weights", "hidden biases", "output weights", "output biases"]
sides = ["bottom left", "top center", "top center", "top center"]
figure = curves(
    [
        Line(x=grid, y=one_step, label="noise, 1 step", role="quiet", side="top left"),
        Line(x=grid, y=one_step / np.sqrt(80), label="noise, 80 steps", role="wrong", side="bottom left"),
    ],
    marks=[
        Mark(x=d, y=signal[part], label=name, side=side)
        for (part, d), name, side in zip(sizes.items(), names, sides, strict=True)
    ],
    title="Noise grows with √d, the signal does not",
    x="d, weights in the part",
    y="length",
    log_x=True,
    log_y=True,
)
show(figure, f"Signal {signal['0.weight']:.4f} in 2048 hidden weights, {signal['2.weight']:.4f} in 320.")

# %% [markdown]
# The part with most weights is the one that drowns, although its gradients are the longest. So there is something to gain by treating parts differently: clip them differently, or give them different noise. What does the theorem allow?
#
# ## 5 The statement
#
# > **Theorem.** Clip part $m$ of every record's gradient to length $C_m$, sum, and add independent $N(0,\tau_m^2 I)$ to part $m$. For neighbours that differ by adding or removing one record, the step is as private as **one** Gaussian release with noise multiplier
# >
# > $$\sigma=\Big(\sum_{m=1}^M\frac{C_m^2}{\tau_m^2}\Big)^{-1/2}.$$
# >
# > Two ways to use it. **One noise for all:** $\tau_m=\sigma C$ with $\sum_m C_m^2=C^2$. **A multiplier for each:** $\tau_m=z_mC_m$, and then $\sigma=\big(\sum_m z_m^{-2}\big)^{-1/2}$. (McMahan et al. 2018.)
#
# *Why.* Divide part $m$ by $\tau_m$. Now every coordinate has unit noise, and one record moves the sum by an arrow whose parts have lengths at most $C_m/\tau_m$. They stand at right angles, so the arrow is at most $\sqrt{\sum_m C_m^2/\tau_m^2}$ long: the sensitivity of lesson 03, with noise 1. It is the rule of lesson 09 once more: the $\mu_m=1/z_m$ of Gaussian mechanisms add as squares. Sampling and steps come afterwards, with this $\sigma$, as in lesson 10.
#
# Three ways to one number. The hidden layer gets $z_1=1$, the output layer $z_2=2$; the formula then says $\sigma=0.8944$. We ask for $\delta$ at $\varepsilon=1$ of one step without sampling.


# %%
def delta_of(epsilon, sigma):
    a, b = 1 / (2 * sigma), epsilon * sigma
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


together = grouped_noise_multiplier(noise_multipliers=[1, 2])
print(f"sigma = {together:.6f}")

# %% [markdown]
# Quadrature must not use the formula: average over what the hidden layer publishes. If that has cost the loss $\ell$, the output layer may only cost $\varepsilon-\ell$.


# %%
def layer_by_layer(epsilon, z_1, z_2):
    loss = lambda v: (2 * v - 1) / (2 * z_1**2)
    mixed = lambda v: norm.pdf(v, 1, z_1) * delta_of(epsilon - loss(v), z_2)
    return quad(mixed, 1 - 12 * z_1, 1 + 12 * z_1, epsabs=0, limit=500)[0]


# %% [markdown]
# And the simulation uses Anna's real gradient, in all its 2410 coordinates, in a school where she is alone. `release` adds the noise; the losses of the two layers add.

# %%
rng = np.random.default_rng(11)
anna, loss = int(whole.norm(dim=1).argmax()), np.zeros(10_000)
for columns, z in ((slice(0, 2080), 1.0), (slice(2080, 2410), 2.0)):
    hers = clip(whole[[anna], columns], 0.5 / np.sqrt(2))[0].numpy()
    seen = Gaussian(z).release(np.tile(hers, (10_000, 1)), sensitivity=0.5 / np.sqrt(2), rng=rng)
    loss += (seen @ hers - hers @ hers / 2) / (z**2 * 0.5**2 / 2)

# %% [markdown]
# Do they agree?

# %%
two_layers = Evidence(
    "delta at epsilon = 1 of two layers with multipliers 1 and 2",
    closed=delta_of(1, together),
    exact=layer_by_layer(1, 1, 2),
    simulated=estimate(np.maximum(0, 1 - np.exp(1 - loss))),
)
print(two_layers)

# %% [markdown]
# Note what $\sigma$ is: *smaller than the smallest* $z_m$. Every group tells something, and no group makes up for another. Ten layers with multiplier 1.1 each:

# %%
ten = 1.1 / np.sqrt(10)
ten_layers = float(Gaussian(ten).profiles()[0].epsilon(1e-5))
print(f"ten layers: sigma = {ten:.4f}, epsilon = {ten_layers:.4f}")
reveal("epsilon of ten layers", truth=ten_layers, others={"one layer": one_layer})

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The derivation is two lines once everything is rescaled to unit noise; let a student do it. When time is short, skip the quadrature and go straight from the derivation to the ten layers. Section 10.1 comes back to them.

# %% [markdown]
# ## 6 Where to spend it
#
# With $\sigma$ fixed the theorem leaves two freedoms: how to split $C$, and how to split the noise. For given $C_m$ the noise with the least total length is known. We minimise $\sum_m d_m\tau_m^2$ under $\sum_m C_m^2/\tau_m^2=\sigma^{-2}$; Lagrange says
#
# $$\tau_m^2\;\propto\;\frac{C_m}{\sqrt{d_m}},\qquad\text{that is}\qquad z_m^2\;\propto\;\frac1{C_m\sqrt{d_m}}.$$
#
# So large parts get *less* noise per weight ([in the formula book](explorer:formula_book?id=G-F8&misprint=equal)). When is one noise for all already the best? When $C_m\propto\sqrt{d_m}$. That is the usual rule, $C_m=C\sqrt{d_m/d}$. And then there is a rule from lecture notes which has it upside down, $C_m\propto1/\sqrt{d_m}$; we let it take part.


# %%
def split_in(shares, best_noise=False):
    """Groups with C_m² in these proportions, and one noise for all or the shortest."""
    norms = 0.5 * np.sqrt(shares / shares.sum())
    z = (norms * np.sqrt(d)) ** -0.5 if best_noise else 1 / norms
    return Grouped(
        norms=dict(zip(sizes, map(float, norms), strict=True)),
        noise_multipliers=dict(zip(sizes, map(float, z), strict=True)),
    )


d = np.array(list(sizes.values()), dtype=float)
rules = {
    "flat": Flat(0.5),
    "equal": split_in(np.ones(4)),
    "equal, best noise": split_in(np.ones(4), best_noise=True),
    "by size": split_in(d),
    "upside down": split_in(1 / d),
}

# %% [markdown]
# First the $C_m$ that each rule gives. All of them have $\sum_m C_m^2=C^2=0.25$.

# %%
print("                  ", "".join(f"{name:>10}" for name in sizes))
for name, rule in list(rules.items())[1:]:
    print(f"{name:18}", "".join(f"{c:10.4f}" for c in rule.groups(sizes).norms))

# %% [markdown]
# Then how a step looks under each rule, as in lesson 10: the length of the noise on the mean, and the cosine between the true gradient and the mean of 80 noisy steps (1 is perfect, 0 is random). Finally the whole run, $\varepsilon\approx3$, at learning rate 1.


# %%
def wrong(model):
    """Wrong answers per hundred unseen digits."""
    with torch.no_grad():
        return 100 * np.mean(model(unseen).argmax(1).numpy() != held_out.labels)


def train(seed, bound=None, norm=0.5, rate=1.0, look=lambda model, record: None):
    model = network(seed)
    fit(
        model,
        loss_fn,
        (x, y),
        replace(plan, max_grad_norm=norm),
        optimizer=torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9),
        delta=1e-4,
        bound=bound,
        expected_batch_size=512,
        progress=False,
        generator=torch.Generator().manual_seed(seed),
        callback=lambda record: look(model, record),
    )
    return wrong(model)


# %% [markdown]
# `rule.groups(sizes).scales` are the $\tau_m/\sigma$: the object that clips also knows the noise.

# %%
goal, errors = whole.mean(0), {}
print("rule                noise   cosine   wrong in 100")
for name, rule in rules.items():
    groups = rule.groups(sizes)
    width = np.array([groups.scales[groups.of[part]] for part in sizes])
    noise = 4 * np.sqrt(np.sum(d * width**2)) / 512
    found = clipped_sum(middle, loss_fn, x, y, bound=rule).sums.values()
    mean = torch.cat([part.flatten() for part in found]) / len(x)
    cosine = float(mean @ goal / goal.norm()) / np.sqrt(float(mean.norm()) ** 2 + noise**2 / 80)
    errors[name] = np.mean([train(seed, bound=rule) for seed in range(2)])
    print(f"{name:18}  {noise:.4f}   {cosine:6.3f}   {errors[name]:12.1f}")

# %% [markdown]
# SENTENCES

# %% [markdown]
# ## 7 Which C?
#
# ### 7.1 Not alone
#
# Lesson 10's slider moved $C$ and looked at one gradient. Now whole runs. First $C$ alone, at learning rate 1. Then $C$ together with the learning rate $\eta$, so that $\eta C=0.5$ stays the same: a step is $\eta$ times a mean of arrows of length at most $C$.

# %%
candidates = np.array([0.02, 0.1, 0.5, 2.5, 10])
alone = [np.mean([train(s, norm=c) for s in range(2)]) for c in candidates]
coupled = [np.mean([train(s, norm=c, rate=0.5 / c) for s in range(2)]) for c in candidates]
print("C                 ", "".join(f"{c:7g}" for c in candidates))
print("rate 1            ", "".join(f"{e:7.1f}" for e in alone))
print("rate 0.5/C        ", "".join(f"{e:7.1f}" for e in coupled))

# %% [markdown]
# The same as a picture:

# %%
figure = curves(
    [
        Line(x=candidates, y=alone, label="C alone", role="other", label_at=1),
        Line(x=candidates, y=coupled, label="rate · C = 0.5", label_at=1),
    ],
    title="C alone is a cliff; with the learning rate it is a plain",
    x="C, clipping norm",
    y="wrong in 100",
    log_x=True,
    y_range=(0, 40),
)
spread = f"{min(coupled):.1f} to {max(coupled):.1f}"
show(figure, f"C alone: {alone[0]:.1f} wrong at C = 0.02; with the learning rate {spread}.")

# %% [markdown]
# SENTENCES C
#
# ### 7.2 Let a count choose
#
# If the lengths are unknown, and they are data, one may *follow* them: aim at a quantile, say the median. In each step count how many gradients of the lot are no longer than $C$. More than half: $C$ is too long, make it a little shorter. Fewer: a little longer (Andrew et al. 2021).
#
# The count is data, so it needs noise, and it costs. What? It is one more group! Let every record in the lot count $+\tfrac12$ or $-\tfrac12$; then one record moves the count by $\tfrac12$, and with noise $\sigma_b$ that group has the multiplier $2\sigma_b$. For both together to be worth $\sigma$ the gradients need
#
# $$z_\Delta=\Big(\sigma^{-2}-(2\sigma_b)^{-2}\Big)^{-1/2}.$$

# %%
for sigma, count_noise in ((1, 5), (4, 5), (4, 512 / 20), (4, 2.1)):
    needed = adaptive_clipping_multiplier(noise_multiplier=sigma, bit_noise=count_noise)
    more = 100 * (needed / sigma - 1)
    print(f"sigma {sigma}, noise on the count {count_noise:4.1f}: z = {needed:.6f}, {more:.2f} % more")

# %% [markdown]
# A count is cheap: it is one number, and in a lot of 512 nobody minds an error of 25. So a twentieth of the lot is a good $\sigma_b$. Two runs from two bad starts, learning rate 1; we also note the true median, which only we can see.


# %%
def follow(start):
    """Errors, and C and the true median step by step."""
    seen = []

    def look(model, record):
        lengths = clipped_sum(model, loss_fn, x, y, bound=Flat(1.0)).norms
        seen.append((record.clipping_norm, float(lengths.median())))

    bound = AdaptiveQuantile(max_grad_norm=start, count_noise=512 / 20)
    return train(0, bound=bound, norm=start, look=look), np.array(seen)


followed = {start: follow(start) for start in (0.02, 10)}
for start, (error, seen) in followed.items():
    fixed = alone[list(candidates).index(start)]
    print(f"start {start:<4}: C ends at {seen[-1, 0]:.3f}; {error:.1f} wrong in 100, fixed {fixed:.1f}")

# %% [markdown]
# Step by step:

# %%
t = np.arange(1, plan.steps + 1)
low, high = (followed[start][1] for start in (0.02, 10))
figure = curves(
    [
        Line(x=t, y=high[:, 0], label="C from 10", role="other", label_at=0.1, side="top right"),
        Line(x=t, y=low[:, 0], label="C from 0.02", label_at=0.1, side="bottom right"),
        Line(x=t, y=low[:, 1], label="median", role="quiet", label_at=1),
    ],
    title="C finds its way from both sides, then follows the median down",
    x="step",
    y="length of a gradient",
    log_y=True,
)
show(figure, f"C after 80 steps: {low[-1, 0]:.3f} from 0.02, {high[-1, 0]:.3f} from 10.")

# %% [markdown]
# SENTENCES ADAPTIVE

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask for the sensitivity of the count before the formula. Most say 1; with plain bits it is 1, and then the 2 in the formula is wrong (a misprint with an entry of its own in the book). The second usual stumble: a following $C$ shrinks with the gradients, and with it the step, so it acts like a learning-rate schedule. Draw that on the board: $\eta C$ over time.

# %% [markdown]
# ## 8 Which lot, which σ?
#
# Back to the country: 60,000 pupils, 15 epochs, $\varepsilon=3$. The plan is now free; only lots and $\sigma$ trade against each other. What should we look at? Not at $\sigma$. What hurts is the noise on the mean, $\sigma C/L$; and over $T$ steps it averages out, so for the whole run
#
# $$\frac{\sigma C}{L\sqrt T}.$$
#
# We print it in units of $C/60000$.

# %%
lots = np.array([2**k for k in range(4, 16)] + [60_000])
found = np.array([calibrated(int(lot)) for lot in lots])
averaged = 60_000 * found[:, 0] / (lots * np.sqrt(found[:, 1]))
print("   lot   steps    sigma   sigma / lot   averaged over the run")
for lot, (sigma, steps), left in list(zip(lots, found, averaged, strict=True))[::2]:
    print(f"{lot:6}  {steps:6.0f}   {sigma:.4f}   {sigma / lot:11.2e}   {left:21.3f}")

# %% [markdown]
# SENTENCES LOTS

# %%
sigma_1024 = calibrated(1024)[0]
reveal("sigma for lots of 1024", truth=sigma_1024, others={"lots of 64": sigma_64})

# %% [markdown]
# The last column, divided by its last entry, for three budgets:

# %%
few = lots[::2]
ratios = {}
for epsilon in (1.0, 3.0, 8.0):
    pairs = np.array([calibrated(int(lot), epsilon) for lot in few])
    noise = pairs[:, 0] / (few * np.sqrt(pairs[:, 1]))
    ratios[epsilon] = noise / noise[-1]
figure = curves(
    [
        Line(x=few, y=ratios[8.0], label="ε = 8", role="rdp", label_at=0, side="top right"),
        Line(x=few, y=ratios[3.0], label="ε = 3", label_at=0, side="top right"),
        Line(x=few, y=ratios[1.0], label="ε = 1", role="other", label_at=0, side="bottom right"),
    ],
    title="Larger lots mean less noise, up to a point",
    x="expected lot, of 60,000",
    y="noise of the run / noise with full lots",
    log_x=True,
    y_range=(0, 14),
)
show(figure, "ratios")

# %% [markdown]
# MORE STEPS

# %% [markdown]
# ### 8.3 Trying costs
#
# We have tried dozens of settings on the held-out digits, which we call public. On private data every try is a release. Publish all ten of ten runs, and they compose. Publish only the *best* of a *random* number of runs, and there is a theorem (Liu & Talwar 2019; Papernot & Steinke 2022): for a geometric number of runs, ten on average, and pure $\varepsilon$, the price is $3\varepsilon$, however many runs there were. In Rényi terms, for our run:

# %%
orders = np.geomspace(1.2, 200, 120)
rdp = plan.steps * plan.mechanism.rdp(orders)
geometric = {"shape": 1.0, "stop": 0.1}  # ten runs on average
tuned = np.array(
    [
        min(
            selection_rdp(order=a, epsilon=r, other_order=b, other_epsilon=s, **geometric)
            for b, s in zip(orders, rdp, strict=True)
        )
        for a, r in zip(orders, rdp, strict=True)
    ]
)

# %% [markdown]
# Changed into $\varepsilon$ at $\delta=10^{-4}$ by the sharper exchange of lesson 05:


# %%
def exchanged(rdp):
    fee = np.log((orders - 1) / orders) - np.log(1e-4 * orders) / (orders - 1)
    return np.min(rdp + fee)


print(f"one run                        epsilon <= {exchanged(rdp):.3f} by rdp")
print(f"the best of ten on average     epsilon <= {exchanged(tuned):.3f} by rdp")
print("all of ten                    ", plan.guarantee(delta=1e-4, steps=10 * plan.steps))
