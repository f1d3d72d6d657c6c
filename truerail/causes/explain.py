"""From a round and its findings to causes: which cause explains which finding, and in which order they are repaired."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.named_by import named_by
from truerail.analysis.cabling.paths import rails_in
from truerail.analysis.round import Round
from truerail.causes.by_name import reordered
from truerail.causes.candidate import CauseCandidate, attach, joined_names, number
from truerail.causes.labels import BY_PLACES
from truerail.causes.moved import ORDER
from truerail.causes.nic_order import MIN_HOSTS_FOR_ONE_CAUSE
from truerail.causes.panel_faults import in_trunks, with_paths
from truerail.causes.steps import search
from truerail.causes.telemetry import correlate
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind
from truerail.model.columns import grouped
from truerail.model.finding import Cause, Finding, Move, Severity, cause_key
from truerail.model.index import PlanIndex
from truerail.model.life import Maintained
from truerail.model.names import some
from truerail.model.plan import Plan
from truerail.model.witness_facts import MachineIdentity


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
    return tuple(search(round.cabling, findings)[1])


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


# ----------------------------------------------------------------------------------------------------------------------
# Which moves are certain enough to be ordered where LLDP does not name the cables.
#
# Other witnesses show that a cable is wrong; one of them alone orders no move: a MAC table may have an old entry, a
# maker may use one serial number twice. Moves are ordered where two independent sources agree on every cable that LLDP
# does not name, or where all cables of a closed cycle are seen and their doubts add up to less than `_MOST_DOUBT`.
# Otherwise the cause stays, and its moves are what to confirm.


_MOST_DOUBT = 0.05
_SHOWN = 4


def confirmed(wiring: Wiring, draft: CauseCandidate) -> CauseCandidate:
    """The draft; without its moves, and with what confirms them, where the evidence does not carry them."""
    weak = _weak(wiring, draft.moves, closed=CAUSE_KINDS[draft.kind].closed)
    alternatives = tuple(
        replace(other, moves=()) if _weak(wiring, other.moves, closed=CAUSE_KINDS[other.kind].closed) else other
        for other in draft.alternatives
    )
    draft = replace(draft, alternatives=alternatives)
    if not weak:
        return draft
    shown = some([f"{move.cable} is in {move.source}" for move in weak], _SHOWN, ", and {} more")
    confirm = f"confirm before moving: {shown} (`ethtool -p`, or follow the cable)"
    doubt = "a host of these announces another's name, so either may be meant"
    if not _misnamed(wiring, weak):
        words = dict.fromkeys(word for move in weak for word in named_by(wiring, _cable(wiring, move)))
        doubt = f"LLDP does not confirm it, only: {', '.join(words)}"
    action = f"Move no cable before it is confirmed. Then: {draft.action[0].lower()}{draft.action[1:]}"
    to_confirm = "; ".join(filter(None, (confirm, draft.to_confirm)))
    return replace(draft, summary=f"{draft.summary}; {doubt}", action=action, moves=(), to_confirm=to_confirm)


def _misnamed(wiring: Wiring, moves: Sequence[Move]) -> list[Move]:
    """The moves of hosts of which one announces the other's name, and none its own."""
    said = wiring.identity.misnamed
    return [move for move in moves if wiring.index.devices.find(move.cable.device) in {*said, *said.values()}]


def _weak(wiring: Wiring, moves: Sequence[Move], *, closed: bool) -> list[Move]:
    """The moves of cables that too little evidence shows; empty if the moves can be ordered."""
    doubt, weak = 0.0, list[Move]()
    for move in moves:
        cable = _cable(wiring, move)
        doubt += 1.0 - wiring.confidence(cable)
        port = wiring.index.a[cable]
        beside = wiring.partner[port] >= 0 and not wiring.corroborated.by_lldp[port]
        if beside and wiring.corroborated.sources[port] < 2:
            weak.append(move)
    return _misnamed(wiring, moves) or ([] if closed and doubt < _MOST_DOUBT else weak)


