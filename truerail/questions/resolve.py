"""Resolves a name: a device (also by its short name), a port in any spelling, a GPU, a MAC address, a cable's label, a
rail, a pod, a rack, a unit of a rack, a row, or a node set.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truerail.errors import NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.columns import NONE, Codes, distinct
from truerail.model.finding import Cause
from truerail.model.names import canonical_mac, port_key, printable
from truerail.model.panel_paths import spot
from truerail.model.plan import Plan
from truerail.views.layout import Nearest, loose
from truerail.views.nics import serials_of
from truerail.views.view import View, listed

LONGEST_NAME = 255
_SEPARATOR = re.compile(r"[/:\s]+")
_RAIL = re.compile(r"rail[ _-]?(\d{1,4})", re.IGNORECASE | re.ASCII)
_GPU = re.compile(r"gpu[ _-]?(\d{1,4})", re.IGNORECASE | re.ASCII)
_RACK = re.compile(r"(?:rack\s+)?(?P<rack>\S+?)(?:[\s/]+(?:unit\s*|u\s*)(?P<unit>\d{1,4}))?", re.IGNORECASE | re.ASCII)
_ROW = re.compile(r"row\s+(\S+)", re.IGNORECASE | re.ASCII)
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_NODE_SET = re.compile(r"(?=.*[\[,])[\w.,\[\]/-]+", re.ASCII)


class ResolvedTarget(NamedTuple):
    """The type in the words of `Where.matched_type`, the canonical name, and the planned cables on it, in order.

    `device` is its code (-1 for a label), `port` its port's code (-1 if it is no single port), `note` a remark for the
    reader.
    """

    matched_type: str
    name: str
    cables: Codes
    device: int = NONE
    port: int = NONE
    note: str = ""
    devices: tuple[int, ...] = ()
    """The codes of a group's devices: of a rack, a row, a node set."""


def recognise(view: View, text: str) -> ResolvedTarget:
    """The target of `text`. Raises `NotFoundError` that names it, and the nearest known name if there is one."""
    asked = text.strip()
    if not asked or len(asked) > LONGEST_NAME:
        raise NotFoundError(
            f"{printable(asked, 80)!r} is not the name of a device, a port, a GPU, a MAC address or a cable"
        )
    for reading in (_device, _unit, _part_of_device, _mac, _label, _serial, _panel, _rail, _pod, _rack, _row, _nodes):
        found = reading(view, asked)
        if found is not None:
            return found
    head = _SEPARATOR.split(asked, maxsplit=1)[0]
    raise NotFoundError(f"plan and snapshot have no {printable(asked, 80)!r}{view.nearest.hint(head)}")


def cause_words(cause: Cause) -> str:
    """A cause by its kind and first subject, which last as long as it does: `pfc-storm gpu-012/mlx5_3`."""
    return " ".join((cause.kind.value, *cause.subjects[:1]))


def group_of(view: View, text: str) -> ResolvedTarget | None:
    """The group of devices that a text names: a pod, a rack or a row; None for anything else, such as a device."""
    asked = text.strip()
    if not asked or len(asked) > LONGEST_NAME or view.device(asked) != NONE:
        return None
    return _pod(view, asked) or _rack(view, asked) or _row(view, asked)


def _rail(view: View, text: str) -> ResolvedTarget | None:
    """`rail 3`, `rail3`: the host cables of a rail, over all pods."""
    found = _RAIL.fullmatch(text)
    if found is None:
        return None
    cables = np.flatnonzero(view.index.from_host & (view.index.rail == int(found[1])))
    return ResolvedTarget("rail", f"rail {int(found[1])}", cables) if len(cables) else None


def _panel(view: View, text: str) -> ResolvedTarget | None:
    """`pp-1`, `pp-1/3`, `T12`, `pp-1/T12:3`: the cables that pass a patch panel, one of its ports, or a trunk."""
    asked = text.lower()
    found = [cable for cable, names in view.plan.once(_passed).items() if asked in names]
    return ResolvedTarget("patch panel", text, np.array(found, dtype=np.int64)) if found else None


def _passed(plan: Plan) -> dict[int, frozenset[str]]:
    """By cable, the panels, panel ports and trunks that it passes, in lower case."""
    return {
        number: frozenset(
            name.lower()
            for port in cable.via
            for trunk in [spot(port).trunk]
            for name in (port.device, str(port), *([trunk, f"{port.device}/{trunk}"] if trunk else []))
        )
        for number, cable in enumerate(plan.cables)
        if cable.via
    }


