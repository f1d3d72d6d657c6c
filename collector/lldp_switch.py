"""LLDP neighbours as a switch reports them.

The switch side is more reliable: a NIC's firmware may consume LLDP so that its host hears nothing, a switch hears
every host that sends. The form of the answer selects the parser, not the platform or the command, because captures are
made by hand:

| network OS | answers |
|---|---|
| SONiC | `show lldp table`, `show lldp neighbors` (lldpd's plain form), `docker exec lldp lldpctl -f json0`, `-f xml` |
| Cumulus NVUE | `nv show interface lldp` and `lldp-detail`, text and `-o json`; `nv show interface`, text |
| Cumulus NCLU | `net show lldp`, text and `json`; `net show interface all json` |
| Arista EOS | `show lldp neighbors [detail]`, text and `\\| json` |
| Cisco NX-OS | `show lldp neighbors [detail]`, text, `\\| json`, `json-pretty`, `json native` |
| Junos | `show lldp neighbors [detail]`, text, `\\| display json`, `\\| display xml` |
| IOS, Dell OS9 and OS10, AOS-CX, Comware, VRP, RGOS, OcNOS | their tables and their detailed text |
| Nokia SR Linux and SR OS, VyOS | `show system lldp neighbor`, `show lldp neighbors` |
| `sonic-cli` | `show lldp neighbor`; rests on its template |
| OpenConfig, SR Linux' model | JSON of gNMI and RESTCONF |

Sources: recorded answers of these systems; `lldpshow` in sonic-utilities for the SONiC table. Traps:

- A local port is named as the switch prints it (`Eth1/1`, `Et1`); other code maps it to a port of the plan.
- Two neighbours on one port are two facts. A port with an empty list of neighbours yields none.
- EOS keeps the quotes of a port id inside the JSON string, NX-OS prints one neighbour as an object and several as a
  list, Junos detail has the SNMP index where the brief form has the port's name, NVUE labels MACs `ifname`.
- NX-OS without `detail` has one column for system name and chassis id.
- `Time remaining` (NX-OS, IOS) is the rest of the time to live, and is not used as the time to live. The age that EOS
  prints with a neighbour is that of its last frame; `Discovered` is the time since it was first heard.
- Answers that announce a number of neighbours and contain fewer are cut, and refused as a whole. The tables of EOS,
  Junos, NVUE and Comware announce none: one that was cut between two rows looks complete. JSON is requested first.
"""

import re
from collections.abc import Iterable
from typing import Any

from collector.formats import documents, lldp_tables, lldp_text, lldpd
from collector.formats.documents import root_of, tree_of, unwrapped
from collector.formats.lldp_words import OF_SWITCHES
from collector.formats.text import lines
from collector.nos import cumulus_forms, eos_forms, junos_forms, model_forms, nxos_forms, sonic_forms
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, Neighbor, collector, commands, minutes, saved_as

_LLDPD_JSON = re.compile(r'\s*\{\s*"lldp"\s*:(?!\s*\{\s*"(?:interfaces"|openconfig-lldp:|srl_nokia-lldp:))')
_LLDPD_PLAIN = re.compile(r"^[ \t]*(?:LLDP neighbors:|Interface:[ \t]+\S.*, via: )", re.MULTILINE)
_LLDPD_KEYVALUE = re.compile(r"^[ \t]*lldp\.\S+\.via=", re.MULTILINE)
_DOCUMENT = re.compile(
    r"(?:[^\n]{0,500}\n){0,3}?[ \t]*(?:\{\s*(?:[\"}]|\Z)|\[\s*(?:[\"\[\]{]|\Z)"
    r"|<(?:\?xml|(?:\w+:)?(?:lldp|rpc-reply|multi-routing-engine))\b)"
)
"""JSON, not Junos' prompt (`{master:0}`) nor lldpd's warning (`[lldpctl] unable to get socket`); XML, not the prompt of
VRP and Comware (`<leaf-1>display lldp neighbor brief`)."""
_BLOCK = re.compile(
    r"^[ \t]*(?:(?:remote |neighbor )?(?:chassis|port)[ -]id[ \t]*:(?![ \t]*\*)|chassisid/subtype[ \t]*:)",
    re.MULTILINE | re.IGNORECASE,
)
_NOBODY = re.compile(r"^[ \t]*error: no neighbou?r information", re.MULTILINE | re.IGNORECASE)


