"""What is said of a regression, and what it must agree with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

from .forms import Forms
from .reading import Run, agrees, number

__all__ = ["FORMS", "check_figures"]

FORMS = Forms()

#: How far apart predictions of two solvers may be, in standard deviations of the target.
_APART = 0.01


def _svr(run: Run) -> SVR:
    machine = run.machine
    return SVR(
        C=machine.C, epsilon=machine.epsilon, kernel=machine.kernel, gamma=machine.gamma,
        degree=machine.degree, coef0=machine.coef0, tol=1e-6, cache_size=500,
    )  # fmt: skip


def check_figures(run: Run) -> list[str]:
    """The figures of the JSON, from which tables are made: those that are wrong."""
    wrong = []
    for check in (_left_out_rows, _rivals, _doubtful):
        try:
            if not run.sampled:
                check(run)
        except AssertionError as error:
            wrong.append(f"{check.__name__.strip('_')}: {error}")
    return wrong


def _left_out_rows(run: Run) -> None:
    """Left-out predictions are those of models trained by scikit-learn without the row."""
    said, spread = run.machine.loo_predict_, float(run.y.std())
    for row in run.rows:
        value = float(run.without(_svr(run), row).predict(run.points[[row]])[0])
        assert abs(value - said[row]) < _APART * spread, f"row {row}: {value}, not {said[row]}"
    residuals = run.y - said
    errors = run.report["left_out"]["errors"]
    assert abs(errors["rmse"] - np.sqrt((residuals**2).mean())) < 1e-6 * spread, "RMSE"
    assert abs(errors["mae"] - np.abs(residuals).mean()) < 1e-6 * spread, "mean absolute error"
    assert abs(errors["r2"] - (1 - (residuals**2).mean() / run.y.var())) < 1e-3, "R2"
    means = (run.y.sum() - run.y) / (run.y.size - 1)
    expected = np.sqrt(((run.y - means) ** 2).mean())
    assert abs(run.report["summary"]["mean_rmse"] / expected - 1) < 0.01, "the mean"


def _rivals(run: Run) -> None:
    if not run.studied_all:
        return
    models: dict[str, tuple[int, Any]] = {
        "ridge regression": (10, Ridge(alpha=1.0)),
        "10 nearest neighbours": (10, KNeighborsRegressor(10)),
        "random forest": (5, RandomForestRegressor(random_state=0)),
        "gradient boosting": (5, HistGradientBoostingRegressor(random_state=0)),
    }
    dense = run.points.toarray() if hasattr(run.points, "toarray") else run.points
    for one in run.report["analyses"]["comparison"]["baselines"]:
        if one["name"] not in models:
            continue
        n_folds, model = models[one["name"]]
        assert f"{n_folds} folds" in one["meaning"]
        Z = dense if one["name"] == "gradient boosting" else run.points
        folds = KFold(n_folds, shuffle=True, random_state=0)
        residuals = run.y - cross_val_predict(model, Z, run.y, cv=folds)
        rmse = float(np.sqrt((residuals**2).mean()))
        assert abs(one["rmse"] / rmse - 1) < 1e-3, f"{one['name']}: {rmse}"


def _doubtful(run: Run) -> None:
    residuals = run.y - run.machine.loo_predict_
    spread = 1.4826 * float(np.median(np.abs(residuals)))
    found = run.report["doubtful"]
    assert abs(found["n_doubtful"] - (np.abs(residuals) > 3 * spread).sum()) <= 1, "doubtful values"
    for one in found["rows"][:10]:
        assert abs(one["actual"] - run.y[one["row"]]) < 1e-9, f"row {one['row']}"
        assert abs(one["residual"] - residuals[one["row"]]) < 1e-6 * run.y.std()


@FORMS.form(r".*: (\d+) rows, (\d+) features \(.*\); target .*")
def _read(run: Run, n_rows: str, n_features: str) -> None:
    assert int(n_rows) == run.y.size
    assert int(n_features) == pd.DataFrame(run.given).shape[1]


@FORMS.form(
    r"Predictions for new rows are off by about (\S+) \(root mean squared(?:; 95% CI (\S+) to "
    r"(\S+))?\)\."
)
def _off(run: Run, value: str, low: str | None, high: str | None) -> None:
    expected = run.report["summary"]["expected"]
    _same(value, expected["rmse"])
    if low and high:
        assert number(low) <= number(value) <= number(high)
    if not run.sampled:
        own = float(np.sqrt(((run.y - run.machine.loo_predict_) ** 2).mean()))
        assert own * 0.999 <= expected["rmse"] <= own * 1.3, f"uncorrected {own}"


def _same(text: str, value: float) -> None:
    """To three significant digits."""
    assert abs(number(text) - value) <= 0.0051 * abs(value) + 1e-12, f"{text} is {value}"


@FORMS.form(r"R2 is (\S+?) ?(?:\(95% CI \S+ to \S+\))?\.")
def _r2(run: Run, value: str) -> None:
    expected = run.report["summary"]["expected"]
    agrees(value, expected["r2"])
    ratio = 1 - (expected["rmse"] / run.y.std()) ** 2
    assert run.sampled or abs(expected["r2"] - ratio) < 0.02, f"R2 from the RMSE is {ratio}"


@FORMS.form(r"Always predicting the mean is off by (\S+?)(: .*)?\.?")
def _mean(run: Run, value: str, judged: str | None) -> None:
    _same(value, float(run.y.std()) if run.sampled is False else run.report["summary"]["mean_rmse"])


@FORMS.form(
    r"Another model does better beyond chance: (.*) is off by (\S+), and this one by (\S+)\."
)
def _rival(run: Run, name: str, value: str, own: str) -> None:
    (one,) = [b for b in run.report["analyses"]["comparison"]["baselines"] if b["name"] == name]
    _same(value, one["rmse"])
    assert one["difference"]["interval"][1] < 0
    assert number(value) < number(own)


@FORMS.form(
    r"Intervals of (\S+) contained (\S+) of (\d+) values that .* \(95% CI (\S+) to (\S+)\).*"
)
def _covered(run: Run, level: str, share: str, n: str, low: str, high: str) -> None:
    assert number(low) <= number(share) <= number(high)
    assert int(n) <= run.y.size


@FORMS.form(r"From (\d+) to (\d+) rows the error went from (\S+) to ([\d.,]+\d).*")
def _more_rows(run: Run, half: str, n: str, before: str, last: str) -> None:
    points = run.report["analyses"]["learning_curve"]["points"]
    assert (int(half), int(n)) == (points[-2]["n_rows"], points[-1]["n_rows"])
    _same(before, points[-2]["error"])
    _same(last, points[-1]["error"])


@FORMS.form(r"RMSE of the mean \.+ (\S+); the model's is (\S+) smaller")
def _gain(run: Run, mean: str, share: str) -> None:
    summary = run.report["summary"]
    agrees(share, 1 - summary["expected"]["rmse"] / summary["mean_rmse"])


@FORMS.form(r"leave-one-out RMSE \.+ (\S+); mean absolute error (\S+?)(?:, .*)?")
def _left_out(run: Run, rmse: str, mae: str) -> None:
    errors = run.report["left_out"]["errors"]
    _same(rmse, errors["rmse"])
    _same(mae, errors["mae"])


@FORMS.form(r"Leaving out each of (\d+) rows in turn, predictions are off by (\S+) .*")
def _in_turn(run: Run, n: str, rmse: str) -> None:
    _same(rmse, run.report["left_out"]["errors"]["rmse"])
    assert run.sampled or int(n) == run.y.size


@FORMS.form(r"(\d+) of (\d+) rows repeat an earlier one in all features, .*")
def _copies(run: Run, n: str, of: str) -> None:
    dense = run.points.toarray() if hasattr(run.points, "toarray") else np.asarray(run.points)
    assert int(n) == pd.DataFrame(dense).duplicated().sum()


@FORMS.form(r"(\d+) features? of (\d+) may have none at all\.")
def _other_features(run: Run, count: str, of: str) -> None:
    features = run.report["analyses"]["influence"]["features"]
    assert int(count) == sum(one["interval"][0] <= 0 for one in features)
    assert int(of) == len(features)


@FORMS.form(
    r".*of (\d+) candidates.*",
    r"Searche?d?i?n?g? .*?(\d+) candidates.*",
    r"Selected from (\d+) candidates\.",
)
def _candidates(run: Run, count: str) -> None:
    assert int(count) <= len(run.report["search"]["converged"])


@FORMS.form(r"Values ?: look at rows? (.*) first: of (\d+) that are far .*")
def _values_to_see(run: Run, rows: str, n: str) -> None:
    assert int(n) == run.report["doubtful"]["n_doubtful"]


@FORMS.form(
    r"A \S+ prediction interval is about \S+ wide\.", r"\S+", r"95% CI .*", r"best setting \.+ .*",
    r"corrected (?:RMSE|R2)(?: \.+ .*)?", r"C = .*", r"R2.*", r"The uncorrected figure .*",
    r"\d+ \S+ .*", r"wide; .*", r"\S+ of the (?:rows|sample); .*", r"These values are exact: .*",
    r"Of normal residuals, .*", r"Look for .*", r"Rows whose values .*", r"All models .*",
    r"The error of left-out .*", r"For left-out rows the selected .*", r"The difference is .*",
    r"Chance can explain .*", r".* values.*", r".* s, and .* s to train .*", r"The best \d+ .*",
    r"Intervals of .*", r"Tested in .*", r"may be chance: .*", r"The intervals .*", r"Shown: .*",
    r"Left-out root mean squared error .*", r"The \d+ greatest .*", r"Row 1 is .*", r".* wide.*",
    r"1 is perfect.*", r"Report: .*", r"Model: .*", r"with .*", r"r2, best .*", r"The target .*",
    r"\S+ prediction interval", r"Widths are those of the selected model.*",
)  # fmt: skip
def _of_the_json(run: Run, *shown: str) -> None:
    """Figures of tiles and tables, which `check_figures` checks, axes, and names of files."""
