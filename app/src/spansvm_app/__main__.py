"""The command ``spansvm``, as ``python -m spansvm_app``."""

from .cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
