"""The plan of a scrubbed capture: the same cables between the same pseudonyms."""

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import ip_network

from truerail.model import Cable, Device, Panel, Plan, Port, Rail
from truerail.model.names import natural_key
from truerail.model.panel_paths import panels_of, spot
from truerail.scrub.keyed import Keyed
from truerail.scrub.text import Text


class _Numbered:
    """Pseudonyms of words that occur only in the plan: racks, pods, labels."""

    def __init__(self, word: str, all_of_them: Iterable[str], keyed: Keyed) -> None:
        ordered = sorted(set(all_of_them) - {""}, key=lambda text: keyed.number(word, text))
        self._of = {text: f"{word}-{number:03}" for number, text in enumerate(ordered, 1)} | {"": ""}

    def __call__(self, text: str) -> str:
        return self._of[text]

    def has(self, text: str) -> bool:
        """Whether it is one of them."""
        return text in self._of


def scrubbed_plan(plan: Plan, scrub: Text, keyed: Keyed) -> Plan:
    """The plan with all names, addresses, places and labels replaced. Port names stay."""
    its_racks = [*(one.rack for one in plan.devices.values()), *(one.rack for one in plan.panels.values())]
    racks = _Numbered("rack", its_racks, keyed)
    panels = _Numbered("panel", panels_of(plan), keyed)
    trunks = _Numbered("trunk", (spot(port).trunk for cable in plan.cables for port in cable.via), keyed)

    def passed(port: Port) -> Port:
        place = spot(port)
        return Port(panels(port.device), f"{trunks(place.trunk)}:{place.number}" if place.trunk else scrub(port.name))

    pods = _Numbered("pod", (device.pod for device in plan.devices.values()), keyed)
    labels = _Numbered("label", (cable.label for cable in plan.cables), keyed)
    devices = [_device(device, scrub, racks, pods) for device in plan.devices.values()]
    cables = [_cable(cable, scrub, labels, panels)._replace(via=tuple(map(passed, cable.via))) for cable in plan.cables]
    return replace(
        plan,
        devices={
            device.name: device for device in sorted(devices, key=lambda one: (one.role.tier, natural_key(one.name)))
        },
        cables=tuple(sorted(cables, key=lambda one: (natural_key(one.a.device), natural_key(one.a.name)))),
        name="scrubbed",
        source="",
        panels={panels(name): Panel(racks(one.rack), one.unit) for name, one in plan.panels.items()},
        rails={index: _rail(rail, scrub) for index, rail in plan.rails.items()},
    )


def _device(device: Device, scrub: Text, racks: _Numbered, pods: _Numbered) -> Device:
    return replace(
        device,
        name=scrub.names.name(device.name),
        address=scrub(device.address),
        aliases=tuple(map(scrub, device.aliases)),
        chassis_ids=tuple(map(scrub, device.chassis_ids)),
        serials=(),
        rack=racks(device.rack),
        pod=pods(device.pod),
    )


def _cable(cable: Cable, scrub: Text, labels: _Numbered, panels: _Numbered) -> Cable:
    a, b = (Port(panels(end.device), end.name) if panels.has(end.device) else _port(end, scrub) for end in cable[:2])
    return cable._replace(a=a, b=b, label=labels(cable.label), line=0)


def _port(port: Port, scrub: Text) -> Port:
    return Port(scrub.names.name(port.device), scrub(port.name))


def _rail(rail: Rail, scrub: Text) -> Rail:
    return replace(rail, name=f"rail{rail.index}", subnets=tuple(_subnet(one, scrub) for one in rail.subnets))


def _subnet(text: str, scrub: Text) -> str:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return scrub(text)
    return f"{scrub.address(str(network.network_address), network.prefixlen)}/{network.prefixlen}"
