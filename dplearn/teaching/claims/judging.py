"""Verdicts on a printed formula: one for each situation that fits its letters, and one overall.

Words around a formula sort the situations and never remove one. The overall verdict is "depends"
unless all situations agree or a word names one of them.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from dplearn.core.display import as_json
from dplearn.teaching.book.kit.entry import Misprint
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import LISTS, QUANTITIES
from dplearn.teaching.claims.matching import Match, compare, in_units
from dplearn.teaching.claims.reading import Claim, Note, claims_of, conditions_in
from dplearn.teaching.claims.table import base, tables

VERDICTS = (
    "refuted", "depends", "open", "conditional", "holds", "safe", "approximation", "not read",
)  # fmt: skip
_TRUE = ("holds", "safe")
# Quantities for which a claim is an upper bound.
_BOUNDED = ("epsilon", "rho", "mu", "rdp", "kl", "adv", "log_moment")
# Stems of the names of noise distributions in English and Chinese.
_LAWS = {"laplace": ("lap", "double exp", "拉普拉斯"), "gauss": ("gauss", "normal", "高斯")}
# Words that show that a scale is not that of noise on an answer.
_NO_SCALE = ("rate of", "inverse", "smooth", "速率")
# If the text around a claim has such words, only situations described with them remain.
_APART = (
    ("group of", "group privacy", "群"), ("abovethreshold", "sparse vector"),
    ("discrete gauss", "离散高斯"),
)  # fmt: skip
_SEVERAL = re.compile(r"\b[kt](?:[\s-]+[^\W\d_]{3,}|\s*[次个步轮])")  # such as "k queries"
# Words that mark a formula as approximate.
_ROUGH = ("roughly", "approximately", "约为", "近似为", "大致")
_SENSITIVITY = re.compile(r"(?:sensi[bt]\w*|[敏灵][感敏]度)\D{0,12}?(\d+(?:[./]\d+)?|half)")
_ID = re.compile(r"\bG-[A-Z]\d+[a-h]?\b")


@dataclass(frozen=True)
class Line:
    """Verdict on a formula in one situation, with the entry of the book that decides it.

    Parameters
    ----------
    verdict, entry, reference : str
        One of `VERDICTS`, and the id and source of the entry.
    setting, chinese : str
        Description of the situation in English and in Chinese.
    note : str
        Counterexample, condition or ratio, or "".
    """

    verdict: str
    setting: str
    chinese: str
    entry: str
    reference: str
    note: str = ""

    def __str__(self) -> str:
        word = {"holds": "true", "safe": "safe", "refuted": "false"}.get(self.verdict, self.verdict)
        source = f"{self.entry}, {self.reference}"
        return f"{word} for {self.setting} ({source})" + (f": {self.note}" if self.note else "")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Verdict on a formula, and the verdicts in all situations, the intended situation first.

    Parameters
    ----------
    verdict, reason : str
        One of `VERDICTS`, and why.
    lines : tuple of Line
        Verdict in each situation.
    entry, misprint, slip : str
        Id of the deciding entry, the misprint that the formula equals, and why that is wrong.
    """

    verdict: str
    reason: str = ""
    lines: tuple[Line, ...] = ()
    entry: str = ""
    misprint: str = ""
    slip: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the finding as plain lists and strings for JSON."""
        return as_json(asdict(self))


def proofread(formula: str, *, words: str = "") -> Finding:
    r"""Judge one printed formula by every entry of the book that has its variables.

    Parameters
    ----------
    formula : str
        Claim in LaTeX, Unicode or ASCII, of at most 2,000 characters; it is never executed.
    words : str, optional
        Sentence around the formula, which states conditions or names the situation; the id of an
        entry in it, such as G-C8b, selects that entry's situations.

    Returns
    -------
    Finding
        Its verdict is "holds", "safe" (true but loose), "refuted" (below the lower bound of valid
        claims), "conditional" (true under a condition that is not stated), "open" (between the
        lower bound and the proved value), "depends" (true in one situation, false in another),
        "approximation" or "not read", which has a reason.

    Examples
    --------
    >>> finding = proofread(r"k\rho\text{-zCDP}")
    >>> finding.verdict
    'depends'
    >>> proofread(r"k\rho\text{-zCDP}", words="a group of k people").verdict
    'refuted'
    """
    return judged(formula, words=words)[0]


def judged(formula: str, *, words: str = "") -> tuple[Finding, list[Match]]:
    """Return the finding of `proofread`, and the formula's matches in all situations."""
    try:
        claims, beside = claims_of(formula)
    except (ValueError, RecursionError, IndexError) as error:
        unread = "Expected a formula, got something else."
        why = error.args[0] if isinstance(error, ValueError) else unread
        return Finding(verdict="not read", reason=why), []
    scale = formula if any(claim.about == "scale" for claim in claims) else ""
    context = _Context(f"{words[:2000]} {beside} {scale}".replace("\\{", "{").replace("\\}", "}"))
    findings = [_judged(claim, context) for claim in claims]
    return min(findings, key=lambda pair: VERDICTS.index(pair[0].verdict))


