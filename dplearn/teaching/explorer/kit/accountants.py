"""What the browser's pages show of each registered accountant, and the colours that they share."""

from typing import Any

from dplearn.accountants import ACCOUNTANTS
from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.figures.kit.template import STYLES, style_of


def accountants() -> list[dict[str, Any]]:
    """Return name, kind, label, mark and description of all accountants, in the order of chips."""
    words = language.keyed("epsilon_vs_steps")

    def told(key: str, otherwise: str) -> dict[str, str]:
        both = words.get(key)
        return dict(zip(("en", "zh"), both, strict=True)) if both else language.in_each(otherwise)

    return [
        {
            "name": name,
            "kind": ACCOUNTANTS[name].kind,
            "label": told(f"labels.{name}", style_of(name).label),
            "symbol": style_of(name).symbol,
            "about": told(f"accountants.{name}", ACCOUNTANTS[name].title),
        }
        for name in sorted(ACCOUNTANTS, key=lambda name: [*STYLES, name].index(name))
    ]


def style_sheet(*entries: str) -> str:
    """Return the style sheets of browser pages, after the colour of each accountant."""
    styles = {name: style_of(name) for name in ACCOUNTANTS}
    colours = (f"--{n}: light-dark({s.colour}, {s.on_dark});" for n, s in styles.items())
    marks = (f".dp-{name} {{ --c: var(--{name}); }}\n" for name in styles)
    return f".dp {{ {' '.join(colours)} }}\n{''.join(marks)}{browser.style(*entries)}"
