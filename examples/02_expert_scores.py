"""Expert scores: rows with doubtful labels count, but less.

An expert has labelled 400 rows and scored how certain each label is, from 0 to 1.  When in doubt,
the expert called positive rows negative: always at a score of 0, never at 1.  A sigmoid turns
scores into weights (eq. sigmoidal of the paper); its shape is chosen by leave-one-out
predictions, in which each row counts as much as its label is certain.

    python examples/02_expert_scores.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import make_blobs
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import train_test_split

from spansvm import SigmoidWeighting, SpanSearch, SpanSVC


def main(picture: Path) -> None:
    """Compare equal weights with weights from scores, and draw the selected sigmoid."""
    centers = np.outer([-1, 1], np.full(20, 2 / np.sqrt(20)))
    X, y = make_blobs(5400, centers=centers, random_state=1)
    X, X_new, truth, y_new = train_test_split(X, y, train_size=400, random_state=0)
    rng = np.random.default_rng(201)
    scores = rng.random(truth.size)
    wrong = (truth > 0) & (rng.random(truth.size) > scores)
    y = np.where(wrong, 0, truth)
    print(f"{wrong.sum()} of {y.size} labels are wrong")

    # Metadata routing also passes the scores to the scorer, as sample weights.
    sklearn.set_config(enable_metadata_routing=True)
    accuracy = make_scorer(accuracy_score).set_score_request(sample_weight="scores")
    C = 2.0 ** np.arange(-6, 5)
    equal = SpanSVC(gamma=1 / 20).set_fit_request(scores=False)
    weighted = SpanSVC(gamma=1 / 20, weighting=SigmoidWeighting()).set_fit_request(scores=True)
    grid = {
        "weighting__steepness": [4, 8, 16, 32],
        "weighting__midpoint": [0.3, 0.5, 0.7, 0.9],
        "weighting__ceiling": C,
    }
    plain = SpanSearch(equal, {"C": C}, scoring=accuracy).fit(X, y, scores=scores)
    search = SpanSearch(weighted, grid, scoring=accuracy).fit(X, y, scores=scores)
    for name, result in (("equal weights", plain), ("weights from scores", search)):
        error = np.mean(result.predict(X_new) != y_new)
        print(
            f"{name:<20} best of {len(result.cv_results_['params']):>3} candidates: "
            f"error on new rows with true labels {error:.4f}"
        )

    sigmoid = search.best_estimator_.weighting
    weights = sigmoid.instance_weights(y, scores)
    print(
        f"selected: steepness {sigmoid.steepness:g}, midpoint {sigmoid.midpoint:g}, "
        f"ceiling {sigmoid.ceiling:g}; mean weight of a right label "
        f"{weights[~wrong].mean():.4f}, of a wrong one {weights[wrong].mean():.4f}"
    )

    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(6, 4.5), layout="constrained", sharex=True, height_ratios=[2, 1]
    )
    q = np.linspace(0, 1, 200)
    top.plot(q, sigmoid.instance_weights(y, q), "-", color="black", lw=2)
    top.set(ylabel="selected weight, $C_i$")
    bottom.hist(
        [scores[wrong], scores[~wrong]], bins=20, range=(0, 1), stacked=True, edgecolor="black",
        color=["0.35", "white"], label=["wrong label", "right label"],
    )  # fmt: skip
    bottom.set(xlabel="how sure the label is, q", ylabel="rows", ylim=(0, 40))
    bottom.legend(frameon=False, ncols=2, loc="upper right")
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "expert_scores.png"))
