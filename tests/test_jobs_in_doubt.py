"""A job is not fine while rules on its traffic are not evaluated, or a cause on its way has an unknown effect; and what
is found shows its numbers.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from tests.demo_faults_shown import COUNTERS
from tests.living_site import Site
from truerail.analysis.published import JournalState, Published
from truerail.analysis.running_jobs import JobSource, RunningJob
from truerail.cli.demo_live import ROUND_SECONDS, demo_settings
from truerail.model.history import NoHistory
from truerail.outputs.options import Options
from truerail.questions import question_of
from truerail.questions.answer_text import answer_text
from truerail.questions.job import job
from truerail.questions.jobs import runs_of
from truerail.questions.jobs_answer import JobRun
from truerail.questions.rail_status import rail_status_of
from truerail.questions.why import why
from truerail.service.evaluator import Evaluator
from truerail.simulator.fabric.demo_fabric import living_shape
from truerail.simulator.live import Pace
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.views.lines import cause_lines
from truerail.views.view import view_of

HOSTS = 16


def published(kind: FlowFaultKind, seconds: float) -> Iterator[Published]:
    """What the service publishes every round, up to so many seconds."""
    site = Site(troubles=[FlowFault(kind)], shape=living_shape(HOSTS, 4, [kind]), pace=Pace())
    evaluator, began = Evaluator.begin(demo_settings(Path(), "127.0.0.1", 0)), site.seconds
    while site.seconds - began < seconds:
        site.wait(ROUND_SECONDS)
        seen = site.round()
        counted = [reading for reading in seen.readings if reading.collector in COUNTERS]
        yield evaluator.evaluate(
            site.fabric.plan, seen.snapshot(), counted, (), {}, JournalState(), (), (), site.now
        ).publication


@cache
def last(kind: FlowFaultKind, seconds: float) -> Published:
    """The last of them."""
    *_, publication = published(kind, seconds)
    return publication


def running(publication: Published, *hosts: str) -> JobRun:
    """A job on these hosts, as `jobs` has it."""
    of = RunningJob("7", "slurm", "ctl", hosts=hosts)
    (found,) = runs_of(
        view_of(publication), rail_status_of(publication.evaluated), (of,), (JobSource("ctl", "slurm", publication.at),)
    )
    return found


def test_a_job_is_unknown_until_its_rules_are_evaluated() -> None:
    hosts = [f"gpu-{number:03}" for number in range(1, HOSTS + 1)]
    ready: set[datetime] = set()
    for publication in published(FlowFaultKind.STRAGGLER, 150):
        answer, run = job(publication, ",".join(hosts)), running(publication, *hosts)
        early = [one for one in publication.evaluation.verdicts if one.ready_at]
        ready |= {one.ready_at for one in early if one.ready_at}
        if any(one.rule.startswith("RAL") for one in early) and not answer.causes:
            assert question_of(answer).good(answer) is None, "known neither way"
            assert f"{max(ready):%H:%M:%S} UTC" in answer.summary
            assert run.unseen.startswith("not evaluated: ")
    assert len(ready) == 1, "one time for all"
    assert publication.at >= ready.pop()
    assert question_of(answer).good(answer) is False, answer.summary
    assert answer.summary.startswith("Yes: slow host")
    assert run.affected


def test_a_cause_of_unknown_effect_is_on_the_way_of_jobs_that_cross_leaves() -> None:
    publication = last(FlowFaultKind.POLARIZATION, 60)
    (line,) = [one for one in cause_lines(view_of(publication)) if one.kind == "ecmp-polarization"]
    assert (line.impact, line.impact_known) == (0, False)
    wide = running(publication, "gpu-001", f"gpu-{HOSTS:03}")
    assert "ecmp-polarization at p1-spine-1" in wide.unevaluated
    assert not wide.affected
    narrow = running(publication, "gpu-001", "gpu-002")
    assert "ecmp-polarization" not in narrow.unevaluated
    answer = job(publication, f"gpu-001,gpu-{HOSTS:03}")
    assert question_of(answer).good(answer) is None
    assert answer.summary.startswith("Perhaps: ecmp-polarization at p1-spine-1 may be on their way")
    assert answer.action == line.action


@pytest.mark.parametrize("options", [Options(), Options(details=True)])
def test_why_shows_the_counters_that_made_a_finding(options: Options) -> None:
    publication = last(FlowFaultKind.STORM, 30)
    (cause,) = [one for one in publication.evaluation.causes if one.kind == "pfc-storm"]
    for wanted in (cause.key, cause.explains[0]):
        answer = why(publication, NoHistory(), wanted)
        counted = [one for one in answer.evidence if one.kind == "PortCounters"]
        assert {one.device for one in counted} >= {cause.subjects[0].partition("/")[0]}
        assert all(one.at <= publication.at and one.source for one in counted)
        assert "pause" in answer_text(answer, options)
