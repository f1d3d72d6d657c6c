"""A whole round: read once to collect the names in it, then written with pseudonyms."""

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from pathlib import Path

from truerail.analysis.cabling.ib_names import spellings
from truerail.errors import CaptureError
from truerail.model import Cable, Device, Neighbor, Panel, Plan, Port, Rail, Role
from truerail.model.names import canonical_mac, natural_key
from truerail.model.panel_paths import panels_of, spot
from truerail.scrub.pseudonyms import Keyed, Names
from truerail.transport.capture_files import questions_of
from truerail.transport.replay import read_capture
from truerail.transport.round_files import INVENTORY, UNANSWERED, dump_inventory, load_inventory, load_unanswered

# ----------------------------------------------------------------------------------------------------------------------
# Answers with all identifying values replaced: names, addresses, MACs, GUIDs, serials, in any format.


_HEX = "[0-9A-Fa-f]"
# What stands before is looked at behind the first character: `re` finds those that begin with one twice as fast.
_MAC = re.compile(rf"{_HEX}(?<![\w:.-].){_HEX}([:-])(?:{_HEX}{{2}}\1){{4}}{_HEX}{{2}}(?![:-]?{_HEX})")
_CISCO = re.compile(rf"{_HEX}(?<![\w:.-].){_HEX}{{3}}\.{_HEX}{{4}}\.{_HEX}{{4}}(?![\w.])")
_BARE = re.compile(rf"(?<![\w.-])(0x)?({_HEX}{{12}})(?![\w-])")
_GUID = re.compile(
    rf"{_HEX}(?<![\w:.-].)(?:(?<=0)x{_HEX}{{16}}|{_HEX}{{3}}(?::{_HEX}{{4}}){{3}}|{_HEX}(?::{_HEX}{{2}}){{7}})(?![\w:])"
)
_INFINIBAND = re.compile(rf"(?<![\w:.-])((?:{_HEX}{{2}}:){{12}})((?:{_HEX}{{2}}:){{7}}{_HEX}{{2}})(?![\w:])")
_FABRIC = re.compile(rf"(?<![\w.-])([SHR]-|0x(?!{_HEX}{{16}})|)({_HEX}{{13,16}})(?![\w:-])")
"""GUIDs as InfiniBand's tools print them: `S-0008f10400410015`, `0x8f10400410015`, `(8f10400410015)`, all one."""
_UUID = re.compile(rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}")
_IPV4 = re.compile(r"\d(?<![\w.].)\d{0,2}\.(?:\d{1,3}\.){2}\d{1,3}(?!\.?\w)")
_IPV6 = re.compile(rf"(?<![\w:.]){_HEX}{{0,4}}(?::{_HEX}{{0,4}}){{2,7}}(?![\w:])")
_SERIALS = (
    re.compile(r'("[^"]*(?:serial|uuid|asset)[^"]*"\s*:\s*")([^"]+)(?=")', re.IGNORECASE),
    re.compile(r"((?:serial(?:[ _-]?(?:number|num|no))?|asset(?:[ _-]?id)?)\s*[:=]\s*)(\S+)", re.IGNORECASE),
    re.compile(r"((?<=[\w.-])\()([A-Z]{3}\d{4}[A-Z0-9]{4})(?=\))"),
)
_DIGITS = re.compile(rf"{_HEX}")


