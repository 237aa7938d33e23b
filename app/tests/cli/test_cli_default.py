"""What ``spansvm tune`` searches unless told otherwise, and how large it makes the search."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from spansvm.errors import UserError
from spansvm.models import load_model
from spansvm.search import SpanSearch
from spansvm.search.candidates.scales import spread_of
from spansvm.search.evaluation.checkpoint import key_of
from spansvm.search.evaluation.stages import parse_time
from spansvm_app.cli.grids import plan_search
from spansvm_app.cli.sizing import Task, choose_size
from spansvm_app.tables import read_table
from tests.wording import tells

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")


def ring(n_rows=240, rare=0.5, seed=0, more=0):
    """A disc in a ring; with more columns of noise, if any."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 2 + more))
    radius = np.hypot(X[:, 0], X[:, 1]) + rng.normal(0, 0.2, n_rows)
    data = pd.DataFrame(X, columns=[f"x{i}" for i in range(2 + more)])
    data["kind"] = np.where(radius < np.quantile(radius, rare), "in", "out")
    return data


@pytest.fixture
def run(command_line):
    """Runs the command in a folder with data; gives exit code, standard output and error."""
    ring().to_csv("data.csv", index=False)
    ring(rare=0.12).to_csv("rare.csv", index=False)
    return command_line


def plan(path, **options):
    return plan_search(None, read_table(path), **options)


# The scale of gamma -------------------------------------------------------------------


def test_the_spread_is_half_the_mean_squared_distance_between_rows():
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1, 2, 0, 5]
    squared = pdist(X, "sqeuclidean").sum() / (50 * 50 / 2)
    assert spread_of(X) == pytest.approx(squared / 2)
    assert spread_of(sparse.csr_matrix(X)) == pytest.approx(squared / 2)
    assert spread_of(np.ones((5, 2))) == 1.0


def test_gammas_follow_the_scale_of_the_data(run):
    near, far = (plan("data.csv", spread=spread).grid["gamma"] for spread in (1.0, 1000.0))
    np.testing.assert_allclose(np.array(far) * 1024, near)
    assert near[0] < 1 < near[-1]


def test_wide_data_do_not_hit_the_edge(run):
    ring(more=198).to_csv("wide.csv", index=False)
    content = json.loads(run("tune wide.csv --json --quiet")[1])
    gamma = content["best_params"]["gamma"]
    # 1/d is far too large for the paper's and far too small for no one.
    assert 2**-14 < gamma < 1
    assert content["facts"]["preprocessing"]["n_encoded"] == 200


# Which search -------------------------------------------------------------------------


def test_c_and_gamma_are_searched_for_any_number_of_classes(run):
    assert plan("data.csv").name == "C-gamma"
    data = ring()
    data["kind"] = np.arange(240) % 3
    data.to_csv("three.csv", index=False)
    assert plan("three.csv").name == "C-gamma"
    assert plan("three.csv").n_candidates == 40


def test_class_weights_are_searched_where_classes_are_unequal_or_the_score_asks(run):
    found = plan("rare.csv")
    assert found.name == "C-gamma-weights"
    sizes = ring(rare=0.12).kind.value_counts()
    ratio = sizes["out"] / sizes["in"]
    weights = [one["in"] for one in found.grid["class_weight"]]
    assert weights == pytest.approx([1, ratio**0.5, ratio], rel=0.005)
    assert f"the largest class is {ratio:.1f} times as large as the smallest." in found.why
    ring(rare=0.35).to_csv("some.csv", index=False)
    assert plan("some.csv").name == "C-gamma"
    assert plan("some.csv", scoring="accuracy").name == "C-gamma"
    asked = plan("some.csv", scoring="balanced_accuracy")
    assert asked.name == "C-gamma-weights"
    assert "balanced_accuracy takes that into account" in asked.why
    assert plan("data.csv", scoring="balanced_accuracy").name == "C-gamma"


def test_numbers_written_as_text_get_no_weights(run):
    data = ring(rare=0.12)
    data["kind"] = data.kind.map({"in": "01", "out": "1"})
    data.to_csv("zeros.csv", index=False)
    assert read_table("zeros.csv").schema.classes == ("01", "1")
    assert plan("zeros.csv").name == "C-gamma"
    with pytest.raises(UserError, match="needs classes whose names are not numbers written as"):
        plan_search("C-gamma-weights", read_table("zeros.csv"))


def test_the_weight_of_a_class_is_told_in_words(run):
    code, out, err = run("tune rare.csv --scoring balanced_accuracy --candidates 12")
    assert code == 0
    assert "The weights of the classes are searched, too" in err
    assert re.search(r"^best setting \.+ C = \S+, gamma = \S+, class weights = (in: |none)",
                     out, re.MULTILINE)  # fmt: skip


