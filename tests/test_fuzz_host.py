"""Whatever a host answers, a collector gives facts or refuses: no other exception, no partial matrix, no hang."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector import collectors
from collector.formats.ip_links import interfaces
from collector.net_link import _decoded, _net_link, _of_entry, net_link
from tests.draws import SOAK, draws
from tests.each import each
from tests.patience import grows_with
from truerail.errors import ReaderFaultError, UnreadableError
from truerail.model import Collector, Device, Fact, GpuNicPath

NAMES = (
    *("gpu_nic_topology", "rdma_link", "lldp_host", "net_link", "net_address"),
    *("nic_counters", "rdma_counters", "host_facts", "nic_qos", "optics"),
)
RECORDINGS = Path(__file__).parent / "recordings"
HOST = Device("gpu-001")
WORDS = st.sampled_from(
    [
        *(
            "GPU0",
            "NIC0",
            "mlx5_0",
            "PIX",
            " X ",
            "CPU Affinity",
            "NIC Legend:",
            "link mlx5_0/1 state ",
            "ACTIVE",
            "==>",
        ),
        *("hca_id: ", "CA '", "Port 1:", "Interface: ", ", via: LLDP", "lldp.eth0.via=", "Chassis ID TLV", '"ifname":'),
        *(
            "LINK CHASSIS-ID SYSTEM-NAME CAPS PORT-ID PORT-DESCRIPTION\n",
            "{",
            "[{",
            "}",
            "]",
            '"lldp":',
            '"Neighbors":',
        ),
        *("\n", "\t", "\r\n", "\x1b[4m", "#", "null", "1" * 30),
        *("ethtool -S eth0\n", "NIC statistics:\n", ": 0\n", ": 12", "link mlx5_0/1 ", "rx_prio3_pause ", "N/A"),
        *(
            "mlx5_0/ports/1/counters/x:",
            "Path: a/ports/1/counters/b\nLines: 1\n",
            "Mode: 644\n",
            "Port 1 hw counters:\n",
        ),
        *(
            "module/nvidia/initstate:live\n",
            "0000:1a:00.0 ",
            "LnkSta: Speed ",
            "enabled ",
            "prio-pfc ",
            "dBm",
            "Identifier",
        ),
    ]
)


def answers(name: str, outcome: str = "*.*") -> list[str]:
    """The recorded answers of a collector; `outcome` `facts.json` for those that can be read."""
    cases = {path.parent for path in (RECORDINGS / name).glob(f"*/{outcome}")}
    return [(case / "answer.txt").read_bytes().decode() for case in sorted(cases)]


def read(collector: Collector, answer: str) -> tuple[Fact, ...] | None:
    """The facts, or None where the answer is refused in the reader's own words."""
    try:
        facts = collector.read(answer, HOST)
    except ReaderFaultError:
        raise
    except UnreadableError:
        return None
    assert {type(fact) for fact in facts} <= set(collector.yields)
    return facts


@st.composite
def mutations(draw: st.DrawFn, name: str) -> str:
    """A recorded answer with pieces cut out, repeated, or replaced by words of the formats."""
    answer = draw(st.sampled_from(answers(name)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(answer)))
        end = draw(st.integers(start, min(len(answer), start + 200)))
        piece = draw(st.one_of(st.just(""), st.just(answer[start:end] * 2), WORDS, st.text(max_size=8)))
        answer = answer[:start] + piece + answer[end:]
    return answer


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=draws(30, 600))
@given(answer=st.one_of(st.text(), st.lists(st.one_of(WORDS, st.text(max_size=5))).map("".join)))
def test_any_text_is_read_or_refused(name: str, answer: str) -> None:
    read(collectors()[name], answer)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=draws(30, 600))
@given(data=st.data())
def test_any_mutation_of_a_recording_is_read_or_refused(name: str, data: st.DataObject) -> None:
    read(collectors()[name], data.draw(mutations(name)))


@pytest.mark.parametrize("name", NAMES)
def test_every_truncation_of_a_json_recording_is_refused(name: str) -> None:
    documents = [
        answer.rstrip() for answer in answers(name, "facts.json") if answer[:1] in ("{", "[") and "#" not in answer
    ]
    cuts = [document[:end] for document in documents for end in _ends(document)]
    assert [cut for cut in cuts if read(collectors()[name], cut) is not None] == []


def _ends(document: str) -> Iterable[int]:
    """Where a word, a number or a run of blanks begins; in `make soak` each character."""
    return range(len(document)) if SOAK else (found.start() for found in re.finditer(r"\w+|\s+|.", document))


@pytest.mark.parametrize("answer", answers("gpu_nic_topology", "facts.json"))
def test_no_truncation_of_a_matrix_gives_part_of_it(answer: str) -> None:
    topology = collectors()["gpu_nic_topology"]
    whole = levels(read(topology, answer))
    seen = {levels(facts) for end in range(len(answer)) if (facts := read(topology, answer[:end])) is not None}
    assert seen <= {whole}


