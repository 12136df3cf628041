"""The folder is the menu; every page keeps to what a page is, without PyTorch."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest
from streamlit import net_util
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from cases import each
from dplearn.__main__ import main
from dplearn.teaching.explorer import __main__ as server
from dplearn.teaching.explorer import navigation, pages
from dplearn.teaching.explorer.kit import fields as kit
from dplearn.teaching.explorer.kit import questions
from dplearn.teaching.explorer.kit.fields import Quantity, Selection, Text, by_key
from dplearn.teaching.explorer.kit.state import State
from explorer import errors, opened, page_at, start

PAGES = {page.__name__.rpartition(".")[2]: page for page in navigation.modules()}
# Pages of which the server reads fields.
_BROWSERS = ("epsilon_vs_steps", "one_minute", "proof_and_attack")
SERVED = {n: p for n, p in PAGES.items() if n not in _BROWSERS}
APP = Path(navigation.__file__).parent


def test_pages_are_the_files_and_folders_of_one_folder():
    assert set(PAGES) == {path.stem for path in APP.glob("pages/[!_]*")}
    places = [(navigation.GROUPS.index(p.GROUP), p.ORDER) for p in PAGES.values()]
    assert places == sorted(set(places)), "no two pages want the same place"
    for name, page in PAGES.items():
        assert page.TITLE, f"page {name}: TITLE is empty, the menu shows it"
        assert callable(page.render), f"page {name}: render is not a function"
        assert page.__doc__, f"page {name}: a docstring must say what one sees there"
        assert page_at(f"/{name}") is page
    assert page_at("/") is next(iter(PAGES.values()))


def test_a_new_folder_is_a_page_at_once(tmp_path, monkeypatch):
    (tmp_path / "new_page").mkdir()
    lines = "TITLE, GROUP, ORDER = 'New', 'See', 30\nfrom streamlit import write\n"
    lines += "render = lambda: write('Seven')"
    (tmp_path / "new_page" / "__init__.py").write_text(lines)
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    assert page_at("/new_page") in navigation.modules()
    assert [m.value for m in opened("new_page").markdown] == ["Seven"]
    opened()
    monkeypatch.delattr(page_at("/new_page"), "TITLE")
    with pytest.raises(TypeError, match=r"Expected .*new_page to have TITLE, got none"):
        navigation.modules()


def test_the_menu_names_each_group_before_its_first_page():
    app = opened(language="zh")
    rules = app.get("html")[0].proto.body
    names = dict(re.findall(r'\[href\$="/(\w*)"\]::before { content: "(\w+)"', rules))
    assert names == {"": "看", "check_a_claim": "查"}


def test_a_page_is_short_and_no_file_is_long():
    for path in APP.rglob("*.py"):
        most = 80 if path.parent.parent.name == "pages" and path.name == "__init__.py" else 400
        assert len(path.read_text().splitlines()) <= most, f"{path} has more than {most} lines"


def test_answers_that_all_readers_share_are_bounded():
    names = {m.name for m in pkgutil.walk_packages([str(APP)], "dplearn.teaching.explorer.")}
    modules = map(importlib.import_module, names)
    shared = {f for m in modules for f in vars(m).values() if hasattr(f, "cache_parameters")}
    for cached in shared:
        most = cached.cache_parameters()["maxsize"]
        assert most is not None or not inspect.signature(cached).parameters, cached
    assert len(shared) > 10


RUBBISH = "abc", "nan", "-1e300", "1e999", "", "__import__('os')", "9" * 400, "1/0", "<b>x</b>"


@each("name", PAGES)
def test_a_page_opens_without_torch_a_clean_address_and_words_for_each_picture(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "torch", None)
    app = opened(name)
    assert app.query_params == {} and not any("Expected" in m for m in errors(app))
    for chart in app.get("plotly_chart"):
        alt = chart.proto.alt
        assert len(alt.split()) > 12 and not re.search("<[a-z/]", alt), f"{name}: {alt}"


def parts(node) -> int:
    """How many messages a part of a page takes, itself included."""
    return 1 + sum(map(parts, getattr(node, "children", {}).values()))


PARTS = {"epsilon_vs_steps": 6, "mechanisms": 5, "proof_and_attack": 5}


@each("name, most", PARTS.items())
def test_a_page_is_few_parts_as_each_costs_the_server_at_every_move(name, most):
    assert parts(opened(name)._tree) <= most


@pytest.mark.slow
@each("name", SERVED.keys() - {"mechanisms"})  # whose address the browser reads
def test_rubbish_in_an_address_is_named_at_its_control_and_the_default_used(name):
    state = start(PAGES[name])
    address = {k: "<b>x</b>" for k, kind in state.fields.items() if not isinstance(kind, Text)}
    state.read(address)
    app = opened(name, **address)
    on_the_page = {k for k in address if {f"box_{k}", f"choice_{k}"} & {*app.session_state}}
    assert on_the_page and {state.notes[key] for key in on_the_page} <= set(errors(app))
    assert all(box.value not in address.values() for box in app.text_input)
    pictures = ([c.proto.spec for c in page.get("plotly_chart")] for page in (app, opened(name)))
    assert next(pictures) == next(pictures) != [], f"{name} changes or draws no Plotly picture"


@each("name", SERVED)
def test_fields_read_back_what_they_show_and_refuse_what_they_cannot_be(name):
    state = start(PAGES[name])
    defaults = {**state.values}
    for key, field in state.fields.items():
        assert field.key == key and field.label, f"{name}: {key} has another key or no label"
        if isinstance(field, Text):
            continue
        values, refused = [field.default], [*RUBBISH]
        if isinstance(field, Selection):
            values += field.options
        if isinstance(field, Quantity):
            marks = field.marks()
            assert list(marks) == sorted(set(marks)), f"{name}: marks of {key} do not rise"
            inside = field.lower <= marks[0] and marks[-1] <= field.upper
            assert inside, f"{name}: {key} has marks outside {field.lower} to {field.upper}"
            far = field.even or (marks[0] <= 10 * field.lower and field.upper <= 10 * marks[-1])
            assert far, f"{name}: marks of {key} end far from {field.lower} or {field.upper}"
            values += [field.lower, field.upper, *marks]
            refused += ["1.5"] * field.whole
            refused += [repr(x) for x in (field.lower - 1, 1.01 * field.upper)]
        for value in values:
            shown = field.show(value)
            assert field.parse(shown) == value, f"{name}: {key} shows {value} and reads {shown!r}"
        for text in refused:
            state.enter(field, text)
            note = state.notes.pop(key)
            assert note.startswith("Expected ") and note.endswith("is used."), f"{name}: {note}"
            assert state.typed[key] == text and state.values == defaults, f"{name}: {key}, {text!r}"


LOT = Quantity("batch_size", "Lot", "", 512, 1, 60_000, whole=True)
RUN = by_key(kit.NOISE, kit.RATE, kit.DELTA, LOT)


@pytest.mark.parametrize(
    ("key", "value", "texts"),
    [
        ("sample_rate", 0.01, " 0.01 |1e-2|1E-2|1/100|600 / 60000|1%|1.0 %|10^-2|10⁻²|1·10⁻²"),
        ("delta", 1e-5, "1e-5|10^-5|10⁻⁵|10**-5|1×10^−5|1*10^(-5)|0.001 %|1e-3%|0.00001"),
        ("sample_rate", 256 / 60_000, "256/60000|256/60 000|2.56e2/6e4"),
        ("delta", 2e-5, "2*10^-5|2 · 10⁻⁵|2\\cdot10^{-5}"),
        ("batch_size", 10_000, "10000|10,000|10 000|10\u202f000|1e4|10^4|10⁴|10'000"),
        ("batch_size", 59_999, "59,999|59 999"),
        ("noise_multiplier", 2.5**-0.5, "1/sqrt(2.5)|1/√2.5"),
    ],
)
def test_numbers_are_read_as_people_write_them(key, value, texts):
    kind = RUN[key]
    assert [kind.parse(text) for text in texts.split("|")] == pytest.approx(
        [value] * len(texts.split("|")), rel=1e-15
    )


def test_a_message_names_the_control_as_the_screen_does_and_words_stay_words():
    state = State(RUN)
    for text in ("1,1", "0,001", "1,100"):
        state.enter(state.fields["noise_multiplier"], text)
        assert state.notes["noise_multiplier"] == (
            "Expected “Noise multiplier σ” without a comma, which may stand before decimals or "
            f"between thousands, got `{text}`. 4 is used."
        )
    state.enter(state.fields["batch_size"], "10,00")
    assert "without a comma" in state.notes["batch_size"]
    for text in ("1e", "2 < 3", "1 1", "1 0000", "0 001", "5 %%", "σ"):
        state.enter(state.fields["noise_multiplier"], text)
        message = f"Expected “Noise multiplier σ” to be a number from 0.2 to 1000, got `{text}`."
        assert state.notes["noise_multiplier"] == f"{message} 4 is used."
    state.enter(state.fields["delta"], "![x](http://example.org/`)")
    assert "got `![x](http://example.org/')`." in state.notes["delta"]
    for name, page in SERVED.items():
        own = start(page)
        for kind in own.fields.values():
            own.enter(kind, "<?>")
            note = own.notes.get(kind.key, "")
            assert not note or kind.label in note, f"{name}: {note}"


def test_dplearn_app_hands_streamlit_a_script_and_the_options(monkeypatch):
    called = []
    monkeypatch.setattr("streamlit.web.cli.main", lambda words, **_: called.extend(words))
    monkeypatch.setattr(questions, "start_processes", lambda: None)
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    assert server.run_server(["--server.port", "8600", "--server.headless=true"]) == 0
    # Else Streamlit would look for scripts in `pages` when a page is the first to be opened.
    assert PagesManager.uses_pages_directory is False
    run, script, *options = called
    assert run == "run" and options == ["--server.port", "8600", "--server.headless=true"]
    app = AppTest.from_file(script, default_timeout=600).run()
    assert not app.exception and app.get("bidi_component")
    assert (Path(script).parent / ".streamlit" / "config.toml").is_file()


def test_dplearn_app_without_streamlit_says_in_one_line_how_to_add_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "streamlit", None)
    assert main(["app"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dplearn app: The explorer needs streamlit, which is not installed")
    assert 'pip install "dplearn-privacy[app]"' in line


def test_what_an_address_says_in_vain_is_told_once_where_no_control_tells_it():
    lines = "from dplearn.teaching.explorer.pages.formula_book import render", "render()"
    lines += "from dplearn.teaching.explorer.kit.state import tell_unseen", "tell_unseen()"
    app = AppTest.from_string("\n".join(lines), default_timeout=600)
    for key, value in {"id": "G-B4", "draw": "x", "delta": "2", "sigma": "4", "<b>": "1"}.items():
        app.query_params[key] = value
    app.run()
    assert [e.value.split("”")[0] for e in app.error] == ["Expected “δ"]
    first, *strange = (toast.value for toast in app.toast)
    assert "“Drawn at random” to be" in first
    named = "The address names `{}`, which this page does not have."
    assert strange == [named.format("sigma"), named.format("<b>")]
    assert not app.run().toast
