"""From findings on traffic, links and hosts to few causes: a higher root explains a finding, or it is a cause.

A path sweep may refute causes that counters suggest. Counters show what carried nothing, and that may be chance, few
large flows, or a hash. A sweep with enough flows shows what the hash does: where it spreads them, a polarized tier or a
dead member is no explanation.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from truerail.analysis.cabling import ONE_END, State
from truerail.analysis.counters.carried import overall
from truerail.analysis.round import Round
from truerail.analysis.sweep.swept import Swept, swept
from truerail.causes.candidate import CauseCandidate
from truerail.causes.telemetry.correlator import NAMED, Correlator, behind, impact
from truerail.causes.telemetry.crossing import Crossing, Spines
from truerail.causes.telemetry.found import FabricContext, found_in
from truerail.causes.telemetry.precedence import MAINTAINED_HOST, MAINTAINED_SWITCH, PHYSICAL, PROBED, ROWS
from truerail.causes.telemetry.roots import DOWN, RootCandidate, root_of_device, root_of_draft
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind
from truerail.model.columns import Codes, distinct
from truerail.model.finding import Alternative, Finding
from truerail.model.index import PlanIndex
from truerail.model.life import Maintained
from truerail.model.names import some
from truerail.model.probe_facts import ProbeHop

BY_TRAFFIC_ONLY = 0.6
"""Confidence in conclusions from traffic alone (detection notes, source reliabilities)."""
MOST_RIVALS = 3
"""Most competing causes named with a cause, those that would explain most of it first."""


def correlate(
    round: Round, drafts: Sequence[CauseCandidate], findings: Sequence[Finding], work: Sequence[Maintained] = ()
) -> list[CauseCandidate]:
    """The remaining causes once `drafts`, those of the cabling, have explained what they can.

    `findings` are those that no draft explains yet. Drafts get the ids of the findings that they explain, and mention
    them. Every finding of a rule in the table then has exactly one cause. Linear in findings and victims except for
    sorting.

    `work` is covered by maintenance windows now: links and devices that are down explain before it, all else after it.
    """
    ground = FabricContext(round)
    board = Correlator(found_in(ground, [finding for finding in findings if finding.rule in ROWS]))
    crossings = _crossings(ground, drafts)
    board.expand(_roots(ground, (draft for draft in drafts if draft.kind in DOWN), crossings))
    board.expand(maintenance_roots(ground, work))
    for rule in PHYSICAL:
        board.rank(rule)
    board.expand(_roots(ground, (draft for draft in drafts if draft.kind not in DOWN), crossings))
    for rule in ROWS:
        if rule not in PHYSICAL:
            board.rank(rule)
    for draft in drafts:
        if (crossing := crossings.get(id(draft))) is not None:
            draft.summary = f"{_ended(draft.summary)} {impact(ground, crossing)}"
    by_rates_only = [board.owner[number] for number in board.found.by_rule.get("RAL002", ()) if board.made(number)]
    _doubt_slow_nics(ground, by_rates_only, drafts)
    _confirm_by_probes(board, drafts)
    doubt_by_sweep(round, board)
    given = set(map(id, drafts))
    for key, draft in board.drafts.items():
        _say_behind(board, draft, own=key not in given)
    return [draft for key, draft in board.drafts.items() if key not in given and draft.explains]


PROBE_DOUBT = 0.5
"""Share of the doubt in a cable's place that is left once probes show the same. Chosen by judgement."""


def _confirm_by_probes(board: Correlator, drafts: Sequence[CauseCandidate]) -> None:
    """Raises the confidence in moved cables that explain what probes show: a second witness."""
    for draft in drafts:
        probed = any(board.found.rules[number] in PROBED for number in board.behind.get(id(draft), ()))
        if CAUSE_KINDS[draft.kind].strays and probed:
            draft.confidence = 1 - (1 - draft.confidence) * PROBE_DOUBT


def _roots(
    ground: FabricContext, drafts: Iterable[CauseCandidate], crossings: Mapping[int, Crossing]
) -> Iterator[tuple[CauseCandidate, RootCandidate]]:
    roots = ((draft, root_of_draft(ground, draft, crossings.get(id(draft)))) for draft in drafts)
    return ((draft, root) for draft, root in roots if root is not None)


