"""``python -m benchmarks.torchkm [n ...]``: leave-one-out along a path of C, against TorchKM.

TorchKM (arXiv 2606.06742) smooths the hinge loss and reduces the smoothing until the KKT
conditions hold to ``KKTeps``; it leaves out each row by starting from the solution with all rows.
It is made for graphics cards; here it runs on the processor, one thread, as we do.

The data are drawn as in its simulation: per class five normal distributions with standard
deviation 3, around centres that are themselves normal, shifted by 2 in one half of the columns;
columns standardised; gamma from quantiles of squared distances; 50 values of lambda from 1000 to
0.001, C = 1 / (2 n lambda).  TorchKM leaves out a sample of the rows, and the time of doing so is
extrapolated to all; errors are compared on that sample.  Ours run in full.  The default of
``KKTeps`` does not depend on n and is loose for many rows, so a tighter one is measured too.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch

from .measure import machine, write
from .opponents import TORCHKM

METHODS = ("span_rule", "loo")
KKT_TOLERANCES = (1e-3, 1e-6)  # its default, and that of its own study of the objective


def simulation(n: int, p: int = 10, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns and labels, five clusters per class."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((2, 5, p))
    centres[0, :, : p // 2] += 2.0
    centres[1, :, p // 2 :] += 2.0
    label = rng.integers(2, size=n)
    X = centres[label, rng.integers(5, size=n)] + 3.0 * rng.standard_normal((n, p))
    return (X - X.mean(axis=0)) / X.std(axis=0), 2.0 * label - 1.0


def kernel_width(X: np.ndarray, seed: int = 0) -> float:
    """Sum of the inverse 10 % and 90 % quantiles of squared distances, from n/2 pairs of rows."""
    first, second = np.random.default_rng(seed).integers(len(X), size=(2, len(X) // 2))
    distances = np.sum((X[first] - X[second]) ** 2, axis=1)
    return float(np.sum(1 / np.quantile(distances[distances > 0], (0.1, 0.9))))


def ours(
    X: np.ndarray, y: np.ndarray, gamma: float, C: np.ndarray, method: str, left_out: np.ndarray
) -> tuple[list[float], np.ndarray]:
    """Processor and wall seconds of the search; its errors on `left_out` from a second one."""

    def on_sample(model, X, y) -> float:
        return float(np.mean((model.decision_function(X) > 0)[left_out] == (y > 0)[left_out]))

    start = time.process_time(), time.perf_counter()
    SpanSearch(SVC(gamma=gamma), {"C": C}, method=method).fit(X, y)
    taken = [time.process_time() - start[0], time.perf_counter() - start[1]]
    search = SpanSearch(SVC(gamma=gamma), {"C": C}, method=method, scoring=on_sample, refit=False)
    return taken, 1.0 - search.fit(X, y).cv_results_["mean_test_score"]


def compare(n: int, sample: int, largest: float, smallest: float) -> list[dict[str, object]]:
    """A line per method and per tolerance of TorchKM."""
    X, y = simulation(n)
    gamma = kernel_width(X)
    C = 1 / (2 * n * np.geomspace(largest, smallest, 50))
    left_out = np.sort(np.random.default_rng(1).choice(n, min(sample, n), replace=False))
    results = {method: ours(X, y, gamma, C, method, left_out) for method in METHODS}
    for tolerance in KKT_TOLERANCES:
        answer = TORCHKM.run(
            f"n = {n}", X=X, y=y, gamma=gamma, C=C, left_out=left_out, KKTeps=tolerance
        )
        if answer is not None:
            name = f"torchkm, KKTeps = {tolerance:g}"
            results[name] = answer["seconds"], np.array(answer["errors"])
    exact = results["loo"][1]
    rows = []
    for name, (taken, errors) in results.items():
        away = np.abs(errors - exact)
        row: dict[str, object] = {
            "n": n,
            "method": name,
            "lambda": f"{largest:g} to {smallest:g}",
            "processor_seconds": round(taken[0], 3),
            "wall_seconds": round(taken[1], 3),
        }
        for method in METHODS:
            row[f"processor_over_{method}"] = round(taken[0] / results[method][0][0], 2)
            row[f"wall_over_{method}"] = round(taken[1] / results[method][0][1], 2)
        row |= {
            "rows_left_out": n if name in METHODS else left_out.size,
            "rows_compared": left_out.size,
            "lowest_error": round(float(errors.min()), 4),
            "mean_from_exact": round(float(away.mean()), 4),
            "largest_from_exact": round(float(away.max()), 4),
        }
        print(
            f"n = {n:<6} {name:24} {taken[0]:9.2f} s processor, {taken[1]:9.2f} s wall; "
            f"x{row['processor_over_span_rule']} span_rule, x{row['processor_over_loo']} loo; "
            f"errors from exact: mean {row['mean_from_exact']}, up to {row['largest_from_exact']}",
            flush=True,
        )
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torchkm", description=__doc__)
    parser.add_argument("n", nargs="*", type=int, default=[1000, 5000, 10_000], help="rows")
    parser.add_argument("--sample", type=int, default=200, help="rows that TorchKM leaves out")
    parser.add_argument(
        "--lambdas", nargs=2, type=float, default=[1e3, 1e-3], metavar=("LARGEST", "SMALLEST")
    )
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    with threadpool_limits(1):
        X, y = simulation(100)
        for method in METHODS:  # compiles
            SpanSearch(SVC(gamma=kernel_width(X)), {"C": [0.1, 1.0]}, method=method).fit(X, y)
        for n in options.n:
            rows += compare(n, options.sample, *options.lambdas)
    print(f"\n{machine()}\nwritten to {write('torchkm', rows)}")


if __name__ == "__main__":
    main()
