"""Noisy labels: rows whose label the other rows contradict.

In a data set of 569 tumours, 30 labels are swapped at random.  Two rankings show which labels
look wrong: by the margins of the model trained on them, and by leave-one-out margins, in which
no row speaks for itself.

    python examples/03_noisy_labels.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from spansvm import SpanSearch, SpanSVC

N_SWAPPED = 30


def main(picture: Path) -> None:
    """Swap labels, rank all rows by both margins, and draw how early the swapped ones appear."""
    X, truth = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    rng = np.random.default_rng(0)
    swapped = np.zeros(truth.size, dtype=bool)
    swapped[rng.choice(truth.size, N_SWAPPED, replace=False)] = True
    y = np.where(swapped, 1 - truth, truth)

    grid = {"C": 2.0 ** np.arange(-2, 9), "gamma": 2.0 ** np.arange(-4, 4)}
    search = SpanSearch(SpanSVC(), grid).fit(X, y)
    model = search.best_estimator_
    print(f"selected C = {model.C:g}, gamma = {model.gamma:g}")
    print(f"leave-one-out error with the swapped labels: {model.loo_error_:.3f}")

    # Many rows lie on the margin: rounding must not decide which of them comes first.
    margins = np.round((2 * y - 1) * model.decision_function(X), 6)
    rankings = {
        "leave-one-out margins": np.argsort(model.loo_margin_, kind="stable"),
        "margins of the trained model": np.argsort(margins, kind="stable"),
    }
    styles = {"leave-one-out margins": "-", "margins of the trained model": "--"}
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    inspected = np.arange(1, 3 * N_SWAPPED + 1)
    for name, order in rankings.items():
        found = np.cumsum(swapped[order])[: inspected.size]
        print(
            f"{name:<30} {found[N_SWAPPED - 1]} of {N_SWAPPED} swapped labels are among the "
            f"first {N_SWAPPED} rows, {found[-1]} among the first {inspected.size}"
        )
        ax.plot(inspected, found, styles[name], color="black", lw=1.8, label=name)
    chance = inspected * N_SWAPPED / y.size
    ax.plot(inspected, chance, ":", color="0.5", lw=1.8, label="rows in random order")
    ax.set(
        xlabel="rows inspected, the most suspicious first",
        ylabel=f"swapped labels found, of {N_SWAPPED}",
        ylim=(0, N_SWAPPED + 1),
    )
    ax.legend(frameon=False)
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "noisy_labels.png"))
