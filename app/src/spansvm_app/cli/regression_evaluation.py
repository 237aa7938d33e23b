"""``spansvm evaluate`` for a regression: errors from training next to those on other rows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..report.plain import number, percent, words
from ..tables import Table
from .held_out_targets import HeldOutTargets, held_out_targets
from .method_choice import default_scoring, scorer_named
from .regression_record import RegressionRecord
from .terminal import Terminal
from .training_record import fingerprint

__all__ = ["evaluate_regression"]


def evaluate_regression(
    record: RegressionRecord | None, path: Path, model: Any, table: Table, terminal: Terminal
) -> None:
    """Print the errors of a model on the rows of a table, next to those from its training.

    Parameters
    ----------
    record : RegressionRecord or None
        Of the training.
    path : Path
        The file of the model.
    model : Pipeline
    table : Table
    terminal : Terminal
    """
    name = default_scoring(table) if record is None else record.selected_by
    figures = held_out_targets(model, table, scorer_named(name, table), name)
    seen = record is not None and record.fingerprint == fingerprint(table)
    if record is None:
        terminal.note(f"{path} was not written by spansvm tune and holds no estimates.")
    else:
        if record.trained is not None:
            terminal.note(
                f"Estimates are those of a model with the same setting, trained on a sample of "
                f"{record.n_searched} of the {record.n_rows} rows, unless they say all rows."
            )
        if record.stopped:
            terminal.note(record.stopped)
        if seen:
            telling = "corrected RMSE" if record.expected["corrected"] else record.left_out_name
            terminal.note(
                f"The model was trained on {table.source}: its error there says little about new "
                f"rows; look at the {telling} instead."
            )
        terminal.say(f"Model with {record.setting}, trained on {record.source}.")
        terminal.say()
    rows = [] if record is None else _of_training(record)
    rows += _of_rows(figures, "training " if seen else "")
    terminal.table({"estimate": "left", "value": "right", "meaning": "left"}, rows)
    terminal.result(
        {
            "data": table.source,
            "is_training_data": seen,
            "figures": asdict(figures),
            "training": None if record is None else asdict(record),
        }
    )


def _of_training(record: RegressionRecord) -> list[list[object]]:
    expected, left_out = record.expected, record.left_out
    counted = f"{record.n_searched} rows of {record.source}"
    rows: list[list[object]] = []
    if expected["corrected"]:
        for key, name in (("rmse", "corrected RMSE"), ("r2", "corrected R2")):
            if expected[key] is not None and expected[f"{key}_interval"] is not None:
                ends = _interval(expected[f"{key}_interval"])
                rows.append([name, number(expected[key]), f"to expect on new rows; {ends}"])
    rows.append(
        [record.left_out_name, number(left_out["rmse"]),
         f"{counted}; {_interval(left_out['rmse_interval'])}"]
    )  # fmt: skip
    if record.trained is not None:
        ends = _interval(record.trained["rmse_interval"])
        rows.append(["the same on all rows", number(record.trained["rmse"]), ends])
    return rows


def _of_rows(figures: HeldOutTargets, kind: str) -> list[list[object]]:
    of = f"{figures.n_rows} rows of {figures.source}"
    rows: list[list[object]] = [
        [f"{kind}RMSE", number(figures.rmse), f"{of}; {_interval(figures.rmse_interval)}"],
        [f"{kind}mean absolute error", number(figures.mae), _interval(figures.mae_interval)],
    ]
    if figures.r2 is not None and figures.r2_interval is not None:
        rows.append([f"{kind}R2", number(figures.r2), _interval(figures.r2_interval)])
    if figures.score is not None and figures.score_name != "r2":
        rows.append([figures.score_name, words(figures.score), "the score of the selection"])
    rows.append(["RMSE of their mean", number(figures.mean_rmse), "without any model"])
    if figures.coverage is not None and figures.coverage_interval is not None:
        low, high = (percent(end) for end in figures.coverage_interval)
        level = percent(figures.level).replace(".0%", "%")
        rows.append(
            [f"within {level} intervals", percent(figures.coverage),
             f"95% CI {low} to {high}; median width {number(figures.width)}"]
        )  # fmt: skip
    return rows


def _interval(ends: list[float]) -> str:
    return f"95% CI {number(ends[0])} to {number(ends[1])}"
