"""Counters of each network port of a host, under the driver's names.

Question: how much did each port carry and lose, on which priorities was it paused, how often did it go down?
Needs: `ethtool` (any user, no root); else iproute2 for JSON, which has only the kernel's own few counters.

Formats: `ethtool -S` of any driver, `name: value` on each line below `NIC statistics:`; `ip -s -j link`. Live, one
loop reads all physical ports except virtual functions, with the command above each answer, drops counters by ring or
queue (most of an answer), and adds the kernel's `carrier_down_count`, which every driver has.
Sources of the names: Linux mlx5 `counters.rst`, `bnxt_ethtool.c`, `ice_ethtool.c`, `i40e_ethtool.c`, `ena_ethtool.c`;
`ionic_stats.c`, recorded answers.

Traps:

- ethtool refuses `ethtool --json -S`: its text is read. The answer does not name its port: the command above it does,
  or its bare name in a frame (`=== eth0 ===`) or above the title; else `port` is empty, and two answers are refused.
- Names contain blanks, dots and colons (`duplicate metric`, `port.rx_dropped`, `[0]: rx_discards`): the value follows
  the last colon.
- mlx5 prints `rx_prio3_pause` only while PFC is on for priority 3: a missing counter is not reported, not zero. So is
  one without a number (`N/A`). A counter by `cos` is a queue's, not a priority's.
- mlx5's `rx_bytes` and all of `ip -s link` exclude RDMA traffic, its `rx_bytes_phy` includes it. So the counters of
  `ip -s -j link` keep the names of its JSON (`stats64.rx.bytes`), which no rule uses as traffic on the wire.
- ionic's `rx_bytes` are those of its own rings, `octets_rx_ok` the wire's; bnxt_en's are the wire's, bnxt_re's RDMA
  alone. No rule uses them for an unknown driver: the rate of such a port is unknown.
- Skipped: a counter of all ones, which ionic could not read, and a port without counters (`no stats available`).
- An answer that ends inside a line is refused. One that ends without a line feed may have lost digits of its last
  value, unless that is 0: that counter is skipped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from collector.formats.counts import all_counts, may_be_cut, name_count, not_reported, port_counters, read_values
from collector.formats.ethtool import ASKED, NO_COUNTERS, TITLE
from collector.formats.ip_links import interfaces
from collector.formats.text import Section, is_json, is_prompt, lines, sections
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Device, PortCounters, Role, collector, commands, minutes, saved_as

_LIVE = (
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in */device; do n=${n%/*}; "
    '[ -e $n/device/physfn ] || { echo "# ethtool -S $n"; '
    'ethtool -S $n | grep -Ev "^ *(\\[|ch|[rt]x-?|([rt]x_)?queue_)[0-9]"; '
    "echo carrier_down_count: $(cat $n/*down_count); }; done; :"
)
_NAMED = re.compile(r"\s*([^\s:]{1,64}):?\s*")
"""The line of a script (`echo $port`) above the title."""
_NO_NAME = re.compile(r"=|^/|:\s\s")
"""No driver's counter has such a name; rows of an SNMP walk, of a job, of sysfs and behind `pdsh`'s host have."""


ASK = (*commands("", _LIVE, "ip -s -j link"), *saved_as("ethtool -S {port}", "ip -s -j -d link"))


@collector(on=[Role.HOST], ask=ASK, every=minutes(1 / 6), yields=[PortCounters], optional=True)
def nic_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port with counters, in the answer's order; of two answers for one port the later.

    Raises `UnreadableError`, also if no port has counters.
    """
    return _last(_of_links(answer)) if '"' in answer and is_json(answer) else read_values(answer, _of_text)


def _of_text(answer: str) -> list[PortCounters]:
    return _last(_of_ports(answer))


def _last(found: Iterable[PortCounters]) -> list[PortCounters]:
    last = {one.port: one for one in found}
    if not last:
        raise NoAnswerError("no port's counters in it")
    return list(last.values())


def _of_ports(answer: str) -> Iterator[PortCounters]:
    text = lines(answer)
    for section in (one for asked in sections(text, "ethtool", ASKED) for one in _titled(asked)):
        body, line = _trimmed(section)
        if body and line + len(body) - 1 == len(text):
            body = _sure(answer, body, len(text))
        names, values = _all_counters(body) or _counters(body, line)
        if names and 2 * len(set(names)) <= len(names):
            raise UnreadableError("each counter twice: of several ports, which no line names", line=line, text=names[0])
        if names:
            yield port_counters(section.port, names, values)


def _titled(section: Section) -> Iterator[Section]:
    """An answer cut at the titles that have the bare name of their port in the line above them."""
    text, port, begun = section.lines, section.port, 0
    for at in [at for at, line in enumerate(text) if TITLE in line]:
        above = next((before for before in range(at - 1, begun - 1, -1) if text[before].strip()), None)
        named = None if above is None or is_prompt(text[above]) else _NAMED.fullmatch(text[above])
        if named:
            yield Section(port, section.line + begun, text[begun:above])
            port, begun = named[1], at
    yield Section(port, section.line + begun, text[begun:])


def _trimmed(section: Section) -> tuple[Sequence[str], int]:
    """The lines of an answer without title, prompts and outer blank lines, and the number of the first."""
    begin, end = 0, len(section.lines)
    while end and (not section.lines[end - 1].strip() or is_prompt(section.lines[end - 1])):
        end -= 1
    while begin < end and section.lines[begin].strip() in ("", TITLE):
        begin += 1
    return section.lines[begin:end], section.line + begin


def _sure(answer: str, body: Sequence[str], line: int) -> Sequence[str]:
    """The lines without a last one that lacks its line feed, if its value may be cut."""
    value = body[-1].rpartition(":")[2].strip()
    if not value:
        raise UnreadableError("cut short inside a counter", line=line, text=body[-1])
    return body[:-1] if value.isdecimal() and may_be_cut(answer, value) else body


def _all_counters(body: Sequence[str]) -> tuple[list[str], list[int]] | None:
    """Names and values if every line is a counter; a driver may print two thousand."""
    parts = [line.rpartition(": ") for line in body]
    values = all_counts([value for _, _, value in parts])
    names = [name.strip() for name, _, _ in parts]
    return (names, values) if values and all(names) and not any(map(_NO_NAME.search, names)) else None


def _counters(body: Sequence[str], line: int) -> tuple[list[str], list[int]]:
    """The same if some lines are something else."""
    names: list[str] = []
    values: list[int] = []
    for at, text in enumerate(body, line):
        name, colon, value = (part.strip() for part in text.rpartition(":"))
        if not text.strip() or NO_COUNTERS.match(text) or (colon and not_reported(value)):
            continue
        if not name or _NO_NAME.search(name):
            raise UnreadableError("not a counter and its value, or cut short", line=at, text=text)
        values.append(name_count(value, at, text))
        names.append(name)
    return names, values


def _of_links(answer: str) -> Iterator[PortCounters]:
    for link in interfaces(answer):
        if counted := dict(_flat("stats64", link.get("stats64"))):
            yield port_counters(link["ifname"], counted, counted.values())


def _flat(name: str, counted: Any) -> Iterator[tuple[str, int]]:
    """The counters in a document, each under its path."""
    if isinstance(counted, Mapping):
        for key, value in counted.items():
            yield from _flat(f"{name}.{key}", value)
    elif type(counted) is int and not not_reported(str(counted)):
        yield name, name_count(str(counted), 0, name)
