"""What a judge makes of messages that come twice, late, in another order, from two pollers, or from another zone."""

from msgspec import structs

from tests.poller_readings import Pair, counters, reading
from truerail.analysis.published import CollectorRun
from truerail.link.inbox import WARNED_SECONDS, Clock
from truerail.model import Neighbor, NetLink, Reading

UP, DOWN = NetLink("eth0", operstate="UP"), NetLink("eth0", operstate="DOWN")


def round_done(pair: Pair) -> None:
    pair.outbox.round_done({"net_link": CollectorRun("net_link", 60.0, None, 0.4, 2, 2, 1)}, 1, 0)


def test_an_answer_is_sent_when_it_changes_and_otherwise_its_time_alone() -> None:
    pair = Pair()
    pair.outbox.put([reading("gpu-1", UP), reading("gpu-2", UP)])
    assert [message.kind for message in pair.deliver()] == ["obs", "obs"]
    pair.outbox.put([reading("gpu-1", UP, read_at=160.0), reading("gpu-2", DOWN, read_at=160.0)])
    round_done(pair)
    assert [(message.kind, message.key) for message in pair.deliver()] == [("obs", "gpu-2"), ("round", "")]
    same = pair.held("gpu-1")
    assert (same.facts, same.read_at, same.at.timestamp()) == ((UP,), 160.0, 160.0)
    assert pair.held("gpu-2").facts == (DOWN,)
    assert pair.inbox.senders["dc1", "p1"].runs["net_link"].devices_asked == 2


def test_the_age_of_a_neighbour_is_no_change() -> None:
    pair = Pair()
    for seconds in (5, 65):
        pair.outbox.put([reading("gpu-1", Neighbor("eth0", system_name="leaf-1", age_seconds=seconds))])
        assert len(pair.deliver()) == (seconds == 5)
    pair.outbox.put([reading("gpu-1", Neighbor("eth0", system_name="leaf-2", age_seconds=125))])
    assert len(pair.deliver()) == 1


def test_evidence_has_the_age_of_a_neighbour_at_the_newest_answer() -> None:
    pair = Pair()
    pair.outbox.put([reading("gpu-1", Neighbor("eth0", system_name="leaf-1", age_seconds=5))])
    pair.deliver()
    later = structs.replace(
        reading("gpu-1", read_at=160.0), facts=pair.held("gpu-1").facts, facts_at=pair.held("gpu-1").at
    )
    pair.outbox.put([later])
    round_done(pair)
    pair.deliver()
    assert _ages(pair.held("gpu-1")) == [65]
    pair.outbox.resend()
    pair.deliver()
    assert _ages(pair.held("gpu-1")) == [65]


def _ages(held: Reading) -> list[int | None]:
    return [aged.age_seconds for aged in map(held.aged, held.facts) if isinstance(aged, Neighbor)]


def test_a_failure_and_its_end_are_changes_of_counters_too() -> None:
    pair = Pair()
    pair.outbox.put(counters("gpu-1", 5))
    pair.deliver()
    pair.outbox.put([reading("gpu-1", collector="nic_counters", error="no answer within 30 s", read_at=110.0)])
    pair.deliver()
    assert pair.held("gpu-1", "nic_counters").error == "no answer within 30 s"
    pair.outbox.put(counters("gpu-1", 6, read_at=120.0))
    pair.deliver()
    assert pair.held("gpu-1", "nic_counters").facts[0].values == (6,)  # type: ignore[union-attr]


def test_a_message_that_comes_twice_or_too_late_changes_nothing() -> None:
    pair = Pair()
    pair.outbox.put([reading("gpu-1", UP)])
    (first,) = pair.deliver()
    pair.outbox.put([reading("gpu-1", DOWN, read_at=160.0)])
    pair.deliver()
    pair.inbox.take(first.data, zone="dc1")
    assert pair.held("gpu-1").facts == (DOWN,)
    assert pair.inbox.counts["duplicates_total"] == 1


