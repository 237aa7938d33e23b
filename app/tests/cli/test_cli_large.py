"""Many rows: what a search takes is told ahead; samples, coarser grids and landmarks help."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from spansvm.common.memory import SINGLE
from spansvm.errors import UserError
from spansvm.models import load_model
from spansvm.search import SpanSearch
from spansvm.search.evaluation.forecast import Forecast
from spansvm_app.cli.grids import plan_search
from spansvm_app.cli.smaller import approximated, coarser, draw_sample
from spansvm_app.cli.terminal import Terminal
from spansvm_app.cli.training_record import TrainingRecord
from spansvm_app.tables import Roles, read_table
from tests.wording import tells

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
pytest.importorskip("yaml")


def frame(n_rows=300, seed=0):
    """Two classes, a text column with a value that hardly any sample has, and groups."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.normal(size=n_rows),
            "colour": rng.choice(["red", "blue"], n_rows),
            "batch": np.arange(n_rows) // 10,
        }
    )
    data.loc[n_rows - 1, "colour"] = "green"
    value = data.a + data.b**2 - 1 + rng.normal(0, 0.3, n_rows)
    data["kind"] = np.where(value > 0.4, "yes", "no")
    return data


@pytest.fixture
def run(command_line):
    """Runs the command in a folder with data; gives exit code, standard output and error."""
    frame().to_csv("data.csv", index=False)
    frame(100, seed=1).to_csv("test.csv", index=False)
    Path("grid.yaml").write_text("C: [1, 10]\ngamma: [0.1, 1]\n")
    return command_line


SEARCH = "--drop batch --search grid.yaml"


# What it takes ------------------------------------------------------------------------


def long_search(monkeypatch, seconds=7200.0, with_components=60.0):
    """Searches that would take long, and that do not begin."""

    def forecast(search, *_, **__):
        approximates = any(name == "nystroem" for name, _ in search.estimator.steps)
        seconds_now = with_components if approximates else seconds
        return Forecast(40_000, seconds_now, np.ones(1089), 1, SINGLE, 6.4e9, 2.0)

    monkeypatch.setattr(SpanSearch, "forecast", forecast)
    monkeypatch.setattr(
        SpanSearch, "fit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)
    )


def test_a_long_search_is_told_before_it_begins(run, monkeypatch):
    long_search(monkeypatch)
    code, _, err = run("tune data.csv --drop batch --sample all")
    assert code == 130
    lines = err.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("This will take"))
    whole, sample, candidates, components = lines[start : start + 4]
    assert tells(whole, "2 hours", "40000 rows", "6.0 GiB", "single precision")
    assert tells(sample, "--sample 5000", "2 minutes", "last training")
    assert tells(candidates, "--candidates 50", "8 minutes")
    assert tells(components, "--components 100", "60 seconds")


def test_only_what_is_quicker_and_not_yet_used_is_proposed(run, monkeypatch):
    long_search(monkeypatch, with_components=7000.0)
    for n_rows in (100, 150):  # as many as the components, and more
        _, _, err = run(f"tune data.csv --drop batch --sample {n_rows} --force")
        assert "--candidates 50" in err
        assert "--sample 5000" not in err
        assert "--components" not in err
    _, _, err = run("tune data.csv --drop batch --components 20 --candidates 50 --force")
    assert "--sample 5000" in err
    assert "a coarser grid" not in err


def test_a_search_of_minutes_is_announced_and_a_shorter_one_is_not(run, monkeypatch):
    long_search(monkeypatch, seconds=500.0)
    _, _, err = run("tune data.csv --drop batch --sample all")
    for fact in ("about 8 minutes", "40000 rows", "6.0 GiB"):
        assert fact in err
    assert "quicker" not in err
    long_search(monkeypatch, seconds=50.0)
    assert "This will take" not in run("tune data.csv --drop batch --force")[2]


def test_quiet_makes_no_trial(run, monkeypatch):
    monkeypatch.setattr(SpanSearch, "forecast", lambda *_, **__: pytest.fail("it was tried"))
    assert run(f"tune data.csv {SEARCH} --quiet") == (0, "", "")


# A sample of the rows -----------------------------------------------------------------


