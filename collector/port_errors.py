"""Errors of each port of a switch, on systems with a separate command for them: EOS and NX-OS.

Question: how many frames were damaged, dropped or not sent on each port?

Formats: EOS `show interfaces counters errors | json`; NX-OS `show interface counters errors`, tables and JSON. Other
systems report errors in the answers that `port_counters` reads, and this collector does not poll them. Sources:
recorded answers; NTC's and Genie's tests.

Traps: those of `port_counters`. NX-OS prints `--` for a counter that a port lacks, which is not 0. `Stomped-CRC` frames
were damaged on another link and forwarded: they are among the CRC errors, and no fault of this port's cable.
"""

from collector.formats.documents import unwrapped
from collector.formats.text import is_json, object_of, read_first
from collector.nos import eos_forms, nxos_forms
from truerail.model import SWITCHES, Command, Device, PortCounters, collector, commands, minutes

ASK = (
    Command("show interfaces counters errors | json", ("eos",)),
    *commands("nxos", "show interface counters errors | json", "show interface counters errors"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(1 / 6), yields=[PortCounters], optional=True)
def port_errors(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port with error counters. Raises `UnreadableError`."""
    read = _from_document if is_json(answer) else nxos_forms.port_from_text
    return read_first(answer, [read], "not an answer about errors of ports", line=1)


def _from_document(answer: str) -> list[PortCounters] | None:
    found = unwrapped(answer)
    of_eos = "interfaceErrorCounters" in object_of(found)
    return eos_forms.port_from_json(found) if of_eos else nxos_forms.port_from_json(found)
