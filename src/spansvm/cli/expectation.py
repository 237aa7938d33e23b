"""What a long search will take, in words, and what would be quicker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..memory import DOUBLE, NONE, PARTS, SINGLE
from ..search.forecast import Forecast
from ..search.progress import duration
from .terminal import Terminal

__all__ = ["COMPONENTS", "Quicker", "tell_what_it_takes"]

#: Seconds from which the time is told, from which a search is long, and that a quicker one should
#: take at most.
_TOLD, _LONG, _QUICK = 60.0, 600.0, 180.0

#: What is proposed: the largest that is quick, or the smallest.
_SAMPLES = (20_000, 10_000, 5000, 3000, 2000, 1000)
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
        fewer = [n for n in _SAMPLES if n < forecast.n_rows]
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
