r"""Clipping bounds for gradient norms, and the scale of the noise that each bound needs.

A bound splits the parameters into groups and scales each record's gradient in group m to norm
at most :math:`C_m`. Noise in group m has standard deviation (noise multiplier) x :math:`s_m`.
Clipping and noise are as private as a Gaussian mechanism with that noise multiplier, because

.. math:: \sum_m (C_m / s_m)^2 \le 1,

which every bound satisfies by construction. Neighbouring datasets differ by adding or removing one
record.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dplearn.core import validate


class Groups(NamedTuple):
    """Assignment of parameters to groups, with the norm bound and noise scale of each group.

    Parameters
    ----------
    of : mapping of str to int, index of each parameter's group, by parameter name
    norms : tuple of float > 0, norm bound C of each group
    scales : tuple of float > 0, standard deviation of each group's noise at noise multiplier 1
    """

    of: Mapping[str, int]
    norms: tuple[float, ...]
    scales: tuple[float, ...]


class ClippingBound(ABC):
    """Base class of clipping bounds, which define parameter groups and clipping factors."""

    @abstractmethod
    def groups(self, sizes: Mapping[str, int]) -> Groups:
        """Return the groups of parameters; `sizes` gives each parameter's entry count."""

    def factors(self, norms: Any, largest: Any) -> Any:
        """Return factors, shape (groups, B), after which `norms` are at most `largest`."""
        return largest / norms.clip(min=largest)  # arrays of NumPy or PyTorch


@dataclass(frozen=True)
class Flat(ClippingBound):
    """Clipping of each record's whole gradient to one norm bound (Abadi et al., 2016).

    Parameters
    ----------
    max_grad_norm : float > 0, the largest norm C of the whole gradient
    """

    max_grad_norm: float

    def __post_init__(self) -> None:
        validate.positive(max_grad_norm=self.max_grad_norm)

    def groups(self, sizes: Mapping[str, int]) -> Groups:
        norm = (self.max_grad_norm,)
        return Groups(of=dict.fromkeys(sizes, 0), norms=norm, scales=norm)


@dataclass(frozen=True)
class Automatic(Flat):
    """Scaling of gradients by C / (norm + 0.01) (Bu et al., 2023), with the fields of `Flat`."""

    def factors(self, norms: Any, largest: Any) -> Any:
        return largest / (norms + 0.01)


@dataclass(frozen=True)
class PerLayer(Flat):
    r"""Clipping of each of M layers to norm :math:`C / \sqrt M`, with the fields of `Flat`."""

    def groups(self, sizes: Mapping[str, int]) -> Groups:
        layers = list(dict.fromkeys(name.rpartition(".")[0] for name in sizes))
        of = {name: layers.index(name.rpartition(".")[0]) for name in sizes}
        norm, count = self.max_grad_norm, len(layers)
        return Groups(of=of, norms=(norm / math.sqrt(count),) * count, scales=(norm,) * count)


@dataclass(frozen=True, kw_only=True)
class Grouped(ClippingBound):
    r"""Clipping of groups of parameters, each with its own norm bound and noise multiplier.

    All groups together have the `noise_multiplier` :math:`z = (\sum_m z_m^{-2})^{-1/2}`.

    Parameters
    ----------
    norms : mapping of str to float > 0, norm bound of each group, by a prefix of the names of its
        parameters; if several prefixes match, the longest decides
    noise_multipliers : mapping of str to float > 0, by the same prefixes; a run uses only ratios

    Examples
    --------
    >>> two = Grouped(norms={"": 1.0, "head": 0.5}, noise_multipliers={"": 3.0, "head": 4.0})
    >>> two.noise_multiplier
    2.4
    >>> two.groups({"body.weight": 9, "head.weight": 3}).norms
    (1.0, 0.5)
    """

    norms: Mapping[str, float]
    noise_multipliers: Mapping[str, float]

    def __post_init__(self) -> None:
        noise = self.noise_multipliers
        validate.integer(minimum=1, groups=len(self.norms))
        for argument in ("norms", "noise_multipliers"):
            values = getattr(self, argument).items()
            validate.positive(**{f"{argument}[{name!r}]": value for name, value in values})
        if noise.keys() != self.norms.keys():
            raise ValueError(
                f"Expected noise_multipliers for {sorted(self.norms)}, got {sorted(noise)}."
            )

    @property
    def noise_multiplier(self) -> float:
        """Noise multiplier of the Gaussian mechanism that releases all groups together."""
        return sum(z**-2 for z in self.noise_multipliers.values()) ** -0.5

    def groups(self, sizes: Mapping[str, int]) -> Groups:
        prefixes, of = list(self.norms), {}
        for name in sizes:
            fits = [p for p in prefixes if name == p or name.startswith(p and p + ".")]
            if not fits:
                raise ValueError(f"Expected a group for every parameter, got none for {name!r}.")
            of[name] = prefixes.index(max(fits, key=len))
        noise, total = self.noise_multipliers, self.noise_multiplier
        scales = tuple(norm * noise[name] / total for name, norm in self.norms.items())
        return Groups(of=of, norms=tuple(self.norms.values()), scales=scales)
