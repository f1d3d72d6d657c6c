"""The answers in a log of a session: commands typed at a prompt or named in a heading, each with its output below.

leaf-3# show lldp table            === rdma link ===            + nvidia-smi topo -m
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.model.names import answer_file
from truerail.model.terminal import untouched
from truerail.transport.capture_files import Questions

LARGEST_BYTES = 16 * 1024 * 1024
"""A larger file is no log of a session: each of its lines would be searched for a prompt."""
_LONGEST_LINE = 600
"""Characters: a longer line is no command that truerail asks."""
_SIGN = re.compile(r"[#>$%\]] ?|^\+ ")
"""The end of a prompt: `leaf-3#`, `admin@leaf-3:~$`, `RP/0/RP0/CPU0:leaf-3#`, `[admin@leaf-3]`, `<leaf-3>`; and what a
shell puts before the commands that it shows (`set -x`)."""
_LONGEST_PROMPT = 120
_HEADING = re.compile(
    r"(?P<lead>[#=*:-]{2,}|`) ?(?:(?:command|cmd|output of):? )?(?P<text>[^\W_].*?) ?[#=*:`-]*", re.IGNORECASE
)
"""`=== rdma link ===`, `### Command: rdma link`, and those of `show tech-support`: dashes or backticks."""
_WITHOUT_PAGER = re.compile(r" (?:\| ?no-more|no-forwarding)$")


@dataclass(frozen=True, slots=True)
class _Command:
    file: str
    begins: str
    """How a line begins that ends the answer, because it is at the same prompt or a heading of the same shape."""
    heading: bool = False

    def ended_by(self, line: str) -> bool:
        """Whether a line, of no command that is asked, is the next command."""
        if not self.begins or not line.startswith(self.begins):
            return False
        return not self.heading or ((found := _HEADING.fullmatch(line)) is not None and found["lead"] == self.begins)


@dataclass(frozen=True, slots=True)
class Session:
    """What a log has: answers by the names that their files would have, of several to one command the last; and the
    prompts above them, which name the device on most systems.
    """

    answers: dict[str, str] = field(default_factory=dict)
    prompts: set[str] = field(default_factory=set)


def session(log: str, questions: Questions) -> Session:
    """The answers to `questions` in a log; none if it has none of their commands."""
    found = Session()
    current: _Command | None = None
    answer: list[str] = []
    for line in untouched(log).splitlines():
        command = _command(line.rstrip(), questions)
        if current and (command or current.ended_by(line)):
            found.answers[current.file] = _text(answer)
            current = None
        if command:
            current, answer = command, []
            if not command.heading:
                found.prompts.add(command.begins)
        elif current:
            answer.append(line)
    if current:
        found.answers[current.file] = _text(answer)
    return found


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _command(line: str, questions: Questions) -> _Command | None:
    if len(line) > _LONGEST_LINE:
        return None
    for prompt, text in _at_prompt(line):
        if file := _file(text, questions):
            return _Command(file, "" if prompt == "#" else prompt)
    heading = _HEADING.fullmatch(line)
    if heading and (file := _file(heading["text"], questions)):
        return _Command(file, heading["lead"], heading=True)
    return None


def _at_prompt(line: str) -> Iterator[tuple[str, str]]:
    """What may be a prompt, and the text behind it."""
    for sign in _SIGN.finditer(line, 0, _LONGEST_PROMPT):
        yield line[: sign.end()].strip(), line[sign.end() :]


def _file(text: str, questions: Questions) -> str:
    """The file of a command that is asked; empty if it is none."""
    words = _WITHOUT_PAGER.sub("", " ".join(text.split())).split()
    file = answer_file(" ".join(words))
    claims = questions.claims(file) if words else ()
    one_port = all(not claim.command or len(claim.command.split()) == len(words) for claim in claims)
    return file if claims and one_port else ""
