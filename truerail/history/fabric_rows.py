"""The rows of a publication: cables, findings, causes, devices and modules as they are at that moment."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.published import Published
from truerail.journal.round_changes import LinkState, finding_columns
from truerail.model.columns import NONE, Codes, factorize
from truerail.model.facts import Neighbor, Optic
from truerail.model.finding import Cause, Finding, Severity
from truerail.model.index import PlanIndex
from truerail.model.names import printable
from truerail.model.plan import Cable, Plan, Role
from truerail.views.view import view_of

Row = dict[str, Any]


def cable_row(plan: Plan, cable: Cable, link: LinkState) -> Row:
    """A planned cable, and where its nearer end is seen."""
    actual, _, port = (link.seen or "").partition("/")
    near = plan.devices.get(cable.a.device)
    return {
        "device": cable.a.device,
        "port": cable.a.name,
        "rail": cable.rail,
        "pod": (near.pod if near else "") or None,
        "plane": cable.plane,
        "kind": "host" if near is not None and near.role is Role.HOST else "uplink",
        "planned_device": cable.b.device,
        "planned_port": cable.b.name,
        "actual_device": actual or None,
        "actual_port": port or None,
        "state": link.state,
    }


def finding_rows(publication: Published) -> Iterator[tuple[Row, datetime | None]]:
    """The findings of an evaluation, each with the begin of its episode, if that is followed."""
    causes = {finding: cause.key for cause in publication.evaluation.causes for finding in cause.explains}
    for finding in publication.evaluation.findings:
        key = finding.id
        life = publication.lives.get(key)
        row = finding_row(finding, causes.get(key), muted=key in publication.mutes)
        yield row, life.since if life else None


def finding_row(finding: Finding, cause: str | None, *, muted: bool | None) -> Row:
    """A finding, with the key of the cause that explains it."""
    return {"id": finding.id, **finding_columns(finding), "cause": cause, "muted": muted}


def cause_rows_of(publication: Published) -> Iterator[tuple[Row, datetime | None]]:
    """The causes of an evaluation, each with the begin of its episode, if that is followed."""
    severity = {finding.id: finding.severity for finding in publication.evaluation.findings}
    harm = view_of(publication).sight.impact
    for cause in publication.evaluation.causes:
        life = publication.cause_lives.get(cause.key)
        levels = [severity[one] for one in cause.explains if one in severity]
        row = cause_row(cause, max(levels, key=lambda level: level.rank, default=None), harm.get(cause.key))
        yield row, life.since if life else None


def cause_row(cause: Cause, severity: Severity | None, affected_gpus: int | None) -> Row:
    """A cause."""
    return {
        "key": cause.key,
        "kind": cause.kind.value,
        "subjects": list(cause.subjects),
        "severity": severity.value if severity else None,
        "summary": cause.summary,
        "action": cause.action,
        "moves": len(cause.moves),
        "findings": len(cause.explains),
        "affected_gpus": affected_gpus,
        "confidence": cause.confidence,
    }


def device_rows(wiring: Wiring) -> Iterator[Row]:
    """All planned devices, with the names under which their planned neighbours hear them."""
    index = wiring.index
    names = _heard(wiring, "system_name")
    chassis = _heard(wiring, "chassis_id")
    for code, device in enumerate(index.plan.devices.values()):
        yield {
            "device": device.name,
            "role": device.role.value,
            "pod": device.pod or None,
            "rack": device.rack or None,
            "platform": device.platform or None,
            "reported_name": names.get(code),
            "chassis_id": chassis.get(code),
            "read": bool(wiring.read[code]),
        }


def _heard(wiring: Wiring, field: str) -> dict[int, str]:
    """By the code of a planned device: the value that most of its planned neighbours hear from it; of equally frequent
    ones the first in order.
    """
    table = wiring.seen.table(Neighbor)
    if not len(table):
        return {}
    port = wiring.identity.local_ports(
        wiring.identity.devices_of(table), wiring.index.ports.name_codes(table.column("port"))
    )
    code, values = factorize(table.column(field))
    device = wiring.index.ports.device_of(wiring.index.far_ends(port))
    use = (device >= 0) & (code >= 0)
    pairs, count = np.unique(np.stack([device[use], code[use]], axis=1), axis=0, return_counts=True)
    best: dict[int, tuple[int, str]] = {}
    for (peer, value), times in zip(pairs.tolist(), count.tolist(), strict=True):
        word = printable(values[value], 64)
        if peer not in best or (-times, word) < (-best[peer][0], best[peer][1]):
            best[peer] = (times, word)
    return {peer: word for peer, (_, word) in best.items()}


def optic_rows(wiring: Wiring, rail: Codes) -> Iterator[Row]:
    """The modules of planned ports that report who made them. `rail` is that of each planned port."""
    from truerail.analysis.optics_lanes import lanes_of

    lanes = lanes_of(wiring)
    rows = wiring.seen.table(Optic).rows
    ports, first = np.unique(lanes.port, return_index=True)
    for port, row in zip(ports.tolist(), lanes.row[first].tolist(), strict=True):
        optic = rows[row]
        if optic.vendor or optic.part or optic.serial:
            yield _optic_row(wiring.index, port, int(rail[port]), optic)


def _optic_row(index: PlanIndex, port: int, rail: int, optic: Optic) -> Row:
    at = index.spell(port)
    device = index.plan.devices[at.device]
    return {
        "device": at.device,
        "port": at.name,
        "rail": None if rail == NONE else rail,
        "pod": device.pod or None,
        "vendor": _word(optic.vendor),
        "part": _word(optic.part),
        "serial": _word(optic.serial),
    }


def _word(value: str | None) -> str | None:
    return printable(value, 64) if value else None
