"""Days without a fault: their jobs, what is said of them, the file that keeps it, and what the page makes of it."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from benchmarks.telemetry import results as telemetry_results
from benchmarks.telemetry.bounds import at_least, at_most
from benchmarks.telemetry.days import Alarm, alarms_of, draw_day
from benchmarks.telemetry.drawn import draw, habits_of
from benchmarks.telemetry.jobs import jobs_of_day
from benchmarks.telemetry.measure import measure, publish
from benchmarks.telemetry.report import report
from benchmarks.telemetry.results import Results, State
from benchmarks.telemetry.scoring import Score
from benchmarks.telemetry.targets import SECTION, summary, target_rows
from truerail.model import CauseKind
from truerail.simulator.traffic import FlowFault, FlowFaultKind, Pattern

HOSTS = [f"gpu-{number:03}" for number in range(32)]
DAY = 86400.0
CRITICAL = Alarm(3, 300.0, "PFC001", "critical", "gpu-001/nic0", "a storm")
LOAD = Alarm(3, 450.0, "ECN001", "warning", "gpu-001/nic0", "marks")


@pytest.mark.parametrize("seed", range(4))
def test_no_host_has_two_jobs_and_checkpoints_are_written_while_a_job_waits(seed: int) -> None:
    jobs = jobs_of_day(HOSTS, 4, DAY, Random(seed))
    stores = {"gpu-030", "gpu-031"}
    by_host: dict[str, list[tuple[float, float]]] = {}
    for job in jobs:
        assert (job.pattern is Pattern.STORAGE) == bool(stores & set(job.hosts))
        for host in set(job.hosts) - stores:
            by_host.setdefault(host, []).append((job.begins, job.ends))
    assert all(one[1] <= other[0] for spans in by_host.values() for one, other in pairwise(sorted(spans)))
    patterns = {job.pattern for job in jobs}
    assert {Pattern.RING, Pattern.ALL_TO_ALL, Pattern.STORAGE} <= patterns
    assert len({job.name for job in jobs}) > 10


def test_a_quiet_hour_has_no_alarm_and_a_storm_in_it_has() -> None:
    assert [alarm for alarm in alarms_of(draw_day(0), 1800.0) if not alarm.load] == []
    stormy = draw_day(0)
    stormy.traffic.plant(FlowFault(FlowFaultKind.STORM, since=60.0))
    reported = list(alarms_of(stormy, 900.0))
    assert {(alarm.rule, alarm.severity) for alarm in reported} >= {("PFC001", "critical")}
    assert len({(alarm.rule, alarm.severity, alarm.subject) for alarm in reported}) == len(reported)


def test_runs_with_a_fault_have_habits_too_and_keep_their_traffic() -> None:
    drawn = [habits_of(seed) for seed in range(60)]
    assert {habit for of in drawn for habit in of} > {"port_cache", "na_cells", "pfc_total_only"}
    assert 20 < sum(not of for of in drawn) < 50
    seed = next(number for number, of in enumerate(drawn) if of)
    assert draw(seed).traffic.habits.names == {*drawn[seed]}


def test_the_same_number_is_the_same_day() -> None:
    assert draw_day(5).traffic.jobs == draw_day(5).traffic.jobs
    assert draw_day(5).traffic.jobs != draw_day(13).traffic.jobs


def test_what_was_measured_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.jsonl"
    state = State(path)
    one = Score(runs=1, found=1, seconds=[30.0], mistakes=["a"])
    one.false[CauseKind.OVERLOAD] = 2
    state.add_run(200, "storm", one)
    state.add_day(3, [CRITICAL, LOAD])
    again = State(path).results
    assert again == state.results
    assert again.held_out["storm"].false == {CauseKind.OVERLOAD: 2}
    assert again.alarms == [CRITICAL, LOAD]
    monkeypatch.setattr(telemetry_results, "code_digest", lambda: "other code")
    assert State(path).results == Results()
    assert len({json.loads(line)["code"] for line in path.read_text().splitlines()}) == 1


def test_nothing_is_begun_after_the_time_is_over() -> None:
    assert measure(State(None), 10, 10, 0.0) == Results()


def test_bounds() -> None:
    assert at_most(0) == pytest.approx(2.996, abs=0.001)
    assert at_most(1) == pytest.approx(4.744, abs=0.001)
    assert at_least(59, 59) == pytest.approx(0.9505, abs=0.0001)
    assert at_least(9, 10) == pytest.approx(0.6058, abs=0.0001)
    assert at_least(0, 5) == 0.0


@pytest.mark.parametrize(
    ("days", "alarms", "verdict"), [(100, [], "met"), (99, [], "not measured"), (4, [CRITICAL], "**missed**")]
)
def test_a_hundred_days_without_a_critical_finding_are_promised(days: int, alarms: list[Alarm], verdict: str) -> None:
    row = list(target_rows(Results(days=dict.fromkeys(range(days), ()) | {3: alarms})))[-1]
    assert row.endswith(f"| {verdict} |")
    assert f"| {len(alarms)} in {days} days, " in row


def test_the_page_lists_every_false_finding_and_counts_congestion_apart() -> None:
    page = report(Results(days={2: (), 3: [CRITICAL, LOAD]}))
    assert "- day 3, 300 s: PFC001 critical, gpu-001/nic0: a storm" in page
    assert "| PFC001 | critical | 1 | 0.50 | 1 | 100 |" in page
    assert "day 3, 450 s" not in page
    assert "because jobs make it: 1, 0.5 a day." in page


def test_the_summary_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    beside = tmp_path / "accuracy.md"
    beside.write_text(f"# Accuracy\n\n{summary(Results())}\n\n## Mistakes\n", encoding="utf-8")
    results = Results(days={3: [CRITICAL, LOAD]})
    publish(results, tmp_path / "telemetry-accuracy.md")
    text = beside.read_text(encoding="utf-8")
    assert text == f"# Accuracy\n\n{summary(results)}\n\n## Mistakes\n"
    assert SECTION.of(text) == summary(results)
    assert "# Accuracy of telemetry" in (tmp_path / "telemetry-accuracy.md").read_text(encoding="utf-8")
    beside.write_text("# Accuracy\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"accuracy\.md has no section about telemetry"):
        publish(results, tmp_path / "telemetry-accuracy.md")
