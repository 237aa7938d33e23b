"""Leave-one-out along a path of C by TorchKM's solver for the SVM, on the processor.

The problem contains C, from small to large, ``left_out``, the rows to leave out one at a time, and
``KKTeps``.  Prints the processor and wall seconds for all rows, in proportion to those left out,
and the share of errors among these for each C.
"""

import json
import sys
import time
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # this file has the name of the package

import numpy as np
import torch
from torchkm.cvksvm import cvksvm
from torchkm.functions import rbf_kernel


def now() -> np.ndarray:
    """Processor and wall seconds."""
    return np.array([time.process_time(), time.perf_counter()])


class Timed(cvksvm):
    """Its solver, which notes how long it leaves out rows: time in proportion to their number."""

    leaving_out = np.zeros(2)

    def _cv_batched_lambda(self, **arguments):
        start = now()
        values = super()._cv_batched_lambda(**arguments)
        self.leaving_out = self.leaving_out + now() - start
        return values


torch.set_num_threads(1)
data = np.load(sys.argv[1])
y, C, left_out, KKTeps = data["y"], data["C"], data["left_out"], float(data["KKTeps"])
folds = np.zeros(y.size, dtype=np.int64)  # fold 0 is never left out
folds[left_out] = np.arange(1, left_out.size + 1)

start = now()
solver = Timed(
    # Its kernel is exp(-2 sigma d^2), its objective the mean hinge loss plus lambda |w|^2.
    rbf_kernel(torch.as_tensor(data["X"]), float(data["gamma"]) / 2),
    torch.as_tensor(y),
    C.size,
    torch.as_tensor(1 / (2 * y.size * C)),
    foldid=torch.as_tensor(folds),
    nfolds=left_out.size,
    maxit=10**6,  # as in its paper; the default of 1000 for the whole path is too few
    gamma=1e-8,  # as its estimator sets it: added to the eigenvalues of the Gram matrix
    KKTeps=KKTeps,
    KKTeps2=KKTeps,
    device="cpu",
)
solver.fit()
taken = now() - start + solver.leaving_out * (y.size / left_out.size - 1)

positive = solver.pred.numpy()[left_out] > 0
errors = np.mean(positive != (y[left_out, None] > 0), axis=0)
print(json.dumps({"seconds": taken.tolist(), "errors": errors.tolist()}))
