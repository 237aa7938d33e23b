"""``python -m benchmarks.first_call``: what the first search of a new process costs.

Processor seconds of fresh processes: imports alone, the first ``SpanSearch.fit`` with an empty
compile cache, and with a filled one; each as a ratio to the import of scikit-learn in the same
round.  With ``--before COMMIT`` that version takes turns with this one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .measure import write

_ROOT = Path(__file__).resolve().parents[1]

#: Each prints the processor seconds since its start; the clock starts with the process.
_IMPORT = "import time\n{imports}\nprint(time.process_time())"
_SKLEARN = "import sklearn.svm, sklearn.model_selection, sklearn.datasets"
_FIT = """
import time
{imports}
X, y = sklearn.datasets.make_classification(200, 5, random_state=0)
import spansvm
begin = time.process_time()
search = spansvm.SpanSearch(sklearn.svm.SVC(), {{"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}})
search.fit(X, y)
print(time.process_time() - begin)
"""


def seconds(code: str, cache: str, source: Path) -> float:
    """What a fresh process prints."""
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "NUMBA_CACHE_DIR": cache,
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def rounds(count: int, sources: dict[str, Path]) -> Iterator[dict[str, object]]:
    """One line per version and kind of start, for each round."""
    both = f"{_SKLEARN}\nimport numba"
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            anything = next(iter(sources.values()))
            unit = seconds(_IMPORT.format(imports=_SKLEARN), folder, anything)
            numba = seconds(_IMPORT.format(imports=both), folder, anything) - unit
            yield {"round": number, "version": "", "what": "import scikit-learn", "seconds": unit}
            yield {"round": number, "version": "", "what": "import numba", "seconds": numba}
            for version, source in sources.items():
                cache = str(Path(folder) / version)
                for what in ("first fit, empty cache", "first fit, filled cache"):
                    spent = seconds(_FIT.format(imports=both), cache, source)
                    yield {"round": number, "version": version, "what": what, "seconds": spent}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", help="commit of another version")
    options = parser.parse_args()
    sources = {"now": _ROOT / "src"}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        if options.before:
            archive = Path(folder) / "before.tar"
            command = ["git", "archive", f"--output={archive}", options.before, "src"]
            subprocess.run(command, cwd=_ROOT, check=True)
            shutil.unpack_archive(archive, folder)
            sources["before"] = Path(folder) / "src"
        for line in rounds(options.rounds, sources):
            print(f"{line['version']:8}{line['what']:26}{line['seconds']:8.2f} s", flush=True)
            lines.append(line)
    units = {line["round"]: line["seconds"] for line in lines if "scikit" in str(line["what"])}
    table = []
    for version, what in dict.fromkeys((line["version"], line["what"]) for line in lines):
        own = [line for line in lines if (line["version"], line["what"]) == (version, what)]
        ratios = [line["seconds"] / units[line["round"]] for line in own]
        table.append(
            {
                "version": version,
                "what": what,
                "processor_seconds": round(float(np.median([line["seconds"] for line in own])), 3),
                "of_scikit_learn_import": round(float(np.median(ratios)), 3),
                "lowest": round(min(ratios), 3),
                "highest": round(max(ratios), 3),
            }
        )
        print(table[-1])
    write("first_call", table)


if __name__ == "__main__":
    main()
