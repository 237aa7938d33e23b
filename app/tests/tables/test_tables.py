from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_iris, load_svmlight_file
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSVC
from spansvm.errors import MissingPackageError
from spansvm_app.tables import (
    FileOptions,
    Roles,
    Schema,
    build_pipeline,
    read_for_prediction,
    read_table,
)
from tests.wording import tells

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

CSV = """age,job,score,weight,team,name,class
30,cook,0.5,1,a,Ann,yes
41.5,judge,0,2,a,Bob,no
,cook,1,0.5,b,Cem,yes
55,,0.25,1,b,Dov,no
"""


def write(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_columns_get_their_kinds_and_roles(tmp_path) -> None:
    table = read_table(
        write(tmp_path, CSV),
        roles=Roles(scores="score", weights="weight", groups="team", id="name"),
    )
    assert table.feature_names == ("age", "job")
    assert table.column_types == ("numeric", "categorical")
    np.testing.assert_array_equal(table.X["age"], [30, 41.5, np.nan, 55])
    assert table.X["job"].tolist()[:3] == ["cook", "judge", "cook"]
    assert table.y is not None
    assert table.y.tolist() == ["yes", "no", "yes", "no"]
    assert table.scores.tolist() == [0.5, 0, 1, 0.25]
    assert table.weights.tolist() == [1, 2, 0.5, 1]
    assert table.groups.tolist() == ["a", "a", "b", "b"]
    assert table.ids.tolist() == ["Ann", "Bob", "Cem", "Dov"]
    assert table.missing == {"age": 1, "job": 1}
    assert table.schema.target == "class"
    assert table.schema.classes == ("no", "yes")
    assert table.schema.categories == {"job": ("cook", "judge")}


def test_a_target_of_whole_numbers_is_read_as_such(tmp_path) -> None:
    table = read_table(write(tmp_path, "y,a\n+1,1\n-1,2\n1.0,3\n-1,4\n"), roles=Roles(target="y"))
    assert table.y.tolist() == [1, -1, 1, -1]
    assert table.y.dtype == np.int64


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files_and_standard_input_are_what_they_hold(
    tmp_path, monkeypatch, pack, named
) -> None:
    endings = {bytes: "", gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}
    path: Path | str = tmp_path / f"data.csv{endings[pack]}"
    if named:
        Path(path).write_bytes(pack(CSV.encode()))
    else:
        path = "-"
        stream = io.TextIOWrapper(io.BytesIO(pack(CSV.encode())))
        monkeypatch.setattr(sys, "stdin", stream)
    plain = read_table(write(tmp_path, CSV, "plain.csv"))
    pandas.testing.assert_frame_equal(read_table(path).X, plain.X)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["data.csv", "data.txt", "data"])
def test_the_delimiter_is_found(tmp_path, delimiter, name) -> None:
    plain = read_table(write(tmp_path, CSV, "plain.csv"))
    found = read_table(write(tmp_path, CSV.replace(",", delimiter), name))
    pandas.testing.assert_frame_equal(found.X, plain.X)


def test_other_delimiters_and_decimal_commas_are_read_when_asked_for(tmp_path) -> None:
    path = write(tmp_path, "a|b|y\n1,5|x|0\n2|z|1\n-3,25|x|0\n4|x|1\n")
    table = read_table(path, FileOptions(delimiter="|", decimal=","))
    assert table.X["a"].tolist() == [1.5, 2, -3.25, 4]
    assert table.column_types == ("numeric", "categorical")


def test_quoted_fields_may_hold_anything(tmp_path) -> None:
    text = 'a,"b, c",y\n1,"x, ""y""\nz",0\n2,w,1\n3,w,0\n4,w,1\n'
    table = read_table(write(tmp_path, text))
    assert table.X["b, c"].tolist() == ['x, "y"\nz', "w", "w", "w"]


def test_names_of_rows_stay_as_they_are_written(tmp_path) -> None:
    table = read_table(
        write(tmp_path, "n,a,y\n001,1,0\n002,2,1\n003,3,0\n004,4,1\n"), roles=Roles(id="n")
    )
    assert table.ids.tolist() == ["001", "002", "003", "004"]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path) -> None:
    (tmp_path / "data.csv").write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    assert read_table(tmp_path / "data.csv").feature_names[0] == "age"


def test_files_of_other_encodings_are_read_when_asked_for(tmp_path) -> None:
    text = "größe,y\n1,0\n2,1\n3,0\n4,1\n"
    (tmp_path / "data.csv").write_bytes(text.encode("latin-1"))
    table = read_table(tmp_path / "data.csv", FileOptions(encoding="latin-1"))
    assert table.feature_names == ("größe",)


