"""What the Makefile installs from a checkout, and when it does so again."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_path = ROOT / "tools" / "prerequisites.py"
_spec = importlib.util.spec_from_file_location("prerequisites", _path)
prerequisites = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(prerequisites)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of what is built, and an environment that seems to have been made from it."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("Makefile", "pyproject.toml", "meson.build", "meson.options"):
        shutil.copy2(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src")
    shutil.copytree(ROOT / "app" / "src", folder / "app" / "src")
    shutil.copy2(ROOT / "app" / "pyproject.toml", folder / "app")
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    return folder


def install(folder):
    for name in (".installed", ".tests"):
        (folder / ".venv" / name).touch()


def is_installed(folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "--question", ".venv/.installed", ".venv/.tests"]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert result.returncode in (0, 1), result.stderr
    return result.returncode == 0


@pytest.mark.parametrize(
    "name",
    [
        "pyproject.toml",
        "meson.build",
        "src/spansvm/__init__.py",
        "src/spansvm/core/meson.build",
        "src/spansvm/core/walk.pxd",
        "app/pyproject.toml",
        "app/src/spansvm_app/report/page.html",
        "src/spansvm/new.py",
    ],
)
def test_a_changed_source_is_installed_again(checkout, name):
    install(checkout)
    assert is_installed(checkout)
    later = (checkout / ".venv" / ".tests").stat().st_mtime + 10
    (checkout / name).touch()
    os.utime(checkout / name, (later, later))
    assert not is_installed(checkout)
    now = later - 20
    os.utime(checkout / name, (now, now))


def test_a_source_that_was_deleted_is_noticed(checkout):
    install(checkout)
    later = (checkout / ".venv" / ".tests").stat().st_mtime + 10
    (checkout / "src" / "spansvm" / "py.typed").unlink()
    os.utime(checkout / "src" / "spansvm", (later, later))  # as a slower clock would have it
    assert not is_installed(checkout)


def test_a_python_with_all_that_is_needed_lacks_nothing():
    assert prerequisites.missing() == []


def test_an_old_python_is_named_with_the_oldest_that_will_do(monkeypatch):
    monkeypatch.setattr(prerequisites.sys, "version_info", (3, 9, 2))
    first, packages = prerequisites.missing()
    assert f"needs Python 3.10 or later, and {sys.executable} is Python 3.9." in first
    assert "make demo PYTHON=" in first
    assert "Debian" in packages
    assert "Fedora" in packages


def test_missing_headers_and_venv_are_named_with_their_packages(monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    venv, headers = prerequisites.missing()
    assert "apt install python3-venv" in venv
    assert "apt install python3-dev" in headers
    assert "dnf install python3-devel" in headers