def test_a_sample_is_searched_and_all_rows_are_trained_on(run):
    code, out, err = run(f"tune data.csv {SEARCH} --sample 100 --test test.csv")
    assert code == 0, err
    assert "The search uses a sample of 100 of 300 rows (--sample 100, --seed 0)" in err
    assert "Training the selected model on all 300 rows (its Gram matrix takes 1 MiB)." in err
    assert re.search(r"^corrected error .*\), of a model trained on the sample$", out, re.M)
    assert re.search(r"of 100 rows\), the best of .*, of a model trained on the sample$", out, re.M)
    model = load_model("data-tuned/model.skops").model
    assert model[-1].shape_fit_[0] == 300
    n_errors = round(model[-1].loo_error_ * 300)
    assert re.search(rf"^the same on all rows \.+ \S+ \({n_errors} of 300 rows", out, re.MULTILINE)
    test = frame(100, seed=1)
    wrong = int((model.predict(test[["a", "b", "colour"]]) != test.kind).sum())
    assert f"({wrong} of 100 rows" in out


def test_the_model_is_that_of_the_selected_setting_on_all_rows(run):
    run(f"tune data.csv {SEARCH} --sample 100 --json --quiet")
    sampled = load_model("data-tuned/model.skops").model
    best = json.loads(Path("data-tuned/report.json").read_text())["best_params"]
    one = {name.removeprefix("svm__"): [value] for name, value in best.items()}
    Path("one.json").write_text(json.dumps(one))
    run("tune data.csv --drop batch --search one.json --out all")
    X = frame()[["a", "b", "colour"]]
    whole = load_model("all/model.skops").model
    # The order of one-hot columns differs, and with it the rounding of their sums.
    np.testing.assert_allclose(
        sampled.decision_function(X), whole.decision_function(X), atol=5 * whole[-1].tol
    )


def test_the_report_says_whose_figures_it_shows(run):
    code, out, _ = run(f"tune data.csv {SEARCH} --sample 100 --json")
    assert code == 0
    page = " ".join(Path("data-tuned/report.html").read_text().split())
    assert "a sample of 100 of 300 rows" in page
    assert "all figures and charts below are those of a model trained on the sample." in page
    error = load_model("data-tuned/model.skops").model[-1].loo_error_
    assert f"leaving out each in turn, {round(300 * error)} would be misclassified." in page
    assert "leave-one-out error, all rows" in page
    content = json.loads(Path("data-tuned/report.json").read_text())
    assert content["leave_one_out"]["n_rows"] == 100
    assert content["trained"]["error"] == pytest.approx(error)
    for summary in (content["summary"], json.loads(out)):
        assert (summary["n_rows"], summary["trained"]["n_rows"]) == (100, 300)


def test_without_a_sample_nothing_is_said_about_one(run):
    _, out, err = run(f"tune data.csv {SEARCH} --json")
    assert "sample" not in err
    content = json.loads(out)
    assert content["trained"] is content["facts"]["sample"] is None
    assert "those of a model trained" not in Path("data-tuned/report.html").read_text()


def test_suspicious_rows_of_a_sample_have_their_numbers_in_the_file(run):
    run(f"tune data.csv {SEARCH} --sample 100 --quiet")
    rows = json.loads(Path("data-tuned/report.json").read_text())["suspicious"]["rows"]
    kinds = frame().kind
    assert max(one["row_id"] for one in rows) > 100
    assert [one["label"] for one in rows] == [kinds[one["row_id"] - 1] for one in rows]


def test_evaluate_says_that_the_estimates_are_of_a_sample(run):
    run(f"tune data.csv {SEARCH} --sample 100 --quiet")
    path = Path("data-tuned/model.skops")
    record = TrainingRecord.of(load_model(path).metadata["training"], path)
    assert (record.n_searched, record.n_rows, record.trained.n_rows) == (100, 300, 300)
    _, out, err = run("evaluate data-tuned test.csv")
    assert "trained on a sample of 100 of the 300 rows" in err
    assert re.search(r"leave-one-out error +\S+ +100 rows of data.csv", out)
    assert re.search(r"the same on all rows +\S+ +300 rows of data.csv", out)


def test_the_seed_draws_the_sample(run):
    def errors(seed):
        run(f"tune data.csv {SEARCH} --sample 100 --seed {seed} --quiet --force")
        rows = csv.DictReader(Path("data-tuned/results.csv").read_text().splitlines())
        return [row["loo_hinge"] for row in rows]

    assert errors(1) == errors(1)
    assert errors(1) != errors(2)


def test_a_category_outside_the_sample_does_not_change_the_features(run):
    run("tune data.csv --drop batch --sample 50 --candidates 4 --quiet")
    model = load_model("data-tuned/model.skops").model
    assert model[-1].shape_fit_ == (300, 5)
    report = json.loads(Path("data-tuned/report.json").read_text())
    assert report["n_features"] == 3


