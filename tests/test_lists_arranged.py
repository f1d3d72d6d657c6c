"""Lists that are sorted, searched, entered at an offset, and downloaded as CSV."""

import csv
import io
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.api_client import Api, problem_of
from tests.each import each
from tests.fake_tower import FakeTower, published
from truerail.model.life import Mute, MuteKind
from truerail.model.names import natural_key
from truerail.views.device import port_lines
from truerail.views.lists import cable_lines, cause_rows, device_lines, finding_lines
from truerail.views.pieces import MoveLine, StateCount
from truerail.web.listing import to_csv

KEYS = {
    "devices": device_lines.keys,
    "cables": cable_lines.keys,
    "ports": port_lines.keys,
    "findings": finding_lines.keys,
    "causes": cause_rows.keys,
}
NAMES = {"device", "pod", "rack", "subject", "planned", "label", "platform", "rule", "id"}
STATES = ["wrong", "missing", "unknown", "right"]
ROLES = ["host", "leaf", "spine", "superspine"]
SEVERITIES = ["info", "warning", "critical"]
FACING = ["down", "up", "free"]
VERIFIED = ["none", "device only", "one end", "both ends"]


def value(name: str, column: str, row: dict[str, Any]) -> Any:
    """What a row is sorted by, from its JSON; None where there is no value."""
    one = {**row, **row.get("count", {})}[column]
    if isinstance(one, list):
        return len(one)
    for words, ranked in (("role", ROLES), ("severity", SEVERITIES), ("facing", FACING), ("verified", VERIFIED)):
        if column == words and one is not None:
            return ranked.index(one)
    if column == "state" and name in ("cables", "ports") and one is not None:
        return STATES.index(one)
    if column == "muted":
        return one is not None
    return natural_key(one) if column in NAMES and one else one or (None if isinstance(one, str) else one)


@each("name, column", [(name, column) for name, keys in KEYS.items() for column in keys])
def test_a_list_is_sorted_by_a_column_both_ways(api: Api, name: str, column: str) -> None:
    plain = api.json(name, limit=1000)["items"]
    for sort, turned in ((column, False), (f"-{column}", True)):
        rows = api.json(name, limit=1000, sort=sort)["items"]
        assert len(rows) == len(plain)
        assert all(row in plain for row in rows[:50])
        if column == "port":
            assert rows == (plain[::-1] if turned else plain)
            continue
        values = [value(name, column, row) for row in rows]
        known = [one for one in values if one is not None]
        assert values[len(known) :] == [None] * (len(values) - len(known)), "those without a value come last"
        assert known == sorted(known, reverse=turned)


def test_a_column_that_nothing_is_sorted_by_is_named(api: Api) -> None:
    for name in KEYS:
        assert "'colour'" in problem_of(api.get(name, sort="-colour"), 400)["detail"]


def test_a_search_finds_rows_with_all_words_in_any_case(api: Api) -> None:
    rows = api.json("cables", text="GPU-00 leaf-1/")["items"]
    assert rows
    assert all("gpu-00" in row["subject"] and "leaf-1/" in row["planned"] for row in rows)
    assert api.json("devices", text="leaf p2")["total"] == 4
    ports = api.json("ports", text="gpu-001")["items"]
    assert {row["peer_planned"].partition("/")[0] for row in ports} == {"gpu-001"}
    finding = published().evaluation.findings[0]
    assert finding.id in [row["id"] for row in api.json("findings", text=finding.subject)["items"]]
    assert api.json("causes", text="no such thing")["items"] == []
    assert api.json("causes", text="swap")["items"][0]["kind"] == "cable-swap"


def test_an_offset_enters_a_list_and_a_cursor_goes_on(api: Api) -> None:
    rows = api.json("cables", limit=1000, sort="-subject")["items"]
    part = api.json("cables", limit=5, offset=40, sort="-subject")
    assert part["items"] == rows[40:45]
    following = api.json("cables", limit=5, sort="-subject", cursor=part["next"])
    assert following["items"] == rows[45:50]
    assert api.json("cables", offset=10_000)["items"] == []


def test_causes_devices_and_ports_are_narrowed(api: Api) -> None:
    whole = api.json("causes")["items"]
    assert {row["kind"] for row in api.json("causes", kind="link-down,cable-move")["items"]} <= {
        "link-down",
        "cable-move",
    }
    critical = [row["key"] for row in whole if row["severity"] == "critical"]
    assert [row["key"] for row in api.json("causes", severity="critical")["items"]] == critical
    assert api.json("causes", state="new")["total"] == len(whole)
    assert "link-up" in problem_of(api.get("causes", kind="link-up"), 400)["detail"]
    assert {row["state"] for row in api.json("ports", state="wrong")["items"]} == {"wrong"}
    read = api.json("devices", read="true")["total"]
    assert read + api.json("devices", read="false")["total"] == len(published().plan.devices)


def test_muted_causes_are_told_from_the_others() -> None:
    shown = published()
    every = dict.fromkeys((f.id for f in shown.evaluation.findings), Mute(MuteKind.ACKNOWLEDGED, 1, "a", "b", None))
    with Api(FakeTower(replace(shown, mutes=every))) as api:
        assert api.json("causes", muted="false")["items"] == []
        assert api.json("causes", muted="true")["total"] == len(shown.evaluation.causes)


def table(text: str) -> list[dict[str, str]]:
    """CSV as rows."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", KEYS)
def test_a_csv_has_all_rows_of_the_question(api: Api, name: str) -> None:
    answer = api.get(name, format="csv", limit=3)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
    rows = api.json(name, limit=1000)["items"]
    assert len(table(answer.text)) == len(rows)
    key = next(key for key in ("subject", "device", "key") if key in rows[0])
    assert [row[key] for row in table(answer.text)] == [row[key] or "" for row in rows]


def test_a_csv_has_the_columns_that_are_asked_for(api: Api) -> None:
    rows = table(api.get("devices", format="csv", columns="wrong,device", sort="-wrong", role="host").text)
    assert list(rows[0]) == ["wrong", "device"]
    shown = api.json("devices", sort="-wrong", role="host", limit=1000)["items"]
    assert [(row["wrong"], row["device"]) for row in rows] == [(str(r["count"]["wrong"]), r["device"]) for r in shown]
    assert "'colour'" in problem_of(api.get("devices", format="csv", columns="colour"), 400)["detail"]
    assert api.get("causes", format="csv", columns="key,kind", text="no such thing").text == "key,kind\r\n"


@dataclass(frozen=True)
class Row:
    """A row with every kind of cell."""

    name: str
    at: datetime
    count: StateCount
    moves: tuple[MoveLine, ...]
    names: tuple[str, ...]
    rail: int | None


def test_no_cell_starts_a_formula() -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    moves = (MoveLine("h/a", "l/1", "l/2"), MoveLine("h/b", "l/2", "l/1"))
    row = Row("=cmd|'/c calc'!A1", at, StateCount(4, 1, 2, 1, 0), moves, ("@a", "b"), None)
    (made,) = table(to_csv([row], None).decode())
    assert made["name"].startswith("'=")
    assert made["names"] == "'@a b"
    assert made["moves"] == "l/1 -> l/2; l/2 -> l/1"
    assert (made["at"], made["wrong"], made["rail"]) == (at.isoformat(), "2", "")
