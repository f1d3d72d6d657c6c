"""Every available fault, by its kind of cause and its variant."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import Random

from truerail.errors import NoRoomError
from truerail.model import CauseKind
from truerail.simulator.fabric.world import World
from truerail.simulator.faults import cable_faults, device_faults
from truerail.simulator.faults.truth import Site, TrueCause

Planter = Callable[[Site], TrueCause]

VARIANTS: Mapping[CauseKind, Mapping[str, Planter]] = {
    # from the widest to the narrowest: faults that need whole leaves come before those that need one cable
    CauseKind.LEAF_SWAP: {"labels": device_faults.leaf_labels_swapped},
    CauseKind.BUNDLE_SWAP: {"crossed": device_faults.leaf_bundles_crossed},
    CauseKind.PORT_SHIFT: {"spare": cable_faults.shift_into_spare, "cyclic": cable_faults.shift_within_block},
    CauseKind.GPU_NIC_ORDER: {
        "model": device_faults.nic_names_permuted_on_model,
        "names": device_faults.nic_names_permuted,
        "gpus": device_faults.gpus_renumbered,
    },
    CauseKind.HOST_SWAP: {"labels": device_faults.host_labels_swapped, "bundles": device_faults.host_bundles_swapped},
    CauseKind.CABLE_ROTATION: {"hosts": cable_faults.rotation, "one-host": cable_faults.rotation_on_one_host},
    CauseKind.CABLE_SWAP: {
        "one-host": cable_faults.swap_on_one_host,
        "one-leaf": cable_faults.swap_on_one_leaf,
        "across": cable_faults.swap_across_rails,
        "uplinks": cable_faults.swap_of_uplinks,
    },
    CauseKind.CABLE_MOVE: {"one-leaf": cable_faults.move_on_one_leaf, "other-leaf": cable_faults.move_to_other_leaf},
    CauseKind.LINK_DOWN: {"host": cable_faults.host_link_down, "uplink": cable_faults.uplink_down},
    CauseKind.DEGRADED_LINK: {"host": cable_faults.host_at_half_speed, "uplink": cable_faults.uplink_at_half_speed},
    CauseKind.UNREACHABLE: {"off": device_faults.powered_off, "hung": device_faults.hung},
}
AT_PANELS: Mapping[CauseKind, Mapping[str, Planter]] = {
    CauseKind.TRUNK_SWAP: {"exchanged": cable_faults.trunks_exchanged, "reversed": cable_faults.trunk_reversed},
    CauseKind.PANEL_SHIFT: {"row": cable_faults.row_shifted},
    CauseKind.CABLE_SWAP: {
        "cords-at-switches": partial(cable_faults.cords_exchanged, at=-1),
        "cords-at-hosts": partial(cable_faults.cords_exchanged, at=0),
    },
}
"""In halls with patch panels, by name alone."""
KINDS = (*VARIANTS, *(kind for kind in AT_PANELS if kind not in VARIANTS))
DRAWN = tuple(kind for kind in VARIANTS if kind is not CauseKind.DEGRADED_LINK)
"""The kinds drawn if only a number of faults is given: those that LLDP shows."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault to plant. Without a `variant`, one is drawn; the place is always drawn."""

    kind: CauseKind
    variant: str = ""

    def __post_init__(self) -> None:
        known = _known(self.kind)
        if not known:
            raise ValueError(f"cannot plant {self.kind!r}; known are {', '.join(KINDS)}")
        if self.variant and self.variant not in known:
            raise ValueError(f"{self.kind} has no variant {self.variant!r}; known are {', '.join(known)}")

    @property
    def at_panels(self) -> bool:
        """Whether it needs a hall with patch panels."""
        return self.kind not in VARIANTS or self.variant in AT_PANELS.get(self.kind, {})


def plant(
    world: World, faults: Sequence[Fault] | int, rng: Random, *, compound: bool = False
) -> tuple[Site, list[TrueCause]]:
    """Plants the faults, or this many drawn ones. Raises `NoRoomError` if the fabric has no place for a given fault.

    Drawn faults without a place are drawn again, a hundred times at most; a small fabric may then get fewer.
    `compound` adds a swap of two cables within the first leaf whose label is swapped, if there is one and room.
    """
    site = Site(world, rng)
    if isinstance(faults, int):
        causes = _plant_drawn(site, faults)
    else:
        ordered = sorted(faults, key=lambda fault: KINDS.index(fault.kind))
        causes = [plant_one(site, fault) for fault in ordered]
    swapped = [cause for cause in causes if cause.kind is CauseKind.LEAF_SWAP]
    if compound and swapped:
        with suppress(NoRoomError):
            causes.append(cable_faults.swap_on_leaf(site, swapped[0].subjects[0]))
    return site, causes


def _plant_drawn(site: Site, count: int) -> list[TrueCause]:
    causes: list[TrueCause] = []
    kinds = sorted((site.rng.choice(DRAWN) for _ in range(count)), key=KINDS.index)
    spare_tries = 100
    while kinds and spare_tries:
        try:
            causes.append(plant_one(site, Fault(kinds[0])))
            kinds.pop(0)
        except NoRoomError:
            spare_tries -= 1
            kinds[0] = site.rng.choice(DRAWN)
    return causes


def plant_one(site: Site, fault: Fault) -> TrueCause:
    """Plants one fault. Tries the variants in random order until one finds a place. Raises `NoRoomError`."""
    known = _known(fault.kind)
    variants = [fault.variant] if fault.variant else list(VARIANTS.get(fault.kind, known))
    site.rng.shuffle(variants)
    for variant in variants[:-1]:
        try:
            return known[variant](site)
        except NoRoomError:
            continue
    return known[variants[-1]](site)


def _known(kind: CauseKind) -> dict[str, Planter]:
    return {**VARIANTS.get(kind, {}), **AT_PANELS.get(kind, {})}
