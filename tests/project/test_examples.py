"""The examples run as they stand, and what they claim is what they print."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = EXAMPLES.parent / "docs" / "examples.md"


def test_every_example_has_a_small_picture():
    scripts = {path.stem for path in EXAMPLES.glob("[0-9]*.py")}
    pictures = {path.stem: path for path in (EXAMPLES / "images").iterdir()}
    assert len(scripts) == 12
    assert scripts == set(pictures)
    assert all(path.stat().st_size < 60_000 for path in pictures.values())


def test_every_example_is_in_the_gallery():
    text = PAGE.read_text(encoding="utf-8")
    gallery, _, sections = text.partition("\n## ")
    anchors = {
        re.sub("[^a-z]+", "-", line.lower()) for line in re.findall(r"^(.+)$", sections, re.M)
    }
    for script in EXAMPLES.glob("[0-9]*.py"):
        (anchor,) = re.findall(rf"{script.stem}\.svg\) \*\*.+\*\*\]\(#([a-z-]+)\)", gallery)
        assert anchor in {one.removeprefix("-") for one in anchors}
        assert f"[{script.name}](../examples/{script.name})" in sections
        assert f"](../examples/images/{script.stem}.svg)" in sections


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs an example as a program, and gives what it prints; it draws what it promises."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")

    def running(name):
        picture = tmp_path / "picture.png"
        monkeypatch.setattr(sys, "argv", [name, str(picture)])
        with sklearn.config_context(), matplotlib.rc_context():
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        matplotlib.pyplot.close("all")
        assert picture.stat().st_size > 5_000
        return capsys.readouterr().out

    return running


def run_in_a_process(name, folder):
    """What an example that starts processes prints."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / name), str(folder / "picture.png")],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MPLBACKEND": "Agg"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
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


def test_the_selected_class_weight_finds_more_of_the_rare_class(run):
    text = run("01_imbalanced_classes.py")
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


def test_weights_from_scores_beat_equal_weights(run):
    text = run("02_expert_scores.py")
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


def test_leave_one_out_margins_find_swapped_labels(run):
    text = run("03_noisy_labels.py")
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


def test_the_search_that_replaces_gridsearchcv_agrees_with_it(run):
    text = run("04_replacing_gridsearchcv.py")
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
    text = run_in_a_process("05_dask_cluster.py", tmp_path)
    assert "104 candidates on 2 workers" in text
    assert "identical to the search without workers: True" in text


def test_intervals_contain_as_many_new_rows_as_they_promise(run):
    text = run("06_prediction_intervals.py")
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


def test_doubted_digits_are_contradicted_by_digits_of_the_predicted_label(run):
    pytest.importorskip("pandas", reason="pandas is not installed")
    text = run("07_doubted_digits.py")
    (count,) = numbers(r"(\d+) of 1797 labels", text)
    assert_told("07_doubted_digits.py", f"{count:.0f} of 1797")


def test_persons_left_out_tell_the_error_for_new_persons(run):
    text = run("08_groups.py")
    rows, rows_new = numbers(r"recordings: .*error ([\d.]+), for new persons ([\d.]+)", text)
    people, people_new = numbers(r"persons   : .*error ([\d.]+), for new persons ([\d.]+)", text)
    # Two standard errors of 40 persons.
    assert abs(people - people_new) < 2.0 * (people_new * (1.0 - people_new) / 40) ** 0.5
    assert rows < people / 5
    assert people_new < rows_new
    assert_told(
        "08_groups.py", f"an error of {rows:.3f}", f"on new persons it is {rows_new:.3f}",
        f"promises {people:.3f}", f"misclassified in {people_new:.3f}",
    )  # fmt: skip


def test_probabilities_of_one_training_are_as_good_as_those_of_six(run):
    text = run("09_probabilities.py")
    ours, _ = numbers(r"SpanSVC.*log loss ([\d.]+), Brier score ([\d.]+)", text)
    theirs, _ = numbers(r"CalibratedClassifierCV.*log loss ([\d.]+), Brier score ([\d.]+)", text)
    assert ours < theirs + 0.005
    assert_told("09_probabilities.py", f"loss is {ours:.4f} and {theirs:.4f}")


def test_left_out_digits_are_misclassified_as_often_as_new_ones(run):
    text = run("10_many_classes.py")
    left_out, corrected, new = numbers(
        r"left-out images ([\d.]+), corrected ([\d.]+), of new images ([\d.]+)", text
    )
    assert abs(left_out - new) < 0.01
    assert_told(
        "10_many_classes.py", f"the error is {left_out:.4f}", f"the search {corrected:.4f}",
        f"{new:.4f} on 797 other images",
    )  # fmt: skip


def test_left_out_messages_are_misclassified_as_often_as_new_ones(run):
    text = run("11_texts.py")
    left_out, corrected, new = numbers(
        r"left-out messages ([\d.]+), corrected ([\d.]+), of 2000 new ones ([\d.]+)", text
    )
    # Two standard errors of 600 messages.
    assert abs(left_out - new) < 2.0 * (new * (1.0 - new) / 600) ** 0.5
    assert_told(
        "11_texts.py", f"messages is {left_out:.3f}", f"corrected {corrected:.3f}",
        f"{new:.3f} on 2000 new ones",
    )  # fmt: skip


def test_left_out_errors_of_many_rows_fall_as_those_of_new_rows_do(run):
    text = run("12_large_data.py")
    found = re.findall(r"left-out rows ([\d.]+), of new rows ([\d.]+)", text)
    left_out, new = zip(*(map(float, pair) for pair in found), strict=True)
    assert sorted(left_out, reverse=True) == list(left_out)
    for size, ours, theirs in zip((1000, 4000, 16_000), left_out, new, strict=True):
        assert abs(ours - theirs) < 3.0 * (theirs * (1.0 - theirs) / size) ** 0.5
    assert_told(
        "12_large_data.py",
        "errors of {:.4f}, {:.4f} and {:.4f}".format(*left_out),
        "against {:.4f}, {:.4f} and {:.4f}".format(*new),
    )
