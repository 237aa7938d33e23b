"""``python -m benchmarks.search``: whole searches, against common tools.

The search is the paper's: 33 x 33 class weights, gamma = 1/d.  Ours is complete.  For the other
tools, some candidates drawn at random from the same grid are evaluated with 5 folds, each tool in
its own environment, and their mean time is extrapolated to all 1089; the spread comes from the
two halves of the sample.  One thread each, except in the measurement of threads.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import ClassWeighting, SpanSearch, SpanSVC, exact_loo
from spansvm.estimators.weighting import PAPER_CLASS_WEIGHTS

from . import opponents
from .datasets import mnist_pair, splits
from .measure import RESULTS, geometric_mean, machine, write
from .problems import Problem, core_problems, ringnorm

WEIGHTS = np.array(PAPER_CLASS_WEIGHTS)
MODELS = WEIGHTS.size**2


def grid_search(problem: Problem, method: str = "span_rule", **options: object) -> SpanSearch:
    """The search over class weights."""
    model = SpanSVC(gamma=problem.gamma, weighting=ClassWeighting())
    grid = {"weighting__positive": WEIGHTS, "weighting__negative": WEIGHTS}
    return SpanSearch(model, grid, method=method, refit=False, **options)


def timed(search: SpanSearch, problem: Problem, repeats: int) -> list[float]:
    """Seconds per whole search."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        search.fit(problem.X, problem.y)
        times.append(time.perf_counter() - start)
    return times


def sample(count: int, seed: int = 0) -> np.ndarray:
    """`count` candidates of the grid, one from each stratum."""
    rng = np.random.default_rng(seed)
    every = np.array([(low, high) for low in WEIGHTS for high in WEIGHTS])
    return every[[rng.choice(part) for part in np.array_split(rng.permutation(MODELS), count)]]


def small_problems() -> Iterator[Problem]:
    """1000 to 1600 rows: ringnorm, splice, adult, image."""
    for problem in core_problems():
        if problem.y.size < 2000:
            yield problem
    X, y, *_ = next(splits("image", 1))
    yield Problem("image", X, y)


def row(
    work: str, problem: str, opponent: str, ours: list[float], theirs: list[float], unit: int
) -> dict[str, object]:
    """A line of the table; `theirs` are times of sampled parts, `unit` of which make the whole."""
    own = float(np.median(ours))
    ratio = unit * float(np.mean(theirs)) / own
    halves = [unit * float(np.mean(theirs[k::2])) / own for k in range(min(2, len(theirs)))]
    print(
        f"{work:28} {problem:16} {opponent:12} ours {own:9.3f} s   theirs "
        f"{unit * np.mean(theirs):10.2f} s   x{ratio:.1f} ({min(halves):.1f} to {max(halves):.1f})",
        flush=True,
    )
    return {
        "work": work,
        "problem": problem,
        "opponent": opponent,
        "ours_seconds": round(own, 4),
        "ours_spread": round((max(ours) - min(ours)) / own, 3),
        "theirs_seconds": round(unit * float(np.mean(theirs)), 3),
        "sampled": len(theirs),
        "ratio": round(ratio, 2),
        "ratio_low": round(min(halves), 2),
        "ratio_high": round(max(halves), 2),
    }


def whole_searches(
    work: str, problems: list[Problem], others: list[opponents.Opponent], count: int, repeats: int
) -> Iterator[dict[str, object]]:
    """The search by the span-rule against the 5 folds of other tools."""
    for problem in problems:
        ours = timed(grid_search(problem), problem, repeats)
        for opponent in others:
            theirs = opponent.seconds(problem, sample(count))
            if theirs is not None:
                yield row(work, problem.name, opponent.name, ours, theirs, MODELS)


def small() -> Iterator[dict[str, object]]:
    """1089 models on 1000 to 1600 rows."""
    others = [opponents.LIBSVM, opponents.INTELEX, opponents.THUNDERSVM]
    yield from whole_searches("search", list(small_problems()), others, 24, 3)


def medium() -> Iterator[dict[str, object]]:
    """1089 models on 4096 rows."""
    problems = [ringnorm(4096, d, named=True) for d in (20, 40, 80)]
    yield from whole_searches("search, l = 4096", problems, [opponents.LIBSVM], 12, 2)


def mnist() -> Iterator[dict[str, object]]:
    """1089 models on 13007 rows."""
    problem = Problem("mnist 1 vs 7", *mnist_pair(1, 7))
    yield from whole_searches("search, l = 13007", [problem], [opponents.LIBSVM], 4, 1)


