"""LLDP neighbours as the host itself hears them.

Question: which port of which device does this host hear on each of its interfaces?
Needs: a running lldpd (`lldpcli` is setuid and open to group `adm`, so the user is root or in it), else
systemd-networkd with `LLDP=yes` on the links, else lldpad.

Formats, distinguished by their shape: lldpd's json0, json, xml, keyvalue and plain forms; `networkctl lldp` as JSON and
as a table; `lldptool -t -n -i IF`. Sources: lldpd's `src/client`, systemd's `networkctl-lldp.c`, Open-LLDP's
`lldp_basman_clif.c`, answers of real daemons.

Traps:

- `json` changes its shape with the number and the names of the neighbours; `json0` does not, so it is tried first.
- Two neighbours on one port are normal for up to two minutes after a silent swap: both are reported, in order.
- The port description may be the planned label, and the port id a MAC: both are reported unchanged.
- A NIC's firmware may consume LLDP, so that the host hears no neighbour: that is an empty answer, and no error.
- `networkctl` cuts long cells with an ellipsis unless `--full`: a cut name is not reported, the rest of the row is.
- `lldptool` answers for one interface and does not name it. The name comes from a line before the answer
  (`lldptool -t -n -i eth0`, `Interface: eth0`, `eth0:`); without one, the neighbour's `port` is empty.
- A system description may contain line feeds, and lldptool does not indent the text after them.
"""

import re
from collections.abc import Iterable

from collector._answer import is_json, lines
from collector._lldp_volatile import LLDPD
from collector._lldpd import neighbors_from_json, neighbors_from_keyvalue, neighbors_from_plain, neighbors_from_xml
from collector._lldptool import neighbors_from_lldptool
from collector._networkctl import is_table, neighbors_from_networkctl_json, neighbors_from_table
from collector._xml_document import root_of
from truerail.errors import UnreadableError
from truerail.model import Command, Device, Neighbor, Role, collector, minutes

_XML = re.compile(r"^[ \t]*<(?:lldp\b|\?xml\b)", re.MULTILINE)
_FIRST_KEY = 400
"""A document's first key is within this many characters, including a prompt; lldpd's answers are long."""


@collector(
    on=[Role.HOST],
    ask=[
        Command(text)
        for text in (
            "lldpcli show neighbors details -f json0",
            "lldpcli -f json0 show neighbors details",
            "lldpcli show neighbors -f json0",
            "lldpcli -f json0 show neighbors",
            "lldpctl -f json0",
            "lldpctl -f json",
            "lldpcli show neighbors details -f json",
            "lldpcli -f json show neighbors details",
            "lldpcli show neighbors -f json",
            "lldpcli -f json show neighbors",
            "lldpctl -f keyvalue",
            "lldpcli show neighbors details -f keyvalue",
            "lldpcli -f keyvalue show neighbors details",
            "lldpcli show neighbors -f keyvalue",
            "lldpcli -f keyvalue show neighbors",
            "lldpctl -f xml",
            "lldpcli show neighbors details -f xml",
            "lldpcli show neighbors -f xml",
            "lldpcli -f xml show neighbors",
            "lldpctl",
            "lldpcli show neighbors details",
            "lldpcli show neighbors",
            "networkctl lldp --json=short",
            "networkctl --json=short lldp",
            "networkctl lldp --json=pretty",
            "networkctl lldp --full",
            "networkctl --full lldp",
            "networkctl lldp --no-pager",
            "networkctl lldp",
            "lldptool -t -n -i {port}",
        )
    ],
    every=minutes(1),
    yields=[Neighbor],
    volatile=LLDPD,
)
def lldp_host(answer: str, device: Device) -> Iterable[Neighbor]:
    """One `Neighbor` for each neighbour on each interface, in the answer's order. Raises `UnreadableError`."""
    if is_json(answer):
        of_networkctl = '"Neighbors"' in answer[:_FIRST_KEY]
        return neighbors_from_networkctl_json(answer) if of_networkctl else neighbors_from_json(answer)
    if _XML.search(answer):
        return neighbors_from_xml(root_of(answer))
    if "LLDP neighbors:" in answer or ", via: " in answer:
        return neighbors_from_plain(answer)
    if ".via=" in answer:
        return neighbors_from_keyvalue(answer)
    if "Chassis ID TLV" in answer:
        return neighbors_from_lldptool(answer)
    text = lines(answer)
    if is_table(text):
        return neighbors_from_table(text)
    raise UnreadableError("not a list of LLDP neighbours", line=1, text=text[0])