def test_the_papers_search_is_there_by_name(run):
    found = plan_search("class-weights", read_table("data.csv"))
    assert (found.n_candidates, found.model.gamma, found.widens) == (1089, "auto", ())


@pytest.mark.parametrize(
    ("kernel", "axes"), [("linear", {"C"}), ("poly", {"C", "gamma", "degree"})]
)
def test_another_kernel_is_searched_by_its_own_parameters(run, kernel, axes):
    code, out, err = run(f"tune data.csv --kernel {kernel} --candidates 8 --json --quiet")
    assert code == 0, err
    assert set(json.loads(out)["best_params"]) == axes
    assert load_model("data-tuned/model.skops").model[-1].kernel == kernel


def test_a_search_without_gamma_is_not_called_one_of_gamma(run):
    code, _, err = run("tune data.csv --kernel linear --candidates 4")
    assert code == 0, err
    assert "Searching C: 4 candidates by leave-one-out." in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--kernel rbff", "There is no kernel 'rbff' (did you mean 'rbf'?); --kernel must be one"),
        ("--cv 1", "--cv must be at least 2, the number of folds; got 1."),
        ("--cv 5 --method loo", "--cv is for --method kfold, not for loo; leave one of them out."),
        ("--cv 200", "but --cv 200 needs 200 of each class"),
        ("--memory lots", "--memory must be a size such as 4GiB or 500MB; got 'lots'."),
        ("--budget soon", "--budget must be a time such as 90s, 5m or 1h; got 'soon'."),
        ("--sample few", "--sample must be a number of rows, or all; got 'few'."),
        ("--kernel linear --components 9", "A linear kernel needs no --components"),
        ("--search kernel.yaml --kernel rbf", "kernel.yaml names the kernel; leave --kernel out."),
    ],
)
def test_options_that_are_wrong_are_told(run, options, sentence):
    pytest.importorskip("yaml")
    Path("kernel.yaml").write_text("kernel: [rbf]\n")
    code, _, err = run(f"tune data.csv {options}")
    assert code == 2
    assert sentence in err.splitlines()[-1]


def test_folds_are_as_many_as_asked_for(run):
    code, out, _ = run("tune data.csv --cv 3 --candidates 4")
    assert code == 0
    assert "cross-validation error" in out
    names = Path("data-tuned/results.csv").read_text().splitlines()[0].split(",")
    assert "split2_test_score" in names
    assert "split3_test_score" not in names


def test_memory_is_what_a_gram_matrix_may_take(run, monkeypatch):
    budgets, before = [], SpanSearch.fit

    def fit(search, *arguments, **others):
        budgets.append(search.gram_budget)
        return before(search, *arguments, **others)

    monkeypatch.setattr(SpanSearch, "fit", fit)
    assert run("tune data.csv --memory 100kB --candidates 2 --quiet")[0] == 0
    assert budgets == ["100kB"]


# The edge of the grid -----------------------------------------------------------------


def test_an_optimum_at_the_edge_widens_the_grid_once_and_that_is_told(run, monkeypatch):
    monkeypatch.setattr("spansvm_app.cli.scaled_grids._GAMMA", range(-14, -9, 2))
    code, out, err = run("tune data.csv --json")
    assert code == 0
    content = json.loads(out)
    widened = content["facts"]["widened"]
    assert [(one["name"], one["side"]) for one in widened][-1] == ("gamma", "above")
    gammas = widened[-1]["values"]
    told = next(line for line in err.splitlines() if line.startswith("The best gamma was at the"))
    assert told in content["notes"]
    assert "edge of the grid, so values above it were tried too, up to" in told
    # The grid stays full: two more values of each axis that was widened.
    n_values = {"C": 8, "gamma": 3}
    for one in widened:
        n_values[one["name"]] += 2
    assert content["n_candidates"] == n_values["C"] * n_values["gamma"]
    assert content["best_params"]["gamma"] in gammas
    assert content["n_compared"] == content["n_candidates"]


def test_an_optimum_inside_leaves_the_grid_as_it_is(run):
    content = json.loads(run("tune data.csv --json --quiet")[1])
    assert (content["facts"]["widened"], content["n_candidates"]) == ([], 40)


def test_candidates_that_are_counted_are_not_widened(run, monkeypatch):
    monkeypatch.setattr("spansvm_app.cli.scaled_grids._GAMMA", range(-14, -9, 2))
    content = json.loads(run("tune data.csv --json --quiet --candidates 9")[1])
    assert (content["facts"]["widened"], content["n_candidates"]) == ([], 9)


