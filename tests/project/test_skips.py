"""A run of the tests says what was skipped for want of what."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import COMPLETE

ROOT = Path(__file__).parents[2]

TESTS = """
import pytest

def test_peer():
    pytest.importorskip("spam_and_eggs")

@pytest.mark.skipif(True, reason="there is no such file")
def test_file():
    pass

def test_passes():
    pass
"""


def run(folder, **variables):
    (folder / "test_own.py").write_text(TESTS, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != COMPLETE}
    return subprocess.run(
        [
            sys.executable, *("-m", "pytest", "-p", "tests.skips", "-p", "no:cacheprovider"),
            *("-n", "1", "--rootdir", folder, folder),
        ],
        cwd=ROOT, env=environment | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_skipped_tests_are_counted_by_their_reason(tmp_path):
    result = run(tmp_path)
    assert result.returncode == 0
    assert "\n    1  there is no such file\n" in result.stdout
    assert "\n    1  could not import 'spam_and_eggs'" in result.stdout


@pytest.mark.parametrize(("kept", "code"), [("test_peer", 1), ("test_file", 0)])
def test_where_all_packages_are_wanted_a_missing_one_is_a_failure(tmp_path, kept, code):
    result = run(tmp_path, **{COMPLETE: "1", "PYTEST_ADDOPTS": f"-k {kept}"})
    assert result.returncode == code, result.stdout
