"""Counters of each port of a switch from its SNMP agent: IF-MIB (RFC 2863).

Question: how much did each port carry and lose?

Read from numeric walk text (`snmpbulkwalk -On`) and from snmpsim recordings (`.snmprec`): of ifXTable the octets and
unicast packets in 64 bits, of ifTable discards and errors in 32, under the names of the MIB.

Traps:

- Octets in 32 bits wrap every 0.1 s at 400 Gb/s: ifInOctets is not read, and agents without ifXTable have no traffic.
- ifHCInUcastPkts excludes multicast and broadcast, which RDMA does not use.
- Agents answer from a cache of 5 to 30 s: two walks may give the same values, then a double step.
- ifCounterDiscontinuityTime would show a reset, but SONiC always returns 0, so it is not read: a counter that goes
  backwards is a reset, unless its 32 bits have wrapped.
"""

from collector.formats.counts import Tally
from collector.formats.mib import IF, IF_X, names, note, tables, walks
from truerail.model import SWITCHES, Command, Device, PortCounters, collector, minutes

_COUNTERS = {
    IF_X: {6: "ifHCInOctets", 7: "ifHCInUcastPkts", 10: "ifHCOutOctets", 11: "ifHCOutUcastPkts"},
    IF: {13: "ifInDiscards", 14: "ifInErrors", 19: "ifOutDiscards", 20: "ifOutErrors"},
}
_LIVE = Command("snmpbulkwalk -On 1.3.6.1.2.1.31.1.1.1.{1,6,7,10,11} 1.3.6.1.2.1.2.2.1.{2,13,14,19,20}", ("snmp",))
_OIDS = ("1", ".1", "1.3.6.1.2.1", "1.3.6.1.2.1.31.1.1.1", "1.3.6.1.2.1.2.2.1")


ASK = walks("if", *_OIDS, live=_LIVE)


@collector(on=SWITCHES, ask=ASK, every=minutes(1 / 6), yields=[PortCounters], optional=True, long_lines=True)
def if_counters_snmp(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each interface with counters. Raises `UnreadableError`."""
    found = tables(answer, (IF, IF_X))
    ports = names(found)
    tally = Tally()
    note(tally, ports, found, _COUNTERS)
    return tally.some()
