"""Moves into ports or devices that only the plan knows: its name may be a slip, and the cable right.

A switch that lists its ports, and not the planned one, has no such port. A planned device that does not answer, that
none hears, and all of whose planned cables are seen elsewhere, may be another one's misspelled name.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.causes.candidate import CauseCandidate
from truerail.causes.observed_links import ObservedLinks


def without_absent_targets(
    wiring: Wiring, sightings: ObservedLinks, rows: Sequence[int], draft: CauseCandidate
) -> CauseCandidate:
    """The draft without its moves if one of them leads to such a port or device."""
    index = wiring.index
    if not draft.moves:
        return draft
    for port in index.b[sightings.taken_for[list(rows)]].tolist():
        where, device = index.spell(port), int(index.ports.device_of(np.array([port]))[0])
        if _lacks(wiring, port, device):
            reason, name = f"{where.device} does not list a port {where.name}", f"port {where.name} of {where.device}"
        elif _is_unseen(wiring, device):
            reason, name = f"{where.device} does not answer and is not heard anywhere", f"name {where.device}"
        else:
            continue
        return replace(
            draft,
            summary=f"{draft.summary}; {reason}",
            action=f"Move no cable before it is confirmed. Correct the plan if its {name} is a slip.",
            moves=(),
            to_confirm=f"does {where} exist?",
        )
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
