"""``python -m benchmarks.values``: left-out values against exact leave-one-out.

The span-rule (Corollary 1) and the values that searches use for ranking scores and probabilities
(`left_out_values`) against exact leave-one-out, on 200 rows: noise with 5, 20, 50 % positives, and
real data.  Two grids: the paper's class weights (9 x 9 of its 33 x 33, gamma = 1/d), and C x gamma
with small C and tiny gamma (6 x 6), where in-bound vectors are few.  For each score: the mean and
the largest difference over the models of the grid, and the time.

Two more tables: ``ranking.csv``, the area under the ROC curve of pooled left-out values minus that
of the model itself on thousands of test rows, for plain and for comparable values; and
``noise.csv``, the best scores of searches on noise.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch
from spansvm.estimators.weighting import PAPER_CLASS_WEIGHTS
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import Gram
from spansvm.kernels.lazy import gram_of
from spansvm.machine.dual import DualSolution, solve_dual
from spansvm.machine.span import find_spans
from spansvm.machine.values import accuracy_of, exact_values, left_out_values, rounded
from spansvm.multiclass.calibration import fit_sigmoid, limit_outliers

from .datasets import NAMES, splits
from .measure import write

ROWS = 200
WEIGHTS = np.array(PAPER_CLASS_WEIGHTS[::4])
C_VALUES, GAMMAS = 10.0 ** np.arange(-3, 3), 10.0 ** np.arange(-4, 2)
RATES = (0.05, 0.2, 0.5)

Data = tuple[np.ndarray, np.ndarray]


def noise(rate: float, n: int, seed: int) -> Data:
    """Features that carry no information about the labels."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < rate * n, 1.0, -1.0)
    return rng.standard_normal((n, 5)), y


def problems() -> Iterator[tuple[str, Data]]:
    for rate in RATES:
        for seed in range(2):
            yield f"noise {rate:.0%}, seed {seed}", noise(rate, ROWS, seed)
    for name in NAMES:
        X, y, *_ = next(splits(name, 1))
        rows = np.random.default_rng(0).permutation(y.size)[:ROWS]
        yield name, (X[rows], y[rows].astype(float))


def models(grid: str, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[Gram, DualSolution]]:
    """Trained models of a grid."""
    d = X.shape[1]
    if grid == "weights":
        gram = gram_of(resolve_kernel("rbf", X, gamma=1 / d), X)
        for positive in WEIGHTS:
            for negative in WEIGHTS:
                yield gram, solve_dual(gram, y, np.where(y > 0, positive, negative))
        return
    for gamma in GAMMAS:
        gram = gram_of(resolve_kernel("rbf", X, gamma=gamma / d), X)
        for C in C_VALUES:
            yield gram, solve_dual(gram, y, np.full(y.size, C))


def scores(y: np.ndarray, decision: np.ndarray, ranking: np.ndarray, plain: np.ndarray) -> list:
    """Area under the curve, average precision, log loss, accuracy."""
    sigmoid = fit_sigmoid(limit_outliers(ranking, plain, y > 0), y > 0, prior=0.5)
    probability = np.clip(sigmoid(ranking), 1e-7, 1 - 1e-7)
    return [
        roc_auc_score(y, ranking),
        average_precision_score(y, ranking),
        log_loss(y > 0, probability),
        float((y * decision > 0).mean()),
    ]


MEASURES = ("auc", "average_precision", "log_loss", "accuracy")


def compare(name: str, grid: str, data: Data) -> dict[str, object]:
    X, y = data
    differences: dict[str, list] = {"rule": [], "values": []}
    times, followed, count = np.zeros(3), 0, 0
    for gram, solution in models(grid, X, y):
        clock = [time.perf_counter()]
        rule = find_spans(gram, solution)
        clock.append(time.perf_counter())
        ours = left_out_values(gram, solution, rule)
        clock.append(time.perf_counter())
        exact = exact_values(gram, solution)
        clock.append(time.perf_counter())
        times += np.diff(clock)
        followed, count = followed + ours.rows.size, count + 1
        accuracy, plain = accuracy_of(gram, solution), solution.decision
        decision = rounded(exact.decision, accuracy)
        of_rule = rounded(rule.decision, accuracy)
        truth = scores(y, decision, exact.comparable, plain)
        # The ranking by the rule is compared with that by plain leave-one-out values.
        against = [roc_auc_score(y, decision), average_precision_score(y, decision), *truth[2:]]
        differences["rule"].append(np.subtract(scores(y, of_rule, of_rule, plain), against))
        differences["values"].append(
            np.subtract(scores(y, ours.decision, ours.comparable, plain), truth)
        )
    row: dict[str, object] = {"data_set": name, "grid": grid, "models": count}
    for kind, found in differences.items():
        for measure, column in zip(MEASURES, np.abs(found).T, strict=True):
            row[f"{kind}_{measure}_mean"] = round(column.mean(), 4)
            row[f"{kind}_{measure}_largest"] = round(column.max(), 4)
    row["followed"] = round(followed / (count * y.size), 4)
    for kind, seconds in zip(("rule", "values", "exact"), times / count, strict=True):
        row[f"{kind}_milliseconds"] = round(1e3 * seconds, 3)
    print(
        f"{name:20} {grid:8} auc: rule {row['rule_auc_mean']:.4f} ({row['rule_auc_largest']:.3f}), "
        f"values {row['values_auc_mean']:.4f} ({row['values_auc_largest']:.3f}); followed "
        f"{row['followed']:.1%}",
        flush=True,
    )
    return row


