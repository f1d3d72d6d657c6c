"""Pairs of hosts, counted by kinds, against slow models that loop over every pair: one of the definitions, with any
cable known or unknown, and one of the cables as they really are in the simulator.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from benchmarks.accuracy.orders import heard, rails_apart
from tests.draws import draws
from tests.each import each
from tests.oncall_fabrics import (
    PLANES,
    PODS,
    RAIL_ONLY,
    SHARED,
    SPINES,
    STRIDED,
    all_hosts,
    published,
    shown,
    simulated,
)
from truerail.analysis.round import Round
from truerail.errors import NoRoomError
from truerail.model import CauseKind, Port
from truerail.questions.job import job
from truerail.questions.job_answer import Pairs
from truerail.questions.pairs import count_pairs, joined
from truerail.questions.path import path
from truerail.questions.rail_status import RailStatus, Stand, rail_status_of
from truerail.rounds import publication_of
from truerail.simulator import VARIANTS, Fault, Shape, Simulation
from truerail.verify import both_ways

SHAPES = (RAIL_ONLY, SPINES, PODS, PLANES, SHARED, STRIDED, Shape(hosts=9, pods=3, rails=2, spines=0))
KINDS = [kind for kind in VARIANTS if kind is not CauseKind.UNREACHABLE]


def add_up(verdicts: Iterable[str]) -> Pairs:
    reported = list(verdicts)
    return Pairs(len(reported), *(reported.count(word) for word in ("same", "rerouted", "cut", "unknown")))


class Slow:
    """Every pair on every rail, straight from the words in `truerail.questions.pairs`."""

    def __init__(self, standing: RailStatus) -> None:
        self.standing = standing
        self.of: dict[tuple[int, int], list[int]] = {}
        for cable in np.flatnonzero(standing.index.from_host).tolist():
            key = int(standing.index.a_device[cable]), int(standing.index.rail[cable])
            self.of.setdefault(key, []).append(cable)

    def pairs(self) -> Pairs:
        rails = sorted({rail for _, rail in self.of})
        hosts = {rail: sorted(host for host, on in self.of if on == rail) for rail in rails}
        return add_up(self.fate(*pair, rail) for rail in rails for pair in combinations(hosts[rail], 2))

    def fate(self, one: int, other: int, rail: int) -> str:
        ends = [(a, b) for a in self.of[one, rail] for b in self.of[other, rail]]
        if any(self.meets(a, b, False) for a, b in ends):
            return "same"
        if any(self.meets(a, b, True) for a, b in ends):
            return "unknown"
        if self.standing.rail_only:
            return "cut"
        if self.goes(one, other, rail, False):
            return "rerouted"
        return "unknown" if self.goes(one, other, rail, True) else "cut"

    def known(self, cable: int) -> bool:
        return bool(self.standing.stand[cable] != Stand.UNKNOWN)

    def part(self, cable: int, maybe: bool) -> int:
        part = self.standing.possible if maybe else self.standing.certain
        return int(part[self.standing.end[cable]])

    def meets(self, a: int, b: int, maybe: bool) -> bool:
        standing = self.standing
        if standing.index.plane[a] != standing.index.plane[b] or min(standing.end[a], standing.end[b]) < 0:
            return False
        if standing.end[a] == standing.end[b] and (maybe or (self.known(a) and self.known(b))):
            return True
        stands = (Stand.ON, Stand.UNKNOWN) if maybe else (Stand.ON,)
        linked = self.part(a, maybe) == self.part(b, maybe)
        return bool(linked and standing.stand[a] in stands and standing.stand[b] in stands)

    def parts(self, chosen: list[int], maybe: bool) -> set[int]:
        return {self.part(c, maybe) for c in chosen if self.standing.end[c] >= 0 and (maybe or self.known(c))}

    def touched(self, host: int, maybe: bool) -> set[int]:
        return self.parts([c for (h, _), some in self.of.items() if h == host for c in some], maybe)

    def met(self, host: int, rail: int, maybe: bool) -> set[int]:
        """Where the NIC is met: on its rail; elsewhere where it has no link, or perhaps has none."""
        own = self.of[host, rail]
        if not self.parts(own, True):
            return self.touched(host, maybe)
        found = self.parts(own, maybe)
        return found | self.touched(host, True) if maybe and not self.parts(own, False) else found

    def goes(self, one: int, other: int, rail: int, maybe: bool) -> bool:
        there = self.touched(one, maybe) & self.met(other, rail, maybe)
        return bool(there and self.touched(other, maybe) & self.met(one, rail, maybe))


def by_definition(standing: RailStatus) -> Pairs:
    return Slow(standing).pairs()


@st.composite
def disturbed(draw: st.DrawFn) -> RailStatus:
    """A fabric whose cables stand, end and hang together in any way."""
    standing = rail_status_of(published(draw(st.sampled_from(SHAPES))).evaluated)
    index, random = standing.index, draw(st.randoms(use_true_random=False))
    leaves = sorted(set(index.b_device[index.from_host].tolist()))
    share = draw(st.sampled_from((0.05, 0.3, 0.8)))
    stand, end = standing.stand.copy(), standing.end.copy()
    for cable in np.flatnonzero(index.from_host).tolist():
        if random.random() < share:
            stand[cable] = random.choice((Stand.OFF, Stand.UNKNOWN))
            end[cable] = random.choice((*leaves, -1)) if stand[cable] == Stand.OFF else end[cable]
    possible, certain = standing.possible.copy(), standing.certain.copy()
    for leaf in leaves:  # an isolated leaf, or one whose uplinks no one can tell
        if not standing.rail_only and random.random() < share / 2:
            certain[leaf] = leaf
            possible[leaf] = random.choice((leaf, possible[leaf]))
    return replace(standing, stand=stand, end=end, certain=certain, possible=possible)


@settings(max_examples=draws(15, 240), deadline=None)
@given(disturbed())
def test_kinds_are_counted_as_pairs_are(standing: RailStatus) -> None:
    counted = count_pairs(standing, np.flatnonzero(standing.index.from_host))
    assert counted == by_definition(standing)
    assert counted.same_rail + counted.rerouted + counted.cut + counted.unknown == counted.total


@settings(max_examples=20, deadline=None)
@given(disturbed())
def test_pairs_that_may_be_joined_are_those_not_known_to_be_apart(standing: RailStatus) -> None:
    alone = replace(
        standing, certain=standing.possible, stand=np.where(standing.stand == Stand.OFF, Stand.OFF, Stand.ON)
    )
    cables = np.flatnonzero(standing.index.from_host)
    assert joined(standing, cables) == by_definition(alone).same_rail


def in_truth(simulation: Simulation) -> Pairs:
    """The same from the plugs themselves: who is on which leaf, and which leaves reach each other over live cables."""
    world, plan = simulation.world, simulation.plan
    on: dict[tuple[str, int | None], list[tuple[int | None, str, str | None]]] = {}
    for cable in plan.host_cables:
        far = world.far.get(cable.a) if world.carrier(cable.a) else None
        on.setdefault((cable.a.device, cable.rail), []).append(
            (cable.plane, cable.b.device, far.device if far else None)
        )
    switches = [name for name, device in plan.devices.items() if device.role.tier]
    reach = _reach(switches, [(c.a, world.far.get(c.a)) for c in plan.cables if c.a.device in switches], world.carrier)
    hosts = {host for host, _ in on}
    touch = {h: {reach[e] for (host, _), rows in on.items() if host == h for *_, e in rows if e} for h in hosts}
    verdicts = []
    for rail in {rail for _, rail in on}:
        for one, other in combinations(sorted(hosts), 2):
            met = [{reach[e] for *_, e in on[h, rail] if e} or touch[h] for h in (one, other)]
            if any(_same(a, b, reach) for a in on[one, rail] for b in on[other, rail]):
                verdicts.append("same")
            elif simulation.world.fabric.shape.spines and touch[one] & met[1] and touch[other] & met[0]:
                verdicts.append("rerouted")
            else:
                verdicts.append("cut")
    return add_up(verdicts)


def _same(a: tuple[int | None, str, str | None], b: tuple[int | None, str, str | None], reach: dict[str, str]) -> bool:
    if a[0] != b[0] or a[2] is None or b[2] is None:
        return False
    in_place = a[1] == a[2] and b[1] == b[2]
    return a[2] == b[2] or (in_place and reach[a[2]] == reach[b[2]])


def _reach(switches: list[str], links: list[tuple[Port, Port | None]], live: Callable[[Port], bool]) -> dict[str, str]:
    """Each switch's part of the fabric, by flooding."""
    near: dict[str, set[str]] = {switch: set() for switch in switches}
    for a, b in links:
        if b is not None and live(a):
            near[a.device].add(b.device)
            near[b.device].add(a.device)
    part: dict[str, str] = {}
    for switch in switches:
        wave = [switch]
        while wave:
            here = wave.pop()
            if here not in part:
                part[here] = switch
                wave += near[here]
    return part


