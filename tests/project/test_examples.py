"""The examples run as they stand, and what they claim is what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = EXAMPLES.parent / "docs" / "examples.md"


def test_every_example_has_a_small_picture():
    scripts = {path.stem for path in EXAMPLES.glob("[0-9]*.py")}
    pictures = {path.stem: path for path in (EXAMPLES / "images").glob("*.png")}
    assert len(scripts) == 7
    assert scripts == set(pictures)
    assert all(path.stat().st_size < 100_000 for path in pictures.values())


def run(name, folder):
    """What an example prints; its picture is drawn into `folder`."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    picture = folder / "picture.png"
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / name), str(picture)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert picture.stat().st_size > 5_000
    return result.stdout


def numbers(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return tuple(map(float, found.groups()))


def assert_told(name, *phrases):
    """What the page of the examples says about one of them."""
    (section,) = [part for part in PAGE.read_text().split("\n## ") if f"[{name}]" in part]
    words = " ".join(section.split())
    for phrase in phrases:
        assert phrase in words


def test_the_selected_class_weight_finds_more_of_the_rare_class(tmp_path):
    text = run("01_imbalanced_classes.py", tmp_path)
    figures = r".*leave-one-out ([\d.]+), new rows ([\d.]+); positives found ([\d.]+)"
    _, equal, equal_found = numbers("equal weights" + figures, text)
    predicted, selected, found = numbers("selected weight" + figures, text)
    assert selected > equal + 0.05
    assert found > equal_found + 0.1
    assert abs(predicted - selected) < 0.05
    assert_told(
        "01_imbalanced_classes.py",
        f"Equal weights find {equal_found:.3f} of the positives",
        f"the selected weight {found:.3f}",
    )


def test_weights_from_scores_beat_equal_weights(tmp_path):
    text = run("02_expert_scores.py", tmp_path)
    (equal,) = numbers(r"equal weights .*true labels ([\d.]+)", text)
    (weighted,) = numbers(r"weights from scores .*true labels ([\d.]+)", text)
    assert weighted < equal / 2
    right, wrong = numbers(r"of a right label ([\d.]+), of a wrong one (\d\.\d+)", text)
    assert wrong < right / 2
    assert_told(
        "02_expert_scores.py",
        f"{equal:.3f} with equal weights",
        f"{weighted:.3f} with weights from scores",
    )


def test_leave_one_out_margins_find_swapped_labels(tmp_path):
    text = run("03_noisy_labels.py", tmp_path)
    figures = r" +(\d+) of 30 .*, (\d+) among the first 90"
    first, all_found = numbers("leave-one-out margins" + figures, text)
    plain_first, plain_found = numbers("margins of the trained model" + figures, text)
    assert first >= 22
    assert first > plain_first
    assert all_found >= plain_found
    assert_told(
        "03_noisy_labels.py",
        f"{first:.0f} of the first 30 rows are swapped ones",
        f"all {all_found:.0f} are among the first 90",
        f"find {plain_first:.0f} and {plain_found:.0f}",
    )


def test_the_search_that_replaces_gridsearchcv_agrees_with_it(tmp_path):
    text = run("04_replacing_gridsearchcv.py", tmp_path)
    (folds,) = numbers(r"GridSearchCV.*on new rows ([\d.]+)", text)
    (span,) = numbers(r"SpanSearch.*on new rows ([\d.]+)", text)
    (correlation,) = numbers(r"correlation of the scores: ([\d.]+)", text)
    assert abs(folds - span) < 0.02
    assert correlation > 0.95
    assert_told(
        "04_replacing_gridsearchcv.py",
        f"a correlation of {correlation:.3f}",
        f"{folds:.3f} (folds) and {span:.3f} (span)",
    )


@pytest.mark.plumbing
def test_a_cluster_finds_what_one_process_finds(tmp_path):
    pytest.importorskip("dask.distributed", reason="dask is not installed")
    text = run("05_dask_cluster.py", tmp_path)
    assert "104 candidates on 2 workers" in text
    assert "identical to the search without workers: True" in text


def test_intervals_contain_as_many_new_rows_as_they_promise(tmp_path):
    text = run("06_prediction_intervals.py", tmp_path)
    left_out, corrected = numbers(r"left-out rows ([\d.]+), corrected ([\d.]+)", text)
    new, folds = numbers(r"new rows ([\d.]+), selected by five folds ([\d.]+)", text)
    assert corrected < left_out
    assert abs(new - left_out) < 0.03
    assert new > folds - 0.01
    for level in (0.5, 0.8, 0.9, 0.95):
        (covered,) = numbers(rf"level {level:g} contain ([\d.]+)", text)
        # Three standard deviations for 150 training rows.
        assert abs(covered - level) < 3.0 * (level * (1.0 - level) / 150) ** 0.5
    (of_90,) = numbers(r"level 0.9 contain ([\d.]+)", text)
    assert_told(
        "06_prediction_intervals.py", f"{left_out:.3f} on left-out rows", f"{new:.3f} on new ones",
        f"those of level 0.9 contain {of_90:.3f} of 5000 new rows",
    )  # fmt: skip


def test_doubted_digits_are_contradicted_by_digits_of_the_predicted_label(tmp_path):
    pytest.importorskip("pandas", reason="pandas is not installed")
    text = run("07_doubted_digits.py", tmp_path)
    (count,) = numbers(r"(\d+) of 1797 labels", text)
    assert_told("07_doubted_digits.py", f"{count:.0f} of 1797")
