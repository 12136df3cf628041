"""The server of the explorer: ``python -m dplearn.teaching.explorer``, with options of ``streamlit run``."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SCRIPT = '<script type="module" '
# With one more slash it looks for its scripts there too, and would stay blank for ever.
_LOST = 'onerror="location.pathname.split(`/`).length > 2 && location.replace(`..`)" '


@contextmanager
def ours(streamlits: str) -> Iterator[str]:
    """A folder with all that Streamlit sends, our scripts, and our page, which finds its server."""
    from dplearn.teaching.explorer.kit.scripts import PAGES, script

    with tempfile.TemporaryDirectory(prefix="dplearn-") as folder:
        for path in Path(streamlits).iterdir():
            if path.name != "index.html":
                Path(folder, path.name).symlink_to(path)
        page = Path(streamlits, "index.html").read_text(encoding="utf-8")
        first = Path(__file__).with_name("kit") / "page.js"
        first = f"<script>(() => {{{first.read_text(encoding='utf-8')}}})()</script>"
        page = page.replace(_SCRIPT, f"{first}{_SCRIPT}{_LOST}", 1)
        Path(folder, "index.html").write_text(page, encoding="utf-8")
        for name, text in map(script, PAGES):
            Path(folder, name).write_text(text, encoding="utf-8")
        yield folder


def _alone(add: Callable[..., None]) -> Callable[..., None]:
    """The same way to take a file, which replaces the last one: Streamlit takes any number."""

    def replaced(files: Any, session_id: str, file: Any) -> None:
        files.remove_session_files(session_id)
        add(files, session_id, file)

    return replaced


def run_server(options: Sequence[str]) -> int:
    """Serve until stopped; returns the exit status."""
    from streamlit import file_util, net_util
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.web import cli

    from dplearn.teaching.explorer.kit import questions

    # Whenever a page of somebody else knocks, Streamlit asks a service on the internet for this
    # machine's address, and everybody waits for the answer.
    net_util.get_external_ip = lambda: None
    # Our pages are no scripts of a folder: whoever opened one first was told that it is not there.
    PagesManager.uses_pages_directory = False
    MemoryUploadedFileManager.add_file = _alone(MemoryUploadedFileManager.add_file)
    questions.start_processes()
    script = Path(__file__).with_name("navigation.py")
    with ours(file_util.get_static_dir()) as folder:
        file_util.get_static_dir = lambda: folder
        return cli.main(["run", str(script), *options], standalone_mode=False) or 0


if __name__ == "__main__":
    sys.exit(run_server(sys.argv[1:]))
