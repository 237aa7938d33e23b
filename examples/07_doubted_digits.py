"""Doubted labels: digits that look like another, and the digits that say so.

Of 1797 images of handwritten digits, with the labels that scikit-learn ships, those are listed
whose label the other images contradict.  Each is shown above the images that contradict it most:
without them, its own label would be more likely.

    python examples/07_doubted_digits.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from spansvm import SpanSearch, SpanSVC, find_label_issues

N_SHOWN = 6


def main(picture: Path) -> None:
    """Search, list the doubted labels, and draw the most doubtful ones."""
    X, y = load_digits(return_X_y=True)
    grid = {"C": 10.0 ** np.arange(0, 3), "gamma": [0.01, 0.02, 0.05]}
    search = SpanSearch(SpanSVC(), grid).fit(X / 16.0, y)
    issues = find_label_issues(search.best_estimator_, filter_by="predicted_neq_given")
    doubted = issues[issues.is_label_issue].sort_values("label_quality")
    print(f"{len(doubted)} of {y.size} labels are doubted")
    print(doubted.head(10).to_string())

    shown = doubted.head(N_SHOWN)
    figure, axes = plt.subplots(
        4, len(shown), figsize=(1.3 * len(shown), 5.6), layout="constrained", squeeze=False
    )
    for column, (row, issue) in zip(axes.T, shown.iterrows(), strict=True):
        for ax in column:
            ax.set_axis_off()
        for ax, image in zip(column, [row, *issue.contradicted_by], strict=False):
            ax.imshow(X[image].reshape(8, 8), cmap="gray_r")
            ax.set_title(f"label {y[image]}", fontsize=9)
        column[0].set_title(
            f"label {issue.given_label},\npredicted {issue.predicted_label}", fontsize=9
        )
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "doubted_digits.png"))
