"""``spansvm reproduce``: the paper's experiments, run and laid beside its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

__all__ = ["reproduce"]


def reproduce(
    experiments: Annotated[list[str] | None, typer.Option("--experiments", "-e")] = None,
    data_sets: Annotated[list[str] | None, typer.Option("--datasets", "-d")] = None,
    splits: int = 10,
    jobs: int = 1,
    quick: bool = False,
    out: Path = Path("reproduction"),
) -> None:
    """Run the experiments of the paper."""
    from ..datasets import names
    from ..experiments.runner import make_plan, run
    from ..experiments.store import Store

    grid = "quick" if quick else "paper"
    plan = make_plan(experiments or ["1"], data_sets or names(), splits, grid)
    with Store(out / "results.sqlite", grid) as store:
        run(plan, store, jobs=jobs, console=Console(stderr=True))
