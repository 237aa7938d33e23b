"""GridSearchCV with scikit-learn-intelex's SVC."""

import json
import sys

import daal4py
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearnex.svm import SVC

daal4py.daalinit(nthreads=1)
data = np.load(sys.argv[1])
grid = {"class_weight": [{-1: low, 1: high} for low, high in data["candidates"]]}
search = GridSearchCV(SVC(gamma=float(data["gamma"])), grid, cv=5, refit=False)
results = search.fit(data["X"], data["y"]).cv_results_
print(json.dumps((5 * (results["mean_fit_time"] + results["mean_score_time"])).tolist()))
