"""Lists of devices, cables and findings: filtered on columns; only the requested rows are made.

Filters that are None are not set. A filter takes several values, separated by commas. Each function raises
`QueryError` for an unknown value of a filter, and returns a `Part`: the items from `offset` on, and the total.
"""

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.cabling.named_by import VERIFIED
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.model.columns import NONE, Mask, factorize
from truerail.model.finding import CableState, Severity
from truerail.model.life import LifeState
from truerail.model.names import printable
from truerail.model.plan import Role
from truerail.views.filters import Part, on_nodes, on_rail, on_words, part, rows_of
from truerail.views.layout import ranks
from truerail.views.lines import cable_line, finding_line, state_count
from truerail.views.models import CableLine, DeviceLine
from truerail.views.pieces import FindingLine
from truerail.views.racks import NO_RACK
from truerail.views.sorting import Keys, arranged, findings_on_cables, of_device, states, with_text
from truerail.views.view import View, view_of

_ROLES = [role.value for role in Role]
_SEVERITIES = [severity.value for severity in Severity]
_STATES = [CableState.RIGHT.value, CableState.WRONG.value, CableState.MISSING.value, CableState.UNKNOWN.value]
"""In the order of `wiring.State`."""


DEVICE_KEYS: Keys = {
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
}
CABLE_KEYS: Keys = {
    "subject": lambda view: view.layout.place,
    "planned": lambda view: view.layout.planned_rank,
    "rail": lambda view: view.layout.rail,
    "plane": lambda view: view.layout.plane,
    "pod": lambda view: of_device(view.layout.pod_rank, view.layout.a_device),
    "label": lambda view: view.layout.label_rank,
    "state": states,
    "verified": lambda view: view.sight.verified,
    "findings": findings_on_cables,
}
FINDING_KEYS: Keys = {
    "severity": lambda view: view.findings.rank,
    "rule": lambda view: ranks(view.findings.rule.tolist()),
    "subject": lambda view: ranks(one.subject for one in view.findings.all),
    "rail": lambda view: view.findings.rail,
    "state": lambda view: ranks(life_words(view)),
    "since": lambda view: [_since(view, one) for one in view.findings.ids],
    "confidence": lambda view: [one.confidence for one in view.findings.all],
    "muted": lambda view: view.muted,
}
"""The columns that lists are sorted by."""
NOT_VERIFIED = "the journal does not keep which ends confirmed a cable"


def device_lines(
    publication: Published,
    *,
    nodes: str | None = None,
    role: str | None = None,
    pod: str | None = None,
    rack: str | None = None,
    severity: str | None = None,
    read: bool | None = None,
    text: str | None = None,
    sort: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Part[DeviceLine]:
    """Devices of the plan: hosts first, then tier by tier, each in natural order. `severity` is that of the highest
    unmuted finding; the rack `-` is that of devices without one.
    """
    view = view_of(publication)
    layout, (_, loudest) = view.layout, view.loudest
    codes = np.arange(len(layout.devices))
    pods, racks = [one.pod for one in layout.devices], [one.rack or NO_RACK for one in layout.devices]
    masks = (
        on_nodes(view, nodes, codes),
        on_words("role", role, _ROLES, _ROLES, layout.tier),
        on_words("pod", pod, pods, pods, codes),
        on_words("rack", rack, racks, racks, codes),
        on_words("severity", severity, _SEVERITIES, [*_SEVERITIES, ""], loudest),
        None if read is None else view.wiring.read[: len(codes)] == read,
        with_text(text, lambda: layout.device_words),
    )
    keep = np.zeros(len(codes), dtype=bool)
    keep[rows_of(len(codes), masks)] = True
    ordered = layout.ordered_devices
    rows = arranged(view, ordered[keep[ordered]], DEVICE_KEYS, sort)
    return part(rows, offset, limit, lambda code: device_line(view, code))


def device_line(view: View, code: int) -> DeviceLine:
    """A device of the plan as a row of a list."""
    device, (findings, loudest) = view.layout.devices[code], view.loudest
    rank = int(loudest[code])
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
        severity=None if rank == NONE else _SEVERITIES[rank],
    )


