"""Checks of names, addresses, users and jump hosts. Each check returns the reason, empty if the value is valid.

No text may start with a dash: a program that receives it could take it for an option.
"""

import re
from ipaddress import ip_address

from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults
from truerail.files.yaml_values import whole
from truerail.model import Role, SshAccess
from truerail.model.names import is_plain_name

HIGHEST_PORT = 65535
SSH = SshAccess()
"""Access as it is where a file says nothing."""
_ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}", re.ASCII)
_NUMBERS = re.compile(r"[0-9.]+", re.ASCII)
_USER = re.compile(r"[^\s:@/\x00-\x20-][^\s:@/\x00-\x1f\x7f]{0,63}")
_HOP = re.compile(r"(?:(?P<user>[^@]+)@)?(?P<host>\[[^\]]+\]|[^:\[\]@]+)(?::(?P<port>\d{1,5}))?", re.ASCII)
_WORD = re.compile(r"[a-z]+")
_ROLE_WORDS = {
    **dict.fromkeys(("host", "hosts", "gpu", "gpus", "dgx", "hgx", "compute"), Role.HOST),
    **dict.fromkeys(("leaf", "leafs", "leaves", "tor", "tors"), Role.LEAF),
    **dict.fromkeys(("spine", "spines"), Role.SPINE),
    **dict.fromkeys(("superspine", "superspines"), Role.SUPERSPINE),
}
_SUPER = re.compile(r"super[ ._-]spine")


def device_name_fault(name: str) -> str:
    """Why this cannot name a device. The name is also a folder of a capture."""
    if set(name) & set("/\\") or name in (".", ".."):
        return "a device's name must not be a path"
    if any(char.isspace() or char in "[],@" for char in name) or name.startswith("-"):
        return "a device's name holds no blank, bracket, comma or @, and starts with no dash"
    return name_fault(name)


def address_fault(address: str) -> str:
    """Why this is no host name, IPv4 or IPv6 address."""
    expected = "expected a host name or an IP address"
    if ":" in address or _NUMBERS.fullmatch(address):
        try:
            ip_address(address)
        except ValueError:
            return expected
        return ""
    return "" if _ADDRESS.fullmatch(address) else expected


def user_fault(user: str) -> str:
    """Why this is no login name. `user:password` is refused here."""
    return "" if _USER.fullmatch(user) else "expected a login name, without a password"


def hop_fault(hop: str) -> str:
    """Why this is no jump host such as `ops@bastion:22`."""
    shape = _HOP.fullmatch(hop)
    wrong = (
        not shape
        or (shape["user"] is not None and user_fault(shape["user"]))
        or address_fault(shape["host"].strip("[]"))
        or not 0 < int(shape["port"] or 22) <= HIGHEST_PORT
    )
    return "expected a jump host such as ops@bastion:22, without a password" if wrong else ""


def ssh_port(text: str, line: int, faults: Faults) -> int:
    """A port as text; the usual one, with a fault, for what is none."""
    port = whole(text, HIGHEST_PORT)
    if not port:
        faults.add(line, text, f"expected a port from 1 to {HIGHEST_PORT}")
    return port or SSH.port


def zone_fault(zone: str) -> str:
    """Why this cannot name a zone of pollers."""
    return "" if is_plain_name(zone) else "expected a zone's name: letters, digits, _ and -, at most 64"


def target_fault(target: str) -> str:
    """Why this cannot be the target of gNMI's prefix."""
    return "" if is_plain_name(target.replace(".", "_")) else "expected a target such as OC-YANG"


def role_in(text: str) -> Role | None:
    """The role in a name: `leaf-3`, `gpu_nodes`, `tor-switch`; None if it names none, or two."""
    words = _WORD.findall(_SUPER.sub("superspine", text.lower()))
    roles = {_ROLE_WORDS[word] for word in words if word in _ROLE_WORDS}
    return roles.pop() if len(roles) == 1 else None
