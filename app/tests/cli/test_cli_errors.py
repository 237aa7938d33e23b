"""What is wrong is told in one sentence, with an exit code, and without a traceback."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from spansvm.search import SpanSearch
from spansvm_app.cli import main

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
pytest.importorskip("yaml")

ROWS = "\n".join(
    ["age,colour,q,outcome", *(f"{i},{'rg'[i % 2]},{i / 40},{'ny'[i > 20]}" for i in range(40))]
)

WRONG = {
    "no file": ("tune dta.csv", "There is no file dta.csv (did you mean 'data.csv'?)"),
    "no column": (
        "tune data.csv --target outcom",
        "There is no column 'outcom' in data.csv (did you mean 'outcome'?); --target must be one",
    ),
    "one class": ("tune one.csv", "at least two classes are needed."),
    "scores beyond 1": (
        "tune data.csv --scores age",
        "The scores in column 'age' must be between 0 and 1, but row 3 has 2; scale them first.",
    ),
    "folder in the way": ("tune data.csv --out data.csv", "data.csv is not a folder"),
    "option": ("tune data.csv --targt x", "No such option: --targt"),
    "no data": ("tune", "Missing argument 'DATA'; see 'spansvm tune --help'."),
    "command": ("tun data.csv", "No such command 'tun'"),
    "method": ("tune data.csv --method spanrule", "(did you mean 'span_rule'?)"),
    "bound with a score": (
        "tune data.csv --method span_bound --scoring f1", "leave --scoring out",
    ),
    "bound with three classes": (
        "tune data.csv --target three --method xi_alpha", "--method xi_alpha is for two classes",
    ),
    "score": ("tune data.csv --scoring roc_acu", "(did you mean 'roc_auc'?)"),
    "score for three classes": (
        "tune data.csv --target three --scoring f1", "The score f1 is for two classes",
    ),
    "search": ("tune data.csv --search class-wieghts", "(did you mean 'class-weights'?)"),
    "class weights for three classes": (
        "tune data.csv --target three --search class-weights", "use --search C-gamma-weights.",
    ),
    "no scores": ("tune data.csv --search scores", "pass --scores with the column"),
    "scores that are not used": (
        "tune data.csv --scores q --search C-gamma", "--search C-gamma does not use --scores",
    ),
    "parameter": (
        "tune data.csv --search gama.yaml",
        "gama.yaml names the parameter 'gama', which cannot be searched (did you mean 'gamma'?)",
    ),
    "weighting without scores": (
        "tune data.csv --search sigmoid.json", "which needs an importance score for",
    ),
    "class weights in a grid for three classes": (
        "tune data.csv --target three --search weights.yaml", "search class_weight instead.",
    ),
    "class weights in a grid with scores": (
        "tune data.csv --scores q --search weights.yaml", "does not use --scores",
    ),
    "text for a number": (
        "tune data.csv --search text.yaml", "C must be a positive number; got 'high'.",
    ),
    "value": ("tune data.csv --search negative.yaml", "C must be a positive number; got -1."),
    "class weight": (
        "tune data.csv --search odd-class.yaml",
        "has a class_weight for 'maybe', which is not a class of data.csv; use 'n', 'y'.",
    ),
    "Gram matrix": (
        "tune data.csv --search gram.yaml", "names the kernel precomputed, but data.csv holds rows",
    ),
    "decision values": (
        "tune data.csv --search shape.yaml",
        "names the parameter 'decision_function_shape', which cannot be searched",
    ),
    "score of numbers": ("tune data.csv --scoring r2", "The score r2 is not for classification"),
    "score of clusters": (
        "tune data.csv --scoring rand_score", "The score rand_score is not for classification",
    ),
    "area for three classes": (
        "tune data.csv --target three --scoring roc_auc", "has 3; use roc_auc_ovr.",
    ),
    "folder without a model": ("predict . data.csv", "There is no model.skops in the folder ."),
    "no grid": ("tune data.csv --search list.yaml", "must hold parameter names with lists"),
    "no YAML": ("tune data.csv --search broken.yaml", "(not YAML near line"),
    "no JSON": ("tune data.csv --search broken.json", "broken.json cannot be parsed"),
    "no values": ("tune data.csv --search empty.yaml", "empty.yaml has no values for 'C'"),
    "one group": ("tune data.csv --groups single", "All rows of data.csv are in one group"),
    "classes are groups": (
        "tune data.csv --target outcome --groups three --drop q", "are in one group, so a model",
    ),
    "small class": ("tune data.csv --method kfold --target rare", "has only 2 rows"),
    "jobs": ("tune data.csv --jobs 0", "--jobs must be a number of threads, or -1 for all; got 0."),
    "test file without labels": ("tune data.csv --test bare.csv", "needs labels (column 'out"),
    "no model": ("predict model.skops data.csv", "There is no file model.skops"),
    "other model": ("evaluate data.csv data.csv", "data.csv is damaged or not a spansvm"),
}  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder with data; gives exit code and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANSVM_DEBUG", "")
    header, *rows = ROWS.splitlines()
    # The classes of `three` are whole ranges of rows, so that a group is a class.
    more = [f"{int(i > 20) + int(i > 30)},1,{int(i < 2)},{row}" for i, row in enumerate(rows)]
    Path("data.csv").write_text("\n".join([f"three,single,rare,{header}", *more]))
    Path("one.csv").write_text("a,y\n1,no\n2,no\n3,no\n")
    Path("bare.csv").write_text("three,single,rare,age,colour,q\n0,1,0,1,r,0.5\n")
    grids = {
        "gama.yaml": "gama: [1]", "sigmoid.json": '{"weighting__steepness": [1]}',
        "negative.yaml": "C: [-1]", "list.yaml": "[1, 2]", "broken.yaml": "C: [1",
        "weights.yaml": "weighting__positive: [1, 2]", "text.yaml": "C: [high]",
        "broken.json": "{", "empty.yaml": "C: []", "gram.yaml": "kernel: [rbf, precomputed]",
        "odd-class.yaml": "class_weight: [{maybe: 2}]",
        "shape.yaml": "decision_function_shape: [ovo]",
    }  # fmt: skip
    for name, text in grids.items():
        Path(name).write_text(text)

    def command(line):
        monkeypatch.setattr(sys, "argv", ["spansvm", *shlex.split(line)])
        with pytest.raises(SystemExit) as exit:
            main()
        captured = capsys.readouterr()
        assert captured.out == ""
        return exit.value.code, captured.err

    return command


@pytest.mark.parametrize("name", WRONG)
def test_what_can_be_corrected_is_one_sentence_and_code_2(run, name):
    line, sentence = WRONG[name]
    code, err = run(line)
    told = err.splitlines()[-1]
    assert code == 2
    assert err.count("Error") == 1
    assert "Traceback" not in err
    assert told.startswith("Error: ")
    assert sentence in told
    assert told.endswith(".")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything may be written")
def test_a_folder_that_may_not_be_written_is_told(run, tmp_path):
    tmp_path.joinpath("locked").mkdir(mode=0o500)
    code, err = run("tune data.csv --quiet --out locked/results")
    assert code == 2
    assert "; change its permissions, or choose another --out." in err


def test_a_wrong_file_leaves_no_folder_behind(run):
    run("tune one.csv")
    assert not Path("one-tuned").exists()


def test_something_unexpected_is_code_1_and_points_to_debug(run, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("the sky\nfell")

    monkeypatch.setattr(SpanSearch, "fit", fail)
    code, err = run("tune data.csv --quiet")
    assert code == 1
    assert err == "Error: unexpected error: the sky fell; run with --debug for details.\n"
    code, err = run("tune data.csv --quiet --debug")
    assert code == 1
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("Error: unexpected error: the sky fell")


def test_the_environment_shows_tracebacks_too(run, monkeypatch):
    monkeypatch.setenv("SPANSVM_DEBUG", "1")
    code, err = run("tune nothing.csv")
    assert code == 2
    assert "Traceback" in err


def test_an_interrupted_search_is_code_130_and_writes_nothing(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(SpanSearch, "fit", interrupt)
    code, err = run("tune data.csv")
    assert code == 130
    assert err.splitlines()[-1] == "Interrupted; unfinished files were not written."
    assert not list(Path("data-tuned").iterdir())


def test_a_package_that_is_not_installed_is_told_before_the_search(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(SpanSearch, "fit", lambda *_: pytest.fail("the search began"))
    code, err = run("tune data.csv --quiet")
    assert code == 2
    assert 'pip install "spansvm[cli]"' in err
