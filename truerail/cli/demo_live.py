"""`truerail demo`, live: the real service on a simulated fabric; only the devices behind the transport are
simulated.
"""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerail.cli import terminal_output
from truerail.cli.demo_folder import HISTORY, JOURNAL, kept_for_one, refused_as_too_few
from truerail.cli.demo_stage import Stage
from truerail.errors import CommandError
from truerail.model import Target
from truerail.model.platforms import SLURM
from truerail.simulator import Fault
from truerail.simulator.live import LivingFabric, living_fabric
from truerail.simulator.traffic import FlowFault
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.fleet_transport import LOCAL
from truerail.transport.protocol import Answer, Transport

if TYPE_CHECKING:
    from truerail.cli.demo import DemoOptions
    from truerail.roles.post import Post
    from truerail.service.settings import Settings

ROUND_SECONDS = 5
RECOVERY_SECONDS = 15
PATIENCE_SECONDS = 2
"""Most devices of the fabric answer within a tenth of a second; a hanging one is awaited in the background."""


def serve_living(options: "DemoOptions", wanted: Sequence[Fault], traffic: Sequence[FlowFault]) -> None:
    """Serves until Ctrl-C. Raises CommandError for errors that the user has to fix."""
    from truerail.plans import dump_csv
    from truerail.roles.service import serve
    from truerail.service.logs import set_up

    hosts, rails, output = options.hosts, options.rails, options.output
    with refused_as_too_few(hosts, rails):
        fabric = living_fabric(hosts, rails, wanted, options.seed, troubles=traffic)
    with kept_for_one(output):
        needs_free(options.host, options.port)
        settings = demo_settings(output, options.host, options.port)
        set_up(settings.log)
        terminal_output.write(output / "plan.csv", dump_csv(fabric.plan))
        stage = Stage(fabric, hosts, rails, quiet=options.quiet)
        serve(settings, lambda post: _judge(fabric, settings, stage, post))
        kept = [f"The journal is in {output / JOURNAL}"]
        kept += [f"the history in {output / HISTORY}"] if settings.history else []
        terminal_output.say(f"\nStopped. {', '.join(kept)}.")


async def _judge(fabric: LivingFabric, settings: "Settings", stage: Stage, post: "Post") -> None:
    """The judge of a fabric that lives in its process."""
    from truerail.roles.judge import judge
    from truerail.service.plans import PlanInForce

    stop = asyncio.Event()
    playing = asyncio.create_task(fabric.director.play())
    playing.add_done_callback(lambda _: stop.set())
    try:
        plan = PlanInForce(lambda: fabric.plan, fabric.plan)
        transport = WithScheduler(fabric)
        with stage.listening_to_keys():
            await judge(settings, (*fabric.targets, SLURM_TARGET), plan, transport, post, ready=stage.open, stop=stop)
    finally:
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing


def demo_settings(output: Path, host: str, port: int) -> "Settings":
    """The service's settings: quick rounds, a journal in the folder. They ignore the environment, which may name the
    journal of a real fabric. Raises CommandError for an address that is not loopback.
    """
    from datetime import timedelta

    from collector import collectors
    from truerail.extras import installed
    from truerail.model.names import is_loopback
    from truerail.service.settings import HistoryStore, Http, Journal, Log, Recovery, Schedule, Settings

    class DemoSettings(Settings):
        """Settings exactly as written here."""

        @classmethod
        def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any) -> Any:
            return (init_settings,)

    if not is_loopback(host):
        raise CommandError(f"--host {host}: the demo has no access control, so it serves this machine only")
    return DemoSettings(
        fabric="demo",
        inventory=output / "inventory.yaml",
        http=Http(host=host, port=port),
        journal=Journal(url=f"sqlite:///{(output / JOURNAL).absolute()}"),
        history=HistoryStore(path=output.absolute() / HISTORY) if installed("history") else None,
        schedule=Schedule(
            every=dict.fromkeys(collectors(), timedelta(seconds=ROUND_SECONDS)),
            jitter=timedelta(0),
            poll_timeout=timedelta(seconds=PATIENCE_SECONDS),
        ),
        recovery=Recovery(resolve_after=timedelta(seconds=RECOVERY_SECONDS)),
        log=Log(level="warning"),
    )


def needs_free(host: str, port: int) -> None:
    """Raises CommandError that names the port if another program listens on it; 0 is any port."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return
    except OSError as error:
        why = error.strerror or str(error)
    raise CommandError(f"port {port} of {host}: {why}. Set another with --port; --port 0 takes any free one")


# ----------------------------------------------------------------------------------------------------------------------
# The demo's Slurm: the jobs whose traffic the fabric simulates, as squeue and scontrol print them.

SLURM_TARGET = Target(SLURM, LOCAL, platform=SLURM)
_FIRST_JOB = 4101
_USERS = ("ana", "bo", "chen")


class WithScheduler:
    """The `Transport` of a fabric, and of the Slurm whose jobs run on it."""

    def __init__(self, fabric: LivingFabric) -> None:
        self._fabric: Transport = fabric.transport
        self._answers = _answers(fabric)

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises like the fabric's own transport."""
        if target.platform != SLURM:
            return await self._fabric.ask(target, commands)
        refuse_undeclared(target, commands)
        return [self._answer(command) for command in commands]

    async def close(self) -> None:
        """Nothing is open."""
        await self._fabric.close()

    def _answer(self, command: str) -> Answer:
        found = next((text for part, text in self._answers.items() if part in command), None)
        return Answer(command, error="exit status 1", refused=True) if found is None else Answer(command, found)


def _answers(fabric: LivingFabric) -> Mapping[str, str]:
    """The answers by a part of their commands. Each host has a GPU for each of its rails."""
    shape, began = fabric.living.world.fabric.shape, int(fabric.living.ambient.now().timestamp())
    hosts = [name for name in fabric.plan.devices if fabric.living.world.is_host(name)]
    busy = {host for job in fabric.traffic.jobs for host in job.hosts}
    jobs, nodes = "", ""
    for number, job in enumerate(fabric.traffic.jobs):
        fields = (
            *(_FIRST_JOB + number, _FIRST_JOB + number, "N/A", "RUNNING", ",".join(sorted(job.hosts)), len(job.hosts)),
            *(f"gres:gpu:h100:{shape.rails}", began - 3600 * (number + 1), "NONE", _USERS[number % len(_USERS)]),
            *("research", "train", job.name),
        )
        jobs += "\x1f".join(map(str, fields)) + "\n"
    for host in hosts:
        state = "ALLOCATED" if host in busy else "IDLE"
        nodes += f"NodeName={host} ActiveFeatures=h100 Gres=gpu:h100:{shape.rails} NodeHostName={host} State={state}\n"
    return {"squeue -h": jobs, "show node": nodes}
