"""Pages of the site: layout, links and search index."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from dplearn.teaching.classroom.html import NEEDED, linked
from dplearn.teaching.classroom.sources import on_site

_HEADER = """\
<header>
<nav aria-label="Site"><a href="{root}index.html">dplearn</a> {start}
<a href="{root}lessons/index.html">Lessons</a>
<a href="{root}explorer.html">ε against T</a> <a href="{root}mechanisms.html">Mechanisms</a>
<a href="{root}attack.html">Proof and attack</a>
<a href="{root}book/index.html">Formula book</a>
<a href="{root}book/published.html">Published figures</a>
<a href="{root}yardstick/index.html">Yardstick</a>
<a href="{root}lessons/index.html#twelve-pitfalls">Pitfalls</a>
<a href="{root}lessons/index.html#glossary-english中文">Glossary</a></nav>
<input type="search" id="search" placeholder="Search" aria-label="Search all pages"
 data-root="{root}" autocomplete="off"><ol id="hits" hidden></ol>
</header>
<noscript>Scripts are off: formulas stand as they are typed, and fields do not answer.</noscript>"""


@dataclass(frozen=True)
class Page:
    """HTML page of the static site."""

    path: str
    title: str
    body: str
    needed: tuple[str, ...] = NEEDED  # files of style sheets and scripts
    beside: str = ""  # HTML of a table of contents or, on the first page, of links

    def text(self) -> str:
        """Return the page as a complete HTML file."""
        root, first = "../" * self.path.count("/"), self.path == "index.html"
        # Replace the picture of the page `attack_page.html` by a frame with the page.
        frame = f'title="Proof and attack" src="{root}assets/attack_page.html"'
        live = f'<iframe class="page" {frame}></iframe>'
        body = re.sub(r'<img class="page"[^>]*>', live, self.body)
        main = f"<main>\n{_links(body, root)}\n</main>"
        start = '<a class="start" href="#start">Start here</a>' if first else ""
        header = _HEADER.format(root=root, start=start)
        # The first page shows its scenes before the header and the links.
        parts = (main, header, self.beside) if first else (header, self.beside, main)
        names = (*self.needed, "site.css", "search.js")
        title = f"{self.title} · dplearn"
        return linked(title, "\n".join(parts), names, root=f"{root}assets/")

    def searched(self) -> Iterator[list[str]]:
        """Yield each section's address, title, heading and text, for the search index."""
        for anchor, heading, body in sections(self.body):
            if text := plain(body.partition("</h2>" if anchor else "</h1>")[2] or body):
                place = f"{self.path}#{anchor}" if anchor else self.path
                yield [place, self.title, plain(heading), text]


def sections(body: str) -> Iterator[tuple[str, str, str]]:
    """Yield each section's anchor, heading and HTML; the first section may have no heading."""
    for part in re.split(r"(?=<h2 id=)", body):
        head = re.match(r'<h2 id="([^"]*)">(.*?)</h2>', part, re.S)
        yield (head[1], head[2], part) if head else ("", "", part)


def plain(body: str) -> str:
    """Return the text of an HTML body, without tags, scripts, style sheets and repeated blanks."""
    text = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", body, flags=re.S)
    return " ".join(html.unescape(text).split())


def _links(body: str, root: str) -> str:
    """Replace links to notebooks and to the explorer by links to pages of the site.

    A link to a page that the site lacks is replaced by its text.
    """

    def replaced(link: re.Match) -> str:
        query = re.search(r'title="explorer:([^"]*)"', link[3])
        target = on_site(html.unescape(query[1])) if query else _target(link[2], root)
        if query and target:
            return f'{link[1]}{root}{html.escape(target)}">{link[4]}</a>'
        if target:
            return f'{link[1]}{target}"{link[3]}{link[4]}</a>'
        elsewhere = query and "explorer" not in link[4]
        return link[4] + " <small>(in the explorer)</small>" * bool(elsewhere)

    return re.sub(r'(<a [^>]*?href=")([^"#][^"]*)"([^>]*>)(.*?)</a>', replaced, body, flags=re.S)


def _target(link: str, root: str) -> str | None:
    """Return a link's target in the site, or None if the site lacks the target."""
    parts = urlsplit(html.unescape(link))
    if parts.scheme:
        return link
    if parts.path == "formulas.md":
        return f"{root}book/index.html"
    if parts.path == "README.md":
        return f"{root}lessons/index.html{parts.fragment and '#'}{parts.fragment}"
    if parts.path.endswith(".ipynb"):
        name = parts.path.rpartition("/")[2].removesuffix(".ipynb")
        return f"{root}lessons/{name}.html{parts.fragment and '#' + parts.fragment}"
    return None if parts.path.startswith("../") else link
