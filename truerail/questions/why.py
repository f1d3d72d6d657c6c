"""`why ID`: the evidence of a finding or a cause, the alternatives, what was ruled out, since when, and who muted it;
once it is resolved, what ended it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import NoReturn

import numpy as np

from rules import rules
from truerail.analysis.cabling import BOTH_ENDS, State
from truerail.analysis.cabling import Why as Reason
from truerail.analysis.published import Published
from truerail.causes import trace
from truerail.errors import NotFoundError, QueryError
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes
from truerail.model.finding import Cause, Evidence, Finding
from truerail.model.history import History, KeptFinding, NoHistory
from truerail.model.life import MuteKind
from truerail.model.names import printable
from truerail.questions.changes import (
    MOST_EXPLAINED,
    explained_by,
    kept_cause_line,
    kept_finding_line,
    repair_of_cause,
    repair_of_finding,
)
from truerail.questions.find import causes_named
from truerail.questions.question import Asked, Form, Given, Journal, Kind, Option, Parameter, Question
from truerail.questions.rail_status import RailStatus, rail_status_of
from truerail.questions.resolve import cause_words
from truerail.questions.why_answer import EvidenceLine, Why, why_text
from truerail.views.commands import command_of
from truerail.views.lines import cable_paths, cause_line, finding_line, finding_lines_of, journal_or
from truerail.views.pieces import CauseLine
from truerail.views.view import View, listed, view_of

_MOST_TELLS = 0.75
"""A device has the right name if at least this share of its other cables is where planned."""
MOST_EVIDENCE = 24
"""Most facts listed for a cause."""


def ruled_out(view: View, standing: RailStatus, cable: int, cause: Cause | None) -> tuple[str, ...]:
    """The sentences for a finding on a planned cable. `cause` explains it and is never ruled out."""
    state = view.wiring.state[cable]
    kind = cause.kind if cause else None
    reported: list[str] = []
    if state == State.WRONG:
        reported += [*_names(view, standing, cable, kind), *_nic_order(view, cable, kind), *_both_ends(view, cable)]
    if state == State.MISSING:
        reported += _no_link(view, cable)
    reported += _reading(view, cable)
    return tuple(reported)


def _names(view: View, standing: RailStatus, cable: int, kind: CauseKind | None) -> Iterator[str]:
    """Swapped labels of switches or hosts: distinguished by the other cables of the device."""
    index, names = view.index, view.index.devices.names
    at = int(standing.places.at[cable])
    planned = int(index.b_device[cable])
    if kind is not CauseKind.LEAF_SWAP:
        for switch in dict.fromkeys((planned, at)):
            if view.is_planned(switch) and not index.devices.is_host(switch):
                yield from _label(view, switch, cable)
    host = int(index.a_device[cable])
    if index.from_host[cable] and kind is not CauseKind.HOST_SWAP:
        right, total = _right(view, np.setdiff1d(view.layout.cables_of(host), [cable]))
        if total and right >= _MOST_TELLS * total:
            yield (
                f"{names[host]} does not have another host's name: its other cables are as planned "
                f"({right} of {total})."
            )


def _label(view: View, switch: int, cable: int) -> Iterator[str]:
    """Whether a switch has the right label: by its uplinks, else by its other cables."""
    name, uplinks = view.index.devices.names[switch], np.setdiff1d(view.layout.uplinks_of(switch), [cable])
    right, total = _right(view, uplinks)
    what = "uplinks are"
    if not total:
        right, total = _right(view, np.setdiff1d(view.layout.cables_of(switch), [cable]))
        what = "other cables are"
    if total and right >= _MOST_TELLS * total:
        yield f"The label of {name} is not swapped: its {what} as planned ({right} of {total})."


def _right(view: View, cables: Codes) -> tuple[int, int]:
    """How many of the cables in a known state are right, and how many are in a known state."""
    states = view.wiring.state[cables]
    return int(np.count_nonzero(states == State.RIGHT)), int(np.count_nonzero(states != State.UNKNOWN))


def _nic_order(view: View, cable: int, kind: CauseKind | None) -> Iterator[str]:
    """The NIC is the planned one: in its host's topology the rail's GPUs are nearest to it."""
    index, rail = view.index, int(view.index.rail[cable])
    host, port = int(index.a_device[cable]), int(index.a[cable])
    misordered = kind is CauseKind.GPU_NIC_ORDER or host in view.wiring.gpu_rails.misordered
    if not index.from_host[cable] or rail < 0 or misordered:
        return
    if rail < 62 and not int(view.wiring.gpu_rails.near[port]) >> rail & 1:
        return
    near = view.nics.gpus(host, index.a[view.layout.host_cables_of(host)], port)
    if near:
        gpus = ", ".join(f"GPU {link.gpu} ({link.level})" for link in near)
        yield f"It is not the order of NICs: topo -m shows {gpus} next to this NIC, as rail {rail} expects."


def _reading(view: View, cable: int) -> Iterator[str]:
    """Devices that answer are not unreachable."""
    index = view.index
    ends = (int(index.a_device[cable]), int(index.b_device[cable]))
    read = [index.devices.names[one] for one in ends if view.is_planned(one) and view.wiring.read[one]]
    if read:
        yield f"{' and '.join(read)} answer{'s' if len(read) == 1 else ''}, so it is not an unreachable device."


def _both_ends(view: View, cable: int) -> Iterator[str]:
    """A neighbour that has not expired yet is reported by one end only."""
    port = int(view.index.a[cable])
    if view.wiring.sure[port] >= BOTH_ENDS and not view.wiring.ambiguous[port]:
        yield "It is not a stale neighbor: both ends report each other, and neither port has another neighbor."


def _no_link(view: View, cable: int) -> Iterator[str]:
    """No link is reported by a port rather than concluded from no data; and it is not by design."""
    why = view.wiring.why[cable]
    if why == Reason.LINK_DOWN:
        ends = np.array([view.index.a[cable], view.index.b[cable]])
        states = view.wiring.states
        if states.dark(ends).any():
            yield "It is not missing LLDP: an end that answered reports that the port has no link."
        else:
            yield "It is not a gap in the discovery: it found the switch, and no link at its port."
        known = ends[(states.link_row[ends] >= 0) | (states.rdma_row[ends] >= 0)]
        if len(known) and not states.disabled(known).any():
            yield f"It is not switched off: {view.index.spell(int(known[0]))} is enabled."
    if why == Reason.SILENT and not view.wiring.met:
        yield "It is not LLDP switched off on a device: both devices see their other neighbors."


def why(publication: Published, history: History, wanted: str) -> Why:
    """Everything about one finding or one cause, by its id, its key, or its number in the evaluation (`C1`). What is
    resolved comes from the journal.

    Raises NotFoundError for an id that is neither in the evaluation nor in the journal.
    """
    view = view_of(publication)
    key = _key(view, wanted)
    found, cause = view.finding(key), view.cause(key)
    if found is not None:
        return _present(view, history, found, journal_or(lambda: history.kept_finding(key), None))
    if cause is not None:
        return _present_cause(view, key, cause)
    return _remembered(history, key) or _remembered_cause(history, key) or _unknown(history, wanted)


def why_then(publication: Published, wanted: str) -> Why:
    """The same of a publication of the past: without what was ruled out, since what the devices reported is not kept.
    Raises NotFoundError for an id that was not open then.
    """
    view = view_of(publication)
    key = _key(view, wanted)
    if view.finding(key) is None and view.cause(key) is None:
        raise not_then(publication, wanted)
    return replace(why(publication, NoHistory(), wanted), ruled_out=())


def _key(view: View, wanted: str) -> str:
    """An id or a key as it is; of a cause's number, or of words that fit one cause alone, its key. Raises QueryError
    with the causes if words fit several.
    """
    name = wanted.strip().lower()
    fits = [] if view.finding(name) else causes_named(view, name)
    if len(fits) > 1:
        named = [f"{cause_words(view.sight.causes[key])} ({key})" for key in fits]
        raise QueryError(f"{printable(wanted, 80)!r} fits {listed(named)}")
    return fits[0] if fits else name


def cause_then(view: View, history: History, cause: Cause) -> CauseLine:
    """A cause of a publication of the past, and what ended it. Raises JournalUnavailableError."""
    line = cause_line(view, cause)
    kept = history.kept_cause(line.key) if line.ended else None
    over = kept is not None and kept.life.resolved_at == line.ended
    return replace(line, repair=repair_of_cause(history, kept)) if kept and over else line


def not_then(publication: Published, wanted: str) -> NotFoundError:
    """The error for an id that was not open at the time of a publication of the past."""
    at = publication.hindsight.at if publication.hindsight else publication.at
    return NotFoundError(f"no finding and no cause had the id {printable(wanted, 80)!r} at {at:%Y-%m-%d %H:%M:%S UTC}")


def past_cause(history: History, key: str) -> CauseLine:
    """A cause of the journal, by its key. Raises NotFoundError."""
    found = _remembered_cause(history, key.strip().lower())
    if found is None or found.cause is None:
        _unknown(history, key)
    return found.cause


def _unknown(history: History, wanted: str) -> NoReturn:
    since = journal_or(history.kept_since, None)
    kept = f"; the journal has resolved ones since {since:%Y-%m-%d %H:%M UTC}" if since else ""
    raise NotFoundError(f"no finding and no cause has the id {printable(wanted, 80)!r} now{kept}")


def _present(view: View, history: History, found: Finding, kept: KeptFinding | None) -> Why:
    key = found.id
    cause, cable = view.cause_of(key), int(view.findings.cable[view.findings.number[key]])
    life = view.lives.get(key) or (kept.life if kept else None)
    mute = view.mutes.get(key)
    known = mute if mute and mute.kind is MuteKind.ACKNOWLEDGED else None
    paths = cable_paths(view, np.array([cable]), history) if cable >= 0 else ()
    return Why(
        finding=finding_line(view, found),
        detail=dict(found.detail),
        cause=cause_line(view, cause) if cause else None,
        path=paths[0] if paths else None,
        evidence=tuple(_evidence_line(one, _source(view, one)) for one in found.evidence),
        alternatives=tuple(alternative.summary for alternative in cause.alternatives) if cause else (),
        ruled_out=ruled_out(view, rail_status_of(view.evaluated), cable, cause) if cable >= 0 else (),
        explanation=_explanation(found.rule),
        episodes=life.episodes if life else 1,
        first_seen=life.first_seen if life else None,
        acknowledged_by=known.author if known else None,
        acknowledged_reason=known.reason if known else None,
    )


def _present_cause(view: View, key: str, cause: Cause) -> Why:
    life = view.cause_lives.get(key)
    explained = [found for found in map(view.finding, cause.explains[:MOST_EXPLAINED]) if found is not None]
    alternatives = tuple(one.summary for one in cause.alternatives)
    return Why(
        None, {}, cause_line(view, cause), None, _of_all(view, explained), alternatives, (), "",
        life.episodes if life else 1, life.first_seen if life else None, None, None, finding_lines_of(view, explained),
    )  # fmt: skip


def _of_all(view: View, explained: Iterable[Finding]) -> tuple[EvidenceLine, ...]:
    """The evidence of the findings of a cause, each fact once; that of the first findings."""
    found = {id(one.fact): one for finding in explained for one in finding.evidence[:MOST_EVIDENCE]}
    return tuple(_evidence_line(one, _source(view, one)) for one in [*found.values()][:MOST_EVIDENCE])


def _remembered(history: History, key: str) -> Why | None:
    """A finding that is resolved, or was not evaluated since the start, as it was last seen."""
    kept = journal_or(lambda: history.kept_finding(key), None)
    if kept is None:
        return None
    life, of = kept.life, kept.cause
    caused = journal_or(lambda: history.kept_cause(of), None) if of else None
    return Why(
        finding=kept_finding_line(kept),
        detail=dict(kept.finding.detail),
        cause=kept_cause_line(history, caused) if caused else None,
        path=None,
        evidence=tuple(_evidence_line(one, "") for one in kept.finding.evidence),
        alternatives=tuple(one.summary for one in caused.cause.alternatives) if caused else (),
        ruled_out=(),
        explanation=_explanation(kept.finding.rule),
        episodes=life.episodes,
        first_seen=life.first_seen,
        acknowledged_by=None,
        acknowledged_reason=None,
        ended=life.resolved_at,
        repair=repair_of_finding(history, kept),
    )


def _remembered_cause(history: History, key: str) -> Why | None:
    kept = journal_or(lambda: history.kept_cause(key), None)
    if kept is None:
        return None
    life, line = kept.life, kept_cause_line(history, kept)
    return Why(
        None, {}, line, None, (), line.alternatives, (), "", life.episodes, life.first_seen, None, None,
        explained_by(history, kept), life.resolved_at, line.repair,
    )  # fmt: skip


def _evidence_line(evidence: Evidence, source: str) -> EvidenceLine:
    return EvidenceLine(
        device=evidence.device,
        collector=evidence.collector,
        at=evidence.at,
        kind=type(evidence.fact).__name__,
        source=source,
        command=command_of(evidence.collector, source),
        fact={key: value for key, value in evidence.fact._asdict().items() if value not in (None, ())},
    )


def _source(view: View, evidence: Evidence) -> str:
    """The command or file of the reading; empty if the reading is no longer in the snapshot."""
    device = view.wiring.identity.filed(evidence.device)
    wanted: tuple[str, str, datetime] = (evidence.device, evidence.collector, evidence.at)
    for reading in view.sight.readings.get(device, ()):
        if (reading.device, reading.collector, reading.at) == wanted:
            return reading.source
    return ""


def _explanation(code: str) -> str:
    """The rule's own page; empty for a rule that this release does not have."""
    rule = rules().get(code)
    return rule.explanation.strip() if rule else ""


def _find(asked: Asked, given: Given) -> Why:
    answer = why(asked.publication, asked.history, given["finding"])
    if not given["trace"]:
        return answer
    return replace(answer, trace=trace(asked.publication.round, asked.publication.evaluation.findings))


QUESTION = Question(
    "why",
    Why,
    (
        Parameter(
            "finding",
            help="The id of a finding; the key of a cause (6f4dbffbab52), or words for it: 'storm gpu-012/mlx5_3'.",
            metavar="id",
        ),
        Option(
            "trace",
            help="Also each step of the search for causes: what it took, and its gain.",
            kind=Kind.FLAG,
            default=False,
            label="Steps",
        ),
    ),
    _find,
    "The basis of a finding or a cause: evidence, both ends, alternatives, and what was ruled out; of a resolved "
    "one when it began and ended, what repaired it, and its evidence then.",
    good=lambda answer: answer.state == "resolved",
    text=why_text,
    form=Form("What is a finding based on?", page="/"),
    journal=lambda given: Journal.USED,
)
