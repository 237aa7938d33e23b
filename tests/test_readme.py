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
