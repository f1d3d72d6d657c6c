"""The ports of a host's RDMA devices: their state, and the network interface of each.

Question: which RDMA devices exist, is each port up, and which netdev belongs to it?
Needs: iproute2's `rdma` (any user), else MLNX_OFED's `ibdev2netdev`, else rdma-core's `ibstat`, `ibstatus` or
`ibv_devinfo`.

Formats, recognised by their shape: `rdma link` as text (`-d` adds a line of capabilities) and as JSON; `ibdev2netdev`
with and without `-v`; `ibstat`; `ibstatus`; `ibv_devinfo` with and without `-v`. Whatever the command, states are in
the words of `rdma link`. Sources: iproute2 `rdma/link.c`, rdma-core `ibstat.c`, `ibstatus`, `devinfo.c`,
MLNX_OFED's `ibdev2netdev` script, recorded answers.

Traps:

- The `ifindex` in the JSON of `rdma` counts RDMA devices, not network interfaces: it is not used.
- `rdma -j` of iproute2 before 6.7 could print broken JSON: refused. So the text form is requested first.
- An InfiniBand port has LIDs between its name and its state, and may have a netdev (IPoIB); mail wraps the line.
- `ibdev2netdev` (its arrow was `<===>` in old releases) prints `(Up)` or `(Down)` for the netdev: read as ACTIVE or
  DOWN; `-v` prints the port's own state. `column -t` widens its gaps, and pasted lines may end with remarks.
- Only some forms report rate, link layer or PCI address; with the others they are None, "not reported".
- iproute2 of 2017 to 2019 began a line with `0/1: mlx5_0/1:` in place of `link mlx5_0/1`.
- A port that is cut before its state is refused; values after the state may be missing and are then None.
- `show_gids` looks similar but reports something else: refused. So are lines behind a host (`pdsh`: `gpu-001: mlx5_0`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from collector.formats.rdma_reports import physical_state, port_state, ports_from_report
from collector.formats.text import PASTED, is_json, lines, list_in
from truerail.errors import UnreadableError
from truerail.model import Device, RdmaLink, Role, collector, commands, minutes, saved_as

_LINK_KEYS = frozenset(("subnet_prefix", "lid", "sm_lid", "lmc", "state", "physical_state", "netdev", "netdev_index"))
_LINK_NUMBER = re.compile(r"\d+/\d+:")
_IBDEV2NETDEV = re.compile(
    r"(?:(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])\s++)?(?P<device>[^\s(:]++)\s++(?:\(.*\s)?"
    r"port\s++(?P<port>\d+)(?:\s++\((?P<state>[A-Z_]+) *\))?\s++<?={2,3}>\s++(?P<netdev>[^\s(]*+)\s*+"
    r"\((?P<up>Up|Down)\)(?:\s.*)?$"
)
_VERBOSE_BEGINNING = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\s+[^\s(:]+\s+\(")


ASK = (
    *commands("", "rdma link", "ibdev2netdev -v", "ibstat"),
    *saved_as("rdma -j link", "rdma -d link", "rdma -j -d link", "rdma -jd link", "ibdev2netdev", "ibstatus"),
    *saved_as("ibv_devinfo", "ibv_devinfo -v"),
)


@collector(on=[Role.HOST], ask=ASK, every=minutes(1), yields=[RdmaLink], shared=True)
def rdma_link(answer: str, device: Device) -> Iterable[RdmaLink]:
    """One `RdmaLink` for each port of each RDMA device, in the answer's order. Raises `UnreadableError`."""
    for recognised, read in _FORMS:
        if recognised(answer):
            return _refusing_several_hosts(read(answer))
    if (reported := ports_from_report(answer)) is not None:
        return _refusing_several_hosts(reported)
    raise UnreadableError("not an answer about RDMA links", line=1, text=lines(answer)[0])


