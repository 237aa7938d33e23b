"""One run of ``spansvm tune``: the sentences with numbers, and what they must agree with."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

__all__ = ["PRINTED", "Run", "agrees", "near", "number", "tune", "wilson", "written"]

#: Where what was printed is kept.
PRINTED = "printed.txt"

#: At most so many rows are left out and trained without, and so much work: rows times models.
MOST_LEFT_OUT, MOST_WORK = 120, 150_000


def tune(file: Path, target: str, out: Path, options: list[str]) -> Run:
    """Run the command; the error is that of the command if it fails."""
    command = [sys.executable, "-m", "spansvm", "tune", str(file), "--target", target, "--out"]
    done = subprocess.run(
        [*command, str(out), "--force", *options], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"tune failed:\n{done.stderr[-2000:]}")
    (out / PRINTED).write_text(done.stderr + done.stdout, encoding="utf-8")
    return written(file, target, out)


def written(file: Path, target: str, out: Path) -> Run:
    """What an earlier run printed and wrote."""
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    page = (out / "report.html").read_text(encoding="utf-8")
    return Run(file, target, (out / PRINTED).read_text(encoding="utf-8"), report, page)


@dataclass(eq=False)
class Run:
    """What was printed and written, and the model that its recipe makes again."""

    file: Path
    target: str
    printed: str
    report: dict[str, Any]
    page: str
    _without: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def sentences(self) -> list[str]:
        """All that hold a number, of the output and of the page; not its tables and drawings."""
        text = re.sub(r"<(script|style|svg|table|pre|footer)\b.*?</\1>", "", self.page, flags=re.S)
        text = text.split('<section id="made">')[0]
        text = re.sub(r"</?(?:p|li|h\d|dt|dd|dl|div|figcaption|section|option)\b[^>]*>", "\n", text)
        text = html.unescape(re.sub(r"<[^>]+>", " ", text))
        lines = [" ".join(line.split()) for line in text.split("\n")]
        # A bar is printed again and again, in the same line.
        told = [line.rpartition("\r")[2] for line in self.printed.split("\n")]
        printed = [" ".join(line.split()).removeprefix("Caution: ") for line in told]
        found = []
        for line in [*printed, *lines]:
            found += re.split(r"(?<=[a-z)'\d%][.]) (?=[A-Z0-9])", line)
        return list(dict.fromkeys(one for one in found if re.search(r"\d", one)))

    @cached_property
    def names(self) -> dict[str, Any]:
        """X, y and the trained model, from the program of the report's recipe."""
        space: dict[str, Any] = {}
        exec(self.report["recipe"]["code"], space)
        return space

    @property
    def given(self) -> Any:
        """The rows, as the file has them."""
        return self.names["X"]

    @cached_property
    def y(self) -> np.ndarray:
        """Their targets."""
        return np.asarray(self.names["y"])

    @cached_property
    def table(self) -> pd.DataFrame:
        """The file as pandas reads it: texts, and NaN where a value is missing."""
        text = self.file.read_bytes()
        try:
            text.decode("utf-8")
            encoding = "utf-8-sig"
        except UnicodeDecodeError:
            encoding = "cp1252"
        first = text.partition(b"\n")[0]
        sep = max(",;\t", key=lambda one: first.count(one.encode()))
        table = pd.read_csv(
            self.file, sep=sep, dtype=str, encoding=encoding, keep_default_na=False,
            na_values=["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"], skipinitialspace=True,
        )  # fmt: skip
        return table.rename(columns=str.strip)

    @cached_property
    def labelled(self) -> pd.DataFrame:
        """Its rows that have a target, numbered from 1 as in the file."""
        table = self.table.set_axis(np.arange(1, len(self.table) + 1), axis=0)
        return table[table[self.target].notna()]

    def label(self, row: str) -> str:
        """The target of a row of the file."""
        return str(self.labelled.loc[int(row), self.target]).strip()

    def whole(self, machine: Any) -> Any:
        """The pipeline of the recipe, untrained, with a model of scikit-learn at its end."""
        return Pipeline([*clone(self.names["model"]).steps[:-1], ("machine", machine)])

    @property
    def machine(self) -> Any:
        """The SVM of the recipe, with its left-out values."""
        return self.names["model"][-1]

    @cached_property
    def points(self) -> Any:
        """The transformed rows."""
        return self.names["model"][:-1].transform(self.given)

    @cached_property
    def kinds(self) -> np.ndarray:
        """A number for each row, the same for rows that are transformed alike."""
        points = csr_matrix(self.points)
        points.sort_indices()
        ends = zip(points.indptr[:-1], points.indptr[1:], strict=True)
        rows = [(points.indices[a:b].tobytes(), points.data[a:b].tobytes()) for a, b in ends]
        return np.unique([hash(row) for row in rows], return_inverse=True)[1]

    @property
    def sampled(self) -> bool:
        """Whether the figures are of a model trained on a sample, which is not kept."""
        return self.report["trained"] is not None

    @cached_property
    def studied_all(self) -> bool:
        """Whether the studies are of all rows."""
        analyses = self.report["analyses"]
        return not self.sampled and bool(analyses["n_rows"] == self.y.size)

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows that scikit-learn's models are trained without, one by one."""
        most = int(min(MOST_LEFT_OUT, max(MOST_WORK // self.y.size, 10)))
        order = np.random.default_rng(0).permutation(self.y.size)
        return np.sort(order[:most])

    def without(self, model: Any, row: int) -> Any:
        """The selected model trained without a row."""
        if row not in self._without:
            stays = np.arange(self.y.size) != row
            self._without[row] = clone(model).fit(self.points[stays], self.y[stays])
        return self._without[row]


def number(text: str) -> float:
    """A number as it is printed."""
    return float(text.replace("\N{MINUS SIGN}", "-").replace("%", "").replace(",", "").rstrip("."))


def agrees(text: str, value: float, slack: float = 0.0) -> None:
    """A printed number is this value, rounded to the digits that it has."""
    plain = text.replace("\N{MINUS SIGN}", "-").rstrip("%.")
    scale = 100.0 if text.endswith("%") else 1.0
    digit = 10.0 ** -len(plain.partition(".")[2])
    assert abs(number(text) - scale * value) <= 0.5001 * digit + scale * slack, (
        f"{text} is {scale * value:.6g}"
    )


def near(count: str, of: str, share: float) -> None:
    """``3 of 10`` is within a tenth of a share, as is said of such counts."""
    said = int(count) / int(of)
    assert abs(said - share) <= 0.1 * min(share, 1 - share) + 0.5 / int(of), f"{said} is {share}"


def wilson(share: float, n: int) -> tuple[float, float]:
    """The interval of a share, by scipy."""
    found = binomtest(round(share * n), n).proportion_ci(method="wilson")
    return float(found.low), float(found.high)
