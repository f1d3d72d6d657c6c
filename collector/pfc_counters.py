"""Number and duration of pauses that each port of a switch sent and received, by priority if reported.

Question: which port pauses which? The port sends `tx_pause_frames`, which pause its neighbour; `rx_pause_frames` pause
the port.

The form of the answer selects the parser, not the platform or the command:

| network OS | answers |
|---|---|
| SONiC | `sonic-db-dump` of the ports; `show pfc counters`, `--history` |
| Cisco NX-OS | `show interface priority-flow-control`, text, `detail` and JSON; UCS fabric interconnects' text |
| Arista EOS | `show priority-flow-control counters [detail]`, JSON and text |
| Cumulus Linux, Linux | `ethtool -S` of each port; NVUE's `nv show interface ... counters qos -o json` |
| Junos | `show interfaces extensive`, JSON, XML and text |
| `sonic-cli` | `show qos priority-flow-control statistics`; rests on documentation |

Sources: sonic-utilities `scripts/pfcstat` and its tests, sonic-swss `orchagent/*.lua`, recorded answers, Cisco's NX-OS
QoS guide, NVUE's documentation, the XML tags in Junos' documentation. Traps:

- SONiC's command line shows the difference to a cache that each user's `sonic-clear` fills; its database does not.
- SONiC counts XON frames (quanta 0) also as received pause frames. Durations (`rx_pause_us`) and transitions are
  measured on some ASICs, on others estimated from poll to poll (`EST_...`), which makes them too long.
- SONiC always prints the tables Rx and Tx, for the same ports: one alone is refused, as are rows without a header,
  which do not show their direction.
- NX-OS and EOS without `detail` count all priorities together: such counters have no priority. NX-OS prints one row as
  an object and several as a list, and numbers as strings; rows `ii1/1/1` are links inside the device.
- One release of NVUE prints durations in bytes (`36.0 KB`): they are skipped.
"""

from functools import partial

from collector.formats import ethtool
from collector.formats.text import read_first
from collector.nos import cumulus_forms, enterprise_forms, eos_forms, junos_forms, nxos_qos_forms, sonic_forms
from truerail.model import SWITCHES, Command, Device, PortCounters, collector, commands, minutes, saved_as

ASK = (
    sonic_forms.DUMP,
    Command("show pfc counters", ("sonic",)),
    *commands("eos", "show priority-flow-control counters detail | json", "show priority-flow-control counters | json"),
    *commands("nxos", "show interface priority-flow-control detail", "show interface priority-flow-control | json"),
    Command("show interfaces extensive | display json", ("junos",)),
    Command("show qos priority-flow-control statistics", ("sonic_cli",)),
    ethtool.LIVE,
    *saved_as("show interfaces extensive | display xml", "show interfaces extensive", "pfcstat"),
    *saved_as("show pfc counters --history", "show priority-flow-control counters detail"),
    *saved_as("show priority-flow-control counters", "show interface priority-flow-control"),
    *saved_as("nv show interface {port}"),
)
_DOCUMENTS = (nxos_qos_forms.counters, eos_forms.pfc_from_json, junos_forms.pfc_counters)
_FORMS = (
    ethtool.pfc_counters,  # most answers of a round, and the cheapest sign
    sonic_forms.pfc_from_dump,
    cumulus_forms.pfc_from_nvue,
    cumulus_forms.pfc_from_text,
    partial(junos_forms.read_document, readers=_DOCUMENTS, what="pause frames"),
    nxos_qos_forms.counters,
    nxos_qos_forms.detailed_counters,
    eos_forms.pfc_from_text,
    enterprise_forms.pfc_from_table,
    sonic_forms.pfc_from_tables,
)
"""Each reads its own form, and returns None for another."""


@collector(on=SWITCHES, ask=ASK, every=minutes(1 / 6), yields=[PortCounters], megabytes=16, optional=True)
def pfc_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port. Raises `UnreadableError`."""
    return read_first(answer, _FORMS, "not an answer about pause frames", line=1)
