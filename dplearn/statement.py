"""Complete privacy statements as text, LaTeX, JSON or an HTML page."""

import datetime
import hashlib
import json
import math
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from textwrap import TextWrapper
from typing import Any, ClassVar

from dplearn.accountants import ACCOUNTANTS, Accountant
from dplearn.accountants.pld import PLD
from dplearn.core import validate
from dplearn.core.display import ReadOnly, Shown, as_card, as_latex
from dplearn.core.guarantee import Adjacency, Guarantee, round_up
from dplearn.mechanisms import Composed

KINDS = {
    "exact": "exact",
    "upper": "upper bound",
    "bracket": "certified from both sides",
    "lower": "lower bound",
    "approximate": "approximation, not a bound",
    "probable": "bound that may be exceeded",
}
SAMPLED = {
    "poisson": "Poisson sampling",
    "without_replacement": "sampling without replacement",
    "none": "all records in every step",
    "shuffled": "shuffled epochs",
    "random_allocation": "random allocation to batches",
}
TUNINGS = {
    "fixed": "settings were fixed before the data were looked at",
    "public": "settings were chosen on public data",
    "uncounted": "settings were tried on the private data, and epsilon does not count that",
}
RELEASED = {
    "every_step": "every noisy step: all models on the way and the last one",
    "last_model": "the last model alone; its epsilon is at most that of all noisy steps",
    "metrics": "metrics of models on public records; their epsilon is at most that of all steps",
}
TRUST = {
    "central": "whoever is trusted sees the data, adds the noise and releases nothing else",
    "local": "all of the plan's noise is in each report before it leaves its owner",
    "distributed": "those who are trusted add shares of the noise, together all that the plan has, "
    "before their sum is opened",
}
# Values of `trust`, and their names in the schema of the public registry of deployments.
_MODELS = {"central": "Central", "local": "Local", "distributed": "Federated"}
BASIC = (
    *("name", "description", "intended_use", "data_product_type", "data_product_region"),
    *("data_curators", "publication_date"),
)
_NEIGHBOURS = {"add_remove": "added or removed", "replace_one": "replaced", "zero_out": "zeroed"}
_PARTS = {
    "delta": "what a probability may grow by beyond the factor e^epsilon",
    "unit": "whose data neighbours differ in, such as 'one image'",
    "records": "how many such units there are, a public number",
    "period": "what one epsilon pays for, such as 'once'",
    "sampling": f"how the program really draws, one of {', '.join(SAMPLED)}",
    "tuning": f"how settings were chosen, one of {', '.join(TUNINGS)}, or a Tuned",
    "released": "what leaves the program, one of the plan's",
    "trust": f"where noise is added, one of {', '.join(TRUST)}",
    "trusted": "who is trusted, with the data or with noise, such as 'the hospital'",
}
_RANDOMNESS = (
    "whoever can predict the noise, from a seed say, can take it away; "
    "the plan does not know from which generator it was drawn"
)
_FLOATING = "epsilon is that of exact real numbers, and noise that is rounded may leak more"
_NOT_COVERED = (
    "whoever has several of these units",
    "what the data tell about a group, of which each unit is a small part",
    "other releases from the same data, such as metrics of private records: their epsilon adds up",
    "whether the program does what is written here",
)
_FALSE_ALARMS = 0.01


