"""What a link's fall adds to each platform's counter: one, or two where ups and downs are counted alike."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from collector import collectors
from tests.switch_rounds import checked, eos_interfaces, of_rule, rounds
from truerail.analysis.counters.quantities import Quantity, columns_of
from truerail.model import Device, Role

PLAN = (
    "gpu-1,host,eth0,leaf-0,leaf,Ethernet1/1,0,,400\n"
    "leaf-0,leaf,Ethernet49/1,spine-1,spine,Ethernet1/1,,,400\n"
    "leaf-0,leaf,Ethernet50/1,spine-1,spine,Ethernet2/1,,,400\n"
)
FALLS_AT = 20


def eos(sample: int, changes: int) -> Mapping[str, str]:
    """Leaf and spine after a sample; the link of their first uplink has changed so often since `FALLS_AT`."""
    traffic = {"inOctets": int(3e11 * sample), "outOctets": int(3e11 * sample)}

    def port(extra: int) -> dict[str, int]:
        return {**traffic, "linkStatusChanges": 5 + extra * (sample >= FALLS_AT)}

    leaf = {"Ethernet1/1": port(0), "Ethernet49/1": port(changes), "Ethernet50/1": port(0)}
    spine = {"Ethernet1/1": port(changes), "Ethernet2/1": port(0)}
    command = "show_interfaces_json"
    return {f"leaf-0/{command}": eos_interfaces(leaf), f"spine-1/{command}": eos_interfaces(spine)}


@pytest.mark.parametrize(("changes", "falls"), [(2, 1), (4, 2), (6, 3)])
def test_an_uplink_that_falls_on_eos_is_found(tmp_path: Path, changes: int, falls: int) -> None:
    report = checked(tmp_path, PLAN, rounds(lambda sample: eos(sample, changes)))
    status, findings = of_rule(report, "LNK003")
    assert status == "fail"
    assert [(finding["subject"], finding["falls"]) for finding in findings] == [("leaf-0/Ethernet49/1", falls)]


def test_a_steady_eos_fabric_passes(tmp_path: Path) -> None:
    assert of_rule(checked(tmp_path, PLAN, rounds(lambda sample: eos(sample, 0))), "LNK003") == ("pass", [])


@pytest.mark.parametrize(
    ("collector", "platform", "answer", "a_fall"),
    [
        ("port_counters", "eos", '{"interfaces": {"Ethernet1": {"interfaceCounters": {"linkStatusChanges": 7}}}}', 2),
        ("port_counters", "cumulus", '{"swp1": {"counters": {"in-bytes": 1, "carrier-transitions": 7}}}', 2),
        ("nic_counters", "linux", "# ethtool -S eth0\nNIC statistics:\n     link_down_events_phy: 7\n", 1),
        ("nic_counters", "linux", "# ethtool -S eth0\nNIC statistics:\n     link_down_events: 7\n", 1),
        ("rdma_counters", "linux", "/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed:7\n", 1),
    ],
    ids=["eos", "nvue", "mlx5", "bnxt", "infiniband"],
)
def test_every_platforms_counter_has_its_unit(collector: str, platform: str, answer: str, a_fall: int) -> None:
    device = Device("x", Role.HOST if platform == "linux" else Role.LEAF, platform=platform)
    facts = list(collectors()[collector].read(answer, device))
    columns = [column for fact in facts for column in columns_of(fact.counters) if column]  # type: ignore[attr-defined]
    (column,) = [column for column in columns if column.quantity is Quantity.LINK_DOWNS]
    assert column.divisor == a_fall
