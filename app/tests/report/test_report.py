import json
import re
import sys
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.impute import SimpleImputer
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, analyze, find_label_issues
from spansvm.search import UnacceleratedWarning
from spansvm_app.report import Report, render_html, write_json, write_report

pytest.importorskip("jinja2", reason="jinja2 is not installed")

HOSTILE = "</script><script>window.hacked=1</script>"


def pipeline(**settings):
    return make_pipeline(MinMaxScaler(), SpanSVC(**settings))


def searched(X, y, grid, **options):
    named = {f"spansvc__{name}": values for name, values in grid.items()}
    return SpanSearch(pipeline(), named, **options).fit(X, y)


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    y = np.array(["malignant", "benign"])[data.target]
    search = searched(data.data, y, {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.1, 1]})
    return search, data.data, y


@pytest.fixture(scope="module")
def cancer_report(cancer):
    return Report.from_search(*cancer, title="Tumours", command="spansvm tune 'a b.csv'")


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    y = data.target_names[data.target]
    grid = {"C": [0.1, 1, 10], "gamma": [0.1, 1], "kernel": ["rbf", "poly"]}
    return searched(data.data, y, grid), data.data, y


def test_the_figures_are_those_of_the_selected_model(cancer, cancer_report):
    search, _, y = cancer
    model = search.best_estimator_[-1]
    figures = cancer_report.leave_one_out
    assert figures.error == pytest.approx(model.loo_error_)
    assert figures.interval[0] < figures.error < figures.interval[1]
    assert figures.majority_error == pytest.approx(212 / 569)
    assert figures.confusion == confusion_matrix(y, model.loo_predict_).tolist()
    auc = roc_auc_score(y == "malignant", model.loo_ranking_)
    assert figures.operations[0].auc == pytest.approx(auc)
    for index, label in enumerate(["benign", "malignant"]):
        counts = np.array(figures.margins.counts[index])
        negative = np.array(figures.margins.edges[:-1]) < -1e-12
        assert counts.sum() == (y == label).sum()
        assert counts[negative].sum() == figures.classes[index].n_errors
    assert sum(figures.calibration.n_rows) == 569


def test_trust_is_that_of_the_analysis(cancer, cancer_report):
    analysis = analyze(cancer[0].best_estimator_[-1])
    (pair,) = cancer_report.trust.pairs
    assert pair.n_in_bound == analysis.in_bound.sum()
    assert pair.n_trusted == analysis.trusted.sum()
    assert pair.n_empty == analysis.n_empty
    values = {one.name: one.value for one in cancer_report.trust.estimates}
    assert values["span_bound"] == pytest.approx(analysis.span_bound)
    assert f"{pair.n_trusted} of the {pair.n_support} support vectors" in (
        cancer_report.trust.verdict
    )


def test_suspicious_rows_are_those_of_find_label_issues_the_worst_first(cancer, cancer_report):
    search, X, y = cancer
    issues = find_label_issues(search)
    table = cancer_report.suspicious
    assert table.asked.startswith("the committee of the ")
    doubted = [one for one in table.rows if one.doubted]
    assert table.n_doubted == len(doubted) == issues.is_label_issue.sum() > 0
    worst_first = issues[issues.is_label_issue].sort_values("label_quality")
    assert [one.row for one in doubted] == worst_first.index.tolist()
    assert table.rows[: len(doubted)] == doubted
    others = issues[~issues.is_label_issue & (issues.given_label != issues.predicted_label)]
    contradicted = [one.row for one in table.rows if one.label != one.predicted]
    assert contradicted[len(doubted) :] == others.sort_values("label_quality").index.tolist()
    assert table.n_contradicted == len(contradicted)
    worst = table.rows[0]
    assert (worst.label, worst.probability) == (y[worst.row], issues.label_quality[worst.row])
    assert worst.margin == search.best_estimator_[-1].loo_margin_[worst.row]
    shown = cancer_report.suspicious.features
    assert worst.features == X[shown].iloc[worst.row].tolist()

    def unexplained(name):
        """The variance of the labels within tenths of a feature's values."""
        tenths = pd.qcut(X[name], 10, labels=False).to_numpy()
        return sum(np.var(y[tenths == k] == "benign") * (tenths == k).sum() for k in range(10))

    assert shown == sorted(X, key=unexplained)[: len(shown)]


