"""Which messages an evaluation causes: each fault once, when it is due, and its end only after its beginning."""

import json
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.draws import draws
from tests.fault_scenes import CRITICAL, PAGE, WARNING, fault, seen
from truerail.analysis.published import Published
from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Severity
from truerail.model.open_fault import OpenFault
from truerail.service.notify.fault_news import MOST_SINGLE, SHOWN_OF_MANY, Announced, message_of_test, news_of
from truerail.service.notify.notification import Notification, notification_schema

SCHEMA = jsonschema.Draft202012Validator(notification_schema())


class Sent:
    """What is announced from one evaluation to the next."""

    def __init__(self, in_use: Collection[str] = ("", "p1")) -> None:
        self.announced: dict[str, Announced] = {}
        self.in_use = in_use

    def after(self, publication: Published) -> list[Notification]:
        messages, self.announced = news_of(publication, self.announced, self.in_use)
        for message in messages:
            SCHEMA.validate(message.body())
        return messages


def words(messages: list[Notification]) -> list[tuple[str, str | None]]:
    return [(message.event.value, message.fault) for message in messages]


def test_a_fault_is_one_message_when_it_begins_and_one_when_it_ends() -> None:
    sent, one = Sent(), fault()
    assert words(sent.after(seen(one))) == [("began", one.key)]
    assert sent.after(seen(one)) == []
    assert words(sent.after(seen())) == [("ended", one.key)]
    assert sent.after(seen()) == []


def test_the_message_says_what_where_who_what_to_do_and_since_when() -> None:
    (message,) = Sent().after(seen(fault()))
    said = Path(__file__).parent / "notifications" / "message.json"
    assert message.body() == json.loads(said.read_text())
    assert message.text == message.body()["text"]


def test_the_end_repeats_what_it_was_about_and_asks_for_nothing() -> None:
    sent = Sent()
    (began,) = sent.after(seen(fault()))
    (ended,) = sent.after(seen(later=timedelta(minutes=5)))
    assert (ended.fault, ended.summary, ended.since) == (began.fault, began.summary, began.since)
    assert "First:" not in ended.text
    assert "Since: 2026-11-20 13:50:00 UTC, ended 2026-11-20 14:05:00 UTC" in ended.text


def test_an_unknown_effect_is_unknown_and_not_none() -> None:
    from dataclasses import replace

    (message,) = Sent().after(seen(replace(fault(), affected_gpus=None, affected_hosts=None)))
    assert message.body()["affected"] == {"gpus": None, "hosts": None}
    assert "Affected: unknown" in message.text
    (message,) = Sent().after(seen(replace(fault(), affected_gpus=0, affected_hosts=0)))
    assert "Affected: 0 GPUs\n" in message.text


def test_a_higher_severity_is_a_message_of_its_own_and_a_lower_one_is_none() -> None:
    sent = Sent()
    assert words(sent.after(seen(fault(severity=WARNING)))) == [("began", fault().key)]
    assert words(sent.after(seen(fault(severity=CRITICAL)))) == [("worsened", fault().key)]
    assert sent.after(seen(fault(severity=WARNING))) == []
    assert sent.after(seen(fault(severity=CRITICAL))) == [], "it was critical before"


def test_in_a_pod_that_is_being_cabled_wrong_cables_are_warnings() -> None:
    new = Sent(in_use=())
    assert new.after(seen(fault(minutes=3))) == []
    (message,) = new.after(seen(fault(minutes=6)))
    assert message.severity == WARNING
    (other,) = new.after(seen(fault(), fault(2, kind=CauseKind.PFC_STORM)))
    assert (other.kind, other.severity) == ("pfc-storm", CRITICAL)
    new.in_use = ("", "p1")
    assert words(new.after(seen(fault(), fault(2, kind=CauseKind.PFC_STORM)))) == [("worsened", fault().key)]


def test_what_is_muted_is_not_sent_until_it_is_not() -> None:
    sent, one = Sent(), fault()
    assert sent.after(seen(one, muted=(one,))) == []
    assert sent.after(seen()) == [], "no end of what did not begin"
    assert sent.after(seen(one, muted=(one,))) == []
    assert words(sent.after(seen(one))) == [("began", one.key)]
    assert sent.after(seen(one, muted=(one,))) == [], "a mute is no end"
    assert words(sent.after(seen())) == [("ended", one.key)]


