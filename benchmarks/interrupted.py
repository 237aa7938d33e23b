"""``python -m benchmarks.interrupted``: Ctrl-C at random times of a search, and the program's end.

A search of 30 candidates on 5,000 rows with five features, in a process of its own, by one job,
two threads or two processes, gets Ctrl-C as a terminal sends it, to all processes; or gets it
twice within half a second.  What counts: that the program ends as usual, that ``fit`` raises soon,
that no thread goes on, and how many candidates are kept.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from .measure import write

#: Says when the search begins; then, when it was interrupted, what was kept and which threads are
#: left when those without work have had half a second to end.
_PROGRAM = """
import sys, threading, time
import joblib
import numpy as np
from sklearn.svm import SVC
from spansvm import SpanSearch
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 5))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=5000) > 0.5).astype(int)
    grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": [0.01, 0.03, 0.1, 0.3, 1, 3]}
    search = SpanSearch(SVC(), grid, n_jobs=int(sys.argv[1]))
    before = set(threading.enumerate())
    print("begins", flush=True)
    try:
        with joblib.parallel_config(sys.argv[2]):
            search.fit(X, y)
    except KeyboardInterrupt:
        interrupted = time.time()
        time.sleep(0.5)
        left = set(threading.enumerate()) - before
        kept = len(search.cv_results_["params"]) if hasattr(search, "cv_results_") else 0
        print(interrupted, kept, len(left))
"""

_WAYS = {
    "one job": ("1", "threading"),
    "two threads": ("2", "threading"),
    "two processes": ("2", "loky"),
}

#: Seconds from the beginning of the search until Ctrl-C, and until the second one, at most.
_LATEST, _SECOND = 6.0, 0.5


def interrupt(way: str, delays: list[float]) -> dict[str, float]:
    """What happens if Ctrl-C comes after these delays, one after the other."""
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *_WAYS[way]], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        for delay in delays:
            time.sleep(delay)
            last = time.time()
            os.killpg(process.pid, signal.SIGINT)
        try:
            said, _ = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return {"code": np.nan, "seconds": np.nan, "kept": 0, "threads": 0}
        # A second Ctrl-C may also come after `fit`; then the program ends by it.
        interrupted, kept, threads = map(float, said.split()) if said else (np.nan, 0, 0)
        seconds = interrupted - last
        return {"code": process.returncode, "seconds": seconds, "kept": kept, "threads": threads}


def measured(way: str, times: int, count: int, rng: np.random.Generator) -> dict[str, object]:
    """The line of one way, from `count` programs that get Ctrl-C so many times."""
    found = []
    for _ in range(count):
        delays = [rng.uniform(0.0, _LATEST), *rng.uniform(0.0, _SECOND, times - 1)]
        found.append(interrupt(way, delays))
    codes = [one["code"] for one in found]
    seconds = np.array([one["seconds"] for one in found])
    return {
        "way": way,
        "ctrl_c": times,
        "programs": count,
        "crashed": sum(code < 0 and code != -signal.SIGINT for code in codes),
        "hung": int(np.isnan(codes).sum()),
        "ended_as_usual": codes.count(0),
        "ended_by_second": sum(code in (1, 130, -signal.SIGINT) for code in codes),
        "threads_left": int(sum(one["threads"] for one in found)),
        "seconds_median": round(float(np.nanmedian(seconds)), 2),
        "seconds_most": round(float(np.nanmax(seconds)), 2),
        "kept_mean": round(float(np.mean([one["kept"] for one in found])), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=50)
    options = parser.parse_args()

    def lines() -> Iterator[dict[str, object]]:
        rng = np.random.default_rng(0)
        for way in _WAYS:
            for times in (1, 2):
                line = measured(way, times, options.programs, rng)
                print(line, flush=True)
                yield line

    write("interrupted", list(lines()))


if __name__ == "__main__":
    main()
