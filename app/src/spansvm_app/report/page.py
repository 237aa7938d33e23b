"""From a report to its page: one self-contained HTML file, and the same as JSON.

Text from the data is escaped everywhere: in the template, in the drawings, and in the embedded
JSON.  The page's content security policy allows only its own script, by hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from spansvm.blocks import METHODS
from spansvm.display import ColourScale
from spansvm.errors import require

from ..common.output import replacing
from .analyses_page import render_analyses
from .contents import Report
from .loo_charts import draw_calibration, draw_margins, draw_operations
from .plain import number, percent, words
from .regression import RegressionReport
from .regression_page import FILTERS, regression_page
from .search_charts import draw_search
from .searched import SearchedCandidates
from .svg import PALETTE, Markup

__all__ = ["render_html", "write_json", "write_report"]

#: What a page can be made of.
AnyReport = Report | RegressionReport

_MOST_LISTED = 20

#: Tables with more classes, or pairs of classes, are folded; confusions that are listed then.
_MOST_OPEN, _MOST_CONFUSED = 8, 10

#: Where the list of contents begins.
_CONTENTS = '<nav id="contents" aria-label="Contents">'

#: Characters that could end a script element or a script line, as JSON escapes.
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}

_ESTIMATES = {
    "loo_error": "leave-one-out error",
    "loo_hinge": "hinge loss",
    "loo_loss": "squared error over variance",
    "n_in_bound": "in-bound vectors",
    "n_bounded": "bounded vectors",
    "n_empty": "empty Λₚ",
}


def write_report(report: AnyReport, path: str | os.PathLike[str]) -> None:
    """Write a report as an HTML page; an existing file is replaced only by a complete one."""
    _write(Path(path), render_html(report))


def write_json(report: AnyReport, path: str | os.PathLike[str]) -> None:
    """Write a report as JSON; an existing file is replaced only by a complete one."""
    _write(Path(path), report.to_json() + "\n")


def render_html(report: AnyReport) -> str:
    """The HTML page of a report."""
    jinja2 = require("jinja2", "cli")
    style = _resource("report.css") + _resource("analyses.css")
    script = _resource("report.js") + _resource("costs.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_resource),
    )  # fmt: skip
    environment.filters.update(
        number=number, percent=percent, words=words, setting=_setting, **FILTERS
    )
    search, hidden = report.search, _hidden(report.search)
    if isinstance(report, RegressionReport):
        template, own = "regression.html", regression_page(report)
    else:
        template, own = "template.html", _classes_page(report, environment)
    page: str = environment.get_template(template).render(
        report=report,
        search=search,
        best=search.best_index,
        reported=search.reported,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        data=Markup(_embedded(_hover_data(report))),
        method=_method_in_words(search),
        estimate_names=_estimate_names(report),
        ranking=search.ranking()[:_MOST_LISTED],
        hidden=hidden,
        selectable=hidden if search.chart in ("heat map", "points") else [],
        svm=_svm_in_words(report),
        facts=_facts(report),
        notes=_other_notes(report),
        search_chart=draw_search(search),
        **own,
    )
    return _with_contents(page)


def _with_contents(page: str) -> str:
    """The page with a list of its sections; text of the data is escaped, and makes no section."""
    found = re.findall(r'<section id="([\w-]+)">\s*<h2>(.*?)</h2>', page)
    links = "".join(f'<a href="#{name}">{title}</a> ' for name, title in found)
    return page.replace(_CONTENTS, f"{_CONTENTS}{links}", 1)


def _classes_page(report: Report, environment: Any) -> dict[str, Any]:
    """What the page of a classifier shows besides what every page does."""
    figures, analyses = report.leave_one_out, Markup("")
    if report.analyses is not None:
        analyses = render_analyses(
            environment, _resource("analyses.html"), report.analyses, report=report,
            search=report.search,
        )  # fmt: skip
    return {
        "loo": figures,
        "trust": report.trust,
        "most_open": _MOST_OPEN,
        "most_confused": _most_confused,
        "margins_chart": draw_margins(figures),
        "operations_chart": draw_operations(figures.operations),
        "calibration_chart": draw_calibration(figures.calibration),
        "analyses": analyses,
    }


def _estimate_names(report: AnyReport) -> dict[str, str]:
    """What the estimates of candidates are called."""
    name = report.search.loo_name
    if isinstance(report, RegressionReport):
        name = name.replace("error", "RMSE")
    return {**_ESTIMATES, "loo_error": name}


def _method_in_words(search: SearchedCandidates) -> str:
    method = METHODS[search.method]
    if search.n_groups is None:
        return f"{method.label}: {method.meaning}"
    how = "predicted" if method.from_one_model else "each in turn"
    return f"{method.label}: {search.n_groups} groups left out, {how}"


def _hidden(search: SearchedCandidates) -> list[int]:
    """Varying axes that the chart does not show: it shows the best over their values."""
    return [
        index
        for index, axis in enumerate(search.axes)
        if len(axis.labels) > 1 and index not in search.shown
    ]


def _svm_in_words(report: AnyReport) -> str:
    settings = report.recipe.steps[-1].settings
    shown = [
        f"{name} = {words(settings[name])}" for name in ("gamma", "degree") if name in settings
    ]
    return ", ".join([f"SVM with kernel {settings['kernel']}", *shown])


def _facts(report: AnyReport) -> dict[str, Any]:
    """How the search was made: what stopped it, and sentences about the rest."""
    known = report.facts or {}
    told = [(known.get("task") or {}).get("why"), (known.get("search") or {}).get("why")]
    told += [(known.get(name) or {}).get("in_words") for name in ("sample", "approximation")]
    told += [one.get("in_words") for one in known.get("widened") or ()]
    unlabelled = (known.get("rows") or {}).get("n_without_label")
    if unlabelled:
        told.append(f"Rows without a label that were left out: {unlabelled}.")
    return {"stopped": known.get("stopped"), "told": list(dict.fromkeys(filter(None, told)))}


def _other_notes(report: AnyReport) -> list[str]:
    """The notes that are not among the facts, which the page says elsewhere."""
    facts = report.facts or {}
    return [note for note in report.notes if note not in facts.get("notes", ())]


def _setting(value: Any) -> str:
    """The value of a setting: ``2 to 3`` for a range, ``yes: 2, no: 1`` for values by class."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_setting(one)}" for name, one in value.items())
    if isinstance(value, list):
        return " to ".join(_setting(one) for one in value)
    return words(value)


