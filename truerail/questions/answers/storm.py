"""`storm [PORT|DEVICE]`: the pause trees, each with its root, its victims and their distance."""

from collections.abc import Iterator
from datetime import UTC, datetime
from math import isnan

import numpy as np

from truerail.analysis.pfc.culprits import Culprit, Wait
from truerail.analysis.pfc.edges import STORM
from truerail.analysis.pfc.trees import Pauses
from truerail.analysis.published import Published
from truerail.analysis.rule import InsufficientDataError
from truerail.model.columns import NONE
from truerail.model.finding import Finding
from truerail.model.names import natural_key
from truerail.model.plan import Transport
from truerail.questions.answers.resolve import ResolvedTarget, recognise
from truerail.questions.storm import Storm, StormEdge, StormNode, StormTree
from truerail.views.lines import finding_lines_of
from truerail.views.pieces import FindingLine
from truerail.views.view import View, view_of

STORM_RULE, DEADLOCK_RULE = "PFC001", "PFC003"


def storm(publication: Published, of: str | None = None) -> Storm:
    """All storms, or those that involve a device or a port as root, victim or in between. Raises NotFoundError."""
    view = view_of(publication)
    meant = recognise(view, of) if of else None
    locks = finding_lines_of(view, (f for f in view.findings.all if f.rule == DEADLOCK_RULE and _in_lock(f, meant)))
    if publication.plan.transport is not Transport.ROCE:
        return Storm(of, (), (), True, f"PFC does not stop senders on {publication.plan.transport.value}", "")
    try:
        pauses = publication.round.pauses
    except InsufficientDataError as why:
        return Storm(of, (), locks, False, f"whether there is a storm is unknown: it takes {why}", "")
    culprits = sorted(publication.round.storm_culprits, key=lambda c: (-c.level, -len(c.victims), -c.share, c.port))
    trees = tuple(_tree(view, pauses, culprit) for culprit in culprits if _in_tree(view, culprit, meant))
    return Storm(of, trees, locks, True, _says(trees, locks, meant), trees[0].action if trees else _unlock(locks))


def _says(trees: tuple[StormTree, ...], locks: tuple[FindingLine, ...], meant: ResolvedTarget | None) -> str:
    if trees and len(trees) + len(locks) == 1:
        return trees[0].summary or f"a PFC storm begins at {trees[0].culprit}"
    if locks and not trees:
        return locks[0].summary if len(locks) == 1 else f"{len(locks)} PFC deadlocks"
    about = f" that {meant.name} takes part in" if meant else ""
    if not trees:
        return f"there is no PFC storm{about}"
    also = f", and {len(locks)} PFC deadlock{'s' * (len(locks) > 1)}" if locks else ""
    return (
        f"{len(trees)} PFC storms{about}{also}, the worst begins at {trees[0].culprit}"
        if len(trees) > 1
        else (f"a PFC storm begins at {trees[0].culprit}{also}")
    )


def _unlock(locks: tuple[FindingLine, ...]) -> str:
    return locks[0].action if locks else ""


def _in_lock(finding: Finding, meant: ResolvedTarget | None) -> bool:
    """Whether the target takes part in a deadlock."""
    if meant is None:
        return True
    detail = dict(finding.detail)
    ports = [*detail.get("ports", ()), *(victim["port"] for victim in detail.get("victims", ()))]
    names = {*detail.get("cycle", ()), *ports, *(port.partition("/")[0] for port in ports)}
    return meant.name in names


def _in_tree(view: View, culprit: Culprit, meant: ResolvedTarget | None) -> bool:
    """Whether the target takes part in a storm: a port itself, else any port of its device or cables."""
    if meant is None:
        return True
    ports = np.array([culprit.port, *(end for wait in culprit.waits for end in (wait.waiting, wait.on))])
    if meant.port != NONE:
        return bool((ports == meant.port).any())
    if meant.matched_type in ("host", "switch"):
        return bool((view.index.ports.device_of(ports) == meant.device).any())
    return bool(np.isin(ports, view.index.a[meant.cables]).any())


def _tree(view: View, pauses: Pauses, culprit: Culprit) -> StormTree:
    port = _name(view, culprit.port) if culprit.switch < 0 else view.index.devices.names[culprit.switch]
    finding = next((f for f in view.findings.all if f.rule == STORM_RULE and f.subject == port), None)
    nodes = tuple(_nodes(view, culprit))
    hosts = [node.device for node in nodes if node.role == "host" and node.kind == "victim"]
    return StormTree(
        finding=finding.id if finding else "",
        culprit=port,
        behind=culprit.unseen and culprit.switch < 0,
        sub_cause=culprit.reason.value,
        level="storm" if culprit.level == STORM else "suspect",
        priority=culprit.priority,
        rail=view.plan.rail_of(view.index.spell(culprit.port)) if culprit.switch < 0 else None,
        paused_share=round(culprit.share, 3),
        mean_pause_us=None if isnan(culprit.pause_us) else round(culprit.pause_us, 1),
        nodes=nodes,
        edges=tuple(_edge(view, wait) for wait in culprit.waits),
        hosts=tuple(sorted(set(hosts), key=natural_key)),
        since=None if isnan(culprit.since) else datetime.fromtimestamp(culprit.since, tz=UTC),
        confidence=culprit.confidence,
        summary=finding.summary if finding else "",
        action=finding.action if finding else "",
    )


def _edge(view: View, wait: Wait) -> StormEdge:
    return StormEdge(
        waiting=_name(view, wait.waiting),
        on=_name(view, wait.on),
        hops=wait.hops,
        share=round(wait.share, 3),
        exact=wait.exact,
        source="both ends" if wait.both else "one end",
        link="actual" if wait.seen else "planned",
    )


def _name(view: View, port: int) -> str:
    return "" if port < 0 else str(view.index.spell(port))


def _nodes(view: View, culprit: Culprit) -> Iterator[StormNode]:
    """Every device of a tree once, nearest first."""
    pausing = {_device(view, wait.on) for wait in culprit.waits}
    hops: dict[int, int] = {_device(view, culprit.first.on): 0}
    for wait in culprit.waits:
        hops.setdefault(_device(view, wait.waiting), wait.hops)
    for device, far in hops.items():
        if device != NONE:
            role = view.layout.devices[device].role.value if view.is_planned(device) else None
            kind = "culprit" if not far else "between" if device in pausing else "victim"
            yield StormNode(view.index.devices.names[device], role, kind, far)


def _device(view: View, port: int) -> int:
    return int(view.index.ports.device_of(np.array([port]))[0])
