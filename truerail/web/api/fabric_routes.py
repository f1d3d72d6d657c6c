"""The fabric at a glance, its map, its plan, what probes found, and parts that could not be evaluated or read."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from truerail.model import Plan, Reading, Role, Severity, Verdict
from truerail.model.names import printable
from truerail.outputs.unevaluated import rule_name
from truerail.plans import lint
from truerail.views.fabric import FabricView, Topology, fabric_view, topology
from truerail.views.fabric_map import FabricMap, MapCauses, map_causes
from truerail.views.probe_matrix import ProbedNic, ProbeMatrix, probe_matrix, probed_nics
from truerail.views.probe_recordings import ProbeRecording, probe_recordings
from truerail.web.answering import listed, pondered, published, reported
from truerail.web.context import Newest, NewestOrPast, WithContext
from truerail.web.etag import tag_of, to_bytes
from truerail.web.listing import Arranged, AskedList, Wanted
from truerail.web.pagination import Page, fetch_from, page
from truerail.web.request_fields import Nodes, Rail, Words

router = APIRouter(tags=["fabric"])

# ----------------------------------------------------------------------------------------------------------------------
# The key figures of the plan in force, which owns them: a plan is linted once.


@dataclass(frozen=True, slots=True)
class PlanView:
    """The plan in force. `problems` counts the findings of `truerail plan lint`, by severity."""

    name: str
    source: str
    digest: str
    inferred: bool
    transport: str
    load_balancing: str
    devices: Mapping[str, int]
    """By role."""
    pods: tuple[str, ...]
    rails: tuple[int, ...]
    planes: int
    cables: int
    uplinks: int
    problems: Mapping[str, int]


def _view(plan: Plan) -> PlanView:
    loud = Counter(problem.severity for problem in lint(plan))
    roles = Counter(device.role for device in plan.devices.values())
    from_hosts = sum(1 for _ in plan.host_cables)
    return PlanView(
        name=plan.name,
        source=plan.source,
        digest=plan.digest,
        inferred=plan.inferred,
        transport=plan.transport.value,
        load_balancing=plan.load_balancing.value,
        devices={role.value: roles[role] for role in Role},
        pods=tuple(dict.fromkeys(device.pod for device in plan.devices.values() if device.pod)),
        rails=tuple(sorted({cable.rail for cable in plan.cables if cable.rail is not None})),
        planes=len({cable.plane for cable in plan.cables if cable.plane is not None}) or 1,
        cables=len(plan.cables),
        uplinks=len(plan.cables) - from_hosts,
        problems={severity.value: loud[severity] for severity in reversed(Severity)},
    )


# ----------------------------------------------------------------------------------------------------------------------
# The fabric at a glance, its map, its plan, and parts that could not be evaluated or read.


@dataclass(frozen=True, slots=True)
class NotEvaluatedLine:
    """A part of the fabric that a rule could not evaluate: `count` of `of` things of the kind `what` (cable, link,
    host, ...); 0 if unknown. `examples` are a few devices or `device/port`.
    """

    what: str
    count: int
    of: int
    why: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A rule's verdict on the fabric: `missing` names the kinds of facts that no device reported, `why` any other
    reason that prevents the evaluation. `unknown` are the parts that it could not evaluate, even beside findings.
    """

    rule: str
    name: str
    status: str
    missing: tuple[str, ...]
    why: str
    error: str
    unknown: tuple[NotEvaluatedLine, ...]


@dataclass(frozen=True, slots=True)
class CollectionError:
    """A device that gave no readable answer to a collector."""

    device: str
    collector: str
    at: datetime
    source: str
    error: str


@router.get("/fabric", response_model=FabricView)
async def fabric(request: Request, desk: WithContext, shown: NewestOrPast) -> Response:
    """The state of the fabric. Ages are in whole seconds."""
    now = desk.tower.now().replace(microsecond=0)
    if shown.publication.hindsight is not None:
        return published(request, shown, lambda: fabric_view(shown.publication, now))
    stale, reason = desk.tower.stale_since, desk.tower.away
    tag = tag_of(shown.serial, "fabric", now.isoformat(), str(stale), reason)
    if (known := shown.answer(tag)) is None:
        view = replace(fabric_view(shown.publication, now), stale_since=stale, stale_reason=reason)
        known = shown.keep(tag, to_bytes(view))
    return reported(request, known)


