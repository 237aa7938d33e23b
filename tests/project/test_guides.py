"""What the guides for developers name in code font exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "spansvm"
PACKAGES = (PACKAGE, ROOT / "app" / "src" / "spansvm_app")
GUIDES = ("docs/architecture.md", "CONTRIBUTING.md")

#: Named, but not ours: symbols of the theory, and what scikit-learn has.
OTHERS = {
    *("C_i", "K_II", "p", "x_p"),
    *("GridSearchCV", "LinearSVC", "LogisticRegression", "ParameterGrid", "RandomizedSearchCV"),
    *("SVC", "SVR", "test_search.py", "test_svm.py"),
}  # fmt: skip

NAME, PATH = r"[A-Za-z_]\w*", r"[\w./-]+"


def named(text: str) -> list[str]:
    """What a guide has in code font, except in blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def members(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a module or a class defines, with what defines them."""
    for child in getattr(node, "body", ()):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            yield child.name, child
        elif isinstance(child, (ast.Assign, ast.AnnAssign)):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            names = [
                one.id for own in targets for one in ast.walk(own) if isinstance(one, ast.Name)
            ]
            yield from ((name, child) for name in names)


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def sources() -> Iterator[Path]:
    """The modules of the library and of the application."""
    for package in PACKAGES:
        yield from package.rglob("*.py")


def every_name() -> set[str]:
    """Names of modules, functions, classes, their members, and arguments."""
    found = set()
    for path in sources():
        found |= {path.stem, path.parent.name, *(name for name, _ in members(parse(path)))}
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                found |= {name for name, _ in members(node)}
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
    for path in PACKAGE.rglob("*.pxd"):
        found |= set(re.findall(rf"(?:struct|class) ({NAME})", path.read_text(encoding="utf-8")))
    return found


KNOWN = every_name()


def attribute_exists(path: Path, names: list[str]) -> bool:
    """Whether a module defines a name, and that the next one, and so on."""
    node: ast.AST | None = parse(path) if path.exists() else None
    for name in names:
        node = None if node is None else dict(members(node)).get(name)
    return node is not None


def path_exists(name: str) -> bool:
    folders = (one for package in PACKAGES for one in package.iterdir() if one.is_dir())
    roots = (ROOT, *(package.parent for package in PACKAGES), *PACKAGES, *folders)
    return any((root / f"{name}{end}").exists() for root in roots for end in ("", ".py"))


def exists(name: str) -> bool:
    """Whether there is such a file, module, attribute, name, target, or folder of the Makefile."""
    if name in OTHERS or name in KNOWN or not re.search(r"\w", name):
        return True
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    if re.search(rf"^[A-Z]+ := {re.escape(name)}$", makefile, re.MULTILINE):
        return True  # an environment, which need not be there
    if re.fullmatch(r"\.\w+", name):
        return any(any(package.rglob(f"*{name}")) for package in PACKAGES)
    if name.startswith("make "):
        return re.search(rf"^{name.split()[1]}:", makefile, re.MULTILINE) is not None
    own = name.removeprefix("spansvm.")
    if re.fullmatch(PATH, own) and path_exists(own):
        return True
    dotted = re.fullmatch(rf"((?:{NAME}/)*{NAME})((?:\.{NAME})+)", own)
    if dotted is not None:
        parts = dotted[2][1:].split(".")
        inside = any(attribute_exists(path, [dotted[1], *parts]) for path in sources())
        modules = (package / f"{dotted[1]}.py" for package in PACKAGES)
        return inside or any(attribute_exists(path, parts) for path in modules)
    if re.fullmatch(PATH, own):
        return False
    # A command or a formula: the files that it names.
    return all(path_exists(path) for path in re.findall(r"\btests/[\w/]+\.py\b", name))


@pytest.mark.parametrize("guide", GUIDES)
def test_what_a_guide_names_exists(guide):
    text = (ROOT / guide).read_text(encoding="utf-8")
    assert [name for name in named(text) if not exists(name)] == []


def test_tests_that_the_documentation_names_exist():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"\btests/[\w/]+\.py\b", text))
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    "name",
    [
        "search/base.py", "core/meson.build", "template.html", "search/refit.py", "criteria",
        "multiclass/machines.PairPaths.train_each", "spansvm.core", "make test PYTHON=python3.12",
        ".pxd", ".venv-dev/bin/python tests/portable.py haswell", "DualSolution.factor", "C_i",
    ],
)  # fmt: skip
def test_names_that_exist_are_found(name):
    assert exists(name)


@pytest.mark.parametrize(
    "name",
    [
        "search/bases.py", "search/grid.selects", "machines.PairPaths.train_one", "spansvm.cores",
        "make tests", ".pyz", ".venv-dev/bin/python tests/portables.py", "no_such_name",
        "DualSolution.factors",
    ],
)  # fmt: skip
def test_names_that_do_not_exist_are_missed(name):
    assert not exists(name)
