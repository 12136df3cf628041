"""Menu of all pages in the folder; every page has the required names and needs no PyTorch."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

from cases import each
from dplearn.__main__ import main
from dplearn.teaching import explorer as package
from dplearn.teaching.explorer import pages
from dplearn.teaching.explorer.kit import navigation
from explorer import opened, page_at

PAGES = {page.__name__.rpartition(".")[2]: page for page in navigation.modules()}
APP = Path(package.__file__).parent


def test_pages_are_the_modules_and_packages_of_one_folder():
    assert set(PAGES) == {path.stem for path in APP.glob("pages/[!_]*")}
    places = [(navigation.GROUPS.index(p.GROUP), p.ORDER) for p in PAGES.values()]
    assert places == sorted(set(places)), "no two pages want the same place"
    for name, page in PAGES.items():
        assert page.TITLE, f"page {name}: TITLE is empty, the menu shows it"
        assert callable(page.render), f"page {name}: render is not a function"
        assert page.__doc__, f"page {name}: a docstring must say what one sees there"
        assert page_at(f"/{name}") is page


def test_new_folder_becomes_a_page(tmp_path, monkeypatch):
    (tmp_path / "new_page").mkdir()
    lines = "TITLE, GROUP, ORDER = 'New', 'See', 90\nfrom streamlit import write\n"
    lines += "render = lambda: write('Seven')"
    (tmp_path / "new_page" / "__init__.py").write_text(lines)
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    assert page_at("/new_page") in navigation.modules()
    assert [m.value for m in opened("new_page").markdown] == ["Seven"]
    assert "New" in [link.proto.label for link in opened().get("page_link")]


def test_menu_lists_all_pages_by_group():
    app = opened(language="zh")
    links = [link.proto.label for link in app.get("page_link")]
    assert len(links) == len(PAGES) and links[:2] == ["一分钟", "ε 随 T 的变化"]
    spans = re.findall(r"<span>(\w+)</span>", "".join(h.proto.body for h in app.get("html")))
    assert spans == ["看", "查"]


def test_no_private_name_of_streamlit_is_used():
    text = "".join(path.read_text() for path in [*APP.rglob("*.py"), APP.parents[2] / "app.py"])
    named = re.findall(r"from (streamlit[\w.]*) import|import (streamlit[\w.]*)", text)
    assert {a or b for a, b in named} <= {"streamlit", "streamlit.components"}
    assert not re.search(r"file_util|net_util|PagesManager|tempfile", text)


def test_caches_are_bounded():
    names = {m.name for m in pkgutil.walk_packages([str(APP)], "dplearn.teaching.explorer.")}
    modules = map(importlib.import_module, names - {"dplearn.teaching.explorer.app"})
    shared = {f for m in modules for f in vars(m).values() if hasattr(f, "cache_parameters")}
    for cached in shared:
        most = cached.cache_parameters()["maxsize"]
        assert most is not None or not inspect.signature(cached).parameters, cached
    assert len(shared) > 4


@pytest.mark.slow
@each("name", PAGES)
def test_pages_open_without_torch_and_describe_their_pictures(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "torch", None)
    app = opened(name)
    assert app.query_params == {} and not any("Expected" in e.value for e in app.error)
    for chart in app.get("plotly_chart"):
        alt = chart.proto.alt
        assert len(alt.split()) > 12 and not re.search("<[a-z/]", alt), f"{name}: {alt}"


def test_app_without_streamlit_prints_the_install_command(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "streamlit", None)
    assert main(["app"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dplearn app: The explorer needs streamlit, which is not installed")
    assert 'pip install "dplearn-privacy[app]"' in line
