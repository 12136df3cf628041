"""Labels, descriptions and colours of all accountants, for pages drawn by JavaScript."""

from typing import Any

from dplearn.accountants import ACCOUNTANTS
from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.figures.kit.template import STYLES, style_of


def accountants() -> list[dict[str, Any]]:
    """Return name, kind, label, symbol and description of each accountant, in display order."""
    words = language.keyed("epsilon_vs_steps")
    texts = {key: dict(zip(language.LANGUAGES, both, strict=True)) for key, both in words.items()}
    in_both = lambda key, default: texts.get(key) or language.in_each(default)
    return [
        {
            "name": name,
            "kind": ACCOUNTANTS[name].kind,
            "label": in_both(f"labels.{name}", style_of(name).label),
            "symbol": style_of(name).symbol,
            "about": in_both(f"accountants.{name}", ACCOUNTANTS[name].title),
        }
        for name in sorted(ACCOUNTANTS, key=lambda name: [*STYLES, name].index(name))
    ]


def style_sheet(*entries: str) -> str:
    """Return CSS with the accountants' colours and the style sheets of the modules `entries`."""
    styles = {name: style_of(name) for name in ACCOUNTANTS}
    colours = (f"--{n}: light-dark({s.colour}, {s.on_dark});" for n, s in styles.items())
    marks = (f".dp-{name} {{ --c: var(--{name}); }}\n" for name in styles)
    return f".dp {{ {' '.join(colours)} }}\n{''.join(marks)}{browser.style(*entries)}"
