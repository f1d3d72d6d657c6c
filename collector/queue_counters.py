"""Packets that each queue of each port of a switch sent, dropped and marked (ECN), by traffic class.

Question: which queues are so long that packets are marked or dropped, and in which class?

| network OS | answers |
|---|---|
| SONiC | `show queue counters`, `show queue wredcounters`, both also `--json`; `show priority-group drop counters` |
| Arista EOS | `show qos interfaces ecn counters queue \\| json`; text of `show interfaces counters queue detail` |
| Cisco NX-OS | `show queuing interface`, JSON and text |
| Cumulus NVUE | `nv show interface ... counters qos -o json`, `egress-queue-stats` |
| Junos | `show interfaces extensive`, JSON, XML and text; text of `show interfaces queue` |
| Dell OS10 | `show queuing statistics interface` of each port |
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

from collector.formats.table import tables
from collector.formats.text import is_json, lines
from collector.nos import (
    cumulus_forms,
    enterprise_forms,
    eos_forms,
    junos_forms,
    model_forms,
    nxos_qos_forms,
    sonic_forms,
)
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, PortCounters, collector, commands, minutes, saved_as

_SONIC = "show queue counters; show queue wredcounters; show priority-group drop counters; :"


ASK = (
    *commands("sonic", _SONIC, "show queue counters"),
    Command("show qos interfaces ecn counters queue | json", ("eos",)),
    Command("show queuing interface | json", ("nxos",)),
    Command("show interfaces extensive | display json", ("junos",)),
    *model_forms.QUEUE_REQUESTS,
    *saved_as("show interfaces extensive | display xml", "show interfaces extensive"),
    *saved_as("show queue wredcounters --json", "show queue wredcounters", "show queue counters --json"),
    *saved_as("show priority-group drop counters", "show queuing interface", "show interfaces queue"),
    *saved_as("nv show interface {port}", "show queue counters {port}", "show queuing statistics interface {port}"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(1 / 6), yields=[PortCounters], megabytes=16, optional=True)
def queue_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port with queues. Raises `UnreadableError`."""
    if is_json(answer) and cumulus_forms.nvue_is_json(answer):
        return cumulus_forms.queue_from_nvue(answer)
    if cumulus_forms.queue_is_text(answer):
        return cumulus_forms.queue_from_text(answer)
    if (document_of := junos_forms.document_or_text(answer)) is not None:
        return _from_json(document_of)
    if nxos_qos_forms.queue_is_text(answer):
        return nxos_qos_forms.queue_from_text(lines(answer))
    if eos_forms.queue_is_text(answer):
        return eos_forms.queue_from_text(lines(answer))
    if junos_forms.queue_is_text(answer):
        return junos_forms.queue_from_text(lines(answer))
    if enterprise_forms.os10_is_table(answer):
        return enterprise_forms.os10_from_table(lines(answer))
    found = [table for table in tables(answer) if sonic_forms.queue_is_table(table)]
    if not found:
        raise UnreadableError("not an answer about queues", line=1, text=answer.strip().split("\n")[0])
    return sonic_forms.queue_from_tables(found)


def _from_json(found: Any) -> list[PortCounters]:
    if sonic_forms.queue_is_json(found):
        return sonic_forms.queue_from_json(found)
    if nxos_qos_forms.queue_is_json(found):
        return nxos_qos_forms.queue_from_json(found)
    if isinstance(found, dict) and eos_forms.QUEUE_KEY in found:
        return eos_forms.queue_from_json(found)
    if isinstance(found, dict) and junos_forms.PORT_KEY in found:
        return junos_forms.queue_counters(found)
    if model_forms.queue_is_model(found):
        return model_forms.queue_from_model(found)
    raise UnreadableError("JSON that does not speak of queues")