@dataclass(frozen=True, kw_only=True)
class Statement(Shown):
    """A complete privacy statement, made by `HasGuarantee.statement`.

    Parameters
    ----------
    guarantee : Guarantee
    records : int >= 1, number of units in the data
    parts : mapping of str to str, sentences about the run, by name of the part
    true_positive_rate : float in [0, 1], upper bound for the best attack at 1 % false alarms
    not_covered : tuple of str
    certificate : str, JSON text for ``dplearn check``
    proved : str, the sentence that the certificate proves
    """

    guarantee: Guarantee
    records: int
    parts: Mapping[str, str]
    true_positive_rate: float
    not_covered: tuple[str, ...]
    certificate: str = ""
    proved: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", ReadOnly(self.parts))

    @property
    def rows(self) -> dict[str, str]:
        """Sentences of the statement, keyed by the name of the part, with the guarantee first."""
        g, law = self.guarantee, ACCOUNTANTS[self.guarantee.method]
        rows = {
            "Promise": f"{g}: {KINDS[g.kind]}",
            "In words": "an attacker who may accuse 1 % of the others "
            f"finds at most {round_up(100 * self.true_positive_rate, 3)} % of the members",
            "Neighbours": f"differ in one unit, {_NEIGHBOURS[g.adjacency]}",
            "Units in the data": f"{self.records:,}; the worst program with this guarantee "
            f"publishes at most {round_up(self.records * g.delta, 2)} of them, on average: n delta",
            **self.parts,
            "Accountant": f"{law.title}, by {g.proof or law.reference}",
            "Randomness": _RANDOMNESS,
            "Floating point": _FLOATING,
            "True if": "; ".join(g.assumptions) or "the mechanism is run as written",
            "Not covered": "; ".join(self.not_covered),
        }
        if self.certificate:
            digest = hashlib.sha256(self.certificate.encode()).hexdigest()
            rows["Certificate"] = f"{self.proved}, says `dplearn check`; SHA-256 {digest}"
        return rows

    def __str__(self) -> str:
        fold = TextWrapper(96, subsequent_indent="    ", break_long_words=False).fill
        return "\n".join(fold(f"{part}: {words}") for part, words in self.rows.items())

    def latex(self) -> str:
        """Return a two-column LaTeX table that needs no LaTeX package."""
        return as_latex(self.rows)

    def _shown(self) -> dict[str, str]:
        return self.rows

    def json(self) -> str:
        """Return the statement as JSON, with all digits of its numbers and the certificate."""
        whole = {
            "format": "dplearn statement 3",
            "guarantee": {f.name: getattr(self.guarantee, f.name) for f in fields(self.guarantee)},
            "records": self.records,
            "true_positive_rate": self.true_positive_rate,
            "words": self.rows,
            "certificate": json.loads(self.certificate) if self.certificate else None,
        }
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"

    def registry_entry(self, basic: Mapping[str, Any], *, registry_authors: list[str]) -> str:
        """Return a draft entry for the public registry of deployments: JSON, also valid YAML.

        `basic` has the fields of the schema that a statement lacks, at least `BASIC`;
        `registry_authors` are its authors. Other fields are omitted. The schema is that of
        Nanayakkara, Ghazi & Vadhan (2025, arXiv 2509.13509), version of 2026-07-15.
        """
        given = {**basic, "registry_authors": registry_authors}
        for part in (*BASIC, "registry_authors"):
            if not given.get(part):
                raise ValueError(f"Expected {part}, got {given.get(part)!r}.")
            if part in ("data_curators", "registry_authors"):
                validate.instance(list, **{part: given[part]})
        rows, trust = self.rows, self.parts["Trust"]
        slug = f"{basic['name']}-{basic['data_curators'][0]}-{str(basic['publication_date'])[:4]}"
        slug = re.sub(r"[\W_]+", "-", slug.lower()).strip("-")
        parts = lambda *named: ". ".join(f"{each}: {rows[each]}" for each in named if each in rows)
        model = {"model_name": _MODELS[trust.partition(",")[0]], "model_name_details": trust}
        if rows["Paid for by one epsilon"] == "once":
            model["release_type"] = "One release"
        how = parts("Run", "Sampling", "Released", "Randomness", "Floating point")
        composed = parts("Accountant", "True if", "Paid for by one epsilon")
        tuned, notes = rows["Tuning"], parts("Not covered", "Computed")
        deployment = {
            "basic": basic,
            "dp_variant": {"variant_name": "Approximate DP"},
            "privacy_loss": {
                "privacy_unit": rows["Unit of privacy"],
                "privacy_unit_details": parts("Neighbours", "Units in the data"),
                "privacy_parameters": {x: getattr(self.guarantee, x) for x in ("epsilon", "delta")},
                "privacy_parameters_details": parts("Promise", "In words", "Certificate"),
            },
            "deployment_model": model,
            "accounting": {"composition": composed},
            "implementation": {"preprocessing_and_hyperparameter_tuning": tuned, "mechanisms": how},
            "administrative": {"notes": notes, "registry_authors": registry_authors},
        }
        entry = {"url_slug": slug, "status": "Draft", "tier": 2, "deployment": deployment}
        return json.dumps(entry, indent=1, ensure_ascii=False, default=str) + "\n"

    def card(self) -> str:
        """Return a self-contained HTML page for printing."""
        return as_card("Privacy statement", self.rows)


