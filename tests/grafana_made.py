"""Generated boards, taken apart: what the tests of boards and of their parts both need."""

import json
from collections.abc import Iterator
from typing import Any

from dashboards.grafana.layout import Board, Row
from dashboards.grafana.written import text

PAGE = "https://truerail.example.net"


def panels(board: Any) -> Iterator[Any]:
    """Every panel that is no row, those in collapsed rows too."""
    for panel in board["panels"]:
        yield from panel.get("panels", ())
        if panel["type"] != "row":
            yield panel


def properties(panel: Any, kind: str) -> Iterator[Any]:
    """The values of a property wherever a panel sets it: for all fields, and for some."""
    config = panel["fieldConfig"]
    if kind in config["defaults"]:
        yield config["defaults"][kind]
    for override in config["overrides"]:
        yield from (one["value"] for one in override["properties"] if one["id"] == kind)


def overrides(panel: Any) -> dict[str, dict[str, Any]]:
    """What holds for some fields of a panel: by the type or name of the field, and the property."""
    return {
        override["matcher"]["options"]: {prop["id"]: prop["value"] for prop in override["properties"]}
        for override in panel["fieldConfig"]["overrides"]
    }


def one(panel: Any) -> Any:
    """A panel as it is written, on a board of its own."""
    return next(panels(json.loads(text(Board("lone", "Lone", "One panel.", (), (Row("Only", 4, (panel,)),)), PAGE))))
