"""Regressions on the command line: which task, what is searched, predicted, printed and refused."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spansvm.models import load_model, skops_file
from spansvm_app.cli import sizing, tune, tuning
from spansvm_app.cli.sizing import size_of_regression
from spansvm_app.common.tasks import TASKS
from tests.wording import tells

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
pytest.importorskip("yaml")

GRID = "C: [10, 100]\ngamma: [0.1]\nepsilon: [5, 20]\n"


def houses(n_rows=160, seed=0):
    """Prices of houses, with text, missing values and groups; one price is a slip of the pen."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "house": [f"H{i}" for i in range(n_rows)],
            "size": rng.uniform(30, 200, n_rows).round(1),
            "town": rng.choice(["north", "south", "old town"], n_rows),
            "age": rng.exponential(20, n_rows).round(),
            "street": rng.integers(0, 12, n_rows),
            "trust": rng.uniform(0.5, 1, n_rows).round(3),
        }
    )
    price = 2 * data["size"] + 40 * (data.town == "old town") - 0.5 * data.age
    data["price"] = (price + 60 + rng.normal(0, 10, n_rows)).round(2)
    data.loc[::11, "age"] = np.nan
    data.loc[3, "price"] = 1500.0
    return data


def diabetes():
    data = load_diabetes(as_frame=True).frame
    data["target"] = data["target"].astype(int)
    return data


OPTIONS = "--id house --drop street --drop trust --impute median"


@pytest.fixture
def run(command_line):
    houses().to_csv("houses.csv", index=False)
    houses(60, seed=1).drop(index=3).to_csv("new.csv", index=False)
    diabetes().to_csv("diabetes.csv", index=False)
    Path("grid.yaml").write_text(GRID)
    return command_line


def rows_of(path):
    return list(csv.DictReader(io.StringIO(Path(path).read_text())))


def loo(C, gamma, epsilon, weight=None):
    """Left-out predictions for the diabetes data by scikit-learn, retrained without every row."""
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    said = np.empty(y.size)
    model = SVR(C=C, gamma=gamma, epsilon=epsilon, tol=1e-8)
    for row in range(y.size):
        rest = np.arange(y.size) != row
        said[row] = model.fit(X[rest], y[rest], None if weight is None else weight[rest]).predict(
            X[row : row + 1]
        )[0]
    return y, said


# Which task -------------------------------------------------------------------------------------


def test_a_file_of_whole_numbers_is_tuned_as_a_regression_and_says_why(run):
    code, out, err = run("tune diabetes.csv --candidates 12")
    assert code == 0, err
    assert "442 rows, 10 features (10 numeric); target 'target' (25 to 346, mean 152.1)" in err
    assert tells(err, "'target'", "214 different whole numbers", "regression", "--task class")
    assert re.search(r"^best setting \.* C = \S+, epsilon = \S+, gamma = \S+$", out, re.MULTILINE)
    assert tells(out, "Predictions for new rows are off by about", "root mean squared", "R2 is 0.5")


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([1, 2, 3] * 20, "classification"),
        ([0.5, 1.5, 2.5] * 20, "regression"),
        (list(range(60)), "regression"),
        (list(range(20)) * 3, "regression"),
        (list(range(19)) * 4, "classification"),
        (list(range(30)) * 20, "classification"),
        (["a", "b"] * 30, "classification"),
    ],
)
def test_the_values_of_the_target_decide(run, values, task):
    data = pd.DataFrame({"x": np.arange(len(values)) * 7 % 13, "y": values})
    data.to_csv("some.csv", index=False)
    code, out, err = run("tune some.csv --candidates 1 --json")
    assert code == 0, err
    assert json.loads(out)["facts"]["task"]["name"] == task
    assert f"so this is a {task}" in err


def test_the_task_can_be_chosen(run):
    data = pd.DataFrame({"x": np.arange(90) * 7 % 13, "y": np.arange(90) % 3})
    data.to_csv("some.csv", index=False)
    out = json.loads(run("tune some.csv --task regression --candidates 1 --json --quiet")[1])
    assert out["task"] == "regression"
    assert "so this is" not in run("tune some.csv --task regression --candidates 1 --force")[2]
    code, _, err = run("tune houses.csv --task clasification")
    assert code == 2
    assert tells(err, "no task 'clasification'", "classification")
    code, _, err = run(f"tune houses.csv {OPTIONS} --task classification")
    assert code == 2
    assert tells(err, "'price'", "classes must be integers or text", "--task regression")
    assert tune._TASKS == TASKS


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ("--search class-weights", ("class-weights", "classification", "C-gamma-epsilon")),
        ("--scoring f1", ("f1", "classes", "r2")),
        ("--scoring r3", ("no score 'r3'", "r2")),
        ("--scoring neg_mean_gamma_deviance", ("not defined for targets as small as",)),
        ("--method span_bound", ("span_bound", "classifier", "verified")),
        ("--scores trust", ("--scores", "quantity", "--weights")),
        ("--cv 1", ("--cv must be at least 2",)),
        ("--sample 10", ("--sample must be at least 50",)),
        ("--kernel rfb", ("no kernel 'rfb'",)),
    ],
)
def test_what_makes_no_sense_for_a_quantity_is_refused_in_a_sentence(run, options, facts):
    data = houses().assign(price=lambda own: own.price - 100)
    data.to_csv("houses.csv", index=False)
    code, _, err = run(f"tune houses.csv --id house --drop street --impute median {options}")
    assert code == 2, err
    assert tells(err, *facts), err
    assert not Path("houses-tuned/report.html").exists()