def _most_confused(
    classes: Sequence[str], confusion: Sequence[Sequence[int]]
) -> list[tuple[str, str, int]]:
    """Pairs of a label and another that is predicted instead, by how many rows that concerns."""
    found = [
        (classes[own], classes[other], count)
        for own, counts in enumerate(confusion)
        for other, count in enumerate(counts)
        if own != other and count
    ]
    return sorted(found, key=lambda one: -one[2])[:_MOST_CONFUSED]


def _hover_data(report: AnyReport) -> dict[str, Any]:
    """What the page's script needs to know about the candidates."""
    search = report.search
    colours = ColourScale(search.selecting_scores)
    columns = [*search.scores.items()]
    names = _estimate_names(report)
    columns += [(names[name], column) for name, column in search.estimates.items()]
    return {
        "axes": [{"name": axis.name, "labels": axis.labels, "codes": axis.codes}
                 for axis in search.axes],
        "shown": search.shown,
        "columns": [[name, [number(value) for value in column]] for name, column in columns],
        "converged": [int(value) for value in search.converged],
        "order": search.ranking(),
        "levels": [colours.level(score, len(PALETTE)) for score in search.selecting_scores],
        "palette": PALETTE,
        "best": search.best_index,
    }  # fmt: skip


def _embedded(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPES)


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _write(path: Path, text: str) -> None:
    # Text from invalid UTF-8 holds surrogates, which cannot be encoded as UTF-8.
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))
