"""Other accountants, each used the quick way its interface allows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module, util
from typing import Any

from support.cases import Setting, Single, Target

Curve = Callable[[int], float]


@dataclass(frozen=True)
class Peer:
    """One accountant of another package.

    `curve` does the work that all numbers of steps up to the largest share, and returns a
    function of the number of steps; `calibrate` returns a noise multiplier.
    """

    name: str
    module: str
    curve: Callable[[Setting, int], Curve]
    calibrate: Callable[[Target], float]

    @property
    def installed(self) -> bool:
        return util.find_spec(self.module) is not None

    def warm_up(self) -> None:
        """Import, and one small answer, so that no first call is measured."""
        self.curve(Setting("", 10.0, 0.01, 1e-5), 2)(2)


def _dpa_pld(setting: Setting, largest: int) -> Curve:
    """One distribution, composed by powers for every number of steps."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_gaussian_mechanism(setting.sigma, sampling_prob=setting.q)
    return lambda t: one.self_compose(t).get_epsilon_for_delta(setting.delta)


def _dpa_step(sigma: float, q: float) -> Any:
    import dp_accounting

    return dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma))


def _dpa_rdp(setting: Setting, largest: int) -> Curve:
    from dp_accounting.rdp import RdpAccountant

    event = _dpa_step(setting.sigma, setting.q)
    return lambda t: RdpAccountant().compose(event, t).get_epsilon(setting.delta)


def _dpa_calibrate(accountant: str, target: Target) -> float:
    import dp_accounting

    kind = {
        "pld": lambda: dp_accounting.pld.PLDAccountant(),
        "rdp": lambda: dp_accounting.rdp.RdpAccountant(),
    }[accountant]
    event = lambda noise: dp_accounting.SelfComposedDpEvent(
        _dpa_step(noise, target.q), target.steps
    )
    bracket = dp_accounting.LowerEndpointAndGuess(0.5, 1.0)
    return dp_accounting.calibrate_dp_mechanism(kind, event, target.epsilon, target.delta, bracket)


def _prv(setting: Setting, largest: int) -> Curve:
    """One accountant whose mesh serves the largest number of steps."""
    from prv_accountant.dpsgd import DPSGDAccountant

    accountant = DPSGDAccountant(
        noise_multiplier=setting.sigma,
        sampling_probability=setting.q,
        max_steps=largest,
        eps_error=0.1,
        delta_error=setting.delta / 1000,
    )
    return lambda t: accountant.compute_epsilon(delta=setting.delta, num_steps=t)[2]


def _prv_calibrate(target: Target) -> float:
    from prv_accountant.dpsgd import find_noise_multiplier

    return find_noise_multiplier(target.q, target.steps, target.epsilon, target.delta)


def _opacus(name: str, setting: Setting, largest: int) -> Curve:
    accountant = import_module("opacus.accountants").create_accountant(name)

    def epsilon(t: int) -> float:
        accountant.history = [(setting.sigma, setting.q, t)]
        return accountant.get_epsilon(delta=setting.delta)

    return epsilon


def _opacus_calibrate(name: str, target: Target) -> float:
    return import_module("opacus.accountants.utils").get_noise_multiplier(
        target_epsilon=target.epsilon,
        target_delta=target.delta,
        sample_rate=target.q,
        steps=target.steps,
        accountant=name,
    )


PEERS = (
    Peer("dp-accounting PLD", "dp_accounting", _dpa_pld, partial(_dpa_calibrate, "pld")),
    Peer("dp-accounting RDP", "dp_accounting", _dpa_rdp, partial(_dpa_calibrate, "rdp")),
    Peer("prv, eps_error 0.1", "prv_accountant", _prv, _prv_calibrate),
    Peer("opacus PRV", "opacus", partial(_opacus, "prv"), partial(_opacus_calibrate, "prv")),
    Peer("opacus RDP", "opacus", partial(_opacus, "rdp"), partial(_opacus_calibrate, "rdp")),
)


def dpa_in_delta(setting: Setting, steps: int) -> Callable[[float], float]:
    """dp-accounting's PLD of one run as a function of delta."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_gaussian_mechanism(setting.sigma, sampling_prob=setting.q)
    return one.self_compose(steps).get_epsilon_for_delta


def dpa_parts(case: Single) -> float:
    """Epsilon by dp-accounting's PLDs of all parts together."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    counts = [count * case.steps for _, count in case.mechanism.parts()]
    parts = (getattr(pld, name)(**fields) for name, fields in case.dpa)
    runs = (part.self_compose(count) for part, count in zip(parts, counts, strict=True))
    return reduce(lambda one, other: one.compose(other), runs).get_epsilon_for_delta(case.delta)
