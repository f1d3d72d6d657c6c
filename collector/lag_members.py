"""The members of link aggregations, and what the LACP partner of each says of itself (IEEE 802.1AX).

Question: which system, and which of its ports, is behind this member, and does the member carry traffic?
Needs: a read-only login; on Linux nothing.

| system | answers |
|---|---|
| Linux bonding, Cumulus Linux | `/proc/net/bonding/*` |
| SONiC | `teamdctl PORTCHANNEL state`; `show interfaces portchannel`: members alone |
| Arista EOS | `show lacp neighbor`, `show port-channel [summary]`, also `\\| json` |
| Cisco NX-OS | `show lacp neighbor`; `show port-channel summary`, also `\\| json` |
| Junos | `show lacp interfaces`, JSON, XML and text: states alone; `extensive` as text: partners too |
| Dell OS10 | `show lacp port-channel`, `show port-channel summary` |

Sources: Linux `drivers/net/bonding/bond_procfs.c`, libteam `teamdctl` and its runner_lacp, Arista's EOS command API
(`partnerPortState`, `actorPortStatus`), recorded answers in genieparser and ntc-templates. The states are the octets of
IEEE 802.1AX, of which systems print the number, the names of its bits, or one column for each.

Traps:

- A partner of all zeros is no partner: no LACP frame was received.
- The partner's port number is its own: NX-OS prints it in hexadecimal, others in decimal.
- Both switches of an MLAG pair send one system MAC: the device is one of the two.
- NX-OS prints octets without leading zeros, with hyphens: `5e-2-0-1-0-7`.
- NX-OS prints the partner's state only, in a table of its own below the port. The partner collects and distributes only
  while the port itself is in sync, so this shows both.
- Linux has one active aggregator for each bond: a member of another one is up and carries nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.formats.counts import count
from collector.formats.documents import data_of, document, listed, rows_of
from collector.formats.text import lines
from truerail.errors import UnreadableError
from truerail.model import EVERYWHERE, Command, Device, LagMember, collector, minutes, saved_as
from truerail.model.names import canonical_mac

_NO_LAGS = "Number of channels in use: 0"
"""What EOS prints above an empty table."""
_BONDING = "Ethernet Channel Bonding Driver: "
_FILE = re.compile(r"(?:==> |# cat )?(?:/proc/net/bonding/)(\S+)(?: <==)?")
_NXOS_LAG = re.compile(r"(\S*\d) neighbors")
_NXOS_ROW = re.compile(r"(\S+)[ \t]+\d+,[ \t]*([0-9a-fA-F]{1,2}(?:-[0-9a-fA-F]{1,2}){5})[ \t]+0x([0-9a-fA-F]+)\b.*")
_JUNOS_LAG = re.compile(r"Aggregated interface: (\S+)")
_NXOS_STATE = re.compile(r"\d+[ \t]+0x[0-9a-fA-F]+[ \t]+0x([0-9a-fA-F]{1,2})")
_JUNOS_ROW = re.compile(r"(\S+)[ \t]+(Actor|Partner)[ \t]+" + r"(Yes|No)[ \t]+" * 6 + r"(\S+)[ \t]+(\S+)")
_JUNOS_PARTNER = re.compile(r"(\S+)[ \t]+Partner[ \t]+\d+[ \t]+([0-9a-f:]{11,17})[ \t]+\d+[ \t]+(\d+)[ \t]+\d+")
"""What `extensive` prints of each partner below all states."""
_JUNOS_LIST = "lacp-interface-information-list"
_JUNOS_BITS = (128, 64, 32, 16, 8, 4)
"""The bits of Junos' columns: Exp, Def, Dist, Col, Syn, Aggr."""
_JUNOS_SET = ("Yes", "Fast", "Active")
_BITS = {
    name: 1 << bit
    for bit, name in enumerate(
        ("activity", "timeout", "aggregation", "synchronization", "collecting", "distributing", "defaulted", "expired")
    )
}
_NONE = "00:00:00:00:00:00"


