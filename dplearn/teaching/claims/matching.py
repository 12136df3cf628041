"""Comparison of a claim with a table of test points, whose columns stand for its letters.

A claim above the proved value is safe, one below the lower bound of valid claims is refuted, and
one between the two is open.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from dplearn.teaching.book.kit.domains import Whole
from dplearn.teaching.book.kit.expression import Expression
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import KIND_OF
from dplearn.teaching.claims.reading import Claim, Note
from dplearn.teaching.claims.table import VALUE, Points, Table, base, below, fits, sign_of

ORDER = ("holds", "safe", "conditional", "open", "refuted")
# Quantities whose letter may mean a budget per step or the total of all steps.
PER_STEP = ("epsilon", "delta", "rho", "mu", "rdp", "log_moment")
_NUMBER = re.compile(r"_([1-9])(?=_|$)")


def in_units(claim: Claim, table: Table) -> Table:
    """Return the table, in which sensitivity varies if the claim has a letter for sensitivity."""
    taken = {"max_grad_norm", "max_norm"} & {*table.domains}
    # In rare situations with noise_std, such as noise on votes, the sensitivity stays 1.
    no_other = table.setting.rare and "noise_std" in table.domains
    letters = {base(name) for name in claim.names} | claim.names
    speaks = bool(letters & {"Delta", "S", "C", "L_1", "s"}) and not taken and not no_other
    return table.unpinned if speaks or claim.about == "sensitivity" else table


def compare(
    claim: Claim, table: Table, conditions: Sequence[Expression], unread: set[str]
) -> "Match | None":
    """Return the best match of a claim with a table, or None if no columns fit the claim."""
    if claim.event:
        event = re.fullmatch(table.setting.event or "$.", claim.event)
        if not event:
            return None
        try:
            read = parse(event[1], printed=True) if event.groups() else None
        except ValueError:
            return None
        claim = replace(claim, threshold=read)
    matches = []
    for target in (VALUE, *table.columns):
        if not _may_be_target(claim, table, target):
            continue
        for bound in _bound(claim, table, target):
            candidate = _tried(claim, table, target, bound)
            if match := candidate and candidate.judged(conditions, unread):
                matches.append(match)
    return reduce(_preferred, matches) if matches else None


def _preferred(best: "Match", other: "Match") -> "Match":
    """Return the better match: the one about the total, unless the claim is a budget per step."""
    if other.step != best.step:
        inverse, direct = (best, other) if best.step else (other, best)
        split = inverse.exact or direct.shrinks
        return inverse if split and not direct.exact else direct
    return other if (other.rank, not other.exact) < (best.rank, not best.exact) else best


def _may_be_target(claim: Claim, table: Table, target: str) -> bool:
    if target == VALUE:
        return claim.about == table.setting.about
    own = KIND_OF.get(target) == claim.about
    pinned = target == "sensitivity" and table.pinned
    other = target in table.lists or pinned or table.sign == 0
    pure = claim.second is None or not (claim.second.names or _slack(table))
    return own and not other and pure and not claim.event


def _slack(table: Table) -> str:
    """Return the name of the column that holds delta, or ""."""
    return next((n for n in ("slack", "delta") if n in table.domains), "")


def _bound(claim: Claim, table: Table, target: str) -> Iterator[dict[str, str]]:
    """Yield possible assignments of the claim's letters to columns other than `target`."""
    free = [n for n in (*table.columns, VALUE) if n != target]
    free = [n for n in free if not (n == "sensitivity" and table.pinned)]
    # Skip columns for which the claim has a formula or a number instead of a letter.
    slack = _slack(table) if claim.second and not (claim.bare or table.setting.second) else ""
    skipped = [n for n in ("threshold" if claim.threshold else slack,) if n in free]
    skipped = skipped if target == VALUE else []
    needed = [n for n in free if n not in skipped]
    names, lists = set(claim.names), [n for n in table.lists if n != target]
    numbered = {n for n in names if _NUMBER.search(n)}
    if lists and len(numbered) > 1:
        if any(not any(fits(n, c, "") for c in lists) for n in numbered):
            return
        names -= numbered
        needed = [n for n in needed if n not in lists]
    if not lists and any(step.what == "largest" for step in claim.right.program):
        return
    must = {*needed}
    if table.setting.second:
        must -= set() if claim.second_is_formula else {"delta", "deltas"}
        needed = [n for n in needed if n in must or claim.second_is_formula or claim.bare]
    able = [*needed, *skipped]
    options = [[c for c in able if fits(n, c, table.setting.about)] for n in sorted(names)]
    for chosen in itertools.islice(itertools.product(*options), 60):
        given = dict(zip(sorted(names), chosen, strict=True))
        items = {c for n, c in given.items() if below(n).split("_")[0] in ("i", "j", "t", "m")}
        lists_fit = items == {*chosen} & {*table.lists} or not table.lists
        if must <= {*chosen} and len({*chosen}) == len(chosen) and lists_fit:
            yield given


