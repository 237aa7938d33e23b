"""The tests under the arithmetic of other processors: ``make portable``.

Kernels of the BLAS and the target of the compiler decide the last bits of every sum.  Each
environment pretends to be a machine with others, as far as this one can.  All are run, whatever
fails.

``python tests/portable.py [NAME ...] [-- ARGUMENT ...]`` runs those with these names, and gives
the arguments to pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".portable"

#: What each environment sets.  Those of another architecture are left out when it comes to them.
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "default": {},
    "nehalem": {"OPENBLAS_CORETYPE": "Nehalem", "SPANSVM_CPU": "baseline"},
    "sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "armv8": {"OPENBLAS_CORETYPE": "ARMV8"},
    "neoversen1": {"OPENBLAS_CORETYPE": "NEOVERSEN1"},
    "threads": {"OPENBLAS_NUM_THREADS": "2"},
}

#: Prints the kernels in use, after a product and a factor that need them.
PROBE = """
import numpy, scipy.linalg, threadpoolctl
matrix = numpy.eye(300) + 1.0
scipy.linalg.cholesky(matrix @ matrix)
found = {pool["architecture"] for pool in threadpoolctl.threadpool_info()
         if pool["internal_api"] == "openblas"}
print(*sorted(found))
"""


@dataclass
class Outcome:
    """What became of one environment."""

    name: str
    note: str = ""
    failed: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        if not self.counts:
            return f"{self.name:<12} {self.note}"
        numbers = "".join(f"{self.counts[kind]:>9}" for kind in KINDS)
        return f"{self.name:<12}{numbers}{self.seconds:>9.0f}  {self.note}".rstrip()


KINDS = ("passed", "failed", "skipped", "xfailed")


def variables(name: str) -> dict[str, str]:
    """The environment variables of an environment."""
    chosen = {key for settings in ENVIRONMENTS.values() for key in settings}
    inherited = {key: value for key, value in os.environ.items() if key not in chosen}
    return inherited | {"OPENBLAS_NUM_THREADS": "1"} | ENVIRONMENTS[name]


def why_not(name: str) -> str:
    """Why this machine cannot pretend to be that one; empty if it can."""
    wanted = ENVIRONMENTS[name].get("OPENBLAS_CORETYPE")
    if wanted is None:
        return ""
    probe = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=variables(name),
        capture_output=True,
        text=True,
        check=False,
    )
    if probe.returncode:
        return f"left out: kernels of {wanted} do not run on this processor"
    found = probe.stdout.split()
    if [architecture.lower() for architecture in found] != [wanted.lower()]:
        return f"left out: the BLAS has no kernels of {wanted} here, but {', '.join(found) or '?'}"
    return ""


def read_results(path: Path) -> tuple[Counter[str], list[str]]:
    """The numbers of tests by what became of them, and the names of those that failed."""
    counts: Counter[str] = Counter()
    failures = []
    for case in ET.parse(path).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            kind = "failed"
            failures.append(f"{case.get('classname')}::{case.get('name')}")
        elif skipped is not None:
            kind = "xfailed" if skipped.get("type") == "pytest.xfail" else "skipped"
        else:
            kind = "passed"
        counts[kind] += 1
    return counts, failures


def run(name: str, arguments: list[str]) -> Outcome:
    """Run the tests in one environment."""
    if reason := why_not(name):
        return Outcome(name, reason)
    results = FOLDER / f"{name}.xml"
    results.parent.mkdir(exist_ok=True)
    results.unlink(missing_ok=True)
    print(f"\n{name}: {ENVIRONMENTS[name]}", flush=True)
    start = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", f"--junitxml={results}"]
    code = subprocess.run([*command, *arguments], cwd=ROOT, env=variables(name), check=False)
    outcome = Outcome(name, failed=code.returncode != 0, seconds=time.monotonic() - start)
    if results.exists():
        outcome.counts, outcome.failures = read_results(results)
    if not outcome.counts or (outcome.failed and not outcome.failures):
        outcome.note = f"pytest ended with {code.returncode}"
    return outcome


def main(arguments: list[str]) -> int:
    """Run the environments and tell what became of each; 1 if a test failed in one."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        description=__doc__, usage="%(prog)s [NAME ...] [-- ARGUMENT ...]"
    )
    parser.add_argument("name", nargs="*", help=", ".join(ENVIRONMENTS))
    names = parser.parse_args(arguments[:split]).name or list(ENVIRONMENTS)
    if unknown := set(names) - set(ENVIRONMENTS):
        parser.error(f"{', '.join(sorted(unknown))}: there are only {', '.join(ENVIRONMENTS)}")
    outcomes = [run(name, arguments[split + 1 :]) for name in names]
    print(f"\n{'environment':<12}" + "".join(f"{kind:>9}" for kind in KINDS) + f"{'seconds':>9}")
    for outcome in outcomes:
        print(outcome)
    for outcome in outcomes:
        for failure in outcome.failures:
            print(f"{outcome.name}: {failure}")
    return int(any(outcome.failed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
