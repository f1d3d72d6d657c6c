"""What switches' counters hold that a recording does not show: values, priorities, names, noise; walks."""

import asyncio
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector import collectors
from collector.formats import counts, ethtool
from collector.nos import cumulus_forms, sonic_forms
from tests.each import each
from tests.real import require
from tests.snmpd import COMMUNITY, Relay, snmpd
from truerail.analysis.counters import Quantity, columns_of
from truerail.errors import UnreadableError
from truerail.model import Counter, Device, Fact, PortCounters, Role, Secret, SnmpAccess, Target
from truerail.transport.snmp_transport import SnmpTransport, subtrees

SWITCH = Device("leaf-0", Role.LEAF)
RECORDINGS = Path(__file__).parent / "recordings"
COUNTING = (
    "port_counters", "port_errors", "pfc_counters", "pfc_watchdog", "queue_counters", "if_counters_snmp", "pfc_snmp",
)  # fmt: skip
NAMES = (*COUNTING, "port_qos")
COLUMNS = "  Port Rx    PFC3\n---------  ------\n"


def read(name: str, answer: str) -> tuple[Fact, ...]:
    return collectors()[name].read(answer, SWITCH)


def reported(name: str, answer: str) -> dict[tuple[str, str, int | None], int]:
    """Port, counter and priority -> value."""
    facts = [fact for fact in read(name, answer) if isinstance(fact, PortCounters)]
    return {
        (fact.port, counter, priority): value
        for fact in facts
        for (counter, priority), value in zip(fact.counters, fact.values, strict=True)
    }


# Values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        ("0", 0),
        (" 1,234,567 ", 1234567),
        ("18446744073709551614", 2**64 - 2),
        ("18446744073709551615", None),
        (3.0, 3),
        (None, None),
        ("N/A", None),
        ("--", None),
        ("", None),
    ],
)
def test_a_value_or_nothing(value: Any, expected: int | None) -> None:
    assert counts.count(value) == expected


@pytest.mark.parametrize("value", ["18446744073709551616", -1, "-1", 1.5, True, "1,23", "0x10", "12 KB", [], "٣", "²"])
def test_no_value_of_a_counter(value: Any) -> None:
    with pytest.raises(UnreadableError, match="not the value of a counter"):
        counts.count(value)


@pytest.mark.parametrize(
    ("value", "expected"), [("0 Bytes", 0), ("1,024 bytes", 1024), ("36.0 KB", None), ("7", 7), (7, 7), ("soon", None)]
)
def test_a_size_that_is_rounded_says_nothing(value: Any, expected: int | None) -> None:
    assert counts.size(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("PFC3", 3), (7, 7), ("UC0", 0), ("8", None), ("13", None), (None, None), ("", None), ("²", None)],
)
def test_a_priority_is_one_of_eight(value: Any, expected: int | None) -> None:
    assert counts.priority(value) == expected


def test_a_devices_own_word_in_lower_case() -> None:
    assert [counts.own(word).counter for word in ("HwIfInL3Drops", "Xmit-Err", "a_octets", "SAIPort")] == [
        "hw_if_in_l3_drops", "xmit_err", "a_octets", "sai_port",
    ]  # fmt: skip


def test_ports_that_count_the_same_share_one_tuple() -> None:
    rows = "".join(f"Ethernet{port}       {port}\n" for port in range(64))
    answer = f"{COLUMNS}{rows}\n{COLUMNS.replace('Rx', 'Tx')}{rows}"
    facts = [fact for fact in read("pfc_counters", answer) if isinstance(fact, PortCounters)]
    assert len(facts) == 64
    assert len({id(fact.counters) for fact in facts}) == 1
    assert facts[7] == PortCounters("Ethernet7", (Counter("rx_pause_frames", 3), Counter("tx_pause_frames", 3)), (7, 7))


