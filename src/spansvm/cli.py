"""The command ``spansvm``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _spansvm() -> None:
    """Weighted SVMs: leave-one-out errors and hyperparameters from one training."""


@app.command()
def reproduce(
    experiments: Annotated[list[str] | None, typer.Option("--experiments", "-e")] = None,
    data_sets: Annotated[list[str] | None, typer.Option("--datasets", "-d")] = None,
    splits: int = 10,
    jobs: int = 1,
    quick: bool = False,
    out: Path = Path("reproduction"),
) -> None:
    """Run the experiments of the paper."""
    from .datasets import names
    from .experiments.runner import make_plan, run
    from .experiments.store import Store

    grid = "quick" if quick else "paper"
    plan = make_plan(experiments or ["1"], data_sets or names(), splits, grid)
    with Store(out / "results.sqlite", grid) as store:
        run(plan, store, jobs=jobs, console=Console(stderr=True))


def main() -> None:
    """Run the command line."""
    app()
