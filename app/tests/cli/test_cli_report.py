"""What ``spansvm tune`` hands to its report: the program that rebuilds the model, and test rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spansvm.models import load_model
from spansvm_app.tables import Schema, read_for_prediction

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
pytest.importorskip("yaml")


def customers(n_rows=160, seed=0):
    rng = np.random.default_rng(seed)
    bad = rng.random(n_rows) < 0.3
    data = pd.DataFrame(
        {
            "customer": [f"c{i}" for i in range(n_rows)],
            "age": rng.integers(18, 80, n_rows) + 8 * bad,
            "purpose": rng.choice(["car", "house", "tv"], n_rows),
            "duration": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(20 + 15 * bad, 9)),
            "weight": rng.uniform(0.5, 2.0, n_rows),
        }
    )
    data["risk"] = np.where(bad, "bad", "good")
    return data


@pytest.fixture
def run(succeeding):
    customers().to_csv("credit.csv", index=False, sep=";")
    customers(60, seed=1).to_csv("new.csv", index=False, sep=";")
    Path("grid.yaml").write_text("C: [1, 10]\ngamma: [0.1, auto]\n")
    return succeeding


@pytest.mark.parametrize("options", ["--weights weight --scale standard", "--drop weight"])
def test_the_program_of_the_report_makes_the_saved_model(run, options):
    run(f"tune credit.csv --id customer --impute median --search grid.yaml {options}")
    content = json.loads(Path("credit-tuned/report.json").read_text())
    space: dict = {}
    exec(content["recipe"]["code"], space)
    saved = load_model("credit-tuned/model.skops")
    rows = read_for_prediction("new.csv", Schema.from_json(saved.metadata["schema"])).X
    expected = saved.model.decision_function(rows)
    np.testing.assert_allclose(space["model"].decision_function(rows), expected, atol=1e-9)
    settings = content["recipe"]["steps"][-1]["settings"]
    assert isinstance(settings["gamma"], float)
    assert settings["kernel"] == "rbf"
    assert "SimpleImputer" in {step["what"] for step in content["recipe"]["steps"]}


def test_the_page_says_whether_the_test_rows_agree_with_the_search(run):
    run("tune credit.csv --id customer --impute median --search grid.yaml --test new.csv")
    content = json.loads(Path("credit-tuned/report.json").read_text())
    low, high = content["search"]["corrected"]["interval"]
    error = content["test"]["error"]
    where = "within" if low <= error <= high else "above" if error > high else "below"
    assert f"is {where} the 95% CI" in content["tested"]["findings"][0]
    page = Path("credit-tuned/report.html").read_text(encoding="utf-8")
    section = page.split('<section id="test">')[1].split("</section>")[0]
    assert "Confusion matrix of the test rows" in section
    assert sum(map(sum, content["tested"]["confusion"])) == 60


def test_the_finding_comes_first(run):
    out, _ = run("tune credit.csv --id customer --impute median --search grid.yaml")
    content = json.loads(Path("credit-tuned/report.json").read_text())
    assert out.startswith(f"{' '.join(content['headline'])}\n\nbest setting")
    assert "Always predicting 'good' misclassifies" in out
