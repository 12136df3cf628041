"""A real browser on the first page: what a newcomer sees, and what a class sees on the wall."""

import re

import pytest
from test_browser import PICTURES, curve
from test_language import ENGLISH

from browsing import DRIVEN, settled

pytestmark = DRIVEN


# Every text that is to be seen on the first screen.
_SEEN = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = [];
  const range = document.createRange(), shown = { opacityProperty: true, visibilityProperty: true };
  while (walk.nextNode()) {
    range.selectNodeContents(walk.currentNode);
    const box = range.getBoundingClientRect();
    const parent = walk.currentNode.parentElement;
    // Some is only to be heard, such as a formula's other copy.
    const heard = getComputedStyle(parent).clip !== 'auto' || parent.closest('.katex-mathml');
    const seen = box.top < innerHeight && box.width > 2 && box.height > 2;
    if (seen && !heard && parent.checkVisibility(shown))
      texts.push(walk.currentNode.textContent.trim());
  }
  return texts;
}"""


def test_the_first_screen_says_little_and_has_three_doors(page, address):
    page.goto(address)
    curve(page)
    page.get_by_text("An attacker").wait_for()
    settled(page, "first_screen")
    words = [w for text in page.evaluate(_SEEN) for w in text.split() if re.search("[^\\W\\d]", w)]
    assert 80 < len(words) < 125, f"{len(words)} words: {' '.join(words)}"
    page.get_by_role("link", name="I have a run").click()
    in_box = "key => document.activeElement === document.querySelector(`.st-key-box_${key} input`)"
    page.wait_for_function(in_box, arg="noise_multiplier")
    page.get_by_role("link", name="I have a budget").click()
    page.wait_for_function(in_box, arg="budget")
    page.get_by_role("link", name="I have a formula").click()
    page.wait_for_url("**/check_a_claim")
    page.locator(PICTURES["Check a claim"]).wait_for()
    settled(page)


# All that can be read anywhere on the page, in its components too, but in these places.
_TEXTS = """places => {
  const texts = [];
  const look = (root) => root.querySelectorAll('*').forEach((node) => {
    if (node.shadowRoot) look(node.shadowRoot);
    if (node.closest(`style, script, noscript, ${places}`)) return;
    for (const child of node.childNodes)
      if (child.nodeType === Node.TEXT_NODE) texts.push(child.textContent);
  });
  look(document.body);
  return texts;
}"""


# The names beside the curves that are to be seen.
_NAMED = """() => [...document.querySelectorAll('.st-key-picture .annotation-text')]
  .filter(node => node.getBoundingClientRect().width).map(node => node.textContent).join(' ')"""


def level_guess(page) -> float:
    """Draw a level line through the middle of the picture; returns the epsilon of its height."""
    page.get_by_text("Draw your guess: ε after 1 to 40").wait_for()
    ground = page.locator(".st-key-picture .nsewdrag").first.bounding_box()
    at = lambda x, y: (ground["x"] + x * ground["width"], ground["y"] + y * ground["height"])
    page.mouse.move(*at(0.01, 0.5))
    page.mouse.down()
    page.mouse.move(*at(0.99, 0.5), steps=20)
    page.mouse.up()
    # Under the pointer, which crosses the hidden curves, no label tells the answer.
    for share in range(11):
        page.mouse.move(*at(0.7, share / 10))
        assert not page.locator(".hovertext").locator("visible=true").count()
    assert page.locator(".dplearn-guess").get_attribute("d").count(",") > 10
    axis = page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout.yaxis.range")
    return 10 ** (sum(axis) / 2)


def test_a_presentation_asks_for_a_guess_and_shows_one_curve_after_the_other(page, address):
    sent: list = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda m: sent.append(m)))
    page.goto(f"{address}/?delta=1e-6")
    curve(page)
    settled(page)
    # The key is heard once the component's script has run.
    page.locator(".st-key-present small[hidden]").wait_for(state="attached")
    page.keyboard.press("p")
    page.wait_for_url("**present=1")
    page.get_by_text("any probability, by at most").last.wait_for()
    settled(page)
    assert not page.get_by_role("slider", name="Noise multiplier σ").is_visible()
    width = "document.querySelector('.st-key-picture .main-svg').getBoundingClientRect().right"
    assert page.evaluate(f"{width} <= innerWidth")
    named = lambda: [n for n in ("PLD", "RDP", "Optimal") if n in page.evaluate(_NAMED)]
    asked = len(sent)
    assert named() == []
    page.keyboard.press("ArrowRight")
    middle = level_guess(page)
    page.keyboard.press("ArrowRight")
    words = page.get_by_text(re.compile(r"you drew ε = "))
    drawn = float(re.search(r"drew ε = ([\d.]+)\.", words.inner_text())[1])
    assert drawn == pytest.approx(middle, rel=0.1) and named() == ["PLD"]
    page.keyboard.press("ArrowRight")
    assert named() == ["PLD", "RDP"]
    page.keyboard.press("PageDown")
    assert named() == ["PLD", "RDP", "Optimal"]
    page.keyboard.press("ArrowLeft")
    assert named() == ["PLD", "RDP"]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    code = page.get_by_role("figure", name=address)
    told = code.inner_text()
    assert told.startswith(f"{address}?delta=1e-6 leads others nowhere")
    assert code.get_by_role("img").is_visible()
    assert len(sent) == asked, "the server was asked while arrows were pressed"
    settled(page, "presentation")
    page.keyboard.press("p")
    page.get_by_role("slider", name="Noise multiplier σ").wait_for()
    assert "present" not in page.url and named() == ["PLD", "RDP", "Optimal"]


def test_in_chinese_no_english_is_left_and_a_held_slider_adds_none(page, address):
    page.goto(f"{address}/?language=zh&accountants=moments,pld,rdp")
    curve(page)
    page.get_by_text("误报率为 1 % 的攻击者").wait_for()
    settled(page, "chinese")
    assert not english(page)
    page.get_by_role("slider", name="噪声乘子 σ").focus()
    page.keyboard.down("ArrowRight")
    page.wait_for_function("document.body.classList.contains('dplearn-moving')")
    assert not english(page)
    page.keyboard.up("ArrowRight")
    page.wait_for_url("**noise_multiplier=*")
    settled(page)
    assert "language=zh" in page.url and not english(page)
    page.get_by_role("link", name="公式手册").first.click()
    page.wait_for_url("**/formula_book*")
    settled(page)
    page.get_by_role("link", name="ε 随 T 的变化").first.click()
    page.get_by_role("button", name="English").click()
    page.get_by_role("link", name="Formula book").first.wait_for()
    settled(page)


def english(page) -> list[str]:
    """Three English words in a row anywhere on the page, but in code, formulas and sources."""
    texts = page.evaluate(_TEXTS, "code, .katex, small, [data-testid=stTable] td:first-child")
    # A link of Streamlit's own, for those who go by the keyboard.
    return [t for t in texts if ENGLISH.search(t) and t != "Skip to main content"]
