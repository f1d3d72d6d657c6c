"""A plan from DOT: Cumulus PTM's topology files, and a plan as Graphviz DOT, in the form that PTM reads.

PTM's lines are `"switch1":"swp1" -- "switch2":"swp41" [LLDP="..."]`, ports with or without quotes, comments as in C and
shell. Of another tool's file, roles are those that it gives nodes, else decided as for every cable list, as are rails.
`left_mac` and `right_mac` of an edge (NVIDIA Air, vagrant topologies) identify devices.
"""

import re

from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults, PlanError
from truerail.files.yaml_values import whole
from truerail.model import Cable, Device, Plan, Port, Role
from truerail.model.names import printable
from truerail.plans.drawing import rail_colour
from truerail.plans.imports.implied import roles_of, with_names, with_rails
from truerail.plans.imports.import_row import End, ImportRow, Rows
from truerail.plans.numbers import MOST_PLANES, MOST_RAILS, speed_gbps
from truerail.plans.orient import cable_words, oriented, path_of

_WORD = r'(?:"(?:[^"\\]|\\.)*"|[\w./-]+)'
_BRACKET = r'(?:\[(?P<words>(?:"(?:[^"\\]|\\.)*"|[^\]"])*)\])?'
_EDGE = re.compile(
    rf"(?P<a>{_WORD})\s*:\s*(?P<a_port>{_WORD})\s*-[->]\s*(?P<b>{_WORD})\s*:\s*(?P<b_port>{_WORD})\s*{_BRACKET}\s*;?"
)
_NODE = re.compile(rf"(?P<name>{_WORD})\s*{_BRACKET}\s*;?")
_ASSIGNMENT = re.compile(rf"({_WORD})\s*=\s*({_WORD})\s*[;,]?")
_DEFAULTS = re.compile(rf"(?:node|edge|graph)\s*{_BRACKET}", re.IGNORECASE)
"""Attributes of all nodes or edges below."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{};\n]|[^]["{};\n]+|"')
_SUBGRAPH = re.compile(rf"subgraph\s*(?:{_WORD})?\s*\{{?", re.IGNORECASE)
_HEAD = re.compile(rf"(?:strict\s+)?(?:di)?graph\s*(?P<name>{_WORD})?\s*\{{?", re.IGNORECASE)
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*', re.DOTALL | re.MULTILINE)


def read_dot(text: str, file: str) -> Plan:
    """The plan in `text`. Raises `PlanError` with the lines that are not understood."""
    faults = Faults(file, PlanError)
    name, nodes = "", dict[str, dict[str, str]]()
    edges: list[tuple[int, Port, Port, dict[str, str]]] = []
    for line, statement in _statements(_COMMENT.sub(_without_comment, text)):
        if edge := _EDGE.fullmatch(statement):
            ends = [Port(_bare(edge[side]), _bare(edge[f"{side}_port"])) for side in "ab"]
            for word in (*ends[0], *ends[1]):
                if fault := name_fault(word):
                    faults.add(line, word, fault)
            edges.append((line, *ends, _words(edge["words"])))  # type: ignore[arg-type] # two ends, by construction
        elif head := _HEAD.fullmatch(statement):
            name = _bare(head["name"] or "")
        elif any(form.fullmatch(statement) for form in (_SUBGRAPH, _ASSIGNMENT, _DEFAULTS)):
            continue
        elif node := _NODE.fullmatch(statement):
            nodes[_bare(node["name"])] = _words(node["words"])
        else:
            faults.add(line, statement, 'expected "device":"port" -- "device":"port"')
    faults.raise_any()
    rows = Rows(found=[_row(*edge, nodes) for edge in edges])
    devices = _devices(nodes, rows)
    cables = tuple(_cable(*edge, devices) for edge in edges)
    if not any("role" in words for words in nodes.values()):
        cables = with_rails(cables, {name: device.role for name, device in devices.items()}, rows)
    return Plan(devices, cables, "" if name in ("G", "fabric") else name, source=file, notes=tuple(rows.notes))


def _statements(text: str) -> list[tuple[int, str]]:
    """The statements with their first lines. One ends with its line, `;` or a brace, and goes on in brackets."""
    found: list[tuple[int, str]] = []
    held, line, begun, depth = "", 1, 1, 0
    for part in (one[0] for one in _TOKEN.finditer(f"{text}\n")):
        if not depth and part in ("\n", ";", "{", "}"):
            if held.strip():
                found.append((begun, held.strip()))
            held = ""
        else:
            if part == "[" and not held.strip() and found:
                begun, held = found.pop()  # the attributes stand in a line of their own
            begun = begun if held.strip() else line
            held += part
            depth = max(depth + (part == "[") - (part == "]"), 0)
        line += part.count("\n")
    return [*found, *([(begun, held.strip())] if held.strip() else [])]


def _without_comment(found: re.Match[str]) -> str:
    """A quoted text stays; of a comment, its line ends stay, so that lines keep their numbers."""
    return found[0] if found[0].startswith('"') else "\n" * found[0].count("\n")


def _bare(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word


def _words(text: str | None) -> dict[str, str]:
    return {_bare(key): _bare(value) for key, value in _ASSIGNMENT.findall(text or "")}


def _row(line: int, a: Port, b: Port, words: dict[str, str], nodes: dict[str, dict[str, str]]) -> ImportRow:
    return ImportRow(_end(a, words.get("left_mac", ""), nodes), _end(b, words.get("right_mac", ""), nodes), line)


def _end(port: Port, mac: str, nodes: dict[str, dict[str, str]]) -> End:
    words = nodes.get(port.device, {})
    return End(*port, kind=words.get("role", "") or words.get("function", ""), mac=mac.lower())


def _devices(nodes: dict[str, dict[str, str]], rows: Rows) -> dict[str, Device]:
    """The nodes, then the further devices of edges; one without a cable whose role the file does not say is a host."""
    roles = roles_of(rows.found)
    devices: dict[str, Device] = {}
    for name in (*nodes, *roles):
        words = nodes.get(name, {})
        role = Role(words["role"]) if words.get("role") in list(Role) else roles.get(name, Role.HOST)
        devices[name] = Device(name, role, pod=words.get("pod", ""), rack=words.get("rack", ""))
    return with_names(devices, rows)


def _cable(line: int, one: Port, other: Port, words: dict[str, str], devices: dict[str, Device]) -> Cable:
    rail, plane = whole(words.get("rail", ""), MOST_RAILS), whole(words.get("plane", ""), MOST_PLANES)
    speed, via = speed_gbps(words.get("speed", "")), path_of(words.get("via", ""))
    return oriented(Cable(one, other, rail, plane, speed, words.get("label", ""), None, line, via), devices)


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
