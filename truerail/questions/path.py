"""`path HOST HOST [--rail N]`: the actual hops, and where the path leaves its rail.

Two GPUs (or NICs) may be given instead: on one rail the path is that rail's. From one rail to another NCCL uses PXN,
which concerns the sender alone: its GPU hands the data over NVLink to the GPU on the receiver's rail, whose NIC sends
it (NVIDIA, "Doubling all2all Performance with NCCL 2.12"; NCCL's documentation of NCCL_PXN_DISABLE).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import RenderableType
from rich.text import Text

from truerail.analysis.cabling.named_by import named_by
from truerail.analysis.published import Published
from truerail.errors import NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.columns import NONE, distinct
from truerail.model.plan import Role
from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.blocks import PORT, QUIET, TONE_MARKS, hanging
from truerail.questions.answer_text import TONES
from truerail.questions.question import Form, Kind, Option, Parameter, Question, all_good
from truerail.questions.rail_status import RailStatus, Stand, Step, between, rail_status_of
from truerail.questions.resolve import gpus_of, host_asked, in_order, rail_words, recognise
from truerail.views.lines import seen_end, why_words
from truerail.views.pieces import AsOf
from truerail.views.view import View, view_of

_PLAIN = ("LLDP at both ends", "LLDP at one end", "discovery")
"""Witnesses that need no mention."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path: its ingress and egress ports, where known."""

    device: str
    role: str | None
    in_port: str
    out_port: str
    rail: int | None
    choices: int = 1
    """Number of equal links at this hop (uplinks)."""
    nvlink: str = ""
    """The path inside the host, from GPU to GPU: PXN."""
    witnesses: tuple[str, ...] = ()
    """What names the place of a host's cable: `LLDP at both ends`, `MAC table`, ...; empty if it is not seen, at
    switches, and as of a time.
    """


@dataclass(frozen=True, slots=True)
class RailPath:
    """The actual path from one host to another over one rail. `stays` is None if unknown."""

    rail: int | None
    hops: tuple[Hop, ...]
    stays: bool | None
    leaves_at: str
    """The device where the path leaves its rail; empty if it does not."""
    summary: str
    from_rail: int | None = None
    """The rail of the sending GPU, if it is another one: PXN brings its data to this rail."""
    planes: int = 1
    """Planes of this rail on which both hosts have a cable; `hops` are those of the best one."""
    planes_off: tuple[int, ...] = ()
    """Planes on which the two hosts do not reach each other within the rail."""
    planes_unknown: tuple[int, ...] = ()
    """Planes of which this is not known."""


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """`path HOST HOST [--rail N]`, or from GPU to GPU."""

    source: str
    target: str
    rails: tuple[RailPath, ...]
    summary: str
    as_of: AsOf | None = None


def path_text(answer: PathAnswer) -> Iterator[RenderableType]:
    """Every rail: the hops, and a remark if it is not as planned."""
    yield Text()
    for path in answer.rails:
        yield _rail(path, alone=len(answer.rails) == 1)


def _rail(path: RailPath, *, alone: bool) -> RenderableType:
    mark, style = TONE_MARKS[TONES[path.stays]]
    title = Text(mark, style).append(" rail -" if path.rail is None else f" rail {path.rail}", style="bold")
    body = Text(" → ").join(_hop(hop, path.leaves_at) for hop in path.hops)
    reduced = bool(path.stays and (path.planes_off or path.planes_unknown))
    if path.planes > 1 and not reduced and path.stays:
        body.append(f"  {path.planes} of {path.planes} planes", style=QUIET)
    if (path.stays is not True or reduced) and not alone:
        body.append(f"\n{sentence(path.summary)}")
    return hanging(title, body)


def _hop(hop: Hop, leaves_at: str) -> Text:
    ports = ":".join(name(port) for port in (hop.in_port, hop.out_port) if port)
    line = Text().append(name(hop.device), style="bold red" if hop.device == leaves_at else PORT)
    line.append(f" (NVLink {name(hop.nvlink)}) " if hop.nvlink else "", style=QUIET)
    line.append(f"/{ports}" if ports else "")
    beside = () if any(word in _PLAIN for word in hop.witnesses) else hop.witnesses
    line.append(f" ({', '.join(map(name, beside))})" if beside else "", style=QUIET)
    return line.append(f" ×{hop.choices}", style=QUIET) if hop.choices > 1 else line


_PART = re.compile(r"[/:\s]")
"""The separator between a host and its GPU or NIC."""