class _Context:
    """Text around a formula, with the conditions and the ids of entries found in it."""

    def __init__(self, words: str) -> None:
        plain = re.sub(r"\\text\s*\{(-[^{}]*)\}", r"\1", words).replace(r"\varepsilon", "ε")
        self.words = f"{plain} {words.replace('_', ' ')}".lower()
        self.ids = {*_ID.findall(words)}
        self.conditions, self.unread = conditions_in(words)

    def named(self, match: Match) -> float:
        """Return how strongly the words name a match's situation; -1 if they name other noise."""
        table = match.table
        count = sum(stem in self.words for stem in table.setting.names)
        # An entry's id outweighs all words, and words that name a rare situation count more.
        count += 2.5 * (table.setting.rare and count > 0) + 100 * (table.entry.id in self.ids)
        if not count:
            text = table.setting.text.lower()
            for law, other in (("laplace", "gauss"), ("gauss", "laplace")):
                if law in text and other not in text and self.mentions(_LAWS[other]):
                    return -1
        return count

    def mentions(self, stems: Sequence[str]) -> bool:
        """Return whether the words around the formula contain one of the stems."""
        return any(stem in self.words for stem in stems)


def _judged(claim: Claim, context: _Context) -> tuple[Finding, list[Match]]:
    """Judge one claim; if its left letter is ambiguous, prefer the quantity with an exact match."""
    # The letter on the left side may mean another quantity.
    also = claim.left and {"order": "error", "mu": "sigma"}.get(claim.about)
    findings = [_decided(replace(claim, about=x), context) for x in (claim.about, also) if x]
    best = next((pair for pair in findings if any(m.exact for m in pair[1])), None)
    return best or next((p for p in findings if p[0].verdict != "not read"), findings[0])


def _matches(claim: Claim, context: _Context) -> list[Match]:
    """Return one match for each situation that fits: preferably an exact one, then a refuted one.

    For identities and probabilities, only exact matches and named situations count.
    """
    out: dict[tuple, Match] = {}
    order = ("refuted", "safe", "conditional", "open", "holds")
    rank = lambda m: (not m.exact, m.rank if m.exact else order.index(m.verdict), not m.direct)
    for table in tables(claim.about):
        if match := compare(claim, in_units(claim, table), context.conditions, context.unread):
            match = replace(match, named=context.named(match))
            key = match.table.setting.text, match.step, match.direct or not match.exact
            if match.exact or match.named > 0 or (table.sign != 0 and claim.about != "p"):
                out[key] = min(out.get(key, match), match, key=rank)
    return list(out.values())


def _decided(claim: Claim, context: _Context) -> tuple[Finding, list[Match]]:
    """Return the overall verdict on a claim, and its match in each situation."""
    matches = _matches(claim, context)
    if not matches:
        why = Note("No setting about {x} has these letters.", x=QUANTITIES[claim.about])
        return Finding(verdict="not read", reason=why), []
    near = [m for m in matches if not m.table.setting.rare or m.named > 0]
    # If the words name group privacy, AboveThreshold or discrete noise, keep only such settings.
    text_of = lambda m: f"{m.table.setting.text} {m.table.setting.chinese}".lower()
    for stems in _APART:
        if context.mentions(stems):
            near = [m for m in near if any(stem in text_of(m) for stem in stems)]
    matches.sort(key=lambda m: (m not in near, -m.named, not m.exact, m.rank))
    if not near or (claim.about == "scale" and context.mentions(_NO_SCALE)):
        why = "The words do not say in which of the settings it is meant."
        return _finding("not read", matches, why), matches
    if all(m.named < 0 for m in near):
        return _finding("not read", matches, "The words speak of another law of noise."), matches
    head, verdict = _headline(matches, near)
    if verdict != "depends":
        matches.remove(head)
        matches.insert(0, head)
    rough = context.mentions(_ROUGH) and verdict == "refuted"
    rough |= claim.relation == "~" or head.table.entry.kind == "asymptotic"
    sure = head.exact or claim.relation == "~" or verdict == "refuted"
    verdict = "approximation" if rough and sure and verdict != "depends" else verdict
    if why := _doubt(claim, verdict, matches, context):
        return _finding("not read", matches, why), matches
    finding = _finding(verdict, matches)
    misprint = _misprint(head) if verdict in ("refuted", "safe", "conditional") else None
    if misprint:
        slip = misprint.note + (f" Met in {misprint.met}." if misprint.met else "")
        reason = f"{finding.reason} {slip}"
        finding = replace(finding, misprint=misprint.name, reason=reason, slip=slip)
    return finding, matches


