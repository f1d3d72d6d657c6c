"""From a round and its findings to causes: which cause explains which finding, and in which order they are repaired."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.paths import rails_in
from truerail.analysis.round import Round
from truerail.causes.by_name import reordered
from truerail.causes.candidate import CauseCandidate, attach, number
from truerail.causes.confirmed import confirmed
from truerail.causes.machines import decided, machines
from truerail.causes.moved import ORDER
from truerail.causes.nic_order import MIN_HOSTS_FOR_ONE_CAUSE
from truerail.causes.panel_faults import in_trunks, with_paths
from truerail.causes.steps import search
from truerail.causes.telemetry import correlate
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import grouped
from truerail.model.finding import Cause, Finding, Severity, cause_key
from truerail.model.index import PlanIndex
from truerail.model.maintained import Maintained


def explain(round: Round, findings: Sequence[Finding], work: Sequence[Maintained] = ()) -> tuple[Cause, ...]:
    """The causes of the findings. Every finding is in at most one cause; a clean fabric has no cause. `work` is covered
    by maintenance windows now: it explains its effects on other devices.
    """
    found, wiring = tuple(findings), round.cabling
    if not found:
        return ()
    drafts, _ = search(wiring, found)
    left = attach(wiring.index, drafts, found)
    by_serial = machines(wiring)
    drafts = [d for d in drafts if d.explains or any(move.after_causes for move in d.moves)]
    drafts = [confirmed(wiring, decided(wiring, d, by_serial)) for d in drafts]
    drafts = [with_paths(wiring.index, d) for d in in_trunks(wiring, drafts)]
    orders = _enumeration_drafts(wiring, left)
    left = attach(wiring.index, orders, left)
    drafts += [d for d in orders if d.explains] + _unknown_drafts(left)
    _apart(wiring.index, drafts)
    in_sequence(drafts)
    return number([*drafts, *correlate(round, drafts, left, work)])


def trace(round: Round, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Each step of the search for causes of the cabling, and what it took."""
    return tuple(map(str, search(round.cabling, findings)[1]))


def _apart(index: PlanIndex, drafts: Sequence[CauseCandidate]) -> None:
    """Two causes of one kind and with the same subjects, as two blocks on a leaf: the second is about its first cable
    too, so that each has a key of its own.
    """
    keys: set[str] = set()
    for draft in drafts:
        if cause_key(draft.kind, draft.subjects) in keys and draft.cables:
            draft.subjects = (*draft.subjects, str(index.a_port(min(draft.cables))))
        keys.add(cause_key(draft.kind, draft.subjects))


def in_sequence(drafts: Sequence[CauseCandidate]) -> None:
    """A cable that goes to a port from which another cause moves one goes there after it."""
    keys = [cause_key(draft.kind, draft.subjects) for draft in drafts]
    leaves = {move.source: (key, move) for key, draft in zip(keys, drafts, strict=True) for move in draft.moves}
    for own, draft in zip(keys, drafts, strict=True):
        steps = list(draft.moves)
        for at, step in enumerate(steps):
            key, move = leaves.get(step.target, (own, step))
            if own not in (key, *move.after_causes) and key not in step.after_causes:
                first = f"the cable of {move.cable} is moved"
                words = " and ".join(filter(None, (step.after, first)))
                steps[at] = replace(step, after=words, after_causes=(*step.after_causes, key))
                said = draft.action.rstrip(".")
                said = said.removesuffix(f"; not before {step.after}") if step.after else said
                draft.action = f"{said}, not before {words}."
        draft.moves = tuple(steps)


def _enumeration_drafts(wiring: Wiring, left: Sequence[Finding]) -> list[CauseCandidate]:
    """Hosts whose GPUs are nearest to another rail's NIC although every cable is right: one cause for each distinct
    order.
    """
    hosts = [f.subject for f in left if f.rule == "NIC001"]
    if not hosts:
        return []
    misordered = wiring.gpu_rails.misordered
    gpus = ((host, misordered.get(wiring.index.devices.find(host), {})) for host in hosts)
    groups = grouped((tuple((gpu, own, given) for gpu, (own, given) in sorted(of.items())), host) for host, of in gpus)
    index = wiring.index
    cables = reordered(wiring, {})
    drafts: list[CauseCandidate] = []
    for key, members in groups.items():
        parts = [members] if len(members) >= MIN_HOSTS_FOR_ONE_CAUSE else [[host] for host in members]
        for part in parts:
            of_part = np.isin(index.a_device[cables], [index.devices.find(host) for host in part])
            drafts.append(_enumeration(tuple(part), key, cables[of_part].tolist()))
    return drafts


def _enumeration(hosts: tuple[str, ...], order: tuple[tuple[int, int, int], ...], cables: list[int]) -> CauseCandidate:
    """One order of NICs; `cables` hear another leaf than that of their names, and that of their GPUs."""
    shown = ", ".join(
        f"GPU{gpu} is nearest to the NIC of rail {'/'.join(map(str, rails_in(given)))}" for gpu, _, given in order[:8]
    )
    who = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts ({hosts[0]}, ...)"
    summary = f"{who}: GPUs and NICs are enumerated in different orders: {shown}"
    action = "Move no cable. Fix the enumeration (BIOS slot order, driver, NIC names),"
    action = f"{action} or map GPUs to NICs explicitly in NCCL_IB_HCA."
    return CauseCandidate(CauseKind.GPU_NIC_ORDER, hosts, summary, action, cables, hosts, ORDER, confidence=0.95)


def _unknown_drafts(left: Sequence[Finding]) -> list[CauseCandidate]:
    """Wiring findings without explanation: named as unknown, so that they are not lost among the explained ones."""
    return [
        CauseCandidate(
            CauseKind.UNKNOWN, (f.subject,), f.summary, f.action, devices=(f.subject,), rules=(f.rule,),
            confidence=min(0.5, f.confidence), explains=[f.id],
        )
        for f in left
        if f.rule.startswith(("CAB", "NIC003")) and f.severity is not Severity.INFO
    ]  # fmt: skip
