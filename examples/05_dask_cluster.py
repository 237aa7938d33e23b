"""A search on a dask cluster, with the same results as on one processor.

Without a scheduler, two workers are started on this computer.  A cluster does not pay off for a
search that takes seconds; this one is small so that you can try it.

    python examples/05_dask_cluster.py [PICTURE [SCHEDULER]]
"""

import sys
from pathlib import Path

import joblib
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client
from sklearn.datasets import make_hastie_10_2

from spansvm import SpanSearch, SpanSearchDisplay, SpanSVC

GRID = {"gamma": 2.0 ** np.arange(-9, -1), "C": 2.0 ** np.arange(-2, 11)}


def main(picture: Path, scheduler: str | None = None) -> None:
    """Search here and on the cluster, compare, and draw the cluster's scores."""
    X, y = make_hastie_10_2(800, random_state=8)
    here = SpanSearch(SpanSVC(), GRID).fit(X, y)

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with Client(scheduler) if scheduler else Client(**options) as client:
        n_workers = len(client.scheduler_info()["workers"])
        with joblib.parallel_config(backend="dask"):
            search = SpanSearch(SpanSVC(), GRID).fit(X, y)

    scores = search.cv_results_["mean_test_score"]
    same = np.array_equal(scores, here.cv_results_["mean_test_score"])
    print(f"{scores.size} candidates on {n_workers} workers")
    print(f"identical to the search without workers: {same}")
    print(
        f"selected: C = {search.best_params_['C']:g}, gamma = {search.best_params_['gamma']:g}, "
        f"leave-one-out error {1 - search.best_score_:.4f}"
    )

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    SpanSearchDisplay.from_search(search, ax=ax, cmap="gray", vmin=0.9)
    ax.set_title(f"{scores.size} candidates on {n_workers} workers (star: selected)", loc="left")
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "dask_cluster.png"),
        sys.argv[2] if len(sys.argv) > 2 else None,
    )
