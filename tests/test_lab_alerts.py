"""From the cable to the pager: real devices, truerail, Prometheus and Alertmanager with what the project ships."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector import collectors
from dashboards.generate import GENERATED, ROOT
from tests.docs_blocks import blocks
from tests.lab import cables, hearing
from tests.lab.layout import Layout
from tests.lab.monitoring import Monitoring, hastened, monitoring, unhurried
from tests.lab.serving import Service, serving, soon, standing
from tests.real import require
from truerail.model import Port

SETTINGS = f"""\
fabric: lab
inventory: inventory.yaml
plan: plan.csv
schedule: {{poll_timeout: 5m, every: {json.dumps(dict.fromkeys(collectors(), "1h"))}}}
recovery: {{resolve_after: 1s}}
page: {{url: "http://127.0.0.1:8080"}}
"""
"""Polled when a test waits for something and evaluated whole: no swap is seen on the way, as two missing cables."""
PAGE = "http://127.0.0.1:8080"
RUNBOOK = "https://truerail.example.net/docs/runbooks/CAB001.md"
Alerts = list[dict[str, Any]]


def documents() -> dict[str, str]:
    """What a site loads: the rules and routes as generated, and the configuration that the documentation shows."""
    shown = (block.text for block in blocks(ROOT / "docs/alerting.md"))
    return {
        "prometheus.yml": next(text for text in shown if "scrape_configs" in text),
        "truerail.rules.yaml": (ROOT / GENERATED / "prometheus/truerail.rules.yaml").read_text(),
        "alertmanager.yml": (ROOT / GENERATED / "alertmanager/alertmanager.yml").read_text(),
        "truerail.tmpl": (ROOT / GENERATED / "alertmanager/truerail.tmpl").read_text(),
    }


@contextmanager
def lab(folder: Path) -> Iterator[Layout]:
    """Four hosts with four rails."""
    layout = Layout(f"a{os.getpid()}", 4, 4, 2, folder / "user")
    with standing(layout, SETTINGS):
        yield layout


class Site:
    """The fabric, who watches it, and who is woken."""

    def __init__(self, layout: Layout, service: Service, watch: Monitoring) -> None:
        self.layout, self.service, self.watch = layout, service, watch

    def jack(self, host: int, rail: int) -> Port:
        """A host's port on a rail."""
        device = f"gpu-{host:03}"
        return Port(device, self.layout.ports(device)[rail])

    def evaluated(self, kind: str, *ports: Port) -> dict[str, Any]:
        """The cause of this kind on these ports, as soon as the service names it. No kind: until none is left."""

        def found(reported: dict[str, Any]) -> list[dict[str, Any]]:
            names = [str(port) for port in ports]
            return [one for one in reported["items"] if (one["kind"], one["subjects"]) == (kind, names)]

        reported = self.service.until("causes", lambda reported: found(reported) if kind else not reported["items"])
        return found(reported)[0] if kind else {}

    def page(self, number: int) -> dict[str, Any]:
        """The page of this number, counted from one, as soon as it comes."""
        return soon(lambda: self.watch.notifications()[number - 1 :], bool, lambda: self.service.log)[0]

    def alerts(self, number: int) -> Alerts:
        """What it is about."""
        found: Alerts = self.page(number)["body"]["alerts"]
        return found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    require("prometheus", "promtool", "prometheus-alertmanager", "lldpd", "snmpd", root=True)
    with ExitStack() as running:
        layout = running.enter_context(lab(tmp_path))
        service = running.enter_context(serving(layout, 8080))
        watch = running.enter_context(monitoring(layout, tmp_path, documents()))
        yield Site(layout, service, watch)


@pytest.mark.parametrize("name", [name for name in documents() if not name.endswith(".tmpl")])
def test_only_waits_are_shortened(name: str) -> None:
    shipped = yaml.load(documents()[name], yaml.CSafeLoader)
    assert unhurried(hastened(shipped)) == unhurried(shipped)
    assert hastened(shipped) != shipped
    assert unhurried({"for": "5m", "expr": "up"}) == {"expr": "up"}
    assert hastened({"for": "5m", "expr": "up"}) == {"for": "2500ms", "expr": "up"}


def reported(alerts: Alerts) -> list[tuple[str, ...]]:
    """Each alert by its status, name, severity and cause, sorted."""
    return sorted(
        (alert["status"], *(alert["labels"].get(name, "") for name in ("alertname", "severity", "cause")))
        for alert in alerts
    )


class Steps:
    """When each step of one story was, in seconds after hands were laid on the cables."""

    def __init__(self) -> None:
        self.begin = time.time()
        self._at: list[tuple[str, float]] = []

    def set(self, step: str, at: float | None = None) -> None:
        """This step was then, or is now."""
        self._at.append((step, (time.time() if at is None else at) - self.begin))

    def __str__(self) -> str:
        return ", ".join(f"{step} {seconds:.1f} s" for step, seconds in self._at)


def swap(site: Site, cause: str, *ports: Port) -> Steps:
    """Swaps two cables, and waits until the service names this cause, or none for an empty one."""
    steps = Steps()
    cables.swap(site.layout, *ports)
    steps.set("plugged")
    hearing.settle(site.layout)
    steps.set("LLDP")
    site.evaluated(cause, *ports)
    steps.set("evaluated")
    return steps


