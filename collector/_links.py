"""The list of interfaces in the JSON of `ip -j link` and `ip -j addr`, or in the text of both."""

from typing import Any

from collector import _links_text
from collector._answer import decode, is_json
from truerail.errors import NoAnswerError, UnreadableError

_FOREIGN = frozenset({"port", "mac", "identifier"})
"""Keys beside `ifname` in lists of other things: `rdma -j`, `bridge -j fdb`, `ethtool --json -m`."""


def _is_text(answer: str) -> bool:
    return not is_json(answer) and _links_text.recognised(answer)


def interfaces(answer: str) -> list[dict[str, Any]]:
    """The interfaces in the answer, without loopback.

    `ip -j` prints `{}` for an interface that its filter excludes; these are skipped. Raises `UnreadableError` if the
    answer is not a list of interfaces, or is one of several hosts.
    """
    document = _links_text.from_text(answer) if _is_text(answer) else decode(answer)
    if type(document) is not list:
        raise UnreadableError("not a list of interfaces")
    found = []
    addresses: dict[str, Any] = {}
    for entry in document:
        if type(entry) is not dict:
            raise UnreadableError("an interface is not an object", text=str(entry))
        if not entry:
            continue
        if type(entry.get("ifname")) is not str or not _FOREIGN.isdisjoint(entry):
            raise UnreadableError("an interface without `ifname`: not the answer of `ip -j link`")
        if addresses.setdefault(entry["ifname"], entry.get("address")) != entry.get("address"):
            raise UnreadableError(f"{entry['ifname']} with two MAC addresses: answers of several hosts")
        if entry.get("link_type") != "loopback":
            found.append(entry)
    if not addresses:
        raise NoAnswerError("no interface in it, not even loopback")
    return found
