"""The modules of a switch's ports: SONiC, Arista EOS, Cisco NX-OS, Junos; chosen by the form of the answer.

Sources: sonic-utilities `utilities_common/sfp_helper.py` and `tests/sfp_test.py`, sonic-platform-daemons' tables
(TRANSCEIVER_INFO, TRANSCEIVER_DOM_SENSOR, TRANSCEIVER_DOM_THRESHOLD), Arista's EOS command API, Cisco's NX-API
(`TABLE_lane`), Juniper's `show interfaces diagnostics optics` and its XML tags, recorded answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.formats.documents import data_of, listed, root_of, unwrapped, xml_tree
from collector.formats.module_inventory import eos_json, eos_text, junos_text, junos_tree, of_text
from collector.formats.modules import DARK_DBM, Lanes, medium_of
from collector.formats.modules import optics as of_lanes
from collector.formats.text import is_json, lines
from truerail.model import Optic

_NUMBER = re.compile(r"[ \t]*(-[ \t]?inf|-?\d{1,9}(?:\.\d{1,12})?)(?![\d.])", re.IGNORECASE)
_ABSENT = ("", "-", "--", "n/a", "none", "not available", "unknown")
_SONIC = re.compile(r"([A-Za-z]\w*\d): SFP EEPROM (detected|.*)")
_SONIC_LANE = re.compile(r"(rx|tx)(\d{1,2})(power|bias)")
_SONIC_CLI, _SONIC_CLI_PORT = "Value/State", re.compile(r"[ \t]*(Eth\S*\d)[ \t]*")
"""What `show interface transceiver diagnostics params` of sonic-cli has above the names of the database."""
_SONIC_MEDIUM = ("connector", "specification_compliance", "media_interface_technology", "cable_type", "model")
_NXOS_PORT = re.compile(r"[ \t]*([A-Za-z][\w-]*\d[\w/.]*)[ \t]*")
_NXOS_SAYS = re.compile(r"[ \t]+(transceiver|type|name|part number|serial number|cisco product id) is (.*)")
_NXOS_LANE = re.compile(r"[ \t]*Lane Number:[ \t]*(\d{1,2})\b.*")
_NXOS_ROW = re.compile(
    r"[ \t]+(Temperature|Current|Tx Power|Rx Power)[ \t]+(-?[\d.]{1,12}|N/A)[ \t]*(?:C|mA|dBm)?[ \t]*[+-]{0,2}"
    r"(?:[ \t]+(-?[\d.]{1,12})[ \t]+(?:C|mA|dBm)[ \t]+(-?[\d.]{1,12})[ \t]+(?:C|mA|dBm)\b.*)?.{0,200}"
)
_JUNOS_PORT = re.compile(r"[ \t]*Physical interface:[ \t]+([\w/.:-]+).*")
_JUNOS_LANE = re.compile(r"[ \t]*Lane[ \t]+(\d{1,2})[ \t]*")
_JUNOS_TX = "laser-output-power-dbm"
_JUNOS_RX = ("laser-rx-optical-power-dbm", "rx-signal-avg-optical-power-dbm")
_JUNOS_TEXT = {
    "module temperature": "module-temperature",
    "laser bias current": "laser-bias-current",
    "laser output power": _JUNOS_TX,
    "laser receiver power": _JUNOS_RX[0],
    "receiver signal average optical power": _JUNOS_RX[1],
    "laser rx power low alarm threshold": "laser-rx-power-low-alarm-threshold-dbm",
    "laser rx power high alarm threshold": "laser-rx-power-high-alarm-threshold-dbm",
}
_LANES = "optics-diagnostics-lane-values"
Reported = Mapping[str, Any]


def of_switch(answer: str) -> list[Optic] | None:
    """The modules in a switch's answer; None if it is no such answer. Raises `UnreadableError`."""
    if is_json(answer):
        return _from_json(answer)
    text = lines(answer)
    for inventory in (eos_text, junos_text, of_text):
        modules = inventory(text)
        if modules is not None:
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
        return list(junos_tree(xml_tree(root_of(answer))))
    if "transceiver is " in answer:
        return list(_nxos_text(text))
    if "Physical interface: " in answer and "aser" in answer:
        return list(_junos_text(text))
    return None


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
        return list(junos_tree(unwrapped(answer)))
    if '"vendorSn"' in answer or '"rxPower"' in answer:
        return list(_eos(unwrapped(answer)))
    return None


def _word(value: Any) -> str | None:
    text = str(value if value is not None else "").strip()
    return None if text.lower() in _ABSENT else text


def _number(value: Any) -> float | None:
    """The number that a value begins with; None if there is none, or the value reports no light."""
    found = _NUMBER.match(str(value))
    return float(found[1]) if found and "inf" not in found[1].lower() else None


def _dbm(value: Any) -> float | None:
    """A power in dBm, also after milliwatts; no light is `DARK_DBM`."""
    found = _NUMBER.match(str(value).rpartition(" / ")[2])
    if found is None:
        return None
    return DARK_DBM if "inf" in found[1].lower() else max(DARK_DBM, float(found[1]))


