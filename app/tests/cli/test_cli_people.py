"""``spansvm tune FILE`` for files as people have them, with no other option: it ends."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSVC
from spansvm.errors import UserError
from spansvm.models import load_model
from spansvm.search import SpanSearch
from spansvm.search.evaluation.forecast import Forecast
from spansvm_app.cli import sizing, waiting
from spansvm_app.cli.method_choice import Folds
from spansvm_app.cli.terminal import Terminal
from spansvm_app.tables import Roles, read_table
from tests.wording import tells

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
    assert saved.metadata["schema"]["features"] == ["Age", "Fare", "Embarked"]
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
    })[saved.metadata["schema"]["features"]]  # fmt: skip
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
    assert saved.metadata["schema"]["column_types"] == ["text", "numeric"]
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


# The last training ----------------------------------------------------------------------------


def test_the_last_training_keeps_to_the_memory_and_says_what_it_takes(succeeding, monkeypatch):
    passengers(300).to_csv("data.csv", index=False)
    budgets, before = {}, SpanSVC.fit

    def fit(self, X, *arguments, **options):
        budgets[len(X)] = self.gram_budget
        return before(self, X, *arguments, **options)

    monkeypatch.setattr(SpanSVC, "fit", fit)
    line = "tune data.csv --target Survived --candidates 4 --sample 100 --memory 3MB"
    _, err = succeeding(line)
    assert budgets == {100: "3MB", 300: "3MB"}
    # 8 bytes for each pair of 300 rows.
    assert "all 300 rows (its Gram matrix takes 1 MiB)." in err
    assert load_model("data-tuned/model.skops").model[-1].gram_budget is None
    _, err = succeeding(f"{line} --kernel linear --force")
    assert "Training the selected model on all 300 rows." in err


def test_long_work_says_how_long_it_will_be(monkeypatch):
    told = []
    monkeypatch.setattr(waiting, "told_on_standard_error", lambda *given: told.append(given))
    terminal = Terminal()
    waiting.telling_time(terminal, "Training", 3600.0)
    assert told == [("Training", 3600.0, terminal.progress)]
    with waiting.telling_time(Terminal(quiet=True), "Training", 3600.0):
        assert len(told) == 1


# What is done with a model --------------------------------------------------------------------


def unequal(n_rows=300, seed=0):
    """Two classes that overlap, one of them rare."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    data["kind"] = np.where(data.a + rng.normal(0, 0.8, n_rows) > 1.3, "rare", "usual")
    return data


def test_costs_and_thresholds_decide_by_the_calibrated_probability(succeeding):
    unequal().to_csv("data.csv", index=False)
    unequal(seed=1)[["a", "b"]].to_csv("new.csv", index=False)
    succeeding("tune data.csv --candidates 4 --quiet")
    model = load_model("data-tuned/model.skops").model
    rows = model[:-1].transform(unequal(seed=1)[["a", "b"]])
    found = model[-1].predict_calibrated_proba(rows)[:, 0]
    for option, least in (("--cost 5", 1 / 6), ("--cost 0.25", 0.8), ("--threshold 0.3", 0.3)):
        out, err = succeeding(f"predict data-tuned new.csv --proba {option}")
        assert f"'rare' is predicted where its probability is at least {least:.3g}." in err
        table = list(csv.DictReader(out.splitlines()))
        assert [row["predicted"] == "rare" for row in table] == (found >= least).tolist()
        np.testing.assert_allclose([float(row["probability_rare"]) for row in table], found)
    # The report shows the same threshold for the same costs.
    costs = json.loads(Path("data-tuned/report.json").read_text())["analyses"]["decisions"]["costs"]
    (step,) = (one for one in costs["steps"] if one["ratio"] == 5)
    decided = model.decision_function(unequal(seed=1)[["a", "b"]])
    out, _ = succeeding("predict data-tuned new.csv --cost 5")
    said = [row["predicted"] == "rare" for row in csv.DictReader(out.splitlines())]
    assert said == (decided <= step["decision"]).tolist()


def test_costs_are_those_of_the_class_that_the_report_shows(succeeding):
    data = unequal()
    data["kind"] = (data.kind == "usual").astype(int)
    data.to_csv("data.csv", index=False)
    succeeding("tune data.csv --candidates 4 --quiet")
    costs = json.loads(Path("data-tuned/report.json").read_text())["analyses"]["decisions"]["costs"]
    (step,) = (one for one in costs["steps"] if one["ratio"] == 0.2)
    model = load_model("data-tuned/model.skops").model
    new = unequal(seed=1)[["a", "b"]]
    new.to_csv("new.csv", index=False)
    out, err = succeeding("predict data-tuned new.csv --cost 0.2")
    # 1 of 0 and 1, although most rows have it.
    assert f"'1' is predicted where its probability is at least {1 / 1.2:.3g}." in err
    said = [row["predicted"] == "1" for row in csv.DictReader(out.splitlines())]
    assert said == (model.decision_function(new) >= step["decision"]).tolist()
    assert 0 < sum(said) < (data.kind == 1).sum()


