"""Zip archives whose bytes depend on their content alone: no times, no addresses in memory."""

from __future__ import annotations

import io
import re
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

__all__ = ["add_member", "without_addresses"]

#: Where skops says what a model is made of, and how it names objects and their files: by address.
_SCHEMA = "schema.json"
_OBJECT, _FILE = re.compile(r'("__id__": )(\d+)'), re.compile(r"\d+(?=\.\w+$)")

#: The earliest time that an archive can hold.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def add_member(archive: ZipFile, name: str, content: str | bytes) -> None:
    """Add a file without the time at which that happened."""
    member = ZipInfo(name, _EPOCH)
    member.compress_type = ZIP_DEFLATED
    archive.writestr(member, content)


def without_addresses(content: bytes) -> bytes:
    """An archive of skops with its objects numbered in the order in which it names them."""
    with ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = members.pop(_SCHEMA).decode()
    found = dict.fromkeys(match[2] for match in _OBJECT.finditer(schema))
    numbers = {address: str(number) for number, address in enumerate(found, 1)}
    schema = _OBJECT.sub(lambda match: match[1] + numbers[match[2]], schema)
    names = {}
    for name in members:
        address = _FILE.search(name)
        number = None if address is None else numbers.get(address[0])
        names[name] = name if number is None else _FILE.sub(number, name)
        schema = schema.replace(f'"{name}"', f'"{names[name]}"')
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", compression=ZIP_DEFLATED) as archive:
        add_member(archive, _SCHEMA, schema)
        for name in sorted(members, key=names.__getitem__):
            add_member(archive, names[name], members[name])
    return buffer.getvalue()