@router.get("/map", response_model=FabricMap)
async def the_map(request: Request, shown: NewestOrPast) -> Response:
    """One byte for each host, rail and plane: bits 0-2 the state (0 no cable planned, 1 right, 2 wrong, 3 missing,
    4 unknown), bits 3-4 the most severe finding (0 none, 1 info, 2 warning, 3 critical), bit 5 muted.
    """
    return published(request, shown, lambda: shown.map_body)


@router.get("/map/causes", response_model=MapCauses)
async def the_maps_causes(request: Request, shown: NewestOrPast) -> Response:
    """Which cause explains each cell of the map: one byte for each cell."""
    return await pondered(request, shown, lambda: map_causes(shown.publication))


@router.get("/topology", response_model=Topology)
async def the_topology(request: Request, shown: NewestOrPast) -> Response:
    """Switches tier by tier, and the cables between them, bundled by pair of switches with their states."""
    return await pondered(request, shown, lambda: topology(shown.publication))


@router.get("/plan", response_model=PlanView)
async def plan(request: Request, shown: Newest) -> Response:
    """The plan in force, in numbers."""
    view = await asyncio.to_thread(shown.publication.plan.once, _view)
    return published(request, shown, lambda: view)


@router.get("/verdicts", response_model=Page[VerdictLine])
async def verdicts(request: Request, shown: Newest, part: Wanted) -> Response:
    """Each rule's verdict: pass, fail, or not evaluated, and why."""
    rows = sorted(shown.publication.evaluation.verdicts, key=lambda one: one.rule)
    return listed(request, shown, part, fetch_from([_verdict(one) for one in rows]), lambda row: row.rule)


@router.get("/collection-errors", response_model=Page[CollectionError])
async def unread(request: Request, shown: Newest, part: Wanted) -> Response:
    """Devices that gave no readable answer."""
    readings = shown.publication.evaluation.collection_errors

    def fetch(offset: int, limit: int) -> tuple[list[CollectionError], int]:
        return [_unread(one) for one in readings[offset : offset + limit]], len(readings)

    return listed(request, shown, part, fetch, lambda row: f"{row.device} {row.collector}")


def _verdict(verdict: Verdict) -> VerdictLine:
    name = rule_name(verdict.rule)
    unknown = tuple(
        NotEvaluatedLine(one.what, one.count, one.of, one.why, one.examples) for one in verdict.not_evaluated
    )
    return VerdictLine(verdict.rule, name, verdict.status.value, verdict.missing, verdict.why, verdict.error, unknown)


def _unread(reading: Reading) -> CollectionError:
    device, source = printable(reading.device), printable(reading.source)
    return CollectionError(device, reading.collector, reading.at, source, printable(reading.error, 500))


# ----------------------------------------------------------------------------------------------------------------------
# What `truerail probe`, or the service's background probe, found of each NIC.


@router.get("/probe", response_model=ProbeMatrix)
async def probe(request: Request, shown: Newest) -> Response:
    """Hosts by rails: one byte for each NIC, 0 none planned, 1 reached, 2 lost, 3 partly lost, 4 untried; figures by
    rail; and the hosts that took no part. What was not tried is never fine.
    """
    return await pondered(request, shown, lambda: probe_matrix(shown.publication))


@router.get("/probe/nics", response_model=Page[ProbedNic])
async def probe_nics(
    request: Request,
    desk: WithContext,
    shown: Newest,
    wanted: Arranged,
    nodes: Nodes = None,
    rail: Rail = None,
    state: Words = None,
) -> Response:
    """Planned NICs with the flows that were tried, worst first. `state` is `reached`, `lost`, `partly`, `untried`."""
    lines = partial(probed_nics, shown.publication, nodes=nodes, rail=rail, state=state)
    return await AskedList(request, shown, wanted).answer(lines, lambda row: row.nic)


@router.get("/probe/recordings", response_model=Page[ProbeRecording])
async def recordings(request: Request, shown: Newest, part: Wanted) -> Response:
    """What each host has recorded of the probes that count now: the file `truerail-probe` of its folder in a capture.
    `truerail capture --probes-from URL` stores them beside the polled answers.
    """
    fetch = partial(probe_recordings, shown.publication)
    return await pondered(request, shown, lambda: page(fetch, lambda row: row.host, shown.serial, part))
