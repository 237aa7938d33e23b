"""``python -m reproduction`` and ``python -m reproduction.datasets`` as a user gives them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import reproduction.__main__
import reproduction.datasets.__main__
from reproduction.datasets import names

ROOT = Path(__file__).parents[2]


def list_data_sets(*arguments):
    return invoke(reproduction.datasets.__main__.app, *arguments)


def reproduce(*arguments):
    return invoke(reproduction.__main__.app, *arguments)


def invoke(app, *arguments):
    # Wide enough that no message is broken into lines.
    return CliRunner(env={"COLUMNS": "300"}).invoke(app, [str(part) for part in arguments])


def test_the_data_sets_are_listed_with_sizes_and_places(data_folder):
    result = list_data_sets()
    assert result.exit_code == 0
    for name in names():
        assert name in result.output
    assert str(data_folder / "adult_a1a") in result.output
    assert "30956" in result.output


def test_data_sets_that_are_not_here_are_listed_as_such(monkeypatch, tmp_path):
    monkeypatch.delenv("SPANSVM_DATA", raising=False)
    monkeypatch.setenv("SPANSVM_CACHE", str(tmp_path))
    result = list_data_sets()
    assert result.exit_code == 0
    assert result.output.count("missing") == 14


def test_a_data_set_is_described_with_licence_and_citation():
    result = list_data_sets("skin_nonskin")
    assert result.exit_code == 0
    for word in ("licence: CC BY 4.0", "citation:", "homepage: https://", "500 training"):
        assert word in result.output


def test_a_name_that_is_none_is_met_with_the_closest():
    for result in (list_data_sets("adlut"), reproduce("1", "--datasets", "adlut")):
        assert result.exit_code == 2
        assert "did you mean 'adult'?" in result.output


@pytest.mark.parametrize("wrong", ["7", "0-3", "3-1", "one"])
def test_an_experiment_that_is_none_is_refused(wrong, tmp_path):
    result = reproduce(wrong, "--out", tmp_path)
    assert result.exit_code == 2
    assert f"'{wrong}' is not an experiment" in result.output


def test_an_error_is_a_sentence_and_not_a_traceback(tmp_path):
    command = [sys.executable, "-m", "reproduction", "7", "--out", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "'7' is not an experiment" in result.stderr
    assert "see 'python -m reproduction --help'." in result.stderr
    assert "Traceback" not in result.stderr


def test_a_quick_run_writes_tables_figures_and_a_page(tmp_path, data_folder):
    pytest.importorskip("matplotlib")
    arguments = ("1-4", "--quick", "--datasets", "splice", "--splits", 1)
    result = reproduce(*arguments, "--curves", "splice", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "This is a quick run" in page
    assert "| splice |" in page
    assert "python -m reproduction 1 2 3 4 --quick" in page
    files = {path.name for path in (tmp_path / "reproduction").iterdir()}
    assert {"class_weights.csv", "class_weights_table.md", "class_weights_table.csv",
            "prediction_table.csv", "existence_table.csv", "curves_splice.png",
            "curves_splice.svg"} <= files  # fmt: skip
    # The page again, from the summaries alone.
    (tmp_path / "results.sqlite").unlink()
    (tmp_path / "reproduction.md").unlink()
    assert reproduce("--page-only", "--out", tmp_path).exit_code == 0
    assert (tmp_path / "reproduction.md").read_text(encoding="utf-8") == page


def test_the_curves_show_every_method_and_mark_every_minimum(data_folder, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    from reproduction.csv_files import read_rows
    from reproduction.figures import curves_figure

    reproduce("1", "--quick", "--datasets", "splice", "--splits", 1, "--out", tmp_path)
    rows, _ = read_rows(tmp_path / "reproduction" / "curves.csv")
    figure = curves_figure(rows, "splice")
    assert [panel.get_xlabel() for panel in figure.axes] == [
        r"$\log_2$ $C^+$", r"$\log_2$ $C^-$"
    ]  # fmt: skip
    for panel in figure.axes:
        lines = [line for line in panel.lines if line.get_linestyle() != "None"]
        marks = [line.get_marker() for line in panel.lines if line.get_linestyle() == "None"]
        assert len(lines) == 4
        assert sorted(marks) == ["*", "s", "s", "s"]
        dashes = {str(line._dash_pattern) for line in lines if line.is_dashed()}
        assert len(dashes) == 2
    plt.close(figure)
