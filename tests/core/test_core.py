"""What holds for the compiled core whatever it computes: interrupts, memory, threads, levels."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import SVC

from spansvm import SpanSearch
from spansvm.algebra.blas import one_blas_thread
from spansvm.common.stopping import heeding
from spansvm.core.leaving import leave_out
from spansvm.core.levels import LEVELS
from spansvm.core.solver import Program, add_rows, factorise, hull_distances
from spansvm.machine.dual import solve_dual

CORE = Path(__file__).parents[2] / "src" / "spansvm" / "core"


def endless():
    """Noise under a linear kernel, where the solver would go on for seconds."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 5)), np.where(rng.random(3000) < 0.5, 1.0, -1.0)
    K, C = X @ X.T, 1e5
    program = Program(
        K, K.diagonal().copy(), np.minimum(0.0, y * C), np.maximum(0.0, y * C), np.zeros(3000),
        -y, 1e-12,
    )  # fmt: skip
    return lambda: program.settle(-y, 1e-9, 10**9)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_ctrl_c_is_answered_within_a_second():
    settle = endless()

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    begin = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with one_blas_thread, pytest.raises(KeyboardInterrupt):
            settle()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - begin < 1.2


def test_other_threads_stop_within_a_second_when_they_are_asked_to():
    settle, stop = endless(), threading.Event()

    def work():
        with heeding(stop), one_blas_thread, pytest.raises(KeyboardInterrupt):
            settle()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        time.sleep(0.2)
        assert not done.done()
        stop.set()
        done.result(1.0)


def test_memory_that_there_is_not_is_an_error():
    """The matrix of 12,000 variables fits into 700 MiB in single precision, a part of it does not
    in double precision.
    """
    pytest.importorskip("resource")
    code = """
import resource
import numpy as np
from spansvm.core.solver import factorise
K = np.zeros((12000, 12000), dtype=np.float32)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29,) * 2)
try:
    factorise(K, np.arange(12000))
except MemoryError:
    print("no memory")
"""
    if not Path("/proc/self/statm").exists():
        pytest.skip("how much memory is used is not told here")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "no memory\n", done.stderr


def test_searches_in_eight_threads_find_what_one_finds():
    X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
    problems = [(X, y), load_iris(return_X_y=True)]
    grid = {"C": [0.1, 1.0, 10.0, 1e3], "gamma": [0.01, 0.1, 1.0]}

    def errors(k):
        found = SpanSearch(SVC(), grid, refit=False).fit(*problems[k % 2])
        return found.cv_results_["loo_error"]

    expected = [errors(k) for k in range(2)]
    with ThreadPoolExecutor(8) as pool:
        for k, found in enumerate(pool.map(errors, range(24))):
            np.testing.assert_array_equal(found, expected[k % 2])


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_of_processor_can_be_asked_for(level):
    code = "import spansvm.core; print(spansvm.core.level)"
    environment = {**os.environ, "SPANSVM_CPU": level}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode and level != "baseline":
        assert f"SPANSVM_CPU must be one of baseline; it is '{level}'." in done.stderr
        pytest.skip("this level is not built here")
    assert done.stdout.strip() == level


def test_a_level_that_there_is_not_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", "import spansvm.core"], capture_output=True, text=True, check=False,
        env={**os.environ, "SPANSVM_CPU": "z80"},
    )  # fmt: skip
    assert "SPANSVM_CPU must be one of" in done.stderr
    assert "it is 'z80'" in done.stderr


def test_arrays_that_do_not_fit_are_refused():
    K, g = np.eye(3), np.zeros(3)
    with pytest.raises(ValueError, match="room for a row"):
        add_rows(np.zeros(2), K, np.arange(3), np.ones(3))
    with pytest.raises(ValueError, match="weight for every row"):
        add_rows(g, K, np.arange(3), np.ones(2))
    with pytest.raises(ValueError, match="same length"):
        Program(K, np.ones(3), -np.ones(2), np.ones(3), g, g.copy(), 1e-12)
    with pytest.raises(ValueError, match="size of the point"):
        Program(np.eye(4), np.ones(3), -np.ones(3), np.ones(3), g, g.copy(), 1e-12)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        Program(K, np.ones(3), -np.ones(3), np.ones(3), fixed, g, 1e-12)
    solution = solve_dual(K, np.array([1.0, -1.0, 1.0]), np.array([0.1, 0.2, 0.1]))
    for sizes in ((2, 3, 3, 3), (3, 2, 3, 3), (3, 3, 2, 3), (3, 3, 3, 2)):
        first, squared, diagonal, row = map(np.zeros, sizes)
        with pytest.raises(ValueError, match="for every row"):
            leave_out(solution, first.astype(int), squared, diagonal, lambda _, row=row: row)


def test_distances_need_no_other_point():
    K = np.eye(3)
    squared = np.zeros(3)
    hull_distances(K, np.ones(3), np.empty(0, np.intp), factorise(K, np.arange(3)), squared)
    np.testing.assert_allclose(squared, 1.5)


def test_every_compiled_module_is_built_and_has_a_header():
    listed = (CORE / "meson.build").read_text(encoding="utf-8")
    for header in CORE.glob("*.pxd"):
        if header.stem != "structs":
            assert f"'{header.stem}'" in listed, header
            assert header.with_suffix(".py").exists()


def test_no_compiled_function_takes_more_than_eight_arguments():
    for header in CORE.glob("*.pxd"):
        text = header.read_text(encoding="utf-8")
        for part in text.split("cdef ")[1:]:
            if "(" in part and part.index("(") < part.index("\n"):
                arguments = part[part.index("(") + 1 : part.index(")")].split(",")
                assert len([one for one in arguments if one.strip() not in ("", "self")]) <= 8, part
