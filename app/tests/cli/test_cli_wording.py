"""What the commands say about a model: errors by their right names, and no harmful advice."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from spansvm.models import load_model, save_model
from spansvm.search.evaluation.progress import SearchProgress
from spansvm_app.cli.grids import plan_search
from spansvm_app.tables import read_table

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
pytest.importorskip("yaml")


def persons():
    """Rows of 15 persons, each with a place of its own and a label by chance.

    A row is told by its neighbours of the same person, a person by none.
    """
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(15), 8)
    places = rng.uniform(size=(15, 2))[person] + rng.normal(0, 0.01, (120, 2))
    label = np.array(["ill", "well"])[rng.integers(0, 2, 15)][person]
    return pd.DataFrame({"a": places[:, 0], "b": places[:, 1], "person": person, "state": label})


def rare(n_rows=200):
    """A rare class that the features do not tell."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.normal(size=n_rows)})
    data["failed"] = (np.arange(n_rows) % 20 == 0).astype(int)
    return data


def three_classes(n_rows=150):
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, n_rows)
    centres = np.array([[0, 0], [1, 0], [0.5, 0.8]])
    X = centres[label] + rng.normal(0, 0.35, (n_rows, 2))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.array(["x", "y", "z"])[label]})


@pytest.fixture
def run(succeeding):
    """Runs the command in a folder with data; gives standard output and error."""
    persons().to_csv("persons.csv", index=False)
    rare().to_csv("rare.csv", index=False)
    three_classes().to_csv("three.csv", index=False)
    Path("grid.yaml").write_text("C: [1, 10]\ngamma: [1, 100]\n")
    Path("soft.yaml").write_text("C: [0.01, 0.1]\n")
    return succeeding


def rows_of(path):
    return list(csv.DictReader(io.StringIO(Path(path).read_text())))


def test_with_folds_of_groups_the_cross_validation_error_is_corrected_for_the_headline(run):
    out, _ = run("tune persons.csv --groups person --method kfold --search grid.yaml")
    rows = rows_of("persons-tuned/results.csv")
    error = 100 * (1 - float(rows[0]["mean_test_score"]))
    assert re.search(rf"^cross-validation error \.+ {error:.1f}% \(selection", out, re.MULTILINE)
    assert re.search(r"^leave-one-out error \(single rows\) \.+ \d", out, re.MULTILINE)
    page = Path("persons-tuned/report.html").read_text(encoding="utf-8")
    main_tile = page.split('class="tile main">')[1].split("</div>")[0]
    assert "corrected error" in main_tile
    next_tile = page.split('class="tile">')[1].split("</div>")[0]
    assert "cross-validation error" in next_tile
    assert f"{error:.1f}%" in next_tile
    corrected = json.loads(Path("persons-tuned/report.json").read_text())["search"]["corrected"]
    # Fifteen persons tell less than 120 independent rows.
    assert np.diff(corrected["interval"]) > 0.25
    assert page.count('class="tile main"') == 1
    assert "Leaving out each of" not in page


def test_with_folds_of_groups_evaluate_points_to_the_corrected_error(run):
    run("tune persons.csv --groups person --method kfold --search grid.yaml --quiet")
    out, err = run("evaluate persons-tuned persons.csv")
    assert "says little about new rows; look at the corrected error instead." in err
    assert out.index("corrected error") < out.index("cross-validation error")
    assert out.index("cross-validation error") < out.index("leave-one-out error (single rows)")


def test_folds_tell_their_error_beside_another_score(run):
    line = "tune persons.csv --groups person --method kfold --search grid.yaml"
    out, _ = run(f"{line} --scoring balanced_accuracy")
    rows = rows_of("persons-tuned/results.csv")
    error = 100 * (1 - float(rows[0]["mean_test_accuracy"]))
    assert re.search(rf"^cross-validation error \.+ {error:.1f}%$", out, re.MULTILINE)
    assert re.search(r"^balanced_accuracy \.+ ", out, re.MULTILINE)


@pytest.mark.parametrize("method", ["verified", "span_rule", "loo"])
def test_the_leave_one_out_error_of_the_selected_model_is_one_number_whatever_the_method(
    run, method
):
    line = f"tune persons.csv --drop person --search grid.yaml --method {method} --scoring roc_auc"
    out, _ = run(f"{line} --json --quiet")
    content = json.loads(out)
    rows = rows_of("persons-tuned/results.csv")
    assert content["judged_error"] is None
    if method != "span_rule":
        assert content["loo_error"] == float(rows[0]["loo_error"])
    out, _ = run(f"{line} --force")
    assert re.search(r"^leave-one-out error \.+ ", out, re.MULTILINE)
    out, _ = run("evaluate persons-tuned persons.csv")
    assert re.search(r"^leave-one-out error +\d", out, re.MULTILINE)


def test_a_class_that_is_never_predicted_is_reported_and_its_rows_are_not_suspected(run):
    out, err = run("tune rare.csv --search soft.yaml")
    assert "Caution: The model never predicts '1' (10 of 200 rows have it)." in err
    assert "A rarer class is often missed; try --scoring balanced_accuracy, for which" in err
    assert "majority-class error .. 5.0%; the model does no better" in out
    assert "hardly better" not in err
    assert "most suspicious" not in out
    assert "No rows are listed: '0' is predicted for every row when left out." in out
    page = Path("rare-tuned/report.html").read_text(encoding="utf-8")
    assert "The model never predicts &#39;1&#39;" in page
    assert "--scoring balanced_accuracy" in page.split("<section")[0]


def test_one_feature_is_called_one_feature(run):
    _, err = run("tune three.csv --drop b --search soft.yaml")
    assert "three.csv: 150 rows, 1 feature (1 numeric); target 'kind'" in err


