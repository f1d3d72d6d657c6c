"""The steps of `truerail probe`: poll, plan the pairs, show them, send, store, evaluate."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import typer

from collector import at_once, collectors
from truerail.analysis.round import Round
from truerail.analysis.sweep.swept import Swept, swept
from truerail.cli import live, terminal_output
from truerail.cli.evaluating import evaluated_round, named, read
from truerail.cli.exit_codes import ExitCode, refused_by_system
from truerail.cli.probe import Wanted
from truerail.errors import CommandError, UnreadableError
from truerail.model import Evaluation, Fact, Plan, Reading, Role, Snapshot, Target
from truerail.model.names import answer_file
from truerail.model.tasks import end
from truerail.poller import Gathered, Limits, Row
from truerail.probe.background import of_round
from truerail.probe.follow_ups import Look, follow_up, unfit
from truerail.probe.heavy import GPUS_UNKNOWN, SECONDS, HeavyPlan, gpus_unknown, plan_heavy
from truerail.probe.host_tasks import ProbePlan, Settings, plan_run
from truerail.probe.idle import ACTIVITY, LOAD, activity
from truerail.probe.path_sweep import sweep_of
from truerail.probe.pinglists import Nics, nics_of, pairs_of
from truerail.probe.runner import Progress, Run, script
from truerail.probe.summary import summary
from truerail.transport.capture_writer import CaptureWriter
from truerail.transport.fleet_transport import kind_of
from truerail.transport.probe_session import ProbeSessions
from truerail.transport.protocol import Transport

_FILE, _HEAVY_FILE = answer_file("truerail-probe"), answer_file("truerail-probe-heavy")
_COLLECTOR = "probe_results"
_APART_SECONDS = 1.0
_BUSY_UNKNOWN = "does not show whether it is busy"
_NOT_KNOWN = f"{_BUSY_UNKNOWN}: --assume-idle probes it all the same"


@dataclass(frozen=True, slots=True)
class Probed:
    """An evaluation, how many hosts took part, whether Ctrl-C or another signal ended the run early, and why the
    answers are not stored that were to be.
    """

    evaluation: Evaluation
    recorded: int
    interrupted: bool
    unstored: str = ""


@dataclass(slots=True)
class _Polled:
    """The first round, the second one of counters, and the answers by device as a capture has them."""

    first: Gathered
    second: Snapshot
    files: dict[str, dict[str, bytes]]


def probed(wanted: Wanted) -> Probed | None:
    """The whole of it; None if nothing was to be sent. Raises CommandError, and Exit if Ctrl-C ends the polls."""
    fleet = live.load_fleet(wanted.inventory, wanted.plan)
    if fleet.plan is None:
        raise CommandError("probes need a plan: add --plan, or cables to the inventory")
    if wanted.record and not wanted.dry_run:
        _try_to_write(wanted.record)
    polled = _poll(fleet, wanted)
    if polled.first.interrupted:
        terminal_output.remark("interrupted: nothing was sent")
        raise typer.Exit(ExitCode.INTERRUPTED)
    round = Round(fleet.plan, polled.first.snapshot())
    targets = _targets(polled, fleet, wanted)
    nics = _nics(round, wanted, fleet)
    plan = _planned(round, nics, polled, targets, wanted)
    lines = list(summary(plan, nics))
    heavy = None
    if wanted.heavy:
        hidden = gpus_unknown(polled.first.snapshot().readings, {nic.host for nic in nics.nics})
        heavy = plan_heavy(plan.run, nics.nics, dict.fromkeys(sorted(hidden), GPUS_UNKNOWN) | dict(plan.left_out))
        lines += _heavy_summary(heavy)
    if not plan.hosts:
        raise CommandError("\n".join(["no host can be probed", *other_version(round, wanted.settings.version), *lines]))
    if not _agreed(lines, wanted):
        return None
    run, recordings, interrupted = _run(plan, round, targets, wanted)
    files = {_FILE: recordings}
    if heavy is not None and not interrupted:
        rest = heavy.without({host: f"took no part: {why}" for host, why in run.left_out.items()})
        shown = _Sending(round.plan, targets, None, "heavy tests: none done")
        files[_HEAVY_FILE] = _run_heavy(rest, fleet, targets, shown.heavy_progress)
        _remark(shown.shown)
    evaluation, unstored = _evaluation(files, polled, fleet, wanted.record)
    return Probed(evaluation, len(run.answers), interrupted, unstored)


def other_version(round: Round, version: int) -> list[str]:
    """A line for a fabric whose NICs have addresses of the other IP version alone."""
    other = 10 - version
    if nics_of(round, version).nics or not nics_of(round, other).nics:
        return []
    return [f"the NICs have IPv{other} addresses alone: {'add' if other == 6 else 'leave out'} --ipv6"]


def _poll(fleet: live.Fleet, wanted: Wanted) -> _Polled:
    """What `check` polls, and the counters of hosts twice."""
    files: dict[str, dict[str, bytes]] = {}
    hosts = {target.name for target in fleet.targets if target.role in (None, Role.HOST)}

    async def both(transport: Transport, stop: asyncio.Event) -> tuple[Gathered, Snapshot]:
        poller = fleet.gatherer(transport, Limits(deadline_seconds=wanted.deadline))
        first = await poller.round(only=None, collectors=at_once() | ACTIVITY, progress=keep, stop=stop)
        await asyncio.sleep(_APART_SECONDS)
        second = await poller.round(only=hosts, collectors=LOAD, progress=None, stop=stop)
        return first, second.snapshot()

    with live.reported() as progress:

        def keep(row: Row, done: int, total: int) -> None:
            files[row.name] = row.files()
            progress(row, done, total)

        first, second = live.run(both)
    return _Polled(first, second, files)


def _planned(round: Round, nics: Nics, polled: _Polled, targets: Mapping[str, Target], wanted: Wanted) -> ProbePlan:
    """The flows, with the hosts that are left out."""
    hosts = {nic.host for nic in nics.nics}
    found = activity(polled.first.snapshot(), polled.second, hosts)
    left_out = {host: "not in the inventory, or not by SSH" for host in hosts if host not in targets}
    if not wanted.allow_jobs:
        left_out |= {host: f"busy: {why}" for host, why in found.busy.items()}
        if not wanted.assume_idle:
            left_out |= dict.fromkeys(found.unknown - left_out.keys(), _NOT_KNOWN)
    settings = _settings(round, wanted)
    pairs = pairs_of(round.plan, nics.nics, wanted.pinglists)
    sweep = None
    if settings.sweeps:
        across = "E" in wanted.pinglists
        sweep = sweep_of(round.plan, nics.nics, left_out, settings.budget, across_rails=across)
    return plan_run(pairs, settings, datetime.now(UTC), dict(sorted(left_out.items())), sweep)


def _settings(round: Round, wanted: Wanted) -> Settings:
    """The user's, with the MTU and the class of the plan, or of the NICs."""
    what = tuple(word for word in wanted.settings.what if word != "mtu" or not wanted.allow_jobs)
    return of_round(replace(wanted.settings, what=what), round)


