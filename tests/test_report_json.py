"""The JSON report: the shipped schema, the fields that others read, stable order, and text that cannot act."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
import report_fabric as fabric
from jsonschema import Draft202012Validator

from truerail.model import CableState, CauseKind, Evaluation, LinkSpeed
from truerail.outputs.report import render

SCHEMA = json.loads((files("truerail.outputs") / "check.schema.json").read_text("utf-8"))


def document(evaluation: Evaluation) -> dict[str, Any]:
    report = render(evaluation, "json")
    assert isinstance(report, str)
    reported: dict[str, Any] = json.loads(report)
    return reported


def test_the_schema_is_itself_valid():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("made", [fabric.every_cause, fabric.hostile, fabric.clean])
def test_every_report_fits_the_shipped_schema(made):
    Draft202012Validator(SCHEMA).validate(document(made()))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("schema",), "truerail/check/v2"),
        (("summary", "cables_wrong"), -1),
        (("summary", "cables_wrong"), None),
        (("findings", 0, "id"), "no id"),
        (("findings", 0, "severity"), "loud"),
        (("findings", 0, "confidence"), 1.5),
        (("causes", 0, "kind"), "swap"),
        (("causes", 0, "moves", 0, "to"), "no port"),
        (("verdicts", 0, "status"), "fine"),
        (("cables", 0, "state"), "pending"),
    ],
)
def test_the_schema_refuses_what_is_not_v1(where, value):
    reported = document(fabric.every_cause())
    target: Any = reported
    for step in where[:-1]:
        target = target[step]
    target[where[-1]] = value
    assert not Draft202012Validator(SCHEMA).is_valid(reported)


def test_the_schema_knows_every_kind_of_cause():
    assert SCHEMA["$defs"]["kind"]["enum"] == [kind.value for kind in CauseKind]


def test_a_swap_is_reported_as_the_design_has_it():
    reported = document(fabric.every_cause())
    cause = reported["causes"][0]
    assert cause["id"] == "C1"
    assert cause["kind"] == "cable-swap"
    assert cause["subjects"] == ["gpu-012/enp60s0f0np0", "gpu-012/enp94s0f0np0"]
    ends = {"cable": "gpu-012/enp60s0f0np0", "from": "leaf-3/swp12", "to": "leaf-1/swp12"}
    assert cause["moves"][0] == {**ends, "after": []}
    finding = next(f for f in reported["findings"] if f["subject"] == "gpu-012/enp60s0f0np0")
    assert finding["id"] in cause["explains"]
    assert finding["cause"] == "C1"
    assert (finding["expected"], finding["observed"], finding["rail"]) == ("leaf-1/swp12", "leaf-3/swp12", 1)
    assert finding["evidence"][0]["fact"]["system_name"] == "gpu-012"


def test_detail_stands_beside_the_other_fields_and_never_replaces_them():
    reported = document(fabric.every_cause())
    missing = next(f for f in reported["findings"] if f["rule"] == "CAB003")
    assert missing["reason"] == "link down"
    assert missing["observed"] is None

    maker = fabric.Maker()
    maker.find(fabric.host_port(1, 0), CableState.MISSING, detail=(("severity", "none"), ("hops", 3)))
    finding = document(maker.evaluation())["findings"][0]
    assert (finding["severity"], finding["hops"]) == ("critical", 3)


def test_summary_counts_add_up_and_name_every_severity():
    summary = document(fabric.every_cause())["summary"]
    states = ("cables_right", "cables_wrong", "cables_missing", "cables_unknown")
    assert sum(summary[state] for state in states) == summary["cables_planned"] == 528
    assert summary["findings"] == {"critical": 186, "warning": 12, "info": 1}
    assert summary["hosts_read"] == 63


def test_cables_that_are_not_right_are_listed_and_no_others():
    cables = document(fabric.every_cause())["cables"]
    assert len(cables) == 185 + 1 + 4
    assert {"a": "gpu-060/enp26s0f0np0", "b": "leaf-0/swp60", "rail": 0, "plane": None, "label": "P1-060-0"} | {
        "state": "unknown"
    } in cables


def test_order_does_not_depend_on_the_order_of_gathering():
    one = fabric.every_cause()
    other = Evaluation(
        **{
            **{field: getattr(one, field) for field in ("at", "plan", "causes", "summary", "notes")},
            "findings": tuple(reversed(one.findings)),
            "verdicts": tuple(reversed(one.verdicts)),
            "collection_errors": tuple(reversed(one.collection_errors)),
            "cable_states": dict(reversed(one.cable_states.items())),
        }
    )
    assert render(one, "json") == render(other, "json")
    subjects = [f["subject"] for f in document(one)["findings"] if (f["severity"], f["rule"]) == ("critical", "CAB001")]
    assert subjects.index("gpu-002/enp156s0f0np0") < subjects.index("gpu-012/enp60s0f0np0")


def test_the_text_cannot_act_on_a_terminal_and_keeps_what_was_heard():
    report = render(fabric.hostile(), "json")
    assert isinstance(report, str)
    assert re.fullmatch(r"[\n -~]*", report)
    heard = document(fabric.hostile())["notes"][0]
    assert heard == fabric.HOSTILE.replace("\ud800", "?")


def test_no_half_of_a_surrogate_pair_is_written():
    report = render(fabric.hostile(), "json")
    assert isinstance(report, str)
    assert not re.search(r"\\u[dD][89a-fA-F]", report)


@pytest.mark.parametrize("made", [fabric.every_cause, fabric.clean])
def test_the_fast_writer_of_json_writes_what_the_standard_library_writes(made, monkeypatch):
    report = render(made(), "json")

    def cannot(*_: object, **__: object) -> bytes:
        raise TypeError("str is not valid UTF-8: surrogates not allowed")

    monkeypatch.setattr("truerail.outputs.report_json.orjson.dumps", cannot)
    assert render(made(), "json") == report


def test_numbers_and_facts_of_any_kind_are_written_as_the_standard_library_writes_them():
    fact = LinkSpeed("swp1", 400.0)
    odd = {"fact": fact, "measure": np.float64(0.5), "at": datetime(2026, 11, 20, tzinfo=UTC)}
    finding = replace(fabric.every_cause().findings[0], detail=odd)
    (reported,) = document(replace(fabric.clean(), findings=(finding,)))["findings"]
    assert {name: reported[name] for name in odd} == {
        "fact": list(fact),
        "measure": 0.5,
        "at": "2026-11-20 00:00:00+00:00",
    }


def test_an_unread_device_is_reported_with_its_error():
    unread = document(fabric.every_cause())["collection_errors"]
    assert [entry["collector"] for entry in unread] == ["gpu_nic_topology", "lldp_host", "rdma_link"]
    assert all("No route to host" in entry["error"] for entry in unread)
