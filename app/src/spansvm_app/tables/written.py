"""Numbers as people write them, such as 1.234,5 or $1,234 or 5 %, and what stands among them.

Whether a column holds numbers or texts is decided by the majority of its values.  What a comma or
a point means is decided by all values of a column, and where these leave it open, by the other
columns of the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spansvm.errors import UserError, require

from ..common.tasks import is_quantity
from ..common.wording import listed
from .columns import Column

__all__ = ["Written", "as_in_training", "read_written"]

#: How the numbers of a column may be written; each is named by an example.
PLAIN, COMMA, POINTS, COMMAS = "1234.5", "1234,5", "1.234,5", "1,234.5"

_SAID = {
    COMMA: "with a decimal comma",
    POINTS: "with a decimal comma and points between thousands",
    COMMAS: "with commas between thousands",
}

#: What the forms are if ``--decimal`` says it.
_WITH = {",": (PLAIN, COMMA, POINTS), ".": (PLAIN, COMMAS), None: (PLAIN, COMMA, POINTS, COMMAS)}

#: A number with its currency or percent sign; blanks and apostrophes between thousands.
_BLANK = "[ '\u2019\u00a0\u202f]"
_SIGNED = re.compile(r"([$€£]?)\s*([+-]?[\d.,](?:.*\d)?[.,]?)\s*([%$€£]?)", re.DOTALL)
_SIGNS = r"^[$€£]\s*|\s*[%$€£]$"
_GROUPED = re.compile(rf"[+-]?\d{{1,3}}(?:{_BLANK}\d{{3}})+(?:[.,]\d+)?")
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_FORMS = {
    PLAIN: _PLAIN,
    COMMA: re.compile(r"[+-]?(?:\d*,\d+(?:[eE][+-]?\d+)?)"),
    POINTS: re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?|[+-]?,\d+"),
    COMMAS: re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"),
}

#: Among numbers, these stand for a missing value.
_MARKS = frozenset(
    ("-", "--", "---", ".", "..", "n/a", "n.a.", "na", "none", "nan", "null", "nil", "missing",
     "unknown", "undefined", "not available", "no data", "#n/a", "#value!", "#div/0!", "#null!")
)  # fmt: skip

#: Numbers may have so many different texts, or texts in this share of the rows, among them.
_FEW_TEXTS, _RARE_TEXTS = 3, 0.05

#: Up to so many different values, each in so many rows on average, of which some are such as "3+",
#: are categories.
_FEW_VALUES, _OFTEN = 20, 3

#: A mark of a missing value has no more words and letters.
_MARK_WORDS, _MARK_LETTERS = 2, 20


@dataclass(frozen=True)
class Written:
    """How the numbers of a file are written; kept with a model for the files that it predicts.

    Attributes
    ----------
    forms : mapping from str to str
        For each column whose numbers are not written like 1234.5, an example.
    marks : mapping from str to tuple of str
        The texts that stand for missing values among the numbers of a column.
    """

    forms: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Looked:
    """What a column may be: the forms in which all its numbers can be read, and other texts.

    `signs` are those of currencies and percent, empty where a number has none.
    `points` is whether there are points, and all of them may be between thousands.
    """

    column: Column
    forms: tuple[str, ...]
    examples: tuple[str, ...]
    others: tuple[str, ...]
    signs: frozenset[str]
    few_values: bool
    points: bool


def read_written(
    source: str,
    columns: Iterable[Column],
    decimal: str | None,
    lenient: Collection[str] = (),
    labels: str | None = None,
) -> tuple[dict[str, Column], Written, list[str]]:
    """Columns of text that hold numbers, as plain numbers, by name; how they were written; notes.

    Parameters
    ----------
    source : str
        Name of the file, for messages.
    columns : iterable of Column
    decimal : {".", ","}, optional
        The decimal mark; what the values say by default.
    lenient : collection of str
        Columns that stay as they are if there are texts among their numbers.
    labels : str, optional
        Column that may hold names of classes, such as "5 %": numbers with signs stay texts there,
        unless they are a quantity.

    Raises
    ------
    UserError
        If a column holds numbers and something else, or if a comma may mean two things.
    """
    looked = [found for column in columns if (found := _look(column, decimal)) is not None]
    meanings = [_meanings(one) for one in looked]
    certain = set().union(*(own for own in meanings if len(own) == 1))
    if decimal is not None:
        certain = {decimal}
    result: dict[str, Column] = {}
    forms: dict[str, str] = {}
    marks: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    said: dict[str, list[str]] = {}
    for one in looked:
        name = one.column.name
        if one.others:
            if name in lenient:
                continue
            if {text.casefold() for text in one.others} <= _MARKS:
                marks[name] = one.others
                notes.append(_note_marks(one))
            elif one.few_values:
                notes.append(_note_categories(one))
                continue
            else:
                _refuse_mixture(one)
        may_be_labels = name == labels and any(one.signs)
        if may_be_labels and not one.forms:
            continue
        form = _form_of(source, one, certain)
        read = _converted(_without(one.column, one.others), form)
        if may_be_labels and not is_quantity(
            read.kept(~read.values.is_null().to_numpy()).numbers()
        ):
            continue
        result[name] = read
        if form != PLAIN:
            forms[name] = form
        for way in _ways(one, form):
            said.setdefault(way, []).append(f"'{name}'")
    notes += [
        f"Column{'s' if len(names) > 1 else ''} {listed(names, 8)} "
        f"{'write' if len(names) > 1 else 'writes'} numbers {way}."
        for way, names in said.items()
    ]
    return result, Written(forms, marks), notes


def as_in_training(source: str, column: Column, written: Written, decimal: str | None) -> Column:
    """A column of numbers of a file for prediction, read as it was in training where it can be.

    Raises
    ------
    UserError
        If a value has another meaning in training than among the other values of the column.
    """
    column = _without(column, written.marks.get(column.name, ()))
    if not column.is_text:
        return column
    form = written.forms.get(column.name)
    if form not in _WITH[decimal]:
        form = None
    if form is not None and not any(_strange(column, form)):
        return _converted(column, form)
    read, own, _ = read_written(source, [column], decimal, (column.name,))
    result = read.get(column.name, column)
    if form is not None and result.are_numbers().all():
        _check_meaning(source, column, form, own.forms.get(column.name, PLAIN))
    return result


def _strange(column: Column, form: str) -> list[str]:
    """The different texts of a column that are no numbers in a form."""
    texts = column.values.unique().drop_null().to_pylist()
    return [text for text in texts if (own := _readings(text)) is None or form not in own[1]]


def _check_meaning(source: str, column: Column, form: str, found: str) -> None:
    """UserError if a value would be another number in the form of training."""
    if _mark(form) == _mark(found):
        return
    pyarrow = require("pyarrow", "cli")
    texts = column.values.unique().drop_null().to_pylist()
    inside = [text for text in texts if _FORMS[form].fullmatch(_number(text) or "")]
    values = pyarrow.chunked_array([pyarrow.array(inside, pyarrow.string())])
    here = replace(column, values=values, rows=None)
    now, then = _converted(here, found).numbers(), _converted(here, form).numbers()
    for text, value, trained in zip(inside, now, then, strict=True):
        if value != trained:
            raise UserError(
                f"Column '{column.name}' of {source} has '{_strange(column, form)[0]}', which is "
                f"not written like '{form}' as in training, so '{text}' may be {trained:.15g} or "
                f"{value:.15g}; write them in one way, or pass --decimal '{_mark(found)}'."
            )


def _ways(one: _Looked, form: str) -> list[str]:
    """How the numbers of a column differ from those like 1234.5, in words."""
    numbers = [match[2] for text in one.examples if (match := _SIGNED.fullmatch(text))]
    between = {
        char
        for text in numbers if _GROUPED.fullmatch(text)
        for char in re.findall(_BLANK, text)
    }  # fmt: skip
    blanks = any(char.isspace() for char in between)
    return [
        *([_SAID[form]] if form != PLAIN else []),
        *(["with blanks between thousands"] if blanks else []),
        *(["with apostrophes between thousands"] if between and not blanks else []),
        *(f"with '{sign}', which is left out" for sign in sorted(one.signs) if sign),
    ]


def _look(column: Column, decimal: str | None) -> _Looked | None:
    """What a column of text may be; None if its numbers are plain, or if it is mostly texts."""
    if column.declared is not None or not column.is_text:
        return None
    plain = column.are_numbers().all()
    if plain and (decimal == "." or not _may_be_thousands(column)):
        return None
    counts = Counter(text for text in column.values.to_pylist() if text is not None)
    possible = _WITH[decimal]
    readings = {text: _readings(text) for text in counts}
    others = tuple(text for text, reading in readings.items() if reading is None)
    n_rows, n_others = counts.total(), sum(counts[text] for text in others)
    few = len(others) <= _FEW_TEXTS or n_others <= _RARE_TEXTS * n_rows
    if 2 * n_others > n_rows or not few:
        return None
    found = {text: reading for text, reading in readings.items() if reading is not None}
    signs = {sign for sign, _ in found.values()}
    forms = tuple(
        form for form in possible
        if len(signs) == 1 and all(form in own for _, own in found.values())
    )  # fmt: skip
    points = [own for text, (_, own) in found.items() if "." in text]
    few_values = len(counts) <= _FEW_VALUES and n_rows >= _OFTEN * len(counts)
    return _Looked(
        column, forms, tuple(found), others, frozenset(signs), few_values,
        points=POINTS in possible and bool(points) and all(POINTS in own for own in points),
    )  # fmt: skip


def _may_be_thousands(column: Column) -> bool:
    """Whether plain numbers have points, all of which may be between thousands."""
    compute = require("pyarrow.compute", "cli")
    pointed = column.values.filter(compute.match_substring(column.values, "."))
    fits = compute.match_substring_regex(pointed, rf"^(?:{_FORMS[POINTS].pattern})$")
    return len(pointed) > 0 and bool(compute.all(fits).as_py())


def _readings(text: str) -> tuple[str, frozenset[str]] | None:
    """The signs of a number, and the forms in which it can be read; None for other texts."""
    match, number = _SIGNED.fullmatch(text), _number(text)
    if match is None or number is None:
        return None
    forms = {form for form, pattern in _FORMS.items() if pattern.fullmatch(number)}
    if PLAIN in forms:
        forms |= {COMMA, COMMAS}
    return (match[1] + match[3], frozenset(forms)) if forms else None


def _number(text: str) -> str | None:
    """A number without its signs, and without blanks between thousands; None for other texts."""
    match = _SIGNED.fullmatch(text)
    if match is None:
        return None
    return re.sub(_BLANK, "", match[2]) if _GROUPED.fullmatch(match[2]) else match[2]


def _meanings(one: _Looked) -> set[str]:
    """The meanings that a comma may have in a column; none if it has no comma."""
    if PLAIN in one.forms:
        return set()
    return {_mark(form) for form in one.forms}


def _mark(form: str) -> str:
    """The decimal mark of a form."""
    return "," if form in (COMMA, POINTS) else "."


def _form_of(source: str, one: _Looked, certain: set[str]) -> str:
    """How the numbers of a column are written."""
    name = one.column.name
    if not one.forms:
        first, other = _two_ways(one.examples)
        raise UserError(
            f"Column '{name}' of {source} holds numbers that are written in different ways, such "
            f"as '{first}' and '{other}'; write them like 1234.5, or pass --categorical '{name}'."
        )
    if PLAIN in one.forms:
        return POINTS if one.points and certain == {","} else PLAIN
    meanings = _meanings(one)
    if len(meanings) > 1:
        if len(certain) != 1:
            example = next(text for text in one.examples if "," in text)
            raise UserError(
                f"Column '{name}' of {source} holds numbers such as '{example}', whose comma may "
                "be a decimal comma or separate thousands; pass --decimal ',' or --decimal '.'."
            )
        meanings = certain
    if meanings == {"."}:
        return COMMAS
    points = POINTS in one.forms and (one.points or COMMA not in one.forms)
    return POINTS if points else COMMA


def _two_ways(examples: tuple[str, ...]) -> tuple[str, str]:
    """Two of the numbers that no form can read together."""
    readings = [(text, _readings(text)) for text in examples]
    first, reading = readings[0]
    for text, other in readings:
        if reading is not None and other is not None and (
            reading[0] != other[0] or not reading[1] & other[1]
        ):  # fmt: skip
            return first, text
    return first, examples[-1]


def _without(column: Column, marks: tuple[str, ...]) -> Column:
    """The column with these texts missing."""
    if not marks or not column.is_text:
        return column
    pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
    absent = compute.is_in(column.values, value_set=pyarrow.array(marks, type=column.values.type))
    null = pyarrow.scalar(None, type=column.values.type)
    return replace(column, values=compute.if_else(absent, null, column.values))


def _converted(column: Column, form: str) -> Column:
    """The column with its numbers written like 1234.5."""
    compute = require("pyarrow.compute", "cli")
    values: Any = compute.replace_substring_regex(column.values, _SIGNS, "")
    values = compute.replace_substring_regex(values, _BLANK, "")
    if form == POINTS:
        values = compute.replace_substring(values, ".", "")
    if form in (COMMA, POINTS):
        values = compute.replace_substring(values, ",", ".")
    elif form == COMMAS:
        values = compute.replace_substring(values, ",", "")
    return replace(column, values=values)


def _note_categories(one: _Looked) -> str:
    name, texts = one.column.name, listed([f"'{text}'" for text in one.others])
    return (
        f"Column '{name}' holds few different values, {texts} among its numbers, so each is a "
        f"category (--missing '{one.others[0]}' if that is a missing value)."
    )


def _note_marks(one: _Looked) -> str:
    shown = listed([f"'{text}'" for text in one.others])
    n = sum(text in one.others for text in one.column.values.to_pylist())
    return (
        f"Column '{one.column.name}' holds numbers, and {shown} in {n} row{'s' * (n > 1)}, which "
        "is taken for a missing value."
    )


def _refuse_mixture(one: _Looked) -> None:
    """UserError that names the first text among numbers."""
    name, texts = one.column.name, one.column.values.to_pylist()
    row = next(index for index, text in enumerate(texts) if text in one.others)
    strange = str(texts[row])
    mark = len(strange.split()) <= _MARK_WORDS and len(strange) <= _MARK_LETTERS
    advice = f"--missing '{strange}' if that is a missing value, or " if mark else ""
    raise UserError(
        f"Column '{name}' holds numbers, but has '{strange}' in row {one.column.row_number(row)}; "
        f"correct it, or pass {advice}--categorical '{name}'."
    )
