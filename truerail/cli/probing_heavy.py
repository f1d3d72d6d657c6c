"""The heavy part of `truerail probe`: RDMA tests between hosts that are idle at that moment."""

import asyncio
from collections.abc import Iterator, Mapping

from truerail.cli import live, terminal_output
from truerail.model import Target
from truerail.poller import Limits
from truerail.probe.heavy import GPUS_UNKNOWN, SECONDS, HeavyPlan, gpus_unknown
from truerail.probe.idle import ACTIVITY, LOAD, activity
from truerail.probe.runner import Progress, Run, script
from truerail.transport.probe_session import ProbeSessions
from truerail.transport.protocol import Transport

_APART_SECONDS = 1.0
NOT_KNOWN = "does not show whether it is busy"


def summary(plan: HeavyPlan) -> Iterator[str]:
    """What the tests will send, for an operator to agree to."""
    tests = plan.total // 2
    yield (
        f"heavy: {tests:,} tests of RDMA between {len(plan.hosts):,} hosts, {plan.slots:,} after each other, "
        f"in {plan.seconds:,.0f} s: one NIC of a host at a time sends at full speed for {SECONDS} s"
    )
    if plan.left_out:
        left_out = [f"{host} ({why})" for host, why in list(plan.left_out.items())[:8]]
        yield f"left out of it, {len(plan.left_out):,} hosts: {', '.join(left_out)}"


def run_heavy(plan: HeavyPlan, fleet: live.Fleet, targets: Mapping[str, Target], progress: Progress) -> dict[str, str]:
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
            | dict.fromkeys(found.unknown, NOT_KNOWN)
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
