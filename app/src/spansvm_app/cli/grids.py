"""What ``spansvm tune`` searches: C and gamma, the paper's grids, or the user's file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from spansvm import ClassWeighting, SigmoidWeighting, SpanSVC, SpanSVR
from spansvm.blocks import (
    PAPER_CLASS_WEIGHTS,
    PAPER_SIGMOIDS,
    balances,
    can_be_weighted,
    start_values,
    weights_matter,
)
from spansvm.errors import UserError, require

from ..common.wording import closest_name
from ..tables import Table
from .scaled_grids import scaled_grid
from .terminal import printable

__all__ = [
    "APPROXIMATION",
    "CLASS_WEIGHTS",
    "C_GAMMA",
    "C_GAMMA_EPSILON",
    "C_GAMMA_WEIGHTS",
    "KERNEL_NAMES",
    "OF_KERNEL",
    "SCORES",
    "SEARCHES",
    "STEP",
    "SearchPlan",
    "check_kernel",
    "own_name",
    "plan_from_file",
    "plan_search",
]

#: The named searches.
C_GAMMA, C_GAMMA_WEIGHTS, CLASS_WEIGHTS, SCORES, C_GAMMA_EPSILON = SEARCHES = (
    "C-gamma",
    "C-gamma-weights",
    "class-weights",
    "scores",
    "C-gamma-epsilon",
)

#: The kernels of ``--kernel``.
KERNEL_NAMES = ("rbf", "linear", "poly")

#: Names of the model in the pipeline, and of what approximates its kernel.
STEP, APPROXIMATION = "svm", "nystroem"

#: Parameters of the kernel: those of the approximation, if there is one.
OF_KERNEL = ("kernel", "gamma", "degree", "coef0")

#: Parameters that a file cannot name: they need objects, or do not affect the model.
_NOT_SEARCHED = ("weighting", "gram_budget", "decision_function_shape")

#: What YAML reads as true and false, although it may be the name of a class.
_YAML_WORDS = {True: ("yes", "true", "on"), False: ("no", "false", "off")}


@dataclass(frozen=True)
class SearchPlan:
    """A model and the parameter values to try.

    Attributes
    ----------
    name : str
        Of the search, for display.
    model : SpanSVC or SpanSVR
    grid : dict or list of dicts
        By the model's own parameter names.
    landmarks : Nystroem, optional
        Approximates the kernel; the model is then linear.
    widens : tuple of str
        Parameters whose axis may be widened if the best value is at its edge.
    why : str
        Why this is searched, in one sentence; empty if it was asked for.
    """

    name: str
    model: SpanSVC | SpanSVR
    grid: dict[str, list[Any]] | list[dict[str, list[Any]]]
    landmarks: Nystroem | None = None
    widens: tuple[str, ...] = ()
    why: str = ""

    @property
    def parts(self) -> list[dict[str, list[Any]]]:
        """The grid as a list of grids."""
        return [self.grid] if isinstance(self.grid, dict) else self.grid

    @property
    def pipeline_grid(self) -> list[dict[str, list[Any]]]:
        """The grid by the pipeline's parameter names."""
        return [{self.in_pipeline(name): part[name] for name in part} for part in self.parts]

    @property
    def searched(self) -> str:
        """The name of the search in words of its parameters: a linear kernel has no gamma."""
        has_gamma = any("gamma" in part for part in self.parts)
        named = self.name in (C_GAMMA, C_GAMMA_WEIGHTS, C_GAMMA_EPSILON)
        return self.name.replace("C-gamma", "C") if named and not has_gamma else self.name

    def in_pipeline(self, name: str) -> str:
        """The name of a parameter in the pipeline."""
        of_kernel = self.landmarks is not None and name in OF_KERNEL
        return f"{APPROXIMATION if of_kernel else STEP}__{name}"

    @property
    def has_kernel(self) -> bool:
        """Whether there is a kernel to approximate."""
        kernels = [name for part in self.parts for name in part.get("kernel", ())]
        return self.landmarks is None and "linear" not in (*kernels, self.model.kernel)

    @property
    def n_candidates(self) -> int:
        """How many candidates there are."""
        return len(ParameterGrid(self.grid))

    def put_into(self, pipeline: Pipeline) -> Pipeline:
        """The pipeline with this model as its last step, after the approximation, if any."""
        landmarks = [] if self.landmarks is None else [(APPROXIMATION, self.landmarks)]
        return Pipeline([*pipeline.steps[:-1], *landmarks, (STEP, self.model)])


