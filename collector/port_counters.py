"""Counters of each port of a switch over all priorities: bytes, packets, errors, discards.

Question: how much did each port carry and lose, how often did its link go down?
Needs: a read-only login; on SONiC one that may read the database, else its command line is read; no root.

The form of the answer selects the parser, not the platform or the command:

| network OS | answers |
|---|---|
| SONiC | `sonic-db-dump` of the ports; `show interfaces counters`, also `-j`, `detailed`, `rates`, `fec-stats` |
| Arista EOS | `show interfaces counters` as JSON; `show interfaces`, JSON and text |
| Cisco NX-OS | `show interface counters`, tables and JSON; `show interface`, JSON and text |
| Cumulus Linux, Linux | `ethtool -S` of each port, the command above it; NVUE's `nv show interface ... -o json` |
| Junos | `show interfaces extensive`, JSON, XML and text |
| AOS-CX | `show interface` |
| Cisco IOS-XR | `show interfaces` |
| Dell OS10, `sonic-cli` | `show interface`; `sonic-cli` also `show interface counters` |
| VRP, Comware | `display interface`; Comware also `display counters inbound interface`, below its command |
| Nokia SR Linux | `info from state interface * \\| as json`; rests on documentation |
| OpenConfig | JSON of `openconfig-interfaces`, by gNMI or RESTCONF; rests on documentation |

Sources: sonic-utilities `scripts/portstat` and its tests, SAI `saiport.h`, recorded answers of EOS and NX-OS, NVUE's
documentation, Linux `mlxsw/spectrum_ethtool.c`, the XML tags in Junos' documentation. Traps:

- SONiC's command line shows the difference to a cache that each user's `sonic-clear` fills (`Last cached time was`),
  and no bytes: `RX_OK` is packets. Its database has totals and bytes, so it is read first.
- SONiC's `RX_BPS` is bytes per second, averaged: rates are no counters and are skipped. So are values that a device
  does not report (`N/A`, `--`), which are not 0. Pause frames by priority are in `pfc_counters`, whatever the answer.
- EOS and NX-OS count unicast, multicast and broadcast apart: packets are their sum. NX-OS prints one row as an object
  and several as a list, and numbers as strings. Their ports' errors are in `port_errors`.
- EOS' `show interfaces counters` has no `linkStatusChanges`, so the longer answer is requested first. It counts both
  ups and downs.
- EOS' counters are the port's for all users: `clear counters` without `session` resets them for all.
- A table that is cut between two rows looks complete. A row that is cut is refused, a last value that may have lost
  digits is skipped.
"""

from functools import partial

from collector.formats import ethtool, port_paragraphs
from collector.formats.text import read_first
from collector.nos import cumulus_forms, enterprise_forms, eos_forms, junos_forms, model_forms, nxos_forms, sonic_forms
from truerail.model import SWITCHES, Command, Device, PortCounters, collector, commands, minutes, saved_as

ASK = (
    sonic_forms.DUMP,
    Command("show interfaces counters -j", ("sonic",)),
    *commands("eos", "show interfaces | json", "show interfaces counters | json"),
    *commands("nxos", "show interface counters | json", "show interface | json"),
    ethtool.LIVE,
    Command("nv show interface -o json", ("cumulus",)),
    Command("show interfaces extensive | display json", ("junos",)),
    Command("info from state interface * | as json", ("srlinux",)),
    Command("show interfaces", ("iosxr",)),
    Command("show interface", ("aoscx", "os10", "sonic_cli")),
    Command("display interface", ("comware", "vrp")),
    *model_forms.PORT_REQUESTS,
    *saved_as("show interfaces extensive | display xml", "show interfaces extensive", "portstat -j"),
    *saved_as("show interfaces counters", "show int counters", "portstat", "show interface counters"),
    *saved_as("show interfaces counters detailed {port}", "openconfig-interfaces", "ethtool -S {port}"),
    *saved_as("nv show interface {port}"),
)
_DOCUMENTS = (
    model_forms.port_from_model,
    junos_forms.port_counters,
    eos_forms.port_from_json,
    nxos_forms.port_from_json,
    sonic_forms.port_from_json,
)
_FORMS = (
    ethtool.port_counters,  # most answers of a round, and the cheapest sign
    sonic_forms.port_from_dump,
    cumulus_forms.port_from_nvue,
    partial(junos_forms.read_document, readers=_DOCUMENTS, what="what ports counted"),
    enterprise_forms.aoscx_from_text,
    port_paragraphs.from_text,
    nxos_forms.paragraph_from_text,
    enterprise_forms.counted_from_text,
    sonic_forms.port_from_cli,
    sonic_forms.port_from_tables,
    nxos_forms.port_from_text,
    sonic_forms.port_from_details,
)
"""Each reads its own form, and returns None for another."""


@collector(on=SWITCHES, ask=ASK, every=minutes(1 / 6), yields=[PortCounters], megabytes=16, optional=True)
def port_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port with counters. Raises `UnreadableError`."""
    return read_first(answer, _FORMS, "not an answer about what ports counted", line=1)
