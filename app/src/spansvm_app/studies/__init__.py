"""What one asks of a selected model: what it is worth, what it uses, whether more rows help.

Every answer rests on predictions for left-out rows (:mod:`spansvm.multiclass.left_out`), for the
selected model, for other models on the same rows, and for the selected setting on other rows or
columns.  For a regression, the same questions are answered by the modules that begin with target_.
"""

from .baselines import Baseline, Comparison, compare_baselines
from .decisions import ClassRates, Costs, CostStep, Decisions, Precision, rate_decisions
from .influence import FeatureInfluence, Influence, measure_influence
from .leaks import Leak, Leaks, find_leaks
from .learning import LearningCurve, LearningPoint, learning_curve
from .paired import Difference, paired_difference
from .subject import Subject
from .target_baselines import TargetBaseline, TargetComparison, compare_target_baselines
from .target_influence import TargetFeature, TargetInfluence, measure_target_influence
from .target_leaks import TargetLeak, TargetLeaks, find_target_leaks
from .target_learning import TargetCurve, TargetPoint, target_learning_curve
from .target_subject import TargetSubject

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
    "TargetBaseline",
    "TargetComparison",
    "TargetCurve",
    "TargetFeature",
    "TargetInfluence",
    "TargetLeak",
    "TargetLeaks",
    "TargetPoint",
    "TargetSubject",
    "compare_baselines",
    "compare_target_baselines",
    "find_leaks",
    "find_target_leaks",
    "learning_curve",
    "measure_influence",
    "measure_target_influence",
    "paired_difference",
    "rate_decisions",
    "target_learning_curve",
]
