"""Plots: the scores of a search, and the leave-one-out margins of a model.

Both follow scikit-learn's displays.  matplotlib is imported when something is drawn.  ``axes`` and
``margins`` compute what is shown, for charts of other kinds, too.
"""

from typing import TYPE_CHECKING

from ..common.lazy import lazy_names

if TYPE_CHECKING:
    from .axes import Axis, mean_scores, on_grid, parameter_columns
    from .colours import ColourScale
    from .loo import LooDisplay
    from .margins import Margins, count_margins
    from .search import SpanSearchDisplay

__all__ = [
    "Axis",
    "ColourScale",
    "LooDisplay",
    "Margins",
    "SpanSearchDisplay",
    "count_margins",
    "mean_scores",
    "on_grid",
    "parameter_columns",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Axis": "display.axes",
        "ColourScale": "display.colours",
        "LooDisplay": "display.loo",
        "Margins": "display.margins",
        "SpanSearchDisplay": "display.search",
        "count_margins": "display.margins",
        "mean_scores": "display.axes",
        "on_grid": "display.axes",
        "parameter_columns": "display.axes",
    },
)