@pytest.mark.parametrize(
    ("name", "recording", "expected"),
    [
        ("port_counters", "sonic-database", {Quantity.RX_BYTES, Quantity.TX_BYTES, Quantity.RX_PACKETS}),
        ("port_counters", "ethtool", {Quantity.RX_BYTES, Quantity.LINK_DOWNS, Quantity.TX_PACKETS}),
        ("port_errors", "nxos-text", {Quantity.CRC_ERRORS, Quantity.SYMBOL_ERRORS, Quantity.TX_DISCARDS}),
        ("pfc_counters", "sonic-database", {Quantity.RX_PAUSE_US, Quantity.RX_PAUSE_TRANSITIONS}),
        ("pfc_watchdog", "two-runs", {Quantity.WATCHDOG_STORMS}),
        ("queue_counters", "sonic-tables", {Quantity.ECN_MARKED_PACKETS, Quantity.QUEUE_DROPS, Quantity.RX_DISCARDS}),
        ("if_counters_snmp", "walk", {Quantity.RX_BYTES, Quantity.TX_ERRORS, Quantity.RX_DISCARDS}),
        ("pfc_snmp", "walk", {Quantity.RX_PAUSE_FRAMES, Quantity.TX_PAUSE_FRAMES}),
    ],
)
def test_the_names_are_quantities_that_rules_know(name: str, recording: str, expected: set[Quantity]) -> None:
    facts = read(name, (RECORDINGS / name / recording / "answer.txt").read_text())
    known = [columns_of(fact.counters) for fact in facts if isinstance(fact, PortCounters)]
    assert expected <= {column.quantity for columns in known for column in columns if column}


# SONiC


@pytest.mark.parametrize(
    ("key", "dumped"),
    [
        ("COUNTERS_PORT_NAME_MAP", True),
        ("COUNTERS:oid:0x1000000000002", True),
        ("COUNTERS:oid:0x1500000000042a", False),
        ("COUNTERS_QUEUE_NAME_MAP", False),
        ("COUNTERS_LAG_NAME_MAP", False),
    ],
)
def test_one_pattern_matches_the_ports_and_their_names_and_no_queue(key: str, *, dumped: bool) -> None:
    """Redis' KEYS and Python's fnmatch read such a pattern alike."""
    pattern = sonic_forms.DUMP.text.split("'")[1]
    assert fnmatchcase(key, pattern) is dumped


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_understands_what_switches_with_a_shell_are_asked(name: str) -> None:
    require("sh")
    live = {"sonic", "cumulus", "linux"}
    for command in collectors()[name].ask:
        if live & set(command.platforms) and "{port}" not in command.text:
            done = subprocess.run(["sh", "-nc", command.text], capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), command.text


def test_the_loop_over_ports_names_each_port_above_its_answer() -> None:
    """On this machine: what answers is read; a machine without `ethtool` says so by its exit code."""
    require("sh")
    done = subprocess.run(["sh", "-c", ethtool.LIVE.text], capture_output=True, text=True, check=False)
    assert done.returncode == (0 if shutil.which("ethtool") else 127)
    named = {line.split()[-1] for line in done.stdout.splitlines() if line.startswith("# ethtool -S ")}
    assert named <= {path.name for path in Path("/sys/class/net").iterdir()}


# JSON of the others


@each("name", ["port_counters", "port_errors", "pfc_counters", "queue_counters", "port_qos"])
@each("answer", ["[]", '{"lldp": {}}', '[{"a": 1}, {"b": 2}]', '{"TABLE_module": "none"}'])
def test_json_that_speaks_of_something_else(name: str, answer: str) -> None:
    with pytest.raises(UnreadableError):
        read(name, answer)


@pytest.mark.parametrize(
    ("command", "port"),
    [
        ("nv show interface swp1s0 counters qos -o json", "swp1s0"),
        ("nv show interface swp1_counters_qos_-o_json", "swp1"),
        ("cumulus@leaf-0:~$ nv show interface -o json", ""),
    ],
)
def test_nvue_is_named_by_the_command_above_it(command: str, port: str) -> None:
    answer = f'{command}\n{{"pfc-stats": {{"3": {{"tx-pause-frames": 1}}}}}}\n'
    assert cumulus_forms.pfc_from_nvue(answer) == [PortCounters(port, (Counter("tx_pause_frames", 3),), (1,))]


