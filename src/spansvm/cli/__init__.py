"""The command ``spansvm``: one module a command."""

from __future__ import annotations

import typer

from . import datasets, reproduce

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True)
app.command()(datasets.datasets)
app.command()(reproduce.reproduce)


@app.callback()
def _spansvm() -> None:
    """Weighted SVMs: leave-one-out errors and hyperparameters from one training."""


def main() -> None:
    """Run the command line."""
    app()