def _tried(claim: Claim, table: Table, target: str, bound: dict[str, str]) -> "Match | None":
    """Return the match for the assignment `bound` of letters, or None if it is impossible."""
    changed, items = dict(table.columns), dict[str, NDArray]()
    for name in sorted(claim.names - {*bound}):  # items of a list, such as epsilon_1
        whole = next(c for c in table.lists if fits(name, c, ""))
        column, k = table.columns[whole], int(_NUMBER.search(name)[1]) - 1  # type: ignore[index]
        if k >= column.shape[-1]:
            return None
        if changed[whole] is column:
            changed[whole] = np.full(column.shape, np.inf if whole == "noise_multipliers" else 0.0)
        changed[whole][:, k], items[name] = column[:, k], column[:, [k]]
    proved = table.columns | {VALUE: table.value}
    candidate = Match(claim, table, target, bound, items, proved, table.edge)
    if (failed := _second(candidate, changed)) is None:
        return None
    if claim.threshold:
        changed["threshold"] = np.broadcast_to(claim.threshold(**candidate.at), table.value.shape)
    if any(changed[n] is not column for n, column in table.columns.items()):
        candidate = candidate.moved(changed, shown=table.columns)
    return replace(candidate, failed=failed)


def _second(match: "Match", changed: dict[str, NDArray]) -> str | None:
    """Return why delta of a claimed pair is wrong, or ""; None if the pair does not fit the table.

    If delta is claimed by a formula, its values replace the column of delta in `changed`.
    """
    claim, table, bound = match.claim, match.table, match.bound
    if claim.second is None or match.target != VALUE:
        return ""
    own, bare, shape = _slack(table), claim.bare, table.value.shape
    zero = not claim.second.names
    if zero and (float(claim.second()) != 0 or table.setting.second):
        return None
    if (needed := table.second_at(changed)) is not None:
        claimed = table.columns.get(bound.get(bare, "delta")) if bare else claim.second(**match.at)
        if claimed is None:
            return None
        small = np.broadcast_to(claimed, shape) < needed * (1 - 1e-6)
        return "the δ of the pair is too small" if np.mean(small) > 0.02 else ""
    if not own:  # pure DP implies (epsilon, delta)-DP for every delta
        return "" if zero or (bare and below(bare) in ("", "prime")) else None
    if not bare:
        changed[own] = np.broadcast_to(claim.second(**match.at), shape).astype(float)
        return ""
    phrase = next((n for n, c in bound.items() if c == own), "")
    if phrase == bare or below(bare).strip("_") not in ("", "prime"):
        return "" if phrase == bare else None
    return Note("the pair has {x} where the formula has {y}", x=sign_of(bare), y=sign_of(phrase))


