"""Detects a device's platform with one query, if the inventory does not set it.

The strings are those of the answers themselves: os-release(5) of Debian, Ubuntu and Cumulus Linux; `show version` of
SONiC, Arista EOS, Cisco NX-OS and Junos OS.
"""

import re
from collections.abc import Sequence

from truerail.errors import TransportError
from truerail.model import Role, SshAccess, Target
from truerail.model.target import INFINIBAND
from truerail.transport.protocol import Answer

OS_RELEASE = "cat /etc/os-release"
VERSION = "show version"
PROBES = (VERSION, OS_RELEASE)
"""SONiC is a Debian by its os-release, so its `show version` is looked at first."""

_WORDS = {
    VERSION: (
        (r"sonic software version", "sonic"),
        (r"^\s*arista ", "eos"),
        (r"nexus operating system", "nxos"),
        (r"^junos[: ]|juniper networks", "junos"),
    ),
    OS_RELEASE: ((r'^id="?cumulus', "cumulus"), (r"^id=", "linux")),
}


def platform_of(answers: Sequence[Answer]) -> str:
    """The platform that answered the `PROBES`. Raises `TransportError` where none is recognised."""
    reported = {answer.command: answer.text[:4000].lower() for answer in answers}
    for command, words in _WORDS.items():
        for word, platform in words:
            if re.search(word, reported.get(command, ""), re.MULTILINE):
                return platform
    errors = "; ".join(dict.fromkeys(answer.error for answer in answers if answer.error))
    raise TransportError(f"its platform is not recognised, name it in the inventory{f' ({errors})' if errors else ''}")


def assumed_platform(target: Target) -> str:
    """The platform that is known without a query: the one in the inventory, SNMP if that is the only access, and Linux
    for a host.
    """
    if target.platform:
        return target.platform
    if target.snmp is not None and target.ssh == SshAccess():
        return "snmp"
    return "linux" if target.role is Role.HOST else ""


def assumed_role(platform: str) -> Role:
    """The role of a device that neither inventory nor plan gives one: collectors ask all switches alike."""
    return Role.HOST if platform in ("linux", INFINIBAND) else Role.LEAF
