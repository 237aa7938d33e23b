"""Models that were saved by released versions are read, and say what they said."""

from __future__ import annotations

import io
import json
import re
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning

from spansvm import __version__
from spansvm.models import load_model
from tests.models.saved import make

pytest.importorskip("skops.io")

SAID = {
    folder.name: json.loads((folder / "predictions.json").read_text(encoding="utf-8"))
    for folder in sorted(make.FOLDER.glob("[0-9]*"))
}
FILES = [(version, name) for version, said in SAID.items() for name in said]


def assert_same(found, expected, name):
    found = np.asarray(found)
    assert np.shape(found) == np.shape(expected), name
    if found.dtype.kind in "US":
        assert found.tolist() == expected, name
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=name)


# scikit-learn warns of its own steps, which it wrote.
@pytest.mark.filterwarnings("ignore", category=InconsistentVersionWarning)
@pytest.mark.parametrize(("version", "name"), FILES)
def test_a_model_of_a_released_version_says_what_it_said(version, name):
    saved = load_model(make.FOLDER / version / f"{name}.skops")
    assert saved.version == version
    found = make.predictions(saved.model)
    assert sorted(found) == sorted(SAID[version][name])
    for what, expected in SAID[version][name].items():
        assert_same(found[what], expected, what)


def test_this_version_has_saved_models_of_every_kind():
    assert __version__ in SAID
    for version, said in SAID.items():
        files = {path.stem for path in (make.FOLDER / version).glob("*.skops")}
        assert files == set(said)
    assert set(SAID[__version__]) == set(make.fitted())


def test_the_saved_models_are_small():
    for version in SAID:
        for path in (make.FOLDER / version).iterdir():
            assert path.stat().st_size < 40_000, path.name
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)


def test_a_schema_of_a_released_version_is_part_of_the_metadata(tmp_path):
    content = (make.FOLDER / "0.2.0" / "linear.skops").read_bytes()
    old = {"schema": {"target": "y"}, "version": "0.2.0", "command": "spansvm tune a.csv"}
    with (
        ZipFile(io.BytesIO(content)) as before,
        ZipFile(tmp_path / "old.skops", "w") as after,
    ):
        for name in before.namelist():
            member = json.dumps(old) if name == "spansvm.json" else before.read(name)
            after.writestr(name, member)
    assert load_model(make.FOLDER / "0.2.0" / "linear.skops").metadata == {}
    saved = load_model(tmp_path / "old.skops")
    assert saved.metadata == {"schema": {"target": "y"}}
    assert saved.command == "spansvm tune a.csv"
