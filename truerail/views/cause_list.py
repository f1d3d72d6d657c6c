"""The list of causes: filtered, searched and sorted."""

from collections.abc import Callable, Mapping
from typing import Any

from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Severity
from truerail.model.life import LifeState
from truerail.model.names import natural_key
from truerail.views.filters import Part, one_of
from truerail.views.lines import cause_lines
from truerail.views.pieces import CauseLine
from truerail.views.sorting import check_column, contains
from truerail.views.view import View

CAUSE_KEYS: Mapping[str, Callable[[CauseLine], Any]] = {
    "id": lambda line: natural_key(line.id),
    "kind": lambda line: line.kind,
    "severity": lambda line: Severity(line.severity).rank,
    "impact": lambda line: line.impact,
    "confidence": lambda line: line.confidence,
    "explains": lambda line: len(line.explains),
    "moves": lambda line: len(line.moves),
    "state": lambda line: line.state,
    "since": lambda line: line.since.timestamp() if line.since else 0.0,
    "muted": lambda line: line.muted or "",
}
"""The columns that causes are sorted by."""


def cause_rows(
    view: View,
    *,
    kind: str | None = None,
    severity: str | None = None,
    state: str | None = None,
    muted: bool | None = None,
    text: str | None = None,
    sort: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Part[CauseLine]:
    """Causes, by default in order of impact: those from `offset` on, and the total. Filters that are None are not set.
    Raises `QueryError` for an unknown value.
    """
    kinds = None if kind is None else one_of("kind", kind, (one.value for one in CauseKind))
    severities = None if severity is None else one_of("severity", severity, (one.value for one in Severity))
    lives = None if state is None else one_of("state", state, (one.value for one in LifeState))
    lines = [
        line
        for line in cause_lines(view)
        if (kinds is None or line.kind in kinds)
        and (severities is None or line.severity in severities)
        and (lives is None or line.state in lives)
        and (muted is None or (line.muted is not None) == muted)
        and contains(text, line.kind, line.summary, line.action, *line.subjects)
    ]
    if sort:
        check_column(sort.removeprefix("-"), CAUSE_KEYS)
        lines.sort(key=CAUSE_KEYS[sort.removeprefix("-")], reverse=sort.startswith("-"))
    return Part(tuple(lines[offset : offset + limit]), len(lines))
