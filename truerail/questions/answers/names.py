"""The names that the search box searches, computed on first use; the evaluated round owns them."""

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from truerail.analysis.published import EvaluatedRound
from truerail.model.columns import Codes, factorize
from truerail.model.facts import NetLink, RdmaLink
from truerail.model.names import natural_key
from truerail.views.index import EvaluationIndex

_PER_NAME = 20
"""Maximum number of ports or RDMA devices shown for one name: a longer text selects among them."""

_MAC_LENGTH, _MAC_RECORD = 17, 13


class Matching:
    """Names and their codes, joined into one text: searching a hundred thousand is one pass."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        found = list(names)
        self._names, self._codes = [name.lower() for name, _ in found], [code for _, code in found]
        self._text = "\n" + "\n".join(self._names) + "\n"
        self._ends: Codes = np.cumsum([len(name) + 1 for name in self._names], dtype=np.int64)

    def matching(self, low: str) -> Iterator[int]:
        """Codes of the names that begin with `low` (in lower case), in order; then of those that contain it."""
        if "\n" in low:
            return
        yield from (self._codes[row] for row in self._rows(f"\n{low}"))
        yield from (self._codes[row] for row in self._rows(low) if not self._names[row].startswith(low))

    def _rows(self, wanted: str) -> Iterator[int]:
        at = self._text.find(wanted)
        while at >= 0:
            row = int(np.searchsorted(self._ends, at, side="right"))
            if row == len(self._names):
                return
            yield row
            at = self._text.find(wanted, int(self._ends[row]))


class Names:
    """The names of one evaluation, by kind."""

    def __init__(self, sight: EvaluationIndex) -> None:
        self._sight = sight

    @cached_property
    def devices(self) -> Matching:
        """Devices of the plan, hosts first, in natural order."""
        layout = self._sight.layout
        return Matching((layout.devices[code].name, code) for code in layout.ordered_devices.tolist())

    @cached_property
    def racks(self) -> dict[str, int]:
        """The number of devices in each rack, in natural order."""
        codes, names = factorize([device.rack for device in self._sight.layout.devices if device.rack])
        counts = np.bincount(codes, minlength=len(names)).tolist()
        return dict(sorted(zip(names, counts, strict=True), key=lambda one: natural_key(one[0])))

    def ports_called(self, part: str) -> Iterator[int]:
        """Codes of ports whose own name contains `part` (in lower case)."""
        for code, name in self._port_names:
            if part in name:
                yield from np.flatnonzero(self._name_of_port == code)[:_PER_NAME].tolist()

    @cached_property
    def _name_of_port(self) -> Codes:
        ports = self._sight.index.ports
        return ports.name_of(np.arange(len(ports)))

    @cached_property
    def _port_names(self) -> list[tuple[int, str]]:
        spelled = self._sight.index.ports.spelled
        names = [(code, spelled(code).lower()) for code in np.unique(self._name_of_port).tolist()]
        return sorted(names, key=lambda one: natural_key(one[1]))

    def rdma_called(self, part: str) -> Iterator[tuple[str, int]]:
        """RDMA devices whose name contains `part` (in lower case), each with its port's code."""
        codes, names, ports = self._rdma
        for number in sorted(range(len(names)), key=lambda at: natural_key(names[at])):
            if part in names[number].lower():
                rows = np.flatnonzero(codes == number)[:_PER_NAME]
                yield from ((names[number], port) for port in ports[rows].tolist() if port >= 0)

    @cached_property
    def _rdma(self) -> tuple[Codes, list[str], Codes]:
        identity = self._sight.wiring.identity
        codes, names = factorize(self._sight.wiring.seen.table(RdmaLink).column("device"))
        return codes, names, identity.names.rdma_ports()

    def macs_with(self, digits: str) -> Iterator[tuple[str, int]]:
        """MAC addresses that contain these hexadecimal digits, in the order of their devices, each with its port."""
        text, macs, ports = self._macs
        at = text.find(digits)
        while at >= 0:
            row = at // _MAC_RECORD
            yield macs[row], int(ports[row])
            at = text.find(digits, (row + 1) * _MAC_RECORD)

    @cached_property
    def _macs(self) -> tuple[str, list[str], Codes]:
        """All MACs without separators as lines of one length, the MACs, and their ports."""
        identity = self._sight.wiring.identity
        column, ports = self._sight.wiring.seen.table(NetLink).column("mac"), identity.names.link_ports()
        is_mac = np.array([mac is not None and len(mac) == _MAC_LENGTH for mac in column], dtype=bool)
        use = np.flatnonzero(is_mac & (ports >= 0))  # an InfiniBand port has 20 bytes, too many to type
        macs = column[use].tolist()
        return "\n".join(macs).replace(":", ""), macs, ports[use]


def names_of(evaluated: EvaluatedRound) -> Names:
    """The names of an evaluated round, which owns them."""
    return evaluated.once(_names)


def _names(evaluated: EvaluatedRound) -> Names:
    return Names(evaluated.once(EvaluationIndex))
