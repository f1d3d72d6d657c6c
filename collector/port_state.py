"""Whether each port of a switch has link or is administratively down, as its network OS reports it.

Question: is the port up, and if not, is that configured?
Needs: a read-only login.

| network OS | answers |
|---|---|
| SONiC | `show interfaces status` |
| Arista EOS | `show interfaces status`, `show interfaces`, as JSON and text |
| Cisco NX-OS | `show interface [status\\|brief]`, as JSON and text |
| Junos | `show interfaces [media\\|extensive\\|terse]` as JSON, XML and text |
| Cumulus NVUE | `nv show interface` |
| AOS-CX | `show interface [physical\\|brief]` |
| Cisco IOS-XR | `show interfaces [brief]` |
| Dell OS10 | `show interface [status]` |
| `sonic-cli` | `show interface [status]`; `status` rests on documentation |
| Huawei VRP | `display interface`; state alone in `display interface brief` |
| Comware | `display interface [brief]` |
| Nokia SR Linux | `info from state interface * \\| as json`; rests on documentation |
| OpenConfig | JSON of `openconfig-interfaces`, by gNMI or RESTCONF; rests on documentation |

The answers are those of `link_speed` and are requested once. Each port becomes an interface with the kernel's words for
its state: `UP` and `LOWER_UP`, `NO-CARRIER`, and no `UP` among its flags if it is administratively down. Traps:

- One table, `formats/port_words.py`, maps words to administratively down, a missing module, no light, or an error.
- NX-OS prints `is down (XCVR not inserted)` even if the port is administratively down: `admin state is down`, in the
  line below, shows that. `inactive`, `suspended`, `channelDown` and the like leave the port's state unknown.
- The table of OS10's `show interface status` has no administrative state: a port switched off there reads as down. Its
  `show interface` has it, and is asked first.
- MTU comes from SONiC's table, where it is the kernel's. Junos includes the Ethernet header, EOS and NX-OS print it
  elsewhere: not read.
"""

from collector.formats.port_statuses import ASK, answer_statuses
from collector.formats.port_words import PortState, flags
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import SWITCHES, Device, NetLink, collector, minutes


@collector(on=SWITCHES, ask=ASK, every=minutes(1), yields=[NetLink], megabytes=16, shared=True, optional=True)
def port_state(answer: str, device: Device) -> list[NetLink]:
    """One `NetLink` for each port whose state is reported. Raises `UnreadableError`."""
    reported = answer_statuses(answer)
    if not reported:
        raise UnreadableError("not an answer about the state of ports", line=1, text=answer.strip().split("\n")[0])
    if all(port.up is None for port in reported):
        raise NoAnswerError("no port's state in it")
    return [
        NetLink(
            port.port,
            mtu=port.mtu,
            operstate="UP" if port.up else "DOWN",
            flags=flags(PortState(port.up, port.enabled)),
            aliases=(port.alias,) if port.alias else (),
            down_reason=port.reason,
        )
        for port in reported
        if port.up is not None
    ]
