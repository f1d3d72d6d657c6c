"""The modules of a switch's ports: SONiC, Arista EOS, Cisco NX-OS, Junos; chosen by the form of the answer.

Sources: sonic-utilities `utilities_common/sfp_helper.py` and `tests/sfp_test.py`, sonic-platform-daemons' tables
(TRANSCEIVER_INFO, TRANSCEIVER_DOM_SENSOR, TRANSCEIVER_DOM_THRESHOLD), Arista's EOS command API, Cisco's NX-API
(`TABLE_lane`), Juniper's `show interfaces diagnostics optics` and its XML tags, recorded answers.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.formats.documents import data_of, listed, root_of, unwrapped, xml_tree
from collector.formats.module_inventory import eos_json, eos_text, junos_text, junos_tree, of_text
from collector.formats.modules import Names, by_lane, module, number, power, word
from collector.formats.text import blocks, is_json, lines
from truerail.model import Optic

_SONIC = re.compile(r"([A-Za-z]\w*\d): SFP EEPROM (detected|.*)")
_SONIC_LANE = re.compile(r"(rx|tx)(\d{1,2})(power|bias)")
_SONIC_CLI, _SONIC_CLI_PORT = "Value/State", re.compile(r"[ \t]*(Eth\S*\d)[ \t]*")
"""What `show interface transceiver diagnostics params` of sonic-cli has above the names of the database."""
_NXOS_PORT = re.compile(r"[ \t]*([A-Za-z][\w-]*\d[\w/.]*)[ \t]*")
_NXOS_SAYS = re.compile(r"[ \t]+(transceiver|type|name|part number|serial number|cisco product id) is (.*)")
_NXOS_LANE = re.compile(r"[ \t]*Lane Number:[ \t]*(\d{1,2})\b.*")
_NXOS_ROW = re.compile(
    r"[ \t]+(Temperature|Current|Tx Power|Rx Power)[ \t]+(-?[\d.]{1,12}|N/A)[ \t]*(?:C|mA|dBm)?[ \t]*[+-]{0,2}"
    r"(?:[ \t]+(-?[\d.]{1,12})[ \t]+(?:C|mA|dBm)[ \t]+(-?[\d.]{1,12})[ \t]+(?:C|mA|dBm)\b.*)?.{0,200}"
)
_JUNOS_PORT = re.compile(r"[ \t]*Physical interface:[ \t]+([\w/.:-]+).*")
_JUNOS_LANE = re.compile(r"[ \t]*Lane[ \t]+(\d{1,2})[ \t]*")
_JUNOS_TEXT = {
    "module temperature": "module-temperature",
    "laser bias current": "laser-bias-current",
    "laser output power": "laser-output-power-dbm",
    "laser receiver power": "laser-rx-optical-power-dbm",
    "receiver signal average optical power": "rx-signal-avg-optical-power-dbm",
    "laser rx power low alarm threshold": "laser-rx-power-low-alarm-threshold-dbm",
    "laser rx power high alarm threshold": "laser-rx-power-high-alarm-threshold-dbm",
}
_SONIC_NAMES = Names(
    *("temperature", "rxpowerlowalarm", "rxpowerhighalarm", "manufacturer", "model", "serial"),
    ("connector", "specification_compliance", "media_interface_technology", "cable_type", "model"),
    *(("rxpower",), ("txpower",), ("txbias",)),
)
_EOS_NAMES = Names(
    *("temperature", "lowAlarm", "highAlarm", "", "mediaType", "vendorSn"),
    *(("mediaType",), ("rxPower",), ("txPower",), ("txBias",)),
)
_NXOS_NAMES = Names(
    *("temperature", "rx_pwr_alrm_lo", "rx_pwr_alrm_hi", "name", "partnum", "serialnum"),
    *(("type", "cisco_product_id", "partnum"), ("rx_pwr",), ("tx_pwr",), ("current",)),
)
_NXOS_TEXT = {
    "part number": "partnum",
    "serial number": "serialnum",
    "cisco product id": "cisco_product_id",
    "Temperature": "temperature",
    "Current": "current",
    "Tx Power": "tx_pwr",
    "Rx Power": "rx_pwr",
}
_JUNOS_NAMES = Names(
    "module-temperature",
    "laser-rx-power-low-alarm-threshold-dbm",
    "laser-rx-power-high-alarm-threshold-dbm",
    rx=("laser-rx-optical-power-dbm", "rx-signal-avg-optical-power-dbm"),
    tx=("laser-output-power-dbm",),
    bias=("laser-bias-current",),
)
_LANES = "optics-diagnostics-lane-values"
Reported = Mapping[str, Any]


def of_switch(answer: str) -> list[Optic] | None:
    """The modules in a switch's answer; None if it is no such answer. Raises `UnreadableError`."""
    if is_json(answer):
        return _from_json(answer)
    text = lines(answer)
    for inventory in (eos_text, junos_text, of_text):
        if (modules := inventory(text)) is not None:
            return modules
    if text[-1]:
        text = text[:-1]  # a line without a line feed may be cut
    if _SONIC_CLI in answer:
        return list(_sonic_cli(text))
    if "SFP EEPROM " in answer:
        return list(_sonic_text(text))
    if "<optics-diagnostics" in answer:
        root = root_of(answer)
        named = root.tag.endswith("interface-information")
        return list(_junos({"interface-information": [xml_tree(root)]} if named else xml_tree(root)))
    if "<chassis-inventory" in answer:
        return list(junos_tree(xml_tree(root_of(answer)), {}))
    if "transceiver is " in answer:
        return list(_nxos_text(text))
    return list(_junos_text(text)) if "Physical interface: " in answer and "aser" in answer else None


