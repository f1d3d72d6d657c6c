"""Which poller polls a device: even shares, and no one's but its own devices move when one ends."""

from collections import Counter

from truerail.link.shards import owner, token

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