def test_a_doubted_row_stands_beside_those_that_contradict_and_those_that_agree(
    cancer, cancer_report
):
    search, X, _ = cancer
    issues, shown = find_label_issues(search), cancer_report.suspicious.features
    page = render_html(cancer_report)
    for one in cancer_report.suspicious.rows:
        if not one.doubted:
            assert one.contradicted_by == one.agreeing == []
            continue
        assert [own.row for own in one.contradicted_by] == issues.contradicted_by[one.row]
        assert {own.label for own in one.contradicted_by} <= {one.predicted}
        assert {own.label for own in one.agreeing} <= {one.label}
        assert one.row not in [own.row for own in one.agreeing]
        for own in (*one.contradicted_by, *one.agreeing):
            assert own.features == X[shown].iloc[own.row].tolist()
            assert own.influence > 0.0
        assert f"Row {one.row_id}: labelled {one.label}, predicted {one.predicted}" in page


def test_a_committee_is_not_asked_where_it_takes_long(cancer):
    _, X, y = cancer
    often = SpanSearch(pipeline(), {"spansvc__C": np.geomspace(1, 10, 500)}).fit(X, y)
    assert Report.from_search(often, X, y).suspicious.asked == "the selected model"
    one = SpanSearch(pipeline(), {"spansvc__C": [1]}).fit(X, y)
    assert Report.from_search(one, X, y).suspicious.asked == "the selected model"


def test_where_nothing_can_be_said_about_labels_no_row_is_listed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % 2
    search = SpanSearch(SpanSVC(), {"C": [1.0, 10.0]}).fit(X, y)
    suspicious = Report.from_search(search, X, y).suspicious
    assert suspicious.rows == []
    assert "Nothing can be said about single labels" in suspicious.explanation


def test_every_candidate_and_its_estimates_are_there(cancer, cancer_report):
    results, found = cancer[0].cv_results_, cancer_report.search
    assert found.scores["accuracy"] == results["mean_test_score"].tolist()
    assert found.estimates["n_bounded"] == results["n_bounded"].tolist()
    assert (found.chart, [found.axes[i].name for i in found.shown]) == ("heat map", ["C", "gamma"])
    assert all(axis.logarithmic for axis in found.axes)
    for index, params in enumerate(results["params"]):
        C = found.axes[0]
        assert C.positions[C.codes[index]] == params["spansvc__C"]


def test_the_page_says_what_was_found(cancer_report):
    page = render_html(cancer_report)
    assert f'<p class="setting">{cancer_report.setting}</p>' in page
    assert cancer_report.setting == "C = 10, gamma = 1"
    assert f"{100 * cancer_report.leave_one_out.error:.1f}%" in page
    assert "spansvm tune &#39;a b.csv&#39;" in page
    assert len(re.findall(r'class="mark"', page)) == 12
    assert page.count('class="star"') == 1


def test_the_page_loads_nothing(cancer_report):
    page = render_html(cancer_report)
    # Links lead to sections of the page itself.
    assert re.findall(r"\b(?:src|href|action)=[^#\s]{3,}\S*", page) == ['href="data:,">']
    links = set(re.findall(r'href="#([^"]*)"', page))
    assert links == set(re.findall(r'<section id="([\w-]+)">\s*<h2>', page))
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    assert "default-src &#39;none&#39;" in page


def test_the_json_is_the_report(cancer_report):
    content = json.loads(cancer_report.to_json())
    assert content["title"] == "Tumours"
    assert content["summary"]["loo_error"] == cancer_report.leave_one_out.error
    assert content["best_params"] == {"spansvc__C": 10, "spansvc__gamma": 1}
    assert len(content["search"]["scores"]["accuracy"]) == 12
    with pytest.raises(FrozenInstanceError):
        cancer_report.title = "other"