def _crossings(ground: FabricContext, drafts: Sequence[CauseCandidate]) -> dict[int, Crossing]:
    """Traffic of each draft's wrong-rail NICs through the spines, by the draft's id."""
    strays = (draft for draft in drafts if CAUSE_KINDS[draft.kind].strays)
    moved = [(draft, np.array(list(draft.cables), dtype=np.int64)) for draft in strays]
    if not moved:
        return {}
    index = ground.wiring.index
    wrong = np.flatnonzero((ground.wiring.state == State.WRONG) & index.from_host)
    away: Codes = wrong[index.ports.device_of(ground.wiring.place[wrong]) != index.b_device[wrong]]
    spines = Spines(ground, away)
    found = {id(draft): spines.crossing(cables) for draft, cables in moved}
    return {key: crossing for key, crossing in found.items() if crossing is not None}


def _say_behind(board: Correlator, draft: CauseCandidate, *, own: bool) -> None:
    """Adds the symptoms that a cause explains, and the causes that would explain some of them as well. Missing cables
    do not compete: their effects add up.
    """
    if id(draft) in board.joined:
        draft.summary = f"{draft.summary.removesuffix('.')}; the same at {some(draft.subjects[1:], NAMED)}"
    symptoms = [board.found.findings[number] for number in board.behind.get(id(draft), ())]
    if symptoms:
        draft.summary = f"{_ended(draft.summary)} {behind(symptoms)}"
        draft.confidence *= _reliability(board, draft) if own else 1.0
    for other, count in board.rivals.get(id(draft), Counter()).most_common(MOST_RIVALS if own else 0):
        rival = board.drafts[other]
        summary = f"{count} of these findings may come from {rival.subjects[0]}, which is as close"
        draft.alternatives = (*draft.alternatives, Alternative(rival.kind, summary))


def _reliability(board: Correlator, draft: CauseCandidate) -> float:
    """Confidence in the place of a cause's link, which ties symptoms to it."""
    found = board.found
    _, ports = found.ground.places(draft.subjects[:1])
    port = int(ports[0])
    return 1.0 if port < 0 else float(found.ground.wiring.sure[port]) or ONE_END


def _ended(summary: str) -> str:
    return summary if summary.endswith(".") else f"{summary}."


def _doubt_slow_nics(
    ground: FabricContext, drafts: Iterable[CauseCandidate], cabling: Sequence[CauseCandidate]
) -> None:
    """Adds the alternative to causes based on traffic alone if a NIC on the same rail and leaf has no link.

    A job's traffic with a NIC that is down is missing at its neighbours in the ring; which jobs run is unknown.
    """
    index = ground.wiring.index
    down: dict[tuple[int, int], str] = {}
    for draft in cabling:
        if draft.kind is CauseKind.LINK_DOWN:
            for cable in draft.cables:
                if index.from_host[cable]:
                    down.setdefault((int(index.rail[cable]), int(index.b_device[cable])), draft.subjects[0])
    slow = list(drafts) if down else []
    _, ports = ground.places([draft.subjects[0] for draft in slow])
    for draft, cable in zip(slow, index.cables_at(np.asarray(ports)).tolist(), strict=True):
        other = down.get((int(index.rail[cable]), int(index.b_device[cable]))) if cable >= 0 else None
        if other is not None:
            summary = f"{other} on the same rail is down: what a job exchanges with it is missing here"
            draft.alternatives = (*draft.alternatives, Alternative(CauseKind.LINK_DOWN, summary))
            hosts = " and ".join(port.partition("/")[0] for port in (other, draft.subjects[0]))
            draft.to_confirm = f"whether one job runs on {hosts}"
            draft.confidence = min(draft.confidence, BY_TRAFFIC_ONLY)


REFUTED = 0.4
"""Confidence in a cause that a sweep contradicts. Chosen by judgement: below that of traffic alone."""


