"""Pause frames of each port of a switch from its SNMP agent: IEEE8021-PFC-MIB and CISCO-PFC-EXT-MIB.

Question: which port pauses which? The port sends requests, which pause its neighbour; indications pause the port.

Read from numeric walk text (`snmpbulkwalk -On`) and from snmpsim recordings (`.snmprec`), under the names of the MIBs:

- IEEE8021-PFC-MIB, `ieee8021PfcRequests` and `ieee8021PfcIndications` by ifIndex: 32 bits, all priorities together;
- CISCO-PFC-EXT-MIB, `cpfcIfPriorityRequests` and `cpfcIfPriorityIndications` by ifIndex and priority: 64 bits; and
  `cpfcIfRequests` and `cpfcIfIndications`, all priorities together.

Traps:

- SONiC's agent has CISCO-PFC-EXT-MIB, but its `cpfcIfRequests` and `cpfcIfIndications` are those of priority 3 only.
  Nothing in the answer shows this, so both keep the names of the MIB, which no rule uses as a sum.
- The rows of a LAG are sums of its members. An agent without either MIB is refused: it does not show that nothing was
  paused.
"""

from collections.abc import Mapping

from collector.formats.counts import Tally, priority
from collector.formats.mib import IF, IF_X, Value, names, note, of_snmp, tables, walks
from truerail.model import SWITCHES, Command, Counter, Device, PortCounters, collector, minutes

_IEEE = "1.3.111.2.802.1.1.21.1.1.1"
_CISCO = "1.3.6.1.4.1.9.9.813.1.1.1"
_CISCO_PRIORITY = "1.3.6.1.4.1.9.9.813.1.2.1"
_PORTS = {
    _IEEE: {2: "ieee8021PfcRequests", 3: "ieee8021PfcIndications"},
    _CISCO: {1: "cpfcIfRequests", 2: "cpfcIfIndications"},
}
_PRIORITIES = {2: "cpfcIfPriorityRequests", 3: "cpfcIfPriorityIndications"}
_LIVE = Command(
    "snmpbulkwalk -On 1.3.6.1.2.1.31.1.1.1.{1} 1.3.6.1.2.1.2.2.1.{2} 1.3.111.2.802.1.1.21.1.1.1.{2,3}"
    " 1.3.6.1.4.1.9.9.813.1.1.1.{1,2} 1.3.6.1.4.1.9.9.813.1.2.1.{2,3}",
    ("snmp",),
)
_OIDS = ("1", ".1")


ASK = walks("pfc", *_OIDS, live=_LIVE)


@collector(on=SWITCHES, ask=ASK, every=minutes(1 / 6), yields=[PortCounters], optional=True, long_lines=True)
def pfc_snmp(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each interface with pause frames. Raises `UnreadableError`."""
    found = tables(answer, (IF, IF_X, _CISCO_PRIORITY, *_PORTS))
    ports = names(found)
    tally = Tally()
    for number, name in _PRIORITIES.items():
        _note_priorities(tally, ports, found[_CISCO_PRIORITY].get(number, {}), name)
    note(tally, ports, found, _PORTS)
    return tally.some()


def _note_priorities(tally: Tally, ports: Mapping[str, str], values: Mapping[str, Value], name: str) -> None:
    for index, value in values.items():
        port, _, of = index.partition(".")
        if port in ports and priority(of) is not None:
            tally.note(ports[port], Counter(name, priority(of)), of_snmp(value))