def _headline(matches: list[Match], near: list[Match]) -> tuple[Match, str]:
    """Return the match most likely meant, and its verdict, or "depends" if the verdicts differ."""
    most = max(m.named for m in near)
    pool = [m for m in near if m.named == most or (m.named >= 0 and most <= 0)]
    decided = [m for m in pool if m.verdict != "open"]
    if most > 0 or any(m.verdict in _TRUE for m in decided):
        pool = decided or pool  # ignore matches that are neither proved nor refuted
    head = min(pool, key=lambda m: (not m.exact, not m.direct, m.rank))
    kinds = {"true" if m.verdict in _TRUE else m.verdict for m in pool}
    others = {m.verdict for m in matches if m.named >= 0}
    opposed = {"refuted", "conditional"} if head.verdict in _TRUE else {*_TRUE}
    alike = len(kinds) == 1 or kinds in ({"conditional", "refuted"}, {"true", "conditional"})
    split = most <= 0 and others & opposed and head.verdict != "conditional"
    return head, "depends" if split or not alike else head.verdict


def _doubt(claim: Claim, verdict: str, matches: list[Match], context: _Context) -> str:
    """Return why the words or the relation leave the verdict open, or ""."""
    head = matches[0]
    elsewhere = context.mentions(("unless", "except", "certain condition", "除非"))
    unread = all(m.unread for m in matches) or elsewhere
    if unread and verdict in ("refuted", "depends", "conditional"):
        return "A condition of its letters is not read."
    if verdict == "depends":
        return ""
    upper = claim.about in _BOUNDED and head.table.entry.kind != "lower"
    if claim.relation == ">" and upper and not head.exact:
        return "It is not clear whether a bound from below is meant."
    if claim.relation == "<" and claim.about in ("sigma", "scale") and head.direct:
        return "It is not clear whether so much noise is enough, or no more than that."
    if verdict == "approximation" and head.verdict == "refuted":
        return "No setting has this approximation."
    if context.ids or verdict not in (*_TRUE, "refuted"):
        return ""
    pure = claim.second is not None and not claim.second.names
    if verdict in _TRUE and pure and re.search("δ|delta", context.words):
        return "The words speak of a δ that the pair does not have."
    columns = {*head.table.domains}
    counted = {"steps", "group", "answers", "queries", *LISTS} & columns
    listed = any(step.what == "sum" for step in claim.right.program)
    if verdict in _TRUE and _SEVERAL.search(context.words) and not counted and not listed:
        return "The words speak of several releases, and the formula has no number of them."
    if "slack" not in columns and context.mentions(("slack", "松弛", "余量 δ'")):
        return "The words speak of a slack that the formula does not have."
    sized = _SENSITIVITY.search(context.words)
    bare = not {"Delta", "S", "C", "L"} & {base(name) for name in claim.names}
    about = claim.about in ("sigma", "scale", "rho", "mu", "rdp", "epsilon")
    if about and bare and sized and sized[1] != "1":
        return "The words name a sensitivity that the formula does not have."
    return ""


def _finding(verdict: str, matches: Sequence[Match], why: str = "") -> Finding:
    about = [(m, m.table.setting, m.table.entry) for m in matches]
    rows = [(m.verdict, s.text, s.chinese, e.id, str(e.reference), m.note) for m, s, e in about]
    lines = tuple(Line(*row) for row in rows)
    entry = lines[0].entry if verdict not in ("not read", "depends") else ""
    if verdict == "depends":
        true = [line for line in lines if line.verdict in (*_TRUE, "conditional")]
        false = [line for line in lines if line.verdict == "refuted"]
        why = "; ".join(str(replace(line, note="")) for line in true[:1] + false[:1]) + "."
    return Finding(verdict=verdict, reason=why or f"{lines[0]}.", lines=lines, entry=entry)


def _misprint(head: Match) -> Misprint | None:
    """Return the misprint whose values equal those of the claim at ten points, or None."""
    columns = {name: x[:10] for name, x in head.table.columns.items()}
    for misprint in head.table.entry.misprints if head.direct else ():
        if (wrong := misprint.claim) is not None:
            function = parse(wrong) if isinstance(wrong, str) else wrong
            values = head.table.value_at(columns, function)
            if np.allclose(head.claimed[:10], values, rtol=1e-6, atol=0):
                return misprint
    return None
