"""The cabling of the past: what the journal knew of each cable, under the plan now in force."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from msgspec import structs

from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.cabling.joined import join
from truerail.analysis.counters import CounterView
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE
from truerail.model.facts import GpuNicPath, Neighbor, NetLink, RdmaLink
from truerail.model.finding import CableState
from truerail.model.history import LinkPlace, PastState
from truerail.model.plan import Plan, Port
from truerail.model.reading import Reading
from truerail.model.snapshot import Snapshot

_STATES = {CableState[state.name].value: state for state in State}


@dataclass(frozen=True, eq=False)
class PastRound(Round):
    """A round whose cabling is known, perhaps its counters, and nothing else."""

    known: Wiring = field(kw_only=True)

    @property
    def cabling(self) -> Wiring:
        """The cabling as it was."""
        return self.known


def past_round(live: Published, state: PastState, counters: CounterView | None = None) -> Round:
    """The cabling at a time, under the plan now in force, with the counters of that time, if they are known."""
    plan = live.plan
    names = live.evaluated.once(_names)
    readings = [*names, *_unplanned_places(plan, state.links)]
    snapshot = Snapshot(state.at, readings)
    wiring = join(plan, snapshot)
    same = state.plan_digest == live.plan_digest
    _restore(wiring, state.links, same_plan=same)
    down = {
        subject for one in state.causes if one.cause.kind is CauseKind.UNREACHABLE for subject in one.cause.subjects
    }
    _restore_read(wiring, down)
    return PastRound(plan, Snapshot(state.at, names), counters, known=wiring)


def _names(evaluated: EvaluatedRound) -> list[Reading]:
    """The readings with names of NICs and GPUs, without the state of anything."""
    found = []
    for reading in evaluated.round.snapshot.readings:
        facts = tuple(fact for fact in map(_named, reading.facts) if fact is not None)
        if facts:
            found.append(structs.replace(reading, facts=facts))
    return found


def _named(fact: Any) -> NetLink | RdmaLink | GpuNicPath | None:
    if isinstance(fact, GpuNicPath):
        return fact
    if isinstance(fact, NetLink):
        return NetLink(fact.netdev, fact.mac, pci_address=fact.pci_address, aliases=fact.aliases, kind=fact.kind)
    if isinstance(fact, RdmaLink):
        return RdmaLink(fact.device, fact.port, None, None, fact.netdev, pci_address=fact.pci_address)
    return None


def _unplanned_places(plan: Plan, links: Mapping[str, LinkPlace]) -> Iterator[Reading]:
    """A neighbour for each place that the plan does not have, so that the place gets a code."""
    for port, link in links.items():
        if link.place is None or "/" not in link.place or plan.cable_at(_port(link.place)) is not None:
            continue
        near, far = _port(port), _port(link.place)
        fact = Neighbor(near.name, system_name=far.device, port_id=far.name, port_id_type="ifname")
        yield Reading(near.device, "lldp_past", _ANY_TIME, (fact,))


_ANY_TIME = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def _port(word: str) -> Port:
    device, _, name = word.partition("/")
    return Port(device, name)


def _restore(wiring: Wiring, links: Mapping[str, LinkPlace], *, same_plan: bool) -> None:
    """Fills what a join would find out: the state, place and partner of every cable."""
    index = wiring.index
    size = len(wiring.partner)
    for column in (wiring.partner, wiring.heard, wiring.place):
        column[:] = NONE
    wiring.ambiguous[:], wiring.sure[:] = False, 0.0
    wiring.state[:], wiring.why[:] = State.UNKNOWN, Why.NOT_KEPT
    for number, cable in enumerate(index.plan.cables):
        link = links.get(str(cable.a))
        if link is None:
            continue
        device, _, name = (link.place or "").partition("/")
        at = index.devices.find(device) if device else NONE
        found = int(index.find(np.array([at]), [name or None])[0])
        place = found if found < size else NONE
        state = _STATES[link.state] if same_plan else _state(cable.b, link)
        wiring.state[number], wiring.place[number] = state, place
        wiring.why[number] = Why.SEEN if state in (State.RIGHT, State.WRONG) else Why.NOT_KEPT
        if place != NONE:
            wiring.partner[index.a[number]], wiring.partner[place] = place, index.a[number]
        elif at != NONE:
            wiring.heard[index.a[number]] = at


def _state(planned: Port, link: LinkPlace) -> State:
    """The state of a cable under another plan than that under which it was recorded."""
    if link.place is None:
        return State.MISSING if link.state == CableState.MISSING.value else State.UNKNOWN
    return State.RIGHT if link.place in (str(planned), planned.device) else State.WRONG


def _restore_read(wiring: Wiring, down: Collection[str]) -> None:
    """A device has answered if something is known of one of its cables, and no cause says that it did not."""
    index = wiring.index
    wiring.read[:] = wiring.listened[:] = False
    known = wiring.state != State.UNKNOWN
    for device in (index.a_device[known], index.b_device[known]):
        wiring.read[device] = wiring.listened[device] = True
    codes = [code for code in map(index.devices.find, down) if code != NONE]
    wiring.read[codes] = wiring.listened[codes] = False
    wiring.read[-1] = wiring.listened[-1] = False
