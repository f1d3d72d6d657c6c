"""Ends of cables: which is nearer to the GPUs, the path between them as a text, and the devices' own names for them."""

from collections.abc import Mapping
from dataclasses import replace

from truerail.model import Cable, Device, Plan, Port, path_text
from truerail.plans.numbers import plain


def oriented(cable: Cable, devices: Mapping[str, Device]) -> Cable:
    """The cable with the end on the lower tier first; as given where a device is unknown or both are of one tier."""
    a, b = devices.get(cable.a.device), devices.get(cable.b.device)
    return turned(cable) if a and b and b.role.tier < a.role.tier else cable


def turned(cable: Cable) -> Cable:
    """The same cable, from its other end."""
    return cable._replace(a=cable.b, b=cable.a, via=cable.via[::-1])


def cable_words(cable: Cable) -> dict[str, str]:
    """What a cable has beside its ends, as text; empty where it has none."""
    return {
        "rail": plain(cable.rail),
        "plane": plain(cable.plane),
        "speed": plain(cable.speed_gbps),
        "length_m": plain(cable.length_m),
        "label": cable.label,
        "via": path_text(cable.via),
    }


def path_of(text: str) -> tuple[Port, ...]:
    """The panel ports of `pp-1/3 > pp-2/3`. Raises ValueError."""
    found = tuple(Port(*part.strip().partition("/")[::2]) for part in text.split(">") if text.strip())
    if not all(port.device and port.name for port in found):
        raise ValueError("expected panel ports such as pp-1/3 > pp-2/3")
    return found


def with_own_names(plan: Plan, devices: Mapping[str, str], ports: Mapping[Port, str]) -> Plan:
    """The plan under other names: `devices` has planned devices by their own names, `ports` own names by planned port.
    A planned device's name becomes an alias of it.
    """
    own = {planned: name for name, planned in devices.items()}
    named = {
        own.get(name, name): replace(device, name=own[name], aliases=(*device.aliases, name)) if name in own else device
        for name, device in plan.devices.items()
    }

    def end(port: Port) -> Port:
        return Port(own.get(port.device, port.device), ports.get(port, port.name))

    cables = tuple(cable._replace(a=end(cable.a), b=end(cable.b)) for cable in plan.cables)
    places = {(end(a), end(b)): cells for (a, b), cells in plan.places.items()}
    return replace(plan, devices=named, cables=cables, places=places)
