"""The page that answers every address of the explorer: Streamlit's, which finds its server."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Streamlit may write what the next page shows before that page's path, and would leave a stop
# that shows it on the page before. Only then does a path change and nothing behind it.
_STOPS = """<script>
const push = history.pushState;
history.pushState = function (state, title, address) {
  const { pathname, search } = new URL(address, location.href);
  const late = search && search === location.search && pathname !== location.pathname;
  (late ? history.replaceState : push).call(this, state, title, address);
};
</script>"""
# Pages are one level deep, below whatever a proxy has put before them. Streamlit's own page looks
# for the server below the address of each page first, in vain.
_SERVER = "<script>window.__streamlit = { BACKEND_BASE_URL: new URL('.', location).href }</script>"
_SCRIPT = '<script type="module" '
# With one more slash it looks for its scripts there too, and would stay blank for ever.
_LOST = 'onerror="location.pathname.split(`/`).length > 2 && location.replace(`..`)" '


@contextmanager
def ours(streamlits: str) -> Iterator[str]:
    """A folder with all that Streamlit sends to browsers from its own, and with that page."""
    with tempfile.TemporaryDirectory(prefix="dplearn-") as folder:
        for path in Path(streamlits).iterdir():
            if path.name != "index.html":
                Path(folder, path.name).symlink_to(path)
        page = Path(streamlits, "index.html").read_text(encoding="utf-8")
        page = page.replace(_SCRIPT, f"{_SERVER}{_STOPS}{_SCRIPT}{_LOST}", 1)
        Path(folder, "index.html").write_text(page, encoding="utf-8")
        yield folder
