"""lldpd's answers to `lldpctl -f json0`, `-f json` and `-f keyvalue` (lldpd 1.0, src/client/{json,kv}_writer.c)."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from json import dumps
from typing import Any

from truerail.simulator.render.beacon import Heard, Speaker

_MAU = "10GbaseT - Four-pair Category 6A or better, full duplex mode only"
_CAPABILITIES = ("Bridge", "Router", "Wlan", "Station")


def age(seconds: int) -> str:
    """lldpd's way of telling a duration: `0 day, 01:02:03`."""
    days, rest = divmod(seconds, 86400)
    return f"{days} day{'s' if days > 1 else ''}, {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def _enabled(speaker: Speaker, capability: str) -> bool:
    return capability == ("Router" if speaker.router else "Station")


def json0(neighbors: Iterable[Heard]) -> str:
    """The stable JSON: every element is a list, strings stand under `value`."""
    items = [_json0_interface(heard) for heard in neighbors]
    if not items:
        return '{\n  "lldp": [\n    {\n    }\n  ]\n}\n'
    return '{\n  "lldp": [\n    {\n      "interface": [\n' + ",\n".join(items) + "\n      ]\n    }\n  ]\n}\n"


def _json0_interface(heard: Heard) -> str:
    port = heard.port
    return f"""        {{
          "name": "{heard.local}",
          "via": "LLDP",
          "rid": "{heard.number + 1}",
          "age": "{age(heard.age_seconds)}",
          "chassis": [
{_json0_chassis(heard.speaker)}
          ],
          "port": [
            {{
              "id": [
                {{
                  "type": "{port.id_type}",
                  "value": {dumps(port.id)}
                }}
              ],
              "descr": [
                {{
                  "value": {dumps(port.description)}
                }}
              ],
              "ttl": [
                {{
                  "value": "{heard.ttl_seconds}"
                }}
              ],
              "auto-negotiation": [
                {{
                  "supported": false,
                  "enabled": false,
                  "current": [
                    {{
                      "value": "{_MAU}"
                    }}
                  ]
                }}
              ]
            }}
          ]
        }}"""


@lru_cache(maxsize=65536)
def _json0_chassis(speaker: Speaker) -> str:
    capabilities = ",\n".join(
        f"""                {{
                  "type": "{name}",
                  "enabled": {"true" if _enabled(speaker, name) else "false"}
                }}"""
        for name in _CAPABILITIES
    )
    return f"""            {{
              "id": [
                {{
                  "type": "mac",
                  "value": "{speaker.chassis}"
                }}
              ],
              "name": [
                {{
                  "value": {dumps(speaker.name)}
                }}
              ],
              "descr": [
                {{
                  "value": {dumps(speaker.description)}
                }}
              ],
              "mgmt-ip": [
                {{
                  "value": "{speaker.address}"
                }}
              ],
              "mgmt-iface": [
                {{
                  "value": "2"
                }}
              ],
              "capability": [
{capabilities}
              ]
            }}"""


def json(neighbors: Iterable[Heard]) -> str:
    """The shorter JSON, whose shape depends on the count: one interface is an object, several are a list."""
    items = [_json_interface(heard) for heard in neighbors]
    if not items:
        return '{\n  "lldp": {\n  }\n}\n'
    return dumps({"lldp": {"interface": items[0] if len(items) == 1 else items}}, indent=2) + "\n"


def _json_interface(heard: Heard) -> dict[str, Any]:
    port, speaker = heard.port, heard.speaker
    capability = [{"type": name, "enabled": _enabled(speaker, name)} for name in _CAPABILITIES]
    chassis = {
        "id": {"type": "mac", "value": speaker.chassis},
        "descr": speaker.description,
        "mgmt-ip": speaker.address,
        "mgmt-iface": "2",
        "capability": capability,
    }
    negotiation = {"supported": False, "enabled": False, "current": _MAU}
    told = {
        "via": "LLDP",
        "rid": str(heard.number + 1),
        "age": age(heard.age_seconds),
        "chassis": {speaker.name: chassis},
        "port": {
            "id": {"type": port.id_type, "value": port.id},
            "descr": port.description,
            "ttl": str(heard.ttl_seconds),
            "auto-negotiation": negotiation,
        },
    }
    return {heard.local: told}


def keyvalue(neighbors: Iterable[Heard]) -> str:
    """One `key=value` a line; several neighbours of one port repeat its keys."""
    lines = []
    for _, on_port in groupby(neighbors, key=lambda heard: heard.local):
        for heard in on_port:
            lines += _keyvalue_lines(heard)
    return "".join(f"{line}\n" for line in lines)


def _keyvalue_lines(heard: Heard) -> list[str]:
    port, speaker, stem = heard.port, heard.speaker, f"lldp.{heard.local}"
    capabilities = [
        f"{stem}.chassis.{name}.enabled={'on' if _enabled(speaker, name) else 'off'}" for name in _CAPABILITIES
    ]
    return [
        f"{stem}.via=LLDP",
        f"{stem}.rid={heard.number + 1}",
        f"{stem}.age={age(heard.age_seconds)}",
        f"{stem}.chassis.mac={speaker.chassis}",
        f"{stem}.chassis.name={speaker.name}",
        f"{stem}.chassis.descr={speaker.description}",
        f"{stem}.chassis.mgmt-ip={speaker.address}",
        f"{stem}.chassis.mgmt-iface=2",
        *capabilities,
        f"{stem}.port.{port.id_type}={port.id}",
        f"{stem}.port.descr={port.description}",
        f"{stem}.port.ttl={heard.ttl_seconds}",
    ]