@settings(max_examples=draws(15, 240), deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    kinds=st.lists(st.sampled_from(KINDS), max_size=2, unique=True),
    seed=st.integers(0, 2**16),
)
@example(SPINES, [CauseKind.HOST_SWAP, CauseKind.BUNDLE_SWAP], 3)  # other names, and in another leaf besides
def test_a_job_meets_what_is_really_plugged(shape: Shape, kinds: list[CauseKind], seed: int) -> None:
    try:
        simulation = simulated(shape, *(Fault(kind) for kind in kinds), seed=seed)
    except NoRoomError:
        assume(False)
    publication = shown(simulation)
    # names or bundles swapped: where the evidence leaves that open, so is what is really plugged
    assume(not any(cause.alternatives for cause in publication.evaluation.causes))
    assert job(publication, all_hosts(publication)).pairs == in_truth(simulation)


@each(
    "taken, pairs, cut, hosts",
    [
        ((), 0, [], ()),
        (("h0/n0",), 7, ["h0/n0"], ("h0", "h3")),
        (("l0-0/swp50",), 0, [], ()),
        (("l0-0/swp50", "l0-0/swp51"), 16, ["l0-0", "l0-1"], ("h0", "h1")),
    ],
)
def test_rails_with_spines_of_their_own_are_cut_for_job_path_and_rule_alike(
    taken: Sequence[str], pairs: int, cut: Sequence[str], hosts: Sequence[str]
) -> None:
    plan = rails_apart(8, 3)
    far = both_ways({cable.a: cable.b for cable in plan.cables})
    for port in taken:
        device, _, name = port.partition("/")
        far.pop(far.pop(Port(device, name)))
    publication = publication_of(Round(plan, heard(plan, far, "").snapshot))
    found = [one.subject for one in publication.evaluation.findings if one.rule == "RAL003"]
    assert (sorted(found), job(publication, "h[0-7]").pairs.cut) == (cut, pairs)
    if hosts:
        (way,) = path(publication, *hosts, 0).rails
        assert way.summary.startswith("Cut:")
        assert way.stays is False


def test_another_leaf_of_a_rail_with_spines_of_its_own_is_on_the_rail() -> None:
    plan = rails_apart(8, 3)
    far = {cable.a: cable.b for cable in plan.cables}
    one, other = Port("h0", "n0"), Port("h1", "n0")
    far[one], far[other] = far[other], far[one]
    publication = publication_of(Round(plan, heard(plan, both_ways(far), "").snapshot))
    pairs = job(publication, "h[0-7]").pairs
    assert (pairs.same_rail, pairs.rerouted, pairs.cut) == (pairs.total, 0, 0)
    assert path(publication, "h0", "h2", 0).rails[0].stays
    assert not [one for one in publication.evaluation.findings if one.rule == "RAL003"]