def scraped(site: Site, steps: Steps, state: int, *ports: Port) -> None:
    """Notes when Prometheus first had this state for all of these cables."""

    def firsts() -> list[float]:
        reported = [site.watch.samples(f'truerail_link_state{{host="{p.device}",nic="{p.name}"}}')[0] for p in ports]
        since = [[at for at, value in samples if at > steps.begin and value == state] for samples in reported]
        return [min(times) for times in since if times]

    found = soon(firsts, lambda found: len(found) == len(ports))
    steps.set("scraped", max(found))


def assert_says_all(alert: dict[str, Any], cause: dict[str, Any]) -> None:
    """The alert has the cause's own words, where it is, who is affected, and the ways to its pages."""
    said, began = alert["annotations"], datetime.fromisoformat(cause["since"])
    second, epoch = timedelta(seconds=1), datetime.fromtimestamp(0, UTC)
    assert said["summary"] == cause["summary"]
    where, affected, first, findings, since = said["description"].splitlines()
    assert where.startswith(f"Where: {', '.join(cause['subjects'])}, rack ")
    assert affected == "Affected: 1 host, 2 GPUs"
    assert first == f"First: {cause['action']}"
    assert findings == f"Findings: {' '.join(cause['explains'])}"
    assert since == f"Since: {round(began.timestamp()) * second + epoch:%Y-%m-%d %H:%M:%S} +0000 UTC"
    assert said["page_url"] == f"{PAGE}/causes/{cause['key']}"
    assert said["runbook_url"] == RUNBOOK


def test_two_swapped_cables_are_one_page_that_names_both_and_resolves(
    site: Site, record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = site.jack(2, 0), site.jack(2, 1)
    broken = swap(site, "cable-swap", one, other)
    (cause,) = site.service.ask("causes")["items"]
    scraped(site, broken, 3, one, other)
    page = site.page(1)
    firing = site.watch.samples('ALERTS{alertname="TruerailCableSwap",alertstate="firing"}')
    broken.set("firing", max(samples[0][0] for samples in firing))
    broken.set("page received", page["at"])
    alerts = page["body"]["alerts"]
    assert (page["body"]["status"], page["body"]["receiver"]) == ("firing", "pager")
    assert reported(alerts) == [("firing", "TruerailCableSwap", "critical", cause["key"])]
    assert_says_all(alerts[0], cause)

    mended = swap(site, "", one, other)
    scraped(site, mended, 0, one, other)
    resolved = site.page(2)
    mended.set("end received", resolved["at"])
    assert resolved["body"]["status"] == "resolved"
    assert {alert["fingerprint"] for alert in resolved["body"]["alerts"]} == {one["fingerprint"] for one in alerts}
    assert len(site.watch.notifications()) == 2
    assert tickets(site) == set()
    for what, steps in (("plugged in wrong", broken), ("put right", mended)):
        record_property(what, str(steps))
        with capsys.disabled():
            sys.stdout.write(f"\n{what}: {steps}")


def tickets(site: Site) -> set[str]:
    """The alerts that were sent as tickets, but for one that says how busy this machine is."""
    sent = (
        one["labels"]["alertname"] for ticket in site.watch.notifications("/ticket") for one in ticket["body"]["alerts"]
    )
    return set(sent) - {"TruerailRoundsOverrun"}


def missing(status: str, cause: str) -> tuple[str, ...]:
    """The alert on a cable without a link, as `reported` returns it."""
    return status, "TruerailLinkDown", "critical", cause


def pulled(site: Site, port: Port) -> str:
    """Pulls a cable. Gives the key of its cause."""
    cables.pull(site.layout, [port])
    return str(site.evaluated("link-down", port)["key"])


def test_who_is_reported_of_maintenance_who_acknowledges_and_who_restarts_truerail_gets_no_page(site: Site) -> None:
    """What must not page is followed by what must: when that page is here, the other would have been here before."""
    now, hour = datetime.now(UTC), timedelta(hours=1)
    window = {
        "scope": "device",
        "what": "gpu-002",
        "starts": now.isoformat(),
        "ends": (now + hour).isoformat(),
        "reason": "new cables",
    }
    site.service.ask("maintenance", window)
    swap(site, "cable-swap", site.jack(2, 0), site.jack(2, 1))
    soon(lambda: site.watch.query('truerail_cause_info{kind="cable-swap",muted="maintenance"}'), bool)

    acknowledged, other, last = site.jack(3, 2), site.jack(4, 3), site.jack(1, 0)
    key = pulled(site, acknowledged)
    assert reported(site.alerts(1)) == [missing("firing", key)]
    site.service.ask("acknowledgements", {"target": key, "reason": "spare is ordered"})
    assert reported(site.alerts(2)) == [missing("resolved", key)]
    standing = pulled(site, other)
    assert reported(site.alerts(3)) == [missing("firing", standing)]

    number = site.service.ask("fabric")["number"]
    site.service.ended(signal.SIGKILL)
    soon(lambda: site.watch.query('up{job="truerail"} == 0'), bool)
    site.service.start()
    soon(lambda: site.watch.query(f"truerail_evaluation_number > {number}"), bool)
    newest = pulled(site, last)
    assert reported(site.alerts(4)) == [missing("firing", newest)]
    begins = {one["body"]["alerts"][0]["labels"]["cause"] for one in site.watch.notifications()}
    assert begins == {key, standing, newest}, "the alert on the other cable did not end in between"
    assert len(site.watch.notifications()) == 4
    assert tickets(site) == set()
