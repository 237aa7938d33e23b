"""What the benchmarks measured: their results as read, summed up, as sentences and as tables.

README and pages have them between ``<!-- measured: name -->`` and ``<!-- end -->``; ``make
figures`` writes them there, so that no figure is typed twice.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"

Row = dict[str, str]

_BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

#: A test error of 0 has no ratio: it counts as this, as in benchmarks.committee and .chosen.
_LEAST_WRONG, _LEAST_ERROR = 0.5, 1e-4

#: As in benchmarks.selection: what is added to both errors of a ratio.
_LEAST_TIED = 1 / 5000


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


def chosen(method: str = "default") -> list[tuple[str, int, float]]:
    """Data set, number of classes, test error of what a method selects over that of five folds."""
    rows = read("chosen")
    found = []
    for name in dict.fromkeys(row["data_set"] for row in rows):
        own = [row for row in rows if row["data_set"] == name]
        errors = [max(column(own, way).mean(), _LEAST_ERROR) for way in (method, "folds")]
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


def _percent(share: str | float) -> str:
    return f"{100 * float(share):.0f} %"


def _few(value: float) -> str:
    """A ratio or a time to two digits."""
    return f"{value:.0f}" if value >= 10 else f"{value:.{1 if value >= 1 else 2}f}"


def _table(*rows: Sequence[str]) -> str:
    """A table whose first row has the names of the columns."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def _apart(differences: np.ndarray, errors: np.ndarray) -> tuple[int, int]:
    """How often the first is smaller, and larger, by more than two standard errors."""
    return int((differences < -2 * errors).sum()), int((differences > 2 * errors).sum())


def _with_error(ratios: np.ndarray) -> str:
    error = np.log(ratios).std(ddof=1) / np.sqrt(ratios.size)
    return f"{mean_ratio(ratios):.3f} ± {error:.3f}"


def speed() -> str:
    """Searches of pipelines."""
    own = read("users", work="verified")
    ours, folds = column(own, "ratio"), column(read("users", work="kfold"), "ratio")
    rows = column(own, "rows")
    return (
        f"{_span(ours)} times the speed of `GridSearchCV` with five folds, {mean_ratio(ours):.0f} "
        f"in the geometric mean of {ours.size} data sets ({rows.min():.0f} to {rows.max():,.0f} "
        f"rows); on the same five folds (`cv=5`) {_span(folds)} times, {mean_ratio(folds):.0f} in "
        "the mean."
    )


def users() -> str:
    """Searches of pipelines, by data set."""
    works = ("verified", "kfold", "two threads over one")
    head = ["data", "rows", "classes", "ours, s", "`GridSearchCV`, s", "ratio", "ratio with `cv=5`"]
    lines = [[*head, "two threads over one"]]
    for ours, folds, threads in zip(*(read("users", work=work) for work in works), strict=True):
        times = (float(ours[f"{who}_processor"]) for who in ("ours", "gridsearchcv"))
        ratios = (float(row["ratio"]) for row in (ours, folds))
        cells = [ours["problem"], ours["rows"], ours["classes"], *map(_few, times)]
        lines.append(
            [*cells, *(f"{ratio:.0f}" for ratio in ratios), f"{float(threads['ratio_wall']):.1f}"]
        )
    return _table(*lines)


