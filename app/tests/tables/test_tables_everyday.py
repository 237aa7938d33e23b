"""What everyday files hold: rows without a label, dates, spreadsheets, columns without a name."""

from __future__ import annotations

import sys
from datetime import datetime

import numpy as np
import pytest

from spansvm.errors import UserError
from spansvm_app.tables import FileOptions, Roles, read_for_prediction, read_table
from tests.wording import tells

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def write(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


# Rows without a label -----------------------------------------------------------------


def test_rows_without_a_label_are_left_out_and_counted(tmp_path):
    path = write(tmp_path, "a,w,y\n1,1,no\n2,,\n3,2,yes\n4,3,NA\n5,1,no\n6,1,yes\n")
    table = read_table(path, roles=Roles(weights="w"))
    assert table.X["a"].tolist() == [1, 3, 5, 6]
    assert table.y.tolist() == ["no", "yes", "no", "yes"]
    assert table.weights.tolist() == [1, 2, 1, 1]
    assert table.row_numbers.tolist() == [1, 3, 5, 6]
    assert table.notes[0] == "2 of 6 rows have no value in the target 'y' and are left out."


def test_messages_still_number_the_rows_of_the_file(tmp_path):
    path = write(tmp_path, "a,w,y\n1,1,no\n2,1,\n3,-2,yes\n4,3,no\n5,1,yes\n")
    with pytest.raises(UserError, match=r"must not be negative, but row 3 has -2"):
        read_table(path, roles=Roles(weights="w"))
    path = write(tmp_path, "a,y\n1,no\n2,\nx,yes\n4,no\n5,yes\n")
    with pytest.raises(UserError, match=r"holds numbers, but has 'x' in row 3"):
        read_table(path)


def test_labels_of_numbers_stay_numbers_without_the_missing_ones(tmp_path):
    table = read_table(write(tmp_path, "a,y\n1,0\n2,\n3,1\n4,0\n5,1\n"))
    assert table.y.tolist() == [0, 1, 0, 1]


def test_another_treatment_of_missing_labels_is_refused():
    with pytest.raises(UserError, match=r"--missing-target must be drop or error; got 'keep'\."):
        Roles(missing_target="keep")


def test_rows_to_test_on_are_those_with_a_label(tmp_path):
    schema = read_table(write(tmp_path, "a,y\n1,no\n2,yes\n3,no\n4,yes\n")).schema
    new = write(tmp_path, "a,y\n7,no\n8,\n9,yes\n", "new.csv")
    table = read_for_prediction(new, schema, labelled=True)
    assert (table.X["a"].tolist(), table.y.tolist()) == ([7, 9], ["no", "yes"])
    assert "1 of 3 rows has no value in the target 'y' and is left out." in table.notes
    assert read_for_prediction(new, schema).n_rows == 3


# Dates --------------------------------------------------------------------------------

DAYS = ("2023-01-02", "2024-02-06", "2024-03-10", "2023-12-31")


def as_written(style):
    moments = [datetime.fromisoformat(day) for day in DAYS]
    return [moment.strftime(style) for moment in moments]


@pytest.mark.parametrize(
    "style", ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m-%dT00:30:00Z"]
)
def test_dates_become_numbers_whatever_their_style(tmp_path, style):
    rows = [f"{day},{i % 2}" for i, day in enumerate(as_written(style))]
    table = read_table(write(tmp_path, "\n".join(["joined,y", *rows])))
    assert table.feature_names == ("joined (year)", "joined (month)", "joined (weekday)")
    assert table.X.to_numpy().tolist() == [[2023, 1, 1], [2024, 2, 2], [2024, 3, 7], [2023, 12, 7]]
    assert "Column 'joined' holds dates; its features are year, month, weekday." in table.notes


def test_hours_are_a_feature_if_they_differ(tmp_path):
    text = "at,y\n2024-01-01 09:15,0\n2024-01-01 17:00,1\n2024-01-01 23:59,0\n2024-01-01 09:00,1\n"
    table = read_table(write(tmp_path, text))
    assert table.feature_names == ("at (hour)",)
    assert table.X["at (hour)"].tolist() == [9, 17, 23, 9]


def test_missing_dates_are_missing_values(tmp_path):
    table = read_table(write(tmp_path, "at,a,y\n2024-01-01,1,0\n,2,1\n2023-05-01,3,0\n,4,1\n"))
    assert table.missing == {"at (year)": 2, "at (month)": 2}


def test_dates_in_which_day_and_month_cannot_be_told_apart_are_told(tmp_path):
    table = read_table(write(tmp_path, "at,y\n01/02/2024,0\n03/04/2024,1\n05/06/2024,0\n"))
    assert table.schema.column_types == ("categorical",)
    assert len(table.notes) == 1
    assert "looks like dates, but its day and month cannot be told apart" in table.notes[0]


def test_dates_are_categories_if_asked_and_may_be_dropped(tmp_path):
    text = "a,at,y\n1,2024-01-01,0\n2,2024-01-02,1\n3,2024-01-01,0\n4,2024-01-02,1\n"
    path = write(tmp_path, text)
    table = read_table(path, roles=Roles(categorical=["at"]))
    assert table.schema.categories == {"at": ("2024-01-01", "2024-01-02")}
    assert read_table(path, roles=Roles(drop=["at"])).feature_names == ("a",)


@pytest.mark.parametrize(
    ("days", "ascend"),
    [
        ("2024-01-05 2024-01-05 2024-02-01 2024-02-03", True),
        ("05.01.2024 05.01.2024 01.02.2024 23.02.2024", True),
        ("2024-02-03 2024-01-05 2024-01-05 2024-02-01", False),
        ("2024-02-03 2024-02-01 2024-01-05 2024-01-05", False),
    ],
)
def test_dates_that_ascend_are_told_unless_there_are_groups(tmp_path, days, ascend):
    rows = [f"{day},{i},{i % 3},{i % 2}" for i, day in enumerate(days.split())]
    path = write(tmp_path, "\n".join(["at,a,batch,y", *rows]))
    told = [note for note in read_table(path).notes if "ascend" in note]
    assert len(told) == ascend
    assert all("'at'" in note and "--cv TimeSeriesSplit" in note for note in told)
    grouped = read_table(path, roles=Roles(groups="batch"))
    assert not [note for note in grouped.notes if "ascend" in note]


def test_dates_that_are_all_equal_are_left_out(tmp_path):
    table = read_table(write(tmp_path, "a,at,y\n1,2024-01-01,0\n2,2024-01-01,1\n"))
    assert table.feature_names == ("a",)
    assert "holds dates; all of them are equal, so it is left out." in table.notes[0]


def test_a_model_finds_its_dates_in_another_file(tmp_path):
    rows = [f"{day},{i % 2}" for i, day in enumerate(DAYS)]
    schema = read_table(write(tmp_path, "\n".join(["joined,y", *rows]))).schema
    new = read_for_prediction(write(tmp_path, "joined\n2025-07-04\n", "new.csv"), schema)
    assert new.X.to_numpy().tolist() == [[2025, 7, 5]]
    assert new.notes == ()
    with pytest.raises(UserError, match="Column 'joined' must hold dates, as it did in training"):
        read_for_prediction(write(tmp_path, "joined\nsoon\n", "odd.csv"), schema)
    with pytest.raises(UserError, match="lacks 3 of the 3 columns"):
        read_for_prediction(write(tmp_path, "left\n2025-07-04\n", "bare.csv"), schema)


def test_dates_of_a_parquet_file_are_dates(tmp_path):
    frame = pandas.DataFrame({"at": pandas.to_datetime(list(DAYS)), "y": [0, 1, 0, 1]})
    frame.to_parquet(tmp_path / "d.parquet")
    table = read_table(tmp_path / "d.parquet")
    assert table.X["at (weekday)"].tolist() == [1, 2, 7, 7]


# Names and missing values --------------------------------------------------------------


def test_columns_without_a_name_are_called_by_their_place(tmp_path):
    path = write(tmp_path, "a,,y\n5,x,0\n2,z,1\n3,x,0\n4,z,1\n")
    table = read_table(path)
    assert table.feature_names == ("a", "column 2")
    assert table.notes == ("Column 2 of data.csv has no name; it is called 'column 2'.",)
    table = read_table(path, roles=Roles(drop=["column 2"]))
    assert (table.feature_names, table.notes) == (("a",), ())


def test_an_index_without_a_name_may_name_the_rows(tmp_path):
    path = write(tmp_path, ",a,y\n0,5,0\n1,2,1\n2,3,0\n3,9,1\n")
    table = read_table(path)
    assert table.feature_names == ("a",)
    assert tells(table.notes[0], "Column 1", "no name", "left out")
    table = read_table(path, roles=Roles(id="column 1"))
    assert table.ids.tolist() == ["0", "1", "2", "3"]
    assert read_for_prediction(path, table.schema, id="column 1").ids.tolist() == table.ids.tolist()


def test_a_column_that_is_nearly_all_missing_is_named(tmp_path):
    rows = [f"{i},{'' if i else 3},{i % 2}" for i in range(20)]
    table = read_table(write(tmp_path, "\n".join(["a,b,y", *rows])), roles=Roles(drop=["a"]))
    (note,) = table.notes
    assert tells(note, "'b'", "19 of 20 rows", "--drop 'b'")


# Excel --------------------------------------------------------------------------------


@pytest.fixture
def workbook(tmp_path):
    """A file with two sheets, dates, errors, and empty cells around the table."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "patients"
    sheet.append(["age", "joined", "ward", "size", "active", "outcome"])
    for i, day in enumerate(DAYS):
        size = "#DIV/0!" if i == 2 else i + 0.5
        label = "yes" if i % 2 else "no"
        sheet.append([30 + i, datetime.fromisoformat(day), f"w{i % 2}", size, i > 1, label])
    sheet.append([])
    sheet["I9"] = "  "
    book.create_sheet("legend").append(["b", "y"])
    path = tmp_path / "data.xlsx"
    book.save(path)
    return path


def test_an_excel_file_is_a_table_like_any_other(workbook):
    table = read_table(workbook)
    assert table.schema.target == "outcome"
    assert table.y.tolist() == ["no", "yes", "no", "yes"]
    assert table.X["age"].tolist() == [30, 31, 32, 33]
    assert table.X["joined (month)"].tolist() == [1, 2, 3, 12]
    assert table.X["ward"].tolist() == ["w0", "w1", "w0", "w1"]
    assert table.X["active"].tolist() == ["False", "False", "True", "True"]
    assert np.isnan(table.X["size"][2])
    assert table.missing == {"size": 1}
    assert tells(table.notes[0], "'patients'", "first of 2", "--sheet", "legend")


def test_a_title_above_the_names_is_not_taken_for_one(workbook):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(workbook)
    book["patients"].insert_rows(1, 2)
    book["patients"]["A1"] = "Patients of 2024"
    book.save(workbook)
    message = r"data.xlsx has 'Patients of 2024' alone in its first row, where column names are exp"
    with pytest.raises(UserError, match=message):
        read_table(workbook)


def test_a_sheet_is_chosen_by_its_name(workbook):
    with pytest.raises(UserError, match=r"data.xlsx has a header but no rows"):
        read_table(workbook, FileOptions(sheet="legend"))
    with pytest.raises(UserError, match=r"no sheet 'lgend' in .*did you mean 'legend'"):
        read_table(workbook, FileOptions(sheet="lgend"))


def test_an_excel_file_is_known_without_its_suffix(workbook, tmp_path):
    other = tmp_path / "export"
    other.write_bytes(workbook.read_bytes())
    assert read_table(other).n_rows == 4


def test_a_large_excel_file_says_what_it_needs(workbook):
    with pytest.raises(UserError, match=r"data\.xlsx needs about .* of memory"):
        read_table(workbook, FileOptions(available_memory=1000.0))


def test_without_its_package_an_excel_file_says_what_to_install(workbook, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UserError, match=r'openpyxl is needed .*pip install "spansvm\[excel\]"'):
        read_table(workbook)
