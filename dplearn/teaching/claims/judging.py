"""What is found about a printed formula, judged by the book's own search for counterexamples."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dplearn.teaching.book import Misprint, Refutation, refute, starting_points
from dplearn.teaching.book.kit.domains import Linear
from dplearn.teaching.book.kit.entry import Kind
from dplearn.teaching.book.kit.expression import GREEK
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import MEANINGS
from dplearn.teaching.claims.places import (
    CONSTANT,
    EQUAL,
    MISPRINT,
    SLIP,
    Candidate,
    as_gaussian_noise,
    candidates,
    formula_of,
    is_at_one,
    is_spoken_of,
    is_strange,
    require_clear_noise,
    wrong_units,
)
from dplearn.teaching.claims.reading import Claim, NotReadError, claims_of, refuse
from dplearn.teaching.claims.vocabulary import INSTEAD, SUMMED

Outcome = Literal["holds", "refuted", "safe", "approximation", "ambiguous", "not read"]
# The one that a line of several claims has, the first of these that one of them has.
_WORST_FIRST = ("refuted", "ambiguous", "not read", "approximation", "safe", "holds")
# Quantities that somebody chooses: of these "=", ">=" and "<=" say alike that so much is enough.
_CHOSEN = ("sigma", "scale", "delta", "epsilon")
_PROMISED = (*_CHOSEN, "rho", "mu", "rdp", "log_moment", "sensitivity", "")
# Words that account for a constant factor.
_FACTOR = r"\bhalf|third|quarter|twice|doubl|\btwo\b|0\.\d|budget|split|sensitivity (?:of )?\S*\d"
_SQUARE = re.compile(r"(?:Delta|Δ)(?:_\{?\w+\}?)?\s*(?:\^\s*[({]?2[)}]?|²)")
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_BELOW = r"must|at least|necessar|impossible|lower bound|cannot|no better"
_LETTER = {
    "epsilon": "ε", "delta": "δ", "sigma": "σ", "rdp": "D_α", "log_moment": "K(λ)", "rho": "ρ",
    "mu": "μ", "steps": "k", "rate": "q", "scale": "b", "variance": "the variance", "p": "p",
    "sensitivity": "the sensitivity", "norm": "the norm", "adv": "the advantage", "order": "α",
    "auc": "the area under the curve", "probability": "the probability",
    "tradeoff": "the trade-off", "kl": "the KL divergence", "": "the value",
}  # fmt: skip
_READ = {
    "upper": "Read as: {} is at most this",
    "lower": "Read as: {} is at least this",
    "identity": "Read as: {} equals this",
    "about": "Read as: {} is about this",
    "enough": "Read as: every {} from this on is enough",
    "may": "Read as: so much may the {} of one step be",
}


@dataclass(frozen=True)
class Reading:
    """One way to read a formula, and what would then be found."""

    reading: str
    verdict: Outcome
    entry: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is found about one formula as printed."""

    verdict: Outcome
    reading: str = ""  # one sentence: as what the formula was read
    entry: str = ""  # id of the entry that it was judged by
    misprint: str = ""  # name of the misprint of that entry that it equals
    reason: str = ""  # the counterexample, the range in which it holds, or why it was not read
    candidates: tuple[Reading, ...] = ()  # the other readings


