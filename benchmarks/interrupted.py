"""``python -m benchmarks.interrupted``: Ctrl-C at random times of a search, and the program's end.

A search of 30 candidates on 5,000 rows with five features, in a process of its own, by one job,
two threads or two processes, gets Ctrl-C as a terminal sends it, to all processes; or gets it
twice within half a second.  What counts: that the program ends as usual, that ``fit`` raises soon,
that nothing computes after it, and how many candidates are kept.
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

#: Says when the search begins; then, when ``fit`` raised, how many candidates were kept, and the
#: processor's seconds in the half second after it.
_PROGRAM = """
import signal, sys, time
import joblib
import numpy as np
from sklearn.svm import SVC
from spansvm import SpanSearch
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what shells put behind
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 5))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=5000) > 0.5).astype(int)
    grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": [0.01, 0.03, 0.1, 0.3, 1, 3]}
    search = SpanSearch(SVC(), grid, n_jobs=int(sys.argv[1]))
    print("begins", flush=True)
    try:
        with joblib.parallel_config(sys.argv[2]):
            search.fit(X, y)
    except KeyboardInterrupt:
        raised, before = time.time(), time.process_time()
        kept = len(search.cv_results_["params"]) if hasattr(search, "cv_results_") else 0
        time.sleep(0.5)
        print(raised, kept, time.process_time() - before)
"""

_WAYS = {
    "one job": ("1", "threading"),
    "two threads": ("2", "threading"),
    "two processes": ("2", "loky"),
}

#: Seconds from the beginning of the search until Ctrl-C, and until the second one, at most.
_LATEST, _SECOND = 4.0, 0.5


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
            return {"hung": 1.0}
    # The second Ctrl-C may also come after `fit`; then the program says nothing and ends by it.
    code, ended = process.returncode, process.returncode == -signal.SIGINT
    found = {"as_usual": code == 0, "by_second": ended, "crashed": code != 0 and not ended}
    if said:
        raised, kept, busy = map(float, said.split())
        found |= {"seconds": raised - last, "kept": kept, "busy": busy}
    return found


def measured(way: str, times: int, count: int, rng: np.random.Generator) -> dict[str, object]:
    """The line of one way, from `count` programs that get Ctrl-C so many times."""
    found: dict[str, list[float]] = {}
    for _ in range(count):
        delays = [rng.uniform(0.0, _LATEST), *rng.uniform(0.0, _SECOND, times - 1)]
        for name, value in interrupt(way, delays).items():
            found.setdefault(name, []).append(float(value))
    outcomes = ("as_usual", "by_second", "crashed", "hung")
    seconds, kept, busy = (found.get(name, [np.nan]) for name in ("seconds", "kept", "busy"))
    return {
        "way": way,
        "ctrl_c": times,
        "programs": count,
        **{name: int(sum(found.get(name, []))) for name in outcomes},
        "seconds_median": round(float(np.median(seconds)), 2),
        "seconds_most": round(max(seconds), 2),
        "busy_most": round(max(busy), 2),
        "kept_mean": round(float(np.mean(kept)), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--twice", type=int, default=20, help="programs that get it twice")
    options = parser.parse_args()

    def lines() -> Iterator[dict[str, object]]:
        rng = np.random.default_rng(0)
        for way in _WAYS:
            for times, count in ((1, options.programs), (2, options.twice)):
                line = measured(way, times, count, rng)
                print(line, flush=True)
                yield line

    write("interrupted", list(lines()))


if __name__ == "__main__":
    main()
