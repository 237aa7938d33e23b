"""From which files the data sets are read, and who publishes them.

Checksums are those that :class:`~spansvm.datasets.files.PublishedFile` defines.  The archives of
the IDA benchmark have none, as they are packed by hand from its files; every set is also checked
by its numbers of rows, features and labels when it is read.
"""

from __future__ import annotations

from .files import PublishedFile

__all__ = [
    "ADULT",
    "BANK_MARKETING",
    "BREAST_CANCER",
    "MNIST",
    "MUSHROOMS",
    "PARKINSON_SPEECH",
    "SKIN_NONSKIN",
    "SPLICE",
    "ida",
]

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"

BREAST_CANCER = (
    PublishedFile(
        "breast_cancer/breast-cancer-wisconsin.data",
        "81add727690ddfdfffe60d06dfc915848ce8639c3cafc37b5b44604d334c444c",
        url=f"{_UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
    ),
)

MUSHROOMS = (
    PublishedFile(
        "mushrooms/mushrooms",
        "a082183b372d8ddd8bf84542785952fb53c86cee7ea5e4399cb4ed0f3d5132c5",
        url=f"{_LIBSVM}/mushrooms",
    ),
)

SKIN_NONSKIN = (
    PublishedFile(
        "skin_nonskin/Skin_NonSkin.txt",
        "b1eccca3def25f268b891f2cab1a829c9eccab3df7fc8c50bdb8a8ba5b5a065f",
        url=f"{_UCI}/00229/Skin_NonSkin.txt",
    ),
)

SPLICE = (
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
)

ADULT = (
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
)

MNIST = tuple(
    PublishedFile(f"mnist/{name}", sha256, text=False, url=f"{_MNIST}/{name}.gz")
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

PARKINSON_SPEECH = (
    PublishedFile(
        "parkinson_speech/train_data.txt",
        "6f25e3ad28a36331224bdcd93160f906547556dd46f63d8d8f2e52c182d484d8",
        by_hand=(
            "Its publisher offers a RAR archive, Parkinson_Multiple_Sound_Recording.rar, which "
            f"Python cannot unpack. Download it from {_UCI}/00301/, unpack it, and put its "
            "train_data.txt into the folder parkinson_speech of the folder that SPANSVM_DATA names."
        ),
    ),
)

BANK_MARKETING = (
    PublishedFile(
        "bank_marketing/bank-additional-full.csv",
        "f3318df31371badfd126bcb2bcf191d8d283a5ce1e9eb7defe5ea139fd8b0765",
        url=f"{_UCI}/00222/bank-additional.zip",
        member="bank-additional/bank-additional-full.csv",
    ),
)

_IDA_TODAY = PublishedFile(
    "ida/benchmarks.mat",
    "47c19e4bc4716edc4077cfa5ea61edf4d02af4ec51a0ecfe035626ae8b561c75",
    text=False,
    url=("https://github.com/tdiethe/gunnar_raetsch_benchmark_datasets/raw/master/benchmarks.mat"),
)


def ida(name: str) -> tuple[PublishedFile, ...]:
    """The archive of a set of the IDA benchmark.

    Its own site is gone.  What can be downloaded is a file in which all its sets are kept
    today, in another layout.
    """
    archive = f"{name}/{name}_ida_splits_1-10.tar.xz"
    return (PublishedFile(archive, text=False, stand_in=_IDA_TODAY),)