@dataclass(frozen=True, slots=True)
class Way:
    """A path on one rail between two host cables. `steps` are the tiers between their leaves, None if no link leads
    there; `stays` is None if unknown; `leaves_at` is the leaf of another rail that it begins or ends on.
    """

    rail: int
    source: int
    target: int
    steps: tuple[Step, ...] | None
    stays: bool | None
    leaves_at: str
    reaches: bool


def headline(source: str, target: str, rails: Sequence[RailPath]) -> str:
    """All rails in one sentence."""
    off = [path.rail for path in rails if path.stays is False and path.rail is not None]
    doubt = [path.rail for path in rails if path.stays is None and path.rail is not None]
    if len(rails) == 1:
        return f"{source} to {target}, rail {rails[0].rail}: {rails[0].summary}"
    parts = []
    if off:
        parts.append(f"{rail_words(off)} {'do' if len(off) > 1 else 'does'} not stay within the rail")
    if doubt:
        parts.append(f"{rail_words(doubt)} unknown")
    rest = len(rails) - len(off) - len(doubt)
    lost = [path.rail for path in rails if path.stays and path.planes_off and path.rail is not None]
    if not parts:
        planes = f", {rail_words(lost)} not on all planes" if lost else ""
        return f"{source} to {target}: all {len(rails)} rails stay within the rail{planes}."
    return f"{source} to {target}: {'; '.join(parts)}; {rest} of {len(rails)} rails stay within the rail."


def rail_says(view: View, standing: RailStatus, way: Way) -> str:
    """One path as a sentence: its hops, or why there is none."""
    broken = [cable for cable in (way.source, way.target) if standing.stand[cable] == Stand.OFF]
    if way.stays:
        over = "" if not way.steps else f" over {_over(view, way.steps)}"
        off = f", but not as planned: {'; '.join(_why(view, cable) for cable in broken)}" if broken else ""
        return f"NIC to NIC within the rail{over}{off}."
    if way.stays is None:
        doubt = [cable for cable in (way.source, way.target) if standing.stand[cable] == Stand.UNKNOWN]
        why = "; ".join(_why(view, one) for one in doubt) or "the state of the uplinks between the leaves is unknown"
        return f"Unknown: {why}."
    why = "; ".join(_why(view, cable) for cable in broken) or "no link connects the leaves"
    if way.reaches and way.steps:
        return f"It leaves its rail at {way.leaves_at} and crosses {_over(view, way.steps)}: {why}."
    if standing.rail_only:
        return f"Cut: {why}. No switch leads there from another rail, so NCCL drops the connection."
    return f"No path on this rail: {why}. NCCL uses another NIC (PXN), if there is one."


def planes_say(planes: int, off: Sequence[int], unknown: Sequence[int]) -> str:
    """The planes of a rail that do not connect its two NICs, as a sentence."""
    parts = ((off, "not"), (unknown, "unknown"))
    words = [f"{'planes' if len(of) > 1 else 'plane'} {', '.join(map(str, of))} {state}" for of, state in parts if of]
    return f"This holds on {planes - len(off) - len(unknown)} of {planes} planes: {', '.join(words)}."


def pxn_says(leg: str, from_rail: int, found: RailPath, *, rail_only: bool) -> str:
    """The path from one rail to another, as sentences."""
    without = "there is no other path" if rail_only else f"it would cross the spines from rail {from_rail}"
    return (
        f"By PXN: inside the sending host over NVLink from {leg}, then on rail {found.rail}. {found.summary} "
        f"Without PXN (NCCL_PXN_DISABLE=1) {without}."
    )


def _why(view: View, cable: int) -> str:
    return f"{view.index.a_port(cable)}: {why_words(view, cable, seen_end(view, cable))}"


def _over(view: View, steps: Sequence[Step]) -> str:
    """`8 uplinks to 4 spines`, and the switches above them."""
    first = steps[0]
    words = []
    for step in steps[:-1]:
        role = view.layout.devices[step.switches[0]].role.value
        words.append(f"{len(step.switches)} {role}{'s' if len(step.switches) > 1 else ''}")
    names = list(dict.fromkeys(words)) if len(words) > 2 else words
    return f"{', '.join(names)} ({first.links} equal uplink{'s' if first.links > 1 else ''})"


@dataclass(frozen=True, slots=True)
class _End:
    """A host as given, and the rail of its named GPU or NIC; None for the host itself."""

    host: int
    name: str
    rail: int | None = None
    gpu: int | None = None


