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
from collections.abc import Callable, Iterable, Iterator

from collector.formats.counts import is_count, port_counters, read_values
from collector.formats.rdma_reports import Counted, from_json, from_show_counters, from_statistic
from collector.formats.sysfs import files
from collector.formats.text import is_json, lines
from truerail.errors import NoAnswerError
from truerail.model import Command, Device, PortCounters, Role, collector, minutes, saved_as

_FILES = "/sys/class/infiniband/*/ports/*/hw_counters/* /sys/class/infiniband/*/ports/*/counters/*"
_ALL_FILES = f"grep -sH . {_FILES}; :"
_PORT_FILE = re.compile(r"(?:.*/)?(?P<hca>[^/]+)/ports/(?P<port>\d+)/(?:hw_)?counters/(?P<counter>[^/]+)")
_SYSFS_SIGN = "/ports/"
_HEAD = 400
"""The first path of sysfs is within this many characters."""
_NOT_COUNTERS = frozenset(("lifespan",))


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
    for port, counted in _read(answer):
        ports.setdefault(port, {}).update(counted)
    found = [port_counters(port, counted, counted.values()) for port, counted in ports.items() if counted]
    if not found:
        raise NoAnswerError("no RDMA port's counters in it", line=1, text=lines(answer)[0])
    return found


def _read(answer: str) -> Iterable[Counted]:
    for recognised, read in _FORMS:
        if recognised(answer):
            return read(answer)
    return _from_sysfs(answer)


def _from_sysfs(answer: str) -> Iterator[Counted]:
    for path, value in files(answer):
        file = _PORT_FILE.fullmatch(path)
        if file and is_count(value) and file["counter"] not in _NOT_COUNTERS:
            yield f"{file['hca']}/{file['port']}", {file["counter"]: int(value)}


def _from_shown(answer: str) -> Iterator[Counted]:
    for port, counted in from_show_counters(answer):
        if not _NOT_COUNTERS.intersection(counted):
            yield port, counted


_FORMS: tuple[tuple[Callable[[str], object], Callable[[str], Iterator[Counted]]], ...] = (
    (re.compile(r"^[#> \t]*link +[^\s/]+/", re.MULTILINE).search, from_statistic),
    (is_json, from_json),
    (re.compile(r"^[#> \t]*Port \d+[^:\n]{0,40}counters:", re.MULTILINE).search, _from_shown),
)
"""Test and parser of each form except sysfs."""
