"""Data values by pyDVL: leave-one-out by training, and Shapley values of nearest neighbours.

The problem contains ``X``, ``y``, ``X_valid``, ``y_valid``, all scaled, with ``C`` and ``gamma``.

Prints the values of the training rows and the processor seconds of each way.
"""

import json
import sys
import time
import warnings
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # this file has the name of the package

import numpy as np
from joblib import parallel_config
from pydvl.valuation import (
    Dataset,
    KNNShapleyValuation,
    LOOValuation,
    ModelUtility,
    SupervisedScorer,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
train, valid = Dataset(data["X"], data["y"]), Dataset(data["X_valid"], data["y_valid"])
model = SVC(C=float(data["C"]), gamma=float(data["gamma"]))
scorer = SupervisedScorer("accuracy", valid, default=0.0)
ways = {
    "leave_one_out": LOOValuation(ModelUtility(model, scorer), progress=False),
    "neighbours": KNNShapleyValuation(KNeighborsClassifier(5), valid, progress=False),
}
found = {}
for name, way in ways.items():
    with parallel_config(n_jobs=1):
        start = time.process_time()
        result = way.fit(train).result
        seconds = time.process_time() - start
    values = np.zeros(len(train))
    values[result.indices] = result.values
    found[name] = {"values": values.tolist(), "seconds": seconds}
print(json.dumps(found))
