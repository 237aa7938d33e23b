"""``python -m reproduction.datasets``: lists the data sets and where they are; downloads them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from spansvm_app.cli import run
from spansvm_app.cli.options import Debug

from . import DataSetError, describe, locate, names
from . import fetch as download

__all__ = ["app"]

_COMMAND = "python -m reproduction.datasets"

_HELP = (
    "List the paper's data sets and where their files are, or download some.\n\n"
    "Files are looked up in the folder named by SPANSVM_DATA, then in the cache "
    "(SPANSVM_CACHE).\n\n"
    "\b\n"
    f"  {_COMMAND}\n"
    f"  {_COMMAND} adult\n"
    f"  {_COMMAND} --fetch adult --fetch splice"
)

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(help=_HELP)
def datasets(
    chosen: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Show the details of these.")
    ] = None,
    fetch: Annotated[
        list[str] | None,
        typer.Option("--fetch", metavar="NAME", help="Download this one ('all' for every one)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Download again even if present.")] = False,
    debug: Debug = False,
) -> None:
    """List, describe or download data sets."""
    console = Console()
    wanted = list(names()) if fetch and "all" in fetch else fetch or []
    for name in [*wanted, *(chosen or [])]:
        try:
            describe(name)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    failures = []
    for name in wanted:
        try:
            for path in download(name, force=force).values():
                console.print(path, soft_wrap=True, highlight=False)
        except DataSetError as error:
            failures.append(str(error))
    for name in chosen or []:
        _tell(name, console)
    if not wanted and not chosen:
        _list(console)
    if failures:
        raise DataSetError("\n".join(failures))


def _where(name: str) -> str:
    places = list(locate(name).values())
    missing = sum(place is None for place in places)
    if missing:
        return "missing" if missing == len(places) else f"{missing} of {len(places)} files missing"
    return str(places[0].parent if places[0] is not None else "")


def _list(console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "training", "test", "features", "splits"):
        table.add_column(heading, justify="left" if heading == "name" else "right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for name in names():
        about = describe(name)
        splits = {"fixed": "1", "published": f"{about.n_splits}", "random": "random"}
        table.add_row(
            name, f"{about.n_train}", f"{about.n_test}", f"{about.n_features}",
            splits[about.split_kind], _where(name),
        )  # fmt: skip
    console.print(table)
    console.print(f"\n'{_COMMAND} NAME' shows details, '--fetch NAME' downloads.")


def _tell(name: str, console: Console) -> None:
    about = describe(name)
    console.print(f"[bold]{about.title}[/bold] ({name})")
    lines = {
        "task": about.task,
        "rows": f"{about.n_train} training, {about.n_test} test, {about.n_features} features",
        "note": about.note,
        "citation": about.citation,
        "licence": about.licence,
        "homepage": about.homepage,
        "files": ", ".join(file.path for file in about.files),
        "where": _where(name),
    }
    for label, text in lines.items():
        console.print(Padding(f"[dim]{label}:[/dim] {text}", (0, 0, 0, 2)), highlight=False)
    console.print()


if __name__ == "__main__":
    run(app, _COMMAND, sys.argv[1:])
