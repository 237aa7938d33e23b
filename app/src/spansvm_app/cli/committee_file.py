"""The committee of a search, which ``spansvm tune --committee`` writes besides the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spansvm.models import save_model

from ..common.output import OutputFolder
from ..tables import Schema
from .request import TuneRequest
from .searching import Searched
from .terminal import Terminal

__all__ = ["COMMITTEE", "write_committee"]

#: Name of the file.
COMMITTEE = "committee.skops"


def write_committee(
    folder: OutputFolder, request: TuneRequest, found: Searched, schema: Schema, terminal: Terminal
) -> Path | None:
    """Write the committee if it is asked for, and note its corrected score, or why there is none.

    Parameters
    ----------
    folder : OutputFolder
    request : TuneRequest
    found : Searched
    schema : Schema
    terminal : Terminal

    Returns
    -------
    Path or None
        The file.
    """
    # A file from an earlier search would be mistaken for that of this one.
    (folder.path / COMMITTEE).unlink(missing_ok=True)
    if not request.committee:
        return None
    reason = "the search had only some of the rows; pass --sample all"
    committee: Any = None
    if found.sample is None:
        try:
            with terminal.telling_warnings():
                committee = found.search.committee_
        except (AttributeError, ValueError) as error:
            reason = str(error).removesuffix(".")
    if committee is None:
        terminal.note(f"No {COMMITTEE} was written: {reason}.")
        return None
    terminal.note(
        f"{COMMITTEE} holds a committee of {len(committee.members_)} candidates, which predict "
        f"together; {_score_in_words(committee, request.scoring or 'accuracy')}."
    )
    with folder.writing(COMMITTEE) as path:
        save_model(path, committee, metadata={"schema": schema.to_json()}, command=request.command)
    return folder.path / COMMITTEE


def _score_in_words(committee: Any, name: str) -> str:
    try:
        low, high = committee.corrected_interval_
    except AttributeError:
        return f"its left-out {name}, which is optimistic, is {committee.loo_score_:.4g}"
    return (
        f"its corrected {name} is {committee.corrected_score_:.4g}, the 95% CI "
        f"{low:.4g} to {high:.4g}"
    )
