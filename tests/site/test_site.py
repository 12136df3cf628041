"""The site as a reader has it: files in a folder, a browser, and nothing from elsewhere."""

import html
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from playwright.sync_api import Page

from dplearn import DPSGD, site
from dplearn.book import book
from dplearn.book.published import drawn_figures
from dplearn.browser import pairs
from dplearn.classroom.html import from_markdown
from dplearn.classroom.sources import lessons
from dplearn.site.html import _target

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("site")]

# Each page of the book is made in the same way; these have pictures of all kinds.
ENTRIES = ("G-A4", "G-B4", "G-C1", "G-E1", "G-L1", "G-M3")
HREF = re.compile(r'href="([^"]+)"')


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as executor:
        patch.setattr(site, "book", ENTRIES)
        site.write_site(folder, executor, tell=lambda line: None)
    return folder


@pytest.fixture
def view(browser) -> Page:
    """A page that complains of errors and of whatever is fetched from elsewhere."""
    page = browser.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda m: m.type == "error" and page.problems.append(m.text))
    local = ("file:", "data:", "blob:")
    page.on("request", lambda r: r.url.startswith(local) or page.problems.append(r.url))
    yield page
    assert not page.problems
    page.close()


def test_every_link_leads_to_a_page_and_a_place_on_it(out):
    texts = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*.html")}
    places = {path: set(re.findall(r'id="([^"]*)"', text)) for path, text in texts.items()}
    links = 0
    for path, text in texts.items():
        for link in HREF.findall(text):
            parts = urlsplit(link)
            if parts.scheme:
                continue
            links += 1
            to = (out / path).parent / unquote(parts.path) if parts.path else out / path
            name = to.resolve().relative_to(out).as_posix()
            if name.startswith("book/G-"):
                assert name[5:-5] in book, link
                if name[5:-5] not in ENTRIES:
                    continue
            assert to.resolve().exists(), f"{path}: {link}"
            if parts.fragment and name.endswith(".html") and name != "explorer.html":
                assert unquote(parts.fragment) in places[name], f"{path}: {link}"
    assert links > 400 and len(texts) == len(lessons()) + len(ENTRIES) + 6


@pytest.mark.parametrize("name", [lesson.name for lesson in lessons().values()])
def test_a_lesson_sets_its_formulas_draws_its_charts_and_moves_its_slider(out, view, name):
    view.goto((out / "lessons" / f"{name}.html").as_uri())
    assert view.locator(".katex").count() > 10 and not view.locator(".katex-error").count()
    charts = view.locator(".chart")
    for i in range(charts.count()):
        charts.nth(i).scroll_into_view_if_needed()
        charts.nth(i).locator(".main-svg").first.wait_for()
        assert len(charts.nth(i).get_attribute("aria-label")) > 20
    slider = view.locator(".chart:has(.slider-rail-touch-rect)").first
    if slider.count():
        slider.scroll_into_view_if_needed()
        title = slider.locator(".gtitle").text_content()
        rail = slider.locator(".slider-rail-touch-rect").bounding_box()
        view.mouse.click(rail["x"] + rail["width"] - 2, rail["y"] + 5)
        place = "document.querySelector('.chart:has(.slider-rail-touch-rect) .gtitle')"
        view.wait_for_function(f"t => {place}.textContent !== t", arg=title)


@pytest.mark.parametrize("id", ENTRIES)
def test_an_entry_shows_statement_picture_and_wrong_variants(out, view, id):
    view.goto((out / "book" / f"{id}.html").as_uri())
    assert not view.locator(".katex-error").count()
    assert view.locator("section").count() == len(book[id].misprints)
    assert view.locator(".statement .katex").count() == 1 + len(book[id].misprints)
    view.locator(".chart .main-svg").first.wait_for()


def test_links_of_lessons_open_their_own_numbers(out, view):
    links = {
        link
        for path in (out / "lessons").glob("*.html")
        for link in HREF.findall(path.read_text())
        if "explorer.html?" in link
    }
    assert len(links) > 5
    for link in links:
        query = urlsplit(html.unescape(link)).query
        asked = dict(parse_qsl(query))
        view.goto(f"{(out / 'explorer.html').as_uri()}?{query}")
        view.locator(".dp[data-drawn]").wait_for()
        end = view.evaluate("({...page.view.ends.pld, run: page.run})")
        rate = float(asked.get("sample_rate", 1))
        if "batch_size" in asked:
            rate = int(asked["batch_size"]) / int(asked["dataset_size"])
        plan = DPSGD(
            noise_multiplier=float(asked["noise_multiplier"]),
            sample_rate=rate,
            steps=int(asked["here"]),
        )
        assert end["run"]["sigma"] == plan.noise_multiplier and end["run"]["T"] == plan.steps
        proved = plan.guarantee(delta=float(asked["delta"]))
        assert (
            end["lower"] <= proved.epsilon and proved.lower <= end["upper"] < 1.001 * proved.epsilon
        )
        assert not view.locator(".dp-unread").text_content()