@dataclass(frozen=True, eq=False)
class Match:
    """Claim with letters assigned to columns of a table, and the verdict at the table's points."""

    claim: Claim
    table: Table
    target: str  # the column that the claim is about
    bound: dict[str, str]
    items: dict[str, NDArray]  # values of letters such as epsilon_1, items of a list
    proved: Points  # columns and proved values
    edge: Points | None  # columns and lower bounds, if known
    failed: str = ""  # why delta of a pair is wrong
    verdict: str = "holds"
    note: str = ""
    exact: bool = False  # whether the claim equals the proved value
    unread: bool = False  # whether a stated condition was ignored
    named: float = 0.0  # weight of the words that name the situation
    example: int | None = None  # the index of the simplest failing point

    @property
    def direct(self) -> bool:
        """Whether the claim is about the entry's value, not about one of its parameters."""
        return self.target == VALUE

    @property
    def step(self) -> bool:
        """Whether the claim is about one step: a parameter with the same quantity as the value."""
        return not self.direct and self.table.setting.about == self.claim.about

    @property
    def rank(self) -> int:
        """Position of the verdict in `ORDER`, from "holds" to "refuted"."""
        return ORDER.index(self.verdict)

    @property
    def at(self) -> Points:
        """Values of the claim's letters at all points."""
        return self.items | {name: self.proved[c] for name, c in self.bound.items()}

    @cached_property
    def sign(self) -> int:
        """1 if too small a claim overstates privacy, -1 if too large a claim does, else 0."""
        if self.direct:
            return self.table.sign
        x, whole = self.proved[self.target], isinstance(self.table.domains[self.target], Whole)
        columns = {n: c for n, c in self.proved.items() if n != VALUE}
        up = self.table.value_at({**columns, self.target: x * 1.01 + whole})
        with np.errstate(invalid="ignore"):
            moved = up - self.proved[VALUE]
        moved = moved[np.isfinite(moved)]
        return -self.table.sign * int(np.sign(np.median(moved))) if moved.size else 0

    @property
    def needed(self) -> NDArray:
        """Lower bounds of valid claims, or the proved values if there are none."""
        return (self.edge or self.proved)[self.target]

    @property
    def shrinks(self) -> bool:
        """Whether the claim decreases with the number of releases, as a budget per step does."""
        count = next((n for n, c in self.bound.items() if c == "steps"), "")
        if not count or not self.direct or self.claim.about not in PER_STEP:
            return False
        with np.errstate(invalid="ignore"):
            less = self._right({**self.at, count: self.at[count] + 1}) < self.claimed
        return bool(less.mean() > 0.9)

    @cached_property
    def claimed(self) -> NDArray:
        """Claimed values at all points."""
        return self._right(self.at)

    @property
    def letters(self) -> dict[str, str]:
        """Mapping from symbols of the claim, also the one on its left, to columns of the table."""
        left = base(self.claim.left.partition("(")[0])
        own = {} if self.target == VALUE else {left or self.target: self.target}
        return {**{n: c for n, c in self.bound.items() if c != VALUE}, **own}

    def moved(self, columns: Points, shown: Points) -> "Match":
        """Return the match at the points `columns`, with letters' values taken from `shown`."""
        value = self.table.value_at(columns)
        low = self.table.below_at(columns, value) if self.edge else None
        edge = None if low is None else {**shown, VALUE: low}
        return replace(self, proved={**shown, VALUE: value}, edge=edge)

    def _right(self, at: Points) -> NDArray:
        claimed = np.broadcast_to(self.claim.right(**at), self.proved[VALUE].shape).astype(float)
        with np.errstate(invalid="ignore"):
            return np.sqrt(claimed) if self.claim.root else claimed

    @cached_property
    def enough(self) -> NDArray:
        """Mask of points where the claim cannot overstate privacy or no proved value is known."""
        truth = self.proved[self.target]
        with np.errstate(invalid="ignore"):
            enough = self.sign * (self.claimed - truth) >= -1e-6 * np.abs(truth)
        return enough | np.isnan(truth)

    @cached_property
    def wrong(self) -> NDArray:
        """Mask of points where the claim violates the lower bound of valid claims."""
        edge, low = self.edge or self.proved, self.needed
        claimed = self._right({**self.at, **{n: edge[c] for n, c in self.bound.items()}})
        if self.claim.about in ("epsilon", "rho", "rdp"):
            claimed = np.where(claimed < 0, 0.0, claimed)  # a bound below 0 means 0
        with np.errstate(all="ignore"):
            wrong = self.sign * (claimed - low) < -1e-6 * np.abs(low) - 1e-13
            wrong |= np.isnan(claimed) & np.isfinite(low)
            wrong |= np.isposinf(low) & (self.sign > 0) & (claimed < 1e300)
            if self.target != VALUE:
                wrong &= edge[VALUE] > 1e-9 * self.proved[VALUE]  # a bound of 0 cannot be inverted
        return wrong & ~np.isnan(low)

    def judged(self, conditions: Sequence[Expression], unread: set[str]) -> "Match | None":
        """Return the match with its verdict, or None if the claim does not fit."""
        try:
            claimed = self.claimed
        except ValueError:  # the letter of a list stands outside a sum
            return None
        expected, holds = self.proved[self.target], self.table.holds
        good = np.isfinite(claimed) & ~np.isnan(expected) & holds & (np.abs(expected) > 1e-290)
        equal = np.isfinite(expected) & np.isclose(claimed, expected, rtol=1e-6, atol=1e-13)
        exact = bool(good.sum() >= 8 and equal[good].mean() > 0.97)
        inside, used, missed = self._inside(conditions)
        letters = {base(n) for n in self.at} | {base(self.claim.left)}
        missed = missed or bool(letters & {base(n) for n in unread})
        out: Match | None = self
        if self.table.sign == 0 and self.direct:
            if not exact and np.any(claimed[good] < 0):
                return None  # variances and probabilities are >= 0
            out = self if exact else self._refuted(~equal & good)
        elif not exact or (self.edge is not None and self.table.entry.kind != "asymptotic"):
            many = bool(good.sum() > 20)
            out = self._on_one_side(exact, many, inside, used) if self.sign else None
        if out and self.failed:
            out, exact = replace(out, verdict="refuted", note=self.failed), False
        return replace(out, exact=exact, unread=missed) if out else None

    def _on_one_side(self, exact: bool, many: bool, inside: NDArray, used: set) -> "Match | None":
        """Return the match with its verdict, for a quantity where errors on one side are safe."""
        proved = (self.enough | ~inside)[self.table.holds]
        if self.edge is None:
            return self._loose("safe") if np.all(proved) and many else None
        wrong, holds = self.wrong & inside, self.table.holds
        if wrong.sum() < 0.004 * max((inside & ~np.isnan(self.proved[self.target])).sum(), 1):
            return self if exact else self._loose("safe" if proved.mean() > 0.99 else "open")
        if exact and not (self._rule and np.any(wrong & ~holds)):
            return self
        failing = self._refuted(wrong)
        note = Note("only if {rule}; {point}", rule=self._rule, point=failing.note)
        if exact:
            # A condition on δ alone does not state the entry's hypothesis.
            stated = {self.claim.about if c == VALUE else c for c in used} - {"delta", "slack"}
            verdict = "refuted" if stated & parse(self.table.hypothesis).names else "conditional"
            return replace(failing, verdict=verdict, note=note)
        if self._rule and not used and not np.any(wrong & holds):
            return replace(failing, verdict="conditional", note=note)
        return failing

    def _inside(self, conditions: Sequence[Expression]) -> tuple[NDArray, set[str], bool]:
        """Return the mask where the conditions hold, columns used, and whether one was skipped."""
        inside, used, missed = np.ones(self.claimed.shape, bool), set[str](), False
        letters, columns = dict(self.at), dict(self.bound)
        if left := self.claim.left.partition("(")[0].removesuffix("^2"):
            left = left.replace("'", "_prime").rstrip("^*")
            letters[left], columns[left] = self.claimed, self.target
        for condition in conditions:
            if not condition.names <= {*letters}:
                missed |= bool({base(n) for n in condition.names} & {base(n) for n in letters})
                continue
            now = inside & np.broadcast_to(condition(**letters), inside.shape).astype(bool)
            missed |= now.sum() < 6
            if now.sum() >= 6:
                inside, used = now, used | {columns.get(n, n) for n in condition.names}
        return inside, used, missed

    def _loose(self, verdict: str) -> "Match":
        """Return the match with `verdict`; the note is the median of claimed / proved value."""
        with np.errstate(all="ignore"):
            ratio = np.abs(self.claimed / self.proved[self.target]) ** self.sign
        ratio = ratio[np.isfinite(ratio)]
        words = "{count} times what is proved, in the median"
        note = Note(words, count=f"{np.median(ratio):.3g}") if ratio.size else ""
        return replace(self, verdict=verdict, note=note)

    def _refuted(self, wrong: NDArray) -> "Match":
        """Return the refuted match, with its simplest failing point in the note."""
        k = int(np.flatnonzero(wrong.ravel())[0])
        values = {sign_of(n): self.proved[c][k] for n, c in self.bound.items()}
        point = [f"{name} = {', '.join(f'{v:.4g}' for v in x)}" for name, x in values.items()]
        claimed = self.claimed[k, 0]
        value = "no value" if np.isnan(claimed) else f"{claimed:.4g}"
        words = "at {place} it gives {claimed} where {truth} is needed"
        needed = f"{self.needed[k, 0]:.4g}"
        note = Note(words, place=", ".join(point), claimed=value, truth=needed)
        return replace(self, verdict="refuted", note=note, example=k)

    @property
    def _rule(self) -> str:
        """Hypothesis of the entry in the letters of the claim."""
        names = {c: sign_of(n) for n, c in self.letters.items()}
        spelled = lambda m: names.get(m[0], sign_of(m[0]))
        return re.sub(r"[A-Za-z_]\w*", spelled, self.table.hypothesis)
