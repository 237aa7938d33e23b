"""The layers that docs/architecture.md describes are those of the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "spansvm"

#: Entry points: they belong to no layer.
BESIDE = {"__init__", "__main__"}

#: Modules that import something inside functions, and why that has to wait.
_COMMAND = "a command imports what it needs when it runs: help and completion are quick"
DEFERRED = {
    "__main__": "what the command line needs is optional",
    "cli.demo": _COMMAND,
    "cli.evaluate": _COMMAND,
    "cli.options": _COMMAND,
    "cli.predict": _COMMAND,
    "cli.terminal": _COMMAND,
    "cli.tune": _COMMAND,
    "display._figures": "matplotlib is optional",
    "rows.labels": "pandas is optional",
    "search.evaluation.progress": "rich is optional",
    "search.onnx_parser": "skl2onnx is optional",
}


def name_of(path: Path) -> str:
    """A module by its name within the package: ``search.grid``; a folder by its own."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(node: ast.AST, *, inside: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """All imports that run, and whether each is inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, inside
        within = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from imports(child, inside=inside or within)


def imported(name: str) -> set[str]:
    """Modules of the package that a module imports, at whatever time."""
    path = MODULES[name]
    folder = path.parent.relative_to(PACKAGE).parts
    found = set()
    for node, _ in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        start = [*folder[: len(folder) - node.level + 1], *(node.module or "").split(".")]
        home = ".".join(filter(None, start))
        names = [f"{home}.{one.name}".lstrip(".") for one in node.names]
        found |= {one if one in MODULES else home for one in names}
    return found - {""}


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


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of nodes that all reach each other, and those that reach themselves."""
    reached = {}
    for start in graph:
        seen, waiting = set(), set(graph[start])
        while waiting:
            name = waiting.pop()
            seen.add(name)
            waiting |= graph.get(name, set()) - seen
        reached[start] = seen
    found = {
        tuple(sorted({start} | {name for name in reached[start] if start in reached.get(name, ())}))
        for start in graph
        if start in reached[start]
    }
    return [list(one) for one in sorted(found)]


def test_every_module_is_in_a_layer():
    assert {name.split(".")[0] for name in MODULES} - {"", *BESIDE} == set(layers())


def test_no_module_imports_from_a_higher_layer():
    layer = layers()
    upward = [
        f"{name} imports {other}"
        for name in MODULES
        if name and name not in BESIDE
        for other in imported(name)
        if layer[other.split(".")[0]] > layer[name.split(".")[0]]
    ]
    assert not upward


def test_folders_of_the_search_import_from_those_before():
    order = ["candidates", "scoring", "evaluation", "committee"]

    def place(name: str) -> int:
        folder = name.split(".")[1]
        return order.index(folder) if folder in order else len(order)

    inside = [name for name in MODULES if name.startswith("search.")]
    upward = [
        f"{name} imports {other}"
        for name in inside
        for other in imported(name)
        if other.startswith("search.") and place(other) > place(name)
    ]
    assert len(inside) > 30
    assert not upward


def test_circles_are_found():
    chain = {"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a"}}
    assert circles(chain) == []
    assert circles({**chain, "c": {"b"}, "d": {"d"}}) == [["b", "c"], ["d"]]


def test_imports_inside_functions_are_found_and_those_for_types_are_not():
    text = """
import first
if TYPE_CHECKING:
    import none
class One:
    def two(self):
        if True:
            from . import second
"""
    found = [(ast.unparse(node), inside) for node, inside in imports(ast.parse(text))]
    assert found == [("import first", False), ("from . import second", True)]


def test_no_imports_go_in_a_circle():
    assert circles({name: imported(name) for name in MODULES}) == []


def test_imports_wait_inside_functions_only_where_there_is_a_reason():
    waiting = {
        name
        for name, path in MODULES.items()
        for _, inside in imports(ast.parse(path.read_text(encoding="utf-8")))
        if inside
    }
    assert waiting == set(DEFERRED)


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
