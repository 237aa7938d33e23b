"""Saved regressions: as skops files with their intervals, and as files of LIBSVM."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spansvm import SpanSVR
from spansvm.models import (
    interval_of,
    libsvm_reason,
    load_model,
    save_libsvm,
    save_libsvm_data,
    save_model,
    skops_file,
    transformed,
    without_training_rows,
)

skops_io = pytest.importorskip("skops.io")
SVM_PREDICT = shutil.which("svm-predict")


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return X, y


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    return make_pipeline(StandardScaler(), SpanSVR(C=50, gamma=0.02, epsilon=10)).fit(
        X[:150], y[:150]
    )


@pytest.mark.skipif(SVM_PREDICT is None, reason="svm-predict is not installed")
@pytest.mark.parametrize("kind", [SpanSVR, SVR])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 0.5}],
)
def test_svm_predict_predicts_what_the_model_does(tmp_path, data, kind, parameters):
    X, y = data
    model = make_pipeline(StandardScaler(), kind(C=30, epsilon=5, **parameters))
    model.fit(X[::2], y[::2])
    save_libsvm(tmp_path / "model", model)
    save_libsvm_data(tmp_path / "rows", transformed(model, X), y, classes=None)
    assert SVM_PREDICT is not None
    command = [SVM_PREDICT, tmp_path / "rows", tmp_path / "model", tmp_path / "said"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    said = model.predict(X)
    np.testing.assert_allclose(np.loadtxt(tmp_path / "said"), said, rtol=1e-6)
    error = float(done.stdout.split("=")[1].split()[0])  # of the targets that were written
    assert error == pytest.approx(((y - said) ** 2).mean(), rel=1e-4)


def test_regressions_that_libsvm_cannot_hold_have_a_reason(data):
    X, y = data
    gram = SpanSVR(kernel="precomputed").fit(X @ X.T, y)
    assert "precomputed" in str(libsvm_reason(gram))
    assert libsvm_reason(SpanSVR().fit(X, y)) is None


_AGAIN = """
import pickle
import numpy as np
from spansvm.models import load_model
pickle.load = pickle.loads = pickle.Unpickler = None
saved = load_model("model.skops").model
X = np.load("X.npy")
np.save("said.npy", saved.predict(X))
np.save("ends.npy", saved[-1].predict_interval(saved[:-1].transform(X), [0.5, 0.9]))
np.save("left.npy", saved[-1].loo_predict_)
"""


def test_a_saved_regression_gives_all_it_gave_in_a_fresh_process(tmp_path, data, model):
    X, _ = data
    save_model(tmp_path / "model.skops", model)
    np.save(tmp_path / "X.npy", X)
    subprocess.run([sys.executable, "-c", _AGAIN], cwd=tmp_path, check=True)
    assert np.array_equal(np.load(tmp_path / "said.npy"), model.predict(X))
    ends = model[-1].predict_interval(model[:-1].transform(X), [0.5, 0.9])
    np.testing.assert_allclose(np.load(tmp_path / "ends.npy"), ends, atol=1e-9)
    assert np.array_equal(np.load(tmp_path / "left.npy"), model[-1].loo_predict_)


def test_types_of_a_regression_are_all_known(tmp_path, data, model):
    save_model(tmp_path / "model.skops", model)
    found = skops_io.get_untrusted_types(file=tmp_path / "model.skops")
    assert set(found) <= set(skops_file.TRUSTED)
    assert {"spansvm.estimators.svr.SpanSVR", "spansvm.regression.intervals.Jackknife"} <= set(
        found
    )


def test_a_regression_of_many_rows_is_saved_with_intervals_of_one_width(
    tmp_path, data, model, monkeypatch
):
    X, y = data
    monkeypatch.setattr(skops_file, "MOST_FOLLOWED", 100)
    save_model(tmp_path / "model.skops", model)
    saved = load_model(tmp_path / "model.skops").model
    assert np.array_equal(saved.predict(X), model.predict(X))
    ends = interval_of(saved, X, 0.9)
    assert ends is not None
    # The left-out residuals of these rows, retrained by scikit-learn.
    rows, sizes = StandardScaler().fit(X[:150]).transform(X[:150]), np.empty(150)
    for row in range(150):
        rest = np.arange(150) != row
        other = SVR(C=50, gamma=0.02, epsilon=10, tol=1e-9).fit(rows[rest], y[:150][rest])
        sizes[row] = abs(y[row] - other.predict(rows[row : row + 1])[0])
    half = (ends[:, 1] - ends[:, 0]) / 2
    assert np.ptp(half) < 1e-9 * half[0]
    assert half[0] == pytest.approx(np.sort(sizes)[int(np.ceil(0.9 * 151)) - 1], rel=0.02)
    np.testing.assert_allclose(ends.mean(axis=1), model.predict(X))
    assert 0.8 < ((ends[:, 0] <= y) & (y <= ends[:, 1])).mean() < 0.97
    small = Path(tmp_path / "model.skops").stat().st_size
    monkeypatch.undo()
    save_model(tmp_path / "whole.skops", model)
    assert small < Path(tmp_path / "whole.skops").stat().st_size


def test_groups_and_models_without_rows_are_saved(tmp_path, data, monkeypatch):
    X, y = data
    model = SpanSVR(C=50).fit(X[:90], y[:90], groups=np.arange(90) // 3)
    for most in (100, 50):
        monkeypatch.setattr(skops_file, "MOST_FOLLOWED", most)
        once = without_training_rows(model)
        again = without_training_rows(once)
        assert np.array_equal(once.predict_interval(X, 0.9), again.predict_interval(X, 0.9))
        save_model(tmp_path / "model.skops", model)
        saved = load_model(tmp_path / "model.skops").model
        assert np.array_equal(saved.predict_interval(X, 0.9), once.predict_interval(X, 0.9))
    assert interval_of(SVR().fit(X, y), X, 0.9) is None
