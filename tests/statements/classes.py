"""What is said of a classifier, and what it must agree with."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from .forms import Forms
from .reading import Run, agrees, near, number, wilson
from .tables import add_forms, check_folds, predicted_without, reason_of

__all__ = ["FORMS", "check_figures"]

FORMS = Forms()
add_forms(FORMS)
_P = r"(\S+%)"

#: How near 0 a decision value may be for two solvers to differ.
_NEAR = 0.01


class _Weighted(SVC):
    """An SVC with weights of classes of which some may have no row."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        weights = self.class_weight
        if not isinstance(weights, dict):
            return super().fit(X, y, sample_weight)
        own = np.array([weights.get(label, 1.0) for label in y])
        self.class_weight = None
        super().fit(X, y, own)
        self.class_weight = weights
        return self


def _svc(run: Run) -> SVC:
    """The selected model as scikit-learn's, with its weights per class in `C` of every row."""
    machine = run.machine
    weight = machine.class_weight
    return _Weighted(
        C=machine.C, kernel=machine.kernel, gamma=machine.gamma, degree=machine.degree,
        coef0=machine.coef0, class_weight=weight, tol=1e-5, cache_size=500,
    )  # fmt: skip


def _error(run: Run) -> float:
    return float(run.report["leave_one_out"]["error"])


def _expected(run: Run) -> float:
    found = run.report["summary"]["corrected_error"]
    n_compared = run.report["summary"]["n_compared"]
    return _error(run) if found is None or n_compared < 2 else float(found)


def _labels(run: Run) -> list[str]:
    return [str(label) for label in np.unique(run.y)]


def _of(run: Run, label: str) -> np.ndarray:
    return np.array([str(one) == label for one in run.y])


def _majority(run: Run) -> float:
    return 1.0 - float(pd.Series(run.y).value_counts(normalize=True).iloc[0])


# Figures, which sentences and tables show --------------------------------------------------------


def check_figures(run: Run) -> list[str]:
    """The figures of the JSON, from which tables are made: those that are wrong."""
    wrong = []
    checks = [
        _left_out_rows, _by_folds, _rates, _curves, _rivals, _learning, _influence, _suspicious,
        _leaks, _decided_by_costs,
    ]  # fmt: skip
    for check in checks:
        try:
            if not run.sampled:
                check(run)
        except AssertionError as error:
            wrong.append(f"{check.__name__.strip('_')}: {error}")
    return wrong