def _sonic(port: str, reported: Reported) -> Iterator[Optic]:
    """A module by the names of SONiC's database. The zeros of a copper cable, and of a module without limits whose
    lasers have no current, mean nothing."""
    rx: Lanes = {}
    tx: Lanes = {}
    bias: Lanes = {}
    for key, value in reported.items():
        found = _SONIC_LANE.fullmatch(key)
        if found and found[3] == "bias":
            bias[int(found[2])] = _number(value)
        elif found:
            (rx if found[1] == "rx" else tx)[int(found[2])] = _dbm(value)
    low = _dbm(reported.get("rxpowerlowalarm"))
    dead = low is None and not any(bias.values())
    kind = f"{reported.get('specification_compliance')} {reported.get('media_interface_technology')}"
    copper = dead or "copper" in kind.lower()
    whole = Optic(
        port,
        temperature_celsius=None if dead else _number(reported.get("temperature")),
        rx_power_low_dbm=None if copper else low,
        rx_power_high_dbm=None if copper else _dbm(reported.get("rxpowerhighalarm")),
        vendor=_word(reported.get("manufacturer")),
        part=_word(reported.get("model")),
        serial=_word(reported.get("serial")),
        medium=medium_of(*(reported.get(key) for key in _SONIC_MEDIUM)),
    )
    return of_lanes(whole, rx, tx, bias, copper=copper)


def _sonic_database(found: Reported) -> Iterator[Optic]:
    ports: dict[str, dict[str, Any]] = {}
    for key, entry in found.items():
        table, _, port = key.partition("|")
        if table.startswith(("TRANSCEIVER_INFO", "TRANSCEIVER_DOM_")) and "FLAG" not in table:
            ports.setdefault(port, {}).update(entry.get("value", entry))
    for port, reported in ports.items():
        if _word(reported.get("serial")) or _word(reported.get("model")) or "rx1power" in reported:
            yield from _sonic(port, reported)


_SONIC_TEXT = {"vendor name": "manufacturer", "vendor pn": "model", "vendor sn": "serial"}


def _sonic_text(text: list[str]) -> Iterator[Optic]:
    port, reported = "", dict[str, str]()
    for line in [*text, "End1: SFP EEPROM not detected"]:
        begun = _SONIC.fullmatch(line.strip())
        if begun:
            if port:
                yield from _sonic(port, reported)
            port, reported = (begun[1], {}) if begun[2] == "detected" else ("", {})
            continue
        key, _, value = (part.strip() for part in line.partition(":"))
        name = key.lower()
        reported.setdefault(_SONIC_TEXT.get(name, name.replace(" ", "_")), value)


def _sonic_cli(text: list[str]) -> Iterator[Optic]:
    port, reported = "", dict[str, str]()
    for line in [*text, "Eth0"]:
        begun = _SONIC_CLI_PORT.fullmatch(line)
        if begun:
            yield from _sonic(port, reported) if reported else ()
            port, reported = begun[1], {}
        elif port and ":" in line and _SONIC_CLI not in line:
            key, _, value = (part.strip() for part in line.partition(":"))
            reported[key.lower()] = "-inf" if value == "No Power" else value


def _eos(found: Reported) -> Iterator[Optic]:
    for port, reported in found["interfaces"].items():
        inside = reported.get("parameters", reported.get("details", {}))
        rx, tx, bias = (_eos_lanes(reported, inside, key) for key in ("rxPower", "txPower", "txBias"))
        limits = inside.get("rxPower", {})
        limits = limits.get("threshold", limits)
        celsius = _eos_lanes(reported, inside, "temperature")
        whole = Optic(
            port,
            temperature_celsius=next(iter(celsius.values()), None),
            rx_power_low_dbm=_dbm(limits.get("lowAlarm")),
            rx_power_high_dbm=_dbm(limits.get("highAlarm")),
            part=_word(reported.get("mediaType")),
            serial=_word(reported.get("vendorSn")),
            medium=medium_of(reported.get("mediaType")),
        )
        if whole.serial or rx:
            yield from of_lanes(whole, {n: _dbm(v) for n, v in rx.items()}, {n: _dbm(v) for n, v in tx.items()}, bias)


def _eos_lanes(reported: Reported, inside: Reported, key: str) -> Lanes:
    """The values of the lanes: a single one of the port, or those of `channels`, where `-` is the whole module's."""
    channels = inside.get(key, {}).get("channels")
    if isinstance(channels, dict):
        return {int(lane) if lane.isdecimal() else 0: _number(value) for lane, value in channels.items()}
    return {0: _number(reported[key])} if key in reported else {}


