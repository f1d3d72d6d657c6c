"""The hosts of a question, their GPUs, names of devices in order, and the scope of maintenance."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from truerail.errors import NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.columns import Codes, distinct
from truerail.model.names import printable
from truerail.questions.resolve import group_of, recognise
from truerail.views.view import View


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
