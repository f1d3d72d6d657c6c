"""A window survives a restart: as bytes, in the journal, in the service; what is not understood is refused."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from tests.each import each
from tests.journal_helpers import Settings as JournalSettings
from tests.real_postgres import postgres
from tests.small_fabric import World, make_plan
from truerail.analysis.counters import CounterView, Quantity, Window
from truerail.analysis.counters import storage as stored
from truerail.analysis.counters.storage import MAGIC, MOST_BYTES, Stored, loaded, packed
from truerail.analysis.published import JournalState
from truerail.errors import CounterWindowError, JournalUnavailableError
from truerail.journal import Journal, open_journal, store, tables
from truerail.model import Counter, PortCounters, Reading
from truerail.service.evaluator import Evaluator
from truerail.service.kept_counters import KeptCounters
from truerail.service.settings import Settings

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
NAMES = (Counter("tx_bytes"), Counter("rx_pause_frames", 3), Counter("crc_errors"))
RATE = 5_000


def readings(seconds: float, *, shift: int = 0) -> list[Reading]:
    at = AT + timedelta(seconds=seconds)
    count = int(seconds) * RATE + shift
    ports = tuple(PortCounters(f"swp{n}", NAMES, (count * n, count // 7, n)) for n in (1, 2))
    odd = PortCounters("tiny \ud83d é", NAMES[:1], (2**64 - 10**9 + count,))
    return [
        Reading("leaf-0", "port_counters", at, (*ports, odd)),
        Reading("gpu-1", "nic_counters", at, (PortCounters("nic0", NAMES, (count, 0, 0)),)),
    ]


def counting(rounds: int = 40, *, samples: int = 30, first: int = 0) -> Window:
    window = Window(samples)
    for number in range(first, first + rounds):
        window.put(readings(10 * number))
    return window


def dumped(window: Window, most_bytes: int = MOST_BYTES) -> bytes:
    return packed(window.copy(), {}, most_bytes)


def alike(one: Window, other: Window) -> bool:
    if (one.samples, one.step_seconds, list(one.sources)) != (other.samples, other.step_seconds, list(other.sources)):
        return False
    pairs: list[tuple[Any, Any]] = [(one.begun[one.order], other.begun[other.order])]
    for a, b in zip(one.sources.values(), other.sources.values(), strict=True):
        if a.ports != b.ports or list(a.series) != list(b.series):
            return False
        pairs += [
            (a.span.view().of(one.order), b.span.view().of(other.order)),
            (a.paces[one.order], b.paces[other.order]),
        ]
        pairs += [(a.at, b.at), (a.moved_at, b.moved_at)]
        for x, y in zip(a.series.values(), b.series.values(), strict=True):
            if (x.column, x.kind) != (y.column, y.kind):
                return False
            pairs += [(x.last, y.last), (x.last_at, y.last_at)]
            pairs += [(x.gained.view().of(one.order), y.gained.view().of(other.order))]
    return all(x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in pairs)


# --- bytes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 2, 29, 30, 31, 75])
def test_a_window_comes_back_as_it_was_and_goes_on_alike(rounds: int) -> None:
    window = counting(rounds)
    again = loaded(dumped(window)).window
    assert alike(window, again)
    for number in range(rounds, rounds + 35):
        window.put(readings(10 * number))
        again.put(readings(10 * number))
        assert alike(window, again)


def test_what_passed_between_is_a_hole_and_the_next_difference_spans_it() -> None:
    again = loaded(dumped(counting(20))).window
    again.put(readings(230))
    again.put(readings(240))
    source = again.sources["nic_counters"]
    found = source.series[Quantity.TX_BYTES, None].gained.view().of(again.order)[0]
    assert found[-5:].tolist() == pytest.approx([*[np.nan] * 3, 40 * RATE, 10 * RATE], nan_ok=True)
    assert source.span.view().of(again.order)[0, -2:].tolist() == [40, 10]


def test_after_a_long_time_nothing_is_left_of_before() -> None:
    again = loaded(dumped(counting(40))).window
    again.put(readings(86_400))
    again.put(readings(86_410))
    found = again.sources["nic_counters"].series[Quantity.TX_BYTES, None].gained.view().of(again.order)[0]
    assert found[-1] == 10 * RATE
    assert np.isnan(found[:-1]).all()


def test_what_is_too_much_is_kept_without_its_oldest_samples() -> None:
    window = counting(40)
    whole = dumped(window)
    small = dumped(window, len(whole) - 1)
    assert len(small) < len(whole)
    again = loaded(small).window
    assert again.begun[again.order].tolist() == window.begun[window.order][-15:].tolist()
    assert again.samples == 30
    least = loaded(dumped(window, 1)).window
    assert len(least.order) == 0
    assert least.sources["nic_counters"].at.tolist() == window.sources["nic_counters"].at.tolist()


GOOD = dumped(counting(5, samples=6))


def archived(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    data.write(MAGIC)
    with ZipFile(data, "w") as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return data.getvalue()


def members() -> dict[str, bytes]:
    with ZipFile(io.BytesIO(GOOD)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The good bytes with another head."""
    head = json.loads(members()["head"])
    change(head)
    return archived(members() | {"head": json.dumps(head).encode()})


