"""NX-OS' queues: `show queuing interface | json`.

A row for each port and direction, in it one for each QoS group, in it one for each kind of count (`Tx`, `Dropped`,
`ECN`) and unit (`Pkts`, `Byts`), with unicast, out-of-band and multicast apart. The groups `CPU` and `SPAN` are
skipped. A single row is an object in place of a list.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from collector._documents import listed
from collector._tally import Tally, count, priority, summed
from truerail.model import Counter, PortCounters

_VALUES = ("eq-uc-stat-value", "eq-oobfc-uc-stat-value", "eq-mc-stat-value")
_COUNTED = {
    ("tx", "pkts"): "queue_packets",
    ("tx", "byts"): "queue_bytes",
    ("dropped", "pkts"): "queue_drops",
    ("tail drop", "pkts"): "queue_drops",
    ("wred/afd & tail drop", "pkts"): "queue_drops",
    ("ecn", "pkts"): "ecn_marked_packets",
}


def is_json(found: Any) -> bool:
    """Whether this is NX-OS' JSON of queues."""
    return isinstance(found, dict) and "TABLE_queuing_interface" in str(found)


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """Counters of the queues in this document."""
    tally = Tally()
    for module in _rows(found, "module"):
        for port in _rows(module, "queuing_interface"):
            for group in _rows(port, "qosgrp_egress_stats"):
                of = priority(group.get("eq-qosgrp"))
                for reported in _rows(group, "qosgrp_egress_stats_entry") if of is not None else ():
                    name = _COUNTED.get((_word(reported, "eq-stat-type"), _word(reported, "eq-stat-units")))
                    if name:
                        value = summed(count(reported.get(kind)) for kind in _VALUES)
                        tally.note(str(port["if_name_str"]), Counter(name, of), value)
    return tally.facts()


def _word(reported: Mapping[str, Any], key: str) -> str:
    return str(reported.get(key)).strip().lower()


def _rows(found: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    for table in listed(found.get(f"TABLE_{name}")):
        yield from listed(table[f"ROW_{name}"])
