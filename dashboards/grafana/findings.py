"""Findings on a board: how many a rule has, and which."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.palette import NEUTRAL, WRONG, Steps, coloured, none_is_right
from dashboards.grafana.panels import Column, stat, table
from dashboards.grafana.queries import FABRIC, POD, fresh, instant, rows

MOST: Final = 200
"""Rows of a table; the page has all."""
SEVERITY: Final = Column("severity", mappings=coloured(("critical", "warning", "info")), width=90)
PLACE: Final = (
    Column("host", links=links.HOST),
    Column("nic"),
    Column("rail", width=70),
    Column("switch", links=links.SWITCH),
    Column("pod", width=90),
)
"""Columns that say what a finding is about."""
_RULE: Final = (Column("rule", width=90), Column("name", "what", width=210))
_ABOUT: Final = "fabric, pod, host, switch, rail, nic, rule, severity"
_MUTED: Final = "Acknowledged findings and those in a maintenance window are not counted."


def counted(code: str, title: str, summary: str, *, colour: str = WRONG, width: int = 4) -> Panel:
    """How many findings a rule has in the whole fabric. Where it could not evaluate it is unknown (NaN), and not
    green."""
    unknown = f'truerail_rule_status{{{FABRIC}, rule="{code}", status=~"unknown|error"}} == 1'
    findings = f'sum by (fabric) (truerail_findings{{{FABRIC}, rule="{code}", muted="no"}})'
    expr = f"{findings}\nor NaN * max by (fabric) ({unknown})"
    text = f"{summary}\n\n0 means that rule {code} found nothing; purple that it could not evaluate. {_MUTED}"
    steps: Steps = none_is_right(colour)
    return stat(title, text, instant(fresh(expr)), unit="short", steps=steps, width=width, empty="not evaluated")


def found(title: str, summary: str, which: str, *, width: int = 24, empty: str = "none reported") -> Panel:
    """The findings that `which` selects (label matchers), each with its place, rule and name."""
    chosen = f'sum by ({_ABOUT}) (truerail_device_findings{{{POD}, {which}, muted="no"}})'
    named = f"max by (fabric, rule, name) (truerail_rule_info{{{FABRIC}}})"
    expr = f"topk({MOST},\n  {chosen}\n  * on(fabric, rule) group_left(name) {named}\n)"
    value = Column("Value", "findings", steps=((0, NEUTRAL),), width=90)
    text = (
        f"{summary}\n\nAt most {MOST} rows. {_MUTED} An empty table is good news only where the counts above are green."
    )
    columns = (SEVERITY, *PLACE, *_RULE, value)
    return table(title, text, rows(expr), columns=columns, worst="findings", unit="short", width=width, empty=empty)