def proofread(formula: str, *, words: str = "") -> Finding:
    r"""What is found about a formula as printed, in LaTeX, Unicode or ASCII.

    The formula is looked for in the book by its letters and its values, and judged by the oracle
    of the entry that it equals or resembles. Which side is safe follows from that entry and the
    words, not from the sign: ``ε ≥ f`` says, as ``ε = f`` does, that f is enough. What resembles
    no entry is not read, unless no counterexample is found to it as noise of the Gaussian
    mechanism; where readings disagree, the finding is ambiguous.

    Parameters
    ----------
    formula : str
        One formula, at most 2,000 characters; nothing in it is executed.
    words : str
        The sentence in which it stands; conditions such as "for ε < 1" are used.

    Returns
    -------
    Finding
        A refutation is a computed counterexample. That a formula holds is seen at many points of
        the entry's domain; it is not proved here.

    Examples
    --------
    >>> found = proofread(r"\ln(1 + q(e^\epsilon - 1))", words="the sample is amplified to")
    >>> found.verdict, found.entry
    ('holds', 'G-E1')
    >>> proofread("b = epsilon/Delta").reason
    'Twice the sensitivity and twice the noise change the right side by a factor 0.5 instead of 2.'
    """
    try:
        claims = claims_of(formula, words)
    except NotReadError as error:
        return Finding(verdict="not read", reason=str(error))
    found = [_found(c) for c in claims]
    first, *others = sorted(found, key=lambda f: _WORST_FIRST.index(f.verdict))
    if len({(c.quantity, c.left) for c in claims}) == 1 and first.verdict != "refuted":
        # What a chain ends with is its claim; of the others what can be read counts.
        read = [f for f in (first, *others) if f.verdict != "not read"]
        first, *others = read if found[0].verdict != "not read" else [found[0], *read]
    rest = tuple(Reading(f.reading or f.reason, f.verdict, f.entry) for f in others)
    return replace(first, candidates=first.candidates + rest)


def _found(claim: Claim) -> Finding:
    """Return the finding on which all readings of a claim agree, or that they disagree."""
    try:
        require_clear_noise(claim)
        if why := wrong_units(claim):
            right, words = (_SQUARE.sub("Delta", text) for text in (claim.right, claim.words))
            other = replace(claim, right=right, words=words)
            if words != claim.words and (
                right == claim.right or _found(other).verdict != "refuted"
            ):
                refuse("It is not clear whether Δ² is a square or the L2 sensitivity.")
            reading = f"Read as a claim about {_LETTER[claim.quantity]}."
            return Finding(verdict="refuted", reading=reading, reason=why)
        found = candidates(claim)
        if not found and (enough := _enough_noise(claim)):
            return enough
        findings = [_by_entry(claim, rival) for rival in _alike(claim, found)]
    except NotReadError as error:
        return Finding(verdict="not read", reason=str(error))
    first, *others = findings
    rest = tuple(Reading(f.reading, f.verdict, f.entry) for f in others)
    if {f.verdict == "refuted" for f in findings} == {True, False}:
        ids = " and ".join(f"{f.entry}: {f.verdict}" for f in findings)
        return Finding(
            verdict="ambiguous",
            reading=f"Read as a claim about {_LETTER[claim.quantity]}, in more than one way.",
            reason=f"The readings disagree ({ids}); the words around it must say which is meant.",
            candidates=(Reading(first.reading, first.verdict, first.entry), *rest),
        )
    return replace(first, candidates=rest)


def _alike(claim: Claim, found: list[Candidate]) -> list[Candidate]:
    """The candidates of the best rank; a `NotReadError` if the formula resembles none."""
    if not found:
        about = f" about {_LETTER[claim.quantity]}" if claim.quantity else ""
        refuse(f"Nothing in the book{about} resembles it.")
    first = found[0]
    unclear = {"epsilon": MISPRINT, "delta": MISPRINT, "kl": EQUAL}.get(claim.quantity, CONSTANT)
    if first.rank >= unclear and claim.relation == "lower":
        refuse("It is not clear whether so much is enough, or a bound from below is meant.")
    if first.rank == MISPRINT and is_strange(claim, first):
        name = f"{first.entry.title} ({first.entry.id})"
        refuse(f"It equals a misprint of {name}, which the words do not speak of.")
    rivals = [c for c in found if c.order == first.order][:3]
    if first.rank == EQUAL and is_strange(claim, first):
        # Right there, and a known misprint elsewhere: the words must tell.
        return rivals + [c for c in found if c.rank == MISPRINT][:2]
    if first.rank == EQUAL:
        # A misprint of what the words speak of is as likely as what is right elsewhere.
        spoken = [c for c in found if c.rank == MISPRINT and is_spoken_of(claim, c)]
        if spoken and re.search(INSTEAD, claim.words) and not re.search(SUMMED, claim.words):
            return spoken[:2]
        return [c for c in rivals if not is_strange(claim, c)] + spoken[:2]
    if first.rank == CONSTANT:
        return rivals + [c for c in found if c.rank == EQUAL][:2]
    return rivals


