"""The short ways of the largest answers: where they read an answer, the parser behind them reads the same."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector import collectors, nic_counters
from collector.formats import counts
from collector.nos import sonic_forms
from tests.draws import draws
from truerail.errors import UnreadableError
from truerail.model import Device, Fact, Role

RECORDINGS = Path(__file__).parent / "recordings"
SWITCH, HOST = Device("leaf-1", Role.LEAF), Device("gpu-1")
TABLE = """\
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    gpu-1           02:00:00:00:00:01  O             eth0
Ethernet4    gpu-2           swp 3              BR            a label: port id: 7
Ethernet8    n/a             etp1                             N/A
eth0         oob             02-00-00-00-00-0A  B
--------------------------------------------------
Total entries displayed:  4
"""
COUNTERS = """\
# ethtool -S eth0
NIC statistics:
     rx_packets: 18
     rx_prio3_pause: 0
     [0]: rx_discards: 7
     duplicate metric: 007
     lost: 18446744073709551615
     unknown: N/A
carrier_down_count: 3
# ethtool -S eth1
no stats available
carrier_down_count: 0
"""


def outcome(read: Callable[[], object]) -> object:
    try:
        return read()
    except UnreadableError as error:
        return str(error)


def read(collector: str, answer: str) -> tuple[Fact, ...]:
    return collectors()[collector].read(answer, SWITCH if collector == "lldp_switch" else HOST)


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], object]:
    """What the parsers read without the short ways."""

    def of(collector: str, answer: str) -> object:
        with monkeypatch.context() as without:
            without.setattr(sonic_forms, "neighbors_from_table", lambda answer: None)
            without.setattr("collector.nic_counters.read_values", lambda answer, parse: parse(answer))
            return outcome(lambda: read(collector, answer))

    return of


def recorded() -> Iterator[tuple[str, str]]:
    for collector in ("lldp_switch", "nic_counters"):
        for case in sorted((RECORDINGS / collector).glob("*/answer.txt")):
            yield collector, case.read_bytes().decode()


def test_a_table_and_counters_take_the_short_way() -> None:
    found = sonic_forms.neighbors_from_table(TABLE)
    assert found is not None
    assert [(one.port, one.system_name, one.port_id, one.port_description) for one in found] == [
        ("Ethernet0", "gpu-1", "02:00:00:00:00:01", "eth0"),
        ("Ethernet4", "gpu-2", "swp 3", "a label: port id: 7"),
        ("Ethernet8", None, "etp1", None),
        ("eth0", "oob", "02:00:00:00:00:0a", None),
    ]
    before = counts._places.cache_info().hits
    read("nic_counters", COUNTERS)
    read("nic_counters", COUNTERS.replace("18\n", "21\n"))
    assert counts._places.cache_info().hits > before


def test_every_recording_reads_the_same_whole_and_cut_at_each_line(behind: Callable[[str, str], object]) -> None:
    for collector, answer in (*recorded(), ("lldp_switch", TABLE), ("nic_counters", COUNTERS)):
        lines = answer.splitlines(keepends=True)
        for end in range(0, len(lines) + 1, max(1, len(lines) // draws(8, 40))):
            for part in ("".join(lines[:end]), "".join(lines[:end]).rstrip("\n"), "".join(lines[end:])):
                assert outcome(partial(read, collector, part)) == behind(collector, part), part


EDITS = st.lists(
    st.tuples(st.integers(0, 700), st.integers(0, 3), st.sampled_from(("", " ", "-", "0", ":", "\n", "\r", "x"))),
    min_size=1,
    max_size=3,
)


@given(st.sampled_from([("lldp_switch", TABLE), ("nic_counters", COUNTERS)]), EDITS)
@settings(max_examples=draws(60, 1200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_edited_answers_read_the_same(
    behind: Callable[[str, str], object], case: tuple[str, str], edits: list[tuple[int, int, str]]
) -> None:
    collector, answer = case
    for at, removed, text in edits:
        at %= len(answer)
        answer = answer[:at] + text + answer[at + removed :]
    assert outcome(lambda: read(collector, answer)) == behind(collector, answer)


@pytest.mark.parametrize("value", ["10000000000100000000", "18 ", "1000000000000000003"])
def test_a_value_that_is_part_of_the_layout_is_left_to_the_parser(
    value: str, behind: Callable[[str, str], object]
) -> None:
    answer = COUNTERS.replace("18446744073709551615", value)
    assert outcome(lambda: read("nic_counters", answer)) == behind("nic_counters", answer)


@given(st.lists(st.integers(0, 10**20), min_size=7, max_size=7))
@settings(max_examples=draws(20, 400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_values_read_the_same(behind: Callable[[str, str], object], values: list[int]) -> None:
    drawn = iter([*values, 1, 2])
    answer = re.sub(r"(?<=: )\d+$", lambda found: str(next(drawn)), COUNTERS, flags=re.MULTILINE)
    assert outcome(lambda: read("nic_counters", answer)) == behind("nic_counters", answer)
    assert nic_counters.nic_counters.name == "nic_counters"


def test_values_in_another_order_than_their_counters_are_picked() -> None:
    assert counts._pick([2, 0])((7, 8, 9)) == (9, 7)
