"""Which end of a cable is nearer to the GPUs, and its path as a text."""

from collections.abc import Mapping

from truerail.model import Cable, Device, Port, path_text
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