def liquid() -> Iterator[dict[str, object]]:
    """One evaluated candidate against one evaluated point of liquidSVM's grid."""
    for n in (1024, 4096):
        problem = ringnorm(n, 20, named=True)
        ours = [t / MODELS for t in timed(grid_search(problem), problem, 3)]
        theirs = opponents.LIQUIDSVM.seconds(problem, sample(2))
        if theirs is not None:
            yield row("one candidate", problem.name, "liquidsvm", ours, theirs, 1)


def folds() -> Iterator[dict[str, object]]:
    """The same 5 folds as GridSearchCV."""
    for problem in small_problems():
        ours = timed(grid_search(problem, "kfold", cv=5), problem, 1)
        theirs = opponents.LIBSVM.seconds(problem, sample(24))
        if theirs is not None:
            yield row("5 folds", problem.name, "libsvm", ours, theirs, MODELS)


def exact() -> Iterator[dict[str, object]]:
    """Exact leave-one-out of one model against LibSVM's 5 folds."""
    for problem in small_problems():
        for C in (1.0, 16.0, 256.0):
            svc = SVC(C=C, gamma=problem.gamma)
            ours, theirs = [], []
            for _ in range(4):
                start = time.perf_counter()
                exact_loo(svc, problem.X, problem.y)
                middle = time.perf_counter()
                cross_val_score(svc, problem.X, problem.y, cv=StratifiedKFold(5))
                ours.append(middle - start)
                theirs.append(time.perf_counter() - middle)
            name = f"{problem.name}, C = {C:g}"
            yield row("exact leave-one-out", name, "libsvm 5-fold", ours[1:], theirs[1:], 1)


def growth() -> Iterator[dict[str, object]]:
    """Exponents of time in the number of rows: for the search, and for one LibSVM training."""
    sizes = 2 ** np.arange(9, 14)
    ours, theirs = [], []
    for n in sizes:
        problem = ringnorm(int(n), 20)
        ours.append(timed(grid_search(problem), problem, 1)[0])
        start = time.perf_counter()
        for C in (0.1, 1.0, 10.0):
            SVC(C=C, gamma=problem.gamma).fit(problem.X, problem.y)
        theirs.append((time.perf_counter() - start) / 3)
    exponents = [float(np.polyfit(np.log(sizes), np.log(times), 1)[0]) for times in (ours, theirs)]
    print(
        f"growth with l: the search l^{exponents[0]:.2f}, one LibSVM training l^{exponents[1]:.2f}"
    )
    yield {
        "work": "growth exponent, l = 512 to 8192",
        "problem": "ringnorm d = 20",
        "opponent": "libsvm, one training",
        "ours_seconds": round(exponents[0], 3),
        "theirs_seconds": round(exponents[1], 3),
        "sampled": 3,
        "ratio": round(exponents[1] - exponents[0], 3),
    }


def memory() -> Iterator[dict[str, object]]:
    """Peak memory of a search on 13007 rows, relative to the Gram matrix."""
    code = "from benchmarks.search import peak; peak()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after, matrix = map(float, done.stdout.split())
    print(f"peak memory, l = 13007: {(after - before) / matrix:.2f} x the Gram matrix")
    yield {
        "work": "peak memory over Gram matrix",
        "problem": "mnist 1 vs 7",
        "opponent": "",
        "ratio": round((after - before) / matrix, 3),
    }


def peak() -> None:
    """Print the memory before a small search and at its peak, and the Gram matrix's, in bytes."""
    X, y = mnist_pair(1, 7)
    small = slice(0, 400)
    model = SpanSVC(gamma=1 / 780, weighting=ClassWeighting())
    grid = {"weighting__positive": [0.1, 1.0, 10.0], "weighting__negative": [0.1, 1.0, 10.0]}
    SpanSearch(model, grid, refit=False).fit(X[small], y[small])
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * resource.getpagesize()
    SpanSearch(model, grid, refit=False).fit(X, y)
    print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, 8 * y.size**2)


def threads() -> Iterator[dict[str, object]]:
    """Two threads against one."""
    problem = ringnorm(4096, 20, named=True)
    one, two = [], []
    for _ in range(2):
        one += timed(grid_search(problem), problem, 1)
        two += timed(grid_search(problem, n_jobs=2), problem, 1)
    yield row("two threads", problem.name, "one thread", two, one, 1)


