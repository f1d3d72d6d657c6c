"""What is recorded of traffic: the values, by the real promtool, and no value where nothing is reported."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.generate import GENERATED, ROOT
from dashboards.rules.traffic import RECORDS
from tests.real import require

SENT, SPEED = "truerail_link_transmit_bytes_per_second", "truerail_link_speed_bytes_per_second"
UP, UP_SPEED = "truerail_uplink_transmit_bytes_per_second", "truerail_uplink_speed_bytes_per_second"
LINE = 100.0
Loads = dict[str, list[float | None]]


@cache
def rules() -> str:
    """The generated rules of traffic: promtool reads all others as long as it tests one of these."""
    generated = yaml.safe_load((ROOT / GENERATED / "prometheus/truerail.rules.yaml").read_text())
    return yaml.safe_dump({"groups": [group for group in generated["groups"] if group["name"] == "truerail.traffic"]})


def links(loads: Loads, plane: str = "") -> dict[str, float]:
    """What the NICs of each host send, rail by rail; None is not reported. Each link carries 100."""
    found = {}
    for host, values in loads.items():
        for rail, value in enumerate(values):
            where = f'fabric="f",pod="p1",host="{host}",rail="{rail}",plane="{plane}",nic="n{rail}{plane}"'
            found[f"{SPEED}{{{where}}}"] = LINE
            if value is not None:
                found[f"{SENT}{{{where}}}"] = value
    return found


def uplinks(switch: str, values: list[float | None]) -> dict[str, float]:
    found = {}
    for port, value in enumerate(values):
        where = f'fabric="f",pod="p1",switch="{switch}",switch_port="u{port}"'
        found[f"{UP_SPEED}{{{where}}}"] = LINE
        if value is not None:
            found[f"{UP}{{{where}}}"] = value
    return found


def ratios(metric: str, *values: float) -> dict[str, float]:
    """A ratio of one NIC of each host, all on rail 0."""
    return {
        f'{metric}{{fabric="f",pod="p1",host="h{n}",rail="0",nic="n0"}}': value for n, value in enumerate(values, 1)
    }


def recorded(folder: Path, series: dict[str, float], name: str, *expected: tuple[str, float]) -> None:
    """Fails where the rule records anything else than these labels and values."""
    require("promtool")
    samples = [{"labels": f"{name}{{{labels}}}", "value": value} for labels, value in expected]
    test: dict[str, Any] = {
        "interval": "1m",
        "input_series": [{"series": one, "values": f"{value}x5"} for one, value in series.items()],
        "promql_expr_test": [{"expr": name, "eval_time": "5m", "exp_samples": samples}],
    }
    (folder / "rules.yaml").write_text(rules())
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    file = folder / "test.yaml"
    file.write_text(yaml.safe_dump(document))
    checked = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


POD = 'fabric="f", pod="p1"'
HOST = "host:truerail_link_transmit:min_over_median"


def test_a_host_is_as_even_as_its_lowest_nic(tmp_path: Path) -> None:
    loads = links({"h1": [40, 40, 20, 40], "h2": [40, 40, 40, 40]})
    recorded(tmp_path, loads, HOST, (f'{POD}, host="h1"', 0.5), (f'{POD}, host="h2"', 1))


def test_a_host_that_carries_next_to_nothing_or_tells_nothing_has_no_ratio(tmp_path: Path) -> None:
    recorded(tmp_path, links({"idle": [9, 9, 1, 9], "zero": [0, 0, 0], "silent": [None, None]}), HOST)


def test_planes_are_not_compared_with_each_other(tmp_path: Path) -> None:
    loads = links({"h1": [40, 40, 40]}, "0") | links({"h1": [20, 20, 10]}, "1")
    recorded(tmp_path, loads, HOST, (f'{POD}, host="h1", plane="0"', 1), (f'{POD}, host="h1", plane="1"', 0.5))


def test_a_nic_that_is_not_counted_is_not_the_lowest(tmp_path: Path) -> None:
    recorded(tmp_path, links({"h1": [40, None, 40, 40]}), HOST, (f'{POD}, host="h1"', 1))


TWO = links({"h1": [10, 20, 20, 30], "h2": [30, 20, 20, 10]})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rail:truerail_link_transmit:mean", [20, 20, 20, 20]),
        ("rail:truerail_link_transmit:use_ratio", [0.2] * 4),
        ("rail:truerail_link_transmit:over_median", [1] * 4),
    ],
)
def test_a_rail_is_the_mean_of_its_nics(tmp_path: Path, name: str, values: list[float]) -> None:
    recorded(tmp_path, TWO, name, *((f'{POD}, rail="{rail}"', value) for rail, value in enumerate(values)))


def test_a_low_rail_is_reported_from_the_pods_others(tmp_path: Path) -> None:
    loads = links({"h1": [40, 40, 10, 40], "h2": [40, 40, 30, 40]})
    shares = [(f'{POD}, rail="{rail}"', value) for rail, value in enumerate((1, 1, 0.5, 1))]
    recorded(tmp_path, loads, "rail:truerail_link_transmit:over_median", *shares)
    recorded(tmp_path, loads, "pod:truerail_link_transmit:rail_min_over_mean", (POD, 20 / 35))


def test_rails_that_carry_next_to_nothing_have_no_ratio(tmp_path: Path) -> None:
    quiet = links({"h1": [1, 2, 1, 1]})
    for name in ("rail:truerail_link_transmit:over_median", "pod:truerail_link_transmit:rail_min_over_mean"):
        recorded(tmp_path, quiet, name)
    recorded(tmp_path, links({"h1": [None, None]}), "rail:truerail_link_transmit:mean")


def test_the_fullest_uplink_is_reported_by_the_mean_of_the_switch(tmp_path: Path) -> None:
    loads = uplinks("leaf-0", [64, 32, 0, 32, None]) | uplinks("leaf-1", [1, 0, 0]) | uplinks("leaf-2", [None])
    recorded(tmp_path, loads, "switch:truerail_uplink_transmit:peak_ratio", (f'{POD}, switch="leaf-0"', 2))


@pytest.mark.parametrize("figure", ["pause_received", "pause_sent", "ecn_marked"])
def test_the_worst_of_a_rail_and_the_worst_links_of_a_pod(tmp_path: Path, figure: str) -> None:
    reported = ratios(f"truerail_link_{figure}_ratio", 0.01, 0.5, 0.02, 0.03, 0.04, 0.05, 0.0005)
    recorded(tmp_path, reported, f"rail:truerail_link_{figure}:max", (f'{POD}, rail="0"', 0.5))
    worst = [(f'{POD}, host="h{n}", rail="0", nic="n0"', value) for n, value in zip(
        (2, 6, 5, 4, 3), (0.5, 0.05, 0.04, 0.03, 0.02), strict=True)]  # fmt: skip
    recorded(tmp_path, reported, f"link:truerail_link_{figure}:top", *worst)
    recorded(tmp_path, ratios(f"truerail_link_{figure}_ratio", 0, 0.0001), f"link:truerail_link_{figure}:top")


@pytest.mark.parametrize("figure", ["pause_received", "pause_sent", "ecn_marked"])
def test_the_worst_uplink_of_a_switch(tmp_path: Path, figure: str) -> None:
    metric = f"truerail_uplink_{figure}_ratio"
    reported = {f'{metric}{{{POD}, switch="leaf-0", switch_port="u{n}"}}': value for n, value in enumerate((0.1, 0.3))}
    recorded(tmp_path, reported, f"switch:truerail_uplink_{figure}:max", (f'{POD}, switch="leaf-0"', 0.3))


def test_the_share_that_is_counted_is_known_to_be_nothing(tmp_path: Path) -> None:
    name = "fabric:truerail_links_counted:ratio"
    planned = {f'truerail_links{{{POD}, rail="0", state="{state}"}}': 5.0 for state in ("right", "unknown")}
    none = {f'truerail_links_counted{{{POD}, rail="0"}}': 0.0}
    recorded(tmp_path, planned | none, name, ('fabric="f"', 0))
    recorded(tmp_path, planned, name)


@pytest.mark.parametrize("name", [record.name for record in RECORDS])
def test_without_traffic_nothing_is_recorded(tmp_path: Path, name: str) -> None:
    recorded(tmp_path, {'truerail_links{fabric="f", pod="p1", rail="0", state="right"}': 5.0}, name)
