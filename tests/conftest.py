from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("spansvm", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("spansvm")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real data sets."""
    folder = os.environ.get("SPANSVM_DATA")
    if not folder:
        pytest.skip("SPANSVM_DATA is not set: it names the folder with the paper's data sets")
    return Path(folder)