class HasGuarantee(Shown, metaclass=validate.NamesParameters):
    """Base class of plans, each with a guarantee and a statement."""

    def _shown(self) -> dict[str, str]:
        shown = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return {name: str(value) for name, value in shown if value is not None}

    unit: ClassVar[str] = ""  # unit of privacy, if the plan fixes it
    units: int | None = None  # number of units, if the plan fixes it
    # Allowed values of `released` in a statement, each with its sentence.
    releases: ClassVar[Mapping[str, str]] = RELEASED

    @property
    @abstractmethod
    def composed(self) -> Composed:
        """Composed mechanism; its epsilon is an upper bound for the whole run."""

    @property
    def samplings(self) -> tuple[str, ...]:
        """Names of the sampling schemes; empty without sampling."""
        return ()

    @abstractmethod
    def guarantee(self, accountant: Accountant | str = "pld", *, delta: float) -> Guarantee:
        """Return the guarantee of the whole run."""

    def statement(
        self,
        *,
        delta: float | None = None,
        unit: str = "",
        records: int | None = None,
        period: str = "",
        sampling: str = "",
        tuning: Any = "",
        released: str = "",
        trust: str = "",
        trusted: str = "",
        date: datetime.date | None = None,
        not_covered: Sequence[str] = (),
        accountant: Accountant | str = "pld",
        adjacency: Adjacency | None = None,
        certificate: str = "",
    ) -> Statement:
        """Return a complete privacy statement; raise ValueError naming a missing part.

        Parameters
        ----------
        delta : float in (0, 1 / records)
        unit : str, what neighbours differ in, unless the plan fixes it, as a `FederatedPlan` does
        records : int >= 1, the number of units, unless the plan fixes it
        period : str, the period that one epsilon covers, such as ``"once"``
        sampling : str, the scheme that the program *really* uses
        tuning : one of `TUNINGS`, or a `Tuned` of this plan, whose guarantee is then stated
        released : one of the plan's `releases`; only "every_step" keeps the lower bound
        trust : one of `TRUST`
        trusted : str, names the trusted party
        date : datetime.date, by default today
        not_covered : list of str, further exclusions
        accountant, adjacency : as in `guarantee`, which must be a finite bound
        certificate : str, of this run by `dplearn.certificates.certify`; it is checked again

        Examples
        --------
        >>> from dplearn.run import DPSGD
        >>> plan = DPSGD(noise_multiplier=1.1, sample_rate=0.004, steps=10_000)
        >>> parts = {"delta": 1e-5, "unit": "one image", "sampling": "poisson", "tuning": "public"}
        >>> parts |= {"records": 60_000, "released": "last_model", "period": "once"}
        >>> plan.statement(**parts, trust="central", trusted="the hospital").rows["Accountant"]
        'Privacy loss distribution, by a contour integral (Alghamdi et al. 2023)'
        """
        parts: dict[str, Any] = {"delta": delta, "unit": self.unit or unit, "period": period}
        parts |= {"sampling": sampling, "tuning": tuning, "released": released, "trust": trust}
        parts |= {"records": self.units if records is None else records, "certificate": certificate}
        parts |= {"trusted": "nobody" if trust == "local" else trusted}
        _require(parts, self, date, not_covered)
        if unit and self.unit and unit != self.unit:
            raise ValueError(f"Expected unit={self.unit!r} as in the plan, got unit={unit!r}.")
        chosen: dict[str, Any] = {"adjacency": adjacency} if adjacency else {}
        stated = self.guarantee(accountant, delta=delta, **chosen)  # type: ignore[arg-type]
        if tuned := hasattr(tuning, "run"):
            stated = tuning.guarantee(delta=stated.delta, adjacency=stated.adjacency)
        _refuse(stated, parts["records"])
        proved = _proved(certificate, self.composed, stated) if certificate else ""
        if released != "every_step":
            stated = replace(stated, kind="upper", lower=0.0)
        values = {
            "Unit of privacy": parts["unit"],
            "Paid for by one epsilon": period,
            "Run": repr(self),
            "Sampling": " and ".join(SAMPLED[name] for name in self.samplings) or "none",
            "Tuning": repr(tuning) if tuned else TUNINGS[tuning],
            "Released": self.releases[released],
            "Trust": f"{trust}, trusting {parts['trusted']}: {TRUST[trust]}",
            "Computed": f"{date or datetime.date.today()}, by dplearn {version('dplearn-privacy')}",
        }
        return Statement(
            guarantee=stated,
            records=parts["records"],
            parts=values,
            true_positive_rate=_true_positive_rate(stated, None if tuned else self.composed),
            not_covered=(*_NOT_COVERED, *not_covered),
            certificate=certificate,
            proved=proved,
        )