def path(publication: Published, source: str, target: str, rail: int | None = None) -> PathAnswer:
    """The path from one host to another on one rail, or on each; or between the rails of two GPUs or NICs.

    If a tier has several equal switches, the hop names them as a node set, and `choices` are the links into it. Raises
    NotFoundError for a host or a rail that is not in the plan, QueryError for a switch, for one host twice, and for a
    rail other than that of the given GPUs.
    """
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    one, other = _end(view, source), _end(view, target)
    if one.host == other.host:
        name = view.index.devices.names[one.host]
        raise QueryError(f"{name} is named twice: a path needs two hosts")
    wanted = other.rail if other.rail is not None else one.rail
    if None not in (wanted, rail) and wanted != rail:
        raise QueryError(f"the given NIC or GPU is on rail {wanted}, not on rail {rail}: omit the rail")
    numbers = _rails(view, one.host, other.host, rail if wanted is None else wanted)
    rails = tuple(_on_rail(view, standing, one.host, other.host, number) for number in numbers)
    if one.rail is not None and other.rail is not None and one.rail != other.rail:
        rails = tuple(_by_pxn(view, standing, one, other.rail, found) for found in rails)
    return PathAnswer(one.name, other.name, rails, headline(one.name, other.name, rails))


def _end(view: View, text: str) -> _End:
    """A host, or a GPU or a NIC of one."""
    if view.device(text.strip()) != NONE or not _PART.search(text.strip()):
        host = host_asked(view, text)
        return _End(host, view.index.devices.names[host])
    meant = recognise(view, text)
    rails = distinct(view.index.rail[meant.cables])
    if meant.device < 0 or not view.is_planned(meant.device) or not view.index.devices.is_host(meant.device):
        raise QueryError(f"{meant.name} is not a host, nor a GPU or NIC of a host")
    if len(rails) != 1 or rails[0] < 0:
        raise QueryError(f"{meant.name} is on {rail_words(rails[rails >= 0].tolist()) or 'no rail'}: name one NIC")
    gpu = meant.name.rpartition(" GPU ")[2] if meant.matched_type == "gpu" else ""
    return _End(meant.device, meant.name, int(rails[0]), int(gpu) if gpu else None)


def _by_pxn(view: View, standing: RailStatus, source: _End, rail: int, found: RailPath) -> RailPath:
    """The path on the receiver's rail, preceded by the part inside the sender's host."""
    start = NONE if source.rail is None else source.rail
    own = (source.gpu,) if source.gpu is not None else gpus_of(view, source.host, [start])
    leg = f"{_gpu_words(own, start)} to {_gpu_words(gpus_of(view, source.host, [rail]), rail)}"
    first, *rest = found.hops
    summary = pxn_says(leg, start, found, rail_only=standing.rail_only)
    return replace(found, hops=(replace(first, nvlink=leg), *rest), summary=summary, from_rail=start)


def _gpu_words(gpus: Sequence[int], rail: int) -> str:
    return f"GPU {'/'.join(map(str, gpus))}" if gpus else f"the GPU of rail {rail}"


def _rails(view: View, one: int, other: int, wanted: int | None) -> Iterator[int]:
    of = [set(view.layout.rail[view.layout.host_cables_of(host)].tolist()) - {-1} for host in (one, other)]
    common = sorted(of[0] & of[1])
    if wanted is not None and wanted not in common:
        has = rail_words(common) or "no rail"
        raise NotFoundError(f"no rail {wanted} between the two hosts: they have {has} in common")
    if not common:
        raise NotFoundError("the two hosts have no rail in common")
    yield from common if wanted is None else [wanted]


def _on_rail(view: View, standing: RailStatus, one: int, other: int, rail: int) -> RailPath:
    """The best path on a rail: a plane where both hosts are connected goes before one where either is not."""
    ways = [_way(view, standing, ends, rail) for ends in _planes(standing, one, other, rail)]
    best = min(ways, key=lambda way: (way.stays is not True, way.stays is None, not way.reaches))
    planes = [(way.stays, int(view.index.plane[way.source])) for way in ways]  # -1 where the plan has no planes
    off, unknown = (tuple(sorted(p for stays, p in planes if stays is which and p >= 0)) for which in (False, None))
    found = rail_says(view, standing, best)
    if len(ways) > 1 and best.stays is True and (off or unknown):
        found = f"{found} {planes_say(len(ways), off, unknown)}"
    hops = tuple(_hops(view, standing, best))
    return RailPath(rail, hops, best.stays, best.leaves_at, found, None, len(ways), off, unknown)


def _planes(standing: RailStatus, one: int, other: int, rail: int) -> Iterator[tuple[int, int]]:
    """The cables of the two hosts on a rail, plane with plane; all with all if they share no plane."""
    index = standing.index
    own, its = ([c for c in standing.below.of(host).tolist() if index.rail[c] == rail] for host in (one, other))
    pairs = [(source, target) for source in own for target in its]
    yield from [pair for pair in pairs if index.plane[pair[0]] == index.plane[pair[1]]] or pairs


