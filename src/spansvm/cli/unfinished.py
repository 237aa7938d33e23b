"""An unfinished search on disk: the outcomes of its finished candidates, for ``--resume``.

A file of arrays and JSON, without pickle.  It also holds what decides the outcomes, the data and
the options, so that those of another search are never taken over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..errors import UserError
from ..search.kept import Kept
from ..search.work import Outcome

__all__ = ["FILE", "Unfinished"]

#: Name of the file in the folder of the results.
FILE = "unfinished.npz"

#: The member that holds everything but arrays.
_RECORD = "record"

#: What an outcome needs no more once it is recorded: outcomes of folds are recorded one by one.
_LEFT_OUT = ("folds", "exception", "error")

Outcomes = Mapping[str, Mapping[int, Outcome]]


@dataclass(frozen=True)
class Unfinished:
    """A search that was stopped.

    Attributes
    ----------
    about : dict of str to str
        What decides the outcomes, by the name of the option; the data by a fingerprint.
    sizes : dict
        How large the search is: what ``--sample`` and ``--components`` were, or what was chosen.
    outcomes : dict
        By candidate, as :func:`spansvm.cli.staged.key_of` writes it, and by fold.
    """

    about: dict[str, str]
    sizes: dict[str, Any]
    outcomes: Outcomes

    def write(self, path: Path) -> None:
        """Write it; candidates that failed are left out, to be tried again."""
        arrays: dict[str, np.ndarray] = {}
        written: dict[str, dict[str, Any]] = {}
        for number, (key, own) in enumerate(self.outcomes.items()):
            if any(outcome.exception is not None for outcome in own.values()):
                continue
            written[key] = {
                str(split): _packed(outcome, f"{number}.{split}", arrays)
                for split, outcome in own.items()
            }
        record = {"about": self.about, "sizes": self.sizes, "outcomes": written}
        arrays[_RECORD] = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
        with path.open("wb") as stream:
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]

    @classmethod
    def read(cls, folder: Path) -> Unfinished:
        """What a folder holds; UserError if there is no unfinished search."""
        path = folder / FILE
        if not path.is_file():
            raise UserError(
                f"There is no unfinished search in {folder}; leave --resume out, or pass the --out "
                "of the search that was stopped."
            )
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                record = json.loads(arrays[_RECORD].tobytes())
                outcomes = {
                    key: {int(split): _unpacked(one, arrays) for split, one in own.items()}
                    for key, own in record["outcomes"].items()
                }
            return cls(record["about"], record["sizes"], outcomes)
        except (OSError, BadZipFile, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path} is damaged; leave --resume out, and pass --force to begin anew."
            ) from error

    def check(self, about: Mapping[str, str], folder: Path) -> None:
        """UserError if another search is to be resumed."""
        for name, value in about.items():
            if self.about.get(name) == value:
                continue
            what = "with other data" if name == "data" else f"with another {name}"
            raise UserError(
                f"The unfinished search in {folder} was {what}; repeat its command with --resume "
                "at the end, or leave --resume out and pass --force to begin anew."
            )


def _packed(outcome: Outcome, name: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """An outcome as JSON; its arrays go to `arrays`."""
    packed: dict[str, Any] = {"arrays": {}}
    for one in fields(outcome):
        value = getattr(outcome, one.name)
        if one.name in _LEFT_OUT or value is None:
            continue
        if isinstance(value, Kept):
            parts = {"wrong": value.wrong, **value.responses}
            packed["kept"] = {}
            for part, array in parts.items():
                if array is not None:
                    arrays[f"{name}.kept.{part}"] = array
                    packed["kept"][part] = f"{name}.kept.{part}"
        elif isinstance(value, np.ndarray):
            arrays[f"{name}.{one.name}"] = value
            packed["arrays"][one.name] = f"{name}.{one.name}"
        elif isinstance(value, Mapping):
            packed[one.name] = {key: float(item) for key, item in value.items()}
        else:
            packed[one.name] = value.item() if isinstance(value, np.generic) else value
    return packed


def _unpacked(packed: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Outcome:
    values = {name: value for name, value in packed.items() if name not in ("arrays", "kept")}
    values |= {name: arrays[place] for name, place in packed["arrays"].items()}
    if "kept" in packed:
        parts = {name: arrays[place] for name, place in packed["kept"].items()}
        values["kept"] = Kept(parts.pop("wrong", None), parts)
    return Outcome(**values)
