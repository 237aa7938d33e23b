"""What the page says is what the rows say, for rows that are made up."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction import existence, growth
from reproduction.answers import answers
from reproduction.differences import differences
from reproduction.page import write_page
from reproduction.page_tables import PageTable
from spansvm.errors import UserError


def selected(data_set, method, worst, split=0, variant="", best=None, partition="", at_cell=""):
    best = worst if best is None else best
    return {"data_set": data_set, "split": split, "variant": variant, "method": method,
            "partition": partition, "estimate": 0.1, "tied": 1, "worst": worst, "best": best,
            "chosen": best, "at_cell": at_cell}  # fmt: skip


def pairs(data_set, rule, folds):
    return [
        selected(data_set, method, value, split)
        for method, values in (("span_rule", rule), ("kfold", folds))
        for split, value in enumerate(values)
    ]


def answer(rows):
    return answers({"class_weights": rows})[0]


def test_the_rule_is_compared_with_folds_split_by_split():
    # Far apart between splits, always 0.01 better within one.
    base = np.array([0.1, 0.3, 0.2, 0.4])
    jitter = np.array([0.001, 0.0, -0.001, 0.0])
    text = answer(pairs("banana", base - 0.01, base + jitter))
    assert "not larger on 1 of 1 data sets" in text
    assert "on 1 in favour of the rule and on 0 in favour of folds" in text
    text = answer(pairs("banana", base + 0.01, base + jitter))
    assert "not larger on 0 of 1 data sets" in text
    assert "on 0 in favour of the rule and on 1 in favour of folds" in text


def test_a_single_split_shows_no_standard_error():
    text = answer(pairs("mnist_2_9", [0.0049], [0.0059]))
    assert "not larger on 1 of 1 data sets" in text
    assert "standard errors" not in text


def test_partitions_of_a_fixed_split_are_no_splits():
    rows = [selected("splice", "span_rule", 0.108)]
    rows += [selected("splice", "kfold", 0.105, partition=k) for k in range(10)]
    assert "standard errors" not in answer(rows)


def growing(n_rows, search, libsvm):
    return {"d": 20, "l": n_rows, "search": search, "libsvm": libsvm, "our_folds": "", "spans": 0.1,
            "training": 0.1, "sampled": 4, "models": 1089, "n_in_bound": 3, "n_support": 9,
            "versions": "v"}  # fmt: skip


def test_the_crossover_is_the_last_size_at_which_folds_are_faster():
    rows = [growing(2**k, 1.0, 2.0 ** (k - 9)) for k in range(7, 15)]
    (text,) = answers({"growth": rows})
    assert "the last size at which folds are faster is 512 rows" in text
    assert "as l^-0.0 against l^1.0 for d = 20" in text or "l^0.0 against l^1.0" in text


def test_without_a_crossover_it_says_so_and_few_sizes_give_no_exponent():
    (text,) = answers({"growth": [growing(128, 1.0, 3.0)]})
    assert "there is no longer a crossover" in text
    assert "grows as" not in text
    assert growth.tables([growing(128, 1.0, 3.0)])[0].rows[0][4] == ""


def test_variants_alone_are_no_finding():
    row = {"data_set": "parkinson_speech", "split": 0, "variant": "scaled by all rows"}
    assert answers({"existence": [row]}) == []
    assert existence.tables([row])[0].rows == []


def cells_table(rows):
    parts = differences({"class_weights": rows})
    return next(
        part for part in parts if isinstance(part, PageTable) and part.name == "fixed_splits"
    )


def test_a_cell_that_libsvm_gives_is_credited_to_it():
    rows = [selected("splice", "span_rule", 0.12), selected("splice", "xi_alpha", 0.1591),
            selected("splice", "min_error", 0.1016),
            selected("splice", "span_rule", 0.1080, variant="LibSVM")]  # fmt: skip
    lines = {line[0]: line for line in cells_table(rows).rows}
    assert lines["splice, span-rule"][-1] == "LibSVM"
    assert lines["splice, ξα"][-1] == "ours"


def test_a_cell_within_the_tied_models_is_not_called_equal():
    rows = [selected("splice", "span_rule", 0.12, best=0.10), selected("splice", "xi_alpha", 0.3),
            selected("splice", "min_error", 0.1016)]  # fmt: skip
    lines = {line[0]: line for line in cells_table(rows).rows}
    assert lines["splice, span-rule"][-1] == "within the tied models: ours"
    assert lines["splice, span-rule"][2] == "0.1000 to 0.1200"
    assert lines["splice, ξα"][-1] == "none"


def test_without_fixed_splits_nothing_is_said_of_them():
    rows = [*pairs("banana", [0.2, 0.3], [0.2, 0.3]), selected("banana", "min_error", 0.2)]
    assert differences({"class_weights": rows}) == []


def test_the_reading_of_the_span_bound_is_told_by_the_cells():
    rows = [
        selected(data_set, method, value)
        for data_set, values in (("splice", (0.48, 0.1237)), ("mnist_2_9", (0.0103, 0.0078)))
        for method, value in zip(("span_bound", "span_bound_radius"), values, strict=True)
    ]
    rows += [selected(name, m, 0.1) for name in ("splice", "mnist_2_9")
             for m in ("span_rule", "xi_alpha", "min_error")]  # fmt: skip
    text = next(p for p in differences({"class_weights": rows}) if "which D?" in str(p))
    assert "Only with the diameter: MNIST 2 vs 9. Only with the radius: splice." in text
    assert "neither reading fits all cells" in text


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(UserError, match="no results"):
        write_page(tmp_path)


def test_a_cell_out_of_reach_is_told_from_one_of_tolerance():
    rows = [selected("splice", "span_rule", 0.12, at_cell=0.101),
            selected("splice", "xi_alpha", 0.3, at_cell=0.25),
            selected("splice", "min_error", 0.1016)]  # fmt: skip
    text = next(p for p in differences({"class_weights": rows}) if "Cells that none" in str(p))
    assert "every model with a test error of 0.1080 has an estimate of at least 101 of" in text
    assert "an estimate of at least 250 of 1000 rows, and the smallest estimate is 100" in text
