"""Sets of labels by MAPIE: split conformal and cross conformal prediction (5 folds).

The problem contains all rows, scaled for each training by the caller: ``train_k``, ``y_k``,
``test_k``, ``truth_k`` for training number k, with ``C``, ``gamma``, ``levels`` and ``balanced``.
Probabilities are those of CalibratedClassifierCV around SVC, trained once more on all rows.

Prints, for each way and training, the rows of each class whose set contains their label, the sum of
the sizes, the number of empty sets, by level, and the processor seconds; null if MAPIE refuses.
"""

import json
import sys
import time
import warnings
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # this file has the name of the package

import numpy as np
from mapie.classification import CrossConformalClassifier, SplitConformalClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
levels, weight = data["levels"].tolist(), "balanced" if data["balanced"] else None


def split(model, X, y, seed):
    """A third of the rows is for the scores."""
    first, second = train_test_split(np.arange(y.size), test_size=1 / 3, random_state=seed)
    made = SplitConformalClassifier(model, confidence_level=levels, prefit=False)
    return made.fit(X[first], y[first]).conformalize(X[second], y[second])


def cross(model, X, y, seed):
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    made = CrossConformalClassifier(model, confidence_level=levels, cv=folds)
    return made.fit_conformalize(X, y)


def measure(make, k):
    X, y, test, truth = (data[f"{name}_{k}"] for name in ("train", "y", "test", "truth"))
    model = CalibratedClassifierCV(
        SVC(C=data["C"][k], gamma=data["gamma"][k], class_weight=weight), ensemble=False
    )
    start = time.process_time()
    try:
        sets = make(model, X, y, k).predict_set(test)[1].astype(bool)
    except ValueError:  # a class is too small for its folds
        return None
    seconds = time.process_time() - start
    if sets.shape[1] != y.max() + 1:
        return None
    hits = np.take_along_axis(sets, truth[:, None, None], axis=1)[:, 0]
    by_class = [hits[truth == label].sum(axis=0).tolist() for label in range(sets.shape[1])]
    empty = (~sets.any(axis=1)).sum(axis=0).tolist()
    return [by_class, sets.sum(axis=(0, 1)).tolist(), empty, seconds]


ways = {"mapie_split": split, "mapie_cross": cross}
count = data["C"].size
print(json.dumps({way: [measure(make, k) for k in range(count)] for way, make in ways.items()}))
