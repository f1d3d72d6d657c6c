"""Open connections of each RDMA port of a host: its connected queue pairs that are ready to send.

Question: over how many flows, which no interface counts, does the host spread its traffic?
Needs: iproute2's `rdma`; root, or the kernel hides other users' queue pairs.

Formats: `rdma resource show qp` as text (`-d` adds the driver's details) and as JSON. Sources: iproute2
`rdma/res-qp.c` and `rdma/res.c`, its commit messages, recorded answers.

Traps:

- The types RC and UC, and the driver's own DCI and DCT (`type DRIVER subtype DCI`), count in the state RTS. Each
  connection has a queue pair on either side, so about half of them send.
- A port whose queue pairs are all of other kinds has 0 flows: that is reported. A port without any is unknown.
- `link mlx5_0/-`, or an entry without `port`, has no port yet.
- A process may have any name, so the text after `comm` is ignored; a kernel's name is in brackets, `[ib_core]`.
- Early releases print `{}` in the list for each device without queue pairs. With `-dd` their JSON was broken: refused.
- `rdma resource show` and `rdma statistic qp` look similar but report other things: refused.
"""

import re
from collections import Counter as Tally
from collections.abc import Iterator
from typing import Any

from collector.formats.text import PASTED, is_json, lines, list_in
from collector.rdma_counters import link_words
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Command, Counter, Device, PortCounters, Role, collector, minutes, saved_as

_FLOWS = (Counter("flows"),)
_CONNECTED = frozenset(("RC", "UC", "DCI", "DCT"))
_STATES = frozenset(("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR", "UNKNOWN"))
_READY = "RTS"
_PORT = re.compile(r"[^\s/]+/(?:\d+|-)")
_NONE = "-"
_QueuePair = tuple[str, str, bool]
"""Its port, `mlx5_0/1`, its number, and whether it belongs to a connection and is ready to send."""


ASK = (
    Command("rdma resource show qp"),
    *saved_as("rdma res show qp", "rdma -d resource show qp", "rdma -j resource show qp"),
    *saved_as("rdma -jp resource show qp", "rdma -j res show qp"),
)


@collector(on=[Role.HOST], ask=ASK, every=minutes(1 / 6), yields=[PortCounters], megabytes=16, optional=True)
def rdma_flows(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` with the gauge `flows` for each port that has queue pairs. Raises `UnreadableError`."""
    flows: Tally[str] = Tally()
    pairs = dict.fromkeys(_from_json(answer) if is_json(answer) else _from_text(answer))  # each once, if reported twice
    for port, _, counts in pairs:
        flows[port] += counts
    ports = [PortCounters(port, _FLOWS, (count,)) for port, count in flows.items() if not port.endswith(f"/{_NONE}")]
    if not ports:
        raise NoAnswerError("no port's queue pairs in it", line=1, text=lines(answer)[0])
    return ports


def _from_text(answer: str) -> Iterator[_QueuePair]:
    """A line for each queue pair."""
    for number, raw in enumerate(lines(answer), 1):
        first = raw.lstrip(PASTED).partition(" ")[0]
        if first == "link":
            break
        if first.endswith(":"):
            raise UnreadableError("not queue pairs", line=number, text=raw)
    for number, words in link_words(answer):
        yield _pair_from_words(words, number)


def _pair_from_words(words: list[str], line: int) -> _QueuePair:
    reported = words[: words.index("comm")] if "comm" in words else words
    if len(reported) < 2 or not _PORT.fullmatch(reported[1]):
        raise UnreadableError("a queue pair without its port: cut short", line=line, text=" ".join(reported))
    values = dict(zip(reported[2::2], reported[3::2], strict=False))
    return reported[1], str(values.get("lqpn")), _is_flow(values, line, reported[1])


def _from_json(answer: str) -> Iterator[_QueuePair]:
    return map(_pair_from_entry, filter(None, list_in(answer, "queue pairs")))


def _pair_from_entry(entry: Any) -> _QueuePair:
    name, port = (entry.get("ifname"), entry.get("port", _NONE)) if type(entry) is dict else (None, None)
    spelled = f"{name}/{port}"
    if type(name) is not str or not _PORT.fullmatch(spelled):
        raise UnreadableError("an entry that is no queue pair")
    return spelled, str(entry.get("lqpn")), _is_flow(entry, 0, spelled)


def _is_flow(values: dict[str, Any], line: int, port: str) -> bool:
    """Whether this queue pair is a flow. Raises `UnreadableError` if it has no type or no state."""
    kind, state = str(values.get("type")), str(values.get("state"))
    if "lqpn" not in values or "type" not in values or state not in _STATES:
        raise UnreadableError("without number, type or state: cut short, or no queue pair", line=line, text=port)
    return state == _READY and (kind in _CONNECTED or str(values.get("subtype")) in _CONNECTED)
