"""What is wrong now: `status`, the balance of the rails, and what a port counted, with everything that is unknown."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from math import nan
from typing import Any

import pytest

from rules import rules
from tests.api_client import Api, problem_of
from tests.fake_tower import NOW, FakeTower, published
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.published import CollectorRun, Published
from truerail.analysis.rule import Case
from truerail.errors import NotFoundError, QueryError
from truerail.model.life import Mute, MuteKind
from truerail.outputs.options import Options
from truerail.questions import question_of
from truerail.questions.answer_text import age, answer_text
from truerail.questions.counters import counters
from truerail.questions.rails import balance
from truerail.questions.status import status
from truerail.rounds import publication_of
from truerail.testing.cases import AT, scene
from truerail.views.plain import answer_from_json, as_json

WIDE = Options(160, details=True)
_PLAN = "\n".join(f"h{h}/nic{r} leaf-{r}/p{h} rail={r} speed=400" for h in range(4) for r in range(8))


def loaded(low: dict[tuple[int, int], float], *, facts: Any = None) -> Published:
    """Four hosts on eight rails at 40 % of the line rate; `low` are shares of it, NaN a NIC that counts nothing."""
    rates = {}
    for h in range(4):
        for r in range(8):
            of = low.get((h, r), 1.0)
            if of == of:  # not NaN
                rates[f"h{h}/nic{r}"] = {"tx_bytes": 2e10 * of, "rx_bytes": 2e10 * of}
    return publication_of(scene(Case(facts or {}, plan=_PLAN, rates=rates)))


def muted(publication: Published, key: str) -> Published:
    """The same with one cause acknowledged."""
    cause = next(one for one in publication.evaluation.causes if one.key == key)
    mark = Mute(MuteKind.ACKNOWLEDGED, 1, "ann", "spare ordered", None)
    return replace(publication, mutes=dict.fromkeys(cause.explains, mark))


# --- status -----------------------------------------------------------------------------------------------------------


def test_the_worst_cause_comes_first_and_its_action_is_the_first_action() -> None:
    answer = status(published(), NOW)
    assert len(answer.causes) == len(published().evaluation.causes)
    impacts = [line.impact for line in answer.causes]
    assert impacts == sorted(impacts, reverse=True)
    assert answer.action == answer.causes[0].action
    assert answer.age_seconds == pytest.approx((NOW - published().at).total_seconds(), abs=0.1)
    assert answer.cables.wrong + answer.cables.missing > 0
    assert question_of(answer).good(answer) is False


def test_what_is_muted_stands_apart_and_is_not_wrong() -> None:
    first = status(published(), NOW).causes[0]
    answer = status(muted(published(), first.key), NOW)
    assert [line.key for line in answer.muted_causes] == [first.key]
    assert first.key not in {line.key for line in answer.causes}
    assert answer.action == answer.causes[0].action
    text = answer_text(answer, WIDE)
    assert text.index("Muted") < text.index(first.key)


def test_without_a_fault_it_is_well_and_a_late_collector_is_unknown() -> None:
    well = published(faults=False)
    assert question_of(status(well, NOW)).good(status(well, NOW)) is True
    late = replace(well, runs={"lldp_host": CollectorRun("lldp_host", 60.0, NOW - timedelta(minutes=9))})
    parts = {part.what: part for part in status(late, NOW).unknown}
    assert parts["collectors"].names == ("lldp_host",)
    assert parts["rules"].why


def test_what_is_not_over_yet_is_neither_wrong_nor_well() -> None:
    well, broken = published(faults=False), published()
    held = replace(well, pending_resolution=broken.evaluation.findings[:2])
    answer = status(held, NOW)
    assert len(answer.pending_resolution) == 2
    assert not answer.findings
    assert question_of(answer).good(answer) is None


def test_the_status_survives_json_and_is_shown_by_the_api() -> None:
    answer = status(published(), NOW)
    assert answer_from_json(type(answer), json.loads(json.dumps(as_json(answer)))) == answer
    with Api(FakeTower(published())) as api:
        assert api.json("status") == as_json(status(published(), api.tower.now()))
        assert api.json("rails")["query"] is None
        assert problem_of(api.get("rails", nodes="gpu-[1-"), 400)
        assert problem_of(api.get("counters", of="gpu-001", since="soon"), 400)


@pytest.mark.parametrize(("seconds", "words"), [(4.4, "4 s"), (180, "3 min"), (7500, "2 h 5 min"), (86400, "1 d")])
def test_an_age_has_two_units_at_most(seconds: float, words: str) -> None:
    assert age(seconds) == words


# --- rails ------------------------------------------------------------------------------------------------------------


def test_a_low_rail_is_named_by_host_and_by_fabric_beside_its_cable() -> None:
    shown = loaded({(1, 3): 0.5})
    answer = balance(shown)
    (host,) = answer.hosts
    assert (host.host, host.low, host.alike) == ("h1", (3,), False)
    nic = next(one for one in host.rails if one.low)
    assert (nic.port, nic.share) == ("h1/nic3", pytest.approx(0.5, abs=0.01))
    rail = answer.rails[3]
    assert (rail.low, rail.measured, answer.balanced) == ("h1", 4, 3)
    assert rail.load == pytest.approx(0.35, abs=0.01)
    (finding,) = (one for one in shown.evaluation.findings if one.rule == "RAL001")
    assert finding.id in host.findings
    cause = next(one for one in shown.evaluation.causes if finding.id in one.explains)
    assert answer.action == cause.action
    assert question_of(answer).good(answer) is False
    assert "50% of the median" in answer_text(answer, WIDE)


def test_a_host_whose_nics_nearly_all_stop_does_not_raise_the_share_of_its_last_one() -> None:
    answer = balance(loaded({(0, rail): 0.2 for rail in range(5)}))
    assert [rail.share for rail in answer.rails[5:]] == [pytest.approx(1, abs=0.01)] * 3
    assert balance(loaded({(0, rail): 0.2 for rail in range(5)}), "h0").rails[7].share == pytest.approx(5, abs=0.1)


def test_a_rail_that_the_work_loads_less_is_said_to_be_so() -> None:
    answer = balance(loaded({(h, 3): 0.5 for h in range(4)}))
    assert [host.alike for host in answer.hosts] == [True] * 4
    assert answer.findings == ()


def test_what_is_not_measured_is_unknown_and_each_host_is_counted_once() -> None:
    nothing = dict.fromkeys([(0, r) for r in range(8)], nan)
    some = dict.fromkeys([(1, r) for r in range(6)], nan)
    idle = dict.fromkeys([(2, r) for r in range(8)], 0.0)
    answer = balance(loaded({**nothing, **some, **idle}))
    assert [gap.hosts for gap in answer.not_measured] == ["h0", "h1", "h2"]
    assert len({gap.why for gap in answer.not_measured}) == 3
    assert answer.balanced == 1
    half = balance(loaded(dict.fromkeys([(2, r) for r in range(6)], 1e-9)), "h2")
    assert all(rail.share is None for rail in half.rails), "a median of nothing compares nothing"
    assert question_of(answer).good(answer) is None
    bare = balance(published(), "gpu-[001-003]")
    assert [gap.count for gap in bare.not_measured] == [3]
    assert all(rail.load is None and rail.cables.planned == 3 for rail in bare.rails)


def test_cables_that_are_not_right_are_shown_where_loads_are_unknown() -> None:
    answer = balance(published())
    wrong = [nic for host in answer.hosts for nic in host.rails if nic.state != "right"]
    assert wrong
    assert all(nic.load is None for nic in wrong)
    assert answer.action
    assert answer_from_json(type(answer), json.loads(json.dumps(as_json(answer)))) == answer
    reported = answer_text(answer, WIDE)
    assert "gpu-001 rails 2-3 wrong" in reported
    assert "Hosts out of balance" not in reported, "no load is known to be low"


def test_rails_of_a_host_that_does_not_exist() -> None:
    with pytest.raises(NotFoundError, match="gpu-099"):
        balance(published(), "gpu-099")


# --- counters ---------------------------------------------------------------------------------------------------------

COUNTED = {
    "tx_bytes": 5e9, "rx_pause_us:3": 250_000, "crc_errors": 2, "corrected_bits": 8e3, "rx_bits": 4e11,
    "fec_uncorrected": 0, "flows": 96, "cnp_sent": 7, "queue_drops:3": 0, "rx_pause_frames:3": 10,
    "ecn_marked_packets": 1,
}  # fmt: skip


def counted(**ports: Any) -> Published:
    plan = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400\ngpu-1/nic1 leaf-1/swp1 rail=1 speed=400"
    rates = {port.replace("__", "/").replace("_", "-"): of for port, of in ports.items()}
    return publication_of(scene(Case(plan=plan, rates=rates)))


def test_each_counter_has_its_unit() -> None:
    (port,) = counters(counted(gpu_1__nic0=COUNTED), "gpu-1/nic0", None, AT).ports
    lines = {(line.counter, line.priority): line for line in port.counters}
    sent, paused = lines["tx_bytes", None], lines["rx_pause_us", 3]
    assert (sent.rate, sent.rate_unit, sent.group) == (pytest.approx(40.0, rel=1e-3), "Gb/s", "traffic")
    assert sent.total == pytest.approx(5e9 * sent.seconds, rel=1e-3)
    assert (paused.rate, paused.rate_unit, paused.unit) == (pytest.approx(0.25, rel=1e-3), "share of time", "s")
    assert (lines["flows", None].rate, lines["flows", None].total) == (None, 96)
    assert port.fec_ber == pytest.approx(2e-8, rel=1e-3)
    assert port.without == ()
    assert (port.rail, port.peer, port.speed_gbps) == (0, "leaf-0/swp1", 400.0)


def test_every_quantity_has_a_group_and_a_unit() -> None:
    reported = {quantity.value: 1.0 for quantity in Quantity}
    (port,) = counters(counted(gpu_1__nic0=reported), "gpu-1/nic0", None, AT).ports
    assert {line.counter for line in port.counters} == set(reported)
    assert all(line.unit for line in port.counters)


def test_what_a_port_does_not_count_is_unknown_and_not_zero() -> None:
    answer = counters(counted(gpu_1__nic0={"tx_bytes": 1e9}), "gpu-1", None, AT)
    one, other = answer.ports
    assert "errors" in one.without
    assert "fec" in one.without
    assert other.counters == ()
    alone = replace(answer, findings=())
    assert question_of(answer).good(alone) is None
    text = answer_text(answer, Options(160))
    assert "?" in text
    nothing = counters(counted(), "gpu-1", None, AT)
    assert (nothing.reported, nothing.start) == (False, None)


def test_since_counts_back_from_the_newest_sample() -> None:
    shown = counted(gpu_1__nic0=COUNTED)
    whole, minute = (
        counters(shown, "gpu-1/nic0", since, datetime.max.replace(tzinfo=AT.tzinfo)) for since in (None, "1m")
    )
    assert minute.start is not None
    assert minute.end == whole.end
    assert whole.end is not None
    assert (whole.end - minute.start).total_seconds() == 60.0
    assert minute.ports[0].counters[0].total == pytest.approx(5e9 * 60, rel=1e-3)
    with pytest.raises(QueryError, match="newest counters"):
        counters(shown, "gpu-1/nic0", "2030-01-01", AT)


def test_a_finding_on_the_port_is_shown_with_its_counters() -> None:
    rule = rules()["LNK004"]
    shown = publication_of(scene(rule.fires[0]))
    subject = next(one.subject for one in shown.evaluation.findings if one.rule == "LNK004")
    answer = counters(shown, subject, None, AT)
    assert "LNK004" in {line.rule for line in answer.findings}
    assert question_of(answer).good(answer) is False
    assert answer_from_json(type(answer), json.loads(json.dumps(as_json(answer)))) == answer
    assert "LNK004" in answer_text(answer, WIDE)
