"""The devices of the inventory with which a round was captured, stored beside its folders.

A replay then knows, as the live round did, which planned devices the inventory does not have: those were never queried,
which differs from no answer. A capture made by hand has no such file: unknown.
"""

import json
from collections.abc import Iterable

from truerail.errors import FileRefusedError
from truerail.model.names import natural_key
from truerail.transport.folders import Folder, Listing
from truerail.transport.warnings import Notes

FILE = "inventory.json"
_LONGEST_NAME = 255


def dump(names: Iterable[str]) -> bytes:
    """The file's content: a JSON array of names."""
    return (json.dumps(sorted(names, key=natural_key), indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def load(content: bytes) -> frozenset[str]:
    """The names. Raises `FileRefusedError` for anything but a JSON array of names."""
    try:
        names = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileRefusedError("not JSON") from error
    if not isinstance(names, list) or not all(isinstance(one, str) and 0 < len(one) <= _LONGEST_NAME for one in names):
        raise FileRefusedError("not an array of names")
    return frozenset(names)


def inventory_of(folder: Folder, listing: Listing, notes: Notes) -> frozenset[str] | None:
    """The inventory in a round's folder; None if there is none or it cannot be read, which is noted."""
    if FILE not in listing.files:
        return None
    try:
        return load(folder.read(FILE))
    except FileRefusedError as refused:
        notes.add(f"refused, {refused}", FILE)
        return None
