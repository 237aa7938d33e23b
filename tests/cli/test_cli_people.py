"""``spansvm tune FILE`` for files as people have them, with no other option: it ends."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from spansvm.cli import sizing
from spansvm.models import load_model
from spansvm.search import SpanSearch
from spansvm.search.evaluation.forecast import Forecast

from ..wording import tells

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")


def passengers(n_rows=160, seed=0):
    """Names, tickets, gaps, and what depends on age and fare."""
    rng = np.random.default_rng(seed)
    age, fare = rng.uniform(1, 80, n_rows).round(), rng.gamma(2, 15, n_rows).round(2)
    data = pd.DataFrame(
        {
            "PassengerId": np.arange(1, n_rows + 1),
            "Survived": (age + rng.normal(0, 15, n_rows) < 40).astype(int),
            "Name": [f"Doe, Mr. {number}" for number in range(n_rows)],
            "Age": age,
            "Ticket": [f"PC {n}" if n % 3 else str(n) for n in rng.choice(10**6, n_rows)],
            "Fare": [f"{value:.2f}".replace(".", ",") for value in fare],
            "Embarked": rng.choice(["S", "C", None], n_rows),
        }
    )
    data.loc[rng.choice(n_rows, n_rows // 5, replace=False), "Age"] = np.nan
    return data


def complaints(n_rows=150, seed=0):
    """Messages whose words tell their kind, and a number."""
    rng = np.random.default_rng(seed)
    usual = ["the", "parcel", "has", "come", "and", "we", "saw", "it", "today", "thanks"]
    angry = ["late", "broken", "refund", "never", "lost"]
    kind = rng.integers(0, 2, n_rows)
    texts = [
        " ".join([*rng.choice(usual, 7), *(rng.choice(angry, 2) if one else rng.choice(usual, 2))])
        for one in kind
    ]
    texts[3] = "645"
    return pd.DataFrame({"text": texts, "price": rng.uniform(1, 9, n_rows).round(1), "kind": kind})


def test_passengers_need_no_option_but_the_target(succeeding):
    passengers().to_csv("titanic.csv", index=False, sep=";")
    _, err = succeeding("tune titanic.csv --target Survived --candidates 4")
    lines = err.splitlines()
    (left_out,) = (line for line in lines if "left out" in line)
    (gaps,) = (line for line in lines if "Missing values" in line)
    assert tells(left_out, "'PassengerId', 'Name', 'Ticket'", "--keep COLUMN")
    assert tells(gaps, "the median for numbers", "32 in 'Age'", "is a feature, too")
    assert "Column 'Fare' writes numbers with a decimal comma." in lines
    saved = load_model("titanic-tuned/model.skops")
    assert saved.schema.features == ("Age", "Fare", "Embarked")
    # New rows may lack any value, and what the model does not use.
    new = passengers(5, seed=1).drop(columns=["Name", "Survived"])
    new.loc[2, ["Age", "Fare", "Embarked"]] = None
    new.to_csv("new.csv", index=False, sep=";")
    out, err = succeeding("predict titanic-tuned new.csv --quiet")
    rows = list(csv.DictReader(out.splitlines()))
    assert {row["predicted"] for row in rows} <= {"0", "1"}
    by_hand = pd.DataFrame({
        "Age": new["Age"], "Embarked": new["Embarked"].where(new["Embarked"].notna(), np.nan),
        "Fare": new["Fare"].str.replace(",", ".").astype(float),
    })[list(saved.schema.features)]  # fmt: skip
    decided = saved.model.decision_function(by_hand)
    np.testing.assert_allclose([float(row["decision"]) for row in rows], decided)


def test_messages_become_words_with_a_linear_kernel(succeeding):
    complaints().to_csv("data.csv", index=False)
    out, err = succeeding("tune data.csv --candidates 4")
    assert tells(err, "'text' holds texts of 9 words on average", "The kernel is linear")
    report = json.loads(Path("data-tuned/report.json").read_text())
    # Three words in four of an angry message are usual: only words can tell.
    assert report["leave_one_out"]["error"] < 0.1
    saved = load_model("data-tuned/model.skops")
    assert saved.model[-1].kernel == "linear"
    assert saved.schema.column_types == ("text", "numeric")
    with zipfile.ZipFile("data-tuned/model.skops") as archive:
        assert not [name for name in archive.namelist() if name.endswith((".pkl", ".pickle"))]
    Path("new.csv").write_text("text,price\nnever a refund for the broken parcel,3\n,2\n")
    out, _ = succeeding("predict data-tuned new.csv --quiet --proba")
    rows = list(csv.DictReader(out.splitlines()))
    assert rows[0]["predicted"] == "1"
    page = Path("data-tuned/report.html").read_text()
    assert "TfidfVectorizer" in page


def test_another_kernel_for_words_is_used_if_asked_for(succeeding):
    complaints().to_csv("data.csv", index=False)
    _, err = succeeding("tune data.csv --candidates 4 --kernel rbf")
    assert "The kernel is linear" not in err
    assert load_model("data-tuned/model.skops").model[-1].kernel == "rbf"


def test_a_regression_takes_words_too(succeeding):
    data = complaints()
    rng = np.random.default_rng(0)
    data["days"] = data.pop("kind") * 3 + rng.normal(0, 0.3, len(data))
    data.to_csv("data.csv", index=False)
    _, err = succeeding("tune data.csv --candidates 4")
    assert "so this is a regression" in err
    assert load_model("data-tuned/model.skops").model[-1].kernel == "linear"


# The same command twice -----------------------------------------------------------------------

#: What tells the time, in the JSON and on the page.
_TIMES = ("created", "seconds", "refit_seconds")
_ON_PAGE = re.compile(r"<dt>time</dt><dd>[^<]*</dd>|<time .*?</time>")


def without_times(content):
    if isinstance(content, dict):
        return {key: without_times(own) for key, own in content.items() if key not in _TIMES}
    return [without_times(own) for own in content] if isinstance(content, list) else content


def written(folder):
    """All files of a folder, without times."""
    folder = Path(folder)
    with (folder / "results.csv").open() as stream:
        table = [
            {key: value for key, value in row.items() if not key.endswith("_time")}
            for row in csv.DictReader(stream)
        ]
    return {
        "model": (folder / "model.skops").read_bytes(),
        "libsvm": (folder / "model.libsvm").read_bytes(),
        "table": table,
        "json": without_times(json.loads((folder / "report.json").read_text())),
        "page": _ON_PAGE.sub("", (folder / "report.html").read_text()),
    }


def test_the_same_command_gives_the_same_bytes_however_long_it_takes(succeeding, monkeypatch):
    passengers().to_csv("data.csv", index=False)
    monkeypatch.setattr(sizing, "FEW_ROWS", 100)
    monkeypatch.setattr(sizing, "_WHOLE_WORK", 1.0)
    monkeypatch.setattr(sizing, "_SAMPLES", (100, 50))
    command = "tune data.csv --target Survived --candidates 6 --force"
    found = []
    for seconds in (0.0, 1e6):

        def forecast(*_, seconds=seconds, **__):
            costs = np.full(6, seconds / 6)
            return Forecast(160, seconds, costs, 1, "double", 1e6, 2.0) if seconds else None

        monkeypatch.setattr(SpanSearch, "forecast", forecast)
        succeeding(command)
        found.append(written("data-tuned"))
    for name, first in found[0].items():
        assert found[1][name] == first, name
    assert found[0]["json"]["facts"]["sample"]["n_rows"] < 160


def test_a_budget_that_ends_a_search_says_that_the_machine_matters(succeeding):
    passengers().to_csv("data.csv", index=False)
    _, err = succeeding("tune data.csv --target Survived --budget 0.001s")
    (line,) = (line for line in err.splitlines() if line.startswith("Partial:"))
    assert "depends on the machine, and so may the result." in line
