"""Names of the features, in the order of the columns."""

from __future__ import annotations

__all__ = ["BANK_BOOLEANS", "BANK_NUMBERS", "feature_names"]

_BREAST_CANCER = (
    "sample code number",
    "clump thickness",
    "uniformity of cell size",
    "uniformity of cell shape",
    "marginal adhesion",
    "single epithelial cell size",
    "bare nuclei",
    "bland chromatin",
    "normal nucleoli",
    "mitoses",
)

#: The values that have a column, by attribute, in the letters of the UCI file.
_MUSHROOMS = {
    "cap-shape": "cbfksx",
    "cap-surface": "ysgf",
    "cap-color": "cbegnpruwy",
    "bruises": "tf",
    "odor": "acfmlnpsy",
    "gill-attachment": "af",
    "gill-spacing": "cw",
    "gill-size": "bn",
    "gill-color": "beghkonpruwy",
    "stalk-shape": "et",
    "stalk-surface-above-ring": "yskf",
    "stalk-surface-below-ring": "yskf",
    "stalk-color-above-ring": "cbegonpwy",
    "stalk-color-below-ring": "cbegonpwy",
    "veil-type": "p",
    "veil-color": "yown",
    "ring-number": "ton",
    "ring-type": "pnelf",
    "spore-print-color": "bhkonruwy",
    "population": "acnsvy",
    "habitat": "dgmlpuw",
}

_IMAGE = (
    "region-centroid-col",
    "region-centroid-row",
    "short-line-density-5",
    "short-line-density-2",
    "vedge-mean",
    "vedge-sd",
    "hedge-mean",
    "hedge-sd",
    "intensity-mean",
    "rawred-mean",
    "rawblue-mean",
    "rawgreen-mean",
    "exred-mean",
    "exblue-mean",
    "exgreen-mean",
    "value-mean",
    "saturation-mean",
    "hue-mean",
)

_PARKINSON_SPEECH = (
    "jitter (local)",
    "jitter (local, absolute)",
    "jitter (rap)",
    "jitter (ppq5)",
    "jitter (ddp)",
    "shimmer (local)",
    "shimmer (local, dB)",
    "shimmer (apq3)",
    "shimmer (apq5)",
    "shimmer (apq11)",
    "shimmer (dda)",
    "autocorrelation",
    "noise-to-harmonic ratio",
    "harmonic-to-noise ratio",
    "median pitch",
    "mean pitch",
    "standard deviation of pitch",
    "minimum pitch",
    "maximum pitch",
    "number of pulses",
    "number of periods",
    "mean period",
    "standard deviation of period",
    "fraction of locally unvoiced frames",
    "number of voice breaks",
    "degree of voice breaks",
)

#: Columns of bank marketing that are numbers, and of the others the answer that counts as 1.
BANK_NUMBERS = (
    "age",
    "previous",
    "emp.var.rate",
    "cons.price.idx",
    "cons.conf.idx",
    "euribor3m",
    "nr.employed",
)
BANK_BOOLEANS = {"default": "yes", "housing": "yes", "loan": "yes", "marital": "married"}

_BANK_MARKETING = (*BANK_NUMBERS, *(f"{name}={answer}" for name, answer in BANK_BOOLEANS.items()))


def feature_names(name: str) -> tuple[str, ...]:
    """Names of the features of a data set; numbered from 1 where the publisher names none."""
    if name.startswith("mnist"):
        return tuple(f"row {i // 28 + 1}, column {i % 28 + 1}" for i in range(780))
    return _NAMES[name]


_NAMES = {
    "breast_cancer": _BREAST_CANCER,
    "mushrooms": tuple(
        f"{attribute}={value}" for attribute, values in _MUSHROOMS.items() for value in values
    ),
    "waveform": tuple(f"point {i}" for i in range(1, 22)),
    "banana": ("x1", "x2"),
    "skin_nonskin": ("blue", "green", "red"),
    "splice": tuple(f"position {i:+d}" for i in (*range(-30, 0), *range(1, 31))),
    "image": _IMAGE,
    "adult": tuple(f"feature {i}" for i in range(1, 124)),
    "parkinson_speech": _PARKINSON_SPEECH,
    "bank_marketing": _BANK_MARKETING,
}
