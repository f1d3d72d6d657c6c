"""Text about the members of link aggregations: summaries with flags in brackets, and tables of LACP states.

Sources: sonic-utilities `scripts/teamshow` and its tests; recorded answers in ntc-templates (arista_eos) and in
genieparser (nxos); Arista's and Dell's command references. The states are the octet of IEEE 802.1AX, Actor_State, of
which each system prints letters of its own.
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
    (_EOS_LAG, _eos),
    (_DELL_LAG, _dell),
    (_SUMMARY, _summary),
)
"""What only one form has, and its reader."""
