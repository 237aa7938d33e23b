"""Getting one file over the network: retries with growing pauses, timeouts, a progress bar.

What comes back is the whole file or an error.  Needs pooch, of the extra ``data``.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from ..errors import require
from .files import DataSetError, PublishedFile, gunzip

if TYPE_CHECKING:
    import requests

__all__ = ["download"]

#: How often a download is tried, and how long it rests after the first failure; twice as long
#: after each further one.
ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 1.0

#: How long to wait for a server that does not answer.
TIMEOUT_SECONDS = 30.0

#: Refusals that may be over a little later.  Other statuses from 400 to 499 are final.
_PASSING_STATUSES = {408, 425, 429}


def download(file: PublishedFile) -> bytes:
    """The uncompressed content of a published file.

    Parameters
    ----------
    file : PublishedFile
        Its `url` must be known.

    Raises
    ------
    DataSetError
        If it cannot be had whole.
    ImportError
        If pooch is not installed.
    """
    if file.url is None:
        raise ValueError(f"{file.path} has no address to download it from.")
    received = _receive(file.url)
    if file.member is not None:
        return _unzip(received, file.member, file.url)
    return gunzip(received, file.url) if file.url.endswith(".gz") else received


def _receive(url: str) -> bytes:
    pooch, requests = require("pooch", "data"), require("requests", "data")
    with tempfile.TemporaryDirectory(prefix="spansvm-") as folder:
        target = Path(folder) / "received"
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with _Bar(url) as bar:
                    # Not compressed on the way, so that the announced length is that of the file.
                    get = pooch.HTTPDownloader(
                        progressbar=bar,
                        timeout=TIMEOUT_SECONDS,
                        headers={"Accept-Encoding": "identity"},
                    )
                    get(url, str(target), None)
                received = target.read_bytes()
                if bar.total and len(received) != bar.total:
                    raise requests.exceptions.ContentDecodingError(
                        f"{len(received)} of {bar.total} bytes came"
                    )
                return received
            except requests.exceptions.RequestException as error:
                if attempt == ATTEMPTS or _is_final(error.response):
                    raise DataSetError(
                        f"{url} could not be downloaded: {_reason(error, url)}."
                    ) from error
                time.sleep(FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
    raise AssertionError("The last attempt returns or raises.")


def _reason(error: requests.exceptions.RequestException, url: str) -> str:
    """Why a download failed, without what the libraries below say of themselves."""
    from requests import exceptions

    host = urlsplit(url).hostname
    if error.response is not None:
        return f"{host} answers {error.response.status_code} ({error.response.reason})"
    if isinstance(error, exceptions.Timeout):
        return f"{host} timed out"
    if isinstance(error, exceptions.ConnectionError):
        return f"no connection to {host}"
    if isinstance(error, (exceptions.ChunkedEncodingError, exceptions.ContentDecodingError)):
        return "it did not come whole"
    return str(error)


def _is_final(response: object) -> bool:
    status = getattr(response, "status_code", 0)
    return 400 <= status < 500 and status not in _PASSING_STATUSES


def _unzip(archive: bytes, member: str, origin: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            return files.read(member)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise DataSetError(f"{origin} is not a ZIP archive with {member}: {error}.") from error


class _Bar:
    """The progress of a download as pooch reports it, shown on a terminal alone."""

    def __init__(self, url: str) -> None:
        self.total = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task(url.rpartition("/")[2], total=None)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, n_bytes: int) -> None:
        self._bar.update(self._task, advance=n_bytes, total=self.total or None)

    def reset(self) -> None:
        self._bar.update(self._task, completed=0)

    def close(self) -> None:
        """Nothing is left to do: the context closes it."""
