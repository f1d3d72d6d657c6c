"""Names of InfiniBand: GUIDs, node descriptions, and the many ways to write the number of a switch's port."""

import pytest

from tests.each import each
from truerail.analysis.cabling.ib_names import canonical_guid, ipoib_guid, is_factory_name, spellings
from truerail.analysis.cabling.spellings import like, port_number


@pytest.mark.parametrize(
    "text",
    ["0xB8CEF60300FBE2A1", "b8cef60300fbe2a1", "S-b8cef60300fbe2a1", "H-b8cef60300fbe2a1", "b8:ce:f6:03:00:fb:e2:a1"],
)
def test_a_guid_is_one_however_it_is_written(text: str) -> None:
    assert canonical_guid(text) == "0xb8cef60300fbe2a1"


@pytest.mark.parametrize("text", [None, "", "leaf-1", "b8:ce:f6:00:01:02", "0xb8cef60300fbe2a1/2", "mlx5_0"])
def test_what_is_no_guid_is_none(text: str | None) -> None:
    assert canonical_guid(text) is None


def test_an_ipoib_address_ends_in_the_guid_of_its_port() -> None:
    assert ipoib_guid("00:00:10:49:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:fb:e2:a1") == "0xb8cef60300fbe2a1"
    assert ipoib_guid("b8:ce:f6:00:01:02") is None
    assert ipoib_guid(None) is None


@each(
    "name, number",
    [
        ("33", 33),
        ("P33", 33),
        ("Port 33", 33),
        ("1/33", 33),
        ("IB1/33", 33),
        ("1/17/1", 33),
        ("1/17/2", 34),
        ("IB1/17/1", 33),
        ("ib 1/32/2", 64),
        ("1/5/1", 9),  # port 5 of a Quantum that is split in two; or the first one in cage 5 of a Quantum-2
        ("33/2", 66),
        ("1/2/1/2", 6),
        ("1/17/3", None),
        ("2/17/1", None),
        ("swp33", None),
        ("", None),
    ],
)
def test_a_port_has_one_number_however_it_is_written(name: str, number: int | None) -> None:
    assert port_number(name) == number


@pytest.mark.parametrize(
    ("other", "written"),
    [
        ("1/17/1", "1/20/1"),
        ("IB1/17/2", "IB1/20/1"),
        ("1/4", "1/39"),
        ("IB1/4", "IB1/39"),
        ("P4", "P39"),
        ("4", "39"),
        ("x/y", "39"),
    ],
)
def test_a_spare_port_is_written_as_the_others_of_its_switch(other: str, written: str) -> None:
    assert like(other, 39) == written


def test_a_managed_switch_is_also_known_by_its_host_name() -> None:
    assert spellings("MF0;leaf-1:MQM9700/U1") == ("MF0;leaf-1:MQM9700/U1", "leaf-1")
    assert spellings("MF0;core:CS8500/L03/U1") == ("MF0;core:CS8500/L03/U1", "core/L03/U1")
    assert spellings("spine-1") == ("spine-1",)


def test_what_firmware_calls_a_switch_is_no_name() -> None:
    assert is_factory_name("Quantum-2 Mellanox Technologies")
    assert is_factory_name("Mellanox Technologies Aggregation Node")
    assert not is_factory_name("MF0;leaf-1:MQM9700/U1")
