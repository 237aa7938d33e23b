"""GridSearchCV with scikit-learn's SVC, that is, LibSVM."""

import json
import sys

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

data = np.load(sys.argv[1])
grid = {"class_weight": [{-1: low, 1: high} for low, high in data["candidates"]]}
search = GridSearchCV(SVC(gamma=float(data["gamma"])), grid, cv=5, refit=False)
results = search.fit(data["X"], data["y"]).cv_results_
print(json.dumps((5 * (results["mean_fit_time"] + results["mean_score_time"])).tolist()))
