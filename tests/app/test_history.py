"""Back and forward between pages, in a real browser: every stop shows what its address names."""

from browsing import DRIVEN, settled

pytestmark = DRIVEN
# The addresses that lie behind, as the browser keeps them.
_STOPS = """
const { pushState, replaceState } = history;
window.stops = [];
history.pushState = function (...told) { stops.push(told[2]); pushState.apply(this, told); };
history.replaceState = function (...told) {
  stops.splice(-1, 1, told[2]); replaceState.apply(this, told);
};"""


def test_back_after_the_menu_keeps_the_run_and_leads_on(page, address):
    page.add_init_script(_STOPS)
    page.goto(address)
    settled(page)
    box = page.get_by_role("textbox", name="Noise multiplier σ")
    box.fill("6")
    box.press("Enter")
    page.wait_for_url("**/?noise_multiplier=6")
    # A slow browser is late with the path of a page, and has its query before that.
    slow = page.context.new_cdp_session(page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 8})
    for _ in range(2):
        page.get_by_role("link", name="Mechanisms").first.click()
        page.wait_for_url("**/mechanisms")
        settled(page)
        page.get_by_role("link", name="ε against T").first.click()
        page.wait_for_url("**/?noise_multiplier=6")
        settled(page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    assert {*page.evaluate("stops")} <= {"/mechanisms", "/", "/?noise_multiplier=6"}
    page.go_back()
    settled(page)
    # Where the path came first there is a stop between, which shows the run all the same.
    if "/mechanisms" not in page.url:
        assert page.evaluate("location.search") == "" and box.input_value() == "6"
        page.go_back()
    page.wait_for_url("**/mechanisms")
