"""`storm [PORT|DEVICE]`: the pause trees, each with its root, its victims and their distance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from math import isnan

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from truerail.analysis.not_evaluated import InsufficientDataError
from truerail.analysis.pfc.culprits import Culprit, Wait
from truerail.analysis.pfc.edges import STORM
from truerail.analysis.published import Published
from truerail.files.nodesets import fold
from truerail.model.columns import NONE, grouped
from truerail.model.finding import Finding, Severity
from truerail.model.names import natural_key
from truerail.model.plan import Transport
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sure
from truerail.outputs.text.blocks import PORT, QUIET, heading
from truerail.questions.answer_text import finding, rows, section, to_do, when
from truerail.questions.question import Form, Parameter, Question
from truerail.questions.resolve import ResolvedTarget, recognise
from truerail.views.lines import finding_lines_of
from truerail.views.pieces import AsOf, FindingLine
from truerail.views.view import View, view_of

STORM_RULE, DEADLOCK_RULE = "PFC001", "PFC003"
MOST_STORMS = 6
FOLDED = 4
"""More hosts than this that are paused at one switch and pause no other device share one line."""


@dataclass(frozen=True, slots=True)
class StormNode:
    """A device in a pause tree. `kind` is `culprit`, `between` (it is paused and pauses others) or `victim`; `hops` is
    the distance from the culprit, 0 for itself.
    """

    device: str
    role: str | None
    kind: str
    hops: int


@dataclass(frozen=True, slots=True)
class StormEdge:
    """One paused link of a pause tree: port `on` pauses port `waiting`; an empty one is unknown. `share` is that of
    time, 0..1, an upper bound where not `exact`. `source` is `both ends` or `one end`, `link` `actual` or `planned`.
    """

    waiting: str
    on: str
    hops: int
    share: float
    exact: bool
    source: str
    link: str


@dataclass(frozen=True, slots=True)
class StormTree:
    """One storm: its root and its victims. `finding` is the id of the finding that reports it.

    `level` is `storm` or `suspect`. `priority` is None if no counter names it. `hosts` are those whose NICs are
    paused. `since` is the start of the pauses, or the start of the available counters if the pauses are older.
    """

    finding: str
    culprit: str
    behind: bool
    """The root is behind this port and is not monitored."""
    sub_cause: str
    level: str
    priority: int | None
    rail: int | None
    paused_share: float
    mean_pause_us: float | None
    nodes: tuple[StormNode, ...]
    edges: tuple[StormEdge, ...]
    hosts: tuple[str, ...]
    since: datetime | None
    confidence: float
    summary: str
    action: str


@dataclass(frozen=True, slots=True)
class Storm:
    """`storm [PORT|DEVICE]`, worst first: all storms, or those that involve a port or device.

    `reported` is False if there is no data on pauses. `deadlocks` are cycles of switches that pause each other.
    """

    query: str | None
    storms: tuple[StormTree, ...]
    deadlocks: tuple[FindingLine, ...]
    reported: bool
    summary: str
    action: str
    as_of: AsOf | None = None


def storm(publication: Published, of: str | None = None) -> Storm:
    """All storms, or those that involve a device or a port as root, victim or in between. Raises NotFoundError."""
    view = view_of(publication)
    meant = recognise(view, of) if of else None
    concerned = [one for one in view.findings.all if _concerns(one, meant)]
    locks = finding_lines_of(view, (one for one in concerned if one.rule == DEADLOCK_RULE))
    past = [one for one in concerned if one.rule == STORM_RULE] if publication.hindsight else []
    if publication.plan.transport is not Transport.ROCE:
        return Storm(of, (), (), True, f"PFC does not stop senders on {publication.plan.transport.value}", "")
    try:
        found = publication.round.storm_culprits
    except InsufficientDataError as why:
        if not past:
            return Storm(of, (), locks, False, f"whether there is a storm is unknown: it takes {why}", "")
        found = ()
    culprits = sorted(found, key=lambda c: (-c.level, -len(c.victims), -c.share, c.port))
    trees = tuple(_tree(view, culprit) for culprit in culprits if _in_tree(view, culprit, meant))
    if publication.hindsight:
        drawn = {tree.finding: tree for tree in trees}
        trees = tuple(_published(view, one, drawn.get(one.id)) for one in past)
    action = trees[0].action if trees else locks[0].action if locks else ""
    none = "no PFC storm was reported then" if publication.hindsight else "there is no PFC storm"
    return Storm(of, trees, locks, True, _says(trees, locks, meant, none), action)


def _says(trees: Sequence[StormTree], locks: Sequence[FindingLine], meant: ResolvedTarget | None, none: str) -> str:
    if trees and len(trees) + len(locks) == 1:
        return trees[0].summary or f"a PFC storm begins at {trees[0].culprit}"
    if locks and not trees:
        return locks[0].summary if len(locks) == 1 else f"{len(locks)} PFC deadlocks"
    about = f" that {meant.name} takes part in" if meant else ""
    if not trees:
        return f"{none}{about}"
    also = f", and {len(locks)} PFC deadlock{'s' * (len(locks) > 1)}" if locks else ""
    if len(trees) == 1:
        return f"a PFC storm begins at {trees[0].culprit}{also}"
    return f"{len(trees)} PFC storms{about}{also}, the worst begins at {trees[0].culprit}"


def _concerns(finding: Finding, meant: ResolvedTarget | None) -> bool:
    """Whether the target takes part in a storm or a deadlock."""
    if meant is None:
        return True
    detail = dict(finding.detail)
    ports = [finding.subject, *detail.get("ports", ()), *(victim["port"] for victim in detail.get("victims", ()))]
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


def _tree(view: View, culprit: Culprit) -> StormTree:
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


def _published(view: View, finding: Finding, drawn: StormTree | None) -> StormTree:
    """A storm of the past as it was published, with the waits that the counters of that time show."""
    detail = dict(finding.detail)
    hops = {finding.subject.partition("/")[0]: 0}
    for victim in detail["victims"]:
        hops.setdefault(victim["port"].partition("/")[0], victim["hops"])
    nodes = drawn.nodes if drawn else tuple(_node(view, *one) for one in hops.items())
    hosts = [node.device for node in nodes if node.role == "host" and node.kind == "victim"]
    return StormTree(
        finding=finding.id,
        culprit=finding.subject,
        behind=" begins behind " in finding.summary,
        sub_cause=detail["sub_cause"],
        level="storm" if finding.severity is Severity.CRITICAL else "suspect",
        priority=detail["priority"],
        rail=finding.rail,
        paused_share=detail["paused_share"],
        mean_pause_us=detail["mean_pause_us"],
        nodes=nodes,
        edges=drawn.edges if drawn else (),
        hosts=tuple(sorted(hosts, key=natural_key)),
        since=datetime.fromisoformat(detail["since"]) if detail["since"] else None,
        confidence=finding.confidence,
        summary=finding.summary,
        action=finding.action,
    )


def _edge(view: View, wait: Wait) -> StormEdge:
    waiting, on = _name(view, wait.waiting), _name(view, wait.on)
    source, link = "both ends" if wait.both else "one end", "actual" if wait.seen else "planned"
    return StormEdge(waiting, on, wait.hops, round(wait.share, 3), wait.exact, source, link)


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
            yield _node(view, view.index.devices.names[device], far, pauses=device in pausing)


def _node(view: View, device: str, hops: int, *, pauses: bool | None = None) -> StormNode:
    """Without `pauses`, hosts are taken for those that pause no other."""
    planned = view.plan.devices.get(device)
    role = planned.role.value if planned else None
    between = role != "host" if pauses is None else pauses
    return StormNode(device, role, "culprit" if not hops else "between" if between else "victim", hops)


def _device(view: View, port: int) -> int:
    return int(view.index.ports.device_of(np.array([port]))[0])


Under = Mapping[tuple[str, int], Sequence[StormEdge]]


def storm_text(answer: Storm, options: Options) -> Iterator[RenderableType]:
    """What to do, then every storm with its tree, then deadlocks."""
    yield from to_do(answer.action)
    most = None if options.details else MOST_STORMS
    yield from section(answer.storms, partial(_storm, options=options), "storms", most=most)
    yield from section(answer.deadlocks, finding, "", "Deadlocks", most=None)


def _storm(tree: StormTree, options: Options) -> Iterator[RenderableType]:
    yield heading(name(tree.culprit), _aside(tree))
    yield rows(_facts(tree))
    yield from _drawn(tree, options)


def _aside(tree: StormTree) -> str:
    rail = "" if tree.rail is None else f"rail {tree.rail}, "
    priority = "priority not reported" if tree.priority is None else f"priority {tree.priority}"
    return f"{name(tree.level)}, {rail}{priority}, {sure(tree.confidence)} sure"


def _facts(tree: StormTree) -> Iterator[tuple[str, RenderableType | str]]:
    yield "cause", name(tree.sub_cause)
    yield "since", when(tree.since)
    if tree.hosts:
        yield "victims", f"{count(len(tree.hosts), 'host')}: {name(fold(tree.hosts))}"


def _drawn(tree: StormTree, options: Options) -> Iterator[Text]:
    """The tree, one paused port on a line, below the device that pauses it."""
    under = grouped(((_device_line(edge.on), edge.hops), edge) for edge in tree.edges)
    roots = {_device_line(edge.on) for edge in tree.edges if edge.hops == 1}
    yield Text("  ").append(name(tree.culprit), style="bold red").append("  the culprit", style=QUIET)
    for root in sorted(roots):
        yield from _branch(under, root, 1, "  ", options, set())


def _branch(under: Under, device: str, hops: int, indent: str, options: Options, drawn: set[str]) -> Iterator[Text]:
    edges = under.get((device, hops), ())
    ends = [edge for edge in edges if (_device_line(edge.waiting), hops + 1) not in under]
    folds = len(ends) > FOLDED and not options.details
    lines = [edge for edge in edges if not (folds and edge in ends)]
    for number, edge in enumerate(lines, 1):
        last = number == len(lines) and not folds
        yield Text(indent + _corner(last, options), style=QUIET).append_text(_line(edge))
        below = _device_line(edge.waiting)
        if below not in drawn:
            drawn.add(below)
            yield from _branch(under, below, hops + 1, indent + _stem(last, options), options, drawn)
    if folds:
        yield Text(indent + _corner(True, options), style=QUIET).append_text(_folded(ends))


def _line(edge: StormEdge) -> Text:
    line = Text().append(name(edge.waiting) or "an unknown port", style=PORT)
    planned = ", cable as planned" if edge.link == "planned" else ""
    on = f" waits for {name(edge.on) or 'an unknown port'}"
    return line.append(on, style="not dim").append(f"  {_share(edge)}, {name(edge.source)}{planned}", style=QUIET)


def _folded(ends: Sequence[StormEdge]) -> Text:
    devices = fold(list(dict.fromkeys(_device_line(edge.waiting) for edge in ends if edge.waiting)))
    least, most = min(ends, key=lambda e: e.share), max(ends, key=lambda e: e.share)
    between = _share(most) if least.share == most.share else f"{_share(least)} to {_share(most)}"
    return Text().append(name(devices), style=PORT).append(f"  {len(ends)} ports wait, {between}", style=QUIET)


def _share(edge: StormEdge) -> str:
    return f"{'' if edge.exact else 'at most '}{edge.share:.0%}"


def _device_line(port: str) -> str:
    return port.partition("/")[0]


def _corner(last: bool, options: Options) -> str:
    return ("`- " if last else "|- ") if options.ascii else ("└─ " if last else "├─ ")


def _stem(last: bool, options: Options) -> str:
    return "   " if last else "|  " if options.ascii else "│  "


QUESTION = Question(
    "storm",
    Storm,
    (Parameter("of", help="Limit to storms with this port or device. [default: all]", needed=False),),
    lambda asked, given: storm(asked.publication, given["of"]),
    "PFC storms: the NIC or egress at the root, the reason, and the paused ports as a tree.",
    good=lambda answer: False if answer.storms or answer.deadlocks else answer.reported or None,
    text=storm_text,
    form=Form("Is there a PFC storm?", page="/storm"),
)
