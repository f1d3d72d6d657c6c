"""The lives of findings and causes: every turn they can take, what a restart keeps, and a slow model beside them."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.draws import draws
from tests.journal_helpers import RECOVERY, ROUND, WITHIN, Fabric, lives, swapped
from tests.small_fabric import AT, World
from truerail.journal.episodes import Patience, Sight
from truerail.journal.lives import Chronicle
from truerail.journal.round_changes import Changes, Memory, Past
from truerail.model import Evaluation, Port, Reading, Status
from truerail.model.history import EventKind
from truerail.model.life import Life, LifeState

ONE, OTHER = Port("h1", "nica"), Port("h1", "nicb")


def life(changes: Changes, subject: str = str(ONE)) -> Life:
    """The life of the one finding of CAB001 at this port."""
    found = [row.life for row in changes.findings.values() if row.value[0].subject == subject]
    ids = {one.id for one in found}
    (key,) = ids or {key for key in changes.lives if key in _ids(subject)}
    return changes.lives[key]


def _ids(subject: str) -> set[str]:
    fabric = Fabric()
    return {key for key, row in fabric.round(swapped).findings.items() if row.value[0].subject == subject}


def kinds(changes: Changes) -> list[EventKind]:
    """What happened, in order."""
    return [event.kind for event in changes.events]


def test_new_then_ongoing() -> None:
    first, second = Fabric().rounds(2, swapped)
    assert [life(first).state, life(second).state] == [LifeState.NEW, LifeState.ONGOING]
    assert set(kinds(first)) == {EventKind.APPEARED}
    assert kinds(second) == []
    assert life(second).first_seen == life(second).since == AT + ROUND
    assert life(second).last_seen == AT + 2 * ROUND
    assert {one.state for one in first.cause_lives.values()} == {LifeState.NEW}


def test_gone_is_recovering_and_held_until_the_window_has_passed() -> None:
    fabric = Fabric()
    begun = fabric.round(swapped)
    gone = fabric.rounds(5)
    assert [life(one).state for one in gone[:4]] == [LifeState.RECOVERING] * 4
    assert {finding.id for finding in gone[0].pending_resolution} == begun.lives.keys()
    assert gone[3].resolved == frozenset()
    ended = life(gone[4])
    assert ended.state is LifeState.RESOLVED
    assert ended.resolved_at == AT + 2 * ROUND, "the time at which it vanished, not that at which it was believed"
    assert gone[4].resolved == begun.lives.keys() | begun.cause_lives.keys()
    assert gone[4].pending_resolution == ()
    assert set(kinds(gone[4])) == {EventKind.RESOLVED}
    assert fabric.round().lives == {}


def test_back_within_the_window_is_the_same_episode() -> None:
    fabric = Fabric()
    fabric.round(swapped)
    fabric.round()
    back = fabric.round(swapped)
    assert life(back).state is LifeState.ONGOING
    assert life(back).episodes == 1
    assert life(back).since == AT + ROUND
    assert kinds(back) == []


def test_back_after_it_was_resolved_is_regressed_for_the_whole_episode() -> None:
    fabric = Fabric()
    fabric.round(swapped)
    fabric.rounds(5)
    back, later = fabric.rounds(2, swapped)
    assert set(kinds(back)) == {EventKind.REGRESSED}
    assert life(back).state is life(later).state is LifeState.REGRESSED
    assert (life(back).episodes, life(back).first_seen, life(back).since) == (2, AT + ROUND, AT + 7 * ROUND)
    assert kinds(later) == []


def test_coming_and_going_is_flapping_until_it_has_been_quiet() -> None:
    fabric = Fabric()
    for _ in range(3):
        fabric.round(swapped)
        fabric.round()
    fourth = fabric.round(swapped)
    assert life(fourth).state is LifeState.FLAPPING
    assert set(kinds(fourth)) == {EventKind.FLAPPING}
    away = fabric.rounds(8)
    assert {life(one).state for one in away} == {LifeState.FLAPPING}, "held: the recovery window alone is not believed"
    assert away[-1].pending_resolution
    fabric.at += WITHIN
    ended = life(fabric.round())
    assert (ended.state, ended.resolved_at) == (LifeState.RESOLVED, AT + 8 * ROUND)


def test_flapping_that_stays_becomes_ongoing() -> None:
    fabric = Fabric()
    for _ in range(3):
        fabric.round(swapped)
        fabric.round()
    fabric.round(swapped)
    fabric.at += WITHIN - 2 * ROUND
    assert life(fabric.round(swapped)).state is LifeState.FLAPPING
    assert life(fabric.round(swapped)).state is LifeState.ONGOING


def test_coming_back_after_each_recovery_is_flapping_too() -> None:
    fabric = Fabric(lives=lives(recovery=timedelta(seconds=30)))
    states = []
    for _ in range(4):
        states.append(life(fabric.round(swapped)).state)
        fabric.rounds(2)
    assert states == [LifeState.NEW, LifeState.REGRESSED, LifeState.REGRESSED, LifeState.FLAPPING]


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.ERROR, None])
def test_a_rule_that_cannot_say_resolves_nothing(status: Status | None) -> None:
    def spoil(evaluation: Evaluation) -> Evaluation:
        kept = tuple(v for v in evaluation.verdicts if v.rule != "CAB001" or status)
        kept = tuple(replace(v, status=status) if v.rule == "CAB001" and status else v for v in kept)
        return replace(evaluation, verdicts=kept, causes=())

    fabric = Fabric()
    fabric.round(swapped)
    for number in range(8):
        changes = fabric.round(spoil=spoil)
        assert life(changes).state is LifeState.UNSEEN
        assert bool(changes.events) is (number == 0)
        assert {one.state for one in changes.cause_lives.values()} == {LifeState.UNSEEN}
    assert {finding.subject for finding in changes.pending_resolution} >= {str(ONE)}
    back = fabric.round(swapped)
    assert (life(back).state, life(back).episodes) == (LifeState.ONGOING, 1)


def test_a_device_that_is_not_read_resolves_nothing() -> None:
    fabric = Fabric()
    fabric.round(swapped)

    def silent(world: World) -> None:
        world.unread = {"h1", "leaf-0", "leaf-1"}

    changes = fabric.round(silent)
    assert life(changes).state is LifeState.UNSEEN
    gone = fabric.rounds(5)
    assert life(gone[0]).state is LifeState.RECOVERING
    assert life(gone[4]).resolved_at == gone[0].at


def test_out_of_sight_while_recovering_begins_the_window_again() -> None:
    fabric = Fabric()
    fabric.round(swapped)
    fabric.round()

    def silent(world: World) -> None:
        world.unread = {"h1", "leaf-0", "leaf-1"}

    assert life(fabric.round(silent)).state is LifeState.UNSEEN
    gone = fabric.rounds(5)
    assert [life(one).state for one in gone] == [LifeState.RECOVERING] * 4 + [LifeState.RESOLVED]


def test_the_other_end_is_enough_to_say_that_a_cable_is_right() -> None:
    fabric = Fabric()
    fabric.round(swapped)

    def deaf_leaves(world: World) -> None:
        world.unread = {"leaf-0", "leaf-1"}

    assert life(fabric.round(deaf_leaves)).state is LifeState.RECOVERING


def test_a_failed_question_that_its_rule_needs_leaves_a_finding_unseen() -> None:
    """The topology shows the GPU order; a host that answers everything else cannot show that it is right again."""
    fabric = Fabric()
    world = World(fabric.plan)
    clean = world.snapshot()
    world.nic_names["h1"] = {"nica": "nicb", "nicb": "nica"}
    first = fabric.tell(world.snapshot())
    subjects = {row.value[0].subject for row in first.findings.values() if row.value[0].rule == "NIC001"}
    assert subjects, "two NICs of h1 whose names are swapped sit at each other's GPUs"
    broken = replace(clean, readings=[_fails(one) for one in clean.readings])
    second = fabric.tell(broken)
    states = {row.life.state for row in second.findings.values() if row.value[0].rule == "NIC001"}
    assert states == {LifeState.UNSEEN}


def _fails(reading: Reading) -> Reading:
    if reading.device == "h1" and reading.collector == "gpu_nic_topology":
        return structs.replace(reading, facts=(), error="timed out")
    return reading


def test_a_device_that_leaves_the_plan_takes_its_findings_along() -> None:
    fabric = Fabric()
    fabric.round(lambda world: world.unread.add("h8"))
    devices = {name: device for name, device in fabric.plan.devices.items() if name != "h8"}
    cables = tuple(cable for cable in fabric.plan.cables if cable.a.device != "h8")
    fabric.plan = replace(fabric.plan, devices=devices, cables=cables)
    gone = fabric.rounds(5)
    assert gone[-1].resolved
    assert not gone[-1].pending_resolution


def test_time_never_runs_backwards() -> None:
    fabric = Fabric()
    fabric.rounds(3, swapped)
    fabric.at -= timedelta(minutes=1)
    changes = fabric.round(swapped)
    assert changes.at == AT + 3 * ROUND
    assert life(changes).last_seen == AT + 3 * ROUND


@pytest.mark.parametrize("back", [timedelta(hours=1), AT - datetime(1970, 1, 1, tzinfo=UTC)])
def test_a_clock_that_is_set_back_lengthens_a_recovery_by_one_round_at_most(back: timedelta) -> None:
    fabric = Fabric()
    fabric.round(swapped)
    fabric.round()
    fabric.at -= back
    gone = fabric.rounds(5)
    assert [life(one).state for one in gone] == [*[LifeState.RECOVERING] * 4, LifeState.RESOLVED]
    ended = life(gone[-1]).resolved_at
    assert ended is not None
    assert abs(ended - (AT + 2 * ROUND - back)) <= ROUND
    assert fabric.round(swapped).lives[life(gone[-1]).id].state is LifeState.REGRESSED


def test_what_changes_with_every_round_is_written_down_once_in_a_while() -> None:
    fabric = Fabric()

    def older(evaluation: Evaluation) -> Evaluation:
        reported = tuple(replace(f, summary=f"{f.summary} at {evaluation.at}") for f in evaluation.findings)
        return replace(evaluation, findings=reported)

    written = [bool(fabric.round(swapped, older).findings) for _ in range(13)]
    assert written == [True, True, *[False] * 9, True, False]


def _memory(rounds: list[Changes]) -> Memory:
    """What a journal would know after these rounds."""
    findings = {key: row for one in rounds for key, row in one.findings.items()}
    causes = {key: row for one in rounds for key, row in one.causes.items()}
    links = {key: row for one in rounds for key, row in one.link_states.items()}

    def past(rows: list[Life]) -> dict[str, Past]:
        return {one.id: Past(one.first_seen, one.resolved_at, one.episodes) for one in rows if one.resolved_at}

    return Memory(
        tuple(row for row in findings.values() if row.life.state.open),
        tuple(row for row in causes.values() if row.life.state.open),
        past([row.life for row in findings.values()]),
        past([row.life for row in causes.values()]),
        tuple(links.values()),
        rounds[-1].at,
    )


def test_a_restart_keeps_first_sights_and_resolves_nothing() -> None:
    fabric = Fabric()
    before = [*fabric.rounds(2, swapped), fabric.round()]
    assert life(before[-1]).state is LifeState.RECOVERING
    fabric.lives = lives()
    fabric.lives.restore(_memory(before))
    fabric.at += timedelta(hours=5)
    gone = fabric.rounds(5)
    assert [life(one).state for one in gone] == [LifeState.RECOVERING] * 4 + [LifeState.RESOLVED]
    assert life(gone[-1]).first_seen == AT + ROUND
    assert not any(one.links for one in gone), "the cables went back before the restart"


def test_a_restart_finds_what_is_still_there_as_ongoing_and_what_was_resolved_as_regressed() -> None:
    fabric = Fabric()
    before = fabric.rounds(2, swapped)
    fabric.lives = lives()
    fabric.lives.restore(_memory(list(before)))
    still = fabric.round(swapped)
    assert (life(still).state, life(still).since, kinds(still)) == (LifeState.ONGOING, AT + ROUND, [])
    ended = [*before, still, *fabric.rounds(5)]
    fabric.lives = lives()
    fabric.lives.restore(_memory(ended))
    back = fabric.round(swapped)
    assert (life(back).state, life(back).episodes) == (LifeState.REGRESSED, 2)


def test_memory_that_comes_late_is_joined_to_what_was_seen_meanwhile() -> None:
    fabric = Fabric()
    before = [*fabric.rounds(2, swapped)]
    resolved = [*before, *fabric.rounds(5)]
    fabric.lives = lives()
    fabric.round(swapped)
    fabric.lives.restore(_memory(before))
    assert (life(joined := fabric.round(swapped)).state, life(joined).first_seen) == (LifeState.ONGOING, AT + ROUND)
    fabric.lives = lives()
    fabric.round(swapped)
    fabric.lives.restore(_memory(resolved))
    assert (life(back := fabric.round(swapped)).state, life(back).episodes) == (LifeState.REGRESSED, 2)


def test_what_is_forgotten_comes_back_as_new() -> None:
    fabric = Fabric()
    fabric.round(swapped)
    fabric.rounds(5)
    fabric.lives.forget(fabric.at)
    assert life(fabric.round(swapped)).state is LifeState.NEW


def test_another_patience_holds_from_the_next_round_on() -> None:
    fabric = Fabric()
    fabric.round(swapped)
    fabric.round()
    fabric.lives.use(ROUND, 4)
    assert life(fabric.round()).state is LifeState.RESOLVED


# --- beside a slow model that looks at the whole past again in every round --------------------------------------------

PATIENCE = Patience(RECOVERY, 3, timedelta(minutes=10))


@dataclass
class Slow:
    """One finding's whole past: (time, sight) of every round in which it was open."""

    past: list[tuple[datetime, Sight]] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    state: LifeState | None = None

    def tell(self, at: datetime, sight: Sight) -> None:
        if self.state in (None, LifeState.RESOLVED):
            if sight is not Sight.PRESENT:
                return
            self.begins.append(len(self.past))
        self.past.append((at, sight))
        self.state = self._state(at, sight)

    def _appearances(self) -> list[datetime]:
        found, away = [], False
        for number, (at, sight) in enumerate(self.past):
            if sight is Sight.PRESENT and (away or number in self.begins):
                found.append(at)
            away = sight is Sight.GONE or (away and sight is Sight.UNSEEN)
        return found

    def _vanishings(self) -> list[datetime]:
        found, away = [], True
        for at, sight in self.past:
            if sight is Sight.GONE and not away:
                found.append(at)
            away = sight is Sight.GONE or (away and sight is Sight.UNSEEN)
        return found

    def gone_since(self) -> datetime:
        run = []
        for at, sight in reversed(self.past):
            if sight is not Sight.GONE:
                break
            run.append(at)
        return run[-1]

    def _state(self, at: datetime, sight: Sight) -> LifeState:
        moved = max(self._appearances() + self._vanishings())
        flaps = self.state is LifeState.FLAPPING and at - moved < PATIENCE.flapping_within
        if sight is Sight.UNSEEN:
            return LifeState.UNSEEN
        if sight is Sight.GONE:
            if flaps:
                return LifeState.FLAPPING
            return LifeState.RESOLVED if at - self.gone_since() >= PATIENCE.recovery else LifeState.RECOVERING
        recent = [one for one in self._appearances() if at - one <= PATIENCE.flapping_within]
        if flaps or len(recent) >= PATIENCE.flapping_episodes:
            return LifeState.FLAPPING
        if len(self.begins) > 1:
            return LifeState.REGRESSED
        return LifeState.NEW if len(self.past) == 1 else LifeState.ONGOING


