"""The command ``spansvm``, also as ``python -m spansvm``."""

from __future__ import annotations

import sys

from .errors import MissingPackageError, require

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        for package in ("typer", "rich"):
            require(package, "cli")
    except MissingPackageError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    from .cli import main as run

    run()


if __name__ == "__main__":
    main()
