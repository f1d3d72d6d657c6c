"""Pollers and a judge over a real NATS server: what they find, and what follows when one of them is killed."""

import asyncio
import math
import re
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from glob import glob
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace as replaced
from structlog.testing import capture_logs

from tests.bus_poller_process import BUSY, SENT_BYTES_PER_SECOND
from tests.bus_service import (
    MADE,
    all_seen,
    are_counts,
    findings,
    found_again,
    judged,
    owners,
    polled,
    process,
    report,
    summary,
)
from tests.fake_fleet import FakeFleet
from tests.nats_bus import TIMING, NatsServer, nats_server
from tests.patience import ENOUGH, until
from tests.poller_fabric import zoned_work
from tests.real import give_up
from truerail.errors import BusError
from truerail.link.codec import pack
from truerail.link.messages import SCHEMA, Beat, Entry, Envelope, Observation
from truerail.link.nats_link import Bus
from truerail.link.poller_outbox import Outbox
from truerail.link.subjects import Subjects
from truerail.model import Role
from truerail.model.life import LifeState
from truerail.poller import Poller
from truerail.poller.bus_poller import BusPoller
from truerail.service.round_loop import Watch

CABLES = len(MADE.plan.cables)
HOUR = 3600.0
FAKETIME = next(iter(glob("/usr/lib/*/faketime/libfaketime.so.1")), "")
"""Debian's libfaketime: https://github.com/wolfcw/libfaketime."""
_FABRICS = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as started:
        yield started


