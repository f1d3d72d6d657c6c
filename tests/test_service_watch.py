"""The watch as a whole: a living fabric behind the transport, a real journal, and what people do with it."""

import asyncio
import gc
import weakref
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import structlog

from tests.patience import until
from tests.watched_service import PATIENCE_SECONDS, fabric_of, kinds, run, settings_for, steady, watched
from truerail.analysis.published import JournalHealth
from truerail.errors import JournalUnavailableError, NotFoundError, NotReadyError, QueryError
from truerail.journal import open_journal
from truerail.model.life import LifeState, MuteKind
from truerail.model.step_marks import MarkAction, StepChange
from truerail.questions.find import names_of
from truerail.questions.rail_status import rail_status_of
from truerail.service.evaluator import Evaluator
from truerail.service.kept_marks import MOST_MARKS, StepMarks
from truerail.service.plans import PlanInForce
from truerail.service.round_loop import Watch, utc_now
from truerail.service.settings import Recovery
from truerail.service.watch_service import WatchService
from truerail.views.pieces import StepLine
from truerail.views.view import view_of


async def test_a_swap_is_found_lives_and_is_resolved_when_it_is_mended(tmp_path: Path) -> None:
    fabric = fabric_of()
    async with watched(settings_for(tmp_path), fabric) as front:
        with pytest.raises(NotReadyError):
            await front.acknowledge("x", "anna", "why", None)
        await until(lambda: steady(front))
        shown = front.publication
        assert shown is not None
        ids = {finding.id for finding in shown.evaluation.findings}
        assert len(ids) == 2
        assert {life.state for life in shown.lives.values()} <= {LifeState.NEW, LifeState.ONGOING}
        assert len(front.steps) == 2
        await until(lambda: {record.life.id for record in front.history.findings()} == ids)
        fabric.director.fix(1)
        fabric.living.settle()
        await until(lambda: not kinds(front) and not front.publication.pending_resolution)  # type: ignore[union-attr]
        since = shown.at - timedelta(hours=1)  # what was found between two polls of the repair is resolved as well
        await until(lambda: ids <= {record.life.id for record in front.history.findings(resolved_since=since)})
        assert not front.history.findings()
        assert front.counters["evaluations_failed_total"] == 0


async def test_numbers_and_lives_go_on_after_a_restart(tmp_path: Path) -> None:
    fabric, settings = fabric_of(), settings_for(tmp_path)
    async with watched(settings, fabric) as front:
        await until(lambda: steady(front) and front.publication.number > 2)  # type: ignore[union-attr]
        first = front.publication
    async with watched(settings, fabric) as front:
        await until(lambda: steady(front))
        second = front.publication
    assert first is not None
    assert second is not None
    assert second.number > first.number
    seen = {key: life.first_seen for key, life in first.lives.items()}
    assert {key: life.first_seen for key, life in second.lives.items()} == seen
    assert {life.state for life in second.lives.values()} == {LifeState.ONGOING}


async def test_an_acknowledgement_mutes_survives_a_restart_and_ends_with_what_it_is_about(tmp_path: Path) -> None:
    fabric, settings = fabric_of(), settings_for(tmp_path)
    async with watched(settings, fabric) as front:
        await until(lambda: steady(front))
        shown = front.publication
        assert shown is not None
        key = shown.evaluation.causes[0].key
        note = await front.acknowledge(key, "anna", "spare parts ordered", None)
        assert note.target == key
        assert {mute.kind for mute in front.publication.mutes.values()} == {MuteKind.ACKNOWLEDGED}  # type: ignore[union-attr]
        assert set(front.publication.mutes) == {f.id for f in shown.evaluation.findings}  # type: ignore[union-attr]
        with pytest.raises(NotFoundError):
            await front.acknowledge("nothing", "anna", "why", None)
        with pytest.raises(QueryError):
            await front.acknowledge(key, "anna", "why", utc_now() - timedelta(seconds=1))
    async with watched(settings, fabric) as front:
        await until(lambda: steady(front) and front.publication.mutes)  # type: ignore[union-attr]
        assert [one.reason for one in front.history.acknowledgements()] == ["spare parts ordered"]
        fabric.director.fix(1)
        fabric.living.settle()
        await until(lambda: not front.history.acknowledgements())
        assert [record.action for record in front.history.audit()]


