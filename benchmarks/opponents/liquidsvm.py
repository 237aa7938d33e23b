"""One point of liquidSVM's own grid (10 gammas x 10 lambdas), with 5 folds.

Its search has no class weights, so every candidate is given the mean time of a grid point.
"""

import json
import sys
import time
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))

import liquidSVM
import numpy as np

data = np.load(sys.argv[1])
start = time.perf_counter()
liquidSVM.mcSVM(data["X"], data["y"], folds=5, threads=1, do_select=False)
each = (time.perf_counter() - start) / 100
print(json.dumps([each] * len(data["candidates"])))
