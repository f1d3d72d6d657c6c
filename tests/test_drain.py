"""`drain`: what ends, what is left, which jobs are hit, the steps, and the announcement."""

import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from tests.oncall_fabrics import PLANES, PODS, RAIL_ONLY, SPINES, published
from tests.page_site import Site
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import JournalUnavailableError, NotFoundError, QueryError
from truerail.model import CauseKind, Reading, Snapshot
from truerail.model.facts import NetLink
from truerail.model.history import History, MaintenanceWindow, NoHistory
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.drain import QUESTION, drain
from truerail.questions.drain_answer import Drain
from truerail.questions.question import Asked
from truerail.simulator import Fault
from truerail.views.plain import answer_from_json, as_json

NOW = datetime(2026, 11, 20, 14, tzinfo=UTC)
NONE = NoHistory()
CLEAN = published(SPINES)
DOWN = published(SPINES, Fault(CauseKind.LINK_DOWN, "host"), Fault(CauseKind.LINK_DOWN, "uplink"))


def asked(publication: Published, of: str, job: str | None = None, history: History = NONE, **more: str) -> Drain:
    """The answer, whose JSON and text are made too: no line is wider than 80 columns."""
    answer = drain(Asked(publication, history, NOW), of, job, **more)
    assert answer_from_json(Drain, as_json(answer)) == answer
    assert max(map(len, answer_text(answer, Options(80)).splitlines())) <= 80
    assert "truerail maintenance" in answer.command or answer.down_now
    return answer


class Announced(NoHistory):
    """A history with one maintenance window, from an hour on; unreadable without one."""

    def __init__(self, scope: str = "", what: str = "") -> None:
        self.scope, self.what = scope, what

    def windows(self, *, open_only: bool = True) -> tuple[MaintenanceWindow, ...]:
        """The window."""
        if not self.scope:
            raise JournalUnavailableError("gone")
        starts = NOW + timedelta(hours=1)
        return (MaintenanceWindow(1, self.scope, self.what, starts, starts + timedelta(hours=2), "ann", "optics", NOW),)


def test_a_rail_leaf_ends_the_connections_of_its_rail() -> None:
    answer = asked(CLEAN, "leaf-1", "llama=gpu-[001-004]; one=gpu-005; other=gpu-099,gpu-006")
    assert (answer.can_drain_now, answer.rdma_survives) == (False, False)
    assert (answer.hosts_affected, answer.gpus_affected, answer.rails) == (8, 8, (1,))
    assert (answer.connections_lost, answer.connections_kept, answer.connections_unknown) == (8, 0, 0)
    assert {(host.lost, host.left, host.share_left) for host in answer.hosts} == {((1,), (0, 2, 3), 0.75)}
    assert [(job.name, job.effect, job.hosts) for job in answer.jobs] == [
        ("llama", "ends", "gpu-[001-004]"), ("one", "unknown", "gpu-005"), ("other", "unknown", "gpu-006")
    ]  # fmt: skip
    assert answer.not_in_plan == ("gpu-099",)
    assert "34 s" in answer.rdma
    assert answer.summary.startswith("Not now: 3 jobs (llama on 4 hosts")
    assert [step for step in answer.steps if "checkpoint" in step]
    assert answer.command == "truerail maintenance leaf-1 --until 2h --because 'drain of leaf-1'"


def test_without_jobs_it_is_unknown_whether_one_is_hit() -> None:
    answer = asked(CLEAN, "leaf-1")
    assert answer.can_drain_now is None
    assert not answer.jobs_known
    assert "which jobs run is unknown" in answer.summary
    assert QUESTION.good(answer) is None
    idle = published(PODS)
    assert asked(idle, "p1-leaf-1", "far=gpu-[009-012]").can_drain_now is True


