"""``spansvm evaluate``: every estimate of a trained model, next to its error on labelled rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ..common.tasks import REGRESSION
from .options import (
    DataFile,
    Debug,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    Header,
    Json,
    Missing,
    ModelFile,
    Quiet,
    Sheet,
    file_options,
)
from .terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .held_out import HeldOut
    from .training_record import TrainingRecord

__all__ = ["HELP", "evaluate"]

HELP = (
    "Show all estimates of a trained model in one table, next to its error on labelled rows.\n\n"
    "The estimates come from training. If DATA is the training file itself, the error on it is too "
    "optimistic: look at the leave-one-out or cross-validation error instead. For a regression, "
    "R2, root mean squared and mean absolute error are shown, and how many values lie within "
    "prediction intervals.\n\n"
    "\b\n"
    "  spansvm evaluate data-tuned test.csv\n"
    "  spansvm evaluate data-tuned/model.skops test.csv --json"
)


def evaluate(
    model: ModelFile,
    data: DataFile,
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
) -> None:
    """See HELP."""
    from .held_out import held_out_figures, load, model_file, read_labelled
    from .method_choice import scorer_named
    from .training_record import TrainingRecord, fingerprint

    terminal = Terminal(quiet=quiet, as_json=json)
    model = model_file(model)
    saved, schema, training = load(model)
    options = file_options(format, delimiter, header, encoding, decimal, missing, sheet)
    if schema.task == REGRESSION:
        from .regression_evaluation import evaluate_regression
        from .regression_record import RegressionRecord

        table = read_labelled(data, schema, options, saved, terminal)
        found = RegressionRecord.of(training, model)
        evaluate_regression(found, model, saved, table, terminal)
        return
    record = TrainingRecord.of(training, model)
    table = read_labelled(data, schema, options, saved, terminal)
    name = "accuracy" if record is None else record.selected_by
    trained = getattr(getattr(saved, "steps", [(None, None)])[-1][1], "training_labels_", None)
    scorer = scorer_named(name, table, trained)
    figures = held_out_figures(saved, table, scorer, name)
    seen = record is not None and record.fingerprint == fingerprint(table)
    if record is None:
        terminal.note(f"{model} was not written by spansvm tune and holds no estimates.")
    elif record.trained is not None:
        terminal.note(
            f"Estimates are those of a model with the same setting, trained on a sample of "
            f"{record.n_searched} of the {record.n_rows} rows, unless they say all rows."
        )
    if record is not None and record.stopped:
        terminal.note(record.stopped)
    if record is not None and seen:
        telling = record.left_out_name if record.judged is None else record.judged.name
        telling = telling if record.corrected is None else record.corrected_name
        terminal.note(
            f"The model was trained on {table.source}: its error there says little about new rows; "
            f"look at the {telling} instead."
        )
    _print(record, figures, table.source, "training error" if seen else "error", terminal)
    terminal.result(
        {
            "data": table.source,
            "is_training_data": seen,
            "figures": asdict(figures),
            "training": None if record is None else asdict(record),
        }
    )


def _print(
    record: TrainingRecord | None, figures: HeldOut, source: str, error_name: str,
    terminal: Terminal,
) -> None:  # fmt: skip
    from ..report.plain import number
    from .held_out import print_confusion

    def shown(share: float | None) -> str:
        return number(share) if share is None else f"{share:.4f}"

    def interval(ends: Sequence[float]) -> str:
        low, high = ends
        return f"95% CI {shown(low)} to {shown(high)}"

    rows: list[list[object]] = []
    if record is not None:
        if record.corrected is not None:
            rows.append(
                [record.corrected_name, shown(record.corrected.value),
                 f"to expect on new rows; {interval(record.corrected.interval)}"],
            )  # fmt: skip
        if record.judged is not None:
            judged = record.judged
            rows.append(
                [judged.name, shown(judged.error), f"of the model selected by {record.selected_by}"]
            )
        counted = record.n_searched or record.n_rows
        rows.append(
            [record.left_out_name, shown(record.loo_error),
             f"{counted} rows of {record.source}; {interval(record.loo_interval)}"],
        )  # fmt: skip
        if record.trained is not None:
            rows.append(
                ["the same on all rows", shown(record.trained.error),
                 f"{record.trained.n_rows} rows of {record.source}; "
                 f"{interval(record.trained.interval)}"],
            )  # fmt: skip
        # The span-rule already has its line.
        others = [one for one in record.estimates if one["name"] != "span_rule"]
        rows += [[one["label"], shown(one["value"]), one["meaning"]] for one in others]
    rows.append(
        [error_name, shown(figures.error),
         f"{figures.n_errors} of {figures.n_rows} rows of {source}; {interval(figures.interval)}"],
    )  # fmt: skip
    rows.append(["majority-class error", shown(figures.majority_error), "without any model"])
    if figures.score_name != "accuracy" and figures.score is not None:
        rows.append([figures.score_name, shown(figures.score), "the score of the selection"])
    if figures.roc_auc is not None and figures.score_name != "roc_auc":
        rows.append(["area under ROC", shown(figures.roc_auc), "1 is perfect, 0.5 is chance"])
    if figures.log_loss is not None:
        rows.append(["log loss", shown(figures.log_loss), "of the predicted probabilities"])
    if record is not None:
        terminal.say(f"Model with {record.setting}, trained on {record.source}.")
        terminal.say()
    terminal.table({"estimate": "left", "value": "right", "meaning": "left"}, rows)
    print_confusion(figures, terminal)
