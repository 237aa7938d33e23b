"""What makes left-out rows look better than new ones will be: leaks, copies, neighbouring rows.

Each has an error without it.  The largest of these errors is the headline, where it is larger than
the error that would be said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spansvm.search import Dependence

from ..common.wording import listed
from .plain import cut

__all__ = [
    "Overstated",
    "caution_of_neighbours",
    "of_copies",
    "of_leaks",
    "of_neighbours",
    "worst",
]


@dataclass(frozen=True)
class Overstated:
    """Why the error of left-out rows is too good, and the error without that.

    Attributes
    ----------
    without : str
        What the error is without, to begin a sentence.
    with_it : str
        The same in a word, to begin another.
    believe : str
        When the error with it is to be believed.
    error : float
        The share of misclassified rows, or the root mean squared error, without it.
    topic, advice : str
        What to do about it.
    section : str
        The part of the page that has more about it.
    """

    without: str
    with_it: str
    believe: str
    error: float
    topic: str
    advice: str
    section: str = "cautions"


def worst(found: Sequence[Overstated | None], expected: float) -> Overstated | None:
    """That with the largest error, if it is larger than the expected one."""
    larger = [one for one in found if one is not None and one.error > expected]
    return max(larger, key=lambda one: one.error, default=None)


def of_leaks(names: Sequence[str], error: float) -> Overstated:
    """Features that seem to give the target away."""
    named = listed([f"'{cut(name)}'" for name in names])
    one = len(names) == 1
    return Overstated(
        f"Without {named}, which perhaps {'gives' if one else 'give'} the target away,",
        "With it" if one else "With them",
        f"{'it is' if one else 'they are'} known before the target is",
        error,
        "Features",
        f"leave out {named} (--drop), unless known before the target is.",
        "features",
    )


def of_copies(error: float | None) -> Overstated | None:
    """Rows that repeat others, if the error is known that leaves copies out together."""
    if error is None:
        return None
    return Overstated(
        "Without copies of the same row,",
        "With them",
        "new rows repeat old ones as often",
        error,
        "Copies",
        "let equal rows leave together (--groups duplicates), or remove the copies, unless new "
        "rows repeat old ones as often.",
    )


def of_neighbours(
    found: Dependence | None, as_error: Callable[[float], float]
) -> Overstated | None:
    """Rows that depend on those beside them in the file, if that was noticed."""
    if found is None or not found.noticed:
        return None
    size = found.block_size[found.most]
    return Overstated(
        "Without the rows beside them in the file,",
        "With them",
        "new rows have such neighbours, too",
        as_error(float(found.error[found.most])),
        "Neighbours",
        "name the column that says which rows belong together, such as a person or a place "
        f"(--groups COLUMN); if there is none, add one that numbers blocks of {size} rows. "
        "For a series in time: --cv TimeSeriesSplit.",
    )


def caution_of_neighbours(
    found: Dependence | None, what: str, within: str, as_text: Callable[[float], str]
) -> list[str]:
    """What neighbouring rows do to an error that leaves rows out alone, if that was noticed.

    Parameters
    ----------
    found : Dependence or None
    what : str
        What the error is, up to its number.
    within : str
        What rows were exchanged within.
    as_text : callable
        From an error as it was found to what is said of it.
    """
    if found is None or not found.noticed:
        return []
    error, exchanged = (
        as_text(float(own[found.most])) for own in (found.error, found.exchanged_error)
    )
    return [
        f"Rows depend on those beside them in the file: if {found.block_size[found.most]} "
        f"neighbours leave together, {what} {error}, and {exchanged} if rows were exchanged within "
        f"their {within} before; if new rows will not have such neighbours, give rows that belong "
        "together a group of their own."
    ]
