"""The text of a terminal: which devices answer in it, by their prompts, and the answer below each command.

leaf-3# show lldp table            === rdma link ===            + nvidia-smi topo -m
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from truerail.errors import UnreadableError
from truerail.model.names import device_key, short_name
from truerail.model.terminal import untouched

LARGEST_BYTES = 16 * 1024 * 1024
"""A larger file is no log of a session: each of its lines would be searched for a prompt."""
_LONGEST_LINE = 600
"""Characters: a longer line is no command that truerail asks."""
_SIGN = re.compile(r"[#>$%\]] ?|^\+ ")
"""The end of a prompt, and what a shell puts before the commands that it shows (`set -x`)."""
_LONGEST_PROMPT = 120
_NAME = r"(?!(?:ba)?sh-\d)[A-Za-z0-9][\w.-]{0,252}"
"""A device's name in a prompt; `bash-5.1` is none."""
_NAMED = re.compile(
    r"[ \t]*(?:\([\w.-]{1,60}\) ?)?(?:"
    rf"(?:\*?[A-Z]:|\[)?[\w.-]{{1,60}}@(?P<login>{_NAME})(?:[: ()\[\]~/][^\n#$%>]{{0,100}})?[#$%>]"
    rf"|(?:RP/[\w/]{{1,30}}:|\*?[A-Z]:)?(?P<name>{_NAME})"
    r"(?::[~/][^\s#$%>]{0,100}[#$%]|(?: ?[(\[][^\n()\[\]]{1,60}[)\]]){0,3} ?[#>])(?= {0,2}[a-z])"
    rf"|(?P<view>[<\[][~*]?{_NAME}[>\]])(?= ?(?:dis\w* |sys(?:tem-view)?\s*$))"
    r") {0,2}(?P<command>[a-zA-Z/][^\n]*)"
    rf"|[ \t]*Node \d+ \((?P<node>{_NAME})\)[ \t\r]*$",
    re.MULTILINE,
)
"""A prompt that names its device, with a command: `admin@leaf-3:~$` and `[admin@leaf-3 ~]$` of a shell, `admin@leaf-3>`
of Junos, `leaf-3#`, `leaf-3(config)#`, `RP/0/RP0/CPU0:leaf-3#`, `A:leaf-3#` of SR Linux, `<leaf-3>` and `[~leaf-3]` of
VRP and Comware, `leaf-3 [standalone: master] #` of MLNX-OS; and APIC's heading of a switch, ` Node 101 (leaf-3)`.
"""
_ENTERED = {sign: re.compile(rf"{re.escape(sign)} {{0,2}}[a-zA-Z/]") for sign in "#>$%]"}
_ENTERED["Node "] = re.compile(r"Node \d+ \(")
_ANY_ENTERED = re.compile("|".join(sign.pattern for sign in _ENTERED.values()))
"""One of them is in each line that `_NAMED` matches. In a whole log, a search for one literal costs a tenth of one for
any of five; in one line, six searches cost more than this one.
"""
_OF_NODES = re.compile(r"fabric \S+ ")
_HEADING = re.compile(
    r"(?P<lead>[#=*:-]{2,}|`) ?(?:(?:command|cmd|output of):? )?(?P<text>[^\W_].*?) ?[#=*:`-]*", re.IGNORECASE
)
"""`=== rdma link ===`, `### Command: rdma link`, and those of `show tech-support`: dashes or backticks."""
_WITHOUT_PAGER = re.compile(r" (?:\| ?no-more|no-forwarding)$")


class Part(NamedTuple):
    """A device's line with a command, and what stands below; above the first, without device and command."""

    device: str
    command: str
    text: str


def parts(log: str) -> list[Part]:
    """A log in parts, each from a prompt with a name and a command to the next. A device is called as at first: its
    full name and its short one are one name. The heading of an APIC's switch becomes the command that all were asked.
    """
    found, names = list[Part](), dict[str, str]()
    device = command = typed = ""
    begun = 0
    for prompt in _prompts(log):
        found.append(Part(device, command, typed + log[begun : prompt.start()]))
        device, typed, begun = _name(prompt, names), "", prompt.start()
        if prompt["node"]:
            command = _OF_NODES.sub("", command)
            typed, begun = f"{device}# {command}", prompt.end()
        else:
            command = prompt["command"].strip()
    return [*found, Part(device, command, typed + log[begun:])]


