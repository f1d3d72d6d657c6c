"""The gate in front of every transport: only commands that a collector declares are ever sent to a device."""

import re
from collections.abc import Sequence
from functools import cache

from collector import collectors
from truerail.errors import TransportError, UndeclaredCommandError
from truerail.model import PLATFORMS, Command, Role, SshAccess, Target
from truerail.model.names import printable
from truerail.model.platforms import GNMI, PROBES, SNMP, TABLE
from truerail.transport.capture_files import JOB
from truerail.transport.protocol import Answer

# ----------------------------------------------------------------------------------------------------------------------
# The gate in front of every transport: only commands that a collector declares are ever sent to a device.

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


# ----------------------------------------------------------------------------------------------------------------------
# Detects a device's platform with one query, if the inventory does not set it.


def platform_of(answers: Sequence[Answer]) -> str:
    """The platform that answered the `PROBES`. Raises `TransportError` where none is recognised."""
    reported = {answer.command: answer.text[:4000].lower() for answer in answers}
    for command in PROBES:
        for platform in TABLE:
            if platform.shows == command and re.search(platform.pattern, reported.get(command, ""), re.MULTILINE):
                return platform.name
    errors = "; ".join(dict.fromkeys(answer.error for answer in answers if answer.error))
    raise TransportError(f"its platform is not recognised, name it in the inventory{f' ({errors})' if errors else ''}")


def assumed_platform(target: Target) -> str:
    """The platform that is known without a query: the one in the inventory, SNMP if that is the only access, and Linux
    for a host.
    """
    if target.platform:
        return target.platform
    if target.snmp is not None and target.ssh == SshAccess():
        return SNMP
    return "linux" if target.role is Role.HOST else ""


def asked_platform(target: Target) -> str:
    """The platform whose commands a device is sent, as far as it is known without a query."""
    return GNMI if target.by_gnmi else assumed_platform(target)


def assumed_role(platform: str) -> Role:
    """The role of a device that neither inventory nor plan gives one: collectors ask all switches alike."""
    return Role.HOST if any(one.is_host for one in TABLE if one.name == platform) else Role.LEAF
