"""The methods that evaluate models: one table, from which every list of them derives.

It imports nothing heavy, so the command line can list the names at once.
The functions of the criteria are in :mod:`spansvm.machine.criteria`, under the same names.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["METHODS", "SELECTING", "Method", "predicts"]


@dataclass(frozen=True)
class Method:
    """One way to evaluate a model.

    Attributes
    ----------
    name : str
        The name of the method in a search, of the attribute of a :class:`~spansvm.SpanAnalysis`,
        and of the function in :mod:`spansvm.machine.criteria`.
    label, meaning : str
        Its name in tables and reports, and what its value is.
    is_bound : bool
        Whether it is an upper bound, perhaps under conditions: values of 1 or more are vacuous.
    predicts : bool
        Whether it predicts every left-out row, so that any score can be computed; if not, it is
        a single number for a two-class model.
    from_one_model : bool
        Whether it is a criterion, a function of one trained model; if not, rows are actually left
        out.
    selects : bool
        Whether a search may select by it.  Not by estimates that ignore the slack or the
        intercept: on noise they may prefer a constant model, and predict no errors.
    """

    name: str
    label: str
    meaning: str
    is_bound: bool = False
    predicts: bool = False
    from_one_model: bool = True
    selects: bool = True


_TABLE = (
    Method("verified", "leave-one-out", "each row left out in turn, from one model", predicts=True,
           from_one_model=False),
    Method("span_rule", "span-rule", "predicted leave-one-out error (Corollary 1)", predicts=True),
    Method("span_bound", "span bound", "upper bound (Theorem 1)", is_bound=True),
    Method("span_count", "span count bound", "upper bound (Lemma 2, counted)", is_bound=True),
    Method("xi_alpha", "xi-alpha bound", "upper bound, if no Lambda_p is empty", is_bound=True),
    Method("sv_count", "support vectors", "upper bound: share of support vectors", is_bound=True),
    Method("jaakkola_haussler", "Jaakkola-Haussler", "bound without intercept and slack",
           is_bound=True, selects=False),
    Method("opper_winther", "Opper-Winther", "span-rule without intercept", selects=False),
    Method("radius_margin", "radius-margin", "bound without intercept and slack",
           is_bound=True, selects=False),
    Method("loo", "exact leave-one-out", "each row left out in turn", predicts=True,
           from_one_model=False),
    Method("kfold", "K-fold cross-validation", "folds given by cv", predicts=True,
           from_one_model=False),
)  # fmt: skip

#: All methods by name, in display order.
METHODS: dict[str, Method] = {method.name: method for method in _TABLE}

#: The names of those that a search may select by.
SELECTING = tuple(name for name, method in METHODS.items() if method.selects)


def predicts(name: str | None) -> bool:
    """Whether a method predicts every left-out row; True for unknown names, and for None."""
    return name not in METHODS or METHODS[name].predicts
