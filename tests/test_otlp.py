"""OpenTelemetry: what a collector decodes from real requests, over HTTP and TLS, of metrics and of log records."""

import gzip
import importlib.util
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from tests.fault_scenes import CRITICAL, fault, seen
from tests.live_site import runner
from tests.metrics_pages import COUNTERS, NOW, page, published, with_traffic
from tests.patience import soon
from tests.receiving import Posts, posts
from tests.test_access_serve import certificate
from truerail.analysis.published import Published
from truerail.errors import DeliveryError, MissingExtraError
from truerail.extras import require
from truerail.model.target import Secret
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.declared import CATALOGUE
from truerail.service import otlp_points
from truerail.service.notify.fault_news import news_of
from truerail.service.notify.otlp_logs import OtlpLogChannel
from truerail.service.notify_settings import Otlp
from truerail.service.otlp_metrics import OtlpMetrics, is_wanted
from truerail.simulator import Noise, Shape, simulate

EVERYTHING = ("truerail_*",)
Point = tuple[str, tuple[tuple[str, str], ...], float]


def publication() -> Published:
    simulation = simulate(Shape(hosts=12, rails=4, pods=2, spines=2, uplinks=4), 4, Noise(), seed=3)
    return with_traffic(published(simulation.plan, simulation.snapshot()))


def metrics(settings: Otlp) -> OtlpMetrics:
    return OtlpMetrics(settings, "lab", Exposition(), lambda: COUNTERS, lambda: NOW)


def otlp(receiver: Posts, **more: Any) -> Otlp:
    return Otlp(endpoint=receiver.base, **more)


def decoded(receiver: Posts) -> list[ExportMetricsServiceRequest]:
    """The requests that are there, as the collector's own protobuf."""
    found = []
    while not receiver.got.empty():
        request = receiver.next()
        assert (request.path, request.headers["content-type"]) == ("/v1/metrics", "application/x-protobuf")
        found.append(ExportMetricsServiceRequest.FromString(gzip.decompress(request.body)))
    return found


def points(requests: list[ExportMetricsServiceRequest]) -> list[Point]:
    return sorted(
        (metric.name, tuple(sorted((one.key, one.value.string_value) for one in point.attributes)), point.as_double)
        for request in requests
        for metric in request.resource_metrics[0].scope_metrics[0].metrics
        for point in (metric.sum if metric.HasField("sum") else metric.gauge).data_points
    )


def exported(receiver: Posts, settings: Otlp, shown: Published) -> list[ExportMetricsServiceRequest]:
    """One export."""
    export = metrics(settings)
    try:
        export.evaluated(shown, resumed=True)
        soon(lambda: export.exported + export.failed)
        assert (export.exported, export.failed) == (1, 0)
    finally:
        export.close()
    return decoded(receiver)


def test_a_collector_gets_the_same_values_as_prometheus() -> None:
    shown = publication()
    with posts() as receiver:
        got = points(exported(receiver, otlp(receiver, only=EVERYTHING), shown))
    scraped = sorted(
        (sample.name, tuple(sorted(sample.labels.items())), sample.value)
        for family in text_string_to_metric_families(page(shown))
        for sample in family.samples
    )
    assert [point[:2] for point in got] == [sample[:2] for sample in scraped]
    assert [point[2] for point in got] == pytest.approx([sample[2] for sample in scraped])


def test_counters_are_cumulative_sums_and_units_are_ucum() -> None:
    with posts() as receiver:
        (request,) = exported(receiver, otlp(receiver), publication())
    (resource,) = request.resource_metrics
    attributes = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert (attributes["service.name"], attributes["service.namespace"]) == ("truerail", "lab")
    found = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    rounds = found["truerail_service_rounds_total"]
    assert (rounds.sum.is_monotonic, rounds.sum.aggregation_temporality) == (True, 2)
    assert rounds.sum.data_points[0].start_time_unix_nano <= rounds.sum.data_points[0].time_unix_nano
    assert found["truerail_evaluation_age_seconds"].unit == "s"
    assert found["truerail_devices"].unit == "{devices}"
    assert found["truerail_devices"].description == CATALOGUE["truerail_devices"].summary


def test_by_default_no_link_host_or_switch_has_a_series_but_what_is_wrong() -> None:
    shown = publication()
    with posts() as receiver:
        few = points(exported(receiver, otlp(receiver), shown))
    labels = {name for metric, found, _ in few for name, _ in found if metric != "truerail_device_findings"}
    assert labels.isdisjoint({"nic", "host", "switch", "switch_port"})
    assert {"truerail_links", "truerail_device_findings", "truerail_findings"} <= {metric for metric, *_ in few}
    assert len(few) < len(page(shown).split("\n")) / 2


def test_settings_choose_metrics() -> None:
    chosen = [
        name for name, declared in CATALOGUE.items() if is_wanted(("truerail_links*", "truerail_causes"), declared)
    ]
    assert chosen == ["truerail_links", "truerail_links_verified", "truerail_links_counted", "truerail_causes"]
    with posts() as receiver:
        got = points(exported(receiver, otlp(receiver, only=("truerail_link_state",)), publication()))
    assert {name for name, *_ in got} == {"truerail_link_state"}


