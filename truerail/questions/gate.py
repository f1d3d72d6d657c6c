"""`gate`: whether hosts are fit for a job. What is known of each host is computed once for an evaluation, so that an
answer is a look-up.

A host is not fit if a rail of it is lost or on the wrong leaf, or if a cause stalls, slows or interrupts its traffic.
It is not known if a rail of it is in unknown state. Hosts without cables in the plan are not known either.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from truerail.analysis.published import Published
from truerail.errors import NotFoundError
from truerail.files.nodesets import fold
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind, Harm
from truerail.model.columns import grouped
from truerail.model.names import clauses, printable
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import PORT, hanging
from truerail.questions.answer_text import MOST_LINES, section
from truerail.questions.fabric_tree import SchedulerNodes, scheduler_nodes
from truerail.questions.job import DEGRADED, LOST, UNKNOWN, cells_of
from truerail.questions.question import Form, Kind, Option, Parameter, Question
from truerail.questions.rail_status import rail_status_of
from truerail.questions.resolve import cause_words, rail_words
from truerail.views.cause_jobs import hosts_by_cause
from truerail.views.view import View, view_of

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class GateHost:
    """A host that is not fit, or of which it is not known: `fit` is False or None."""

    host: str
    fit: bool | None
    summary: str
    drained: str = ""
    """What its scheduler says of it, where it takes no new jobs there already: `DRAIN: C4 cable-swap`."""
    drain: str = ""
    """The command that would keep new jobs away, where it is not fit and its scheduler is known. Nothing runs it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """`gate NODES`. `fit` is None where it is not known of a host, and none is known to be unfit."""

    query: str
    fit: bool | None
    hosts: tuple[GateHost, ...]
    """Those that are not fit, then those of which it is not known."""
    at: datetime
    """The evaluation that it comes from."""
    summary: str


@dataclass(frozen=True)
class Fitness:
    """What is wrong with hosts, by their codes: rails that are lost or degraded, rails that are unknown, and causes
    that affect their traffic. `rails` has the number of rails of every host.
    """

    rails: Mapping[int, int]
    lost: Mapping[int, Sequence[int]]
    degraded: Mapping[int, Sequence[int]]
    unknown: Mapping[int, Sequence[int]]
    causes: Mapping[int, Sequence[str]]


def fitness_of(publication: Published) -> Fitness:
    """The fitness of all hosts, computed once for each publication."""
    return publication.once(_fitness)


def _fitness(publication: Published) -> Fitness:
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    index = view.index
    cells = cells_of(standing, np.flatnonzero(index.from_host))
    hosts, rails = np.unique(cells.host, return_counts=True)
    number = dict(zip(hosts.tolist(), rails.tolist(), strict=True))
    here = (cells.state == state for state in (LOST, DEGRADED, UNKNOWN))
    lost, degraded, unknown = (
        grouped(zip(cells.host[one].tolist(), cells.rail[one].tolist(), strict=True)) for one in here
    )
    return Fitness(number, lost, degraded, unknown, grouped(_affected(view)))


def _affected(view: View) -> Iterator[tuple[int, str]]:
    """Causes with the hosts whose traffic they stall, slow or interrupt, though their cables are right."""
    for key, hosts in hosts_by_cause(view.sight).items():
        cause = view.sight.causes[key]
        if CAUSE_KINDS[cause.kind].harm is Harm.STARVES or cause.kind is CauseKind.GPU_NIC_ORDER:
            yield from ((host, cause_words(cause)) for host in hosts.tolist())


def gate(publication: Published, nodes: str, rails: int | None, *, strict: bool) -> Gate:
    """Whether these hosts are fit. Raises QueryError for an invalid node set."""
    view, known = view_of(publication), fitness_of(publication)
    nodes_of = scheduler_nodes(publication)
    asked = (_host(view, known, name, rails) for name in dict.fromkeys(view.expand(nodes)))
    found = [_with_scheduler(view, one, nodes_of) for one in asked]
    bad = [one for one in found if one.fit is False]
    unsure = [one for one in found if one.fit is None]
    fit = False if bad or (strict and unsure) else None if unsure else True
    return Gate(nodes, fit, (*bad, *unsure), publication.at, _summary(found, bad, unsure))