def _pod(view: View, text: str) -> ResolvedTarget | None:
    """`p1`, `pod p1`: the host cables of a pod."""
    name = text.partition(" ")[2].strip() if text.lower().startswith("pod ") else text
    alike = (code for code, one in enumerate(view.layout.devices) if one.pod.lower() == name.lower())
    hosts = list(filter(view.index.devices.is_host, alike))
    if not name or not hosts:
        return None
    cables = np.flatnonzero(view.index.from_host & np.isin(view.index.a_device, hosts))
    return ResolvedTarget("pod", f"pod {view.layout.devices[hosts[0]].pod}", cables, devices=tuple(hosts))


def _rack(view: View, text: str) -> ResolvedTarget | None:
    """`r05`, `rack r05`, `r5`, `rack 5`: the devices of a rack, by its name or by what only one rack fits."""
    found = _RACK.fullmatch(text)
    if found is None or found["unit"]:
        return None
    rack = _rack_named(view, found["rack"], by_number=text != found["rack"])
    return None if rack is None else _group("rack", f"rack {_spelled(view, rack)}", view, view.layout.racks[rack])


def _rack_named(view: View, text: str, *, by_number: bool) -> str | None:
    """The rack of this name, or of this number, in lower case. Raises NotFoundError with the racks if several fit."""
    racks = view.layout.racks
    if text.lower() in racks:
        return text.lower()
    fits = [rack for rack in racks if loose(rack) == loose(text)]
    if not fits and by_number and text.isdigit():
        fits = [rack for rack in racks if list(map(int, re.findall(r"\d+", rack)))[-1:] == [int(text)]]
    if len(fits) > 1:
        raise NotFoundError(f"{printable(text, 80)!r} fits {listed([f'rack {_spelled(view, one)}' for one in fits])}")
    return fits[0] if fits else None


def _spelled(view: View, rack: str) -> str:
    return view.layout.devices[view.layout.racks[rack][0]].rack


def _unit(view: View, text: str) -> ResolvedTarget | None:
    """`r05 u12`, `rack r05 unit 12`: the device in a unit of a rack. Raises NotFoundError with the rack's units."""
    found = _RACK.fullmatch(text)
    rack = _rack_named(view, found["rack"], by_number=True) if found and found["unit"] else None
    if found is None or rack is None:
        return None
    devices, unit = view.layout.devices, int(found["unit"])
    fits = [code for code in view.layout.racks[rack] if devices[code].unit == unit]
    if len(fits) == 1:
        return _device(view, devices[fits[0]].name)
    if fits:
        return _group("nodes", f"rack {_spelled(view, rack)} unit {unit}", view, fits)
    units = sorted(one for code in view.layout.racks[rack] if (one := devices[code].unit) is not None)
    known = f"; its units are {', '.join(map(str, units))}" if units else "; the plan has no units for it"
    raise NotFoundError(f"rack {_spelled(view, rack)} has no device in unit {unit}{known}")


def _row(view: View, text: str) -> ResolvedTarget | None:
    """`row 3`, `row A`: the racks whose names begin with it, as `3-05`, `r3-05` and `A05` do."""
    found = _ROW.fullmatch(text)
    if found is None:
        return None
    wanted = loose(found[1])
    codes = [code for rack, of in view.layout.racks.items() if wanted == _row_of(view, rack, of) for code in of]
    if not codes:
        rows = sorted({row for rack, codes in view.layout.racks.items() if (row := _row_of(view, rack, codes))})
        known = f"known are {', '.join(rows[:12])}" if rows else "its racks are not named by rows"
        raise NotFoundError(f"the plan has no row {printable(found[1], 80)!r}: {known}")
    return _group("row", f"row {found[1]}", view, codes)


def _row_of(view: View, rack: str, codes: Sequence[int]) -> str:
    """The row in a rack's name: its first number if it has two, else the letters before its one number if they are no
    word for a rack. Empty if it has none. The pod's name in front is no row.
    """
    pod = view.layout.devices[codes[0]].pod.lower()
    parts = _PARTS.findall(rack.removeprefix(pod) if pod else rack)
    numbers = [part for part in parts if part.isdigit()]
    if len(numbers) > 1:
        return loose(numbers[0])
    return parts[0] if len(numbers) == 1 and parts[0] not in ("r", "rack", *numbers) else ""


def _nodes(view: View, text: str) -> ResolvedTarget | None:
    """`gpu-[001-004],leaf-3`: the devices of a node set. Raises QueryError for an invalid one or an unknown name."""
    if not _NODE_SET.fullmatch(text):
        return None
    ordered = view.layout.ordered_devices
    codes = ordered[np.isin(ordered, view.nodes(text))].tolist()
    return _group("nodes", printable(text, 80), view, codes)


