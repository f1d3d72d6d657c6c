"""The section `qos` of a plan in YAML: read and written."""

import re
from collections.abc import Iterator, Sequence

from truerail.files.yaml_values import Values
from truerail.model import QosBuffer, QosProfile, Role
from truerail.model.columns import grouped
from truerail.model.yaml_tree import Node
from truerail.plans.numbers import HIGHEST_DSCP, HIGHEST_PRIORITY, MOST_BYTES, MOST_MTU, plain, speed_of
from truerail.plans.plan_keys import QOS, QOS_BUFFER, QOS_CLASS, TRUSTS, WATCHDOGS

_SHARE = re.compile(r"0?\.\d{1,9}|1(?:\.0{1,9})?", re.ASCII)


def read_qos(node: Node | None, values: Values) -> QosProfile | None:
    """The declared profile; None without the section. Faults are recorded."""
    if node is None:
        return None
    keys = values.fields(node, QOS)
    return QosProfile(
        trust=values.choice(keys.get("trust"), TRUSTS, None),
        pfc_priorities=_priorities(keys.get("pfc_priorities"), values),
        ecn_priorities=_priorities(keys.get("ecn_priorities"), values),
        global_pause=values.yes(keys["global_pause"], default=False) if "global_pause" in keys else None,
        watchdog=values.choice(keys.get("watchdog"), WATCHDOGS, None),
        dscp_to_priority=_classes(keys.get("dscp"), values),
        mtu=values.number(keys.get("mtu"), MOST_MTU),
        buffers=_buffers(keys.get("buffers"), values),
        roles=tuple(_roles(keys.get("roles"), values)),
    )


def _priorities(node: Node | None, values: Values) -> tuple[int, ...] | None:
    return None if node is None else tuple(sorted(set(values.numbers(node, HIGHEST_PRIORITY))))


def _classes(node: Node | None, values: Values) -> tuple[tuple[int, int], ...]:
    """Pairs of a DSCP and its priority; a DSCP with two priorities is a fault."""
    found: dict[int, int] = {}
    for entry in values.entries(node):
        keys = values.fields(entry, QOS_CLASS)
        priority = values.number(keys.get("priority"), HIGHEST_PRIORITY)
        for dscp in values.numbers(keys.get("values"), HIGHEST_DSCP):
            if priority is not None and found.setdefault(dscp, priority) != priority:
                values.faults.add(entry.line, str(dscp), f"this DSCP has priority {found[dscp]} above")
    return tuple(sorted(found.items()))


def _buffers(node: Node | None, values: Values) -> tuple[QosBuffer, ...]:
    found: dict[float | None, QosBuffer] = {}
    for entry in values.entries(node):
        keys = values.fields(entry, QOS_BUFFER)
        one = QosBuffer(
            speed_of(keys.get("speed"), values),
            values.number(keys.get("ecn_min_bytes"), MOST_BYTES),
            values.number(keys.get("ecn_max_bytes"), MOST_BYTES),
            values.read(keys.get("ecn_probability"), _share, "expected a probability above 0, up to 1"),
            values.number(keys.get("headroom_bytes"), MOST_BYTES),
        )
        if one.speed_gbps in found:
            values.wrong(keys.get("speed", entry), "expected one entry for each speed")
        if one.ecn_min_bytes is not None and one.ecn_max_bytes is not None and one.ecn_min_bytes > one.ecn_max_bytes:
            values.wrong(keys["ecn_min_bytes"], f"expected no more than ecn_max_bytes, {one.ecn_max_bytes}")
        found.setdefault(one.speed_gbps, one)
    return tuple(found.values())


def _share(text: str) -> float | None:
    return float(text) or None if _SHARE.fullmatch(text.strip()) else None


def _roles(node: Node | None, values: Values) -> Iterator[Role]:
    known = tuple(role.value for role in Role)
    for name in values.names(node):
        if name in known:
            yield Role(name)
        elif node is not None:
            values.faults.add(node.line, name, f"expected one of {', '.join(known)}")


def qos_lines(profile: QosProfile) -> list[str]:
    """The section, from which `read_qos` reads the same profile."""
    pairs = {
        "trust": profile.trust,
        "pfc_priorities": _list(profile.pfc_priorities),
        "ecn_priorities": _list(profile.ecn_priorities),
        "global_pause": None if profile.global_pause is None else "yes" if profile.global_pause else "no",
        "watchdog": profile.watchdog,
        "mtu": plain(profile.mtu) or None,
        "roles": _list(profile.roles) if profile.roles else None,
    }
    lines = [f"  {key}: {value}" for key, value in pairs.items() if value is not None]
    by_priority = grouped((priority, dscp) for dscp, priority in profile.dscp_to_priority)
    classes = [f"    - {{values: {_list(dscps)}, priority: {priority}}}" for priority, dscps in by_priority.items()]
    lines += ["  dscp:", *classes] if classes else []
    buffers = [f"    - {{{', '.join(_buffer(one))}}}" for one in profile.buffers]
    lines += ["  buffers:", *buffers] if buffers else []
    return ["qos:", *lines] if lines else ["qos: {}"]


def _list(values: Sequence[object] | None) -> str | None:
    return None if values is None else f"[{', '.join(map(str, values))}]"


def _buffer(one: QosBuffer) -> Iterator[str]:
    for key, value in zip(QOS_BUFFER.names, one, strict=True):
        if value is not None:
            yield f"{key}: {value:.9f}".rstrip("0") if key == "ecn_probability" else f"{key}: {plain(value)}"
