"""Text about the members of link aggregations: summaries with flags in brackets, and tables of LACP states.

Sources: sonic-utilities `scripts/teamshow` and its tests; recorded answers in ntc-templates (arista_eos, huawei_vrp,
hp_comware) and genieparser (nxos, iosxr); Arista's, Aruba's, H3C's and Dell's command references. The states are the
octet of IEEE 802.1AX, Actor_State, of which each system prints letters or digits of its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from truerail.model import LagMember
from truerail.model.names import canonical_mac

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
_XR_LAG = re.compile(r"(Bundle-(?:Ether|POS)) ?(\d+)")
_XR_ROW = re.compile(
    r"(\S+)\s+(?:\d+s|\d+ms|-)\s+([ascdAFDE-]{8})\s+0x[0-9a-f]{4},0x([0-9a-f]{4})\s+0x[0-9a-f]{4}\s+"
    r"0x[0-9a-f]{4},([0-9a-f-]{17})",
    re.IGNORECASE,
)
_XR_BUNDLE_ROW = re.compile(
    r"(\S+)\s+Local\s+(Active|Standby|Configured|Negotiating|Bfd Running)\s+0x.*", re.IGNORECASE
)
_XR_STATE = {"A": 1, "F": 2, "a": 4, "s": 8, "c": 16, "d": 32, "D": 64, "E": 128}
_CX_ROW = re.compile(
    r"(\d[\d/:]*?)\s*(lag\d+)(?:\(mc\))?(?:\s+(\d+)\s+\d+(?:\s+\d+)?\s+([APSLFINOCDXE]{3,8})\s+(\S+)\s.*)?"
)
_CX_STATE = {"A": 1, "S": 2, "F": 4, "N": 8, "C": 16, "D": 32, "E": 64, "X": 128}
_VRP_LAG = re.compile(r"(Eth-Trunk\d+)'s state information is:")
_VRP_LOCAL = re.compile(
    r"(\S+?)(?:\([hr]{1,2}\))?\s+(Selected|Unselect(?:ed)?|Indep|Unknown)\s+\S+\s+\d+\s+\d+\s+\d+\s+([01]{8})\b.*",
    re.IGNORECASE,
)
"""CloudEngine marks the end with the higher priority and the reference port: `100GE1/0/2(hr)`."""
_VRP_PARTNER = re.compile(
    r"(\S+)\s+\d+\s+([0-9a-f]{4}(?:-[0-9a-f]{4}){2})\s+\d+\s+(\d+)\s+\d+\s+([01]{8})", re.IGNORECASE
)
_VRP_STATIC = re.compile(r"(\S+\d)\s+(?:Up|Down|Offline)\s+\d+", re.IGNORECASE)
_H3C_LAG = re.compile(r"Aggregat(?:ion|e) Interface: (\S+)")
_H3C_LOCAL = re.compile(r"(\S+?)(?:\([A-Z]\))?\s+([SUI])\s+\d+(?:\s+\d+){1,2}(?:\s+\{([A-H]*)\})?")
_H3C_REMOTE = re.compile(
    r"(\S+?)(?:\([A-Z]\))?\s+(\d+)\s+(\d+)\s+\d+\s+0x[0-9a-f]+ *, *([0-9a-f]{4}(?:-[0-9a-f]{4}){2})\s+\{([A-H]*)\}",
    re.IGNORECASE,
)
_H3C_TABLES = re.compile(r"Aggregation Interface: |Port +Status +(?:Priority|Port)\b")
"""Newer releases call the interface "Aggregate" in the tables of `verbose` too."""
_H3C_PORT = re.compile(r"([A-Za-z][\w-]*\d[\d/:.]*):")
_H3C_STATE = dict(zip("ABCDEFGH", (1, 2, 4, 8, 16, 32, 64, 128), strict=True))
_DELL_LAG = re.compile(r"Port-channel (\d+) admin \w+, oper \w+, mode lacp", re.IGNORECASE)
_DELL_PARTNER = re.compile(r"Partner System ID: Priority \d+, +Address ([0-9a-f:.]+)", re.IGNORECASE)
_DELL_PORT = re.compile(r"Port (\S.*?) is \w+, LACP is ", re.IGNORECASE)
_DELL_STATE = re.compile(r"(?:(Actor|Partner)\s+)?(Admin|Oper): State ([A-P]{8})\b", re.IGNORECASE)
_DELL_BITS = dict(zip("ACEGIKMO", (1, 2, 4, 8, 16, 32, 64, 128), strict=True))
_NONE = "00:00:00:00:00:00"


def members(text: Sequence[str]) -> list[LagMember] | None:
    """The members that stripped lines of text name; None if the answer has none of these forms."""
    for is_form, read in _FORMS:
        if any(is_form.search(line) for line in text):
            return list(read(text))
    return None


def _mac(text: str) -> str | None:
    found = canonical_mac(text)
    return None if found == _NONE else found


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
            partner = _mac(system)
            yield LagMember(
                port,
                lag,
                partner,
                int(number) if partner else None,
                partner_state=_octet(state.replace("s-", ""), _EOS_STATE) if partner else None,
                selected=status.lower() == "bundled",
            )


def _xr(text: Sequence[str]) -> list[LagMember]:
    lag, local, members = None, False, list[LagMember]()
    for line in text:
        if named := _XR_LAG.fullmatch(line):
            lag, local = named[1] + named[2], False
        elif line in ("Local", "Foreign", "Peer"):
            local = line == "Local"
        elif found := _XR_BUNDLE_ROW.fullmatch(line):
            members.append(LagMember(found[1], lag, selected=found[2].lower() == "active"))
        elif local and (found := _XR_ROW.fullmatch(line)):
            state, partner = _octet(found[2], _XR_STATE), _mac(found[4])
            if found[1] != "Partner":
                members.append(LagMember(found[1], lag, actor_state=state))
                continue
            number = int(found[3], 16) if partner else None
            members[-1:] = [
                one._replace(partner_system=partner, partner_port=number, partner_state=state) for one in members[-1:]
            ]
    return members


def _cx(text: Sequence[str]) -> Iterator[LagMember]:
    """The actor's table, then the partner's; a port without link has neither ids nor a state."""
    found: dict[str, LagMember] = {}
    partner = False
    for line in text:
        partner = partner or line.startswith("Partner details")
        row = _CX_ROW.fullmatch(line) or _CX_ROW.fullmatch(line + " ") or _CX_ROW.match(line)
        if row is None:
            continue
        port, lag, number, state, system = row.groups()
        member = found.setdefault(port, LagMember(port, lag))
        if state and not partner:
            found[port] = member._replace(actor_state=_octet(state, _CX_STATE))
        elif state and (mac := _mac(system)):
            octet = _octet(state, _CX_STATE)
            found[port] = member._replace(partner_system=mac, partner_port=int(number), partner_state=octet)
    yield from found.values()


def _vrp_octet(digits: str) -> int:
    """VRP prints LACP_Activity first, Expired last."""
    return int(digits[::-1], 2)


def _vrp(text: Sequence[str]) -> Iterator[LagMember]:
    lag, found = None, dict[str, LagMember]()
    for line in text:
        if named := _VRP_LAG.match(line):
            lag = named[1]
        elif row := _VRP_LOCAL.fullmatch(line):
            used = row[2].lower() == "selected"
            found[row[1]] = LagMember(row[1], lag, actor_state=_vrp_octet(row[3]), selected=used)
        elif (row := _VRP_PARTNER.fullmatch(line)) and row[1] in found and (mac := _mac(row[2])):
            state = _vrp_octet(row[4])
            found[row[1]] = found[row[1]]._replace(partner_system=mac, partner_port=int(row[3]), partner_state=state)
        elif row := _VRP_STATIC.fullmatch(line):
            found[row[1]] = LagMember(row[1], lag)
    yield from found.values()


def _h3c(text: Sequence[str]) -> Iterator[LagMember]:
    """`display link-aggregation verbose`: two tables for each lag. The partner's port is `Partner` or `Index`."""
    lag, found, second = None, dict[str, LagMember](), False
    for line in text:
        if named := _H3C_LAG.match(line):
            lag = named[1]
        elif line.startswith("Actor "):
            second = line.split()[1:3] == ["Priority", "Index"]
        elif row := _H3C_REMOTE.fullmatch(line):
            mac = _mac(row[4])
            if row[1] in found and mac:
                number, octet = int(row[3] if second else row[2]), _octet(row[5], _H3C_STATE)
                found[row[1]] = found[row[1]]._replace(partner_system=mac, partner_port=number, partner_state=octet)
        elif row := _H3C_LOCAL.fullmatch(line):
            state = None if row[3] is None else _octet(row[3], _H3C_STATE)
            found[row[1]] = LagMember(row[1], lag, actor_state=state, selected=row[2] == "S")
    yield from found.values()


