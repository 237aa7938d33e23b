"""How large a search is made if nothing else is asked, what it will take, and what is quicker.

The size follows from rows, columns, classes and candidates alone: the same file is searched in the
same way on every machine, however busy it is.  If a search on all rows is minutes of work,
candidates are compared on a sample and the selected model is trained on all rows; on very many
rows the kernel is approximated as well.  A trial says how long all this takes here; it decides
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spansvm.blocks import duration
from spansvm.errors import UserError
from spansvm.search import Forecast

from .terminal import Terminal

__all__ = [
    "ALL",
    "COMPONENTS",
    "FEW_ROWS",
    "Quicker",
    "Size",
    "Task",
    "choose_size",
    "gram_in_words",
    "parse_sample",
    "size_of_regression",
    "tell_what_it_takes",
]

#: What ``--sample`` takes to search all rows, however long that takes.
ALL = "all"

#: The most work of a search that is made on all rows, and of one on a sample: minutes of a core,
#: as the unit, an entry of a Gram matrix for each candidate, takes 20 to 50 ns.
_WHOLE_WORK, _SAMPLE_WORK = 8e9, 2.5e9

#: What an entry of a Gram matrix, without which no candidate can be trained, takes per column.
_A_COLUMN = 1 / 200

#: The work of a left-out row's exact removal, of a group's, and of an entry of the rows themselves
#: with a linear kernel that needs no matrix, in the same unit.
_REMOVALS, _GROUPS, _LINEAR = 10.0, 3.0, 100.0

#: A linear kernel on so many rows a column has no matrix.
_ROWS_A_COLUMN = 20

#: Sizes of samples: the largest that is little work, or the smallest.
_SAMPLES = (20_000, 10_000, 5000, 3000, 2000)

#: From so many rows on the kernel is approximated: one training would take an hour without that.
_VERY_MANY = 100_000

#: The same for a regression, whose left-out rows are all followed: its unit is the third power of
#: the rows, for each candidate, and takes about a nanosecond.
_WHOLE_TARGETS, _SAMPLE_TARGETS = 4e11, 1.5e11

#: Sizes of its samples.
_TARGETS = (3000, 2000, 1500, 1000)

#: So many rows, or fewer, are never sampled.
FEW_ROWS = 2000

#: Seconds from which the time is told, from which a search is long, and that a quicker one should
#: take at most.
_TOLD, _LONG, _QUICK = 60.0, 600.0, 180.0

#: What is proposed: the largest that is quick, or the smallest.
_PROPOSED = (20_000, 10_000, 5000, 3000, 2000, 1000)
_CANDIDATES = (400, 200, 100, 50, 25)
COMPONENTS = 100

#: On a coarser grid a candidate takes this much longer: its neighbour is farther away.
_COARSER = 1.5

_FORMS = {
    "double": "its Gram matrix takes {size}",
    "single": "its Gram matrix takes {size}, in single precision",
    "parts": "its Gram matrix does not fit into memory and is computed in parts, within {size}",
    "none": "it needs no Gram matrix",
}


@dataclass(frozen=True)
class Size:
    """How large a search is.

    Attributes
    ----------
    sample, components : int or None
        As ``--sample`` and ``--components`` take them.
    why : str
        In one sentence, if it was not asked for.
    """

    sample: int | None = None
    components: int | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data, for a search that is resumed."""
        return {"sample": self.sample, "components": self.components}


@dataclass(frozen=True)
class Task:
    """What makes a search long.

    Attributes
    ----------
    classes : ndarray of int
        How many rows each class has.
    n_columns : int
        After encoding.
    n_candidates, n_kernels : int
        How many candidates there are, and how many different kernels among them.
    n_fits : int, default=1
        How often each candidate is trained: once, or once for each fold.
    linear : bool, default=False
        Whether all kernels are linear.
    exact, grouped : bool, default=False
        Whether every row is removed exactly, and whether groups are left out.
    """

    classes: np.ndarray
    n_columns: int
    n_candidates: int
    n_kernels: int
    n_fits: int = 1
    linear: bool = False
    exact: bool = False
    grouped: bool = False

    def work(self, n_rows: int, n_components: int | None = None) -> float:
        """The work on so many rows, perhaps with the kernel approximated."""
        shares = self.classes / self.classes.sum()
        # The machines of all pairs of classes: two classes are one pair of all rows.
        pairs = float(((shares[:, None] + shares)[np.triu_indices(shares.size, 1)] ** 2).sum())
        n_columns = self.n_columns if n_components is None else n_components
        linear = self.linear or n_components is not None
        if linear and n_rows > _ROWS_A_COLUMN * n_columns:
            machines = _LINEAR * n_rows * n_columns * self.n_candidates
        else:
            machines = n_rows**2 * (
                self.n_candidates * pairs + self.n_kernels * n_columns * _A_COLUMN
            )
        harder = (_REMOVALS if self.exact else 1.0) * (_GROUPS if self.grouped else 1.0)
        return machines * harder * self.n_fits


