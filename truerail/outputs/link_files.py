"""Names of a host's network interfaces as systemd's `.link` files, as a patch to review. Nothing here is applied.

Format: systemd.link(5). `PermanentMACAddress=` matches the card, whatever name the kernel gave it. Without a
`NamePolicy=` in the same file `Name=` decides; of several files the first by name applies, before `99-default.link`.
The names are in use until the interfaces are renamed, so that a file takes effect at the next boot.
"""

import re
from collections.abc import Mapping
from typing import Final

from truerail.model.names import printable
from truerail.outputs.renaming import text_diff

_FOLDER: Final = "etc/systemd/network"
_INTERFACE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")
"""A name that Linux takes for an interface (15 characters), without those that would need quotes."""


def link_files(macs: Mapping[str, str]) -> str:
    """A patch for `patch -p0 -d /` that adds a file for each interface: `macs` are the permanent MAC addresses by the
    name that each gets.
    """
    return "".join(
        text_diff("", f"[Match]\nPermanentMACAddress={mac}\n\n[Link]\nName={name}\n", f"{_FOLDER}/10-{name}.link")
        for name, mac in macs.items()
    )


def unfit_name(name: str) -> str:
    """Why an interface cannot have this name; empty if it can."""
    return "" if _INTERFACE.fullmatch(name) else f"{printable(name, 80)!r} is no name of a network interface"
