"""Swapped cables, or all those of two switches, whose devices are heard without their ports.

A leaf that hears host e where host d is planned, and d where e is planned, shows that two cables are wrong. No data
shows which NIC of each host it is, so no move is ordered: the cause names the pair, and how to identify the cables.

Nor is a move ordered into a port or device that only the plan knows: its name may be a slip, and the cable right. A
switch that lists its ports, and not the planned one, has no such port. A planned device that does not answer, that
none hears, and all of whose planned cables are seen elsewhere, may be another one's misspelled name.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import DEVICE_ONLY, State, Wiring
from truerail.causes.by_name import reordered
from truerail.causes.candidate import CauseCandidate, joined_names, names_of_devices
from truerail.causes.labels import LABELS, each_other, open_names
from truerail.causes.moved import WIRING, doubted
from truerail.causes.observed_links import ObservedLinks
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Mask, distinct, grouped
from truerail.model.finding import Alternative
from truerail.model.names import natural_key

_SHOWN = 4
MIN_CABLES = 4
"""Least number of cables that show two switches as swapped."""


def swapped_cables(wiring: Wiring) -> Iterator[CauseCandidate]:
    """One draft for each pair of cables between two hosts that are wrong by their hosts alone."""
    index = wiring.index
    heard = wiring.heard[index.b]
    vague = (wiring.state == State.WRONG) & (wiring.place < 0) & index.from_host
    vague &= (heard >= 0) & (heard != index.a_device)
    cables_heard = np.flatnonzero(vague).tolist()
    by_pair = grouped(((int(index.a_device[cable]), int(heard[cable])), cable) for cable in cables_heard)
    for (host, other), cables in by_pair.items():
        back = by_pair.get((other, host), [])
        if host < other and len(cables) == len(back) == 1:
            yield _draft(wiring, cables[0], back[0])


def left_open(
    sightings: ObservedLinks, rows: Sequence[int], draft: CauseCandidate, heard_at: Mapping[int, int]
) -> CauseCandidate:
    """The draft without its moves if a cable's place is known by the name of its host alone. `heard_at` is the port
    of each place, under the name that its switch actually has.
    """
    if min(sightings.sure[r] for r in rows) > DEVICE_ONLY:
        return draft
    if draft.kind is CauseKind.GPU_NIC_ORDER:
        return replace(draft, alternatives=tuple(replace(other, moves=()) for other in draft.alternatives))
    index = sightings.index
    at = [heard_at.get(place, place) for place in sightings.stands[list(rows)].tolist()]
    ports = sorted((str(index.spell(port)) for port in at), key=natural_key)
    owners = sorted({index.a_port(int(sightings.cable[r])).device for r in rows}, key=natural_key)
    shown, whose = (f"{', '.join(names[:_SHOWN])}{', ...' * (len(names) > _SHOWN)}" for names in (ports, owners))
    summary = f"{draft.summary}; only the devices there are known, not their ports"
    action = f"Move no cable before it is confirmed. Follow the cables of {shown} to their other ends (`ethtool -p`)."
    other = Alternative(CauseKind.CABLE_ROTATION, f"other ports of {whose} are there, and more cables than these wrong")
    confirm = f"which ports of {whose} are behind {shown}?"
    draft = replace(draft, summary=summary, action=action, moves=(), devices=(*draft.devices, *ports))
    return replace(draft, confidence=DEVICE_ONLY, alternatives=(other,), to_confirm=confirm)


def hosts_draft(wiring: Wiring, one: int, other: int, cables: Sequence[int]) -> CauseCandidate:
    """Two hosts that are heard in each other's places by their names alone."""
    names = names_of_devices(wiring.index, (one, other))
    found = "each is found by name in ports of the other, and in none of its own"
    summary = f"the hosts {joined_names(names)} are swapped: {found}"
    return open_names(CauseKind.HOST_SWAP, names, summary, cables, each_other(*names))


