"""Findings and causes with all their fields, from their rows: open or resolved."""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, select, type_coerce

from truerail.journal import tables
from truerail.journal.bodies import cause_extras, finding_extras
from truerail.journal.row_values import cause_record, finding_record, newest_round_at
from truerail.journal.salvage import Salvage
from truerail.journal.statements import among_numbers
from truerail.journal.types import is_id
from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Cause, Finding, Severity
from truerail.model.history import KeptCause, KeptFinding


def finding_of(row: Row[Any]) -> Finding:
    """A finding. Without a body (a row of an old release) it has no evidence."""
    extras = finding_extras(row.body) if row.body is not None else {"subject": row.subject}
    return Finding(
        rule=row.rule, name=row.name, severity=Severity(row.severity), summary=row.summary, action=row.action,
        expected=row.expected, observed=row.observed, rail=row.rail, **extras,
    )  # fmt: skip


def cause_of(row: Row[Any]) -> Cause:
    """A cause. Without a body (a row of an old release) it has no moves and explains nothing."""
    extras = cause_extras(row.body) if row.body is not None else {"id": ""}
    return Cause(
        kind=CauseKind(row.kind), subjects=tuple(json.loads(row.subjects)), summary=row.summary, action=row.action,
        **extras,
    )  # fmt: skip


def kept_findings(salvage: Salvage, connection: Connection, wanted: Collection[str]) -> list[KeptFinding]:
    """Findings by their ids."""
    ids = [int(one, 16) for one in wanted if is_id(one)]
    among = among_numbers(connection, type_coerce(tables.findings.c.id, BigInteger), ids)
    asked, newest = select(tables.findings).where(among).order_by(tables.findings.c.id), newest_round_at(connection)
    return salvage.rows(
        connection,
        asked,
        tables.findings.c.id,
        lambda row: KeptFinding(finding_record(row, newest), finding_of(row), row.body is not None),
    )


def kept_cause(salvage: Salvage, connection: Connection, wanted: str) -> KeptCause | None:
    """One cause by its key."""
    if not is_id(wanted):
        return None
    asked, newest = select(tables.causes).where(tables.causes.c.id == wanted), newest_round_at(connection)
    found = salvage.rows(
        connection,
        asked,
        tables.causes.c.id,
        lambda row: KeptCause(cause_record(row, newest), cause_of(row), row.body is not None),
    )
    return found[0] if found else None
