"""Errors that users can correct: one sentence that says what to do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["MissingPackageError", "UserError", "require"]


#: What pip installs instead of an extra in the project folder, where the application is in app.
_IN_FOLDER = {"cli": ". ./app", "excel": '. "./app[excel]"'}


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

    Returns
    -------
    module
        MissingPackageError if it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        in_folder = _IN_FOLDER.get(extra, f'".[{extra}]"')
        raise MissingPackageError(
            f'{package} is needed for this but not installed: pip install "spansvm[{extra}]" '
            f"(in the project folder: pip install {in_folder})."
        ) from error
