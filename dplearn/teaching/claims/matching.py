"""A claim beside one setting: its letters are given to columns, and its values compared.

Above what is proved a claim is safe, below what no mechanism beats it is refuted, and between the
two it is open.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dplearn.teaching.book.kit.domains import Whole
from dplearn.teaching.book.kit.expression import Expression
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import KIND_OF, LENGTHS, LETTERS, LISTS, VALUES
from dplearn.teaching.claims.reading import Claim, Note
from dplearn.teaching.claims.table import Table, scaled

ORDER = ("holds", "safe", "conditional", "open", "refuted")
_ASSIGNMENTS = 60
# Quantities whose parameters are no claims of their own.
_ONE_WAY = ("variance", "probability", "tradeoff", "kl", "adv", "auc", "error")
# What a step has and what all steps have go by one letter.
PER_STEP = ("epsilon", "delta", "rho", "mu", "rdp", "log_moment")
_NUMBER = re.compile(r"_([1-9])(?=_|$)")
_SIGNS = {"Delta": "Δ", "epsilon": "ε", "delta": "δ", "sigma": "σ", "rho": "ρ", "mu": "μ"}
_SIGNS |= {"alpha": "α", "lambda": "λ", "beta": "β", "gamma": "γ", "tau": "τ", "xi": "ξ"}


def base(name: str) -> str:
    """Return the letter without what decorates it."""
    return name.partition("_")[0]


def below(name: str) -> str:
    """Return what decorates the letter."""
    return name.partition("_")[2]


def fits(name: str, column: str, about: str = "") -> bool:
    """Return whether a printed letter may stand for a column, or for a value that is `about`."""
    marks = set(below(name).split("_"))
    is_rdp = about == "rdp" if about else column in ("rdp", "rdps")
    if marks & {"alpha", "RDP", "rdp"}:
        return is_rdp and base(name) in LETTERS["rdp"]
    letters = VALUES.get(about, frozenset({about})) if about else LETTERS.get(column, {column})
    one = LISTS.get(column, column)
    letters = LETTERS.get(one, letters) if column in LISTS else letters
    numbered = re.sub(r"_(prime|hat|tilde|bar)", "", name)
    return base(name) in letters or numbered in letters


@dataclass(frozen=True)
class Match:
    """The outcome of a claim in one setting."""

    trial: "Trial"
    verdict: str = "holds"
    note: str = ""
    exact: bool = False  # whether it equals what is proved
    step: bool = False  # whether its left side is what one step has
    unread: bool = False  # whether a condition of its letters could not be used
    named: float = 0.0  # words that name the setting
    example: int | None = None  # the index of the plainest failing point

    @property
    def table(self) -> Table:
        """Return the table of the setting."""
        return self.trial.table

    @property
    def direct(self) -> bool:
        """Return whether it is about the value, rather than about a column."""
        return self.trial.target == "@"

    @property
    def rank(self) -> int:
        """Return its place in the order of verdicts."""
        return ORDER.index(self.verdict)


def in_units(claim: Claim, table: Table) -> Table:
    """Return the table with noise in units of the sensitivity that a claim speaks of."""
    own = "sensitivity" in table.domains
    scales = table.setting.about in ("sigma", "scale") or not {*LENGTHS}.isdisjoint(table.domains)
    if claim.about == "sensitivity" or not (own or scales):
        return table
    taken = {"max_grad_norm", "max_norm"} & {*table.domains}
    letters = {base(name) for name in claim.names} | {n for n in claim.names if n == "L_1"}
    spoken = {"Delta", "S", "C", "L_1"} | (
        {"s"} if claim.about in ("sigma", "scale", "rho") else set()
    )
    if "noise_multiplier" not in table.domains or "s" not in LETTERS["noise_multiplier"]:
        spoken |= {"s"}
    no_other = table.setting.rare and "noise_std" in table.domains  # noise on votes
    if letters & spoken and not taken and not no_other:
        return table if own else scaled(table, np.nan)
    return scaled(table, 1.0) if own else table


def compare(
    claim: Claim, table: Table, conditions: Sequence[Expression], unread: set[str]
) -> Match | None:
    """Return how a claim fares in a setting; None if its letters do not fit."""
    best: Match | None = None
    if claim.event:
        event = re.fullmatch(table.setting.event or "$.", claim.event)
        if not event:
            return None
        try:
            read = parse(event[1], printed=True) if event.groups() else None
        except ValueError:
            return None
        claim = replace(claim, threshold=read)
    for target in ("@", *table.columns):
        if (target == "@" and claim.about != table.setting.about) or not _may_be_target(
            claim, table, target
        ):
            continue
        for bound in _bound(claim, table, target):
            found = _valued(claim, table, target, bound, conditions, unread)
            if found is None or (claim.total and found.step and not found.exact):
                continue
            best = found if best is None else _preferred(claim, best, found)
    return best


def _preferred(claim: Claim, best: Match, found: Match) -> Match:
    """Return the better way to read a claim: of a total, unless the left side is one step's."""
    if found.step != best.step:
        inverse, direct = (best, found) if best.step else (found, best)
        split = inverse.exact or claim.per_step or direct.trial.shrinks
        return inverse if split and not direct.exact and not claim.total else direct
    return found if (found.rank, not found.exact) < (best.rank, not best.exact) else best


