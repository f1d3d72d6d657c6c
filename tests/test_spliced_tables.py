"""A round in which few devices answered otherwise has the columns of the round before, but for those devices."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.draws import draws
from truerail.model import Fact, Neighbor, NetLink, Reading, Snapshot
from truerail.model.facts import Optic

AT = datetime(2026, 11, 20, tzinfo=UTC)
KINDS = (Neighbor, NetLink, Optic)
ONE = (
    *(Neighbor(port, system_name=name) for port in "ab" for name in ("x", None)),
    *(NetLink(port, mtu=mtu) for port in "ab" for mtu in (1500, 9000)),
    *(Optic(port) for port in "ab"),
)
ANSWERS = [
    [tuple(sorted(facts, key=lambda fact: type(fact).__name__)) for facts in product(ONE, repeat=count)]
    for count in range(4)
]
FACTS = st.sampled_from(ANSWERS).flatmap(st.sampled_from)
"""Up to three facts of three kinds."""


def snapshot(answers: Sequence[tuple[Fact, ...]]) -> Snapshot:
    """An answer for each of these, of a device for each two."""
    return Snapshot(AT, [Reading(f"d{n // 2}", f"c{n % 2}", AT, facts) for n, facts in enumerate(answers)])


def columns(one: Snapshot) -> list[object]:
    found: list[object] = []
    for kind in KINDS:
        table = one.table(kind)
        found += [table.rows, table.devices, table.device.tolist(), table.reading.tolist()]
        found += [table.column(name).tolist() for name in kind._fields]
        for names in (*((name,) for name in kind._fields), kind._fields[:2], kind._fields):
            codes, distinct = table.codes(*names)
            found += [codes.tolist(), distinct]
    return found


@settings(max_examples=draws(50, 500))
@given(st.lists(FACTS, min_size=40, max_size=60), st.dictionaries(st.integers(0, 39), FACTS, max_size=4))
def test_spliced_tables_are_those_that_would_be_made(
    answers: list[tuple[Fact, ...]], changes: dict[int, tuple[Fact, ...]]
) -> None:
    before = snapshot(answers)
    columns(before)
    changed = [changes.get(number, facts) for number, facts in enumerate(answers)]
    after = snapshot(changed)
    after.follow(before)
    assert columns(after) == columns(snapshot(changed))
    assert columns(before) == columns(snapshot(answers))


def test_columns_are_spliced_and_not_read_again() -> None:
    before = snapshot([(NetLink("a"), NetLink("b"))] * 20)
    column = before.table(NetLink).column("netdev")
    after = snapshot(
        [(NetLink("c"), NetLink("d"), NetLink("e")) if n == 7 else one.facts for n, one in enumerate(before.readings)]
    )
    after.follow(before)
    assert "netdev" in after.table(NetLink)._columns
    assert np.flatnonzero(after.table(NetLink).column("netdev")[:14] != column[:14]).tolist() == []
    assert after.table(NetLink).column("netdev")[14:18].tolist() == ["c", "d", "e", "a"]


def test_other_readings_or_many_changes_are_read_again() -> None:
    before = snapshot([(NetLink("a"),)] * 20)
    before.table(NetLink)
    for after in (
        snapshot([(NetLink("a"),)] * 21),
        snapshot([(NetLink("b"),)] * 20),
        Snapshot(AT, [structs.replace(one, device="other") for one in before.readings]),
    ):
        after.follow(before)
        assert not after._tables
