from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="session", autouse=True)
def no_trees() -> Iterator[None]:
    """Forests and boosting take a second a report: they are trained where a test asks for them."""
    from spansvm.studies import baselines, rivals, target_baselines

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((baselines, "classifiers"), (target_baselines, "regressions")):
            patch.setattr(module, name, _without_trees(getattr(rivals, name)))
        yield


def _without_trees(listed: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    return lambda given: [one for one in listed(given) if not one.of_trees]


@pytest.fixture
def trees(monkeypatch) -> None:
    """Forests and boosting are among the other models, as they are for users."""
    from spansvm.studies import baselines, rivals, target_baselines

    monkeypatch.setattr(baselines, "classifiers", rivals.classifiers)
    monkeypatch.setattr(target_baselines, "regressions", rivals.regressions)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real data sets."""
    folder = os.environ.get("SPANSVM_DATA")
    if not folder:
        pytest.skip("SPANSVM_DATA is not set: it names the folder with the paper's data sets")
    return Path(folder)


@pytest.fixture
def command_line(tmp_path, monkeypatch, capsys) -> Callable[[str], tuple[int, str, str]]:
    """Runs spansvm in an empty folder; gives exit code, standard output and error."""
    from spansvm.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANSVM_DEBUG", "")

    def command(line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["spansvm", *shlex.split(line)])
        with pytest.raises(SystemExit) as exit:
            main()
        captured = capsys.readouterr()
        return exit.value.code or 0, captured.out, captured.err

    return command


@pytest.fixture
def succeeding(command_line) -> Callable[[str], tuple[str, str]]:
    """The same for commands that must succeed; gives standard output and error."""

    def command(line: str) -> tuple[str, str]:
        code, out, err = command_line(line)
        assert not code, err
        return out, err

    return command
