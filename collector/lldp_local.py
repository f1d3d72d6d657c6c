"""The port id that each port of a switch sends in LLDP, as the switch reports it: SONiC, lldpd, Junos.

Question: what do neighbours hear of each port? SONiC sends a port's alias (`etp1` for `Ethernet0`) and Junos the SNMP
index (`513` for `xe-0/0/0`): a neighbour's report of this id names no port until the switch reports whose id it is.

| network OS | answers |
|---|---|
| SONiC | `show interfaces alias` |
| lldpd (Cumulus Linux, Linux) | `lldpcli -f json0 show interfaces`, `-f json` |
| Junos | `show lldp local-information`, as text, `\\| display json`, `\\| display xml` |
| Arista EOS | `show lldp local-info` |

Sources: sonic-utilities `tests/interfaces_test.py` and `show/interfaces` (a port without alias repeats its name);
lldpd's `src/client/show.c` and a real daemon; the elements of `lldp-local-info` as czerwonk/junos_exporter
`pkg/features/lldp/rpc.go` reads them, Juniper's "show lldp local-information" (Interface ID: the port component of the
sent id); for text `collector/_lldp_local_text.py`.

Traps:

- lldpmgrd sets SONiC's alias once it has run: before, all ports send one MAC. An alias may look like another
  port's name (`Ethernet1` is `Ethernet0` of the 7050QX-32S).
- lldpd sends a port's MAC by default: it adds nothing to the list of interfaces, and is skipped.
- `show neighbors` of lldpd has the same outer shape, and its ids are those of neighbours: refused.
- Junos with `port-id-subtype interface-name` repeats the name: reported unchanged. EOS always does.
- NX-OS has no such answer: `show lldp all` and `show lldp interface` show which ports send, not under which id. They
  are refused by name.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from collector import _lldpd
from collector._answer import is_json, lines
from collector._documents import unwrapped
from collector._lldp_local_text import from_text
from collector._lldp_volatile import LLDPD
from collector._ruled_table import rows, tables
from collector._xml_document import root_of
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, PortIdentity, collector, minutes

_JUNOS, _PORT = "lldp-local-info", "lldp-local-interface-info"
_NAME, _ID = "lldp-local-interface-name", "lldp-local-interface-id"
_WRAPPED, _MEMBER = "multi-routing-engine-results", "multi-routing-engine-item"


@collector(
    on=SWITCHES,
    ask=[
        Command("show interfaces alias", ("sonic",)),
        Command("lldpcli -f json0 show interfaces", ("cumulus", "linux")),
        Command("lldpcli show interfaces -f json0", ("cumulus", "linux")),
        Command("lldpcli -f json show interfaces", ("cumulus", "linux")),
        Command("lldpcli show interfaces -f json", ("cumulus", "linux")),
        Command("show lldp local-information | display json", ("junos",)),
        Command("show lldp local-information | display json | no-more", ("junos",)),
        Command("show lldp local-information | display xml", ("junos",)),
        Command("show lldp local-information", ("junos",)),
        Command("show lldp local-info", ("eos",)),
    ],
    every=minutes(5),
    yields=[PortIdentity],
    volatile=LLDPD,
    optional=True,
)
def lldp_local(answer: str, device: Device) -> Iterable[PortIdentity]:
    """A `PortIdentity` for each port whose id is reported. Raises `UnreadableError`."""
    markup = answer.lstrip().startswith("<") or f"<{_JUNOS}" in answer
    pairs = _from_xml(answer) if markup else _from_json(answer) if is_json(answer) else _from_text(answer)
    return [PortIdentity(port, sent) for port, sent in pairs]


def _from_text(answer: str) -> Iterable[tuple[str, str]]:
    text = lines(answer)
    pairs = from_text(answer, text)
    if pairs is not None:
        return pairs
    found = [table for table in tables(answer) if table.labels == ("name", "alias")]
    if not found:
        raise UnreadableError("not the ids that a switch's ports send", line=1, text=text[0])
    aliases = [(name, alias) for _, (name, alias) in rows(found, "name", "alias")]
    if not aliases:
        raise UnreadableError("labels without a port below: the table is cut", line=len(text))
    return [(name, alias) for name, alias in aliases if alias not in ("N/A", "-")]


def _from_json(answer: str) -> Iterable[tuple[str, str]]:
    document = unwrapped(answer)
    if isinstance(document, dict) and "lldp" in document:
        return _lldpd.own_ids(document)
    if isinstance(document, dict) and (_JUNOS in document or _WRAPPED in document):
        return _from_junos(document)
    raise UnreadableError("JSON that does not say what the ports send in LLDP")


def _from_junos(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for results in document.get(_WRAPPED, ()):
        for member in results[_MEMBER]:
            yield from _from_junos(member)
    for information in document.get(_JUNOS, ()):
        for port in information.get(_PORT, ()):
            leaves = {name: str(values[0]["data"]) for name, values in port.items() if name in (_NAME, _ID)}
            if leaves.get(_NAME) and leaves.get(_ID):
                yield leaves[_NAME], leaves[_ID]


def _from_xml(answer: str) -> Iterator[tuple[str, str]]:
    elements = [*root_of(answer).iter()]
    if not any(element.tag.rpartition("}")[2] == _JUNOS for element in elements):
        raise UnreadableError(f"XML without {_JUNOS}")
    for element in elements:
        if element.tag.rpartition("}")[2] == _PORT:
            leaves = {leaf.tag.rpartition("}")[2]: (leaf.text or "").strip() for leaf in element}
            if leaves.get(_NAME) and leaves.get(_ID):
                yield leaves[_NAME], leaves[_ID]
