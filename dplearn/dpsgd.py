"""The public description of a DP-SGD run; no torch, no data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self, get_args

from dplearn import _validate as validate
from dplearn.accountants import Accountant, accountants
from dplearn.guarantee import Adjacency, Guarantee
from dplearn.mechanisms import Gaussian, Mechanism, PoissonSubsampled, WithoutReplacement

Sampling = Literal["poisson", "without_replacement", "none"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)


def natural_adjacency(sampling: Sampling) -> Adjacency:
    """The adjacency for which the sampling scheme has a theorem.

    Examples
    --------
    >>> natural_adjacency("poisson"), natural_adjacency("without_replacement")
    ('add_remove', 'replace_one')
    """
    validate.one_of(SAMPLINGS, sampling=sampling)
    return "replace_one" if sampling == "without_replacement" else "add_remove"


def sampled(base: Mechanism, *, sampling: Sampling, sample_rate: float) -> Mechanism:
    """One step: `base` on a sample drawn by the scheme.

    Raises
    ------
    ValueError
        If the scheme is unknown, or is ``"none"`` with a sample rate other than 1.
    """
    validate.one_of(SAMPLINGS, sampling=sampling)
    validate.rate(sample_rate=sample_rate)
    if sampling == "poisson":
        return PoissonSubsampled(base, sample_rate)
    if sampling == "without_replacement":
        return WithoutReplacement(base, sample_rate)
    if sample_rate != 1:
        raise ValueError(
            f"Expected sample_rate = 1 with sampling='none', got sample_rate={sample_rate!r}."
        )
    return base


@dataclass(frozen=True, kw_only=True)
class DPSGD:
    """What everybody may know about a run: sampler, clipper, noise and guarantee read it.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation on the sum / clipping norm, >= 0.
    sample_rate : float
        Expected batch size / dataset size, in (0, 1].
    steps : int
        Number of noisy updates, >= 0.
    max_grad_norm : float
        Clipping norm C > 0; the guarantee does not depend on it.
    sampling : {"poisson", "without_replacement", "none"}
        How a batch is drawn. A shuffled loader is none of these.

    Examples
    --------
    >>> run = DPSGD.from_epochs(
    ...     dataset_size=60_000, batch_size=256, epochs=60, noise_multiplier=1.1
    ... )
    >>> run.steps
    14063
    >>> print(run.guarantee("rdp", delta=1e-5))
    epsilon <= 2.597 at delta = 1.0e-05, add_remove, by rdp
    """

    noise_multiplier: float
    sample_rate: float
    steps: int
    max_grad_norm: float = 1.0
    sampling: Sampling = "poisson"

    def __post_init__(self) -> None:
        validate.non_negative(noise_multiplier=self.noise_multiplier)
        validate.rate(sample_rate=self.sample_rate)
        validate.integer(minimum=0, steps=self.steps)
        validate.positive(max_grad_norm=self.max_grad_norm)
        validate.one_of(SAMPLINGS, sampling=self.sampling)

    @classmethod
    def from_epochs(
        cls,
        *,
        dataset_size: int,
        batch_size: int,
        epochs: float,
        noise_multiplier: float,
        max_grad_norm: float = 1.0,
        sampling: Sampling = "poisson",
    ) -> Self:
        """A run of ``ceil(epochs * dataset_size / batch_size)`` steps.

        Parameters
        ----------
        dataset_size : int
            Public size N >= 1.
        batch_size : int
            Expected batch size in 1..N.
        epochs : float
            > 0.
        """
        validate.integer(minimum=1, dataset_size=dataset_size)
        validate.integer(minimum=1, maximum=dataset_size, batch_size=batch_size)
        validate.positive(epochs=epochs)
        return cls(
            noise_multiplier=noise_multiplier,
            sample_rate=batch_size / dataset_size,
            # A hair of slack: 15 * 60000 / 240 must not become 3751 through rounding.
            steps=math.ceil(epochs * dataset_size / batch_size - 1e-9),
            max_grad_norm=max_grad_norm,
            sampling=sampling,
        )

    @property
    def mechanism(self) -> Mechanism:
        """One step."""
        return sampled(
            Gaussian(self.noise_multiplier), sampling=self.sampling, sample_rate=self.sample_rate
        )

    def guarantee(
        self,
        accountant: Accountant | str = "pld",
        *,
        delta: float,
        steps: int | None = None,
        adjacency: Adjacency | None = None,
    ) -> Guarantee:
        """Privacy after `steps` updates (default: the whole run).

        Parameters
        ----------
        accountant : Accountant or str
            An instance, or a name from `dplearn.accountants.accountants`.
        delta : float
            In (0, 1).
        adjacency : str, optional
            Default: the one for which the sampling scheme has a theorem.
        """
        if isinstance(accountant, str):
            validate.one_of(tuple(accountants), accountant=accountant)
        chosen = accountants[accountant]() if isinstance(accountant, str) else accountant
        return chosen.epsilon(
            self.mechanism,
            delta=delta,
            steps=self.steps if steps is None else steps,
            adjacency=adjacency or natural_adjacency(self.sampling),
        )
