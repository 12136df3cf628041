"""Differential privacy for deep learning: lessons, figures and checked guarantees.

Names of this module, from a mechanism to a printed statement:

1. A `Mechanism` is one release. Noise: `Gaussian`, `Laplace`; on whole numbers
   `DiscreteGaussian`, `Geometric`. Choices: `ExponentialMechanism`, `PermuteAndFlip`,
   `RandomizedResponse`.
   Samples: `PoissonSubsampled`, `WithoutReplacement`. Whole epochs and runs: `Shuffled`,
   `RandomAllocation`, `CorrelatedGaussian`.
   Releases known only by a guarantee: `ApproximateDP`, `ZCDP`. Several releases: `Composed`.
   All by name: `MECHANISMS`. Output distributions of neighbours: `Outputs`.
2. A `Profile` is delta as a function of epsilon, the exact leak of a mechanism.
3. An accountant composes profiles: "pld", "rdp" and the others in `ACCOUNTANTS`.
4. It returns a `Guarantee`: `mechanism.guarantee("pld", delta=1e-5, steps=1000)`.
5. A plan is a whole run, `DPSGD` or `Phases`, and has a guarantee, too; `Tuned` is the best of
   several runs. `smallest_noise_multiplier`, `largest_steps` and `largest_sample_rate` calibrate a
   parameter to a target, and a `Ledger` adds up the releases from one data set.
6. `plan.statement(...)` is the statement for a paper; it requires every part.

Other modules: `dplearn.certificates` (an epsilon with a proof), `dplearn.training` (DP-SGD in
PyTorch), `dplearn.opacus`, `dplearn.datasets`, `dplearn.federated`, `dplearn.pate`,
`dplearn.audit`, and `dplearn.teaching` (formulas, figures, explorer, lessons).

Examples
--------
>>> from dplearn import DPSGD
>>> run = DPSGD.from_epochs(
...     dataset_size=60_000, batch_size=256, epochs=60, noise_multiplier=1.1
... )
>>> print(run.guarantee(delta=1e-5))
2.381 <= epsilon <= 2.382 at delta = 1.0e-05, add_remove, by pld
>>> run = DPSGD.for_epsilon(3.0, delta=1e-5, sample_rate=0.01, steps=1000)
>>> round(run.noise_multiplier, 3)
0.814

`help(DPSGD)`, or help of any other name above, lists its parameters. In a shell: `dplearn --help`.
"""

# Type checkers treat a name imported `as` itself, or by a star, as public. With __all__,
# help(dplearn) would print 4,400 lines: every method of every class.
from dplearn.accountants import ACCOUNTANTS as ACCOUNTANTS
from dplearn.calibrate import largest_sample_rate as largest_sample_rate
from dplearn.calibrate import largest_steps as largest_steps
from dplearn.calibrate import smallest_noise_multiplier as smallest_noise_multiplier
from dplearn.core.guarantee import Guarantee as Guarantee
from dplearn.engine.profile import Profile as Profile
from dplearn.ledger import Ledger as Ledger
from dplearn.mechanisms import *  # noqa: F403
from dplearn.run import DPSGD as DPSGD
from dplearn.run import Phases as Phases
from dplearn.tuning import Tuned as Tuned


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("dplearn-privacy")
    raise AttributeError(f"module 'dplearn' has no attribute {name!r}")