def test_a_sample_larger_than_the_file_is_the_file(run):
    code, out, err = run(f"tune data.csv {SEARCH} --sample 300")
    assert code == 0
    assert "All 300 rows are searched: there are no more than --sample 300." in err
    assert "of 300 rows" in out
    assert "trained on the sample" not in out


def test_groups_are_sampled_as_a_whole(run):
    code, _, err = run("tune data.csv --groups batch --search grid.yaml --sample 95")
    assert code == 0, err
    assert "a sample of 100 of 300 rows" in err
    table = read_table("data.csv", roles=Roles(groups="batch"))
    sample = draw_sample(table, 95, 0, Terminal(quiet=True))
    assert np.unique(sample.table.groups, return_counts=True)[1].tolist() == [10] * 10
    np.testing.assert_array_equal(sample.table.y, table.y[sample.rows])


def test_a_class_that_is_larger_in_the_sample_is_told(run):
    data = frame()
    data["kind"] = np.where(np.arange(300) < 8, "rare", "usual")
    data.to_csv("rare.csv", index=False)
    code, out, err = run(f"tune rare.csv {SEARCH} --sample 30")
    assert code == 0, err
    assert "majority-class error .. 23.3% of the sample" in out
    # A quarter of the sample at most is kept for one of two classes.
    assert "'rare' is 23.3% of the sample and 2.7% of the file, so that figures of the" in err
    assert "sample count it too often; the error on all rows does not." in err
    report = json.loads(Path("rare-tuned/report.json").read_text())
    assert report["trained"]["majority_error"] == pytest.approx(8 / 300)
    wrong = round(1000 * report["trained"]["error"])
    assert f"{wrong} of 1000 new rows would be misclassified" in " ".join(report["headline"])
    assert tells(" ".join(report["headline"]), "Always predicting 'usual'", "27 of 1000")
    assert "It finds" not in " ".join(report["headline"])
    code, _, err = run(f"tune rare.csv {SEARCH} --sample 296 --force")
    assert code == 0, err
    assert "too often" not in err


def drawn_of(counts, n_rows):
    """How many rows of each class a sample has."""
    kinds = np.repeat([f"kind {place}" for place in range(len(counts))], counts)
    pd.DataFrame({"a": np.arange(kinds.size) % 977 + 0.5, "kind": kinds}).to_csv("kinds.csv")
    sample = draw_sample(read_table("kinds.csv"), n_rows, 0, Terminal(quiet=True))
    return np.unique(sample.table.y, return_counts=True)[1].tolist()


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("counts", "n_rows", "drawn"),
    [
        ([5906, 94], 1000, [950, 50]),  # 16 by its share
        ([19_960, 40], 2000, [1960, 40]),  # all that it has
        ([3000, 1000], 1000, [750, 250]),  # the shares
        ([1000, 1000, 1000], 100, [34, 33, 33]),  # whole rows
        ([9000, 600, 300, 100], 400, [250, 50, 50, 50]),
        ([9000, 600, 300, 100], 20, [5, 5, 5, 5]),
    ],
)
def test_a_sample_has_its_size_and_every_class_its_share_or_a_few_rows(counts, n_rows, drawn):
    assert drawn_of(counts, n_rows) == drawn


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--sample 9", "--sample must be at least 10, 5 rows for each of 2 classes; got 9."),
        ("--groups half --sample 20", "have no row of class"),
        ("--groups one --sample 20", "--sample 20 holds a single group; use a larger sample"),
        ("--candidates 0", "--candidates must be at least 1; got 0."),
        ("--components 1", "--components must be at least 2 and less than the number of rows, 300"),
        ("--components 300", "less than the number of rows, 300; got 300."),
        ("--sample 50 --components 60", "less than the number of rows, 50; got 60."),
        ("--search linear.yaml --components 20", "A linear kernel needs no --components"),
        ("--search scale.yaml --components 20", "--components needs numbers for gamma, or auto"),
        ("--search two.yaml --candidates 1", "The search has 2 grids, so --candidates must be at"),
    ],
)
def test_sizes_that_are_wrong_are_told(run, options, sentence):
    data = frame()
    data["half"], data["one"] = data.kind, (np.arange(300) > 290).astype(int)
    data.loc[:290, "one"] = 0
    data[["a", "b", "half", "one", "kind"]].to_csv("data.csv", index=False)
    Path("linear.yaml").write_text("kernel: [linear, rbf]\nC: [1]\n")
    Path("scale.yaml").write_text("gamma: [scale]\n")
    Path("two.yaml").write_text("- C: [1, 2]\n- C: [3]\n  kernel: [poly]\n")
    code, _, err = run(f"tune data.csv {options}")
    assert code == 2
    assert sentence in err.splitlines()[-1]


