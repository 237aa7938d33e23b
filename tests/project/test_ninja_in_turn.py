"""Builds of an editable install take turns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

fcntl = pytest.importorskip("fcntl")  # there is none on Windows

from tests import ninja_in_turn  # noqa: E402

#: Stands for ninja: fails if another one works in the folder, and calls the script again, as meson
#: does.
_WORK = """#!/bin/sh
if [ "$1" = again ]; then exit 0; fi
mkdir busy || exit 1
sleep 0.2
"$(dirname "$0")/python" -IS {script} again || exit 2
rmdir busy
"""


@pytest.fixture
def start(tmp_path):
    """Start a build in a folder, with the program above in the place of ninja."""
    script = Path(ninja_in_turn.__file__)
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "python").symlink_to(sys.executable)
    (bin / "ninja").write_text(_WORK.format(script=script), encoding="utf-8")
    (bin / "ninja").chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k != ninja_in_turn.INSIDE}

    def start(folder: Path) -> subprocess.Popen:
        folder.mkdir(exist_ok=True)
        command = [bin / "python", "-IS", script]
        return subprocess.Popen(command, cwd=folder, env=environment)

    return start


def test_builds_in_one_folder_take_turns(start, tmp_path):
    builds = [start(tmp_path / "build") for _ in range(4)]
    assert [build.wait(60) for build in builds] == [0] * 4


def test_a_build_of_another_folder_does_not_wait(start, tmp_path):
    (tmp_path / "held").mkdir()
    held = os.open(tmp_path / "held", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = start(tmp_path / "held")
        assert start(tmp_path / "other").wait(60) == 0
        assert waiting.poll() is None
    finally:
        os.close(held)
    assert waiting.wait(60) == 0
