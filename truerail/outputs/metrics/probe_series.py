"""Probes as series: a few for each rail. What has no result has no series."""

from collections.abc import Iterator

import numpy as np
from prometheus_client import Metric

from truerail.analysis.probes.results import NIC_STATES, NO_NIC, PAIR_STATES, ProbeResults, probe_results
from truerail.analysis.published import Published
from truerail.outputs.metrics import declared_probes as declared
from truerail.outputs.metrics.samples import Samples, family


def probe_families(publication: Published) -> Iterator[Metric]:
    """The families of a publication's probes."""
    results = probe_results(publication.round)
    if results is None:
        return
    fabric = {"fabric": publication.fabric}
    left_out = len(results.left_out)
    yield family(declared.PROBE_NICS, _nics(fabric, publication, results))
    yield family(declared.PROBE_PAIRS, _pairs(fabric, results))
    yield family(declared.PROBE_LOSS, _losses(fabric, results))
    hosts = ({"state": "probed"}, results.hosts - left_out), ({"state": "left_out"}, left_out)
    yield family(declared.PROBE_HOSTS, [(fabric | labels, count) for labels, count in hosts])
    yield family(declared.PROBE_AT, [(fabric, results.at.timestamp())])


def _nics(fabric: dict[str, str], publication: Published, results: ProbeResults) -> Samples:
    rail, state = publication.round.cabling.index.rail, results.state
    for number in np.unique(rail[state != NO_NIC]).tolist():
        count = np.bincount(state[rail == number], minlength=len(NIC_STATES)).tolist()
        for code, word in enumerate(NIC_STATES):
            if code != NO_NIC:
                yield fabric | {"rail": str(number), "state": word}, count[code]


def _pairs(fabric: dict[str, str], results: ProbeResults) -> Samples:
    for rail, counts in results.pairs.items():
        for word, count in zip(PAIR_STATES, counts, strict=True):
            yield fabric | {"rail": str(rail), "state": word}, count


def _losses(fabric: dict[str, str], results: ProbeResults) -> Samples:
    for rail, (sent, lost) in results.packets.items():
        if sent:
            yield fabric | {"rail": str(rail)}, lost / sent