def meant(claim: Claim, candidate: Candidate) -> Any:
    """The relation to the truth that is claimed: a guarantee must not promise too much."""
    entry = candidate.entry
    if claim.relation == "about" or entry.kind == "asymptotic":
        return "about"
    about = candidate.place.about
    if claim.relation == "lower" and about not in _CHOSEN:
        return "lower"
    if claim.relation == "lower" and re.search(_BELOW, claim.words, re.IGNORECASE):
        return "lower"
    if entry.kind == "lower" or about not in _PROMISED:
        return entry.kind if claim.relation == "identity" else claim.relation
    return {"smaller": "upper", "larger": "lower"}.get(entry.unsafe or "", "identity")


def _by_entry(claim: Claim, candidate: Candidate) -> Finding:
    entry, kind = candidate.entry, meant(claim, candidate)
    if claim.best and (kind != "upper" or claim.quantity == "rdp"):
        refuse("Expected a closed form: an optimum over a set is not read.")
    # A pair may add up one of its parts alone, where the other is that of one release.
    each = re.search(r"(?:epsilon|eps|ε)(?:_\{?\w\}?)?\s*,[\s\\]*(?:delta|δ)", claim.words)
    sums = ("G-C1", "G-C1b", "G-C2", "G-C2b", "G-C5") if each else ("G-C1", "G-C1b")
    if re.fullmatch(r"[a-z]\w*", claim.other) and entry.id in sums:
        refuse("It is not said what the other part of the pair is of all releases.")
    same = candidate.misprint if candidate.rank == MISPRINT else ""
    finding = Finding(
        verdict="holds", reading=_echo(claim, candidate, kind), entry=entry.id, misprint=same
    )
    if candidate.rank == SLIP and entry.kind == "asymptotic" and claim.relation != "about":
        reason = f"The limit {entry.id} has {candidate.slip}."
        return replace(finding, verdict="refuted", reason=reason)
    if kind != "about":
        return _searched(claim, candidate, kind, finding)
    wrong = same and claim.relation != "about" and entry.misprint(same)
    if wrong and wrong.kind and (outcome := refute(entry, wrong)).status == "refuted":
        return replace(finding, verdict="refuted", reason=_refutation(candidate, outcome))
    reason = f"An approximation; its typical ratio to {entry.id} is {candidate.factor:.4g}."
    if candidate.rank == EQUAL:
        limit = f"This is {entry.id}, which is approached in a limit; it is no bound."
        rest = f"Up to what it leaves out it is {entry.id}."
        reason = limit if entry.kind == "asymptotic" else rest
    return replace(finding, verdict="approximation", reason=reason)


def _searched(claim: Claim, candidate: Candidate, kind: Kind, finding: Finding) -> Finding:
    entry, rank = candidate.entry, candidate.rank
    if rank == MISPRINT and kind == "identity" and (limit := _limit(candidate)):
        return replace(finding, verdict="approximation", misprint="", reason=limit)
    stated, more = _given(claim, candidate)
    if rank == EQUAL and not (stated and _wider(candidate, stated)):
        stated = ()
    if rank == EQUAL and not stated and (kind == entry.kind or entry.kind == "identity"):
        return replace(finding, reason=_where(candidate, kind))  # `verify` has searched already
    outcome = _search(candidate, kind, stated)
    if outcome.status == "refuted" and more:
        refuse("It is stated under a condition that is not read.")
    if outcome.status == "refuted" and rank == CONSTANT:
        if is_at_one(claim):
            refuse("Expected the sensitivity in it: without it a constant factor may be one.")
        if re.search(_FACTOR, claim.words, re.IGNORECASE):
            refuse("The words around it may account for its factor.")
    if outcome.status == "error":
        refuse(f"The search has no answer: {outcome.reason}")
    if outcome.status == "refuted":
        return replace(finding, verdict="refuted", reason=_refutation(candidate, outcome))
    if rank == EQUAL or kind == "identity":
        also = " under the condition stated with it" if stated else ""
        return replace(finding, reason=f"It is {entry.id}{also}: no counterexample was found.")
    hypothesis = _in_letters(candidate, entry.hypothesis)
    where = f", for {hypothesis}" if hypothesis else ""
    if rank == MISPRINT:
        reason = f"Safe, but not exact: {entry.misprint(candidate.misprint).note}"
    elif rank == SLIP:
        reason = f"Safe, but not exact: {entry.id} has {candidate.slip}{where}."
    else:
        times = f"{max(candidate.factor, 1 / candidate.factor):.4g}"
        reason = f"Safe, but not exact: a factor {times} from {entry.id}{where}."
    return replace(finding, verdict="safe", reason=reason)


