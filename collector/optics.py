"""The pluggable module of each port of a host or a switch: light on each lane, temperature, and model.

Question: how much light does each lane receive and send, is that within the module's own limits, which model is it?
Needs: root, or CAP_NET_ADMIN (a module's memory is read over I2C); `ethtool`, else NVIDIA's `mlxlink`. On a switch a
read-only login; on Cumulus Linux as on a host.

| network OS | answers |
|---|---|
| SONiC | `sonic-db-dump` of the transceivers in STATE_DB; `show interfaces transceiver eeprom [-d]` |
| Arista EOS | `show interfaces transceiver [detail\\|dom]`, as JSON and text; `show inventory`, text and JSON |
| Cisco NX-OS | `show interface transceiver [details]`, text and JSON |
| Junos | `show interfaces diagnostics optics`, text, JSON and XML; `show chassis hardware` for the serial numbers |
| Nokia SR Linux | `info from state interface * \\| as json`; rests on documentation |
| OpenConfig | JSON of `openconfig-platform` by gNMI; rests on documentation |
| Cumulus Linux | `ethtool -m` of each port, the command above it; NVUE's `nv show platform transceiver -o json` |

Formats: `ethtool -m` as text (SFF-8472, SFF-8636, CMIS) and as JSON (ethtool 6.14 and newer), with the command above
each port's answer; `mlxlink -m`, also with `--json`. Sources: ethtool `sff-common.c`, `sfpdiag.c`, `qsfp.c`, `cmis.c`
and its `module_info.json`; mstflint `mlxlink_commander.cpp`; recorded answers.

Traps:

- A lane without light shows `-inf dBm`, 0 mW or -40 dBm: it is reported as -40 dBm, since there is a reading. A module
  without diagnostics, and a copper cable, whose zeros mean nothing, have one fact without powers.
- Lanes are numbered from 1; a module with one lane does not number it. Old releases of ethtool count CMIS from 0.
- Text gives milliwatts and dBm, JSON milliwatts alone; `rx_power` was an array under another name, then an object.
- JSON of ethtool up to 6.15 has the key `module_temperature` twice: for the reading, then for its limits.
- `mlxlink` writes `1.88,1.98,2.28,1.97 [-10.41..6]`: the lanes, then the low and the high limit.
- EOS shows a module's type (`400GBASE-DR4`) and serial number, no part number: the type replaces the part. Junos shows
  neither here. Inventories are in `collector/formats/module_inventory.py`.
- SONiC shows zeros for a copper cable, and for a module without diagnostics: they are skipped.
- Refused: an answer that ends inside a name, two modules below one command. Skipped: a last value without line feed.
"""

import re
from collections.abc import Iterator, Mapping

from collector.formats.documents import unwrapped
from collector.formats.module_inventory import nvue
from collector.formats.modules import Names, by_lane, from_ethtool, from_mlxlink, from_words, medium_of, module
from collector.formats.switch_modules import of_switch
from collector.formats.text import Section, asks, is_json, is_prompt, lines, sections
from collector.nos import model_forms
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import EVERYWHERE, Command, Device, Optic, collector, commands, minutes, saved_as

