"""Searches that stop early, by time or by Ctrl-C: what is finished is kept, for later."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from spansvm.models import load_model
from spansvm.search.evaluation import stages
from spansvm_app.cli import main
from spansvm_app.cli.searching import UNFINISHED

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")

#: Runs the command; the process interrupts itself, by a real signal, after so many candidates.
INTERRUPTING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell lets it be ignored
from spansvm.search.evaluation.progress import SearchProgress
advance, done = SearchProgress.advance, []
def counting(self, *arguments):
    advance(self, *arguments)
    done.append(1)
    if len(done) in {0}:
        os.kill(os.getpid(), signal.SIGINT)
SearchProgress.advance = counting
from spansvm_app.cli import main
main()
"""


def frame(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    value = data.a + data.b**2 - 1 + rng.normal(0, 0.5, n_rows)
    data["kind"] = np.where(value > 0, "yes", "no")
    return data


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder with data; gives exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANSVM_DEBUG", "")
    frame().to_csv("data.csv", index=False)
    frame(seed=1).to_csv("other.csv", index=False)

    def command(line, stop_after=None):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["spansvm", *shlex.split(line)])
            if stop_after is not None:  # a second passes with every candidate
                seconds = iter(range(10_000))
                clock = SimpleNamespace(monotonic=lambda: next(seconds))
                patched.setattr(stages, "time", clock)
                patched.setattr(sys, "argv", [*sys.argv, "--budget", f"{stop_after}s"])
            with pytest.raises(SystemExit) as exit:
                main()
        captured = capsys.readouterr()
        return exit.value.code or 0, captured.out, captured.err

    return command


def results(folder="data-tuned"):
    return list(csv.DictReader(Path(folder, "results.csv").read_text().splitlines()))


def by_setting(rows):
    return {(row["C"], row["gamma"]): row["mean_test_score"] for row in rows}


def test_a_search_stops_when_its_time_is_up(run):
    code, out, err = run("tune data.csv --json", stop_after=20)
    assert code == 0
    content = json.loads(out)
    stopped = content["facts"]["stopped"]
    assert (stopped["reason"], stopped["n_planned"]) == ("budget", 40)
    n_done = stopped["n_done"]
    assert n_done == content["n_candidates"] == len(results())
    assert 15 <= n_done <= 21
    told = stopped["in_words"]
    for fact in ("20 seconds", f"{n_done} of 40 candidates", "--resume"):
        assert fact in told
    assert f"Partial: {told}" in err
    report = json.loads(Path("data-tuned/report.json").read_text())
    assert report["facts"]["stopped"]["in_words"] == told
    assert f"Partial: {told}" in report["notes"]
    assert f"after {n_done} of 40 candidates" in Path("data-tuned/report.html").read_text(
        encoding="utf-8"
    )
    best = max(float(row["mean_test_score"]) for row in results())
    assert content["score"] == best
    assert content["n_compared"] == n_done
    model = load_model("data-tuned/model.skops").model
    assert content["best_params"]["C"] == model[-1].C
    _, _, err = run("evaluate data-tuned other.csv")
    assert told in err


def test_coarse_candidates_come_first(run):
    run("tune data.csv --search class-weights --quiet", stop_after=25)
    values = sorted({float(row["weighting__positive"]) for row in results()})
    # Not the first two rows of a grid of 33 x 33: values from all over it.
    assert values[0] <= 2**-4
    assert values[-1] >= 2**8
    assert len(values) >= 4


def test_an_unfinished_search_goes_on_to_the_same_end(run):
    run("tune data.csv --out whole --quiet")
    run("tune data.csv --quiet", stop_after=20)
    assert Path("data-tuned", UNFINISHED).exists()
    n_first = len(results())
    code, out, err = run("tune data.csv --resume --json")
    assert code == 0, err
    content = json.loads(out)
    assert (content["facts"]["resumed"], content["facts"]["stopped"]) == (n_first, None)
    assert f"{n_first} candidates were taken over from the unfinished search." in err
    assert f"Searched {content['n_candidates'] - n_first} candidates in" in err
    assert not Path("data-tuned", UNFINISHED).exists()
    assert by_setting(results()) == by_setting(results("whole"))
    whole = json.loads(Path("whole/report.json").read_text())["summary"]
    for figure in ("best_params", "corrected_error", "corrected_error_interval", "loo_error"):
        name = {"best_params": "best_params"}.get(figure, figure)
        ours = json.loads(Path("data-tuned/report.json").read_text())["summary"][name]
        assert ours == whole[name]


