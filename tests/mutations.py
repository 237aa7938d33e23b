"""Single mutations of the core, and whether the tests notice them: ``make mutations``.

Each mutation is applied to a copy of the package, and the tests that should notice it are run on
the copy.  One that survives is an error of the tests, unless it changes no result; then it says
why.  ``--only`` runs some of them, and the others keep their rows in the table of results.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_suffix(".csv")
COLUMNS = ("module", "old", "new", "wrong", "status", "noticed_by", "seconds")

#: Seconds after which tests that a mutation sends round in circles are ended.
PATIENCE = 900


@dataclass(frozen=True)
class Mutation:
    """One change of one place.

    `old` must occur exactly once in the module.  `tests` are those that should notice, such as
    "qp lazy:parts|chunks": all of test_qp.py, and of test_lazy.py those with such a word in their
    names.  `equivalent` is why no result changes, if none does.
    """

    module: str
    old: str
    new: str
    wrong: str
    tests: str
    equivalent: str = ""

    @property
    def path(self) -> str:
        return f"src/spansvm/{self.module}.py"

    @property
    def is_compiled(self) -> bool:
        return self.module.startswith("core/")

    def __str__(self) -> str:
        return f"{self.module}: {_one_line(self.old)} -> {_one_line(self.new) or '(nothing)'}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


M = Mutation

# fmt: off
MUTATIONS = [
    # Named by the review -----------------------------------------------------------------
    M("multiclass/left_out", "return self.pair_rows.sign * self.values.counted_in",
      "return -self.pair_rows.sign * self.values.counted_in",
      "hinge loss and margins with the classes of each pair exchanged",
      "search:hinge_loss_is left_out_classes"),
    M("multiclass/left_out", "if self.zero_is_lost and self.n_classes == 2:", "if False:",
      "a left-out value of exactly 0 is the second class", "left_out_classes"),
    M("multiclass/left_out", "== (self.counted > 0.0), values", "!= (self.counted > 0.0), values",
      "followed values are taken only where they contradict the rule", "svc left_out"),
    M("multiclass/left_out", "StoredValues(decision, decision, comparable,",
      "StoredValues(decision, decision, decision,",
      "exact values are ranked with the shifts of their removals", "search left_out"),
    M("multiclass/left_out", "losses = losses[self.used[self.pair_rows.row]]", "losses = losses[:]",
      "rows that do not count have a hinge loss", "left_out_classes"),
    M("multiclass/left_out", "contested[self.pair_rows.row[lost(self._own_margins)]] = True",
      "contested[self.pair_rows.row[lost(self._own_margins + 0.5)]] = True",
      "rows that lose a pair closely count as right", "together"),
    M("kernels/functions", 'for name in ("kernel", "gamma", "degree", "coef0")}',
      'for name in ("kernel", "gamma", "degree")}',
      "candidates that differ in coef0 share a Gram matrix",
      "search:every_parameter"),
    M("machine/span", " and before.bounded[solution.bounded].all()", "",
      "spans of vectors that were not bounded before are taken over as 0",
      "search:come_to_their_bounds"),
    M("core/factor", "limits.ridge = 1e-12, 1e-9, 1e-10", "limits.ridge = 1e-12, 1e-18, 1e-10",
      "a nearly singular factor is used as it is", "span hull degenerate scales"),
    M("core/hull", "squared[others[k]] - f.ridge * added[k]",
      "squared[others[k]] - 0.0 * added[k]",
      "distances from outside keep what the ridge added for the weights", "hull span"),
    M("core/hull", "squared[others[k]] - f.ridge * added[k]",
      "squared[others[k]] - f.ridge - f.ridge * added[k]",
      "distances from outside have the ridge itself taken off", "hull"),
    M("core/hull", "squared[i] - f.ridge * own * squared[i]",
      "squared[i] - 0.0 * own * squared[i]", "distances within the hull keep what the ridge added",
      "hull"),
    M("core/hull", "1.0 / farthest)", "0.0)",
      "rounding makes a distance larger than any two points are apart",
      "hull span degenerate scales",
      "lifted points do not cancel so far; of a hull of one point the value is not used"),
    M("algebra/hull", "if self.ridge > 0.0:", "if self.ridge > np.inf:",
      "weights in a nearly singular hull are those of the ridged one", "hull"),
    M("core/tableau", "SINGULAR, KERNEL_ROUNDING = 1e-11, 1e-14",
      "SINGULAR, KERNEL_ROUNDING = 1e-30, 1e-30", "removals are followed through singular systems",
      "loo", "such a path ends off the margins, which is seen there, and the model is retrained"),
    M("search/evaluation/evaluator", "if work.gram_budget is not None:", "if False:",
      "SpanSearch(gram_budget=...) is ignored", "search:budget_of"),
    M("machine/criteria", ")[np.isfinite(spans)].sum())", ").sum())",
      "Theorem 1 sums over vectors with empty Lambda_p too, and counts them twice", "criteria"),
    M("machine/criteria", "model.training_gram.spread", "model.gram.spread",
      "the spread of xi-alpha includes rows of zero weight", "criteria"),
    M("kernels/lazy",
      "return 2.0 * float(self.diagonal.max())", "return float(self.diagonal.max())",
      "the spread of a lazy linear kernel is too small: xi-alpha is no bound", "lazy:spread"),
    M("common/pairs", "return margins <= 0.0", "return margins < 0.0",
      "a left-out value of exactly 0 is no error", "search:exactly_zero"),
    M("machine/span", "solution.wrong(decision)", "(solution.y * decision < 0.0)",
      "a left-out value of exactly 0 is no error in the span-rule", "search:exactly_zero"),
    M("search/evaluation/evaluator", "solution.wrong(solution.decision)[aside]",
      "(solution.y * solution.decision < 0)[aside]",
      "a discarded row on the boundary is no error of a bound", "search:discarded_row"),
    M("core/leaving", "room >= -EQUAL_SUMS", "room >= EQUAL_SUMS",
      "Lemma 1 fails where it holds with equality", "span"),
    M("machine/span", "total = min(1.0, float(most[keep].sum()))", "total = 1.0",
      "where Lambda_p is one point up to rounding its span is an error", "span"),
    M("machine/span", " and on_margin.all()", "",
      "a prediction is trusted although free vectors leave their margins", "span"),
    M("machine/span",
      " and keeps_side.all()", "", "a prediction is trusted although others change side",
      "theory analysis loo"),
    M("machine/span", "inside_box.all() and", "True and",
      "a prediction is trusted although multipliers leave their boxes", "theory analysis loo"),
    M("machine/dual", "OFF_BOUND * scale", "1e-2 * scale",
      "multipliers a hundredth off their bounds are put there", "dual:truly"),
    M("core/ending", "> OFF_BOUND *", "> 1e-2 *",
      "a vector that is truly free does not hold the intercept", "loo"),
    M("core/leaving", "room >= -EQUAL_SUMS *", "room >= -1e-2 *",
      "Lemma 1 holds where a hundredth is missing", "span"),
    M("machine/following", ">= -EQUAL_SUMS * size", ">= -1e-2 * size",
      "a twin that stays free is driven out", "loo twins"),
    M("multiclass/calibration", "_ROUNDING = 1e-12", "_ROUNDING = 1e-2",
      "values that vary little beside their mean make no sigmoid", "calibration"),
    M("algebra/qp",
      "slack = EQUAL_SUMS *", "slack = 1e-2 *", "sums that cannot be reached are accepted",
      "qp"),
    M("multiclass/left_out",
      "present = machines.bounds[rows] > 0", "present = machines.bounds[rows] >= 0",
      "rows of zero weight take part in calibration", "svc:zero_weight"),
    M("algebra/qp", "converged = gap <= max(tol,", "converged = gap <= max(10 * tol,",
      "solutions ten times off the tolerance count as converged", "qp:converged"),
    M("kernels/lazy", "converged = gap <= tol and", "converged = gap <= 10 * tol and",
      "lazy solutions ten times off the tolerance count as converged", "lazy:converged"),
    M("machine/following", "not solution.indefinite and gram.has_room()", "gram.has_room()",
      "removals are followed on an indefinite kernel", "loo:indefinite"),
    M("machine/values", " and not solution.indefinite:", ":",
      "left-out values of an indefinite kernel are followed", "loo:indefinite"),
    M("kernels/lazy",
      "part = others[start : start + step]", "part = others[start : start + step - 1]",
      "lazy hull distances leave out the last of each part", "lazy:parts"),
    M("kernels/lazy", "part = rows[start : start + step]\n            values",
      "part = rows[start : start + step - 1]\n            values",
      "sums of rows leave out the last of each part", "lazy:leave_nothing"),
    M("kernels/lazy", "part = rows[start : start + step]\n            g +=",
      "part = rows[start : start + step - 1]\n            g +=",
      "exact gradients leave out the last of each part", "lazy:leave_nothing"),
    M("search/candidates/grid", "EQUAL_SCORES = 1e-10", "EQUAL_SCORES = 1e-18",
      "scores that differ by rounding are no ties", "grid"),
    M("search/candidates/grid", "EQUAL_SCORES = 1e-10", "EQUAL_SCORES = 1e-3",
      "scores that differ are ties", "grid"),
    M("search/results", "np.round(mean, 10)", "np.round(mean, 17)",
      "ranks tell scores apart that differ by rounding", "search:share_a_rank"),
    M("multiclass/together", "int(results.n_empty[step].sum())", "int(results.n_empty[step, 0])",
      "n_empty of the first pair only", "search:empty_sets"),
    M("multiclass/path", "model if solution.converged else None", "model",
      "a candidate starts from a model that has not converged", "path"),
    # Solver ------------------------------------------------------------------------------
    M("algebra/qp",
      "total <= most + slack", "total <= most + 10.0", "sums above all bounds are accepted",
      "qp"),
    M("algebra/qp", "np.isfinite(tol) and tol > 0", "np.isfinite(tol) and tol >= 0",
      "a tolerance of 0 is accepted", "qp dual"),
    M("core/descent", "if curvature < -1e4 * p.flat:", "if curvature < -1e300 * p.flat:",
      "negative curvature is not reported", "qp"),
    M("core/loops", "bottom = fall if fall > bottom else bottom",
      "bottom = fall if fall > bottom and t < 64 else bottom",
      "the gap is that of a part of the variables", "path qp"),
    M("core/newton", "- turn * row[a]", "+ turn * row[a]",
      "after a bound a Newton step turns the wrong way", "qp path"),
    M("core/newton", "rest * direction[blocking] / row[blocking]",
      "direction[blocking] / row[blocking]", "after a bound a Newton step turns too far",
      "qp path"),
    M("core/problem", "if p.x[t] < p.hi[t]:\n            top",
      "if p.x[t] <= p.hi[t]:\n            top", "the gap counts variables that cannot grow",
      "qp dual"),
    M("core/problem", "hair = max(hair, 64.0 * EPSILON * fabs(p.x[t]))",
      "hair = max(hair, 1e-3 * fabs(p.x[t]))", "variables near their bounds are put there",
      "path dual"),
    M("core/moving", "1e-12 * fabs(wanted[t])", "1e-2 * fabs(wanted[t])",
      "what bounded vectors add to the gradient drifts along a path", "path",
      "gradients are computed afresh before a solution is accepted: differences of 1e-15"),
    M("core/moving", "<= EPSILON * 8.0 * most", "<= 0.5 * most",
      "bounds that move by different factors move by one", "path"),
    M("core/descent", "level <= 0.01 * tol", "level <= 1e9 * tol",
      "gradients are not computed afresh where rounding has moved them", "scales qp",
      "the finish at the vertex computes its own gradient: differences of at most 3e-10"),
    M("core/newton", "< 0.1 * falls:", "< 1e300 * falls:",
      "along directions without curvature the ridge ends the steps", "qp path degenerate scales"),
    M("core/newton", "add_vector(p.g, times, change, p.n)",
      "add_vector(p.g, 0.5 * times, change, p.n)", "a slide leaves the gradient behind",
      "qp path degenerate scales",
      "along directions without curvature the gradient hardly changes, and it is renewed"),
    M("core/descent", "add_rows(p.g, cython.address(p.K), active, change, moved)", "pass",
      "the gradient does not follow what the smaller problem moved", "qp path dual"),
    M("core/descent", "        _shrink(p, e, False)\n", "        pass\n",
      "what a problem shrunk twice has found is lost", "qp path dual scales",
      "only work is lost: the larger problem descends until it is solved"),
    M("core/problem", "return max(1e-10, 30.0 *", "return max(1e-3, 30.0 *",
      "solutions are left at their tolerance: they depend on where they started", "path"),
    M("core/finish", "if known and is_of(f, free, count):", "if known:",
      "the factor of other variables is used", "path"),
    M("core/finish", "inverse.size == count if carried else f.exists",
      "True if carried else f.exists",
      "a point that was dropped on the way is missing in the inverse", "together inverse",
      "only until the next turn: a set whose minimum is outside the box is not that of a solution"),
    M("core/inverse", ">= 1e-3 * v.shift", ">= 1e-12 * v.shift",
      "spans come from an inverse that is not accurate", "inverse together"),
    M("core/inverse", "add_square(v.M, n, v.room, -1.0, rows, count)",
      "add_square(v.M, n, v.room, 1.0, rows, count)", "points leave the inverse the wrong way",
      "inverse"),
    M("core/inverse", "while unwanted >= 0 and leaving[unwanted] == last:", "while False:",
      "a point that leaves takes the place of another", "inverse"),
    M("core/inverse", "direction[b] = rest * direction[b] - turn",
      "direction[b] = direction[b] - turn",
      "a walk with the inverse turns the wrong way at a bound", "inverse"),
    M("core/inverse", "u[b] -= row[b] * total", "u[b] -= 0.0",
      "the sum is not kept after a point is dropped", "inverse"),
    M("core/factor", "if not (p.lo[i] < p.x[i] + move[a] and p.x[i] + move[a] < p.hi[i]):",
      "if not p.lo[i] <= p.x[i]:", "finishing leaves the box", "path dual"),
    # All machines together ---------------------------------------------------------------
    M("core/machine", "if was_inside != is_inside:", "if False:",
      "rows that begin to take part change nothing", "together"),
    M("core/machine", "old_lo[t] < x and x < old_hi[t] and lo < x and x < hi", "lo < x and x < hi",
      "a solution stays although a bound that held it is gone", "together"),
    M("core/problem", "least = max(least, -p.g[t])", "least = min(least, -p.g[t])",
      "the intercept without in-bound vectors is at an end of its interval",
      "together degenerate:no_in_bound"),
    M("core/machine", "_find_spans(m, carry, same)\n", "_find_spans(m, carry, n_before > 1)\n",
      "spans of other in-bound vectors are reused", "together"),
    M("core/machine", "if twins[q] > 1:", "if twins[q] > 1 and C[i] > 0.0:",
      "a twin of no weight has the multiplier of the other", "together"),
    M("core/leaving", "free + t.y[p] * k.held - t.C[p]", "free - t.y[p] * k.held - t.C[p]",
      "Lemma 1 with the bounded vectors of the other class", "span degenerate criteria"),
    M("core/leaving", "if movable and i != apart and", "if movable and",
      "the only in-bound vector takes over from itself", "span degenerate criteria"),
    M("core/lone", "drop[p] = INFINITY", "drop[p] = 0.0",
      "what takes over from others is always sure to", "verified"),
    M("core/lone", "left_out[p] -= 0.5 * t.sign * way", "left_out[p] -= 0.0",
      "the intercept stays where nothing fixes it", "verified:one_vector"),
    M("core/lone", "left_out[nearest] += _middle(m, nearest) - _middle(m, -1)",
      "left_out[nearest] += 0.0", "the end of the interval stays without its row",
      "verified:one_vector"),
    M("core/verdicts", "v.undecided[row] = won != lost", "v.undecided[row] = False",
      "no doubtful value is followed", "verified removal"),
    M("core/verdicts", "_outcome(v, row, 1.0), _outcome(v, row, -1.0)",
      "_outcome(v, row, 1.0), _outcome(v, row, 0.0)", "values are taken for won or as predicted",
      "verified removal"),
    M("core/walk", "            p.crossed = True\n", "            p.crossed = False\n",
      "vectors that cross their boxes are forgotten", "removal:cross"),
    M("core/machine", "stale = max(m.drift[0], rounding_level(p)) > STALE", "stale = False",
      "rounding is carried along", "together path"),
    M("core/machine", "m.carried.scale[0] = m.carried.scale[1] = m.drift[0] = 0.0",
      "m.drift[0] = 0.0", "sums keep the rounding that the gradient has lost", "together path",
      "their rounding is relative: it shrinks with them"),
    M("multiclass/machines", "result[columns] += weights.T @ block",
      "result[columns] += 2.0 * weights.T @ block",
      "values of other pairs are doubled", "together:other_pairs svc"),
    M("core/votes", "range(-2, p.n_classes)", "range(-2, p.n_classes - 1)",
      "votes against the last class are not counted", "together:votes"),
    M("core/votes", "        if challenger > best:\n            may_lose -= 1\n", "",
      "ties go to the last class", "together:votes"),
    M("core/gaussian", "(1.0 + (r + series)) * power", "(1.0 + r) * power",
      "the kernel is linear between powers of two", "together:gaussian"),
    # Regression ---------------------------------------------------------------------------
    M("core/problem", "highest = max(highest, -p.g[t] - p.tube)", "pass",
      "the far edge of the tube is not among the conditions", "tube paths",
      "rows at 0 cross to the nearer edge before: where its condition holds, so does the other"),
    M("core/problem", "-p.hi[t], 0.0, p.g[t] - p.tube", "-p.hi[t], 0.0, p.g[t]",
      "a row that crosses the tube keeps the gradient of the edge it left", "tube paths"),
    M("core/problem", "most = min(most, p.tube - p.g[t])  # where it would cross", "pass",
      "the interval of the intercept does not end where a row would cross the tube", "tube paths"),
    M("core/tube", "edge = m.target[i] - side * epsilon\n        p.g[i] += m.edge[i] - edge",
      "edge = m.target[i] - side * epsilon",
      "gradients stay relative to the edges of another tube", "paths"),
    M("core/tube", "if q != i:  # it has not crossed by itself", "if False:",
      "equal rows keep the gradient of the edge that the first of them left", "paths"),
    M("core/tube", "side = m.side[q]\n        if p.x[q] != 0.0:",
      "side = m.side[q]\n        if False:",
      "without a tube, the sides of rows are those of before", "paths"),
    M("core/walk", "p.offset[q] = -bound, 0.0, p.offset[q] - p.vertex.tube",
      "p.offset[q] = -bound, 0.0, p.offset[q]",
      "a vector that crosses the tube on a path is read off at the edge it left",
      "left_out_targets"),
    M("core/walk", "inside = tube if x == 0.0 else INFINITY", "inside = INFINITY",
      "on a path, rows leave the tube at the far edge unnoticed", "left_out_targets"),
    M("core/walk", "p.offset[i] = p.vertex.lo[i], p.vertex.hi[i], 0.0",
      "p.offset[i] = p.vertex.lo[i], p.vertex.hi[i], p.offset[i]",
      "offsets of one path stay for the next", "left_out_targets"),
    M("core/walk", "        p.turned = False\n    clear_changed", "    clear_changed",
      "paths put back sides that no vector has crossed", "left_out_targets",
      "they are those of the vertex"),
    M("core/walk", "    p.turned = True\n    if p.hi[q] > 0.0:", "    if p.hi[q] > 0.0:",
      "sides that vectors have crossed to stay for the next path", "left_out_targets"),
    M("core/ending", "needed = wanted - p.vertex.r[i] - p.offset[i]",
      "needed = wanted - p.vertex.r[i]",
      "the intercept of a changed regression forgets who crossed the tube", "left_out_targets"),
    M("core/ending", "above = min(above, p.vertex.tube if p.lo[i] == 0.0 else INFINITY)", "pass",
      "the middle does not heed the far edge of a vector that is a hair off its bound",
      "left_out_targets"),
    M("core/verifying", "if C[i] < m.last_C[i] or (C[i] > 0.0) != (m.last_C[i] > 0.0):",
      "if False:",
      "removals are taken over for smaller bounds and other rows", "paths verified"),
    M("machine/tube", "if x.any() else start)\n    )[first]", "if x.any() else start)\n    )",
      "equal rows are on both sides of a tube", "large_bounds:side"),
    M("machine/dual", "> finished_gap(x, gram.diagonal)", "> 1e300",
      "multipliers that decide are put on bounds 1e8 times as large", "large_bounds"),
    M("kernels/lazy", "equalise(values, first)", "pass",
      "kernel values of equal rows differ by rounding, times 1e10", "large_bounds"),
    M("algebra/qp", "rounding_level(x, diagonal) <= STALE or", "True or",
      "rounding of large multipliers stays in the gradient", "large_bounds"),
    M("machine/tube", "spread <= 1e-12 * float(np.abs(own).max())", "spread < 0.0",
      "the rounding of equal targets is a unit", "tube:units"),
    M("machine/span", "(side <= solution.tube + slack)", "(side <= np.inf)",
      "a predicted removal is trusted although rows leave the tube at the far edge",
      "tube:exact"),
    M("machine/dual", "2.0 * self.epsilon", "np.inf",
      "the tube of a regression has one edge", "left_out_targets tube"),
    M("regression/paths", "own.decision + intercept_moves(own), np.flatnonzero",
      "own.decision.copy(), np.flatnonzero",
      "the intercept stays where the row at the end of its interval is left out",
      "left_out_targets"),
    M("regression/intervals", "* (size + 1) * (1.0 + 1e-12)", "* size * (1.0 + 1e-12)",
      "intervals are those of one row fewer", "intervals"),
    M("regression/intervals", "values = values[:, self.numbers]", "values = values[:, :size]",
      "residuals of a row are added to the values without another group", "intervals"),
    # Hulls and removals ------------------------------------------------------------------
    M("core/hull", " + offset * offset / known.s", "",
      "spans of bounded vectors without the condition that weights sum to 1", "span"),
    M("algebra/systems", "_CLIP = 1e-10", "_CLIP = 1e-1",
      "an indefinite block is clipped where it is regular", "degenerate",
      "under an indefinite kernel there are no distances: any finite number will do"),
    M("core/factor", "matrix[a * n + a] += added", "matrix[a * n + a] += 1e3 * added",
      "a ridge a thousand times the one that is taken off", "hull span degenerate"),
    M("core/factor", "own + gram[b * n + b] <= 2.0 * row[b]",
      "own + gram[b * n + b] <= 1.999 * row[b]", "equal points are not found",
      "hull twins span degenerate",
      "equal points of one class are merged before; for others the ridge gives the same distances"),
    M("core/walk", "STILL = 1e-11", "STILL = 1e-3",
      "vectors that move slowly never meet their bounds", "loo"),
    M("core/ending", "ACCURATE, ASTRAY = 1e-8, 1e-7", "ACCURATE, ASTRAY = 1e-8, 1e300",
      "paths that went astray are believed", "loo left_out",
      "a guard: no path in the tests ends so far off its margins"),
    M("core/ending", "return 0.5 * (above - below)", "return above",
      "without a free vector the intercept is at an end of its interval", "loo"),
    M("core/walk", "m.least[i] if p.net < 0.0 else m.most[i]",
      "m.least[i] if p.net > 0.0 else m.most[i]", "a vector takes over that cannot",
      "loo:every_vector_is_bounded"),
    M("core/ending", "x = p.hi[q] if p.vertex.x[q] > 0.0 else p.lo[q]",
      "x = p.hi[q] if p.vertex.x[q] < 0.0 else p.lo[q]", "a twin that stays is at the wrong bound",
      "loo twins"),
    M("core/removal", "/ max(number - 1.0, 1.0)", "/ max(number, 1.0)",
      "the shift of the others is a mean over all", "left_out_targets"),
    M("core/walk", "p.column[i] - p.aim[i] / p.speed", "p.column[i] + p.aim[i] / p.speed",
      "free members of a group move away from zero", "groups"),
    M("core/walk", "q, p.aim[q] / p.speed", "q, 0.5 * p.aim[q] / p.speed",
      "bounded members of a group move half as fast", "groups"),
    M("core/removal", "path.intercept + path.middle", "path.intercept",
      "without a free vector the intercept is where the path ended", "groups:training_without"),
    M("core/ending", "if not (m.least[q] - over <= state and state <= m.most[q] + over):",
      "if False:", "equal rows are kept at a bound that they want to leave",
      "groups:training_without"),
    M("machine/groups", "change[own] = -x[hull[own]]", "change[own] = 0.0",
      "in-bound members of a group keep their multipliers", "groups"),
    M("machine/groups", "change = -w * moves.sum()", "change = 0.0 * w",
      "what bounded members give up is not taken over", "groups"),
    M("machine/groups", "LARGEST_SHARE = 0.05", "LARGEST_SHARE = 1.0",
      "large groups are predicted", "groups cv"),
    M("machine/groups", "FEWEST_IN_BOUND = 10", "FEWEST_IN_BOUND = 0",
      "groups are predicted from hardly any in-bound vector", "groups"),
    M("machine/groups", "LARGEST_DOUBT = 0.5", "LARGEST_DOUBT = 1e9",
      "groups are predicted where in-bound vectors have no room", "groups"),
    M("machine/groups", "FARTHEST_OVER = 0.3", "FARTHEST_OVER = 1e9",
      "groups are predicted where other rows cross their margins", "groups"),
    M("machine/groups", "float(stays[0]) - float(stays[1])", "float(stays[1]) - float(stays[0])",
      "a machine that lost a class decides for it", "groups"),
    M("machine/groups", "(1.0 - EQUAL_SUMS) * rest", "2.0 * rest",
      "equal rows that stay exceed their bounds", "groups:training_without"),
    M("machine/groups", "- own) / rest", "- own) / number",
      "the shift of a group's removal is a mean over all", "groups:shift"),
    M("multiclass/group_left_out", "values - shift", "values",
      "values of groups are ranked with the shifts of their removals", "groups:ranking"),
    M("multiclass/group_left_out",
      "values[:, column] = removed.values(plain[rows, column], kernel)",
      "own = local[column, rows] >= 0; values[own, column] = removed.values(plain[rows, column], "
      "kernel)[own]",
      "rows of other classes are predicted by pairs that have seen their group", "groups"),
    M("core/factor", ">= 1e-5 * f.shift", ">= 1e-18 * f.shift",
      "an ill-conditioned factor is inverted", "loo left_out",
      "digits of a direction only: values are read off the Gram matrix where a path ends"),
    M("machine/following", "> 1.01 * most]", "> 1e300 * most]",
      "values that no model can have are believed", "loo",
      "what is so far astray is off its margins, which is seen at the end of a path"),
    M("core/following", "= value, growth.others - offset", "= value, growth.others",
      "shifts are counted from another intercept", "left_out:shift"),
    M("machine/following", "_VERTEX = 1e-7", "_VERTEX = 1e9",
      "points that are no solutions are started from", "loo",
      "paths from no solution end off their margins, which is seen there"),
    M("machine/values", "_DOUBT, _HUNDRED = 0.01", "_DOUBT, _HUNDRED = 1e9",
      "nothing is followed, however doubtful", "left_out_targets"),
    M("machine/values", "_CANCELLED, _SMALL = 1e-6, 1e-2", "_CANCELLED, _SMALL = 1e-30, 1e-2",
      "rounding of a constant model is ranked", "left_out:cancelled"),
    M("machine/doubt",
      "* (growth - squared[part]) / (number", "* (growth + squared[part]) / (number",
      "shifts of bounded vectors count the vector itself", "left_out:predicted_shifts"),
    M("machine/doubt", "+ number * w - 1.0", "+ number * w + 1.0",
      "shifts of in-bound vectors count the vector itself", "left_out:predicted_shifts"),
    M("machine/doubt", "part in (bounded[start : start + step]",
      "part in (bounded[start : start + step - 1]",
      "the last bounded vector of each part has no doubt", "lazy:leave_nothing"),
    M("machine/values", "-solution.y[alone], 0.0\n    return", "solution.y[alone], 0.0\n    return",
      "the last of its class is given to its own class", "left_out:last_of"),
    M("machine/values", "np.ceil(np.log2(accuracy))", "np.ceil(np.log2(accuracy)) - 40.0",
      "values are told apart that the solution cannot tell apart", "left_out_targets"),
    M("machine/values",
      "-solution.y[alone], 0.0\n    gaps", "-2.0 * solution.y[alone], 0.0\n    gaps",
      "the last of its class has a value that is no class", "loo degenerate"),
    M("core/leaving", "left.value[i] = -t.y[i]", "left.value[i] = t.y[i]",
      "the last of its class is given to its own class", "degenerate span"),
    M("core/leaving", "k.n_in_bound > is_in_bound and", "",
      "Lambda_p of the only in-bound vector is not empty", "degenerate criteria",
      "implied by sum(y alpha) = 0: without another in-bound vector no room is left"),
    M("machine/span", "_BOX_TOLERANCE * hull.shift:", "np.inf:",
      "box spans of nearly dependent points are those of the ridged hull", "span theory",
      "the ridge changed no box span by more than rounding where this was compared"),
    M("machine/span", "part = rows[start : start + block_rows]",
      "part = rows[start : start + block_rows - 1]", "removals leave out the last of each part",
      "lazy:leave_nothing"),
    # Estimates ---------------------------------------------------------------------------
    M("machine/criteria",
      "1.0 / np.sqrt(model.solution.C[inside])", "1.0 / model.solution.C[inside]",
      "1 / C in place of its root", "criteria theory"),
    M("machine/criteria", "* counted + model.n_empty +", "* counted +", "Theorem 1 without k",
      "criteria theory"),
    M("machine/criteria", "if self.solution.converged:", "if True:",
      "predictions of a model that is no solution are trusted", "criteria"),
    M("machine/criteria", "slack = max(self.solution.gap, _EXACT)", "slack = 1e-14",
      "no prediction is exact enough to be trusted", "theory analysis"),
    M("machine/criteria",
      "solution.in_bound, 1.0, solution.y", "solution.in_bound, 0.0, solution.y",
      "Opper-Winther against a margin of 0", "span"),
    # Models and Gram matrices ------------------------------------------------------------
    M("core/problem", "return 0.5 * (least + most)", "return least",
      "without in-bound vectors the intercept is at an end of its interval", "degenerate dual"),
    M("machine/dual", "factor=None if moved else result.factor", "factor=result.factor",
      "the factor is of vectors that were put on their bounds", "path degenerate",
      "then no vector is in-bound, and nobody asks for a factor"),
    M("machine/dual",
      "weight * (C * class_weight[classes])", "(weight * C) * class_weight[classes]",
      "bounded multipliers of LibSVM differ from their bounds by rounding", "dual"),
    M("kernels/gram", "kernel_range=self._kernel_range)\n", "kernel_range=None)\n",
      "zero weights change the spread of an RBF kernel", "criteria"),
    M("kernels/gram",
      "if known is None or not np.array_equal(known[0], mask):", "if known is None:",
      "sums over some rows are taken for those over others", "twins"),
    M("kernels/gram", "if known is None or not np.array_equal(known[0], y):", "if known is None:",
      "twins of other labels", "twins"),
    M("kernels/gram", "first_equal(self.kinds[rows])", "None",
      "rows that are equal in a pair of classes are not twins there", "twins"),
    M("kernels/gram", "(self.diagonal - 2.0 * inner).max()", "(self.diagonal - 2.0 * inner).mean()",
      "the ball does not enclose all points", "qp criteria"),
    M("kernels/gram",
      "tolerance = 1e-8 if", "tolerance = 1e3 if", "no kernel is seen to be indefinite",
      "svc:indefinite dual:reading"),
    M("kernels/lazy", "self._slot_of[self._owner[slot]] = -1", "pass",
      "a row is read from a place that another has taken", "lazy"),
    M("kernels/lazy", "2.0**-24, 2.0**-53, 0.2", "2.0**-24, 2.0**-53, 1e30",
      "rounding in single precision hides the gap", "lazy"),
    M("kernels/lazy", "> _MOST_IN_COMMON", "> 1e9 * _MOST_IN_COMMON",
      "single precision whatever the kernel values have in common", "lazy:far_from"),
    M("core/newton", "    for _ in range(size - 1):\n        _balance(direction, alive, size)\n",
      "    for _ in range(size - 1):\n", "Newton steps lose the sum of their direction",
      "scales degenerate path qp",
      "the end of the walk is balanced as well, and what that moves is left to the next step"),
    M("machine/dual", "converged=result.converged and bool(keeps_sum(x, terms.total)),",
      "converged=result.converged,", "a sum that is lost is not noticed", "scales:is_lost"),
    M("kernels/lazy", "np.count_nonzero(mask) / max(rows.size, 1)", "1.0",
      "sums estimated from some of the points are those of these", "lazy:estimated_from_some"),
    M("kernels/lazy",
      "np.where(used & (x >= before[1]), hi,", "np.where(used & (x >= before[1]), x,",
      "bounded vectors stay where they were", "lazy",
      "where a path starts from, not where it leads: only the number of steps changes"),
    M("algebra/interior", "length = _REACH * self._length", "length = 1.0 * self._length",
      "a step goes all the way to the boundary", "lazy"),
    M("algebra/interior", "self.primal = self.total - float", "self.primal = -float",
      "the rows outside the band do not count in the sum", "linear"),
    M("kernels/linear", "Q[:, rank:] if orthogonal else Q[:, :rank]",
      "Q[:, :rank] if orthogonal else Q[:, rank:]",
      "distances along the hull instead of from it", "linear"),
    M("kernels/linear", "tol=tol, max_iter=max_iter, to_vertex=True", "tol=tol, max_iter=max_iter",
      "a linear machine is left within its tolerance", "linear"),
    M("kernels/twins", "bits ^= bits >> np.uint64(32)", "bits &= np.uint64(0)",
      "every row is compared with every other", "twins",
      equivalent="codes only exclude rows from the comparison: it takes longer"),
    M("kernels/twins", "keys = 2 * kinds + (y > 0)", "keys = 2 * kinds",
      "equal rows of different classes are merged", "twins"),
    M("kernels/twins", "        X.eliminate_zeros()\n", "",
      "zeros that are stored make equal rows different", "twins"),
    M("kernels/twins", "        X.sum_duplicates()\n", "",
      "entries that are stored twice make equal rows different", "twins"),
    M("kernels/twins", 'order="C") + 0.0', 'order="C")',
      "-0.0 is another number than 0.0", "twins"),
    M("kernels/twins",
      "slack *= 2.0**29", "slack *= 1.0", "equal rows in single precision are not found",
      "twins"),
    M("kernels/twins", "_ROUNDING = 64 * float", "_ROUNDING = 1e12 * float",
      "points that are merely close are equal", "twins"),
    # Classes and probabilities -----------------------------------------------------------
    M("common/pairs", "_LEAST_PROBABILITY = 1e-7", "_LEAST_PROBABILITY = 1e-2",
      "no probability is below a hundredth", "calibration"),
    M("common/pairs", "_wins(values >= 0, n_classes)", "_wins(values > 0, n_classes)",
      "a value of exactly 0 is a win of the first class", "svc:zero|ties"),
    M("common/pairs", "_wins(values > 0, n_classes)", "_wins(values >= 0, n_classes)",
      "a value of exactly 0 is a win of the second class in one-vs-rest", "svc:zero|ties"),
    M("multiclass/calibration", "_VARIES = 0.1", "_VARIES = 1e9", "outliers flatten the sigmoid",
      "calibration svc:probabilit left_out:noise"),
    M("multiclass/calibration", "if slope < 0.0 or not varies:", "if not varies:",
      "probabilities contradict the decision", "svc:contradict left_out:noise"),
    M("multiclass/calibration", "prior / (n_negative + 2.0 * prior)", "0.0",
      "the targets of one class are not shrunk", "calibration svc:probabilit left_out:noise"),
    M("multiclass/calibration",
      "rows = np.flatnonzero(own < beyond)", "rows = np.flatnonzero(own < 0.0)",
      "probabilities contradict predictions", "agreeing_probabilities"),
    M("multiclass/calibration", "_BEYOND_HALF * (1.0 + own)", "_BEYOND_HALF",
      "moved probabilities lose their order", "agreeing_probabilities"),
    M("multiclass/left_out", "self._predicted(False) if self.n_classes == 2 else None", "None",
      "left-out probabilities contradict left-out predictions", "agreeing_probabilities"),
    M("multiclass/hard_margin", "_ROOM = 1e-3", "_ROOM = 1.0",
      "multipliers at their bounds are taken for a hard margin", "hard_margin"),
    M("multiclass/hard_margin", "present * (factor / unit)", "present * factor",
      "bounds of a hard margin depend on the unit of the features", "hard_margin"),
    M("multiclass/left_out", "0.5 / (machines.n_classes - 1)", "30.0",
      "probabilities are drawn to a half", "svc:probabilit"),
    M("multiclass/left_out", "return np.where(self.used, result, np.nan)", "return result",
      "rows of zero weight have a margin", "svc:zero_weight"),
    M("multiclass/machines", "or models.indefinite:", "or False:",
      "negative curvature of one pair is not said", "svc:indefinite degenerate",
      "a kernel that may be indefinite is looked at as a whole before"),
    M("estimators/as_svc", "np.cumsum(machines.bounds > 0) - 1", "np.cumsum(machines.bounds > 0)",
      "support vectors are numbered one too high", "as_svc refit"),
    M("estimators/as_svc", "-sigmoid.slope", "sigmoid.slope", "probabilities of the wrong class",
      "as_svc refit"),
    M("estimators/weighting", "-700.0, 700.0", "-0.7, 0.7", "steep sigmoids are flat", "weighting"),
    M("estimators/weighting",
      "values.max() > 1.0", "values.max() > 1.5", "scores above 1 are accepted",
      "weighting"),
    M("kernels/functions", "kernel.coef0 >= 0", "True",
      "polynomials with a negative coef0 count as definite",
      "kernels dual:reading svc:indefinite"),
    M("kernels/functions", "np.fill_diagonal(values, 1.0)", "pass",
      "a point is not exactly at distance 0 from itself", "kernels"),
    M("kernels/functions", "atol=1e-6 * scale", "atol=1e3 * scale",
      "matrices that are not symmetric are accepted", "kernels svc"),
    # Search ------------------------------------------------------------------------------
    M("search/candidates/grid", "_SAME_MODEL = 1e-5", "_SAME_MODEL = 0.2",
      "other models give way to smaller weights", "grid"),
    M("search/candidates/grid",
      "_LONG_AXIS = 5", "_LONG_AXIS = 50", "the rim of the grid is chosen", "grid"),
    M("search/candidates/grid", " and keys[i] == key]", "]",
      "another kernel is taken for the same model", "grid"),
    M("search/evaluation/evaluator", "count / self.counted.sum()", "count / self.counted.size",
      "bounds are shares of all rows, also of those without weight", "search:rows_of_zero"),
    M("search/evaluation/evaluator", "tol = min(tol, EXACT_TOLERANCE)",
      "tol = min(tol, 1e-1)", "exact leave-one-out of a loose model",
      "search:is_exact_however"),
    M("multiclass/left_out", "np.average(wrong, weights=np.asarray(weight)[self.used])",
      "np.average(wrong)",
      "routed weights do not weigh the score", "search:metadata_routing"),
    M("search/candidates/shared_data", "self._sets.get((transformers, kernel, number), make_set)",
      "self._sets.get((transformers, kernel), make_set)", "folds share a Gram matrix",
      "search:kfold_scores|kfold_of_other"),
    M("search/candidates/shared_data", "self._rows.get((transformers, number), make_rows)",
      "self._rows.get(number, make_rows)", "settings of the transformers share their rows",
      "search:transformers_are|steps_and|nested"),
    M("search/candidates/training_sets",
      "train_rows = take_rows(X, np.arange(y.size))", "train_rows = X",
      "transformers change the caller's rows", "search:work_in_place"),
    M("search/candidates/building", "params[name] is before[name]", "True",
      "a candidate keeps the kernel of the one before",
      "search:steps_and|every_parameter|replaced"),
    M("search/candidates/building", "around = [parts.steps, parts.inner,", "around = [parts.inner,",
      "settings of the transformers share a Gram matrix",
      "search:transformers_are|steps_and|nested"),
    M("search/candidates/label_steps", "_TRIALS, _DRAWS = 10, 100", "_TRIALS, _DRAWS = 1, 100",
      "a selection of features that is the same by chance is not found", "label_steps:chance"),
    M("search/candidates/label_steps",
      "_LOOKS if _same(rows, self.fit(X, self.y)[1]) else _RANDOM", "_LOOKS",
      "random numbers are taken for labels", "label_steps:cannot_be_fixed"),
    M("search/candidates/label_steps",
      "        np.random.set_state(of_numpy)  # noqa: NPY002\n", "",
      "fits differ by their random numbers, and so does the program", "label_steps:do_not|go_on"),
    M("search/candidates/label_steps",
      'if not kind.__module__.startswith("sklearn."):', "if False:",
      "a subclass is trusted by its name", "label_steps:look_at_the_labels_are"),
    M("search/candidates/label_steps", '    parts.append(getattr(step, "remainder", None))\n', "",
      "what is done to the other columns is not looked at", "label_steps:look_at_the_labels_are"),
    M("search/candidates/label_steps",
      "(y == np.unique(y)[-1]).astype(np.intp)", "np.zeros(y.size, int)",
      "steps within one-vs-rest see no labels", "label_steps:one_vs_rest|words"),
    M("search/candidates/building", "(replaced and not _is_free(given.prefix, name))", "False",
      "steps of a replaced machine are those of one candidate", "label_steps:takes_the_place"),
    M("search/scoring/scorers", "_DIFFERENT = 0.1", "_DIFFERENT = 1e9",
      "models that were fitted on other weights are judged", "scoring"),
    M("search/refit", "_TIMES, _SUSPICIOUS = 10.0, 0.01", "_TIMES, _SUSPICIOUS = 10.0, 1e9",
      "a refit that solves nothing is handed out", "refit"),
    M("search/refit", "np.flatnonzero(bounds)[svc.support_]", "svc.support_",
      "support vectors are those of other rows if some have no weight", "refit",
      "a false alarm: the second training finds the same model, and nothing is replaced"),
    M("search/base", "arguments, self.gram_budget)", "arguments, None)",
      "the refit does not know the budget", "refit"),
    M("search/candidates/building", "parts.inner, type(parts.wrapper)", "type(parts.wrapper)",
      "settings inside one-vs-rest share a Gram matrix", "drop_in:inside_one_vs_rest"),
    M("search/candidates/composite", "{name: getattr(machine, name) for name in names}",
      "{name: value for name, value in machine.get_params().items() if name in names}",
      "a subclass is trained with another kernel", "drop_in:subclass"),
    M("search/candidates/composite", "X if resamples(transformer) else", "X if False else",
      "test rows are resampled", "drop_in:resampled|smote"),
    M("multiclass/one_vs_rest", "values[:, ::-1], axis=1)", "values, axis=1)",
      "the class with the largest value is counted from the end", "drop_in:one_vs_rest"),
    M("multiclass/one_vs_rest", "| (self.indices < 0)", "", "unknown classes count as the rest",
      "drop_in:unknown"),
    M("search/candidates/training_sets", "self.classes[place if self.classes.size > 2 else 1]",
      "self.classes[place]", "of two classes the first is tested", "drop_in:two_classes"),
    M("search/evaluation/evaluator", "rows, predicted.used = self.scoring.rows, self.counted",
      "rows = self.scoring.rows", "training rows of zero weight are scored",
      "drop_in:train_scores"),
    M("search/scoring/standard_errors", "if weight is None and self._single:", "if weight is None:",
      "rows of a group count as independent", "drop_in:together"),
    M("search/scoring/standard_errors",
      "of_units = np.bincount(self._units, weights=contributions)",
      "of_units = contributions", "rows of a group contribute independently", "drop_in:together"),
    M("search/scoring/ranked_scores", "/ max(others.size, 1)", "/ values.size",
      "the standard error of the area counts the wrong rows", "drop_in:drawn_rows"),
    M("search/scoring/label_scores", 'true if average == "weighted" else', 'true if False else',
      "weighted averages are plain ones", "corrected:confusion"),
    M("search/scoring/label_scores",
      "(predicted + true > 0).astype(np.float64)", "np.ones_like(true)",
      "classes that do not occur count", "corrected:confusion"),
    M("search/results", "if leaving.one_sample:", "if False:",
      "left-out rows have no standard error", "drop_in:binomial"),
    M("search/scoring/scorers", "if takes}", "}", "scorers get weights that they do not take",
      "drop_in:take_no_weights"),
    M("search/scoring/bootstrap", "(counts == 0).astype(counts.dtype)", "counts",
      "the draw's selection is scored on the rows it was selected on", "corrected"),
    M("search/scoring/bootstrap", "known.max(axis=0) - EQUAL_SCORES", "known.max(axis=0) - 1.0",
      "nothing is selected on drawn rows", "corrected"),
    M("search/scoring/intervals", "_LEFT_OUT = float(np.exp(-1.0))", "_LEFT_OUT = 0.0",
      "intervals do not know that another candidate might have been selected", "corrected"),
    M("search/scoring/intervals", "if not independent and", "if False and",
      "rows of a group count as independent", "corrected"),
    M("search/scoring/corrected", "[1][rows]\n", "[1][rows] * 0 + rows\n",
      "rows of a group are drawn one by one", "corrected"),
    M("search/scoring/bootstrap_scores", "drawn *= self._weight[part]", "pass",
      "weights do not count in corrected scores", "corrected"),
    # Counted errors -----------------------------------------------------------------------
    M("machine/doubt", "SAFETY = 2.0", "SAFETY = 0.0", "rows that may be errors are not followed",
      "verified"),
    M("machine/doubt",
      "return (margin > -_NEAR_ZERO) & ~certain", "return (margin > 1.0) & ~certain",
      "rows that the rule has wrong are not followed", "verified"),
    M("core/doubt",
      "if held.net >= 0.7 * held.up if held.net >= 0.0 else -held.net >= 0.7 * held.down:",
      "if False:", "jumps of the intercept are not foreseen", "verified"),
    M("core/doubt", "drop[0] = held.outside, _drop(cython.address(held), h)\n\n\ndef _of_in_bound",
      "drop[0] = held.outside, 0.0\n\n\ndef _of_in_bound",
      "bounded vectors never drop more than predicted", "verified"),
    M("core/doubt", "drop[0] = held.outside, _drop(cython.address(held), h)\n\n\ndef _count",
      "drop[0] = held.outside, 0.0\n\n\ndef _count",
      "in-bound vectors never drop more than predicted", "verified"),
    M("core/doubt", "growth += dot(shares + k * size, turned, size)", "pass",
      "values of others are not shifted by what in-bound vectors take over", "together"),
    M("core/doubt", "leaves = max(fabs(m.x[q]) - (m.hi[q] - m.lo[q] - m.C[i]), 0.0)",
      "leaves = fabs(m.x[q])", "equal rows have no room for each other", "together"),
    M("core/doubt", "m.y[q] * m.f[q] - way * fabs(m.x[q]) / row[a] < -NEAR_ZERO", "True",
      "rows that the rule has wrong are never followed", "verified"),
    M("multiclass/verified", "for outcome in (1.0, -1.0)", "for outcome in (1.0, 1.0)",
      "votes never depend on a doubtful value", "verified"),
    M("core/changed", "add_vector(row, weight, lean, size)",
      "add_vector(row, -weight, lean, size)",
      "the inverse of the changed vectors is bordered with the wrong sign", "verified loo"),
    M("core/changed", "-row[a] / own, row, size)", "row[a] / own, row, size)",
      "a changed vector is taken out of the inverse with the wrong sign", "verified loo"),
    M("core/ending", "p.z[k] = excess * entry(K, base, q) - rho[q] - along", "p.z[k] = rho[q]",
      "ends of paths are refined the wrong way", "verified:large_bounds loo",
      "read_off refuses what is astray, and the row is retrained"),
    M("machine/following", "np.where(before._met, np.nan,", "np.where(before._met & False, np.nan,",
      "paths that met a bound are taken for those of another bound", "verified:meets_a_bound"),
    M("machine/following", "            and bool((self._C <= solution.C).all())\n", "",
      "paths are taken for those of a smaller bound", "verified:meets_a_bound"),
    M("multiclass/calibration",
      "/ (1.0 - leverage)", "* 0.0", "sigmoids have seen the rows left out",
      "calibration"),
]
# fmt: on


class Workshop:
    """A copy of package and tests in which mutations are tried, and a build of its own.

    What is compiled is built in the folder "build", and found by links beside the sources.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("src", "tests", "pyproject.toml", "meson.build", "meson.options"):
            _renew(ROOT / name, folder / name)
        self.package = folder / "src" / "spansvm"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",  # its stamps do not tell changes within a second
            "MESONPY_EDITABLE_SKIP": str(Path(sys.prefix) / "build"),
        }
        built = folder / "build"
        if not (built / "build.ninja").exists():
            self._meson("setup", "--wipe" if built.exists() else "--reconfigure", str(built))
        problem = self.build()
        assert not problem, problem
        for library in (built / "src").rglob("*.so"):
            link = folder / library.relative_to(built)
            link.unlink(missing_ok=True)
            link.symlink_to(library)
        code = "import spansvm.core.solver as core; print(core.__file__)"
        answer = subprocess.run(
            [sys.executable, "-c", code], env=self.environment, capture_output=True, text=True,
            check=True,
        ).stdout.strip()  # fmt: skip
        assert answer.startswith(str(self.folder)), f"another copy is imported: {answer}"

    def _meson(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mesonbuild.mesonmain", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True)

    def build(self) -> str:
        """Compile what has changed; what is wrong with it, if it cannot be compiled."""
        done = self._meson("compile", "-C", "build")
        return "".join(done.stdout.splitlines(keepends=True)[-30:]) if done.returncode else ""

    def run(self, tests: str) -> tuple[str, str]:
        """ "passed", "failed" or "timeout", and the first test that failed."""
        for entry in tests.split():
            outcome = self._run(entry)
            if outcome[0] != "passed":
                return outcome
        return "passed", ""

    def _run(self, entry: str) -> tuple[str, str]:
        name, _, words = entry.partition(":")
        command = [
            sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider",
            "--tb=no", *_files(name, self.folder), "-k", words.replace("|", " or "),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                timeout=PATIENCE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "timeout", ""
        if done.returncode == 0:
            return "passed", ""
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
        return "failed", found[1] if found else done.stdout.strip().splitlines()[-1]

    def control(self, entry: str) -> str:
        """What fails without any mutation; nothing, as it should be.  What passed is remembered."""
        state = hashlib.sha256()
        for path in sorted((*self.package.rglob("*.p*"), *(self.folder / "tests").rglob("*.py"))):
            state.update(path.read_bytes())
        line = f"{state.hexdigest()} {entry}\n"
        passed = self.folder / "passed.txt"
        if passed.exists() and line in passed.read_text(encoding="utf-8"):
            return ""
        print(f"without any mutation: {entry}", flush=True)
        outcome, which = self.run(entry)
        if outcome != "passed":
            return which or outcome
        with passed.open("a", encoding="utf-8") as file:
            file.write(line)
        return ""

    def try_out(self, mutation: Mutation) -> tuple[str, str]:
        """ "killed", "survived", "equivalent" or "not applicable", and by which test."""
        path = self.folder / mutation.path
        problem = _not_applicable(mutation, self.folder)
        if problem:
            return "not applicable", problem
        source = path.read_text(encoding="utf-8")
        try:
            path.write_text(source.replace(mutation.old, mutation.new), encoding="utf-8")
            if mutation.is_compiled and (problem := self.build()):
                return "not applicable", f"it cannot be compiled: {problem.splitlines()[-1]}"
            outcome, test = self.run(mutation.tests)
        finally:
            path.write_text(source, encoding="utf-8")
            if mutation.is_compiled:
                self.build()
        if outcome != "passed":
            return "killed", test or outcome
        return ("equivalent" if mutation.equivalent else "survived"), mutation.equivalent


def _renew(source: Path, target: Path) -> None:
    """Make the target a copy of the source; files that are one already keep their times."""
    if source.is_file():
        content = source.read_bytes()
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return
    names = {path.name for path in source.iterdir()} - {"__pycache__", "mutations.py"}
    for path in target.iterdir() if target.exists() else ():
        if path.name not in names:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in names:
        _renew(source / name, target / name)


def _not_applicable(mutation: Mutation, root: Path) -> str:
    """Why a mutation cannot be applied; nothing if it can."""
    path = root / mutation.path
    if not path.exists():
        return f"there is no {mutation.path}"
    count = path.read_text(encoding="utf-8").count(mutation.old)
    if count != 1:
        return f"{_one_line(mutation.old)!r} occurs {count} times in {mutation.path}, not once"
    names = [entry.partition(":")[0] for entry in mutation.tests.split()]
    missing = [name for name in names if not _files(name, root)]
    return f"there is no test_{missing[0]}.py in a folder of tests" if missing else ""


def _files(name: str, root: Path) -> list[str]:
    """The test file of this name, whatever its folder."""
    return [str(path) for path in (root / "tests").glob(f"*/test_{name}.py")]


def _known() -> dict[tuple[str, str, str], dict[str, str]]:
    if not RESULTS.exists():
        return {}
    with RESULTS.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(row["module"], row["old"], row["new"]): row for row in rows}


def _write(rows: dict[tuple[str, str, str], dict[str, str]]) -> None:
    """The table, in the order of the list; what is no longer in the list is dropped."""
    head = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# python tests/mutations.py, last at {head}\n")
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for mutation in MUTATIONS:
            row = rows.get(_key(mutation))
            if row is not None:
                if row["status"] == "survived" and mutation.equivalent:
                    row |= {"status": "equivalent", "noticed_by": mutation.equivalent}
                table.writerow(row)


def _key(mutation: Mutation) -> tuple[str, str, str]:
    return mutation.module, _one_line(mutation.old), _one_line(mutation.new)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="regular expression for module: old -> new")
    parser.add_argument("--survivors", action="store_true", help="those that survived last time")
    parser.add_argument("--missing", action="store_true", help="those without a result so far")
    parser.add_argument("--list", action="store_true", help="show them and run nothing")
    parser.add_argument("--trust", action="store_true", help="do not run the tests unmutated first")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    options = parser.parse_args()
    rows = _known()
    chosen = [m for m in MUTATIONS if re.search(options.only, str(m))]
    if options.survivors:
        chosen = [m for m in chosen if rows.get(_key(m), {}).get("status") == "survived"]
    if options.missing:
        chosen = [m for m in chosen if _key(m) not in rows]
    stale = [(m, problem) for m in chosen if (problem := _not_applicable(m, ROOT))]
    for mutation, problem in stale:
        print(f"not applicable  {mutation}\n                {problem}")
    if options.list:
        for mutation in chosen:
            print(mutation)
        print(f"{len(chosen)} mutations, {len(stale)} of them not applicable")
        return int(bool(stale))

    home = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    base = Path(tempfile.gettempdir()) / f"spansvm-mutations-{home}"
    workshops: Queue[Workshop] = Queue()
    for number in range(options.jobs):
        workshops.put(Workshop(base / str(number)))
    for workshop in [] if options.trust else list(workshops.queue):
        for entry in sorted({entry for m in chosen for entry in m.tests.split()}):
            problem = workshop.control(entry)
            if problem:
                print(f"{entry} fails without any mutation: {problem}")
                return 2

    def work(mutation: Mutation) -> tuple[Mutation, str, str, float]:
        workshop = workshops.get()
        started = time.perf_counter()
        try:
            status, note = workshop.try_out(mutation)
        finally:
            workshops.put(workshop)
        return mutation, status, note, time.perf_counter() - started

    found: dict[str, int] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, (mutation, status, note, seconds) in enumerate(pool.map(work, chosen), 1):
            found[status] = found.get(status, 0) + 1
            print(
                f"{number:3d}/{len(chosen)} {status:<14} {seconds:5.0f} s  {mutation}", flush=True
            )
            rows[_key(mutation)] = dict(
                zip(
                    COLUMNS,
                    (*_key(mutation), mutation.wrong, status, note, f"{seconds:.0f}"),
                    strict=True,
                )
            )
            _write(rows)
    print(", ".join(f"{count} {status}" for status, count in sorted(found.items())))
    return int(any(status in found for status in ("survived", "not applicable")))


if __name__ == "__main__":
    sys.exit(main())
