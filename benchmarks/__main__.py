"""``python -m benchmarks``: one training, and the span-rule of one model.

Ratios within one run on one thread.  For every problem and C the tasks are timed in turns;
a ratio is the median over the repeats, with the smallest and the largest as its spread.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import Gram, HeldGram
from spansvm.machine.criteria import SolvedModel, span_rule
from spansvm.machine.dual import train_dual

from . import peers
from .measure import geometric_mean, in_turns, machine, seconds, write
from .problems import Problem, core_problems

TOLERANCE = 1e-3
EXPONENTS = tuple(range(-6, 11, 2))

#: The quadratic programs of this many support vectors are solved; the rest is extrapolated.
SAMPLED = 20


def measure(problem: Problem, exponent: int, gram: Gram, repeats: int) -> dict[str, object]:
    C = 2.0**exponent
    solution = train_dual(gram, problem.y, C, tol=TOLERANCE)
    times = in_turns(
        repeats,
        train=lambda: train_dual(gram, problem.y, C, tol=TOLERANCE),
        # A new object each time, so that nothing is cached from the last turn.
        span_rule=lambda: span_rule(SolvedModel(gram, replace(solution))),
        libsvm=lambda: peers.libsvm(problem, C, TOLERANCE),
        libsvm_precomputed=lambda: peers.libsvm_precomputed(gram.values, problem, C, TOLERANCE),
    )
    row: dict[str, object] = {
        "problem": problem.name,
        "log2_C": exponent,
        "in_bound": int(solution.in_bound.sum()),
        "bounded": int(solution.bounded.sum()),
    }
    row |= {f"{name}_ms": round(1e3 * float(np.median(t)), 4) for name, t in times.items()}
    row |= ratios("libsvm_over_train", times["libsvm"], times["train"])
    row |= ratios("precomputed_over_train", times["libsvm_precomputed"], times["train"])
    row |= ratios("span_over_train", times["span_rule"], times["train"])
    row |= general_solvers(gram, solution, float(np.median(times["span_rule"])))
    return row


def ratios(name: str, numerator: list[float], denominator: list[float]) -> dict[str, object]:
    values = np.array(numerator) / np.array(denominator)
    return {
        name: round(float(np.median(values)), 4),
        f"{name}_min": round(float(values.min()), 4),
        f"{name}_max": round(float(values.max()), 4),
    }


def general_solvers(gram: Gram, solution, span_seconds: float) -> dict[str, object]:
    """Time of all n quadratic programs of the model, from a sample, over that of the span-rule."""
    support = np.flatnonzero(solution.support)
    inside = np.flatnonzero(solution.in_bound)
    result: dict[str, object] = {}
    for name, solve in peers.SPAN_SOLVERS.items():
        if inside.size < 2:
            result[f"{name}_qps_over_span"] = ""
            continue
        sample = np.random.default_rng(0).choice(support, min(SAMPLED, support.size), replace=False)
        total = 0.0
        for p in sample:
            others = inside[inside != p]
            inner = np.ascontiguousarray(gram.values[np.ix_(others, others)])
            column = np.ascontiguousarray(gram.values[others, p])
            total += seconds(lambda: solve(inner, column, 1.0), shortest=0.0)  # noqa: B023
        result[f"{name}_qps_over_span"] = round(
            total / sample.size * support.size / span_seconds, 1
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="repeats per measurement")
    repeats = parser.parse_args().repeats
    rows = []
    with threadpool_limits(1):
        for problem in core_problems():
            kernel = resolve_kernel("rbf", problem.X, gamma=problem.gamma)
            gram = HeldGram(kernel(problem.X), kernel_range=kernel.range)
            for exponent in EXPONENTS:
                row = measure(problem, exponent, gram, repeats)
                rows.append(row)
                print(
                    f"{problem.name:14} C = 2^{exponent:<3} train {row['train_ms']:9.3f} ms   "
                    f"LibSVM x{row['libsvm_over_train']:<8.1f} "
                    f"precomputed x{row['precomputed_over_train']:<8.1f} "
                    f"span-rule / train {row['span_over_train']:.3f}",
                    flush=True,
                )
    print(f"\n{machine()}\nGeometric means over {len(rows)} models (target in brackets):")
    for name, text in (
        ("libsvm_over_train", "SVC(kernel='rbf') over our training [at least 5]"),
        ("precomputed_over_train", "SVC(kernel='precomputed') over our training [at least 2]"),
        ("span_over_train", "span-rule over our training [under 0.1]"),
        ("clarabel_qps_over_span", "n QPs by clarabel over the span-rule [at least 100]"),
        ("daqp_qps_over_span", "n QPs by daqp over the span-rule [at least 100]"),
    ):
        values = [float(row[name]) for row in rows if row[name] != ""]
        print(f"{geometric_mean(values):10.3f}  {text}, from {min(values):g} to {max(values):g}")
    print(f"written to {write('core', rows)}")


if __name__ == "__main__":
    main()
