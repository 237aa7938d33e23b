"""Draw the pictures of the README: ``python docs/images/make.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from spansvm import ClassWeighting, LooDisplay, SpanSearch, SpanSearchDisplay, SpanSVC

HERE = Path(__file__).parent


def main() -> None:
    """Draw the README's search over class weights, and the margins of the selected model."""
    mpl.use("Agg")
    X, y = load_breast_cancer(return_X_y=True)
    weights = 2.0 ** np.arange(-6, 10.5, 0.5)
    grid = {"weighting__positive": weights, "weighting__negative": weights}
    model = SpanSVC(gamma=1 / 30, weighting=ClassWeighting())
    search = SpanSearch(model, grid).fit(minmax_scale(X), y)
    display = SpanSearchDisplay.from_search(search, vmin=0.9)
    display.figure_.savefig(HERE / "search.png", dpi=110)
    margins = LooDisplay.from_estimator(search.best_estimator_)
    margins.figure_.savefig(HERE / "margins.png", dpi=110)


if __name__ == "__main__":
    main()
