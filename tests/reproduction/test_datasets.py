"""The data sets: formats on small files, facts of the published ones, and the generators."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.io import savemat

from reproduction import datasets
from reproduction.datasets import catalogue, files, reading
from reproduction.datasets.files import PublishedFile
from reproduction.datasets.loading import all_rows

# As the paper's table prints them, except the test rows of breast cancer (783, of 683 rows).
PAPER_SIZES = {
    "breast_cancer": (100, 583, 10),
    "mushrooms": (200, 7924, 112),
    "waveform": (400, 4600, 21),
    "banana": (400, 4900, 2),
    "skin_nonskin": (500, 244557, 3),
    "splice": (1000, 2175, 60),
    "image": (1300, 1010, 18),
    "adult": (1605, 30956, 123),
    "mnist_2_9": (11907, 2041, 780),
    "mnist_1_7": (13007, 2163, 780),
    "mnist_3_6": (12049, 1968, 780),
    "mnist_0_8": (11774, 1954, 780),
    "parkinson_speech": (520, 520, 26),
    "bank_marketing": (300, 40888, 11),
}

# Counted in the published files: rows of class +1 in the training and the test part.
FIXED_POSITIVES = {
    "splice": (517, 1131),
    "adult": (395, 7446),
    "mnist_2_9": (5958, 1032),
    "mnist_1_7": (6742, 1135),
    "mnist_3_6": (6131, 1010),
    "mnist_0_8": (5923, 980),
    "parkinson_speech": (260, 260),
}


# Names and descriptions


def test_the_14_sets_stand_in_the_order_and_with_the_sizes_of_the_paper():
    described = {name: datasets.describe(name) for name in datasets.names()}
    assert list(described) == list(PAPER_SIZES)
    sizes = {name: (d.n_train, d.n_test, d.n_features) for name, d in described.items()}
    assert sizes == PAPER_SIZES
    assert "783" in described["breast_cancer"].note


@pytest.mark.parametrize("name", PAPER_SIZES)
def test_every_description_is_complete_and_every_address_is_https(name):
    description = datasets.describe(name)
    assert all((description.task, description.citation, description.licence, description.note))
    assert description.homepage.startswith("https://")
    for file in description.files:
        offered = file.stand_in or file
        assert (offered.url or "").startswith("https://") or "https://" in offered.by_hand
        # What is downloaded is checked before it is kept.
        assert offered.sha256


def test_an_unknown_name_is_answered_with_the_closest_one():
    with pytest.raises(ValueError, match=r"no data set 'mushroms'; did you mean 'mushrooms'\?"):
        datasets.describe("mushroms")
    with pytest.raises(ValueError, match="use one of breast_cancer, mushrooms"):
        datasets.load("xyz")


# Formats


def test_libsvm_rows_are_padded_to_the_number_of_features():
    X, y = reading.read_libsvm(b"+1 1:2 3:0.5 \n-1 2:1\n", 5)
    np.testing.assert_array_equal(X, [[2, 0, 0.5, 0, 0], [0, 1, 0, 0, 0]])
    np.testing.assert_array_equal(y, [1, -1])


def test_tables_are_separated_by_commas_or_blanks_and_end_their_lines_in_any_way():
    expected = [[1, 2.5], [3, np.nan]]
    for text in (b"1,2.5\n3,?\n", b"1\t2.5\r\n3\t?", b"  1 2.5\n\n 3 ?  \n"):
        np.testing.assert_array_equal(reading.read_table(text, 2, missing=b"?"), expected)


def test_a_table_that_is_cut_within_a_line_is_refused():
    with pytest.raises(ValueError, match="2 lines of 3 numbers"):
        reading.read_table(b"1,2,3\n4,5\n", 3)


def test_columns_of_a_csv_file_have_the_names_of_its_first_line():
    columns = reading.read_columns(b'"age";"y"\n56;"no"\n57;"yes"\n')
    assert {name: list(column) for name, column in columns.items()} == {
        "age": ["56", "57"],
        "y": ["no", "yes"],
    }
    with pytest.raises(ValueError, match="2 fields"):
        reading.read_columns(b"a;b\n1;2\n3\n")


def test_idx_files_have_the_shape_that_they_announce():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    content = b"\x00\x00\x08\x03" + struct.pack(">3I", 2, 3, 4) + pixels.tobytes()
    np.testing.assert_array_equal(reading.read_idx(content), pixels)
    for broken in (content[:-1], content[:9], content[:4], b"<html>"):
        with pytest.raises(ValueError, match=r"idx file|announces"):
            reading.read_idx(broken)


def ida_archive(splits: list[tuple[np.ndarray, ...]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for number, arrays in enumerate(splits, 1):
            kinds = ("train_data", "train_labels", "test_data", "test_labels")
            for kind, array in zip(kinds, arrays, strict=True):
                text = io.BytesIO()
                np.savetxt(text, array)
                entry = tarfile.TarInfo(f"toy/toy_{kind}_{number}.asc")
                entry.size = len(text.getvalue())
                archive.addfile(entry, io.BytesIO(text.getvalue()))
    return buffer.getvalue()


def test_the_two_forms_of_the_ida_benchmark_give_the_same_splits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 3)), np.where(rng.random(10) < 0.5, 1.0, -1.0)
    orders = [rng.permutation(10) for _ in range(3)]
    splits = [(X[o[:4]], y[o[:4]], X[o[4:]], y[o[4:]]) for o in orders]
    matlab = io.BytesIO()
    numbers = np.array(orders) + 1
    kept = {"x": X, "t": y[:, None], "train": numbers[:, :4], "test": numbers[:, 4:]}
    savemat(matlab, {"toy": kept, "other": 1})
    for content in (ida_archive(splits), matlab.getvalue()):
        found = reading.read_ida(content, "toy", 3)
        assert len(found) == 3
        for arrays, expected in zip(found, splits, strict=True):
            for array, published in zip(arrays, expected, strict=True):
                np.testing.assert_array_equal(array, published)
        with pytest.raises(ValueError, match=r"toy_train_data_4|4 splits"):
            reading.read_ida(content, "toy", 4)
        with pytest.raises(ValueError, match="must contain"):
            reading.read_ida(content, "missing", 1)
        with pytest.raises(ValueError, match="not a complete"):
            reading.read_ida(content[: len(content) // 2], "toy", 3)


# Finding files, on a small set of our own


@pytest.fixture
def small_set(tmp_path, monkeypatch):
    """Registers mushrooms as 6 rows with 2 features, and gives the content of its file."""
    content = b"2 1:1 \r\n1 2:1\r\n2 1:1 2:1\r\n1 1:3\r\n1 2:3\r\n1 2:4\r\n"
    file = PublishedFile(
        "mushrooms/mushrooms", files._checksum(content, text=True), url="https://x/y"
    )
    small = replace(
        datasets.describe("mushrooms"), n_train=2, n_test=4, n_features=2, n_positive=2,
        files=(file,),
    )  # fmt: skip
    monkeypatch.setitem(catalogue.DESCRIPTIONS, "mushrooms", small)

    def read(contents):
        X, y = reading.read_libsvm(contents[0], 2)
        return reading.Rows(X, np.where(y == 2, 1.0, -1.0))

    monkeypatch.setitem(reading.POOLS, "mushrooms", read)
    monkeypatch.setenv("SPANSVM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SPANSVM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data/mushrooms").mkdir(parents=True)
    return content


def test_a_set_that_is_missing_says_how_to_get_it(small_set):
    assert datasets.locate("mushrooms") == {"mushrooms/mushrooms": None}
    with pytest.raises(datasets.DataSetError, match=r"datasets --fetch mushrooms.*SPANSVM_DATA"):
        datasets.load("mushrooms")


def test_a_file_is_found_as_it_is_and_compressed_whatever_its_line_ends(small_set, tmp_path):
    plain = tmp_path / "data/mushrooms/mushrooms"
    with gzip.open(f"{plain}.gz", "wb") as file:
        file.write(small_set)
    assert datasets.locate("mushrooms")["mushrooms/mushrooms"].suffix == ".gz"
    compressed = datasets.load("mushrooms")
    plain.write_bytes(small_set.replace(b"\r\n", b"\n"))
    assert datasets.locate("mushrooms")["mushrooms/mushrooms"] == plain
    np.testing.assert_array_equal(datasets.load("mushrooms").X_test, compressed.X_test)


def test_the_data_folder_goes_before_the_cache(small_set, tmp_path):
    cached = tmp_path / "cache/mushrooms/mushrooms"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(small_set)
    assert "cache" in str(datasets.locate("mushrooms")["mushrooms/mushrooms"])
    (tmp_path / "data/mushrooms/mushrooms").write_bytes(small_set)
    assert "data" in datasets.locate("mushrooms")["mushrooms/mushrooms"].parts


@pytest.mark.parametrize("damage", [lambda c: c[:-8], lambda c: c.replace(b"1:3", b"1:4")])
def test_a_cut_or_altered_file_is_never_used(small_set, tmp_path, damage):
    for folder in ("data", "cache"):
        path = tmp_path / folder / "mushrooms/mushrooms"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small_set)
        datasets.load("mushrooms")
        path.write_bytes(damage(small_set))
        with pytest.raises(
            datasets.DataSetError, match=r"not the published mushrooms.*SHA-256"
        ) as raised:
            datasets.load("mushrooms")
        assert ("Fetch the data set again" in str(raised.value)) == (folder == "cache")
        path.unlink()


def test_a_cut_gzip_file_is_named(small_set, tmp_path):
    path = tmp_path / "data/mushrooms/mushrooms.gz"
    path.write_bytes(gzip.compress(small_set)[:-4])
    with pytest.raises(datasets.DataSetError, match=r"mushrooms\.gz is not a complete gzip file"):
        datasets.load("mushrooms")


def test_without_a_checksum_the_numbers_of_rows_and_labels_decide(small_set, tmp_path, monkeypatch):
    description = datasets.describe("mushrooms")
    unknown = (replace(description.files[0], sha256=None),)
    monkeypatch.setitem(catalogue.DESCRIPTIONS, "mushrooms", replace(description, files=unknown))
    path = tmp_path / "data/mushrooms/mushrooms"
    for content, what in (
        (small_set[:-7], r"rows: \(5,\) instead of \(6,\)"),
        (small_set.replace(b"2 1:1 \r", b"1 1:1 \r"), r"class \+1: 1 instead of 2"),
        (b"<html>Sorry</html>", "not as published"),
    ):
        path.write_bytes(content)
        with pytest.raises(datasets.DataSetError, match=what):
            datasets.load("mushrooms")
    path.write_bytes(small_set)
    assert datasets.load("mushrooms").y_train.size == 2


def test_a_data_folder_that_is_none_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SPANSVM_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(datasets.DataSetError, match="SPANSVM_DATA must name a folder"):
        datasets.load("adult")


def test_random_splits_partition_the_rows_and_follow_split_and_seed(small_set, tmp_path):
    (tmp_path / "data/mushrooms/mushrooms").write_bytes(small_set)
    first = datasets.load("mushrooms")
    rows = np.vstack([first.X_train, first.X_test])
    everything, _ = reading.read_libsvm(small_set, 2)
    np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(everything, axis=0))
    np.testing.assert_array_equal(datasets.load("mushrooms").X_test, first.X_test)
    others = [datasets.load("mushrooms", split=1), datasets.load("mushrooms", seed=1)]
    assert all((other.X_test != first.X_test).any() for other in others)
    for split in range(10):
        assert datasets.load("mushrooms", split, balanced=True).y_train.sum() == 0


def test_all_rows_are_those_of_the_file_or_of_both_parts(small_set, tmp_path):
    (tmp_path / "data/mushrooms/mushrooms").write_bytes(small_set)
    X, _ = reading.read_libsvm(small_set, 2)
    np.testing.assert_array_equal(all_rows("mushrooms").X, X)
    whole = reading.Rows(X, np.ones(6), groups=np.arange(6))
    parts = whole.take(np.array([1, 3])), whole.take(np.array([0, 2]))
    joined = parts[0].joined(parts[1])
    np.testing.assert_array_equal(joined.X, X[[1, 3, 0, 2]])
    np.testing.assert_array_equal(joined.groups, [1, 3, 0, 2])
    assert joined.scores is None


def test_what_is_loaded_may_be_changed(small_set, tmp_path):
    (tmp_path / "data/mushrooms/mushrooms").write_bytes(small_set)
    first = datasets.load("mushrooms")
    before = first.X_train.copy()
    first.X_train[:] = 7.0
    np.testing.assert_array_equal(datasets.load("mushrooms").X_train, before)


def test_scaling_is_by_the_training_rows_and_constant_features_become_zero(small_set, tmp_path):
    (tmp_path / "data/mushrooms/mushrooms").write_bytes(small_set)
    data = replace(
        datasets.load("mushrooms"),
        X_train=np.array([[2.0, 5.0], [4.0, 5.0]]),
        X_test=np.array([[3.0, 6.0], [8.0, 5.0]]),
    )
    np.testing.assert_array_equal(data.scaled().X_train, [[0, 0], [1, 0]])
    np.testing.assert_array_equal(data.scaled().X_test, [[0.5, 0], [3, 0]])
    assert data.X_train[0, 0] == 2.0


def test_splits_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="split must be 0 for adult; got 1"):
        datasets.load("adult", split=1)
    with pytest.raises(ValueError, match="split must be 0 to 9 for banana; got 10"):
        datasets.load("banana", split=10)
    with pytest.raises(ValueError, match="adult has fixed splits"):
        datasets.load("adult", balanced=True)


# The published data


@pytest.mark.parametrize("name", PAPER_SIZES)
def test_published_data_have_the_sizes_of_the_paper(data_folder, name):
    data = datasets.load(name)
    n_train, n_test, d = PAPER_SIZES[name]
    assert (data.X_train.shape, data.X_test.shape) == ((n_train, d), (n_test, d))
    assert data.X_train.dtype == data.y_train.dtype == np.float64
    assert set(data.y_train) == set(data.y_test) == {-1.0, 1.0}
    assert len(set(data.feature_names)) == d
    assert (data.scores_train is not None) == (name in ("parkinson_speech", "bank_marketing"))
    assert (data.groups_train is not None) == (name == "parkinson_speech")
    scaled = data.scaled()
    assert (scaled.X_train.min(), scaled.X_train.max()) == (0.0, 1.0)
    if name in FIXED_POSITIVES:
        counts = (int((data.y_train > 0).sum()), int((data.y_test > 0).sum()))
        assert counts == FIXED_POSITIVES[name]


def test_all_ten_splits_of_the_ida_benchmark_hold_the_same_rows(data_folder):
    for name in ("banana", "image", "waveform"):
        sums = []
        for split in range(10):
            data = datasets.load(name, split)
            rows = np.vstack([data.X_train, data.X_test])
            sums.append(np.sort(rows.sum(axis=1)))
        np.testing.assert_allclose(sums, np.tile(sums[0], (10, 1)), atol=1e-12)


def test_colour_features_of_image_have_the_right_names(data_folder):
    data = datasets.load("image")
    column = {name: data.X_test[:, i] for i, name in enumerate(data.feature_names)}
    colours = np.column_stack([column[f"raw{c}-mean"] for c in ("red", "green", "blue")])
    basis = np.column_stack([colours, np.ones(len(colours))])
    for name, signs in {
        "intensity-mean": (1, 1, 1),
        "exred-mean": (1, -1, -1),
        "exgreen-mean": (-1, 1, -1),
        "exblue-mean": (-1, -1, 1),
    }.items():
        weights, residual, _, _ = np.linalg.lstsq(basis, column[name], rcond=None)
        assert residual[0] < 1e-6
        np.testing.assert_array_equal(np.sign(weights[:3]), signs)


def test_parkinson_is_split_by_subject_and_scored_by_severity(data_folder):
    data = datasets.load("parkinson_speech")
    assert set(data.groups_train) == {*range(1, 11), *range(21, 31)}
    assert set(data.groups_test) == {*range(11, 21), *range(31, 41)}
    np.testing.assert_array_equal(data.y_train > 0, data.groups_train <= 20)
    assert (data.scores_train[data.y_train < 0] == 1.0).all()
    # UPDRS 5 to 55 over all; subject 1 has 23, subject 16 the highest.
    assert set(data.scores_train[data.groups_train == 1]) == {(23 - 5) / (55 - 5)}
    assert set(data.scores_test[data.groups_test == 16]) == {1.0}


def test_bank_marketing_has_the_features_of_the_paper_and_the_duration_as_score(data_folder):
    data = datasets.load("bank_marketing")
    assert data.feature_names[:2] == ("age", "previous")
    assert set(data.X_train[:, -4:].ravel()) == {0.0, 1.0}
    scores = np.concatenate([data.scores_train, data.scores_test])
    assert (scores.min(), scores.max()) == (0.0, 1.0)
    balanced = datasets.load("bank_marketing", balanced=True)
    assert balanced.y_train.sum() == 0
    assert balanced.y_test.size == 40888


def test_breast_cancer_begins_with_the_number_of_the_sample(data_folder):
    data = datasets.load("breast_cancer")
    assert data.feature_names[0] == "sample code number"
    assert data.X_train[:, 0].max() > 1e6
    assert data.X_train[:, 1:].max() == 10.0


def test_mushrooms_have_one_value_of_each_attribute_and_the_foul_are_not_edible(data_folder):
    data = datasets.load("mushrooms")
    assert (data.X_test.sum(axis=1) == 21).all()
    foul = data.X_test[:, data.feature_names.index("odor=f")] > 0
    assert foul.any()
    assert (data.y_test[foul] == -1).all()


# Generators


def test_ringnorm_has_the_distributions_of_experiment_6_and_their_best_error():
    n, d, share = 40000, 5, 0.3
    X, y = datasets.ringnorm(n, d, seed=1)
    assert abs((y > 0).mean() - share) < 0.01
    np.testing.assert_allclose(X[y > 0].mean(axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose(X[y < 0].mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(np.cov(X[y > 0].T), np.eye(d), atol=0.06)
    np.testing.assert_allclose(np.cov(X[y < 0].T), 4 * np.eye(d), atol=0.15)
    # The best rule is a ball around (4/3, ..., 4/3), so its error is known in closed form.
    radius = (4 / 3) * (d / 3 + 2 * d * np.log(2) + 2 * np.log(share / (1 - share)))
    outside = stats.ncx2.sf(radius, d, d / 9)
    inside = stats.ncx2.cdf(radius / 4, d, 4 * d / 9)
    error = np.mean((((X - 4 / 3) ** 2).sum(axis=1) < radius) != (y > 0))
    assert abs(error - (share * outside + (1 - share) * inside)) < 0.005


@pytest.mark.parametrize("d", [1, 20])
def test_twonorm_has_the_same_best_error_for_every_number_of_features(d):
    X, y = datasets.twonorm(40000, d, seed=2)
    assert abs(y.mean()) < 0.015
    np.testing.assert_allclose((X * y[:, None]).mean(axis=0), 2 / np.sqrt(d), atol=0.02)
    error = np.mean((X.sum(axis=1) > 0) != (y > 0))
    assert abs(error - stats.norm.cdf(-2)) < 0.002


def test_waveform_rows_are_mixtures_of_two_waves_and_further_features_are_noise():
    X, y = datasets.waveform(40000, 40, seed=3)
    assert abs((y > 0).mean() - 1 / 3) < 0.01
    positive = X[y > 0]
    assert abs(positive[:, 6].mean() - 4.0) < 0.05  # half of 6 and half of 2
    assert abs(positive[:, 14].mean() - 1.0) < 0.05  # half of 0 and half of 2
    # u h + (1 - u) g has the variance (h - g)^2 / 12, and the noise 1.
    assert abs(positive[:, 6].var() - (1 + 16 / 12)) < 0.06
    noise = X[:, 21:]
    assert abs(noise.mean()) < 0.01
    assert abs(noise.var() - 1.0) < 0.01


def test_waveform_agrees_with_the_published_file(data_folder):
    content = gzip.decompress((data_folder / "waveform/waveform.data.gz").read_bytes())
    published = reading.read_table(content, 22)
    for label in (0, 1, 2):
        X, y = datasets.waveform(30000, seed=4, classes=(label,))
        own, theirs = X[y > 0], published[published[:, -1] == label, :-1]
        np.testing.assert_allclose(own.mean(axis=0), theirs.mean(axis=0), atol=0.2)
        np.testing.assert_allclose(own.var(axis=0), theirs.var(axis=0), rtol=0.15)


@pytest.mark.parametrize(
    "generate", [datasets.ringnorm, datasets.twonorm, datasets.waveform], ids=lambda g: g.__name__
)
def test_generators_repeat_themselves_and_follow_the_seed(generate):
    X, y = generate(50, 25)
    assert (X.shape, y.shape) == ((50, 25), (50,))
    np.testing.assert_array_equal(generate(50, 25)[0], X)
    assert (generate(50, 25, seed=1)[0] != X).all()
    with pytest.raises(ValueError, match="n and d must be at least 1"):
        generate(0)


def test_generators_refuse_what_makes_no_sense():
    with pytest.raises(ValueError, match="d must be at least 21"):
        datasets.waveform(5, 20)
    with pytest.raises(ValueError, match="one or two of 0, 1 and 2"):
        datasets.waveform(5, classes=(0, 3))
    with pytest.raises(ValueError, match=r"positive_share must be between 0 and 1; got 1\.5"):
        datasets.ringnorm(5, positive_share=1.5)