def test_a_committee_has_calibrated_probabilities_for_a_threshold(succeeding):
    unequal().to_csv("data.csv", index=False)
    new = unequal(seed=1)[["a", "b"]]
    new.to_csv("new.csv", index=False)
    succeeding("tune data.csv --candidates 4 --committee --quiet")
    committee = load_model("data-tuned/committee.skops").model
    out, err = succeeding("predict data-tuned/committee.skops new.csv --threshold 0.3")
    assert "'rare' is predicted where its probability is at least 0.3." in err
    said = [row["predicted"] == "rare" for row in csv.DictReader(out.splitlines())]
    assert said == (committee.predict_proba(new)[:, 0] >= 0.3).tolist()
    assert said != (committee.predict(new) == "rare").tolist()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--threshold 2", "--threshold must be between 0 and 1, such as 0.2; got '2'."),
        ("--cost much", "--cost must be a positive number, such as 5; got 'much'."),
        ("--cost 5 --threshold 0.2", "leave --threshold or --cost out"),
    ],
)
def test_thresholds_that_are_none_are_told(command_line, options, sentence):
    code, _, err = command_line(f"predict data-tuned new.csv {options}")
    assert code == 2
    assert sentence in err


def test_a_threshold_is_for_two_classes(command_line):
    data = unequal(60)
    data["third"] = ["x", "y", "z"] * 20
    data["size"] = data.a
    data.to_csv("data.csv", index=False)
    command_line("tune data.csv --target third --candidates 2 --quiet --out classes")
    command_line("tune data.csv --target size --candidates 2 --quiet --out numbers")
    _, _, err = command_line("predict classes data.csv --threshold 0.2 --quiet")
    assert "--threshold and --cost are for two classes, but the model has 3; leave them out." in err
    _, _, err = command_line("predict numbers data.csv --cost 2 --quiet")
    assert "--cost is for classes, and the model predicts a quantity; use --interval." in err


# Folds and groups -----------------------------------------------------------------------------


def folded(n_rows=90):
    data = unequal(n_rows)
    data["batch"] = np.arange(n_rows) // 6
    return data[["a", "b", "batch", "kind"]]