def _require(parts: Mapping[str, Any], plan: HasGuarantee, date: Any, not_covered: Any) -> None:
    """Raise unless all parts are given and agree with the plan, and `date` is not in the future."""
    for name in ("unit", "period", "sampling", "released", "trust", "trusted", "certificate"):
        validate.instance(str, **{name: "" if parts[name] is None else parts[name]})
    if isinstance(not_covered, str) or not all(isinstance(each, str) for each in not_covered):
        raise TypeError(f"Expected not_covered to be a list of str, got {not_covered!r}.")
    if date is not None:
        validate.instance(datetime.date, date=date)
        if (today := datetime.date.today()).isoformat() < date.isoformat()[:10]:
            raise ValueError(f"Expected date not after today, {today}, got date={date}.")
    own = " and ".join(plan.samplings)
    for part, meaning in _PARTS.items():
        if parts[part] in (None, "") and (own or part != "sampling"):
            raise ValueError(f"Expected {part}, {meaning}, got nothing.")
    validate.probability(delta=parts["delta"])
    validate.integer(minimum=1, records=parts["records"])
    validate.one_of(tuple(plan.releases), released=parts["released"])
    validate.one_of(tuple(TRUST), trust=parts["trust"])
    if parts["trust"] == "local" and own != "none":
        got = f"{own or 'votes that are counted'}: who sees each report sees who took part"
        raise ValueError(f"Expected trust='local' of a plan with sampling='none' alone, got {got}.")
    if plan.units not in (None, records := parts["records"]):
        raise ValueError(f"Expected records={plan.units} as in the plan, got records={records}.")
    if not hasattr(parts["tuning"], "run"):
        validate.one_of(TUNINGS, tuning=parts["tuning"])
    elif parts["tuning"].run != plan.composed or parts["certificate"]:
        proof = "no certificate, which proves one run"
        raise ValueError(f"Expected tuning=Tuned(plan, ...) of this plan and {proof}; got another.")
    if parts["sampling"] not in ("", own):
        got = f"sampling={parts['sampling']!r}: state the plan of what was run"
        raise ValueError(f"Expected sampling={own!r} as in the plan, got {got}.")


def _refuse(stated: Guarantee, records: int) -> None:
    """Raise unless the guarantee is a finite bound with records * delta < 1."""
    if (victims := records * stated.delta) > 1 - 1e-9:  # 49 * (1 / 49) is less than 1 in doubles
        got = f"{records} * {stated.delta:g} = {victims:.4g}"
        cure = "so many may be published in full, on average; use a smaller delta"
        raise ValueError(f"Expected records * delta < 1, got {got}: {cure}.")
    if not stated.is_bound:
        raise ValueError(f"Expected an accountant that proves a bound, got {stated.method!r}.")
    if stated.epsilon == math.inf:
        raise ValueError(f"Expected a finite epsilon, got none: {stated.reason}.")


def _true_positive_rate(stated: Guarantee, composed: Composed | None) -> float:
    """Return an upper bound on any attack's true positive rate at 1 % false positives."""
    steep = math.exp(min(stated.epsilon, 700.0)) * _FALSE_ALARMS + stated.delta
    most = min(steep, 1 - math.exp(-stated.epsilon) * (1 - stated.delta - _FALSE_ALARMS), 1.0)
    with suppress(NotImplementedError):
        if composed is not None:
            at = {"false_positive_rate": _FALSE_ALARMS, "adjacency": stated.adjacency}
            most = min(most, float(PLD().true_positive_rate(composed, **at)[1]))
    return most


def _proved(certificate: str, composed: Composed, stated: Guarantee) -> str:
    """Return the sentence that a certificate proves; raise if it describes another run."""
    from dplearn.certificates import check

    proved = check(certificate)
    (mechanism, steps), *others = composed.parts()
    base = getattr(mechanism, "base", None)
    name = f"{mechanism.name}_{base.name}" if base else mechanism.name
    numbers = {**(vars(base) if base else {}), **vars(mechanism), "steps": steps}
    numbers |= {"delta": stated.delta, "mechanism": name, "adjacency": stated.adjacency}
    run = json.loads(certificate)["run"].items()
    wrong = [key for key, value in run if str(numbers.get(key)) != str(value)]
    if wrong or others:
        got = f"one of another {' and '.join(wrong)}"
        raise ValueError(f"Expected a certificate of this run, got {got}.")
    return proved
