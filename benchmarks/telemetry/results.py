"""What was measured so far, and the file that keeps it, so that a long measurement can be stopped and go on."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.telemetry.days import Alarm
from benchmarks.telemetry.scoring import Score
from truerail.model import CauseKind

HELD_OUT = 150
"""Seeds below this were looked at while rules and table were written; those above were not."""
FIRST_DAY = 220
"""Days with smaller numbers were looked at while rules were written; none of them is measured."""
_ROOT = Path(__file__).parents[2]
_MEASURED = (
    "truerail/model",
    "truerail/analysis",
    "truerail/causes",
    "truerail/simulator",
    "truerail/rounds.py",
    "rules",
    "benchmarks/telemetry",
)
_PRESENTED = {Path(__file__).with_name(name) for name in ("report.py", "targets.py", "measure.py")}
"""What changes the page, not the results."""


@dataclass(slots=True)
class Results:
    """Runs by kind of fault, and days without one with what was said of them."""

    by_kind: dict[str, Score] = field(default_factory=dict)
    development: dict[str, Score] = field(default_factory=dict)
    held_out: dict[str, Score] = field(default_factory=dict)
    seeds: set[int] = field(default_factory=set)
    days: dict[int, Sequence[Alarm]] = field(default_factory=dict)

    def add_run(self, seed: int, kind: str, score: Score) -> None:
        """Adds a run."""
        self.seeds.add(seed)
        for batch in (self.by_kind, self.development if seed < HELD_OUT else self.held_out):
            batch.setdefault(kind, Score()).add(score)

    @property
    def alarms(self) -> list[Alarm]:
        """What was said on all days, in their order."""
        return [alarm for number in sorted(self.days) for alarm in self.days[number]]


class State:
    """Results in a file of JSON lines. Lines that other code measured do not count: what they say may be no more so."""

    def __init__(self, path: Path | None) -> None:
        self.results = Results()
        self._path, self._code = path, code_digest()
        if path and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def add_run(self, seed: int, kind: str, score: Score) -> None:
        """Adds a run and keeps it."""
        self.results.add_run(seed, kind, score)
        self._keep({"seed": seed, "kind": kind, "score": {name: getattr(score, name) for name in Score.__slots__}})

    def add_day(self, number: int, alarms: Sequence[Alarm]) -> None:
        """Adds a day and keeps it."""
        self.results.days[number] = alarms
        self._keep({"day": number, "alarms": [alarm.as_dict() for alarm in alarms]})

    def _keep(self, line: dict[str, Any]) -> None:
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"code": self._code, **line}) + "\n")

    def _take(self, line: dict[str, Any]) -> None:
        if line["code"] != self._code:
            return
        if "day" in line:
            self.results.days[line["day"]] = [Alarm(**alarm) for alarm in line["alarms"]]
        elif line["seed"] not in self.results.seeds:
            said = {CauseKind(kind): count for kind, count in line["score"].pop("false").items()}
            self.results.add_run(line["seed"], line["kind"], Score(**line["score"], false=Counter(said)))


def code_digest() -> str:
    """A digest of all code that results depend on."""
    digest = sha256()
    for place in _MEASURED:
        path = _ROOT / place
        for file in [path] if path.is_file() else sorted(path.glob("**/*.py")):
            if file not in _PRESENTED:
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
