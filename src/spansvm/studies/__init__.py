"""What one asks of a selected model: what it is worth, what it uses, whether more rows help.

Every answer rests on predictions for left-out rows (:mod:`spansvm.multiclass.left_out`), for the
selected model, for other models on the same rows, and for the selected setting on other rows or
columns.
"""

from .baselines import Baseline, Comparison, compare_baselines
from .decisions import ClassRates, Costs, CostStep, Decisions, Precision, rate_decisions
from .influence import FeatureInfluence, Influence, measure_influence
from .leaks import Leak, Leaks, find_leaks
from .learning import LearningCurve, LearningPoint, learning_curve
from .paired import Difference, paired_difference
from .subject import Subject

__all__ = [
    "Baseline",
    "ClassRates",
    "Comparison",
    "CostStep",
    "Costs",
    "Decisions",
    "Difference",
    "FeatureInfluence",
    "Influence",
    "Leak",
    "Leaks",
    "LearningCurve",
    "LearningPoint",
    "Precision",
    "Subject",
    "compare_baselines",
    "find_leaks",
    "learning_curve",
    "measure_influence",
    "paired_difference",
    "rate_decisions",
]
