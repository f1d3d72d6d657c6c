"""The agent's file, its reading of counters, and what a poller takes of agents that mean harm."""

import ast
import json
import os
import subprocess
import sys
import zipfile
import zlib
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.live_site import Run
from truerail.agent.allowed_commands import command_id, name_token
from truerail.agent.bus_connection import Address
from truerail.agent.bus_connection import BusError as AgentBusError
from truerail.agent.command_jobs import Result
from truerail.agent.outgoing import Answers
from truerail.agent.sysfs_reader import LOOK_UP_SECONDS, SysfsReader, reader_of
from truerail.errors import BusMessageError, BusSchemaError
from truerail.link.codec import inflated, opened
from truerail.link.messages import COUNTS
from truerail.link.poller_outbox import Outbox
from truerail.model import PortCounters, Reading, Role, Target
from truerail.model.facts import Counter
from truerail.model.names import is_plain_name
from truerail.poller.agent_answers import MOST_MESSAGE_BYTES, MOST_MESSAGES, SILENT_SECONDS, AgentAnswers, raw_message
from truerail.poller.agent_package import agent_file
from truerail.poller.questions import applicable

ROOM = Path(__file__).resolve().parent.parent / "truerail" / "agent"
LINK, LLDP = "ip -j -d link", "lldpctl -f json0"


# --- the file ---------------------------------------------------------------------------------------------------------


def test_its_room_needs_the_standard_library_of_python_3_8_alone() -> None:
    for file in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(), feature_version=(3, 8))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names, file


def test_the_file_runs_alone_and_has_what_collectors_declare_for_hosts(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "agent.pyz"
    code, text, _ = run("agent", "build", "--out", out)
    assert (code, out.read_bytes()) == (0, agent_file())
    assert f"written {out}" in text
    done = subprocess.run([out, "--list"], capture_output=True, text=True, cwd="/", env={"PATH": os.environ["PATH"]})
    listed = {tuple(line.split("\t")[::2]) for line in done.stdout.splitlines()}
    declared = {(name, text) for name, texts in applicable(Role.HOST, "linux").items() for text in texts}
    assert listed == declared | {("platform", "show version"), ("platform", "cat /etc/os-release")}
    with zipfile.ZipFile(out) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {"__main__.py", "truerail_agent"}
    assert len(out.read_bytes()) < 40_000


def test_a_file_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    code, _, err = run("agent", "build", "--out", tmp_path / "no" / "agent.pyz")
    assert code == 2
    assert "agent.pyz: No such file" in err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("http://bus:4222",), "expected tls://"),
        (("tls://user:secret@bus:4222",), "an address holds no secret"),
        (("nats://10.0.0.5:4222",), "not encrypted and for this machine alone"),
        (("tls://bus:99999",), "not an address"),
    ],
)
def test_an_address_that_is_not_safe_is_refused(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(AgentBusError, match=problem) as failure:
        Address(*words)
    assert "secret@" not in str(failure.value)


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentBusError, match="--cert or --key: No such file"):
        Address("tls://bus:4222", certificate=str(tmp_path / "no.crt")).context()


@pytest.mark.parametrize("name", ["gpu-001", "gpu-001.example.com", "GPU 1", "ü", "a" * 65, "", "*", ">"])
def test_any_name_is_one_part_of_a_subject(name: str) -> None:
    assert is_plain_name(name_token(name))
    assert name_token(name) != name_token(f"{name}.")


# --- counters ---------------------------------------------------------------------------------------------------------


