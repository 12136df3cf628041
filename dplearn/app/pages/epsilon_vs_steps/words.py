"""The picture in words and in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dplearn.accountants import accountants
from dplearn.app.pages.epsilon_vs_steps.answers import Setting
from dplearn.app.pages.epsilon_vs_steps.fields import ADJACENCY, DELTA
from dplearn.app.pages.epsilon_vs_steps.view import View
from dplearn.figures import Published, certificate, excess, style_of, text
from dplearn.ground.guarantee import Guarantee, round_down

Readings = Mapping[str, Guarantee]

_KINDS = {
    "exact": "exact",
    "upper": "upper bound",
    "lower": "lower bound",
    "approximate": "approximation, not a bound",
}
_SAMPLED = {
    "poisson": "Poisson sampling",
    "without_replacement": "sampling without replacement",
    "none": "all records in every step",
    "shuffled": "shuffled epochs",
    "random_allocation": "random allocation to batches",
}
_LOADERS = {"shuffled": "shuffling", "random_allocation": "random allocation"}
_ADJACENT = {
    "add_remove": "neighbours differ by one record added or removed",
    "replace_one": "neighbours differ by one record replaced",
    "zero_out": "neighbours differ by one record zeroed out",
}


def run_in_a_line(setting: Setting) -> str:
    """The run, short enough for a subtitle."""
    symbol = "b" if setting.mechanism == "laplace" else "σ"
    parts = [
        f"{setting.mechanism.capitalize()} noise, {symbol} = {setting.noise_multiplier:.4g}",
        f"q = {setting.sample_rate:.4g}",
        f"δ = {DELTA.show(setting.delta)}",
        _SAMPLED.get(setting.sampling, setting.sampling),
        ADJACENCY.options[setting.adjacency].lower(),
    ]
    return ", ".join(parts)


def tightest(readings: Readings) -> str | None:
    """Name of the smallest bound; approximations do not compete."""
    bounds = {n: g for n, g in readings.items() if g.is_bound}
    return min(bounds, key=lambda n: bounds[n].epsilon, default=None)


def in_words(readings: Readings, setting: Setting, here: int) -> str:
    """What the vertical line says."""
    steps = f"**{text.whole(here)} step{'' if here == 1 else 's'}**"
    if (best := tightest(readings)) is None:
        return f"After {steps} there is no bound to report, only an approximation."
    bounds = {n: g for n, g in readings.items() if g.is_bound}
    worst = max(bounds, key=lambda n: bounds[n].epsilon)
    low, high = bounds[best], bounds[worst]
    said = (
        f"After {steps}{_epochs(setting, here)} the tightest bound here is "
        f"**ε\u00a0{text.relation(low)}\u00a0{text.bound(low.epsilon)}** "
        f"({accountants[best].title}{_sharp(low)})"
    )
    if worst == best or high.epsilon <= 1.01 * low.epsilon:
        return said + "."
    return (
        f"{said}. {accountants[worst].title} proves only ε\u00a0≤\u00a0{text.bound(high.epsilon)} "
        "for the same run."
    )


def _sharp(found: Guarantee) -> str:
    """Both ends, where the value is proved from below too."""
    if found.kind != "bracket":
        return ""
    return f": {certificate.both_ends(found)}".replace(" ≤ ", "\u00a0≤\u00a0")


def _epochs(setting: Setting, here: int) -> str:
    if setting.sample_rate == 1:
        return ""
    epochs = f"{here * setting.sample_rate:.3g}"
    return f" ({epochs} epoch{'' if epochs == '1' else 's'})"


def gap(view: View) -> str:
    """What a Poisson accountant would claim, and what is proved of the loader in use."""
    if not (claims := view.claims_here):
        return ""
    (claim,), proved = claims.values(), view.reference_here
    said = f"A Poisson accountant would claim {text.bare(claim)}"
    if certificate.floor(proved) > claim.epsilon:
        return f"{said}; {_LOADERS[view.setting.sampling]} leaks at least {_down(proved)}"
    least = f"{_down(proved)} ≤ " if certificate.is_certified(proved) else ""
    return f"{said}; proved here: {least}ε ≤ {text.bound(proved.epsilon, 4)}"


def _down(found: Guarantee) -> str:
    return round_down(certificate.floor(found), 4)


def assumptions(readings: Readings, setting: Setting) -> str:
    """Under which conditions the curves are true."""
    found = dict.fromkeys(a for g in readings.values() for a in g.assumptions)
    return "True if: " + "; ".join([*found, _ADJACENT[setting.adjacency]]) + "."


def assumed(readings: Readings) -> str:
    """What the rows of the table assume; one line each where they differ."""
    said = {name: "; ".join(found.assumptions) for name, found in readings.items()}
    if len(set(said.values())) == 1:
        return f"Every row assumes: {next(iter(said.values()))}."
    return "  \n".join(f"{accountants[name].title} assumes: {line}." for name, line in said.items())


def points(rows: Sequence[Mapping[str, str]]) -> list[Published]:
    """Published figures that hold up, as points of the picture; the others stay in the table."""
    return [
        Published(
            steps=int(row["steps"]),
            epsilon=float(row["published"]),
            label=f"{float(row['published']):.4g} published",
            note=f"{row['source']}<br>{row['why']}",
        )
        for row in rows
        if row["verdict"] in ("reproduces", "within_rounding") and row["relation"] == "="
    ]


def crossings(readings: Readings, certified: Mapping[str, int], setting: Setting) -> dict[str, int]:
    """Where bounds meet the budget inside the picture."""
    return {
        name: steps
        for name, steps in certified.items()
        if readings[name].is_bound and steps < setting.largest
    }


def table(
    readings: Readings,
    reference: Guarantee,
    certified: Mapping[str, int],
    setting: Setting,
    budget: float,
) -> list[dict[str, str]]:
    """One row per accountant, tightest bound first, approximations last."""
    sure = certificate.is_certified(reference)
    ordered = sorted(readings.items(), key=lambda item: (not item[1].is_bound, item[1].epsilon))
    return [
        {
            "Accountant": f"{style_of(name).glyph} {accountants[name].title}",
            "ε": text.epsilon(found, 4),
            "Kind": _kind(found),
            "Times the certified ε": excess.times(excess.ratio(found, reference), sure),
            f"Largest T with ε ≤ {budget:g}": _certified(found, certified[name], setting),
        }
        for name, found in ordered
    ]


def _kind(found: Guarantee) -> str:
    if found.kind == "bracket":
        words = certificate.precision(certificate.width(found))
        return f"{words}: {certificate.both_ends(found)}"
    return _KINDS[found.kind]


def _certified(found: Guarantee, steps: int, setting: Setting) -> str:
    if not found.is_bound:
        return "certifies none"
    return f"{text.whole(steps)}{' or more' if steps == setting.largest else ''}"