@pytest.fixture
def subjects() -> Subjects:
    """Of a fabric that no other test has."""
    return Subjects(f"fabric {next(_FABRICS)}")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer becomes unknown because the machine is busy, but where a test is about that."""
    monkeypatch.setattr("truerail.poller.received.EXPIRY_INTERVALS", 1000)


async def test_pollers_on_the_bus_find_what_one_process_finds_also_when_one_is_killed(
    server: NatsServer, subjects: Subjects, tmp_path: Path
) -> None:
    alone = await Poller(zoned_work().targets, FakeFleet(MADE), devices=MADE.plan.devices).round()
    expected = report(alone.snapshot())
    async with (
        judged(server, subjects, tmp_path) as (watch, asking),
        process(server, subjects, "killed") as victim,
        polled(server, subjects, "core", "c"),
    ):
        await until(lambda: ("pods", "killed") in asking._live.running)
        async with polled(server, subjects, "pods", "other"):
            await until(lambda: set(owners(asking).values()) == {"killed", "other", "c"} and watch.evaluations > 2)
            assert report(asking.latest.snapshot()) == expected
            await until(lambda: all_seen(watch))
            known, shares = findings(watch), owners(asking)
            victim.send_signal(signal.SIGKILL)
            await until(lambda: set(owners(asking).values()) == {"other", "c"})
            moved = {name for name, owner in owners(asking).items() if owner != shares[name]}
            assert moved == {name for name, owner in shares.items() if owner == "killed"}
            evaluations = watch.evaluations
            await until(lambda: watch.evaluations > evaluations + 2)
            assert report(asking.latest.snapshot()) == expected
            await until(lambda: found_again(watch, known))
            await until(lambda: asking.figures["pollers_running"] == 2)


async def test_a_bus_that_is_killed_loses_nothing_and_one_with_an_empty_store_is_filled_again(
    server: NatsServer, subjects: Subjects, tmp_path: Path
) -> None:
    async with (
        judged(server, subjects, tmp_path) as (watch, asking),
        polled(server, subjects, "pods", "a"),
        polled(server, subjects, "core", "c") as fleet,
    ):
        await until(lambda: watch.evaluations > 2 and all_seen(watch))
        known, right = findings(watch), summary(watch)
        assert known
        for empty in (False, True):
            server.kill()
            await until(lambda: not asking.figures["bus_connected"])
            asked = fleet.asks.total()
            await until(lambda: fleet.asks.total() > asked + 2)  # noqa: B023 - awaited at once - awaited in this turn
            if empty:
                server.empty()
            server.start()
            await until(lambda: asking.figures["bus_connected"])
            evaluations = watch.evaluations
            await until(lambda: watch.evaluations > evaluations + 3)  # noqa: B023 - awaited at once - awaited in this turn
            await until(lambda: found_again(watch, known))
            assert summary(watch) == right
        await until(lambda: asking.figures["bus_store_losses_total"] == 1)
        stored = asking._bus.streams
        async with asyncio.timeout(ENOUGH):
            while (await stored.stream_info(subjects.obs_stream)).state.messages != len(asking.devices):
                await asyncio.sleep(0.05)
        async with judged(server, subjects, tmp_path) as (second, other):
            await until(lambda: all_seen(second))
            assert (findings(second), summary(second)) == (known, right)
            assert set(owners(other).values()) == {"a", "c"}


async def test_a_zone_without_pollers_is_unknown_and_nothing_is_missing(
    server: NatsServer, subjects: Subjects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truerail.poller.received.EXPIRY_INTERVALS", 1)
    async with judged(server, subjects, tmp_path) as (watch, asking), polled(server, subjects, "core", "c"):
        async with polled(server, subjects, "pods", "a"):
            await until(lambda: watch.evaluations > 1 and len(findings(watch)) == 2)
            known = findings(watch)
            assert asking.figures["bus_zones_without_poller"] == 0
        await until(lambda: not asking._live.of_zone("pods"))
        assert asking.figures["bus_zones_without_poller"] == 1
        await until(lambda: summary(watch)[2] and not set(known) & set(findings(watch)))
        published = watch.shown.publication
        assert published
        assert summary(watch)[1] == 0
        reasons = {one.error for one in published.snapshot.readings if one.error and "poller" in one.error}
        assert reasons
        assert all(re.fullmatch(r"no poller in zone pods since \d\d:\d\d UTC", one) for one in reasons)
        assert {published.lives[key].state for key in known} == {LifeState.UNSEEN}
        assert findings(watch) == []  # no device is at fault
        unknown = {one.rule: one.why for one in published.evaluation.verdicts}
        assert re.match(r"10 devices are not polled: no poller in zone pods since", unknown["TEL003"])


async def test_a_judge_that_begins_waits_for_all_pollers_and_then_shows_the_rest_as_unknown(
    server: NatsServer, subjects: Subjects, tmp_path: Path
) -> None:
    async with judged(server, subjects, tmp_path, replace(TIMING, gather_seconds=2.0)) as (watch, asking):
        assert asking.latest.snapshot() is None
        await until(lambda: watch.evaluations)
        assert summary(watch) == (0, 0, CABLES)
        published = watch.shown.publication
        assert published
        assert {re.sub(r"\d\d:\d\d", "", one.error) for one in published.snapshot.readings} == {
            "no poller in zone pods since  UTC",
            "no poller in zone core since  UTC",
        }


async def test_a_judge_that_begins_knows_when_devices_were_read_last_although_they_say_the_same_as_ever(
    server: NatsServer, subjects: Subjects, tmp_path: Path
) -> None:
    def read(watch: Watch) -> set[datetime]:
        published = watch.shown.publication
        return {one.at for one in published.snapshot.readings if not are_counts(one.facts)} if published else set()

    async with AsyncExitStack() as stack:
        for zone in ("pods", "core"):
            await stack.enter_async_context(polled(server, subjects, zone, "p1", HOUR))
        first, asking = await stack.enter_async_context(judged(server, subjects, tmp_path / "first"))
        await until(lambda: first.evaluations)
        begun = datetime.now(UTC)
        await until(lambda: datetime.now(UTC) > begun + timedelta(seconds=1))  # answers have whole seconds
        await asking.everything()
        await until(lambda: min(read(first)) >= begun.replace(microsecond=0))
        await until(lambda: datetime.now(UTC) > max(read(first)) + timedelta(seconds=1))
        await asking.everything({"gpu-001"})
        await until(lambda: len(read(first)) > 1)
        second, _ = await stack.enter_async_context(judged(server, subjects, tmp_path / "second"))
        await until(lambda: second.evaluations)
        assert min(read(second)) == min(read(first)) >= begun.replace(microsecond=0)


async def test_what_is_late_repeated_of_another_schema_or_of_another_zone_does_not_count(
    server: NatsServer, subjects: Subjects, tmp_path: Path
) -> None:
    async with (
        judged(server, subjects, tmp_path) as (watch, asking),
        polled(server, subjects, "pods", "a", HOUR),
        polled(server, subjects, "core", "c", HOUR),
    ):
        inbox = asking._received.inbox
        await until(lambda: all_seen(watch) and [one.reported for one in inbox.senders.values()] == [True, True])
        counts, known = inbox.counts, findings(watch)
        host = next(name for name in asking.devices if owners(asking)[name] == "a")
        bus = Bus(server.address, "test", subjects.inbox("pods"), lambda _: None)
        await bus.open()

        async def stored(as_one: str, data: bytes, zone: str = "pods", key: str = "") -> None:
            """The stream keeps the last message of a device alone: the next waits until this one is taken."""
            earlier, headers = counts[as_one], {"Nats-Msg-Id": key} if key else None
            done = await bus.streams.publish(subjects.obs(zone, host), data, headers=headers)
            await until(lambda: done.duplicate or counts[as_one] > earlier)

        old = Outbox("pods", "a", epoch=1).start  # of a run before the one that polls now
        late = Observation(host, [Entry("lldp_host", "", "late", 0.0, 0.0, 0.0)])
        sent = Envelope(SCHEMA, "pods", "a", old, 1, 7, 0.0, late)
        stale, other = pack(sent), pack(replaced(sent, schema=9))
        foreign = pack(replaced(sent, zone="core", poller="c", start="x", epoch=1 << 40))
        refused, stales = counts["refused_total"], counts["stale_total"]
        await stored("stale_total", stale)
        await stored("skipped_schema_total", other)
        await stored("skipped_schema_total", other, key="twice")
        await stored("skipped_schema_total", other, key="twice")
        await stored("refused_total", foreign)
        await stored("refused_total", foreign, zone="core")
        await stored("refused_total", b"no message")
        assert inbox.senders["core", "c"].start != "x"  # what is refused ends no poller's run
        assert (counts["refused_total"], counts["stale_total"]) == (refused + 3, stales + 1)
        assert counts["skipped_schema_total"] == asking.figures["bus_other_schema_total"] == 2
        for _ in range(2):
            evaluations = watch.evaluations
            await asking.everything()
            await until(lambda: watch.evaluations > evaluations and found_again(watch, known))  # noqa: B023 - awaited in this turn
        await bus.close()


async def test_a_second_poller_of_the_same_name_is_refused_and_the_first_one_goes_on(
    server: NatsServer, subjects: Subjects, tmp_path: Path
) -> None:
    async with judged(server, subjects, tmp_path) as (_, asking), polled(server, subjects, "core", "c") as first:
        second = BusPoller(zoned_work(), FakeFleet(MADE), server.address, subjects, "core", "c", TIMING)
        with pytest.raises(BusError, match="zone core has a poller c that runs"):
            await second.run(asyncio.Event())
        await until(lambda: "c" in owners(asking).values() and ("core", "c") in asking._live.running)
        spine = next(name for name, owner in owners(asking).items() if owner == "c")
        asked = first.asks[spine]
        assert await asking.everything({spine}) == 1
        await until(lambda: first.asks[spine] > asked)


def test_a_poller_counts_also_after_one_whose_clock_was_far_ahead(
    server: NatsServer, subjects: Subjects, tmp_path: Path
) -> None:
    async def body() -> None:
        async with judged(server, subjects, tmp_path) as (_, asking):
            spine = next(name for name, device in MADE.plan.devices.items() if device.role is Role.SPINE)
            ahead = Envelope(SCHEMA, "core", "d", "start", 1 << 40, 1, 0.0, Beat(1))
            bus = Bus(server.address, "test", subjects.inbox("core"), lambda _: None)
            await bus.open()
            await until(lambda: asking._following)
            await bus.send(subjects.live("core", "d"), pack(ahead))
            old = Observation(spine, [Entry("lldp_switch", "", "old", 0.0, 0.0, 0.0)])
            await bus.streams.publish(subjects.obs("core", spine), pack(replaced(ahead, body=old)))
            await until(lambda: owners(asking)[spine] == "d" and not asking._live.running)
            await bus.close()
            async with polled(server, subjects, "core", "c"):
                await until(lambda: owners(asking)[spine] == "c")

    asyncio.run(body())


async def test_a_poller_whose_clock_is_off_and_is_set_is_named_and_its_times_and_rates_are_right(
    server: NatsServer, subjects: Subjects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truerail.analysis.counters.traffic.MINUTE_SECONDS", 6.0)  # a rate is that of a full minute
    clock = tmp_path / "clock"
    clock.write_text("+1h")
    faked = [f"FAKETIME_TIMESTAMP_FILE={clock}", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"]
    ahead = [f"{BUSY}=1", f"LD_PRELOAD={FAKETIME}", *faked]
    if not FAKETIME:
        give_up("libfaketime is not installed")

    def sent(watch: Watch) -> float:
        """Of the first cable's host, in bytes per second."""
        published = watch.shown.publication
        traffic = published.traffic if published else None
        return float(traffic.sent[0]) if traffic is not None else math.nan

    with capture_logs() as logs:
        async with (
            judged(server, subjects, tmp_path, step_seconds=1.0) as (watch, asking),
            polled(server, subjects, "core", "c"),
            process(server, subjects, "ahead", "env", *ahead) as poller,
        ):
            for hours, shown in ((1, "+1h"), (3, "-3h"), (2, "+2h")):
                clock.write_text(shown)
                off = pytest.approx(HOUR * hours, abs=60)
                await until(lambda: asking.figures["bus_clock_offset_seconds"] == off)  # noqa: B023 - awaited at once
                known = watch.evaluations
                await until(lambda: watch.evaluations > known + 3 and sent(watch) > 0)  # noqa: B023 - awaited at once
                published = watch.shown.publication
                assert published
                ages = [(datetime.now(UTC) - one.at).total_seconds() for one in published.snapshot.readings]
                assert -2 < min(ages) <= max(ages) < 600  # seconds; not an hour, on any machine
                assert sent(watch) == pytest.approx(SENT_BYTES_PER_SECOND, rel=0.2)
                await until(lambda: all_seen(watch))
            assert not asking._received.inbox.counts["late_total"]
            poller.terminate()  # the library removes what it has shared
            await asyncio.to_thread(poller.wait, ENOUGH)
    (warning,) = [one for one in logs if one["event"].startswith("the clock of a poller is wrong")]
    assert (warning["zone"], warning["poller"]) == ("pods", "ahead")
    assert warning["ahead_seconds"] == pytest.approx(HOUR, abs=60)


async def test_an_answer_that_is_too_large_for_the_bus_is_unknown_with_that_reason(
    server: NatsServer, subjects: Subjects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nats.aio.client.Client.max_payload", 200)
    monkeypatch.setattr("truerail.link.streams._PACKED_FROM_BYTES", 100)
    async with (
        judged(server, subjects, tmp_path, replace(TIMING, gather_seconds=3.0)) as (watch, asking),
        polled(server, subjects, "core", "c"),
    ):
        await until(lambda: watch.evaluations)
        snapshot = asking.latest.snapshot()
        assert snapshot
        errors = {one.error for one in snapshot.readings if one.device.startswith("spine")}
        assert any("more than the bus takes: raise max_payload of the server above 200" in one for one in errors)