@each(
    "data",
    [
        b"",
        b"truerail counters 1\n" + GOOD[len(MAGIC) :],
        MAGIC,
        GOOD[:-1],
        GOOD[: len(GOOD) // 2],
        archived({}),
        archived({"head": b"{}"}),
        archived({"head": b"[]"}),
        archived({"head": b"[" * 100_000}),
        archived({"head": members()["head"]}),
        archived({name: body[:-1] if name == "3" else body for name, body in members().items()}),
        archived({name: body + b"\0" if name == "3" else body for name, body in members().items()}),
        changed(lambda head: head.update(samples=0)),
        changed(lambda head: head.update(samples=4)),
        changed(lambda head: head.update(samples="6")),
        changed(lambda head: head.update(samples_kept=-1)),
        changed(lambda head: head.update(samples=1 << 40)),
        changed(lambda head: head.update(step=-1.0)),
        changed(lambda head: head.update(step="soon")),
        changed(lambda head: head.pop("sources")),
        changed(lambda head: head["sources"][0].update(ports=[["a", "b"]] * 4)),
        changed(lambda head: head["sources"][0].update(ports=[["a"]])),
        changed(lambda head: head["sources"][0].update(columns=[["no such quantity", None, 64]])),
        changed(lambda head: head["sources"][0].update(columns=[["tx_bytes", -1, 64]])),
        changed(lambda head: head["sources"][0].update(columns=[["tx_bytes", None, 1]])),
    ],
)
def test_what_is_not_understood_is_refused(data: bytes) -> None:
    with pytest.raises(CounterWindowError, match="the counters that were kept"):
        loaded(data)


def test_a_claim_of_more_than_memory_is_refused_before_room_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_UNPACKED_BYTES", 90)
    with pytest.raises(CounterWindowError, match="claim more than 90 bytes"):
        loaded(GOOD)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_changed_byte_changes_no_counter(place: int, flip: int) -> None:
    data = bytearray(GOOD)
    data[place] ^= flip
    try:
        found = loaded(bytes(data)).window
    except CounterWindowError:
        return
    assert alike(found, loaded(GOOD).window)  # an archive has bits that mean nothing to a reader


# --- the journal ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_bytes_are_kept_under_their_name_and_replaced_as_a_whole(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PART_BYTES", 10)
    if database == "sqlite":
        kept_and_replaced(f"sqlite:///{tmp_path}/j.db")
    else:
        with postgres() as server:
            kept_and_replaced(server.url())


def kept_and_replaced(url: str) -> None:
    journal = open_journal(JournalSettings(url))
    assert journal.blob("counters") is None
    journal.keep_blob("counters", b"\0first" * 9, AT)
    journal.keep_blob("others", b"", AT)
    assert journal.blob("counters") == b"\0first" * 9
    assert journal.blob("others") == b""
    journal.keep_blob("counters", b"second", AT + timedelta(minutes=5))
    journal.keep_blob("counters", b"third", AT + timedelta(minutes=5))
    assert journal.blob("counters") == b"third"
    assert rows(journal) == 2
    torn_apart(journal)
    journal.keep_blob("counters", b"earlier clock, newer bytes", AT - timedelta(days=1))
    assert journal.blob("counters") == b"earlier clock, newer bytes"
    journal.retain(AT + timedelta(days=4000))
    assert rows(journal) == 0
    journal.close()


def torn_apart(journal: Journal) -> None:
    """A write that was killed halfway leaves what was there before in force."""
    row = {"name": "counters", "at": AT + timedelta(days=1), "part": 0, "parts": 2, "body": b"half"}
    with journal.writing() as connection:
        connection.execute(tables.blobs.insert(), row)
    assert journal.blob("counters") == b"third"


def rows(journal: Journal) -> int:
    with journal.reading() as connection:
        return int(connection.execute(text("SELECT count(*) FROM blobs")).scalar_one())


# --- the service ------------------------------------------------------------------------------------------------------


def evaluator_of(tmp_path: Path) -> Evaluator:
    return Evaluator.begin(Settings(inventory=tmp_path / "none.yaml"))


def evaluated(evaluator: Evaluator, seconds: float) -> CounterView:
    world = World(make_plan(hosts=2, rails=2))
    found = evaluator.evaluate(world.plan, world.snapshot(), readings(seconds), (), {}, JournalState(), (), (), AT)
    counters = found.publication.round.counters
    assert counters is not None
    return counters


def test_a_service_that_starts_anew_goes_on_with_its_counters(tmp_path: Path) -> None:
    journal = open_journal(JournalSettings(f"sqlite:///{tmp_path}/j.db"))
    first = evaluator_of(tmp_path)
    KeptCounters(first, journal, lambda: AT).keep()
    assert journal.blob("counters") is None
    for number in range(4):
        evaluated(first, 10 * number)
    KeptCounters(first, journal, lambda: AT).keep()
    second = evaluator_of(tmp_path)
    KeptCounters(second, journal, lambda: AT).restore()
    assert alike(second.window, first.window)
    counters = evaluated(second, 50)
    found = counters.sources["nic_counters"].series[Quantity.TX_BYTES, None].of(counters.order)[0]
    assert found.tolist() == pytest.approx([np.nan, *[10 * RATE] * 3, np.nan, 20 * RATE], nan_ok=True)
    journal.close()


def test_counters_that_are_there_already_are_not_replaced(tmp_path: Path) -> None:
    evaluator = evaluator_of(tmp_path)
    evaluated(evaluator, 100)
    evaluator.remember(Stored(counting(3), {}))
    assert len(evaluator.window.order) == 1
    other = evaluator_of(tmp_path)
    other.remember(Stored(counting(3, samples=6), {}))
    assert not other.window.sources


def test_counters_that_cannot_be_read_begin_again(tmp_path: Path) -> None:
    journal = open_journal(JournalSettings(f"sqlite:///{tmp_path}/j.db"))
    journal.keep_blob("counters", b"rubbish", AT)
    evaluator = evaluator_of(tmp_path)
    KeptCounters(evaluator, journal, lambda: AT).restore()
    assert not evaluator.window.sources
    journal.close()


def test_a_journal_that_is_gone_says_so(tmp_path: Path) -> None:
    journal = open_journal(JournalSettings("postgresql://nobody@127.0.0.1:1/none"))
    evaluator = evaluator_of(tmp_path)
    evaluated(evaluator, 10)
    with pytest.raises(JournalUnavailableError):
        KeptCounters(evaluator, journal, lambda: AT).restore()
    with pytest.raises(JournalUnavailableError):
        KeptCounters(evaluator, journal, lambda: AT).keep()
    journal.close()
