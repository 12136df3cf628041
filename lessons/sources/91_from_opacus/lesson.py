# %% [markdown]
# # 91 From Opacus in ten minutes
#
# *An appendix: each call of Opacus beside ours, both executed on the same data.*
#
# You have a script that trains with Opacus. What becomes of each line, and does $\varepsilon$ change? The picture has the short answer. The rate and the steps of the plan are the only numbers that Opacus computes for you, from the loader.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this appendix you can**
#
# 1. translate a training script from Opacus, line by line, and say what happens to its $\varepsilon$;
# 2. tell which of two $\varepsilon$ is proved, and why they differ;
# 3. find what such a script may promise wrongly: shuffled batches, padding, several rows of one person.
#
# * **Time** ten minutes for the table, an hour for all of it; the computer needs half a minute.
# * **You need** lesson 10 (DP-SGD), a script that trains with Opacus; and Opacus itself, `pip install opacus`, to run the other half.
# * **Beside it** [the explorer at the numbers of this page](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=2&sample_rate=0.0833333&delta=1e-5&steps=1000&here=60).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `noise_multiplier` | $\sigma$ | noise / clipping norm; the same in both | none |
# | `max_grad_norm` | $C$ | clipping norm; the same in both | of the gradient |
# | `sample_rate` | $q$ | chance of a record to be in a lot; Opacus takes `1 / len(loader)` | probability |
# | `steps` | $T$ | noisy updates; Opacus counts `optimizer.step()` | count |
# | `orders` | $\alpha$ | orders of RDP; Opacus says `alphas` | number > 1 |
#
# </details>

# %% tags=["hide-input"]
from dplearn.teaching.classroom import check, pictures

figures = pictures("91")
figures.calls()

# %% [markdown]
# **★ 91.1** A `DataLoader` makes `batches` of the records, and the last one may be small. Opacus samples so that each record is expected once in an epoch of as many lots. Replace `...` by the rate; the second number is the steps.

# %%
import math


def numbers(records, batch_size, epochs):
    batches = math.ceil(records / batch_size)
    return [..., batches * epochs]


check("91.1", numbers)

# %% [markdown]
# <details><summary>Solution of 91.1</summary>
#
# ```python
# import math
#
#
# def numbers(records, batch_size, epochs):
#     batches = math.ceil(records / batch_size)
#     return [1 / batches, batches * epochs]
#
#
# check("91.1", numbers)
# ```
#
# Opacus takes one over `len(loader)`. For 1,438 records and batches of 128 this is 1/12, and not 128/1438.
#
# </details>

# %% [markdown]
# ## 1 The question
#
# The long answer is a table; most of its rows are run below.
#
# | Opacus | here |
# |---|---|
# | `make_private(noise_multiplier=, max_grad_norm=)` and the loop | a plan `DPSGD(...)` and `fit(model, loss_fn, loader, plan, ...)`, or `Trainer` and its `step()` |
# | `make_private_with_epsilon(target_epsilon=)` | `smallest_noise_multiplier(..., epsilon=)` |
# | `engine.get_epsilon(delta)` | `history.guarantee(delta)`: both ends, and what is presumed |
# | `accountant.get_privacy_spent(delta=, alphas=)` | `history.guarantee(delta, accountant=RDP(orders=...))` |
# | `BatchMemoryManager`, `virtual_step`, `signal_skip_step` | `micro_batch=64` |
# | `poisson_sampling=False` | `sampling="shuffled"`, whose $\varepsilon$ is larger |
# | `clipping="per_layer"`, `"adaptive"` | `bound=PerLayer(...)`; for a moving $C$, a public schedule by `Phases` or a loop of your own with `clipped_sum`; `Automatic(...)` hardly depends on $C$ |
# | `StepNoise` and other schedulers | `Phases((DPSGD(...), DPSGD(...)))` |
# | `DPLSTM`, `DPMultiheadAttention` | `nn.LSTM`, `nn.MultiheadAttention` |
# | `ModuleValidator.validate` | `check_model`, which every run begins with |
# | `ModuleValidator.fix` | no counterpart: choose the norm yourself, say `nn.GroupNorm` |
# | `grad_sample_mode="ghost"`, `"functorch"`, `"ew"` | nothing to choose |
# | `secure_mode=True` | the default where `cryptography` is installed |
# | `DistributedDPOptimizer` | `process_group=` |
#
# Scripts of 2020 and 2021 (versions 0.9 to 0.15, whose tagged sources have these names) look different again:
#
# | then | now | here |
# |---|---|---|
# | `PrivacyEngine(model, batch_size=, sample_size=, alphas=, ...)`; from 0.12 also `sample_rate=` | `PrivacyEngine().make_private(...)` | `DPSGD(...)`, the lot a number of the plan |
# | `engine.attach(optimizer)` | returned by `make_private` | `fit(..., optimizer=...)` |
# | `optimizer.virtual_step()` | `BatchMemoryManager` | `micro_batch=` |
# | `optimizer.privacy_engine.get_privacy_spent(delta)`: ε, best α | `engine.get_epsilon(delta)` | `guarantee.epsilon`, `guarantee.details["order"]` |
# | `alphas=range(2, 32)`: stops at 31, no fractions; no default before 0.12 | `1.1, 1.2, … 10.9, 12, … 63` | `1.01` to a million |
#
# We begin with a script as people have it: digits, a `DataLoader`, five epochs.

