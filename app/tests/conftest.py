from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import data_folder

__all__ = ["data_folder"]


@pytest.fixture(scope="session", autouse=True)
def no_trees() -> Iterator[None]:
    """Forests and boosting take a second a report: they are trained where a test asks for them."""
    from spansvm_app.studies import baselines, rivals, target_baselines

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((baselines, "classifiers"), (target_baselines, "regressions")):
            patch.setattr(module, name, _without_trees(getattr(rivals, name)))
        yield


def _without_trees(listed: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    return lambda given: [one for one in listed(given) if not one.of_trees]


@pytest.fixture
def trees(monkeypatch) -> None:
    """Forests and boosting are among the other models, as they are for users."""
    from spansvm_app.studies import baselines, rivals, target_baselines

    monkeypatch.setattr(baselines, "classifiers", rivals.classifiers)
    monkeypatch.setattr(target_baselines, "regressions", rivals.regressions)


@pytest.fixture
def command_line(tmp_path, monkeypatch, capsys) -> Callable[[str], tuple[int, str, str]]:
    """Runs spansvm in an empty folder; gives exit code, standard output and error."""
    from spansvm_app.cli import main

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
