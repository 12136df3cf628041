"""The verdict on a printed formula: every setting that its letters fit, and a strict headline.

Words around a formula sort the settings and never remove one. The headline is a verdict only if all
settings agree or a word names one of them; else it depends, which is no verdict.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from dplearn.core.display import as_json
from dplearn.teaching.book.kit.domains import by_name
from dplearn.teaching.book.kit.entry import Misprint
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import LISTS, QUANTITIES
from dplearn.teaching.claims.matching import PER_STEP, Match, base, compare, in_units
from dplearn.teaching.claims.reading import (
    Claim,
    Note,
    NotReadError,
    alternatives,
    claims_of,
    conditions_in,
    two_releases,
)
from dplearn.teaching.claims.table import Table, tables

VERDICTS = (
    "refuted", "depends", "open", "conditional", "holds", "safe", "approximation", "not read",
)  # fmt: skip
# Stems of the laws of noise, of any language.
_LAWS = {"laplace": ("lap", "double exp", "拉普拉斯"), "gauss": ("gauss", "normal", "高斯")}
# Words that say that a condition stands elsewhere.
_ELSEWHERE = ("unless", "except", "certain condition", "除非")
# Words beside a scale that is none of a noise on an answer.
_NO_SCALE = ("rate of", "inverse", "smooth", "速率")
# What a formula without a left side may be about, where it equals something.
_ALONE = ("epsilon", "delta", "sigma", "rho", "rdp", "mu", "scale")
# Letters of a left side that print has for another quantity as well.
_ALSO = {"order": "error", "mu": "sigma"}
_SLACK = ("slack", "松弛", "余量 δ'")
# Words of settings that nothing else is said of.
_APART = (
    ("group of", "group privacy", "群"), ("abovethreshold", "sparse vector"),
    ("discrete gauss", "离散高斯"),
)  # fmt: skip
# Words of several releases, with the letter of their number.
_SEVERAL = re.compile(
    r"\b([kt])(?:-fold|\s(?:\w+\s)?(?:releas|answer|quer|steps|rounds|mechanism))|([kt])\s*[次个步轮]"
)
# Words that say that a formula is no more than near.
_ROUGH = ("roughly", "approximately", "约为", "近似为", "大致")
_EACH = (
    "each of", "each round", "each step", "each quer", "per step", "per-step", "per round",
    "per-round", "每步", "每轮",
)  # fmt: skip
_SENSITIVITY = re.compile(r"(?:sensitivit\w*|敏感度)\D{0,12}?(\d+(?:[./]\d+)?|half)")
_ID = re.compile(r"\bG-[A-Z]\d+[a-h]?\b")


@dataclass(frozen=True, kw_only=True)
class Line:
    """The verdict in one setting."""

    verdict: str
    setting: str
    chinese: str
    entry: str
    reference: str
    note: str = ""

    def __str__(self) -> str:
        said = {"holds": "true", "safe": "safe", "refuted": "false"}.get(self.verdict, self.verdict)
        source = f"{self.entry}, {self.reference}"
        return f"{said} for {self.setting} ({source})" + (f": {self.note}" if self.note else "")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The verdict on a formula, the lines of all settings, the one that is meant first."""

    verdict: str
    reason: str = ""
    lines: tuple[Line, ...] = ()
    entry: str = ""  # of the headline
    misprint: str = ""  # the name of the known slip that it is
    slip: str = ""  # why that is wrong, and where it was met

    def to_dict(self) -> dict[str, object]:
        """Return plain lists and words for JSON."""
        return as_json(asdict(self))

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


def proofread(formula: str, *, words: str = "") -> Finding:
    r"""Return the verdict on one printed formula, LaTeX, Unicode or ASCII.

    "holds", "safe" (never below the truth, and not what is proved), "refuted" (below what no
    mechanism beats), "conditional" (true under a condition that is not stated), "open" (between the
    two sides), "depends" (true in one setting, false in another), "approximation" or "not read".
    The `words` around it give its conditions and sort the settings; an id such as G-C8b among them
    says which is meant.

    Examples
    --------
    >>> found = proofread(r"k\rho\text{-zCDP}")
    >>> found.verdict
    'depends'
    >>> proofread(r"k\rho\text{-zCDP}", words="a group of k people").verdict
    'refuted'
    """
    return judged(formula, words=words)[0]


