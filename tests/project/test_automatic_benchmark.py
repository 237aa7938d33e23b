"""What the guide says of SVCCV is what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.automatic import CONFIRMATION, DESIGN
from benchmarks.measure import geometric_mean
from reproduction.csv_files import read_rows

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rows():
    found, notes = read_rows(ROOT / "benchmarks" / "results" / "automatic.csv")
    assert "dirty" not in notes[1]
    return found


def of(rows, names, column):
    """A column as a table: one row per data set."""
    return np.array([[float(r[column]) for r in rows if r["data_set"] == name] for name in names])


def words(path):
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


def test_the_halves_have_no_set_in_common():
    assert not set(DESIGN) & set(CONFIRMATION)


def test_the_plan_keeps_its_promises(rows):
    every = (*DESIGN, *CONFIRMATION)
    assert of(rows, every, "auto_trainings").max() <= 80
    assert of(rows, every, "auto_grams").max() <= 8


def test_the_guide_has_the_figures_of_the_sets_that_were_not_designed_on(rows):
    guide = words("docs/guide/no-grid.md")
    score = of(rows, CONFIRMATION, "auto_score") / of(rows, CONFIRMATION, "fine_score")
    assert f"over that of 30 x 30 | {score.mean():.3f} | 1 |" in guide
    near = int((score.mean(axis=1) >= 0.99).sum())
    assert f"on {near} of the {len(CONFIRMATION)} sets" in guide
    assert f"in {int((score >= 0.99).sum())} of the {score.size} trainings" in guide
    assert f"ratio of all, {score.min():.3f}, is there" in guide
    seconds = [
        geometric_mean(of(rows, CONFIRMATION, f"{way}_seconds").ravel().tolist())
        for way in ("auto", "fine", "folds")
    ]
    assert "| seconds, geometric mean | " + " | ".join(f"{s:.2f}" for s in seconds) in guide
    for other in ("fine", "folds"):
        mine = of(rows, CONFIRMATION, "auto_error").mean(axis=1)
        ratios = mine / of(rows, CONFIRMATION, f"{other}_error").mean(axis=1)
        error = np.log(ratios).std(ddof=1) / np.sqrt(ratios.size)
        assert f"{geometric_mean(ratios.tolist()):.3f} +- {error:.3f}" in guide


def test_the_guide_names_the_sets_where_the_test_error_is_larger(rows):
    guide = words("docs/guide/no-grid.md")
    for names, other in ((CONFIRMATION, "fine"), (DESIGN, "fine"), (CONFIRMATION, "folds")):
        mine, theirs = of(rows, names, "auto_error"), of(rows, names, f"{other}_error")
        apart = mine - theirs
        error = apart.std(axis=1, ddof=1) / np.sqrt(apart.shape[1])
        worse = np.flatnonzero(apart.mean(axis=1) > 2.0 * error)
        assert worse.size == 1
        for place in worse:
            pair = f"{mine[place].mean():.4f} against {theirs[place].mean():.4f}"
            assert f"({names[place]}, {pair})" in guide


def test_the_guide_has_the_figures_of_the_sets_that_were_designed_on(rows):
    score = of(rows, DESIGN, "auto_score") / of(rows, DESIGN, "fine_score")
    near, some = int((score.mean(axis=1) >= 0.99).sum()), int((score >= 0.99).sum())
    text = f"it is {near} of {len(DESIGN)} sets, and {some} of {score.size} trainings"
    assert text in words("docs/guide/no-grid.md")
