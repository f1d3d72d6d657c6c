"""A plan as Graphviz DOT, in the form that Cumulus PTM reads: `"leaf-0":"swp1" -- "gpu-001":"enp26s0f0np0"`."""

from truerail.model import Plan, Role
from truerail.model.names import printable
from truerail.plans.orient import cable_words
from truerail.plans.palette import rail_colour

_SHAPES = {Role.HOST: "box", Role.LEAF: "box3d", Role.SPINE: "hexagon", Role.SUPERSPINE: "octagon"}


def dump_dot(plan: Plan) -> str:
    """The plan as an undirected graph: a node for a device, an edge for a cable, its colour the rail."""
    lines = [f"graph {_quoted(plan.name or 'fabric')} {{", "  rankdir=BT;"]
    for device in plan.devices.values():
        words = {"shape": _SHAPES[device.role], "role": device.role.value, "pod": device.pod, "rack": device.rack}
        lines.append(f"  {_quoted(device.name)}{_attributes(words)};")
    for cable in plan.cables:
        colour = "" if cable.rail is None else rail_colour(cable.rail)
        words = cable_words(cable) | {"length_m": "", "color": colour}
        a, b = (f"{_quoted(end.device)}:{_quoted(end.name)}" for end in (cable.a, cable.b))
        lines.append(f"  {a} -- {b}{_attributes(words)};")
    return "\n".join([*lines, "}", ""])


def _attributes(words: dict[str, str]) -> str:
    given = ", ".join(f"{name}={_quoted(value)}" for name, value in words.items() if value)
    return f" [{given}]" if given else ""


def _quoted(text: str) -> str:
    escaped = printable(text, 1000).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