def test_columns_without_header_are_numbered(tmp_path) -> None:
    table = read_table(write(tmp_path, "1,2,0\n3,4,1\n5,6,0\n7,8,1\n"), FileOptions(header=False))
    assert table.feature_names == ("1", "2")
    assert table.n_rows == 4


def test_numbers_are_categories_when_asked_for_and_columns_are_left_out(tmp_path) -> None:
    path = write(tmp_path, "zip,a,b,y\n80331,1,5,0\n10115,2,5,1\n80331,3,5,0\n10115,4,5,1\n")
    table = read_table(path, roles=Roles(categorical=["zip"], drop=["b"]))
    assert table.feature_names == ("zip", "a")
    assert table.schema.categories == {"zip": ("10115", "80331")}


def test_parquet_says_what_csv_says(tmp_path) -> None:
    plain = read_table(write(tmp_path, CSV), roles=Roles(target="class"))
    frame = pandas.read_csv(tmp_path / "data.csv")
    frame["job"] = frame["job"].astype("category")
    frame.to_parquet(tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet")
    pandas.testing.assert_frame_equal(table.X, plain.X)
    assert table.schema == plain.schema
    assert table.missing == plain.missing


ARFF = """% a comment
@relation people
@attribute 'the age' numeric
@attribute job {cook, 'high judge'}
@attribute class {yes,no}
@data
30,cook,yes
41.5,'high judge',no
?,cook,yes
55,?,no
"""


@pytest.mark.parametrize("name", ["data.arff", "data"])
def test_arff_declares_the_kinds(tmp_path, name) -> None:
    table = read_table(write(tmp_path, ARFF, name))
    assert table.feature_names == ("the age", "job")
    assert table.column_types == ("numeric", "categorical")
    assert table.schema.categories == {"job": ("cook", "high judge")}
    assert table.missing == {"the age": 1, "job": 1}
    assert table.y.tolist() == ["yes", "no", "yes", "no"]


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("name", ["data.libsvm", "data", "data.t"])
def test_libsvm_files_are_read_from_0_or_1(tmp_path, zero_based, name) -> None:
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X, y, str(tmp_path / name), zero_based=zero_based)
    table = read_table(tmp_path / name)
    np.testing.assert_allclose(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    assert table.feature_names[0] == ("0" if zero_based else "1")
    assert table.schema.layout == "dense"


def test_a_sparse_libsvm_file_stays_sparse_and_needs_no_pandas(tmp_path, monkeypatch) -> None:
    X = sparse.random(50, 40, density=0.1, random_state=0, format="csr")
    y = np.arange(50) % 2
    dump_svmlight_file(X, y, str(tmp_path / "data"), zero_based=False)
    with monkeypatch.context() as patch:
        for name in ("pandas", "pyarrow"):
            patch.setitem(sys.modules, name, None)
        table = read_table(tmp_path / "data")
    assert sparse.issparse(table.X)
    np.testing.assert_allclose(table.X.toarray(), X.toarray())
    model = build_pipeline(table, SpanSVC(C=10)).fit(table.X, table.y)
    scaled = model[:-1].transform(table.X)
    assert sparse.issparse(scaled)
    np.testing.assert_allclose(scaled.toarray(), minmax_scale(X.toarray()))


def test_without_pyarrow_it_is_said_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = (
        'pyarrow is needed for this but not installed: pip install "spansvm[cli]" (in the '
        "project folder: pip install . ./app)."
    )
    with pytest.raises(MissingPackageError, match=re.escape(message)):
        read_table(write(tmp_path, CSV))
    assert issubclass(MissingPackageError, ImportError)


@pytest.mark.parametrize(
    ("file", "shape"),
    [
        ("splice/splice.gz", (1000, 60)),
        ("adult_a1a/a1a", (1605, 119)),
        ("mushrooms/mushrooms", (8124, 112)),
    ],
)
def test_real_libsvm_files_are_read(data_folder, file, shape) -> None:
    table = read_table(data_folder / file)
    expected, labels = load_svmlight_file(str(data_folder / file))
    assert table.X.shape == expected.shape
    assert shape[0] == table.n_rows
    np.testing.assert_array_equal(table.y, labels)


def test_a_real_csv_file_is_read(data_folder) -> None:
    path = data_folder / "bank_marketing" / "bank-additional-full.csv.gz"
    table = read_table(path)
    expected = pandas.read_csv(path, sep=None, engine="python")
    assert table.feature_names == tuple(expected.columns[:-1])
    np.testing.assert_array_equal(table.y, expected["y"])
    np.testing.assert_array_equal(table.X["age"], expected["age"])
    assert table.X["job"].tolist() == expected["job"].tolist()


def test_the_pipeline_scales_numbers_and_encodes_categories(tmp_path) -> None:
    table = read_table(write(tmp_path, "a,b,y\n1,x,0\n2,z,1\n3,x,0\n5,z,1\n"))
    model = build_pipeline(table, SVC()).fit(table.X, table.y)
    rows = model[:-1].transform(table.X)
    np.testing.assert_allclose(rows, [[0, 1, 0], [0.25, 0, 1], [0.5, 1, 0], [1, 0, 1]])
    assert [name for name, _ in model.steps] == ["features", "svm"]
    plain = build_pipeline(table, SVC(), scale="none").fit(table.X, table.y)
    assert plain[:-1].transform(table.X)[:, 0].tolist() == [1, 2, 3, 5]
    standard = build_pipeline(table, SVC(), scale="standard").fit(table.X, table.y)
    assert standard[:-1].transform(table.X)[:, 0].std() == pytest.approx(1)


def test_missing_values_are_filled_in_when_asked_for(tmp_path) -> None:
    table = read_table(write(tmp_path, "a,b,y\n1,x,0\n,x,1\n4,x,0\n5,,1\n3,z,1\n"))
    model = build_pipeline(table, SVC(), impute="median").fit(table.X, table.y)
    rows = model[:-1].transform(table.X)
    assert rows[1, 0] == pytest.approx((3.5 - 1) / 4)
    assert rows[3, 1:].tolist() == [1, 0]


def test_a_prediction_file_is_matched_by_name(tmp_path) -> None:
    table = read_table(write(tmp_path, "a,b,y\n1,x,0\n2,z,1\n3,x,0\n5,z,1\n"))
    model = build_pipeline(table, SpanSVC()).fit(table.X, table.y)
    schema = Schema.from_json(json.loads(json.dumps(table.schema.to_json())))
    assert schema == table.schema
    rows = read_for_prediction(
        write(tmp_path, "b,name,other,a\nz,Ann,9,2\nnew,Bob,8,3\n", "new.csv"), schema, id="name"
    )
    assert rows.y is None
    assert rows.ids.tolist() == ["Ann", "Bob"]
    assert rows.X["a"].tolist() == [2, 3]
    unused, unseen = rows.notes
    assert tells(unused, "not use", "other")
    assert tells(unseen, "'b'", "not seen (new)", "unknown")
    assert model.predict(rows.X).shape == (2,)


def test_schemas_of_models_that_were_saved_earlier_are_read(tmp_path) -> None:
    schema = read_table(write(tmp_path, "a,b,y\n1,x,0\n2,z,1\n3,x,1\n4,z,0\n")).schema
    earlier = schema.to_json()
    earlier["kinds"] = earlier.pop("column_types")
    assert Schema.from_json(json.loads(json.dumps(earlier))) == schema


def test_labels_of_a_prediction_file_are_taken_if_the_model_knows_them(tmp_path) -> None:
    schema = read_table(write(tmp_path, "a,y\n1,0\n2,1\n3,0\n5,1\n")).schema
    known = read_for_prediction(write(tmp_path, "y,a\n1,3\n1,4\n", "known.csv"), schema)
    assert known.y.tolist() == [1, 1]
    unknown = read_for_prediction(write(tmp_path, "y,a\n1,3\n7,4\n", "unknown.csv"), schema)
    assert unknown.y is None
    assert unknown.notes == (
        "The label 7 is not a class of the model, so the labels are not used.",
    )
    partly = read_for_prediction(write(tmp_path, "y,a\n1,3\n,4\n", "partly.csv"), schema)
    assert partly.y is None
    assert partly.notes == ("Some labels are missing, so the labels are not used.",)


def test_a_libsvm_prediction_file_gets_the_features_of_the_model(tmp_path) -> None:
    schema = read_table(write(tmp_path, "1 1:1 3:2\n-1 2:1\n1 1:4\n-1 3:1\n", "train")).schema
    rows = read_for_prediction(write(tmp_path, "1 1:5\n1 2:6\n", "fewer"), schema)
    np.testing.assert_array_equal(sparse.csr_matrix(rows.X).toarray(), [[5, 0, 0], [0, 6, 0]])
    rows = read_for_prediction(write(tmp_path, "0 1:5 9:1\n", "more"), schema)
    np.testing.assert_array_equal(sparse.csr_matrix(rows.X).toarray(), [[5, 0, 0]])
    assert rows.y is None
    assert rows.notes[0].startswith("Features above 3 are ignored")