def test_a_spine_of_several_ends_nothing() -> None:
    answer = asked(CLEAN, "spine-1", "llama=gpu-[001-004]")
    assert (answer.can_drain_now, answer.rdma_survives) == (True, True)
    assert {(one.planned, one.now, one.left) for one in answer.switches} == {(4, 4, 2)}
    assert (answer.uplink_share_left, answer.share_left) == (0.5, None)
    assert [job.effect for job in answer.jobs] == ["slower"]
    assert not [step for step in answer.steps if "checkpoint" in step]
    assert [step for step in answer.steps if step.startswith("Withdraw its routes")]


def test_the_only_uplinks_cut_leaves_from_each_other() -> None:
    one = published(replace(SPINES, spines=1))
    answer = asked(one, "spine-1", "llama=gpu-[001-004]; single=gpu-005")
    assert answer.rdma_survives is False
    assert "no uplink" in answer.rdma
    assert {job.name: job.effect for job in answer.jobs} == {"llama": "unknown", "single": "slower"}
    assert answer.can_drain_now is None


def test_who_has_a_fault_already_has_both() -> None:
    down = next(finding for finding in DOWN.evaluation.findings if finding.device.startswith("gpu"))
    answer = asked(DOWN, next(f"leaf-{rail}" for rail in range(4) if rail != down.rail))
    assert [fault.hosts for fault in answer.faults if fault.hosts] == [down.device]
    assert f"{down.device} loses both" in answer.summary
    assert answer.steps[0].startswith("Repair the link-down ")
    uplink = next(
        cable for cable, state in DOWN.evaluation.cable_states.items() if state != "right" and cable.device[0] == "l"
    )
    spine = DOWN.plan.cable_at(uplink).b.device  # type: ignore[union-attr]  # it is planned
    least = asked(DOWN, "spine-2" if spine == "spine-1" else "spine-1").switches[0]
    assert (least.switch, least.now, least.left) == (uplink.device, 3, 1)


def test_planes_depend_on_what_no_device_reports_and_bonds_are_known() -> None:
    planes = published(PLANES)
    leaf = planes.plan.cables[0].b.device
    answer = asked(planes, leaf, "llama=gpu-[001-004]")
    assert (answer.rdma_survives, answer.connections_unknown, answer.can_drain_now) == (None, 8, None)
    assert answer.hosts[0].reduced == (0,)
    bonded = asked(bonds(planes), leaf, "llama=gpu-[001-004]")
    assert (bonded.rdma_survives, bonded.connections_kept, bonded.can_drain_now) == (True, 8, True)
    assert "RoCE LAG" in bonded.rdma


def bonds(publication: Published) -> Published:
    """The same fabric, whose hosts report their two planes as members of one bond for each rail."""
    ports: dict[str, list[NetLink]] = {}
    for cable in publication.plan.host_cables:
        link = NetLink(cable.a.name, flags=("UP", "LOWER_UP", "SLAVE"), operstate="UP", master=f"bond{cable.rail}")
        ports.setdefault(cable.a.device, []).append(link)
    more = tuple(Reading(host, "links", publication.at, tuple(links)) for host, links in ports.items())
    snapshot = Snapshot(publication.snapshot.at, (*publication.snapshot.readings, *more))
    round = Round(publication.plan, snapshot)
    return replace(publication, evaluated=EvaluatedRound(round, publication.evaluation))


@pytest.mark.parametrize(
    ("of", "matched", "lost", "command"),
    [
        ("gpu-002", "host", 4, "maintenance gpu-002 "),
        ("rail 1", "rail", 8, "maintenance 'rail 1' "),
        ("gpu-[001-002]", "nodes", 8, "maintenance 'gpu-[001-002]' "),
        ("gpu-002 GPU 1", "gpu", 1, "maintenance gpu-002 "),
    ],
)
def test_hosts_rails_ports_and_node_sets(of: str, matched: str, lost: int, command: str) -> None:
    answer = asked(CLEAN, of, "llama=gpu-[001-004]")
    assert (answer.matched_type, answer.connections_lost, answer.can_drain_now) == (matched, lost, False)
    assert command in answer.command


