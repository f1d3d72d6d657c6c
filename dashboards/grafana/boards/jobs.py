"""Jobs: how many the network slows, through what, which ones, and whether their schedulers answer."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import MISSING, UNKNOWN, WRONG, none_is_right
from dashboards.grafana.panels import Column, lines, stat, table
from dashboards.grafana.queries import FABRIC, fresh, instant, over_time, rows

_LEFT_OUT: Final = f"sum by (fabric) (truerail_jobs_left_out{{{FABRIC}}})"
_NONE: Final = "no scheduler has answered"


def board() -> Board:
    """The board."""
    return Board(
        "jobs",
        "Jobs",
        "Running jobs whose hosts a cause lies on: how many, through what, which. Jobs come from the schedulers that "
        "truerail asks; without one there are none here, which is unknown, not none affected.",
        (),
        (
            Row("Does the network slow jobs?", 4, _figures()),
            Row("What affects them?", 9, (_by_kind(), _by_rail())),
            Row("Which jobs?", 10, (_jobs(), _sources())),
        ),
        page="/jobs",
    )


def _figures() -> tuple[Panel, ...]:
    named = f"(count by (fabric) (truerail_job_info{{{FABRIC}}}) or {_LEFT_OUT} * 0)"
    answers = f"min by (fabric) (truerail_job_source_success{{{FABRIC}}})"
    return (
        stat(
            "Affected jobs",
            "Running jobs with a cause on one of their hosts or on the way between them. Normal is 0: the table below "
            "leads to what to do for each.",
            instant(fresh(f"{_LEFT_OUT} + {named}")),
            unit="short", steps=none_is_right(WRONG), width=8, empty=_NONE,
        ),
        stat(
            "Running jobs",
            "Jobs that the schedulers report, or last reported where one does not answer.",
            instant(fresh(f"sum by (fabric) (truerail_jobs_running{{{FABRIC}}})")),
            unit="short", width=8, empty=_NONE,
        ),
        stat(
            "Schedulers without an answer",
            "Schedulers that did not answer when they were last asked: their jobs are those of before.",
            instant(fresh(f"count by (fabric) (truerail_job_source_success{{{FABRIC}}} == 0) or {answers} * 0")),
            unit="short", steps=none_is_right(MISSING), width=8, empty=_NONE,
        ),
    )  # fmt: skip


def _by_kind() -> Panel:
    return lines(
        "Affected jobs by cause",
        "Running jobs that a cause of each kind affects; one with two causes counts twice. unknown: its hosts have no "
        "known way to each other. Normal is no line above 0.",
        over_time(f"sum by (kind) (truerail_job_affected{{{FABRIC}}})", "{{kind}}"),
        unit="short", low=0, width=12, colours={"unknown": UNKNOWN}, empty=_NONE,
    )  # fmt: skip


def _by_rail() -> Panel:
    return lines(
        "Affected GPUs by rail",
        "GPUs of running jobs whose rail a cause lies on. One rail alone points to its leaf, all rails to a host.",
        over_time(f"sum by (rail) (truerail_job_affected_gpus{{{FABRIC}}})", "{{rail}}"),
        unit="short", low=0, width=12, empty="no GPUs are reported for affected jobs",
    )  # fmt: skip


def _jobs() -> Panel:
    page = links.to_page("Job in truerail", f"/jobs/{links.of_field('job_id')}")
    return table(
        "Which jobs are affected",
        "At most fifty, those with most hosts on a fault first in truerail's own page. The link says for each job "
        "which hosts and rails are affected, by what, and what to do.",
        rows(f"sum by (job_id, scheduler) (truerail_job_info{{{FABRIC}}})"),
        columns=(Column("job_id", "job", links=(page,)), Column("scheduler")),
        unit="short", width=12, empty="no running job is known to be affected",
    )  # fmt: skip


def _sources() -> Panel:
    return table(
        "Schedulers",
        "Each scheduler with the jobs it reports and the age of its answer. An old answer is of jobs that may have "
        "ended.",
        rows(f"sum by (source) (truerail_jobs_running{{{FABRIC}}})"),
        rows(f"max by (source) (truerail_job_source_age_seconds{{{FABRIC}}})"),
        columns=(Column("source", "scheduler"), Column("Value #A", "running jobs"),
                 Column("Value #B", "age", "s")),
        unit="short", width=12, empty=_NONE,
    )  # fmt: skip
