"""The commands, as a user runs them: what they print, write and return."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spansvm.models import load_model, save_model
from spansvm_app.cli import options, tune
from spansvm_app.cli.grids import KERNEL_NAMES, SEARCHES
from spansvm_app.cli.method_choice import SPLITTERS
from spansvm_app.cli.training_record import TrainingRecord
from spansvm_app.tables import IMPUTATIONS, SCALINGS
from spansvm_app.tables.formats import FORMATS
from spansvm_app.tables.roles import MISSING_TARGETS
from tests.problems import reference_wilson

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
pytest.importorskip("yaml")

DOCS = Path(__file__).parents[3] / "docs" / "command-line.md"

GRID = "C: [1, 10]\ngamma: [0.1, 1]\n"


def frame(n_rows=120, seed=0):
    """Two classes of text that numbers and categories tell apart."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "patient": [f"P{i}" for i in range(n_rows)],
            "age": rng.normal(50, 10, n_rows),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "ward": rng.integers(0, 12, n_rows),
            "confidence": rng.uniform(size=n_rows),
            "certainty": rng.uniform(0.5, 1, n_rows),
        }
    )
    value = (data.age - 50) / 10 + (data.colour == "red") + rng.normal(0, 0.3, n_rows)
    data["outcome"] = np.where(value > 0.5, "yes", "no")
    return data


@pytest.fixture
def run(command_line):
    """Runs the command in a folder with data; gives exit code, standard output and error."""
    frame().to_csv("data.csv", index=False)
    frame(40, seed=1).to_csv("test.csv", index=False)
    Path("grid.yaml").write_text(GRID)
    return command_line


def rows_of(path):
    return list(csv.DictReader(io.StringIO(Path(path).read_text())))


#: What leaves age and colour as features, without and with the names of the rows.
NAMED = "--id patient --drop ward --drop confidence --drop certainty"
FEW = NAMED.replace("--id", "--drop")


def test_tune_needs_nothing_but_a_file(run):
    code, out, err = run("tune data.csv")
    assert code == 0
    assert re.search(r"best setting \.* C = \S+, gamma = \S+$", out, re.MULTILINE)
    assert "data.csv: 120 rows, 5 features (4 numeric, 1 categorical); target 'outcome'" in err
    assert "Column 'patient' has another value in most rows" in err
    assert "Searching C-gamma: 40 candidates by leave-one-out." in err
    names = sorted(path.name for path in Path("data-tuned").iterdir())
    assert names == [
        "labels.csv", "model.libsvm", "model.skops", "report.html", "report.json", "results.csv",
    ]  # fmt: skip


def test_the_printed_error_of_one_candidate_is_its_own_with_its_interval(run):
    Path("one.yaml").write_text("C: [1]\n")
    _, out, err = run(f"tune data.csv {FEW} --search one.yaml")
    model = load_model("data-tuned/model.skops").model
    n_errors = round(model[-1].loo_error_ * 120)
    low, high = (f"{100 * end:.1f}%" for end in reference_wilson(n_errors, 120))
    assert f"({n_errors} of 120 rows; 95% CI {low} to {high})" in out
    assert "corrected" not in out + err
    assert "best of" not in out + err
    page = Path("data-tuned/report.html").read_text(encoding="utf-8")
    assert "corrected" not in page.split("<section")[0]
    assert "best of 1" not in page


def test_the_corrected_error_is_printed_before_the_models_own(run):
    _, out, err = run(f"tune data.csv {FEW} --search grid.yaml")
    report = json.loads(Path("data-tuned/report.json").read_text())
    corrected, own = report["search"]["corrected"], report["leave_one_out"]
    share, low, high = (f"{100 * one:.1f}%" for one in (corrected["value"], *corrected["interval"]))
    assert f"corrected error ....... {share} (95% CI {low} to {high})\n" in out
    error = f"{100 * own['error']:.1f}% ({own['n_errors']} of 120 rows)"
    assert f"leave-one-out error ... {error}, the best of 4 candidates\n" in out
    assert out.index("corrected error") < out.index("leave-one-out error")
    assert corrected["value"] > own["error"]
    assert "is the best of 4 on the same rows" in err
    summary = report["summary"]
    assert summary["corrected_error"] == corrected["value"]
    assert summary["corrected_error_interval"] == corrected["interval"]
    keys = list(summary)
    assert keys.index("corrected_error") < keys.index("score") < keys.index("loo_error")
    page = Path("data-tuned/report.html").read_text(encoding="utf-8")
    tiles = page.split('<div class="tiles">')[1].split('<div class="tile')
    assert "corrected error" in tiles[1]
    assert share in tiles[1]
    assert tiles[1].startswith(" main")
    assert "the best of 4 candidates" in tiles[2]
    assert page.count('class="tile main"') == 1
    assert page.count("is the best of 4 on the same rows") == 1