#: Data set (or share of positives in noise), training rows, C, gamma times d.
CASES = (
    ("noise 20%", 100, 0.1, 1.0),
    ("noise 50%", 100, 0.1, 1.0),
    ("noise 50%", 100, 100.0, 1.0),
    ("splice", 60, 1.0, 1.0),
    ("splice", 300, 0.01, 1.0),
    ("splice", 300, 100.0, 1.0),
    ("banana", 100, 1.0, 1.0),
    ("banana", 100, 100.0, 1.0),
    ("waveform", 100, 1.0, 1.0),
    ("adult", 200, 1.0, 1.0),
)


def pooled(name: str, size: int, C: float, gamma: float, repeats: int = 10) -> dict[str, object]:
    """Bias of pooled left-out values: their area under the curve minus that of the test rows."""
    biases = []
    for seed in range(repeats):
        if name.startswith("noise"):
            rate = float(name.split()[1].rstrip("%")) / 100
            X, y = noise(rate, size, seed)
            X_test, y_test = noise(rate, 3000, 1000 + seed)
        else:
            X, y, X_test, y_test = next(splits(name, 1))
            X, y = np.vstack((X, X_test)), np.concatenate((y, y_test)).astype(float)
            order = np.random.default_rng(seed).permutation(y.size)
            train, test = order[:size], order[size : size + 3000]
            X, y, X_test, y_test = X[train], y[train], X[test], y[test]
        kernel = resolve_kernel("rbf", X, gamma=gamma / X.shape[1])
        gram = gram_of(kernel, X)
        solution = solve_dual(gram, y, np.full(y.size, C))
        test_auc = roc_auc_score(y_test, kernel(X_test, X) @ solution.beta)
        ours, exact = left_out_values(gram, solution), exact_values(gram, solution)
        values = (
            rounded(exact.decision, accuracy_of(gram, solution)), exact.comparable, ours.comparable
        )  # fmt: skip
        biases.append([test_auc] + [roc_auc_score(y, v) - test_auc for v in values])
    mean, error = np.mean(biases, axis=0), np.std(biases, axis=0, ddof=1) / np.sqrt(repeats)
    row: dict[str, object] = {"data_set": name, "rows": size, "C": C, "gamma_d": gamma}
    row["test_auc"] = round(mean[0], 4)
    for place, kind in enumerate(("exact_pooled", "exact_ranked", "ours_ranked"), start=1):
        row[f"{kind}_bias"] = round(mean[place], 4)
        row[f"{kind}_bias_error"] = round(error[place], 4)
    print(" ".join(f"{value}" for value in row.values()), flush=True)
    return row


def searched(rate: float, seed: int) -> dict[str, object]:
    """Best score among nine candidates in searches on noise, by ranking scores and log loss."""
    X, y = noise(rate, ROWS, seed)
    grid = {"C": [0.1, 1, 10], "gamma": [1e-4, 1e-2, 1]}
    row: dict[str, object] = {"share_of_positives": rate, "seed": seed}
    for scoring in ("roc_auc", "average_precision", "neg_log_loss"):
        for method in ("span_rule", "kfold", "loo"):
            search = SpanSearch(SVC(), grid, scoring=scoring, method=method, refit=False)
            row[f"{scoring}_{method}"] = round(search.fit(X, y).best_score_, 4)
    print(" ".join(f"{value}" for value in row.values()), flush=True)
    return row


def main() -> None:
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        compare("warm-up", "C-gamma", noise(0.2, 60, 0))
        rows = [
            compare(name, grid, data)
            for grid in ("C-gamma", "weights")
            for name, data in problems()
        ]
        print(f"written to {write('values', rows)}")
        print(f"written to {write('ranking', [pooled(*case) for case in CASES])}")
        noisy = [searched(rate, seed) for rate in RATES for seed in range(5)]
        print(f"written to {write('noise', noisy)}")


if __name__ == "__main__":
    main()