def doubt_by_sweep(round: Round, board: Correlator) -> None:
    """Lowers the confidence in causes of LBL001 and LBL003 that the sweep of the round contradicts."""
    numbers = [n for rule in ("LBL001", "LBL003") for n in board.found.by_rule.get(rule, ()) if board.made(n)]
    if not numbers or not len(round.snapshot.table(ProbeHop)):
        return
    found = swept(round)
    for number in numbers:
        draft, device, port = board.owner[number], int(board.found.device[number]), int(board.found.port[number])
        if board.found.rules[number] == "LBL003":
            if packets := _passed(round.cabling.index, found, port):
                why = f"a path sweep sent {packets:,} packets over it: it is in use, and few large flows miss it"
                _doubt(draft, why)
        elif _spread(found, [device]):
            why = "in a path sweep the hashes of the two tiers were independent: few large flows load it unevenly"
            _doubt(draft, why)


def _passed(index: PlanIndex, found: Swept, port: int) -> int:
    """Packets of the sweep that an uplink has sent."""
    cable = int(index.cables_at(np.array([port]))[0])
    if cable < 0 or int(index.a[cable]) != port:
        return 0
    return int(found.coverage.packets[found.coverage.segment == 2 * cable].sum())


def _spread(found: Swept, switches: Iterable[int]) -> bool:
    """Whether all leaves that send over these switches were swept with enough flows, and none repeats its choice."""
    own = [one for one in found.choices.spreads if np.isin(list(switches), one.switches).any()]
    polarized = {one.leaf for one in found.choices.polarized}
    return bool(own) and all(one.enough and one.leaf not in polarized for one in own)


def _doubt(draft: CauseCandidate, why: str) -> None:
    draft.confidence = min(draft.confidence, REFUTED)
    draft.alternatives = (*draft.alternatives, Alternative(CauseKind.OVERLOAD, why))
    draft.to_confirm = draft.to_confirm or "whether its traffic is a few large flows"


# ----------------------------------------------------------------------------------------------------------------------
# Announced work explains its effects on others: a drained spine leaves uplinks idle, a drained host NICs.
#
# Nothing else may show the work: the links are up, and drained devices have no finding. A switch explains only what a
# link without traffic explains: one that is not drained yet carries its usual traffic.


DRAINED = 0.001
"""Share of its speed below which a link carries only control traffic (`truerail.analysis.ecmp.tiers.SILENT`)."""
SURE = 0.8
"""Confidence: the window shows that work goes on there, not which. Chosen by judgement."""


def maintenance_roots(
    ground: FabricContext, work: Iterable[Maintained]
) -> Iterator[tuple[CauseCandidate, RootCandidate]]:
    """One cause for each window, with a root for each of its devices."""
    for window in work:
        codes, _ = ground.places(window.devices)
        draft = CauseCandidate(CauseKind.MAINTENANCE, window.devices, _says(window), _do(window), confidence=SURE)
        for code in dict.fromkeys(codes[codes >= 0].tolist()):
            yield draft, _root(ground, code)


def _says(window: Maintained) -> str:
    what = f"{some(window.devices, NAMED)} {'are' if len(window.devices) > 1 else 'is'} in maintenance"
    why = f": {window.reason}" if window.reason else ""
    return f"{what} until {window.until:%Y-%m-%d %H:%M} UTC ({window.author}){why}"


def _do(window: Maintained) -> str:
    return f"Nothing now: check again when the maintenance of {some(window.devices, NAMED)} ends."


def _root(ground: FabricContext, device: int) -> RootCandidate:
    links = _links(ground, device)
    if ground.is_host(device):
        return root_of_device(ground, device, MAINTAINED_HOST, links)
    return root_of_device(ground, device, MAINTAINED_SWITCH, links[_drained(ground, links)])


def _links(ground: FabricContext, device: int) -> Codes:
    index = ground.wiring.index
    ports = np.arange(index.planned_ports)
    return distinct(ground.link_of(ports[index.ports.device_of(ports) == device]))


def _drained(ground: FabricContext, links: Codes) -> "np.typing.NDArray[np.bool_]":
    """Links that are down or carry nothing, as far as counters show; without counters those that are down."""
    down = ground.wiring.states.down(links)
    carried, speed = ground.round.carried, ground.reported.speed()[links]
    if not carried.enough:
        return down
    busiest = np.fmax(overall(carried.tx[links]), overall(carried.rx[links]))
    with np.errstate(invalid="ignore"):
        return np.asarray(down | (busiest < DRAINED * speed), dtype=bool)
