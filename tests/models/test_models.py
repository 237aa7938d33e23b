from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSVC
from spansvm.errors import UserError
from spansvm.models import (
    libsvm_labels,
    libsvm_reason,
    load_model,
    save_libsvm,
    save_libsvm_data,
    save_model,
    transformed,
)

skops_io = pytest.importorskip("skops.io")
SVM_PREDICT = shutil.which("svm-predict")
needs_libsvm = pytest.mark.skipif(SVM_PREDICT is None, reason="svm-predict is not installed")


def libsvm_predictions(folder: Path, model, X, y) -> np.ndarray:
    """What LIBSVM's own program predicts."""
    svm = model[-1] if hasattr(model, "steps") else model
    save_libsvm(folder / "model", model)
    save_libsvm_data(folder / "rows", transformed(model, X), y, classes=svm.classes_)
    assert SVM_PREDICT is not None
    command = [SVM_PREDICT, folder / "rows", folder / "model", folder / "predicted"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    predicted = np.loadtxt(folder / "predicted").astype(int)
    numbers = libsvm_labels(svm.classes_)
    expected = np.array([numbers[i] for i in np.searchsorted(svm.classes_, y)])
    assert f"({(predicted == expected).sum()}/{len(predicted)})" in done.stdout
    return predicted


KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 0.5},
    {"kernel": "poly", "gamma": 0.5},
]


@needs_libsvm
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("parameters", KERNELS)
@pytest.mark.parametrize("kind", [SpanSVC, SVC])
def test_svm_predict_predicts_what_the_model_does(tmp_path, load, parameters, kind) -> None:
    X, y = load(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), kind(C=0.3, **parameters)).fit(X[::2], y[::2])
    predicted = libsvm_predictions(tmp_path, model, X, y)
    np.testing.assert_array_equal(predicted, model.predict(X))
    assert 0 < (predicted != y).sum() < 0.2 * len(y)