def test_the_majority_is_compared_with_the_corrected_error(run):
    _, out, _ = run(f"tune data.csv {FEW} --search grid.yaml")
    report = json.loads(Path("data-tuned/report.json").read_text())["summary"]
    fewer = 100 * (1 - report["corrected_error"] / report["majority_error"])
    assert f"; the model makes {fewer:.1f}% fewer errors" in out
    majority = 100 * (frame().outcome.value_counts().min() / 120)
    assert f"majority-class error .. {majority:.1f}%; the model makes" in out


def test_the_ten_most_suspicious_labels_are_named_by_id(run):
    _, out, _ = run(f"tune data.csv {NAMED} --search grid.yaml")
    rows = rows_of("data-tuned/labels.csv")
    doubted, others = (
        [row for row in rows if row["is_label_issue"] == answer] for answer in ("yes", "no")
    )
    wrong = [row for row in doubted + others if row["given_label"] != row["predicted_label"]]
    listed = re.findall(r"^(P\d+) +(yes|no) +(yes|no) +(\d+\.\d)%$", out, re.MULTILINE)
    assert [row[:3] for row in listed] == [
        (row["id"], row["given_label"], row["predicted_label"]) for row in wrong[:10]
    ]
    shown = [float(row[3]) / 100 for row in listed]
    assert shown == pytest.approx([float(row["label_quality"]) for row in wrong[:10]], abs=0.0006)


def test_the_table_of_results_has_the_selected_candidate_first(run):
    _, out, _ = run(f"tune data.csv {FEW} --search grid.yaml")
    rows = rows_of("data-tuned/results.csv")
    assert len(rows) == 4
    assert not [name for name in rows[0] if "svm__" in name]
    assert [int(row["rank_test_score"]) for row in rows] == sorted(
        int(row["rank_test_score"]) for row in rows
    )
    C, gamma = float(rows[0]["C"]), float(rows[0]["gamma"])
    assert f"C = {C:g}, gamma = {gamma:g}" in out


def test_json_is_all_there_is_on_standard_output(run):
    code, out, err = run(f"tune data.csv {FEW} --search grid.yaml --json --quiet --test test.csv")
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert set(content["best_params"]) == {"C", "gamma"}
    assert content["test"]["n_rows"] == 40
    assert content["loo_error"] == load_model("data-tuned/model.skops").model[-1].loo_error_
    assert all(Path(name).is_file() for name in content["files"])
    report = json.loads(Path("data-tuned/report.json").read_text())
    assert report["test"]["error"] == content["test"]["error"]
    assert report["command"].startswith("spansvm tune data.csv")


def test_quiet_says_nothing(run):
    assert run(f"tune data.csv {FEW} --search grid.yaml --quiet") == (0, "", "")


def test_existing_results_stay_without_force(run):
    run(f"tune data.csv {FEW} --search grid.yaml")
    before = Path("data-tuned/model.skops").read_bytes()
    code, _, err = run(f"tune data.csv {FEW} --search grid.yaml")
    assert code == 2
    assert "data-tuned/model.skops exists; pass --force" in err
    assert Path("data-tuned/model.skops").read_bytes() == before
    assert run(f"tune data.csv {FEW} --search grid.yaml --force")[0] == 0


def test_scores_are_searched_when_they_are_given(run):
    code, out, err = run(f"tune data.csv --scores confidence {FEW.replace('confidence', 'ward')}")
    assert code == 0
    assert "Searching scores: 1700 candidates" in err
    assert re.search(r"ceiling C = \S+, midpoint B = \S+, steepness A = ", out)


def test_more_than_two_classes_are_tuned_by_c_and_gamma(run):
    data = frame()
    data["outcome"] = np.digitize(data.age, [45, 55])
    data.to_csv("three.csv", index=False)
    code, out, err = run(f"tune three.csv {FEW} --quiet --json")
    assert code == 0, err
    assert set(json.loads(out)["best_params"]) == {"C", "gamma"}
    code, out, _ = run("predict three-tuned/model.skops three.csv --proba")
    names = out.splitlines()[0].split(",")
    assert names[2:] == [f"{kind}_{k}" for kind in ("decision", "probability") for k in range(3)]


def test_groups_are_left_out_as_a_whole(run):
    columns = "--id patient --drop confidence --drop certainty --search grid.yaml --force"
    code, out, err = run(f"tune data.csv --groups ward --method kfold {columns}")
    assert code == 0
    assert "cross-validation error" in out
    assert "split4_test_score" in Path("data-tuned/results.csv").read_text()
    code, out, err = run(f"tune data.csv --groups ward {columns}")
    assert code == 0
    assert "so whole groups are left out" in err
    assert re.search(r"^leave-one-group-out error \.+ \d", out, re.MULTILINE)
    assert "cross-validation error" not in out
    page = Path("data-tuned/report.html").read_text(encoding="utf-8")
    assert re.search(r"Leaving out each of \d+ groups in turn, \d+ of \d+ rows", page)
    assert "if its group were left out of training" in page
    code, out, err = run(f"tune data.csv --groups ward --method loo {columns}")
    assert code == 0
    assert re.search(r"^leave-one-group-out error \.+ \d", out, re.MULTILINE)
    code, out, err = run(f"tune data.csv --groups ward --method span_count {columns}")
    assert code == 2
    assert "--method span_count is a bound for single rows and knows no groups" in err


