"""What is declared is what is shown, and the reference tells all of it. And the targets of /sd."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from prometheus_client.parser import text_string_to_metric_families

from docs.catalogues import LABELS, metrics_page
from rules import rules
from tests.each import each
from tests.metrics_pages import page, published, with_traffic
from tests.probed_fabric import with_probes
from tests.small_fabric import World, make_plan
from truerail.analysis.published import Published
from truerail.model import Reading, SchedulerJob, Snapshot
from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Severity
from truerail.model.life import Life, LifeState
from truerail.model.open_fault import OpenFault
from truerail.outputs.metrics import sd
from truerail.outputs.metrics.declared import CATALOGUE, PREFIX, Declared, Kind
from truerail.outputs.metrics.fault_series import MOST
from truerail.simulator import Noise, Shape, simulate

_OF_THE_SERVICE = """
    evaluations_total evaluations_failed_total full_parse_differences_total reader_faults_total devices_in_flight
    pollers pollers_running poller_restarts_total poller_messages_dropped_total agents_running agents_silent
    agent_messages_dropped_total bus_connected bus_reconnects_total bus_store_losses_total bus_other_schema_total
    bus_copies_missing bus_zones_without_poller bus_clock_offset_seconds
    tls_certificate_not_after_timestamp_seconds history_failing history_writes_total history_lost_minutes_total
    history_waiting_rows history_unreadable_files history_bytes notifications_sent_total
    notifications_failed_total notifications_lost_total notifications_queue_length otlp_exports_total
    otlp_exports_failed_total otlp_export_points gate_files gate_files_failing otlp_export_duration_seconds
    probe_interval_seconds probe_age_seconds probe_duration_seconds probe_runs_total probe_runs_failed_total
    probe_packets_total
"""
SHOWN_ELSEWHERE = {f"{PREFIX}service_{name}" for name in _OF_THE_SERVICE.split()} | {
    f"{PREFIX}view_{name}" for name in ("age_seconds", "write_seconds", "written_bytes")
}
SHOWN_ELSEWHERE |= {f"{PREFIX}judge_{name}" for name in ("leader", "epoch")}
"""Figures of the service that the tests' counters do not have."""


def rich() -> Published:
    """A fabric that has something to say of everything."""
    simulation = simulate(Shape(hosts=12, rails=4, pods=2, planes=2, spines=2, uplinks=4), 4, Noise(unreachable=0.1))
    seen = simulation.snapshot()
    job = SchedulerJob("7", 7, "train", "ann", "RUNNING", tuple(simulation.plan.devices), 96)
    publication = published(
        simulation.plan,
        with_probes(simulation.plan, Snapshot(seen.at, [*seen.readings, Reading("s", "slurm_jobs", seen.at, (job,))])),
    )
    at = publication.at
    lives = {finding.id: Life(finding.id, LifeState.NEW, at, at, at) for finding in publication.evaluation.findings}
    return with_traffic(
        replace(publication, lives=lives, open_faults=(*many(at, CauseKind.LINK_DOWN), *many(at, None)))
    )


def many(at: datetime, kind: CauseKind | None) -> Iterator[OpenFault]:
    """More open faults than have series of their own."""
    for number in range(MOST + 3):
        one = str(number)
        yield OpenFault(
            one, kind, "" if kind else "CAB004", Severity.WARNING, "", one, "s", "a", (one,), "r1", "2", at, 8, 1
        )


def test_every_metric_shown_is_declared_and_every_declared_one_is_shown() -> None:
    shown = {family.name: family for family in text_string_to_metric_families(page(rich()))}
    names = {name + "_total" if family.type == "counter" else name for name, family in shown.items()}
    assert names == CATALOGUE.keys() - SHOWN_ELSEWHERE
    for name, family in shown.items():
        declared = CATALOGUE[name + "_total" if family.type == "counter" else name]
        assert family.type == declared.kind.value
        assert family.documentation == declared.summary
        labels = {label for sample in family.samples for label in sample.labels}
        assert labels <= set(declared.labels), name


