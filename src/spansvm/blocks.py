"""Building blocks: what programs that are built on the library need besides its estimators.

The command line and its reports are such a program, and use no other names than public ones.  What
users of the library need is in :mod:`spansvm` itself and in :mod:`spansvm.search`.
"""

from typing import TYPE_CHECKING

from .common.lazy import lazy_names

if TYPE_CHECKING:
    from .common.memory import available_memory, gram_form, parse_budget
    from .common.methods import METHODS, predicts
    from .estimators.training_again import train_again
    from .estimators.weighting import PAPER_CLASS_WEIGHTS, PAPER_SIGMOIDS
    from .kernels.twins import equal_training_rows
    from .machine.criteria import SolvedModel
    from .multiclass.group_left_out import numbers_of, sets_of
    from .multiclass.left_out import LeftOutClasses, StoredValues
    from .multiclass.values_without import ValuesWithout
    from .regression.intervals import jackknife
    from .regression.left_out import LeftOutTargets
    from .rows.labels import judge
    from .rows.witnesses import Judged, find_witnesses
    from .search.candidates.building import candidate_estimator
    from .search.candidates.composite import fit_transformers, take_apart, transform
    from .search.candidates.fit_arguments import take_rows
    from .search.candidates.grid import EQUAL_SCORES
    from .search.candidates.label_steps import find_label_step
    from .search.candidates.scales import (
        balances,
        can_be_weighted,
        noise_of,
        spread_of,
        start_values,
        weights_matter,
    )
    from .search.candidates.subsets import stratified_rows, tenths
    from .search.evaluation.progress import duration, telling_time
    from .search.evaluation.stages import parse_time
    from .search.refit import refit_as_judged
    from .search.scoring.corrected import selecting_scorer
    from .search.scoring.intervals import wilson_interval
    from .search.scoring.kept import Replayed
    from .search.scoring.quickest_scores import asked_by
    from .search.scoring.responses import LeftOutClassifier
    from .search.scoring.without_parts import scores_without_parts
    from .search.span_machine import with_span_machine

__all__ = [
    "EQUAL_SCORES",
    "METHODS",
    "PAPER_CLASS_WEIGHTS",
    "PAPER_SIGMOIDS",
    "Judged",
    "LeftOutClasses",
    "LeftOutClassifier",
    "LeftOutTargets",
    "Replayed",
    "SolvedModel",
    "StoredValues",
    "ValuesWithout",
    "asked_by",
    "available_memory",
    "balances",
    "can_be_weighted",
    "candidate_estimator",
    "duration",
    "equal_training_rows",
    "find_label_step",
    "find_witnesses",
    "fit_transformers",
    "gram_form",
    "jackknife",
    "judge",
    "noise_of",
    "numbers_of",
    "parse_budget",
    "parse_time",
    "predicts",
    "refit_as_judged",
    "scores_without_parts",
    "selecting_scorer",
    "sets_of",
    "spread_of",
    "start_values",
    "stratified_rows",
    "take_apart",
    "take_rows",
    "telling_time",
    "tenths",
    "train_again",
    "transform",
    "weights_matter",
    "wilson_interval",
    "with_span_machine",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "LeftOutClasses": "multiclass.left_out",
        "LeftOutTargets": "regression.left_out",
        "METHODS": "common.methods",
        "SolvedModel": "machine.criteria",
        "EQUAL_SCORES": "search.candidates.grid",
        "Judged": "rows.witnesses",
        "LeftOutClassifier": "search.scoring.responses",
        "PAPER_CLASS_WEIGHTS": "estimators.weighting",
        "PAPER_SIGMOIDS": "estimators.weighting",
        "Replayed": "search.scoring.kept",
        "StoredValues": "multiclass.left_out",
        "ValuesWithout": "multiclass.values_without",
        "asked_by": "search.scoring.quickest_scores",
        "available_memory": "common.memory",
        "balances": "search.candidates.scales",
        "can_be_weighted": "search.candidates.scales",
        "candidate_estimator": "search.candidates.building",
        "duration": "search.evaluation.progress",
        "equal_training_rows": "kernels.twins",
        "find_label_step": "search.candidates.label_steps",
        "find_witnesses": "rows.witnesses",
        "fit_transformers": "search.candidates.composite",
        "gram_form": "common.memory",
        "jackknife": "regression.intervals",
        "judge": "rows.labels",
        "noise_of": "search.candidates.scales",
        "numbers_of": "multiclass.group_left_out",
        "parse_budget": "common.memory",
        "parse_time": "search.evaluation.stages",
        "predicts": "common.methods",
        "refit_as_judged": "search.refit",
        "scores_without_parts": "search.scoring.without_parts",
        "selecting_scorer": "search.scoring.corrected",
        "sets_of": "multiclass.group_left_out",
        "spread_of": "search.candidates.scales",
        "start_values": "search.candidates.scales",
        "stratified_rows": "search.candidates.subsets",
        "take_apart": "search.candidates.composite",
        "take_rows": "search.candidates.fit_arguments",
        "telling_time": "search.evaluation.progress",
        "tenths": "search.candidates.subsets",
        "train_again": "estimators.training_again",
        "transform": "search.candidates.composite",
        "weights_matter": "search.candidates.scales",
        "wilson_interval": "search.scoring.intervals",
        "with_span_machine": "search.span_machine",
    },
)
