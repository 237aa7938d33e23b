"""Result files: never overwritten unasked, never half-written; tables are CSV."""

from __future__ import annotations

import csv
import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from spansvm.errors import UserError

__all__ = ["OutputFolder", "replacing", "write_csv"]


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path to write to; it becomes the file `target` when the block ends without an error.

    The file appears complete or not at all; an existing one stays untouched until then.
    """
    temporary = _temporary(target)
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _temporary(target: Path) -> Path:
    # The suffix stays, as some writers choose the format by it.
    return target.with_name(f".{secrets.token_hex(4)}-{target.name}")


def write_csv(stream: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write rows, the heading first, as CSV; open files with ``newline=""``."""
    csv.writer(stream, lineterminator="\n").writerows(rows)


class OutputFolder:
    """A folder for results, created when the first file is written or prepared.

    Parameters
    ----------
    path : str or Path
    force : bool, default=False
        Whether existing files may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from spansvm_app.common.output import OutputFolder
    >>> folder = OutputFolder(tempfile.mkdtemp())
    >>> with folder.writing("numbers.txt") as path:
    ...     _ = path.write_text("1 2 3")
    >>> [file.name for file in folder.path.iterdir()]
    ['numbers.txt']
    """

    def __init__(self, path: str | Path, *, force: bool = False) -> None:
        self.path = Path(path)
        self.force = force

    def prepare(self, *names: str) -> None:
        """UserError unless files with these names can be written; call it before long work."""
        with self._reporting(self.path):
            for name in names:
                self._refuse_existing(name)
            self.path.mkdir(parents=True, exist_ok=True)
            trial = _temporary(self.path / "trial")
            trial.touch()
            trial.unlink()

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """Like :func:`replacing`, for a file in the folder; UserError if it cannot be written."""
        target = self.path / name
        with self._reporting(target):
            self._refuse_existing(name)
            self.path.mkdir(parents=True, exist_ok=True)
            with replacing(target) as temporary:
                yield temporary

    def _refuse_existing(self, name: str) -> None:
        target = self.path / name
        if target.exists() and not self.force:
            raise UserError(
                f"{target} exists; pass --force to replace it, or choose another --out."
            )
        if target.is_dir():
            raise UserError(f"{target} is a folder; move it, or choose another --out.")

    @contextmanager
    def _reporting(self, target: Path) -> Iterator[None]:
        """Turn system errors into errors that say what to do."""
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                message = (
                    f"The disk is full, so {target} was not written; free some space, or choose "
                    "another --out."
                )
            elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                message = (
                    f"There is no permission to write {target}; change its permissions, or choose "
                    "another --out."
                )
            elif isinstance(error, (FileExistsError, NotADirectoryError)):
                message = f"{self.path} is not a folder; choose another --out."
            else:
                reason = error.strerror or str(error)
                message = f"{target} cannot be written ({reason}); choose another --out."
            raise UserError(message) from error
