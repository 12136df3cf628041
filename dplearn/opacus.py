"""Accountant for opacus, registered on import: `PrivacyEngine(accountant="dplearn")`."""

from opacus.accountants import IAccountant, register_accountant

from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import Guarantee
from dplearn.mechanisms import Composed, Gaussian, PoissonSubsampled


class CertifiedAccountant(IAccountant):
    """Opacus accountant that returns the `pld` guarantee of the recorded steps.

    opacus does not record how batches were drawn: the guarantee assumes fresh Poisson samples and
    the adjacency add_remove.

    Examples
    --------
    >>> from opacus.accountants import create_accountant
    >>> accountant = create_accountant("dplearn")
    >>> accountant.history = [(4.0, 0.01, 10_000), (2.0, 0.02, 500)]
    >>> print(accountant.guarantee(1e-5))
    1.357 <= epsilon <= 1.358 at delta = 1.0e-05, add_remove, by pld
    """

    def __init__(self) -> None:  # abstract in IAccountant
        super().__init__()

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record one step; consecutive equal steps share an entry of `history`."""
        run = (noise_multiplier, sample_rate)
        before = self.history.pop()[2] if self.history and self.history[-1][:2] == run else 0
        self.history.append((*run, before + 1))

    def guarantee(self, delta: float) -> Guarantee:
        """Return the guarantee of all steps so far, at delta in (0, 1)."""
        history = self.history or [(1.0, 1.0, 0)]
        steps = [(PoissonSubsampled(Gaussian(z), q), count) for z, q, count in history]
        return PLD().epsilon(Composed(steps), delta=delta)

    def get_epsilon(self, delta: float) -> float:  # type: ignore[override]
        """Return the epsilon of `guarantee`; opacus calls this method."""
        return self.guarantee(delta).epsilon

    def __len__(self) -> int:
        return sum(count for _, _, count in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """Return the accountant's name in the registry of opacus."""
        return "dplearn"


register_accountant(CertifiedAccountant.mechanism(), CertifiedAccountant, force=True)
