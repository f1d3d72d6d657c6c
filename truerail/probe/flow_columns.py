"""The flows of a run as columns: a large fabric has half a million of them, and asks hops millions of times.

What one host is to send is rendered when it is sent, and only then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.model.columns import Codes, Mask, spans
from truerail.model.probe_facts import FULL_TTL
from truerail.probe.pinglists import Pair

"""The TTL of probes that shall arrive."""
Flow = dict[str, Any]
Round = tuple[int, int, int]
"""Size, TTL and count of packets that each source port of a flow sends."""
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Paced:
    """Packets that are sent slowly. A row is one source port of a flow, which sends `count` packets with each TTL from
    `first_ttl` to `last_ttl`: the first one after `first` seconds, that of the next TTL `step` seconds later, and
    again `every` so many seconds. `flow` are places among the flows, ascending.
    """

    flow: Codes
    source_port: Codes
    first_ttl: Codes
    last_ttl: Codes
    size: Codes
    count: Codes
    first: Numbers
    step: Numbers
    every: Numbers

    @cached_property
    def packets(self) -> Codes:
        """Packets of each row."""
        return self.count * (self.last_ttl - self.first_ttl + 1)

    @cached_property
    def last(self) -> Numbers:
        """When the last packet of each row is due."""
        return self.first + self.step * (self.last_ttl - self.first_ttl) + self.every * (self.count - 1)

    def of(self, flows: Codes) -> "Paced":
        """The rows of some flows, in their order; `flow` are places among these."""
        begin, end = (np.searchsorted(self.flow, flows, side) for side in ("left", "right"))
        rows, of = spans(begin, end - begin)
        columns = (getattr(self, name)[rows] for name in list(self.__dataclass_fields__)[1:])
        return Paced(of, *columns)

    def by_ttl(self) -> tuple[Codes, Codes, Numbers]:
        """Row, TTL and time of the first packet of each TTL of every row."""
        ttls = self.last_ttl - self.first_ttl + 1
        ttl, row = spans(self.first_ttl, ttls)
        return row, ttl, self.first[row] + self.step[row] * (ttl - self.first_ttl[row])


_NONE, _NO_TIMES = np.zeros(0, dtype=np.int64), np.zeros(0)
NOT_PACED = Paced(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NO_TIMES, _NO_TIMES, _NO_TIMES)


@dataclass(frozen=True, eq=False)
class Flows:
    """Flows by place, columns of shape (flows,): `number` in the run, source ports from `source_port` on, `kind` the
    place of what it sends in `rounds`.
    """

    pairs: Sequence[Pair]
    number: Codes
    wired: Mask
    tos: Codes
    source_port: Codes
    source_ports: Codes
    kind: Codes
    rounds: tuple[tuple[Round, ...], ...]
    paced: Paced = NOT_PACED

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[Pair, Flow]]:
        """Each flow with its pair, rendered."""
        for place in range(len(self)):
            yield self.pairs[place], self.flow(place)

    @cached_property
    def names(self) -> list[str]:
        """The hosts by their codes."""
        return list(dict.fromkeys(nic.host for pair in self.pairs for nic in (pair.source, pair.to)))

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each host."""
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def source(self) -> Codes:
        """The code of the host that sends."""
        return np.array([self.codes[pair.source.host] for pair in self.pairs], dtype=np.int64)

    @cached_property
    def to(self) -> Codes:
        """The code of the host that listens."""
        return np.array([self.codes[pair.to.host] for pair in self.pairs], dtype=np.int64)

    @cached_property
    def packets(self) -> Codes:
        """Packets of each flow, with those that are paced."""
        each = np.array([sum(count for _, _, count in rounds) for rounds in self.rounds], dtype=np.int64)
        paced = np.bincount(self.paced.flow, weights=self.paced.packets, minlength=len(self)).astype(np.int64)
        return self.source_ports * each[self.kind] + paced

    @cached_property
    def ending(self) -> Codes:
        """Packets of each flow that end at a hop, without those that are paced."""
        each = [sum(count for _, ttl, count in rounds if ttl < FULL_TTL) for rounds in self.rounds]
        return self.source_ports * np.array(each, dtype=np.int64)[self.kind]

    @cached_property
    def arriving(self) -> Mask:
        """Whether some packet of a flow shall arrive."""
        found = np.array([bool(rounds) for rounds in self.rounds], dtype=bool)[self.kind]
        found[self.paced.flow[self.paced.last_ttl == FULL_TTL]] = True
        return found

    def sent_by(self, host: str) -> Codes:
        """The flows that a host sends."""
        return _slice(self._by_source, self.codes.get(host))

    def heard_by(self, host: str) -> Codes:
        """The flows that a host listens for."""
        return _slice(self._by_target, self.codes.get(host))

    @cached_property
    def _by_source(self) -> tuple[Codes, Codes]:
        return _grouped(self.source, len(self.names))

    @cached_property
    def _by_target(self) -> tuple[Codes, Codes]:
        return _grouped(self.to, len(self.names))

    def at(self, cable: Codes, source_port: Codes) -> Codes:
        """The flow of each NIC, by its cable, and source port; -1 if there is none."""
        keys, order = self._by_port
        wanted = cable << _PORT_BITS | source_port
        place = np.searchsorted(keys, wanted, "right") - 1
        flow = order[np.maximum(place, 0)] if len(order) else np.zeros(len(wanted), dtype=np.int64)
        known = (place >= 0) & (cable >= 0)
        known[known] &= wanted[known] - keys[place[known]] < self.source_ports[flow[known]]
        return np.where(known, flow, -1)

    @cached_property
    def _by_port(self) -> tuple[Codes, Codes]:
        cable = np.array([pair.source.cable for pair in self.pairs], dtype=np.int64)
        keys = cable << _PORT_BITS | self.source_port
        order = np.argsort(keys)
        return keys[order], order

    def only_paced(self, paced: Paced) -> "Flows":
        """The flows of these rows, which send them and nothing else."""
        kept, of = np.unique(paced.flow, return_inverse=True)
        columns = {
            name: getattr(self, name)[kept] for name in ("number", "wired", "tos", "source_port", "source_ports")
        }
        pairs = [self.pairs[place] for place in kept.tolist()]
        none = np.zeros(len(kept), dtype=np.int64)
        return Flows(pairs, **columns, kind=none, rounds=((),), paced=replace(paced, flow=of))

    def about(self, place: int) -> Flow:
        """A flow as its sender knows it."""
        source, to, pinglist = self.pairs[place]
        return {
            "flow": int(self.number[place]),
            "port": source.netdev,
            "peer": to.host,
            "peer_port": to.netdev,
            "mode": "wired" if self.wired[place] else "routed",
            "tos": int(self.tos[place]),
            "pinglist": pinglist,
            "address": source.address,
            "peer_address": to.address,
        }

    def expected(self, place: int) -> Flow:
        """A flow as its listener knows it."""
        source, to, _ = self.pairs[place]
        return {**self.about(place), "port": to.netdev, "peer": source.host, "peer_port": source.netdev}

    def flow(self, place: int) -> Flow:
        """All of a flow: as its sender knows it, and what is planned."""
        paced = self.paced.of(np.array([place]))
        row, ttl, first = paced.by_ttl()
        columns = (paced.source_port[row], ttl, paced.size[row], paced.count[row], first, paced.every[row])
        return {
            **self.about(place),
            "source_port": int(self.source_port[place]),
            "source_ports": int(self.source_ports[place]),
            "rounds": self.rounds[self.kind[place]],
            "paced": list(zip(*(column.tolist() for column in columns), strict=True)),
        }


