"""Detects a device's platform with one query, if the inventory does not set it."""

import re
from collections.abc import Sequence

from truerail.errors import TransportError
from truerail.model import Role, SshAccess, Target
from truerail.model.platforms import GNMI, PROBES, SNMP, TABLE
from truerail.transport.protocol import Answer


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
