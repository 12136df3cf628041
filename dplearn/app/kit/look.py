"""How every page looks: room on the first screen, the colour of ink, charts."""

from typing import Any

import streamlit as st

from dplearn.figures import INK

_STYLE = """<style>
/* The menu covers the first lines otherwise. */
.stMainBlockContainer { padding: 4.2rem 2.5rem 3rem; }
.st-key-theorems .katex { font-size: 1rem; }
.stMain .st-key-words p { font-size: 1.15rem; }
/* One sentence more must not push the pictures down under the hand. */
@media (max-width: 1700px) { .stMain .st-key-words { min-height: 3.7rem; } }
.st-key-regimes { border-left: 3px solid rgba(214, 40, 57, 0.45); padding-left: 1rem; }
section.stSidebar [data-testid="stSidebarHeader"] { height: 2.2rem; margin-bottom: 0; }
section.stSidebar .stVerticalBlock { gap: 0.75rem; }
[class*="st-key-field_"] [data-testid="stMarkdownContainer"] p { font-size: 0.875rem; }
[class*="st-key-field_"].stVerticalBlock { gap: 0.1rem; }
@media (max-width: 720px) {
  .stMainBlockContainer { padding: 3.9rem 1rem 3rem; }
  /* The picture keeps a readable width and scrolls sideways. */
  [class*="st-key-picture"] { overflow-x: auto; }
  [class*="st-key-picture"] > * { min-width: 660px; }
}
</style>"""
# The verdicts on published figures.
VERDICTS = {
    "reproduces": "reproduces",
    "within_rounding": "within rounding",
    "does_not_reproduce": "does not reproduce",
    "not_checkable": "cannot be checked",
}


def style(own: str = "") -> None:
    """Room for the picture on the first screen; `own` are rules of one page."""
    st.html(_STYLE)
    if own:
        st.html(f"<style>{own}</style>")


def ink() -> str:
    """The colour of words on the page as the reader has it."""
    return INK[st.context.theme.type or "light"]


def chart(figure: Any, key: str, alt: str, *, saves_as: str = "") -> None:
    """A figure and its words for those who do not see it; a camera where a file has a name."""
    config: dict[str, Any] = {"displayModeBar": bool(saves_as)}
    if saves_as:
        kind = st.session_state.get("picture_format") or "svg"
        config |= {
            "displaylogo": False,
            "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
            "toImageButtonOptions": {"format": kind, "filename": saves_as, "scale": 2},
        }
    st.plotly_chart(figure, theme=None, key=key, config=config, alt=alt)