def _left_out_rows(run: Run) -> None:
    """Left-out predictions are those of models trained by scikit-learn without the row."""
    said, model = run.machine.loo_predict_, _svc(run)
    two = np.unique(run.y).size == 2
    # Of the rows that are said to be misclassified, too.
    wrong = np.flatnonzero(said != run.y)[: run.rows.size // 2]
    for row in np.union1d(run.rows, wrong):
        trained = run.without(model, row)
        own = run.points[[row]]
        values = np.atleast_2d(trained.decision_function(own))
        near_zero = np.abs(values).min() < _NEAR if two else np.ptp(np.sort(values)[0, -2:]) < _NEAR
        predicted = trained.predict(own)[0]
        assert predicted == said[row] or near_zero, f"row {row} is predicted {predicted}"
    figures = run.report["leave_one_out"]
    n_errors = int((said != run.y).sum())
    assert abs(figures["n_errors"] - n_errors) <= 2, f"{n_errors} errors"
    found = confusion_matrix(run.y, said)
    assert np.abs(found - np.array(figures["confusion"])).sum() <= 4, "the confusion matrix"


def _by_folds(run: Run) -> None:
    """Ten folds of scikit-learn alone have an error in the interval of the headline."""
    smallest = int(pd.Series(run.y).value_counts().min())
    if run.y.size > 5000 or smallest < 2:
        return
    folds = StratifiedKFold(min(10, smallest), shuffle=True, random_state=0)
    predicted = check_folds(run, _svc(run), folds)
    error = float((predicted != run.y).mean())
    interval = run.report["summary"]["corrected_error_interval"]
    low, high = interval or wilson(_error(run), run.y.size)
    if folds.n_splits == 10:
        assert low <= error <= high, f"ten folds have an error of {error}"
    for one in run.report["leave_one_out"]["classes"]:
        own = _of(run, str(one["label"]))
        found = float((predicted[own] == run.y[own]).mean())
        n, said = int(own.sum()), 1 - one["n_errors"] / one["n_rows"]
        room = 3 * np.sqrt(max(found * (1 - found), 1 / n) / n) + 0.02
        assert abs(found - said) < room, f"folds find {found} of '{one['label']}', not {said}"


def _rates(run: Run) -> None:
    if not run.studied_all:
        return
    said, y = run.machine.loo_predict_, run.y
    rates = run.report["analyses"]["decisions"]["rates"]
    for name, score in (("recall", recall_score), ("f1", f1_score), ("precision", precision_score)):
        expected = score(y, said, average=None, zero_division=0)
        for one, value in zip(rates, expected, strict=True):
            given = one[name] or 0.0
            assert abs(given - value) <= 2.0 / one["n_rows"], f"{name} of {one['label']} is {value}"
    for one in rates:
        for end, value in zip(
            one["recall_interval"], wilson(one["recall"], one["n_rows"]), strict=True
        ):
            assert abs(end - value) < 1e-6, f"the interval of a recall ends at {value}"


def _curves(run: Run) -> None:
    if len(_labels(run)) == 2 and run.report["leave_one_out"]["operations"]:
        (one,) = run.report["leave_one_out"]["operations"]
        own = _of(run, one["label"])
        sign = 1.0 if one["label"] == _labels(run)[1] else -1.0
        values = sign * run.machine.loo_ranking_
        assert abs(one["auc"] - roc_auc_score(own, values)) < 1e-9, "the AUC"
        folds = StratifiedKFold(10, shuffle=True, random_state=1)
        # For decision values scikit-learn numbers the classes, also those that have weights.
        model, weights = _svc(run), run.machine.class_weight
        if isinstance(weights, dict):
            known = {str(label): weight for label, weight in weights.items()}
            numbered = {place: known.get(label, 1.0) for place, label in enumerate(_labels(run))}
            model.set_params(class_weight=numbered)
        apart = cross_val_predict(model, run.points, run.y, cv=folds, method="decision_function")
        low, high = one["interval"]
        room = 0.02 + (high - low) / 2
        assert abs(roc_auc_score(own, sign * apart) - one["auc"]) < room, "the AUC of ten folds"
        for curve in run.report["analyses"]["decisions"]["curves"] if run.studied_all else ():
            assert abs(curve["average"] - average_precision_score(own, values)) < 1e-6
            assert str(curve["label"]) == one["label"], "two classes are the positive one"


def _rivals(run: Run) -> None:
    """Other models are scikit-learn's, in the folds that they are said to have."""
    if not run.studied_all:
        return
    folds = {n: StratifiedKFold(n, shuffle=True, random_state=0) for n in (5, 10)}
    quick = {"max_iter": 200, "tol": 1e-3}
    models: dict[str, tuple[int, Any]] = {
        "logistic regression": (10, LogisticRegression(**quick)),
        "logistic regression, balanced": (10, LogisticRegression(class_weight="balanced", **quick)),
        "random forest": (5, RandomForestClassifier(random_state=0)),
        "random forest, balanced": (
            5, RandomForestClassifier(class_weight="balanced", random_state=0)),
        "gradient boosting": (5, HistGradientBoostingClassifier(random_state=0)),
        "gradient boosting, balanced": (
            5, HistGradientBoostingClassifier(class_weight="balanced", random_state=0)),
    }  # fmt: skip
    dense = run.points.toarray() if hasattr(run.points, "toarray") else run.points
    own = run.machine.loo_predict_ != run.y
    comparison = run.report["analyses"]["comparison"]
    for one in comparison["baselines"]:
        if one["name"] == "largest class":
            assert abs(one["error"] - _majority(run)) < 1e-9, "the largest class"
        if one["name"] not in models:
            continue
        n_folds, model = models[one["name"]]
        assert f"{n_folds} folds" in one["meaning"]
        Z = dense if "boosting" in one["name"] else run.points
        wrong = cross_val_predict(model, Z, run.y, cv=folds[n_folds]) != run.y
        # Sums in another order may decide a split of a tree.
        assert abs(one["error"] - wrong.mean()) < 2.5 / run.y.size, f"{one['name']}: {wrong.mean()}"
        b, c, n = int((wrong & ~own).sum()) + 1, int((own & ~wrong).sum()) + 1, own.size + 2
        half = 1.959964 * np.sqrt(b + c - (b - c) ** 2 / n) / n
        middle = (b - c) / n - comparison["optimism"]
        for end, value in zip(
            one["difference"]["interval"], (middle - half, middle + half), strict=True
        ):
            assert abs(end - value) < 4.0 / n, f"the interval of {one['name']} ends at {value}"


def _learning(run: Run) -> None:
    """With half of the rows, models that scikit-learn trains are as good on the other half."""
    curve = run.report["analyses"]["learning_curve"]
    if curve is None or not run.studied_all:
        return
    half = curve["points"][-2]
    assert abs(half["n_rows"] - run.y.size / 2) <= 0.5
    errors = []
    for factor in (1.0, 2.0):
        wrong = []
        model = _svc(run).set_params(C=factor * run.machine.C)
        for train, test in ShuffleSplit(4, train_size=0.5, random_state=0).split(run.points):
            wrong.append(
                model.fit(run.points[train], run.y[train]).predict(run.points[test]) != run.y[test]
            )
        errors.append(float(np.concatenate(wrong).mean()))
    room = 4 * np.sqrt(min(errors) * (1 - min(errors)) / run.y.size) + 0.01
    assert abs(min(errors) - half["error"]) < room, f"half of the rows: {min(errors)}"


def _influence(run: Run) -> None:
    """The strongest feature, permuted for rows that scikit-learn's models have not seen."""
    found = run.report["analyses"]["influence"]
    if (
        not found
        or found["scored"]
        or not run.studied_all
        or not isinstance(run.given, pd.DataFrame)
    ):
        return
    top = found["features"][0]
    rng, grown = np.random.default_rng(1), []
    model = _svc(run)
    transform = run.names["model"][:-1].transform
    for row in run.rows:
        trained = run.without(model, row)
        others = pd.concat([run.given.iloc[[row]]] * 8, ignore_index=True)
        drawn = rng.choice(run.y.size, 8)
        others.isetitem(top["column"], run.given.iloc[drawn, top["column"]].to_numpy())
        wrong = trained.predict(transform(others)) != run.y[row]
        grown.append(wrong.mean() - (trained.predict(run.points[[row]])[0] != run.y[row]))
    room = 4 * np.hypot(np.std(grown) / len(grown) ** 0.5, top["standard_error"]) + 0.01
    assert abs(np.mean(grown) - top["increase"]) < room, f"{top['name']} {np.mean(grown)}"


def _suspicious(run: Run) -> None:
    """Rows of the table have the label of the file; the predictions are those of a committee."""
    found = run.report["suspicious"]
    rows = found["rows"]
    for one in rows:
        assert one["label"] == str(run.y[one["row"]])[:80], f"the label of row {one['row']}"
    n_doubted = sum(one["doubted"] for one in rows)
    assert n_doubted == min(found["n_doubted"], len(rows)), f"{n_doubted} are doubted"
    n_other = sum(one["label"] != one["predicted"] for one in rows)
    assert n_other == min(found["n_contradicted"], len(rows)), f"{n_other} are contradicted"


def _leaks(run: Run) -> None:
    """A copy of the target has one class for each value, but for the rows that are said."""
    leaks = run.report["analyses"]["leaks"]
    for one in () if leaks is None or not run.studied_all else leaks["found"]:
        values = pd.DataFrame(run.given).iloc[:, one["column"]].astype(str).to_numpy()
        table = pd.crosstab(values, run.y)
        if one["kind"] == "copy":
            wrong = int(run.y.size - table.max(axis=1).sum())
            assert abs(wrong - one["n_wrong"]) <= 2, f"{one['name']} is wrong in {wrong} rows"


def _decided_by_costs(run: Run) -> None:
    costs = run.report["analyses"]["decisions"]["costs"]
    if costs is None or not run.studied_all:
        return
    own, said = _of(run, str(costs["label"])), run.machine.loo_predict_.astype(str)
    alarm = said == str(costs["label"])
    assert abs(costs["own"][0] - (own & ~alarm).sum()) <= 1, "missed rows"
    assert abs(costs["own"][1] - (~own & alarm).sum()) <= 1, "false alarms"
    for step in costs["steps"]:
        assert abs(step["threshold"] - 1 / (1 + step["ratio"])) < 1e-12
        cost = (step["ratio"] * step["n_missed"] + step["n_alarms"]) / min(step["ratio"], 1.0)
        assert abs(step["cost"] - cost / own.size) < 1e-9, f"the cost at {step['ratio']}"


@lru_cache(maxsize=4)
def _support(run: Run) -> int:
    return int(_svc(run).fit(run.points, run.y).n_support_.sum())


def _room(run: Run, n_support: int) -> float:
    """Of equal rows, one or all may be support vectors."""
    return 2 + 0.02 * n_support + run.y.size - np.unique(run.kinds).size


# Sentences ----------------------------------------------------------------------------------------


@FORMS.form(
    r"(?:About )?(fewer than )?(\d+) of (\d+) new rows would be misclassified\.",
    r"Fewer than()? (\d+) of (\d+) new rows would be misclassified\.",
)
def _headline(run: Run, fewer: str | None, count: str, of: str) -> None:
    near(count, of, _expected(run))


@FORMS.form(r"None of (\d+) rows would be misclassified when left out\.")
def _none_wrong(run: Run, n: str) -> None:
    assert int(n) == run.report["leave_one_out"]["n_rows"]
    assert _error(run) == 0.0


@FORMS.form(r"Always predicting '(.*)' misclassifies (\d+) of (\d+)(: .*)?\.")
def _constant(run: Run, label: str, count: str, of: str, judged: str | None) -> None:
    assert _of(run, label).sum() == pd.Series(run.y).value_counts().iloc[0]
    near(count, of, _majority(run))
    interval = run.report["summary"]["corrected_error_interval"]
    if interval is not None:
        assert (judged is not None) == (interval[1] >= _majority(run)), f"{interval}"


@FORMS.form(r"It finds (.*)\.")
def _found(run: Run, counts: str) -> None:
    for count, of, label in re.findall(r"(\d+) of (\d+) '(.*?)'(?: and|$|,)", counts):
        own = _of(run, label)
        near(count, of, float((run.machine.loo_predict_[own] == run.y[own]).mean()))


@FORMS.form(r"Of two rows, one of each class, .* higher in (\d+) of (\d+) cases\.")
def _ranks(run: Run, count: str, of: str) -> None:
    near(count, of, run.report["summary"]["corrected"]["value"])


@FORMS.form(r"If all classes were equally frequent, (\d+) of (\d+) would be misclassified\.")
def _balanced(run: Run, count: str, of: str) -> None:
    value = run.report["summary"]["corrected"]["value"]
    near(count, of, 1 - value)
    own = np.mean(recall_score(run.y, run.machine.loo_predict_, average=None))
    assert -1e-3 <= own - value < 0.15, f"uncorrected {own}"


@FORMS.form(r"(Without .*?),? about (\d+) of (\d+) new rows would be misclassified\.")
def _without_reason(run: Run, without: str, count: str, of: str) -> None:
    """About as many as folds of scikit-learn find, in which that can tell nothing."""
    reason = reason_of(run, without)
    near(count, of, reason["error"])
    predicted = predicted_without(run, reason, _svc(run))
    if predicted is not None:
        error = float((predicted != run.y).mean())
        room = 3 * np.sqrt(max(error * (1 - error), 1 / run.y.size) / run.y.size) + 0.05
        assert abs(reason["error"] - error) < room, f"folds: {error}"
    elif reason["topic"] == "Features":
        _without(
            run, [one["column"] for one in run.report["analyses"]["leaks"]["found"]],
            reason["error"],
        )  # fmt: skip


@FORMS.form(
    r"Rows depend on those beside them in the file: if (\d+) neighbours leave together, the error "
    rf"is {_P}, and {_P} if .*"
)
def _neighbours(run: Run, size: str, error: str, exchanged: str) -> None:
    reason = reason_of(run, "Without the rows beside")
    agrees(error, reason["error"])
    assert f"blocks of {size} rows" in reason["advice"]
    assert number(exchanged) < number(error)


@FORMS.form(
    r"If it is not known before the target is, leave it out: without it the left-out error is "
    rf"{_P} instead of {_P}(?:, and without all such features (\S+%))?\."
)
def _one_leak(run: Run, without: str, with_it: str, without_all: str | None) -> None:
    agrees(with_it, _error(run))
    leaks = run.report["analyses"]["leaks"]
    if without_all:
        agrees(without_all, leaks["error_without_all"])
    failed = []
    for one in leaks["found"]:
        try:
            _without(run, [one["column"]], number(without) / 100)
        except AssertionError as error:
            failed.append(str(error))
    assert len(failed) < len(leaks["found"]), "; ".join(failed)


def _without(run: Run, columns: list[int], said: float) -> None:
    """An error without columns is about that of ten folds of scikit-learn where they are alike."""
    if not run.studied_all or not isinstance(run.given, pd.DataFrame):
        return
    alike = run.given.copy()
    for column in columns:
        alike.isetitem(column, [alike.iloc[0, column]] * len(alike))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    error = float((cross_val_predict(run.whole(_svc(run)), alike, run.y, cv=folds) != run.y).mean())
    room = 3 * np.sqrt(max(error * (1 - error), 1 / run.y.size) / run.y.size) + 0.01
    assert error / 2 - 0.01 < said < error + room, f"ten folds: {error}"


@FORMS.form(r"With (?:it|them), (\d+) of (\d+): believe.*")
def _with_leaks(run: Run, count: str, of: str) -> None:
    near(count, of, _expected(run))


@FORMS.form(
    r"Another model does better beyond chance: (.*) misclassifies fewer: (\d+) of (\d+), and this "
    r"model (\d+) of (\d+)\."
)
def _rival(run: Run, name: str, count: str, of: str, own: str, own_of: str) -> None:
    (one,) = [b for b in run.report["analyses"]["comparison"]["baselines"] if b["name"] == name]
    near(count, of, one["error"])
    near(own, own_of, _expected(run))
    assert one["difference"]["interval"][1] < 0


@FORMS.form(rf"{_P}")
def _share(run: Run, share: str) -> None:
    """A tile, or the threshold of equal costs: a share that is known."""
    costs = run.report["analyses"]["decisions"]["costs"] if run.report["analyses"] else None
    known = [_expected(run), _error(run), _majority(run)] + [0.5] * (costs is not None)
    trained = run.report["trained"]
    if trained is not None:
        known.append(trained["n_errors"] / trained["n_rows"])
        known.append(float(run.report["leave_one_out"]["majority_error"]))
    digits = 10.0 ** -len(share.rstrip("%").partition(".")[2])
    assert any(abs(number(share) - 100 * one) <= 0.5001 * digits for one in known), f"{known}"


@FORMS.form(rf"95% CI {_P} to {_P}(, to expect on new rows)?(?:, .*)?")
def _interval(run: Run, low: str, high: str, expected: str | None) -> None:
    ends = run.report["summary"]["corrected_error_interval"] if expected else None
    if ends is None:
        figures = run.report["trained"] or run.report["leave_one_out"]
        ends = wilson(figures["n_errors"] / figures["n_rows"], figures["n_rows"])
    agrees(low, ends[0])
    agrees(high, ends[1])


@FORMS.form(r"([\d.]+)")
def _count(run: Run, count: str) -> None:
    """A tile, a value of the grid, or a cost of 100 rows."""
    summary, search = run.report["summary"], run.report["search"]
    known = [summary["n_support"], len(search["converged"]), summary["n_compared"]]
    costs = run.report["analyses"]["decisions"]["costs"] if run.report["analyses"] else None
    if costs is not None:
        n = costs["n_rows"] + costs["n_other"]
        (equal,) = [one for one in costs["steps"] if one["ratio"] == 1.0]
        known += [100 * equal["cost"], 100 * sum(costs["own"]) / n, 100 * _majority(run)]
    digit = 10.0 ** -len(count.partition(".")[2])
    values = [abs(number(count) - one) <= 0.5001 * digit for one in known]
    assert any(values) or "." in count, f"{known}"


@FORMS.form(rf"(\d+) of (\d+) \({_P}\)")
def _of_class(run: Run, count: str, of: str, share: str) -> None:
    """Missed rows, or false alarms, of all that could be."""
    agrees(share, int(count) / int(of))
    costs = run.report["analyses"]["decisions"]["costs"]
    assert int(of) in (costs["n_rows"], costs["n_other"])
    if run.studied_all:
        own = int(_of(run, str(costs["label"])).sum())
        assert int(of) in (own, run.y.size - own), f"{own} rows are of the class"


@FORMS.form(r"Target '(.*)' has (\d+) different integers; each is treated as a class\.")
def _each_a_class(run: Run, name: str, count: str) -> None:
    assert int(count) == run.labelled[name].nunique()


@FORMS.form(r"('.*') (?:has|have) a single row(?: each)?\.")
def _single_rows(run: Run, names: str) -> None:
    for label in re.findall(r"'(.*?)'(?:,|$)", names):
        assert _of(run, label).sum() == 1, f"'{label}' has {_of(run, label).sum()} rows"


@FORMS.form(r"There is no learning curve: half of the rows would have fewer than 2 of .*")
def _no_curve(run: Run) -> None:
    assert pd.Series(run.y).value_counts().min() < 4 or run.y.size < 40


@FORMS.form(r"The error depends most on (.*)\.")
def _depends(run: Run, names: str) -> None:
    """Their influence, which `check_figures` checks for the first, is the greatest."""
    features = run.report["analyses"]["influence"]["features"]
    said = re.findall(r"'(.*?)'", names)
    assert said == [one["name"] for one in features[: len(said)]]


@FORMS.form(rf"corrected error \.+ {_P} \(95% CI {_P} to {_P}\).*")
def _corrected(run: Run, value: str, low: str, high: str) -> None:
    summary = run.report["summary"]
    agrees(value, summary["corrected_error"])
    for text, end in zip((low, high), summary["corrected_error_interval"], strict=True):
        agrees(text, end)
    assert number(low) <= number(value) <= number(high)
    assert _error(run) - 1e-9 <= summary["corrected_error"] <= _error(run) + 0.15


@FORMS.form(
    rf"leave-one-out error \.+ {_P} \((\d+) of (\d+) rows(?:; 95% CI {_P} to {_P})?\)(?:, the best "
    r"of (\d+) candidates)?(?:, .*)?"
)
def _left_out(run: Run, share: str, n: str, of: str, low: str, high: str, best: str) -> None:
    agrees(share, int(n) / int(of))
    if not run.sampled:
        assert int(of) == run.y.size
        assert abs(int(n) - int((run.machine.loo_predict_ != run.y).sum())) <= 2
    if low:
        for text, end in zip((low, high), wilson(int(n) / int(of), int(of)), strict=True):
            agrees(text, end)
    if best:
        assert int(best) == len(run.report["search"]["scores"]["accuracy"])


@FORMS.form(
    rf"majority-class error \.+ {_P}(?: of the sample)?(?:; the model makes {_P} fewer errors)?.*"
)
def _against_majority(run: Run, share: str, fewer: str | None) -> None:
    agrees(share, _majority(run))
    if fewer:
        agrees(fewer, 1 - _expected(run) / _majority(run))


@FORMS.form(rf"(\d+) (.+) {_P}")
def _printed_row(run: Run, row: str, labels: str, probability: str) -> None:
    """The label is that of the file; of two, the other one is more probable."""
    label = run.label(row)
    assert labels.startswith(f"{label} "), f"row {row} is labelled {label}"
    predicted = labels.removeprefix(f"{label} ")
    assert predicted in _labels(run)
    assert predicted != label
    assert 0 <= number(probability) <= (50 if len(_labels(run)) == 2 else 100)


@FORMS.form(r"Row (\d+): labelled (.*), predicted (.*)")
def _doubted_row(run: Run, row: str, label: str, predicted: str) -> None:
    assert run.label(row) == label, f"row {row} is labelled {run.label(row)}"
    assert predicted in _labels(run)
    assert predicted != label


@FORMS.form(
    r"Leaving out each of (\d+) rows in turn, (\d+) would be misclassified\.",
)
def _in_turn(run: Run, n: str, wrong: str) -> None:
    assert int(wrong) == run.report["leave_one_out"]["n_errors"]
    assert run.sampled or int(n) == run.y.size


@FORMS.form(r"(\d+) rows, (\d+) features?, (\d+) classes.*")
def _meta(run: Run, n: str, d: str, k: str) -> None:
    assert int(n) == run.y.size
    assert int(k) == np.unique(run.y).size
    assert int(d) == pd.DataFrame(run.given).shape[1]


@FORMS.form(
    rf"{_P} of the (?:rows|sample); the span-rule is exact for (\d+) of (\d+)(?: over all pairs)?"
)
def _support_vectors(run: Run, share: str, exact: str, of: str) -> None:
    agrees(share, run.report["summary"]["n_support"] / run.report["leave_one_out"]["n_rows"])
    if not run.sampled:
        own = _support(run)
        assert abs(own - run.report["summary"]["n_support"]) <= _room(run, own), f"SVC has {own}"


@FORMS.form(
    r"The span-rule is exact for (\d+) of (\d+) rows \((\S+)\): (\d+) are not support vectors, .* "
    r"holds for (\d+) of the (\d+) support vectors\."
)
def _trust(run: Run, known: str, n: str, share: str, outside: str, good: str, of: str) -> None:
    assert int(known) == int(outside) + int(good)
    assert int(outside) + int(of) == int(n)
    agrees(share, int(known) / int(n))
    if not run.sampled and len(_labels(run)) == 2:
        assert abs(_support(run) - int(of)) <= _room(run, int(of)), f"SVC has {_support(run)}"


@FORMS.form(r"AUC (\S+) for (.*) \(95% CI (\S+) to (\S+)\)\.")
def _area(run: Run, area: str, label: str, low: str, high: str) -> None:
    own = _of(run, label)
    a, n, m = number(area), int(own.sum()), int((~own).sum())
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    v = (a * (1 - a) + (n - 1) * (q1 - a * a) + (m - 1) * (q2 - a * a)) / (n * m)
    agrees(low, max(a - 1.96 * v**0.5, 0.0), 2e-3)
    agrees(high, min(a + 1.96 * v**0.5, 1.0), 2e-3)


@FORMS.form(r"Brier score (\S+)\.")
def _brier(run: Run, value: str) -> None:
    if run.sampled or len(_labels(run)) > 2:
        return
    of = run.report["leave_one_out"]["calibration"]["of"]
    place = _labels(run).index(of)
    probability = run.machine.left_out_.probabilities[:, place]
    agrees(value, brier_score_loss(_of(run, of), probability.clip(0, 1)))


@FORMS.form(r"Average precision (\S+) for '(.*)'\.")
def _average(run: Run, value: str, label: str) -> None:
    (one,) = run.report["analyses"]["decisions"]["curves"]
    agrees(value, one["average"])
    assert str(one["label"]) == label


@FORMS.form(r"The weights of the classes are searched, too: the largest class is (\S+) times .*")
def _weights(run: Run, times: str) -> None:
    sizes = pd.Series(run.y).value_counts()
    agrees(times.rstrip(","), sizes.iloc[0] / sizes.iloc[-1])


@FORMS.form(
    r"Of 100 left-out rows the selected model misclassifies (\S+) (fewer|more) than the strongest "
    r"of these \((.*); 95% CI (\S+) to (\S+)\)\."
)
def _verdict(run: Run, value: str, word: str, name: str, low: str, high: str) -> None:
    baselines = run.report["analyses"]["comparison"]["baselines"]
    best = min(baselines, key=lambda one: one["error"])
    assert best["name"] == name
    agrees(value, 100 * abs(best["difference"]["value"]))
    assert (best["difference"]["value"] > 0) == (word == "fewer")
    ends = sorted(abs(100 * end) for end in best["difference"]["interval"])
    agrees(low, ends[0])
    agrees(high, ends[1])


@FORMS.form(
    r"(?:Chance can explain the difference between the selected model and )the strongest of these "
    r"\(.*\d.*\).*"
)
def _chance(run: Run) -> None:
    best = min(run.report["analyses"]["comparison"]["baselines"], key=lambda one: one["error"])
    assert best["difference"]["interval"][0] <= 0 <= best["difference"]["interval"][1]


@FORMS.form(r"The influence of the other (\d+) features may be due to chance\.")
def _other_features(run: Run, count: str) -> None:
    features = run.report["analyses"]["influence"]["features"]
    assert int(count) == sum(one["interval"][0] <= 0 for one in features)


@FORMS.form(
    r"From (\d+) to (\d+) rows the error changed by (\S+) percentage points \(95% CI (\S+) to "
    r"(\S+)\)(: more rows .*|, too uncertain.*|\..*)"
)
def _more_rows(run: Run, half: str, n: str, change: str, low: str, high: str, meaning: str) -> None:
    curve = run.report["analyses"]["learning_curve"]
    before, last = curve["points"][-2:]
    assert (int(half), int(n)) == (before["n_rows"], last["n_rows"])
    agrees(change, 100 * (last["error"] - before["error"]))
    assert number(low) <= number(change) <= number(high)
    if "probably" in meaning:
        assert number(high) < 0.05


@FORMS.form(
    r"The feature '.*' (?:looks like|numbers the rows|alone tells).* (\d+) of (\d+) rows.*",
)
def _leak(run: Run, right: str, of: str) -> None:
    found = run.report["analyses"]["leaks"]["found"]
    assert int(of) - int(right) in [one["n_wrong"] for one in found]


@FORMS.form(r"Classes ?: none is often missed: (\S+) to (\S+) of each are found\.")
def _none_missed(run: Run, low: str, high: str) -> None:
    found = recall_score(run.y, run.machine.loo_predict_, average=None)
    if not run.sampled:
        agrees(low, min(found))
        agrees(high, max(found))


@FORMS.form(r"Classes ?: '(.*)' is (?:often missed|missed most) \((\d+) of (\d+) of its rows\).*")
def _missed(run: Run, label: str, count: str, of: str) -> None:
    own = _of(run, label)
    if not run.sampled:
        near(count, of, float((run.machine.loo_predict_[own] != run.y[own]).mean()))


@FORMS.form(
    r"Labels ?: look at rows? (.*) first; (\d+) are doubted\.",
    r"Labels ?: look at row (.*), the (only) one that is doubted\.",
)
def _labels_to_see(run: Run, rows: str, n: str) -> None:
    assert (1 if n == "only" else int(n)) == run.report["suspicious"]["n_doubted"]
    assert rows.split(", ")[0] == str(run.report["suspicious"]["rows"][0]["row_id"])


@FORMS.form(
    r"(\d+) rows? (?:are|is) contradicted by the others.*",
    r"The first (\d+) \(bold\) are doubted: .*",
)
def _contradicted(run: Run, n: str) -> None:
    found = run.report["suspicious"]
    known = [found["n_contradicted"], found["n_doubted"], len(found["rows"])]
    assert int(n) in known, f"{known}"


@FORMS.form(
    r"[\d⁻⁰¹²³⁴⁵⁶⁷⁸⁹. ]+ to .* values.*", r"The best \d+ candidates",
    r"Groups of about equal size, with 95% CIs.*",
    r"The difference is how many more of 100 rows.*", r"Row 1 is the first row of data.*",
    r"The \d+ (?:greatest|most) .*", r"Below 0, .*", r"With 95% CIs, for left-out rows\.",
    r"Left-out error of the selected setting .*", r"may be chance: the interval reaches 0\.",
    r"The cheaper of the two errors costs 1\.", r"(?:at least|at most) \S+",
    r"cost of 100 rows", r"Shown: .*", r"A missed .*", r"'.*' missed false alarms\.",
    r"Compared .*", r"The support vectors of all \d+ pairs of classes",
    r"The confusion matrix of all \d+ classes", r"Precision and recall of \d+ classes",
    r"above 0 below 0\.", r"The intervals hold .*", r"The vertical line is .*", r"Missing a '.*",
    r"The cheapest threshold follows from that: .*", r"Of the other \d+, those whose .*",
    r"Counts are summed over .*", r"Probabilities are those of .*", r"The rows with the most .*",
    r"(?:none, )?.{0,20}: \d+(?:\.\d+)?(?:[,;] .*)?",
)  # fmt: skip
def _of_the_json(run: Run, *shown: str) -> None:
    """Figures of tiles and tables, which `check_figures` checks, axes, and names of files."""
