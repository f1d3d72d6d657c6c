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

from functools import partial

from collector.formats.text import read_first
from collector.nos import (
    cumulus_forms,
    enterprise_forms,
    eos_forms,
    junos_forms,
    model_forms,
    nxos_qos_forms,
    sonic_forms,
)
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
_DOCUMENTS = (
    sonic_forms.queue_from_json,
    nxos_qos_forms.queue_from_json,
    eos_forms.queue_from_json,
    junos_forms.queue_counters,
    model_forms.queue_from_model,
)
_FORMS = (
    cumulus_forms.queue_from_nvue,
    cumulus_forms.queue_from_text,
    partial(junos_forms.read_document, readers=_DOCUMENTS, what="queues"),
    nxos_qos_forms.queue_from_text,
    eos_forms.queue_from_text,
    junos_forms.queue_from_text,
    enterprise_forms.os10_from_table,
    sonic_forms.queue_from_tables,
)
"""Each reads its own form, and returns None for another."""


@collector(on=SWITCHES, ask=ASK, every=minutes(1 / 6), yields=[PortCounters], megabytes=16, optional=True)
def queue_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port with queues. Raises `UnreadableError`."""
    return read_first(answer, _FORMS, "not an answer about queues", line=1)
