"""``python -m tests.peers``: scikit-learn's tests against our classes; arguments go to pytest."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import sklearn

from .stand_ins import SUBSTITUTES


def main() -> int:
    """Run the tests from the installed package, without the settings of this project."""
    os.environ.pop("SKLEARN_TESTS_GLOBAL_RANDOM_SEED", None)
    root = Path(sklearn.__file__).parents[1]  # from which tests get their names
    return pytest.main(
        [
            "--pyargs", *SUBSTITUTES, "-p", "tests.peers.plugin", "-c", os.devnull,
            "--rootdir", str(root), "-p", "no:cacheprovider", "-q", *sys.argv[1:],
        ]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