@needs_libsvm
@pytest.mark.filterwarnings("ignore:The kernel")
def test_svm_predict_agrees_for_a_sigmoid_kernel(tmp_path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    model = SpanSVC(kernel="sigmoid", gamma=0.01, coef0=-0.5).fit(X[::2], y[::2])
    np.testing.assert_array_equal(libsvm_predictions(tmp_path, model, X, y), model.predict(X))


@needs_libsvm
def test_classes_that_are_text_are_numbered_in_their_order(tmp_path) -> None:
    data = load_iris()
    y = data.target_names[data.target]
    model = SpanSVC().fit(data.data, y)
    predicted = libsvm_predictions(tmp_path, model, data.data, y)
    np.testing.assert_array_equal(model.classes_[predicted], model.predict(data.data))


def test_whole_numbers_stand_for_themselves_in_libsvm() -> None:
    assert libsvm_labels(np.array([-1, 1])) == [-1, 1]
    assert libsvm_labels(np.array(["no", "yes"])) == [0, 1]
    assert libsvm_labels(np.array([0.5, 2.5])) == [0, 1]
    assert libsvm_labels(np.array([0, 2**40])) == [0, 1]


def test_models_that_libsvm_cannot_hold_have_a_reason(tmp_path) -> None:
    X, y = load_iris(return_X_y=True)
    assert libsvm_reason(SpanSVC().fit(X, y)) is None
    cases = [
        (SpanSVC(kernel=lambda A, B: A @ B.T).fit(X, y), "user-defined"),
        (SpanSVC(kernel="precomputed").fit(X @ X.T, y), "needs rows"),
        (SpanSVC(break_ties=True).fit(X, y), "break ties"),
        (make_pipeline(MinMaxScaler(), LogisticRegression()).fit(X, y), "LogisticRegression"),
    ]
    for model, reason in cases:
        found = libsvm_reason(model)
        assert found is not None
        assert reason in found
        with pytest.raises(UserError, match="The model cannot be written for LIBSVM"):
            save_libsvm(tmp_path / "model", model)
    assert not (tmp_path / "model").exists()


def test_a_label_that_the_model_does_not_know_is_not_written(tmp_path) -> None:
    with pytest.raises(UserError, match="The label 3 is not one of the model's classes"):
        save_libsvm_data(tmp_path / "rows", np.eye(2), [1, 3], classes=[1, 2])


@pytest.mark.parametrize("kind", [SpanSVC, SVC])
def test_models_of_several_classes_are_saved(tmp_path, kind) -> None:
    X, y = load_wine(return_X_y=True)
    model = kind(C=2, class_weight="balanced").fit(minmax_scale(X), y)
    save_model(tmp_path / "model.skops", model)
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(
        loaded.decision_function(minmax_scale(X)), model.decision_function(minmax_scale(X))
    )
    if kind is SpanSVC:
        assert loaded.loo_error_ == model.loo_error_


def test_a_saved_model_keeps_support_vectors_only(tmp_path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += 4 * y
    model = SpanSVC(gamma=0.001, C=10).fit(X, y)
    save_model(tmp_path / "model.skops", model)
    assert model.support_.size < 200
    assert (tmp_path / "model.skops").stat().st_size < 0.4 * X.nbytes
    loaded = load_model(tmp_path / "model.skops").model
    with pytest.raises(ValueError, match="keeps no training rows"):
        loaded.solved_model()
    assert model.solved_model() is not None


class Custom(BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def test_types_that_are_not_known_are_refused(tmp_path) -> None:
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(Custom(), SpanSVC()).fit(X, y)
    with pytest.raises(UserError, match=r"it holds a tests\.models\.test_models\.Custom"):
        save_model(tmp_path / "model.skops", model)
    assert not (tmp_path / "model.skops").exists()
    save_model(tmp_path / "model.skops", make_pipeline(FunctionTransformer(), SpanSVC()).fit(X, y))
    buffer = io.BytesIO(skops_io.dumps(make_pipeline(Custom(), SVC()).fit(X, y)))
    with ZipFile(buffer, "a") as archive:
        archive.writestr("spansvm.json", '{"schema": null, "version": "", "command": ""}')
    (tmp_path / "foreign.skops").write_bytes(buffer.getvalue())
    with pytest.raises(UserError, match=r"foreign\.skops holds a .*Custom, which could run"):
        load_model(tmp_path / "foreign.skops")


def test_files_that_are_no_models_are_told(tmp_path) -> None:
    with pytest.raises(UserError, match=r"There is no file .*gone\.skops"):
        load_model(tmp_path / "gone.skops")
    (tmp_path / "text.skops").write_text("text")
    save_model(tmp_path / "whole.skops", SVC().fit([[0], [1]], [0, 1]))
    whole = (tmp_path / "whole.skops").read_bytes()
    (tmp_path / "half.skops").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "plain.skops").write_bytes(skops_io.dumps(SVC()))
    for name in ("text", "half", "plain"):
        with pytest.raises(UserError, match=f"{name}.skops is damaged or not a spansvm model"):
            load_model(tmp_path / f"{name}.skops")


def test_a_byte_that_changed_gives_the_same_model_or_an_error_that_says_so(tmp_path) -> None:
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    save_model(tmp_path / "whole.skops", model)
    whole = (tmp_path / "whole.skops").read_bytes()
    rng = np.random.default_rng(0)
    # The ends of the archive, where zipfile keeps its lists, are hit more often.
    places = [*rng.integers(len(whole), size=60), *rng.integers(len(whole) - 400, len(whole), 60)]
    refused = 0
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        (tmp_path / "damaged.skops").write_bytes(damaged)
        try:
            loaded = load_model(tmp_path / "damaged.skops").model
        except UserError:
            refused += 1
        else:
            np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert refused > 60


def test_what_cannot_predict_is_no_model(tmp_path) -> None:
    buffer = io.BytesIO(skops_io.dumps([1, 2]))
    with ZipFile(buffer, "a") as archive:
        archive.writestr("spansvm.json", '{"schema": null, "version": "", "command": ""}')
    (tmp_path / "list.skops").write_bytes(buffer.getvalue())
    with pytest.raises(UserError, match=r"list\.skops holds a list, which cannot predict"):
        load_model(tmp_path / "list.skops")
