"""Answers out of public places, each of which was once read wrongly: tests of a table of them, by source."""

import re
from collections.abc import Callable, Mapping, Sequence

import pytest

from collector import collectors
from truerail.errors import UnreadableError
from truerail.model import Device, Fact, PortCounters

Answers = Mapping[str, tuple[str, str, Sequence[Fact]]]
"""By source: the collector, the answer, and its facts."""
Counts = Mapping[str, tuple[str, str, Mapping[str, Mapping[str, int]]]]
"""By source: the collector, the answer, and each port's counters, by name or `name/priority`."""
Refused = Mapping[str, tuple[str, str, str]]
"""By source: the collector, the answer, and how the reason begins why it is refused."""
Test = Callable[[str], None]
ANY = Device("any")


def reads(answers: Answers, device: Device = ANY) -> Test:
    """A test that each answer is read as these facts."""

    def test(source: str) -> None:
        name, answer, expected = answers[source]
        assert list(collectors()[name].read(answer, device)) == list(expected)

    return pytest.mark.parametrize("source", answers)(test)


def counts(answers: Counts, device: Device = ANY) -> Test:
    """A test that each answer has the counters of these ports, once each."""

    def test(source: str) -> None:
        name, answer, expected = answers[source]
        found = [fact for fact in collectors()[name].read(answer, device) if isinstance(fact, PortCounters)]
        assert {fact.port: _by_name(fact) for fact in found} == expected
        assert len(found) == len(expected)

    return pytest.mark.parametrize("source", answers)(test)


def refuses(answers: Refused, device: Device = ANY) -> Test:
    """A test that each answer is refused for this reason."""

    def test(source: str) -> None:
        name, answer, why = answers[source]
        with pytest.raises(UnreadableError, match=re.escape(why)):
            list(collectors()[name].read(answer, device))

    return pytest.mark.parametrize("source", answers)(test)


def _by_name(fact: PortCounters) -> dict[str, int]:
    names = [of.counter if of.priority is None else f"{of.counter}/{of.priority}" for of in fact.counters]
    return dict(zip(names, fact.values, strict=True))
