"""The event for each evaluation: small, because every open page receives it."""

from typing import Any

import orjson

from truerail.analysis.published import JournalState, Published
from truerail.model import Severity
from truerail.views.fabric_map import FabricMap, changed_cells
from truerail.views.headline import overview_headline
from truerail.views.plain import as_json
from truerail.views.view import view_of

MOST_CHANGED = 20_000
"""Most cells listed one by one; for more, the whole map is sent."""


def reported(before: FabricMap | None, after: FabricMap, publication: Published) -> tuple[str, bytes]:
    """Kind and data of the event for a new evaluation: the changes, or everything if that is shorter."""
    if before is None or before.plan_digest != after.plan_digest:
        return "state", dumped(as_json(after))
    changed = changed_cells(before, after)
    if len(changed) > MOST_CHANGED:
        return "state", dumped(as_json(after))
    return "round", dumped({**_round(publication), "changed": changed})


def _round(publication: Published) -> dict[str, Any]:
    summary, words = publication.evaluation.summary, overview_headline(view_of(publication))
    loud = [
        f for f in (*publication.evaluation.findings, *publication.pending_resolution) if f.id not in publication.mutes
    ]
    return {
        "number": publication.number,
        "at": publication.at.isoformat(),
        "tone": words.tone,
        "headline": words.headline,
        "repair": words.repair,
        "worst": words.worst,
        "cables": {
            "planned": summary.cables_planned,
            "right": summary.cables_right,
            "wrong": summary.cables_wrong,
            "missing": summary.cables_missing,
            "unknown": summary.cables_unknown,
        },
        "findings": {s.value: sum(f.severity is s for f in loud) for s in reversed(Severity)},
        "muted": len(publication.mutes),
        "causes": len(publication.evaluation.causes),
    }


def journal_news(state: JournalState) -> bytes:
    """The data of a `journal` event."""
    return dumped(as_json(state))


def dumped(value: Any) -> bytes:
    """JSON."""
    return orjson.dumps(value)