_PORT_BITS = 16


def _grouped(code: Codes, size: int) -> tuple[Codes, Codes]:
    """Places in the order of their codes, and where each code begins."""
    order = np.argsort(code, kind="stable")
    return order, np.searchsorted(code[order], np.arange(size + 1))


def _slice(grouped: tuple[Codes, Codes], code: int | None) -> Codes:
    order, begin = grouped
    return order[:0] if code is None else order[begin[code] : begin[code + 1]]


class FlowList:
    """Flows as they are planned, one by one."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self._columns: list[tuple[bool, int, int, int, int]] = []
        self._kinds: dict[tuple[Round, ...], int] = {}

    def add(
        self, pair: Pair, mode: str, tos: int, source_port: int, source_ports: int, rounds: Sequence[Round]
    ) -> None:
        """A flow of a pair, from so many source ports."""
        kind = self._kinds.setdefault(tuple(rounds), len(self._kinds))
        self.pairs.append(pair)
        self._columns.append((mode == "wired", tos, source_port, source_ports, kind))

    def flows(self, paced: Paced = NOT_PACED) -> Flows:
        """All of them as columns."""
        columns = np.array(self._columns, dtype=np.int64).reshape(-1, 5)
        wired, tos, source_port, source_ports, kind = np.ascontiguousarray(columns.T)
        number = np.arange(len(self.pairs))
        return Flows(
            self.pairs, number, wired.astype(bool), tos, source_port, source_ports, kind, tuple(self._kinds), paced
        )
