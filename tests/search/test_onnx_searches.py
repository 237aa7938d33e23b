"""``skl2onnx.to_onnx`` takes our searches and machines as it takes GridSearchCV and SVC."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spansvm import SVCCV, SpanRandomizedSearch, SpanSearch, SpanSVC, SpanSVR
from spansvm.search import register_onnx

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx converts models to ONNX")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime runs what skl2onnx made")

# skl2onnx reads an attribute that scikit-learn 1.9 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:Attribute `prob[AB]_`:FutureWarning")

WINE, DIABETES = load_wine(return_X_y=True), load_diabetes(return_X_y=True)
C = [1, 10]


def outputs(model, X, **options):
    """The names of the outputs of a converted model, and what they are for some rows."""
    rows = X.astype(np.float32)
    converted = skl2onnx.to_onnx(model, rows[:1], **options)
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return names, session.run(None, {session.get_inputs()[0].name: rows})


@pytest.mark.parametrize("options", [{}, {"options": {"zipmap": False}}])
def test_a_search_is_converted_as_grid_search_cv(options):
    X, y = WINE
    model, grid = make_pipeline(StandardScaler(), SVC()), {"svc__C": C}
    ours = SpanSearch(model, grid, ties="first", cv=3).fit(X, y)
    theirs = GridSearchCV(model, grid, cv=3).fit(X, y)
    found, expected = outputs(ours, X, **options), outputs(theirs, X, **options)
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1][0], theirs.predict(X))
    if options:
        np.testing.assert_allclose(found[1][1], expected[1][1], atol=1e-3)
    else:
        assert [list(own) for own in found[1][1]] == [list(own) for own in expected[1][1]]


@pytest.mark.parametrize(
    "search",
    [
        SpanSearch(SpanSVC(), {"C": C}),
        SpanSearch(make_pipeline(StandardScaler(), SpanSVC()), {"spansvc__C": C}),
        SpanRandomizedSearch(SVC(), {"C": C}, n_iter=2),
    ],
)
def test_searches_of_classifiers_predict_the_same_after_conversion(search):
    X, y = WINE
    search.fit(X, y)
    values = search.decision_function(X)
    found = outputs(search, X, options={"zipmap": False})[1]
    np.testing.assert_array_equal(found[0], search.predict(X))
    np.testing.assert_allclose(found[1], values, atol=1e-3)


@pytest.mark.parametrize(
    "search", [SpanSearch(SpanSVR(), {"C": C}), SpanSearch(SVR(), {"C": C}, cv=3)]
)
def test_searches_of_regressions_predict_the_same_after_conversion(search):
    X, y = DIABETES
    search.fit(X, y)
    found = outputs(search, X)[1][0]
    np.testing.assert_allclose(found.ravel(), search.predict(X), rtol=1e-5)


def test_machines_are_converted_without_a_search():
    X, y = WINE
    register_onnx()
    model = make_pipeline(StandardScaler(), SpanSVC(probability=True)).fit(X, y)
    found = outputs(model, X, options={"zipmap": False})[1]
    np.testing.assert_array_equal(found[0], model.predict(X))
    # LibSVM and skl2onnx couple classes by an iteration that ends within 0.005.
    expected = model[-1].predict_calibrated_proba(model[:-1].transform(X))
    np.testing.assert_allclose(found[1], expected, atol=5e-3)
    scaled = StandardScaler().fit_transform(X)
    automatic = SVCCV(n_trials=4).fit(scaled, y)
    np.testing.assert_array_equal(outputs(automatic, scaled)[1][0], automatic.predict(scaled))
    X, y = DIABETES
    regression = SpanSVR(C=10.0).fit(X, y)
    np.testing.assert_allclose(
        outputs(regression, X)[1][0].ravel(), regression.predict(X), rtol=1e-5
    )


def test_a_search_that_was_not_fitted_is_not_converted():
    register_onnx()
    with pytest.raises(NotFittedError):
        outputs(SpanSearch(SVC(), {"C": C}), WINE[0])


LOADED = """
import pickle, sys
from spansvm.search import register_onnx

search = pickle.loads(sys.stdin.buffer.read())
assert "skl2onnx" not in sys.modules
register_onnx()
import skl2onnx
import numpy as np
print(len(skl2onnx.to_onnx(search, np.zeros((1, 13), dtype=np.float32)).graph.output))
"""


def test_a_search_that_was_loaded_is_converted():
    given = pickle.dumps(SpanSearch(SVC(), {"C": C}).fit(*WINE))
    command = [sys.executable, "-W", "ignore", "-c", LOADED]
    result = subprocess.run(command, input=given, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.split() == [b"2"]
