"""Fronts on other machines than the judge: real processes on a real bus whose users have the rights of their roles."""

import asyncio
import json
import os
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.demo_process import get
from tests.nats_bus import nats_server
from tests.nursery import Forked, Nursery, nursery
from tests.patience import ENOUGH, soon
from tests.test_bus_judges import FABRIC, JUDGE, POLLER, Judge
from truerail.errors import BusError
from truerail.link.inspection import front_login
from truerail.link.nats_link import BusAddress
from truerail.link.server_files import SEED, public_key, users, users_text
from truerail.link.subjects import Subjects

pytestmark = pytest.mark.timeout(180)  # several services start, each with all that it imports

FRONT = "tests.bus_front_process"
SMALL_MESSAGES = "max_payload: 32KB"
"""So that a view and an answer come in parts."""
SAME = ("findings", "causes", "cables", "map", "devices", "where?port=gpu-001", "blast?of=gpu-001", "rounds?limit=1")


class Front:
    """A service with the role of a front."""

    def __init__(self, born: Nursery, url: str, folder: Path, creds: Path) -> None:
        self.process = born.begin(FRONT, url, FABRIC, folder, creds)
        self.url = next((line.split()[1] for line in self.process.stdout if line.startswith("open")), "")

    @property
    def ready(self) -> bool:
        return get(f"{self.url}readyz")[0] == 200

    def why_not(self) -> str:
        """What `/readyz` says with 503; empty while it is ready."""
        try:
            with urllib.request.urlopen(f"{self.url}readyz", timeout=ENOUGH):
                return ""
        except urllib.error.HTTPError as error:
            with error:
                return str(json.loads(error.read())["detail"]) if error.code == 503 else ""

    def json(self, path: str) -> Any:
        status, body = get(f"{self.url}api/v1/{path}")
        assert status == 200, (path, status)
        return json.loads(body)

    @property
    def age_seconds(self) -> float:
        """Of its view, as its metrics say."""
        found = re.search(r"^truerail_view_age_seconds (\S+)$", get(f"{self.url}metrics")[1], re.MULTILINE)
        assert found
        return float(found[1])

    @contextmanager
    def stale(self) -> Iterator[Iterator[dict[str, str | None]]]:
        """What its event stream tells pages of the age of the view."""
        with urllib.request.urlopen(f"{self.url}api/v1/events", timeout=ENOUGH) as stream:
            lines = (line.decode().strip() for line in stream)
            yield (json.loads(next(lines).removeprefix("data: ")) for line in lines if line == "event: stale")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A bus, a poller in each zone, two judges and a front; the first judge leads."""
    folder = tmp_path_factory.mktemp("fronts")
    (folder / "nats").mkdir()
    known = list(users(Subjects(FABRIC), ("pods", "core")))
    public = {user.name: public_key(folder / f"{user.name}{SEED}") for user in known}
    (folder / "nats" / "users.conf").write_text(users_text(Subjects(FABRIC), known, public))
    extra = f'{SMALL_MESSAGES}\ninclude "users.conf"'
    with nats_server(folder / "nats", extra) as server, nursery(JUDGE, FRONT, POLLER) as born, ExitStack() as ending:
        for zone in ("pods", "core"):
            born.begin(POLLER, server.url, FABRIC, zone, zone, folder / f"poller-{zone}.nk")

        def ended_with_it(process: Forked) -> None:
            ending.callback(process.wait, ENOUGH)
            ending.callback(process.terminate)

        def judge(name: str) -> Judge:
            journal, creds = f"sqlite:///{folder}/journal.db", folder / "judge.nk"
            started = Judge(born, server.url, journal, folder, name, creds)
            ended_with_it(started.process)
            return started

        def front() -> Front:
            started = Front(born, server.url, folder, folder / "front.nk")
            ended_with_it(started.process)
            return started

        judges = [judge("first")]
        soon(lambda: judges[0].leads, "the first judge leads")
        judges.append(judge("second"))
        first = front()
        soon(lambda: first.ready, "the front is ready")
        yield SimpleNamespace(server=server, folder=folder, judges=judges, front=first, begin=(judge, front))


def leader(site: SimpleNamespace) -> Judge:
    """The judge that leads."""
    soon(lambda: any(one.leads for one in site.judges), "a judge leads")
    found: Judge = next(one for one in site.judges if one.leads)
    return found


def without_times(value: Any) -> Any:
    """An answer without what the next round changes."""
    if isinstance(value, dict):
        changing = ("at", "next", "number", "last_seen", "age_seconds", "took_seconds", "seen_at", "read_at", "rounds")
        return {name: without_times(one) for name, one in value.items() if name not in changing}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def findings_of(front: Front) -> Any:
    """The findings that a front shows, once it has some and all of them are seen: on a busy machine an answer may be
    late for a round.
    """
    shown: list[Any] = []

    def seen() -> bool:
        shown[:] = [without_times(front.json("findings"))]
        return {one["state"] for one in shown[0]["items"]} == {"ongoing"}

    soon(seen, "all findings are seen")
    return shown[0]


def test_a_front_answers_what_the_judge_answers(site: SimpleNamespace) -> None:
    judge = leader(site)

    def same(path: str) -> bool:
        status, body = get(f"{judge.url}api/v1/{path}")
        return status == 200 and without_times(site.front.json(path)) == without_times(json.loads(body))

    for path in SAME:
        soon(partial(same, path), path)  # an evaluation may end between the two questions


def test_a_front_counts_no_judge_and_names_the_age_of_its_view(site: SimpleNamespace) -> None:
    page = get(f"{site.front.url}metrics")[1]
    assert site.front.age_seconds >= 0
    assert "truerail_judge_leader" not in page
    assert get(f"{site.front.url}readyz")[1] == "ready\n"


def test_a_command_of_a_front_reaches_the_journal_with_its_user_and_shows(site: SimpleNamespace) -> None:
    front = site.front
    finding = front.json("findings")["items"][0]["id"]
    body = json.dumps({"target": finding, "reason": "seen from afar"}).encode()
    headers = {"Content-Type": "application/json"}
    order = urllib.request.Request(f"{front.url}api/v1/acknowledgements", body, headers)
    with urllib.request.urlopen(order, timeout=ENOUGH) as answer:
        made = json.loads(answer.read())
    soon(lambda: [row["id"] for row in front.json("findings?muted=true")["items"]] == [finding], "the mute")
    assert [row["id"] for row in front.json("acknowledgements")["items"]] == [made["id"]]
    assert (made["author"], front.json("audit?limit=1")["items"][0]["who"]) == ("local", "local")
    order = urllib.request.Request(f"{front.url}api/v1/acknowledgements/{made['id']}", method="DELETE")
    urllib.request.urlopen(order, timeout=ENOUGH).close()
    soon(lambda: not front.json("findings?muted=true")["items"], "the mute ends")


def test_fronts_follow_the_judge_that_takes_over(site: SimpleNamespace) -> None:
    former, front = leader(site), site.front
    findings, number = findings_of(front), front.json("fabric")["number"]
    os.kill(former.judging, signal.SIGKILL)
    soon(lambda: front.json("fabric")["number"] > number + 2, "evaluations of another judge")
    soon(lambda: front.ready, "the front is ready again")
    assert findings_of(front) == findings
    assert front.json("fabric")["stale_since"] is None


def test_without_a_bus_a_front_shows_its_last_view_and_says_why(site: SimpleNamespace) -> None:
    leader(site)
    front = site.front
    site.server.kill()
    why = "s ago, not known to be the newest: bus nats://127.0.0.1:"
    soon(lambda: why in front.why_not(), "the front is not ready, for want of a bus")
    shown = front.json("fabric")
    assert shown["stale_since"]
    assert shown["stale_reason"].startswith("bus nats://127.0.0.1:")
    assert front.json("where?port=gpu-001")["matched_type"] == "host"
    assert get(f"{front.url}api/v1/blast?of=gpu-001")[0] == 503
    site.server.start()
    soon(lambda: front.ready and get(f"{front.url}api/v1/blast?of=gpu-001")[0] == 200, "the front is ready again")
    soon(lambda: front.json("fabric")["stale_since"] is None, "it shows the newest evaluation")


def follows(front: Front, number: int) -> bool:
    """Whether the front is ready, and shows a later evaluation than this one."""
    return front.ready and int(front.json("fabric")["number"]) > number


def test_without_any_judge_a_front_goes_on_with_its_last_view_until_one_is_back(site: SimpleNamespace) -> None:
    begin_judge, begin_front = site.begin
    leader(site)
    front, known = site.front, findings_of(site.front)
    with front.stale() as told:
        for judge in site.judges:
            judge.process.kill()  # its children end with it
        since = next(told)
        assert since["since"]
        soon(lambda: front.age_seconds > 5, "the metric says so")
        shown = front.json("fabric")
        assert datetime.fromisoformat(shown["stale_since"]) == datetime.fromisoformat(since["since"])
        assert shown["stale_reason"] == since["why"] == "no judge that leads reports on the bus"
        assert "no judge that leads reports on the bus" in front.why_not()
        assert without_times(front.json("findings")) == known
        assert front.json("where?port=gpu-001")["matched_type"] == "host"
        site.judges[:] = [begin_judge("third")]
        assert next(told)["since"] is None
    soon(partial(follows, front, shown["number"]), "a later evaluation")
    assert front.json("fabric")["stale_since"] is None
    assert findings_of(front) == known
    soon(lambda: front.age_seconds < 5, "the metric says so")
    another = begin_front()
    for one in (front, another):
        soon(lambda: one.ready, "the front is ready")  # noqa: B023 - awaited in this turn
        assert findings_of(one) == known
        assert one.json("blast?of=gpu-001")["matched_type"] == "host"  # asked of the judge


def test_a_killed_front_comes_back(site: SimpleNamespace) -> None:
    leader(site)
    front = site.front
    for child in Path(f"/proc/{front.process.pid}/task/{front.process.pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
        soon(lambda: get(f"{front.url}healthz")[0] == 200, "the front answers again")
        number = front.json("fabric")["number"]
        soon(partial(follows, front, number), "it follows the judge")


def test_a_key_of_another_role_is_named_before_a_front_starts(site: SimpleNamespace) -> None:
    def login(key: str, fabric: str) -> None:
        asyncio.run(front_login(BusAddress(site.server.url, site.folder / key), Subjects(fabric)))

    login("front.nk", FABRIC)
    for key, fabric in (("judge.nk", FABRIC), ("poller-core.nk", FABRIC), ("front.nk", "other")):
        with pytest.raises(BusError, match=f"{key} is no front's login of the fabric '{fabric}'"):
            login(key, fabric)
