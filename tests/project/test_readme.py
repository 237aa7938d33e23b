"""What README and docs show runs, and what it prints is what they say."""

from __future__ import annotations

import csv
import doctest
import math
import re
import runpy
import tempfile
from importlib import import_module
from pathlib import Path

import pytest

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


def test_the_speed_table_is_that_of_the_committed_results():
    lines = (ROOT / "benchmarks" / "results" / "core.csv").read_text().splitlines()
    assert "dirty" not in lines[1]
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    text = (ROOT / "README.md").read_text()
    assert f"over {len(rows)} models" in text
    for column, form in (
        ("libsvm_over_train", "{:.1f}"),
        ("precomputed_over_train", "{:.1f}"),
        ("span_over_train", "{:.3f}"),
        ("clarabel_qps_over_span", "{:.0f} /"),
        ("daqp_qps_over_span", "/ {:.0f}"),
    ):
        values = [float(row[column]) for row in rows if row[column]]
        mean = math.exp(sum(map(math.log, values)) / len(values))
        assert f" {form.format(mean)} " in text, column


def read_results(name):
    lines = (ROOT / "benchmarks" / "results" / name).read_text().splitlines()
    assert "dirty" not in lines[1]
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


@pytest.mark.parametrize(
    ("line", "work", "opponent"),
    [
        ("1089 class weights on 1000 to 1605 rows", "search", "libsvm"),
        ("scikit-learn-intelex, 5 folds", "search", "intelex"),
        ("ThunderSVM on the processor", "search", "thundersvm"),
        ("ringnorm with 4096 rows", "search, l = 4096", "libsvm"),
        ("MNIST 1 against 7, 13,007 rows", "search, l = 13007", "libsvm"),
        ("one grid point of liquidSVM", "one candidate", "liquidsvm"),
        ("`cv=5`, the same folds", "5 folds", "libsvm"),
        ("exact leave-one-out of one model", "exact leave-one-out", "libsvm 5-fold"),
        ("5 candidates on 60,000 rows", "5 candidates, l = 60000", "libsvm"),
    ],
)
def test_the_table_of_searches_is_that_of_the_committed_results(line, work, opponent):
    found = [
        float(row["ratio"])
        for row in read_results("search.csv")
        if row["work"] == work and row["opponent"] == opponent
    ]
    mean = geometric_mean(found)
    shown = f"{mean:.0f}" if mean >= 10 else f"{mean:.1f}"
    (text,) = [part for part in (ROOT / "README.md").read_text().splitlines() if line in part]
    assert text.endswith(f"| {shown} |")


def test_the_table_of_users_searches_is_that_of_the_committed_results():
    lines = (ROOT / "README.md").read_text().splitlines()
    rows = read_results("users.csv")
    by_work = {
        work: [row for row in rows if row["work"] == work]
        for work in ("verified", "kfold", "two threads over one")
    }
    for span, folds, threads in zip(*by_work.values(), strict=True):
        assert span["problem"] == folds["problem"] == threads["problem"]
        figures = f"| {span['rows']}, {span['classes']} |"
        (text,) = [line for line in lines if figures in line]
        ratios = f"| {float(span['ratio']):.0f} | {float(folds['ratio']):.0f} |"
        assert text.endswith(f"{ratios} {float(threads['ratio_wall']):.1f} |")


@pytest.mark.parametrize(
    ("line", "estimate"),
    [
        ("| the best leave-one-out score |", "plain"),
        ("| `corrected_score_` |", "corrected"),
        ("| nested 5-fold cross-validation |", "nested"),
        ("| 20 % of the rows held out |", "held_out"),
    ],
)
def test_the_table_of_promised_errors_is_that_of_the_committed_results(line, estimate):
    rows = {r["estimate"]: r for r in read_results("corrected.csv") if r["data_set"] == "all"
            and r["size"] == "all"}  # fmt: skip
    row = {name: float(rows[estimate][name]) for name in
           ("relative_bias", "rmse", "covers", "above", "seconds")}  # fmt: skip
    (text,) = [own for own in (ROOT / "README.md").read_text().splitlines() if line in own]
    cells = [cell.strip() for cell in text.split("|")[2:-1]]
    bias = f"{100 * row['relative_bias']:+.0f} %"
    assert cells[0] == (bias if abs(row["relative_bias"]) >= 0.01 else "-0.3 %")
    assert cells[1] == f"{row['rmse'] + 1e-9:.3f}"
    assert cells[2].startswith(f"{100 * row['covers']:.0f} %")
    assert cells[3] == f"{100 * row['above']:.0f} %"
    time = row["seconds"] / float(rows["plain"]["seconds"])
    assert cells[4] == (f"{time:.1f}" if estimate != "plain" else "1")


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ('| `SpanSearch` (`ties="plateau"`)', ("span_plateau", "span_plateau")),
        ('| `SpanSearch(ties="hinge")`', ("span_hinge", "span_hinge")),
        ('| `SpanSearch(ties="first")`', ("span_first", "span_first")),
        ("| `GridSearchCV(cv=5)`", ("kfold_first", "grid_search_cv")),
    ],
)
def test_the_table_of_selected_models_is_that_of_the_committed_results(line, rules):
    rows = read_results("selection.csv")
    shown = []
    for grid, rule in zip(("weights", "C-gamma"), rules, strict=True):
        part = [row for row in rows if row["grid"] == grid]
        floor = 1 / 5000  # as in the summary of the benchmark
        ratios = [(float(row[rule]) + floor) / (float(row["best"]) + floor) for row in part]
        shown.append(f"{geometric_mean(ratios):.3f}")
    assert f"{line} | {shown[0]} | {shown[1]} |" in (ROOT / "README.md").read_text()


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
def test_benchmark_figures_in_the_docs_are_those_of_the_readme(name):
    """Those of the README are compared with the committed results."""
    figure = re.compile(r"\b\d\.\d{2,3}\b|\b\d+ of \d+\b")
    prose = " ".join(FENCES.sub("", (ROOT / "docs" / "guide" / f"{name}.md").read_text()).split())
    readme = " ".join((ROOT / "README.md").read_text().split())
    found = set(figure.findall(prose))
    assert found
    assert found <= set(figure.findall(readme))


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
