"""The probe in the background: idle hosts send each other a few packets, and what they report joins the snapshot.

What was not tried, failed or came too late is no result: its part is unknown until it is probed again.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from collector import collectors
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.analysis.sweep.swept import Swept, swept
from truerail.errors import CommandError, UnreadableError
from truerail.model import Reading, Snapshot, Target
from truerail.model.plan import Device
from truerail.model.probe_facts import PROBE_COLLECTOR
from truerail.poller.received import Latest
from truerail.probe.background import Results, of_round, plan_paths, plan_turn, turn_of_paths, turns_of
from truerail.probe.follow_ups import follow_up, unfit
from truerail.probe.host_tasks import ProbePlan
from truerail.probe.host_tasks import Settings as RunSettings
from truerail.probe.idle import ACTIVITY, LOAD, activity
from truerail.probe.path_sweep import Budget
from truerail.probe.pinglists import Nic, nics_of
from truerail.probe.runner import Run
from truerail.service.logs import logger
from truerail.service.settings import ProbeSettings
from truerail.transport.fleet_transport import kind_of
from truerail.transport.probe_session import ProbeSessions

MOST_SECONDS_BEYOND = 60.0
"""Logins and answers may take so much longer than the packets."""
FORGET_SECONDS = 30.0
"""How often results that are too old are looked for."""
ROUNDS, USUAL_SECONDS = 3, 10.0
"""What hosts show of their activity counts for so many rounds; how often they are asked, if that is not given."""
NIC_ANSWERS_PER_SECOND = 0.5
"""ICMP answers that a path sweep asks of one switch by one NIC: half of what Linux answers one target."""
NOT_KNOWN = "does not show whether it carries a job"
Named = Mapping[str, tuple[Target, Device]]
Pace = Mapping[str, float]


class _Sent(NamedTuple):
    """What came of a run: its plan without the hosts that could not take part, the recordings of all hosts, those of
    the ones that answered, and whether it went well.
    """

    plan: ProbePlan
    recordings: dict[str, str]
    answers: dict[str, str]
    well: bool


class Prober:
    """One for a service. `latest` are its newest answers; `heard` is called when there are new results."""

    def __init__(self, latest: Callable[[], Latest], clock: Callable[[], datetime], heard: Callable[[], None]) -> None:
        self._latest, self._clock, self._heard = latest, clock, heard
        self._results = Results()
        self._turn = self._paths = 0
        self._paths_due = clock()
        self._log = logger()
        self._stop = asyncio.Event()
        self._counted: dict[str, float] = {}
        self._well_at: datetime | None = None

    def begin(self, settings: ProbeSettings) -> None:
        """The probe is set, or set in another way: from now on it is awaited."""
        self._counted |= {name: self._counted.get(name, 0.0) for name in COUNTED}
        self._counted["probe_interval_seconds"] = settings.every.total_seconds()
        self._well_at = self._well_at or self._clock()

    def cease(self) -> None:
        """The probe is not set any more."""
        self._counted.clear()
        self._well_at = None

    @property
    def figures(self) -> Mapping[str, float]:
        """The service's own metrics of it; none where it is not set."""
        if self._well_at is None:
            return {}
        return {**self._counted, "probe_age_seconds": (self._clock() - self._well_at).total_seconds()}

    async def run(
        self, settings: ProbeSettings, publication: Published | None, named: Named, every_seconds: Pace
    ) -> None:
        """One run: waits for two readings of counters, plans, sends, takes the results."""
        before, set_by = self._recent(every_seconds), self._latest().set_by
        if publication is None or before is None:
            return
        await asyncio.sleep(min(2 * _slowest(every_seconds), settings.every.total_seconds() / 3))
        after = self._recent(every_seconds)
        if after is None or self._latest().set_by != set_by:  # counters without a known interval have no rate
            return
        began = time.monotonic()
        asked = _asked(settings, publication)
        nics = await asyncio.to_thread(lambda: nics_of(publication.round, asked.version).nics)
        left_out = await asyncio.to_thread(_left_out, settings, publication, nics, named, before, after)
        turns = turns_of(nics, settings.every, asked, self._turn)
        self._turn += 1
        well = []
        for turn in turns:
            plan = await asyncio.to_thread(plan_turn, turn, publication.plan, nics, asked, self._clock(), left_out)
            sent = await self._sent(plan, settings, named)
            await asyncio.to_thread(self._results.put, turn, self._clock(), settings.every, sent.recordings)
            well.append(sent.well)
        self._counted["probe_duration_seconds"] = time.monotonic() - began
        if all(well):
            self._well_at = self._clock()
        await self._publish()
        until_due = self._paths_due - self._clock()
        if settings.paths_every is not None and not timedelta() < until_due <= settings.paths_every:
            await self._sweep(settings, settings.paths_every, publication, nics, named, left_out)
            await self._publish()

    async def _sweep(
        self,
        settings: ProbeSettings,
        every: timedelta,
        publication: Published,
        nics: tuple[Nic, ...],
        named: Named,
        left_out: Mapping[str, str],
    ) -> None:
        """Sweeps the paths of one rail, and asks what that leaves open, before the next run is due."""
        ends = time.monotonic() + settings.every.total_seconds()
        budget = Budget(settings.answers_per_second, NIC_ANSWERS_PER_SECOND)
        asked = replace(_asked(settings, publication), what=("paths", "loss"), budget=budget)
        turn = turn_of_paths(nics, self._paths)
        self._paths, self._paths_due = self._paths + 1, self._clock() + every
        if turn is None:
            return
        try:
            plan = await asyncio.to_thread(
                plan_paths, turn, publication.plan, nics, asked, self._clock(), left_out, settings.every
            )
        except CommandError as error:
            self._log.warning("paths are not swept", error=str(error))
            return

        async def again(more: ProbePlan) -> Mapping[str, str]:
            if self._stop.is_set() or time.monotonic() + more.lead_seconds + more.seconds > ends:
                return {}
            return (await self._sent(more, settings, named)).answers

        sent = await self._sent(plan, settings, named)
        found = await follow_up(sent.plan, sent.recordings, again, partial(_seen, publication))
        await asyncio.to_thread(self._results.put, turn, self._clock(), every, found)

    async def _sent(self, plan: ProbePlan, settings: ProbeSettings, named: Named) -> _Sent:
        """Sends the packets of a plan. A run that fails leaves all its hosts out, with the
        reason.
        """
        targets = {host: _with_account(named[host][0], settings) for host in plan.hosts}
        run = Run(plan, targets, piped=None, progress=_unseen)
        self._counted["probe_runs_total"] += 1
        why = ""
        try:
            async with (
                ProbeSessions() as sessions,
                asyncio.timeout(plan.lead_seconds + plan.seconds + MOST_SECONDS_BEYOND),
            ):
                await run.go(sessions, self._stop)
        except TimeoutError:
            why = "the run took too long"
        except Exception as error:  # noqa: BLE001 - a bug must not end the service: all of the run is untried
            why = "the run failed"
            self._log.error("a probe failed", exc_info=error)
        run.reject(await asyncio.to_thread(unfit, run.plan, run.answers))
        lacking = {host: why for host in plan.hosts if why and host not in run.answers}
        well = bool(run.answers) or not plan.hosts
        self._counted["probe_runs_failed_total"] += not well
        self._counted["probe_packets_total"] += run.sent
        self._log.info("probed", hosts=len(run.answers), left_out=len(plan.left_out) + len(run.left_out) + len(lacking))
        return _Sent(run.plan, run.recordings(lacking), run.answers, well)

    async def _publish(self) -> None:
        """Puts the results that still count among the newest answers, and no others."""
        self._latest().put(await asyncio.to_thread(self._results.readings, self._clock()))
        self._heard()

    async def forget_old(self) -> None:
        """Removes what became too old, so that it is shown as untried."""
        if self._results.any_old(self._clock()):
            await self._publish()

    async def end(self) -> None:
        """Ends a run that is under way."""
        self._stop.set()

    def _recent(self, every_seconds: Pace) -> Snapshot | None:
        """What hosts show of their activity, without answers that are older than three rounds."""
        snapshot = self._latest().snapshot()
        if snapshot is None:
            return None
        now = self._clock() + timedelta(seconds=self._latest().set_by)
        oldest = {name: now - timedelta(seconds=ROUNDS * every_seconds.get(name, USUAL_SECONDS)) for name in ACTIVITY}
        recent = [one for one in snapshot.readings if one.collector in oldest and one.at >= oldest[one.collector]]
        return Snapshot(snapshot.at, [one for one in recent if not one.error])


