"""Scripts draw the pictures of the documentation, and its numbers are those of the results."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")

from benchmarks import chosen
from benchmarks.measure import geometric_mean
from docs.figures import drawing, measured, screens, span
from docs.figures.__main__ import FIGURES, main
from spansvm import SpanSVC

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"

#: Pictures that need a browser or a command, by docs.figures.screens, and the README's.
OTHERS = {"terminal.svg", "report-light.png", "report-dark.png", "search.png"}


@pytest.mark.parametrize("name", FIGURES)
def test_every_picture_is_drawn_for_light_and_dark_pages(name):
    with drawing.in_style():
        text = drawing.svg(FIGURES[name]())
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "prefers-color-scheme:dark" in text
    assert not re.search(r"(fill|stroke): #([0-9a-f]{2})\2\2\b", text)
    assert "http" not in text.replace("http://www.w3.org/", "")


def test_the_folder_has_the_pictures_that_are_drawn_and_no_others():
    drawn = {f"{name}.svg" for name in FIGURES} | OTHERS
    assert drawn == {path.name for path in IMAGES.iterdir()}
    assert all(path.stat().st_size < 100_000 for path in IMAGES.glob("*.svg"))


def test_every_page_of_the_guide_has_a_picture():
    pages = [
        *DOCS.glob("guide/*.md"),
        *(DOCS / f"{name}.md" for name in ("scaling", "command-line")),
    ]
    shown = {
        page: re.findall(r"^!\[.+\]\((.+?)(?:#\w|-)*\)$", page.read_text(), re.M) for page in pages
    }
    assert [page.name for page, pictures in shown.items() if not pictures] == []
    used = "".join(page.read_text() for page in DOCS.rglob("*.md"))
    assert [path.name for path in IMAGES.iterdir() if f"images/{path.name}" not in used] == []


def test_an_unknown_picture_is_named():
    with pytest.raises(SystemExit, match="no picture 'spam', but there are span, class-weights"):
        main(["span", "spam"])


def test_black_becomes_light_and_colours_stay():
    text = drawing.for_both('<svg><path style="fill: #000000; stroke: #3b82c4"/></svg>')
    assert "--g00:#000000" in text
    assert "--g00:#e6e6e6" in text
    assert "fill: var(--g00); stroke: #3b82c4" in text


def test_places_are_shortened_and_numbers_that_are_read_are_not():
    text = drawing.for_both('<svg><text x="12.3456">0.0125</text></svg>')
    assert '<text x="12.34">0.0125</text>' in text


def test_the_span_of_the_picture_predicts_the_machine_that_is_trained_again():
    model, analysis, place = span.trusted()
    predicted = model.decision_function(span.ROWS[[place]])[0] + (
        analysis.alpha[place] * analysis.span[place] ** 2
    )
    again = SpanSVC(kernel="linear", C=model.C).fit(
        np.delete(span.ROWS, place, 0), np.delete(span.LABELS, place)
    )
    assert predicted == pytest.approx(again.decision_function(span.ROWS[[place]])[0], abs=1e-6)


@pytest.mark.parametrize("name", measured.PAGES)
def test_measured_numbers_of_a_page_are_those_of_the_results(name):
    page = (DOCS / name).read_text(encoding="utf-8")
    assert measured.written(page) == page
    assert page.count("<!-- measured: ") == page.count("<!-- end -->") > 0


def test_an_unknown_measure_is_an_error():
    with pytest.raises(ValueError, match="nothing is measured as 'spam'"):
        measured.written("<!-- measured: spam -->\n<!-- end -->")


def test_means_are_those_that_the_benchmarks_report(capsys):
    chosen.summarise(measured.read("chosen"))
    printed = re.findall(r"default ([\d.]+)", capsys.readouterr().out)
    two = [ratio for _, classes, ratio in measured.chosen() if classes == 2]
    more = [ratio for _, classes, ratio in measured.chosen() if classes > 2]
    assert printed == [f"{geometric_mean(ratios):.3f}" for ratios in (two, more)]


def test_a_terminal_shows_what_was_printed():
    text = screens.terminal("spansvm tune x.csv", "a < b\n" + 60 * "word " + "end")
    lines = [
        line.text for line in ElementTree.fromstring(text).iter() if line.tag.endswith("}text")
    ]
    assert lines[:2] == ["$ spansvm tune x.csv", "a < b"]
    assert "".join(lines[2:]) == 60 * "word " + "end"
