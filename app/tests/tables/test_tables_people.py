"""Files as people have them: other ways to write numbers, names of rows, gaps, long texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC

from spansvm.errors import UserError
from spansvm.models import load_model, save_model
from spansvm_app.tables import (
    FileOptions,
    Roles,
    Schema,
    build_pipeline,
    read_for_prediction,
    read_table,
)
from tests.wording import tells

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def write(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(*columns: list[object], heading: str, mark: str = ",") -> str:
    lines = [heading, *(mark.join(map(str, row)) for row in zip(*columns, strict=True))]
    return "\n".join(lines) + "\n"


#: Texts that people write for numbers, with the numbers that they mean.
WRITTEN = {
    "decimal commas": (["1,5", "2,25", "-,5", "7"], [1.5, 2.25, -0.5, 7]),
    "with exponents": (["1,5E-3", "2e1", "3,5", "4"], [0.0015, 20, 3.5, 4]),
    "points between thousands": (
        ["1.234,5", "12", "2.000", "1.234.567"],
        [1234.5, 12, 2e3, 1234567],
    ),
    "commas between thousands": (
        ["1,234.5", "12", "2,000", "1,234,567"],
        [1234.5, 12, 2e3, 1234567],
    ),
    "blanks between thousands": (["1 234", "12", "2 000,5", "3"], [1234, 12, 2000.5, 3]),
    "apostrophes": (["1'234.5", "12", "2'000", "3"], [1234.5, 12, 2000, 3]),
    "percent": (["5%", "12.5 %", "0%", "100%"], [5, 12.5, 0, 100]),
    "dollars": (["$5", "$1,250.50", "$3", "$ 7"], [5, 1250.5, 3, 7]),
    "euros": (["5 €", "1.250,50 €", "3 €", "7 €"], [5, 1250.5, 3, 7]),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_numbers_are_read_as_people_write_them(tmp_path, case) -> None:
    texts, numbers = WRITTEN[case]
    quoted = [f'"{text}"' for text in texts]
    for mark, column in ((";", texts), ("\t", texts), (",", quoted)):
        text = rows_of(column, [4, 2, 3, 1], [0, 1, 0, 1], heading=mark.join("aby"), mark=mark)
        table = read_table(write(tmp_path, text))
        np.testing.assert_array_equal(table.X["a"], numbers)
        # A model finds them again, in whatever file.
        schema = Schema.from_json(json.loads(json.dumps(table.schema.to_json())))
        for row in range(4):
            new = rows_of(column[row : row + 1], [1], heading=mark.join("ab"), mark=mark)
            rows = read_for_prediction(write(tmp_path, new, "new.csv"), schema)
            assert rows.X["a"].tolist() == [numbers[row]]


def test_how_numbers_are_written_is_said_in_one_line(tmp_path) -> None:
    text = rows_of(["1,5", "2,5", "3"], ["0,1", "0", "2"], [0, 1, 0], heading="a;b;y", mark=";")
    assert read_table(write(tmp_path, text)).notes == (
        "Columns 'a', 'b' write numbers with a decimal comma.",
    )


def test_signs_and_blanks_that_are_left_out_are_said(tmp_path) -> None:
    text = rows_of(
        ["5 %", "7%", "9 %"], ["$5", "$1,250", "$7"], ["1 000", "2", "3"], ["1'000", "2", "3"],
        ["8%", "7%", "6%"], [0, 1, 0], heading="a;b;c;d;e;y", mark=";",
    )  # fmt: skip
    table = read_table(write(tmp_path, text), FileOptions(decimal="."))
    assert table.notes == (
        "Columns 'a', 'e' write numbers with '%', which is left out.",
        "Column 'b' writes numbers with commas between thousands.",
        "Column 'b' writes numbers with '$', which is left out.",
        "Column 'c' writes numbers with blanks between thousands.",
        "Column 'd' writes numbers with apostrophes between thousands.",
    )


def test_labels_with_signs_are_texts_unless_they_are_a_quantity(tmp_path) -> None:
    sizes = [n * n % 7 for n in range(30)]
    for labels in (["5 %", "10 %"], ["$5", "5 %"]):
        path = write(tmp_path, rows_of(sizes, labels * 15, heading="a;y", mark=";"))
        table = read_table(path)
        assert (table.task, table.schema.classes) == ("classification", tuple(sorted(labels)))
        assert table.notes == ()
        rows = read_for_prediction(
            write(tmp_path, f"a;y\n3;{labels[0]}\n", "new.csv"), table.schema
        )
        assert rows.y.tolist() == [labels[0]]
    path = write(tmp_path, rows_of(sizes, ["5 %", "10 %"] * 15, heading="a;y", mark=";"))
    assert set(read_table(path, roles=Roles(task="regression")).y) == {5, 10}
    rates = [f"{n / 4} %" for n in range(30)]
    table = read_table(write(tmp_path, rows_of(sizes, rates, heading="a;y", mark=";")))
    assert (table.task, table.y.tolist()) == ("regression", [n / 4 for n in range(30)])
    rows = read_for_prediction(write(tmp_path, "a;y\n3;7.5 %\n", "new.csv"), table.schema)
    assert rows.y.tolist() == [7.5]


def test_a_comma_that_may_mean_two_things_means_what_it_does_in_the_other_columns(tmp_path) -> None:
    three = ["1,500", "2,250", "7"]
    for sure, meant in ((["1,5", "2", "3"], [1.5, 2.25, 7]), (["1,0,0"], None)):
        if meant is None:
            sure, meant = ["1,500,000", "2", "3"], [1500, 2250, 7]
        text = rows_of(three, sure, [0, 1, 0], heading="a;b;y", mark=";")
        np.testing.assert_array_equal(read_table(write(tmp_path, text)).X["a"], meant)
    alone = write(tmp_path, rows_of(three, [0, 1, 0], heading="a;y", mark=";"))
    for decimal, meant in ((",", [1.5, 2.25, 7]), (".", [1500, 2250, 7])):
        table = read_table(alone, FileOptions(decimal=decimal))
        np.testing.assert_array_equal(table.X["a"], meant)
    with pytest.raises(UserError, match="may be a decimal comma or separate thousands"):
        read_table(alone)


@pytest.mark.parametrize("sign", ["", " €"])
def test_points_are_between_thousands_where_other_columns_have_a_decimal_comma(
    tmp_path, sign
) -> None:
    prices = [f"{text}{sign}" for text in ("806", "2.161", "740")]
    rates = ["0,19", "0,07", "0,5"]
    text = rows_of(prices, rates, ["1.5", "2.161", "3"], [0, 1, 0], heading="a;b;c;y", mark=";")
    table = read_table(write(tmp_path, text))
    assert table.X["a"].tolist() == [806, 2161, 740]
    assert table.X["c"].tolist() == [1.5, 2.161, 3]  # 1.5 has no thousands
    assert set(table.schema.written) == {"a", "b"}
    alone = write(tmp_path, rows_of(prices, [0, 1, 0], heading="a;y", mark=";"))
    for decimal, number in ((",", 2161), (".", 2.161), (None, 2.161)):
        numbers = read_table(alone, FileOptions(decimal=decimal)).X["a"]
        assert numbers.tolist() == [806, number, 740]


def test_a_target_may_have_points_between_thousands(tmp_path) -> None:
    text = rows_of(["0,19", "0,07", "0,5"], ["1.806", "2.161", "740"], heading="a;y", mark=";")
    table = read_table(write(tmp_path, text), roles=Roles(task="regression"))
    assert table.y.tolist() == [1806, 2161, 740]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [(["0.123", "5,6", "1"], [0.123, 5.6, 1]), (["01.234", "5,6", "1"], [1.234, 5.6, 1])],
)
def test_thousands_do_not_begin_with_zero(tmp_path, texts, numbers) -> None:
    text = rows_of(texts, [4, 2, 3], [0, 1, 0], heading="a;b;y", mark=";")
    assert read_table(write(tmp_path, text)).X["a"].tolist() == numbers


def trained_on(tmp_path: Path, *texts: str) -> Schema:
    text = rows_of(texts, [4, 2, 3], [0, 1, 0], heading="a;b;y", mark=";")
    return read_table(write(tmp_path, text)).schema


POINTS, COMMAS = ("1.234,5", "12", "2.000"), ("1,234.5", "12", "2,000")


@pytest.mark.parametrize(
    ("trained", "new", "numbers"),
    [
        (POINTS, ["12.5"], [12.5]),
        (POINTS, ["0.5"], [0.5]),
        (POINTS, ["1234.5", "3"], [1234.5, 3]),
        (POINTS, ["1.234"], [1234]),
        (POINTS, ["12,5", "1.234"], [12.5, 1234]),
        (COMMAS, ["12,5"], [12.5]),
        (COMMAS, ["1,234", "12.5"], [1234, 12.5]),
        (("1,5", "2", "3,25"), ["1.234,5", "1.234"], [1234.5, 1234]),
    ],
)
def test_a_number_that_is_not_written_as_in_training_keeps_its_size(
    tmp_path, trained, new, numbers
) -> None:
    schema = trained_on(tmp_path, *trained)
    text = rows_of(new, [1] * len(new), heading="a;b", mark=";")
    assert read_for_prediction(write(tmp_path, text), schema).X["a"].tolist() == numbers


@pytest.mark.parametrize(
    ("trained", "new", "mark", "number"),
    [(POINTS, ["1.234", "12.5"], ".", 1.234), (COMMAS, ["1,234", "12,5"], ",", 1.234)],
)
def test_a_number_that_would_be_another_in_training_is_refused(
    tmp_path, trained, new, mark, number
) -> None:
    schema = trained_on(tmp_path, *trained)
    path = write(tmp_path, rows_of(new, [1, 1], heading="a;b", mark=";"))
    with pytest.raises(UserError) as caught:
        read_for_prediction(path, schema)
    assert tells(str(caught.value), "'a'", f"'{new[1]}'", f"'{new[0]}'", f"--decimal '{mark}'")
    rows = read_for_prediction(path, schema, FileOptions(decimal=mark))
    assert rows.X["a"].tolist() == [number, 12.5]


def test_a_target_is_read_like_any_other_column(tmp_path) -> None:
    prices = [f"{1000 + 37 * i}".replace("1", "1.", 1) + ",50" for i in range(30)]
    table = read_table(write(tmp_path, rows_of([3] * 29 + [4], prices, heading="a;p", mark=";")))
    assert table.task == "regression"
    np.testing.assert_array_equal(table.y, [1000.5 + 37 * i for i in range(30)])
    rows = read_for_prediction(write(tmp_path, "a;p\n3;1.234,25\n", "new.csv"), table.schema)
    assert rows.y.tolist() == [1234.25]


@pytest.mark.parametrize("text", ["12.5.2024", "10.0.0.1", "1.2.3", "5-10", "1/2", "+49 30 1234"])
def test_what_is_no_number_stays_a_category(tmp_path, text) -> None:
    table = read_table(write(tmp_path, f"a;b;y\n{text};1;0\n{text};2;1\n{text};3;0\n"))
    assert "a" not in table.schema.written
    assert table.schema.column_types[0] == "categorical" or text == "12.5.2024"


# Numbers or texts -----------------------------------------------------------------------------


def test_a_number_among_texts_is_a_text(tmp_path) -> None:
    words = ["go", "645", "stop", "wait", "go", "stop"]
    table = read_table(write(tmp_path, rows_of(words, range(6), [0, 1] * 3, heading="a,b,y")))
    assert table.schema.categories == {"a": ("645", "go", "stop", "wait")}


def test_what_stands_for_a_missing_number_is_said_and_remembered(tmp_path) -> None:
    text = rows_of([1, "n/a", 3, "-", 5, 6], [0, 1] * 3, heading="a,y")
    table = read_table(write(tmp_path, text))
    assert table.missing == {"a": 2}
    (note,) = table.notes
    assert note == (
        "Column 'a' holds numbers, and 'n/a', '-' in 2 rows, which is taken for a missing value."
    )
    schema = Schema.from_json(json.loads(json.dumps(table.schema.to_json())))
    rows = read_for_prediction(write(tmp_path, "a\n-\n4\n", "new.csv"), schema)
    assert rows.missing == {"a": 1}


@pytest.mark.parametrize("other", ["3+", "rotary"])
def test_few_values_of_which_some_are_texts_are_categories(tmp_path, other) -> None:
    text = rows_of([0, 1, 2, other, 0, 1] * 2, [0, 1] * 6, heading="a,y")
    table = read_table(write(tmp_path, text))
    assert table.schema.categories == {"a": ("0", "1", "2", other)}
    (note,) = table.notes
    assert note == (
        f"Column 'a' holds few different values, '{other}' among its numbers, so each is a "
        f"category (--missing '{other}' if that is a missing value)."
    )


def test_tickets_of_numbers_and_letters_are_texts(tmp_path) -> None:
    tickets = [*range(100_000, 100_020), *(f"PC {n}" for n in range(10))]
    sizes = [n * n % 7 for n in range(30)]
    text = rows_of(tickets, sizes, [0, 1] * 15, heading="ticket,size,y")
    assert read_table(write(tmp_path, text)).feature_names == ("size",)
    kept = read_table(tmp_path / "data.csv", roles=Roles(keep=["ticket"]))
    assert len(kept.schema.categories["ticket"]) == 30


# Names of rows --------------------------------------------------------------------------------


def test_names_of_rows_are_left_out_in_one_line_and_predictions_need_none(tmp_path) -> None:
    ids, names = range(1, 21), [f"Braund, Mr. Owen {n}" for n in range(20)]
    heading = "PassengerId,Name,Age,y"
    quoted = [f'"{name}"' for name in names]
    text = rows_of(ids, quoted, [n * n % 7 for n in ids], [0, 1] * 10, heading=heading)
    table = read_table(write(tmp_path, text))
    assert table.feature_names == ("Age",)
    (note,) = table.notes
    assert tells(note, "'PassengerId', 'Name'", "left out", "--keep COLUMN")
    assert table.schema.others == ("Name", "PassengerId")
    assert read_for_prediction(tmp_path / "data.csv", table.schema).notes == ()
    named = read_table(tmp_path / "data.csv", roles=Roles(id="PassengerId"))
    assert named.ids.tolist() == [str(n) for n in ids]


def test_columns_without_values_are_left_out(tmp_path) -> None:
    table = read_table(write(tmp_path, "a,b,c,y\n1,,x,0\n2,,x,1\n4,,z,0\n"))
    assert table.feature_names == ("a", "c")
    assert table.notes == ("Column 'b' has no values and is left out.",)


# Gaps -----------------------------------------------------------------------------------------


def test_missing_values_are_filled_in_without_being_asked(tmp_path) -> None:
    text = "a,b,c,y\n1,x,5,0\n,x,6,1\n4,,5,0\n9,z,6,1\n"
    table = read_table(write(tmp_path, text))
    encoded = build_pipeline(table, SVC())[:-1].fit_transform(table.X)
    # a and c scaled with the median for a; where a was missing; (missing), x and z of b.
    expected = [
        [0, 0, 0, 0, 1, 0],
        [3 / 8, 1, 1, 0, 1, 0],
        [3 / 8, 0, 0, 1, 0, 0],
        [1, 1, 0, 0, 0, 1],
    ]
    np.testing.assert_allclose(encoded, expected)


def test_a_category_may_have_the_name_of_missing_ones(tmp_path) -> None:
    text = rows_of(["(missing)", "", "x", "x"] * 3, [0, 1, 0, 1] * 3, heading="a,y")
    table = read_table(write(tmp_path, text))
    encoded = build_pipeline(table, SVC(), all_categories=True)[:-1].fit_transform(table.X)
    np.testing.assert_array_equal(_dense(encoded), [[1, 0], [1, 0], [0, 1], [0, 1]] * 3)


@pytest.mark.parametrize("impute", [None, "mean", "most_frequent"])
def test_rows_without_any_value_of_a_column_have_all_features_and_no_warning(
    tmp_path, impute
) -> None:
    text = rows_of(
        [""] * 6 + [3, 1, 2] * 2, [""] * 6 + ["u", "v"] * 3, [4, 2, 3] * 4, [0, 1] * 6,
        heading="a,b,c,y",
    )  # fmt: skip
    table = read_table(write(tmp_path, text))
    features = build_pipeline(table, SVC(), impute=impute, all_categories=True)[:-1]
    on_all = features.fit_transform(table.X).shape[1]
    some = features.fit_transform(table.X[:6])
    assert some.shape == (6, on_all)
    assert np.isfinite(_dense(some)).all()


def test_few_missing_numbers_have_no_feature_of_their_own(tmp_path) -> None:
    text = rows_of(
        ["", *range(28), 5], [n * n % 7 for n in range(30)], [0, 1] * 15, heading="a,b,y"
    )
    table = read_table(write(tmp_path, text))
    assert build_pipeline(table, SVC())[:-1].fit_transform(table.X).shape == (30, 2)


# Long texts -----------------------------------------------------------------------------------

WORDS = ["the", "cat", "sat", "on", "mat", "while", "rain", "fell", "over", "hills", "and", "dogs"]


def messages(n: int) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS, 9)) + (" now" if i % 2 else "") for i in range(n)]


def test_long_texts_become_weights_of_their_words(tmp_path) -> None:
    texts, sizes = messages(60), [n * n % 7 for n in range(60)]
    text = rows_of(texts, sizes, [0, 1] * 30, heading="message,size,y")
    table = read_table(write(tmp_path, text))
    assert table.schema.column_types == ("text", "numeric")
    (note,) = table.notes
    assert tells(note, "'message'", "words on average", "--categorical 'message'")
    encoded = build_pipeline(table, SVC())[:-1].fit_transform(table.X)
    peer = TfidfVectorizer(sublinear_tf=True, min_df=2, token_pattern=r"(?u)\b\w+\b")
    np.testing.assert_allclose(_dense(encoded)[:, 1:], peer.fit_transform(texts).toarray())
    whole = read_table(tmp_path / "data.csv", roles=Roles(categorical=["message"]))
    assert whole.schema.column_types == ("categorical", "numeric")


def test_a_column_of_texts_may_have_any_name(tmp_path) -> None:
    texts = messages(60)
    text = rows_of(texts, texts[::-1], [0, 1] * 30, heading="free__text,words 1,y")
    table = read_table(write(tmp_path, text))
    encoded = build_pipeline(table, SVC())[:-1].fit_transform(table.X)
    peer = TfidfVectorizer(sublinear_tf=True, min_df=2, token_pattern=r"(?u)\b\w+\b")
    both = [peer.fit_transform(column).toarray() for column in (texts, texts[::-1])]
    np.testing.assert_allclose(_dense(encoded), np.hstack(both))


def single_words(n: int) -> list[str]:
    return [" ".join(f"w{number}" for number in range(7 * i, 7 * i + 7)) for i in range(n)]


def test_texts_that_share_no_word_are_left_out_with_a_note(tmp_path) -> None:
    texts, sizes = single_words(30), [n * n % 7 for n in range(30)]
    path = write(tmp_path, rows_of(texts, sizes, [0, 1] * 15, heading="message,size,y"))
    table = read_table(path)
    assert table.feature_names == ("size",)
    assert tells(table.notes[0], "'message'", "left out", "--categorical 'message'")
    rows = read_for_prediction(write(tmp_path, "size\n3\n", "new.csv"), table.schema)
    assert build_pipeline(table, SVC()).fit(table.X, table.y).predict(rows.X).shape == (1,)
    whole = read_table(path, roles=Roles(categorical=["message"]))
    assert len(whole.schema.categories["message"]) == 30
    alone = write(tmp_path, rows_of(texts, [0, 1] * 15, heading="message,y"))
    with pytest.raises(UserError, match="share a word in column 'message'"):
        read_table(alone)


def test_folds_have_the_words_of_all_rows_even_if_they_share_none(tmp_path) -> None:
    texts = single_words(30) * 2
    text = rows_of(texts, range(60), [0, 1] * 30, heading="message,size,y")
    table = read_table(write(tmp_path, text), roles=Roles(keep=["size"]))
    model = build_pipeline(table, SVC())
    halves = [model[:-1].fit_transform(table.X[rows]) for rows in (slice(30), slice(30, 60))]
    assert [half.shape for half in halves] == [(30, 211), (30, 211)]
    found = cross_val_score(model, table.X, table.y, cv=KFold(2), error_score="raise")
    assert np.isfinite(found).all()


def test_models_of_words_are_saved_in_the_same_bytes(tmp_path) -> None:
    pytest.importorskip("skops")
    text = rows_of(messages(30), [0, 1] * 15, heading="free__text,y")
    table = read_table(write(tmp_path, text))
    paths = tmp_path / "one.skops", tmp_path / "two.skops"
    for path in paths:
        model = build_pipeline(table, SVC()).fit(table.X, table.y)
        save_model(path, model, metadata={"schema": table.schema.to_json()})
    assert paths[0].read_bytes() == paths[1].read_bytes()
    loaded = load_model(paths[0]).model
    np.testing.assert_array_equal(loaded.predict(table.X), model.predict(table.X))


def test_a_missing_text_is_an_empty_one(tmp_path) -> None:
    texts = [*messages(60), "", "NA"]
    text = rows_of(texts, [1] * 62, [0, 1] * 31, heading="message,size,y")
    table = read_table(write(tmp_path, text))
    assert (table.missing, table.X["message"].tolist()[-2:]) == ({}, ["", ""])
    rows = read_for_prediction(write(tmp_path, "message,size\n,1\n", "new.csv"), table.schema)
    model = build_pipeline(table, SVC(kernel="linear")).fit(table.X, table.y)
    assert model.predict(rows.X).shape == (1,)


def _dense(X: object) -> np.ndarray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)
