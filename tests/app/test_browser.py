"""A real browser: the page loads, a slider moves the curve and the address, nothing leaks out."""

import json
import re

import pytest

from browsing import DRIVEN, is_on_the_first_screen, settled
from dplearn.accountants import accountants
from dplearn.certificates import check
from dplearn.figures import text
from dplearn.mechanisms import Gaussian, PoissonSubsampled

pytestmark = DRIVEN
_FIRST, _SECOND = ".st-key-picture", ".st-key-picture_looseness"
_CURVE = """([picture, name]) => {
  const plot = document.querySelector(picture + ' .js-plotly-plot');
  const trace = plot && plot.data && plot.data.find(t => t.name === name);
  return trace ? JSON.stringify(Array.from(trace.y)) : null;
}"""


def curve(page, name: str = "PLD", picture: str = _FIRST) -> list[float]:
    return json.loads(page.wait_for_function(_CURVE, arg=[picture, name]).json_value())


def curve_other_than(page, old: list[float]) -> list[float]:
    page.wait_for_function(
        f"([at, old]) => {{ const now = ({_CURVE})(at); return now && now !== old; }}",
        arg=[[_FIRST, "PLD"], json.dumps(old, separators=(",", ":"))],
    )
    return curve(page)


def test_the_page_loads_and_everything_on_it_can_be_taken_along(page, address, tmp_path):
    page.goto(address)
    values = curve(page)
    assert len(values) > 40 and values == sorted(values)
    page.get_by_text("After 10\u202f000 steps (100 epochs)").wait_for()
    settled(page, "explorer")
    assert is_on_the_first_screen(page, ".st-key-picture .js-plotly-plot")
    assert is_on_the_first_screen(page, ".st-key-picture_looseness .gtitle")

    with page.expect_download() as data:
        page.get_by_role("button", name="Data as CSV").click()
    data.value.save_as(tmp_path / "epsilon.csv")
    assert (tmp_path / "epsilon.csv").read_text().startswith("method,steps,lower,epsilon")
    with page.expect_download() as proof:
        page.get_by_role("button", name="Certificate").click()
    proof.value.save_as(tmp_path / "certificate.json")
    assert check((tmp_path / "certificate.json").read_text()).startswith("proved: 0.94686")
    with page.expect_download() as picture:
        page.locator(".st-key-picture .modebar-btn[data-title*='lot']").first.click()
    assert picture.value.suggested_filename == "epsilon_vs_steps.svg"
    picture.value.save_as(tmp_path / "picture.svg")
    assert "bounds on ε" in (tmp_path / "picture.svg").read_text()


def test_an_attackers_rate_follows_the_hand(page, address):
    page.goto(f"{address}/?here=14063&steps=14063&noise_multiplier=1.1&sample_rate=256/60000")
    law = accountants["pld"]()

    def told(noise: float) -> str:
        step = PoissonSubsampled(Gaussian(noise), sample_rate=256 / 60_000)
        rate = law.true_positive_rate(step, false_positive_rate=0.01, steps=14_063)[1]
        return f"finds {text.bound(100 * rate)} % of the members"

    page.get_by_text(told(1.1)).wait_for()
    settled(page)
    held = Held(page, "Noise multiplier σ")
    held.to(held.start + 2)
    page.get_by_text(told(1.3)).wait_for()
    page.mouse.up()
    page.wait_for_url("**noise_multiplier=1.3**")
    settled(page)
    page.get_by_text(told(1.3)).wait_for()
    # What the browser has no engine for is not told of.
    page.goto(f"{address}/?mechanism=laplace&steps=50&here=7")
    settled(page)
    assert not page.get_by_text("An attacker").is_visible()


def test_slider_and_box_move_each_other_the_curve_and_the_address(page, address):
    page.goto(address)
    before = curve(page)
    slider = page.get_by_role("slider", name="Noise multiplier σ")
    assert slider.get_attribute("aria-valuetext") == "4"
    slider.focus()
    page.keyboard.press("ArrowRight")
    after = curve_other_than(page, before)
    assert after[-1] < before[-1]
    page.wait_for_url("**noise_multiplier=4.5")
    box = page.get_by_role("textbox", name="Noise multiplier σ")
    assert box.input_value() == "4.5"
    page.go_back()
    assert curve_other_than(page, after) == before
    box.fill("1.1")
    box.press("Enter")
    assert curve_other_than(page, before)[-1] > before[-1]
    page.wait_for_function(
        "e => e.getAttribute('aria-valuetext') === '1.1'", arg=slider.element_handle()
    )


# Where marks, names and ends of lines stand in a picture, in pixels, and all of its words.
_DRAWN = """picture => {
  const at = document.querySelector(picture);
  const shown = node => getComputedStyle(node).visibility === 'visible'
    && node.getAttribute('display') !== 'none';
  const numbers = (query, name, last) => [...at.querySelectorAll(query)].filter(shown).flatMap(
    node => node.getAttribute(name).match(/[-\\d.e]+/g).slice(-last).map(Number));
  const words = [...at.querySelectorAll('.annotation-text, .ytick text, .xtick text')];
  return {
    places: [...numbers('.point, .annotation .cursor-pointer', 'transform', 2),
             ...numbers('.js-line', 'd', 2)],
    words: words.map(node => node.textContent).join(' | '),
  };
}"""