class Text:
    """Replaces identifying values in one text after the other, always in the same way."""

    def __init__(self, keyed: Keyed, names: Names) -> None:
        self._keyed = keyed
        self.names = names

    def __call__(self, text: str) -> str:
        """The text without identifying values. Its format stays: every replacement has the shape of the original."""
        for pattern in _SERIALS:
            text = pattern.sub(lambda m: m.group(1) + self._serial(m.group(2)), text)
        text = _UUID.sub(lambda m: self._digits("uuid", m.group()), text)
        text = _INFINIBAND.sub(lambda m: m.group(1) + self._digits("guid", m.group(2)), text)
        text = _GUID.sub(lambda m: self._digits("guid", m.group()), text)
        text = _FABRIC.sub(self._fabric_guid, text)
        text = _MAC.sub(lambda m: self.mac(m.group()), text)
        text = _CISCO.sub(lambda m: self.mac(m.group()), text)
        text = _BARE.sub(self._bare, text)
        text = _IPV4.sub(lambda m: self.address(m.group()), text)
        text = _IPV6.sub(lambda m: self.address(m.group()), text)
        return self.names.text(text)

    def mac(self, text: str) -> str:
        """A MAC in the spelling in which it came."""
        made = self._keyed.mac(bytes.fromhex("".join(_DIGITS.findall(text)))).hex()
        return _poured(made, text)

    def address(self, text: str, bits: int | None = None) -> str:
        """An IPv4 or IPv6 address; a text that is none stays."""
        try:
            found: IPv4Address | IPv6Address = IPv6Address(text) if ":" in text else IPv4Address(text)
        except AddressValueError:
            return text
        return str(self._keyed.address(found, bits))

    def _bare(self, found: "re.Match[str]") -> str:
        """Twelve hex digits in a row are a MAC, but twelve decimal digits may well be a counter."""
        digits = found.group(2)
        return found.group() if digits.isdigit() and not found.group(1) else (found.group(1) or "") + self.mac(digits)

    def _fabric_guid(self, found: "re.Match[str]") -> str:
        """A GUID, zeros before it or not. Decimal digits without a mark before them may well be a counter."""
        mark, digits = found.groups()
        return found.group() if digits.isdigit() and not mark else mark + self._digits("guid", digits.zfill(16))

    def _serial(self, text: str) -> str:
        return f"SN{self._keyed.number('serial', text.strip()) % 10**10:010}"

    def _digits(self, purpose: str, text: str) -> str:
        """Another number of the same shape, for what is a number by convention only."""
        head = "0x" if text.startswith("0x") else ""
        bare = "".join(_DIGITS.findall(text[len(head) :])).lower()
        if not bare.strip("0"):
            return text
        made = f"{self._keyed.number(purpose, bare):016x}{self._keyed.number(purpose + '2', bare):016x}"
        return head + _poured(made[: len(bare)], text[len(head) :])


def _poured(digits: str, shape: str) -> str:
    """Hex digits in the places of those of `shape`, in capitals where it has some."""
    coming = iter(digits.upper() if shape.upper() == shape and shape.lower() != shape else digits)
    return _DIGITS.sub(lambda _: next(coming), shape)


# ----------------------------------------------------------------------------------------------------------------------
# SNMP walks: only rows of tables that collectors read remain, and identifiers encoded as numbers are replaced, too.
#
# A full walk contains much more than cables: contacts, locations, neighbours' addresses, software. LLDP-MIB puts
# management addresses into the index of their rows, and net-snmp prints a text with a line feed in hex.

_KEPT = tuple(
    f".{oid}."
    for oid in (
        "1.0.8802.1.1.2.1.3.2",
        "1.0.8802.1.1.2.1.3.7.1",
        "1.0.8802.1.1.2.1.4.1.1",
        "1.0.8802.1.1.2.1.4.2.1",
        "1.3.6.1.2.1.2.2.1",
        "1.3.6.1.2.1.31.1.1.1",
    )
)
_ROW = re.compile(r"(?:\.?1|iso)((?:\.\d+)+) = ")
_MANAGED = re.compile(r"(\.1\.0\.8802\.1\.1\.2\.1\.4\.2\.1(?:\.\d+){4}\.1\.4)\.(\d+\.\d+\.\d+\.\d+) = ")
_SUBTYPES = {
    ".1.0.8802.1.1.2.1.3.7.1.2.": (".1.0.8802.1.1.2.1.3.7.1.3.", 3),
    ".1.0.8802.1.1.2.1.4.1.1.4.": (".1.0.8802.1.1.2.1.4.1.1.5.", 4),
    ".1.0.8802.1.1.2.1.4.1.1.6.": (".1.0.8802.1.1.2.1.4.1.1.7.", 3),
}
"""Subtype column -> the id's column, and the subtype of a MAC (IEEE 802.1AB clause 12)."""
_PHYSICAL = ".1.3.6.1.2.1.2.2.1.6."
_PRINTABLE = re.compile(r'STRING: "((?:\\.|[^"\\]){6})"\n?')
_BY_ADDRESS = ".1.0.8802.1.1.2.1.4.2.1."
_OCTETS = re.compile(r"Hex-STRING: ((?:[0-9A-Fa-f]{2}[ \n]+)+)")


