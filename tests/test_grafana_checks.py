"""The dashboards, checked: conventions, PromQL, Grafana's own types, and what a real Prometheus answers."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from dashboards.check import types
from dashboards.check.__main__ import main
from dashboards.check.boards import Board, filled, load
from dashboards.check.executed import silent
from dashboards.check.house import house
from dashboards.check.lint import EXCEPTIONS, RULES, lint
from dashboards.grafana.boards import BOARDS as CODE
from dashboards.rules import GROUPS
from tests.real import give_up
from tests.watched_fabric import scraped
from truerail.outputs.metrics.declared import CATALOGUE

BOARDS = load()
KNOWN = {*CATALOGUE, *(record.name for group in GROUPS for record in group.records)}
LINTER = {
    "template-datasource-rule", "template-job-rule", "template-instance-rule", "template-label-promql-rule",
    "template-on-time-change-reload-rule", "panel-datasource-rule", "panel-title-description-rule",
    "panel-units-rule", "panel-no-targets-rule", "target-logql-rule", "target-logql-auto-rule", "target-promql-rule",
    "target-rate-interval-rule", "target-job-rule", "target-instance-rule", "target-counter-agg-rule",
    "uneditable-dashboard-rule",
}  # fmt: skip
"""Every rule of dashboard-linter: https://github.com/grafana/dashboard-linter/blob/main/docs/index.md"""


def named(name: str) -> Board:
    return next(board for board in BOARDS if board.uid == f"truerail-{name}")


def changed(change: Callable[[dict[str, Any]], object], name: str = "service") -> Board:
    """A board that somebody broke. `change` gets its JSON."""
    board = named(name)
    copy = deepcopy(dict(board.json))
    change(copy)
    return Board(board.file, copy)


def panel(board: dict[str, Any]) -> dict[str, Any]:
    """The first panel that asks something."""
    return next(one for one in board["panels"] if one.get("targets"))


def variable(board: dict[str, Any], name: str = "fabric") -> dict[str, Any]:
    return next(one for one in board["templating"]["list"] if one["name"] == name)


def mark(board: dict[str, Any]) -> dict[str, Any]:
    """The first annotation."""
    found: dict[str, Any] = board["annotations"]["list"][0]
    return found


def asks(expr: str) -> Callable[[dict[str, Any]], object]:
    return lambda board: panel(board)["targets"][0].update(expr=expr)


def test_every_board_is_there() -> None:
    assert [board.uid for board in BOARDS] == sorted(f"truerail-{one.name}" for one in CODE)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_a_board_keeps_the_conventions(board: Board) -> None:
    assert [str(complaint) for complaint in lint(board)] == []


def test_the_boards_keep_our_own_promises() -> None:
    assert [str(complaint) for complaint in house(BOARDS, KNOWN)] == []


def test_every_rule_of_the_linter_is_applied_or_left_out_for_a_reason() -> None:
    assert {*RULES, *EXCEPTIONS} == LINTER
    assert not RULES.keys() & EXCEPTIONS.keys()


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("template-datasource-rule", lambda b: variable(b, "datasource").update(label="Source")),
        ("template-label-promql-rule", lambda b: variable(b).update(query={"query": "fabrics()"})),
        ("template-label-promql-rule", lambda b: variable(b).update(query="label_values(up{, fabric)")),
        ("template-on-time-change-reload-rule", lambda b: variable(b).update(refresh=1)),
        ("panel-datasource-rule", lambda b: panel(b).update(datasource={"type": "prometheus", "uid": "mine"})),
        ("panel-datasource-rule", lambda b: panel(b)["targets"][0].update(datasource={"type": "loki"})),
        ("panel-title-description-rule", lambda b: panel(b).update(description="")),
        ("panel-units-rule", lambda b: panel(b)["fieldConfig"]["defaults"].update(unit="furlongs")),
        ("panel-no-targets-rule", lambda b: panel(b).update(targets=[])),
        ("panel-datasource-rule", lambda b: mark(b).update(datasource={"type": "loki"})),
        ("target-promql-rule", lambda b: mark(b).update(expr="truerail_cause_info{")),
        ("target-promql-rule", asks('up{fabric="$fabric"')),
        ("target-promql-rule", asks('up{fabric="$fabrik"}')),
        ("target-rate-interval-rule", asks('rate(up{fabric="$fabric"}[5m])')),
        ("target-counter-agg-rule", asks('sum(truerail_collector_rounds_total{fabric="$fabric"})')),
        ("target-counter-agg-rule", asks('delta(truerail_collector_rounds_total{fabric="$fabric"}[5m])')),
        ("uneditable-dashboard-rule", lambda b: b.update(editable=True)),
    ],
)  # fmt: skip
def test_a_broken_convention_is_reported(rule: str, change: Callable[[dict[str, Any]], object]) -> None:
    assert {complaint.rule for complaint in lint(changed(change))} == {rule}