def _nics(round: Round, wanted: Wanted, fleet: live.Fleet) -> Nics:
    nics = nics_of(round, wanted.settings.version)
    if wanted.only is None:
        return nics
    hosts = named(wanted.only, (*round.plan.devices, *(target.name for target in fleet.targets)))
    without, in_vrf = (
        tuple(port for port in ports if port.partition("/")[0] in hosts)
        for ports in (nics.without_address, nics.in_vrf)
    )
    return Nics(tuple(nic for nic in nics.nics if nic.host in hosts), without, in_vrf)


def _targets(polled: _Polled, fleet: live.Fleet, wanted: Wanted) -> dict[str, Target]:
    """The hosts that are polled by SSH, with the account that sends."""
    by_name = {target.name: target for target in fleet.targets}
    user = wanted.by_operator or wanted.user
    return {
        row.device.name: replace(one, ssh=replace(one.ssh, user=user, key=wanted.key or one.ssh.key))
        for row in polled.first.rows
        if kind_of(one := by_name[row.name]) == "hosts"
    }


def _agreed(lines: list[str], wanted: Wanted) -> bool:
    """Shows what would be sent; whether it shall be. Raises CommandError where there is no terminal to ask on."""
    if wanted.dry_run:
        terminal_output.say("\n".join(lines))
        return False
    terminal_output.remark(*lines)
    if wanted.yes:
        return True
    if not sys.stdin.isatty():
        raise CommandError("nothing was sent: add --yes to send this without being asked")
    sys.stderr.write("Send it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _seen(round: Round, recordings: Mapping[str, str]) -> Swept:
    """What recordings show beside what was polled; those that are not understood show nothing."""
    at, readings = datetime.now(UTC), list(round.snapshot.readings)
    for host, text in recordings.items():
        with suppress(UnreadableError):
            readings.append(Reading(host, _COLLECTOR, at, _read(round.plan, host, text)))
    return swept(Round(round.plan, Snapshot(at, readings)))


def _read(plan: Plan, host: str, text: str) -> tuple[Fact, ...]:
    return tuple(collectors()[_COLLECTOR].read(text, plan.devices[host]))


@dataclass(slots=True)
class _Sending:
    """The rounds of a run over the fleet."""

    plan: Plan
    targets: Mapping[str, Target]
    piped: bytes | None
    shown: str = "probes: nothing sent"
    at_once: asyncio.Event = field(default_factory=asyncio.Event)
    """Set where no answer is awaited any longer."""

    async def all_rounds(self, first: Run[ProbePlan], look: Look, stop: asyncio.Event) -> dict[str, str]:
        """Sends, and asks what a path sweep leaves open: the recordings of all rounds as one."""

        async def send(next_round: ProbePlan) -> Mapping[str, str]:
            if stop.is_set():
                return {}
            more = f"for what is open: {next_round.packets().total():,} packets more in {next_round.seconds:,.0f} s"
            _remark(f"{self.shown}; {more}")
            later = self.run(next_round)
            await self._going(later, sessions, stop)
            later.reject(unfit(later.plan, later.answers))
            return later.answers

        async with ProbeSessions() as sessions:
            await self._going(first, sessions, stop)
            first.reject(unfit(first.plan, first.answers))
            if stop.is_set():
                return first.recordings()
            return await follow_up(first.plan, first.recordings(), send, look)

    async def _going(self, run: Run[ProbePlan], sessions: ProbeSessions, stop: asyncio.Event) -> None:
        """One round, until its end or `at_once`: hosts that have not answered by then have no answer."""
        going, ended = asyncio.ensure_future(run.go(sessions, stop)), asyncio.ensure_future(self.at_once.wait())
        await asyncio.wait((going, ended), return_when=asyncio.FIRST_COMPLETED)
        await end([ended, going], failed=True)

    def run(self, plan: ProbePlan) -> Run[ProbePlan]:
        """One round that shows its progress."""
        return Run(plan, self.targets, piped=self.piped, progress=self._progress)

    def _progress(self, done: int, hosts: int, sent: int, planned: int) -> None:
        self._show(f"probes: {sent:,} of {planned:,} sent, {done:,} of {hosts:,} hosts done")

    def heavy_progress(self, done: int, hosts: int, sent: int, planned: int) -> None:
        """The progress of RDMA tests: each is reported by both of its ends."""
        self._show(f"heavy tests: {sent:,} of {planned:,} ends done, {done:,} of {hosts:,} hosts done")

    def _show(self, text: str) -> None:
        if text != self.shown and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        self.shown = text


def _run(
    plan: ProbePlan, round: Round, targets: Mapping[str, Target], wanted: Wanted
) -> tuple[Run[ProbePlan], dict[str, str], bool]:
    """The first round, all recordings as one, and whether Ctrl-C ended it early."""
    rounds = _Sending(round.plan, targets, script() if wanted.pipe else None)
    run = rounds.run(plan)

    async def sending(transport: Transport, stop: asyncio.Event) -> tuple[dict[str, str], bool]:
        return await rounds.all_rounds(run, partial(_seen, round), stop), stop.is_set()

    recordings, interrupted = live.run(sending, live.ENDING, rounds.at_once)
    _remark(rounds.shown)
    terminal_output.remark(*(f"{host}: left out: {why}" for host, why in sorted(run.left_out.items())))
    return run, recordings, interrupted


def _remark(text: str) -> None:
    """A line on standard error, in the place of that of the progress."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    terminal_output.remark(text)


def _try_to_write(folder: Path) -> None:
    """Raises CommandError where nothing can be stored, before anything is sent."""
    with refused_by_system(f"--record {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))


def _evaluation(
    recordings: Mapping[str, Mapping[str, str]], polled: _Polled, fleet: live.Fleet, record: Path | None
) -> tuple[Evaluation, str]:
    """Stores all answers, recordings by file and host, as one round of a capture, and evaluates it as `check --from`
    would; with the reason where they cannot be stored, as on a full disk: they are evaluated all the same.
    """
    with tempfile.TemporaryDirectory() as folder:
        done, unstored = None, ""
        try:
            if record:
                done = _written(recordings, polled, fleet, record)
                terminal_output.remark(f"stored: {done}")
        except OSError as error:
            unstored = f"{error.filename or record}: cannot be written: {error.strerror or error}"
        try:
            done = done or _written(recordings, polled, fleet, Path(folder))
        except OSError as error:
            why = f"{error.filename or folder}: cannot be written: {error.strerror or error}"
            raise CommandError("\n".join(filter(None, (unstored, why)))) from error
        return evaluated_round(fleet.plan, read(done.parent, fleet.plan, done.name), None, None)[0], unstored


def _written(recordings: Mapping[str, Mapping[str, str]], polled: _Polled, fleet: live.Fleet, root: Path) -> Path:
    """All answers as a round of a capture. Raises OSError, and leaves nothing unfinished then."""
    writer = CaptureWriter(root, polled.first.at, alone=False)
    of_device = {row.name: row.device.name for row in polled.first.rows}
    try:
        for name, files in polled.files.items():
            host = of_device.get(name, name)
            writer.add(name, files | {file: of[host].encode() for file, of in recordings.items() if host in of})
        writer.list_inventory(target.name for target in fleet.targets)
        return writer.finish()
    except OSError:
        shutil.rmtree(writer.folder, ignore_errors=True)
        raise


# ----------------------------------------------------------------------------------------------------------------------
# The heavy part: RDMA tests between hosts that are idle at that moment.


def _heavy_summary(plan: HeavyPlan) -> Iterator[str]:
    """What the tests will send, for an operator to agree to."""
    yield (
        f"heavy: {plan.total // 2:,} tests of RDMA between {len(plan.hosts):,} hosts, {plan.slots:,} after each other, "
        f"in {plan.seconds:,.0f} s: one NIC of a host at a time sends at full speed for {SECONDS} s"
    )
    if plan.left_out:
        left_out = [f"{host} ({why})" for host, why in list(plan.left_out.items())[:8]]
        yield f"left out of it, {len(plan.left_out):,} hosts: {', '.join(left_out)}"


def _run_heavy(plan: HeavyPlan, fleet: live.Fleet, targets: Mapping[str, Target], progress: Progress) -> dict[str, str]:
    """The recordings by host. Looks again which hosts are idle, and leaves all others out."""

    async def sending(transport: Transport, stop: asyncio.Event) -> dict[str, str]:
        poller = fleet.gatherer(transport, Limits())
        hosts = set(plan.hosts)
        first = (await poller.round(only=hosts, collectors=ACTIVITY, progress=None, stop=stop)).snapshot()
        await asyncio.sleep(_APART_SECONDS)
        second = (await poller.round(only=hosts, collectors=LOAD, progress=None, stop=stop)).snapshot()
        found = activity(first, second, hosts)
        idle = plan.without(
            dict.fromkeys(gpus_unknown(first.readings, hosts), GPUS_UNKNOWN)
            | dict.fromkeys(found.unknown, _BUSY_UNKNOWN)
            | {host: f"busy: {why}" for host, why in found.busy.items()}
        )
        for host, why in sorted(idle.left_out.items() - plan.left_out.items()):
            terminal_output.remark(f"{host}: left out of the heavy tests: {why}")
        run = Run(idle, targets, piped=script("heavy_script.py"), progress=progress)
        if idle.hosts and not stop.is_set():
            async with ProbeSessions() as sessions:
                await run.go(sessions, stop)
        for host, why in sorted(run.left_out.items()):
            terminal_output.remark(f"{host}: left out of the heavy tests: {why}")
        last = idle.without(run.left_out)
        return last.completed(run.recordings())

    return live.run(sending, live.ENDING)
