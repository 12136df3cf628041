"""One run, nine honest numbers: what epsilon is under each thing that a report may leave out."""

from dataclasses import replace

from dplearn.federated import user_level
from dplearn.ground import validate
from dplearn.ground.guarantee import Guarantee
from dplearn.run import DPSGD
from dplearn.tuning import Tuned


def readings(plan: DPSGD, *, delta: float, records: int, of_one: int) -> dict[str, Guarantee]:
    """What one run costs under nine readings, each named by what it assumes.

    Parameters
    ----------
    plan : DPSGD
        With Poisson sampling.
    delta : float
        Of all readings but two, in (0, 1).
    records : int
        How many are trained on, a public number, >= 2.
    of_one : int
        How many of them the last reading gives to one person, >= 1.

    Returns
    -------
    dict of str to Guarantee
        Brackets or upper bounds, each with its own delta and adjacency.

    Examples
    --------
    >>> plan = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=80)
    >>> told = readings(plan, delta=1e-4, records=1438, of_one=110)
    >>> [float(f"{stated.epsilon:.3g}") for stated in told.values()]
    [2.56, 3.03, 3.97, 3.36, 5.7, 6.62, 7.91, 10.2, 4390.0]
    """
    validate.instance(DPSGD, plan=plan)
    if plan.sampling != "poisson":
        raise ValueError(f"Expected sampling='poisson' in the plan, got {plan.sampling!r}.")
    validate.integer(minimum=2, records=records)
    fixed = replace(plan, sampling="without_replacement")
    everybody = replace(plan, sampling="none", sample_rate=1.0)
    return {
        f"one victim expected: δ = 1/{records}": plan.guarantee(delta=1 / records),
        f"as planned: δ = {delta:g}": plan.guarantee(delta=delta),
        "cautious: δ = 1e-06": plan.guarantee(delta=1e-6),
        "by Rényi DP, as most tools print it": plan.guarantee("rdp", delta=delta),
        "best of about 10 settings": Tuned(plan, tries=10).guarantee(delta=delta),
        "batches were only shuffled": replace(plan, sampling="shuffled").guarantee(delta=delta),
        "batches of fixed size, a record replaced": fixed.guarantee(delta=delta),
        "the attacker knows who was in which batch": everybody.guarantee(delta=delta),
        f"a person with {of_one} records": user_level(plan, records=of_one, delta=delta),
    }
