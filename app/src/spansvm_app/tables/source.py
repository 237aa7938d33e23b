"""Bytes of a user's file: plain or compressed, from a path or from standard input.

A source is inspected before it is read: its first bytes reveal the format and how much memory the
whole file will need.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from spansvm.errors import UserError

from ..common.wording import closest_name

__all__ = ["Source", "gigabytes", "open_source"]

#: How much is inspected before the whole file is read.
_SAMPLE = 2**20

_CHUNK = 2**24

_BLOCK = 2**12


@dataclass(frozen=True)
class _Compression:
    name: str
    ending: str
    magic: bytes
    open: Callable[[IO[bytes]], Any]
    decompressor: Callable[[], Any]


_COMPRESSIONS = (
    _Compression(
        "gzip",
        ".gz",
        b"\x1f\x8b",
        lambda raw: gzip.GzipFile(fileobj=raw),
        lambda: zlib.decompressobj(16 + zlib.MAX_WBITS),  # 16: with the header of gzip
    ),
    _Compression("bzip2", ".bz2", b"BZh", bz2.BZ2File, bz2.BZ2Decompressor),
    _Compression("xz", ".xz", b"\xfd7zXZ\x00", lzma.LZMAFile, lzma.LZMADecompressor),
)


@dataclass(frozen=True)
class Source:
    """A file that has been inspected, but not yet read.

    Attributes
    ----------
    name : str
        For messages.
    ending : str
        Suffix of the file, without that of the compression, in lower case: ".csv".
    sample : bytes
        The beginning of the content.
    size : float
        Bytes of the whole content; if compressed, estimated from the sample.
    """

    name: str
    ending: str
    sample: bytes
    size: float
    _compression: _Compression | None = field(repr=False)
    _open: Callable[[], Any] = field(repr=False)

    def read(self) -> bytes:
        """The whole content, decompressed."""
        with _reporting(self.name, self._compression), self._open() as raw:
            return bytes(_unpacked(raw, self._compression).read())


def open_source(path: str | Path, *, available: float) -> Source:
    """Inspect a file.

    Parameters
    ----------
    path : str or Path
        "-" is standard input, which is read completely.
    available : float
        Bytes of memory that standard input may take.
    """
    if str(path) == "-":
        content = _read_standard_input(available)
        name, ending, size = "standard input", "", len(content)
        opened: Callable[[], Any] = partial(io.BytesIO, content)
    else:
        path = Path(path)
        _check_file(path)
        name, ending, size = path.name, path.suffix.lower(), path.stat().st_size
        opened = partial(io.FileIO, path)
    with _reporting(name, None), opened() as raw:
        start = raw.read(8)
    if not start:
        raise UserError(f"{name} is empty; give a file with a header and rows.")
    compression = next((one for one in _COMPRESSIONS if start.startswith(one.magic)), None)
    named = next((one for one in _COMPRESSIONS if one.ending == ending), None)
    if named is not None:
        if named is not compression:
            raise UserError(f"{name} is not {named.name} data; correct its suffix.")
        ending = Path(name).with_suffix("").suffix.lower()
    with _reporting(name, compression), opened() as raw:
        sample = _unpacked(raw, compression).read(_SAMPLE)
        if len(sample) < _SAMPLE:
            total: float = len(sample)
        else:
            total = size if compression is None else size * _expansion(opened, compression)
    if not sample.strip():
        raise UserError(f"{name} is empty; give a file with a header and rows.")
    return Source(name, ending, sample, total, compression, opened)


def gigabytes(size: float) -> str:
    """A readable number of bytes."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


def _unpacked(raw: IO[bytes], compression: _Compression | None) -> Any:
    return raw if compression is None else compression.open(raw)


def _expansion(opened: Callable[[], Any], compression: _Compression) -> float:
    """Bytes of content per byte of the file, at its beginning.

    Decompressed here, as files of the standard library do not tell how far they have read ahead.
    """
    decompressor = compression.decompressor()
    compressed = content = 0
    with opened() as raw:
        while content < _SAMPLE and not decompressor.eof and (block := raw.read(_BLOCK)):
            content += len(decompressor.decompress(block))
            compressed += len(block)
    return content / (compressed - len(decompressor.unused_data))


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UserError(f"{path} is a folder; give a file.")
    if not path.exists():
        folder = path.parent
        names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        raise UserError(f"There is no file {path}{closest_name(path.name, names)}; check its name.")


def _read_standard_input(available: float) -> bytes:
    content = bytearray()
    while chunk := sys.stdin.buffer.read(_CHUNK):
        content += chunk
        if len(content) > available:
            raise UserError(
                f"Standard input is larger than the free memory ({gigabytes(available)}); use "
                "fewer rows, or give a file to learn how much memory it needs."
            )
    return bytes(content)


@contextmanager
def _reporting(name: str, compression: _Compression | None) -> Iterator[None]:
    """Turn reading errors into errors that say what to do."""
    kind = "data" if compression is None else f"{compression.name} data"
    try:
        yield
    except EOFError as error:
        raise UserError(
            f"{name} is truncated (incomplete {kind}); copy or download it again."
        ) from error
    except PermissionError as error:
        raise UserError(
            f"There is no permission to read {name}; change its permissions."
        ) from error
    except (OSError, lzma.LZMAError, zlib.error) as error:
        raise UserError(
            f"{name} cannot be read (damaged {kind}); copy or download it again."
        ) from error