# %%
import dataclasses
import warnings

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from dplearn import DPSGD
from dplearn.datasets import digits, oriented_gradients, split
from dplearn.training import fit

# %% [markdown]
# The other half of the page. Opacus warns about hooks and generators; we have read it.

# %%
warnings.filterwarnings("ignore")
from opacus import PrivacyEngine

# %% [markdown]
# Data, and a model for each run.

# %%
training, _, test = split(digits(), validation=0.0)
x, unseen = (torch.from_numpy(oriented_gradients(part.images)) for part in (training, test))
y = torch.from_numpy(training.labels)
loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
print(f"{len(x)} records in {len(loader)} batches of {loader.batch_size}")


# %% [markdown]
# A linear model on these features is enough to see everything.


# %%
def started(seed=0):
    torch.manual_seed(seed)
    model = nn.Linear(128, 10)
    return model, torch.optim.SGD(model.parameters(), lr=4.0)


def accuracy(model):
    with torch.no_grad():
        return np.mean(model(unseen).argmax(1).numpy() == test.labels)


# %% [markdown]
# ## 2 `make_private` and the loop
#
# This is the script with Opacus:

# %%
theirs, optimizer = started()
engine, options = PrivacyEngine(), {"noise_multiplier": 2.0, "max_grad_norm": 0.5}
model, optimizer, lots = engine.make_private(
    module=theirs, optimizer=optimizer, data_loader=loader, **options
)


# %% [markdown]
# The loop is the one that everybody has.


# %%
def epoch(model, optimizer, lots):
    for inputs, targets in lots:
        optimizer.zero_grad()
        nn.CrossEntropyLoss()(model(inputs), targets).backward()
        optimizer.step()


# %% [markdown]
# After five epochs the engine is asked for $\varepsilon$.

# %%
for _ in range(5):
    epoch(model, optimizer, lots)
print(f"Opacus:  epsilon {engine.get_epsilon(1e-5):.3f}")

# %% [markdown]
# The same run here has three things in other places: the numbers stand in a *plan*, which is public and known before training; the loss gives one number per record; and the loop is `fit`. The loader stays: its `collate_fn`, workers and pinning are used, and its batch size may say the expected lot. Its shuffling plays no part in either library.

# %%
plan = DPSGD(sample_rate=1 / len(loader), steps=5 * len(loader), **options)
print(plan)

# %% [markdown]
# The run, and what it guarantees:

# %%
ours, optimizer = started()
per_record, quiet = nn.CrossEntropyLoss(reduction="none"), {"delta": 1e-5, "progress": False}
history = fit(ours, per_record, loader, plan, optimizer=optimizer, **quiet)
print(history.guarantee(1e-5))

