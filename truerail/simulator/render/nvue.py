"""NVIDIA NVUE on Cumulus Linux, `nv show interface lldp -o json`: neighbours by interface and by system name."""

from collections.abc import Iterable
from json import dumps
from typing import Any

from truerail.simulator.render.beacon import Heard


def lldp_json(neighbors: Iterable[Heard]) -> str:
    """The answer. The object has one entry a name: of two NICs of one host on a port it shows the newer."""
    found: dict[str, Any] = {}
    for heard in neighbors:
        lldp = found.setdefault(heard.local, {"lldp": {"neighbor": {}}})["lldp"]
        lldp["neighbor"].setdefault(heard.speaker.name or heard.speaker.chassis, _neighbor(heard))
    return dumps(found, indent=2) + "\n"


def _neighbor(heard: Heard) -> dict[str, Any]:
    speaker, port = heard.speaker, heard.port
    capability = {
        "is-bridge": False,
        "is-router": speaker.router,
    }
    return {
        "age": str(heard.age_seconds),
        "chassis": {
            "capability": capability,
            "chassis-id": speaker.chassis,
            **({"management-address-ipv4": speaker.address} if speaker.address else {}),
            **({"system-description": speaker.description} if speaker.description else {}),
            **({"system-name": speaker.name} if speaker.name else {}),
        },
        "port": {
            **({"description": port.description} if port.description else {}),
            "name": port.id,
            "ttl": heard.ttl_seconds,
            "type": port.id_type,
        },
    }
