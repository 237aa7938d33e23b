"""Models of a grid under one version of spansvm and one BLAS, for :mod:`benchmarks.agreement`.

A process of its own, started with the version on its path.  It uses only what the versions before
and after solutions were finished at the vertex have in common, or asks which one it runs on.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

import spansvm
from spansvm import ClassWeighting, SpanSearch, SpanSVC
from spansvm.search.candidates.grid import chains, list_candidates, select


def module(folder: str, name: str, before: str = "") -> ModuleType:
    """A module of the package, which once had no folders."""
    old = before or name
    known = find_spec(f"spansvm.{old}")
    is_file = known is not None and known.submodule_search_locations is None
    return import_module(f"spansvm.{old}" if is_file else f"spansvm.{folder}.{name}")


path, span = module("multiclass", "path"), module("machine", "span")
solve_dual = module("machine", "dual").solve_dual
resolve_kernel = module("kernels", "functions", "kernels").resolve_kernel
gram_of = module("kernels", "lazy").gram_of

Params = Mapping[str, float]
Axes = dict[str, np.ndarray]

GRIDS = ("C-gamma", "weights", "linear", "wide")

#: How the models are reached: as in a search, or in another way that should give the same.
VARIANTS = ("search", "cold", "shuffled grid", "permuted rows")

C_VALUES, GAMMAS = 2.0 ** np.arange(-4, 11, 2), 2.0 ** np.arange(-7, 4, 2)
WEIGHTS = 2.0 ** np.arange(-6, 10, 1.5)


def model_and_axes(grid: str, features: int) -> tuple[SVC | SpanSVC, Axes]:
    """What is searched.

    C x gamma (8 x 6); class weights (11 x 11) with gamma = 1/d; C of a linear kernel; and C x gamma
    (5 x 5) over wide ranges, to where rounding ends all agreement.
    """
    if grid == "C-gamma":
        return SVC(), {"C": C_VALUES, "gamma": GAMMAS}
    if grid == "linear":
        return SVC(kernel="linear"), {"C": C_VALUES}
    if grid == "wide":
        return SVC(), {"C": 10.0 ** np.arange(-2, 7, 2), "gamma": 10.0 ** np.arange(-6, 3, 2)}
    model = SpanSVC(gamma=1.0 / features, weighting=ClassWeighting())
    return model, {"weighting__positive": WEIGHTS, "weighting__negative": WEIGHTS}


def trained(gram: Any, y: np.ndarray, weights: Iterable[np.ndarray]) -> Iterator[tuple]:
    """Solution and spans of every model, each started from the one before."""
    if hasattr(path, "follow"):
        for model in path.follow(gram, y, weights):
            yield model.solution, model.spans
        return
    before = None
    for C in weights:
        if before is None:
            solution = solve_dual(gram, y, C)
        else:
            solution = path.solve_from(gram, before[0], C, tol=1e-3)
        spans = span.span_leave_one_out(gram, solution, before)
        yield solution, spans
        before = (solution, spans) if solution.converged else None


def bounds(params: Params, y: np.ndarray) -> np.ndarray:
    """``C_i`` of a candidate."""
    positive = params.get("weighting__positive", 1.0)
    return params.get("C", 1.0) * np.where(y > 0, positive, params.get("weighting__negative", 1.0))


def orders(variant: str, candidates: Sequence[Params]) -> list[list[int]]:
    """The chains in which candidates of one kernel are trained."""
    if variant == "cold":
        return [[index] for index in range(len(candidates))]
    if variant == "shuffled grid":
        return [np.random.default_rng(1).permutation(len(candidates)).tolist()]
    return chains(candidates)


def run(X: np.ndarray, y: np.ndarray, grid: str, variant: str) -> dict[str, np.ndarray]:
    """Left-out values of all candidates (one row each), and which one is selected.

    Rows and candidates are in the order of the data and of the grid, whatever the variant.
    """
    model, axes = model_and_axes(grid, X.shape[1])
    candidates = list_candidates(axes)
    rows = np.arange(y.size)
    if variant == "permuted rows":
        rows = np.random.default_rng(0).permutation(y.size)
        X, y = X[rows], y[rows]
    y = y.astype(float)
    count = len(candidates)
    found = {name: np.zeros(count) for name in ("gap", "in_bound", "errors", "hinge")}
    values = np.empty((count, y.size))
    gammas = np.array([params.get("gamma", 1.0 / X.shape[1]) for params in candidates])
    for gamma in np.unique(gammas):
        gram = gram_of(resolve_kernel(model.kernel, X, gamma=float(gamma)), X)
        own = np.flatnonzero(gammas == gamma)
        for order in orders(variant, [candidates[index] for index in own]):
            weights = (bounds(candidates[index], y) for index in own[order])
            for index, (solution, spans) in zip(own[order], trained(gram, y, weights), strict=True):
                values[index, rows] = spans.decision
                found["gap"][index] = solution.gap
                found["in_bound"][index] = np.count_nonzero(solution.in_bound)
                found["errors"][index] = spans.errors
                found["hinge"][index] = np.maximum(0.0, 1.0 - y * spans.decision).mean()
    if variant == "cold":
        scores = 1.0 - found["errors"] / y.size
        selected = select(scores, found["hinge"], candidates, "plateau")
    else:
        if variant == "shuffled grid":
            rng = np.random.default_rng(2)
            axes = {name: rng.permutation(axis) for name, axis in axes.items()}
        search = SpanSearch(model, axes, method="span_rule", refit=False).fit(X, y)
        selected = candidates.index(search.best_params_)
    return {"values": values, "selected": np.array(selected), **found}


def kernels() -> str:
    """The kernels that BLAS uses."""
    names = {library.get("architecture", "") for library in threadpool_info()}
    return " ".join(sorted(names - {""}))


def main() -> None:
    """Do the jobs of a file (data, grid, variant, result of each) with the version in a folder."""
    file, source = sys.argv[1:]
    if not Path(spansvm.__file__).is_relative_to(source):
        raise SystemExit(f"spansvm is imported from {spansvm.__file__}, not from {source}")
    jobs = json.loads(Path(file).read_text(encoding="utf-8"))
    warnings.simplefilter("ignore")
    for number, job in enumerate(jobs, start=1):
        text = f"{number}/{len(jobs)} {job['grid']}, {job['variant']}: {job['data']}"
        print(text, file=sys.stderr, flush=True)
        data, result = np.load(job["data"]), Path(job["result"])
        found = run(data["X"], data["y"], job["grid"], job["variant"])
        result.parent.mkdir(parents=True, exist_ok=True)
        # Under its own name only when complete: the file says that the job is done.
        unfinished = result.with_suffix(".part.npz")
        np.savez(unfinished, blas=kernels(), **found)
        unfinished.replace(result)


if __name__ == "__main__":
    main()
