"""`truerail nccl --service`: a running service joins a log with its wiring, and stores nothing."""

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from benchmarks.nccl.drawn import Drawn, draw
from tests.access_site import READER, TOKENS
from tests.api_client import Api, problem_of
from tests.each import each
from tests.page_site import Site, publication
from truerail.cli.app import app
from truerail.errors import BusMessageError, CommandError
from truerail.link.codec import MOST_FACTS, packed, unpacked
from truerail.model.nccl_facts import NCCL_FACTS, NcclNic, NcclRing, NcclVersion

SWAPPED = 29


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return draw(SWAPPED)


@pytest.fixture(scope="module")
def service(drawn: Drawn) -> Iterator[Site]:
    with Site(publication(drawn.simulation.plan, drawn.simulation.snapshot())) as site:
        yield site


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["nccl", *map(str, words)], env={"TRUERAIL_URL": "", "TRUERAIL_TOKEN": ""})
    if isinstance(done.exception, CommandError):
        raise done.exception
    return done.exit_code, done.stdout


def test_a_service_and_a_capture_answer_alike(drawn: Drawn, service: Site, tmp_path: Path) -> None:
    drawn.simulation.write(tmp_path)
    log = tmp_path / "job.log"
    log.write_text(drawn.log)
    files = ("--plan", tmp_path / "plan.csv", "--from", tmp_path / "capture")
    for words in (("--format", "json"), ("--details",), ()):
        assert run(log, "--service", service.url, *words) == run(log, *files, *words)
    code, text = run(log, "--service", service.url)
    assert (code, text[:1]) == (1, "✗")


def test_lines_without_a_host_are_of_the_host_that_the_log_is_named_after(
    drawn: Drawn, service: Site, tmp_path: Path
) -> None:
    host = next(key[0] for key in drawn.rails)
    log = tmp_path / f"{host}.34001.log"
    log.write_text("NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n")
    _, text = run(log, "--service", service.url, "--format", "json")
    assert json.loads(text)["hosts"] == [host]


@pytest.mark.parametrize(("text", "why"), [("\n", "no lines of NCCL"), ("another log\n", "line 1: not a log of NCCL")])
def test_what_is_no_log_is_refused(service: Site, tmp_path: Path, text: str, why: str) -> None:
    log = tmp_path / "job.log"
    log.write_text(text)
    with pytest.raises(CommandError, match=why):
        run(log, "--service", service.url)


def test_without_a_service_the_way_to_one_is_named(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("gpu-001:1:2 [0] NCCL INFO Using network IB\n")
    with pytest.raises(CommandError, match="no service answers"):
        run(log, "--service", "http://127.0.0.1:1")


def test_a_reader_may_ask_and_nothing_else_that_is_posted() -> None:
    with Api(access={"tokens": TOKENS}) as api:
        token = {"Authorization": f"Bearer {READER}"}
        body = {"logs": [{"name": "job.log", "facts": b64encode(packed([NcclVersion("NCCL", "2.27.3")])).decode()}]}
        asked = api.ask("POST", "nccl", json=body, headers=token)
        assert asked.status_code == 200, asked.text
        assert asked.json()["versions"] == ["NCCL 2.27.3"]
        assert api.ask("POST", "nccl", json=body).status_code == 401
        assert api.ask("POST", "recheck", json={"devices": "gpu-001"}, headers=token).status_code == 403
        assert api.ask("POST", "nccl/", json=body, headers=token).status_code == 403


@pytest.mark.parametrize("facts", ["", "§", b64encode(b"no zlib").decode(), b64encode(zlib.compress(b"\x93")).decode()])
def test_facts_that_are_none_are_refused(facts: str) -> None:
    with Api() as api:
        answer = api.post("nccl", {"logs": [{"name": "job.log", "facts": facts}]})
        assert "the facts of log 'job.log'" in problem_of(answer, 400)["detail"]


def test_facts_are_packed_and_unpacked_the_same(drawn: Drawn) -> None:
    from collector import collectors
    from truerail.model import Device

    facts = collectors()["nccl_log"].read(drawn.log, Device("log"))
    again = unpacked(packed(facts), NCCL_FACTS)
    assert sorted(map(repr, again)) == sorted(map(repr, facts))
    assert unpacked(packed(facts), [NcclVersion]) == ()


def _bomb(kind: str, columns: list[tuple[list[object], list[int]]]) -> bytes:
    return zlib.compress(msgspec.msgpack.encode([(kind, columns)]))


_MANY = [0] * (MOST_FACTS + 1)
_NULLS = ([None], [0])


@each(
    "data, why",
    lambda: [
        (zlib.compress(bytes(40 << 20)), "more than"),
        (packed([NcclVersion("NCCL", "2.27")])[:-6], "cut short"),
        (_bomb("NcclVersion", [(["NCCL"], [0])]), "without version"),
        (_bomb("NcclVersion", [(["NCCL"], [0]), (["2"], [1])]), "do not have"),
        (_bomb("NcclVersion", [(["NCCL"], [0]), (["2"], [-1])]), "do not have"),
        (_bomb("NcclVersion", [(["NCCL"], [0]), (["2"], [0, 0])]), "shorter|longer"),
        (_bomb("NcclVersion", [([7], [0]), (["2"], [0])]), "Expected `str`"),
        (_bomb("NcclVersion", [(["NCCL"], _MANY), (["2"], _MANY)]), "more than 1,000,000 facts"),
        (_bomb("NcclVersion", [(["N" * 9000], [0]), (["2"], [0])]), "characters"),
        (
            _bomb("NcclRing", [_NULLS, ([0], _MANY[:20000]), ([list(range(1000))], _MANY[:20000]), _NULLS, _NULLS]),
            "lists of more than",
        ),
    ],
)
def test_hostile_facts_are_bounded(data: bytes, why: str) -> None:
    with pytest.raises(BusMessageError, match=why):
        unpacked(data, NCCL_FACTS)


def test_the_logs_of_a_question_share_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.link.codec.MOST_FACTS", 3)
    facts = b64encode(packed([NcclVersion("NCCL", "2.27"), NcclRing("gpu-1", 0, (0, 1))])).decode()
    with Api() as api:
        assert api.post("nccl", {"logs": [{"name": "one", "facts": facts}]}).status_code == 200
        both = api.post("nccl", {"logs": [{"name": name, "facts": facts} for name in ("one", "two")]})
        assert "the facts of log 'two': not packed facts: more than 3 facts" in problem_of(both, 400)["detail"]


def test_what_a_newer_version_sends_besides_is_left_out() -> None:
    ring, nic = NcclRing("gpu-1", 0, (0, 1)), NcclNic("gpu-1", 0, ("mlx5_0",))
    sent = msgspec.msgpack.decode(zlib.decompress(packed([ring, nic])))
    for _, columns in sent:
        columns.append((["new"], [0]))
    sent.append(("Unheard", [(["new"], [0])]))
    assert set(unpacked(zlib.compress(msgspec.msgpack.encode(sent)), NCCL_FACTS)) == {ring, nic}


def test_a_log_changes_nothing_that_the_service_shows(drawn: Drawn) -> None:
    from collector import collectors
    from truerail.model import Device
    from truerail.questions.nccl import nccl_asked

    shown = publication(drawn.simulation.plan, drawn.simulation.snapshot())
    before = replace(shown.evaluation)
    facts = collectors()["nccl_log"].read(drawn.log, Device("log"))
    answer = nccl_asked(shown, [("job.log", facts)], hops=False)
    assert answer.crossings
    assert answer.hops == ()
    assert shown.evaluation == before
    assert shown.round.nccl is None
