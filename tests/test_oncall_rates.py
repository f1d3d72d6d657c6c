"""Rates of a device's ports: what is counted is reported sample by sample, what is not is never a zero."""

import json
from dataclasses import replace
from math import nan

import pytest

from tests.api_client import Api, problem_of
from tests.fake_tower import FakeTower, published
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.rule import Case
from truerail.errors import NotFoundError
from truerail.questions.rates import PortRates, Rates, rates
from truerail.rounds import publication_of
from truerail.testing.cases import SAMPLES, scene
from truerail.views.plain import answer_from_json, as_json

PLAN = """
    gpu-1/nic1 leaf-1/swp1 rail=1 speed=400
    gpu-1/nic0 leaf-0/swp10 rail=0 speed=400
    gpu-2/nic0 leaf-0/swp9 rail=0 speed=400
    leaf-0/swp31 spine-1/swp1
    leaf-1/swp31 spine-1/swp2
"""


def counted(**ports: dict[str, object]) -> Published:
    """The fabric where ports count so much a second; `gpu_1__nic0` is gpu-1/nic0."""
    named = {name.replace("__", "/").replace("_", "-"): reported for name, reported in ports.items()}
    return publication_of(scene(Case(plan=PLAN, rates=named)))  # type: ignore[arg-type]  # numbers and rows of them


def one(publication: Published, port: str) -> PortRates:
    (line,) = rates(publication, port).ports
    return line


def test_bytes_become_gigabits_and_the_sample_before_the_first_difference_is_not_reported() -> None:
    line = one(counted(gpu_1__nic0={"tx_bytes": 5e9, "rx_bytes": 0}), "gpu-1/nic0")
    assert line.tx_gbps == (None, *[pytest.approx(40.0, rel=1e-3)] * SAMPLES)
    assert line.rx_gbps == (None, *[0.0] * SAMPLES)
    assert (line.rail, line.peer, line.speed_gbps) == (0, "leaf-0/swp10", 400.0)
    assert line.paused == line.pausing == ()
    assert line.errors == {}


def test_a_missed_poll_is_a_gap_and_no_zero() -> None:
    polled = [5e9] * SAMPLES
    polled[4] = nan
    reported = one(counted(gpu_1__nic0={"tx_bytes": polled}), "gpu-1/nic0").tx_gbps
    assert [n for n, value in enumerate(reported) if value is None] == [0, 5]
    assert all(value is None or value > 15 for value in reported)


def test_a_host_stands_in_the_order_of_its_rails_and_a_switch_in_that_of_its_ports() -> None:
    publication = counted(gpu_1__nic0={"tx_bytes": 1e9})
    host, switch = rates(publication, "gpu-1"), rates(publication, "leaf-0")
    assert [line.port for line in host.ports] == ["gpu-1/nic0", "gpu-1/nic1"]
    assert [line.port for line in switch.ports] == ["leaf-0/swp9", "leaf-0/swp10", "leaf-0/swp31"]
    assert [line.peer for line in switch.ports] == ["gpu-2/nic0", "gpu-1/nic0", "spine-1/swp1"]
    assert host.summary == "1 of 2 ports of gpu-1 have counters"
    assert host.reported
    assert len(host.begins) == SAMPLES + 1
    assert [(b - a).total_seconds() for a, b in zip(host.begins, host.begins[1:], strict=False)] == [10.0] * SAMPLES


def test_a_device_that_tells_nothing_is_not_reported_though_others_are() -> None:
    answer = rates(counted(gpu_1__nic0={"tx_bytes": 1e9}), "leaf-1")
    assert not answer.reported
    assert answer.summary == "no device reported counters of leaf-1"
    assert all(line.tx_gbps == line.paused == () and line.errors == {} for line in answer.ports)


def test_where_no_counters_were_asked_for_nothing_is_reported() -> None:
    answer = rates(counted(), "gpu-1")
    assert (answer.reported, answer.ports, answer.begins) == (False, (), ())
    assert answer.summary == "no device was polled for counters"


def test_the_share_is_that_of_the_priority_that_is_stopped_longest() -> None:
    reported = {"rx_pause_us:3": 250_000, "rx_pause_us:4": 750_000, "tx_pause_us:3": 0}
    line = one(counted(gpu_1__nic0=reported), "gpu-1/nic0")
    assert line.paused[1:] == (pytest.approx(0.75, rel=1e-3),) * SAMPLES
    assert line.pausing[1:] == (0.0,) * SAMPLES
    assert line.paused_exact
    assert line.pausing_exact


def test_frames_alone_are_an_upper_bound_that_needs_the_speed_of_the_link() -> None:
    frames = {"rx_pause_frames:3": 6_000, "tx_pause_frames:3": 1e6}
    publication = counted(gpu_1__nic0=frames, leaf_0__swp31=frames)
    line = one(publication, "gpu-1/nic0")
    # 12,000 frames a second pause a port of 400 Gb/s without end (IEEE 802.1Qbb: 65,535 quanta of 512 bits each)
    assert line.paused[-1] == pytest.approx(6_000 * 65_535 * 512 / 400e9, rel=1e-3)
    assert line.pausing[-1] == 1.0
    assert not line.paused_exact
    assert not line.pausing_exact
    assert one(publication, "leaf-0/swp31").paused == ()


def test_errors_are_summed_by_kind_and_what_fec_repaired_is_none() -> None:
    reported = {"crc_errors": 0.5, "rx_discards": 0, "fec_corrected": 900, "corrected_bits": 1e6}
    assert one(counted(leaf_0__swp9=reported), "leaf-0/swp9").errors == {"crc_errors": 60, "rx_discards": 0}


def test_a_name_that_nobody_knows_is_answered_with_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="did you mean 'gpu-1'"):
        rates(counted(gpu_1__nic0={"tx_bytes": 1}), "gpu-11")


def test_only_the_ports_asked_for_are_read() -> None:
    publication = counted(gpu_1__nic0={"tx_bytes": 1e9, "rx_pause_us:3": 5})
    reported = publication.round.telemetry
    before = set(reported._sums)
    assert rates(publication, "gpu-1").reported
    assert set(reported._sums) == before, "sums of all ports are the one table that a round keeps"


def test_the_answer_survives_json() -> None:
    answer = rates(counted(gpu_1__nic0={"tx_bytes": [1e9, nan] * 6, "crc_errors": 1}), "gpu-1")
    assert answer_from_json(Rates, json.loads(json.dumps(as_json(answer)))) == answer


def test_the_api_answers_for_devices_and_ports() -> None:
    shown = published()
    seen = replace(counted(gpu_1__nic0={"tx_bytes": 1e9}).round, plan=shown.plan)
    counting = replace(shown, evaluated=EvaluatedRound(seen, shown.evaluation))
    with Api(FakeTower(counting)) as api:
        assert api.json("rates", of="gpu-001")["reported"] is False
        assert "gpu-001" in problem_of(api.get("rates", of="gpu-0011"), 404)["detail"]
        assert problem_of(api.get("rates"), 422)["errors"][0]["where"] == "query of"
        first = api.get("rates", of="gpu-001")
        assert api.ask("GET", "rates?of=gpu-001", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
