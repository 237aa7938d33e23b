"""The script that runs the tests in other environments tells what became of them."""

from __future__ import annotations

import os

import pytest

from tests import portable
from tests.conftest import PLUMBING

TESTS = """
import os
import pytest

def test_that_passes():
    assert "SPANSVM_CPU" not in os.environ

def test_that_fails():
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"

@pytest.mark.skip
def test_that_is_skipped():
    pass

@pytest.mark.xfail
def test_that_is_known_to_fail():
    assert False
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(portable, "FOLDER", tmp_path)
    (tmp_path / "test_few.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def lines(capfd):
    text = capfd.readouterr().out
    return text[text.index("environment ") :].splitlines()


def test_what_became_of_the_tests_is_counted(folder, capfd):
    assert portable.main(["threads", "--", "-n0", str(folder / "test_few.py")]) == 1
    header, row, failure = lines(capfd)
    assert header.split() == ["environment", "passed", "failed", "skipped", "xfailed", "seconds"]
    assert row.split()[:5] == ["threads", "1", "1", "1", "1"]
    assert failure.endswith("::test_that_fails")


def test_every_environment_is_run_whatever_fails(folder, capfd):
    tests = [str(folder / "test_few.py"), "-k", "test_that_fails", "-n0"]
    assert portable.main(["threads", "default", "--", *tests]) == 1
    first, second = (row.split()[:3] for row in lines(capfd)[1:3])
    assert first == ["threads", "0", "1"]
    assert second == ["default", "1", "0"]


def test_no_tests_are_no_success(folder, capfd):
    tests = [str(folder / "test_few.py"), "-k", "nothing", "-n0"]
    assert portable.main(["default", "--", *tests]) == 1
    assert lines(capfd)[1].split() == ["default", "pytest", "ended", "with", "5"]


def test_kernels_that_cannot_be_had_are_left_out(folder, capfd, monkeypatch):
    monkeypatch.setitem(portable.ENVIRONMENTS, "cray", {"OPENBLAS_CORETYPE": "Cray"})
    assert portable.main(["cray"]) == 0
    assert "left out: the BLAS has no kernels of Cray" in lines(capfd)[1]


def test_an_unknown_name_is_an_error(capsys):
    with pytest.raises(SystemExit):
        portable.main(["nehalen"])
    assert "nehalen: there are only default, nehalem, " in capsys.readouterr().err


def test_nothing_is_inherited_that_an_environment_decides(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.setenv("SPANSVM_CPU", "baseline")
    found = portable.variables("default")
    assert "OPENBLAS_CORETYPE" not in found
    assert "SPANSVM_CPU" not in found
    assert found["OPENBLAS_NUM_THREADS"] == "1"
    assert found["PATH"] == os.environ["PATH"]


def test_only_test_files_are_left_out_of_the_numerical_part():
    folders = (portable.ROOT / "tests", portable.ROOT / "app" / "tests")
    names = [path.stem for folder in folders for path in folder.glob("*/test_*.py")]
    assert len(names) == len(set(names))
    assert set(names) > PLUMBING
