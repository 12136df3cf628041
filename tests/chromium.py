"""The Chromium that tests drive; `python tests/chromium.py` installs one where there is none."""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

APT = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends")
NONE = "No Chromium, and none could be installed: install one, or set DPLEARN_CHROMIUM to its path."


def path() -> str | None:
    """Path of the Chromium named in DPLEARN_CHROMIUM or of the system's; None: playwright's own."""
    return os.environ.get("DPLEARN_CHROMIUM") or shutil.which("chromium")


def starts() -> bool:
    """Whether a browser test would get a Chromium that starts."""
    return succeeds(path() or own(), "--version")


def own() -> str:
    """Path of the Chromium that playwright would bring."""
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def succeeds(*command: str) -> bool:
    """Whether a command, run in silence, is there and ends well."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def by_apt() -> bool:
    """Install Debian's Chromium and a font; only root can."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    print("No Chromium found: installing one with apt-get.", flush=True)
    return succeeds("apt-get", "update") and succeeds(*APT, "chromium", "fonts-dejavu-core")


def by_playwright() -> bool:
    """Install the Chromium that playwright brings; only root can add the libraries it needs."""
    print("No Chromium found: installing playwright's own.", flush=True)
    libraries = ["--with-deps"] if os.geteuid() == 0 else []
    return succeeds(sys.executable, "-m", "playwright", "install", *libraries, "chromium")


def install() -> None:
    """Install a Chromium, unless there is one; leaves with one line where that is impossible."""
    if not starts() and not (by_apt() and starts()) and not (by_playwright() and starts()):
        sys.exit(NONE)


if __name__ == "__main__":
    install()
