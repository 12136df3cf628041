"""What can be taken along from the page of epsilon against T: code, numbers, certificates."""

import dataclasses
import itertools
from contextlib import redirect_stdout
from io import StringIO

import pytest
from scenarios import ABADI, CHUA_RUN
from streamlit.testing.v1 import AppTest

from cases import each
from dplearn.accountants import accountants
from dplearn.app.pages.epsilon_vs_steps import answers, export, fields
from dplearn.app.pages.epsilon_vs_steps.run import Scenario
from dplearn.certificates import certify, check
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.run import EPOCH_SAMPLINGS, SAMPLINGS, epoch, sampled
from explorer import downloads, errors, opened, traces


@pytest.fixture(scope="module")
def untouched() -> AppTest:
    return opened(colour="red")


RUNS = (
    {"accountants": "pld,rdp", "noise_multiplier": "2", "steps": "500", "here": "123"},
    {"mechanism": "laplace", "accountants": "basic,moments", "steps": "50", "here": "7"},
    {"sampling": "none", "accountants": "gdp,zcdp", "steps": "50", "here": "50"},
    {"accountants": "pld,rdp", "steps": "500", "here": "600", "then": "2, 0.02, 50; 1,1/50,99"},
    {"sampling": "shuffled", "adjacency": "zero_out", "sample_rate": "0.1"}
    | {"accountants": "rdp,zcdp", "steps": "50", "here": "15"},
)


def the_code_draws_the_same_numbers(app: AppTest) -> str:
    """What is to be taken along, once it was run."""
    code = app.code[0].value
    assert code.rstrip().endswith(".show()")
    lines = code.replace(".show()", "").replace("\nepsilon_curves(", "\nshown = epsilon_curves(")
    scope: dict = {}
    with redirect_stdout(StringIO()) as printed:
        exec(lines, scope)
    assert printed.getvalue().count("epsilon") == len(scope["names"])
    for trace in scope["shown"].data[:-3]:
        if trace.name == "certified":
            continue
        # PLD aims at 0.1 percent, and shares work between the steps it is asked for at once.
        assert list(trace.y) == pytest.approx(traces(app)[trace.name]["y"], rel=1e-3)
        assert list(trace.x) == traces(app)[trace.name]["x"]
    return code


@pytest.mark.slow
@each("address", RUNS)
def test_the_python_on_the_page_draws_the_same_numbers(address):
    the_code_draws_the_same_numbers(opened(**address))


@pytest.mark.slow
def test_a_mechanism_registered_on_the_fly_can_be_chosen_and_taken_along(registered):
    address = {"mechanism": registered.name, "noise_multiplier": "2", "steps": "50", "here": "7"}
    app = opened(**address, accountants="pld,rdp")
    assert app.selectbox(key="choice_mechanism").value == registered.name and not errors(app)
    code = the_code_draws_the_same_numbers(app)
    assert f"from {registered.__module__} import {registered.__name__}\n" in code
    expected = accountants["rdp"]().epsilon_curve(
        PoissonSubsampled(registered(2.0), 0.01), delta=1e-5, steps=[50]
    )
    assert traces(app)["RDP"]["y"][-1] == pytest.approx(expected[0].epsilon)


def test_the_csv_holds_every_number_of_the_picture():
    names = ("pld", "gdp")
    given = answers.answers_of(ABADI, names, 10_000, 2.0)
    lines = export.as_csv(given).splitlines()
    assert lines[0].split(",") == [*export.COLUMNS, *export.SETTING]
    assert {line.split(",", 8)[8] for line in lines[1:]} == {"gaussian,4.0,poisson,0.01,"}
    assert len(lines) == 1 + 2 * len(given.steps)
    ends = {tuple(r[:2]): r[2:4] for r in (line.split(",") for line in lines[1:])}
    found = answers.guarantee_at("pld", ABADI, 10_000)
    assert [float(end) for end in ends["pld", "10000"]] == [found.lower, found.epsilon]
    assert {line.split(",")[4] for line in lines if line.startswith("gdp")} == {"approximate"}
    shuffled = dataclasses.replace(ABADI, sampling="shuffled", adjacency="zero_out", largest=200)
    claim = export.as_csv(answers.answers_of(shuffled, ("pld",), 100, 2.0)).splitlines()[-1]
    assert claim.startswith(answers.CLAIM) and "approximate" in claim


def test_a_certificate_at_the_line_is_made_when_it_is_asked_for(untouched, monkeypatch):
    assert downloads(untouched) == ["Data as CSV", "Certificate"]
    given = answers.answers_of(dataclasses.replace(ABADI, largest=2000), ("rdp",), 1500, 2.0)
    proved = check(export.as_certificate(given))
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    truth = accountants["pld"]().epsilon(step, delta=1e-5, steps=1500)
    assert proved.startswith(f"proved: {truth.lower:.6f}") and "steps = 1500" in proved
    # Nothing leaks at delta = 0.9: what is asked for in vain is told in the file.
    vain = answers.answers_of(dataclasses.replace(ABADI, delta=0.9), ("rdp",), 1, 2.0)
    assert export.as_certificate(vain).startswith("no proof of this run was found")
    # Without python-flint the page opens, and says how to add it.
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    monkeypatch.setattr(export, "as_certificate", None)
    bare = opened(here="100")
    assert downloads(bare) == ["Data as CSV"]
    assert export.NO_FLINT in [caption.value for caption in bare.caption]


@pytest.mark.slow
def test_certificates_are_offered_where_a_proof_has_a_form():
    for mechanism, sampling in itertools.product(fields.mechanism().options, SAMPLINGS):
        rate = 1.0 if sampling == "none" else 0.01
        scenario = Scenario(mechanism, 4.0, sampling, rate, 1e-5, "add_remove", 100)
        step = sampled(scenario.base, sampling=sampling, sample_rate=rate)
        if export.no_certificate(scenario):
            with pytest.raises(NotImplementedError, match="a proof of"):
                certify(step, delta=1e-5)
        else:
            assert check(certify(step, delta=1e-5, steps=100)).startswith("proved: ")
    for sampling in EPOCH_SAMPLINGS:
        assert export.no_certificate(dataclasses.replace(CHUA_RUN, sampling=sampling))
        with pytest.raises(NotImplementedError, match="a proof of"):
            certify(epoch(Gaussian(0.5), sampling=sampling, sample_rate=0.01), delta=1e-5)
    assert downloads(opened(mechanism="laplace", steps="50", here="7")) == ["Data as CSV"]
