from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from spansvm.errors import UserError
from spansvm_app.common.output import OutputFolder, write_csv


def test_a_file_appears_whole_when_the_block_ends(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "new" / "folder")
    with folder.writing("a.txt") as path:
        path.write_text("all of it")
        assert path.suffix == ".txt"
        assert not (folder.path / "a.txt").exists()
    assert [file.name for file in folder.path.iterdir()] == ["a.txt"]
    assert (folder.path / "a.txt").read_text() == "all of it"


def test_nothing_is_left_of_a_file_whose_writer_fails(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path, force=True)
    (tmp_path / "a.txt").write_text("before")

    def write_half() -> None:
        with folder.writing("a.txt") as path:
            path.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"


def test_existing_files_are_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    for refused in (
        lambda: OutputFolder(tmp_path).prepare("b.txt", "a.txt"),
        lambda: OutputFolder(tmp_path).writing("a.txt").__enter__(),
    ):
        with pytest.raises(UserError, match=r"a\.txt exists; pass --force to replace it"):
            refused()
    OutputFolder(tmp_path, force=True).prepare("a.txt")
    with OutputFolder(tmp_path, force=True).writing("a.txt") as path:
        path.write_text("after")
    assert (tmp_path / "a.txt").read_text() == "after"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path)
    message = r"The disk is full, so .*a\.txt was not written; free some space, or choose"

    def write_too_much() -> None:
        with folder.writing("a.txt") as path:
            path.write_text("half")
            Path("/dev/full").write_text("x" * 100_000)

    with pytest.raises(UserError, match=message):
        write_too_much()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_permission_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(UserError, match=r"no permission to write .*; change its permissions"):
        OutputFolder(tmp_path).prepare("a.txt")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match=r"no permission to write .*; change its permissions"):
        OutputFolder(tmp_path).prepare("a.txt")


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is not a folder; choose another --out"):
        OutputFolder(tmp_path / "file").prepare("a.txt")
    with pytest.raises(UserError, match="is not a folder; choose another --out"):
        OutputFolder(tmp_path / "file" / "below").prepare("a.txt")


def test_tables_have_the_same_line_ends_everywhere():
    stream = io.StringIO()
    write_csv(stream, [["name", "value"], ["a, b", 0.1], ['"quoted"', None]])
    assert stream.getvalue() == 'name,value\n"a, b",0.1\n"""quoted""",\n'
