"""`truerail probe` from beginning to end: real sshd servers in front of hosts in network namespaces."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jinja2
import pytest
import yaml

from tests.api_client import Api
from tests.deploying import DEPLOY
from tests.draws import draws
from tests.fake_tower import FakeTower
from tests.lab.system import run
from tests.live_site import Run, runner
from tests.patience import ENOUGH, soon
from tests.probe_fabric import NOBODY, PYTHON, ProbeFabric, routed
from tests.probe_rdma import faster, rdma_hosts
from tests.real import require
from tests.sshd import Sshd, sshd
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.cli import oncall_service, probing
from truerail.inventory import Inventory, dump_yaml
from truerail.model import Counter, PortCounters, ProbeHop, ProbeReach, Reading, Role, Snapshot, Target
from truerail.plans import dump_csv
from truerail.poller.received import Latest
from truerail.probe import heavy
from truerail.probe.path_sweep import Budget
from truerail.rounds import evaluate
from truerail.service import prober
from truerail.service.prober import Prober
from truerail.service.settings import ProbeSettings
from truerail.views.probe_matrix import probe_matrix

LIMITS = {
    "networks": ["10.0.0.0/8"],
    "packets_per_second": 1000,
    "seconds": 120,
    "packets": 100_000,
    "ports": [24791],
    "source_ports": [49152, 65535],
}
TASKS = {
    "version": 1, "run": "r", "host": "h1", "start_at": 0.0, "stop_at": 0.0, "port": 24791, "packets_per_second": 100,
    "wait": 0.0, "listen": [], "sends": [], "hears": [], "untried": [], "trouble": [],
}  # fmt: skip
"""What a host is given that sends nothing."""
PROBED = ("PRB001", "PRB002", "PRB003", "PRB006", "PRB009")
"""Rules that need no answers of switches."""
PACE = {"nic_counters": 0.5}
"""Seconds between rounds of the counters that show whether a host is busy."""


@dataclass
class Site:
    """Hosts behind sshd servers, inventory and plan as files."""

    fabric: ProbeFabric
    servers: dict[str, Sshd]
    words: tuple[object, ...]
    targets: tuple[Target, ...]

    def limits(self, host: str, **changed: object) -> None:
        """Writes the file of limits of a host."""
        path = self.fabric.folder / f"{host}.json"
        path.write_text(json.dumps({**LIMITS, **changed}))
        path.chmod(0o644)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    require("ip", "setpriv", "ssh-keygen", "nft", root=True)
    folder = tmp_path_factory.mktemp("probe")
    with ExitStack() as stack:
        fabric = stack.enter_context(routed())
        servers, targets = {}, list[Target]()
        for host in fabric.hosts:
            server = servers[host] = stack.enter_context(sshd(folder / host))
            inside = f"exec ip netns exec {fabric.prefix}{host}"
            server.program("ip", f'PATH=/usr/sbin:/usr/bin:/sbin:/bin; {inside} ip "$@"')
            limits = fabric.folder / f"{host}.json"
            server.program(
                "truerail-probe",
                f"touch {folder}/{host}/began; {inside} {' '.join((*NOBODY, *PYTHON, str(fabric.script)))} {limits}",
            )
            server.program("python3", f'{inside} {" ".join((*NOBODY, PYTHON[0]))} "$@"')
            targets.append(replace(server.target(host), role=Role.HOST, timeout_seconds=ENOUGH))
        inventory, plan = folder / "inventory.yaml", folder / "plan.csv"
        inventory.write_text(dump_yaml(Inventory(tuple(targets))))
        plan.write_text(dump_csv(fabric.plan))
        user = targets[0].ssh.user
        site = Site(
            fabric, servers, ("probe", "--inventory", inventory, "--plan", plan, "--user", user), tuple(targets)
        )
        for host in fabric.hosts:
            site.limits(host)
        yield site


def began(site: Site) -> list[Path]:
    """What hosts leave behind that were asked to probe."""
    return [path for server in site.servers.values() if (path := server.folder / "began").exists()]


def forget(site: Site) -> None:
    """Removes that."""
    for path in began(site):
        path.unlink()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(monkeypatch, capsys)


def test_nothing_is_sent_before_it_was_shown_and_agreed_to(site: Site, command: Run) -> None:
    forget(site)
    code, out, _ = command(*site.words, "--assume-idle", "--dry-run")
    assert code == 0
    assert "4 hosts send and listen, 8 NICs have an address" in out
    assert re.search(r"pairs: A 8, B \d+, C \d+, E \d+", out)
    assert "packets: " in out
    assert "time: 5 s until the start" in out
    code, _, err = command(*site.words, "--assume-idle")
    assert code == 2
    assert "nothing was sent: add --yes" in err
    assert not began(site)


def test_a_run_is_evaluated_and_stored_and_replays_the_same(site: Site, command: Run, tmp_path: Path) -> None:
    site.fabric.ip("h1", "rule del from 10.0.1.2 table 100")
    site.limits("h4", networks=["192.0.2.0/24"])
    try:
        words = (*site.words, "--assume-idle", "--yes", "--record", tmp_path / "c", "--format", "json")
        code, out, err = command(*words)
    finally:
        site.fabric.ip("h1", "rule add from 10.0.1.2 table 100")
        site.limits("h4")
    found = json.loads(out)
    assert code == 1, err
    assert "h4: left out: refused: 10." in err
    assert [f["subject"] for f in found["findings"] if f["rule"].startswith("PRB")] == ["h1/eth0"]
    assert any(note.startswith("Probes: ") for note in found["notes"]), found.get("notes")
    again, out, _ = command("check", "--from", tmp_path / "c", "--plan", site.words[4], "--format", "json")
    assert (again, json.loads(out)["findings"]) == (1, found["findings"])


@pytest.fixture
def with_switches(site: Site, tmp_path: Path) -> Iterator[tuple[object, ...]]:
    """The words of a command whose inventory has the switches too, which report their addresses."""
    with ExitStack() as stack:
        targets = list(site.targets)
        for device in site.fabric.plan.devices.values():
            if device.role is not Role.HOST:
                server = stack.enter_context(sshd(tmp_path / device.name))
                inside = f"exec ip netns exec {site.fabric.prefix}{device.name}"
                server.program("ip", f'PATH=/usr/sbin:/usr/bin:/sbin:/bin; {inside} ip "$@"')
                target = replace(server.target(device.name), role=device.role, platform="linux")
                targets.append(replace(target, timeout_seconds=ENOUGH))
        inventory = tmp_path / "all.yaml"
        inventory.write_text(dump_yaml(Inventory(tuple(targets))))
        yield (*site.words[:2], inventory, *site.words[3:])


def test_a_path_sweep_is_shown_before_and_replays_the_same(
    site: Site, with_switches: tuple[object, ...], command: Run, tmp_path: Path
) -> None:
    fast = ("--per-switch", "5000", "--per-nic", "100", "--rate", "1000", "--assume-idle", "--what", "paths,loss")
    code, out, _ = command(*site.words, *fast, "--dry-run")
    assert code == 0
    assert re.search(r"path sweep: \d+ pairs by \d+ source ports, \d+ packets of each that arrive", out)
    assert re.search(r"that it asks of one switch: about \d+, \d+ a second, at most 5000; by one NIC 100 a second", out)
    assert "then, for what stays open: at most 2 rounds more" in out
    with site.fabric.dropping_every(50):
        words = (*with_switches, *fast, "--yes", "--record", tmp_path / "c", "--format", "json")
        code, out, err = command(*words)
    found = json.loads(out)
    assert code == 1, err
    assert {f["rule"] for f in found["findings"] if f["rule"].startswith("PRB")} == {"PRB007"}
    again, out, _ = command("check", "--from", tmp_path / "c", "--plan", site.words[4], "--format", "json")
    assert (again, json.loads(out)["findings"]) == (1, found["findings"])
    assert json.loads(out)["verdicts"] == found["verdicts"]


def test_a_piped_script_needs_the_operators_own_account(site: Site, command: Run) -> None:
    code, _, err = command(*site.words, "--pipe")
    assert code == 2
    assert "--pipe and --by-operator NAME belong together" in err
    user = str(site.words[-1])
    words = (*site.words, "--assume-idle", "--yes", "--pipe", "--by-operator", user, "--list", "A", "--format", "json")
    code, out, err = command(*words)
    verdicts = {verdict["rule"]: verdict["status"] for verdict in json.loads(out)["verdicts"]}
    assert verdicts["PRB001"] == "pass", err


def test_a_disk_that_is_full_costs_no_result_and_one_that_cannot_be_written_is_known_before(
    site: Site, command: Run, tmp_path: Path
) -> None:
    words = (*site.words, "--assume-idle", "--yes", "--list", "A", "--format", "json", "--record")
    (tmp_path / "file").touch()
    forget(site)
    code, out, err = command(*words, tmp_path / "file")
    assert (code, out, began(site)) == (2, "", [])
    assert f"--record {tmp_path / 'file'}: cannot be written: File exists" in err
    small = tmp_path / "small"
    small.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=16k", "truerail-test", str(small))
    try:
        code, out, err = command(*words, small)
        left = list(small.iterdir())
    finally:
        run("umount", str(small))
    assert (code, left) == (2, [])
    assert re.search(r"not stored: .*: cannot be written: No space left on device", err), err
    assert {one["rule"]: one["status"] for one in json.loads(out)["verdicts"]}["PRB001"] == "pass"


def test_heavy_tests_name_a_slow_pair_and_leave_hosts_out_that_compute(
    site: Site, command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site.fabric.folder / "rdma"
    rdma_hosts(site.servers, folder)
    shipped, source = probing.script, faster(probing.script("heavy_script.py"), folder)
    monkeypatch.setattr(probing, "script", lambda *name: source if name else shipped())
    monkeypatch.setattr(heavy, "SLOT_SECONDS", 5.0)
    by_operator = (*site.words, "--pipe", "--by-operator", site.words[-1], "--heavy", "--yes", "--list", "A")
    try:
        for host in site.fabric.hosts[:3]:
            site.servers[host].program("nvidia-smi", '[ "$1" = topo ] || echo "gpu_uuid, pid"')
        code, out, err = command(*by_operator, "--dry-run")
        assert (code, "h4 (does not show whether its GPUs are in use)" in out) == (0, True), err
        assert re.search(r"heavy: 6 tests of RDMA between 3 hosts, \d+ after each other", out)
        site.servers["h4"].program("nvidia-smi", '[ "$1" = topo ] || echo "gpu_uuid, pid"')
        code, out, err = command(*by_operator, "--record", tmp_path / "c", "--format", "json")
        site.servers["h4"].program("nvidia-smi", '[ "$1" = topo ] || printf "gpu_uuid, pid\\nGPU-1, 42\\n"')
        _, busy, _ = command(*by_operator, "--dry-run")
    finally:
        for server in site.servers.values():
            for name in ("nvidia-smi", "rdma"):
                (server.folder / "bin" / name).unlink(missing_ok=True)
    assert "h4 (busy: 1 processes on its GPUs)" in busy
    (finding,) = [one for one in json.loads(out)["findings"] if one["rule"] == "PRB010"]
    assert (finding["subject"], finding["summary"]) == ("h2/eth0", "RDMA from h2/eth0 to h3/eth0: 48.6 Gbit/s of 97"), (
        err
    )
    times = r"Round-trip times: 8 of 8 pairs measured, median \d+ us; .*"
    assert any(re.fullmatch(times, note) for note in json.loads(out)["notes"])
    again, replayed, _ = command("check", "--from", tmp_path / "c", "--plan", site.words[4], "--format", "json")
    assert (again, json.loads(replayed)["findings"]) == (code, json.loads(out)["findings"])


def test_heavy_tests_are_never_run_on_hosts_that_may_be_busy_or_by_the_account_of_probes(
    site: Site, command: Run
) -> None:
    code, _, err = command(*site.words, "--heavy")
    assert (code, "--heavy needs --pipe and --by-operator NAME" in err) == (2, True)
    for option in ("--allow-jobs", "--assume-idle", "--ipv6"):
        code, _, err = command(*site.words, "--pipe", "--by-operator", "root", "--heavy", option)
        assert (code, f"--heavy and {option} exclude each other" in err) == (2, True)


@pytest.mark.parametrize("end", [signal.SIGHUP, signal.SIGINT][: draws(1, 2)], ids=lambda end: end.name)
def test_ctrl_c_ends_the_probes_and_keeps_what_came(site: Site, end: signal.Signals) -> None:
    forget(site)
    words = [sys.executable, "-m", "truerail", *map(str, site.words), "--assume-idle", "--yes", "--rate", "2"]
    with subprocess.Popen([*words, "--format", "json"], stdout=-1, stderr=-1, text=True) as process:
        soon(lambda: len(began(site)) == 4)
        os.kill(process.pid, end)
        out, err = process.communicate(timeout=ENOUGH)
    assert process.returncode == 130, err
    assert json.loads(out)["verdicts"]


def test_a_second_ctrl_c_waits_for_no_host_and_keeps_the_answers_that_came(site: Site, tmp_path: Path) -> None:
    """One host does not answer when it is stopped, as on a full machine; each host would be given 5 s for that."""
    forget(site)
    program = site.servers["h4"].folder / "bin" / "truerail-probe"
    whole = program.read_text()
    program.write_text(f"#!/bin/sh\ntouch {site.servers['h4'].folder}/began; exec sleep 60\n")
    words = [sys.executable, "-m", "truerail", *map(str, site.words), "--assume-idle", "--yes", "--rate", "2"]
    try:
        with subprocess.Popen([*words, "--record", tmp_path], stdout=-1, stderr=-1, text=True) as process:
            soon(lambda: len(began(site)) == 4)
            os.kill(process.pid, signal.SIGINT)
            for server in (site.servers[host] for host in ("h1", "h2", "h3")):
                soon(lambda: server.log.rfind("Close session") > server.log.rfind("Starting session"))  # noqa: B023 - at once
            os.kill(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=ENOUGH)
    finally:
        program.write_text(whole)
    assert process.returncode == 130, err
    of = {path.parent.name: json.loads(path.read_text()) for path in tmp_path.rglob("truerail-probe")}
    assert [host for host, one in of.items() if "ended before its answer came" in str(one["trouble"])] == ["h4"]
    assert of.keys() == {"h1", "h2", "h3", "h4"}


def test_the_forced_command_of_the_role_probes_within_its_limits_and_runs_nothing_else(site: Site) -> None:
    role = DEPLOY / "ansible" / "roles" / "truerail_probe"
    server, fabric = site.servers["h1"], site.fabric
    values = yaml.safe_load((role / "defaults" / "main.yml").read_text())
    values |= {"truerail_probe_public_key": server.key.with_suffix(".pub").read_text()}
    values |= {"truerail_probe_networks": ["10.0.0.0/8"], "truerail_probe_from": ["127.0.0.1"]}
    values |= {"truerail_probe_script": role / "files" / "truerail-probe"}
    environment = jinja2.Environment(autoescape=False)
    environment.filters["to_nice_json"] = json.dumps
    limits, keys = ((environment.from_string((role / "templates" / name).read_text())).render(values) for name in
                    ("probe.json.j2", "authorized_keys.j2"))  # fmt: skip
    assert set(json.loads(limits)) == set(LIMITS)
    (server.folder / "probe.json").write_text(limits)
    before = (server.folder / "authorized_keys").read_text()
    inside = f"ip netns exec {fabric.prefix}h1 {values['truerail_probe_python']}"
    forced = keys.replace('command="/usr/bin/python3', f'command="{inside}')
    assert forced != keys
    (server.folder / "authorized_keys").write_text(
        forced.replace("/etc/truerail/probe.json", str(server.folder / "probe.json"))
    )
    client = ["ssh", "-F", "none", "-p", str(server.port), "-i", str(server.key), "-o", "BatchMode=yes"]
    client += ["-o", f"UserKnownHostsFile={server.known_hosts}", "127.0.0.1", "id"]
    try:
        answers = [
            subprocess.run(client, input=json.dumps(given) + "\n", capture_output=True, text=True, check=False)
            for given in ({**TASKS, "packets_per_second": 201}, {**TASKS, "stop_at": 0.0}, "id")
        ]
    finally:
        (server.folder / "authorized_keys").write_text(before)
    assert [(done.returncode, bool(done.stdout)) for done in answers] == [(3, False), (0, True), (3, False)]
    assert "packets_per_second of 201, at most 200 are allowed here" in answers[0].stderr
    assert json.loads(answers[1].stdout)["run"] == TASKS["run"]
    assert "refused: tasks or limits are not understood" in answers[2].stderr


class Service:
    """A prober over the newest answers of the fabric's hosts, which show their load each time that it looks."""

    def __init__(self, site: Site, busy: str = "") -> None:
        self.site, self.busy, self.moment, self.looks, self.heard = site, busy, datetime.now(UTC), 0, 0
        self.latest = Latest(dict.fromkeys(site.fabric.plan.devices, ""))
        self.latest.put(site.fabric.polled())
        self.prober = Prober(self._latest, lambda: self.moment, self._count)

    def _latest(self) -> Latest:
        self.looks += 1
        for host in self.site.fabric.hosts:
            gained = 10**10 * self.looks if host == self.busy else self.looks
            facts = (PortCounters("eth0", (Counter("rx_bytes"),), (gained,)),)
            self.latest.put([Reading(host, "nic_counters", self.moment, facts, read_at=float(self.looks))])
        return self.latest

    def _count(self) -> None:
        self.heard += 1

    @property
    def shown(self) -> Published:
        """The newest evaluation."""
        round = Round(self.site.fabric.plan, self.latest.snapshot() or Snapshot(self.moment, ()))
        return Published(1, "lab", EvaluatedRound(round, evaluate(round)))

    def probe(self, **more: object) -> Published:
        """One run, and the evaluation after it."""
        return asyncio.run(self.run(**more))

    async def run(self, **more: object) -> Published:
        """The same in a loop that runs."""
        settings = ProbeSettings.model_validate(
            {"user": self.site.targets[0].ssh.user, "packets_per_second": 100, **more}
        )
        named = {one.name: (one, self.site.fabric.plan.devices[one.name]) for one in self.site.targets}
        self.prober.begin(settings)
        await self.prober.run(settings, self.shown, named, PACE)
        return self.shown


