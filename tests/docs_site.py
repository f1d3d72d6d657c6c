"""A reader who follows a page of the documentation: a folder with a fabric's files, devices that answer, a service."""

import filecmp
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException

from tests.demo_process import get
from tests.docs_blocks import ROOT, Block
from tests.fake_fleet import FakeFleet
from tests.live_site import Run
from tests.live_site import Site as LiveSite
from truerail.cli.app import app
from truerail.cli.oncall import Asked
from truerail.plans import dump_yaml
from truerail.questions import questions
from truerail.simulator import Simulation, demo_simulation

BIN = Path(sys.executable).parent
ENDLESS = {"watch": ("--rounds", "1"), "serve": ("--check",)}
"""What is added to a command that goes on until Ctrl-C. The service itself is the one that the tests start."""
PARSED_ONLY = {
    ("inventory", "trust"): "there is no sshd; test_transport_ssh_keys.py has one",
    ("bus", "check"): "there is no bus; test_bus_rights.py has one",
}
"""Commands that no page can have run here, and why."""
QUESTIONS = frozenset(question.name for question in questions() if question.text)
ELSEWHERE = frozenset(("--from", "--inventory"))
ADDRESSES = ("http://127.0.0.1:8080", "https://truerail.example.net")
"""Where the service is, for readers."""
FAILED = (2, 3)
KEPT_IN_SHELL = re.compile(r"^(?:\w+=|\w+\(\) \{).*$", re.MULTILINE)
_LINE = re.compile(
    r"(?:sudo )?(?:ip netns exec [\w-]+ )?(?:docker compose run --rm --no-deps )?(?:/opt/truerail/bin/|\.venv/bin/)?"
    r"truerail (.+)"
)
_CHANGING = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z?"), "MOMENT"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:\.\d+)?(?: UTC|Z)?"), "TIME"),
    (re.compile(r"\bin \d+\.\d s\b"), "in SECONDS"),
    (re.compile(r"\b\d\.\d(?=  )"), "0.0"),
)


@cache
def fabric() -> Simulation:
    """The fabric of `truerail demo`, with its story."""
    return demo_simulation()


@cache
def fleet() -> FakeFleet:
    """Its devices, which all readers ask."""
    return FakeFleet(fabric())


def give(folder: Path, monkeypatch: Any) -> Path:
    """Writes what a reader has: the files of the fabric, also packed, and settings. Its devices answer from now on."""
    fabric().write(folder)
    LiveSite(folder, fabric(), monkeypatch, fleet())
    plan = fabric().plan
    (folder / "plan.yaml").write_text(dump_yaml(plan))
    (folder / "part.yaml").write_text(dump_yaml(replace(plan, cables=plan.cables[::16])))
    (folder / "truerail.yaml").write_text("inventory: inventory.yaml\nplan: plan.yaml\n")
    with tarfile.open(folder / "capture.tar.gz", "w:gz", compresslevel=1) as packed:
        packed.add(folder / "capture", "capture")
    (folder / ".curlrc").write_text("fail\nmax-time = 30\n")
    return folder


