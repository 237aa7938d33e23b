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

from . import classes, targets
from .reading import tune

#: Data sets of scikit-learn that stand in for files.
BUILT_IN = ("iris", "wine", "breast_cancer", "diabetes")


def files(folder: str | None, scratch: Path) -> Iterator[tuple[Path, str]]:
    """Files, and their targets."""
    if folder:
        text = (Path(folder) / "README").read_text(encoding="utf-8")
        for name, target in re.findall(r'^(\S+) -> (?:"([^"]+)"|\S+)', text, flags=re.M):
            plain = re.search(rf"^{re.escape(name)} -> (\S+)", text, flags=re.M)
            yield Path(folder) / name, target or plain[1]  # type: ignore[index]
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
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = False
    with tempfile.TemporaryDirectory() as scratch, threadpool_limits(1):
        for file, target in files(os.environ.get("SPANSVM_PUBLIC"), Path(scratch)):
            if given.names and not any(file.name.startswith(name) for name in given.names):
                continue
            started = time.process_time()
            try:
                run = tune(file, target, Path(scratch) / "out", given.options.split())
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
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