def test_the_seed_draws_the_folds(run):
    def scores(seed):
        run(f"tune data.csv {FEW} --search grid.yaml --method kfold --seed {seed} --force")
        rows = rows_of("data-tuned/results.csv")
        columns = [f"split{k}_test_score" for k in range(5)]
        return sorted(tuple(row[name] for name in columns) for row in rows)

    assert scores(1) == scores(1)
    assert scores(1) != scores(2)


def test_a_score_of_one_class_works_with_text_labels(run):
    code, out, err = run(f"tune data.csv {FEW} --search grid.yaml --scoring f1")
    assert code == 0
    assert "The score f1 is for class 'yes'." in err
    assert re.search(r"^corrected f1 \.+ 0\.\d+ \(95% CI 0\.\d+ to 0\.\d+\)$", out, re.MULTILINE)
    assert re.search(r"^f1 \.+ 0\.\d+, the best of 4 candidates$", out, re.MULTILINE)
    assert re.search(r"^leave-one-out error \.+ .* 95% CI ", out, re.MULTILINE)


def test_missing_values_are_counted_and_filled_in_unless_they_are_refused(run):
    data = frame()
    data.loc[[3, 5], "age"] = np.nan
    data.to_csv("holes.csv", index=False)
    code, _, err = run(f"tune holes.csv {FEW} --search grid.yaml --impute error")
    assert code == 2
    assert "holes.csv has missing values (2 in 'age'); leave --impute error out" in err
    for option, way in (("", "the median"), ("--impute mean", "mean")):
        code, _, err = run(f"tune holes.csv {FEW} --search grid.yaml --force {option}")
        assert code == 0
        assert f"Missing values are filled in ({way} for numbers): 2 in 'age'." in err


def test_fixed_weights_weigh(run):
    data = frame()
    data["certainty"] = np.where(np.arange(120) < 100, 1.0, 0.0)
    data.to_csv("data.csv", index=False)
    columns = FEW.replace("--drop certainty", "--weights certainty")
    _, out, _ = run(f"tune data.csv {columns} --search grid.yaml")
    assert "of 100 rows" in out


def test_predictions_are_those_of_the_model(run):
    run(f"tune data.csv {FEW} --search grid.yaml --quiet")
    code, out, _ = run("predict data-tuned/model.skops test.csv --id patient --proba")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    model, test = load_model("data-tuned/model.skops").model, frame(40, seed=1)
    X = test[["age", "colour"]]
    assert [row["id"] for row in rows] == test.patient.tolist()
    assert [row["predicted"] for row in rows] == model.predict(X).tolist()
    assert [float(row["decision"]) for row in rows] == pytest.approx(
        model.decision_function(X).tolist()
    )
    assert [float(row["probability_yes"]) for row in rows] == pytest.approx(
        model.predict_proba(X)[:, 1].tolist()
    )


def test_predictions_go_to_a_file_that_is_not_replaced_unasked(run):
    run(f"tune data.csv {FEW} --search grid.yaml --quiet")
    code, out, err = run("predict data-tuned/model.skops test.csv --out labels.csv")
    assert (code, out) == (0, "")
    assert "Wrote 40 predictions to labels.csv." in err
    assert len(Path("labels.csv").read_text().splitlines()) == 41
    assert run("predict data-tuned/model.skops test.csv --out labels.csv")[0] == 2


@pytest.mark.skipif(shutil.which("svm-predict") is None, reason="LIBSVM is not installed")
def test_libsvm_predicts_the_same_from_the_files(run):
    run(f"tune data.csv {FEW} --search grid.yaml --quiet")
    run("predict data-tuned/model.skops test.csv --out labels.csv --libsvm test.libsvm")
    subprocess.run(
        ["svm-predict", "test.libsvm", "data-tuned/model.libsvm", "said.txt"],
        check=True, capture_output=True,
    )  # fmt: skip
    ours = [row["predicted"] for row in rows_of("labels.csv")]
    theirs = [("no", "yes")[int(line)] for line in Path("said.txt").read_text().split()]
    assert theirs == ours


