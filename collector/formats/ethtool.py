"""Port counters of a Linux switch: `ethtool -S` of each port, with the command above its answer.

Cumulus Linux' names begin with `HwIf`, those of the kernel's mlxsw driver follow IEEE 802.3 and RFC 2863. Both count
pause frames by priority. Other names are kept, in lower_snake_case.
"""

import re
from functools import lru_cache

from collector.formats.counts import Tally, both_ways, count, own, summed, words
from collector.formats.text import Section, asks, is_prompt, lines, sections
from truerail.errors import UnreadableError
from truerail.model import Command, Counter, PortCounters

TITLE = "NIC statistics:"
LIVE = Command(
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in *; do [ -e $n/device ] || case $n in swp*) ;; *) "
    'continue;; esac; echo "# ethtool -S $n"; ethtool -S $n; echo carrier_down_count: $(cat $n/*down_count); done; :',
    ("cumulus", "linux"),
)
"""Run once for all its parsers: physical ports, and those that Cumulus' switchd creates."""

NO_COUNTERS = re.compile(r"\s*(?:no stats available|Cannot get |netlink error: )")
_COUNTED = re.compile(r"[ \t]*(\w+)[ \t]*:[ \t]*([0-9]{1,19})[ \t]*")
ASKED = asks("ethtool", "(?:-S|--statistics)")
_NAMES = {
    **both_ways("HwIfIn", "HwIfOut", {"Octets": "bytes", "Discards": "discards", "Errors": "errors"}),
    **both_ways("HwIfIn", "HwIfOut", {"UcastPkts": "packets", "McastPkts": "packets", "BcastPkts": "packets"}),
    **both_ways("HwIfIn", "HwIfOut", {"PausePkt": "global_pause_frames"}),
    **both_ways("if_in_", "if_out_", {"discards": "discards", "errors": "errors"}),
    **both_ways("a_octets_received_ok", "a_octets_transmitted_ok", {"": "bytes"}),
    **both_ways("a_frames_received_ok", "a_frames_transmitted_ok", {"": "packets"}),
    **both_ways("a_pause_mac_ctrl_frames_received", "a_pause_mac_ctrl_frames_transmitted", {"": "global_pause_frames"}),
    **words({"a_frame_check_sequence_errors": "crc_errors", "a_symbol_error_during_carrier": "symbol_errors"}),
    **words({"carrier_down_count": "link_downs"}),
}
_WAYS = {"In": "rx", "Out": "tx"}
_BY_PRIORITY = re.compile(r"HwIf(In|Out)Pfc([0-7])Pkt|([rt]x)_(pause|pause_duration|octets|frames)_prio_([0-7])")
_OF_PRIORITY = {"pause": "pause_frames", "pause_duration": "pause_us", "octets": "bytes", "frames": "packets"}


_PAUSES = frozenset({"rx_pause_frames", "tx_pause_frames", "rx_pause_us", "tx_pause_us"})


def port_counters(answer: str) -> list[PortCounters] | None:
    """Counters of every port, without pauses. Raises `UnreadableError` if the answer ends inside a line."""
    if TITLE not in answer:
        return None
    rest, _, _ = _tallied(answer)
    return rest.some()


def pfc_counters(answer: str) -> list[PortCounters] | None:
    """Number and duration of pauses sent and received by every port, by priority. Raises `UnreadableError` likewise.

    No facts if the ports' driver counts no pauses: that is a valid answer, not a failure of the device.
    """
    if TITLE not in answer:
        return None
    _, pauses, reported = _tallied(answer)
    return pauses.facts() if reported else pauses.some()


@lru_cache(maxsize=2)
def _tallied(answer: str) -> tuple[Tally, Tally, bool]:
    """What is no pause, pauses, and whether any port was named. Both collectors read the same answer, one after the
    other.
    """
    found, named = (Tally(), Tally()), False
    text = lines(answer)
    for section in sections(text, "ethtool", ASKED):
        names, values = _reported(section, len(text))
        named = named or bool(section.port and names)
        for tally, layout in zip(found, _layout(names), strict=True):
            summed_up = [
                values[at[0]] if len(at) == 1 else summed([values[one] for one in at]) for at in layout.values()
            ]
            tally.set(section.port, layout, summed_up)
    return *found, named


def _reported(section: Section, last: int) -> tuple[tuple[str, ...], list[int | None]]:
    """The names and values of one port. A value at the end of the answer may have lost digits."""
    names, values = [], list[int | None]()
    for at, line in enumerate(section.lines, section.line):
        found = _COUNTED.fullmatch(line)
        if found is None:
            if line.strip() in ("", TITLE) or is_prompt(line) or NO_COUNTERS.match(line):
                continue
            name, colon, reported = (part.strip() for part in line.rpartition(":"))
            if not colon:
                raise UnreadableError("not a counter and its value, or cut short", line=at, text=line)
            value = count(reported, line=at) if at != last or reported == "0" else None
        else:
            name, reported = found.groups()
            value = int(reported) if at != last or reported == "0" else None
        names.append(name)
        values.append(value)
    return tuple(names), values


@lru_cache(maxsize=16)
def _layout(names: tuple[str, ...]) -> tuple[dict[Counter, list[int]], dict[Counter, list[int]]]:
    """Where the values of each counter are, among those that are no pauses and among pauses. Counters of one name are
    summed: unicast, multicast and broadcast. The ports of a switch have the same names.
    """
    found: tuple[dict[Counter, list[int]], dict[Counter, list[int]]] = ({}, {})
    for at, name in enumerate(names):
        counter = _named(name)
        found[counter.counter in _PAUSES].setdefault(counter, []).append(at)
    return found


@lru_cache(maxsize=4096)
def _named(name: str) -> Counter:
    if found := _BY_PRIORITY.fullmatch(name):
        way, counted = found[3] or _WAYS[found[1]], _OF_PRIORITY[found[4] or "pause"]
        return Counter(f"{way}_{counted}", int(found[2] or found[5]))
    return _NAMES.get(name) or own(name)
