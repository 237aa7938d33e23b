"""The published files: where they are on this machine, and whether they are what they should be.

A file is looked for in the folder that the environment variable ``SPANSVM_DATA`` names, as it is
or compressed (``.gz``), and then in the cache.  What has a known checksum must have it; what is
in the cache must also be as it was when it was stored.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError

__all__ = [
    "DataSetError",
    "PublishedFile",
    "cache_folder",
    "check_content",
    "find",
    "gunzip",
    "read_content",
    "store",
]


class DataSetError(UserError):
    """A data set is not here, cannot be downloaded, or is not as published."""


@dataclass(frozen=True)
class PublishedFile:
    """A file of a data set as its publisher offers it.

    Attributes
    ----------
    path : str
        Folder and name, uncompressed, below ``SPANSVM_DATA`` or the cache.
    sha256 : str or None
        Checksum of the uncompressed content; None where it is not known.
    text : bool
        Copies of text files differ in line ends and blanks, which mean nothing here.  Their
        checksum is taken with single blanks, none at the ends of lines, and line feeds between.
    url : str or None
        From where the publisher offers it, perhaps compressed (``.gz``).
    member : str or None
        Its name inside the ZIP archive at `url`.
    stand_in : PublishedFile or None
        Another file that has the same data and is taken where this one is missing.
    by_hand : str
        What to do where it cannot be downloaded by a program.
    """

    path: str
    sha256: str | None = None
    text: bool = True
    url: str | None = None
    member: str | None = None
    stand_in: PublishedFile | None = None
    by_hand: str = ""


def cache_folder() -> Path:
    """Where downloads are kept: ``SPANSVM_CACHE``, or the platform's folder for such things."""
    chosen = os.environ.get("SPANSVM_CACHE")
    if chosen:
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData/Local") / "spansvm" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "spansvm"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "spansvm"


def _data_folder() -> Path | None:
    chosen = os.environ.get("SPANSVM_DATA")
    if not chosen:
        return None
    if not Path(chosen).is_dir():
        raise DataSetError(f"SPANSVM_DATA must name a folder with data sets; {chosen} is none.")
    return Path(chosen)


def find(file: PublishedFile) -> tuple[PublishedFile, Path] | None:
    """The file or its stand-in, with its path; None if neither is on this machine."""
    forms = [file] if file.stand_in is None else [file, file.stand_in]
    folder = _data_folder()
    if folder is not None:
        for form in forms:
            for path in (folder / form.path, folder / f"{form.path}.gz"):
                if path.is_file():
                    return form, path
    for form in forms:
        path = cache_folder() / form.path
        # Without its record it is the rest of an interrupted download.
        if path.is_file() and _record_of(path).is_file():
            return form, path
    return None


def read_content(file: PublishedFile, path: Path) -> bytes:
    """The uncompressed content of a file that `find` found; DataSetError if it was altered."""
    content = path.read_bytes()
    record = _record_of(path)
    if path.is_relative_to(cache_folder()) and record.is_file():
        if hashlib.sha256(content).hexdigest() != record.read_text().strip():
            raise DataSetError(
                f"{path} has changed since it was downloaded. Fetch the data set again."
            )
    elif path.suffix == ".gz":
        content = gunzip(content, str(path))
    check_content(file, content, str(path))
    return content


def gunzip(content: bytes, origin: str) -> bytes:
    """What a gzip file holds; DataSetError if it is damaged or cut."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataSetError(f"{origin} is not a whole gzip file: {error}.") from error


def check_content(file: PublishedFile, content: bytes, origin: str) -> None:
    """DataSetError unless the content has the known checksum, where one is known."""
    if file.sha256 is None:
        return
    found = _fingerprint(content) if file.text else hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DataSetError(
            f"{origin} is not the published {file.path}: its SHA-256 is {found}, "
            f"that of the published file {file.sha256}."
        )


def store(content: bytes, path: Path) -> None:
    """Put a file into the cache, whole or not at all, with a record of its checksum.

    The record comes last, and is first removed from a file that is replaced: whenever this is
    interrupted, what it leaves does not count as a file of the cache.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    record = _record_of(path)
    record.unlink(missing_ok=True)
    _write_atomically(content, path)
    _write_atomically(hashlib.sha256(content).hexdigest().encode(), record)


def _write_atomically(content: bytes, path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as new:
        try:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            new.close()
            # Temporary files are their owner's alone; a cache may be shared.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(new.name, 0o666 & ~umask)
            os.replace(new.name, path)
        except BaseException:
            new.close()
            Path(new.name).unlink(missing_ok=True)
            raise


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _fingerprint(text: bytes) -> str:
    lines = b"\n".join(b" ".join(line.split()) for line in text.splitlines())
    return hashlib.sha256(lines).hexdigest()
