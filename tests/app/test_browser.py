"""A real browser: the page loads, a slider moves the curve and the address, nothing leaks out."""

import json

from browsing import driven, is_on_the_first_screen, settled

_CURVE = """(name) => {
  const plot = document.querySelector('.st-key-picture .js-plotly-plot');
  const trace = plot && plot.data && plot.data.find(t => t.name === name);
  return trace ? JSON.stringify(Array.from(trace.y)) : null;
}"""

# The title of the second picture; for a moment there is none while Plotly writes a new one.
_FINDING = "document.querySelector('.st-key-picture_looseness .gtitle')?.textContent"


def curve(page, name: str = "PLD") -> list[float]:
    return json.loads(page.wait_for_function(_CURVE, arg=name).json_value())


def curve_other_than(page, old: list[float], name: str = "PLD") -> list[float]:
    page.wait_for_function(
        f"([name, old]) => {{ const now = ({_CURVE})(name); return now && now !== old; }}",
        arg=[name, json.dumps(old, separators=(",", ":"))],
    )
    return curve(page, name)


@driven
def test_the_page_loads_and_everything_on_it_can_be_taken_along(page, address, tmp_path):
    page.goto(address)
    values = curve(page)
    assert len(values) > 40 and values == sorted(values)
    page.get_by_text("the tightest bound here is").wait_for()
    settled(page, "explorer")
    assert is_on_the_first_screen(page, ".st-key-picture .js-plotly-plot")
    assert is_on_the_first_screen(page, ".st-key-picture_looseness .gtitle")

    with page.expect_download() as data:
        page.get_by_role("button", name="Data as CSV").click()
    data.value.save_as(tmp_path / "epsilon.csv")
    assert (tmp_path / "epsilon.csv").read_text().startswith("method,steps,lower,epsilon")
    with page.expect_download() as picture:
        page.locator(".st-key-picture .modebar-btn[data-title*='lot']").first.click()
    assert picture.value.suggested_filename == "epsilon_vs_steps.svg"
    picture.value.save_as(tmp_path / "picture.svg")
    assert "bounds on ε" in (tmp_path / "picture.svg").read_text()


@driven
def test_slider_and_box_move_each_other_the_curve_and_the_address(page, address):
    page.goto(address)
    before = curve(page)
    slider = page.get_by_role("slider", name="Noise multiplier σ")
    assert slider.get_attribute("aria-valuetext") == "4"
    slider.focus()
    page.keyboard.press("ArrowRight")
    after = curve_other_than(page, before)
    assert after[-1] < before[-1]
    page.wait_for_url("**noise_multiplier=4.5")
    box = page.get_by_role("textbox", name="Noise multiplier σ")
    assert box.input_value() == "4.5"

    fresh = page.context.new_page()
    fresh.goto(page.url)
    assert curve(fresh) == after
    twin = fresh.get_by_role("slider", name="Noise multiplier σ")
    assert twin.get_attribute("aria-valuetext") == "4.5"

    page.go_back()
    assert curve_other_than(page, after) == before
    box.fill("1.1")
    box.press("Enter")
    assert curve_other_than(page, before)[-1] > before[-1]
    page.wait_for_function(
        "e => e.getAttribute('aria-valuetext') === '1.1'", arg=slider.element_handle()
    )
    box.fill("four")
    box.press("Enter")
    page.get_by_text("Expected noise_multiplier to be a number").wait_for()
    assert page.url.endswith("noise_multiplier=1.1")


@driven
def test_the_curve_follows_a_slider_that_is_still_held(page, address):
    page.goto(address)
    before = curve(page)
    slider = page.get_by_role("slider", name="Noise multiplier σ")
    box = slider.bounding_box()
    x, y = box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=5)
    held = curve_other_than(page, before)
    assert "noise_multiplier" not in page.url
    page.mouse.move(x + 60, y, steps=5)
    assert curve_other_than(page, held)[-1] < held[-1]
    page.mouse.up()
    page.wait_for_url("**noise_multiplier=*")


def looseness(page) -> dict:
    """Title and RDP's curve of the second picture, once it is there."""
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .gtitle').length >= 2")
    return page.evaluate(
        """() => {
          const plot = document.querySelector('.st-key-picture_looseness .js-plotly-plot');
          const rdp = plot.data.find(t => t.name === 'RDP');
          return {title: plot.querySelector('.gtitle').textContent, y: Array.from(rdp.y),
                  left: plot.querySelector('.nsewdrag').getBoundingClientRect().left};
        }"""
    )


@driven
def test_the_second_picture_follows_a_slider_and_both_stay_where_they_are(page, address):
    page.goto(address)
    before = looseness(page)
    assert "RDP asks for 9.4 % more ε than needed" in before["title"]
    first = page.locator(".st-key-picture .nsewdrag").first.bounding_box()
    assert abs(first["x"] - before["left"]) < 1, "the same T lies below the same T"
    settled(page)
    plots = page.locator(".js-plotly-plot")
    places = [plots.nth(i).bounding_box() for i in range(2)]
    old = curve(page)
    page.get_by_role("slider", name="Failure probability δ").focus()
    page.keyboard.press("Home")
    curve_other_than(page, old)
    settled(page)
    assert [plots.nth(i).bounding_box() for i in range(2)] == places
    assert looseness(page)["y"] != before["y"]
    page.get_by_role("slider", name="You are here: T").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => ({_FINDING} ?? '').startsWith('At T = 8')")


@driven
def test_the_gap_of_shuffling_shows(page, address):
    page.goto(address)
    before = curve(page)
    page.get_by_role("combobox", name="Run").click()
    page.get_by_text("Chua et al. 2024, shuffled batches").click()
    curve_other_than(page, before)
    page.wait_for_function(
        "() => document.querySelector('.st-key-picture .gtitle')?.textContent"
        " === 'A Poisson accountant would claim 1.95; shuffling leaks at least 10.99'"
    )
    claim, proved = curve(page, "Poisson claim"), curve(page)
    assert all(less < true for less, true in zip(claim, proved, strict=True))
    page.wait_for_function(f"() => ({_FINDING} ?? '').endsWith('Poisson claim hides 82 %')")
    page.wait_for_url("**sampling=shuffled**")
    settled(page, "shuffled")


# The one of two frames that is to be seen.
_RUN = """[...document.querySelectorAll('.st-key-picture .js-plotly-plot:has(.gtitle)')]
  .find(plot => plot.checkVisibility({visibilityProperty: true}))"""
_TITLE = f"({_RUN}?.querySelector('.gtitle')?.textContent ?? '')"


@driven
def test_a_run_is_trained_and_another_is_stopped(page, address):
    page.goto(address)
    curve(page)
    page.get_by_role("link", name="Train").click()
    train = page.get_by_role("button", name="Train", exact=True)
    train.click()
    page.wait_for_function(f"() => {_TITLE}.endsWith('without privacy')")
    train.wait_for()
    settled(page, "train")
    assert page.evaluate(f"{_RUN}.data[0].y.at(-1)") > 90
    box = page.evaluate(f"{_RUN}.getBoundingClientRect().toJSON()")
    assert box["bottom"] <= 900 and box["width"] > 900, "the first screen shows the whole picture"
    train.click()
    page.get_by_role("button", name="Stop").click()
    page.wait_for_function(f"() => {_TITLE}.startsWith('Stopped')")
    train.wait_for()
