"""Faults of the declared lossless settings: what no fabric can have, though each value by itself is possible."""

from collections.abc import Iterator

from truerail.files.problems import Problem
from truerail.plans.lint_view import View

_LEAST_MTU = 1500


def qos_contradicts_itself(view: View) -> Iterator[Problem]:
    """Lossless settings that exclude each other, or that nothing in the plan uses."""
    qos = view.plan.qos
    if qos is None:
        return
    if qos.trust == "pcp" and qos.dscp_to_priority:
        yield view.problem(0, "trust: pcp", "qos trusts the PCP: its DSCP map has no effect")
    elif qos.dscp_to_priority:
        reached = {priority for _, priority in qos.dscp_to_priority}
        for priority in sorted({*(qos.pfc_priorities or ())} - reached):
            says = f"qos has PFC on priority {priority}, to which no DSCP leads: what is lossless would carry nothing"
            yield view.problem(0, f"pfc_priorities: {priority}", says)
    if qos.global_pause and qos.pfc_priorities:
        yield view.problem(0, "global_pause: yes", "qos has both global pause and PFC: a port has one of them")
    if qos.mtu is not None and qos.mtu < _LEAST_MTU:
        yield view.problem(0, f"mtu: {qos.mtu}", f"qos has an MTU of {qos.mtu} bytes, less than any Ethernet's 1500")
    speeds = {cable.speed_gbps for cable in view.plan.cables}
    for buffer in qos.buffers:
        if buffer.speed_gbps is not None and buffer.speed_gbps not in speeds:
            speed = f"{buffer.speed_gbps:g}"
            yield view.problem(0, f"speed: {speed}", f"qos has buffers for {speed} Gbit/s, which no cable has")