def _cable(wiring: Wiring, move: Move) -> int:
    """The number of the cable that a move is about: that of its lower end."""
    index = wiring.index
    device = index.devices.find(move.cable.device)
    return int(index.cables_at(index.find(np.array([device]), [move.cable.name]))[0])


# ----------------------------------------------------------------------------------------------------------------------
# Which machine answers under which name: serial numbers show whether names are swapped.
#
# Two devices that are each cabled as the other is planned have each other's names, or each other's cables. Names and
# addresses cannot show which, since either may be what is wrong. A serial number stays with its machine: where the plan
# gives the serial numbers of both (`serials`), and both report theirs, the names are wrong, or right.
#
# That they are right takes more: each machine itself must hear what the other is planned to hear. What others hear of
# it by name alone may come from a hostname that is not that of the inventory. Then the cables are swapped, or the
# plan is older than the fabric. No answer of a device separates these two, so no cable is moved.


BY_SERIAL = 0.98
"""Confidence in what serial numbers decide: as in names that MACs confirm."""


def machines(wiring: Wiring) -> Mapping[str, str]:
    """The planned device that each planned device is by its serial numbers: those that report none that the plan has,
    or those of two devices, are left out.
    """
    owner = _owners(wiring.index.plan)
    if not owner:
        return {}
    table, found = wiring.seen.table(MachineIdentity), dict[str, set[str]]()
    for row, identity in enumerate(table.rows):
        machine = owner.get(identity.serial.lower())
        if machine:
            name = wiring.index.devices.find(table.devices[int(table.device[row])])
            if 0 <= name < wiring.index.devices.planned:
                found.setdefault(wiring.index.devices.names[name], set()).add(machine)
    return {name: ones.copy().pop() for name, ones in found.items() if len(ones) == 1}


def _owners(plan: Plan) -> dict[str, str]:
    """The device of each planned serial number; empty text for one that several have."""
    owner: dict[str, str] = {}
    for device in plan.devices.values():
        for serial in device.serials:
            owner[serial.lower()] = device.name if owner.get(serial.lower(), device.name) == device.name else ""
    return owner


def decided(wiring: Wiring, draft: CauseCandidate, machine: Mapping[str, str]) -> CauseCandidate:
    """The draft of swapped devices; with the explanations alone that the serial numbers of all of them leave."""
    if CAUSE_KINDS[draft.kind].names != "devices" or not draft.alternatives or not draft.renames:
        return draft
    actual = {rename.actual: rename.planned for rename in draft.renames}
    both = joined_names(draft.subjects)
    if all(machine.get(name) == planned for name, planned in actual.items()):
        summary = f"the devices {both} have each other's names, as their serial numbers show"
        action = f"Swap the names of {both}: hostname and label. No cable has to move."
        return replace(draft, summary=summary, action=action, alternatives=(), to_confirm="", confidence=BY_SERIAL)
    if all(machine.get(name) == name and _hears(wiring, name, other) for name, other in actual.items()):
        summary = f"{both} are in each other's places, or their cables: by their serial numbers the names are right"
        action = "Move no cable before it is confirmed. Swap the two, or exchange them in the plan if it is older."
        confirm = f"the labels of the cables and the racks of {both}: does the plan say what is there?"
        draft = replace(draft, kind=draft.alternatives[0].kind, renames=(), confidence=BY_PLACES)
        return replace(draft, summary=summary, action=action, to_confirm=confirm)
    return draft


def _hears(wiring: Wiring, name: str, other: str) -> bool:
    """Whether a device itself hears ports that are planned for another, and none of its own."""
    index, claims = wiring.index, wiring.identity.claims
    own = (claims.v >= 0) & (index.ports.device_of(claims.u) == index.devices.find(name))
    planned = index.ports.device_of(index.far_ends(claims.v[own]))
    return bool(np.any(planned == index.devices.find(other)) and not np.any(planned == index.devices.find(name)))
