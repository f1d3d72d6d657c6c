"""States and speeds in the paragraphs of `collector/_port_paragraphs.py`.

Speeds: `Full-duplex, 400000Mb/s, ...` (IOS-XR), `LineSpeed 100G, Auto-Negotiation off` (Dell OS10), `LineSpeed 25GB`
(sonic-cli), `Speed : 100000,  Loopback: NONE` (VRP, in Mb/s), `100Gbps-speed mode, full-duplex mode` (Comware).
"""

import re
from collections.abc import Sequence

from collector._port_paragraphs import Paragraph, paragraphs
from collector._speed_status import PortStatus, gbps, status

_XR = re.compile(r"[ \t]+(?:Full|Half)-duplex, (\d+Mb/s),.{0,200}", re.IGNORECASE)
_VRP = re.compile(r"[ \t]*Speed[ \t]*:[ \t]*(\d{2,7}),.{0,200}")
_COMWARE = re.compile(r"[ \t]*(\d{1,4}[MGT]bps)-speed mode ?,.{0,200}", re.IGNORECASE)


def statuses(text: Sequence[str]) -> list[PortStatus]:
    """The ports in the lines of an answer, in its order; none if it has no such paragraphs."""
    return [status(one.port, one.state, gbps(one.line_speed) or _speed(one)) for one in paragraphs(text)]


def _speed(one: Paragraph) -> float | None:
    for _, line in one.lines:
        found = _XR.fullmatch(line) or _VRP.fullmatch(line) or _COMWARE.fullmatch(line)
        if found:
            return gbps(found[1])
    return None
