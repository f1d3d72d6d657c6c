"""Dead members among few uplinks: what one switch's loads cannot tell from chance, its siblings' loads can."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rules import rules
from tests.draws import draws
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.testing.cases import scene

LEAVES, HOSTS, FLOW = 6, 16, 4e8
"""Leaves beside each other, hosts below each, and bytes per second of a flow."""


def loads(flows: int, members: int, seed: int, dead: bool = False) -> list[int]:
    """Flows on each of a leaf's uplinks under a fair hash; a dead first uplink gets none."""
    drawn = np.random.default_rng(seed).multinomial(flows, [1 / (members - dead)] * (members - dead))
    return [0] * dead + [int(count) for count in drawn]


def named(of: Mapping[int, Sequence[int]], members: int, speed_gbps: float = 400) -> set[str] | None:
    """The uplinks that LBL003 names where leaves send so many flows over their uplinks; None where it is unknown."""
    plan = [f"h{n}/nic{leaf} leaf-{leaf}/p{n} rail={leaf} speed=400" for leaf in of for n in range(HOSTS)]
    plan += [f"leaf-{leaf}/up{s} spine-{s}/p{leaf} speed={speed_gbps}" for leaf in of for s in range(members)]
    rates = {f"leaf-{leaf}/p{n}": {"rx_bytes": sum(of[leaf]) * FLOW / HOSTS} for leaf in of for n in range(HOSTS)}
    rates |= {f"leaf-{leaf}/up{s}": {"tx_bytes": count * FLOW} for leaf in of for s, count in enumerate(of[leaf])}
    try:
        return {
            finding.subject for finding in rules()["LBL003"].findings(scene(Case(plan="\n".join(plan), rates=rates)))
        }
    except InsufficientDataError:
        return None


def fabric(flows: int, members: int, seed: int) -> dict[int, list[int]]:
    """Leaves that carry alike, the first with a dead uplink."""
    return {leaf: loads(flows, members, 100 * seed + leaf, dead=leaf == 0) for leaf in range(LEAVES)}


@pytest.mark.parametrize("members", [8, 16])
def test_siblings_show_how_many_flows_there_are(members: int) -> None:
    flows, seeds = 25 * members, range(draws(10, 20))
    together = [named(fabric(flows, members, seed), members) for seed in seeds]
    alone = [named({0: fabric(flows, members, seed)[0]}, members) for seed in seeds]
    assert sum(found == {"leaf-0/up0"} for found in together) >= 0.8 * len(seeds)
    assert sum(found == {"leaf-0/up0"} for found in alone) <= 0.5 * len(seeds)
    assert all(found in ({"leaf-0/up0"}, set(), None) for found in (*together, *alone))


def test_a_leaf_with_fewer_flows_than_its_siblings_has_an_idle_uplink_by_chance() -> None:
    """Those that leave one of eight uplinks idle, of 4,000 draws of 24 flows: some 40 in a hundred."""
    said, wanted = [], draws(40, 150)
    for seed in range(4_000):
        counts = loads(24, 8, seed)
        if counts.count(0) == 1 and len(said) < wanted:
            as_much = [24 * count / 480 for count in loads(480, 8, 10_000 + seed)]
            said.append(named({0: counts, **dict.fromkeys(range(1, LEAVES), as_much)}, 8))
    assert len(said) == wanted
    assert not any(said)


def test_full_uplinks_are_even_whatever_the_flows() -> None:
    full = [0] + [125] * 7
    assert not named({leaf: full if leaf == 0 else [125] * 8 for leaf in range(LEAVES)}, 8)
    assert named({leaf: full if leaf == 0 else [125] * 8 for leaf in range(LEAVES)}, 8, speed_gbps=800) == {
        "leaf-0/up0"
    }
