"""Packets that each queue of each port of a switch sent, dropped and marked (ECN), by traffic class.

Question: which queues are so long that packets are marked or dropped, and in which class?

| network OS | answers |
|---|---|
| SONiC | `show queue counters`, `show queue wredcounters`, both also `--json`; `show priority-group drop counters` |
| Arista EOS | `show qos interfaces ecn counters queue \\| json`; text of `show interfaces counters queue detail` |
| Cisco NX-OS | `show queuing interface`, JSON and text |
| Cumulus NVUE | `nv show interface ... counters qos -o json`, `egress-queue-stats` |
| Junos | `show interfaces extensive`, JSON, XML and text; text of `show interfaces queue` |
| Dell OS10, VRP | `show queuing statistics interface`, `display qos queue statistics interface` of each port |
| OpenConfig | JSON of `openconfig-qos` by gNMI; rests on documentation |

Sources: sonic-utilities `scripts/queuestat`, `wredstat`, `pgdropstat` and their tests, recorded answers, Cisco's list
of NX-OS' show commands, NVUE's documentation, the XML tags in Junos' documentation. Traps:

- The priority of these counters is the queue's number: whether PFC's priority is the same is configuration, though
  every vendor's default. So are SONiC's priority groups, whose drops are `rx_discards` by priority here.
- SONiC's values are differences to a cache that each user's `sonic-clear` fills. Platforms without a counter print
  `N/A`, EOS words: not reported, never 0. Multicast queues (`MC10`) have names of their own (`mc_queue_packets`).
- NVUE rounds sizes (`36.0 KB`): such a value is skipped. It takes a second for one port, so it is not run live.
"""

from typing import Any

from collector import (
    _junos_queue_text,
    _nvue,
    _nvue_counters_text,
    _port_junos,
    _queue_eos,
    _queue_models,
    _queue_nxos,
    _queue_os10,
    _queue_sonic,
    _queue_vrp,
)
from collector._answer import is_json, lines
from collector._documents import document
from collector._ruled_table import tables
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, PortCounters, collector, minutes

_SONIC = "show queue counters; show queue wredcounters; show priority-group drop counters; :"


@collector(
    on=SWITCHES,
    ask=[
        Command(_SONIC, ("sonic",)),
        Command("show queue counters", ("sonic",)),
        Command("show queue wredcounters --json", ("sonic",)),
        Command("show queue wredcounters", ("sonic",)),
        Command("show queue counters --json", ("sonic",)),
        Command("show priority-group drop counters", ("sonic",)),
        Command("show qos interfaces ecn counters queue | json", ("eos",)),
        Command("show queuing interface | json", ("nxos",)),
        *(Command(text, ("capture",)) for text in ("show queuing interface", "show interfaces queue")),
        Command("show interfaces extensive | display json", ("junos",)),
        Command("show interfaces extensive | display json | no-more", ("junos",)),
        *(Command(f"show interfaces extensive{form}", ("capture",)) for form in (" | display xml", "")),
        *_queue_models.REQUESTS,
        Command("nv show interface {port}", ("cumulus",)),
        Command("show queue counters {port}", ("sonic",)),
        Command("show queuing statistics interface {port}", ("os10",)),
        Command("display qos queue statistics interface {port}", ("vrp",)),
    ],
    every=minutes(1 / 6),
    yields=[PortCounters],
    megabytes=16,
    optional=True,
)
def queue_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port with queues. Raises `UnreadableError`."""
    if is_json(answer) and _nvue.understands(answer):
        return _nvue.queue_counters(answer)
    if _nvue_counters_text.has_queues(answer):
        return _nvue_counters_text.queue_counters(answer)
    document_of = document(answer)
    if document_of is None:
        document_of = _port_junos.of_text(answer)
    if document_of is not None:
        return _from_json(document_of)
    if _queue_nxos.is_text(answer):
        return _queue_nxos.from_text(lines(answer))
    if _queue_eos.is_text(answer):
        return _queue_eos.from_text(lines(answer))
    if _junos_queue_text.is_text(answer):
        return _junos_queue_text.counters(lines(answer))
    if _queue_vrp.is_text(answer):
        return _queue_vrp.counters(lines(answer))
    if _queue_os10.is_table(answer):
        return _queue_os10.counters(lines(answer))
    found = [table for table in tables(answer) if _queue_sonic.is_table(table)]
    if not found:
        raise UnreadableError("not an answer about queues", line=1, text=answer.strip().split("\n")[0])
    return _queue_sonic.from_tables(found)


def _from_json(found: Any) -> list[PortCounters]:
    if _queue_sonic.is_json(found):
        return _queue_sonic.from_json(found)
    if _queue_nxos.is_json(found):
        return _queue_nxos.from_json(found)
    if isinstance(found, dict) and _queue_eos.KEY in found:
        return _queue_eos.from_json(found)
    if isinstance(found, dict) and _port_junos.KEY in found:
        return _port_junos.queue_counters(found)
    if _queue_models.is_model(found):
        return _queue_models.port_counters(found)
    raise UnreadableError("JSON that does not speak of queues")
