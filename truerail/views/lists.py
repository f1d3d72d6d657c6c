"""Lists of devices, cables, findings, causes and steps: filtered on columns; only the requested rows are made.

A filter takes several values, separated by commas.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import blake2s

import numpy as np

from rules import rules
from truerail.analysis.cabling import State
from truerail.analysis.cabling.named_by import VERIFIED
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE, Codes, Mask, factorize
from truerail.model.finding import CableState, Cause, Severity
from truerail.model.life import LifeState
from truerail.model.names import printable
from truerail.model.plan import Role
from truerail.outputs.worklist import Entry, Mark, Worklist
from truerail.views.findings import SEVERITIES, severity_of
from truerail.views.layout import ranks
from truerail.views.lines import cable_line, cause_lines, finding_line, state_count
from truerail.views.list_rows import RowList, findings_on_cables, of_device, on_nodes, on_rail, on_words, one_of, states
from truerail.views.pieces import StateCount, StepLine
from truerail.views.racks import NO_RACK
from truerail.views.view import View, view_of

_ROLES = [role.value for role in Role]
_STATES = [CableState.RIGHT.value, CableState.WRONG.value, CableState.MISSING.value, CableState.UNKNOWN.value]
"""In the order of `wiring.State`."""
NOT_VERIFIED = "the journal does not keep which ends confirmed a cable"


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """A device in a list."""

    device: str
    role: str
    pod: str
    rack: str
    unit: int | None
    platform: str
    read: bool
    count: StateCount
    findings: int
    severity: str | None
    """The highest severity of its findings."""


def device_line(view: View, code: int) -> DeviceLine:
    """A device of the plan as a row of a list."""
    device, (findings, loudest) = view.layout.devices[code], view.loudest
    return DeviceLine(
        device=device.name,
        role=device.role.value,
        pod=device.pod,
        rack=device.rack,
        unit=device.unit,
        platform=device.platform,
        read=bool(view.wiring.read[code]),
        count=state_count(view.sight.counts[code]),
        findings=int(findings[code]),
        severity=severity_of(loudest[code]),
    )


def _on_verified(view: View, verified: str) -> Mask:
    if view.hindsight is not None:
        raise QueryError(f"verified: {NOT_VERIFIED}, so no list of {view.hindsight.at:%Y-%m-%d %H:%M:%S UTC} has it")
    return on_words("verified", verified, VERIFIED, VERIFIED, view.sight.verified)


def life_words(view: View) -> list[str]:
    """The `LifeState` word of each finding."""
    lives = view.lives
    return [lives[one].state.value if one in lives else LifeState.NEW.value for one in view.findings.ids]


def _explained_by(view: View, cause: str) -> Mask:
    known = view.cause(cause)
    if known is None:
        raise QueryError(f"cause {printable(cause, 80)!r} is not known: it may have been resolved")
    numbers = view.findings.number
    mask = np.zeros(len(numbers), dtype=bool)
    mask[[numbers[finding] for finding in known.explains if finding in numbers]] = True
    return mask


def _causes_with(view: View, what: str, text: str, known: Iterable[StrEnum]) -> Mask:
    words = [getattr(line, what) for line in view.once(cause_lines)]
    return on_words(what, text, [one.value for one in known], words, np.arange(len(words)))


def _of_pod(view: View, pod: str, device: Codes) -> Mask:
    pods = [*(one.pod for one in view.layout.devices), ""]
    return on_words("pod", pod, pods, pods, device)


def _of_rack(view: View, rack: str) -> Mask:
    racks = [one.rack or NO_RACK for one in view.layout.devices]
    return on_words("rack", rack, racks, racks, np.arange(len(racks)))


def _of_rule(view: View, rule: str) -> Mask:
    codes, found = factorize(view.findings.rule.tolist())
    return on_words("rule", rule, rules(), found, codes)


def _in_state(view: View, state: str) -> Mask:
    lives, states_of_lives = factorize(life_words(view))
    return on_words("state", state, [one.value for one in LifeState], states_of_lives, lives)


device_lines = RowList(
    order=lambda view: view.layout.ordered_devices,
    filters={
        "nodes": lambda view, text: on_nodes(view, text, np.arange(len(view.layout.devices))),
        "role": lambda view, text: on_words("role", text, _ROLES, _ROLES, view.layout.tier),
        "pod": lambda view, text: _of_pod(view, text, np.arange(len(view.layout.devices))),
        "rack": _of_rack,
        "severity": lambda view, text: on_words("severity", text, SEVERITIES, [*SEVERITIES, ""], view.loudest[1]),
        "read": lambda view, read: view.wiring.read[: len(view.layout.devices)] == read,
    },
    line=device_line,
    keys={
        "device": lambda view: view.layout.rank,
        "role": lambda view: view.layout.tier,
        "pod": lambda view: view.layout.pod_rank,
        "rack": lambda view: view.layout.rack_rank,
        "unit": lambda view: [NONE if one.unit is None else one.unit for one in view.layout.devices],
        "platform": lambda view: ranks(one.platform for one in view.layout.devices),
        "read": lambda view: view.wiring.read[: len(view.layout.devices)],
        "right": lambda view: view.sight.counts[:, State.RIGHT],
        "wrong": lambda view: view.sight.counts[:, State.WRONG],
        "missing": lambda view: view.sight.counts[:, State.MISSING],
        "unknown": lambda view: view.sight.counts[:, State.UNKNOWN],
        "findings": lambda view: view.loudest[0],
        "severity": lambda view: view.loudest[1],
    },
    words=lambda view: view.layout.device_words,
)
"""Devices of the plan: hosts first, then tier by tier, each in natural order. `severity` is that of the highest unmuted
finding; the rack `-` is that of devices without one.
"""
cable_lines = RowList(
    order=lambda view: view.layout.ordered_cables,
    filters={
        "nodes": lambda view, text: on_nodes(view, text, view.layout.a_device, view.layout.b_device),
        "rail": lambda view, rail: on_rail(view, rail, view.layout.rail),
        "pod": lambda view, text: _of_pod(view, text, view.layout.a_device),
        "state": lambda view, text: on_words("state", text, _STATES, _STATES, view.wiring.state),
        "verified": _on_verified,
    },
    line=cable_line,
    keys={
        "subject": lambda view: view.layout.place,
        "planned": lambda view: view.layout.planned_rank,
        "rail": lambda view: view.layout.rail,
        "plane": lambda view: view.layout.plane,
        "pod": lambda view: of_device(view.layout.pod_rank, view.layout.a_device),
        "label": lambda view: view.layout.label_rank,
        "state": states,
        "verified": lambda view: view.sight.verified,
        "findings": findings_on_cables,
    },
    words=lambda view: view.layout.cable_words,
)
"""Planned cables: those of hosts first, then uplinks, each by device and port in natural order. `pod` is that of the
nearer end.
"""
finding_lines = RowList(
    order=lambda view: np.arange(len(view.findings)),
    filters={
        "nodes": lambda view, text: on_nodes(
            view, text, view.findings.device, np.append(view.layout.b_device, NONE)[view.findings.cable]
        ),
        "rule": _of_rule,
        "severity": lambda view, text: on_words("severity", text, SEVERITIES, SEVERITIES, view.findings.rank),
        "rail": lambda view, rail: on_rail(view, rail, view.findings.rail),
        "state": _in_state,
        "muted": lambda view, muted: view.muted == muted,
        "cause": _explained_by,
    },
    line=lambda view, number: finding_line(view, view.findings.all[number]),
    keys={
        "severity": lambda view: view.findings.rank,
        "rule": lambda view: ranks(view.findings.rule.tolist()),
        "subject": lambda view: ranks(one.subject for one in view.findings.all),
        "rail": lambda view: view.findings.rail,
        "state": lambda view: ranks(life_words(view)),
        "since": lambda view: [
            life.since.timestamp() if (life := view.lives.get(one)) else NONE for one in view.findings.ids
        ],
        "confidence": lambda view: [one.confidence for one in view.findings.all],
        "muted": lambda view: view.muted,
    },
    words=lambda view: view.findings.words,
)
"""Findings, highest severity first, then by rule and subject; those pending resolution last. `nodes` matches both ends
of the subject's cable, `state` takes `LifeState` words, `cause` is a key.
"""
cause_rows = RowList(
    order=lambda view: np.arange(len(view.sight.causes)),
    filters={
        "kind": lambda view, text: _causes_with(view, "kind", text, CauseKind),
        "severity": lambda view, text: _causes_with(view, "severity", text, Severity),
        "state": lambda view, text: _causes_with(view, "state", text, LifeState),
        "muted": lambda view, muted: np.array([line.muted is not None for line in view.once(cause_lines)]) == muted,
    },
    line=lambda view, number: view.once(cause_lines)[number],
    keys={
        "id": lambda view: ranks(line.id for line in view.once(cause_lines)),
        "kind": lambda view: ranks(line.kind for line in view.once(cause_lines)),
        "severity": lambda view: [Severity(line.severity).rank for line in view.once(cause_lines)],
        "impact": lambda view: [line.impact for line in view.once(cause_lines)],
        "confidence": lambda view: [line.confidence for line in view.once(cause_lines)],
        "explains": lambda view: [len(line.explains) for line in view.once(cause_lines)],
        "moves": lambda view: [len(line.moves) for line in view.once(cause_lines)],
        "state": lambda view: ranks(line.state for line in view.once(cause_lines)),
        "since": lambda view: [line.since.timestamp() if line.since else 0.0 for line in view.once(cause_lines)],
        "muted": lambda view: ranks(line.muted or "-" for line in view.once(cause_lines)),  # `-`: before all words
    },
    words=lambda view: [
        " ".join((line.kind, line.summary, line.action, *line.subjects)).lower() for line in view.once(cause_lines)
    ],
)
"""Causes in order of impact; `state` takes `LifeState` words."""


# ----------------------------------------------------------------------------------------------------------------------
# The punch list as lines, with keys that stay the same over rounds.


def step_lines(worklist: Worklist, publication: Published) -> tuple[StepLine, ...]:
    """The steps of a worklist in its order: the newest first, those of one round in walking order. The worklist
    includes the publication's evaluation.
    """
    view = view_of(publication)
    by_id = {cause.id: cause for cause in publication.evaluation.causes}
    return tuple(_line(view, by_id, entry) for entry in worklist.entries)


def _line(view: View, by_id: dict[str, Cause], entry: Entry) -> StepLine:
    step, cause = entry.step, _cause_of(view, by_id, entry)
    rack, unit = _stands(view, step.device)
    to_rack, to_unit = _stands(view, step.to.device if step.to else "")
    far_rack, far_unit = _stands(view, step.far.device if step.far else "")
    return StepLine(
        key=blake2s("\0".join(entry.key).encode(), digest_size=6).hexdigest(),
        mark=entry.mark.value,
        kind=step.kind,
        cause=cause.key if cause else "",
        rack=rack,
        unit=unit,
        device=step.device,
        at=str(step.at),
        to=str(step.to) if step.to else None,
        far=str(step.far) if step.far else None,
        label=step.label,
        action=step.action,
        since=_needed_since(view, cause, entry),
        to_rack=to_rack,
        to_unit=to_unit,
        far_rack=far_rack,
        far_unit=far_unit,
        after=step.after,
        serial=step.serial,
        far_serial=step.far_serial,
        panels=step.panels,
    )


def _stands(view: View, name: str) -> tuple[str, int | None]:
    """Rack and unit of a device in the plan."""
    device = view.plan.placed(name)
    return (device.rack, device.unit) if device else ("", None)


def _cause_of(view: View, by_id: dict[str, Cause], entry: Entry) -> Cause | None:
    """The current cause of a step. An earlier round's step names a cause by an id that may now belong to another."""
    if entry.mark in (Mark.LEFT, Mark.NEW):
        return by_id.get(entry.step.cause)
    return next((cause for finding in sorted(entry.findings) if (cause := view.cause_of(finding))), None)


def _needed_since(view: View, cause: Cause | None, entry: Entry) -> datetime | None:
    """Start of the need for this step: the life of its cause, else of the oldest of its findings."""
    life = view.cause_lives.get(cause.key) if cause else None
    if life is not None:
        return life.since
    lives = (view.lives.get(finding) for finding in entry.findings)
    return min((life.since for life in lives if life), default=None)


def filter_steps(
    steps: Iterable[StepLine], publication: Published, *, rack: str | None = None, nodes: str | None = None
) -> tuple[StepLine, ...]:
    """The steps in a rack (several are separated by commas), or at the devices of a node set. Filters that are None are
    not set. Raises `QueryError` for an unknown value.
    """
    view = view_of(publication)
    known = {*(one.rack for one in view.layout.devices), *(one.rack for one in view.plan.panels.values())}
    racks = None if rack is None else one_of("rack", rack, known)
    names = None if nodes is None else {view.index.devices.names[code] for code in view.nodes(nodes).tolist()}
    return tuple(s for s in steps if (racks is None or s.rack in racks) and (names is None or s.device in names))
