"""Which code produced a result, and on which machine."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

__all__ = ["versions"]

_PACKAGES = ("spansvm", "numpy", "scipy", "scikit-learn")


@cache
def versions() -> str:
    """Processor, Python, packages, and the commit if the code is in a repository."""
    names = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    commit = _commit()
    return (
        f"{_processor()}; Python {platform.python_version()}; {names}"
        f"{f'; commit {commit}' if commit else ''}"
    )


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _commit() -> str:
    try:
        # Not the commit of another repository in which this package happens to be installed.
        for command in (["ls-files", "--error-unmatch", __file__],
                        ["describe", "--always", "--dirty"]):  # fmt: skip
            result = subprocess.run(
                ["git", *command],
                capture_output=True,
                text=True,
                check=False,
                cwd=Path(__file__).parent,
            )
            if result.returncode:
                return ""
    except OSError:
        return ""
    return result.stdout.strip()