def _enough_noise(claim: Claim) -> Finding | None:
    """That an unknown formula gives enough Gaussian noise, if no counterexample is found."""
    for candidate in as_gaussian_noise(claim):
        entry = candidate.entry
        trial = Misprint("typed", "", entry.statement, _stated(candidate), kind="upper")
        wide = entry.misprint("any-epsilon")
        beyond, where = refute(entry, replace(trial, given=wide.given, domain=wide.domain)), ""
        if beyond.status == "refuted":
            within, case = _in_letters(candidate, entry.hypothesis), _case(candidate, beyond)
            where = f" for {within}; beyond, it fails: {case}"
        if beyond.status == "stands" or refute(entry, trial).status == "stands":
            size = f"In the median it is {candidate.factor:.3g} times {entry.id}."
            return Finding(
                verdict="safe",
                reading=_echo(claim, candidate, "upper"),
                entry=entry.id,
                reason=f"No counterexample was found{where}. {size}",
            )
    return None


def _refutation(candidate: Candidate, outcome: Refutation) -> str:
    text = f"Counterexample: {_case(candidate, outcome)}."
    if candidate.rank == MISPRINT:
        return f"{text} {candidate.entry.misprint(candidate.misprint).note}"
    if candidate.rank == EQUAL:
        return f"{text} It is {candidate.entry.id}, whose hypothesis is narrower."
    if candidate.rank == CONSTANT:
        return f"{text} It is {candidate.factor:.4g} times {candidate.entry.id}."
    if candidate.rank == SLIP:
        return f"{text} {candidate.entry.id} has {candidate.slip}."
    return text


def _echo(claim: Claim, candidate: Candidate, kind: str) -> str:
    entry = candidate.entry
    about = claim.quantity or candidate.place.about
    said = _READ["enough" if kind == "upper" and about in _CHOSEN else kind]
    if candidate.solved and about == candidate.place.about:
        said = _READ["may"]
    solved = f", solved for {_LETTER[candidate.place.about]}" if candidate.solved else ""
    solved += ", at sensitivity 1" if is_at_one(claim) else ""
    return f"{said.format(_LETTER[about])} ({entry.title}, {entry.id}{solved})."


def _given(claim: Claim, candidate: Candidate) -> tuple[tuple[str, ...], bool]:
    """Conditions that stand beside the formula, in the parameters of the entry, and whether there
    are others of its letters."""
    formula, hedged = formula_of(claim), {*claim.hedged.split()}
    names = {x: p for x, p in candidate.roles.items() if p in candidate.place.own}
    stated, more = [], bool(hedged & {*formula.names, "else"})
    for condition in claim.conditions:
        if claim.left not in formula.names:  # the left side is what the formula says
            condition = re.sub(rf"\b{re.escape(claim.left)}\b", f"({formula.text})", condition)
        letters = parse(condition, formula.names).names
        if letters <= {*names}:
            stated.append(re.sub(_NAME, lambda m: names.get(m[0], m[0]), condition))
        else:
            more = more or bool(letters & {*formula.names, *candidate.roles})
    return tuple(stated), more


def _limit(candidate: Candidate) -> str:
    """Where a formula that leaves a parameter out is exact: at that parameter's least value."""
    for name in candidate.left_out:
        domain = candidate.entry.domain[name]
        if isinstance(domain, Linear):
            least = [{**p, name: domain.low} for p in starting_points(candidate.entry, points=24)]
            values = [(float(candidate.function(**p)), candidate.entry.value(p)) for p in least]
            if all(math.isclose(*pair, rel_tol=1e-6) for pair in values):
                where = f"{_in_letters(candidate, name)} = {domain.low:g}"
                return f"An approximation of {candidate.entry.id}, exact only where {where}."
    return ""


