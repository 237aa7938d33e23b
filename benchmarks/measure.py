"""Timing in turns, and the record of the machine it was measured on."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

from reproduction.csv_files import to_csv, write_text
from reproduction.provenance import versions

RESULTS = Path(__file__).parent / "results"


def seconds(work: Callable[[], object], *, shortest: float = 0.002) -> float:
    """Time per call; very short calls are repeated within the measurement."""
    start = time.perf_counter()
    work()
    once = time.perf_counter() - start
    if once >= shortest:
        return once
    count = int(np.ceil(shortest / max(once, 1e-7)))
    start = time.perf_counter()
    for _ in range(count):
        work()
    return (time.perf_counter() - start) / count


def in_turns(repeats: int, **works: Callable[[], object]) -> dict[str, list[float]]:
    """Times of all tasks, one after the other in each repeat, so that noise affects all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    gc.disable()
    try:
        for _ in range(repeats):
            for name, work in works.items():
                times[name].append(seconds(work))
    finally:
        gc.enable()
    return times


def geometric_mean(values: list[float]) -> float:
    """Geometric mean, the right mean for ratios."""
    return float(np.exp(np.mean(np.log(values))))


def machine() -> str:
    """Processor, Python, versions and commit, for the head of a result file."""
    solvers = ", ".join(f"{name} {version(name)}" for name in ("clarabel", "daqp"))
    return f"{versions()}; {solvers}"


def command() -> str:
    """The command line of this run."""
    module = sys.modules["__main__"].__spec__.name.removesuffix(".__main__")
    return f"python -m {module} {' '.join(sys.argv[1:])}".rstrip()


def write(name: str, rows: list[dict[str, object]]) -> Path:
    """Write the rows as CSV, under comments that say how they were produced."""
    path = RESULTS / f"{name}.csv"
    write_text(path, to_csv(rows, [command(), machine()]))
    return path
