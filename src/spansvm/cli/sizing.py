"""How large a search is made if nothing else is asked, what it will take, and what is quicker.

What a search on all rows would take is known from a short trial.  If that is minutes, candidates
are compared on a sample and the selected model is trained on all rows; if even one training takes
minutes, the kernel is approximated as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.errors import UserError
from ..common.memory import DOUBLE, NONE, PARTS, SINGLE
from ..search.evaluation.forecast import Forecast
from ..search.evaluation.progress import duration
from .terminal import Terminal

__all__ = [
    "ALL",
    "COMPONENTS",
    "FEW_ROWS",
    "Quicker",
    "Size",
    "choose_size",
    "parse_sample",
    "size_of_regression",
    "tell_what_it_takes",
]

#: What ``--sample`` takes to search all rows, however long that takes.
ALL = "all"

#: Seconds that a search may take by default, and its last training; what is chosen takes at most
#: this share of them, as forecasts are rough, and the grid may be widened.
_SEARCH, _TRAINING, _SHARE = 180.0, 600.0, 0.3

#: A search that is stopped halfway still has a coarse grid behind it.
_STOPPED = 2.0

#: Sizes of samples: the largest that is quick enough, or the smallest.
_SAMPLES = (20_000, 10_000, 5000, 3000, 2000)

#: With more rows than this, a regression is searched on a sample of the second number: its best
#: candidate is evaluated by following every left-out row, which no budget stops.
_MANY_TARGETS, _TARGETS = 4000, 3000

#: Searches on fewer rows are never that long: no trial is needed to know.
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
    DOUBLE: "its Gram matrix takes {size}",
    SINGLE: "its Gram matrix takes {size}, in single precision",
    PARTS: "its Gram matrix does not fit into memory and is computed in parts, within {size}",
    NONE: "it needs no Gram matrix",
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


def choose_size(
    n_rows: int,
    fewest: int,
    forecast: Callable[[int | None], Forecast | None],
    budget: float | None,
) -> Size:
    """The size of a search on so many rows that ends in minutes, or within the budget.

    Parameters
    ----------
    n_rows, fewest : int
        All rows, and how many a sample must have at least.
    forecast : callable
        What the search on all rows would take, with so many components.
    budget : float, optional
        Seconds.
    """
    whole = forecast(None)
    limit = _SEARCH if budget is None else _STOPPED * budget
    if whole is None or whole.seconds <= limit:
        return Size()
    taken = f"on all {n_rows} rows the search would take about {duration(whole.seconds)}"
    components, told = None, ""
    # One training of a model with the kernel itself, and its Gram matrix.
    if float(np.median(whole.costs)) > _TRAINING:
        other = forecast(COMPONENTS)
        if other is not None and other.seconds < whole.seconds:
            components, whole = COMPONENTS, other
            told = (
                f"the kernel is approximated from {COMPONENTS} rows (--components {COMPONENTS}), "
                "as one training would take minutes without that"
            )
    sample = None
    if whole.seconds > limit:
        fewer = [n for n in _SAMPLES if fewest <= n < n_rows] or [fewest]
        quick = _SHARE * limit
        sample = next((n for n in fewer if whole.seconds_for(n) <= quick), fewer[-1])
        chosen = (
            f"candidates are compared on a sample of {sample} rows (--sample {sample}), in about "
            f"{duration(whole.seconds_for(sample))}, and the selected model is trained on all rows"
        )
        told = f"{told}, and {chosen}" if told else chosen
    why = f"{taken[0].upper()}{taken[1:]}, so {told}. --sample {ALL} searches all rows."
    return Size(sample, components, why)


def size_of_regression(n_rows: int) -> Size | None:
    """A sample for a regression of so many rows; None if it is not needed for certain."""
    if n_rows <= _MANY_TARGETS:
        return None
    why = (
        f"To follow the left-out rows of a regression takes long on all {n_rows} rows, so "
        f"candidates are compared on a sample of {_TARGETS} rows (--sample {_TARGETS}), and the "
        f"selected model is trained on all rows. --sample {ALL} searches all rows."
    )
    return Size(_TARGETS, None, why)


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
    memory = _FORMS[forecast.gram].format(size=_size(forecast.gram_bytes))
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


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MiB"
