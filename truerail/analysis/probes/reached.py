"""Both ends of every probed flow: what the sender sent, joined with what the listener heard.

The join is by run and flow number. A flow whose listener has no row, started late, or dropped packets itself has no
witness: what it lost is unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truerail.analysis.probes.upper_links import probed_ends
from truerail.model.columns import NONE, Codes, Mask, distinct, found, mapped
from truerail.model.probe_facts import BUFFER_FULL, NOT_SENT, PROBE_TROUBLES, STARTED_LATE, ProbeReach, ProbeTrouble
from truerail.model.snapshot import Table

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring
    from truerail.analysis.round import Round

_CLASS = 0xFC
"""DSCP in the octet; the other two bits are ECN, which switches set."""
_FLOW_BITS = 40


@dataclass(frozen=True)
class Reached:
    """Flows as columns of shape (flows,), packets as matrices of shape (flows, sizes); sizes are those of `sizes`."""

    table: Table[ProbeReach]
    runs: Mapping[str, int]
    """The runs by number."""
    key: Codes
    """Run and flow in one number, ascending."""
    row: Codes
    """A row of the table by its sender."""
    device: Codes
    """The sender, by its device code; -1 if unknown."""
    peer: Codes
    cable: Codes
    """The planned cable of the NIC that it shall leave by; -1 if that is not planned."""
    peer_cable: Codes
    """The planned cable of the NIC that it shall arrive on."""
    wired: Mask
    refused: Mask
    """Whether the sender's kernel refused to send at least one packet: no route, no such address."""
    witnessed: Mask
    """Whether its listener can say what arrived."""
    sizes: Codes
    """Bytes of the IP packets, in rising order."""
    sent: Codes
    heard: Codes
    stray: Codes
    """Packets heard on another interface than the planned one."""
    rewritten: Codes
    """Packets heard with another class than they were sent with."""
    stray_row: Codes
    """A listener's row of packets that came on another interface; -1 if there is none."""
    rewritten_row: Codes
    """A listener's row of packets with another class."""

    @property
    def tried(self) -> Mask:
        """Flows of which at least one packet was sent, or refused by the sender's kernel."""
        return np.asarray((self.sent.sum(axis=1) > 0) | self.refused, dtype=bool)

    @property
    def arrived(self) -> Mask:
        """Flows of which at least one packet was heard, on whatever interface."""
        return np.asarray(self.heard.sum(axis=1) > 0, dtype=bool)

    @property
    def judged(self) -> Mask:
        """Flows that were tried, and one of whose hosts can say what became of them."""
        silent = self.refused & (self.sent.sum(axis=1) == 0)
        return np.asarray(self.tried & (self.witnessed | silent), dtype=bool)

    @property
    def lost(self) -> Mask:
        """Flows that were tried, of which a listener that can say so heard nothing."""
        return np.asarray(self.judged & ~self.arrived, dtype=bool)

    def find(self, runs: Iterable[str], flows: Codes) -> Codes:
        """The flow with each run and number; -1 if there is none. Shapes (n,)."""
        run = mapped(lambda name: self.runs.get(name, NONE), runs)
        return found(self.key, np.where(run >= 0, run << _FLOW_BITS | flows, NONE))

    def fact(self, flow: int) -> ProbeReach:
        """What the sender reports of a flow."""
        return self.table.rows[int(self.row[flow])]


def reached(round: "Round") -> Reached:
    """The joined flows of all runs of a round's snapshot: joined once for all rounds with the same results."""
    return reached_by(round.cabling)


def reached_by(wiring: "Wiring") -> Reached:
    """The same of a wiring."""
    return wiring.once(_join)


