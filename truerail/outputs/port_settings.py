"""Settings of ports and switches changed by configuration, as text to review: commands for each platform.

Nothing here is applied. A setting has a line only where its command is known for the platform and needs no value that
the finding does not have (a profile's name, a threshold, a table of maps); everything else says why it has none.

Sources of the commands: mlnx_qos (`--dscp2prio set,DSCP,PRIORITY`) and `ecn/roce_np` of NVIDIA's DOCA-OFED manual,
ethtool(8), ip-link(8), lldpcli(8); NVUE reference of Cumulus Linux (`link mtu`, `description`, `system forwarding
hash-seed`); SONiC Command Reference (`config interface`) and Configuration.md (`PORT`); command references of Arista
EOS (`priority-flow-control priority`, `qos trust`, `flowcontrol`), Cisco NX-OS (`ip load-sharing ... universal-id`) and
Junos OS (`enhanced-hash-key hash-seed`, on QFX10000; elsewhere `commit check` refuses it).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from truerail.model.names import printable
from truerail.model.plan import Device
from truerail.outputs.renaming import platforms_of

PRIORITIES: Final = range(8)
_PORT: Final = re.compile(r"[A-Za-z][A-Za-z0-9/:._-]{0,63}")
_TEXT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 /:._-]{0,79}")
_SONIC_PORT: Final = re.compile(r"Ethernet\d+")


class Setting(NamedTuple):
    """One setting to change: of `port`, or of the whole device where that is empty. `wanted` and `actual` are as in
    `PortQos`; of `mtu` and `hash_seed` numbers, of `description` a text.
    """

    name: str
    wanted: Any
    actual: Any = None
    port: str = ""


class Commands(NamedTuple):
    """The commands by platform, and what has none, with the reason."""

    lines: Mapping[str, tuple[str, ...]]
    no_diff: tuple[str, ...]


_Lines = Callable[[Setting], Sequence[str]]
_OPEN: Final = 'test "$(hostname -s)" = {short} && {{'
"""A shell runs the lines only on the device that they are for."""
_FRAMES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "linux": ((_OPEN,), ("}",)),
    "cumulus": ((_OPEN,), ("nv config diff", "}", "nv config apply && nv config save")),
    "sonic": ((_OPEN,), ("sudo config save -y", "}")),
    "eos": (("configure session truerail",), ("show session-config diffs", "commit", "write memory")),
    "nxos": (("configure terminal",), ("end", "copy running-config startup-config")),
    "junos": (("configure",), ("show | compare", "commit check", "commit and-quit")),
}
_BY_INTERFACE: Final = ("eos", "nxos")


def _bits(one: Setting) -> str:
    return ",".join("1" if priority in one.wanted else "0" for priority in PRIORITIES)


def _priorities(one: Setting, on: str, off: str) -> list[str]:
    """A line for each priority that changes."""
    changed = [priority for priority in PRIORITIES if (priority in one.wanted) != (priority in (one.actual or ()))]
    return [(on if priority in one.wanted else off).format(port=one.port, priority=priority) for priority in changed]


def _ecn_of_nic(one: Setting) -> list[str]:
    path = "/sys/class/net/{port}/ecn/{part}/enable/{{priority}}"
    lines = []
    for part in ("roce_np", "roce_rp"):
        where = path.format(port=one.port, part=part)
        lines += _priorities(one, f"echo 1 | sudo tee {where}", f"echo 0 | sudo tee {where}")
    return lines


def _eos_pfc(one: Setting) -> list[str]:
    on = ["priority-flow-control on"] if one.wanted else []
    each = "priority-flow-control priority {priority} "
    return [*on, *_priorities(one, each + "no-drop", each + "drop")]


_LINES: Final[Mapping[str, Mapping[str, _Lines]]] = {
    "linux": {
        "mtu": lambda s: [f"sudo ip link set dev {s.port} mtu {s.wanted}"],
        "trust": lambda s: [f"sudo mlnx_qos -i {s.port} --trust {s.wanted}"],
        "pfc_priorities": lambda s: [f"sudo mlnx_qos -i {s.port} --pfc {_bits(s)}"],
        "ecn_priorities": _ecn_of_nic,
        "dscp_to_priority": lambda s: [
            f"sudo mlnx_qos -i {s.port} --dscp2prio set,{dscp},{priority}" for dscp, priority in s.wanted
        ],
        "global_pause": lambda s: [f"sudo ethtool -A {s.port} rx {_on(s)} tx {_on(s)}"],
        "description": lambda s: [f'sudo lldpcli configure ports {s.port} lldp portdescription "{s.wanted}"'],
        "hash_seed": lambda s: [f"sudo sysctl -w net.ipv4.fib_multipath_hash_seed={s.wanted}"],
    },
    "cumulus": {
        "mtu": lambda s: [f"nv set interface {s.port} link mtu {s.wanted}"],
        "description": lambda s: [f'nv set interface {s.port} description "{s.wanted}"'],
        "hash_seed": lambda s: [f"nv set system forwarding hash-seed {s.wanted}"],
    },
    "sonic": {
        "mtu": lambda s: [f"sudo config interface mtu {s.port} {s.wanted}"],
        "pfc_priorities": lambda s: _priorities(
            s,
            "sudo config interface pfc priority {port} {priority} on",
            "sudo config interface pfc priority {port} {priority} off",
        ),
        "description": lambda s: [f"sudo sonic-db-cli CONFIG_DB HSET 'PORT|{s.port}' description '{s.wanted}'"],
    },
    "eos": {
        "mtu": lambda s: [f"mtu {s.wanted}"],
        "trust": lambda s: [f"qos trust {'dscp' if s.wanted == 'dscp' else 'cos'}"],
        "pfc_priorities": _eos_pfc,
        "global_pause": lambda s: [f"flowcontrol receive {_on(s)}", f"flowcontrol send {_on(s)}"],
        "description": lambda s: [f"description {s.wanted}"],
    },
    "nxos": {
        "mtu": lambda s: [f"mtu {s.wanted}"],
        "global_pause": lambda s: [f"flowcontrol receive {_on(s)}", f"flowcontrol send {_on(s)}"],
        "description": lambda s: [f"description {s.wanted}"],
        "hash_seed": lambda s: [
            f"ip load-sharing address source-destination port source-destination universal-id {s.wanted}"
        ],
    },
    "junos": {
        "mtu": lambda s: [f"set interfaces {s.port} mtu {s.wanted}"],
        "global_pause": lambda s: [f"set interfaces {s.port} ether-options {'' if s.wanted else 'no-'}flow-control"],
        "description": lambda s: [f'set interfaces {s.port} description "{s.wanted}"'],
        "hash_seed": lambda s: [f"set forwarding-options enhanced-hash-key hash-seed {s.wanted}"],
    },
}
_OF_PROFILES: Final = ("ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "headroom_bytes")
_WHY_NONE: Final[Mapping[tuple[str, str], str]] = {
    ("cumulus", "pfc_priorities"): "NVUE sets it by a QoS profile, whose name is not known",
    ("cumulus", "trust"): "NVUE sets it by a QoS profile, whose name is not known",
    ("cumulus", "global_pause"): "NVUE sets it by a link-pause profile, whose name is not known",
    ("sonic", "trust"): "SONiC has maps instead (PORT_QOS_MAP), whose names are not known",
    ("sonic", "global_pause"): "SONiC's command reference has no command for it",
    ("sonic", "hash_seed"): "SONiC derives it from the device's type (DEVICE_METADATA, switch.json.j2)",
    ("eos", "hash_seed"): "the command depends on the switch's chip",
    ("nxos", "pfc_priorities"): "NX-OS sets it by a network-qos policy, whose name is not known",
    ("nxos", "trust"): "NX-OS sets it by a policy map, whose name is not known",
    ("junos", "pfc_priorities"): "Junos sets it by a congestion notification profile, whose name is not known",
    ("junos", "trust"): "Junos sets it by a classifier, whose name is not known",
    **{(one, "dscp_to_priority"): "its map has a name, or is that of the whole switch" for one in _FRAMES},
    **{(one, name): "the name of its profile is not known" for one in _FRAMES for name in _OF_PROFILES},
    **{(one, "ecn_priorities"): "its thresholds are not known" for one in _FRAMES if one != "linux"},
    **{(one, "watchdog"): "its detection and restoration times are not known" for one in _FRAMES},
}
_WORDS: Final[Mapping[str, str]] = {
    "mtu": "MTU",
    "trust": "trust",
    "pfc_priorities": "PFC",
    "ecn_priorities": "ECN",
    "global_pause": "global pause",
    "watchdog": "watchdog",
    "dscp_to_priority": "DSCP map",
    "ecn_min_bytes": "ECN minimum",
    "ecn_max_bytes": "ECN maximum",
    "ecn_probability": "ECN probability",
    "headroom_bytes": "headroom",
    "description": "description",
    "hash_seed": "hash seed",
}


def setting_commands(device: Device, settings: Iterable[Setting]) -> Commands:
    """The commands that give a device these settings, by platform: of its own, or of all that it may be where the plan
    does not name one.
    """
    lines: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, None] = {}
    wanted = list(settings)
    for platform in platforms_of(device):
        body, none = _body(platform, wanted)
        if body:
            begin, end = _FRAMES[platform]
            short = device.name.partition(".")[0]
            lines[platform] = (*(line.format(short=short) for line in begin), *body, *end)
        reasons |= dict.fromkeys(none)
    return Commands(lines, tuple(reasons))


def _body(platform: str, settings: Iterable[Setting]) -> tuple[list[str], list[str]]:
    body: list[str] = []
    reasons: list[str] = []
    at = ""
    for one in settings:
        make = _LINES[platform].get(one.name)
        reason = _unsafe(platform, one) or ("" if make else _WHY_NONE.get((platform, one.name), "no command is known"))
        if reason or make is None:
            where = f" of {printable(one.port, 80)}" if one.port else ""
            reasons.append(f"{_WORDS[one.name]}{where} on {platform}: {reason}")
            continue
        if platform in _BY_INTERFACE and one.port and one.port != at:
            body.append(f"interface {one.port}")
            at = one.port
        body += make(one)
    return body, reasons


def _unsafe(platform: str, one: Setting) -> str:
    """Why a foreign text is in no command; empty if it can be pasted."""
    if one.port and not _PORT.fullmatch(one.port):
        return "its name would need quotes"
    if platform == "sonic" and one.port and not _SONIC_PORT.fullmatch(one.port):
        return "the plan names it by its alias; CONFIG_DB's name is not known"
    if one.name == "description" and not _TEXT.fullmatch(one.wanted):
        return "its text would need quotes"
    return ""


def _on(one: Setting) -> str:
    return "on" if one.wanted else "off"