def own_name(parameter: str) -> str:
    """A parameter of the pipeline by the model's own name: ``C`` for ``svm__C``."""
    return parameter.removeprefix(f"{STEP}__").removeprefix(f"{APPROXIMATION}__")


def plan_search(
    search: str | None,
    table: Table,
    *,
    spread: float = 1.0,
    kernel: str | None = None,
    scoring: str | None = None,
) -> SearchPlan:
    """What to search.

    Parameters
    ----------
    search : str, optional
        One of the names, or the path of a YAML or JSON file.  By default scores if the table has
        them, else C and gamma, with class weights if classes are unequal.
    table : Table
    spread : float, default=1.0
        Of the transformed rows: the scale of gamma.
    kernel : {"rbf", "linear", "poly"}, optional
        Default: "rbf".
    scoring : str, optional
        The score to select by.
    """
    check_kernel(kernel)
    n_classes, why = len(table.schema.classes), ""
    if search is None:
        search, why = (SCORES, "") if table.scores is not None else _default(table, scoring)
    if search == CLASS_WEIGHTS:
        _refuse_scores(table, search)
        if n_classes > 2:
            raise UserError(
                f"--search {CLASS_WEIGHTS} is for two classes, but {table.source} has {n_classes}; "
                f"use --search {C_GAMMA_WEIGHTS}."
            )
        weights = list(PAPER_CLASS_WEIGHTS)
        grid = {"weighting__positive": weights, "weighting__negative": weights}
        return SearchPlan(search, _model(kernel, gamma="auto", weighting=ClassWeighting()), grid)
    if search == SCORES:
        if table.scores is None:
            raise UserError(
                f"--search {SCORES} needs an importance score for every row; pass --scores with "
                "the column that holds it."
            )
        grid = {f"weighting__{name}": list(values) for name, values in PAPER_SIGMOIDS.items()}
        return SearchPlan(search, _model(kernel, gamma="auto", weighting=SigmoidWeighting()), grid)
    if search in (C_GAMMA, C_GAMMA_WEIGHTS):
        _refuse_scores(table, search)
        grid = scaled_grid(kernel or "rbf", spread)
        widens = tuple(name for name in ("C", "gamma") if name in grid)
        if search == C_GAMMA_WEIGHTS:
            if not can_be_weighted(table.schema.classes):
                raise UserError(
                    f"--search {search} needs classes whose names are not numbers written as text "
                    f"(here '{table.schema.classes[0]}'), as scikit-learn takes these for numbers; "
                    "rename them."
                )
            grid["class_weight"] = balances(table.y)
        return SearchPlan(search, _model(kernel), grid, widens=widens, why=why)
    if search == C_GAMMA_EPSILON:
        raise UserError(
            f"--search {search} is for regression, and the target of {table.source} holds classes; "
            f"use --search {C_GAMMA}, or --task regression if they are a quantity."
        )
    return plan_from_file(search, table, _model(kernel, gamma="auto"), kernel)


def check_kernel(kernel: str | None) -> None:
    """UserError unless it is None or one of the kernels of ``--kernel``."""
    if kernel is not None and kernel not in KERNEL_NAMES:
        raise UserError(
            f"There is no kernel '{kernel}'{closest_name(kernel, KERNEL_NAMES)}; --kernel must be "
            f"one of {', '.join(KERNEL_NAMES)}."
        )


def _model(kernel: str | None, **others: Any) -> SpanSVC:
    return SpanSVC(**start_values(kernel), **others)


def _default(table: Table, scoring: str | None) -> tuple[str, str]:
    """The search by default, and why it has class weights."""
    ratio = weights_matter(table.y, scoring)
    if ratio is None:
        return C_GAMMA, ""
    if not can_be_weighted(table.schema.classes):
        return C_GAMMA, ""
    return C_GAMMA_WEIGHTS, (
        f"The weights of the classes are searched, too: the largest class is {ratio:.1f} times as "
        "large as the smallest"
        + ("." if scoring in (None, "accuracy") else f", and {scoring} takes that into account.")
    )


