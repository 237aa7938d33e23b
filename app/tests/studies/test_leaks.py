"""Leaks: what gives the target away is named, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from spansvm import SpanSVC
from spansvm_app.studies import Subject, find_leaks, measure_influence
from spansvm_app.studies.association import explained_share, strongest
from spansvm_app.studies.columns import codes_of, column_of


def leaks_in(frame, y, C=10, gamma=None, groups=None):
    frame = pd.DataFrame(frame)
    frame.columns = [str(name) for name in frame.columns]
    steps = make_column_transformer(
        (MinMaxScaler(), make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
    )
    model = make_pipeline(steps, SpanSVC(C=C, gamma=gamma or 1 / frame.shape[1]))
    model.fit(frame, y, **({} if groups is None else {"spansvc__groups": groups}))
    return find_leaks(Subject.of(model, frame, np.asarray(y), list(frame.columns)))


def noisy(y, share=0.01, seed=0):
    """Labels of which a share is drawn anew."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(y.size) < share, rng.choice(np.unique(y), y.size), y)


DATA = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}

#: Left-out errors without any leak.
ERRORS = {"iris": 0.027, "wine": 0.017, "cancer": 0.026}

PLANTED = {
    "copy": lambda y: y.astype(float),
    "noisy copy": lambda y: noisy(y).astype(float),
    "monotone": lambda y: np.exp(3.0 * y),
    "other order": lambda y: (y - 0.7) ** 2,
    "text": lambda y: np.array([f"code {9 - label}" for label in y], dtype=object),
    "noisy text": lambda y: np.array([f"code {9 - label}" for label in noisy(y)], dtype=object),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("planted", PLANTED)
def test_a_copy_of_the_target_is_named(name, planted):
    data = DATA[name](as_frame=True)
    y = np.asarray(data.target)
    leaks = leaks_in(data.data.assign(leak=PLANTED[planted](y)), y)
    assert [(leak.name, leak.kind) for leak in leaks.found] == [("leak", "copy")]
    assert leaks.found[0].accuracy >= 0.98
    assert leaks.found[0].error_without == pytest.approx(ERRORS[name], abs=0.02)
    assert leaks.error_without_all == leaks.found[0].error_without


@pytest.mark.parametrize("name", DATA)
def test_ordinary_data_have_no_leaks(name):
    data = DATA[name](as_frame=True)
    plain = leaks_in(data.data, data.target)
    assert plain.found == []
    assert plain.error == pytest.approx(ERRORS[name], abs=0.001)
    # A number that follows the order of a file that is not sorted says nothing.
    order = np.random.default_rng(0).permutation(len(data.data))
    frame = data.data.iloc[order].assign(number=np.arange(order.size))
    assert leaks_in(frame, np.asarray(data.target)[order]).found == []


def test_digits_and_noise_have_no_leaks():
    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    assert leaks_in(X[:700], y[:700]).found == []
    assert leaks_in(rng.normal(size=(100, 200)), rng.integers(0, 2, 100)).found == []
    # With sixteen rows and a thousand columns of two values, some column equals the target.
    y = np.arange(16) % 2
    X = rng.integers(0, 2, size=(16, 1000)).astype(float)
    X[:, 7] = y
    assert leaks_in(X, y).found == []
    X, y = make_blobs(300, 2, centers=2, random_state=0)
    assert leaks_in(X, y).found == []
    assert leaks_in(X[:, :1], y).found == []


@pytest.mark.parametrize("name", DATA)
def test_a_row_number_in_the_order_of_the_target_is_named(name):
    data = DATA[name](as_frame=True)
    order = np.argsort(data.target, kind="stable")
    frame = data.data.iloc[order].assign(number=1 + np.arange(order.size))
    leaks = leaks_in(frame, np.asarray(data.target)[order])
    assert [(leak.name, leak.kind) for leak in leaks.found] == [("number", "counter")]
    # Shuffled rows keep their numbers.
    order = np.random.default_rng(0).permutation(order.size)
    shuffled = leaks_in(frame.iloc[order], np.sort(data.target)[order])
    assert [(leak.name, leak.kind) for leak in shuffled.found] == [("number", "counter")]


def test_a_column_that_tells_more_than_all_others_is_named_with_the_error_without_it():
    X, y = make_classification(600, 8, n_informative=4, flip_y=0.1, random_state=1)
    rng, spoiled = np.random.default_rng(0), noisy(y)
    jitter = spoiled + 0.3 * rng.random(y.size)
    boats = np.array([f"boat {row % 30}" if label else "none" for row, label in enumerate(spoiled)])
    plain = leaks_in(X, y, C=100, gamma=0.1)
    assert plain.found == []
    for values in (jitter, boats.astype(object)):
        leaks = leaks_in(pd.DataFrame(X).assign(leak=values), y, gamma=0.1)
        (leak,) = leaks.found
        assert (leak.name, leak.kind) == ("leak", "alone")
        assert leaks.error < 0.05
        assert leak.error_without == pytest.approx(plain.error, abs=0.06)


def test_two_leaks_do_not_hide_each_other():
    X, y = load_breast_cancer(return_X_y=True)
    texts = np.array(["b" if label else "m" for label in y], dtype=object)
    leaks = leaks_in(pd.DataFrame(X).assign(first=y * 2.0, second=texts), y)
    assert {leak.name for leak in leaks.found} == {"first", "second"}
    assert all(leak.error_without == 0.0 for leak in leaks.found)
    assert leaks.error_without_all > 0.01


def test_a_setting_that_suits_the_leak_does_not_judge_the_rest():
    X, y = load_breast_cancer(return_X_y=True)
    leaks = leaks_in(pd.DataFrame(X).assign(leak=y * 1.0), y, C=0.05, gamma=0.01)
    # Without the leak this setting always says the largest class: 37 %.
    assert leaks.error_without_all < 0.1


def test_a_column_that_is_constant_in_groups_is_no_leak():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    y = np.repeat(rng.integers(0, 2, 40), 10)
    person = np.array([f"person {group}" for group in groups], dtype=object)
    frame = pd.DataFrame(rng.normal(size=(400, 3))).assign(person=person)
    assert leaks_in(frame, y, groups=groups).found == []
    assert [leak.name for leak in leaks_in(frame, y).found] == ["person"]


def test_the_strongest_columns_are_those_that_explain_most():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    value = (y + (rng.random(3000) < 0.3)).astype(float)
    names = np.array([f"v{number:g}" for number in value], dtype=object)
    assert explained_share(value, y) == pytest.approx(explained_share(names, y))
    each = np.array([f"only {row}" for row in range(3000)], dtype=object)
    assert strongest([rng.normal(size=3000), value, each], y, 1) == [1]


@pytest.mark.parametrize("kind", ["category", "Int64", "string", "bool", "object"])
def test_columns_of_every_type_are_looked_at(kind):
    data = load_breast_cancer(as_frame=True)
    frame, y = data.data.iloc[:, :3], np.asarray(data.target)
    leak = pd.array(y, dtype="Int64") if kind == "Int64" else pd.Series(np.where(y, "a", "b"))
    if kind == "bool":
        leak = y == 1
    elif kind == "object":
        leak = np.where(y, None, "known")
    elif kind != "Int64":
        leak = leak.astype(kind)
    frame = frame.assign(leak=leak)
    steps = make_column_transformer(
        (MinMaxScaler(), list(frame.columns[:3])),
        (OneHotEncoder(handle_unknown="ignore"), ["leak"]),
    )
    model = make_pipeline(steps, SpanSVC(C=10, gamma=0.5)).fit(frame, y)
    subject = Subject.of(model, frame, y, list(frame.columns))
    leaks = find_leaks(subject)
    assert [(one.name, one.kind) for one in leaks.found] == [("leak", "copy")]
    assert leaks.error_without_all > 0.05
    assert measure_influence(subject).features[0].name == "leak"


def test_a_missing_value_is_a_value():
    numbers = pd.Series([1.0, None, 2.0, None])
    for values in (numbers, numbers.astype("Int64"), pd.Series(["a", None, "b", pd.NA])):
        frame = pd.DataFrame({"x": values})
        assert codes_of(column_of(frame, 0)).tolist() in ([0, 2, 1, 2], [1, 0, 2, 0])