def test_pairs_of_a_rail_only_fabric_are_cut() -> None:
    assert asked(published(RAIL_ONLY), "leaf-1").pairs_cut == 28


def test_what_is_down_has_nothing_to_drain() -> None:
    off = published(SPINES, Fault(CauseKind.UNREACHABLE, "off"))
    host = off.evaluation.causes[0].subjects[0]
    answer = asked(off, host, f"llama={host}")
    assert (answer.down_now, answer.can_drain_now, answer.command) == (True, True, "")
    assert answer.steps == ("It is down: there is nothing to drain. Repair it.",)


def test_other_announced_work_is_named() -> None:
    answer = asked(CLEAN, "leaf-1", history=Announced("device", "leaf-2"))
    assert [(one.what, one.hosts) for one in answer.other_work] == [("leaf-2", "gpu-[001-008]")]
    assert any(step.startswith("Not together with the maintenance of leaf-2") for step in answer.steps)
    assert asked(CLEAN, "leaf-1", history=Announced("device", "leaf-1")).other_work == ()
    assert asked(CLEAN, "leaf-1", history=Announced("rail", "2"), start="tomorrow").other_work == ()
    assert asked(CLEAN, "spine-1", history=Announced("nodes", "spine-2,gone-9")).other_work[0].switches == "leaf-[0-3]"
    assert not asked(CLEAN, "leaf-1", history=Announced()).other_work_known


def test_a_time_to_come_stands_in_the_announcement() -> None:
    answer = asked(CLEAN, "leaf-1", start="tomorrow 08:00", until="90m", because="new optics;\n rm -r")
    assert answer.announcement.startswith("Maintenance of leaf-1, 2026-11-21 08:00 to 09:30 UTC: new optics; rm -r.")
    assert "--from 2026-11-21T08:00Z --until 2026-11-21T09:30Z --because 'new optics; rm -r'" in answer.command


@pytest.mark.parametrize(
    ("error", "words", "given"),
    [
        (NotFoundError, "leaf-0", {"of": "leaf-00x"}),
        (NotFoundError, "job 'x': the plan has no host 'cpu-1'", {"of": "leaf-1", "job": "x=cpu-1"}),
        (QueryError, "job 'x' is given twice", {"of": "leaf-1", "job": "x=gpu-001;x=gpu-002"}),
        (QueryError, "job 'x': leaf-1 is a switch", {"of": "leaf-1", "job": "x=leaf-1"}),
        (QueryError, "1,001 jobs", {"of": "leaf-1", "job": ";".join(f"j{n}=gpu-001" for n in range(1001))}),
        (QueryError, "before it begins", {"of": "leaf-1", "start": "tomorrow 08:00", "until": "2026-11-20T15:00Z"}),
        (QueryError, "'soon' is not a time", {"of": "leaf-1", "until": "soon"}),
    ],
)
def test_what_is_wrong_is_named(error: type[Exception], words: str, given: dict[str, str]) -> None:
    with pytest.raises(error, match=words.replace("(", r"\(")):
        drain(Asked(CLEAN, NoHistory(), NOW), **given)


def test_the_command_can_be_pasted() -> None:
    with Site(CLEAN) as site:
        run = CliRunner()
        here = ["--service", site.url]
        shown = run.invoke(
            app, ["drain", "leaf-1", "--job", "a=gpu-001", "--job", "b=gpu-002", "--format", "json", *here]
        )
        assert shown.exit_code == 1, shown.output
        answer = answer_from_json(Drain, json.loads(shown.stdout))
        assert [job.name for job in answer.jobs] == ["a", "b"]
        made = run.invoke(app, [*shlex.split(answer.command)[1:], *here])
        assert made.exit_code == 0, made.output
        assert "leaf-1" in made.stdout
        assert run.invoke(app, ["drain", "spine-1", *here]).exit_code == 0