def test_a_search_of_the_other_task_is_refused(run):
    data = pd.DataFrame({"x": np.arange(40) % 7, "y": ["a", "b"] * 20})
    data.to_csv("some.csv", index=False)
    code, _, err = run("tune some.csv --search C-gamma-epsilon")
    assert code == 2
    assert tells(err, "C-gamma-epsilon", "for regression", "classes", "C-gamma")


def test_a_constant_target_and_texts_are_refused(run):
    pd.DataFrame({"x": [1, 2, 3], "y": [2.5, 2.5, 2.5]}).to_csv("same.csv", index=False)
    code, _, err = run("tune same.csv --task regression")
    assert code == 2
    assert tells(err, "'y'", "2.5 in all 3 rows", "two different values")
    code, _, err = run("tune houses.csv --target town --task regression")
    assert code == 2
    assert tells(err, "'town'", "texts", "regression predicts numbers")


# What is searched -------------------------------------------------------------------------------


def test_the_grid_follows_the_scales_of_rows_and_target(run):
    data = houses()
    data["price"] = data["price"] * 2**20
    data.to_csv("dear.csv", index=False)
    grids = []
    for name in ("houses", "dear"):
        assert run(f"tune {name}.csv {OPTIONS} --candidates 40 --quiet")[0] == 0
        rows = rows_of(f"{name}-tuned/results.csv")
        grids.append([{float(row[axis]) for row in rows} for axis in ("C", "epsilon", "gamma")])
    (C, epsilon, gamma), (more_C, more_epsilon, same_gamma) = grids
    assert gamma <= same_gamma | gamma
    assert min(more_C) == 2**20 * min(C)
    assert {value / 2**20 for value in more_epsilon} == epsilon
    spread = houses()["price"].std()
    assert min(C) < spread / 4
    assert max(C) > 64 * spread
    assert max(epsilon) < spread


def test_scores_in_results_are_those_of_scikit_learn(run):
    assert run("tune diabetes.csv --search grid.yaml --method loo --quiet")[0] == 0
    for row in rows_of("diabetes-tuned/results.csv"):
        y, said = loo(float(row["C"]), float(row["gamma"]), float(row["epsilon"]))
        assert float(row["mean_test_r2"]) == pytest.approx(r2_score(y, said), abs=1e-5)
        assert float(row["loo_error"]) == pytest.approx(root_mean_squared_error(y, said), rel=1e-5)


def test_folds_are_those_of_scikit_learn(run):
    line = "tune diabetes.csv --search grid.yaml --cv 4 --seed 3 --scoring neg_mean_absolute_error"
    code, out, err = run(line)
    assert code == 0, err
    best = rows_of("diabetes-tuned/results.csv")[0]
    X, y = load_diabetes(return_X_y=True)
    C, gamma, epsilon = (float(best[name]) for name in ("C", "gamma", "epsilon"))
    model = SVR(C=C, gamma=gamma, epsilon=epsilon, tol=1e-8)
    folds = KFold(4, shuffle=True, random_state=3)
    for name in ("neg_mean_absolute_error", "neg_root_mean_squared_error"):
        theirs = cross_val_score(
            make_pipeline(StandardScaler(), model), X, y, cv=folds, scoring=name
        )
        assert float(best[f"mean_test_{name}"]) == pytest.approx(theirs.mean(), rel=1e-4)
    off = -float(best["mean_test_neg_root_mean_squared_error"])
    assert re.search(rf"^cross-validation RMSE \.+ {off:.4g}", out, re.MULTILINE)


@pytest.mark.parametrize("options", ["--kernel linear", "--kernel poly --candidates 24"])
def test_other_kernels_are_searched(run, options):
    code, out, err = run(f"tune houses.csv {OPTIONS} {options} --test new.csv")
    assert code == 0, err
    assert ("gamma" in out) == ("poly" in options)
    assert float(re.search(r"test R2 \.+ (\S+)", out)[1]) > 0.9


