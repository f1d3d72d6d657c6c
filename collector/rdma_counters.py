"""Counters of each RDMA port of a host: queue pairs' errors, congestion, and the port's own traffic and errors.

Question: how much did RDMA lose, repeat and slow down on each port, and was congestion notified?
Needs: sysfs (any user); else iproute2's `rdma`; else mlnx-tools' `show_counters`.

Formats, recognised by their shape: `path:value` lines of `grep -H .` over `/sys/class/infiniband/*/ports/*/hw_counters`
and `counters`, with any part of the path before the device; the same files in a `ttar` archive; `rdma statistic` as
text, pretty text (`-p`) and JSON; `show_counters`. Sysfs is read first: it has the values of `rdma statistic`, and also
the port counters of InfiniBand's performance management. Sources: iproute2 `rdma/stat.c`, the kernel's
`Documentation/ABI/stable/sysfs-class-infiniband`, mlx5 `counters.c`, bnxt_re `hw_counters.c`, recorded answers.

Traps:

- `lifespan` is among the counters but is none: it is the time in milliseconds for which the kernel caches values.
- A file of sysfs may be empty, contain an error text or all ones (ionic), a tool may print `N/A`: such a counter is not
  reported, not zero. ionic's names come from its firmware and differ from release to release.
- mlx5 counts most of `hw_counters` in 32 bits and prints them as if they were wider. InfiniBand's own counters stick
  at all ones (`link_downed` at 255, `symbol_error` at 65535), and `port_xmit_data` counts units of four bytes.
- `rdma statistic` in a mail is wrapped anywhere, even between a name and its value. Optional counters follow the
  others; a prototype marked them with `Optional-set:`.
- `rdma statistic show qp` looks similar but is about queue pairs: refused. So is a counter without its value, if it is
  not the last line of an answer from sysfs. A last value without a blank or line feed after it may have lost digits:
  it is skipped.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from collector.formats.counts import is_count, may_be_cut, name_count, not_reported, port_counters, read_values
from collector.formats.sysfs import files
from collector.formats.text import PASTED, argument, is_json, is_prompt, lines, list_in
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Command, Device, PortCounters, Role, collector, minutes, saved_as

_FILES = "/sys/class/infiniband/*/ports/*/hw_counters/* /sys/class/infiniband/*/ports/*/counters/*"
_ALL_FILES = f"grep -sH . {_FILES}; :"
_PORT_FILE = re.compile(r"(?:.*/)?(?P<hca>[^/]+)/ports/(?P<port>\d+)/(?:hw_)?counters/(?P<counter>[^/]+)")
_SYSFS_SIGN = "/ports/"
_HEAD = 400
"""The first path of sysfs is within this many characters."""
_NOT_COUNTERS = frozenset(("lifespan",))
Counted = tuple[str, dict[str, int]]
"""A port, `mlx5_0/1`, and its counters."""


ASK = (
    Command(_ALL_FILES),
    *saved_as(f"grep . {_FILES}", "grep . /sys/class/infiniband/*/ports/*/*counters/*", "rdma statistic show"),
    *saved_as("grep . /sys/class/infiniband/*/ports/*/hw_counters/*", "rdma statistic show link", "rdma stat"),
    *saved_as("rdma -p statistic", "rdma -p stat", "rdma -j statistic", "rdma -jp statistic"),
    *saved_as("show_counters {port}"),
)


@collector(on=[Role.HOST], ask=ASK, every=minutes(1 / 6), yields=[PortCounters], optional=True)
def rdma_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each port of each RDMA device, named `mlx5_0/1`; of two answers for one port the later.

    Raises `UnreadableError`, also if no port has counters.
    """
    of_sysfs = _SYSFS_SIGN in answer[:_HEAD]
    return read_values(answer, _counters, before=":") if of_sysfs else _counters(answer)


def _counters(answer: str) -> list[PortCounters]:
    ports: dict[str, dict[str, int]] = {}
    read = next((read for recognised, read in _FORMS if recognised(answer)), _from_sysfs)
    for port, counted in read(answer):
        ports.setdefault(port, {}).update(counted)
    found = [port_counters(port, counted, counted.values()) for port, counted in ports.items() if counted]
    if not found:
        raise NoAnswerError("no RDMA port's counters in it", line=1, text=lines(answer)[0])
    return found


def _from_sysfs(answer: str) -> Iterator[Counted]:
    for path, value in files(answer):
        file = _PORT_FILE.fullmatch(path)
        if file and is_count(value) and file["counter"] not in _NOT_COUNTERS:
            yield f"{file['hca']}/{file['port']}", {file["counter"]: int(value)}


# ----------------------------------------------------------------------------------------------------------------------
# Lines of iproute2's `rdma`, which begins each object with `link`; mail programs may wrap them.

_ASKED = re.compile(r"\brdma\b.{0,200}\b(?:stat|res)")


