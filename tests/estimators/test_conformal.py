"""Sets of labels with a promised coverage: ``predict_set`` of a SpanSVC."""

from __future__ import annotations

import pickle
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from spansvm import SpanSVC
from spansvm.estimators.conformal import conformal_rank, label_sets

LEVELS = np.array([0.8, 0.9, 0.95])


def drawn(n, n_classes, seed=0, **options):
    """Rows of overlapping classes, one cloud each."""
    return make_classification(
        n, n_features=6, n_informative=4, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=1, random_state=seed, **{"class_sep": 0.8, **options},
    )  # fmt: skip


def contains(sets, y):
    """Whether the set of each row contains its label, level by level."""
    return np.take_along_axis(sets, y[:, None, None], axis=1)[:, 0]


def covered(X, y, sizes, levels=LEVELS, model=None, per_class=False):
    """Which fresh rows have their label in their set, and these labels; many trainings."""
    found, classes = [], []
    for split, size in enumerate(sizes):
        order = np.random.default_rng(split).permutation(y.size)
        train, new = order[:size], order[size : size + 1000]
        fitted = (model or SpanSVC()).fit(X[train], y[train])
        assert fitted.classes_.tolist() == np.unique(y).tolist()
        found.append(contains(fitted.predict_set(X[new], levels, per_class=per_class), y[new]))
        classes.append(y[new])
    return np.concatenate(found), np.concatenate(classes)


# The rule --------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 60), st.sampled_from([0.05, 0.5, 0.55, 0.8, 0.9, 0.95, 0.99]), st.data())
def test_a_label_is_in_the_set_up_to_the_quantile_of_the_left_out_scores(n, level, data):
    # Few different values: ties are frequent.
    values = st.integers(0, 8).map(lambda eighth: eighth / 8)
    own = np.array(data.draw(st.lists(values, min_size=n, max_size=n)))
    new = np.array(data.draw(st.lists(values, min_size=3, max_size=3)))[None]
    sets = label_sets(own, np.zeros(n, dtype=int), new, np.array([level]), False)[0, :, 0]
    share = round(level * (n + 1), 9) / n
    limit = np.quantile(1 - own, share, method="inverted_cdf") if share <= 1 else np.inf
    expected = 1 - new[0] <= limit
    if expected.any():
        assert sets.tolist() == expected.tolist()
    else:
        assert sets.sum() == 1
        assert new[0, sets.argmax()] == new.max()


def test_the_rank_is_that_of_the_level_as_it_is_written():
    assert conformal_rank(99, np.array([0.55, 0.57, 0.9, 0.95])).tolist() == [55, 57, 90, 95]
    assert conformal_rank(9, np.array([0.9, 0.901])).tolist() == [9, 10]
    assert conformal_rank(0, np.array([0.1])).tolist() == [1]


def test_per_class_each_label_is_compared_with_the_rows_of_its_class():
    rng = np.random.default_rng(0)
    own, indices, new = rng.random(80), np.repeat([0, 1], [60, 20]), rng.random((500, 2))
    sets = label_sets(own, indices, new, np.array([0.7]), True)[:, :, 0]
    limits = [np.sort(1 - own[indices == label])[rank - 1] for label, rank in ((0, 43), (1, 15))]
    expected = 1 - new <= limits
    would_be_empty = ~expected.any(axis=1)
    assert 0 < would_be_empty.sum() < 500
    assert (sets[~would_be_empty] == expected[~would_be_empty]).all()
    assert (sets[would_be_empty].sum(axis=1) == 1).all()


@pytest.mark.parametrize("per_class", [False, True])
def test_sets_of_higher_levels_contain_those_of_lower_ones_and_none_is_empty(per_class):
    X, y = drawn(1200, 4, weights=[0.6, 0.25, 0.1])
    model = SpanSVC(C=5).fit(X[:200], y[:200])
    levels = np.linspace(0.02, 0.98, 49)
    sets = model.predict_set(X[200:], levels, per_class=per_class)
    assert sets.shape == (1000, 4, 49)
    assert sets.any(axis=1).all()
    assert (sets[:, :, :-1] <= sets[:, :, 1:]).all()
    assert sets[:, :, 0].sum(axis=1).max() < sets[:, :, -1].sum(axis=1).max()