def swapped_switches(wiring: Wiring) -> Iterator[CauseCandidate]:
    """One draft for each pair of switches that are heard in each other's places, by their names and without ports, and
    in more places than in their own: their host cables if their uplinks show the right names, else most likely the
    names.
    """
    index = wiring.index
    tier = index.devices.tiers
    vague = (wiring.state == State.WRONG) & (wiring.place < 0)
    vague[reordered(wiring, {})] = False
    votes: dict[tuple[int, int], set[int]] = {}
    for port, planned in ((index.a, index.b_device), (index.b, index.a_device)):
        heard = wiring.heard[port]
        use = vague & (heard >= 0) & (heard != planned) & (tier[heard] == tier[planned]) & (tier[planned] > 0)
        for cable in np.flatnonzero(use).tolist():
            votes.setdefault((int(planned[cable]), int(heard[cable])), set()).add(cable)
    right = wiring.state == State.RIGHT
    sure = right & (wiring.sure[index.a] > DEVICE_ONLY)  # by both devices and ports
    named = set(index.a_device[_show_their_name(wiring)].tolist())
    for (one, other), cables in votes.items():
        both = cables | votes.get((other, one), set())
        own = np.isin(index.a_device, [one, other]) | np.isin(index.b_device, [one, other])
        crossed = bool(index.from_host[sorted(both)].all()) and {one, other} <= named
        own &= index.from_host | (not crossed)
        most = max(MIN_CABLES, int((right & own).sum()) + 1)
        if one < other and (other, one) in votes and len(both) >= most and not (sure & own).any():
            yield (_bundles if crossed else _switches)(wiring, one, other, sorted(both))


def _show_their_name(wiring: Wiring) -> Mask:
    """Uplinks at whose upper end the planned switch is heard by its own name: its name is right, whichever of its ports
    this is.
    """
    index = wiring.index
    heard = (wiring.heard[index.b] == index.a_device) | (wiring.partner[index.b] == index.a)
    return np.asarray((wiring.state == State.RIGHT) & ~index.from_host & heard, dtype=bool)


def crossed_without_names(wiring: Wiring) -> Iterator[CauseCandidate]:
    """One draft for each pair of switches without names of their own that are one by their host cables and the other by
    their uplinks: either bundle is crossed, and nothing shows which.
    """
    for pair in sorted({tuple(sorted(pair)) for pair in wiring.identity.contested.values()}):
        names = names_of_devices(wiring.index, pair)
        both = joined_names(names)
        crossed = f"all host cables of {both} are crossed, or all their uplinks"
        summary = f"{crossed}: neither switch announces a name of its own"
        action = f"Read the labels of {both}, or their GUIDs at the switch. Move no cable before it is confirmed."
        other = Alternative(CauseKind.CABLE_SWAP, f"the uplinks of {both} are swapped")
        confirm = f"the labels of {both}: give their GUIDs as chassis_ids in the plan"
        draft = CauseCandidate(CauseKind.BUNDLE_SWAP, names, summary, action, (), names, ("TEL001",), confidence=0.5)
        yield replace(draft, alternatives=(other,), to_confirm=confirm)


def _bundles(wiring: Wiring, one: int, other: int, cables: list[int]) -> CauseCandidate:
    index = wiring.index
    names = names_of_devices(index, (one, other))
    both = joined_names(names)
    crossed = f"the host cables of {both} are crossed; their uplinks are not, so it is not the labels"
    summary = f"{crossed}; the ports are unknown"
    action = f"Find where the bundles of {both} cross, most likely in the patch panel, and swap them there."
    action = f"{action} Move no single cable before its port is confirmed."
    draft = CauseCandidate(CauseKind.BUNDLE_SWAP, names, summary, action, cables, names, LABELS, confidence=DEVICE_ONLY)
    if _within_hosts(wiring, cables) and not wiring.gpu_rails.near[index.a[cables]].any():
        hosts = len(distinct(index.a_device[cables]))
        other_order = f"{hosts} hosts name NICs in another order than planned, and no cable is wrong"
        draft.alternatives = (Alternative(CauseKind.GPU_NIC_ORDER, other_order),)
        draft.to_confirm = "`nvidia-smi topo -m` and `rdma link` of a host: is each NIC nearest to the GPU of its rail?"
    return draft


