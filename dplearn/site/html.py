"""Pages of the site: the frame around each, and where links lead."""

import html
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from dplearn.classroom.html import NEEDED, linked
from dplearn.classroom.sources import EXPLORER

_HEADER = """\
<header>
<nav><a href="{root}index.html">dplearn</a> <a href="{root}lessons/index.html">Lessons</a>
<a href="{root}explorer.html">ε against T</a> <a href="{root}book/index.html">Formula book</a>
<a href="{root}book/published.html">Published figures</a>
<a href="{root}lessons/index.html#glossary-english中文">Glossary</a></nav>
<input type="search" id="search" placeholder="Search" aria-label="Search all pages"
 data-root="{root}" autocomplete="off"><ol id="hits" hidden></ol>
</header>"""


@dataclass(frozen=True)
class Page:
    """A page of the site: where it lies, its title, and what stands in it."""

    path: str
    title: str
    body: str
    needed: tuple[str, ...] = NEEDED  # styles and scripts beside those of every page

    def text(self) -> str:
        """The whole file."""
        root = "../" * self.path.count("/")
        parts = [_HEADER.format(root=root), f"<main>\n{_links(self.body, root)}\n</main>"]
        # The minute comes first, and where to go after it.
        body = "\n".join(reversed(parts) if self.path == "index.html" else parts)
        names = (*self.needed, "site.css", "search.js")
        return linked(f"{self.title} · dplearn", body, names, root=f"{root}assets/")

    def words(self) -> str:
        """What the search looks through: the text without tags, charts and repeated blanks."""
        plain = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", self.body, flags=re.S)
        return " ".join(html.unescape(plain).split()).lower()


def _links(body: str, root: str) -> str:
    """Links of notebooks and to the running explorer as links to the site's own pages."""
    return re.sub(r'href="([^"#][^"]*)"', lambda m: f'href="{_target(m[1], root)}"', body)


def _target(link: str, root: str) -> str:
    address = html.unescape(link)
    if address.startswith(EXPLORER):
        return html.escape(_of_explorer(address, root), quote=True)
    if address.startswith("README.md"):
        return f"{root}lessons/index.html{address.removeprefix('README.md')}"
    if (parts := urlsplit(address)).path.endswith(".ipynb") and not parts.scheme:
        return f"{root}lessons/{parts.path.rpartition('/')[2].removesuffix('.ipynb')}.html"
    if address.startswith("../"):
        # A file of the project, which the site does not hold.
        return f"{root}index.html"
    return link


def _of_explorer(address: str, root: str) -> str:
    """The site's page for a page of the explorer; the explorer's own where the site has none."""
    parts = urlsplit(address)
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if parts.path == "/formula_book" and "id" in asked:
        place = asked.get("misprint", "none")
        return f"{root}book/{asked['id']}.html{'' if place == 'none' else f'#{place}'}"
    proved = asked.get("mechanism", "gaussian") == "gaussian" and "then" not in asked
    if parts.path == "/" and proved and asked.get("sampling", "poisson") in ("poisson", "none"):
        return f"{root}explorer.html?{parts.query}"
    return address