@pytest.mark.parametrize(
    ("options", "peer"),
    [
        ("--drop batch --cv 3", StratifiedKFold(3, shuffle=True, random_state=0)),
        ("--drop batch --cv kfold:4", KFold(4, shuffle=True, random_state=0)),
        ("--drop batch --cv TimeSeriesSplit:3", TimeSeriesSplit(3)),
        (
            "--groups batch --cv StratifiedGroupKFold:3",
            StratifiedGroupKFold(3, shuffle=True, random_state=0),
        ),
    ],
)
def test_splitters_are_scikit_learns(succeeding, options, peer):
    data = folded()
    data.to_csv("data.csv", index=False)
    Path("grid.json").write_text('{"C": [4.0], "gamma": [0.5]}')
    succeeding(f"tune data.csv {options} --search grid.json --quiet")
    with Path("data-tuned/results.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    # The columns are scaled once, on all rows, as nothing looks at the labels.
    X, groups = minmax_scale(data[["a", "b"]]), data.batch if "groups" in options else None
    scores = cross_val_score(SVC(C=4, gamma=0.5), X, data.kind, cv=peer, groups=groups)
    found = [float(row[f"split{fold}_test_score"]) for fold in range(len(scores))]
    np.testing.assert_allclose(found, scores)


def test_an_empty_splitter_is_told():
    with pytest.raises(UserError, match=r"--cv takes the number of folds, .*; got ''"):
        Folds.parse("")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--cv KFold:1000", "--cv KFold:1000 needs at least 1000 rows; there are 90."),
        ("--cv TimeSeriesSplit:90", "--cv TimeSeriesSplit:90 needs at least 91 rows; there are 90"),
        ("--groups batch --cv GroupKFold:50", "needs at least 50 groups; there are 15."),
        ("--groups all --cv LeaveOneGroupOut", "needs at least 2 groups; there are 1."),
        (
            "--cv StratifiedKFold:70",
            "does not suit classes of 30 to 60 rows (n_splits=70",
        ),
        (
            "--cv TimeSeriesSplit",
            "Fold 1 of --cv TimeSeriesSplit has no row of class usual to train on; use --cv Str",
        ),
        ("--groups kinds --cv LeaveOneGroupOut", "to train on; pass other --groups, or leave"),
        ("--target a --cv KFold:91", "--cv KFold:91 needs at least 91 rows; there are 90."),
    ],
)
def test_folds_that_are_impossible_are_told_before_the_search(command_line, options, sentence):
    data = folded().assign(kind=["rare"] * 30 + ["usual"] * 60)
    data["all"], data["kinds"] = 1, (data.kind == "rare").astype(int)
    data[["a", "b", "batch", "all", "kinds", "kind"]].to_csv("data.csv", index=False)
    code, _, err = command_line(f"tune data.csv {options}")
    assert code == 2
    assert sentence in err
    assert "Searching" not in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--cv 1", "--cv must be at least 2, the number of folds; got 1."),
        ("--cv KFold:x", "--cv must be at least 2, the number of folds; got x."),
        ("--cv KFold:", "--cv takes the number of folds, or one of KFold, StratifiedKFold"),
        ("--cv :5", "perhaps with one, KFold:10; got ':5'."),
        ("--cv StratifedKFold", "(did you mean 'StratifiedKFold'?); --cv takes the number of"),
        ("--cv GroupKFold", "--cv GroupKFold needs groups; pass --groups with their column."),
        ("--groups batch --cv KFold", "--cv KFold would part rows of one group; use GroupKFold,"),
        ("--groups batch --cv LeaveOneGroupOut:3", "as many folds as groups; leave out the number"),
        ("--target a --cv StratifiedKFold", "is for classes, and the target of data.csv is a"),
    ],
)
def test_folds_that_do_not_suit_are_told(command_line, options, sentence):
    folded().to_csv("data.csv", index=False)
    code, _, err = command_line(f"tune data.csv {options}")
    assert code == 2
    assert sentence in err


def test_equal_rows_can_leave_together(succeeding):
    data = unequal(60).round(1)
    again = pd.concat([data, data[:20]])
    again.to_csv("data.csv", index=False)
    succeeding("tune data.csv --groups duplicates --candidates 4 --quiet")
    numbers = again.groupby(["a", "b"], sort=False).ngroup()
    table = read_table("data.csv", roles=Roles(groups="duplicates"))
    assert table.groups.tolist() == [str(number) for number in numbers]
    assert f"80 rows have {numbers.max() + 1} different ones" in " ".join(table.notes)
    by_hand = again.assign(number=[f"n{number}" for number in numbers])
    by_hand[["a", "b", "number", "kind"]].to_csv("numbered.csv", index=False)
    succeeding("tune numbered.csv --groups number --candidates 4 --quiet")
    one, other = (
        json.loads(Path(f"{name}-tuned/report.json").read_text())["leave_one_out"]["error"]
        for name in ("data", "numbered")
    )
    assert one == other
    unequal(30).to_csv("different.csv", index=False)
    found = read_table("different.csv", roles=Roles(groups="duplicates"))
    assert found.groups is None
    assert "No two of the 30 rows are equal, so each is left out by itself." in found.notes


def test_rows_that_depend_on_their_neighbours_are_told_in_words_of_the_command(succeeding):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(300, 4)).cumsum(axis=0), columns=list("abcd"))
    data["kind"] = np.where(np.arange(300) // 40 % 2, "up", "down")
    data.to_csv("walk.csv", index=False)
    out, err = succeeding("tune walk.csv --candidates 6")
    assert out.startswith("Without the rows beside them in the file, about ")
    assert "DependentRowsWarning" not in err
    assert "groups=" not in err
    assert "Caution: Rows depend on those beside them in the file: if" in err
    steps = json.loads(Path("walk-tuned/report.json").read_text())["next_steps"]
    assert tells(steps[0]["text"], "--groups COLUMN", "--cv TimeSeriesSplit")
    data.sample(frac=1.0, random_state=0).to_csv("shuffled.csv", index=False)
    out, err = succeeding("tune shuffled.csv --candidates 6")
    assert out.startswith("About ")
    assert "beside them" not in err
    # In groups there are no neighbours.
    data.assign(block=[f"b{n // 50}" for n in range(300)]).to_csv("grouped.csv", index=False)
    out, err = succeeding("tune grouped.csv --target kind --groups block --candidates 6")
    assert "new rows of new groups" in out
    assert "beside them" not in err
