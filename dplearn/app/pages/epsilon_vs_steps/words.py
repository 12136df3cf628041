"""All that the page says about its answers, in words and in a table."""

from collections.abc import Mapping, Sequence

from dplearn.accountants import accountants
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.run_fields import ADJACENCY, DELTA
from dplearn.app.pages.epsilon_vs_steps.answers import Answers
from dplearn.app.pages.epsilon_vs_steps.run import Scenario
from dplearn.figures import Published, certificate, excess, style_of, text
from dplearn.ground.guarantee import Guarantee, round_down
from dplearn.statement import KINDS, SAMPLED

# What ε is.
FIRST = (
    "**ε** bounds what one person's record can change: any probability, by at most the factor "
    "$e^ε$, up to δ."
)
ATTACK = (
    "An attacker with 1 % false alarms finds **{share} %** of the members: "
    "odds of **{odds}\u00a0to\u00a01**; a guess has 1\u00a0to\u00a01."
)
_LOOSE_DELTA = (
    "**δ = {delta} is no less than 1/N = {share}:** who publishes a whole record now and then "
    "keeps this promise too."
)
# Odds of one to 500 million may become even.
_LOOSE = 20
_LOOSE_EPSILON = "**ε above {most}** rules next to nothing out."
Readings = Mapping[str, Guarantee]
_LOADERS = {"shuffled": "shuffling", "random_allocation": "random allocation"}
_ADJACENT = {
    "add_remove": "neighbours differ by one record added or removed",
    "replace_one": "neighbours differ by one record replaced",
    "zero_out": "neighbours differ by one record zeroed out",
}


def subtitle(scenario: Scenario) -> str:
    """The run in one line."""
    symbol = "b" if scenario.mechanism == "laplace" else "σ"
    parts = [
        f"{scenario.mechanism.capitalize()} noise, {symbol} = {scenario.noise_multiplier:.4g}",
        f"q = {scenario.sample_rate:.4g}",
        f"δ = {DELTA.show(scenario.delta)}",
        SAMPLED.get(scenario.sampling, scenario.sampling),
        ADJACENCY.options[scenario.adjacency].lower(),
        *(f"then {entry.strip()}" for entry in scenario.then.split(";") if entry.strip()),
    ]
    return retold(", ".join(parts))


def ranked(readings: Readings) -> list[tuple[str, Guarantee]]:
    """The tightest bound first; approximations do not compete and come last."""
    return sorted(readings.items(), key=lambda item: (not item[1].is_bound, item[1].epsilon))


def sentence(answers: Answers) -> str:
    """What the vertical line says."""
    here = answers.here
    steps = f"**{text.whole(here)} step{'' if here == 1 else 's'}**"
    bounds = [(name, g) for name, g in ranked(answers.readings) if g.is_bound]
    if not bounds:
        return retold(f"After {steps} there is no bound to report, only an approximation.")
    name, best = bounds[0]
    rate = answers.scenario.sample_rate
    epochs = f"{here * rate:.3g}"
    spent = (
        ""
        if rate == 1 or answers.scenario.then
        else f" ({epochs} epoch{'' if epochs == '1' else 's'})"
    )
    value = f"**ε\u00a0{text.relation(best)}\u00a0{text.bound(best.epsilon, 4)}**"
    return retold(f"After {steps}{spent}: {value} ({style_of(name).label}).")


def caution(answers: Answers, size: float) -> str:
    """Why the promise is worth little, where it is; `size` is that of the dataset, or 0."""
    delta, told = answers.scenario.delta, []
    if delta * size >= 1:
        told.append(translated(_LOOSE_DELTA, delta=DELTA.show(delta), share=f"{1 / size:.3g}"))
    if all(g.epsilon > _LOOSE for g in answers.readings.values() if g.is_bound):
        told.append(translated(_LOOSE_EPSILON, most=_LOOSE))
    return " ".join(told)


def gap(answers: Answers) -> str:
    """What a Poisson accountant would claim, and what is proved of the loader in use."""
    if not answers.claims:
        return ""
    (claim,), proved = answers.claims_here.values(), answers.reference_here
    quoted = f"A Poisson accountant would claim {text.bare(claim)}"
    floor = round_down(certificate.floor(proved), 4)
    if certificate.floor(proved) > claim.epsilon:
        return f"{quoted}; {_LOADERS[answers.scenario.sampling]} leaks at least {floor}"
    least = f"{floor} ≤ " if certificate.is_certified(proved) else ""
    return f"{quoted}; proved here: {least}ε ≤ {text.bound(proved.epsilon, 4)}"


