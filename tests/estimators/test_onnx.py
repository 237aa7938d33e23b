"""A model handed out as an SVC is converted by skl2onnx and predicts the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from spansvm import SpanSVC

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model, X):
    """Labels and values of the converted model."""
    rows = X.astype(np.float32)
    converted = skl2onnx.to_onnx(model, rows[:1], options={"zipmap": False})
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: rows})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_pipeline_is_converted(load, kernel):
    X, y = load(return_X_y=True)
    model = make_pipeline(StandardScaler(), SpanSVC(C=3.0, kernel=kernel)).fit(X, y)
    labels, values = run(Pipeline([*model.steps[:-1], ("svc", model[-1].to_svc())]), X)
    np.testing.assert_array_equal(labels, model.predict(X))
    # skl2onnx gives two columns for two classes.
    values = values[:, 0] if model.classes_.size == 2 else values
    np.testing.assert_allclose(values, model.decision_function(X), atol=1e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_a_model_alone_is_converted_with_its_probabilities(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SpanSVC(C=3.0, probability=True).fit(X, y)
    labels, probabilities = run(model.to_svc(), X)
    np.testing.assert_array_equal(labels, model.predict(X))
    # LibSVM and skl2onnx couple classes by an iteration that ends within 0.005.
    np.testing.assert_allclose(probabilities, model.predict_calibrated_proba(X), atol=5e-3)
