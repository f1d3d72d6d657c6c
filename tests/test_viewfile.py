"""The view: what a reader of the file answers is what the writer's publication answers, byte by byte."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from tests.fake_tower import NOW, fabric, published
from tests.patience import ENOUGH
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.errors import NotInViewError
from truerail.model.history import NoHistory
from truerail.outputs.metrics import Exposition
from truerail.questions.where import where
from truerail.questions.why import why
from truerail.viewfile.publishing import Publication, PublicationWriter
from truerail.viewfile.reader import ViewReader
from truerail.viewfile.view_file import NAME, Written
from truerail.views.device import device_view, port_lines
from truerail.views.fabric import fabric_view, topology
from truerail.views.fabric_map import fabric_map, map_causes
from truerail.views.lists import cable_lines, cause_rows, device_lines, finding_lines
from truerail.views.racks import rack_lines
from truerail.web.etag import to_bytes

_LISTS: dict[str, Callable[[Published], Any]] = {
    "fabric": lambda one: fabric_view(one, NOW),
    "map": fabric_map,
    "causes of the map": map_causes,
    "topology": topology,
    "cables": lambda one: cable_lines(one, limit=10_000),
    "cables by state": lambda one: cable_lines(one, state="wrong,missing", sort="-findings", limit=10_000),
    "devices": lambda one: device_lines(one, nodes="gpu-[001-012]", sort="severity", limit=10_000),
    "ports": lambda one: port_lines(one, text="leaf", limit=10_000),
    "findings": lambda one: finding_lines(one, severity="critical", limit=10_000),
    "causes": lambda one: cause_rows(one, limit=10_000),
    "racks": lambda one: rack_lines(one, ()),
    "readings that failed": lambda one: one.evaluation.collection_errors,
    "open faults": lambda one: one.open_faults,
}


class View:
    """A view with its writer and a reader."""

    def __init__(self, folder: Path) -> None:
        self.writer, self.reader = PublicationWriter(folder / NAME), ViewReader(folder / NAME)
        self.exposition = Exposition()

    def write(self, publication: Published) -> Written:
        return self.writer.write(Publication(publication), self.exposition.page_of(publication))

    def read(self) -> Published:
        found = self.reader.refresh()
        assert found is not None
        return found.publication

    def close(self) -> None:
        self.writer.close()
        self.reader.close()


@pytest.fixture
def view(tmp_path: Path) -> Iterator[View]:
    with closing(View(tmp_path)) as one:
        yield one


def same(made: Published, read: Published) -> None:
    """Every list and every detail is the same from both."""
    for name, ask in _LISTS.items():
        assert to_bytes(ask(read)) == to_bytes(ask(made)), name
    for device in made.plan.devices:
        assert to_bytes(device_view(read, device)) == to_bytes(device_view(made, device)), device
        assert to_bytes(where(read, device)) == to_bytes(where(made, device)), device
    for finding in made.evaluation.findings:
        answers = [to_bytes(why(one, NoHistory(), finding.id)) for one in (read, made)]
        assert answers[0] == answers[1], finding
    mac = next(iter(made.wiring.identity.names.macs.by_mac))
    for name in ("gpu-001 GPU 2", "gpu-002/mlx5_1", "leaf-0", mac, "rail 1"):
        assert to_bytes(_answer(read, name)) == to_bytes(_answer(made, name)), name


def _answer(publication: Published, name: str) -> Any:
    try:
        return where(publication, name)
    except LookupError as error:
        return str(error)


@pytest.mark.parametrize("faults", [True, False])
def test_a_reader_answers_what_the_writer_would(view: View, faults: bool) -> None:
    made = published(faults)
    view.write(made)
    same(made, view.read())


def test_one_publication_after_the_other(view: View) -> None:
    view.write(published(True))
    view.read()
    view.write(published(False))
    same(published(False), view.read())
    view.write(published(True))
    same(published(True), view.read())


def test_a_round_in_which_nothing_changed_writes_only_its_times(view: View) -> None:
    first = view.write(published(True))
    assert view.write(published(True)).parts == 0
    simulation, seen = fabric(True)
    later = replace(seen, at=seen.at + timedelta(minutes=1))
    later = replace(later, readings=[structs.replace(one, at=one.at + timedelta(minutes=1)) for one in seen.readings])
    again = replace(published(True), evaluated=_evaluated(Round(simulation.plan, later)), number=2)
    written = view.write(again)
    assert written.bytes < first.bytes / 3
    same(again, view.read())


def _evaluated(round: Round) -> Any:
    from truerail.analysis.published import EvaluatedRound
    from truerail.rounds import evaluate

    return EvaluatedRound(round, evaluate(round))


def test_what_the_view_does_not_hold_is_never_taken_for_nothing(view: View) -> None:
    view.write(published(True))
    read = view.read()
    for name in ("counters", "telemetry", "pauses", "balance", "past"):
        with pytest.raises(NotInViewError):
            getattr(read.round, name)
    with pytest.raises(NotInViewError):
        read.evaluation.cable_states.get(read.plan.cables[0].a)
    with pytest.raises(NotInViewError):
        _ = read.wiring.identity.claims


def test_facts_of_a_newer_publication_are_not_mixed_with_an_older_one(view: View) -> None:
    view.write(published(True))
    old = view.read()
    view.write(published(False))
    with pytest.raises(NotInViewError):
        _ = [device_view(old, device) for device in old.plan.devices]
    with pytest.raises(NotInViewError):
        _ = [list(finding.evidence) for finding in old.evaluation.findings]


def test_no_answer_waits_while_a_publication_is_taken_in(view: View) -> None:
    made = published(True)
    view.write(made)
    read = view.read()
    with ThreadPoolExecutor() as pool, view.reader._lock:
        pool.submit(same, made, read).result(ENOUGH)
        assert pool.submit(view.reader.scrape_page).result(ENOUGH)


def test_findings_are_the_writers_with_the_times_of_their_publication(view: View) -> None:
    simulation, seen = fabric(True)
    later = [
        structs.replace(one, at=one.at + timedelta(minutes=number % 3)) for number, one in enumerate(seen.readings)
    ]
    for number, readings in enumerate((seen.readings, later), 1):
        round = Round(simulation.plan, replace(seen, readings=readings))
        made = replace(published(True), evaluated=_evaluated(round), number=number)
        view.write(made)
        assert view.read().evaluation.findings == made.evaluation.findings
        assert {hash(one.evidence) for one in view.read().evaluation.findings} == {
            hash(one.evidence) for one in made.evaluation.findings
        }


def test_the_scrape_page_is_the_writers(view: View) -> None:
    made = published(True)
    view.write(made)
    view.read()
    page = view.reader.scrape_page()
    assert page is not None
    for pod in (None, "-", *view.exposition.page_of(made).pods[1:]):
        assert b"".join(page.text(pod)) == b"".join(view.exposition.page_of(made).text(pod)), pod


def test_a_writer_continues_the_view_of_a_former_one_and_replaces_what_is_no_view(tmp_path: Path) -> None:
    with closing(View(tmp_path)) as first:
        first.write(published(True))
    with closing(View(tmp_path)) as former:
        assert former.writer.published == published(True).number
        assert former.write(published(True)).parts < 20
    (tmp_path / NAME).write_bytes(b"not a database")
    for beside in (f"{NAME}-wal", f"{NAME}-shm"):
        (tmp_path / beside).unlink(missing_ok=True)
    with closing(ViewReader(tmp_path / NAME)) as reader:
        assert reader.refresh() is None
    with closing(View(tmp_path)) as view:
        assert not view.writer.has_content
        view.write(published(True))
        same(published(True), view.read())
