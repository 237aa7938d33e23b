"""Imports go in no circle, and wait only with a reason; the application takes what is promised.

Who may import whom is in pyproject.toml: ``make lint`` checks it, by import-linter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    name: ROOT / folder / "src" / name for name, folder in (("spansvm", ""), ("spansvm_app", "app"))
}

#: Modules that import something inside functions, and why that has to wait.
_COMMAND = "a command imports what it needs when it runs: help and completion are quick"
DEFERRED = {
    **{
        f"spansvm_app.cli.{one}": _COMMAND
        for one in ("demo", "evaluate", "options", "predict", "terminal", "tune")
    },
    "spansvm.display._figures": "matplotlib is optional",
    "spansvm.rows.labels": "pandas is optional",
    "spansvm.search.evaluation.progress": "rich is optional",
    "spansvm.search.onnx_parser": "skl2onnx is optional",
}


def name_of(package: str, path: Path) -> str:
    """A module by its name: ``spansvm.search.grid``; a folder by its own."""
    parts = (package, *path.relative_to(PACKAGES[package]).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    name_of(package, path): path
    for package, folder in PACKAGES.items()
    for path in sorted(folder.rglob("*.py"))
}


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
    """Modules of the same package that a module imports, at whatever time."""
    path, package = MODULES[name], name.split(".")[0]
    folder = (package, *path.parent.relative_to(PACKAGES[package]).parts)
    found = set()
    for node, _ in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        start = [*folder[: len(folder) - node.level + 1], *(node.module or "").split(".")]
        home = ".".join(filter(None, start))
        names = [f"{home}.{one.name}" for one in node.names]
        found |= {one if one in MODULES else home for one in names}
    return found


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
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and "LazyGram" in {a.name for a in node.names}:
                asked.append(f"{path.name} imports LazyGram")
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "type"}:
                named = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
                asked += [f"{path.name} asks for {kind}" for kind in kinds & named]
    assert not asked


def test_the_application_takes_what_the_library_promises():
    """import-linter knows modules; here are the names that they list."""
    private = [
        f"{name} takes {one.name} from {node.module}"
        for name, path in MODULES.items()
        if name.startswith("spansvm_app")
        for node, _ in imports(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "spansvm"
        for one in node.names
        if one.name not in import_module(node.module).__all__
    ]
    assert not private