def test_a_large_export_is_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_points, "PORTION", 100)
    shown = publication()
    with posts() as receiver:
        requests = exported(receiver, otlp(receiver, only=EVERYTHING), shown)
    sizes = [len(points([request])) for request in requests]
    assert set(sizes[:-1]) == {100}
    assert len(set(points(requests))) == sum(sizes)


def test_over_tls_with_a_secret_header(tmp_path: Path) -> None:
    tls = certificate(tmp_path)
    (tmp_path / "key").write_text("hunter2\n")
    headers = {"X-Api-Key": Secret("file", str(tmp_path / "key"))}
    with posts(tls=tls) as receiver:
        export = metrics(otlp(receiver, ca=Path(tls["certificate"]), headers=headers))
        export.evaluated(publication(), resumed=True)
        assert receiver.next().headers["x-api-key"] == "hunter2"
        export.close()


def test_a_collector_that_fails_is_reported_once_and_gets_the_next_export() -> None:
    with posts([400, 400, 200]) as receiver, capture_logs() as logs:
        export = metrics(otlp(receiver).model_copy(update={"interval": NOW - NOW}))
        export.evaluated(publication(), resumed=True)
        soon(lambda: export.exported)
        export.close()
        assert export.figures()["otlp_exports_failed_total"] == 2
        assert export.figures()["otlp_export_points"] > 0
    reported = [line for line in logs if "exported" in line["event"]]
    assert [line["event"] for line in reported] == ["metrics are not exported: retrying", "metrics are exported again"]


def test_a_secret_that_is_missing_is_a_reason_and_ends_nothing() -> None:
    with posts() as receiver, capture_logs() as logs:
        export = metrics(otlp(receiver, headers={"X-Api-Key": Secret("env", "TRUERAIL_NOT_SET")}))
        export.evaluated(publication(), resumed=True)
        soon(lambda: export.failed)
        export.close()
        assert receiver.got.empty()
    assert "TRUERAIL_NOT_SET is not set" in logs[0]["error"]


def record(receiver: Posts) -> tuple[Any, Mapping[str, Any]]:
    request = receiver.next()
    assert request.path == "/v1/logs"
    (resource,) = ExportLogsServiceRequest.FromString(gzip.decompress(request.body)).resource_logs
    ((found,),) = ([*scope.log_records] for scope in resource.scope_logs)
    return found, {one.key: one.value for one in found.attributes}


def test_beginning_and_end_of_a_fault_are_log_records() -> None:
    began, announced = news_of(seen(fault(severity=CRITICAL)), {}, ("", "p1"))
    ended, _ = news_of(seen(), announced, ("", "p1"))
    with posts() as receiver:
        channel = OtlpLogChannel(otlp(receiver), "lab")
        for message in (*began, *ended):
            channel.send(message)
        (first, attributes), (last, _) = record(receiver), record(receiver)
    assert (first.event_name, first.severity_text, first.severity_number) == ("truerail.fault.began", "critical", 21)
    assert datetime.fromtimestamp(first.time_unix_nano / 1e9, UTC) == fault().since
    assert first.body.string_value == began[0].line
    assert attributes["truerail.kind"].string_value == "cable-swap"
    assert attributes["truerail.affected.gpus"].int_value == 2
    assert [one.string_value for one in attributes["truerail.findings"].array_value.values] == list(fault().findings)
    assert "truerail.rule" not in attributes, "what does not apply has no attribute"
    assert (last.event_name, last.severity_number) == ("truerail.fault.ended", 9)


def test_a_collector_that_does_not_take_a_record_gets_it_again() -> None:
    message = news_of(seen(fault()), {}, ("", "p1"))[0][0]
    with posts([401]) as receiver, pytest.raises(DeliveryError, match="did not take it"):
        OtlpLogChannel(otlp(receiver), "lab").send(message)
    missing = Otlp(endpoint="http://127.0.0.1:1", headers={"X-Api-Key": Secret("env", "TRUERAIL_NOT_SET")})
    with pytest.raises(DeliveryError, match="TRUERAIL_NOT_SET is not set"):
        OtlpLogChannel(missing, "lab").send(message)


def test_without_the_extra_the_installation_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    require("otlp", "otlp")
    monkeypatch.setattr("truerail.extras.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'truerail\[otlp\]'"):
        require("otlp", "otlp")
    (tmp_path / "truerail.yaml").write_text("inventory: inventory.yaml\notlp: {endpoint: 'http://127.0.0.1:1'}\n")
    (tmp_path / "inventory.yaml").write_text("devices:\n  - {name: h1, role: host, address: 192.0.2.1}\n")
    code, _, err = runner(monkeypatch, capsys)("serve", "--check", "--config", tmp_path / "truerail.yaml")
    assert code == 2
    assert "otlp needs packages that are not installed: pip install 'truerail[otlp]'" in err
    assert importlib.util.find_spec("opentelemetry.sdk") is not None
