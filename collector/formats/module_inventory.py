"""Pluggable modules in the inventories of switches, and in EOS' tables of light."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.formats.documents import data_of
from collector.formats.modules import Names, medium_of, module, word
from collector.formats.table import cells_at
from truerail.errors import UnreadableError
from truerail.model import Optic

# ----------------------------------------------------------------------------------------------------------------------
# Modules in an inventory, which lists models without light: Arista EOS `show inventory`, Junos `show chassis
# hardware`, NVIDIA's NVUE `nv show platform transceiver` and `nv show interface ... transceiver`, which reports both.
#
# - EOS numbers cages (`49` for `Ethernet49/1`); its table has cells of fixed width, which mail programs squeeze.
# - Junos names the location, `FPC 0`, `PIC 0`, `Xcvr 48`; the prefix of the port's name follows from the speed: `ge-`,
#   `xe-` for 10 Gb/s, `et-` above. A module whose description has no speed names no port and is left out.
# - NVUE: `vendor-name`, `vendor-pn`, `vendor-sn`, lanes as `channel-1` or `ch-1-rx-power`; powers are `0.86 mW`, with
#   or without dBm after it. A cage without module has no `vendor-sn`.
#
# Sources: recorded answers in ntc-templates (arista_eos) and ANTA (`xcvrSlots`), Junos' XML in public clients and its
# reference, NVIDIA's manuals of NVOS and of Cumulus Linux.

_EOS_TITLE = re.compile(r"[ \t]*System has \d+ (?:switched )?transceiver slots?[ \t]*")
_EOS_RULER = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,}){4}[ \t]*")
_EOS_ROW = re.compile(r"(\d+(?:/\d+)*) +(.+?) +((?=\S*[-\d])\S+) +(\S{5,}) +(\S{1,4})")
"""A row with squeezed columns: the model has a digit or a hyphen, a vendor has neither."""
_EOS_EMPTY = re.compile(r"\d+(?:/\d+)*(?: +Not Present\b.*)?")
_MODULE = re.compile(r"(FPC|PIC|Xcvr)[ \t]+(\d{1,3})")
_JUNOS_LABELS = re.compile(r"[ \t]*Item[ \t]+Version[ \t]+Part number[ \t]+Serial number[ \t]+Description.*")
_JUNOS_ROW = re.compile(
    r"[ \t]*(FPC|PIC|Xcvr)[ \t]+(\d{1,3})[ \t]+(?:REV[ \t]+\w+[ \t]+)?(\S+)[ \t]+(\S+)[ \t]+(\S.*?)[ \t]*"
)
_SPEED = re.compile(r"(?<!\d)(\d{1,3})G")
_GIGABIT = re.compile(r"SFP-")
_NVUE_LANE = re.compile(r"ch(?:annel)?-(\d{1,2})")
_NVUE_FLAT = re.compile(r"ch-(\d{1,2})-(rx-power|tx-power|tx-bias-current)")
_NVUE = Names(
    *("temperature", "", "", "vendor-name", "vendor-pn", "vendor-sn"),
    *(("cable-type", "connector", "identifier", "vendor-pn"), ("rx-power",), ("tx-power",), ("tx-bias-current",)),
)
_READINGS = ("rx-power", "tx-power", "tx-bias-current")


def eos_text(text: Sequence[str]) -> list[Optic] | None:
    """The modules in EOS' text; None if it has no list of transceiver slots. Raises `UnreadableError`."""
    begun = next((number for number, line in enumerate(text) if _EOS_TITLE.fullmatch(line)), None)
    return None if begun is None else list(_eos_rows(text, begun + 1))