def test_accuracy_is_not_held_against_another_score(run):
    out, err = run("tune rare.csv --search class-weights --scoring balanced_accuracy")
    assert re.search(r"^majority-class error \.+ 5\.0%$", out, re.MULTILINE)
    assert "The model is hardly better" not in err
    (low,) = re.findall(r"corrected balanced_accuracy \.+ \S+ \(95% CI (\S+) to", out)
    assert ("By balanced_accuracy, the model is hardly better" in err) == (float(low) <= 0.5)


def test_force_leaves_no_libsvm_model_of_another_search(run):
    run("tune three.csv --search grid.yaml --quiet")
    assert Path("three-tuned/model.libsvm").exists()
    Path("grid.yaml").write_text("break_ties: [true]\n")
    _, err = run("tune three.csv --search grid.yaml --force")
    assert "No model.libsvm was written: LIBSVM does not break ties" in err
    assert not Path("three-tuned/model.libsvm").exists()


def test_decision_values_of_pairs_are_named_by_pairs(run):
    run("tune three.csv --search grid.yaml --quiet")
    saved = load_model("three-tuned/model.skops")
    model = saved.model.set_params(svm__decision_function_shape="ovo")
    save_model("pairs.skops", model, metadata=saved.metadata)
    out, _ = run("predict pairs.skops three.csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["row", "predicted", "decision_x_y", "decision_x_z", "decision_y_z"]
    for row in rows:
        assert (float(row["decision_x_y"]) > 0) or row["predicted"] != "x"


def test_a_folder_stands_for_the_model_in_it(run):
    run("tune three.csv --search grid.yaml --quiet")
    assert run("predict three-tuned three.csv") == run("predict three-tuned/model.skops three.csv")


def test_contradicted_rows_of_more_classes_come_first(run):
    out, _ = run("tune three.csv --search grid.yaml --json --quiet")
    content = json.loads(out)
    report = json.loads(Path("three-tuned/report.json").read_text())["suspicious"]
    contradicted = [row["label"] != row["predicted"] for row in report["rows"]]
    assert contradicted == sorted(contradicted, reverse=True)
    assert sum(contradicted) == report["n_contradicted"] == content["n_suspicious"]


def test_rows_without_names_are_explained(run):
    explained = "Row 1 is the first row of data, after any header."
    out, _ = run("tune three.csv --search grid.yaml")
    assert explained in out
    out, _ = run("tune persons.csv --id person --search grid.yaml")
    assert explained not in out


def test_what_fails_is_told_without_a_traceback(run):
    Path("grid.yaml").write_text("C: [1, -1]\n")
    _, err = run("tune three.csv --search grid.yaml")
    assert "1 of 2 fits failed" in err
    assert "must be a positive number" in err
    assert "Traceback" not in err


def test_imputation_of_texts_is_told_by_its_name(run):
    data = three_classes()
    data["colour"] = np.where(np.arange(150) % 2, "red", "blue")
    data.loc[3, "colour"] = None
    data = data[["a", "b", "colour", "kind"]]
    data.to_csv("holes.csv", index=False)
    _, err = run("tune holes.csv --search grid.yaml --impute median")
    assert "filled in (most_frequent for texts): 1 in 'colour'." in err
    data.loc[5, "a"] = np.nan
    data.to_csv("holes.csv", index=False)
    _, err = run("tune holes.csv --search grid.yaml --impute median --force")
    assert "filled in (median for numbers, most_frequent for texts)" in err


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("numbers.yaml", "C: [1e3, 1]", {"C": [1000.0, 1]}),
        ("words.yaml", "class_weight: [{yes: 2, no: 1e1}]",
         {"class_weight": [{"yes": 2, "no": 10.0}]}),
        ("words.json", '{"class_weight": [{"yes": 2, "no": 1}, "balanced"]}',
         {"class_weight": [{"yes": 2, "no": 1}, "balanced"]}),
    ],
)  # fmt: skip
def test_values_of_a_file_are_what_they_look_like(run, name, text, expected):
    Path(name).write_text(text)
    lines = [f"{i},{'yes' if i % 2 else 'no'}" for i in range(20)]
    Path("answers.csv").write_text("\n".join(["a,answer", *lines]))
    plan = plan_search(name, read_table("answers.csv"))
    assert plan.grid == [expected]
    assert all(type(value) is not str for value in plan.grid[0].get("C", []))


def test_numbers_in_quotes_name_classes_that_are_numbers(run):
    Path("weights.json").write_text('{"class_weight": [{"0": 1, "1": 20}]}')
    plan = plan_search("weights.json", read_table("rare.csv"))
    assert plan.grid == [{"class_weight": [{0: 1, 1: 20}]}]


def test_without_a_terminal_progress_is_a_line_from_time_to_time(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("spansvm.search.evaluation.progress.time.monotonic", lambda: now[0])
    with SearchProgress(100, shown=True) as progress:
        for candidate in range(50):
            now[0] += 1.0
            progress.advance(candidate, 0.5)
    assert capsys.readouterr().err.splitlines() == [
        "30/100 candidates, best 0.5000, about 70 seconds left",
        "50/100 candidates, best 0.5000, about 50 seconds left",
    ]


def test_the_best_score_over_folds_is_that_of_a_candidate_not_of_a_fold(capsys):
    with SearchProgress(2, 2, shown=True) as progress:
        for candidate, score in ((0, 0.9), (1, 0.8), (0, 0.5), (1, 0.7)):
            progress.advance(candidate, score)
    assert capsys.readouterr().err.splitlines() == ["2/2 candidates (4/4 fits), best 0.7500"]