def _wider(candidate: Candidate, stated: Sequence[str] = ()) -> tuple[Misprint, str] | None:
    """The entry's own misprint that drops its hypothesis, or what the conditions speak of."""
    entry = candidate.entry
    for wide in entry.misprints:
        plain = wide.claim is None and wide.oracle is None and wide.kind is None and not wide.along
        if plain and isinstance(wide.given, str) and isinstance(entry.given, str):
            kept = set(re.split(r"\s+and\s+", wide.given))
            dropped = [c for c in re.split(r"\s+and\s+", entry.given) if c not in kept]
            names = {n for c in dropped for n in parse(c).names}
            if not stated or any(parse(c).names & names for c in stated):
                return wide, " and ".join(dropped)
    return None


def _search(candidate: Candidate, kind: Kind, stated: tuple[str, ...]) -> Refutation:
    entry = candidate.entry
    wide, _ = (_wider(candidate, stated) if stated else None) or (None, "")
    known = entry.misprint(candidate.misprint) if candidate.rank == MISPRINT else None
    own = known if known and not known.oracle and not stated else wide
    given: Any = own.given if own and own.given is not None else entry.given
    if stated and not callable(given):
        given = " and ".join(filter(None, (given, *stated)))
    name, domain = candidate.misprint or "typed", own.domain if own else {}
    if known and known.oracle and kind == "upper" and not stated:  # a bound where it is not tight
        return refute(entry, replace(known, kind=kind))
    trial = Misprint(name, "", entry.statement, _stated(candidate), given, domain, kind=kind)
    return refute(entry, trial)


def _stated(candidate: Candidate) -> Callable[..., float]:
    """What is claimed; no loss is below 0, and single points may be left out."""
    function, entry = candidate.function, candidate.entry
    floor = candidate.place.about in ("epsilon", "delta", "rdp", "rho")
    points = starting_points(entry, points=24)
    rare = sum(math.isfinite(float(np.asarray(function(**p)))) for p in points) > len(points) / 2

    def stated(**p: Any) -> float:
        value = float(np.asarray(function(**p)))
        value = entry.value(p) if rare and not math.isfinite(value) else value
        return max(value, 0.0) if floor and not math.isnan(value) else value

    return stated


def _where(candidate: Candidate, kind: Kind) -> str:
    """The range in which an entry's own formula holds, and where it begins to fail."""
    entry = candidate.entry
    if wider := _wider(candidate):
        outcome = refute(entry, replace(wider[0], kind=kind))
        if outcome.status == "refuted":
            failing = _case(candidate, outcome)
            return f"Only if {_in_letters(candidate, wider[1])}; beyond, it fails: {failing}."
    if candidate.turns:
        about = _LETTER[candidate.place.about]
        return f"Only if it falls as {about} grows: there it is {entry.id}."
    where = f", for {_in_letters(candidate, entry.hypothesis)}" if entry.hypothesis else ""
    return f"It is {entry.id}{where}."


def _in_letters(candidate: Candidate, text: str) -> str:
    """A text about the entry's parameters in the letters of the formula, else of the book."""
    letters = {name: MEANINGS[name][0] for name in candidate.entry.parameters if name in MEANINGS}
    letters |= {parameter: letter for letter, parameter in candidate.roles.items()}
    signs = {name: sign for sign, name in reversed(GREEK.items())} | {"Delta": "Δ"}
    marks = {"": "", "prime": "′", "bar": "\u0304", "tilde": "\u0303"}
    symbols = {}
    for name in {*re.findall(_NAME, text)}:
        letter = (letters.get(name) or name).removeprefix("\\").replace("varepsilon", "epsilon")
        first, _, below = letter.partition("_")
        symbols[name] = signs.get(first, first) + marks.get(below, f"_{below}")
    return re.sub(_NAME, lambda m: symbols[m[0]], text)


def _case(candidate: Candidate, outcome: Refutation) -> str:
    case = outcome.counterexample
    return f"{_in_letters(candidate, str(case))} for {_LETTER[candidate.place.about]}"
