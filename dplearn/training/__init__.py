"""Differentially private training with PyTorch: clipped sums, and the models they are right for.

A whole run:

    plan = DPSGD.from_epochs(dataset_size=1797, batch_size=256, epochs=40, noise_multiplier=2.0)
    history = fit(model, nn.CrossEntropyLoss(reduction="none"), (images, labels), plan,
                  optimizer=torch.optim.SGD(model.parameters(), lr=0.5), delta=1e-5)
    print(history.guarantee(1e-5))        # of the steps done; any accountant=, any adjacency=
    history.steps, history.records[-1].private.loss   # what is private says so

`fit` also takes target_epsilon=8.0 (stops before it is passed), checkpoint="run.ckpt" (written, and
resumed from if it exists), callback=f, called with each `Record`, and what `Trainer` takes.
`affordable_steps(plan, epsilon=, delta=)` says beforehand how many steps a target allows. For a
loop of one's own:

    trainer = Trainer(model, loss_fn, (images, labels), plan, optimizer=optimizer)
    record = trainer.step()               # record.step, record.clipping_norm, record.private
    trainer.history().guarantee(1e-5); trainer.save(path); trainer.load(path)

`plan.sampling` names how lots are drawn, and with it the theorem behind the guarantee.

One call gives what DP-SGD releases before noise, from one forward and one backward pass:

    part = clipped_sum(model, loss_fn, inputs, targets, bound=Flat(1.0), mask=None)
    part.sums         # {parameter name: sum over records of clipped gradients}, float32 or wider
    part + other      # micro-batches add up

`loss_fn(model(inputs), targets)` must give one loss per record. `check(model, loss_fn, inputs,
targets)` refuses, once before training, what mixes records. Noise in parameter `name` has the
standard deviation ``bound.gradient_noise(noise_multiplier) * groups.scales[groups.of[name]]``
with ``groups = bound.groups({name: parameter.numel()})``: the object that clips knows the noise.
"""

from dplearn.training.bounds import (
    AdaptiveQuantile,
    Automatic,
    Bound,
    Flat,
    Grouped,
    Groups,
    PerLayer,
)
from dplearn.training.checks import check
from dplearn.training.fitting import affordable_steps, fit
from dplearn.training.gradients import ClippedSum, clipped_sum
from dplearn.training.history import History, Private, Record
from dplearn.training.rules import rule
from dplearn.training.trainer import Trainer

__all__ = [
    "AdaptiveQuantile",
    "Automatic",
    "Bound",
    "ClippedSum",
    "Flat",
    "Grouped",
    "Groups",
    "History",
    "PerLayer",
    "Private",
    "Record",
    "Trainer",
    "affordable_steps",
    "check",
    "clipped_sum",
    "fit",
    "rule",
]
