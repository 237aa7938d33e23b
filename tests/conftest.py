from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from tests.skips import pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

# An editable install builds what has changed when it is looked for: here, before there are workers.
find_spec("spansvm")

settings.register_profile("spansvm", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("spansvm")

#: Test files about files, texts and processes: the last bits of a result cannot decide any of
#: them.  All others, also new ones, are run by ``make numerical``.
PLUMBING = {
    "test_answers",
    "test_architecture",
    "test_guides",
    "test_installing",
    "test_ninja_in_turn",
    "test_bad_files",
    "test_benchmarks",
    "test_cli_errors",
    "test_coming_from",
    "test_conda_recipe",
    "test_dask",
    "test_docs",
    "test_download",
    "test_figures",
    "test_output",
    "test_peers",
    "test_portable",
    "test_report_browser",
    "test_reproduction_command",
    "test_skips",
    "test_tables",
    "test_tampered_files",
    "test_tables_everyday",
    "test_tables_people",
    "test_tables_traps",
    "test_traced",
    "test_workflows",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in PLUMBING:
            item.add_marker("plumbing")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real data sets."""
    folder = os.environ.get("SPANSVM_DATA")
    if not folder:
        pytest.skip("SPANSVM_DATA is not set: it names the folder with the paper's data sets")
    return Path(folder)