def drawn(page) -> list[dict]:
    return [page.evaluate(_DRAWN, picture) for picture in (_FIRST, _SECOND)]


def differences(new: list[dict], old: list[dict]) -> list:
    """Where two states of the pictures differ by a pixel, or by more than a draft's last digit."""

    def parts(words: str) -> tuple[str, list[float]]:
        numbers = re.findall(r"\d+(?:\.\d+)?", words.replace("\u202f", ""))
        return re.sub(r"[\d.\u202f]+", "#", words), [float(number) for number in numbers]

    found: list = []
    for now, then in zip(new, old, strict=True):
        (text, numbers), (other, expected) = parts(now["words"]), parts(then["words"])
        pixels = [*now["places"]], [*then["places"]]
        found += [] if text == other and len(pixels[0]) == len(pixels[1]) else [(text, other)]
        found += [pair for pair in zip(*pixels, strict=False) if abs(pair[0] - pair[1]) > 1.5]
        pairs = zip(numbers, expected, strict=False)
        found += [(a, b) for a, b in pairs if a != pytest.approx(b, rel=2.5e-3)]
    return found


class Held:
    """A slider that the mouse has taken hold of."""

    def __init__(self, page, name: str) -> None:
        self.page, self.slider = page, page.get_by_role("slider", name=name)
        self.box, self.last = self.slider.bounding_box(), int(self.slider.get_attribute("max"))
        self.start = int(self.slider.input_value())
        self._point(self.start)
        page.mouse.down()

    def _point(self, mark: int) -> None:
        thumb, box = 16, self.box
        x = box["x"] + thumb / 2 + (box["width"] - thumb) * mark / self.last
        self.page.mouse.move(x, box["y"] + box["height"] / 2)

    def to(self, mark: int) -> list[dict]:
        """What the pictures show once it stands at a mark."""
        self._point(mark)
        handle, two = self.slider.element_handle(), "requestAnimationFrame(() => f(go))"
        self.page.evaluate(f"new Promise(go => {{ const f = requestAnimationFrame; {two}; }})")
        assert handle.input_value() == str(mark)
        return drawn(self.page)


HELD = (
    "Noise multiplier σ",
    "Additive slack δ",
    "Largest T",
    "You are here: T",
    "Budget ε",
)


def test_a_held_slider_draws_in_the_browser_and_asks_the_server_once(page, address):
    sent: list = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda m: sent.append(m)))
    page.goto(address)
    finding = page.locator(f"{_SECOND} .gtitle")
    finding.get_by_text("RDP asks for 9.4 % more ε than needed").wait_for()
    settled(page)
    first, second = (page.locator(f"{at} .nsewdrag").first for at in (_FIRST, _SECOND))
    assert abs(first.bounding_box()["x"] - second.bounding_box()["x"]) < 1, "T is below T"
    plots = page.locator(".js-plotly-plot")
    boxes = [plots.nth(i).bounding_box() for i in range(2)]
    for name in HELD:
        before, asked = drawn(page), len(sent)
        held = Held(page, name)
        # So far that the axes must follow, and back: all is where Plotly itself has put it.
        for mark in (0, held.last):
            assert differences(held.to(mark), before), name
        assert not differences(held.to(held.start), before), name
        assert len(sent) == asked, f"{name} asked the server while it was held"
        page.mouse.up()
        page.wait_for_function("!document.body.classList.contains('dplearn-moving')")
        settled(page)
        assert len(sent) == asked + 1 and not differences(drawn(page), before), name
    assert [plots.nth(i).bounding_box() for i in range(2)] == boxes


def test_what_the_hand_leaves_is_what_the_server_says(page, address):
    page.goto(address)
    settled(page)
    held = Held(page, "Noise multiplier σ")
    left = held.to(held.start - 2)[0]["words"]
    assert "noise_multiplier" not in page.url
    page.mouse.up()
    page.wait_for_url("**noise_multiplier=3*")
    page.wait_for_function("!document.body.classList.contains('dplearn-moving')")
    settled(page)
    value = re.compile(r"★ ([\d.]+) PLD")
    assert float(value.findall(left)[0]) == pytest.approx(
        float(value.findall(drawn(page)[0]["words"])[0]), rel=2.5e-3
    )
    assert page.get_by_test_id("stAlert").count() == 0
    page.get_by_role("slider", name="You are here: T").focus()
    page.keyboard.press("ArrowLeft")
    page.locator(f"{_SECOND} .gtitle").get_by_text("At T = 8").wait_for()


