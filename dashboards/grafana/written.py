"""Boards as the text of their files: sorted, stable, and without what the kit gets wrong."""

import json
from typing import Any, Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.grafana.layout import Board, built

_NOT_OF_VARIABLES: Final = ("auto", "auto_min", "auto_count", "definition")
"""What the kit writes into variables, and Grafana's types do not know there: fields of intervals, a second query."""


def text(board: Board, truerail: str) -> str:
    """A board's file; `truerail` is the address of truerail's page."""
    made = json.loads(json.dumps(built(board, truerail), cls=JSONEncoder))
    return json.dumps(cleaned(made), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def cleaned(made: dict[str, Any]) -> dict[str, Any]:
    """A board without what Grafana does not take as the kit writes it."""
    for variable in made["templating"]["list"]:
        for key in _NOT_OF_VARIABLES:
            variable.pop(key, None)
        if variable["type"] == "constant":
            variable["skipUrlSync"] = True  # nobody's address may lead the links elsewhere
    for panel in made["panels"]:
        for one in (panel, *panel.get("panels", ())):
            one.get("options", {}).pop("footer", None)  # of a table; Grafana 13 keeps it in the columns
    for link in made["links"]:
        link.pop("placement", None)  # the kit puts every link into a menu; these stand above the board
    return {"id": None, **made}
