"""What README and docs show runs, and what it prints is what they say."""

from __future__ import annotations

import csv
import doctest
import math
import re
import runpy
import shlex
import tempfile
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "examples", "benchmarks", "reproduction")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md"))),
]
#: Code of both kinds of fences, also within lists and notes, where it is indented.
FENCES = re.compile(r"^ *```(?:python|pycon|py)\b.*?\n(.*?)^ *```", flags=re.DOTALL | re.MULTILINE)


def test_the_readme_names_both_commands():
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text


def test_the_readme_is_read_in_a_minute():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_the_readme_shows_speed_and_the_report():
    shown = re.findall(r"^!\[.+\]\((.+)\)$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert shown == ["docs/images/benchmark-speed.svg", "docs/images/report-light.png"]


def shell_lines():
    """The lines of the README's blocks for a shell, as words."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.M)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


def test_the_commands_of_the_readme_are_tested():
    assert {words[0] for words in shell_lines()} == {"pip", "make", "spansvm"}


def test_what_the_readme_installs_and_makes_is_there():
    project, makefile = ((ROOT / name).read_text() for name in ("pyproject.toml", "Makefile"))
    for command, *words in shell_lines():
        if command == "make":
            assert re.search(rf"^{words[0]}:", makefile, flags=re.MULTILINE), words
        if command == "pip":
            assert words[0] == "install"
            extra = re.fullmatch(r"\.(?:\[(\w+)\])?", words[1])[1]
            assert extra is None or re.search(rf"^{extra} = \[", project, flags=re.MULTILINE)


def test_the_command_line_of_the_readme_runs(succeeding, tmp_path):
    pytest.importorskip("typer", reason="the command line is not installed")
    X, y = load_iris(return_X_y=True)
    tables = {
        "data.csv": [
            ["a", "b", "c", "d", "kind"],
            *([*row, f"k{kind}"] for row, kind in zip(X, y, strict=True)),
        ],
        "new.csv": [["a", "b", "c", "d"], *X[::50]],
    }
    for name, rows in tables.items():
        (tmp_path / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    for command, *words in shell_lines():
        if command == "spansvm":
            out, _ = succeeding(" ".join(words))
    assert {"k0", "k1", "k2"} <= set(re.findall(r"k\d", out))


def anchors(page):
    """What links to a page may have after ``#``: its headings as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", FENCES.sub("", page.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("name", [page.name for page in sorted(ROOT.glob("*.md"))])
def test_what_a_page_beside_the_readme_links_to_exists(name):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCES.sub("", (ROOT / name).read_text())):
        path, _, anchor = target.partition("#")
        if path.startswith("https:"):
            continue
        page = ROOT / path if path else ROOT / name
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target


def read_results(name):
    lines = (ROOT / "benchmarks" / "results" / name).read_text().splitlines()
    assert "dirty" not in lines[1]
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def page_name(page):
    return page.relative_to(ROOT).as_posix()


def pages_with_code():
    found = {page: FENCES.findall(page.read_text()) for page in PAGES}
    return [
        # What a cluster says while it is torn down is not ours.
        pytest.param(
            page,
            blocks,
            id=page_name(page),
            marks=[pytest.mark.filterwarnings("ignore")] if "dask" in "".join(blocks) else [],
        )
        for page, blocks in found.items()
        if blocks
    ]


def test_code_is_looked_for_on_every_page():
    found = {param.id for param in pages_with_code()}
    assert {"README.md", "docs/getting-started.md", "docs/guide/methods.md"} <= found


@pytest.mark.parametrize(("page", "blocks"), pages_with_code())
def test_code_blocks_run_in_order(page, blocks, tmp_path, monkeypatch, trees):
    text = "\n".join(blocks)
    if "dask" in text:
        pytest.importorskip("dask.distributed", reason="dask is not installed")
    if "Display" in text:
        pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
    monkeypatch.chdir(tmp_path)  # some blocks save files
    for block in blocks:
        assert block.lstrip().startswith(">>> "), f"This code would not be run: {block}"
    example = doctest.DocTestParser().get_doctest(text, {}, page_name(page), str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("name", ["methods", "probabilities", "ties"])
def test_benchmark_figures_in_the_guide_are_those_of_the_page_of_benchmarks(name):
    """Those of that page are written from the committed results."""
    figure = re.compile(r"\b\d\.\d{2,3}\b|\b\d+ of \d+\b")
    prose = " ".join(FENCES.sub("", (ROOT / "docs" / "guide" / f"{name}.md").read_text()).split())
    found = set(figure.findall(prose))
    assert found
    assert found <= set(figure.findall((ROOT / "docs" / "benchmarks.md").read_text()))


def test_the_table_of_counted_errors_is_that_of_the_committed_results():
    rows = read_results("counted.csv")
    page = (ROOT / "docs" / "guide" / "methods.md").read_text()
    for kind in dict.fromkeys(row["search"] for row in rows):
        for several in (False, True):
            own = [row for row in rows if row["search"] == kind]
            own = [row for row in own if (int(row["classes"]) > 2) == several]
            if not own:
                continue
            cells = []
            for way, digits in (("rule", 4), ("default", 5)):
                off = [float(row[f"{way}_mean"]) for row in own]
                cells.append(f"{sum(off) / len(off):.{digits}f} ({max(off):.{digits}f})")
            same = sum(int(row["same_selection"]) for row in own)
            ratio = [float(row["default_ms"]) / float(row["rule_ms"]) for row in own]
            time = f"{geometric_mean(ratio):.1f}"
            assert f"| {' | '.join(cells)} | {same}/{len(own)} | {time} |" in page, (kind, several)


def modules_with_examples():
    """Names of the modules whose text has an example, wherever it is."""
    return [
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        for source in (ROOT / "src", ROOT / "app" / "src")
        for path in sorted(source.rglob("*.py"))
        if ">>> " in path.read_text()
    ]


def test_examples_are_looked_for_in_every_module():
    named = {"spansvm", "spansvm.estimators.svc", "spansvm_app.common.output"}
    assert named <= set(modules_with_examples())


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some examples save files
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    module = import_module(name)
    result = doctest.testmod(module)
    assert result.attempted == Path(module.__file__).read_text().count(">>> ")
    assert result.failed == 0


def test_the_demo_tells_its_story(capsys):
    runpy.run_path(str(ROOT / "examples" / "demo.py"))["main"]()
    text = capsys.readouterr().out
    assert "exact leave-one-out" in text
    assert "span-rule" in text
    assert re.search(r"agree on 56[5-9] of 569", text)