def _h3c_ports(text: Sequence[str]) -> Iterator[LagMember]:
    """`display link-aggregation member-port`: a paragraph for each port."""
    member, remote = None, False
    for line in [*text, "end0:"]:
        key, _, value = (part.strip() for part in line.partition(":"))
        if _H3C_PORT.fullmatch(line):
            if member and member.lag:
                yield member
            member, remote = LagMember(key), False
        elif member and _H3C_LAG.match(line):
            member = member._replace(lag=value)
        elif line in ("Local:", "Remote:"):
            remote = line == "Remote:"
        elif member and key == "Flag":
            state = _octet(value, _H3C_STATE)
            member = member._replace(partner_state=state) if remote else member._replace(actor_state=state)
        elif member and remote and key == "System ID":
            member = member._replace(partner_system=_mac(value.rpartition(",")[2].strip()))
        elif member and remote and key == "Port Number" and value.isdigit() and member.partner_system:
            member = member._replace(partner_port=int(value))


def _dell(text: Sequence[str]) -> Iterator[LagMember]:
    lag, partner, member, side = None, None, None, ""
    for line in [*text, "Port end is x, LACP is "]:
        if named := _DELL_LAG.match(line):
            lag, partner = f"port-channel{named[1]}", None
        elif found := _DELL_PARTNER.match(line):
            partner = _mac(found[1])
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


_FORMS = (
    (_VRP_LAG, _vrp),
    (_H3C_TABLES, _h3c),
    (re.compile(r"Aggregate Interface: "), _h3c_ports),
    (re.compile(r"Actor details of all interfaces"), _cx),
    (_EOS_LAG, _eos),
    (re.compile(rf"^{_XR_LAG.pattern}$"), _xr),
    (_DELL_LAG, _dell),
    (_SUMMARY, _summary),
)
"""What only one form has, and its reader."""
