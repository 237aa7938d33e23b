"""Small models of this version as files, with what they predict: later versions must read them.

``python -m tests.models.saved.make`` writes the folder of this version.  It is run once for each,
just before its release; folders of versions that are out stay as they are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spansvm import SigmoidWeighting, SpanSearch, SpanSVC, SpanSVR, __version__
from spansvm.models import save_model

FOLDER = Path(__file__).parent


def rows(seed: int, number: int) -> np.ndarray:
    """Rows of two features."""
    return np.random.default_rng(seed).normal(size=(number, 2)).round(3)


def classes(X: np.ndarray, number: int) -> np.ndarray:
    """Names of classes, by the direction of a row, some of them wrong."""
    wrong = np.random.default_rng(1).random(len(X)) < 0.1
    code = np.floor((np.arctan2(X[:, 1], X[:, 0]) / (2.0 * np.pi) + 0.5) * number).astype(int)
    return np.array(["ant", "bee", "cat"])[(code + wrong) % number]


def target(X: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(2).normal(scale=0.1, size=len(X))
    return np.sin(X[:, 0]) + 0.5 * X[:, 1] + noise


def fitted() -> dict[str, Any]:
    """A model of every kind, by name."""
    X = rows(0, 40)
    two, three, numbers = classes(X, 2), classes(X, 3), target(X)
    scores = np.random.default_rng(3).random(len(X))
    weighted = SpanSVC(C=2.0, gamma=0.5, weighting=SigmoidWeighting(10.0, 0.3))
    grid = {"C": [0.5, 2.0, 8.0], "gamma": [0.2, 0.5]}
    return {
        "two_classes": make_pipeline(StandardScaler(), SpanSVC(C=2.0, gamma=0.5)).fit(X, two),
        "weighted": weighted.fit(X, two, scores=scores),
        "three_classes": SpanSVC(C=1.0, kernel="poly", degree=2, coef0=1.0).fit(X, three),
        "linear": SpanSVC(kernel="linear", class_weight="balanced").fit(X, two),
        "sparse": SpanSVC().fit(sparse.csr_matrix(np.maximum(X, 0.0)), two),
        "regression": SpanSVR(C=5.0, gamma=0.5, epsilon=0.05).fit(X, numbers),
        "committee": SpanSearch(SpanSVC(), grid).fit(X, three).committee(),
        "regression_committee": SpanSearch(SpanSVR(), grid).fit(X, numbers).committee(),
    }


def predictions(model: Any) -> dict[str, Any]:
    """What a model says, as JSON."""
    X = rows(4, 6)
    last = model[-1] if hasattr(model, "steps") else model
    said = {"predict": model.predict(X), "loo_error_": last.loo_error_}
    for name in ("decision_function", "predict_proba", "predict_interval"):
        if hasattr(model, name):
            said[name] = getattr(model, name)(X)
    for name in ("loo_predict_", "loo_predict_proba_", "loo_margin_"):
        if hasattr(last, name):
            said[name] = getattr(last, name)
    return {name: np.asarray(value).tolist() for name, value in said.items()}


def main() -> None:
    folder = FOLDER / __version__
    folder.mkdir()
    said = {}
    for name, model in fitted().items():
        save_model(folder / f"{name}.skops", model)
        said[name] = predictions(model)
    lines = [f"{json.dumps(name)}: {json.dumps(own)}" for name, own in said.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (folder / "predictions.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