def test_files_are_replaced_as_a_whole(cancer_report, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk")))
        with pytest.raises(OSError, match="disk"):
            write_report(cancer_report, path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "before"
    write_report(cancer_report, path)
    write_json(cancer_report, tmp_path / "report.json")
    assert path.read_text(encoding="utf-8") == render_html(cancer_report)
    assert json.loads((tmp_path / "report.json").read_text())["title"] == "Tumours"


def test_more_classes_have_trust_for_every_pair_and_a_selector_for_other_axes(wine):
    search, X, y = wine
    report = Report.from_search(search, X, y)
    assert [pair.classes for pair in report.trust.pairs] == [
        ["class_0", "class_1"], ["class_0", "class_2"], ["class_1", "class_2"],
    ]  # fmt: skip
    in_bound = sum(pair.n_in_bound for pair in report.trust.pairs)
    assert in_bound == search.cv_results_["n_in_bound"][search.best_index_]
    assert len(report.leave_one_out.operations) == 3
    assert report.trust.estimates == []
    page = render_html(report)
    assert len(re.findall(r'class="mark"', page)) == 6
    assert '<select data-axis="2">' in page
    assert "Each position shows the best score over kernel" in page


def test_failed_candidates_are_counted_and_grey(cancer):
    _, X, y = cancer
    with pytest.warns(FitFailedWarning):
        search = searched(X, y, {"C": [-1.0, 1.0, 10.0]})
    report = Report.from_search(search, X, y)
    assert (report.search.n_failed, report.search.chart) == (1, "curves")
    assert report.search.scores["accuracy"][0] is None
    page = render_html(report)
    assert page.count('class="mark failed"') == 1
    assert "1 failed" in page
    assert json.loads(report.to_json())["search"]["scores"]["accuracy"][0] is None


def test_ties_are_said(cancer):
    _, X, y = cancer
    report = Report.from_search(searched(X, y, {"C": [1.0, 1.0 + 1e-12]}, ties="first"), X, y)
    assert report.search.n_tied == 2
    assert "2 candidates share the best score; chosen by “first”" in render_html(report)


def test_a_selected_value_at_the_edge_of_its_range_is_said(cancer_report):
    # gamma = 1 is the last value of gamma; C = 10 is neither the first nor the last of C.
    assert cancer_report.search.at_edge == ["gamma"]
    assert "Selected at the edge of its range: gamma." in render_html(cancer_report)


def test_axes_without_numbers_are_ranked_bars(cancer):
    _, X, y = cancer
    search = searched(X, y, {"kernel": ["rbf", "linear"], "class_weight": [None, "balanced"]})
    report = Report.from_search(search, X, y)
    assert report.search.chart == "bars"
    scores = report.search.selecting_scores[report.search.ranking()]
    assert (np.diff(scores) <= 0).all()
    assert report.search.ranking()[0] == search.best_index_
    assert f"{report.setting} ★</text>" in render_html(report)
    assert len(re.findall(r'class="mark series0"', render_html(report))) == 4


def test_candidates_off_a_grid_are_points(cancer):
    _, X, y = cancer
    rng = np.random.default_rng(0)
    candidates = [
        {"spansvc__C": float(10**c), "spansvc__gamma": float(10**g)}
        for c, g in rng.uniform(-2, 1, (9, 2))
    ]
    report = Report.from_search(SpanSearch(pipeline(), candidates).fit(X, y), X, y)
    assert report.search.chart == "points"
    assert len(re.findall(r'<circle class="mark"', render_html(report))) == 9


def test_text_of_the_data_stays_text(cancer):
    _, X, y = cancer
    X, y = X.iloc[:, :3].copy(), np.where(y == "benign", HOSTILE, '"><img src=x onerror=alert(1)>')
    X.columns = [HOSTILE, "a & b", "'\u2028"]
    search = searched(X, y, {"C": [1, 10]})
    ids = [f"<b>{HOSTILE}{i}" for i in range(len(X))]
    report = Report.from_search(
        search, X, y, row_ids=ids, title=HOSTILE, command=HOSTILE, notes=[HOSTILE],
        test={HOSTILE: HOSTILE},
    )  # fmt: skip
    page = render_html(report)
    assert "<script>window" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert page.count("<script") == page.count("</script") == 2
    embedded = page.split('id="candidates">')[1].split("</script>")[0]
    assert not set("<>&\u2028") & set(embedded)
    assert json.loads(embedded)["best"] == search.best_index_


def test_text_that_is_no_unicode_can_be_written(cancer, tmp_path):
    report = Report.from_search(*cancer, title="caf\udce9")
    write_report(report, tmp_path / "report.html")
    write_json(report, tmp_path / "report.json")
    assert "caf\\udce9" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_sparse_rows_and_test_scores_are_shown():
    X, y = load_breast_cancer(return_X_y=True)
    X = sparse.csr_matrix(X)
    search = SpanSearch(make_pipeline(MaxAbsScaler(), SpanSVC()), {"spansvc__C": [1, 10]})
    test = {"error": 0.05, "n_rows": 100, "roc_auc": 0.99}
    report = Report.from_search(search.fit(X, y), X, y, test=test)
    first = report.suspicious.rows[0]
    column = int(report.suspicious.features[0][1:])
    assert first.features[0] == X[first.row, column]
    page = render_html(report)
    assert "95% CI 2.2% to 11.2%" in page
    assert "<dt>area under the ROC curve</dt><dd>0.99</dd>" in page


def test_rows_of_no_weight_are_not_counted(cancer):
    _, X, y = cancer
    weight = np.ones(y.size)
    weight[:40] = 0
    search = SpanSearch(pipeline(), {"spansvc__C": [1, 10]}).fit(X, y, sample_weight=weight)
    report = Report.from_search(search, X, y)
    assert report.leave_one_out.n_rows == y.size - 40
    assert min(one.row for one in report.suspicious.rows) >= 40
    assert sum(map(sum, report.leave_one_out.confusion)) == y.size - 40


def test_text_columns_and_missing_values_are_shown_as_they_are(cancer):
    _, X, y = cancer
    frame = pd.DataFrame(
        {"radius": X["mean radius"].where(np.arange(len(X)) % 2 == 0), "site": ["left"] * len(X)}
    )
    steps = make_column_transformer((SimpleImputer(), ["radius"]), (OneHotEncoder(), ["site"]))
    search = SpanSearch(make_pipeline(steps, SpanSVC()), {"spansvc__C": [1, 10]}).fit(frame, y)
    rows = Report.from_search(search, frame, y).suspicious.rows
    assert {one.features[1] for one in rows} == {"left"}
    for one in rows:
        expected = frame["radius"][one.row]
        assert one.features[0] == (None if np.isnan(expected) else expected)


def test_cautions_are_said_where_there_is_little_to_learn_from():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = searched(X, y, {"C": [0.01, 0.1]})
    report = Report.from_search(search, X, y)
    assert any("only 40 rows" in caution for caution in report.cautions)
    assert any("hardly better" in caution for caution in report.cautions)
    assert report.trust.doubts == []


def test_an_error_that_is_only_predicted_is_said_to_be():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(1100) > 0).astype(int)
    search = searched(X, y, {"C": [1.0]}, gram_budget=1000)
    report = Report.from_search(search, X, y)
    assert any("does not fit into the memory" in doubt for doubt in report.trust.doubts)
    assert "It is a prediction of the span-rule" in render_html(report)


def test_what_does_not_fit_is_refused(cancer):
    search, X, y = cancer
    with pytest.raises(ValueError, match="569 rows; X has 568"):
        Report.from_search(search, X[1:], y)
    with pytest.raises(ValueError, match="labels that the search was fitted on"):
        Report.from_search(search, X, y[::-1])
    with pytest.raises(ValueError, match="row_ids must have one entry for each of 569 rows; got 2"):
        Report.from_search(search, X, y, row_ids=["a", "b"])
    with pytest.raises(ValueError, match="feature_names must have one entry for each of 30"):
        Report.from_search(search, X, y, feature_names=["a"])
    inner = SpanSearch(OneVsRestClassifier(SpanSVC()), {"estimator__C": [1, 10]}).fit(
        X[:80], y[:80]
    )
    with pytest.raises(TypeError, match="within OneVsRestClassifier, which trains copies"):
        Report.from_search(inner, X[:80], y[:80])
    inner.set_params(estimator=OneVsRestClassifier(SVC())).fit(X[:80], y[:80])
    with pytest.raises(TypeError, match="got SVC within another class"):
        Report.from_search(inner, X[:80], y[:80])
    bare = SpanSearch(pipeline(), {"spansvc__C": [1, 10]}, refit=False).fit(X, y)
    with pytest.raises(ValueError, match="refit=True"):
        Report.from_search(bare, X, y)


def test_features_that_nothing_scales_are_a_caution():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X["proline"] *= 100
    bare = SpanSearch(SpanSVC(), {"C": [1, 10]}).fit(X, y)
    cautions = Report.from_search(bare, X, y, analyses=False).cautions
    told = r"Features differ in scale.*: proline has .*, \w+ one of 0\.\d+\. The kernel"
    assert [caution for caution in cautions if re.match(told, caution)]
    scaled = SpanSearch(make_pipeline(MinMaxScaler(), SpanSVC()), {"spansvc__C": [1]}).fit(X, y)
    assert not [
        caution
        for caution in Report.from_search(scaled, X, y, analyses=False).cautions
        if "scale" in caution
    ]


@pytest.mark.parametrize(("n_labels", "said"), [(20, True), (10, False)])
def test_labels_that_look_like_a_quantity_are_a_caution(n_labels, said):
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_labels
    X = y[:, None] + rng.standard_normal((60, 2))
    search = SpanSearch(SpanSVC(), {"C": [1.0]})
    for labels in (y, y.astype(str)):
        search.fit(X, labels)
        cautions = Report.from_search(search, X, labels, analyses=False).cautions
        found = [caution for caution in cautions if "this is a regression" in caution]
        assert len(found) == (said and labels is y)


def test_a_search_over_an_svc_has_the_report_of_the_same_model(cancer):
    _, X, y = cancer
    X, y = X[:200], y[:200]
    grid = {"C": [1, 10], "gamma": [0.1, 1]}
    reports = []
    for machine in (SVC(tol=1e-6), SpanSVC(tol=1e-6)):
        name = type(machine).__name__.lower()
        search = SpanSearch(
            make_pipeline(MinMaxScaler(), machine), {f"{name}__{k}": v for k, v in grid.items()}
        ).fit(X, y)
        _ = search.corrected_score_
        reports.append(Report.from_search(search, X, y))
        assert type(search.best_estimator_[-1]) is type(machine)
        assert type(search.estimator[-1]) is type(machine)
    ours, theirs = (report.summary for report in reports)
    for name in ("loo_error", "corrected_error", "n_support", "n_in_bound", "n_suspicious"):
        assert ours[name] == theirs[name], name
    assert "leave-one-out" in render_html(reports[0])


def test_a_report_of_another_svc_is_refused(cancer):
    _, X, y = cancer
    X, y = X[:100], y[:100]
    plain = SpanSearch(SVC(), {"C": [1, 10]})
    weighted = clone(plain).fit(X, y, sample_weight=np.where(y == y[0], 0.01, 1.0))
    with pytest.raises(ValueError, match="sample_weight, which an SVC does not keep"):
        Report.from_search(weighted, X, y)
    with pytest.raises(ValueError, match="it had 100 rows; X has 99"):
        Report.from_search(clone(plain).fit(X, y), X[1:], y[1:])
    grouped = clone(plain).fit(X, y, groups=np.arange(100) // 5)
    with pytest.raises(ValueError, match="does not keep the groups"):
        Report.from_search(grouped, X, y)
    with pytest.warns(UnacceleratedWarning):
        forest = SpanSearch(RandomForestClassifier(3), {"max_depth": [1, 2]}).fit(X, y)
    with pytest.raises(TypeError, match="by scikit-learn, and selected RandomForestClassifier"):
        Report.from_search(forest, X, y)


def test_without_jinja2_the_error_says_what_to_install(cancer_report, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "spansvm\[cli\]"'):
        render_html(cancer_report)


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ({"method": "kfold"}, "accuracy"),
        ({"method": "kfold", "scoring": "roc_auc"}, "roc_auc"),
        ({"method": "loo"}, "accuracy"),
        ({"method": "span_bound"}, "1 \N{MINUS SIGN} span_bound"),
        ({"scoring": "roc_auc"}, "roc_auc"),
        ({"scoring": ["roc_auc", "f1_macro"], "refit": "f1_macro"}, "f1_macro"),
    ],
)
def test_every_way_to_judge_has_a_report(cancer, options, score):
    _, X, y = cancer
    X, y = X[::4], y[::4]
    search = searched(X, y, {"C": [1, 10]}, **options)
    report = Report.from_search(search, X, y)
    assert report.summary["score_name"] == score
    assert report.summary["score"] == search.best_score_
    assert report.leave_one_out.error == pytest.approx(search.best_estimator_[-1].loo_error_)
    headline = {"kfold": "cross-validation error", "loo": "leave-one-out error"}
    shown = headline[options["method"]] if score == "accuracy" else score
    assert f'<span class="what">{shown}</span>' in render_html(report)


def test_a_given_gram_matrix_has_no_features_to_show(cancer):
    _, X, y = cancer
    rows = MinMaxScaler().fit_transform(X)
    gram = rows @ rows.T
    search = SpanSearch(SpanSVC(kernel="precomputed"), {"C": [1, 10]}).fit(gram, y)
    report = Report.from_search(search, gram, y)
    assert report.suspicious.features == []
    assert "Shown: no features" in render_html(report)


def test_ten_classes_have_no_tangle_of_curves():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    report = Report.from_search(searched(X, y, {"gamma": [0.1, 1]}), X, y)
    assert report.leave_one_out.operations == []
    assert len(report.trust.pairs) == 45
    assert "<h3>ROC</h3>" not in render_html(report)


def test_a_thousand_candidates_make_no_large_page():
    X, y = load_wine(return_X_y=True)
    values = 2.0 ** np.arange(-6, 10.5, 0.5)
    X, y = X[:130], y[:130]
    report = Report.from_search(searched(X, y, {"C": values, "gamma": values / 64}), X, y)
    page = render_html(report)
    assert len(re.findall(r'class="mark"', page)) == 1089
    assert len(page.encode()) < 500_000
