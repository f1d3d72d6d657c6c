"""The past of links: what is taken from rounds, what begins it again, and how it survives restarts and other plans."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from truerail.analysis.published import JournalState
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.analysis.trends import link_past
from truerail.analysis.trends.link_past import DAYS, LEVELS_SECONDS, SAMPLE_SECONDS, SAMPLES, Past, loaded, slot_of
from truerail.analysis.trends.signal_levels import Levels, Signal, levels_of
from truerail.errors import LinkPastError
from truerail.journal import Journal, open_journal
from truerail.model import BitErrorRate, Fact, Optic, Plan, Reading, Snapshot
from truerail.service.evaluator import Evaluator
from truerail.service.kept_counters import KeptPast
from truerail.service.settings import Journal as Kept
from truerail.service.settings import Settings
from truerail.testing.cases import plan_of, scene

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
TWO = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400\ngpu-2/nic0 leaf-0/swp2 rail=0 speed=400"
PLAN = plan_of(Case(plan=TWO))


def snapshot(seconds: float, rx: float = -2.0, serial: str = "S1", *more: Fact) -> Snapshot:
    at = AT + timedelta(seconds=seconds)
    lanes = (Optic("nic0", 1, rx, -1.0, None, 45.0, -9.0, 4.0, "V", "A", serial), Optic("nic0", 2, -40.0, part="A"))
    return Snapshot(at, [Reading("gpu-1", "optics", at, lanes), Reading("gpu-1", "bit_error_rates", at, more)])


def lived(hours: float, *, plan: Plan = PLAN, past: Past | None = None, begin: float = 0, **how: object) -> Past:
    """The past after so many hours with a reading each half hour."""
    for number in range(int(2 * hours)):
        seen = snapshot(begin + 1800 * number, **how)  # type: ignore[arg-type]  # the keywords of `snapshot`
        past = Round(plan, seen, earlier=past).past
    assert past is not None
    return past


def rx(past: Past) -> list[float]:
    return [round(float(one.values[Signal.RX_DBM, 0, 0]), 2) for one in past.links.samples]


def levels(case: Case) -> Levels:
    made = scene(case)
    return levels_of(made.cabling, made.telemetry)


# levels


def test_levels_are_of_the_weakest_lane_with_light_at_both_ends() -> None:
    facts = {"gpu-1": [Optic("nic0", 1, -2.0, 0.5, None, 41.0), Optic("nic0", 2, -3.0, 0.1, None, 44.0)]}
    found = levels(Case({**facts, "leaf-0": [Optic("swp2", 1, -40.0, -35.0)]}, plan=TWO)).values
    assert found[:3, 0, 0].tolist() == pytest.approx([-3.0, 0.1, 44.0])
    assert np.isnan(found[:, 1]).all()
    assert np.isnan(found[:, 0, 1]).all()


def test_bit_errors_are_counted_or_else_of_the_device_and_never_of_a_link_that_fell() -> None:
    rates = {"gpu-1/nic0": {"corrected_bits": 4e3, "rx_bits": 4e11}, "leaf-0/swp2": {"fec_corrected": 10.0}}
    own = {
        "leaf-0": [BitErrorRate("swp1", 1e-7), BitErrorRate("swp2", 1e-7)],
        "gpu-2": [BitErrorRate("nic0", 1e-7, None, 1e6)],
    }
    found = levels(Case(own, plan=TWO, rates=rates))
    assert found.values[Signal.BER, 0, 0] == pytest.approx(-8, abs=0.01)
    assert found.values[Signal.BER, 1].tolist() == pytest.approx([-7, np.log10(10 / 425e9)], abs=0.01)
    assert np.isnan(found.values[Signal.BER, 0, 1])
    assert not found.fell.any()
    fell = levels(Case(own, plan=TWO, rates={"leaf-0/swp1": {"link_downs": [0.1, 0.0, 0.0], "fec_corrected": 10.0}}))
    assert fell.fell[:, 0].tolist() == [False, True]
    assert np.isnan(fell.values[Signal.BER, 1, 0])


def test_a_lot_is_a_part_at_one_end() -> None:
    parts = {"gpu-1": [Optic("nic0", 1, -2.0, part="A")], "gpu-2": [Optic("nic0", 1, -2.0, part="A", serial="S")]}
    found = levels(Case({**parts, "leaf-0": [Optic("swp1", 1, -2.0, part="A")]}, plan=TWO))
    assert found.lot[0, 0] == found.lot[0, 1] != found.lot[1, 0]
    assert found.lot[1, 1] == -1
    assert found.module[0, 0] == -1 != found.module[0, 1]


# samples


def test_a_sample_is_the_mean_of_two_hours_and_memory_is_bounded() -> None:
    past = lived(24 * (DAYS + 2))
    assert len(past.links.samples) == SAMPLES
    assert set(rx(past)) == {-2.0}
    assert past.links.samples[0].values.dtype == np.float16
    more = lived(2, past=past, begin=24 * 3600 * (DAYS + 2), rx=-3.0)
    assert rx(lived(1, past=more, begin=24 * 3600 * (DAYS + 2) + 7200))[-2:] == [-2.0, -3.0]


def test_rounds_in_between_change_nothing_and_a_clock_set_back_goes_on() -> None:
    past = lived(5)
    soon = Round(PLAN, snapshot(4.5 * 3600 + LEVELS_SECONDS / 2), earlier=past)
    assert soon.past is past
    back = Round(PLAN, snapshot(-3600), earlier=past).past
    assert back.taken_at < past.taken_at
    assert all(one.number < back.opened.number for one in back.links.samples)


def test_another_module_begins_the_past_of_its_link_again() -> None:
    past = lived(5)
    assert np.isneginf(past.links.since).all()
    other = lived(0.5, past=past, begin=5 * 3600, serial="S2")
    assert other.links.since[:, 0].tolist() == [other.taken_at] * 2
    assert np.isneginf(other.links.since[:, 1]).all()
    silent = lived(0.5, past=past, begin=5 * 3600, serial="")
    assert np.isneginf(silent.links.since).all()


def test_a_plug_that_was_moved_begins_it_again() -> None:
    past = lived(5)
    found = past.after(PLAN, _same(past, 3600), {"leaf-0/swp2": ((0.0, 99.0),), "leaf-9/x": ((0.0, 1.0),)})
    assert found.links.since[:, 1].tolist() == [99.0, 99.0]
    assert np.isneginf(found.links.since[:, 0]).all()


def _same(past: Past, later: float) -> Levels:
    shape = past.module.shape
    values = np.zeros((len(Signal), *shape), dtype=np.float32)
    low = np.zeros(shape, dtype=np.float32)
    return Levels(past.taken_at + later, values, past.module, past.links.lot, low, np.ones(shape, dtype=bool))


def test_a_fall_of_the_link_is_remembered() -> None:
    past = lived(5)
    later = past.after(PLAN, _same(past, SAMPLE_SECONDS), {})
    assert later.fell_at.tolist() == later.links.fell_at.tolist() == [[later.taken_at] * 2] * 2


def test_under_another_plan_cables_keep_their_past_by_their_ends() -> None:
    past = lived(6)
    same = lived(0.5, plan=plan_of(Case(plan=TWO)), past=past, begin=6 * 3600)
    assert rx(same) == [*rx(past), -2.0]
    swapped = "\n".join(["gpu-3/nic0 leaf-0/swp3", *reversed(TWO.split("\n"))])
    other = lived(0.5, plan=plan_of(Case(plan=swapped)), past=past, begin=6 * 3600)
    column = [one.values[Signal.RX_DBM, 0] for one in other.links.samples]
    assert [bool(np.isnan(one[:2]).all()) for one in column[:3]] == [True] * 3
    assert [float(one[2]) for one in column[:3]] == [-2.0] * 3
    assert other.module[0, 2] == past.module[0, 0]


# restarts


def _stored(past: Past) -> Callable[[int], bytes | None]:
    return {slot_of(one.number): link_past.packed_sample(one, past.links.plan) for one in past.links.samples}.get


def test_a_past_comes_back_as_it_was() -> None:
    past = lived(30)
    again = loaded(link_past.packed_state(past), _stored(past))
    assert rx(again) == rx(past)
    assert (again.taken_at, again.opened.number) == (past.taken_at, past.opened.number)
    assert again.module.tolist() == past.module.tolist()
    assert rx(lived(3, past=again, begin=30 * 3600)) == rx(lived(3, past=past, begin=30 * 3600))


def test_what_cannot_be_read_is_left_out_or_refused() -> None:
    past = lived(30)
    stored, state = _stored(past), link_past.packed_state(past)
    first = slot_of(past.links.samples[0].number)
    assert len(loaded(state, lambda slot: b"x" if slot == first else stored(slot)).links.samples) == 13
    elsewhere = lived(30, plan=plan_of(Case(plan=TWO.replace("swp2", "swp9"))))
    assert not loaded(state, _stored(elsewhere)).links.samples
    for broken in (b"", b"PK\x03\x04", state[:-40], link_past.packed_sample(past.links.samples[0], PLAN)):
        with pytest.raises(LinkPastError, match="cannot be read"):
            loaded(broken, stored)
    shorter = Past(past.links, past.module[:, :1], past.fell_at, past.opened, past.taken_at)
    with pytest.raises(LinkPastError, match="different lengths"):
        loaded(link_past.packed_state(shorter), stored)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return open_journal(Kept(url=f"sqlite:///{tmp_path}/journal.db"))


def evaluator(tmp_path: Path) -> Evaluator:
    return Evaluator.begin(Settings(inventory=tmp_path / "inventory.yaml"))


def test_a_service_continues_with_its_past_after_a_restart(tmp_path: Path, journal: Journal) -> None:
    first = evaluator(tmp_path)
    kept = KeptPast(first, journal, lambda: AT)
    kept.restore()
    kept.keep()
    assert first.past is None
    for number in range(7):
        first.evaluate(PLAN, snapshot(3600 * number), (), (), {}, JournalState(), (), (), AT)
        kept.keep()
    kept.keep()
    assert first.past is not None
    second = evaluator(tmp_path)
    KeptPast(second, journal, lambda: AT).restore()
    assert second.past is not None
    assert rx(second.past) == rx(first.past) == [-2.0] * 3
    second.remember_past(lived(1))
    assert len(second.past.links.samples) == 3
    journal.close()


def test_an_unreadable_past_begins_again(tmp_path: Path, journal: Journal) -> None:
    journal.keep_blob("past", b"of another version", AT)
    one = evaluator(tmp_path)
    KeptPast(one, journal, lambda: AT).restore()
    assert one.past is None
    journal.close()


def test_another_plan_is_stored_as_a_whole(tmp_path: Path, journal: Journal) -> None:
    one = evaluator(tmp_path)
    kept = KeptPast(one, journal, lambda: AT)
    one.past = lived(8)
    kept.keep()
    one.past = lived(0.5, plan=plan_of(Case(plan=TWO.split("\n")[0])), past=one.past, begin=8 * 3600)
    kept.keep()
    again = evaluator(tmp_path)
    KeptPast(again, journal, lambda: AT).restore()
    assert again.past is not None
    assert rx(again.past) == rx(one.past)
    journal.close()
