"""History stores of a few rows each, written by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.patience import ENOUGH
from truerail.history.arrow_tables import from_rows
from truerail.history.history_tables import TABLES
from truerail.history.query import query_process
from truerail.history.query.query_request import Form, Limits, QueryRequest
from truerail.history.query.run_query import QueryReport, run_query
from truerail.history.ready.ready_question import ready_question
from truerail.history.store_folder import StoreFolder
from truerail.questions.moments import moment
from truerail.web.api import history_routes
from truerail.web.question_pool import LIMITS

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
Row = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def patient() -> Iterator[None]:
    """For whichever module has it: no time of a test's machine counts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_routes, "LIMITS", replace(LIMITS, seconds=10 * ENOUGH, nice=0))
        yield


def ago(hours: float) -> datetime:
    """So many hours before NOW."""
    return NOW - hours * HOUR


def store_of(path: Path, **tables: Sequence[Row]) -> Path:
    """A store with these rows: what has no end is open."""
    folder = StoreFolder(path)
    folder.create("by hand")
    for name, rows in tables.items():
        table = TABLES[name]
        ended = [row for row in rows if row.get(table.time) is not None]
        if ended:
            folder.append(table, from_rows(table, ended), NOW)
        if table.intervals:
            folder.replace_open(table, from_rows(table, [row for row in rows if row.get("ended") is None]))
    return path


def hour(device: str, port: str, hours: float, **counted: Any) -> Row:
    """One hour of counters of a NIC of rail 0 at 400 Gbit/s."""
    place = {"device": device, "port": port, "rail": 0, "role": "host", "bucket": ago(hours)}
    return place | {"seconds": 3600.0, "speed_bits_per_second": 400e9} | counted


def cable(device: str, begin: float, end: float | None, actual: str | None, state: str, **more: Any) -> Row:
    """The cable of a host's first NIC, which is planned to leaf-0/swp1, from and up to so many hours ago."""
    place = {"device": device, "port": "nic0", "rail": 0, "kind": "host"}
    planned = {"planned_device": "leaf-0", "planned_port": "swp1"}
    found = {"actual_device": actual, "actual_port": "swp1" if actual else None, "state": state}
    return place | planned | found | {"began": ago(begin), "ended": None if end is None else ago(end)} | more


def run(store: Path, sql: str, limits: Limits | None = None, form: Form = Form.TABLE) -> tuple[bytes, QueryReport]:
    """The result of SQL, from a process of its own."""
    out = BytesIO()
    report = run_query(QueryRequest(str(store), sql, form=form, limits=limits or Limits()), out)
    return out.getvalue(), report


def answer(store: Path, question: str, **given: str) -> tuple[list[Row], QueryReport]:
    """The rows of a ready-made question, asked at NOW in this process."""
    out = BytesIO()
    ready = ready_question(question)
    found = query_process.run(ready.request(str(store), given, lambda text: moment(text, NOW)), out)
    answered = orjson.loads(out.getvalue())
    assert answered["columns"] == [field.name for field in ready.columns]
    rows = [dict(zip(answered["columns"], row, strict=True)) for row in answered["rows"]]
    return rows, QueryReport(found["rows"], found["more"], begins=found["begins"], coverage=found["coverage"])
