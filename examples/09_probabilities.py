"""Probabilities: how often it happens if the model says 30 %.

A model is trained once on 500 rows; its probabilities come from the values of left-out rows.  Those
of CalibratedClassifierCV come from five more trainings.  On 10,000 new rows we count how often it
happens.

    python examples/09_probabilities.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spansvm import SpanSVC

#: A third of the rows is positive, and one label in ten is drawn by lot.
PROBLEM = {"n_features": 12, "n_informative": 5, "weights": [2 / 3], "flip_y": 0.1}


def main(picture: Path) -> None:
    """Train both, print how good their probabilities are, and draw what they promise."""
    X, y = make_classification(10_500, random_state=2, **PROBLEM)
    X, X_new, y, y_new = train_test_split(X, y, train_size=500, random_state=0)
    options = {"C": 2.0, "gamma": 0.1}
    models = {
        "SpanSVC, 1 training": SpanSVC(**options),
        "CalibratedClassifierCV, 6 trainings": CalibratedClassifierCV(
            SVC(**options), ensemble=False, cv=5
        ),
    }
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot([0, 1], [0, 1], ":", color="0.6")
    for (name, model), style in zip(models.items(), ("o-", "s--"), strict=True):
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
        predicted = pipeline.predict_proba(X_new)[:, 1]
        print(
            f"{name:<36} log loss {log_loss(y_new, predicted):.4f}, "
            f"Brier score {brier_score_loss(y_new, predicted):.4f}"
        )
        happened, said = calibration_curve(y_new, predicted, n_bins=10)
        ax.plot(said, happened, style, color="black", ms=5, label=name)
    ax.set(xlabel="predicted probability", ylabel="how often it happened, 10,000 new rows")
    ax.legend(frameon=False)
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "probabilities.png"))