def link_words(answer: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each link, including those of the lines below it up to the next link, and its line number.

    Prompts, the command itself and everything above the first link are skipped.
    """
    link: list[str] = []
    begun = 0
    for number, raw in enumerate(lines(answer), 1):
        words = raw.lstrip(PASTED).split()
        if words and words[0] == "link":
            if link:
                yield begun, link
            link, begun = words, number
        elif link and not _ASKED.search(raw) and not is_prompt(raw):
            link += words
    if link:
        yield begun, link


# ----------------------------------------------------------------------------------------------------------------------
# The counters of RDMA ports as tools print them: `rdma statistic` as text and JSON, mlnx-tools' `show_counters`.

_LINK = re.compile(r"[^\s/]+/\d+")
_NAME = re.compile(r"[A-Za-z_][\w.,-]*")
_OPTIONAL = "Optional-set:"
_QUEUE_PAIR_KEYS = frozenset(("cntn", "lqpn", "qp-type"))
_ENTRY_KEYS = frozenset(("ifindex", "ifname", "port"))
_SHOWN = re.compile(r"\bshow_(?:rdma_)?counters[ \t]+(\S+)")
_SHOWN_PORT = re.compile(r"Port (\d+)\b.*counters:")


def _from_statistic(answer: str) -> Iterator[Counted]:
    """`rdma statistic`, with at least one link in it."""
    *earlier, (last_line, last) = link_words(answer)
    if is_count(last[-1]) and may_be_cut(answer, last[-1]):
        last = last[:-2]
    for number, words in (*earlier, (last_line, last)):
        yield _counters_from_words(words, number)


def _counters_from_words(words: Sequence[str], line: int) -> Counted:
    """A link and its counters from its words: `link`, the name, then names and values in turn."""
    reported = [word for word in words[2:] if word != _OPTIONAL]
    names, values = reported[::2], reported[1::2]
    if len(words) < 2 or not _LINK.fullmatch(words[1]) or len(names) != len(values):
        raise UnreadableError(
            "a link without its name, or a counter without its value: cut short", line=line, text=" ".join(words[-1:])
        )
    if _QUEUE_PAIR_KEYS.intersection(names):
        raise UnreadableError("counters of queue pairs, not of ports", line=line, text=words[1])
    for name in names:
        if not _NAME.fullmatch(name):
            raise UnreadableError("not the name of a counter", line=line, text=name)
    pairs = zip(names, values, strict=True)
    return words[1], {
        name: name_count(value, line, f"{name} {value}") for name, value in pairs if not not_reported(value)
    }


def _from_json(answer: str) -> Iterator[Counted]:
    """`rdma -j statistic`."""
    for entry in filter(None, list_in(answer, "RDMA ports")):
        yield _counters_from_entry(entry)


def _counters_from_entry(entry: Any) -> Counted:
    name, port = (entry.get("ifname"), entry.get("port")) if type(entry) is dict else (None, None)
    if type(name) is not str or type(port) is not int or "state" in entry:
        raise UnreadableError("an entry that is not an RDMA port's counters")
    if _QUEUE_PAIR_KEYS.intersection(entry):
        raise UnreadableError("counters of queue pairs, not of ports", text=name)
    return f"{name}/{port}", {
        key: name_count(str(value), 0, f"{key} {value}")
        for key, value in entry.items()
        if key not in _ENTRY_KEYS and type(value) is int and not not_reported(str(value))
    }


def _from_show_counters(answer: str) -> Iterator[Counted]:
    """`show_counters`: `name: value` below `Port 1 hw counters:`; the command above names the device.

    Raises `UnreadableError` where two answers have no command above them.
    """
    device, port = "", ""
    of_nameless: set[tuple[str, str]] = set()
    text = lines(answer)
    for number, line in enumerate(text, 1):
        asked, headed = _SHOWN.search(line), _SHOWN_PORT.fullmatch(line.strip())
        if asked:
            device, port = argument(asked[1]), ""
        elif headed:
            port = headed[1]
        elif port and line.strip() and not is_prompt(line):
            name, value = _name_and_value(line, number)
            if not device and (port, name) in of_nameless:
                raise UnreadableError("a counter twice: of devices that no line names", line=number, text=line)
            of_nameless.add((port, name))
            cut = number == len(text) and (not value or may_be_cut(answer, value))
            if not cut and not not_reported(value) and name not in _NOT_COUNTERS:
                yield f"{device}/{port}", {name: name_count(value, number, line)}


def _name_and_value(line: str, number: int) -> tuple[str, str]:
    name, colon, value = (part.strip() for part in line.partition(":"))
    if not colon or not _NAME.fullmatch(name):
        raise UnreadableError("not a counter and its value, or cut short", line=number, text=line)
    return name, value


_FORMS: tuple[tuple[Callable[[str], object], Callable[[str], Iterator[Counted]]], ...] = (
    (re.compile(r"^[#> \t]*link +[^\s/]+/", re.MULTILINE).search, _from_statistic),
    (is_json, _from_json),
    (re.compile(r"^[#> \t]*Port \d+[^:\n]{0,40}counters:", re.MULTILINE).search, _from_show_counters),
)
"""Test and parser of each form except sysfs."""