# Fewer candidates ---------------------------------------------------------------------


def test_a_coarser_grid_keeps_its_ends(run):
    table = read_table("data.csv")
    plan = plan_search("class-weights", table)
    fewer = coarser(plan, 100, Terminal(quiet=True))
    assert fewer.n_candidates == 100
    for name, values in fewer.parts[0].items():
        every = plan.grid[name]
        assert (values[0], values[-1], len(values)) == (every[0], every[-1], 10)
        assert set(values) <= set(every)
    assert coarser(plan, 2000, Terminal(quiet=True)).n_candidates == plan.n_candidates
    assert coarser(plan, 1, Terminal(quiet=True)).parts[0]["weighting__positive"] == [4.0]


def test_the_number_of_candidates_is_told(run):
    code, out, err = run("tune data.csv --drop batch --candidates 20 --json")
    assert code == 0
    assert "The grid has 20 candidates instead of 40 (--candidates 20)." in err
    assert json.loads(out)["n_candidates"] == 20


# Landmarks ----------------------------------------------------------------------------


def test_components_approximate_the_kernel(run):
    code, out, err = run("tune data.csv --drop batch --search grid.yaml --components 40")
    assert code == 0, err
    assert "No model.libsvm was written: LIBSVM has no approximated kernels." in err
    assert not Path("data-tuned/model.libsvm").exists()
    model = load_model("data-tuned/model.skops").model
    assert model[-1].kernel == "linear"
    assert isinstance(model[-2], Nystroem)
    assert model[-2].n_components == 40
    gamma = float(re.search(r"gamma = ([\d.]+)", out)[1])
    assert model[-2].gamma == gamma
    names = Path("data-tuned/results.csv").read_text().splitlines()[0].split(",")
    assert {"C", "gamma"} <= set(names)


def test_a_model_with_components_predicts(run):
    run(f"tune data.csv {SEARCH} --components 40 --quiet")
    code, out, _ = run("predict data-tuned test.csv --proba")
    rows = list(csv.DictReader(out.splitlines()))
    model = load_model("data-tuned/model.skops").model
    assert code == 0
    assert [row["predicted"] for row in rows] == model.predict(
        frame(100, seed=1)[["a", "b", "colour"]]
    ).tolist()
    assert run("evaluate data-tuned test.csv")[0] == 0


def test_many_components_are_nearly_the_kernel_itself(run):
    exact, near = (
        json.loads(run(f"tune data.csv {SEARCH} {options} --json --quiet --force")[1])
        for options in ("", "--components 290")
    )
    assert near["best_params"] == exact["best_params"]
    assert near["loo_error"] == pytest.approx(exact["loo_error"], abs=2 / 300)


@pytest.mark.parametrize("search", ["class-weights", "C-gamma"])
def test_named_searches_take_components(run, search):
    line = f"tune data.csv --drop batch --search {search} --candidates 9 --components 20 --json"
    code, out, err = run(line)
    assert code == 0, err
    assert json.loads(out)["n_candidates"] == 9


def test_the_gamma_of_components_is_that_of_the_kernel_without_them(run):
    table = read_table("data.csv")
    for search, kernel in (("class-weights", "rbf"), ("poly.yaml", "poly")):
        Path("poly.yaml").write_text("kernel: [poly]\ndegree: [2, 3]\ngamma: [auto]\n")
        plan = approximated(plan_search(search, table), 20, 300, 0)
        assert plan.model.kernel == "linear"
        names = {name for part in plan.pipeline_grid for name in part}
        assert all(name.startswith(("svm__weighting", "nystroem__")) for name in names)
        assert plan.landmarks.gamma is None  # 1/d, as "auto" in SpanSVC
        assert plan.landmarks.coef0 == 0.0
        assert kernel in (plan.landmarks.kernel, *plan.parts[0].get("kernel", ()))


def test_a_sample_and_components_go_together(run):
    code, _, err = run(f"tune data.csv {SEARCH} --sample 100 --components 30")
    assert code == 0, err
    model = load_model("data-tuned/model.skops").model
    assert model[-1].shape_fit_ == (300, 30)


def test_a_table_that_is_wrong_is_told_as_before(run):
    with pytest.raises(UserError, match="at least 10"):
        draw_sample(read_table("data.csv"), 3, 0, Terminal(quiet=True))
