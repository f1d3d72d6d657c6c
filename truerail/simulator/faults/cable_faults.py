"""Faults of single cables and of blocks of ports: plugged into the wrong place, without link, or slower."""

from truerail.errors import NoRoomError
from truerail.model import Cable, CauseKind, Port
from truerail.model.columns import grouped
from truerail.simulator.faults.truth import Site, TrueCause

_BLOCK = 4
"""A shifted block has at least this many ports; fewer are reported as single cables."""


def swap_on_one_host(site: Site) -> TrueCause:
    """Swaps two cables of one host."""
    (host,) = site.draw_hosts(1)
    return _rotate(site, site.sample(site.open_cables(host), 2))


def swap_on_one_leaf(site: Site) -> TrueCause:
    """Swaps the cables of two hosts on one leaf: the rail is right, the port is not."""
    return swap_on_leaf(site, _draw_leaf(site))


def swap_on_leaf(site: Site, leaf: str) -> TrueCause:
    """Swaps the cables of two hosts on this leaf."""
    free = [cable for cable in site.host_cables(leaf) if cable.a.device not in site.hosts]
    pair = site.sample(free, 2)
    if pair[0].a.device == pair[1].a.device:
        raise NoRoomError(f"{leaf} has no two untouched hosts")
    site.taken.add(leaf)
    return _rotate(site, pair)


def swap_across_rails(site: Site) -> TrueCause:
    """Swaps the cables of two hosts between leaves."""
    first, second = site.draw_cables(site.draw_hosts(2))
    others = [cable for cable in site.open_cables(second.a.device) if cable.b.device != first.b.device]
    return _rotate(site, [first, *site.sample(others, 1)])


def swap_of_uplinks(site: Site) -> TrueCause:
    """Swaps two cables between switches of the same tiers."""
    first = _draw_uplink(site)
    tier = site.world.fabric.plan.devices[first.a.device].role
    others = [
        cable
        for cable in _uplinks(site)
        if site.world.fabric.plan.devices[cable.a.device].role is tier and cable.b != first.b
    ]
    return _rotate(site, [first, *site.sample(others, 1)])


def rotation(site: Site) -> TrueCause:
    """Rotates three to six cables of as many hosts, over at least two leaves."""
    count = min(site.rng.randint(3, 6), len(site.free_hosts()))
    if count < 3:
        raise NoRoomError("a rotation needs three untouched hosts")
    cables = site.draw_cables(site.draw_hosts(count))
    if len({cable.b.device for cable in cables}) < 2:
        raise NoRoomError("a rotation needs two leaves")
    return _rotate(site, cables)


def rotation_on_one_host(site: Site) -> TrueCause:
    """Rotates three to six cables of one host."""
    (host,) = site.draw_hosts(1)
    cables = site.open_cables(host)
    if len(cables) < 3:
        raise NoRoomError(f"{host} has no three open cables")
    return _rotate(site, site.sample(cables, site.rng.randint(3, min(6, len(cables)))))


def move_on_one_leaf(site: Site) -> TrueCause:
    """Moves one cable into a free port of the right leaf."""
    (cable,) = site.draw_cables(site.draw_hosts(1))
    return _move(site, cable, cable.b.device)


def move_to_other_leaf(site: Site) -> TrueCause:
    """Moves one cable into a free port of a wrong leaf."""
    (cable,) = site.draw_cables(site.draw_hosts(1))
    pod = site.world.fabric.plan.devices[cable.b.device].pod
    others = [
        leaf
        for leaf in site.world.leaves()
        if leaf not in site.taken and leaf != cable.b.device and site.world.fabric.plan.devices[leaf].pod == pod
    ]
    return _move(site, cable, site.choose(others, "no other leaf in the pod"))


def shift_into_spare(site: Site) -> TrueCause:
    """Shifts the last ports of a leaf's block by k, into the free ports after them."""
    leaf = _draw_leaf(site)
    cables, spare = site.host_cables(leaf), site.world.fabric.spare[leaf]
    if len(cables) < _BLOCK or not spare:
        raise NoRoomError(f"{leaf} has no block to shift or no free port")
    block = cables[-site.rng.randint(_BLOCK, min(8, len(cables))) :]
    step = site.rng.randint(1, min(3, len(spare)))
    places = [cable.b for cable in block] + [Port(leaf, name) for name in spare]
    return _shift(site, leaf, block, places[step : step + len(block)])