def _eos_rows(text: Sequence[str], begun: int) -> Iterator[Optic]:
    ruler = next((at for at in range(begun, min(begun + 4, len(text))) if _EOS_RULER.fullmatch(text[at])), None)
    if ruler is None:
        raise UnreadableError("no ruler below the slots' labels: the answer is cut", line=begun, text=text[begun - 1])
    starts = [run.start() for run in re.finditer("-+", text[ruler])]
    for number, line in enumerate(text[ruler + 1 :], ruler + 2):
        row = line.strip()
        if not row or not row[0].isdigit():
            return
        if _EOS_EMPTY.fullmatch(row):
            continue
        in_columns = all(line[start - 1 : start].isspace() for start in starts[1:])
        found = _EOS_ROW.fullmatch(row)
        if in_columns:
            cells = cells_at(line, starts)
        elif found:
            cells = [*found.groups()]
        else:
            raise UnreadableError("a slot with too few cells: the answer is cut", line=number, text=line)
        yield Optic(f"Ethernet{cells[0]}", vendor=word(cells[1]), part=word(cells[2]), serial=word(cells[3]))


def eos_json(found: Mapping[str, Any]) -> Iterator[Optic]:
    """The modules in the object `xcvrSlots`."""
    for slot, reported in found["xcvrSlots"].items():
        vendor, part, serial = (word(reported.get(key)) for key in ("mfgName", "modelName", "serialNum"))
        if serial or part:
            port = slot if slot.startswith("Ethernet") else f"Ethernet{slot}"
            yield Optic(port, vendor=vendor, part=part, serial=serial)


def junos_text(text: Sequence[str]) -> list[Optic] | None:
    """The modules in Junos' text; None if it lacks the labels. Raises `UnreadableError` if a row is cut."""
    begun = next((number for number, line in enumerate(text, 1) if _JUNOS_LABELS.fullmatch(line)), 0)
    return list(_junos_rows(text, begun)) if begun else None


def _junos_rows(text: Sequence[str], begun: int) -> Iterator[Optic]:
    place: dict[str, str] = {}
    for number, line in enumerate(text[begun:], begun + 1):
        named = _MODULE.match(line.strip())
        if named and named[1] != "Xcvr":
            place[named[1]] = named[2]
        elif named:
            found = _JUNOS_ROW.fullmatch(line)
            if found is None:
                raise UnreadableError("a module with too few cells: the answer is cut", line=number, text=line)
            yield from _of_junos(place, found[2], found[3], found[4], found[5])


def junos_tree(found: Any, place: Mapping[str, str]) -> Iterator[Optic]:
    """The modules in Junos' JSON, or in its XML as `xml_tree` returns it: nested by chassis, FPC, MIC, PIC. `place` is
    where the document is, at its root empty.
    """
    if isinstance(found, list):
        for one in found:
            yield from junos_tree(one, place)
    elif isinstance(found, dict):
        named = _MODULE.fullmatch(str(data_of(found.get("name"))).strip())
        here = {**place, named[1]: named[2]} if named else place
        if named and named[1] == "Xcvr":
            reported = (data_of(found.get(key)) for key in ("part-number", "serial-number", "description"))
            yield from _of_junos(here, named[2], *reported)
            return
        for value in found.values():
            yield from junos_tree(value, here)


def _of_junos(place: Mapping[str, str], cage: str, part: Any, serial: Any, description: Any) -> Iterator[Optic]:
    text = str(description or "")
    speed = _SPEED.search(text)
    gigabits = int(speed[1]) if speed else 1 if _GIGABIT.match(text) else 0
    if gigabits:
        kind = "ge" if gigabits == 1 else "xe" if gigabits == 10 else "et"
        port = f"{kind}-{place.get('FPC', '0')}/{place.get('PIC', '0')}/{cage}"
        yield Optic(port, part=word(part), serial=word(serial), medium=medium_of(text, part))


def nvue(found: Any, port: str) -> Iterator[Optic]:
    """The modules in NVUE's JSON; `port` comes from the command, since an answer about one port does not name it."""
    if not isinstance(found, dict):
        return
    if "vendor-sn" in found:
        yield from _nvue_module(port, found)
        return
    for key, value in found.items():
        yield from nvue(value, port if key in ("transceiver", "pluggable") else key)


