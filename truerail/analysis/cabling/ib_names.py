"""How InfiniBand names nodes: GUIDs, and the descriptions in recorded answers of `ibnetdiscover` and `ibdiagnet`."""

import re

_MANAGED = re.compile(r"MF\d+;(?P<host>[^:]+):(?P<model>[^/]*)(?P<chip>/.+)?")
"""The description that a managed switch builds from its host name: `MF0;leaf-1:MQM9700/U1`."""
_FACTORY = re.compile(r"\bTechnologies\b|\bAggregation Node$", re.IGNORECASE)
"""Factory names of switches without a configured name: `Quantum-2 Mellanox Technologies`."""
_ONLY_CHIP = "/U1"
_GUID = re.compile(r"[0-9a-f]{16}")
_IPOIB_DIGITS, _GUID_DIGITS = 59, 23
"""Digits of `00:00:10:49:fe:80:...` in total, and of its last 8 octets."""


def canonical_guid(text: str | None) -> str | None:
    """`0xb8cef60300fbe2a1` from any usual spelling (bare, with colons, `S-` or `H-` before it), else None."""
    bare = (text or "").strip().lower().removeprefix("s-").removeprefix("h-").removeprefix("0x").replace(":", "")
    return f"0x{bare}" if _GUID.fullmatch(bare) else None


def ipoib_guid(address: str | None) -> str | None:
    """The port GUID in the address of an IPoIB interface: the last 8 of its 20 octets (RFC 4391); None for a MAC."""
    return canonical_guid(address[-_GUID_DIGITS:]) if address is not None and len(address) == _IPOIB_DIGITS else None


def spellings(description: str) -> tuple[str, ...]:
    """The names that a node description may represent, itself first: `MF0;leaf-1:MQM9700/U1` is also `leaf-1`.

    A chip of a switch with several is a switch of its own: `MF0;core:CS8500/L03/U1` is `core/L03/U1`.
    """
    found = _MANAGED.fullmatch(description.strip())
    if found is None:
        return (description,)
    chip = found["chip"] or _ONLY_CHIP
    return description, found["host"] if chip == _ONLY_CHIP else found["host"] + chip


def chip_of(description: str) -> tuple[str, str] | None:
    """Box and chip in a managed switch's description: `core` and `L03/U1` of `MF0;core:CS8500/L03/U1`."""
    found = _MANAGED.fullmatch(description.strip())
    return (found["host"], found["chip"].removeprefix("/")) if found and found["chip"] else None


def is_board(description: str) -> bool:
    """Whether this is a chip of a switch with several chips."""
    chip = chip_of(description)
    return chip is not None and f"/{chip[1]}" != _ONLY_CHIP


def is_factory_name(description: str) -> bool:
    """Whether this is a factory name, which many switches share."""
    return _FACTORY.search(description) is not None