# %% [markdown]
# Both models have learned something:

# %%
print(f"both above 80 % of unseen digits: {min(accuracy(theirs), accuracy(ours)) > 0.8}")

# %% [markdown]
# Opacus takes $q$ to be one over the number of batches, 1/12 here, and not 128 of 1438; we wrote the same for comparison. `DPSGD.from_epochs(dataset_size=len(x), batch_size=128, epochs=5, ...)` would sample at the rate you asked for.
#
# Whoever wants the loop has `Trainer`; one `step()` is a lot, its clipped sum, noise, and `optimizer.step()`.

# %%
from dplearn.training import Trainer

model, optimizer = started()
trainer = Trainer(model, per_record, loader, plan, optimizer=optimizer)
for _ in range(3):
    trainer.step()
print(trainer.history().guarantee(1e-5))

# %% [markdown]
# ## 3 Both epsilons
#
# `get_epsilon` is a number. `guarantee` is a statement: two proved ends, the neighbours it is about, and what it presumes.

# %%
for assumption in history.guarantee(1e-5).assumptions:
    print("*", assumption)

# %% [markdown]
# The accountants of both, for the same run:


# %%
def opacus_epsilon(name, *, sigma=2.0, steps=plan.steps):
    accountant = PrivacyEngine(accountant=name).accountant
    accountant.history = [(sigma, plan.sample_rate, steps)]
    return accountant.get_epsilon(1e-5)


# %% [markdown]
# Three of theirs, three of ours:

# %%
for name in ("prv", "rdp", "gdp"):
    print(f"Opacus {name}: {opacus_epsilon(name):.4f}")
for name in ("pld", "rdp", "gdp"):
    print(f"dplearn {name}: {history.guarantee(1e-5, accountant=name)}")

# %% [markdown]
# Opacus' default, `prv`, adds the error that it allows itself, a hundredth in $\varepsilon$, and is right: it lies above our upper end. Its `gdp` lies *below* our lower end: it is an approximation, and ours says so in its statement.
#
# `get_privacy_spent` also told the best order $\alpha$. With the same orders the two are equal:

# %%
from opacus.accountants import RDPAccountant

from dplearn import ACCOUNTANTS

RDP, alphas = type(ACCOUNTANTS["rdp"]()), [1 + k / 10 for k in range(1, 200)]
spent = RDPAccountant()
spent.history = [(2.0, plan.sample_rate, plan.steps)]
epsilon, alpha = spent.get_privacy_spent(delta=1e-5, alphas=alphas)
print(f"{epsilon:.6f} at {alpha}")

# %% [markdown]
# Our accountant calls them `orders`:

# %%
same = history.guarantee(1e-5, accountant=RDP(orders=tuple(alphas)))
print(f"{same.epsilon:.6f} at {same.details['order']}")

# %% [markdown]
# *Experiment.* How far is each accountant of Opacus from what is proved, over a run with the rate and steps of your function? The slider is the noise.


# %%
figures.accountants(numbers, opacus_epsilon)

# %% [markdown]
# `prv` lies above by its allowance of 0.01, which counts for most at the first epochs. `rdp` is an upper bound at every length. `gdp` promises too much, most of all where steps are few.
#
# ## 4 `make_private_with_epsilon`
#
# Opacus looks for the noise of a target:

# %%
model, optimizer = started()
target = {"target_epsilon": 2.0, "target_delta": 1e-5, "epochs": 5, "max_grad_norm": 0.5}
given = {"module": model, "optimizer": optimizer, "data_loader": loader}
_, optimizer, _ = PrivacyEngine().make_private_with_epsilon(**given, **target)
print(f"Opacus:  sigma {optimizer.noise_multiplier:.4f}")

# %% [markdown]
# Here the search is a function of the accountant, without model or data:

# %%
from dplearn import Gaussian, PoissonSubsampled, smallest_noise_multiplier

