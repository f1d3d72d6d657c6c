"""InfiniBand's tools as they really answered, kept beside the checkout: how many links and counters each answer tells.

The corpus is not part of the project: where it is absent these tests are skipped, and the reason says so.
"""

from collections import Counter
from pathlib import Path

import pytest

from collector import collectors
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Device, Fact, LinkSpeed, Neighbor, PortCounters

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "ib"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of recorded answers at {CORPUS}")

FABRICS = {
    # file: nodes by GUID or name, links, ends by Gb/s
    "cyberang3l_k-4-n-3-Full.topo": (208, 384, {100.0: 768}),
    "ibdiagnet2.lst": (272, 271, {400.0: 542}),
    "ibdiagnet2.net_dump": (272, 271, {400.0: 542}),
    "ibdiagnet2.net_dump_ext": (265, 264, {400.0: 528}),
    "ibdiagnet_db_csv_LINKS.csv": (272, 271, {}),
    "ibdiagnet_default.ibnetdiscover": (272, 271, {400.0: 542}),
    "ibdiagnet_quantum2_ndr.ibnetdiscover": (272, 271, {400.0: 542}),
    "ibnetdiscover_manpage_2007.rst": (6, 7, {10.0: 12, 2.5: 2}),
    "ibnetdiscover_p_test.out": (6, 4, {100.0: 8}),
    "ibsim_net_2sw2path4hca2port.txt": (4, 6, {}),
    "kalcher_pentagon.ibnl": (16, 21, {}),
}
WITHOUT_LINKS = ("ibdiagnet_db_csv_NODES.csv", "ibnetdiscover_p_test3.out")
COUNTED = {
    "perfquery_0x506b4b03005c2740.txt": {"LID 2052/1": 22},
    "perfquery_0x7cfe9003003b4bde.txt": {"LID 134/1": 8},
    "perfquery_rcverr_0x7cfe9003003b4b96-1.txt": {"LID 133/1": 6},
    "perfquery_rcverr_0x7cfe9003009ce5b0-1.txt": {"LID 1719/1": 6},
    "perfquery_rcverr_0x7cfe9003009ce5b0-2.txt": {"LID 1719/2": 6},
}
ERRORS = ("ibqueryerrors_sx6036.txt", "ibqueryerrors_sx6036_mailquoted.txt")


def read(file: str, collector: str = "ib_fabric") -> tuple[Fact, ...]:
    return collectors()[collector].read((CORPUS / file).read_bytes().decode(), Device("ufm"))


def neighbors(file: str) -> list[Neighbor]:
    return [fact for fact in read(file) if isinstance(fact, Neighbor)]


@pytest.mark.parametrize("file", sorted(FABRICS))
def test_a_fabric_is_read_in_full(file: str) -> None:
    nodes, links, rates = FABRICS[file]
    found = neighbors(file)
    ends = Counter(((one.of_guid or one.of), one.port) for one in found)
    assert set(ends.values()) == {1}, "an end is reported twice"
    assert (len({node for node, _ in ends}), len(found)) == (nodes, 2 * links)
    assert Counter(fact.gbps for fact in read(file) if isinstance(fact, LinkSpeed)) == rates


@pytest.mark.parametrize("file", sorted(FABRICS))
def test_each_end_names_the_other(file: str) -> None:
    found = neighbors(file)
    there = {(one.of, one.of_guid, one.port, one.system_name, one.chassis_id, one.port_id) for one in found}
    back = {(one.system_name, one.chassis_id, one.port_id, one.of, one.of_guid, one.port) for one in found}
    assert there == back


def test_forms_of_one_discovery_agree() -> None:
    files = ("ibdiagnet_quantum2_ndr.ibnetdiscover", "ibdiagnet2.lst", "ibdiagnet2.net_dump")
    reported = [{one._replace(port_description=None) for one in neighbors(file)} for file in files]
    assert reported[0] == reported[1] == reported[2]


def test_a_link_may_run_slower_at_one_end() -> None:
    found = [fact for fact in read("ibnetdiscover_manpage_2007.rst") if isinstance(fact, LinkSpeed)]
    slow = {(one.of_guid, one.port) for one in found if one.gbps == 2.5}
    assert slow == {("0x0008f10400410015", "1"), ("0x0008f10403960558", "1")}


@pytest.mark.parametrize("file", WITHOUT_LINKS)
def test_an_answer_without_a_link_tells_nothing(file: str) -> None:
    with pytest.raises(NoAnswerError, match="no link in it"):
        read(file)


@pytest.mark.parametrize("file", sorted(COUNTED))
def test_counters_are_read_in_full(file: str) -> None:
    found = read(file, "ib_counters")
    assert {one.port: len(one.values) for one in found if isinstance(one, PortCounters)} == COUNTED[file]


@pytest.mark.parametrize("file", ERRORS)
def test_a_sum_over_ports_is_no_port(file: str) -> None:
    found = {one.port: one for one in read(file, "ib_counters") if isinstance(one, PortCounters)}
    assert [port for port in found if port.startswith("0x0002c903006e29b0/")] == [
        f"0x0002c903006e29b0/{number}" for number in range(9)
    ]
    assert len(found) == 14
    fifth = found["0x0002c903006e29b0/5"]
    reported = {counter.counter: value for counter, value in zip(fifth.counters, fifth.values, strict=True)}
    assert (reported["symbol_error"], reported["link_downed"], reported["port_xmit_discards"]) == (65535, 2, 649)


@pytest.mark.parametrize("collector", ["ib_fabric", "ib_counters"])
def test_other_answers_are_refused(collector: str) -> None:
    known = {"ib_fabric": {*FABRICS, *WITHOUT_LINKS}, "ib_counters": {*COUNTED, *ERRORS}}[collector]
    others = [path.name for path in CORPUS.iterdir() if path.name not in known]
    assert others
    for file in others:
        with pytest.raises(UnreadableError, match="of an InfiniBand fabric"):
            read(file, collector)
