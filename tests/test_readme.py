"""What the README shows runs, and what it prints is what it says."""

from __future__ import annotations

import csv
import doctest
import math
import re
from pathlib import Path

import pytest

import spansvm.demo

ROOT = Path(__file__).parents[1]
MODULES = [
    "spansvm",
    "spansvm.analysis",
    "spansvm.loo",
    "spansvm.search.scoring",
    "spansvm.search.spansearch",
    "spansvm.svc",
]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


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
        ('`method="kfold"`, the same folds', "5 folds", "libsvm"),
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


def test_code_blocks_run_in_order():
    assert BLOCKS
    example = doctest.DocTestParser().get_doctest("\n".join(BLOCKS), {}, "README", "README.md", 0)
    assert example.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    result = doctest.testmod(__import__(module, fromlist=["_"]))
    assert result.attempted > 0
    assert result.failed == 0


def test_the_demo_tells_its_story(capsys):
    spansvm.demo.main()
    text = capsys.readouterr().out
    assert "exact leave-one-out" in text
    assert "span-rule" in text
    assert re.search(r"agree on 56[5-9] of 569", text)
