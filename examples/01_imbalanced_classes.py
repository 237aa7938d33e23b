"""Imbalanced classes: the weight of the rare class, chosen by leave-one-out.

One row in twelve is positive.  With equal weights the model predicts too few of them.
The weight of the positive class is chosen by balanced accuracy on leave-one-out
predictions, and 5000 unseen rows show how good that choice is.

    python examples/01_imbalanced_classes.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split

from spansvm import ClassWeighting, SpanSearch, SpanSVC

WEIGHTS = 2.0 ** np.arange(-2, 6.5, 0.5)

#: Five features; one row in twelve is positive.
PROBLEM = {"n_features": 5, "n_informative": 5, "n_redundant": 0, "weights": [11 / 12], "flip_y": 0}


def main(picture: Path) -> None:
    """Search the weight of the rare class, print its effect, and draw both curves."""
    X, y = make_classification(5600, random_state=1, **PROBLEM)
    X, X_new, y, y_new = train_test_split(X, y, train_size=600, stratify=y, random_state=0)
    print(f"{(y > 0).sum()} of {y.size} rows are positive")

    model = SpanSVC(C=1.0, gamma=1 / 5, weighting=ClassWeighting())
    grid = {"weighting__positive": WEIGHTS}
    search = SpanSearch(model, grid, scoring="balanced_accuracy").fit(X, y)

    left_out = search.cv_results_["mean_test_score"]
    truth = []
    for weight in WEIGHTS:
        model.set_params(weighting__positive=weight).fit(X, y)
        truth.append(balanced_accuracy_score(y_new, model.predict(X_new)))

    equal = int(np.flatnonzero(WEIGHTS == 1.0)[0])
    for name, index in (("equal weights", equal), ("selected weight", search.best_index_)):
        model.set_params(weighting__positive=WEIGHTS[index]).fit(X, y)
        found = recall_score(y_new, model.predict(X_new))
        print(
            f"{name:<16} C+ = {WEIGHTS[index]:<6.3g} balanced accuracy: leave-one-out "
            f"{left_out[index]:.3f}, new rows {truth[index]:.3f}; positives found {found:.3f}"
        )

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot(WEIGHTS, truth, "--", color="0.55", lw=2.5, label="5000 new rows")
    ax.plot(WEIGHTS, left_out, "o-", color="black", ms=4, label="leave-one-out, from the span")
    best = search.best_index_
    ax.plot(WEIGHTS[best], left_out[best], "*", color="black", ms=16, label="selected")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="weight of the positive class, C+ (C- = 1)", ylabel="balanced accuracy")
    ax.legend(frameon=False)
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "imbalanced_classes.png"))