def _refusing_several_hosts(links: Iterable[RdmaLink]) -> Iterator[RdmaLink]:
    """The same links. A port that is in the answer twice has to be the same one both times."""
    first_seen: dict[tuple[str, int], RdmaLink] = {}
    for link in links:
        first = first_seen.setdefault((link.device, link.port), link)
        if (first.guid, first.pci_address) != (link.guid, link.pci_address):
            raise UnreadableError(f"{link.device} with two GUIDs or PCI addresses: answers of several hosts")
        yield link


def _from_json(answer: str) -> Iterator[RdmaLink]:
    return map(_link_from_entry, list_in(answer, "RDMA links"))


def _link_from_entry(entry: Any) -> RdmaLink:
    name, port = (entry.get("ifname"), entry.get("port")) if type(entry) is dict else (None, None)
    if type(name) is not str or type(port) is not int or "state" not in entry:
        raise UnreadableError("an entry without ifname, port or state: not a list of RDMA links")
    netdev = entry.get("netdev")
    state, physical = port_state(entry["state"]), physical_state(entry.get("physical_state"))
    return RdmaLink(name, port, state, physical, netdev if type(netdev) is str else None)


def _from_rdma_text(answer: str) -> Iterator[RdmaLink]:
    """`rdma link` as text. A line that begins with one of its keys, or with a pending value, was wrapped."""
    link: list[str] = []
    line = 0
    for number, raw in enumerate(lines(answer), 1):
        words = raw.lstrip(PASTED).split()
        if not words:
            continue
        if words[0] == "link" or _LINK_NUMBER.fullmatch(words[0]):
            if link:
                yield _link_from_words(link, line)
            link, line = words, number
        elif link and (words[0] in _LINK_KEYS or len(link) % 2):
            link += words
    yield _link_from_words(link, line)


def _link_from_words(words: Sequence[str], line: int) -> RdmaLink:
    """One link from its words: `link` and the name, then keys and values in turn."""
    values = dict(zip(words[::2], words[1::2], strict=False))
    name, _, port = values.get(words[0], "").rpartition("/")
    port = port.removesuffix(":")
    if "state" not in values or not name or not port.isdecimal():
        raise UnreadableError("an RDMA link without its name or its state: cut short", line=line, text=" ".join(words))
    state, physical = port_state(values["state"], line), physical_state(values.get("physical_state"), line)
    return RdmaLink(name, int(port), state, physical, values.get("netdev"))


def _from_ibdev2netdev(answer: str) -> Iterator[RdmaLink]:
    """`ibdev2netdev` and `ibdev2netdev -v`, whose long line a description or a paste may break."""
    long_line = ""  # of `-v`, as far as it was read
    for number, raw in enumerate(lines(answer), 1):
        text = raw.strip(PASTED)
        continues = bool(long_line) and not _VERBOSE_BEGINNING.match(text)
        long_line = f"{long_line} {text}" if continues else text if _VERBOSE_BEGINNING.match(text) else ""
        if "==>" not in raw:
            continue
        port = _IBDEV2NETDEV.match(long_line or text)
        if port is None or (continues and not port["state"]):
            raise UnreadableError("not a line of ibdev2netdev, or cut short", line=number, text=raw)
        long_line = ""
        state = port_state(port["state"] or ("ACTIVE" if port["up"] == "Up" else "DOWN"), number)
        yield RdmaLink(port["device"], int(port["port"]), state, None, port["netdev"] or None, pci_address=port["pci"])


_FORMS: tuple[tuple[Callable[[str], object], Callable[[str], Iterator[RdmaLink]]], ...] = (
    (re.compile(r"^[#> \t]*(?:link|\d+/\d+:) +\S+/\d", re.MULTILINE).search, _from_rdma_text),
    (is_json, _from_json),
    (re.compile(r"==>").search, _from_ibdev2netdev),
)
"""Test and parser of each form of the answer, except those of rdma-core's reports."""