def test_links_to_mechanisms_open_their_own_numbers(out, view):
    links = {
        urlsplit(html.unescape(link)).query
        for path in (out / "lessons").glob("*.html")
        for link in HREF.findall(path.read_text())
        if "mechanisms.html?" in link
    }
    assert len(links) >= 4
    for query in links:
        asked = dict(parse_qsl(query))
        view.goto(f"{(out / 'mechanisms.html').as_uri()}?{query}")
        view.locator(".dp[data-drawn='1']").wait_for()
        state = view.evaluate("page.state")
        assert {key: str(state[key]) for key in asked} == asked
        assert not view.locator(".dp-unread").text_content()
        mechanism = pairs.mechanism_of(asked["mechanism"], state)
        (whole,) = mechanism.profiles(asked.get("adjacency", "add_remove"))
        delta = float(whole.delta(float(asked["epsilon"])))
        written = float(view.locator(".dp-eps output").text_content())
        assert delta * (1 - 1e-9) <= written <= 1.01 * delta


def test_each_published_point_lies_on_the_curve_that_it_names():
    drawn = list(drawn_figures())
    assert len(drawn) > 2
    for row in drawn:
        plan = DPSGD(noise_multiplier=row["sigma"], sample_rate=row["q"], steps=int(row["T"]))
        value = plan.guarantee(row["accountant"], delta=row["delta"]).epsilon
        assert row["epsilon"] == pytest.approx(value, rel=0.02), row


@pytest.mark.parametrize(
    ("name", "most"), [("explorer", 300_000), ("mechanisms", 300_000), ("index", 150_000)]
)
def test_a_page_that_computes_is_light_with_its_engine(out, name, most):
    text = (out / f"{name}.html").read_text()
    files = re.findall(r'(?:src|href)="(assets/[^"]+)"', text)
    assert sum((out / file).stat().st_size for file in files) + len(text) < most


def test_the_site_begins_with_the_minute_and_leads_on(out, view):
    view.goto((out / "index.html").as_uri())
    view.wait_for_selector(".dm[data-drawn='1']")
    for number in range(2, 6):
        view.keyboard.press("ArrowRight")
        assert view.locator(".dm").get_attribute("data-scene") == str(number)
    assert "0.947" in view.locator(".dm-card").text_content().replace("\u00a0", " ")
    view.get_by_role("link", name="Change the numbers").click()
    view.wait_for_selector(".dp[data-drawn]")
    assert view.locator(".dp-eps output").text_content() == "0.947"
    view.goto((out / "index.html").as_uri())
    view.get_by_role("link", name="Lessons").click()
    view.get_by_role("link", name="Why anonymisation fails").click()
    assert view.url.endswith("lessons/01_randomized_response.html")


def test_the_search_finds_pages_by_their_words(out, view):
    view.goto((out / "lessons" / "03_gaussian_mechanism.html").as_uri())
    view.locator("#search").fill("classical noise gaussian")
    assert "G-B4" in view.locator("#hits li").first.text_content()
    view.locator("#hits a").first.click()
    assert view.url.endswith("book/G-B4.html")
    view.wait_for_load_state("load")
    view.locator("#search").fill("xylophone")
    view.wait_for_function("document.getElementById('hits').textContent === 'Nothing found.'")


def test_the_site_needs_no_streamlit_and_no_page_of_the_explorer():
    loads = "import sys, dplearn.site; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", loads], text=True).split()
    assert "dplearn.browser.pairs" in loaded and "streamlit" not in loaded
    assert not [name for name in loaded if name.startswith("dplearn.app.pages")]


def test_links_to_the_explorer_stay_where_the_site_has_no_page():
    there = "http://localhost:8501/"
    assert _target(f"{there}?noise_multiplier=2&amp;mechanism=gaussian", "../").startswith("../exp")
    five = "mechanisms?mechanism=laplace"
    assert _target(there + five, "../") == "../mechanisms.html?mechanism=laplace"
    elsewhere = (
        "mechanisms?mechanism=skellam",
        "?mechanism=laplace",
        "?sampling=shuffled",
        "train?dataset=digits",
        "?then=2,1,1",
    )
    for kept in elsewhere:
        assert _target(there + kept, "../") == there + kept
    assert (
        _target(f"{there}formula_book?id=G-B4&amp;misprint=no-two", "") == "book/G-B4.html#no-two"
    )
    assert _target("https://example.org/x", "") == "https://example.org/x"


def test_markdown_keeps_formulas_and_headings_have_anchors():
    text = from_markdown("## A & b_c\n\n$a_1 * b_2 * c < d$ and $$x_1$$")
    assert "$a_1 * b_2 * c &lt; d$" in text and 'id="a--b_c"' in text