def _way(view: View, standing: RailStatus, ends: tuple[int, int], rail: int) -> Way:
    """One path, with all that is known of it."""
    stand = [int(standing.stand[cable]) for cable in ends]
    leaves = [int(standing.end[cable]) for cable in ends]
    unknown = Stand.UNKNOWN in stand
    if min(leaves) < 0:
        return Way(rail, *ends, None, False, "", reaches=False)
    steps = between(standing, *leaves)
    perhaps = steps is None and between(standing, *leaves, maybe=True) is not None
    off = [leaf for leaf, how in zip(leaves, stand, strict=True) if how == Stand.OFF]
    if off and leaves[0] != leaves[1] and not (standing.rail_only and steps):
        name = view.index.devices.names[off[0]]
        return Way(rail, *ends, steps, None if unknown else False, name, reaches=steps is not None)
    reaches = steps is not None
    stays = None if unknown or perhaps else reaches
    return Way(rail, *ends, steps, stays, "", reaches=reaches)


def _hops(view: View, standing: RailStatus, way: Way) -> Iterator[Hop]:
    """Host, leaf, switches above, leaf, host; as far as the path leads."""
    a, b = view.plan.cables[way.source], view.plan.cables[way.target]
    yield Hop(a.a.device, Role.HOST.value, "", a.a.name, a.rail, witnesses=_witnesses(view, way.source))
    ends = [int(standing.end[cable]) for cable in (way.source, way.target)]
    if ends[0] < 0:
        return
    into, out = (_switch_port(view, standing, cable) for cable in (way.source, way.target))
    if way.steps == ():
        yield _leaf(view, ends[0], into, out, way.rail)
    else:
        yield _leaf(view, ends[0], into, "", way.rail)
        if way.steps is None:
            return
        for step in way.steps[:-1]:
            yield _tier(view, step)
        yield _leaf(view, ends[1], "", out, way.rail, way.steps[-1].links)
    yield Hop(b.a.device, Role.HOST.value, b.a.name, "", b.rail, witnesses=_witnesses(view, way.target))


def _witnesses(view: View, cable: int) -> tuple[str, ...]:
    """As of a time only the places are known, not what named them."""
    return () if view.hindsight else named_by(view.wiring, cable)


def _leaf(view: View, device: int, into: str, out: str, rail: int, choices: int = 1) -> Hop:
    name = view.index.devices.names[device]
    role = view.plan.role_of(name)
    return Hop(name, role.value if role else None, into, out, _rail_at(view, device, into or out, rail), choices)


def _rail_at(view: View, device: int, port: str, rail: int) -> int | None:
    """The rail that the plan gives a leaf's port, else the leaf's only rail, else `rail` if it has that; or None."""
    names = view.index.devices.names
    carried = distinct(view.layout.rail[view.layout.cables_of(device)])
    rails = [one for one in carried.tolist() if one >= 0]
    at_port = next(
        (c.rail for c in (view.plan.cables[n] for n in view.layout.cables_of(device).tolist())
         if c.b.device == names[device] and c.b.name == port), None,
    )  # fmt: skip
    return at_port if at_port is not None else rails[0] if len(rails) == 1 else rail if rail in rails else None


def _tier(view: View, step: Step) -> Hop:
    names = in_order(view, step.switches)
    role = view.plan.role_of(names[0])
    return Hop(fold(names), role.value if role else None, "", "", None, step.links)


def _switch_port(view: View, standing: RailStatus, cable: int) -> str:
    """The leaf's port with a host cable: the actual one, else the planned one if the cable is on that leaf."""
    place = int(view.wiring.place[cable])
    if place >= 0 and not standing.renamed[cable]:
        return view.index.spell(place).name
    return view.plan.cables[cable].b.name if standing.stand[cable] != Stand.OFF else ""


QUESTION = Question(
    "path",
    PathAnswer,
    (
        Parameter(
            "from",
            help="The sending host, or its GPU: 'gpu-001 GPU 3'.",
            metavar="HOST",
            label="From",
            example="gpu-001",
        ),
        Parameter("to", help="The receiving host, or its GPU.", metavar="HOST", label="To", example="gpu-040"),
        Option(
            "rail",
            help="Limit to this rail.",
            kind=Kind.NUMBER,
            least=0,
            most_in_api=10_000,
            label="Rail",
            example="all",
        ),
    ),
    lambda asked, given: path(asked.publication, given["from"], given["to"], given["rail"]),
    "The actual hops from host to host on each rail, and where a path leaves its rail; between GPUs also by PXN.",
    good=lambda answer: all_good(path.stays for path in answer.rails),
    text=lambda answer, options: path_text(answer),
    form=Form("Which path does traffic take?", "Trace path"),
)
