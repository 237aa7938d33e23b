"""``python -m benchmarks.agreement --old CHECKOUT``: results as a property of the data.

Left-out values of the span-rule (Corollary 1) for all rows, of all candidates of four grids (C x
gamma, class weights, linear kernels, and C x gamma over wide ranges): as a search finds them, and
found in other ways that should give the same:

- cold: every candidate trained alone instead of from its neighbour;
- shuffled grid: candidates follow each other at random;
- permuted rows: the training rows in another order;
- other kernels of BLAS, loops built for the lowest level of processor, two threads: each in its own
  process.

A candidate agrees if none of its values differs by more than 1e-6 of the margin's unit, or of the
value if that is larger.  The table has the share of candidates that agree, the largest difference,
and on how many data sets `best_params_` is the same: under the version in another checkout
(``git worktree add CHECKOUT COMMIT``, and ``make dev`` there), and under this one.
Results are kept in a folder, by the hash of the sources, so that an interrupted run continues where
it was.

Two things limit agreement.  Where more rows lie on the margin than are independent (one-hot
columns and a linear kernel: adult), the multipliers are not unique and the span-rule depends on
them, though the model does not.  And with C = 1e6 the gradient is rounded at 1e-7, which nearly
dependent vectors amplify to 1e-5.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from reproduction.csv_files import Row, to_csv, write_text
from reproduction.datasets import DataSetError

from .agreement_worker import GRIDS, VARIANTS
from .datasets import NAMES, splits
from .measure import RESULTS, machine
from .problems import ringnorm

ROOT, WORKER = Path(__file__).parents[1], "benchmarks.agreement_worker"

#: Largest difference at which values agree, relative to the value or to the margin's unit.
AGREEMENT = 1e-6

#: Variables of the processes; "default" is what the others are compared with.
ENVIRONMENTS = {
    "default": {},
    "Nehalem, generic": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "SPANSVM_CPU": "baseline",
        "NUMBA_CPU_NAME": "generic",  # of versions before the core was compiled ahead
    },
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
}

REFERENCE = ("default", VARIANTS[0])

#: What is compared with the reference: environment and variant, by name.
COMPARISONS = {variant: ("default", variant) for variant in VARIANTS[1:]} | {
    name: (name, VARIANTS[0]) for name in list(ENVIRONMENTS)[1:]
}

Found = Mapping[str, np.ndarray]


def differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The largest difference of each candidate's values, relative to the value or to 1."""
    scale = np.maximum(1.0, np.maximum(np.abs(first), np.abs(second)))
    return (np.abs(first - second) / scale).max(axis=1)


def compare(found: Found, reference: Found) -> Row:
    """Share of candidates that agree, the largest difference, whether the selection is the same."""
    apart = differences(found["values"], reference["values"])
    return {
        "share": float((apart <= AGREEMENT).mean()),
        "largest": float(apart.max()),
        "same_best": int(found["selected"] == reference["selected"]),
    }


def save_data(work: Path, names: list[str]) -> dict[str, Path]:
    """Training sets as files, so that all versions read the same numbers."""
    files = {}
    for name in names:
        file = work / "data" / f"{name}.npz"
        if not file.exists():
            try:
                X, y, *_ = next(splits(name, 1)) if name in NAMES else _ringnorm()
            except DataSetError as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(file, X=X, y=y)
        files[name] = file
    return files


def _ringnorm() -> tuple[np.ndarray, np.ndarray]:
    problem = ringnorm(1024, 20)
    return problem.X, problem.y


class Version:
    """Results of one checkout.

    Parameters
    ----------
    checkout : Path
    work : Path
        Folder of all results.
    """

    def __init__(self, checkout: Path, work: Path) -> None:
        self.source, self.work = checkout.resolve() / "src", work
        self.python = checkout.resolve() / ".venv-dev" / "bin" / "python"
        digest = hashlib.sha256()
        for file in sorted(self.source.glob("spansvm/**/*.py")):
            digest.update(str(file.relative_to(self.source)).encode() + file.read_bytes())
        self.folder = work / digest.hexdigest()[:12]

    def file(self, environment: str, grid: str, variant: str, name: str) -> Path:
        """Where a result is kept."""
        return self.folder / environment / f"{grid}-{variant}-{name}.npz"

    def found(self, environment: str, grid: str, variant: str, name: str) -> Found:
        """A result: what :func:`benchmarks.agreement_worker.run` returned."""
        return np.load(self.file(environment, grid, variant, name))

    def jobs(self, environment: str, files: Mapping[str, Path]) -> Iterator[dict[str, str]]:
        """What is still to be computed in one environment."""
        variants = VARIANTS if environment == "default" else VARIANTS[:1]
        for name, grid, variant in product(files, GRIDS, variants):
            result = self.file(environment, grid, variant, name)
            if not result.exists():
                yield {
                    "data": str(files[name]), "grid": grid, "variant": variant,
                    "result": str(result),
                }  # fmt: skip

    def compute(self, files: Mapping[str, Path]) -> None:
        """Compute what is missing, one process per environment."""
        for environment, variables in ENVIRONMENTS.items():
            jobs = list(self.jobs(environment, files))
            if not jobs:
                continue
            print(f"{self.source}, {environment}", file=sys.stderr, flush=True)
            todo = self.folder / environment / "jobs.json"
            write_text(todo, json.dumps(jobs))
            kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS", "NUMBA"))}
            own = {"OPENBLAS_NUM_THREADS": "1"}
            subprocess.run(
                [str(self.python), "-m", WORKER, str(todo), str(self.source)],
                env={**kept, **own, **variables},
                cwd=ROOT,
                check=True,
            )


