"""The methods by which models are judged: one table, from which every list of them derives.

It imports nothing, so that the command line can offer the names before anything heavy is loaded.
The functions of the criteria are in :mod:`spansvm.criteria`, under the same names.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["METHODS", "Method", "predicts"]


@dataclass(frozen=True)
class Method:
    """One way to judge a model.

    Attributes
    ----------
    name : str
        Of the method in a search, of the attribute of a :class:`~spansvm.SpanAnalysis`, and of
        the function in :mod:`spansvm.criteria`.
    label, meaning : str
        What tables and reports call it, and what its value is.
    is_bound : bool
        An upper bound, if only under conditions: a value of 1 or more says nothing.
    predicts : bool
        Whether it predicts every left-out row, so that any score can be computed; if not, it is
        one number for a model of two classes.
    from_one_model : bool
        Whether it is a criterion, a function of one trained model; if not, rows are really left
        out.
    """

    name: str
    label: str
    meaning: str
    is_bound: bool = False
    predicts: bool = False
    from_one_model: bool = True


_TABLE = (
    Method("span_rule", "span-rule", "predicted leave-one-out error (Corollary 1)", predicts=True),
    Method("span_bound", "span bound", "upper bound (Theorem 1)", is_bound=True),
    Method("span_count", "span count bound", "upper bound (Lemma 2, counted)", is_bound=True),
    Method("xi_alpha", "xi-alpha bound", "upper bound, if no Lambda_p is empty", is_bound=True),
    Method("sv_count", "support vectors", "upper bound: share of support vectors", is_bound=True),
    Method("jaakkola_haussler", "Jaakkola-Haussler", "bound without intercept and slack",
           is_bound=True),
    Method("opper_winther", "Opper-Winther", "span-rule without intercept"),
    Method("radius_margin", "radius-margin", "bound without intercept and slack", is_bound=True),
    Method("loo", "exact leave-one-out", "every row left out in turn", predicts=True,
           from_one_model=False),
    Method("kfold", "K-fold cross-validation", "the folds of cv", predicts=True,
           from_one_model=False),
)  # fmt: skip

#: All methods by name, in the order in which they are shown.
METHODS: dict[str, Method] = {method.name: method for method in _TABLE}


def predicts(name: str) -> bool:
    """Whether a method predicts every left-out row; True for what is no method."""
    return name not in METHODS or METHODS[name].predicts
