"""The index of the recorded answers: each file of it is read with expectations of its own, or refused by every
collector, under the name of what it is.

The corpus is not part of the project: where it is absent these tests are skipped, and the reason says so.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import test_corpus_switch_counters as switch_counters
import test_ib_read_corpus as infiniband

from collector import collectors
from tests.test_corpus import CASES, answered
from truerail.errors import UnreadableError
from truerail.model import Device, Fact, NetLink, Role

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
INDEX = CORPUS / "INDEX.tsv"

pytestmark = pytest.mark.skipif(not INDEX.is_file(), reason=f"no index of recorded answers at {CORPUS}")

HERE = ("platforms", "optics", "fdb", "neigh", "bgp", "lacp")
"""Folders whose expectations are those of the index itself, below."""
NOT_OF_DEVICES = ("cabling", "plans", "jobs")
"""Plans, which no collector asks for, and files of jobs: `test_corpus` reads those of NCCL."""
HOST_COUNTERS = frozenset(("gcm_eth_learn_down_intf.json", "gcm_eth_learn_nic_swap.json"))
"""Another tool's inventory, of which `test_counter_collectors_host` has two."""
EVIDENCE_ONLY = frozenset(("iosxe_inventory_cable_pairs_fanout.txt", "iosxr_inventory_raw_8000.txt"))


def index() -> list[dict[str, str]]:
    with INDEX.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def files(*folders: str) -> list[str]:
    return sorted(f"{folder}/{path.name}" for folder in folders for path in (CORPUS / folder).glob("*"))


def answer_of(file: str) -> str:
    return (CORPUS / file).read_bytes().decode("utf-8", "replace")


def read(name: str, file: str) -> tuple[Fact, ...]:
    asked = collectors()[name]
    return asked.read(answer_of(file), Device("any", Role.HOST if Role.HOST in asked.on else asked.on[0]))


def readers(file: str) -> Iterator[str]:
    """The collectors that do not refuse a file."""
    for name in sorted(collectors()):
        try:
            read(name, file)
        except UnreadableError:
            continue
        yield name


def test_the_index_names_every_file_and_every_file_has_expectations() -> None:
    listed = [row["file"] for row in index()]
    assert len(listed) == len(set(listed)) == 304
    assert sorted(listed) == files(*{name.partition("/")[0] for name in listed})
    expected = {
        *(f"{folder}/{answered(file)}" for _, folder, file in CASES),
        *(f"switch_counters/{path.name}" for path in (CORPUS / "switch_counters").iterdir()),
        *(f"ib/{path.name}" for path in (CORPUS / "ib").iterdir()),
        *files("host_counters", *HERE, *NOT_OF_DEVICES),
    }
    assert expected == set(listed)
    assert set(switch_counters.WHOLE) < {path.name for path in (CORPUS / "switch_counters").iterdir()}
    assert set(infiniband.FABRICS) < {path.name for path in (CORPUS / "ib").iterdir()}


def test_each_answer_of_a_host_s_counters_is_read_or_is_another_tools() -> None:
    source = Path(__file__).with_name("test_counter_collectors_host.py").read_text()
    for file in files("host_counters"):
        name = file.partition("/")[2]
        device = re.fullmatch(r"sysfs_\w+?_(mlx5_0|mlx5_bond_0|hfi1_0)\.\w+", name)
        assert name in HOST_COUNTERS or name in source or (device and f'"{device[1]}"' in source), file
        assert bool(list(readers(file))) != name.startswith("gcm_"), file


@pytest.mark.parametrize("file", files("cabling", "plans") if INDEX.is_file() else [])
def test_what_no_collector_asks_is_refused_by_each(file: str) -> None:
    assert not list(readers(file))


def expectations(folder: str) -> list[tuple[str, str]]:
    rows = index() if INDEX.is_file() else []
    return [(row["file"], row["expected"]) for row in rows if row["file"].startswith(f"{folder}/")]


ROWS = re.compile(r"(\w+) ([\w/]+)(?: where .*)?: (\d+) rows; (\[.*\])")
STATES = re.compile(r"port_state: (\d+) ports; (.*)")


@pytest.mark.parametrize(("file", "expected"), [row for folder in HERE for row in expectations(folder)])
def test_the_index_is_right(file: str, expected: str) -> None:
    """Ports, names and ids, states, part and serial numbers are those that the index has."""
    rows, states = ROWS.fullmatch(expected), STATES.fullmatch(expected)
    if rows:
        columns, count, first = rows[2].split("/"), int(rows[3]), json.loads(rows[4])
        facts = [fact for fact in read(rows[1], file) if getattr(fact, "kind", "dynamic") == "dynamic"]
        found = dict.fromkeys(tuple(getattr(fact, column) for column in columns) for fact in facts)
        assert len(found) == count
        assert first in ([list(row) for row in found][: len(first)], sorted(map(list, found))[: len(first)])
    elif states:
        links = [fact for fact in read("port_state", file) if isinstance(fact, NetLink)]
        reported = {link.netdev: state_of(link) for link in links}
        assert len(reported) == int(states[1])
        listed = dict(pair.split("=") for pair in states[2].split(", "))
        assert listed == {port: reported[port] for port in listed}
    else:
        assert file.partition("/")[2] in EVIDENCE_ONLY or "nothing that names a port" in expected
        assert not any(read(name, file) for name in readers(file))


def state_of(link: NetLink) -> str:
    return "up" if link.operstate == "UP" else "down" if "UP" in link.flags else "off"
