"""Faults at the patch panels of a hall: cords and trunks that are exchanged, reversed, or plugged one port too far."""

from collections import defaultdict

from truerail.model import Cable, CauseKind
from truerail.simulator.faults.truth import Site, TrueCause

_ROW = 4
"""A shifted row has at least this many cords."""


def trunks_exchanged(site: Site) -> TrueCause:
    """Two trunks of the same number of links are in each other's rear ports of the panel beside the switches."""
    trunks = _open_trunks(site)
    pairs = [
        (one, other)
        for one in trunks
        for other in trunks
        if one < other and len(trunks[one]) == len(trunks[other])
        if trunks[one][0].via[-1].device == trunks[other][0].via[-1].device
    ]
    chosen = site.choose(pairs, "no two untouched trunks between the same panels")
    one, other = (trunks[name] for name in chosen)
    return site.replug(CauseKind.TRUNK_SWAP, [*one, *other], [cable.b for cable in (*other, *one)])


def trunk_reversed(site: Site) -> TrueCause:
    """The order of the links in a trunk is reversed: one of other polarity."""
    trunks = {name: cables for name, cables in _open_trunks(site).items() if len(cables) >= _ROW}
    cables = trunks[site.choose(sorted(trunks), "no untouched trunk")]
    return site.replug(CauseKind.TRUNK_SWAP, cables, [cable.b for cable in reversed(cables)])


def row_shifted(site: Site) -> TrueCause:
    """The cords of neighbouring front ports of a panel beside the switches are one port too far, the last one in the
    first port.
    """
    rows: defaultdict[str, list[Cable]] = defaultdict(list)
    for cable in _open_cables(site):
        rows[cable.via[-1].device].append(cable)
    runs = [
        run
        for row in (sorted(row, key=lambda cable: int(cable.via[-1].name)) for row in rows.values())
        for start in range(len(row) - _ROW)
        for run in [row[start : start + site.rng.randint(_ROW + 1, 9)]]
        if len(run) > _ROW and int(run[-1].via[-1].name) - int(run[0].via[-1].name) == len(run) - 1
    ]
    run = site.choose(runs, "no row of untouched cords")
    return site.replug(CauseKind.PANEL_SHIFT, run, [cable.b for cable in (*run[1:], run[0])])


def cords_exchanged(site: Site, at: int) -> TrueCause:
    """Exchanges two cords of different hosts at a panel's front: the hosts' panel (0), or that beside switches (-1)."""
    panels: defaultdict[str, list[Cable]] = defaultdict(list)
    for cable in _open_cables(site):
        panels[cable.via[at].device].append(cable)
    pairs = [row for row in panels.values() if len({cable.a.device for cable in row}) > 1]
    row = site.choose(pairs, "no two untouched cords in one panel")
    one = site.rng.choice(row)
    other = site.rng.choice([cable for cable in row if cable.a.device != one.a.device])
    return site.replug(CauseKind.CABLE_SWAP, [one, other], [other.b, one.b])


def _open_cables(site: Site) -> list[Cable]:
    """The cables through panels of hosts and leaves without a fault."""
    return [
        cable
        for cable in site.world.fabric.plan.cables
        if cable.via and cable.a.device not in site.hosts and cable.b.device not in site.taken
    ]


def _open_trunks(site: Site) -> dict[str, list[Cable]]:
    """The cables of each trunk none of which has a fault, in the order of its positions."""
    trunks: defaultdict[str, list[Cable]] = defaultdict(list)
    for cable in site.world.fabric.plan.cables:
        if cable.via:
            trunks[cable.via[1].name.partition(":")[0]].append(cable)
    open_ = {cable.a for cable in _open_cables(site)}
    return {name: cables for name, cables in trunks.items() if open_.issuperset(cable.a for cable in cables)}
