"""Any text at all gives a switch collector facts or one clear refusal, in bounded time; no cut answer is half read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector import collectors
from tests.draws import draws
from tests.each import each
from tests.patience import grows_with
from truerail.errors import ReaderFaultError, UnreadableError
from truerail.model import Device, Fact, Role

SWITCH = Device("leaf-0", Role.LEAF)
NAMES = ("lldp_switch", "lldp_snmp", "if_snmp")
RECORDINGS = Path(__file__).parent / "recordings"
ANSWERS = {
    f"{name}/{case.name}": (name, (case / "answer.txt").read_bytes().decode())
    for name in NAMES
    for case in sorted((RECORDINGS / name).iterdir())
}
TOTALLED = (
    "eos-brief-json",
    "eos-detail-json",
    "junos-brief-xml",
    "nclu-interface-all-json",
    "nvue-json",
    "nxos-brief-json-native",
    "sonic-table",
)
"""Recordings in formats that tell where they end: closed brackets and tags, or a total."""
PIECES = st.sampled_from(
    [
        *(
            "Interface",
            "Port",
            "Port ID",
            "Local Intf",
            "Device ID",
            "Hold-time",
            "Chassis id:",
            "Port id:",
            "Local Port id:",
        ),
        *("Total entries displayed: 1", "Interface Ethernet1 detected 1 LLDP neighbors:", "  Neighbor a/b, age 1"),
        *(".1.0.8802.1.1.2.1.4.1.1.7.0.1.1 = STRING: ", "1.0.8802.1.1.2.1.4.1.1.9.0.1.1|4|x", "Hex-STRING: 00 "),
        *("120", "Ethernet1/1", "b8ce.f600.0101", "--------------------", "-----  ----  ---", ":", "  ", "\n", "\t"),
        *("<a>", "</a>", "{", "}", "[", "]", '"', "\x1b[0m", "\x00", "\u202e"),
    ]
)


def outcome(name: str, text: str) -> tuple[Fact, ...] | None:
    """The facts, or None for a refusal. Anything else that is raised fails the test."""
    try:
        return collectors()[name].read(text, SWITCH)
    except ReaderFaultError:
        raise
    except UnreadableError:
        return None


@settings(max_examples=draws(30, 600))
@given(name=st.sampled_from(NAMES), text=st.text(max_size=400))
def test_any_text(name: str, text: str) -> None:
    facts = outcome(name, text)
    assert facts is None or set(map(type, facts)) <= set(collectors()[name].yields)


@settings(max_examples=draws(40, 800))
@given(name=st.sampled_from(NAMES), pieces=st.lists(PIECES, max_size=40))
def test_pieces_of_formats(name: str, pieces: list[str]) -> None:
    outcome(name, "".join(pieces))


@settings(max_examples=draws(60, 1200))
@given(key=st.sampled_from(sorted(ANSWERS)), data=st.data())
def test_mutated_recordings(key: str, data: st.DataObject) -> None:
    name, text = ANSWERS[key]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    outcome(name, text[:start] + data.draw(PIECES | st.text(max_size=20)) + text[end:])


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ROOTS = st.sampled_from(
    [
        ("lldpNeighbors",),
        ("lldpNeighbors", "Ethernet1", "lldpNeighborInfo"),
        ("TABLE_nbor", "ROW_nbor"),
        ("lldp-neighbors-information",),
        ("swp1", "lldp", "neighbor", "spine-1"),
        ("swp1", "iface_obj", "lldp"),
        ("lldp", "interface"),
    ]
)


@settings(max_examples=draws(40, 800))
@given(path=ROOTS, value=JSON_VALUES)
def test_any_json_where_a_format_has_something_else(path: tuple[str, ...], value: object) -> None:
    for key in reversed(path):
        value = {key: value}
    outcome("lldp_switch", json.dumps(value))


@pytest.mark.parametrize("case", TOTALLED)
def test_a_format_with_an_end_is_read_whole_or_not_at_all(case: str) -> None:
    text = (RECORDINGS / "lldp_switch" / case / "answer.txt").read_bytes().decode()
    whole = outcome("lldp_switch", text)
    assert whole
    for length in range(len(text)):
        assert outcome("lldp_switch", text[:length]) in (None, whole), text[max(0, length - 60) : length]


@pytest.mark.parametrize("case", ["aoscx-detail-text", "ios-table-crlf", "nxos-table"])
def test_a_format_that_may_lose_its_end_is_refused_where_it_is_cut_in_a_line(case: str) -> None:
    text = (RECORDINGS / "lldp_switch" / case / "answer.txt").read_bytes().decode()
    whole = outcome("lldp_switch", text)
    assert whole
    refused = 0
    for length in range(len(text)):
        facts = outcome("lldp_switch", text[:length])
        refused += facts is None
        if facts is not None and not text[:length].endswith("\n"):
            assert [fact[0] for fact in facts] == [fact[0] for fact in whole], text[max(0, length - 60) : length]
    assert refused > len(text) // 2


@each("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        lambda k: " " * (50_000 * k),
        lambda k: "a" * (50_000 * k),
        lambda k: "A:" * (25_000 * k),
        lambda k: "\n" * (50_000 * k),
        lambda k: "-" * (50_000 * k),
        lambda k: "- -- " * (10_000 * k),
        lambda k: "Port Device ID Port ID" + " x" * (25_000 * k),
        lambda k: "Port  Device ID  Port ID\n" + "a " * (25_000 * k),
        lambda k: "Device ID  Local Intf  Hold-time  Port ID\n" + "name\n" * (10_000 * k),
        lambda k: "Chassis id: a\n" * (5_000 * k),
        lambda k: '{"lldp' * (7_500 * k),
        lambda k: "[" * (50_000 * k),
        lambda k: "<a>" * (17_500 * k),
        lambda k: "Interface Ethernet1 detected 1 LLDP neighbors:\n" * (1_250 * k),
        lambda k: "Interface:    a\n" + "-" * (25_000 * k) + "\n  Time:\n" * (1_250 * k),
        lambda k: "1.0.8802.1.1.2.1.4.1.1.7.0.1.1|4x|" + "0" * (50_000 * k),
        lambda k: '.1.0.8802.1.1.2.1.4.1.1.7.0.1.1 = STRING: "' + "a\n" * (5_000 * k),
        lambda k: '.1.0.8802.1.1.2.1.4.1.1.7.0.1.1 = STRING: "' + "\\" * (25_000 * k),
        lambda k: ".1" * (25_000 * k),
        lambda k: "\x1b[" * (12_500 * k),
    ],
    ids=range(20),
)
def test_a_hostile_answer_takes_time_as_it_is_long(name: str, text: Callable[[int], str]) -> None:
    grows_with(lambda k: outcome(name, text(k)))
