"""How InfiniBand names switches and their ports: node descriptions, port numbers and the labels on the front.

Sources: recorded answers of `ibnetdiscover` and `ibdiagnet` (whose files explain their port labels at the top), and
NVIDIA's MLNX-OS manual, "InfiniBand Interface": a port is `1/5`, split in two `1/5/1` and `1/5/2`; with Quantum-2 it is
ASIC/cage/port, split ASIC/cage/port/split.
"""

import re
from functools import lru_cache

_MANAGED = re.compile(r"MF\d+;(?P<host>[^:]+):(?P<model>[^/]*)(?P<chip>/.+)?")
"""The description that a managed switch builds from its host name: `MF0;leaf-1:MQM9700/U1`."""
_FACTORY = re.compile(r"\bTechnologies\b|\bAggregation Node$", re.IGNORECASE)
"""Factory names of switches without a configured name: `Quantum-2 Mellanox Technologies`."""
_ONLY_CHIP = "/U1"
_GUID = re.compile(r"[0-9a-f]{16}")
_IPOIB_DIGITS, _GUID_DIGITS = 59, 23
"""Digits of `00:00:10:49:fe:80:...` in total, and of its last 8 octets."""
_PLAIN = re.compile(r"(?:p|port|ib|ibp)?[ _-]?(\d{1,4})", re.IGNORECASE)
_LABEL = re.compile(r"(?:ib)?[ _-]?(\d{1,3}(?:/\d{1,3}){1,3})", re.IGNORECASE)


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


@lru_cache(maxsize=65536)
def port_number(name: str) -> int | None:
    """The number that a switch has for the port of this name: `33`, `P33`, `1/33`, `1/17/1` and `IB1/17/1` are 33.

    None for a name that is no switch port's. A cage of Quantum-2 has two ports; a port that is split counts as two.
    """
    plain = _PLAIN.fullmatch(name.strip())
    if plain:
        return int(plain[1])
    label = _LABEL.fullmatch(name.strip())
    return _labelled([int(part) for part in label[1].split("/")]) if label else None


def _labelled(parts: list[int]) -> int | None:
    """Pairs are module and port, or port and split; of three the first is the module or the ASIC, always 1."""
    if len(parts) == 2 and parts[0] == 1:
        return parts[1]
    if len(parts) > 2:
        if parts[0] != 1:
            return None
        parts = parts[1:]
    number, *halves = parts
    for half in halves:
        if half not in (1, 2):
            return None
        number = 2 * (number - 1) + half
    return number


def like(name: str, number: int) -> str:
    """A port number in the notation of another port name of the same switch."""
    text = name.strip()
    label = _LABEL.fullmatch(text)
    if label and label[1].count("/") == 2:
        return f"{text[: label.start(1)]}1/{(number + 1) // 2}/{2 - number % 2}"
    if label and label[1].startswith("1/") and label[1].count("/") == 1:
        return f"{text[: label.start(1)]}1/{number}"
    plain = _PLAIN.fullmatch(text)
    return f"{text[: plain.start(1)]}{number}" if plain else str(number)