_LIVE = (
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in */device; do n=${n%/*}; "
    '[ -e $n/device/physfn ] || { echo "# ethtool -m $n"; ethtool -m $n; }; done; :'
)
_CUMULUS = (
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in swp*; do [ -e $n ] || continue; "
    'echo "# ethtool -m $n"; ethtool -m $n; done; :'
)
_ASKED = asks("(?:ethtool|mlxlink|nv|show)", "(?:-m|--module-info|--dump-module-eeprom|-d|interface|transceiver)")
_LANE = re.compile(r"(.{1,60}?) ?\(Chan(?:nel)? (\d{1,3})\)")
_NAMES = Names(
    "Module temperature",
    "Laser rx power low alarm threshold",
    "Laser rx power high alarm threshold",
    *("Vendor name", "Vendor PN", "Vendor SN"),
    medium=("Connector", "Transmitter technology", "Vendor PN"),
    rx=("Rcvr signal avg optical power", "Receiver signal average optical power", "Receiver signal OMA"),
    tx=("Transmit avg optical power", "Laser output power"),
    bias=("Laser tx bias current", "Laser bias current"),
)
_NO_MODULE = re.compile(r"\s*(?:netlink error|Cannot get )", re.IGNORECASE)
_DUMPED = re.compile(r"\s*(?:Offset\s+Values|-{6}\s+-{6})\s*")
"""The head of a module's bytes, which ethtool prints of a kind of module that its release does not know."""
_IDENTIFIER = "Identifier"
_MLXLINK_WORDS = frozenset((_IDENTIFIER, "Vendor Part Number"))
"""Labels that only mlxlink's text contains."""
_MLXLINK = '"Module Info"'
_NVUE = ('"vendor-sn"', '"diagnostics-status"')
_OTHER_INVENTORY = re.compile(r'^NAME: "', re.MULTILINE)
"""Cisco's inventory, which names modules differently on each system."""
Reported = Mapping[str, Mapping[int, str]]
"""A module's values: by name, then by lane; lane 0 for a value of the whole module."""


ASK = (
    Command(_LIVE, ("linux",)),
    Command(_CUMULUS, ("cumulus",)),
    Command("sonic-db-dump -n STATE_DB -y -k 'TRANSCEIVER_[ID][NO][FM]*'", ("sonic",)),
    Command("show interfaces transceiver eeprom -d", ("sonic",)),
    *commands("eos", "show interfaces transceiver detail | json", "show interfaces transceiver | json"),
    *commands("nxos", "show interface transceiver details | json", "show interface transceiver details"),
    *commands("junos", "show interfaces diagnostics optics | display json", "show interfaces diagnostics optics"),
    Command("info from state interface * | as json", ("srlinux",)),
    *model_forms.OPTICS_REQUESTS,
    *saved_as("show interfaces transceiver eeprom --dom", "show interfaces transceiver eeprom"),
    *saved_as("show interfaces transceiver dom | json", "show interface transceiver"),
    *saved_as("show interfaces diagnostics optics | display xml", "show inventory", "show interfaces transceiver"),
    *saved_as("show interfaces transceiver detail", "show inventory | json"),
    *saved_as("show chassis hardware | display json", "show chassis hardware | display xml"),
    *saved_as("show chassis hardware", "nv show platform transceiver -o json", "ethtool -m {port}"),
    *saved_as("ethtool --json -m {port}", "ethtool -j -m {port}", "mlxlink --json -m -d {port}"),
    *saved_as("mlxlink -m -d {port}"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(5), yields=[Optic], megabytes=16, optional=True)
def optics(answer: str, device: Device) -> list[Optic]:
    """One `Optic` for each lane of each module, in the answer's order. Raises `UnreadableError`, also if there is no
    module."""
    text = lines(answer)
    if '"oper-state"' in answer and '"port-speed"' in answer and is_json(answer):
        return _some(list(model_forms.optics_from_srlinux(unwrapped(answer))), text)
    if is_json(answer) and model_forms.optics_is_model(answer):
        return _some(list(model_forms.optics_from_model(unwrapped(answer))), text)
    if _OTHER_INVENTORY.search(answer):
        raise NoAnswerError("an inventory that is not read", line=1, text=text[0])
    if (of_ports := of_switch(answer)) is not None:
        return _some(of_ports, text)
    if not is_json(answer) and text[-1].rpartition(":")[2].strip() and ":" in text[-1]:
        text = text[:-1]
    return _some([optic for section in sections(text, "", _ASKED) for optic in _of_port(section)], text)


def _some(found: list[Optic], text: list[str]) -> list[Optic]:
    if not found:
        dumped = any(map(_DUMPED.fullmatch, text))
        why = "modules of a kind that this ethtool does not know" if dumped else "no module in it"
        raise NoAnswerError(why, line=1, text="".join(text[:1]))
    return [one if one.medium else one._replace(medium=medium_of(one.part)) for one in found]


def _of_port(section: Section) -> Iterator[Optic]:
    body = "\n".join(section.lines)
    if is_json(body) and any(word in body for word in _NVUE):
        return nvue(unwrapped(body), section.port.partition("_")[0])
    if is_json(body):
        return from_mlxlink(section.port, body) if _MLXLINK in body else from_ethtool(section.port, body)
    return _from_text(section)


def _from_text(section: Section) -> Iterator[Optic]:
    reported: dict[str, dict[int, str]] = {}
    for number, line in enumerate(section.lines, section.line):
        if _title(section, number - section.line):
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not key or is_prompt(line) or _NO_MODULE.match(line) or _DUMPED.fullmatch(line):
            continue
        if not colon:
            raise UnreadableError("not a value of a module, or cut short", line=number, text=line)
        if key == _IDENTIFIER and key in reported:
            raise UnreadableError("a second module, whose port no line names", line=number, text=line)
        lane = _LANE.fullmatch(key)
        reported.setdefault(lane[1] if lane else key, {})[int(lane[2]) if lane else 0] = value
    if _MLXLINK_WORDS.issubset(reported):
        yield from from_words(section.port, {key: _word(reported, key) for key in reported})
    elif _IDENTIFIER in reported:
        yield from _module(section.port, reported)


def _title(section: Section, at: int) -> bool:
    """Whether a line is one of mlxlink's titles, or the rule below one."""
    below = section.lines[at + 1].strip() if at + 1 < len(section.lines) else ""
    return any(line and not line.strip("-") for line in (section.lines[at].strip(), below))


def _module(port: str, reported: Reported) -> Iterator[Optic]:
    columns = {key: reported[key] for key in (*_NAMES.rx, *_NAMES.tx, *_NAMES.bias) if key in reported}
    values = {key: _word(reported, key) for key in reported}
    copper = "copper cable" in values.get("Transmitter technology", "").lower()
    return module(port, _NAMES, values, by_lane(columns), copper=copper)


def _word(reported: Reported, name: str) -> str:
    return reported[name].get(0, "")