def is_walk(text: str) -> bool:
    """Whether a text is a numeric walk as net-snmp prints it."""
    return _ROW.match(text.lstrip()) is not None


def scrubbed_walk(text: str, scrub: Text) -> str:
    """The walk without identifying values."""
    rows = [row for row in _rows(text) if _kept(row)]
    macs = set(_mac_columns(rows))
    return "".join(_row(row, scrub, macs) for row in rows)


def _mac_columns(rows: Iterable[str]) -> Iterator[str]:
    """The OIDs of ids that are MACs by the subtype beside them: all six octets of one may happen to be printable."""
    for row in rows:
        oid, _, value = row.partition(" = ")
        for subtype, (column, kind) in _SUBTYPES.items():
            if oid.startswith(subtype) and value.strip().endswith(f"INTEGER: {kind}"):
                yield column + oid.removeprefix(subtype)


def _rows(text: str) -> list[str]:
    """Rows with their continuation lines."""
    rows: list[str] = []
    for line in text.splitlines(keepends=True):
        if _ROW.match(line) or not rows:
            rows.append(line)
        else:
            rows[-1] += line
    return rows


def _kept(row: str) -> bool:
    found = _ROW.match(row)
    oid = f".1{found.group(1)}." if found else ""
    return oid.startswith(_KEPT) and not (oid.startswith(_BY_ADDRESS) and _MANAGED.match(row) is None)


def _row(row: str, scrub: Text, macs: Collection[str]) -> str:
    row = _MANAGED.sub(lambda found: f"{found.group(1)}.{scrub.address(found.group(2))} = ", row)
    oid, equals, value = row.partition(" = ")
    if oid in macs or oid.startswith(_PHYSICAL):
        value = _PRINTABLE.sub(lambda found: f"Hex-STRING: {_unquoted(found.group(1)).hex(' ')} \n", value)
    if value.startswith("Hex-STRING:"):
        return f"{oid}{equals}{_OCTETS.sub(lambda found: _octets(found.group(1), scrub), value)}"
    return f"{oid}{equals}{scrub(value)}"


def _unquoted(text: str) -> bytes:
    return re.sub(r"\\(.)", r"\1", text).encode("latin-1", "replace")


def _octets(digits: str, scrub: Text) -> str:
    """Hex octets: a MAC, an address after the octet of its family, a text, or something that identifies no device or
    person."""
    octets = bytes.fromhex(digits)
    if len(octets) == 6:
        octets = bytes.fromhex(scrub.mac(octets.hex()))
    elif len(octets) == 5 and octets[0] == 1:
        address = scrub.address(".".join(map(str, octets[1:])))
        octets = octets[:1] + bytes(map(int, address.split(".")))
    elif len(octets) > 6:
        octets = scrub(octets.decode("latin-1")).encode("latin-1")
    return f"Hex-STRING: {octets.hex(' ').upper()} \n"


# ----------------------------------------------------------------------------------------------------------------------
# The plan of a scrubbed capture: the same cables between the same pseudonyms.


Numbered = dict[str, str]
"""Pseudonyms of words that occur only in the plan: racks, pods, labels."""


def _numbered(word: str, all_of_them: Iterable[str], keyed: Keyed) -> Numbered:
    ordered = sorted(set(all_of_them) - {""}, key=lambda text: keyed.number(word, text))
    return {text: f"{word}-{number:03}" for number, text in enumerate(ordered, 1)} | {"": ""}


def scrubbed_plan(plan: Plan, scrub: Text, keyed: Keyed) -> Plan:
    """The plan with all names, addresses, places and labels replaced. Port names stay."""
    its_racks = [*(one.rack for one in plan.devices.values()), *(one.rack for one in plan.panels.values())]
    racks = _numbered("rack", its_racks, keyed)
    panels = _numbered("panel", panels_of(plan), keyed)
    trunks = _numbered("trunk", (spot(port).trunk for cable in plan.cables for port in cable.via), keyed)

    def passed(port: Port) -> Port:
        place = spot(port)
        return Port(panels[port.device], f"{trunks[place.trunk]}:{place.number}" if place.trunk else scrub(port.name))

    pods = _numbered("pod", (device.pod for device in plan.devices.values()), keyed)
    labels = _numbered("label", (cable.label for cable in plan.cables), keyed)
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
        panels={panels[name]: Panel(racks[one.rack], one.unit) for name, one in plan.panels.items()},
        rails={index: _rail(rail, scrub) for index, rail in plan.rails.items()},
    )


