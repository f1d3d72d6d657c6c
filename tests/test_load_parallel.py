"""Polarization downwards: parallel links to a leaf, of which a spine with the leaves' hash uses a part."""

import numpy as np
import numpy.typing as npt
import pytest

from rules import rules
from tests.draws import draws
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.testing.cases import scene

SPINES, LEAVES, PARALLEL, FLOW = 4, 6, 4, 2e9
Loads = npt.NDArray[np.float64]


def evaluated(down: Loads, missing: frozenset[str] = frozenset(), unit: str = "bytes") -> set[str] | None:
    """The spines that LBL001 names where they send this over their links, shape (spines, leaves, links); None where it
    is unknown. `missing` links are not in the plan. Switches count in this `unit`; packets are of 4,096 bytes.
    """
    size = 4096 if unit == "packets" else 1
    spines, leaves, links = down.shape
    plan = [f"h{n}x{h}/nic0 leaf-{n}/p{h} rail=0 speed=400" for n in range(leaves) for h in range(8)]
    rates = {f"leaf-{n}/p{h}": {f"rx_{unit}": 2e10 / size} for n in range(leaves) for h in range(8)}
    for n in range(leaves):
        for u in range(spines * links):
            spine, link = u % spines, u // spines
            port = f"spine-{spine}/p{n}-{link}"
            if port not in missing:
                plan.append(f"leaf-{n}/up{u} {port} speed=400")
                up, sent = {f"tx_{unit}": 1e10 / size}, {f"tx_{unit}": float(down[spine, n, link]) / size}
                rates |= {f"leaf-{n}/up{u}": up, port: sent}
    try:
        return {one.subject for one in rules()["LBL001"].findings(scene(Case(plan="\n".join(plan), rates=rates)))}
    except InsufficientDataError:
        return None


def hashed(flows: int, seed: int, *, shared: bool) -> Loads:
    """Flows from all leaves to all leaves. A leaf takes the uplink by the remainder by all of them, a spine the link by
    the remainder of the same number, or of one of its own.
    """
    rng = np.random.default_rng(seed)
    key, target = rng.integers(0, 2**40, flows), rng.integers(0, LEAVES, flows)
    spine = key % (SPINES * PARALLEL) % SPINES
    link = (key if shared else rng.integers(0, 2**40, flows)) % PARALLEL
    loads = np.zeros((SPINES, LEAVES, PARALLEL))
    np.add.at(loads, (spine, target, link), FLOW)
    return loads


@pytest.mark.parametrize("unit", ["bytes", "packets"])
@pytest.mark.parametrize("seed", range(draws(2, 5)))
def test_spines_with_the_hash_of_their_leaves_are_named(seed: int, unit: str) -> None:
    assert evaluated(hashed(800, seed, shared=True), unit=unit) == {f"spine-{n}" for n in range(SPINES)}


@pytest.mark.parametrize("flows", [24, 60, 400])
def test_a_fair_hash_is_not(flows: int) -> None:
    for unit in ("bytes", "packets"):
        assert not [seed for seed in range(draws(3, 12)) if evaluated(hashed(flows, seed, shared=False), unit=unit)]


def test_one_leaf_with_a_flow_from_two_spines_is_unknown() -> None:
    down = np.zeros((SPINES, LEAVES, PARALLEL))
    down[0, 0, 0] = down[1, 0, 1] = 4e10
    assert evaluated(down) is None


def test_bundles_of_different_size_are_not_compared() -> None:
    assert not evaluated(
        hashed(400, 1, shared=True), frozenset({"spine-0/p0-3", "spine-1/p2-3", "spine-2/p1-1", "spine-3/p4-0"})
    )


def test_links_that_nobody_counts_are_not_evaluated() -> None:
    assert not evaluated(np.full((SPINES, LEAVES, PARALLEL), np.nan))
