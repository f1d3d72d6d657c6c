"""What the rules on probes share: NICs and leaves of each flow, what was not evaluated."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from truerail.analysis.cabling import State, evidence_of
from truerail.analysis.probes.reached import Reached, reached
from truerail.analysis.round import Round
from truerail.model import Evidence, NotEvaluated, ProbeReach
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.finding import MOST_EXAMPLES

SHOWN = 4
"""Names in one sentence."""
STATES = {State.RIGHT: "right", State.WRONG: "wrong", State.MISSING: "missing", State.UNKNOWN: "unknown"}


@dataclass(frozen=True)
class Probed:
    """The flows between planned NICs, as columns of shape (flows,)."""

    round: Round
    flows: Reached
    leaf: Codes
    """The planned leaf of the sender's NIC, by its device code."""
    peer_leaf: Codes
    planned: Mask
    """Whether both NICs are planned, on rails."""
    railed: Mask
    """Whether both are of one rail and plane."""
    judged: Mask
    """Whether it was tried, and one of its hosts can say what became of it."""

    def nic(self, cable: int) -> str:
        """A NIC as the plan names it."""
        return str(self.round.cabling.index.a_port(cable))

    def rail(self, cable: int) -> int | None:
        """A NIC's rail."""
        return self.round.plan.cables[cable].rail

    def device(self, code: int) -> str:
        """A device's name."""
        return self.round.cabling.index.devices.names[code]

    def cable_state(self, cable: int) -> str:
        """What LLDP and other witnesses say of a NIC's cable: right, wrong, missing or unknown."""
        return STATES[State(int(self.round.cabling.state[cable]))]

    def evidence(self, flows: Codes, rows: Codes | None = None) -> tuple[Evidence, ...]:
        """The first few flows as their senders report them, and rows of their listeners if given."""
        wanted = [*self.flows.row[flows[:SHOWN]].tolist(), *(rows[:SHOWN].tolist() if rows is not None else ())]
        return tuple(evidence_of(self.round.snapshot, ProbeReach, row) for row in wanted if row != NONE)

    def peers(self, cables: Codes) -> str:
        """The first few NICs in words."""
        return some([self.nic(int(cable)) for cable in np.unique(cables)])

    def unseen(self, seen: Mask, what: str) -> Iterator[NotEvaluated]:
        """The planned NICs that are not among those of `seen`, shape (cables,)."""
        index = self.round.cabling.index
        rows = np.flatnonzero(index.from_host & (index.rail >= 0) & ~seen)
        of = int(np.count_nonzero(index.from_host & (index.rail >= 0)))
        if len(rows):
            shown = tuple(self.nic(cable) for cable in rows[:MOST_EXAMPLES].tolist())
            nics = f"{len(rows):,} of {of:,} NICs {'is' if len(rows) == 1 else 'are'} unknown"
            why = f"{nics}: {what} ({', '.join(shown)}{', ...' if len(rows) > len(shown) else ''})"
            yield NotEvaluated(why, what="NIC", count=len(rows), of=of, subjects=shown, rest_evaluated=True)

    def leaves_of_all(self, use: Mask, bad: Mask) -> list[int]:
        """Leaves of whose flows to other leaves all are bad, in both directions, so that one place at them explains
        all: as few as explain the most.
        """
        size, found = len(self.round.cabling.index.devices.names), []
        use = use & (self.leaf != self.peer_leaf)
        bad = bad & use
        while bad.any():
            of = np.bincount(self.leaf[use], minlength=size) + np.bincount(self.peer_leaf[use], minlength=size)
            bad_of = np.bincount(self.leaf[bad], minlength=size) + np.bincount(self.peer_leaf[bad], minlength=size)
            whole = np.where((of == bad_of) & (of >= 2), bad_of, 0)
            leaf = int(whole.argmax())
            # of two leaves that lose everything to each other alone, either may be the reason
            if np.count_nonzero(whole == whole[leaf]) > 1 or not whole[leaf]:
                break
            found.append(leaf)
            of_leaf = (self.leaf == leaf) | (self.peer_leaf == leaf)
            use, bad = use & ~of_leaf, bad & ~of_leaf
        return found

    def between(self, pairs: Collection[tuple[int, int]]) -> Mask:
        """Flows from and to some leaves, shape (flows,)."""
        both = zip(self.leaf.tolist(), self.peer_leaf.tolist(), strict=True)
        return np.array([pair in pairs for pair in both], dtype=bool)

    def counted(self, which: Mask, ends: Codes) -> Codes:
        """How many of some flows each cable has at an end, shape (cables,)."""
        return np.bincount(ends[which], minlength=len(self.round.cabling.index.rail))


def probed(round: Round) -> Probed:
    """The flows of a round, for the rules."""
    flows, index = reached(round), round.cabling.index
    rail, plane, leaf = (np.append(column, NONE) for column in (index.rail, index.plane, index.b_device))
    mine, theirs = flows.cable, flows.peer_cable
    planned = (rail[mine] >= 0) & (rail[theirs] >= 0)
    railed = planned & (rail[mine] == rail[theirs]) & (plane[mine] == plane[theirs])
    return Probed(round, flows, leaf[mine], leaf[theirs], planned, railed, planned & flows.judged)


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
