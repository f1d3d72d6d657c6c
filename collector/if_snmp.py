"""A switch's interfaces as its SNMP agent reports them: IF-MIB (RFC 2863), ifTable and ifXTable.

Read from numeric walk text (`snmpbulkwalk -On`) and from snmpsim recordings (`.snmprec`). A walk of ifXTable alone
gives names, speeds and aliases, one of ifTable alone descriptions, MTU, MAC and states: the rest stays unknown.

Traps:

- ifHighSpeed counts Mb/s and is 0 where the agent does not know; ifSpeed counts b/s in 32 bits and is 4294967295 for
  anything faster.
- ifName is the port's name; so is ifDescr on some systems, on others it is prose (`Cambium 10/100 Ethernet`). It is an
  alias here, like ifAlias, which is free text and may be planned rather than actual.
- ifAdminStatus 2 is a port that is administratively down: its flags lack `UP`. ifOperStatus 6 is a port without module
  (few agents send it).
- net-snmp with MIBs loaded prints a MAC without leading zeros, `2:0:0:0:0:3`.
"""

from collections.abc import Iterator

from collector.formats.lldp_words import mac_of
from collector.formats.mib import IF, IF_X, NO_MIB, Value, number_of, octets_of, tables, text_of, walks
from collector.formats.port_words import of_snmp
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Device, NetLink, collector, minutes

_DESCRIPTION, _MTU, _SPEED, _MAC, _ADMIN, _OPER = 2, 4, 5, 6, 7, 8
_NAME, _HIGH_SPEED, _ALIAS = 1, 15, 18
_OPERSTATES = {1: "UP", 2: "DOWN", 3: "TESTING", 4: "UNKNOWN", 5: "DORMANT", 6: "NOTPRESENT", 7: "LOWERLAYERDOWN"}
_FULL = 4294967295  # ifSpeed of anything too fast for 32 bits, RFC 2863 section 3.1.7

_OIDS = ("1", ".1", *(f"1.3.6.1.2.1{table}" for table in ("", ".31", ".31.1.1", ".31.1.1.1", ".2", ".2.2", ".2.2.1")))


@collector(on=SWITCHES, ask=walks("if", *_OIDS), every=minutes(1), yields=[NetLink], long_lines=True)
def if_snmp(answer: str, device: Device) -> Iterator[NetLink]:
    """The interfaces in a walk of IF-MIB."""
    found = tables(answer, (IF, IF_X))
    if not (found[IF].get(_DESCRIPTION) or found[IF_X].get(_NAME)):
        raise UnreadableError(NO_MIB)
    basic, extended = found[IF], found[IF_X]
    names, descriptions, aliases = extended.get(_NAME, {}), basic.get(_DESCRIPTION, {}), extended.get(_ALIAS, {})
    for index in dict.fromkeys((*names, *descriptions)):
        description = text_of(descriptions.get(index))
        name = text_of(names.get(index)) or description
        if name is None:
            continue
        oper = number_of(basic.get(_OPER, {}).get(index))
        state = of_snmp(oper, number_of(basic.get(_ADMIN, {}).get(index)))
        others = (description, text_of(aliases.get(index)))
        yield NetLink(
            name,
            mac=_mac(basic.get(_MAC, {}).get(index)),
            mtu=number_of(basic.get(_MTU, {}).get(index)),
            operstate=_OPERSTATES.get(oper or 0),
            flags=("UP",) if state.enabled else ("NO-CARRIER",) if state.reason == "switched off" else (),
            speed_gbps=_gbps(extended.get(_HIGH_SPEED, {}).get(index), basic.get(_SPEED, {}).get(index)),
            aliases=tuple(dict.fromkeys(other for other in others if other and other != name)),
            down_reason=state.reason,
        )


def _mac(value: Value | None) -> str | None:
    octets = octets_of(value)
    return octets.hex(":") if len(octets) == 6 else mac_of(text_of(value) or "")


def _gbps(high_speed: Value | None, speed: Value | None) -> float | None:
    """Gb/s from ifHighSpeed, else from ifSpeed; None if the agent does not know."""
    if megabits := number_of(high_speed):
        return megabits / 1000
    bits = number_of(speed)
    return bits / 1e9 if bits and bits < _FULL else None
