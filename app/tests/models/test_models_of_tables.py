"""Models of tables as files: with the schema of the table, and as LIBSVM's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from spansvm import ClassWeighting, SpanSVC
from spansvm.models import load_model, save_model
from spansvm_app.tables import Schema, build_pipeline, read_table
from tests.models.test_models import libsvm_predictions, needs_libsvm


@needs_libsvm
def test_svm_predict_agrees_on_files_of_splice(tmp_path, data_folder) -> None:
    table = read_table(data_folder / "splice" / "splice.gz")
    test = read_table(data_folder / "splice" / "splice.t.gz")
    svm = SpanSVC(gamma=1 / 60, weighting=ClassWeighting(2, 1))
    model = build_pipeline(table, svm).fit(table.X, table.y)
    predicted = libsvm_predictions(tmp_path, model, test.X, test.y)
    np.testing.assert_array_equal(predicted, model.predict(test.X))
    assert (predicted != test.y).mean() < 0.2


@needs_libsvm
def test_svm_predict_agrees_on_sparse_rows_of_adult(tmp_path, data_folder) -> None:
    table = read_table(data_folder / "adult_a1a" / "a1a")
    model = build_pipeline(table, SpanSVC()).fit(table.X, table.y)
    predicted = libsvm_predictions(tmp_path, model, table.X, table.y)
    np.testing.assert_array_equal(predicted, model.predict(table.X))


@pytest.fixture
def churn(tmp_path: Path) -> Path:
    """A table with everything: numbers, categories, missing values, text as classes."""
    rng = np.random.default_rng(0)
    lines = ["age,job,income,churn"]
    for _ in range(80):
        age, job = rng.integers(18, 80), rng.choice(["cook", "judge", "nurse"])
        income = "" if rng.random() < 0.1 else f"{rng.normal(50, 10):.2f}"
        label = "yes" if age + 15 * (job == "cook") + rng.normal(0, 5) > 50 else "no"
        lines.append(f"{age},{job},{income},{label}")
    path = tmp_path / "churn.csv"
    path.write_text("\n".join(lines))
    return path


FRESH = """
import pickle, sys
import numpy as np
import skops.io
from spansvm.models import load_model
from spansvm_app.tables import Schema, read_for_prediction
def refuse(*_, **__):
    raise AssertionError("pickle is used")
for name in ("load", "loads", "Unpickler", "_Unpickler"):
    setattr(pickle, name, refuse)
saved = load_model(sys.argv[1])
table = read_for_prediction(sys.argv[2], Schema.from_json(saved.metadata["schema"]))
model = saved.model
np.savez(sys.argv[3], predicted=model.predict(table.X), probability=model.predict_proba(table.X),
         left_out=model[-1].loo_decision_function_, margin=model[-1].loo_margin_,
         error=model[-1].loo_error_)
"""


def test_a_saved_model_gives_all_it_gave_in_a_fresh_process_without_pickle(tmp_path, churn) -> None:
    table = read_table(churn)
    svm = SpanSVC(C=3, weighting=ClassWeighting(2, 1))
    model = build_pipeline(table, svm, impute="median").fit(table.X, table.y)
    path = tmp_path / "model.skops"
    save_model(
        path, model, metadata={"schema": table.schema.to_json()}, command="spansvm tune churn.csv"
    )
    result = tmp_path / "result.npz"
    subprocess.run([sys.executable, "-c", FRESH, path, churn, result], check=True)
    loaded = np.load(result)
    np.testing.assert_array_equal(loaded["predicted"], model.predict(table.X))
    np.testing.assert_array_equal(loaded["probability"], model.predict_proba(table.X))
    np.testing.assert_array_equal(loaded["left_out"], model[-1].loo_decision_function_)
    np.testing.assert_array_equal(loaded["margin"], model[-1].loo_margin_)
    assert loaded["error"] == model[-1].loo_error_
    saved = load_model(path)
    assert Schema.from_json(saved.metadata["schema"]) == table.schema
    assert saved.command == "spansvm tune churn.csv"
    with ZipFile(path) as archive:
        assert "schema.json" in archive.namelist()


def test_a_sparse_model_is_saved(tmp_path, data_folder) -> None:
    table = read_table(data_folder / "adult_a1a" / "a1a")
    model = build_pipeline(table, SpanSVC()).fit(table.X, table.y)
    save_model(tmp_path / "model.skops", model, metadata={"schema": table.schema.to_json()})
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.predict_proba(table.X), model.predict_proba(table.X))
