"""Faults of capacity, and of the declared lossless settings."""

from collections import Counter
from collections.abc import Iterator

from truerail.files.problems import Problem
from truerail.model import Severity
from truerail.plans.lint_view import View
from truerail.plans.shape import SwitchShape, describe


def oversubscription(view: View) -> Iterator[Problem]:
    """A leaf with more capacity down than up. The same ratio on every leaf is a design, reported as information."""
    leaves = [leaf for leaf in describe(view.plan).leaves if leaf.down_ports and leaf.oversubscription is not None]
    if not leaves:
        return
    usual = Counter(_ratio(leaf) for leaf in leaves).most_common(1)[0][0]
    for leaf in leaves:
        ratio = _ratio(leaf)
        if ratio > 1:
            worse = f", most leaves have {usual:g}:1" if ratio > usual else ""
            ports = f"({leaf.down_ports} ports down, {leaf.up_ports} up)"
            says = f"{leaf.name} is oversubscribed {ratio:g}:1{worse} {ports}"
            severity = Severity.WARNING if worse else Severity.INFO
            yield view.problem_of(view.plan.uplinks_of(leaf.name)[0], f"{ratio:g}:1", says, severity)


def _ratio(leaf: SwitchShape) -> float:
    """Rounded to two digits, so that 64 down and 63 up is 1.02:1."""
    return round(leaf.oversubscription or 0.0, 2)


def no_uplinks(view: View) -> Iterator[Problem]:
    """A leaf without uplinks where other leaves have some; without spines at all, the fabric is rail-only."""
    leaves = describe(view.plan).leaves
    if not any(leaf.up_ports for leaf in leaves):
        return
    for leaf in leaves:
        if not leaf.up_ports:
            line = view.plan.devices[leaf.name].line
            yield view.problem(line, leaf.name, f"{leaf.name} has no uplinks, other leaves have")


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