@each("metric", CATALOGUE.values())
def test_a_declaration_keeps_the_conventions(metric: Declared) -> None:
    assert metric.name.startswith(PREFIX)
    assert metric.name.endswith("_total") is (metric.kind is Kind.COUNTER)
    assert not metric.name.endswith("_seconds") or metric.unit == "seconds"
    assert metric.name.endswith("_seconds") or metric.unit != "seconds"
    assert set(metric.labels) <= LABELS.keys()
    assert metric.summary.endswith(".")
    promql_parser.parse(metric.query)
    assert metric.name in metric.query or metric.name.removesuffix("_read") in metric.query


def test_no_label_is_explained_that_no_metric_has() -> None:
    assert LABELS.keys() == {label for metric in CATALOGUE.values() for label in metric.labels}


def test_the_reference_tells_of_every_metric_and_label() -> None:
    page_of_all = metrics_page()
    for name in (*CATALOGUE, *LABELS):
        assert f"`{name}`" in page_of_all
    rows = [line for line in page_of_all.splitlines() if line.startswith("| ")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {3, 7}, "cells do not break the tables"


def test_the_page_that_is_kept_is_current() -> None:
    kept = Path(__file__).resolve().parent.parent / "docs/metrics.md"
    assert kept.read_text(encoding="utf-8") == metrics_page(), "run `make docs`"


def test_rules_are_named() -> None:
    shown = {family.name: family for family in text_string_to_metric_families(page(rich()))}
    reported = {sample.labels["rule"]: sample.labels["name"] for sample in shown["truerail_rule_info"].samples}
    assert reported == {code: rule.name for code, rule in rules().items()}


def of_pods(*pods: str) -> Published:
    plan = make_plan(2, 2)
    names = list(plan.devices)
    placed = {name: replace(plan.devices[name], pod=pods[n % len(pods)]) for n, name in enumerate(names)}
    plan = replace(plan, devices=placed)
    return published(plan, World(plan).snapshot())


def params(targets: list[dict[str, Any]]) -> list[str | None]:
    return [target["labels"].get("__param_pod") for target in targets]


def test_own_targets_are_one_for_each_pod_and_one_for_the_rest() -> None:
    targets = sd(of_pods("p10", "p2"), "https://rails.example:8443/truerail/")
    assert params(targets) == ["-", "p2", "p10"]
    assert all(target["targets"] == ["rails.example:8443"] for target in targets)
    assert {target["labels"]["__metrics_path__"] for target in targets} == {"/truerail/metrics"}
    assert {target["labels"]["__scheme__"] for target in targets} == {"https"}
    assert len({target["labels"]["instance"] for target in targets}) == 3
    json.dumps(targets)


@pytest.mark.parametrize("publication", [None, of_pods("")], ids=["before the first evaluation", "without pods"])
def test_without_pods_there_is_one_target(publication: Published | None) -> None:
    (target,) = sd(publication, "http://127.0.0.1:8080")
    assert target == {"targets": ["127.0.0.1:8080"], "labels": {"__scheme__": "http", "__metrics_path__": "/metrics"}}


def test_hosts_are_targets_that_carry_our_labels() -> None:
    publication = of_pods("p1")
    first = replace(publication.plan.devices["h1"], address="10.0.0.1", rack="r1", unit=4)
    second = replace(publication.plan.devices["h2"], address="2001:db8::1")
    devices = {**publication.plan.devices, "h1": first, "h2": second}
    evaluation = replace(publication.evaluation, plan=replace(publication.plan, devices=devices))
    moved = replace(publication, evaluated=replace(publication.evaluated, evaluation=evaluation))
    one, other = sd(moved, "http://127.0.0.1:8080", job="node", port=9100)
    assert one["targets"] == ["10.0.0.1:9100"]
    assert one["labels"] == {
        "fabric": "lab",
        "pod": "p1",
        "host": "h1",
        "job": "node",
        "__meta_truerail_rack": "r1",
        "__meta_truerail_unit": "4",
        "__meta_truerail_address": "10.0.0.1",
    }
    assert other["targets"] == ["[2001:db8::1]:9100"]
    assert "__meta_truerail_rack" not in other["labels"]


def test_a_host_without_address_is_asked_by_its_name() -> None:
    assert sd(of_pods("p1"), "http://x", port=9400)[0]["targets"] == ["h1:9400"]
    assert "job" not in sd(of_pods("p1"), "http://x", port=9400)[0]["labels"]


def test_before_the_first_evaluation_no_host_is_known() -> None:
    assert sd(None, "http://x", job="node", port=9100) == []
