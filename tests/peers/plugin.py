"""The pytest plugin that runs scikit-learn's tests against our classes.

A test is *of no concern*, and skipped with the reason, if it uses none of our classes.  Every
other test passes, or is in the list of ``expected`` failures.  A test that fails and is not in the
list, one that is in the list and passes or is of no concern, and an entry of the list without a
test: each fails the run.
"""

from __future__ import annotations

import importlib
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sklearn

from .expected import EXPECTED, VERSION
from .stand_ins import SUBSTITUTES, USES

OF_NO_CONCERN = "of no concern"


@contextmanager
def substituted(name: str) -> Iterator[None]:
    """Our classes in the place of scikit-learn's, for the import of a test module."""
    before = []
    for home, attribute, ours in SUBSTITUTES.get(name, ()):
        module = importlib.import_module(home)
        before.append((module, attribute, getattr(module, attribute)))
        setattr(module, attribute, ours)
    try:
        yield
    finally:
        for module, attribute, theirs in before:
            setattr(module, attribute, theirs)


def replace_modules(test_module: types.ModuleType) -> None:
    """Give a test module copies of the modules it takes classes from, with ours in them."""
    for home, attribute, ours in SUBSTITUTES.get(test_module.__name__, ()):
        for name, value in vars(test_module).items():
            if isinstance(value, types.ModuleType) and value.__name__ == home:
                copy = types.ModuleType(home)
                vars(copy).update(vars(value))
                setattr(copy, attribute, ours)
                setattr(test_module, name, copy)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """Substitute while a module is imported."""
    name = ""
    if isinstance(collector, pytest.Module):
        name = next((known for known in SUBSTITUTES if known.endswith(collector.path.stem)), "")
    with substituted(name):
        report = yield
    if name and report.passed:
        replace_modules(collector.obj)
    return report


def entries() -> dict[str, str]:
    """Every entry of the list, with its reason."""
    return {entry: reason for reason, tests in EXPECTED.items() for entry in tests}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the expected failures; an entry is ``module::test``, with or without its parameters."""
    reasons, met = entries(), set()
    for item in items:
        module = item.path.stem
        for name in (item.name, getattr(item, "originalname", item.name)):
            entry = f"{module}::{name}"
            if entry in reasons:
                met.add(entry)
                item.add_marker(pytest.mark.xfail(reason=reasons[entry], strict=True))
                break
    stale = sorted(set(reasons) - met)
    if stale:
        raise pytest.UsageError(
            f"The list of expected failures is for scikit-learn {VERSION}; these are no tests of "
            f"{sklearn.__version__}: {', '.join(stale)}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """Skip what uses none of our classes; nothing of that may be in the list."""
    USES["count"] = 0
    listed = pyfuncitem.get_closest_marker("xfail") is not None
    try:
        return (yield)
    except pytest.skip.Exception:
        if not listed:
            raise
        return True  # passes, which fails the run
    finally:
        if not (USES["count"] or listed):
            pytest.skip(f"{OF_NO_CONCERN}: uses none of our classes")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the counts, per module."""
    kinds = {"passed": "passed", "xfailed": "expected failures", "failed": "failed"}
    counts: dict[str, Counter[str]] = {name: Counter() for name in SUBSTITUTES}
    for kind in (*kinds, "skipped"):
        for report in terminalreporter.stats.get(kind, ()):
            module = next(n for n in counts if n.rpartition(".")[2] in report.nodeid)
            label = kinds.get(kind, OF_NO_CONCERN)
            if kind == "skipped" and OF_NO_CONCERN not in str(report.longrepr):
                label = "skipped by scikit-learn"
            counts[module][label] += 1
    terminalreporter.section(f"scikit-learn {sklearn.__version__}")
    for module, count in counts.items():
        told = ", ".join(f"{number} {label}" for label, number in sorted(count.items()))
        terminalreporter.line(f"{module.rpartition('.')[2]}: {count.total()} tests, {told}")