def claimed(answers: Answers) -> dict[str, str]:
    """What is proved at the chosen number of steps about each claim of another run."""
    proved = answers.reference_here
    return {
        name: "does not hold here"
        if certificate.floor(proved) > claim.epsilon
        else "holds here"
        if proved.is_bound and proved.epsilon <= claim.epsilon
        else "not decided here"
        for name, claim in answers.claims_here.items()
    }


def alt(answers: Answers) -> str:
    """The first picture for those who do not see it."""
    shown = {**answers.readings, **answers.claims_here}.items()
    values = ", ".join(f"{style_of(n).label} {text.epsilon(g)}" for n, g in shown)
    quoted = gap(answers)
    told = sentence(answers).replace("*", "") + (f" {quoted}." if quoted else "")
    return retold(f"Curves of epsilon over the number of steps. {told} Values: {values}.")


def alt_of_looseness(answers: Answers) -> str:
    """The second one."""
    measure, shown = answers.reference_here, {**answers.readings, **answers.claims_here}
    ratios = {n: times(g, measure) for n, g in shown.items()}
    values = ", ".join(f"{style_of(n).label} {ratio}" for n, ratio in ratios.items())
    return retold(
        "Curves of each accountant's epsilon divided by the certified epsilon, over the number "
        f"of steps. {excess.comparison(answers.readings, measure, answers.here)}. Ratios: {values}."
    )


def assumptions(answers: Answers) -> str:
    """What the curves assume."""
    conditions = dict.fromkeys(a for g in answers.readings.values() for a in g.assumptions)
    told = "; ".join([*conditions, _ADJACENT[answers.scenario.adjacency]])
    return retold(f"True if: {told}.")


def assumed(readings: Readings) -> str:
    """What the rows of the table assume; one line each where they differ."""
    lines = {name: "; ".join(g.assumptions) for name, g in readings.items()}
    if len(set(lines.values())) == 1:
        return retold(f"Every row assumes: {next(iter(lines.values()))}.")
    return "  \n".join(
        retold(f"{accountants[name].title} assumes: {line}.") for name, line in lines.items()
    )


def table(answers: Answers) -> list[dict[str, str]]:
    """A row for each accountant."""
    most = translated("Largest T with ε ≤ {budget:g}", budget=answers.budget)
    return [
        _named(name)
        | {
            "ε": text.epsilon(guarantee, 4),
            translated("Kind"): _kind(guarantee),
            translated("Times the certified ε"): times(guarantee, answers.reference_here),
            most: _certified(answers, name, guarantee),
        }
        for name, guarantee in ranked(answers.readings)
    ]


def _named(name: str) -> dict[str, str]:
    """The first cell of an accountant's row."""
    return {translated("Accountant"): f"{style_of(name).glyph} {accountants[name].title}"}


def compared(answers: Answers, kept: Answers) -> list[dict[str, str]]:
    """A row for each accountant that covers both runs."""
    then = translated("ε pinned, at T = {steps}", steps=text.whole(kept.here))
    now = translated("ε in view, at T = {steps}", steps=text.whole(answers.here))
    rows = []
    for name, guarantee in ranked(answers.readings):
        if other := kept.readings.get(name):
            both = {then: text.epsilon(other, 4), now: text.epsilon(guarantee, 4)}
            share = {translated("in view ÷ pinned"): excess.times(excess.ratio(guarantee, other))}
            rows.append(_named(name) | both | share)
    return rows


def times(guarantee: Guarantee, measure: Guarantee) -> str:
    """An accountant's epsilon over the measure's."""
    return excess.times(excess.ratio(guarantee, measure), excess.sign(measure))


def _kind(guarantee: Guarantee) -> str:
    if guarantee.kind == "bracket":
        precision = certificate.precision(certificate.width(guarantee))
        return f"{retold(precision)}: {certificate.both_ends(guarantee)}"
    return translated(KINDS[guarantee.kind])


def _certified(answers: Answers, name: str, guarantee: Guarantee) -> str:
    if not guarantee.is_bound:
        return translated("certifies none")
    steps = answers.certified[name]
    more = translated(" or more")
    return f"{text.whole(steps)}{more if steps == answers.scenario.largest else ''}"


def points(answers: Answers, rows: Sequence[Mapping[str, str]]) -> list[Published]:
    """Published figures that hold up, where their accountant is drawn; the table has the others."""
    return [
        Published(
            steps=int(row["steps"]),
            epsilon=float(row["published"]),
            label=f"{float(row['published']):.4g} published",
            note=f"{row['source']}<br>{row['why']}",
        )
        for row in rows
        if row["verdict"] in ("reproduces", "within_one_percent")
        and row["relation"] == "="
        and _is_drawn(row["method"], answers)
    ]


def _is_drawn(method: str, answers: Answers) -> bool:
    """Whether the accountant behind a printed figure is in view, or is none of ours."""
    name = method.partition("_")[0]
    return name in answers.curves or name not in accountants
