"""The list of scikit-learn's tests that fail is in order; ``make peers`` runs the tests."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest
import sklearn

from tests.peers.expected import EXPECTED, VERSION
from tests.peers.stand_ins import SUBSTITUTES

ROOT = Path(__file__).parents[2]
ENTRIES = [entry for entries in EXPECTED.values() for entry in entries]


def names_in(module):
    """Names of the tests in a file of the installed scikit-learn, without importing it."""
    if not sklearn.__version__.startswith(f"{VERSION}."):
        pytest.skip(f"the list is for scikit-learn {VERSION}")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        pytest.skip("scikit-learn is installed without its tests")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_reasons_are_sentences_and_have_tests():
    for reason, entries in EXPECTED.items():
        assert re.fullmatch(r"[A-Z`'\"].{20,}\.", reason, flags=re.DOTALL), reason
        assert entries, reason


def test_no_test_is_listed_twice():
    assert len(ENTRIES) == len(set(ENTRIES))
    whole = {entry for entry in ENTRIES if "[" not in entry}
    assert not [entry for entry in ENTRIES if "[" in entry and entry.partition("[")[0] in whole]


@pytest.mark.parametrize("module", SUBSTITUTES)
def test_listed_tests_exist(module):
    short = module.rpartition(".")[2]
    listed = {entry.partition("::")[2].partition("[")[0] for entry in ENTRIES
              if entry.startswith(f"{short}::")}  # fmt: skip
    assert listed <= names_in(module)


def test_the_counts_are_those_of_the_version_of_the_list():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.findall(r"\| scikit-learn (\d+\.\d+)\.\d+ \|", text) == [VERSION]
    for row in re.findall(r"\| `test_\w+\.py` \|(.+)\|", text):
        *parts, total = map(int, row.split("|"))
        assert sum(parts) == total


def test_every_entry_names_a_module_that_is_run():
    known = {module.rpartition(".")[2] for module in SUBSTITUTES}
    assert {entry.partition("::")[0] for entry in ENTRIES} <= known
