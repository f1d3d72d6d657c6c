"""lldpd's answers to `lldpctl -f json0`, `-f json` and `-f keyvalue` (lldpd 1.0, src/client/{json,kv}_writer.c)."""

from collections.abc import Iterable
from functools import lru_cache
from json import dumps
from typing import Any

from msgspec.json import format as format_json

from truerail.simulator.fabric.lldp_frames import Heard, Speaker
from truerail.simulator.platforms._platform import Tools, prints_neighbors

_MAU = "10GbaseT - Four-pair Category 6A or better, full duplex mode only"
_CAPABILITIES = ("Bridge", "Router", "Wlan", "Station")


def age(seconds: int) -> str:
    """lldpd's format of a duration: `0 day, 01:02:03`."""
    days, rest = divmod(seconds, 86400)
    return f"{days} day{'s' if days > 1 else ''}, {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def _enabled(speaker: Speaker, capability: str) -> bool:
    return capability == ("Router" if speaker.router else "Station")


def json0(neighbors: Iterable[Heard]) -> str:
    """The stable JSON: every element is a list, strings are under `value`."""
    items = [_json0_interface(heard) for heard in neighbors]
    if not items:
        return '{\n  "lldp": [\n    {\n    }\n  ]\n}\n'
    return format_json(dumps({"lldp": [{"interface": items}]}), indent=2) + "\n"


def _values(*values: str) -> list[dict[str, str]]:
    return [{"value": value} for value in values]


def _json0_interface(heard: Heard) -> dict[str, Any]:
    port = heard.port
    negotiation = {"supported": False, "enabled": False, "current": _values(_MAU)}
    return {
        "name": heard.local,
        "via": heard.via,
        "rid": str(heard.number + 1),
        "age": age(heard.age_seconds),
        "chassis": [_json0_chassis(heard.speaker)],
        "port": [
            {
                "id": [{"type": port.id_type, "value": port.id}],
                **({"descr": _values(port.description)} if port.description else {}),
                "ttl": _values(str(heard.ttl_seconds)),
                "auto-negotiation": [negotiation],
            }
        ],
    }


@lru_cache(maxsize=65536)
def _json0_chassis(speaker: Speaker) -> dict[str, Any]:
    texts = {"name": (speaker.name,), "descr": (speaker.description,), "mgmt-ip": speaker.addresses}
    texts["mgmt-iface"] = ("2",) * len(speaker.addresses)
    return {
        "id": [{"type": speaker.chassis_type, "value": speaker.chassis}],
        **{key: _values(*values) for key, values in texts.items() if any(values)},
        "capability": [{"type": name, "enabled": _enabled(speaker, name)} for name in _CAPABILITIES],
    }


def json(neighbors: Iterable[Heard]) -> str:
    """The shorter JSON, whose shape depends on the count: one interface is an object, several are a list."""
    items = [_json_interface(heard) for heard in neighbors]
    if not items:
        return '{\n  "lldp": {\n  }\n}\n'
    return dumps({"lldp": {"interface": items[0] if len(items) == 1 else items}}, indent=2) + "\n"


def _json_interface(heard: Heard) -> dict[str, Any]:
    port, speaker = heard.port, heard.speaker
    capability = [{"type": name, "enabled": _enabled(speaker, name)} for name in _CAPABILITIES]
    ips, interfaces = list(speaker.addresses), ["2"] * len(speaker.addresses)
    several = len(ips) > 1  # one value is a text, several are a list
    chassis = {
        "id": {"type": speaker.chassis_type, "value": speaker.chassis},
        **({"descr": speaker.description} if speaker.description else {}),
        **({"mgmt-ip": ips if several else ips[0], "mgmt-iface": interfaces if several else "2"} if ips else {}),
        "capability": capability,
    }
    about_port = {
        "id": {"type": port.id_type, "value": port.id},
        **({"descr": port.description} if port.description else {}),
        "ttl": str(heard.ttl_seconds),
        "auto-negotiation": {"supported": False, "enabled": False, "current": _MAU},
    }
    neighbor = {
        "via": heard.via,
        "rid": str(heard.number + 1),
        "age": age(heard.age_seconds),
        "chassis": {speaker.name: chassis} if speaker.name else chassis,
        "port": about_port,
    }
    return {heard.local: neighbor}


def keyvalue(neighbors: Iterable[Heard]) -> str:
    """One `key=value` per line; several neighbours of one port repeat its keys."""
    return "".join(f"{line}\n" for heard in neighbors for line in _keyvalue_lines(heard))


def _keyvalue_lines(heard: Heard) -> list[str]:
    port, speaker, stem = heard.port, heard.speaker, f"lldp.{heard.local}"
    capabilities = [
        f"{stem}.chassis.{name}.enabled={'on' if _enabled(speaker, name) else 'off'}" for name in _CAPABILITIES
    ]
    lines = [
        f"{stem}.via={heard.via}",
        f"{stem}.rid={heard.number + 1}",
        f"{stem}.age={age(heard.age_seconds)}",
        f"{stem}.chassis.{speaker.chassis_type}={speaker.chassis}",
    ]
    if speaker.name:
        lines.append(f"{stem}.chassis.name={speaker.name}")
    if speaker.description:
        lines.append(f"{stem}.chassis.descr={speaker.description}")
    for address in speaker.addresses:
        lines += [f"{stem}.chassis.mgmt-ip={address}", f"{stem}.chassis.mgmt-iface=2"]
    lines += [*capabilities, f"{stem}.port.{port.id_type}={port.id}"]
    if port.description:
        lines.append(f"{stem}.port.descr={port.description}")
    return [*lines, f"{stem}.port.ttl={heard.ttl_seconds}"]


def tools(before: str = "") -> Tools:
    """lldpd's own client in its machine-readable formats; `before` is the command's prefix."""
    renders = {"json0": json0, "json": json, "keyvalue": keyvalue}
    return {f"{before}lldpctl -f {name}": prints_neighbors(render) for name, render in renders.items()}
