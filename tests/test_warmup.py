"""Compiling ahead leaves nothing to compile."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from spansvm import ClassWeighting, SpanSearch, SpanSVC, analyze, exact_loo
from spansvm._compile import cache_folder, compiled_functions
from spansvm.cli import app
from spansvm.warmup import warmup


def signatures():
    return {
        function.__name__: set(map(str, function.signatures)) for function in compiled_functions
    }


@pytest.fixture
def warm():
    warmup()
    before = signatures()
    yield
    after = signatures()
    new = {name: found - before[name] for name, found in after.items() if found - before[name]}
    assert not new


X, Y = make_classification(90, 4, n_redundant=0, flip_y=0.2, random_state=1)


@pytest.mark.parametrize("method", ["span_rule", "xi_alpha", "loo", "kfold"])
def test_nothing_is_compiled_in_a_search_after_it(method, warm):
    grid = {"C": [0.01, 1.0, 1e4], "gamma": [1e-6, 0.1, 10.0]}
    SpanSearch(SVC(), grid, method=method).fit(X, Y)


@pytest.mark.parametrize("method", ["span_rule", "loo"])
def test_nothing_is_compiled_for_groups_after_it(method, warm):
    grid = {"C": [0.01, 1.0, 1e4], "gamma": [1e-6, 0.1, 10.0]}
    SpanSearch(SVC(), grid, method=method).fit(X, Y, groups=np.arange(90) // 3)


def test_nothing_is_compiled_for_scores_and_probabilities_after_it(warm):
    iris = load_iris(return_X_y=True)
    search = SpanSearch(
        SVC(), {"C": [0.1, 1.0], "kernel": ["rbf", "linear"]}, scoring="neg_log_loss"
    )
    search.fit(*iris)
    SpanSVC().fit(*iris).predict_proba(iris[0])


def test_nothing_is_compiled_for_analyses_after_it(warm):
    model = SpanSVC(weighting=ClassWeighting(positive=2.0)).fit(X, Y)
    assert analyze(model).estimates
    exact_loo(SVC(C=3.0), X, Y)


def test_nothing_is_compiled_for_single_precision_and_read_only_matrices_after_it(warm):
    K = rbf_kernel(X, gamma=0.5)
    for kind in (np.float64, np.float32):
        gram = K.astype(kind)
        gram.flags.writeable = False
        SpanSearch(SVC(kernel="precomputed"), {"C": [0.1, 1.0, 10.0]}).fit(gram, Y)


def test_nothing_is_compiled_without_a_gram_matrix_after_it(warm):
    SpanSVC(gamma=0.5, gram_budget="10 kB").fit(X, Y)


def test_precisions_take_turns():
    """Old versions of numba confuse tuples that hold arrays of different precision."""
    for _ in range(20):
        warmup()


def test_the_command_finds_all_of_it_on_disk(warm):
    """And says nothing if it is not to."""
    command = [sys.executable, "-m", "spansvm", "warmup"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (
        f"All was compiled already; kept in {cache_folder()}.\n",
        "",
    )
    done = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_command_says_how_much_was_compiled(monkeypatch, capsys):
    monkeypatch.setattr("spansvm.warmup.warmup", lambda: 7)
    app(["warmup"], standalone_mode=False)
    assert capsys.readouterr().out.startswith("Compiled 7 functions in 0 s; kept in ")
