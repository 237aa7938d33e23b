"""The documentation builds without a warning, and its pages fetch nothing from elsewhere."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread

import pytest

pytest.importorskip("mkdocs", reason="mkdocs and its parts are not installed")
pytest.importorskip("latex2mathml", reason="mkdocs and its parts are not installed")
pytest.importorskip("mkdocstrings", reason="mkdocs and its parts are not installed")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    # Not --quiet: it hides warnings from --strict, too.
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def pages(site):
    found = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}
    assert "index.html" in found
    return found


def test_every_page_is_in_the_site(site):
    written = {
        path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for path in ROOT.glob("docs/**/*.md")
        if path.parent.name != "reproduction"  # tables of a page that shows them itself
    }
    assert written <= {name[:-5] for name in pages(site)}


def test_no_page_fetches_anything_from_elsewhere(site):
    fetching = re.compile(r'<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    for name, text in pages(site).items():
        assert not fetching.findall(text), name
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", style.read_text()), style.name


def test_formulas_are_mathml(site):
    found = pages(site)
    for name in ("theory/span.html", "theory/estimates.html", "guide/scores.html"):
        assert "<math" in found[name]
        prose = re.sub(r"<(script|style|pre)\b.*?</\1>", "", found[name], flags=re.DOTALL)
        assert "$" not in prose, name
        assert "\\" not in prose, name


def test_pictures_and_results_that_pages_refer_to_are_in_the_site(site):
    for name, text in pages(site).items():
        for target in re.findall(r'(?:src|href)="((?!/)[^":#]+\.(?:png|svg|csv|py))[#"]', text):
            assert ((site / name).parent / target).exists(), f"{name}: {target}"
    assert "examples/images/03_noisy_labels.svg" in pages(site)["examples.html"]


def test_pictures_fetch_nothing_from_elsewhere(site):
    pictures = list(site.rglob("*.svg"))
    assert len(pictures) > 30
    fetching = re.compile(r"(?:href=|src=|url\(|@import)\s*[\"']?(?:https?:)?//")
    assert [picture.name for picture in pictures if fetching.search(picture.read_text())] == []


def test_a_program_follows_its_link(site):
    text = pages(site)["examples.html"]
    programs = sorted((ROOT / "examples").glob("[0-9]*.py"))
    shown = re.findall(r"<summary>The program</summary>.*?</code>", text, flags=re.DOTALL)
    assert len(shown) == len(programs) == 12
    codes = {html.unescape(re.sub(r"<[^>]*>", "", one)).split("\n", 1)[-1].strip() for one in shown}
    for program in programs:
        assert any(program.read_text().strip().endswith(code) for code in codes), program.name


@pytest.mark.parametrize("module", ["", ".display", ".errors", ".models", ".scores", ".search"])
def test_every_public_name_is_in_the_reference(site, module):
    text = pages(site)["api.html"]
    home = import_module(f"spansvm{module}")
    for name in home.__all__:
        if not callable(getattr(home, name)):
            continue  # a constant, which the functions that take it tell about
        entries = [f'id="{own}.{name}"' for own in (home.__name__, "spansvm", "spansvm.blocks")]
        if name == "span_scorer":  # an object, which has the entry of its class
            entries.append('id="spansvm.search.scoring.scorers.SpanScorer"')
        assert any(entry in text for entry in entries), f"{home.__name__}.{name}"


def test_building_blocks_are_apart_from_public_names(site):
    public, inside = (pages(site)[f"{name}.html"] for name in ("api", "internals"))
    criteria = import_module("spansvm.machine.criteria").__all__
    for name in (
        "spansvm.machine.dual.train_dual",
        "spansvm.algebra.qp.solve_qp",
        *(f"spansvm.machine.criteria.{name}" for name in criteria if name.islower()),
    ):
        assert f'id="{name}"' in inside, name
        assert f'id="{name}"' not in public, name


def test_only_generated_pages_may_be_missing(tmp_path):
    import docs_hooks

    nav = [{"Guide": [{"Ties": "ties.md"}, {"Command line": "command-line.md"}]}]
    assert docs_hooks.without_missing(nav, tmp_path) == [{"Guide": [{"Ties": "ties.md"}]}]
    (tmp_path / "command-line.md").touch()
    assert docs_hooks.without_missing(nav, tmp_path) == nav


def test_dollars_in_code_are_no_formulas():
    import docs_hooks

    text = "`$HOME` is $x$\n\n```sh\necho $HOME $PATH\n```\n"
    page = docs_hooks.on_page_markdown(text)
    assert page.startswith("`$HOME` is <span><math")
    assert page.endswith("```sh\necho $HOME $PATH\n```\n")


def test_names_of_see_also_are_links(site):
    found = re.findall(
        r"<summary>See Also</summary>\s*<ul>(.*?)</ul>", pages(site)["api.html"], flags=re.DOTALL
    )
    assert found
    for entry in re.findall(r"<li>(.*?)</li>", "".join(found), flags=re.DOTALL):
        assert "href=" in entry, entry


def test_the_copy_button_copies_code_that_runs(site):
    found = pages(site)
    for name, text in found.items():
        sessions = re.findall(r"<code>(?:(?!</code>).)*?&gt;&gt;&gt; ", text, flags=re.DOTALL)
        copied = [html.unescape(code) for code in re.findall(r'data-copy="([^"]*)"', text)]
        assert len(copied) == len(sessions), name
        for code in copied:
            compile(code, name, "exec")
            assert ">>>" not in code
    first, *_ = re.findall(r'data-copy="([^"]*)"', found["guide/features.html"])
    assert html.unescape(first).endswith("error(), error(MinMaxScaler()), error(StandardScaler())")


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("standardize", "guide/features.html"),
        ("scaling", "guide/features.html"),
        ("normalize", "guide/features.html"),
        ("imbalanced", "guide/class-weights.html"),
        ("optimism", "getting-started.html"),
        ("optimism", "faq.html"),
    ],
)
def test_the_search_of_the_site_finds(site, word, page):
    entries = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    text = " ".join(
        f"{entry['title']} {entry['text']}"
        for entry in entries
        if entry["location"].partition("#")[0] == page
    )
    assert re.search(rf"\b{word}\b", text, flags=re.IGNORECASE)


def test_the_home_page_leads_to_the_command_line(site):
    assert 'href="command-line.html">Command line</a></td>' in pages(site)["index.html"]


@pytest.fixture(scope="module")
def served(site):
    """The address of the site, on a server of its own."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            """Say nothing of requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver were not found on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000"):
        options.add_argument(argument)
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


def test_searching_leads_to_the_page(served, browser):
    browser.get(f"{served}/index.html")
    field = browser.find_element("css selector", "input.md-search__input")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys("imbalanced")
    end = time.monotonic() + 30
    found = []
    while not found and time.monotonic() < end:
        links = browser.find_elements("css selector", "a.md-search-result__link")
        found = [link.get_attribute("href") for link in links]
        time.sleep(0.1)
    assert any("/guide/class-weights.html" in link for link in found), found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_as_the_device_is_set(served, browser, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(f"{served}/index.html")
    script = "return getComputedStyle(document.body).backgroundColor"
    red, *_ = map(int, re.findall(r"\d+", browser.execute_script(script)))
    assert (red < 100) == (scheme == "dark")
    shown = [
        picture.get_attribute("src").rpartition("#")[2]
        for picture in browser.find_elements("css selector", "img[src*='report-']")
        if picture.is_displayed()
    ]
    assert shown == [f"only-{scheme}"]
