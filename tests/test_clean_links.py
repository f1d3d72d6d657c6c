"""Links that work well count much that sounds bad: none of it is an error, in the words of each platform."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.switch_rounds import SONIC, checked, ethtool, of_rule, rounds, sonic_dump

PORTS = [f"Ethernet{8 * number}" for number in range(8)]
PLAN = "".join(f"gpu-{n + 1},host,eth0,leaf-0,leaf,{port},0,,400\n" for n, port in enumerate(PORTS))
CORRECTED_A_SECOND = {"1e-12": 0.4, "1e-10": 43, "1e-9": 425, "1e-8": 4.3e3}
"""Codewords that FEC corrects on a link of 400 Gb/s, by its bit error rate before FEC."""


def fec(sample: int, corrected: float, symbols: float, lost: int = 0) -> Mapping[str, int]:
    """One port after so many samples: FEC's counters in SAI's names, with a long past."""
    return {
        "SAI_PORT_STAT_IF_IN_OCTETS": 920_000_000_000_000 + int(3e11 * sample),
        "SAI_PORT_STAT_IF_OUT_OCTETS": 918_000_000_000_000 + int(3e11 * sample),
        "SAI_PORT_STAT_IF_IN_FEC_CORRECTABLE_FRAMES": 48_315_381 + int(10 * corrected * sample),
        "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": 4 + lost,
        "SAI_PORT_STAT_IF_IN_FEC_SYMBOL_ERRORS": 48_308_608 + int(10 * symbols * sample),
    }


@pytest.mark.parametrize("level", CORRECTED_A_SECOND)
def test_a_clean_sonic_switch_counts_corrected_symbols_on_every_port(tmp_path: Path, level: str) -> None:
    """sonic-mgmt's test_fec_error.py asks FEC_CORR <= FEC_SYMBOL_ERR of healthy ports; sonic-swss PR 3757 shows it."""
    corrected = CORRECTED_A_SECOND[level]

    def answers(sample: int) -> Mapping[str, str]:
        ports = {port: fec(sample, corrected, corrected * 1.002) for port in PORTS}
        return {f"leaf-0/{SONIC}": sonic_dump(ports)}

    status, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert (status, findings) == ("pass", [])


def test_codewords_that_a_sonic_switch_could_not_correct_are_lost_frames(tmp_path: Path) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        ports = {port: fec(sample, 4e3, 4e3, lost=sample if port == PORTS[2] else 0) for port in PORTS}
        return {f"leaf-0/{SONIC}": sonic_dump(ports)}

    status, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert status == "fail"
    assert [(finding["subject"], finding["severity"]) for finding in findings] == [("gpu-3/eth0", "critical")]


