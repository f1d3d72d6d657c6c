"""What each network port of a host has counted, as its driver names it.

Question: how much did each port carry, on which priorities was it paused, what did it lose, how often did it go down?
Needs: `ethtool` (any user, no root); else iproute2 for JSON, which knows the kernel's own few counters only.

Formats: `ethtool -S` of any driver, `name: value` on each line below `NIC statistics:`; `ip -s -j link`. Live, one
loop asks all physical ports that are no virtual functions, with the command above each answer, leaves out what is
counted by ring or queue (most of an answer), and adds the kernel's `carrier_down_count`, which every driver has.
Sources of the names: Linux mlx5 `counters.rst`, `bnxt_ethtool.c`, `ice_ethtool.c`, `i40e_ethtool.c`, `ena_ethtool.c`;
recorded answers.

Traps:

- `ethtool --json -S` is refused by ethtool: its text is read. The answer does not name its port: the command above it
  does, or its bare name in a frame (`=== eth0 ===`); without either, `port` is empty.
- Names have blanks, dots and colons in them (`duplicate metric`, `port.rx_dropped`, `[0]: rx_discards`): the value is
  what follows the last colon.
- mlx5 prints `rx_prio3_pause` only while PFC is on for priority 3: a counter that is not there is not told, not zero.
  So is one without a number (`N/A`). What is counted by `cos` is a queue's, not a priority's.
- mlx5's `rx_bytes` and all of `ip -s link` leave out what RDMA carries, its `rx_bytes_phy` does not. So the names in
  `ip -s -j link` are those of its JSON (`stats64.rx.bytes`), which no rule takes for what the wire carried.
- A driver without counters says `no stats available`: such a port is left out.
- An answer that ends inside a line is refused. One that ends without a line feed may have lost digits of its last
  value, unless that is 0: that counter is left out.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from collector._answer import is_json, lines
from collector._counted import may_be_cut, not_told, number, port_counters
from collector._ethtool import Section, asks, is_prompt, sections
from collector._links import interfaces
from truerail.model import Command, Device, PortCounters, Role, Unreadable, collector, minutes

_LIVE = (
    "command -v ethtool >/dev/null || exit 127; for d in /sys/class/net/*/device; do n=${d%/*}; [ -e $d/physfn ] || "
    '{ echo "# ethtool -S ${n##*/}"; ethtool -S ${n##*/} | grep -Ev "^ *(\\[|ch[0-9]|[rt]x-?[0-9]|([rt]x_)?queue_[0-9])"; '
    'sed "s/^/carrier_down_count: /" $n/carrier_down_count; }; done; :'
)
_ASKED = asks("ethtool", "(?:-S|--statistics)")
_NUMBERS = re.compile(r"[0-9]{1,19}(?: [0-9]{1,19})*")
_TITLE = "NIC statistics:"
_NO_COUNTERS = re.compile(r"\s*(?:no stats available|Cannot get |netlink error: )")


@collector(
    on=[Role.HOST],
    ask=[
        Command(text)
        for text in (
            _LIVE,
            "ethtool -S {port}",
            "ip -s -j link",
            "ip -j -s link",
            "ip -s -j link show",
            "ip -j -s -d link",
            "ip -s -j -d link",
        )
    ],
    every=minutes(1 / 6),
    yields=[PortCounters],
)
def nic_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port that counts, in the answer's order. Raises `Unreadable`."""
    if is_json(answer):
        found = [_of_link(entry) for entry in interfaces(answer) if _statistics(entry)]
    else:
        found = list(_of_ports(answer))
    if not found:
        raise Unreadable("no port's counters in it")
    return list({one.port: one for one in found}.values())


def _of_ports(answer: str) -> Iterator[PortCounters]:
    text = lines(answer)
    for section in sections(text, "ethtool", _ASKED):
        body, line = _trimmed(section)
        if not body:
            continue
        last = section.line + len(section.lines) > len(text)
        names, values = _counted_fast(body) or _counted(body, line)
        if last and text[-1]:
            names, values = _whole(answer, body[-1], names, values, line + len(body) - 1)
        if names:
            yield port_counters(section.port, names, values)


def _trimmed(section: Section) -> tuple[Sequence[str], int]:
    """The lines of an answer without title and blank ends, and the number of the first."""
    begin, end = 0, len(section.lines)
    while end and (not section.lines[end - 1].strip() or is_prompt(section.lines[end - 1])):
        end -= 1
    while begin < end and section.lines[begin].strip() in ("", _TITLE):
        begin += 1
    return section.lines[begin:end], section.line + begin


def _counted_fast(body: Sequence[str]) -> tuple[list[str], list[int]] | None:
    """Names and values where every line is a counter; a driver may print two thousand."""
    parts = [line.rpartition(": ") for line in body]
    values = [value for _, _, value in parts]
    if not _NUMBERS.fullmatch(" ".join(values)):
        return None
    names = [name.strip() for name, _, _ in parts]
    return (names, list(map(int, values))) if all(names) else None


def _counted(body: Sequence[str], line: int) -> tuple[list[str], list[int]]:
    """The same where some lines are something else."""
    names: list[str] = []
    values: list[int] = []
    for at, text in enumerate(body, line):
        name, colon, value = (part.strip() for part in text.rpartition(":"))
        if not text.strip() or not_told(value) or _NO_COUNTERS.match(text):
            continue
        if not colon or not name:
            raise Unreadable("not a counter and its value, or cut short", line=at, text=text)
        values.append(number(value, at, text))
        names.append(name)
    return names, values
