"""The page for those who come from GridSearchCV has all that the installed scikit-learn has.

An argument, attribute or method that scikit-learn adds fails these tests until the page tells what
becomes of it.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.svm import SVC

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "coming-from-gridsearchcv.md"

STATES = {"same", "differs", "not there"}

#: What only some versions of scikit-learn have, besides the installed one.
OF_SOME_VERSIONS = {
    "set_callbacks",  # from 1.9 on
}

#: Arguments that ``fit`` of a search documents, or passes on, without naming them.
PASSED_ON = {"sample_weight", "groups"}


def tables():
    """The rows of every table with three columns, by the headings above it."""
    found, path = {}, ["", ""]
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"(##+) (.+)", line)
        row = re.match(r"\| `(\w+)` \| ([a-z ]+) \| ?(.*) ?\|$", line)
        if heading:
            level = len(heading[1]) - 2
            path = [*path[:level], heading[2], ""][:2]
        elif row:
            found.setdefault("/".join(part for part in path if part), {})[row[1]] = row[2]
    return found


TABLES = tables()


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def documented_attributes(kind):
    """Names in the section *Attributes* of a docstring."""
    text = inspect.getdoc(kind).split("Attributes\n----------\n")[1]
    text = re.split(r"\n\w[\w ]*\n-+\n", text)[0]
    return re.findall(r"^(\w+) :", text, flags=re.MULTILINE)


def methods(kind):
    """Public methods: plain ones, and those that only some estimators have."""
    kinds = ("_AvailableIfDescriptor", "RequestMethod")
    return [
        name
        for name in dir(kind)
        if not name.startswith("_")
        and (callable(found := inspect.getattr_static(kind, name)) or type(found).__name__ in kinds)
    ]


SEARCHES = (GridSearchCV, RandomizedSearchCV)

#: For each table, what scikit-learn has.
THEIRS = {
    "Arguments of a search": {name for kind in SEARCHES for name in arguments(kind.__init__)},
    "Arguments of fit": {name for kind in SEARCHES for name in arguments(kind.fit)} | PASSED_ON,
    "Attributes of a search": {name for kind in SEARCHES for name in documented_attributes(kind)},
    "Methods of a search": {name for kind in SEARCHES for name in methods(kind)},
    "SVC and SpanSVC/Arguments of SVC": set(arguments(SVC.__init__)),
    "SVC and SpanSVC/Arguments of fit": set(arguments(SVC.fit)),
    "SVC and SpanSVC/Attributes of SVC": set(documented_attributes(SVC)),
    "SVC and SpanSVC/Methods of SVC": set(methods(SVC)),
}


def test_the_tables_are_those_that_are_compared():
    assert set(TABLES) == set(THEIRS)
    assert {state for table in TABLES.values() for state in table.values()} <= STATES


@pytest.mark.parametrize("table", THEIRS)
def test_all_that_scikit_learn_has_is_on_the_page(table):
    assert THEIRS[table] - set(TABLES[table]) - OF_SOME_VERSIONS == set()


@pytest.mark.parametrize("table", THEIRS)
def test_nothing_is_on_the_page_that_scikit_learn_does_not_have(table):
    assert set(TABLES[table]) - THEIRS[table] - OF_SOME_VERSIONS == set()


@pytest.fixture(scope="module")
def fitted():
    """A search by folds and a machine, on a table with names, with all attributes."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    search = SpanSearch(SVC(), {"C": [1, 10]}, cv=2).fit(X, y)
    drawn = SpanRandomizedSearch(SpanSVC(), {"C": [1, 10]}, n_iter=2, cv=2).fit(X, y)
    return search, drawn, SpanSVC(kernel="linear").fit(X, y)


def known(table, *states):
    return sorted(name for name, state in TABLES[table].items() if state in states)


def test_arguments_on_the_page_are_there():
    ours = set(arguments(SpanSearch.__init__)) | set(arguments(SpanRandomizedSearch.__init__))
    assert set(known("Arguments of a search", "same", "differs")) <= ours
    for kind, others in ((SpanSearch, SEARCHES[:1]), (SpanRandomizedSearch, SEARCHES[1:])):
        their = {name for other in others for name in arguments(other.__init__)}
        assert their - set(known("Arguments of a search", "not there")) <= set(
            arguments(kind.__init__)
        )
    machine = "SVC and SpanSVC/"
    assert set(known(f"{machine}Arguments of SVC", "same", "differs")) <= set(
        arguments(SpanSVC.__init__)
    )
    assert set(known(f"{machine}Arguments of fit", "same", "differs")) <= set(
        arguments(SpanSVC.fit)
    )
    assert set(known("Arguments of fit", "same", "differs")) <= set(arguments(SpanSearch.fit))


@pytest.mark.parametrize("name", known("Attributes of a search", "same", "differs"))
def test_attributes_of_a_search_are_there(fitted, name):
    search, drawn, _ = fitted
    assert hasattr(search, name)
    assert hasattr(drawn, name)


@pytest.mark.parametrize("name", known("SVC and SpanSVC/Attributes of SVC", "same", "differs"))
def test_attributes_of_a_machine_are_there(fitted, name):
    assert hasattr(fitted[-1], name)


@pytest.mark.parametrize(
    ("table", "kind"),
    [("Methods of a search", 0), ("Methods of a search", 1), ("SVC and SpanSVC/Methods of SVC", 2)],
)
def test_methods_are_there_or_not_as_the_page_says(fitted, table, kind):
    theirs = (GridSearchCV, RandomizedSearchCV, SVC)[kind]
    for name, state in TABLES[table].items():
        if hasattr(theirs, name):
            assert hasattr(type(fitted[kind]), name) == (state != "not there"), name


def test_what_is_said_not_to_be_there_is_not_there(fitted):
    for name in known("SVC and SpanSVC/Attributes of SVC", "not there"):
        assert not hasattr(fitted[-1], name)


@pytest.mark.parametrize("name", arguments(SVC.__init__))
def test_defaults_of_the_machine_are_those_of_svc(name):
    """Except where scikit-learn deprecates an argument, and so has no default of its own."""
    if SVC().get_params()[name] != "deprecated":
        assert SpanSVC().get_params()[name] == SVC().get_params()[name]


@pytest.mark.parametrize("kinds", [(SpanSearch, GridSearchCV),
                                   (SpanRandomizedSearch, RandomizedSearchCV)])  # fmt: skip
def test_defaults_of_a_search_are_theirs(kinds):
    ours, theirs = (inspect.signature(kind.__init__).parameters for kind in kinds)
    for name, parameter in theirs.items():
        mine, yours = ours[name].default, parameter.default
        assert mine is yours or mine == yours or str(mine) == str(yours) == "nan", name


#: For the search and the reader of the code, not for users.
INNER = {"check_parameters", "hold", "leave_out"}


def own(kind, theirs):
    """Public names that a class of ours has and scikit-learn's does not, besides its arguments."""
    return {name for name in dir(kind) if not name.startswith("_")} - set(dir(theirs)) - INNER


def test_what_is_our_own_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    ours = {
        *arguments(SpanSearch.__init__), *arguments(SpanRandomizedSearch.__init__),
        *arguments(SpanSVC.__init__), *arguments(SpanSVC.fit), *arguments(SpanSearch.fit),
        *own(SpanSearch, GridSearchCV), *own(SpanRandomizedSearch, RandomizedSearchCV),
        *own(SpanSVC, SVC),
    }  # fmt: skip
    assert not [name for name in sorted(ours) if f"`{name}`" not in text]