def _device(device: Device, scrub: Text, racks: Numbered, pods: Numbered) -> Device:
    return replace(
        device,
        name=scrub.names.name(device.name),
        address=scrub(device.address),
        aliases=tuple(map(scrub, device.aliases)),
        chassis_ids=tuple(map(scrub, device.chassis_ids)),
        serials=(),
        rack=racks[device.rack],
        pod=pods[device.pod],
    )


def _cable(cable: Cable, scrub: Text, labels: Numbered, panels: Numbered) -> Cable:
    a, b = (Port(panels[end.device], end.name) if end.device in panels else _port(end, scrub) for end in cable[:2])
    return cable._replace(a=a, b=b, label=labels[cable.label], line=0)


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


# ----------------------------------------------------------------------------------------------------------------------
# A whole round: read once to collect the names in it, then written with pseudonyms.

_RECORDED = ".snmprec"
_WAY_IN = re.compile(r"(\b(?:user|tried key|jump host) |(?<!\w)~?/|\w@|\bSHA256:)[^\s,;)]+")


def scrub_round(
    source: Path, out: Path, plan: Plan | None, devices: Mapping[str, Role | None], *, key: bytes | None = None
) -> Plan | None:
    """Writes the round in folder `source` to the new folder `out`, and gives the plan that goes with it.

    `devices` are those of the inventory, with their roles. Files that answer no collector's question are left out:
    their content is unknown. The key is random for each call and not stored, unless `key` is given. Raises OSError, and
    `ScrubError` before anything is written.
    """
    keyed = Keyed(key or secrets.token_bytes(32))
    planned = {**devices, **({name: device.role for name, device in plan.devices.items()} if plan else {})}
    folders = sorted(found for found in source.iterdir() if found.is_dir())
    heard = [*_heard(source, plan), *(folder.name for folder in folders)]
    text = Text(keyed, Names(keyed, planned, heard))
    questions = questions_of()
    for folder in folders:
        place = out / text.names.name(folder.name)
        place.mkdir(parents=True)
        for file in sorted(found for found in folder.iterdir() if found.is_file()):
            known = file.name == UNANSWERED or questions.claims(file.name)
            if known and not file.name.endswith(_RECORDED):
                content = file.read_bytes()
                made = _errors(content) if file.name == UNANSWERED else content
                (place / text(file.name)).write_bytes(_scrubbed(made, text))
    if (source / INVENTORY).is_file():
        names = sorted(load_inventory((source / INVENTORY).read_bytes()))
        (out / INVENTORY).write_bytes(dump_inventory(text.names.name(name) for name in names))
    return scrubbed_plan(plan, text, keyed) if plan else None


def _heard(source: Path, plan: Plan | None) -> Iterator[str]:
    """The names that devices give each other: systems, and chassis that are called by a serial."""
    try:
        seen = read_capture(source, devices=plan.devices if plan else None)
    except CaptureError:
        return
    for row in seen.snapshot().table(Neighbor).rows:
        if row.system_name:
            yield _called(row.system_name)
        if row.chassis_id and row.chassis_id_type != "guid" and canonical_mac(row.chassis_id) is None:
            yield row.chassis_id


def _called(name: str) -> str:
    """The name of a device as others have it: `leaf-1` of the InfiniBand switch `MF0;leaf-1:MQM9700/U1`."""
    *whole, last = spellings(name)
    return last.partition("/")[0] if whole else last


def _errors(content: bytes) -> bytes:
    """Errors without login details: users, files, fingerprints of host keys."""
    reported = load_unanswered(content)
    reported.device = _WAY_IN.sub(r"\1...", reported.device)
    reported.commands = {command: _WAY_IN.sub(r"\1...", why) for command, why in reported.commands.items()}
    return reported.dump()


def _scrubbed(content: bytes, text: Text) -> bytes:
    """Bytes in, bytes out: bytes that are not UTF-8 stay unchanged."""
    said = content.decode("utf-8", "surrogateescape")
    made = scrubbed_walk(said, text) if is_walk(said) else text(said)
    return made.encode("utf-8", "surrogateescape")
