"""Many rows: an RBF machine on 16,000 rows, through landmarks, without a Gram matrix.

The Gram matrix of 16,000 rows takes 2 GB.  Landmarks describe each row by its kernel values with
a hundred others, and a linear machine learns from these.  Every candidate is trained once, and its
leave-one-out error is predicted as for any other machine; 10,000 new rows test it.

    python examples/12_large_data.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_hastie_10_2
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spansvm import SpanSearch, SpanSVC

SIZES = (1000, 4000, 16_000)


def main(picture: Path) -> None:
    """Search on more and more rows, and compare expected and measured errors."""
    X, y = make_hastie_10_2(max(SIZES), random_state=0)
    X_new, y_new = make_hastie_10_2(10_000, random_state=1)
    landmarks = Nystroem(n_components=100, random_state=0)
    model = make_pipeline(StandardScaler(), landmarks, SpanSVC(kernel="linear"))
    grid = {"nystroem__gamma": [0.03, 0.1], "spansvc__C": [0.1, 1.0, 10.0]}

    expected, measured = [], []
    for size in SIZES:
        search = SpanSearch(model, grid).fit(X[:size], y[:size])
        expected.append(1 - search.best_score_)
        measured.append(1 - search.score(X_new, y_new))
        print(
            f"{size:>6} rows: gamma = {search.best_params_['nystroem__gamma']:g}, "
            f"C = {search.best_params_['spansvc__C']:g}; "
            f"error of left-out rows {expected[-1]:.4f}, of new rows {measured[-1]:.4f}"
        )

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot(SIZES, measured, "--", color="0.55", lw=2.5, label="10,000 new rows")
    deviation = np.sqrt(np.array(expected) * (1 - np.array(expected)) / SIZES)
    ax.errorbar(
        SIZES, expected, yerr=2 * deviation, fmt="o-", color="black", ms=5, capsize=4,
        label="left-out rows, with two standard errors",
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    ax.minorticks_off()
    ax.set(xlabel="training rows", ylabel="error", ylim=(0, None))
    ax.legend(frameon=False)
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "large_data.png"))
