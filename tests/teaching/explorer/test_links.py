"""Links between pages: verdict to entry, entry to claim and run, theorem to entry."""

from urllib.parse import parse_qsl

import pytest
from scenarios import ABADI

from cases import each
from dplearn.accountants import ACCOUNTANTS
from dplearn.teaching.book import book
from dplearn.teaching.claims import proofread
from dplearn.teaching.explorer import navigation
from dplearn.teaching.explorer.kit import links
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import Answers
from dplearn.teaching.explorer.pages.formula_book import draw
from explorer import opened, page_at, start, words

SAID = [id for id, entry in book.items() if entry.settings]


def state_at(link: str):
    """The page that a link leads to, in the state of its address."""
    path, _, query = link.partition("?")
    address = dict(parse_qsl(query, strict_parsing=True))
    state = start(page_at(path.replace(".", "")), address)
    state.read(address)
    assert set(address) <= set(state.fields) and not state.notes, (link, state.notes)
    return state


@each("id", SAID)
def test_an_entry_leads_to_its_claim_and_is_not_refuted_there(id):
    at = state_at(draw.claim_address(id)).values
    assert proofread(at["claim"], words=at["words"]).verdict != "refuted", id


def test_where_nothing_can_be_typed_and_no_run_is_described_there_is_no_link():
    assert (
        draw.claim_address("G-A1") == draw.run_address({"noise_multiplier": 1.0, "steps": 3}) == ""
    )


@pytest.mark.slow
def test_a_verdict_names_an_entry_as_a_link():
    link = "([G-B4](formula_book?id=G-B4&misprint=none), Dwork & Roth (2014), Theorem A.1)"
    assert link in words(opened("check_a_claim"))
    assert links.entry_link("G-B4/no-two") == "[G-B4/no-two](formula_book?id=G-B4&misprint=no-two)"
    assert state_at("formula_book?id=G-B4&misprint=no-two").values["misprint"] == "no-two"


@pytest.mark.slow
def test_an_entry_shows_where_it_leads_and_a_wrong_variant_too():
    text = words(opened("formula_book", id="G-B4", misprint="no-two"))
    assert f"({draw.claim_address('G-B4')})" in text
    assert f"({draw.claim_address('G-B4', 'no-two')})" in text and "All accountants" not in text
    text = words(opened("formula_book", id="G-F2", sample_rate="0.02", steps="700"))
    link = text.partition("[All accountants on this run](")[2].partition(")")[0]
    path, _, query = link.partition("?")
    values = dict(parse_qsl(query, strict_parsing=True))
    assert page_at(path.replace(".", "")) is navigation.modules()[0]
    assert (values["sample_rate"], values["here"]) == ("0.02", "700")


@pytest.mark.parametrize(("name", "id"), [("rdp", "G-D2"), ("optimal", "G-C4b"), ("pld", "")])
def test_a_theorem_leads_to_the_entry_whose_function_it_uses(name, id):
    entries = links.entries_of(ACCOUNTANTS[name])
    assert entries == (links.entry_link(id) if id else "")
    app = opened("epsilon_vs_steps")
    app.session_state["epsilon_details"] = Answers(ABADI, 10, (name,), 1)
    app.session_state["theorems"] = True
    assert ("; in the formula book: " + entries in words(app.run())) == bool(id)
