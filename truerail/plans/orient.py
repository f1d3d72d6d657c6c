"""Which end of a cable is nearer to the GPUs."""

from collections.abc import Mapping

from truerail.model import Device, Port


def oriented(one: Port, other: Port, devices: Mapping[str, Device]) -> tuple[Port, Port]:
    """The two ends, the one on the lower tier first; as given where a device is unknown or both are of one tier."""
    a, b = devices.get(one.device), devices.get(other.device)
    return (other, one) if a and b and b.role.tier < a.role.tier else (one, other)
