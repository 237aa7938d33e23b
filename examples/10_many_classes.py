"""Many classes: which digits are taken for which.

Ten handwritten digits are told apart by 45 machines, one per pair.  Each of 1000 images is left out
of all machines that know it, and the others vote.  The table of confusions needs no test rows; 797
others show that it is right.

    python examples/10_many_classes.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

from spansvm import SpanSearch, SpanSVC


def main(picture: Path) -> None:
    """Search, print the errors and the commonest confusions, and draw them all."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X / 16, y, train_size=1000, stratify=y, random_state=0)
    grid = {"C": 10.0 ** np.arange(-1, 3), "gamma": 10.0 ** np.arange(-3, 1)}
    search = SpanSearch(SpanSVC(), grid).fit(X, y)
    model = search.best_estimator_
    print(
        f"C = {model.C:g}, gamma = {model.gamma:g}: "
        f"error of left-out images {model.loo_error_:.4f}, "
        f"corrected {1 - search.corrected_score_:.4f}, of new images "
        f"{1 - model.score(X_new, y_new):.4f}"
    )
    counts = confusion_matrix(y, model.loo_predict_)
    wrong = counts - np.diag(np.diag(counts))
    for place in np.argsort(-wrong, axis=None, kind="stable")[:3]:
        given, predicted = np.unravel_index(place, wrong.shape)
        print(f"{wrong[given, predicted]} times a {given} is taken for a {predicted}")

    figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
    ax.imshow(wrong, cmap="Oranges", vmax=max(4, wrong.max()))
    for given, predicted in np.argwhere(wrong):
        ax.text(
            predicted, given, wrong[given, predicted], ha="center", va="center", color="#402000"
        )
    ax.set(xlabel="predicted when left out", ylabel="label", xticks=range(10), yticks=range(10))
    ax.set_title(f"{wrong.sum()} of {y.size} left-out images are misclassified", loc="left")
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "many_classes.png"))
