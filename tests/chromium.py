"""Chromium for the tests; `python tests/chromium.py` installs it if it is missing."""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

APT = "apt-get update && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core"
NONE = "No Chromium, and none could be installed: install one, or set DPLEARN_CHROMIUM to its path."


def path() -> str | None:
    """Return the path of Chromium from $DPLEARN_CHROMIUM or on the system, or None."""
    return os.environ.get("DPLEARN_CHROMIUM") or shutil.which("chromium")


def starts() -> bool:
    """Return whether the Chromium of the browser tests starts: the system's, or playwright's."""
    with sync_playwright() as playwright:
        return succeeds(path() or playwright.chromium.executable_path, "--version")


def succeeds(*command: str) -> bool:
    """Return whether a command exists and succeeds; hide its output."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        return not subprocess.run(command, env=environment, capture_output=True).returncode
    except OSError:
        return False


def ways() -> list[list[str]]:
    """Return commands to try to install Chromium; root also installs the libraries it needs."""
    own, root = [sys.executable, "-m", "playwright", "install", "chromium"], os.geteuid() == 0
    apt = [["sh", "-c", APT]] if root and shutil.which("apt-get") else []
    return [*apt, [*own, "--with-deps"] if root else own]


def install() -> None:
    """Install Chromium unless one starts; exit with a message if that fails."""
    for way in ways():
        if starts():
            return
        print("No Chromium found, trying:", *way, flush=True)
        succeeds(*way)
    if not starts():
        sys.exit(NONE)


if __name__ == "__main__":
    install()
