"""Names of neighbours that a switch shortened to its table's column: `leaf-of-a-very-lo...`."""

from collections.abc import Sequence

from tests.small_fabric import AT
from truerail.analysis.round import Round
from truerail.model import Cable, Device, Neighbor, Plan, Port, Reading, Role, Snapshot
from truerail.rounds import evaluate

LEAF = "leaf-of-row-three-unit-23"


def findings(reported: str, *spines: str) -> Sequence[str]:
    """What is said about cables where the leaf is on the first of these spines and reports this name."""
    leaf = Device(LEAF, role=Role.LEAF)
    devices = [leaf, *(Device(name, role=Role.SPINE) for name in spines)]
    cable = Cable(Port(LEAF, "ethernet1/1/1"), Port(spines[0], "ethernet1/1/9"))
    plan = Plan({device.name: device for device in devices}, (cable,))
    row = Neighbor("ethernet1/1/1", system_name=reported, port_id="ethernet1/1/9")
    found = evaluate(Round(plan, Snapshot(AT, [Reading(LEAF, "lldp_switch", AT, (row,))]))).findings
    return [one.summary for one in found if one.rule.startswith("CAB")]


def test_a_cut_name_is_the_only_device_whose_name_begins_so() -> None:
    right = findings("spine-of-row-three-1", "spine-of-row-three-1", "leaf-9")
    assert findings("Spine-of-row-thre...", "spine-of-row-three-1", "leaf-9") == right
    wrong = findings("leaf-9", "spine-of-row-three-1", "leaf-9")
    assert wrong != right
    assert findings("leaf-9...", "spine-of-row-three-1", "leaf-9") == wrong
    assert findings("a-device-of-nobod...", "spine-of-row-three-1", "leaf-9") != right


def test_a_cut_name_of_two_devices_is_no_wrong_cable() -> None:
    assert not findings("spine-of-row-thre...", "spine-of-row-three-1", "spine-of-row-three-2")


def test_a_name_that_fills_the_column_of_ios_may_be_cut() -> None:
    begin = "spine-of-the-row-no-"
    assert len(begin) == 20
    right = findings(f"{begin}a", f"{begin}a", "leaf-9")
    assert findings(begin, f"{begin}a", "leaf-9") == right
    assert findings(begin, begin, f"{begin}a") == right
    assert not findings(begin, f"{begin}a", f"{begin}b")
    assert findings(begin[:-1], f"{begin}a", "leaf-9") != right
    assert findings("leaf-of-the-row-no-1", f"{begin}a", "leaf-9") != right
    unplanned_or_cut = "spine-of-the-row-no1"
    assert not findings(unplanned_or_cut, f"{unplanned_or_cut}2", "leaf-9")