def _within_hosts(wiring: Wiring, cables: list[int]) -> bool:
    """Whether each host has as many of these cables planned on each switch: all may be swapped within it."""
    planned = Counter(zip(wiring.index.a_device[cables].tolist(), wiring.index.b_device[cables].tolist(), strict=True))
    by_host = grouped((host, count) for (host, _), count in planned.items())
    return len(planned) == 2 * len(by_host) and all(len(set(counts)) == 1 for counts in by_host.values())


def _switches(wiring: Wiring, one: int, other: int, cables: list[int]) -> CauseCandidate:
    names = names_of_devices(wiring.index, (one, other))
    found = "each is found in the ports of the other, without its own port"
    summary = f"the switches {joined_names(names)} may be swapped by name: {found}"
    return open_names(CauseKind.LEAF_SWAP, names, summary, cables, each_other(*names))


def _draft(wiring: Wiring, one: int, other: int) -> CauseCandidate:
    index = wiring.index
    (a, b), (c, d) = ((index.a_port(cable), index.b_port(cable)) for cable in (one, other))
    likely = f"the cables of {a} and {c} are likely swapped"
    summary = f"{likely}: {b} sees {c.device}, {d} sees {a.device}, their ports are unknown"
    action = f"Move no cable before it is confirmed. Follow the cables of {b} and {d} to their NICs (`ethtool -p`)."
    confirm = f"which NIC of {c.device} is behind {b}, and which of {a.device} behind {d}?"
    more = f"other NICs of {a.device} and {c.device} are behind {b} and {d}, and more cables than these two are wrong"
    ends, cables = (str(a), str(c)), [one, other]
    draft = CauseCandidate(CauseKind.CABLE_SWAP, ends, summary, action, cables, rules=WIRING, confidence=DEVICE_ONLY)
    return replace(draft, alternatives=(Alternative(CauseKind.CABLE_ROTATION, more),), to_confirm=confirm)


def without_absent_targets(
    wiring: Wiring, sightings: ObservedLinks, rows: Sequence[int], draft: CauseCandidate
) -> CauseCandidate:
    """The draft without its moves if one of them leads to such a port or device, or to one that a plug of no planned
    cable has.
    """
    index = wiring.index
    if not draft.moves:
        return draft
    for port in sightings.index.b[sightings.taken_for[list(rows)]].tolist():
        where, device = index.spell(port), int(index.ports.device_of(np.array([port]))[0])
        if _lacks(wiring, port, device):
            reason, name = f"{where.device} does not list a port {where.name}", f"port {where.name} of {where.device}"
        elif _is_unseen(wiring, device):
            reason, name = f"{where.device} does not answer and is not heard anywhere", f"name {where.device}"
        elif wiring.partner[port] >= 0 and not sightings.renamed and port not in sightings.stands:
            there = f"the cable from {where} to {index.spell(int(wiring.partner[port]))}"
            return doubted(draft, f"{there} is in its way", f"whose is {there}? It has to leave {where} first")
        else:
            continue
        summary, confirm = f"{draft.summary}; {reason}", f"does {where} exist?"
        action = f"Move no cable before it is confirmed. Correct the plan if its {name} is a slip."
        return replace(draft, summary=summary, action=action, moves=(), to_confirm=confirm)
    return draft


def _lacks(wiring: Wiring, port: int, device: int) -> bool:
    """Whether the device lists its ports, most planned ones among them, and not this one."""
    own = np.flatnonzero(wiring.index.ports.device_of(np.arange(wiring.index.planned_ports)) == device)
    listed = wiring.states.link_row[own] >= 0
    heard = np.isin(port, wiring.identity.claims.u) or wiring.partner[port] >= 0
    return bool(wiring.states.link_row[port] < 0 and not heard and 2 * np.count_nonzero(listed) > len(own))


def _is_unseen(wiring: Wiring, device: int) -> bool:
    index = wiring.index
    own = (index.a_device == device) | (index.b_device == device)
    elsewhere = bool(((wiring.state[own] == State.WRONG) & (wiring.place[own] >= 0)).all())
    return elsewhere and not wiring.read[device] and not np.isin(device, wiring.identity.claims.w)