def _may_be_target(claim: Claim, table: Table, target: str) -> bool:
    if target == "@":
        return True
    own = KIND_OF.get(target) == claim.about
    pinned = target == "sensitivity" and table.unit is not None and not np.isnan(table.unit)
    other = target in table.lists or pinned or table.setting.about in _ONE_WAY or table.sign == 0
    pure = claim.second is None or not (claim.second.names or _slack(table))
    return own and not other and pure and not claim.event


def _slack(table: Table) -> str:
    """Return the column that is the delta of a pair; "" if there is none."""
    return next((n for n in ("slack", "delta") if n in table.domains), "")


def _bound(claim: Claim, table: Table, target: str) -> Iterator[dict[str, str]]:
    """Return every way to give the letters of a claim to the columns and the value."""
    pinned = "sensitivity" in table.domains and table.unit is not None
    free = [n for n in table.columns if n != target and not (n == "sensitivity" and pinned)]
    free += ["@"] if target != "@" else []
    skipped = [n for n in _replaced(claim, table, target) if n in free]
    wanted = [n for n in free if n not in skipped]
    names, lists = set(claim.names), [n for n in table.lists if n != target]
    numbered = {n for n in names if _NUMBER.search(n)}
    if lists and len(numbered) > 1:
        if any(not any(fits(n, c) for c in lists) for n in numbered):
            return
        names -= numbered
        wanted = [n for n in wanted if n not in lists]
    elif lists and not any(_is_item(n) for n in names):
        return
    must = {n for n in wanted if not (table.setting.second and n in table.second_only)}
    pair = claim.second is not None and not claim.bare and bool(claim.second.names)
    if table.setting.second:
        must = {*wanted} if pair else must
        wanted = wanted if pair or claim.bare else [n for n in wanted if n in must]
    for given in _assignments(sorted(names), [*wanted, *skipped], table):
        lists_fit = all(_is_item(n) == (c in table.lists) for n, c in given.items())
        if must <= {*given.values()} and (lists_fit or not table.lists):
            yield given


def _is_item(name: str) -> bool:
    return below(name).split("_")[0] in ("i", "j", "t", "m")


def _assignments(
    names: Sequence[str], free: Sequence[str], table: Table
) -> Iterator[dict[str, str]]:
    if len(names) > len(free):
        return
    options = []
    for name in names:
        able = [c for c in free if fits(name, c, table.setting.about if c == "@" else "")]
        alone = sum(base(other) == name for other in names) == 1
        options.append([name, *(c for c in able if c != name)] if name in able and alone else able)
    for chosen in itertools.islice(itertools.product(*options), _ASSIGNMENTS):
        if len({*chosen}) == len(chosen):
            yield dict(zip(names, chosen, strict=True))


def _replaced(claim: Claim, table: Table, target: str) -> list[str]:
    """Return the columns for which the claim has a formula or a number instead of a letter."""
    if target != "@":
        return []
    if claim.threshold:
        return ["threshold"]
    is_formula = claim.second is not None and not claim.bare
    return [_slack(table)] if is_formula and not table.setting.second and _slack(table) else []


