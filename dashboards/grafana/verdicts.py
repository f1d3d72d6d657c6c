"""What the rules say of a rail, NIC or switch, as one value that colours it: no board has limits of its own.

Amounts, such as the share of time paused, are drawn in shades of blue beside it: how much is too much depends on the
load, on the peers and on how long it lasts, which the rules weigh.
"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana.palette import MISSING, RIGHT, UNKNOWN, WRONG, Steps, said
from dashboards.grafana.panels import Column, history
from dashboards.grafana.queries import FABRIC, over_time

WORDS: Final = {0: ("nothing found", RIGHT), 1: ("unknown", UNKNOWN), 2: ("warning", MISSING), 3: ("critical", WRONG)}
"""The values of a verdict: word and colour."""
NIC: Final = "fabric, pod, host, nic, rail, plane"
"""The labels of a NIC's series."""
AMOUNT: Final[Steps] = (
    (0, "super-light-blue"), (0.01, "light-blue"), (0.1, "blue"), (0.3, "semi-dark-blue"), (0.8, "dark-blue"),
)  # fmt: skip
"""Shades for a share: the darker, the more; none of them says good or bad."""


def verdict(codes: str, over: str, by: str) -> str:
    """The worst open finding of the rules `codes` (a regular expression) for each group `by` (labels) of the series
    `over`: 3 critical, 2 warning, else 1 where one of the rules could not evaluate, else 0.
    """
    found = f'truerail_device_findings{{{FABRIC}, rule=~"{codes}", muted="no", severity="%s"}} * 0 + %d'
    unknown = f'truerail_rule_status{{{FABRIC}, rule=~"{codes}", status=~"unknown|error"}}'
    rest = f"({over}) * 0 + on(fabric) group_left() max by (fabric) ({unknown})"
    worst = "\n  or ".join((found % ("critical", 3), found % ("warning", 2), rest))
    return f"max by ({by}) (\n  {worst}\n)\nand on({by}) ({over})"


def column(field: str) -> Column:
    """The column of a table that shows a verdict."""
    return Column(field, "verdict", mappings=said(WORDS), width=110)


def verdicts(title: str, summary: str, codes: str, over: str, legend: str, *, by: str, width: int = 8) -> Panel:
    """A verdict over time, one band for each group."""
    text = (
        f"{summary}\n\nGreen: the rules found nothing; purple: one of them could not evaluate, or truerail reported "
        "nothing. Acknowledged findings and those in a maintenance window are left out."
    )
    query = over_time(verdict(codes, over, by), legend)
    return history(title, text, query, unit="none", mappings=said(WORDS), width=width, empty="not reported")