def test_a_pinned_run_stays_where_it_is_while_another_follows_the_hand(page, address):
    page.goto(f"{address}/?accountants=rdp,pld&pinned=noise_multiplier%3D2")
    ghost = curve(page, "RDP, pinned")
    settled(page, "pinned")
    line = "document.querySelector('.st-key-picture .js-line').getAttribute('d').split(',').at(-1)"
    before, after = page.evaluate(line), curve(page, "RDP")
    assert ghost[-1] > after[-1]
    held = Held(page, "Noise multiplier σ")
    held.to(held.start + 2)
    assert float(page.evaluate(line)) == pytest.approx(float(before), abs=1)
    page.mouse.up()
    page.get_by_text("Compared with the pinned run").wait_for()


def test_what_the_library_does_not_confirm_is_shown(page, address):
    page.goto(address)
    curve(page)
    settled(page)
    page.evaluate("""addEventListener('dplearn:slide', ({detail: {drawn}}) => {
      drawn.curves.rdp.upper = drawn.curves.rdp.upper.map(value => 0.99 * value);
    })""")
    page.get_by_role("slider", name="Noise multiplier σ").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("The browser drew RDP at ε = ").wait_for()
    assert page.get_by_text("The browser drew").count() == 1


def test_where_the_browser_has_no_engine_the_server_follows_a_held_slider(page, address):
    page.goto(f"{address}/?mechanism=laplace&accountants=rdp,pld&steps=50&here=7")
    before = curve(page)
    held = Held(page, "Noise multiplier σ")
    held.to(held.start + 4)
    after = curve_other_than(page, before)
    assert after[-1] < before[-1] and "noise_multiplier" not in page.url
    page.mouse.up()
    page.wait_for_url("**noise_multiplier=*")


PICTURES = {
    "Mechanisms": ".dp-five[data-drawn='1'] .dp-svg",
    "Check a claim": ".st-key-picture .js-plotly-plot",
    "Formula book": ".st-key-picture .js-plotly-plot",
}


def test_the_menu_leads_to_pages_that_fit_the_first_screen(page, address):
    page.goto(address)
    # A link that is clicked while the first page is being made leads nowhere.
    settled(page)
    for name, picture in PICTURES.items():
        link = page.get_by_role("link", name=name)
        link.click()
        page.locator(picture).wait_for()
        settled(page, name)
        page.wait_for_function("name => document.title === `${name} · dplearn`", arg=name)
        assert is_on_the_first_screen(page, picture), name
        words = page.get_by_test_id("stMainBlockContainer").locator("p").first
        menu, first = (part.bounding_box() for part in (link, words))
        assert first["y"] >= menu["y"] + menu["height"], f"{name} begins below the menu"


def test_a_wrong_variant_and_a_tab_open_at_a_click_and_are_in_the_address(page, address):
    page.goto(address)
    settled(page)
    page.get_by_role("link", name="Formula book").click()
    page.locator(".st-key-found").get_by_text("G-A4").click()
    headline = page.locator(".st-key-picture .gtitle")
    headline.get_by_text("Right at all 33 points").wait_for()
    page.get_by_text("no root").click()
    page.get_by_text("Claims more privacy than there is").wait_for()
    headline.get_by_text("Wrong at").wait_for()
    page.wait_for_url("**misprint=no-root**")
    page.get_by_role("tab", name="Published figures").click()
    page.get_by_text("within one percent").first.wait_for()
    page.wait_for_url("**view=figures**")


def test_a_page_opened_at_its_address_finds_the_server_at_once_and_has_one_heading(page, address):
    # Whatever is asked for in vain is an error on the console, which `page` does not take.
    page.goto(f"{address}/mechanisms")
    page.locator(PICTURES["Mechanisms"]).wait_for()
    settled(page)
    assert page.get_by_role("heading", level=1).all_inner_texts() == ["Mechanisms"]
    link = page.get_by_role("link", name="Train")
    link.focus()
    assert link.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"


def test_an_address_with_too_many_parts_leads_to_the_first_page(browser, address):
    lost = browser.new_page()
    lost.goto(f"{address}/a/b/c")
    lost.get_by_text("Page not found").wait_for()
    lost.locator(f"{_FIRST} .js-plotly-plot").wait_for(state="attached")
    assert lost.url == f"{address}/"
    lost.close()


# The one of two frames that is to be seen.
_RUN = """[...document.querySelectorAll('.st-key-picture .js-plotly-plot:has(.gtitle)')]
  .find(plot => plot.checkVisibility({visibilityProperty: true}))"""
_TITLE = f"({_RUN}?.querySelector('.gtitle')?.textContent ?? '')"


def test_a_run_is_trained_and_another_is_stopped(page, address):
    page.goto(address)
    curve(page)
    page.get_by_role("link", name="Train").click()
    train = page.get_by_role("button", name="Train", exact=True)
    train.click()
    page.wait_for_function(f"() => {_TITLE}.endsWith('without privacy')")
    train.wait_for()
    settled(page, "train")
    assert page.evaluate(f"{_RUN}.data[1].y.at(-1)") > 90
    box = page.evaluate(f"{_RUN}.getBoundingClientRect().toJSON()")
    assert box["bottom"] <= 900 and box["width"] > 900, "the first screen shows the whole picture"
    train.click()
    page.get_by_role("button", name="Stop").click()
    page.wait_for_function(f"() => {_TITLE}.startsWith('Stopped')")
    train.wait_for()
