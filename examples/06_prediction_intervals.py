"""Prediction intervals: how far off a prediction may be, from one training.

A curve is measured at 150 places, with noise.  C, gamma and epsilon of a regression are chosen by
leave-one-out; the same left-out rows then give intervals that contain nine new measurements in
ten, without any further training (jackknife+).

    python examples/06_prediction_intervals.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from spansvm import SpanSearch


def measure(n, rng):
    """Places between 0 and 10, and what is measured there."""
    x = rng.uniform(0, 10, n)
    return x[:, None], np.sin(x) + 0.15 * x + rng.normal(scale=0.3, size=n)


def main(picture: Path) -> None:
    """Search a regression, draw it with its intervals, and count how many new rows these cover."""
    rng = np.random.default_rng(1)
    X, y = measure(150, rng)
    X_new, y_new = measure(5000, rng)

    grid = {"C": [0.1, 1, 10, 100], "gamma": [0.03, 0.1, 0.3, 1, 3], "epsilon": [0.03, 0.1, 0.3]}
    search = SpanSearch(SVR(), grid).fit(X, y)
    folds = GridSearchCV(SVR(), grid).fit(X, y)
    selected = ", ".join(f"{name} = {value:g}" for name, value in search.best_params_.items())
    print(f"selected {selected}")
    print(f"R2 of left-out rows {search.best_score_:.3f}, corrected {search.corrected_score_:.3f}")
    ours, theirs = search.score(X_new, y_new), folds.score(X_new, y_new)
    print(f"R2 on new rows {ours:.3f}, selected by five folds {theirs:.3f}")

    for level in (0.5, 0.8, 0.9, 0.95):
        low, high = search.predict_interval(X_new, confidence_level=level).T
        covered = np.mean((low <= y_new) & (y_new <= high))
        print(f"intervals of level {level:g} contain {covered:.3f} of the new rows")

    places = np.linspace(0, 10, 400)[:, None]
    low, high = search.predict_interval(places, confidence_level=0.9).T
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.fill_between(places[:, 0], low, high, color="0.88", lw=0, label="90 % interval")
    ax.plot(X_new[:150, 0], y_new[:150], ".", color="0.6", ms=3, label="new rows")
    ax.plot(X[:, 0], y, "o", color="black", ms=3, label="training rows")
    ax.plot(places[:, 0], search.predict(places), color="black", lw=1.8, label="prediction")
    ax.set(xlabel="x", ylabel="y", xlim=(0, 10))
    ax.legend(frameon=False, loc="upper left", ncols=2)
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "prediction_intervals.png"))
