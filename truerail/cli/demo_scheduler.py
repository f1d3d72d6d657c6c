"""The demo's Slurm: the jobs whose traffic the fabric simulates, as squeue and scontrol print them."""

from collections.abc import Mapping, Sequence

from truerail.model import Target
from truerail.model.platforms import SLURM
from truerail.simulator.live import LivingFabric
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.fleet_transport import LOCAL
from truerail.transport.protocol import Answer, Transport

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
