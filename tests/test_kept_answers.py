"""An unchanged answer is not parsed again: its facts are those of the round before, on every platform."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collector import at_once, collectors
from tests.each import each
from tests.living_site import POD, Site
from truerail.analysis.cabling.joined import evidence_of
from truerail.errors import UnreadableError
from truerail.model import CauseKind, Device, Neighbor, PortCounters, Reading, Role, Snapshot
from truerail.poller import Poller
from truerail.poller.questions import applicable
from truerail.simulator import Fault
from truerail.simulator.platforms import platforms, switch_platforms
from truerail.transport.kept_answers import FULL_PARSE_SECONDS, KeptAnswers

RECORDINGS = Path(__file__).parent / "recordings"
LLDP = ("lldp_host", "lldp_local", "lldp_switch")
HOST, SWITCH = Device("gpu-1"), Device("leaf-1", Role.LEAF)
AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
OLD, YOUNG = "1 day, 02:03:04", "0 day, 00:03:04"
JSON0 = (
    '{"lldp":[{"interface":[{"name":"eth0","via":"LLDP","rid":"1","age":"AGE","chassis":[{"id":[{"type":"mac",'
    '"value":"02:00:00:00:00:01"}],"name":[{"value":"NAME"}]}],"port":[{"id":[{"type":"ifname","value":"swp1"}]}]}]}]}'
)


def answer(age: str, name: str = "leaf-1") -> bytes:
    return JSON0.replace("AGE", age).replace("NAME", name).encode()


class Reader:
    """The kept answers of one host, and how often the parser ran."""

    def __init__(self) -> None:
        self.differed: list[tuple[str, str]] = []
        self.kept = KeptAnswers(lambda device, collector: self.differed.append((device, collector)))
        self.parsed = 0
        self.parse: Callable[[bytes], tuple[Neighbor, ...]] = self._parse

    def _parse(self, content: bytes) -> tuple[Neighbor, ...]:
        return collectors()["lldp_host"].read(content.decode(), HOST)  # type: ignore[return-value]

    def __call__(self, content: bytes, seconds: float, device: Device = HOST) -> tuple[tuple[Neighbor, ...], datetime]:
        def counted(content: bytes) -> tuple[Neighbor, ...]:
            self.parsed += 1
            return self.parse(content)

        at = AT + timedelta(seconds=seconds)
        return self.kept.facts(collectors()["lldp_host"], device, "gpu-1/lldp", content, at, counted)  # type: ignore[return-value]


def test_an_answer_that_is_older_and_otherwise_the_same_has_the_same_facts() -> None:
    read = Reader()
    first, _ = read(answer(OLD), 0)
    second, facts_at = read(answer("1 day, 02:04:04"), 60)
    assert second is first
    assert facts_at == AT
    assert (read.parsed, read.kept.unchanged_total) == (1, 1)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param(answer(OLD), answer(OLD, "leaf-2"), id="another neighbour"),
        pytest.param(answer(OLD), answer(YOUNG), id="went and came back between two rounds"),
        pytest.param(answer(YOUNG), answer("0 day, 00:04:04"), id="young: of two on one port its age decides"),
        pytest.param(answer(OLD), answer(OLD)[:-1], id="cut"),
    ],
)
def test_a_changed_answer_is_parsed(earlier: bytes, later: bytes) -> None:
    read = Reader()
    read(earlier, 0)
    try:
        read(later, 60)
    except UnreadableError:
        assert later == earlier[:-1]
    assert read.parsed == 2


def test_ages_are_compared_again_after_a_gap() -> None:
    read = Reader()
    read(answer(OLD), 0)
    read(answer(OLD), 700)  # a neighbour that came back in between may be older than the limit by now
    assert read.parsed == 2


def test_another_role_is_another_parse() -> None:
    read = Reader()
    read(answer(OLD), 0)
    read(answer(OLD), 60, replace(HOST, platform="linux"))
    assert read.parsed == 2


def test_an_unreadable_answer_stays_unreadable_without_another_parse() -> None:
    read = Reader()
    for seconds in (0, 60):
        with pytest.raises(UnreadableError, match="cut short"):
            read(answer(OLD)[:-1], seconds)
    assert read.parsed == 1
    (kept,) = (one.found for one in read.kept._kept.values())
    assert isinstance(kept, UnreadableError)
    assert (kept.__traceback__, kept.__cause__, kept.__context__) == (None, None, None), "frames hold the answer"


def test_each_answer_is_parsed_once_an_hour_and_a_difference_is_reported() -> None:
    read = Reader()
    first, _ = read(answer(OLD), 0)
    for seconds in range(60, int(FULL_PARSE_SECONDS) + 60, 60):
        read(answer(OLD), seconds)
    assert (read.parsed, read.differed) == (2, [])
    read.parse = lambda content: ()  # a parser that keeps state, say
    found = [read(answer(OLD), seconds)[0] for seconds in range(3660, 3 * 3600, 60)]
    assert read.differed[0] == ("gpu-1", "lldp_host")
    assert found[0] is first
    assert found[-1] == ()

    def broken(content: bytes) -> tuple[Neighbor, ...]:
        raise UnreadableError("not understood")

    read.parse = broken
    with pytest.raises(UnreadableError):
        [read(answer(OLD), seconds) for seconds in range(10800, 16000, 60)]
    assert len(read.differed) == 2


def test_counters_are_not_kept() -> None:
    kept, counting = KeptAnswers(), collectors()["nic_counters"]
    for _ in range(2):
        assert kept.facts(counting, HOST, "x", b"", AT, lambda content: ()) == ((), AT)
    assert kept.unchanged_total == 0


def test_evidence_has_the_age_at_the_time_of_its_reading() -> None:
    read = Reader()
    read(answer(OLD), 0)
    facts, facts_at = read(answer(OLD), 240)
    reading = Reading("gpu-1", "lldp_host", AT + timedelta(seconds=240), facts, facts_at=facts_at)
    shown = evidence_of(Snapshot(reading.at, [reading]), Neighbor, 0)
    assert isinstance(shown.fact, Neighbor)
    assert shown.fact.age_seconds == 93784 + 240
    ageless = facts[0]._replace(age_seconds=None)
    assert reading.aged(ageless) is ageless


CASES = sorted(case for name in LLDP for case in (RECORDINGS / name).iterdir() if (case / "facts.json").exists())


@each("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_what_a_digest_leaves_out_is_no_fact_but_an_age(case: Path) -> None:
    """With other digits in the volatile parts the facts are the same, and so is the digest."""
    asked, content = collectors()[case.parent.name], (case / "answer.txt").read_bytes()
    device = HOST if case.parent.name == "lldp_host" else SWITCH
    before = asked.read(content.decode(), device)
    for label, volatile in asked.volatile.items():
        if label in content:
            whole = re.compile(b"(?<=" + re.escape(label) + b")" + volatile.pattern)
            later = whole.sub(lambda found: re.sub(rb"\d(?=\D*$)", b"9", found.group()), content)
            after = asked.read(later.decode(), device)
            assert asked.digest(later) == asked.digest(content)
            assert [_ageless(fact) for fact in after] == [_ageless(fact) for fact in before]
            break


def _ageless(fact: object) -> object:
    return fact._replace(age_seconds=None) if isinstance(fact, Neighbor) else fact


@pytest.mark.parametrize("platform", sorted(switch_platforms()))
def test_a_steady_fabric_is_parsed_once_and_a_change_is_found(platform: str) -> None:
    site = Site(shape=replace(POD, hosts=4, platforms=(platform,)))
    kept, ambient = KeptAnswers(), site.gatherer._ambient
    keeping, fresh = (
        Poller(site.fabric.targets, site.fabric.transport, devices=site.fabric.plan.devices, ambient=ambient, kept=one)
        for one in (kept, None)
    )

    def read(poller: Poller) -> dict[tuple[str, str], Reading]:
        found = asyncio.run(poller.round(collectors=sorted(at_once())))
        return {(one.device, one.collector): one for one in found.readings}

    site.wait(700)
    first = read(keeping)
    site.wait(60)
    second = read(keeping)
    counting = {name for name, one in collectors().items() if PortCounters in one.yields}
    together = platforms()[platform].ports  # answers that count too
    counting |= {name for name, asked in applicable(Role.LEAF, platform).items() if asked[0] in together}
    changed = [key for key, one in second.items() if one.facts is not first[key].facts]
    assert [key for key in changed if key[1] not in counting] == []
    site.director.plant(Fault(CauseKind.CABLE_SWAP))
    for _ in range(4):
        site.wait(60)
        mine, theirs = read(keeping), read(fresh)
        assert mine.keys() == theirs.keys()
        for key, one in mine.items():
            assert [one.aged(fact) for fact in one.facts] == list(theirs[key].facts), key
            assert one.error == theirs[key].error
        assert any(one.facts is not second[key].facts for key, one in mine.items())