def shift_within_block(site: Site) -> TrueCause:
    """Shifts a block of a leaf's ports by k, its last cables into its first ports."""
    leaf = _draw_leaf(site)
    cables = site.host_cables(leaf)
    if len(cables) < _BLOCK + 1:
        raise NoRoomError(f"{leaf} has too few ports to shift")
    length = site.rng.randint(_BLOCK + 1, min(9, len(cables)))
    start = site.rng.randint(0, len(cables) - length)
    block = cables[start : start + length]
    step = site.rng.randint(1, length - _BLOCK)
    places = [cable.b for cable in block]
    return _shift(site, leaf, block, places[step:] + places[:step])


def host_link_down(site: Site) -> TrueCause:
    """One host cable has no link."""
    return _kill(site, *site.draw_cables(site.draw_hosts(1)))


def uplink_down(site: Site) -> TrueCause:
    """One cable between switches has no link."""
    return _kill(site, _draw_uplink(site))


def host_at_half_speed(site: Site) -> TrueCause:
    """The link of one host cable runs at half its speed."""
    return _slow_down(site, *site.draw_cables(site.draw_hosts(1)))


def uplink_at_half_speed(site: Site) -> TrueCause:
    """The link of one cable between switches runs at half its speed."""
    return _slow_down(site, _draw_uplink(site))


def _draw_leaf(site: Site) -> str:
    """A leaf whose hosts and cables are untouched by any fault."""
    leaves = [
        leaf
        for leaf in site.untouched_leaves()
        if not any(cable.a.device in site.hosts for cable in site.host_cables(leaf))
    ]
    return site.choose(leaves, "every leaf is touched")


def _uplinks(site: Site) -> list[Cable]:
    world = site.world
    return [
        cable
        for cable in world.fabric.plan.cables
        if not world.is_host(cable.a.device)
        and not {cable.a.device, cable.b.device} & site.taken
        and not {cable.a, cable.b} & site.spare_used
    ]


def _draw_uplink(site: Site) -> Cable:
    return site.choose(_uplinks(site), "no untouched uplink")


def _rotate(site: Site, cables: list[Cable]) -> TrueCause:
    """Moves each cable to the place of the next one."""
    kind = CauseKind.CABLE_SWAP if len(cables) == 2 else CauseKind.CABLE_ROTATION
    return site.replug(kind, cables, [cable.b for cable in (*cables[1:], cables[0])])


def _move(site: Site, cable: Cable, leaf: str) -> TrueCause:
    free = [port for name in site.world.fabric.spare[leaf] if (port := Port(leaf, name)) not in site.spare_used]
    target = site.choose(free, f"{leaf} has no free port")
    site.world.far.pop(cable.b)
    site.world.plug(cable.a, target)
    site.spare_used.add(target)
    site.claim_cables([cable])
    site.touched.add(leaf)
    return TrueCause(CauseKind.CABLE_MOVE, (str(cable.a),), (cable.a,), moves=1)


def _shift(site: Site, leaf: str, block: list[Cable], places: list[Port]) -> TrueCause:
    for cable in block:
        site.world.far.pop(cable.b, None)
    for cable, place in zip(block, places, strict=True):
        site.world.plug(cable.a, place)
    site.claim_cables(block)
    site.taken.add(leaf)
    return TrueCause(CauseKind.PORT_SHIFT, (leaf,), tuple(cable.a for cable in block), moves=len(block))


def _slow_down(site: Site, cable: Cable) -> TrueCause:
    """Both ends agree on half the speed, as after a wrong breakout mode. The cable itself is in its planned place."""
    site.world.slow.update(dict.fromkeys((cable.a, cable.b), site.world.fabric.shape.speed_gbps / 2))
    site.use([cable])
    return TrueCause(CauseKind.DEGRADED_LINK, (str(cable.a),), ())


def _kill(site: Site, cable: Cable) -> TrueCause:
    site.world.dead.update((cable.a, cable.b))
    site.use([cable])
    return TrueCause(CauseKind.LINK_DOWN, (str(cable.a),), (cable.a,))


# ----------------------------------------------------------------------------------------------------------------------
# Faults at the patch panels of a hall: cords and trunks that are exchanged, reversed, or plugged one port too far.

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
    rows = grouped((cable.via[-1].device, cable) for cable in _open_cables(site))
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
    panels = grouped((cable.via[at].device, cable) for cable in _open_cables(site))
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
    through = (cable for cable in site.world.fabric.plan.cables if cable.via)
    trunks = grouped((cable.via[1].name.partition(":")[0], cable) for cable in through)
    open_ = {cable.a for cable in _open_cables(site)}
    return {name: cables for name, cables in trunks.items() if open_.issuperset(cable.a for cable in cables)}