def _refuse_scores(table: Table, search: str) -> None:
    if table.scores is not None:
        raise UserError(
            f"--search {search} does not use --scores; leave one of them out, or pass "
            f"--search {SCORES}."
        )


def plan_from_file(
    search: str, table: Table, model: SpanSVC | SpanSVR, kernel: str | None
) -> SearchPlan:
    """The candidates that a file lists, for a model of the given kernel."""
    content = _read_file(search)
    parts = content if isinstance(content, list) else [content]
    if not parts or not all(isinstance(part, Mapping) and part for part in parts):
        raise UserError(
            f"{search} must hold parameter names with lists of values, such as C: [1, 10, 100]."
        )
    names = {str(name) for part in parts for name in part}
    if kernel is not None and "kernel" in names:
        raise UserError(f"{search} names the kernel; leave --kernel out.")
    if isinstance(model, SpanSVC):
        model.weighting = _weighting_for(search, names, table)
    known = [name for name in model.get_params() if name not in _NOT_SEARCHED]
    grids = []
    for part in parts:
        grid = {}
        for name, values in part.items():
            if name not in known:
                raise UserError(
                    f"{search} names the parameter '{printable(name)}', which cannot be searched"
                    f"{closest_name(str(name), known)}; use one of {', '.join(known)}."
                )
            listed = values if isinstance(values, list) else [values]
            if not listed:
                raise UserError(f"{search} has no values for '{name}'; give at least one.")
            if name == "kernel" and "precomputed" in listed:
                raise UserError(
                    f"{search} names the kernel precomputed, but {table.source} holds rows, not a "
                    "Gram matrix; use linear, poly, rbf or sigmoid."
                )
            grid[name] = [_value(name, value, search, table) for value in listed]
        grids.append(grid)
    return SearchPlan(Path(search).name, model, grids)


def _value(name: str, value: Any, search: str, table: Table) -> Any:
    """A parameter value as the model takes it."""
    if name == "class_weight" and isinstance(value, Mapping):
        return {_class(key, search, table): _number(value[key]) for key in value}
    return _number(value)


def _number(value: Any) -> Any:
    """Text as a number where it is one: YAML reads 1e3, without a point, as text."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _class(key: Any, search: str, table: Table) -> int | str:
    """The class that a key of class_weight names, whatever type YAML or JSON gave the key."""
    for label in table.schema.classes:
        if isinstance(key, bool):
            meant = str(label).lower() in _YAML_WORDS[key]
        else:
            meant = str(label) == str(key)
        if meant:
            return label
    classes = ", ".join(f"'{printable(label)}'" for label in table.schema.classes)
    raise UserError(
        f"{search} has a class_weight for '{printable(key)}', which is not a class of "
        f"{table.source}; use {classes}."
    )


def _weighting_for(
    search: str, names: set[str], table: Table
) -> ClassWeighting | SigmoidWeighting | None:
    """The weighting whose parameters a grid names."""
    own = {name.partition("__")[2] for name in names if name.startswith("weighting__")}
    if table.scores is not None:
        if own & set(ClassWeighting().get_params()):
            _refuse_scores(table, search)
        return SigmoidWeighting()
    of_scores = sorted(own & set(SigmoidWeighting().get_params()))
    if of_scores:
        raise UserError(
            f"{search} names weighting__{of_scores[0]}, which needs an importance score for every "
            "row; pass --scores."
        )
    if own and len(table.schema.classes) > 2:
        raise UserError(
            f"{search} names weighting__{min(own)}, which is for two classes, but {table.source} "
            f"has {len(table.schema.classes)}; search class_weight instead."
        )
    return ClassWeighting() if own else None


def _read_file(search: str) -> Any:
    path = Path(search)
    if not path.is_file():
        raise UserError(
            f"There is no search '{search}'{closest_name(search, SEARCHES)}; --search must be one "
            f"of {', '.join(SEARCHES)}, or a YAML or JSON file."
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{search} cannot be read as text; check the file.") from error
    try:
        return json.loads(text) if path.suffix.lower() == ".json" else _parse_yaml(text)
    except ValueError as error:
        reason = printable(error)
        raise UserError(f"{search} cannot be parsed ({reason}); correct it.") from error


def _parse_yaml(text: str) -> Any:
    yaml = require("yaml", "cli")
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" near line {mark.line + 1}"
        raise ValueError(f"not YAML{where}") from error