# Noise


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_noise_is_refused_or_read_but_never_an_accident(name: str, data: st.DataObject) -> None:
    """A recording with pieces taken out and put elsewhere is `UnreadableError`, or holds facts of sane shape."""
    cases = sorted(path for path in (RECORDINGS / name).glob("*/answer.txt"))
    text = data.draw(st.sampled_from(cases)).read_text()
    begin, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    noise = data.draw(st.one_of(st.just(""), st.text(max_size=20), st.just(text[:40]), st.just("\n  ----  ----\n")))
    try:
        facts = read(name, text[:begin] + noise + text[end:])
    except UnreadableError:
        return
    for fact in facts:
        if isinstance(fact, PortCounters):
            assert len(fact.counters) == len(fact.values) == len(set(fact.counters))
            assert all(0 <= value < 2**64 for value in fact.values)


TABLE_LABELS = ("STATE", "RX_OK", "RX_BPS", "RX_ERR", "TX_OK", "TX_DRP")


@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 2**64 - 2)), min_size=3, max_size=3), min_size=1, max_size=6)
)
def test_a_table_as_tabulate_prints_it_comes_back(cells: list[list[int | None]]) -> None:
    rows = [[f"Ethernet{n}", "U", _shown(ok), "2000.00 MB/s", _shown(err), _shown(ok), _shown(drop)]
            for n, (ok, err, drop) in enumerate(cells)]  # fmt: skip
    expected = {
        (f"Ethernet{n}", name, None): value
        for n, (ok, err, drop) in enumerate(cells)
        for name, value in (("rx_packets", ok), ("rx_errors", err), ("tx_packets", ok), ("tx_discards", drop))
        if value is not None
    }
    assert reported("port_counters", _tabulated(("IFACE", *TABLE_LABELS), rows)) == expected


def _shown(value: int | None) -> str:
    return "N/A" if value is None else f"{value:,}"


def _tabulated(labels: tuple[str, ...], rows: list[list[str]]) -> str:
    widths = [max(len(label), *(len(row[n]) for row in rows)) + 2 * (n > 0) for n, label in enumerate(labels)]
    ruler = "  ".join("-" * (width - 2 * (n > 0)) for n, width in enumerate(widths))
    lines = [
        "".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (list(labels), *rows)
    ]
    return "\n".join([lines[0], ruler, *lines[1:]]) + "\n"


# SNMP


@pytest.mark.parametrize("name", ["if_counters_snmp", "pfc_snmp"])
def test_what_is_walked_live_names_the_ports_and_counts(name: str) -> None:
    live = [command for command in collectors()[name].ask if subtrees(command.text)]
    assert len(live) == 1
    assert {"1.3.6.1.2.1.31.1.1.1.1", "1.3.6.1.2.1.2.2.1.2"} <= set(subtrees(live[0].text))
    assert len(live[0].file) < 255


async def _walked(agent: Any, engine: str) -> dict[str, str]:
    transport = SnmpTransport()
    async with Relay(agent) as relay:
        access = SnmpAccess(community=Secret("env", "TRUERAIL_TEST_COMMUNITY"), port=relay.port, engine=engine)
        commands = [collectors()[name].ask[0].text for name in ("if_counters_snmp", "pfc_snmp")]
        answers = await transport.ask(Target("leaf-0", "127.0.0.1", snmp=access), commands)
        await transport.close()
    assert [answer.error for answer in answers] == ["", ""]
    return dict(zip(("if_counters_snmp", "pfc_snmp"), (answer.text for answer in answers), strict=True))


@pytest.mark.parametrize("engine", ["gufo", "pysnmp"])
def test_the_counters_of_a_real_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Net-snmp has IF-MIB and no PFC MIB: the first is counted, the second is unknown and not without pauses."""
    require("snmpd")
    monkeypatch.setenv("TRUERAIL_TEST_COMMUNITY", COMMUNITY)
    with snmpd(tmp_path) as agent:
        texts = asyncio.run(_walked(agent, engine))
    counted = reported("if_counters_snmp", texts["if_counters_snmp"])
    assert counted["lo", "ifHCInOctets", None] >= 0
    assert {counter for port, counter, _ in counted if port == "lo"} == {
        "ifHCInOctets", "ifHCInUcastPkts", "ifHCOutOctets", "ifHCOutUcastPkts",
        "ifInDiscards", "ifInErrors", "ifOutDiscards", "ifOutErrors",
    }  # fmt: skip
    with pytest.raises(UnreadableError, match="no port's counters"):
        read("pfc_snmp", texts["pfc_snmp"])