ASK = (
    Command("show lldp neighbors detail | json", ("eos", "nxos")),
    Command("show lldp neighbors detail | display json", ("junos",)),
    *commands("sonic", "docker exec lldp lldpctl -f json0", "sudo docker exec lldp lldpctl -f json0"),
    Command("lldpctl -f json0", ("cumulus", "linux")),
    Command("nv show interface lldp-detail -o json", ("cumulus",)),
    Command("lldpctl -f keyvalue", ("linux",)),
    *commands("srlinux", "info from state system lldp | as json", "show system lldp neighbor"),
    Command("show lldp neighbor-info detail", ("aoscx",)),
    Command("show lldp neighbor", ("sonic_cli",)),
    *commands("comware", "display lldp neighbor-information verbose", "display lldp neighbor-information list"),
    *commands("vrp", "display lldp neighbor", "display lldp neighbor brief"),
    Command("show lldp neighbors detail", ("eos", "nxos", "junos", "iosxr", "os10")),
    Command("show lldp neighbors", ("iosxr", "os10")),
    Command("show lldp neighbor-info", ("aoscx",)),
    *documents.requests("/lldp/interfaces"),
    *saved_as("show lldp neighbors detail | json-pretty", "show lldp neighbors detail | json native"),
    *saved_as("show lldp neighbors | json", "show lldp neighbors | json-pretty"),
    *saved_as("show lldp neighbors | json native", "show lldp neighbors detail | display xml"),
    *saved_as("show lldp neighbors | display json", "show lldp neighbors | display xml"),
    *saved_as("docker exec -i lldp lldpctl -f json0", "docker exec lldp lldpctl -f json"),
    *saved_as("lldpcli show neighbors details -f json0", "lldpcli show neighbors -f json0", "lldpctl -f json"),
    *saved_as("lldpcli show neighbors details -f json", "lldpcli show neighbors -f json", "net show lldp json"),
    *saved_as("nv show interface lldp -o json", "nv show interface --view=lldp -o json"),
    *saved_as("net show interface all json", "net show lldp", "lldpctl -f xml", "docker exec lldp lldpctl -f xml"),
    *saved_as("lldpctl", "lldpcli show neighbors details", "lldpcli show neighbors"),
    *saved_as("nv show interface lldp-detail", "display lldp neighbor-information"),
    *saved_as("show lldp neighbors-info detail", "show lldp table", "nv show interface lldp", "nv show interface"),
    *saved_as("openconfig-lldp"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(1), yields=[Neighbor], volatile=OF_SWITCHES)
def lldp_switch(answer: str, device: Device) -> Iterable[Neighbor]:
    """The neighbours in a switch's answer, whichever network OS gave it."""
    if (plain := sonic_forms.neighbors_from_table(answer)) is not None:
        return plain
    if _LLDPD_JSON.match(answer):
        return lldpd.neighbors_from_json(answer)
    document = _DOCUMENT.match(answer)
    if document is None:
        return _from_text(answer)
    if "<" in document.group():
        root = root_of(answer)
        return lldpd.neighbors_from_xml(root) if root.tag == "lldp" else junos_forms.neighbors_from_xml(tree_of(root))
    return _from_json(unwrapped(answer), answer)


def _from_json(document: Any, answer: str) -> Iterable[Neighbor]:
    keys = document if isinstance(document, dict) else {}
    if "lldpNeighbors" in keys:
        return eos_forms.neighbors_from_json(document)
    if not nxos_forms.LLDP_KEYS.isdisjoint(keys):
        return nxos_forms.neighbors_from_json(document)
    if not junos_forms.LLDP_KEYS.isdisjoint(keys):
        return junos_forms.neighbors_from_json(document)
    if model_forms.lldp_is_model(answer):  # parses the whole answer, so it comes last
        return model_forms.neighbors_from_model(document)
    if not isinstance(document, dict):
        raise UnreadableError("JSON that is not an object")
    if "lldp" in document:
        return lldpd.neighbors_from_json(answer)
    if cumulus_forms.lldp_is_json(document):
        return cumulus_forms.neighbors_from_json(document)
    raise UnreadableError("JSON that does not speak of LLDP neighbours")


def _from_text(answer: str) -> Iterable[Neighbor]:
    rows = lines(answer)
    text = "\n".join(rows)
    if eos_forms.LLDP_HEADING.search(text):
        return eos_forms.neighbors_from_text(text)
    if _LLDPD_KEYVALUE.search(text):
        return lldpd.neighbors_from_keyvalue(text)
    if cumulus_forms.LLDP_HEADING.search(text):
        return cumulus_forms.neighbors_from_text(text)
    if _LLDPD_PLAIN.search(text):
        return lldpd.neighbors_from_plain(text)
    if (framed := sonic_forms.neighbors_from_cli(rows)) is not None:
        return framed
    if cumulus_forms.interface_is_table(rows):
        return cumulus_forms.neighbors_from_table(rows)
    if lldp_text.is_table(rows):
        return lldp_text.boxed_neighbors(rows)
    if _BLOCK.search(text) or lldp_text.VRP.search(text):
        return lldp_text.block_neighbors(text, rows)
    if table := lldp_tables.header(rows):
        return lldp_tables.neighbors(text, rows, table)
    if _NOBODY.search(text) or lldp_tables.announced(text) == 0:
        return ()
    raise UnreadableError("not an answer about LLDP neighbours", line=1, text=rows[0])
