"""``spansvm tune``: search hyperparameters on a file, train, write a model and a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from .options import (
    NO_VALUE,
    SELECTING,
    DataFile,
    Debug,
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Format,
    Header,
    Id,
    Json,
    Missing,
    Quiet,
    Sheet,
    file_options,
    offering,
)
from .request import TuneRequest
from .terminal import Terminal

__all__ = ["HELP", "tune"]

HELP = (
    "Search the hyperparameters of a weighted SVM, train the best one, write a model and a "
    "report.\n\n"
    "The last column is the target: classes, or a quantity, which makes it a regression. Numbers "
    "are scaled, text columns are one-hot encoded, dates and the words of long texts become "
    "numbers, missing values are filled in, and what only names the rows is left out. C and gamma "
    "of an RBF kernel are searched, around what suits the scale of the data, weights of classes "
    "if these are very unequal, and epsilon for a regression; each candidate is trained once and "
    "scored by its left-out rows. On many rows the search takes a sample and the selected model is "
    "trained on all.\n\n"
    "\b\n"
    "  spansvm tune data.csv\n"
    "  spansvm tune housing.csv --target price       # a quantity: a regression\n"
    "  spansvm tune data.csv --target diagnosis --id patient --test new.csv\n"
    "  spansvm tune data.xlsx --scoring balanced_accuracy --jobs 2\n"
    "  spansvm tune data.csv --kernel linear --cv 10\n"
    "  spansvm tune data.csv --scores confidence --impute mean\n"
    "  spansvm tune data.csv --groups person --out results\n"
    "  spansvm tune data.csv --search grid.yaml      # C: [1, 10], gamma: [0.1, 1]\n"
    "  spansvm tune data.csv --committee             # several models that predict together\n"
    "  spansvm tune large.csv --budget 5m\n"
    "  spansvm tune large.csv --resume               # after Ctrl-C\n"
    "  zcat data.libsvm.gz | spansvm tune - --json\n\n"
    "Writes model.skops, model.libsvm, results.csv, labels.csv, report.html and report.json to a "
    "folder "
    "(data-tuned for data.csv). Exit code 2 means an error that you can correct; the message says "
    "how."
)

# Repeated here for help and completion, as the modules that define them are slow to import; a test
# keeps them equal.
_SEARCHES = ("C-gamma", "C-gamma-weights", "class-weights", "scores", "C-gamma-epsilon")
_TASKS = ("classification", "regression")
_KERNELS = ("rbf", "linear", "poly")
_MISSING_TARGETS = ("drop", "error")
_SCORINGS = (
    "accuracy", "balanced_accuracy", "f1", "f1_macro", "neg_log_loss", "roc_auc", "r2",
    "neg_mean_absolute_error", "neg_root_mean_squared_error",
)  # fmt: skip
_SPLITTERS = (
    "KFold", "StratifiedKFold", "RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit",
    "StratifiedShuffleSplit", "TimeSeriesSplit", "GroupKFold", "StratifiedGroupKFold",
    "LeaveOneGroupOut",
)  # fmt: skip
_SCALINGS = ("minmax", "standard", "none")
_IMPUTATIONS = ("median", "mean", "most_frequent", "error")

_COLUMNS, _SEARCH, _OUTPUT = "Columns", "Search", "Output"


def _column(option: str, help: str) -> typer.models.OptionInfo:
    return typer.Option(option, metavar="COLUMN", rich_help_panel=_COLUMNS, help=help)


def tune(
    data: DataFile,
    target: Annotated[
        str | None, _column("--target", "Column with what to predict; the last one by default.")
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(_TASKS), autocompletion=offering(*_TASKS), rich_help_panel=_COLUMNS,
            help="Whether the target holds classes or a quantity. Default: a quantity if it has "
            "numbers that are not whole, or 20 different ones or more, with 10 rows each at most.",
        ),
    ] = None,
    scores: Annotated[
        str | None, _column("--scores", "Column with importance scores in [0, 1].")
    ] = None,
    weights: Annotated[
        str | None, _column("--weights", "Column with fixed instance weights.")
    ] = None,
    groups: Annotated[
        str | None,
        _column(
            "--groups", "Column with groups of rows (people, batches) that stay together; "
            "duplicates: equal rows are a group."
        ),
    ] = None,
    id: Id = None,
    drop: Annotated[
        list[str] | None, _column("--drop", "Column to leave out; may be repeated.")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        _column("--categorical", "Column whose values are categories; may be repeated."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        _column("--keep", "Column to use although it seems to name the rows; may be repeated."),
    ] = None,
    missing_target: Annotated[
        str,
        typer.Option(
            metavar="|".join(_MISSING_TARGETS), autocompletion=offering(*_MISSING_TARGETS),
            rich_help_panel=_COLUMNS, help="What to do with rows that have no target.",
        ),
    ] = "drop",
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", rich_help_panel=_COLUMNS,
            help="Corrected labels: the labels.csv of an earlier search, with the right ones in "
            "its column 'corrected'.",
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(_SCALINGS), autocompletion=offering(*_SCALINGS),
            rich_help_panel=_COLUMNS, help="How to scale numbers; minmax scales to [0, 1]. "
            "Default: minmax; standard for a regression.",
        ),
    ] = None,
    impute: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(_IMPUTATIONS), autocompletion=offering(*_IMPUTATIONS),
            rich_help_panel=_COLUMNS, help="How to fill in missing values. Default: numbers by "
            "their median, and a missing text is a category; error refuses them.",
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="|".join((*_SEARCHES, "FILE")), autocompletion=offering(*_SEARCHES),
            rich_help_panel=_SEARCH, help="What to search, or a YAML or JSON file with lists of "
            "values. Default: C-gamma; C-gamma-weights if the largest class is 4 times as large as "
            "the smallest, or --scoring asks for it; scores with --scores; C-gamma-epsilon for a "
            "regression. class-weights: the paper's 33 x 33 pairs of weights, gamma = 1/d.",
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(_KERNELS), autocompletion=offering(*_KERNELS),
            rich_help_panel=_SEARCH, help="Default: rbf.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=offering(*SELECTING), rich_help_panel=_SEARCH,
            help=f"How to evaluate candidates: {', '.join(SELECTING)}. Default: verified; "
            "with --groups, whole groups are left out.",
        ),
    ] = None,
    cv: Annotated[
        str | None,
        typer.Option(
            "--cv", metavar="N|NAME", autocompletion=offering(*_SPLITTERS), rich_help_panel=_SEARCH,
            help="Evaluate candidates by N-fold cross-validation (--method kfold), or by one of "
            "scikit-learn's splitters, such as StratifiedGroupKFold or TimeSeriesSplit:10.",
        ),
    ] = None,
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=offering(*_SCORINGS), rich_help_panel=_SEARCH,
            help="A scikit-learn score, such as balanced_accuracy, f1, roc_auc; default: accuracy, "
            "r2 for a regression.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", rich_help_panel=_SEARCH, help="Number of threads; -1 for all."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", rich_help_panel=_SEARCH,
            help="Seed of the kfold folds, the sample and the components.",
        ),
    ] = 0,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="N|all", rich_help_panel=_SEARCH,
            help="Search on a sample of N rows; the selected model is trained on all. Default: all "
            "rows if that is little work for these rows, columns, classes and candidates.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", rich_help_panel=_SEARCH,
            help="Stop searching after this time, such as 90s, 5m or 1h, with the best so far; the "
            "result then depends on the machine.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", rich_help_panel=_SEARCH,
            help="Memory for a Gram matrix, such as 4GiB; half of the free memory by default.",
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            metavar="N", rich_help_panel=_SEARCH, help="Try at most N candidates: a coarser grid."
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(
            metavar="N", rich_help_panel=_SEARCH,
            help="Approximate the kernel from N rows (Nystroem), for very many rows.",
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", rich_help_panel=_SEARCH,
            help="Labelled rows to test the selected model on.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", rich_help_panel=_OUTPUT, show_default=False,
            help="Folder for the results; DATA-tuned by default.",
        ),
    ] = None,
    committee: Annotated[
        bool,
        typer.Option(
            "--committee", metavar=NO_VALUE, rich_help_panel=_OUTPUT,
            help="Also write committee.skops: the candidates that could have been the best, which "
            "predict together.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", metavar=NO_VALUE, rich_help_panel=_OUTPUT,
            help="Continue a search that was stopped; repeat its other options.",
        ),
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = None,
    missing: Missing = None,
    sheet: Sheet = None,
) -> None:  # fmt: skip
    """See HELP."""
    from ..tables import Roles
    from .tuning import run_tuning

    run_tuning(
        TuneRequest(
            data=data, out=default_folder(data) if out is None else out,
            file=file_options(format, delimiter, header, encoding, decimal, missing, sheet),
            roles=Roles(
                target, scores, weights, groups, id, drop or (), categorical or (), keep or (),
                missing_target, task,
            ),
            labels=labels, scale=scale, impute=impute, search=search, method=method,
            scoring=scoring, test=test,
            jobs=jobs, seed=seed, sample=sample, candidates=candidates, components=components,
            kernel=kernel, cv=cv, memory=memory, budget=budget,
            committee=committee, resume=resume, force=force,
            command=shlex.join(["spansvm", *sys.argv[1:]]),
        ),
        Terminal(quiet=quiet, as_json=json),
    )  # fmt: skip


def default_folder(data: str) -> Path:
    """Where results go by default: a folder in the current one, named after the data."""
    name = "spansvm" if data == "-" else Path(data).name.partition(".")[0] or "spansvm"
    return Path(f"{name}-tuned")
