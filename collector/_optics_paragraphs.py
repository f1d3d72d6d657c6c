"""The modules of a switch's ports in paragraphs: AOS-CX, Comware, VRP, and the inventory of IOS-XR.

| network OS | command | rests on |
|---|---|---|
| AOS-CX | `show interface dom detail` | a recorded answer (ntc-templates, aruba_aoscx) |
| Comware | `display transceiver diagnosis interface`, `... manuinfo interface` | H3C's command reference |
| VRP | `display transceiver diagnosis interface` | an answer of an S6730 in public notes |
| VRP | `display interface transceiver [verbose\\|brief]` | Huawei's command reference, answers of S6730 and CE6870 |
| IOS-XR | `show inventory` | recorded answers of Cisco 8000 (ntc-templates, genieparser) |

Traps:

- AOS-CX prints milliwatts and a type (`SFP56CR`), no part or serial number: the type replaces the part.
- Comware's manufacturer information has the serial number of the module; its header of values names their order.
- VRP numbers lanes from 0, and prints only the first beside the name of the value.
- In IOS-XR's inventory sensors carry the port's name too, with `SN: N/A`. Inventories of other Cisco systems split one
  cable into a row for each subport: they are not read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from collector._medium import medium_of
from collector._module_json import DARK_DBM, dbm
from collector._module_json import optics as of_lanes
from truerail.errors import UnreadableError
from truerail.model import Optic

_HEAD = re.compile(
    r"[ \t]*(?:Transceiver in (?P<aoscx>\d+/\d+/\d+(?::\d+)?)|(?:Port )?(?P<display>[A-Za-z0-9][\w/:-]*) transceiver "
    r"(?:(?P<kind>diagnostic|manufacture) )?information:)[ \t]*"
)
_XR_NAME = re.compile(
    r'^NAME: "(?P<port>[A-Za-z]+GigE\d+(?:/\d+){3,4})", DESCR: "(?P<words>[^"\n]*)"[ \t\r]*\n'
    r"PID: (?P<part>\S+)[ \t]*, VID: [^,\n]*, SN: (?P<serial>\S+)[ \t\r]*\n",
    re.MULTILINE,
)
_XR_CHASSIS = re.compile(r'^NAME: "(?:Rack \d+|\d+/RP\d+(?:/CPU\d+)?)"', re.MULTILINE)
_KEY = re.compile(r"[ \t]*([A-Z][A-Za-z. ]*?)[ \t]*:[ \t]*(\S.*?)[ \t]*")
_CHANNEL = re.compile(r"[ \t]*Channel (\d{1,2}):[ \t]*")
_UNIT = re.compile(r"(-?\d{1,6}(?:\.\d{1,6})?)(C|mW|mA)(?:,.*)?")
_VRP_ROW = re.compile(
    r"[ \t]*(TxPower|RxPower|Current|Temp\.)\([^)]*\)[ \t]+(-?\d+\.\d+)(?:[ \t]*\([Ll]ane0\))?[ \t]+(.*)"
)
_VRP_LANE = re.compile(r"[ \t]+(-?\d+\.\d+)[ \t]*\([Ll]ane(\d)\)[ \t]*")
_VERBOSE_POWER = re.compile(r"[ \t]*(?:Current )?R[xX] Power ?\(dB[mM]\)[ \t]*:")
_VERBOSE_KEY = re.compile(r"^(?:current|default) ")
_VERBOSE_LANES = re.compile(
    r"(-?\d+(?:\.\d+)?(?:\|-?\d+(?:\.\d+)?)*)(?:[ \t]*\((Lane\d+(?:\|Lane\d+)*)\))?", re.IGNORECASE
)
_LIMITS = re.compile(r"(-?\d+\.\d+)[ \t]+(-?\d+\.\d+)\b.*")
_COLUMN = re.compile(r"(Temp|Voltage|Bias|RX power|TX power)\.? ?\([^)]*\)", re.IGNORECASE)
_NUMBERS = re.compile(r"[ \t]*(?:(High|Low)[ \t]+)?(-?\d+(?:\.\d+)?(?:[ \t]+-?\d+(?:\.\d+)?)*)[ \t]*")
_SIGN = "ransceiver "
"""In each line that begins a module, and in few other answers."""
_LONGEST_LINE = 256
"""Characters. A longer line is none of these forms."""
_ABSENT = frozenset(("n/a", "-", "--"))
Lanes = dict[int, float | None]


def of_paragraphs(text: Sequence[str]) -> list[Optic] | None:
    """The modules in an answer's lines; None if it has none in this form. Raises `UnreadableError` if one is cut."""
    whole = "\n".join(text)
    if _XR_CHASSIS.search(whole) and _XR_NAME.search(whole):
        return list(_inventory(whole))
    if _SIGN not in whole or not any(map(_HEAD.fullmatch, text)):
        return None
    found: list[Optic] = []
    head: re.Match[str] | None = None
    body: list[str] = []
    for line in (*text[:-1], "Transceiver in 0/0/0"):  # a last line without a line feed may be cut
        begun = _HEAD.fullmatch(line)
        if begun and head:
            found.extend(_module(head, body))
        if begun:
            head, body = begun, []
        elif len(line) <= _LONGEST_LINE:
            body.append(line)
    return found


def _inventory(answer: str) -> Iterator[Optic]:
    for one in _XR_NAME.finditer(answer):
        if one["serial"].lower() not in _ABSENT:
            medium = medium_of(one["part"], one["words"])
            yield Optic(one["port"], part=one["part"], serial=one["serial"], medium=medium)