def _status(shown: Published) -> dict[str, str]:
    return {verdict.rule: verdict.status.value for verdict in shown.evaluation.verdicts}


def test_the_service_probes_idle_hosts_and_forgets_what_gets_too_old(
    site: Site, command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(site, busy="h4")
    shown = service.probe()
    with Api(FakeTower(shown)) as api:
        monkeypatch.setattr(oncall_service, "fetched", lambda service, route, query, token: api.json(route, **query))
        code, _, err = command("capture", *site.words[1:3], "--out", tmp_path / "c", "--probes-from", "http://service")
    assert (code, "http://service: the probes of 4 hosts are stored" in err) == (0, True), err
    _, out, _ = command("check", "--from", tmp_path / "c", "--plan", site.words[4], "--format", "json")
    replayed = {one["rule"]: one["status"] for one in json.loads(out)["verdicts"]}
    assert {rule: replayed[rule] for rule in PROBED} == {rule: _status(shown)[rule] for rule in PROBED}
    assert any(note.startswith("Probes: ") for note in json.loads(out)["notes"])
    matrix = probe_matrix(shown)
    assert [(one.host, one.why.split(" carries")[0]) for one in matrix.left_out] == [("h4", "busy: eth0")]
    assert {(rail.nics, rail.reached, rail.untried) for rail in matrix.by_rail} == {(4, 3, 1)}
    assert service.heard == 1
    figures = service.prober.figures
    assert (figures["probe_runs_total"], figures["probe_runs_failed_total"]) == (1, 0)
    seen = shown.round.snapshot
    arriving = sum(row.sent or 0 for row in seen.table(ProbeReach).rows)
    to_leaves = {(row.run, row.flow): row.sent for row in seen.table(ProbeHop).rows}
    assert figures["probe_packets_total"] == arriving + sum(to_leaves.values())
    service.moment += timedelta(minutes=25)
    assert service.prober.figures["probe_age_seconds"] == 1500
    asyncio.run(service.prober.forget_old())
    assert service.heard == 2
    assert _status(service.shown)["PRB001"] == "unknown"
    assert {rail.untried for rail in probe_matrix(service.shown).by_rail} == {4}


@pytest.mark.timeout(180)  # four sweeps at their pace
def test_the_service_sweeps_the_paths_of_one_rail_after_the_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prober, "Budget", lambda *limits: Budget(5000.0, 100.0))
    service = Service(site)
    seen: list[tuple[int, list[str]]] = []

    async def runs() -> None:
        for pause in (0, 0, 1, -5):  # at last the clock is set back
            service.moment += timedelta(hours=pause)
            shown = await service.run(paths_every="1h", packets_per_second=100)
            swept = {row.run for row in shown.round.snapshot.table(ProbeReach).rows if row.pinglist == "P"}
            seen.append((len(swept), [one.subject for one in shown.evaluation.findings if one.rule == "PRB007"]))

    with site.fabric.faulty("spine-1", 'iifname "d2" meta l4proto udp numgen inc mod 19 == 0 drop'):
        asyncio.run(runs())
    assert seen == [(1, []), (1, []), (2, ["leaf-10/up0"]), (1, [])]


def test_a_run_that_no_host_answers_leaves_all_of_them_untried(site: Site) -> None:
    forget(site)
    service = Service(site)
    service.probe(every="60s")
    assert began(site)
    for host in site.fabric.hosts:
        site.limits(host, networks=["192.0.2.0/24"])
    try:
        shown = service.probe(every="60s")
    finally:
        for host in site.fabric.hosts:
            site.limits(host)
    assert service.prober.figures["probe_runs_failed_total"] == 1
    assert _status(shown)["PRB001"] == "unknown"
    matrix = probe_matrix(shown)
    assert {rail.untried for rail in matrix.by_rail} == {4}
    assert all("refused" in one.why for one in matrix.left_out)
    assert matrix.left_out_total == 4
    service.prober.cease()
    assert service.prober.figures == {}