def by_device(log: str) -> dict[str, str]:
    """The parts of each device as one; what is above the first prompt with a name is of the first."""
    found: dict[str, list[str]] = {}
    above, *rest = parts(log)
    for part in rest or [above]:
        found.setdefault(part.device, [above.text] if rest and not found else []).append(part.text)
    return {device: "".join(texts) for device, texts in found.items()}


def _prompts(log: str) -> Iterator[re.Match[str]]:
    signs = (found.start() for sign, entered in _ENTERED.items() if sign in log for found in entered.finditer(log))
    lines = {log.rfind("\n", max(0, at - _LONGEST_PROMPT), at) + 1 for at in signs}
    return (prompt for start in sorted(lines) if (prompt := _NAMED.match(log, start)))


def _name(prompt: re.Match[str], names: dict[str, str]) -> str:
    """The device of a prompt, as it is called in `names`. VRP adds a view to it: `[leaf-3-bgp]`."""
    called = prompt["login"] or prompt["name"] or prompt["node"] or prompt["view"].strip("<[~*]>")
    key = _key(called)
    if prompt["view"]:
        key = next((key[: at.start()] for at in re.finditer("-", key) if key[: at.start()] in names), key)
    return names.setdefault(key, called)


def _key(name: str) -> str:
    return short_name(device_key(name))


def part_of(log: str, asks: Callable[[str], object], *names: str) -> str:
    """A log of several devices without the lines of others: of the device with one of these names, else of the one
    below whose prompt stands a command that `asks` is true for. Raises `UnreadableError` for several of those.
    """
    found = parts(log)
    devices = dict.fromkeys(part.device for part in found if part.device)
    wanted = {_key(name) for name in names}
    mine = [device for device in devices if _key(device) in wanted]
    mine = mine or list(dict.fromkeys(part.device for part in found if part.device and asks(part.command)))
    if len(devices) < 2 or not mine:
        return log
    if len(mine) > 1:
        raise UnreadableError(f"the answers of {len(mine)} devices, {', '.join(mine[:4])}")
    return "".join(part.text if part.device in mine else "\n" * part.text.count("\n") for part in found)


def session(log: str, file_of: Callable[[str], str]) -> dict[str, str]:
    """The answers in a log by the names that their files would have, which `file_of` says of each command that is
    asked; of several to one command the last.
    """
    found, answer, begins = dict[str, list[str]](), list[str](), ""
    for line in untouched(log).splitlines(keepends=True):
        file, lead = _command(line.rstrip(), file_of)
        if file:
            found[file] = answer = []
            begins = lead
        elif _is_next(line.rstrip(), begins):
            answer = []
        else:
            answer.append(line)
    # a command in the middle of which the log ends has no answer, and not an empty one
    return {file: "".join(lines) for file, lines in found.items() if lines or lines is not answer or log[-1:] == "\n"}


def _command(line: str, file_of: Callable[[str], str]) -> tuple[str, str]:
    """The file of a command that is asked, and how a line begins that ends its answer: at the same prompt, or a heading
    of the same shape. Empty for any other line.
    """
    if len(line) > _LONGEST_LINE:
        return "", ""
    for sign in _SIGN.finditer(line, 0, _LONGEST_PROMPT):
        if file := file_of(line[sign.end() :]):
            return file, line[: sign.end()].strip()
    heading = _HEADING.fullmatch(line)
    return (file_of(heading["text"]), heading["lead"]) if heading else ("", "")


def _is_next(line: str, begins: str) -> bool:
    """Whether a line, of no command that is asked, is the next command."""
    same = begins not in ("", "#") and line.startswith(begins)
    if _HEADING.fullmatch(f"{begins} x"):
        return same and (found := _HEADING.fullmatch(line)) is not None and found["lead"] == begins
    return same or (_ANY_ENTERED.search(line) is not None and any(_prompts(line)))


def without_pager(command: str) -> str:
    """A command in single blanks, without what keeps a pager away."""
    return _WITHOUT_PAGER.sub("", " ".join(command.split()))