def _module(head: re.Match[str], body: Sequence[str]) -> Iterator[Optic]:
    if head["aoscx"]:
        return _aoscx(head["aoscx"], body)
    if head["kind"] == "manufacture":
        return _manufactured(head["display"], body)
    if head["kind"] is None or any(_VERBOSE_POWER.match(line) for line in body):
        return _verbose(head["display"], body)
    if any("Threshold" in line for line in body):
        return _vrp(head["display"], body)
    return _comware(head["display"], body)


def _aoscx(port: str, body: Sequence[str]) -> Iterator[Optic]:
    channel, kind = 0, None
    read: dict[str, Lanes] = {}
    for line in body:
        numbered, keyed = _CHANNEL.fullmatch(line), _KEY.fullmatch(line)
        if numbered:
            channel = int(numbered[1])
        elif keyed and keyed[1] == "Type":
            kind = keyed[2]
        elif keyed and (value := _UNIT.fullmatch(keyed[2])):
            number = float(value[1])
            read.setdefault(keyed[1], {})[channel] = dbm(number) if value[2] == "mW" else number
    if kind is None:
        raise UnreadableError("a module without its type: the answer is cut", text=port)
    whole = Optic(
        port,
        temperature_celsius=_only(read, "Temperature"),
        rx_power_low_dbm=_only(read, "Rx Power low alarm threshold"),
        rx_power_high_dbm=_only(read, "Rx Power high alarm threshold"),
        part=kind,
        medium=medium_of(kind),
    )
    return of_lanes(whole, read.get("Rx Power", {}), read.get("Tx Power", {}), read.get("Tx Bias", {}))


def _only(read: Mapping[str, Lanes], name: str) -> float | None:
    return next(iter(read.get(name, {}).values()), None)


def _manufactured(port: str, body: Sequence[str]) -> Iterator[Optic]:
    keyed = {found[1]: found[2] for line in body if (found := _KEY.fullmatch(line))}
    if "Manu. Serial Number" in keyed:
        yield Optic(port, vendor=keyed.get("Vendor Name"), serial=keyed["Manu. Serial Number"])


def _vrp(port: str, body: Sequence[str]) -> Iterator[Optic]:
    read: dict[str, Lanes] = {}
    low = high = None
    name = ""
    for line in body:
        row, lane = _VRP_ROW.fullmatch(line), _VRP_LANE.fullmatch(line)
        if row:
            name = row[1]
            read[name] = {0: float(row[2])}
            limits = _LIMITS.fullmatch(row[3])
            if name == "RxPower" and limits:
                low, high = float(limits[1]), float(limits[2])
        elif lane and name:
            read[name][int(lane[2])] = float(lane[1])
    if "RxPower" not in read:
        raise UnreadableError("a module without its received power: the answer is cut, or of another form", text=port)
    whole = Optic(port, temperature_celsius=_only(read, "Temp."), rx_power_low_dbm=low, rx_power_high_dbm=high)
    return of_lanes(whole, _lit(read["RxPower"]), _lit(read.get("TxPower", {})), read.get("Current", {}))


def _verbose(port: str, body: Sequence[str]) -> Iterator[Optic]:
    """VRP's `display interface transceiver [verbose|brief]`: values of several lanes between bars, two to a line."""
    words, read, name = dict[str, str](), dict[str, Lanes](), ""
    for line in body:
        key, colon, value = line.partition(":")
        more = _VERBOSE_LANES.fullmatch((value if colon else line).strip())
        if colon:
            name = _VERBOSE_KEY.sub("", " ".join(key.lower().split()).replace(" (", "("))
            words.setdefault(name, value.strip())
        if more and name:
            at = [int(lane) for lane in re.findall(r"\d+", more[2] or "0")]
            read.setdefault(name, {}).update(zip(at, map(float, more[1].split("|")), strict=False))
    of_unit = {unit: lanes for unit, lanes in read.items() if unit.startswith("temperature(")}
    whole = Optic(
        port,
        temperature_celsius=next((lanes[0] for lanes in of_unit.values() if 0 in lanes), None),
        rx_power_low_dbm=_only(read, "rx power low threshold(dbm)"),
        rx_power_high_dbm=_only(read, "rx power high threshold(dbm)"),
        vendor=words.get("vendor name") or None,
        part=words.get("vendor part number") or words.get("vendor pn") or words.get("part number") or None,
        serial=words.get("manu. serial number") or words.get("serial number") or None,
        medium=medium_of(words.get("transceiver type")),
    )
    rx, tx = _lit(read.get("rx power(dbm)", {})), _lit(read.get("tx power(dbm)", {}))
    if rx or whole.part or whole.serial:
        yield from of_lanes(whole, rx, tx, read.get("bias current(ma)", {}))


def _lit(powers: Mapping[int, float | None]) -> Lanes:
    return {lane: None if power is None else max(DARK_DBM, power) for lane, power in powers.items()}


def _comware(port: str, body: Sequence[str]) -> Iterator[Optic]:
    columns: list[str] = []
    rows: dict[str, dict[str, float]] = {}
    for line in body:
        labels = [label.lower() for label in _COLUMN.findall(line)]
        values = _NUMBERS.fullmatch(line)
        if labels:
            columns = labels
        elif columns and values:
            cells = values[2].split()
            if len(cells) != len(columns):
                raise UnreadableError("a row of a module's values with too few cells: the answer is cut", text=line)
            rows.setdefault(values[1] or "", dict(zip(columns, map(float, cells), strict=True)))
    now = rows.get("", {})
    if now:
        yield Optic(
            port,
            rx_power_dbm=_lit({0: now.get("rx power")})[0],
            tx_power_dbm=_lit({0: now.get("tx power")})[0],
            bias_ma=now.get("bias"),
            temperature_celsius=now.get("temp"),
            rx_power_low_dbm=rows.get("Low", {}).get("rx power"),
            rx_power_high_dbm=rows.get("High", {}).get("rx power"),
        )
