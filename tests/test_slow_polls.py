"""Windows are seconds, not samples: what lasts for minutes is found at any pace of polling."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.switch_rounds import checked, ethtool, of_rule, rounds

HOSTS = range(1, 5)
PLAN = "".join(f"gpu-{n},host,eth0,leaf-0,leaf,swp{n},0,,400\n" for n in HOSTS)
PAUSED = 0.26


def nic(seconds: float, paused: float) -> str:
    """`ethtool -S` of a mlx5 NIC that has carried traffic for so long, and paused its leaf for a share of `paused`."""
    counts = {
        "rx_bytes_phy": int(2e10 * seconds),
        "tx_bytes_phy": int(2e10 * seconds),
        "rx_prio3_bytes": int(2e10 * seconds),
        "tx_prio3_pause": int(4e3 * paused),
        "tx_prio3_pause_duration": int(1e6 * paused),
        "rx_prio3_pause_transition": 0,
    }
    return ethtool(counts)


@pytest.mark.parametrize("step", [5.0, 10.0, 15.0, 30.0, 60.0])
@pytest.mark.parametrize("before", [0.0, 1200.0], ids=["young-window", "old-window"])
def test_a_nic_that_pauses_for_minutes_is_found_at_any_pace(tmp_path: Path, step: float, before: float) -> None:
    lasts = 400.0
    number = round((before + lasts) / step) + 1

    def answers(sample: int) -> Mapping[str, str]:
        now = sample * step
        return {f"gpu-{n}/ethtool_-S_eth0": nic(now, PAUSED * max(0.0, now - before) if n == 3 else 0.0) for n in HOSTS}

    files = rounds(answers, number, step)
    kept = sorted({path.partition("/")[0] for path in files})[-31:]
    report = checked(tmp_path, PLAN, {path: text for path, text in files.items() if path.partition("/")[0] in kept})
    status, findings = of_rule(report, "PFC002")
    assert (status, [finding["subject"] for finding in findings]) == ("fail", ["gpu-3/eth0"])
    assert "26 % of the time" in findings[0]["summary"]


@pytest.mark.parametrize("step", [10.0, 60.0])
def test_pauses_of_a_moment_are_no_pressure_at_any_pace(tmp_path: Path, step: float) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        now = sample * step
        begun = 20 * step
        return {
            f"gpu-{n}/ethtool_-S_eth0": nic(now, PAUSED * min(60.0, max(0.0, now - begun)) if n == 3 else 0.0)
            for n in HOSTS
        }

    assert of_rule(checked(tmp_path, PLAN, rounds(answers, 24, step)), "PFC002") == ("pass", [])
