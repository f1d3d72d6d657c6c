"""A job's log joined with what a service has evaluated: its round with the log's facts, and the rules on them."""

from collections.abc import Iterable, Sequence

from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.errors import QueryError
from truerail.model import Fact, Plan, Reading, Snapshot
from truerail.model.names import device_key
from truerail.questions.answers.nccl import NcclAnswer, nccl_answer
from truerail.rounds import evaluate_further

LOG_RULES = ("JOB002", "JOB003", "JOB004", "JOB005", "JOB006")
"""Those that read the logs of jobs."""


def devices_of(names: Iterable[str], plan: Plan) -> list[str]:
    """The device of each log by its name: the planned host that it is named after."""
    known = {device_key(name): name for name in plan.devices}
    return [known.get(device_key(name.partition(".")[0]), f"log {name}") for name in names]


def nccl_asked(publication: Published, logs: Sequence[tuple[str, Sequence[Fact]]], *, hops: bool) -> NcclAnswer:
    """The answer for logs by their names. Raises QueryError if they show no job."""
    past, snapshot = publication.round, publication.snapshot
    devices = devices_of([name for name, _ in logs], publication.plan)
    readings = [
        Reading(device, "nccl_log", snapshot.at, tuple(facts), source=name)
        for (name, facts), device in zip(logs, devices, strict=True)
    ]
    joined = Snapshot(snapshot.at, [*snapshot.readings, *readings], snapshot.previous, snapshot.inventory)
    round = Round(past.plan, joined, past.counters, past.before, past.earlier, past.cabling, past.jobs_before)
    if round.nccl is None:
        raise QueryError("no lines of NCCL with ranks, devices or connections")
    return nccl_answer(round, evaluate_further(publication.evaluation, round, LOG_RULES), round.nccl, hops=hops)
