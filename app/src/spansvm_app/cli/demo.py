"""``spansvm demo``: a model tuned on built-in data, and its report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Debug, Force
from .terminal import Terminal

__all__ = ["HELP", "demo"]

HELP = (
    "Tune a model on built-in data, in less than a minute.\n\n"
    "Writes measurements of tumours to files, runs spansvm tune on them, and writes the model and "
    "a report.\n\n"
    "\b\n"
    "  spansvm demo\n"
    "  spansvm demo --out somewhere --force"
)

_TRAINING, _TEST = "tumours.csv", "new-tumours.csv"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the data and the results.")
    ] = Path("spansvm-demo"),
    force: Force = False,
    debug: Debug = False,
) -> None:
    """See HELP."""
    from ..common.output import OutputFolder
    from ..tables import Roles
    from .options import file_options
    from .request import TuneRequest
    from .tuned_files import FILES
    from .tuning import run_tuning

    folder = OutputFolder(out, force=force)
    folder.prepare(_TRAINING, _TEST, *FILES)
    for name, rows in zip((_TRAINING, _TEST), _tumours(), strict=True):
        with folder.writing(name) as path:
            rows.to_csv(path, index=False)
    data, test = str(out / _TRAINING), str(out / _TEST)
    options = ["--target", "diagnosis", "--id", "tumour", "--test", test, "--out", str(out)]
    command = shlex.join(["spansvm", "tune", data, *options])
    terminal = Terminal()
    terminal.say(
        "A model from a file, in one command (here tuned on two thirds of the tumours and tested "
        "on the rest):"
    )
    terminal.say()
    terminal.say(f"$ {command}")
    terminal.say()
    run_tuning(
        TuneRequest(
            data=data,
            out=out,
            file=file_options(None, None, None, "utf-8", None, None),
            roles=Roles(target="diagnosis", id="tumour"),
            test=test,
            force=force,
            command=command,
        ),
        terminal,
    )
    terminal.say(f"Open {(out / 'report.html').resolve()} in a browser.")


def _tumours() -> tuple[Any, Any]:
    """Two thirds of the rows for training, the others for testing, as data frames."""
    from sklearn.datasets import load_breast_cancer

    from spansvm.errors import require

    pandas = require("pandas", "cli")
    bunch = load_breast_cancer()
    frame = pandas.DataFrame(bunch.data, columns=bunch.feature_names)
    frame.insert(0, "tumour", [f"T{number:03d}" for number in range(1, len(frame) + 1)])
    frame["diagnosis"] = bunch.target_names[bunch.target]
    tested = frame.index % 3 == 0
    return frame[~tested], frame[tested]
