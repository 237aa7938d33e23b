"""``labels.csv``: what the others say of every label, corrected by hand, and used again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spansvm import SpanSVC, find_label_issues
from spansvm.models import load_model
from spansvm_app.tables import Roles, read_table

pytest.importorskip("typer", reason="typer is not installed")

GRID = "C: [1, 10]\ngamma: [0.5, 2]\n"
WRONG = (5, 40)


def frame():
    """Two clouds; the labels of two rows are wrong, and one row has none."""
    rng = np.random.default_rng(0)
    kind = np.where(np.arange(80) % 2 == 0, "a", "b")
    shift = np.where(kind == "a", 0.0, 4.0)
    data = pd.DataFrame({"x": rng.normal(size=80) + shift, "z": rng.normal(size=80)})
    data["kind"] = kind
    for row in WRONG:
        data.loc[row, "kind"] = "b" if data.kind[row] == "a" else "a"
    data.loc[1, "kind"] = ""
    return data


@pytest.fixture
def run(command_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame().to_csv("data.csv", index=False)
    Path("grid.yaml").write_text(GRID)
    return command_line


def lines_of(path):
    with Path(path).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def corrected(lines, path):
    """The file, with the most probable label for every issue."""
    for line in lines:
        if line["is_label_issue"] == "yes":
            line["corrected"] = line["predicted_label"]
    pd.DataFrame(lines).to_csv(path, index=False)


def test_every_row_has_a_line_the_most_doubtful_first(run):
    run("tune data.csv --search grid.yaml --quiet")
    lines = lines_of("data-tuned/labels.csv")
    assert list(lines[0]) == [
        "row", "given_label", "predicted_label", "label_quality", "is_label_issue",
        "contradicted_by", "corrected",
    ]  # fmt: skip
    rows = [int(line["row"]) for line in lines]
    assert sorted(rows) == [1, *range(3, 81)]
    assert set(rows[:2]) == {row + 1 for row in WRONG}
    data = frame()
    assert all(line["given_label"] == data.kind[int(line["row"]) - 1] for line in lines)
    for line in lines[:2]:
        assert line["is_label_issue"] == "yes"
        against = [int(row) - 1 for row in line["contradicted_by"].split()]
        assert against
        assert (data.kind[against] == line["predicted_label"]).all()
    issues = [line for line in lines if line["is_label_issue"] == "yes"]
    quality = [float(line["label_quality"]) for line in issues]
    assert lines[: len(issues)] == issues
    assert quality == sorted(quality)
    assert not any(line["corrected"] for line in lines)


def test_corrected_labels_are_those_that_a_second_search_learns_from(run):
    run("tune data.csv --search grid.yaml --quiet")
    corrected(lines_of("data-tuned/labels.csv"), "corrected.csv")
    command = "tune data.csv --search grid.yaml --labels corrected.csv --out second"
    code, _, err = run(command)
    assert code == 0
    assert "were corrected as corrected.csv says" in err
    y = read_table("data.csv").y.copy()
    numbers = read_table("data.csv").row_numbers - 1
    for row in WRONG:
        y[numbers == row] = "b" if frame().kind[row] == "a" else "a"
    model = load_model("second/model.skops").model[-1]
    np.testing.assert_array_equal(model.training_labels_, y)
    first, second = (
        json.loads(Path(folder, "report.json").read_text())["summary"]["loo_error"]
        for folder in ("data-tuned", "second")
    )
    assert second < first
    code = json.loads(Path("second/report.json").read_text())["recipe"]["code"]
    assert "table = correct_labels(table, 'corrected.csv')" in code
    space: dict[str, object] = {}
    exec(code, space)  # what the report says rebuilds the model
    np.testing.assert_array_equal(space["y"], y)


def test_corrections_are_kept_from_search_to_search(run):
    """The file that a search writes has all that the one it was given has."""
    run("tune data.csv --search grid.yaml --quiet")
    corrected(lines_of("data-tuned/labels.csv"), "data-tuned/labels.csv")
    again = "tune data.csv --search grid.yaml --quiet --force --labels data-tuned/labels.csv"
    data = frame()
    for _ in range(2):
        assert run(again)[0] == 0
        lines = {int(line["row"]): line for line in lines_of("data-tuned/labels.csv")}
        assert all(line["given_label"] == data.kind[row - 1] for row, line in lines.items())
        right = {row - 1: line["corrected"] for row, line in lines.items() if line["corrected"]}
        assert right == {row: "b" if data.kind[row] == "a" else "a" for row in WRONG}


def test_labels_of_other_data_are_refused_before_the_search(run):
    run("tune data.csv --search grid.yaml --quiet")
    lines = lines_of("data-tuned/labels.csv")
    corrected(lines, "corrected.csv")
    data = frame()
    data["kind"] = data.kind.to_numpy()[::-1]
    data.to_csv("other.csv", index=False)
    code, _, err = run("tune other.csv --search grid.yaml --labels corrected.csv")
    assert code == 2
    assert "give the labels.csv of a search on this file" in err
    assert not Path("other-tuned").exists()


def test_lines_of_a_regression_are_those_of_its_targets(run):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=60), "price": 0.0})
    data["price"] = 3.0 * data.x + 0.1 * rng.normal(size=60)
    data.loc[30, "price"] += 20.0
    data.to_csv("price.csv", index=False)
    Path("grid.yaml").write_text("C: [10]\ngamma: [0.5]\nepsilon: [0.1]\n")
    run("tune price.csv --search grid.yaml --quiet")
    lines = lines_of("price-tuned/labels.csv")
    assert (lines[0]["row"], lines[0]["is_label_issue"]) == ("31", "yes")
    assert float(lines[0]["given_label"]) == data.price[30]
    lines[0]["corrected"] = str(3.0 * data.x[30])
    pd.DataFrame(lines).to_csv("corrected.csv", index=False)
    run("tune price.csv --search grid.yaml --quiet --labels corrected.csv --out second")
    assert lines_of("second/labels.csv")[0]["row"] != "31"


def test_the_lines_are_those_of_find_label_issues(run):
    Path("grid.yaml").write_text("C: [10]\ngamma: [2]\n")
    frame().assign(name=[f"N{row}" for row in range(80)]).to_csv("data.csv", index=False)
    run("tune data.csv --search grid.yaml --quiet --id name --target kind")
    model = load_model("data-tuned/model.skops").model
    table = read_table("data.csv", roles=Roles(target="kind", id="name"))
    X = model[:-1].transform(table.X)
    issues = find_label_issues(SpanSVC(C=10, gamma=2).fit(X, table.y))
    by_row = {int(line["row"]): line for line in lines_of("data-tuned/labels.csv")}
    for place, number in enumerate(table.row_numbers):
        quality = float(by_row[number]["label_quality"])
        assert quality == pytest.approx(issues.label_quality[place], abs=1e-9)
        assert by_row[number]["id"] == f"N{number - 1}"
