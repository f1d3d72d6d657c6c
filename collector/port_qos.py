"""Lossless priorities of each port of a switch, and the action of its PFC watchdog.

Question: is every port that carries RDMA lossless on the same priority, and is it watched?

| network OS | answers |
|---|---|
| SONiC | `show pfc priority`, `show pfcwd config` |
| Arista EOS | `show priority-flow-control`, JSON and text |
| Cisco NX-OS | `show interface priority-flow-control`, text, `detail` and JSON |

Sources: sonic-utilities `pfc/main.py`, `pfcwd/main.py` and their tests, recorded answers, Cisco's NX-OS QoS guide.
Traps:

- SONiC lists only ports that have PFC settings, and only ports that the watchdog watches: if the watchdog's table is
  printed, a port with PFC that is not in it is not watched (`disabled`). Whether PFC is asymmetric is in another
  command (`show pfc asymmetric`), which is not read.
- NX-OS prints the priorities as a bitmap in hex, `(8)` for priority 3, and only where PFC is on. Its mode `Auto` means
  nothing: only the operational state counts.
- EOS' JSON has changed its keys between releases: a port that does not report whether PFC is enabled yields no fact.
"""

from collector.formats.counts import priority
from collector.formats.documents import unwrapped
from collector.formats.table import Table, rows, tables
from collector.formats.text import is_json, read_first
from collector.nos import eos_forms, nxos_qos_forms
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, PortQos, collector, commands, minutes, saved_as

_PRIORITIES = ("interface", "lossless priorities")
_WATCHDOG = ("port", "action", "detection time")


ASK = (
    Command("show pfc priority; show pfcwd config", ("sonic",)),
    *commands("eos", "show priority-flow-control | json", "show priority-flow-control"),
    *commands("nxos", "show interface priority-flow-control | json", "show interface priority-flow-control detail"),
    *saved_as("show pfc priority", "show pfcwd config", "show interface priority-flow-control"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(10), yields=[PortQos], optional=True)
def port_qos(answer: str, device: Device) -> list[PortQos]:
    """One `PortQos` for each port whose settings are reported. Raises `UnreadableError`."""
    if is_json(answer):
        documents = (nxos_qos_forms.settings, eos_forms.settings_from_json)
        return read_first(unwrapped(answer), documents, "JSON that does not speak of priority flow control")
    forms = (nxos_qos_forms.settings, nxos_qos_forms.detailed_settings, eos_forms.settings_from_text, _sonic)
    return read_first(answer, forms, "not an answer about lossless priorities", line=1)


def _has(table: Table, labels: tuple[str, ...]) -> bool:
    return set(labels) <= set(table.labels)


def _sonic(answer: str) -> list[PortQos] | None:
    """The priorities of one table and the watchdog's actions of the other, joined by the port."""
    found = tables(answer)
    if not any(_has(table, _PRIORITIES) or _has(table, _WATCHDOG) for table in found):
        return None
    paused = {port: _priorities(reported, line) for line, (port, reported) in rows(found, *_PRIORITIES)}
    actions = {port: action for _, (port, action, _) in rows(found, *_WATCHDOG)}
    unwatched = "disabled" if any(_has(table, _WATCHDOG) for table in found) else None
    return [
        PortQos(port, pfc_priorities=paused.get(port), watchdog=actions.get(port, unwatched))
        for port in dict.fromkeys((*paused, *actions))
    ]


def _priorities(reported: str, line: int) -> tuple[int, ...] | None:
    """`3,4` as numbers; None for `N/A`."""
    if reported.upper() == "N/A":
        return None
    found = [priority(part) for part in reported.split(",")]
    if None in found:
        raise UnreadableError("not a list of priorities", line=line, text=reported)
    return tuple(of for of in found if of is not None)