def test_the_set_holds_the_most_probable_label():
    X, y = drawn(1200, 4)
    model = SpanSVC(C=5).fit(X[:200], y[:200])
    most = model.predict_calibrated_proba(X).argmax(axis=1)
    sets = model.predict_set(X, [0.1, 0.5, 0.9])
    assert contains(sets, most).all()
    assert (sets[:, :, 0].sum(axis=1) == 1).mean() > 0.99


# The promise -----------------------------------------------------------------------------


def chance(n, trainings, levels=LEVELS):
    """Three standard deviations of the mean coverage.

    That of one training is a Beta variable if scores are exchangeable (Vovk 2012).
    """
    return 3 * np.sqrt(levels * (1 - levels) / ((n + 2) * trainings))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_new_rows_have_their_label_in_their_set_as_often_as_promised(n_classes):
    X, y = drawn(12_000, n_classes, flip_y=0.45)  # hardly any set would be empty
    found, _ = covered(X, y, [150] * 20)
    assert (found.mean(axis=0) >= LEVELS - chance(150, 20)).all()
    assert (found.mean(axis=0) <= LEVELS + chance(150, 20) + 1 / 151).all()


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits])
def test_the_promise_holds_on_real_rows(load):
    X, y = load(return_X_y=True)
    found, _ = covered(minmax_scale(X), y, [y.size // 2] * 6)
    assert (found.mean(axis=0) >= LEVELS - chance(y.size // 2, 6)).all()


def test_the_probabilities_of_rows_that_were_seen_would_break_it():
    """The same rule on resubstituted rows: what leaving out is for."""
    X, y = drawn(3000, 2, flip_y=0.3)
    X, X_new, y, y_new = train_test_split(X, y, train_size=200, random_state=0)
    model = SpanSVC(C=100, gamma=1).fit(X, y)
    seen = model.predict_calibrated_proba(X)[np.arange(y.size), y]
    levels = LEVELS
    naive = label_sets(seen, y, model.predict_calibrated_proba(X_new), levels, False)
    assert (contains(naive, y_new).mean(axis=0) < levels - 0.04).any()
    assert (contains(model.predict_set(X_new, levels), y_new).mean(axis=0) >= levels - 0.03).all()


def test_per_class_every_class_has_the_promised_coverage():
    X, y = drawn(20_000, 3, weights=[0.8, 0.12], flip_y=0.1)
    overall, classes = covered(X, y, [300] * 10)
    each, _ = covered(X, y, [300] * 10, per_class=True)
    for label in range(3):
        size = 300 * np.mean(classes == label)
        assert (each[classes == label].mean(axis=0) >= LEVELS - chance(size, 10)).all()
    assert overall[classes == 2].mean(axis=0)[0] < 0.5


def test_unequal_weights_keep_the_promise():
    X, y = drawn(10_000, 2, weights=[0.8], flip_y=0.4)
    found, _ = covered(X, y, [200] * 15, model=SpanSVC(C=2, class_weight={1: 8}))
    assert (found.mean(axis=0) >= LEVELS - chance(200, 15)).all()
    assert (found.mean(axis=0) <= LEVELS + chance(200, 15) + 1 / 201)[1:].all()


def test_sets_of_noise_hold_nearly_all_labels():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 5)), rng.integers(5, size=4000)
    found, _ = covered(X, y, [150] * 10)
    assert (found.mean(axis=0) >= LEVELS - chance(150, 10)).all()
    sizes = SpanSVC().fit(X[:150], y[:150]).predict_set(X[150:], LEVELS).sum(axis=1).mean(axis=0)
    assert (sizes >= 5 * (LEVELS - chance(150, 1))).all()


def test_twenty_six_classes():
    X, y = make_classification(
        4000, n_features=12, n_informative=10, n_redundant=0, n_classes=26,
        n_clusters_per_class=1, random_state=0,
    )  # fmt: skip
    letters = np.array(list(ascii_lowercase))[y]
    model = SpanSVC(C=10).fit(X[:800], letters[:800])
    sets = model.predict_set(X[800:], LEVELS)
    assert sets.shape == (3200, 26, 3)
    assert (contains(sets, y[800:]).mean(axis=0) >= LEVELS - chance(800, 1)).all()


# Dull cases ------------------------------------------------------------------------------


def test_a_confidence_near_1_and_few_rows_give_all_labels():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    model = SpanSVC(C=10).fit(X, y)
    assert model.predict_set(X, 0.999).all()
    assert not model.predict_set(X, 0.99).all()  # 178 rows are enough
    few = SpanSVC(C=10).fit(X[::23], y[::23])
    assert X[::23].shape[0] == 8
    assert few.predict_set(X, 0.9).all()
    assert not few.predict_set(X, 0.88).all()


def test_per_class_a_class_of_few_rows_is_in_all_sets():
    X, y = drawn(600, 3, class_sep=3.0, flip_y=0.0)
    rows = np.concatenate((np.flatnonzero(y < 2), np.flatnonzero(y == 2)[:8]))
    sets = SpanSVC().fit(X[rows], y[rows]).predict_set(X, 0.9, per_class=True)
    assert sets[:, 2].all()
    assert not sets[:, 0].all()


def test_a_row_of_weight_0_is_a_row_that_is_not_there():
    X, y = drawn(900, 3)
    weight = np.ones(300)
    weight[::3] = 0.0
    y_train = y[:300].copy()
    y_train[::3] = (y_train[::3] + 1) % 3
    with_zeros = SpanSVC(gamma=0.1).fit(X[:300], y_train, weight)
    without = SpanSVC(gamma=0.1).fit(X[:300][weight > 0], y[:300][weight > 0])
    for per_class in (False, True):
        ours = with_zeros.predict_set(X[300:], LEVELS, per_class=per_class)
        assert (ours == without.predict_set(X[300:], LEVELS, per_class=per_class)).mean() > 0.9995


def test_leaving_out_groups_makes_up_for_rows_that_occur_twice():
    """A row whose copy stays is not left out; sets of too little coverage would follow."""
    X, y = drawn(8000, 2, flip_y=0.25)
    alone, together = [], []
    for split in range(8):
        order = np.random.default_rng(split).permutation(y.size)
        train, new = np.repeat(order[:100], 2), order[100:1100]
        for groups, found in ((None, alone), (np.repeat(np.arange(100), 2), together)):
            model = SpanSVC(C=100, gamma=1.0).fit(X[train], y[train], groups=groups)
            found.append(contains(model.predict_set(X[new], [0.9]), y[new]).mean())
    assert np.mean(alone) < 0.87
    assert abs(np.mean(together) - 0.9) < 0.03


def test_several_levels_are_the_last_axis():
    X, y = drawn(400, 3)
    model = SpanSVC().fit(X[:200], y[:200])
    sets = model.predict_set(X, (0.9, 0.6))
    assert sets.dtype == np.bool_
    assert sets.shape == (400, 3, 2)
    for place, level in enumerate((0.9, np.float32(0.6))):
        one = model.predict_set(X, level)
        assert one.shape == (400, 3)
        assert (one == sets[:, :, place]).all()
    assert (model.predict_set(X) == sets[:, :, 0]).all()
    assert model.predict_set(X, [0.9]).shape == (400, 3, 1)


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, np.nan, [0.9, 1.0], np.inf])
def test_a_level_is_between_0_and_1(level):
    X, y = drawn(50, 2)
    with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
        SpanSVC().fit(X, y).predict_set(X, level)


@pytest.mark.parametrize("level", ["0.9", True, None, [], [[0.9]], ["a"]])
def test_a_level_is_a_number(level):
    X, y = drawn(50, 2)
    with pytest.raises(ValueError, match="confidence_level must be a number"):
        SpanSVC().fit(X, y).predict_set(X, level)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        SpanSVC().predict_set([[0.0]])


def test_a_saved_model_has_its_sets():
    X, y = drawn(400, 3)
    model = SpanSVC().fit(X[:200], y[:200])
    sets = model.predict_set(X, LEVELS)
    for other in (pickle.loads(pickle.dumps(model)), model.without_training_rows()):
        assert (other.predict_set(X, LEVELS) == sets).all()
