"""What the guide says of committees is what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def rows():
    return pd.read_csv(RESULTS / "committee_forms.csv", comment="#")


def words(path):
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


def ratios(rows, way, of, sizes=(150, 400)):
    """By half: for every data set, the error over that of five folds, averaged over sizes."""
    own = rows[rows["size"].isin(sizes)]
    means = own.groupby(["data_set", "size"])[[f"{way}_{of}", f"folds_{of}"]].mean()
    logs = np.log(means[f"{way}_{of}"] / means[f"folds_{of}"])
    by_set = logs.groupby("data_set").mean()
    return [by_set[by_set.index.isin(names)] for names in halves(rows)]


def halves(rows):
    names = sorted(set(rows.data_set))
    return names[::2], names[1::2]


def in_words(logs):
    return f"{np.exp(logs.mean()):.3f} ± {logs.std() / np.sqrt(logs.size):.3f}"


@pytest.mark.parametrize("of", ["error", "log_loss"])
def test_the_guide_has_the_figures(rows, of):
    guide = words("docs/guide/committee.md")
    for way in ("log_odds", "committee", "single"):
        for found in ratios(rows, way, of):
            assert in_words(found) in guide


def test_the_guide_has_the_figures_by_size(rows):
    by_size = [
        f"{size} rows "
        + " and ".join(
            f"{np.exp(ratios(rows, 'log_odds', of, (size,))[1].mean()):.3f}"
            for of in ("error", "log_loss")
        )
        for size in (150, 400)
    ]
    assert ", ".join(by_size) in words("docs/guide/committee.md")


def test_on_the_other_half_committees_are_worse_nowhere(rows):
    own = rows[rows.data_set.isin(halves(rows)[1])]
    smaller = []
    for of in ("error", "log_loss"):
        apart = own.assign(apart=own[f"log_odds_{of}"] - own[f"folds_{of}"])
        cells = apart.groupby(["data_set", "size"]).apart.agg(["mean", "sem"])
        assert not (cells["mean"] > 2 * cells["sem"]).any()
        smaller.append(int((cells["mean"] < -2 * cells["sem"]).sum()))
    text = f"by more than two standard errors in {smaller[0]}, the log loss in {smaller[1]}"
    assert f"Of its {len(cells)} cells" in words("docs/guide/committee.md")
    assert text in words("docs/guide/committee.md")