def _with_scheduler(view: View, one: GateHost, nodes: SchedulerNodes) -> GateHost:
    """The host with what its scheduler knows of it already, or what would tell it."""
    node = nodes.of.get(view.index.devices.find(one.host))
    drained = nodes.drained(node) if node else ""
    if one.fit is not False or drained:
        return replace(one, drained=drained)
    return replace(one, drain=nodes.drain_command(one.host, node, one.summary))


def _host(view: View, known: Fitness, name: str, rails: int | None) -> GateHost:
    try:
        host = view.named(name)
    except NotFoundError as error:
        return GateHost(name, None, str(error.args[0]))
    if not view.is_planned(host) or not view.index.devices.is_host(host):
        return GateHost(name, None, f"the plan has no host {printable(name, 80)!r}")
    return host_fitness(view, known, host, rails)


def host_fitness(view: View, known: Fitness, host: int, rails: int | None) -> GateHost:
    """Whether one host of the plan is fit: with all of its rails, or with so many."""
    spelled = view.index.devices.names[host]
    if host not in known.rails:
        return GateHost(spelled, None, "the plan has no cable of it")
    lost, degraded, unknown = (of.get(host, ()) for of in (known.lost, known.degraded, known.unknown))
    works = known.rails[host] - len(lost) - len(unknown)
    if known.causes.get(host):
        return GateHost(spelled, False, f"affected by {', '.join(known.causes[host][:_MOST_NAMED])}")
    if rails is None and (lost or degraded):
        words = [f"{_rails(lost)} lost"] * bool(lost) + [f"one plane left on {_rails(degraded)}"] * bool(degraded)
        return GateHost(spelled, False, ", ".join(words))
    needed = known.rails[host] if rails is None else rails
    if works >= needed:
        return GateHost(spelled, True, "")
    if works + len(unknown) >= needed:
        return GateHost(spelled, None, f"{_rails(unknown)} not known")
    return GateHost(spelled, False, f"{works:,} of {count(needed, 'rail')} that are needed")


def _rails(rails: Iterable[int]) -> str:
    return rail_words(rail for rail in rails if rail >= 0) or "a cable without a rail"


def _summary(found: list[GateHost], bad: list[GateHost], unsure: list[GateHost]) -> str:
    if not bad and not unsure:
        return f"fit: {count(len(found), 'host')}"
    worst = bad or unsure
    word = "not fit" if bad else "not known"
    named = clauses([f"{one.host} ({one.summary})" for one in worst], _MOST_NAMED)
    beside = f". Not known: {fold([one.host for one in unsure])}" if bad and unsure else ""
    return f"{word}: {named}{beside}"


def gate_text(answer: Gate, options: Options) -> Iterator[RenderableType]:
    """A line for each host that is not known to be fit."""
    yield from section(answer.hosts, _host_lines, "hosts", most=None if options.details else MOST_LINES)


def _host_lines(host: GateHost) -> Iterator[RenderableType]:
    mark = "?" if host.fit is None else "!"
    yield hanging(mark, Text().append(name(host.host), style=PORT).append(f"  {sentence(host.summary)}"))
    if host.drained:
        yield hanging("", Text(f"no new job starts there already: {name(host.drained)}"), indent=2)
    elif host.drain:
        yield hanging("", Text("to keep new jobs away:"), indent=2)
        yield hanging("", Text(name(host.drain)), indent=4)


QUESTION = Question(
    "gate",
    Gate,
    (
        Parameter(
            "nodes",
            help="The hosts: 'gpu-[001-016]'.",
            kind=Kind.NODES,
            metavar="nodeset",
            label="Hosts",
            example="gpu-[001-016]",
        ),
        Option(
            "rails",
            help="Rails that a host must have; all that the plan gives it without this.",
            kind=Kind.NUMBER,
            metavar="N",
            least=1,
            most=1024,
            label="Rails needed",
        ),
        Option("strict", help="What is not known is not fit.", kind=Kind.FLAG, default=False, label="Strict"),
    ),
    lambda asked, given: gate(asked.publication, given["nodes"], given["rails"], strict=given["strict"]),
    "Whether a job may start on these hosts, by the last evaluation. Fit: exit code 0, status 200; "
    "not fit: 1, 409; unknown: 2, 503.",
    good=lambda answer: answer.fit,
    text=gate_text,
    gate=True,
    form=Form("Are these hosts fit for a job?", "Check hosts"),
)
