"""Machine code on disk: that of the present sources, whoever else writes there, or cannot."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spansvm

PACKAGE = Path(spansvm.__file__).parent

INNER = """
from ._compile import njit

@njit
def inner(x):
    return x + {added}
"""

OUTER = """
from ._compile import njit
from ._inner import inner

@njit
def outer(x):
    return 2 * inner(x)
"""

PROGRAM = """
import json
from small import _compile
from small._outer import outer
{before}
print(json.dumps([outer(1), sum(outer.stats.cache_hits.values()), str(_compile.cache_folder())]))
"""


def write(folder, added=10):
    package = folder / "small"
    package.mkdir(exist_ok=True)
    shutil.copy(PACKAGE / "_compile.py", package)
    (package / "__init__.py").touch()
    (package / "_inner.py").write_text(INNER.format(added=added))
    (package / "_outer.py").write_text(OUTER)
    return folder


def start(folder, before="", **environment):
    settings = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(before=before)],
        cwd=folder,
        env={**os.environ, **settings, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """What the compiled function returned, whether it was found on disk, where, and messages."""
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return [*json.loads(out), errors]


def run(folder, **keywords):
    """What the compiled function returns, and whether it was found on disk."""
    return finish(start(folder, **keywords))[:2]


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


def test_code_for_another_processor_is_another(tmp_path):
    write(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(tmp_path, **cache) == [22, 0]
    assert run(tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="", **cache) == [22, 0]
    assert run(tmp_path, **cache) == [22, 1]


@pytest.mark.parametrize("content", [b"", b"something else", None])
def test_a_file_that_cannot_be_used_is_replaced(tmp_path, content):
    write(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(tmp_path, **cache)
    for path in (tmp_path / "cache").rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:1000] if content is None else content)
    assert [run(tmp_path, **cache) for _ in range(2)] == [[22, 0], [22, 1]]


def nowhere(folder):
    """An environment in which only the temporary folder can be written, for any user."""
    blocked = folder / "blocked"
    blocked.touch()
    (folder / "small" / "__pycache__").touch()
    (folder / "temporary").mkdir()
    names = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "HOME", "USERPROFILE")
    environment = dict.fromkeys(names, str(blocked))
    return environment | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / "temporary"))


def test_where_no_folder_can_be_written_a_temporary_one_is_used(tmp_path):
    environment = nowhere(write(tmp_path))
    first, second = (finish(start(tmp_path, **environment)) for _ in range(2))
    assert (first[:2], second[:2]) == ([22, 0], [22, 1])
    assert Path(first[2]).parent == tmp_path / "temporary"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no owners and modes")
def test_nothing_is_loaded_from_a_temporary_folder_that_others_can_write(tmp_path):
    environment = nowhere(write(tmp_path))
    usual = Path(finish(start(tmp_path, **environment))[2])
    usual.chmod(0o777)
    result = finish(start(tmp_path, **environment))
    assert result[:2] == [22, 0]
    assert Path(result[2]) != usual


def test_a_full_disk_is_no_error(tmp_path):
    full = "import errno, os\ndef replace(*names):\n    raise OSError(errno.ENOSPC, 'full')\n"
    folder = write(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(folder, before=f"{full}os.replace = replace", **cache) == [22, 0]
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_two_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path):
    write(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    together = [start(tmp_path, **cache) for _ in range(3)]
    assert [finish(process)[0] for process in together] == [22, 22, 22]
    assert run(tmp_path, **cache) == [22, 1]
    assert not list((tmp_path / "cache").rglob("*.tmp"))


def test_the_user_is_told_once_that_compiling_takes_long(tmp_path):
    write(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    soon = "_compile._LONG = 0.0\n"
    quiet = "import logging; logging.getLogger('spansvm').setLevel(logging.ERROR)\n"
    assert finish(start(tmp_path, before=soon + quiet, **cache))[3] == ""
    shutil.rmtree(tmp_path / "cache")
    told = finish(start(tmp_path, before=soon, **cache))[3]
    assert told.count("\n") == 1
    assert "compiling" in told
    assert str(tmp_path / "cache") in told
    assert finish(start(tmp_path, before=soon, **cache))[3] == ""  # found on disk


def test_no_module_compiles_past_the_cache_that_knows_all_sources():
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if path.name == "_compile.py":
            continue
        assert not re.search(r"numba(\.| import .*)\bn?jit\b", source), path
        if "@njit" in source:
            assert re.search(r"from \._compile import (FAST_MATH, )?njit", source), path
            assert path.parent == PACKAGE, path
