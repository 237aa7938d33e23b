"""Files of searches that were made to do harm."""

import pytest

from spansvm_app.cli.grids import _parse_yaml


def test_a_search_in_yaml_makes_no_objects(tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(ValueError, match="not YAML"):
        _parse_yaml(f"C: !!python/object/apply:os.mkdir ['{mark}']")
    assert not mark.exists()