def test_a_cable_that_is_moved_by_hand_sends_nothing() -> None:
    """A cable's alert waits two minutes, a degraded link's five; the table is `truerail/model/cause_kinds.py`."""
    assert Sent().after(seen(fault(minutes=1.9))) == []
    assert len(Sent().after(seen(fault(minutes=2)))) == 1
    assert Sent().after(seen(fault(minutes=4, kind=CauseKind.DEGRADED_LINK))) == []
    assert Sent().after(seen(fault(kind=CauseKind.MAINTENANCE))) == [], "announced work is no fault"


def test_a_finding_without_a_cause_is_a_message_too() -> None:
    (message,) = Sent().after(seen(fault(severity=WARNING, kind=None)))
    assert (message.kind, message.rule) == (None, "LNK004")
    assert message.page == f"{PAGE}/findings/000000000001"
    assert Sent().after(seen(fault(severity=Severity.INFO, kind=None))) == []


def test_a_storm_of_causes_is_a_few_messages_and_one_that_counts_the_rest() -> None:
    sent = Sent()
    storm = [fault(number, CRITICAL if number < 30 else WARNING) for number in range(1, 101)]
    messages = sent.after(seen(*storm))
    assert len(messages) == SHOWN_OF_MANY + 1
    folded = messages[-1]
    assert folded.summary == "90 more faults began at once: 71 cable-swap (warning), 19 cable-swap (critical)".replace(
        "71 cable-swap (warning), 19 cable-swap (critical)", "19 cable-swap (critical), 71 cable-swap (warning)"
    )
    assert (folded.severity, folded.fault, folded.page) == (CRITICAL, None, f"{PAGE}/causes")
    ended = sent.after(seen())
    assert len(ended) == SHOWN_OF_MANY + 1
    assert ended[-1].summary.startswith("90 more faults ended at once")
    assert sent.announced == {}


def test_as_many_as_can_be_read_are_sent_one_by_one() -> None:
    assert len(Sent().after(seen(*map(fault, range(1, MOST_SINGLE + 1))))) == MOST_SINGLE


def test_a_folded_fault_that_gets_worse_is_named() -> None:
    sent = Sent()
    storm = [fault(number, WARNING) for number in range(1, 41)]
    sent.after(seen(*storm))
    assert words(sent.after(seen(*storm[:-1], fault(40, CRITICAL)))) == [("worsened", fault(40).key)]


@settings(max_examples=draws(15, 160))
@given(st.lists(st.dictionaries(st.integers(1, 40), st.sampled_from([WARNING, CRITICAL])), max_size=6))
def test_each_end_has_its_beginning_whatever_happens(rounds: list[dict[int, Severity]]) -> None:
    sent, open_count = Sent(), 0
    for number, faults in enumerate([*rounds, {}]):
        found: list[OpenFault] = [fault(one, severity) for one, severity in faults.items()]
        for message in sent.after(seen(*found, later=timedelta(minutes=number))):
            many = sum(one.count for one in message.folded) or 1
            open_count += {"began": many, "ended": -many, "worsened": 0}[message.event.value]
        assert open_count == len(faults) == len(sent.announced)


@pytest.mark.parametrize("name", ["gpu\x1b[2J", "a\nb", "\u202e"])
def test_names_of_devices_cannot_forge_a_line(name: str) -> None:
    from dataclasses import replace

    (message,) = Sent().after(seen(replace(fault(), subject=name, summary=name)))
    assert len(message.text.split("\n")) == 7
    assert all(line.isprintable() for line in message.text.split("\n"))
    assert message.line.isprintable()


def test_a_test_message_is_one_and_the_schema_refuses_what_is_none() -> None:
    message = message_of_test("lab", seen().at, "5", PAGE)
    SCHEMA.validate(message.body())
    assert message.event == "test"
    assert json.loads(json.dumps(message.body()))["schema"] == "truerail/notification/v1"
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate({**message.body(), "event": "exploded"})
