"""Chromium for the tests; `python tests/chromium.py` installs it if it is missing."""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

APT = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends")
NONE = "No Chromium, and none could be installed: install one, or set DPLEARN_CHROMIUM to its path."


def path() -> str | None:
    """Return the path in DPLEARN_CHROMIUM, or of the system's Chromium, or None."""
    return os.environ.get("DPLEARN_CHROMIUM") or shutil.which("chromium")


def starts() -> bool:
    """Return whether the Chromium of the browser tests starts."""
    return succeeds(path() or own(), "--version")


def own() -> str:
    """Return the path of playwright's own Chromium."""
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def succeeds(*command: str) -> bool:
    """Return whether a command exists and succeeds; hide its output."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def by_apt() -> bool:
    """Install Debian's Chromium and a font, which needs root."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    print("No Chromium found: installing one with apt-get.", flush=True)
    return succeeds("apt-get", "update") and succeeds(*APT, "chromium", "fonts-dejavu-core")


def by_playwright() -> bool:
    """Install playwright's Chromium; as root, with its system libraries."""
    print("No Chromium found: installing playwright's own.", flush=True)
    libraries = ["--with-deps"] if os.geteuid() == 0 else []
    return succeeds(sys.executable, "-m", "playwright", "install", *libraries, "chromium")


def install() -> None:
    """Install Chromium unless one starts; exit with a message if that fails."""
    if not starts() and not (by_apt() and starts()) and not (by_playwright() and starts()):
        sys.exit(NONE)


if __name__ == "__main__":
    install()
