"""Link aggregations over planned cables: their members, as the device at either end reports them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.round import Round
from truerail.model import LagMember
from truerail.model.columns import Mask
from truerail.model.names import printable

SYNCHRONIZED, COLLECTING, DISTRIBUTING, DEFAULTED, EXPIRED = 8, 16, 32, 64, 128
"""Bits of a port's LACP state (IEEE 802.1AX, Actor_State)."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a lag: its row in the table of members, and the planned cable at it."""

    row: int
    fact: LagMember
    cable: int

    @property
    def carries(self) -> bool | None:
        """Whether it carries traffic, as its own device reports it; None if the answer does not say."""
        if self.fact.selected is False:
            return False
        state = self.fact.partner_state if self.fact.actor_state is None else self.fact.actor_state
        return None if state is None else state & (COLLECTING | DISTRIBUTING) == COLLECTING | DISTRIBUTING

    @property
    def hears_none(self) -> bool:
        """Whether it receives no LACP, or not any more. Answers that name members alone do not show this."""
        if self.fact.actor_state is not None:
            return bool(self.fact.actor_state & (DEFAULTED | EXPIRED))
        return self.fact.partner_system is None and self.fact.partner_state is not None


@dataclass(frozen=True, slots=True)
class Lag:
    """A lag of one device, by code, with its members at planned cables."""

    device: int
    name: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Lags:
    """All lags over planned cables. `bonded` has shape (cables,): whether an end of it is a member of one."""

    of: tuple[Lag, ...]
    bonded: Mask
    down: Mask
    """Cables of which an end has no link, or that are missing: they have a finding of their own."""

    def members(self) -> Iterator[tuple[Lag, Member]]:
        """Every member whose cable has link, with its lag."""
        yield from ((lag, one) for lag in self.of for one in lag.members if not self.down[one.cable])


def lags(round: Round) -> Lags:
    """The lags of a snapshot."""
    wiring, found = round.cabling, dict[tuple[int, str], list[Member]]()
    index, table = wiring.index, round.snapshot.table(LagMember)
    device = wiring.identity.devices_of(table)
    ports = wiring.identity.local_ports(device, index.ports.name_codes(table.column("port")))
    cables = index.cables_at(ports)
    for row in np.flatnonzero(cables >= 0).tolist():
        fact = table.rows[row]
        key = int(device[row]), printable(fact.lag or "its lag", 64)
        found.setdefault(key, []).append(Member(row, fact, int(cables[row])))
    bonded = np.zeros(len(index.a), dtype=bool)
    bonded[cables[cables >= 0]] = True
    members = index.cables_at(wiring.identity.names.members())
    bonded[members[members >= 0]] = True
    down = (wiring.state == State.MISSING) | wiring.states.down(index.a) | wiring.states.down(index.b)
    of = tuple(Lag(code, name, tuple(members)) for (code, name), members in sorted(found.items()))
    return Lags(of, bonded, np.asarray(down, dtype=bool))


def stands_at(wiring: Wiring, cable: int) -> int:
    """The device at which a cable's lower end is seen; -1 if unknown."""
    if wiring.state[cable] == State.RIGHT:
        return int(wiring.index.b_device[cable])
    place, heard = int(wiring.place[cable]), int(wiring.heard[wiring.index.a[cable]])
    return heard if place < 0 else int(wiring.index.ports.device_of(np.array([place]))[0])
