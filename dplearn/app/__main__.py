"""The server of the explorer: ``python -m dplearn.app``, with options of ``streamlit run``."""

import sys
from collections.abc import Sequence
from pathlib import Path


def main(options: Sequence[str]) -> int:
    """Serve until stopped; returns the exit status."""
    from streamlit import file_util, net_util
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.web import cli

    from dplearn.app import front
    from dplearn.app.kit import questions

    # Whenever a page of somebody else knocks, Streamlit asks a service on the internet for this
    # machine's address, and everybody waits for the answer.
    net_util.get_external_ip = lambda: None
    # Our pages are no scripts of a folder: whoever opened one first was told that it is not there.
    PagesManager.uses_pages_directory = False
    questions.start()
    script = Path(__file__).with_name("navigation.py")
    with front.ours(file_util.get_static_dir()) as folder:
        file_util.get_static_dir = lambda: folder
        return cli.main(["run", str(script), *options], standalone_mode=False) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