def _group(matched_type: str, name: str, view: View, codes: Sequence[int]) -> ResolvedTarget:
    """Several devices with all their cables, those of hosts first."""
    cables = [view.layout.cables_of(code) for code in codes]
    found = distinct(np.concatenate(cables)) if cables else np.empty(0, dtype=np.int64)
    return ResolvedTarget(matched_type, name, found[np.argsort(view.layout.place[found])], devices=tuple(codes))


def _device(view: View, text: str) -> ResolvedTarget | None:
    if "." in text and _SEPARATOR.search(text) and text not in view.plan.devices:
        return None  # `gpu-012.example.net/eth0` is a port, though `gpu-012` is the short form of its name
    code = view.named(text)
    if code == NONE:
        return None
    name = view.index.devices.names[code]
    if not view.is_planned(code):
        seen = np.flatnonzero(view.index.ports.device_of(view.wiring.place) == code)
        return ResolvedTarget("switch", name, seen, code, note="not in the plan; these are the cables on it")
    if view.index.devices.is_host(code):
        return ResolvedTarget("host", name, view.layout.host_cables_of(code), code)
    return ResolvedTarget("switch", name, view.layout.cables_of(code), code)


def _part_of_device(view: View, text: str) -> ResolvedTarget | None:
    """`gpu-012/enp26s0f0np0`, `gpu-012:mlx5_3`, `gpu-012 GPU 3`: a known device, and a part of it."""
    device = NONE
    for gap in _SEPARATOR.finditer(text):
        code, rest = view.named(text[: gap.start()]), text[gap.end() :]
        if code == NONE or not rest:
            continue
        device = code
        for reading in (_port, _gpu):
            found = reading(view, code, rest)
            if found is not None:
                return found
    if device == NONE:
        return None
    raise NotFoundError(_no_such_port(view, device, text))


def _no_such_port(view: View, device: int, text: str) -> str:
    name = view.index.devices.names[device]
    near = Nearest(str(view.index.spell(port)) for port in view.sight.ports_of(device).tolist()).hint(text)
    return f"{name} is known, but plan and snapshot have no {printable(text, 80)!r}{near}"


def _port(view: View, device: int, name: str) -> ResolvedTarget | None:
    """A port by any spelling of its name in the plan or the snapshot, by its RDMA device, or by any other name that its
    own device reports.
    """
    key, nics = port_key(name), view.nics
    word = "host port" if view.is_planned(device) and view.index.devices.is_host(device) else "switch port"
    ways: tuple[tuple[Callable[[int], bool], str], ...] = (
        (lambda port: view.index.ports.key(port) == key, word),
        (lambda port: nics.is_rdma(port, name), "rdma device"),
        (lambda port: key in map(port_key, nics.names(port)), word),
    )
    ports = view.sight.ports_of(device).tolist()
    return next((port_meant(view, port, what) for fits, what in ways for port in ports if fits(port)), None)


def port_meant(view: View, port: int, matched_type: str) -> ResolvedTarget:
    """One port: the cable planned there, followed by the one actually there instead."""
    own = view.index.cables_at(np.array([port]))
    cables = np.concatenate([own[own >= 0], view.sight.cables_seen_on(port)])
    note = "the second path is that of the cable actually on it" if len(cables) > 1 else ""
    if not len(own[own >= 0]):
        note = "the plan has no cable on it; this one is there" if len(cables) else "it has no cable, planned or actual"
    device = int(view.index.ports.device_of(np.array([port]))[0])
    return ResolvedTarget(matched_type, str(view.index.spell(port)), cables, device, port, note)


def _gpu(view: View, device: int, text: str) -> ResolvedTarget | None:
    shape = _GPU.fullmatch(text.strip())
    if shape is None or not view.is_planned(device) or not view.index.devices.is_host(device):
        return None
    gpu, cables = int(shape.group(1)), view.layout.host_cables_of(device)
    host = view.index.devices.names[device]
    name = f"{host} GPU {gpu}"
    near = view.nics.nearest(device, view.index.a[cables])
    if gpu in near:
        ports = [port for port, _ in near[gpu]]
        return ResolvedTarget("gpu", name, cables[np.isin(view.index.a[cables], ports)], device)
    planned = view.layout.gpu_cables(device, gpu)
    if not len(planned):
        raise NotFoundError(f"{name}: {host} has no such GPU on a rail, by plan or topology")
    note = "its host did not report its topology; this is by the plan"
    return ResolvedTarget("gpu", name, planned, device, note=note)


def _mac(view: View, text: str) -> ResolvedTarget | None:
    mac = canonical_mac(text)
    if mac is None:
        return None
    port = view.wiring.identity.names.macs.port_of(mac)
    if port != NONE:
        return port_meant(view, port, "mac address")
    port = view.nics.port_hearing(mac)
    if port == NONE:
        raise NotFoundError(f"no device that answered has or sees the MAC address {mac}")
    found = port_meant(view, port, "mac address")
    return found._replace(note=f"no device that answered has it; {found.name} sees it")


