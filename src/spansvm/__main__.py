"""``python -m spansvm``: the command line, which is an application of its own."""

from __future__ import annotations

import sys

from .errors import MissingPackageError, require

__all__ = ["main"]


def main() -> None:
    """Hand over to the command line, or say how it is installed."""
    try:
        application = require("spansvm_app.cli", "cli")
    except MissingPackageError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    application.main()


if __name__ == "__main__":
    main()
