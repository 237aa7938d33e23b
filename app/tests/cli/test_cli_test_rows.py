"""What ``--test`` says: the score of the selection, intervals, confusions, and surprises."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score, roc_auc_score

from spansvm.models import load_model
from tests.problems import reference_wilson

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
pytest.importorskip("yaml")


def frame(n_rows=150, seed=0, flipped=0.0):
    """Two classes; the labels of a share of the rows are flipped."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    label = data.a + data.b + rng.normal(0, 0.4, n_rows) > 0.3
    data["kind"] = np.where(label ^ (rng.uniform(size=n_rows) < flipped), "yes", "no")
    return data


@pytest.fixture
def run(succeeding):
    """Runs the command in a folder with data; gives standard output and error."""
    frame().to_csv("data.csv", index=False)
    frame(80, seed=1).to_csv("test.csv", index=False)
    frame(80, seed=2, flipped=0.6).to_csv("strange.csv", index=False)
    Path("grid.yaml").write_text("C: [1, 10]\ngamma: [0.1, 1]\n")
    return succeeding


TUNE = "tune data.csv --search grid.yaml"


def predicted(path="test.csv"):
    model, rows = load_model("data-tuned/model.skops").model, pd.read_csv(path)
    return model, rows[["a", "b"]], rows.kind


def test_test_rows_get_their_error_with_an_interval_and_a_confusion_matrix(run):
    out, _ = run(f"{TUNE} --test test.csv")
    model, X, y = predicted()
    wrong = int((model.predict(X) != y).sum())
    low, high = (f"{100 * end:.1f}%" for end in reference_wilson(wrong, 80))
    told = f"{100 * wrong / 80:.1f}% ({wrong} of 80 rows; 95% CI {low} to {high})"
    assert re.search(rf"^test error \.+ {re.escape(told)}$", out, re.MULTILINE)
    counts = confusion_matrix(y, model.predict(X))
    assert "Confusion matrix for test.csv:" in out
    for label, own in zip(("no", "yes"), counts, strict=True):
        assert re.search(rf"^{label} +{own[0]} +{own[1]}$", out, re.MULTILINE)
    test = json.loads(Path("data-tuned/report.json").read_text())["test"]
    assert test["confusion"] == counts.tolist()
    assert test["interval"] == pytest.approx(reference_wilson(wrong, 80), abs=1e-12)
    assert (test["source"], test["classes"]) == ("test.csv", ["no", "yes"])
    assert (test["score_name"], test["score"]) == ("accuracy", 1 - wrong / 80)
    assert "test accuracy" not in out


@pytest.mark.parametrize("scoring", ["f1", "roc_auc"])
def test_test_rows_get_the_score_of_the_selection(run, scoring):
    out, _ = run(f"{TUNE} --test test.csv --scoring {scoring}")
    model, X, y = predicted()
    if scoring == "f1":
        expected = f1_score(y, model.predict(X), pos_label="yes")
    else:
        expected = roc_auc_score(y, model.decision_function(X))
    test = json.loads(Path("data-tuned/report.json").read_text())["test"]
    assert (test["score_name"], test["score"]) == (scoring, pytest.approx(expected))
    assert re.search(rf"^test {scoring} \.+ {expected:.4g}$", out, re.MULTILINE)
    out, _ = run("evaluate data-tuned test.csv")
    if scoring == "f1":
        assert re.search(rf"^f1 +{expected:.4f} +the score of the selection *$", out, re.MULTILINE)


def test_test_rows_that_are_as_expected_are_no_caution(run):
    _, err = run(f"{TUNE} --test test.csv")
    tested = json.loads(Path("data-tuned/report.json").read_text())["tested"]
    assert tested["doubts"] == []
    assert "Caution: The test error" not in err


def test_a_test_error_outside_the_interval_is_told(run):
    _, err = run(f"{TUNE} --test strange.csv")
    report = json.loads(Path("data-tuned/report.json").read_text())
    low, high = (f"{100 * end:.1f}%" for end in report["search"]["corrected"]["interval"])
    share = f"{100 * report['test']['error']:.1f}%"
    findings = report["tested"]["doubts"]
    for fact in (share, " is above ", f"{low} to {high}", "more than chance"):
        assert fact in findings[0]
    assert "no better than always predicting their largest class" in findings[1]
    for finding in findings:
        assert f"Caution: {finding}" in err


def test_few_test_rows_may_differ_by_chance(run):
    data = pd.concat([frame(9, seed=1), frame(80, seed=2, flipped=0.6).iloc[:3]])
    data.to_csv("few.csv", index=False)
    _, err = run(f"{TUNE} --test few.csv")
    tested = json.loads(Path("data-tuned/report.json").read_text())["tested"]
    if tested["doubts"]:
        assert "With 12 test rows that may be chance: the 95% CI of the test error is" in err


def test_a_score_outside_the_interval_is_told(run):
    _, err = run(f"{TUNE} --test strange.csv --scoring roc_auc")
    assert re.search(r"Caution: The roc_auc .* 0\.\d+, is below .* 0\.\d+ to 0\.\d+\.", err)