def test_groups_are_left_out_as_a_whole(run):
    options = OPTIONS.replace("--drop street", "--groups street")
    code, out, err = run(f"tune houses.csv {options} --search grid.yaml")
    assert code == 0, err
    assert "whole groups are left out" in err
    assert "new rows of new groups" in out
    assert "leave-one-group-out RMSE" in out
    model = load_model("houses-tuned/model.skops").model[-1]
    assert len(model.left_out_sets_) == 12
    assert "12 groups" in Path("houses-tuned/report.html").read_text(encoding="utf-8")


def test_weights_weigh(run):
    data = diabetes()
    weight = np.where(np.arange(442) % 3, 1.0, 0.1)
    data.insert(0, "w", weight)
    data.to_csv("weighted.csv", index=False)
    Path("one.yaml").write_text("C: [100]\ngamma: [0.01]\nepsilon: [10]\n")
    run("tune weighted.csv --weights w --search one.yaml --quiet --method loo")
    model = load_model("weighted-tuned/model.skops").model[-1]
    _, said = loo(100.0, 0.01, 10.0, weight)
    assert np.abs(model.loo_predict_ - said).max() < 0.01


def test_a_sample_is_searched_and_all_rows_are_trained_on(run):
    line = "tune diabetes.csv --sample 100 --search grid.yaml --method loo"
    code, out, err = run(f"{line} --json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["n_rows"], found["trained"]["n_rows"]) == (100, 442)
    best = found["best_params"]
    y, said = loo(best["C"], best["gamma"], best["epsilon"])
    off = found["trained"]["errors"]["rmse"]
    # The scaler was fitted on all rows here as there.
    assert off == pytest.approx(root_mean_squared_error(y, said), rel=1e-5)
    page = Path("diabetes-tuned/report.html").read_text(encoding="utf-8")
    assert "trained on the sample" in page


def test_many_rows_are_sampled_whatever_the_clock_says():
    for n_rows, n_candidates in ((1000, 10**6), (1400, 144), (4000, 6)):
        assert size_of_regression(n_rows, n_candidates) == sizing.Size()
    size = size_of_regression(12_000, 144)
    assert (size.sample, size.components) == (1000, None)
    assert tells(size.why, "144 regressions", "12000 rows", "--sample 1000", "trained on all")
    assert size_of_regression(12_000, 12).sample == 2000
    assert size_of_regression(1400, 144, n_fits=5).sample == 1000


def test_a_sample_of_its_own_accord_is_trained_on_all_rows(run, monkeypatch):
    monkeypatch.setattr(sizing, "_WHOLE_TARGETS", 1.0)
    monkeypatch.setattr(sizing, "_TARGETS", (120,))
    monkeypatch.setattr(tuning, "MOST_FOLLOWED", 300)
    monkeypatch.setattr(skops_file, "MOST_FOLLOWED", 300)
    code, out, err = run("tune diabetes.csv --search grid.yaml --json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["n_rows"], found["trained"]["n_rows"]) == (120, 442)
    best = found["best_params"]
    y, said = loo(best["C"], best["gamma"], best["epsilon"])
    # By the span: the model of all rows is saved without following every row.
    off = found["trained"]["errors"]["rmse"]
    assert off == pytest.approx(root_mean_squared_error(y, said), rel=0.02)
    rows = list(
        csv.DictReader(io.StringIO(run("predict diabetes-tuned diabetes.csv --interval")[1]))
    )
    widths = [float(row["upper"]) - float(row["lower"]) for row in rows]
    assert np.ptp(widths) < 1e-6


# What is written --------------------------------------------------------------------------------


def test_the_same_command_writes_the_same_but_for_times(run):
    for out in ("first", "second"):
        line = f"tune houses.csv {OPTIONS} --search grid.yaml --test new.csv --quiet --out {out}"
        assert run(line)[0] == 0
    one, two = (rows_of(f"{out}/results.csv") for out in ("first", "second"))
    for row in (*one, *two):
        for name in [name for name in row if name.endswith("_time")]:
            del row[name]
    assert one == two
    assert Path("first/model.libsvm").read_bytes() == Path("second/model.libsvm").read_bytes()
    texts = [
        re.sub(r'"(seconds|refit_seconds|created|command)": [^\n]*', "", text)
        for text in (Path(f"{out}/report.json").read_text() for out in ("first", "second"))
    ]
    assert texts[0] == texts[1]


def test_predictions_and_intervals_are_those_of_the_model(run):
    run(f"tune houses.csv {OPTIONS} --search grid.yaml --quiet")
    code, out, err = run("predict houses-tuned new.csv --id house --interval 0.8")
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["id", "predicted", "lower", "upper"]
    data = houses(60, seed=1).drop(index=3)
    assert [row["id"] for row in rows] == data.house.tolist()
    model = load_model("houses-tuned/model.skops").model
    said = np.array([float(row["predicted"]) for row in rows])
    assert said == pytest.approx(model.predict(data[["size", "town", "age"]]), abs=1e-9)
    ends = np.array([[float(row["lower"]), float(row["upper"])] for row in rows])
    inside = (ends[:, 0] <= data.price) & (data.price <= ends[:, 1])
    assert 0.65 < inside.mean() < 0.95
    wider = list(csv.DictReader(io.StringIO(run("predict houses-tuned new.csv --interval")[1])))
    assert float(wider[0]["upper"]) > ends[0, 1]
    same = run("predict houses-tuned new.csv --interval 0.9")[1]
    assert list(csv.DictReader(io.StringIO(same))) == wider
    plain = run("predict houses-tuned new.csv")[1]
    assert plain.splitlines()[0] == "row,predicted"


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ("--interval 1.5", ("--interval must be between 0 and 1", "1.5")),
        ("--proba", ("--proba is for classes", "--interval")),
    ],
)
def test_predict_refuses_in_a_sentence(run, options, facts):
    run(f"tune houses.csv {OPTIONS} --search grid.yaml --quiet")
    code, _, err = run(f"predict houses-tuned new.csv {options}")
    assert code == 2
    assert tells(err, *facts), err


