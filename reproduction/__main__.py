"""``python -m reproduction``: runs the paper's experiments and compares with its numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spansvm.errors import UserError, require
from spansvm_app.cli import run as run_command
from spansvm_app.cli.options import Debug

from .complete import CompleteProblems
from .datasets import describe, locate, names
from .page import FOLDER, draw_curves, read_summaries, write_page, write_summaries
from .provenance import versions
from .runner import EXPERIMENTS, QUICK_SETS, make_plan, run
from .store import Store

__all__ = ["app"]

_COMMAND = "python -m reproduction"

_HELP = (
    "Run the experiments of the paper and show the results next to its tables.\n\n"
    "Every result is stored as soon as it is known: if a run is stopped, give the same command "
    "again to continue.\n\n"
    "\b\n"
    "  python -m reproduction --quick\n"
    "  python -m reproduction 1 --datasets splice,adult --jobs 2\n"
    "  python -m reproduction all --out results"
)

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(help=_HELP)
def reproduce(
    chosen: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[1-6|checks|all]...",
            help="Experiments: numbers, ranges such as 1-4, 'checks' (variants that explain "
            "differences), or 'all'.",
            show_default="all",
        ),
    ] = None,
    experiments: Annotated[
        str | None, typer.Option(help="The same as the argument, comma-separated.")
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(
            help="Data sets, comma-separated; see 'python -m reproduction.datasets'.",
            show_default="all 14",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many random splits, and partitions into folds.",
            show_default="10; 2 with --quick",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Threads. Experiments 5 and 6 always use one.")
    ] = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="A coarse grid on small data sets: about a minute.")
    ] = False,
    curves: Annotated[
        str | None,
        typer.Option(help="Further data sets whose curves are drawn, comma-separated."),
    ] = None,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Compute nothing; rewrite tables, figures and page.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for results, tables, figures and the page.",
            show_default="reproduced; reproduced-quick with --quick",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Run the experiments and write the page."""
    wanted = _experiments([*(chosen or []), *_listed(experiments)])
    sets = _data_sets(_listed(datasets), quick)
    drawn = _data_sets(_listed(curves), False) if curves else ()
    grid = "quick" if quick else "paper"
    out = out or Path("reproduced-quick" if quick else "reproduced")
    splits = splits or (2 if quick else 10)
    require("matplotlib", "plots")
    if not page_only:
        _check_that_they_are_here(sets)
    if not page_only or (out / "results.sqlite").exists():
        command = [_COMMAND, *wanted, *["--quick"] * quick, f"--splits {splits}"]
        command += [f"--datasets {','.join(sets)}"] if datasets else []
        note = f"`{' '.join(command)}`: {versions()}"
        with Store(out / "results.sqlite", grid, note) as store:
            if not page_only:
                plan = make_plan(wanted, sets, splits, grid)
                run(plan, store, jobs=jobs, console=Console(stderr=True))
            write_summaries(CompleteProblems(store, grid), out / FOLDER)
    page = write_page(out)
    if drawn:
        draw_curves(read_summaries(out / FOLDER)[0].get("curves", ()), drawn, out / FOLDER)
    typer.echo(page)


def _check_that_they_are_here(data_sets: Sequence[str]) -> None:
    missing = [name for name in data_sets if None in locate(name).values()]
    if missing:
        raise UserError(
            f"Not on this computer: {', '.join(missing)}. Download with '{_COMMAND}.datasets "
            f"{' '.join(f'--fetch {name}' for name in missing)}', or leave them out with "
            "--datasets."
        )


def _listed(text: str | None) -> list[str]:
    return [] if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _experiments(texts: Sequence[str]) -> list[str]:
    """The requested experiments, in order."""
    asked: set[str] = set()
    for text in texts or ["all"]:
        first, dash, last = text.partition("-")
        if text == "all":
            asked |= set(EXPERIMENTS)
        elif text in EXPERIMENTS:
            asked.add(text)
        elif dash and first in EXPERIMENTS[:6] and last in EXPERIMENTS[:6] and first <= last:
            asked |= {str(k) for k in range(int(first), int(last) + 1)}
        else:
            raise typer.BadParameter(
                f"{text!r} is not an experiment: give numbers from 1 to 6, a range, 'checks' or "
                "'all'."
            )
    return [name for name in EXPERIMENTS if name in asked]


def _data_sets(asked: Sequence[str], quick: bool) -> tuple[str, ...]:
    for name in asked:
        try:
            describe(name)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    if not asked:
        return QUICK_SETS if quick else names()
    return tuple(name for name in names() if name in asked)


if __name__ == "__main__":
    run_command(app, _COMMAND, sys.argv[1:])
