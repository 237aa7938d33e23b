"""The paper's 14 data sets: sizes, origin, licence, files, and peculiarities.

They are in the order of the paper's table, with its sizes where these are possible.  Checksums
are defined by :class:`~reproduction.datasets.files.PublishedFile`.  The archives of the IDA
benchmark have none, as they were packed by hand from its files; the numbers of rows, features and
labels of every data set are also checked when it is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .files import PublishedFile

__all__ = ["DESCRIPTIONS", "Description"]

SplitKind = Literal["fixed", "published", "random"]


@dataclass(frozen=True)
class Description:
    """What is known about a data set before it is loaded.

    Attributes
    ----------
    name, title : str
        The name for :func:`load`, and the name in the paper.
    task : str
        What to distinguish from what; the first is +1.
    n_train, n_test, n_features : int
    n_positive : int
        Rows with the label +1, training and test rows together.
    split_kind : {"fixed", "published", "random"}
        A single split; several, published with the data; or drawn at random.
    n_splits : int or None
        The number of splits; None if unlimited.
    citation, licence, homepage : str
    files : tuple of PublishedFile
    note : str
        Peculiarities, and what was decided where the paper leaves it open.
    feature_range : tuple of float or None
        The natural range of all features; None to take it from the training rows.
    """

    name: str
    title: str
    task: str
    n_train: int
    n_test: int
    n_features: int
    n_positive: int
    split_kind: SplitKind
    n_splits: int | None
    citation: str
    licence: str
    homepage: str
    files: tuple[PublishedFile, ...]
    note: str
    feature_range: tuple[float, float] | None = None


_CC_BY = "CC BY 4.0"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_LIBSVM_PAGE = f"{_LIBSVM}.html"
_IDA_PAGE = "https://github.com/tdiethe/gunnar_raetsch_benchmark_datasets"
_IDA_CITATION = (
    "G. Rätsch, T. Onoda, K.-R. Müller: Soft margins for AdaBoost. Machine Learning 42, 2001"
)
_IDA_NOTE = (
    "The splits are the first ten of the IDA benchmark; the paper does not say which it used. "
    "The site that published them is gone. The file that can be downloaded has the same rows and "
    "splits in another layout; the order of the rows within a part may differ."
)

_MNIST_FILES = tuple(
    PublishedFile(
        f"mnist/{name}",
        sha256,
        text=False,
        url=f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz",
    )
    for name, sha256 in {
        "train-images-idx3-ubyte": (
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
        ),
        "train-labels-idx1-ubyte": (
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
        ),
        "t10k-images-idx3-ubyte": (
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
        ),
        "t10k-labels-idx1-ubyte": (
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
        ),
    }.items()
)

_IDA_TODAY = PublishedFile(
    "ida/benchmarks.mat",
    "47c19e4bc4716edc4077cfa5ea61edf4d02af4ec51a0ecfe035626ae8b561c75",
    text=False,
    url=f"{_IDA_PAGE}/raw/master/benchmarks.mat",
)


def _ida(name: str) -> tuple[PublishedFile, ...]:
    """The archive of an IDA benchmark data set.

    Its own site is gone.  What can be downloaded today is one file with all the data sets, in
    another layout.
    """
    archive = f"{name}/{name}_ida_splits_1-10.tar.xz"
    return (PublishedFile(archive, text=False, stand_in=_IDA_TODAY),)


def _mnist(positive: int, negative: int, n_train: int, n_test: int, n_positive: int) -> Description:
    return Description(
        name=f"mnist_{positive}_{negative}",
        title=f"MNIST {positive} vs {negative}",
        task=f"Distinguish images of handwritten {positive}s from {negative}s.",
        n_train=n_train,
        n_test=n_test,
        n_features=780,
        n_positive=n_positive,
        split_kind="fixed",
        n_splits=1,
        citation=(
            "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to "
            "document recognition. Proceedings of the IEEE 86, 1998"
        ),
        licence="Copyright Yann LeCun and Corinna Cortes; commonly given as CC BY-SA 3.0",
        homepage="https://yann.lecun.com/exdb/mnist/",
        files=_MNIST_FILES,
        note=(
            "Pixels from 0 to 255, line by line. The last four of the 784 are zero in every "
            "training and test image and are left out, hence the paper's 780 features. "
            "All pixels are divided by 255, which reproduces the paper's figures."
        ),
        feature_range=(0.0, 255.0),
    )


_ALL = (
    Description(
        name="breast_cancer",
        title="breast cancer",
        task="Distinguish malignant tumours from benign ones by nine properties of their cells.",
        n_train=100,
        n_test=583,
        n_features=10,
        n_positive=239,
        split_kind="random",
        n_splits=None,
        citation=(
            "W. H. Wolberg, O. L. Mangasarian: Multisurface method of pattern separation for "
            "medical diagnosis applied to breast cytology. PNAS 87, 1990"
        ),
        licence=_CC_BY,
        homepage="https://archive.ics.uci.edu/dataset/15/breast+cancer+wisconsin+original",
        files=(
            PublishedFile(
                "breast_cancer/breast-cancer-wisconsin.data",
                "81add727690ddfdfffe60d06dfc915848ce8639c3cafc37b5b44604d334c444c",
                url=f"{_UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
            ),
        ),
        note=(
            "The 683 complete rows of 699. The first of the 10 features is the sample number, as "
            "in LIBSVM's copy and, judging by the number of features, in the paper. The paper "
            "prints 783 test rows; with 100 training rows there are 583."
        ),
    ),
    Description(
        name="mushrooms",
        title="mushrooms",
        task="Distinguish edible mushrooms from poisonous ones by how they look and smell.",
        n_train=200,
        n_test=7924,
        n_features=112,
        n_positive=4208,
        split_kind="random",
        n_splits=None,
        citation="J. Schlimmer: Mushroom. UCI Machine Learning Repository, 1987",
        licence=_CC_BY,
        homepage=_LIBSVM_PAGE,
        files=(
            PublishedFile(
                "mushrooms/mushrooms",
                "a082183b372d8ddd8bf84542785952fb53c86cee7ea5e4399cb4ed0f3d5132c5",
                url=f"{_LIBSVM}/mushrooms",
            ),
        ),
        note=(
            "LIBSVM's copy: one column of zeros and ones for each value of 21 attributes; "
            "stalk-root, which has missing values, is left out. Its label 2, edible, is +1."
        ),
    ),
    Description(
        name="waveform",
        title="waveform",
        task="Distinguish mixtures of the first two of three triangular waves from other mixtures.",
        n_train=400,
        n_test=4600,
        n_features=21,
        n_positive=1647,
        split_kind="published",
        n_splits=10,
        citation=(
            "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone: Classification and Regression "
            f"Trees, 1984; splits: {_IDA_CITATION}"
        ),
        licence=_CC_BY,
        homepage=_IDA_PAGE,
        files=_ida("waveform"),
        note=f"+1 is class 1 of the three classes of UCI's file. {_IDA_NOTE}",
    ),
    Description(
        name="banana",
        title="banana",
        task="Distinguish two artificial, banana-shaped classes in the plane.",
        n_train=400,
        n_test=4900,
        n_features=2,
        n_positive=2376,
        split_kind="published",
        n_splits=10,
        citation=_IDA_CITATION,
        licence="none stated",
        homepage=_IDA_PAGE,
        files=_ida("banana"),
        note=_IDA_NOTE,
    ),
    Description(
        name="skin_nonskin",
        title="skin nonskin",
        task="Distinguish skin pixels from others by their blue, green and red values.",
        n_train=500,
        n_test=244557,
        n_features=3,
        n_positive=50859,
        split_kind="random",
        n_splits=None,
        citation="R. Bhatt, A. Dhall: Skin Segmentation. UCI Machine Learning Repository, 2012",
        licence=_CC_BY,
        homepage="https://archive.ics.uci.edu/dataset/229/skin+segmentation",
        files=(
            PublishedFile(
                "skin_nonskin/Skin_NonSkin.txt",
                "b1eccca3def25f268b891f2cab1a829c9eccab3df7fc8c50bdb8a8ba5b5a065f",
                url=f"{_UCI}/00229/Skin_NonSkin.txt",
            ),
        ),
        note="The published class 1, skin, is +1. Many rows are identical.",
    ),
    Description(
        name="splice",
        title="splice",
        task="Distinguish DNA without a splice junction in its middle from DNA with one.",
        n_train=1000,
        n_test=2175,
        n_features=60,
        n_positive=1648,
        split_kind="fixed",
        n_splits=1,
        citation=(
            "M. Noordewier, G. Towell, J. Shavlik: Training knowledge-based neural networks to "
            "recognize genes in DNA sequences. NIPS 3, 1991"
        ),
        licence=_CC_BY,
        homepage=_LIBSVM_PAGE,
        files=(
            PublishedFile(
                "splice/splice",
                "4d5bfacef5c732692156b24bf53530f800f15f5110fe49105558df88d4957810",
                url=f"{_LIBSVM}/splice",
            ),
            PublishedFile(
                "splice/splice.t",
                "c347ecda12e7d9943d99624eaa958af083c177cd078bd628cbb16b490be20474",
                url=f"{_LIBSVM}/splice.t",
            ),
        ),
        note=(
            "LIBSVM's copy of Delve's splits; the four bases are the numbers 1 to 4. Labels are as "
            "published there: +1 is the class without a junction."
        ),
    ),
    Description(
        name="image",
        title="image",
        task="Distinguish two groups of surfaces in small parts of outdoor photographs.",
        n_train=1300,
        n_test=1010,
        n_features=18,
        n_positive=1320,
        split_kind="published",
        n_splits=10,
        citation=f"Image Segmentation. UCI Repository, 1990; splits: {_IDA_CITATION}",
        licence=_CC_BY,
        homepage=_IDA_PAGE,
        files=_ida("image"),
        note=(
            "The IDA benchmark put the seven classes of UCI's file into two groups, left out the "
            f"constant feature, and standardized the others. {_IDA_NOTE}"
        ),
    ),
    Description(
        name="adult",
        title="adult",
        task="Distinguish people who earn more than 50,000 dollars a year from others.",
        n_train=1605,
        n_test=30956,
        n_features=123,
        n_positive=7841,
        split_kind="fixed",
        n_splits=1,
        citation=(
            "J. Platt: Fast training of support vector machines using sequential minimal "
            "optimization, 1998; B. Becker, R. Kohavi: Adult. UCI Repository, 1996"
        ),
        licence=_CC_BY,
        homepage=_LIBSVM_PAGE,
        files=(
            PublishedFile(
                "adult_a1a/a1a",
                "4e013dd5fbfef8c648b97271e2b63548be30330187c770c351573df2f344f979",
                url=f"{_LIBSVM}/a1a",
            ),
            PublishedFile(
                "adult_a1a/a1a.t",
                "6b3144fcd7d72cca1059a39cff37a458a20aac754fa24b80084dc8088b6e6a47",
                url=f"{_LIBSVM}/a1a.t",
            ),
        ),
        note=(
            "LIBSVM's a1a: Platt's 123 binary features, without names. The last four are zero in "
            "all training rows."
        ),
    ),
    _mnist(2, 9, 11907, 2041, 6990),
    _mnist(1, 7, 13007, 2163, 7877),
    _mnist(3, 6, 12049, 1968, 7141),
    _mnist(0, 8, 11774, 1954, 6903),
    Description(
        name="parkinson_speech",
        title="Parkinson's speech",
        task="Distinguish recordings of people with Parkinson's disease from healthy people's.",
        n_train=520,
        n_test=520,
        n_features=26,
        n_positive=520,
        split_kind="fixed",
        n_splits=1,
        citation=(
            "B. E. Sakar et al.: Collection and analysis of a Parkinson speech dataset with "
            "multiple types of sound recordings. IEEE JBHI 17, 2013"
        ),
        licence=_CC_BY,
        homepage="https://archive.ics.uci.edu/dataset/301",
        files=(
            PublishedFile(
                "parkinson_speech/train_data.txt",
                "6f25e3ad28a36331224bdcd93160f906547556dd46f63d8d8f2e52c182d484d8",
                by_hand=(
                    "Its publisher offers a RAR archive, Parkinson_Multiple_Sound_Recording.rar, "
                    f"which Python cannot unpack. Download it from {_UCI}/00301/, unpack it, and "
                    "put its train_data.txt into the folder parkinson_speech inside the folder "
                    "named by SPANSVM_DATA."
                ),
            ),
        ),
        note=(
            "26 recordings of each of 40 subjects, whose numbers are the groups. As in the paper, "
            "subjects 1-10 and 21-30 are for training. A patient's score is the UPDRS, scaled to "
            "[0, 1] over the 20 patients (the paper does not say over whom); a healthy person's "
            "score is 1."
        ),
    ),
    Description(
        name="bank_marketing",
        title="bank marketing",
        task="Distinguish clients who will subscribe to a deposit, when called, from others.",
        n_train=300,
        n_test=40888,
        n_features=11,
        n_positive=4640,
        split_kind="random",
        n_splits=None,
        citation=(
            "S. Moro, P. Cortez, P. Rita: A data-driven approach to predict the success of bank "
            "telemarketing. Decision Support Systems 62, 2014"
        ),
        licence=_CC_BY,
        homepage="https://archive.ics.uci.edu/dataset/222/bank+marketing",
        files=(
            PublishedFile(
                "bank_marketing/bank-additional-full.csv",
                "f3318df31371badfd126bcb2bcf191d8d283a5ce1e9eb7defe5ea139fd8b0765",
                url=f"{_UCI}/00222/bank-additional.zip",
                member="bank-additional/bank-additional-full.csv",
            ),
        ),
        note=(
            "The paper's 11 of 20 features; an unknown answer counts as no. The score is the "
            "duration of the call, scaled to [0, 1] over all 41188 rows. The paper's smallest test "
            "error, 0.2218, is above the share of the smaller class, 0.113, so its training rows "
            "were hardly a simple random sample; balanced=True draws equally many of each class."
        ),
    ),
)

DESCRIPTIONS = {description.name: description for description in _ALL}
