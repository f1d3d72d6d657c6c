"""The gate in front of every transport: only commands that a collector declares are ever sent to a device."""

import re
from collections.abc import Sequence
from functools import cache

from collector import collectors
from truerail.errors import UndeclaredCommandError
from truerail.model import PLATFORMS, Command, Target
from truerail.model.names import printable
from truerail.model.platforms import PROBES, TABLE
from truerail.transport.capture_files import JOB

_JOB_ID = re.compile(r"[0-9]{1,10}(?:_[0-9]{1,10}|\+[0-9]{1,5})?")
"""Valid values of `{job}`: `1234`, `324_5`, `5+0`."""
_ON_THEIR_OWN = frozenset(one.name for one in TABLE if one.named_commands_only)


def fits(command: Command, platform: str) -> bool:
    """Whether a command is for devices of a platform."""
    return platform in command.platforms or (not command.platforms and platform not in _ON_THEIR_OWN)


@cache
def declared(platform: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The commands that are allowed on a device of this platform: complete ones, and the beginnings of those that end
    in the id of a job. An empty platform is not known yet: all commands for any command line, and those that identify
    the platform.
    """
    named = [platform] if platform else [name for name in PLATFORMS if name not in _ON_THEIR_OWN]
    texts = {
        command.text
        for collector in collectors().values()
        for command in collector.ask
        if any(fits(command, name) for name in named)
    }
    texts |= set() if platform else set(PROBES)
    of_job = {text for text in texts if text.endswith(JOB)}
    return frozenset(texts - of_job), tuple(sorted(text.removesuffix(JOB) for text in of_job))


def refuse_undeclared(target: Target, commands: Sequence[str]) -> None:
    """Raises `UndeclaredCommandError` unless a collector declares every command for the target's platform."""
    whole, starts = declared(target.platform)
    for command in commands:
        if command not in whole and not any(
            command.startswith(start) and job_id(command.removeprefix(start)) for start in starts
        ):
            platform = target.platform or "any platform"
            raise UndeclaredCommandError(f"not sent: no collector declares {printable(command, 80)!r} for {platform}")


def job_id(text: str) -> bool:
    """Whether a command may ask for this job."""
    return _JOB_ID.fullmatch(text) is not None
