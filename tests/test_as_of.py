"""Questions as of a time: what the journal restores, and what it says of the rest."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from tests.api_client import Api
from tests.as_of_journal import MOVED, Kept, kept_journal
from truerail.analysis.cabling import State
from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import CableState
from truerail.model.history import NoHistory
from truerail.outputs.options import Options
from truerail.questions import questions
from truerail.questions.answer_text import answer_text
from truerail.questions.past_publication import past_of
from truerail.questions.question import Asked
from truerail.web.context import KEPT_FOR, MOST_KEPT, PastRounds


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with kept_journal(tmp_path_factory.mktemp("as_of")) as one:
        yield one


def test_cables_findings_and_causes_come_back(kept: Kept) -> None:
    before, during, after = (kept.past(number).publication for number in (1, 3, 6))
    for one in (before, after):
        assert set(one.evaluation.cable_states.values()) == {CableState.RIGHT}
        assert one.evaluation.findings == one.evaluation.causes == ()
    assert during.evaluation.summary.cables_wrong == 2
    assert during.evaluation.cable_states[MOVED] is CableState.WRONG
    assert [one.kind.value for one in during.evaluation.causes] == ["cable-swap"]
    assert {one.rule for one in during.evaluation.findings} == {"CAB001"}
    assert all(one.evidence for one in during.evaluation.findings)
    assert not [one for one in (*during.evaluation.findings, *during.evaluation.causes) if one.action]
    assert during.evaluation.causes[0].moves


def test_what_is_not_kept_is_unknown(kept: Kept) -> None:
    past = kept.past(1)
    assert not [one for one in past.publication.evaluation.verdicts if one.status.value == "pass"]
    assert "no counters" in " ".join(past.as_of.unknown)
    assert past.publication.round.counters is None
    other = kept.past(3, plan_digest="d2")
    assert any("another plan" in one for one in other.as_of.unknown)
    assert other.publication.evaluation.cable_states[MOVED] is CableState.WRONG, "compared place by place"
    with kept.journal.writing() as connection:
        connection.exec_driver_sql("UPDATE links SET first_at = first_at + 3600000000")
    unknown = kept.past(1)
    assert set(unknown.publication.wiring.state.tolist()) == {State.UNKNOWN}
    assert any("cables are unknown" in one for one in unknown.as_of.unknown)
    with kept.journal.writing() as connection:
        connection.exec_driver_sql("UPDATE links SET first_at = first_at - 3600000000")


def test_times_that_the_journal_does_not_have(kept: Kept) -> None:
    now = kept.times[-1]
    for at, words in ((now + timedelta(hours=1), "still to come"), (kept.times[0] - timedelta(hours=1), "begins at")):
        with pytest.raises(QueryError, match=words):
            past_of(Asked(kept.live, kept.journal, now), at)
    with pytest.raises(QueryError, match="needs a journal"):
        past_of(Asked(kept.live, NoHistory(), now), now)
    gap = past_of(Asked(kept.live, kept.journal, now + timedelta(days=1)), now + timedelta(hours=2))
    assert any("no round between" in one for one in gap.as_of.unknown)


def test_every_question_that_takes_a_time_answers(kept: Kept) -> None:
    given = {
        "where": {"port": str(MOVED)}, "job": {"nodes": "h1"}, "blast": {"of": "leaf-0"}, "status": {},
        "path": {"from": "h1", "to": "h2", "rail": None},
        "drain": {"of": "leaf-0", "job": None, "start": None, "until": "2h", "because": None},
        "plan-repair": {"job": None, "window": None, "technicians": 1}, "storm": {"of": None}, "rails": {"nodes": None},
    }  # fmt: skip
    past, asked = PastRounds(), Asked(kept.live, kept.journal, kept.times[-1])
    taking = [question for question in questions() if question.takes_at]
    assert {question.name for question in taking} == given.keys()
    for question in taking:
        answer = past.answer(question, given[question.name], asked, kept.times[3])
        assert answer.as_of.round_at == kept.times[3]
        assert answer_text(answer, Options(100)).startswith("As of ")
        assert question.good(answer) is not True
    where = past.answer(taking[1] if taking[1].name == "where" else taking[0], given["where"], asked, kept.times[3])
    assert where.paths[0].since == kept.times[2]
    held = past._kept[0]
    past.answer(taking[0], given[taking[0].name], asked, kept.times[1])
    past.answer(taking[0], given[taking[0].name], asked, kept.times[3])
    assert past._kept[0] is held, "the same time is restored once"
    for number in range(5):
        past.answer(taking[0], given[taking[0].name], asked, kept.times[number])
    assert len(past._kept) == MOST_KEPT
    later = replace(asked, now=asked.now + KEPT_FOR * 2)
    last = past._kept[0]
    assert past.restored(later, last.at).shown is not last.shown, "what was still open may have ended"


def test_the_api_and_the_command_line_take_a_time(kept: Kept) -> None:
    with Api(kept.tower()) as api:
        answer = api.get(f"where?port={MOVED}&at={kept.times[3]:%Y-%m-%dT%H:%M:%SZ}")
        assert answer.status_code == 200
        assert answer.json()["paths"][0]["state"] == "wrong"
        assert answer.json()["as_of"]["round_at"].startswith(f"{kept.times[3]:%Y-%m-%dT%H:%M:%S}")
        assert api.get(f"where?port={MOVED}").json()["as_of"] is None
        for at in ("soon", "2000-01-01"):
            refused = api.get(f"where?port={MOVED}&at={at}")
            assert refused.status_code == 400
            assert at in refused.json()["detail"]
    offered = {q.name: "--at" in CliRunner().invoke(app, [q.name, "--help"]).output for q in questions() if q.text}
    assert {name for name, offers in offered.items() if offers} == {q.name for q in questions() if q.takes_at}
