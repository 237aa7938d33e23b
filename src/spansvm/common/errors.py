"""Errors for users of the command line: one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

__all__ = ["MissingPackageError", "UserError", "closest_name", "listed", "require"]


class UserError(ValueError):
    """An error that the user can correct; its message is one sentence that says how."""


class MissingPackageError(UserError, ImportError):
    """An optional package is needed here but not installed."""


def require(module: str, extra: str) -> Any:
    """Import an optional module.

    Parameters
    ----------
    module : str
    extra : str
        The extra of spansvm that installs it, for the message.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingPackageError(
            f'{package} is needed for this but not installed: pip install "spansvm[{extra}]" '
            f'(in the project folder: pip install ".[{extra}]").'
        ) from error


def listed(parts: Sequence[str], most: int = 5) -> str:
    """The parts as a list in a sentence; if more than `most`, the first ones and the last."""
    if len(parts) <= most:
        return ", ".join(parts)
    return f"{', '.join(parts[: most - 1])}, ..., {parts[-1]} ({len(parts)} in all)"


def closest_name(name: str, candidates: Iterable[str]) -> str:
    """The end of a message about an unknown name: a similar candidate, or nothing."""
    known = {candidate.lower(): candidate for candidate in candidates}
    found = get_close_matches(name.lower(), known, n=1)
    return f" (did you mean '{known[found[0]]}'?)" if found else ""
