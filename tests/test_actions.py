"""What is to be done about a finding never contradicts its cause, whatever the output."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli import fabric, run
from truerail.model import CauseKind, Finding, Severity
from truerail.model.finding import Cause, action_of, with_actions
from truerail.simulator import Fault

Options = tuple[str, str, str, str]
NAMES = "Swap the names of"
FORMATS = ("json", "csv", "junit", "html", "xlsx")


@pytest.fixture(scope="module", params=["labels", "host labels"])
def renamed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Options:
    """A fabric of which two leaves, or two hosts, carry each other's name: many wrong cables, and none to move."""
    kind = CauseKind.LEAF_SWAP if request.param == "labels" else CauseKind.HOST_SWAP
    return fabric(tmp_path_factory.mktemp("renamed"), [Fault(kind, "labels")], hosts=8, rails=4)


def reported(options: Options) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("check", *options, "--format", "json").stdout)
    return document


def test_every_finding_of_a_swapped_name_says_to_swap_the_names(renamed: Options) -> None:
    document = reported(renamed)
    (cause,) = document["causes"]
    assert cause["moves"] == []
    explained = [one for one in document["findings"] if one["cause"] == cause["id"]]
    assert len(explained) >= 8
    assert {one["action"] for one in explained} == {cause["action"]}
    assert cause["action"].startswith(NAMES)


@pytest.mark.parametrize("form", FORMATS)
def test_no_report_orders_a_move_where_names_are_swapped(renamed: Options, form: str, tmp_path: Path) -> None:
    target = tmp_path / f"report.{'xml' if form == 'junit' else form}"
    run("check", *renamed, "--format", form, "--output", target)
    if form == "xlsx":
        with zipfile.ZipFile(target) as book:
            text = "".join(book.read(name).decode() for name in book.namelist())
    else:
        text = target.read_text()
    assert NAMES in text
    assert "Move the" not in text
    assert "ove the cable" not in text


def test_the_text_with_details_does_not_either(renamed: Options) -> None:
    text = " ".join(run("check", *renamed, "--details").stdout.split())
    assert NAMES in text
    assert "Move the cable" not in text


def test_a_cable_that_has_to_move_still_says_so(tmp_path: Path) -> None:
    options = fabric(tmp_path, [Fault(CauseKind.CABLE_SWAP, "one-host")], hosts=4, rails=4)
    rows = list(csv.DictReader(io.StringIO(run("check", *options, "--format", "csv").stdout)))
    swap = [row for row in rows if row["cause_kind"] == "cable-swap"]
    assert swap
    assert all(row["action"].startswith("Swap the two cables: ") for row in swap)


def test_one_function_gives_the_action() -> None:
    finding = Finding("CAB001", "nic_on_wrong_rail", Severity.CRITICAL, "h1/nic0", "wrong", "Move the cable.")
    cause = Cause("C1", CauseKind.LEAF_SWAP, ("leaf-0", "leaf-1"), "swapped", "Swap the names.", (finding.id,))
    assert action_of(finding, None) == "Move the cable."
    assert action_of(finding, cause) == "Swap the names."
    assert action_of(finding, Cause("C1", CauseKind.UNKNOWN, (), "", "")) == "Move the cable."
    other = Finding("CAB001", "nic_on_wrong_rail", Severity.CRITICAL, "h2/nic0", "wrong", "Move it.")
    assert [one.action for one in with_actions([finding, other], [cause])] == ["Swap the names.", "Move it."]