def test_a_candidate_has_one_name_whatever_the_order_of_its_parameters():
    first = {"a": np.float64(0.5), "w": {"x": 1.0, "y": 2.0}}
    second = {"w": {"y": 2.0, "x": 1.0}, "a": 0.5}
    assert key_of(first) == key_of(second)
    assert key_of(first) != key_of({**second, "a": 0.25})


# The size of the search ----------------------------------------------------------------


def task(*classes, **others):
    """A search of 48 candidates with 6 Gram matrices."""
    given = {"n_columns": 20, "n_candidates": 48, "n_kernels": 6, **others}
    return Task(np.array(classes), **given)


def test_a_search_of_little_work_is_made_on_all_rows():
    size = choose_size(task(3000, 2000), 10)
    assert (size.sample, size.components, size.why) == (None, None, "")
    assert choose_size(task(1000, 900, n_candidates=10**6), 10).sample is None


def test_a_longer_one_is_made_on_the_largest_sample_that_is_little_work():
    size = choose_size(task(30_000, 10_000), 10)
    assert (size.sample, size.components) == (5000, None)
    assert tells(size.why, "48 candidates", "all 40000 rows", "--sample 5000")
    assert tells(size.why, "trained on all rows", "--sample all")
    assert choose_size(task(30_000, 10_000, n_candidates=10**6), 3000).sample == 3000


@pytest.mark.parametrize(
    ("n_rows", "sample"), [(1999, None), (2000, None), (2001, 2000), (3000, 2000)]
)
def test_a_sample_is_never_smaller_than_the_rows_that_are_few(n_rows, sample):
    longest = task(n_rows - 1000, 1000, n_candidates=10**6, grouped=True)
    assert choose_size(longest, 10).sample == sample


@pytest.mark.parametrize(
    "harder",
    [
        {"n_candidates": 480},
        {"n_columns": 2000, "n_kernels": 48},
        {"n_fits": 5},
        {"exact": True},
        {"grouped": True},
    ],
)
def test_what_makes_a_search_longer_makes_its_sample_smaller(harder):
    assert choose_size(task(30_000, 10_000, **harder), 10).sample < 5000


def test_many_classes_of_one_size_are_many_machines_but_less_than_twice_the_work():
    two, many = task(20_000, 20_000), task(*[2000] * 20)
    assert two.work(5000) < many.work(5000) < 2 * two.work(5000)
    # All pairs of classes, counted one by one.
    pairs = sum(4000.0**2 for _ in itertools.combinations(range(20), 2))
    alone = dataclasses.replace(many, n_kernels=0)
    assert alone.work(40_000) == pytest.approx(48 * pairs)


def test_a_linear_kernel_on_many_rows_needs_no_sample():
    assert choose_size(task(30_000, 10_000, linear=True), 10).sample is None


def test_on_very_many_rows_the_kernel_is_approximated():
    size = choose_size(task(60_000, 60_000), 10)
    assert (size.sample, size.components) == (5000, 100)
    assert "the kernel is approximated from 100 rows (--components 100)" in size.why


def test_the_sample_that_was_chosen_is_told_and_used(run, monkeypatch):
    monkeypatch.setattr("spansvm_app.cli.sizing.FEW_ROWS", 100)
    monkeypatch.setattr("spansvm_app.cli.sizing._WHOLE_WORK", 1.0)
    monkeypatch.setattr("spansvm_app.cli.sizing._SAMPLES", (100, 50))
    monkeypatch.setattr("spansvm_app.cli.sizing._SAMPLE_WORK", 1e5)
    code, out, err = run("tune data.csv --json --candidates 4")
    assert code == 0, err
    assert "so candidates are compared on a sample of 100 rows (--sample 100)" in err
    assert "Training the selected model on all 240 rows (its Gram matrix takes 1 MiB)." in err
    facts = json.loads(out)["facts"]["sample"]
    assert (facts["n_rows"], facts["n_of"], facts["asked"]) == (100, 240, False)
    assert load_model("data-tuned/model.skops").model[-1].shape_fit_[0] == 240
    _, out, err = run("tune data.csv --json --candidates 4 --sample all --force")
    assert json.loads(out)["facts"]["sample"] is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("5m", 300), ("1.5 h", 5400), ("2min", 120)]
)
def test_times_are_read_as_people_write_them(text, seconds):
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["0", "-5m", "5 weeks", ""])
def test_other_times_are_refused(text):
    with pytest.raises(ValueError, match="time_budget must be a positive number of seconds, a"):
        parse_time(text)


def test_a_time_that_is_none_is_refused(run):
    code, _, err = run("tune data.csv --budget '5 weeks'")
    assert code == 2
    assert "--budget must be a time such as 90s, 5m or 1h; got '5 weeks'." in err
