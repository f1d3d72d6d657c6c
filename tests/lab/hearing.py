"""What the lab's lldpds hear, read for the lab itself and not with the code that is tested on it."""

import json
import time
from collections.abc import Mapping
from typing import Any

from truerail.model import Port

from .cables import wiring
from .layout import Layout
from .system import LabError, run

Heard = Mapping[Port, frozenset[Port]]
_LOOK_SECONDS = 0.2
"""Between two looks: one lldpcli for each costs 10 ms of a processor, and news take seconds."""


def heard(layout: Layout) -> Heard:
    """For each port, the ports that its lldpd hears there now, by the names that their devices announce."""
    return {jack: ports for device in layout.devices for jack, ports in _heard_by(layout, device).items()}


def _heard_by(layout: Layout, device: str) -> Heard:
    found = {Port(device, name): frozenset[Port]() for name in layout.ports(device)}
    for interface in _interfaces(layout, device):
        jack = Port(device, interface["name"])
        found[jack] = found.get(jack, frozenset()) | {_neighbor(interface)}
    return found


def expected(layout: Layout) -> Heard:
    """The same, as the cables and the hostnames make it when all old news is forgotten."""
    wired = wiring(layout)
    names = {device: hostname(layout, device) for device in layout.devices}
    return {
        jack: frozenset([Port(names[wired[jack].device], wired[jack].name)] if jack in wired else [])
        for jack in layout.jacks
    }


def hostname(layout: Layout, device: str) -> str:
    """The name that a device gives itself."""
    return (layout.home(device) / "lab/hostname").read_text(encoding="utf-8").strip()


def settle(layout: Layout, seconds: float = 60.0) -> None:
    """Waits until every lldpd hears exactly what it is cabled to. Raises `LabError` where that takes too long."""
    wanted, deadline = expected(layout), time.monotonic() + seconds
    for device in layout.devices:
        while other := {jack: ports for jack, ports in _heard_by(layout, device).items() if ports != wanted.get(jack)}:
            if time.monotonic() > deadline:
                said = "; ".join(f"{jack} hears {_named(ports)}" for jack, ports in other.items())
                raise LabError(f"after {seconds:.0f} s {device} hears other than it is cabled to: {said}")
            time.sleep(_LOOK_SECONDS)


def _named(ports: frozenset[Port]) -> str:
    return " and ".join(sorted(map(str, ports))) or "nothing"


def _interfaces(layout: Layout, device: str) -> list[dict[str, Any]]:
    socket = str(layout.home(device) / "lldpd.socket")
    answer = run("lldpcli", "-u", socket, "-f", "json0", "show", "neighbors", check=False)
    return [i for block in json.loads(answer or "{}").get("lldp", []) for i in block.get("interface", [])]


def _neighbor(interface: dict[str, Any]) -> Port:
    """The neighbour's name and port. A host's lldpd sends its MAC as the port's id and the name as its description."""
    port, identity = interface["port"][0], interface["port"][0]["id"][0]
    name = identity["value"] if identity["type"] == "ifname" else port["descr"][0]["value"]
    return Port(interface["chassis"][0]["name"][0]["value"], name)
