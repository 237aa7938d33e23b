"""The experiments: what is computed, that it is right, and that nothing is lost or done twice."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from reproduction import existence, prediction
from reproduction.complete import CompleteProblems
from reproduction.confirmation import LIBSVM, confirm
from reproduction.csv_files import read_rows, to_csv, write_text
from reproduction.paper import printed
from reproduction.problems import GRIDS, Key, candidate_name, problem
from reproduction.runner import EXPERIMENTS, make_plan
from reproduction.selection import agrees, selection_rows, values_of
from reproduction.store import Store, StoreError
from reproduction.timing import FOLDS_BY_LIBSVM, OUR_FOLDS, SEARCH, measure, sample
from reproduction.trials import SUBJECTS, Trial, five_fold, run_trial
from spansvm import analyze

ROOT = Path(__file__).parents[2]
RINGNORM = Key("ringnorm:60:4")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite", "quick", "a test") as store:
        yield store


def everything(store):
    """All summaries that do not hold times, as text."""
    results = CompleteProblems(store, "quick")
    rows = selection_rows(results, {key.data_set for key in store.problems("models")})
    return (
        to_csv(rows) + to_csv(prediction.summarise(results)) + to_csv(existence.summarise(results))
    )


def trials():
    return [Trial(RINGNORM), *(Trial(RINGNORM, five_fold(0), fold) for fold in range(5))]


def test_the_grids_are_those_of_the_paper():
    class_weights, sigmoids = GRIDS["paper"]
    assert len(class_weights) == 1089
    assert len(sigmoids) == 1700
    assert len({candidate_name(candidate) for candidate in class_weights + sigmoids}) == 2789
    values = sorted({candidate["positive"] for candidate in class_weights})
    assert values[0] == 2.0**-6
    assert values[-1] == 2.0**10
    np.testing.assert_allclose(np.diff(np.log2(values)), 0.5)


def test_estimates_and_test_errors_are_those_of_libsvm_models(store):
    exact = replace(problem(RINGNORM, "quick"), tol=1e-9)
    sum(run_trial(store, Trial(RINGNORM), exact, 1))
    models = CompleteProblems(store, "quick").models(RINGNORM)
    data = exact.data
    for index in range(0, len(exact.candidates), 10):
        C = exact.weights(exact.candidates[index])
        svc = SVC(gamma=1 / 4, tol=1e-9).fit(data.X_train, data.y_train, sample_weight=C)
        analysis = analyze(svc, data.X_train, data.y_train, C)
        assert models["span_rule"][index] == pytest.approx(analysis.span_rule)
        assert models["xi_alpha"][index] == pytest.approx(analysis.xi_alpha)
        assert models["span_bound"][index] == pytest.approx(analysis.span_bound, rel=1e-4)
        assert models["n_support"][index] == svc.support_.size
        assert models["n_empty"][index] == analysis.n_empty
        wrong = svc.predict(data.X_test) != data.y_test
        assert models["test_error"][index] == pytest.approx(wrong.mean())


def test_fold_errors_are_those_of_cross_validation(store):
    exact = replace(problem(RINGNORM, "quick"), tol=1e-9)
    for trial in trials():
        sum(run_trial(store, trial, exact, 2))
    errors, _ = CompleteProblems(store, "quick").folds(RINGNORM)[five_fold(0)]
    data = exact.data
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for index in range(3, len(exact.candidates), 16):
        candidate = exact.candidates[index]
        weights = {1: candidate["positive"], -1: candidate["negative"]}
        svc = SVC(gamma=1 / 4, tol=1e-9, class_weight=weights)
        predicted = cross_val_predict(svc, data.X_train, data.y_train, cv=folds)
        assert errors[index] == pytest.approx((predicted != data.y_train).mean())


def test_what_is_known_is_not_computed_again(store, monkeypatch):
    ringnorm = problem(RINGNORM, "quick")
    for trial in trials():
        assert sum(run_trial(store, trial, ringnorm, 1)) == len(ringnorm.candidates)
    monkeypatch.setattr("reproduction.trials._Rows", None)
    for trial in trials():
        assert sum(run_trial(store, trial, ringnorm, 1)) == len(ringnorm.candidates)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_is_left_in_the_middle_of_a_chain_ends_as_one_that_was_not(tmp_path, jobs):
    ringnorm = problem(RINGNORM, "quick")
    texts = []
    for name, interruptions in (("whole", []), ("broken", [5, 17, 40])):
        with Store(tmp_path / name, "quick") as store:
            for trial in trials():
                for most in interruptions:
                    work = run_trial(store, trial, ringnorm, jobs)
                    next(work)
                    for _ in range(most):
                        next(work, None)
                    work.close()
                sum(run_trial(store, trial, ringnorm, jobs))
            texts.append(everything(store))
    assert texts[0] == texts[1]


def _start(out):
    command = [sys.executable, "-m", "reproduction", "1-4", "--datasets", "breast_cancer",
               "--splits", "1", "--out", str(out)]  # fmt: skip
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=ROOT, **quiet)


def _rows_in(path):
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return sum(
                connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
                for table in ("models", "folds")
            )
    except sqlite3.OperationalError:  # not there yet
        return 0


@pytest.mark.plumbing
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_run_that_is_killed_three_times_ends_with_the_same_tables(tmp_path, data_folder):
    assert _start(tmp_path / "whole").wait() == 0
    broken, store = tmp_path / "broken", tmp_path / "broken" / "results.sqlite"
    total = 6 * 1089
    for when in sorted(random.Random(2).sample(range(50, total - 500), 3)):
        process = _start(broken)
        while _rows_in(store) < when:
            assert process.poll() is None, "ended before it was killed"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert when <= _rows_in(store) < total
    assert _start(broken).wait() == 0
    assert _rows_in(store) == total
    names = sorted(path.name for path in (tmp_path / "whole" / "reproduction").glob("*.csv"))
    assert {"class_weights.csv", "class_weights_table.csv", "prediction_table.csv",
            "existence_table.csv", "curves.csv"} <= set(names)  # fmt: skip
    for name in names:
        here, there = (tmp_path / run / "reproduction" / name for run in ("whole", "broken"))
        assert here.read_text(encoding="utf-8") == there.read_text(encoding="utf-8"), name


def test_a_store_of_another_grid_is_refused(store):
    with pytest.raises(StoreError, match="grid quick, not paper"):
        Store(store.path, "paper")


def test_a_file_that_is_no_store_is_refused(tmp_path):
    path = tmp_path / "results.sqlite"
    path.write_text("something else, long enough to be looked at " * 50)
    with pytest.raises(StoreError, match="not a store"):
        Store(path, "quick")


def test_a_store_says_how_its_rows_came_about(tmp_path):
    path = tmp_path / "results.sqlite"
    for note in ("first run", "a run that adds nothing", "first run"):
        with Store(path, "quick", note) as store:
            if note == "first run":
                sum(run_trial(store, Trial(RINGNORM), problem(RINGNORM, "quick"), 1))
            notes = store.notes()
    assert notes == ["first run"]


def test_close_candidates_are_trained_by_libsvm_too(store):
    ringnorm = problem(RINGNORM, "quick")
    sum(run_trial(store, Trial(RINGNORM), ringnorm, 1))
    assert sum(confirm(store, ringnorm)) > 0
    assert list(confirm(store, ringnorm))[1:] == []
    key = Key(RINGNORM.data_set, 0, LIBSVM)
    errors = dict(store.rows("models", ["candidate", "test_error"], key))
    own = dict(store.rows("models", ["candidate", "test_error"], RINGNORM))
    assert max(abs(own[name] - error) for name, error in errors.items()) < 0.01
    rows = selection_rows(CompleteProblems(store, "quick"), [RINGNORM.data_set])
    assert len(values_of(rows, RINGNORM.data_set, "span_rule", "worst", LIBSVM)) == 1


def test_times_are_measured_once(store):
    ringnorm = problem(RINGNORM, "quick")
    kinds = list(measure(store, ringnorm))
    assert {SEARCH, OUR_FOLDS} < set(kinds)
    assert kinds.count(FOLDS_BY_LIBSVM) == 16
    before = store.rows("times", ["method", "seconds"])
    assert all(seconds > 0 for _, seconds in before)
    assert list(measure(store, ringnorm)) == []
    assert store.rows("times", ["method", "seconds"]) == before


def test_the_sample_is_spread_over_the_grid():
    chosen = sample(GRIDS["paper"][0], 1000)
    exponents = sorted({np.log2(candidate["positive"]) for candidate in chosen})
    assert len(chosen) == 16
    assert [len(sample(GRIDS["paper"][k], n)) for k, n in ((0, 4096), (0, 16384), (1, 500))] == [
        4, 2, 16,
    ]  # fmt: skip
    np.testing.assert_allclose(np.diff(exponents), 4.0, atol=0.51)


def test_ties_are_reported_by_the_worst_and_by_our_choice(store):
    ringnorm = problem(RINGNORM, "quick")
    sum(run_trial(store, Trial(RINGNORM), ringnorm, 1))
    models = CompleteProblems(store, "quick").models(RINGNORM)
    (row,) = (
        row
        for row in selection_rows(CompleteProblems(store, "quick"), [RINGNORM.data_set])
        if row["method"] == "span_rule"
    )
    tied = np.flatnonzero(models["span_rule"] == models["span_rule"].min())
    assert row["tied"] == tied.size
    assert row["worst"] == models["test_error"][tied].max()
    assert row["best"] == models["test_error"][tied].min()
    assert row["best"] <= row["chosen"] <= row["worst"]


def test_one_test_instance_is_the_slack_of_a_fixed_split():
    # splice has 2175 test rows; cells are rounded to four digits
    assert agrees("splice", [235 / 2175], 0.1080)
    assert agrees("splice", [236 / 2175], 0.1080)
    assert not agrees("splice", [237 / 2175], 0.1080)


def test_several_splits_agree_within_their_spread():
    assert agrees("banana", [0.20, 0.22, 0.24], 0.25)
    assert not agrees("banana", [0.20, 0.22, 0.24], 0.27)


def test_the_plan_has_what_the_experiments_need():
    plan = make_plan(["1"], ["breast_cancer", "parkinson_speech"], 3)
    assert {trial.key.data_set for trial in plan.trials} == {"breast_cancer"}
    assert len(plan.trials) == 3 * 6
    plan = make_plan(["2"], ["breast_cancer", "parkinson_speech"], 3)
    schemes = {trial.scheme for trial in plan.trials}
    assert schemes == {"", SUBJECTS, *(five_fold(partition) for partition in range(3))}
    assert sum(trial.scheme == SUBJECTS for trial in plan.trials) == 20
    assert make_plan(["4"], ["adult"], 3).trials == [Trial(Key("adult"))]
    assert make_plan(["5"], ["adult"], 3).timed == [Key("adult")]
    assert len(make_plan(["6"], [], 3).timed) == 24


def test_all_is_planned_without_repetition():
    plan = make_plan(EXPERIMENTS, ["splice", "image", "bank_marketing"], 10)
    assert len(set(plan.trials)) == len(plan.trials)
    assert Trial(Key("splice", 0, "tolerance 1e-05")) in plan.trials
    assert plan.confirmed == [Key("splice")]


def test_the_papers_numbers_are_all_there():
    for table in ("selection", "prediction", "existence", "seconds"):
        assert len(printed(table)) == 14
    assert printed("selection")["splice"]["span_rule"] == 0.1080
    assert printed("seconds")["mnist_1_7"]["kfold"] == 106.304


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [
        {"data_set": "a", "split": 0, "value": 0.25},
        {"data_set": "b", "split": 1, "value": ""},
    ]
    path = tmp_path / "rows.csv"
    write_text(path, to_csv(rows, ["how"]))
    assert read_rows(path) == (rows, ["how"])


def test_the_committed_page_is_what_the_committed_results_say(tmp_path):
    pytest.importorskip("matplotlib")
    from reproduction.page import FOLDER, PAGE, write_page

    docs = ROOT / "docs"
    (tmp_path / FOLDER).mkdir()
    for path in (docs / FOLDER).glob("*.csv"):
        shutil.copy(path, tmp_path / FOLDER)
    write_page(tmp_path)
    assert (tmp_path / PAGE).read_text(encoding="utf-8") == (docs / PAGE).read_text(
        encoding="utf-8"
    )
    for path in (docs / FOLDER).glob("*_table.csv"):
        assert (tmp_path / FOLDER / path.name).read_text(encoding="utf-8") == path.read_text(
            encoding="utf-8"
        )