def judged(formula: str, *, words: str = "") -> tuple[Finding, list[Match]]:
    """Return the finding of `proofread`, and how the formula fares in every setting."""
    try:
        claims, beside = claims_of(formula, words[:2000])
    except NotReadError as error:
        return Finding(verdict="not read", reason=error.args[0]), []
    except (RecursionError, IndexError):
        return Finding(verdict="not read", reason="Expected a formula, got something else."), []
    scale = formula if any(claim.about == "scale" for claim in claims) else ""
    context = _Context(f"{words[:2000]} {beside} {scale}".replace("\\{", "{").replace("\\}", "}"))
    found = [_judged(two_releases(claim), context) for claim in claims]
    return min(found, key=lambda pair: VERDICTS.index(pair[0].verdict))


class _Context:
    """The words around a formula: conditions, laws, ids and stems."""

    def __init__(self, words: str) -> None:
        plain = re.sub(r"\\text\s*\{(-[^{}]*)\}", r"\1", words).replace(r"\varepsilon", "ε")
        self.words = f"{plain} {words.replace('_', ' ')}".lower()
        self.ids = {*_ID.findall(words)}
        self.conditions, self.unread = conditions_in(words)

    def hits(self, table: Table, without: str = "") -> float:
        """Return how many words name a setting, and not `without`; a special one's weigh more."""
        stems = {*table.setting.stems}
        count = len([x for x in stems if x in self.words and x not in without])
        return count + 2.5 * (table.setting.rare and count > 0)

    def named(self, match: Match) -> float:
        """Return how many words name the setting; -1 if they speak of another law of noise."""
        table = match.table
        count = self.hits(table) + 100 * (table.entry.id in self.ids)
        if not count:
            text = table.setting.text.lower()
            for law, other in (("laplace", "gauss"), ("gauss", "laplace")):
                if law in text and other not in text and self.speaks_of(_LAWS[other]):
                    return -1
        return count

    def speaks_of(self, stems: Sequence[str]) -> bool:
        """Return whether one of the stems stands among the words."""
        return any(stem in self.words for stem in stems)


def _judged(claim: Claim, context: _Context) -> tuple[Finding, list[Match]]:
    """Return the finding about one claim, in the reading of its quotients that has an equal."""
    each = claim.about in PER_STEP and context.speaks_of(_EACH)
    readings = alternatives(replace(claim, each=each))
    if also := _ALSO.get(claim.about) if claim.left else None:
        readings += [replace(reading, about=also) for reading in readings]
    found = [_decided(reading, context) for reading in readings]
    best = next((pair for pair in found if any(m.exact for m in pair[1])), None)
    best = best or next((p for p in found if p[0].verdict != "not read"), found[0])
    finding, matches = best
    why = _unsaid(claim, finding, matches, context)
    return (replace(finding, verdict="not read", reason=why) if why else finding), matches


def _unsaid(claim: Claim, finding: Finding, matches: list[Match], context: _Context) -> str:
    """Return why the words leave open what the formula says; "" if they do not."""
    unread = bool(matches) and all(m.unread for m in matches)
    doubtful = finding.verdict in ("refuted", "depends", "conditional")
    if doubtful and (unread or context.speaks_of(_ELSEWHERE)):
        return "A condition of its letters is not read."
    true = finding.verdict in ("holds", "safe")
    if context.ids or not (true or finding.verdict == "refuted"):
        return ""
    columns = {*matches[0].table.domains}
    counted = {"steps", "group", "answers", "queries", *LISTS} & columns
    listed = any(step.what == "sum" for step in claim.right.program)
    if true and _SEVERAL.search(context.words) and not counted and not listed:
        return "The words speak of several releases, and the formula has no number of them."
    if "slack" not in columns and context.speaks_of(_SLACK):
        return "The words speak of a slack that the formula does not have."
    sized = _SENSITIVITY.search(context.words)
    bare = not {"Delta", "S", "C", "L"} & {base(name) for name in claim.names}
    about = claim.about in ("sigma", "scale", "rho", "mu", "rdp", "epsilon")
    if about and bare and sized and sized[1] != "1":
        return "The words name a sensitivity that the formula does not have."
    return ""


