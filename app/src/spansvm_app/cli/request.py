"""What ``spansvm tune`` is asked to do: the values of its options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tables import FileOptions, Roles

__all__ = ["TuneRequest"]


@dataclass(frozen=True)
class TuneRequest:
    """The options of the command, with the same defaults; some of these depend on the task."""

    data: str
    out: Path
    file: FileOptions
    roles: Roles
    labels: str | None = None
    scale: str | None = None
    impute: str | None = None
    search: str | None = None
    method: str | None = None
    scoring: str | None = None
    test: str | None = None
    jobs: int | None = None
    seed: int = 0
    sample: str | None = None
    candidates: int | None = None
    components: int | None = None
    kernel: str | None = None
    cv: str | None = None
    memory: str | None = None
    budget: str | None = None
    committee: bool = False
    resume: bool = False
    force: bool = False
    command: str = ""