@settings(max_examples=draws(60, 1200))
@given(
    st.lists(
        st.tuples(
            st.sampled_from([10, 30, 60, 130, 400, 700]),
            st.dictionaries(st.sampled_from("abc"), st.sampled_from([Sight.PRESENT, Sight.UNSEEN, Sight.GONE])),
        ),
        max_size=40,
    )
)
def test_lives_agree_with_a_slow_model(rounds: list[tuple[int, dict[str, Sight]]]) -> None:
    chronicle: Chronicle[str] = Chronicle(str, str)
    slow = {key: Slow() for key in "abc"}
    at = AT
    for seconds, reported in rounds:
        at += timedelta(seconds=seconds)
        sights = {key: reported.get(key, Sight.GONE) for key in slow}
        present = {key: key for key, sight in sights.items() if sight is Sight.PRESENT}
        steps = chronicle.update(present, sights.__getitem__, at, PATIENCE)
        before = {key: model.state for key, model in slow.items()}
        for key, model in slow.items():
            model.tell(at, sights[key])
        live = {key for key in slow if before[key] not in (None, LifeState.RESOLVED) or key in present}
        assert steps.lives.keys() == live
        for key, one in steps.lives.items():
            model = slow[key]
            assert one.state is model.state
            assert one.episodes == len(model.begins)
            assert one.first_seen == model.past[0][0]
            assert one.since == model.past[model.begins[-1]][0]
            assert one.last_seen == max(when for when, sight in model.past if sight is Sight.PRESENT)
            assert one.resolved_at == (model.gone_since() if one.state is LifeState.RESOLVED else None)
        assert set(steps.resolved) == {key for key, one in steps.lives.items() if one.state is LifeState.RESOLVED}
        assert set(steps.pending_resolution) == steps.lives.keys() - present.keys() - set(steps.resolved)
