"""The search on a cluster of processes, one of which dies."""

from __future__ import annotations

import os
import signal
import threading

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification

from spansvm import ClassWeighting, SpanSearch, SpanSVC

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("dask.distributed")

# What a cluster says while it is torn down is not ours.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    with (
        # A busy computer takes longer than the usual 15 s to start a worker anew; after that, the
        # cluster would go on without it.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "60s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def problem():
    X, y = make_classification(400, n_features=10, flip_y=0.1, class_sep=0.5, random_state=0)
    weights = 2.0 ** np.arange(-6, 10)
    grid = {
        "gamma": [0.02, 0.1, 0.5],
        "weighting__positive": weights,
        "weighting__negative": weights,
    }
    search = SpanSearch(SpanSVC(weighting=ClassWeighting()), grid, refit=False)
    return search, X, y, search.fit(X, y).cv_results_


def assert_same(results, expected):
    for key in ("mean_test_score", "loo_hinge", "n_in_bound", "n_bounded", "n_empty"):
        np.testing.assert_array_equal(results[key], expected[key], err_msg=key)


def test_a_cluster_gives_identical_results(client, problem):
    search, X, y, expected = problem
    with joblib.parallel_config(backend="dask"):
        assert_same(search.fit(X, y).cv_results_, expected)


def test_a_search_survives_a_worker_that_is_killed(client, problem):
    search, X, y, expected = problem
    client.wait_for_workers(2, timeout=60)
    before = client.run(os.getpid)
    killed = threading.Event()

    class KillOnce:
        """Stands for the progress bar: after some candidates a worker is killed."""

        def __init__(self, n_candidates, n_splits, *, shown, forecast):
            self.done = 0

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            return None

        def advance(self, candidate, score):
            self.done += 1
            if self.done == 100:
                os.kill(next(iter(before.values())), signal.SIGKILL)
                killed.set()

    with pytest.MonkeyPatch.context() as patch, joblib.parallel_config(backend="dask"):
        patch.setattr("spansvm.search.base.SearchProgress", KillOnce)
        assert_same(search.fit(X, y).cv_results_, expected)
    assert killed.is_set()
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(before.values())
