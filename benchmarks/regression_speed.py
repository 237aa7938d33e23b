"""``python -m benchmarks.regression_speed``: searches of an SVR as people run them, in seconds.

C, gamma and epsilon (7 x 5 x 4) of ``make_pipeline(StandardScaler(), SVR())`` on 200 to 4000 rows.
Our search is complete; of GridSearchCV (5 folds), 16 candidates drawn at random are run and
extrapolated.  Both on one thread, in the same process, in turns; processor time decides, wall time
is shown too.  Our search is run as it is by default, with the same five folds, and by the span
alone.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row
from spansvm import SpanSearch

from .measure import RESULTS, geometric_mean
from .regression import engine_trains
from .regression_data import candidates, parts
from .resumed import Results
from .users import SAMPLED, spent

#: Data sets, and how many of their rows.
SETS = {
    "yacht": 200, "diabetes": 342, "auto_mpg": 292, "boston": 400, "concrete": 900,
    "wine_red": 1400, "airfoil": 1400, "pumadyn32nm": 2000, "kin8nm": 3000, "power_plant": 4000,
}  # fmt: skip

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {}, "folds": {"cv": 5}, "span": {"method": "span_rule"},
}  # fmt: skip


def pipeline() -> Pipeline:
    """The model of the searches."""
    return make_pipeline(StandardScaler(), SVR())


def compared(name: str, work: str, repeats: int) -> Row:
    """One line of the table."""
    X, y, _, _ = parts(name, 0, SETS[name])
    grid = candidates(X, y)
    every = list(ParameterGrid(grid))
    drawn = np.random.default_rng(0).permutation(len(every))[:SAMPLED]
    halves = [[{k: [v] for k, v in every[i].items()} for i in drawn[h::2]] for h in (0, 1)]

    def theirs(part: list[dict[str, list[float]]]) -> Any:
        return GridSearchCV(pipeline(), part, cv=5, refit=False).fit(X, y)

    def ours() -> Any:
        return SpanSearch(pipeline(), grid, refit=False, **OPTIONS[work]).fit(X, y)

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = [spent(ours)]
        other = [spent(lambda part=part: theirs(part)) for part in halves]
        own += [spent(ours) for _ in range(repeats - 1)]
    processor, wall = np.median(own, axis=0)
    scaled = len(every) / (SAMPLED / 2) * np.array(other)
    ratios = scaled[:, 0] / processor
    line: Row = {
        "work": work,
        "problem": name,
        "rows": y.size,
        "features": X.shape[1],
        "candidates": len(every),
        "ours_processor": round(float(processor), 3),
        "ours_wall": round(float(wall), 3),
        "gridsearchcv_processor": round(float(scaled[:, 0].mean()), 2),
        "gridsearchcv_wall": round(float(scaled[:, 1].mean()), 2),
        "ratio": round(float(scaled[:, 0].mean() / processor), 1),
        "ratio_low": round(float(ratios.min()), 1),
        "ratio_high": round(float(ratios.max()), 1),
        "ratio_wall": round(float(scaled[:, 1].mean() / wall), 1),
    }
    print(
        f"{work:8} {name:12} {y.size:5} rows  ours {line['ours_processor']:8} s  GridSearchCV "
        f"{line['gridsearchcv_processor']:9} s  x{line['ratio']} ({line['ratio_low']} to "
        f"{line['ratio_high']})",
        flush=True,
    )
    return line


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.regression_speed", description=__doc__
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SETS)}; by default all")
    parser.add_argument("--works", nargs="+", default=list(OPTIONS), choices=OPTIONS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--anew", action="store_true", help="forget what was measured before")
    given = parser.parse_args()
    if not engine_trains(SVR()):
        raise SystemExit("There is nothing to measure: the engine does not train an SVR.")
    results = Results(RESULTS / "regression_speed.csv", ("problem", "work"))
    if given.anew:
        results.rows, results.notes = [], []
    problems = product(given.names or SETS, given.works)
    results.complete(problems, lambda name, work: compared(name, work, given.repeats))
    for work in given.works:
        ratios = [float(row["ratio"]) for row in results.rows if row["work"] == work]
        print(f"{work}: geometric mean x{geometric_mean(ratios):.1f}")


if __name__ == "__main__":
    main()
