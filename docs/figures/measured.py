"""What the benchmarks measured: their results as read, summed up, and as sentences.

Pages have the sentences between ``<!-- measured: name -->`` and ``<!-- end -->``; ``make figures``
writes them there, so that no figure is typed twice.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"

Row = dict[str, str]

#: Generated sets of independent rows, and the time that looking for a dependence is to take.
_INDEPENDENT = ("noise", "linear", "unequal", "equal rows", "quantity", "outliers")
_LIMIT_MS, _LIMIT = 30.0, 0.1

_BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

#: A test error of 0 has no ratio: it counts as this, as in benchmarks.committee and .chosen.
_LEAST_WRONG, _LEAST_ERROR = 0.5, 1e-4


@cache
def _text(name: str) -> str:
    return (RESULTS / f"{name}.csv").read_text(encoding="utf-8")


def read(name: str, **only: str) -> list[Row]:
    """The rows of a result file; of those columns that are given, only rows with these values."""
    lines = [line for line in _text(name).splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines)
    return [row for row in rows if all(row[key] == value for key, value in only.items())]


def column(rows: list[Row], name: str) -> np.ndarray:
    """A column as numbers."""
    return np.array([float(row[name]) for row in rows])


def mean_ratio(values: np.ndarray) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def chosen() -> list[tuple[str, int, float]]:
    """Data set, number of classes, test error of our selection over that of five folds."""
    rows = read("chosen")
    found = []
    for name in dict.fromkeys(row["data_set"] for row in rows):
        own = [row for row in rows if row["data_set"] == name]
        errors = [max(column(own, way).mean(), _LEAST_ERROR) for way in ("default", "folds")]
        found.append((name, int(own[0]["classes"]), errors[0] / errors[1]))
    return found


def committees(measure: str, form: str = "log_odds") -> np.ndarray:
    """Ratio to five folds' choice per data set, on the half that did not choose the form."""
    rows = read("committee_forms")
    found = []
    for name in sorted({row["data_set"] for row in rows})[1::2]:
        logs = []
        for size in ("150", "400"):
            own = [row for row in rows if row["data_set"] == name and row["size"] == size]
            if own:
                count = column(own, "test_rows").sum()
                least = _LEAST_WRONG / count if measure == "error" else 0.0
                ours, theirs = (
                    max(column(own, f"{one}_{measure}").mean(), least) for one in (form, "folds")
                )
                logs.append(np.log(ours / theirs))
        if logs:
            found.append(float(np.exp(np.mean(logs))))
    return np.array(found)


def source(name: str) -> str:
    """The commands and the commits that measured a result, and a link to it."""
    head = [line[2:] for line in _text(name).splitlines() if line.startswith("# ")]
    runs = [line.partition(";")[0] for line in head if line.startswith("python -m")]
    commits = [found[1] for line in head if (found := re.search(r"commit ([\w-]+)", line))]
    told = [f"`{run}` ({commit})" for run, commit in zip(runs, commits, strict=True)]
    return f"Measured by {', '.join(told)}: [figures](../benchmarks/results/{name}.csv)."


def _span(values: np.ndarray, digits: int = 0) -> str:
    ends = [f"{end:.{digits}f}" for end in (values.min(), values.max())]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _percent(share: str) -> str:
    return f"{100 * float(share):.0f} %"


def _with_error(ratios: np.ndarray) -> str:
    error = np.log(ratios).std(ddof=1) / np.sqrt(ratios.size)
    return f"{mean_ratio(ratios):.3f} ± {error:.3f}"


def speed() -> str:
    """Searches of pipelines."""
    ours, folds = (column(read("users", work=work), "ratio") for work in ("verified", "kfold"))
    return (
        f"{_span(ours)} times the speed of `GridSearchCV` with five folds, {mean_ratio(ours):.0f} "
        f"in the geometric mean of {ours.size} data sets; on the same five folds (`cv=5`) "
        f"{_span(folds)} times, {mean_ratio(folds):.0f} in the mean."
    )


def speed_scores() -> str:
    """Searches of tutorials by other scores."""
    rows = read("tutorials", data="geometric mean")
    ratios = column(rows, "ratio")
    return f"Geometric means over the data sets of each search: {_span(ratios, 1)}."


def speed_regression() -> str:
    """Searches of SVR."""
    words = {"default": "by default", "folds": "with `cv=5`", "span": 'with `method="span_rule"`'}
    parts = [
        f"{_span(column(read('regression_speed', work=work), 'ratio'))} times {name}"
        for work, name in words.items()
    ]
    return f"Of the speed of `GridSearchCV`: {', '.join(parts)}."