def _from_json(answer: str) -> list[Optic] | None:
    if '"TRANSCEIVER_' in answer:
        return list(_sonic_database(unwrapped(answer)))
    if '"optics-diagnostics"' in answer:
        return list(_junos(unwrapped(answer)))
    if '"TABLE_interface' in answer and '"sfp"' in answer:
        return list(_nxos_json(unwrapped(answer)))
    if '"xcvrSlots"' in answer:
        return list(eos_json(unwrapped(answer)))
    if '"chassis-inventory"' in answer:
        return list(junos_tree(unwrapped(answer), {}))
    return list(_eos(unwrapped(answer))) if '"vendorSn"' in answer or '"rxPower"' in answer else None


def _sonic(port: str, reported: Reported) -> Iterator[Optic]:
    """A module by the names of SONiC's database. The zeros of a copper cable, and of a module without limits whose
    lasers have no current, mean nothing."""
    lanes: dict[int, dict[str, Any]] = {}
    for key, value in reported.items():
        if found := _SONIC_LANE.fullmatch(key):
            lanes.setdefault(int(found[2]), {})[f"{found[1]}{found[3]}"] = value
    dead = power(reported.get(_SONIC_NAMES.low)) is None and not any(number(of.get("txbias")) for of in lanes.values())
    kind = f"{reported.get('specification_compliance')} {reported.get('media_interface_technology')}"
    copper = dead or "copper" in kind.lower()
    unread = {*(_SONIC_NAMES[:1] if dead else ()), *(_SONIC_NAMES[1:3] if copper else ())}
    values = {key: value for key, value in reported.items() if key not in unread}
    return module(port, _SONIC_NAMES, values, lanes, copper=copper)


def _sonic_database(found: Reported) -> Iterator[Optic]:
    ports: dict[str, dict[str, Any]] = {}
    for key, entry in found.items():
        table, _, port = key.partition("|")
        if table.startswith(("TRANSCEIVER_INFO", "TRANSCEIVER_DOM_")) and "FLAG" not in table:
            ports.setdefault(port, {}).update(entry.get("value", entry))
    for port, reported in ports.items():
        if word(reported.get("serial")) or word(reported.get("model")) or "rx1power" in reported:
            yield from _sonic(port, reported)


_SONIC_TEXT = {"vendor name": "manufacturer", "vendor pn": "model", "vendor sn": "serial"}


def _sonic_text(text: list[str]) -> Iterator[Optic]:
    for begun, below in blocks(map(str.strip, text), _SONIC):
        if begun[2] == "detected":
            reported: dict[str, str] = {}
            for line in below:
                key, _, value = (part.strip() for part in line.partition(":"))
                name = key.lower()
                reported.setdefault(_SONIC_TEXT.get(name, name.replace(" ", "_")), value)
            yield from _sonic(begun[1], reported)


def _sonic_cli(text: list[str]) -> Iterator[Optic]:
    for begun, below in blocks(text, _SONIC_CLI_PORT):
        reported: dict[str, str] = {}
        for line in below:
            if ":" in line and _SONIC_CLI not in line:
                key, _, value = (part.strip() for part in line.partition(":"))
                reported[key.lower()] = "-inf" if value == "No Power" else value
        yield from _sonic(begun[1], reported) if reported else ()


