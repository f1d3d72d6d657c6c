"""Answers that have a paragraph for each port, as IOS-XR, Dell OS10, SONiC's `sonic-cli`, VRP and Comware print them.

| network OS | command | a paragraph begins with |
|---|---|---|
| IOS-XR | `show interfaces` | `FourHundredGigE0/0/0/0 is up, line protocol is up` |
| Dell OS10, sonic-cli | `show interface` | `Ethernet 1/1/1 is up, line protocol is down` |
| VRP, Comware 5 | `display interface` | `100GE1/0/1 current state : UP`, in Comware behind a blank |
| Comware 7 | `display interface` | the port's name alone, then `Current state: UP` |

Sources: recorded answers in ntc-templates (cisco_xr, huawei_vrp, hp_comware), public answers of OS10, the template
`show_interface.j2` of SONiC's management framework.

Traps:

- Dell's and SONiC's first word is the admin state, and the line protocol is the link. Elsewhere the first word is the
  link. The line `LineSpeed` shows whose paragraph it is.
- Only ports of the chassis are read: no aggregates, VLANs, loopbacks, subinterfaces.
- A description may say anything, but stands in its own line behind `Description:`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from collector._port_words import PortState, of_word, of_words

_LINE = re.compile(
    r"(?P<port>[A-Za-z][A-Za-z-]* ?\d+(?:/[A-Z]*\d+)*(?::\d+)?) is (?P<first>administratively down|up|down), "
    r"line protocol is (?P<second>administratively down|up|down)\b.{0,120}"
)
_CURRENT = re.compile(r" ?(?P<port>[A-Za-z0-9][\w/:-]*) current state ?: ?(?P<state>.{1,120})")
_BELOW = re.compile(r"[ \t]*Current state: ?(?P<state>.{1,120})")
_CHASSIS = re.compile(
    r"(?=\d*[A-Za-z])\d*[A-Za-z][A-Za-z-]*(?: ?\d+(?:/[A-Z]*\d+)+(?::\d+)?|(?<=Ethernet) ?\d+(?::\d+)?)"
)
_DELL = re.compile(r"[ \t]*LineSpeed (?P<speed>\d+[MGT])(?:B|bps|bit)?\b.{0,200}")


class Paragraph(NamedTuple):
    """One port: its name, its state, the speed where Dell's line has it, and its lines with their 1-based numbers."""

    port: str
    state: PortState
    line_speed: str | None
    lines: list[tuple[int, str]]


def paragraphs(text: Sequence[str]) -> list[Paragraph]:
    """The ports of the chassis in the lines of an answer, in its order; none if it has no such paragraphs."""
    begun: list[tuple[re.Match[str] | None, str, list[tuple[int, str]]]] = []
    for number, line in enumerate(text, 1):
        named = _BELOW.fullmatch(line) and number > 1 and _CHASSIS.fullmatch(text[number - 2].strip())
        head = _LINE.fullmatch(line) or _CURRENT.fullmatch(line)
        if named:
            begun.append((_BELOW.fullmatch(line), text[number - 2].strip(), []))
        elif head:
            begun.append((head, head["port"], []))
        elif begun:
            begun[-1][2].append((number, line))
    return [_paragraph(head, port, lines) for head, port, lines in begun if head and _CHASSIS.fullmatch(port)]


def _paragraph(head: re.Match[str], port: str, lines: list[tuple[int, str]]) -> Paragraph:
    dell = next((found for _, line in lines if (found := _DELL.fullmatch(line))), None)
    words = head.groupdict()
    if "state" in words:
        state = _displayed(words["state"])
    elif dell:
        state = of_words(words["second"], words["first"])
    else:
        state = _linked(words["first"])
    return Paragraph(port, state, dell["speed"] if dell else None, lines)


def _linked(word: str) -> PortState:
    return of_words("down", "down") if "admin" in word else of_words(word, "up")


def _displayed(words: str) -> PortState:
    """The state from `UP`, `DOWN`, `Administratively DOWN`, `ERROR DOWN(link-flap)`, `DOWN (Transceiver offline)`."""
    low = words.strip().lower()
    if "administratively" in low or low.startswith("*down"):
        return of_words("down", "down")
    if low.startswith("error down"):
        return PortState(up=False, enabled=True, reason="error-disabled")
    if "link-aggregation interface down" in low:
        return PortState()
    word = low.partition("(")[0].strip()
    return of_words(word, "up") if word in ("up", "down") else of_word(word)
