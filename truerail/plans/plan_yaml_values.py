"""Typed values that only a plan has."""

from truerail.files.yaml_values import Values
from truerail.model.yaml_tree import Node
from truerail.plans.numbers import SPEED_EXPECTED, speed_gbps


class PlanValues(Values):
    """Reads the nodes of a plan."""

    def speed(self, node: Node | None) -> float | None:
        """A speed in Gb/s."""
        if node is None:
            return None
        value = speed_gbps(node.text or "")
        if value is None:
            self.wrong(node, SPEED_EXPECTED)
        return value
