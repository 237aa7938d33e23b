"""Run ``tune`` on every file, and check what it says."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from sklearn import datasets
from threadpoolctl import threadpool_limits

from benchmarks.measure import RESULTS, command, machine
from reproduction.csv_files import read_rows, to_csv, write_text

from . import classes, targets
from .reading import PRINTED, Run, tune, written

#: Data sets of scikit-learn that stand in for files.
BUILT_IN = ("iris", "wine", "breast_cancer", "diabetes")


def files(folder: str | None, scratch: Path) -> Iterator[tuple[Path, str]]:
    """Files, and their targets."""
    if folder:
        text = (Path(folder) / "README").read_text(encoding="utf-8")
        for name, target in re.findall(r"^(\S+) -> (.+?)(?: \(.*)?$", text, flags=re.M):
            yield Path(folder) / name, target.strip('"')
        return
    for name in BUILT_IN:
        data = getattr(datasets, f"load_{name}")(as_frame=True)
        frame = data.frame
        if hasattr(data, "target_names") and name != "diabetes":
            frame["target"] = data.target_names[data.target]
        frame.to_csv(scratch / f"{name}.csv", index=False)
        yield scratch / f"{name}.csv", "target"


def main() -> int:
    """Check all files; 1 if a statement is wrong or of no known form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only files whose names begin like this")
    parser.add_argument("--options", default="", help="further options of tune")
    parser.add_argument("--keep", type=Path, help="what tune wrote stays here, and is read again")
    parser.add_argument("--table", action="store_true", help="write the counts as a result file")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    failed, table = False, []
    with tempfile.TemporaryDirectory() as scratch, threadpool_limits(1):
        for file, target in files(os.environ.get("SPANSVM_PUBLIC"), Path(scratch)):
            if given.names and not any(file.name.startswith(name) for name in given.names):
                continue
            started = time.process_time()
            try:
                run = _run(file, target, given.keep, Path(scratch) / "out", given.options.split())
            except RuntimeError as error:
                print(f"{file.name}: {error}", flush=True)
                failed = True
                continue
            kind = targets if run.report["summary"].get("task") == "regression" else classes
            true, wrong, unknown = kind.FORMS.check(run)
            wrong += kind.check_figures(run)
            sampled = ", of a sample" if run.sampled else ""
            print(
                f"{file.name}: {len(true)} statements are true, {len(wrong)} wrong, {len(unknown)} "
                f"of no known form{sampled} ({time.process_time() - started:.0f} s)", flush=True,
            )  # fmt: skip
            for name, found in (("wrong", wrong), ("unknown", unknown)):
                for one in found:
                    print(f"   {name}: {one}", flush=True)
            failed |= bool(wrong or unknown)
            table.append({
                "file": file.name, "rows": len(run.labelled),
                "classes": "" if kind is targets else len(set(run.y)),
                "sampled": "yes" if run.sampled else "no", "true": len(true), "wrong": len(wrong),
                "unknown_form": len(unknown),
            })  # fmt: skip
    if given.table:
        print(_write(table))
    return int(failed)


def _write(table: list[dict[str, object]]) -> Path:
    """Write the counts; those of other files stay, with the commands that made them."""
    path = RESULTS / "statements.csv"
    kept, head = read_rows(path) if path.exists() else ([], [])
    again = {one["file"] for one in table}
    others = [one for one in kept if one["file"] not in again]
    write_text(path, to_csv([*others, *table], [*head, command(), machine()]))
    return path


def _run(file: Path, target: str, kept: Path | None, scratch: Path, options: list[str]) -> Run:
    """A new run, or what is kept of an earlier one."""
    if kept is None:
        return tune(file, target, scratch, options)
    out = kept / file.stem
    return (
        written(file, target, out) if (out / PRINTED).exists() else tune(file, target, out, options)
    )


if __name__ == "__main__":
    sys.exit(main())
