"""`rdma link` (iproute2): one line per port, each with its trailing blank."""

from collections.abc import Iterable

UP = "ACTIVE physical_state LINK_UP"
POLLING = "DOWN physical_state POLLING"
DISABLED = "DOWN physical_state DISABLED"


def rdma_link(links: Iterable[tuple[str, bool, str]]) -> str:
    """The answer for RDMA device, whether it is up, and its netdev."""
    return rdma_states((device, UP if up else POLLING, netdev) for device, up, netdev in links)


def rdma_states(links: Iterable[tuple[str, str, str]], *, blank_lines: bool = False) -> str:
    """The answer for RDMA device, its state as printed, and its netdev, empty if it has none."""
    lines = (
        f"link {device}/1 state {state} " + (f"netdev {netdev} " if netdev else "") for device, state, netdev in links
    )
    return ("\n\n" if blank_lines else "\n").join(lines) + "\n"
