"""Reading takes time as the answer is long, and no more than it may; no mutation of an answer breaks its reader.

Each recorded answer gets 80,000 hostile characters, of which a reader that goes back over what it has read, or copies
it, takes sixteen times as long as of a quarter: the time that the thread computes is compared, `tests.patience`.
"""

import asyncio
import json
import random
import re
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from benchmarks.attacks.mutations import RECORDINGS, mutated
from collector import collectors
from tests.draws import draws
from tests.each import each
from tests.patience import grows_with
from truerail.errors import QueryLimitError, ReaderFaultError, TooMuchError, UnreadableError
from truerail.model import Device, Fact
from truerail.model.answer_limits import LONGEST_LINE, Work

GPU = Device("gpu-001")
NAMES = sorted(collectors())
QUARTER = 20_000
_WIDTH, _BLANKS = LONGEST_LINE - 1_000, 500
"""Of lines and of runs of blanks that are read: longer ones are refused at once."""
LINES = (
    *(" " * _BLANKS + "x", "\t" * _BLANKS + "1", "", "[", "(", '"', "'", "a", "1", ":", "-", "=", ".", "<a>", "{"),
    *("a ", "1 ", "- -- ", "a: ", "a=1 ", "a:1,", "/", "|", "#", "(a", "1.", "ff:", '{"a":', "\\"),
)
"""What fills a line."""
SHAPES = [*range(2 * len(LINES)), "row", "half a row", "the answer"]


def recorded(name: str) -> list[str]:
    """The answers of a collector that can be read."""
    return [
        path.with_name("answer.txt").read_bytes().decode() for path in sorted((RECORDINGS / name).glob("*/facts.json"))
    ]


def hostile(answer: str, shape: int | str, characters: int, width: int = _WIDTH) -> str:
    """So many characters of one shape: long lines, short ones, or what the answer itself has."""
    rows = [row for row in answer.split("\n") if row.strip()] or ["x"]
    row = max(rows, key=lambda row: len(row) if len(row) < _WIDTH // 2 else 0)[: _WIDTH // 2]
    if isinstance(shape, int):
        fill = LINES[shape // 2]
        unit = fill * (width // max(1, len(fill)) if shape % 2 else 1) + "\n"
        unit = unit if len(unit.strip()) > 0 else "x\n" + unit * 30
    else:
        half = row[: len(row) // 2 + 1]
        unit = {"row": f"{row}\n", "half a row": half * (width // len(half)) + "\n", "the answer": f"{answer}\n"}[shape]
    return unit * (characters // len(unit) + 1)


def spoiled(answer: str, spot: int, more: str) -> str:
    """The answer with more above it, between two of its lines, or below it."""
    rows = answer.split("\n")
    at = (0, len(rows) // 2, len(rows) - 1)[spot % 3]
    return "\n".join((*rows[:at], more, *rows[at:]))


def read(name: str, answer: str) -> tuple[Fact, ...] | None:
    """The facts; None where the answer is refused in the reader's own words."""
    try:
        return collectors()[name].read(answer, GPU)
    except ReaderFaultError:
        raise
    except UnreadableError:
        return None


def _cases() -> Iterable[tuple[str, int, int | str, int]]:
    number = 0
    for name in NAMES:
        for case in range(0, len(recorded(name)), draws(4, 1)):
            for _ in range(draws(1, 6)):
                number += 1
                yield name, case, SHAPES[number * 7 % len(SHAPES)], number // 7


@each("name, case, shape, spot", _cases, ids=str)
def test_reading_takes_time_as_the_answer_is_long(name: str, case: int, shape: int | str, spot: int) -> None:
    answer = recorded(name)[case]
    long = 4 * QUARTER if collectors()[name].long_lines else _WIDTH
    grows_with(lambda k: read(name, spoiled(answer, spot, hostile(answer, shape, k * QUARTER, min(long, k * QUARTER)))))


@each("name", NAMES)
def test_no_mutation_of_an_answer_breaks_its_reader(name: str) -> None:
    drawn = random.Random(name)
    for _ in range(draws(100, 7_000)):
        read(name, mutated(name, drawn))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("x: 1\n" * 900_000, "an answer of 4.3 MB, not read: 4 MB are the most"),
        ("x: 1\n" + "\n" * 1_100 + "y: 2\n", "more than 512 blanks in a row"),
        ("x: 1\n" + " \n" * 600 + "y: 2\n", "more than 512 blanks in a row"),
        ("x: 1\n" * 2_000 + "y" * 9_000 + "\nz: 3\n", "line 2001: a line of 9,000 characters"),
        ("x: 1\n" * 2_000 + "y" * 9_000, "line 2001: a line of 9,000 characters"),
    ],
)
def test_what_no_answer_of_a_device_is(answer: str, why: str) -> None:
    with pytest.raises(TooMuchError, match=re.escape(why)):
        collectors()["host_facts"].read(answer, GPU)


def test_a_document_in_one_line_and_the_lines_of_a_scheduler_are_as_long_as_they_are() -> None:
    links = json.dumps([{"ifname": f"eth{number}", "flags": ["UP"]} for number in range(1_000)])
    for answer in (links, f"root@gpu-001:~# ip -j link\n{links}\n"):
        assert len(read("net_link", answer) or ()) == 1_000
    nodes = ",".join(f"gpu-{number}" for number in range(2_000))
    assert len(read("slurm_topology", f"SwitchName=s1 Level=0 Nodes={nodes}\n") or ()) == 1


def _backtracking(answer: str, device: Device) -> tuple[Fact, ...]:
    """Takes twice as long for each character more, all of it in one search."""
    assert re.search(r"(?:a+)+$", answer) is None
    return ()


def test_reading_that_takes_too_long_is_ended_within_a_search_and_on_an_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("truerail.model.answer_limits.MOST_SECONDS", 0.2)
    endless = replace(collectors()["net_link"], parse=_backtracking)

    async def on_a_loop() -> None:
        with pytest.raises(TooMuchError, match=r"it took more than 0\.2 s to read"):
            endless.read("a" * 60 + "b\n", GPU)  # none is too short

    for _ in range(2):
        asyncio.run(on_a_loop())
    assert read("net_link", '[{"ifname": "eth0", "flags": []}]' + " " * 400 + "\n" * 100)


def _ticking(answer: str, device: Device) -> tuple[Fact, ...]:
    """Goes on in small steps."""
    while True:
        answer.find("x")


def test_reading_that_takes_too_long_is_ended_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.model.answer_limits.MOST_SECONDS", 0.2)
    links = json.dumps([{"ifname": f"eth{number}", "flags": ["UP"]} for number in range(1_000)])
    endless = replace(collectors()["net_link"], parse=_ticking)
    with ThreadPoolExecutor(1) as threads:
        for _ in range(2):
            with pytest.raises(TooMuchError, match=r"it took more than 0\.2 s to read"):
                threads.submit(endless.read, "x", GPU).result()
            assert len(threads.submit(read, "net_link", links).result() or ()) == 1_000


def test_the_time_of_an_answer_ends_nothing_else() -> None:
    """A question that reads an answer is ended as a whole, though the reader's own time is not up."""
    reading = threading.Event()

    def tick(answer: str, device: Device) -> tuple[Fact, ...]:
        reading.set()
        return _ticking(answer, device)

    endless = replace(collectors()["net_link"], parse=tick)
    question = Work(lambda: endless.read("x", GPU), lambda: QueryLimitError("given up"))
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(question)
        reading.wait()
        question.end()
        with pytest.raises(QueryLimitError, match="given up"):
            asked.result()