def table(versions: Mapping[str, Version], names: list[str]) -> list[Row]:
    """For every comparison and grid, a row for all data sets and one for each."""
    rows = []
    for (comparison, (environment, variant)), grid in product(COMPARISONS.items(), GRIDS):
        part: list[Row] = []
        for name in names:
            row: Row = {"comparison": comparison, "grid": grid, "data_set": name}
            for label, version in versions.items():
                reference = version.found(REFERENCE[0], grid, REFERENCE[1], name)
                found = version.found(environment, grid, variant, name)
                row["candidates"] = len(reference["values"])
                for key, value in compare(found, reference).items():
                    row[f"{label}_{key}"] = value
            part.append(row)
        rows += [_together(part, versions), *part]
    return [{key: _short(value) for key, value in row.items()} for row in rows]


def _together(part: list[Row], versions: Mapping[str, Version]) -> Row:
    """The row of all data sets."""
    total = sum(row["candidates"] for row in part)
    row: Row = {**part[0], "data_set": f"all {len(part)}", "candidates": total}
    for label in versions:
        agreeing = sum(own[f"{label}_share"] * own["candidates"] for own in part)
        row[f"{label}_share"] = agreeing / total
        row[f"{label}_largest"] = max(own[f"{label}_largest"] for own in part)
        row[f"{label}_same_best"] = sum(own[f"{label}_same_best"] for own in part)
    return row


def _short(value: object) -> object:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def show_doubtful(version: Version, names: list[str]) -> None:
    """List the candidates that do not agree, with what may explain it."""
    for (comparison, (environment, variant)), grid, name in product(
        COMPARISONS.items(), GRIDS, names
    ):
        reference = version.found(REFERENCE[0], grid, REFERENCE[1], name)
        found = version.found(environment, grid, variant, name)
        apart = differences(found["values"], reference["values"])
        for index in np.flatnonzero(apart > AGREEMENT):
            print(
                f"{comparison:16} {grid:8} {name:16} candidate {index:3} differs by "
                f"{apart[index]:.1e}: gap {reference['gap'][index]:.1e} and "
                f"{found['gap'][index]:.1e}, in-bound {reference['in_bound'][index]:.0f} and "
                f"{found['in_bound'][index]:.0f}"
            )


def main() -> None:
    names = ["ringnorm", *NAMES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=__doc__)
    parser.add_argument("--old", type=Path, required=True, help="checkout of the former version")
    parser.add_argument("--work", type=Path, default=Path(gettempdir()) / "spansvm-agreement")
    parser.add_argument("--datasets", nargs="+", default=names, choices=names)
    options = parser.parse_args()
    work = options.work.resolve()
    files = save_data(work, options.datasets)
    versions = {"old": Version(options.old, work), "new": Version(ROOT, work)}
    for version in versions.values():
        version.compute(files)
    rows = table(versions, list(files))
    for row in rows:
        if row["data_set"].startswith("all"):
            print("  ".join(f"{key} {value}" for key, value in row.items()))
    show_doubtful(versions["new"], list(files))
    if list(files) != names:
        print("not written: not all data sets were used")
        return
    path = RESULTS / "agreement.csv"
    write_text(path, to_csv(rows, notes(versions, options.old)))
    print(f"written to {path}")


def notes(versions: Mapping[str, Version], old: Path) -> list[str]:
    """How the table was made, and what it says."""
    commit = subprocess.run(
        ["git", "describe", "--always"], cwd=old, capture_output=True, text=True, check=True
    ).stdout.strip()
    used = {
        name: str(versions["new"].found(name, GRIDS[0], VARIANTS[0], "ringnorm")["blas"])
        for name in ENVIRONMENTS
    }
    return [
        "python -m benchmarks.agreement --old CHECKOUT",
        machine(),
        f"old is commit {commit}; kernels of BLAS: "
        + ", ".join(f"{name}: {kernel}" for name, kernel in used.items()),
        f"share: candidates whose left-out values all agree to {AGREEMENT:g} of the value, or of "
        "the margin's unit if that is larger, with those of the search in the default process; "
        "largest: the largest such difference; same_best: data sets with the same best_params_",
    ]


if __name__ == "__main__":
    main()
