"""The benchmarks' committed files, and the data that they measure on."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks import agreeing, agreement, agreement_worker, corrected, problems, selection, sets
from benchmarks.measure import geometric_mean
from reproduction.csv_files import read_rows, to_csv
from reproduction.datasets import ringnorm

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.csv")), ids=lambda path: path.stem)
def test_committed_results_are_read_as_they_were_written(path):
    rows, notes = read_rows(path)
    assert notes[0].startswith(("python -m benchmarks", "python -m tests.statements"))
    assert to_csv(rows, notes) == path.read_text(encoding="utf-8")


def test_the_committed_summary_is_what_the_committed_runs_say(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(selection, "SUMMARY", tmp_path / "selection.csv")
    selection.summarise()
    assert selection.SUMMARY.read_bytes() == (RESULTS / "selection.csv").read_bytes()
    assert "geometric mean" in capsys.readouterr().out


def test_the_guide_shows_what_agreeing_probabilities_cost():
    rows, notes = read_rows(RESULTS / "agreeing.csv")
    assert "dirty" not in notes[1]
    guide = (RESULTS.parents[1] / "docs" / "guide" / "probabilities.md").read_text()
    for kind in agreeing.WEIGHTS:
        own = [row for row in rows if row["weights"] == kind and row["classes"] == 2]
        assert f"test rows of {len(own)} data sets" in guide
        cells = [f"{100 * np.mean([row['disagree'] for row in own]):.1f} %"]
        for measured in agreeing.MEASURES:
            ratios = np.array([row[f"{measured}_ratio"] for row in own])
            mean = np.exp(np.mean(np.log(ratios)))
            mean, low, high = (100 * (ratio - 1) for ratio in (mean, ratios.min(), ratios.max()))
            cells.append(f"{mean:+.1f} % ({low:+.1f} to {high:+.1f})")
        assert f"| {' | '.join(cells)} |" in guide


def test_what_is_known_is_not_missing():
    rows, _ = selection.known()
    done = {(row["data_set"], row["split"], row["grid"]) for row in rows}
    name = rows[0]["data_set"]
    beyond = list(selection.missing([name], list(selection.GRIDS), 11))
    assert beyond == [(name, 10, grid) for grid in selection.GRIDS]
    assert not done & set(beyond)


def test_ringnorm_is_that_of_the_library_scaled_to_one():
    problem = problems.ringnorm(50, 4, named=True)
    X, y = ringnorm(50, 4)
    np.testing.assert_array_equal(problem.y, y)
    np.testing.assert_array_equal(problem.X.argsort(axis=0), X.argsort(axis=0))
    assert (problem.X.min(), problem.X.max(), problem.gamma) == (0.0, 1.0, 0.25)


def test_training_sets_that_are_not_here_are_left_out(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("SPANSVM_DATA", raising=False)
    monkeypatch.setenv("SPANSVM_CACHE", str(tmp_path))
    assert [p.name for p in problems.core_problems()] == ["ringnorm 1024", "ringnorm 4096"]
    assert "splice is left out" in capsys.readouterr().out


@pytest.mark.parametrize("grid", ["C-gamma", "weights", "linear"])
def test_left_out_values_agree_whatever_the_start_and_the_order(grid):
    problem = problems.ringnorm(80, 4)
    reference, *others = (
        agreement_worker.run(problem.X, problem.y, grid, variant) for variant in agreement.VARIANTS
    )
    for found in others:
        result = agreement.compare(found, reference)
        assert (result["share"], result["same_best"]) == (1.0, 1)


def test_agreement_is_relative_to_the_value_or_to_the_unit_of_the_margin():
    values = np.array([[0.0, 1.0], [-500.0, 0.1], [2.0, -0.3], [0.0, np.nan]])
    moved = values + np.array([[0.9e-6, 0.0], [4e-4, 0.0], [0.0, 1.1e-6], [0.0, 0.0]])
    reference = {"values": values, "selected": np.array(1)}
    result = agreement.compare({"values": moved, "selected": np.array(2)}, reference)
    assert (result["share"], result["same_best"]) == (0.5, 0)


def test_only_missing_results_are_computed(tmp_path):
    version = agreement.Version(agreement.ROOT, tmp_path)
    files = {"one": tmp_path / "one.npz"}
    jobs = list(version.jobs("default", files))
    assert len(jobs) == len(agreement.GRIDS) * len(agreement.VARIANTS)
    done = Path(jobs[0]["result"])
    done.parent.mkdir(parents=True)
    done.touch()
    assert list(version.jobs("default", files)) == jobs[1:]


def promised(**changes):
    """One row of benchmarks.corrected, with every estimate at 0.2 and intervals of 0.1 to 0.3."""
    row = {"data_set": "banana", "split": 0, "size": 100, "grid": "weights", "true": 0.25}
    for name in corrected.ESTIMATES:
        row |= {name: 0.2, f"{name}_seconds": 2.0}
    for name in (*corrected.ESTIMATES, *corrected.INTERVALS):
        row |= {f"{name}_low": 0.1, f"{name}_high": 0.3}
    return row | changes


def test_promises_are_summed_up_by_bias_and_coverage():
    rows = [promised(), promised(true=0.35), promised(true=0.15, plain=0.0, plain_low=0.2)]
    lines = {line["estimate"]: line for line in corrected.summary(rows, {})}
    assert lines["corrected"]["bias"] == -0.05
    assert lines["corrected"]["relative_bias"] == -0.2
    assert lines["corrected"]["rmse"] == pytest.approx(np.sqrt(0.0275 / 3), abs=1e-4)
    assert lines["corrected"]["covers"] == pytest.approx(2 / 3, abs=1e-4)
    assert lines["corrected"]["above"] == pytest.approx(1 / 3, abs=1e-4)
    assert lines["plain"]["covers"] == pytest.approx(1 / 3, abs=1e-4)
    assert lines["corrected, wilson"]["seconds"] == ""


def test_promises_that_are_known_are_not_measured_again(tmp_path, monkeypatch, capsys):
    problems = [("banana", split, 100, "weights") for split in range(3)]
    (tmp_path / corrected.RUNS).write_text(to_csv([promised(split=1)], ["python -m benchmarks"]))
    monkeypatch.setattr(corrected, "measure", lambda one: promised(split=one[1]))
    corrected.compute(tmp_path, problems, 1)
    rows, notes = read_rows(tmp_path / corrected.RUNS)
    assert [row["split"] for row in rows] == [0, 1, 2]
    assert notes == ["python -m benchmarks"]
    assert not corrected.missing(tmp_path, problems)
    assert len(capsys.readouterr().err.splitlines()) == 2
    corrected.summarise(tmp_path)
    assert (tmp_path / corrected.SUMMARY).exists()


def test_the_guide_shows_scores_where_nothing_fixes_the_intercept():
    folder = RESULTS.parents[1] / "docs" / "guide"
    rows, notes = read_rows(RESULTS / "unfixed.csv")
    assert "dirty" not in notes[1]
    columns = ("counted_off_unfixed", "unshifted_off_unfixed", "counted_selected",
               "unshifted_selected")  # fmt: skip
    guide = (folder / "values.md").read_text()
    for row in rows:
        if (row["data_set"], row["method"]) == ("mean", "span_rule"):
            assert f"| {' | '.join(f'{row[name]:.4f}' for name in columns)} |" in guide
    *sets, mean = read_rows(RESULTS / "delivered.csv")[0]
    guide = (folder / "groups.md").read_text()
    assert f"differ by up to {max(row['small_split_scores_differ'] for row in sets):.2f}" in guide
    theirs, ours = mean["small_grid_search_cv"], mean["small_delivered"]
    assert f"of {theirs:.3f} on new rows, and ours of {ours:.3f} (" in guide


@pytest.mark.plumbing
@pytest.mark.parametrize("path", sorted(RESULTS.parent.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_exists(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            ("spansvm", "reproduction")
        ):
            module = import_module(node.module)
            assert all(hasattr(module, name.name) for name in node.names), node.module


def test_the_guide_shows_sets_of_labels_as_measured():
    rows, notes = read_rows(RESULTS / "sets.csv")
    assert "dirty" not in notes[1]
    guide = (RESULTS.parents[1] / "docs" / "guide" / "sets.md").read_text()
    ways = {
        "`predict_set`": "set",
        "`predict_set`, `per_class=True`": "per_class",
        "MAPIE, a third of the rows held out": "mapie_split",
        "MAPIE, 5 folds": "mapie_cross",
    }
    searched = [row for row in rows if row["model"] == "searched"]
    for words, way in ways.items():
        for level in (0.8, 0.9, 0.95):
            own = [row for row in searched if row["way"] == way and row["level"] == level]
            assert len(own) == 19
            found = sets.summary(own)
            assert (
                f"| {words} | {level:g} | {found['coverage']:.3f} | {found['least']:.3f} | "
                f"{found['worst_class']:.2f} | {found['size']:.2f} | {100 * found['empty']:.1f} % |"
            ) in guide
    scores = {"set": "1 minus the probability", "margin": "another label is", "aps": "randomised)"}
    for way, words in scores.items():
        found = sets.summary([r for r in searched if r["way"] == way and r["level"] == 0.9])
        assert f"{words} | {found['coverage']:.3f} | {found['size']:.2f} |" in guide
    for way in ("mapie_split", "mapie_cross"):
        assert f"{geometric_mean(sets.time_ratios(searched, way)):.1f} times" in guide
    for name in ("recordings of people", "each row twice"):
        single, grouped = (
            next(
                row["coverage"]
                for row in rows
                if (row["data_set"], row["model"], row["way"], row["level"])
                == (name, model, "set", 0.9)
            )
            for model in ("rows", "groups")
        )
        assert re.search(rf"\| {name}[^|]*\| 0.9 \| {single:.3f} \| {grouped:.3f} \|", guide)
