"""The queues in Junos' `show interfaces queue`: a paragraph for each queue below its port.

`Queued:` begins what came to a queue, `Transmitted:` what it sent and, below that, what it dropped, by kind. Sources:
answers of EX, MX and QFX in public articles. Traps:

- Ingress queues, before the egress queues of a port, count what other ports sent to it: they are skipped.
- Some chips report only the total of drops, and `Not Available` for a kind of them: then the total counts alone.
- Rates stand behind the counters.
"""

import re
from collections.abc import Sequence

from collector._tally import Tally, count, priority, summed
from truerail.model import Counter, PortCounters

_PORT = re.compile(r"[ \t]*Physical interface: ([\w/.:-]+)[ \t]*,.{0,200}")
_OTHER = re.compile(r"[ \t]*(?:Logical interface |Ingress queues:).*")
_EGRESS = re.compile(r"[ \t]*Egress queues:.*")
_QUEUE = re.compile(r"[ \t]*Queue:? (\d{1,2}), Forwarding classes?: .*")
_QUEUES = re.compile(f"^{_QUEUE.pattern}$", re.MULTILINE)
_PART = re.compile(r"[ \t]*(Queued|Transmitted):[ \t]*")
_VALUE = re.compile(r"[ \t]*([A-Z][\w-]*(?: [a-z]+)?)[ \t]*:[ \t]*(\d{1,20})(?:[ \t]+\d+ [bp]ps)?[ \t]*")
_NAMES = {"Packets": "queue_packets", "Bytes": "queue_bytes"}
_KINDS = ("Tail-dropped packets", "RED-dropped packets", "RL-dropped packets")
_ALL = "Total-dropped packets"


def is_text(answer: str) -> bool:
    """Whether the answer has such paragraphs."""
    return "Physical interface: " in answer and _QUEUES.search(answer.replace("\r", "")) is not None


def counters(text: Sequence[str]) -> list[PortCounters]:
    """The counters of each port's egress queues. Raises `UnreadableError` if there is none.

    A last line without a line feed may be cut, and is skipped.
    """
    tally, port, named = Tally(), "", ""
    of: int | None = None
    dropped: dict[str, int | None] = {}
    sent = False
    for number, line in enumerate([*text[:-1], "Queue: 99, Forwarding classes: none"], 1):
        begun, queue, part, value = (kind.fullmatch(line) for kind in (_PORT, _QUEUE, _PART, _VALUE))
        if begun or queue or _OTHER.fullmatch(line):
            if port and of is not None:
                tally.note(port, Counter("queue_drops", of), _drops(dropped))
            of, sent, dropped = priority(queue[1]) if queue else None, False, {}
        if begun:
            named = port = begun[1]
        elif _EGRESS.fullmatch(line):
            port = named
        elif _OTHER.fullmatch(line):
            port = ""
        elif part:
            sent = part[1] == "Transmitted"
        elif value and sent and port and of is not None:
            dropped[value[1]] = count(value[2], line=number)
            if value[1] in _NAMES:
                tally.note(port, Counter(_NAMES[value[1]], of), dropped[value[1]])
    return tally.some()


def _drops(reported: dict[str, int | None]) -> int | None:
    """All dropped packets; None where a kind of them may be missing."""
    if _ALL in reported:
        return reported[_ALL]
    return summed(reported.get(kind) for kind in _KINDS) if _KINDS[0] in reported else None
