"""The published files: where they are on this computer, what they hold, and how to get them.

A file is looked up in the folder named by the environment variable ``SPANSVM_DATA``, then in the
cache, where pooch puts its downloads; plain, or compressed as its publisher offers it.  A known
checksum is verified on every read.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import DownloadColumn, Progress, TaskID

from spansvm.common.progress_bars import progress_bar
from spansvm.errors import MissingPackageError, UserError, require

__all__ = ["DataSetError", "PublishedFile", "cache_folder", "download", "find", "read_content"]

#: How often a failed download is retried, and how long to wait for a server's answer.
RETRIES = 3
TIMEOUT_SECONDS = 30.0

#: Refusals that may be temporary.  Other statuses from 400 to 499 are final.
_PASSING_STATUSES = {408, 425, 429}


class DataSetError(UserError):
    """A data set is missing, cannot be downloaded, or differs from the published one."""


@dataclass(frozen=True)
class PublishedFile:
    """A file of a data set as its publisher offers it.

    Attributes
    ----------
    path : str
        Folder and name, uncompressed, below ``SPANSVM_DATA`` or the cache.
    sha256 : str or None
        Checksum of the uncompressed content; None where it is unknown and there is no download.
    text : bool
        Copies of text files differ in line ends and blanks, which mean nothing here.  Their
        checksum is of lines with single blanks, none at either end, separated by line feeds.
    url : str or None
        Where the publisher offers it, perhaps compressed (``.gz``).
    member : str or None
        Its name inside the ZIP archive at `url`.
    stand_in : PublishedFile or None
        Another file with the same data, used where this one is missing.
    by_hand : str
        What to do if a program cannot download it.
    """

    path: str
    sha256: str | None = None
    text: bool = True
    url: str | None = None
    member: str | None = None
    stand_in: PublishedFile | None = None
    by_hand: str = ""

    @property
    def packed_path(self) -> str:
        """Its path in the cache, where it stays compressed."""
        if self.member is not None:
            return f"{self.path}.zip"
        return f"{self.path}.gz" if (self.url or "").endswith(".gz") else self.path


def cache_folder() -> Path | None:
    """Where downloads are kept: ``SPANSVM_CACHE``, or the platform's cache folder.

    None without pooch, which downloads.
    """
    chosen = os.environ.get("SPANSVM_CACHE")
    try:
        return Path(chosen or require("pooch", "reproduction").os_cache("spansvm"))
    except MissingPackageError:
        return None


def _folders() -> Iterator[Path]:
    chosen = os.environ.get("SPANSVM_DATA")
    if chosen:
        if not Path(chosen).is_dir():
            raise DataSetError(f"SPANSVM_DATA must name a folder with data sets; got {chosen}.")
        yield Path(chosen)
    cache = cache_folder()
    if cache is not None:
        yield cache


def find(file: PublishedFile) -> tuple[PublishedFile, Path] | None:
    """The file or its stand-in, with its path; None if neither is on this computer."""
    for folder in _folders():
        for form in (file, file.stand_in):
            if form is None:
                continue
            for name in (form.path, f"{form.path}.gz", form.packed_path):
                if (folder / name).is_file():
                    return form, folder / name
    return None


def read_content(file: PublishedFile, path: Path) -> bytes:
    """The uncompressed content of a file from `find`; DataSetError if it was altered."""
    try:
        return _unpacked(file, path.read_bytes(), path.suffix, str(path))
    except DataSetError as error:
        if _in_cache(path):
            raise DataSetError(f"{error} Fetch the data set again.") from error
        raise


def _in_cache(path: Path) -> bool:
    cache = cache_folder()
    return cache is not None and path.is_relative_to(cache)


def _unpacked(file: PublishedFile, content: bytes, suffix: str, origin: str) -> bytes:
    if suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataSetError(f"{origin} is not a complete gzip file: {error}.") from error
    elif suffix == ".zip" and file.member is not None:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = archive.read(file.member)
        except (zipfile.BadZipFile, KeyError, EOFError, zlib.error) as error:
            raise DataSetError(
                f"{origin} is not a ZIP archive with {file.member}: {error}."
            ) from error
    if file.sha256 is not None:
        found = _checksum(content, file.text)
        if found != file.sha256:
            raise DataSetError(
                f"{origin} is not the published {file.path}: its SHA-256 is {found}, but that of "
                f"the published file is {file.sha256}."
            )
    return content


def _checksum(content: bytes, text: bool) -> str:
    if text:
        content = b"\n".join(b" ".join(line.split()) for line in content.splitlines())
    return hashlib.sha256(content).hexdigest()


def download(file: PublishedFile, homepage: str, force: bool = False) -> Path:
    """The path of a file or its stand-in, downloaded into the cache if necessary.

    Only complete files with the known checksum enter the cache.  An altered file in the cache is
    downloaded again.

    Parameters
    ----------
    file : PublishedFile
    homepage : str
        Where else to look for it, for messages.
    force : bool, default=False
        Download it even if it is present.

    Raises
    ------
    DataSetError
        If it cannot be downloaded or differs from the published file.
    ImportError
        If pooch, from the extra ``data``, is not installed.
    """
    found = None if force else find(file)
    if found is not None:
        try:
            read_content(*found)
            return found[1]
        except DataSetError:
            if not _in_cache(found[1]):
                raise
            found[1].unlink()
    offered = next((form for form in (file, file.stand_in) if form and form.url), None)
    if offered is None:
        raise DataSetError(f"{file.path} cannot be downloaded. {file.by_hand}")
    try:
        return _fetch(offered)
    except DataSetError as error:
        raise DataSetError(
            f"{error} Try again later, or get the file yourself (see {homepage}) and save it as "
            f"{offered.path} in the folder named by SPANSVM_DATA."
        ) from error


class _GivenUpError(Exception):
    """A download not worth retrying; pooch does not catch this."""


def _fetch(file: PublishedFile) -> Path:
    pooch, requests = require("pooch", "reproduction"), require("requests", "reproduction")
    path = (cache_folder() or Path()) / file.packed_path  # with pooch there is a cache
    # Under another name, as pooch does not replace a file without a checksum; its checksum would
    # be of the bytes sent, while ours is of the content.
    new = f"{path.name}.{os.getpid()}.new"
    cache = pooch.create(
        path.parent,
        base_url="",
        registry={new: None},
        urls={new: file.url},
        retry_if_failed=RETRIES,
    )

    def get(url: str, target: str, _: object) -> None:
        try:
            with _progress(url) as bar:
                pooch.HTTPDownloader(
                    progressbar=bar,
                    timeout=TIMEOUT_SECONDS,
                    headers={"Accept-Encoding": "identity"},  # a .gz file must stay one
                )(url, target, None)
            _unpacked(file, Path(target).read_bytes(), path.suffix, url)
        except requests.exceptions.HTTPError as error:
            status = error.response.status_code
            if 400 <= status < 500 and status not in _PASSING_STATUSES:
                raise _GivenUpError(_failure(url, error)) from error
            raise
        except DataSetError as error:
            raise _GivenUpError(str(error)) from error
        # Temporary files are private to their owner; a cache may be shared.
        Path(target).chmod(0o644)

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        return Path(cache.fetch(new, downloader=get)).replace(path)
    except _GivenUpError as error:
        raise DataSetError(str(error)) from error
    except requests.exceptions.RequestException as error:
        raise DataSetError(_failure(str(file.url), error)) from error
    finally:
        logger.setLevel(level)


def _failure(url: str, error: Any) -> str:
    """Why a download failed, without the libraries' own details."""
    from requests import exceptions

    host, reason = urlsplit(url).hostname, str(error)
    if error.response is not None:
        reason = f"{host} answered {error.response.status_code} ({error.response.reason})"
    elif isinstance(error, exceptions.Timeout):
        reason = f"{host} timed out"
    elif isinstance(error, exceptions.ConnectionError):
        reason = f"no connection to {host}"
    elif isinstance(error, (exceptions.ChunkedEncodingError, exceptions.ContentDecodingError)):
        reason = "the transfer was incomplete"
    return f"{url} could not be downloaded: {reason}."


@contextmanager
def _progress(url: str) -> Iterator[_Bar]:
    """A progress bar on a terminal; nothing elsewhere."""
    with progress_bar(
        DownloadColumn(), console=Console(stderr=True), shown=sys.stderr.isatty()
    ) as shown:
        yield _Bar(shown, shown.add_task(url.rpartition("/")[2], total=None))


class _Bar:
    """The progress of a download, as reported by pooch."""

    total = 0

    def __init__(self, shown: Progress, task: TaskID) -> None:
        self._shown, self._task = shown, task

    def update(self, n_bytes: int) -> None:
        self._shown.update(self._task, advance=n_bytes, total=self.total or None)

    def reset(self) -> None:
        self._shown.update(self._task, completed=0)

    def close(self) -> None:
        """Do nothing: the context closes it."""
