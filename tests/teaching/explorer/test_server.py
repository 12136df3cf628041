"""Security of the server: foreign origins, outgoing requests, worker processes."""

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
from dplearn.teaching.explorer.kit import elements, questions


@pytest.fixture(scope="module")
def watched():
    """Start a server whose proxy records all connections; yield its address and the record."""
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


def websocket_status(address: str, **headers: str) -> int:
    """Return the status of a WebSocket request."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    place = urlsplit(address).netloc
    with closing(http.client.HTTPConnection(place, timeout=600)) as connection:
        connection.request("GET", "/_stcore/stream", headers=upgrade | headers)
        with connection.getresponse() as response:
            return response.status


@pytest.mark.slow
def test_foreign_origins_are_refused_without_outgoing_requests(watched):
    address, calls = watched
    began = time.monotonic()
    assert websocket_status(address, Origin="http://evil.example") == 403
    assert websocket_status(address, Origin=address) == 101
    assert not calls and time.monotonic() - began < 30
    # DNS rebinding: a foreign host name that resolves to this server is refused.
    assert websocket_status(address, Host="evil.example", Origin="http://evil.example") == 403


def test_no_page_takes_files_or_uses_unbounded_caches():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["server"]["maxUploadSize"] == 1
    assert not {"address", "allowedHosts"} & {*config["server"]}, "a host on the web can reach it"
    pages = "".join(path.read_text() for path in Path(explorer.__file__).parent.rglob("*.py"))
    assert not re.search(r"file_uploader|st\.cache_(data|resource)", pages)


def test_app_script_starts_the_server_with_one_blas_thread(monkeypatch):
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
    """Give the test an empty cache of results."""
    monkeypatch.setattr(questions, "_answers", {})


SLOW = threading.Event()
CALLS: list[int] = []


def slow(number: int) -> int:
    CALLS.append(number)
    SLOW.wait(60)
    return -number


def wrong(number: int) -> int:
    CALLS.append(number)
    raise (ValueError if number else ArithmeticError)(f"Expected another number, got {number}.")


def test_equal_calls_are_computed_once_and_open_calls_are_limited(fresh, monkeypatch):
    CALLS.clear()
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
    assert questions.ask(slow, 7) == -7 and sorted(CALLS) == [7, 8]


def test_value_errors_are_cached_and_other_errors_retried(fresh):
    CALLS.clear()
    for number, error, times in ((1, ValueError, 1), (0, ArithmeticError, 2)):
        for _ in range(2):
            with pytest.raises(error, match=f"got {number}"):
                questions.ask(wrong, number)
        assert CALLS.count(number) == times


@pytest.mark.slow
def test_scripts_are_served_complete_with_and_without_gzip(watched):
    name, text = elements.script("minute")
    for kind in ("gzip", "gzip", "identity"):
        request = urllib.request.Request(f"{watched[0]}/{name}", headers={"Accept-Encoding": kind})
        with urllib.request.urlopen(request, timeout=60) as answer:
            body = answer.read()
        assert (gzip.decompress(body) if kind == "gzip" else body).decode() == text


@pytest.mark.slow
def test_workers_end_when_the_server_is_killed():
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
def test_workers_compute_answers_and_are_replaced_when_killed(fresh, monkeypatch, tmp_path):
    # Streamlit sets `__main__` to the page that it ran last; workers must not run that page.
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
def test_pages_of_streamlit_run_still_work_after_the_server_ends(browser):
    """Start the server by `streamlit run app.py`, the usual command of users and hosts."""
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