def _asked(settings: ProbeSettings, publication: Published) -> RunSettings:
    """What is sent, at which rate."""
    asked = RunSettings(packets_per_second=settings.packets_per_second, version=6 if settings.ipv6 else 4, mtu=0)
    return of_round(asked, publication.round)


def _seen(publication: Published, recordings: Mapping[str, str]) -> Swept:
    """What the recordings of a sweep show beside the newest evaluation's answers."""
    readings = [one for one in publication.snapshot.readings if one.collector != PROBE_COLLECTOR]
    collector, at = collectors()[PROBE_COLLECTOR], publication.snapshot.at
    for host, text in recordings.items():
        with suppress(UnreadableError):
            readings.append(Reading(host, PROBE_COLLECTOR, at, tuple(collector.read(text, Device(host)))))
    return swept(Round(publication.plan, Snapshot(at, readings)))


COUNTED = ("probe_runs_total", "probe_runs_failed_total", "probe_packets_total")


def _slowest(every_seconds: Pace) -> float:
    return max((every_seconds[name] for name in LOAD if name in every_seconds), default=USUAL_SECONDS)


def _left_out(
    settings: ProbeSettings,
    publication: Published,
    nics: tuple[Nic, ...],
    named: Named,
    before: Snapshot,
    after: Snapshot,
) -> dict[str, str]:
    """Hosts that take no part, and why: without a login, with a job, or without a sign that they have none."""
    hosts = {nic.host for nic in nics}
    left_out = {
        host: "not in the inventory, or not by SSH"
        for host in hosts
        if host not in named or kind_of(named[host][0]) != "hosts"
    }
    jobs = publication.round.jobs
    busy = {host: f"job {job.key}" for job in jobs.running for host in job.hosts if host in hosts}
    found = activity(before, after, hosts)
    left_out |= {host: f"busy: {why}" for host, why in (busy | found.busy).items()}
    if not settings.assume_idle:
        left_out |= dict.fromkeys(found.unknown - left_out.keys(), NOT_KNOWN)
    return left_out


def _with_account(target: Target, settings: ProbeSettings) -> Target:
    key = str(settings.key) if settings.key else target.ssh.key
    return replace(target, ssh=replace(target.ssh, user=settings.user, key=key))


def _unseen(done: int, hosts: int, sent: int, planned: int) -> None:
    """No one follows a run of the service."""