def test_the_poller_with_the_higher_epoch_is_believed_whatever_comes_when() -> None:
    """A device moves to another poller: what the former one sends afterwards is old, however late."""
    pair = Pair()
    pair.outbox.put([reading("gpu-1", UP)])
    pair.deliver()
    other = pair.poller("p2", epoch=7)
    other.put([reading("gpu-1", DOWN, read_at=160.0)])
    pair.deliver(other)
    pair.outbox.put([reading("gpu-1", NetLink("eth0", operstate="OLD"), read_at=300.0)])
    pair.deliver()
    assert pair.held("gpu-1").facts == (DOWN,)
    assert pair.inbox.counts["stale_total"] == 1
    pair.outbox.moved(8)
    pair.outbox.resend()
    pair.deliver()
    assert pair.held("gpu-1").facts[0].operstate == "OLD"  # type: ignore[union-attr]


def test_a_former_run_of_a_poller_is_not_believed() -> None:
    pair = Pair()
    pair.outbox.put([reading("gpu-1", UP)])
    late = list(pair.outbox.messages())
    restarted = pair.poller("p1", epoch=2)
    restarted.put([reading("gpu-1", DOWN)])
    pair.deliver(restarted)
    pair.inbox.take(late[0].data, zone="dc1")
    assert pair.held("gpu-1").facts == (DOWN,)
    assert pair.inbox.counts["stale_total"] == 1


def test_what_was_lost_is_asked_for_and_until_then_not_made_newer() -> None:
    """A round names the observation that describes a device: a judge without it does not take its time as news."""
    pair = Pair()
    pair.outbox.put([reading("gpu-1", UP)])
    pair.deliver()
    pair.outbox.put([reading("gpu-1", DOWN, read_at=160.0)])
    pair.deliver(lose=True)
    pair.outbox.put([reading("gpu-1", DOWN, read_at=220.0)])
    round_done(pair)
    pair.deliver()
    assert (pair.held("gpu-1").facts, pair.held("gpu-1").read_at) == ((UP,), 100.0)
    assert pair.lacking == [(("dc1", "p1"), ["gpu-1"])]
    pair.outbox.resend(["gpu-1"])
    pair.deliver()
    assert (pair.held("gpu-1").facts, pair.held("gpu-1").read_at) == ((DOWN,), 220.0)


def test_a_judge_that_starts_later_has_everything_after_one_request() -> None:
    pair, later = Pair(), Pair()
    pair.outbox.put([reading("gpu-1", UP), *counters("gpu-2", 5)])
    pair.deliver()
    pair.outbox.put([reading("gpu-1", UP, read_at=110.0), *counters("gpu-2", 6, read_at=110.0)])
    round_done(pair)
    for message in pair.outbox.messages():
        later.inbox.take(message.data, zone="dc1")
    assert not later.latest.heard
    assert {place for place, _ in later.lacking} == {("dc1", "p1")}
    pair.outbox.resend()
    pair.outbox.put(counters("gpu-2", 7, read_at=120.0))
    for message in pair.outbox.messages():
        later.inbox.take(message.data, zone="dc1")
    assert later.held("gpu-1").facts == (UP,)
    assert later.held("gpu-2", "nic_counters").facts[0].values == (7,)  # type: ignore[union-attr]