def _matches(claim: Claim, context: _Context) -> Iterator[Match]:
    """Return how the claim fares in every setting that its letters fit."""
    about = [claim.about] if claim.about else _ALONE
    for quantity in about:
        asked = replace(claim, about=quantity)
        for table in tables(quantity):
            if not claim.about and table.setting.about != quantity:
                continue
            match = compare(asked, in_units(asked, table), context.conditions, context.unread)
            if match is None:
                continue
            match = replace(match, named=context.named(match))
            # On its shape alone nothing is accused that may be about something else.
            shape = match.verdict == "refuted" and (table.sign == 0 or quantity == "p")
            if not (shape and (match.named <= 0 or quantity == "p")):
                yield match


def _merged(matches: Sequence[Match]) -> list[Match]:
    """Return one match for each setting: an equality, else a counterexample, else the best."""
    out: dict[tuple, Match] = {}
    order = ("refuted", "safe", "conditional", "open", "holds")
    for match in matches:
        key = match.table.setting.text, match.step, match.direct or not match.exact
        rank = lambda m: (not m.exact, m.rank if m.exact else order.index(m.verdict), not m.direct)
        if key not in out or rank(match) < rank(out[key]):
            out[key] = match
    return list(out.values())


def _of_no_left_side(matches: list[Match]) -> list[Match]:
    """Return the matches of a right side alone: what it equals, and what words name rather."""
    equal = [m for m in matches if m.exact and not m.table.setting.rare]
    most = max((m.named for m in equal), default=np.inf)
    return equal + [m for m in matches if m not in equal and m.named >= max(most, 0.5)]


def _of_one_reading(claim: Claim, matches: list[Match], context: _Context) -> list[Match]:
    """Return the matches of one reading of the left side: of a total, or of one step."""
    if not (exact := [m for m in matches if m.exact]):
        if len({m.step for m in matches}) == 2:
            matches = [m for m in matches if m.step == claim.per_step]
        return matches
    steps = {m.step for m in exact if not m.table.setting.rare} or {m.step for m in exact}
    matches = [m for m in matches if m.step in steps]
    inverse = [m for m in matches if m.exact and not m.direct and not m.step]
    wrong = ("refuted", "conditional")
    worse = [m for m in matches if m.direct and m.verdict in wrong and not m.table.setting.rare]
    if not inverse or not worse:
        return matches
    note = Note("on this side of the frontier only; {point}", point=worse[0].note)
    matches = [m for m in matches if m not in worse or m.exact]
    return [replace(m, verdict="conditional", note=note) if m in inverse else m for m in matches]


def _decided(claim: Claim, context: _Context) -> tuple[Finding, list[Match]]:
    """Return the finding about a claim by the strict rule, and all matches."""
    matches = [*_matches(claim, context)]
    matches = _merged(matches if claim.about else _of_no_left_side(matches))
    matches = _of_one_reading(claim, matches, context)
    if not matches:
        why = Note("No setting has these letters.")
        if what := QUANTITIES.get(claim.about):
            why = Note("No setting about {x} has these letters.", x=what)
        return Finding(verdict="not read", reason=why), []
    near = [m for m in matches if not m.table.setting.rare or m.named > 0]
    # The words may name a special setting, which has other letters.
    for stems in _APART:
        if context.speaks_of(stems):
            near = [m for m in near if m.table.setting.speaks_of(stems)]
    special = near and _special(claim, near, matches, context)
    if not near or special or (claim.about == "scale" and context.speaks_of(_NO_SCALE)):
        why = "The words do not say in which of the settings it is meant."
        return _finding("not read", matches, why), matches
    matches.sort(key=lambda m: (m not in near, -m.named, not m.exact, m.rank))
    if all(m.named < 0 for m in near):
        return _finding("not read", matches, "The words speak of another law of noise."), matches
    most = max(m.named for m in near)
    pool = _meant(near, most)
    head = min(pool, key=lambda m: (not m.exact, m.rank))
    kinds = {"true" if m.verdict in ("holds", "safe") else m.verdict for m in pool}
    others = {m.verdict for m in matches if m.named >= 0}
    opposed = {"refuted", "conditional"} if head.verdict in ("holds", "safe") else {"holds", "safe"}
    split = len(kinds) > 1 and not kinds <= {"conditional", "refuted"} and kinds != {
        "true", "conditional",
    }  # fmt: skip
    if split or (most <= 0 and others & opposed and head.verdict != "conditional"):
        return _finding("depends", matches), matches
    verdict, why = _hedged(claim, head, context)
    matches.remove(head)
    matches.insert(0, head)
    finding = _finding(verdict, matches, why)
    if verdict in ("refuted", "safe", "conditional"):
        finding = _with_misprint(claim, head, finding)
    return finding, matches


