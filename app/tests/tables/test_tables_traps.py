"""What other programs write, and what could be misread in it without a word."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)

from spansvm.errors import UserError
from spansvm_app.tables import FileOptions, Roles, Schema, read_for_prediction, read_table
from spansvm_app.tables.columns import MISSING
from tests.wording import tells

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
pyarrow_parquet = pytest.importorskip("pyarrow.parquet")

MINUS_999 = FileOptions(missing=(*MISSING, "-999"))


def write(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_index_of_a_pandas_frame_is_no_feature_of_a_parquet_file(tmp_path) -> None:
    frame = pandas.DataFrame({"a": [4.0, 2.0, 3.0, 1.0], "y": [0, 1, 0, 1]}).sort_values("a")
    frame.to_parquet(tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet", roles=Roles(target="y"))
    assert table.feature_names == ("a",)
    (note,) = table.notes
    assert tells(note, "'__index_level_0__'", "index", "left out")


@pytest.mark.parametrize("start", [0, 1])
def test_the_index_of_a_pandas_frame_is_no_feature_of_a_csv_file(tmp_path, start) -> None:
    frame = pandas.DataFrame({"a": [4, 2, 3, 1], "y": [0, 1, 0, 1]})
    frame.index += start
    frame.to_csv(tmp_path / "data.csv")
    table = read_table(tmp_path / "data.csv")
    note = "Column 1 of data.csv has no name and only numbers the rows; it is left out."
    assert table.feature_names == ("a",)
    assert table.notes == (note,)
    rows = read_for_prediction(tmp_path / "data.csv", table.schema)
    assert rows.notes == (note,)


def test_markers_of_missing_values_hold_in_parquet_files(tmp_path) -> None:
    frame = pandas.DataFrame(
        {
            "a": [1, -999, 3, 4],
            "b": [1.5, 2.5, -999.0, np.nan],
            "c": ["x", " x ", "NA", "-999"],
            "y": [0, 1, 0, 1],
        }
    )
    frame.to_parquet(tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet", MINUS_999)
    assert table.missing == {"a": 1, "b": 2, "c": 2}
    assert table.schema.categories == {"c": ("x",)}
    np.testing.assert_array_equal(table.X["a"], [1, np.nan, 3, 4])
    assert read_table(tmp_path / "data.parquet").missing == {"b": 1, "c": 1}


@pytest.mark.parametrize("type", ["string", "large_string", "string_view"])
def test_texts_of_parquet_are_text_however_they_are_stored(tmp_path, type) -> None:
    if not hasattr(pyarrow, type):
        pytest.skip(f"this pyarrow has no {type}")
    texts = pyarrow.array(["x", " NA", "x", "z"]).cast(getattr(pyarrow, type)())
    stored = pyarrow.table({"a": texts, "y": [0, 1, 0, 1]})
    pyarrow_parquet.write_table(stored, tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet")
    assert table.schema.categories == {"a": ("x", "z")}
    assert table.missing == {"a": 1}


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_marker_is_found_in_either_precision(tmp_path, precision) -> None:
    frame = pandas.DataFrame({"a": [1.5, -99.9, 2.5, 3.5], "y": [0, 1, 0, 1]})
    frame.astype({"a": precision}).to_parquet(tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet", FileOptions(missing=("-99.9",)))
    assert table.missing == {"a": 1}


def test_a_model_remembers_what_stands_for_a_missing_value(tmp_path) -> None:
    text = "a,y\n1,0\n-999,1\n3,0\n5,1\n"
    trained = read_table(write(tmp_path, text), MINUS_999).schema
    schema = Schema.from_json(json.loads(json.dumps(trained.to_json())))
    assert schema.missing == ("-999",)
    rows = read_for_prediction(write(tmp_path, "a\n-999\n-1\n?\n", "new.csv"), schema)
    assert rows.missing == {"a": 2}
    also = FileOptions(missing=(*MISSING, "-1"))
    assert read_for_prediction(tmp_path / "new.csv", schema, also).missing == {"a": 3}


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_prediction_file_may_have_one_column_if_the_model_needs_no_more(
    tmp_path, decimal
) -> None:
    options = FileOptions(decimal=decimal)
    schema = read_table(write(tmp_path, "a;y\n1;0\n2;1\n4;0\n3;1\n")).schema
    new = write(tmp_path, f"a\n1{decimal}5\n2\n", "new.csv")
    assert read_for_prediction(new, schema, options).X["a"].tolist() == [1.5, 2]


@pytest.mark.parametrize("header", [True, False])
def test_a_decimal_comma_is_no_delimiter(tmp_path, header) -> None:
    text = "a;b;y\n" * header + "1,5;2,25;0\n2,5;3,5;1\n3,5;1e-1;0\n4,5;1,5E-3;1\n"
    table = read_table(write(tmp_path, text), FileOptions(decimal=",", header=header))
    np.testing.assert_array_equal(table.X.iloc[:, 0], [1.5, 2.5, 3.5, 4.5])
    np.testing.assert_array_equal(table.X.iloc[:, 1], [2.25, 3.5, 0.1, 0.0015])
    assert table.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("text", ["10-19", "2020-01", "3 rooms", "12:30", "1a"])
def test_texts_with_digits_may_be_categories(tmp_path, text) -> None:
    table = read_table(write(tmp_path, f"a,y\n{text},0\n{text},1\n{text},0\n{text},1\n"))
    assert table.schema.categories == {"a": (text,)}


def test_a_declared_value_of_an_arff_file_is_not_missing(tmp_path) -> None:
    text = (
        "@relation r\n@attribute a {NA, EU}\n@attribute b string\n@attribute y {0,1}\n@data\n"
        "NA,null,0\nEU,x,1\n?,?,0\nEU,x,1\n"
    )
    path = write(tmp_path, text, "data.arff")
    table = read_table(path)
    assert table.schema.categories == {"a": ("EU", "NA"), "b": ("null", "x")}
    assert table.missing == {"a": 1, "b": 1}
    asked = read_table(path, FileOptions(missing=(*MISSING, "NA")))
    assert asked.missing == {"a": 2, "b": 1}


def test_both_quotation_marks_of_arff_may_hold_the_other(tmp_path) -> None:
    text = (
        "@relation r\n"
        "@attribute a {\"it's\", 'a \"b\"', 'x, y', 'don\\'t'} % what it says\n"
        "@attribute b numeric % a note\n@attribute y {0,1}\n@data\n"
        "\"it's\",1,0\n'a \"b\"',2,1\n'x, y',3,0\n'don\\'t', 4 ,'1'\n"
    )
    table = read_table(write(tmp_path, text, "data.arff"))
    assert table.X["a"].tolist() == ["it's", 'a "b"', "x, y", "don't"]
    assert table.X["b"].tolist() == [1, 2, 3, 4]
    assert table.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("name", ["data.arff", "data.libsvm", "arff", "libsvm"])
def test_a_byte_order_mark_is_no_part_of_any_text_format(tmp_path, name) -> None:
    text = "1 1:1\n-1 2:1\n"
    if "arff" in name:
        text = "@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,0\n2,1\n"
    assert read_table(write(tmp_path, "\ufeff" + text, name)).n_rows == 2


def test_names_that_differ_in_zeros_alone_stay_apart(tmp_path) -> None:
    path = write(tmp_path, "a,g,y\n1,007,01\n2,7,1\n4,7,01\n3,007,1\n")
    table = read_table(path, roles=Roles(groups="g"))
    assert table.groups.tolist() == ["007", "7", "7", "007"]
    assert table.y.tolist() == ["01", "1", "01", "1"]
    path = write(tmp_path, "a,y\n1,01\n2,02\n4,01\n3,02\n")
    assert read_table(path).y.tolist() == [1, 2, 1, 2]


def test_classes_may_be_larger_than_floats_tell_apart(tmp_path) -> None:
    large = ["9007199254740993", "9007199254740992"]
    table = read_table(write(tmp_path, f"a,y\n1,{large[0]}\n2,{large[1]}\n4,{large[0]}\n"))
    assert table.y.tolist() == [large[0], large[1], large[0]]


def test_booleans_are_written_the_same_in_parquet_and_csv(tmp_path) -> None:
    frame = pandas.DataFrame({"a": [True, False, None, True], "y": [0, 1, 0, 1]})
    frame["a"] = frame["a"].astype("boolean")
    frame.to_parquet(tmp_path / "data.parquet")
    frame.to_csv(tmp_path / "data.csv", index=False)
    table, plain = (read_table(tmp_path / f"data.{ending}") for ending in ("parquet", "csv"))
    pandas.testing.assert_frame_equal(table.X, plain.X)
    assert table.schema == plain.schema


def test_the_label_that_is_unknown_is_told_not_one_that_is_known(tmp_path) -> None:
    schema = read_table(write(tmp_path, "a,y\n1,0\n2,1\n4,0\n3,1\n")).schema
    rows = read_for_prediction(write(tmp_path, "a,y\n1,0\n2,maybe\n", "new.csv"), schema)
    assert rows.notes == (
        "The label maybe is not a class of the model, so the labels are not used.",
    )


def test_inches_are_no_quotations(tmp_path) -> None:
    path = write(tmp_path, 'a,b,y\n1,2" pipe,0\n2,rod,1\n4,2" pipe,0\n3,5" rod,1\n')
    assert read_table(path).X["b"].tolist() == ['2" pipe', "rod", '2" pipe', '5" rod']


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [
        (range(1, 11), True),
        ([4, 2, 3, 1, 5, 10, 9, 7, 6, 8], True),
        (range(10, 0, -1), True),
        ([4, 2, 3, 1, 5, 10, 9, 7, 6, 30], False),
        ([1, 1, 2, 3, 4, 5, 6, 7, 8, 9], False),
        (np.arange(10) / 2, False),
        (range(4), False),
    ],
)
def test_a_feature_that_counts_the_rows_is_left_out_unless_it_is_kept(
    tmp_path, numbers, counts
) -> None:
    rows = "".join(f"{number},{i * i % 7},{i % 2}\n" for i, number in enumerate(numbers))
    path = write(tmp_path, "a,b,y\n" + rows)
    table, kept = read_table(path), read_table(path, roles=Roles(keep=["a"]))
    assert table.feature_names == (("b",) if counts else ("a", "b"))
    assert table.notes == ((LEFT_OUT.format("a"),) if counts else ())
    assert (kept.feature_names, kept.notes) == (("a", "b"), ())


def test_numbers_that_increase_in_steps_may_be_measurements(tmp_path) -> None:
    rows = "".join(f"{number},{i % 2}\n" for i, number in enumerate(range(100, 300, 20)))
    table = read_table(write(tmp_path, "a,y\n" + rows))
    note = "Column 'a' looks like row numbers; if so, pass --id 'a' or --drop 'a'."
    assert (table.feature_names, table.notes) == (("a",), (note,))


def test_the_only_feature_stays_even_if_it_counts_the_rows(tmp_path) -> None:
    rows = "".join(f"{number},{number % 2}\n" for number in range(10))
    table = read_table(write(tmp_path, "a,y\n" + rows))
    assert table.feature_names == ("a",)
    assert tells(table.notes[0], "'a'", "row numbers", "--drop 'a'")


#: What is said of a column that is left out.
LEFT_OUT = (
    "Column '{0}' has another value in most rows, as names of rows have, so it is left out (--keep "
    "'{0}' uses it)."
)


def notes_on(tmp_path, name, numbers, roles=None) -> tuple[str, ...]:
    rows = "".join(f"{number},{i * i % 7},{i % 2}\n" for i, number in enumerate(numbers))
    return read_table(write(tmp_path, f"{name},b,y\n{rows}"), roles=roles).notes


RNG = np.random.default_rng(0)
SCATTERED = RNG.permutation(RNG.choice(10**7, 60, replace=False))
REPEATED = RNG.permutation(np.repeat(SCATTERED[:20], 3))


@pytest.mark.parametrize(
    "name",
    ["ID", "patient_id", "customer id", "PassengerId", "id_client", "ID number", "Nr.", "No"],
)
def test_different_whole_numbers_with_the_name_of_an_id_are_left_out(tmp_path, name) -> None:
    assert notes_on(tmp_path, name, SCATTERED) == (LEFT_OUT.format(name),)
    assert notes_on(tmp_path, name, SCATTERED, Roles(keep=[name])) == ()


@pytest.mark.parametrize("name", ["ID", "patient_nbr", "subject", "Subject#", "user number"])
def test_an_id_that_repeats_may_be_a_group(tmp_path, name) -> None:
    (note,) = notes_on(tmp_path, name, REPEATED)
    assert tells(note, f"'{name}'", "20 different whole numbers in 60 rows")
    assert tells(note, f"--groups '{name}'", f"--drop '{name}'", f"--categorical '{name}'")
    assert "--id" not in note


def test_an_id_is_not_offered_a_role_that_is_taken_or_that_it_cannot_have(tmp_path) -> None:
    (note,) = notes_on(tmp_path, "ID", REPEATED, Roles(groups="b"))
    assert note.endswith("; if so, pass --id 'ID' or --drop 'ID'.")
    note = notes_on(tmp_path, "ID", [*REPEATED[:-1], ""])[-1]
    assert tells(note, "20 different whole numbers in 60 rows")
    assert note.endswith("; if so, pass --drop 'ID'.")
    with pytest.raises(UserError, match="must have a value in every row"):
        notes_on(tmp_path, "ID", [*SCATTERED[:-1], ""], Roles(id="ID"))
    assert notes_on(tmp_path, "ID", SCATTERED, Roles(id="ID")) == ()


def test_a_counter_with_gaps_is_noted_whatever_its_name(tmp_path) -> None:
    half = RNG.permutation(RNG.choice(120, 60, replace=False)) + 5000
    assert notes_on(tmp_path, "a", half) == (LEFT_OUT.format("a"),)
    (note,) = notes_on(tmp_path, "a", [*half[:-1], half[0]])
    assert tells(note, "row numbers", "--groups")
    assert notes_on(tmp_path, "a", half[:20]) == ()  # by chance, perhaps


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("a", SCATTERED),
        ("a", REPEATED),
        ("area", RNG.integers(400, 2500, 400)),
        ("area", RNG.integers(400, 2500, 60)),
        ("age", RNG.integers(18, 90, 60)),
        ("price", RNG.integers(50, 500, 200) * 1000),
        ("Number", RNG.integers(2, 11, 81)),
        ("number of visits", SCATTERED),
        ("no_of_visits", SCATTERED),
        ("body mass index", RNG.integers(17, 40, 60)),
        ("smoker_no", np.arange(60) % 3 % 2),
        ("id", np.arange(60) % 3 % 2),
        ("id_01", REPEATED),
        ("id", RNG.normal(size=60)),
        ("acid", REPEATED),
        ("grid", SCATTERED),
        ("NO2", SCATTERED),
        ("patient age", REPEATED),
    ],
)
def test_measurements_in_whole_numbers_are_not_taken_for_ids(tmp_path, name, numbers) -> None:
    assert notes_on(tmp_path, name, numbers) == ()


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_iris, load_diabetes])
def test_no_feature_of_well_known_data_is_taken_for_an_id(tmp_path, load) -> None:
    frame = load(as_frame=True).frame
    frame["target"] = frame["target"] > 100 if load is load_diabetes else frame["target"]
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert read_table(tmp_path / "data.csv").notes == ()


def test_columns_with_a_single_value_are_named_in_one_sentence(tmp_path) -> None:
    load_digits(as_frame=True).frame.to_csv(tmp_path / "data.csv", index=False)
    (note,) = read_table(tmp_path / "data.csv").notes
    assert tells(note, "'pixel_0_0', 'pixel_4_0', 'pixel_4_7' have a single value")
    rows = "".join(f"{i * i % 7},{'Ulm' if i else ''},{i % 2}\n" for i in range(20))
    (note,) = read_table(write(tmp_path, f"a,town,y\n{rows}")).notes
    assert tells(note, "'town' has a single value")


def test_a_target_of_many_whole_numbers_is_noted(tmp_path) -> None:
    rows = "".join(f"{i * 7 % 11},{i % 27}\n" for i in range(300))
    table = read_table(write(tmp_path, "a,age\n" + rows))
    assert table.notes == ("Target 'age' has 27 different integers; each is treated as a class.",)
    rows = "".join(f"{i % 11} 1:{i}\n" for i in range(100))
    table = read_table(write(tmp_path, rows, "data.libsvm"))
    (note,) = table.notes
    assert tells(note, "data.libsvm", "11 different integers", "class")
    rows = "".join(f"{i * 7 % 11},{i % 10}\n" for i in range(100))
    assert read_table(write(tmp_path, "a,digit\n" + rows)).notes == ()