ASK = (
    Command('for b in /proc/net/bonding/*; do echo "==> $b <=="; cat $b; done', ("linux", "cumulus")),
    Command("show lacp neighbor | json", ("eos",)),
    Command("show lacp neighbor", ("nxos",)),
    Command("show lacp interfaces", ("junos",)),
    Command("show lacp port-channel", ("os10",)),
    *saved_as("cat /proc/net/bonding", "teamdctl state dump", "show interfaces portchannel"),
    *saved_as("show port-channel summary", "show port-channel summary | json", "show port-channel"),
    *saved_as("show port-channel | json", "show lacp interfaces | display json"),
    *saved_as("show lacp interfaces | display xml"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(5), yields=[LagMember], optional=True)
def lag_members(answer: str, device: Device) -> list[LagMember]:
    """One `LagMember` for each member, in the answer's order. Raises `UnreadableError`."""
    if (found := document(answer)) is not None:
        return list(_from_json(found))
    text = [line.strip() for line in lines(answer)[:-1]]
    if any(line.startswith(_BONDING) for line in text):
        return list(_bonding(text))
    if any(_JUNOS_LAG.match(line) for line in text):
        return _junos(text)
    if any(_NXOS_LAG.fullmatch(line) for line in text):
        return list(_nxos(text))
    read = next((read for is_form, read in _FORMS if any(map(is_form.search, text))), None)
    members = list(read(text)) if read else []
    if members or _NO_LAGS in text:
        return members
    raise UnreadableError("not an answer about members of link aggregations", line=1, text=answer.strip()[:80])


def _partner(text: Any) -> str | None:
    found = canonical_mac(str(text).rpartition(",")[2].strip().replace("-", ":"))
    return None if found == _NONE else found


def _bonding(text: list[str]) -> Iterator[LagMember]:
    """The kernel's file of each bond. Below `details partner`, keys mean the partner; the members stand last."""
    lag, member, partner, active = None, None, None, None
    for line in [*text, _BONDING]:
        key, _, value = (part.strip() for part in line.partition(":"))
        ends = key == "Slave Interface" or line.startswith(_BONDING)
        if ends and member:
            yield member
        if named := _FILE.fullmatch(line):
            lag = named[1]
        elif ends:
            member, active = (LagMember(value, lag), active) if key == "Slave Interface" else (None, None)
            partner = None
        elif key.startswith("details "):
            partner = "partner" in key
        elif key == "Aggregator ID" and value.isdigit():
            number = int(value)
            if member:
                member = member._replace(aggregator=number, selected=None if active is None else number == active)
            else:
                active = number
        elif member and partner is not None and key == "port state" and value.isdigit():
            state = int(value)
            member = member._replace(partner_state=state) if partner else member._replace(actor_state=state)
        elif member and partner and key == "system mac address":
            member = member._replace(partner_system=_partner(value))
        elif member and partner and key == "port number" and value.isdigit() and member.partner_system:
            member = member._replace(partner_port=int(value))


def _nxos(text: list[str]) -> Iterator[LagMember]:
    lag, members = None, list[LagMember]()
    for line in text:
        if named := _NXOS_LAG.fullmatch(line):
            lag = named[1]
        elif found := _NXOS_ROW.fullmatch(line):
            members.append(LagMember(found[1], lag, _partner(found[2]), int(found[3], 16)))
        elif members and (state := _NXOS_STATE.fullmatch(line)):
            members[-1] = members[-1]._replace(partner_state=int(state[1], 16))
    return iter(members)


def _nxos_channels(found: dict[str, Any]) -> Iterator[LagMember]:
    """Members with a flag each, of which P is the one that the lag uses."""
    for channel in rows_of(found, "channel"):
        for row in rows_of(channel, "member"):
            yield LagMember(row["port"], channel.get("port-channel"), selected=row.get("port-status") == "P")


def _junos_state(row: re.Match[str]) -> int:
    yes = sum(bit for bit, word in zip(_JUNOS_BITS, row.groups()[2:8], strict=True) if word == "Yes")
    return yes + 2 * (row[9] == "Fast") + (row[10] == "Active")


def _junos(text: list[str]) -> list[LagMember]:
    lag, members = None, dict[str, LagMember]()
    for number, line in enumerate([*text, ""], 1):
        last = next(reversed(members.values()), None)
        found = _JUNOS_ROW.fullmatch(line)
        if last and last.partner_state is None and not (found and found[1] == last.port):
            raise UnreadableError("a member without its partner's row: cut short", line=number, text=line)
        if named := _JUNOS_LAG.match(line):
            lag = named[1]
        elif found and found[2] == "Actor":
            members[found[1]] = LagMember(found[1], lag, actor_state=_junos_state(found))
        elif found and found[1] in members:
            members[found[1]] = members[found[1]]._replace(partner_state=_junos_state(found))
        elif (sent := _JUNOS_PARTNER.fullmatch(line)) and sent[1] in members and (system := _partner(sent[2])):
            members[sent[1]] = members[sent[1]]._replace(partner_system=system, partner_port=int(sent[3]))
    if not members and not any(line.startswith("LACP state:") for line in text):
        raise UnreadableError("not the states of link aggregations", line=1, text=text[0])
    return list(members.values())


def _junos_tree(found: Any) -> Iterator[LagMember]:
    """Each member has a row of its own state and one of its partner's."""
    for lag in (lag for part in listed(found) for lag in listed(part.get("lacp-interface-information"))):
        name = data_of(listed(lag["lag-lacp-header"])[0]["aggregate-name"])
        states: dict[str, dict[str, int]] = {}
        for row in listed(lag.get("lag-lacp-state")):
            state = sum(bit for key, bit in _BITS.items() if data_of(row.get(f"lacp-{key}")) in _JUNOS_SET)
            states.setdefault(str(data_of(row["name"])), {})[str(data_of(row["lacp-role"]))] = state
        for port, of in states.items():
            yield LagMember(port, name, actor_state=of.get("Actor"), partner_state=of.get("Partner"))


def _eos_state(bits: dict[str, bool] | None) -> int | None:
    return None if bits is None else sum(bit for name, bit in _BITS.items() if bits[name])


def _eos_lacp(lag: str, rows: dict[str, Any]) -> Iterator[LagMember]:
    for port, row in rows.items():
        system = _partner(row.get("partnerSystemId"))
        yield LagMember(
            port,
            lag,
            system,
            count(row.get("partnerPortId")) if system else None,
            actor_state=_eos_state(row.get("actorPortState")),
            partner_state=_eos_state(row.get("partnerPortState")),
            selected=row["actorPortStatus"] == "bundled" if "actorPortStatus" in row else None,
        )


def _eos_active(lag: str, channel: dict[str, Any]) -> Iterator[LagMember]:
    """Members without the words of LACP. The other switch's of an MLAG pair are left out."""
    for ports, selected in ((channel["activePorts"], True), (channel.get("inactivePorts", {}), False)):
        yield from (LagMember(port, lag, selected=selected) for port in ports if not EOS_PEER.match(port))


def _from_json(found: Any) -> Iterator[LagMember]:
    if isinstance(found, dict) and "portChannels" in found:
        for lag, channel in found["portChannels"].items():
            yield from _eos_active(lag, channel) if "activePorts" in channel else _eos_lacp(lag, channel["interfaces"])
    elif isinstance(found, dict) and "TABLE_channel" in found:
        yield from _nxos_channels(found)
    elif isinstance(found, dict) and _JUNOS_LIST in found:
        yield from _junos_tree(found[_JUNOS_LIST])
    elif isinstance(found, dict) and "ports" in found and "setup" in found:
        lag = found.get("team_device", {}).get("ifinfo", {}).get("ifname")
        for port, row in found["ports"].items():
            runner = row.get("runner", {})
            said = runner.get("partner_lacpdu_info", {})
            system = _partner(said.get("system"))
            aggregator = runner.get("aggregator", {})
            yield LagMember(
                port,
                lag,
                system,
                count(said.get("port")) if system else None,
                count(aggregator.get("id")),
                count(runner.get("actor_lacpdu_info", {}).get("state")),
                count(said.get("state")),
                aggregator.get("selected"),
            )
    else:
        raise UnreadableError("not an answer about members of link aggregations")


# ----------------------------------------------------------------------------------------------------------------------
# Text about the members of link aggregations: summaries with flags in brackets, and tables of LACP states.
#
# Sources: sonic-utilities `scripts/teamshow` and its tests; recorded answers in ntc-templates (arista_eos) and in
# genieparser (nxos); Arista's and Dell's command references. The states are the octet of IEEE 802.1AX, Actor_State, of
# which each system prints letters of its own.

_SUMMARY = re.compile(r"\bMember Ports\b|\bTeam Dev\b|^\s*Port-Channel +Protocol +Ports\b|^Group +Port-[Cc]hannel\b")
_SUMMARY_LAG = re.compile(r"(?:\d+ +)?((?:Po|port-channel|PortChannel)\d+)(?: *\([^)\s]*\))?(?=\s|$)")
_FLAGGED = re.compile(r"([A-Za-z]*\d[\w/.:-]*)\(([^()\s]*)\)(?!\()")
_CARRIES = frozenset("P")
_CARRIES_SONIC = frozenset("PS")
_CARRIES_SONIC_CLI = frozenset("PU")
"""Flags of a member that its lag uses. SONiC's S is EOS' mark of a short timeout; other systems print U behind lags."""
_SONIC_TITLE = "Team Dev"
_UNSURE = "*"
"""SONiC's mark of a member whose state in hardware is another one than in teamd."""
_EOS_LAG = re.compile(r"Port Channel (Port-Channel\d+)\*?(?: \(.*\))?:")
EOS_PEER = re.compile(r"(?:PEt|Peer)")
"""What begins the ports of the other switch of an MLAG pair."""
_EOS_PORT = re.compile(r"((?:Et|Ethernet)\d[\d/]*)\b.*")
_EOS_ROW = re.compile(r"(\S+)\s+(\S[^|]*?)\s*\|\s*[0-9A-Fa-f]{4},([0-9A-Fa-f-]{17})\s+(\d+)\s+([APSLGIsCXDd+-]+)\s.*")
_EOS_STATE = {"A": 1, "S": 2, "G": 4, "s+": 8, "C": 16, "D": 32, "d": 64, "X": 128}
_DELL_LAG = re.compile(r"Port-channel (\d+) admin \w+, oper \w+, mode lacp", re.IGNORECASE)
_DELL_PARTNER = re.compile(r"Partner System ID: Priority \d+, +Address ([0-9a-f:.]+)", re.IGNORECASE)
_DELL_PORT = re.compile(r"Port (\S.*?) is \w+, LACP is ", re.IGNORECASE)
_DELL_STATE = re.compile(r"(?:(Actor|Partner)\s+)?(Admin|Oper): State ([A-P]{8})\b", re.IGNORECASE)
_DELL_BITS = dict(zip("ACEGIKMO", (1, 2, 4, 8, 16, 32, 64, 128), strict=True))


def _octet(letters: str, bits: Mapping[str, int]) -> int:
    return sum(bit for letter, bit in bits.items() if letter in letters)


def _summary(text: Sequence[str]) -> Iterator[LagMember]:
    """A row for each lag with flags in brackets; a row of members alone continues the one above."""
    lag, below = None, False
    sonic = any(_SONIC_TITLE in line for line in text)
    for line in text:
        below = below or bool(_SUMMARY.search(line))
        named = _SUMMARY_LAG.match(line)
        rest = line[named.end() :] if named else line
        words = [word.rstrip(",") for word in rest.split()]
        cells = [word for word in words if _FLAGGED.fullmatch(word)]
        if named:
            lag = named[1]
        elif not below or len(cells) != len(words):
            lag = None
        of_cli = _CARRIES_SONIC_CLI if lag and lag.startswith("PortChannel") else _CARRIES
        carries = _CARRIES_SONIC if sonic else of_cli
        for port, flags in _FLAGGED.findall(" ".join(cells)) if lag else ():
            if not EOS_PEER.match(port):
                yield LagMember(port, lag, selected=None if _UNSURE in flags else not carries.isdisjoint(flags))


def _eos(text: Sequence[str]) -> Iterator[LagMember]:
    """`show lacp neighbor` with the partner's state, and `show port-channel` with its active and inactive ports."""
    lag, active = None, None
    for line in text:
        if named := _EOS_LAG.match(line):
            lag, active = named[1], None
        elif line.startswith("Active Ports:"):
            active = True
            for port in line.split()[2:]:
                if not EOS_PEER.match(port):
                    yield LagMember(port, lag, selected=True)
        elif line.startswith("Configured, but inactive ports"):
            active = False
        elif active is not None and (port_row := _EOS_PORT.fullmatch(line)):
            yield LagMember(port_row[1], lag, selected=active)
        elif found := _EOS_ROW.fullmatch(line + " "):
            port, status, system, number, state = found.groups()
            partner = _partner(system)
            yield LagMember(
                port,
                lag,
                partner,
                int(number) if partner else None,
                partner_state=_octet(state.replace("s-", ""), _EOS_STATE) if partner else None,
                selected=status.lower() == "bundled",
            )


def _dell(text: Sequence[str]) -> Iterator[LagMember]:
    lag, partner, member, side = None, None, None, ""
    for line in [*text, "Port end is x, LACP is "]:
        if named := _DELL_LAG.match(line):
            lag, partner = f"port-channel{named[1]}", None
        elif found := _DELL_PARTNER.match(line):
            partner = _partner(found[1])
        elif found := _DELL_PORT.match(line):
            if member:
                yield member if member.partner_state is None else member._replace(partner_system=partner)
            member, side = LagMember(found[1].replace(" ", ""), lag), ""
        for who, kind, letters in _DELL_STATE.findall(line) if member else ():
            side = (who or side).lower()
            if kind.lower() == "oper" and member:
                octet = _octet(letters, _DELL_BITS)
                actor = side == "actor"
                member = member._replace(actor_state=octet) if actor else member._replace(partner_state=octet)


_FORMS = ((_EOS_LAG, _eos), (_DELL_LAG, _dell), (_SUMMARY, _summary))
"""What only one form has, and its reader."""