class Site:
    """The reader's folder, in which the page's own files are written and its commands run, one after the other."""

    def __init__(self, given: Path, folder: Path, run: Run, service: Callable[[], str], monkeypatch: Any) -> None:
        (folder / "capture").symlink_to(given / "capture")  # nothing writes there
        shutil.copytree(given, folder, ignore=lambda _, names: {"capture"}.intersection(names), dirs_exist_ok=True)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "100")
        self.folder, self._run, self._service, self._patch, self._given = folder, run, service, monkeypatch, given
        self._shell: list[str] = []

    def follow(self, block: Block) -> None:
        """Does what a block says: writes the file that it names, or runs its commands and compares what they print."""
        if named := re.match(r"# ([\w.-]+\.yaml)\b", block.text):
            (self.folder / named[1]).write_text(block.text + "\n")
        elif block.language == "console":
            for command, shown in block.sessions:
                same(shown, self.command(command, block.where), block.where)
        elif block.language == "sh" and all(map(_plain, block.lines)):
            for line in block.lines:
                self.command(line, block.where)
        elif block.language == "sh":
            self._script(block)

    def command(self, line: str, where: str) -> str:
        """Runs one line of truerail in this process; gives what it prints. A code of failure fails the test."""
        line = _made(line)
        assert _plain(line), f"{where}: more than one command of truerail: {line}"
        words, output = _redirected(shlex.split(line)[1:])
        parse(words, where)
        if tuple(words[:2]) in PARSED_ONLY:
            return ""
        words = [self._stand_in(word, words) for word in words] + [*self._end(words)]
        address = self._service() if words[0] in QUESTIONS and not ELSEWHERE.intersection(words) else ""
        self._patch.setenv("TRUERAIL_URL", address)
        code, said, complaint = self._run(*words)
        assert code not in FAILED, f"{where}: `{line}` ended with {code}: {complaint or said}"
        if output:
            (self.folder / output).write_text(said)
        return said

    def _end(self, words: list[str]) -> tuple[str, ...]:
        more = ENDLESS.get(words[0], ())
        return () if set(more[:1]) & set(words) else more

    def _stand_in(self, word: str, words: list[str]) -> str:
        """The word; for `FINDING` the id of one that the service has. The codes of all 768 cables take seconds: of the
        plan that each reader has a part is packed.
        """
        if word == "plan.yaml" and words[1] == "pack" and filecmp.cmp(word, self._given / word):
            return "part.yaml"
        if word != "FINDING":
            return word
        _, findings = get(f"{self._service()}/api/v1/findings?limit=1")
        return str(json.loads(findings)["items"][0]["id"])

    def _script(self, block: Block) -> None:
        """Runs a block in a real shell, which still knows the variables and functions of the blocks before."""
        text = block.text
        for address in ADDRESSES:
            text = text.replace(address, self._service().rstrip("/"))
        path = {"PATH": f"{BIN}:{os.environ['PATH']}", "CURL_HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["sh", "-euc", "\n".join([*self._shell, text])],
            cwd=self.folder, env=path, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, f"{block.where}: {done.stdout}{done.stderr}"
        self._shell += KEPT_IN_SHELL.findall(text)


def _made(line: str) -> str:
    """For a line of make the command of truerail that the Makefile has for it, else the line itself."""
    if not line.startswith("make "):
        return line
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", *shlex.split(line)[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1].removeprefix(".venv/bin/")


def _plain(line: str) -> bool:
    """Whether a line is one command of truerail and nothing for a shell, but for a file to write to."""
    return line.startswith("truerail ") and not re.search(r"[|;&$<]", line)


def _redirected(words: list[str]) -> tuple[list[str], str]:
    return (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, "")


def words_of(line: str) -> list[str]:
    """The words behind `truerail` in a line that is not run, without what is for the shell; none where it has none."""
    found = _LINE.match(line)
    return _redirected(shlex.split(found[1]))[0] if found else []


def parse(words: list[str], where: str) -> None:
    """Lets the real command line parse these words: fails where it has no such command, option or value."""
    command, rest = _command(words)
    if rest == ["--install-completion"]:  # parsing it would install it
        return
    assert not hasattr(command, "commands"), f"{where}: there is no such command: truerail {' '.join(words)}"
    try:
        command.make_context(command.name, rest)
    except TyperException as error:
        raise AssertionError(f"{where}: `truerail {' '.join(words)}`: {error.format_message()}") from error


def check_options(words: list[str], where: str) -> None:
    """For a command named in a sentence, where arguments may be left out: it and its options exist."""
    command, rest = _command(words)
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    said = f"{where}: `truerail {' '.join(words)}`"
    assert command.name in words or words[0].startswith("-"), f"{said}: there is no such command"
    assert {word.partition("=")[0] for word in rest if word.startswith("-")} <= known, f"{said}: no such option"


def _command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the first words name, and the words behind."""
    command: Any = typer.main.get_command(app)
    rest = list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    return command.whole() if isinstance(command, Asked) else command, rest


def same(shown: list[str], said: str, where: str) -> None:
    """What a page shows is what the command printed; `...` alone on a line stands for any number of lines."""
    real = [_steady(line) for line in said.strip("\n").splitlines()]
    text = "\n".join(map(_steady, shown)).strip("\n")
    parts = [part.strip("\n").splitlines() for part in re.split(r"^\.\.\.$", text, flags=re.MULTILINE)]
    at = 0
    for number, lines in enumerate(parts):
        first = 0 if not number else len(real) - len(lines) if lines and number == len(parts) - 1 else None
        starts = range(at, len(real) + 1) if first is None else [first]
        found = next((start for start in starts if start >= at and real[start : start + len(lines)] == lines), None)
        shows = "\n".join(lines)
        assert found is not None, f"{where} shows\n\n{shows}\n\nbut what is printed is\n\n" + "\n".join(real[at:])
        at = found + len(lines)
    assert len(parts) > 1 or at == len(real), f"{where}: more is printed:\n" + "\n".join(real[at:])


def _steady(line: str) -> str:
    for changing, name in _CHANGING:
        line = changing.sub(name, line)
    return line.rstrip()