def _serial(view: View, text: str) -> ResolvedTarget | None:
    """The serial number of a module, or of a cable, which one end or both report."""
    ports = view.wiring.once(serials_of).get(text.upper())
    return port_meant(view, ports[0], "serial number") if ports else None


def _label(view: View, text: str) -> ResolvedTarget | None:
    cables = view.layout.by_label.get(text.lower())
    return ResolvedTarget("cable label", text, np.array(cables)) if cables else None


# ----------------------------------------------------------------------------------------------------------------------
# The hosts of a question, their GPUs, names of devices in order, and the scope of maintenance.


@dataclass(frozen=True, slots=True)
class Hosts:
    """The planned hosts of a node set by code, ascending, and the names that are not in the plan."""

    codes: Codes
    unplanned: tuple[str, ...]


def hosts_asked(view: View, nodeset: str) -> Hosts:
    """The hosts of a node set, a pod, a rack or a row. Raises QueryError for an invalid set or one with a switch, and
    NotFoundError if none of them is in the plan.
    """
    if group := group_of(view, nodeset):
        hosts = [code for code in group.devices if view.index.devices.is_host(code)]
        if not hosts:
            raise QueryError(f"{group.name} has no hosts, and jobs run on hosts")
        return Hosts(distinct(hosts), ())
    codes = {name: view.named(name) for name in dict.fromkeys(view.expand(nodeset))}
    planned = {name: code for name, code in codes.items() if view.is_planned(code)}
    for code in planned.values():
        if not view.index.devices.is_host(code):
            raise QueryError(f"{view.index.devices.names[code]} is a switch, and jobs run on hosts")
    if not planned:
        name = next(iter(codes), "")
        raise NotFoundError(f"the plan has no host {printable(name, 80)!r}{view.nearest.hint(name)}")
    return Hosts(distinct(list(planned.values())), tuple(name for name in codes if name not in planned))


def host_asked(view: View, name: str) -> int:
    """The code of a planned host. Raises NotFoundError with the nearest name, and QueryError for a switch."""
    code = view.named(name.strip())
    if not view.is_planned(code):
        raise NotFoundError(f"the plan has no host {printable(name, 80)!r}{view.nearest.hint(name)}")
    if not view.index.devices.is_host(code):
        raise QueryError(f"{view.index.devices.names[code]} is a switch, not a host")
    return code


def in_order(view: View, codes: Iterable[int]) -> list[str]:
    """Names of planned devices, in natural order."""
    wanted = np.array(sorted(codes), dtype=np.int64)
    return [view.index.devices.names[code] for code in wanted[np.argsort(view.layout.rank[wanted])].tolist()]


def rail_words(rails: Iterable[int]) -> str:
    """`rail 3`, `rails 0-2, 4`; empty for none."""
    runs: list[list[int]] = []
    for rail in sorted(rails):
        if runs and rail == runs[-1][-1] + 1:
            runs[-1].append(rail)
        else:
            runs.append([rail])
    if not runs:
        return ""
    reported = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"rail{'s' if sum(map(len, runs)) > 1 else ''} {reported}"


def gpus_of(view: View, host: int, rails: Collection[int] | None = None) -> tuple[int, ...]:
    """The GPUs of a host whose rail is one of these (any for None): GPU g of G belongs to the host's rail number
    g * R // G. If the plan does not give the number of GPUs, it is one for each rail; hosts without rails have none.
    """
    own = distinct(view.layout.rail[view.layout.host_cables_of(host)])
    of_host: list[int] = own[own >= 0].tolist()
    reported = view.layout.devices[host].gpus
    gpus = len(of_host) if reported is None else reported
    if rails is None or not of_host:
        return tuple(range(gpus)) if rails is None else ()
    return tuple(gpu for gpu in range(gpus) if of_host[gpu * len(of_host) // gpus] in rails)


def scope_of(view: View, what: str) -> tuple[str, str]:
    """The scope (`device`, `rail`, `pod` or `nodes`) and its name in the plan's spelling. A rack, a row and a unit
    become their devices. Raises NotFoundError, and QueryError for what cannot be in maintenance, such as a port.
    """
    meant = recognise(view, what)
    if meant.matched_type in ("rail", "pod"):
        return meant.matched_type, meant.name.partition(" ")[2]
    if meant.devices:
        return "nodes", fold(in_order(view, meant.devices))
    if meant.matched_type in ("host", "switch") and view.is_planned(meant.device):
        return "device", meant.name
    raise QueryError(
        f"{meant.name} is a {meant.matched_type}: maintenance covers devices, racks, rails, pods and node sets"
    )
