"""A hundred members and a hundred others: as many of them in colour as an attacker accuses."""

import re
from urllib.parse import unquote

import pytest
from streamlit.testing.v1 import AppTest

from cases import each
from explorer import checked


def drawn(share: float) -> AppTest:
    """The drawing alone."""
    return checked(AppTest.from_function(_alone, args=(share,), default_timeout=600).run())


def _alone(share):
    from dplearn.teaching.explorer.kit.look import people

    people(share)


def written(app: AppTest) -> str:
    """What is drawn and said, with ordinary spaces."""
    return app.get("html")[0].proto.body.replace("\u00a0", " ")


def coloured(app: AppTest) -> list[float]:
    """Area in colour over the area of a dot, of each of the two pictures."""
    pictures = re.findall(r"src='data:image/svg\+xml,(.*?)'", written(app))
    areas = []
    for picture in map(unquote, pictures):
        paths = re.findall(r'<path stroke="(\S+)" stroke-width="(\S+)" d="(.*?)"', picture)
        (_, whole, rest), *found = paths
        assert rest.count("M") == 100
        assert all(colour == found[0][0] for colour, *_ in found)
        # No dot is painted over another one.
        places = [place for *_, places in found for place in places.split("M")[1:]]
        assert len(places) == len({*places}) and {*places} <= {*rest.split("M")}
        areas.append(sum(d.count("M") * (float(w) / float(whole)) ** 2 for _, w, d in found))
    return areas


@each("share", [0.0193, 0.5, 0.9999999, 1.0, 0.0])
def test_the_area_in_colour_is_the_share(share):
    assert coloured(drawn(share)) == pytest.approx([100 * share, 1], abs=1e-3)


@each(
    "share, said",
    [
        (0.0192001, "at most 1.93 %"),
        (0.0192, "at most 1.92 %"),
        (0.998, "at most 99.8 %"),
        (0.999999, "at most 99.9999 %"),
        (1.0, "at most 100 %"),
    ],
)
def test_a_share_is_rounded_up_and_not_to_all(share, said):
    app = drawn(share)
    assert f"finds <b>{said}</b> of the members. Guessing finds 1 %." in written(app)
    number = said.removeprefix("at most ").removesuffix(" %")
    assert re.findall(r"<b [^>]*>(.*?)</b>", written(app)) == [number, "1"]


def test_how_often_an_accusation_is_right_is_the_posterior_of_an_even_prior():
    share, alarms = 0.0192, 0.01
    right = 100 * share / (share + alarms)  # Bayes: members and others are equally many
    said = float(re.search(r"right in at most ([\d.]+) % of", written(drawn(share)))[1])  # type: ignore[index]
    assert right <= said < right + 0.1
    assert "An accusation says next to nothing." in written(drawn(0.0104))


@each("share", [1.1, -0.1])
def test_what_is_no_rate_is_refused(share):
    app = AppTest.from_function(_alone, args=(share,)).run(timeout=600)
    assert "Expected" in app.exception[0].message
