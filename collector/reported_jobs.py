"""The running jobs of any other scheduler (Flux, PBS, LSF), as a command of the site prints them.

Question: which job runs on which hosts?
Needs: a command `truerail-jobs` in the path, written by the site, that prints the jobs and ends with 0. Only a machine
to which the inventory or the setting `jobs` gives the platform `jobs` is polled.

Format: a JSON list, or `{"jobs": [...]}`, of `{"job", "name", "user", "nodes", "gpus", "start_at", "end_at", "state"}`.
`job` and, of one that runs, `nodes` are needed; `nodes` is a list of names or a node set (`gpu-[001-004]`). Times are
seconds since 1970 or ISO 8601 with a zone. It is truerail's own: docs/jobs.md has scripts that print it.

Traps:

- An empty list says that no job runs. A scheduler that does not answer must end the command with another status.
- A job without `state` runs. Others than `RUNNING` are left out of the running ones.
- GPUs are those on all nodes. Without them they are unknown, and so are the GPU-hours.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from collector.formats.slurm_words import Names
from collector.formats.text import decode
from truerail.errors import UnreadableError
from truerail.model import Command, Device, Role, SchedulerJob, collector

MOST_JOBS = 10_000
MOST_NODES = 100_000
_LONGEST = 1024
_KNOWN = frozenset(("job", "name", "user", "nodes", "gpus", "start_at", "end_at", "state"))


@collector(on=[Role.HOST], ask=[Command("truerail-jobs", ("jobs",))], every=30.0, yields=[SchedulerJob], megabytes=16)
def reported_jobs(answer: str, device: Device) -> Iterator[SchedulerJob]:
    """One `SchedulerJob` for each job. Raises `UnreadableError`."""
    document = decode(answer)
    found = document.get("jobs") if isinstance(document, dict) else document
    if not isinstance(found, list):
        raise UnreadableError('not jobs: neither a list nor {"jobs": [...]}', line=1, text=str(document)[:80])
    if len(found) > MOST_JOBS:
        raise UnreadableError(f"{len(found):,} jobs, at most {MOST_JOBS:,}")
    names = Names(MOST_NODES)
    return iter([_job(one, at, names) for at, one in enumerate(found)])


def _job(one: Any, at: int, names: Names) -> SchedulerJob:
    if not isinstance(one, dict):
        raise UnreadableError(f"jobs[{at}] is no object", text=str(one)[:80])
    if strange := sorted(map(str, one.keys() - _KNOWN)):
        raise UnreadableError(f"jobs[{at}] has the unknown field {strange[0][:40]!r}: {', '.join(sorted(_KNOWN))}")
    job = one.get("job")
    if isinstance(job, int) and not isinstance(job, bool):
        job = str(job)
    if not isinstance(job, str) or not job.strip():
        raise UnreadableError(f"jobs[{at}].job is no id", text=str(job)[:80])
    state = _text(one, "state", at)
    state = "RUNNING" if state is None else state.upper()
    ended = "nodes" not in one and "RUNNING" not in state.split("+")
    return SchedulerJob(
        job[:_LONGEST],
        int(job) if job.isascii() and job.isdigit() and len(job) < 19 else None,
        _text(one, "name", at),
        _text(one, "user", at),
        state,
        () if ended else tuple(dict.fromkeys(_nodes(one.get("nodes"), at, names))),
        _number(one, "gpus", at),
        _time(one, "start_at", at),
        _time(one, "end_at", at),
    )


def _nodes(value: Any, at: int, names: Names) -> tuple[str, ...]:
    if isinstance(value, str):
        return names.expand(value)
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise UnreadableError(f"jobs[{at}].nodes is no list of names and no node set", text=str(value)[:80])
    return tuple(name for listed in value for name in names.expand(listed))


def _text(one: dict[str, Any], field: str, at: int) -> str | None:
    value = one.get(field)
    if value is not None and not isinstance(value, str):
        raise UnreadableError(f"jobs[{at}].{field} is no text", text=str(value)[:80])
    return value[:_LONGEST] if value else None


def _number(one: dict[str, Any], field: str, at: int) -> int | None:
    value = one.get(field)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise UnreadableError(f"jobs[{at}].{field} is no number", text=str(value)[:80])
    return value


def _time(one: dict[str, Any], field: str, at: int) -> int | None:
    value = one.get(field)
    if not isinstance(value, str):
        return _number(one, field, at)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise UnreadableError(f"jobs[{at}].{field} is no time", text=value[:80]) from None
    if moment.tzinfo is None:
        raise UnreadableError(f"jobs[{at}].{field} has no zone", text=value[:80])
    return int(moment.timestamp())
