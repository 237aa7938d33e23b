"""The scores of a search: heat map, curves or points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from ..common.evaluated import evaluated
from ..common.types import Array
from ._figures import COLOURS, axes_and_figure
from .axes import Axis, mean_scores, on_grid, parameter_columns
from .colours import ColourScale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SpanSearchDisplay"]

#: They distinguish curves in print, as colours do on screen.
_MARKERS = ("o", "s", "^", "D", "v", "P")
_GREY = "#BDBDBD"
_STAR = {"marker": "*", "ms": 15, "mfc": "white", "mec": "black", "zorder": 5, "clip_on": False}


class SpanSearchDisplay:
    """Scores of a search's candidates over one or two parameters.

    Create it with :meth:`from_search`.  Two numeric parameters give a heat map, or coloured
    points if less than half of the grid is filled (random search).  One parameter gives a curve,
    or points.  A numeric and a categorical one give one curve per category, for up to six.

    Parameters
    ----------
    parameters : dict of str to sequence
        The value of every searched parameter in each candidate.
    scores : array-like of shape (n_candidates,)
        Higher is better; NaN for candidates that failed.
    axes, selected, score_name
        Parameters to show, as in :meth:`from_search`; the candidate to mark; the scores' name.

    Attributes
    ----------
    ax_, figure_, colorbar_, image_, points_, lines_, mark_, failed_
        What was drawn: the heat map, with the second parameter's values as rows, or the points,
        or the curves; the star at the selected candidate; candidates without a score, in grey.

    See Also
    --------
    SpanSearch : The search whose scores it shows.
    LooDisplay : Plots the margins of the selected model.
    """

    def __init__(
        self, parameters: Mapping[str, Sequence[Any]], scores: npt.ArrayLike, *,
        axes: str | Sequence[str] | None = None, selected: int | None = None,
        score_name: str = "score",
    ) -> None:  # fmt: skip
        if not parameters:
            raise ValueError("The search has no parameters to show; search at least one.")
        self.parameters, self.selected, self.score_name = parameters, selected, score_name
        self.scores = np.asarray(scores, dtype=float)
        tails = [name.rpartition("__")[2] for name in parameters]
        self._all = {
            name: Axis(tail if tails.count(tail) == 1 else name, column)
            for (name, column), tail in zip(parameters.items(), tails, strict=True)
        }
        self.axes = self._default_axes() if axes is None else self._named_axes(axes)

    @classmethod
    def from_search(
        cls, search: Any, *, axes: str | Sequence[str] | None = None, score: str | None = None,
        ax: Axes | None = None, **options: Any,
    ) -> SpanSearchDisplay:  # fmt: skip
        """Plot the scores of a fitted search.

        If more parameters vary than are shown, each position shows the **best score over the
        values of the others**.

        Parameters
        ----------
        search : SpanSearch, GridSearchCV, or any other with the same fitted attributes
        axes : str or tuple of one or two str, optional
            The parameters to show, the horizontal one first; ``"gamma"`` is enough for
            ``"svc__gamma"``.  By default those that vary; if there are more than two, the two
            numeric ones with the most values.  If one is named and one categorical parameter
            varies, there is one curve per category.
        score : str, optional
            The metric, if there are several; by default the one that `refit` names.
        ax, **options
            Passed to :meth:`plot`.
        """
        if not hasattr(search, "cv_results_"):
            raise NotFittedError(f"This {type(search).__name__} is not fitted yet; call fit first.")
        results, selected = evaluated(search)
        columns = parameter_columns(results["params"])
        scores, label = _metric(search, score)
        display = cls(columns, scores, axes=axes, selected=selected, score_name=label)
        return display.plot(ax, **options)

    def _default_axes(self) -> tuple[str, ...]:
        varying = {name: axis for name, axis in self._all.items() if len(axis.values) > 1}
        order = sorted(varying.items(), key=lambda item: (-item[1].numeric, -len(item[1].values)))
        chosen = dict(order[:2])
        return tuple(name for name in varying if name in chosen) or tuple(self._all)[:1]

    def _named_axes(self, axes: str | Sequence[str]) -> tuple[str, ...]:
        found = []
        for name in [axes] if isinstance(axes, str) else axes:
            fits = [full for full in self._all if full == name]
            fits = fits or [full for full in self._all if full.endswith(f"__{name}")]
            if len(fits) != 1:
                problem = "is ambiguous" if fits else "was not searched"
                raise ValueError(f"axes: {name!r} {problem}; choose from {list(self._all)}.")
            found += fits
        if len(found) not in (1, 2) or len(set(found)) < len(found):
            raise ValueError(f"axes must name one or two different parameters; got {axes!r}.")
        return tuple(found)

    def plot(
        self, ax: Axes | None = None, *, colorbar: bool = True, **options: Any
    ) -> SpanSearchDisplay:
        """Draw the plot, on new axes if none are given.

        `options` (``cmap``, ``vmin``, ``vmax``, ...) go to the heat map or the points.  Scores far
        below the best share the lowest colour, unless `vmin` or `norm` says otherwise.
        """
        shown = [self._all[name] for name in self.axes]
        curves = self._curves(shown)
        self.ax_, self.figure_ = axes_and_figure(ax, (6.4, 4.2) if curves else (6.0, 4.8))
        nothing: Any = None
        self.image_ = self.points_ = self.failed_ = self.mark_ = self.colorbar_ = nothing
        self.lines_: list[Any] = []
        if curves:
            x, y = self._plot_curves(*curves)
        else:
            # As on the page of a report: a few hopeless candidates leave the others their colours.
            colours, extend = ColourScale(self.scores), "neither"
            if colours.open_below and not {"vmin", "norm"} & set(options):
                options, extend = {"vmin": colours.low, **options}, "min"
            x, y = self._plot_plane(shown[0], shown[1], {"cmap": "viridis", **options})
            if colorbar and not np.isnan(self.scores).all():
                self.colorbar_ = self.figure_.colorbar(
                    self.image_ or self.points_, ax=self.ax_, label=self.score_name, extend=extend
                )
        if self.selected is not None:
            places = [axis for axis in curves or shown if axis]
            at = [f"{axis.name} = {axis.label(axis.codes[self.selected])}" for axis in places]
            title = f"☆ selected: {self.scores[self.selected]:.4g} at {', '.join(at)}"
            self.ax_.set_title(title, loc="left", fontsize="medium")
            (self.mark_,) = self.ax_.plot(x[self.selected], y[self.selected], ls="none", **_STAR)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend(loc="best", fontsize="small")
        return self

    def _curves(self, shown: list[Axis]) -> tuple[Axis, Axis | None] | None:
        """The horizontal parameter and the one that distinguishes curves; None for a plane."""
        one, *other = sorted(shown, key=lambda axis: not axis.numeric)
        varying = [axis for axis in self._all.values() if axis is not one and len(axis.values) > 1]
        groups = other or [axis for axis in varying if not axis.numeric]
        fit = len(groups) == 1 and one.numeric > groups[0].numeric
        if fit and len(groups[0].values) <= len(COLOURS):
            return one, groups[0]
        return None if other else (one, None)

    def _plot_curves(self, axis: Axis, group: Axis | None) -> tuple[Array, Array]:
        rest = np.array([other.codes for other in self._all.values() if other is not axis])
        failed: set[float] = set()
        for index in range(len(group.values) if group else 1):
            members = group.codes == index if group else np.ones(self.scores.size, dtype=bool)
            codes, scores = axis.codes[members], self.scores[members]
            n_others = np.unique(rest[:, members], axis=1).shape[1] if rest.size else 1
            is_curve = np.unique(codes).size * n_others == codes.size
            if is_curve:
                scores = _best(codes, scores, len(axis.values))[np.unique(codes)]
                codes = np.unique(codes)
            x = axis.positions[codes]
            failed |= set(x[np.isnan(scores)])
            style = {
                "marker": _MARKERS[index],
                "ms": 4,
                "ls": "-" if is_curve and axis.numeric else "none",
            }
            label = f"{group.name} = {group.label(index)}" if group else None
            self.lines_ += self.ax_.plot(x, scores, color=COLOURS[index], label=label, **style)
        if failed:
            # At the bottom, as they have no score.
            foot = {"transform": self.ax_.get_xaxis_transform(), "ls": "none", "label": "failed"}
            x, y = sorted(failed), [0.02] * len(failed)
            (self.failed_,) = self.ax_.plot(x, y, color="grey", marker="x", **foot)
        axis.draw(self.ax_, "x")
        self.ax_.set_ylabel(self.score_name)
        self.ax_.grid(alpha=0.3)
        return axis.positions[axis.codes], self.scores

    def _plot_plane(self, across: Axis, up: Axis, options: dict) -> tuple[Array, Array]:
        shape = len(up.values), len(across.values)
        places = up.codes * shape[1] + across.codes
        cells_are_full = on_grid(across.codes, up.codes)
        if cells_are_full:
            x, y = across.codes.astype(float), up.codes.astype(float)
            filled = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape) > 0
            best = _best(places, self.scores, filled.size).reshape(shape)
            cells: dict[str, Any] = {"origin": "lower", "aspect": "auto"}
            self.image_ = self.ax_.imshow(np.ma.masked_invalid(best), **cells, **options)
            failed = filled & np.isnan(best)
            if failed.any():
                grey = np.ma.masked_array(np.full(shape, 0.74), ~failed)
                cells |= {"cmap": "gray", "vmin": 0, "vmax": 1}
                self.failed_ = self.ax_.imshow(grey, **cells)
                self.ax_.plot([], [], "s", color=_GREY, label="failed")
        else:
            x, y = across.positions[across.codes], up.positions[up.codes]
            failed = np.isnan(self.scores)
            if failed.any():
                self.failed_ = self.ax_.scatter(x[failed], y[failed], c=_GREY, label="failed")
            # NaN sorts to the end; the best are drawn last, so that worse ones do not hide them.
            order = np.argsort(self.scores)[: np.count_nonzero(~failed)]
            dots = {"c": self.scores[order], "edgecolors": "0.3", "linewidths": 0.4, **options}
            self.points_ = self.ax_.scatter(x[order], y[order], **dots)
        across.draw(self.ax_, "x", cells=cells_are_full)
        up.draw(self.ax_, "y", cells=cells_are_full)
        return x, y


def _best(places: np.ndarray, scores: Array, size: int) -> Array:
    """The best score at each position; NaN where there is none."""
    result = np.full(size, np.nan)
    np.fmax.at(result, places, scores)
    return result


def _metric(search: Any, score: str | None) -> tuple[Array, str]:
    """The scores to show, and their name."""
    metrics = mean_scores(search)
    if list(metrics) == ["score"]:
        scoring = getattr(search, "scoring", None)
        name = scoring if isinstance(scoring, str) else "score"
        chosen = "score" if score == name else score or "score"
    else:
        refit = getattr(search, "refit", None)
        name = chosen = score or (refit if isinstance(refit, str) else "")
    if chosen not in metrics:
        raise ValueError(f"score must be one of {list(metrics)}; got {score!r}.")
    return metrics[chosen], name