class Tree:
    """Files as sysfs has them, and the command that prints them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, 1000.0
        for device in ("mlx5_0", "mlx5_1", "mlx5_10"):
            for name in ("a_counter", "b_counter"):
                self.write(f"{device}/ports/1/counters/{name}", f"{len(device)}\n")
        self.command = f"grep -sH . {folder}/*/ports/*/counters/* {folder}/*/ports/*/hw/*; :"
        reader = reader_of(self.command, lambda: self.now)
        assert reader
        self.reader: SysfsReader = reader

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def printed(self) -> bytes:
        """What the command prints, as truerail runs it."""
        environment = {"PATH": os.environ["PATH"]}
        return subprocess.run(["/bin/sh", "-c", self.command], capture_output=True, env=environment).stdout


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    made = Tree(tmp_path)
    yield made
    made.reader.close()


def test_counters_are_read_as_the_command_prints_them(tree: Tree) -> None:
    assert tree.reader.read() == tree.printed() != b""
    assert len(tree.reader.files) == 6
    tree.write("mlx5_0/ports/1/counters/a_counter", "123456789012345678\n")
    tree.write("mlx5_1/ports/1/counters/a_counter", "")
    tree.write("mlx5_1/ports/1/counters/b_counter", "two\n\nlines, the last without an end")
    assert tree.reader.read() == tree.printed()
    tree.write("mlx5_2/ports/1/hw/more", "7\n")
    tree.write("mlx5_0/ports/1/counters/c_counter", "8\n")
    (tree.folder / "mlx5_0/ports/1/counters/folder").mkdir()
    tree.now += LOOK_UP_SECONDS
    assert tree.reader.read() == tree.printed()
    (tree.folder / "mlx5_0/ports/1/counters/b_counter").unlink()
    assert tree.reader.read() == tree.printed()


def test_what_grep_would_print_in_another_way_is_left_to_it(tree: Tree) -> None:
    tree.write("mlx5_0/ports/1/counters/a_counter", "a\0b\n")
    assert tree.reader.read() is None
    tree.write("mlx5_0/ports/1/counters/a_counter", "x" * 5000)
    assert tree.reader.read() is None


def test_an_empty_tree_has_an_empty_answer(tmp_path: Path) -> None:
    reader = reader_of(f"grep -sH . {tmp_path}/no/*; :", lambda: 0.0)
    assert reader
    assert reader.read() == b""


def test_only_such_commands_are_read_without_a_process() -> None:
    declared = [text for texts in applicable(Role.HOST, "linux").values() for text in texts]
    found = [text for text in declared if reader_of(text, lambda: 0.0)]
    assert [text.split()[3].split("/")[3] for text in found] == ["infiniband", "infiniband"]
    for text in ("grep -sH . /sys/a; rm -r /; :", "grep -sH . $(id); :", "grep -sH . /sys/a", "grep -H . /sys/a; :"):
        assert reader_of(text, lambda: 0.0) is None


# --- what a poller takes ----------------------------------------------------------------------------------------------


class Poller:
    """A poller of one host; time is what `now` says."""

    def __init__(self, name: str = "gpu-001") -> None:
        self.now, self.asked, self.sent = 1000.0, [], Answers("1")
        self.name = name
        self.agents = AgentAnswers(self._ask, lambda: self.now, lambda: 1e9 + self.now)
        self.agents.devices([Target(name, "192.0.2.1", Role.HOST, "linux"), Target("other", "192.0.2.2", Role.HOST)])
        self.agents.keep([name])
        self.asked: list[tuple[str, bytes]]

    def _ask(self, device: str, word: bytes) -> None:
        self.asked.append((device, word))

    def answer(self, command: str, text: bytes, status: int = 0) -> None:
        result = Result(command, self.now - 3.0)
        result.output, result.status = text, status
        self.sent.put(result)

    def send(self, **changes: Any) -> list[tuple[str, frozenset[str]]]:
        """Sends what the agent has; `changes` are made to the head of each message."""
        sent = list(self.sent.messages(self.now, 1 << 20))
        return [self.take(json.dumps({**json.loads(data), **changes}).encode()) for data in sent]

    def take(self, data: bytes) -> tuple[str, frozenset[str]]:
        return self.agents.take(name_token(self.name), data)

    @property
    def dropped(self) -> int:
        return self.agents.counts["dropped_total"]


def test_an_answer_has_the_time_at_which_the_host_read_it() -> None:
    poller = Poller()
    poller.answer(LINK, b"[]")
    poller.answer(LLDP, b"", status=1)
    assert poller.send() == [("gpu-001", frozenset({"net_link", "lldp_host"}))]
    link, lldp, never = poller.agents.answers("gpu-001", [LINK, LLDP, "rdma link"])
    assert (link.text, link.error, link.read_at) == ("[]", "", 1e9 + 997.0)
    assert (lldp.error, lldp.refused, never.refused) == ("exit status 1", True, True)
    assert poller.agents.whole("gpu-001")
    poller.now += 5
    poller.answer(LINK, b"[]")
    poller.send()
    assert poller.agents.answers("gpu-001", [LINK])[0].read_at == 1e9 + 1002.0


def test_a_clock_that_runs_ahead_makes_no_answer_newer_than_it_is() -> None:
    poller = Poller()
    poller.answer(LINK, b"[]")
    poller.send(sent=9e8)
    assert poller.agents.answers("gpu-001", [LINK])[0].read_at <= 1e9 + poller.now


def test_an_event_names_the_collectors_that_are_to_be_read() -> None:
    poller = Poller()
    poller.send()
    poller.answer(LINK, b"[]")
    assert poller.send() == [("", frozenset())]
    poller.answer(LINK, b"[{}]")
    poller.sent.mark_event()
    assert poller.send() == [("gpu-001", frozenset({"net_link"}))]
    poller.sent.mark_event()
    assert poller.send() == [("", frozenset())], "an event without an answer is none"


def test_an_agent_that_begins_has_no_answers_yet() -> None:
    poller = Poller()
    poller.answer(LINK, b"[]")
    poller.send(begins=True)
    assert (poller.agents.whole("gpu-001"), poller.agents.begins("gpu-001")) == (False, True)
    assert poller.asked == []
    poller.send()
    assert (poller.agents.whole("gpu-001"), poller.agents.begins("gpu-001")) == (True, False)


def test_what_is_lacking_is_asked_for_once() -> None:
    poller = Poller()
    poller.answer(LINK, b"[]")
    list(poller.sent.messages(poller.now, 1 << 20))  # lost
    poller.send()
    poller.send()
    assert poller.asked == [("gpu-001", b"all")]
    assert not poller.agents.whole("gpu-001")
    poller.sent.resend()
    poller.send()
    assert poller.agents.whole("gpu-001")


def test_an_agent_is_silent_after_three_signs_of_life_and_gone_when_it_says_so() -> None:
    poller = Poller()
    poller.send()
    assert (poller.agents.running, poller.agents.silent) == (1, 0)
    poller.now += SILENT_SECONDS + 1
    assert (poller.agents.running, poller.agents.silent) == (0, 1)
    assert poller.agents.silent_since("gpu-001")
    poller.agents.pause()
    assert (poller.agents.running, poller.agents.silent) == (0, 0), "the bus is away, not the agent"
    poller.agents.resume()
    assert poller.agents.running == 1
    poller.send(ends=True)
    assert (poller.agents.running, poller.agents.silent) == (0, 0)


def test_of_hosts_of_other_pollers_only_signs_of_life_are_taken() -> None:
    poller = Poller()
    poller.answer(LINK, b"[]")
    poller.send()
    poller.agents.keep([])
    poller.send()
    assert not poller.agents.whole("gpu-001")
    assert poller.agents.runs("gpu-001")
    assert poller.agents.running == 0
    poller.agents.find()
    assert sorted(poller.asked) == [("gpu-001", b"beat"), ("other", b"beat")]


def test_a_message_in_parts_is_whole_with_its_last_one() -> None:
    poller = Poller()
    for command in (LINK, LLDP):
        poller.answer(command, os.urandom(400_000))
    data = list(poller.sent.messages(poller.now, 1 << 20))
    assert len(data) == 2
    poller.take(data[0])
    assert not poller.agents.whole("gpu-001")
    poller.take(data[1])
    assert poller.agents.whole("gpu-001")
    assert poller.asked == []


def test_an_answer_that_the_bus_does_not_take_says_so() -> None:
    poller = Poller()
    poller.answer(LINK, os.urandom(2 << 20))
    poller.send()
    assert poller.agents.answers("gpu-001", [LINK])[0].error == "more than the bus takes in one message"


def head(**changes: Any) -> bytes:
    made = {"schema": 2, "start": "s", "number": 1, "sent": 1.0, "held": [], "answers": []}
    return json.dumps(made | changes).encode()


def entry(text: bytes = b"", **changes: Any) -> dict[str, Any]:
    made = {"id": "0", "version": 1, "status": 0, "why": "", "complaint": "", "took": 0.1}
    return made | {"text": b64encode(text).decode()} | changes


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\n",
        b"{}\n",
        b"[" * 100_000,
        head(schema=1),
        head(number="1"),
        head(sent=-1.0),
        head(sent=1e300),
        head(start="s" * 65),
        head(held=[["0", 1, -5.0]]),
        head(held=[["0", 1, 1.0]] * 2001),
        head(answers=[entry() | {"text": "no base64"}]),
        head(answers=[entry() | {"text": 7}]),
        head(answers=[entry(took=1e300)]),
        head(answers=[entry(complaint="x" * 1000)]),
        head(device="gpu-002")[:-1],
        b"x" * (MOST_MESSAGE_BYTES + 1),
    ],
)
def test_what_is_no_message_is_dropped_and_counted(data: bytes) -> None:
    poller = Poller()
    assert poller.take(data) == ("", frozenset())
    assert poller.dropped == 1
    assert poller.agents.running == 0
    with pytest.raises(BusMessageError):
        raw_message(data)


def test_another_schema_says_what_to_do() -> None:
    with pytest.raises(BusSchemaError, match="build the agent again"):
        raw_message(head(schema=1))


def test_an_answer_to_a_command_that_no_collector_declares_is_dropped() -> None:
    poller = Poller()
    text = zlib.compress(b"[]")
    odd = [entry(text, id=command_id("rm -r /")), entry(text, id=command_id(LINK))]
    poller.take(head(answers=odd, held=[[one["id"], 1, 0.0] for one in odd]))
    assert poller.dropped == 1
    assert "no collector declares" in poller.agents.problem
    assert poller.agents.whole("gpu-001")
    assert poller.agents.answers("gpu-001", ["rm -r /", LINK])[0].error == "the agent has not run this command"


def test_a_body_cannot_name_another_device_and_a_host_that_is_not_there_is_dropped() -> None:
    poller = Poller()
    text = zlib.compress(b"[]")
    data = head(device="other", host="other", answers=[entry(text, id=command_id(LINK))])
    poller.take(data)
    assert not poller.agents.runs("other")
    assert poller.agents.take("gpu-009", data) == ("", frozenset())
    assert poller.dropped == 1


def test_a_text_that_swells_or_is_damaged_is_an_error_of_its_answer_alone() -> None:
    poller = Poller()
    bomb, damaged, cut = zlib.compress(b"\0" * (64 << 20)), b"no zlib", zlib.compress(b"x" * 100)[:-5]
    for packed, why in ((bomb, "more than 4,194,304 bytes"), (damaged, "its answer: damaged"), (cut, "cut short")):
        with pytest.raises(BusMessageError, match=why):
            inflated(packed, 4 << 20, "its answer")
        answers = [entry(packed, id=command_id(LINK))]
        poller.take(head(start=why, answers=answers, held=[[command_id(LINK), 1, 0.0]]))
        answer = poller.agents.answers("gpu-001", [LINK])[0]
        assert why in answer.error
        assert not answer.refused, "no other command is asked for"


def test_more_than_one_host_may_hold_is_dropped() -> None:
    poller = Poller()
    ids = [command_id(text) for texts in applicable(Role.HOST, "linux").values() for text in texts][:9]
    for number, one in enumerate(ids, 1):
        listed = [[name, 1, 0.0] for name in ids[:number]]
        poller.take(head(number=number, answers=[entry(bytes(1 << 20), id=one)], held=listed))
    assert "bytes of answers" in poller.agents.problem
    assert not poller.agents.whole("gpu-001")


def test_a_flood_of_one_host_is_cut_off_also_with_ever_new_starts() -> None:
    poller = Poller()
    for number in range(MOST_MESSAGES + 20):
        poller.take(head(start=str(number)))
    assert poller.dropped == 20
    poller.now += 20
    poller.take(head(start="later"))
    assert poller.dropped == 20
    poller.take(head(start="later"))
    assert poller.dropped == 21, "a message that came twice"


def test_counters_that_a_poller_takes_twice_are_sent_once() -> None:
    """Between two readings of an agent a poller may ask twice: a rate over no time is none."""
    outbox = Outbox("default", "p1")
    outbox.keep(["gpu-001"])
    at = datetime.fromisoformat("2026-11-20T14:00:00+00:00")
    facts = (PortCounters("enp1s0", (Counter("rx_bytes", None),), (5,)),)
    counts = []
    for read_at in (1.0, 1.0, 11.0):
        outbox.put([Reading("gpu-001", "nic_counters", at, facts, read_at=read_at)])
        counts += [opened(one.data).body for one in outbox.messages() if one.kind == COUNTS]
    assert [row.read_at for body in counts for group in body.groups for row in group.rows] == [1.0, 11.0]