def test_a_score_that_test_rows_do_not_have_is_left_out(run):
    data = frame(80, seed=1)
    data[data.kind == "yes"].to_csv("one-class.csv", index=False)
    out, _ = run(f"{TUNE} --test one-class.csv --scoring roc_auc")
    assert "test roc_auc" not in out
    assert "test error" in out


def test_columns_that_had_another_role_are_not_a_surprise_in_other_files(run):
    for name in ("data.csv", "test.csv"):
        rows = pd.read_csv(name)
        rows.insert(0, "who", [f"P{i}" for i in range(len(rows))])
        rows.insert(0, "spare", 1)
        rows.to_csv(name, index=False)
    _, err = run(f"{TUNE} --id who --drop spare --test test.csv")
    assert "does not use" not in err
    _, err = run("evaluate data-tuned test.csv")
    assert "does not use" not in err
    rows = pd.read_csv("test.csv").rename(columns={"spare": "new"})
    rows.to_csv("test.csv", index=False)
    _, err = run("evaluate data-tuned test.csv")
    assert "The model does not use these columns: new." in err


def test_flags_are_shown_without_a_value_in_help(run):
    out, _ = run("tune --help")
    flags = [line for line in out.splitlines() if re.search(r"--(force|quiet|json|resume)\b", line)]
    assert len(flags) >= 4
    assert not [line for line in flags if "bool" in line.lower()]


def test_labels_and_probabilities_agree(run):
    run(f"{TUNE} --quiet")
    out, _ = run("predict data-tuned test.csv --proba")
    lines = [line.split(",") for line in out.splitlines()]
    assert lines[0][1:] == ["predicted", "decision", "probability_no", "probability_yes"]
    for _, label, decision, _, yes in lines[1:]:
        assert (label == "yes") == (float(decision) > 0)
        assert label == ("yes" if float(yes) > 0.5 else "no")


def test_only_labels_that_are_contradicted_are_suspicious(run):
    out, _ = run(TUNE)
    rows = re.findall(r"^\d+ +(yes|no) +(yes|no) +([\d.]+)%$", out, re.MULTILINE)
    assert rows
    assert all(label != said and float(chance) <= 50 for label, said, chance in rows)
    data = frame()
    data["kind"] = np.where(data.a + data.b > 0.3, "yes", "no")
    data[(data.a + data.b - 0.3).abs() > 0.3].to_csv("data.csv", index=False)
    out, _ = run(f"{TUNE} --force")
    assert "the other rows contradict none of the labels." in out
    assert "suspicious" not in out


def test_a_committee_is_written_if_it_is_asked_for(run, command_line):
    out, err = run("tune data.csv --search grid.yaml --committee --json")
    page = Path("data-tuned/report.html").read_text(encoding="utf-8")
    (told,) = re.findall(r"committee.skops holds a committee of 4 candidates.*", err)
    assert told in page
    assert "data-tuned/committee.skops" in json.loads(out)["files"]
    committee = load_model("data-tuned/committee.skops").model
    score = re.search(r"its corrected accuracy is (\S+), the 95% CI (\S+) to (\S+)\.", told)
    low, high = committee.corrected_interval_
    for text, expected in zip(score.groups(), (committee.corrected_score_, low, high), strict=True):
        assert float(text) == pytest.approx(expected, abs=1e-4)
    out, _ = run("predict data-tuned/committee.skops test.csv --proba")
    table = pd.read_csv(pd.io.common.StringIO(out))
    rows = frame(80, seed=1)[["a", "b"]]
    np.testing.assert_array_equal(table.predicted, committee.predict(rows))
    np.testing.assert_allclose(table.probability_yes, committee.predict_proba(rows)[:, 1])
    np.testing.assert_allclose(table.decision, np.log(table.probability_yes / table.probability_no))
    out, err = run("evaluate data-tuned/committee.skops test.csv")
    assert "holds no estimates" in err
    code, _, err = command_line("predict data-tuned/committee.skops test.csv --libsvm rows")
    assert code == 2
    assert "A committee has several models" in err
    run("tune data.csv --search grid.yaml --force")
    assert not Path("data-tuned/committee.skops").exists()
    err = run("tune data.csv --search grid.yaml --force --committee --sample 100")[1]
    assert "No committee.skops was written: the search had only some of the rows" in err


def test_a_committee_fills_in_missing_values_and_predicts_numbers(run):
    rows = frame()
    rows["size"] = rows.a * 3.0 + rows.b
    rows.loc[3, "a"] = np.nan
    rows.drop(columns="kind").to_csv("sizes.csv", index=False)
    Path("few.yaml").write_text("C: [1, 10]\nepsilon: [0.1]\n")
    run("tune sizes.csv --search few.yaml --impute median --committee")
    out, _ = run("predict sizes-tuned/committee.skops sizes.csv")
    predicted = pd.read_csv(pd.io.common.StringIO(out)).predicted
    assert np.corrcoef(predicted, rows["size"])[0, 1] > 0.95
