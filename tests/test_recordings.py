"""Every recorded answer is read as its recording says: `tests/recordings/<collector>/<case>/`.

A case has `answer.txt` and either `facts.json` (what `truerail parse` prints of it) or `error.txt` (why it is refused).
`public-...` are excerpts of public texts that were once misread, with changed names; `source.txt` says whose.
`odd-...` are made up: odd cells, hostile text, wrappers, cuts, in as few lines as show it.
`TRUERAIL_REFRESH=new pytest tests/test_recordings.py` writes what new cases lack; `=1` writes all again, to be reviewed
as a diff: a new reader may take answers that others read.
"""

import json
import os
from pathlib import Path

import pytest

from collector import collectors
from tests.each import each
from truerail.errors import UnreadableError
from truerail.model import Device, Fact

RECORDINGS = Path(__file__).parent / "recordings"
EXCERPTS = ("public-", "odd-")
"""How the names of cases begin that are not a whole answer of a device."""
CASES = sorted(path for path in RECORDINGS.glob("*/*") if path.is_dir())
SELDOM = ("lag_seconds", "able_gbps", "medium", "actor_state", "partner_state", "selected", "bfd", "below")
REFRESH, NEW = (os.environ.get("TRUERAIL_REFRESH") == value for value in ("1", "new"))


def outcome(name: str, answer: Path, device: Device) -> tuple[str, str]:
    """The name of the file that holds the outcome of reading the answer, and what belongs into it."""
    asked = collectors()[name]
    try:
        facts = asked.read(answer.read_bytes().decode(), device)
    except UnreadableError as error:
        return "error.txt", f"{error}\n"
    assert {type(fact) for fact in facts} <= set(asked.yields)
    rows = ",\n".join("  " + json.dumps(_reported(fact), ensure_ascii=False) for fact in facts)
    return "facts.json", f"[\n{rows}\n]\n" if facts else "[]\n"


def _reported(fact: Fact) -> dict[str, object]:
    """A fact as an object; the age of counters, and what a link could be, where the device tells it."""
    return {key: value for key, value in fact._asdict().items() if key not in SELDOM or value is not None}


def expected(case: Path) -> dict[str, str]:
    """What the recording says, by the name of the file that says it."""
    return {path.name: path.read_text() for path in case.iterdir() if path.name in ("facts.json", "error.txt")}


@pytest.mark.parametrize("name", sorted(collectors()))
@each("case", lambda name: sorted((RECORDINGS / name).iterdir()), ids=lambda case: case.name)
def test_recording(name: str, case: Path) -> None:
    file, content = outcome(name, case / "answer.txt", Device(case.name))
    if REFRESH or (NEW and not expected(case)):
        for stale in expected(case):
            (case / stale).unlink()
        (case / file).write_text(content)
    assert expected(case) == {file: content}


@each("name", sorted(collectors()))
def test_every_collector_has_a_happy_and_an_unhappy_recording(name: str) -> None:
    outcomes = {file for case in (RECORDINGS / name).glob("*") for file in expected(case)}
    assert outcomes == {"facts.json", "error.txt"}


def test_every_recording_belongs_to_a_collector() -> None:
    assert {case.parent.name for case in CASES} <= set(collectors())
