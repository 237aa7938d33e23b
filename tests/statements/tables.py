"""What is said of the file, of its doubted rows and of the search, for both tasks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, cross_val_predict

from .forms import Forms
from .reading import Run, agrees, number

__all__ = ["add_forms", "predicted_without", "reason_of", "values_of"]

#: Shares of values that differ, from which on a column names its rows.
_MANY = 0.5


def add_forms(forms: Forms) -> None:
    """Add the forms that classes and targets share."""
    for patterns, check in _SHARED:
        forms.form(*patterns)(check)


_SHARED: list[tuple[tuple[str, ...], Callable[..., Any]]] = []


def _form(*patterns: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(check: Callable[..., Any]) -> Callable[..., Any]:
        _SHARED.append((patterns, check))
        return check

    return add


def values_of(run: Run, name: str) -> pd.Series:
    """The values of a column that are not missing, of rows with a target."""
    assert name in run.table.columns, f"no column {name}"
    return run.labelled[name].dropna().str.strip()


def _numbers(values: pd.Series) -> pd.Series:
    """As numbers; decimal commas count."""
    found = pd.to_numeric(values.str.replace(",", ".", regex=False), errors="coerce")
    return found.dropna()


# The file ----------------------------------------------------------------------------------------


@_form(r".*: (\d+) rows, (\d+) features? \((.*?)\); target '(.*?)' \(.*\)\.")
def _introduced(run: Run, n_rows: str, n_features: str, kinds: str, target: str) -> None:
    """Rows are those with a target; the kinds of features add up, and each is one of the file's."""
    assert target == run.target
    assert int(n_rows) == len(run.labelled), f"{len(run.labelled)} rows have a target"
    frame = pd.DataFrame(run.given)
    assert int(n_features) == frame.shape[1]
    counts = {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", kinds)}
    assert sum(counts.values()) == frame.shape[1]
    n_numeric = sum(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)
    assert counts.get("numeric", 0) == n_numeric, f"{n_numeric} columns are numeric"
    for name in set(frame.columns) & set(run.table.columns):
        values = values_of(run, name)
        if pd.api.types.is_numeric_dtype(frame[name].dtype):
            assert len(_numbers(values)) >= 0.9 * len(values), f"{name} holds texts"


@_form(r"The target '(.*)' of .* (?:has|holds) (\d+) (?:different (whole )?numbers|texts).*")
def _target(run: Run, name: str, count: str, whole: str | None) -> None:
    values = values_of(run, name)
    found = pd.to_numeric(values, errors="coerce")
    if "regression." in str(run.report["facts"]["task"]["why"]) or found.notna().all():
        assert int(count) == found.nunique(), f"{found.nunique()} values"
        assert bool(whole) == bool((found == found.round()).all()), "whole or not"
    else:
        assert int(count) == values.nunique(), f"{values.nunique()} values"


@_form(r"(\d+) of (\d+) rows ha(?:s|ve) no value in the target '(.*)' and (?:is|are) left out\.")
def _unlabelled(run: Run, n: str, of: str, target: str) -> None:
    assert int(of) == len(run.table)
    assert int(n) == int(run.table[target].isna().sum())


@_form(r"Rows without a label that were left out: (\d+)\.")
def _left_without(run: Run, n: str) -> None:
    assert int(n) == int(run.table[run.target].isna().sum())


@_form(r"Columns? (.*) ha(?:s|ve) another value in most rows, as names of rows have, so .*")
def _names(run: Run, names: str) -> None:
    for name in re.findall(r"'(.*?)'(?:,|$)", names):
        values = values_of(run, name)
        assert values.nunique() > _MANY * len(values), f"{name}: {values.nunique()} values"
        assert name not in pd.DataFrame(run.given).columns


@_form(r"Columns? (.*) ha(?:s|ve) a single value(?: each)?, so (?:it tells|they tell) nothing; .*")
def _single(run: Run, names: str) -> None:
    for name in re.findall(r"'(.*?)'(?:,|$)", names):
        assert values_of(run, name).nunique() == 1, f"{name} has several values"


@_form(r"Columns? (.*) ha(?:s|ve) no values and (?:is|are) left out\.")
def _absent(run: Run, names: str) -> None:
    for name in re.findall(r"'(.*?)'(?:,|$)", names):
        assert values_of(run, name).empty, f"{name} has values"


@_form(r"Missing values are filled in \((.*?)\): (.*)\.")
def _filled(run: Run, ways: str, counts: str) -> None:
    """So many are missing in each column by pandas, and in so many columns."""
    missing = run.labelled[[str(one) for one in pd.DataFrame(run.given).columns]].isna().sum()
    for count, name in re.findall(r"(\d+) in '(.*?)'(?:,| \(|$)", counts):
        assert int(count) == missing[name], f"{missing[name]} are missing in '{name}'"
    total = re.search(r"\((\d+) in all\)", counts)
    named = int(total[1]) if total else len(re.findall(r"\d+ in '", counts))
    assert named == int((missing > 0).sum()), f"{int((missing > 0).sum())} columns lack values"
    # The program that the report gives does that, with scikit-learn's steps.
    code = run.report["recipe"]["code"]
    assert "median" not in ways or "strategy='median'" in code, "no median"
    assert "a category of their own" not in ways or "(missing)" in code, "no category"


@_form(r"Where numbers are missing in (.*) is a feature, too\.")
def _marked(run: Run, names: str) -> None:
    """The steps of scikit-learn have a column of their own for each."""
    (marked,) = [
        columns
        for name, _, columns in run.names["model"][0].transformers_
        if name == "missing"
    ]  # fmt: skip
    total = re.search(r"\((\d+) in all\)", names)
    assert len(marked) == (int(total[1]) if total else len(re.findall(r"'.*?'", names)))
    for name in re.findall(r"'(.*?)'(?:,| \(|$)", names):
        assert name in marked, f"{name} is not marked"
        assert run.labelled[name].isna().any()


@_form(r"Column '(.*)' holds texts of (\d+) words on average: .*")
def _texts(run: Run, name: str, words: str) -> None:
    agrees(words, float(values_of(run, name).str.split().str.len().mean()))


@_form(r"Column '(.*)' holds few different values, (.*) among its numbers, so each is a category.*")
def _few(run: Run, name: str, others: str) -> None:
    values = values_of(run, name)
    given = re.findall(r"'(.*?)'(?:,|$)", others)
    strange = set(values) - set(values[pd.to_numeric(values, errors="coerce").notna()])
    assert set(given) <= strange, f"{strange} are no numbers"
    assert not pd.api.types.is_numeric_dtype(pd.DataFrame(run.given)[name].dtype)


@_form(
    r"Column '(.*)' holds numbers, and (.*) in (\d+) rows?, which is taken for a missing value\."
)
def _stray(run: Run, name: str, others: str, n: str) -> None:
    values = values_of(run, name)
    assert int(n) == int(pd.to_numeric(values, errors="coerce").isna().sum())


@_form(
    r"Column '(.*)' (?:seems to hold names, not measurements \((\d+) different whole numbers in "
    r"(\d+) rows\)|has (\d+) different values in (\d+) rows); .*"
)
def _different(run: Run, name: str, n: str, of: str, count: str, rows: str) -> None:
    assert int(n or count) == values_of(run, name).nunique()
    assert int(of or rows) == len(run.labelled)


@_form(r"Column '(.*)' is missing in (\d+) of (\d+) rows, so it hardly tells anything; .*")
def _hardly_there(run: Run, name: str, n: str, of: str) -> None:
    assert int(n) == int(run.labelled[name].isna().sum())
    assert int(of) == len(run.labelled)


@_form(r"Column (\d+) of .* has no name and only numbers the rows; it is left out\.")
def _index(run: Run, place: str) -> None:
    values = pd.to_numeric(run.table.iloc[:, int(place) - 1])
    assert (values.diff().dropna() == 1).all()


@_form(
    r"To search (\d+) candidates on all (\d+) rows is much work, so candidates are compared on a "
    r"sample of (\d+) rows \(--sample (\d+)\), and the selected model is trained on all rows\. "
    r"--sample all searches all rows\.",
    r"To search (\d+) candidates on all (\d+) rows is much work, so candidates are compared on a "
    r"sample of (\d+) rows \(--sample (\d+)\), and the selected model is trained on all rows\.",
    r"To follow the left-out rows of (\d+) regressions is much work on all (\d+) rows, so "
    r"candidates are compared on a sample of (\d+) rows \(--sample (\d+)\), and the selected model "
    r"is trained on all rows\.",
)
def _sampled(run: Run, n: str, of: str, sample: str, option: str) -> None:
    assert run.sampled
    assert int(of) == len(run.labelled)
    assert sample == option
    assert int(sample) == run.report["facts"]["sample"]["n_rows"]
    assert int(n) == run.report["facts"]["search"]["n_planned"] or run.report["facts"]["widened"]


@_form(
    r"(\d+) of (\d+) rows? repeats? an earlier one in all features, (?:which stays .*|and if "
    r"copies leave together, (?:the error is|predictions are off by) (\S+) instead of (\S+?)); "
    r"if .*"
)
def _copies(run: Run, n: str, of: str, together: str | None, alone: str | None) -> None:
    """Rows are equal as scikit-learn's steps transform them."""
    if not run.sampled:
        assert int(of) == run.y.size
        assert int(n) == run.y.size - np.unique(run.kinds).size, "copies"
    assert together is None or number(together) != number(alone or "0")


@_form(r"(\d+) of (\d+) rows have an identical one, which stays when they are left out: .*")
def _identical(run: Run, n: str, of: str) -> None:
    if not run.sampled:
        _, own, counts = np.unique(run.kinds, return_inverse=True, return_counts=True)
        alike = int((counts[own] > 1).sum())
        assert int(n) == alike if int(of) == run.y.size else int(n) <= alike, f"{alike} rows"


@_form(r".*; if there is none, add one that numbers blocks of (\d+) rows\.")
def _blocks(run: Run, size: str) -> None:
    assert 10 * int(size) <= run.report["summary"]["n_rows"]


@_form(r"To save time, these studies are of .*, trained on (\d+) of the (\d+) rows\.")
def _studied(run: Run, n: str, of: str) -> None:
    assert int(n) == run.report["analyses"]["n_rows"]
    assert run.sampled or int(of) == run.y.size


# The search --------------------------------------------------------------------------------------


@_form(r"(\d+)/(\d+) candidates, best (\S+?)(?:, about .* left)?")
def _bar(run: Run, done: str, of: str, best: str) -> None:
    scores = [one for one in run.report["search"]["scores"][_score(run)] if one is not None]
    assert int(done) <= int(of) <= len(run.report["search"]["converged"])
    if best == "-":
        assert done == "0", "some are finished, but none is the best"
        return
    if done == of:
        agrees(best, max(scores))
    assert number(best) <= max(scores) + 1e-3


@_form(r"(accuracy|r2), best (\S+)")
def _best_score(run: Run, name: str, best: str) -> None:
    assert name == _score(run)
    agrees(best, max(one for one in run.report["search"]["scores"][name] if one is not None))


def _score(run: Run) -> str:
    return str(run.report["summary"]["score_name"])


@_form(r"best setting \.+ (.*)", r"(C = .*)")
def _setting(run: Run, setting: str) -> None:
    """The numbers are those of the model that the program of the report makes."""
    machine, given = run.machine, setting.partition(", class weights = ")
    for name, text in re.findall(r"(\w+) = (\S+?)(?:,|$)", given[0]):
        value = float(getattr(machine, name))
        said = (
            2.0 ** _raised(text[1:])
            if text[0] == "2" and text[1:] and text[1] in _SMALL
            else number(text)
        )
        assert abs(said / value - 1) < 1e-3, f"{name} is {value}"
    for label, weight in re.findall(r"(\S+): ([\d.]+\d)", given[2]):
        (value,) = [v for k, v in machine.class_weight.items() if str(k) == label]
        agrees(weight, value)


_SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"


def _raised(text: str) -> float:
    return float(text.translate(str.maketrans(_SMALL, "0123456789-")))


@_form(r"The best (\S+) was at the edge of the grid, so values (above|below) .* to (\S+)\.")
def _widened(run: Run, name: str, side: str, far: str) -> None:
    values = [one["values"][-1] for one in run.report["facts"]["widened"] if one["name"] == name]
    assert any(abs(number(far) / value - 1) < 1e-3 for value in values), f"{values}"


@_form(
    r"Searched (\d+) candidates in .*", r"Selected from (\d+) candidates\.",
    r"the best of (\d+) candidates(?:, .*)?", r"(\d+)/\d+ candidates",
    r"The uncorrected figure is the best of (\d+) on the same rows.*",
    r"The selected model is the best of (\d+) candidates on these same rows.*",
)  # fmt: skip
def _compared(run: Run, count: str) -> None:
    scores = run.report["search"]["scores"][_score(run)]
    n = sum(one is not None for one in scores)
    assert int(count) in (n, run.report["summary"]["n_compared"]), f"{n} candidates have a score"


@_form(r"(\d+) left-out rows, each feature permuted (\d+) times(?:; .*)?\.")
def _permuted(run: Run, n: str, repeats: str) -> None:
    found = run.report["analyses"]["influence"]
    assert (int(n), int(repeats)) == (found["n_rows"], found["n_repeats"])
    assert int(n) <= run.y.size


@_form(r"(\d+) candidates share the best score; .*")
def _shared_best(run: Run, count: str) -> None:
    scores = [one for one in run.report["search"]["scores"][_score(run)] if one is not None]
    assert int(count) == sum(one >= max(scores) - 1e-8 for one in scores)


@_form(r"Searching \S+: (\d+) candidates by .*")
def _planned(run: Run, count: str) -> None:
    assert (
        int(count) == run.report["facts"]["search"]["n_planned"] or run.report["facts"]["widened"]
    )


@_form(r"Of (?:two )?normal residuals, about 3 of 1000 are larger than 3; here (\d+) of (\d+)\.")
def _residuals(run: Run, n: str, of: str) -> None:
    assert int(n) == run.report["doubtful"]["n_doubtful"]
    assert run.sampled or int(of) == run.y.size


@_form(
    r"This will take about .*", r"Trained it in .*", r".* s, and .* s to train .*",
    r"Training the selected model on all \d+ rows.*", r"Leaving out each row.*",
    r"Report: .*", r"Model: .*", r"Committee: .*", r"\S+\.csv(?: · .*)?",
    r"--(?:sample|candidates|components) .*",
)  # fmt: skip
def _of_this_run(run: Run, *shown: str) -> None:
    """Times, which nothing else knows, and names of files."""


def check_folds(run: Run, machine: Any, folds: Any) -> np.ndarray:
    """Predictions in folds by scikit-learn alone, from the rows as they are given."""
    return np.asarray(cross_val_predict(run.whole(machine), run.given, run.y, cv=folds))


def reason_of(run: Run, without: str) -> dict[str, Any]:
    """What makes errors too good, by the beginning of its sentence."""
    (found,) = [one for one in run.report["overstated"] if one["without"].startswith(without)]
    return dict(found)


def predicted_without(run: Run, reason: dict[str, Any], machine: Any) -> np.ndarray | None:
    """Predictions by scikit-learn where copies, or neighbours, are never apart; None of a leak."""
    if reason["topic"] == "Features" or run.sampled:
        return None
    units = run.kinds
    if reason["topic"] == "Neighbours":
        units = np.arange(run.y.size) // int(re.search(r"blocks of (\d+)", reason["advice"])[1])
    folds = GroupKFold(min(50, np.unique(units).size)).split(run.given, run.y, units)
    return check_folds(run, machine, list(folds))
