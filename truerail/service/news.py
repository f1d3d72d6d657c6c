"""What the event stream tells of each judgement: small, because everybody who looks gets it."""

from typing import Any

import orjson

from truerail.model import Severity
from truerail.model.publication import JournalState, Publication
from truerail.oncall.answers import as_json
from truerail.oncall.fabric_map import FabricMap, changed_cells
from truerail.oncall.view import view_of

MOST_CHANGED = 20_000
"""More cells than this are not listed one by one: the whole map is sent."""


def told(before: FabricMap | None, after: FabricMap, publication: Publication) -> tuple[str, bytes]:
    """The kind and data of the event for a new judgement: what changed, or everything where that is shorter."""
    if before is None or before.plan_digest != after.plan_digest:
        return "state", dumped(as_json(after))
    changed = changed_cells(before, after)
    if len(changed) > MOST_CHANGED:
        return "state", dumped(as_json(after))
    return "round", dumped({**_round(publication), "changed": changed})


def _round(publication: Publication) -> dict[str, Any]:
    summary, words = publication.judgement.summary, view_of(publication).headline
    loud = [f for f in (*publication.judgement.findings, *publication.held) if f.id not in publication.mutes]
    return {
        "number": publication.number,
        "at": publication.at.isoformat(),
        "tone": words.tone.value,
        "headline": words.cables,
        "cables": {
            "planned": summary.cables_planned,
            "right": summary.cables_right,
            "wrong": summary.cables_wrong,
            "missing": summary.cables_missing,
            "unknown": summary.cables_unknown,
        },
        "findings": {s.value: sum(f.severity is s for f in loud) for s in reversed(Severity)},
        "muted": len(publication.mutes),
        "causes": len(publication.judgement.causes),
    }


def journal_news(state: JournalState) -> bytes:
    """The data of a `journal` event."""
    return dumped(as_json(state))


def dumped(value: Any) -> bytes:
    """JSON."""
    return orjson.dumps(value)
