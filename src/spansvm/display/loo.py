"""Leave-one-out margins by class, and the labels that they cast doubt on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..common.pairs import lost
from ..estimators.analysis import SpanAnalysis, analyze
from ..estimators.svc import SpanSVC
from ._figures import COLOURS, axes_and_figure, short
from .margins import count_margins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LooDisplay"]

_BARS = 60
_RING = {"marker": "o", "ms": 4.5, "mfc": "white", "mec": "black", "zorder": 4, "clip_on": False}


class LooDisplay:
    """Leave-one-out margins by class, with the most suspicious instances marked.

    The margin of an instance is ``y f^p(x_p)``: the decision value for its own class, from a
    model that never saw it.  Below 0, the rest of the data contradicts its label.  With more than
    two classes it is the least such value over the pairs of its class with the others; an
    instance that loses one pair may still be predicted correctly, and then is not an error.

    Parameters
    ----------
    margins : array-like of shape (l,)
        NaN for rows to ignore.
    labels : array-like of int of shape (l,)
        Class of each row, as an index into `class_names`.
    class_names : sequence
    wrong : array-like of bool of shape (l,), optional
        The leave-one-out errors; by default the margins that are not positive.
    n_suspicious : int, default=10
        The most instances to mark.

    Attributes
    ----------
    suspicious_ : ndarray of int
        Rows with the most negative margins, the most suspicious first.
    error_shares_ : ndarray of shape (n_classes,)
        Share of leave-one-out errors in each class.
    ax_, figure_, bars_, marks_, texts_
        What was drawn: histograms, each scaled by itself; the suspicious instances; their row
        numbers, as far as there is room.

    See Also
    --------
    analyze : Every estimate of a fitted SVC.
    exact_loo : Exact leave-one-out decision values.
    find_label_issues : The rows whose labels the others contradict.
    """

    def __init__(
        self, margins: npt.ArrayLike, labels: npt.ArrayLike, class_names: Any, *,
        wrong: npt.ArrayLike | None = None, n_suspicious: int = 10,
    ) -> None:  # fmt: skip
        self.margins, self.labels = np.asarray(margins, dtype=float), np.asarray(labels)
        self.class_names, self.n_suspicious = class_names, n_suspicious
        self.wrong = lost(self.margins) if wrong is None else np.asarray(wrong, dtype=bool)
        order = np.argsort(self.margins, kind="stable")[:n_suspicious]
        self.suspicious_ = order[self.margins[order] < 0]
        own = (self.labels == np.arange(len(class_names))[:, None]) & ~np.isnan(self.margins)
        self.error_shares_ = (own & self.wrong).sum(axis=1) / np.maximum(own.sum(axis=1), 1)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: npt.ArrayLike | None = None, *,
        sample_weight: npt.ArrayLike | None = None, n_suspicious: int = 10, ax: Axes | None = None,
    ) -> LooDisplay:  # fmt: skip
        """Plot the margins of a fitted model, without instances of zero weight.

        `model` is a :class:`~spansvm.SpanSVC`, which keeps its training data (or a pipeline or a
        search that ends in one), or a two-class :class:`sklearn.svm.SVC` with the `X`, `y` and
        `sample_weight` that it was fitted on.
        """
        model = getattr(model, "best_estimator_", model)
        if isinstance(model, Pipeline) and isinstance(model[-1], SpanSVC):
            model = model[-1]
        if not isinstance(model, SpanSVC):
            analysis = analyze(model, X, y, sample_weight)
            names = model.classes_
            return cls.from_analysis(analysis, class_names=names, n_suspicious=n_suspicious, ax=ax)
        if not (X is None and y is None and sample_weight is None):
            raise ValueError("A SpanSVC keeps its training data: call from_estimator(model).")
        check_is_fitted(model)
        left_out = model.left_out_
        wrong = left_out.wrong(model.break_ties)
        display = cls(
            left_out.margin, left_out.indices, model.classes_, wrong=wrong,
            n_suspicious=n_suspicious,
        )  # fmt: skip
        return display.plot(ax)

    @classmethod
    def from_analysis(
        cls, analysis: SpanAnalysis, *, class_names: Any = ("-1", "+1"), n_suspicious: int = 10,
        ax: Axes | None = None,
    ) -> LooDisplay:  # fmt: skip
        """Plot the margins of an analysis from :func:`~spansvm.analyze`.

        `class_names` name the smaller and the larger label.
        """
        sign = analysis.y
        margins = np.where(analysis.C > 0, sign * analysis.loo_decision, np.nan)
        labels = (sign > 0).astype(int)
        return cls(margins, labels, class_names, n_suspicious=n_suspicious).plot(ax)

    @classmethod
    def from_predictions(
        cls, y: npt.ArrayLike, loo_decision: npt.ArrayLike, class_names: Any = None, *,
        n_suspicious: int = 10, ax: Axes | None = None,
    ) -> LooDisplay:  # fmt: skip
        """Plot margins from leave-one-out decision values, such as those of ``exact_loo``.

        For two classes `loo_decision` has shape (l,), positive for the larger label.  With one
        column per class, in sorted order, the margin is the value of the row's own class minus
        the best other value.  `class_names` are in sorted order too; by default, the labels.
        """
        classes, own = np.unique(np.asarray(y), return_inverse=True)
        values = np.asarray(loo_decision, dtype=float)
        names = classes if class_names is None else class_names
        if len(names) != classes.size:
            raise ValueError(f"class_names must have {classes.size} names; got {len(names)}.")
        if classes.size == 2 and values.shape == own.shape:
            values = np.column_stack((-values, values)) / 2
        if values.shape != (own.size, classes.size):
            needed = f"({own.size},)" if classes.size == 2 else f"({own.size}, {classes.size})"
            raise ValueError(f"loo_decision must have shape {needed}; got {values.shape}.")
        mine = np.arange(classes.size) == own[:, None]
        margins = values[mine] - np.where(mine, -np.inf, values).max(axis=1)
        return cls(margins, own, names, n_suspicious=n_suspicious).plot(ax)

    def plot(self, ax: Axes | None = None) -> LooDisplay:
        """Draw the plot, on new axes if none are given."""
        n_classes, present = len(self.class_names), np.isfinite(self.margins)
        if not present.any():
            raise ValueError("There are no margins to show: all of them are NaN.")
        size = 7.0, 1.1 + n_classes * (1.1 if n_classes < 5 else 0.75)
        self.ax_, self.figure_ = axes_and_figure(ax, size)
        shown = count_margins(self.margins[present], self.labels[present], n_classes, n_bars=_BARS)
        edges = np.array(shown.edges)
        width = edges[1] - edges[0]
        self.ax_.set_xlim(edges[0] - width, edges[-1] + width)
        empty: list[list[Any]] = [[], [], [], []]
        self.bars_, self.marks_, self.texts_, ticks = empty
        for index, (name, share) in enumerate(
            zip(self.class_names, self.error_shares_, strict=True)
        ):
            counts = np.array(shown.counts[index])
            used = np.flatnonzero(counts)
            colours = np.where(edges[used] < 0, COLOURS[1], COLOURS[0])
            # The outline of a bar keeps a single instance among thousands visible.
            style = {"align": "edge", "color": colours, "edgecolor": colours, "linewidth": 0.8}
            heights, foot = 0.6 * counts[used] / max(counts.max(), 1), n_classes - 1 - index
            self.bars_.append(self.ax_.bar(edges[used], heights, width, foot, **style))
            self._mark(self.suspicious_[self.labels[self.suspicious_] == index], foot)
            ticks.append(f"{short(name)}\n{counts.sum()} rows\n{share:.1%} errors")
        feet = np.arange(n_classes)[::-1]
        self.ax_.hlines(feet, *self.ax_.get_xlim(), color="0.6", linewidth=0.6, zorder=0)
        self.ax_.axvline(0, color="black", linewidth=1)
        self.ax_.set(yticks=feet + 0.3, yticklabels=ticks, ylim=(-0.38, n_classes - 0.32))
        # Of several pairs of classes a row may lose one, and still win the most.
        below = "errors left of 0" if n_classes == 2 else "left of 0 a class loses to another"
        self.ax_.set_xlabel(f"leave-one-out margin ({below})")
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.spines[["top", "right", "left"]].set_visible(False)
        return self

    def _mark(self, rows: np.ndarray, foot: float) -> None:
        """Rings on the base line, and row numbers below, spread so that they do not overlap."""
        if not rows.size:
            return
        self.marks_ += self.ax_.plot(self.margins[rows], [foot] * rows.size, ls="none", **_RING)
        left, right = self.ax_.get_xlim()
        apart = 9.0 * (right - left) * self.figure_.dpi / 72 / self.ax_.bbox.width
        rows = rows[: max(3, int(-left / apart))]
        rows = rows[np.argsort(self.margins[rows])]
        steps = apart * np.arange(rows.size)
        end = max(left, -0.7 * apart - steps[-1])
        places = steps + isotonic_regression(self.margins[rows] - steps, y_min=left, y_max=end)
        style = {"fontsize": 7, "rotation": 90, "ha": "center", "va": "top"}
        line = {"arrowstyle": "-", "color": "0.5", "linewidth": 0.5, "shrinkA": 0}
        for row, place in zip(rows, places, strict=True):
            ends = (self.margins[row], foot), (place, foot - 0.1)
            self.texts_.append(self.ax_.annotate(str(row), *ends, arrowprops=line, **style))
