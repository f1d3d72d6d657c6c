"""The devices of the load benchmark answer as a fabric does in which nothing is wrong, and whose counters rise."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.fleet.answers import AT_SECONDS, Answers, prepare
from benchmarks.fleet.server import asked
from collector import collectors
from truerail.model import Plan, PortCounters
from truerail.model.collector import Collector
from truerail.simulator import Shape
from truerail.transport.framing import script


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Plan, Answers]]:
    path: Path = tmp_path_factory.mktemp("fleet") / "answers.sqlite"
    plan = prepare(Shape(hosts=16), path)
    with closing(Answers(path)) as answers:
        yield plan, answers


def read(fleet: tuple[Plan, Answers], device: str, collector: Collector, seconds: float) -> dict[str, dict[str, int]]:
    """The counters of a device's ports."""
    plan, answers = fleet
    text = next(found for one in collector.ask if (found := answers.answer(device, one.text, seconds)))
    facts = collector.read(text.decode(), plan.devices[device])
    return {
        f.port: {str(c): v for c, v in zip(f.counters, f.values, strict=True)}
        for f in facts
        if isinstance(f, PortCounters)
    }


@pytest.mark.parametrize(("device", "name"), [("gpu-001", "nic_counters"), ("leaf-0", "port_counters")])
def test_counters_rise_at_the_pace_of_the_traffic(fleet: tuple[Plan, Answers], device: str, name: str) -> None:
    collector = collectors()[name]
    began, middle, later = (read(fleet, device, collector, seconds) for seconds in (0, 30, AT_SECONDS[1] * 10))
    assert began.keys() == later.keys()
    risen = 0
    for port, counts in began.items():
        for counter, value in counts.items():
            assert value <= middle[port][counter] <= later[port][counter]
            risen += value < middle[port][counter] < later[port][counter]
    assert risen


def test_answers_that_change_by_themselves_alternate_and_others_stay(fleet: tuple[Plan, Answers]) -> None:
    _, answers = fleet
    heard = [answers.answer("gpu-001", "lldpctl -f json0", seconds) for seconds in (0, 1, 2)]
    assert heard[0] == heard[2] != heard[1]
    assert answers.answer("gpu-001", "rdma link", 0) == answers.answer("gpu-001", "rdma link", 1)
    assert answers.answer("gpu-001", "nonesuch", 0) is None


def test_the_server_finds_the_commands_in_the_script() -> None:
    commands = [command.text for collector in collectors().values() for command in collector.ask]
    assert asked(script(commands)) == tuple(commands)