def _nxos_json(found: Reported) -> Iterator[Optic]:
    for table in listed(found.get("TABLE_interface", found.get("TABLE_interface_trans"))):
        for row in listed(table.get("ROW_interface", table.get("ROW_interface_trans"))):
            if row.get("sfp") != "present":
                continue
            lanes = [lane for part in listed(row.get("TABLE_lane")) for lane in listed(part["ROW_lane"])]
            number = {at: int(_number(lane.get("lane_number")) or 0) for at, lane in enumerate(lanes)}
            yield from _nxos(
                row["interface"],
                (row.get("name"), row.get("partnum"), row.get("serialnum")),
                (row.get("type"), row.get("cisco_product_id")),
                {
                    number[at]: {
                        "Rx Power": (lane.get("rx_pwr"), lane.get("rx_pwr_alrm_hi"), lane.get("rx_pwr_alrm_lo")),
                        "Tx Power": (lane.get("tx_pwr"), None, None),
                        "Current": (lane.get("current"), None, None),
                        "Temperature": (lane.get("temperature"), None, None),
                    }
                    for at, lane in enumerate(lanes)
                },
            )


_Row = tuple[Any, Any, Any]
"""The value, its high and its low alarm."""


def _nxos(
    port: str, names: tuple[Any, Any, Any], kind: tuple[Any, Any], lanes: Mapping[int, Mapping[str, _Row]]
) -> Iterator[Optic]:
    first = next(iter(lanes.values()), {})
    none: _Row = (None, None, None)
    power = first.get("Rx Power", none)
    whole = Optic(
        port,
        temperature_celsius=_number(first.get("Temperature", none)[0]),
        rx_power_low_dbm=_dbm(power[2]),
        rx_power_high_dbm=_dbm(power[1]),
        vendor=_word(names[0]),
        part=_word(names[1]),
        serial=_word(names[2]),
        medium=medium_of(*kind, names[1]),
    )
    rx, tx = ({n: _dbm(rows.get(key, none)[0]) for n, rows in lanes.items()} for key in ("Rx Power", "Tx Power"))
    return of_lanes(whole, rx, tx, {n: _number(rows.get("Current", none)[0]) for n, rows in lanes.items()})


def _nxos_text(text: list[str]) -> Iterator[Optic]:
    port, summary, lanes, lane = "", dict[str, str](), dict[int, dict[str, _Row]](), 0
    for line in [*text, "End1"]:
        begun = _NXOS_PORT.fullmatch(line)
        if begun:
            if port and summary.get("transceiver") == "present":
                names = (summary.get("name"), summary.get("part number"), summary.get("serial number"))
                kind = (summary.get("type"), summary.get("cisco product id"))
                yield from _nxos(port, names, kind, lanes)
            port, summary, lanes, lane = begun[1], {}, {}, 0
        elif found := _NXOS_SAYS.fullmatch(line):
            summary.setdefault(found[1], found[2].strip())
        elif found := _NXOS_LANE.fullmatch(line):
            lane = int(found[1])
        elif found := _NXOS_ROW.fullmatch(line):
            lanes.setdefault(lane, {})[found[1]] = (found[2], found[3], found[4])


def _junos(found: Reported) -> Iterator[Optic]:
    for information in listed(found.get("interface-information")):
        for interface in listed(information.get("physical-interface")):
            for reported in listed(interface.get("optics-diagnostics")):
                lanes = listed(reported.get(_LANES))
                by_lane = {int(_number(data_of(lane.get("lane-index"))) or 0) + 1: lane for lane in lanes} or {
                    0: reported
                }
                yield from _junos_module(str(data_of(interface["name"])).strip(), reported, by_lane)


def _junos_module(port: str, reported: Reported, lanes: Mapping[int, Reported]) -> Iterator[Optic]:
    whole = Optic(
        port,
        temperature_celsius=_number(data_of(reported.get("module-temperature"))),
        rx_power_low_dbm=_dbm(data_of(reported.get("laser-rx-power-low-alarm-threshold-dbm"))),
        rx_power_high_dbm=_dbm(data_of(reported.get("laser-rx-power-high-alarm-threshold-dbm"))),
    )
    rx: Lanes = {}
    for lane, summary in lanes.items():
        rx[lane] = next((_dbm(data_of(summary[key])) for key in _JUNOS_RX if key in summary), None)
    tx: Lanes = {lane: _dbm(data_of(summary.get(_JUNOS_TX))) for lane, summary in lanes.items()}
    bias: Lanes = {lane: _number(data_of(summary.get("laser-bias-current"))) for lane, summary in lanes.items()}
    if any(value is not None for value in (*rx.values(), *tx.values(), *bias.values(), whole.temperature_celsius)):
        yield from of_lanes(whole, rx, tx, bias)


def _junos_text(text: list[str]) -> Iterator[Optic]:
    port, reported, lanes, lane = "", dict[str, str](), dict[int, dict[str, str]](), 0
    for line in [*text, "Physical interface: end"]:
        if begun := _JUNOS_PORT.fullmatch(line):
            if port:
                yield from _junos_module(port, reported, lanes or {0: reported})
            port, reported, lanes, lane = begun[1], {}, {}, 0
        elif found := _JUNOS_LANE.fullmatch(line):
            lane = int(found[1]) + 1
        else:
            key, _, value = (part.strip() for part in line.partition(":"))
            name = _JUNOS_TEXT.get(key.lower())
            if name:
                (lanes.setdefault(lane, {}) if lane else reported).setdefault(name, value)