def _valued(
    claim: Claim,
    table: Table,
    target: str,
    bound: dict[str, str],
    conditions: Sequence[Expression],
    unread: set[str],
) -> Match | None:
    """Return how a claim fares when its letters stand for these columns."""
    columns, value, low = dict(table.columns), table.value, table.below
    at = {name: value if c == "@" else columns[c] for name, c in bound.items()}
    changed = dict(columns)
    for name in sorted(claim.names - {*bound}):  # numbered letters of a list
        whole, k = next(c for c in table.lists if fits(name, c)), int(_NUMBER.search(name)[1]) - 1  # type: ignore[index]
        if k >= columns[whole].shape[-1]:
            return None
        if changed[whole] is columns[whole]:
            empty = np.inf if whole == "noise_multipliers" else 0.0
            changed[whole] = np.full(columns[whole].shape, empty)
        changed[whole][:, k] = columns[whole][:, k]
        at[name] = columns[whole][:, [k]]
    pair = _pair_of(claim, table, target, bound, at, changed)
    if pair == "refused":
        return None
    if claim.threshold:
        changed["threshold"] = np.broadcast_to(claim.threshold(**at), value.shape)
    if any(changed[n] is not columns[n] for n in columns):
        value = table.value_at(changed)
        low = table.below_at(changed, value) if low is not None else None
    trial = Trial(claim, table, target, bound, at, columns, value, low)
    try:
        found = trial.match(conditions, unread)
    except ValueError:  # a letter of a list outside of a sum
        return None
    return replace(found, verdict="refuted", note=pair, exact=False) if found and pair else found


def _pair_of(claim: Claim, table: Table, target: str, bound: dict, at: dict, changed: dict) -> str:
    """Return why a pair fails by its second part; else put that into the columns it replaces."""
    if claim.second is None or target != "@":
        return ""
    own, shape = _slack(table), table.value.shape
    zero = not claim.second.names and float(claim.second()) == 0
    if not claim.second.names and not zero:
        return "refused"
    if table.setting.second:
        if zero:
            return "refused"
        column = bound.get(claim.bare) or "delta"
        said = table.columns.get(column) if claim.bare else claim.second(**at)
        if said is None:
            return "refused"
        if (needed := table.second_at(changed)) is None:
            return "refused"
        small = np.broadcast_to(said, shape) < needed * (1 - 1e-6)
        return "the δ of the pair is too small" if np.mean(small) > 0.02 else ""
    if not own:  # pure: it holds with every delta
        return "" if zero or (below(claim.bare) in ("", "prime") and claim.bare) else "refused"
    if claim.bare:
        spoken = next((n for n, c in bound.items() if c == own), "")
        if spoken == claim.bare:
            return ""
        if below(claim.bare).strip("_") not in ("", "prime"):
            return "refused"
        words = "the pair has {x} where the formula has {y}"
        return Note(words, x=sign_of(claim.bare), y=sign_of(spoken))
    changed[own] = np.broadcast_to(claim.second(**at), shape).astype(float)
    return ""


def sign_of(name: str) -> str:
    """Return a letter as it is written: ``ε_0′``."""
    first, _, rest = name.partition("_")
    marks = rest.split("_") if rest else []
    primes = "′" * marks.count("prime")
    rest = "_".join(m for m in marks if m != "prime")
    return _SIGNS.get(first, first) + (f"_{rest}" if rest else "") + primes


