"""InfiniBand's tools: free text in names, answers that are cut anywhere, and who is asked."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector import collectors
from collector.formats.ib_words import adapter, gbps, guid_text, host_and_device, switch
from tests.each import each
from truerail.analysis.counters.quantities import Quantity, columns_of
from truerail.errors import UndeclaredCommandError, UnreadableError
from truerail.model import PLATFORMS, Counter, Device, Fact, LinkSpeed, Neighbor, Role, Target
from truerail.poller.questions import applicable
from truerail.scrub.pseudonyms import Keyed, Names
from truerail.scrub.scrubbed_round import Text
from truerail.transport.command_gate import refuse_undeclared

RECORDINGS = Path(__file__).parent / "recordings"
GUID = "0xa088c20300000101"
CUT_IS_SEEN = ("listing", "ibdiagnet_listing", "ibdiagnet_lst", "ibdiagnet_net_dump", "ibdiagnet_net_dump_ext")


def recorded(case: str) -> str:
    return (RECORDINGS / "ib_fabric" / case / "answer.txt").read_bytes().decode()


def read(answer: str) -> tuple[Fact, ...]:
    return collectors()["ib_fabric"].read(answer, Device("ufm"))


@each(
    "description, host, device",
    [
        ("gpu-001 mlx5_0", "gpu-001", "mlx5_0"),
        ("gpu-001 HCA-1", "gpu-001", "HCA-1"),
        (" gpu-001.pod-1.example   mlx5_bond_0 ", "gpu-001.pod-1.example", "mlx5_bond_0"),
        ("gpu-001 ibp26s0", "gpu-001", "ibp26s0"),
        ("gpu-001 rail3", "gpu-001", "rail3"),
        ("gpu-001 (rack 3) mlx5_0", "gpu-001 (rack 3)", "mlx5_0"),
        ("intel-01 qib0", "intel-01", "qib0"),
        ("gpu-001", "gpu-001", None),
        ("nvidia-3", "nvidia-3", None),
        ("mlx5_0", None, "mlx5_0"),
        ("", None, None),
        ("  ", None, None),
        ("MT4129 ConnectX7   Mellanox Technologies", None, None),
        ("MT4129 ConnectX7", None, None),
        ("MT23108 InfiniHost Mellanox Technologies", None, None),
        ("Mellanox Technologies Aggregation Node", None, None),
        ("the login node 3", None, None),
        ("spare host", None, None),
    ],
)
def test_what_an_adapters_description_names(description: str, host: str | None, device: str | None) -> None:
    assert host_and_device(description) == (host, device)


@pytest.mark.parametrize(
    ("guid", "description", "of", "first", "second"),
    [
        (GUID, "gpu-001 mlx5_0", "gpu-001", "mlx5_0", "mlx5_0/2"),
        (GUID, "gpu-001", "gpu-001", GUID, f"{GUID}/2"),
        (GUID, "mlx5_0", GUID, "mlx5_0", "mlx5_0/2"),
        (GUID, "Mellanox Technologies Aggregation Node", GUID, "1", "2"),
        (None, "gpu-001", "gpu-001", "1", "2"),
        (None, "MT4129 ConnectX7", "MT4129 ConnectX7", "1", "2"),
    ],
)
def test_how_facts_name_an_adapter(guid: str | None, description: str, of: str, first: str, second: str) -> None:
    node = adapter(guid, description)
    assert (node.of, node.guid, node.port(1), node.port(2)) == (of, guid, first, second)


def test_how_facts_name_a_switch() -> None:
    assert switch(GUID, " MF0;leaf-1:MQM9700/U1 ").of == "MF0;leaf-1:MQM9700/U1"
    assert switch(GUID, "").of == GUID
    assert switch(None, "").of == ""
    assert switch(GUID, "mlx5_0 leaf1").port(33) == "33"
    assert guid_text("0x8F10400410015") == "0x0008f10400410015"


@each(
    "width, lane, rate",
    [
        ("4x", "SDR", 10.0), ("1x", "SDR", 2.5), ("4X", "5.0", 20.0), ("4x", "QDR", 40.0), ("4x", "FDR10", 40.0),
        ("4x", "FDR_10", 40.0), ("4X", "14.0625", 56.0), ("12x", "FDR", 168.0), ("4x", "25.78125", 100.0),
        ("2x", "HDR", 100.0), ("4x", "53.125", 200.0), ("4x", "NDR", 400.0), ("4x", "100", 400.0),
        ("4X", "212.5", 800.0), ("4x", "???", None), ("??", "NDR", None), ("N/A", "N/A", None), ("", "", None),
    ],
)  # fmt: skip
def test_a_links_rate_is_that_of_sysfs(width: str, lane: str, rate: float | None) -> None:
    assert gbps(width, lane) == rate


def cuts(answer: str) -> Iterator[str]:
    """The answer cut behind each line that comes after the first of a node and before what the last one says."""
    text = answer.rstrip("\n").split("\n")
    last = max(number for number, line in enumerate(text) if line.strip() and not line.startswith("#"))
    for number in range(1, last + 1):
        yield "\n".join(text[:number]) + "\n"


@pytest.mark.parametrize("case", CUT_IS_SEEN)
def test_no_cut_answer_is_taken_for_a_whole_one(case: str) -> None:
    assert any(isinstance(fact, Neighbor) for fact in read(recorded(case)))
    found = list(cuts(recorded(case)))
    assert len(found) > 5
    for part in found:
        with pytest.raises(UnreadableError):
            read(part)


def test_a_line_cut_anywhere_costs_no_more_than_its_speed() -> None:
    whole = recorded("listing").rstrip("\n")
    speeds = {(fact.of_guid, fact.port) for fact in read(whole + "\n") if isinstance(fact, LinkSpeed)}
    last = ("0xfc6a1c0300000400", "1")
    for lost in range(len("4xFDR10")):
        facts = read(whole[: len(whole) - lost])
        assert {(fact.of_guid, fact.port) for fact in facts if isinstance(fact, LinkSpeed)} == speeds - {last}


HOSTILE = (
    'x" lid 1 4xNDR',
    "x' - 'MF0;leaf-1:MQM9700/U1",
    '"',
    "}{",
    '[1] "S-fc6a1c0300000100"[1] # "y" lid 1 4xNDR',
    "=HYPERLINK(1) <script>",
    "\x07\x7f mlx5_0",
    "# File closed at : never",
    "x ==( 4X NDR Active/LinkUp)==> y",
)


FORMS = (*CUT_IS_SEEN, "linkinfo", "linkinfo_lines_of_switches", "ibdiagnet_db_csv")


@each("name", HOSTILE)
@each("case", FORMS)
def test_a_hostile_description_changes_its_own_name_alone(case: str, name: str) -> None:
    honest = re.compile(r"gpu-001(?:, rack 3)? mlx5_0")
    assert honest.search(recorded(case))
    before = _ends_of_others(recorded(case))
    assert before
    assert _ends_of_others(honest.sub(lambda _: name, recorded(case))) == before


def _ends_of_others(answer: str) -> list[tuple[str, str | None, str, str | None]]:
    """The neighbours of all nodes except the one with `GUID`, which may have any name."""
    found = [one for one in read(answer) if isinstance(one, Neighbor) and one.of_guid != GUID]
    return sorted((one.of or "", one.of_guid, one.port, one.chassis_id) for one in found)


def test_a_hostile_name_in_the_ports_report_renames_nobody_else() -> None:
    named = {one.of_guid: one.of for one in read(recorded("ports_report")) if isinstance(one, Neighbor)}
    assert named["0xfc6a1c0300000100"] == "MF0;leaf-1:MQM9700/U1"
    assert named["0xa088c20300000201"] == "x"


def test_where_no_line_is_beyond_doubt_the_first_reading_stands() -> None:
    doubtful = recorded("ports_report").split("\n")[1] + "\n"
    named = {one.of_guid: one.of for one in read(doubtful) if isinstance(one, Neighbor)}
    assert named == {"0xa088c20300000201": "x", "0xfc6a1c0300000100": "MF0;leaf-9:MQM9700/U1' - 'MF0;leaf-1:MQM9700/U1"}


@pytest.mark.parametrize("name", ["ib_fabric", "ib_counters"])
def test_no_device_is_asked_by_itself(name: str) -> None:
    asked = {platform for role in Role for platform in PLATFORMS if name in applicable(role, platform)}
    assert asked <= {"infiniband"}, "a walk over the whole fabric for each device"
    for command in collectors()[name].ask:
        with pytest.raises(UndeclaredCommandError):
            refuse_undeclared(Target("gpu-001", "10.0.0.1", platform="linux"), [command.text])


def test_counters_have_the_names_that_rules_know() -> None:
    facts = collectors()["ib_counters"].read(
        (RECORDINGS / "ib_counters" / "perfquery_extended" / "answer.txt").read_text(), Device("ufm")
    )
    known = {column.quantity for column in columns_of(facts[0].counters) if column}  # type: ignore[union-attr] # it yields PortCounters alone
    assert known >= {
        Quantity.TX_BYTES, Quantity.RX_BYTES, Quantity.TX_PACKETS, Quantity.RX_PACKETS, Quantity.SYMBOL_ERRORS,
        Quantity.LINK_DOWNS, Quantity.RX_ERRORS, Quantity.TX_DISCARDS, Quantity.TRANSMIT_WAIT,
    }  # fmt: skip
    assert all(re.fullmatch(r"[a-zA-Z0-9_]+", counter.counter) for counter in _names(facts))


def _names(facts: tuple[Fact, ...]) -> Iterator[Counter]:
    for fact in facts:
        yield from fact.counters  # type: ignore[union-attr] # it yields PortCounters alone


@pytest.mark.parametrize("case", [*FORMS, "ports_report"])
def test_a_scrubbed_answer_tells_the_same_links_under_other_names(case: str) -> None:
    keyed = Keyed(b"k" * 32)
    text = Text(keyed, Names(keyed, {"gpu-001": Role.HOST, "leaf-1": Role.LEAF}, []))
    scrubbed = text(recorded(case))
    assert not re.search("gpu-001|leaf-1|(?:a088c2|fc6a1c)0300", scrubbed)
    before, after = (
        [one for one in read(answer) if isinstance(one, Neighbor)] for answer in (recorded(case), scrubbed)
    )
    stand_ins = {one.of_guid: new.of_guid for one, new in zip(before, after, strict=True)}
    assert len(set(stand_ins.values())) == len(stand_ins)
    assert [(stand_ins[one.of_guid], stand_ins[one.chassis_id]) for one in before] == [
        (one.of_guid, one.chassis_id) for one in after
    ]


def test_a_guid_has_one_stand_in_in_all_spellings() -> None:
    text = Text(Keyed(b"k" * 32), Names(Keyed(b"k" * 32), {}, []))
    spellings = (
        "S-0002c903006e29b0",
        "0x0002c903006e29b0",
        "0x2c903006e29b0",
        "(2c903006e29b0)",
        "0002:c903:006e:29b0",
    )
    made = {re.sub(r"[^0-9a-f]", "", text(spelling).removeprefix("0x")) for spelling in spellings}
    assert len(made) == 1
    assert made != {"0002c903006e29b0"}


def test_a_counter_is_no_guid() -> None:
    text = Text(Keyed(b"k" * 32), Names(Keyed(b"k" * 32), {}, []))
    counter = "[PortXmitData == 1787916571772351 (1.588PB)]"
    assert text(counter) == counter