@pytest.mark.parametrize("options", ["", "--cv 3"])
def test_an_unfinished_regression_goes_on_to_the_same_end(run, options):
    data = frame()
    data["kind"] = data.a + np.sin(2 * data.b)
    data.to_csv("data.csv", index=False)
    line = f"tune data.csv --candidates 18 {options} --quiet"
    assert run(f"{line} --out whole")[0] == 0
    assert run(line, stop_after=14)[0] == 0
    n_first = len(results())
    assert 0 < n_first < 18
    assert Path("data-tuned", UNFINISHED).exists()
    page = Path("data-tuned/report.html").read_text(encoding="utf-8")
    assert f"after {n_first} of 18 candidates" in page
    code, out, err = run(f"{line} --resume --json")
    assert code == 0, err
    content = json.loads(out)
    assert content["facts"]["resumed"] == n_first
    whole = json.loads(Path("whole/report.json").read_text())["summary"]
    for figure in ("best_params", "corrected", "expected", "loo_rmse", "score"):
        own = json.loads(Path("data-tuned/report.json").read_text())["summary"][figure]
        assert own == whole[figure]


@pytest.mark.parametrize("options", ["--cv 3", "--scoring roc_auc", "--method loo"])
def test_other_ways_to_evaluate_are_resumed_too(run, options):
    run(f"tune data.csv --candidates 12 {options} --out whole --quiet")
    run(f"tune data.csv --candidates 12 {options} --quiet", stop_after=9)
    n_first = len(results())
    assert 0 < n_first < 12
    code, out, err = run(f"tune data.csv --candidates 12 {options} --resume --json --quiet")
    assert code == 0, err
    content = json.loads(out)
    assert content["facts"]["resumed"] == n_first
    whole = json.loads(Path("whole/report.json").read_text())["summary"]
    assert (content["corrected"], content["score"]) == (whole["corrected"], whole["score"])


def test_only_the_same_search_is_resumed(run):
    run("tune data.csv --quiet", stop_after=20)
    for line, what in (
        ("tune data.csv --scoring f1 --resume", "with another --scoring"),
        ("tune data.csv --scale standard --resume", "with another --scale"),
        ("tune data.csv --cv 3 --resume", "with another --method"),
        ("tune other.csv --out data-tuned --resume", "with other data"),
    ):
        code, _, err = run(line)
        assert code == 2
        assert f"The unfinished search in data-tuned was {what}; repeat its" in err
    code, _, err = run("tune data.csv")
    assert code == 2
    assert "data-tuned holds an unfinished search; pass --resume" in err
    assert run("tune data.csv --force --quiet")[0] == 0
    assert not Path("data-tuned", UNFINISHED).exists()
    code, _, err = run("tune data.csv --resume")
    assert code == 2
    assert "There is no unfinished search in data-tuned; leave --resume out" in err


def test_what_is_finished_is_kept_until_all_files_are_written(run, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    run("tune data.csv --quiet", stop_after=20)
    n_first = len(results())
    with monkeypatch.context() as patched:
        patched.setattr("spansvm_app.cli.tuning.write_files", interrupt)
        assert run("tune data.csv --resume --quiet")[0] == 130
    code, out, err = run("tune data.csv --resume --json --quiet")
    assert code == 0, err
    assert json.loads(out)["facts"]["resumed"] == n_first


def test_a_damaged_record_is_told(run):
    run("tune data.csv --quiet", stop_after=20)
    Path("data-tuned", UNFINISHED).write_bytes(b"PK\x03\x04 nothing")
    code, _, err = run("tune data.csv --resume")
    assert code == 2
    assert (
        f"{Path('data-tuned', UNFINISHED)} is damaged; leave --resume out, and pass --force" in err
    )


def interrupted(*arguments, after):
    command = [sys.executable, "-c", INTERRUPTING.format(after), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_ctrl_c_keeps_what_is_done(run):
    result = interrupted("tune", "data.csv", "--jobs", "1", after=[10])
    assert result.returncode == 130
    assert "Stopping after the candidate under way; what is finished will be written." in (
        result.stderr
    )
    assert "Partial: The search was stopped by Ctrl-C, after 10 of 40 candidates" in result.stderr
    assert "Interrupted;" not in result.stderr
    assert "best setting" in result.stdout
    assert len(results()) == 10
    assert run("predict data-tuned other.csv")[0] == 0
    code, out, _ = run("tune data.csv --resume --json --quiet")
    assert (code, json.loads(out)["facts"]["resumed"]) == (0, 10)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_a_second_ctrl_c_stops_at_once(run):
    script = INTERRUPTING.replace("os.kill(", "[os.kill(").replace(
        "signal.SIGINT)", "signal.SIGINT) for _ in range(2)]"
    )
    command = [sys.executable, "-c", script.format([5]), "tune", "data.csv", "--out", "at-once"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 130
    assert result.stderr.splitlines()[-1] == "Interrupted; unfinished files were not written."
    assert not list(Path("at-once").iterdir())
