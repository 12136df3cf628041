"""The server, as somebody sees it who means harm: it sends nothing and lets nobody in."""

import gzip
import http.client
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from browsing import ROOT, served
from dplearn.teaching import explorer
from dplearn.teaching.explorer.kit import questions, scripts


@pytest.fixture(scope="module")
def watched():
    """Start a server; list who connects to the proxy that it would send requests through."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        calls: list[object] = []

        def listen() -> None:
            while True:
                try:
                    calls.append(proxy.accept())
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        way = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        with served(http_proxy=way, https_proxy=way) as address:
            yield address, calls


def knock(address: str, **headers: str) -> int:
    """Status of a request for a web socket."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    place = urlsplit(address).netloc
    with closing(http.client.HTTPConnection(place, timeout=600)) as connection:
        connection.request("GET", "/_stcore/stream", headers=upgrade | headers)
        with connection.getresponse() as response:
            return response.status


@pytest.mark.slow
def test_a_foreign_page_is_refused_at_once_and_nothing_is_sent_anywhere(watched):
    address, calls = watched
    began = time.monotonic()
    assert knock(address, Origin="http://evil.example") == 403
    assert knock(address, Origin=address) == 101
    assert not calls and time.monotonic() - began < 30
    # A name that was made to lead here is no name of this server.
    assert knock(address, Host="evil.example", Origin="http://evil.example") == 403


def test_one_page_takes_files_of_a_bounded_size():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["server"]["maxUploadSize"] == 16
    assert not {"address", "allowedHosts"} & {*config["server"]}, "a host on the web can reach it"
    pages = "".join(path.read_text() for path in Path(explorer.__file__).parent.rglob("*.py"))
    assert pages.count("file_uploader") == 1 and not re.search(r"st\.cache_(data|resource)", pages)


def test_a_checkout_starts_the_server_as_a_process_with_one_thread_of_blas(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execve", lambda *words: started.append(words))
    monkeypatch.setattr(sys, "argv", ["app.py", "--server.port", "8600"])
    assert "app" in runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
    ((_, words, environment),) = started
    assert words[1:4] == ["-m", "streamlit", "run"] and words[4] == str(ROOT / "app.py")
    assert words[-2:] == ["--server.port", "8600"] and "127.0.0.1" in words
    assert environment["OPENBLAS_NUM_THREADS"] == environment["OMP_NUM_THREADS"] == "1"


@pytest.fixture
def fresh(monkeypatch):
    """No answers yet."""
    monkeypatch.setattr(questions, "_answers", {})


SLOW = threading.Event()
ASKED: list[int] = []


def slow(number: int) -> int:
    ASKED.append(number)
    SLOW.wait(60)
    return -number


def wrong(number: int) -> int:
    ASKED.append(number)
    raise (ValueError if number else ArithmeticError)(f"Expected another number, got {number}.")


def test_a_question_is_answered_once_for_all_who_ask_and_not_too_many_at_once(fresh, monkeypatch):
    ASKED.clear()
    SLOW.clear()
    monkeypatch.setattr(questions, "_OPEN", 2)
    with ThreadPoolExecutor(6) as readers:
        same = [readers.submit(questions.ask, slow, 7) for _ in range(5)]
        other = readers.submit(questions.ask, slow, 8)
        while len(questions._answers) < 2:
            time.sleep(0.01)
        with pytest.raises(questions.Refused, match="2 questions are being computed"):
            questions.ask(slow, 9)
        SLOW.set()
        assert [reader.result() for reader in same] == [-7] * 5 and other.result() == -8
    assert questions.ask(slow, 7) == -7 and sorted(ASKED) == [7, 8]


def test_what_is_wrong_with_a_question_is_remembered_and_what_went_wrong_is_tried_again(fresh):
    ASKED.clear()
    for number, error, times in ((1, ValueError, 1), (0, ArithmeticError, 2)):
        for _ in range(2):
            with pytest.raises(error, match=f"got {number}"):
                questions.ask(wrong, number)
        assert ASKED.count(number) == times


@pytest.mark.slow
def test_a_script_is_served_whole_each_time_packed_or_not(watched):
    name, text = scripts.script("minute")
    for kind in ("gzip", "gzip", "identity"):
        asked = urllib.request.Request(f"{watched[0]}/{name}", headers={"Accept-Encoding": kind})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            body = answer.read()
        assert (gzip.decompress(body) if kind == "gzip" else body).decode() == text


@pytest.mark.slow
def test_no_process_outlives_a_server_that_was_killed():
    lines = [
        "import os, signal",
        "from dplearn.teaching.explorer.kit import questions",
        "questions.start_processes()",
    ]
    lines += ["print(questions.ask(os.getpid), flush=True)", "os.kill(os.getpid(), signal.SIGKILL)"]
    command = [sys.executable, "-c", "\n".join(lines)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    answering, end = Path("/proc", ended.stdout.strip()), time.monotonic() + 60
    while answering.exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert ended.returncode == -signal.SIGKILL and not answering.exists()


@pytest.mark.slow
def test_answers_come_from_other_processes_and_new_ones_where_one_was_killed(
    fresh, monkeypatch, tmp_path
):
    # Streamlit calls the page that it has just run `__main__`: no other process may run it, too.
    page = tmp_path / "page.py"
    page.write_text("raise SystemExit('The page ran once more.')")
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    sys.modules["__main__"].__file__ = str(page)
    monkeypatch.setattr(questions, "_executor", questions._executor)
    questions.start_processes()
    try:
        assert questions.ask(os.getpid) != os.getpid()
        assert questions.ask(os.nice, 0) >= min(os.nice(0) + 10, 19)
        with pytest.raises(questions.Refused, match="ended from outside"):
            questions.ask(os._exit, 3)
        assert questions.ask(int, "7") == 7
    finally:
        questions._executor.shutdown()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_streamlit_run_app_shows_the_minute_and_a_curve_that_outlives_the_server(browser):
    """What every user of Streamlit types, and every host."""
    complaints: list[str] = []
    with served(command=("-m", "streamlit", "run", "app.py")) as url:
        page = browser.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        page.locator(".dm[data-drawn]").wait_for()
        page.get_by_role("link", name="ε against T").click()
        page.wait_for_function("document.querySelector('.dp-line.dp-pld')?.getAttribute('d')")
        expect(page.locator(".dp-eps output")).to_have_text("0.947")
        assert not complaints
    page.get_by_text("The library is away").wait_for()
    page.locator("b[data-drag=noise_multiplier]").press("ArrowUp")
    expect(page.locator(".dp-eps output")).not_to_have_text("0.947")
    expect(page.locator("[role=dialog]").first).to_be_hidden()
    page.close()
