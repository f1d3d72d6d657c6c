"""What a host sent, heard and was answered in a run of `truerail probe`: the JSON that `truerail-probe` prints.

Question: does a packet from this NIC arrive, by which NIC, at which size, in which class, over which hops?
Needs: a run of `truerail probe`. No round of polls sends anything: this answer comes from recordings of such runs.

Format: one object, version 1, or a list with one for each of several runs, as the service stores them. It has counts
only, so its size depends on the flows and not on the packets.

| key | rows |
|---|---|
| `sends`, `hears` | the flows that the host was to send, or to listen for: objects |
| `sent` | flow, source port, TTL, size, packets |
| `heard` | flow, source port, TTL as sent, size, TOS as heard, interface of arrival, packets |
| `hops` | flow, source port, TTL, size, address, ICMP message, its MTU, answers |
| `trouble` | word, NIC or "", flow or null, count, detail or null |
| `echoes` | flow, output of `ping -q`; missing in recordings of earlier scripts |

`ping -q` ends with `rtt min/avg/max/mdev = 0.041/0.052/0.066/0.010 ms` (iputils `ping_common.c`, `finish`), that of
busybox with `round-trip min/avg/max = 0.041/0.052/0.066 ms`. The least of three echoes is the time of the pair.

Traps:

- A flow of which `sent` has no row was not tried; one of which `heard` has none was listened for and not heard.
- Heard probes with a TTL below 64 were sent to name hops; they arrived because the path is that short. Not counted.
- A host that took no part has a recording too: its flows, and the trouble `left out`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from collector.formats.text import decode, last_line, recording, text_in
from truerail.errors import UnreadableError
from truerail.model import Device, ProbeEcho, ProbeHop, ProbeReach, ProbeTrouble, Role, collector, minutes, saved_as
from truerail.model.probe_facts import FULL_TTL

VERSION = 1
_MODES = frozenset(("routed", "wired"))
_MESSAGES = ("time exceeded", "too big", "port unreachable", "net unreachable", "host unreachable", "prohibited")
_LEAST = re.compile(r"^(?:rtt|round-trip) min/avg/max(?:/mdev)? = (\d{1,6}(?:\.\d{1,6})?)/[\d./]+ ms", re.MULTILINE)
_MOST_COUNTED, _MOST_DETAIL = 2**40, 160
_MAY_HAVE = ("left_by", "address", "peer_address", "pinglist")
"""What a flow may say beside what every flow says."""
_Key = tuple[int, int, int, int]
"""Flow, source port, TTL, size."""


ASK = (*saved_as("truerail-probe"),)


@collector(
    on=[Role.HOST],
    ask=ASK,
    every=minutes(10),
    yields=[ProbeReach, ProbeHop, ProbeTrouble, ProbeEcho],
    megabytes=16,
    optional=True,
)
def probe_results(answer: str, device: Device) -> list[ProbeReach | ProbeHop | ProbeTrouble | ProbeEcho]:
    """`ProbeReach` of both roles, `ProbeHop`, `ProbeTrouble`, `ProbeEcho`, as recorded. Raises `UnreadableError`."""
    found = decode(answer)
    listed = found if type(found) is list else [found]
    runs = [_Recording(recording(one, "truerail_probe", "truerail probe", VERSION)) for one in listed]
    reach = [fact for run in runs for fact in (*run.sent(), *run.heard())]
    hops, troubles = ([fact for run in runs for fact in run.hops()], [fact for run in runs for fact in run.troubles()])
    return [*reach, *hops, *troubles, *(fact for run in runs for fact in run.echoes())]


class _Recording:
    """One recording. Every method raises `UnreadableError` with the row that is not understood."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self._run = text_in(found, "run", "the recording")
        self._sends = {flow["flow"]: flow for flow in self._flows("sends")}
        self._hears = {flow["flow"]: flow for flow in self._flows("hears")}
        self._sent: dict[_Key, int] = defaultdict(int)
        for flow, source_port, ttl, size, count in self._rows("sent", 5):
            self._known(self._sends, flow, "sent")
            self._sent[flow, source_port, ttl, size] += count

    def sent(self) -> Iterator[ProbeReach]:
        """Rows of the sender: one for each source port and size; of an untried flow one with 0."""
        tried = set()
        for (flow, source_port, ttl, size), count in self._sent.items():
            if ttl == FULL_TTL:
                tried.add(flow)
                yield self._reach(self._sends[flow], size=size, source_port=source_port, sent=count)
        for flow, about in self._sends.items():
            if flow not in tried:
                yield self._reach(about, sent=0)

    def heard(self) -> Iterator[ProbeReach]:
        """Rows of the listener: at least one for each flow that it listened for."""
        heard = set()
        for flow, source_port, ttl, size, tos, arrived_on, count in self._rows("heard", 7, texts=(5,)):
            self._known(self._hears, flow, "heard")
            if ttl == FULL_TTL:
                heard.add(flow)
                reach = self._reach(self._hears[flow], size=size, source_port=source_port)
                yield reach._replace(heard=count, arrived_on=arrived_on, tos_heard=tos)
        for flow, about in self._hears.items():
            if flow not in heard:
                yield self._reach(about)._replace(heard=0)

    def hops(self) -> Iterator[ProbeHop]:
        """Answers, and one row for each question with a short TTL that had none."""
        answered = set()
        for flow, source_port, ttl, size, address, message, mtu, count in self._rows("hops", 8, texts=(4, 5)):
            self._known(self._sends, flow, "hops")
            if message not in _MESSAGES:
                raise UnreadableError("hops: not an ICMP message", text=message)
            key = (flow, source_port, ttl, size)
            answered.add(key)
            yield self._hop(key, address, count, message, mtu if message == "too big" else None)
        for key in self._sent:
            if key[2] != FULL_TTL and key not in answered:
                yield self._hop(key, None, 0, None, None)

    def troubles(self) -> Iterator[ProbeTrouble]:
        """What kept the host from being a good witness."""
        for what, port, flow, count, detail in self._rows("trouble", 5, texts=(0, 1, 4), null=(2, 4)):
            yield ProbeTrouble(port, what, count, self._run, flow, detail)

    def echoes(self) -> Iterator[ProbeEcho]:
        """The time of each pair that was to be measured."""
        for flow, output in self._rows("echoes", 2, texts=(1,)) if "echoes" in self._found else ():
            self._known(self._sends, flow, "echoes")
            about, least = self._sends[flow], _LEAST.search(output)
            echo = ProbeEcho(about["port"], about["peer"], about["peer_port"], self._run, flow)
            if least:
                yield echo._replace(rtt_us=round(1000 * float(least[1]), 1))
            else:
                yield echo._replace(detail=last_line(output, _MOST_DETAIL) or "")

    def _reach(
        self, about: dict[str, Any], *, size: int | None = None, source_port: int | None = None, sent: int | None = None
    ) -> ProbeReach:
        where = (about["port"], about["peer"], about["peer_port"], self._run)
        may_have: dict[str, Any] = {name: about.get(name) for name in _MAY_HAVE}
        return ProbeReach(*where, about["flow"], about["mode"], about["tos"], size, source_port, sent, **may_have)

    def _hop(self, key: _Key, address: str | None, answered: int, message: Any, mtu: int | None) -> ProbeHop:
        about = self._sends[key[0]]
        where = (about["port"], about["peer"], about["peer_port"], self._run)
        return ProbeHop(*where, *key, self._sent.get(key, 0), address, answered, message, mtu)

    def _flows(self, key: str) -> Iterator[dict[str, Any]]:
        """The flows of one role, with every field that a row needs."""
        for flow in self._list(key):
            if type(flow) is not dict or not _count(flow.get("flow")):
                raise UnreadableError(f"{key}: a flow without its number", text=str(flow)[:40])
            about = f"{key}: flow {flow['flow']}"
            for name in ("port", "peer", "peer_port"):
                text_in(flow, name, about)
            for name in _MAY_HAVE:
                if flow.get(name) is not None:
                    text_in(flow, name, about)
            if flow.get("mode") not in _MODES:
                raise UnreadableError(f"{about}: not a mode", text=str(flow.get("mode"))[:40])
            if not _count(flow.get("tos")) or flow["tos"] > 255:
                raise UnreadableError(f"{about}: not a TOS", text=str(flow.get("tos"))[:40])
            yield flow

    def _rows(
        self, key: str, columns: int, *, texts: tuple[int, ...] = (), null: tuple[int, ...] = ()
    ) -> Iterator[list[Any]]:
        """The rows of one table: numbers, but for the columns of texts; those of `null` may be null."""
        for row in self._list(key):
            if type(row) is not list or len(row) != columns:
                raise UnreadableError(f"{key}: a row that has not {columns} values", text=str(row)[:60])
            for place, value in enumerate(row):
                good = type(value) is str if place in texts else _count(value)
                if not good and not (value is None and place in null):
                    raise UnreadableError(f"{key}: value {place + 1} of a row is not understood", text=str(row)[:60])
            yield row

    def _list(self, key: str) -> list[Any]:
        found = self._found.get(key)
        if type(found) is not list:
            raise UnreadableError(f"the recording has no list `{key}`")
        return found

    def _known(self, flows: dict[int, Any], flow: int, key: str) -> None:
        if flow not in flows:
            raise UnreadableError(f"{key}: flow {flow} is not among the flows of the recording")


def _count(value: object) -> bool:
    """Whether a value is a number of packets, bytes or a flow: not negative, and no bool."""
    return type(value) is int and 0 <= value < _MOST_COUNTED