step = PoissonSubsampled(Gaussian(noise_multiplier=1.0), sample_rate=plan.sample_rate)
noise = smallest_noise_multiplier(step, epsilon=2.0, delta=1e-5, steps=plan.steps)
print(noise)

# %% [markdown]
# The other way round, a fixed noise and as many steps as a target allows, is `fit(..., target_epsilon=2.0)`.
#
# ## 5 `BatchMemoryManager` and `virtual_step`
#
# A lot that does not fit in memory is processed in parts. In Opacus the loader is wrapped, and `optimizer.step()` then means two things:


# %%
def private(**more):
    model, optimizer = started()
    given = {"module": model, "optimizer": optimizer, "data_loader": loader}
    engine = PrivacyEngine()
    return engine, *engine.make_private(**given, **options, **more)


# %% [markdown]
# No part has more than 64 records, and the count of steps is that of the lots:

# %%
from opacus.utils.batch_memory_manager import BatchMemoryManager

engine, model, optimizer, lots = private()
small = {"max_physical_batch_size": 64, "optimizer": optimizer}
with BatchMemoryManager(data_loader=lots, **small) as parts:
    epoch(model, optimizer, parts)
print(engine.accountant.history[0][2], "steps")


# %% [markdown]
# Here it is an option that changes memory and speed, not the result. (Equal seeds, for the comparison; a real run gets none.)


# %%
def weights(**more):
    model, optimizer = started()
    more["generator"] = torch.Generator().manual_seed(0)
    fit(model, per_record, loader, plan, optimizer=optimizer, **quiet, **more)
    return model.weight.detach()


# %% [markdown]
# The cell compares a run in parts with one without:

# %%
difference = (weights(micro_batch=64) - weights()).abs().max()
print(f"same weights to 1e-5: {bool(difference < 1e-5)}")

# %% [markdown]
# ## 6 `poisson_sampling=False`
#
# Opacus then leaves the shuffled loader alone, and counts as before:

# %%
engine, *run = private(poisson_sampling=False)
for _ in range(5):
    epoch(*run)
print(f"Opacus:  epsilon {engine.get_epsilon(1e-5):.3f}")

# %% [markdown]
# The same number as with Poisson sampling. For shuffled batches it is not a bound: the truth lies between these two ends.

# %%
shuffled = dataclasses.replace(plan, sampling="shuffled")
stated = shuffled.guarantee(delta=1e-5)
print(stated)

# %% [markdown]
# So a script with `poisson_sampling=False` becomes `sampling="shuffled"`, and its $\varepsilon$ rises. Or it becomes a plan with Poisson sampling, and keeps its $\varepsilon$ by earning it.
#
# ## 7 Layers, and what mixes records
#
# Opacus wants layers of its own where PyTorch's are fused, and lists layers that mix records:

# %%
from opacus.validators import ModuleValidator

normed = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 2))
print([type(error).__name__ for error in ModuleValidator.validate(normed)])
fixed = ModuleValidator.fix(normed)
print(type(fixed[1]).__name__)


# %% [markdown]
# Here ordinary layers are used, and `check_model` looks for mixing by experiment. It refuses the same batch norm, and also what is no layer:


# %%
class Centred(nn.Module):
    def forward(self, x):
        return x - x.mean(0)


# %% [markdown]
# Both models are put before both judges:

# %%
images, labels = torch.rand(8, 1, 8, 8), torch.arange(8) % 2
centred = nn.Sequential(nn.Flatten(), Centred(), nn.Linear(64, 2))

# %% [markdown]
# Opacus finds an error in the first only. Ours refuses both and gives a reason.

# %%
from dplearn.training import check_model

for name, model in (("batch norm", normed), ("centred", centred)):
    print(f"{name:<10}  errors by Opacus: {len(ModuleValidator.validate(model))}", end="; here: ")
    try:
        check_model(model, per_record, images, labels)
    except (ValueError, NotImplementedError) as error:
        print(str(error).split(": ")[-1])