def selection() -> str:
    """Test errors of what is selected."""
    found = chosen()
    two = np.array([ratio for _, classes, ratio in found if classes == 2])
    more = np.array([ratio for _, classes, ratio in found if classes > 2])
    return (
        f"Geometric means: {mean_ratio(two):.3f} on {two.size} data sets with two classes, "
        f"{mean_ratio(more):.3f} on {more.size} with more. Below 1 is better than five folds."
    )


def reported() -> str:
    """The score to report."""
    rows = {
        row["estimate"]: row for row in read("corrected", size="all", grid="all", data_set="all")
    }
    words = {
        "plain": "the best score",
        "corrected": "the corrected score",
        "nested": "nested folds",
        "held_out": "a fifth of the rows held out",
    }
    lines = ["| estimate | bias of the error | 95 % interval contains the truth |", "|---|---|---|"]
    lines += [
        f"| {words[name]} | {100 * float(rows[name]['relative_bias']):+.1f} % | "
        f"{_percent(rows[name]['covers'])} |"
        for name in words
    ]
    return f"Over {rows['plain']['searches']} searches:\n\n" + "\n".join(lines)


def committee() -> str:
    """The committee against the model that five folds select."""
    error, loss = committees("error"), committees("log_loss")
    return (
        f"Divided by those of the model that five folds select, on the {error.size} data sets that "
        f"were not used to choose the form: test error {_with_error(error)}, log loss "
        f"{_with_error(loss)} (geometric mean and its standard error)."
    )


def intervals() -> str:
    """Prediction intervals."""
    rows = read("regression_intervals")
    ours = column([row for row in rows if row["way"] == "SpanSVR"], "covers")
    searched = column([row for row in rows if row["way"] == "SpanSearch"], "covers")
    times = column([row for row in rows if row["way"] == "jackknife+"], "seconds_over_ours")
    folds = column([row for row in rows if row["way"] == "CV+"], "seconds_over_ours")
    return (
        f"Intervals of level 0.9 contain {_span(100 * ours, 1)} % of new targets, those of a "
        f"search {_span(100 * searched, 1)} %. MAPIE's jackknife+ has the same intervals and takes "
        f"{_span(times)} times as long, its CV+ is wider and takes {_span(folds, 1)} times as long."
    )


def sets() -> str:
    """Sets of labels."""
    lines = [
        "| level | `predict_set` covers | MAPIE, cross-conformal | MAPIE, split |",
        "|---|---|---|---|",
    ]
    for level in ("0.8", "0.9", "0.95"):
        cells = [level]
        for way in ("set", "mapie_cross", "mapie_split"):
            own = read("sets", level=level, way=way, model="searched")
            share, size = column(own, "coverage").mean(), mean_ratio(column(own, "size"))
            cells.append(f"{100 * share:.1f} %, {size:.2f} labels")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def labels() -> str:
    """Wrong labels that are found."""
    lines = ["| labels changed | committee | single model | cleanlab |", "|---|---|---|---|"]
    for noise in ("5 %", "10 %", "20 %", "10 %, pairs"):
        rows = {row["way"]: row for row in read("labels", noise=noise)}
        cells = [
            f"{float(rows[way]['average_precision']):.3f}"
            for way in ("committee", "model", "cleanlab")
        ]
        lines.append(f"| {noise} | {' | '.join(cells)} |")
    return "\n".join(lines)


def labels_time() -> str:
    """Times of label issues, and how many of the changed labels are found."""
    rows = [row for row in read("labels") if row["noise"] != "none"]
    times = [
        _span(column([row for row in rows if row["way"] == way], "times_cleanlab"))
        for way in ("model", "committee")
    ]
    shares = [
        _percent(read("labels", noise="10 %", way=way)[0][share])
        for share in ("recall", "precision")
        for way in ("cleanlab", "committee")
    ]
    return (
        f"Search included, a single model is {times[0]} times and the committee {times[1]} times "
        "as fast as a tuned SVC with five folds and cleanlab. As a filter, at 10 % changed labels, "
        f"cleanlab finds {shares[0]} of them and the committee {shares[1]}; of the rows that they "
        f"report, {shares[2]} and {shares[3]} were changed."
    )


def torchkm() -> str:
    """A path of exact leave-one-out errors."""
    rows = {row["method"]: row for row in read("torchkm")}
    theirs = next(row for name, row in rows.items() if "0.001" in name)
    return (
        f"Exact leave-one-out errors along a path of 50 values of C, {theirs['n']} rows: "
        f"{float(rows['loo']['processor_seconds']):.1f} s against "
        f"{float(theirs['processor_seconds']):.0f} s of processor time."
    )