def _meant(near: Sequence[Match], most: float) -> list[Match]:
    """Return the matches that words name most, else all; open ones only where nothing decides."""
    pool = [m for m in near if m.named == most or (m.named >= 0 and most <= 0)]
    decided = [m for m in pool if m.verdict != "open"]
    clear = decided and (most > 0 or any(m.verdict in ("holds", "safe") for m in decided))
    return decided if clear else pool


def _special(claim: Claim, near: Sequence[Match], fits: Sequence[Match], words: _Context) -> bool:
    """Return whether words rather name a setting of the quantity that has other letters."""
    general = [m for m in near if m.exact and m.table.setting.text.startswith("every")]
    if general or max([m.named for m in near]) > 0:
        return False
    fitting = {m.table.entry.id for m in fits}
    texts = " ".join([m.table.setting.text.lower() for m in near])
    abouts = {claim.about or m.table.setting.about for m in near}
    rare = [t for about in abouts for t in tables(about) if t.setting.rare]
    return any([t.entry.id not in fitting and words.hits(t, texts) > 0 for t in rare])


def _hedged(claim: Claim, head: Match, context: _Context) -> tuple[str, str]:
    """Return the verdict of the headline, and why it is none where the relation leaves it open."""
    verdict = head.verdict
    is_bound = claim.about in ("epsilon", "rho", "mu", "rdp", "kl", "adv", "log_moment")
    at_least = claim.relation == ">" and is_bound and head.table.entry.kind != "lower"
    if at_least and (not head.exact or claim.about in ("kl", "adv")):
        return "not read", "It is not clear whether a bound from below is meant."
    if claim.relation == "<" and claim.about in ("sigma", "scale") and head.direct:
        return "not read", "It is not clear whether so much noise is enough, or no more than that."
    if claim.best and claim.about == "rdp":
        return "not read", "Expected a closed form: an optimum over a set is not read."
    rough = verdict == "refuted" and context.speaks_of(_ROUGH)
    near = claim.relation == "~" or rough or head.table.entry.kind == "asymptotic"
    if near and verdict == "refuted":
        return "not read", "No setting has this approximation."
    if near and (head.exact or claim.relation == "~"):
        return "approximation", ""
    return verdict, ""


def _finding(verdict: str, matches: Sequence[Match], why: str = "") -> Finding:
    lines = tuple(
        Line(
            verdict=m.verdict,
            setting=m.table.setting.text,
            chinese=m.table.setting.chinese,
            entry=m.table.entry.id,
            reference=str(m.table.entry.reference),
            note=m.note,
        )
        for m in matches
    )
    true = [line for line in lines if line.verdict in ("holds", "safe", "conditional")]
    false = [line for line in lines if line.verdict == "refuted"]
    if verdict == "depends":
        parts = [str(replace(line, note="")) for line in (true[:1] + false[:1])]
        return Finding(verdict=verdict, reason="; ".join(parts) + ".", lines=lines)
    entry = lines[0].entry if verdict != "not read" else ""
    return Finding(verdict=verdict, reason=why or f"{lines[0]}.", lines=lines, entry=entry)


def _with_misprint(claim: Claim, head: Match, finding: Finding) -> Finding:
    """Return the finding with the book's own misprint that the formula equals, if it is one."""
    for misprint in head.table.entry.misprints if head.direct else ():
        if misprint.claim is not None and _equals(claim, head, misprint):
            slip = misprint.note + (f" Met in {misprint.met}." if misprint.met else "")
            reason = f"{finding.reason} {slip}"
            return replace(finding, misprint=misprint.name, reason=reason, slip=slip)
    return finding


def _equals(claim: Claim, head: Match, misprint: Misprint) -> bool:
    """Return whether the claim has the values of a misprint at ten points of the table."""
    table, wrong = head.table, misprint.claim
    function = by_name(parse(wrong) if isinstance(wrong, str) else wrong)  # type: ignore[arg-type]
    into = table.setting.into or (lambda **point: point)
    points = table.points()[:10]
    try:
        with np.errstate(all="ignore"):
            values = [float(function(dict(into(**point)))) for point in points]
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return False
    if table.setting.value:
        values = [table.setting.value(v, **p) for v, p in zip(values, points, strict=True)]
    claimed = head.trial.claimed / table.scale_of(table.columns)
    return np.allclose(claimed[:10, 0], values, rtol=1e-6, atol=0)
