"""Wrong labels by cleanlab, from out-of-fold probabilities of a tuned SVC.

The problem contains ``X``, scaled, ``y`` and the values ``C`` and ``gamma`` of a grid.  The SVC is
tuned by GridSearchCV with 5 folds; its probabilities come from ``cross_val_predict`` with 5 folds.

Prints the numbers of the rows that cleanlab reports, the quality of every label, and the processor
seconds.
"""

import json
import sys
import time
import warnings
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # this file has the name of the package

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.svm import SVC

warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
X, y = data["X"], data["y"]
start = time.process_time()
grid = {"C": data["C"].tolist(), "gamma": data["gamma"].tolist()}
best = GridSearchCV(SVC(), grid, cv=5).fit(X, y).best_params_
model = SVC(**best, probability=True, random_state=0)
probabilities = cross_val_predict(model, X, y, cv=5, method="predict_proba")
issues = find_label_issues(y, probabilities, n_jobs=1)
quality = get_label_quality_scores(y, probabilities)
seconds = time.process_time() - start
rows = np.flatnonzero(issues).tolist()
print(json.dumps({"issues": rows, "quality": quality.tolist(), "seconds": seconds}))
