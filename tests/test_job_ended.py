"""Jobs that have ended: an id leads to its hosts and to what was wrong then."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from collector import collectors
from tests.fake_tower import settings as made
from tests.patience import until
from tests.watched_service import fabric_of, run, settings_for, steady, watched
from truerail.errors import TransportError, UndeclaredCommandError
from truerail.journal import open_journal
from truerail.model import Target
from truerail.model.job_record import JobRecord
from truerail.service.job_finder import JobFinder
from truerail.service.settings import Journal as Kept
from truerail.transport.capture_files import JOB
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.protocol import Answer
from truerail.web.application import create_app

RECORDED = Path(__file__).parent / "recordings" / "slurm_jobs"
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
SLURM = Target("slurm", "local", platform="slurm")


class Recorded:
    """Answers by the first word of the command that matters. `asked` has the commands."""

    def __init__(self, asked: list[str], **answers: str) -> None:
        self._answers, self._asked = answers, asked

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        refuse_undeclared(target, commands)
        self._asked += commands
        found = [next((text for word, text in self._answers.items() if word in one), None) for one in commands]
        if "away" in self._answers:
            raise TransportError("timed out")
        return [
            Answer(one, error="Invalid job id specified", refused=True) if text is None else Answer(one, text)
            for one, text in zip(commands, found, strict=True)
        ]

    async def close(self) -> None:
        self._asked.append("closed")


def found(key: str, targets: Sequence[Target] = (SLURM,), **answers: str) -> tuple[list[JobRecord], list[str]]:
    asked: list[str] = []

    async def body() -> None:
        finder = JobFinder(lambda: Recorded(asked, **answers))
        shown = {"show_users": "hide" not in answers, "show_names": "hide" not in answers}
        records.extend(await finder.find(key, targets, NOW, **shown))
        again = len(asked)
        assert list(await finder.find(key, targets, NOW, **shown)) == records
        assert len(asked) == again, "asked once in half a minute"

    records: list[JobRecord] = []
    run(body)
    return records, asked


def recorded(name: str) -> str:
    return (RECORDED / name / "answer.txt").read_text(encoding="utf-8")


def test_slurm_is_asked_for_a_job_by_its_id_alone() -> None:
    runs, asked = found("1234", sacct=recorded("accounting"))
    assert [(one.key, one.nodes, one.gpus, one.name, one.user) for one in runs] == [
        ("1234", "gpu-[001-002]", 16, "llama | 70b", "ann"),
        ("1234", "gpu-[003-004]", 16, "llama | 70b", "ann"),
    ]
    assert runs[0].ended_at == datetime.fromtimestamp(1795327200, UTC)
    assert [one.rpartition(" ")[2] for one in asked] == ["1234", "1234", "closed"]
    (hidden, _), _ = found("1234", sacct=recorded("accounting"), hide="")
    assert (hidden.name, hidden.user) == ("", "")
    assert [one.key for one in found("324", sacct=recorded("accounting"))[0]] == ["324_5"], "what waits has no nodes"
    ((het,), _) = found("5", sacct=recorded("accounting"))
    assert (het.key, het.ended_at) == ("5", None)
    both = found("1234", sacct=recorded("accounting"), scontrol=recorded("records_2205"))
    assert len(both[0]) == 2, "records of other jobs do not count"


def test_what_is_no_id_or_no_answer_finds_nothing() -> None:
    for key in ("llama", "ml/llama", "1;reboot", "$(id)", "-j", "324_[1-9]", "1" * 11, ""):
        assert found(key) == ([], [])
    assert found("1234", targets=[Target("other", "local", platform="jobs")]) == ([], [])
    assert found("1234")[0] == []
    assert found("1234", away="")[0] == []
    assert found("1234", sacct="JobID|State\nx", scontrol="slurm_load_jobs error")[0] == []


def test_a_command_takes_the_id_of_a_job_and_nothing_else() -> None:
    declared = [one.text for one in collectors()["slurm_jobs"].ask if one.text.endswith(JOB)]
    assert len(declared) == 4
    sacct = next(one for one in declared if "sacct" in one).removesuffix(JOB)
    refuse_undeclared(SLURM, [sacct + key for key in ("1234", "324_5", "5+0")])
    for key in ("", "1 -M all", "1;id", "1\n", "a", "{job}"):
        with pytest.raises(UndeclaredCommandError):
            refuse_undeclared(SLURM, [sacct + key])
    with pytest.raises(UndeclaredCommandError):
        refuse_undeclared(Target("h", "local", platform="linux"), [sacct + "1234"])


def test_the_journal_finds_a_job_by_key_array_and_name(tmp_path: Path) -> None:
    journal = open_journal(Kept(url=f"sqlite:///{tmp_path}/journal.db"))
    try:
        from sqlalchemy import create_engine

        from truerail.journal.job_rows import write_jobs

        runs = [
            JobRecord(number, "slurm", "slurm", key, name, "", "gpu-001", 8, NOW + timedelta(minutes=number), NOW)
            for number, (key, name) in enumerate((("7", "a"), ("7", "b"), ("8_1", "a"), ("8_12", "c"), ("88", "8")), 1)
        ]
        engine = create_engine(f"sqlite:///{tmp_path}/journal.db")
        with engine.begin() as connection:
            write_jobs(connection, runs)
        engine.dispose()
        named = {asked: [one.id for one in journal.jobs_named(asked)] for asked in ("7", "8", "a", "8_", "%", "88")}
        assert named == {"7": [2, 1], "8": [5, 4, 3], "a": [3, 1], "8_": [], "%": [], "88": [5]}
    finally:
        journal.close()


async def test_the_id_of_a_job_that_has_ended_leads_to_its_hosts_and_to_what_was_wrong(tmp_path: Path) -> None:
    fabric = fabric_of()
    async with watched(settings_for(tmp_path), fabric) as front:
        await until(lambda: steady(front))
        assert front.publication is not None
        (cause,) = front.publication.evaluation.causes
        host = cause.subjects[0].partition("/")[0]
        report = f'[{{"job": "7", "name": "llama", "nodes": ["{host}", "cpu-1"], "gpus": 4, "start_at": 1}}]'
        await front.report_jobs(report, complete=False)
        await until(lambda: [one for one in front.history.jobs_named("7") if not one.ended_at])
        await front.report_jobs("[]", complete=True)
        await until(lambda: [one for one in front.history.jobs_named("7") if one.ended_at])
        ended = front.history.jobs_named("7")[0].ended_at
        await until(lambda: ended and front.publication and front.publication.at > ended)  # rounds have whole seconds
        fabric.director.fix(1)
        fabric.living.settle()
        await until(lambda: front.publication and not front.publication.evaluation.causes)
        transport = httpx.ASGITransport(create_app(front, made()))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080/api/v1/") as client:
            answer = (await client.get("job", params={"nodes": "7"})).json()
            assert "Job 7 ran from 1970-01-01 00:00 UTC to " in answer["summary"]
            assert "When it ended: Yes: " in answer["summary"]
            assert [one["kind"] for one in answer["causes"]] == ["cable-swap"]
            assert (answer["run"]["hosts"], answer["run"]["not_in_plan"]) == (host, ["cpu-1"])
            assert answer["run"]["ended"]
            assert answer["as_of"]
            assert answer["action"] == ""
            assert (await client.get("jobs/llama")).json()["summary"] == answer["summary"]
            absent = (await client.get("jobs/9999")).json()
            assert (absent["status"], absent["title"]) == (404, "Not found")
            later = front.now() + timedelta(seconds=1)
            shown: dict[str, Sequence[JobRecord]] = {}
            early = JobRecord(0, "slurm", "slurm", "55", "", "", host, 8, NOW - timedelta(days=9), NOW, None, later)
            shown["55"] = [replace(early, ended_at=NOW - timedelta(days=8))]
            shown["56"] = [replace(early, key="56", nodes="cpu-1", ended_at=NOW - timedelta(days=8))]
            shown["57"] = [replace(early, key="57", started_at=front.now(), ended_at=None)]

            async def asked(key: str) -> Sequence[JobRecord]:
                return shown.get(key, ())

            front.find_job = asked  # type: ignore[method-assign]
            before: Any = [(await client.get(f"jobs/{key}")).json() for key in ("55", "56", "57")]
            assert f"job 55 ran from 2026-11-15 12:00 UTC to 2026-11-16 12:00 UTC on {host}" in before[0]["detail"]
            assert "what was wrong then is not known" in before[0]["detail"]
            assert "on cpu-1, and the plan has none of these" in before[1]["detail"]
            assert "Now: No network fault is known" in before[2]["summary"]