def _eos(found: Reported) -> Iterator[Optic]:
    for port, reported in found["interfaces"].items():
        inside = reported.get("parameters", reported.get("details", {}))
        columns = {key: _eos_lanes(reported, inside, key) for key in ("rxPower", "txPower", "txBias")}
        limits = inside.get("rxPower", {})
        celsius = next(iter(_eos_lanes(reported, inside, "temperature").values()), None)
        values = {**reported, **limits.get("threshold", limits), "temperature": celsius}
        if word(reported.get("vendorSn")) or columns["rxPower"]:
            yield from module(port, _EOS_NAMES, values, by_lane(columns))


def _eos_lanes(reported: Reported, inside: Reported, key: str) -> dict[int, float | None]:
    """The values of the lanes: a single one of the port, or those of `channels`, where `-` is the whole module's."""
    channels = inside.get(key, {}).get("channels")
    if isinstance(channels, dict):
        return {int(lane) if lane.isdecimal() else 0: number(value) for lane, value in channels.items()}
    return {0: number(reported[key])} if key in reported else {}


def _nxos_json(found: Reported) -> Iterator[Optic]:
    for table in listed(found.get("TABLE_interface", found.get("TABLE_interface_trans"))):
        for row in listed(table.get("ROW_interface", table.get("ROW_interface_trans"))):
            if row.get("sfp") == "present":
                lanes = [lane for part in listed(row.get("TABLE_lane")) for lane in listed(part["ROW_lane"])]
                yield from _nxos(
                    row["interface"], row, {int(number(lane.get("lane_number")) or 0): lane for lane in lanes}
                )


def _nxos(port: str, values: Reported, lanes: Mapping[int, Reported]) -> Iterator[Optic]:
    return module(port, _NXOS_NAMES, {**values, **next(iter(lanes.values()), {})}, lanes)


def _nxos_text(text: list[str]) -> Iterator[Optic]:
    for begun, below in blocks(text, _NXOS_PORT):
        values, lanes, lane = dict[str, str](), dict[int, dict[str, str | None]](), 0
        for line in below:
            if found := _NXOS_SAYS.fullmatch(line):
                values.setdefault(_NXOS_TEXT.get(found[1], found[1]), found[2].strip())
            elif found := _NXOS_LANE.fullmatch(line):
                lane = int(found[1])
            elif found := _NXOS_ROW.fullmatch(line):
                name = _NXOS_TEXT[found[1]]
                cells = zip((name, f"{name}_alrm_hi", f"{name}_alrm_lo"), found.groups()[1:], strict=True)
                lanes.setdefault(lane, {}).update(cells)
        if values.get("transceiver") == "present":
            yield from _nxos(begun[1], values, lanes)


def _junos(found: Reported) -> Iterator[Optic]:
    for information in listed(found.get("interface-information")):
        for interface in listed(information.get("physical-interface")):
            for reported in listed(interface.get("optics-diagnostics")):
                lanes = [_plain(lane) for lane in listed(reported.get(_LANES))]
                by_number = {int(number(lane.get("lane-index")) or 0) + 1: lane for lane in lanes}
                yield from _junos_module(str(data_of(interface["name"])).strip(), _plain(reported), by_number)


def _plain(reported: Reported) -> Reported:
    return {key: data_of(value) for key, value in reported.items()}


def _junos_module(port: str, reported: Reported, lanes: Mapping[int, Reported]) -> Iterator[Optic]:
    """The module, if it reports any reading."""
    found = list(module(port, _JUNOS_NAMES, reported, lanes or {0: reported}))
    readings = ((one.rx_power_dbm, one.tx_power_dbm, one.bias_ma, one.temperature_celsius) for one in found)
    return iter(found if any(value is not None for values in readings for value in values) else ())


def _junos_text(text: list[str]) -> Iterator[Optic]:
    for begun, below in blocks(text, _JUNOS_PORT):
        reported, lanes, lane = dict[str, str](), dict[int, dict[str, str]](), 0
        for line in below:
            key, _, value = (part.strip() for part in line.partition(":"))
            if found := _JUNOS_LANE.fullmatch(line):
                lane = int(found[1]) + 1
            elif name := _JUNOS_TEXT.get(key.lower()):
                (lanes.setdefault(lane, {}) if lane else reported).setdefault(name, value)
        yield from _junos_module(begun[1], reported, lanes)
