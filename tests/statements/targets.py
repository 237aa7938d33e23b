"""What is said of a regression, and what it must agree with."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

from .forms import Forms
from .reading import Run, agrees, number, wilson
from .tables import add_forms, check_folds, predicted_without, reason_of

__all__ = ["FORMS", "check_figures"]

FORMS = Forms()
add_forms(FORMS)

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
    for check in (_left_out_rows, _by_folds, _rivals, _doubtful):
        try:
            if not run.sampled:
                check(run)
        except AssertionError as error:
            wrong.append(f"{check.__name__.strip('_')}: {error}")
    return wrong


def _left_out_rows(run: Run) -> None:
    """Left-out predictions are those of models trained by scikit-learn without the row."""
    said, spread = run.machine.loo_predict_, float(run.y.std())
    farthest = np.argsort(-np.abs(run.y - said))[:10]
    for row in np.union1d(run.rows, farthest):
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


def _by_folds(run: Run) -> None:
    """Ten folds of scikit-learn alone have an error in the interval of the headline."""
    interval = run.report["summary"]["expected"]["rmse_interval"]
    if run.y.size <= 5000 and interval:
        predicted = check_folds(run, _svr(run), KFold(10, shuffle=True, random_state=0))
        rmse = float(np.sqrt(((predicted - run.y) ** 2).mean()))
        assert interval[0] <= rmse <= interval[1], f"ten folds are off by {rmse}"


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


def _same(text: str, value: float, digits: int = 3) -> None:
    """To three significant digits."""
    room = 0.51 * 10.0 ** (1 - digits)
    assert abs(number(text) - value) <= room * abs(value) + 1e-12, f"{text} is {value}"


def _rounded(text: str, value: float) -> bool:
    """Whether a number is this value, to the digits that it has, or to three."""
    if not re.fullmatch(r"[\N{MINUS SIGN}]?[\d.,]*\d", text):
        return False
    digit = 10.0 ** -len(text.partition(".")[2])
    return abs(number(text) - value) <= max(0.5001 * digit, 0.0051 * abs(value))


@FORMS.form(
    r"(Without .*?),? predictions for new rows are off by about (\S+) \(root mean squared\)\."
)
def _without_reason(run: Run, without: str, value: str) -> None:
    """About as far as in folds of scikit-learn in which that can tell nothing."""
    reason = reason_of(run, without)
    _same(value, reason["error"])
    predicted = predicted_without(run, reason, _svr(run))
    if predicted is not None:
        rmse = float(np.sqrt(((predicted - run.y) ** 2).mean()))
        assert rmse / 1.3 < reason["error"] < 1.3 * rmse, f"folds are off by {rmse}"


@FORMS.form(r"With (?:it|them), by (\S+): believe.*")
def _with_reason(run: Run, value: str) -> None:
    _same(value, run.report["summary"]["expected"]["rmse"])


@FORMS.form(
    r"Rows depend on those beside them in the file: if (\d+) neighbours leave together, "
    r"predictions are off by (\S+), and (\S+) if .*"
)
def _neighbours(run: Run, size: str, value: str, exchanged: str) -> None:
    reason = reason_of(run, "Without the rows beside")
    _same(value, reason["error"])
    assert f"blocks of {size} rows" in reason["advice"]
    assert number(exchanged) < number(value)


@FORMS.form(
    r"The feature '.*' alone puts the rows in the order of the target \(rank correlation (\S+)\)\.",
)
def _leak(run: Run, order: str) -> None:
    agrees(order, max(one["order"] for one in run.report["analyses"]["leaks"]["found"]), 5e-4)


@FORMS.form(
    r"If it is not known before the target is, leave it out: without (?:it|such features) "
    r"predictions are off by (\S+) instead of (\S+)\."
)
def _without_leaks(run: Run, without: str, with_it: str) -> None:
    leaks = run.report["analyses"]["leaks"]
    _same(without, leaks["error_without_all"])
    _same(with_it, leaks["error"])


@FORMS.form(r"corrected RMSE \.+ (\S+) \(95% CI (\S+) to (\S+)\)(?:, .*)?")
def _corrected(run: Run, value: str, low: str, high: str) -> None:
    expected = run.report["summary"]["expected"]
    _same(value, expected["rmse"])
    _same(low, expected["rmse_interval"][0])
    _same(high, expected["rmse_interval"][1])


@FORMS.form(r"corrected R2 \.+ (\S+) \(95% CI (\S+) to (\S+)\)(?:, .*)?")
def _corrected_r2(run: Run, value: str, low: str, high: str) -> None:
    expected = run.report["summary"]["expected"]
    _same(value, expected["r2"])
    _same(low, expected["r2_interval"][0])
    _same(high, expected["r2_interval"][1])


@FORMS.form(r"A (\d+)% prediction interval is about (\S+) wide\.")
def _wide(run: Run, level: str, width: str) -> None:
    """Twice the quantile of left-out residuals, about."""
    found = run.report["analyses"]["intervals"]
    (one,) = [one for one in found["levels"] if abs(100 * one["level"] - int(level)) < 1e-9]
    _same(width, one["width"])
    if not run.sampled:
        residuals = np.abs(run.y - run.machine.loo_predict_)
        own = 2 * float(np.quantile(residuals, int(level) / 100))
        assert 0.8 < number(width) / own < 1.25, f"residuals say {own}"


@FORMS.form(r"(\d+) rows, (\d+) features?, targets from (\S+) to (\S+) · .*")
def _meta(run: Run, n: str, d: str, low: str, high: str) -> None:
    assert int(n) == len(run.labelled) or run.sampled
    assert int(d) == pd.DataFrame(run.given).shape[1]
    if not run.sampled:
        _same(low, run.y.min())
        _same(high, run.y.max())


@FORMS.form(r"R2 is (\S+?) ?(?:\(95% CI \S+ to \S+\))?\.")
def _r2(run: Run, value: str) -> None:
    expected = run.report["summary"]["expected"]
    agrees(value, expected["r2"])
    ratio = 1 - (expected["rmse"] / run.y.std()) ** 2
    assert run.sampled or abs(expected["r2"] - ratio) < 0.02, f"R2 from the RMSE is {ratio}"


@FORMS.form(r"Always predicting the mean is off by (\S+?)(: .*)?\.?")
def _mean(run: Run, value: str, judged: str | None) -> None:
    if run.sampled:
        return
    # Each row is predicted by the mean of the others.
    _same(value, float(run.y.std()) * run.y.size / (run.y.size - 1))
    low, high = run.report["summary"]["expected"]["rmse_interval"]
    said = run.report["summary"]["expected"]["rmse"]
    assert (judged is not None) == (max(said, high) >= number(value) * 0.9999), f"{low} to {high}"


@FORMS.form(
    r"Another model does better beyond chance: (.*) is off by (\S+), and this one by (\S+)\."
)
def _rival(run: Run, name: str, value: str, own: str) -> None:
    (one,) = [b for b in run.report["analyses"]["comparison"]["baselines"] if b["name"] == name]
    _same(value, one["rmse"])
    assert one["difference"]["interval"][1] < 0
    assert number(value) < number(own)


@FORMS.form(r"(\d+) ([\d.,]+) (\S+) (\S+) (\S+)")
def _printed_row(run: Run, row: str, value: str, predicted: str, residual: str, far: str) -> None:
    """The value is that of the file, the prediction that of an SVR trained without the row."""
    actual, parts = float(run.label(row).replace(",", ".")), (value, predicted, residual)
    assert abs(number(value) - actual) <= 1e-3 * abs(actual), f"row {row} has {actual}"
    room = 2e-3 * max(abs(number(one)) for one in parts)
    assert abs(number(value) - number(predicted) - number(residual)) <= room
    if run.sampled:
        return
    place = int(np.flatnonzero(run.labelled.index == int(row))[0])
    own = float(run.without(_svr(run), place).predict(run.points[[place]])[0])
    assert abs(own - number(predicted)) < _APART * run.y.std() + 1e-3 * abs(own), f"{own}"
    residuals = run.y - run.machine.loo_predict_
    _same(far, float(residuals[place] / (1.4826 * np.median(np.abs(residuals)))), digits=2)


@FORMS.form(
    r"(?:(\S+)|95% CI (\S+) to (\S+?),? .*|95% CI (\S+) to (\S+))",
)
def _tile(run: Run, value: str | None, *ends: str | None) -> None:
    """A known error, a width, R2, a count of support vectors, or a value of the grid."""
    summary = run.report["summary"]
    if value is None:
        low, high = (one for one in ends if one is not None)
        known = [summary["expected"][name] for name in ("rmse_interval", "r2_interval")]
        known += [summary["loo_rmse_interval"], summary["loo_r2_interval"]]
        if run.sampled:
            known += [run.report["trained"]["errors"][f"{one}_interval"] for one in ("rmse", "r2")]
        assert any(pair and _rounded(low, pair[0]) and _rounded(high, pair[1]) for pair in known), (
            f"{known}"
        )
        return
    numbers = [summary["expected"]["rmse"], summary["expected"]["r2"], summary["loo_rmse"]]
    numbers += [summary["loo_r2"], summary["mean_rmse"], summary["n_support"]]
    numbers += [len(run.report["search"]["converged"]), summary["n_compared"]]
    if run.sampled:
        numbers += [run.report["trained"]["errors"]["rmse"], run.report["trained"]["n_support"]]
    intervals = (run.report["analyses"] or {}).get("intervals")
    numbers += [one["width"] for one in intervals["levels"]] if intervals else []
    grid = re.findall(r"[\d.]+", str(run.report["search"]))
    assert value in grid or any(_rounded(value, one) for one in numbers if one), f"{numbers}"


@FORMS.form(
    r"Intervals of (\S+) contained (\S+) of (\d+) values that .* \(95% CI (\S+) to (\S+)\).*"
)
def _covered(run: Run, level: str, share: str, n: str, low: str, high: str) -> None:
    """The share and its interval, which scipy computes, are of as many rows as are said."""
    assert int(n) <= run.y.size
    count = round(number(share) / 100 * int(n))
    agrees(share, count / int(n))
    for text, end in zip((low, high), wilson(count / int(n), int(n)), strict=True):
        agrees(text, end)
    if not run.sampled:
        # Of left-out residuals, intervals of such a width contain about as many.
        levels = run.report["analyses"]["intervals"]["levels"]
        (one,) = [one for one in levels if abs(100 * one["level"] - number(level)) < 1e-9]
        within = np.abs(run.y - run.machine.loo_predict_) <= one["width"] / 2
        ends = wilson(within.mean(), run.y.size)
        assert ends[0] - 0.03 <= number(share) / 100 <= ends[1] + 0.03, f"{within.mean()}"


@FORMS.form(
    r"For left-out rows the selected model is off by (\S+) (less|more) than the strongest of these "
    r"\((.*); 95% CI (\S+) to (\S+)\)\."
)
def _verdict(run: Run, value: str, word: str, name: str, low: str, high: str) -> None:
    """The strongest is that of the least error, which `check_figures` checks."""
    best = min(run.report["analyses"]["comparison"]["baselines"], key=lambda one: one["rmse"])
    assert best["name"] == name
    assert _rounded(value, abs(best["difference"]["value"])), f"{best['difference']}"
    assert (best["difference"]["value"] > 0) == (word == "less")
    ends = sorted(abs(end) for end in best["difference"]["interval"])
    assert _rounded(low, ends[0]) and _rounded(high, ends[1]), f"{ends}"  # noqa: PT018
    if not run.sampled:
        own = best["rmse"] - run.report["summary"]["expected"]["rmse"]
        assert abs(own - best["difference"]["value"]) <= 0.01 * best["rmse"], f"{own}"


@FORMS.form(r"The error of left-out rows grows most, by (\S+) from (\S+), if (.*) is permuted\.")
def _grows(run: Run, value: str, error: str, name: str) -> None:
    """As much as with models that scikit-learn trains without each of some rows."""
    features = run.report["analyses"]["influence"]["features"]
    top = max(features, key=lambda one: one["increase"])
    assert top["name"] == name
    assert _rounded(value, top["increase"])
    if run.sampled:
        return
    assert _rounded(error, run.report["left_out"]["errors"]["rmse"])
    if not isinstance(run.given, pd.DataFrame):
        return
    rng, before, after = np.random.default_rng(1), [], []
    transform = run.names["model"][:-1].transform
    for row in run.rows:
        trained = run.without(_svr(run), row)
        others = pd.concat([run.given.iloc[[row]]] * 8, ignore_index=True)
        drawn = run.given.iloc[rng.choice(run.y.size, 8), top["column"]]
        others.isetitem(top["column"], drawn.to_numpy())
        after.append(((trained.predict(transform(others)) - run.y[row]) ** 2).mean())
        before.append((run.y[row] - run.machine.loo_predict_[row]) ** 2)
    grown = np.sqrt(np.mean(after)) - np.sqrt(np.mean(before))
    error_of_mean = np.std(after) / np.sqrt(len(after)) / (2 * np.sqrt(np.mean(after)))
    room = 4 * np.hypot(error_of_mean, top["standard_error"]) + 0.01 * top["increase"]
    assert abs(grown - top["increase"]) < room, f"{grown}"


@FORMS.form(
    r"These values are exact: (\d+) rows? (?:lie|lies) inside the tube of .* each of the (\d+) "
    r"support vectors .*"
)
def _tube(run: Run, inside: str, support: str) -> None:
    if run.sampled:
        return
    assert int(inside) + int(support) == run.y.size
    own = int(_svr(run).fit(run.points, run.y).support_.size)
    assert abs(own - int(support)) <= 2 + 0.02 * own, f"SVR has {own}"


@FORMS.form(
    r"Rows whose values the others contradict most: .* of all residuals, (\S+) \(1\.4826 .*"
)
def _spread(run: Run, value: str) -> None:
    if not run.sampled:
        residuals = np.abs(run.y - run.machine.loo_predict_)
        assert _rounded(value, 1.4826 * float(np.median(residuals)))


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


@FORMS.form(r"(\d+) features? of (\d+) may have none at all\.")
def _other_features(run: Run, count: str, of: str) -> None:
    features = run.report["analyses"]["influence"]["features"]
    assert int(count) == sum(one["interval"][0] <= 0 for one in features)
    assert int(of) == len(features)


@FORMS.form(r"Values ?: look at rows? (.*) first; (\d+) are far .*")
def _values_to_see(run: Run, rows: str, n: str) -> None:
    assert rows.split(", ")[0] == str(run.report["doubtful"]["rows"][0]["row_id"])
    assert int(n) == run.report["doubtful"]["n_doubtful"]


@FORMS.form(
    r"corrected R2", r"The uncorrected figure .*", r"wide; .*",
    r"\S+ of the (?:rows|sample); .*", r"Look for .*",
    r"All models .*", r"The difference is .*",
    r"Chance can explain .*", r"[\d⁻⁰¹²³⁴⁵⁶⁷⁸⁹. ]+ to .* values.*", r"The best \d+ .*",
    r"The \d+ most doubtful values, .*",
    r"Intervals of \S+ and actual values.*", r"Tested in .*", r"may be chance: .*",
    r"The intervals .*", r"Shown: .*",
    r"Left-out root mean squared error .*", r"The \d+ greatest .*", r"Row 1 is .*",
    r"1 is perfect.*", r"with .*", r"The target spans .*", r"\S+ prediction interval",
    r"Widths are those of the selected model.*",
)  # fmt: skip
def _of_the_json(run: Run, *shown: str) -> None:
    """Figures of tiles and tables, which `check_figures` checks, axes, and names of files."""
