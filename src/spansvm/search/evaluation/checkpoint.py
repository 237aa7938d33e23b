"""An unfinished search on disk: the outcomes of its finished candidates, for later.

A file of arrays and JSON, without pickle.  It also holds what decides the outcomes, the data and
the parameters, so that those of another search are never taken over.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Number
from pathlib import Path
from types import NoneType
from typing import Any
from zipfile import BadZipFile

import joblib
import numpy as np

from ..scoring.kept import Kept
from .work import Outcome, Work

__all__ = ["Checkpoint", "KeepsCheckpoint", "decisive", "key_of"]

#: The member that holds everything but arrays.
_RECORD = "record"

#: What an outcome needs no more once it is recorded: outcomes of folds are recorded one by one.
_LEFT_OUT = ("folds", "exception", "error")


@dataclass(frozen=True)
class Checkpoint:
    """A search that was stopped.

    Attributes
    ----------
    about : dict of str to str
        What decides the outcomes, by name.
    outcomes : dict
        By candidate, as :func:`key_of` writes it, and by split.
    """

    about: Mapping[str, str]
    outcomes: Mapping[str, Mapping[int, Outcome]]

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
        record = {"about": dict(self.about), "outcomes": written}
        arrays[_RECORD] = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
        unnamed = path.with_name(f"{path.name}.part")  # another one stays until this is complete
        with unnamed.open("wb") as stream:
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
        unnamed.replace(path)

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """What a file holds; ValueError if that is no checkpoint."""
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                record = json.loads(arrays[_RECORD].tobytes())
                outcomes = {
                    key: {int(split): _unpacked(one, arrays) for split, one in own.items()}
                    for key, own in record["outcomes"].items()
                }
            return cls(dict(record["about"]), outcomes)
        except (OSError, BadZipFile, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"The checkpoint {path} cannot be read; delete it to begin anew."
            ) from error

    def difference(self, about: Mapping[str, str]) -> str | None:
        """What is different in another search; None if it is the same."""
        return next((name for name, one in about.items() if self.about.get(name) != one), None)


def decisive(
    work: Work, X: Any, y: np.ndarray, candidates: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """What decides the outcomes of a search, by name, as checksums."""
    parts = {
        "data": (X, y, work.params),
        "estimator": work.estimator,
        "method": work.method,
        "cv": work.leaving,
        "grid": [key_of(params) for params in candidates],
        "scoring": (work.scorers, work.score_params, work.train_scores, work.keeping),
        "gram_budget": work.gram_budget,
    }
    try:
        return {name: str(joblib.hash(part)) for name, part in parts.items()}
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise TypeError(
            "A search with a checkpoint needs an estimator, data and scorers that can be pickled, "
            f"to recognise them later: {error}"
        ) from error


def key_of(params: Mapping[str, Any]) -> str:
    """A candidate as text that is the same for the same values."""
    return repr(sorted((name, _plain(value)) for name, value in params.items()))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted((repr(_plain(key)), _plain(one)) for key, one in value.items())
    if isinstance(value, np.generic):
        value = value.item()
    # What is shown of other values need not be all of them.
    return value if isinstance(value, (str, Number, NoneType)) else joblib.hash(value)


def _packed(outcome: Outcome, name: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """An outcome as JSON; its arrays go to `arrays`."""
    packed: dict[str, Any] = {}
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
        elif isinstance(value, Mapping):
            packed[one.name] = {key: float(item) for key, item in value.items()}
        else:
            packed[one.name] = value.item() if isinstance(value, np.generic) else value
    return packed


def _unpacked(packed: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Outcome:
    values = dict(packed)
    if "kept" in packed:
        parts = {name: arrays[place] for name, place in packed["kept"].items()}
        values["kept"] = Kept(parts.pop("wrong", None), parts)
    return Outcome(**values)


class KeepsCheckpoint:
    """A search that writes and reads its checkpoint; the search derives from this class."""

    checkpoint: Any

    def _about(
        self, work: Work, X: Any, y: np.ndarray, candidates: list[dict[str, Any]]
    ) -> dict[str, str]:
        """What decides the outcomes; a checkpoint of another search is refused."""
        return decisive(work, X, y, candidates)

    def _finished_before(self, about: Mapping[str, str]) -> Mapping[str, Mapping[int, Outcome]]:
        """Outcomes of the checkpoint, if there is one."""
        if self.checkpoint is None or not Path(self.checkpoint).exists():
            return {}
        found = Checkpoint.read(Path(self.checkpoint))
        other = found.difference(about)
        if other is not None:
            raise ValueError(
                f"The checkpoint {self.checkpoint} is of another search: its {other} is not the "
                "same. Delete it to begin anew, or name another file."
            )
        return found.outcomes

    def _write_checkpoint(self, stages: Any, about: Mapping[str, str]) -> None:
        finished = stages.finished()
        if self.checkpoint is not None and finished:
            Checkpoint(about, finished).write(Path(self.checkpoint))

    def _end_checkpoint(self) -> None:
        """Delete it: the search is finished."""
        if self.checkpoint is not None:
            Path(self.checkpoint).unlink(missing_ok=True)