def test_intervals_of_classes_are_refused(run):
    data = pd.DataFrame({"x": np.arange(40) % 7, "y": ["a", "b"] * 20})
    data.to_csv("some.csv", index=False)
    run("tune some.csv --candidates 1 --quiet")
    code, _, err = run("predict some-tuned some.csv --interval")
    assert code == 2
    assert tells(err, "--interval is for a quantity", "--proba")


@pytest.mark.skipif(shutil.which("svm-predict") is None, reason="LIBSVM is not installed")
def test_libsvm_predicts_the_same_from_the_files(run):
    run(f"tune houses.csv {OPTIONS} --search grid.yaml --quiet")
    run("predict houses-tuned new.csv --out said.csv --libsvm new.libsvm")
    subprocess.run(
        ["svm-predict", "new.libsvm", "houses-tuned/model.libsvm", "said.txt"],
        check=True, capture_output=True,
    )  # fmt: skip
    ours = [float(row["predicted"]) for row in rows_of("said.csv")]
    theirs = [float(line) for line in Path("said.txt").read_text().split()]
    assert theirs == pytest.approx(ours, rel=1e-6)


def test_evaluate_shows_errors_of_other_rows_and_knows_the_training_file(run):
    run(f"tune houses.csv {OPTIONS} --search grid.yaml --quiet")
    code, out, err = run("evaluate houses-tuned new.csv --json")
    assert code == 0, err
    figures = json.loads(out)["figures"]
    data = houses(60, seed=1).drop(index=3)
    model = load_model("houses-tuned/model.skops").model
    said = model.predict(data[["size", "town", "age"]])
    assert figures["rmse"] == pytest.approx(root_mean_squared_error(data.price, said))
    assert figures["mae"] == pytest.approx(mean_absolute_error(data.price, said))
    assert figures["r2"] == pytest.approx(r2_score(data.price, said))
    assert figures["rmse_interval"][0] < figures["rmse"] < figures["rmse_interval"][1]
    ends = model[-1].predict_interval(model[:-1].transform(data[["size", "town", "age"]]), 0.9)
    inside = (ends[:, 0] <= data.price) & (data.price <= ends[:, 1])
    assert figures["coverage"] == pytest.approx(inside.mean())
    code, out, err = run("evaluate houses-tuned houses.csv")
    assert code == 0, err
    assert "The model was trained on houses.csv" in err
    assert tells(out, "corrected RMSE", "leave-one-out RMSE", "training RMSE", "within 90%")


def test_an_odd_value_is_named(run):
    code, out, _ = run(f"tune houses.csv {OPTIONS} --search grid.yaml")
    assert code == 0
    table = out.split("doubtful")[1]
    assert "H3 " in table
    assert "1500" in table


def test_the_default_search_is_no_worse_than_a_wide_one_by_scikit_learn(run):
    code, out, err = run("tune diabetes.csv --json --quiet")
    assert code == 0, err
    best = json.loads(out)["best_params"]
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVR(**{name: best[name] for name in best}))
    said = cross_val_predict(model, X, y, cv=KFold(10, shuffle=True, random_state=0))
    assert r2_score(y, said) > 0.48
