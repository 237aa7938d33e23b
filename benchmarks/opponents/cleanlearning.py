"""Models of noisy labels by cleanlab's CleanLearning, around a tuned SVC.

The problem contains ``X``, scaled, ``X_test``, the values ``C`` and ``gamma`` of a grid, and
``labels``: several vectors of labels for the same rows.  For each, the SVC is tuned by GridSearchCV
with 5 folds, and CleanLearning drops what it finds and trains it on the rest.

Prints the labels predicted for `X_test`, and the processor seconds, for each vector.
"""

import json
import sys
import time
import warnings
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # a file there has the name of the package

import numpy as np
from cleanlab.classification import CleanLearning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
X, grid = data["X"], {name: data[name].tolist() for name in ("C", "gamma")}
predicted, seconds = [], []
for y in data["labels"]:
    start = time.process_time()
    best = GridSearchCV(SVC(), grid, cv=5).fit(X, y).best_params_
    svc = SVC(**best, probability=True, random_state=0)
    options = {"n_jobs": 1}
    model = CleanLearning(svc, seed=0, find_label_issues_kwargs=options).fit(X, y)
    predicted.append(model.predict(data["X_test"]).tolist())
    seconds.append(time.process_time() - start)
print(json.dumps({"predicted": predicted, "seconds": seconds}))
