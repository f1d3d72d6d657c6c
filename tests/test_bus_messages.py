"""Messages of pollers: facts come back equal, and no bytes whatever break the judge."""

import random
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.poller_readings import Pair, counters, reading
from truerail.errors import BusMessageError, BusSchemaError
from truerail.link.codec import facts_of, inflated, opened, pack, rows_of, squeezed
from truerail.link.messages import SCHEMA, Body, Envelope, KindRows, Observation
from truerail.link.streams import packed
from truerail.model import KINDS
from truerail.model.bounds import bounded
from truerail.model.facts import Counter, NetLink, PortCounters

QUICK = settings(max_examples=25, deadline=None)


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type."""
    if hint in (int, float):
        return st.integers(0, 10) if hint is int else st.floats(0, 1, width=16)
    if hint is Counter:
        return st.builds(Counter, st.text(max_size=4), st.none() | st.integers(0, 7))
    if get_origin(hint) is tuple and ... not in get_args(hint):
        return st.tuples(*map(values, get_args(hint)))
    if get_origin(hint) is tuple:
        return st.lists(values(get_args(hint)[0]), max_size=3).map(tuple)
    if parts := get_args(hint):
        return st.one_of(*(st.just(part) if isinstance(part, str) else values(part) for part in parts))
    return st.none() if hint is type(None) else st.text(max_size=6) if hint is str else st.booleans()


FACTS = st.one_of(
    *(
        st.builds(kind, **{name: values(hint) for name, hint in get_type_hints(kind).items()})
        for kind in KINDS
        if kind is not PortCounters
    )
)


@given(st.lists(FACTS, max_size=6))
@QUICK
def test_every_kind_of_fact_comes_back_equal(facts: list[Any]) -> None:
    facts = list(bounded(facts))
    assert facts_of(rows_of(facts)) == tuple(facts)


def sent(body: Any, schema: int = SCHEMA) -> bytes:
    return pack(Envelope(schema, "dc1", "p1", "run", 1, 1, 100.0, body))


class Later(Body, array_like=True, frozen=True, tag="later"):
    """A message that only another version has."""


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("Quark", ["up"]),
        ("NetLink", [7]),
        ("Neighbor", []),
        ("NetLink", [*NetLink("eth0"), "a later field"]),
        ("NetLink", [*NetLink("eth0", down_reason="eaten")]),  # type: ignore[arg-type]  # a reason of another version
    ],
)
def test_facts_of_another_shape_are_refused(kind: str, row: list[Any]) -> None:
    with pytest.raises(BusMessageError, match=r"unknown kind 'Quark'|not a message of kind"):
        facts_of([KindRows(kind, msgspec.Raw(pack([row])))])


def test_numbers_that_no_device_has_are_refused_like_those_of_a_device() -> None:
    with pytest.raises(BusMessageError, match="facts of kind PortCounters"):
        facts_of(rows_of([PortCounters("p1", (Counter("x"),), (-1,))]))
    assert facts_of(rows_of([NetLink("eth0", mtu=2**40)])) == (NetLink("eth0"),)


def test_another_schema_is_named_with_what_to_upgrade() -> None:
    with pytest.raises(BusSchemaError, match="poller 'p1' of zone 'dc1' writes schema 9, this version reads 2"):
        opened(sent(Observation("gpu-1", []), schema=9))
    with pytest.raises(BusSchemaError, match="poller 'p1' of zone 'dc1' writes schema 9"):
        opened(sent(Later(), schema=9))
    with pytest.raises(BusMessageError, match="not a message of kind Envelope"):
        opened(sent(Later()))


@given(st.binary(max_size=80))
@QUICK
def test_foreign_bytes_are_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(BusMessageError):
        opened(data)


def test_no_cut_and_no_changed_byte_breaks_the_judge() -> None:
    """Each message cut at each place, and each with some byte changed: taken as it is, or counted; never raised."""
    pair = Pair()
    pair.outbox.put([reading("gpu-1", NetLink("eth0")), *counters("gpu-1", 5), *counters("gpu-2", 7)])
    pair.outbox.round_done({}, 1, 0)
    chance = random.Random(5)
    for message in list(pair.outbox.messages()):
        spoiled = [message.data[:end] for end in range(len(message.data))]
        spoiled += [
            message.data[:at] + bytes([chance.randrange(256)]) + message.data[at + 1 :]
            for at in range(len(message.data))
        ]
        for data in spoiled:
            Pair().inbox.take(data, zone="dc1")
        refused = Pair()
        for data in spoiled[: len(message.data)]:
            refused.inbox.take(data, zone="dc1")
        assert refused.inbox.counts["refused_total"] == len(message.data)
        assert not refused.latest.heard


def test_a_bomb_of_zlib_is_not_unpacked() -> None:
    with pytest.raises(BusMessageError, match="more than 67,108,864 bytes"):
        inflated(squeezed(b"\0" * (65 << 20)), 64 << 20, "a message")


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3), min_size=1, max_size=8), st.data())
@QUICK
def test_counters_come_back_equal_whatever_is_lost_between(rounds: list[list[int]], data: st.DataObject) -> None:
    """Whatever messages are lost: what arrives is right, and after a gap the next message that is asked for arrives."""
    pair = Pair()
    for number, row in enumerate(rounds):
        facts = PortCounters("p1", (Counter("a"), Counter("b", 3), Counter("c")), tuple(row))
        made = reading("gpu-1", facts, collector="nic_counters", read_at=100.0 + number)
        pair.outbox.put([made])
        lost = data.draw(st.booleans())
        pair.deliver(lose=lost)
        if not lost:
            if pair.lacking:
                pair.lacking.clear()
                pair.outbox.resend(())
                pair.outbox.put([made])
                pair.deliver()
            assert pair.held("gpu-1", "nic_counters").facts == (facts,)


def test_two_hundred_hosts_fit_into_a_message_of_a_bus() -> None:
    """The names once, then numbers: less than an eighth of the text of counters (15.5 kB a host)."""
    pair = Pair(devices=tuple(f"gpu-{number}" for number in range(200)))
    ports = [f"p{port}" for port in range(8)]
    sizes = []
    for step in range(2):
        chance = random.Random(step)
        for device in pair.devices:
            names = tuple(Counter(f"rx_prio{n}_bytes") for n in range(58))
            facts = [
                PortCounters(
                    p, names, tuple(10**12 + step * chance.randrange(10**9) if n < 40 else 7 for n in range(58))
                )
                for p in ports
            ]
            pair.outbox.put([reading(device, *facts, collector="nic_counters", read_at=100.0 + 10 * step)])
        sizes.append(sum(len(packed(message.data)[0]) for message in pair.deliver() if message.kind == "cnt"))
    assert sizes[1] < 1_000_000
    assert sizes[1] / 200 < 15_500 / 8
