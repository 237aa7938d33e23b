"""Forms of statements that both tasks share, and how sentences find theirs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .reading import Run

__all__ = ["Forms"]


class Forms:
    """Forms of sentences by regular expression, each with what checks its numbers."""

    def __init__(self) -> None:
        self._checks: list[tuple[re.Pattern[str], Callable[..., Any]]] = []

    def form(self, *patterns: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Say what checks sentences of these forms: it is given the run and the groups."""

        def add(check: Callable[..., Any]) -> Callable[..., Any]:
            self._checks += [(re.compile(one), check) for one in patterns]
            return check

        return add

    def check(self, run: Run) -> tuple[list[str], list[str], list[str]]:
        """Sentences that are true, those that are not (and why), and those of no known form."""
        true, wrong, unknown = [], [], []
        for sentence in run.sentences:
            for pattern, check in self._checks:
                found = pattern.fullmatch(sentence)
                if found is None:
                    continue
                try:
                    check(run, *found.groups())
                except (AssertionError, ArithmeticError, LookupError, ValueError) as error:
                    wrong.append(f"{sentence}\n      {type(error).__name__}: {error}")
                else:
                    true.append(sentence)
                break
            else:
                unknown.append(sentence)
        return true, wrong, unknown
