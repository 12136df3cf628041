"""The minute in the explorer: whom it tells how to reach it, and that a server shows it."""

import pytest
from streamlit import config, net_util

from browsing import SCREEN, settled
from dplearn.teaching.explorer.pages import one_minute

IP = "192.168.1.7"


@pytest.mark.parametrize(
    ("listens", "hosts", "reached"),
    [
        ("127.0.0.1", ["localhost"], False),
        ("0.0.0.0", ["localhost"], False),
        ("0.0.0.0", ["localhost", IP], True),
        ("0.0.0.0", ["*"], True),
        (IP, [], True),
        ("", [], True),
    ],
)
def test_the_room_is_told_an_address_only_where_it_leads_here(monkeypatch, listens, hosts, reached):
    options = {"server.address": listens, "server.allowedHosts": hosts, "server.port": 8501}
    monkeypatch.setattr(config, "get_option", options.__getitem__)
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: IP)
    told = one_minute._network()
    assert told["lan"] == (f"http://{IP}:8501" if reached else None)
    assert told["start"].endswith(f"--server.allowedHosts {IP}") != reached


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_the_minute_is_a_page_of_the_menu_and_asks_the_server_for_nothing(page, address):
    sent: list = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda m: sent.append(m)))
    page.goto(f"{address}/?language=zh")
    page.get_by_role("link", name="一分钟").click()
    page.locator(".dm[lang=zh][data-drawn='1']").wait_for()
    settled(page, "one_minute")
    assert page.evaluate("document.querySelector('.stMain').scrollHeight") <= SCREEN["height"]
    asked = len(sent)
    for number in range(2, 6):
        page.keyboard.press("ArrowRight")
        assert page.locator(".dm").get_attribute("data-scene") == str(number)
    assert "dplearn app --server.address 0.0.0.0" in page.locator(".dm-small").text_content()
    page.locator("[data-do=full]").click()
    page.wait_for_function("document.fullscreenElement")
    page.keyboard.press("ArrowLeft")
    assert "10.99" in page.locator(".dm-tell").text_content()
    assert len(sent) == asked