def choose_size(task: Task, fewest: int) -> Size:
    """The size of a search that is no more than minutes of work.

    Parameters
    ----------
    task : Task
    fewest : int
        How many rows a sample must have at least.
    """
    n_rows = int(task.classes.sum())
    if n_rows <= FEW_ROWS or task.work(n_rows) <= _WHOLE_WORK:
        return Size()
    components, told = None, ""
    if n_rows >= _VERY_MANY and not task.linear:
        components = COMPONENTS
        told = (
            f"the kernel is approximated from {COMPONENTS} rows (--components {COMPONENTS}), as "
            "one training would take very long without that"
        )
    sample = None
    if task.work(n_rows, components) > _WHOLE_WORK:
        fewer = [n for n in _SAMPLES if fewest <= n < n_rows] or [fewest]
        little = (n for n in fewer if task.work(n, components) <= _SAMPLE_WORK)
        sample = next(little, fewer[-1])
        chosen = (
            f"candidates are compared on a sample of {sample} rows (--sample {sample}), and the "
            "selected model is trained on all rows"
        )
        told = f"{told}, and {chosen}" if told else chosen
    why = (
        f"To search {task.n_candidates} candidates on all {n_rows} rows is much work, so {told}. "
        f"--sample {ALL} searches all rows."
    )
    return Size(sample, components, why)


def size_of_regression(n_rows: int, n_candidates: int, n_fits: int = 1) -> Size:
    """The size of a regression of so many rows, candidates, and trainings of each."""

    def work(n: int) -> float:
        return float(n) ** 3 * n_candidates * n_fits

    if work(n_rows) <= _WHOLE_TARGETS or n_rows <= _TARGETS[-1]:
        return Size()
    fewer = [n for n in _TARGETS if n < n_rows]
    sample = next((n for n in fewer if work(n) <= _SAMPLE_TARGETS), fewer[-1])
    why = (
        f"To follow the left-out rows of {n_candidates} regressions is much work on all {n_rows} "
        f"rows, so candidates are compared on a sample of {sample} rows (--sample {sample}), and "
        f"the selected model is trained on all rows. --sample {ALL} searches all rows."
    )
    return Size(sample, None, why)


def parse_sample(text: str | None) -> int | str | None:
    """What ``--sample`` asks for: a number of rows, or all of them."""
    if text is None or text == ALL:
        return text
    try:
        return int(text)
    except ValueError:
        raise UserError(f"--sample must be a number of rows, or {ALL}; got '{text}'.") from None


@dataclass(frozen=True)
class Quicker:
    """Which options can still be proposed.

    Attributes
    ----------
    sample, candidates : bool
        Whether the search is not smaller already.
    components : callable or None
        What the search would take with :data:`COMPONENTS` components; None if that is no choice.
    """

    sample: bool
    candidates: bool
    components: Callable[[], Forecast | None] | None


def tell_what_it_takes(forecast: Forecast | None, quicker: Quicker, terminal: Terminal) -> None:
    """Say what a search of more than a minute will take, before it begins.

    From ten minutes on, also what would be quicker.
    """
    if forecast is None or forecast.seconds < _TOLD:
        return
    memory = gram_in_words(forecast.gram, forecast.gram_bytes)
    told = f"This will take about {duration(forecast.seconds)} on {forecast.n_rows} rows; {memory}."
    if forecast.seconds < _LONG:
        terminal.progress(told)
        return
    terminal.progress(f"{told} Options that make it quicker:")
    if quicker.sample:
        fewer = [n for n in _PROPOSED if n < forecast.n_rows]
        n_rows = next((n for n in fewer if forecast.seconds_for(n) <= _QUICK), fewer[-1])
        terminal.progress(
            f"--sample {n_rows}: searches on {n_rows} rows and trains on all; about "
            f"{duration(forecast.seconds_for(n_rows))} and the last training."
        )
    n_all = forecast.costs.size
    fewer = [n for n in _CANDIDATES if n < n_all]
    if quicker.candidates and fewer:
        share = _COARSER * forecast.seconds / n_all
        n_candidates = next((n for n in fewer if n * share <= _LONG), fewer[-1])
        terminal.progress(
            f"--candidates {n_candidates}: a coarser grid; about {duration(n_candidates * share)}."
        )
    approximated = None if quicker.components is None else quicker.components()
    if approximated is not None and approximated.seconds < forecast.seconds / 2:
        terminal.progress(
            f"--components {COMPONENTS}: approximates the kernel from {COMPONENTS} rows; about "
            f"{duration(approximated.seconds)}."
        )


def gram_in_words(form: str, n_bytes: float) -> str:
    """What a Gram matrix takes."""
    return _FORMS[form].format(size=_size(n_bytes))


def _size(n_bytes: float) -> str:
    return (
        f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{max(n_bytes / 2**20, 1):.0f} MiB"
    )
