"""SONiC's queues: `show queue counters [--voq]`, `show queue wredcounters`, `show priority-group drop counters`.

A chassis of several devices names the ports of its virtual output queues `leaf-0|asic0|Ethernet0`. The output of
`--trim` does not count a queue's packets. Queues are `UC3`, on other hardware `ALL3` or `VOQ3`; multicast queues,
`MC10`, have counters with names of their own. The watermarks of priority groups have the same table as their drops:
the line above it tells them apart.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from collector._ruled_table import Table
from collector._tally import Tally, count, priority
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_QUEUE = re.compile(r"(UC|ALL|VOQ|MC)([0-9]{1,2})", re.IGNORECASE)
_NAMES = {
    "counter/pkts": "queue_packets", "totalpacket": "queue_packets",
    "counter/bytes": "queue_bytes", "totalbytes": "queue_bytes",
    "drop/pkts": "queue_drops", "droppacket": "queue_drops",
    "drop/bytes": "queue_drop_bytes", "dropbytes": "queue_drop_bytes",
    "wreddrp/pkts": "wred_drops", "wreddroppacket": "wred_drops",
    "wreddrp/bytes": "wred_drop_bytes", "wreddropbytes": "wred_drop_bytes",
    "ecnmarked/pkts": "ecn_marked_packets", "ecnmarkedpacket": "ecn_marked_packets",
    "credit-wd-del/pkts": "credit_watchdog_drops", "creditwdpkts": "credit_watchdog_drops",
    "ecnmarked/bytes": "ecn_marked_bytes", "ecnmarkedbytes": "ecn_marked_bytes",
}  # fmt: skip


def is_table(table: Table) -> bool:
    """Whether this is a table of what queues counted or priority groups dropped."""
    if table.labels[0] != "port" or table.labels[1:2] not in (("txq",), ("voq",), ("pg0",)):
        return False
    return "drop" in table.title.lower() if "pg0" in table.labels else not _NAMES.keys().isdisjoint(table.labels)


def from_tables(found: Sequence[Table]) -> list[PortCounters]:
    """Counters of the queues and priority groups in these tables. Raises `UnreadableError` for an invalid cell."""
    tally = Tally()
    for table in found:
        if "pg0" not in table.labels:
            _note_queues(tally, table)
        else:
            groups = [Counter("rx_discards", priority(label)) for label in table.labels[1:]]
            for line, cells in table.rows:
                tally.row(cells[0], groups, cells[1:], line=line)
    return tally.facts()


def _note_queues(tally: Tally, table: Table) -> None:
    places = [at for at, label in enumerate(table.labels) if label in _NAMES]
    labels = tuple(table.labels[at] for at in places)
    for line, cells in (row for row in table.rows if row.cells[0] != "CPU"):  # no port
        tally.row(cells[0], _of_queue(cells[1], labels), [cells[at] for at in places], line=line)


def is_json(found: Any) -> bool:
    """Whether this is `queuestat -j` or `wredstat -j`: ports with queues."""
    return isinstance(found, dict) and any(
        isinstance(queues, dict) and any(map(_QUEUE.fullmatch, queues)) for queues in found.values()
    )


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """Counters of the queues in this document. Other keys (`time`) are skipped."""
    tally = Tally()
    for port, queues in found.items():
        for queue, reported in queues.items() if isinstance(queues, dict) else ():
            for label, value in reported.items() if isinstance(reported, dict) else ():
                if label in _NAMES:
                    (counter,) = _of_queue(queue, (label,))
                    tally.note(port, counter, count(value))
    return tally.facts()


@lru_cache(maxsize=4096)
def _of_queue(queue: str, labels: tuple[str, ...]) -> tuple[Counter, ...]:
    found = _QUEUE.fullmatch(queue)
    if found is None:
        raise UnreadableError("not the name of a queue", text=queue)
    before = "mc_" if found[1].upper() == "MC" else ""
    return tuple(Counter(before + _NAMES[label], int(found[2])) for label in labels)