def _nvue_module(port: str, reported: Mapping[str, Any]) -> Iterator[Optic]:
    if not port:
        raise UnreadableError("a module of a port that nothing names")
    lanes: dict[int, dict[str, Any]] = {}
    channels = reported.get("channel")
    for name, lane in channels.items() if isinstance(channels, dict) else ():
        found = _NVUE_LANE.fullmatch(name)
        if found and isinstance(lane, dict):
            lanes[int(found[1])] = {key: _reading(key, lane.get(key)) for key in _READINGS}
    for name, value in reported.items():
        if found := _NVUE_FLAT.fullmatch(name):
            lanes.setdefault(int(found[1]), {})[found[2]] = _reading(found[2], value)
    copper = "copper" in f"{reported.get('cable-type')} {reported.get('identifier')}".lower()
    celsius = None if copper else reported.get("temperature")
    values = {**reported, "temperature": celsius.get("temperature") if isinstance(celsius, dict) else celsius}
    return module(port, _NVUE, values, lanes, copper=copper)


def _reading(name: str, value: Any) -> Any:
    """A power in milliwatts or a current, from text or from an object that also has limits."""
    if isinstance(value, dict):
        value = value.get("power", value.get("current"))
    return value if name == "tx-bias-current" or "mW" in str(value) else None


# ----------------------------------------------------------------------------------------------------------------------
# The modules of Arista EOS as text: `show interfaces transceiver [detail]`.
#
# Each lane is a port of its own (`Et3/17/1`, `Et3/17/2`). Without `detail` one table has all values; with it each value
# has a table, the value first, then its limits: high alarm, high warning, low alarm, low warning. A port without a
# value has no module, or one without diagnostics: it is left out. Source: recorded answers in ntc-templates
# (arista_eos).

_BRIEF = re.compile(r"Port +\(Celsius\) +\(Volts\) +\(mA\) +\(dBm\) +\(dBm\)(?: .*)?")
_DETAIL = re.compile(r"Port +\((?:Celsius|Volts|mA|dBm)\)(?: +\((?:Celsius|Volts|mA|dBm)\)){4}")
_NAMES = re.compile(r"(Temperature|Voltage|Current|Tx Power|Rx Power) +Threshold +Threshold +Threshold +Threshold")
_PORT = re.compile(r"(?:Et|Ethernet|Ma|Management)\d[\d/]*")
_EOS_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MARK = re.compile(r"(?<=[\d)]) +(?:\+\+|\+|--|-)(?= )|\([^()]*\)")
"""What marks a value beyond a limit, and the uncalibrated one in brackets."""
_READ = frozenset(("Temperature", "Current", "Tx Power", "Rx Power"))


def of_text(text: Sequence[str]) -> list[Optic] | None:
    """The modules in an answer's lines; None if it is another answer."""
    stripped = [line.strip() for line in text]
    if any(_BRIEF.fullmatch(line) for line in stripped):
        return list(_brief(stripped))
    return list(_detail(stripped)) if any(_DETAIL.fullmatch(line) for line in stripped) else None


_EOS = Names("Temperature", "low", "high", rx=("Rx Power",), tx=("Tx Power",), bias=("Current",))


def _brief(text: Sequence[str]) -> Iterator[Optic]:
    for line in text:
        port, *cells = line.split() or [""]
        if _PORT.fullmatch(port) and len(cells) > 4 and any(map(_EOS_NUMBER.fullmatch, cells[:5])):
            values = dict(zip(("Temperature", "Voltage", "Current", "Tx Power", "Rx Power"), cells, strict=False))
            yield from module(port, _EOS, values, {0: values})


def _detail(text: Sequence[str]) -> Iterator[Optic]:
    found: dict[str, dict[str, str]] = {}
    name = ""
    for line in text:
        named = _NAMES.fullmatch(line)
        port, *cells = _MARK.sub("", f"{line} ").split() or [""]
        if named:
            name = named[1]
        elif name in _READ and _PORT.fullmatch(port) and len(cells) == 5 and _EOS_NUMBER.fullmatch(cells[0]):
            values = found.setdefault(port, {})
            values[name] = cells[0]
            if name == "Rx Power":
                values |= {"high": cells[1], "low": cells[3]}
    for port, values in found.items():
        yield from module(port, _EOS, values, {0: values})
