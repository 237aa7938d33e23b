"""Public names: what ``__all__`` lists is there, is documented, and is imported when used."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Modules whose names are promised (docs/versions.md).
MODULES = (
    "spansvm",
    "spansvm.blocks",
    "spansvm.display",
    "spansvm.errors",
    "spansvm.models",
    "spansvm.scores",
    "spansvm.search",
)
NAMES = [(module, name) for module in MODULES for name in import_module(module).__all__]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_is_there_and_says_what_it_is(module, name):
    found = getattr(import_module(module), name)
    assert name in dir(import_module(module))
    if inspect.isclass(found) or inspect.isfunction(found):
        assert found.__doc__
        assert len(found.__doc__.split()) > 3


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_is_in_the_reference(module, name):
    if name == "__version__":
        return
    pages = ("api.md", "internals.md")
    text = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages)
    whole = f"::: {module}\n" in text
    heading = f'heading: "{name}"' in text
    home = module if name not in import_module("spansvm").__all__ else "spansvm"
    assert whole or heading or re.search(rf"^::: {home}\.{name}$", text, re.MULTILINE)


@pytest.mark.parametrize("module", MODULES)
def test_type_checkers_are_told_the_names_that_are_imported_when_used(module):
    path = Path(import_module(module).__file__)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    told = {
        alias.name
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    if told:
        assert told == set(import_module(module).__all__) - {"__version__"}


@pytest.mark.parametrize("module", MODULES)
def test_other_names_are_attribute_errors(module):
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
        import_module(module).nothing  # noqa: B018 - it is looked for


def test_classes_are_pickled_by_their_own_modules():
    from spansvm import Committee, SpanSearch, SpanSVC

    for kind in (SpanSVC, SpanSearch, Committee):
        assert pickle.loads(pickle.dumps(kind)) is kind


def test_a_name_is_imported_with_what_it_needs_and_no_more():
    asked = (
        "import sys; from spansvm import SpanSVC; "
        "print([name for name in sys.modules if name.startswith('spansvm.search')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