@dataclass(frozen=True, eq=False)
class Trial:
    """A claim whose letters stand for columns of a table, and its values there."""

    claim: Claim
    table: Table
    target: str  # the column that it is about; "@" for the value
    bound: dict[str, str]
    at: dict[str, NDArray]
    columns: dict[str, NDArray]
    value: NDArray
    low: NDArray | None

    @cached_property
    def sign(self) -> int:
        """Return 1 if too small a claim promises too much, -1 if too large a one; 0 if neither."""
        if self.target == "@":
            return self.table.sign
        x, whole = self.columns[self.target], isinstance(self.table.domains[self.target], Whole)
        up = self.table.value_at({**self.columns, self.target: x * 1.01 + whole})
        with np.errstate(invalid="ignore"):
            moved = up - self.table.value
        moved = moved[np.isfinite(moved)]
        return -self.table.sign * int(np.sign(np.median(moved))) if moved.size else 0

    @cached_property
    def truth(self) -> NDArray:
        """Return what is proved: the value, or the column that the claim is about."""
        return self.value if self.target == "@" else self.columns[self.target]

    @property
    def shrinks(self) -> bool:
        """Return whether the claim falls with the number of releases, as what each may spend."""
        count = next((n for n, c in self.bound.items() if c == "steps"), "")
        if not count or self.target != "@" or self.claim.about not in PER_STEP:
            return False
        with np.errstate(invalid="ignore"):
            less = self._right({**self.at, count: self.at[count] + 1}) < self.claimed
        return bool(less.mean() > 0.9)

    @cached_property
    def claimed(self) -> NDArray:
        """Return what is claimed at every point."""
        return self._right(self.at)

    @cached_property
    def frontier(self) -> NDArray:
        """Return what is claimed where the value is what no mechanism beats."""
        if self.target == "@" or self.low is None or self.low is self.value:
            return self.claimed
        return self._right(
            {n: self.low if self.bound.get(n) == "@" else x for n, x in self.at.items()}
        )

    @property
    def letters(self) -> dict[str, str]:
        """Return the letters that stand for columns, that of the left side among them."""
        left = base(self.claim.left.partition("(")[0])
        own = {} if self.target == "@" else {left or self.target: self.target}
        return {**{n: c for n, c in self.bound.items() if c != "@"}, **own}

    def moved(self, columns: Mapping[str, NDArray]) -> "Trial":
        """Return the same comparison at other points."""
        value = self.table.value_at(columns)
        at = {n: value if c == "@" else columns[c] for n, c in self.bound.items()}
        low = self.table.below_at(columns, value)
        return replace(self, at=at, columns=dict(columns), value=value, low=low)

    def _right(self, at: Mapping[str, NDArray]) -> NDArray:
        size = max((len(x) for x in at.values()), default=len(self.value))
        claimed = np.broadcast_to(self.claim.right(**at), (size, 1)).astype(float)
        with np.errstate(invalid="ignore"):
            return np.sqrt(claimed) if self.claim.root else claimed

    @cached_property
    def proved(self) -> NDArray:
        """Return where the claim promises no more than what is proved, or nothing is known."""
        with np.errstate(invalid="ignore"):
            enough = self.sign * (self.claimed - self.truth) >= -1e-6 * np.abs(self.truth)
        return enough | np.isnan(self.truth)

    def match(self, conditions: Sequence[Expression], unread: set[str]) -> Match | None:
        """Return the outcome of the comparison."""
        claimed, truth, holds = self.claimed, self.truth, self.table.holds
        good = np.isfinite(claimed) & ~np.isnan(truth) & holds & (np.abs(truth) > 1e-290)
        good = good if good.sum() >= 8 else ~np.isnan(truth) & holds
        equal = np.isfinite(truth) & np.isclose(claimed, truth, rtol=1e-6, atol=1e-13)
        exact = bool(good.sum() >= 8 and equal[good].mean() > 0.97)
        inside, said, missed = self._inside(conditions)
        letters = {base(n) for n in self.at} | {base(self.claim.left)}
        step = self.target != "@" and self.table.setting.about == self.claim.about
        missed = missed or bool(letters & {base(n) for n in unread})
        out = Match(self, exact=exact, step=step, unread=missed)
        if self.table.sign == 0 and self.target == "@":
            if not exact and np.any(claimed[good] < 0):
                return None  # no variance and no probability: its letters are others
            return out if exact else self._refuted(out, truth, ~equal & good)
        if exact and (self.low is None or self.table.entry.kind == "asymptotic"):
            return out
        if self.sign == 0:
            return None
        out = replace(out, note="" if exact else self._looseness)
        proved = (self.proved | ~inside)[holds]
        if self.low is None:
            return replace(out, verdict="safe") if np.all(proved) and good.sum() > 20 else None
        wrong = self.wrong & inside
        if wrong.sum() >= 0.004 * max((inside & ~np.isnan(truth)).sum(), 1):
            return self._fails(out, wrong, inside, said)
        return out if exact else replace(out, verdict="safe" if proved.mean() > 0.99 else "open")

    def _fails(self, out: Match, wrong: NDArray, inside: NDArray, said: set[str]) -> Match:
        """Return the match of a claim that is beaten at some points, and on which condition."""
        holds, known = self.table.holds, (inside & ~np.isnan(self.truth)).sum()
        share = wrong.sum() / max(known, 1)
        truth = self.truth if self.target != "@" or self.low is None else self.low
        failing = self._refuted(out, truth, wrong)
        only = Note("only if {rule}; {point}", rule=self._rule, point=failing.note)
        if out.exact:
            if not self._rule or not np.any(wrong & ~holds):
                return out
            verdict = "refuted" if said & self._violated(wrong) else "conditional"
            return replace(failing, verdict=verdict, note=only)
        if self._rule and not said and not np.any(wrong & holds) and holds.mean() > 0.25:
            return replace(failing, verdict="conditional", note=only)
        if where := "" if said or share > 0.8 else self._region(wrong):
            note = Note("{rule}; {point}", rule=where, point=failing.note)
            return replace(failing, verdict="conditional", note=note)
        return failing

    def _inside(self, conditions: Sequence[Expression]) -> tuple[NDArray, set[str], bool]:
        """Return where the conditions hold, their columns, and whether one could not be used."""
        inside, said, missed = np.ones(self.value.shape, bool), set[str](), False
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
                inside, said = now, said | {columns.get(n, n) for n in condition.names}
        return inside, said, missed

    def _violated(self, wrong: NDArray) -> set[str]:
        """Return the columns of the hypothesis' clauses that are not met where a claim fails."""
        at, names = self.table.unscaled(self.columns), set[str]()
        for clause in re.split(r"\s+and\s+", self.table.hypothesis):
            rule = parse(clause)
            if rule.names <= {*at} and np.any(~np.broadcast_to(rule(**at), wrong.shape) & wrong):
                names |= rule.names
        return names | ({"@"} if self.table.setting.about in names else set())

    @cached_property
    def wrong(self) -> NDArray:
        """Return where the claim is beaten by what no mechanism beats."""
        low, claimed = self.truth, self.frontier
        if self.target == "@" and self.low is not None:
            low = self.low
        if self.claim.about in ("epsilon", "rho", "rdp"):
            claimed = np.where(claimed < 0, 0.0, claimed)  # a bound below 0 says 0
        with np.errstate(all="ignore"):
            wrong = self.sign * (claimed - low) < -1e-6 * np.abs(low) - 1e-13
            wrong |= np.isnan(claimed) & np.isfinite(low)
            wrong |= np.isposinf(low) & (self.sign > 0) & (claimed < 1e300)
            if self.target != "@" and self.low is not None:
                wrong &= self.low > 1e-9 * self.value  # a value that ends at 0 has no inverse
        return wrong & ~np.isnan(low)

    @property
    def _looseness(self) -> str:
        with np.errstate(all="ignore"):
            ratio = np.abs(self.claimed / self.truth) ** self.sign
        ratio = ratio[np.isfinite(ratio)]
        words = "{count} times what is proved, in the median"
        return Note(words, count=f"{np.median(ratio):.3g}") if ratio.size else ""

    def _refuted(self, match: Match, truth: NDArray, wrong: NDArray) -> Match:
        """Return the match with the plainest failing point in the letters of the formula."""
        with np.errstate(all="ignore"):
            size = np.abs(np.log(np.maximum(np.abs(self.claimed / truth), 1e-300))).ravel()
        failing = np.flatnonzero(wrong.ravel())
        k = int(next((k for k in failing if not size[k] < 0.01), failing[0]))
        values = {n: self.value if c == "@" else self.columns[c] for n, c in self.bound.items()}
        point = [f"{sign_of(n)} = {', '.join(f'{v:.4g}' for v in x[k])}" for n, x in values.items()]
        claimed = self.claimed[k, 0]
        said = "no value" if np.isnan(claimed) else f"{claimed:.4g}"
        words = "at {place} it gives {claimed} where {truth} is needed"
        truth_there = f"{truth[k, 0]:.4g}"
        note = Note(words, place=", ".join(point), claimed=said, truth=truth_there)
        return replace(match, verdict="refuted", note=note, example=k)

    def _region(self, wrong: NDArray) -> str:
        """Return the threshold on one letter beyond which nothing fails, if there is one."""
        for name, column in self.bound.items():
            if column in (*self.table.lists, "sensitivity", "@"):
                continue
            x = self.columns[column].ravel()
            order = np.argsort(x, kind="stable")
            for way, sign in ((1, "<"), (-1, ">")):
                seen = wrong.ravel()[order][::way]
                first = int(np.argmax(seen))
                if first > 0.5 * len(x) and seen[first:].mean() > 0.75:
                    rule = f"{sign_of(name)} {sign} {x[order][::way][first]:.3g}"
                    return Note("no failure for {rule}", rule=rule)
        return ""

    @property
    def _rule(self) -> str:
        """Return the hypothesis in the letters of the formula."""
        names = {c: sign_of(n) for n, c in self.letters.items()}
        return re.sub(
            r"[A-Za-z_]\w*", lambda m: names.get(m[0], sign_of(m[0])), self.table.hypothesis
        )
