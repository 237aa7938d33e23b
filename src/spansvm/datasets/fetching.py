"""Downloading what is missing of a data set into the cache."""

from __future__ import annotations

from pathlib import Path

from .download import download
from .files import (
    DataSetError,
    PublishedFile,
    cache_folder,
    check_content,
    find,
    read_content,
    store,
)
from .loading import describe, parse

__all__ = ["fetch"]


def fetch(name: str, force: bool = False) -> dict[str, Path]:
    """Download what is missing of a data set from its publisher into the cache.

    Nothing enters the cache before all files of the set were received whole, have their checksums
    where these are known, and give the published numbers of rows, features and labels.  A file
    of the cache that has changed since is downloaded again.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    force : bool, default=False
        Download also what is there.  Files in the folder that ``SPANSVM_DATA`` names still go
        first when the set is loaded.

    Returns
    -------
    dict of str to Path
        Where each file is.

    Raises
    ------
    DataSetError
        If a file cannot be downloaded or is not what was published.
    ImportError
        If pooch, of the extra ``data``, is not installed.
    """
    description = describe(name)
    contents: list[bytes] = []
    places: dict[str, Path] = {}
    received: dict[Path, bytes] = {}
    for file in description.files:
        kept = None if force else _kept(file)
        if kept is not None:
            content, place = kept
        else:
            offered = _offered(file, name)
            content, place = _download(offered, description.homepage), cache_folder() / offered.path
            received[place] = content
        contents.append(content)
        places[file.path] = place
    if received:
        parse(description, tuple(contents))
    for place, content in received.items():
        store(content, place)
    return places


def _kept(file: PublishedFile) -> tuple[bytes, Path] | None:
    found = find(file)
    if found is None:
        return None
    form, path = found
    try:
        return read_content(form, path), path
    except DataSetError:
        if path.is_relative_to(cache_folder()):
            return None
        raise


def _offered(file: PublishedFile, name: str) -> PublishedFile:
    """The file or its stand-in, whichever can be downloaded."""
    for form in (file, file.stand_in):
        if form is not None and form.url is not None:
            return form
    raise DataSetError(f"{name} cannot be downloaded. {file.by_hand}")


def _download(file: PublishedFile, homepage: str) -> bytes:
    try:
        content = download(file)
        check_content(file, content, str(file.url))
    except DataSetError as error:
        raise DataSetError(
            f"{error} Try again later; or get it yourself (see {homepage}) and put it into a "
            f"folder that SPANSVM_DATA names, as {file.path}."
        ) from error
    return content
