"""A real browser: the page loads, a slider moves the curve and the address, nothing leaks out."""

from browsing import DRIVEN, is_on_the_first_screen, settled

pytestmark = DRIVEN
PICTURES = {
    "Mechanisms": ".dp-five[data-drawn='1'] .dp-svg",
    "Check a formula": ".st-key-picture .js-plotly-plot",
    "Formula book": ".st-key-picture .js-plotly-plot",
}


def fits(page, name):
    """Raise unless a page that has settled has its title, and begins on the first screen."""
    assert page.title() == f"{name} · dplearn"
    assert is_on_the_first_screen(page, PICTURES[name]), name
    menu = page.get_by_role("link", name=name).bounding_box()
    first = page.get_by_test_id("stMainBlockContainer").locator("p").first.bounding_box()
    assert first["y"] >= menu["y"] + menu["height"], f"{name} begins below the menu"


def test_a_wrong_variant_and_a_tab_open_at_a_click_and_are_in_the_address(page, address):
    page.goto(address)
    # A link that is clicked while the first page is being made leads nowhere.
    settled(page)
    page.get_by_role("link", name="Formula book").click()
    page.locator(PICTURES["Formula book"]).wait_for()
    fits(page, "Formula book")
    page.locator(".st-key-found").get_by_text("G-A4").click()
    headline = page.locator(".st-key-picture .gtitle")
    # The picture of the first formula may stand until this one has come.
    mine = page.locator(".st-key-picture [aria-label*='G-A4']")
    mine.get_by_text("Right at all 33 points").wait_for()
    page.get_by_text("no root").click()
    page.get_by_text("Claims more privacy than there is").wait_for()
    headline.get_by_text("Wrong at").wait_for()
    page.wait_for_url("**misprint=no-root**")
    page.get_by_role("tab", name="Published figures").click()
    page.get_by_text("within one percent").first.wait_for()
    page.wait_for_url("**view=figures**")


SLIPS = b"""Noise.

If it is $(\\alpha, \\tau)$-RDP, then $\\varepsilon = \\tau + \\ln(1/\\delta)/\\alpha - 1$.
"""


def test_a_refused_claim_has_no_map_and_a_dropped_page_is_listed(page, address):
    page.goto(f"{address}/check_a_claim")
    page.locator(PICTURES["Check a formula"]).wait_for()
    fits(page, "Check a formula")
    box = page.locator(".st-key-box_claim input")
    box.fill("sqrt(2*ln(1.25/delta))/")
    box.press("Enter")
    page.get_by_text("Not read.").wait_for()
    notes = {"name": "notes.md", "mimeType": "text/markdown", "buffer": SLIPS}
    page.locator("[data-testid=stFileUploader] input").set_input_files(notes)
    page.get_by_text("The denominator is alpha - 1: the bracket was lost in print.").wait_for()
    assert page.get_by_text("1 formulas make a claim, 1 are listed.").is_visible()
    assert not page.locator(PICTURES["Check a formula"]).count()


def test_a_page_opened_at_its_address_finds_the_server_at_once_and_has_one_heading(page, address):
    # Whatever is asked for in vain is an error on the console, which `page` does not take.
    page.goto(f"{address}/mechanisms")
    page.locator(PICTURES["Mechanisms"]).wait_for()
    fits(page, "Mechanisms")
    assert page.get_by_role("heading", level=1).all_inner_texts() == ["Mechanisms"]
    link = page.get_by_role("link", name="Check a formula")
    link.focus()
    assert link.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"


def test_an_address_with_too_many_parts_leads_to_the_first_page(browser, address):
    lost = browser.new_page()
    lost.goto(f"{address}/a/b/c")
    lost.get_by_text("Page not found").wait_for()
    lost.locator(".dp[data-drawn]").wait_for()
    assert lost.url == f"{address}/"
    lost.close()