def cable_lines(
    publication: Published,
    *,
    nodes: str | None = None,
    rail: int | None = None,
    pod: str | None = None,
    state: str | None = None,
    verified: str | None = None,
    text: str | None = None,
    sort: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Part[CableLine]:
    """Planned cables: those of hosts first, then uplinks, each by device and port in natural order. `pod` is that of
    the nearer end.
    """
    view = view_of(publication)
    layout = view.layout
    pods = [*(device.pod for device in layout.devices), ""]
    masks = (
        on_nodes(view, nodes, layout.a_device, layout.b_device),
        on_rail(view, rail, layout.rail),
        on_words("pod", pod, pods, pods, layout.a_device),
        on_words("state", state, _STATES, _STATES, view.wiring.state),
        _on_verified(view, verified),
        with_text(text, lambda: layout.cable_words),
    )
    rows = rows_of(len(layout.rail), masks)
    rows = arranged(view, rows[np.argsort(layout.place[rows])], CABLE_KEYS, sort)
    return part(rows, offset, limit, lambda cable: cable_line(view, cable))


def _on_verified(view: View, verified: str | None) -> Mask | None:
    if verified is not None and view.hindsight is not None:
        raise QueryError(f"verified: {NOT_VERIFIED}, so no list of {view.hindsight.at:%Y-%m-%d %H:%M:%S UTC} has it")
    return on_words("verified", verified, VERIFIED, VERIFIED, view.sight.verified)


def finding_lines(
    publication: Published,
    *,
    nodes: str | None = None,
    rule: str | None = None,
    severity: str | None = None,
    rail: int | None = None,
    state: str | None = None,
    muted: bool | None = None,
    cause: str | None = None,
    text: str | None = None,
    sort: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Part[FindingLine]:
    """Findings, highest severity first, then by rule and subject; those pending resolution last. `nodes` matches both
    ends of the subject's cable, `state` takes `LifeState` words, `cause` is a key.
    """
    view = view_of(publication)
    findings = view.findings
    far = np.append(view.layout.b_device, NONE)[findings.cable]
    codes, rules = factorize(findings.rule.tolist())
    lives, life_states = factorize(life_words(view))
    masks = (
        on_nodes(view, nodes, findings.device, far),
        on_words("rule", rule, known_rules(), rules, codes),
        on_words("severity", severity, _SEVERITIES, _SEVERITIES, findings.rank),
        on_rail(view, rail, findings.rail),
        on_words("state", state, [one.value for one in LifeState], life_states, lives),
        None if muted is None else view.muted == muted,
        _explained_by(view, cause),
        with_text(text, lambda: findings.words),
    )
    rows = arranged(view, rows_of(len(findings), masks), FINDING_KEYS, sort)
    return part(rows, offset, limit, lambda number: finding_line(view, findings.all[number]))


def _since(view: View, finding: str) -> float:
    life = view.lives.get(finding)
    return life.since.timestamp() if life else NONE


def known_rules() -> list[str]:
    """The codes of all rules."""
    from rules import rules

    return list(rules())


def life_words(view: View) -> list[str]:
    """The `LifeState` word of each finding."""
    lives = view.lives
    return [lives[one].state.value if one in lives else LifeState.NEW.value for one in view.findings.ids]


def _explained_by(view: View, cause: str | None) -> Mask | None:
    if cause is None:
        return None
    known = view.cause(cause)
    if known is None:
        raise QueryError(f"cause {printable(cause, 80)!r} is not known: it may have been resolved")
    numbers = view.findings.number
    mask = np.zeros(len(numbers), dtype=bool)
    mask[[numbers[finding] for finding in known.explains if finding in numbers]] = True
    return mask
