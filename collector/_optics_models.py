"""Modules in the JSON of `openconfig-platform` and `openconfig-platform-transceiver`, by gNMI or RESTCONF.

`{"components": {"component": [{"name", "state": {"part-no", "serial-no", "temperature"}, "transceiver": {"state":
{"vendor", "ethernet-pmd", "present"}, "physical-channels": {"channel": [{"index", "state": {"input-power": {"instant"},
"output-power", "laser-bias-current"}}]}, "thresholds": {"threshold": [{"severity", "state"}]}}}]}}`. Powers are in dBm,
currents in mA, temperatures in degrees Celsius. Rests on documentation: openconfig/public. Traps:

- A component's name is the device's own. The port is the interface whose `state` has the component as `transceiver`;
  without that leaf the component's name counts as the port's, and says nothing where it is another.
- Part and serial number were leaves of the transceiver in older models, and are the component's in newer ones.
- Channels are numbered from 0.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector._documents import listed
from collector._gnmi import requests
from collector._medium import medium_of
from collector._module_json import DARK_DBM
from collector._module_json import optics as of_lanes
from collector._port_models import inside, plain
from truerail.model import Optic

REQUESTS = (
    *requests(
        "/components/component[name=*]/state",
        "/components/component[name=*]/transceiver",
        "/interfaces/interface[name=*]/state/transceiver",
    ),
    *requests("/components"),
)
_SIGN = re.compile(r'\bcomponents/component\b|"(?:[\w-]+:)?components"\s*:')
_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,18})?")
Leaves = Mapping[str, Any]


def is_model(answer: str) -> bool:
    """Whether the JSON in an answer is of this model."""
    return _SIGN.search(answer) is not None


def optics(found: Any) -> Iterator[Optic]:
    """The modules of a document, one `Optic` for each channel, on each port that names the module as its own."""
    document = plain(found) if isinstance(found, Mapping) else {}
    ports: dict[str, list[str]] = {}
    for port in map(plain, listed(inside(document, "interfaces").get("interface"))):
        module = inside(port, "state").get("transceiver")
        if module and "name" in port:
            ports.setdefault(str(module), []).append(str(port["name"]))
    for component in map(plain, listed(inside(document, "components").get("component"))):
        name, module = str(component.get("name", "")), inside(component, "transceiver")
        if name and _is_present(module):
            for owner in ports.get(name, [name]):
                yield from _module(owner, component, module)


def _is_present(module: Leaves) -> bool:
    state = inside(module, "state")
    present = str(state.get("present", "PRESENT")) == "PRESENT"
    return present and any(state.get(leaf) for leaf in ("vendor", "serial-no", "vendor-part", "ethernet-pmd"))


def _module(port: str, component: Leaves, module: Leaves) -> Iterator[Optic]:
    whole, state = inside(component, "state"), inside(module, "state")
    limits = [plain(one) for one in listed(inside(module, "thresholds").get("threshold"))]
    critical = next((inside(one, "state") for one in limits if str(one.get("severity")).endswith("CRITICAL")), {})
    part = _word(whole.get("part-no")) or _word(state.get("vendor-part"))
    optic = Optic(
        port,
        temperature_celsius=_instant(whole.get("temperature")),
        rx_power_low_dbm=_number(critical.get("input-power-lower")),
        rx_power_high_dbm=_number(critical.get("input-power-upper")),
        vendor=_word(state.get("vendor")),
        part=part,
        serial=_word(whole.get("serial-no")) or _word(state.get("serial-no")),
        medium=medium_of(*(_word(state.get(leaf)) for leaf in ("ethernet-pmd", "connector-type")), part),
    )
    channels = map(plain, listed(inside(module, "physical-channels").get("channel")))
    lanes = {int(one["index"]): inside(one, "state") for one in channels if str(one.get("index")).isdecimal()}
    readings = ("input-power", "output-power", "laser-bias-current")
    rx, tx, bias = ({lane: _instant(of.get(name)) for lane, of in lanes.items()} for name in readings)
    yield from of_lanes(optic, _lit(rx), _lit(tx), bias)


def _lit(powers: Mapping[int, float | None]) -> dict[int, float | None]:
    return {lane: None if power is None else max(DARK_DBM, power) for lane, power in powers.items()}


def _instant(leaf: Any) -> float | None:
    return _number(plain(leaf).get("instant")) if isinstance(leaf, Mapping) else None


def _number(leaf: Any) -> float | None:
    return float(leaf) if _NUMBER.fullmatch(str(leaf)) else None


def _word(leaf: Any) -> str | None:
    return str(leaf).rpartition(":")[2].strip() or None if leaf is not None else None
