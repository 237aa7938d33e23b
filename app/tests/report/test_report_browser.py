"""The report in a real browser: headless Chromium."""

import shutil

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from spansvm import SpanSearch, SpanSVC
from spansvm_app.report import Report, write_report

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("selenium", reason="selenium is not installed")

from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

SCRIPT = "</script><script>window.hacked=1</script>"
IMAGE = '"><img src=x onerror=window.hacked=1>'


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver_path = shutil.which("chromedriver")
    if chromium is None or driver_path is None:
        pytest.skip("chromium and chromedriver were not found on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    yield driver
    driver.quit()


def many_classes():
    """24 classes with names, and some errors."""
    rng = np.random.default_rng(0)
    y = np.arange(360) % 24
    X = 2.0 * rng.normal(size=(24, 6))[y] + rng.normal(size=(360, 6))
    return X, np.array([f"a species with number {label:02d}" for label in y])


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """For each kind of page its file."""
    folder = tmp_path_factory.mktemp("pages")

    def written(name, X, y, grid, scoring=None, **options):
        named = {f"spansvc__{key}": values for key, values in grid.items()}
        model = make_pipeline(MinMaxScaler(), SpanSVC())
        search = SpanSearch(model, named, scoring=scoring).fit(X, y)
        report = Report.from_search(search, X, y, **options)
        path = folder / f"{name}.html"
        write_report(report, path)
        return path, report

    cancer, wine = load_breast_cancer(as_frame=True), load_wine()
    C = [0.1, 1, 10, 100]
    hostile = cancer.data.iloc[:, :4].copy()
    hostile.columns = [SCRIPT, IMAGE, "javascript:alert(1)", "{{ 7 * 7 }}"]
    weights = [{f"a species with number {label:02d}": 2.5 for label in range(9)}, None]
    ids = [f"{SCRIPT}{IMAGE}{row}" for row in range(len(hostile))]
    return {
        "plane": written("plane", cancer.data, cancer.target, {"C": C, "gamma": [0.01, 0.1, 1]}),
        "selector": written(
            "selector", wine.data, wine.target,
            {"C": C, "gamma": [0.1, 1], "kernel": ["rbf", "poly"]},
        ),
        "scored": written(
            "scored", cancer.data, cancer.target_names[cancer.target],
            {"C": C, "gamma": [0.01, 0.1, 1]}, "balanced_accuracy",
        ),
        "curve": written("curve", cancer.data, cancer.target, {"C": C}),
        "bars": written("bars", wine.data, wine.target, {"kernel": ["rbf", "linear"]}),
        "many": written(
            "many", *many_classes(), {"C": [1.0, 10.0], "gamma": [0.1, 1], "class_weight": weights}
        ),
        "hostile": written(
            "hostile", hostile, np.where(cancer.target == 1, SCRIPT, IMAGE), {"C": C},
            row_ids=ids, title=SCRIPT, command=IMAGE, notes=[SCRIPT, IMAGE], test={IMAGE: SCRIPT},
        ),
    }  # fmt: skip


def opened(browser, pages, name):
    path, report = pages[name]
    browser.get_log("browser")
    browser.get(path.as_uri())
    return report


def tip(browser):
    element = browser.find_element(By.ID, "tip")
    return element.text if element.is_displayed() else None


def mark(browser, candidate):
    return browser.find_element(By.CSS_SELECTOR, f".mark[data-candidate='{candidate}']")


def suspicious_column(browser, index):
    cells = browser.find_elements(By.CSS_SELECTOR, f".sortable tbody td:nth-child({index})")
    return [cell.text for cell in cells]


def at_width(browser, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.mark.parametrize("name", ["plane", "selector", "curve", "bars", "many", "hostile"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_loads_without_errors_and_is_not_wider_than_the_screen(browser, pages, name, width):
    at_width(browser, width)
    try:
        opened(browser, pages, name)
        assert browser.get_log("browser") == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


#: Whatever is drawn beyond the edge of the screen, and is not in a table that can be scrolled.
OUTSIDE = """
const width = document.documentElement.clientWidth, found = [];
for (const element of document.querySelectorAll("main *")) {
  const box = element.getBoundingClientRect();
  if (element.closest(".scroll") || !box.width) continue;
  if (box.left < -1 || box.right > width + 1) found.push(element.outerHTML.slice(0, 90));
}
return found"""


#: How many rows of the table of suspicious rows are displayed.
SHOWN_ROWS = """
const rows = [...document.querySelectorAll(".sortable tbody tr")];
return rows.filter((row) => row.offsetHeight).length"""


@pytest.mark.parametrize("name", ["plane", "scored", "selector", "many"])
def test_nothing_is_clipped_on_a_phone(browser, pages, name):
    at_width(browser, 390)
    try:
        opened(browser, pages, name)
        for fold in browser.find_elements(By.CSS_SELECTOR, "details"):
            browser.execute_script("arguments[0].open = true", fold)
        assert browser.execute_script(OUTSIDE) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_of_24_classes_is_not_much_higher_than_one_of_two(browser, pages, width):
    heights = []
    at_width(browser, width)
    try:
        for name in ("plane", "many"):
            report = opened(browser, pages, name)
            heights.append(browser.execute_script("return document.documentElement.scrollHeight"))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(report.trust.pairs) == 276
    assert heights[1] < 1.5 * heights[0]


def test_a_long_table_shows_its_first_rows_until_all_are_asked_for(browser, pages):
    report = opened(browser, pages, "many")
    rows = [str(one.row_id) for one in report.suspicious.rows]
    assert len(rows) > 10
    assert browser.execute_script(SHOWN_ROWS) == 10
    browser.find_element(By.CSS_SELECTOR, ".sortable th button").click()
    assert browser.execute_script(SHOWN_ROWS) == 10
    by_row = sorted(rows, key=int)
    assert suspicious_column(browser, 1)[:10] == by_row[:10]
    browser.find_element(By.CSS_SELECTOR, ".more-rows").click()
    assert suspicious_column(browser, 1) == by_row
    assert browser.find_elements(By.CSS_SELECTOR, ".more-rows") == []


def test_on_paper_a_long_table_is_whole(browser, pages):
    report = opened(browser, pages, "many")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        shown = browser.execute_script(SHOWN_ROWS)
        assert shown == len(report.suspicious.rows)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("width", [1100, 390])
def test_the_name_of_the_score_is_beside_the_heat_map(browser, pages, width):
    at_width(browser, width)
    try:
        opened(browser, pages, "scored")
        names = browser.find_elements(By.CSS_SELECTOR, "#search-chart text.name")
        (name,) = (one for one in names if one.text == "balanced_accuracy")
        foot = name.rect["y"] + name.rect["height"]
        marks = browser.find_elements(By.CSS_SELECTOR, "#search-chart .mark")
        assert foot <= min(one.rect["y"] for one in marks)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_name_of_a_class_is_on_one_line_at_the_width_of_a_laptop(browser, pages):
    at_width(browser, 1100)
    try:
        opened(browser, pages, "scored")
        cells = browser.find_elements(By.CSS_SELECTOR, "#margins tbody td:first-child")
        script = (
            "const range = document.createRange(); range.selectNodeContents(arguments[0]);"
            "return range.getClientRects().length"
        )
        assert [cell.text for cell in cells] == ["benign", "malignant"]
        assert [browser.execute_script(script, cell) for cell in cells] == [1, 1]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("name", ["plane", "curve", "bars"])
def test_hovering_shows_the_estimates_of_the_candidate(browser, pages, name):
    report = opened(browser, pages, name)
    assert tip(browser) is None
    candidate = 1
    ActionChains(browser).move_to_element(mark(browser, candidate)).perform()
    text = tip(browser)
    assert report.search.setting(candidate) in text
    score = report.search.scores["accuracy"][candidate]
    assert f"accuracy\n{score:.4g}" in text
    for label in ("leave-one-out error", "hinge loss", "in-bound", "bounded", "empty"):
        assert label in text
    heading = browser.find_element(By.TAG_NAME, "h1")
    ActionChains(browser).move_to_element(heading).perform()
    assert tip(browser) is None


def test_hovering_over_a_bar_of_the_margins_shows_how_many_rows_it_has(browser, pages):
    opened(browser, pages, "plane")
    bars = browser.find_elements(By.CSS_SELECTOR, "#margins rect.tipped")
    tallest = max(bars, key=lambda bar: bar.size["height"])
    ActionChains(browser).move_to_element(tallest).perform()
    assert "margin" in tip(browser)
    assert tip(browser).endswith("rows")


def test_arrow_keys_go_from_candidate_to_candidate(browser, pages):
    report = opened(browser, pages, "plane")
    best = report.search.best_index
    mark(browser, best).send_keys(Keys.ARROW_LEFT)
    C, gamma = report.search.axes
    focused = int(browser.switch_to.active_element.get_attribute("data-candidate"))
    assert C.codes[focused] == C.codes[best] - 1
    assert gamma.codes[focused] == gamma.codes[best]
    assert report.search.setting(focused) in tip(browser)
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert tip(browser) is None


def test_the_table_sorts_by_every_column(browser, pages):
    report = opened(browser, pages, "plane")
    rows = report.suspicious.rows
    buttons = browser.find_elements(By.CSS_SELECTOR, ".sortable th button")
    assert len(buttons) == 5 + len(report.suspicious.features)
    worst_first = [str(one.row_id) for one in rows]
    assert [cell for cell in suspicious_column(browser, 1) if cell] == worst_first[:10]
    browser.find_element(By.CLASS_NAME, "more-rows").click()
    assert suspicious_column(browser, 1) == worst_first
    buttons[3].click()
    assert suspicious_column(browser, 1) == worst_first[::-1]
    buttons[0].click()
    assert suspicious_column(browser, 1) == sorted(worst_first, key=int)
    rows = sorted(rows, key=lambda one: int(one.row_id))
    for index in range(len(report.suspicious.features)):
        buttons[5 + index].click()
        rows = sorted(rows, key=lambda one: one.features[index])  # equal ones stay in order
        assert suspicious_column(browser, 1) == [str(one.row_id) for one in rows]
    header = buttons[-1].find_element(By.XPATH, "..")
    assert header.get_attribute("aria-sort") == "ascending"


def test_a_selector_fixes_another_axis(browser, pages):
    report = opened(browser, pages, "selector")
    kernel = report.search.axes[2]
    Select(browser.find_element(By.CSS_SELECTOR, "select")).select_by_visible_text("poly")
    marks = browser.find_elements(By.CSS_SELECTOR, "#search-chart .mark")
    shown = [int(one.get_attribute("data-candidate")) for one in marks]
    assert len(shown) == 8
    assert {kernel.labels[kernel.codes[candidate]] for candidate in shown} == {"poly"}


def test_text_of_the_data_executes_nothing(browser, pages):
    report = opened(browser, pages, "hostile")
    assert browser.execute_script("return window.hacked") is None
    assert browser.title == SCRIPT
    headings = [
        button.get_attribute("textContent")
        for button in browser.find_elements(By.CSS_SELECTOR, ".sortable th button")
    ]
    assert headings[5:] == report.suspicious.features
    assert SCRIPT in headings
    assert "{{ 7 * 7 }}" in headings
    for element in browser.find_elements(By.CSS_SELECTOR, ".mark, .tipped")[:12]:
        ActionChains(browser).move_to_element(element).perform()
    browser.find_element(By.CSS_SELECTOR, ".sortable th button").click()
    assert browser.find_elements(By.TAG_NAME, "img") == []
    assert browser.execute_script("return window.hacked") is None
    assert browser.get_log("browser") == []


def test_the_policy_stops_a_script_that_got_in(browser, pages, tmp_path):
    path, _ = pages["plane"]
    page = path.read_text(encoding="utf-8")
    spoiled = tmp_path / "spoiled.html"
    spoiled.write_text(page.replace("<main>", "<main><script>window.hacked=1</script>"), "utf-8")
    browser.get(spoiled.as_uri())
    assert browser.execute_script("return window.hacked") is None
    assert "Content Security Policy" in browser.get_log("browser")[0]["message"]


def test_dark_and_light_follow_the_reader(browser, pages):
    backgrounds = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        opened(browser, pages, "plane")
        script = "return getComputedStyle(document.body).backgroundColor"
        backgrounds.append(browser.execute_script(script))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert backgrounds == ["rgb(251, 250, 248)", "rgb(20, 23, 26)"]


def test_without_scripts_everything_but_hovering_is_there(browser, pages):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        report = opened(browser, pages, "plane")
        assert len(browser.find_elements(By.CSS_SELECTOR, "#search-chart .mark")) == 12
        assert suspicious_column(browser, 1) == [str(one.row_id) for one in report.suspicious.rows]
        assert browser.find_elements(By.CSS_SELECTOR, ".sortable th button") == []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def cost_figures(browser):
    """The words of the slider, its figures by name, and where the marker is."""
    names = browser.find_elements(By.CSS_SELECTOR, "#cost-figures dt")
    values = browser.find_elements(By.CSS_SELECTOR, "#cost-figures dd")
    figures = {name.text: value.text for name, value in zip(names, values, strict=True)}
    marker = browser.find_element(By.ID, "cost-marker")
    return (
        browser.find_element(By.ID, "cost-words").text,
        figures,
        float(marker.get_attribute("x1")),
    )


def test_the_slider_of_costs_moves_the_threshold(browser, pages):
    report = opened(browser, pages, "scored")
    costs = report.analyses.decisions.costs
    slider = browser.find_element(By.ID, "cost-ratio")
    words, figures, middle = cost_figures(browser)
    assert words == "A missed 'malignant' costs as much as a false alarm"
    assert figures["threshold"] == "50.0%"
    for _ in range(10):
        slider.send_keys(Keys.ARROW_RIGHT)
    words, figures, right = cost_figures(browser)
    step = costs.steps[30]
    assert words == "A missed 'malignant' costs as much as 10 false alarms"
    assert slider.get_attribute("aria-valuetext") == words
    assert figures["threshold"] == f"{100 / 11:.1f}%"
    assert figures["decision value"] == f"at least {step.decision:.3g}".replace(
        "-", "\N{MINUS SIGN}"
    )
    assert figures["missed"] == f"{step.n_missed} of 212 ({100 * step.missed:.1f}%)"
    assert figures["false alarms"] == f"{step.n_alarms} of 357 ({100 * step.alarms:.1f}%)"
    assert float(figures["cost of 100 rows"]) == pytest.approx(100 * step.cost, rel=0.01)
    slider.send_keys(Keys.HOME)
    words, _, left = cost_figures(browser)
    assert words == "A false alarm costs as much as 100 missed 'malignant'"
    assert left < middle < right
    assert not browser.find_element(By.CSS_SELECTOR, "#cost-table tbody").is_displayed()
    assert browser.get_log("browser") == []


def test_without_scripts_costs_are_a_table(browser, pages):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        report = opened(browser, pages, "scored")
        assert not browser.find_element(By.ID, "cost-ratio").is_displayed()
        rows = browser.find_elements(By.CSS_SELECTOR, "#cost-table tbody tr")
        cells = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows]
        assert [row[0] for row in cells] == ["1/10", "1/5", "1/2", "1", "2", "5", "10", "20", "50"]
        missed = [step.n_missed for step in report.analyses.decisions.costs.steps]
        assert [row[3].split(" of ")[0] for row in cells][3] == str(missed[20])
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_hovering_over_a_feature_shows_its_influence(browser, pages):
    report = opened(browser, pages, "plane")
    bar = browser.find_element(By.CSS_SELECTOR, "#features rect.tipped")
    ActionChains(browser).move_to_element(bar).perform()
    assert tip(browser).startswith(report.analyses.influence.features[0].name)
    assert "interval" in tip(browser)