def test_a_switch_that_counts_symbols_after_fec_still_reports_what_it_lost(tmp_path: Path) -> None:
    """sonic-utilities PR 2027 records 136,403 corrected, 34 lost and 40 symbols: elsewhere they are what FEC left."""

    def answers(sample: int) -> Mapping[str, str]:
        ports = {port: fec(sample, 450, 0.13, lost=sample // 9) for port in PORTS[:1]}
        return {f"leaf-0/{SONIC}": sonic_dump(ports)}

    _, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert [finding["severity"] for finding in findings] == ["critical"]


def test_a_peers_restart_makes_errors_once_and_orders_no_repair(tmp_path: Path) -> None:
    """SONiC counts no falls: sonic-utilities PR 4124 records FEC_UNCORR 4 at link-up of a good port."""

    def answers(sample: int) -> Mapping[str, str]:
        ports = {port: fec(sample, 425, 425, lost=4 * (sample > 12) if port == PORTS[0] else 0) for port in PORTS}
        return {f"leaf-0/{SONIC}": sonic_dump(ports)}

    _, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert [(finding["severity"], finding["subject"]) for finding in findings] == [("info", "gpu-1/eth0")]
    assert "neither end counts falls" in findings[0]["summary"]
    assert "Nothing yet" in findings[0]["action"]


def nic(sample: int, falls: int, begun: int = 0) -> str:
    """An mlx5 NIC whose counters began at a sample, and how often its link fell."""
    received = int(4.25e12 * (sample - begun))
    return ethtool({"rx_bytes_phy": received // 9, "rx_bits_phy": received, "link_down_events_phy": falls})


@pytest.mark.parametrize(("before", "after"), [(1, 1), (0, 1), (3, 0), (0, 0)])
def test_a_host_that_boots_makes_errors_at_its_leaf_and_orders_no_repair(
    tmp_path: Path, before: int, after: int
) -> None:
    """It is not read for a minute, and its counters begin again: SONiC's end counts no falls."""

    def answers(sample: int) -> Mapping[str, str]:
        port = fec(sample, 425, 425, lost=4 * (sample > 15))
        here = nic(sample, before) if sample < 12 else nic(sample, after, begun=16)
        host = {} if 12 <= sample < 19 else {"gpu-1/ethtool_-S_eth0": here}
        return {f"leaf-0/{SONIC}": sonic_dump({PORTS[0]: port}), **host}

    _, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert [finding["severity"] for finding in findings] in ([], ["info"])


def test_a_burst_at_a_leaf_whose_host_counts_no_fall_meanwhile_is_reported(tmp_path: Path) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        leaf = {f"leaf-0/{SONIC}": sonic_dump({PORTS[0]: fec(sample, 425, 425, lost=4 * (sample > 15))})}
        return leaf if 12 <= sample < 19 else {**leaf, "gpu-1/ethtool_-S_eth0": nic(sample, 1)}

    _, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert [(finding["severity"], finding["subject"]) for finding in findings] == [("warning", "gpu-1/eth0")]


def test_errors_that_are_read_only_after_the_fall_was_counted_belong_to_it(tmp_path: Path) -> None:
    """The leaf is not read for 50 s, in which its host's link fell."""

    def answers(sample: int) -> Mapping[str, str]:
        host = {"gpu-1/ethtool_-S_eth0": nic(sample, int(sample > 12))}
        leaf = {f"leaf-0/{SONIC}": sonic_dump({PORTS[0]: fec(sample, 425, 425, lost=4 * (sample > 15))})}
        return host if 12 <= sample < 17 else {**host, **leaf}

    _, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert findings == []


@pytest.mark.parametrize(
    ("gbps", "errors", "every", "expected"),
    [(400, 1, 2, ["warning"]), (400, 1, 8, []), (100, 1, 8, []), (100, 1, 1, []), (200, 4, 31, []), (200, 9, 31, [])],
)
def test_frames_that_break_more_often_than_ethernet_is_built_for_are_reported(
    tmp_path: Path, gbps: int, errors: int, every: int, expected: list[str]
) -> None:
    """IEEE 802.3bs: 1e-13 at the MAC from 200 Gb/s on, which is 0.043 a second at 400 Gb/s; below 200 Gb/s 1e-12."""

    def answers(sample: int) -> Mapping[str, str]:
        return {"gpu-1/ethtool_-S_eth0": ethtool({"rx_crc_errors_phy": errors * (sample // every)})}

    plan = f"gpu-1,host,eth0,leaf-0,leaf,{PORTS[0]},0,,{gbps}\n"
    _, findings = of_rule(checked(tmp_path, plan, rounds(answers)), "LNK004")
    assert [finding["severity"] for finding in findings] == expected


@pytest.mark.parametrize("dark", [range(7, 15), range(7, 7)])
def test_errors_at_the_return_of_a_link_belong_to_its_fall(tmp_path: Path, dark: range) -> None:
    """The link fell in sample 6 and came back in sample 15, or at once and then lost codewords for another reason."""

    def answers(sample: int) -> Mapping[str, str]:
        received = sum(10**9 for before in range(sample) if before + 1 not in dark)
        counted = {"rx_bytes_phy": received, "rx_bits_phy": 8 * received, "link_down_events_phy": int(sample > 5)}
        return {"gpu-1/ethtool_-S_eth0": ethtool({**counted, "rx_symbol_err_phy": 9000 * (sample > 14)})}

    plan = f"gpu-1,host,eth0,leaf-0,leaf,{PORTS[0]},0,,400\n"
    _, findings = of_rule(checked(tmp_path, plan, rounds(answers)), "LNK004")
    assert bool(findings) is not bool(dark)


@pytest.mark.parametrize(
    "names",
    [
        {"rx_corrected_bits_phy": 4250.0, "rx_err_lane_0_phy": 1100.0, "rx_pcs_symbol_err_phy": 0.0},
        {"rx_corrected_bits": 4250.0, "rx_pcs_symbol_err": 4250.0, "rx_fec_corrected_blocks": 4250.0},
    ],
    ids=["mlx5", "bnxt"],
)
def test_a_clean_nic_corrects_bits_all_the_time(tmp_path: Path, names: Mapping[str, float]) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        old = {name: 1_811_101 + int(10 * rate * sample) for name, rate in names.items()}
        busy = {"rx_bytes_phy": int(3e11 * sample), "rx_fec_uncorrectable_blocks": 0, "rx_crc_errors_phy": 3}
        return {f"gpu-{host}/ethtool_-S_eth0": ethtool({**busy, **old}) for host in range(1, 9)}

    status, findings = of_rule(checked(tmp_path, PLAN, rounds(answers)), "LNK004")
    assert (status, findings) == ("pass", [])


def test_links_of_which_neither_end_counts_errors_are_unknown_and_their_devices_are_named(tmp_path: Path) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        clean = ethtool({"rx_corrected_bits_phy": 42_500 * sample, "rx_symbol_err_phy": 0})
        return {f"gpu-{host}/ethtool_-S_eth0": clean for host in (1, 2, 6)}

    report = checked(tmp_path, PLAN, rounds(answers))
    assert of_rule(report, "LNK004") == ("unknown", [])
    (why,) = [verdict["why"] for verdict in report["verdicts"] if verdict["rule"] == "LNK004"]
    assert why == "neither end of 5 of 8 links counts errors: gpu-[3-5], gpu-[7-8], leaf-0"
