"""Menu and server-drawn pages in Chromium."""

from playwright.sync_api import expect

from browsing import DRIVEN, SCREEN, dragged, settled

pytestmark = DRIVEN
PICTURES = {
    "Mechanisms": ".dp-five[data-drawn='1'] .dp-svg",
    "Check a formula": ".st-key-picture_box .js-plotly-plot",
    "Formula book": ".st-key-picture_box .js-plotly-plot",
}
# Positions of the menu's links.
LINKS = """[...document.querySelectorAll('.st-key-menu a')].map(a => {
  const { x, y } = a.getBoundingClientRect(); return [Math.round(x), Math.round(y)]; })"""


def test_menu_has_the_same_position_on_all_pages(page, address):
    page.goto(address)
    page.locator(".dm[data-drawn]").wait_for()
    settled(page)
    before = page.evaluate(LINKS)
    assert len(before) == 6
    for name, picture in PICTURES.items():
        page.get_by_role("link", name=name).click()
        # Two pages have the same selector for their picture, so wait for the title, too.
        expect(page).to_have_title(f"{name} · dplearn")
        expect(page.get_by_role("heading", level=1)).to_have_text([name])
        page.locator(picture).wait_for()
        settled(page)
        assert page.evaluate(LINKS) == before


def test_address_of_a_run_opens_the_page_of_epsilon_against_t(page, address):
    page.goto(f"{address}/?noise_multiplier=2&here=500")
    page.locator(".dp[data-drawn]").wait_for()
    page.wait_for_url("**/epsilon_vs_steps#noise_multiplier=2&here=500")


def test_arrow_keys_and_typing_change_the_numbers_of_a_formula(page, address):
    page.goto(f"{address}/formula_book?id=G-A8&scale=2")
    page.locator(PICTURES["Formula book"]).wait_for()
    settled(page)
    number = page.locator("b[data-drag=scale]")
    expect(number).to_have_text("2")
    number.press("ArrowUp")
    page.wait_for_url("**scale=2.1**")
    number.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type("1,5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("a number from")
    page.keyboard.press("Control+a")
    page.keyboard.type("1.5")
    page.keyboard.press("Enter")
    page.wait_for_url("**scale=1.5**")
    settled(page)
    page.go_back()
    page.wait_for_url("**scale=2.1**")
    page.wait_for_function("document.querySelector('b[data-drag=scale]').textContent === '2.1'")


def test_unreadable_claims_have_no_map(page, address):
    page.goto(f"{address}/check_a_claim")
    page.locator(PICTURES["Check a formula"]).wait_for()
    settled(page)
    box = page.locator(PICTURES["Check a formula"]).bounding_box()
    assert box["y"] + box["height"] <= SCREEN["height"]
    box = page.locator(".st-key-claim input")
    box.fill("sqrt(2*ln(1.25/delta))/")
    box.press("Enter")
    page.get_by_text("Not read.").wait_for()
    expect(page.locator(PICTURES["Check a formula"])).to_have_count(0)
    box.fill("ε = ρ + 2√(ρ ln(1/δ))")
    box.press("Enter")
    page.get_by_text("Holds.").wait_for()


def test_dragging_sends_no_request_and_a_new_mechanism_sends_one(page, address):
    sent: list = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda m: sent.append(m)))
    page.goto(f"{address}/mechanisms?mechanism=laplace&epsilon=0.5")
    page.locator(PICTURES["Mechanisms"]).wait_for()
    settled(page)
    first, before = len(sent), page.locator(".dp-eps output").text_content()
    numbers = "b[data-drag=noise_multiplier]", "b[data-drag=epsilon]"
    for place in (*numbers, ".dp-at-tradeoff .dp-area"):
        dragged(page, place, (30, 0))
    page.locator("b[data-drag=order]").press("ArrowUp")
    page.wait_for_url("**order=*")
    expect(page.locator(".dp-eps output")).not_to_have_text(before)
    settled(page)
    assert len(sent) == first, "a move is no question"
    # The browser keeps the table of a mechanism, so a second visit sends no request.
    for name in ("discrete_gaussian", "geometric", "discrete_gaussian"):
        page.locator("select[name=mechanism]").select_option(name)
        page.wait_for_url(f"**mechanism={name}*")
        expect(page.locator(".dp-le")).to_have_text("=" if name == "geometric" else "≤")
        page.locator(PICTURES["Mechanisms"]).wait_for()
        settled(page)
    assert len(sent) == first + 1
