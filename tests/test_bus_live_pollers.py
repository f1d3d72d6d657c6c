"""Which pollers run, and which are missing: by a clock that the test sets."""

from collections import Counter

from truerail.link.live_pollers import MISSING_SECONDS, LivePollers
from truerail.link.shards import owner, token

ONE, OTHER = ("dc1", "one"), ("dc1", "other")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_silent_poller_is_missing_for_an_hour_and_one_that_reports_its_end_is_not() -> None:
    clock = Clock()
    live = LivePollers(9.0, clock)
    assert live.heard(ONE, "a", 1)
    assert live.heard(OTHER, "b", 1)
    assert live.ended(OTHER)
    assert (live.running, live.missing) == ([ONE], [])
    clock.now = 10.0
    assert live.expire()
    assert (live.running, live.missing) == ([], [ONE])
    clock.now += MISSING_SECONDS
    assert live.missing == [ONE]
    clock.now += 1.0
    assert live.missing == []
    assert set(live.since) == {ONE, OTHER}


def test_a_poller_that_comes_back_is_not_missing() -> None:
    clock = Clock()
    live = LivePollers(9.0, clock)
    live.heard(ONE, "a", 1)
    clock.now = 10.0
    assert live.expire()
    assert live.heard(ONE, "a2", 2)
    assert (live.running, live.missing, live.epoch) == ([ONE], [], 2)


# Which poller polls a device: even shares, and no device but its own moves when one ends


DEVICES = [f"gpu-{number:05d}.dc1.example" for number in range(2000)]
POLLERS = [f"poller-{number}" for number in range(10)]


def test_shares_are_even_and_the_order_of_names_does_not_matter() -> None:
    shares = Counter(owner(device, POLLERS) for device in DEVICES)
    assert set(shares) == set(POLLERS)
    assert 150 < min(shares.values()) <= max(shares.values()) < 260
    assert all(owner(device, POLLERS) == owner(device, reversed(POLLERS)) for device in DEVICES[:50])
    assert owner("gpu-1", []) == ""


def test_only_the_devices_of_a_poller_that_ends_move() -> None:
    before = {device: owner(device, POLLERS) for device in DEVICES}
    after = {device: owner(device, POLLERS[1:]) for device in DEVICES}
    moved = {device for device in DEVICES if before[device] != after[device]}
    assert moved == {device for device in DEVICES if before[device] == POLLERS[0]}


def test_a_token_is_one_part_of_a_subject_and_the_same_for_each_spelling() -> None:
    assert token("Leaf-1.DC1.example") == token("leaf-1.dc1.example")
    assert len(token("a.b")) == 16
    assert not set(token("a.b *>")) - set("0123456789abcdef")