async def test_a_maintenance_window_covers_what_is_cabled_to_its_device(tmp_path: Path) -> None:
    fabric = fabric_of()
    async with watched(settings_for(tmp_path), fabric) as front:
        await until(lambda: steady(front))
        shown = front.publication
        assert shown is not None
        finding = shown.evaluation.findings[0]
        leaf = (finding.expected or "").partition("/")[0]
        now = utc_now()
        window = await front.open_window("device", leaf, now, now + timedelta(hours=1), "anna", "new optics")
        assert front.publication.mutes[finding.id].kind is MuteKind.MAINTENANCE  # type: ignore[union-attr]
        await front.end_window(window.id, "anna")
        assert finding.id not in front.publication.mutes  # type: ignore[union-attr]
        for scope, what in (("rail", "99"), ("pod", "p9"), ("nodes", "gpu-[900-901]"), ("planet", "mars")):
            with pytest.raises(QueryError, match=what.replace("[", "\\[") if scope != "planet" else "planet"):
                await front.open_window(scope, what, now, now + timedelta(hours=1), "anna", "why")
        with pytest.raises(QueryError):
            await front.open_window("device", leaf, now, now, "anna", "why")


async def test_a_recheck_asks_these_devices_now_and_is_audited(tmp_path: Path) -> None:
    fabric = fabric_of()
    async with watched(settings_for(tmp_path), fabric) as front:
        await until(lambda: steady(front))
        before = front.counters["rounds_total"]
        assert await front.recheck(["gpu-001", "leaf-0", "stranger"], "anna") == 2
        await until(lambda: front.counters["rounds_total"] > before)
        assert front.history.audit()[0].action == "recheck"


async def test_without_a_plan_the_rails_are_inferred_once_and_kept(tmp_path: Path) -> None:
    fabric = fabric_of()
    async with watched(settings_for(tmp_path), fabric, planned=False) as front:
        await until(lambda: front.publication)
        plan = front.publication.plan  # type: ignore[union-attr]
        assert plan.inferred
        await until(lambda: front.publication.number > 2)  # type: ignore[union-attr]
        assert front.publication.plan is plan  # type: ignore[union-attr]
        assert any("inferred" in note for note in front.publication.evaluation.notes)  # type: ignore[union-attr]


async def test_without_a_journal_it_evaluates_and_refuses_to_promise(tmp_path: Path) -> None:
    async with watched(settings_for(tmp_path, url=""), fabric_of()) as front:
        await until(lambda: steady(front))
        assert front.publication.journal.health is JournalHealth.OFF  # type: ignore[union-attr]
        with pytest.raises(JournalUnavailableError):
            await front.acknowledge(front.publication.evaluation.causes[0].key, "anna", "why", None)  # type: ignore[union-attr]
        with pytest.raises(JournalUnavailableError):
            await front.mark_step(StepChange(front.steps[0].key, MarkAction.TAKE, "Ada", utc_now()), "anna")
        await front.audit("anna", "log in", "")


async def test_a_mark_belongs_to_the_need_for_its_step_and_unreadable_ones_begin_again(tmp_path: Path) -> None:
    journal, now = open_journal(settings_for(tmp_path).journal), utc_now()
    step = StepLine("s1", "left", "swap", "", "r01", 1, "h1", "h1/a", None, None, "", "do it", now)
    marks = StepMarks(journal, lambda: now)
    ticked = await marks.write([step], StepChange("s1", MarkAction.TICK, "Ada", now), "anna")
    assert marks.of([step]) == (ticked,)
    needed_again = replace(step, since=now + timedelta(days=1))
    assert marks.of([needed_again]) == ()
    for number in range(MOST_MARKS):
        marks._marks[f"old{number}"] = replace(ticked, step=f"old{number}")
    await marks.write([step], StepChange("s1", MarkAction.TAKE, "Ada", now), "anna")
    assert len(marks._marks) == MOST_MARKS
    assert marks.of([step])[0].taken_by == "Ada"
    journal.keep_blob("step marks", b"[1]", now)
    begun = StepMarks(journal, lambda: now)
    await begun.load()
    assert begun.of([step]) == ()
    journal.close()


async def test_a_journal_that_is_away_at_the_start_is_taken_up_when_it_comes(tmp_path: Path) -> None:
    place = tmp_path / "later"
    settings = settings_for(tmp_path, url=f"sqlite:///{place}/journal.db")
    async with watched(settings, fabric_of()) as front:
        await until(lambda: steady(front))
        assert front.publication.journal.health is JournalHealth.FAILING  # type: ignore[union-attr]
        waiting, number = weakref.ref(front.publication.round), front.publication.number  # type: ignore[union-attr]
        await until(lambda: front.publication.number > number + 3)  # type: ignore[union-attr]
        assert waiting() is None, "what waits for the journal holds no round"
        place.mkdir()
        await until(lambda: front.publication.journal.health is JournalHealth.KEEPING)  # type: ignore[union-attr]
        await until(lambda: front.history.findings())


