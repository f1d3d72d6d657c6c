"""`rails [NODESET]`: the load of every rail beside its cabling.

The load is that of the last minutes, as rule RAL001 reads it (`analysis/counters/rail_balance.py`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.counters.carried import LEAST_WINDOWS, TOO_FEW
from truerail.analysis.counters.rail_balance import LOW, Rails
from truerail.analysis.published import Published
from truerail.files.nodesets import fold
from truerail.model.cause_kinds import CAUSE_KINDS, Harm
from truerail.model.columns import Codes, Mask, distinct
from truerail.model.finding import Severity
from truerail.outputs.report_words import count
from truerail.questions.question import Form, Kind, Parameter, Question
from truerail.questions.rails_answer import Balance, HostBalance, HostRail, NotMeasured, RailBalance, balance_text
from truerail.questions.resolve import hosts_asked, in_order, rail_words
from truerail.views.cause_jobs import hosts_by_cause
from truerail.views.lines import STATES, cause_lines, count_of, finding_lines_of, seen_end
from truerail.views.pieces import CauseLine, FindingLine
from truerail.views.view import View, view_of

MOST_HOSTS = 1000
HOST_RULES, UPLINK_RULES = ("RAL001", "RAL002"), ("LBL001", "LBL002", "LBL003")


@dataclass(frozen=True)
class _Loads:
    """The rows of `Rails` in question; `cable` and `low` have shape (hosts, NICs)."""

    view: View
    rails: Rails
    rows: Codes
    cable: Codes
    low: Mask


def balance(publication: Published, nodeset: str | None = None) -> Balance:
    """The balance of all rails, or of those of some hosts. Raises QueryError and NotFoundError for a node set as `job`
    does.
    """
    view = view_of(publication)
    wanted = hosts_asked(view, nodeset).codes if nodeset else view.layout.hosts
    loads = _loads(view, publication.round.rails, wanted)
    hosts = _hosts(loads)
    gaps = tuple(_not_measured(loads, wanted))
    own, uplinks = _findings(view, wanted, every=not nodeset)
    causes = _causes(view, wanted)
    low = [host for host in hosts if host.low]
    compared = loads.rails.busy[loads.rows] & loads.rails.carried.enough
    fine = int(np.count_nonzero(compared & ~loads.low.any(axis=1)))
    rails = tuple(_rail(loads, wanted, rail) for rail in _numbers(view, wanted))
    return Balance(
        query=nodeset,
        rails=rails,
        hosts=tuple(hosts[:MOST_HOSTS]),
        hosts_total=len(hosts),
        balanced=fine,
        not_measured=gaps,
        causes=causes,
        findings=own,
        uplinks=uplinks,
        summary=_summary(causes, low, len(hosts) - len(low), fine, gaps, uplinks),
        action=next((cause.action for cause in causes), "") or _action(view, own, hosts, uplinks),
    )


def _causes(view: View, hosts: Codes) -> tuple[CauseLine, ...]:
    """What stalls or slows traffic of these hosts, and so unbalances their rails, unless it is muted."""
    on = [view.sight.causes[key] for key, of in hosts_by_cause(view.sight).items() if np.isin(of, hosts).any()]
    lines = cause_lines(view, [cause for cause in on if CAUSE_KINDS[cause.kind].harm is Harm.STARVES])
    return tuple(line for line in lines if not line.muted)


def _loads(view: View, rails: Rails, wanted: Codes) -> _Loads:
    rows = np.flatnonzero(np.isin(rails.host, wanted))
    ports = rails.port[rows]
    cable = view.index.cables_at(ports.ravel()).reshape(ports.shape)
    with np.errstate(invalid="ignore"):
        below = (rails.share[rows] < LOW) | np.isnan(rails.share[rows])
    known = (~np.isnan(rails.share[rows])).sum(axis=2) >= LEAST_WINDOWS
    low = below.all(axis=2) & known & rails.busy[rows][:, None]
    low = np.isin(ports, _reported(view)) if view.hindsight else low
    return _Loads(view, rails, rows, cable, np.asarray(low & (ports >= 0), dtype=bool))


def _reported(view: View) -> Codes:
    """The NICs out of balance of the past: those that were published then. Minutes blur what windows compare."""
    said = (one for one in view.findings.all if one.rule in HOST_RULES)
    ports = [str(dict(one.detail).get("port", one.subject)).partition("/")[::2] for one in said]
    devices = np.array([view.device(device) for device, _ in ports], dtype=np.int64)
    return view.index.find(devices, [name for _, name in ports])


def _numbers(view: View, hosts: Codes) -> list[int]:
    """The rails of these hosts."""
    rails = view.index.rail[view.index.from_host & np.isin(view.index.a_device, hosts)]
    return [int(rail) for rail in distinct(rails) if rail >= 0]


def _rail(loads: _Loads, hosts: Codes, rail: int) -> RailBalance:
    view = loads.view
    index = view.index
    cables = np.flatnonzero(index.from_host & (index.rail == rail) & np.isin(index.a_device, hosts))
    here = (loads.cable >= 0) & (index.rail[loads.cable] == rail)
    use, share = loads.rails.use[loads.rows], loads.rails.typical[loads.rows]
    low = loads.rails.host[loads.rows[(here & loads.low).any(axis=1)]].tolist()
    planned = view.plan.rails.get(rail)
    return RailBalance(
        rail=rail,
        name=planned.name if planned and planned.name else f"rail {rail}",
        cables=count_of(view.wiring, cables),
        measured=int(np.count_nonzero((here & ~np.isnan(use)).any(axis=1))),
        load=_typical(np.mean, use[here]),
        share=_typical(np.median, share[here & loads.rails.busy[loads.rows][:, None]]),
        low=fold(in_order(view, low)),
    )


def _typical(of: Callable[..., Any], values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float | None:
    """The mean or the median of what is known.

    Shares take the median: the NICs of one host that a storm stops make the share of its last one any number.
    """
    known = values[~np.isnan(values)]
    return round(float(of(known)), 3) if len(known) else None


def _hosts(loads: _Loads) -> list[HostBalance]:
    """Hosts with a low rail or a wrong or missing cable: the lowest rail first, then most such cables."""
    bad = (loads.cable >= 0) & np.isin(loads.view.wiring.state[loads.cable], (State.WRONG, State.MISSING))
    share = np.where(loads.low, loads.rails.typical[loads.rows], np.inf)
    lowest = share.min(axis=1, initial=np.inf)
    order = np.lexsort((loads.view.layout.rank[loads.rails.host[loads.rows]], -bad.sum(axis=1), lowest))
    rows = [row for row in order.tolist() if loads.low[row].any() or bad[row].any()]
    return [_host(loads, row) for row in rows]


def _host(loads: _Loads, row: int) -> HostBalance:
    view, at = loads.view, int(loads.rows[row])
    host = int(loads.rails.host[at])
    nics = [_nic(loads, row, nic) for nic in range(loads.cable.shape[1]) if loads.cable[row, nic] >= 0]
    name = view.index.devices.names[host]
    ports = (nic.port for nic in nics)
    return HostBalance(
        host=name,
        low=tuple(dict.fromkeys(nic.rail for nic in nics if nic.low)),
        alike=bool(loads.rails.worked[at]),
        rails=tuple(nics),
        findings=tuple(finding.id for finding in view.findings_on([name, *ports])),
    )


def _nic(loads: _Loads, row: int, nic: int) -> HostRail:
    view, at, cable = loads.view, int(loads.rows[row]), int(loads.cable[row, nic])
    planned, seen = view.plan.cables[cable], seen_end(view, cable)
    return HostRail(
        rail=int(view.index.rail[cable]),
        plane=planned.plane,
        port=str(planned.a),
        state=STATES[State(int(view.wiring.state[cable]))],
        seen=seen.name if seen else None,
        load=_known(loads.rails.use[at, nic]),
        share=_known(loads.rails.typical[at, nic]) if loads.rails.busy[at] else None,
        low=bool(loads.low[row, nic]),
    )


def _known(value: float) -> float | None:
    return None if isnan(value) else round(float(value), 3)


def _not_measured(loads: _Loads, wanted: Codes) -> Iterator[NotMeasured]:
    """Each host once, by the first reason that holds."""
    rails, rows, view = loads.rails, loads.rows, loads.view
    bare = np.setdiff1d(wanted, rails.host[rows])
    yield from _gap(view, bare.tolist(), "the plan has no cable of them on a rail")
    if not rails.carried.enough:
        unpolled = "no counters of that time are kept" if view.hindsight else "no device was polled for counters"
        why = unpolled if rails.carried.windows == 0 and view.round.counters is None else TOO_FEW
        yield from _gap(view, rails.host[rows].tolist(), why)
        return
    planned, known = rails.port[rows] >= 0, ~np.isnan(rails.use[rows])
    none = ~known.any(axis=1)
    some = ~none & (planned & ~known).any(axis=1) & ~rails.busy[rows]
    idle = ~none & ~some & ~rails.active[rows]
    little = ~none & ~some & ~idle & ~rails.busy[rows]
    for which, why in (
        (none, "no counters of their NICs, from either end"),
        (some, "counters of some of their NICs only"),
        (idle, "idle: there is no traffic to compare"),
        (little, "they carry less than a tenth of the line rate, or use a part of their NICs"),
    ):
        yield from _gap(view, rails.host[rows[which]].tolist(), why)


def _gap(view: View, hosts: list[int], why: str) -> Iterator[NotMeasured]:
    if hosts:
        yield NotMeasured(len(hosts), fold(in_order(view, hosts)[:MOST_HOSTS]), why)


def _findings(view: View, hosts: Codes, *, every: bool) -> tuple[tuple[FindingLine, ...], tuple[FindingLine, ...]]:
    """Unmuted findings on the balance of these hosts, and on that of uplinks if all hosts are in question."""
    loud = [one for one in view.findings.all if one.id not in view.mutes]
    numbers, wanted = view.findings.number, set(hosts.tolist())
    own = [f for f in loud if f.rule in HOST_RULES and int(view.findings.device[numbers[f.id]]) in wanted]
    above = [f for f in loud if f.rule in UPLINK_RULES and every]
    return finding_lines_of(view, own), finding_lines_of(view, above)


def _summary(
    causes: Sequence[CauseLine], low: list[HostBalance], miscabled: int, fine: int, gaps: Sequence[NotMeasured],
    uplinks: Sequence[FindingLine],
) -> str:  # fmt: skip
    parts = [f"{cause.kind} at {', '.join(cause.subjects[:2])}" for cause in causes[:1]]
    parts += [count(len(causes) - 1, "more cause")] if len(causes) > 1 else []
    if low:
        rails = rail_words({rail for host in low for rail in host.low})
        alike = sum(host.alike for host in low)
        parts.append(f"{count(len(low), 'host')} out of balance, low on {rails}")
        if alike:
            parts.append(f"on {alike:,} of them the work loads the rails so")
    if miscabled:
        also = "more " if low else ""
        parts.append(f"{count(miscabled, f'{also}host')} with a wrong or missing cable")
    if uplinks:
        parts.append(f"{count(len(uplinks), 'switch', 'switches')} with uneven uplinks")
    if fine:
        parts.append(f"{count(fine, 'host')} in balance")
    if gaps:
        parts.append(f"{count(sum(gap.count for gap in gaps), 'host')} not measured")
    return ", ".join(parts) or "the plan has no hosts on rails"


def _action(view: View, own: tuple[FindingLine, ...], hosts: list[HostBalance], above: tuple[FindingLine, ...]) -> str:
    """That of the cause of the worst finding on balance, else of the first cable that is not right."""
    ids = [line.id for line in own if line.severity != Severity.INFO.value]
    ids += [finding for host in hosts for finding in host.findings]
    found = (view.cause_of(one) or view.finding(one) for one in (*ids, *(line.id for line in above)))
    return next((one.action for one in found if one and one.action), "")


def _good(answer: Balance) -> bool | None:
    """Bad with a cause, a host out of balance or uneven uplinks; unknown if not all hosts and cables are known."""
    if answer.hosts_total or answer.findings or answer.uplinks or answer.causes:
        return False
    unknown = answer.not_measured or any(rail.cables.unknown for rail in answer.rails)
    return None if unknown or not answer.balanced else True


QUESTION = Question(
    "rails",
    Balance,
    (
        Parameter(
            "nodes",
            help="Limit to these hosts: 'gpu-[001-064]'. [default: all]",
            kind=Kind.NODES,
            needed=False,
            metavar="nodeset",
            label="Hosts, or all",
            example="gpu-[001-064]",
        ),
    ),
    lambda asked, given: balance(asked.publication, given["nodes"]),
    "Which rails are out of balance now, by fabric and by host: load and cabling, and what is not measured.",
    good=_good,
    text=balance_text,
    form=Form("Which rails are out of balance?", "Compare rails"),
)
