"""What the library needs, and what only its command line needs."""

from __future__ import annotations

import subprocess
import sys

#: Runs a program in which the packages cannot be imported.
BLOCKING = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {0!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""

SEARCH = """
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from spansvm import SpanSearch, SpanSVC

X, y = load_iris(return_X_y=True)
search = SpanSearch(SVC(), {"C": [0.1, 1, 10]}, verbose=1).fit(X, y)
print(search.best_params_, SpanSVC().fit(X, y).loo_error_ < 0.1)
"""


def run_without(packages, program):
    command = [sys.executable, "-c", BLOCKING.format(packages) + program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_search_needs_neither_typer_nor_rich():
    result = run_without(("typer", "rich", "click", "matplotlib", "pandas", "jinja2"), SEARCH)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "{'C': 10} True\n"
    assert result.stderr.startswith("3/3 candidates, best 0.")


def test_a_search_that_shows_nothing_loads_no_bars():
    # scikit-learn may import rich itself.
    shown = "{'typer', 'spansvm.common.progress_bars', 'spansvm_app'}"
    loaded = f"import sys\nprint({shown} & set(sys.modules))"
    result = run_without((), SEARCH.replace(", verbose=1", "") + loaded)
    assert result.stdout.splitlines()[-1] == "set()"


def test_the_module_says_how_the_command_line_is_installed():
    result = run_without(("spansvm_app",), "from spansvm.__main__ import main\nmain()")
    assert result.returncode == 2
    assert result.stderr == (
        'Error: spansvm_app is needed for this but not installed: pip install "spansvm[cli]" (in '
        "the project folder: pip install . ./app).\n"
    )