def _join(wiring: "Wiring") -> Reached:
    table = wiring.seen.table(ProbeReach)
    runs: dict[str, int] = {}
    run = np.array([runs.setdefault(name, len(runs)) for name in table.column("run")], dtype=np.int64)
    key = run << _FLOW_BITS | numbers(table.column("flow"))
    count = {name: numbers(table.column(name)) for name in ("sent", "heard", "size", "tos", "tos_heard")}
    ours = np.flatnonzero(count["sent"] >= 0)
    theirs = np.flatnonzero(count["heard"] >= 0)
    flows, first, of = np.unique(key[ours], return_index=True, return_inverse=True)
    at = found(flows, key[theirs])
    theirs, at = theirs[at >= 0], at[at >= 0]
    row = ours[first]
    ends = probed_ends(wiring, table, row)
    listener = wiring.identity.devices_of(table)[theirs]
    meant = listener == ends[1][at]  # what a host says that is not the flow's other end is no witness
    theirs, at, listener = theirs[meant], at[meant], listener[meant]
    sizes = distinct(count["size"][count["size"] >= 0])
    port, arrived_on = table.column("port"), table.column("arrived_on")
    stray = np.array([on is not None and on != port[i] for i, on in zip(theirs, arrived_on[theirs], strict=True)])
    stray = stray.astype(bool)
    rewritten = is_rewritten(count["tos"][theirs], count["tos_heard"][theirs])
    shape = (len(flows), len(sizes))
    noisy, refused = _troubles(wiring, runs, flows)
    witnessed = np.zeros(len(flows), dtype=bool)
    witnessed[at[~np.isin(run[theirs] << _FLOW_BITS | listener, noisy)]] = True
    return Reached(
        table,
        runs,
        flows,
        row,
        *ends,
        wired=np.array([mode == "wired" for mode in table.column("mode")[row]], dtype=bool),
        refused=refused,
        witnessed=witnessed,
        sizes=sizes,
        sent=_summed(shape, sizes, of, count["size"][ours], count["sent"][ours]),
        heard=_summed(shape, sizes, at, count["size"][theirs], count["heard"][theirs]),
        stray=_summed(shape, sizes, at[stray], count["size"][theirs[stray]], count["heard"][theirs[stray]]),
        rewritten=_summed(
            shape, sizes, at[rewritten], count["size"][theirs[rewritten]], count["heard"][theirs[rewritten]]
        ),
        stray_row=_a_row(len(flows), at[stray], theirs[stray]),
        rewritten_row=_a_row(len(flows), at[rewritten], theirs[rewritten]),
    )


def numbers(values: Iterable[Any]) -> Codes:
    """Numbers, -1 for None."""
    return mapped(lambda value: NONE if value is None else int(value), values)


def is_rewritten(sent: Codes, heard: Codes) -> Mask:
    """Whether packets were heard in another class than they were sent in: octets of IP headers, -1 where unknown."""
    return np.asarray((heard >= 0) & ((heard ^ sent) & _CLASS != 0), dtype=bool)


def _summed(shape: tuple[int, int], sizes: Codes, flow: Codes, size: Codes, count: Codes) -> Codes:
    """Packets by flow and size. Rows without a size are those of nothing sent or heard."""
    total = np.zeros(shape, dtype=np.int64)
    some = size >= 0
    np.add.at(total, (flow[some], np.searchsorted(sizes, size[some])), count[some])
    return total


def _a_row(flows: int, at: Codes, row: Codes) -> Codes:
    rows = np.full(flows, NONE, dtype=np.int64)
    rows[at] = row
    return rows


def _troubles(wiring: "Wiring", runs: dict[str, int], flows: Codes) -> tuple[Codes, Mask]:
    """Run and device of listeners that are no witnesses, in one number; the flows that a kernel refused to send."""
    table = wiring.seen.table(ProbeTrouble)
    device = wiring.identity.devices_of(table)
    noisy, refused = [], np.zeros(len(flows), dtype=bool)
    for row, one in enumerate(table.rows):
        if one.run not in runs:
            continue
        run = runs[one.run] << _FLOW_BITS
        if one.what in (BUFFER_FULL, STARTED_LATE):
            noisy.append(run | int(device[row]))
        elif one.flow is not None and one.what not in (*PROBE_TROUBLES, *NOT_SENT):
            at = int(np.searchsorted(flows, run | one.flow))
            if at < len(flows) and int(flows[at]) == run | one.flow:
                refused[at] = True
    return np.array(noisy, dtype=np.int64), refused