def programs() -> str:
    """Short programs, as in tutorials."""
    rows = read("programs", accelerated="1")
    written = [row for row in rows if row["gives_cv"] == "1"]
    ratios = column(written, "ratio"), column(written, "without_cv")
    below = (_percent(np.mean(own < 2)) for own in ratios)
    means = (f"{mean_ratio(own):.1f}" for own in ratios)
    return (
        f"{len(written)} programs as in tutorials, {_span(column(written, 'gridsearchcv'), 2)} s "
        f"with `GridSearchCV`: {' and '.join(means)} times its speed with their `cv` and without "
        f"it (geometric means); {' and '.join(below)} of them less than twice."
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
    words = {
        "default": "`SpanSearch`",
        "rule": '`SpanSearch(method="span_rule")`',
        "exact": '`SpanSearch(method="loo")`',
    }
    lines = []
    for method, text in words.items():
        found = chosen(method)
        two = np.array([ratio for _, classes, ratio in found if classes == 2])
        more = np.array([ratio for _, classes, ratio in found if classes > 2])
        lines.append([text, f"{mean_ratio(two):.3f}", f"{mean_ratio(more):.3f}"])
    head = ["geometric mean", f"{two.size} sets with two classes", f"{more.size} sets with more"]
    return f"{_table(head, *lines)}\n\nBelow 1 is better than five folds."


def ties() -> str:
    """Test errors over those of the best candidate, by tie rule."""
    words = {
        '`SpanSearch` (`ties="plateau"`)': ("span_plateau", "span_plateau"),
        '`SpanSearch(ties="hinge")`': ("span_hinge", "span_hinge"),
        '`SpanSearch(ties="first")`': ("span_first", "span_first"),
        "`GridSearchCV(cv=5)`": ("kfold_first", "grid_search_cv"),
    }
    rows = read("selection")
    lines = [["selected by", "33 x 33 class weights", "8 x 6 values of C and gamma"]]
    for text, rules in words.items():
        cells = [text]
        for grid, rule in zip(("weights", "C-gamma"), rules, strict=True):
            own = read("selection", grid=grid)
            ratios = (column(own, rule) + _LEAST_TIED) / (column(own, "best") + _LEAST_TIED)
            cells.append(f"{mean_ratio(ratios):.3f}")
        lines.append(cells)
    better, worse = _apart(column(rows, "minus_folds"), column(rows, "minus_folds_error"))
    return (
        f"{_table(*lines)}\n\nAgainst `GridSearchCV`, the default is better by more than two "
        f"standard errors in {better} of {len(rows)} cases, and worse in {worse}."
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
    head = ["estimate", "bias of the error", "its RMSE", "95 % interval contains the truth"]
    lines = [[*head, "truth above it", "time"]]
    for name, text in words.items():
        row = rows[name]
        time = float(row["seconds"]) / float(rows["plain"]["seconds"])
        rmse = float(row["rmse"]) + 1e-9  # of four digits, the last of which may be 5
        cells = [text, f"{100 * float(row['relative_bias']):+.1f} %", f"{rmse:.3f}"]
        lines.append([*cells, _percent(row["covers"]), _percent(row["above"]), f"{time:.1f}"])
    return f"Over {rows['plain']['searches']} searches:\n\n{_table(*lines)}"


def calibration() -> str:
    """Probabilities against those calibrated by folds."""
    rows = read("calibration")
    better, worse = _apart(*(column(rows, f"log_loss_minus_folds{end}") for end in ("", "_error")))
    ratios = column(rows, "log_loss_span") / column(rows, "log_loss_folds")
    more = np.array([row["data_set"] in ("iris", "wine", "digits") for row in rows])
    times = (mean_ratio(column(rows, "folds_over_span")[own]) for own in (~more, more))
    two, several = (f"{time:.1f}" for time in times)
    return (
        f"Log loss: better by more than two standard errors on {better} of {len(rows)} data sets, "
        f"worse on {worse}; {mean_ratio(ratios[~more]):.3f} times theirs for two classes, "
        f"{mean_ratio(ratios[more]):.2f} times for the {more.sum()} data sets with more (geometric "
        f"means). Folds take {two} and {several} times our time."
    )


def committee() -> str:
    """The committee, and the single model, against the model that five folds select."""
    words = {"log_odds": "`committee_`", "single": "the selected model"}
    lines = [["", "test error", "log loss"]]
    for form, text in words.items():
        measures = (committees(measure, form) for measure in ("error", "log_loss"))
        lines.append([text, *map(_with_error, measures)])
    return (
        "Divided by those of the model that five folds select, on the "
        f"{committees('error').size} data sets that were not used to choose the form (geometric "
        f"mean and its standard error):\n\n{_table(*lines)}"
    )


def automatic() -> str:
    """Searches without a grid, against a fine one."""
    rows = read("automatic", half="confirmation")
    names = list(dict.fromkeys(row["data_set"] for row in rows))
    score = (column(rows, "auto_score") / column(rows, "fine_score")).mean()
    time = mean_ratio(column(rows, "fine_seconds")) / mean_ratio(column(rows, "auto_seconds"))
    errors = [
        np.array([column([row for row in rows if row["data_set"] == name], way).mean()
                  for name in names])
        for way in ("auto_error", "fine_error")
    ]  # fmt: skip
    return (
        f"On {len(names)} data sets that it was not designed on, `SVCCV` reaches {score:.3f} of "
        f"the best leave-one-out score of a 30 x 30 grid, {time:.1f} times as fast; its test error "
        f"is {mean_ratio(errors[0] / errors[1]):.3f} of that of the grid's choice."
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
    lines = [["level", "`predict_set` covers", "MAPIE, cross-conformal", "MAPIE, split"]]
    for level in ("0.8", "0.9", "0.95"):
        cells = [level]
        for way in ("set", "mapie_cross", "mapie_split"):
            own = read("sets", level=level, way=way, model="searched")
            share, size = column(own, "coverage").mean(), mean_ratio(column(own, "size"))
            cells.append(f"{100 * share:.1f} %, {size:.2f} labels")
        lines.append(cells)
    return _table(*lines)


def labels() -> str:
    """Wrong labels that are found."""
    lines = [["labels changed", "committee", "single model", "cleanlab"]]
    for noise in ("5 %", "10 %", "20 %", "10 %, pairs"):
        rows = {row["way"]: row for row in read("labels", noise=noise)}
        cells = [
            f"{float(rows[way]['average_precision']):.3f}"
            for way in ("committee", "model", "cleanlab")
        ]
        lines.append([noise, *cells])
    return _table(*lines)


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
    """The paper's search, and single tasks, against opponents."""
    class_weights = "1089 class weights"
    five_folds = "`GridSearchCV(SVC(), cv=5)`"
    words = {
        ("search", "libsvm"): (f"{class_weights}, 1000 to 1605 rows", five_folds),
        ("search", "intelex"): ("the same", "scikit-learn-intelex, five folds"),
        ("search", "thundersvm"): ("the same", "ThunderSVM on the processor, five folds"),
        ("search, l = 4096", "libsvm"): (f"{class_weights}, 4096 rows", five_folds),
        ("search, l = 13007", "libsvm"): (f"{class_weights}, 13,007 rows", five_folds),
        ("5 folds", "libsvm"): (f"{class_weights}, the same folds (`cv=5`)", five_folds),
        ("one candidate", "liquidsvm"): ("one candidate", "a point of liquidSVM's, five folds"),
        ("exact leave-one-out", "libsvm 5-fold"): (
            "exact leave-one-out of one model",
            "five folds of it by LibSVM",
        ),
        ("5 candidates, l = 60000", "libsvm"): (
            "5 candidates, 60,000 rows within 4 GiB",
            "5 trainings by LibSVM, no folds",
        ),
    }
    lines = [["work", "opponent", "its time over ours", "geometric mean"]]
    for (work, opponent), text in words.items():
        own = column(read("search", work=work, opponent=opponent), "ratio")
        digits = 0 if own.min() >= 10 else 1
        lines.append([*text, _span(own, digits), _few(mean_ratio(own))])
    return _table(*lines)


def core() -> str:
    """Training and span-rule of single models."""
    words = {
        '`SVC(kernel="rbf")` over our training on a Gram matrix': "libsvm_over_train",
        '`SVC(kernel="precomputed")` over our training on the same matrix': (
            "precomputed_over_train"
        ),
        "the span-rule over the training": "span_over_train",
        "the rule's quadratic programs, one by one by clarabel, over the span-rule": (
            "clarabel_qps_over_span"
        ),
        "the same by daqp": "daqp_qps_over_span",
    }
    rows = read("core")
    lines = [[f"geometric mean over {len(rows)} models", "ratio"]]
    for text, name in words.items():
        ratio = mean_ratio(column([row for row in rows if row[name]], name))
        lines.append([text, _few(ratio) if ratio >= 1 else f"{ratio:.3f}"])
    return _table(*lines)


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


#: Everything that pages may have between marks.
SENTENCES: dict[str, Callable[[], str]] = {
    one.__name__: one
    for one in (
        speed, users, programs, speed_scores, speed_regression, selection, ties, reported,
        calibration, committee, automatic, intervals, sets, labels, labels_time, torchkm, peers,
        core, liquidsvm, large,
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


PAGES = ("README.md", "docs/benchmarks.md", "docs/comparison.md")


def write_pages() -> None:
    """Write what was measured into the pages."""
    for name in PAGES:
        path = ROOT / name
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
