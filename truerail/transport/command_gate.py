"""The gate in front of every transport: only commands that a collector declares are ever sent to a device."""

import re
from collections.abc import Sequence
from functools import cache

from collector import collectors
from truerail.errors import UndeclaredCommandError
from truerail.model import PLATFORMS, Command, Target
from truerail.model.names import printable
from truerail.model.platforms import PROBES, TABLE
from truerail.transport.capture_files import JOB, PORT

_PORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
"""Valid values of `{port}`: no blank, no quote, no character with a meaning in a shell or a switch's parser."""


_JOB_ID = re.compile(r"[0-9]{1,10}(?:_[0-9]{1,10}|\+[0-9]{1,5})?")
"""Valid values of `{job}`: `1234`, `324_5`, `5+0`."""
_ENDS = {PORT: _PORT_NAME, JOB: _JOB_ID}
_ON_THEIR_OWN = frozenset(one.name for one in TABLE if one.named_commands_only)


def fits(command: Command, platform: str) -> bool:
    """Whether a command is for devices of a platform."""
    return platform in command.platforms or (not command.platforms and platform not in _ON_THEIR_OWN)


@cache
def declared(platform: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The commands that are allowed on a device of this platform: complete ones, and the beginnings of those that end
    in the name of a port or the id of a job. An empty platform is not known yet: all commands for any command line,
    and those that identify the platform.
    """
    named = [platform] if platform else [name for name in PLATFORMS if name not in _ON_THEIR_OWN]
    texts = {
        command.text
        for collector in collectors().values()
        for command in collector.ask
        if any(fits(command, name) for name in named)
    }
    texts |= set() if platform else set(PROBES)
    open_ended = {text for text in texts if text.endswith(tuple(_ENDS))}
    return frozenset(texts - open_ended), tuple(sorted(text[: text.rindex("{")] for text in open_ended))


@cache
def _names_after(platform: str) -> dict[str, re.Pattern[str]]:
    """What may follow the beginning of a command."""
    asked = [one.text for found in collectors().values() for one in found.ask if not platform or fits(one, platform)]
    return {text.removesuffix(end): _ENDS[end] for text in asked for end in _ENDS if text.endswith(end)}


def refuse_undeclared(target: Target, commands: Sequence[str]) -> None:
    """Raises `UndeclaredCommandError` unless a collector declares every command for the target's platform."""
    whole, starts = declared(target.platform)
    after = _names_after(target.platform)
    for command in commands:
        if command not in whole and not any(
            command.startswith(start) and after[start].fullmatch(command, len(start)) for start in starts
        ):
            platform = target.platform or "any platform"
            raise UndeclaredCommandError(f"not sent: no collector declares {printable(command, 80)!r} for {platform}")


def job_id(text: str) -> bool:
    """Whether a command may ask for this job."""
    return _JOB_ID.fullmatch(text) is not None
