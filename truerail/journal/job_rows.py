"""Runs of jobs in the tables: written with a round, read by time and host."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, exists, func, literal, or_, select

from truerail.errors import NodeSetError
from truerail.files.nodesets import expand
from truerail.journal.salvage import Salvage
from truerail.journal.statements import among_numbers, run, upsert
from truerail.journal.tables import job_hosts, jobs
from truerail.journal.types import Utc, digest
from truerail.model.history import RowRange
from truerail.model.job_record import JobRecord
from truerail.model.names import device_key, short_name


def write_jobs(connection: Connection, runs: Collection[JobRecord]) -> None:
    """Writes runs, and the hosts of each. The columns of the table are the fields of a run, in the same order."""
    if not runs:
        return
    rows = [dict(zip(jobs.c.keys(), astuple(run), strict=True)) for run in runs]
    upsert(connection, jobs, rows, earliest=("first_seen",))
    hosts = {run.id: {host_number(name) for name in node_names(run.nodes)} for run in runs}
    known = _hosts_of(connection, hosts)
    wrong = {number for number, found in known.items() if found != hosts[number]}
    if wrong:
        connection.execute(delete(job_hosts).where(among_numbers(connection, job_hosts.c.job, wrong)))
    fresh = hosts.keys() - known.keys() | wrong
    pairs = [{"host": host, "job": number} for number in fresh for host in hosts[number]]
    run(connection, job_hosts.insert(), pairs)


def _hosts_of(connection: Connection, numbers: Iterable[int]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    asked = select(job_hosts.c.job, job_hosts.c.host).where(among_numbers(connection, job_hosts.c.job, numbers))
    for number, host in connection.execute(asked):
        found.setdefault(number, set()).add(host)
    return found


def host_number(name: str) -> int:
    """The number under which a host is looked up, however its domain is written."""
    return digest(short_name(device_key(name)))


def node_names(nodes: str) -> list[str]:
    """The names of a node set that the journal has."""
    try:
        return expand(nodes) if nodes else []
    except NodeSetError:
        return [nodes]


def open_jobs(salvage: Salvage, connection: Connection) -> tuple[JobRecord, ...]:
    """The runs that have not ended."""
    asked = select(jobs).where(jobs.c.ended_at.is_(None))
    return tuple(salvage.rows(connection, asked, jobs.c.id, _record))


def job_runs(
    salvage: Salvage,
    connection: Connection,
    start: datetime,
    end: datetime,
    hosts: Collection[str] | None,
    page: RowRange,
) -> Sequence[JobRecord]:
    """Runs between two times, those that began last first."""
    begun = func.coalesce(jobs.c.started_at, jobs.c.first_seen)
    recent = or_(jobs.c.ended_at.is_(None), jobs.c.ended_at >= start)
    asked = select(jobs).where(begun <= end)
    if hosts is None:
        asked = asked.where(recent)
    else:
        on = among_numbers(connection, job_hosts.c.host, map(host_number, hosts))
        if _fewer_are_recent(connection, start, on):
            asked = asked.where(recent, exists().where(job_hosts.c.job == jobs.c.id, on))
        else:
            ids = select(job_hosts.c.job).where(on)
            asked = asked.where(jobs.c.id.in_(ids), func.coalesce(jobs.c.ended_at, literal(end, Utc())) >= start)
    asked = asked.order_by(begun.desc(), jobs.c.id).limit(page.limit)
    return salvage.rows(connection, asked, jobs.c.id, _record)


def _fewer_are_recent(connection: Connection, start: datetime, on: ColumnElement[bool]) -> bool:
    """Whether fewer runs ended since a time than were ever on some hosts. SQLite cannot tell, and would read all of the
    more numerous.
    """
    ever = connection.scalar(select(func.count()).select_from(job_hosts).where(on)) or 0
    recent = select(jobs.c.id).where(jobs.c.ended_at >= start).limit(ever).subquery()
    return (connection.scalar(select(func.count()).select_from(recent)) or 0) < ever


def jobs_named(salvage: Salvage, connection: Connection, asked: str, page: RowRange) -> Sequence[JobRecord]:
    """The runs of the job with this key; else of the array with this id, and of the jobs with this name. Those that
    began last first.
    """
    begun = func.coalesce(jobs.c.started_at, jobs.c.first_seen)
    for meant in (jobs.c.job == asked, or_(jobs.c.name == asked, jobs.c.job.startswith(f"{asked}_", autoescape=True))):
        wanted = select(jobs).where(meant).order_by(begun.desc(), jobs.c.id).limit(page.limit)
        if found := salvage.rows(connection, wanted, jobs.c.id, _record):
            return found
    return ()


def _record(row: Row[Any]) -> JobRecord:
    return JobRecord(*tuple(row))
