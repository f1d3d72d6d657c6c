"""The counters of RDMA ports as tools print them: `rdma statistic` as text and JSON, mlnx-tools' `show_counters`."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from collector._answer import decode, lines
from collector._counted import count, is_count, may_be_cut, not_reported
from collector._link_lines import linked
from collector._sections import is_prompt, named
from truerail.errors import UnreadableError

Counted = tuple[str, dict[str, int]]
"""A port, `mlx5_0/1`, and its counters."""

_LINK = re.compile(r"[^\s/]+/\d+")
_NAME = re.compile(r"[A-Za-z_][\w.,-]*")
_OPTIONAL = "Optional-set:"
_OF_QUEUE_PAIRS = frozenset(("cntn", "lqpn", "qp-type"))
_ENTRY_KEYS = frozenset(("ifindex", "ifname", "port"))
_SHOWN = re.compile(r"\bshow_(?:rdma_)?counters[ \t]+(\S+)")
_SHOWN_PORT = re.compile(r"Port (\d+)\b.*counters:")


def from_statistic(answer: str) -> Iterator[Counted]:
    """`rdma statistic`, with at least one link in it."""
    *whole, (begun, last) = linked(answer)
    if is_count(last[-1]) and may_be_cut(answer, last[-1]):
        last = last[:-2]
    for number, words in (*whole, (begun, last)):
        yield _link(words, number)


def _link(words: Sequence[str], line: int) -> Counted:
    """A link and its counters from its words: `link`, the name, then names and values in turn."""
    reported = [word for word in words[2:] if word != _OPTIONAL]
    names, values = reported[::2], reported[1::2]
    if len(words) < 2 or not _LINK.fullmatch(words[1]) or len(names) != len(values):
        raise UnreadableError(
            "a link without its name, or a counter without its value: cut short", line=line, text=words[-1]
        )
    if _OF_QUEUE_PAIRS.intersection(names):
        raise UnreadableError("counters of queue pairs, not of ports", line=line, text=words[1])
    for name in names:
        if not _NAME.fullmatch(name):
            raise UnreadableError("not the name of a counter", line=line, text=name)
    reported_of = zip(names, values, strict=True)
    return words[1], {
        name: count(value, line, f"{name} {value}") for name, value in reported_of if not not_reported(value)
    }


def from_json(answer: str) -> Iterator[Counted]:
    """`rdma -j statistic`."""
    document = decode(answer)
    if type(document) is not list:
        raise UnreadableError("not a list of RDMA ports")
    for entry in filter(None, document):
        yield _entry(entry)


def _entry(entry: Any) -> Counted:
    name, port = (entry.get("ifname"), entry.get("port")) if type(entry) is dict else (None, None)
    if type(name) is not str or type(port) is not int or "state" in entry:
        raise UnreadableError("an entry that is not an RDMA port's counters")
    if _OF_QUEUE_PAIRS.intersection(entry):
        raise UnreadableError("counters of queue pairs, not of ports", text=name)
    return f"{name}/{port}", {
        key: count(str(value), 0, f"{key} {value}")
        for key, value in entry.items()
        if key not in _ENTRY_KEYS and type(value) is int and not not_reported(str(value))
    }


def from_show_counters(answer: str) -> Iterator[Counted]:
    """`show_counters`: `name: value` below `Port 1 hw counters:`; the command above names the device.

    Raises `UnreadableError` where two answers have no command above them.
    """
    device, port = "", ""
    of_nameless: set[tuple[str, str]] = set()
    text = lines(answer)
    for number, line in enumerate(text, 1):
        asked, headed = _SHOWN.search(line), _SHOWN_PORT.fullmatch(line.strip())
        if asked:
            device, port = named(asked[1]), ""
        elif headed:
            port = headed[1]
        elif port and line.strip() and not is_prompt(line):
            name, value = _shown(line, number)
            if not device and (port, name) in of_nameless:
                raise UnreadableError("a counter twice: of devices that no line names", line=number, text=line)
            of_nameless.add((port, name))
            cut = number == len(text) and (not value or may_be_cut(answer, value))
            if not cut and not not_reported(value):
                yield f"{device}/{port}", {name: count(value, number, line)}


def _shown(line: str, number: int) -> tuple[str, str]:
    name, colon, value = (part.strip() for part in line.partition(":"))
    if not colon or not _NAME.fullmatch(name):
        raise UnreadableError("not a counter and its value, or cut short", line=number, text=line)
    return name, value
