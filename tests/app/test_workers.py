"""Several servers behind one address: a reader stays with one, and none is left behind."""

import http.client
import re
import sys
import time
from contextlib import closing
from urllib.parse import urlsplit

import psutil
import pytest

import chromium
from browsing import PATIENCE, served
from dplearn.app.workers import configuration

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def answer(address: str, path: str = "/", **headers: str) -> tuple[int, str]:
    """Status of a request, and the number of the server that nginx asked."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=600)) as connection:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as response:
            cookies = " ".join(response.headers.get_all("Set-Cookie") or [])
            return response.status, re.search(r"dplearn_worker=(\d)", cookies)[1]


def test_a_share_of_readers_for_each_server():
    text = configuration("/tmp/x", "0.0.0.0:80", [7001, 7002, 7003])
    assert "{ 33.33% 0; 33.33% 1; * 2; }" in text and "2 127.0.0.1:7003; " in text
    assert text.count("{") == text.count("}") and "$folder" not in text and "$$" not in text


def test_readers_stay_with_their_server_and_all_end_together():
    if chromium.nginx() is None:
        pytest.skip("no nginx, and none could be installed")
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    with served(sys.executable, "--workers", "2") as address:
        assert {answer(address)[1] for _ in range(40)} == {"0", "1"}
        for number in "01":
            cookie = {"Cookie": f"dplearn_worker={number}"}
            pages = {answer(address, **cookie) for _ in range(5)}
            assert pages == {(200, number)}
            assert answer(address, "/_stcore/stream", **cookie, **upgrade) == (101, number)
        evil = {"Origin": "http://evil.example"}
        assert answer(address, "/_stcore/stream", **upgrade, **evil)[0] == 403
        assert answer(address, Cookie="dplearn_worker=7; x=1")[0] == 200
        (front,) = [p for p in psutil.Process().children() if "--workers" in " ".join(p.cmdline())]
        family = front.children(recursive=True)
        next(p for p in family if "dplearn.app" in p.cmdline()).kill()
        assert front.wait(PATIENCE / 1000) == 1
        end = time.monotonic() + PATIENCE / 1000
        while any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in family):
            assert time.monotonic() < end, "a process is left behind"
            time.sleep(0.1)