# %% [markdown]
# Every run begins with this check, on made-up records. An experiment finds much and cannot find everything: README says what it looks for.
#
# ## 8 Ragged data, and a leak that no layer shows
#
# Names of several lengths, padded to the longest of the batch, read by an LSTM whose *last* position is classified: this is how [the example `char-lstm-classification.py` of Opacus](https://github.com/pytorch/opacus/blob/main/examples/char-lstm-classification.py) does it. One long name in a lot makes all others run through more padding, and changes their gradients.


# %%
class LastPosition(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(27, 8), nn.LSTM(8, 16, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, letters):
        states, _ = self.lstm(self.embedding(letters))
        return self.head(states[:, -1])


# %% [markdown]
# Forty short names, padded by the usual `collate_fn`:


# %%
from torch.nn.utils.rnn import pad_sequence


def padded(items):
    letters = pad_sequence([name for name, _ in items], batch_first=True)
    return letters, torch.tensor([language for _, language in items])


generator = torch.Generator().manual_seed(0)
draw = lambda length: torch.randint(1, 27, (length,), generator=generator)
names = [(draw(3 + i % 4), i % 2) for i in range(40)]

# %% [markdown]
# By how much does the clipped sum of gradients change in units of $C$, if one long name joins? More than 1 breaks the guarantee.


# %%
from dplearn.training import Flat, clipped_sum


def change(model, collate, long):
    sums = [
        clipped_sum(model, per_record, *collate(each), bound=Flat(1.0)).sums
        for each in (names, [*names, long])
    ]
    parts = [(sums[0][name] - sums[1][name]).norm() for name in sums[0]]
    return torch.stack(parts).norm().item()


# %% [markdown]
# In a network as it begins:

# %%
torch.manual_seed(0)
lstm = LastPosition()
print(f"{change(lstm, padded, (draw(25), 0)):.1f}")

# %% [markdown]
# The noise was made for a change of 1. The same holds for a mean over padded positions, which is what `imdb.py` there computes. No layer is to blame, so no list of layers finds it; here a loader with its own `collate_fn` is compared, each record alone and in company:


# %%
def names_run(model, collate):
    ragged = DataLoader(names, batch_size=10, collate_fn=collate)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    few = DPSGD(noise_multiplier=1.0, sample_rate=0.25, steps=4)
    return fit(model, per_record, ragged, few, optimizer=optimizer, **quiet)


# %% [markdown]
# So the run does not begin:

# %%
try:
    names_run(lstm, padded)
except ValueError as error:
    print(error)

# %% [markdown]
# Three cures: pad to a length that is public, mask what is padded, or read each record at its own end:


# %%
class OwnEnd(LastPosition):
    def forward(self, letters, lengths):
        states, _ = self.lstm(self.embedding(letters))
        return self.head(states[torch.arange(len(lengths)), lengths - 1])


# %% [markdown]
# The lengths come from the `collate_fn`:


# %%
def with_lengths(items):
    letters, languages = padded(items)
    return (letters, torch.tensor([len(name) for name, _ in items])), languages


# %% [markdown]
# An item or batch `((letters, lengths), languages)` calls the model with two arguments; a dict calls it by names, with "labels" as the targets.

# %%
torch.manual_seed(0)
end = OwnEnd()
print(f"{change(end, with_lengths, (draw(25), 0)):.2f}")
print(names_run(end, with_lengths).steps, "steps")

# %% [markdown]
# ## 9 Whose privacy? Several rows per person, several views per record
#
# One *record* is one item of the dataset: what `len(dataset)` counts, lots draw and clipping bounds. A person with five rows is protected five times less, in both libraries. So make the person the item. Its rows become views of one record: each passes through the model, and their mean loss has one gradient.


# %%
class People(Dataset):
    def __init__(self, owner, rows):
        self.rows = rows
        self.of = [torch.from_numpy(np.flatnonzero(owner == o)) for o in np.unique(owner)]

    def __len__(self):
        return len(self.of)

    def __getitem__(self, person):
        mine = self.of[person]
        drawn = mine[torch.randint(len(mine), (self.rows,))]
        return x[drawn], y[drawn]


# %% [markdown]
# The model sees one view at a time; nothing else changes. Augmentation multiplicity (De et al., 2022), several distortions of one record before clipping, is the same with a `__getitem__` that distorts.


# %%
class Views(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, views):
        return torch.stack([self.model(view) for view in views.unbind(1)], 1)


# %% [markdown]
# The loss of a person is the mean over her views:


# %%
def mean_loss(outputs, targets):
    return per_record(outputs.transpose(1, 2), targets).mean(1)


# %% [markdown]
# Let 300 people own the rows, and show four of each at a time. $\varepsilon$ is now about a person with all her rows:

# %%
owner = np.random.default_rng(0).integers(300, size=len(x))
people, (model, optimizer) = People(owner, rows=4), started()
by_person = DPSGD(noise_multiplier=2.0, sample_rate=0.1, steps=60, max_grad_norm=0.5)
whole = fit(Views(model), mean_loss, people, by_person, optimizer=optimizer, **quiet)
print(f"{len(people)} people: {whole.guarantee(1e-5)}")

# %% [markdown]
# ## 10 The rest of a script: logs, validation, averages, two runs
#
# `callback` gets the trainer after each step: its `model`, `steps`, `records` and `history()`. Whatever a script did between steps fits in there: `SummaryWriter.add_scalar`, `tqdm.update`, a file, or an average of weights. Mind what is written: `records[-1].private` is computed without noise and is for your eyes only.
#
# Validation costs nothing on public data. On private data it is one more release, and has a price of its own.


# %%
import copy
import csv
import io

log, best = io.StringIO(), {"score": 0.0}


def keep_best(trainer):
    if (score := accuracy(trainer.model)) > best["score"]:  # these digits are public
        best.update(score=score, state=copy.deepcopy(trainer.model.state_dict()))


# %% [markdown]
# A callback that does three things at the end of each epoch:


# %%
def each_epoch(trainer):
    if trainer.steps % len(loader) == 0:
        averaged.update_parameters(trainer.model)
        keep_best(trainer)
        spent = trainer.history().guarantee(1e-5).epsilon
        csv.writer(log).writerow([trainer.steps // len(loader), f"{spent:.3f}"])


# %% [markdown]
# Epoch and $\varepsilon$, as the file has them:

# %%
from torch.optim.swa_utils import AveragedModel

model, optimizer = started()
averaged = AveragedModel(model)
first = fit(model, per_record, loader, plan, optimizer=optimizer, callback=each_epoch, **quiet)
print(log.getvalue(), end="")
print(f"the average of weights works: {accuracy(averaged) > 0.7}, the best: {best['score'] > 0.7}")

# %% [markdown]
# Validation on private records with a price: the number of right answers changes by at most 1 with one record, so it is a Gaussian mechanism, and five looks are a plan. Two runs on the same people are two phases of one plan; of disjoint people the larger $\varepsilon$ counts.

# %%
from dplearn import Phases

looks = DPSGD(noise_multiplier=20.0, sample_rate=1.0, steps=5, sampling="none")
print(looks.guarantee(delta=1e-5))
print(Phases((first.plan, looks)).guarantee(delta=1e-5))
print(Phases((first.plan, first.plan)).guarantee(delta=1e-5))

# %% [markdown]
# A schedule of noise is public before the run, so it belongs in the plan. Opacus halves the noise after 30 of 60 steps like this:

# %%
from opacus.accountants import PRVAccountant
from opacus.optimizers import DPOptimizer
from opacus.schedulers import StepNoise

loud = {"noise_multiplier": 4.0, "max_grad_norm": 0.5, "expected_batch_size": 120}
optimizer = DPOptimizer(started()[1], **loud)
schedule, halves = StepNoise(optimizer, step_size=30, gamma=0.5), PRVAccountant()

# %% [markdown]
# The accountant counts step by step:

# %%
for _ in range(60):
    halves.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=plan.sample_rate)
    schedule.step()
print(f"Opacus:  epsilon {halves.get_epsilon(1e-5):.3f}")

# %% [markdown]
# Here the trainer follows the phases:

# %%
half = dataclasses.replace(plan, noise_multiplier=4.0, steps=30)
phases = Phases((half, dataclasses.replace(half, noise_multiplier=2.0)))
model, optimizer = started()
print(fit(model, per_record, loader, phases, optimizer=optimizer, **quiet).guarantee(1e-5))

# %% [markdown]
# ### At home: fine-tune a language model with an adapter
#
# Opacus users mostly fine-tune: a language model that was trained on public text learns from private text through a thin *adapter* (LoRA; Hu et al., 2022), the layer that PEFT puts beside an ordinary one. Frozen parameters cost nothing: no gradient, no noise, no $\varepsilon$. Here model and texts are made up, so that it takes seconds; a model of `transformers` with adapters of `peft` goes the same way. The first part is a causal model:


# %%
class Language(nn.Module):
    def __init__(self, words=32, width=32):
        super().__init__()
        self.words, self.mixed = nn.Embedding(words, width), nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, words)

    def forward(self, texts):
        query, key, value = self.mixed(self.words(texts)).chunk(3, 2)
        attention = nn.functional.scaled_dot_product_attention
        return self.head(attention(query, key, value, is_causal=True))


# %% [markdown]
# One text is one record, so its loss is the mean over its words. In public each word is followed by the next of 32; in private four of them are followed by another:


# %%
def next_words(outputs, texts):
    return per_record(outputs[:, :-1].transpose(1, 2), texts[:, 1:]).mean(1)


def written(count, jump):
    words = [torch.randint(32, (count,))]
    for _ in range(11):
        words.append((words[-1] + torch.where(words[-1] % 8 == 0, jump, 1)) % 32)
    return torch.stack(words, 1)


# %% [markdown]
# It is trained on public texts as usual:

# %%
torch.manual_seed(0)
language = Language()
public_text, private_text, unseen_text = map(written, (200, 500, 200), (1, 5, 5))
adam = torch.optim.Adam(language.parameters(), lr=0.02)
for _ in range(100):
    adam.zero_grad()
    next_words(language(public_text), public_text).mean().backward()
    adam.step()

# %% [markdown]
# The adapter is zero at first, and all else is frozen:


# %%
class Adapted(nn.Module):
    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.lora_A = nn.Linear(layer.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x):
        return self.layer(x) + self.lora_B(self.lora_A(x))


# %% [markdown]
# The run is that of section 9 with another model; the optimizer gets what is trained:

# %%
before = next_words(language(unseen_text), unseen_text).mean().item()
language.requires_grad_(False).mixed = Adapted(language.mixed)
adapter = [p for p in language.parameters() if p.requires_grad]
adam = torch.optim.Adam(adapter, lr=0.02)
texts = private_text, private_text  # what it reads is what it should say
adapted = fit(language, next_words, texts, by_person, optimizer=adam, **quiet)
after = next_words(language(unseen_text), unseen_text).mean().item()
print(f"the loss of unseen private texts falls to less than a third: {after < before / 3}")
print(adapted.guarantee(1e-5))

# %% [markdown]
# ## 11 TensorFlow Privacy's queries
#
# There a step is a *query*, and queries are put into one another. Each has a counterpart; TensorFlow is not needed to see it.
#
# | TF-privacy | here |
# |---|---|
# | `GaussianSumQuery(l2_norm_clip, stddev)` | clipping and noise of one step: `Flat(C)` and $\sigma$ = `stddev / l2_norm_clip` |
# | `NormalizedQuery(query, denominator)` | the division by a *public* number: `expected_batch_size` |
# | `NestedQuery([query, query])` | groups of parameters with clipping norms and noise of their own: `Grouped` |
# | `QuantileAdaptiveClipSumQuery` | a loop of your own with `clipped_sum`, as in the script of lesson 11's figures |
# | `DPKerasSGDOptimizer(num_microbatches=)` | several rows of one *unit*, as in section 9; `micro_batch` here never changes the result |
#
# `NestedQuery` adds up to one Gaussian mechanism. Two groups with noise multipliers 3 and 4 cost together what one with 2.4 costs, and the ratio is all that a run takes from them:

# %%
from dplearn.training import Grouped

nested = Grouped(norms={"weight": 0.5, "bias": 0.1}, noise_multipliers={"weight": 3.0, "bias": 4.0})
print(nested.noise_multiplier)
model, optimizer = started()
public = {"expected_batch_size": 120, "bound": nested}
print(fit(model, per_record, loader, plan, optimizer=optimizer, **public, **quiet).guarantee(1e-5))

# %% [markdown]
# ## 12 What is proved, and what you must see to
#
# | claim | by whom |
# |---|---|
# | both ends of $\varepsilon$, for the lots that the plan draws | the accountant; [appendix 90](90_certified_engine.ipynb) |
# | one record's contribution is at most $C$, noise has $\sigma C$ | tests, record by record |
# | records do not influence each other in the model, the loss or the collation | an experiment at the start: it finds much, not everything |
# | a person is one item of the dataset | you |
# | validation data are public, or their price was added | you |
# | what is published is the model and what the history calls public | you |
#
# What this page does not show: [speed and memory](../benchmarks/results/trainer.md).
#
# ## 13 Exercises
#
# **★ 1** A script has `DataLoader(dataset, batch_size=256, drop_last=True)` on 60,000 records, `poisson_sampling=False`, and reports Opacus' $\varepsilon$. Which plan describes what it does?
#
# <details><summary>Answer to 1</summary>
#
# `DPSGD(sample_rate=256 / 60_000, sampling="shuffled", drop_last=True, ...)`: `60_000 // 256` batches per epoch in a random order, the rest dropped. The reported number is that of Poisson sampling and no bound for it.
#
# </details>
#
# **★★ 2** In section 8, why does a longer *record of one's own* not break the guarantee of `OwnEnd`, although its gradient sums over more positions?
#
# <details><summary>Answer to 2</summary>
#
# Its own gradient may be anything: it is clipped to $C$. The guarantee only needs that the *others'* clipped gradients stay as they are, and an LSTM's state at a position never looks ahead.
#
# </details>
#
# **★★ 3** In section 9 each person shows four rows, drawn at random from hers. Is $\varepsilon$ larger for a person with a hundred rows than for one with two?
#
# <details><summary>Answer to 3</summary>
#
# No. Whatever she owns, and whatever is drawn, her contribution to a step is one gradient of norm at most $C$. The random draw is part of what is done with her data; the worst case over all draws bounds it.
#
# </details>
#
# ## 14 Further reading
#
# * Yousefpour et al. (2021), *Opacus: user-friendly differential privacy library in PyTorch*.
# * De et al. (2022), *Unlocking high-accuracy differentially private image classification through scale*: augmentation multiplicity.
# * Chua et al. (2024), *How private are DP-SGD implementations?*: shuffled batches are not Poisson batches.
# * McMahan et al. (2018), *A general approach to adding differential privacy to iterative training procedures*: nested queries.
#
# **Back** to [lesson 10](10_dpsgd.ipynb). The last cell re-examines what this page claimed.

# %%
# Checks
bracket = history.guarantee(1e-5)
assert opacus_epsilon("gdp") < bracket.lower <= bracket.epsilon < opacus_epsilon("prv")
assert np.isclose(same.epsilon, epsilon)
assert opacus_epsilon("prv") < stated.lower  # shuffled batches leak more than Opacus says
assert change(lstm, padded, (draw(25), 0)) > 1.001 > change(end, with_lengths, (draw(25), 0))
assert nested.noise_multiplier == (3.0**-2 + 4.0**-2) ** -0.5
assert after < before / 3
assert halves.get_epsilon(1e-5) > phases.guarantee(delta=1e-5).epsilon
print("all checks passed")
