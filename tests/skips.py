"""How many tests are skipped for want of what, at the end of a run: a plugin of pytest.

With SPANSVM_COMPLETE set, a test that is skipped for want of a package is a failure.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

COMPLETE = "SPANSVM_COMPLETE"

_PACKAGE = re.compile(r"could not import|not installed")


def _reasons(config: pytest.Config) -> Counter[str]:
    """How often each reason was given; a file that is skipped as a whole counts as one test."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    reasons = _reasons(config)
    if reasons:
        terminalreporter.section("skipped tests, and whole files of tests")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5d}  {reason}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get(COMPLETE) and any(map(_PACKAGE.search, _reasons(session.config))):
        print(f"\n{COMPLETE} is set, and a test was skipped for want of a package.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
