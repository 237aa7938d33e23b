"""Columns of text: names of categories, names of rows, or texts whose words are the features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from spansvm.errors import require

from .columns import Column

__all__ = ["WORD", "hold_long_texts", "name_every_row", "shared_words", "words_of"]

#: A word: those of one letter are words, too.
WORD = r"(?u)\b\w+\b"

#: Words of fewer rows tell nothing about others.
_ROWS_OF_A_WORD = 2

#: Fewer rows may all differ by chance.
_FEWEST_ROWS = 8

#: More different texts than this share of the rows name the rows: no two rows share enough.
_MANY_TEXTS = 0.5

#: Texts of so many words on average, of which more than this number and share of the rows differ,
#: are no categories: names and addresses are shorter, answers in a form repeat.
_MANY_WORDS, _FEW_TEXTS, _REPEATED = 6.0, 20, 0.1


def hold_long_texts(column: Column) -> bool:
    """Whether the words of a column of text say more than its texts as a whole."""
    texts, n_rows = _different(column)
    if len(texts) <= max(_FEW_TEXTS, _REPEATED * n_rows):
        return False
    return words_of(texts) >= _MANY_WORDS


def name_every_row(column: Column) -> bool:
    """Whether most rows have a text of their own."""
    texts, n_rows = _different(column)
    return n_rows >= _FEWEST_ROWS and len(texts) > _MANY_TEXTS * n_rows


def words_of(texts: list[str]) -> float:
    """How many words a text has on average."""
    return float(np.mean([len(text.split()) for text in texts]))


def shared_words(texts: Iterable[str]) -> list[str]:
    """The words that occur in two rows, sorted."""
    split = CountVectorizer(token_pattern=WORD).build_analyzer()
    counts = Counter(word for text in texts for word in set(split(text)))
    return sorted(word for word, count in counts.items() if count >= _ROWS_OF_A_WORD)


def _different(column: Column) -> tuple[list[str], int]:
    """All different texts, and how many rows have one."""
    compute = require("pyarrow.compute", "cli")
    texts = compute.unique(column.values).drop_null().to_pylist()
    return [str(text) for text in texts], len(column.values) - column.n_missing