def peers() -> str:
    """Opponents of the paper's search."""
    words = {"libsvm": "`GridSearchCV(SVC(), cv=5)`", "intelex": "scikit-learn-intelex, five folds"}
    words["thundersvm"] = "ThunderSVM on the processor, five folds"
    lines = ["| opponent | its time over ours |", "|---|---|"]
    for name, text in words.items():
        own = column(read("search", work="search", opponent=name), "ratio")
        lines.append(f"| {text} | {_span(own)} |")
    return "\n".join(lines)


def liquidsvm() -> str:
    """One point of a grid."""
    own = column(read("search", opponent="liquidsvm"), "ratio")
    return (
        f"One candidate, against one point of its grid with five folds: {own[0]:.1f} times as fast "
        f"(1024 rows), {own[1]:.1f} times (4096 rows)."
    )


def large() -> str:
    """Landmarks."""
    rows = {(row["problem"], row["method"]): row for row in read("large")}
    ours, folds = (rows["clusters 100000", way] for way in ("landmarks 300", "folds 300"))
    each = [float(row["process_seconds"]) / float(row["evaluated"]) for row in (ours, folds)]
    return (
        f"Per candidate, {each[0]:.1f} s of processor time against {each[1]:.0f} s for five folds "
        "of `LinearSVC` on the same landmarks (100,000 rows)."
    )


def dependence() -> str:
    """Which files and walks are noticed to have rows that depend on each other, and the time."""
    rows = read("dependence")
    of_kind: dict[str, list[Row]] = {"walk": [], "independent": [], "file": []}
    for row in rows:
        kind = "walk" if row["data_set"].startswith("walk") else "file"
        of_kind["independent" if row["data_set"] in _INDEPENDENT else kind].append(row)
    files, walks = of_kind["file"], of_kind["walk"]
    noticed = [row["data_set"] for row in files if row["noticed"] == "1"]
    quiet = [row for row in rows if row["noticed"] == "0"]
    longer, search = column(quiet, "longer_shuffled_ms"), column(quiet, "search_ms")
    within = int(((longer <= _LIMIT_MS) | (longer <= _LIMIT * search)).sum())
    shuffled = int(column(rows, "noticed_shuffled").sum()), int(column(rows, "shuffled").sum())
    by_target = int(column(rows, "noticed_by_target").sum())
    by_feature = sum(row["noticed_by_feature"] == "1" for row in of_kind["independent"])
    return (
        f"Of {len(files)} public files, in the order in which they are published, {len(noticed)} "
        f"are noticed: {', '.join(noticed)}. Of {len(walks)} random walks of 100 to 1000 rows "
        f"{int(column(walks, 'noticed').sum())} are. Of {shuffled[1]} shuffled orders of these and "
        f"of {len(of_kind['independent'])} generated sets of independent rows {shuffled[0]} are, "
        f"of the {len(rows)} sorted by class or target {by_target}, of those of independent rows "
        f"sorted by a feature {by_feature}. Where nothing is noticed, a search of 40 candidates "
        f"takes {np.median(100 * longer / search):.0f} % longer (median), and in {within} of "
        f"{len(quiet)} sets at most 30 ms or 10 % (`python -m benchmarks.dependence`)."
    )


#: Everything that pages may have between marks.
SENTENCES: dict[str, Callable[[], str]] = {
    one.__name__: one
    for one in (
        speed, speed_scores, speed_regression, selection, reported, committee, intervals, sets,
        labels, labels_time, torchkm, peers, liquidsvm, large, dependence,
    )
}  # fmt: skip


def written(page: str) -> str:
    """A page with its measured parts as the results say; ``source_x`` is the command of x.csv."""

    def measured(found: re.Match[str]) -> str:
        name = found[2]
        if name.startswith("source_"):
            text = source(name.removeprefix("source_"))
        elif name in SENTENCES:
            text = SENTENCES[name]()
        else:
            raise ValueError(f"nothing is measured as {name!r}: use one of {sorted(SENTENCES)}")
        return f"{found[1]}\n{text}\n\n{found[3]}"

    return _BLOCK.sub(measured, page)


PAGES = ("benchmarks.md", "comparison.md", "guide/groups.md")


def write_pages() -> None:
    """Write what was measured into the pages."""
    for name in PAGES:
        path = ROOT / "docs" / name
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
