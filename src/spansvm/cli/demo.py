"""``spansvm demo``: a tour on built-in data that ends with a tuned model and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Debug, Force
from .terminal import Terminal

__all__ = ["HELP", "demo"]

HELP = (
    "A tour on built-in data, in a minute or two.\n\n"
    "Trains a weighted SVM on measurements of tumours, shows every estimate of its error beside "
    "the truth, then tunes one as spansvm tune does, and writes model and report.\n\n"
    "\b\n"
    "  spansvm demo\n"
    "  spansvm demo --out somewhere --force"
)

_DATA = "tumours.csv"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the data and the results.")
    ] = Path("spansvm-demo"),
    force: Force = False,
    debug: Debug = False,
) -> None:
    """See HELP."""
    from ..demo import main as tour
    from ..output import OutputFolder
    from .options import file_options
    from .results import FILES
    from .tune import TuneRequest
    from .tuning import run_tuning

    folder = OutputFolder(out, force=force)
    folder.prepare(_DATA, *FILES)
    tour()
    with folder.writing(_DATA) as path:
        _write_tumours(path)
    data = out / _DATA
    command = f"spansvm tune {data} --target diagnosis --id tumour --out {out}"
    terminal = Terminal()
    terminal.say("The same for a file of yours, with nothing to write but one line:")
    terminal.say()
    terminal.say(f"$ {command}")
    terminal.say()
    run_tuning(
        TuneRequest(
            data=str(data),
            out=out,
            file=file_options(None, None, None, "utf-8", ".", None),
            target="diagnosis",
            id="tumour",
            force=force,
            command=command,
        ),
        terminal,
    )
    terminal.say(f"Open {(out / 'report.html').resolve()} in a browser.")


def _write_tumours(path: Path) -> None:
    from sklearn.datasets import load_breast_cancer

    from ..errors import require

    pandas = require("pandas", "data")
    bunch = load_breast_cancer()
    frame = pandas.DataFrame(bunch.data, columns=bunch.feature_names)
    frame.insert(0, "tumour", [f"T{number:03d}" for number in range(1, len(frame) + 1)])
    frame["diagnosis"] = bunch.target_names[bunch.target]
    frame.to_csv(path, index=False)
