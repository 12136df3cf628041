"""The minute in the explorer: a server shows it."""

import pytest
from playwright.sync_api import expect

from browsing import SCREEN, settled


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_the_minute_is_a_page_of_the_menu_and_asks_the_server_for_nothing(page, address):
    sent: list = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda m: sent.append(m)))
    page.goto(f"{address}/?language=zh")
    page.locator(".dm[lang=zh][data-drawn='1']").wait_for()
    settled(page, "one_minute")
    assert page.evaluate("document.querySelector('.stMain').scrollHeight") <= SCREEN["height"]
    asked = len(sent)
    for number in range(2, 5):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".dm")).to_have_attribute("data-scene", str(number))
    page.locator("[data-do=full]").click()
    page.wait_for_function("document.fullscreenElement")
    expect(page.locator(".dm-text")).to_contain_text("10.99")
    assert len(sent) == asked
