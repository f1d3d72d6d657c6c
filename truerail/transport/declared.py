"""The gate in front of every transport: only commands that a collector declares are ever sent to a device."""

import re
from collections.abc import Sequence
from functools import cache

from collector import collectors
from truerail.errors import UndeclaredCommandError
from truerail.model import PLATFORMS, Command, Target
from truerail.model.names import printable
from truerail.model.target import INFINIBAND
from truerail.transport.probe import PROBES
from truerail.transport.questions import PORT

_PORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
"""What may stand for `{port}`: no blank, no quote, nothing that a shell or a switch's parser gives a meaning to."""


_ON_THEIR_OWN = ("snmp", INFINIBAND)
"""Platforms that are asked only what names them: an agent has no command line, a walk over a fabric is no host's."""


def fits(command: Command, platform: str) -> bool:
    """Whether a command is for devices of a platform."""
    return platform in command.platforms or (not command.platforms and platform not in _ON_THEIR_OWN)


@cache
def declared(platform: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The commands that a device of this platform may be sent: whole ones, and the beginnings of those that end in
    the name of a port. An empty platform is one that is not known yet: whatever may be sent to some command line,
    and what tells the platform.
    """
    named = [platform] if platform else [name for name in PLATFORMS if name not in _ON_THEIR_OWN]
    texts = {
        command.text
        for collector in collectors().values()
        for command in collector.ask
        if any(fits(command, name) for name in named)
    }
    texts |= set() if platform else set(PROBES)
    of_port = {text for text in texts if text.endswith(PORT)}
    return frozenset(texts - of_port), tuple(sorted(text.removesuffix(PORT) for text in of_port))


def refuse_undeclared(target: Target, commands: Sequence[str]) -> None:
    """Raises `UndeclaredCommandError` unless a collector declares every command for the target's platform."""
    whole, of_port = declared(target.platform)
    for command in commands:
        if command not in whole and not any(_names_a_port(command, start) for start in of_port):
            platform = target.platform or "any platform"
            raise UndeclaredCommandError(f"not sent: no collector declares {printable(command, 80)!r} for {platform}")


def _names_a_port(command: str, start: str) -> bool:
    return command.startswith(start) and _PORT_NAME.fullmatch(command, len(start)) is not None
