"""Colours of figures: legible on light and dark pages, distinct for the colour-blind."""

import numpy as np
import pytest

from dplearn.accountants import ACCOUNTANTS
from dplearn.teaching.figures.kit.template import GREY, INK, darkened, style_of

# Matrices that map linear RGB to CIE XYZ (IEC 61966-2-1), and to the RGB that protan and deutan
# viewers perceive (Machado, Oliveira & Fernandes 2009, severity 1).
_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
_EYES = {
    "usual": np.eye(3),
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}
CURVES = [style_of(name).colour for name in (*ACCOUNTANTS, "poisson_claim")]


def light(colour: str) -> np.ndarray:
    """Return the linear RGB values of a hexadecimal colour, shape (3,)."""
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(linear: np.ndarray) -> np.ndarray:
    """Return the CIELAB coordinates of linear RGB values, shape (..., 3)."""
    x = np.clip(linear, 0, 1) @ np.transpose(_XYZ) / np.sum(_XYZ, axis=1)
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    first, second, third = np.moveaxis(f, -1, 0)
    return np.stack([116 * second - 16, 500 * (first - second), 200 * (second - third)], -1)


def contrast(first: str, second: str) -> float:
    low, high = sorted(light(colour) @ _XYZ[1] + 0.05 for colour in (first, second))
    return high / low


@pytest.mark.parametrize("colour", [*CURVES, GREY, INK])
def test_text_in_any_colour_is_legible_on_light_and_dark_pages(colour):
    assert contrast(colour, "#FFFFFF") >= 4.5
    assert darkened(colour) != colour
    assert contrast(darkened(colour), "#171614") >= 4.5


@pytest.mark.parametrize("eyes", _EYES)
@pytest.mark.parametrize("page", [str, darkened])
def test_colours_of_curves_are_distinct_also_for_the_colour_blind(eyes, page):
    shown = list(map(page, CURVES))
    points = lab(np.array([light(colour) for colour in shown]) @ np.transpose(_EYES[eyes]))
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    assert apart[~np.eye(len(shown), dtype=bool)].min() >= 9
