"""Answer fields of lesson pages: by keyboard alone, on a phone, and without JavaScript."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tiny import written_page

from browsing import DRAWN, SCREEN, answers, visits
from cases import ROOT, clean_environment, each
from dplearn.teaching.classroom import sources

pytestmark = DRAWN

LISTEN = """window.told = [];
document.addEventListener("dplearn:progress", (event) => told.push(event.detail));"""


@pytest.fixture
def visit(browser, tmp_path):
    """Return a function that opens the page of a lesson, by its number."""
    with visits(browser) as visit:
        yield lambda number, *options, **more: visit(
            written_page(tmp_path, number), *options, **more
        )


def field(view, item):
    return view.locator(".ask").filter(has=view.get_by_label(item, exact=True))


def test_guesses_are_made_and_results_opened_by_keyboard_alone(visit):
    view = visit("01", "[data-ask] form", route=lambda view: view.add_init_script(LISTEN))
    view.get_by_label("Pupils alone").fill("5")
    view.keyboard.press("Enter")
    view.get_by_label("Secrets rebuilt").focus()
    for key in ("Tab", "Tab", "Enter"):  # Tab to the button Guess, then to Show me; press it
        view.keyboard.press(key)
    status = field(view, "Secrets rebuilt").get_by_role("status")
    expect(status).to_contain_text("it is 60.15.")
    result = view.evaluate("told.map(({lesson, kind, item, state}) => [lesson, kind, item, state])")
    first, second = ["pupils alone", "done"], ["secrets rebuilt", "tried"]
    assert result == [["01", "prediction", *first], ["01", "prediction", *second]]


PARTS = ".ask, .ask *, fieldset, fieldset *, .number-line *"
OUTSIDE = """parts => {
  for (const button of document.querySelectorAll("button.plain")) button.click();
  return [...document.querySelectorAll(parts)].map(node => [node.getBoundingClientRect(), node])
    .filter(([box]) => box.right > 390 || box.left < 0).map(([, node]) => node.outerHTML);
}"""


@pytest.mark.thorough
@each("number", [number for number in sources.lessons() if number < "90"])
def test_answer_fields_fit_the_screen_of_a_phone(visit, number):
    phone = {"width": 390, "height": 844}
    view = visit(number, "[data-ask] form", phone, color_scheme="dark")
    assert view.evaluate(OUTSIDE, PARTS) == []
    assert not view.locator(".sealed:not([open])").count()


def test_results_and_choices_open_by_click_without_javascript(visit):
    view = visit("01", "main", java_script_enabled=False)
    expect(view.locator(".ask", has_text="Note your answer on paper").first).to_be_visible()
    sealed = view.locator(".sealed").first
    assert "27" not in sealed.inner_text()
    sealed.locator("summary").click()
    expect(sealed).to_contain_text("pupils alone: truth 27")
    choice = view.locator("details").filter(has_text="b. ").last
    choice.locator("summary").click()
    assert choice.inner_text().count("\n")


def test_guess_about_a_claim_in_lesson_16_reveals_whether_the_claim_is_true(visit):
    view = visit("16", "[data-ask] form")
    view.get_by_label("1 classical noise").fill("2")
    view.keyboard.press("Enter")
    expect(field(view, "1 classical noise").get_by_role("status")).to_contain_text("noted")
    opened = view.locator(".sealed[open]")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("false, UNSAFE side")
    expect(opened.locator("summary")).to_contain_text("Your guess for 1 classical noise: 2.")


@pytest.mark.thorough
def test_jupyter_opens_the_links_of_a_lesson(browser, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    options = ["--no-browser", "--allow-root", "--IdentityProvider.token=", f"--port={url[17:]}"]
    folders = {name: str(tmp_path) for name in ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_WORKSPACES_DIR")}
    (tmp_path / "lessons").mkdir()
    for name in ("README.md", "lessons/formulas.md", "lessons/03_gaussian_mechanism.ipynb"):
        shutil.copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={tmp_path}"]
    settings = {"env": clean_environment(**folders), "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **settings) as lab:
        try:
            answers(f"{url}/api", lab)
            view = browser.new_context(viewport=SCREEN).new_page()
            view.goto(f"{url}/lab/tree/lessons/03_gaussian_mechanism.ipynb")
            for place in ("lessons/formulas.md", "files/README.md"):
                link = view.locator(f".jp-RenderedMarkdown a[href*='{place}']").first
                link.wait_for(state="attached")
                link.evaluate("link => link.click()")
                name = Path(place).name
                expect(view.get_by_role("tab", name=name, exact=True)).to_be_visible()
        finally:
            lab.terminate()
