"""Boards as the text of their files: sorted, stable, and without what the kit gets wrong."""

import json
from typing import Any, Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.grafana.layout import Board, built

WIDTH: Final = 160
"""Columns of a line of the files; only queries, texts and the fields of panels are longer."""
_NOT_OF_VARIABLES: Final = ("auto", "auto_min", "auto_count", "definition")
"""What the kit writes into variables, and Grafana's types do not know there: fields of intervals, a second query."""


def text(board: Board, truerail: str) -> str:
    """A board's file; `truerail` is the address of truerail's page."""
    made = json.loads(json.dumps(built(board, truerail), cls=JSONEncoder))
    return _laid_out(cleaned(made), 0) + "\n"


def _laid_out(value: Any, depth: int, *, in_one: bool = False) -> str:
    """JSON with sorted keys, in which a value that fits on a line has one line, and so has each variable, link and
    query, and each field of a panel: a board is read in Grafana, and a change of it by the field.
    """
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if in_one or not value or not isinstance(value, (dict, list)) or depth + len(line) <= WIDTH:
        return line
    inner, outer = " " * (depth + 2), " " * depth
    if isinstance(value, list):
        parts = [inner + _laid_out(one, depth + 2, in_one="gridPos" not in one) for one in value]
        return "[\n" + ",\n".join(parts) + f"\n{outer}]"
    of_panel = "gridPos" in value and "panels" not in value
    pairs = [
        f"{inner}{json.dumps(key)}: {_laid_out(value[key], depth + 2, in_one=of_panel and key != 'targets')}"
        for key in sorted(value)
    ]
    return "{\n" + ",\n".join(pairs) + f"\n{outer}}}"


def cleaned(made: dict[str, Any]) -> dict[str, Any]:
    """A board without what Grafana does not take as the kit writes it."""
    for variable in made["templating"]["list"]:
        for key in _NOT_OF_VARIABLES:
            variable.pop(key, None)
        if variable["type"] == "constant":
            variable["skipUrlSync"] = True  # no one's address may lead the links elsewhere
    for panel in made["panels"]:
        for one in (panel, *panel.get("panels", ())):
            one.get("options", {}).pop("footer", None)  # of a table; Grafana 13 keeps it in the columns
    for one in (*made["links"], *made["annotations"]["list"]):
        one.pop("placement", None)  # the kit puts every link and switch into a menu; these stand above the board
    return {"id": None, **made}