def large() -> Iterator[dict[str, object]]:
    """60,000 rows: the Gram matrix (29 GB) is never built."""
    code = "from benchmarks.search import sixty_thousand; sixty_thousand()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, peak = map(float, done.stdout.split()[-2:])
    print(f"60,000 x 50, 5 candidates: {seconds:.1f} s, peak memory {peak / 2**30:.2f} GiB")
    X, y = overlapping(60_000, 50)
    start = time.perf_counter()
    SVC(C=1.0, gamma=0.4, cache_size=2000).fit(X, y)
    theirs = [time.perf_counter() - start]
    line = row("5 candidates, l = 60000", "overlapping d = 50", "libsvm", [seconds], theirs, 5)
    yield {**line, "peak_gib": round(peak / 2**30, 2)}


def overlapping(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping normal distributions, one label in twenty wrong."""
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    noise = rng.standard_normal((n, d))
    X = np.where(truth[:, None] > 0, 0.3 + noise, 1.3 * noise)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return X, np.where(rng.random(n) < 0.05, -truth, truth)


def sixty_thousand() -> None:
    """Print the time and the peak memory of a search within 4 GiB."""
    X, y = overlapping(60_000, 50)
    grid = {"C": [0.25, 0.5, 1.0, 2.0, 4.0]}
    start = time.perf_counter()
    with threadpool_limits(1):
        SpanSearch(SVC(gamma=0.4), grid, refit=False, gram_budget="4 GiB").fit(X, y)
    taken = time.perf_counter() - start
    print(taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def linear() -> Iterator[dict[str, object]]:
    """200,000 rows with a linear kernel."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 50)) / np.sqrt(50)
    y = np.where(X @ rng.standard_normal(50) + 0.4 * rng.standard_normal(len(X)) > 0, 1, -1)
    start = time.perf_counter()
    SpanSearch(SpanSVC(kernel="linear"), {"C": [0.01, 0.1, 1, 10, 100]}, refit=False).fit(X, y)
    taken = time.perf_counter() - start
    print(f"linear, 200,000 x 50, 5 candidates: {taken:.1f} s")
    yield {
        "work": "5 candidates, linear, l = 200000",
        "problem": "normal d = 50",
        "opponent": "",
        "ours_seconds": round(taken, 2),
    }


PARTS = {
    part.__name__: part
    for part in (
        small, medium, liquid, folds, exact, threads, memory, linear, growth, large, mnist,
    )
}  # fmt: skip


def draw(rows: list[dict[str, object]]) -> None:
    """Draw the ratios on a logarithmic axis, one bar per line with an opponent."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shown = [row for row in rows if row["opponent"] and "growth" not in str(row["work"])]
    labels = [f"{row['work']}: {row['problem']}\nagainst {row['opponent']}" for row in shown]
    ratios = [float(row["ratio"]) for row in shown]  # type: ignore[arg-type]
    figure, ax = plt.subplots(figsize=(8, 0.32 * len(shown) + 1), layout="constrained")
    ax.barh(range(len(shown)), ratios, color="#0072B2")
    for place, ratio in enumerate(ratios):
        ax.text(ratio * 1.05, place, f"{ratio:.3g}", va="center", fontsize=7)
    ax.set(xscale="log", xlabel="time of the opponent over ours", yticks=range(len(shown)))
    ax.set_yticklabels(labels, fontsize=6)
    ax.invert_yaxis()
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(RESULTS / "search.png", dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="by default all")
    chosen = parser.parse_args().parts or list(PARTS)
    rows: list[dict[str, object]] = []
    with threadpool_limits(1):
        problem = ringnorm(128, 5)
        grid_search(problem).fit(problem.X, problem.y)  # compiles
        exact_loo(SVC(), problem.X, problem.y)
        for name in chosen:
            rows += PARTS[name]()
    print(f"\n{machine()}")
    for work in dict.fromkeys(str(row["work"]) for row in rows):
        for opponent in dict.fromkeys(str(r["opponent"]) for r in rows if r["work"] == work):
            found = [r for r in rows if r["work"] == work and r["opponent"] == opponent]
            if len(found) > 1:
                mean = geometric_mean([float(r["ratio"]) for r in found])  # type: ignore[arg-type]
                print(f"{work}, {opponent}: geometric mean x{mean:.1f}")
    name = "search" if chosen == list(PARTS) else f"search_{'_'.join(chosen)}"
    print(f"written to {write(name, rows)}")
    if chosen == list(PARTS):
        draw(rows)  # after the file, which records whether the working tree was clean


if __name__ == "__main__":
    main()
