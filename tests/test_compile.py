"""Compiled code that is kept on disk is that of the present sources."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import spansvm

PACKAGE = Path(spansvm.__file__).parent

INNER = """
from ._compile import njit

@njit(nogil=True, cache=True)
def inner(x):
    return x + {added}
"""

OUTER = """
from ._compile import njit
from ._inner import inner

@njit(nogil=True, cache=True)
def outer(x):
    return 2 * inner(x)
"""

PROGRAM = """
import json
from small._outer import outer
print(json.dumps([outer(1), sum(outer.stats.cache_hits.values())]))
"""


def write(folder, added):
    package = folder / "small"
    package.mkdir(exist_ok=True)
    shutil.copy(PACKAGE / "_compile.py", package)
    (package / "__init__.py").touch()
    (package / "_inner.py").write_text(INNER.format(added=added))
    (package / "_outer.py").write_text(OUTER)


def run(folder, **environment):
    """What the compiled function returns, and whether it was found on disk."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_function_is_compiled_again_if_another_that_it_calls_has_changed(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    write(tmp_path, added=10)
    assert run(tmp_path, **cache) == [22, 0]
    assert run(tmp_path, **cache) == [22, 1]
    write(tmp_path, added=20)
    assert run(tmp_path, **cache) == [42, 0]
    # Both are kept: neither of two processes, before and after the change, meets the other's.
    write(tmp_path, added=10)
    assert run(tmp_path, **cache) == [22, 1]
    assert not (tmp_path / "small" / "__pycache__").exists()


def test_where_the_insides_of_numba_are_others_its_own_cache_is_used(tmp_path):
    write(tmp_path, added=10)
    source = tmp_path / "small" / "_compile.py"
    source.write_text(source.read_text().replace("._cache_file)", "._unheard_of)"))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert [run(tmp_path, **cache) for _ in range(2)] == [[22, 0], [22, 1]]


def test_no_module_compiles_past_the_cache_that_knows_all_sources():
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if path.name != "_compile.py":
            assert not re.search(r"numba(\.| import .*)\bn?jit\b", source), path
        if "@njit" in source:
            assert "from ._compile import njit" in source, path
            assert path.parent == PACKAGE, path
