"""Packets that are lost as they arrive at a port, without a counter of it: rules of nftables in the device.

LLDP is no IP and passes, so the cable looks right, as with a bad optic or a broken table of a switch.
"""

import json
import re
import shutil
from collections.abc import Iterator

from truerail.model import Port

from .layout import Layout
from .system import LabError, run

_TABLE = "truerail_lab"
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,2})?)%")
_OF = 10_000


def lose(layout: Layout, jack: Port, share: str) -> None:
    """Loses so many of the IP packets that arrive at a port, such as 1% or 100%, instead of what it lost before."""
    found = _SHARE.fullmatch(share)
    if not found or not 0 < float(found[1]) <= 100:
        raise LabError(f"{share!r} is no share of packets: 1%, 0.5%, 100%")
    if not shutil.which("nft"):
        raise LabError("not installed: nft (requirements/apt.txt names the packages)")
    _remove(layout, jack)
    parts = round(float(found[1]) / 100 * _OF)
    chance = "" if parts == _OF else f"numgen random mod {_OF} < {parts} "  # nft refuses a limit that nothing exceeds
    lines = [
        f"add table inet {_TABLE}",
        f"add chain inet {_TABLE} arriving {{ type filter hook prerouting priority raw; }}",
        f'add rule inet {_TABLE} arriving iifname "{jack.name}" {chance}drop comment "{jack.name} {share}"',
    ]
    _nft(layout, jack.device, "-f", "-", stdin="".join(f"{line}\n" for line in lines))


def lost(layout: Layout) -> Iterator[tuple[Port, str]]:
    """Each port that loses what arrives, and how much of it."""
    for device in layout.devices:
        for _, port, share in _rules(layout, device):
            yield Port(device, port), share


def stop_all(layout: Layout) -> None:
    """Ends all losses."""
    for device in layout.devices:
        if _rules(layout, device):
            _nft(layout, device, "delete", "table", "inet", _TABLE)


def _remove(layout: Layout, jack: Port) -> None:
    for handle, port, _ in _rules(layout, jack.device):
        if port == jack.name:
            _nft(layout, jack.device, "delete", "rule", "inet", _TABLE, "arriving", "handle", str(handle))


def _rules(layout: Layout, device: str) -> list[tuple[int, str, str]]:
    """Handle, port and share of each rule of a device."""
    if not shutil.which("nft"):
        return []
    answer = _nft(layout, device, "-j", "list", "ruleset")
    rules = [entry["rule"] for entry in json.loads(answer)["nftables"] if "rule" in entry]
    return [(rule["handle"], *rule["comment"].split(" ", 1)) for rule in rules if rule["table"] == _TABLE]


def _nft(layout: Layout, device: str, *words: str, stdin: str = "") -> str:
    return run("ip", "netns", "exec", layout.namespace(device), "nft", *words, stdin=stdin)
