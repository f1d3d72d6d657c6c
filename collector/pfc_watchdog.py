"""Storms that a switch's PFC watchdog has detected on each queue: SONiC's `show pfcwd stats`, `sonic-cli`'s statistics.

Question: on which ports and priorities was a queue paused for so long that the switch detected a storm?

Format: a row for each queue, `Ethernet0:3  stormed  1/0  100/300 ...`: storms detected and restored, packets sent and
dropped, received and dropped. Source: sonic-utilities `pfcwd/main.py`, its tests, recorded answers.

Traps:

- The watchdog is evidence for a storm, never against one: `operational` beside a growing count is common, choppy pauses
  are never detected, XON frames keep a queue stormed. So the status is not read, only the count.
- Without `-e` a queue appears with its first packet, so that its first storm cannot be distinguished from an old one.
- Queues beyond 7 are no priorities and are skipped. An answer may contain several runs: the last one counts.
"""

from collector.formats.counts import Tally, count, priority
from collector.formats.table import rows, tables
from collector.nos.enterprise_forms import watchdog_from_text
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Counter, Device, PortCounters, collector, commands, minutes, saved_as

_STORMS, _SENT, _RECEIVED = "storm detected/restored", "tx ok/drop", "rx ok/drop"


ASK = (
    *commands("sonic", "show pfcwd stats -e", "show pfcwd stats"),
    *saved_as("show qos priority-flow-control statistics"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(1), yields=[PortCounters], optional=True)
def pfc_watchdog(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port with a watched queue; none where no queue is watched. Raises
    `UnreadableError`."""
    if (of_cli := watchdog_from_text(answer)) is not None:
        return of_cli
    found = tables(answer)
    if not any(table.column(_STORMS) >= 0 for table in found):
        raise UnreadableError("not the table of a PFC watchdog", line=1, text=answer.strip().split("\n")[0])
    tally = Tally()
    for line, (queue, storms, sent, received) in rows(found, "queue", _STORMS, _SENT, _RECEIVED):
        port, _, index = queue.rpartition(":")
        if (of := priority(index)) is not None:
            tally.note(port, Counter("watchdog_storms", of), count(storms.partition("/")[0], line=line))
            tally.note(port, Counter("watchdog_tx_drops", of), count(sent.rpartition("/")[2], line=line))
            tally.note(port, Counter("watchdog_rx_drops", of), count(received.rpartition("/")[2], line=line))
    return tally.facts()
