"""Five folds with ThunderSVM's SVC on the CPU."""

import json
import sys
import time
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # this file has the name of the package

import numpy as np
from sklearn.model_selection import StratifiedKFold
from thundersvm import SVC

data = np.load(sys.argv[1])
X, y = data["X"], data["y"]
folds = list(StratifiedKFold(5).split(X, y))
times = []
for low, high in data["candidates"]:
    start = time.perf_counter()
    for train, test in folds:
        model = SVC(gamma=float(data["gamma"]), class_weight={-1: low, 1: high}, n_jobs=1)
        model.fit(X[train], y[train])
        model.predict(X[test])
    times.append(time.perf_counter() - start)
print(json.dumps(times))
