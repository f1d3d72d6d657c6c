"""A plan with the devices' own names in the place of the names that its author used."""

from collections.abc import Mapping
from dataclasses import replace

from truerail.model.plan import Plan, Port


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
