"""Open causes on a board: the table with what to do first, those that have no row, and marks of begin and end."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import AnnotationQuery, Panel

from dashboards.grafana import links
from dashboards.grafana.findings import SEVERITY
from dashboards.grafana.palette import MISSING, NEUTRAL, none_is_right
from dashboards.grafana.panels import Column, stat, table
from dashboards.grafana.queries import FABRIC, POD, SOURCE, fresh, instant, rows

IDENTITY: Final = "fabric, pod, cause, kind, severity, muted"
"""The labels that identify a cause, on all its series."""
_TEXTS: Final = "subject, summary, action, rack, unit"
_OPEN: Final = f'{POD}, muted="no"'
_RANKS: Final = {"critical": 2_000_000, "warning": 1_000_000, "info": 1}
"""More than a fabric has GPUs, so that severity comes first."""
_PAGE: Final = links.to_page("Cause in truerail", f"/causes/{links.of_field('cause')}")
_MUTED: Final = "Acknowledged causes and those in a maintenance window are left out."
_STEP: Final = "60s"
"""Gaps of a mark that are bridged; what Grafana takes if nothing is said."""


def causes() -> Panel:
    """Every cause that has a series of its own, the most severe first, then by affected GPUs."""
    columns = (
        SEVERITY,
        Column("Value #B", "since", unit="dateTimeFromNow", width=110),
        Column("kind", "cause", width=120),
        Column("summary", "what", links=(_PAGE,), wrap=True),
        Column("subject", "where", wrap=True, width=190),
        Column("rack", width=70),
        Column("unit", width=50),
        Column("Value #C", "affected GPUs", steps=((0, NEUTRAL),), width=90),
        Column("Value #D", "hosts", width=70),
        Column("action", "first action", wrap=True),
        Column("cause", "page", links=(_PAGE,), width=120),
    )
    return table(
        "Causes",
        "Each open cause: since when, what, where, how many GPUs lose their rail or wait, and what to do first. The "
        f"link leads to its page with evidence, moves and alerts. Unknown effects are unknown, not none. {_MUTED}",
        rows(_ranked()),
        rows(f"1000 * {_with_texts('truerail_cause_since_timestamp_seconds')}"),
        rows(_with_texts("truerail_cause_affected_gpus")),
        rows(_with_texts("truerail_cause_affected_hosts")),
        columns=columns,
        unit="short",
        width=24,
        empty="none reported",
    )


def _ranked() -> str:
    """The causes with their texts, in the order in which they are read."""
    ranks = "\nor ".join(f"{_info(severity)} * {rank}" for severity, rank in _RANKS.items())
    gpus = f"on({IDENTITY}) group_left() max by ({IDENTITY}) (truerail_cause_affected_gpus{{{_OPEN}}})"
    return f"sort_desc(\n({ranks}) + {gpus}\nor\n({ranks})\n)"


def _with_texts(metric: str) -> str:
    return f"max by ({IDENTITY}) ({metric}{{{_OPEN}}})\n* on({IDENTITY}) group_left({_TEXTS}) {_info('.*')}"


def _info(severity: str) -> str:
    """The causes of a severity, each once: after a change of its text a second one may still be in sight."""
    return f'topk by ({IDENTITY}) (1, truerail_cause_info{{{_OPEN}, severity=~"{severity}"}})'


def folded(width: int) -> Panel:
    """How many causes have no row in that table."""
    none = f"0 * max by (fabric) (truerail_evaluation_number{{{FABRIC}}})"
    return stat(
        "Causes without a row",
        "Open causes beyond the 200 worst, which have series of their own. Normal is 0; while a fabric is being cabled "
        f"there are many. truerail's page lists them all. {_MUTED}",
        instant(fresh(f"sum by (fabric) (truerail_causes_folded{{{_OPEN}}})\nor {none}")),
        unit="short",
        steps=none_is_right(MISSING),
        width=width,
    )


def marks(*, of_pods: bool) -> AnnotationQuery:
    """Regions on every panel over time: each cause from its begin to its end."""
    which = f'{POD if of_pods else FABRIC}, muted="no", severity!="info"'
    return AnnotationQuery(
        name="Causes",
        datasource=SOURCE,
        icon_color="orange",
        expr=f"max by ({IDENTITY}, subject) (truerail_cause_info{{{which}}})",
        step=_STEP,
        title_format="{{kind}}",
        text_format="{{subject}}",
        tag_keys="severity",
        use_value_for_time=False,
    )


def job_marks() -> AnnotationQuery:
    """Regions on every panel over time: each job from when a fault begins to affect it, or it begins on one, to the end
    of either.
    """
    return AnnotationQuery(
        name="Affected jobs",
        datasource=SOURCE,
        icon_color="purple",
        expr=f"max by (fabric, scheduler, job_id) (truerail_job_info{{{FABRIC}}})",
        step=_STEP,
        title_format="job {{job_id}}",
        text_format="{{scheduler}} job {{job_id}} is affected by a fault of the network",
        tag_keys="scheduler",
        use_value_for_time=False,
    )
