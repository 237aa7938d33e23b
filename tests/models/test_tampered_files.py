"""SECURITY.md is true: files that were tampered with are refused, and nothing in them runs."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from spansvm import SpanSVC
from spansvm.errors import UserError
from spansvm.models import TRUSTED, load_model, save_model
from spansvm.search.evaluation.checkpoint import Checkpoint

skops_io = pytest.importorskip("skops.io")
ROOT = Path(__file__).parents[2]


class Attack:
    """Pickled, it makes a folder when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def tampered(path: Path, edit) -> Path:
    """A copy of a saved model in which `edit` changes the members, given by name."""
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    edit(members)
    copy = path.with_name("tampered.skops")
    with ZipFile(copy, "w", compression=ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return copy


@pytest.fixture
def saved(tmp_path):
    X, y = load_iris(return_X_y=True)
    save_model(tmp_path / "model.skops", make_pipeline(FunctionTransformer(), SpanSVC()).fit(X, y))
    return tmp_path / "model.skops"


def pickled(mark: Path) -> bytes:
    """An array in numpy's format that is a pickle."""
    buffer, content = io.BytesIO(), np.empty(1, dtype=object)
    content[0] = Attack(mark)
    np.save(buffer, content, allow_pickle=True)
    return buffer.getvalue()


def test_the_attack_would_work_where_pickles_are_read(tmp_path):
    np.load(io.BytesIO(pickled(tmp_path / "mark")), allow_pickle=True)
    assert (tmp_path / "mark").exists()
    with pytest.raises(FileExistsError):
        pickle.loads(pickle.dumps(Attack(tmp_path / "mark")))


@pytest.mark.parametrize(
    "node",
    [
        {"__class__": "system", "__module__": "posix", "__loader__": "FunctionNode"},
        {"__class__": "mkdir", "__module__": "os", "__loader__": "FunctionNode"},
        {"__class__": "Popen", "__module__": "subprocess", "__loader__": "TypeNode"},
        {"__class__": "SpanSVCx", "__module__": "spansvm.estimators.svc", "__loader__": "TypeNode"},
    ],
)
def test_a_function_or_type_that_is_not_trusted_is_refused(saved, node):
    """A function is put in the place of a parameter, which a step would call."""

    def put(members):
        schema = json.loads(members["schema.json"])
        text = json.dumps(schema)
        steps = re.search(r'"func": (\{[^{}]*\})', text)
        content = node["__class__"]
        if node["__loader__"] == "FunctionNode":
            content = {"module_path": node["__module__"], "function": node["__class__"]}
        new = json.dumps({**node, "content": content, "__id__": 0})  # no other's
        members["schema.json"] = text.replace(steps[1], new, 1).encode()

    with pytest.raises(UserError, match=r"could run arbitrary code"):
        load_model(tampered(saved, put))


def test_another_class_in_the_place_of_the_model_is_refused(saved):
    def put(members):
        text = members["schema.json"].decode()
        assert '"spansvm.estimators.svc"' in text
        members["schema.json"] = text.replace(
            '"__class__": "SpanSVC",\n', '"__class__": "Popen",\n'
        ).replace('"spansvm.estimators.svc"', '"subprocess"').encode()  # fmt: skip

    path = tampered(saved, put)
    with ZipFile(path) as archive:
        assert b'"Popen"' in archive.read("schema.json")
    with pytest.raises(UserError, match=r"holds a subprocess\.Popen, which could run"):
        load_model(path)


def test_an_array_that_is_a_pickle_is_refused(saved, tmp_path):
    mark = tmp_path / "mark"

    def put(members):
        first = next(name for name in members if name.endswith(".npy"))
        members[first] = pickled(mark)

    with pytest.raises(UserError, match="is damaged or not a spansvm model"):
        load_model(tampered(saved, put))
    assert not mark.exists()


def test_a_checkpoint_with_a_pickle_is_refused(tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "search.npz"
    with ZipFile(path, "w") as archive:
        record = np.empty(1, dtype=object)
        record[0] = Attack(mark)
        archive.writestr("record.npy", pickled(mark))
    with pytest.raises(ValueError, match="cannot be read"):
        Checkpoint.read(path)
    assert not mark.exists()


def test_what_skops_and_we_trust_holds_no_function_that_runs_others():
    """Types of ours are classes, and none calls what a file gives it."""
    own = [name for name in TRUSTED if name.startswith("spansvm.")]
    assert len(own) > 10
    for name in own:
        module, _, kind = name.rpartition(".")
        found = getattr(__import__(module, fromlist=[kind]), kind)
        assert isinstance(found, type), name
        assert "__reduce__" not in vars(found), name
        if "__setstate__" in vars(found):
            assert name in STATE_SETTERS, name


#: Their ``__setstate__`` fills in defaults.
STATE_SETTERS = {"spansvm.estimators.svc.SpanSVC"}


def test_the_package_reads_no_pickle():
    """Nothing calls what reads pickles, but for objects that the same process has just written."""
    reading = re.compile(r"pickle\.loads?\(|joblib\.load\(|allow_pickle=True|read_pickle")
    found = {
        path.relative_to(source).as_posix(): line.strip()
        for source in (ROOT / "src" / "spansvm", ROOT / "app" / "src" / "spansvm_app")
        for path in sorted(source.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if reading.search(line)
    }
    assert found == {"search/evaluation/scored.py": "pickle.loads(pickle.dumps(exception))"}