def test_every_convention_can_be_broken() -> None:
    marks = test_a_broken_convention_is_reported.pytestmark  # type: ignore[attr-defined]  # of the decorator above
    assert {rule for rule, _ in marks[0].args[1]} == RULES.keys()


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("truerail-identity-rule", lambda b: b.update(id=7)),
        ("truerail-identity-rule", lambda b: b.update(tags=[])),
        ("truerail-fabric-rule", asks("sum(truerail_links)")),
        ("truerail-fabric-rule", lambda b: mark(b).update(expr="truerail_cause_info")),
        ("truerail-grid-rule", lambda b: panel(b)["gridPos"].update(x=23)),
        ("truerail-grid-rule", lambda b: panel(b).update(id=b["panels"][2]["id"])),
        ("truerail-names-rule", lambda b: panel(b).update(title=b["panels"][2]["title"])),
        ("truerail-variables-rule", lambda b: b["templating"]["list"].append({**variable(b), "name": "spare"})),
        ("truerail-unknown-rule", asks('truerail_links{fabric="$fabric"} or vector(0)')),
        ("truerail-unknown-rule", asks('delta(truerail_links{fabric="$fabric"}[$__interval])')),
        ("truerail-metrics-rule", asks('truerail_cables{fabric="$fabric"}')),
        ("truerail-links-rule", lambda b: b["links"].append({"url": "/d/truerail-nowhere"})),
    ],
)  # fmt: skip
def test_a_broken_promise_is_reported(rule: str, change: Callable[[dict[str, Any]], object]) -> None:
    others = [board for board in BOARDS if board.uid != "truerail-service"]
    assert {complaint.rule for complaint in house([*others, changed(change)], KNOWN)} == {rule}


def test_two_boards_with_one_address_are_reported() -> None:
    assert {one.summary for one in house([*BOARDS, BOARDS[0]], KNOWN)} == {
        "2 dashboards have this uid",
        "2 dashboards have this title",
    }


UNTYPED: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda b: b.update(schemaVersion="42"), "'string' is not assignable to type 'number'"),
    (lambda b: b.update(colour="red"), "colour"),
    (lambda b: mark(b).update(iconColour="red"), "iconColour"),
    (lambda b: panel(b)["fieldConfig"]["defaults"]["thresholds"].update(mode="thresolds"), "thresolds"),
    (lambda b: panel(b)["options"].update(grafMode="area"), "grafMode"),
]
"""What breaks a board, and what the compiler says of it."""


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Conventions and types of several boards: to read Grafana's types is most of what the compiler does."""
    if not (types.NODE / "bin/node").exists():
        give_up("npm @grafana/schema is not installed: requirements/setup.sh deploy")
    (tmp_path / "editable.json").write_text(json.dumps(changed(lambda one: one.update(editable=True)).json))
    for number, (change, _) in enumerate(UNTYPED):
        (tmp_path / f"untyped-{number}.json").write_text(json.dumps(changed(change).json))
    assert main([str(tmp_path)]) == 1
    reported = capsys.readouterr().err
    assert "editable.json: truerail / truerail itself: can be edited (uneditable-dashboard-rule)" in reported
    assert "editable.json.ts" not in reported
    for number, (_, summary) in enumerate(UNTYPED):
        refused = [line for line in reported.splitlines() if line.startswith(f"untyped-{number}.json.ts(")]
        assert any(summary in line for line in refused), summary


def test_our_boards_are_of_grafanas_types_and_without_complaints(capsys: pytest.CaptureFixture[str]) -> None:
    if not (types.NODE / "bin/node").exists():
        give_up("npm @grafana/schema is not installed: requirements/setup.sh deploy")
    assert main([]) == 0
    assert capsys.readouterr().out == f"{len(BOARDS)} dashboards, 0 complaints\n"


def test_variables_are_filled_in() -> None:
    assert (
        filled('a{b="$b", c=~"${c:regex}"}[$__range]', {"b": "1", "c": "2", "__range": "1h"}) == 'a{b="1", c=~"2"}[1h]'
    )
    with pytest.raises(LookupError, match="c"):
        filled("$c", {})


def test_every_query_is_answered_by_a_real_prometheus(tmp_path: Path) -> None:
    """Every panel has series to show on a fabric with faults and traffic; what has none is reported, as what is
    refused."""
    broken = changed(asks("rate(truerail_links)"))
    empty = changed(asks('truerail_links{fabric="$fabric", pod="nowhere"}'))
    many = changed(asks('truerail_links{fabric="$fabric"}'))
    wordless = changed(
        lambda b: variable(b, "pod").update(query={"query": "label_values(truerail_devices, pods)"}), "day1"
    )
    unmarked = changed(lambda b: mark(b).update(expr='truerail_cause_info{fabric="$fabric", kind="none"}'))
    with scraped(tmp_path) as source:
        reported = [str(complaint) for board in BOARDS for complaint in silent(board, source)]
        wrong = [
            complaint.summary
            for board in (broken, empty, many, unmarked, wordless)
            for complaint in silent(board, source)
        ]
    assert reported == []
    assert [summary.partition(":")[0] for summary in wrong] == [
        "A",
        "A gives no series, whatever is chosen",
        "A gives 32 figures without their names",
        "A gives no series, whatever is chosen",
        "the variable pod lists nothing",
    ]
