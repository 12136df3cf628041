"""Page epsilon against T: its inputs stay in the browser, the server replies on request."""

import re

import pytest
from playwright.sync_api import expect
from test_language import ENGLISH

from browsing import DRIVEN, dragged, page_at, settled
from dplearn.certificates import check

pytestmark = DRIVEN
EPSILON, SIGMA = ".dp-eps output", "b[data-drag=noise_multiplier]"
TEXTS = """() => [...document.querySelectorAll('.stMain *')].flatMap(node =>
  node.closest('style, script, code, .katex, small, td:first-child') ? []
  : [...node.childNodes].filter(child => child.nodeType === 3).map(child => child.textContent))"""


@pytest.fixture(scope="module")
def recorded(browser, address):
    """Open one page for all tests, and list the WebSocket frames that it sends to the server."""
    frames: list = []
    with page_at(browser, address) as page:
        sent = lambda socket: socket.on("framesent", lambda frame: frames.append(frame))
        page.on("websocket", sent)
        yield page, frames


@pytest.fixture
def page(recorded):
    """Return the page that all tests share; its URL sets the run."""
    return recorded[0]


def shown(page, address: str, query: str = "") -> None:
    page.goto(f"{address}/epsilon_vs_steps{query}")
    page.locator(".dp[data-drawn]").wait_for()
    settled(page)


def test_dragging_sends_no_request_and_the_library_confirms_epsilon_afterwards(recorded, address):
    page, sent = recorded
    shown(page, address)
    page.get_by_text("confirmed by the Python library").wait_for()
    before = page.locator(EPSILON).text_content()
    settled(page)
    count = len(sent)
    dragged(page, SIGMA, (-60, 0), held=True)
    expect(page.locator(EPSILON)).not_to_have_text(before)
    expect(page.get_by_text("confirmed by the Python library")).to_have_count(0)
    assert len(sent) == count
    page.mouse.up()
    page.wait_for_url("**#noise_multiplier=*")
    # After some seconds without a change, the page sends one request.
    page.get_by_text("confirmed by the Python library").wait_for()
    assert len(sent) == count + 1


def test_server_computes_epsilon_for_a_chosen_sampling_and_mechanism(page, address):
    shown(page, address, "#here=700")
    page.get_by_label("Batches").select_option("without_replacement")
    page.wait_for_url("**sampling=without_replacement&adjacency=replace_one*")
    page.get_by_label("Noise", exact=True).select_option("laplace")
    page.wait_for_url("**mechanism=laplace*")
    shown(page, address, "#sampling=shuffled&adjacency=zero_out&here=100&noise_multiplier=4")
    page.get_by_text("Most tools would report").wait_for()
    before = page.locator(EPSILON).text_content()
    dragged(page, SIGMA, (80, 0))
    page.wait_for_url(lambda url: "noise_multiplier" in url and "noise_multiplier=4&" not in url)
    expect(page.locator(EPSILON)).not_to_have_text(re.compile(rf"^({re.escape(before)}|\D*)$"))
    expect(page.locator(".dp-waits")).to_have_count(0)
    assert float(page.locator(EPSILON).text_content()) < float(before)


def test_run_survives_page_changes_and_the_back_button(page, address):
    shown(page, address, "#")
    expect(page.locator(EPSILON)).to_have_text("0.947")
    page.locator(SIGMA).press("ArrowUp")
    page.wait_for_url("**#noise_multiplier=4.1")
    page.get_by_role("link", name="Mechanisms").first.click()
    page.wait_for_url("**/mechanisms")
    settled(page)
    page.get_by_role("link", name="ε against T").first.click()
    page.wait_for_url("**#noise_multiplier=4.1")
    expect(page.locator(SIGMA)).to_have_text("4.1")
    page.go_back()
    page.wait_for_url("**/mechanisms*")
    settled(page)


def test_one_button_requests_certificate_and_privacy_statement(page, address, tmp_path):
    shown(page, address)
    page.get_by_role("button", name="Certificate and details").click()
    heading = page.locator(".st-key-details h3")
    heading.wait_for()
    page.wait_for_function(
        "document.querySelector('.st-key-details h3').getBoundingClientRect().y < innerHeight - 200"
    )
    with page.expect_download() as proof:
        page.get_by_role("button", name="Certificate", exact=True).click()
    proof.value.save_as(tmp_path / "certificate.json")
    assert check((tmp_path / "certificate.json").read_text()).startswith("proved: 0.94686")
    page.get_by_text("Say it in full").click()
    page.get_by_label("Unit: whose data?").wait_for()
    settled(page)


def test_chinese_page_has_no_english_and_all_pages_share_the_language(page, address):
    shown(page, address, "?language=zh")
    page.get_by_role("button", name="证书与细节").click()
    page.get_by_text("完整地说清楚").first.wait_for()
    settled(page)
    assert not [text for text in page.evaluate(TEXTS) if ENGLISH.search(text)]
    page.locator(SIGMA).press("ArrowUp")
    page.wait_for_url("**?language=zh#noise_multiplier=4.1")
    page.get_by_role("button", name="English").click()
    page.get_by_role("link", name="Formula book").first.wait_for()
    page.get_by_text("A model is trained").first.wait_for()
    expect(page.locator(SIGMA)).to_have_text("4.1")
