"""The layers that docs/architecture.md describes are those of the imports."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "spansvm"

#: Entry points: they belong to no layer.
BESIDE = {"__init__", "__main__"}


def layers() -> dict[str, int]:
    """The row of the table of layers that each module, or each folder, is in."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("## Layers")[1].split("\n\n")[2]
    rows = [line.split("|")[2] for line in table.splitlines()[2:]]
    return {
        name.rstrip("/"): number
        for number, row in enumerate(rows)
        for name in re.findall(r"`([\w/]+)`", row)
    }


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports when it is loaded."""
    depth = len(path.relative_to(PACKAGE).parts)
    found = set()
    # Inside functions and for type checkers an import binds nothing together.
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            found |= {node.module.split(".")[0]} if node.module else {a.name for a in node.names}
    return found


def test_every_module_is_in_a_layer():
    modules = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()
               if path.suffix == ".py" or (path / "__init__.py").exists()}  # fmt: skip
    assert modules - BESIDE == set(layers())


def test_no_module_imports_from_a_higher_layer():
    layer = layers()
    upward = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in BESIDE
        for name in imports(path) - BESIDE
        if layer[name] > layer[path.relative_to(PACKAGE).parts[0].removesuffix(".py")]
    ]
    assert not upward


def test_no_imports_go_in_a_circle():
    direct = {path.stem: imports(path) - BESIDE for path in PACKAGE.glob("*.py")}
    for start in direct:
        reached, waiting = set(), set(direct[start])
        while waiting:
            name = waiting.pop()
            reached.add(name)
            waiting |= direct.get(name, set()) - reached
        assert start not in reached, f"{start} imports itself"


def test_no_module_asks_for_the_kind_of_a_gram_matrix():
    """What differs between matrices in memory and in parts, they say themselves."""
    kinds, asked = {"HeldGram", "LazyGram"}, []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and "LazyGram" in {a.name for a in node.names}:
                asked.append(f"{path.name} imports LazyGram")
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "type"}:
                named = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
                asked += [f"{path.name} asks for {kind}" for kind in kinds & named]
    assert not asked