async def test_counters_and_marks_of_steps_survive_a_restart(tmp_path: Path) -> None:
    settings, fabric = settings_for(tmp_path), fabric_of()
    async with watched(settings, fabric) as front:
        await until(lambda: front.publication and front.publication.round.counters)
        before = front.publication.round.counters  # type: ignore[union-attr]
        await until(lambda: front.steps)
        ticked = StepChange(front.steps[0].key, MarkAction.TICK, "Ada", utc_now())
        mark = await front.mark_step(ticked, "anna")
        assert await front.mark_step(ticked, "anna") is mark
        assert front.steps[0].mark != "done"
        with pytest.raises(NotFoundError):
            await front.mark_step(replace(ticked, step="gone"), "anna")
    async with watched(settings, fabric) as front:
        await until(lambda: front.publication)
        after = front.publication.round.counters  # type: ignore[union-attr]
        assert after is not None
        assert after is not before
        assert after.begun[after.order[0]] == before.begun[before.order[0]]  # type: ignore[union-attr]
        assert list(after.sources) == list(before.sources)  # type: ignore[union-attr]
        await until(lambda: front.steps)
        assert front.step_marks == (mark,)
        (entry,) = [row for row in front.history.audit() if row.action == "punch list"]
        assert entry.who == "anna"
        assert "Ada" in entry.detail


async def test_reloading_goes_on_with_another_plan_and_loses_nothing(tmp_path: Path) -> None:
    fabric, settings = fabric_of(), settings_for(tmp_path)
    journal = open_journal(settings.journal)
    plan = PlanInForce(lambda: fabric.plan, fabric.plan)
    watch = Watch(settings, fabric.targets, plan, fabric.transport, Evaluator.begin(settings), journal)
    stop = asyncio.Event()
    running = asyncio.create_task(watch.run(stop))
    front = WatchService(watch)
    await until(lambda: steady(front))
    first = front.publication
    other = settings.model_copy(update={"fabric": "another", "recovery": Recovery(resolve_after=timedelta(seconds=2))})
    hosts = [target for target in fabric.targets if target.name != "gpu-006"]
    watch.use(other, hosts, fabric.plan)
    await until(lambda: front.publication.number > first.number)  # type: ignore[union-attr]
    assert front.publication.fabric == "test"  # type: ignore[union-attr]
    assert set(watch.asking.devices) == {target.name for target in hosts}
    assert {life.id for life in front.publication.lives.values()} >= set(first.lives)  # type: ignore[union-attr]
    stop.set()
    await asyncio.wait_for(running, PATIENCE_SECONDS)


async def test_a_bug_in_evaluating_is_counted_and_what_was_shown_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = fabric_of()
    async with watched(settings_for(tmp_path), fabric) as front:
        await until(lambda: steady(front))
        shown = front.publication

        def broken(*_: object) -> None:
            raise KeyError("a bug")

        monkeypatch.setattr(Evaluator, "evaluate", broken)
        with structlog.testing.capture_logs() as logs:
            await until(lambda: front.counters["evaluations_failed_total"] > 1)
        assert "evaluation failed; the last one stays in use" in {line["event"] for line in logs}
        assert front.publication is not None
        assert front.publication.evaluation.causes == shown.evaluation.causes  # type: ignore[union-attr]
        assert front.away == "the newest answers could not be evaluated (KeyError)"
        monkeypatch.undo()
        await until(lambda: front.publication.number > shown.number and not front.away)  # type: ignore[union-attr]


def test_what_is_not_shown_any_more_is_gone_without_the_garbage_collector(tmp_path: Path) -> None:
    async def body() -> None:
        async with watched(settings_for(tmp_path), fabric_of()) as front:
            await until(lambda: front.publication)
            first = front.publication
            assert first is not None
            owned = (first, first.evaluated, first.round, first.snapshot, first.wiring, first.evaluation)
            views = (view_of(first), view_of(first).sight, names_of(first.evaluated), rail_status_of(first.evaluated))
            kept = [weakref.ref(one) for one in (*owned, *views)]
            number, first, owned, views = first.number, None, (), ()
            await until(lambda: front.publication.number > number + 3)  # type: ignore[union-attr]
            assert [one() for one in kept] == [None] * len(kept)

    gc.disable()
    try:
        run(body)
    finally:
        gc.enable()
