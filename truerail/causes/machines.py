"""Which machine answers under which name: serial numbers show whether names are swapped.

Two devices that are each cabled as the other is planned have each other's names, or each other's cables. Names and
addresses cannot show which, since either may be what is wrong. A serial number stays with its machine: where the plan
gives the serial numbers of both (`serials`), and both report theirs, the names are wrong, or right.

That they are right takes more: each machine itself must hear what the other is planned to hear. What others hear of it
by name alone may come from a hostname that is not that of the inventory. Then the cables are swapped, or the plan is
older than the fabric. No answer of a device separates these two, so no cable is moved.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.causes.candidate import CauseCandidate, joined_names
from truerail.causes.labels import BY_PLACES
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.model.plan import Plan
from truerail.model.witness_facts import MachineIdentity

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