def test_a_judge_that_begins_learns_when_answers_were_read_that_have_not_changed_since() -> None:
    """The bus keeps the newest observation of a device, and of a poller the newest round alone."""
    pair, later = Pair(), Pair()
    pair.outbox.put([reading("gpu-1", UP), reading("gpu-1", UP, collector="net_address"), reading("gpu-2", UP)])
    kept = pair.deliver()
    for device, seconds in (("gpu-1", 700.0), ("gpu-2", 710.0)):
        pair.outbox.put([structs.replace(reading(device, UP, read_at=seconds), read_at=0.0)])
        round_done(pair)
        last = pair.deliver()
    for message in (*kept, *last):
        later.inbox.take(message.data, zone="dc1")
    assert [later.held(device).at.timestamp() for device in later.devices] == [100.0, 710.0]
    pair.outbox.report()
    round_done(pair)
    (answer,) = pair.outbox.messages()
    later.inbox.take(answer.data, zone="dc1")
    assert [later.held(device).at.timestamp() for device in later.devices] == [700.0, 710.0]
    assert later.held("gpu-1", "net_address").at.timestamp() == 100.0
    assert not later.lacking


def test_a_zone_reports_its_own_devices_only() -> None:
    pair = Pair()
    pair.inbox.keep({"gpu-1": "dc2", "gpu-2": "dc1"})
    pair.outbox.put([reading("gpu-1", UP), reading("gpu-2", UP)])
    messages = pair.deliver()
    assert pair.inbox.problem == "zone 'dc1' reports 'gpu-1', a device of zone 'dc2'"
    assert (pair.inbox.counts["refused_total"], pair.latest.heard) == (1, 1)
    pair.inbox.take(messages[0].data, zone="dc2")
    assert "a message of poller 'p1' of zone 'dc1' came as one of zone 'dc2'" in pair.inbox.problem
    pair.outbox.put([reading("gpu-9", UP)])
    assert not pair.deliver()


def test_what_is_refused_ends_no_run() -> None:
    pair = Pair()
    pair.outbox.put([reading("gpu-1", UP)])
    pair.deliver()
    pair.inbox.keep({"gpu-1": "dc1", "gpu-2": "dc2"})
    later = pair.poller("p1", epoch=9)
    later.put([reading("gpu-2", UP)])
    pair.deliver(later)
    pair.outbox.put([reading("gpu-1", DOWN)])
    pair.deliver()
    assert (pair.inbox.counts["refused_total"], pair.inbox.counts["stale_total"]) == (1, 0)
    assert pair.held("gpu-1").facts == (DOWN,)


def test_a_clock_that_is_an_hour_off_is_put_right_and_rates_with_it() -> None:
    pair = Pair()
    ahead = pair.poller("p1", skew_seconds=3600.0)
    for step in range(3):
        pair.now = 100.0 + 10 * step
        ahead.put([reading("gpu-1", UP, read_at=pair.now + 3600), *counters("gpu-1", step, read_at=pair.now + 3600)])
        ahead.round_done({}, step, 0)
        pair.deliver(ahead)
        assert abs(pair.held("gpu-1", "nic_counters").read_at - pair.now) < 1e-3
    assert abs(pair.held("gpu-1").read_at - 120.0) < 1e-3
    assert abs(pair.inbox.senders["dc1", "p1"].clock_off_seconds) > WARNED_SECONDS


def test_a_clock_that_is_set_right_while_its_poller_runs_is_right_two_minutes_later() -> None:
    clock = Clock()
    for second in range(0, 300, 3):
        ahead = 3600.0 if second < 100 else 0.0
        clock.heard(second + ahead - 0.01, float(second))
        if second < 100:
            assert abs(clock.offset_seconds + 3600) < 0.1
    assert clock.offset_seconds == 0.0


def test_counters_wait_a_minute_for_a_connection_and_not_longer() -> None:
    pair = Pair()
    for second in range(0, 200, 10):
        pair.outbox.put(counters("gpu-1", second, read_at=100.0 + second))
    pair.now = 290.0
    pair.deliver()
    assert [one.facts[0].values[0] for one in pair.latest.counted()] == [130, 140, 150, 160, 170, 180, 190]  # type: ignore[union-attr]
    assert pair.outbox.dropped_total == 13
    pair.now = 2000.0
    pair.outbox.put(counters("gpu-1", 200, read_at=300.0))
    pair.deliver()
    assert pair.inbox.counts["late_total"] == 1