def test_evaluate_lays_estimates_beside_the_error_on_other_rows(run):
    run(f"tune data.csv {FEW} --search grid.yaml --quiet")
    code, out, err = run("evaluate data-tuned/model.skops test.csv")
    model, test = load_model("data-tuned/model.skops").model, frame(40, seed=1)
    wrong = int((model.predict(test[["age", "colour"]]) != test.outcome).sum())
    assert code == 0
    assert re.search(
        rf"^error +{wrong / 40:.4f} +{wrong} of 40 rows of test.csv", out, re.MULTILINE
    )
    assert re.search(rf"leave-one-out error +{model[-1].loo_error_:.4f}", out)
    for name in ("span bound", "span count bound", "xi-alpha", "area under ROC", "log loss"):
        assert name in out
    assert "was trained on" not in err
    # Values and intervals are in the same unit.
    told = " ".join(out.split())
    assert len(re.findall(r"95% CI 0\.\d{4} to 0\.\d{4}", told)) == 3
    assert "%" not in told.replace("95% CI", "")


def test_evaluate_knows_the_training_file_again(run):
    run(f"tune data.csv {FEW} --search grid.yaml --quiet")
    _, out, err = run("evaluate data-tuned/model.skops data.csv")
    assert "The model was trained on data.csv" in err
    assert "training error" in out
    _, out, _ = run("evaluate data-tuned/model.skops test.csv --json --quiet")
    content = json.loads(out)
    assert content["is_training_data"] is False
    assert content["training"]["n_rows"] == 120
    path = Path("data-tuned/model.skops")
    record = TrainingRecord.of(load_model(path).metadata["training"], path)
    assert record is not None
    assert record.estimates[0]["name"] == "span_rule"


def test_evaluate_does_without_the_record_of_a_training(run):
    run(f"tune data.csv {FEW} --search grid.yaml --quiet")
    saved = load_model("data-tuned/model.skops")
    save_model("plain.skops", saved.model, metadata={"schema": saved.metadata["schema"]})
    code, out, err = run("evaluate plain.skops data.csv")
    assert code == 0
    assert "was not written by spansvm tune and holds no estimates" in err
    assert "120 rows of data.csv" in out


def test_the_shell_completes_the_names_of_searches():
    environment = {
        **os.environ,
        "_SPANSVM_COMPLETE": "complete_bash",
        "COMP_WORDS": "spansvm tune data.csv --search c",
        "COMP_CWORD": "4",
    }
    script = "import sys; sys.argv = ['spansvm']; from spansvm_app.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    assert result.stdout.split() == ["class-weights"]


def test_libsvm_rows_are_read_from_standard_input(run, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 0] += 3 * y
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{value:.4f}" for j, value in enumerate(row))
        for label, row in zip(y, X, strict=True)
    ]
    stdin = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    code, out, err = run("tune - --search grid.yaml --out piped")
    assert code == 0
    assert "standard input: 60 rows, 3 features" in err
    assert "leave-one-out error" in out


def test_names_that_a_terminal_would_obey_are_printed_harmlessly(run):
    data = frame()[["age", "colour", "outcome"]]
    data["outcome"] = data.outcome.map({"yes": "[bold]yes[/bold]", "no": "\x1b[31mno"})
    data.rename(columns={"colour": "[red]colour\x1b[0m"}).to_csv("odd.csv", index=False)
    code, out, err = run("tune odd.csv --search grid.yaml")
    assert code == 0
    assert "[bold]yes[/bold]" in out
    assert "\x1b" not in out + err


def test_help_is_quick_and_shows_examples():
    script = (
        "import sys; from spansvm_app.cli import app;"
        "app(['tune', '--help'], standalone_mode=False);"
        "print([m for m in ('spansvm.core', 'sklearn', 'scipy', 'pandas') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"
    assert "spansvm tune data.csv --target diagnosis" in result.stdout


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "spansvm", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"spansvm \d+\.\d+\.\d+", result.stdout.strip())


def test_the_values_that_help_and_completion_offer_are_those_that_there_are():
    assert tune._SEARCHES == SEARCHES
    assert tune._KERNELS == KERNEL_NAMES
    assert tune._MISSING_TARGETS == MISSING_TARGETS
    assert tune._SCALINGS == SCALINGS
    assert tune._IMPUTATIONS == IMPUTATIONS
    assert tuple(SPLITTERS) == tune._SPLITTERS
    assert options._FORMATS == FORMATS


@pytest.mark.plumbing
def test_every_command_of_the_documentation_runs(run):
    text = DOCS.read_text(encoding="utf-8")
    grid = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert grid
    Path("grid.yaml").write_text(grid[1])
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) > 10
    for line in lines:
        name, arguments = line.split(" ", 1)
        assert name == "spansvm"
        code, out, err = run(arguments)
        assert code == 0, (line, err)
        if arguments == "demo":
            assert "test error" in out
            assert f"Open {Path.cwd() / 'spansvm-demo/report.html'}" in out
            assert Path("spansvm-demo/report.html").is_file()
