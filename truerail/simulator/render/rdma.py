"""`rdma link` (iproute2): one line a port, each with its trailing blank."""

from collections.abc import Iterable

_UP = "ACTIVE physical_state LINK_UP"
_DOWN = "DOWN physical_state POLLING"


def rdma_link(links: Iterable[tuple[str, bool, str]]) -> str:
    """The answer for RDMA device, whether it is up, and its netdev."""
    return "".join(f"link {device}/1 state {_UP if up else _DOWN} netdev {netdev} \n" for device, up, netdev in links)
