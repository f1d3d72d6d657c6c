"""The words of LLDP that switches print: ids and their types, addresses, times, and the ways to say nothing."""

from typing import Any

import pytest

from collector.formats import lldp_words


@pytest.mark.parametrize("word", ["", " ", "-", "--", "N/A", "null", "Not Advertised", "not advertised", None])
def test_the_ways_to_say_nothing(word: str | None) -> None:
    assert lldp_words.advertised(word) is None


@pytest.mark.parametrize(
    ("value", "words", "expected"),
    [
        ("b8ce.f600.0101", None, ("b8:ce:f6:00:01:01", "mac")),
        ("B8-CE-F6-00-01-01", "MAC address (4)", ("b8:ce:f6:00:01:01", "mac")),
        ("b8ce-f600-0101", "", ("b8:ce:f6:00:01:01", "mac")),
        ("b8cef6000101", None, ("b8cef6000101", None)),
        ("b8cef6000101", "macAddress", ("b8:ce:f6:00:01:01", "mac")),
        ("b8:ce:f6:00:01:01", "local", ("b8:ce:f6:00:01:01", "local")),
        ("2:0:0:0:0:3", "Mac address", ("02:00:00:00:00:03", "mac")),
        ("00c.297b.d2a8", "macAddress", ("00:0c:29:7b:d2:a8", "mac")),
        ("not a mac", "macAddress", ("not a mac", "mac")),
        ("b8:ce f6:00:01:0", "macAddress", ("b8:ce f6:00:01:0", "mac")),
        ("Ethernet1/1", "reserved (0)", ("Ethernet1/1", None)),
        (517, "Locally assigned", ("517", "local")),
    ],
)
def test_ids_and_their_types(value: Any, words: str | None, expected: tuple[str, str | None]) -> None:
    assert lldp_words.identified(value, words) == expected


def test_only_ip_addresses_are_management_addresses() -> None:
    given = (
        "10.0.0.1",
        "fe80::1",
        "2001:db8:0:0:0:0:0:1",
        "b8ce.f600.0100",
        "b8:ce:f6:00:01:00",
        "10.0.0.1",
        None,
        ":" * 60,
    )
    assert lldp_words.addresses(*given) == ("10.0.0.1", "fe80::1", "2001:db8:0:0:0:0:0:1")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (120, 120),
        ("98", 98),
        ("120 seconds", 120),
        ("0:01:11 ago", 71),
        ("2 days, 0:00:05", 172805),
        ("9" * 40, None),
        ("soon", None),
    ],
)
def test_seconds(value: Any, expected: int | None) -> None:
    assert lldp_words.seconds(value) == expected
