"""`truerail serve` on real daemons: a swap is found, remembered, gone when put right; signals do what they say."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import cables, fabric, hearing
from tests.lab.commands import truerail
from tests.lab.layout import Layout
from tests.lab.serving import Answer, Service, serving, soon, standing

SETTINGS = """\
fabric: lab
inventory: inventory.yaml
plan: plan.csv
http: {port: 8765}
recovery: {resolve_after: 1s}
"""
PORT = 8765


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    layout = Layout(f"s{os.getpid()}", 2, 4, 2, tmp_path_factory.mktemp("lab") / "user")
    with standing(layout, SETTINGS):
        yield layout


@pytest.fixture(scope="module")
def service(lab: Layout) -> Iterator[Service]:
    """One service for all tests, each of which leaves the lab as it was built, and nothing found."""
    with serving(lab, PORT) as one:
        yield one


def causes(answer: Answer) -> list[tuple[str, list[str]]]:
    return [(one["kind"], one["subjects"]) for one in answer["items"]]


def test_a_swap_is_found_and_remembered_and_gone_when_it_is_put_right(service: Service) -> None:
    lab = service.layout
    one, other = lab.jack("gpu-002/enp26s0f0np0"), lab.jack("gpu-002/enp77s0f0np0")
    swap = [("cable-swap", [str(one), str(other)])]
    assert service.ended(signal.SIGTERM) == 0, service.log
    for left in lab.folder.glob("truerail.db*"):  # the journal of other tests
        left.unlink()
    service.start()
    service.until("fabric", lambda answer: answer["cables"]["right"] == answer["cables"]["planned"])
    healthy = service.until("fabric", lambda answer: answer["tone"] == "good")
    assert healthy["journal"]["health"] == "keeping"
    cables.swap(lab, one, other)
    try:
        service.until("causes", lambda answer: causes(answer) == swap)
        where = service.ask(f"where?port={one}")
        (path,) = where["paths"]
        assert path["actual"]["device"] != path["planned"]["device"]
        assert path["state"] == "wrong"
        assert path["since"] is not None
        assert " reloaded " not in service.log
        service.send(signal.SIGHUP)
        soon(lambda: service.log, lambda log: " reloaded " in log)
        assert causes(service.polled("causes")) == swap
    finally:
        cables.swap(lab, one, other)
    service.until("causes", lambda answer: not answer["items"])
    hearing.settle(lab)
    reported = service.until("history?kind=findings", lambda found: "resolved" in {c["kind"] for c in found["items"]})
    assert {"appeared", "resolved"} <= {change["kind"] for change in reported["items"]}
    diff = service.ask("diff?since=1h")
    assert diff["links"] == []
    assert "2 links changed and changed back" in diff["summary"]
    number = service.ask("fabric")["number"]
    assert service.ended(signal.SIGTERM) == 0, service.log
    service.start()
    assert service.ask("fabric")["number"] > number
    kinds = [event["kind"] for event in service.ask(f"timeline?of={one}")["events"]]
    assert "appeared" in kinds
    assert "resolved" in kinds


def test_swapped_hosts_that_get_the_names_of_repair_diff_have_no_cause(service: Service) -> None:
    lab, hosts = service.layout, ["gpu-001", "gpu-002"]
    fabric.exchange_names(lab, *hosts)
    try:
        hearing.settle(lab)
        service.until("causes", lambda answer: causes(answer) == [("host-swap", hosts)])
        (repair,) = service.ask("repair-diff")["repairs"]
        announced = {hearing.hostname(lab, name): name for name in hosts}
        for one in repair["devices"]:
            fabric.rename(lab, announced[one["device"]], one["new_name"])
        assert [hearing.hostname(lab, name) for name in hosts] == hosts
    finally:
        for name in hosts:
            fabric.rename(lab, name, name)
    hearing.settle(lab)
    service.until("fabric", lambda answer: answer["cables"]["right"] == 16)
    assert service.polled("causes")["items"] == []


def test_settings_that_cannot_be_used_end_with_the_line_and_what_is_wrong(lab: Layout, tmp_path: Path) -> None:
    bad = tmp_path / "truerail.yaml"
    bad.write_text("inventory: nowhere.yaml\nhttp: {port: many}\n")
    done = truerail(lab, "serve", "--config", str(bad))
    assert done.returncode == 2
    assert f"{bad}:2: http.port 'many'" in done.stderr


def test_a_port_that_is_taken_is_named(service: Service, tmp_path: Path) -> None:
    folder = service.layout.folder
    settings = SETTINGS.replace("inventory.yaml", str(folder / "inventory.yaml"))
    (tmp_path / "truerail.yaml").write_text(settings.replace("plan.csv", str(folder / "plan.csv")))
    done = truerail(service.layout, "serve", "--config", str(tmp_path / "truerail.yaml"))
    assert done.returncode == 2
    assert "8765" in done.stderr


def test_check_reads_everything_and_begins_nothing(lab: Layout) -> None:
    done = truerail(lab, "serve", "--check", "--config", str(lab.folder / "truerail.yaml"))
    assert done.returncode == 0, done.stderr
    assert ": OK." in done.stdout
    assert "16 cables" in done.stdout
