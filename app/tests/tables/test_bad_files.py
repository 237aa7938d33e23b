"""Every way in which a file can be wrong has its own sentence that says what to do."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from pathlib import Path
from typing import Any

import pytest
from sklearn.svm import SVC

from spansvm.errors import UserError
from spansvm_app.tables import (
    FileOptions,
    Roles,
    build_pipeline,
    check_predictable,
    read_for_prediction,
    read_table,
)
from spansvm_app.tables.columns import MISSING
from tests.wording import tells

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROWS = "a,b,y\n1,x,0\n2,z,1\n3,x,0\n4,z,1\n"

TEXTS: dict[str, tuple[str, str | bytes, dict[str, Any], str]] = {
    "empty": ("d.csv", "", {}, "d.csv is empty; give a file with a header and rows."),
    "blank": ("d.csv", "\n \n", {}, "d.csv is empty; give a file with a header and rows."),
    "header only": ("d.csv", "a,b,y\n", {}, "d.csv has a header but no rows; give a file"),
    "one class": (
        "d.csv", "a,y\n1,no\n2,no\n", {},
        "The target 'y' of d.csv is 'no' in all 2 rows; at least two classes are needed.",
    ),
    "all rows missing": (
        "d.csv", "a,b,y\n,NA,0\n?,,1\n", {},
        "All features are missing in all rows of d.csv; give another file",
    ),
    "text among numbers": (
        "d.csv", "a,y\n1,0\nabc,1\n3,0\n", {},
        "Column 'a' holds numbers, but has 'abc' in row 2; correct it, or pass --missing 'abc' if "
        "that is a missing value, or --categorical 'a'.",
    ),
    "a sentence among numbers": (
        "d.csv", "a,y\n1,0\nsee the other sheet,1\n3,0\n", {},
        "Column 'a' holds numbers, but has 'see the other sheet' in row 2; correct it, or pass "
        "--categorical 'a'.",
    ),
    "commas that may be decimal": (
        "d.csv", "a;y\n1,500;0\n2,500;1\n", {},
        "Column 'a' of d.csv holds numbers such as '1,500', whose comma may be a decimal comma or "
        "separate thousands; pass --decimal ',' or --decimal '.'.",
    ),
    "two kinds of commas": (
        "d.csv", "a;y\n1,50;0\n2,500,000;1\n", {},
        "Column 'a' of d.csv holds numbers that are written in different ways, such as '1,50' and "
        "'2,500,000'; write them like 1234.5, or pass --categorical 'a'.",
    ),
    "shares with and without a sign": (
        "d.csv", "a,y\n5%,0\n0.5,1\n", {}, "in different ways, such as '5%' and '0.5'; write",
    ),
    "text among decimal commas": (
        "d.csv", "a;y\n1,5;0\nbad;1\n2,5;0\n", {"options": FileOptions(decimal=",")},
        "Column 'a' holds numbers, but has 'bad' in row 2; correct it, or pass --missing 'bad'",
    ),
    "thousands where decimal commas were asked for": (
        "d.csv", "a;y\n1,100.5;0\n2,000.25;1\n", {"options": FileOptions(decimal=",")},
        "Column 'a' of d.csv holds numbers that are written in different ways, such as '1,100.5'",
    ),
    "infinite": ("d.csv", "a,y\n1,0\ninf,1\n", {}, "holds numbers, but has 'inf' in row 2"),
    "duplicate names": (
        "d.csv", "a,b,a,y\n1,2,3,0\n", {},
        "d.csv has two columns named 'a'; rename one of them, or pass --no-header if that row is "
        "data.",
    ),
    "no name left": (
        "d.csv", "column 2,,y\n0,0,0\n2,0,1\n", {},
        "Column 2 of d.csv has no name, and 'column 2' is the name of another one; give it a name.",
    ),
    "an index alone": (
        "d.csv", ",y\n0,0\n1,1\n", {}, "d.csv has no features besides the target",
    ),
    "names of rows without a name": (
        "d.csv", "a,b,y\n1,2.5,3,0\n2,3,4,1\n", {},
        "d.csv has 3 fields in its first row, but 4 in the others; name every column",
    ),
    "a remark before the names": (
        "d.csv", "# made today\na,b,y\n1,3,0\n2,4,1\n", {},
        "d.csv has 1 field in its first row, but 3 in the others; name every column there, "
        "or remove that row if it does not hold names.",
    ),
    "numbers as names": (
        "d.csv", "5.1,3.5,0\n4.9,3.0,1\n", {},
        "d.csv has the number 5.1 in its first row, where column names are expected; pass",
    ),
    "wrong delimiter": (
        "d.csv", ROWS.replace(",", "|"), {},
        "d.csv has only one column; is the delimiter '|'? Pass --delimiter '|'.",
    ),
    "wrong delimiter asked for": (
        "d.csv", ROWS.replace(",", ";"), {"options": FileOptions(delimiter=",")},
        "d.csv has only one column when split at ','; is the delimiter ';'? Pass --delimiter ';'.",
    ),
    "wrong delimiter by name": (
        "d.tsv", ROWS, {}, "is the delimiter ','? Pass --delimiter ','.",
    ),
    "one column": ("d.csv", "a\n1\n2\n", {}, "d.csv has only one column; a target and features"),
    "one column of numbers": ("d.csv", "a\n1.5\n2.5\n", {}, "one column; a target and features"),
    "one column of decimal commas": (
        "d.csv", "1,5\n2,5\n3,5\n", {"options": FileOptions(decimal=",", header=False)},
        "d.csv has only one column; is the delimiter ','? Pass --delimiter ','.",
    ),
    "long delimiter": (
        "d.csv", ROWS, {"options": FileOptions(delimiter="::")},
        "--delimiter must be one character; got '::'.",
    ),
    "uneven rows": (
        "d.csv", ROWS + "5,x\n", {},
        "d.csv has 2 fields in line 6, but 3 columns; correct that line, or pass --delimiter.",
    ),
    "open quotation": (
        "d.csv", 'a,y\n1,0\n"2,1\n3,0\n', {},
        "d.csv has a quotation mark in line 3 that is never closed",
    ),
    "truncated gzip": (
        "d.csv.gz", gzip.compress(ROWS.encode() * 999)[:-30], {},
        "d.csv.gz is truncated (incomplete gzip data); copy or download it again.",
    ),
    "damaged gzip": (
        "d.csv.gz", gzip.compress(ROWS.encode())[:10] + b"\xff" * 40, {},
        "d.csv.gz cannot be read (damaged gzip data); copy or download it again.",
    ),
    "not gzip": ("d.csv.gz", ROWS, {}, "d.csv.gz is not gzip data; correct its suffix."),
    "not UTF-8": (
        "d.csv", "a,b,y\n1,x,0\n2,caf\xe9,1\n".encode("latin-1"), {},
        "d.csv is not utf-8 text: line 3 has the byte 0xe9; pass --encoding latin-1",
    ),
    "UTF-16": ("d.csv", ROWS.encode("utf-16"), {}, "has the byte 0xff; pass --encoding utf-16, or"),
    "line ends of old": (
        "d.csv", ROWS.replace("\n", "\r"), {}, "d.csv cannot be split into columns (new-line",
    ),
    "unknown encoding": (
        "d.csv", ROWS, {"options": FileOptions(encoding="klingon")},
        "There is no encoding 'klingon'; try --encoding latin-1.",
    ),
    "damaged spreadsheet": ("d.xlsx", b"PK\x03\x04abc\0", {}, "d.xlsx is damaged or not an Excel"),
    "archive": ("d.zip", b"PK\x03\x04abc\0", {}, "d.zip is an archive; unpack it first."),
    "old spreadsheet": (
        "d.xls", b"\xd0\xcf\x11\xe0\0", {}, "d.xls is an Excel file of an old kind; save",
    ),
    "not text": ("d.bin", b"abc\0\1\2", {}, "d.bin is not text; pass --format with one of"),
    "NUL in CSV": ("d.csv", b"a,y\n1\0,0\n", {}, "d.csv is not text; give a CSV file, or pass"),
    "unknown format": (
        "d.csv", ROWS, {"options": FileOptions(format="xml")},
        "There is no format 'xml'; --format must be one of csv, tsv, parquet, arff, libsvm, excel.",
    ),
    "indices out of order": (
        "d.libsvm", "1 1:1 3:1\n-1 5:1 2:1\n", {},
        "d.libsvm has feature 2 after 5 in line 2; sort the features in each line by number.",
    ),
    "index twice": ("d.libsvm", "1 1:1\n-1 2:1 2:3\n", {}, "has feature 2 after 2 in line 2"),
    "text in LIBSVM": ("d.libsvm", "1 1:1\n-1 2:x\n", {}, "value 'x' for feature 2 in line 2"),
    "NaN in LIBSVM": ("d.libsvm", "1 1:1\n-1 2:nan\n", {}, "value 'nan' for feature 2 in line 2"),
    "no index in LIBSVM": (
        "d.libsvm", "1 1:1\n-1 abc\n", {}, "has 'abc' in line 2, where index:value is expected",
    ),
    "label in LIBSVM": (
        "d.libsvm", "1 1:1\n0.5 2:1\n", {},
        "The label in d.libsvm has 0.5 in row 2, but classes must be integers or text; pass --task",
    ),
    "large labels in LIBSVM": (
        "d.libsvm", "9007199254740993 1:1\n9007199254740992 2:1\n", {},
        "d.libsvm has labels of 2^53 or more, which cannot be told apart; use smaller numbers.",
    ),
    "one class in LIBSVM": ("d.libsvm", "1 1:1\n1 2:1\n", {}, "in d.libsvm is '1' in all 2 rows"),
    "columns of LIBSVM": (
        "d.libsvm", "1 1:1\n-1 2:1\n", {"scores": "q"},
        "d.libsvm is a LIBSVM file, which has no named columns; leave --scores out",
    ),
    "missing in LIBSVM": (
        "d.libsvm", "1 1:1\n-1 2:1\n", {"options": FileOptions(missing=(*MISSING, "-999"))},
        "d.libsvm is a LIBSVM file, which cannot have missing values; leave --missing out",
    ),
    "a far feature in LIBSVM": (
        "d.libsvm", "1 1:1\n-1 300000000:1\n", {"options": FileOptions(available_memory=8e9)},
        "d.libsvm has a feature 300000000; that many need about 30.0 GB of memory, but only 8.0 GB",
    ),
    "negative weights": (
        "d.csv", ROWS.replace("3,", "-3,"), {"weights": "a"},
        "The weights in column 'a' must not be negative, but row 3 has -3; correct it.",
    ),
    "missing weights": (
        "d.csv", ROWS.replace("3,", "NaN,"), {"weights": "a"},
        "Column 'a' must have a number in every row for --weights, but has 1 missing, the first "
        "in row 3; fill them in.",
    ),
    "text as weights": (
        "d.csv", ROWS, {"weights": "b"},
        "Column 'b' must hold numbers, but has 'x' in row 1; correct it or choose another",
    ),
    "scores outside": (
        "d.csv", ROWS, {"scores": "a"},
        "The scores in column 'a' must be between 0 and 1, but row 2 has 2; scale them first.",
    ),
    "unknown column": (
        "d.csv", "income,label\n1,0\n2,1\n", {"target": "lable"},
        "There is no column 'lable' in d.csv (did you mean 'label'?); --target must be one "
        "of income, label.",
    ),
    "unknown column to drop": ("d.csv", ROWS, {"drop": ["q"]}, "no column 'q' in d.csv; --drop"),
    "two roles": (
        "d.csv", ROWS, {"scores": "a", "weights": "a"},
        "Column 'a' is given to both --scores and --weights; choose another column for one of",
    ),
    "no features": ("d.csv", ROWS, {"drop": ["a", "b"]}, "d.csv has no features besides the"),
    "no labels": (
        "d.csv", "a,y\n1,\n2,\n3,\n", {}, "The target 'y' of d.csv is missing in all rows",
    ),
    "missing labels": (
        "d.csv", "a,y\n1,0\n2,\n3,1\n", {"missing_target": "error"},
        "Column 'y' must have a value in every row, but has 1 missing, the first in row 2; remove",
    ),
    "a target of measurements": (
        "d.csv", "a,y\n1,0.5\n2,1\n", {},
        "The target 'y' of d.csv has 0.5 in row 1, but classes must be integers or text; pass "
        "--task regression to predict numbers, or --target",
    ),
    "a target of names": (
        "d.csv", "a,y\n1,Ann\n2,Bob\n3,Cem\n", {},
        "The target 'y' of d.csv has 3 different values in 3 rows; pass --target with the column",
    ),
    "ARFF rows": (
        "d.arff", "@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,0\n2\n", {},
        "d.arff has 1 fields in line 6, but 2 attributes; correct that line.",
    ),
    "ARFF category": (
        "d.arff", "@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,2\n", {},
        "Column 'y' of d.arff has '2' in line 5, which its @attribute does not list",
    ),
    "ARFF text": (
        "d.arff", "@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,0\nx,1\n", {},
        "Column 'a' must hold numbers, but has 'x' in row 2",
    ),
    "ARFF sparse": (
        "d.arff", "@relation r\n@attribute a real\n@data\n{0 1}\n", {},
        "d.arff has sparse rows (line 4); save it as a LIBSVM file.",
    ),
    "ARFF date": (
        "d.arff", "@relation r\n@attribute a date 'yyyy'\n@data\n1\n", {},
        "Column 'a' of d.arff has type date, which cannot be a feature",
    ),
    "no Parquet": ("d.parquet", ROWS, {}, "d.parquet is damaged or not a Parquet file; copy"),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_a_bad_file_is_told_in_one_sentence(tmp_path: Path, case: str) -> None:
    name, content, arguments, message = TEXTS[case]
    data = content.encode() if isinstance(content, str) else content
    (tmp_path / name).write_bytes(data)
    roles = Roles(**{role: value for role, value in arguments.items() if role != "options"})
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        read_table(tmp_path / name, arguments.get("options"), roles)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_file_that_is_not_there_is_told_with_the_closest_name(tmp_path) -> None:
    (tmp_path / "train.csv").write_text(ROWS)
    message = r"There is no file .*trian\.csv \(did you mean 'train\.csv'\?\)"
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "trian.csv")
    with pytest.raises(UserError, match="is a folder; give a file"):
        read_table(tmp_path)


def test_a_file_of_5_gb_on_a_small_machine_says_what_it_needs(tmp_path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("a,b,c,y\n" + "0.1234,0.2345,0.3456,1\n" * 50_000)
    with path.open("r+b") as stream:
        stream.truncate(5 * 10**9)  # sparse: it takes no room on the disk
    # 2 x 5 GB of text, and 3 copies of 8 bytes for every 5.75 bytes of text.
    message = (
        r"large\.csv needs about 30\.\d GB of memory, but only 4\.0 GB is free; use fewer rows, "
        r"or a computer with more memory\."
    )
    with pytest.raises(UserError, match=message):
        read_table(path, FileOptions(available_memory=4e9))


@pytest.mark.parametrize(("ending", "library"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
@pytest.mark.parametrize("repeated", [False, True])
def test_the_size_of_a_compressed_file_is_estimated(tmp_path, ending, library, repeated) -> None:
    rows = (0 if repeated else row for row in range(400_000))
    lines = "".join(f"{i * 7919 % 10007},{i * 104729 % 1009},{i % 2}\n" for i in rows)
    path = tmp_path / f"large.csv.{ending}"
    path.write_bytes(library.compress(b"a,b,y\n" + lines.encode()))
    with pytest.raises(UserError, match=rf"large\.csv\.{ending} needs about") as caught:
        read_table(path, FileOptions(available_memory=2e7))
    told = re.search(r"about (\d+\.\d) MB", str(caught.value))
    assert told is not None
    expected = 2 * len(lines) + 24 * 3 * 400_000
    assert float(told[1]) == pytest.approx(expected / 1e6, rel=0.05)


def test_a_large_parquet_file_says_what_it_needs(tmp_path) -> None:
    frame = pandas.DataFrame({"a": [1.0] * 100_000, "y": [0, 1] * 50_000})
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(UserError, match=r"d\.parquet needs about 4\.\d MB of memory"):
        read_table(tmp_path / "d.parquet", FileOptions(available_memory=1e6))


def test_parquet_columns_that_are_no_features_are_told(tmp_path) -> None:
    frame = pandas.DataFrame({"when": pandas.to_timedelta([1, 2, 3, 4]), "a": [1, 2, 3, 4]})
    frame["y"] = [0, 1, 0, 1]
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(UserError, match=r"Column 'when' has type duration.*--drop 'when'"):
        read_table(tmp_path / "d.parquet")
    assert read_table(tmp_path / "d.parquet", roles=Roles(drop=["when"])).feature_names == ("a",)


@pytest.mark.parametrize(
    ("role", "message"),
    [
        ("weights", "Column 'when' must hold numbers, but has '2020-01-01' in row 1"),
        ("id", None),
        ("groups", None),
        ("target", None),
    ],
)
def test_a_column_of_dates_has_names_but_no_numbers(tmp_path, role, message) -> None:
    frame = pandas.DataFrame({"a": [1, 2, 5, 4], "b": [2, 1, 2, 9], "y": [0, 1, 0, 1]})
    days = pandas.to_datetime(["2020-01-01", "2020-01-02"] * 2)
    frame["when"] = days.date
    frame.to_parquet(tmp_path / "d.parquet")
    roles = {"target": "y", role: "when"}
    if message is not None:
        with pytest.raises(UserError, match=message):
            read_table(tmp_path / "d.parquet", roles=Roles(**roles))
        return
    table = read_table(tmp_path / "d.parquet", roles=Roles(**roles))
    found = {"id": table.ids, "groups": table.groups, "target": table.y}[role]
    assert found.tolist() == ["2020-01-01", "2020-01-02"] * 2


@pytest.mark.parametrize(("values", "kind"), [([[1], [2]], "list<"), ([b"\xff", b"b"], "binary")])
def test_a_column_without_text_names_nothing(tmp_path, values, kind) -> None:
    frame = pandas.DataFrame({"a": [1, 2], "l": values, "y": [0, 1]})
    frame.to_parquet(tmp_path / "d.parquet")
    message = rf"Column 'l' has type {kind}.*choose another column"
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "d.parquet", roles=Roles(id="l"))


def test_of_many_columns_the_first_and_the_last_are_told(tmp_path) -> None:
    names = [f"c{i}" for i in range(1, 31)]
    (tmp_path / "d.csv").write_text(",".join(names) + "\n" + ",".join(["1"] * 30) + "\n")
    message = r"--target must be one of c1, .*, c9, \.\.\., c30 \(30 in all\)\."
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "d.csv", roles=Roles(target="label"))


def test_missing_values_are_counted_if_they_are_refused(tmp_path) -> None:
    (tmp_path / "d.csv").write_text("a,b,y\n1,x,0\n,x,1\n,z,0\n4,,1\n")
    table = read_table(tmp_path / "d.csv")
    message = re.escape(
        "d.csv has missing values (2 in 'a', 1 in 'b'); leave --impute error out to fill them in, "
        "or remove those rows or columns."
    )
    with pytest.raises(UserError, match=message):
        build_pipeline(table, SVC(), impute="error")
    with pytest.raises(UserError, match=r"--impute must be one of median, .*; got 'magic'"):
        build_pipeline(table, SVC(), impute="magic")
    with pytest.raises(UserError, match=r"--scale must be one of minmax, .*; got 'log'"):
        build_pipeline(table, SVC(), scale="log")


def test_rows_with_missing_values_are_predicted_only_by_a_model_that_imputes(tmp_path) -> None:
    (tmp_path / "d.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text("a,b\n,x\n2,z\n")
    table = read_table(tmp_path / "d.csv")
    rows = read_for_prediction(tmp_path / "new.csv", table.schema)
    plain = build_pipeline(table, SVC()).fit(table.X, table.y)
    message = (
        r"new\.csv has missing values \(1 in 'a'\), but the model was trained on complete rows; "
        r"fill them in, or train with --impute median\."
    )
    with pytest.raises(UserError, match=message):
        check_predictable(plain, rows)
    imputing = build_pipeline(table, SVC(), impute="mean").fit(table.X, table.y)
    check_predictable(imputing, rows)
    assert imputing.predict(rows.X).shape == (2,)


def test_columns_that_a_model_needs_are_named_with_the_closest_ones(tmp_path) -> None:
    (tmp_path / "d.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text("A,q\n1,2\n")
    (tmp_path / "new.libsvm").write_text("1 1:1\n")
    schema = read_table(tmp_path / "d.csv").schema
    message = (
        r"new\.csv lacks 2 of the 2 columns that the model was trained on: 'a' \(did you mean "
        r"'A'\?\), 'b'; add or rename them\."
    )
    with pytest.raises(UserError, match=message):
        read_for_prediction(tmp_path / "new.csv", schema)
    with pytest.raises(
        UserError, match=r"was trained on named columns, but new\.libsvm is a LIBSVM"
    ):
        read_for_prediction(tmp_path / "new.libsvm", schema)


def test_a_column_that_seems_to_name_the_rows_is_noted(tmp_path) -> None:
    (tmp_path / "d.csv").write_text("n,a,y\nAnn,1,0\nBob,2,1\nCem,3,0\nDov,4,1\n")
    table = read_table(tmp_path / "d.csv")
    (note,) = table.notes
    assert tells(note, "'n'", "4 different values in 4 rows", "--id 'n'", "--drop 'n'")
