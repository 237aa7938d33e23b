"""What an installed wheel must do where nothing but its dependencies is installed.

``python -m tests.smoke`` would find the sources: it is run as a file, ``python tests/smoke.py``, by
``make wheel``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import spansvm
from spansvm import SpanSearch, SpanSVC, SpanSVR, analyze

assert Path(sys.prefix) in Path(spansvm.__file__).parents, spansvm.__file__
found = [name for name in ("cc", "c99", "gcc", "clang", "cl", "zig") if shutil.which(name)]
assert not found, f"There is a compiler: {found}"

X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
grid = {"C": [0.3, 3.0, 30.0], "gamma": [0.003, 0.03]}
search = SpanSearch(SVC(), grid).fit(X, y)
folds = GridSearchCV(SVC(), grid).fit(X, y)
assert search.best_score_ > folds.best_score_ - 0.01
model = SpanSVC(**search.best_params_).fit(X, y)
np.testing.assert_allclose(
    model.decision_function(X), search.best_estimator_.decision_function(X), atol=0.01
)
assert abs(1.0 - model.loo_error_ - search.best_score_) < 1e-12
assert model.certificate_.relative_gap < 1e-9
assert analyze(search.best_estimator_, X, y).span_rule < 0.05

X, y = load_wine(return_X_y=True)
assert SpanSVC().fit((X - X.mean(axis=0)) / X.std(axis=0), y).loo_error_ < 0.03

X, y = load_diabetes(return_X_y=True)
regression = SpanSVR(C=100.0, epsilon=10.0).fit(X, y)
assert regression.loo_error_ < y.std()
low, high = regression.predict_interval(X, confidence_level=0.9).T
assert 0.85 < np.mean((low <= y) & (y <= high)) < 0.99
print(f"spansvm {spansvm.__version__} works in {sys.prefix}")
