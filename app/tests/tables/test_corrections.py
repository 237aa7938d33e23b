"""Labels corrected by hand find their rows, and only those."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spansvm.errors import UserError
from spansvm_app.tables import Roles, correct_labels, read_table

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

DATA = "size,kind\n1,cat\n2,dog\n3,\n4,dog\n5,cat\n6,dog\n"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Six rows; the third has no label."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    return read_table("data.csv")


def corrections(text, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    return path


def test_a_corrected_label_replaces_that_of_its_row(table, tmp_path):
    path = corrections(
        "row,given_label,label_quality,corrected\n4,dog,0.1,cat\n1,cat,0.2,\n2,dog,0.3,dog\n",
        tmp_path,
    )
    result = correct_labels(table, path)
    assert result.y.tolist() == ["cat", "dog", "cat", "cat", "dog"]
    assert table.y.tolist() == ["cat", "dog", "dog", "cat", "dog"]
    assert result.notes[-1] == "Labels of 1 row were corrected as labels.csv says."
    pd.testing.assert_frame_equal(result.X, table.X)


def test_a_file_from_a_spreadsheet_is_read_too(table, tmp_path):
    path = corrections("\ufeffrow;given_label;corrected\r\n4; dog ;cat\r\n", tmp_path)
    assert correct_labels(table, path).y[2] == "cat"


def test_classes_that_are_numbers_stay_numbers(tmp_path):
    (tmp_path / "numbers.csv").write_text("size,kind\n" + "1,0\n2,1\n3,2\n" * 5)
    table = read_table(tmp_path / "numbers.csv")
    path = corrections("row,given_label,corrected\n2,1,2\n3,2,0\n", tmp_path)
    y = correct_labels(table, path).y
    assert y.dtype == table.y.dtype
    assert y[:4].tolist() == [0, 2, 0, 0]


def test_a_class_whose_last_row_was_mislabelled_is_gone(tmp_path):
    (tmp_path / "three.csv").write_text("size,kind\n" + "1,a\n2,b\n" * 4 + "3,c\n")
    table = read_table(tmp_path / "three.csv")
    path = corrections("row,given_label,corrected\n9,c,b\n", tmp_path)
    assert correct_labels(table, path).schema.classes == ("a", "b")


def test_targets_are_corrected_as_numbers(tmp_path):
    values = np.arange(30) / 7
    lines = "".join(f"{i},{float(value)!r}\n" for i, value in enumerate(values))
    (tmp_path / "price.csv").write_text("size,price\n" + lines)
    table = read_table(tmp_path / "price.csv", roles=Roles(task="regression"))
    # Spreadsheets keep 15 digits.
    path = corrections(f"row,given_label,corrected\n9,{values[8]:.15g},2.5\n", tmp_path)
    y = correct_labels(table, path).y
    assert y[8] == 2.5
    np.testing.assert_array_equal(np.delete(y, 8), np.delete(values, 8))
    path = corrections("row,given_label,corrected\n1,0.0,much\n", tmp_path)
    with pytest.raises(UserError, match="corrects row 1 to 'much'; a number is expected"):
        correct_labels(table, path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("row,given_label,corected\n4,dog,cat\n", r"no column 'corrected' \(did you mean 'corec"),
        ("row,given_label,corrected\n9,dog,cat\n", "has a row 9, which data.csv does not have"),
        ("row,given_label,corrected\n3,dog,cat\n", "row 3, .* or not with a label"),
        ("row,given_label,corrected\n4,cat,dog\n", "row 4 of data.csv is labelled 'cat', but it"),
        ("row,given_label,corrected\n1,cat,dig\n", "'dig', which no row .*did you mean 'dog'"),
        ("row,given_label,corrected\nP4,dog,cat\n", "has 'P4' in its column 'row', line 2"),
        ("row,given_label,corrected\n4,dog,cat\n4,dog,cat\n", "has row 4 twice"),
        ("row,given_label,corrected\n4,dog,\n2,dog,dog\n", "corrects nothing; write the right"),
    ],
    ids=["column", "row", "no label", "other data", "label", "number", "twice", "nothing"],
)
def test_corrections_of_other_data_are_refused(table, tmp_path, text, expected):
    with pytest.raises(UserError, match=expected):
        correct_labels(table, corrections(text, tmp_path))
