"""Counters in recorded answers of real switches, from a corpus beside the project where there is one; not copied.

What is expected is taken from the files a second time by code that shares nothing with the readers (whitespace, JSON
keys, lines of snmprec); `test_corpus` has what was written down by eye.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from collector import collectors
from tests.test_corpus import CASES, answered
from truerail.errors import UnreadableError
from truerail.model import Device, PortCounters, Role

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
if not (CORPUS / "switch_counters").is_dir():
    pytest.skip(f"no corpus of recorded answers at {CORPUS}", allow_module_level=True)

Reported = dict[tuple[str, str, int | None], int]
SWITCH = Device("leaf-0", Role.LEAF)
COUNTING = ("port_counters", "port_errors", "pfc_counters", "pfc_watchdog", "queue_counters")
SNMP = {
    (6, True): "ifHCInOctets", (7, True): "ifHCInUcastPkts",
    (10, True): "ifHCOutOctets", (11, True): "ifHCOutUcastPkts",
    (13, False): "ifInDiscards", (14, False): "ifInErrors", (19, False): "ifOutDiscards", (20, False): "ifOutErrors",
}  # fmt: skip


def text(file: str) -> str:
    return (CORPUS / "switch_counters" / file).read_text()


def reported(collector: str, answer: str) -> Reported:
    facts = [fact for fact in collectors()[collector].read(answer, SWITCH) if isinstance(fact, PortCounters)]
    return {
        (fact.port, counter, priority): value
        for fact in facts
        for (counter, priority), value in zip(fact.counters, fact.values, strict=True)
    }


def pauses(answer: str) -> Reported:
    """`pfcstat`, by whitespace: rows of nine words, the way by the last line with `Port`."""
    found: Reported = {}
    way = ""
    for line in answer.splitlines():
        cells = line.split()
        if cells[:1] == ["Port"]:
            way = f"{cells[1].lower()}_pause_frames"
        elif len(cells) == 9 and not cells[0].startswith("-"):
            found |= {(cells[0], way, n): int(cell.replace(",", "")) for n, cell in enumerate(cells[1:])}
    return found


def storms(answer: str) -> Reported:
    """`pfcwd show stats`, by whitespace; of several runs the last."""
    found: Reported = {}
    row = re.compile(r"^\s*(\S+:\d+)\s+\S+\s+(\d+)/\d+\s+\d+/(\d+)\s+\d+/(\d+)", re.MULTILINE)
    for queue, detected, tx, rx in row.findall(answer):
        port, index = queue.split(":")
        if int(index) < 8:
            values = {"watchdog_storms": detected, "watchdog_tx_drops": tx, "watchdog_rx_drops": rx}
            found |= {(port, name, int(index)): int(value) for name, value in values.items()}
    return found


def eos(answer: str) -> Reported:
    found: Reported = {}
    for port, entry in json.loads(answer)["interfaces"].items():
        for way, of in (("rx", "in"), ("tx", "out")):
            found[port, f"{way}_bytes", None] = entry[f"{of}Octets"]
            found[port, f"{way}_discards", None] = entry[f"{of}Discards"]
            found[port, f"{way}_packets", None] = sum(
                entry[f"{of}{c}Pkts"] for c in ("Ucast", "Multicast", "Broadcast")
            )
    return found


def queues(answer: str) -> Reported:
    found: Reported = {}
    names = ("queue_packets", "queue_bytes", "queue_drops", "queue_drop_bytes")
    for port, kind, index, *values in re.findall(r"^(\S+)\s+(UC|MC)(\d+)" + r"\s+(\d+)" * 4, answer, re.MULTILINE):
        for name, value in zip(names, values, strict=True):
            found[port, name if kind == "UC" else f"mc_{name}", int(index)] = int(value)
    return found


def dropped(answer: str) -> Reported:
    rows = [line.split() for line in answer.splitlines() if line.startswith("Ethernet")]
    return {(row[0], "rx_discards", n): int(cell) for row in rows for n, cell in enumerate(row[1:])}


WHOLE: dict[str, tuple[str, Callable[[str], Reported], int]] = {
    "eos_if_counters_eos_leaf01.json": ("port_counters", eos, 10 * 6),
    "eos_if_counters_eos_spine01.json": ("port_counters", eos, 7 * 6),
    "sonic_doc_pfc_counters.txt": ("pfc_counters", pauses, 4 * 16),
    "sonic_show_pfc_counters_all_asic.txt": ("pfc_counters", pauses, 4 * 16),
    "sonic_show_pfc_counters_output.txt": ("pfc_counters", pauses, 3 * 16),
    "sonic_issue8483_pfcwd_stormed.txt": ("pfc_watchdog", storms, 3),
    "sonic_issue19067_pfcwd_stats.txt": ("pfc_watchdog", storms, 3),
    "sonic_pfcwd_show_stats_output.txt": ("pfc_watchdog", storms, 9),
    "sonic_pfcwd_show_stats_invalid_queue_output.txt": ("pfc_watchdog", storms, 0),
    "sonic_show_pfcwd_stats_all.txt": ("pfc_watchdog", storms, 6 * 8 * 3),
    "sonic_issue6290_queue_counters.txt": ("queue_counters", queues, 14 * 4),
    "sonic_show_pg_dropped_packet_stat.txt": ("queue_counters", dropped, 3 * 8),
}
"""What is read as a whole: collector, second extraction, number of values."""

SAID = {file: name for name, folder, file in CASES if folder == "switch_counters"}
"""Whose outcome is in `tests/corpus`, and the collector that reads it."""
READERS = {file: reader for file, (reader, _, _) in WHOLE.items()} | {
    answered(file): name for file, name in SAID.items() if file.endswith(".facts.json")
}


@pytest.mark.parametrize("file", WHOLE)
def test_every_value(file: str) -> None:
    collector, extracted, count = WHOLE[file]
    expected = extracted(text(file))
    assert len(expected) == count
    assert reported(collector, text(file)) == expected


def test_every_file_of_the_corpus_has_expectations() -> None:
    assert {path.name for path in (CORPUS / "switch_counters").iterdir()} == {*WHOLE, *map(answered, SAID)}


@pytest.mark.parametrize("file", sorted(READERS))
def test_answers_of_another_kind_are_refused(file: str) -> None:
    both = {"port_counters", "port_errors"} if "nxos_ShowInterface" in file else {READERS[file]}
    for collector in sorted(set(COUNTING) - both):
        with pytest.raises(UnreadableError):
            reported(collector, text(file))


@pytest.mark.parametrize("path", sorted((CORPUS / "snmp").iterdir()), ids=lambda path: path.name)
def test_every_counter_of_a_walk(path: Path) -> None:
    rows = [line.split("|", 2) for line in path.read_text(errors="surrogateescape").splitlines()]
    names: dict[str, str] = {}
    values: list[tuple[str, str, int]] = []
    for oid, _, value in rows:
        found = re.fullmatch(r"1\.3\.6\.1\.2\.1\.(?:2\.2|31\.1\.1)\.1\.(\d+)\.(\d+)", oid)
        if not found:
            continue
        extended = ".31.1.1." in oid
        column, index = int(found[1]), found[2]
        if extended and column == 1:
            names[index] = value.strip()
        elif (column, extended) in SNMP and value.isdigit():
            values.append((index, SNMP[column, extended], int(value)))
    expected = {(names[index], counter, None): value for index, counter, value in values if index in names}
    found_all = reported("if_counters_snmp", path.read_text(errors="surrogateescape"))
    assert len(expected) > 0
    assert found_all == expected
    with pytest.raises(UnreadableError, match="no port's counters"):
        reported("pfc_snmp", path.read_text(errors="surrogateescape"))
