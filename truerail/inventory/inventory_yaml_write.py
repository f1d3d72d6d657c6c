"""An inventory as native YAML. Secrets are written as references."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby

from truerail.errors import NodeSetError
from truerail.files.nodesets import expand, fold
from truerail.files.yaml_text import in_flow
from truerail.inventory.value import Inventory
from truerail.model import GnmiAccess, Secret, SnmpAccess, SshAccess, Target

Pairs = list[tuple[str, str]]
_SSH, _SNMP, _GNMI, _TARGET = SshAccess(), SnmpAccess(), GnmiAccess(), Target("", "")

_REPORTED = ("role", "platform", "pod", "rack", "unit", "zone", "timeout_seconds", "transport")


def dump_yaml(inventory: Inventory) -> str:
    """YAML that `load_inventory` reads back to the same targets; neighbours that differ in name, address and unit only
    share an entry.
    """
    lines = ["devices:"]
    for _, group in groupby(inventory.targets, key=_likeness):
        lines += _entries(list(group))
    return "\n".join((*lines, ""))


def _likeness(target: Target) -> str:
    """Equal for targets that may share an entry."""
    alone = "" if target.unit is None else target.name
    implied = target.address == target.name
    return repr((replace(target, name="", address="", unit=None, file="", line=0), alone, implied))


def _entries(group: list[Target]) -> Iterable[str]:
    """One entry where the node sets expand to these names and addresses again, else an entry for each device."""
    names, addresses = [target.name for target in group], [target.address for target in group]
    try:
        same = expand(fold(names)) == names and expand(fold(addresses)) == addresses
    except NodeSetError:
        same = False
    return [_entry(part) for part in ([group] if same else [[target] for target in group])]


def _entry(group: list[Target]) -> str:
    first = replace(group[0], pod=_place(group[0].pod), rack=_place(group[0].rack))
    pairs: Pairs = [("name", in_flow(fold([target.name for target in group])))]
    if first.address != first.name:
        pairs.append(("address", in_flow(fold([target.address for target in group]))))
    pairs += _reported(first, _TARGET, _REPORTED)
    pairs += _reported(first.ssh, _SSH, tuple(SshAccess.__slots__))
    if first.snmp:
        snmp = _reported(first.snmp, replace(_SNMP, version=""), tuple(SnmpAccess.__slots__))
        pairs.append(("snmp", _mapping(snmp)))
    if first.gnmi:
        pairs.append(("gnmi", _mapping(_reported(first.gnmi, _GNMI, tuple(GnmiAccess.__slots__)))))
    return f"  - {_mapping(pairs)}"


def _place(name: str) -> str:
    """A pod or rack as written: none if it would be read as a node set."""
    try:
        return name if name and expand(name) == [name] else ""
    except NodeSetError:
        return ""


def _reported(one: object, usual: object, fields: tuple[str, ...]) -> Pairs:
    """The fields that are not as usual."""
    reported = ((name, getattr(one, name)) for name in fields if getattr(one, name) != getattr(usual, name))
    return [(name, _text(value)) for name, value in reported]


def _text(value: object) -> str:
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    return in_flow(str(value))


_WRITERS: tuple[tuple[type, Callable[..., str]], ...] = (
    (Secret, lambda secret: _mapping([(secret.source, in_flow(secret.name))])),
    (bool, lambda yes: "yes" if yes else "no"),
    (float, lambda number: repr(number).removesuffix(".0")),
    (tuple, lambda hops: f"[{', '.join(map(in_flow, hops))}]"),
)


def _mapping(pairs: Pairs) -> str:
    return "{" + ", ".join(f"{key}: {text}" for key, text in pairs) + "}"
