"""The command ``spansvm``: one module per command; errors become sentences and exit codes here.

Heavy imports wait until a command runs, which keeps ``--help`` and completion fast.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import typer

from spansvm import __version__
from spansvm.errors import UserError

from . import demo, evaluate, predict, tune
from .options import DEBUG, NO_VALUE, Debug, with_default_level
from .terminal import PartialResults, printable

__all__ = ["app", "main", "run"]

#: Exit codes: an unexpected error, one that the user can correct, Ctrl-C.
UNEXPECTED, CORRECTABLE, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="spansvm",
    help=(
        "Weighted SVMs: leave-one-out errors and hyperparameter search, one training per model.\n\n"
        "\b\n"
        "  spansvm demo                        a model tuned on built-in data\n"
        "  spansvm tune data.csv               search, train, report\n"
        "  spansvm predict data-tuned/model.skops new.csv\n"
        "  spansvm evaluate data-tuned/model.skops test.csv"
    ),
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(help=tune.HELP)(tune.tune)
app.command(help=predict.HELP)(predict.predict)
app.command(help=evaluate.HELP)(evaluate.evaluate)
app.command(help=demo.HELP)(demo.demo)

# Newer versions of typer bundle click, so the class has no fixed location.
_WrongUsage = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


def _show_version(asked: bool) -> None:
    if asked:
        print(f"spansvm {__version__}")
        raise typer.Exit


@app.callback()
def _spansvm(
    debug: Debug = False,
    version: bool = typer.Option(
        False,
        "--version",
        metavar=NO_VALUE,
        callback=_show_version,
        is_eager=True,
        help="Show the version.",
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line and end the process with its exit code."""
    run(app, "spansvm", sys.argv[1:] or ["--help"])


def run(commands: typer.Typer, name: str, arguments: Sequence[str]) -> None:
    """Run commands under a program name; errors become sentences and exit codes."""
    try:
        code = commands(with_default_level(arguments), prog_name=name, standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except PartialResults:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        message, code = _explain(error)
        print(f"Error: {printable(message)}", file=sys.stderr)
    if code == INTERRUPTED:
        print("Interrupted; unfinished files were not written.", file=sys.stderr)
    sys.exit(code)


def _explain(error: Exception) -> tuple[str, int]:
    """The message for the user, and the exit code."""
    if isinstance(error, (UserError, ImportError)):
        return str(error), CORRECTABLE
    if isinstance(error, _WrongUsage):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "spansvm"
        message = error.format_message().rstrip(".")  # type: ignore[attr-defined]
        return f"{message}; see '{command} --help'.", CORRECTABLE
    if isinstance(error, MemoryError):
        return "There is not enough memory; use fewer rows.", CORRECTABLE
    reason = " ".join(str(error).split()) or type(error).__name__
    return f"unexpected error: {reason}; run with --debug for details.", UNEXPECTED
