"""The Chromium that tests drive; `python tests/chromium.py` installs one where there is none."""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

NONE = "No Chromium, and none could be installed: install one, or set DPLEARN_CHROMIUM to its path."


def path() -> str | None:
    """Path of the Chromium named in DPLEARN_CHROMIUM or of the system's; None: playwright's own."""
    return os.environ.get("DPLEARN_CHROMIUM") or shutil.which("chromium")


def starts() -> bool:
    """Whether a browser test would get a Chromium that starts."""
    with sync_playwright() as playwright:
        return succeeds(path() or playwright.chromium.executable_path, "--version")


def succeeds(*command: str) -> bool:
    """Whether a command, run in silence, is there and ends well."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def install() -> None:
    """Install a Chromium, unless there is one: Debian's and a font, or playwright's own."""
    root, own = os.geteuid() == 0, (sys.executable, "-m", "playwright", "install", "chromium")
    apt = (
        "apt-get",
        "install",
        "--yes",
        "--no-install-recommends",
        "chromium",
        "fonts-dejavu-core",
    )
    ways = [[("apt-get", "update"), apt]] if root else []
    # Only root can add the libraries that playwright's needs.
    ways += [[(*own, "--with-deps") if root else own]]
    for commands in ways:
        if not starts():
            print(f"No Chromium found: {' '.join(commands[-1])}", flush=True)
            all(succeeds(*command) for command in commands)
    if not starts():
        sys.exit(NONE)


if __name__ == "__main__":
    install()
