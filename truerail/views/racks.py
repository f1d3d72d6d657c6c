"""The racks of the plan with the state of what stands in them, and their rows."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.model.columns import NONE, Codes, factorize
from truerail.model.names import natural_key
from truerail.model.plan import Role
from truerail.outputs.worklist import Mark
from truerail.views.findings import highest_at, severity_of
from truerail.views.lines import state_count
from truerail.views.pieces import StateCount, StepLine
from truerail.views.view import View, states_at, view_of

NO_RACK = "-"
"""Stands in filters for the devices without a rack."""
_PLACE_IN_ROW = re.compile(r"[-_./ ]*\d+\D*$")


@dataclass(frozen=True, slots=True)
class RackLine:
    """A rack. `rack` is empty for the devices to which the plan gives none."""

    rack: str
    row: str
    """The rack's name without its last number: `A` of `A03`."""
    hosts: int
    switches: int
    units: int | None
    """The highest planned unit; None without any."""
    no_unit: int
    """Devices without a unit in the plan."""
    unread: int
    """Devices that did not answer."""
    count: StateCount
    """Cables with an end in the rack."""
    elsewhere: int
    """Wrong and missing ones among them that a repair in other racks puts right."""
    findings: int
    """Unmuted ones on its devices."""
    severity: str | None
    steps: int | None
    """Steps of the punch list here that are not done; None as of a time."""
    panels: int = 0
    """Patch panels."""


def row_of(rack: str) -> str:
    """The row of a rack: its name without the last number. A name without a number is a row of its own."""
    return _PLACE_IN_ROW.sub("", rack)


def rack_lines(publication: Published, steps: Iterable[StepLine] | None) -> tuple[RackLine, ...]:
    """All racks, row by row in natural order; what has no rack comes last. `steps` None: they are unknown."""
    if steps is None:
        return publication.once(_racks)
    open_steps = Counter(step.rack for step in steps if step.mark != Mark.DONE.value)
    return tuple(replace(line, steps=open_steps[line.rack]) for line in publication.once(_racks))


def _racks(publication: Published) -> tuple[RackLine, ...]:
    """The racks without their steps."""
    view = view_of(publication)
    layout, (findings, loudest) = view.layout, view.loudest
    code, names = factorize([device.rack for device in layout.devices])
    size, host = len(names), layout.tier == Role.HOST.tier
    unit = np.array([NONE if device.unit is None else device.unit for device in layout.devices], dtype=np.int64)
    top, rank = highest_at(code, unit, size), highest_at(code, loudest, size)
    hosts, switches, no_unit, unread, found = (
        np.bincount(code, weights=column, minlength=size).astype(np.int64)
        for column in (host, ~host, unit < 0, ~view.wiring.read[: len(code)], findings)
    )
    states, elsewhere = _states(view, code, size), _elsewhere(view, code, size)
    panels = Counter(panel.rack for panel in view.plan.panels.values() if panel.rack)
    lines = [
        RackLine(
            rack=name,
            row=row_of(name),
            hosts=int(hosts[one]),
            switches=int(switches[one]),
            units=None if top[one] < 0 else int(top[one]),
            no_unit=int(no_unit[one]),
            unread=int(unread[one]),
            count=state_count(states[one]),
            elsewhere=int(elsewhere[one]),
            findings=int(found[one]),
            severity=severity_of(rank[one]),
            steps=None,
            panels=panels.pop(name, 0),
        )
        for one, name in enumerate(names)
    ]
    none = state_count(np.zeros(len(State), dtype=np.int64))
    lines += [RackLine(name, row_of(name), 0, 0, None, 0, 0, none, 0, 0, None, None, of) for name, of in panels.items()]
    return tuple(sorted(lines, key=lambda line: (not line.rack, natural_key(line.row), natural_key(line.rack))))


def _states(view: View, code: Codes, size: int) -> Codes:
    """The cables of each rack by state, shape (racks, states): one with both ends in a rack counts once."""
    padded = np.append(code, NONE)
    a, b = padded[view.layout.a_device], padded[view.layout.b_device]
    return states_at(np.concatenate([a, np.where(b == a, NONE, b)]), np.tile(view.wiring.state, 2), size)


def _elsewhere(view: View, code: Codes, size: int) -> Codes:
    """By rack the wrong and missing cables all of whose findings have a cause that is repaired in other racks. Shape
    (racks,).
    """
    findings, layout, padded = view.findings, view.layout, np.append(code, NONE)
    state = np.append(view.wiring.state, State.RIGHT)[findings.cable]
    rows = np.flatnonzero(np.isin(state, (State.WRONG, State.MISSING)))
    number = {key: place for place, key in enumerate(view.sight.causes)}
    cause = np.array([number.get(view.sight.cause_of.get(findings.ids[row], ""), NONE) for row in rows], dtype=np.int64)
    cable = findings.cable[rows]
    rack = np.concatenate([padded[layout.a_device[cable]], padded[layout.b_device[cable]]])
    cable, cause = np.tile(cable, 2), np.tile(cause, 2)
    here = (cause < 0) | np.isin(cause * size + rack, _repairs(view, code, size))
    packed = rack * len(layout.rail) + cable
    others = np.setdiff1d(packed[rack >= 0], packed[here & (rack >= 0)])
    return np.bincount(others // max(len(layout.rail), 1), minlength=size)


def _repairs(view: View, code: Codes, size: int) -> Codes:
    """Where causes are repaired, each as `cause * size + rack`: at their subjects, and where plugs are moved."""
    places = {
        (number, view.device(name.partition("/")[0]))
        for number, cause in enumerate(view.sight.causes.values())
        for name in (*cause.subjects, *(str(port) for move in cause.moves for port in (move.source, move.target)))
    }
    return np.array([one * size + code[device] for one, device in places if 0 <= device < len(code)], dtype=np.int64)