def levels(facts: tuple[Fact, ...] | None) -> tuple[tuple[int, str, str], ...]:
    return tuple((fact.gpu, fact.nic, fact.level) for fact in facts or () if isinstance(fact, GpuNicPath))


@each("name", NAMES)
@pytest.mark.parametrize(
    "answer",
    [
        lambda k: "x" * (37_500 * k),
        lambda k: " " * (37_500 * k) + "x",
        lambda k: "a" + " " * (37_500 * k) + "==> b (Up",
        lambda k: "a port 1" * (5_000 * k) + " ==>",
        lambda k: "link " + "/1" * (18_750 * k),
        lambda k: "GPU0 " + "NIC0" * (8_750 * k),
        lambda k: "\tGPU0\tNIC0\n" + "GPU0\tX\tPIX\n" * (3_750 * k),
        lambda k: "LINK CHASSIS-ID SYSTEM-NAME CAPS PORT-ID PORT-DESCRIPTION\na" + " ." * (18_750 * k),
        lambda k: "lldptool -i " * (3_750 * k) + "\nChassis ID TLV\n" + ".-" * (18_750 * k),
        lambda k: "lldp." + "a.via=" * (7_500 * k) + "\n",
        lambda k: "Interface: a" + ", via: b" * (6_250 * k),
        lambda k: '{"a":' * (7_500 * k),
        lambda k: "[{" * (18_750 * k),
        lambda k: "[" + " \n" * (18_750 * k),
        lambda k: "\x1b[" * (18_750 * k) + "\x1b]" * (18_750 * k),
        lambda k: "CA '" * (10_000 * k) + "\n" + "Port 1:\n" * (5_000 * k),
        lambda k: "ethtool -S" * (3_750 * k),
        lambda k: "ethtool -S eth0\n" * (2_500 * k),
        lambda k: "a" + " " * (37_500 * k) + ": 1",
        lambda k: "x: 1\n" * (7_500 * k),
        lambda k: "@" * (37_500 * k),
        lambda k: "link a/1 " + "b 1 " * (9_375 * k),
        lambda k: "rdma " * (7_500 * k) + "\nlink a/1 rdma " + "rdma " * (7_500 * k),
        lambda k: "a/ports/1/counters/" * (1_875 * k) + "b:1\n",
        lambda k: "0000:" * (7_500 * k) + "/x:1\n",
        lambda k: "Path: " + "a/" * (18_750 * k) + "\nMode: 1\n",
        lambda k: "[ " + "= " * (18_750 * k),
        lambda k: "Identifier : " + "1" * (37_500 * k) + " mW / 1 dBm\n",
        lambda k: "\tLnkSta: " + "Speed " * (6_250 * k) + "\n",
    ],
    ids=range(29),
)
def test_a_hostile_answer_takes_time_as_it_is_long(name: str, answer: Callable[[int], str]) -> None:
    grows_with(lambda k: read(collectors()[name], answer(k)))


VALUES = st.sampled_from(["eth0", "eth0.7", "bond0", "SLAVE", "UP", "", "vlan", "pci", "loopback", None, 7, {}])
LINK = st.fixed_dictionaries(
    {"ifname": st.sampled_from(["eth0", "eth0.7", "lo"])},
    optional={
        "flags": st.sampled_from([["UP"], ["SLAVE", "UP"], [], None]),
        "linkinfo": st.sampled_from(
            [{}, None, {"info_kind": "vlan"}, {"info_slave_kind": "bond"}, {"info_slave_data": {"perm_hwaddr": "0c"}}]
        ),
        "altnames": st.sampled_from([["p1"], [], None]),
        "mtu": st.sampled_from([9000, "9000", None]),
        **dict.fromkeys(
            ("operstate", "link_type", "address", "permaddr", "master", "link", "ifalias", "parentbus", "parentdev"),
            VALUES,
        ),
        **dict.fromkeys(("port", "mac", "identifier"), VALUES),
    },
)


@given(st.lists(st.one_of(LINK, LINK, LINK, st.just({})), max_size=4).map(json.dumps))
def test_links_as_iproute2_prints_them_are_read_as_in_any_other_form(answer: str) -> None:
    links = [_net_link(_of_entry(entry)) for entry in interfaces(answer)] if _decoded(answer) else None
    assert links is None or links == [*net_link.parse(answer, HOST)]


def test_links_as_iproute2_prints_them_are_read_straight() -> None:
    recorded = (RECORDINGS / "net_link/upper/answer.txt").read_text()
    straight = [_net_link(link) for link in _decoded(recorded) if link.link_type != "loopback"]
    assert straight == [_net_link(_of_entry(entry)) for entry in interfaces(recorded)] != []
